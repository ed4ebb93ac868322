/* Systems of which only products are known, symmetric or not. */
#ifndef SOLVER_NEWTON_GMRES_H
#define SOLVER_NEWTON_GMRES_H

enum { GMRES_MOST = 15 }; /* products */

/* y = M x; 0: it cannot go on. */
typedef int gmres_times(void *self, const double *x, double *y);

/* x with |b - M x| <= enough |b|, or what GMRES_MOST products give.  `basis` holds GMRES_MOST + 1 vectors of n, the first of
 * them b.  0 if `times` says so. */
int gmres_solve(int n, gmres_times *times, void *self, double enough, double *basis, double *x);

#endif
