/* Screw threads: the distance against brute force on the helical surface. */
#include "support/fields.h"
#include "support/share.h"

#include "geometry/field/field.h"

#include <criterion/criterion.h>

static const double PI = 3.14159265358979323846;

/* The surface of a thread without ends, as the definition says it: in the half-plane at angle phi the profile, lifted
 * by pitch phi / 2 pi. */
typedef struct screw {
    double R, a, c, f, pitch, k;
} screw;

static screw screw_of(const sim_thread *t) {
    double slope = tan(t->flank_angle / 2), c = t->pitch / 16;
    return (screw){t->diameter / 2, t->diameter / 2 - t->depth, c, c + slope * t->depth, t->pitch, t->pitch / (2 * PI)};
}

static double to_segment(v3 p, v3 a, v3 b) {
    v3 ab = v3_sub(b, a), ap = v3_sub(p, a);
    double squared = v3_dot(ab, ab), t = squared > 0 ? fmin(fmax(v3_dot(ap, ab) / squared, 0), 1) : 0;
    return v3_norm(v3_axpy(ap, -t, ab));
}

/* From p to piece `which` (crest, root, rising and falling flank) of the profile at angle phi: a straight line in
 * space. */
static double to_line(const screw *s, int which, double phi, v3 p) {
    const double from[4][2] = {{s->R, -s->c}, {s->a, s->f}, {s->R, s->c}, {s->a, -s->f}};
    const double to[4][2] = {{s->R, s->c}, {s->a, s->pitch - s->f}, {s->a, s->f}, {s->R, -s->c}};
    const double *a = from[which], *b = to[which], x = cos(phi), y = sin(phi), lift = s->k * phi;
    return to_segment(p, v3_make(a[0] * x, a[0] * y, a[1] + lift), v3_make(b[0] * x, b[0] * y, b[1] + lift));
}

/* Least over phi: three turns sampled finely, then the best sample's neighbourhood narrowed. */
static double brute_force(const screw *s, v3 p) {
    const int samples = 360;
    double least = HUGE_VAL, middle = p.z / s->k, step = 6 * PI / samples;
    for (int which = 0; which < 4; which++) {
        double best = HUGE_VAL, at = 0;
        for (int k = 0; k <= samples; k++) {
            double phi = middle - 3 * PI + k * step, d = to_line(s, which, phi, p);
            if (d < best) {
                best = d;
                at = phi;
            }
        }
        double low = at - step, high = at + step;
        for (int k = 0; k < 90; k++) {
            double u = low + 0.382 * (high - low), v = high - 0.382 * (high - low);
            if (to_line(s, which, u, p) < to_line(s, which, v, p)) {
                high = v;
            } else {
                low = u;
            }
        }
        least = fmin(least, to_line(s, which, 0.5 * (low + high), p));
    }
    return least;
}

static int is_inside(const screw *s, v3 p) {
    double z = p.z - s->k * atan2(p.y, p.x);
    z = fabs(z - s->pitch * rint(z / s->pitch));
    double r = hypot(p.x, p.y);
    return z <= s->c ? r < s->R : z >= s->f ? r < s->a : r < s->R + (s->a - s->R) * (z - s->c) / (s->f - s->c);
}

typedef struct comparison {
    double worst; /* difference, in outer radii */
    int wrong_sign;
} comparison;

/* Points at radii [low, high] in outer radii, over two pitches. */
static comparison compare(const sim_thread *def, double low, double high, int points) {
    field_thread t = thread_freeze(def);
    screw s = screw_of(def);
    random_source r = {3};
    comparison c = {0, 0};
    for (int k = 0; k < points; k++) {
        double radius = s.R * random_uniform(&r, low, high), angle = random_uniform(&r, -PI, PI);
        v3 p = {radius * cos(angle), radius * sin(angle), random_uniform(&r, -s.pitch, s.pitch)}, g;
        v3 mirrored = {p.x, def->left ? -p.y : p.y, p.z};
        double lead;
        double d = thread_distance(&t, p, &g, &lead), exact = brute_force(&s, mirrored);
        c.worst = fmax(c.worst, fabs(fabs(d) - exact) / s.R);
        int inside = is_inside(&s, mirrored) != def->internal;
        c.wrong_sign += exact > 1e-9 * s.R && (d < 0) != inside;
    }
    return c;
}

