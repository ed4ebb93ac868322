/* Statistics of a run: counts, sums and extremes, from step to step. */
#include "record/run/run_statistics.h"

#include <math.h>
#include <sys/resource.h>
#include <time.h>

double clock_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

size_t peak_memory(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (size_t)usage.ru_maxrss * 1024;
}

void statistics_start(run_statistics *statistics, const sim_world *world) {
    const sim_state *state = sim_world_state(world);
    *statistics = (run_statistics){
        .started = clock_seconds(), .first_step = state->step, .first_time = state->time, .opening = {.worst = -1}};
}

static void copy_bodies(const int from[2], int to[2]) {
    to[0] = from[0];
    to[1] = from[1];
}

/* The bodies of figures whose place is known. */
static const int *bodies_of(const sim_step_info *info, int figure) {
    static const int nobody[2] = {-1, -1};
    static const int worst[FIGURES] = {[FIGURE_E] = 1 + SIM_WORST_E,
                                       [FIGURE_OWN] = 1 + SIM_WORST_OWN,
                                       [FIGURE_PENETRATION] = 1 + SIM_WORST_PENETRATION,
                                       [FIGURE_PAST_RANGE] = 1 + SIM_WORST_PAST_RANGE,
                                       [FIGURE_SLIP] = 1 + SIM_WORST_SLIP};
    return worst[figure] ? info->worst_body[worst[figure] - 1] : nobody;
}

static int max_count(int a, int b) { return a > b ? a : b; }

static void tally_sag(contact_statistics *statistics, const sim_step_info *info, double time) {
    static const double SINKING_PART = 0.05; /* of the radius of the body */
    int same = info->sag_body[0] == statistics->sinking_body[0] && info->sag_body[1] == statistics->sinking_body[1];
    if (info->sag_part > statistics->sag_part) {
        statistics->sag_part = info->sag_part;
        statistics->sag = (figure_statistics){.worst = info->sag, .time = time};
        copy_bodies(info->sag_body, statistics->sag.body);
    }
    statistics->sinking = info->sag_part <= SINKING_PART ? 0 : same ? statistics->sinking + 1 : 1;
    copy_bodies(info->sag_body, statistics->sinking_body);
    statistics->most_sinking = max_count(statistics->most_sinking, statistics->sinking);
}

static void tally_contacts(contact_statistics *statistics, const sim_step_info *info, double time) {
    /* counts */
    const sim_certificate *c = &info->certificate;
    const double figure[FIGURES] = {[FIGURE_E] = c->E,
                                    [FIGURE_OWN] = c->own,
                                    [FIGURE_MOMENTUM] = c->momentum,
                                    [FIGURE_PENETRATION] = c->penetration,
                                    [FIGURE_PAST_RANGE] = c->past_range,
                                    [FIGURE_SLIP] = c->slip,
                                    [FIGURE_EXCESS] = c->excess};
    statistics->touching += info->contacts > 0;
    statistics->contacts += info->contacts;
    statistics->most_contacts = max_count(statistics->most_contacts, info->contacts);
    statistics->most_islands = max_count(statistics->most_islands, info->islands);
    statistics->iterations += info->solver_iterations;
    statistics->total += info->solver_total;
    statistics->most_iterations = max_count(statistics->most_iterations, info->solver_iterations);
    statistics->unsolved_islands += info->unsolved;
    /* reasons and finishing methods */
    for (int k = 0; k < SIM_REASONS; k++) {
        statistics->gave_up.of[k] += info->gave_up[k];
    }
    for (int k = 0; k < SIM_MAX_BRANCHES; k++) {
        statistics->finished.of[k] += info->finished[k];
    }
    /* the first failure, and the bodies of all */
    if (info->unsolved) {
        const int *body = info->worst_body[SIM_WORST_UNSOLVED];
        if (statistics->unsolved_steps++ == 0) {
            statistics->first_unsolved = time;
            copy_bodies(body, statistics->unsolved_body);
        }
        frequent_pairs_add(&statistics->jammed, body);
    }
    /* mean and worst of each figure, with time and bodies */
    for (int k = 0; k < FIGURES; k++) {
        figure_statistics *f = &statistics->figure[k];
        f->sum += figure[k];
        if (statistics->steps == 0 || figure[k] > f->worst) {
            f->worst = figure[k];
            f->time = time;
            copy_bodies(bodies_of(info, k), f->body);
        }
    }
    /* sag and lift */
    tally_sag(statistics, info, time);
    if (info->lift > statistics->lift.worst) {
        statistics->lift = (figure_statistics){.worst = info->lift, .time = time};
        copy_bodies(info->lift_body, statistics->lift.body);
    }
    statistics->steps++;
}

