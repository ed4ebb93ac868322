/* Products with J, J', A and A^-1 of a problem. */
#ifndef SOLVER_CORE_PRODUCTS_H
#define SOLVER_CORE_PRODUCTS_H

#include "base/arena.h"
#include <sim/problem.h>

#include <stdbool.h>

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

/* Constraints by tree, so that threads can share products with J': entry[start[t] .. start[t + 1]) are those of a tree,
 * rising, each as twice its number and the side. */
typedef struct tree_rows {
    int *start, *entry;
} tree_rows;

/* In `scratch`; false without memory. */
bool tree_rows_find(const sim_problem *problem, sim_arena *scratch, tree_rows *rows);
/* Parts of the products above, to the bit: of the constraints or trees [first, end). */
void problem_jacobian_times_of(const sim_problem *problem, int first, int end, const double *v, double *u);
void problem_velocity_of(const sim_problem *problem, int first, int end, const double *v, double *u);
void problem_jacobian_transposed_of(const sim_problem *problem, const tree_rows *rows, int first, int end,
                                    const double *gamma, double *j);
void problem_response_of(const sim_problem *problem, const tree_rows *rows, int first, int end, const double *gamma,
                         double *v);

#endif
