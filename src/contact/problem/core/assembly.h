/* The contact problems of a step, island by island, and what they are assembled from. */
#ifndef CONTACT_PROBLEM_CORE_ASSEMBLY_H
#define CONTACT_PROBLEM_CORE_ASSEMBLY_H

#include "base/arena.h"
#include "base/pool.h"
#include "contact/problem/core/interface.h"
#include "dyn/soft/elastic_tet.h"
#include "math/dense.h"
#include "math/v3.h"

#include <math.h>

/* ---- what lasts from step to step ---- */

/* Has a joint a range, dry friction or a velocity limit, which are rows? */
static inline bool dof_has_rows(const sim_dof *dof) {
    return dof->limit.low > -INFINITY || dof->limit.high < INFINITY || dof->friction > 0 ||
           dof->velocity_limit < INFINITY;
}

/* The model as the stage reads it in every step. */
typedef struct model_tables {
    const sim_model *model;
    const double *size;  /* [nbody] m, the radius of the largest shape */
    const int *last_dof; /* [nbody] nearest dof on the path from the root, -1: no joint moves it */
    const int *joint;    /* dofs with rows of their own ... */
    int njoint;          /* ... so many */
    const int *tendon;   /* tendons that act, or that constraints name ... */
    int ntendon;         /* ... so many */
    const double *moved; /* [ntree] kg of its bodies that move */
    bool speeds;         /* any joint has a velocity limit */
    /* Has any shape a surface velocity; any material friction by direction, adhesion, resistance to turning? */
    bool belts, directed, adhesive, turning;
} model_tables;

/* Work memory of the operators A; each island writes to the parts of its own trees. */
typedef struct mass_memory {
    double *M, *L; /* [nl] */
    double *x, *y; /* [nv] */
    double *root;  /* [nv] */
} mass_memory;

/* Positions at the end of the step, for solvers that take gaps there; islands likewise. */
typedef struct positions_memory {
    sim_derived *ahead;
    double *q, *v; /* [model nq], [model nv] */
} positions_memory;

/* ---- A ---- */

/* A on the trees of an island. */
typedef struct mass_operator {
    const sim_model *model;
    sim_derived *derived;
    const double *extra;
    const sim_articulated *body_extra; /* NULL: none */
    soft_system *const *soft;          /* [ntree] of the model, NULL: none is soft */
    double *M, *L;                     /* [nl] branch-sparse, of trees that are small enough */
    double *x, *y;                     /* [nv] work space */
    double *root;                      /* [nv] of 1 / D, in the factor of the half solve */
    const int *tree;                   /* model's tree for each of the island's */
} mass_operator;

sim_mass mass_interface(const mass_operator *mass);
/* Factors A of a tree of the model; and again when its `extra` has changed. */
void mass_prepare(const mass_operator *mass, int model_tree);
void mass_change(const mass_operator *mass, int model_tree);

/* ---- constraints and islands ---- */

/* The origin of a constraint in the model or the step. */
typedef enum source_kind {
    SOURCE_CONTACT,
    SOURCE_LOW,
    SOURCE_HIGH,
    SOURCE_FRICTION,
    SOURCE_SPEED_LOW,
    SOURCE_SPEED_HIGH,
    SOURCE_EQUALITY,
    SOURCE_ELASTIC,
    SOURCE_TENDON_LOW,
    SOURCE_TENDON_HIGH,
    SOURCE_TENDON_FRICTION,
    SOURCE_TENDON_SPRING,
    SOURCE_ACTUATOR
} source_kind;

static inline bool is_tendon_row(source_kind kind) { return kind >= SOURCE_TENDON_LOW && kind <= SOURCE_TENDON_SPRING; }

typedef struct constraint_source {
    source_kind kind;
    int index; /* contact, dof, equality, part of an elastic tetrahedron, tendon or limited actuator */
    int rows;
    int tree[2]; /* the model's trees that move A and B, -1: none does; both may be the same */
} constraint_source;

/* Does the point of a contact move over both bodies?  And does the contact constrain the mean velocity of the step,
 * with which positions move, rather than the velocity at its end (row/contacts.c)?  Or has the row no gap: a velocity limit?  Do the
 * points of a new tie part, which positions must not follow? */
typedef enum contact_rolling { ROLLS_NOT, ROLLS, ROLLS_IN_MEAN, HAS_NO_GAP, PARTS_AT_ONCE } contact_rolling;

/* The bodies of a problem; their numbers are computed when a solver first asks. */
typedef struct island_bodies {
    sim_problem_bodies is;
    int *first;
    sim_body_node *node;
    sim_body_inertia *I;
    double *diagonal;
    sim_v3 *r[SIM_CHAINS];
    sim_motion *S[SIM_CHAINS];
    const struct assembly *assembly;
    bool filled;
} island_bodies;

