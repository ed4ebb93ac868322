/* Nonlinear relaxation of single bodies between the steps of Newton's method. */
#ifndef SOLVER_NEWTON_RELAXATION_H
#define SOLVER_NEWTON_RELAXATION_H

#include "base/arena.h"

#include <stdbool.h>

struct primal;

/* Constraints by node of the Hessian. */
typedef struct relaxation {
    int *start, *touching; /* [nodes + 2]; [2 nconstraint] 2 constraint + side */
    bool listed;           /* they are filled */
} relaxation;

/* Memory for the problem of p, whose Hessian is prepared; false without. */
bool relaxation_create(relaxation *r, const struct primal *p, sim_arena *scratch);
/* Moves free bodies whose momentum balances badly to the minima of the cost along their own Newton directions.  v, u,
 * gamma, G and gradient of `at` stay consistent, and the cost does not rise; the rest of `at` is the caller's. */
void primal_relax(struct primal *p);

#endif
