/* Shapes on triangle meshes that are not convex. */
#include "touch.h"

#include <sim/geometry.h>
#include <stdlib.h>

static sim_geometry *cube_hull(double size) {
    v3 corner[8];
    for (int k = 0; k < 8; k++) {
        corner[k] = v3_scale(size / 2, v3_make(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1));
    }
    return sim_geometry_hull(corner, 8, NULL);
}

enum { KINDS = 6 };
/* One of each convex shape, the height of its lowest point below its origin when it stands turned by R. */
static sim_shape convex_kind_of(int kind, const sim_geometry *hull) {
    switch (kind) {
    case 0:
        return shape_of(SIM_SPHERE, 0.1, 0, 0);
    case 1:
        return shape_of(SIM_BOX, 0.2, 0.3, 0.1);
    case 2:
        return shape_of(SIM_CAPSULE, 0.05, 0.3, 0);
    case 3:
        return shape_of(SIM_CYLINDER, 0.1, 0.2, 0);
    case 4:
        return shape_of(SIM_ELLIPSOID, 0.1, 0.2, 0.15);
    default:
        return shape_with(SIM_CONVEX, hull);
    }
}

static double half_height(const sim_shape *s, m3 R) {
    v3 u = {R.x.z, R.y.z, R.z.z}; /* the world's z, in the shape */
    const double *h = s->size;
    switch (s->type) {
    case SIM_SPHERE:
        return h[0];
    case SIM_BOX:
        return 0.5 * (fabs(u.x) * h[0] + fabs(u.y) * h[1] + fabs(u.z) * h[2]);
    case SIM_CAPSULE:
        return h[0] + 0.5 * h[1] * fabs(u.z);
    case SIM_CYLINDER:
        return h[0] * sqrt(u.x * u.x + u.y * u.y) + 0.5 * h[1] * fabs(u.z);
    case SIM_ELLIPSOID:
        return sqrt(u.x * u.x * h[0] * h[0] + u.y * u.y * h[1] * h[1] + u.z * u.z * h[2] * h[2]);
    default:
        return 0.1 * (fabs(u.x) + fabs(u.y) + fabs(u.z));
    }
}

static m3 pose_kind(random_source *r, int q) {
    m3 R = random_rotation(r);
    if (q % 3 == 1) { /* flat on a side, turned about the vertical */
        R = m3_axis_angle(v3_make(0, 0, 1), random_uniform(r, 0, 6));
    } else if (q % 3 == 2) {
        R = m3_product(m3_axis_angle(v3_make(0, 0, 1), random_uniform(r, 0, 6)),
                       m3_axis_angle(v3_make(1, 0, 0), 0.5 * M_PI));
    }
    return R;
}

/* On a flat floor of small triangles every normal is vertical and the least gap is that of a plane. */
static void flat_floor(const sim_shape *floor, v3 at_floor, uint64_t seed) {
    random_source r = {seed};
    sim_geometry *hull = cube_hull(0.2);
    for (int kind = 0; kind < KINDS; kind++) {
        sim_shape s = convex_kind_of(kind, hull);
        for (int q = 0; q < 300; q++) {
            m3 R = pose_kind(&r, q);
            double gap = q % 5 == 0 ? random_uniform(&r, 0, 0.01) : -exp(random_uniform(&r, log(1e-9), log(0.02)));
            pose X = {R, {random_uniform(&r, -1, 1), random_uniform(&r, -1, 1), half_height(&s, R) + gap}};
            X.p = v3_add(X.p, at_floor);
            touch t = touching(&s, X, floor, (pose){m3_identity(), at_floor}, 0.011);
            cr_assert(t.count > 0 && t.count <= 4, "kind %d pose %d: %d points at gap %g", kind, q, t.count, gap);
            cr_assert_float_eq(least_gap(&t), gap, 1e-12 + 1e-15 * v3_norm(at_floor),
                               "kind %d pose %d: %.15g not %.15g", kind, q, least_gap(&t), gap);
            for (int k = 0; k < t.count; k++) {
                v3 n = t.point[k].normal;
                cr_assert(fabs(n.x) < 1e-14 && fabs(n.y) < 1e-14 && n.z > 0, "kind %d pose %d: (%g, %g, %g)", kind, q,
                          n.x, n.y, n.z);
            }
        }
    }
    sim_geometry_free(hull);
}

Test(mesh_pairs, normals_on_a_flat_floor_of_triangles_are_vertical_everywhere) {
    int cells[3] = {7, 40, 150};
    for (int k = 0; k < 3; k++) {
        sim_geometry *g = soup_geometry(soup_plane(3, 3, cells[k], cells[k] + 1));
        sim_shape floor = shape_with(SIM_MESH, g);
        flat_floor(&floor, v3_make(0, 0, 0), 11 + (uint64_t)k);
        sim_geometry_free(g);
    }
}

Test(mesh_pairs, far_from_the_origin_nothing_changes) {
    sim_geometry *g = soup_geometry(soup_plane(3, 3, 40, 41));
    sim_shape floor = shape_with(SIM_MESH, g);
    flat_floor(&floor, v3_make(1e4, -1e4, 3e3), 5);
    sim_geometry_free(g);
}

Test(mesh_pairs, a_flat_height_field_is_a_floor) {
    double *zero = calloc(90 * 70, sizeof *zero), size[2] = {3, 3};
    sim_geometry *g = sim_geometry_heights(90, 70, size, zero, NULL);
    sim_shape floor = shape_with(SIM_HEIGHT_FIELD, g);
    flat_floor(&floor, v3_make(0, 0, 0), 21);
    sim_geometry_free(g);
    free(zero);
}
