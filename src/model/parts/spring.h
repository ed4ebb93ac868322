/* Springs and dampers with terms of the second and third degree.
 *
 *     spring    f = k x + a x^2 + b x^3,    energy k x^2 / 2 + a x^3 / 3 + b x^4 / 4
 *     damper    f = c v + a |v| v + b v^3
 *
 *     x       way from where the spring is slack, m or rad;  v: its rate
 *     f       force with which it pulls back or brakes, N or N m; slope and bend: its derivatives by x or v
 *     k, c    stiffness, damping; a, b: terms[0], terms[1] */
#ifndef MODEL_SPRING_H
#define MODEL_SPRING_H

#include <sim/constraint.h>

#include <math.h>

static inline bool any_terms(const double terms[2]) { return terms[0] != 0 || terms[1] != 0; }
static inline bool tendon_has_spring(const sim_tendon *t) { return t->stiffness > 0 || any_terms(t->spring); }
static inline bool tendon_has_damper(const sim_tendon *t) { return t->damping > 0 || any_terms(t->damper); }

/* f / x, and its slope: of springs that pull along x in space, x then the length of the way. */
static inline double spring_factor(double k, const double terms[2], double x) {
    return k + x * (terms[0] + x * terms[1]);
}
static inline double spring_factor_slope(const double terms[2], double x) { return terms[0] + 2 * x * terms[1]; }

static inline double spring_force(double k, const double terms[2], double x) { return x * spring_factor(k, terms, x); }
static inline double spring_slope(double k, const double terms[2], double x) {
    return k + x * (2 * terms[0] + x * 3 * terms[1]);
}
static inline double spring_bend(const double terms[2], double x) { return 2 * terms[0] + 6 * x * terms[1]; }
static inline double spring_energy(double k, const double terms[2], double x) {
    return x * x * (k / 2 + x * (terms[0] / 3 + x * terms[1] / 4));
}

static inline double damper_force(double c, const double terms[2], double v) {
    return v * spring_factor(c, terms, fabs(v));
}
static inline double damper_slope(double c, const double terms[2], double v) { return spring_slope(c, terms, fabs(v)); }
static inline double damper_bend(const double terms[2], double v) { return copysign(spring_bend(terms, fabs(v)), v); }

#endif
