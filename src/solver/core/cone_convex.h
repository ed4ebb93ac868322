/* The convex law of a row block as a function of its velocity: impulse, potential, derivative.
 *
 * CANAL's inner problems are of this kind too, with R + 1/beta in place of R. */
#ifndef SOLVER_CORE_CONE_CONVEX_H
#define SOLVER_CORE_CONE_CONVEX_H

#include <sim/problem.h>

/* Of every row R > 0, 1 / R, the target, and what y is where R is infinite (there the velocity has no say). */
typedef struct convex_law {
    const sim_problem *problem;
    const double *R, *inverse_compliance, *target, *constant;
} convex_law;

/* -d gamma / d u = G as a sum of weight q q': q are the rows' own axes or, of a sliding contact, the two directions
 *     a = (mu t, 1)   and   b = (-t_2, t_1, 0)   with   t = gamma_t / |gamma_t|;   weight[2] is 0. */
typedef struct cone_hessian {
    int sliding;
    double t[2], weight[SIM_MAX_ROWS];
} cone_hessian;

/* Impulse and G of constraint i where its rows have the velocity u = J v + w (both point at the constraint's own rows);
 * returns its part of the cost. */
double convex_project(const convex_law *law, int i, const double *u, double *gamma, cone_hessian *G);
/* du' G du */
static inline double convex_curvature(const sim_constraint *c, const cone_hessian *G, const double *du) {
    const double *w = G->weight, *t = G->t;
    if (G->sliding) {
        double a = c->friction * (t[0] * du[0] + t[1] * du[1]) + du[2], b = t[0] * du[1] - t[1] * du[0];
        return w[0] * a * a + w[1] * b * b;
    }
    double sum = 0;
    for (int k = 0; k < c->rows; k++) {
        sum += w[k] * du[k] * du[k];
    }
    return sum;
}

/* y = G x */
static inline void cone_hessian_times(const sim_constraint *c, const cone_hessian *G, const double *x, double *y) {
    const double *w = G->weight, *t = G->t;
    if (G->sliding) {
        double mu = c->friction, a = w[0] * (mu * (t[0] * x[0] + t[1] * x[1]) + x[2]);
        double b = w[1] * (t[0] * x[1] - t[1] * x[0]);
        y[0] = mu * t[0] * a - t[1] * b;
        y[1] = mu * t[1] * a + t[0] * b;
        y[2] = a;
        return;
    }
    for (int k = 0; k < c->rows; k++) {
        y[k] = w[k] * x[k];
    }
}

/* du . (gamma(u + alpha du) - gamma(u)) without cancellation where both stand on one linear piece. */
static inline double convex_increment(const sim_constraint *c, const cone_hessian *from, const cone_hessian *to,
                                      double alpha, const double *du, const double *gamma_from,
                                      const double *gamma_to) {
    double sum = 0;
    for (int k = 0; k < c->rows; k++) {
        int linear = !from->sliding && !to->sliding && from->weight[k] > 0 && from->weight[k] == to->weight[k];
        sum += linear ? -alpha * from->weight[k] * du[k] * du[k] : du[k] * (gamma_to[k] - gamma_from[k]);
    }
    return sum;
}

#endif