static sim_thread infinite_bolt(void) {
    sim_thread t = field_bolt(1).thread;
    return t;
}

static void expect_exact(const char *what, const sim_thread *def) {
    sim_error error = {0};
    cr_assert_eq(thread_check(def, "field", &error), SIM_OK, "%s: %s", what, error.text);
    comparison near = compare(def, 1 - 1.5 * def->depth / (def->diameter / 2), 1 + 0.03, 500);
    comparison all = compare(def, 0, 2, 500);
    cr_log_warn("%-28s error near the surface %.1e, everywhere %.1e of the radius", what, near.worst, all.worst);
    cr_assert(near.worst < 1e-12 && all.worst < 1e-12, "%s: %g, %g", what, near.worst, all.worst);
    cr_assert(near.wrong_sign == 0 && all.wrong_sign == 0, "%s: %d, %d signs wrong", what, near.wrong_sign,
              all.wrong_sign);
}

Test(thread, distance_of_m48_is_that_of_brute_force_on_the_helicoid) {
    sim_thread t = infinite_bolt();
    expect_exact("M48 rod", &t);
    t.left = 1;
    expect_exact("M48 rod, left-handed", &t);
    t.left = 0;
    t.internal = 1;
    t.depth = 0.5413 * t.pitch;
    expect_exact("M48 bore", &t);
}

Test(thread, distance_is_exact_for_coarse_square_and_sharp_threads) {
    sim_thread t = infinite_bolt();
    t.flank_angle = 0;
    expect_exact("square thread", &t);
    t = infinite_bolt();
    t.depth = 7.0 / 16 * t.pitch / tan(PI / 6) * (1 - 1e-12);
    expect_exact("sharp root", &t);
    t = infinite_bolt();
    t.pitch = 25e-3;
    t.depth = 8e-3;
    expect_exact("pitch of half a diameter", &t);
    t = infinite_bolt();
    t.pitch = 50e-3;
    t.depth = 6e-3;
    t.flank_angle = 1.8;
    expect_exact("pitch of a diameter, flat", &t);
}

/* The normal of the flank z = c + (R - rho) t + k phi, by the cross product of its two directions. */
Test(thread, gradient_on_the_flank_is_its_normal) {
    sim_thread def = infinite_bolt();
    field_thread t = thread_freeze(&def);
    screw s = screw_of(&def);
    random_source r = {4};
    double worst = 0, farthest = 0;
    for (int k = 0; k < trials_of(2000); k++) {
        double rho = random_uniform(&r, s.a * 1.001, s.R * 0.999), phi = random_uniform(&r, -PI, PI);
        double slope = (s.f - s.c) / (s.R - s.a), x = cos(phi), y = sin(phi);
        v3 p = {rho * x, rho * y, s.c + (s.R - rho) * slope + s.k * phi};
        v3 n = v3_cross(v3_make(x, y, -slope), v3_make(-rho * y, rho * x, s.k)), g;
        n = v3_scale(1 / v3_norm(n), n);
        double lead;
        farthest = fmax(farthest, fabs(thread_distance(&t, p, &g, &lead)));
        worst = fmax(worst, v3_norm(v3_cross(n, g)));
        cr_assert(v3_dot(n, g) > 0);
    }
    cr_log_warn("flank: off by %.1e m, normal by %.1e degrees", farthest, worst * 180 / PI);
    cr_assert(farthest < 1e-16 + 1e-14 * s.R && worst < 1e-9, "%g, %g", farthest, worst);
}

Test(thread, gradient_is_the_difference_quotient_and_of_unit_length) {
    sim_field_def bolt = field_bolt(0.1);
    sim_geometry *g = field_geometry(&bolt, 2e-3);
    double kept, error = field_gradient_error(g, 5e-3, 20000, 1e-7, 1e-6, &kept);
    cr_log_warn("gradient: %.1e off, over %.1f %% of the points", error, 100 * kept);
    cr_assert(kept > 0.95 && error < 1e-6, "%g of %g", error, kept);
    random_source r = {5};
    for (int k = 0; k < trials_of(20000); k++) {
        v3 gradient;
        sim_field_distance(g->field, field_point(&r, g, 5e-3), &gradient);
        cr_assert_float_eq(v3_norm(gradient), 1, 1e-12);
    }
    sim_geometry_free(g);
}

