/* Constraints between bodies: linkages against their closed-form kinematics, and what must be the same told
 * otherwise. */
#include "math/spatial.h"
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const v3 down = {0, 0, -9.81};

/* ---- planar linkages in the plane of x and z: angles turn x towards z ---- */

/* A bar along its x from a hinge, of unit mass a metre. */
static sim_body_def bar(const char *name, int parent, v3 at, double length, double angle, double rate) {
    sim_body_def def = sim_body_default();
    def.name = name;
    def.parent = parent;
    def.joint = SIM_HINGE;
    def.axis = v3_make(0, -1, 0);
    def.placement.p = at;
    def.inertia = box_inertia(length, length, 0.02, 0.02);
    def.inertia.com = v3_make(length / 2, 0, 0);
    def.q[0] = angle;
    def.v[0] = rate;
    return def;
}

static const double crank = 0.3, coupler = 0.8, rocker = 0.6, ground = 0.9;

typedef struct four_bar {
    double coupler, rocker; /* angles of both against x */
} four_bar;

/* The tip of the rocker lies on two circles: about the tip of the crank, about the rocker's hinge. */
static four_bar closed_form(double angle) {
    double bx = crank * cos(angle), bz = crank * sin(angle), dx = ground - bx, dz = -bz, s = hypot(dx, dz);
    double along = (s * s + coupler * coupler - rocker * rocker) / (2 * s);
    double up = sqrt(coupler * coupler - along * along);
    double cx = bx + (along * dx - up * dz) / s, cz = bz + (along * dz + up * dx) / s;
    return (four_bar){atan2(cz - bz, cx - bx), atan2(cz, cx - ground)};
}

static void close_loop(yard *y, int a, v3 on_a, int b, v3 on_b) {
    sim_equality loop = sim_equality_default();
    loop.type = SIM_CONNECT;
    loop.body[0] = a;
    loop.body[1] = b;
    loop.frame[0].p = on_a;
    loop.frame[1].p = on_b;
    cr_assert_geq(sim_builder_add_equality(y->builder, &loop), 0);
}

static yard four_bar_with(double angle, double rate, const char *solver, sim_integrator integrator, double step,
                          double beta) {
    yard y = yard_begin(down, rough(0));
    const double h = 1e-6;
    four_bar now = closed_form(angle), next = closed_form(angle + h), before = closed_form(angle - h);
    double coupler_rate = (next.coupler - before.coupler) / (2 * h) * rate;
    double rocker_rate = (next.rocker - before.rocker) / (2 * h) * rate;
    sim_body_def def = bar("crank", 0, v3_make(0, 0, 0), crank, angle, rate);
    int a = sim_builder_add_body(y.builder, &def);
    def = bar("coupler", a, v3_make(crank, 0, 0), coupler, now.coupler - angle, coupler_rate - rate);
    int b = sim_builder_add_body(y.builder, &def);
    def = bar("rocker", 0, v3_make(ground, 0, 0), rocker, now.rocker, rocker_rate);
    int c = sim_builder_add_body(y.builder, &def);
    close_loop(&y, b, v3_make(coupler, 0, 0), c, v3_make(rocker, 0, 0));
    y.tolerance = 1e-12;
    y.options.law.beta = beta;
    y.options.law.push = 0.5; /* as much of a gap as near-rigid constraints close in a step */
    yard_open(&y, solver, integrator, step);
    return y;
}

static yard four_bar_world(double angle, double rate, const char *solver, sim_integrator integrator, double step) {
    return four_bar_with(angle, rate, solver, integrator, step, 1);
}

/* How far the bars stand from where the crank's angle says, m. */
static double four_bar_error(const yard *y) {
    const double *q = sim_world_state(y->world)->q;
    four_bar due = closed_form(q[0]);
    double off_coupler = coupler * remainder(q[0] + q[1] - due.coupler, 2 * M_PI);
    return fmax(fabs(off_coupler), rocker * fabs(remainder(q[2] - due.rocker, 2 * M_PI)));
}

