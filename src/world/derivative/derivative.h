/* Derivatives of the end of an island's step by its start. */
#ifndef WORLD_DERIVATIVE_DERIVATIVE_H
#define WORLD_DERIVATIVE_DERIVATIVE_H

#include "contact/problem/core/assembly.h"
#include "problem/law_slopes.h"
#include "problem/laws.h"
#include "world/contact/contacts.h"
#include "world/derivative/touch/touch.h"
#include "world/integrator/derivative/tree_derivatives.h"

/* The step that is differentiated, and work space. */
typedef struct contact_step {
    const motion_work *motion; /* as the step left it, but `now` the state at its start */
    const sim_state *to;
    world_contacts *contacts; /* of the step; its vectors of predictions are work space */
    const assembly *rows;     /* the islands as the step solved them */
    derivative_work *work;
    sim_derived *start, *middle,
        *ahead; /* kinematics at the start; where J of contacts is taken; of contacts that last */
    sim_arena *arena;
    const sim_parameter *parameter; /* a column each */
    int parameters;
    double near; /* m/s or rad/s: of kinks */
    bool memory; /* are columns by the memory of the start wanted, too? */
} contact_step;

/* Columns of a tree: by q, v and generalised force at the start; by v one and two steps before it, and by the forces
 * that the free motion held.  A part has a column for each dof of the tree. */
typedef enum start_part { BY_START_Q, BY_START_V, BY_FORCE, BY_LAST_V, BY_SECOND_LAST_V, BY_HELD } start_part;
enum { STATE_PARTS = 3, ALL_PARTS = 6 };

/* The part of an island that a constraint touches: the dofs of its trees, and their columns, then those by parameters. */
typedef struct local_frame {
    int trees, tree[2];
    int dof[2], dofs[2];       /* the first of a tree in the island, and their number */
    int column[2], columns[2]; /* likewise, as many as the changes of its rows have */
    int n, width;              /* all dofs; all columns */
} local_frame;

/* By the start: J of each row, n x width; gap, offset, guess, rows x width; all local. */
typedef struct constraint_change {
    local_frame at;
    double *J[SIM_MAX_ROWS];
    double *gap, *offset, *guess;
    double *turn;          /* 3 x width: of the frame of a contact, rad */
    surface_rates surface; /* [parameters] of a contact */
    bool kink;
    const char *trouble; /* NULL, or the reason why there is no derivative */
} constraint_change;

/* The columns of a constraint: those of its trees and of parameters, and by the impulses of some rows; or all. */
typedef struct column_set {
    const local_frame *at;
    int guess, guesses;
    bool all, wide; /* of the island; of the trees, also those that the rows have not */
} column_set;

/* A constraint of an island: its rows, their changes, Y, W, slopes. */
typedef struct constraint_system {
    int index;
    const sim_constraint *c;
    constraint_change by;
    double *J, *Y, *bare;                  /* rows x n, local: J, A^-1 J', and that of the bare A */
    double W[SIM_MAX_ROWS * SIM_MAX_ROWS]; /* rows x rows, of the bare A */
    const double *impulse;                 /* of its rows */
    impulse_slopes slopes;
    double *gamma; /* rows x width of the island: impulses, at the end velocities of the step until they move, too */
} constraint_system;

/* An island.  Its columns are those of its trees, tree by tree, then by parameters, then by impulses of the step before. */
typedef struct island_system {
    const contact_step *step;
    const island *is;
    int n, stride, width; /* dofs; of square matrices, and of those by the start, rounded up to fours */
    int parts;            /* of columns of a tree ... */
    int row_parts;        /* ... and as many of them as rows of constraints and their inverse mass change with */
    int parameter0, guess0;
    double dt;
    int *dof;              /* [n] of the model */
    int *column;           /* [ntree] first one of each tree */
    ptrdiff_t squares;     /* numbers of all square matrices of trees */
    ptrdiff_t *square;     /* [ntree] place of its square matrix in A and factor, of row_stride(dofs) numbers a row */
    double **mass_change;  /* [ntree] n x n x n: d (A e_k) / d q* of each tree; NULL: it is not kept */
    double *A;             /* mass, tree by tree */
    double *factor;        /* its LU */
    double *bare;          /* LU of A without limited actuators, by which laws measure (contact/problem/variant.c) */
    double *a, *place;     /* n x width: mean acceleration of the free motion, and q* */
    double *rate;          /* n x width: velocities at which dampers act, if ... */
    diagonal_change *bend; /* [n] ... the diagonal of A changes; NULL: it is constant */
    double *by_rate;       /* [n] work space */
    double *middle;        /* n x width: q where J of contacts is taken */
    bool goes_on;          /* ... of any tree elsewhere than at the start; otherwise `middle` is not kept */
    bool follows;          /* has it contacts that last? */
    double *ahead;         /* ... then n x width: q where they are expected at the end */
    double *v_ahead;       /* [n] and velocities there ... */
    double *ahead_part;    /* [ntree][ALL_PARTS] by columns of their own dof */
    double *H, *LU, *dv;   /* n x stride, twice; n x width: v at the end */
    double *x, *y, *sums;  /* [n] work space; [SIM_MAX_ROWS n] */
    double *weight;        /* [width] of the columns in the certificate */
    double *local;         /* [width] work space: columns of a constraint */
    double *solve;         /* of lu_factor */
    int *swap, *swap_A, *swap_bare; /* [n] */
    double *free;                   /* n x width: v of the free motion, where loads count */
    double *v_law, *law_free;       /* [n], n x width: the same without limited actuators, which loads go by */
    double *hold, *hold_by;         /* of the weight at the start, by its place, tree by tree; parameters x n */
    int *limited;                   /* [nlimited] work space */
    constraint_system *constraint;  /* [nconstraint] */
    double *strike;                 /* [width] of the speed of the fastest strike, if that is `struck`: known */
    bool struck;
    load_scan loads; /* if `scanned` */
    bool scanned;
    double *carried;   /* [width] of the sum of impulses of the pair of bodies ... */
    int carried_first; /* ... whose contacts begin here; -1: not yet known */
    double residual;
    int kinks;
    const char *trouble; /* NULL, or the reason why there is no derivative */
} island_system;

