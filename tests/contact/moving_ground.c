/* Ground that moves: a half-space on a body carries as a slab with the same top does, and where it begins to turn no step
 * jumps. */
#include "math/v3.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
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
