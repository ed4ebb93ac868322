/* How did the run go?  Counts and extremes, from step to step. */
#include "app/output/run_statistics.h"

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

void tally_start(run_tally *tally, const sim_world *world) {
    const sim_state *state = sim_world_state(world);
    *tally = (run_tally){.started = clock_seconds(), .first_step = state->step, .first_time = state->time};
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
                                       [FIGURE_SLIP] = 1 + SIM_WORST_SLIP};
    return worst[figure] ? info->worst_body[worst[figure] - 1] : nobody;
}

static int greater(int a, int b) { return a > b ? a : b; }

static void tally_sag(contact_tally *tally, const sim_step_info *info, double time) {
    static const double much = 0.05; /* of the radius of what sinks */
    int same = info->sag_body[0] == tally->sinking_body[0] && info->sag_body[1] == tally->sinking_body[1];
    if (info->sag_part > tally->sag_part) {
        tally->sag_part = info->sag_part;
        tally->sag = (tally_figure){.worst = info->sag, .time = time};
        copy_bodies(info->sag_body, tally->sag.body);
    }
    tally->sinking = info->sag_part <= much ? 0 : same ? tally->sinking + 1 : 1;
    copy_bodies(info->sag_body, tally->sinking_body);
    tally->most_sinking = greater(tally->most_sinking, tally->sinking);
}

static void tally_contacts(contact_tally *tally, const sim_step_info *info, double time) {
    const sim_certificate *c = &info->certificate;
    const double figure[FIGURES] = {[FIGURE_E] = c->E,
                                    [FIGURE_OWN] = c->own,
                                    [FIGURE_MOMENTUM] = c->momentum,
                                    [FIGURE_PENETRATION] = c->penetration,
                                    [FIGURE_SLIP] = c->slip,
                                    [FIGURE_EXCESS] = c->excess};
    tally->touching += info->contacts > 0;
    tally->contacts += info->contacts;
    tally->most_contacts = greater(tally->most_contacts, info->contacts);
    tally->most_islands = greater(tally->most_islands, info->islands);
    tally->iterations += info->solver_iterations;
    tally->total += info->solver_total;
    tally->most_iterations = greater(tally->most_iterations, info->solver_iterations);
    tally->unsolved_islands += info->unsolved;
    for (int k = 0; k < SIM_REASONS; k++) {
        tally->gave_up.of[k] += info->gave_up[k];
    }
    for (int k = 0; k < SIM_MAX_BRANCHES; k++) {
        tally->finished.of[k] += info->finished[k];
    }
    if (info->unsolved && tally->unsolved_steps++ == 0) {
        tally->first_unsolved = time;
        copy_bodies(info->worst_body[SIM_WORST_UNSOLVED], tally->unsolved_body);
    }
    for (int k = 0; k < FIGURES; k++) {
        tally_figure *f = &tally->figure[k];
        f->sum += figure[k];
        if (tally->steps == 0 || figure[k] > f->worst) {
            f->worst = figure[k];
            f->time = time;
            copy_bodies(bodies_of(info, k), f->body);
        }
    }
    tally_sag(tally, info, time);
    if (info->lift > tally->lift.worst) {
        tally->lift = (tally_figure){.worst = info->lift, .time = time};
        copy_bodies(info->lift_body, tally->lift.body);
    }
    tally->steps++;
}

static void tally_overlap(overlap_tally *tally, const sim_step_info *info, double time) {
    if (info->stuck && tally->stuck++ == 0) {
        tally->first_stuck = time;
    }
    if (info->stuck && info->stuck_depth > tally->depth) {
        tally->depth = info->stuck_depth;
        tally->body[0] = info->stuck_body[0];
        tally->body[1] = info->stuck_body[1];
    }
    if (info->refused && tally->refused++ == 0) {
        tally->first_refused = time;
    }
    tally->undone += info->undone;
}

void tally_step(run_tally *tally, const sim_world *world) {
    const sim_step_info *info = sim_world_info(world);
    tally->steps++;
    tally->iterations += info->iterations;
    tally->most_iterations = info->iterations > tally->most_iterations ? info->iterations : tally->most_iterations;
    tally->worst_residual = fmax(tally->worst_residual, info->residual);
    tally->saturated += info->saturated > 0;
    tally->sleep.bodies += info->asleep_bodies;
    tally->sleep.now = info->asleep_bodies;
    tally->sleep.most_bodies = greater(tally->sleep.most_bodies, info->asleep_bodies);
    tally->sleep.woken += info->woken;
    tally->sleep.stilled += info->stilled;
    if (info->islands) { /* what sleeps is not judged */
        tally_contacts(&tally->contact, info, sim_world_state(world)->time);
        tally_overlap(&tally->overlap, info, sim_world_state(world)->time);
    }
    if (info->nonconverged && tally->nonconverged++ == 0) {
        tally->first_nonconverged = sim_world_state(world)->time;
    }
}

void tally_energy(run_tally *tally, sim_world *world) {
    sim_energy energy = sim_world_energy(world);
    double total = energy.kinetic + energy.potential;
    if (tally->energy_samples++ == 0) {
        tally->energy_first = tally->energy_least = tally->energy_most = total;
    }
    tally->energy_last = total;
    tally->energy_least = fmin(tally->energy_least, total);
    tally->energy_most = fmax(tally->energy_most, total);
}

double tally_simulated(const run_tally *tally, const sim_world *world) {
    return sim_world_state(world)->time - tally->first_time;
}

double tally_energy_change(const run_tally *tally) {
    return fmax(tally->energy_most - tally->energy_first, tally->energy_first - tally->energy_least);
}

int tally_sinks(const contact_tally *tally) {
    enum { LONG = 50, FEW = 3 };
    return tally->most_sinking >= LONG || (tally->most_sinking >= FEW && 2 * tally->most_sinking >= tally->touching);
}
