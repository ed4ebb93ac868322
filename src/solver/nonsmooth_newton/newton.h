/* Macklin's rows with their whole derivative (newton.c), and proximal rounds by them (rounds.c). */
#ifndef SOLVER_NONSMOOTH_NEWTON_NEWTON_H
#define SOLVER_NONSMOOTH_NEWTON_NEWTON_H

#include "solver/nonsmooth_newton/nsn.h"

typedef struct nsn_newton {
    nsn *m;
    double alpha, *centre; /* of the round; [n] */
    double *F, *slope;     /* of the last look: [n]; a block a constraint, at SIM_MAX_ROWS times its first row */
    double *step, *push, *rhs;
    double *H, *work; /* of rows that are in, part by part */
    int *in, *swap;   /* [n] where a row stands in its part; -1: nowhere */
    int *part;        /* [nconstraint] the first constraint of those it hangs together with */
    int *size;        /* [nconstraint] rows of a part, at its first constraint, and below: where it starts */
    int *first;       /* of rhs */
    ptrdiff_t *at;    /* of H */
} nsn_newton;

/* 0 without memory. */
int nsn_newton_make(nsn_newton *newton, nsn *m, sim_arena *scratch);
/* F and P' at the gamma and s of m; |F|. */
double nsn_newton_look(nsn_newton *newton);
/* From there gamma <- gamma - (dF)^-1 F; 0: singular, and gamma stays. */
int nsn_newton_step(nsn_newton *newton);

/* P and P' (3 x 3) of a contact at y. */
void nsn_slope_of_contact(double mu, const double *y, double *P, double *slope);

/* Proximal rounds from the best gamma there is; 0 without memory. */
int nsn_rounds(nsn *m, sim_outcome *end);

#endif