Test(loops, four_bar_linkage_keeps_to_its_closed_form) {
    const char *solver[] = {"pgs", "sap"};
    for (int k = 0; k < 2 * SIM_RK4; k++) {
        yard y = four_bar_world(1.2, 6, solver[k % 2], (sim_integrator)(k / 2), 1e-3);
        double worst = 0;
        for (int i = 0; i < part_of(10000); i++) {
            yard_step(&y);
            worst = fmax(worst, four_bar_error(&y));
        }
        cr_expect_lt(worst, 1e-5, "%s, %s: off by %g m", solver[k % 2], sim_integrator_name((sim_integrator)(k / 2)),
                     worst);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

/* The energy that the midpoint rule loses in 10 s falls with the square of the step. */
Test(loops, four_bar_linkage_keeps_its_energy_to_second_order) {
    double lost[2];
    for (int k = 0; k < 2; k++) {
        double dt = k ? 1e-3 : 2e-3;
        yard y = four_bar_world(1.2, 6, "pgs", SIM_MIDPOINT, dt);
        double start = energy_of(&y), worst = 0, most = 0;
        for (int i = 0; i * dt < 10; i++) {
            yard_step(&y);
            worst = fmax(worst, fabs(energy_of(&y) - start));
            most = fmax(most, sim_world_energy(y.world).kinetic);
        }
        lost[k] = worst / most;
        yard_end(&y);
    }
    cr_assert_lt(lost[1], 2e-3, "lost %g of the energy", lost[1]);
    cr_assert_gt(lost[0] / lost[1], 3, "%g, then %g", lost[0], lost[1]);
}

/* ---- an overconstrained loop ---- */

/* Bennett's linkage, four bars and four hinges that are neither parallel nor meet: it moves, though it has two
 * constraints too many, as sin(alpha)/a = sin(beta)/b.
 *     tan(theta_1/2) tan(theta_2/2) = sin((beta + alpha)/2) / sin((beta - alpha)/2),    theta_3 = -theta_1
 * Reference: Bennett 1903; Phillips 1990, Freedom in Machinery 2, section 20. */
static double bennett_angle(double theta, double alpha, double beta) {
    return 2 * atan(sin((beta + alpha) / 2) / sin((beta - alpha) / 2) / tan(theta / 2));
}

typedef struct bennett_errors {
    double closure, energy; /* rad; of the kinetic energy at the start */
} bennett_errors;

static bennett_errors run_bennett(const char *solver, double step) {
    const double a = 1, b = 0.7, alpha = 1, beta = asin(b / a * sin(alpha)), theta = 1, rate = 2, h = 1e-6;
    const double length[] = {a, b, a}, twist[] = {alpha, beta};
    double ratio = (bennett_angle(theta + h, alpha, beta) - bennett_angle(theta - h, alpha, beta)) / (2 * h);
    const double q[] = {theta, bennett_angle(theta, alpha, beta), -theta}, v[] = {rate, ratio * rate, -rate};
    yard y = yard_begin(v3_make(0, 0, 0), rough(0));
    /* three bars along x, each hinge turned by the twist of the bar before; the fourth is the ground */
    int last = 0;
    for (int k = 0; k < 3; k++) {
        sim_body_def def = bar(k == 0   ? "first"
                               : k == 1 ? "second"
                                        : "third",
                               last, v3_make(0, 0, 0), length[k], q[k], v[k]);
        def.axis = v3_make(0, 0, 1);
        if (k > 0) {
            double c = cos(twist[k - 1]), s = sin(twist[k - 1]);
            def.placement = (sim_pose){{{1, 0, 0}, {0, c, s}, {0, -s, c}}, {length[k - 1], 0, 0}};
        }
        last = sim_builder_add_body(y.builder, &def);
    }
    /* two points of the fourth hinge */
    close_loop(&y, last, v3_make(a, 0, 0), 0, v3_make(-b, 0, 0));
    close_loop(&y, last, v3_make(a, -0.5 * sin(alpha), 0.5 * cos(alpha)), 0,
               v3_make(-b, 0.5 * sin(beta), 0.5 * cos(beta)));
    y.options.compliance = strcmp(solver, "sap") == 0 ? SIM_NEAR_RIGID : SIM_ELASTIC;
    yard_open(&y, solver, SIM_MIDPOINT, step);
    /* nearly once around */
    bennett_errors most = {0, 0};
    double start = energy_of(&y);
    for (int k = 0; k * step < 3; k++) {
        yard_step(&y);
        const double *now = sim_world_state(y.world)->q;
        double off = now[1] - bennett_angle(now[0], alpha, beta);
        most.closure = fmax(most.closure, fabs(remainder(off, 2 * M_PI)));
        most.energy = fmax(most.energy, fabs(energy_of(&y) / start - 1));
    }
    cr_expect_gt(fabs(sim_world_state(y.world)->q[0] - theta), 3, "%s: it moves", solver);
    cr_expect_eq(y.unsolved, 0, "%s", solver);
    yard_end(&y);
    return most;
}

Test(loops, bennetts_linkage_moves_as_its_closed_form_says_by_laws_with_compliance) {
    static const char *const solver[] = {"auto", "acn", "pgs", "sap"};
    for (int k = 0; k < 4; k++) {
        bennett_errors coarse = run_bennett(solver[k], 2e-3), fine = run_bennett(solver[k], 1e-3);
        cr_expect_lt(fine.closure, 1e-5, "%s: off by %g", solver[k], fine.closure);
        cr_expect_gt(coarse.closure / fine.closure, 3, "%s: %g, then %g", solver[k], coarse.closure, fine.closure);
        cr_expect_lt(fine.energy, 1e-4, "%s: %g of the energy", solver[k], fine.energy);
        cr_expect_gt(coarse.energy / fine.energy, 3, "%s: %g, then %g", solver[k], coarse.energy, fine.energy);
    }
}

/* ---- the slider-crank ---- */

static const double throw = 0.25, rod = 0.7;

static double piston_at(double angle) { return throw *cos(angle) + sqrt(rod * rod - pow(throw *sin(angle), 2)); }

Test(loops, slider_crank_keeps_to_its_closed_form_and_its_energy) {
    const double angle = 0.4, rate = 8, sine = throw *sin(angle) / rod, cosine = sqrt(1 - sine * sine);
    double tilt = -asin(sine), tilt_rate = -throw *cos(angle) * rate / (rod * cosine), off[2], lost[2];
    for (int k = 0; k < 2; k++) {
        yard y = yard_begin(down, rough(0));
        sim_body_def def = bar("crank", 0, v3_make(0, 0, 0), throw, angle, rate);
        int a = sim_builder_add_body(y.builder, &def);
        def = bar("rod", a, v3_make(throw, 0, 0), rod, tilt - angle, tilt_rate - rate);
        int b = sim_builder_add_body(y.builder, &def);
        def = sim_body_default();
        def.name = "piston";
        def.joint = SIM_SLIDER;
        def.axis = v3_make(1, 0, 0);
        def.inertia = box_inertia(0.5, 0.1, 0.1, 0.1);
        def.q[0] = piston_at(angle);
        def.v[0] = -throw *sin(angle) * rate + rod * sin(-tilt) * tilt_rate;
        int c = sim_builder_add_body(y.builder, &def);
        close_loop(&y, b, v3_make(rod, 0, 0), c, v3_make(0, 0, 0));
        y.tolerance = 1e-12;
        const double dt = k ? 5e-4 : 1e-3;
        yard_open(&y, "pgs", SIM_MIDPOINT, dt);
        double start = energy_of(&y), most = 0;
        off[k] = lost[k] = 0;
        for (int i = 0; i * dt < 10; i++) {
            yard_step(&y);
            const double *q = sim_world_state(y.world)->q;
            off[k] = fmax(off[k], fabs(q[2] - piston_at(q[0])));
            lost[k] = fmax(lost[k], fabs(energy_of(&y) - start));
            most = fmax(most, sim_world_energy(y.world).kinetic);
        }
        lost[k] /= most;
        yard_end(&y);
    }
    cr_log_warn("off by %.3g, %.3g m; lost %.3g, %.3g", off[0], off[1], lost[0], lost[1]);
    cr_assert_lt(off[0], 1e-5, "off by %g m", off[0]);
    cr_assert_gt(off[0] / off[1], 3, "%g m, then %g m", off[0], off[1]);
    cr_assert_lt(lost[0], 3e-3, "lost %g", lost[0]);
    cr_assert_gt(lost[0] / lost[1], 3, "%g, then %g", lost[0], lost[1]);
}

/* ---- the same told otherwise ---- */

static sim_body_def loose(const char *name, v3 at, v3 v, v3 spin) {
    sim_body_def def = sim_body_default();
    def.name = name;
    def.inertia = box_inertia(2, 0.3, 0.2, 0.1);
    def.q[0] = at.x;
    def.q[1] = at.y;
    def.q[2] = at.z;
    const double rates[6] = {v.x, v.y, v.z, spin.x, spin.y, spin.z};
    memcpy(def.v, rates, sizeof rates);
    return def;
}

/* Two free bodies welded together, against one body with the other fixed to it. */
Test(loops, welded_pair_moves_as_one_body) {
    const char *solver[] = {"pgs", "sap"};
    const v3 arm = {0.4, 0.1, -0.2}, spin = {1, -2, 3};
    for (int k = 0; k < 4; k++) {
        double dt = k / 2 ? 5e-4 : 1e-3, worst = 0;
        yard welded = yard_begin(down, rough(0)), fixed = yard_begin(down, rough(0));
        sim_body_def first = loose("a", v3_make(0, 0, 0), v3_make(1, 0, 2), spin), second;
        second = loose("b", arm, v3_add(v3_make(1, 0, 2), v3_cross(spin, arm)), spin);
        sim_equality weld = sim_equality_default();
        weld.body[0] = sim_builder_add_body(welded.builder, &first);
        weld.body[1] = sim_builder_add_body(welded.builder, &second);
        weld.frame[0].p = arm;
        sim_builder_add_equality(welded.builder, &weld);
        second = sim_body_default();
        second.name = "b";
        second.joint = SIM_FIXED;
        second.inertia = first.inertia;
        second.placement.p = arm;
        second.parent = sim_builder_add_body(fixed.builder, &first);
        sim_builder_add_body(fixed.builder, &second);
        welded.tolerance = fixed.tolerance = 1e-12;
        yard_open(&welded, solver[k % 2], SIM_MIDPOINT, dt);
        yard_open(&fixed, solver[k % 2], SIM_MIDPOINT, dt);
        for (int i = 0; i * dt < 2; i++) {
            yard_step(&welded);
            yard_step(&fixed);
            worst = fmax(worst, v3_norm(v3_sub(place_of(&welded, "b"), place_of(&fixed, "b"))));
        }
        cr_assert_lt(worst, 2 * dt * dt * 14, "%s: %g m apart", solver[k % 2],
                     worst); /* dt^2 |spin|^2 of the arm's length */
        yard_end(&welded);
        yard_end(&fixed);
    }
}

/* A mass on a rod from the origin, against a hinge with the same mass. */
Test(loops, mass_on_a_rod_is_a_pendulum) {
    const double length = 0.8, angle = 0.3, dt = 1e-3;
    const char *solver[] = {"pgs", "sap"};
    for (int k = 0; k < 2; k++) {
        yard hung = yard_begin(down, rough(0)), hinged = yard_begin(down, rough(0));
        v3 at = {length * cos(angle), 0, length * sin(angle)};
        sim_body_def def = loose("mass", at, v3_make(0, 0, 0), v3_make(1, 2, 3));
        sim_equality held = sim_equality_default();
        held.type = SIM_DISTANCE;
        held.body[0] = sim_builder_add_body(hung.builder, &def);
        held.distance = length;
        sim_builder_add_equality(hung.builder, &held);
        sim_body_def arm = bar("mass", 0, v3_make(0, 0, 0), length, angle, 0);
        arm.inertia = box_inertia(2, 1e-6, 1e-6, 1e-6);
        arm.inertia.com = v3_make(length, 0, 0);
        sim_builder_add_body(hinged.builder, &arm);
        hung.tolerance = 1e-13;
        yard_open(&hung, solver[k], SIM_MIDPOINT, dt);
        hinged.options.integrator = SIM_RK4;
        yard_open(&hinged, solver[k], SIM_RK4, dt);
        double apart = 0, off = 0;
        for (int i = 0; i < 3000; i++) {
            yard_step(&hung);
            yard_step(&hinged);
            double now = sim_world_state(hinged.world)->q[0];
            v3 p = place_of(&hung, "mass");
            apart = fmax(apart, v3_norm(v3_sub(p, v3_make(length * cos(now), 0, length * sin(now)))));
            off = fmax(off, fabs(v3_norm(p) - length));
        }
        /* SAP's gives way by 2 dt^2 / (4 pi^2) of the greatest load over mass, g + 2 g (1 + sin 0.3) */
        cr_assert_lt(off, k ? 2.1 * dt * dt * 9.81 * 3.6 / (4 * M_PI * M_PI) : 1e-8, "%s: the rod is off by %g m",
                     solver[k], off);
        cr_assert_lt(apart, 1e-4, "%s: %g m from the pendulum", solver[k], apart);
        yard_end(&hung);
        yard_end(&hinged);
    }
}

/* q1 = c0 + c1 q2: a torque on the second wheel turns both, (I2 + c1^2 I1) a2 = torque. */
Test(loops, gear_turns_both_wheels_in_its_ratio) {
    const double ratio = -2.5, offset = 0.3, torque = 2;
    for (int i = 0; i < SIM_RK4; i++) {
        yard y = yard_begin(down, rough(0));
        sim_body_def first = sim_body_default(), second;
        first.joint = SIM_HINGE;
        first.inertia = box_inertia(1, 0.5, 0.5, 0.1);
        second = first;
        second.inertia = box_inertia(3, 0.6, 0.4, 0.1);
        first.q[0] = offset;
        sim_equality gear = sim_equality_default();
        gear.type = SIM_COUPLING;
        gear.body[0] = sim_builder_add_body(y.builder, &first);
        gear.body[1] = sim_builder_add_body(y.builder, &second);
        gear.ratio = ratio;
        gear.offset = offset;
        sim_builder_add_equality(y.builder, &gear);
        y.tolerance = 1e-14;
        yard_open(&y, "pgs", (sim_integrator)i, 1e-3);
        sim_world_applied(y.world)[1] = torque;
        for (int k = 0; k < 2000; k++) {
            yard_step(&y);
        }
        const sim_state *s = sim_world_state(y.world);
        double due = torque / (second.inertia.moment.zz + ratio * ratio * first.inertia.moment.zz) * 2;
        cr_assert_float_eq(s->v[1], due, 1e-9 * due, "%s: %.12g, not %.12g rad/s",
                           sim_integrator_name((sim_integrator)i), s->v[1], due);
        cr_assert_float_eq(s->q[0], offset + ratio * s->q[1], 1e-9, "off by %g rad",
                           s->q[0] - offset - ratio * s->q[1]);
        yard_end(&y);
    }
}

/* A load on a compliant weld of a slider to the world: k x = F. */
Test(loops, compliant_constraint_gives_way_as_its_stiffness_says) {
    const char *solver[] = {"pgs", "sap"};
    for (int i = 0; i < 2 * SIM_RK4; i++) {
        yard y = yard_begin(v3_make(0, 0, 0), rough(0));
        sim_body_def def = loose("block", v3_make(0, 0, 0), v3_make(0, 0, 0), v3_make(0, 0, 0));
        sim_equality weld = sim_equality_default();
        weld.body[0] = sim_builder_add_body(y.builder, &def);
        weld.stiffness = 500;
        weld.dissipation = 0.05;
        sim_builder_add_equality(y.builder, &weld);
        y.tolerance = 1e-13;
        yard_open(&y, solver[i % 2], (sim_integrator)(i / 2), 1e-3);
        sim_world_applied(y.world)[1] = 7;
        for (int k = 0; k < 4000; k++) {
            yard_step(&y);
        }
        cr_assert_float_eq(place_of(&y, "block").y, 7.0 / 500, 1e-9, "%s, %s: %g m", solver[i % 2],
                           sim_integrator_name((sim_integrator)(i / 2)), place_of(&y, "block").y);
        yard_end(&y);
    }
}

/* ---- solvers ---- */

/* With R going to nothing SAP solves what PGS does. */
Test(loops, sap_and_pgs_agree_where_nothing_yields) {
    double q[2][3];
    for (int k = 0; k < 2; k++) {
        yard y = four_bar_with(1.2, 6, k ? "sap" : "pgs", SIM_MIDPOINT, 1e-3, 1e-3);
        for (int i = 0; i < 1000; i++) {
            yard_step(&y);
        }
        memcpy(q[k], sim_world_state(y.world)->q, sizeof q[k]);
        yard_end(&y);
    }
    for (int j = 0; j < 3; j++) {
        cr_assert_float_eq(q[0][j], q[1][j], 1e-6, "%.12g by pgs, %.12g by sap", q[0][j], q[1][j]);
    }
}

/* ---- rows ---- */

/* Gaps of all rows at q (+) h e_dof, nothing moving. */
static int gaps_at(sim_world *w, const double *q, int dof, double h, double *gap, double *J) {
    const sim_model *m = sim_world_model(w);
    double v[16] = {0}, moved[20];
    sim_error error = {0};
    v[dof] = 1;
    sim_advance(m, sim_all(m), q, v, h, moved);
    v[dof] = 0;
    sim_state state = *sim_world_state(w);
    state.q = moved;
    state.v = state.a = v;
    cr_assert_eq(sim_world_set_state(w, &state, &error), SIM_OK, "%s", error.text);
    sim_problem *p = sim_world_problem(w, &error);
    cr_assert(p, "%s", error.text);
    int rows = p->nrow;
    memcpy(gap, p->gap, (size_t)rows * sizeof *gap);
    memset(J, 0, (size_t)(rows * m->nv) * sizeof *J);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            const sim_problem_tree *t = &p->tree[c->tree[side]];
            for (int k = 0; k < c->rows * t->nv; k++) {
                J[(c->row + k / t->nv) * m->nv + t->v0 + k % t->nv] += p->J[c->block[side] + k];
            }
        }
    }
    sim_problem_free(p);
    return rows;
}

