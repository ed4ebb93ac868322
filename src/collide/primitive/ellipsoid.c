/* Distance of a point from an ellipsoid.
 *
 * The nearest point x of the surface has y - x along its normal: with semi-axes e_i, x_i = e_i^2 y_i / (e_i^2 + t) for
 * the greatest t that puts x on the surface. In units of the least semi-axis e_0, with r_i = (e_i / e_0)^2, z_i = y_i /
 * e_i and u = 1 + t / e_0^2 > 0, this is the one positive root of
 *     G(u) = sum_i (r_i z_i / (u + r_i - 1))^2 = 1,
 * which lies between z_0 and the sum of the r_i z_i and keeps all its digits in u, however close y is to the plane
 * across e_0. In that plane G may stay under 1 for all u > 0: then x stands off the plane, as far as the surface wants
 * it to. D. Eberly, Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid (2013), sections 2 and 3. */
#include "collide/primitive/primitives.h"

enum { MAX_STEPS = 200 }; /* halving alone needs a hundred and some */

/* G(u), and its slope. */
static double secular_value(const double r[3], const double z[3], double u, double *slope) {
    double sum = 0;
    *slope = 0;
    for (int k = 0; k < 3; k++) {
        if (z[k] > 0) {
            double q = r[k] * z[k] / (u + (r[k] - 1));
            sum += q * q;
            *slope -= 2 * q * q / (u + (r[k] - 1));
        }
    }
    return sum;
}

/* Newton on 1 / sqrt(G), which is nearly straight, held between two bounds. */
static double secular_root(const double r[3], const double z[3]) {
    double low = z[0], high = r[0] * z[0] + r[1] * z[1] + r[2] * z[2], u = low > 0 ? low : high;
    for (int k = 0; k < MAX_STEPS && low < high; k++) {
        double slope, G = secular_value(r, z, u, &slope);
        if (G > 1) {
            low = u;
        } else {
            high = u;
        }
        double next = slope < 0 ? u - 2 * G * (sqrt(G) - 1) / slope : low;
        if (fabs(next - u) <= 4e-16 * u) {
            return next;
        }
        if (!(next > low && next < high)) {
            next = low > 0 ? sqrt(low) * sqrt(high) : 0.5 * high;
            if (next <= low || next >= high) {
                return u;
            }
        }
        u = next;
    }
    return u;
}

/* Nearest point to y, all of it in the octant of positive numbers, e[0] the least. */
static void nearest_on_ellipsoid(const double e[3], const double y[3], double x[3]) {
    double r[3], z[3], least = e[0];
    for (int k = 0; k < 3; k++) {
        r[k] = e[k] / least * (e[k] / least);
        z[k] = y[k] / e[k];
    }
    if (!(z[0] > 0)) { /* in the plane: does it stay there? */
        double rest = 1;
        x[0] = x[1] = x[2] = 0;
        for (int k = 1; k < 3; k++) {
            double q = y[k] > 0 ? r[k] * z[k] / (r[k] - 1) : 0; /* infinite on an axis as short as the least */
            x[k] = y[k] > 0 && r[k] > 1 ? e[k] * q : 0;
            rest -= q * q;
        }
        if (rest > 0) {
            x[0] = least * sqrt(rest);
            return;
        }
    }
    double u = secular_root(r, z);
    for (int k = 0; k < 3; k++) {
        x[k] = y[k] > 0 ? r[k] * y[k] / (u + (r[k] - 1)) : 0;
    }
}

double ellipsoid_distance(const double semi[3], v3 point, v3 *normal) {
    /* axes by length */
    const double p[3] = {point.x, point.y, point.z};
    int order[3] = {0, 1, 2};
    for (int i = 1; i < 3; i++) {
        for (int j = i; j > 0 && semi[order[j]] < semi[order[j - 1]]; j--) {
            int swap = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swap;
        }
    }
    /* the octant of positive coordinates */
    double e[3], y[3], x[3], n[3], length = 0, distance = 0;
    for (int k = 0; k < 3; k++) {
        e[k] = semi[order[k]];
        y[k] = fabs(p[order[k]]);
    }
    /* nearest point and normal there */
    nearest_on_ellipsoid(e, y, x);
    for (int k = 0; k < 3; k++) {
        n[k] = x[k] / e[k] * (e[0] / e[k]);
        length += n[k] * n[k];
    }
    /* back to the given axes and signs */
    double out[3];
    for (int k = 0; k < 3; k++) {
        n[k] /= sqrt(length);
        distance += n[k] * (y[k] - x[k]);
        out[order[k]] = p[order[k]] < 0 ? -n[k] : n[k];
    }
    *normal = v3_make(out[0], out[1], out[2]);
    return distance;
}