/* R and target velocity of every row, by the law of the step and by the rigid law: [nrow] each. */
typedef struct row_laws {
    double *R, *target, *R_rigid, *target_rigid;
} row_laws;

/* A soft tree in a problem: only its dofs that constraints touch. */
typedef struct condensed_tree {
    int n, nv;            /* touched dofs, all; n 0: a rigid tree */
    const int *dof;       /* [n] rising */
    soft_system *soft;    /* A of all */
    double *W, *A, *B;    /* [n][n] W = A^-1 on the touched dofs, A = W^-1 and W = B' B, B upper triangular */
    const double *v_free; /* [nv] v* of all its dofs */
    double *work, *lift;  /* [n], [nv] */
} condensed_tree;

/* The operator A of an island with soft trees (condense.c). */
typedef struct condensation {
    sim_mass whole;
    condensed_tree *tree; /* [ntree] */
} condensation;

/* An island.  `base` is assembled once and only read from then on: every limited actuator is a row, the last of all,
 * and A and v* are those of free motion.  `problem` is derived from it, as a whole, for each call of the solver
 * (variant.c). */
typedef struct island {
    sim_problem base;
    const int *source;                                    /* [nconstraint] of `base`, places in the list of sources */
    const char *rolls;                                    /* [nconstraint] contact_rolling */
    int first_constraint, first_tree, first_row, first_v; /* in the lists of all islands */
    int actuators, first_actuator;                        /* constraints [first_actuator, + actuators) of `base` */
    int *order;                                           /* [actuators] those that are rows come first */

    sim_problem problem;
    double restitution;    /* the part of every restitution that it has, 0 to 1 */
    int rows;              /* actuators that are rows */
    row_laws law;          /* of `problem`: one of the next two */
    row_laws full_law;     /* of the problem with every actuator a row */
    row_laws partial_law;  /* of one with some; memory where there are actuators */
    const double *v_guess; /* [nv] warm start ... */
    double *impulse_guess; /* ... [nrow] in the order of `base`, whose own stay those of the step before */
    mass_operator mass;
    condensation *condensed; /* of islands with soft trees; NULL: all are rigid */
    island_bodies bodies;

    double *v, *impulse, *shift; /* solution */
    sim_solution solution;       /* its effort is that of all calls */
    sim_judgement judgement;
    sim_status failed;

    double force_energy;    /* J: sim_problem */
    const double *diagonal; /* blocks W_ii of the problem with every actuator a row; NULL: not computed yet */
    double budget;          /* J: what undoing overlaps may put in (undo.c), besides ... */
    double *undoing;        /* ... the energy of this motion, [nv], NULL: none ... */
    double bounces;         /* ... and this part, squared, of the kinetic energy before the step */
    int stuck, held_back;   /* constraints whose overlap no motion undoes; whose targets were lowered */
    int stuck_at;           /* the deepest of those ... */
    double stuck_depth;     /* ... in m, or rad */
    bool thorough;          /* are shallow overlaps examined, too? */
    bool refused;           /* did its solution create energy? */
    bool parted;            /* was it shifted by separate_island? */
    double excess, undone;  /* J: of the refused one; put in by undoing overlaps */

    double deadline; /* s, of the wall clock; HUGE_VAL: none (budget.c) */
    double seconds[CONTACT_PARTS];
    bool parallel; /* solved by all threads together */
} island;

/* A tendon in the step. */
typedef struct tendon_state {
    double length;  /* m, at the start */
    double *J[2];   /* dL/dq where A is taken, over the dofs of each tree that moves it ... */
    double bias;    /* ... and dJ/dt v, m/s^2 */
    bool moves;     /* does any velocity change it? */
    bool taut;      /* does its spring act ... */
    double stretch; /* ... at this extension, m */
} tendon_state;

/* An elastic tetrahedron whose springs are rows. */
typedef struct elastic_part {
    const sim_soft *soft;
    const int *tet;
    elastic_rows spring;
} elastic_part;

