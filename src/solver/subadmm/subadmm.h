/* SubADMM: what its files share.  The method stands in subadmm.c. */
#ifndef SOLVER_SUBADMM_SUBADMM_H
#define SOLVER_SUBADMM_SUBADMM_H

#include "solver/core/anderson.h"
#include "solver/core/call.h"
#include "solver/core/natural_map.h"
#include "solver/matrices/hessian.h"
#include "solver/subadmm/lanes/lanes.h"

/* Into what constraints are split. */
typedef enum subadmm_split { SUBADMM_BODIES, SUBADMM_TREES, SUBADMM_NONE } subadmm_split;

/* Where the velocities of a tree stand, and how its matrix A + kappa C is factored. */
typedef enum subadmm_form {
    SUBADMM_LANE,        /* a row of the lanes, solved there */
    SUBADMM_ROW,         /* a row of the lanes, solved here as one dense matrix */
    SUBADMM_DENSE,       /* x; one dense matrix */
    SUBADMM_BRANCH,      /* x, and a row for each body; along the branches (branch.c) */
    SUBADMM_ARTICULATED, /* likewise; joint by joint (articulated.c) */
    SUBADMM_ALIKE,       /* likewise; along the branches, side by side with others (batch_kernels.c) */
} subadmm_form;

/* One side of a constraint that is no contact of the lanes: `rows` x n numbers of J, `stride` apart, act on x. */
typedef struct subadmm_side {
    int n, stride;
    const double *J, *x, *answer; /* answer: as x, of A^-1 J'lambda */
    double *push;
    int tree;      /* of subadmm */
    int body, dof; /* the problem's, of trees split over bodies: on which, else from which dof on; -1 */
    int chain;
} subadmm_side;

typedef struct subadmm_tree {
    subadmm_form form;
    int index, v0, nv;   /* of the problem */
    int body0, body1;    /* its bodies, of the problem */
    int lane;            /* of its first body, or of itself; -1 */
    int batch, in_batch; /* of trees alike */
    const double *turn;  /* 6 x 6, v = turn V, if its row holds V and not v */
    ptrdiff_t numbers;   /* of each matrix */
    double *A, *C;       /* C: sum of weight J'J over the slots */
    double *K, *inverse; /* factor of A + kappa C */
} subadmm_tree;

/* The bodies of trees, and the dofs of their joints. */
typedef struct subadmm_bodies {
    const sim_problem_bodies *is;
    int *parent, *depth; /* [nv] of a dof: the one before it on the path from the root; dofs on the path with itself */
    int *run;            /* [nv] dofs one after the other, each the one before the next, up to this one */
    int *node;           /* [nbody] tree, of subadmm, of each body of trees that are touched */
    ptrdiff_t *row;      /* [nv] where the row of a dof starts in the numbers of its tree */
    double *V, *answer;  /* [8 nbody] on the chain of A, where that is another one: of x, of A^-1 J'lambda */
    double *push[SIM_CHAINS];  /* [8 nbody] */
    int pushed;                /* it is asked for: not by trees alike that only contacts of the lanes touch */
    double *added[SIM_CHAINS]; /* [36 nbody] sum of weight J_b'J_b */
    double *joint;             /* [nv] sum of weight J_j J_j of rows on joints, of trees along their branches */
    int two_chains;            /* constraints act on another than that of A */
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
    double *target;       /* [nrow] less what v* gives */
    double *q;            /* [nrow] J v* + w - target */

    int ntree, *node; /* trees that are touched; [problem's] their index there, -1 */
    subadmm_tree *tree;
    subadmm_bodies bodies;
    struct subadmm_alike *alike; /* batches of trees side by side */
    int nalike;
    const struct subadmm_alike_kernels *herds;
    hessian *whole;
    cone_hessian *G;
    double *size; /* [nv] root of A's diagonal, unsplit */

    admm_lanes lanes;
    admm_input input;
    const admm_kernels *kernels;
    int *lane_of;            /* [nconstraint] contact of the lanes; -1 */
    int beside;              /* how many constraints are none */
    subadmm_side (*side)[2]; /* [nconstraint] of all others */

    int numbers;     /* of the state */
    int independent; /* the first of them, from which the others follow */
    double *state;   /* x, lambda, that of the lanes, V: */
    double *x;       /* [nv] v - v* of trees that have no row */
    double *lambda;  /* [nrow] of constraints beside the lanes */
    double *push;    /* [nv] */

    double *before, *least; /* multipliers of an iteration ago, and those of the least E: the state's [numbers] */
    double *v;              /* [nv] A^-1 J' lambda, of trees that have no row */
    double *dx, *momentum;  /* [nv] */
    natural_sum constant;   /* what of E does not change */
    double (*slot)[2];      /* [contacts of the lanes] weights of their sides */
    char *kept, *open;      /* likewise: 0: left out, as it was found open; in how many looks in a row it was */
    char *back;             /* how often it was taken in again */
    double primal, dual;    /* energies */
    double E, best;
    struct {
        double preparation, look, factor; /* multiplications, or what takes as long; an iteration is the call's unit */
    } work;
} subadmm;

/* Split over its bodies? */
static inline int subadmm_splits(const subadmm_tree *t) { return t->form >= SUBADMM_BRANCH; }

/* slots.c: where everything stands.  0 without memory. */
int subadmm_lay_out(subadmm *s, int articulated);
/* On from other impulses, all contacts kept. */
void subadmm_take(subadmm *s, const double *impulse);

/* law.c, of all constraints: lambda from x, and what f = lambda' + (lambda' - lambda) pushes. */
void subadmm_project(subadmm *s);
/* What lambda pushes; the others' part of E. */
void subadmm_emit(subadmm *s);
void subadmm_add_natural(const subadmm *s, natural_sum *sum);

/* trees.c.  0 without memory, -1 if a matrix is not positive definite.  `again`: C has changed. */
int subadmm_make_trees(subadmm *s);
int subadmm_factor(subadmm *s, int again);
/* Velocities of bodies that follow from x; x <- x + K^-1 (push - A x). */
void subadmm_spread(subadmm *s);
int subadmm_move(subadmm *s);
/* A^-1 push. */
void subadmm_follow(subadmm *s);
/* v - v* of a tree. */
void subadmm_read(const subadmm *s, const subadmm_tree *t, const double *x, double *rows, double *v);

/* scale.c: e->scale */
void subadmm_set_scale(const subadmm *s, anderson *e);

/* work.c */
void subadmm_count_work(subadmm *s);

/* parallel.c: a kernel for all batches, by all threads. */
void subadmm_share(subadmm *s, int batches, void (*kernel)(admm_lanes *l, int first, int end));

/* measure.c: what is needed once; E of v* + A^-1 J' lambda; residuals, as energies, after that; who is left out
 * (open for so many looks) or taken in again: whether anybody is; the answer. */
int subadmm_weigh(subadmm *s);
void subadmm_measure(subadmm *s);
void subadmm_residuals(subadmm *s);
int subadmm_cull(subadmm *s, int looks);
void subadmm_hand_out(subadmm *s);

#endif
