/* Bodies that spin fast: energy and angular momentum, at speeds far beyond those that the step resolves. */
#include "support/models.h"
#include "support/share.h"

#include "math/v3.h"

#include <criterion/criterion.h>
#include <math.h>

static const double speeds[] = {50, 200, 2000}, steps[] = {5e-4, 1e-3, 5e-3}; /* rad/s, s */
static const sim_integrator schemes[] = {SIM_MIDPOINT, SIM_SYMPLECTIC_EULER, SIM_MOREAU, SIM_IMPLICIT_EULER};

/* A plate, 5 degrees of wobble off the axis of its greatest moment. */
static v3 wobbling(double speed) {
    double angle = 5 * M_PI / 180;
    return (v3){speed * sin(angle), 0, speed * cos(angle)};
}

static void spin_up(sim_body_def *def, double speed) {
    v3 w = wobbling(speed);
    double *v = def->v + (def->joint == SIM_FREE ? 3 : 0);
    v[0] = w.x;
    v[1] = w.y;
    v[2] = w.z;
}

static sim_body_def plate(sim_joint_type joint, v3 com, double speed) {
    sim_body_def def = sim_body_default();
    def.joint = joint;
    def.inertia = box_inertia(3, 0.2, 0.3, 0.05);
    def.inertia.com = com;
    spin_up(&def, speed);
    return def;
}

typedef enum subject { CENTRED, OFF_CENTRE, WITH_A_LIMB_FIXED, ON_A_BALL_JOINT, ARM, ROTOR, CHAIN, SUBJECTS } subject;
static const char *const names[SUBJECTS] = {
    "plate",        "plate, origin beside it", "plate with a fixed limb", "plate on a ball joint",
    "floating arm", "floating rotor",          "chain of ball joints"};

static void add_limb(sim_builder *builder, int parent, sim_joint_type joint, v3 at, v3 axis, v3 com, double speed) {
    sim_body_def def = sim_body_default();
    def.parent = parent;
    def.joint = joint;
    def.placement.p = at;
    def.axis = axis;
    def.inertia = box_inertia(0.4, 0.2, 0.05, 0.03);
    def.inertia.com = com;
    def.v[0] = speed;
    sim_builder_add_body(builder, &def);
}

static sim_model *make(subject which, double speed) {
    const v3 none = {0, 0, 0}, off = {0.1, 0, 0.1}, x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, none);
    sim_joint_type root = which == ON_A_BALL_JOINT || which == CHAIN ? SIM_BALL : SIM_FREE;
    sim_body_def first = plate(root, which == OFF_CENTRE || which == ON_A_BALL_JOINT ? off : none, speed);
    if (which == ROTOR) {
        first.v[3] = 1;
        first.v[5] = 0;
    }
    sim_builder_add_body(builder, &first);
    if (which == WITH_A_LIMB_FIXED) {
        add_limb(builder, 1, SIM_FIXED, (v3){0.1, 0.15, 0}, x, (v3){0.15, 0, 0}, 0);
    } else if (which == ARM) {
        add_limb(builder, 1, SIM_HINGE, (v3){0.1, 0, 0}, y, (v3){0.1, 0, 0}, 0);
        add_limb(builder, 2, SIM_HINGE, (v3){0.2, 0, 0}, z, (v3){0.1, 0, 0}, 0);
    } else if (which == ROTOR) {
        add_limb(builder, 1, SIM_HINGE, (v3){0, 0, 0.1}, z, none, speed);
    }
    for (int k = 1; which == CHAIN && k < 5; k++) {
        add_limb(builder, k, SIM_BALL, (v3){0, 0, -0.2}, x, (v3){0, 0, -0.1}, 0);
    }
    return sim_builder_finish(builder, NULL);
}

/* Angular momentum about the centre of mass of what floats, about the joint of what hangs. */
static v3 angular(sim_world *w, double mass, int floats) {
    sim_force p = sim_world_momentum(w);
    const sim_derived *d = sim_world_derived(w);
    v3 moment = {0, 0, 0};
    for (int i = 1; i < d->model->nbody; i++) {
        moment = v3_add(moment, v3_axpy(d->I[i].h, d->I[i].mass, d->pose[i].p));
    }
    return floats ? v3_axpy(p.ang, -1 / mass, v3_cross(moment, p.lin)) : p.ang;
}

