/* Tendons in motion: hoists, ropes, springs, friction, constraints between them.  Long: all hang in the same yards. */
#include "math/v3.h"
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const double g = 9.81;

static const v3 none = {0, 0, 0};

static int add_on_slider(yard *y, const char *name, double mass, v3 at, v3 axis) {
    sim_body_def def = sim_body_default();
    def.name = name;
    def.joint = SIM_SLIDER;
    def.axis = axis;
    def.placement.p = at;
    def.inertia = box_inertia(mass, 0.1, 0.1, 0.1);
    return sim_builder_add_body(y->builder, &def);
}

static int add_free(yard *y, const char *name, double mass, v3 at, v3 v) {
    sim_body_def def = sim_body_default();
    def.name = name;
    def.inertia = box_inertia(mass, 0.1, 0.1, 0.1);
    def.q[0] = at.x;
    def.q[1] = at.y;
    def.q[2] = at.z;
    def.v[0] = v.x;
    def.v[1] = v.y;
    def.v[2] = v.z;
    return sim_builder_add_body(y->builder, &def);
}

static sim_path_point site(yard *y, const char *name, int body, v3 at) {
    sim_site s = {name, body, {m3_identity(), at}};
    return (sim_path_point){.kind = SIM_PATH_SITE, .site = sim_builder_add_site(y->builder, &s)};
}

static sim_path_point pulley(double divisor) { return (sim_path_point){.kind = SIM_PATH_PULLEY, .divisor = divisor}; }

/* A tendon through these points. */
static sim_tendon string_of(const char *name, const sim_path_point *path, int count) {
    sim_tendon t = sim_tendon_default();
    t.name = name;
    t.path = path;
    t.npoint = count;
    return t;
}

static sim_tendon sum_of(const char *name, const sim_tendon_joint *joint, int count) {
    sim_tendon t = sim_tendon_default();
    t.name = name;
    t.joint = joint;
    t.njoint = count;
    return t;
}

static double coordinate(const yard *y, int k) { return sim_world_state(y->world)->q[k]; }
static double length_of(const yard *y, int tendon) {
    return sim_tendon_length(sim_world_derived(y->world), tendon, sim_world_state(y->world)->q);
}

/* Two masses on a string over a fixed cylinder, held or as a rope that may go slack. */
static yard atwood(const char *solver, double m1, double m2, bool rope) {
    yard y = yard_begin_without_contacts();
    sim_shape wheel = sim_shape_default();
    wheel.type = SIM_CYLINDER;
    wheel.size[0] = 0.2;
    wheel.size[1] = 0.1;
    wheel.pose.R = (m3){{1, 0, 0}, {0, 0, 1}, {0, -1, 0}};
    int shape = sim_builder_add_shape(y.builder, &wheel);
    int one = add_on_slider(&y, "one", m1, v3_make(-0.2, 0, -2), v3_make(0, 0, 1));
    int two = add_on_slider(&y, "two", m2, v3_make(0.2, 0, -3), v3_make(0, 0, 1));
    sim_path_point path[3] = {
        site(&y, "a", one, none), {.kind = SIM_PATH_AROUND, .shape = shape, .site = 0}, site(&y, "b", two, none)};
    path[1].site = site(&y, "top", 0, v3_make(0, 0, 0.5)).site;
    sim_tendon t = string_of("string", path, 3);
    t.limit.high = rope ? 5 + 0.2 * M_PI : INFINITY;
    cr_assert_eq(sim_builder_add_tendon(y.builder, &t), 0);
    if (!rope) {
        yard_couple_tendons(&y, 0, -1, 1);
    }
    yard_open(&y, solver, SIM_MIDPOINT, 1e-3);
    return y;
}

