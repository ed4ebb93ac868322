/* A grasp as a weld that is switched on: it holds the pose of that moment, and lets go when it is switched off. */
#include <sim/sim.h>
#include <stdio.h>

/* Steps until the time; the status of the last step. */
static sim_status run_until(sim_world *world, double time, sim_error *error) {
    sim_status status = SIM_OK;
    while (status == SIM_OK && sim_world_state(world)->time < time) {
        status = sim_world_step(world, error);
    }
    return status;
}

static double height(sim_world *world, int body) { return sim_world_derived(world)->pose[body].p.z; }

int main(void) {
    sim_error error;
    sim_scene *scene = sim_scene_load("examples/crane.json", NULL, NULL, &error);
    sim_world *world = scene ? sim_world_create(scene->model, &scene->options, &error) : NULL;
    sim_status status = world ? SIM_OK : error.status;
    int load = world ? sim_model_find_body(scene->model, "load") : 0;
    int magnet = world ? sim_model_find_equality(scene->model, "magnet") : 0;
    status = status ? status : run_until(world, 1, &error);                              /* the hook comes down */
    status = status ? status : sim_world_switch(world, magnet, SIM_SWITCH_HOLD, &error); /* and takes hold */
    status = status ? status : run_until(world, 2.5, &error);                            /* it goes up */
    double up = status ? 0 : height(world, load);
    status = status ? status : sim_world_switch(world, magnet, SIM_SWITCH_OFF, &error); /* and lets go */
    status = status ? status : run_until(world, 4, &error);
    if (status == SIM_OK) {
        printf("load lifted to %.3f m, dropped to %.3f m\n", up, height(world, load));
    } else {
        fprintf(stderr, "%s\n", error.text);
    }
    sim_world_free(world);
    sim_scene_free(scene);
    return (int)status;
}
