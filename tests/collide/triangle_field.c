/* The local minimum of a distance field over a triangle, and the distances of solids with a closed form. */
#include "collide/convex/convex.h"
#include "collide/field/field_contact.h"
#include "support/contacts.h"

#include <criterion/criterion.h>

enum { GRID = 80 };

static encounter against(const solid *field) {
    static const solid flat; /* no triangles of its own: the patch is the surface */
    return (encounter){.surface = &flat, .field = field, .X_fs = pose_identity(), .coarse = HUGE_VAL};
}

static patch patch_of(encounter *e, v3 a, v3 b, v3 c) {
    v3 normal = v3_cross(v3_sub(b, a), v3_sub(c, a));
    patch p = {.normal = v3_scale(1 / v3_norm(normal), normal), .whole = {a, b, c}};
    for (int k = 0; k < 3; k++) {
        p.corner[k] = (place){.lift = 0};
        encounter_place(e, p.whole[k], p.normal, 1, &p.corner[k]);
        p.size = fmax(p.size, v3_norm(v3_sub(p.whole[(k + 1) % 3], p.whole[k])));
    }
    return p;
}

/* Least over a lattice, good to the lattice's spacing since phi is nowhere steeper than 1. */
static double by_lattice(const solid *field, const patch *p) {
    double least = HUGE_VAL;
    v3 g;
    for (int i = 0; i <= GRID; i++) {
        for (int j = 0; i + j <= GRID; j++) {
            double u = (double)i / GRID, v = (double)j / GRID;
            v3 x = v3_add(v3_scale(1 - u - v, p->whole[0]), v3_add(v3_scale(u, p->whole[1]), v3_scale(v, p->whole[2])));
            least = fmin(least, field->distance(field, x, &g));
        }
    }
    return least;
}

static v3 random_point(random_source *r, double reach) {
    return v3_make(random_uniform(r, -reach, reach), random_uniform(r, -reach, reach),
                   random_uniform(r, -reach, reach));
}

/* Convex fields have one minimum on a triangle. */
static void least_of(sim_shape shape, uint64_t seed) {
    solid field = solid_of_shape(&shape);
    random_source r = {seed};
    for (int k = 0; k < 300; k++) {
        encounter e = against(&field);
        v3 middle = random_point(&r, 0.1);
        v3 a = v3_add(middle, random_point(&r, 0.05)), b = v3_add(middle, random_point(&r, 0.05));
        patch p = patch_of(&e, a, b, v3_add(middle, random_point(&r, 0.05)));
        place least;
        patch_minimum(&e, &p, &least);
        double expected = by_lattice(&field, &p), here = field.distance(&field, least.x, &(v3){0});
        cr_assert_leq(place_gap(&least), here + 1e-12);
        cr_assert_leq(e.fields, 260);
        if (expected > 1e-3) { /* outside, where it is the gap; the nearer, the better it must be known */
            cr_assert_leq(here, expected + 1e-5 + 1e-3 * expected, "%g, lattice %g, trial %d", here, expected, k);
            cr_assert_geq(here, expected - p.size / GRID);
        }
    }
}

Test(triangle_field, minimum_is_that_of_a_fine_lattice) {
    least_of(sized_shape(SIM_SPHERE, 0.05, 0, 0), 1);
    least_of(sized_shape(SIM_CAPSULE, 0.03, 0.1, 0), 2);
    least_of(sized_shape(SIM_ELLIPSOID, 0.03, 0.05, 0.08), 3);
    least_of(sized_shape(SIM_BOX, 0.06, 0.1, 0.14), 4);
    least_of(sized_shape(SIM_CYLINDER, 0.04, 0.12, 0), 5);
    least_of(sized_shape(SIM_HALF_SPACE, 0, 0, 0), 6);
}

/* The edge of a triangle cuts into the edge of a box at 45 degrees to both faces: the depth is that of edge from
 * edge. */
