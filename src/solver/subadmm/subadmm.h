/* SubADMM: shared state and interfaces of its files.  The method is described in subadmm.c. */
#ifndef SOLVER_SUBADMM_SUBADMM_H
#define SOLVER_SUBADMM_SUBADMM_H

#include "solver/core/anderson.h"
#include "solver/core/call.h"
#include "solver/core/natural_map.h"
#include "solver/matrices/hessian.h"
#include "solver/subadmm/lanes/lanes.h"

/* Parts into which constraints are split. */
typedef enum subadmm_split { SUBADMM_BODIES, SUBADMM_TREES, SUBADMM_NONE } subadmm_split;

/* Storage of a tree's velocities, and method for its matrix A + kappa C. */
typedef enum subadmm_form {
    SUBADMM_LANE,        /* a row of the lanes, solved there */
    SUBADMM_ROW,         /* a row of the lanes, solved here as one dense matrix */
    SUBADMM_DENSE,       /* x; one dense matrix */
    SUBADMM_BRANCH,      /* x, and a row for each body; sparse along the branches (branch.c) */
    SUBADMM_ARTICULATED, /* likewise; joint by joint (articulated.c) */
    SUBADMM_BATCHED,     /* likewise; along the branches, in SIMD batches (batch_kernels.c) */
} subadmm_form;

/* One side of a constraint outside the lanes: `rows` x n numbers of J, `stride` apart, act on x. */
typedef struct subadmm_side {
    int n, stride;
    const double *J, *x, *response; /* response: as x, of A^-1 J'lambda */
    double *push;
    int tree;      /* of subadmm */
    int body, dof; /* of the problem, in trees split over bodies: the body, else its first dof; -1 */
    int chain;
} subadmm_side;

typedef struct subadmm_tree {
    subadmm_form form;
    int index, v0, nv;   /* of the problem */
    int body0, body1;    /* its bodies, of the problem */
    int lane;            /* of its first body, or of itself; -1 */
    int batch, in_batch; /* of trees of equal shape */
    const double *turn;  /* 6 x 6, v = turn V, if its row holds V in place of v */
    ptrdiff_t numbers;   /* of each matrix */
    double *A, *C;       /* C: sum of weight J'J over the slots */
    double *K, *inverse; /* factor of A + kappa C */
} subadmm_tree;

/* The bodies of trees, and the dofs of their joints. */
typedef struct subadmm_bodies {
    const sim_problem_bodies *is;
    int *parent,
        *depth;     /* [nv] of a dof: the previous one on the path from the root; dofs on the path, itself included */
    int *run;       /* [nv] length of the run of consecutive dofs, each the parent of the next, that ends here */
    int *node;      /* [nbody] index in `tree` of each body of trees with constraints */
    ptrdiff_t *row; /* [nv] start of a dof's row in the numbers of its tree */
    double *V, *response;      /* [8 nbody] on the chain of A, where that is another one: of x, of A^-1 J'lambda */
    double *push[SIM_CHAINS];  /* [8 nbody] */
    bool pushed;               /* push is needed: some tree is not batched, or has constraints outside the lanes */
    double *added[SIM_CHAINS]; /* [36 nbody] sum of weight J_b'J_b */
    double *joint;             /* [nv] sum of weight J_j J_j of rows on joints, of trees along their branches */
    bool two_chains;           /* constraints act on another chain than A */
} subadmm_bodies;

