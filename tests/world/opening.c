/* Opening of rigid constraints: measured where it is known, closed at the rate of the law, and by constraints as they act. */
#include "support/models.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/dynamics.h>
#include <sim/world.h>

static const double GAP = 0.05;  /* m */
static const double STEP = 2e-3; /* s */

/* A free body without weight, tied to the world; its point stands GAP away from where it should be. */
static sim_model *tied_body(sim_equality_type type, double stiffness) {
    sim_builder *b = sim_builder_create();
    sim_body_def def = sim_body_default();
    def.inertia = box_inertia(2, 0.1, 0.2, 0.3);
    sim_builder_gravity(b, (sim_v3){0, 0, 0});
    sim_equality tie = sim_equality_default();
    tie.type = type;
    tie.body[0] = sim_builder_add_body(b, &def);
    tie.stiffness = stiffness;
    tie.distance = type == SIM_DISTANCE ? 0.5 : 0;
    tie.frame[1].p.x = tie.distance + GAP;
    sim_builder_add_equality(b, &tie);
    sim_error error;
    sim_model *m = sim_builder_finish(b, &error);
    cr_assert(m, "%s", error.text);
    return m;
}

static sim_world *world_of(const sim_model *m) {
    sim_options options = sim_options_default();
    options.step = STEP;
    sim_error error;
    sim_world *w = sim_world_create(m, &options, &error);
    cr_assert(w, "%s", error.text);
    return w;
}

/* gap(t) = gap(0) - undo t */
Test(opening, is_the_gap_and_closes_at_the_rate_of_the_law) {
    const sim_equality_type types[] = {SIM_CONNECT, SIM_WELD, SIM_DISTANCE};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        sim_model *m = tied_body(types[k], INFINITY);
        sim_world *w = world_of(m);
        double undo = sim_world_options(w)->law.undo;
        int which = -1, steps = 100;
        cr_expect_float_eq(sim_world_opening(w, &which), GAP, 1e-15);
        cr_expect_eq(which, 0);
        for (int n = 0; n < steps; n++) {
            cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
        }
        double due = GAP - undo * STEP * steps;
        cr_expect_float_eq(sim_world_opening(w, &which), due, 2 * undo * STEP, "%s: %g, not %g",
                           sim_equality_name(types[k]), sim_world_opening(w, &which), due);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* Of several constraints, in whatever order. */
Test(opening, is_that_of_the_widest) {
    for (int widest = 0; widest < 3; widest++) {
        sim_builder *b = sim_builder_create();
        sim_builder_gravity(b, (sim_v3){0, 0, 0});
        for (int k = 0; k < 3; k++) {
            sim_body_def def = sim_body_default();
            def.inertia = box_inertia(2, 0.1, 0.2, 0.3);
            sim_equality tie = sim_equality_default();
            tie.type = SIM_CONNECT;
            tie.body[0] = sim_builder_add_body(b, &def);
            tie.frame[1].p.x = k == widest ? 2 * GAP : GAP;
            sim_builder_add_equality(b, &tie);
        }
        sim_model *m = sim_builder_finish(b, NULL);
        sim_world *w = world_of(m);
        int which = -1;
        cr_expect_float_eq(sim_world_opening(w, &which), 2 * GAP, 1e-15);
        cr_expect_eq(which, widest);
        sim_world_free(w);
        sim_model_free(m);
    }
}

Test(opening, is_that_of_constraints_as_they_act) {
    int which = 0;
    sim_model *m = tied_body(SIM_CONNECT, INFINITY);
    sim_world *w = world_of(m);
    cr_assert_eq(sim_world_switch(w, 0, SIM_SWITCH_OFF, NULL), SIM_OK);
    cr_expect_eq(sim_world_opening(w, &which), 0);
    cr_expect_eq(which, -1);
    cr_assert_eq(sim_world_switch(w, 0, SIM_SWITCH_HOLD, NULL), SIM_OK);
    cr_expect_float_eq(sim_world_opening(w, &which), 0, 1e-15);
    cr_expect_eq(which, 0);
    sim_world_free(w);
    sim_model_free(m);
    /* a soft one is a spring */
    m = tied_body(SIM_CONNECT, 1e4);
    w = world_of(m);
    cr_expect_eq(sim_world_opening(w, &which), 0);
    cr_expect_eq(which, -1);
    sim_world_free(w);
    sim_model_free(m);
}
