/* The stage's insides, shared by the files of this room. */
#ifndef CONTACT_PROBLEM_PARTS_H
#define CONTACT_PROBLEM_PARTS_H

#include "base/arena.h"
#include "base/pool.h"
#include "contact/problem/interface.h"
#include "math/dense.h"
#include "math/v3.h"

#include <math.h>

/* Has a joint a range or dry friction, which are rows? */
static inline int dof_has_rows(const sim_dof *dof) {
    return dof->limit.low > -INFINITY || dof->limit.high < INFINITY || dof->friction > 0;
}

/* Does the point of a contact move over both bodies?  And do the bodies obey it by the velocity that positions move with,
 * rather than by that at the end of the step (rows.c)? */
typedef enum contact_rolling { ROLLS_NOT, ROLLS, ROLLS_IN_MEAN } contact_rolling;

/* A on the trees of an island. */
typedef struct mass_operator {
    const sim_model *model;
    sim_derived *derived;
    const double *extra;
    double *M, *L;   /* [nl] branch-sparse, of trees that are small enough */
    double *x, *y;   /* [nv] work space */
    double *root;    /* [nv] of 1 / D, in the factor that halves */
    const int *tree; /* model's tree for each of the island's */
} mass_operator;

sim_mass mass_interface(const mass_operator *mass);
/* For a tree of the model, before its operator is used; and again when its `extra` has changed. */
void mass_prepare(const mass_operator *mass, int model_tree);
void mass_change(const mass_operator *mass, int model_tree);

/* What a problem says of its bodies. */
typedef struct island_bodies {
    sim_problem_bodies is;
    int *first;
    sim_body_node *node;
    sim_body_inertia *I;
    double *diagonal;
    sim_v3 *r[SIM_CHAINS];
    sim_motion *S[SIM_CHAINS];
} island_bodies;

typedef struct island {
    sim_problem problem;
    island_bodies bodies;
    mass_operator mass;
    const char *rolls;           /* [nconstraint] contact_rolling */
    double *v, *impulse, *shift; /* answers */
    double *R, *target, *R_rigid, *target_rigid;
    int first_constraint, first_tree, first_row, first_v; /* in the lists of all */
    int motor0, motors,
        rows; /* the last of its constraints; the first so many of them are rows, and count in `problem` */
    sim_solution solution;
    sim_judgement judgement;
    double seconds[CONTACT_PARTS];
    double budget;         /* J: what undoing overlaps may put in (undo.c), besides ... */
    double *undoing;       /* ... the energy of this motion, [nv], NULL: none ... */
    double bounces;        /* ... and this part, squared, of what there was */
    int stuck, held_back;  /* constraints whose overlap no motion undoes; whose targets were lowered */
    int stuck_at;          /* the deepest of those ... */
    double stuck_depth;    /* ... in m, or rad */
    int thorough;          /* are shallow overlaps looked at, too? */
    int refused;           /* did its solver answer with energy from nothing? */
    double excess, undone; /* J: of what was refused; what undoing overlaps put in */
    sim_status failed;
    int spread; /* over all threads */
} island;

/* What may push or hold a tree, or two: the constraints of a step before they are islands' own. */
typedef enum tie_kind { TIE_CONTACT, TIE_LOW, TIE_HIGH, TIE_FRICTION, TIE_EQUALITY, TIE_MOTOR } tie_kind;

typedef struct tie {
    tie_kind kind;
    int index; /* contact, dof, equality or motor */
    int rows;
    int tree[2]; /* the model's trees that move A and B, -1: none does; both may be the same */
} tie;

