/* r(x) = 0 of residual_map.h by softer problems, one after the other. */
#ifndef SOLVER_IMPLICIT_PROXIMAL_H
#define SOLVER_IMPLICIT_PROXIMAL_H

#include "solver/implicit/residual_newton.h"

typedef struct proximal {
    hybrid *h;
    hybrid_step *step;
    solver_call *call; /* iterations, factorisations and the history are kept in its solution */
    double tolerance;  /* E at which it ends */
    int most;          /* iterations of the call at which it ends */
    double *x, E;      /* where it starts; then the best in E */
} proximal;

/* 0 without memory. */
int proximal_solve(proximal *p);

#endif
