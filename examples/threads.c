/* Many worlds share one model, each in a thread of its own: a sweep over the force of a push. */
#include <pthread.h>
#include <sim/sim.h>
#include <stdio.h>

enum { WORLDS = 4 };

typedef struct trial {
    const sim_scene *scene;
    double push; /* N, for the first 0.1 s */
    double fallen;
    sim_status status;
    sim_error error;
} trial;

/* The tower after a push of a tenth of a second. */
static void *run_trial(void *context) {
    trial *t = context;
    const sim_model *model = t->scene->model;
    sim_world *world = sim_world_create(model, &t->scene->options, &t->error);
    t->status = world ? SIM_OK : t->error.status;
    int first = world ? sim_model_find_body(model, "tower") : 0;
    while (t->status == SIM_OK && sim_world_state(world)->time < 2) {
        sim_world_wrenches(world)[first].lin.x = sim_world_state(world)->time < 0.1 ? t->push : 0;
        t->status = sim_world_step(world, &t->error);
    }
    if (t->status == SIM_OK) {
        t->fallen = 1 - sim_world_derived(world)->pose[first].R.z.z;
    }
    sim_world_free(world);
    return NULL;
}

int main(void) {
    sim_error error;
    sim_scene *scene = sim_scene_load("examples/tower.json", NULL, NULL, &error);
    trial all[WORLDS];
    pthread_t thread[WORLDS];
    for (int k = 0; k < WORLDS && scene; k++) {
        all[k] = (trial){.scene = scene, .push = 5 * (k + 1)};
        pthread_create(&thread[k], NULL, run_trial, &all[k]);
    }
    for (int k = 0; k < WORLDS && scene; k++) {
        pthread_join(thread[k], NULL);
        printf("%2.0f N: the tower %s\n", all[k].push,
               all[k].status         ? all[k].error.text
               : all[k].fallen > 0.5 ? "falls"
                                     : "stands");
    }
    sim_scene_free(scene);
    return scene ? 0 : 1;
}