Test(triangle_field, edge_inside_the_edge_of_a_box_knows_the_way_out) {
    sim_shape shape = sized_shape(SIM_BOX, 0.1, 0.1, 0.1);
    solid field = solid_of_shape(&shape);
    for (int k = 1; k <= 5; k++) {
        double depth = 1e-3 * k, s = sqrt(0.5), off = 0.05 - depth * s;
        v3 on = {off, 0.013, off}, along = {s, 0, -s}, out = {s, 0.3, s};
        encounter e = against(&field);
        patch p = patch_of(&e, v3_axpy(on, -0.02, along), v3_axpy(on, 0.03, along), v3_axpy(on, 0.03, out));
        place least;
        patch_minimum(&e, &p, &least);
        cr_assert_float_eq(place_gap(&least), -depth, 1e-9, "%g for %g", place_gap(&least), -depth);
        cr_assert_float_eq(v3_dot(least.g, v3_make(s, 0, s)), 1, 1e-9);
    }
}

Test(triangle_field, never_steeper_than_one_and_gradients_are_those_of_differences) {
    sim_shape shape[] = {sized_shape(SIM_SPHERE, 0.05, 0, 0), sized_shape(SIM_BOX, 0.06, 0.1, 0.14),
                         sized_shape(SIM_CAPSULE, 0.03, 0.1, 0), sized_shape(SIM_CYLINDER, 0.04, 0.12, 0),
                         sized_shape(SIM_ELLIPSOID, 0.03, 0.05, 0.08)};
    random_source r = {7};
    for (int i = 0; i < 5; i++) {
        solid s = solid_of_shape(&shape[i]);
        for (int k = 0; k < 2000; k++) {
            v3 p = random_point(&r, 0.12), q = k % 2 ? random_point(&r, 0.12) : v3_add(p, random_point(&r, 1e-4)), g, h;
            double a = s.distance(&s, p, &g), b = s.distance(&s, q, &h);
            cr_assert_leq(fabs(a - b), v3_norm(v3_sub(p, q)) * (1 + 1e-9) + 1e-15);
            cr_assert_float_eq(v3_norm(g), 1, 1e-9);
            if (k % 2 == 0 && v3_norm(v3_sub(g, h)) < 0.1) {
                cr_assert_float_eq(b - a, v3_dot(g, v3_sub(q, p)), 2e-5);
            }
        }
    }
}

/* From outside: the distance of a point to a convex core is what convex_distance says. */
Test(triangle_field, closed_forms_agree_with_distances_of_convex_solids) {
    sim_shape shape[] = {sized_shape(SIM_BOX, 0.06, 0.1, 0.14), sized_shape(SIM_CYLINDER, 0.04, 0.12, 0),
                         sized_shape(SIM_ELLIPSOID, 0.03, 0.05, 0.08)};
    sim_shape point = sized_shape(SIM_SPHERE, 1e-3, 0, 0);
    random_source r = {8};
    for (int i = 0; i < 3; i++) {
        solid s = solid_of_shape(&shape[i]);
        convex a, b;
        convex_of_shape(&shape[i], &a);
        convex_of_shape(&point, &b);
        for (int k = 0; k < 300; k++) {
            pose X = pose_identity();
            X.p = random_point(&r, 0.12);
            v3 g;
            convex_gap gap;
            convex_distance(&a, &b, &X, 1, v3_make(0, 0, 0), &gap);
            cr_assert_float_eq(s.distance(&s, X.p, &g) - 1e-3, gap.gap, 1e-8);
        }
    }
}

Test(triangle_field, projection_lands_on_the_surface) {
    sim_shape shape[] = {sized_shape(SIM_CYLINDER, 0.04, 0.12, 0), sized_shape(SIM_ELLIPSOID, 0.03, 0.05, 0.08)};
    random_source r = {9};
    for (int i = 0; i < 2; i++) {
        solid s = solid_of_shape(&shape[i]);
        for (int k = 0; k < 500; k++) {
            v3 p = random_point(&r, 0.1), on, n, g;
            if (solid_project(&s, p, 1, &on, &n)) {
                cr_assert_float_eq(s.distance(&s, on, &g), 0, 1e-12);
                cr_assert_float_eq(v3_norm(v3_sub(p, on)), fabs(s.distance(&s, p, &g)), 1e-9);
            }
        }
    }
}
