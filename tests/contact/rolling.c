/* Rolling on edges and on curved bodies, beside the rolling equations.
 *
 * A convex body on the plane z = 0, c its centre of mass, x the contact, r = x - c:
 *
 *     v_c = -omega x r,    m (dv_c/dt - g) = F,    I domega/dt + omega x I omega = r x F,
 *
 * in axes of the body, where r(d) is the support point along d = down.  Runge-Kutta of fourth order integrates it
 * without any contact solver. */
#include "math/v3.h"
#include "support.h"
#include "support/fields.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double g = 9.81;

typedef struct roller {
    sim_shape_type type;
    double size[3];
    sim_inertia inertia;
    quat start;
    v3 omega;       /* at the start, axes of the body */
    int slab;       /* it rolls on a box, not on a half-space */
    double cone[2]; /* radius and height of a cone from its tip on; 0: none */
} roller;

/* The lowest point of the body, and its rate as `down` changes by `rate`; axes of the body. */
static v3 support(const roller *b, v3 down, v3 rate, v3 *x_rate) {
    const double *s = b->size;
    if (b->type == SIM_ELLIPSOID) {
        v3 t = {s[0] * s[0] * down.x, s[1] * s[1] * down.y, s[2] * s[2] * down.z};
        v3 u = {s[0] * s[0] * rate.x, s[1] * s[1] * rate.y, s[2] * s[2] * rate.z};
        double length = sqrt(v3_dot(t, down));
        *x_rate = v3_sub(v3_scale(1 / length, u), v3_scale(v3_dot(t, rate) / (length * length * length), t));
        return v3_scale(1 / length, t);
    }
    double across = hypot(down.x, down.y), tube = b->type == SIM_SDF ? s[2] : 0;
    v3 side = {down.x / across, down.y / across, 0}, along = {-side.y, side.x, 0};
    v3 rim = v3_add(v3_scale(s[0], side), v3_make(0, 0, copysign(s[1] / 2, down.z)));
    *x_rate = v3_axpy(v3_scale(s[0] * v3_dot(along, rate) / across, along), tube, rate);
    return v3_axpy(rim, tube, down);
}

/* M x = b for a symmetric matrix by its adjugate. */
static v3 solve3(const m3 *M, v3 b) {
    v3 yz = v3_cross(M->y, M->z);
    double det = v3_dot(M->x, yz);
    return v3_make(v3_dot(b, yz) / det, v3_dot(b, v3_cross(M->z, M->x)) / det, v3_dot(b, v3_cross(M->x, M->y)) / det);
}

typedef struct moving {
    quat q;
    v3 omega;
} moving;

static moving rate_of(const roller *b, moving at) {
    const sim_inertia *I = &b->inertia;
    v3 down = m3_transposed_times(quat_matrix(quat_normalised(at.q)), v3_make(0, 0, -1)), w = at.omega, x_rate;
    v3 r = v3_sub(support(b, down, v3_neg(v3_cross(w, down)), &x_rate), I->com);
    v3 known = v3_neg(v3_add(v3_cross(w, x_rate), v3_cross(w, v3_cross(w, r))));
    v3 push = v3_scale(I->mass, v3_sub(known, v3_scale(g, down)));
    v3 rhs = v3_add(v3_cross(r, push), v3_neg(v3_cross(w, sym3_times(I->moment, w))));
    sym3 about = sym3_parallel_axis(I->moment, I->mass, r);
    m3 M = {sym3_times(about, v3_make(1, 0, 0)), sym3_times(about, v3_make(0, 1, 0)),
            sym3_times(about, v3_make(0, 0, 1))};
    quat turn = quat_product(at.q, (quat){0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z});
    return (moving){turn, solve3(&M, rhs)};
}

static moving moved(moving a, double h, moving r) {
    return (moving){{a.q.w + h * r.q.w, a.q.x + h * r.q.x, a.q.y + h * r.q.y, a.q.z + h * r.q.z},
                    v3_axpy(a.omega, h, r.omega)};
}

static moving roll_exactly(const roller *b, moving at, double duration, int steps) {
    double h = duration / steps;
    for (int k = 0; k < steps; k++) {
        moving a = rate_of(b, at), c = rate_of(b, moved(at, h / 2, a)), d = rate_of(b, moved(at, h / 2, c));
        moving e = rate_of(b, moved(at, h, d));
        at = moved(moved(moved(moved(at, h / 6, a), h / 3, c), h / 3, d), h / 6, e);
        at.q = quat_normalised(at.q);
    }
    return at;
}

