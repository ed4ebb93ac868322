/* Distance fields of leaves and combinations: distances, gradients, slopes, signs, refusals. */
#include "support/fields.h"
#include "support/share.h"

#include "geometry/field/field.h"

#include <criterion/criterion.h>

static const double PI = 3.14159265358979323846;

/* ---- leaves against the nearest of all points of their surface ---- */

static double box_by_faces(const double half[3], v3 p) {
    const double x[3] = {p.x, p.y, p.z};
    double least = HUGE_VAL;
    for (int axis = 0; axis < 3; axis++) {
        for (int side = -1; side <= 1; side += 2) {
            double squared = 0;
            for (int k = 0; k < 3; k++) {
                double on = k == axis ? side * half[k] : fmin(fmax(x[k], -half[k]), half[k]);
                squared += (x[k] - on) * (x[k] - on);
            }
            least = fmin(least, sqrt(squared));
        }
    }
    return least;
}

/* The nearest point of a curve (radius, z) turned about z, sampled along the curve and round the axis, then
 * narrowed. */
static double turned_by_sampling(const double (*point)[2], int npoint, v3 p) {
    double least = HUGE_VAL;
    for (int k = 0; k + 1 < npoint; k++) {
        double t = 0.5, phi = 0, wide_t = 0.5, wide_phi = PI;
        for (int pass = 0; pass < 60; pass++) {
            double best = HUGE_VAL, best_t = t, best_phi = phi;
            const int n = pass == 0 ? 40 : 3;
            for (int a = -n; a <= n; a++) {
                for (int b = -n; b <= n; b++) {
                    double at = fmin(fmax(t + wide_t * a / n, 0), 1), angle = phi + wide_phi * b / n;
                    double r = point[k][0] + at * (point[k + 1][0] - point[k][0]);
                    double z = point[k][1] + at * (point[k + 1][1] - point[k][1]);
                    double d = v3_norm(v3_sub(p, v3_make(r * cos(angle), r * sin(angle), z)));
                    if (d < best) {
                        best = d;
                        best_t = at;
                        best_phi = angle;
                    }
                }
            }
            t = best_t;
            phi = best_phi;
            wide_t *= pass == 0 ? 2.0 / 40 : 0.6;
            wide_phi *= pass == 0 ? 2.0 / 40 : 0.6;
            least = fmin(least, best);
        }
    }
    return least;
}

Test(field, sphere_and_box_are_the_distance) {
    sim_field_def sphere = field_sphere(0.07), box = field_box(0.1, 0.2, 0.05);
    sim_geometry *s = field_geometry(&sphere, 0), *b = field_geometry(&box, 0);
    const double half[3] = {0.05, 0.1, 0.025};
    random_source r = {1};
    for (int k = 0; k < trials_of(20000); k++) {
        v3 p = field_point(&r, s, 0.1);
        cr_assert_float_eq(sim_field_distance(s->field, p, NULL), v3_norm(p) - 0.07, 1e-15);
        p = field_point(&r, b, 0.1);
        int inside = fabs(p.x) < half[0] && fabs(p.y) < half[1] && fabs(p.z) < half[2];
        cr_assert_float_eq(sim_field_distance(b->field, p, NULL), (inside ? -1 : 1) * box_by_faces(half, p), 1e-15);
    }
    sim_geometry_free(s);
    sim_geometry_free(b);
}

Test(field, cylinder_is_the_distance) {
    const double outline[4][2] = {{0, -0.1}, {0.05, -0.1}, {0.05, 0.1}, {0, 0.1}};
    sim_field_def cylinder = field_cylinder(0.05, 0.2);
    sim_geometry *g = field_geometry(&cylinder, 0);
    random_source r = {2};
    for (int k = 0; k < 300; k++) {
        v3 p = field_point(&r, g, 0.05);
        int inside = hypot(p.x, p.y) < 0.05 && fabs(p.z) < 0.1;
        double exact = turned_by_sampling(outline, 4, p), d = sim_field_distance(g->field, p, NULL);
        cr_assert_float_eq(d, (inside ? -1 : 1) * exact, 1e-12, "%g, %g", d, exact);
    }
    sim_geometry_free(g);
}

