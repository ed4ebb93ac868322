/* Newton's method on the primal cost of a convex contact problem: SAP, and the inner problems of CANAL. */
#ifndef SOLVER_NEWTON_PRIMAL_H
#define SOLVER_NEWTON_PRIMAL_H

#include "base/arena.h"
#include "solver/matrices/hessian.h"
#include "solver/newton/relaxation.h"
#include <sim/solver.h>

typedef struct primal_options {
    double tolerance; /* on the residual */
    int max_iterations;
    bool armijo; /* line search: Armijo's, else exact */
    spd_method method;
    double max_work; /* multiplications of all factors of a solve; HUGE_VAL: no limit */
    bool carries;    /* u is updated through all steps, and ... */
    double in_law;   /* ... the residual relative to the impulses alone has this tolerance */
    bool relaxes;    /* single bodies are relaxed before steps */
} primal_options;

/* Values at a velocity v. */
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
    /* the step from `at` */
    double *scale;           /* [nv] diag(A)^-1/2 */
    double *momentum;        /* [nv] A v* */
    double *change;          /* [nv] A (v - v*) */
    double *pushed;          /* [nv] J' gamma */
    double *dv, *dp;         /* [nv] A dv */
    double *du;              /* [nrow] J dv */
    double *u_to, *gamma_to; /* [nrow] at v + alpha_to dv */
    cone_hessian *G_to;
    double potential_to, alpha_to;
    double slope0, curvature0; /* l'(0), dv . A dv */
    relaxation relaxation;     /* of single bodies */
    bool relaxes;              /* before the next step */
    bool fresh;                /* u = J v + w was recomputed from v */
    bool careful;              /* recompute u in every step */
} primal;

/* Allocates all arrays but at.v and at.gamma, which are the caller's.  false without memory. */
bool primal_begin(primal *p, const convex_law *law, hessian *h, const primal_options *options, sim_solution *out,
                  sim_arena *scratch);
/* Values at at.v: u, gamma, G, gradient, cost, residuals. */
void primal_eval_at(primal *p);
/* True if the residuals are within the tolerances. */
bool primal_done(const primal *p);
/* dv = -H^-1 gradient, and l', l'' along it.  HESSIAN_INDEFINITE: H is not positive definite in double precision. */
hessian_result primal_direction(primal *p);
/* l'(v + alpha dv), and l'' if `second` is not NULL; l(v + alpha dv) - l(v) */
double primal_slope(primal *p, double alpha, double *second);
double primal_rise(primal *p, double alpha);
/* From at.v to the minimum of l; fails without memory.  Sets outcome, residual and counts of `out`. */
sim_status primal_minimise(primal *p);

#endif