typedef struct figures {
    double low, high; /* of the energy, over what it was, less 1 */
    double turned;    /* angular momentum: change over size */
    double nonconverged;
} figures;

static figures spin(subject which, sim_integrator integrator, double speed, double step, double duration) {
    sim_model *m = make(which, speed);
    sim_options options = sim_options_default();
    options.integrator = integrator;
    options.step = step;
    options.contacts = 0;
    sim_world *w = sim_world_create(m, &options, NULL);
    int floats = which != ON_A_BALL_JOINT && which != CHAIN;
    double mass = 0, e0 = sim_world_energy(w).kinetic;
    for (int i = 1; i < m->nbody; i++) {
        mass += m->body[i].inertia.mass;
    }
    v3 L0 = angular(w, mass, floats);
    figures f = {0, 0, 0, 0};
    int count = (int)(duration / step + 0.5);
    for (int k = 0; k < count; k++) {
        sim_error error;
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s, %g rad/s, %g s: %s", names[which], speed, step,
                     error.text);
        f.nonconverged += sim_world_info(w)->nonconverged;
        if (k % 10 == 9 || k == count - 1) {
            double e = sim_world_energy(w).kinetic / e0 - 1;
            cr_assert(isfinite(e));
            f.low = fmin(f.low, e);
            f.high = fmax(f.high, e);
            f.turned = fmax(f.turned, v3_norm(v3_sub(angular(w, mass, floats), L0)) / v3_norm(L0));
        }
    }
    sim_world_free(w);
    sim_model_free(m);
    return f;
}

Test(spin, one_rigid_body_keeps_energy_and_angular_momentum_at_any_speed) {
    const double duration = span_of(10, 2); /* s */
    double energy = 0, turned = 0;
    for (subject which = CENTRED; which <= ON_A_BALL_JOINT; which++) {
        for (int k = 0; k < 27; k++) {
            double speed = speeds[k / 9], step = steps[k / 3 % 3];
            figures f = spin(which, schemes[k % 3], speed, step, duration);
            energy = fmax(energy, fmax(f.high, -f.low));
            turned = fmax(turned, f.turned);
            cr_expect(f.high < 1e-9 && f.low > -1e-9 && f.turned < 1e-9 && f.nonconverged == 0,
                      "%s, scheme %d, %g rad/s, %g s: energy %g to %g, angular momentum %g", names[which],
                      schemes[k % 3], speed, step, f.low, f.high, f.turned);
        }
    }
    cr_log_warn("one body, %g s: energy changes by %.1g, angular momentum by %.1g, relative", duration, energy, turned);
}

Test(spin, the_implicit_scheme_never_feeds_what_spins) {
    for (subject which = CENTRED; which < SUBJECTS; which++) {
        for (int k = 0; k < 9; k++) {
            figures f = spin(which, SIM_IMPLICIT_EULER, speeds[k / 3], steps[k % 3], 2);
            cr_expect(f.high < 1e-3, "%s, %g rad/s, %g s: %g", names[which], speeds[k / 3], steps[k % 3], f.high);
        }
    }
}

/* Angular momentum keeps the order of the scheme, not more: its figure stands for steps in which nothing turns by more
 * than 0.1 rad. */
Test(spin, trees_keep_their_energy_at_any_speed) {
    const double duration = span_of(10, 2); /* s */
    for (subject which = ARM; which < SUBJECTS; which++) {
        double energy = 0, turned[3] = {0, 0, 0}, coarse = 0;
        for (int k = 0; k < 27; k++) {
            double speed = speeds[k / 9], step = steps[k / 3 % 3];
            figures f = spin(which, schemes[k % 3], speed, step, duration);
            energy = fmax(energy, fmax(f.high, -f.low));
            turned[k % 3] = speed * step <= 0.1 ? fmax(turned[k % 3], f.turned) : turned[k % 3];
            coarse = f.nonconverged > 0 ? fmax(coarse, f.nonconverged * step / duration) : coarse;
            cr_expect(f.high < 1e-2 && f.low > -1e-2, "%s, scheme %d, %g rad/s, %g s: %g to %g", names[which],
                      schemes[k % 3], speed, step, f.low, f.high);
        }
        cr_log_warn("%s, %g s: energy changes by %.1g; angular momentum by %.1g (midpoint), %.1g (symplectic), %.1g "
                    "(moreau); at "
                    "most %.2g of the steps not converged",
                    names[which], duration, energy, turned[0], turned[1], turned[2], coarse);
    }
}

