/* Cone of a contact that resists turning: the intersection of the cones of its discs. */
#ifndef SOLVER_CORE_CONE_DISCS_H
#define SOLVER_CORE_CONE_DISCS_H

#include "solver/core/cone_convex.h"

/* g_n of the nearest point of the cone to y in the norm of R; *sliding: bit k is set where disc k bounds it. */
double discs_project_normal(const sim_constraint *c, const double *R, const double *y, unsigned *sliding);
/* The nearest point itself. */
void discs_project(const sim_constraint *c, const double *R, const double *y, double *g);
/* y <- that nearest in the usual norm. */
void discs_project_evenly(const sim_constraint *c, double *y);

/* gamma and G of the convex law at y; the cost. */
double discs_project_convex(const sim_constraint *c, const double *R, const double *y, double *gamma, cone_hessian *G);

/* The part of G in one disc that slides, with the unit vector t of its impulse; `across`: the weight of b. */
void discs_set_sliding(cone_hessian *G, const sim_disc *disc, int k, const double *t, double across);
/* The vectors and weights of such a G; the first is a where any disc slides.  Their number. */
int discs_vectors(const sim_constraint *c, const cone_hessian *G, double vector[][SIM_MAX_ROWS], double *weight);

/* sum of bound |s_k| over the discs: what De Saxce adds to s_n. */
double discs_lift(const sim_constraint *c, const double *s);

#endif
