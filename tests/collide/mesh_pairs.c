/* Shapes on triangle meshes that are not convex. */
#include "support/share.h"
#include "touch.h"

#include "collide/convex/convex.h"
#include "geometry/mesh/bvh.h"

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

/* A groove of opening angle pi - 2 slope along y, cut in small triangles. */
static sim_geometry *groove(double slope, int cells) {
    soup s = soup_plane(2, 2, 2 * cells, cells);
    for (int k = 0; k < s.nvertex; k++) {
        s.vertex[k].z = tan(slope) * fabs(s.vertex[k].x);
    }
    return soup_geometry(s);
}

Test(mesh_pairs, a_ball_in_a_groove_touches_both_sides_exactly) {
    double r = 0.1;
    for (int k = 1; k < 8; k++) {
        double slope = 0.15 * k;
        sim_geometry *g = groove(slope, 9);
        sim_shape mesh = shape_with(SIM_MESH, g), ball = shape_of(SIM_SPHERE, r, 0, 0);
        for (int q = 0; q < 20; q++) {
            double gap = 0.001 * (q - 10), x = 0.002 * (q % 3 - 1);
            v3 c = {x, 0.0371 * q - 0.4, (r + gap) / cos(slope)};
            touch t = touching(&ball, (pose){m3_identity(), c}, &mesh, pose_identity(), 0.02);
            cr_assert_eq(t.count, 2);
            for (int i = 0; i < 2; i++) {
                double side = t.point[i].normal.x > 0 ? -1 : 1; /* the left flank pushes to the right */
                cr_assert_float_eq(t.point[i].normal.z, cos(slope), 1e-14);
                cr_assert_float_eq(t.point[i].gap, c.z * cos(slope) - side * x * sin(slope) - r, 1e-14);
            }
            cr_assert(t.point[0].normal.x * t.point[1].normal.x < 0);
        }
        sim_geometry_free(g);
    }
}

Test(mesh_pairs, a_torus_lets_a_ball_fall_through_its_hole) {
    sim_geometry *g = soup_geometry(soup_torus(1, 0.3, 60, 30));
    sim_shape torus = shape_with(SIM_MESH, g), small = shape_of(SIM_SPHERE, 0.69, 0, 0),
              large = shape_of(SIM_SPHERE, 0.71, 0, 0);
    for (double z = -2; z <= 2; z += 0.05) {
        touch t = touching(&small, at(0, 0, z), &torus, pose_identity(), 0);
        cr_assert_eq(t.count, 0, "at %g", z);
    }
    touch t = touching(&large, at(0, 0, 0), &torus, pose_identity(), 0);
    cr_assert_gt(t.count, 8);
    cr_assert_float_eq(least_gap(&t), -0.01, 2e-3); /* faces of the tessellation lie a little deeper in the tube */
    sim_geometry_free(g);
}

/* A closed curved mesh that is not convex: a ball, and a tetrahedron far away. */
static sim_geometry *ball_and_more(double radius, int level) {
    soup s = soup_sphere(radius, level), other = soup_sphere(radius, 0);
    soup_move(&other, at(100, 0, 0));
    soup_add(&s, other);
    return soup_geometry(s);
}

Test(mesh_pairs, curved_tessellations_converge_with_order_two) {
    random_source r = {9};
    v3 way[200];
    for (int q = 0; q < 200; q++) {
        way[q] = random_unit(&r);
    }
    sim_shape shape[2] = {shape_of(SIM_SPHERE, 0.5, 0, 0), shape_of(SIM_ELLIPSOID, 0.5, 0.5, 0.5)};
    for (int kind = 0; kind < 2; kind++) {
        double error[3] = {0}, turn[3] = {0};
        for (int level = 2; level < 5; level++) {
            sim_geometry *g = ball_and_more(1, level);
            cr_assert(!g->hull);
            sim_shape mesh = shape_with(SIM_MESH, g);
            for (int q = 0; q < 200; q++) {
                double gap = q % 2 ? 0.01 : -0.01;
                pose X = {random_rotation(&r), v3_scale(1.5 + gap, way[q])};
                touch t = touching(&shape[kind], X, &mesh, pose_identity(), 0.3);
                cr_assert_gt(t.count, 0);
                int deepest = 0;
                for (int k = 0; k < t.count; k++) {
                    deepest = t.point[k].gap < t.point[deepest].gap ? k : deepest;
                }
                error[level - 2] = fmax(error[level - 2], fabs(t.point[deepest].gap - gap));
                turn[level - 2] = fmax(turn[level - 2], v3_norm(v3_sub(t.point[deepest].normal, way[q])));
            }
            sim_geometry_free(g);
        }
        cr_assert(error[0] / error[1] > 3.2 && error[1] / error[2] > 3.2, "%d: %g %g %g", kind, error[0], error[1],
                  error[2]);
        cr_assert(turn[0] / turn[2] > 3, "%d: %g %g %g", kind, turn[0], turn[1], turn[2]);
    }
}

