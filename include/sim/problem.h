/* The contact problem of one step, independent of the method that solves it.
 *
 *     A (v - v*) = J' gamma,     u = J v + w,     (gamma, u) related row block by row block by its law
 *
 * The unknowns are the velocities v at the end of the step and the constraint impulses gamma (N s, N m s).  A is
 * symmetric positive definite, a block for every kinematic tree; v* is the end velocity of the step without
 * constraints. Each constraint has a block of rows, with dense blocks of J for the one or two trees that it touches.
 *
 * A contact has three rows, in the frame (t1, t2, n): n points from body B to body A, t1 x t2 = n. u is the velocity of
 * A over that of B, and u_n > 0 parts them. +gamma acts on A, -gamma on B; gamma_n >= 0 pushes apart.  One that resists
 * turning has rows for angular velocities and moments besides: those about (t1, t2) against rolling, then that about n
 * against torsion (sim_contact_discs).  An axis of any row may be scaled: u by a factor, gamma by its inverse.
 *
 * The problem states physics alone: gaps, friction, stiffness.  The law (compliance and target velocity of a row) is
 * derived in one place, `sim_regularise`, and handed to solver and judge alike. */
#ifndef SIM_PROBLEM_H
#define SIM_PROBLEM_H

#include <sim/base.h>
#include <sim/math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of constraints, and the relation of impulse g and velocity s = u - target + R g:
 *   contact    g in the friction cone, the intersection of one for each of its discs; see sim_cone
 *   limit      0 <= g perp s >= 0                                a joint at the end of its range
 *   friction   |g| <= dt bound, and opposes s as much as it can  dry friction of a joint
 *   equality   s = 0                                             welds, loop closures, gears: 1 to 6 rows
 *   spring     s = 0, with R and target such that g = dt (force - (dt stiffness + damping) u)
 *   actuator   the same, held within |g| <= dt bound: a controller with an effort limit */
typedef enum sim_constraint_kind {
    SIM_CONTACT,
    SIM_LIMIT,
    SIM_FRICTION,
    SIM_EQUALITY,
    SIM_SPRING,
    SIM_ACTUATOR,
    SIM_CONSTRAINT_KINDS,
} sim_constraint_kind;

enum { SIM_MAX_ROWS = 6 }; /* of one constraint */

SIM_API const char *sim_constraint_name(sim_constraint_kind kind);

/* Columns [first, first + count) of a block. */
typedef struct sim_columns {
    int first, count;
} sim_columns;

typedef struct sim_constraint {
    sim_constraint_kind kind;
    int row, rows;          /* rows [row, row + rows) of all stacked vectors */
    int tree[2];            /* of the problem; -1: none.  Two different ones, or the second none */
    ptrdiff_t block[2];     /* where the dense rows x nv(tree) block of each stands in J, row-major */
    sim_columns columns[2]; /* of each block, all zeros beside them; count 0: not known, all of them */
    int body[2];            /* of the model, A and B; -1: unknown */
    uint64_t id;            /* the same from step to step */
    double friction;        /* contact: Coulomb coefficient */
    double stiffness;       /* all but friction: N/m (N m/rad); contact, limit, equality: infinity is rigid */
    double dissipation;     /* contact, limit, equality: damping over stiffness, s */
    double restitution;     /* contact, limit */
    double bound;           /* friction, actuator: N or N m */
    double damping;         /* spring, actuator: N s/m (N m s/rad) */
    double force;           /* spring, actuator: N or N m at u = 0 */
    double rolling;         /* contact of 5 or 6 rows: |(r1, r2)| <= rolling g_n, m */
    double torsion;         /* contact of 4 or 6 rows: |r_n| <= torsion g_n, m */
    double surface[2];      /* contact: velocity of A's surface over B's along t1 and t2, which w includes, m/s; of rows
                             * against turning w is that of the surfaces alone */
    int turns;              /* limit: 1 if its gap is an angle, rad; 0: m */
} sim_constraint;

/* A disc of a contact: its rows [row, row + rows), whose impulse has a norm of at most bound g_n. */
typedef struct sim_disc {
    int row, rows;
    double bound;
} sim_disc;

enum { SIM_CONTACT_ROWS = 3, SIM_MAX_DISCS = 3 };

/* Does a contact resist turning? */
static inline bool sim_contact_turns(const sim_constraint *c) { return c->rows > SIM_CONTACT_ROWS; }

/* The discs of a contact: friction, rolling, torsion; their number. */
static inline int sim_contact_discs(const sim_constraint *c, sim_disc disc[SIM_MAX_DISCS]) {
    int count = 0, last = c->rows - 1;
    disc[count++] = (sim_disc){0, 2, c->friction};
    if (c->rows >= 5) {
        disc[count++] = (sim_disc){3, 2, c->rolling};
    }
    if (c->rows == 4 || c->rows == 6) {
        disc[count++] = (sim_disc){last, 1, c->torsion};
    }
    return count;
}

/* Velocities [v0, v0 + nv) of the problem. */
typedef struct sim_problem_tree {
    int v0, nv;
} sim_problem_tree;