typedef struct subadmm {
    solver_call *call;
    const sim_problem *problem;
    subadmm_split split;
    double kappa;         /* penalty of a slot over its weight */
    double *weight;       /* [nconstraint] of its slots */
    double *slack;        /* [nrow] sum of 1 / weight over the slots */
    double *inverse_mass; /* [nconstraint] trace W_ii / rows */
    double *rho;          /* [nconstraint] rows / trace(W_ii + R_i) */
    double *target;       /* [nrow] target - J v* - w */
    double *q;            /* [nrow] J v* + w - target */

    int ntree, *node; /* trees with constraints; [trees of the problem] index in `tree`, -1 */
    subadmm_tree *tree;
    subadmm_bodies bodies;
    struct subadmm_batch *batch_list; /* batches of trees of equal shape */
    int nbatch;
    const struct subadmm_batch_kernels *batch_kernels;
    hessian *whole;
    cone_hessian *G;
    double *size; /* [nv] root of A's diagonal, unsplit */

    admm_lanes lanes;
    admm_input input;
    const admm_kernels *kernels;
    int *lane_of;            /* [nconstraint] contact of the lanes; -1 */
    int beside;              /* number of constraints outside the lanes */
    subadmm_side (*side)[2]; /* [nconstraint] of all others */

    int numbers;     /* of the state */
    int independent; /* leading numbers, which determine the rest */
    double *state;   /* x, lambda, state of the lanes, V: */
    double *x;       /* [nv] v - v* of trees that have no row */
    double *lambda;  /* [nrow] of constraints outside the lanes */
    double *push;    /* [nv] */

    double *before, *least; /* [numbers] state one iteration ago; state of the least E */
    double *v;              /* [nv] A^-1 J' lambda, of trees that have no row */
    double *dx, *momentum;  /* [nv] */
    natural_sum constant;   /* terms of E that are constant */
    double (*slot)[2];      /* [contacts of the lanes] weights of their sides */
    char *kept, *open;      /* likewise: 0: left out as open; evaluations in a row in which it was open */
    char *back;             /* number of its returns */
    double primal, dual;    /* energies */
    double E, best;
    struct {
        double preparation, evaluation, factor; /* multiplications or operations of equal time */
    } work;
} subadmm;

/* The tree is split over its bodies. */
static inline bool subadmm_is_split(const subadmm_tree *t) { return t->form >= SUBADMM_BRANCH; }

/* slots.c: storage of state and slots.  False without memory. */
bool subadmm_make_layout(subadmm *s, bool articulated);
/* Impulses <- `impulse`, all contacts kept. */
void subadmm_restart(subadmm *s, const double *impulse);

/* law.c: lambda' of all constraints from x, and J'f, f = lambda' + (lambda' - lambda), in slots and push. */
void subadmm_update_impulses(subadmm *s);
/* J' lambda in slots and push; terms of E of constraints outside the lanes. */
void subadmm_apply_impulses(subadmm *s);
void subadmm_add_natural(const subadmm *s, natural_sum *sum);

/* trees.c: matrices of the trees, false without memory; factors of A + kappa C.  `changed`: C has changed. */
bool subadmm_make_trees(subadmm *s);
hessian_result subadmm_factor(subadmm *s, bool changed);
/* Velocities of bodies from x; x <- x + K^-1 (push - A x), false without memory. */
void subadmm_spread_velocities(subadmm *s);
bool subadmm_step_trees(subadmm *s);
/* A^-1 push. */
void subadmm_solve_response(subadmm *s);
/* v - v* of a tree. */
void subadmm_read_velocity(const subadmm *s, const subadmm_tree *t, const double *x, double *rows, double *v);

/* scale.c: e->scale */
void subadmm_set_scale(const subadmm *s, anderson *e);

/* work.c */
void subadmm_count_work(subadmm *s);

/* parallel.c: a kernel for all batches, by all threads. */
void subadmm_run_kernel(subadmm *s, int batches, void (*kernel)(admm_lanes *l, int first, int end));

/* measure.c: W_ii, q and constant terms of E, false without memory; E of v* + A^-1 J' lambda; residuals as energies.
 * Contacts left out (open in so many evaluations) and returned, true: some are; impulses and velocities of the least
 * E. */
bool subadmm_eval_constants(subadmm *s);
void subadmm_eval_error(subadmm *s);
void subadmm_eval_residuals(subadmm *s);
bool subadmm_cull_open(subadmm *s, int evaluations);
void subadmm_write_solution(subadmm *s);

#endif
