/* Surfaces of fields in triangles: closed, outwards, on the surface, enclosing the right volume. */
#include "support/fields.h"
#include "support/share.h"

#include "geometry/field/field.h"
#include "geometry/field/surface.h"
#include "geometry/mesh/mesh.h"

#include <criterion/criterion.h>
#include <time.h>

static const double PI = 3.14159265358979323846;

static double mesh_volume(const sim_mesh *m) {
    double sum = 0;
    for (int t = 0; t < m->ntriangle; t++) {
        const int *i = m->triangle[t];
        sum += v3_dot(m->vertex[i[0]], v3_cross(m->vertex[i[1]], m->vertex[i[2]])) / 6;
    }
    return sum;
}

/* Closed, each vertex on the surface of a solid of this size. */
static void expect_sound_mesh(const char *what, const sim_field *field, const sim_mesh *m, double size) {
    cr_assert(m->closed, "%s", what);
    double farthest = 0;
    for (int v = 0; v < m->nvertex; v++) {
        farthest = fmax(farthest, fabs(sim_field_distance(field, m->vertex[v], NULL)));
    }
    cr_assert(farthest < 1e-12 * size, "%s: %g off", what, farthest);
    cr_assert(mesh_volume(m) > 0);
}

static void expect_sound(const char *what, const sim_geometry *g) {
    expect_sound_mesh(what, g->field, g->mesh, v3_norm(v3_sub(g->high, g->low)));
}

/* Around each vertex the triangles make one fan: as many as there are edges out of it, met by going across one after
 * the other. */
static int pinched_vertices(const sim_mesh *m) {
    int *fan = calloc((size_t)m->nvertex, sizeof *fan), *seen = calloc((size_t)m->nvertex, sizeof *seen), pinched = 0;
    for (int t = 0; t < m->ntriangle; t++) {
        for (int k = 0; k < 3; k++) {
            fan[m->triangle[t][k]]++;
        }
    }
    for (int t = 0; t < m->ntriangle; t++) {
        for (int k = 0; k < 3; k++) {
            int v = m->triangle[t][k], at = t, count = 0;
            if (seen[v]) {
                continue;
            }
            seen[v] = 1;
            do {
                int corner = m->triangle[at][0] == v ? 0 : m->triangle[at][1] == v ? 1 : 2;
                at = m->across[at][corner];
                count++;
            } while (at != t && count <= fan[v]);
            pinched += count != fan[v];
        }
    }
    free(fan);
    free(seen);
    return pinched;
}

Test(surface, of_all_solids_closes_and_lies_on_them) {
    sim_field_def part[4], many[7] = {field_sphere(0.05),
                                      field_box(0.1, 0.2, 0.05),
                                      field_cylinder(0.05, 0.1),
                                      field_dish(0),
                                      field_dish(1),
                                      field_dish(2),
                                      field_nut(1e-4, 75e-3, 38e-3, part)};
    for (int k = 0; k < 7; k++) {
        for (int turned = 0; turned < part_of(2); turned++) {
            many[k].pose.R = turned ? m3_axis_angle(v3_make(0.6, 0, 0.8), 1.1) : m3_identity();
            sim_geometry *g = field_geometry(&many[k], 0);
            expect_sound(sim_field_name(many[k].type), g);
            cr_assert_eq(pinched_vertices(g->mesh), 0);
            /* a nut has a hole; turned, bits of the knife edges where its thread runs out stand alone */
            int whole = g->mesh->nvertex - g->mesh->ntriangle / 2;
            cr_assert(k < 6 ? whole == 2 : turned || whole == 0, "%s: %d", sim_field_name(many[k].type), whole);
            sim_geometry_free(g);
        }
    }
}

/* Random spheres and boxes, united, cut and intersected at a coarse lattice: every ambiguous face occurs. */
Test(surface, of_random_combinations_closes) {
    random_source r = {1};
    int refused = 0;
    for (int trial = 0; trial < trials_of(60); trial++) {
        sim_field_def part[8], def = sim_field_default();
        for (int k = 0; k < 8; k++) {
            double a = random_uniform(&r, 0.05, 0.4), b = random_uniform(&r, 0.05, 0.4);
            part[k] = k % 2 ? field_box(a, b, 0.3) : field_sphere(a);
            part[k].pose.p = v3_scale(random_uniform(&r, 0, 0.4), random_unit(&r));
            part[k].pose.R = random_rotation(&r);
        }
        def.type = trial % 3 ? SIM_FIELD_UNION : SIM_FIELD_DIFFERENCE;
        def.child = part;
        def.nchild = 8;
        sim_error error = {0};
        sim_geometry *g = sim_geometry_field(&def, random_uniform(&r, 0.02, 0.08), NULL, &error);
        if (g) {
            expect_sound("combination", g);
            cr_assert_eq(pinched_vertices(g->mesh), 0);
            sim_geometry_free(g);
        } else {
            cr_assert(trial % 3 == 0, "%s", error.text); /* a difference may leave nothing */
            refused++;
        }
    }
    cr_assert(refused < 20, "%d", refused);
}

