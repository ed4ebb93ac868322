/* State of Macklin's method, at velocity level (nsn.c) and with gaps at the end of the step (positions.c). */
#ifndef SOLVER_NONSMOOTH_NEWTON_NSN_H
#define SOLVER_NONSMOOTH_NEWTON_NSN_H

#include "solver/core/anderson.h"
#include "solver/core/call.h"
#include "solver/core/natural_map.h"
#include "solver/nonsmooth_newton/delassus_krylov.h"

enum {
    NSN_TOLERANCE,
    NSN_MAX_ITERATIONS,
    NSN_FUNCTION,
    NSN_LINEAR,
    NSN_LINEAR_ITERATIONS,
    NSN_LINEAR_TOLERANCE,
    NSN_PRECONDITIONED,
    NSN_R,
    NSN_EPSILON,
    NSN_POSITIONS,
    NSN_STIFFNESS,
    NSN_FRICTION,
    NSN_MOST_MEMORY,
    NSN_OPTIONS
};
enum { NSN_MINIMUM_MAP, NSN_FISCHER_BURMEISTER };
enum { NSN_R_ADAPTED, NSN_R_FIXED };
enum { NSN_FRICTION_FIXED_POINT, NSN_FRICTION_NEWTON, NSN_FRICTION_AUTO, NSN_FRICTIONS };

/* What is remembered of friction on the way. */
typedef struct nsn_friction {
    double softness;   /* its r over the inverse mass */
    double Wf, change; /* of the step before */
} nsn_friction;

typedef struct nsn {
    solver_call *call;
    const sim_problem *problem;
    schur matrix;
    int n, function, steady; /* steps without a change of rows */
    double *gamma, *s, *q, *h, *x, *rhs, *best, *first;
    double *w;              /* [nconstraint] */
    nsn_friction *friction; /* [n] at the first row of each friction */
    int *was_out;
    double softer; /* greatest softness */
    double
        loose; /* of linear systems, what their tolerance and epsilon are multiplied by, and their iterations divided */
    double E, best_E;
} nsn;

/* Vectors; 0 without memory.  Then, when the matrix stands, where it starts: rows that give their force whatever s is have
 * it from the start, all others begin at 0. */
int nsn_make(nsn *m, solver_call *call);
void nsn_begin(nsn *m);
/* Once more from there. */
void nsn_start(nsn *m);

/* The rows at gamma and s: what leaves, C and h. */
void nsn_rows(nsn *m);
/* x of (W + C + epsilon) x = rhs, by the method asked for; which is made of rows that are in.  0: the matrix is singular. */
int nsn_linear(nsn *m);
/* Of a Newton step: 0.75, or 1 once no row has come or gone in two steps. */
double nsn_part(nsn *m);
/* s and E of gamma; the best is kept. */
void nsn_measure(nsn *m);
/* E of s and gamma. */
double nsn_error(const nsn *m);
int nsn_given(const nsn *m, int row);

/* With the gaps of the problem's positions; 0 without memory. */
int nsn_with_positions(solver_call *call);

#endif