/* New numbers, not set; NULL: no memory. */
static inline double *numbers_of(sim_arena *arena, ptrdiff_t count) {
    size_t size = count > 0 ? (size_t)count : 1;
    return ARENA_NEW(arena, double, size);
}

/* New zeros; NULL: no memory. */
static inline double *zeros(sim_arena *arena, ptrdiff_t count) {
    double *x = numbers_of(arena, count);
    for (ptrdiff_t k = 0; x && k < count; k++) {
        x[k] = 0;
    }
    return x;
}

/* Does a tree of the model stand, where J of its contacts is taken, as at the start of the step? */
static inline bool middle_is_start(const contact_step *step, int tree) {
    const world_contacts *c = step->contacts;
    return !c->follower || !c->lasts[tree] || !(prediction_place(step->motion->options) > 0);
}

/* ---- row_derivatives.c ---- */

/* NULL, or the reason why the i-th constraint of an island has no derivative here. */
const char *row_trouble(const contact_step *step, const island *is, int i);
/* The i-th constraint of the island, into zeros.  False without memory. */
bool differentiate_rows(const island_system *s, int i, constraint_change *out);

/* ---- pair_derivatives.c ---- */

/* The same of an equality between two bodies: connect, weld or distance. */
bool differentiate_pair(const island_system *s, int i, const sim_equality *e, constraint_change *out);

/* ---- contact_derivatives.c ---- */

/* The same of contacts; of one of the step, by its index. */
const char *contact_trouble(const contact_step *step, int index);
bool differentiate_contact(const island_system *s, int i, constraint_change *out);

/* Where a contact of the step is expected at its end; NULL: it is no contact that lasts. */
const followed_contact *lasting_contact(const contact_step *step, int index);

/* ---- island_products.c ---- */

/* Has an island contacts that last? */
bool follows_contacts(const contact_step *step, const island *is);
/* Has it springs or dampers with terms beyond the linear one, so that the diagonal of A changes? */
bool has_bends(const contact_step *step, const island *is);
/* Of one without contacts that last: the parts of all columns with which its rows change. */
int row_parts_of(const contact_step *step, const island *is, int all);

/* The changes of the diagonal of A of a tree, after `a` and with q* in work->q. */
void differentiate_diagonals(const island_system *s, int tree);
/* The rows of a constraint, and zeros for their changes.  False without memory. */
bool open_constraint(const island_system *s, int i, constraint_system *k);
/* Adds `scale` times a row of the local width to one of the island's. */
void add_local(const island_system *s, const local_frame *at, double scale, const double *local, double *to);
/* Adds `scale` times the columns of a tree and of the parameters. */
void add_columns(const island_system *s, int tree, double scale, const double *x, double *to);
/* Adds `scale` times the columns of a set. */
void add_set(const island_system *s, const column_set *set, double scale, const double *x, double *y);
/* sum of J v over the dofs of a constraint. */
double local_dot(const local_frame *at, const double *local, const double *v);
/* y += scale x' X, x of the local dofs, X local: n x width; y of the local width. */
void add_product(const local_frame *at, double scale, const double *x, const double *X, double *y);
/* Adds `scale` times dA y of a tree to its rows of n x width numbers; y of the island. */
void add_mass_times(const island_system *s, int tree, double scale, const double *y, double *to);
/* Keeps dA e_k of a small tree for all k, to be read by the next one.  False without memory. */
bool tabulate_mass(const island_system *s, int tree);
/* The sum of x . dA y of a tree over some rows of at->n numbers, into a row of the local width. */
void add_mass_change(const island_system *s, const local_frame *at, int side, double scale, int rows, const double *x,
                     const double *y, double *to);
