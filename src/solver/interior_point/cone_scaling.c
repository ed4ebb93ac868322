/* Nesterov-Todd scaling of a second-order cone, Q = { x_3 >= |x_t| }.
 *
 *     det x = x_3^2 - |x_t|^2,   x' = x / sqrt(det x),   z' = z / sqrt(det z),   beta = (det z / det x)^(1/4)
 *     w = (z'_t - x'_t, z'_3 + x'_3) / sqrt(2 (1 + x' . z')),   q = w_t / |w_t|,   stretch = w_3 + |w_t|
 *
 * P has the eigenvalues beta stretch, beta / stretch and beta; the header has its vectors.  At a sliding contact x and z
 * lie on the boundary, stretch grows without bound, and x_3 - |x_t| or x . z would lose all digits.  So distances to the
 * boundary are variables of their own, and sums of opposite vectors are found from their cross product:
 *
 *     |a| |b| + a . b = (a x b)^2 / (|a| |b| - a . b)     where a . b < 0
 *
 * References: Nesterov, Todd 1997; Vandenberghe 2010, "The CVXOPT linear and quadratic cone program solvers". */
#include "solver/interior_point/cone_scaling.h"

#include <math.h>

/* |a| |b| + a . b of vectors in the plane. */
static double opposite_sum(const double a[2], const double b[2]) {
    double sizes = hypot(a[0], a[1]) * hypot(b[0], b[1]), along = a[0] * b[0] + a[1] * b[1];
    double cross = a[0] * b[1] - a[1] * b[0];
    return along >= 0 ? sizes + along : cross * cross / (sizes - along);
}

double cone_point_normal(const cone_point *x) { return x->over + hypot(x->t[0], x->t[1]); }

double cone_point_product(const cone_point *x, const cone_point *z) {
    double a = hypot(x->t[0], x->t[1]), b = hypot(z->t[0], z->t[1]);
    return x->over * z->over + x->over * b + z->over * a + opposite_sum(x->t, z->t);
}

static double cone_determinant(const cone_point *x) { return x->over * (x->over + 2 * hypot(x->t[0], x->t[1])); }

cone_point cone_point_moved(const cone_point *x, const double dx[3], double length) {
    double size = hypot(x->t[0], x->t[1]), along = size > 0 ? (x->t[0] * dx[0] + x->t[1] * dx[1]) / size : 0;
    double across = size > 0 ? (x->t[0] * dx[1] - x->t[1] * dx[0]) / size : 0, straight = size + length * along;
    cone_point y = {{x->t[0] + length * dx[0], x->t[1] + length * dx[1]}, 0};
    double after = hypot(y.t[0], y.t[1]);
    /* |x_t| grows by `along` to first order, and by the rest of the chord */
    y.over = straight > 0.5 * size
                 ? x->over + length * (dx[2] - along) - length * across * (length * across / (straight + after))
                 : x->over + length * dx[2] + (size - after);
    return y;
}

double cone_step_length(const cone_point *x, const double dx[3]) {
    /* det(x + a dx) = c + 2 b a + q a^2, c > 0: its smallest positive root, and that of x_3 + a dx_3 */
    double size = hypot(x->t[0], x->t[1]), across = hypot(dx[0], dx[1]);
    double along = size > 0 ? (x->t[0] * dx[0] + x->t[1] * dx[1]) / size : 0;
    double c = cone_determinant(x), b = x->over * dx[2] + size * (dx[2] - along),
           q = (dx[2] - across) * (dx[2] + across);
    double under = b * b - q * c, most = dx[2] < 0 ? -(x->over + size) / dx[2] : HUGE_VAL;
    return q < 0 || (b < 0 && under >= 0) ? fmin(most, c / (sqrt(fmax(under, 0)) - b)) : most;
}