/* All that is built for one step. */
typedef struct frame {
    const contact_input *in;
    const sim_derived *middle; /* where J of contacts is taken */
    sim_arena *arena;
    tie *tie;
    int ntie;
    int nisland, nconstraint, ntree, nv, nrow;
    island *island;
    int *tree;   /* [ntree] model's tree of each, island by island */
    int *local;  /* [model ntree] its place in its island, -1: untouched */
    int *tie_of; /* [nconstraint] what each came from */
    sim_constraint *constraint;
    int *row;    /* [nconstraint] its first row in the lists of all */
    char *rolls; /* [nconstraint] contact_rolling */
    int rigid;   /* by the law of the step: is there no compliance beside that of materials? */
    m3 *axes;    /* [nconstraint] t1, t2, n */
    double *gap, *impulse_guess, *J;
    double *offset;           /* [nrow]; NULL: zero */
    double *v_start, *v_free; /* [nv] packed island by island */
    char *driven;             /* [model ntree] has it motors among the ties?  NULL as the next two: there are none */
    double *v_guess;          /* [nv] packed likewise */
    double *extra;            /* [model nv] */
    sim_problem_tree *packed; /* [ntree] their places within the island */
    double *J_ahead;          /* [nJ] where the step ends, for solvers that ask; NULL: they do not */
    ptrdiff_t nJ;
    sim_body_rows *on_body; /* [nconstraint] for solvers that want the bodies */
    double *J_body;
} frame;

/* What touches, or is at the end of its range, and what always holds.  `joint` lists the dofs with ranges or dry friction.
 * 0 without memory. */
int ties_find(frame *f, const sim_model *model, const int *last_dof, const int *joint, int njoint);

/* Which trees hang together: fills tree, local, tie_of, and of each island its trees, constraints, rows and velocities
 * as counts.  0 without memory. */
int islands_find(frame *f, const sim_model *model);

/* J, gap and guess of one constraint of the frame's list, by what it came from; its J holds zeros before.  `acc`: the
 * accelerations of bodies where no joint accelerates. */
void rows_of_contact(frame *f, const sim_model *model, const int *last_dof, int constraint);
void rows_of_joint(frame *f, const sim_model *model, int constraint);
void rows_of_equality(frame *f, const sim_model *model, const int *last_dof, const sim_motion *acc, int constraint);

/* The constraint of a motor, and its place as every constraint has it. */
sim_constraint motor_constraint(const frame *f, const sim_model *m, const contact_motor *motor);
void rows_of_motor(frame *f, const sim_model *m, int constraint);
/* Take all motors of an island out of A and make them rows, v* being left as it was with them. */
void motors_all(frame *f, island *is);
/* Which motors are rows?  To begin with those that the last step left on another side than free motion has them ... */
void motors_begin(frame *f, island *is);
/* ... then also those that the answer found drives off their side: how many.  The answer is where the next one starts. */
int motors_crossed(frame *f, island *is);
/* A and v* as they are without those that are rows. */
void motors_let_go(frame *f, island *is);
/* Back to so many rows, after motors_all. */
void motors_return(frame *f, island *is, int rows);
/* What a row's impulse says of the effort. */
double motor_effort(const frame *f, const sim_constraint *c, double impulse);

/* The block of J that a side of a constraint writes to: two sides on one tree share theirs. */
static inline double *block_in(double *J, const frame *f, int constraint, int side) {
    const tie *t = &f->tie[f->tie_of[constraint]];
    int second = side == 1 && t->tree[0] >= 0 && t->tree[0] != t->tree[1];
    return J + f->constraint[constraint].block[second];
}
static inline double *block_of(const frame *f, int constraint, int side) { return block_in(f->J, f, constraint, side); }

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

/* Says that a side of a constraint writes to the columns of the dofs [first, end). */
void widen_columns(frame *f, const sim_model *model, int constraint, int side, int first, int end);

/* The bodies of every island's trees, for solvers that ask for them; 0 without memory.  Then, when the rows stand, what
 * they are. */
int bodies_lay_out(frame *f, const sim_model *model);
void bodies_fill(const frame *f, const sim_model *model, const island *is);
/* Those of all islands as one list; NULL without memory. */
const sim_problem_bodies *bodies_whole(const frame *f);
/* The diagonal of A beside the bodies', which motors change on the way. */
void bodies_diagonal(const frame *f, const sim_model *model, const island *is);
/* rows x 6 of one side, (angular; linear) at the body's origin. */
void contact_on_body(const frame *f, int constraint, int side, double *J);
void equality_on_body(const frame *f, const sim_model *model, int constraint, int side, double *J);