/* d = cos cos cos-like checkerboard of overlapping spheres: each lattice face can have four crossed edges.  The surface
 * alone, at the first try: the mass of a whole geometry takes a finer one. */
Test(surface, of_a_packing_of_spheres_just_overlapping_closes) {
    enum { SIDE = 4 };
    sim_field_def part[SIDE * SIDE * SIDE], def = sim_field_default();
    for (int k = 0; k < SIDE * SIDE * SIDE; k++) {
        part[k] = field_sphere(0.0501);
        part[k].pose.p = v3_make(0.1 * (k % SIDE), 0.1 * (k / SIDE % SIDE), 0.1 * (k / SIDE / SIDE));
    }
    def.type = SIM_FIELD_UNION;
    def.child = part;
    def.nchild = SIDE * SIDE * SIDE;
    const double edge[4] = {0.013, 0.0271, 0.034, 0.0499};
    for (int k = 4 - part_of(4); k < 4; k++) {
        memory_pool *pool = pool_create();
        sim_error error = {0};
        v3 low, high;
        int64_t room = FIELD_MAX_STEPS;
        surface s;
        sim_field *field = field_build(pool, &def, NULL, &low, &high, &room, &error);
        cr_assert(field && !surface_extract(field, low, high, edge[k], &s, &room, &error), "%s", error.text);
        sim_mesh *m = mesh_build(pool, s.vertex, s.nvertex, (const int(*)[3])s.triangle, s.ntriangle, 0, &error);
        cr_assert(m, "%s", error.text);
        expect_sound_mesh("packing", field, m, v3_norm(v3_sub(high, low)));
        cr_assert_eq(pinched_vertices(m), 0);
        surface_free(&s);
        pool_free(pool);
    }
}

Test(surface, volume_converges_with_the_square_of_the_resolution) {
    sim_field_def def = field_sphere(0.05);
    double exact = 4.0 / 3 * PI * 0.05 * 0.05 * 0.05, error[3];
    for (int k = 0; k < 3; k++) {
        sim_geometry *g = field_geometry(&def, 4e-3 / (1 << k));
        error[k] = 1 - mesh_volume(g->mesh) / exact;
        cr_assert_float_eq(g->solid.mass, exact, 1e-12 * exact);
        sim_geometry_free(g);
    }
    double order = log2(error[1] / error[2]);
    cr_log_warn("volume of a sphere's triangles: off by %.1e, %.1e, %.1e: order %.2f", error[0], error[1], error[2],
                order);
    cr_assert(order > 1.9 && order < 2.1 && error[0] < 4e-3);
}

/* Walls thinner than the triangles that were asked for: their mass does not depend on these.  A jar is a bottom and a wall
 * that share a ring, with a quarter of a torus below and half of one on top, by Pappus. */
Test(surface, mass_of_a_thin_jar_is_its_own_however_coarse_its_triangles) {
    const double r = 0.034, h = 0.16, t = 0.003, line[3][2] = {{0, 0}, {r, 0}, {r, h}};
    sim_field_def def = sim_field_default();
    def.type = SIM_FIELD_PROFILE;
    def.point = line;
    def.npoint = 3;
    def.thickness = t;
    double bottom = PI * r * r * 2 * t, wall = 2 * PI * r * 2 * t * h, shared = PI * (r * r - (r - t) * (r - t)) * t;
    double below = 2 * PI * (r + 4 * t / (3 * PI)) * PI * t * t / 4, top = 2 * PI * r * PI * t * t / 2;
    double exact = bottom + wall - shared + below + top;
    const double edge[3] = {0, 0.005, 0.01};
    for (int k = 0; k < 3; k++) {
        sim_geometry *g = field_geometry(&def, edge[k]);
        cr_expect_lt(fabs(g->solid.mass / exact - 1), 1e-3, "%g m: %g m^3, not %g", edge[k], g->solid.mass, exact);
        sim_geometry_free(g);
    }
}

/* The cubes of a coarse field against the triangles of a fine one: two ways to one mass. */
Test(surface, mass_from_cubes_is_that_of_a_fine_surface) {
    random_source r = {1};
    for (int trial = 0; trial < trials_of(20); trial++) {
        sim_field_def part[4], def = sim_field_default();
        for (int k = 0; k < 4; k++) {
            double a = random_uniform(&r, 0.2, 0.4);
            part[k] = k % 2 ? field_box(a, random_uniform(&r, 0.2, 0.4), 0.3) : field_sphere(a);
            part[k].pose.p = v3_scale(random_uniform(&r, 0, 0.3), random_unit(&r));
            part[k].pose.R = random_rotation(&r);
        }
        def.type = SIM_FIELD_UNION;
        def.child = part;
        def.nchild = 4;
        sim_geometry *fine = field_geometry(&def, 0.01), *coarse = field_geometry(&def, 0.1);
        const sim_inertia *I = &fine->solid, *J = &coarse->solid;
        cr_expect_lt(fabs(J->mass / I->mass - 1), 1e-3, "%d: %g, not %g", trial, J->mass, I->mass);
        cr_expect_lt(v3_norm(v3_sub(J->com, I->com)), 1e-3 * fine->radius, "%d", trial);
        const double *a = &I->moment.xx, *b = &J->moment.xx;
        for (int k = 0; k < 6; k++) {
            cr_expect_lt(fabs(a[k] - b[k]), 3e-3 * I->moment.xx, "%d: moment %d is %g, not %g", trial, k, b[k], a[k]);
        }
        sim_geometry_free(fine);
        sim_geometry_free(coarse);
    }
}

