/* Tendons: lengths against geometry, moment arms and their change against finite differences. */
#include "dyn/motion/tendon_course.h"
#include "support/models.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a string over one obstacle ---- */

static double length_between(const string_obstacle *o, v3 a, v3 b, const v3 *side, string_course *c) {
    *c = find_course(o, a, b, side);
    return course_length(o, c, jet3_constant(a), jet3_constant(b)).x;
}

static void expect_length(const string_obstacle *o, v3 a, v3 b, const v3 *side, course_kind kind, double due) {
    string_course c;
    double length = length_between(o, a, b, side, &c);
    cr_expect_eq(c.kind, kind, "kind %d", (int)c.kind);
    cr_expect_float_eq(length, due, 1e-14, "%.17g, not %.17g", length, due);
}

Test(tendon_course, over_a_cylinder_has_the_length_of_two_tangents_and_an_arc) {
    const string_obstacle o = {true, 0.3};
    const double r = 0.3, d = 0.7;
    v3 above = {0, 1, 0}, below = {0, -1, 0};
    /* straight through the axis */
    double tangent = sqrt(d * d - r * r), around = 2 * tangent + r * (M_PI - 2 * acos(r / d));
    expect_length(&o, v3_make(-d, 0, 0), v3_make(d, 0, 0), NULL, COURSE_NEAR, around);
    /* rising on the way: a straight line on the unrolled cylinder */
    expect_length(&o, v3_make(-d, 0, -2), v3_make(d, 0, 1), NULL, COURSE_NEAR, hypot(around, 3));
    /* hung over the top; held below, where nothing is in the way */
    v3 left = {-r, -0.5, 0}, right = {r, -0.5, 0.2};
    expect_length(&o, left, right, &above, COURSE_FAR, hypot(2 * 0.5 + M_PI * r, 0.2));
    expect_length(&o, left, right, &below, COURSE_STRAIGHT, hypot(2 * r, 0.2));
    expect_length(&o, left, right, NULL, COURSE_STRAIGHT, hypot(2 * r, 0.2));
    /* from a point of the surface */
    expect_length(&o, v3_make(-r, 0, 0), v3_make(r, -0.5, 0), &above, COURSE_FAR, 0.5 + M_PI * r);
}

Test(tendon_course, over_a_sphere_has_the_length_of_two_tangents_and_an_arc) {
    const string_obstacle o = {false, 0.2};
    random_source random = {3};
    for (int trial = 0; trial < 1000; trial++) {
        /* tangents of given lengths and an arc of a given angle, turned anywhere */
        double in = random_uniform(&random, 0, 1), out = random_uniform(&random, 0, 1),
               arc = random_uniform(&random, 0.01, 3), due = in + out + 0.2 * arc;
        m3 R = random_rotation(&random);
        v3 a = m3_times(R, v3_make(0.2, -in, 0));
        v3 b = m3_times(R, v3_make(0.2 * cos(arc) - out * sin(arc), 0.2 * sin(arc) + out * cos(arc), 0));
        v3 side = m3_times(R, v3_make(0.5 * cos(arc / 2), 0.5 * sin(arc / 2), 0.1));
        string_course c;
        double length = length_between(&o, a, b, &side, &c);
        cr_assert_float_eq(length, due, 4e-15, "%.17g, not %.17g", length, due);
        cr_assert_float_eq(c.arc[1] - c.arc[0], c.kind == COURSE_FAR ? -arc : arc, 1e-12);
        /* on the surface, and tangent to it */
        v3 met = m3_times(R, v3_make(0.2, 0, 0));
        cr_assert_lt(v3_norm(v3_sub(c.on[0], met)), 1e-13);
        cr_assert_float_eq(v3_dot(c.on[1], v3_sub(b, c.on[1])), 0, 1e-14);
    }
}

/* By search over the points of the circle. */
static double least_inside(double r, v3 a, v3 b) {
    double least = INFINITY, best = 0;
    for (double from = 0, width = 2 * M_PI; width > 1e-9; width /= 50) {
        for (int k = 0; k <= 200; k++) {
            double angle = from + width * k / 200;
            v3 x = {r * cos(angle), r * sin(angle), 0};
            double length = v3_norm(v3_sub(x, a)) + v3_norm(v3_sub(x, b));
            if (length < least) {
                least = length;
                best = angle;
            }
        }
        from = best - width / 100;
    }
    return least;
}

