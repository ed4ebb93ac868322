/* Support functions of convex shapes: a core with a ball of a radius swept over it (Minkowski sum).
 *
 *     shape = core + ball(r);   support x(d): the point of the core with the greatest d . x
 *     ball, capsule       point, segment; r is their radius
 *     box                 x_i = sign(d_i) h_i
 *     cylinder            x = (r_c d_xy / |d_xy|, sign(d_z) h_z)
 *     ellipsoid           x_i = a_i^2 d_i / |diag(a) d|
 *     hull                hill climbing from neighbour to neighbour, from a start vertex
 *
 * Reference: van den Bergen 2003, "Collision Detection in Interactive 3D Environments".
 * Cost: constant; of a hull about the square root of its vertices. */
#include "collide/convex/minkowski.h"

static convex make_core(convex_kind kind, double x, double y, double z, double radius) {
    return (convex){.kind = kind,
                    .half = {x, y, z},
                    .radius = radius,
                    .extent = v3_norm(v3_make(x, y, z)) + radius,
                    .least = 2 * (fmin(x, fmin(y, z)) + radius)};
}

/* Without a look at the corners: the extent from the bounds, the width from the second moments C of the volume about
 * its centre.  det C / (sum of the principal 2x2 minors) lies between a third of C's least eigenvalue and all of it,
 * and a slab of width w has the eigenvalue w^2 / 12. */
static convex core_of_hull(const sim_geometry *g) {
    v3 c = g->solid.com;
    sym3 J = g->solid.moment,
         C = {(J.yy + J.zz - J.xx) / 2, (J.xx + J.zz - J.yy) / 2, (J.xx + J.yy - J.zz) / 2, -J.xy, -J.xz, -J.yz};
    double yz = C.yy * C.zz - C.yz * C.yz, xz = C.xx * C.zz - C.xz * C.xz, xy = C.xx * C.yy - C.xy * C.xy;
    double det = C.xx * yz - C.xy * (C.xy * C.zz - C.yz * C.xz) + C.xz * (C.xy * C.yz - C.yy * C.xz);
    double square = det > 0 ? 12 * det / ((xy + xz + yz) * g->solid.mass) : 0;
    v3 far = {fmax(g->high.x - c.x, c.x - g->low.x), fmax(g->high.y - c.y, c.y - g->low.y),
              fmax(g->high.z - c.z, c.z - g->low.z)};
    return (convex){.kind = CONVEX_HULL,
                    .hull = g->hull,
                    .centre = c,
                    .extent = v3_norm(far),
                    .least = square > 0 ? sqrt(square) : 0};
}

/* Core and radius of a shape: a sphere is a point, a capsule a segment, with a radius about it. */
bool convex_of_shape(const sim_shape *shape, convex *out) {
    const double *s = shape->size;
    switch (shape->type) {
    case SIM_SPHERE:
        *out = make_core(CONVEX_POINT, 0, 0, 0, s[0]);
        return true;
    case SIM_BOX:
        *out = make_core(CONVEX_BOX, s[0] / 2, s[1] / 2, s[2] / 2, 0);
        return true;
    case SIM_CAPSULE:
        *out = make_core(CONVEX_SEGMENT, 0, 0, s[1] / 2, s[0]);
        return true;
    case SIM_CYLINDER:
        *out = make_core(CONVEX_CYLINDER, s[0], s[0], s[1] / 2, 0);
        out->extent = hypot(s[0], s[1] / 2);
        return true;
    case SIM_ELLIPSOID:
        *out = make_core(CONVEX_ELLIPSOID, s[0], s[1], s[2], 0);
        out->extent = fmax(s[0], fmax(s[1], s[2]));
        return true;
    case SIM_CONVEX:
    case SIM_MESH:
        if (shape->geometry->hull) {
            *out = core_of_hull(shape->geometry);
            return true;
        }
        return false;
    case SIM_HALF_SPACE:
    case SIM_HEIGHT_FIELD:
    case SIM_SDF:
    case SIM_SHAPE_TYPES:
        break;
    }
    return false;
}

convex convex_triangle(v3 a, v3 b, v3 c) {
    convex out = {.kind = CONVEX_TRIANGLE, .corner = {a, b, c}, .centre = v3_scale(1.0 / 3, v3_add(a, v3_add(b, c)))};
    double longest = 0;
    for (int k = 0; k < 3; k++) {
        out.extent = fmax(out.extent, v3_norm(v3_sub(out.corner[k], out.centre)));
        longest = fmax(longest, v3_norm(v3_sub(out.corner[(k + 1) % 3], out.corner[k])));
    }
    v3 normal = v3_cross(v3_sub(b, a), v3_sub(c, a));
    out.least = longest > 0 ? v3_norm(normal) / longest : 0; /* the least height: a triangle has no thickness */
    return out;
}

