/* Products with J, J', A and A^-1 of a problem. */
#ifndef SOLVER_CORE_PRODUCTS_H
#define SOLVER_CORE_PRODUCTS_H

#include <sim/problem.h>

/* u = J v, and u = J v + w. */
void problem_jacobian_times(const sim_problem *problem, const double *v, double *u);
void problem_velocity(const sim_problem *problem, const double *v, double *u);
/* |J| |v| + |w|: the rounding of J v + w is epsilon times this. */
void problem_velocity_size(const sim_problem *problem, const double *v, double *size);
/* j = J' gamma */
void problem_jacobian_transposed(const sim_problem *problem, const double *gamma, double *j);
/* v = v* + A^-1 J' gamma */
void problem_response(const sim_problem *problem, const double *gamma, double *v);
/* y = A x; x <- A^-1 x */
void problem_mass_times(const sim_problem *problem, const double *x, double *y);
void problem_mass_solve(const sim_problem *problem, double *x);

#endif