/* Lee et al. 2024, eq. 45, in space: the distance to the curve turned about z, less the thickness. */
Test(field, dishes_are_a_shell_around_the_curve_turned_about_z) {
    for (int which = 0; which < DISHES; which++) {
        sim_field_def def = field_dish(which);
        sim_geometry *g = field_geometry(&def, 0);
        random_source r = {3};
        for (int k = 0; k < 150; k++) {
            v3 p = field_point(&r, g, 0.03);
            double exact = turned_by_sampling(dishes[which].point, 3, p) - dishes[which].thickness;
            double d = sim_field_distance(g->field, p, NULL);
            cr_assert_float_eq(d, exact, 1e-12, "%s: %g, %g", dishes[which].name, d, exact);
        }
        sim_geometry_free(g);
    }
}

Test(field, gradient_of_a_dish_is_defined_on_the_axis_and_on_the_curve) {
    for (int which = 0; which < DISHES; which++) {
        sim_field_def def = field_dish(which);
        sim_geometry *g = field_geometry(&def, 0);
        for (int k = -20; k <= 20; k++) {
            for (int off = 0; off < 3; off++) {
                v3 gradient, p = {off == 1 ? 1e-200 : 0, off == 2 ? -1e-12 : 0, 0.01 * k};
                double d = sim_field_distance(g->field, p, &gradient);
                cr_assert(isfinite(d));
                cr_assert_float_eq(v3_norm(gradient), 1, 1e-12, "%s at %g", dishes[which].name, p.z);
            }
        }
        sim_geometry_free(g);
    }
}

/* ---- all kinds of solids ---- */

enum { SOLIDS = 8, PARTS = 16 };

/* A solid of every kind; `part` holds children. */
static sim_field_def solid(int which, sim_field_def part[PARTS]) {
    sim_field_def def = sim_field_default();
    def.child = part;
    def.nchild = 2;
    part[0] = field_box(0.1, 0.08, 0.06);
    part[1] = field_sphere(0.045);
    part[1].pose.p = v3_make(0.03, 0.02, 0.02);
    part[0].pose.R = m3_axis_angle(v3_make(0.6, 0, 0.8), 0.7);
    switch (which) {
    case 0:
        def.type = SIM_FIELD_UNION;
        return def;
    case 1:
        def.type = SIM_FIELD_INTERSECTION;
        return def;
    case 2:
        def.type = SIM_FIELD_DIFFERENCE;
        return def;
    case 3: /* a rounded difference of a union and a cylinder, all of it turned */
        part[2] = def;
        part[2].type = SIM_FIELD_UNION;
        part[3] = field_cylinder(0.02, 0.3);
        part[3].pose.R = m3_axis_angle(v3_make(1, 0, 0), 0.4);
        def.type = SIM_FIELD_DIFFERENCE;
        def.child = part + 2;
        def.rounding = 0.004;
        def.pose.p = v3_make(0.2, -0.1, 0.05);
        def.pose.R = m3_axis_angle(v3_make(0, 0.6, 0.8), 2.1);
        return def;
    case 4:
        return field_nut(1e-4, 75e-3, 38e-3, part);
    default:
        return field_dish(which - 5);
    }
}

/* The geometry of a solid, kept for all cases of this process: to build one takes longer than to ask it. */
static const sim_geometry *built(int which) {
    static sim_geometry *kept[SOLIDS];
    if (!kept[which]) {
        sim_field_def part[PARTS], def = solid(which, part);
        kept[which] = field_geometry(&def, 0);
    }
    return kept[which];
}

/* The same membership, asked the other way: points into each child's own frame. */
static int is_inside(const sim_field_def *def, v3 p) {
    v3 q = m3_transposed_times(def->pose.R, v3_sub(p, def->pose.p));
    if (def->nchild == 0) {
        if (def->type == SIM_FIELD_SPHERE) {
            return v3_norm(q) < def->size[0];
        }
        if (def->type == SIM_FIELD_BOX) {
            return fabs(q.x) < def->size[0] / 2 && fabs(q.y) < def->size[1] / 2 && fabs(q.z) < def->size[2] / 2;
        }
        return hypot(q.x, q.y) < def->size[0] && fabs(q.z) < def->size[1] / 2;
    }
    int in = is_inside(&def->child[0], q);
    for (int k = 1; k < def->nchild; k++) {
        int other = is_inside(&def->child[k], q);
        in = def->type == SIM_FIELD_UNION ? in || other : in && (def->type == SIM_FIELD_DIFFERENCE ? !other : other);
    }
    return in;
}

