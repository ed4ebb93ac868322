/* Rules of the contact law that the stage which solves it needs, too. */
#ifndef PROBLEM_LAWS_H
#define PROBLEM_LAWS_H

#include <sim/problem.h>

#include <stdbool.h>

/* Does a rigid constraint with its gap in this row close within the step, faster than the threshold [m/s]?  Then it
 * bounces, if it has a restitution. */
bool law_strikes(const sim_problem *problem, double threshold, const sim_constraint *c, int row);

/* max(|J_A (v* - v0)|, |J_B (v* - v0)|) over all rows: the velocity that forces alone give either side in the step, m/s
 * or rad/s. It is g dt under gravity, also at a wall and between bodies that fall together. */
double law_free_change(const sim_problem *problem, const sim_constraint *c);

#endif