/* One tree of a chain and one free body, held by everything there is, to each other, to themselves and to the world. */
Test(loops, rows_are_differences_of_their_gaps) {
    random_source r = {7};
    yard y = yard_begin(v3_make(0, 0, 0), rough(0));
    sim_body_def def = bar("one", 0, v3_make(0.1, 0.2, 0.3), 0.5, 0.4, 0);
    int one = sim_builder_add_body(y.builder, &def);
    def = bar("two", one, v3_make(0.5, 0, 0), 0.4, -0.7, 0);
    def.axis = v3_make(0, 0.6, 0.8);
    int two = sim_builder_add_body(y.builder, &def);
    def = loose("free", v3_make(0.3, -0.2, 0.5), v3_make(0, 0, 0), v3_make(0, 0, 0));
    int other = sim_builder_add_body(y.builder, &def);
    const int pair[][2] = {{two, other}, {0, two}, {other, 0}, {one, two}};
    for (int k = 0; k < 4; k++) {
        sim_equality e = sim_equality_default();
        e.body[0] = pair[k][0];
        e.body[1] = pair[k][1];
        for (int side = 0; side < 2; side++) {
            e.frame[side] = (sim_pose){random_rotation(&r), v3_scale(0.3, random_unit(&r))};
        }
        e.type = SIM_CONNECT;
        sim_builder_add_equality(y.builder, &e);
        e.type = SIM_DISTANCE;
        e.distance = 0.7;
        sim_builder_add_equality(y.builder, &e);
    }
    sim_equality gear = sim_equality_default();
    gear.type = SIM_COUPLING;
    gear.body[0] = one;
    gear.body[1] = two;
    gear.ratio = 1.7;
    sim_builder_add_equality(y.builder, &gear);
    yard_open(&y, "pgs", SIM_SYMPLECTIC_EULER, 1e-3);
    double q[20], J[64 * 8], K[64 * 8], up[64], low[64], h = 1e-6;
    memcpy(q, sim_world_state(y.world)->q, (size_t)y.model->nq * sizeof *q);
    int rows = gaps_at(y.world, q, 0, 0, up, J);
    cr_assert_eq(rows, 4 * 4 + 1);
    for (int dof = 0; dof < y.model->nv; dof++) {
        gaps_at(y.world, q, dof, h, up, K);
        gaps_at(y.world, q, dof, -h, low, K);
        for (int k = 0; k < rows; k++) {
            double rate = (up[k] - low[k]) / (2 * h);
            cr_assert_float_eq(J[k * y.model->nv + dof], rate, 1e-8, "row %d, dof %d: %g, not %g", k, dof,
                               J[k * y.model->nv + dof], rate);
        }
    }
    yard_end(&y);
}

