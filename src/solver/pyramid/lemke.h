/* Linear complementarity problems by Lemke's method. */
#ifndef SOLVER_PYRAMID_LEMKE_H
#define SOLVER_PYRAMID_LEMKE_H

#include "base/arena.h"

typedef enum lemke_end {
    LEMKE_SOLVED,
    LEMKE_RAY,     /* the path goes off to infinity: of the matrices that come from contacts, there is no answer */
    LEMKE_LIMIT,   /* of pivots, or whoever waits has had enough */
    LEMKE_SINGULAR /* rounding has made the basis singular */
} lemke_end;

typedef struct lemke_problem {
    int n;
    const double *M, *q; /* n x n, row-major, each row `stride` numbers after the last */
    int stride;
    int most; /* pivots */
    int (*stop)(void *context);
    void *context;
} lemke_problem;

typedef struct lemke_answer {
    double *x; /* [n] */
    lemke_end end;
    int pivots;
    double cover; /* z0 that is left */
} lemke_answer;

/* y = M x + q, 0 <= x perp y >= 0; 0 without memory. */
int lemke_solve(const lemke_problem *problem, sim_arena *scratch, lemke_answer *answer);

#endif