static void lay_slab(yard *y) {
    sim_shape slab = sim_shape_default();
    slab.type = SIM_BOX;
    slab.size[0] = slab.size[1] = 4;
    slab.size[2] = 1;
    slab.pose.p.z = -0.5;
    slab.material = y->material;
    sim_builder_add_shape(y->builder, &slab);
}

/* A distance field of the rim of a cylinder, size[0] and size[1], or of a cone, in a tube of radius size[2]. */
static const sim_geometry *add_torus(yard *y, const roller *b) {
    const double rim[2][2] = {{b->size[0], -b->size[1] / 2}, {b->size[0] + b->cone[0], b->size[1] / 2 + b->cone[1]}};
    sim_field_def def = sim_field_default();
    def.type = SIM_FIELD_PROFILE;
    def.point = rim;
    def.npoint = 2;
    def.thickness = b->size[2];
    return sim_builder_add_geometry(y->builder, field_geometry(&def, 0));
}

/* The body on the ground at the start, rolling: its lowest point has no velocity. */
static yard put_down(const roller *b, const char *solver, sim_integrator integrator, double step) {
    yard y = yard_begin(v3_make(0, 0, -g), rough(5));
    sim_shape shape = sim_shape_default();
    sim_body_def def = sim_body_default();
    m3 R = quat_matrix(b->start);
    v3 unused, x = support(b, m3_transposed_times(R, v3_make(0, 0, -1)), v3_make(0, 0, 0), &unused);
    v3 v = v3_cross(m3_times(R, b->omega), v3_neg(m3_times(R, x)));
    if (b->slab) {
        lay_slab(&y);
    } else {
        yard_ground(&y);
    }
    def.name = "body";
    def.inertia = b->inertia;
    const double q[7] = {0, 0, -m3_times(R, x).z, b->start.w, b->start.x, b->start.y, b->start.z};
    const double rates[6] = {v.x, v.y, v.z, b->omega.x, b->omega.y, b->omega.z};
    memcpy(def.q, q, sizeof q);
    memcpy(def.v, rates, sizeof rates);
    shape.type = b->type;
    shape.material = y.material;
    memcpy(shape.size, b->size, sizeof b->size);
    shape.geometry = b->type == SIM_SDF ? add_torus(&y, b) : NULL;
    shape.body = sim_builder_add_body(y.builder, &def);
    sim_builder_add_shape(y.builder, &shape);
    yard_open(&y, solver, integrator, step);
    return y;
}

static moving state_of(const yard *y) {
    const sim_state *s = sim_world_state(y->world);
    return (moving){{s->q[3], s->q[4], s->q[5], s->q[6]}, {s->v[3], s->v[4], s->v[5]}};
}

static double spin_about_z(moving at) { return m3_times(quat_matrix(at.q), at.omega).z; }

static quat turned(double roll, double pitch) {
    return quat_product(quat_exp(v3_make(0, pitch, 0)), quat_exp(v3_make(roll, 0, 0)));
}

/* A thin disk whose centre stays where it is: omega = sqrt(4 g sin a / r) along the way up its face. */
static roller steady_disk(double radius, double lean) {
    double m = 1, I = m * radius * radius / 4, spin = sqrt(4 * g * sin(lean) / radius);
    return (roller){.type = SIM_CYLINDER,
                    .size = {radius, 2e-6},
                    .inertia = {m, {0, 0, 0}, {I, I, 2 * I, 0, 0, 0}},
                    .start = turned(0, lean),
                    .omega = {-spin, 0, 0}};
}

static roller rattleback(void) {
    return (roller){.type = SIM_ELLIPSOID,
                    .size = {0.2, 0.03, 0.02},
                    .inertia = {1, {0, 0, -0.01}, {0.0002, 0.0016, 0.0017, -0.00002, 0, 0}},
                    .start = turned(0.5 * M_PI / 180, 0.5 * M_PI / 180),
                    .omega = {0, 0, -5}};
}

static roller torus(double lean, double spin) {
    return (roller){.type = SIM_SDF,
                    .size = {0.1, 2e-4, 0.02},
                    .inertia = {1, {0, 0, 0}, {0.0055, 0.0055, 0.0105, 0, 0, 0}},
                    .start = turned(0, lean),
                    .omega = {0, 0, spin}};
}

