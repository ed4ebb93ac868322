/* Distance fields against every type of shape. */
#include "collide/convex/convex.h"
#include "support/contacts.h"
#include "support/meshes.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* ---- fields of simple solids, against what is known of the solids ---- */

enum { PLAIN = 5, FIELDS = 3 };

typedef struct stock {
    sim_shape plain[PLAIN + FIELDS]; /* the last ones are the fields' own solids */
    sim_shape field[FIELDS], coarse[FIELDS];
} stock;

static stock begin(void) {
    stock s = {.plain = {sized_shape(SIM_SPHERE, 0.03, 0, 0), sized_shape(SIM_BOX, 0.1, 0.06, 0.08),
                         sized_shape(SIM_CAPSULE, 0.02, 0.1, 0), sized_shape(SIM_CYLINDER, 0.03, 0.1, 0),
                         sized_shape(SIM_ELLIPSOID, 0.02, 0.03, 0.05), sized_shape(SIM_SPHERE, 0.05, 0, 0),
                         sized_shape(SIM_BOX, 0.1, 0.08, 0.06), sized_shape(SIM_CYLINDER, 0.04, 0.1, 0)}};
    sim_field_def def[FIELDS] = {field_sphere(0.05), field_box(0.1, 0.08, 0.06), field_cylinder(0.04, 0.1)};
    for (int k = 0; k < FIELDS; k++) {
        s.field[k] = field_shape(&def[k], 0.005);
        s.coarse[k] = field_shape(&def[k], 0.008);
    }
    return s;
}

static void end(stock *s) {
    for (int k = 0; k < FIELDS; k++) {
        shape_free(&s->field[k]);
        shape_free(&s->coarse[k]);
    }
}

