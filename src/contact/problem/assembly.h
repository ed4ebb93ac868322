/* The contact problems of a step, island by island, and what they are assembled from. */
#ifndef CONTACT_PROBLEM_ASSEMBLY_H
#define CONTACT_PROBLEM_ASSEMBLY_H

#include "base/arena.h"
#include "base/pool.h"
#include "contact/problem/interface.h"
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
    double *M, *L;   /* [nl] branch-sparse, of trees that are small enough */
    double *x, *y;   /* [nv] work space */
    double *root;    /* [nv] of 1 / D, in the factor of the half solve */
    const int *tree; /* model's tree for each of the island's */
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
    SOURCE_TENDON_LOW,
    SOURCE_TENDON_HIGH,
    SOURCE_TENDON_FRICTION,
    SOURCE_TENDON_SPRING,
    SOURCE_ACTUATOR
} source_kind;

static inline bool is_tendon_row(source_kind kind) { return kind >= SOURCE_TENDON_LOW && kind <= SOURCE_TENDON_SPRING; }

typedef struct constraint_source {
    source_kind kind;
    int index; /* contact, dof, equality, tendon or limited actuator */
    int rows;
    int tree[2]; /* the model's trees that move A and B, -1: none does; both may be the same */
} constraint_source;

/* Does the point of a contact move over both bodies?  And does the contact constrain the mean velocity of the step,
 * with which positions move, rather than the velocity at its end (rows.c)?  Or has the row no gap: a velocity limit? */
typedef enum contact_rolling { ROLLS_NOT, ROLLS, ROLLS_IN_MEAN, HAS_NO_GAP } contact_rolling;

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
    double *impulse_guess; /* ... [nrow] in the order of `base` */
    mass_operator mass;
    island_bodies bodies;

    double *v, *impulse, *shift; /* solution */
    sim_solution solution;       /* its effort is that of all calls */
    sim_judgement judgement;
    sim_status failed;

    double budget;         /* J: what undoing overlaps may put in (undo.c), besides ... */
    double *undoing;       /* ... the energy of this motion, [nv], NULL: none ... */
    double bounces;        /* ... and this part, squared, of the kinetic energy before the step */
    int stuck, held_back;  /* constraints whose overlap no motion undoes; whose targets were lowered */
    int stuck_at;          /* the deepest of those ... */
    double stuck_depth;    /* ... in m, or rad */
    bool thorough;         /* are shallow overlaps examined, too? */
    bool refused;          /* did its solution create energy? */
    bool parted;           /* was it shifted by separate_island? */
    double excess, undone; /* J: of the refused one; put in by undoing overlaps */

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

/* All that is built for one step. */
typedef struct assembly {
    const contact_input *in;
    const model_tables *tables;
    const sim_derived *middle; /* where J of contacts is taken */
    const sim_motion *acc;     /* [nbody] accelerations where no joint accelerates, for equalities and tendons */
    sim_arena *arena;
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
    bool rigid;   /* by the law of the step: is there no compliance beside that of materials? */
    m3 *axes;     /* [nconstraint] t1, t2, n; scaled where friction depends on direction */
    v3 *moved;    /* [nconstraint] of contacts, m: way of the point at which J is taken (discrete_gradient_shift) */
    double *pull; /* [nconstraint] N s, of contacts: dt adhesion, a load in v* (surfaces.c); NULL: there is none */
    double *gap, *impulse_guess, *impulse_trend, *J;
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
    sim_constraint *constraint_variant; /* [nconstraint]; NULL: no actuators, and no restitution either */
} assembly;

/* Contacts, ends of ranges in reach, dry friction and equalities, and limited actuators of the trees they touch. */
sim_status active_set_find(assembly *f);

/* Connected components of trees: fills tree, local, source_of, and of each island its trees, constraints, rows and
 * velocities as counts. */
sim_status islands_find(assembly *f, const sim_model *model);

/* J, gap and warm start of one constraint of the list of all; its J holds zeros before. */
void rows_of_contact(assembly *f, const sim_model *model, const int *last_dof, int constraint);
void rows_of_joint(assembly *f, const sim_model *model, int constraint);
/* The place of its impulse among those of its dof; and its value there, or back. */
int joint_row_of(source_kind kind);
double joint_impulse_of(source_kind kind, double impulse);
void rows_of_equality(assembly *f, const sim_model *model, const int *last_dof, int constraint);
void rows_of_tendon(assembly *f, const sim_model *model, int constraint);
void rows_of_actuator(assembly *f, const sim_model *model, int constraint);

/* w = dt (s - p) h of a row whose J changes by h = dJ/dt v: see fill_pair_rows. */
static inline double offset_of_bias(const assembly *f, double h) {
    return f->in->step * (1.5 - f->in->travel - f->in->position) * h;
}

/* A spring with damper along a row whose J is filled: N/m, N s/m, and m at the start. */
typedef struct row_spring {
    double stiffness, damping, stretch;
} row_spring;
void fill_spring_row(assembly *f, const sim_model *model, int constraint, row_spring spring);

/* ---- tendons ---- */

/* Their state in this step. */
sim_status tendons_find(assembly *f, sim_threads *threads);
/* J v, m/s, of all velocities of the model. */
double tendon_speed(const assembly *f, int tendon, const double *v);
sim_constraint tendon_constraint(const sim_model *model, const constraint_source *source);
/* Adds a part of the moment arms to the first row of a constraint. */
void add_tendon_moments(assembly *f, int tendon, double part, int constraint);

