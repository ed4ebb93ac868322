/* Forms of the inner problem of CANAL. */
#ifndef SOLVER_NEWTON_CANAL_CANAL_INNER_H
#define SOLVER_NEWTON_CANAL_CANAL_INNER_H

#include "solver/newton/canal/canal_strict.h"

typedef enum inner_way { INNER_CASCADED, INNER_DOGLEG, INNER_SEMISMOOTH, INNER_MIXED, INNER_WAYS } inner_way;

typedef struct canal_inner {
    inner_way way;
    int max_steps; /* Newton steps of all outer iterations */
    primal *newton;
    strict_newton strict;
    double *from; /* [nv] v before the strict form */
    /* set by the caller before every outer iteration */
    bool give_way; /* solve the cascaded form if the strict one is stuck */
    bool trial;    /* a short trial: no second form */
    /* results */
    bool failed;     /* the solution is not within its tolerance */
    bool stuck;      /* no solution: the state is as before, but for the counted steps */
    bool strictly;   /* solved in the strict form: no shift */
    int pause, left; /* outer iterations without the strict form after a failure; those still to come */
} canal_inner;

/* The caller sets `way` before, and `max_steps` before each solve; `newton` has begun.  false without memory. */
bool inner_begin(canal_inner *n, primal *newton, sim_arena *scratch);
/* True if the form may use shifts. */
static inline bool inner_shifts(const canal_inner *n) { return n->way == INNER_CASCADED || n->way == INNER_MIXED; }
/* Solves the inner problem from newton->at.v, within newton's tolerance or `noise`; otherwise it has failed.  A failed
 * strict form takes no steps from the limit of the outer iteration.  `target` is that of newton's law, in the strict
 * form; the cascaded form lowers it in contacts by `shift` [nconstraint].  Fails without memory. */
sim_status inner_solve(canal_inner *n, double *target, const double *shift, double noise);

#endif
