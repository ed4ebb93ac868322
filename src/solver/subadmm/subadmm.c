/* SubADMM: subsystem-based alternating direction method of multipliers (Lee et al. 2024, sec. VI, algorithm 2).
 *
 * Each constraint i is split into slots z_ij, one for each body j that it touches (slots.c).  Velocities, slots and
 * multipliers are updated in turn, each tree and each constraint by itself:
 *
 *     (A_j + sum_i beta_i J_ij'J_ij) v_j = A_j v* + sum_i J_ij'(beta_i z_ij + lambda_i)          (eq. 34)
 *     beta_i z_ij = beta_i J_ij v_j - lambda_i + lambda_i',   (sum_j z_ij, lambda_i') in the law  (eqs. 35 to 39)
 *
 * The slots are not stored.  Inserted into eq. 34 they leave, with x = v - v* and the same f for all slots of a row,
 *
 *     x_j <- x_j + (A_j + kappa C_j)^-1 (sum_i J_ij' f_i - A_j x_j),     f_i = lambda_i' + (lambda_i' - lambda_i)
 *
 * (trees.c), and the law needs their sum J_i x only (law.c): the three ways to split differ in C and the number of
 * slots.
 *
 * Penalties: beta_i = kappa / w_i, w_i = trace W_ii / rows the inverse mass at constraint i.  Differs from the paper,
 * which has one beta: masses and units of rows may differ.  kappa steers primal / dual residual, as energies
 * (measure.c), to a balance by factors of the root of its ratio (eq. 43).  The balance is larger while E is large: soft
 * penalties spread load over a heap in few iterations, stiff ones settle stick and slip.  A good warm start begins
 * stiffer.  C does not depend on kappa: a change costs one factorisation.
 *
 * Anderson acceleration (anderson.c) extrapolates a map of three iterations.  The method stops on E of
 * v = v* + A^-1 J' lambda (measure.c) and returns the state of least E. */
#include "solver/core/law.h"
#include "solver/core/stall.h"
#include "solver/subadmm/lanes/batch_kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, ITERATIONS, SPLIT, FACTORISATION, ACCELERATION, LANES_AT_ONCE, MAX_WORK, OPTIONS };

static const char *const splits[] = {"bodies", "trees", "none", NULL};
static const char *const factorisations[] = {"crba", "aba", NULL};
static const char *const widths[] = {"vector", "scalar", NULL};
static const char *const accelerations[] = {"none", "anderson", NULL};

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {.name = "tolerance",
                   .help = "error against the law given at which the solver stops",
                   .low = 0,
                   .high = 1,
                   .default_value = 1e-6},
    [MAX_ITERATIONS] = {.name = "max_iterations",
                        .help = "limit of the iterations",
                        .low = 0,
                        .high = 1e9,
                        .default_value = 5000,
                        .integer = true},
    [ITERATIONS] = {.name = "iterations",
                    .help = "fixed number of iterations, whatever E is; 0: until the tolerance",
                    .low = 0,
                    .high = 1e9,
                    .default_value = 0,
                    .integer = true},
    [SPLIT] = {.name = "split",
               .help = "slots of a constraint: one for each body, one for each tree, or none",
               .high = 2,
               .default_value = SUBADMM_BODIES,
               .integer = true,
               .choices = splits,
               .study = true},
    [FACTORISATION] = {.name = "factorisation",
                       .help = "factorisation of trees: sparse along their branches, or joint by joint",
                       .high = 1,
                       .integer = true,
                       .choices = factorisations,
                       .study = true},
    [ACCELERATION] = {.name = "acceleration",
                      .help = "Anderson acceleration of three iterations at a time",
                      .high = 1,
                      .default_value = 1,
                      .integer = true,
                      .choices = accelerations,
                      .study = true},
    [LANES_AT_ONCE] = {.name = "lanes",
                       .help = "SIMD width: the machine's vectors, or one number",
                       .high = 1,
                       .integer = true,
                       .choices = widths,
                       .study = true},
    [MAX_WORK] = SOLVER_WORK_OPTION,
};

static const double FIRST_KAPPA = 1, FIRST_KAPPA_NEAR = 5; /* the latter where E of the warm start is below LARGE_E */
static const double MIN_KAPPA = 1e-6, MAX_KAPPA = 1e6;
static const double MAX_KAPPA_FACTOR = 10; /* of one change */
/* Steered ratio primal / dual: the least, and the greatest, which holds while E is above LARGE_E. */
static const double MIN_BALANCE = 0.07, MAX_BALANCE = 0.5, LARGE_E = 5e-4;
static const double BALANCE_TOLERANCE = 2;  /* factor by which the ratio may differ */
static const double INTERVAL_GROWTH = 1.02; /* of the evaluations between changes of kappa, each time */
enum { MAP_ITERATIONS = 3 };                /* in one application of the map that is extrapolated */
enum { ANDERSON_WINDOW = 10, MAX_STALLED_EVALUATIONS = 10 };
enum { KEEP_ALL = 100 };                   /* evaluations; more than a contact is ever counted open */
static const double PROGRESS_RATIO = 0.99; /* of the least E, for the stall watch */
static const double MAX_ROUNDINGS = 1e3;   /* E at rounding, over kappa DBL_EPSILON */