/* Y and `bare` of a constraint, and its W. */
void fill_delassus(const island_system *s, constraint_system *k);
/* C <- A^-1 C, rows of the island. */
void solve_mass(const island_system *s, double *C);

/* ---- island_derivatives.c ---- */

/* False without memory.  The columns of `dv` are then those of the velocity at the end. */
bool differentiate_island(const contact_step *step, const island *is, island_system *out);

/* ---- load_derivatives.c ---- */

/* A column of a limited actuator: by a force that it has, beyond the columns of forces on joints. */
enum { BY_SERVO = SIM_PARAMETER_KINDS };

/* v of the free motion, into zeros. */
void differentiate_free(const island_system *s, double *free);
/* R and target of every row, zeros of the island's width, and the columns that they have.  False without memory. */
bool differentiate_law(island_system *s, constraint_system *k, double *R, double *target, column_set *set);

/* ---- servo_derivatives.c ---- */

/* The place of the joint of the k-th limited actuator in the island; -1: none of its rows can be there. */
int limited_place(const island_system *s, int k);
/* Memory, after that of the other matrices; with the free motion that loads go by?  False: none. */
bool make_servos(island_system *s, bool loads);
/* The weight of a tree that limited actuators hold; after its kinematics at the start. */
void differentiate_held_weight(const island_system *s, int tree);
/* Factors of A and of the bare A; then that of A without the actuators that are rows.  False: singular. */
bool factor_masses(const island_system *s);
bool factor_mass_of_rows(const island_system *s);
/* v of the free motion without limited actuators, after differentiate_free. */
void differentiate_law_free(island_system *s);
/* Adds those that end on another side than free motion has them to H and the right sides. */
void differentiate_servos(island_system *s);

/* ---- shift_derivatives.c ---- */

/* The shift of positions, n x width, after differentiate_island; NULL: there is none.  False without memory. */
bool differentiate_shift(island_system *s, double **dc);

/* ---- memory_derivatives.c ---- */

/* After differentiate_island: impulses in `gamma` of all constraints; held and lasting forces, into zeros, n x width.
 * False without memory. */
bool differentiate_memory(island_system *s, double *held, double *pressed);
/* Then that of the impulse of the i-th constraint, in the world, 3 x width; false: it is no contact. */
bool differentiate_contact_impulse(const island_system *s, int i, double *rows);
/* And of its moment; false: it does not resist turning.  Axes of those rows, with their length in m: how many. */
bool differentiate_contact_moment(const island_system *s, int i, double *rows);
int contact_turning_axes(const island_system *s, int i, v3 axis[3]);

/* ---- end_derivatives.c ---- */

/* The positions at the end, into zeros, n x width; dc: those of the shift.  False without memory. */
bool differentiate_end(const island_system *s, const double *dc, double *dq);

/* Constraints of an island that are no actuators. */
static inline int constraints_of(const island *is) { return is->problem.nconstraint - is->rows; }

/* The problem from which laws were derived: with the impulses of the step before. */
static inline sim_problem problem_of_laws(const island *is) {
    sim_problem p = is->problem;
    p.nconstraint = constraints_of(is);
    p.v_free = is->base.v_free;
    p.impulse_guess = is->base.impulse_guess;
    return p;
}

/* The place of a dof of the model in its island. */
static inline int place_of_dof(const island_system *s, int dof) {
    const sim_model *m = s->step->motion->model;
    int tree = m->body[m->dof[dof].body].tree;
    return s->is->problem.tree[s->step->rows->local[tree]].v0 + dof - m->tree[tree].v0;
}

/* The column by a dof of a tree of the island. */
static inline int column_of(const island_system *s, int tree, start_part part, int dof) {
    const sim_problem_tree *t = &s->is->problem.tree[tree];
    return s->column[tree] + (int)part * t->nv + dof - t->v0;
}

/* The side of a dof of the model in a frame, its place there, and its column. */
static inline int side_of_dof(const island_system *s, const local_frame *at, int dof) {
    int place = place_of_dof(s, dof);
    return at->trees == 2 && place >= at->dof[1] && place < at->dof[1] + at->dofs[1];
}
static inline int local_dof(const island_system *s, const local_frame *at, int dof) {
    int side = side_of_dof(s, at, dof);
    return place_of_dof(s, dof) - at->dof[side] + (side ? at->dofs[0] : 0);
}
static inline int local_column(const island_system *s, const local_frame *at, start_part part, int dof) {
    int side = side_of_dof(s, at, dof);
    return (side ? at->columns[0] : 0) + (int)part * at->dofs[side] + place_of_dof(s, dof) - at->dof[side];
}

#endif
