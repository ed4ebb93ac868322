/* Implicit complementarity after Todorov: shared state of its files. */
#ifndef SOLVER_IMPLICIT_INCP_H
#define SOLVER_IMPLICIT_INCP_H

#include "solver/implicit/cone_kinks.h"
#include "solver/implicit/residual_newton.h"

enum {
    INCP_TOLERANCE,
    INCP_MAX_ITERATIONS,
    INCP_EDGES,
    INCP_DOGLEG,
    INCP_PROJECTION,
    INCP_RESTART,
    INCP_START,
    INCP_MAX_MEMORY,
    INCP_OPTIONS
};

/* A point of the search line where a contact crosses an edge; contact -1: none. */
typedef struct incp_crossing {
    double alpha;
    int contact;
    edge which;
} incp_crossing;

typedef struct incp {
    solver_call *call;
    residual_map h;
    double *x, *r, *best; /* point, r(x); point of least E */
    residual_newton step;
    double *F, *g;                   /* derivative of gamma on the edges; gradient of l */
    double *basis;                   /* [nconstraint] of active edges, make_edge_basis */
    double *newton, *cauchy, *other; /* Newton point, Cauchy point, trial point */
    double *product, *other_r, *point, *slope;
    edge *edge;  /* [nconstraint] the edge on which a contact lies */
    int *active; /* [nconstraint] 1: the edge is active, x stays on it */
    incp_crossing *crossing;
    double l, E, lambda; /* lambda: over the mean diagonal of J' J */
} incp;

/* Allocates; false without memory. */
bool incp_make(incp *m, solver_call *call, dual *d);
/* x <- y with the present edges; returns l.  Keeps the point of least E. */
double incp_move_to(incp *m, const double *y);
/* F, J and g at x; active edges. */
void incp_linearise(incp *m);
/* The edge on which a contact stands after a step. */
edge incp_kept_edge(const incp *m, int i);
/* E is above the tolerance, and iterations and time are left. */
bool incp_continues(const incp *m);
/* Descent from x to a minimum.  `max_stalled`: iterations that do not halve l; 0: no limit. */
sim_outcome incp_descend(incp *m, int max_stalled);
/* Descent, then restarts as far as the options allow; false without memory. */
bool incp_descend_and_restart(incp *m, sim_outcome *end);

/* other <- point of least l on the dogleg x - cauchy - newton: pieces between crossings, ends included; sets the edges.
 * False: no point improves on x. */
bool incp_search_dogleg(incp *m, int edges);

#endif
