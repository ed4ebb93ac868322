/* Checkpoints: a world that is restarted from one continues with the same bits. */
#include "record/fixture.h"
#include "support/step_info.h"
#include "support/worlds.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

Test(checkpoint, goes_on_with_the_same_bits_under_every_integrator) {
    for (int k = 0; k < SIM_INTEGRATORS; k++) {
        fixture f = fixture_open("arm");
        sim_world_free(f.world);
        f.scene->options.integrator = (sim_integrator)k;
        f.world = sim_world_create(f.scene->model, &f.scene->options, NULL);
        steps(&f, 37);
        keep_checkpoint(&f, "a.state");
        steps(&f, 61);
        sim_error error;
        sim_world *other = sim_world_create(f.scene->model, &f.scene->options, NULL);
        cr_assert_eq(sim_checkpoint_read(file_in(&f, "a.state"), f.scene, other, &error), SIM_OK, "%s", error.text);
        for (int n = 0; n < 61; n++) {
            cr_assert_eq(sim_world_step(other, &error), SIM_OK);
        }
        cr_expect(sim_state_same(f.scene->model, sim_world_state(f.world), sim_world_state(other)), "%s",
                  sim_integrator_name((sim_integrator)k));
        sim_world_free(other);
        fixture_close(&f);
    }
}

/* A second world from the checkpoint, with that many threads (0: as the scene says). */
static sim_world *read_again(fixture *f, int threads) {
    sim_options options = f->scene->options;
    options.threads = threads ? threads : options.threads;
    sim_error error;
    sim_world *other = sim_world_create(f->scene->model, &options, NULL);
    cr_assert_eq(sim_checkpoint_read(file_in(f, "a.state"), f->scene, other, &error), SIM_OK, "%s", error.text);
    cr_expect(sim_state_same(f->scene->model, sim_world_state(f->world), sim_world_state(other)));
    return other;
}

/* Both worlds take these steps and end with the same bits. */
static void go_on_alike(fixture *f, sim_world *other, int count) {
    sim_error error;
    steps(f, count);
    for (int n = 0; n < count; n++) {
        cr_assert_eq(sim_world_step(other, &error), SIM_OK, "%s", error.text);
    }
    cr_expect(sim_state_same(f->scene->model, sim_world_state(f->world), sim_world_state(other)));
    sim_world_free(other);
}

Test(checkpoint, holds_contacts_and_impulses_so_that_a_pile_goes_on_with_the_same_bits) {
    fixture f = fixture_open("pile");
    steps(&f, 100);
    cr_assert_gt(sim_world_state(f.world)->ncontact, 20);
    keep_checkpoint(&f, "a.state");
    go_on_alike(&f, read_again(&f, 2), 100);
    fixture_close(&f);
}

/* And on through what wakes them. */
Test(checkpoint, holds_who_sleeps_so_that_a_pile_goes_on_with_the_same_bits) {
    const int kept_at[] = {250, 420};
    for (int k = 0; k < 2; k++) {
        fixture f = fixture_open("pile");
        sim_error error;
        sim_model *m = f.scene->model;
        sim_world_free(f.world);
        f.scene->options.sleep = 1;
        f.scene->options.sleep_speed = 0.05;
        f.scene->options.sleep_time = 0.1;
        f.world = sim_world_create(m, &f.scene->options, NULL);
        steps(&f, kept_at[k]);
        cr_expect_gt(sim_world_info(f.world)->asleep, 4);
        keep_checkpoint(&f, "a.state");
        sim_world *other = sim_world_create(m, &f.scene->options, NULL);
        cr_assert_eq(sim_checkpoint_read(file_in(&f, "a.state"), f.scene, other, &error), SIM_OK, "%s", error.text);
        for (int n = 0; n < 200; n++) {
            sim_world_applied(f.world)[2] = sim_world_applied(other)[2] = n < 100 ? 0 : 50;
            steps(&f, 1);
            cr_assert_eq(sim_world_step(other, &error), SIM_OK, "%s", error.text);
            const sim_state *a = sim_world_state(f.world), *b = sim_world_state(other);
            cr_assert(sim_state_same(m, a, b) && !memcmp(a->rest, b->rest, (size_t)m->ntree * sizeof *a->rest), "%d",
                      n);
            cr_assert(step_info_equals(sim_world_info(f.world), sim_world_info(other)));
        }
        f.scene->options.sleep_speed = 0.06;
        sim_world *slower = sim_world_create(m, &f.scene->options, NULL);
        refuse_checkpoint(&f, "a.state", slower, "other options");
        sim_world_free(slower);
        f.scene->options.sleep = 0;
        sim_world *without = sim_world_create(m, &f.scene->options, NULL);
        refuse_checkpoint(&f, "a.state", without, "with bodies that may sleep");
        sim_world_free(without);
        sim_world_free(other);
        fixture_close(&f);
    }
}

