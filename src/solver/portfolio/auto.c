/* Portfolio of solvers: several methods take turns at one problem (docs/solvers/auto.md).
 *
 * Whole Newton steps (acn) solve nearly all steps of a simulation, so they come first, from the warm start.  A run
 * ends with its part of the patience, or where E has not halved in AUTO_MAX_STALLED outer iterations.  Then acn begins
 * again, on another course: by its quick rule or without extrapolation from no impulses, then by the exact rule.  The
 * others take turns after it, from the best impulses, and in the end acn begins once more from theirs.  Of local
 * problems acn takes those with a symmetric W; under an unsymmetric one nsn takes the turns of canal.  Of the turns,
 *
 *   - PGS begins, unless a warm start is nearly a solution: Newton's method finishes best;
 *   - one continues while E falls so fast that, at this rate, it ends sooner than the next method is likely to;
 *   - after Newton's method SubADMM may try; then, each time, the first-order method whose E fell fastest in its last
 *     turn, for its work, and none less than a third as long as the other;
 *   - they get longer: Newton's method has four times the work of the others together, these as much as it.
 *
 * Starts.  TOGETHER: a method restarts from the best impulses if they are much better than its own.  APART: each from
 * its own, as E has minima under friction in which Newton's method stalls.  The last start begins from zero.  One has
 * failed when the work has grown by a factor since E last halved, and each method has had a least number of iterations.
 * Work is counted in multiplications, not in seconds: the same problem takes the same turns.
 *
 * Patience.  A step of a simulation gives up after 4 H, and 2 H more where it changes the targets and tries again:
 *
 *     H = 17 sqrt(n) min(1, n/400)     Newton steps where all of n contacts give way: falls take up to 1.9 H
 *     H = 40 sqrt(n), at least 200     where some are rigid: falls and piles of balls take up to 1.5 H in each run */
#include "solver/portfolio/auto.h"
#include "solver/core/law.h"
#include "solver/core/natural_map.h"
#include "solver/core/outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const solver_type solver_pgs;
extern const solver_type solver_subadmm;
extern const solver_type solver_canal;
extern const solver_type solver_acn;
extern const solver_type solver_nsn;

/* First-order methods, Newton's method, and the finisher of their results.  Iterations that each needs where it does
 * well; least iterations of a turn; stalled iterations before a start has failed; work over that of the other kind. */
static const struct {
    const solver_type *type;
    double expected_iterations, min_turn, least, work_share;
} methods[] = {
    {&solver_pgs, 40, 12, 2000, 1},  {&solver_subadmm, 120, 36, 2000, 1},
    {&solver_canal, 20, 36, 150, 4}, {&solver_canal, 20, 36, 0, 4},
    {.type = &solver_acn},
};

/* The first TURNS take turns. */
enum { PGS, SUBADMM, NEWTON, FINISHER, TURNS, FIRST = TURNS, BRANCHES };

static const char *const names[] = {"pgs", "subadmm", "canal", "acn", "nsn", NULL};

enum { TOLERANCE, OPTIONS };
static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {.name = "tolerance",
                   .help = "error against the law given at which the solver stops",
                   .low = 0,
                   .high = 1,
                   .default_value = 1e-8},
};

enum { MAX_DENSE_CONSTRAINTS = 500 };      /* of an unsymmetric W, up to which nsn takes the turns of canal */
static const double WHOLE_TURN = 5;        /* least steps of a whole solve, over the root of the constraints */
enum { MAX_SWEPT_CONSTRAINTS = 8 };        /* up to which sweeps take less time than the preparation of a Newton step */
static const double MAX_WARM_E = 0.1;      /* E of a warm start up to which Newton's method begins */
static const double MAX_WORK_RATIO = 3;    /* of one first-order method over the other, apart */
static const double TURN_EXTENSION = 3;    /* of a turn, while E falls fast */
static const double SLICE_RATIO = 0.2;     /* of the work of a turn, between records of E */
static const double FINISH_WORK_RATIO = 1; /* of acn from the impulses of the turns, over its first run */
/* Newton steps of a hard problem over the root of its contacts; contacts from which that holds if all give way. */
static const double HARD_STEPS = 17, HARD_RIGID_STEPS = 40, MANY_CONTACTS = 400;
/* At least: acn may stall in its first run; its exact run gets the steps that few contacts take. */
enum { MIN_HARD_STEPS = 72, MIN_HARD_RIGID_STEPS = 200 };
static const double MIN_HARD_WORK = 1e5; /* multiplications, some 0.1 ms: methods of the turns have to begin, too */
/* Part of the patience that has gone at the end of the turns, and of all. */
static const double TURNS_WORK_SHARE = 0.985, WHOLE_WORK_SHARE = 1;
static const double NO_SOLUTION_E = 1e3; /* zero impulses where some are needed have E of some 1e8 (natural_map.c) */