/* On its side, a cone of tan(half angle) 5/12 within a layer of 5 mm. */
static roller cone(double spin) {
    double half = atan2(0.05, 0.12);
    return (roller){.type = SIM_SDF,
                    .size = {0, 0, 0.005},
                    .inertia = {1, {0, 0, 0.09}, {0.0015, 0.0015, 0.0008, 0, 0, 0}},
                    .start = turned(0, M_PI / 2 - half),
                    .omega = v3_scale(spin, v3_make(sin(half), 0, cos(half))),
                    .cone = {0.05, 0.12}};
}

/* Precession: the azimuth of the axis, followed; kinetic energy is the measure of what is gained or lost. */
typedef struct outcome {
    double rate, gained, kinetic, fastest; /* rad/s, J, and J at first and at most */
} outcome;

static outcome run(const roller *b, const char *solver, sim_integrator integrator, double step, double duration) {
    yard y = put_down(b, solver, integrator, step);
    outcome o = {.kinetic = 0.5 * v3_dot(b->omega, sym3_times(b->inertia.moment, b->omega))};
    double first = energy_of(&y), angle = 0, before = 0;
    int steps = (int)lround(duration / step);
    for (int k = 0; k <= steps; k++) {
        v3 axis = quat_matrix(state_of(&y).q).z;
        double now = atan2(axis.y, axis.x);
        angle += k ? remainder(now - before, 2 * M_PI) : 0;
        before = now;
        o.gained = fmax(o.gained, fabs(energy_of(&y) - first));
        o.fastest = fmax(o.fastest, sim_world_energy(y.world).kinetic);
        if (k < steps) {
            yard_step(&y);
        }
    }
    o.rate = angle / duration;
    cr_expect_eq(y.unsolved, 0, "%s: %d unsolved", solver, y.unsolved);
    yard_end(&y);
    return o;
}

/* The closed form holds for a disk without thickness; 2e-6 m of it change the rate by less than 1e-4. */
Test(rolling, disk_in_steady_precession_keeps_its_energy_with_every_scheme_and_law) {
    double radius = 0.1, lean = M_PI / 6, due = sqrt(4 * g / (radius * sin(lean)));
    roller disk = steady_disk(radius, lean);
    const char *const solver[] = {"sap", "canal", "pgs"};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < SIM_RK4; i++) {
            outcome o = run(&disk, solver[k], (sim_integrator)i, 5e-4, 4);
            const char *name = sim_integrator_name((sim_integrator)i);
            cr_expect_float_eq(o.rate, due, 1e-4 * due, "%s, %s: %g rad/s, due %g", solver[k], name, o.rate, due);
            cr_expect_lt(o.gained, 1e-4 * o.kinetic, "%s, %s: %g of %g J", solver[k], name, o.gained, o.kinetic);
        }
    }
}

/* A coin just before it lies: the other side of its rim is above the ground by more than a step brings it down, and is
 * none of the contact's business. */
Test(rolling, disk_that_leans_little_keeps_its_energy) {
    const char *const solver[] = {"sap", "canal"};
    const double lean[] = {5 * M_PI / 180, 10 * M_PI / 180};
    for (int k = 0; k < 8; k++) {
        const char *by = solver[k & 1], *on = k & 4 ? "slab" : "half-space";
        double due = sqrt(4 * g / (0.1 * sin(lean[k >> 1 & 1])));
        roller disk = steady_disk(0.1, lean[k >> 1 & 1]);
        disk.slab = k & 4;
        outcome o = run(&disk, by, SIM_MIDPOINT, 5e-4, 4);
        cr_expect_float_eq(o.rate, due, 1e-3 * due, "%s, %s: %g rad/s, due %g", by, on, o.rate, due);
        cr_expect_lt(o.gained, 1e-4 * o.kinetic, "%s, %s: %g of %g J", by, on, o.gained, o.kinetic);
    }
}

/* Both edges of the rim touch, 2e-6 m from each other.  Only a turn by half a radian would bring both gaps to their
 * promised ends.  The shift of a step is at most of the size of its fall, g dt^2 / 2. */
Test(rolling, thin_disk_is_not_thrown_by_the_gaps_of_its_two_edges) {
    const char *const solver[] = {"canal", "pgs", "nsn"};
    const double step = 4e-3; /* s */
    for (int k = 0; k < 3; k++) {
        roller disk = steady_disk(0.1, M_PI / 6);
        yard y = put_down(&disk, solver[k], SIM_MIDPOINT, step);
        double most = 0, before = energy_of(&y);
        for (int i = 0; i < 250; i++) {
            yard_step(&y);
            double now = energy_of(&y);
            most = fmax(most, fabs(now - before));
            before = now;
        }
        double fall = disk.inertia.mass * g * g * step * step / 2;
        cr_expect_lt(most, fall, "%s: a step changes the energy by %g J, weight times fall is %g", solver[k], most,
                     fall);
        yard_end(&y);
    }
}

