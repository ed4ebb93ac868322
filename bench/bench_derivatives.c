/* The full Jacobian of a step with contacts beside the step itself: by positions, velocities and forces.
 *
 * A stack of 1, 4 or 10 boxes stands on the ground: one island of 4 contacts a box.  CPU microseconds, the least
 * of many, by the default solver and integrator, and by `sap` with symplectic Euler, as a table in Markdown.  `--steps N` or
 * `--jacobians N` with a number of boxes repeats one of the two alone, to count its instructions. */
#include "support/quick.h"

#include <math.h>
#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZES = 3, LAWS = 2, WARM = 20 };
static const int boxes[SIZES] = {1, 4, 10};
static const char *const law[LAWS] = {"auto", "sap"};

typedef struct fixture {
    sim_model *model;
    sim_world *world;
    sim_snapshot *start;
    sim_step_derivatives *work;
    sim_step_jacobian jacobian;
} fixture;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what) {
    fprintf(stderr, "bench_derivatives: %s\n", what);
    exit(1);
}

static sim_model *stack(int count) {
    sim_builder *b = sim_builder_create();
    sim_shape ground = sim_shape_default(), box = sim_shape_default();
    sim_body_def def = sim_body_default();
    ground.type = SIM_HALF_SPACE;
    sim_builder_add_shape(b, &ground);
    box.type = SIM_BOX;
    def.joint = SIM_FREE;
    def.inertia = (sim_inertia){.mass = 1, .moment = {2e-3, 2e-3, 2e-3, 0, 0, 0}};
    for (int k = 0; k < 3; k++) {
        box.size[k] = 0.1;
    }
    for (int k = 0; k < count; k++) {
        def.placement.p = (sim_v3){0, 0, 0.05 + 0.1 * k - 1e-6 * (k + 1)};
        box.body = sim_builder_add_body(b, &def);
        sim_builder_add_shape(b, &box);
    }
    return sim_builder_finish(b, NULL);
}

static void open_fixture(fixture *f, int count, int which) {
    sim_error error = {0};
    sim_options options = sim_options_default();
    options.solver = sim_solver_find(law[which]);
    options.integrator = which ? SIM_SYMPLECTIC_EULER : SIM_MIDPOINT;
    *f = (fixture){.model = stack(count)};
    f->world = f->model ? sim_world_create(f->model, &options, &error) : NULL;
    f->work = f->world ? sim_step_derivatives_create(f->model, &error) : NULL;
    if (!f->work) {
        fail(error.text);
    }
    size_t n = (size_t)f->model->nv;
    f->jacobian.by_state = calloc(4 * n * n, sizeof(double));
    f->jacobian.by_applied = calloc(2 * n * n, sizeof(double));
    for (int k = 0; k < WARM; k++) {
        if (sim_world_step(f->world, &error)) {
            fail(error.text);
        }
    }
    f->start = sim_snapshot_create(f->world, &error);
    if (!f->start) {
        fail(error.text);
    }
}

static void close_fixture(fixture *f) {
    free(f->jacobian.by_state);
    free(f->jacobian.by_applied);
    sim_snapshot_free(f->start);
    sim_step_derivatives_free(f->work);
    sim_world_free(f->world);
    sim_model_free(f->model);
}

static void step(fixture *f) {
    sim_error error = {0};
    if (sim_world_set_state(f->world, sim_snapshot_state(f->start), &error) || sim_world_step(f->world, &error)) {
        fail(error.text);
    }
}

static void differentiate(fixture *f) {
    sim_error error = {0};
    if (sim_world_step_derivatives(f->world, f->work, &f->jacobian, &error)) {
        fail(error.text);
    }
}

/* Least seconds of one of the two. */
static double time_of(fixture *f, bool jacobian, int repeat) {
    double least = HUGE_VAL;
    for (int k = 0; k < repeat; k++) {
        double since = seconds();
        if (jacobian) {
            differentiate(f);
        } else {
            step(f);
        }
        least = fmin(least, seconds() - since);
    }
    return least;
}

static int repeat_alone(int count, char **word) {
    bool jacobian = strcmp(word[1], "--jacobians") == 0;
    fixture f;
    open_fixture(&f, count > 3 ? atoi(word[3]) : 1, count > 4 && strcmp(word[4], law[1]) == 0);
    step(&f);
    time_of(&f, jacobian, atoi(word[2]));
    close_fixture(&f);
    return 0;
}

int main(int count, char **word) {
    if (count > 2 && (strcmp(word[1], "--steps") == 0 || strcmp(word[1], "--jacobians") == 0)) {
        return repeat_alone(count, word);
    }
    bool quick = asked_quick(count, word);
    printf("| solver | integrator | boxes | contacts | step [us] | Jacobian [us] | ratio "
           "|\n|---|---|---|---|---|---|---|\n");
    for (int k = 0; k < LAWS * SIZES; k++) {
        fixture f;
        int size = boxes[k % SIZES], contacts;
        open_fixture(&f, size, k / SIZES);
        double one = 1e6 * time_of(&f, false, quick ? 2 : 1000), whole = 1e6 * time_of(&f, true, quick ? 2 : 1000);
        contacts = sim_world_info(f.world)->contacts;
        printf("| `%s` | `%s` | %d | %d | %.1f | %.1f | %.1f |\n", law[k / SIZES],
               sim_integrator_name(sim_world_options(f.world)->integrator), size, contacts, one, whole, whole / one);
        close_fixture(&f);
    }
    return 0;
}