/* State of the iteration besides the vectors. */
typedef struct progress {
    int iteration, in_map;  /* count; iterations done of the present application of the map */
    int started_at;         /* iteration before the first one from these impulses */
    int next_evaluation;    /* iteration */
    stall_watch stall;      /* of E, counted in evaluations */
    double since_change;    /* evaluations since kappa last changed */
    double change_interval; /* evaluations between changes of kappa, at least */
    double change;          /* factor on kappa, due after this iteration */
    bool refactor;          /* C has changed, too */
    anderson extrapolation;
    sim_outcome outcome; /* SIM_OUTCOMES: none yet */
} progress;

static bool allocate_vectors(subadmm *s) {
    const sim_problem *p = s->problem;
    size_t rows = (size_t)p->nrow, n = (size_t)p->nconstraint, nv = (size_t)p->nv;
    struct {
        double **at;
        size_t count;
    } all[] = {{&s->weight, n}, {&s->slack, rows},   {&s->inverse_mass, n}, {&s->rho, n}, {&s->target, rows},
               {&s->q, rows},   {&s->v, nv + LANES}, {&s->momentum, nv},    {&s->dx, nv}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        *all[k].at = ARENA_NEW(s->call->scratch, double, all[k].count);
        if (!*all[k].at) {
            return false;
        }
    }
    s->G = s->split == SUBADMM_NONE ? ARENA_NEW(s->call->scratch, cone_hessian, n) : NULL;
    return s->split != SUBADMM_NONE || s->G;
}

/* ---- evaluation of E ---- */

/* Keeps the state of the least E; of a fixed number of iterations the last state. */
static void keep_least_error(subadmm *s, progress *at) {
    stall_watch_update_least(&at->stall, s->E);
    if (s->E < s->best || s->call->option[ITERATIONS] > 0) {
        s->best = s->E;
        memcpy(s->least, s->state, (size_t)s->numbers * sizeof *s->least);
    }
}

/* Factor on kappa from the ratio of the residuals. */
static void adapt_penalty(const subadmm *s, progress *at) {
    double balance = fmax(MIN_BALANCE, MAX_BALANCE * fmin(1, s->best / LARGE_E)),
           ratio = s->primal / (balance * s->dual);
    at->since_change++;
    if (at->since_change >= at->change_interval && isfinite(ratio) &&
        (ratio > BALANCE_TOLERANCE || ratio < 1 / BALANCE_TOLERANCE)) {
        double change = fmin(MAX_KAPPA_FACTOR, fmax(1 / MAX_KAPPA_FACTOR, sqrt(ratio)));
        at->change = fmin(MAX_KAPPA, fmax(MIN_KAPPA, s->kappa * change)) / s->kappa;
        at->since_change = 0;
        at->change_interval *= INTERVAL_GROWTH;
    }
}

static bool is_at_rounding(const subadmm *s, const progress *at) {
    return at->stall.stalled >= MAX_STALLED_EVALUATIONS && s->best <= MAX_ROUNDINGS * fmax(1, s->kappa) * DBL_EPSILON;
}

/* E and residuals, between the updates of lambda and x; `first`: before the first iteration.  SIM_OUTCOMES: no end. */
static sim_outcome evaluate_iterate(subadmm *s, progress *at, bool first) {
    const double *o = s->call->option;
    /* E, and the next evaluation: rarer as iterations grow */
    subadmm_eval_error(s);
    s->call->work += s->work.evaluation;
    keep_least_error(s, at);
    solver_record(s->call, s->E, NAN);
    at->started_at = first ? at->iteration : at->started_at;
    int since = at->iteration - at->started_at;
    at->next_evaluation = at->iteration + MAP_ITERATIONS * (since < 30 ? 2 : since < 120 ? 4 : since / 30);
    /* ends */
    if (!isfinite(s->E)) {
        s->call->out->reason = SIM_REASON_NONFINITE;
        return SIM_BROKEN_DOWN;
    }
    if (o[ITERATIONS] == 0 && s->best <= o[TOLERANCE]) {
        return SIM_SOLVED;
    }
    if (o[ITERATIONS] == 0 && is_at_rounding(s, at)) {
        s->call->out->reason = SIM_REASON_STANDSTILL;
        return s->best <= MAX_E_AT_ROUNDING ? SIM_AT_ROUNDING : SIM_AT_LIMIT;
    }
    /* penalty and open contacts */
    if (!first) {
        subadmm_eval_residuals(s);
        adapt_penalty(s, at);
    }
    at->refactor = subadmm_cull_open(s, first ? 1 : at->change != 1 ? 2 : KEEP_ALL);
    return SIM_OUTCOMES;
}