Test(tendons, an_atwood_machine_accelerates_by_the_difference_of_its_masses) {
    static const char *const solvers[] = {"pgs", "sap", "auto", "nsn"};
    const double m1 = 1, m2 = 3, a = (m2 - m1) / (m1 + m2) * g;
    for (int k = 0; k < 8; k++) {
        yard y = atwood(solvers[k / 2], m1, m2, k % 2);
        for (int n = 0; n < 300; n++) {
            yard_step(&y);
        }
        double t = sim_world_state(y.world)->time, due = 0.5 * a * t * t;
        cr_expect_float_eq(coordinate(&y, 0), due, 2e-5, "%s: %.9g, not %.9g", solvers[k / 2], coordinate(&y, 0), due);
        cr_expect_float_eq(coordinate(&y, 1), -due, 2e-5);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

/* On a wheel that does not slip: the two halves of the string are tendons of their own. */
Test(tendons, the_wheel_of_an_atwood_machine_takes_part_with_its_inertia) {
    const double m1 = 1, m2 = 3, r = 0.2, I = 0.05, a = (m2 - m1) / (m1 + m2 + I / (r * r)) * g;
    yard y = yard_begin_without_contacts();
    int one = add_on_slider(&y, "one", m1, none, v3_make(0, 0, 1));
    int two = add_on_slider(&y, "two", m2, none, v3_make(0, 0, 1));
    sim_body_def def = sim_body_default();
    def.name = "wheel";
    def.joint = SIM_HINGE;
    def.inertia.mass = 1;
    def.inertia.moment = (sym3){I, I, I, 0, 0, 0};
    int wheel = sim_builder_add_body(y.builder, &def);
    const sim_tendon_joint left[] = {{one, 0, 1}, {wheel, 0, -r}}, right[] = {{two, 0, 1}, {wheel, 0, r}};
    sim_tendon t[2] = {sum_of("left", left, 2), sum_of("right", right, 2)};
    for (int k = 0; k < 2; k++) {
        yard_couple_tendons(&y, sim_builder_add_tendon(y.builder, &t[k]), -1, 1);
    }
    yard_open(&y, "pgs", SIM_MIDPOINT, 1e-3);
    for (int n = 0; n < 500; n++) {
        yard_step(&y);
    }
    double due = 0.5 * a * 0.25;
    cr_expect_float_eq(coordinate(&y, 0), due, 1e-9, "%.12g, not %.12g", coordinate(&y, 0), due);
    cr_expect_float_eq(coordinate(&y, 2), due / r, 1e-8);
    yard_end(&y);
}

/* A block with so many falls of rope, or a pulley of that divisor. */
static yard tackle(int falls, bool divisor, double load, double counter) {
    yard y = yard_begin_without_contacts();
    int block = add_on_slider(&y, "block", load, v3_make(0, 0, -2), v3_make(0, 0, 1));
    int weight = add_on_slider(&y, "weight", counter, v3_make(1, 0, -1), v3_make(0, 0, 1));
    sim_path_point at = site(&y, "at", block, none), over = site(&y, "over", 0, none),
                   next = site(&y, "next", 0, v3_make(1, 0, 0)), end = site(&y, "end", weight, none), path[8];
    int count = 0;
    if (divisor) {
        path[count++] = over;
        path[count++] = at;
        path[count++] = pulley(falls);
        path[count++] = next;
    } else {
        /* up and down between block and ceiling */
        for (int k = falls; k >= 0; k--) {
            path[count++] = k % 2 ? at : over;
        }
        path[count++] = next;
    }
    path[count++] = end;
    sim_tendon t = string_of("rope", path, count);
    cr_assert_eq(sim_builder_add_tendon(y.builder, &t), 0);
    yard_couple_tendons(&y, 0, -1, 1);
    yard_open(&y, "pgs", SIM_MIDPOINT, 1e-3);
    return y;
}

Test(tendons, a_block_and_tackle_has_the_advantage_of_its_falls) {
    for (int falls = 2; falls <= 3; falls++) {
        for (int kind = 0; kind < 2; kind++) {
            /* at rest with a counterweight of that part of the load */
            const double load = 6;
            yard y = tackle(falls, kind, load, load / falls);
            for (int n = 0; n < 300; n++) {
                yard_step(&y);
            }
            cr_expect_float_eq(coordinate(&y, 0), 0, 1e-9, "%d falls: %g", falls, coordinate(&y, 0));
            yard_end(&y);
            /* without balance: the weight moves `falls` times as far */
            const double m = 1, a = g * (falls * m - load) / (load + falls * falls * m);
            y = tackle(falls, kind, load, m);
            for (int n = 0; n < 300; n++) {
                yard_step(&y);
            }
            double due = 0.5 * a * 0.09;
            cr_expect_float_eq(coordinate(&y, 0), due, 1e-6, "%d falls: %.9g, not %.9g", falls, coordinate(&y, 0), due);
            yard_end(&y);
        }
    }
}

/* ---- ropes ---- */

static yard hung(const char *solver, sim_integrator scheme, v3 at, v3 v, double step) {
    yard y = yard_begin_without_contacts();
    int bob = add_free(&y, "bob", 2, at, v);
    sim_path_point path[] = {site(&y, "hook", 0, none), site(&y, "eye", bob, none)};
    sim_tendon t = string_of("rope", path, 2);
    t.limit.low = 0;
    t.limit.high = 1;
    cr_assert_eq(sim_builder_add_tendon(y.builder, &t), 0);
    yard_open(&y, solver, scheme, step);
    return y;
}

Test(tendons, a_rope_is_slack_below_its_length_and_taut_there) {
    static const char *const solvers[] = {"pgs", "sap", "auto", "subadmm"};
    for (int k = 0; k < 4; k++) {
        yard y = hung(solvers[k], SIM_MIDPOINT, v3_make(0, 0, -0.5), none, 1e-3);
        double due = sqrt(2 * 0.5 / g), deepest = 0, settled = 0;
        for (int n = 1; n <= 5000; n++) {
            yard_step(&y);
            double t = n * 1e-3, z = place_of(&y, "bob").z;
            if (t < due - 2e-3) {
                cr_assert_float_eq(z, -0.5 - 0.5 * g * t * t, 1e-12, "%s: falls at %g s", solvers[k], t);
                cr_assert_eq(sim_world_state(y.world)->tendon_impulse[1], 0);
            } else if (t > due + 0.5) {
                deepest = fmax(deepest, -1 - z);
                settled = n == 1000 ? z : settled;
                cr_assert_float_eq(sim_world_state(y.world)->tendon_impulse[1], 2 * g * 1e-3, 1e-6);
            }
        }
        cr_expect_lt(deepest, 1e-5, "%s: hangs %g m below", solvers[k], deepest);
        cr_expect_float_eq(place_of(&y, "bob").z, settled, 1e-10, "%s: creeps %g m", solvers[k],
                           place_of(&y, "bob").z - settled);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

Test(tendons, a_weight_on_a_taut_rope_is_a_pendulum) {
    /* period of a large swing by the arithmetic-geometric mean */
    const double angle = 1, step = 1e-3;
    double a = 1, b = cos(angle / 2);
    for (int k = 0; k < 6; k++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    const double period = 2 * M_PI * sqrt(1 / g) / a;
    yard y = hung("pgs", SIM_MIDPOINT, v3_make(sin(angle), 0, -cos(angle)), none, step);
    double start = energy_of(&y), lost = 0, longest = 0, crossed = 0, x = 1;
    int crossings = 0;
    while (crossings < 9) {
        yard_step(&y);
        double before = x, t = sim_world_state(y.world)->time;
        x = place_of(&y, "bob").x;
        lost = fmax(lost, fabs(energy_of(&y) - start));
        longest = fmax(longest, fabs(length_of(&y, 0) - 1));
        if (before * x < 0) {
            double at = t - step * x / (x - before);
            crossed = crossings++ ? crossed : at;
            if (crossings == 9) {
                cr_expect_float_eq((at - crossed) / 4, period, 2e-5, "%.8g s, not %.8g s", (at - crossed) / 4, period);
            }
        }
    }
    cr_expect_lt(longest, 2e-6, "off by %g m", longest);
    cr_expect_lt(lost / start, 1e-5, "%g of its energy", lost / start);
    yard_end(&y);
}

/* ---- springs, dampers, inertia ---- */

/* A mass on a tendon with spring, along z, whose length is twice its way. */
static double swing_frequency(double stiffness, double damping, double armature, double *decay) {
    yard y = yard_begin_without_contacts();
    sim_builder_gravity(y.builder, none);
    int mass = add_on_slider(&y, "mass", 2, none, v3_make(0, 0, 1));
    sim_path_point path[] = {site(&y, "hook", 0, v3_make(0, 0, 3)), site(&y, "eye", mass, none),
                             site(&y, "other", 0, v3_make(0, 0, 2))};
    sim_tendon t = string_of("string", path, 3);
    t.stiffness = stiffness;
    t.damping = damping;
    t.armature = armature;
    cr_assert_eq(sim_builder_add_tendon(y.builder, &t), 0);
    yard_open(&y, "pgs", SIM_MIDPOINT, 1e-4);
    sim_state state = *sim_world_state(y.world);
    double q[1] = {0.1}, before = 0.1, first = 0, last = 0;
    int crossings = 0;
    state.q = q;
    cr_assert_eq(sim_world_set_state(y.world, &state, NULL), SIM_OK);
    while (crossings < 9) {
        yard_step(&y);
        double z = coordinate(&y, 0);
        if (before * z < 0) {
            last = sim_world_state(y.world)->time - 1e-4 * z / (z - before);
            first = crossings++ ? first : last;
        }
        before = z;
    }
    *decay = 0;
    double omega = 8 * M_PI / (last - first);
    if (damping > 0) { /* speed at the crossing: amplitude * omega exp(-decay t) */
        *decay = -log(fabs(sim_world_state(y.world)->v[0]) / (0.1 * omega)) / last;
    }
    yard_end(&y);
    return omega;
}

Test(tendons, springs_swing_with_the_frequency_of_their_stiffness_and_inertia) {
    double decay;
    /* a length of twice the way has four times the stiffness, damping and inertia */
    if (!is_part()) {
        cr_expect_float_eq(swing_frequency(50, 0, 0, &decay), sqrt(4 * 50.0 / 2), 1e-5);
        cr_expect_float_eq(swing_frequency(50, 0, 0.3, &decay), sqrt(4 * 50.0 / (2 + 4 * 0.3)), 1e-5);
    }
    double rate = 0.5 * 4 * 0.5 / 2, omega = sqrt(100 - rate * rate);
    cr_expect_float_eq(swing_frequency(50, 0.5, 0, &decay), omega, 1e-4);
    cr_expect_float_eq(decay, rate, 0.01);
}

/* A bob on a string around a fixed ball or post, swinging in space. */
static yard whirl(sim_shape_type type, sim_integrator scheme, double armature, double step) {
    yard y = yard_begin_without_contacts();
    sim_shape post = sim_shape_default();
    post.type = type;
    post.size[0] = 0.1;
    post.size[1] = 1;
    post.pose.R = (m3){{1, 0, 0}, {0, 0, 1}, {0, -1, 0}};
    int shape = sim_builder_add_shape(y.builder, &post);
    int bob = add_free(&y, "bob", 1, v3_make(0.15, 0, -0.9), v3_make(-1.5, 0.4, 0));
    sim_path_point path[] = {site(&y, "hook", 0, v3_make(0.1, 0, 0.4)),
                             {.kind = SIM_PATH_AROUND, .shape = shape, .site = -1},
                             site(&y, "eye", bob, none)};
    if (type == SIM_CYLINDER) { /* else it would jump to the other side where that becomes shorter */
        path[1].site = site(&y, "side", 0, v3_make(0.5, 0, 0)).site;
    }
    sim_tendon t = string_of("string", path, 3);
    t.stiffness = 400;
    t.armature = armature;
    t.rest[0] = t.rest[1] = 1.2;
    cr_assert_eq(sim_builder_add_tendon(y.builder, &t), 0);
    yard_open(&y, "pgs", scheme, step);
    return y;
}

Test(tendons, springs_keep_energy_under_the_midpoint_rule_to_second_order) {
    for (int k = 0; k < 4; k++) {
        double lost[2] = {0, 0};
        int wrapped = 0, runs = 0;
        for (int fine = 0; fine < 2; fine++) {
            double step = fine ? 2.5e-4 : 2e-3;
            yard y = whirl(k % 2 ? SIM_SPHERE : SIM_CYLINDER, SIM_MIDPOINT, k / 2 ? 0.2 : 0, step);
            double start = energy_of(&y);
            for (int n = 0; n < (int)(2 / step + 0.5); n++) {
                yard_step(&y);
                lost[fine] = fmax(lost[fine], fabs(energy_of(&y) - start));
                wrapped += sim_tendon_lines(sim_world_derived(y.world), 0, NULL, 0) > 1;
                runs++;
            }
            yard_end(&y);
        }
        cr_expect(wrapped > runs / 10 && wrapped < runs, "%d of %d", wrapped, runs);
        cr_expect_lt(lost[0], 1e-3, "%g J", lost[0]);
        /* where the string lifts off, its acceleration has a jump, and its inertia an error of first order */
        cr_expect_lt(lost[1], lost[0] / (k / 2 ? 3 : 16), "%d: %g J after %g J", k, lost[1], lost[0]);
    }
}

Test(tendons, springs_are_slack_within_their_rest_lengths) {
    yard y = yard_begin_without_contacts();
    sim_builder_gravity(y.builder, none);
    int mass = add_on_slider(&y, "mass", 1, none, v3_make(0, 0, 1));
    const sim_tendon_joint joint[] = {{mass, 0, 1}};
    sim_tendon t = sum_of("spring", joint, 1);
    t.stiffness = 100;
    t.rest[0] = -0.1;
    t.rest[1] = 0.2;
    cr_assert_eq(sim_builder_add_tendon(y.builder, &t), 0);
    yard_open(&y, "pgs", SIM_MIDPOINT, 1e-4);
    sim_world_applied(y.world)[0] = 3;
    /* 3 N push it half a second through nothing: then it turns where the spring took the work, and comes back */
    double high = 0, low = 0;
    for (int n = 0; n < 1000; n++) {
        yard_step(&y);
    }
    cr_expect_float_eq(coordinate(&y, 0), 0.5 * 3 * 0.01, 1e-12);
    sim_world_applied(y.world)[0] = 0;
    double v = sim_world_state(y.world)->v[0];
    for (int n = 0; n < 30000; n++) {
        yard_step(&y);
        high = fmax(high, coordinate(&y, 0));
        low = fmin(low, coordinate(&y, 0));
    }
    cr_expect_float_eq(high, 0.2 + v / 10, 1e-5, "%g", high);
    cr_expect_float_eq(low, -0.1 - v / 10, 1e-5, "%g", low);
    yard_end(&y);
}

/* A mass on a slider along z, on a tendon of length sign times its coordinate. */
static yard on_terms(sim_integrator scheme, double step, double sign, const sim_tendon *with, double v) {
    yard y = yard_begin_without_contacts();
    int mass = add_on_slider(&y, "mass", 2, none, v3_make(0, 0, 1));
    const sim_tendon_joint joint[] = {{mass, 0, sign}};
    sim_tendon t = *with;
    t.name = "spring";
    t.joint = joint;
    t.njoint = 1;
    cr_assert_eq(sim_builder_add_tendon(y.builder, &t), 0);
    yard_open(&y, "pgs", scheme, step);
    if (v != 0) {
        sim_state at = *sim_world_state(y.world);
        at.v = &v;
        cr_assert_eq(sim_world_set_state(y.world, &at, NULL), SIM_OK);
    }
    return y;
}

/* k x + a x^2 + b x^3 = -+ m g, on either side of the slack length. */
Test(tendons, springs_with_terms_carry_a_weight_as_their_polynomial_says) {
    static const sim_integrator schemes[] = {SIM_MIDPOINT, SIM_SYMPLECTIC_EULER, SIM_IMPLICIT_EULER, SIM_MOREAU};
    for (int k = 0; k < 8; k++) {
        sim_tendon t = sim_tendon_default();
        t.stiffness = 50;
        t.spring[0] = 30;
        t.spring[1] = 400;
        t.damping = 20;
        double sign = k % 2 ? 1 : -1;
        yard y = on_terms(schemes[k / 2], 2e-3, sign, &t, 0);
        for (int n = 0; n < 4000; n++) {
            yard_step(&y);
        }
        double x = sign * coordinate(&y, 0), force = x * (50 + x * (30 + x * 400));
        cr_expect_float_eq(force, -sign * 2 * g, 1e-6, "%d: %g N at %g m", k, force, x);
        yard_end(&y);
    }
}

/* m v' = -a |v| v: v0 / (1 + a v0 t / m);  m v' = -b v^3: v0 / sqrt(1 + 2 b v0^2 t / m), to second order. */
Test(tendons, dampers_with_terms_brake_as_their_polynomial_says) {
    for (int k = 0; k < 4; k++) {
        double v0 = k % 2 ? 3 : -3, error[2];
        sim_tendon t = sim_tendon_default();
        t.damper[k / 2] = 0.8;
        double due = k / 2 ? v0 / sqrt(1 + 2 * 0.8 * v0 * v0 * 0.5 / 2) : v0 / (1 + 0.8 * fabs(v0) * 0.5 / 2);
        for (int fine = 0; fine < 2; fine++) {
            double step = fine ? 2.5e-3 : 1e-2;
            yard y = on_terms(SIM_MIDPOINT, step, 1, &t, v0);
            sim_world_applied(y.world)[0] = 2 * g; /* holds the weight */
            for (int n = 0; n < (int)(0.5 / step + 0.5); n++) {
                yard_step(&y);
            }
            error[fine] = fabs(sim_world_state(y.world)->v[0] - due);
            yard_end(&y);
        }
        cr_expect_lt(error[0], 1e-3, "%g", error[0]);
        cr_expect_lt(error[1], error[0] / 14, "%d: %g after %g", k, error[1], error[0]);
    }
}

Test(tendons, springs_with_terms_keep_energy_under_the_midpoint_rule_to_second_order) {
    double lost[2] = {0, 0};
    for (int fine = 0; fine < 2; fine++) {
        double step = fine ? 5e-4 : 2e-3;
        sim_tendon t = sim_tendon_default();
        t.stiffness = 50;
        t.spring[0] = -20;
        t.spring[1] = 300;
        yard y = on_terms(SIM_MIDPOINT, step, 1, &t, 2);
        double start = energy_of(&y);
        for (int n = 0; n < (int)(3 / step + 0.5); n++) {
            yard_step(&y);
            lost[fine] = fmax(lost[fine], fabs(energy_of(&y) - start));
        }
        yard_end(&y);
    }
    cr_expect_lt(lost[0], 1e-2, "%g J", lost[0]);
    cr_expect_lt(lost[1], lost[0] / 14, "%g J after %g J", lost[1], lost[0]);
}

/* A spring that softens: beyond 0.125 m its force k x - a x^2 falls, and there the row has no stiffness.  Conserved, to second
 * order: m v^2 / 2 + k x^2 / 2 - a x^3 / 3.  Dampers without a linear term have no slope at rest, and fall with their load. */
Test(tendons, springs_that_soften_and_dampers_at_rest_are_rows_without_stiffness) {
    double lost[2] = {0, 0};
    for (int fine = 0; fine < 2; fine++) {
        double step = fine ? 5e-4 : 2e-3;
        sim_tendon t = sim_tendon_default();
        t.stiffness = 50;
        t.spring[0] = -200;
        yard y = on_terms(SIM_MIDPOINT, step, 1, &t, 1.8);
        sim_world_applied(y.world)[0] = 2 * g;
        for (int n = 0; n < (int)(0.3 / step + 0.5); n++) {
            yard_step(&y);
            double x = coordinate(&y, 0), v = sim_world_state(y.world)->v[0];
            lost[fine] = fmax(lost[fine], fabs(v * v + 25 * x * x - 200 * x * x * x / 3 - 1.8 * 1.8));
        }
        cr_expect_gt(coordinate(&y, 0), 0.3, "%g", coordinate(&y, 0));
        yard_end(&y);
    }
    cr_expect_lt(lost[0], 1e-3, "%g J", lost[0]);
    cr_expect_lt(lost[1], lost[0] / 14, "%g J after %g J", lost[1], lost[0]);
    for (int k = 0; k < 2; k++) {
        sim_tendon t = sim_tendon_default();
        t.damper[k] = 0.8;
        yard y = on_terms(SIM_MIDPOINT, 1e-3, 1, &t, 0);
        for (int n = 0; n < 20; n++) {
            yard_step(&y);
        }
        cr_expect_float_eq(sim_world_state(y.world)->v[0], -0.02 * g, 1e-3);
        yard_end(&y);
    }
}

/* ---- friction and constraints ---- */

Test(tendons, dry_friction_holds_up_to_its_bound) {
    static const char *const solvers[] = {"pgs", "sap", "auto"};
    for (int k = 0; k < 6; k++) {
        /* a tendon that runs twice as fast as the mass of 2 kg: its friction counts twice */
        double push = k % 2 ? 12 : 9.9, bound = 5, a = k % 2 ? (12 - 2 * bound) / 2 : 0;
        yard y = yard_begin_without_contacts();
        int mass = add_on_slider(&y, "mass", 2, none, v3_make(1, 0, 0));
        const sim_tendon_joint joint[] = {{mass, 0, -2}};
        sim_tendon t = sum_of("brake", joint, 1);
        t.friction = bound;
        cr_assert_eq(sim_builder_add_tendon(y.builder, &t), 0);
        yard_open(&y, solvers[k / 2], SIM_MIDPOINT, 1e-3);
        sim_world_applied(y.world)[0] = push;
        for (int n = 0; n < 1000; n++) {
            yard_step(&y);
        }
        cr_expect_float_eq(coordinate(&y, 0), 0.5 * a, k / 2 == 1 ? 2e-4 : 2e-6, "%s: %g", solvers[k / 2],
                           coordinate(&y, 0));
        double due = k % 2 ? bound : push / 2;
        cr_expect_float_eq(sim_world_state(y.world)->tendon_impulse[2], 1e-3 * due, 1e-5);
        yard_end(&y);
    }
}

Test(tendons, two_tendons_obey_their_polynomial) {
    for (int scheme = 0; scheme < SIM_RK4; scheme++) {
        yard y = yard_begin_without_contacts();
        int one = add_on_slider(&y, "one", 1, none, v3_make(0, 0, 1));
        int two = add_free(&y, "two", 2, v3_make(1, 0, 0), v3_make(0, 1, 0));
        sim_path_point path[] = {site(&y, "hook", 0, none), site(&y, "eye", two, none)};
        const sim_tendon_joint joint[] = {{one, 0, 1}};
        sim_tendon t[2] = {sum_of("height", joint, 1), string_of("string", path, 2)};
        sim_equality e = sim_equality_default();
        e.type = SIM_TENDON_COUPLING;
        e.tendon[0] = sim_builder_add_tendon(y.builder, &t[0]);
        e.tendon[1] = sim_builder_add_tendon(y.builder, &t[1]);
        e.ratio = -1;
        e.higher[0] = 0.5;
        e.higher[1] = -0.3;
        e.higher[2] = 0.2;
        cr_assert_eq(sim_builder_add_equality(y.builder, &e), 0);
        yard_open(&y, "pgs", (sim_integrator)scheme, 1e-3);
        double start = energy_of(&y), off = 0, lost = 0;
        for (int n = 0; n < 500; n++) {
            yard_step(&y);
            double x = length_of(&y, 1) - 1, due = -x + x * x * (0.5 - 0.3 * x + 0.2 * x * x);
            off = fmax(off, fabs(length_of(&y, 0) - due));
            lost = fmax(lost, fabs(energy_of(&y) - start));
        }
        cr_expect_lt(off, 2e-6, "%s: %g", sim_integrator_name((sim_integrator)scheme), off);
        cr_expect(scheme != SIM_MIDPOINT || lost < 1e-4, "%g J", lost);
        yard_end(&y);
    }
}

Test(tendons, joints_obey_the_polynomial_of_a_coupling) {
    yard y = yard_begin_without_contacts();
    int one = add_on_slider(&y, "one", 1, none, v3_make(0, 0, 1)),
        two = add_on_slider(&y, "two", 1, none, v3_make(1, 0, 0));
    sim_equality e = sim_equality_default();
    e.type = SIM_COUPLING;
    e.body[0] = one;
    e.body[1] = two;
    e.offset = 0.1;
    e.ratio = 0.5;
    e.higher[0] = -1;
    e.higher[2] = 0.1;
    cr_assert_eq(sim_builder_add_equality(y.builder, &e), 0);
    yard_open(&y, "pgs", SIM_MIDPOINT, 1e-3);
    sim_state state = *sim_world_state(y.world);
    double q[2] = {0.1, 0}, v[2] = {0.5, 1}, off = 0;
    state.q = q;
    state.v = v;
    cr_assert_eq(sim_world_set_state(y.world, &state, NULL), SIM_OK);
    for (int n = 0; n < 1000; n++) {
        yard_step(&y);
        double x = coordinate(&y, 1);
        off = fmax(off, fabs(coordinate(&y, 0) - (0.1 + 0.5 * x - x * x + 0.1 * x * x * x * x)));
    }
    cr_expect_lt(off, 2e-6, "%g", off);
    yard_end(&y);
}

/* ---- all solvers, threads, sleep ---- */

Test(tendons, are_rows_like_others_for_every_solver) {
    int tried = 0;
    const unsigned kinds = 1u << SIM_LIMIT | 1u << SIM_FRICTION | 1u << SIM_EQUALITY | 1u << SIM_SPRING;
    for (int k = 0; k < sim_solver_count(); k++) {
        const sim_solver_info *info = sim_solver_at(k);
        if ((info->kinds & kinds) != kinds) {
            continue;
        }
        yard y = yard_begin_without_contacts();
        int one = add_on_slider(&y, "one", 1, none, v3_make(0, 0, 1)),
            two = add_on_slider(&y, "two", 3, v3_make(1, 0, 0), v3_make(0, 0, 1));
        const sim_tendon_joint sum[] = {{one, 0, 1}, {two, 0, 1}}, alone[] = {{one, 0, 1}};
        sim_tendon t[2] = {sum_of("sum", sum, 2), sum_of("alone", alone, 1)};
        t[1].stiffness = 20;
        t[1].damping = 30;
        t[1].friction = 2;
        t[1].limit.high = 0.05;
        yard_couple_tendons(&y, sim_builder_add_tendon(y.builder, &t[0]), -1, 1);
        sim_builder_add_tendon(y.builder, &t[1]);
        y.tolerance = 1e-9;
        yard_open(&y, info->name, SIM_SYMPLECTIC_EULER, 1e-3);
        for (int n = 0; n < 500; n++) {
            yard_step(&y);
        }
        /* pulled up against its end by the heavier one */
        cr_expect_float_eq(coordinate(&y, 0), 0.05, 1e-4, "%s: %g", info->name, coordinate(&y, 0));
        cr_expect_float_eq(coordinate(&y, 1), -0.05, 1e-4, "%s: %g", info->name, coordinate(&y, 1));
        cr_expect_eq(y.unsolved, 0, "%s", info->name);
        tried++;
        yard_end(&y);
    }
    cr_expect_geq(tried, 4);
}

Test(tendons, have_the_same_bits_for_any_number_of_threads) {
    double q[2][14];
    for (int k = 0; k < 2; k++) {
        yard y = yard_begin_without_contacts();
        int one = add_free(&y, "one", 1, v3_make(0.5, 0, 0), v3_make(0, 1, 0)),
            two = add_free(&y, "two", 2, v3_make(-0.5, 0.2, 0.1), v3_make(0, 0, 1));
        sim_path_point path[] = {site(&y, "a", one, v3_make(0.05, 0, 0.05)), site(&y, "b", two, v3_make(0, 0.05, 0)),
                                 site(&y, "hook", 0, v3_make(0, 0, 1))};
        sim_tendon t[2] = {string_of("rope", path, 2), string_of("spring", path, 3)};
        t[0].limit.high = 1.05;
        t[1].stiffness = 100;
        t[1].friction = 0.5;
        sim_builder_add_tendon(y.builder, &t[0]);
        sim_builder_add_tendon(y.builder, &t[1]);
        y.options.threads = k ? 4 : 1;
        yard_open(&y, "auto", SIM_MIDPOINT, 1e-3);
        for (int n = 0; n < 300; n++) {
            yard_step(&y);
        }
        memcpy(q[k], sim_world_state(y.world)->q, sizeof q[k]);
        yard_end(&y);
    }
    cr_assert_arr_eq(q[0], q[1], sizeof q[0]);
}

static int sleeps(const yard *y, const char *body) {
    return sim_world_state(y->world)->rest[y->model->body[sim_model_find_body(y->model, body)].tree].island != 0;
}

Test(tendons, tie_the_trees_that_they_touch_so_that_these_sleep_and_wake_together) {
    for (int roped = 0; roped < 2; roped++) {
        yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
        yard_ground(&y);
        int one = yard_add(&y, "one", SIM_BOX, 0.2, 0.2, 0.2, 1, v3_make(0, 0, 0.1), none);
        int two = yard_add(&y, "two", SIM_BOX, 0.2, 0.2, 0.2, 1, v3_make(1, 0, 0.1), none);
        sim_path_point path[] = {site(&y, "a", one, none), site(&y, "b", two, none)};
        sim_tendon t = string_of("rope", path, 2);
        t.limit.high = roped ? 1 : INFINITY;
        sim_builder_add_tendon(y.builder, &t);
        y.options.sleep = 1;
        yard_open(&y, "sap", SIM_MIDPOINT, 1e-3);
        for (int n = 0; n < 3000; n++) {
            yard_step(&y);
        }
        cr_expect(sleeps(&y, "one") && sleeps(&y, "two"));
        /* one is pulled away, and draws the other along */
        sim_world_applied(y.world)[0] = -20;
        yard_step(&y);
        cr_expect(!sleeps(&y, "one") && sleeps(&y, "two") == !roped);
        for (int n = 0; n < 500; n++) {
            yard_step(&y);
        }
        double moved = place_of(&y, "two").x - 1, due = -0.5 * (20 - 2 * 0.5 * g) / 2 * 0.501 * 0.501;
        cr_expect_float_eq(moved, roped ? due : 0, 0.02 * fabs(due), "%g, not %g", moved, due);
        yard_end(&y);
    }
}
