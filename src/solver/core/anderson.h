/* Rounds in a row tell where they lead. */
#ifndef SOLVER_CORE_ANDERSON_H
#define SOLVER_CORE_ANDERSON_H

#include "base/arena.h"
#include "base/threads.h"

enum { ANDERSON_MAX_WINDOW = 20 }; /* at most */

typedef struct anderson {
    int window, n;
    double growth;        /* of |f|^2, for which a guess is still taken */
    int known;            /* f and g are those of a round */
    int columns, next;    /* differences kept; where the next goes */
    int guessed;          /* the last round started from a guess */
    int pause, left;      /* rounds without guesses after a bad one; still to go */
    double *scale;        /* [n] the caller's: by which numbers are measured */
    double *from, *f, *g; /* where the round started; its last change, scaled; its last result */
    double *change;       /* scaled, of the round in question */
    double size;          /* |f|^2 */
    double *dF, *dG;      /* [window][n] */
    double *part;         /* [blocks][window + 1] of sums */
    sim_threads *threads; /* the caller's, if it wishes: the same bits; NULL: none */
    double gram[ANDERSON_MAX_WINDOW][ANDERSON_MAX_WINDOW], moment[ANDERSON_MAX_WINDOW]; /* dF' dF and dF' f */
} anderson;

/* What became of x. */
typedef enum anderson_result { ANDERSON_PLAIN, ANDERSON_EXTRAPOLATED, ANDERSON_REJECTED } anderson_result;

/* For n numbers; `scale` is to be filled in.  A window of 0 does nothing.  0 without memory. */
int anderson_make(anderson *e, int n, int window, sim_arena *scratch);
/* Forget what was seen. */
void anderson_restart(anderson *e);
/* Before a round; after it: judges the guess it started from, and makes another in x. */
void anderson_begin(anderson *e, double *x);
anderson_result anderson_end(anderson *e, double *x);

#endif