Test(tendon_course, inside_a_shape_is_the_shortest_way_by_its_surface) {
    random_source random = {4};
    v3 centre = {0.05, 0, 0};
    int bent = 0;
    for (int trial = 0; trial < 300; trial++) {
        double r = random_uniform(&random, 0.05, 0.5), rise = random_uniform(&random, -1, 1);
        v3 a = {random_uniform(&random, -1, 1), random_uniform(&random, -1, 1), 0};
        v3 b = {random_uniform(&random, -1, 1), random_uniform(&random, -1, 1), 0};
        if (v3_norm(a) < r || v3_norm(b) < r) {
            continue;
        }
        string_course c;
        const string_obstacle ball = {false, r}, rod = {true, r};
        v3 side = v3_scale(r, centre), above = {a.x, a.y, rise};
        double length = length_between(&ball, a, b, &side, &c);
        double due = c.kind == COURSE_INSIDE ? least_inside(r, a, b) : v3_norm(v3_sub(a, b));
        bent += c.kind == COURSE_INSIDE;
        cr_assert_float_eq(length, due, 1e-13, "%.17g, not %.17g", length, due);
        cr_assert_float_eq(length_between(&rod, above, b, &side, &c), hypot(length, rise), 1e-13);
    }
    cr_assert_gt(bent, 100);
}

/* The nearest point of the string is an end that stands at a right angle to the side: rounding of the frame must not
 * throw the string to the other side. */
Test(tendon_course, stays_straight_at_a_right_angle_to_its_side_whatever_the_rounding) {
    const string_obstacle o = {true, 0.1};
    for (int k = 0; k < 200; k++) {
        sim_m3 R = quat_matrix((quat){cos(0.05 * k), 0, 0, sin(0.05 * k)});
        v3 side = m3_times(R, v3_make(0, -0.15, 0)), a = m3_times(R, v3_make(-0.15, 0, 0));
        v3 b = m3_times(R, v3_make(-0.19, -0.19, 0));
        string_course c = find_course(&o, a, b, &side);
        cr_assert_eq(c.kind, COURSE_STRAIGHT, "angle %g: kind %d", 0.1 * k, (int)c.kind);
    }
}

/* Beside the obstacle, but not on its side: the string goes around the far side.  The other path there makes a whole turn
 * more, and is longer by 2 r phi. */
Test(tendon_course, on_the_wrong_side_of_an_obstacle_goes_around_without_another_turn) {
    random_source random = {11};
    const string_obstacle o = {true, 0.1};
    int around = 0;
    for (int trial = 0; trial < 1000; trial++) {
        double rho_a = random_uniform(&random, 0.1, 0.4), rho_b = random_uniform(&random, 0.1, 0.4),
               turn = random_uniform(&random, 0, 2 * M_PI), phi = random_uniform(&random, 0, M_PI);
        v3 a = {rho_a * cos(turn), rho_a * sin(turn), 0}, side = {0, 0.2, 0},
           b = {rho_b * cos(turn + phi), rho_b * sin(turn + phi), 0};
        double alpha = acos(0.1 / rho_a) + acos(0.1 / rho_b);
        /* by a thousand points of the straight string: clear of the circle, and the nearest one beyond the axis */
        v3 nearest = a;
        for (int k = 1; k <= 1000; k++) {
            v3 x = v3_axpy(a, 1e-3 * k, v3_sub(b, a));
            nearest = v3_norm(x) < v3_norm(nearest) ? x : nearest;
        }
        string_course c;
        double length = length_between(&o, a, b, &side, &c);
        if (v3_norm(nearest) < 0.102 || nearest.y > -0.002) {
            continue;
        }
        double due = sqrt(rho_a * rho_a - 0.01) + sqrt(rho_b * rho_b - 0.01) + 0.1 * (2 * M_PI - phi - alpha);
        cr_expect_float_eq(length, due, 1e-13, "trial %d: %.17g, not %.17g", trial, length, due);
        around++;
    }
    cr_expect_gt(around, 100);
}

