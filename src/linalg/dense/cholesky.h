/* Factor and solves of one dense block, in rows padded to `stride` numbers. */
#ifndef LINALG_DENSE_CHOLESKY_H
#define LINALG_DENSE_CHOLESKY_H

#include <stdbool.h>

/* U'U = H in place of the upper triangle of H (the lower one is overwritten); inverse[i] = 1 / U_ii.  false: a pivot is
 * not positive. */
bool cholesky_upper(int n, int stride, double *H, double *inverse);
/* C <- U^-T C for n x width numbers, width a multiple of four. */
void cholesky_panel(int n, const double *U, int stride, const double *inverse, double *C, int width);
/* x <- U^-T x; x <- U^-1 x */
void cholesky_forward(int n, const double *U, int stride, const double *inverse, double *x);
void cholesky_backward(int n, const double *U, int stride, const double *inverse, double *x);

#endif