/* From neighbour to neighbour as long as it leads farther. */
static v3 hull_support(const sim_hull *hull, v3 d, uint32_t *vertex) {
    int best = (int)*vertex;
    double far = v3_dot(d, hull->vertex[best]);
    for (int from = -1; from != best;) {
        from = best;
        for (int k = hull->ring_start[from], end = hull->ring_start[from + 1]; k < end; k++) {
            double s = v3_dot(d, hull->vertex[hull->ring[k]]);
            if (s > far) {
                far = s;
                best = hull->ring[k];
            }
        }
    }
    *vertex = (uint32_t)best;
    return hull->vertex[best];
}

static v3 cylinder_support(const double half[3], v3 d) {
    double across = sqrt(d.x * d.x + d.y * d.y), s = across > DBL_MIN ? half[0] / across : 0;
    return v3_make(s * d.x, s * d.y, copysign(half[2], d.z));
}

static v3 ellipsoid_support(const double half[3], v3 d) {
    v3 e = {half[0] * d.x, half[1] * d.y, half[2] * d.z};
    double s = 1 / v3_norm(e);
    return v3_make(s * half[0] * e.x, s * half[1] * e.y, s * half[2] * e.z);
}

/* Farthest point of the core along d. */
static inline v3 find_support(const convex *c, v3 d, uint32_t *vertex) {
    const double *h = c->half;
    switch (c->kind) {
    case CONVEX_POINT:
        return v3_make(0, 0, 0);
    case CONVEX_SEGMENT:
        *vertex = d.z > 0;
        return v3_make(0, 0, copysign(h[2], d.z));
    case CONVEX_BOX:
        *vertex = (uint32_t)((d.x > 0) | (d.y > 0) << 1 | (d.z > 0) << 2);
        return v3_make(d.x > 0 ? h[0] : -h[0], d.y > 0 ? h[1] : -h[1], d.z > 0 ? h[2] : -h[2]);
    case CONVEX_CYLINDER:
        return cylinder_support(h, d);
    case CONVEX_ELLIPSOID:
        return ellipsoid_support(h, d);
    case CONVEX_HULL:
        return hull_support(c->hull, d, vertex);
    default: {
        double s[3] = {v3_dot(d, c->corner[0]), v3_dot(d, c->corner[1]), v3_dot(d, c->corner[2])};
        *vertex = s[0] >= s[1] && s[0] >= s[2] ? 0 : s[1] >= s[2] ? 1 : 2;
        return c->corner[*vertex];
    }
    }
}

v3 convex_support_from(const convex *c, v3 d, uint32_t *vertex) { return find_support(c, d, vertex); }

v3 convex_support(const convex *c, v3 d, uint32_t *vertex) {
    *vertex = 0;
    return find_support(c, d, vertex);
}

/* Here for its speed: one call for both. */
mink_point mink_support(const minkowski *m, v3 u) {
    mink_point p;
    p.vertex_a = m->start ? m->start[0] : 0;
    p.vertex_b = m->start ? m->start[1] : 0;
    p.a = find_support(m->a, u, &p.vertex_a);
    p.d = v3_sub(p.a, pose_point(m->X_ab, find_support(m->b, v3_neg(m3_transposed_times(m->X_ab.R, u)), &p.vertex_b)));
    if (m->start) {
        m->start[0] = p.vertex_a;
        m->start[1] = p.vertex_b;
    }
    return p;
}

void convex_bounds(const convex *a, const pose *X, double grow, v3 *low, v3 *high) {
    double side[3][2];
    uint32_t vertex;
    const v3 axis[3] = {X->R.x, X->R.y, X->R.z};
    for (int k = 0; k < 3; k++) {
        v3 far = v3_sub(convex_support(a, axis[k], &vertex), X->p);
        v3 near = v3_sub(convex_support(a, v3_neg(axis[k]), &vertex), X->p);
        side[k][0] = v3_dot(axis[k], near) - a->radius - grow;
        side[k][1] = v3_dot(axis[k], far) + a->radius + grow;
    }
    *low = v3_make(side[0][0], side[1][0], side[2][0]);
    *high = v3_make(side[0][1], side[1][1], side[2][1]);
}
