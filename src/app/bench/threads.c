/* Speedup of several threads, and a comparison of their bits with those of one.
 *
 * Two worlds take the same steps from the same state, in turn, by the clock on the wall. Of each step the quickest
 * round counts, for other work may disturb any whole round. */
#include "app/bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double wall_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static sim_status run_settling_steps(sim_world *world, int steps, sim_error *error) {
    sim_status status = SIM_OK;
    for (int k = 0; k < steps && !status; k++) {
        status = sim_world_step(world, error);
    }
    return status;
}

/* `least` [steps]: of each step, so far. */
static sim_status time_round(sim_world *settled, sim_world *world, int steps, double *least, sim_error *error) {
    sim_status status = sim_world_set_state(world, sim_world_state(settled), error);
    for (int k = 0; k < steps && !status; k++) {
        double begin = wall_time();
        status = sim_world_step(world, error);
        least[k] = fmin(least[k], wall_time() - begin);
    }
    return status;
}

static sim_status race_in_turn(const bench_request *request, sim_world *settled, sim_world *alone, sim_world *together,
                               bench_figures *f, sim_error *error) {
    /* least time of each step, with one thread and with all */
    sim_status status = SIM_OK;
    double *least = malloc(2 * (size_t)f->steps * sizeof *least);
    if (!least) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the times of %d steps", f->steps);
    }
    for (int k = 0; k < 2 * f->steps; k++) {
        least[k] = HUGE_VAL;
    }
    /* both worlds in turn, so that a slow moment hits both */
    for (int round = 0; round < 2 * request->repeat && !status; round++) {
        status = time_round(settled, alone, f->steps, least, error);
        status = status ? status : time_round(settled, together, f->steps, least + f->steps, error);
    }
    /* mean over the steps */
    f->alone = f->together = 0;
    for (int k = 0; k < f->steps; k++) {
        f->alone += least[k] / f->steps;
        f->together += least[f->steps + k] / f->steps;
    }
    free(least);
    return status;
}

static bool same_numbers(const double *a, const double *b, int count) {
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

static bool same_bits(const sim_world *a, const sim_world *b) {
    const sim_model *m = sim_world_model(a);
    const sim_state *x = sim_world_state(a), *y = sim_world_state(b);
    return same_numbers(x->q, y->q, m->nq) && same_numbers(x->v, y->v, m->nv) && x->ncontact == y->ncontact &&
           (x->ncontact == 0 || memcmp(x->impulse, y->impulse, (size_t)x->ncontact * sizeof *x->impulse) == 0);
}

sim_status bench_threads(const bench_request *request, const solver_choice *solver, bench_figures *f,
                         sim_error *error) {
    /* the same scene with one thread and with several */
    sim_scene *scene = bench_scene(request, f->c, solver, error);
    if (!scene) {
        return error->status;
    }
    sim_options options = scene->options;
    options.threads = f->threads = (int)request->threads;
    sim_world *together = sim_world_create(scene->model, &options, error);
    options.threads = 1;
    sim_world *alone = together ? sim_world_create(scene->model, &options, error) : NULL;
    sim_world *settled = alone ? sim_world_create(scene->model, &options, error) : NULL;
    /* settle */
    sim_status status = settled ? run_settling_steps(settled, bench_steps_before(request, f->c), error) : error->status;
    /* time, and compare the final states bit by bit */
    status = status ? status : race_in_turn(request, settled, alone, together, f, error);
    f->same_bits = !status && same_bits(alone, together);
    sim_world_free(settled);
    sim_world_free(alone);
    sim_world_free(together);
    sim_scene_free(scene);
    return status;
}
