/* Supernodal Cholesky factor by CHOLMOD: columns of equal pattern in dense panels for the BLAS. */
#ifndef LINALG_SUPERNODAL_H
#define LINALG_SUPERNODAL_H

#include "linalg/spd.h"

typedef struct supernodal supernodal;

supernodal *supernodal_create(void);
void supernodal_free(supernodal *s);
/* Bytes held by CHOLMOD. */
size_t supernodal_bytes(const supernodal *s);
/* `node`: the order of elimination.  SIM_NO_RESOURCE without memory; likewise below. */
sim_status supernodal_analyse(supernodal *s, const spd_graph *graph, const int *node, const int *place);
/* Multiplications of a factor, as the last analysis counts them; numbers in it. */
double supernodal_multiplications(const supernodal *s);
double supernodal_numbers(const supernodal *s);
/* An order for graphs too large for order.h: approximate minimum degree or nested dissection, into node[]. */
sim_status supernodal_order(supernodal *s, const spd_graph *graph, int *node);
spd_outcome supernodal_factor(supernodal *s, const double *const *diagonal, const double *const *between);
/* x <- H^-1 x, node after node. */
sim_status supernodal_solve(supernodal *s, double *x);
/* z <- L^-1 e of `count` unit vectors, H = L L', in an order of its own: [count][size], by unknown node after node.
 * `work` has room for `size` times `count`. */
int supernodal_size(const supernodal *s);
void supernodal_half(const supernodal *s, int count, const int *unknown, int *active, double *work, double *z);

#endif