/* An island's answer; changed: as its constraints now are. */
typedef sim_status (*rebound_answer)(void *self, int changed, sim_error *error);
/* The answer with as much restitution as the island bears.  R and target are those of the constraints as they are, and
 * then of the answer; v* is the one they were found with.  Who is slower than the threshold does not bounce. */
sim_status rebound_find(frame *frame, island *island, double threshold, rebound_answer answer, void *self,
                        sim_arena *scratch, sim_error *error);

/* Which overlaps can any motion undo?  R and targets of those that none can are made to have an answer, and the island's
 * `budget`, `stuck` and what follows are found; of shallow ones where it is to be `thorough`.  0 without memory. */
typedef struct undo_rules {
    const double *moved; /* [model ntree] kg that move */
    const double *size;  /* [model nbody] m: as by sag_sizes */
    double undo, threshold;
} undo_rules;
int undo_possible(const frame *frame, island *island, const undo_rules *rules, sim_arena *scratch);
/* Does a stop undo an overlap, rather than bounce?  Does any constraint? */
int undo_pushes(const island *island, double threshold, const sim_constraint *c);
int undo_any(const island *island, double threshold);

/* J that the answer, which was judged, gains beyond what it may; 0 if that is none or what tolerances leave. */
double guard_excess(const island *island, sim_arena *scratch);
/* An answer that gains nothing takes its place.  0 without memory. */
int guard_replace(island *island, sim_arena *scratch);
/* J that undoing overlaps put in, all of them together. */
double guard_undone(const island *island, double threshold);

/* How right is the answer of an island, and is it one?  Fills its judgement; an outcome that the judge does not confirm is
 * refuted. */
sim_status verdict_of(island *island, const sim_solver *solver, sim_arena *scratch, sim_error *error);
/* The certificate of all islands, and whose figures are the worst. */
void verdict_of_all(const frame *frame, contact_info *info);

/* The radius of each body's largest shape, 0 of those without; NULL without memory.  Then the contact of a step that is the
 * deepest at rest, beside that. */
double *sag_sizes(sim_pool *pool, const sim_model *model);
void sag_find(const frame *frame, const double *size, contact_info *info);
/* By the convex law: what slides and is lifted the furthest.  `reach`: the time within which gaps are closed; gravity: m/s^2. */
void lift_find(const frame *frame, double reach, double gravity, contact_info *info);

/* How fast positions must move beyond v_start + travel (v - v_start). */
int touchdown(const island *island, double travel, sim_arena *scratch);

/* Where velocities lead.  The memory is the stage's, but for that of an island, whose trees no other has. */
typedef struct positions_memory {
    sim_pool *pool;
    sim_derived *ahead;
    double *q, *v; /* [model nq], [model nv] */
} positions_memory;

typedef struct island_positions {
    sim_positions is;
    const frame *frame;
    const sim_model *model;
    const island *island;
    const int *last_dof;
    sim_derived *ahead;
    double *q, *v, *J;
} island_positions;

/* 0 without memory.  `lay_out` gives problems their positions, `fill` follows when J stands. */
int positions_make(positions_memory *p, const sim_model *model);
int positions_lay_out(frame *f, const sim_model *model, const int *last_dof, positions_memory *p);
void positions_fill(frame *f);
/* The change of a contact's gap, and the gaps between two bodies, at other positions; and J there, into zeros. */
double contact_ahead(const frame *f, const sim_model *model, const int *last_dof, int constraint,
                     const sim_derived *ahead, double *J);
void equality_ahead(const frame *f, const sim_model *model, const int *last_dof, int constraint,
                    const sim_derived *ahead, double *J, double *gap);

/* The answers of all islands, and what is told of them. */
void hand_back(const frame *frame, const sim_model *model, contact_output *out);

/* All islands as one problem that owns its data. */
sim_problem *whole_problem(const frame *f, const mass_operator *mass, sim_error *error);

#endif
