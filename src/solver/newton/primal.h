/* Newton's method on the primal cost of a convex contact problem: SAP, and the inner problems of CANAL. */
#ifndef SOLVER_NEWTON_PRIMAL_H
#define SOLVER_NEWTON_PRIMAL_H

#include "base/arena.h"
#include "solver/matrices/hessian.h"
#include <sim/solver.h>

typedef struct primal_options {
    double tolerance; /* on the residual */
    int max_iterations;
    int armijo;
    spd_method method;
    double most_work; /* multiplications of all factors of a solve; HUGE_VAL: any number */
    int carries;      /* u is carried on to the end, and there is ... */
    double in_law;    /* ... a tolerance on what is out of balance beside the impulses alone */
} primal_options;

/* What stands at a velocity v. */
typedef struct primal_state {
    double *v;         /* [nv] */
    double *u, *gamma; /* [nrow] */
    cone_hessian *G;   /* [nconstraint] */
    double *gradient;  /* [nv] A (v - v*) - J' gamma */
    double potential;  /* of the constraints */
    double cost;       /* l(v) */
    double residual;   /* |D gradient| / max(|D A v|, |D J' gamma|), D = diag(A)^-1/2 */
    double in_law;     /* |D gradient| / |D J' gamma| */
} primal_state;

/* As convex_project. */
typedef double primal_law(const convex_law *law, int i, const double *u, double *gamma, cone_hessian *G);

typedef struct primal {
    const sim_problem *problem;
    convex_law law;
    primal_law *project; /* the convex law */
    hessian *hessian;    /* prepared for the problem */
    primal_options options;
    primal_state at;
    sim_solution *out; /* counts and history */
    /* the step from there */
    double *scale;           /* [nv] diag(A)^-1/2 */
    double *momentum;        /* [nv] A v* */
    double *change;          /* [nv] A (v - v*) */
    double *pushed;          /* [nv] J' gamma */
    double *dv, *dp;         /* [nv] A dv */
    double *du;              /* [nrow] J dv */
    double *u_to, *gamma_to; /* [nrow] along the line */
    cone_hessian *G_to;
    double potential_to, alpha_to;
    double slope0, curvature0; /* l'(0), dv . A dv */
    int fresh;                 /* u = J v + w was just computed, or carried on and is found to be that */
    int careful;               /* always fresh from now on */
} primal;

/* Arrays in `scratch`, but for v and gamma, which are the caller's.  0 without memory. */
int primal_begin(primal *p, const convex_law *law, hessian *h, const primal_options *options, sim_solution *out,
                 sim_arena *scratch);
/* All that follows from v. */
void primal_eval_at(primal *p);
/* Is what there is within the tolerances? */
int primal_done(const primal *p);
/* dv = -H^-1 gradient, and l along it.  1; 0 if H is not positive definite in double precision, -1 without memory. */
int primal_direction(primal *p);
/* l'(v + alpha dv), and l'' if `second` is not NULL; l(v + alpha dv) - l(v) */
double primal_slope(primal *p, double alpha, double *second);
double primal_rise(primal *p, double alpha);
/* From at.v to the minimum of l; 0 without memory.  outcome, residual and counts stand in `out`. */
int primal_minimise(primal *p);

#endif