/* A steady spin of 1 rad a step turns by its angle. */
Test(spin, symplectic_and_moreau_turn_a_steady_spin_by_its_angle) {
    for (int s = 1; s < 3; s++) {
        sim_builder *builder = sim_builder_create();
        sim_body_def def = plate(SIM_FREE, (v3){0, 0, 0}, 0);
        def.v[5] = 200;
        sim_builder_add_body(builder, &def);
        sim_model *m = sim_builder_finish(builder, NULL);
        sim_options options = sim_options_default();
        options.integrator = schemes[s];
        options.step = 5e-3;
        sim_world *w = sim_world_create(m, &options, NULL);
        for (int k = 0; k < 100; k++) {
            cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
        }
        const double *q = sim_world_state(w)->q + 3;
        double half = 50; /* of 100 rad */
        cr_expect(fabs(fabs(q[0]) - fabs(cos(half))) < 1e-12 && fabs(fabs(q[3]) - fabs(sin(half))) < 1e-12, "%g %g",
                  q[0], q[3]);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* ---- order ---- */

typedef struct motion_case {
    subject which;
    double speed;
    int count; /* steps in 0.2 s */
} motion_case;

/* Where a point of the first body is in the end; forces act on all joints. */
static v3 place(const motion_case *c, sim_integrator integrator, int count) {
    sim_model *m = make(c->which, c->speed);
    sim_options options = sim_options_default();
    options.integrator = integrator;
    options.step = 0.2 / count;
    options.tolerance = 1e-13;
    sim_world *w = sim_world_create(m, &options, NULL);
    for (int j = 0; j < m->nv; j++) {
        sim_world_applied(w)[j] = 0.1 * (j % 6 + 1);
    }
    for (int k = 0; k < count; k++) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
    }
    v3 at = sim_point_position(sim_world_derived(w), (sim_point){1, {0.3, 0.1, 0.2}});
    sim_world_free(w);
    sim_model_free(m);
    return at;
}

/* The last two take steps so coarse that their end velocities are projected. */
Test(spin, schemes_keep_their_order_where_bodies_spin) {
    const sim_integrator scheme[] = {SIM_MIDPOINT, SIM_MOREAU, SIM_SYMPLECTIC_EULER, SIM_IMPLICIT_EULER};
    const double due[] = {2, 2, 1, 1};
    const motion_case all[] = {{CENTRED, 50, 1000}, {OFF_CENTRE, 50, 1000}, {ON_A_BALL_JOINT, 50, 1000},
                               {ARM, 12, 1000},     {CHAIN, 2, 1000},       {ARM, 40, 150},
                               {CHAIN, 8, 40}};
    for (int i = 0; i < 7; i++) {
        v3 exact = place(&all[i], SIM_RK4, 8000);
        int projected = i >= 5; /* the implicit scheme then only on one side */
        for (int k = 0; k < 4 - projected; k++) {
            double coarse = v3_norm(v3_sub(place(&all[i], scheme[k], all[i].count), exact));
            double fine = v3_norm(v3_sub(place(&all[i], scheme[k], 2 * all[i].count), exact)),
                   order = log2(coarse / fine);
            cr_log_warn("%s at %g rad/s, scheme %d: order %.2f, error %.2g", names[all[i].which], all[i].speed,
                        scheme[k], order, fine);
            cr_expect(fabs(order - due[k]) < 0.25, "%s at %g rad/s, scheme %d: %g, from %g to %g", names[all[i].which],
                      all[i].speed, scheme[k], order, coarse, fine);
        }
    }
}
