/* Rows with their whole derivative (newton.c) and proximal outer iterations (rounds.c). */
#ifndef SOLVER_NONSMOOTH_NEWTON_NEWTON_H
#define SOLVER_NONSMOOTH_NEWTON_NEWTON_H

#include "solver/nonsmooth_newton/nsn.h"

typedef struct nsn_newton {
    nsn *m;
    double alpha, *centre; /* of the outer iteration; [n] */
    double *F, *slope;     /* at gamma: [n]; a block for each constraint, at SIM_MAX_ROWS times its first row */
    double *step, *push, *rhs;
    double *H, *work; /* of the active rows, part by part */
    int *in, *swap;   /* [n] index of a row in its part; -1: eliminated */
    int *part;        /* [nconstraint] first constraint of its coupled part */
    int *size;        /* [nconstraint] rows of a part, at its first constraint; below: its start */
    int *first;       /* of rhs */
    ptrdiff_t *at;    /* of H */
} nsn_newton;

/* False without memory. */
bool nsn_newton_make(nsn_newton *newton, nsn *m, sim_arena *scratch);
/* F and P' at the gamma and s of m; |F|. */
double nsn_newton_eval(nsn_newton *newton);
/* gamma <- gamma - (dF)^-1 F; false: singular, gamma unchanged. */
bool nsn_newton_step(nsn_newton *newton);

/* P and P' (3 x 3) of a contact at y. */
void nsn_contact_slope(double mu, const double *y, double *P, double *slope);

/* Proximal outer iterations from the best gamma; false without memory. */
bool nsn_solve_proximal(nsn *m, sim_outcome *end);

#endif