Test(checkpoint, holds_what_ranges_and_constraints_gave_so_that_a_linkage_goes_on_with_the_same_bits) {
    fixture f = fixture_open("linkage");
    steps(&f, 137);
    cr_assert_neq(sim_world_state(f.world)->held[0], 0);
    cr_assert_neq(sim_world_state(f.world)->joint_impulse[2], 0);
    cr_assert_neq(sim_world_state(f.world)->effort[0], 0);
    keep_checkpoint(&f, "a.state");
    go_on_alike(&f, read_again(&f, 0), 50);
    fixture_close(&f);
}

Test(checkpoint, holds_inputs_and_activations_so_that_drives_go_on_with_the_same_bits) {
    fixture f = fixture_open("drives");
    sim_world_inputs(f.world, SIM_CTRL)[1] = 0.8;
    steps(&f, 53);
    cr_assert_gt(sim_world_state(f.world)->activation[1], 0.5);
    keep_checkpoint(&f, "a.state");
    sim_world *other = read_again(&f, 2);
    cr_expect_eq(sim_world_inputs(other, SIM_CTRL)[1], 0.8);
    cr_expect(isnan(sim_world_inputs(other, SIM_CTRL)[0]));
    go_on_alike(&f, other, 100);
    fixture_close(&f);
}

Test(checkpoint, holds_switched_constraints_and_wrenches_so_that_a_grasp_goes_on_with_the_same_bits) {
    fixture f = fixture_open("grasp");
    sim_error error;
    int weld = sim_model_find_equality(f.scene->model, "grasp");
    steps(&f, 30);
    cr_assert_eq(sim_world_switch(f.world, weld, SIM_SWITCH_HOLD, &error), SIM_OK, "%s", error.text);
    sim_world_wrenches(f.world)[1].lin.y = 0.3;
    steps(&f, 30);
    keep_checkpoint(&f, "a.state");
    sim_world *other = read_again(&f, 0);
    cr_expect_eq(sim_world_wrenches(other)[1].lin.y, 0.3);
    go_on_alike(&f, other, 50);
    fixture_close(&f);
}

Test(checkpoint, holds_phases_so_that_a_task_goes_on_with_the_same_bits) {
    static const int kept_at[] = {0, 150, 260, 510};
    for (int k = 0; k < 4; k++) {
        fixture f = fixture_open("phases");
        sim_error error;
        steps(&f, kept_at[k]);
        keep_checkpoint(&f, "a.state");
        sim_options two = f.scene->options;
        two.threads = 2;
        sim_world *other = sim_world_create(f.scene->model, &two, NULL);
        cr_assert_eq(sim_checkpoint_read(file_in(&f, "a.state"), f.scene, other, &error), SIM_OK, "%s", error.text);
        steps(&f, 600 - kept_at[k]);
        for (int n = kept_at[k]; n < 600; n++) {
            cr_assert_eq(sim_world_step(other, &error), SIM_OK, "%s", error.text);
        }
        cr_expect(sim_state_same(f.scene->model, sim_world_state(f.world), sim_world_state(other)), "from step %d",
                  kept_at[k]);
        cr_expect_eq(sim_world_phase(other, 1), 2);
        sim_world_free(other);
        fixture_close(&f);
    }
}
