/* Ground that moves: a half-space on a body carries as a slab with the same top does.  Where it begins to turn no step
 * jumps.  Turntables carry loads and balls as closed forms have it. */
#include "math/v3.h"
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <float.h>
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
           fine = is_part() ? 0 : load_error(belt, type, solver, integrator, dt / 2);
    cr_expect_lt(coarse, 0.1 * creep, "%s, integrator %d, belt %d: %g m", solver, integrator, belt, coarse);
    cr_expect_lt(fine, strcmp(solver, "sap") ? 0.35 * coarse : 0.1 * creep / 2,
                 "%s, integrator %d, belt %d: %g m, then %g m", solver, integrator, belt, coarse, fine);
}

Test(moving_ground, loads_stay_at_their_place_on_a_turntable) {
    const sim_integrator integrators[] = {SIM_MIDPOINT, SIM_MOREAU, SIM_SYMPLECTIC_EULER, SIM_IMPLICIT_EULER};
    const char *const solvers[] = {"auto", "pgs", "canal", "sap"};
    for (int k = 0; k < 4; k++) {
        sim_shape_type type = k % 2 ? SIM_CYLINDER : SIM_BOX;
        for (int belt = 0; belt < part_of(2); belt++) {
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
    for (int k = 0; k < part_of(3); k++) {
        double error = wall_error(solvers[k], integrators[k], dt);
        cr_expect_lt(error, 0.05 * creep, "%s, integrator %d: %g", solvers[k], integrators[k], error);
    }
}

/* The place of such a contact is one of both bodies at both ends of the step. */
/* Two rows of cubes: the disc and each of the lower row touch three others or more, and carry their contacts. */
static yard low_wall_on_turntable(void) {
    yard y = turntable(false, TURNTABLE_SPIN);
    double edge = 0.1;
    for (int k = 0; k < 5; k++) {
        char name[16];
        int row = k / 3, place = k % 3;
        snprintf(name, sizeof name, "box%d", k);
        add_turning_cube(&y, name, edge,
                         v3_make(WALL_RADIUS, (place - 0.5 * (2 - row)) * 1.0002 * edge, (row + 0.5) * edge));
    }
    return y;
}

/* The end of a step from a state whose place is moved along x, or whose velocity changes by it. */
static void end_from(yard *y, const sim_state *from, const double *x, bool by_v, double *q, double *v) {
    sim_state start = *from;
    int nq = y->model->nq, nv = y->model->nv;
    double *moved = malloc((size_t)(nq + nv) * sizeof *moved), *rate = moved + nq;
    memcpy(moved, from->q, (size_t)nq * sizeof *moved);
    memcpy(rate, from->v, (size_t)nv * sizeof *rate);
    if (by_v) {
        for (int j = 0; j < nv; j++) {
            rate[j] += x[j];
        }
    } else {
        sim_advance(y->model, sim_all(y->model), from->q, x, 1, moved);
    }
    start.q = moved;
    start.v = rate;
    sim_error error = {0};
    cr_assert_eq(sim_world_set_state(y->world, &start, &error), SIM_OK, "%s", error.text);
    yard_step(y);
    memcpy(q, sim_world_state(y->world)->q, (size_t)nq * sizeof *q);
    memcpy(v, sim_world_state(y->world)->v, (size_t)nv * sizeof *v);
    free(moved);
}

/* (f(h) - f(-h)) / 2 h of the end by dof j, tangent of q first. */
static void difference_by(yard *y, const sim_state *from, int j, bool by_v, double h, double *column) {
    int nq = y->model->nq, nv = y->model->nv;
    double *room = calloc((size_t)(2 * nq + 4 * nv), sizeof *room), *q[2] = {room, room + nq},
           *v[2] = {room + 2 * nq, room + 2 * nq + nv}, *x = v[1] + nv, *apart = x + nv;
    for (int side = 0; side < 2; side++) {
        x[j] = side ? h : -h;
        end_from(y, from, x, by_v, q[side], v[side]);
    }
    sim_difference(y->model, sim_all(y->model), q[0], q[1], apart);
    for (int i = 0; i < nv; i++) {
        column[i] = apart[i] / (2 * h);
        column[nv + i] = (v[1][i] - v[0][i]) / (2 * h);
    }
    free(room);
}

/* Flat faces are at a kink, so the cubes are turned a little first.  Columns whose differences of two widths part
 * by more than rounding are at another one. */
Test(moving_ground, derivatives_by_contacts_that_are_carried_equal_differences) {
    const sim_integrator integrators[] = {SIM_MIDPOINT, SIM_SYMPLECTIC_EULER, SIM_MOREAU, SIM_IMPLICIT_EULER};
    const double width = 2e-8, rounding = DBL_EPSILON / (2 * width); /* of a difference of coordinates up to 1 */
    for (int scheme = 0; scheme < 4; scheme++) {
        sim_error error = {0};
        yard y = low_wall_on_turntable();
        y.tolerance = 1e-13;
        yard_open(&y, "sap", integrators[scheme], 2e-3);
        int nq = y.model->nq, nv = y.model->nv, compared = 0;
        double *x = calloc((size_t)(2 * nq + 6 * nv), sizeof *x), *q = x + nv, *v = q + 2 * nq, *wide = v + nv,
               *narrow = wide + 2 * nv;
        for (int k = 0; k < 20; k++) {
            yard_step(&y);
        }
        random_source r = {7};
        for (int j = 1; j < nv; j++) {
            x[j] = random_uniform(&r, -2e-6, 2e-6);
        }
        sim_snapshot *kept = sim_snapshot_create(y.world, &error);
        cr_assert(kept, "%s", error.text);
        sim_advance(y.model, sim_all(y.model), sim_snapshot_state(kept)->q, x, 1, q);
        memset(x, 0, (size_t)nv * sizeof *x);
        sim_state from = *sim_snapshot_state(kept);
        from.q = q;
        /* the derivative of the step from there */
        double *by_state = calloc((size_t)(4 * nv * nv), sizeof *by_state);
        sim_step_derivatives *work = sim_step_derivatives_create(y.model, &error);
        cr_assert(work && by_state, "%s", error.text);
        sim_step_jacobian out = {.by_state = by_state};
        end_from(&y, &from, x, false, q + nq, v);
        cr_assert_eq(sim_world_step_derivatives(y.world, work, &out, &error), SIM_OK, "%s", error.text);
        for (int column = is_part() ? scheme : 0; column < 2 * nv; column += is_part() ? 7 : 1) {
            difference_by(&y, &from, column % nv, column >= nv, 2 * width, wide);
            difference_by(&y, &from, column % nv, column >= nv, width, narrow);
            double size[2] = {0, 0}, part[2] = {0, 0}, off[2] = {0, 0};
            for (int i = 0; i < 2 * nv; i++) {
                int of = i >= nv;
                size[of] = fmax(size[of], fabs(narrow[i]));
                part[of] = fmax(part[of], fabs(wide[i] - narrow[i]));
                off[of] = fmax(off[of], fabs(by_state[(ptrdiff_t)i * 2 * nv + column] - narrow[i]));
            }
            bool smooth = part[0] <= 1e-4 * size[0] && part[1] <= 1e-4 * size[1];
            compared += smooth;
            for (int of = 0; of < 2 && smooth; of++) {
                cr_expect(off[of] <= 2e-6 * size[of] + 2 * part[of] + rounding,
                          "scheme %d, column %d: %g of %g, %g apart", scheme, column, off[of], size[of], part[of]);
            }
        }
        cr_expect(compared > 2 * nv * 2 / 3 || is_part(), "scheme %d: %d of %d", scheme, compared, 2 * nv);
        sim_step_derivatives_free(work);
        sim_snapshot_free(kept);
        free(by_state);
        free(x);
        yard_end(&y);
    }
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
