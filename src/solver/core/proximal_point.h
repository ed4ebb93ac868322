/* Proximal point iteration around Newton's method, for laws whose Newton steps cycle.
 *
 * Where contacts share a load, whole Newton steps on F(gamma) = 0 cycle between sets of sticking contacts.  Line
 * searches on |F| end in minima that are no solutions.  An outer iteration solves the problem with
 *
 *     s + alpha w (gamma - centre)    in place of s,
 *
 * centre [N s] the gamma at its start, w [1/kg] the inverse mass of a constraint by itself.  For large alpha one or two
 * steps solve it; the error of gamma falls by about alpha w over the inverse masses.  alpha falls after a solved outer
 * iteration, the more the fewer its steps.  It grows after one that is not solved in six steps, or has |F| above three
 * times its start after three.  An alpha that failed is a floor, which sinks by 0.4 with each success, by 0.05 from the
 * second success of a single step on.  It ends when |F| is a third of its start; after a failure the next one starts at
 * the least |F|, if below nine tenths.  Where a floor holds alpha, it starts beyond the end of the last one, by
 * Nesterov's part of its change (a plain run leaves that out: it solves most problems on which the other stalls):
 *
 *     gamma + (t - 1) / t' (gamma - gamma before),     t' = (1 + sqrt(1 + 4 t^2)) / 2,    t = 1 after a failure
 *
 * The exact rule, after solver/implicit/proximal.h, ends when |F| is a tenth of alpha / (1 + alpha) |gamma - centre|,
 * its error as a solution of the law; an outer iteration that fails keeps its centre.  alpha is 0.01 at first, falls by
 * 0.1 or 0.3 after up to four or eight steps, and grows tenfold after a failure: 1.7 times the steps of the quick rule.
 *
 * References: Acary, Bremond, Huber 2018 (PPA); Guler 1992, New proximal point algorithms for convex minimization.
 * Differs from them: the rule of alpha, whole steps, and extrapolation for a law that is not convex. */
#ifndef SOLVER_CORE_PROXIMAL_POINT_H
#define SOLVER_CORE_PROXIMAL_POINT_H

#include "solver/core/stall.h"
#include <sim/solver.h>

#include <stdbool.h>

/* The method inside: all callbacks get `self`. */
typedef struct proximal_point {
    void *self;
    void (*begin)(void *self);      /* an outer iteration begins; NULL: no matter */
    double (*eval_map)(void *self); /* |F| at gamma and s, with the present alpha and centre */
    bool (*take_step)(void *self);  /* gamma <- gamma - (dF)^-1 F; false: singular, gamma unchanged */
    void (*eval_error)(void *self); /* s and E of gamma */
    void (*record)(void *self);     /* adds a Newton step to the history */
    bool (*has_ended)(void *self);  /* solved, or at a limit */
    bool (*is_paused)(void *self);  /* asked between outer iterations; NULL: never */
    double (*distance)(void *self); /* |gamma - centre| in the norm of |F|; for the exact rule */
    bool exact, plain;              /* chosen before each start; plain: without extrapolation */
    int rows;
    double *gamma, *centre, *least; /* [rows] iterate; of this outer iteration: its start, and that of the least |F| */
    double *before;                 /* [rows] end of the outer iteration before, without extrapolation */
    const double *best_E;
    sim_solution *out; /* counts iterations and failures */
    double alpha;      /* of the present outer iteration */
    double floor;      /* least alpha after a success ... */
    int single;        /* successes of one step since the last failure */
    bool held;         /* ... which the present one would be below */
    double momentum;   /* t */
    stall_watch stall; /* of the best E, in outer iterations */
    int max_stalled;   /* outer iterations in which the best E must halve */
} proximal_point;

/* The number of outer iterations in which the best E of a solver by itself must halve. */
enum { PROXIMAL_MAX_STALLED = 150 };

/* Starts at gamma with this alpha. */
void proximal_point_start(proximal_point *p, double alpha);
/* Outer iterations from gamma.  SIM_STALLED: the best E has not halved for long; else SIM_AT_LIMIT: it has ended, or is
 * paused and another call resumes it. */
sim_outcome proximal_point_iterate(proximal_point *p);

#endif
