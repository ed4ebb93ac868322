/* How the problem of a round of CANAL is put, and who solves it. */
#ifndef SOLVER_NEWTON_CANAL_INNER_H
#define SOLVER_NEWTON_CANAL_INNER_H

#include "solver/newton/canal_strict.h"

typedef enum inner_way { INNER_CASCADED, INNER_DOGLEG, INNER_SEMISMOOTH, INNER_MIXED, INNER_WAYS } inner_way;

typedef struct canal_inner {
    inner_way way;
    int most; /* steps, of all rounds */
    primal *newton;
    strict_newton strict;
    double *from;    /* [nv] v before a strict try */
    int failed;      /* the last answer is not within its tolerance */
    int give_way;    /* the caller's, before every round: what is stuck is to be cascaded */
    int trial;       /* likewise: few steps are to tell whether this leads anywhere, and no more are taken */
    int stuck;       /* it was stuck and is not answered: all is as before the round, but for the steps it took */
    int strictly;    /* the last answer is one of the strict problem: no shift had a say */
    int pause, left; /* rounds without tries after one that failed; still to go */
} canal_inner;

/* Way and most are the caller's to set, `newton` has begun; 0 without memory. */
int inner_begin(canal_inner *n, primal *newton, sim_arena *scratch);
/* Does a shift ever have a say? */
static inline int inner_shifts(const canal_inner *n) { return n->way == INNER_CASCADED || n->way == INNER_MIXED; }
/* From newton->at.v to the answer, within newton's tolerance or `noise`, else it has failed; a try that failed takes no
 * steps from the round's.  `target` is that of
 * newton's law, as the strict law has it; of contacts it is lowered by `shift` [nconstraint] where rounds are cascaded.
 * 0 without memory. */
int inner_answer(canal_inner *n, double *target, const double *shift, double noise);

#endif