/* A string that is lifted off: length and both slopes go on without a jump. */
Test(tendon_course, has_no_jump_where_it_lifts_off) {
    const v3 inside = {0, 0, 0}, outside = {0, 1, 0};
    const v3 *const sides[] = {NULL, &inside, &outside};
    const double r = 0.3, step = 1e-4;
    for (int k = 0; k < 6; k++) {
        const string_obstacle o = {k % 2, r};
        jet before = {0};
        int kinds = 0, last = -1;
        for (double y = -0.4; y < 0.9; y += step) {
            /* the line sweeps up over the obstacle, from where it goes through it if the side is outside */
            jet3 a = {{-0.5, y < 0 && k / 2 == 2 ? 0 : y, 0.1}, {0, 1, 0}, {0, 0, 0}};
            v3 b = {0.7, 0.35, -0.1};
            string_course c = find_course(&o, a.x, b, sides[k / 2]);
            jet now = course_length(&o, &c, a, jet3_constant(b));
            if (last >= 0 && y > 0) {
                cr_assert_lt(fabs(now.x - before.x), 2 * step);
                cr_assert_lt(fabs(now.d - before.d), 20 * step, "slope %g after %g at %g", now.d, before.d, y);
            }
            kinds += (int)c.kind != last;
            last = (int)c.kind;
            before = now;
        }
        cr_expect_gt(kinds, 1);
    }
}

/* ---- random trees ---- */

enum { BODIES = 9, SITES = 14, TENDONS = 12 };

typedef struct strung {
    random_source random;
    sim_model *model;
    sim_derived *d;
    double *q, *v, *moved, *J, *J2;
} strung;

static v3 random_vector(random_source *r, double size) { return v3_scale(random_uniform(r, 0, size), random_unit(r)); }

/* Two trees of bodies with all kinds of joints. */
static void add_trees(sim_builder *b, random_source *r) {
    static const sim_joint_type type[] = {SIM_BALL, SIM_HINGE, SIM_SLIDER, SIM_FREE, SIM_UNIVERSAL, SIM_CYLINDRICAL};
    for (int i = 1; i <= BODIES; i++) {
        sim_body_def def = sim_body_default();
        bool second = i > BODIES / 2;
        int root = second ? BODIES / 2 + 1 : 1;
        def.parent = i == root ? 0 : root + random_index(r, i - root);
        def.joint = i == root ? (second ? SIM_HINGE : SIM_FREE) : type[random_index(r, 6)];
        def.placement = (sim_pose){random_rotation(r), random_vector(r, 1)};
        def.axis = random_unit(r);
        def.axis2 = random_unit(r);
        def.inertia = random_inertia(r);
        sim_builder_add_body(b, &def);
    }
}

/* Round shapes, and sites: some of these inside the shapes, as sides. */
static void add_places(sim_builder *b, random_source *r) {
    for (int k = 0; k < SITES; k++) {
        char name[16];
        snprintf(name, sizeof name, "site%d", k);
        sim_shape shape = sim_shape_default();
        shape.body = random_index(r, BODIES + 1);
        shape.type = k % 2 ? SIM_SPHERE : SIM_CYLINDER;
        shape.size[0] = random_uniform(r, 0.1, 0.6);
        shape.size[1] = 1;
        shape.pose = (sim_pose){random_rotation(r), random_vector(r, 0.5)};
        sim_site site = {name, random_index(r, BODIES + 1), {random_rotation(r), random_vector(r, 1.5)}};
        if (k % 3 == 0) {
            site.body = shape.body;
            site.pose.p = v3_add(shape.pose.p, random_vector(r, 0.05));
        }
        sim_builder_add_shape(b, &shape);
        sim_builder_add_site(b, &site);
    }
}

static void add_tendons(sim_builder *b, random_source *r) {
    for (int k = 0; k < TENDONS; k++) {
        sim_path_point path[9];
        int count = 0;
        char name[16];
        snprintf(name, sizeof name, "tendon%d", k);
        for (int branch = 0; branch < 2; branch++) {
            if (branch) {
                path[count++] = (sim_path_point){.kind = SIM_PATH_PULLEY, .divisor = random_uniform(r, 0.5, 3)};
            }
            path[count++] = (sim_path_point){.kind = SIM_PATH_SITE, .site = random_index(r, SITES)};
            path[count++] = (sim_path_point){
                .kind = SIM_PATH_AROUND, .shape = random_index(r, SITES), .site = random_index(r, SITES + 5) - 5};
            path[count - 1].site = path[count - 1].site < 0 ? -1 : path[count - 1].site;
            path[count++] = (sim_path_point){.kind = SIM_PATH_SITE, .site = random_index(r, SITES)};
        }
        sim_tendon t = sim_tendon_default();
        t.name = name;
        t.npoint = count;
        t.path = path;
        sim_builder_add_tendon(b, &t);
    }
}

