/* Gaps along motions through touching, and one solid given in several ways.
 *
 * The gap is a distance: it changes by no more than the shape moves.  SIM_ORACLE_CURVES=FILE writes the gaps along the
 * way, one line a step: the pair, the motion, the way gone, the gap, the normal. */
#include "oracle/triangles.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 512, STEPS = 400 };

static const sim_pose still = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};

static sim_contact_point deepest_of(const sim_shape *a, const sim_pose *X_a, const sim_shape *b, const sim_pose *X_b,
                                    double margin, int *count) {
    static sim_contact_point point[MOST];
    int n = sim_collide_shapes(a, X_a, b, X_b, margin, point, MOST), best = 0;
    for (int k = 1; k < n && k < MOST; k++) {
        best = point[k].gap < point[best].gap ? k : best;
    }
    *count = n;
    return point[best];
}

typedef struct curve {
    double jump;   /* worst change of the gap, of the way of a step */
    double at;     /* where, of the way */
    int lost;      /* steps without an answer */
    double lowest; /* gap */
} curve;

static curve follow(FILE *file, const char *name, int motion, const sim_shape *a, sim_pose X_a, const sim_shape *b,
                    const sim_pose *X_b, vec way, double margin) {
    curve c = {.lowest = HUGE_VAL};
    double last = 0, step = (double)length(way) / STEPS;
    vec from = vec_from(X_a.p);
    for (int k = 0; k <= STEPS; k++) {
        X_a.p = vec_plain(along(from, (real)k / STEPS, way));
        int count;
        sim_contact_point p = deepest_of(a, &X_a, b, X_b, margin, &count);
        if (count < 1) {
            c.lost++;
            continue;
        }
        if (file) {
            fprintf(file, "%s %d %.9g %.9g %.9g %.9g %.9g\n", name, motion, k * step, p.gap, p.normal.x, p.normal.y,
                    p.normal.z);
        }
        if (k > c.lost && fabs(p.gap - last) > c.jump * step) {
            c.jump = fabs(p.gap - last) / step;
            c.at = (double)k / STEPS;
        }
        c.lowest = fmin(c.lowest, p.gap);
        last = p.gap;
    }
    return c;
}

typedef struct entry {
    double change; /* worst change of the gap before it enters, of a step */
    double first;  /* the first gap inside, of a step */
    int apart;     /* steps that cut a triangle but are said to be apart */
} entry;

/* Only where every triangle says so is the gap positive. */
static int cuts(const triangles *t, const sim_shape *a, const sim_pose *X_a) {
    static solid s;
    vec normal;
    int which;
    solid_of(a, X_a, vec_of(0, 0, 0), &s);
    return triangles_gap(t, &s, &normal, &which) <= 0;
}

static entry enter(const sim_shape *a, sim_pose X_a, const sim_shape *b, const triangles *t, vec way, double margin) {
    entry e = {0};
    double last = HUGE_VAL, step = (double)length(way) / STEPS;
    vec from = vec_from(X_a.p);
    for (int k = 0; k <= STEPS; k++) {
        X_a.p = vec_plain(along(from, (real)k / STEPS, way));
        int count;
        double gap = deepest_of(a, &X_a, b, &still, margin, &count).gap;
        gap = count > 0 ? gap : HUGE_VAL;
        if (last > 0 && last < margin - step) {
            e.change = gap > 0 ? fmax(e.change, fabs(gap - last) / step) : e.change;
            e.first = gap <= 0 ? fmax(e.first, -gap / step) : e.first;
        }
        if (gap > 0 && (last <= 0 || k % 16 == 0)) {
            e.apart += cuts(t, a, &X_a);
        }
        last = last > 0 ? gap : last;
    }
    return e;
}

static FILE *curves(void) {
    const char *path = getenv("SIM_ORACLE_CURVES");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) {
        setvbuf(file, NULL, _IOLBF, 4096); /* tests run side by side: whole lines */
    }
    return file;
}

