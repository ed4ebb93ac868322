/* Closed forms are proven right placement by placement: see solids.h. */
#include "collide/contact/pair.h"
#include "solids.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const sim_shape_type kinds[][2] = {{SIM_SPHERE, SIM_SPHERE},
                                          {SIM_SPHERE, SIM_BOX},
                                          {SIM_SPHERE, SIM_CAPSULE},
                                          {SIM_SPHERE, SIM_CYLINDER},
                                          {SIM_SPHERE, SIM_ELLIPSOID},
                                          {SIM_SPHERE, SIM_HALF_SPACE},
                                          {SIM_BOX, SIM_BOX},
                                          {SIM_BOX, SIM_CAPSULE},
                                          {SIM_BOX, SIM_HALF_SPACE},
                                          {SIM_CAPSULE, SIM_CAPSULE},
                                          {SIM_CAPSULE, SIM_HALF_SPACE},
                                          {SIM_CYLINDER, SIM_HALF_SPACE},
                                          {SIM_ELLIPSOID, SIM_HALF_SPACE}};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct subject {
    sim_shape a, b;
    sim_pose X;
    double margin, size;
} subject;

static const char *name_of(const subject *s) {
    static char text[400];
    snprintf(text, sizeof text,
             "%s %.17g %.17g %.17g, %s %.17g %.17g %.17g, R = %.17g %.17g %.17g, %.17g %.17g %.17g, ..., p = %.17g "
             "%.17g %.17g",
             sim_shape_name(s->a.type), s->a.size[0], s->a.size[1], s->a.size[2], sim_shape_name(s->b.type),
             s->b.size[0], s->b.size[1], s->b.size[2], s->X.R.x.x, s->X.R.x.y, s->X.R.x.z, s->X.R.y.x, s->X.R.y.y,
             s->X.R.y.z, s->X.p.x, s->X.p.y, s->X.p.z);
    return text;
}

static manifold collide(sim_arena *arena, const subject *s) {
    pair p = {.a = &s->a, .b = &s->b, .X_ab = s->X, .margin = s->margin, .arena = arena};
    manifold m = {0};
    pair_collide(&p, &m);
    cr_assert(!m.failed);
    return m;
}

static const contact_point *deepest(const manifold *m) {
    const contact_point *best = NULL;
    for (int k = 0; k < m->count; k++) {
        best = !best || m->point[k].gap < best->gap ? &m->point[k] : best;
    }
    return best;
}

/* Solids at random, B put so that along a random direction they touch, but for a shift. */
static subject random_subject(random_source *r, const sim_shape_type kind[2]) {
    subject s = {.a = random_solid(r, kind[0]), .b = random_solid(r, kind[1]), .margin = HUGE_VAL};
    s.X.R = random_placing(r);
    double ra = solid_radius(&s.a), rb = solid_radius(&s.b), small = kind[1] == SIM_HALF_SPACE ? ra : fmin(ra, rb);
    v3 d = random_index(r, 2) ? random_unit(r) : s.X.R.z;
    double shift = random_uniform(r, -1, 1) * small * pow(10, -random_index(r, 12));
    if (kind[1] == SIM_HALF_SPACE) {
        s.X.p = v3_axpy(v3_scale(random_uniform(r, -ra, ra), s.X.R.x), -shift - solid_support(&s.a, v3_neg(s.X.R.z)),
                        s.X.R.z);
    } else {
        double touching = solid_parted(&s.a, &s.b, &(sim_pose){s.X.R, {0, 0, 0}}, d);
        s.X.p = v3_scale(touching - shift, d);
        if (random_index(r, 3) == 0) { /* beside that, by up to the smaller solid; or about each other's middle */
            s.X.p = v3_axpy(s.X.p, small, random_unit(r));
        } else if (random_index(r, 4) == 0) {
            s.X.p = v3_scale(random_index(r, 3) * random_uniform(r, 0, 0.5) * small, random_unit(r));
        }
    }
    s.size = fmax(ra + rb, v3_norm(s.X.p));
    return s;
}

