/* GMRES for linear systems given by products, symmetric or not. */
#ifndef SOLVER_NEWTON_CANAL_GMRES_H
#define SOLVER_NEWTON_CANAL_GMRES_H

#include <sim/base.h>

enum { GMRES_MAX_PRODUCTS = 15 };

/* y = M x; fails without memory. */
typedef sim_status gmres_times(void *self, const double *x, double *y);

/* x with |b - M x| <= tolerance |b|, or the x of least residual after GMRES_MAX_PRODUCTS.  `basis`: GMRES_MAX_PRODUCTS
 * + 1 vectors of n, the first of them b.  Fails if `times` does. */
sim_status gmres_solve(int n, gmres_times *times, void *self, double tolerance, double *basis, double *x);

#endif
