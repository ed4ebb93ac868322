/* Targets of a robot's joints, set by its program step by step; readings of its joints. */
#include <math.h>
#include <sim/sim.h>
#include <stdio.h>

int main(void) {
    sim_error error;
    sim_scene *scene = sim_scene_load("scenes/robots/panda.json", NULL, NULL, &error);
    sim_world *world = scene ? sim_world_create(scene->model, &scene->options, &error) : NULL;
    sim_status status = world ? SIM_OK : error.status;
    int elbow = world ? sim_model_find_actuator(scene->model, "link4") : -1;
    int joint = world ? scene->model->actuator[elbow].dof : -1;
    double *target = world ? sim_world_inputs(world, SIM_TARGET) : NULL;
    double *rate = world ? sim_world_inputs(world, SIM_TARGET_RATE) : NULL;
    for (int n = 0; n < 1000 && status == SIM_OK; n++) {
        /* a sine about the ready pose, with its rate */
        double t = sim_world_state(world)->time + scene->options.step;
        target[elbow] = -2.3562 + 0.3 * sin(3 * t);
        rate[elbow] = 0.9 * cos(3 * t);
        status = sim_world_step(world, &error);
    }
    if (status == SIM_OK) {
        const sim_state *state = sim_world_state(world);
        double q = state->q[scene->model->dof[joint].coordinate];
        printf("elbow at %.3f rad, target %.3f, effort %.1f N m\n", q, target[elbow], state->effort[elbow]);
        target[elbow] = rate[elbow] = NAN; /* the scene's own target again */
    } else {
        fprintf(stderr, "%s\n", error.text);
    }
    sim_world_free(world);
    sim_scene_free(scene);
    return (int)status;
}