/* Starts.  `least`: factor on `least` above; `growth`: of work, per method that has begun, in which E must halve. */
static const auto_start starts[] = {
    {.together = 1, .from_warm_start = 1, .least = 0.2, .growth = 1},
    {.together = 0, .from_warm_start = 1, .least = 0.2, .growth = 1},
    {.together = 0, .from_warm_start = 0, .least = 1, .growth = 8},
};

/* Values of the option "exact" of acn. */
typedef enum auto_rule { RULE_QUICK, RULE_EXACT, RULE_PLAIN } auto_rule;

enum { STARTS = sizeof starts / sizeof *starts };

/* A run of acn: its rule, from no impulses or from the start that acn chooses, and the part of the patience that has
 * gone at its end. */
typedef struct acn_run {
    auto_rule rule;
    bool cold;
    double share;
} acn_run;

enum { RUNS = 4 };
static const acn_run runs_giving_way[RUNS] = {
    {RULE_QUICK, false, 0.5}, {RULE_QUICK, true, 0.97}, {RULE_PLAIN, false, 0.97}, {RULE_EXACT, false, 0.97}};
static const acn_run runs_rigid[RUNS] = {
    {RULE_QUICK, false, 0.4}, {RULE_PLAIN, true, 0.7}, {RULE_QUICK, true, 0.97}, {RULE_EXACT, false, 0.97}};

static bool has_begun(const auto_branch *b) { return b->stage != AUTO_NOT_BEGUN; }
static bool has_branch_ended(const auto_branch *b) { return b->stage == AUTO_ENDED || b->stage == AUTO_DONE; }

/* Remaining work, from the fall of E over the last half of the turn. */
static double estimate_remaining_work(const auto_turns *t, const auto_branch *b) {
    int last = b->records - 1, from = last;
    if (last < 1) {
        return HUGE_VAL;
    }
    double began = b->work_at[0], now = b->work_at[last];
    while (from > 0 && b->work_at[from] - began > 0.5 * (now - began)) {
        from--;
    }
    double fall = log(b->E_at[from] / b->E_at[last]);
    return fall > 0 ? log(b->E_at[last] / t->tolerance) * (now - b->work_at[from]) / fall : HUGE_VAL;
}

static double estimate_total_work(const auto_turns *t, const auto_branch *b) {
    if (has_branch_ended(b)) {
        return HUGE_VAL;
    }
    return methods[b->index].expected_iterations * auto_iteration_work(t, b) + (has_begun(b) ? 0 : b->expected);
}

/* Least total work of another method, of those running and the first of each kind. */
static double estimate_best_alternative(const auto_turns *t, const auto_branch *b) {
    double least = HUGE_VAL;
    for (int k = 0; k < TURNS; k++) {
        bool seen = k == PGS || k == NEWTON || t->branch[k].stage == AUTO_RUNNING;
        least = k != b->index && seen ? fmin(least, estimate_total_work(t, &t->branch[k])) : least;
    }
    return least;
}

/* Fall of log E in the last turn, over its work. */
static double rate_of_fall(const auto_branch *b) {
    int last = b->records - 1;
    if (!has_begun(b)) {
        return HUGE_VAL;
    }
    return last > 0 && b->E_at[last] > 0 ? log(b->E_at[0] / b->E_at[last]) / fmax(1, b->work_at[last] - b->work_at[0])
                                         : 0;
}

/* First-order method of the next turn: one with much less than its share, else an untried one, else that of the fastest
 * fall. -1: all have ended. */