Test(oracle_motion, gaps_of_convex_pairs_change_by_no_more_than_the_shapes_move) {
    stock from;
    stock_make(&from);
    random_source r = {77};
    FILE *file = curves();
    for (int a = 0; a <= SIM_CONVEX; a++) {
        for (int b = a; b <= SIM_CONVEX; b++) {
            if (a == SIM_HALF_SPACE && b == SIM_HALF_SPACE) {
                continue;
            }
            char name[64];
            snprintf(name, sizeof name, "%s-%s", sim_shape_name((sim_shape_type)a), sim_shape_name((sim_shape_type)b));
            for (int motion = 0; motion < (int)oracle_scenes(4); motion++) {
                sim_shape s = shape_random(&r, &from, (sim_shape_type)a, 0),
                          t = shape_random(&r, &from, (sim_shape_type)b, 0);
                sim_pose X_s = {random_rotation(&r), {0, 0, 0}}, X_t = {random_rotation(&r), {0, 0, 0}};
                vec d = vec_from(random_unit(&r)), aim = times(0.1L, vec_from(random_unit(&r)));
                real rises = a == SIM_HALF_SPACE ? dot(d, vec_from(X_s.R.z)) : -dot(d, vec_from(X_t.R.z));
                if ((a == SIM_HALF_SPACE || b == SIM_HALF_SPACE) && rises < 0) {
                    d = times(-1, d); /* from above */
                }
                X_s.p = vec_plain(along(aim, -3, d));
                curve c = follow(file, name, motion, &s, X_s, &t, &X_t, times(3.2L, d), 1e3);
                cr_expect_eq(c.lost, 0, "%s: %d steps without a point", name, c.lost);
                cr_expect(c.jump <= 1 + 1e-5, "%s, motion %d: the gap changes by %.9g of the step at %.4g of the way",
                          name, motion, c.jump, c.at);
            }
        }
    }
    if (file) {
        fclose(file);
    }
    stock_free(&from);
}

/* Only to a depth at which one answer is right. */
Test(oracle_motion, gaps_of_balls_and_surfaces_change_by_no_more_than_the_balls_move) {
    random_source r = {78};
    FILE *file = curves();
    sim_geometry *surface[4] = {torus_mesh(0.5, 0.2, 18, 10), ell_mesh(), star_mesh(), ground_heights()};
    static const char *const names[4] = {"sphere-torus", "sphere-L", "sphere-star", "sphere-ground"};
    for (int which = 0; which < 4; which++) {
        for (int motion = 0; motion < (int)oracle_scenes(4); motion++) {
            sim_shape s = sim_shape_default(), t = sim_shape_default();
            s.type = SIM_SPHERE;
            s.size[0] = 0.08;
            t.type = which == 3 ? SIM_HEIGHT_FIELD : SIM_MESH;
            t.geometry = surface[which];
            vec d = vec_from(random_unit(&r));
            if (which == 3) {
                d.z = -fabsl(d.z) - 1;
                d = unit(d);
            }
            sim_pose X_s = still;
            vec aim = which == 0 ? vec_of(0.5L, 0, 0) : which == 1 ? vec_of(0.15L, 0.2L, 0) : vec_of(0.05L, 0, 0);
            X_s.p = vec_plain(along(aim, -0.6L, d));
            curve c = follow(file, names[which], motion, &s, X_s, &t, &still, times(0.6L, d), 1e3);
            cr_expect_eq(c.lost, 0, "%s: %d steps without a point", names[which], c.lost);
            cr_expect(c.jump <= 1 + 1e-5, "%s, motion %d: the gap changes by %.9g of the step at %.4g of the way",
                      names[which], motion, c.jump, c.at);
            cr_expect_lt(c.lowest, 0);
        }
    }
    for (int k = 0; k < 4; k++) {
        sim_geometry_free(surface[k]);
    }
    if (file) {
        fclose(file);
    }
}

