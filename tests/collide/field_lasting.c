/* Contacts of a distance field that stay as bodies sink a little deeper or move on: no jumps of the contact set. */
#include "support/contacts.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;

/* A cylinder longer than the face of a box that it lies on: one contact at each end of the face, however deep it lies.  A
 * second one at either end would halve the compliance there, from one step to the next. */
Test(field_lasting, line_over_a_face_has_one_contact_at_each_end) {
    const double RADIUS = 0.04, HALF_FACE = 0.03;
    sim_field_def def = field_cylinder(RADIUS, 0.1);
    sim_shape cylinder = field_shape(&def, 0.005), box = sized_shape(SIM_BOX, 0.05, 2 * HALF_FACE, 0.05);
    for (int k = 0; k < 16; k++) {
        double depth = 1e-5 * pow(1.25, k);
        for (int tilted = 0; tilted < 2; tilted++) {
            double tilt = tilted ? 0.2 * depth / HALF_FACE : 0;
            pose X = {m3_axis_angle(v3_make(1, 0, 0), PI / 2), {0.025 + RADIUS - depth, 0, 0}};
            X.R = m3_product(m3_axis_angle(v3_make(0, 0, 1), tilt), X.R);
            contacts c = contacts_of(&box, &cylinder, X, 1e-4, NULL, 0);
            cr_expect_eq(c.count, 2, "%d contacts at a depth of %g m", c.count, depth);
            for (int i = 0; i < c.count; i++) {
                double here = depth + tilt * c.point[i].position.y;
                cr_expect_float_eq(c.point[i].gap, -here, 1e-3 * depth, "%g, not %g", c.point[i].gap, -here);
                cr_expect_float_eq(fabs(c.point[i].position.y), HALF_FACE, 1e-3 * HALF_FACE);
            }
            free(c.point);
        }
    }
    shape_free(&cylinder);
}

/* A ball between the bottom and the wall of a bowl presses on both, wherever on the ring it lies and however deep in each. */
Test(field_lasting, ball_in_the_corner_of_a_bowl_touches_bottom_and_wall) {
    const double line[3][2] = {{0, 0}, {0.05, 0}, {0.1, 0.06}}, THICK = 0.004, RADIUS = 0.012;
    sim_field_def def = sim_field_default();
    def.type = SIM_FIELD_PROFILE;
    def.point = line;
    def.npoint = 3;
    def.thickness = THICK;
    sim_shape bowl = field_shape(&def, 0.01), ball = sized_shape(SIM_SPHERE, RADIUS, 0, 0);
    double length = hypot(0.05, 0.06), n[2] = {-0.06 / length, 0.05 / length};
    random_source r = {3};
    for (int k = 0; k < trials_of(400); k++) {
        double deep[2] = {random_uniform(&r, 1e-6, 5e-5), random_uniform(&r, 1e-6, 5e-5)};
        double azimuth = random_uniform(&r, -PI, PI);
        double z = THICK + RADIUS - deep[0], rho = 0.05 + (THICK + RADIUS - deep[1] - n[1] * z) / n[0];
        v3 up[2] = {{0, 0, 1}, {n[0] * cos(azimuth), n[0] * sin(azimuth), n[1]}}, found = {0, 0, 0};
        pose X = {m3_identity(), {-rho * cos(azimuth), -rho * sin(azimuth), -z}};
        contacts c = contacts_of(&ball, &bowl, X, 2e-5, NULL, 0);
        for (int i = 0; i < c.count; i++) {
            for (int side = 0; side < 2; side++) {
                bool same = v3_dot(c.point[i].normal, up[side]) > 1 - 1e-6 && fabs(c.point[i].gap + deep[side]) < 1e-8;
                *(side ? &found.y : &found.x) += same;
            }
            found.z++;
        }
        cr_expect(found.x == 1 && found.y == 1 && found.z == 2,
                  "%d: %g at the bottom, %g at the wall, %g in all; %g, %g deep", k, found.x, found.y, found.z, deep[0],
                  deep[1]);
        free(c.point);
    }
    shape_free(&bowl);
}

static int features_gone(const contacts *from, const contacts *to) {
    int gone = 0;
    for (int i = 0; i < from->count; i++) {
        int same = 0;
        for (int j = 0; j < to->count; j++) {
            same += to->point[j].feature == from->point[i].feature;
        }
        gone += same == 0;
    }
    return gone;
}

/* A solid rocks by less than its points are deep, at random: how many of its points go from one step to the next, of how
 * many.  X: where it touches at `from` of its depth; `lean`: rad. */
typedef struct rocking {
    int gone, all;
} rocking;

static rocking rock(const sim_shape *a, const sim_shape *b, pose X, double deep, double slope, double lean) {
    enum { STEPS = 60 };
    random_source r = {5};
    contacts last = {.point = NULL};
    uint64_t kept[256];
    rocking sum = {0, 0};
    for (int k = -8; k < STEPS; k++) {
        if (k >= 0) {
            X.R = m3_axis_angle(v3_make(cos(0.1 * k), sin(0.1 * k), 0), lean * random_uniform(&r, -1, 1));
            X.p.x = 1e-5 * sin(0.3 * k);
        }
        contacts c = contacts_of(a, b, X, 1e-4, kept, last.count);
        cr_assert(c.count > 2 && c.count <= 256, "%d points", c.count);
        if (k < 0) { /* down to its place */
            X.p.z -= (c.point[deepest_of(&c)].gap + deep) / slope;
        } else {
            sum.gone += features_gone(&last, &c);
            sum.all += last.count;
        }
        for (int i = 0; i < c.count; i++) {
            kept[i] = c.point[i].feature;
        }
        free(last.point);
        last = c;
    }
    free(last.point);
    return sum;
}

/* A pot on a plate: all but one in fifty a step.  The ring on which both touch is as deep everywhere. */
Test(field_lasting, points_of_a_ring_stay_where_a_pot_rocks_on_a_plate) {
    sim_shape plate = dish_shape(0, 0), pot = dish_shape(2, 0);
    rocking sum = rock(&plate, &pot, (pose){m3_identity(), {0, 0, 0.0187}}, 15e-6, 0.937, 5e-5);
    cr_expect_lt(50 * sum.gone, sum.all, "%d of %d gone", sum.gone, sum.all);
    shape_free(&plate);
    shape_free(&pot);
}

/* Each dish on a plane and on a box: all but one in twenty, which others of a wider stance replace. */
Test(field_lasting, points_of_a_flat_bottom_stay_where_a_dish_rocks_on_the_ground) {
    sim_shape ground[] = {sized_shape(SIM_HALF_SPACE, 0, 0, 0), sized_shape(SIM_BOX, 0.5, 0.5, 0.02)};
    const double top[] = {0, 0.01};
    for (int i = 0; i < DISHES; i++) {
        sim_shape solid = dish_shape(i, 0);
        for (int k = 0; k < 2; k++) {
            for (int part = 1; part <= 100; part *= 10) {
                pose X = {m3_identity(), {0, 0, top[k] + dishes[i].thickness}};
                rocking sum = rock(&ground[k], &solid, X, 1e-5, 1, 1e-4 / part);
                cr_expect_lt(20 * sum.gone, sum.all, "%s on %s, %g rad: %d of %d gone", dishes[i].name,
                             k ? "a box" : "a plane", 1e-4 / part, sum.gone, sum.all);
            }
        }
        shape_free(&solid);
    }
}