static int choose_first_order(const auto_turns *t) {
    const auto_branch *b[] = {&t->branch[PGS], &t->branch[SUBADMM]};
    int best = -1;
    for (int k = 0; k < 2; k++) {
        bool left = !has_branch_ended(b[k]),
             behind =
                 !t->start->together && MAX_WORK_RATIO * auto_work_since_start(b[k]) < auto_work_since_start(b[!k]);
        if (left && behind) {
            return k;
        }
        best = left && (best < 0 || (b[PGS]->turns > 0 && rate_of_fall(b[k]) > rate_of_fall(b[best]))) ? k : best;
    }
    return best;
}

/* Newton's method or the finisher, whichever has less work; -1: neither can resume. */
static int choose_newton(const auto_turns *t) {
    const auto_branch *own = &t->branch[NEWTON], *other = &t->branch[FINISHER];
    bool goes_on = !has_branch_ended(own),
         finishes = !t->start->together && own->turns > 0 && auto_may_finish(t, other, own);
    if (goes_on && finishes) {
        return auto_work_since_start(other) < auto_work_since_start(own) ? FINISHER : NEWTON;
    }
    return goes_on ? NEWTON : finishes ? FINISHER : -1;
}

/* Method of the turn after `turn`; -1: none is left. */
static int choose_branch(const auto_turns *t, int turn) {
    int newton = choose_newton(t), first_order = choose_first_order(t);
    bool alternate = turn >= NEWTON ? first_order >= 0 : newton < 0;
    return alternate ? first_order : newton;
}

static double sum_work(const auto_turns *t, int first, int end) {
    double sum = 0;
    for (int k = first; k < end; k++) {
        sum += auto_work_since_start(&t->branch[k]);
    }
    return sum;
}

/* Solved, or the caller's limits are reached. */
static bool is_portfolio_done(const auto_turns *t) {
    return t->E <= t->tolerance || auto_iterations_left(t) <= 0 || solution_stopped(t->call->out);
}

/* Work left of this part of the patience. */
static double patience_left(const auto_turns *t, double part) {
    return t->hard_work < HUGE_VAL ? part * t->call->out->patience * t->hard_work - auto_total_work(t) : HUGE_VAL;
}

/* The problem is solved, or the present start has failed.  `near`: E suffices for a step of a simulation. */
static bool has_start_ended(const auto_turns *t) {
    const auto_branch *own = &t->branch[NEWTON];
    double work = auto_total_work(t) - t->excluded_work, least = 0, growth = 0;
    bool may_end = t->start->together || own->whole_solves || has_branch_ended(own),
         near = t->warm_start && t->E <= MAX_E_AT_ROUNDING;
    for (int k = 0; k < TURNS; k++) {
        least += (near ? starts[0].least : t->start->least) * methods[k].least * t->branch[k].call.iteration_work;
        growth += k != FINISHER && (t->branch[k].turns || has_begun(&t->branch[k])) ? near ? 1 : t->start->growth : 0;
    }
    return is_portfolio_done(t) || patience_left(t, TURNS_WORK_SHARE) <= 0 ||
           (may_end && work > least && work > growth * t->work_at_halving);
}

/* Work that a method lacks to have the share of its kind. */
static double work_to_fair_share(const auto_turns *t, const auto_branch *b) {
    double first_order = sum_work(t, PGS, NEWTON), newton = sum_work(t, NEWTON, TURNS),
           share = methods[b->index].work_share;
    return b->index >= NEWTON ? share * first_order - newton : share * newton - first_order;
}

/* Work of a turn: at least `min_turn` iterations; as much again as before where only first-order methods are left. */
static double work_of_turn(const auto_turns *t, const auto_branch *b) {
    double least = fmax(1, methods[b->index].min_turn * b->call.iteration_work), alone = 0;
    if (b->index < NEWTON && choose_newton(t) < 0) {
        alone = auto_work_since_start(b);
    }
    return fmax(fmax(least, alone), work_to_fair_share(t, b));
}

/* A method takes impulses of others before its turn.  A new one does not, unless a warm start led the others to where
 * first-order methods stall. */
static bool is_to_exchange(const auto_turns *t, const auto_branch *b, bool new) {
    return b->index == FINISHER || (t->start->together && (!new || (t->warm_start && b->index != NEWTON)));
}