Test(oracle_motion, gaps_lead_into_surfaces_without_a_jump_and_what_cuts_one_is_not_apart) {
    stock from;
    stock_make(&from);
    random_source r = {79};
    triangles all = {0};
    sim_geometry *surface[4] = {torus_mesh(0.5, 0.2, 18, 10), ell_mesh(), star_mesh(), ground_heights()};
    static const sim_shape_type types[] = {SIM_BOX, SIM_CAPSULE, SIM_CYLINDER, SIM_ELLIPSOID, SIM_CONVEX};
    static const char *const names[4] = {"torus", "L", "star", "ground"};
    for (int type = 0; type < 5; type++) {
        bool all_four = part_of(4) == 4;
        for (int which = all_four ? 0 : type % 4; which <= (all_four ? 3 : type % 4); which++) {
            sim_shape s = shape_random(&r, &from, types[type], 0), t = sim_shape_default();
            for (int k = 0; k < 3; k++) {
                s.size[k] *= 0.3;
            }
            t.type = which == 3 ? SIM_HEIGHT_FIELD : SIM_MESH;
            t.geometry = surface[which];
            vec d = vec_from(random_unit(&r));
            d.z = which == 3 ? -fabsl(d.z) - 1 : d.z;
            d = unit(d);
            sim_pose X = {random_rotation(&r), {0, 0, 0}};
            X.p = vec_plain(along(vec_of(which == 0 ? 0.45L : 0.1L, 0.1L, 0), -1.3L, d));
            triangles_of(surface[which], &still, vec_of(0, 0, 0), &all);
            entry e = enter(&s, X, &t, &all, times(1.3L, d), 0.3);
            cr_expect(e.change <= 1 + 1e-4, "%s to %s: the gap changes by %g of the step", sim_shape_name(s.type),
                      names[which], e.change);
            cr_expect(e.first <= 1 + 1e-4, "%s to %s: the first gap inside is %g of the step", sim_shape_name(s.type),
                      names[which], e.first);
            cr_expect_eq(e.apart, 0, "%s to %s: said to be apart in %d steps that cut the surface",
                         sim_shape_name(s.type), names[which], e.apart);
        }
    }
    for (int k = 0; k < 4; k++) {
        sim_geometry_free(surface[k]);
    }
    triangles_free(&all);
    stock_free(&from);
}

/* ---- fields, along with the convex solids that they describe ---- */

typedef struct twin {
    const char *name;
    sim_field_type type;
    sim_shape_type same;
    double size[3];
} twin;

typedef struct gaps {
    double jump;            /* worst change before they touch, of a step */
    double outside, inside; /* how far from those of the other */
    int lost;
} gaps;

/* From a tenth of its size apart to a tenth inside. */
static gaps follow_twin(FILE *file, const char *name, int motion, const sim_shape *a, sim_pose X,
                        const sim_shape *field, const sim_shape *same, vec d, double size) {
    gaps g = {0};
    int count, there;
    double low = 0, high = 3, last = 0, step = 0.2 * size / STEPS, margin = 0.15 * size;
    vec from = vec_from(X.p);
    for (int k = 0; k < 50; k++) {
        double middle = 0.5 * (low + high);
        X.p = vec_plain(along(from, -middle, d));
        int apart = deepest_of(a, &X, same, &still, 10, &count).gap > 0;
        low = apart ? low : middle;
        high = apart ? middle : high;
    }
    for (int k = 0; k <= STEPS; k++) {
        X.p = vec_plain(along(from, (double)k * step - high - 0.1 * size, d));
        double gap = deepest_of(a, &X, field, &still, margin, &count).gap;
        double known = deepest_of(a, &X, same, &still, margin, &there).gap;
        if (count < 1) {
            g.lost += there > 0;
            continue;
        }
        double *worst = known > 0 ? &g.outside : &g.inside;
        *worst = fmax(*worst, fabs(gap - known) / size);
        g.jump = k > 0 && known > 0 ? fmax(g.jump, fabs(gap - last) / step) : g.jump;
        last = gap;
        if (file) {
            fprintf(file, "%s %d %.9g %.9g %.9g\n", name, motion, k * step / size - 0.1, gap / size, known / size);
        }
    }
    return g;
}

