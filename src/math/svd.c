/* One-sided Jacobi rotations of a 3x3 matrix: small singular values keep their digits.
 *
 *     F G1 G2 ... = C with orthogonal columns,   V = G1 G2 ...,   s_k = |c_k|,   u_k = c_k / s_k
 *
 *     G: the rotation of two columns after which c_p . c_q = 0
 *
 * Reference: Golub, Van Loan 2013, section 8.6.3 (Hestenes).  Different: u_3 = u_1 x u_2, so U and V are rotations and
 * s_3 carries the sign of det F (Irving, Teran, Fedkiw 2004, section 4).  Cost: some four sweeps of three rotations. */
#include "math/svd.h"

enum { MAX_SWEEPS = 30 };
static const double MAX_COSINE = 1e-16; /* between two columns */

/* Makes two columns orthogonal; false: they were. */
static bool rotate_columns(v3 *cp, v3 *cq, v3 *vp, v3 *vq) {
    double a = v3_dot(*cp, *cp), b = v3_dot(*cq, *cq), c = v3_dot(*cp, *cq);
    if (fabs(c) <= MAX_COSINE * sqrt(a * b)) {
        return false;
    }
    double theta = (b - a) / (2 * c);
    double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
    double cosine = 1 / sqrt(t * t + 1), sine = t * cosine;
    v3 old = *cp, turned = *vp;
    *cp = v3_axpy(v3_scale(cosine, old), -sine, *cq);
    *cq = v3_axpy(v3_scale(cosine, *cq), sine, old);
    *vp = v3_axpy(v3_scale(cosine, turned), -sine, *vq);
    *vq = v3_axpy(v3_scale(cosine, *vq), sine, turned);
    return true;
}

/* The longer column first; a quarter turn, which keeps the determinants. */
static void order_columns(v3 *cp, v3 *cq, v3 *vp, v3 *vq) {
    if (v3_dot(*cp, *cp) < v3_dot(*cq, *cq)) {
        v3 c = *cp, v = *vp;
        *cp = *cq, *cq = v3_neg(c);
        *vp = *vq, *vq = v3_neg(v);
    }
}

void svd_rotations(m3 F, m3 *U, double s[3], m3 *V) {
    /* orthogonal columns, the longest first */
    v3 c[3] = {F.x, F.y, F.z}, v[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    bool turned = true;
    for (int sweep = 0; sweep < MAX_SWEEPS && turned; sweep++) {
        turned = false;
        for (int p = 0; p < 2; p++) {
            for (int q = p + 1; q < 3; q++) {
                turned |= rotate_columns(&c[p], &c[q], &v[p], &v[q]);
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        int p = k == 1;
        order_columns(&c[p], &c[p + 1], &v[p], &v[p + 1]);
    }
    /* directions; any where a column vanishes */
    double length = v3_norm(c[0]);
    v3 u0 = length > 0 ? v3_scale(1 / length, c[0]) : (v3){1, 0, 0};
    v3 rest = v3_axpy(c[1], -v3_dot(c[1], u0), u0);
    double width = v3_norm(rest);
    v3 u1 = width > 0 ? v3_scale(1 / width, rest) : v3_perpendicular(u0);
    v3 u2 = v3_cross(u0, u1);
    *U = (m3){u0, u1, u2};
    *V = (m3){v[0], v[1], v[2]};
    s[0] = length;
    s[1] = v3_dot(u1, c[1]);
    s[2] = v3_dot(u2, c[2]);
}
