/* Ground that moves: a half-space on a body carries as a slab with the same top does.  Where it begins to turn no step
 * jumps.  Turntables carry loads and balls as closed forms have it. */
#include "math/v3.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 200 };

/* A box on ground whose top is at z = 0 and which a spring holds: on a slider along z, or on a hinge under the box. */
static yard open_yard(sim_joint_type joint, sim_shape_type type) {
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(0.6));
    y.tolerance = 1e-12;
    sim_body_def def = sim_body_default();
    def.name = "ground";
    def.joint = joint;
    def.axis = joint == SIM_HINGE ? (sim_v3){0.6, 0.8, 0} : (sim_v3){0, 0, 1};
    def.stiffness[0] = joint == SIM_HINGE ? 300 : 2000;
    def.placement.p.z = -0.1;
    def.inertia = box_inertia(20, 1, 1, 0.2);
    sim_shape ground = sim_shape_default();
    ground.type = type;
    ground.material = y.material;
    ground.body = sim_builder_add_body(y.builder, &def);
    if (type == SIM_HALF_SPACE) {
        ground.pose.p.z = 0.1;
    } else {
        ground.size[0] = ground.size[1] = 2, ground.size[2] = 0.2;
    }
    sim_builder_add_shape(y.builder, &ground);
    yard_add(&y, "box", SIM_BOX, 0.2, 0.3, 0.1, 2, v3_make(0.1, 0, 0.05), v3_make(0, 0, 0));
    yard_open(&y, NULL, SIM_MIDPOINT, 2e-3);
    return y;
}

/* A contact may lie anywhere within the overlap, so the motions differ by less than that. */
static void expect_same_motion(sim_joint_type joint) {
    yard plane = open_yard(joint, SIM_HALF_SPACE), slab = open_yard(joint, SIM_BOX);
    double moved = 0, overlap = 0;
    for (int k = 0; k < STEPS; k++) {
        yard_step(&plane);
        yard_step(&slab);
        cr_assert_eq(sim_world_state(plane.world)->ncontact, 4, "step %d: %d contacts", k,
                     sim_world_state(plane.world)->ncontact);
        v3 a = place_of(&plane, "box"), b = place_of(&slab, "box");
        overlap = fmax(overlap, deepest_overlap(&plane));
        cr_assert_leq(v3_norm(v3_sub(a, b)), overlap, "step %d: %g m apart", k, v3_norm(v3_sub(a, b)));
        moved = fmax(moved, v3_norm(v3_sub(a, v3_make(0.1, 0, 0.05))));
    }
    cr_expect_gt(moved, 100 * overlap);
    yard_end(&plane);
    yard_end(&slab);
}

Test(moving_ground, half_space_that_sinks_carries_as_a_slab_does) { expect_same_motion(SIM_SLIDER); }
Test(moving_ground, half_space_that_tilts_carries_as_a_slab_does) { expect_same_motion(SIM_HINGE); }

/* A capsule that strikes a half-space on a hinge, which turns at `spin` (rad/s): motion of the capsule after the step. */
static sim_motion strike(sim_integrator integrator, sim_m3 R, double height, double spin) {
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(0.5));
    y.tolerance = 1e-14;
    sim_body_def ground = sim_body_default(), capsule = sim_body_default();
    ground.joint = SIM_HINGE;
    ground.axis = (sim_v3){0.6, 0, 0.8};
    ground.v[0] = spin;
    ground.inertia = box_inertia(50, 4, 4, 1);
    capsule.name = "capsule";
    capsule.joint = SIM_FREE;
    capsule.placement = (sim_pose){R, {0, 0, height}};
    capsule.inertia = box_inertia(2, 0.2, 0.3, 0.16);
    const double velocity[6] = {0.5, 0, -1.5, 0.6, -0.5, 0.6};
    memcpy(capsule.v, velocity, sizeof velocity);
    sim_shape plane = sim_shape_default(), round = sim_shape_default();
    plane.type = SIM_HALF_SPACE;
    round.type = SIM_CAPSULE;
    round.size[0] = 0.2, round.size[1] = 0.3;
    plane.material = round.material = y.material;
    plane.body = sim_builder_add_body(y.builder, &ground);
    round.body = sim_builder_add_body(y.builder, &capsule);
    sim_builder_add_shape(y.builder, &plane);
    sim_builder_add_shape(y.builder, &round);
    yard_open(&y, "sap", integrator, 4e-3);
    yard_step(&y);
    cr_assert_gt(sim_world_state(y.world)->ncontact, 0);
    sim_motion after = motion_of(&y, "capsule");
    yard_end(&y);
    return after;
}