Test(mesh_pairs, the_least_gap_of_a_ball_is_its_signed_distance) {
    random_source r = {13};
    soup s = soup_torus(1, 0.3, 24, 12);
    for (int k = 0; k < s.nvertex; k++) {
        s.vertex[k] = v3_axpy(s.vertex[k], random_uniform(&r, 0, 0.06), random_unit(&r));
    }
    sim_geometry *g = soup_geometry(s);
    sim_shape mesh = shape_with(SIM_MESH, g), ball = shape_of(SIM_SPHERE, 0.2, 0, 0);
    int inside = 0;
    for (int q = 0; q < 3000; q++) {
        v3 c = {random_uniform(&r, -1.6, 1.6), random_uniform(&r, -1.6, 1.6), random_uniform(&r, -0.5, 0.5)}, n;
        pose X = {random_rotation(&r), v3_scale(10, random_unit(&r))};
        double d = mesh_distance(g, c, &n);
        touch t = touching(&ball, (pose){random_rotation(&r), pose_point(X, c)}, &mesh, X, 0.1);
        if (d > 0.3) {
            cr_assert_eq(t.count, 0);
            continue;
        }
        cr_assert(t.count > 0 && (d > 0 || t.count == 1));
        cr_assert_float_eq(least_gap(&t), d - 0.2, 1e-14);
        inside += d < 0;
        for (int k = 0; k < t.count; k++) {
            if (t.point[k].gap == least_gap(&t)) {
                v3 on_b = v3_axpy(t.point[k].position, -0.5 * t.point[k].gap, t.point[k].normal);
                v3 local = pose_point(pose_inverse(X), on_b);
                cr_assert_float_eq(mesh_distance(g, local, NULL), 0, 1e-13);
                cr_assert_float_eq(v3_dot(t.point[k].normal, m3_times(X.R, n)), 1, 1e-9);
            }
        }
    }
    cr_assert_gt(inside, 100);
    sim_geometry_free(g);
}

/* Least distance of a convex shape to all triangles, one by one. */
static double distance_by_hand(const sim_shape *s, pose X, const sim_geometry *g, pose X_mesh) {
    convex a;
    convex_of_shape(s, &a);
    pose X_ab = pose_relative(X, X_mesh);
    double least = HUGE_VAL;
    for (int t = 0; t < g->mesh->ntriangle; t++) {
        v3 c[3];
        for (int k = 0; k < 3; k++) {
            c[k] = pose_point(X_ab, g->mesh->vertex[g->mesh->triangle[t][k]]);
        }
        convex tri = convex_triangle(c[0], c[1], c[2]);
        pose still = pose_identity();
        convex_gap gap;
        if (convex_distance(&a, &tri, &still, fmin(least, 1), v3_make(0, 0, 0), &gap)) {
            least = fmin(least, gap.gap);
        }
    }
    return least;
}

Test(mesh_pairs, apart_the_least_gap_is_the_least_distance_to_any_triangle) {
    random_source r = {17};
    soup s = soup_torus(0.5, 0.2, 18, 10);
    for (int k = 0; k < s.nvertex; k++) {
        s.vertex[k] = v3_axpy(s.vertex[k], random_uniform(&r, 0, 0.05), random_unit(&r));
    }
    sim_geometry *g = soup_geometry(s), *hull = cube_hull(0.2);
    sim_shape mesh = shape_with(SIM_MESH, g);
    int seen = 0;
    for (int q = 0; q < 1200; q++) {
        sim_shape a = convex_kind_of(q % KINDS, hull);
        pose X = {random_rotation(&r),
                  {random_uniform(&r, -1, 1), random_uniform(&r, -1, 1), random_uniform(&r, -0.4, 0.4)}};
        pose X_mesh = {random_rotation(&r), v3_scale(3, random_unit(&r))};
        X = pose_product(X_mesh, X);
        double least = distance_by_hand(&a, X, g, X_mesh);
        double margin = 0.15;
        v3 centre = pose_point(pose_inverse(X_mesh), X.p);
        if (least <= 1e-6 || mesh_distance(g, centre, NULL) < 0) {
            continue;
        }
        touch t = touching(&a, X, &mesh, X_mesh, margin);
        if (least > margin) {
            cr_assert_eq(t.count, 0);
            continue;
        }
        seen++;
        cr_assert(t.count > 0 && t.count <= 32);
        cr_assert_float_eq(least_gap(&t), least, 1e-6, "kind %d: %.12g not %.12g", q % KINDS, least_gap(&t), least);
    }
    cr_assert_gt(seen, 200);
    sim_geometry_free(g);
    sim_geometry_free(hull);
}