/* No direction parts the solids by more than `gap`: directions at random, then ever closer to the best. */
static double best_parting(const subject *s, random_source *r, v3 start, int tries) {
    double best = solid_parted(&s->a, &s->b, &s->X, start), step = 1;
    v3 at = start;
    for (int k = 0; k < trials_of(tries); k++) {
        v3 n = k % 2 ? v3_axpy(at, step, random_unit(r)) : v3_axpy(start, step, random_unit(r));
        n = v3_scale(1 / v3_norm(n), n);
        double parted = solid_parted(&s->a, &s->b, &s->X, n);
        if (parted > best) {
            best = parted;
            at = n;
        }
        step *= k % 30 == 29 ? 1e5 : 0.6;
    }
    return best;
}

static void prove(const subject *s, const manifold *m, random_source *r, int tries) {
    const contact_point *c = deepest(m);
    cr_assert(c, "nothing: %s", name_of(s));
    double tolerance = 1e-12 * s->size;
    for (int k = 0; k < m->count; k++) {
        cr_assert(isfinite(m->point[k].gap) && v3_finite(m->point[k].position), "%s", name_of(s));
        cr_assert_float_eq(v3_norm(m->point[k].normal), 1, 1e-13, "%s", name_of(s));
    }
    double parted = solid_parted(&s->a, &s->b, &s->X, c->normal);
    cr_assert_float_eq(parted, c->gap, tolerance, "off by %g, gap %g: %s", parted - c->gap, c->gap, name_of(s));
    for (int k = 0; k < m->count;
         k++) { /* each end of each point on its surface: to rounding; or, with edges in play, */
        v3 half = v3_scale(0.5 * m->point[k].gap, m->point[k].normal); /* to the tolerance of clipping */
        double off_a = solid_outside(&s->a, v3_add(m->point[k].position, half));
        double off_b = solid_outside(&s->b, to_frame(&s->X, v3_sub(m->point[k].position, half)));
        double small =
            s->b.type == SIM_HALF_SPACE ? solid_radius(&s->a) : fmin(solid_radius(&s->a), solid_radius(&s->b));
        int edges = s->b.type != SIM_HALF_SPACE && s->a.type != SIM_SPHERE, round = s->a.type == SIM_CAPSULE;
        double place = tolerance + (edges ? (round ? 3e-4 : 3e-6) * small : 1e-9 * solid_radius(&s->a));
        cr_assert(fabs(off_a) < place && fabs(off_b) < place, "point %d, gap %g is %g and %g off: %s", k,
                  m->point[k].gap, off_a, off_b, name_of(s));
    }
    if (s->b.type != SIM_HALF_SPACE) {
        double best = best_parting(s, r, c->normal, tries);
        cr_assert(best <= c->gap + tolerance, "%g is better than %g: %s", best, c->gap, name_of(s));
    }
}

static void prove_kind(sim_shape_type first, sim_shape_type second) {
    sim_arena *arena = arena_create();
    random_source r = {7 + 10 * first + second};
    for (int trial = 0; trial < trials_of(100000); trial++) {
        arena_release(arena, 0);
        subject s = random_subject(&r, (sim_shape_type[]){first, second});
        manifold m = collide(arena, &s);
        prove(&s, &m, &r, trial % 20 ? 8 : 200);
    }
    arena_free(arena);
}

Test(primitives, sphere_and_sphere_are_as_far_apart_as_planes_and_points_prove) { prove_kind(SIM_SPHERE, SIM_SPHERE); }
Test(primitives, sphere_and_box_are_as_far_apart_as_planes_and_points_prove) { prove_kind(SIM_SPHERE, SIM_BOX); }
Test(primitives, sphere_and_capsule_are_as_far_apart_as_planes_and_points_prove) {
    prove_kind(SIM_SPHERE, SIM_CAPSULE);
}
Test(primitives, sphere_and_cylinder_are_as_far_apart_as_planes_and_points_prove) {
    prove_kind(SIM_SPHERE, SIM_CYLINDER);
}
Test(primitives, sphere_and_ellipsoid_are_as_far_apart_as_planes_and_points_prove) {
    prove_kind(SIM_SPHERE, SIM_ELLIPSOID);
}
Test(primitives, sphere_and_half_space_are_as_far_apart_as_planes_and_points_prove) {
    prove_kind(SIM_SPHERE, SIM_HALF_SPACE);
}
Test(primitives, box_and_box_are_as_far_apart_as_planes_and_points_prove) { prove_kind(SIM_BOX, SIM_BOX); }
Test(primitives, box_and_capsule_are_as_far_apart_as_planes_and_points_prove) { prove_kind(SIM_BOX, SIM_CAPSULE); }
Test(primitives, box_and_half_space_are_as_far_apart_as_planes_and_points_prove) {
    prove_kind(SIM_BOX, SIM_HALF_SPACE);
}
Test(primitives, capsule_and_capsule_are_as_far_apart_as_planes_and_points_prove) {
    prove_kind(SIM_CAPSULE, SIM_CAPSULE);
}
Test(primitives, capsule_and_half_space_are_as_far_apart_as_planes_and_points_prove) {
    prove_kind(SIM_CAPSULE, SIM_HALF_SPACE);
}
Test(primitives, cylinder_and_half_space_are_as_far_apart_as_planes_and_points_prove) {
    prove_kind(SIM_CYLINDER, SIM_HALF_SPACE);
}
Test(primitives, ellipsoid_and_half_space_are_as_far_apart_as_planes_and_points_prove) {
    prove_kind(SIM_ELLIPSOID, SIM_HALF_SPACE);
}