/* A disk that turns too slowly falls. It turns within some ten milliseconds where it nearly lies, with loads that
 * double each step, and rises again. */
Test(rolling, disk_that_falls_and_rises_keeps_its_energy) {
    const char *const solver[] = {"canal", "pgs"};
    for (int k = 0; k < 2; k++) {
        roller disk = steady_disk(0.1, M_PI / 6);
        disk.omega = v3_scale(0.3, disk.omega);
        outcome o = run(&disk, solver[k], SIM_MIDPOINT, 5e-4, 3);
        cr_expect_gt(o.fastest, 10 * o.kinetic, "%s: it falls", solver[k]);
        cr_expect_lt(o.gained, 1e-4 * o.fastest, "%s: %g of %g J", solver[k], o.gained, o.fastest);
    }
}

/* The error of an ellipsoid that rolls and wobbles, before small differences have grown: a fourth for half the step. */
Test(rolling, ellipsoid_follows_the_rolling_equations_to_second_order) {
    roller b = {.type = SIM_ELLIPSOID,
                .size = {0.1, 0.07, 0.05},
                .inertia = {1, {0, 0, 0}, {0.002, 0.0028, 0.0032, 0, 0, 0}},
                .start = turned(0.2, 0.35),
                .omega = {3, 4, 6}};
    double duration = 0.6, due = spin_about_z(roll_exactly(&b, (moving){b.start, b.omega}, duration, 6000)), error[3];
    for (int k = 0; k < 3; k++) {
        double step = 1e-3 / (1 << k);
        yard y = put_down(&b, "canal", SIM_MIDPOINT, step);
        for (int i = 0; i < (int)lround(duration / step); i++) {
            yard_step(&y);
        }
        error[k] = fabs(spin_about_z(state_of(&y)) - due);
        yard_end(&y);
    }
    cr_expect_lt(error[0], 1e-3 * due, "%g of %g rad/s", error[0], due);
    for (int k = 0; k < 2; k++) {
        cr_expect(error[k] / error[k + 1] > 3.5 && error[k] / error[k + 1] < 4.5, "%g, then %g", error[k],
                  error[k + 1]);
    }
}

/* Its contact goes from triangle to triangle of the field's surface. */
Test(rolling, torus_given_by_a_distance_keeps_its_energy_and_follows_the_rolling_equations) {
    const char *const solver[] = {"canal", "sap", "canal", "canal"};
    const double lean[] = {70, 70, 30, 70}, whole = span_of(10, 4), duration[] = {whole, whole, whole, 1}; /* s */
    for (int k = 0; k < 4; k++) {
        roller b = torus(lean[k] * M_PI / 180, 6);
        b.slab = k == 3;
        outcome o = run(&b, solver[k], SIM_MIDPOINT, 5e-4, duration[k]);
        cr_expect_lt(o.gained, 1e-4 * o.fastest, "%s, %g degrees: %g of %g J", solver[k], lean[k], o.gained, o.fastest);
    }
    roller b = torus(70 * M_PI / 180, 6);
    double due = spin_about_z(roll_exactly(&b, (moving){b.start, b.omega}, 1, 10000));
    yard y = put_down(&b, "canal", SIM_MIDPOINT, 5e-4);
    for (int k = 0; k < 2000; k++) {
        yard_step(&y);
    }
    double spin = spin_about_z(state_of(&y));
    cr_expect_float_eq(spin, due, 1e-3 * fabs(due), "%g rad/s, due %g", spin, due);
    yard_end(&y);
}

/* Its line of contact is the axis about which it turns, and goes round the tip at omega tan(half angle). */
Test(rolling, cone_goes_round_its_tip_and_keeps_its_energy) {
    static const char *const solver[] = {"nsn", "incp", "sap"};
    for (int k = 0; k < 3; k++) {
        roller b = cone(5);
        outcome o = run(&b, solver[k], SIM_MIDPOINT, 5e-4, span_of(2, 1));
        double due = 5 * b.cone[0] / b.cone[1];
        cr_expect_lt(o.gained, 1e-4 * o.fastest, "%s: %g of %g J", solver[k], o.gained, o.fastest);
        cr_expect_float_eq(fabs(o.rate), due, 1e-3 * due, "%s: %g rad/s, due %g", solver[k], o.rate, due);
    }
}

