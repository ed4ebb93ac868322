/* Convex polygons: sections of tetrahedra, clipping by planes, area and centroid.
 *
 * Clipping by I. Sutherland, G. Hodgman, Reentrant polygon clipping, Communications of the ACM 17(1), 1974.  Area and
 * centroid are sums over the triangles of a fan about the first corner.  Cost: some 100 flops a cut. */
#include "collide/pressure/polygon.h"

/* The point between a and b where a linear function with the values f_a, f_b of opposite sign is 0. */
static v3 zero_between(v3 a, double f_a, v3 b, double f_b) { return v3_axpy(a, f_a / (f_a - f_b), v3_sub(b, a)); }

void polygon_of_section(const v3 x[4], const double f[4], polygon *out) {
    int above[4], below[4], nabove = 0, nbelow = 0;
    for (int k = 0; k < 4; k++) {
        if (f[k] >= 0) {
            above[nabove++] = k;
        } else {
            below[nbelow++] = k;
        }
    }
    out->count = 0;
    if (nabove == 2) {
        /* the four edges between the sides, round about */
        static const int a[4] = {0, 0, 1, 1}, b[4] = {0, 1, 1, 0};
        for (int k = 0; k < 4; k++) {
            int i = above[a[k]], j = below[b[k]];
            out->corner[out->count++] = zero_between(x[i], f[i], x[j], f[j]);
        }
    } else if (nabove == 1 || nabove == 3) {
        int alone = nabove == 1 ? above[0] : below[0];
        const int *other = nabove == 1 ? below : above;
        for (int k = 0; k < 3; k++) {
            out->corner[out->count++] = zero_between(x[alone], f[alone], x[other[k]], f[other[k]]);
        }
    }
}

void polygon_clip(polygon *p, v3 n, double d) {
    /* corners inside or out */
    double out[MAX_POLYGON_CORNERS];
    bool any_out = false, any_in = false;
    for (int k = 0; k < p->count; k++) {
        out[k] = v3_dot(n, p->corner[k]) - d;
        any_out |= out[k] > 0;
        any_in |= out[k] <= 0;
    }
    if (!any_out || !any_in) {
        p->count = any_in ? p->count : 0;
        return;
    }
    /* edges, each with its corner if that is inside, and its crossing */
    polygon q = {.count = 0};
    for (int k = 0; k < p->count; k++) {
        int next = k + 1 < p->count ? k + 1 : 0;
        if (out[k] <= 0 && q.count < MAX_POLYGON_CORNERS) {
            q.corner[q.count++] = p->corner[k];
        }
        if ((out[k] <= 0) != (out[next] <= 0) && q.count < MAX_POLYGON_CORNERS) {
            q.corner[q.count++] = zero_between(p->corner[k], out[k], p->corner[next], out[next]);
        }
    }
    *p = q;
}

void polygon_clip_to_tet(polygon *p, const v3 x[4]) {
    /* faces, anticlockwise from outside */
    static const int face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    for (int f = 0; f < 4 && p->count; f++) {
        v3 a = x[face[f][0]];
        v3 n = v3_cross(v3_sub(x[face[f][1]], a), v3_sub(x[face[f][2]], a));
        polygon_clip(p, n, v3_dot(n, a));
    }
}

double polygon_area(const polygon *p, v3 *centroid) {
    v3 sum = {0, 0, 0}, first = p->corner[0], whole = {0, 0, 0};
    for (int k = 1; k + 1 < p->count; k++) {
        whole = v3_add(whole, v3_cross(v3_sub(p->corner[k], first), v3_sub(p->corner[k + 1], first)));
    }
    double twice = v3_norm(whole);
    if (!(twice > 0)) {
        *centroid = first;
        return 0;
    }
    for (int k = 1; k + 1 < p->count; k++) {
        v3 b = v3_sub(p->corner[k], first), c = v3_sub(p->corner[k + 1], first);
        double part = v3_dot(v3_cross(b, c), whole) / (twice * twice);
        sum = v3_axpy(sum, part / 3, v3_add(b, c));
    }
    *centroid = v3_add(first, sum);
    return twice / 2;
}
