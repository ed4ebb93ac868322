/* Where do two capsules touch?
 *
 * Their axes are segments; gap = distance - r_a - r_b, along the line between the nearest points. Where the axes cross, the
 * difference of the two is a flat parallelogram about the origin, and the way out is across it.  Capsules that lie along
 * each other touch twice: at each end of what they share, with the gap and normal of that end. */
#include "collide/primitives.h"

static const double FLAT = 1e-13;       /* of the size: nearer axes cross, their difference is rounding */
static const double NEARER = 1 - 1e-14; /* of two equally near, the one that is sure of its direction */
static const double LOST = 1e-13; /* of the size: crossing axes are nearer between the ends by more than rounding */
static const double SAME = 1e-6;  /* of the size: places that are one */
static const double ASKEW = 1e-3; /* sine of the angle above which the common normal is well determined */
static const double AGREE = 0.98; /* cosine: normals of one manifold */

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
        if (square < NEARER * best) {
            best = square;
            *s = a;
            *t = b;
        }
    }
}

typedef struct axes {
    const pair *p;
    manifold *out;
    v3 e; /* B's axis; A's is z */
    double a, b, ra, rb, size;
} axes;

/* The distance of the axes' points at s and t, and the unit vector from B's to A's; `across` where they coincide, or where
 * both axes go on and are well apart in direction. */
static double between(const axes *x, double s, double t, v3 across, int askew, v3 *normal) {
    v3 d = v3_sub(v3_make(0, 0, s), v3_axpy(x->p->X_ab.p, t, x->e));
    int a_goes_on = fabs(s) < x->a, b_goes_on = fabs(t) < x->b;
    if (a_goes_on && b_goes_on && askew) {
        *normal = across;
        return fabs(v3_dot(across, x->p->X_ab.p));
    }
    if (a_goes_on) { /* at right angles to an axis that goes on */
        d.z = 0;
    }
    if (b_goes_on) {
        d = v3_axpy(d, -v3_dot(d, x->e), x->e);
    }
    double length = v3_norm(d);
    *normal = length > FLAT * x->size ? v3_scale(1 / length, d) : across;
    return length;
}

static void touch(const axes *x, double s, v3 normal, double distance, uint32_t of_a, uint32_t of_b) {
    v3 on_a = v3_axpy(v3_make(0, 0, s), -x->ra, normal);
    add_contact(x->p, x->out, on_a, normal, distance - x->ra - x->rb, feature_pair(of_a, of_b));
}

/* Each end, and what of the other capsule lies beside it; returns the least distance. Two ends side by side are A's. */
static double ends(const axes *x, v3 across, v3 n) {
    v3 centre = x->p->X_ab.p;
    double least = HUGE_VAL, same = SAME * x->size;
    for (uint32_t k = 0; k < 4; k++) {
        double s, t;
        if (k < 2) {
            s = k ? x->a : -x->a;
            t = v3_dot(x->e, v3_sub(v3_make(0, 0, s), centre));
            if (fabs(t) > x->b + same) {
                continue;
            }
            t = fmin(fmax(t, -x->b), x->b);
        } else {
            t = k == 3 ? x->b : -x->b;
            s = centre.z + t * x->e.z;
            if (fabs(s) >= x->a - same) {
                continue;
            }
        }
        v3 m;
        double distance = between(x, s, t, across, 0, &m);
        if (v3_dot(m, n) > AGREE) {
            least = fmin(least, distance);
            touch(x, s, m, distance, k < 2 ? 4 * k : 1, k < 2 ? 1 : 4 * (k - 2));
        }
    }
    return least;
}

void capsule_capsule(const pair *p, manifold *out) {
    const double *sa = p->a->size, *sb = p->b->size;
    v3 e = p->X_ab.R.z, centre = p->X_ab.p, z = {0, 0, 1}, n;
    axes x = {p, out, e, sa[1] / 2, sb[1] / 2, sa[0], sb[0], 0};
    x.size = x.a + x.b + x.ra + x.rb;
    if (v3_norm(centre) > x.size + p->margin) {
        return;
    }
    double s = 0, t = 0;
    segments_nearest(v3_make(0, 0, 0), z, x.a, centre, e, x.b, &s, &t);
    v3 across = v3_cross(z, e);
    double sine = v3_norm(across);
    across = sine > 1e-14 ? v3_scale((v3_dot(across, centre) > 0 ? -1 : 1) / sine, across) : v3_make(1, 0, 0);
    double distance = between(&x, s, t, across, sine > ASKEW, &n);
    if (distance <= p->margin + x.ra + x.rb && distance < ends(&x, across, n) - LOST * x.size) {
        touch(&x, s, n, distance, fabs(s) < x.a ? 1 : s < 0 ? 0 : 4, fabs(t) < x.b ? 1 : t < 0 ? 0 : 4);
    }
}
