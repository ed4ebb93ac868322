/* Shapes on height fields, and half-spaces under meshes. */
#include "touch.h"

#include "geometry/mesh/bvh.h"
#include "geometry/mesh/mesh_features.h"
#include <stdlib.h>

enum { COLUMNS = 41, ROWS = 31 };

static double hill(double x, double y) { return 0.15 * sin(3 * x) * cos(2 * y) + 0.05 * sin(11 * x + 3 * y); }

static const double SIZE[2] = {4, 3};

static sim_geometry *hills(void) {
    double h[ROWS * COLUMNS];
    for (int j = 0; j < ROWS; j++) {
        for (int i = 0; i < COLUMNS; i++) {
            h[j * COLUMNS + i] = hill(SIZE[0] * (i / (COLUMNS - 1.0) - 0.5), SIZE[1] * (j / (ROWS - 1.0) - 0.5));
        }
    }
    return sim_geometry_heights(COLUMNS, ROWS, SIZE, h, NULL);
}

/* The same triangles as a mesh. */
static sim_geometry *hills_mesh(void) {
    soup s = soup_plane(SIZE[0], SIZE[1], COLUMNS - 1, ROWS - 1);
    for (int k = 0; k < s.nvertex; k++) {
        s.vertex[k].z = hill(s.vertex[k].x, s.vertex[k].y);
    }
    return soup_geometry(s);
}

Test(heights, give_the_contacts_of_the_same_triangles_as_a_mesh) {
    random_source r = {3};
    sim_geometry *field = hills(), *mesh = hills_mesh();
    sim_shape f = shape_with(SIM_HEIGHT_FIELD, field), m = shape_with(SIM_MESH, mesh);
    sim_shape kind[4] = {shape_of(SIM_SPHERE, 0.1, 0, 0), shape_of(SIM_BOX, 0.3, 0.2, 0.1),
                         shape_of(SIM_CAPSULE, 0.1, 0.3, 0), shape_of(SIM_CYLINDER, 0.1, 0.2, 0)};
    int seen = 0;
    for (int q = 0; q < 1000; q++) {
        double x = random_uniform(&r, -1.7, 1.7), y = random_uniform(&r, -1.2, 1.2);
        pose X = {random_rotation(&r), {x, y, hill(x, y) + random_uniform(&r, 0.05, 0.25)}};
        pose X_field = {random_rotation(&r), v3_scale(5, random_unit(&r))};
        X = pose_product(X_field, X);
        touch a = touching(&kind[q % 4], X, &f, X_field, 0.02), b = touching(&kind[q % 4], X, &m, X_field, 0.02);
        cr_assert_eq(a.count, b.count, "kind %d: %d and %d", q % 4, a.count, b.count);
        if (a.count) {
            cr_assert_float_eq(least_gap(&a), least_gap(&b), 1e-12, "kind %d pose %d: %.15g and %.15g (%d)", q % 4, q,
                               least_gap(&a), least_gap(&b), a.count);
        }
        seen += a.count > 0;
    }
    cr_assert_gt(seen, 300);
    sim_geometry_free(field);
    sim_geometry_free(mesh);
}

Test(heights, a_ball_touches_where_the_distance_to_all_triangles_is_least) {
    random_source r = {4};
    sim_geometry *field = hills(), *mesh = hills_mesh();
    sim_shape f = shape_with(SIM_HEIGHT_FIELD, field), ball = shape_of(SIM_SPHERE, 0.15, 0, 0);
    for (int q = 0; q < 2000; q++) {
        v3 c = {random_uniform(&r, -2.2, 2.2), random_uniform(&r, -1.7, 1.7), random_uniform(&r, -0.6, 0.5)}, near;
        int feature;
        bvh_nearest(mesh->bvh, mesh->mesh, c, HUGE_VAL, &near, &feature);
        double d = v3_norm(v3_sub(c, near));
        touch t = touching(&ball, at(c.x, c.y, c.z), &f, pose_identity(), 0.02);
        int over = fabs(c.x) < 2 && fabs(c.y) < 1.5;
        int below = over && c.z < hill(c.x, c.y) - 0.02, above = over && c.z > hill(c.x, c.y) + 0.02;
        if (below && d < 0.2) {
            cr_assert_float_eq(least_gap(&t), -d - 0.15, 1e-13);
        } else if (above) {
            cr_assert_eq(t.count > 0, d - 0.15 <= 0.02);
            cr_assert(t.count == 0 || fabs(least_gap(&t) - (d - 0.15)) < 1e-13);
        }
    }
    sim_geometry_free(field);
    sim_geometry_free(mesh);
}

