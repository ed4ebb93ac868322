/* H = A + J' G J with an unsymmetric G, and its factor: dense, scaled. */
#ifndef SOLVER_NEWTON_CANAL_CANAL_JACOBIAN_H
#define SOLVER_NEWTON_CANAL_CANAL_JACOBIAN_H

#include "solver/matrices/hessian.h"

#include <stdbool.h>

/* Vectors -weight J' l and J' r of one node of a patch, padded. */
typedef struct jacobian_side {
    int n, stride;
    double *left, *right;
} jacobian_side;

/* Unknowns x = D^-1 v and equations D r of the trees with constraints, one tree after the other. */
typedef struct jacobian {
    const sim_problem *problem;
    const hessian *mass; /* prepared: A and the patches */
    int n, stride;       /* rows of `stride` numbers */
    int *at;             /* [n] velocity of an unknown */
    double *D;           /* [n] */
    double *H, *LU;      /* D H D and its factor */
    int *swap;           /* [n] */
    double *work;
    jacobian_side side[2];
    int rows; /* in them */
} jacobian;

/* `D` [nv] scales velocities.  In `scratch`; false without memory. */
bool jacobian_make(jacobian *j, const sim_problem *problem, const hessian *mass, const double *D, sim_arena *scratch);
/* Sets H for G [nconstraint] of strict_project. */
void jacobian_set(jacobian *j, const cone_hessian *G);
/* false if singular. */
bool jacobian_factor(jacobian *j);
/* x <- H^-1 x, y = H x, y = H' x */
void jacobian_solve(const jacobian *j, double *x);
void jacobian_times(const jacobian *j, const double *x, double *y);
void jacobian_transposed(const jacobian *j, const double *x, double *y);
/* x = D r; v + D x */
void jacobian_pack(const jacobian *j, const double *r, double *x);
void jacobian_move(const jacobian *j, const double *v, double alpha, const double *x, double *to);

#endif
