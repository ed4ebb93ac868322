/* Implicit step of Euler's equations of one rigid body (euler_step.c). */
#ifndef WORLD_INTEGRATOR_EULER_STEP_H
#define WORLD_INTEGRATOR_EULER_STEP_H

#include "math/v3.h"

#include <stdbool.h>

typedef struct euler {
    sym3 J;   /* kg m^2 */
    sym3 D;   /* kg m^2, added to J in J a */
    v3 w0, b; /* (J + D) a + s w x J w = b, w = w0 + h a */
    double h; /* s, theta h of (1) */
    double s; /* part of the gyroscopic term, 0 to 1 */
} euler;

v3 gyroscopic_torque(const sym3 *J, v3 w);
/* (J + D) a */
v3 inertia_times(const euler *e, v3 a);
/* Columns of the derivative of the residual, by a. */
m3 euler_jacobian(const euler *e, v3 a);
/* A x = b by Cramer's rule, for columns of similar norm. */
v3 solve_3x3(m3 A, v3 b);
/* The solution from an initial guess in a; without one, false and the a without gyroscopic term.  s is 1 before and
 * after. */
bool solve_euler(euler *e, v3 *a);

#endif