/* ---- surfaces of contacts ---- */

/* The frame along n; its tangents are scaled so that friction is that of the round cone. */
m3 surface_frame(assembly *f, const sim_model *m, int constraint, v3 n);
/* The velocity of A's surface over B's along the first two axes, m/s; added to w. */
v3 surface_belts(const assembly *f, const sim_model *m, int constraint);
void surface_add_belts(const assembly *f, int constraint, v3 belts);
/* Warm start from an impulse and its trend, N s in world axes; and the impulse from a solution. */
void surface_set_guess(const assembly *f, int constraint, v3 impulse, v3 trend);
v3 surface_impulse(const assembly *f, int constraint, const double *gamma);
/* J of the rows against turning at the positions of d, into zeros, between the dof `stop` and both bodies; their gaps and
 * warm start, from a moment, N m s in world axes; the moment from a solution; rows of one side on its body. */
void surface_turning_rows(const assembly *f, const sim_derived *d, const int last[2], int stop, int constraint,
                          double *J);
void surface_start_turning(assembly *f, int constraint, v3 moment);
v3 surface_moment(const assembly *f, int constraint, const double *gamma);
void surface_turning_on_body(const assembly *f, int constraint, int side, double *J);
/* v* with the load of adhesion; `j` [nv] is work space. */
void surface_pull_together(assembly *f, const island *is, double *j);

/* ---- limited actuators ---- */

sim_constraint actuator_constraint(const assembly *f, const sim_model *m, const contact_actuator *actuator);
/* The force, N or N m, of the k-th row among those of actuators, with this impulse, to its place in the model's order. */
void actuator_scatter(const assembly *f, const island *is, int k, double impulse, double *effort);
/* Is the k-th row among those of actuators in no free motion, but in the forces that the next step begins with? */
bool actuator_is_held(const assembly *f, const island *is, int k);
/* v* without the actuators that are rows, into v; A is that of the derived problem. */
void actuators_remove_from_v_free(const assembly *f, const island *is, double *v);
/* The diagonal of A without the actuators that are rows, into `extra`. */
void actuators_remove_from_mass(assembly *f, const island *is);
/* How many come first in the order as rows: those that the last step left on another side than free motion has them. */
int actuators_predict_rows(const assembly *f, island *is);
/* How many join them: those that the solution drives off their side.  The solution becomes the warm start if any do. */
int actuators_add_crossed(const assembly *f, island *is);

/* ---- problems derived from `base` ---- */

/* The problem with that part of every restitution, and every actuator a row, from which R and target follow (full_law);
 * then those with the first `rows` of the island's order.  The problem derived before is no longer valid: both share
 * the factors of A. */
void derive_full_problem(assembly *f, island *is, double restitution);
void derive_problem(assembly *f, island *is, double restitution, int rows);

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

/* A side of a constraint writes to the columns of the dofs [first, end). */
void widen_columns(assembly *f, const sim_model *model, int constraint, int side, int first, int end);

/* Does it constrain coordinates or tendons, rather than two frames? */
static inline bool equality_is_of_coordinates(const sim_equality *e) {
    return e->type == SIM_COUPLING || e->type == SIM_TENDON_COUPLING;
}

/* ---- bodies and positions, for solvers that ask for them ---- */

/* Memory of the bodies of every island's trees.  Their numbers: at once, or when a solver first asks, after the rows. */
sim_status bodies_lay_out(assembly *f, const sim_model *model);
void bodies_fill(island *is);
/* Those of all islands as one list; NULL without memory. */
const sim_problem_bodies *bodies_of_all(const assembly *f);
/* The diagonal of A beside the bodies', which depends on the actuators that are rows. */
void bodies_diagonal(const assembly *f, const sim_model *model, const island *is);
/* rows x 6 of one side, (angular; linear) at the body's origin. */
void contact_on_body(const assembly *f, int constraint, int side, double *J);
void equality_on_body(const assembly *f, const sim_model *model, int constraint, int side, double *J);

/* Memory; `lay_out` gives problems their positions, `fill` follows when J is filled. */
sim_status positions_create(positions_memory *p, const sim_model *model, memory_pool *pool);
sim_status positions_lay_out(assembly *f, const sim_model *model, const int *last_dof, const positions_memory *p);
void positions_fill(assembly *f);
/* The change of a contact's gap, and the gaps between two bodies, at other positions; and J there, into zeros. */
double contact_ahead(const assembly *f, const sim_model *model, const int *last_dof, int constraint,
                     const sim_derived *ahead, double *J);
void equality_ahead(const assembly *f, const sim_model *model, const int *last_dof, int constraint,
                    const sim_derived *ahead, double *J, double *gap);

/* ---- assembling ---- */

typedef struct assembly_memory {
    mass_memory mass;
    const positions_memory *positions; /* NULL: the solver asks for none */
    sim_motion *acc;                   /* [nbody], where the model has equalities or tendons */
} assembly_memory;

/* The problems of all islands, in f->arena; f->in, f->tables, f->arena and f->rigid are given. */
sim_status assemble_problems(assembly *f, const assembly_memory *memory, bool bodies, sim_threads *threads);
/* A on these trees of the model, as the last derived problems have it. */
mass_operator assembly_mass(const assembly *f, const mass_memory *memory, const int *tree);

#endif