/* Steps of a whole solve: it begins anew each time. */
static double steps_of_whole_solve(const auto_turns *t, const auto_branch *b) {
    double least = fmax(methods[b->index].min_turn, WHOLE_TURN * sqrt(t->problem->nconstraint));
    return fmax(least, work_to_fair_share(t, b) / auto_iteration_work(t, b));
}

/* False without memory. */
static bool take_turn(auto_turns *t, auto_branch *b) {
    /* a method that takes the symmetric split solves in one piece */
    b->turns++;
    if (b->whole_solves) {
        return auto_solve_turn(t, b, steps_of_whole_solve(t, b));
    }
    /* begin, or take over better impulses */
    bool new = !has_begun(b);
    if (new && !auto_begin_branch(t, b)) {
        return false;
    }
    if (b->stage != AUTO_DONE && is_to_exchange(t, b, new)) {
        auto_exchange(t, b);
    }
    /* iterations up to its share of work, longer if it is about to end */
    double began = b->call.work, share = work_of_turn(t, b);
    while (!has_start_ended(t) && b->stage == AUTO_RUNNING && !b->again) {
        double done = b->call.work - began;
        if (done >= share && (done >= TURN_EXTENSION * share ||
                              estimate_remaining_work(t, b) > fmax(2 * done, estimate_best_alternative(t, b)))) {
            break;
        }
        double slice = fmin(SLICE_RATIO * done, patience_left(t, TURNS_WORK_SHARE));
        if (!auto_resume_branch(t, b, fmax(b->call.iteration_work, slice))) {
            return false;
        }
    }
    return true;
}

/* SIM_AT_ROUNDING requires a small E, too. */
static sim_outcome outcome_of(const auto_turns *t, const auto_branch *b) {
    if (t->E <= t->tolerance) {
        return SIM_SOLVED;
    }
    if (b && has_branch_ended(b) && b->out.outcome == SIM_AT_ROUNDING && t->E <= MAX_E_AT_ROUNDING) {
        return SIM_AT_ROUNDING;
    }
    return t->E < NO_SOLUTION_E || choose_branch(t, PGS) >= 0 ? SIM_AT_LIMIT : SIM_BROKEN_DOWN;
}

/* Reason of the first method that broke down. */
static sim_reason reason_of_branches(const auto_turns *t) {
    for (int k = 0; k < BRANCHES; k++) {
        if (t->branch[k].out.outcome == SIM_BROKEN_DOWN) {
            return outcome_reason(&t->branch[k].out, false);
        }
    }
    return SIM_REASON_NONFINITE;
}

static int name_of_branch(const auto_branch *b) {
    int k = 0;
    while (strcmp(names[k], b->type->info.name) != 0) {
        k++;
    }
    return k;
}

static void write_outcome(auto_turns *t) {
    sim_solution *out = t->call->out;
    const auto_branch *b = t->best >= 0 ? &t->branch[t->best] : NULL;
    for (int k = 0; k < BRANCHES; k++) {
        auto_add_effort(out, &t->branch[k].out);
    }
    if (!sim_problem_local(t->problem)) {
        memcpy(out->v, b ? t->v : t->problem->v_free, (size_t)t->problem->nv * sizeof *out->v);
    }
    for (int r = 0; r < t->problem->nrow; r++) {
        out->impulse[r] = b ? t->impulse[r] : 0;
    }
    out->finished_by = t->best < 0 ? -1 : name_of_branch(b);
    out->residual = t->E;
    out->outcome = outcome_of(t, b);
    out->reason = out->outcome != SIM_AT_LIMIT   ? reason_of_branches(t)
                  : auto_iterations_left(t) <= 0 ? SIM_REASON_ITERATIONS
                                                 : SIM_REASON_STANDSTILL;
}

/* First method: Newton's, if the warm start is nearly a solution.  A few contacts take less time to sweep than to
 * prepare a Newton step.  False without memory. */
static bool choose_first_branch(auto_turns *t, int *turn) {
    auto_branch *b = &t->branch[NEWTON];
    *turn = PGS;
    if (t->warm_start && t->problem->nconstraint > MAX_SWEPT_CONSTRAINTS && !has_begun(b) &&
        !sim_problem_local(t->problem)) {
        if (!auto_begin_branch(t, b)) {
            return false;
        }
        auto_restart_branch(t, b, t->warm_start);
        *turn = t->E < MAX_WARM_E ? NEWTON : PGS;
    }
    return true;
}