Test(heights, what_is_far_below_is_lifted_out) {
    sim_geometry *field = hills();
    sim_shape f = shape_with(SIM_HEIGHT_FIELD, field);
    sim_shape kind[3] = {shape_of(SIM_SPHERE, 0.1, 0, 0), shape_of(SIM_BOX, 0.3, 0.2, 0.1),
                         shape_of(SIM_ELLIPSOID, 0.1, 0.1, 0.2)};
    for (int k = 0; k < 3; k++) {
        for (double z = -0.3; z > -1e3; z *= 3) {
            touch t = touching(&kind[k], at(0.3, 0.2, z), &f, pose_identity(), 0);
            cr_assert_gt(t.count, 0);
            cr_assert_lt(least_gap(&t), 0.5 * z);
            cr_assert_gt(t.point[0].normal.z, 0.5);
        }
        touch beside = touching(&kind[k], at(3, 0, -0.5), &f, pose_identity(), 0);
        cr_assert_eq(beside.count, 0);
    }
    sim_geometry_free(field);
}

Test(heights, a_ball_rolls_over_the_cells_of_a_slope_without_a_bump) {
    double h[ROWS * COLUMNS];
    for (int k = 0; k < ROWS * COLUMNS; k++) {
        h[k] = 0.3 * (k % COLUMNS) / (COLUMNS - 1.0) * SIZE[0];
    }
    sim_geometry *field = sim_geometry_heights(COLUMNS, ROWS, SIZE, h, NULL);
    sim_shape f = shape_with(SIM_HEIGHT_FIELD, field), ball = shape_of(SIM_SPHERE, 0.1, 0, 0);
    v3 n = v3_scale(1 / sqrt(1.09), v3_make(-0.3, 0, 1));
    for (int q = 0; q < 20000; q++) {
        double s = q / 20000.0, x = 3.6 * s - 1.8, y = 2.4 * s - 1.2;
        v3 c = v3_axpy(v3_make(x, y, 0.3 * (x + 2)), 0.0999, n);
        touch t = touching(&ball, at(c.x, c.y, c.z), &f, pose_identity(), 0.001);
        cr_assert_eq(t.count, 1);
        cr_assert_float_eq(t.point[0].gap, -0.0001, 1e-14);
        cr_assert_lt(v3_norm(v3_sub(t.point[0].normal, n)), 1e-13);
    }
    sim_geometry_free(field);
}

