/* How wrong is gamma?  The natural map of the law that is solved, in units of impulse and of velocity, each over the size
 * of what it is made of (Acary, Bremond, Huber 2018, made free of units):
 *
 *     F(rho) = gamma - P(gamma - rho (s + (0, 0, mu |s_t|))),   rho_i = rows / trace W_ii
 *     E = max(|F(1)| / max(|q|, |gamma|, |u|),  |(F_i(rho_i) / rho_i)_i| / max(|q|, |u|),  |F(rho_i)| / |gamma|)
 *
 * with P the Euclidean projection.  A pyramid has the nested projection in its place and no shift; others that of their
 * bounds.  It is the measure by which solvers are compared, so that stopping on it means what it says; it is no less than
 * rounding (natural_map.c). */
#include "solver/core/natural_map.h"
#include "solver/gauss_seidel/pgs.h"

#include <math.h>

/* |F_i(rho)|^2 */
static double map_of(const pgs *p, const pgs_block *b, double rho, const double *s, const double *g) {
    double y[PGS_WIDEST], sum = 0;
    int cone = b->kind == SIM_CONTACT && !p->pyramid;
    for (int k = 0; k < b->rows; k++) {
        y[k] = g[k] - rho * s[k];
    }
    if (cone) {
        y[2] -= rho * b->limit * sqrt(s[0] * s[0] + s[1] * s[1]);
        natural_project_cone(b->limit, y);
    } else {
        pgs_project(p, b, y);
    }
    for (int k = 0; k < b->rows; k++) {
        sum += (g[k] - y[k]) * (g[k] - y[k]);
    }
    return sum;
}

static double over(double x, double size) { return x > 0 ? x / size : x; } /* 0 / 0 is 0; NAN stays */

double pgs_residual(const pgs *p, double *excess) {
    double one = 0, moved = 0, velocity = 0, impulse = 0, gamma = 0, u = 0, s[PGS_WIDEST];
    for (int i = 0; i < p->n; i++) {
        const pgs_block *b = &p->block[i];
        const double *g = p->gamma + b->at;
        pgs_velocity(p, b, s);
        double map = map_of(p, b, b->rho, s, g);
        impulse += map;
        velocity += map / (b->rho * b->rho);
        one += map_of(p, b, 1, s, g);
        for (int k = 0; k < b->rows; k++) {
            double part = s[k] - p->R[b->at + k] * g[k];
            gamma += g[k] * g[k];
            moved += g[k] * g[k] / (b->rho * b->rho);
            u += part * part;
        }
    }
    gamma = sqrt(gamma);
    u = fmax(sqrt(u), p->size_q);
    *excess = p->size_q > 0 ? u / p->size_q : 1;
    double worst = over(sqrt(one), fmax(u, gamma)), e_velocity = over(sqrt(velocity), u);
    double e_impulse = over(sqrt(impulse), gamma), E = fmax(worst, fmax(e_velocity, e_impulse));
    E = fmax(E, NATURAL_ROUNDING * over(sqrt(moved), u));
    return isnan(worst + e_velocity + e_impulse) ? NAN : E;
}