/* Steps of a stair as one closed mesh, extruded along y; each of depth `run`, height `rise`, cut finely along y. */
static sim_geometry *stair(int steps, double run, double rise, double width, int cuts) {
    int corners = 2 * steps + 2, n = 0;
    soup s = {.nvertex = corners * (cuts + 1),
              .ntriangle = 0,
              .vertex = malloc((size_t)(corners * (cuts + 1)) * sizeof(v3)),
              .triangle = malloc((size_t)(2 * corners * (cuts + 2)) * sizeof(int[3]))};
    for (int j = 0; j <= cuts; j++) {
        v3 *v = s.vertex + j * corners;
        double y = width * ((double)j / cuts - 0.5);
        v[0] = v3_make(0, y, -1);
        for (int k = 0; k < steps; k++) {
            v[2 * k + 1] = v3_make(run * k, y, k * rise);
            v[2 * k + 2] = v3_make(run * (k + 1), y, k * rise);
        }
        v[corners - 1] = v3_make(run * steps, y, -1);
    }
    for (int j = 0; j < cuts; j++) {
        for (int k = 0; k < corners; k++) {
            int a = j * corners + k, b = j * corners + (k + 1) % corners;
            memcpy(s.triangle[n++], (int[3]){a, b, b + corners}, sizeof(int[3]));
            memcpy(s.triangle[n++], (int[3]){a, b + corners, a + corners}, sizeof(int[3]));
        }
    }
    s.ntriangle = n; /* ends stay open: nothing comes near them */
    return soup_geometry(s);
}

Test(mesh_pairs, a_box_on_a_step_is_held_up_by_the_step_and_back_by_the_riser) {
    sim_geometry *g = stair(4, 0.4, 0.1, 2, 60);
    sim_shape mesh = shape_with(SIM_MESH, g), box = shape_of(SIM_BOX, 0.2, 0.2, 0.2);
    for (int q = 0; q < 60; q++) {
        double into = 1e-5 * (1 + q % 9), down = 1e-5 * (1 + q % 7), y = 0.0171 * q - 0.5;
        touch t = touching(&box, at(0.8 - 0.1 + into, y, 0.1 + 0.1 - down), &mesh, pose_identity(), 1e-3);
        int up = 0, back = 0;
        for (int k = 0; k < t.count; k++) {
            v3 n = t.point[k].normal;
            if (n.z > 1 - 1e-12) {
                up++;
                cr_assert_float_eq(t.point[k].gap, -down, 1e-12);
            } else if (n.x < -1 + 1e-12) {
                back++;
                cr_assert_float_eq(t.point[k].gap, -into, 1e-12);
            } else {
                cr_assert(0, "normal (%g, %g, %g), gap %g", n.x, n.y, n.z, t.point[k].gap);
            }
        }
        cr_assert(up >= 3 && back >= 2, "%d up, %d back", up, back);
    }
    sim_geometry_free(g);
}

/* How far the deepest point's end on the convex shape lies from the plane that bounds the shape there, m: the point
 * lies midway between the surfaces. */
static double off_its_surface(const sim_shape *a, pose X, const sim_contact_point *c) {
    v3 u = m3_transposed_times(X.R, c->normal), end = v3_axpy(c->position, 0.5 * c->gap, c->normal);
    double low = v3_dot(X.p, c->normal) - half_height(a, (m3){{0, 0, u.x}, {0, 0, u.y}, {0, 0, u.z}});
    return fabs(v3_dot(end, c->normal) - low);
}

Test(mesh_pairs, contacts_push_convex_shapes_out_of_a_mesh) {
    random_source r = {41};
    soup s = soup_torus(0.5, 0.25, 24, 14);
    for (int k = 0; k < s.nvertex; k++) {
        s.vertex[k] = v3_axpy(s.vertex[k], random_uniform(&r, 0, 0.02), random_unit(&r));
    }
    sim_geometry *g = soup_geometry(s), *hull = cube_hull(0.2);
    sim_shape mesh = shape_with(SIM_MESH, g);
    int seen = 0, far = 0, lifted = 0; /* of these the shape is lifted before it touches (convex_lift.c) */
    double off = 0;
    for (int q = 0; q < part_of(900); q++) {
        sim_shape a = convex_kind_of(q % KINDS, hull);
        pose X = {random_rotation(&r),
                  {random_uniform(&r, -1, 1), random_uniform(&r, -1, 1), random_uniform(&r, -0.4, 0.4)}};
        double before = distance_by_hand(&a, X, g, pose_identity()), way = 0;
        int held = mesh_distance(g, X.p, NULL) < 0;
        if (before > 0 && !held) {
            continue;
        }
        seen++;
        v3 from = X.p;
        int step = 0;
        for (; step < 60; step++) {
            touch t = touching(&a, X, &mesh, pose_identity(), 0);
            double least = least_gap(&t);
            if (!(least < -1e-9)) {
                break;
            }
            for (int k = 0; k < t.count; k++) {
                if (t.point[k].gap == least) {
                    lifted += (int)(t.point[k].feature >> 63);
                    off = fmax(off, t.point[k].feature >> 63 ? off_its_surface(&a, X, &t.point[k]) : 0);
                    X.p = v3_axpy(X.p, -least, t.point[k].normal);
                    break;
                }
            }
        }
        way = v3_norm(v3_sub(X.p, from));
        cr_assert(step == 60 || distance_by_hand(&a, X, g, pose_identity()) > -1e-6,
                  "kind %d pose %d still overlaps by %g", q % KINDS, q, distance_by_hand(&a, X, g, pose_identity()));
        far += step == 60 || way > 0.6; /* the tube is 0.5 wide, the shapes up to 0.4 */
    }
    cr_assert(seen > part_of(200) && 50 * far <= seen, "%d of %d went a long way", far, seen);
    cr_assert(lifted > (is_part() ? 0 : 20) && off < 1e-6, "%d contacts of lifted shapes, up to %g m off the surface",
              lifted, off);
    sim_geometry_free(g);
    sim_geometry_free(hull);
}

