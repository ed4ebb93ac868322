/* Rollouts: runs from states of their own, shared out among threads.
 *
 * A thread keeps one world and starts it again for each of its runs.  A world's next steps depend on its state alone, so
 * the bits of a run depend neither on the runs before it nor on the thread.  A thread that is free takes the next run,
 * since some take longer than others.
 *
 * Cost: the steps, and a copy of the state a run. */
#include <sim/rollout.h>

#include "base/threads.h"
#include "world/core/world.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 64 };

typedef struct rollout_work {
    const sim_model *model;
    const sim_rollout *rollout;
    sim_world *world[MAX_THREADS]; /* of each thread */
    int64_t records;
    atomic_llong next;               /* the first run that no thread has taken */
    int64_t refused_by[MAX_THREADS]; /* of each thread: the first run whose state was refused, or the number of runs */
    sim_error why[MAX_THREADS];
} rollout_work;

sim_rollout sim_rollout_default(void) { return (sim_rollout){.hold = 1, .every = 1}; }

static size_t record_offset(int64_t run, int64_t records, int width) {
    return (size_t)run * (size_t)records * (size_t)width;
}

/* The world where the run begins. */
static sim_status begin_run(const rollout_work *work, sim_world *w, int64_t run, sim_error *error) {
    const sim_model *m = work->model;
    const sim_rollout *r = work->rollout;
    sim_world_start(w, -1);
    if (r->state) {
        return sim_world_set_state(w, r->state[run], error);
    }
    if (!r->q && !r->v) {
        return SIM_OK;
    }
    sim_state state = *sim_world_state(w);
    /* the world only reads them */
    state.q = r->q ? (double *)r->q + record_offset(run, 1, m->nq) : state.q;
    state.v = r->v ? (double *)r->v + record_offset(run, 1, m->nv) : state.v;
    state.trail = NULL;
    state.sensor = NULL;
    return sim_world_set_state(w, &state, error);
}

static void put_control(const rollout_work *work, sim_world *w, int64_t run, int64_t step) {
    const sim_rollout *r = work->rollout;
    int width = work->model->nactuator;
    if (r->control && width && step % r->hold == 0) {
        int64_t controls = (r->steps + r->hold - 1) / r->hold;
        const double *from = r->control + record_offset(run, controls, width) + record_offset(step / r->hold, 1, width);
        memcpy(sim_world_inputs(w, r->input), from, (size_t)width * sizeof *from);
    }
}

/* One record of a path; `from` NULL: unknown. */
static void put_record(double *path, const double *from, int64_t run, int64_t records, int64_t record, int width) {
    double *to = path ? path + record_offset(run, records, width) + record_offset(record, 1, width) : NULL;
    for (int k = 0; to && k < width; k++) {
        to[k] = from ? from[k] : NAN;
    }
}

static void put_records(const rollout_work *work, const sim_state *s, int64_t run, int64_t record) {
    const sim_rollout *r = work->rollout;
    const sim_model *m = work->model;
    put_record(r->q_path, s ? s->q : NULL, run, work->records, record, m->nq);
    put_record(r->v_path, s ? s->v : NULL, run, work->records, record, m->nv);
    put_record(r->sensor_path, s ? s->sensor : NULL, run, work->records, record, m->nsensor_value);
}

/* The steps of a run; their number. */
static int64_t step_run(const rollout_work *work, sim_world *w, int64_t run, sim_error *why) {
    const sim_rollout *r = work->rollout;
    for (int64_t step = 0; step < r->steps; step++) {
        if (r->stop && r->stop(r->context)) {
            return step;
        }
        put_control(work, w, run, step);
        if (sim_world_step(w, why)) {
            return step;
        }
        if ((step + 1) % r->every == 0) {
            put_records(work, sim_world_state(w), run, (step + 1) / r->every - 1);
        }
    }
    return r->steps;
}