Test(moving_ground, strikes_do_not_jump_where_a_half_space_begins_to_turn) {
    random_source r = {1};
    for (int k = 0; k < 100; k++) {
        sim_m3 R = random_rotation(&r);
        double height = 0.2 + 0.15 * fabs(R.z.z) - 1e-3;
        sim_integrator integrator = k % 2 ? SIM_IMPLICIT_EULER : SIM_SYMPLECTIC_EULER;
        sim_motion still = strike(integrator, R, height, 0), turning = strike(integrator, R, height, 1e-9);
        double jump = v3_norm(v3_sub(turning.lin, still.lin)) + v3_norm(v3_sub(turning.ang, still.ang));
        cr_expect_lt(jump, 1e-7, "trial %d: %g", k, jump);
    }
}

/* ---- turntables ---- */

enum { TURNTABLE_SPIN = 2 }; /* rad/s */

/* A disc that turns about z: as a heavy body, or as a surface with a velocity of its own. */
static yard turntable(bool belt, double spin) {
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(0.3));
    sim_body_def def = sim_body_default();
    def.name = "disc";
    def.joint = belt ? SIM_FIXED : SIM_HINGE;
    def.axis = (sim_v3){0, 0, 1};
    def.v[0] = belt ? 0 : spin;
    def.inertia = box_inertia(1e6, 2, 2, 0.2);
    sim_shape disc = sim_shape_default();
    disc.type = SIM_CYLINDER;
    disc.size[0] = 1, disc.size[1] = 0.2;
    disc.pose.p.z = -0.1;
    disc.material = y.material;
    disc.surface_spin.z = belt ? spin : 0;
    disc.body = sim_builder_add_body(y.builder, &def);
    sim_builder_add_shape(y.builder, &disc);
    return y;
}

/* A free body of one shape, with this motion. */
static void put_on_turntable(yard *y, sim_shape_type type, v3 at, v3 v, v3 spin) {
    sim_body_def def = sim_body_default();
    def.name = "load";
    def.joint = SIM_FREE;
    def.placement.p = at;
    const double velocity[6] = {v.x, v.y, v.z, spin.x, spin.y, spin.z};
    memcpy(def.v, velocity, sizeof velocity);
    /* of a ball m edge^2 / 6 = 2/5 m r^2 */
    double edge = sqrt(2.4) * at.z;
    def.inertia =
        type == SIM_SPHERE ? box_inertia(1, edge, edge, edge) : box_inertia(0.1, 4 * at.z, 4 * at.z, 2 * at.z);
    sim_shape shape = sim_shape_default();
    shape.type = type;
    double half = at.z; /* it stands on z = 0 */
    shape.size[0] = type == SIM_SPHERE ? half : type == SIM_CYLINDER ? 3 * half : 2 * half;
    shape.size[1] = shape.size[2] = 2 * half;
    shape.material = y->material;
    shape.body = sim_builder_add_body(y->builder, &def);
    sim_builder_add_shape(y->builder, &shape);
}

/* The error of the place of a load that stands on the disc, after `time`, m. */
static double load_error(bool belt, sim_shape_type type, const char *solver, sim_integrator integrator, double dt) {
    yard y = turntable(belt, TURNTABLE_SPIN);
    double r = 0.3, time = 1;
    put_on_turntable(&y, type, v3_make(r, 0, 0.03), v3_make(0, r * TURNTABLE_SPIN, 0), v3_make(0, 0, TURNTABLE_SPIN));
    yard_open(&y, solver, integrator, dt);
    for (int k = 0; k < (int)lround(time / dt); k++) {
        yard_step(&y);
    }
    double angle = TURNTABLE_SPIN * time;
    v3 due = v3_make(r * cos(angle), r * sin(angle), place_of(&y, "load").z);
    double error = v3_norm(v3_sub(place_of(&y, "load"), due));
    yard_end(&y);
    return error;
}

/* Is the error of the second order in the step, and little beside a creep outwards?  Levers of the start of a step make
 * that w^2 dt t of the radius.  Static friction of `sap` creeps by its law, in another order. */
