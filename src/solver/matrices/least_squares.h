/* Damped linear least squares, dense. */
#ifndef SOLVER_MATRICES_LEAST_SQUARES_H
#define SOLVER_MATRICES_LEAST_SQUARES_H

#include "linalg/dense/panels.h"

#include <stdbool.h>
#include <stddef.h>

enum { LEAST_SQUARES_MAX_UNBLOCKED = 160 }; /* unknowns up to which unblocked reflections are faster than LAPACK */

/* Number of doubles of A, with workspace. */
size_t least_squares_work(int rows, int n);
/* dx that minimises |J dx + r|^2 + lambda |dx|^2, J of rows >= n.  A: n + 1 columns of rows + n numbers each, whose
 * first `rows` are J, and -r in the last column; overwritten.  `range`: largest over smallest diagonal entry of the
 * triangle. false: the triangle is singular, or the caller stopped it and dx is 0. */
bool least_squares_solve(int rows, int n, double *A, double lambda, double *dx, double *range,
                         const panels_watch *watch);

#endif