/* Of a weld where it holds; the frame on the second body is where the first one's stands. */
Test(loops, rows_of_a_weld_are_differences_of_its_gaps) {
    random_source r = {11};
    yard y = yard_begin(v3_make(0, 0, 0), rough(0));
    sim_body_def def = bar("one", 0, v3_make(0.1, 0.2, 0.3), 0.5, 0.4, 0);
    def.joint = SIM_UNIVERSAL;
    def.q[1] = 0.6;
    sim_equality e = sim_equality_default();
    e.body[0] = sim_builder_add_body(y.builder, &def);
    def = loose("free", v3_make(0.3, -0.2, 0.5), v3_make(0, 0, 0), v3_make(0, 0, 0));
    e.body[1] = sim_builder_add_body(y.builder, &def);
    sim_builder *probe = sim_builder_create(); /* where they stand */
    def = bar("one", 0, v3_make(0.1, 0.2, 0.3), 0.5, 0.4, 0);
    def.joint = SIM_UNIVERSAL;
    def.q[1] = 0.6;
    sim_builder_add_body(probe, &def);
    sim_model *model = sim_builder_finish(probe, NULL);
    sim_derived *d = sim_derived_create(model, NULL);
    sim_kinematics(d, sim_all(model), model->q_initial);
    e.frame[0] = (sim_pose){random_rotation(&r), v3_scale(0.3, random_unit(&r))};
    e.frame[1] = pose_product(d->pose[1], e.frame[0]);
    e.frame[1].p = v3_sub(e.frame[1].p, v3_make(0.3, -0.2, 0.5));
    sim_derived_free(d);
    sim_model_free(model);
    sim_builder_add_equality(y.builder, &e);
    yard_open(&y, "pgs", SIM_SYMPLECTIC_EULER, 1e-3);
    double q[20], J[64 * 8], K[64 * 8], up[64], low[64], h = 1e-6;
    memcpy(q, sim_world_state(y.world)->q, (size_t)y.model->nq * sizeof *q);
    cr_assert_eq(gaps_at(y.world, q, 0, 0, up, J), 6);
    for (int k = 0; k < 6; k++) {
        cr_assert_float_eq(up[k], 0, 1e-12, "row %d: %g", k, up[k]);
    }
    for (int dof = 0; dof < y.model->nv; dof++) {
        gaps_at(y.world, q, dof, h, up, K);
        gaps_at(y.world, q, dof, -h, low, K);
        for (int k = 0; k < 6; k++) {
            double rate = (up[k] - low[k]) / (2 * h);
            cr_assert_float_eq(J[k * y.model->nv + dof], rate, 1e-8, "row %d, dof %d: %g, not %g", k, dof,
                               J[k * y.model->nv + dof], rate);
        }
    }
    yard_end(&y);
}

