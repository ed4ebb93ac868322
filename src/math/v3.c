/* Quaternion of a rotation matrix R; direction of a vector without overflow; unit vector perpendicular to another.
 *
 *     4 q_k q = (1 + R_xx + R_yy + R_zz,  R_zy - R_yz,  R_xz - R_zx,  R_yx - R_xy)     for k = w, x to z alike
 *
 * k is the greatest component of q = (w, x, y, z), so that rounding stays small at every angle.  The right side is
 * normalised, and w >= 0.
 *
 * Reference: Shepperd 1978. */
#include "math/v3.h"

quat quat_from_matrix(m3 R) {
    double w = R.x.x + R.y.y + R.z.z;
    double x = R.x.x - R.y.y - R.z.z, y = R.y.y - R.x.x - R.z.z, z = R.z.z - R.x.x - R.y.y;
    quat q;
    if (w >= x && w >= y && w >= z) {
        q = (quat){w + 1, R.y.z - R.z.y, R.z.x - R.x.z, R.x.y - R.y.x};
    } else if (x >= y && x >= z) {
        q = (quat){R.y.z - R.z.y, x + 1, R.x.y + R.y.x, R.x.z + R.z.x};
    } else if (y >= z) {
        q = (quat){R.z.x - R.x.z, R.x.y + R.y.x, y + 1, R.y.z + R.z.y};
    } else {
        q = (quat){R.x.y - R.y.x, R.x.z + R.z.x, R.y.z + R.z.y, z + 1};
    }
    q = quat_normalised(q);
    return q.w < 0 ? (quat){-q.w, -q.x, -q.y, -q.z} : q;
}

double v3_direction(v3 *a) {
    double largest = fmax(fabs(a->x), fmax(fabs(a->y), fabs(a->z)));
    if (!v3_finite(*a) || largest == 0) {
        return 0;
    }
    if (!(largest > 1e-150 && largest < 1e150)) {
        *a = v3_make(a->x / largest, a->y / largest, a->z / largest);
    }
    return v3_norm(*a);
}

v3 v3_perpendicular(v3 a) {
    double x = fabs(a.x), y = fabs(a.y), z = fabs(a.z);
    v3 least = x <= y && x <= z ? v3_make(1, 0, 0) : y <= z ? v3_make(0, 1, 0) : v3_make(0, 0, 1);
    v3 b = v3_cross(a, least);
    return v3_scale(1 / v3_norm(b), b);
}
