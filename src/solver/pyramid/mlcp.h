/* The complementarity problem of pyramids as equations, r(x) = 0; what they are, mlcp.c says. */
#ifndef SOLVER_PYRAMID_MLCP_H
#define SOLVER_PYRAMID_MLCP_H

#include "solver/pyramid/polyhedral.h"

typedef struct mlcp {
    const polyhedral *p;
    double *y, *kinks;  /* [n] of work each */
    double *da, *db;    /* [n] slopes of the last mlcp_linearise: J = da + db M */
    double soft, *near; /* soft > 0: y + soft (x - near) in place of y */
    double unit;        /* of impulses, in the argument of phi */
    struct mlcp_step *step;
} mlcp;

/* 0 without memory. */
int mlcp_make(mlcp *m, const polyhedral *p, sim_arena *scratch);
void mlcp_residual(const mlcp *m, const double *x, double *r);
/* The greatest of r, over the speed of the free motion. */
double mlcp_off(const mlcp *m, const double *x);
/* The derivative; where r has a kink, of one way out of it. */
void mlcp_linearise(const mlcp *m, const double *x);
/* J dx */
void mlcp_slope(const mlcp *m, const double *dx, double *Jdx);

/* dx of least |J dx + r|^2 + lambda |dx|^2 (mlcp_step.c), as levenberg_step has it. */
struct mlcp_step *mlcp_step_make(const polyhedral *p, sim_arena *scratch);
/* Anew whenever directions have turned. */
void mlcp_step_begin(const mlcp *m);
int mlcp_step_find(const mlcp *m, const double *r, double lambda, double *dx, double *range);

#endif
