/* Anderson acceleration of a fixed-point iteration. */
#ifndef SOLVER_CORE_ANDERSON_H
#define SOLVER_CORE_ANDERSON_H

#include "base/arena.h"
#include "base/threads.h"

#include <stdbool.h>

enum { ANDERSON_MAX_WINDOW = 20 }; /* columns */

typedef struct anderson {
    int window, n;
    double max_growth;    /* of |f|^2, up to which an extrapolation is kept */
    bool known;           /* f and g are set */
    int columns, next;    /* of dF and dG; index of the next */
    bool extrapolated;    /* the last iteration started from an extrapolation */
    int pause, left;      /* plain iterations after a rejection; those still to come */
    double *scale;        /* [n] weights, set by the caller */
    double *from, *f, *g; /* x, scaled f and G(x) of the iteration */
    double *change;       /* scaled f of the iteration under test */
    double size;          /* |f|^2 */
    double *dF, *dG;      /* [window][n] */
    double *part;         /* [blocks][window + 1] of sums */
    sim_threads *threads; /* set by the caller, with the same bits; NULL: none */
    double gram[ANDERSON_MAX_WINDOW][ANDERSON_MAX_WINDOW], moment[ANDERSON_MAX_WINDOW]; /* dF' dF and dF' f */
} anderson;

/* The new x: G(x), an extrapolation, or G(x) of the iteration before the rejected one. */
typedef enum anderson_result { ANDERSON_PLAIN, ANDERSON_EXTRAPOLATED, ANDERSON_REJECTED } anderson_result;

/* For n numbers; the caller sets `scale`.  A window of 0 accelerates nothing.  false without memory. */
bool anderson_make(anderson *e, int n, int window, sim_arena *scratch);
/* Drops all columns. */
void anderson_restart(anderson *e);
/* Before an iteration, with x; after it, with G(x): tests the last extrapolation and replaces x by the next. */
void anderson_begin(anderson *e, double *x);
anderson_result anderson_end(anderson *e, double *x);

#endif