cone_scaling cone_scaling_of(const cone_point *x, const cone_point *z) {
    /* w */
    double a = sqrt(cone_determinant(x)), b = sqrt(cone_determinant(z));
    double over = 1 / sqrt(2 * (1 + cone_point_product(x, z) / (a * b)));
    double w[2] = {(z->t[0] / b - x->t[0] / a) * over, (z->t[1] / b - x->t[1] / a) * over}, size = hypot(w[0], w[1]);
    double normal = (cone_point_normal(z) / b + cone_point_normal(x) / a) * over;
    cone_scaling s = {.beta = sqrt(b / a), .stretch = normal + size, .q = {1, 0}};
    if (size > 0) {
        s.q[0] = w[0] / size;
        s.q[1] = w[1] / size;
    }
    /* lambda = P x:  q . x_t + x_3 and q . x_t - x_3 */
    const double back[2] = {-s.q[0], -s.q[1]};
    double plus = s.stretch * (x->over + opposite_sum(s.q, x->t)) / 2;
    double minus = -(x->over + opposite_sum(back, x->t)) / (2 * s.stretch);
    double across = s.q[0] * x->t[1] - s.q[1] * x->t[0];
    s.lambda[0] = s.beta * (s.q[0] * (plus + minus) - s.q[1] * across);
    s.lambda[1] = s.beta * (s.q[1] * (plus + minus) + s.q[0] * across);
    s.lambda[2] = s.beta * (plus - minus);
    return s;
}

static void stretch_vector(const double q[2], double beta, double stretch, const double x[3], double y[3]) {
    double along = q[0] * x[0] + q[1] * x[1], across = q[0] * x[1] - q[1] * x[0];
    double plus = stretch * (along + x[2]) / 2, minus = (along - x[2]) / (2 * stretch);
    y[0] = beta * (q[0] * (plus + minus) - q[1] * across);
    y[1] = beta * (q[1] * (plus + minus) + q[0] * across);
    y[2] = beta * (plus - minus);
}

void cone_scale(const cone_scaling *s, const double x[3], double y[3]) {
    stretch_vector(s->q, s->beta, s->stretch, x, y);
}

void cone_unscale(const cone_scaling *s, const double x[3], double y[3]) {
    stretch_vector(s->q, 1 / s->beta, 1 / s->stretch, x, y);
}

/* Of R + h_p D p (D p)' + h_m D m (D m)' in the plane of q and n all terms of determinant and adjugate are positive. */
void cone_scaling_block(const cone_scaling *s, const double *R, double mu, double *G) {
    double square = s->beta * s->beta, p = square * s->stretch * s->stretch, m = square / (s->stretch * s->stretch);
    double over = 1 / (R[0] * R[2] + (p + m) * (R[2] + mu * mu * R[0]) / 2 + square * square * mu * mu);
    double tangent = (R[2] + mu * mu * (p + m) / 2) * over, normal = (R[0] + (p + m) / 2) * over;
    double both = mu * (m - p) / 2 * over, across = 1 / (R[0] + square);
    G[0] = tangent * s->q[0] * s->q[0] + across * s->q[1] * s->q[1];
    G[1] = tangent * s->q[1] * s->q[1] + across * s->q[0] * s->q[0];
    G[2] = normal;
    G[3] = (tangent - across) * s->q[0] * s->q[1];
    G[4] = both * s->q[0];
    G[5] = both * s->q[1];
}

void cone_product(const double x[3], const double y[3], double product[3]) {
    product[0] = x[2] * y[0] + y[2] * x[0];
    product[1] = x[2] * y[1] + y[2] * x[1];
    product[2] = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

void cone_divide(const double lambda[3], const double d[3], double y[3]) {
    double size = hypot(lambda[0], lambda[1]), det = (lambda[2] - size) * (lambda[2] + size);
    double normal = (lambda[2] * d[2] - lambda[0] * d[0] - lambda[1] * d[1]) / det;
    y[0] = (d[0] - normal * lambda[0]) / lambda[2];
    y[1] = (d[1] - normal * lambda[1]) / lambda[2];
    y[2] = normal;
}
