/* The rule by which a constraint bounces, for the stage that solves it. */
#ifndef PROBLEM_LAWS_H
#define PROBLEM_LAWS_H

#include <sim/problem.h>

#include <stdbool.h>

/* Does a rigid constraint with its gap in this row close within the step, faster than the threshold [m/s]?  Then it
 * bounces, if it has a restitution. */
bool law_strikes(const sim_problem *problem, double threshold, const sim_constraint *c, int row);

#endif