static double *numbers(int count) { return calloc((size_t)count, sizeof(double)); }

static strung string_up(uint64_t seed) {
    strung s = {.random = {seed}};
    sim_error error = {0};
    sim_builder *b = sim_builder_create();
    add_trees(b, &s.random);
    add_places(b, &s.random);
    add_tendons(b, &s.random);
    s.model = sim_builder_finish(b, &error);
    cr_assert_not_null(s.model, "%s", error.text);
    s.d = sim_derived_create(s.model, NULL);
    s.q = numbers(s.model->nq);
    s.moved = numbers(s.model->nq);
    s.v = numbers(s.model->nv);
    s.J = numbers(s.model->nv);
    s.J2 = numbers(s.model->nv);
    random_state(&s.random, s.model, s.q, s.v);
    return s;
}

static void cut_down(strung *s) {
    sim_derived_free(s->d);
    sim_model_free(s->model);
    free(s->q);
    free(s->moved);
    free(s->v);
    free(s->J);
    free(s->J2);
}

static void place(strung *s, const double *v, double h) {
    sim_advance(s->model, sim_all(s->model), s->q, v, h, s->moved);
    sim_kinematics(s->d, sim_all(s->model), s->moved);
}

/* The length after the time h at v. */
static double length_at(strung *s, int tendon, const double *v, double h) {
    place(s, v, h);
    return sim_tendon_length(s->d, tendon, s->moved);
}

/* J v there. */
static double speed_at(strung *s, int tendon, const double *v, double h) {
    double sum = 0;
    place(s, v, h);
    sim_tendon_moments(s->d, tendon, s->J2);
    for (int j = 0; j < s->model->nv; j++) {
        sum += s->J2[j] * v[j];
    }
    return sum;
}

/* Derivative at 0 by central differences of fourth order. */
static double slope_of(double (*f)(strung *, int, const double *, double), strung *s, int tendon, const double *v,
                       double h) {
    return (8 * (f(s, tendon, v, h) - f(s, tendon, v, -h)) - (f(s, tendon, v, 2 * h) - f(s, tendon, v, -2 * h))) /
           (12 * h);
}

Test(tendons, moment_arms_are_derivatives_of_the_length) {
    int wrapped = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        strung s = string_up(seed);
        double *unit = numbers(s.model->nv);
        for (int k = 0; k < TENDONS; k++) {
            place(&s, s.v, 0);
            sim_tendon_moments(s.d, k, s.J);
            wrapped += sim_tendon_lines(s.d, k, NULL, 0) > 2;
            for (int j = 0; j < s.model->nv; j++) {
                unit[j] = 1;
                double due = slope_of(length_at, &s, k, unit, 2e-5);
                cr_assert_float_eq(s.J[j], due, 1e-9, "seed %d, tendon %d, dof %d: %.12g, not %.12g", (int)seed, k, j,
                                   s.J[j], due);
                unit[j] = 0;
            }
        }
        free(unit);
        cut_down(&s);
    }
    cr_assert_gt(wrapped, 100, "%d of 360", wrapped);
}

Test(tendons, rates_and_biases_are_the_first_and_second_derivative_along_a_motion) {
    for (uint64_t seed = 31; seed <= 60; seed++) {
        strung s = string_up(seed);
        sim_motion *acc = calloc((size_t)s.model->nbody, sizeof *acc);
        for (int k = 0; k < TENDONS; k++) {
            double rate = slope_of(length_at, &s, k, s.v, 2e-5), bend = slope_of(speed_at, &s, k, s.v, 2e-5);
            place(&s, s.v, 0);
            sim_velocities(s.d, sim_all(s.model), s.v);
            sim_bias_accelerations(s.d, sim_all(s.model), acc);
            double r = sim_tendon_rate(s.d, k, s.v), h = sim_tendon_bias(s.d, k, acc);
            cr_assert_float_eq(r, speed_at(&s, k, s.v, 0), 1e-13 * (1 + fabs(r)));
            cr_assert_float_eq(r, rate, 1e-8 * (1 + fabs(rate)), "%.12g, not %.12g", r, rate);
            cr_assert_float_eq(h, bend, 1e-6 * (1 + fabs(bend)), "seed %d, tendon %d: %.12g, not %.12g", (int)seed, k,
                               h, bend);
        }
        free(acc);
        cut_down(&s);
    }
}

