/* Two points prove a bound on the distance of two convex solids, for every direction. */
#include "collide/convex/minkowski.h"
#include "support/brute_convex.h"
#include "support/models.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <float.h>

enum { KINDS = 5 };

static sim_geometry *stone;

static void setup(void) {
    random_source r = {31};
    v3 point[14];
    for (int k = 0; k < 14; k++) {
        point[k] = v3_scale(random_uniform(&r, 0.3, 0.6), random_unit(&r));
    }
    stone = sim_geometry_hull(point, 14, NULL);
    cr_assert(stone);
}

static void teardown(void) { sim_geometry_free(stone); }

TestSuite(foot, .init = setup, .fini = teardown);

static convex random_solid(random_source *r, int kind) {
    static const sim_shape_type type[KINDS] = {SIM_BOX, SIM_CYLINDER, SIM_ELLIPSOID, SIM_CONVEX, SIM_CAPSULE};
    sim_shape s = {.type = type[kind], .geometry = kind == 3 ? stone : NULL};
    for (int k = 0; k < 3; k++) {
        s.size[k] = random_uniform(r, 0.3, 1);
    }
    convex c;
    cr_assert(convex_of_shape(&s, &c));
    return c;
}

static minkowski difference(const convex *a, const convex *b, pose X) {
    return (minkowski){.a = a, .b = b, .X_ab = X, .far = HUGE_VAL, .least = fmin(a->least, b->least), .grain = 1e-15};
}

/* Normals of faces and caps, where solids lie flat; what Newton's method finds from anywhere else. */
static v3 some_direction(random_source *r, const minkowski *m) {
    mink_direction x = mink_first(m);
    if (random_index(r, 2)) {
        mink_foot foot;
        x.u = v3_unit(v3_axpy(x.u, 0.3, random_unit(r)));
        x.h = v3_dot(x.u, mink_support(m, x.u).d);
        mink_polish(m, MINK_END, &x, &foot);
    }
    return x.u;
}

Test(foot, no_direction_is_lower_than_what_is_proven) {
    int proven = 0, stationary = 0;
    for (int k = 0; k < trials_of(20000); k++) {
        random_source r = {(uint64_t)k << 20};
        convex a = random_solid(&r, k % KINDS), b = random_solid(&r, k / KINDS % KINDS);
        m3 R = k % 3 ? random_rotation(&r) : m3_axis_angle(v3_make(0, 0, 1), random_uniform(&r, 0, 6));
        pose X = {R, v3_scale(random_uniform(&r, 0.1, 1), random_unit(&r))};
        a.radius = b.radius = 0; /* cores */
        minkowski m = difference(&a, &b, X);
        v3 u = some_direction(&r, &m);
        mink_foot foot;
        mink_foot_of(&m, u, &foot);
        mink_foot_prove(&m, &foot);
        cr_assert_float_eq(foot.h, v3_dot(u, mink_support(&m, u).d), 1e-14);
        cr_assert_float_eq(v3_norm(v3_axpy(v3_sub(foot.a, foot.b), -foot.h, u)), foot.off, 1e-14);
        cr_assert(foot.below <= foot.h + 1e-14);
        stationary += foot.off < 1e-13;
        proven += foot.h > 0 && mink_is_minimum(&m, &foot);
        for (int i = 0; i < 200; i++) {
            v3 v = i % 2 ? random_unit(&r) : v3_unit(v3_axpy(u, random_uniform(&r, 0, 0.5), random_unit(&r)));
            double h = difference_support(&a, &b, &X, v);
            cr_assert(h >= foot.below - 1e-13, "%d: %g, not %g", k, h, foot.below);
        }
    }
    cr_assert(proven > trials_of(1500), "%d", proven);
    cr_assert(stationary > trials_of(8000), "%d", stationary);
}

/* Its points belong to the solids: no plane has them on its far side. */
Test(foot, its_points_belong_to_the_solids) {
    for (int k = 0; k < 10000; k++) {
        random_source r = {(uint64_t)k << 21};
        convex a = random_solid(&r, k % KINDS), b = random_solid(&r, k / KINDS % KINDS);
        pose X = {m3_axis_angle(v3_make(0, 0, 1), k % 4 * M_PI / 4),
                  v3_scale(random_uniform(&r, 0.1, 2), random_unit(&r))};
        minkowski m = difference(&a, &b, X);
        mink_foot foot;
        mink_foot_of(&m, some_direction(&r, &m), &foot);
        for (int i = 0; i < 50; i++) {
            v3 v = random_unit(&r), local = m3_transposed_times(X.R, v);
            uint32_t vertex;
            cr_assert(v3_dot(v, foot.a) <= v3_dot(v, convex_support(&a, v, &vertex)) + 1e-13);
            cr_assert(v3_dot(v, foot.b) <= v3_dot(v, pose_point(X, convex_support(&b, local, &vertex))) + 1e-13);
        }
    }
}
