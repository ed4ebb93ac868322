/* How much quicker are several threads, and do they answer with the same bits?
 *
 * Two worlds take the same steps from the same state, in turn, by the clock on the wall; of each the quickest round
 * counts. */
#include "app/bench.h"

#include <math.h>
#include <string.h>
#include <time.h>

static double wall_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static sim_status settle(sim_world *world, int steps, sim_error *error) {
    sim_status status = SIM_OK;
    for (int k = 0; k < steps && !status; k++) {
        status = sim_world_step(world, error);
    }
    return status;
}

static sim_status race(sim_world *settled, sim_world *world, int steps, double *least, sim_error *error) {
    sim_status status = sim_world_set_state(world, sim_world_state(settled), error);
    double begin = wall_time();
    status = status ? status : settle(world, steps, error);
    *least = fmin(*least, (wall_time() - begin) / steps);
    return status;
}

static int same_numbers(const double *a, const double *b, int count) {
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

static int same_bits(const sim_world *a, const sim_world *b) {
    const sim_model *m = sim_world_model(a);
    const sim_state *x = sim_world_state(a), *y = sim_world_state(b);
    return same_numbers(x->q, y->q, m->nq) && same_numbers(x->v, y->v, m->nv) && x->ncontact == y->ncontact &&
           (x->ncontact == 0 || memcmp(x->impulse, y->impulse, (size_t)x->ncontact * sizeof *x->impulse) == 0);
}

sim_status bench_threads(const bench_request *request, bench_figures *f, sim_error *error) {
    sim_scene *scene = bench_scene(request, f->c, f->solver, error);
    if (!scene) {
        return error->status;
    }
    sim_options options = scene->options;
    options.threads = f->threads = (int)request->threads;
    sim_world *together = sim_world_create(scene->model, &options, error);
    options.threads = 1;
    sim_world *alone = together ? sim_world_create(scene->model, &options, error) : NULL;
    sim_world *settled = alone ? sim_world_create(scene->model, &options, error) : NULL;
    sim_status status = settled ? settle(settled, bench_steps_before(request, f->c), error) : error->status;
    f->alone = f->together = HUGE_VAL;
    for (int round = 0; round < 2 * request->repeat && !status; round++) {
        status = race(settled, alone, f->steps, &f->alone, error);
        status = status ? status : race(settled, together, f->steps, &f->together, error);
    }
    f->same_bits = !status && same_bits(alone, together);
    sim_world_free(settled);
    sim_world_free(alone);
    sim_world_free(together);
    sim_scene_free(scene);
    return status;
}
