/* Natural map of the strict law, and the residual E made of it. */
#ifndef SOLVER_CORE_NATURAL_MAP_H
#define SOLVER_CORE_NATURAL_MAP_H

#include "base/arena.h"
#include <sim/problem.h>

/* Sums over constraints. */
typedef struct natural_sum {
    double one, velocity, impulse; /* |F(1)|^2, |F_i(rho_i) / rho_i|^2, |F_i(rho_i)|^2 */
    double gamma, s, q;            /* |gamma|^2, |s|^2, |q|^2 */
    double n2, undoing;            /* n_i^2, by which q rounds; impulses that would cancel q, or n_i: greater of both */
    double moved;                  /* |gamma_i / rho_i|^2: velocities that the impulses cause */
} natural_sum;

/* Projects y onto the cone |y_t| <= mu y_n. */
void natural_project_cone(double mu, double *y);
/* Projects y onto the cone or the bounds of c. */
void natural_project(const sim_constraint *c, double step, double *y);
/* y = P(gamma - rho (s + (0, 0, mu |s_t|))) of one constraint; y, s and gamma are its own rows. */
void natural_step(const sim_constraint *c, double step, double rho, const double *s, const double *gamma, double *y);
/* |F(rho)|^2 of one constraint; s and gamma are its own rows. */
double natural_map(const sim_constraint *c, double step, double rho, const double *s, const double *gamma);
/* n_i^2 of all constraints, in `scratch`: squares of the speeds by which q rounds, 0 of local problems; NULL: no memory.
 */
double *squared_natural_speeds(const sim_problem *problem, sim_arena *scratch);
/* `n2`: n_i^2 of the constraint. */
void natural_add(natural_sum *sum, const sim_constraint *c, double step, double rho, double n2, const double *q,
                 const double *s, const double *gamma);
/* The same with the maps of another projection: |F(rho)|^2 and |F(1)|^2. */
void natural_add_maps(natural_sum *sum, int rows, double rho, double n2, double map, double map_one, const double *q,
                      const double *s, const double *gamma);
double natural_error(const natural_sum *sum);

/* Rounding of velocities, over those that the impulses cause: a lower bound of E. */
static const double NATURAL_ROUNDING = 1e-15;
/* Largest E of a solution that may claim to be solved to rounding. */
static const double MAX_E_AT_ROUNDING = 1e-6;

#endif
