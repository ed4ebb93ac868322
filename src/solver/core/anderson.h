/* Rounds in a row tell where they lead. */
#ifndef SOLVER_CORE_ANDERSON_H
#define SOLVER_CORE_ANDERSON_H

#include "base/arena.h"
#include "base/threads.h"

enum { EXTRAPOLATION_WINDOW = 20 }; /* at most */

typedef struct extrapolation {
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
    double gram[EXTRAPOLATION_WINDOW][EXTRAPOLATION_WINDOW], moment[EXTRAPOLATION_WINDOW]; /* dF' dF and dF' f */
} extrapolation;

/* What became of x. */
typedef enum extrapolation_result { EXTRAPOLATION_NONE, EXTRAPOLATION_GUESS, EXTRAPOLATION_BACK } extrapolation_result;

/* For n numbers; `scale` is to be filled in.  A window of 0 does nothing.  0 without memory. */
int extrapolation_make(extrapolation *e, int n, int window, sim_arena *scratch);
/* Forget what was seen. */
void extrapolation_restart(extrapolation *e);
/* Before a round; after it: judges the guess it started from, and makes another in x. */
void extrapolation_begin(extrapolation *e, double *x);
extrapolation_result extrapolation_end(extrapolation *e, double *x);

#endif
