/* Nearest points of two segments, and of two convex cores once the normal is known.
 *
 *     least over |s| <= s_max, |t| <= t_max of |p + s d - q - t e|,   d and e unit vectors
 *
 * The minimum is at an end of a segment or inside both: five candidates, of which the nearest counts.  Cores: the parts
 * that face along the normal are points, or two edges, which are segments.
 * Reference: Lumelsky 1985; Ericson 2005, section 5.1.9, which has the same cases.     Cost: some 150 flops. */
#include "collide/primitive/primitives.h"

static const double MIN_NEARER_RATIO =
    1 - 1e-14; /* of two equally near pairs the first: it is surer of its direction */
static const double RIGHT_ANGLE_ROUNDING_RAD =
    1e-9; /* rad: an edge that close to being at right angles to the normal is */

void segments_nearest(v3 p, v3 d, double s_most, v3 q, v3 e, double t_most, double *s, double *t) {
    v3 w = v3_sub(q, p), across = v3_cross(d, e);
    double D = v3_dot(across, across), best = HUGE_VAL;
    for (int k = 0; k < 5; k++) { /* the ends of each, then within both */
        double a, b;
        if (k < 2) {
            a = k ? s_most : -s_most;
            b = fmin(fmax(v3_dot(v3_axpy(v3_neg(w), a, d), e), -t_most), t_most);
        } else if (k < 4) {
            b = k == 3 ? t_most : -t_most;
            a = fmin(fmax(v3_dot(v3_axpy(w, b, e), d), -s_most), s_most);
        } else if (D > 1e-28) {
            a = fmin(fmax(v3_dot(v3_cross(w, e), across) / D, -s_most), s_most);
            b = fmin(fmax(v3_dot(v3_axpy(v3_neg(w), a, d), e), -t_most), t_most);
        } else {
            break;
        }
        v3 gap = v3_sub(v3_scale(a, d), v3_axpy(w, b, e));
        double square = v3_dot(gap, gap);
        if (square < MIN_NEARER_RATIO * best) {
            best = square;
            *s = a;
            *t = b;
        }
    }
}

void facing_points(const convex *a, const convex *b, const pose *X, convex_gap *gap) {
    double core = gap->gap + a->radius + b->radius, s = 0, t = 0;
    face fa, fb;
    convex_face(a, v3_neg(gap->normal), RIGHT_ANGLE_ROUNDING_RAD, INFINITY, &fa);
    convex_face(b, m3_transposed_times(X->R, gap->normal), RIGHT_ANGLE_ROUNDING_RAD, INFINITY, &fb);
    bool edges = fa.count == 2 && fb.count == 2 && (a->kind != CONVEX_SEGMENT || a->half[2] > 0) &&
                 (b->kind != CONVEX_SEGMENT || b->half[2] > 0);
    v3 on_a = fa.corner[0], on_b = pose_point(*X, fb.corner[0]);
    if (edges) {
        v3 d = v3_scale(0.5, v3_sub(fa.corner[1], on_a)),
           e = v3_scale(0.5, m3_times(X->R, v3_sub(fb.corner[1], fb.corner[0])));
        v3 p = v3_add(on_a, d), q = v3_add(on_b, e); /* middles */
        double half_d = v3_norm(d), half_e = v3_norm(e);
        d = v3_scale(1 / half_d, d);
        e = v3_scale(1 / half_e, e);
        segments_nearest(p, d, half_d, q, e, half_e, &s, &t);
        on_a = v3_axpy(p, s, d);
        on_b = v3_axpy(q, t, e);
    } else if (fb.count == 1) {
        on_a = v3_axpy(on_b, core, gap->normal);
    } else {
        on_b = v3_axpy(on_a, -core, gap->normal);
    }
    gap->on_a = v3_axpy(on_a, -a->radius, gap->normal);
    gap->on_b = v3_axpy(on_b, b->radius, gap->normal);
}
