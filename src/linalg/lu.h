/* Dense LU factorisation, for systems that are not symmetric. */
#ifndef LINALG_LU_H
#define LINALG_LU_H

#include <stdbool.h>

/* Size of `work`, numbers. */
int lu_work(int n);
/* P H = L U with rows swapped for the largest pivot; in place of H, which has n rows of `stride` numbers, a multiple of
 * four, finite beyond the first n.  swap [n].  false: a pivot is zero or not finite. */
bool lu_factor(int n, int stride, double *H, int *swap, double *work);
/* x <- H^-1 x */
void lu_solve(int n, int stride, const double *LU, const int *swap, double *x);

#endif