Test(heights, meshes_rest_on_them) {
    /* a table of one mesh: a plate on four legs, open joints allowed between them; legs stand on a flat field */
    soup s = soup_box(1, 1, 0.1);
    for (int k = 0; k < 4; k++) {
        soup leg = soup_box(0.1, 0.1, 0.5);
        soup_move(&leg, at(k & 1 ? 0.4 : -0.4, k & 2 ? 0.4 : -0.4, -0.3));
        soup_add(&s, leg);
    }
    sim_geometry *table = soup_geometry(s);
    double zero[ROWS * COLUMNS] = {0};
    sim_geometry *flat = sim_geometry_heights(COLUMNS, ROWS, SIZE, zero, NULL);
    sim_shape t = shape_with(SIM_MESH, table), f = shape_with(SIM_HEIGHT_FIELD, flat),
              ground = shape_of(SIM_HALF_SPACE, 0, 0, 0);
    for (int q = 0; q < 40; q++) {
        double gap = 0.0005 * (q - 30), turn = 0.1 * q;
        pose X = {m3_axis_angle(v3_make(0, 0, 1), turn), {0.2, 0.013 * q - 0.2, 0.55 + gap}};
        for (int k = 0; k < 2; k++) {
            touch c = touching(&t, X, k ? &ground : &f, pose_identity(), 0.006);
            cr_assert_eq(c.count, 4, "%d", c.count);
            int legs = 0;
            for (int i = 0; i < 4; i++) {
                v3 own = pose_point(pose_inverse(X), c.point[i].position);
                cr_assert_float_eq(c.point[i].gap, gap, 1e-12);
                cr_assert_gt(c.point[i].normal.z, 1 - 1e-12);
                legs |= 1 << ((own.x > 0) + 2 * (own.y > 0));
                cr_assert(fabs(own.x) > 0.35 - 1e-9 && fabs(own.y) > 0.35 - 1e-9);
            }
            cr_assert_eq(legs, 15);
        }
    }
    sim_geometry_free(table);
    sim_geometry_free(flat);
}

Test(heights, what_is_no_field_is_refused_in_words) {
    double h[4] = {0, 1, NAN, 3}, size[2] = {1, 1}, flat[2] = {1, 0};
    sim_error error = {0};
    cr_assert_null(sim_geometry_heights(2, 2, size, h, &error));
    cr_assert(strstr(error.text, "height nan at column 0, row 1"), "%s", error.text);
    h[2] = 0;
    cr_assert_null(sim_geometry_heights(2, 2, flat, h, &error));
    cr_assert(strstr(error.text, "side y"), "%s", error.text);
    cr_assert_null(sim_geometry_heights(1, 2, size, h, &error));
    cr_assert(strstr(error.text, "at least 2 columns"), "%s", error.text);
    sim_geometry *g = sim_geometry_heights(2, 2, size, h, &error);
    cr_assert(g && g->heights->lowest == 0 && g->heights->highest == 3 && g->solid.mass == 0);
    sim_geometry_free(g);
}

Test(heights, their_tree_holds_each_triangle_once_in_a_box_around_it) {
    const int columns[5] = {2, 9, 10, 41, 100}, rows[5] = {2, 17, 9, 31, 3};
    for (int q = 0; q < 5; q++) {
        int nx = columns[q], ny = rows[q];
        double *h = calloc((size_t)(nx * ny), sizeof *h), size[2] = {3, 2};
        for (int k = 0; k < nx * ny; k++) {
            h[k] = sin(0.7 * k);
        }
        sim_geometry *g = sim_geometry_heights(nx, ny, size, h, NULL);
        int count = heights_triangles(g->heights), *seen = calloc((size_t)count, sizeof *seen), leaves = 0;
        for (int n = 0; n < g->bvh->nnode; n++) {
            const bvh_node *node = &g->bvh->node[n];
            for (int k = 0; k < node->count; k++) {
                int t = heights_leaf(g->heights, node, k), i[3];
                v3 c[3];
                cr_assert(t >= 0 && t < count);
                seen[t]++;
                heights_triangle(g->heights, t, i);
                heights_corners(g->heights, t, c);
                for (int v = 0; v < 3; v++) {
                    v3 x = heights_vertex(g->heights, i[v]);
                    cr_assert(x.x == c[v].x && x.y == c[v].y && x.z == c[v].z);
                    cr_assert(x.x >= node->low[0] && x.x <= node->high[0] && x.y >= node->low[1] &&
                              x.y <= node->high[1] && x.z >= node->low[2] && x.z <= node->high[2]);
                }
            }
            leaves += node->count;
        }
        cr_assert_eq(leaves, count);
        for (int t = 0; t < count; t++) {
            cr_assert_eq(seen[t], 1, "triangle %d of %d by %d: %d times", t, nx, ny, seen[t]);
        }
        sim_geometry_free(g);
        free(seen);
        free(h);
    }
}
