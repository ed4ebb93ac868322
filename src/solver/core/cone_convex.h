/* Convex contact law of one constraint: impulse, cost and Hessian block as functions of its velocity.
 *
 * The inner problems of CANAL have this law, too, with R + 1/beta in place of R. */
#ifndef SOLVER_CORE_CONE_CONVEX_H
#define SOLVER_CORE_CONE_CONVEX_H

#include <sim/problem.h>
#include <stdbool.h>

/* Of every row: R > 0 and 1 / R (both 0 where R is infinite), velocity bias, and y where R is infinite. */
typedef struct convex_law {
    const sim_problem *problem;
    const double *R, *inverse_compliance, *target, *constant;
} convex_law;

/* G = -d gamma / d u = sum of weight q q'.  q are the unit vectors of the rows or, in a sliding contact, the two
 * vectors
 *     a = (lean t, 1)   and   b = (-t_2, t_1, 0)   with   t = gamma_t / |gamma_t|, lean = mu;   weight[2] is 0.
 *
 * Of a contact that resists turning `sliding` has a bit a disc, weight[2] is that of a, and `turn` has t in the rows
 * from the fourth on (cone_discs.c). */
typedef struct cone_hessian {
    int sliding;
    double t[2], lean, weight[SIM_MAX_ROWS], turn[SIM_MAX_ROWS - SIM_CONTACT_ROWS];
} cone_hessian;

/* du' G du of such a contact; y = G x of the convex law, or of the strict one, with n in place of the second a. */
double discs_curvature(const sim_constraint *c, const cone_hessian *G, const double *du);
void discs_times(const sim_constraint *c, const cone_hessian *G, bool strict, const double *x, double *y);

/* Impulse and G of constraint i at the velocity u = J v + w (u and gamma point at its own rows); returns its cost. */
double convex_project(const convex_law *law, int i, const double *u, double *gamma, cone_hessian *G);
/* du' G du */
static inline double convex_curvature(const sim_constraint *c, const cone_hessian *G, const double *du) {
    const double *w = G->weight, *t = G->t;
    if (G->sliding && sim_contact_turns(c)) {
        return discs_curvature(c, G, du);
    }
    if (G->sliding) {
        double a = G->lean * (t[0] * du[0] + t[1] * du[1]) + du[2], b = t[0] * du[1] - t[1] * du[0];
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
    if (G->sliding && sim_contact_turns(c)) {
        discs_times(c, G, false, x, y);
        return;
    }
    if (G->sliding) {
        double mu = G->lean, a = w[0] * (mu * (t[0] * x[0] + t[1] * x[1]) + x[2]);
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

/* du . (gamma(u + alpha du) - gamma(u)), without cancellation where both lie on one linear piece. */
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
