/* Contact law of a call in the form of Newton's method on the primal cost. */
#ifndef SOLVER_CORE_LAW_H
#define SOLVER_CORE_LAW_H

#include "solver/core/call.h"
#include "solver/core/patches.h"

#include <stdbool.h>

/* Of every row, as in convex_law. */
typedef struct law_rows {
    double *R, *inverse_compliance, *constant; /* [nrow] */
} law_rows;

/* false without memory. */
bool law_make(law_rows *law, int rows, sim_arena *scratch);
/* Sets R > 0 of row k of a constraint; infinite: the row has a given force. */
void law_set_row(law_rows *law, const sim_problem *problem, const sim_constraint *c, int k, double R);

/* True for a law that the primal methods can express: no R < 0, equal R in both rows of a disc of a contact. */
bool law_is_supported(const solver_call *call);
/* Writes zero impulses and v* with the outcome "unfit law". */
void law_reject(const solver_call *call);
/* `solve` of a method that has `begin` and `resume` and takes only laws with law_is_supported. */
sim_status law_solve_in_one_piece(solver_call *call, solver_begin *begin, solver_resume *resume);
/* out->v: the warm start for trees with constraints, v* for the others. */
void law_set_initial_velocity(const solver_call *call, const patches *o);

/* Is a contact rigid, by the R of the call?  Its rows along the surface decide: a stiff material gives way along the
 * normal alone. */
bool law_has_rigid_contact(const solver_call *call);

#endif
