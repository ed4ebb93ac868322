/* Curvature of a field over a plane, learned from its gradients.
 *
 *     f(x + d) = f(x) + u . d + d . B d / 2,
 *
 * B symmetric, 2 x 2, positive definite and bounded: at first from the gradients at the corners of a triangle. Then
 * each pair of a way s and the turn y of the gradient along it corrects it (Broyden, Fletcher, Goldfarb, Shanno):
 *
 *     B <- B + y y' / s.y - B s s' B / s.B s,     y replaced by w y + (1 - w) B s where s.y < s.B s / 10.
 *
 * Reference: M. J. D. Powell, A fast algorithm for nonlinearly constrained optimization calculations, 1978 (w).
 * Cost: some fifty multiplications a correction. */
#include "collide/field/field_model.h"

void model_components(const model *m, v3 v, double out[2]) {
    out[0] = v3_dot(m->e[0], v);
    out[1] = v3_dot(m->e[1], v);
}

double model_curvature(const model *m, const double a[2], const double b[2]) {
    return a[0] * (m->xx * b[0] + m->xy * b[1]) + a[1] * (m->xy * b[0] + m->yy * b[1]);
}

void model_bound(model *m) {
    double mean = 0.5 * (m->xx + m->yy), half = 0.5 * (m->xx - m->yy), r = hypot(half, m->xy);
    double high = fmin(fmax(mean + r, m->softest), m->stiffest), low = fmin(fmax(mean - r, m->softest), m->stiffest);
    double c = r > 0 ? half / r : 1, s = r > 0 ? m->xy / r : 0; /* cos and sin of twice the angle */
    m->xx = 0.5 * (high + low) + 0.5 * (high - low) * c;
    m->yy = 0.5 * (high + low) - 0.5 * (high - low) * c;
    m->xy = 0.5 * (high - low) * s;
}

double model_curvature_ratio(const model *m) {
    double mean = 0.5 * (m->xx + m->yy), r = hypot(0.5 * (m->xx - m->yy), m->xy);
    return (mean - r) / (mean + r);
}

model model_create(const patch *p) {
    v3 edge = v3_sub(p->corner[1].t, p->corner[0].t);
    model m = {.softest = 1e-4 / p->size, .stiffest = 1e4 / p->size};
    m.e[0] = v3_scale(1 / v3_norm(edge), edge);
    m.e[1] = v3_cross(p->normal, m.e[0]);
    double a[2], b[2], ya[2], yb[2];
    v3 u = place_uphill(&p->corner[0]);
    model_components(&m, edge, a);
    model_components(&m, v3_sub(p->corner[2].t, p->corner[0].t), b);
    model_components(&m, v3_sub(place_uphill(&p->corner[1]), u), ya);
    model_components(&m, v3_sub(place_uphill(&p->corner[2]), u), yb);
    double det = a[0] * b[1] - a[1] * b[0];
    if (fabs(det) > 1e-12 * p->size * p->size) {
        m.xx = (ya[0] * b[1] - yb[0] * a[1]) / det;
        m.yy = (yb[1] * a[0] - ya[1] * b[0]) / det;
        m.xy = 0.5 * ((yb[0] * a[0] - ya[0] * b[0]) + (ya[1] * b[1] - yb[1] * a[1])) / det;
    }
    model_bound(&m);
    return m;
}

void model_learn(model *m, const double s[2], const double turned[2]) {
    double y[2] = {turned[0], turned[1]};
    double Bs[2] = {m->xx * s[0] + m->xy * s[1], m->xy * s[0] + m->yy * s[1]};
    double sBs = s[0] * Bs[0] + s[1] * Bs[1], sy = s[0] * y[0] + s[1] * y[1];
    if (!(sBs > 0)) {
        return;
    }
    double w = sy < 0.1 * sBs ? 0.9 * sBs / (sBs - sy) : 1;
    for (int k = 0; k < 2; k++) {
        y[k] = w * y[k] + (1 - w) * Bs[k];
    }
    sy = s[0] * y[0] + s[1] * y[1];
    m->xx += y[0] * y[0] / sy - Bs[0] * Bs[0] / sBs;
    m->xy += y[0] * y[1] / sy - Bs[0] * Bs[1] / sBs;
    m->yy += y[1] * y[1] / sy - Bs[1] * Bs[1] / sBs;
    model_bound(m);
}
