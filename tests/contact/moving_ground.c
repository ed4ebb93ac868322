/* Ground that moves: a half-space on a body carries as a slab with the same top does. */
#include "math/v3.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>

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
