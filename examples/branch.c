/* A state in memory: go back to it, branch off from it, compare two runs bit by bit. */
#include <sim/sim.h>
#include <stdio.h>

static sim_status run(sim_world *world, int steps, sim_error *error) {
    sim_status status = SIM_OK;
    for (int n = 0; n < steps && status == SIM_OK; n++) {
        status = sim_world_step(world, error);
    }
    return status;
}

/* Height at which the cube ends if the fingers give this force, from the state of a snapshot on. */
static sim_status try_grip(sim_world *world, const sim_snapshot *from, double grip, sim_error *error) {
    const sim_model *model = sim_world_model(world);
    sim_status status = sim_world_set_state(world, sim_snapshot_state(from), error);
    double *effort = sim_world_inputs(world, SIM_FEEDFORWARD);
    effort[sim_model_find_actuator(model, "arm_left_finger")] = -grip;
    effort[sim_model_find_actuator(model, "arm_right_finger")] = -grip;
    status = status ? status : run(world, 1000, error);
    if (status == SIM_OK) {
        int cube = sim_model_find_body(model, "cube");
        printf("%4.0f N more: cube at %.3f m\n", grip, sim_world_derived(world)->pose[cube].p.z);
    }
    return status;
}

int main(void) {
    sim_error error;
    sim_scene *scene = sim_scene_load("scenes/robots/panda_lifts_cube.json", NULL, NULL, &error);
    sim_world *world = scene ? sim_world_create(scene->model, &scene->options, &error) : NULL;
    sim_status status = world ? run(world, 1600, &error) : error.status; /* the fingers have closed */
    sim_snapshot *start = status ? NULL : sim_snapshot_create(world, &error), *end = NULL;
    status = start ? run(world, 1000, &error) : error.status;
    if (status == SIM_OK && (end = sim_snapshot_create(world, &error))) {
        /* the same steps again */
        status = sim_world_set_state(world, sim_snapshot_state(start), &error);
        status = status ? status : run(world, 1000, &error);
        bool same = sim_state_same(scene->model, sim_world_state(world), sim_snapshot_state(end));
        printf("the same bits again: %s\n", same ? "yes" : "no");
        /* and other ways from there */
        status = status ? status : try_grip(world, start, 0, &error);
        status = status ? status : try_grip(world, start, -23, &error);
    }
    if (status) {
        fprintf(stderr, "%s\n", error.text);
    }
    sim_snapshot_free(start);
    sim_snapshot_free(end);
    sim_world_free(world);
    sim_scene_free(scene);
    return (int)status;
}
