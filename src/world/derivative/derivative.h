/* Derivatives of the end of an island's step by its start. */
#ifndef WORLD_DERIVATIVE_DERIVATIVE_H
#define WORLD_DERIVATIVE_DERIVATIVE_H

#include "contact/problem/core/assembly.h"
#include "world/contact/contacts.h"
#include "world/integrator/derivative/tree_derivatives.h"

/* The step that is differentiated, and work space. */
typedef struct contact_step {
    const motion_work *motion; /* as the step left it, but `now` the state at its start */
    const sim_state *to;
    world_contacts *contacts; /* of the step; its vectors of predictions are work space */
    const assembly *rows;     /* the islands as the step solved them */
    derivative_work *work;
    sim_derived *start, *middle; /* kinematics at the start; where J of contacts is taken */
    sim_arena *arena;
    const sim_parameter *parameter; /* a column each */
    int parameters;
} contact_step;

/* An island.  A column of a matrix of `width` numbers is by q, v, or generalised force at the start, n each, then by the
 * parameters. */
typedef struct island_system {
    const contact_step *step;
    const island *is;
    int n, stride, width; /* dofs; of square matrices, and of those by the start, rounded up to fours */
    double dt;
    int *dof;            /* [n] of the model */
    double *A;           /* n x stride: mass */
    double *factor;      /* its LU */
    double *a, *place;   /* n x width: mean acceleration of the free motion, and q* */
    double *middle;      /* n x width: q where J of contacts is taken */
    double *H, *LU, *dv; /* n x stride, twice; n x width: v at the end */
    double *J;           /* [SIM_MAX_ROWS] x n of a constraint */
    double *solve;       /* of lu_factor */
    int *swap, *swap_A;  /* [n] */
    double *free;        /* n x width: v of the free motion, where loads count */
    double residual;
    int kinks;
    const char *trouble; /* NULL, or the reason why there is no derivative */
} island_system;

/* By the start: J of each row, n x width; gap, offset, guess, rows x width. */
typedef struct constraint_change {
    double *J[SIM_MAX_ROWS];
    double *gap, *offset, *guess;
    double *friction, *stiffness, *dissipation; /* [parameters] of those of a contact */
    bool kink;
    const char *trouble; /* NULL, or the reason why there is no derivative */
} constraint_change;

/* A constraint of an island: its changes, Y, W, slopes. */
typedef struct constraint_system {
    int index;
    const sim_constraint *c;
    constraint_change by;
    double *Y;                             /* (rows + 1) x n, the last one work space */
    double *R, *target;                    /* rows x width */
    double W[SIM_MAX_ROWS * SIM_MAX_ROWS]; /* rows x rows */
    const double *impulse;                 /* of its rows */
} constraint_system;

/* New zeros; NULL: no memory. */
static inline double *zeros(sim_arena *arena, ptrdiff_t count) {
    size_t size = count > 0 ? (size_t)count : 1;
    double *x = ARENA_NEW(arena, double, size);
    for (size_t k = 0; x && k < size; k++) {
        x[k] = 0;
    }
    return x;
}

/* ---- row_derivatives.c ---- */

/* NULL, or the reason why the i-th constraint of an island has no derivative here. */
const char *row_trouble(const contact_step *step, const island *is, int i);
/* The i-th constraint of the island, into zeros.  False without memory. */
bool differentiate_rows(const island_system *s, int i, constraint_change *out);

/* ---- contact_derivatives.c ---- */

/* The same of contacts; of one of the step, by its index. */
const char *contact_trouble(const contact_step *step, int index);
bool differentiate_contact(const island_system *s, int i, constraint_change *out);

/* The same of friction, stiffness and dissipation of a contact by those of its materials. */
void differentiate_surface(const contact_step *step, const sim_contact *c, constraint_change *out);

/* ---- island_products.c ---- */

/* The i-th constraint's rows of J, dense, into s->J. */
void spread_rows(const island_system *s, const sim_constraint *c);
/* Adds `scale` times dA y of a tree to its rows of n x width numbers. */
void add_mass_times(const island_system *s, int tree, double scale, const double *y, double *to);
bool make_change(const island_system *s, int rows, constraint_change *out);

/* x . dA y of a tree, into a row of `width` numbers. */
void add_mass_change(const island_system *s, int tree, double scale, const double *x, const double *y, double *to);
/* y += scale x' X, X n x width. */
void add_product(const island_system *s, double scale, const double *x, const double *X, double *y);

/* ---- island_derivatives.c ---- */

/* False without memory.  The columns of `dv` are then those of the velocity at the end. */
bool differentiate_island(const contact_step *step, const island *is, island_system *out);
/* ---- load_derivatives.c ---- */

/* v of the free motion, into zeros. */
void differentiate_free(const island_system *s, double *free);
/* w and dw of a contact of the elastic law, whose rows are in s->J, become those under its load.  False without memory. */
bool differentiate_load(island_system *s, constraint_system *k, double *w, double *dw);

/* ---- shift_derivatives.c ---- */

/* The shift of positions, into zeros, n x width, after differentiate_island.  False without memory. */
bool differentiate_shift(island_system *s, double *dc);

/* ---- end_derivatives.c ---- */

/* The positions at the end, into zeros, n x width; dc: those of the shift.  False without memory. */
bool differentiate_end(const island_system *s, const double *dc, double *dq);

/* The place of a dof of the model in its island. */
static inline int place_of_dof(const island_system *s, int dof) {
    const sim_model *m = s->step->motion->model;
    int tree = m->body[m->dof[dof].body].tree;
    return s->is->problem.tree[s->step->rows->local[tree]].v0 + dof - m->tree[tree].v0;
}

#endif
