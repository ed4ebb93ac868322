/* Todorov's implicit complementarity: what its parts share. */
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
    INCP_MOST_MEMORY,
    INCP_OPTIONS
};

/* A place on the way where a contact crosses an edge; contact -1: none does. */
typedef struct incp_crossing {
    double alpha;
    int contact;
    edge which;
} incp_crossing;

typedef struct incp {
    solver_call *call;
    hybrid h;
    double *x, *r, *best; /* where it stands, r(x); the least E */
    hybrid_step step;
    double *F, *g;                   /* with the edges' say */
    double *basis;                   /* [nconstraint] of those that are active, edge_basis */
    double *newton, *cauchy, *other; /* places to go to */
    double *product, *other_r, *point, *slope;
    edge *edge;  /* [nconstraint] the edge that a contact stands on */
    int *active; /* [nconstraint] and that it is not to leave */
    incp_crossing *crossing;
    double l, E, lambda; /* lambda is over the mean of J' J's diagonal */
} incp;

/* Memory for a call; 0 without. */
int incp_make(incp *m, solver_call *call, dual *d);
/* Stand at y, with edges as they are; l there.  The best in E of all places is kept. */
double incp_stand(incp *m, const double *y);
/* F, J, g at x, and which edges are active. */
void incp_derive(incp *m);
/* The edge on which a contact stands after a step. */
edge incp_keeps(const incp *m, int i);
/* Is there no answer yet, and may it go on? */
int incp_goes_on(const incp *m);
/* From x to where nothing is better; `patience`: and no longer than so many iterations without half of l, 0: however long. */
sim_outcome incp_descend(incp *m, int patience);
/* And on from there, as far as options allow it; 0 without memory. */
int incp_descend_and_restart(incp *m, sim_outcome *end);

/* other <- the least l on the way x - cauchy - newton, pieces between crossings and their ends; edges follow it.  0: none
 * is less than that of x. */
int incp_search(incp *m, int edges);

#endif