/* ---- refusals, and going on ---- */

Test(loops, rk4_refuses_constraints_by_name) {
    sim_error error = {0};
    yard y = yard_begin(down, rough(0));
    sim_body_def def = loose("a", v3_make(0, 0, 0), v3_make(0, 0, 0), v3_make(0, 0, 0));
    sim_equality weld = sim_equality_default();
    weld.body[0] = sim_builder_add_body(y.builder, &def);
    sim_builder_add_equality(y.builder, &weld);
    y.model = sim_builder_finish(y.builder, &error);
    cr_assert(y.model, "%s", error.text);
    y.options.integrator = SIM_RK4;
    cr_assert_null(sim_world_create(y.model, &y.options, &error));
    cr_assert(strstr(error.text, "rk4") && strstr(error.text, "constraints between bodies"), "%s", error.text);
    sim_model_free(y.model);
}

Test(loops, builder_refuses_what_cannot_be_held) {
    const struct {
        sim_equality e;
        const char *says;
    } wrong[] = {{{.type = SIM_WELD, .body = {1, 1}, .stiffness = 1}, "itself"},
                 {{.type = SIM_WELD, .body = {1, 7}, .stiffness = 1}, "no body 7"},
                 {{.type = SIM_WELD, .body = {1, 0}, .stiffness = 0}, "stiffness"},
                 {{.type = SIM_DISTANCE, .body = {1, 0}, .stiffness = 1}, "positive"},
                 {{.type = SIM_COUPLING, .body = {1, 0}, .stiffness = 1}, "no dof"},
                 {{.type = SIM_COUPLING, .body = {1, 1}, .dof = {0, 1}, .stiffness = 1}, "free joint"},
                 {{.type = SIM_EQUALITY_TYPES, .body = {1, 0}, .stiffness = 1}, "not a type"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        sim_error error = {0};
        sim_builder *b = sim_builder_create();
        sim_body_def def = loose("a", v3_make(0, 0, 0), v3_make(0, 0, 0), v3_make(0, 0, 0));
        sim_equality e = wrong[k].e;
        e.frame[0] = e.frame[1] = pose_identity();
        sim_builder_add_body(b, &def);
        cr_assert_eq(sim_builder_add_equality(b, &e), -1);
        cr_assert_null(sim_builder_finish(b, &error));
        cr_assert(strstr(error.text, wrong[k].says), "%s", error.text);
    }
}

Test(loops, run_taken_up_from_its_state_goes_on_to_the_bit) {
    yard one = four_bar_world(1.2, 6, "sap", SIM_MIDPOINT, 1e-3),
         two = four_bar_world(1.2, 6, "sap", SIM_MIDPOINT, 1e-3);
    sim_error error;
    for (int k = 0; k < 300; k++) {
        yard_step(&one);
    }
    cr_assert_eq(sim_world_set_state(two.world, sim_world_state(one.world), &error), SIM_OK);
    for (int k = 0; k < 50; k++) {
        yard_step(&one);
        yard_step(&two);
    }
    cr_assert_arr_eq(sim_world_state(one.world)->q, sim_world_state(two.world)->q, 3 * sizeof(double));
    cr_assert_arr_eq(sim_world_state(one.world)->equality_impulse, sim_world_state(two.world)->equality_impulse,
                     6 * sizeof(double));
    cr_assert_neq(sim_world_state(one.world)->equality_impulse[0], 0);
    yard_end(&one);
    yard_end(&two);
}
