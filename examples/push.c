/* A force at a point of a body: a cube that is pushed at its top edge, until it tips over. */
#include <sim/sim.h>
#include <stdio.h>
#include <string.h>

static const char *const cube =
    "{\"sim\": 1, \"bodies\": [{\"name\": \"ground\", \"shapes\": [{\"type\": \"half_space\"}]},"
    " {\"name\": \"cube\", \"joint\": \"free\", \"pose\": {\"position\": [0, 0, 0.1]},"
    "  \"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.2, 0.2], \"mass\": 2}]}]}";

int main(void) {
    sim_error error;
    sim_scene *scene = sim_scene_parse(cube, strlen(cube), "cube.json", NULL, NULL, &error);
    sim_world *world = scene ? sim_world_create(scene->model, &scene->options, &error) : NULL;
    sim_status status = world ? SIM_OK : error.status;
    int body = world ? sim_model_find_body(scene->model, "cube") : 0;
    sim_point edge = {body, {0, 0, 0.1}};
    while (status == SIM_OK && sim_world_state(world)->time < 3) {
        /* wrenches stay until they are changed: this one follows the point */
        sim_force push = {{0, 0, 0}, {5 * sim_world_state(world)->time, 0, 0}};
        sim_world_wrenches(world)[body] = (sim_force){{0, 0, 0}, {0, 0, 0}};
        sim_world_push(world, edge, push);
        status = sim_world_step(world, &error);
        if (sim_world_derived(world)->vel[body].ang.y > 0.05) {
            printf("tips at %.2f N; half the weight is %.2f N\n", push.lin.x, 0.5 * 2 * 9.81);
            break;
        }
    }
    if (status) {
        fprintf(stderr, "%s\n", error.text);
    }
    sim_world_free(world);
    sim_scene_free(scene);
    return (int)status;
}
