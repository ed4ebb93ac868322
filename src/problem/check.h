/* Checks of a contact problem that a caller hands over. */
#ifndef PROBLEM_CHECK_H
#define PROBLEM_CHECK_H

#include <sim/problem.h>

/* Refuses all that sim_problem_create refuses, but for blocks that are not positive definite. */
sim_status problem_check(const sim_problem *problem, const double *A, sim_error *error);
/* The end of the last block. */
ptrdiff_t problem_length_of_J(const sim_problem *problem);
ptrdiff_t problem_length_of_W(const sim_problem *problem);
ptrdiff_t problem_length_on_bodies(const sim_problem *problem, const sim_problem_bodies *bodies);

#endif
