/* The factor by CHOLMOD, which gathers columns of like pattern into dense panels for the BLAS. */
#ifndef LINALG_SUPERNODAL_H
#define LINALG_SUPERNODAL_H

#include "linalg/spd.h"

typedef struct supernodal supernodal;

supernodal *supernodal_create(void);
void supernodal_free(supernodal *s);
/* `node`: the order of elimination.  0 without memory. */
int supernodal_analyse(supernodal *s, const spd_graph *graph, const int *node, const int *place);
/* Multiplications of a factor, as the last analysis counts them; numbers in it. */
double supernodal_multiplications(const supernodal *s);
double supernodal_numbers(const supernodal *s);
/* An order for graphs that are too large for ours: node[], by approximate minimum degree.  0 without memory. */
int supernodal_order(supernodal *s, const spd_graph *graph, int *node);
/* 0 if not positive definite, -1 without memory. */
int supernodal_factor(supernodal *s, const double *const *diagonal, const double *const *between);
/* x and b node after node; 0 without memory. */
int supernodal_solve(supernodal *s, double *x);

#endif