/* ---- iterations ---- */

static hessian_result change_penalty(subadmm *s, progress *at) {
    s->kappa *= at->change;
    hessian_result result = subadmm_factor(s, at->refactor);
    s->call->out->factorisations++;
    s->call->work += s->work.factor;
    anderson_restart(&at->extrapolation);
    subadmm_set_scale(s, &at->extrapolation);
    at->change = 1;
    at->refactor = false;
    return result;
}

static int max_iterations(const subadmm *s) {
    const double *o = s->call->option;
    return (int)(o[ITERATIONS] > 0 ? o[ITERATIONS] : o[MAX_ITERATIONS]);
}

/* One iteration, with an evaluation of E between its halves where one is due.  False without memory. */
static bool iterate_once(subadmm *s, progress *at) {
    bool spent = s->call->work > s->call->option[MAX_WORK] * 1e9;
    bool last = at->iteration == max_iterations(s) || spent || solution_stopped(s->call->out);
    bool ends = at->in_map == MAP_ITERATIONS - 1;
    bool evaluates = last || (at->iteration >= at->next_evaluation && ends);
    if (at->in_map == 0) {
        anderson_begin(&at->extrapolation, s->state);
    }
    /* the iteration proper */
    if (evaluates) {
        memcpy(s->before, s->state, (size_t)s->numbers * sizeof *s->before);
    }
    subadmm_spread_velocities(s);
    subadmm_update_impulses(s);
    if (!subadmm_step_trees(s)) {
        return false;
    }
    s->call->work += s->call->iteration_work;
    /* E, and the end */
    if (evaluates) {
        at->outcome = evaluate_iterate(s, at, false);
        if (at->outcome == SIM_OUTCOMES && last) {
            at->outcome = SIM_AT_LIMIT;
            s->call->out->reason = spent ? SIM_REASON_WORK : SIM_REASON_NONE;
        }
    }
    if (ends) {
        anderson_end(&at->extrapolation, s->state);
    }
    at->in_map = (at->in_map + 1) % MAP_ITERATIONS;
    return true;
}

/* x <- A^-1 J' lambda, which evaluate_iterate has computed. */
static void set_velocities_from_impulses(subadmm *s) {
    const admm_lanes *l = &s->lanes;
    memcpy(l->row, l->response, (size_t)(LANES * l->nrow) * sizeof *l->row);
    for (int k = 0; k < s->ntree; k++) {
        const subadmm_tree *t = &s->tree[k];
        if (t->form != SUBADMM_LANE && t->form != SUBADMM_ROW) {
            memcpy(s->x + t->v0, s->v + t->v0, (size_t)t->nv * sizeof *s->x);
        }
    }
}

/* Start from the present impulses: open contacts are left out, x <- A^-1 J' lambda.  False without memory. */
static bool start_from_impulses(subadmm *s, progress *at) {
    at->outcome = evaluate_iterate(s, at, true);
    if (at->outcome == SIM_OUTCOMES && max_iterations(s) == 0) {
        at->outcome = SIM_AT_LIMIT;
    }
    if (at->outcome != SIM_OUTCOMES) {
        return true;
    }
    at->refactor = true;
    at->change = at->iteration == 0 && s->best < LARGE_E ? FIRST_KAPPA_NEAR / s->kappa : 1;
    hessian_result result = change_penalty(s, at);
    set_velocities_from_impulses(s);
    at->outcome = result == HESSIAN_INDEFINITE ? SIM_BROKEN_DOWN : SIM_OUTCOMES;
    return result != HESSIAN_NO_MEMORY;
}

/* Iterations until the end, or until the call's work reaches `until`.  False without memory. */
static bool iterate_until(subadmm *s, progress *at, double until) {
    while (at->outcome == SIM_OUTCOMES && s->call->work < until) {
        s->call->out->iterations = ++at->iteration;
        if (!iterate_once(s, at)) {
            return false;
        }
        if (at->outcome != SIM_OUTCOMES || (at->change == 1 && !at->refactor)) {
            continue;
        }
        hessian_result result = change_penalty(s, at);
        if (result == HESSIAN_NO_MEMORY) {
            return false;
        }
        at->outcome = result == HESSIAN_INDEFINITE ? SIM_BROKEN_DOWN : at->outcome;
    }
    return true;
}