static void expect_no_creep(bool belt, sim_shape_type type, const char *solver, sim_integrator integrator) {
    double dt = 2e-3, creep = 0.3 * TURNTABLE_SPIN * TURNTABLE_SPIN * dt;
    double coarse = load_error(belt, type, solver, integrator, dt),
           fine = load_error(belt, type, solver, integrator, dt / 2);
    cr_expect_lt(coarse, 0.1 * creep, "%s, integrator %d, belt %d: %g m", solver, integrator, belt, coarse);
    cr_expect_lt(fine, strcmp(solver, "sap") ? 0.35 * coarse : 0.1 * creep / 2,
                 "%s, integrator %d, belt %d: %g m, then %g m", solver, integrator, belt, coarse, fine);
}

Test(moving_ground, loads_stay_at_their_place_on_a_turntable) {
    const sim_integrator integrators[] = {SIM_MIDPOINT, SIM_MOREAU, SIM_SYMPLECTIC_EULER, SIM_IMPLICIT_EULER};
    const char *const solvers[] = {"auto", "pgs", "canal", "sap"};
    for (int k = 0; k < 4; k++) {
        sim_shape_type type = k % 2 ? SIM_CYLINDER : SIM_BOX;
        for (int belt = 0; belt < 2; belt++) {
            expect_no_creep(belt, type, "auto", integrators[k]);
            expect_no_creep(belt, type, solvers[k], SIM_MIDPOINT);
        }
    }
}

enum { WALL_ROWS = 3, WALL_LENGTH = 4 };
static const double WALL_RADIUS = 0.5; /* m */

/* A cube at `at` that moves with the disc. */
static void add_turning_cube(yard *y, const char *name, double edge, v3 at) {
    sim_body_def def = sim_body_default();
    def.name = name;
    def.joint = SIM_FREE;
    def.placement.p = at;
    def.v[0] = -TURNTABLE_SPIN * at.y;
    def.v[1] = TURNTABLE_SPIN * at.x;
    def.v[5] = TURNTABLE_SPIN;
    def.inertia = box_inertia(0.5, edge, edge, edge);
    sim_shape shape = sim_shape_default();
    shape.type = SIM_BOX;
    shape.size[0] = shape.size[1] = shape.size[2] = edge;
    shape.material = y->material;
    shape.body = sim_builder_add_body(y->builder, &def);
    sim_builder_add_shape(y->builder, &shape);
}

/* A wall of cubes on the disc, which turn with it.  Those in the middle touch four others.  `at`: where they are. */
static yard wall_on_turntable(v3 at[WALL_ROWS * WALL_LENGTH], int *count) {
    yard y = turntable(false, TURNTABLE_SPIN);
    double edge = 0.1;
    *count = 0;
    for (int row = 0; row < WALL_ROWS; row++) {
        for (int k = 0; k < WALL_LENGTH - row; k++) {
            char name[16];
            v3 x = v3_make(WALL_RADIUS, (k - 0.5 * (WALL_LENGTH - row - 1)) * edge, (row + 0.5) * edge);
            snprintf(name, sizeof name, "box%d", *count);
            add_turning_cube(&y, name, edge, x);
            at[(*count)++] = x;
        }
    }
    return y;
}

/* The greatest way of a cube of the wall over the disc, of its distance from the axis. */
static double wall_error(const char *solver, sim_integrator integrator, double dt) {
    v3 at[WALL_ROWS * WALL_LENGTH];
    int count;
    double time = 1, most = 0;
    yard y = wall_on_turntable(at, &count);
    yard_open(&y, solver, integrator, dt);
    for (int k = 0; k < (int)lround(time / dt); k++) {
        yard_step(&y);
    }
    double c = cos(TURNTABLE_SPIN * time), s = sin(TURNTABLE_SPIN * time);
    for (int k = 0; k < count; k++) {
        char name[16];
        snprintf(name, sizeof name, "box%d", k);
        v3 x = place_of(&y, name), due = v3_make(c * at[k].x - s * at[k].y, s * at[k].x + c * at[k].y, x.z);
        most = fmax(most, v3_norm(v3_sub(x, due)) / WALL_RADIUS);
    }
    yard_end(&y);
    return most;
}

/* Levers of the start of a step let the wall go outwards by w^2 dt t of its radius. */
Test(moving_ground, walls_of_boxes_stay_at_their_place_on_a_turntable) {
    double dt = 2e-3, creep = TURNTABLE_SPIN * TURNTABLE_SPIN * dt;
    const sim_integrator integrators[] = {SIM_MIDPOINT, SIM_SYMPLECTIC_EULER, SIM_MIDPOINT};
    const char *const solvers[] = {"auto", "auto", "sap"};
    for (int k = 0; k < 3; k++) {
        double error = wall_error(solvers[k], integrators[k], dt);
        cr_expect_lt(error, 0.05 * creep, "%s, integrator %d: %g", solvers[k], integrators[k], error);
    }
}