/* Newton steps of acn on a hard problem of this size and law. */
static double hard_steps(const auto_turns *t) {
    double n = t->problem->nconstraint;
    return law_has_rigid_contact(t->call) ? fmax(MIN_HARD_RIGID_STEPS, HARD_RIGID_STEPS * sqrt(n))
                                          : fmax(MIN_HARD_STEPS, HARD_STEPS * sqrt(n) * fmin(1, n / MANY_CONTACTS));
}

/* Work of a hard problem: that of an iteration of acn is known once it has begun. */
static void find_hard_work(auto_turns *t) {
    bool bounded = t->call->out->patience > 0;
    double work = hard_steps(t) * t->branch[FIRST].call.iteration_work;
    t->hard_work = bounded ? fmax(MIN_HARD_WORK, work) : HUGE_VAL;
}

/* acn takes no unsymmetric W. */
static bool has_first_branch(const auto_turns *t) {
    return t->branch[FIRST].stage != AUTO_DONE && !t->branch[FIRST].whole_solves;
}

/* False without memory. */
static bool begin_first_branch(auto_turns *t) {
    auto_branch *b = &t->branch[FIRST];
    if (!auto_begin_branch(t, b)) {
        return false;
    }
    if (b->stage == AUTO_DONE) { /* W has no factor */
        return true;
    }
    auto_record_error(t, b);
    find_hard_work(t);
    return true;
}

/* acn from its impulses, until it has ended or had so much work or that part of the patience, which counts for no turn.
 * False without memory. */
static bool run_first_branch(auto_turns *t, double most, double part) {
    auto_branch *b = &t->branch[FIRST];
    double before = b->call.work;
    if (!has_first_branch(t)) {
        return true;
    }
    most = fmin(most, patience_left(t, part));
    while (b->stage == AUTO_RUNNING && most > 0 && !is_portfolio_done(t)) {
        if (!auto_resume_branch(t, b, most)) {
            return false;
        }
        b->stage = b->stage == AUTO_RUNNING ? AUTO_ENDED : b->stage;
    }
    b->again = 0;
    t->first_work = t->first_work > 0 ? t->first_work : b->call.work;
    t->excluded_work += b->call.work - before;
    t->least = t->halved = HUGE_VAL;
    return true;
}

/* acn once more, from these impulses, by one of its rules, with so much work at most.  False without memory. */
static bool repeat_first_branch(auto_turns *t, const double *from, auto_rule rule, double most, double part) {
    auto_branch *b = &t->branch[FIRST];
    bool exact = rule == RULE_EXACT,
         rounds = rule != RULE_QUICK && b->out.outcome == SIM_AT_ROUNDING; /* no rule finds a better solution */
    if (is_portfolio_done(t) || b->stage == AUTO_DONE || b->stage == AUTO_NOT_BEGUN || rounds) {
        return true;
    }
    b->stage = AUTO_RUNNING;
    b->option[b->exact] = rule;
    b->option[b->stalled] = exact ? b->type->info.option[b->stalled].default_value : AUTO_MAX_STALLED;
    auto_restart_branch(t, b, from);
    return run_first_branch(t, most, part);
}

/* Are there no impulses but given forces? */
static bool is_cold(const auto_turns *t, const double *impulse) {
    for (int r = 0; r < t->problem->nrow; r++) {
        if (impulse[r] != 0 && !isinf(t->call->R[r])) {
            return false;
        }
    }
    return true;
}

/* All runs of acn, until one succeeds.  False without memory. */
static bool take_first_branch(auto_turns *t) {
    size_t rows = (size_t)t->problem->nrow;
    if (!has_first_branch(t)) {
        return true;
    }
    /* starts */
    double *from = ARENA_NEW(t->call->scratch, double, rows), *none = ARENA_NEW(t->call->scratch, double, rows);
    if (!from || !none || !begin_first_branch(t)) {
        return false;
    }
    memcpy(from, t->branch[FIRST].out.impulse, rows * sizeof *from);
    memset(none, 0, rows * sizeof *none);
    /* runs; the first may have been one from no impulses */
    const acn_run *run = law_has_rigid_contact(t->call) ? runs_rigid : runs_giving_way;
    bool done = run_first_branch(t, HUGE_VAL, run->share);
    for (int k = 1; k < RUNS && done; k++) {
        bool same = run[k].rule == run->rule && run[k].cold && is_cold(t, from);
        done = same || repeat_first_branch(t, run[k].cold ? none : from, run[k].rule, HUGE_VAL, run[k].share);
    }
    return done;
}