Test(field, sign_of_combinations_is_that_of_their_members) {
    sim_field_def part[PARTS];
    for (int which = 0; which < 4; which++) {
        sim_field_def def = solid(which, part);
        def.rounding = 0;
        sim_geometry *g = field_geometry(&def, 0);
        random_source r = {4};
        int inside = 0;
        for (int k = 0; k < trials_of(20000); k++) {
            v3 p = field_point(&r, g, 0.01);
            int in = is_inside(&def, p);
            inside += in;
            cr_assert_eq(sim_field_distance(g->field, p, NULL) < 0, in, "solid %d", which);
        }
        cr_assert(inside > trials_of(500));
        sim_geometry_free(g);
    }
}

Test(field, nothing_is_steeper_than_one) {
    for (int which = 0; which < SOLIDS; which++) {
        const sim_geometry *g = built(which);
        field_slopes s = field_steepest(g, 0.1, trials_of(50000));
        cr_assert(s.between <= 1 + 1e-12 && s.gradient <= 1 + 1e-12, "solid %d: 1 + %g, 1 + %g", which, s.between - 1,
                  s.gradient - 1);
    }
}

Test(field, gradient_is_the_difference_quotient) {
    for (int which = 0; which < SOLIDS; which++) {
        const sim_geometry *g = built(which);
        double kept, error = field_gradient_error(g, 0.02, 10000, 1e-6, 1e-5, &kept);
        cr_assert(kept > 0.9 && error < 1e-5, "solid %d: %g over %g of the points", which, error, kept);
    }
}

/* Where one smooth part of a thread leads by more than 2 |d| the foot of p is p - d g: the field is 0 there, and has the
 * same gradient.  Threads with ends, edges and a clearance, in a nut, in a union, a difference and turned. */
Test(field, foot_of_a_point_is_on_the_surface_where_one_part_leads) {
    enum { THREADS = 4 };
    sim_field_def part[PARTS], pair[2] = {field_bolt(0.04), field_box(0.03, 0.06, 0.01)}, def[THREADS];
    pair[0].thread.clearance = 2e-4;
    pair[0].pose.R = m3_axis_angle(v3_make(0.6, 0, 0.8), 0.7);
    def[0] = pair[0];
    def[1] = field_nut(1e-4, 75e-3, 38e-3, part);
    for (int k = 2; k < THREADS; k++) {
        def[k] = sim_field_default();
        def[k].type = k == 2 ? SIM_FIELD_UNION : SIM_FIELD_DIFFERENCE;
        def[k].child = pair;
        def[k].nchild = 2;
    }
    for (int which = 0; which < THREADS; which++) {
        sim_geometry *g = field_geometry(&def[which], 2e-3);
        random_source r = {6};
        int led = 0, trials = trials_of(50000);
        for (int k = 0; k < trials; k++) {
            v3 p = field_point(&r, g, 0.003), n, at_foot;
            double lead, ignored, d = field_distance_and_lead(g->field, p, &n, &lead);
            cr_assert_eq(d, sim_field_distance(g->field, p, NULL));
            if (lead > 2 * fabs(d)) {
                v3 foot = v3_axpy(p, -d, n);
                double off = fabs(field_distance_and_lead(g->field, foot, &at_foot, &ignored));
                led++;
                cr_assert(off < 1e-12, "solid %d: off by %g, %g before", which, off, d);
                cr_assert(v3_norm(v3_sub(n, at_foot)) < 1e-9, "solid %d at %g: %g", which, d,
                          v3_norm(v3_sub(n, at_foot)));
            }
        }
        cr_assert(led > trials / 20, "solid %d: %d of %d", which, led, trials);
        sim_geometry_free(g);
    }
}