Test(tendons, pictures_have_the_length_of_the_string) {
    strung s = string_up(70);
    sim_v3 line[400][2];
    place(&s, s.v, 0);
    for (int k = 0; k < TENDONS; k++) {
        int count = sim_tendon_lines(s.d, k, line, 400);
        double divisor = s.model->tendon[k].path[3].divisor, sum = 0, low = INFINITY, high = 0;
        cr_assert(count >= 2 && count <= 400);
        for (int i = 0; i < count; i++) {
            sum += v3_norm(v3_sub(line[i][1], line[i][0]));
        }
        /* chords are shorter than arcs by at most 0.3 % */
        low = sim_tendon_length(s.d, k, s.moved) * fmin(1, divisor) / 1.004;
        high = sim_tendon_length(s.d, k, s.moved) * fmax(1, divisor) + 1e-12;
        cr_assert(sum >= low && sum <= high, "%g, not within %g and %g", sum, low, high);
    }
    cut_down(&s);
}

/* ---- fixed tendons and pulleys ---- */

static int add_slider(sim_builder *b, const char *name, v3 axis) {
    sim_body_def def = sim_body_default();
    def.name = name;
    def.joint = SIM_SLIDER;
    def.axis = axis;
    def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
    return sim_builder_add_body(b, &def);
}

Test(tendons, fixed_ones_are_sums_of_coordinates) {
    sim_builder *b = sim_builder_create();
    int one = add_slider(b, "one", v3_make(1, 0, 0)), two = add_slider(b, "two", v3_make(0, 1, 0));
    const sim_tendon_joint joint[] = {{one, 0, 2}, {two, 0, -0.5}};
    sim_tendon t = sim_tendon_default();
    t.name = "sum";
    t.njoint = 2;
    t.joint = joint;
    cr_assert_eq(sim_builder_add_tendon(b, &t), 0);
    sim_model *m = sim_builder_finish(b, NULL);
    sim_derived *d = sim_derived_create(m, NULL);
    const double q[] = {3, 4}, v[] = {0.1, 0.2};
    double J[2];
    sim_kinematics(d, sim_all(m), q);
    sim_velocities(d, sim_all(m), v);
    sim_tendon_moments(d, 0, J);
    cr_expect_eq(sim_tendon_length(d, 0, q), 4);
    cr_expect_float_eq(sim_tendon_rate(d, 0, v), 0.1, 1e-16);
    cr_expect(J[0] == 2 && J[1] == -0.5);
    cr_expect_eq(sim_model_find_tendon(m, "sum"), 0);
    cr_expect_eq(sim_model_find_tendon(m, "product"), -1);
    sim_derived_free(d);
    sim_model_free(m);
}

/* A free body, a ball joint on it, and a hinge on that. */
static strung hang_balls(uint64_t seed) {
    strung s = {.random = {seed}};
    static const sim_joint_type type[] = {SIM_FREE, SIM_BALL, SIM_HINGE};
    sim_builder *b = sim_builder_create();
    for (int i = 0; i < 3; i++) {
        sim_body_def def = sim_body_default();
        def.parent = i;
        def.joint = type[i];
        def.placement = (sim_pose){random_rotation(&s.random), random_vector(&s.random, 1)};
        def.axis = random_unit(&s.random);
        def.inertia = random_inertia(&s.random);
        sim_builder_add_body(b, &def);
    }
    const sim_tendon_joint joint[] = {{2, 0, 0.7}, {3, 0, -1.3}};
    sim_tendon t = sim_tendon_default();
    t.name = "angle";
    t.njoint = 2;
    t.joint = joint;
    sim_builder_add_tendon(b, &t);
    s.model = sim_builder_finish(b, NULL);
    s.d = sim_derived_create(s.model, NULL);
    s.q = numbers(s.model->nq);
    s.moved = numbers(s.model->nq);
    s.v = numbers(s.model->nv);
    s.J = numbers(s.model->nv);
    s.J2 = numbers(s.model->nv);
    random_state(&s.random, s.model, s.q, s.v);
    return s;
}

