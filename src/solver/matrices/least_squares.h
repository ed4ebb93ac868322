/* Least squares with damping, dense. */
#ifndef SOLVER_MATRICES_LEAST_SQUARES_H
#define SOLVER_MATRICES_LEAST_SQUARES_H

#include "linalg/panels.h"

#include <stddef.h>

enum { LEAST_SQUARES_MAX_UNBLOCKED = 160 }; /* unknowns up to which LAPACK is the slower way */

/* Numbers of A, with what it takes to work. */
size_t least_squares_work(int rows, int n);
/* dx of least |J dx + r|^2 + lambda |dx|^2, J of rows >= n.  A: n + 1 columns of rows + n numbers each, the first `rows` of
 * them J, of the last column -r; overwritten.  `range`: greatest over least diagonal entry of the triangle.  0 if it has a
 * zero there, or if it was stopped: then dx is 0. */
int least_squares_solve(int rows, int n, double *A, double lambda, double *dx, double *range,
                        const panels_watch *watch);

#endif