/* A thread's runs. */
static void run_share(void *context, int worker, int first, int end) {
    rollout_work *work = context;
    const sim_rollout *r = work->rollout;
    (void)first;
    (void)end;
    int64_t run;
    while ((run = atomic_fetch_add(&work->next, 1)) < r->runs) {
        sim_rollout_end result = {0};
        if (begin_run(work, work->world[worker], run, &result.why)) {
            if (run < work->refused_by[worker]) {
                work->refused_by[worker] = run;
                work->why[worker] = result.why;
            }
        } else {
            result.steps = step_run(work, work->world[worker], run, &result.why);
        }
        for (int64_t record = result.steps / r->every; record < work->records; record++) {
            put_records(work, NULL, run, record);
        }
        if (r->end) {
            r->end[run] = result;
        }
    }
}

static sim_status check_rollout(const sim_rollout *r, int threads, sim_error *error) {
    if (threads < 1 || threads > MAX_THREADS) {
        return sim_fail(error, SIM_BAD_INPUT, "threads must be 1 to %d, not %d", MAX_THREADS, threads);
    }
    if (r->runs < 0 || r->steps < 0) {
        return sim_fail(error, SIM_BAD_INPUT, "a rollout has 0 or more runs of 0 or more steps, not %lld of %lld",
                        (long long)r->runs, (long long)r->steps);
    }
    if (r->hold < 1 || r->every < 1) {
        return sim_fail(error, SIM_BAD_INPUT, "hold and every must be 1 or more, not %lld and %lld", (long long)r->hold,
                        (long long)r->every);
    }
    if (r->state && (r->q || r->v)) {
        return sim_fail(error, SIM_BAD_INPUT, "a rollout begins at whole states, or at coordinates and velocities");
    }
    return SIM_OK;
}

/* A world for each thread. */
static sim_status create_worlds(rollout_work *work, const sim_options *options, int threads, sim_error *error) {
    sim_options alone = options ? *options : sim_options_default();
    alone.threads = 1;
    for (int k = 0; k < threads; k++) {
        work->refused_by[k] = work->rollout->runs;
        if (!(work->world[k] = sim_world_create(work->model, &alone, error))) {
            return SIM_NO_RESOURCE;
        }
    }
    return SIM_OK;
}

/* The first run that was refused. */
static sim_status report_refused(const rollout_work *work, int threads, sim_error *error) {
    int first = 0;
    for (int k = 1; k < threads; k++) {
        first = work->refused_by[k] < work->refused_by[first] ? k : first;
    }
    int64_t run = work->refused_by[first];
    return run == work->rollout->runs
               ? SIM_OK
               : sim_fail(error, work->why[first].status, "run %lld: %s", (long long)run, work->why[first].text);
}

sim_status sim_rollout_run(const sim_model *model, const sim_options *options, int threads, const sim_rollout *rollout,
                           sim_error *error) {
    /* memory */
    sim_error why = {0};
    sim_status status = check_rollout(rollout, threads, error);
    if (status) {
        return status;
    }
    rollout_work *work = calloc(1, sizeof *work);
    if (!work) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for a rollout");
    }
    work->model = model;
    work->rollout = rollout;
    work->records = rollout->steps / rollout->every;
    threads = rollout->runs < threads ? (int)(rollout->runs > 0 ? rollout->runs : 1) : threads;
    /* threads, each with a world, and the runs */
    sim_threads *pool = threads_create(threads);
    if (!pool) {
        status = sim_fail(error, SIM_NO_RESOURCE, "%d threads could not be started", threads);
    } else if (create_worlds(work, options, threads, &why)) {
        status = sim_fail(error, why.status, "%s", why.text);
    } else {
        threads_run(pool, threads, run_share, work);
        status = report_refused(work, threads, error);
    }
    /* the end */
    for (int k = 0; k < threads; k++) {
        sim_world_free(work->world[k]);
    }
    threads_free(pool);
    free(work);
    return status;
}
