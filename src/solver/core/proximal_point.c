/* Proximal point iteration around Newton's method; see the header. */
#include "solver/core/proximal_point.h"

#include <math.h>
#include <string.h>

static const double MAX_MAP_RATIO = 0.3, PROGRESS_RATIO = 0.9; /* of |F| at the start of an outer iteration */
/* On alpha, after one step, two, up to four, more; after a failure. */
static const double ALPHA_FACTOR_1 = 0.01, ALPHA_FACTOR_2 = 0.1, ALPHA_FACTOR_4 = 0.3, ALPHA_FACTOR_MORE = 0.6;
/* On the last alpha that failed: least alpha after a success; after each further success, and near the solution. */
static const double FLOOR_RATIO = 3, FLOOR_DECAY = 0.4, FLOOR_DECAY_NEAR = 0.05;
enum { NEAR_SUCCESSES = 2 }; /* outer iterations of one step since the last failure, near the solution */
static const double ALPHA_GROWTH = 4, MIN_ALPHA = 1e-12, MAX_ALPHA = 1e3;
/* Newton steps of an outer iteration; after TRIAL_STEPS it has failed if |F| is above its start by that ratio. */
enum { MAX_STEPS = 6, TRIAL_STEPS = 3 };
static const double MAX_MAP_GROWTH = 3;
/* The exact rule: |F| over the part of the change of gamma that alpha explains; first and greatest alpha; on alpha, after
 * up to four steps, up to eight, and a failure; on the floor, after a success. */
static const double EXACT_MAP_RATIO = 0.1, EXACT_FIRST_ALPHA = 1e-2, EXACT_MAX_ALPHA = 10;
static const double EXACT_FACTOR_4 = 0.1, EXACT_FACTOR_8 = 0.3, EXACT_GROWTH = 10, EXACT_FLOOR_DECAY = 0.8;
enum { EXACT_MAX_STEPS = 10 };

/* The start of an outer iteration, beyond the end of the one before. */
static void extrapolate_start(proximal_point *p) {
    if (!p->held || p->plain) {
        p->momentum = 1;
        memcpy(p->before, p->gamma, (size_t)p->rows * sizeof *p->gamma);
        return;
    }
    double next = 0.5 * (1 + sqrt(1 + 4 * p->momentum * p->momentum)), part = (p->momentum - 1) / next;
    for (int r = 0; r < p->rows; r++) {
        double gamma = p->gamma[r];
        p->gamma[r] += part * (gamma - p->before[r]);
        p->before[r] = gamma;
    }
    p->momentum = next;
    p->eval_error(p->self);
}

/* One outer iteration by the exact rule: the next begins where it did, if it is not solved. */
static int solve_proximal_problem_exactly(proximal_point *p) {
    size_t bytes = (size_t)p->rows * sizeof *p->gamma;
    memcpy(p->centre, p->gamma, bytes);
    if (p->begin) {
        p->begin(p->self);
    }
    p->eval_map(p->self);
    /* Newton steps until the map is small beside the proximal term */
    for (int k = 1; k <= EXACT_MAX_STEPS && !p->has_ended(p->self); k++) {
        p->out->iterations++;
        if (!p->take_step(p->self)) {
            break;
        }
        p->eval_error(p->self);
        p->record(p->self);
        double size = p->eval_map(p->self), part = EXACT_MAP_RATIO * p->alpha / (1 + p->alpha);
        if (size <= part * p->distance(p->self)) {
            return k;
        }
    }
    /* not solved */
    memcpy(p->gamma, p->centre, bytes);
    p->eval_error(p->self);
    return 0;
}

static void update_exact_alpha(proximal_point *p, int steps) {
    if (steps == 0) {
        p->floor = FLOOR_RATIO * p->alpha;
        p->alpha = fmin(EXACT_MAX_ALPHA, EXACT_GROWTH * p->alpha);
        return;
    }
    double part = steps <= 4 ? EXACT_FACTOR_4 : steps <= 8 ? EXACT_FACTOR_8 : 1;
    p->floor = fmax(MIN_ALPHA, EXACT_FLOOR_DECAY * p->floor);
    p->alpha = fmax(p->floor, part * p->alpha);
}

/* One outer iteration; its number of steps, 0: not solved. */
static int solve_proximal_problem(proximal_point *p) {
    /* the centre of the proximal term */
    extrapolate_start(p);
    size_t bytes = (size_t)p->rows * sizeof *p->gamma;
    memcpy(p->centre, p->gamma, bytes);
    memcpy(p->least, p->gamma, bytes);
    if (p->begin) {
        p->begin(p->self);
    }
    /* Newton steps until the map has fallen enough */
    double first = p->eval_map(p->self), least = PROGRESS_RATIO * first;
    for (int k = 1; k <= MAX_STEPS && !p->has_ended(p->self); k++) {
        p->out->iterations++;
        if (!p->take_step(p->self)) {
            break;
        }
        p->eval_error(p->self);
        p->record(p->self);
        double size = p->eval_map(p->self);
        if (size <= MAX_MAP_RATIO * first) {
            return k;
        }
        if (k >= TRIAL_STEPS && size > MAX_MAP_GROWTH * first) {
            break;
        }
        if (size < least) {
            least = size;
            memcpy(p->least, p->gamma, bytes);
        }
    }
    /* not solved: the point of the least map */
    memcpy(p->gamma, p->least, bytes);
    p->eval_error(p->self);
    return 0;
}

static void update_alpha(proximal_point *p, int steps) {
    double part = steps == 0   ? ALPHA_GROWTH
                  : steps == 1 ? ALPHA_FACTOR_1
                  : steps == 2 ? ALPHA_FACTOR_2
                  : steps <= 4 ? ALPHA_FACTOR_4
                               : ALPHA_FACTOR_MORE;
    double next = part * p->alpha;
    p->held = steps > 0 && next < p->floor;
    p->single = steps == 0 ? 0 : p->single + (steps == 1);
    if (steps == 0) {
        p->floor = FLOOR_RATIO * p->alpha;
    } else {
        next = fmax(next, p->floor);
        p->floor *= p->single < NEAR_SUCCESSES ? FLOOR_DECAY : FLOOR_DECAY_NEAR;
    }
    p->alpha = fmin(MAX_ALPHA, fmax(MIN_ALPHA, next));
}

void proximal_point_start(proximal_point *p, double alpha) {
    p->alpha = p->exact ? fmin(EXACT_FIRST_ALPHA, alpha) : alpha;
    p->floor = 0;
    p->single = 0;
    p->held = false;
    p->stall = stall_watch_start(0.5);
}

sim_outcome proximal_point_iterate(proximal_point *p) {
    while (!p->has_ended(p->self) && !(p->is_paused && p->is_paused(p->self))) {
        int steps = p->exact ? solve_proximal_problem_exactly(p) : solve_proximal_problem(p);
        p->out->failures += steps == 0;
        (p->exact ? update_exact_alpha : update_alpha)(p, steps);
        stall_watch_update(&p->stall, *p->best_E);
        if (p->stall.stalled > p->max_stalled) {
            return SIM_STALLED;
        }
    }
    return SIM_AT_LIMIT;
}
