/* Processor time of a step, stage by stage.
 *
 * One world comes to rest; another repeats the timed steps from its state.  They are the same steps to the last bit, so
 * the least time of each stage was disturbed least.  The world reads the clock between its stages.  A reading takes
 * most of a microsecond, which matters in small steps.  So rounds without readings time the whole step, and the stages
 * are shares of it, less one reading each.  Rounds of their own time the parts within the solving of islands. */
#include "app/bench/bench.h"
#include "app/cli/scene_path.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

sim_scene *bench_scene(const bench_request *request, const bench_case *c, const solver_choice *solver,
                       sim_error *error) {
    /* settings of the case, then those of the command line */
    char path[PATH_MAX];
    int count = 0;
    const char **set = calloc((size_t)request->set.count + sizeof c->set / sizeof c->set[0] + 1, sizeof *set);
    if (!set) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the command line");
        return NULL;
    }
    for (size_t k = 0; k < sizeof c->set / sizeof c->set[0] && c->set[k]; k++) {
        set[count++] = c->set[k];
    }
    for (int k = 0; k < request->set.count; k++) {
        set[count++] = request->set.item[k];
    }
    /* the scene */
    scene_path(request->scenes, c->scene, path);
    sim_scene_overrides overrides = {.count = count, .set = set};
    sim_scene *scene = sim_scene_load(path, &overrides, NULL, error);
    free(set);
    /* the solver replaces that of the scene */
    if (scene && solver) {
        scene->options.solver = solver->info;
        scene->options.solver_option = solver->option;
    }
    return scene;
}

/* ---- steps ---- */

int bench_steps_before(const bench_request *request, const bench_case *c) {
    return request->quick && c->settle > 4 * c->quick ? 4 * c->quick : c->settle;
}

int bench_steps_timed(const bench_request *request, const bench_case *c) {
    return request->quick ? c->quick : c->timed;
}