Test(thread, distance_is_nowhere_steeper_than_one) {
    sim_field_def bolt = field_bolt(0.1), part[4], nut = field_nut(1e-4, 75e-3, 38e-3, part);
    sim_geometry *both[2] = {field_geometry(&bolt, 2e-3), field_geometry(&nut, 2e-3)};
    for (int k = 0; k < 2; k++) {
        field_slopes s = field_steepest(both[k], 20e-3, 100000);
        cr_assert(s.between <= 1 + 1e-12 && s.gradient <= 1 + 1e-12, "1 + %g, 1 + %g", s.between - 1, s.gradient - 1);
        sim_geometry_free(both[k]);
    }
}

/* Along the screw motion nothing changes, not even past the angle where atan2 jumps. */
Test(thread, distance_and_gradient_turn_with_the_screw_motion) {
    sim_thread def = infinite_bolt();
    for (int left = 0; left < 2; left++) {
        def.left = left;
        field_thread t = thread_freeze(&def);
        random_source r = {6};
        for (int k = 0; k < trials_of(5000); k++) {
            v3 p = {random_uniform(&r, -0.03, 0.03), random_uniform(&r, -0.03, 0.03), random_uniform(&r, -0.01, 0.01)};
            double angle = random_uniform(&r, -4, 4), lead = (left ? -1 : 1) * def.pitch / (2 * PI);
            m3 turn = m3_axis_angle(v3_make(0, 0, 1), angle);
            v3 q = v3_add(m3_times(turn, p), v3_make(0, 0, lead * angle)), g, h;
            double ahead;
            double d = thread_distance(&t, p, &g, &ahead), e = thread_distance(&t, q, &h, &ahead);
            cr_assert_float_eq(d, e, 1e-15);
            if (hypot(p.x, p.y) > 0.018 && fabs(d) > 1e-6) { /* away from where two points are as near */
                double off = v3_norm(v3_sub(m3_times(turn, g), h));
                cr_assert(off < 1e-7 || off > 1e-2, "%g", off);
            }
        }
    }
}

Test(thread, flanks_of_a_bolt_stand_off_a_nut_by_its_clearance) {
    sim_field_def bore = field_bore(1e-4), bolt = field_bolt(0.1);
    field_thread in = thread_freeze(&bore.thread);
    screw s = screw_of(&bolt.thread);
    random_source r = {7};
    for (int k = 0; k < trials_of(1000); k++) {
        double part = random_uniform(&r, 0.05, 0.75), phi = random_uniform(&r, -20, 20);
        double rho = s.R + part * (s.a - s.R), z = s.c + part * (s.f - s.c) + s.k * phi;
        v3 p = {rho * cos(phi), rho * sin(phi), z}, g;
        double lead;
        double d = thread_distance(&in, p, &g, &lead);
        cr_assert_float_eq(d, 1e-4, 1e-15, "%g", d);
    }
}

/* Every cross-section has the same area: the mean over s of pi rho(s)^2. */
Test(thread, volume_of_a_bolt_is_that_of_its_profile) {
    sim_field_def bolt = field_bolt(0.1);
    screw s = screw_of(&bolt.thread);
    double flank = (s.R * s.R + s.R * s.a + s.a * s.a) / 3 * (s.f - s.c);
    double area = 2 * PI / s.pitch * (s.R * s.R * s.c + flank + s.a * s.a * (s.pitch / 2 - s.f));
    double error[2] = {0};
    for (int k = 0; k < part_of(2); k++) {
        sim_geometry *g = field_geometry(&bolt, k ? 0.6e-3 : 1.2e-3);
        error[k] = g->solid.mass / (area * 0.1) - 1;
        cr_assert(g->mesh->closed);
        sim_geometry_free(g);
    }
    cr_log_warn("volume of a bolt: off by %.1e, then %.1e", error[0], error[1]);
    cr_assert(fabs(error[0]) < 1e-3 && fabs(error[1]) < 2e-4, "%g, %g", error[0], error[1]);
}

