/* The complementarity problem of pyramids as equations, r(x) = 0; what they are, mlcp.c says. */
#ifndef SOLVER_MLCP_H
#define SOLVER_MLCP_H

#include "solver/polyhedral.h"

typedef struct mlcp {
    const polyhedral *p;
    double *y, *kinks, *warm; /* [n] of work each */
    int guessed;              /* does it start from a guess? */
} mlcp;

void mlcp_residual(const mlcp *m, const double *x, double *r);
/* n x n, row-major; where r has a kink, of one way out of it. */
void mlcp_jacobian(const mlcp *m, const double *x, double *J);

#endif
