/* Complementarity problem of friction pyramids as equations r(x) = 0 (mlcp.c). */
#ifndef SOLVER_PYRAMID_MLCP_H
#define SOLVER_PYRAMID_MLCP_H

#include "solver/pyramid/polyhedral.h"

typedef struct mlcp {
    const polyhedral *p;
    double *y, *kinks;  /* [n] of work each */
    double *da, *db;    /* [n] slopes of the last mlcp_linearise: J = da + db M */
    double soft, *near; /* soft > 0: y + soft (x - near) in place of y */
    double unit;        /* of impulses, in the argument of phi */
    double lam;         /* of phi: 1, Fischer and Burmeister; less, with the product */
    struct mlcp_step *step;
} mlcp;

/* False without memory. */
bool mlcp_make(mlcp *m, const polyhedral *p, double lam, sim_arena *scratch);
void mlcp_residual(const mlcp *m, const double *x, double *r);
/* max |r_i| over the speed of the free motion: error of a proximal outer iteration. */
double mlcp_proximal_error(const mlcp *m, const double *x);
/* Derivative at x; at a kink of r that along one direction away from it. */
void mlcp_linearise(const mlcp *m, const double *x);
/* J dx */
void mlcp_jacobian_times(const mlcp *m, const double *dx, double *Jdx);

/* dx = argmin |J dx + r|^2 + lambda |dx|^2 (mlcp_step.c), as levenberg_step.  NULL without memory. */
struct mlcp_step *mlcp_step_make(const polyhedral *p, sim_arena *scratch);
/* After every change of directions. */
void mlcp_step_prepare(const mlcp *m);
bool mlcp_step_solve(const mlcp *m, const double *r, double lambda, double *dx, double *range);

#endif