static void tally_overlap(overlap_statistics *statistics, const sim_step_info *info, double time) {
    if (info->stuck && statistics->stuck++ == 0) {
        statistics->first_stuck = time;
    }
    if (info->stuck && info->stuck_depth > statistics->depth) {
        statistics->depth = info->stuck_depth;
        statistics->body[0] = info->stuck_body[0];
        statistics->body[1] = info->stuck_body[1];
    }
    if (info->refused && statistics->refused++ == 0) {
        statistics->first_refused = time;
    }
    statistics->undone += info->undone;
}

static void tally_gain(energy_gains *gains, double joules, int body, double time) {
    if (joules > 0 && gains->steps++ == 0) {
        gains->first = time;
    }
    if (joules > gains->most) {
        gains->most = joules;
        gains->body = body;
    }
}

void statistics_add_step(run_statistics *statistics, const sim_world *world) {
    const sim_step_info *info = sim_world_info(world);
    statistics->steps++;
    statistics->iterations += info->iterations;
    statistics->most_iterations =
        info->iterations > statistics->most_iterations ? info->iterations : statistics->most_iterations;
    statistics->worst_residual = fmax(statistics->worst_residual, info->residual);
    statistics->saturated += info->saturated > 0;
    if (info->damped && statistics->damped++ == 0) {
        statistics->first_damped = sim_world_state(world)->time;
    }
    statistics->sleep.bodies += info->asleep_bodies;
    statistics->sleep.now = info->asleep_bodies;
    statistics->sleep.most_bodies = max_count(statistics->sleep.most_bodies, info->asleep_bodies);
    statistics->sleep.woken += info->woken;
    statistics->sleep.stilled += info->stilled;
    if (info->islands) { /* sleeping islands are not judged */
        tally_contacts(&statistics->contact, info, sim_world_state(world)->time);
        tally_overlap(&statistics->overlap, info, sim_world_state(world)->time);
    }
    tally_gain(&statistics->curbed, info->curbed, info->curbed_body, sim_world_state(world)->time);
    tally_gain(&statistics->created, info->created, info->created_body, sim_world_state(world)->time);
    if (info->nonconverged && statistics->nonconverged++ == 0) {
        statistics->first_nonconverged = sim_world_state(world)->time;
    }
}

static void tally_opening(figure_statistics *opening, sim_world *world) {
    int equality;
    double now = sim_world_opening(world, &equality);
    if (equality >= 0 && now > opening->worst) {
        opening->worst = now;
        opening->time = sim_world_state(world)->time;
        copy_bodies(sim_world_model(world)->equality[equality].body, opening->body);
    }
}

void statistics_add_state(run_statistics *statistics, sim_world *world) {
    tally_opening(&statistics->opening, world);
    sim_energy energy = sim_world_energy(world);
    double total = energy.kinetic + energy.potential;
    if (statistics->energy_samples++ == 0) {
        statistics->energy_first = statistics->energy_least = statistics->energy_most = total;
    }
    statistics->energy_last = total;
    statistics->energy_least = fmin(statistics->energy_least, total);
    statistics->energy_most = fmax(statistics->energy_most, total);
}

double statistics_simulated_time(const run_statistics *statistics, const sim_world *world) {
    return sim_world_state(world)->time - statistics->first_time;
}

double statistics_energy_change(const run_statistics *statistics) {
    return fmax(statistics->energy_most - statistics->energy_first,
                statistics->energy_first - statistics->energy_least);
}

bool statistics_sinks(const contact_statistics *statistics) {
    enum { MIN_STEPS = 50, MIN_STEPS_OF_SHORT_RUN = 3 };
    return statistics->most_sinking >= MIN_STEPS ||
           (statistics->most_sinking >= MIN_STEPS_OF_SHORT_RUN && 2 * statistics->most_sinking >= statistics->touching);
}

/* round(T / dt) where T / dt is a whole number but for rounding, else ceil(T / dt): a run that the steps do not divide
 * ends with the first step at or behind T. */
sim_status count_run_steps(const sim_scene *scene, int64_t *steps, sim_error *error) {
    static const double MAX_STEPS = 9e15;          /* below 2^53, so that steps are exact as doubles */
    static const double WHOLE_NUMBER_ERROR = 1e-6; /* steps */
    double duration = scene->duration, step = scene->options.step, count = duration / step, whole = nearbyint(count);
    if (!(count < MAX_STEPS)) {
        return sim_fail(error, SIM_BAD_INPUT, "%g s in steps of %g s exceed the maximum number of steps", duration,
                        step);
    }
    bool divides = fabs(count - whole) < WHOLE_NUMBER_ERROR;
    if (duration > 0 && count < 1 && !(divides && whole > 0)) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "the step of %g s is longer than the duration of %g s: shorten world/step (--step) or "
                        "lengthen world/duration (--duration)",
                        step, duration);
    }
    *steps = (int64_t)(divides ? whole : ceil(count));
    return SIM_OK;
}