Test(tendons, of_ball_joints_have_their_angle_as_length) {
    for (uint64_t seed = 1; seed <= 30; seed++) {
        strung s = hang_balls(seed);
        const sim_body *ball = &s.model->body[2], *hinge = &s.model->body[3];
        sim_motion acc[4] = {0};
        double rate = slope_of(length_at, &s, 0, s.v, 2e-5), bend = slope_of(speed_at, &s, 0, s.v, 2e-5),
               unit[10] = {0};
        /* the angle: twice the arc cosine of w */
        place(&s, s.v, 0);
        double angle = 2 * acos(fmin(1, fabs(s.q[ball->q0])));
        cr_assert_float_eq(sim_tendon_length(s.d, 0, s.q), 0.7 * angle - 1.3 * s.q[hinge->q0], 1e-12);
        /* its derivatives */
        sim_velocities(s.d, sim_all(s.model), s.v);
        sim_bias_accelerations(s.d, sim_all(s.model), acc);
        double r = sim_tendon_rate(s.d, 0, s.v), h = sim_tendon_bias(s.d, 0, acc);
        cr_assert_float_eq(r, rate, 1e-8 * (1 + fabs(rate)), "%.12g, not %.12g", r, rate);
        cr_assert_float_eq(h, bend, 1e-6 * (1 + fabs(bend)), "%.12g, not %.12g", h, bend);
        sim_tendon_moments(s.d, 0, s.J);
        for (int j = 0; j < s.model->nv; j++) {
            unit[j] = 1;
            double due = slope_of(length_at, &s, 0, unit, 2e-5);
            cr_assert_float_eq(s.J[j], due, 1e-9, "dof %d: %.12g, not %.12g", j, s.J[j], due);
            unit[j] = 0;
        }
        cut_down(&s);
    }
}

/* ---- refusals ---- */

static int add_site(sim_builder *b, const char *name, int body) {
    sim_site site = {name, body, {m3_identity(), {0, 0, 0}}};
    return sim_builder_add_site(b, &site);
}

static void expect_refused(const sim_tendon *wrong, const char *why) {
    sim_error error;
    sim_builder *b = sim_builder_create();
    for (int k = 0; k < 3; k++) {
        static const char *const name[] = {"x", "y", "z"};
        add_site(b, name[k], add_slider(b, name[k], v3_make(1, 0, 0)));
    }
    add_site(b, "fixed", 0);
    sim_shape box = sim_shape_default();
    box.type = SIM_BOX;
    sim_builder_add_shape(b, &box);
    cr_expect_eq(sim_builder_add_tendon(b, wrong), -1, "%s", why);
    cr_expect_null(sim_builder_finish(b, &error));
    cr_expect_eq(error.status, SIM_BAD_INPUT);
    cr_expect(strstr(error.text, why), "\"%s\" does not say \"%s\"", error.text, why);
}

Test(tendons, that_make_no_sense_are_refused_by_name) {
    const sim_path_point x = {.kind = SIM_PATH_SITE, .site = 0}, y = {.kind = SIM_PATH_SITE, .site = 1},
                         fixed = {.kind = SIM_PATH_SITE, .site = 3}, none = {.kind = SIM_PATH_SITE, .site = 4},
                         box = {.kind = SIM_PATH_AROUND, .shape = 0, .site = -1},
                         pulley = {.kind = SIM_PATH_PULLEY, .divisor = 2}, zero = {.kind = SIM_PATH_PULLEY};
    const struct {
        sim_path_point path[5];
        int count;
        const char *why;
    } wrong[] = {
        {{fixed, fixed}, 2, "no joint moves it"},
        {{x}, 1, "a branch needs two sites"},
        {{x, y, pulley}, 3, "a pulley must stand between two branches"},
        {{x, y, zero, x, y}, 5, "the divisor of a pulley must be positive"},
        {{box, x, y}, 3, "spheres and cylinders"},
        {{x, none}, 2, "its site was not added"},
        {{x}, 0, "either joints or a path"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        sim_tendon t = sim_tendon_default();
        t.name = "string";
        t.path = wrong[k].path;
        t.npoint = wrong[k].count;
        expect_refused(&t, wrong[k].why);
    }
    const sim_path_point good[] = {x, y};
    for (int k = 0; k < 4; k++) {
        static const char *const why[] = {"its range", "not negative", "rest length", "stiffness > 0"};
        sim_tendon t = sim_tendon_default();
        t.name = "string";
        t.path = good;
        t.npoint = 2;
        t.limit.low = k == 0 ? 2 : 0;
        t.limit.high = 1;
        t.friction = k == 1 ? -1 : 0;
        t.rest[0] = k == 2 ? 1 : NAN;
        t.limit.stiffness = k == 3 ? 0 : 1;
        expect_refused(&t, why[k]);
    }
}