/* A as an operator, tree by tree; x and y hold the numbers of that tree.  Calls for different trees may run at once.
 *
 * `half` (NULL: there is none) is half of a solve: it knows a B with A^-1 = B' B that passes from the tips of a tree
 * to its root.  So J A^-1 J' = (B J')' (B J') costs no more than the paths that J touches.  X holds `rows` rows of nv
 * numbers, zeros beside the columns; each row x becomes B x, all zeros from the end of the columns on. */
typedef struct sim_mass {
    const void *self;
    void (*times)(const void *self, int tree, const double *x, double *y); /* y = A x */
    void (*solve)(const void *self, int tree, double *x);                  /* x <- A^-1 x */
    void (*matrix)(const void *self, int tree, double *A);                 /* all nv x nv numbers */
    void (*diagonal)(const void *self, int tree, double *d);               /* the nv numbers A_jj */
    void (*half)(const void *self, int tree, int rows, sim_columns columns, double *X);
} sim_mass;

/* W in compressed rows of blocks: the block of constraints i and column[k], start[i] <= k < start[i + 1], is at
 * value[at[k]], rows_i x rows_j, row-major. Columns rise within a row, and the diagonal is present. */
typedef struct sim_delassus {
    const int *start;    /* [nconstraint + 1] */
    const int *column;   /* [start[nconstraint]] */
    const ptrdiff_t *at; /* likewise */
    const double *value;
    int symmetric; /* bit by bit */
} sim_delassus;

/* A and J body by body, for methods that pass along the bodies of a tree without knowing the model.  They are composite
 * or articulated inertias, with the contacts' part for each body.  Each body has its origin and the axes of the world.
 * Velocities are (angular; linear at the origin).  Those of a child are those of its parent, moved by r, plus those of
 * its own dofs:
 *
 *     V_b = (w_p; v_p + w_p x r_b) + sum over its dofs S_j v_j.
 *
 * J and A may be taken at two places of a step, and have a chain each: r and S there.  On the chain of A, with the
 * inertias I_b (angular first, at the origin), and for a constraint on bodies on its own chain,
 *
 *     v' A v = sum_b V_b . I_b V_b + sum_j diagonal_j v_j^2,     J_i v = sum over its one or two bodies J_ib V_b. */
typedef struct sim_body_node {
    int parent; /* of the problem's bodies, before this one; -1: the world */
    int v0, nv; /* its dofs, of the problem's velocities */
} sim_body_node;

typedef struct sim_body_chain {
    const sim_v3 *r;     /* [nbody] its origin less its parent's; of a tree's first body nothing depends on it */
    const sim_motion *S; /* [nv] */
} sim_body_chain;

/* The rows of a constraint on bodies; on those of joints (limits, dry friction, couplings) it has none, and acts on the
 * columns of J alone. */
typedef struct sim_body_rows {
    int body[2];        /* of the problem, A and B; -1: none, or one that nothing moves */
    int chain;          /* SIM_CHAIN_... */
    ptrdiff_t block[2]; /* where rows x 6 numbers of each stand in `J`, row-major, angular first */
} sim_body_rows;

enum { SIM_CHAIN_START, SIM_CHAIN_MASS, SIM_CHAINS };

typedef struct sim_problem_bodies {
    int nbody;
    const int *first;                 /* [ntree + 1] bodies of each tree, one after the other */
    const sim_body_node *node;        /* [nbody] */
    const sim_body_inertia *I;        /* [nbody] on the chain of A */
    const double *diagonal;           /* [nv] armature, and implicit terms of the joints */
    sim_body_chain chain[SIM_CHAINS]; /* of gaps and contacts; of A */
    const sim_body_rows *rows;        /* [nconstraint] */
    const double *J;
    void (*fill)(void *island); /* NULL: all numbers are there; else sim_problem_find_bodies computes them */
    void *island;
} sim_problem_bodies;

/* The end of the step, for methods that take gaps there.  Frames of contacts keep their axes. */
typedef struct sim_positions {
    void *self;
    /* With the velocities v: the mean rate of every gap over the step, (gap at the end - gap) / dt; J v + w of other
     * rows. Laws hold with this in place of u. */
    void (*at)(void *self, const double *v, double *u);
    const double *J; /* all blocks, at the positions of the last call */
} sim_positions;

/* Either global: trees, A, J, v*; or local: W and q alone (ntree = 0), with u = W gamma + q. */
typedef struct sim_problem {
    double step; /* s */
    int ntree, nv, nconstraint, nrow;
    const sim_problem_tree *tree;
    const sim_constraint *constraint;
    const double *gap; /* [nrow] m or rad, negative inside; of a contact its third is meant */

    sim_mass mass;
    const double *J;            /* all blocks */
    const double *v_free;       /* [nv] v* */
    const double *v_start;      /* [nv] velocity before the step */
    const double *force_energy; /* [1] (v* - v_start)' A (v* - v_start), J, from which the elastic law bounds loads;
                                   NULL: not known.  sim_problem_create computes it */
    const double *offset;       /* [nrow] w; NULL: zero */
    const double *diagonal; /* blocks W_ii one after the other, as sim_delassus_diagonal gives them; NULL: not known */
    const sim_problem_bodies
        *bodies; /* NULL: not known.  For solvers that ask, by sim_problem_find_bodies; not in files */
    const sim_positions *positions; /* likewise */

    const sim_delassus *W; /* local problems */
    const double *q;

    /* warm start; NULL: none */
    const double *v_guess;       /* [nv] */
    const double *impulse_guess; /* [nrow] */
    const double *impulse_trend; /* [nrow] its change in the step before: guess + trend is near where nothing strikes */
} sim_problem;

