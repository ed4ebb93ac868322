/* Orders of accuracy, measured by halving the step against a fine reference. */
#include "support/models.h"

#include "math/v3.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

typedef enum problem { SWINGING_ARM, LINEAR_SPRING } problem;

static sim_model *make(problem which) {
    random_source r = {5};
    sim_builder *builder = sim_builder_create();
    for (int i = 0; i < 3; i++) {
        sim_body_def def = sim_body_default();
        def.parent = i;
        def.inertia = random_inertia(&r);
        def.placement = (sim_pose){random_rotation(&r), {0.2, 0, 0.1}};
        if (which == LINEAR_SPRING) {
            def.joint = SIM_SLIDER;
            def.placement.R = m3_identity(); /* parallel sliders: no velocity-dependent force */
            def.stiffness[0] = 40;
            def.q[0] = 0.1 * (i + 1);
        } else {
            def.joint = i == 1 ? SIM_BALL : SIM_HINGE;
            def.stiffness[0] = def.stiffness[1] = def.stiffness[2] = 2;
            def.damping[0] = 0.1;
            def.v[0] = 3;
            def.v[2] = -2;
        }
        sim_builder_add_body(builder, &def);
    }
    return sim_builder_finish(builder, NULL);
}

/* Where a point of the last body is after 0.8 s. */
static v3 end_point(problem which, sim_integrator integrator, int steps) {
    sim_model *m = make(which);
    sim_options options = sim_options_default();
    options.integrator = integrator;
    options.step = 0.8 / steps;
    options.tolerance = 1e-13;
    sim_world *w = sim_world_create(m, &options, NULL);
    sim_error error;
    for (int k = 0; k < steps; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
    }
    v3 at = sim_point_position(sim_world_derived(w), (sim_point){3, {0.3, 0.1, 0.2}});
    sim_world_free(w);
    sim_model_free(m);
    return at;
}

static double order(problem which, sim_integrator integrator, int steps) {
    v3 exact = end_point(which, SIM_RK4, 16000);
    double coarse = v3_norm(v3_sub(end_point(which, integrator, steps), exact));
    double fine = v3_norm(v3_sub(end_point(which, integrator, 2 * steps), exact));
    return log2(coarse / fine);
}

static void expect_order(problem which, sim_integrator integrator, int steps, double expected) {
    double measured = order(which, integrator, steps);
    cr_log_warn("%s, %s: order %.3f", which == SWINGING_ARM ? "arm with springs" : "sliders on springs",
                sim_integrator_name(integrator), measured);
    cr_expect(fabs(measured - expected) < 0.1, "%s: %g", sim_integrator_name(integrator), measured);
}

Test(order, euler_1_midpoint_2_runge_kutta_4_on_an_arm) {
    expect_order(SWINGING_ARM, SIM_SYMPLECTIC_EULER, 3200, 1);
    expect_order(SWINGING_ARM, SIM_IMPLICIT_EULER, 3200, 1);
    expect_order(SWINGING_ARM, SIM_MIDPOINT, 800, 2);
    expect_order(SWINGING_ARM, SIM_MOREAU, 3200, 1);
    expect_order(SWINGING_ARM, SIM_RK4, 200, 4);
}

Test(order, moreau_is_of_order_2_where_no_force_depends_on_velocity) {
    expect_order(LINEAR_SPRING, SIM_MOREAU, 800, 2);
    expect_order(LINEAR_SPRING, SIM_MIDPOINT, 800, 2);
    expect_order(LINEAR_SPRING, SIM_SYMPLECTIC_EULER, 3200, 1);
}
