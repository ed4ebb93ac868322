/* Quantities with their first and second derivative by time: truncated Taylor series, from which those of formulas follow.
 *
 *     f(u):  f(x),   f'(x) u',   f''(x) u'^2 + f'(x) u''
 *
 * Reference: Griewank, Walther, Evaluating Derivatives (2008), chapter 13. */
#ifndef MATH_JET_H
#define MATH_JET_H

#include "math/v3.h"

typedef struct jet {
    double x, d, dd;
} jet;

typedef struct jet3 {
    v3 x, d, dd;
} jet3;

static inline jet jet_constant(double x) { return (jet){x, 0, 0}; }
static inline jet3 jet3_constant(v3 x) { return (jet3){x, {0, 0, 0}, {0, 0, 0}}; }

/* f(u), from f and its derivatives at u.x. */
static inline jet jet_chain(jet u, double f, double f1, double f2) {
    return (jet){f, f1 * u.d, f2 * u.d * u.d + f1 * u.dd};
}

static inline jet jet_add(jet a, jet b) { return (jet){a.x + b.x, a.d + b.d, a.dd + b.dd}; }
static inline jet jet_axpy(jet a, double s, jet b) { return (jet){a.x + s * b.x, a.d + s * b.d, a.dd + s * b.dd}; }
static inline jet jet_scale(double s, jet a) { return (jet){s * a.x, s * a.d, s * a.dd}; }
static inline jet jet_times(jet a, jet b) {
    return (jet){a.x * b.x, a.d * b.x + a.x * b.d, a.dd * b.x + 2 * a.d * b.d + a.x * b.dd};
}
static inline jet jet_over(jet a, jet b) {
    return jet_times(a, jet_chain(b, 1 / b.x, -1 / (b.x * b.x), 2 / (b.x * b.x * b.x)));
}
static inline jet jet_sine(jet a) { return jet_chain(a, sin(a.x), cos(a.x), -sin(a.x)); }
static inline jet jet_cosine(jet a) { return jet_chain(a, cos(a.x), -sin(a.x), -cos(a.x)); }

/* The root, constant where it vanishes: it has no derivative there. */
static inline jet jet_root(jet a) {
    double r = sqrt(max_of(a.x, 0));
    return r > 0 ? jet_chain(a, r, 0.5 / r, -0.25 / (r * a.x)) : jet_constant(0);
}

/* atan2(y, x) */
static inline jet jet_angle(jet y, jet x) {
    double r2 = x.x * x.x + y.x * y.x, turn = x.x * y.d - y.x * x.d;
    return (jet){atan2(y.x, x.x), turn / r2,
                 (x.x * y.dd - y.x * x.dd) / r2 - 2 * turn * (x.x * x.d + y.x * y.d) / (r2 * r2)};
}

static inline jet3 jet3_sub(jet3 a, jet3 b) { return (jet3){v3_sub(a.x, b.x), v3_sub(a.d, b.d), v3_sub(a.dd, b.dd)}; }
static inline jet jet3_dot(jet3 a, jet3 b) {
    return (jet){v3_dot(a.x, b.x), v3_dot(a.d, b.x) + v3_dot(a.x, b.d),
                 v3_dot(a.dd, b.x) + 2 * v3_dot(a.d, b.d) + v3_dot(a.x, b.dd)};
}
static inline jet3 jet3_cross(jet3 a, jet3 b) {
    return (jet3){v3_cross(a.x, b.x), v3_add(v3_cross(a.d, b.x), v3_cross(a.x, b.d)),
                  v3_add(v3_axpy(v3_cross(a.dd, b.x), 2, v3_cross(a.d, b.d)), v3_cross(a.x, b.dd))};
}
static inline jet jet3_norm(jet3 a) { return jet_root(jet3_dot(a, a)); }

#endif