/* The bodies with all their numbers, NULL: not known.  Most steps of a solver that may want them do not. */
static inline const sim_problem_bodies *sim_problem_find_bodies(const sim_problem *problem) {
    const sim_problem_bodies *b = problem->bodies;
    if (b && b->fill) {
        b->fill(b->island);
    }
    return b;
}

static inline int sim_problem_local(const sim_problem *problem) { return problem->ntree == 0; }

/* The columns of a side's block that may be other than zero. */
static inline sim_columns sim_block_columns(const sim_problem *problem, const sim_constraint *c, int side) {
    sim_columns all = {0, problem->tree[c->tree[side]].nv};
    return c->columns[side].count ? c->columns[side] : all;
}

/* The friction law that a solver obeys.
 *   strict      Signorini and Coulomb: 0 <= g_n perp s_n >= 0, |g_t| <= mu g_n, g_t opposes s_t
 *   convex      Anitescu's relaxation: g in the cone, s in its dual, g perp s; sliding contacts lift, s_n = mu |s_t|
 *   pyramid     the strict law with a pyramid in place of the cone */
typedef enum sim_cone { SIM_CONE_STRICT, SIM_CONE_CONVEX, SIM_CONE_PYRAMID, SIM_CONES } sim_cone;

SIM_API const char *sim_cone_name(sim_cone cone);

/* Compliance and target velocity of rows.
 *   rigid       R = 0 and target -gap / dt of rigid constraints: a gap may close, no more; overlap is undone slowly,
 *               down to a slop; a fast approach bounces by restitution.  A stiffness makes compliant
 *   near-rigid  no contact is stiffer than the step can resolve (Castro et al. 2021, eqs. 23, 29, 30); rigid
 *               constraints bounce by restitution
 *   elastic     contacts are springs along the normal and the tangents, as stiff as the step resolves for the load that
 *               they carry.  Friction holds by a spring that keeps its deflection from step to step: no creep */
typedef enum sim_compliance { SIM_RIGID, SIM_NEAR_RIGID, SIM_ELASTIC, SIM_COMPLIANCES } sim_compliance;

SIM_API const char *sim_compliance_name(sim_compliance compliance);

typedef struct sim_law_options {
    double beta;      /* near-rigid, elastic: period of the stiffest contact over the step */
    double sigma;     /* near-rigid: slip of friction at rest, relative */
    double push;      /* rigid: the part of an overlap that a step undoes; elastic: of one beyond the spring's */
    double threshold; /* m/s: slower approaches do not bounce */
    double carried;   /* near-rigid: a contact that carries a load is stiffer by up to so much; 1: none is */
    double slop;      /* rigid: no step undoes an overlap up to this part of the way dt |J (v* - v_start)| */
    double undo;      /* m/s (rad/s about axes): the fastest undoing of an overlap, rigid or near-rigid */
} sim_law_options;

/* 1, 1e-3, 0.2, 0.01 m/s, 1, 0.02, 0.1 m/s */
SIM_API sim_law_options sim_law_options_default(void);
/* SIM_BAD_INPUT: a number is out of its range. */
SIM_API sim_status sim_law_options_check(const sim_law_options *options, sim_error *error);

/* R, diagonal, and target velocity of every row: [nrow] each. */
typedef struct sim_regularisation {
    const double *R;
    const double *target;
} sim_regularisation;

/* Fill R and target.  `W` holds the diagonal blocks J_i A^-1 J_i' of all constraints one after the other, rows x rows
 * each (sim_delassus_diagonal gives them); only near-rigid asks for it. */
SIM_API void sim_regularise(const sim_problem *problem, sim_compliance compliance, const sim_law_options *options,
                            const double *W, double *R, double *target);

/* s: a law acts on rigid surfaces whose gap would close within this time, dt or, near-rigid, dt + tau.  The convex law
 * also acts on surfaces that slide at v with a gap of up to this time, times friction, times v. */
SIM_API double sim_law_reach(sim_compliance compliance, double step);

/* A problem that owns its data: a copy of `parts`, whose mass is ignored.  In its place are the dense symmetric blocks
 * A, nv x nv each, one after the other.  Refused, with the array, the place and the reason: indices that do not fit,
 * numbers that are not finite or out of their range.  Blocks must be symmetric bit by bit and positive definite.
 * Numbers that a kind of constraint has no use for may be anything. */
SIM_API sim_problem *sim_problem_create(const sim_problem *parts, const double *A, sim_error *error);
SIM_API void sim_problem_free(sim_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
