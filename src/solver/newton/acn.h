/* ACN: its state, and the linearised law. */
#ifndef SOLVER_NEWTON_ACN_H
#define SOLVER_NEWTON_ACN_H

#include "solver/core/call.h"
#include "solver/core/cone_convex.h"
#include "solver/core/products.h"
#include "solver/core/proximal_point.h"

#include <math.h>

typedef enum acn_piece { PIECE_UNKNOWN, PIECE_OPEN, PIECE_STICK } acn_piece; /* and those that slide */

typedef struct acn {
    solver_call *call;
    const sim_problem *problem;
    struct momentum_jacobian *jacobian;
    proximal_point point;
    double *w, *rho, *n2; /* [nconstraint] inverse mass, and its inverse; n_i^2 of E */
    double *q, *s;        /* [nrow] velocity without impulses; at gamma, without the proximal term */
    double *gamma, *centre, *least, *before, *best; /* [nrow] */
    double *x, *du, *dgamma;                        /* [nrow] */
    double *v, *dv, *best_v;                        /* [nv] */
    cone_hessian *G;                                /* [nconstraint] as of strict_project */
    double *share, *next_share;                     /* [nconstraint] c, of this outer iteration and of the next */
    char *piece;                                    /* [nconstraint] of P, of contacts: acn_piece */
    double *map, *map_one, *part; /* [nconstraint] at work: |F|^2 of E; |F|^2 with the proximal term */
    tree_rows rows;               /* constraints by tree */
    double E, best_E, until;      /* until: call->work at which it pauses */
    bool prepared;                /* for Newton steps */
    double products;              /* multiplications of an evaluation of E */
} acn;

static inline bool acn_is_given(const acn *a, int row) { return isinf(a->call->R[row]); }

/* x and G of all constraints at gamma and s; |F|, weighed as energy. */
double acn_linearise(void *self);

#endif