/* Centres in each other, on axes, on faces, on edges and corners; axes that cross, coincide or meet end to end. */
Test(primitives, centres_and_axes_that_coincide_have_a_least_way_out) {
    sim_arena *arena = arena_create();
    random_source r = {11};
    static const m3 turns[3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
                                {{0.6, 0.8, 0}, {-0.8, 0.6, 0}, {0, 0, 1}}};
    for (int k = 0; k < KINDS; k++) {
        for (int place = 0; place < 27 * 9; place++) {
            arena_release(arena, 0);
            subject s = {.a = shape_of(kinds[k][0], 0.5, 1, 1.5), .b = shape_of(kinds[k][1], 0.5, 1, 1.5)};
            double step[3] = {place % 3 - 1, place / 3 % 3 - 1, place / 9 % 3 - 1};
            s.X = (sim_pose){turns[place / 27 % 3], {0.25 * step[0], 0.5 * step[1], 0.75 * step[2]}};
            if (place / 81 == 1) { /* end to end along z */
                s.X.p = v3_make(0, 0, step[2]);
            } else if (place / 81 == 2) { /* beside that by less than rounding of sizes */
                s.X.p = v3_axpy(s.X.p, 1e-17, random_unit(&r));
            }
            s.margin = HUGE_VAL;
            s.size = solid_radius(&s.a) + solid_radius(&s.b) + 1;
            manifold m = collide(arena, &s);
            prove(&s, &m, &r, 300);
        }
    }
    arena_free(arena);
}

Test(primitives, a_scene_scaled_by_a_power_of_two_gives_the_same_bits_scaled) {
    sim_arena *arena = arena_create();
    random_source r = {12};
    for (int trial = 0; trial < 2000 * KINDS; trial++) {
        arena_release(arena, 0);
        subject s = random_subject(&r, kinds[trial % KINDS]), t = s;
        double scale = ldexp(1, random_index(&r, 60) - 30);
        s.margin = 0.3 * solid_radius(&s.a);
        t.margin = scale * s.margin;
        t.X.p = v3_scale(scale, s.X.p);
        for (int k = 0; k < 3; k++) {
            t.a.size[k] *= scale;
            t.b.size[k] *= scale;
        }
        manifold m = collide(arena, &s), n = collide(arena, &t);
        cr_assert_eq(m.count, n.count, "%s", name_of(&s));
        for (int k = 0; k < m.count; k++) {
            const contact_point *c = &m.point[k], *d = &n.point[k];
            cr_assert(c->feature == d->feature && scale * c->gap == d->gap, "%s", name_of(&s));
            cr_assert(v3_norm(v3_sub(v3_scale(scale, c->position), d->position)) == 0, "%s", name_of(&s));
        }
    }
    arena_free(arena);
}