Test(oracle_motion, gaps_of_fields_are_those_of_the_solids_they_describe) {
    static const twin twins[3] = {{"ball", SIM_FIELD_SPHERE, SIM_SPHERE, {0.35, 0, 0}},
                                  {"box", SIM_FIELD_BOX, SIM_BOX, {0.5, 0.4, 0.7}},
                                  {"rod", SIM_FIELD_CYLINDER, SIM_CYLINDER, {0.25, 0.7, 0}}};
    static const sim_shape_type types[6] = {SIM_SPHERE, SIM_BOX, SIM_CAPSULE, SIM_CYLINDER, SIM_ELLIPSOID, SIM_CONVEX};
    random_source r = {83};
    stock from;
    stock_make(&from);
    FILE *file = curves();
    for (int which = 3 - part_of(3); which < 3; which++) {
        const twin *t = &twins[which];
        sim_field_def def = sim_field_default();
        sim_shape field = sim_shape_default(), same = sim_shape_default();
        sim_error error;
        def.type = t->type;
        memcpy(def.size, t->size, sizeof t->size);
        memcpy(same.size, t->size, sizeof t->size);
        same.type = t->same;
        field.type = SIM_SDF;
        sim_geometry *g = sim_geometry_field(&def, 0, NULL, &error);
        cr_assert_not_null(g, "%s", error.text);
        field.geometry = g;
        for (int k = 0; k < 6 * part_of(6); k++) {
            sim_shape s = shape_random(&r, &from, types[k % 6], 0);
            double size = 0.35;
            for (int i = 0; i < 3; i++) {
                s.size[i] *= 0.5;
                size = s.size[i] > 0 ? fmin(size, s.size[i]) : size;
            }
            sim_pose X = {random_rotation(&r), vec_plain(times(0.1L, vec_from(random_unit(&r))))};
            char name[64];
            snprintf(name, sizeof name, "%s-field-%s", sim_shape_name(s.type), t->name);
            gaps c = follow_twin(file, name, k, &s, X, &field, &same, vec_from(random_unit(&r)), size);
            if (getenv("SIM_ORACLE_TABLE")) {
                fprintf(stderr, "%-18s motion %2d: lost %d, off by %.1e outside, %.1e inside; jump %.4f\n", name, k,
                        c.lost, c.outside, c.inside, c.jump);
            }
            cr_expect_eq(c.lost, 0, "%s, motion %d: %d steps without a point", name, k, c.lost);
            cr_expect_lt(c.outside, 1e-6, "%s, motion %d: off by %g of the size", name, k, c.outside);
            cr_expect(c.jump < 1.001, "%s, motion %d: the gap changes by %g of the step", name, k, c.jump);
            /* Two that overlap by edges: one or the other way out is found. */
            cr_expect_lt(c.inside, 0.03, "%s, motion %d: off by %g of the size inside", name, k, c.inside);
        }
        sim_geometry_free(g);
    }
    stock_free(&from);
    if (file) {
        fclose(file);
    }
}

/* ---- one solid, several ways ---- */

static sim_shape of_geometry(sim_shape_type type, const sim_geometry *g) {
    sim_shape s = sim_shape_default();
    s.type = type;
    s.geometry = g;
    return s;
}

static sim_geometry *hull_of_box(const double size[3]) {
    sim_v3 v[8];
    sim_error error;
    for (int k = 0; k < 8; k++) {
        v[k] = (sim_v3){(k & 1 ? 0.5 : -0.5) * size[0], (k & 2 ? 0.5 : -0.5) * size[1], (k & 4 ? 0.5 : -0.5) * size[2]};
    }
    return sim_geometry_hull(v, 8, &error);
}