/* Triangles wider than the ridge: the mass does not come from them.  Every cross-section is a hexagon of side a around the
 * thread's, with the polar moment 5 sqrt(3) a^4 / 8 less the mean over s of pi rho(s)^4 / 2. */
Test(thread, mass_of_a_nut_is_that_of_its_profile_however_coarse_its_triangles) {
    const double WIDTH = 75e-3, HEIGHT = 38e-3, a = WIDTH / sqrt(3);
    sim_field_def part[4], nut = field_nut(0, WIDTH, HEIGHT, part);
    screw s = screw_of(&part[3].thread);
    double flank = (s.R * s.R + s.R * s.a + s.a * s.a) / 3 * (s.f - s.c);
    double area = 2 * PI / s.pitch * (s.R * s.R * s.c + flank + s.a * s.a * (s.pitch / 2 - s.f));
    double flank4 = (pow(s.R, 5) - pow(s.a, 5)) / (5 * (s.R - s.a)) * (s.f - s.c);
    double polar = PI / s.pitch * (pow(s.R, 4) * s.c + flank4 + pow(s.a, 4) * (s.pitch / 2 - s.f));
    double mass = HEIGHT * (1.5 * sqrt(3) * a * a - area), zz = HEIGHT * (5 * sqrt(3) / 8 * pow(a, 4) - polar);
    sim_geometry *g = field_geometry(&nut, 4e-3);
    double off[2] = {g->solid.mass / mass - 1, g->solid.moment.zz / zz - 1};
    cr_log_warn("mass of a nut: off by %.1e, moment by %.1e", off[0], off[1]);
    cr_expect(fabs(off[0]) < 1e-3 && fabs(off[1]) < 1e-3, "%g, %g", off[0], off[1]);
    cr_expect(fabs(g->solid.com.y) < 1e-5 && fabs(g->solid.com.z) < 1e-5, "half a turn about x is a symmetry");
    sim_geometry_free(g);
}

static void expect_refused(sim_thread t, const char *word) {
    sim_error error = {0};
    cr_assert_eq(thread_check(&t, "field", &error), SIM_BAD_INPUT, "%s", word);
    cr_assert(strstr(error.text, word), "%s: %s", word, error.text);
}

/* The padding behind a flag of the thread took bytes of the stack into the fingerprint. */
Test(thread, fingerprint_is_that_of_its_numbers_alone) {
    sim_thread t = infinite_bolt();
    field_thread thread[2];
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        memset(&thread[k], 0x5a << k, sizeof thread[k]);
        field_thread fresh = thread_freeze(&t);
        memcpy(&thread[k], &fresh, offsetof(field_thread, thick)); /* numbers */
        thread[k].thick = fresh.thick;
        field_node node = {.type = SIM_FIELD_THREAD, .end = 1, .X = pose_identity(), .thread = &thread[k]};
        sim_field field = {.nnode = 1, .node = &node};
        hash[k] = field_hash(&field);
    }
    cr_assert_eq(hash[0], hash[1]);
}

Test(thread, what_no_thread_can_be_is_refused) {
    sim_thread good = infinite_bolt(), t = good;
    sim_error error = {0};
    cr_assert_eq(thread_check(&good, "field", &error), SIM_OK);
    t.diameter = -1, expect_refused(t, "diameter"), t = good;
    t.pitch = NAN, expect_refused(t, "pitch"), t = good;
    t.depth = 0.024, expect_refused(t, "depth"), t = good;
    t.depth = 0, expect_refused(t, "depth"), t = good;
    t.depth = 4e-3, expect_refused(t, "wide at its root"), t = good;
    t.length = 0, expect_refused(t, "length"), t = good;
    t.flank_angle = 3.2, expect_refused(t, "flank angle"), t = good;
    t.clearance = INFINITY, expect_refused(t, "clearance"), t = good;
    t.pitch = 0.1, expect_refused(t, "pi times"), t = good;
}
