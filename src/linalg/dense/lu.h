/* LU factorisation of dense matrices that are not symmetric. */
#ifndef LINALG_DENSE_LU_H
#define LINALG_DENSE_LU_H

#include "linalg/dense/panels.h"

#include <stdbool.h>

/* Size of `work`. */
int lu_work(int n);
/* P H = L U with partial pivoting, in place.  H: n rows of `stride` numbers, a multiple of four, finite beyond the
 * n-th. swap [n].  The watch is asked above PANELS_WHOLE unknowns.  False: a pivot is zero or not finite, or the watch
 * stopped the factorisation. */
bool lu_factor(int n, int stride, double *H, int *swap, double *work, const panels_watch *watch);
/* x <- H^-1 x */
void lu_solve(int n, int stride, const double *LU, const int *swap, double *x);
/* C <- H^-1 C, n rows of `width` numbers, a multiple of four.  `work` [n]. */
void lu_solve_block(int n, int stride, const double *LU, const int *swap, int width, double *C, double *work);
/* x <- H^-T x */
void lu_solve_transposed(int n, int stride, const double *LU, const int *swap, double *x);

#endif