Test(primitives, named_the_other_way_round_normals_point_back_and_points_stay) {
    sim_arena *arena = arena_create();
    random_source r = {13};
    for (int trial = 0; trial < 2000 * KINDS; trial++) {
        arena_release(arena, 0);
        const sim_shape_type *kind = kinds[trial % KINDS];
        subject s = random_subject(&r, kind);
        subject t = {s.b, s.a, {m3_transpose(s.X.R), to_frame(&s.X, v3_make(0, 0, 0))}, HUGE_VAL, s.size};
        manifold m = collide(arena, &s), n = collide(arena, &t);
        double tolerance = 1e-11 * s.size;
        cr_assert_float_eq(deepest(&m)->gap, deepest(&n)->gap, tolerance, "%s", name_of(&s));
        for (int k = 0; kind[0] != kind[1] && k < m.count; k++) { /* of equal types either may be A */
            v3 position = v3_add(s.X.p, m3_times(s.X.R, n.point[k].position));
            cr_assert_eq(m.point[k].feature, feature_swapped(n.point[k].feature));
            cr_assert(v3_norm(v3_sub(position, m.point[k].position)) < tolerance, "%g of %g, gap %g: %s",
                      v3_norm(v3_sub(position, m.point[k].position)), s.size, m.point[k].gap, name_of(&s));
            cr_assert(v3_norm(v3_add(m3_times(s.X.R, n.point[k].normal), m.point[k].normal)) < 1e-9);
        }
    }
    arena_free(arena);
}

/* Resting solids that tremble, each step shown the points of the step before. A disc may try its lowest point first. */
Test(primitives, what_rests_keeps_the_names_of_its_points_under_noise) {
    sim_arena *arena = arena_create();
    random_source r = {14};
    static const m3 up = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, lying = {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}};
    const m3 edge = m3_axis_angle(v3_make(0, 1, 0), M_PI / 4), along = m3_axis_angle(v3_make(1, 0, 0), M_PI / 2);
    const struct {
        sim_shape a, b;
        m3 turned;
        v3 p;
        int count;
    } rows[] = {
        {shape_of(SIM_BOX, 1, 2, 3), shape_of(SIM_HALF_SPACE, 0, 0, 0), up, {0, 0, -1.5 + 1e-5}, 4},
        {shape_of(SIM_CAPSULE, 0.2, 1, 0), shape_of(SIM_HALF_SPACE, 0, 0, 0), lying, {0, 0.2 - 1e-5, 0}, 2},
        {shape_of(SIM_CYLINDER, 0.2, 1, 0), shape_of(SIM_HALF_SPACE, 0, 0, 0), lying, {0, 0.2 - 1e-5, 0}, 2},
        {shape_of(SIM_CYLINDER, 0.2, 1, 0), shape_of(SIM_HALF_SPACE, 0, 0, 0), up, {0, 0, -0.5 + 1e-5}, 4},
        {shape_of(SIM_BOX, 1, 1, 1), shape_of(SIM_CAPSULE, 0.2, 0.6, 0), along, {0.1, 0, 0.7 - 1e-5}, 2},
        {shape_of(SIM_BOX, 1, 1, 1), shape_of(SIM_CAPSULE, 0.2, 3, 0), along, {0.1, 0, 0.7 - 1e-5}, 2},
        {shape_of(SIM_BOX, 1, 1, 1), shape_of(SIM_CAPSULE, 0.2, 1, 0), along, {0.1, 0, 0.7 - 1e-5}, 2},
        {shape_of(SIM_BOX, 3, 3, 1), shape_of(SIM_BOX, 1, 1, 1), edge, {0.2, 0.1, 0.5 + 0.70710678 - 1e-5}, 2},
        {shape_of(SIM_CAPSULE, 0.2, 1, 0), shape_of(SIM_CAPSULE, 0.3, 1, 0), up, {0.5 - 1e-5, 0, 0}, 2},
        {shape_of(SIM_CAPSULE, 0.2, 1, 0), shape_of(SIM_CAPSULE, 0.3, 1, 0), up, {0.5 - 1e-5, 0, 0.4}, 2},
        {shape_of(SIM_BOX, 1, 1, 1), shape_of(SIM_BOX, 1, 1, 1), up, {0, 0, 1 - 1e-5}, 4},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        uint64_t kept[8] = {0};
        for (int trial = 0; trial < trials_of(10000); trial++) {
            double noise = 1e-9;
            m3 R = m3_product(m3_axis_angle(random_unit(&r), noise), rows[row].turned);
            v3 p = v3_axpy(rows[row].p, noise, random_unit(&r));
            pair q = {.a = &rows[row].a,
                      .b = &rows[row].b,
                      .X_ab = {R, p},
                      .margin = 1e-3,
                      .kept = kept,
                      .nkept = trial ? rows[row].count : 0,
                      .arena = arena};
            manifold m = {0};
            arena_release(arena, 0);
            pair_collide(&q, &m);
            cr_assert_eq(m.count, rows[row].count, "row %zu, trial %d: %d points", row, trial, m.count);
            int changes = 0;
            for (int k = 0; k < m.count; k++) {
                changes += kept[k] != m.point[k].feature;
                kept[k] = m.point[k].feature;
                cr_assert_float_eq(m.point[k].gap, -1e-5, 2e-8);
            }
            cr_assert(changes == 0 || trial <= 20, "row %zu, trial %d: %d changes", row, trial, changes);
        }
    }
    arena_free(arena);
}

