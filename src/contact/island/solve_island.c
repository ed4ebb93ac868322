/* Solving an island.
 *
 *     laws of the rows  ->  loops around the solver  ->  energy guard  ->  correction of positions
 *
 * Four fixed points are nested in `solve_rows`.  From the outside:
 *
 *     undo.c         overlaps that a motion can undo
 *     restitution.c  restitution without gain of energy
 *     actuators.c    actuators driven off their side
 *     the solver
 *
 * Each hands the next a problem derived from the island's assembled one, which nobody changes (variant.c).  Where the
 * budget of the step is used up (budget.c), all four end with the last solution. */
#include "contact/island/island.h"
#include "problem/laws.h"
#include "solver/matrices/delassus.h"
#include "solver/solver.h"

enum { MIN_PARALLEL_CONSTRAINTS = 200 }; /* of an island that all threads solve together */
enum { WORK_BETWEEN_CALLERS = 1000 };    /* rows and velocities of iterations, some 50 us, between calls of `stop` */

/* Compliance of a row that counts as rigid under the rigid law, over 1/M: under its weight it gives 1e-5 g dt. */
static const double MAX_RIGID_PART = 1e-5;

/* Work on a problem that is not solved, over that of a hard one: at first, and with other targets (solver/portfolio). */
static const double HARD_WORK_RATIO = 4, THOROUGH_HARD_WORK_RATIO = 2;

static const char NO_MEMORY[] = "no memory for the contacts of an island";

/* An island being solved. */
typedef struct island_call {
    assembly *f;
    const contact_options *options;
    const worker *worker;
    island *is;
    double since; /* s, when the current part began */
    /* calls of the caller's `stop` */
    int left; /* of the solver, until the next one */
    bool stopped;
} island_call;

/* Adds the time since the last lap to a part. */
static void time_lap(island_call *k, int part) {
    const sim_clock *clock = k->f->in->clock;
    if (clock) {
        double now = clock->now(clock->context);
        k->is->seconds[part] += now - k->since;
        k->since = now;
    }
}

/* The energy that forces alone give, by which the elastic law tells loads from squeezes. */
static bool find_force_energy(island *is, sim_arena *scratch) {
    size_t mark = arena_mark(scratch);
    double *work = ARENA_NEW(scratch, double, 2 * (size_t)is->base.nv);
    if (work) {
        is->force_energy = law_force_energy(&is->base, work);
        is->base.force_energy = &is->force_energy;
    }
    arena_release(scratch, mark);
    return work;
}

/* W_ii of the problem with every actuator a row.  One without such rows has the same, and hands it to its solver. */
static bool find_diagonal(const assembly *f, island *is, sim_arena *scratch) {
    double *W = f->diagonal + (ptrdiff_t)SIM_MAX_ROWS * is->first_row;
    if (!is->diagonal && delassus_diagonal(&is->problem, NULL, scratch, W)) {
        is->diagonal = W;
        is->base.diagonal = is->actuators ? NULL : W;
    }
    return is->diagonal != NULL;
}

static undo_rules rules_of_undoing(const island_call *k) {
    const sim_law_options *law = &k->options->law;
    bool rigid = k->options->compliance == SIM_RIGID;
    return (undo_rules){k->f->tables->moved, k->f->tables->size,         law->undo,
                        law->threshold,      rigid ? MAX_RIGID_PART : 0, rigid};
}

/* R and target velocity of every row, with that part of every restitution.  They must not depend on the actuators that
 * are rows: every actuator is one here, as in the problem of `sim_world_problem`. */
static sim_status derive_laws(island_call *k, double restitution, sim_error *error) {
    island *is = k->is;
    const sim_law_options *law = &k->options->law;
    sim_arena *scratch = k->worker->scratch;
    if (k->options->compliance == SIM_ELASTIC && !is->base.force_energy && !find_force_energy(is, scratch)) {
        return sim_fail(error, SIM_NO_RESOURCE, NO_MEMORY);
    }
    derive_full_problem(k->f, is, restitution);
    /* W_ii, by which compliant laws measure */
    if (k->options->compliance != SIM_RIGID && !find_diagonal(k->f, is, scratch)) {
        return sim_fail(error, SIM_NO_RESOURCE, NO_MEMORY);
    }
    /* the law of the step, and the rigid one for the judge */
    sim_regularise(&is->problem, k->options->compliance, law, is->diagonal, is->law.R, is->law.target);
    sim_regularise(&is->problem, SIM_RIGID, law, NULL, is->law.R_rigid, is->law.target_rigid);
    /* overlaps that no motion undoes */
    undo_rules rules = rules_of_undoing(k);
    sim_status status = undo_possible(k->f, is, &rules, scratch);
    return status ? sim_fail(error, status, NO_MEMORY) : SIM_OK;
}