/* No |d| exceeds the distance to any point of the surface, taken at the corners of its triangles. */
Test(field, distance_is_never_overestimated) {
    for (int which = 0; which < SOLIDS; which++) {
        const sim_geometry *g = built(which);
        random_source r = {5};
        for (int k = 0; k < 200; k++) {
            v3 p = field_point(&r, g, 0.05);
            double d = fabs(sim_field_distance(g->field, p, NULL)), nearest = HUGE_VAL;
            for (int v = 0; v < g->mesh->nvertex; v++) {
                nearest = fmin(nearest, v3_norm(v3_sub(p, g->mesh->vertex[v])));
            }
            cr_assert(d <= nearest * (1 + 1e-12), "solid %d: %g, %g", which, d, nearest);
        }
    }
}

Test(field, bounds_and_ball_hold_the_solid_and_little_more) {
    for (int which = 0; which < SOLIDS; which++) {
        const sim_geometry *g = built(which);
        v3 size = v3_sub(g->high, g->low), low = g->mesh->vertex[0], high = low;
        double cell = fmax(size.x, fmax(size.y, size.z)) / 25, radius = 0;
        for (int v = 0; v < g->mesh->nvertex; v++) {
            v3 p = g->mesh->vertex[v];
            low = v3_make(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
            high = v3_make(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
            radius = fmax(radius, v3_norm(p));
        }
        v3 below = v3_sub(low, g->low), above = v3_sub(g->high, high);
        double least = fmin(fmin(below.x, fmin(below.y, below.z)), fmin(above.x, fmin(above.y, above.z)));
        double most = fmax(fmax(below.x, fmax(below.y, below.z)), fmax(above.x, fmax(above.y, above.z)));
        cr_assert(least > -1e-12 && most < cell, "solid %d: %g, %g, cell %g", which, least, most, cell);
        cr_assert(g->radius >= radius && g->radius < radius + 2 * cell, "solid %d: %g, %g", which, g->radius, radius);
    }
}

Test(field, scaling_a_solid_scales_its_distances) {
    sim_field_def part[2][2], def[2];
    sim_geometry *g[2];
    for (int k = 0; k < 2; k++) {
        double s = k ? 1024 : 1;
        part[k][0] = field_box(0.1 * s, 0.08 * s, 0.06 * s);
        part[k][1] = field_sphere(0.045 * s);
        def[k] = sim_field_default();
        def[k].type = SIM_FIELD_DIFFERENCE;
        def[k].child = part[k];
        def[k].nchild = 2;
        g[k] = field_geometry(&def[k], 0);
    }
    cr_assert_eq(g[0]->mesh->ntriangle, g[1]->mesh->ntriangle);
    random_source r = {6};
    for (int k = 0; k < trials_of(1000); k++) {
        v3 p = field_point(&r, g[0], 0.05);
        cr_assert(1024 * sim_field_distance(g[0]->field, p, NULL) ==
                  sim_field_distance(g[1]->field, v3_scale(1024, p), NULL));
    }
    sim_geometry_free(g[0]);
    sim_geometry_free(g[1]);
}

Test(field, fingerprint_is_of_the_content) {
    sim_field_def a = field_dish(0), b = field_dish(0), c = field_dish(0);
    c.thickness *= 1 + 1e-15;
    sim_geometry *g[4] = {field_geometry(&a, 0), field_geometry(&b, 0), field_geometry(&c, 0),
                          field_geometry(&a, 0.005)};
    cr_assert(g[0]->fingerprint == g[1]->fingerprint);
    cr_assert(g[0]->fingerprint != g[2]->fingerprint && g[0]->fingerprint != g[3]->fingerprint);
    for (int k = 0; k < 4; k++) {
        sim_geometry_free(g[k]);
    }
}

/* ---- what is no solid ---- */

static void expect_refused(const sim_field_def *def, double resolution, const char *words) {
    sim_error error = {0};
    cr_assert_null(sim_geometry_field(def, resolution, NULL, &error), "%s", words);
    cr_assert_eq(error.status, SIM_BAD_INPUT);
    cr_assert(strstr(error.text, words), "expected \"%s\" in: %s", words, error.text);
}

Test(field, sizes_and_poses_that_are_none_are_refused) {
    sim_field_def s = field_sphere(-1), b = field_box(1, NAN, 1), c = field_cylinder(1, 0), d = field_sphere(1);
    expect_refused(&s, 0, "field: the sphere's radius must be positive");
    expect_refused(&b, 0, "the box's edge along y");
    expect_refused(&c, 0, "the cylinder's length");
    d.rounding = -1;
    expect_refused(&d, 0, "rounding");
    d = field_sphere(1), d.pose.R.x.x = 1.1;
    expect_refused(&d, 0, "pose");
    d = field_sphere(1), d.pose.p.y = INFINITY;
    expect_refused(&d, 0, "position");
    d = field_sphere(1), d.type = SIM_FIELD_TYPES;
    expect_refused(&d, 0, "no type of field");
    d = field_sphere(1);
    expect_refused(&d, -1, "resolution");
    expect_refused(&d, NAN, "resolution");
    /* two small balls far apart, none of which holds a corner of the lattice */
    sim_field_def small[2] = {field_sphere(0.01), field_sphere(0.01)}, both = sim_field_default();
    small[0].pose.p.x = -1, small[1].pose.p.x = 1;
    both.type = SIM_FIELD_UNION, both.child = small, both.nchild = 2;
    expect_refused(&both, 0.3, "finer");
}

Test(field, profiles_that_are_none_are_refused) {
    const double negative[2][2] = {{0, 0}, {-1, 0}};
    sim_field_def p = field_dish(0);
    p.npoint = 1;
    expect_refused(&p, 0, "2 to");
    p = field_dish(0), p.thickness = 0;
    expect_refused(&p, 0, "thickness");
    p = field_dish(0), p.point = negative, p.npoint = 2;
    expect_refused(&p, 0, "point 1 of the profile is (-1, 0)");
    p.point = NULL;
    expect_refused(&p, 0, "found 0");
}

Test(field, trees_that_are_none_are_refused) {
    sim_field_def part[40], leaf = field_sphere(1), bore = field_bore(0);
    sim_field_def d = sim_field_default();
    leaf.child = &bore, leaf.nchild = 1;
    expect_refused(&leaf, 0, "a sphere has no children");
    d.type = SIM_FIELD_UNION;
    expect_refused(&d, 0, "at least 1 child");
    d.type = SIM_FIELD_DIFFERENCE;
    part[0] = field_sphere(1);
    part[1] = field_cylinder(1, -2);
    d.child = part, d.nchild = 1;
    expect_refused(&d, 0, "at least 2 children");
    d.nchild = 2;
    expect_refused(&d, 0, "field.child[1]: the cylinder's length");
    expect_refused(&bore, 0, "no bounds");
    part[1] = bore;
    d.type = SIM_FIELD_UNION;
    expect_refused(&d, 0, "no bounds");
    part[1] = field_sphere(1), part[1].pose.p.x = 5;
    d.type = SIM_FIELD_INTERSECTION;
    expect_refused(&d, 0, "empty");
    part[39] = field_sphere(1);
    for (int k = 38; k >= 0; k--) {
        part[k] = sim_field_default();
        part[k].type = SIM_FIELD_UNION;
        part[k].child = &part[k + 1];
        part[k].nchild = 1;
    }
    expect_refused(&part[0], 0, "nested more than 32 deep");
    sim_geometry_free(field_geometry(&part[39 - 31], 0));
    d = sim_field_default(), d.type = SIM_FIELD_GRID;
    expect_refused(&d, 0, "closed mesh");
}

Test(field, types_have_names) {
    cr_assert_str_eq(sim_field_name(SIM_FIELD_SPHERE), "sphere");
    cr_assert_str_eq(sim_field_name(SIM_FIELD_THREAD), "thread");
    cr_assert_str_eq(sim_field_name(SIM_FIELD_DIFFERENCE), "difference");
    cr_assert_str_eq(sim_field_name((sim_field_type)99), "?");
}
