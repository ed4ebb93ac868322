/* Contacts as functions of the poses of two bodies.  Rates of point, normal and gap equal differences of the points that
 * collision finds, by feature.  Round solids lie on faces, beyond their edges, and along each other. */
#include "world/derivative/touch/touch.h"
#include "solid.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MOST = 16 };
static const double MARGIN = 0.02, DEPTH = 1e-4;

typedef struct bodies {
    sim_model *model;
    sim_derived *d;
    sim_pose X[2];
} bodies;

static void add_free_shape(sim_builder *b, sim_shape_type type, double scale) {
    sim_body_def def = sim_body_default();
    def.inertia = (sim_inertia){1, {0, 0, 0}, {1, 1, 1, 0, 0, 0}};
    sim_shape shape = make_solid(b, sim_builder_add_body(b, &def), type, scale);
    sim_builder_add_shape(b, &shape);
}

static bodies open_bodies(sim_shape_type first, sim_shape_type second, double scale) {
    bodies out = {0};
    sim_builder *b = sim_builder_create();
    add_free_shape(b, first, 1);
    add_free_shape(b, second, scale);
    out.model = sim_builder_finish(b, NULL);
    cr_assert_not_null(out.model);
    out.d = sim_derived_create(out.model, NULL);
    cr_assert_not_null(out.d);
    out.X[0] = (sim_pose){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
    return out;
}

static void close_bodies(bodies *b) {
    sim_derived_free(b->d);
    sim_model_free(b->model);
}

static int collide(const bodies *b, sim_contact_point *point) {
    const sim_shape *s = b->model->shape;
    return sim_collide_shapes(&s[0], &b->X[0], &s[1], &b->X[1], MARGIN, point, MOST);
}

/* Moves the second body along `way` until the solids overlap by DEPTH. */
static void bring_together(bodies *b, sim_v3 aside, sim_v3 way) {
    sim_contact_point point[MOST];
    double near = 0, far = 2;
    for (int k = 0; k < 60; k++) {
        double middle = 0.5 * (near + far), least = 1;
        b->X[1].p = v3_axpy(aside, middle, way);
        for (int i = collide(b, point) - 1; i >= 0; i--) {
            least = fmin(least, point[i].gap);
        }
        *(least > -DEPTH ? &far : &near) = middle;
    }
    b->X[1].p = v3_axpy(aside, far, way);
}

static sim_pose moved(sim_pose X, int component, double h) {
    sim_v3 along = {component % 3 == 0, component % 3 == 1, component % 3 == 2};
    if (component < 3) {
        return (sim_pose){X.R, v3_axpy(X.p, h, along)};
    }
    sim_quat turn = {cos(0.5 * h), sin(0.5 * h) * along.x, sin(0.5 * h) * along.y, sin(0.5 * h) * along.z};
    return (sim_pose){m3_product(quat_matrix(turn), X.R), X.p};
}

/* The point of a feature with body k moved; false: it is gone. */
static bool find_moved(const bodies *b, int k, int component, double h, uint64_t feature, sim_contact_point *out) {
    bodies to = *b;
    sim_contact_point point[MOST];
    to.X[k] = moved(b->X[k], component, h);
    for (int i = collide(&to, point) - 1; i >= 0; i--) {
        if (point[i].feature == feature) {
            *out = point[i];
            return true;
        }
    }
    return false;
}

/* (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h;  with `side` (-3 f(0) + 4 f(h) - f(2h)) / 2 h of that sign. */
static bool difference(const bodies *b, int k, int component, double h, int side, const sim_contact_point *at,
                       touch_rate *out) {
    const double weight[2][4] = {{1, -8, 8, -1}, {-3, 4, -1, 0}}, place[2][4] = {{-2, -1, 1, 2}, {0, 1, 2, 0}};
    int points = side ? 3 : 4;
    *out = (touch_rate){.gap = 0};
    for (int i = 0; i < points; i++) {
        sim_contact_point to;
        double step = place[side != 0][i] * (side ? side * h : h), w = weight[side != 0][i];
        if (!find_moved(b, k, component, step, at->feature, &to)) {
            return false;
        }
        w /= side ? 2 * side * h : 12 * h;
        out->x = v3_axpy(out->x, w, v3_sub(to.position, at->position));
        out->n = v3_axpy(out->n, w, v3_sub(to.normal, at->normal));
        out->gap += w * (to.gap - at->gap);
    }
    return true;
}

static double error_of(touch_rate found, touch_rate due) {
    double size = fmax(v3_norm(due.x), fmax(v3_norm(due.n), fmax(fabs(due.gap), 0.1)));
    return fmax(v3_norm(v3_sub(found.x, due.x)), fmax(v3_norm(v3_sub(found.n, due.n)), fabs(found.gap - due.gap))) /
           size;
}

/* Points, those refused, columns that were compared, points at kinks, greatest error. */
typedef struct tally {
    int points, refused, checked, kinks;
    double worst;
} tally;

static bool make(const bodies *b, const sim_contact_point *at, touch *t) {
    const sim_contact c = {.shape_a = 0,
                           .shape_b = 1,
                           .body_a = b->model->shape[0].body,
                           .body_b = b->model->shape[1].body,
                           .at = *at,
                           .stiffness = INFINITY};
    b->d->pose[c.body_a] = b->X[0];
    b->d->pose[c.body_b] = b->X[1];
    return touch_make(b->d, &c, t) == NULL;
}

/* All rates of all points; at a kink each column is that of one side. */
static void check_points(const bodies *b, double h, tally *to) {
    sim_contact_point point[MOST];
    int count = collide(b, point);
    for (int i = 0; i < count; i++) {
        touch t;
        to->points++;
        if (!make(b, &point[i], &t)) {
            to->refused++;
            continue;
        }
        to->kinks += t.kink;
        for (int column = 0; column < 12; column++) {
            sim_motion velocity[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
            int k = column / 6, component = column % 6;
            sim_v3 along = {component % 3 == 0, component % 3 == 1, component % 3 == 2};
            *(component < 3 ? &velocity[k].lin : &velocity[k].ang) = along;
            touch_rate found = touch_along(&t, velocity), due;
            double error = INFINITY;
            for (int side = t.kink ? -1 : 0; side <= t.kink; side += 2) {
                touch_rate nearer;
                if (difference(b, k, component, h, side, &point[i], &due) &&
                    difference(b, k, component, 0.5 * h, side, &point[i], &nearer) &&
                    error_of(due, nearer) < 3e-7) { /* it settles */
                    error = fmin(error, error_of(found, due));
                }
            }
            if (isfinite(error)) { /* the feature stays */
                to->checked++;
                to->worst = fmax(to->worst, error);
            }
        }
    }
}

/* A capsule or cylinder on its side on a box or a hull, by up to 0.2 rad from level, partly beyond the face. */
static tally lay_on_face(sim_shape_type on, sim_shape_type what, double tilt) {
    random_source r = {31};
    tally out = {0};
    for (int k = 0; k < trials_of(300); k++) {
        bodies b = open_bodies(on, what, 0.8);
        sim_m3 on_side = {{0, 0, -1}, {0, 1, 0}, {1, 0, 0}};
        sim_quat turn = {1, tilt * random_uniform(&r, -1, 1), tilt * random_uniform(&r, -1, 1),
                         random_uniform(&r, -1, 1)};
        b.X[1].R = m3_product(quat_matrix(quat_normalised(turn)), on_side);
        bring_together(&b, (sim_v3){random_uniform(&r, -0.1, 0.1), random_uniform(&r, -0.1, 0.1), 0},
                       (sim_v3){0, 0, 1});
        check_points(&b, tilt > 0 ? 1e-6 : 1e-5, &out);
        close_bodies(&b);
    }
    return out;
}

Test(touch, of_round_solids_that_lie_on_faces_equals_differences) {
    static const sim_shape_type on[2] = {SIM_BOX, SIM_CONVEX}, what[2] = {SIM_CAPSULE, SIM_CYLINDER};
    static const double tilt[3] = {0, 1e-3, 0.02};
    for (int k = 0; k < 12; k++) {
        tally t = lay_on_face(on[k % 2], what[k / 2 % 2], tilt[k / 4]);
        cr_expect(t.refused == 0 && t.checked > 10 * t.points, "%d refused, %d columns", t.refused, t.checked);
        cr_expect((t.kinks > 0) == (tilt[k / 4] == 0 && on[k % 2] == SIM_BOX), "%d kinks", t.kinks);
        cr_expect(t.worst < 1e-6, "%d, %d: %g", on[k % 2], what[k / 2 % 2], t.worst);
    }
}

/* Two round sides whose axes differ by up to `yaw` about the normal, and by a tilt.  That moves the nearest point along
 * them, or to an end. */
static tally lay_along(sim_shape_type first, sim_shape_type second, double yaw, bool kinked) {
    random_source r = {37};
    tally out = {0};
    for (int k = 0; k < trials_of(300); k++) {
        bodies b = open_bodies(first, second, 0.7);
        double a = random_uniform(&r, -3, 3), y = yaw * random_uniform(&r, 0.3, 1), roll = random_uniform(&r, -3, 3);
        double p = 2 * y * y * random_uniform(&r, -1, 1), c = cos(a), s = sin(a);
        sim_quat about_way = {1, 0.5 * y * c, 0.5 * y * s, 0}, across = {1, -0.5 * p * s, 0.5 * p * c, 0},
                 spin = {cos(roll), 0, 0, sin(roll)};
        sim_m3 R = m3_product(quat_matrix(quat_normalised(across)), quat_matrix(quat_normalised(about_way)));
        b.X[1].R = kinked ? b.X[0].R : m3_product(R, quat_matrix(spin));
        bring_together(&b, (sim_v3){0, 0, random_uniform(&r, -0.1, 0.1)}, (sim_v3){c, s, 0});
        check_points(&b, 2e-7, &out);
        close_bodies(&b);
    }
    return out;
}

Test(touch, of_round_sides_along_each_other_equals_differences) {
    static const sim_shape_type pair[4][2] = {{SIM_CAPSULE, SIM_CAPSULE},
                                              {SIM_CAPSULE, SIM_CYLINDER},
                                              {SIM_CYLINDER, SIM_CAPSULE},
                                              {SIM_CYLINDER, SIM_CYLINDER}};
    for (int k = 0; k < 8; k++) {
        tally t = lay_along(pair[k % 4][0], pair[k % 4][1], 0.012, k >= 4);
        cr_expect(t.refused == 0 && t.checked > 10 * t.points, "%d refused, %d columns", t.refused, t.checked);
        cr_expect_eq(t.kinks, k < 4 ? 0 : t.points, "%d kinks", t.kinks);
        cr_expect(t.worst < 1e-6, "%d, %d: %g", pair[k % 4][0], pair[k % 4][1], t.worst);
    }
}