/* On edge, leaning, a coin touches with one point under its lowest place, whatever part of the rim that is. */
Test(primitives, a_coin_that_rolls_has_one_point_with_one_name) {
    sim_arena *arena = arena_create();
    sim_shape coin = shape_of(SIM_CYLINDER, 0.1, 0.01, 0), floor = shape_of(SIM_HALF_SPACE, 0, 0, 0);
    uint64_t name = 0;
    for (int k = 0; k < trials_of(1000); k++) {
        double lean = 0.6, low = 0.1 * cos(lean) + 0.005 * sin(lean);
        /* rolled by some angle about its axis, then tipped over until its axis is `lean` above level */
        m3 R = m3_product(m3_axis_angle(v3_make(1, 0, 0), M_PI / 2 - lean), m3_axis_angle(v3_make(0, 0, 1), 0.01 * k));
        m3 into = m3_transpose(R);
        subject s = {coin, floor, {into, m3_times(into, v3_make(0, 0, -low + 1e-6))}, 1e-5, 1};
        arena_release(arena, 0);
        manifold m = collide(arena, &s);
        cr_assert_eq(m.count, 1);
        name = k ? name : m.point[0].feature;
        cr_assert_eq(m.point[0].feature, name);
        cr_assert_float_eq(m.point[0].gap, -1e-6, 1e-15);
        v3 x = m3_times(R, m.point[0].position);
        cr_assert_float_eq(x.x, 0, 1e-14);
    }
    arena_free(arena);
}

/* How far x is outside a capsule along z. */
static double off_capsule(const sim_shape *s, pose X, v3 x) {
    v3 p = m3_transposed_times(X.R, v3_sub(x, X.p));
    double z = fmax(fabs(p.z) - 0.5 * s->size[1], 0);
    return sqrt(p.x * p.x + p.y * p.y + z * z) - s->size[0];
}

Test(primitives, capsules_that_cross_at_a_small_angle_touch_on_both_surfaces_at_all_their_points) {
    random_source r = {12};
    sim_shape a = shape_of(SIM_CAPSULE, 0.5, 2, 0), b = shape_of(SIM_CAPSULE, 0.4, 1.5, 0);
    for (int k = 0; k < 300; k++) {
        double angle = random_uniform(&r, 0, 0.008), apart = k % 3 ? random_uniform(&r, 1e-3, 0.9) : 0.9;
        pose X_b = {random_rotation(&r), v3_scale(3, random_unit(&r))}, X_a = X_b;
        X_a.R = m3_product(X_b.R, (m3){{1, 0, 0}, {0, cos(angle), sin(angle)}, {0, -sin(angle), cos(angle)}});
        X_a.p = v3_axpy(X_b.p, apart, X_b.R.x);
        sim_contact_point c[4];
        int n = sim_collide_shapes(&a, &X_a, &b, &X_b, 0.01, c, 4);
        cr_assert(n >= 1 && n <= 3);
        double least = HUGE_VAL;
        for (int i = 0; i < n; i++) {
            least = fmin(least, c[i].gap);
            cr_assert_float_eq(off_capsule(&a, X_a, v3_axpy(c[i].position, 0.5 * c[i].gap, c[i].normal)), 0, 1e-9);
            cr_assert_float_eq(off_capsule(&b, X_b, v3_axpy(c[i].position, -0.5 * c[i].gap, c[i].normal)), 0, 1e-9);
        }
        cr_assert_float_eq(least, apart - 0.9, 1e-13);
    }
}