/* Unsplit: scales of velocities, from the diagonal of A. */
static bool prepare_unsplit(subadmm *s) {
    s->size = ARENA_NEW(s->call->scratch, double, s->problem->nv);
    if (!s->size || !hessian_prepare(s->whole, s->problem, SPD_AUTO)) {
        return false;
    }
    hessian_mass_diagonal(s->whole, s->size);
    for (int k = 0; k < s->ntree; k++) {
        for (int j = s->tree[k].v0; j < s->tree[k].v0 + s->tree[k].nv; j++) {
            s->size[j] = sqrt(s->size[j]);
        }
    }
    return true;
}

static bool prepare_splitting(subadmm *s) {
    const double *o = s->call->option;
    s->bodies.is = s->split == SUBADMM_BODIES ? sim_problem_find_bodies(s->problem) : NULL;
    s->kernels = (int)o[LANES_AT_ONCE] ? &admm_scalar : &admm_vector;
    s->batch_kernels = (int)o[LANES_AT_ONCE] ? &subadmm_batch_scalar : &subadmm_batch_vector;
    s->kappa = FIRST_KAPPA;
    if (!allocate_vectors(s) || !subadmm_eval_constants(s)) {
        return false;
    }
    for (int i = 0; i < s->problem->nconstraint; i++) {
        s->weight[i] = 1 / s->inverse_mass[i];
    }
    return subadmm_make_layout(s, (int)o[FACTORISATION]) && (s->split != SUBADMM_NONE || prepare_unsplit(s)) &&
           subadmm_make_trees(s);
}

typedef struct splitting {
    subadmm s;
    progress at;
    double written_E; /* E of the solution as written; -1: none yet */
} splitting;

static void *begin_subadmm(solver_call *call) {
    splitting *r = ARENA_NEW(call->scratch, splitting, 1);
    int window = (int)call->option[ACCELERATION] ? ANDERSON_WINDOW : 0;
    if (!r) {
        return NULL;
    }
    *r = (splitting){.s = {.call = call, .problem = call->problem, .whole = call->workspace, .best = HUGE_VAL},
                     .at = {.change = 1, .change_interval = 1, .stall = stall_watch_start(PROGRESS_RATIO)},
                     .written_E = -1};
    subadmm *s = &r->s;
    s->split = (subadmm_split)(int)call->option[SPLIT];
    if (!prepare_splitting(s) || !anderson_make(&r->at.extrapolation, s->independent, window, call->scratch)) {
        return NULL;
    }
    subadmm_count_work(s);
    call->work += s->work.preparation;
    return start_from_impulses(s, &r->at) ? r : NULL;
}

static void write_best(splitting *r) {
    if (r->written_E != r->s.best || r->s.call->option[ITERATIONS] > 0) {
        subadmm_write_solution(&r->s);
        r->written_E = r->s.best;
    }
    r->s.call->out->residual = r->s.best;
}

static solver_piece resume_subadmm(void *state, double until) {
    splitting *r = state;
    sim_solution *out = r->s.call->out;
    if (!iterate_until(&r->s, &r->at, until)) {
        return SIM_PIECE_NO_MEMORY;
    }
    write_best(r);
    out->outcome = r->at.outcome;
    return r->at.outcome == SIM_OUTCOMES ? SIM_PIECE_PAUSED : SIM_PIECE_ENDED;
}

/* As begin_subadmm with this warm start, but for kappa. */
static void restart_subadmm(void *state, const double *impulse) {
    splitting *r = state;
    subadmm_restart(&r->s, impulse);
    r->at.change = r->at.change_interval = 1;
    r->at.in_map = 0;
    r->at.stall = stall_watch_start(PROGRESS_RATIO);
    r->s.best = HUGE_VAL;
    start_from_impulses(&r->s, &r->at);
    write_best(r);
}

static sim_status solve_subadmm(solver_call *call) {
    return law_solve_in_one_piece(call, begin_subadmm, resume_subadmm);
}

const solver_type solver_subadmm = {
    .info = {.name = "subadmm",
             .method = "alternating direction method of multipliers, split by bodies and contacts",
             .paper = "Lee et al. 2024",
             .cone = SIM_CONE_STRICT,
             .default_law = SIM_RIGID,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .bodies = true,
             .noptions = OPTIONS,
             .option = options},
    .uses_threads = true,
    .create = hessian_create_workspace,
    .destroy = hessian_free_workspace,
    .solve = solve_subadmm,
    .begin = begin_subadmm,
    .resume = resume_subadmm,
    .restart_from = restart_subadmm,
};