/* The solver asks often: the deadline is read each time; the caller is asked less often where islands are small. */
static bool ask_caller(void *context) {
    island_call *k = context;
    const sim_problem *p = &k->is->problem;
    const sim_solution *at = &k->is->solution;
    if (k->f->in->watch && !k->stopped && k->left-- <= 0) {
        sim_effort effort = {p->nconstraint,      p->nrow,     k->f->nisland, at->factorisations,
                             at->multiplications, at->expected};
        k->left = WORK_BETWEEN_CALLERS / (p->nrow + p->nv + 1);
        k->stopped = k->f->in->watch->stop(k->f->in->watch->context, &effort);
    }
    return k->stopped || budget_is_late(k->is);
}

sim_status fail_stopped(sim_error *error) { return sim_fail(error, SIM_FAILED, "the caller stopped the step"); }

/* One call of the solver, with the iterations that the budget leaves; its effort is added to that of earlier calls. */
static sim_status call_solver(island_call *k, sim_error *error) {
    island *is = k->is;
    int most = k->options->budget.iterations;
    sim_regularisation own = {is->law.R, is->law.target};
    sim_solution before = is->solution;
    is->solution = (sim_solution){.v = is->v, .impulse = is->impulse, .clock = k->f->in->clock};
    is->solution.most_iterations = most > 0 ? most - before.iterations : 0;
    is->solution.patience = is->thorough ? THOROUGH_HARD_WORK_RATIO : HARD_WORK_RATIO;
    if (k->f->in->watch || is->deadline < HUGE_VAL) {
        is->solution.stop = ask_caller;
        is->solution.stop_context = k;
    }
    sim_status status = sim_solver_solve(k->worker->solver, &is->problem, &own, &is->solution, error);
    is->solution.stop = NULL;
    is->solution.reason = is->solution.reason == SIM_REASON_TIME ? SIM_REASON_BUDGET : is->solution.reason;
    is->solution.iterations += before.iterations;
    is->solution.factorisations += before.factorisations;
    is->solution.multiplications += before.multiplications;
    is->solution.factor_seconds += before.factor_seconds;
    return status || !k->stopped ? status : fail_stopped(error);
}

/* A loop around the solver asks for another solution: is there still a budget for it?  Otherwise the last one is that of
 * an unfinished loop. */
static bool may_go_on(island_call *k) {
    sim_solution *s = &k->is->solution;
    bool spent = budget_is_spent(k->is, &k->options->budget);
    if (spent) {
        s->outcome = s->outcome <= SIM_AT_ROUNDING ? SIM_AT_LIMIT : s->outcome;
        s->reason = s->reason ? s->reason : SIM_REASON_BUDGET;
    }
    return !spent;
}

/* Is there no solution, or one that gains what it must not, and might shallow overlaps be the reason?  Then the laws
 * are derived again with those examined, too; whether that lowered any target. */
static bool reconsider_overlaps(island_call *k, sim_status *status, sim_error *error) {
    island *is = k->is;
    bool doubtful = is->solution.outcome > SIM_AT_ROUNDING || guard_excess(is, k->worker->scratch) > 0;
    undo_rules rules = rules_of_undoing(k);
    if (is->thorough || !doubtful || !undo_any(k->f, is, &rules) || !may_go_on(k)) {
        return false;
    }
    int rows = is->rows;
    is->thorough = true;
    *status = derive_laws(k, 1, error);
    if (!*status && !is->held_back) {
        derive_problem(k->f, is, 1, rows);
    }
    return !*status && is->held_back;
}

/* The solution and its certificate: the loops around the solver. */
static sim_status solve_rows(island_call *k, sim_error *error) {
    island *is = k->is;
    restitution_search search;
    sim_status status = SIM_OK;
    do {
        /* restitution: the greatest part of it that creates no energy */
        status = restitution_begin(&search, k->f, is, k->options->law.threshold, k->worker->scratch);
        status = status ? sim_fail(error, status, NO_MEMORY) : SIM_OK;
        do {
            if (!status && search.part != is->restitution) {
                status = derive_laws(k, search.part, error);
            }
            /* actuators: those that the solution drives off their side become rows */
            int rows = actuators_predict_rows(k->f, is);
            do {
                derive_problem(k->f, is, search.part, rows);
                status = status ? status : call_solver(k, error);
                rows += status ? 0 : actuators_add_crossed(k->f, is);
            } while (rows > is->rows && may_go_on(k));
        } while (!status && restitution_next(&search) && may_go_on(k));
        is->seconds[CONTACT_FACTOR] = is->solution.factor_seconds;
        time_lap(k, CONTACT_SOLVER);
        status = status ? status : judge_island(is, k->worker->solver, k->worker->scratch, error);
        time_lap(k, CONTACT_JUDGE);
        /* overlaps: shallow ones are examined only if there is reason to */
    } while (!status && reconsider_overlaps(k, &status, error));
    return status;
}

