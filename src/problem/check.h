/* Is what somebody hands over a contact problem? */
#ifndef PROBLEM_CHECK_H
#define PROBLEM_CHECK_H

#include <sim/problem.h>

/* All that sim_problem_create refuses, but for blocks that are not positive definite. */
sim_status problem_check(const sim_problem *problem, const double *A, sim_error *error);
/* Where the last block ends. */
ptrdiff_t problem_length_of_J(const sim_problem *problem);
ptrdiff_t problem_length_of_W(const sim_problem *problem);
ptrdiff_t problem_length_on_bodies(const sim_problem *problem, const sim_problem_bodies *bodies);

#endif