Test(mesh_pairs, the_scale_of_the_scene_plays_no_part) {
    random_source r = {43};
    soup s = soup_torus(0.5, 0.2, 20, 12),
         copy[2] = {soup_torus(0.5e-3, 0.2e-3, 20, 12), soup_torus(0.5e3, 0.2e3, 20, 12)};
    sim_geometry *g[3] = {soup_geometry(copy[0]), soup_geometry(s), soup_geometry(copy[1])};
    for (int q = 0; q < 200; q++) {
        m3 R = random_rotation(&r);
        v3 c = {random_uniform(&r, -0.8, 0.8), random_uniform(&r, -0.8, 0.8), random_uniform(&r, -0.3, 0.3)};
        touch t[3];
        for (int k = 0; k < 3; k++) {
            double size = k == 0 ? 1e-3 : k == 1 ? 1 : 1e3;
            sim_shape mesh = shape_with(SIM_MESH, g[k]), box = shape_of(SIM_BOX, 0.2 * size, 0.3 * size, 0.1 * size);
            t[k] = touching(&box, (pose){R, v3_scale(size, c)}, &mesh, pose_identity(), 0.01 * size);
        }
        cr_assert(t[0].count == t[1].count && t[1].count == t[2].count, "%d %d %d", t[0].count, t[1].count, t[2].count);
        if (t[1].count) {
            cr_assert_float_eq(least_gap(&t[0]) * 1e3, least_gap(&t[1]), 1e-9);
            cr_assert_float_eq(least_gap(&t[2]) * 1e-3, least_gap(&t[1]), 1e-9);
        }
    }
    for (int k = 0; k < 3; k++) {
        sim_geometry_free(g[k]);
    }
}

Test(mesh_pairs, a_box_mesh_touches_as_a_box_does) {
    random_source r = {47};
    sim_geometry *g = soup_geometry(soup_box(0.4, 0.3, 0.2));
    cr_assert(g->hull && g->mesh->convex);
    sim_shape mesh = shape_with(SIM_MESH, g), box = shape_of(SIM_BOX, 0.4, 0.3, 0.2),
              other = shape_of(SIM_BOX, 0.2, 0.5, 0.3);
    for (int q = 0; q < 300; q++) {
        pose X_a = {random_rotation(&r), v3_scale(random_uniform(&r, 0.1, 0.4), random_unit(&r))},
             X_b = {random_rotation(&r), {0, 0, 0}};
        if (q % 2) {
            X_a = (pose){m3_axis_angle(v3_make(0, 0, 1), q), {0.05, 0.02, 0.2 - 1e-4 * (q % 5)}};
            X_b = pose_identity();
        }
        touch m = touching(&mesh, X_a, &mesh, X_b, 0.01);
        convex ca, cb;
        convex_of_shape(&box, &ca);
        convex_of_shape(&box, &cb);
        pose X = pose_relative(X_a, X_b);
        convex_gap gap;
        int near = convex_distance(&ca, &cb, &X, 0.01, v3_make(0, 0, 0), &gap);
        cr_assert_eq(m.count > 0, near);
        if (near) {
            cr_assert_float_eq(least_gap(&m), gap.gap, 1e-12);
            cr_assert_lt(v3_norm(v3_sub(m.point[0].normal, m3_times(X_a.R, gap.normal))), 1e-9);
        }
        touch n = touching(&other, X_a, &mesh, X_b, 0.01), p = touching(&mesh, X_b, &other, X_a, 0.01);
        cr_assert_eq(n.count, p.count);
    }
    sim_geometry_free(g);
}