/* acn from the best impulses of the turns.  False without memory. */
static bool finish_with_first_branch(auto_turns *t) {
    return t->best < 0 || t->best == FIRST ||
           repeat_first_branch(t, t->impulse, RULE_QUICK, FINISH_WORK_RATIO * t->first_work, WHOLE_WORK_SHARE);
}

/* False without memory. */
static bool take_turns(auto_turns *t, int turn) {
    while (turn >= 0 && !has_start_ended(t)) {
        if (!take_turn(t, &t->branch[turn])) {
            return false;
        }
        turn = choose_branch(t, turn);
    }
    return true;
}

/* The turns of a start.  False without memory. */
static bool take_start(auto_turns *t, bool first) {
    int turn = PGS;
    return (!first || choose_first_branch(t, &turn)) && take_turns(t, turn);
}

static sim_status solve_auto(solver_call *call) {
    const solver_type *type[BRANCHES];
    auto_turns *t = ARENA_NEW(call->scratch, auto_turns, 1);
    if (!t) {
        return SIM_NO_RESOURCE;
    }
    /* methods */
    *t = (auto_turns){.call = call, .problem = call->problem, .best = -1, .E = HUGE_VAL, .halved = HUGE_VAL};
    t->hard_work = HUGE_VAL;
    t->start = starts;
    t->tolerance = call->option[TOLERANCE];
    for (int k = 0; k < BRANCHES; k++) {
        type[k] = methods[k].type;
    }
    bool symmetric = !t->problem->W || t->problem->W->symmetric;
    type[NEWTON] = symmetric || t->problem->nconstraint > MAX_DENSE_CONSTRAINTS ? type[NEWTON] : &solver_nsn;
    if (!auto_init_branches(t, type, BRANCHES, call->workspace)) {
        return SIM_NO_RESOURCE;
    }
    if (!take_first_branch(t)) {
        return SIM_NO_RESOURCE;
    }
    /* starts of the others, until one succeeds */
    for (int k = 0; k < STARTS && !is_portfolio_done(t) && patience_left(t, TURNS_WORK_SHARE) > 0; k++) {
        bool same = k > 0 && starts[k].from_warm_start && !t->warm_start; /* as the next start, from zero */
        t->start = &starts[k];
        if (!same && ((k > 0 && !auto_restart_all(t)) || !take_start(t, k == 0))) {
            return SIM_NO_RESOURCE;
        }
    }
    if (!finish_with_first_branch(t)) {
        return SIM_NO_RESOURCE;
    }
    write_outcome(t);
    return SIM_OK;
}

static void destroy_workspaces(void *kept) {
    void **all = kept;
    for (int k = 0; k < BRANCHES; k++) {
        if (all[k]) {
            methods[k].type->destroy(all[k]);
        }
    }
    free(all);
}

static void *create_workspaces(void) {
    void **all = calloc(BRANCHES, sizeof *all);
    bool done = all != NULL;
    for (int k = 0; k < BRANCHES && done; k++) {
        all[k] = methods[k].type->create ? methods[k].type->create() : NULL;
        done = !methods[k].type->create || all[k];
    }
    if (all && !done) {
        destroy_workspaces(all);
    }
    return done ? all : NULL;
}

const solver_type solver_auto = {
    .info = {.name = "auto",
             .method = "acn, then pgs, subadmm and canal in turns, chosen by the fall of the error",
             .paper = "Alart, Curnier 1991; Jourdan, Alart, Jean 1998; Lee et al. 2024",
             .cone = SIM_CONE_STRICT,
             .default_law = SIM_ELASTIC,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .turning = true,
             .local = 1,
             .asymmetric = true,
             .bodies = 1,
             .branch = names,
             .counts = SIM_COUNTS_SEARCHES,
             .noptions = OPTIONS,
             .option = options},
    .uses_threads = true,
    .create = create_workspaces,
    .destroy = destroy_workspaces,
    .solve = solve_auto,
};
