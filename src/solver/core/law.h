/* R and target of a call in the shape that Newton's method on the primal cost wants. */
#ifndef SOLVER_CORE_LAW_H
#define SOLVER_CORE_LAW_H

#include "solver/core/call.h"
#include "solver/core/patches.h"

/* Of every row, as in convex_law. */
typedef struct law_rows {
    double *R, *inverse_compliance, *constant; /* [nrow] */
} law_rows;

/* 0 without memory. */
int law_make(law_rows *law, int rows, sim_arena *scratch);
/* Compliance R > 0 for row k of a constraint; an infinite one: it gives its force whatever the velocity. */
void law_set_row(law_rows *law, const sim_problem *problem, const sim_constraint *c, int k, double R);

/* Is it a law that this method can take?  No R is negative, and both tangents of a contact have the same. */
int law_check(const solver_call *call);
/* The free motion and no impulse, as the answer to a law that is none. */
void law_refuse(const solver_call *call);
/* `solve` of a method that has `begin` and `resume` and takes only laws that pass law_check. */
sim_status law_solve_in_one_piece(solver_call *call, solver_begin *begin, solver_resume *resume);
/* out->v: the guess for trees that something touches, else v*. */
void law_start(const solver_call *call, const patches *o);

#endif
