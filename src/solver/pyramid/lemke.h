/* Lemke's algorithm for linear complementarity problems. */
#ifndef SOLVER_PYRAMID_LEMKE_H
#define SOLVER_PYRAMID_LEMKE_H

#include "base/arena.h"

#include <stdbool.h>

typedef enum lemke_end {
    LEMKE_SOLVED,
    LEMKE_RAY,     /* the path ends on a ray: for matrices of contact problems, no solution exists */
    LEMKE_LIMIT,   /* of pivots or, by the caller, of time */
    LEMKE_SINGULAR /* the basis is singular by rounding */
} lemke_end;

typedef struct lemke_problem {
    int n;
    const double *M, *q; /* n x n, row-major, each row `stride` numbers after the last */
    int stride;
    int max_pivots;
    bool (*stop)(void *context);
    void *context;
} lemke_problem;

typedef struct lemke_result {
    double *x; /* [n] */
    lemke_end end;
    int pivots;
    double cover; /* z0 at the end */
} lemke_result;

/* y = M x + q, 0 <= x perp y >= 0; false without memory. */
bool lemke_solve(const lemke_problem *problem, sim_arena *scratch, lemke_result *result);

#endif
