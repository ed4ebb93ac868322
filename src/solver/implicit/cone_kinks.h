/* Edges of a contact's unknown x, where the derivative of its impulse jumps (Todorov 2010, section III):
 *
 *     plane   x_n = 0                       the contact breaks beyond
 *     cone    |x_t| = -mu x_n, x_n < 0      it slips beyond, and sticks within */
#ifndef SOLVER_IMPLICIT_CONE_KINKS_H
#define SOLVER_IMPLICIT_CONE_KINKS_H

#include "solver/implicit/residual_map.h"

typedef enum edge { EDGE_NONE, EDGE_PLANE, EDGE_CONE } edge;

enum { MAX_EDGE_CROSSINGS = 3 };

/* Unit normal of the edge at x, away from contact or stick; F on its two sides. */
void eval_edge_sides(edge e, double mu, const double *x, double normal[3], double beyond[9], double within[9]);
/* Orthonormal: two tangents of the edge at x, then its normal; columns of a 3 x 3, row-major. */
void make_edge_basis(edge e, double mu, const double *x, double B[9]);
/* x <- the nearest point of the edge. */
void project_to_edge(edge e, double mu, double *x);
/* Crossings of edges by x + alpha u, 0 < alpha < 1; returns their number. */
int find_edge_crossings(double mu, const double *x, const double *u, double alpha[MAX_EDGE_CROSSINGS],
                        edge which[MAX_EDGE_CROSSINGS]);

#endif