/* A solution with energy from nothing is replaced by one that gains none, and judged as that. */
static sim_status guard_energy(island_call *k, sim_error *error) {
    island *is = k->is;
    double excess = guard_excess(is, k->worker->scratch);
    if (!(excess > 0)) {
        return SIM_OK;
    }
    if (guard_replace(is, k->worker->scratch)) {
        return sim_fail(error, SIM_NO_RESOURCE, NO_MEMORY);
    }
    sim_status status = judge_island(is, k->worker->solver, k->worker->scratch, error);
    sim_judgement_refuse(&is->judgement, excess);
    time_lap(k, CONTACT_JUDGE);
    return status;
}

sim_status solve_island(assembly *f, const contact_options *options, const worker *w, island *is, sim_error *error) {
    island_call k = {.f = f, .options = options, .worker = w, .is = is};
    is->solution = (sim_solution){0};
    is->thorough = is->refused = false;
    k.since = f->in->clock ? f->in->clock->now(f->in->clock->context) : 0;
    /* laws of the rows */
    sim_status status = sim_solver_accepts(w->solver, &is->base, error);
    status = status ? status : derive_laws(&k, 1, error);
    time_lap(&k, CONTACT_REGULARISE);
    /* velocities and impulses, judged */
    status = status ? status : solve_rows(&k, error);
    status = status ? status : guard_energy(&k, error);
    /* positions */
    double fall = v3_norm(f->tables->model->gravity) * f->in->step;
    if (!status && correct_positions(f, is, fall, w->scratch)) {
        status = sim_fail(error, SIM_NO_RESOURCE, NO_MEMORY);
    }
    is->undone = status ? 0 : guard_undone(is, options->law.threshold);
    time_lap(&k, CONTACT_CORRECTION);
    arena_release(w->scratch, 0);
    return status;
}

/* ---- all islands ---- */

typedef struct islands_call {
    assembly *f;
    const contact_options *options;
    const worker *workers;
} islands_call;

static void solve_small_islands(void *context, int index, int first, int end) {
    const islands_call *all = context;
    for (int i = first; i < end; i++) {
        island *is = &all->f->island[i];
        if (!is->parallel) {
            is->failed = solve_island(all->f, all->options, &all->workers[index], is, NULL);
        }
    }
}

/* More than one thread's part of the whole? */
static bool is_large(const assembly *f, const island *is, int threads) {
    return is->base.nconstraint > f->nconstraint / threads;
}

/* Constraints of the thread with most, of the islands that are not large. */
static int find_rest(const assembly *f, int threads) {
    int rest = 0, most = 0;
    for (int i = 0; i < f->nisland; i++) {
        int count = is_large(f, &f->island[i], threads) ? 0 : f->island[i].base.nconstraint;
        rest += count;
        most = count > most ? count : most;
    }
    return most > rest / threads ? most : rest / threads;
}

/* All threads together solve an island that is large and not small, if the solver uses them.  That changes no bit.  If
 * the others took longer than it saves, each has a thread: two threads, 1.6 times as fast, save 3/8. */
static void mark_large_islands(const islands_call *all, sim_threads *threads) {
    const assembly *f = all->f;
    int count = threads_count(threads), rest = find_rest(f, count);
    bool shares = solver_uses_threads(all->workers[0].solver) && count > 1;
    for (int i = 0; i < f->nisland; i++) {
        island *is = &f->island[i];
        int n = is->base.nconstraint;
        is->parallel = shares && n >= MIN_PARALLEL_CONSTRAINTS && is_large(f, is, count) && 3 * n > 8 * rest;
    }
}

static void solve_large_islands(const islands_call *all, sim_threads *threads) {
    const worker *w = &all->workers[0];
    solver_set_threads(w->solver, threads);
    for (int i = 0; i < all->f->nisland; i++) {
        island *is = &all->f->island[i];
        if (is->parallel) {
            is->failed = solve_island(all->f, all->options, w, is, NULL);
        }
    }
    solver_set_threads(w->solver, NULL);
}

void solve_islands(assembly *f, const contact_options *options, const worker *workers, sim_threads *threads) {
    islands_call all = {f, options, workers};
    mark_large_islands(&all, threads);
    budget_share_time(f, &options->budget);
    solve_large_islands(&all, threads);
    threads_run(threads, f->nisland, solve_small_islands, &all);
}