/* A ring that stands upright on a band of 0.2 mm. */
Test(rolling, upright_ring_keeps_its_energy) {
    static const char *const solver[] = {"nsn", "sap"};
    for (int k = 0; k < 2; k++) {
        roller b = torus(M_PI / 2, 6);
        outcome o = run(&b, solver[k], SIM_MIDPOINT, 5e-4, span_of(10, 4));
        cr_expect_lt(o.gained, 1e-4 * o.fastest, "%s: %g of %g J", solver[k], o.gained, o.fastest);
    }
}

/* By the near-rigid law the gap of a stone that rattles swings by the error of the scheme.  The correction of positions
 * ends it as promised from either side: pushed out alone, and never back, the stone would gain energy all the time. */
Test(rolling, rattleback_by_the_near_rigid_law_keeps_its_energy) {
    roller stone = rattleback();
    outcome o = run(&stone, "sap", SIM_MIDPOINT, 1e-3, 2);
    cr_expect_lt(o.gained, 0.01 * o.fastest, "%g of %g J", o.gained, o.fastest);
}

/* Spun against its sense it rattles, stops and turns back: the end of its spin is that of the rolling equations. */
Test(rolling, rattleback_turns_back_as_the_rolling_equations_say) {
    roller stone = rattleback();
    double step = 5e-4, turns_back = INFINITY, due_back = INFINITY;
    moving exact = {stone.start, stone.omega};
    yard y = put_down(&stone, "canal", SIM_MIDPOINT, step);
    double first = energy_of(&y);
    for (int k = 1; k <= 12000; k++) {
        yard_step(&y);
        exact = roll_exactly(&stone, exact, step, 2);
        turns_back = spin_about_z(state_of(&y)) > 0 ? fmin(turns_back, k * step) : turns_back;
        due_back = spin_about_z(exact) > 0 ? fmin(due_back, k * step) : due_back;
    }
    double end = spin_about_z(state_of(&y)), due = spin_about_z(exact);
    double swing = 0.06; /* s, a period of the rattle: which swing is the first to pass zero is not settled */
    cr_expect_float_eq(turns_back, due_back, 2 * swing, "turns back at %g s, due %g", turns_back, due_back);
    cr_expect_float_eq(end, due, 0.01 * due, "spins at %g rad/s, due %g", end, due);
    cr_expect_lt(fabs(energy_of(&y) - first), 1e-4 * first, "%g of %g J", energy_of(&y) - first, first);
    yard_end(&y);
}

/* A ball slides over another one, which lies on a plate: the plate is slow, touches no fast body, and stays where a step
 * begins.  It does not matter for what the world was used before. */
Test(rolling, over_a_slow_plate_has_the_same_bits_in_a_world_that_was_used) {
    enum { STEPS = 20 };
    yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
    yard_ground(&y);
    yard_add(&y, "plate", SIM_BOX, 0.4, 0.4, 0.1, 5, v3_make(0, 0, 0.05), v3_make(0, 0, 0));
    yard_add(&y, "ball", SIM_SPHERE, 0.1, 0, 0, 5, v3_make(0, 0, 0.2), v3_make(0, 0, 0));
    yard_add(&y, "fast", SIM_SPHERE, 0.05, 0, 0, 1, v3_make(0, 0, 0.35), v3_make(0.5, 0, 0));
    yard_open(&y, "auto", SIM_MIDPOINT, 1e-3);
    size_t size = (size_t)y.model->nq * sizeof(double);
    double *first = malloc(size);
    for (int run = 0; run < 2; run++) {
        sim_world_start(y.world, -1);
        for (int k = 0; k < STEPS; k++) {
            yard_step(&y);
        }
        if (run == 0) {
            memcpy(first, sim_world_state(y.world)->q, size);
            /* the plate is thrown away from under the balls */
            sim_state state = *sim_world_state(y.world);
            double *v = calloc((size_t)y.model->nv, sizeof *v);
            v[0] = 30;
            v[2] = 30;
            state.v = v;
            cr_assert_eq(sim_world_set_state(y.world, &state, NULL), SIM_OK);
            for (int k = 0; k < STEPS; k++) {
                yard_step(&y);
            }
            free(v);
        }
    }
    cr_expect(memcmp(first, sim_world_state(y.world)->q, size) == 0);
    free(first);
    yard_end(&y);
}