/* The place of such a contact is one of both bodies at both ends of the step. */
Test(moving_ground, derivatives_by_contacts_that_are_carried_are_refused) {
    v3 at[WALL_ROWS * WALL_LENGTH];
    int count;
    sim_error error = {0};
    yard y = wall_on_turntable(at, &count);
    yard_open(&y, NULL, SIM_MIDPOINT, 2e-3);
    for (int k = 0; k < 20; k++) {
        yard_step(&y);
    }
    int n = y.model->nv;
    double *by_state = calloc((size_t)(4 * n * n), sizeof *by_state);
    sim_step_derivatives *work = sim_step_derivatives_create(y.model, &error);
    cr_assert(work && by_state, "%s", error.text);
    sim_step_jacobian out = {.by_state = by_state};
    cr_expect_neq(sim_world_step_derivatives(y.world, work, &out, &error), SIM_OK);
    cr_expect(strstr(error.text, "carry along"), "%s", error.text);
    sim_step_derivatives_free(work);
    free(by_state);
    yard_end(&y);
}

/* A disc that speeds up at 1 rad/s^2 from rest carries a round plate along, while other corners of its round face touch
 * in turns.  The scale of an error of the second order is r (w dt)^2 w t. */
Test(moving_ground, round_plates_stay_at_their_place_on_a_turntable_that_speeds_up) {
    const char *const solvers[] = {"auto", "pgs"};
    double r = 0.4, dt = 2e-3, time = 2, w = time;
    for (int k = 0; k < 2; k++) {
        yard y = turntable(false, 0);
        put_on_turntable(&y, SIM_CYLINDER, v3_make(r, 0, 0.01), v3_make(0, 0, 0), v3_make(0, 0, 0));
        yard_open(&y, solvers[k], SIM_MIDPOINT, dt);
        sim_sym3 moment = y.model->body[sim_model_find_body(y.model, "disc")].inertia.moment;
        sim_world_applied(y.world)[0] = moment.zz;
        for (int n = 0; n < (int)lround(time / dt); n++) {
            yard_step(&y);
        }
        double angle = sim_world_state(y.world)->q[0];
        cr_expect_float_eq(angle, 0.5 * time * time, 1e-4);
        v3 at = place_of(&y, "load"), due = v3_make(r * cos(angle), r * sin(angle), at.z);
        double error = v3_norm(v3_sub(at, due)), second = r * w * w * dt * dt * w * time;
        cr_expect_lt(error, second, "%s: %g m, not %g", solvers[k], error, second);
        yard_end(&y);
    }
}

/* A ball that rolls on a turntable goes round a circle of the space, 2/7 as fast as the disc turns (Earnshaw 1844):
 * m dv/dt = F, 2/5 m r^2 dw/dt = -r z x F and v - w x r z = W z x x give dv/dt = 2/7 W z x v. */
static double rolling_error(bool belt, double dt) {
    yard y = turntable(belt, TURNTABLE_SPIN);
    double r = 0.1, W = TURNTABLE_SPIN, time = 2;
    v3 x = v3_make(0.5, 0.1, r), v = v3_make(0.2, 0.3, 0);
    put_on_turntable(&y, SIM_SPHERE, x, v, v3_make((W * x.x - v.y) / r, (v.x + W * x.y) / r, 0));
    yard_open(&y, NULL, SIM_MIDPOINT, dt);
    for (int k = 0; k < (int)lround(time / dt); k++) {
        yard_step(&y);
    }
    double w = 2 * W / 7, c = cos(w * time), s = sin(w * time);
    v3 due = v3_make(x.x + (v.x * s - v.y * (1 - c)) / w, x.y + (v.x * (1 - c) + v.y * s) / w, r);
    double error = v3_norm(v3_sub(place_of(&y, "load"), due));
    yard_end(&y);
    return error;
}

Test(moving_ground, balls_circle_on_a_turntable_at_two_sevenths_of_its_rate) {
    for (int belt = 0; belt < 2; belt++) {
        double coarse = rolling_error(belt, 2e-3), fine = rolling_error(belt, 1e-3);
        cr_expect_lt(coarse, 1e-3, "%g m", coarse);
        cr_expect_lt(fine, 0.35 * coarse + 1e-6, "belt %d: %g m, of the second order of %g", belt, fine, coarse);
    }
}
