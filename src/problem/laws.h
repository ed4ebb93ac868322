/* What laws decide, for those who must know it too. */
#ifndef PROBLEM_LAWS_H
#define PROBLEM_LAWS_H

#include <sim/problem.h>

/* Does what has its gap in this row of a rigid constraint arrive within the step, faster than the threshold?  Then it
 * bounces, if it has a restitution. */
int law_strikes(const sim_problem *problem, double threshold, const sim_constraint *c, int row);

#endif
