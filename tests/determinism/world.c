/* Steps of a world: the same bits for any number of threads and from a copied state. */
#include "support/models.h"
#include "support/step_info.h"
#include "support/worlds.h"

#include <criterion/criterion.h>
#include <sim/scene.h>
#include <stdio.h>
#include <string.h>

Test(world, any_number_of_threads_gives_the_same_bits) {
    for (int integrator = 0; integrator < SIM_INTEGRATORS; integrator++) {
        random_source r = {60 + (uint64_t)integrator};
        sim_model *m = random_forest(&r, 60);
        sim_world *one = open_world(m, (sim_integrator)integrator, 1e-3, 1);
        sim_world *three = open_world(m, (sim_integrator)integrator, 1e-3, 3);
        run_world(one, 50);
        run_world(three, 50);
        cr_expect(sim_state_same(m, sim_world_state(one), sim_world_state(three)), "%s",
                  sim_integrator_name((sim_integrator)integrator));
        cr_expect(step_info_equals(sim_world_info(one), sim_world_info(three)));
        sim_world_free(one);
        sim_world_free(three);
        sim_model_free(m);
    }
}

Test(world, a_copied_state_steps_to_the_same_bits) {
    for (int integrator = 0; integrator < SIM_INTEGRATORS; integrator++) {
        random_source r = {70 + (uint64_t)integrator};
        sim_model *m = random_forest(&r, 30);
        sim_world *first = open_world(m, (sim_integrator)integrator, 1e-3, 1);
        sim_world *second = open_world(m, (sim_integrator)integrator, 1e-3, 1);
        run_world(first, 37);
        sim_world_energy(first); /* looking must not change anything */
        cr_assert_eq(sim_world_set_state(second, sim_world_state(first), NULL), SIM_OK);
        run_world(first, 20);
        run_world(second, 20);
        cr_expect(sim_state_same(m, sim_world_state(first), sim_world_state(second)));
        sim_world_free(first);
        sim_world_free(second);
        sim_model_free(m);
    }
}

Test(world, that_starts_again_is_as_new_with_contacts_tendons_muscles_and_sensors) {
    const char *const scenes[] = {"contact/cards", "articulated/tendon_finger", "articulated/muscle_arm",
                                  "articulated/sensors"};
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        char path[64];
        snprintf(path, sizeof path, "scenes/%s.json", scenes[k]);
        sim_scene *scene = sim_scene_load(path, NULL, NULL, NULL);
        sim_world *used = sim_world_create(scene->model, &scene->options, NULL);
        sim_world *fresh = sim_world_create(scene->model, &scene->options, NULL);
        run_world(used, 40);
        sim_world_start(used, -1);
        cr_expect(sim_state_same(scene->model, sim_world_state(used), sim_world_state(fresh)), "%s", path);
        run_world(used, 40);
        run_world(fresh, 40);
        cr_expect(sim_state_same(scene->model, sim_world_state(used), sim_world_state(fresh)), "%s", path);
        sim_world_free(used);
        sim_world_free(fresh);
        sim_scene_free(scene);
    }
}
