/* What does sleep save, and what does looking out for it cost?
 *
 * A heap of clutter as it comes to rest, and two hundred stacks of which one is shaken: awake as without the option,
 * awake under it (no speed is still), asleep. */
#include "support/container.h"
#include "support/quick.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { TIMED = 100, HEIGHT = 3, REPEATS = 3 };

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static sim_model *make_stacks(int stacks) {
    sim_builder *b = sim_builder_create();
    sim_material material = sim_material_default();
    sim_shape ground = sim_shape_default(), box = sim_shape_default();
    material.name = "all";
    ground.type = SIM_HALF_SPACE;
    ground.material = box.material = sim_builder_add_material(b, &material);
    sim_builder_add_shape(b, &ground);
    box.type = SIM_BOX;
    box.size[0] = box.size[1] = box.size[2] = 0.1;
    for (int k = 0; k < stacks * HEIGHT; k++) {
        sim_body_def def = sim_body_default();
        def.inertia = sim_shape_inertia(&box, 1000);
        def.q[0] = 0.3 * (k / HEIGHT % 20);
        def.q[1] = 0.3 * (k / HEIGHT / 20);
        def.q[2] = 0.05 + 0.1 * (k % HEIGHT);
        box.body = sim_builder_add_body(b, &def);
        sim_builder_add_shape(b, &box);
    }
    return sim_builder_finish(b, NULL);
}

static sim_options options(int sleep, double speed) {
    sim_options o = sim_options_default();
    o.step = 0.01;
    o.integrator = SIM_SYMPLECTIC_EULER;
    o.sleep = sleep;
    o.sleep_speed = speed;
    o.sleep_time = 0.1;
    return o;
}

static int step(sim_world *w, int shaken, int k) {
    sim_error error = {0};
    if (shaken) {
        sim_world_applied(w)[0] = k % 2;
    }
    if (sim_world_step(w, &error)) {
        printf("%s\n", error.text);
        return 0;
    }
    return 1;
}

/* Microseconds a step from this state on, the least of some runs. */
static double measure(const sim_model *m, const sim_state *from, int sleep, double speed, int shaken) {
    double least = INFINITY;
    sim_options o = options(sleep, speed);
    int asleep = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        sim_error error = {0};
        sim_world *w = sim_world_create(m, &o, &error);
        if (!w || sim_world_set_state(w, from, &error)) {
            printf("%s\n", error.text);
            return 0;
        }
        int k = 0;
        for (; k < 20 && step(w, shaken, k); k++) {
        }
        double begin = seconds();
        for (; k < 20 + TIMED && step(w, shaken, k); k++) {
        }
        least = fmin(least, 1e6 * (seconds() - begin) / TIMED);
        asleep = sim_world_info(w)->asleep_bodies;
        sim_world_free(w);
    }
    printf(" %9.1f us (%3d asleep)", least, asleep);
    return least;
}

static void compare(const char *what, sim_model *m, int settle, int shaken) {
    sim_options o = options(0, 0);
    sim_error error = {0};
    sim_world *w = sim_world_create(m, &o, &error);
    for (int k = 0; w && k < settle && step(w, 0, k); k++) {
    }
    if (w) {
        printf("%-28s %5d contacts", what, sim_world_state(w)->ncontact);
        double off = measure(m, sim_world_state(w), 0, 0, shaken);
        double on = measure(m, sim_world_state(w), 1, 0, shaken);
        double asleep = measure(m, sim_world_state(w), 1, shaken ? 0.01 : 100, shaken);
        printf("  watching costs %+.1f %%, sleep saves %.0f times\n", 100 * (on / off - 1), off / asleep);
    }
    sim_world_free(w);
    sim_model_free(m);
}

int main(int count, char **word) {
    int quick = asked_quick(count, word), bodies = quick ? 40 : 640, stacks = quick ? 20 : 200;
    char name[64];
    random_source r = {1};
    printf("sim %s, %s\nCPU microseconds a step: option off, on and awake, on and asleep\n", sim_version(),
           sim_build_info());
    snprintf(name, sizeof name, "clutter of %d", bodies);
    compare(name, clutter_model(&r, bodies, 0, 1e12, 0.01), 600, 0);
    r = (random_source){1};
    snprintf(name, sizeof name, "clutter of %d within walls", bodies);
    compare(name, clutter_model(&r, bodies, 1, 1e12, 0.01), 400, 0);
    snprintf(name, sizeof name, "%d stacks, one shaken", stacks);
    compare(name, make_stacks(stacks), 20, 1);
    return 0;
}
