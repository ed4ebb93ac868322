/* How wrong is an answer? The natural map of the strict law, in units of impulse and of velocity, each over the size of
 * what it is made of (after Acary, Bremond, Huber 2018):
 *
 *     F(rho) = gamma - P(gamma - rho (s + (0, 0, mu |s_t|))),   rho_i = rows / trace(W_ii + R_i)
 *     E = max(|F(1)| / max(|q|, |gamma|, |s|),  |(F_i(rho_i) / rho_i)_i| / max(|q|, |s|),  |F(rho_i)| / |gamma|)
 *
 * with P the Euclidean projection on the cone, or on the bounds of a row, q = s - (W + R) gamma.  It is the measure by
 * which solvers are compared, so that stopping on it means what it says.
 *
 * It is no less than the rounding of s, 1e-15 |gamma_i / rho_i| over the velocities: where contacts press against each
 * other without bound, impulses so great that nothing is known of s might else seem right by chance.  Rows whose force is
 * given whatever s is have no s to be known: their q and s are 0 to the bit, and they do not count. */
#include "solver/core/natural_map.h"

#include <math.h>

static const double NONE = 1.5e-8; /* an impulse below this part of what would undo q is as good as none */

void natural_project_cone(double mu, double *y) {
    double r = sqrt(y[0] * y[0] + y[1] * y[1]);
    if (y[2] >= 0 && r <= mu * y[2]) { /* without friction 0 <= -0 would hold below the ground as well */
        return;
    }
    if (y[2] <= -mu * r) {
        y[0] = y[1] = y[2] = 0;
        return;
    }
    y[2] = (y[2] + mu * r) / (1 + mu * mu);
    y[0] *= mu * y[2] / r;
    y[1] *= mu * y[2] / r;
}

void natural_project(const sim_constraint *c, double step, double *y) {
    if (c->kind == SIM_CONTACT) {
        natural_project_cone(c->friction, y);
        return;
    }
    double bound = c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR ? step * c->bound : HUGE_VAL;
    double low = c->kind == SIM_LIMIT ? 0 : -bound;
    for (int k = 0; k < c->rows; k++) {
        y[k] = fmin(fmax(y[k], low), bound);
    }
}

void natural_step(const sim_constraint *c, double step, double rho, const double *s, const double *gamma, double *y) {
    for (int k = 0; k < c->rows; k++) {
        y[k] = gamma[k] - rho * s[k];
    }
    if (c->kind == SIM_CONTACT) {
        y[2] -= rho * c->friction * sqrt(s[0] * s[0] + s[1] * s[1]);
    }
    natural_project(c, step, y);
}

double natural_map(const sim_constraint *c, double step, double rho, const double *s, const double *gamma) {
    double y[SIM_MAX_ROWS], sum = 0;
    natural_step(c, step, rho, s, gamma, y);
    for (int k = 0; k < c->rows; k++) {
        sum += (gamma[k] - y[k]) * (gamma[k] - y[k]);
    }
    return sum;
}

void natural_add(natural_sum *sum, const sim_constraint *c, double step, double rho, const double *q, const double *s,
                 const double *gamma) {
    natural_add_maps(sum, c->rows, rho, natural_map(c, step, rho, s, gamma), natural_map(c, step, 1, s, gamma), q, s,
                     gamma);
}

void natural_add_maps(natural_sum *sum, int rows, double rho, double map, double map_one, const double *q,
                      const double *s, const double *gamma) {
    sum->one += map_one;
    sum->impulse += map;
    sum->velocity += map / (rho * rho);
    for (int k = 0; k < rows; k++) {
        sum->gamma += gamma[k] * gamma[k];
        sum->s += s[k] * s[k];
        sum->q += q[k] * q[k];
        sum->undoing += rho * rho * q[k] * q[k];
        sum->moved += s[k] != 0 || q[k] != 0 ? gamma[k] * gamma[k] / (rho * rho) : 0;
    }
}

static double over(double x, double size) { return x > 0 ? sqrt(x / size) : sqrt(x); } /* 0 / 0 is 0; NAN stays */

double natural_error(const natural_sum *sum) {
    double velocities = fmax(sum->q, sum->s), impulses = fmax(sum->gamma, NONE * NONE * sum->undoing);
    double one = over(sum->one, fmax(velocities, sum->gamma));
    double E = fmax(one, fmax(over(sum->velocity, velocities), over(sum->impulse, impulses)));
    E = fmax(E, NATURAL_ROUNDING * over(sum->moved, velocities));
    double all = sum->one + sum->velocity + sum->impulse + sum->gamma + sum->s + sum->q + sum->undoing + sum->moved;
    return isfinite(all) ? E : NAN; /* what overflows is no measure of anything: over it all would be nothing */
}