static double processor_time(void *context) {
    struct timespec t;
    (void)context;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add_to_summary(bench_summary *s, double value, int steps) {
    s->mean += value / steps;
    s->most = fmax(s->most, value);
}

/* All but times. */
static void add_timed_step(bench_figures *f, const sim_step_info *info) {
    int n = f->steps;
    const sim_certificate *e = &info->certificate;
    f->contacts += (double)info->contacts / n;
    f->islands += (double)info->islands / n;
    f->iterations += (double)info->solver_iterations / n;
    f->factorisations += (double)info->factorisations / n;
    f->multiplications += info->multiplications / n;
    f->unsolved += info->unsolved;
    for (int k = 0; k < SIM_MAX_BRANCHES; k++) {
        f->finished.of[k] += info->finished[k];
    }
    add_to_summary(&f->E, e->E, n);
    add_to_summary(&f->own, e->own, n);
    add_to_summary(&f->momentum, e->momentum, n);
    add_to_summary(&f->slip, e->slip, n);
    add_to_summary(&f->penetration, e->penetration, n);
}

/* The steps once, from the state of `settled`. */
static sim_status take_steps(sim_world *settled, sim_world *world, sim_profile *profile, bench_figures *noted,
                             int steps, sim_error *error) {
    sim_status status = sim_world_set_state(world, sim_world_state(settled), error);
    memset(profile->seconds, 0, sizeof profile->seconds);
    for (int k = 0; k < steps && !status; k++) {
        status = sim_world_step(world, error);
        if (noted && !status) {
            add_timed_step(noted, sim_world_info(world));
        }
    }
    return status;
}

static void keep_least(double *least, const double *seconds, int first, int end, int steps) {
    for (int k = first; k < end; k++) {
        least[k] = fmin(least[k], seconds[k] / steps);
    }
}

/* Time of one reading of the clock, s. */
static double clock_read_cost(void) {
    double least = HUGE_VAL, before = processor_time(NULL);
    for (int k = 0; k < 200; k++) {
        double now = processor_time(NULL);
        least = now > before ? fmin(least, now - before) : least;
        before = now;
    }
    return isinf(least) ? 0 : least;
}

/* Scales the shares to a known sum. */
static void share_out(double *seconds, const double *shares, int first, int end, double whole) {
    double sum = 0;
    for (int k = first; k < end; k++) {
        sum += shares[k];
    }
    for (int k = first; k < end; k++) {
        seconds[k] = sum > 0 ? shares[k] / sum * whole : 0;
    }
}

static void set_times(bench_figures *f, double *stages, const double *parts) {
    double cost = clock_read_cost();
    for (int k = 0; k < SIM_TIME_REGULARISE; k++) {
        stages[k] = fmax(stages[k] - cost, 0);
    }
    share_out(f->seconds, stages, 0, SIM_TIME_REGULARISE, f->whole);
    share_out(f->seconds, parts, SIM_TIME_REGULARISE, SIM_TIME_FACTOR, f->seconds[SIM_TIME_SOLVE]);
    f->seconds[SIM_TIME_FACTOR] =
        parts[SIM_TIME_SOLVER] > 0 ? parts[SIM_TIME_FACTOR] / parts[SIM_TIME_SOLVER] * f->seconds[SIM_TIME_SOLVER] : 0;
}

enum { STAGES, PARTS, WHOLE, ROUNDS };

static sim_status time_steps(const bench_request *request, sim_world *settled, sim_world *world, bench_figures *f,
                             sim_error *error) {
    /* the least of each time over all rounds */
    sim_profile profile = {.clock = {processor_time, NULL}};
    double stages[SIM_TIMES], parts[SIM_TIMES];
    sim_status status = SIM_OK;
    for (int k = 0; k < SIM_TIMES; k++) {
        stages[k] = parts[k] = HUGE_VAL;
    }
    f->whole = HUGE_VAL;
    /* rounds in turn: without clocks, with those of stages, with those of their parts */
    for (int round = 0; round < ROUNDS * request->repeat && !status; round++) {
        int kind = round % ROUNDS;
        batch_progress_part(request->progress, 0.5 + 0.5 * round / (double)(ROUNDS * request->repeat));
        profile.parts = kind == PARTS;
        sim_world_profile(world, kind == WHOLE ? NULL : &profile);
        double before = processor_time(NULL);
        status = take_steps(settled, world, &profile, round ? NULL : f, f->steps, error);
        if (kind == WHOLE) {
            f->whole = fmin(f->whole, (processor_time(NULL) - before) / f->steps);
        } else {
            keep_least(kind == PARTS ? parts : stages, profile.seconds, 0, SIM_TIMES, f->steps);
        }
    }
    /* remove the clocks */
    sim_world_profile(world, NULL);
    set_times(f, stages, parts);
    return status;
}

static int count_moving(const sim_model *m) {
    int count = 0;
    for (int i = 1; i < m->nbody; i++) {
        count += m->body[i].nv > 0;
    }
    return count;
}

void bench_run(const bench_request *request, const bench_case *c, const solver_choice *solver, bench_figures *f) {
    /* the scene with its solver */
    *f = (bench_figures){.c = c, .solver = solver ? solver->text : "", .steps = bench_steps_timed(request, c)};
    sim_error *error = &f->trouble;
    sim_scene *scene = bench_scene(request, c, solver, error);
    if (!scene) {
        return;
    }
    f->bodies = count_moving(scene->model);
    f->velocities = scene->model->nv;
    f->info = scene->options.solver ? scene->options.solver : sim_solver_default();
    f->integrator = sim_integrator_name(scene->options.integrator);
    f->solver = solver ? solver->text : f->info->name;
    /* one world for the state after settling, one to be timed */
    sim_world *settled = sim_world_create(scene->model, &scene->options, error);
    sim_world *world = settled ? sim_world_create(scene->model, &scene->options, error) : NULL;
    sim_status status = world ? SIM_OK : error->status;
    /* settle */
    int before = bench_steps_before(request, c);
    for (int k = 0; k < before && !status; k++) {
        batch_progress_part(request->progress, 0.5 * k / before);
        status = sim_world_step(settled, error);
    }
    /* time */
    status = status ? status : time_steps(request, settled, world, f, error);
    sim_world_free(world);
    sim_world_free(settled);
    sim_scene_free(scene);
}
