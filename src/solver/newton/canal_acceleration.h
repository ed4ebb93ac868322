/* Where CANAL's rounds lead, by Newton's method. */
#ifndef SOLVER_NEWTON_CANAL_ACCELERATION_H
#define SOLVER_NEWTON_CANAL_ACCELERATION_H

#include "base/arena.h"
#include "solver/matrices/hessian.h"

/* A round that was done. */
typedef struct canal_round {
    const double *R;              /* [nrow] of the law */
    const double *e;              /* [nconstraint] added to it; 0: takes no multiplier */
    const double *lambda, *shift; /* [nrow], [nconstraint] it started from */
    const double *gamma, *s;      /* [nrow] what came of it */
    const cone_hessian *G;        /* [nconstraint] G there */
    double E;
} canal_round;

typedef struct canal_newton {
    const sim_problem *problem; /* NULL: none of this is wanted */
    const double *w;            /* [nconstraint] inverse masses, by which errors are measured */
    hessian *hessian;
    const canal_round *round;
    double *basis, *z, *pushed, *du; /* [nrow], of the basis several */
    double *dv;                      /* [nv] */
    double *x, *v;                   /* [nrow + nconstraint], [nv] from where it goes on if the guess is bad */
    double E;                        /* of the round that the guess was made from */
    int guessed, pause, left; /* the next round starts from a guess; rounds without one after a bad one; still to go */
} canal_newton;

/* `w` is read at every guess.  0 without memory. */
int canal_newton_make(canal_newton *k, const sim_problem *problem, const double *w, hessian *h, sim_arena *scratch);
/* After a round that had this E: was the guess that it started from a bad one?  Then x and v are as before it. */
int canal_newton_back(canal_newton *k, double E, double *x, double *v);
/* x = (lambda, p) to which a round would lead back if the law were linear around this round's answer; v goes with it.
 * 1 if they are guesses now; 0 if they are as they were; -1 without memory. */
int canal_newton_guess(canal_newton *k, const canal_round *round, double *x, double *v);

#endif
