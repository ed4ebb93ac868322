/* Sweeps in a row tell where they lead. */
#ifndef SOLVER_PGS_EXTRAPOLATE_H
#define SOLVER_PGS_EXTRAPOLATE_H

#include "solver/pgs.h"

enum { PGS_WINDOW = 20 }; /* at most */

typedef struct pgs_extrapolation {
    int window, lanes;
    double growth;        /* of |f|^2, for which a guess is still taken */
    int known;            /* f and g are those of a sweep */
    int columns, next;    /* differences kept; where the next goes */
    int guessed;          /* the last sweep started from a guess */
    int pause, left;      /* sweeps without guesses after a bad one; still to go */
    double *scale;        /* [lanes] 1 / sqrt(rho) */
    double *from, *f, *g; /* where the sweep started; its last change, scaled; its last result */
    double *change;       /* scaled, of the sweep in question */
    double size;          /* |f|^2 */
    double *dF, *dG;      /* [window][lanes] */
    double gram[PGS_WINDOW][PGS_WINDOW], moment[PGS_WINDOW]; /* dF' dF and dF' f */
} pgs_extrapolation;

/* 0 without memory. */
int pgs_extrapolation_make(pgs_extrapolation *e, const pgs *s, int window, sim_arena *scratch);
/* Forget what was seen. */
void pgs_extrapolation_restart(pgs_extrapolation *e);
/* Before a sweep; after it: judges the guess it started from, and makes another.  gamma and v may change. */
void pgs_extrapolation_begin(pgs_extrapolation *e, const pgs *s);
void pgs_extrapolation_end(pgs_extrapolation *e, pgs *s);

#endif
