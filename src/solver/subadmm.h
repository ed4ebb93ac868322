/* SubADMM: what its files share.  The method stands in subadmm.c. */
#ifndef SOLVER_SUBADMM_H
#define SOLVER_SUBADMM_H

#include "base/arena.h"
#include "solver/hessian.h"
#include "solver/solver.h"

/* Into what a constraint is split. */
typedef enum subadmm_split { SUBADMM_BODIES, SUBADMM_TREES, SUBADMM_NONE } subadmm_split;

/* How a tree's matrix is factored. */
typedef enum subadmm_form {
    SUBADMM_DENSE,  /* all nv x nv numbers */
    SUBADMM_BRANCH, /* L' D L along the branches (subadmm_branch.c) */
    SUBADMM_BODIED, /* articulated bodies (subadmm_articulated.c) */
} subadmm_form;

/* One side of a constraint: `rows` x n numbers of J, `stride` apart, that act on numbers of the state from `at` on. */
typedef struct subadmm_side {
    int at, n, stride;
    const double *J;
} subadmm_side;

typedef struct subadmm_tree {
    subadmm_form form;
    int index, v0, nv;    /* of the problem */
    int body0, body1;     /* its bodies, of trees that are split over them */
    int chains;           /* bit k: constraints act on the chain k */
    ptrdiff_t numbers;    /* of each matrix along the branches */
    double *A, *C;        /* C: sum of weight J'J over the slots */
    double *K, *inverse;  /* factor of A + kappa C */
} subadmm_tree;

typedef struct subadmm_bodies {
    const sim_problem_bodies *is;
    int *parent, *depth; /* [nv] of a dof: the one before it on the path from the root; dofs on the path with itself */
    int *run;            /* [nv] dofs one after the other, each the one before the next, up to this one */
    ptrdiff_t *row;      /* [nv] where the row of a dof starts in the numbers of its tree */
    double *added[SIM_CHAINS];          /* [36 nbody] sum of weight J_b'J_b on a body */
    struct subadmm_articulated *hinged; /* [nbody] */
    double *U, *Dinv;                   /* [6 nv], [nv] */
} subadmm_bodies;

typedef struct subadmm {
    solver_call *call;
    const sim_problem *problem;
    subadmm_split split;
    double kappa;            /* penalty of a slot over its weight */
    subadmm_side (*side)[2]; /* [nconstraint] */
    double (*weight)[2];     /* likewise, of their slots */
    char *openly, *again; char *kept;              /* [nconstraint] 0: found open, left out until it is not */
    int ntree, *node;        /* trees that are touched; [problem's] their index there, -1 */
    subadmm_tree *tree;
    subadmm_bodies bodies;
    int state;                 /* numbers in x: velocities, then those of bodies by chain */
    double *x, *lambda;        /* [state], [nrow] v - v* and multipliers, one array */
    double *push;              /* [state] J'f, as x */
    double *target;            /* [nrow] with J v* + w taken off */
    double *slack;             /* [nrow] sum of 1 / weight over the slots */
    double *inverse_mass;      /* [nconstraint] w */
    double *rho;               /* [nconstraint] rows / trace(W_ii + R_i) */
    double *q, *s, *v, *u, *dx;         /* of the measure */
    hessian *whole;
    convex_bend *bend;
    double change, energy;             /* |J x - z| of the last iteration */
    double E, best;
} subadmm;

/* subadmm_slots.c: sides and slacks. */
void subadmm_split_up(subadmm *s);

/* subadmm_law.c: lambda from J x; what the new ones push. */
void subadmm_project(subadmm *s);

/* subadmm_trees.c.  0 without memory, -1 if a matrix is not positive definite. */
int subadmm_make_trees(subadmm *s);
/* `again`: what slots add has changed, not kappa alone. */
int subadmm_factor(subadmm *s, int again);
/* Velocities of bodies that follow from x; x <- x + K^-1 (push - A x). */
void subadmm_spread(subadmm *s);
int subadmm_move(subadmm *s);

/* subadmm_measure.c: E of what v* + A^-1 J' gamma makes of the multipliers. */
int subadmm_weigh(subadmm *s);
void subadmm_measure(subadmm *s, const double *gamma);

#endif
