/* Natural map of the strict law and its relative residual E.
 *
 *     F(rho) = gamma - P(gamma - rho (s + (0, 0, mu |s_t|))),   rho_i = rows / trace(W_ii + R_i)
 *     E = max(|F(1)| / max(|q|, |gamma|, |s|),  |(F_i(rho_i) / rho_i)_i| / max(|q|, |s|),  |F(rho)| / |gamma|)
 *
 * s: velocity; gamma: impulse; q = s - (W + R) gamma: velocity without impulses; P: Euclidean projection on the cone,
 * or on the bounds of a row.  E has no unit and is 0 in a solution.  All solvers of the strict law stop on E.
 *
 * Speeds n_i by which q rounds (natural_speeds.c) bound both denominators: max(|q|, |s|, 1.5e-8 |n|) and max(|gamma|,
 * 1.5e-8 |(rho_i max(|q_i|, n_i))_i|), as in the judge's E.
 *
 * E is at least the rounding of s, 1e-15 |gamma_i / rho_i| over the velocities: impulses that cancel in a jam would
 * have a small E by chance.  Rows with a given force have s = q = 0 exactly, and do not count.  The judge's floor
 * e_round is lower, 4e-16, that of gamma - rho s alone; here s is a rounded sum besides, and a claim stays above it.
 *
 * Reference: Acary, Bremond, Huber 2018.  Differs from the paper: residuals in units of velocity and of impulse, so
 * that E does not depend on units. */
#include "solver/core/natural_map.h"
#include "solver/core/cone_discs.h"

#include <math.h>

/* Velocities below this part of the speeds by which q rounds count as zero, as do impulses that would undo no more: the
 * square root of the rounding of 1. */
static const double MIN_SPEED_RATIO = 1.5e-8;

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

static inline void project_on_law(const sim_constraint *c, double step, double *y) {
    if (c->kind == SIM_CONTACT && sim_contact_turns(c)) {
        discs_project_evenly(c, y);
        return;
    }
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

void natural_project(const sim_constraint *c, double step, double *y) { project_on_law(c, step, y); }

static inline void step_by_law(const sim_constraint *c, double step, double rho, const double *s, const double *gamma,
                               double *y) {
    for (int k = 0; k < c->rows; k++) {
        y[k] = gamma[k] - rho * s[k];
    }
    if (c->kind == SIM_CONTACT && sim_contact_turns(c)) {
        y[2] -= rho * discs_lift(c, s);
    } else if (c->kind == SIM_CONTACT) {
        y[2] -= rho * c->friction * sqrt(s[0] * s[0] + s[1] * s[1]);
    }
    project_on_law(c, step, y);
}

void natural_step(const sim_constraint *c, double step, double rho, const double *s, const double *gamma, double *y) {
    step_by_law(c, step, rho, s, gamma, y);
}

double natural_map(const sim_constraint *c, double step, double rho, const double *s, const double *gamma) {
    double y[SIM_MAX_ROWS], sum = 0;
    step_by_law(c, step, rho, s, gamma, y);
    for (int k = 0; k < c->rows; k++) {
        sum += (gamma[k] - y[k]) * (gamma[k] - y[k]);
    }
    return sum;
}

void natural_add(natural_sum *sum, const sim_constraint *c, double step, double rho, double n2, const double *q,
                 const double *s, const double *gamma) {
    natural_add_maps(sum, c->rows, rho, n2, natural_map(c, step, rho, s, gamma), natural_map(c, step, 1, s, gamma), q,
                     s, gamma);
}

void natural_add_maps(natural_sum *sum, int rows, double rho, double n2, double map, double map_one, const double *q,
                      const double *s, const double *gamma) {
    double q2 = 0;
    sum->one += map_one;
    sum->impulse += map;
    sum->velocity += map / (rho * rho);
    for (int k = 0; k < rows; k++) {
        sum->gamma += gamma[k] * gamma[k];
        sum->s += s[k] * s[k];
        q2 += q[k] * q[k];
        sum->moved += s[k] != 0 || q[k] != 0 ? gamma[k] * gamma[k] / (rho * rho) : 0;
    }
    sum->q += q2;
    sum->n2 += n2;
    sum->undoing += rho * rho * fmax(q2, n2);
}

/* sqrt(x / size), with 0 / 0 = 0; NAN stays */
static double root_ratio(double x, double size) { return x > 0 ? sqrt(x / size) : sqrt(x); }

double natural_error(const natural_sum *sum) {
    double none = MIN_SPEED_RATIO * MIN_SPEED_RATIO, velocities = fmax(fmax(sum->q, sum->s), none * sum->n2),
           impulses = fmax(sum->gamma, none * sum->undoing);
    double one = root_ratio(sum->one, fmax(velocities, sum->gamma));
    double E = fmax(one, fmax(root_ratio(sum->velocity, velocities), root_ratio(sum->impulse, impulses)));
    E = fmax(E, NATURAL_ROUNDING * root_ratio(sum->moved, velocities));
    double all =
        sum->one + sum->velocity + sum->impulse + sum->gamma + sum->s + sum->q + sum->n2 + sum->undoing + sum->moved;
    return isfinite(all) ? E : NAN; /* a sum that overflows would make every quotient 0 */
}