/* All that is built for one step. */
typedef struct assembly {
    const contact_input *in;
    const model_tables *tables;
    const sim_derived *middle;    /* where J of contacts is taken */
    const sim_motion *acc;        /* [nbody] accelerations where no joint accelerates, for equalities and tendons */
    const sim_derived *anchor;    /* where J of what holds soft bodies is taken; NULL: as others */
    const sim_motion *anchor_acc; /* as `acc`, there */
    sim_arena *arena;
    elastic_part *elastic; /* [nelastic] of all soft bodies whose elasticity is rows; NULL: there are none */
    int nelastic;
    tendon_state *tendon; /* [model ntendon] of those in the list of the tables */
    constraint_source *source;
    int nsource;
    int nisland, nconstraint, ntree, nv, nrow;
    island *island;
    int *tree;      /* [ntree] model's tree of each, island by island */
    int *local;     /* [model ntree] its place in its island, -1: untouched */
    int *source_of; /* [nconstraint] */
    sim_constraint *constraint;
    int *row;     /* [nconstraint] its first row in the lists of all */
    char *rolls;  /* [nconstraint] contact_rolling */
    int *before;  /* [nconstraint] of contacts: the same one in the step before, -1: there was none */
    bool rigid;   /* by the law of the step: is there no compliance beside that of materials? */
    m3 *axes;     /* [nconstraint] t1, t2, n; scaled where friction depends on direction */
    v3 *moved;    /* [nconstraint] of contacts, m: way of the point at which J is taken (discrete_gradient_shift) */
    double *pull; /* [nconstraint] N s, of contacts: dt adhesion, a load in v* (surfaces.c); NULL: there is none */
    double *gap, *impulse_guess, *impulse_trend, *J;
    double *diagonal;         /* [SIM_MAX_ROWS nrow] memory of W_ii, island by island */
    double *offset;           /* [nrow]; NULL: zero */
    double *v_start, *v_free; /* [nv] packed island by island */
    sim_problem_tree *packed; /* [ntree] their places within the island */
    double *J_ahead;          /* [nJ] where the step ends, for solvers that ask; NULL: they do not */
    ptrdiff_t nJ;
    sim_body_rows *on_body; /* [nconstraint] for solvers that want the bodies */
    double *J_body;

    /* of derived problems */
    char *driven;  /* [model ntree] has it limited actuators?  NULL: there are none, nor the next ones */
    double *extra; /* [model nv] on the diagonal of A */
    double *v_free_variant, *v_guess;   /* [nv] packed */
    double *impulse_variant;            /* [nrow] */
    double *impulse_warm;               /* [nrow] warm starts from solutions with fewer rows */
    sim_constraint *constraint_variant; /* [nconstraint]; NULL: no actuators, and no restitution either */
} assembly;

/* Connected components of trees: fills tree, local, source_of, and of each island its trees, constraints, rows and
 * velocities as counts. */
sim_status islands_find(assembly *f, const sim_model *model);

/* Does implicit Euler move a tree (-1: the world), or one of the two of a constraint? */
static inline bool tree_is_damped(const assembly *f, int tree) {
    return f->in->damped && tree >= 0 && f->in->damped[tree];
}
static inline bool source_is_damped(const assembly *f, const constraint_source *t) {
    return tree_is_damped(f, t->tree[0]) || tree_is_damped(f, t->tree[1]);
}
/* The part of v - v0 that positions move with. */
static inline double travel_of(const assembly *f, bool damped) { return damped ? 1 : f->in->travel; }

/* w = dt (s - p) h of a row whose J changes by h = dJ/dt v: see fill_pair_rows. */
static inline double offset_of_place(const assembly *f, double travel, double p, double h) {
    return f->in->step * (1.5 - travel - p) * h;
}
static inline double offset_of_bias(const assembly *f, double h) {
    return offset_of_place(f, f->in->travel, f->in->position, h);
}

/* The part of a side of a constraint in J: two sides on one tree share theirs. */
static inline double *block_in(double *J, const assembly *f, int constraint, int side) {
    const constraint_source *t = &f->source[f->source_of[constraint]];
    int second = side == 1 && t->tree[0] >= 0 && t->tree[0] != t->tree[1];
    return J + f->constraint[constraint].block[second];
}
static inline double *block_of(const assembly *f, int constraint, int side) {
    return block_in(f->J, f, constraint, side);
}

/* J v of one row of a problem. */
static inline double velocity_of_row(const sim_problem *p, const sim_constraint *c, int row, const double *v) {
    double u = 0;
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_problem_tree *t = &p->tree[c->tree[side]];
        sim_columns of = sim_block_columns(p, c, side);
        u += dense_dot(of.count, p->J + c->block[side] + row * t->nv + of.first, v + t->v0 + of.first);
    }
    return u;
}

/* Has it a gap that must not close, and in which of its rows? */
static inline bool is_stop(const sim_constraint *c) { return c->kind == SIM_CONTACT || c->kind == SIM_LIMIT; }
static inline int normal_row(const sim_constraint *c) { return c->kind == SIM_CONTACT ? 2 : 0; }

/* Does it constrain coordinates or tendons, rather than two frames? */
static inline bool equality_is_of_coordinates(const sim_equality *e) {
    return e->type == SIM_COUPLING || e->type == SIM_TENDON_COUPLING;
}

#endif