/* Turned at random, placed along a random direction so that the gap is the one wanted. */
static pose placed(const sim_shape *a, const sim_shape *b, double gap, random_source *r, convex_gap *known) {
    convex p, q;
    convex_of_shape(a, &p);
    convex_of_shape(b, &q);
    pose X = {random_rotation(r), {0, 0, 0}};
    v3 d = random_unit(r);
    double low = 0, high = 0.4;
    for (int k = 0; k < 60; k++) {
        double middle = 0.5 * (low + high);
        X.p = v3_scale(middle, d);
        int near = convex_distance(&p, &q, &X, 1, v3_make(0, 0, 0), known);
        if (!near || known->gap > gap) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return X;
}

/* Apart: the distance.  Inside: where an edge and a corner compete, one pose of a hundred may choose the other. */
static void agrees(double gap, int exceptions) {
    enum { TRIALS = 60 };
    stock s = begin();
    for (int i = 0; i < PLAIN + FIELDS; i++) {
        for (int j = 0; j < FIELDS; j++) {
            const sim_shape *b = &s.plain[PLAIN + j], *a = i < PLAIN ? &s.plain[i] : &s.coarse[i - PLAIN];
            random_source r = {(uint64_t)(10 * i + j + 1)};
            int off = 0;
            for (int k = 0; k < trials_of(TRIALS); k++) {
                convex_gap known;
                pose X = placed(&s.plain[i], b, gap, &r, &known);
                contacts c = contacts_of(a, &s.field[j], X, 2e-3, NULL, 0);
                cr_assert(c.count > 0, "%d %d: nothing in trial %d", i, j, k);
                const contact_point *p = &c.point[deepest_of(&c)];
                off += fabs(p->gap - known.gap) > 2e-6 || v3_dot(p->normal, known.normal) < cos(0.01);
                cr_assert(fabs(p->gap - known.gap) < 0.5 * fabs(gap));
                free(c.point);
            }
            cr_assert(off <= exceptions, "%d %d: %d of %d off", i, j, off, TRIALS);
        }
    }
    end(&s);
}

Test(field_pairs, gap_and_normal_are_those_of_the_solids_when_apart) { agrees(3e-4, 0); }
Test(field_pairs, gap_and_normal_are_those_of_the_solids_when_inside) { agrees(-3e-4, 1); }

/* Moved by the depth of the solids' overlap they part, so that no point of one lies deeper in the other. */
Test(field_pairs, no_contact_across_a_corner_is_deeper_than_the_overlap) {
    const double DEPTH = 3e-3;
    const int sharp[2] = {1, 3};
    stock s = begin();
    for (int i = 0; i < 2; i++) {
        for (int j = 1; j < FIELDS; j++) {
            const sim_shape *a = &s.plain[sharp[i]], *b = &s.plain[PLAIN + j];
            random_source r = {(uint64_t)(100 + 10 * i + j)};
            for (int k = 0; k < trials_of(120); k++) {
                convex_gap known;
                pose X = placed(a, b, -DEPTH, &r, &known);
                contacts c = contacts_of(a, &s.field[j], X, 2e-3, NULL, 0);
                cr_assert_gt(c.count, 0);
                double gap = c.point[deepest_of(&c)].gap;
                cr_expect_geq(gap, 1.05 * known.gap - 1e-6, "%d %d, pose %d: %g below %g", i, j, k, gap, known.gap);
                free(c.point);
            }
        }
    }
    end(&s);
}

/* A bound below the distance, never far below where there is room; of both orders of the shapes. */
Test(field_pairs, bound_is_below_the_distance) {
    const double GAP = 0.01;
    stock s = begin();
    random_source r = {11};
    int unknown = 0, all = 0;
    for (int k = 0; k < trials_of(300); k++, all++) {
        int i = random_index(&r, PLAIN), j = random_index(&r, FIELDS);
        convex_gap known;
        pose X = placed(&s.plain[i], &s.plain[PLAIN + j], GAP, &r, &known);
        pair p = {.a = &s.plain[i], .b = &s.field[j], .X_ab = X};
        pair swapped = {.a = p.b, .b = p.a, .X_ab = pose_inverse(X)};
        double bound = pair_apart(&p, 1, 0), enough = pair_apart(&p, 0.5 * known.gap, 0);
        unknown += isinf(bound);
        cr_assert(bound <= known.gap && (isinf(bound) || bound >= 0.7 * known.gap), "%d %d: %g of %g", i, j, bound,
                  known.gap);
        cr_assert(enough <= known.gap && (isinf(enough) || enough >= 0.5 * known.gap));
        double other = pair_apart(&swapped, 1, 0);
        cr_assert(bound == other || fabs(bound - other) <= 1e-9, "%g and %g", bound, other);
        cr_assert_eq(pair_apart(&p, 1, known.gap), -HUGE_VAL, "nothing is above the distance itself");
    }
    cr_assert(unknown <= all / 20, "%d of %d without a bound", unknown, all);
    end(&s);
}

/* In any pose: finite points, unit normals, gaps under the margin, no more than the cap; and some when they overlap. */
Test(field_pairs, any_pose_gives_finite_contacts_and_overlap_some) {
    stock s = begin();
    random_source r = {5};
    for (int k = 0; k < trials_of(1500); k++) {
        int i = random_index(&r, PLAIN + FIELDS), j = random_index(&r, FIELDS);
        const sim_shape *a = i < PLAIN ? &s.plain[i] : &s.coarse[i - PLAIN];
        pose X = {k % 7 ? random_rotation(&r) : m3_identity(),
                  v3_scale(k % 5 ? 0.03 * (k % 5) : 1e-3, random_unit(&r))};
        contacts c = contacts_of(a, &s.field[j], X, 1e-3, NULL, 0);
        convex p, q;
        convex_gap gap;
        convex_of_shape(&s.plain[i], &p);
        convex_of_shape(&s.plain[PLAIN + j], &q);
        convex_distance(&p, &q, &X, 1, v3_make(0, 0, 0), &gap);
        cr_assert(c.count >= (gap.gap < 0) && c.count <= 120, "%d points of %d %d, gap %g", c.count, i, j, gap.gap);
        for (int n = 0; n < c.count; n++) {
            cr_assert(v3_finite(c.point[n].position) && isfinite(c.point[n].gap));
            cr_assert_float_eq(v3_norm(c.point[n].normal), 1, 1e-9);
            cr_assert_lt(c.point[n].gap, 1e-3);
        }
        free(c.point);
    }
    end(&s);
}

/* Which is named first plays no part. */
Test(field_pairs, turning_the_pair_round_turns_the_normals) {
    stock s = begin();
    random_source r = {6};
    for (int i = 0; i < PLAIN; i++) {
        convex_gap known;
        pose X = placed(&s.plain[i], &s.plain[PLAIN + 1], 1e-4, &r, &known);
        m3 R = m3_transpose(X.R);
        pose Y = {R, v3_neg(m3_times(R, X.p))};
        contacts c = contacts_of(&s.plain[i], &s.field[1], X, 1e-3, NULL, 0);
        contacts d = contacts_of(&s.field[1], &s.plain[i], Y, 1e-3, NULL, 0);
        cr_assert_eq(c.count, d.count);
        int a = deepest_of(&c), b = deepest_of(&d);
        cr_assert_float_eq(c.point[a].gap, d.point[b].gap, 1e-12);
        cr_assert_lt(v3_norm(v3_add(m3_times(R, c.point[a].normal), d.point[b].normal)), 1e-6);
        free(c.point);
        free(d.point);
    }
    end(&s);
}

/* Nor of two fields, alike or not, and however deep they are in each other. */
Test(field_pairs, turning_two_fields_round_turns_the_normals) {
    stock s = begin();
    random_source r = {8};
    for (int k = 0; k < 90; k++) {
        convex_gap known;
        int i = k % FIELDS, j = k / FIELDS % FIELDS;
        double gap = k < 30 ? 1e-4 : -random_uniform(&r, 1e-4, k < 60 ? 4e-3 : 0.04);
        pose X = placed(&s.plain[PLAIN + i], &s.plain[PLAIN + j], gap, &r, &known), Y = pose_inverse(X);
        contacts c = contacts_of(&s.field[i], &s.field[j], X, 1e-3, NULL, 0);
        contacts d = contacts_of(&s.field[j], &s.field[i], Y, 1e-3, NULL, 0);
        cr_assert(c.count && d.count, "pose %d: nothing", k);
        const contact_point *p = &c.point[deepest_of(&c)], *q = &d.point[deepest_of(&d)];
        cr_expect_float_eq(p->gap, q->gap, 1e-6, "pose %d: %g, exchanged %g", k, p->gap, q->gap);
        double turned = v3_norm(v3_add(m3_times(Y.R, p->normal), q->normal));
        cr_expect_lt(turned, 1e-3, "pose %d: normals %g from opposite", k, turned);
        free(c.point);
        free(d.point);
    }
    end(&s);
}

/* Wherever it lies and however it is turned: what is round has one point on a flat. */
Test(field_pairs, round_solids_touch_a_flat_in_one_point) {
    sim_field_def def = field_box(4, 4, 0.5);
    sim_shape slab = field_shape(&def, 0),
              round[2] = {sized_shape(SIM_SPHERE, 0.15, 0, 0), sized_shape(SIM_ELLIPSOID, 0.1, 0.12, 0.15)};
    random_source r = {7};
    for (int k = 0; k < trials_of(1200); k++) {
        double gap = random_uniform(&r, -2e-5, 2e-5), turn = k % 3 ? 0 : random_uniform(&r, 0, 6);
        v3 at = {k ? random_uniform(&r, -1.7, 1.7) : -0.001, k ? random_uniform(&r, -1.7, 1.7) : 0.39, 0.15 + gap};
        pose X = {m3_axis_angle(v3_make(0, 0, 1), turn), at};
        X = pose_inverse(X);
        X.p = v3_axpy(X.p, -0.25, X.R.z);
        contacts c = contacts_of(&round[k % 2], &slab, X, 1e-4, NULL, 0);
        cr_assert_eq(c.count, 1, "place %d: %d points", k, c.count);
        cr_assert_float_eq(c.point[0].gap, gap, 1e-9);
        cr_assert_gt(c.point[0].normal.z, k % 2 ? 1 - 1e-6 : 1 - 1e-12);
        free(c.point);
    }
    shape_free(&slab);
}

/* A ring that leans: its lowest point, wherever that is among the triangles, and none of those beside it. */
Test(field_pairs, ring_that_leans_touches_a_flat_in_one_point) {
    static const double ring[2][2] = {{0.1, -1e-4}, {0.1, 1e-4}};
    sim_field_def def = sim_field_default();
    def.type = SIM_FIELD_PROFILE;
    def.point = ring;
    def.npoint = 2;
    def.thickness = 0.02;
    sim_shape flat = sized_shape(SIM_HALF_SPACE, 0, 0, 0), torus = field_shape(&def, 0);
    random_source r = {11};
    for (int k = 0; k < trials_of(2000); k++) {
        double lean = random_uniform(&r, 0.1, 1.4), gap = random_uniform(&r, -2e-5, 2e-5);
        m3 R = m3_product(m3_axis_angle(v3_make(0, 1, 0), lean),
                          m3_axis_angle(v3_make(0, 0, 1), random_uniform(&r, 0, 6)));
        double high = 0.1 * sin(lean) + 1e-4 * cos(lean) + 0.02;
        double margin = k & 1 ? 1e-3 : 1e-4;
        contacts c = contacts_of(&flat, &torus, (pose){R, v3_make(0, 0, high + gap)}, margin, NULL, 0);
        cr_expect_eq(c.count, 1, "pose %d: %d points", k, c.count);
        cr_expect_float_eq(c.point[0].gap, gap, 1e-8, "pose %d: %g, due %g", k, c.point[0].gap, gap);
        double along = 0.1 * cos(lean) - 1e-4 * sin(lean),
               beside = hypot(fabs(c.point[0].position.x) - along, c.point[0].position.y);
        cr_expect_lt(beside, 1e-7, "pose %d: %g m beside", k, beside);
        free(c.point);
    }
    shape_free(&torus);
}

/* A solid that lies along a line touches a flat at its ends, the same ones however the triangles lie: a cone with round
 * ends, a cylinder with sharp ones, a ring with a band of 0.2 mm.  `middle`: of the circle whose lowest place is the
 * end. */
typedef struct rod {
    const char *name;
    double point[2][2], thickness; /* radius and height of both circles */
    double tilt;                   /* up to this; a band so short soon touches with one end only */
} rod;

static pose laid_down(const rod *b, double tilt, double turn, double gap) {
    double cone = atan2(b->point[1][0] - b->point[0][0], b->point[1][1] - b->point[0][1]);
    m3 R = m3_product(m3_axis_angle(v3_make(0, 1, 0), PI / 2 - cone + tilt), m3_axis_angle(v3_make(0, 0, 1), turn));
    v3 lower =
        m3_times(m3_axis_angle(v3_make(0, 1, 0), PI / 2 - cone + tilt), v3_make(b->point[0][0], 0, b->point[0][1]));
    return (pose){R, v3_make(0, 0, b->thickness + gap - lower.z)};
}

static void touches_at_its_ends(const rod *b, const sim_shape *shape, double tilt, double turn, double gap) {
    sim_shape flat = sized_shape(SIM_HALF_SPACE, 0, 0, 0);
    pose X = laid_down(b, tilt, turn, gap);
    contacts c = contacts_of(&flat, shape, X, 1e-4, NULL, 0);
    cr_assert_eq(c.count, 2, "%s, tilt %g, turn %g: %d points", b->name, tilt, turn, c.count);
    for (int k = 0; k < 2; k++) {
        v3 along = m3_times(m3_transpose(m3_axis_angle(v3_make(0, 0, 1), turn)), v3_make(b->point[k][0], 0, 0));
        v3 middle = pose_point(X, v3_make(along.x, along.y, b->point[k][1]));
        double due = middle.z - b->thickness, nearest = HUGE_VAL, found = 0;
        for (int i = 0; i < 2; i++) {
            v3 d = v3_sub(c.point[i].position, middle);
            double beside = hypot(d.x, d.y);
            found = beside < nearest ? c.point[i].gap : found;
            nearest = fmin(nearest, beside);
        }
        cr_assert_lt(nearest, 2e-3 * b->thickness + 1e-8, "%s, tilt %g: %g m beside", b->name, tilt, nearest);
        cr_assert_float_eq(found, due, 1e-6 * b->thickness + 1e-9, "%s, tilt %g: %g, due %g", b->name, tilt, found,
                           due);
    }
    free(c.point);
}

Test(field_pairs, what_lies_along_a_line_touches_a_flat_at_its_ends) {
    const rod rods[] = {{"cone", {{0, 0}, {0.05, 0.12}}, 0.005, 1e-4},
                        {"cylinder", {{0.04, -0.05}, {0.04, 0.05}}, 0, 1e-4},
                        {"band", {{0.1, -1e-4}, {0.1, 1e-4}}, 0.02, 1e-6}};
    random_source r = {5};
    for (int i = 0; i < 3; i++) {
        const rod *b = &rods[i];
        sim_field_def def = b->thickness > 0 ? sim_field_default() : field_cylinder(0.04, 0.1);
        if (b->thickness > 0) {
            def.type = SIM_FIELD_PROFILE;
            def.point = b->point;
            def.npoint = 2;
            def.thickness = b->thickness;
        }
        sim_shape shape = field_shape(&def, 0);
        for (int k = 0; k < trials_of(2000); k++) {
            double tilt = k % 4 ? b->tilt * random_uniform(&r, -1, 1) * pow(10, random_uniform(&r, -6, 0)) : 0;
            touches_at_its_ends(b, &shape, tilt, random_uniform(&r, 0, 6), random_uniform(&r, -1e-6, 1e-6));
        }
        shape_free(&shape);
    }
}

/* A skid of two round runners, turned any way: each keeps both its ends and their names. */
Test(field_pairs, two_runners_touch_a_flat_at_four_ends) {
    sim_field_def part[2] = {field_cylinder(0.02, 0.1), field_cylinder(0.02, 0.1)}, def = sim_field_default();
    part[0].pose.p.x = -0.06;
    part[1].pose.p.x = 0.06;
    def.type = SIM_FIELD_UNION;
    def.child = part;
    def.nchild = 2;
    sim_shape flat = sized_shape(SIM_HALF_SPACE, 0, 0, 0), skid = field_shape(&def, 0);
    uint64_t name[4] = {0};
    random_source r = {17};
    for (int k = 0; k < 100; k++) {
        m3 lying = m3_product(m3_axis_angle(v3_make(0, 0, 1), random_uniform(&r, 0, 6)),
                              m3_axis_angle(v3_make(1, 0, 0), PI / 2));
        pose X = {lying, v3_make(0, 0, 0.02 + random_uniform(&r, -1e-6, 1e-6))};
        contacts c = contacts_of(&flat, &skid, X, 1e-4, NULL, 0);
        cr_assert_eq(c.count, 4, "turn %d: %d points", k, c.count);
        for (int i = 0; i < 4; i++) {
            v3 at = pose_point(pose_inverse(X), c.point[i].position);
            int which = 2 * (at.x > 0) + (at.z > 0);
            cr_assert_float_eq(fabs(at.x), 0.06, 1e-8);
            cr_assert_float_eq(fabs(at.z), 0.05, 1e-8);
            cr_assert(!k || c.point[i].feature == name[which], "turn %d: end %d has another name", k, which);
            name[which] = c.point[i].feature;
        }
        free(c.point);
    }
    shape_free(&skid);
}

/* ---- hollows: several contacts of one ball ---- */

static sim_shape grooved(double half_angle) {
    static sim_field_def part[2];
    part[0] = field_box(0.1, 0.1, 0.05);
    part[0].pose.p = v3_make(0, 0, -0.025);
    part[1] = field_box(0.04, 0.2, 0.04);
    part[1].pose.R = m3_axis_angle(v3_make(0, 1, 0), half_angle);
    sim_field_def def = sim_field_default();
    def.type = SIM_FIELD_DIFFERENCE;
    def.child = part;
    def.nchild = 2;
    return field_shape(&def, 0.004);
}

/* A groove of 90 degrees: the box's lower edge lies 20 mm sqrt 2 under its middle, the walls rise at 45 degrees. */
Test(field_pairs, ball_in_a_groove_touches_both_walls) {
    sim_shape block = grooved(PI / 4), ball = sized_shape(SIM_SPHERE, 0.008, 0, 0);
    double bottom = -0.02 * sqrt(2), height = bottom + 0.008 * sqrt(2) - 1e-5;
    pose X = pose_identity();
    X.p = v3_make(0, 0.003, -height); /* the block under the ball */
    contacts c = contacts_of(&ball, &block, X, 1e-4, NULL, 0);
    int left = 0, right = 0;
    for (int k = 0; k < c.count; k++) {
        v3 n = c.point[k].normal;
        cr_assert_float_eq(n.z, sqrt(0.5), 0.02);
        cr_assert_float_eq(c.point[k].gap, -1e-5 * sqrt(0.5), 2e-6);
        left += n.x > 0;
        right += n.x < 0;
    }
    cr_assert(left > 0 && right > 0, "%d and %d", left, right);
    free(c.point);
    shape_free(&block);
}

/* A ball in a dish with a conical wall rests on a ring. */
Test(field_pairs, ball_in_a_cone_touches_all_round) {
    sim_shape pot = dish_shape(1, 0.004), ball = sized_shape(SIM_SPHERE, 0.08, 0, 0);
    const dish *d = &dishes[1];
    double u = d->point[2][0] - d->point[1][0], v = d->point[2][1] - d->point[1][1], length = hypot(u, v);
    /* centre (0, z): its distance to the wall's line is radius + thickness */
    double z = ((0.08 + d->thickness) * length - d->point[1][0] * v) / u + d->point[1][1];
    pose X = pose_identity();
    X.p.z = -z;
    contacts c = contacts_of(&ball, &pot, X, 1e-4, NULL, 0);
    cr_assert_geq(c.count, 16);
    int sector[8] = {0};
    for (int k = 0; k < c.count; k++) {
        v3 x = c.point[k].position;
        cr_assert(c.point[k].gap > -1e-9 && c.point[k].gap < 2e-5, "%g", c.point[k].gap);
        cr_assert_float_eq(c.point[k].normal.z, u / length, 0.02);
        sector[(int)((atan2(x.y, x.x) + PI) / (2 * PI) * 7.999)]++;
    }
    for (int k = 0; k < 8; k++) {
        cr_assert_gt(sector[k], 0);
    }
    free(c.point);
    shape_free(&pot);
}

/* ---- the ground in five ways ---- */

/* A bowl on its rim, tilted by `tilt`, 0.1 mm deep in the ground z = 0. */
static sim_geometry *built(sim_geometry *g, const sim_error *error) {
    cr_assert(g, "%s", error->text);
    return g;
}

static void on_ground(const sim_shape *ground, const sim_shape *bowl, double tilt, double top) {
    double lowest = -0.05 * cos(tilt) - 0.075 * sin(tilt) - 0.003;
    pose X = {m3_axis_angle(v3_make(1, 0, 0), PI + tilt), {0.0123, 0.0071, top - lowest - 1e-4}};
    contacts c = contacts_of(ground, bowl, X, 1e-3, NULL, 0);
    cr_assert_geq(c.count, tilt > 0 ? 1 : 12, "%s, tilt %g: %d", sim_shape_name(ground->type), tilt, c.count);
    const contact_point *p = &c.point[deepest_of(&c)];
    cr_assert_float_eq(p->gap, -1e-4, 1e-7, "%s, tilt %g: %g", sim_shape_name(ground->type), tilt, p->gap);
    cr_assert_lt(p->normal.z, -cos(0.01), "%s, tilt %g", sim_shape_name(ground->type), tilt);
    free(c.point);
}

Test(field_pairs, bowl_stands_on_every_kind_of_ground) {
    static const v3 corner[8] = {{-0.2, -0.2, -0.1}, {0.2, -0.2, -0.1}, {-0.2, 0.2, -0.1}, {0.2, 0.2, -0.1},
                                 {-0.2, -0.2, 0},    {0.2, -0.2, 0},    {-0.2, 0.2, 0},    {0.2, 0.2, 0}};
    static const int triangle[2][3] = {{4, 5, 7}, {4, 7, 6}};
    double flat[9] = {0}, size[2] = {0.4, 0.4};
    sim_error error = {0};
    sim_shape ground[] = {
        sized_shape(SIM_HALF_SPACE, 0, 0, 0), sized_shape(SIM_BOX, 0.4, 0.4, 0.2),
        geometry_shape(SIM_CONVEX, built(sim_geometry_hull(corner, 8, &error), &error)),
        geometry_shape(SIM_MESH, built(sim_geometry_mesh(corner, 8, triangle, 2, &error), &error)),
        geometry_shape(SIM_HEIGHT_FIELD, built(sim_geometry_heights(3, 3, size, flat, &error), &error))};
    sim_shape bowl = dish_shape(1, 0.004);
    for (int k = 0; k < 5; k++) {
        for (int tilt = 0; tilt <= 6; tilt++) {
            on_ground(&ground[k], &bowl, 0.05 * tilt, ground[k].type == SIM_BOX ? 0.1 : 0);
        }
    }
    for (int k = 2; k < 5; k++) {
        shape_free(&ground[k]);
    }
    shape_free(&bowl);
}

/* ---- the table of pairs ---- */

static sim_shape some_shape_of(sim_shape_type type) {
    const double size[2] = {0.4, 0.4}, flat[4] = {0};
    sim_field_def ball = field_sphere(0.2);
    sim_error error = {0};
    soup cube = soup_box(0.4, 0.4, 0.4);
    sim_shape s = sized_shape(type, 0.4, 0.4, 0.4);
    switch (sim_shape_geometry(type)) {
    case SIM_GEOMETRY_HULL:
        s = geometry_shape(type, built(sim_geometry_hull(cube.vertex, cube.nvertex, &error), &error));
        break;
    case SIM_GEOMETRY_MESH:
        s = geometry_shape(type, built(sim_geometry_mesh(cube.vertex, cube.nvertex, (const int(*)[3])cube.triangle,
                                                         cube.ntriangle, &error),
                                       &error));
        break;
    case SIM_GEOMETRY_HEIGHTS:
        s = geometry_shape(type, built(sim_geometry_heights(2, 2, size, flat, &error), &error));
        break;
    case SIM_GEOMETRY_FIELD:
        s = field_shape(&ball, 0);
        break;
    default:
        break;
    }
    soup_free(&cube);
    return s;
}

/* A pair that the table lacks would pass through each other. */
Test(field_pairs, of_every_two_types_have_contacts_unless_both_are_grounds) {
    sim_pose here = {m3_identity(), {0, 0, 0}}, below = {m3_identity(), {0.01, 0.02, -0.05}};
    for (int i = 0; i < SIM_SHAPE_TYPES; i++) {
        for (int j = i; j < SIM_SHAPE_TYPES; j++) {
            sim_shape a = some_shape_of((sim_shape_type)i), b = some_shape_of((sim_shape_type)j);
            sim_contact_point point[64];
            bool grounds = i == j && (i == SIM_HALF_SPACE || i == SIM_HEIGHT_FIELD);
            int count = sim_collide_shapes(&a, &here, &b, &below, 0.001, point, 64);
            cr_expect_eq(count > 0, !grounds, "%s and %s: %d", sim_shape_name(a.type), sim_shape_name(b.type), count);
            shape_free(&a);
            shape_free(&b);
        }
    }
}

/* ---- grounds of few triangles ---- */

/* A field flat over two triangles, each thirty times its size: contacts reach all sides of its face, but for the
 * longest part of a triangle, a quarter of the field's half diagonal. */
Test(field_pairs, boxes_stand_on_open_meshes_of_two_triangles) {
    const v3 corner[4] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    const int triangle[2][3] = {{0, 1, 2}, {0, 2, 3}};
    sim_error error;
    sim_shape ground = geometry_shape(SIM_MESH, built(sim_geometry_mesh(corner, 4, triangle, 2, &error), &error));
    sim_field_def def = field_box(0.1, 0.08, 0.06);
    sim_shape box = field_shape(&def, 0.005);
    double part = sqrt(0.05 * 0.05 + 0.04 * 0.04 + 0.03 * 0.03) / 4;
    random_source r = {17};
    for (int k = 0; k < 40; k++) {
        pose X = {m3_identity(), {random_uniform(&r, -0.9, 0.9), random_uniform(&r, -0.9, 0.9), 0.0301}};
        contacts c = contacts_of(&ground, &box, X, 1e-3, NULL, 0);
        v3 low = {1, 1, 1}, high = {-1, -1, -1};
        for (int i = 0; i < c.count; i++) {
            v3 at = v3_sub(c.point[i].position, X.p);
            low = v3_make(fmin(low.x, at.x), fmin(low.y, at.y), 0);
            high = v3_make(fmax(high.x, at.x), fmax(high.y, at.y), 0);
        }
        cr_expect(low.x < part - 0.05 && low.y < part - 0.04 && high.x > 0.05 - part && high.y > 0.04 - part,
                  "at (%g, %g): %d points from (%g, %g) to (%g, %g)", X.p.x, X.p.y, c.count, low.x, low.y, high.x,
                  high.y);
        free(c.point);
    }
    shape_free(&ground);
    shape_free(&box);
}

/* ---- sizes ---- */

/* Everything a thousand times as large: gaps a thousand times as large, the same names. */
Test(field_pairs, size_plays_no_part) {
    sim_field_def small = field_box(0.1, 0.08, 0.06), large = field_box(102.4, 81.92, 61.44);
    sim_shape a = field_shape(&small, 0.005), b = field_shape(&large, 5.12);
    sim_shape box = sized_shape(SIM_BOX, 0.1, 0.06, 0.08), big = sized_shape(SIM_BOX, 102.4, 61.44, 81.92);
    random_source r = {9};
    for (int k = 0; k < 40; k++) {
        convex_gap known;
        sim_shape same = sized_shape(SIM_BOX, 0.1, 0.08, 0.06);
        pose X = placed(&box, &same, k % 2 ? 1e-4 : -1e-4, &r, &known), Y = X;
        Y.p = v3_scale(1024, X.p);
        contacts c = contacts_of(&box, &a, X, 1e-3, NULL, 0), d = contacts_of(&big, &b, Y, 1.024, NULL, 0);
        cr_assert_eq(c.count, d.count);
        double gap = c.point[deepest_of(&c)].gap;
        cr_assert_float_eq(1024 * gap, d.point[deepest_of(&d)].gap, 1e-3 * fabs(1024 * gap));
        free(c.point);
        free(d.point);
    }
    shape_free(&a);
    shape_free(&b);
}
