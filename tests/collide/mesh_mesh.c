/* Meshes on meshes, neither of them convex, and ways out of overlap. */
#include "support/share.h"
#include "touch.h"

#include "collide/convex/convex.h"
#include "geometry/mesh/bvh.h"
#include <stdlib.h>

/* An L: two boxes in one mesh that share a face's plane but no vertices would leave walls inside, so by hand: the
 * outline in the xz-plane, drawn out along y. */
static sim_geometry *ell(double size, double width) {
    const double outline[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    const int cap[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
    soup s = {
        .nvertex = 12, .ntriangle = 20, .vertex = malloc(12 * sizeof(v3)), .triangle = malloc(20 * sizeof(int[3]))};
    int n = 0;
    for (int k = 0; k < 6; k++) {
        for (int side = 0; side < 2; side++) {
            s.vertex[2 * k + side] = v3_make(size * outline[k][0], side ? width / 2 : -width / 2, size * outline[k][1]);
        }
        int a = 2 * k, b = 2 * ((k + 1) % 6);
        memcpy(s.triangle[n++], (int[3]){a, b, b + 1}, sizeof(int[3]));
        memcpy(s.triangle[n++], (int[3]){a, b + 1, a + 1}, sizeof(int[3]));
    }
    for (int k = 0; k < 4; k++) {
        const int *c = cap[k];
        memcpy(s.triangle[n++], (int[3]){2 * c[0], 2 * c[2], 2 * c[1]}, sizeof(int[3]));
        memcpy(s.triangle[n++], (int[3]){2 * c[0] + 1, 2 * c[1] + 1, 2 * c[2] + 1}, sizeof(int[3]));
    }
    /* the outline runs clockwise seen from -y: turn every triangle if it came out inside out */
    sim_error error;
    sim_geometry *g = sim_geometry_mesh(s.vertex, s.nvertex, (const int(*)[3])s.triangle, s.ntriangle, &error);
    if (!g) {
        for (int t = 0; t < s.ntriangle; t++) {
            int swap = s.triangle[t][1];
            s.triangle[t][1] = s.triangle[t][2];
            s.triangle[t][2] = swap;
        }
        g = sim_geometry_mesh(s.vertex, s.nvertex, (const int(*)[3])s.triangle, s.ntriangle, &error);
    }
    soup_free(&s);
    cr_assert(g && g->mesh->closed && !g->hull, "%s", error.text);
    return g;
}

/* Each of `count` points pushes once, the deepest first, till nothing overlaps: how far A had to go. */
static double push_out(const sim_shape *a, pose *X_a, const sim_shape *b, pose X_b, int *steps) {
    v3 from = X_a->p;
    for (*steps = 0; *steps < 100; ++*steps) {
        touch t = touching(a, *X_a, b, X_b, 0);
        int deepest = -1;
        for (int k = 0; k < t.count; k++) {
            if (t.point[k].gap < (deepest < 0 ? -1e-9 : t.point[deepest].gap)) {
                deepest = k;
            }
        }
        if (deepest < 0) {
            break;
        }
        X_a->p = v3_axpy(X_a->p, -t.point[deepest].gap, t.point[deepest].normal);
    }
    return v3_norm(v3_sub(X_a->p, from));
}

/* How deep the vertices of one reach into the other, at most (or how near they come). */
static double vertex_gap(const sim_geometry *a, pose X_a, const sim_geometry *b, pose X_b) {
    double least = HUGE_VAL;
    pose X = pose_relative(X_b, X_a);
    for (int k = 0; k < a->mesh->nvertex; k++) {
        least = fmin(least, mesh_distance(b, pose_point(X, a->mesh->vertex[k]), NULL));
    }
    return least;
}

Test(mesh_mesh, an_ell_on_an_ell_rests_on_its_corners) {
    sim_geometry *g = ell(0.5, 0.6);
    sim_shape a = shape_with(SIM_MESH, g), b = a;
    for (int q = 0; q < 20; q++) {
        double gap = 0.001 * (q - 10);
        /* A stands on the foot of B, 0.3 along, shifted by 0.1 across */
        touch t = touching(&a, at(0.6, 0.1, 0.5 + gap), &b, pose_identity(), 0.02);
        cr_assert_eq(t.count, 4, "%d", t.count);
        double low_x = 1e9, high_x = -1e9, low_y = 1e9, high_y = -1e9;
        for (int k = 0; k < 4; k++) {
            cr_assert_float_eq(t.point[k].normal.z, 1, 1e-12);
            cr_assert_float_eq(t.point[k].gap, gap, 1e-12);
            low_x = fmin(low_x, t.point[k].position.x), high_x = fmax(high_x, t.point[k].position.x);
            low_y = fmin(low_y, t.point[k].position.y), high_y = fmax(high_y, t.point[k].position.y);
        }
        cr_assert_float_eq(low_x, 0.6, 1e-9);
        cr_assert_float_eq(high_x, 1, 1e-9);
        cr_assert_float_eq(low_y, -0.2, 1e-9);
        cr_assert_float_eq(high_y, 0.3, 1e-9);
    }
    sim_geometry_free(g);
}

Test(mesh_mesh, an_ell_in_the_nook_of_an_ell_is_held_from_both_sides) {
    sim_geometry *g = ell(0.5, 0.6);
    sim_shape a = shape_with(SIM_MESH, g), b = a;
    touch t = touching(&a, at(0.5 - 0.001, 0.1, 0.5 - 0.002), &b, pose_identity(), 0.02);
    int up = 0, along = 0;
    for (int k = 0; k < t.count; k++) {
        if (t.point[k].normal.z > 1 - 1e-12) {
            up++;
            cr_assert_float_eq(t.point[k].gap, -0.002, 1e-12);
        } else if (t.point[k].normal.x > 1 - 1e-12) {
            along++;
            cr_assert_float_eq(t.point[k].gap, -0.001, 1e-12);
        } else {
            cr_assert(0, "normal (%g, %g, %g)", t.point[k].normal.x, t.point[k].normal.y, t.point[k].normal.z);
        }
    }
    cr_assert(up >= 3 && along >= 3, "%d %d", up, along);
    sim_geometry_free(g);
}

Test(mesh_mesh, interlocked_tori_hang_in_each_other) {
    sim_geometry *g = soup_geometry(soup_torus(0.5, 0.1, 48, 24));
    sim_shape a = shape_with(SIM_MESH, g), b = a;
    pose upright = {m3_axis_angle(v3_make(1, 0, 0), 0.5 * M_PI), {0, 0, 0}};
    /* A in the xz-plane, moved along x: its ring passes through the hole of B. Free between |x - 0.5| < 0.3. */
    for (int q = 0; q <= 20; q++) {
        double x = 0.1 + 0.04 * q;
        upright.p = v3_make(x, 0, 0);
        touch t = touching(&a, upright, &b, pose_identity(), 0);
        double room = 0.5 - 0.2 - fabs(x - 0.5); /* between the middles of the tubes there is 0.5 - |x - 0.5| */
        cr_assert_eq(t.count > 0, room < 0, "at %g: %d points, room %g", x, t.count, room);
        if (t.count) {
            /* nearly half through, the shortest way out is not straight any more */
            cr_assert_float_eq(least_gap(&t), room, q < 3 || q > 17 ? 0.1 : 0.004, "at %g: %g for %g, %d", x,
                               least_gap(&t), room, t.count);
            v3 n = t.point[0].normal;
            cr_assert(fabs(n.x) > 0.9 && n.x * (x - 0.5) < 0, "at %g: (%g, %g, %g)", x, n.x, n.y, n.z);
        }
    }
    sim_geometry_free(g);
}

/* Of a point on the two triangles of its cell. */
static double field_height(const sim_heights *h, double x, double y) {
    double u = (x / h->size[0] + 0.5) * (h->columns - 1), v = (y / h->size[1] + 0.5) * (h->rows - 1);
    int i = (int)fmin(floor(u), h->columns - 2), j = (int)fmin(floor(v), h->rows - 2);
    const double *z = h->height + j * h->columns + i;
    u -= i, v -= j;
    return v <= u ? z[0] + u * (z[1] - z[0]) + v * (z[h->columns + 1] - z[1])
                  : z[0] + v * (z[h->columns] - z[0]) + u * (z[h->columns + 1] - z[h->columns]);
}

static sim_geometry *bumpy_torus(random_source *r, double ring, double tube, int around, int across) {
    soup s = soup_torus(ring, tube, around, across);
    for (int k = 0; k < s.nvertex; k++) {
        s.vertex[k] = v3_axpy(s.vertex[k], random_uniform(r, 0, 0.15 * tube), random_unit(r));
    }
    return soup_geometry(s);
}

/* Least distance of two meshes that do not overlap, triangle by triangle. */
static double mesh_gap(const sim_geometry *a, pose X_a, const sim_geometry *b, pose X_b) {
    pose X = pose_relative(X_a, X_b), still = pose_identity();
    double least = HUGE_VAL;
    for (int s = 0; s < a->mesh->ntriangle; s++) {
        const int *i = a->mesh->triangle[s];
        convex ta = convex_triangle(a->mesh->vertex[i[0]], a->mesh->vertex[i[1]], a->mesh->vertex[i[2]]);
        for (int t = 0; t < b->mesh->ntriangle; t++) {
            const int *j = b->mesh->triangle[t];
            convex tb = convex_triangle(pose_point(X, b->mesh->vertex[j[0]]), pose_point(X, b->mesh->vertex[j[1]]),
                                        pose_point(X, b->mesh->vertex[j[2]]));
            if (v3_norm(v3_sub(ta.centre, tb.centre)) - ta.extent - tb.extent >= least) {
                continue;
            }
            convex_gap gap;
            if (convex_distance(&ta, &tb, &still, fmin(least, 1e3), v3_make(0, 0, 0), &gap)) {
                least = fmin(least, gap.gap);
            }
        }
    }
    return least;
}

Test(mesh_mesh, apart_the_least_gap_is_the_least_distance_of_any_two_triangles) {
    random_source r = {31};
    sim_geometry *a = bumpy_torus(&r, 0.5, 0.15, 14, 8), *b = bumpy_torus(&r, 0.4, 0.2, 12, 7);
    sim_shape sa = shape_with(SIM_MESH, a), sb = shape_with(SIM_MESH, b);
    int seen = 0;
    for (int q = 0; q < trials_of(600); q++) {
        pose X_a = {random_rotation(&r), {0, 0, 0}},
             X_b = {random_rotation(&r), v3_scale(random_uniform(&r, 0.5, 1.3), random_unit(&r))};
        double least = mesh_gap(a, X_a, b, X_b);
        if (least <= 1e-6) {
            continue;
        }
        touch t = touching(&sa, X_a, &sb, X_b, 0.2);
        seen += least <= 0.2;
        cr_assert_eq(t.count > 0, least <= 0.2);
        cr_assert(least > 0.2 || fabs(least_gap(&t) - least) < 1e-9, "%.12g not %.12g", least_gap(&t), least);
    }
    cr_assert_gt(seen, trials_of(40));
    sim_geometry_free(a);
    sim_geometry_free(b);
}

Test(mesh_mesh, contacts_push_overlapping_meshes_apart_without_long_ways_round) {
    random_source r = {37};
    sim_geometry *a = bumpy_torus(&r, 0.5, 0.15, 20, 10), *b = bumpy_torus(&r, 0.4, 0.2, 18, 9);
    sim_shape sa = shape_with(SIM_MESH, a), sb = shape_with(SIM_MESH, b);
    int seen = 0, slow = 0;
    for (int q = 0; q < trials_of(1500); q++) {
        pose X_a = {random_rotation(&r), {0, 0, 0}},
             X_b = {random_rotation(&r), v3_scale(random_uniform(&r, 0.5, 1.1), random_unit(&r))};
        double depth = -fmin(vertex_gap(a, X_a, b, X_b), vertex_gap(b, X_b, a, X_a));
        if (depth < 1e-4 || depth > 0.05) {
            continue;
        }
        seen++;
        int steps;
        double way = push_out(&sa, &X_a, &sb, X_b, &steps);
        slow += steps > 40 || way > 6 * depth + 0.01;
        double left = -fmin(vertex_gap(a, X_a, b, X_b), vertex_gap(b, X_b, a, X_a));
        cr_assert(steps == 100 || left < 1e-6, "pose %d: %g deep, left %g after %d steps", q, depth, left, steps);
    }
    cr_assert(seen > trials_of(50) && slow * 20 <= seen, "%d of %d went a long way", slow, seen);
    sim_geometry_free(a);
    sim_geometry_free(b);
}

/* Vertices of one in the other are never overlooked, whatever is left out unasked on the way. */
Test(mesh_mesh, wherever_a_vertex_is_inside_there_is_a_contact) {
    random_source r = {41};
    double height[31 * 21], size[2] = {3, 2};
    for (int k = 0; k < 31 * 21; k++) {
        height[k] = 0.1 * sin(0.6 * (k % 31)) * cos(0.5 * (k / 31.0));
    }
    sim_geometry *a = bumpy_torus(&r, 0.5, 0.15, 20, 10), *b = bumpy_torus(&r, 0.4, 0.2, 40, 18),
                 *block = ell(0.4, 0.5), *ground = sim_geometry_heights(31, 21, size, height, NULL);
    sim_shape shape[4] = {shape_with(SIM_MESH, a), shape_with(SIM_MESH, b), shape_with(SIM_MESH, block),
                          shape_with(SIM_HEIGHT_FIELD, ground)};
    int held = 0, near = 0;
    for (int q = 0; q < trials_of(1200); q++) {
        const sim_shape *s = &shape[q % 3], *o = &shape[(q + 1 + q / 3 % 3) % 4];
        pose X_s = {random_rotation(&r), v3_scale(random_uniform(&r, 0.1, 1.3), random_unit(&r))},
             X_o = pose_identity();
        pose X = pose_relative(X_o, X_s);
        double deepest = HUGE_VAL;
        for (int k = 0; k < s->geometry->mesh->nvertex; k++) {
            v3 x = pose_point(X, s->geometry->mesh->vertex[k]);
            if (o->geometry->mesh) {
                deepest = fmin(deepest, mesh_distance(o->geometry, x, NULL));
            } else if (fabs(x.x) < 1.5 && fabs(x.y) < 1) { /* straight above the field, for the sign */
                deepest = fmin(deepest, x.z - field_height(ground->heights, x.x, x.y));
            }
        }
        touch t = touching(s, X_s, o, X_o, 0);
        held += deepest < -1e-9;
        near += t.count > 0;
        cr_assert(deepest > -1e-9 || t.count > 0, "pose %d: %g deep, no contact", q, -deepest);
        cr_assert(deepest > -1e-9 || least_gap(&t) < 0.2 * deepest, "pose %d: %g deep, gap %g", q, -deepest,
                  least_gap(&t));
    }
    cr_assert(held > trials_of(400) && held < trials_of(1000), "%d %d", held, near);
    sim_geometry_free(a), sim_geometry_free(b), sim_geometry_free(block), sim_geometry_free(ground);
}

Test(mesh_mesh, a_mesh_deep_inside_another_is_let_out) {
    sim_geometry *big = soup_geometry(soup_torus(2, 1, 40, 20)), *small = soup_geometry(soup_torus(0.1, 0.03, 16, 8));
    sim_shape a = shape_with(SIM_MESH, big), b = shape_with(SIM_MESH, small);
    touch t = touching(&a, pose_identity(), &b, at(2, 0, 0.4), 0);
    cr_assert_gt(t.count, 0);
    cr_assert_lt(least_gap(&t), -0.5);
    cr_assert_lt(t.point[0].normal.z, -0.9);
    pose X = at(2, 0, 0.4);
    int steps;
    double way = push_out(&b, &X, &a, pose_identity(), &steps);
    cr_assert(steps < 20 && way > 0.55 && way < 0.8, "%d steps, %g m", steps, way);
    sim_geometry_free(big);
    sim_geometry_free(small);
}

/* Triangles at random, needles and specks among them, no surface at all. */
static sim_geometry *nonsense(random_source *r, double size, int triangles) {
    soup s = {.nvertex = 3 * triangles,
              .ntriangle = triangles,
              .vertex = malloc((size_t)(3 * triangles) * sizeof(v3)),
              .triangle = malloc((size_t)triangles * sizeof(int[3]))};
    for (int t = 0; t < triangles; t++) {
        v3 here = v3_scale(size * random_uniform(r, 0, 1), random_unit(r));
        for (int k = 0; k < 3; k++) {
            double reach = size * exp(random_uniform(r, -12, 0));
            s.vertex[3 * t + k] = random_index(r, 4) ? v3_axpy(here, reach, random_unit(r)) : here;
            s.triangle[t][k] = random_index(r, 5) ? 3 * t + k : random_index(r, 3 * t + 3);
        }
    }
    return soup_geometry(s);
}

Test(mesh_mesh, nonsense_gives_finite_points_and_an_end) {
    random_source r = {53};
    for (int q = 0; q < 60; q++) {
        double size = exp(random_uniform(&r, -15, 15));
        sim_geometry *g = nonsense(&r, size, 60), *h = nonsense(&r, size, 40),
                     *torus = soup_geometry(soup_torus(0.5 * size, 0.2 * size, 10, 8));
        sim_shape m[3] = {shape_with(SIM_MESH, g), shape_with(SIM_MESH, h), shape_with(SIM_MESH, torus)};
        sim_shape a[5] = {shape_of(SIM_SPHERE, 0.3 * size, 0, 0), shape_of(SIM_BOX, 0.5 * size, 1e-3 * size, size),
                          shape_of(SIM_CAPSULE, 0.01 * size, size, 0),
                          shape_of(SIM_CYLINDER, 0.3 * size, 0.1 * size, 0),
                          shape_of(SIM_ELLIPSOID, 0.3 * size, 0.2 * size, 0.01 * size)};
        for (int i = 0; i < 3; i++) {
            pose X = {random_rotation(&r), v3_scale(random_uniform(&r, 0, size), random_unit(&r))};
            for (int k = 0; k < 5; k++) {
                touching(&a[k], X, &m[i], pose_identity(), 0.05 * size);
            }
            touching(&m[i], X, &m[(i + 1) % 3], pose_identity(), 0.05 * size);
            touching(&m[i], pose_identity(), &m[i], pose_identity(), 0.05 * size);
        }
        sim_geometry_free(g), sim_geometry_free(h), sim_geometry_free(torus);
    }
}
