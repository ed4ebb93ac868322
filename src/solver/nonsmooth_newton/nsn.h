/* State of the nonsmooth Newton method, at velocity level (nsn.c) and with gaps at the step's end (positions.c). */
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
    NSN_MAX_MEMORY,
    NSN_OPTIONS
};
enum { NSN_MINIMUM_MAP, NSN_FISCHER_BURMEISTER };
enum { NSN_R_ADAPTED, NSN_R_FIXED };
enum { NSN_FRICTION_FIXED_POINT, NSN_FRICTION_NEWTON, NSN_FRICTION_AUTO, NSN_FRICTIONS };

/* State of the friction of a row between iterations. */
typedef struct nsn_friction {
    double softness;   /* its r over the inverse mass */
    double Wf, change; /* of the previous step */
} nsn_friction;

typedef struct nsn {
    solver_call *call;
    const sim_problem *problem;
    schur matrix;
    int n, function, steady; /* n: rows; steady: steps without a change of matrix.out */
    double *gamma, *s, *q, *h, *x, *rhs, *best, *first;
    double *w, *n2;         /* [nconstraint]; n_i^2 of E */
    nsn_friction *friction; /* [n] at the first row of each friction */
    int *was_out;           /* [n] matrix.out of the previous step */
    double softer;          /* greatest softness */
    double loose;           /* factor on tolerance and epsilon of linear systems; divides their iterations */
    double E, best_E;
} nsn;

/* Allocates; false without memory.  Then, with the matrix: start, given forces at their value, all other rows at 0. */
bool nsn_make(nsn *m, solver_call *call);
void nsn_begin(nsn *m);
/* Restart from there. */
void nsn_restart(nsn *m);

/* Linearises the rows at gamma and s: matrix.out, C and h. */
void nsn_linearise_rows(nsn *m);
/* (W + C + epsilon) x = rhs over the rows that are in, by the method of the option; false: singular. */
bool nsn_solve_linear(nsn *m);
/* Length of a Newton step: 0.75, or 1 once matrix.out is constant for two steps. */
double nsn_step_length(nsn *m);
/* s and E of gamma; keeps the gamma of least E. */
void nsn_eval_error(nsn *m);
/* E of s and gamma. */
double nsn_natural_error(const nsn *m);
bool nsn_is_given(const nsn *m, int row);

/* With gaps at the end of the step; false without memory. */
bool nsn_solve_positions(solver_call *call);

#endif