static sim_geometry *mesh_of_box(const double size[3]) {
    static const int triangle[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                        {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    sim_v3 v[8];
    sim_error error;
    for (int k = 0; k < 8; k++) {
        v[k] = (sim_v3){(k & 1 ? 0.5 : -0.5) * size[0], (k & 2 ? 0.5 : -0.5) * size[1], (k & 4 ? 0.5 : -0.5) * size[2]};
    }
    return sim_geometry_mesh(v, 8, triangle, 12, &error);
}

/* Each point of one among those of the other: position, gap, normal. */
static double apart(const sim_contact_point *p, int n, const sim_contact_point *q, int m) {
    double worst = n == m ? 0 : HUGE_VAL;
    for (int i = 0; i < n; i++) {
        double best = HUGE_VAL;
        for (int j = 0; j < m; j++) {
            best = fmin(best, (double)(length(minus(vec_from(p[i].position), vec_from(q[j].position))) +
                                       length(minus(vec_from(p[i].normal), vec_from(q[j].normal)))) +
                                  fabs(p[i].gap - q[j].gap));
        }
        worst = fmax(worst, best);
    }
    return worst;
}

Test(oracle_motion, a_box_touches_alike_as_box_hull_and_mesh) {
    static const double size[3] = {0.4, 0.3, 0.5};
    sim_shape box = sim_shape_default();
    box.type = SIM_BOX;
    memcpy(box.size, size, sizeof size);
    sim_geometry *h = hull_of_box(size), *m = mesh_of_box(size);
    sim_shape hull = of_geometry(SIM_CONVEX, h), mesh = of_geometry(SIM_MESH, m);
    stock from = {0};
    random_source r = {5};
    static const sim_shape_type others[] = {SIM_SPHERE,   SIM_BOX,       SIM_CAPSULE,
                                            SIM_CYLINDER, SIM_ELLIPSOID, SIM_HALF_SPACE};
    for (int type = 0; type < 6; type++) {
        int compared = 0, different = 0;
        for (int k = 0; k < 60; k++) {
            static solid a, b;
            sim_shape other = shape_random(&r, &from, others[type], 0);
            sim_pose X = {random_rotation(&r), {0, 0, 0}}, Y = {random_rotation(&r), random_unit(&r)};
            solid_of(&box, &X, vec_of(0, 0, 0), &a);
            solid_of(&other, &Y, vec_of(0, 0, 0), &b);
            truth t = solid_gap(&a, &b);
            double target = k % 3 ? -0.01 : 0.003;
            X.p = vec_plain(times(target - t.gap, t.normal));
            sim_contact_point p[3][MOST];
            int n[3] = {sim_collide_shapes(&box, &X, &other, &Y, 0.005, p[0], MOST),
                        sim_collide_shapes(&hull, &X, &other, &Y, 0.005, p[1], MOST),
                        sim_collide_shapes(&mesh, &X, &other, &Y, 0.005, p[2], MOST)};
            cr_expect_gt(n[0], 0, "%s: nothing", sim_shape_name(others[type]));
            for (int i = 1; i < 3; i++) {
                compared++;
                different += !(apart(p[0], n[0], p[i], n[i]) < 1e-6);
            }
        }
        cr_expect_eq(different, 0, "%s: %d of %d contacts differ", sim_shape_name(others[type]), different, compared);
    }
    sim_geometry_free(h);
    sim_geometry_free(m);
}

/* Corners of a cylinder's prism or of a ball, on the surface. */
static int corners_of(sim_shape_type type, int fine, const double size[3], sim_v3 *v) {
    int count = 0;
    for (int i = 0; type == SIM_CYLINDER && i < fine; i++) {
        for (int k = -1; k < 2; k += 2) {
            double t = 6.283185307179586 * i / fine;
            v[count++] = (sim_v3){size[0] * cos(t), size[0] * sin(t), 0.5 * k * size[1]};
        }
    }
    for (int j = 0; type == SIM_SPHERE && j <= fine / 2; j++) {
        for (int i = 0; i < (j == 0 || j == fine / 2 ? 1 : fine); i++) {
            double t = 6.283185307179586 * i / fine, s = 6.283185307179586 * j / fine;
            v[count++] = (sim_v3){size[0] * sin(s) * cos(t), size[0] * sin(s) * sin(t), size[0] * cos(s)};
        }
    }
    return count;
}

static void converges(sim_shape_type type) {
    static const double size[3] = {0.5, 0.6, 0};
    double error[3] = {0};
    sim_shape round = sim_shape_default();
    round.type = type;
    memcpy(round.size, size, sizeof size);
    for (int level = 0; level < 3; level++) {
        static sim_v3 v[4096];
        sim_error why;
        random_source r = {31};
        sim_geometry *g = sim_geometry_hull(v, corners_of(type, 12 << level, size, v), &why);
        cr_assert_not_null(g, "%s", why.text);
        sim_shape hull = of_geometry(SIM_CONVEX, g), box = sim_shape_default();
        box.type = SIM_BOX;
        box.size[0] = 0.7, box.size[1] = 0.4, box.size[2] = 0.3;
        for (int k = 0; k < 200; k++) {
            sim_pose X = {random_rotation(&r), {0, 0, 0}}, Y = {random_rotation(&r), random_unit(&r)};
            int n, m;
            double gap = deepest_of(&round, &X, &box, &Y, 10, &n).gap - deepest_of(&hull, &X, &box, &Y, 10, &m).gap;
            error[level] = fmax(error[level], n && m ? fabs(gap) : HUGE_VAL);
        }
        sim_geometry_free(g);
    }
    double order = log2(error[0] / error[2]) / 2;
    if (getenv("SIM_ORACLE_TABLE")) {
        fprintf(stderr, "%s as hull: gaps off by %.3e, %.3e, %.3e: order %.2f\n", sim_shape_name(type), error[0],
                error[1], error[2], order);
    }
    cr_expect(order > 1.8 && order < 2.3, "order %g", order);
}

Test(oracle_motion, hulls_of_points_on_a_sphere_converge_to_it_with_the_square_of_their_spacing) {
    converges(SIM_SPHERE);
}
Test(oracle_motion, prisms_converge_to_the_cylinder_with_the_square_of_their_spacing) { converges(SIM_CYLINDER); }

Test(oracle_motion, a_ball_passes_through_the_hole_of_a_ring_without_touching) {
    sim_geometry *g = torus_mesh(0.5, 0.2, 64, 32);
    sim_shape ring = of_geometry(SIM_MESH, g), ball = sim_shape_default();
    ball.type = SIM_SPHERE;
    ball.size[0] = 0.28;
    sim_pose X = still;
    for (int k = -100; k <= 100; k++) {
        double z = 0.01 * k;
        X.p = (sim_v3){0, 0, z};
        sim_contact_point p[MOST];
        int n = sim_collide_shapes(&ball, &X, &ring, &still, 0.5, p, MOST);
        double exact = sqrt(0.5 * 0.5 + z * z) - 0.2 - 0.28, gap = HUGE_VAL;
        for (int i = 0; i < n; i++) {
            gap = fmin(gap, p[i].gap);
        }
        cr_expect(exact > 0.49 ? 1 : fabs(gap - exact) < 0.004, "at %g: gap %g, of the true torus %g", z, gap, exact);
        cr_expect_eq(sim_collide_shapes(&ball, &X, &ring, &still, 0.015, p, MOST), 0, "touches at %g", z);
    }
    X.p = (sim_v3){0.05, 0, 0};
    sim_contact_point p[MOST];
    cr_expect_gt(sim_collide_shapes(&ball, &X, &ring, &still, 0, p, MOST), 0, "off centre it must touch");
    sim_geometry_free(g);
}
