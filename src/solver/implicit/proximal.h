/* Proximal point method for r(x) = 0 of residual_map.h. */
#ifndef SOLVER_IMPLICIT_PROXIMAL_H
#define SOLVER_IMPLICIT_PROXIMAL_H

#include "solver/implicit/residual_newton.h"

typedef struct proximal {
    residual_map *h;
    residual_newton *step;
    solver_call *call;  /* iterations, factorisations and the history are kept in its solution */
    double tolerance;   /* E at which the method ends */
    int max_iterations; /* of the call */
    double *x, E;       /* start; then the point of least E */
} proximal;

/* False without memory. */
bool proximal_solve(proximal *p);

#endif