/* Pappus: a body of revolution's volume is its cross-section's area times the way of its centre. */
Test(surface, extrapolated_mass_of_a_torus_is_pappus_to_a_hundredth_of_a_permille) {
    const double ring[2][2] = {{0.05, 0}, {0.05, 1e-9}};
    sim_field_def def = sim_field_default();
    def.type = SIM_FIELD_PROFILE;
    def.point = ring;
    def.npoint = 2;
    def.thickness = 0.015;
    double exact = 2 * PI * 0.05 * PI * 0.015 * 0.015;
    sim_geometry *g = field_geometry(&def, 0);
    const sim_inertia *I = &g->solid;
    double zz = exact * (0.05 * 0.05 + 0.75 * 0.015 * 0.015), xx = exact * (0.05 * 0.05 / 2 + 0.625 * 0.015 * 0.015);
    cr_log_warn("torus: mass off by %.1e, moments by %.1e, %.1e; its triangles by %.1e", I->mass / exact - 1,
                I->moment.zz / zz - 1, I->moment.xx / xx - 1, mesh_volume(g->mesh) / exact - 1);
    cr_assert(fabs(I->mass / exact - 1) < 1e-5 && fabs(I->moment.zz / zz - 1) < 1e-5);
    cr_assert(fabs(I->moment.xx / xx - 1) < 1e-5 && v3_norm(I->com) < 1e-8);
    sim_geometry_free(g);
}

Test(surface, sharp_edges_of_a_box_are_kept) {
    sim_field_def def = field_box(0.1, 0.2, 0.05);
    sim_geometry *g = field_geometry(&def, 0);
    double corner = HUGE_VAL;
    for (int v = 0; v < g->mesh->nvertex; v++) {
        corner = fmin(corner, v3_norm(v3_sub(g->mesh->vertex[v], v3_make(0.05, 0.1, 0.025))));
    }
    cr_assert(corner < 1e-6, "%g", corner);
    cr_assert_float_eq(mesh_volume(g->mesh), 0.1 * 0.2 * 0.05, 1e-10);
    sim_geometry_free(g);
}

Test(surface, mass_of_turned_and_moved_leaves_is_moved_with_them) {
    sim_field_def def = field_box(0.1, 0.2, 0.05);
    def.pose.p = v3_make(1, 2, 3);
    def.pose.R = m3_axis_angle(v3_make(0.6, 0, 0.8), 1.1);
    sim_geometry *g = field_geometry(&def, 0);
    double m = 0.1 * 0.2 * 0.05;
    sym3 I = {m * (0.04 + 0.0025) / 12, m * (0.01 + 0.0025) / 12, m * (0.01 + 0.04) / 12, 0, 0, 0};
    I = sym3_rotated(def.pose.R, I);
    cr_assert_float_eq(g->solid.mass, m, 1e-15);
    cr_assert(v3_norm(v3_sub(g->solid.com, def.pose.p)) < 1e-15);
    cr_assert_float_eq(g->solid.moment.xy, I.xy, 1e-12 * m);
    cr_assert_float_eq(g->solid.moment.zz, I.zz, 1e-12 * m);
    sim_geometry_free(g);
}

Test(surface, of_a_bolt_at_a_millimetre_or_half_is_closed_and_equal_each_time) {
    sim_field_def def = field_bolt(0.1);
    clock_t start = clock();
    const double cell = is_part() ? 2e-3 : long_runs() ? 0.5e-3 : 1e-3; /* m */
    sim_geometry *g = field_geometry(&def, cell);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    expect_sound("bolt", g);
    cr_log_warn("bolt: %d triangles in %.2f s, %.1f MB", g->mesh->ntriangle, seconds, 1e-6 * (double)g->bytes);
    for (int k = 1; k < part_of(2); k++) {
        sim_geometry *again = field_geometry(&def, cell);
        cr_assert_eq(g->mesh->nvertex, again->mesh->nvertex);
        cr_assert_eq(memcmp(g->mesh->vertex, again->mesh->vertex, (size_t)g->mesh->nvertex * sizeof *g->mesh->vertex),
                     0);
        sim_geometry_free(again);
    }
    sim_geometry_free(g);
}
