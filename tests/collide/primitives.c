/* Closed forms are proven right placement by placement: see solids.h. */
#include "collide/pair.h"
#include "solids.h"

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
    for (int k = 0; k < tries; k++) {
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
    if (c->gap > 0) {
        v3 on_a = v3_axpy(c->position, 0.5 * c->gap, c->normal), on_b = v3_axpy(c->position, -0.5 * c->gap, c->normal);
        double out_of_a = solid_outside(&s->a, on_a), out_of_b = solid_outside(&s->b, to_frame(&s->X, on_b));
        double place = s->a.type == SIM_BOX ? 2e-6 * fmin(solid_radius(&s->a), solid_radius(&s->b)) : 0;
        if (s->a.type == SIM_BOX && m->count == 2) { /* between two edges that are nearly parallel */
            place = 0.005 * fmin(s->a.size[0], fmin(s->a.size[1], s->a.size[2]));
        }
        cr_assert(out_of_a < tolerance + place && out_of_b < tolerance + place, "%g %g, gap %g: %s", out_of_a, out_of_b,
                  c->gap, name_of(s));
    }
    if (s->b.type != SIM_HALF_SPACE) {
        double best = best_parting(s, r, c->normal, tries);
        cr_assert(best <= c->gap + tolerance, "%g is better than %g: %s", best, c->gap, name_of(s));
    }
}

static void prove_kind(sim_shape_type first, sim_shape_type second) {
    sim_arena *arena = sim_arena_create();
    random_source r = {7 + 10 * first + second};
    for (int trial = 0; trial < 100000; trial++) {
        sim_arena_release(arena, 0);
        subject s = random_subject(&r, (sim_shape_type[]){first, second});
        manifold m = collide(arena, &s);
        prove(&s, &m, &r, trial % 20 ? 8 : 200);
    }
    sim_arena_free(arena);
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
