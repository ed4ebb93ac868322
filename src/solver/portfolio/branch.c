/* One turn of a method in the portfolio: it begins, resumes from its own impulses or restarts from those of another.
 * Its solution is kept if it is the best so far.
 *
 * Methods that need velocities get W = L L' of a local problem.  L L' is not W to the last bit: a method that works on
 * W itself confirms the solution.  An unsymmetric W is solved in whole solves, one a turn (symmetric_split.c). */
#include "solver/core/law.h"
#include "solver/matrices/delassus_factor.h"
#include "solver/matrices/symmetric_split.h"
#include "solver/portfolio/auto.h"

#include <math.h>
#include <string.h>

static const double MUCH_BETTER_RATIO = 0.1; /* of E: below this ratio to its own a method restarts from another */
static const double PROGRESS_RATIO = 0.5;    /* of E, over that of the impulses taken last: worth another attempt */
/* Work of whole solves: a Newton step over the multiplications of its factorisation; a factor of W over rows^3. */
static const double WORK_OF_STEP = 0.8, WORK_OF_FACTOR = 0.1;
static const double SWEEPS_PER_ITERATION = 3; /* of the first method that take as long as an iteration of another */
static const double MAX_STEPS = 1e6;          /* of a whole solve */

double auto_total_work(const auto_turns *t) {
    double sum = 0;
    for (int k = 0; k < t->count; k++) {
        sum += t->branch[k].call.work;
    }
    return sum;
}

double auto_iterations_left(const auto_turns *t) {
    int most = t->call->out->most_iterations, done = 0;
    for (int k = 0; k < t->count; k++) {
        done += t->branch[k].out.iterations;
    }
    return most > 0 ? most - done : HUGE_VAL;
}

double auto_iteration_work(const auto_turns *t, const auto_branch *b) {
    return b->call.iteration_work > 0 ? b->call.iteration_work
           : b->expected > 0          ? b->expected
                                      : SWEEPS_PER_ITERATION * t->branch[0].call.iteration_work;
}

/* Options of a method: the tolerance, and limits at their maxima, as the portfolio ends turns. */
static bool set_branch_options(auto_branch *b, double tolerance, sim_arena *scratch) {
    const sim_solver_info *info = &b->type->info;
    double *value = b->option = ARENA_NEW(scratch, double, info->noptions);
    for (int k = 0; k < info->noptions && value; k++) {
        const sim_solver_option *o = &info->option[k];
        bool limit = strcmp(o->name, "max_iterations") == 0 || strcmp(o->name, "rounds") == 0;
        b->limit = strcmp(o->name, "max_iterations") == 0 ? k : b->limit;
        b->stalled = strcmp(o->name, "most_stalled") == 0 ? k : b->stalled;
        b->exact = strcmp(o->name, "exact") == 0 ? k : b->exact;
        value[k] = strcmp(o->name, "tolerance") == 0      ? tolerance
                   : strcmp(o->name, "most_stalled") == 0 ? AUTO_MAX_STALLED
                   : limit                                ? o->high
                                                          : o->default_value;
    }
    b->call.option = value;
    return value != NULL;
}

static bool copy_warm_start(auto_turns *t) {
    const double *given = t->problem->impulse_guess;
    t->warm_start = given ? ARENA_NEW(t->call->scratch, double, t->problem->nrow) : NULL;
    for (int r = 0; r < t->problem->nrow && t->warm_start; r++) {
        t->warm_start[r] = isfinite(given[r]) ? given[r] : 0;
    }
    return !given || t->warm_start;
}

/* Options of a branch, and memory of its solution; most problems need those of the first one alone. */
static bool prepare_branch(const auto_turns *t, auto_branch *b) {
    const sim_problem *p = t->problem;
    sim_arena *scratch = t->call->scratch;
    if (b->call.option) {
        return true;
    }
    b->out.impulse = ARENA_NEW(scratch, double, p->nrow);
    b->out.v = ARENA_NEW(scratch, double, sim_problem_local(p) ? p->nrow : p->nv);
    return b->out.impulse && b->out.v && set_branch_options(b, t->tolerance, scratch);
}

bool auto_init_branches(auto_turns *t, const solver_type *const *type, int count, void **kept) {
    /* what decides which branches fit */
    const solver_call *call = t->call;
    const sim_problem *p = t->problem;
    double cubes = sim_problem_local(p) ? delassus_factor_cubes(p, call->scratch) : 0;
    bool lawful = law_is_supported(call), turns = false;
    for (int i = 0; i < p->nconstraint; i++) {
        turns |= p->constraint[i].kind == SIM_CONTACT && sim_contact_turns(&p->constraint[i]);
    }
    t->count = count;
    /* each branch with a call of its own */
    for (int k = 0; k < t->count; k++) {
        auto_branch *b = &t->branch[k];
        const sim_solver_info *info = &type[k]->info;
        *b = (auto_branch){.index = k, .type = type[k], .call = *call};
        b->call.workspace = type[k]->create ? kept[k] : NULL;
        b->call.out = &b->out;
        b->out = *call->out;
        b->call.option = NULL;
        b->out.impulse = b->out.v = NULL;
        b->out.residual = HUGE_VAL;
        b->taken_E = b->ended_E = HUGE_VAL;
        b->whole_solves = p->W && !p->W->symmetric && !info->asymmetric;
        b->expected = info->local ? 0 : WORK_OF_FACTOR * cubes;
        /* branches that cannot take the problem are done */
        bool unfit = (turns && !info->turning) || (!info->local && (!lawful || (info->bodies && sim_problem_local(p))));
        b->stage = unfit ? AUTO_DONE : AUTO_NOT_BEGUN;
    }
    /* the best solution so far */
    t->impulse = ARENA_NEW(call->scratch, double, p->nrow);
    t->v = ARENA_NEW(call->scratch, double, p->nv);
    t->least = HUGE_VAL;
    return cubes >= 0 && t->impulse && t->v && copy_warm_start(t);
}

void auto_add_effort(sim_solution *sum, const sim_solution *part) {
    sum->iterations += part->iterations;
    sum->factorisations += part->factorisations;
    sum->searches += part->searches;
    sum->multiplications += part->multiplications;
    sum->factor_seconds += part->factor_seconds;
}

void auto_record_error(auto_turns *t, auto_branch *b) {
    if (b->records == AUTO_MAX_RECORDS) { /* full: keep every other record */
        for (int k = 0; k < AUTO_MAX_RECORDS / 2; k++) {
            b->E_at[k] = b->E_at[2 * k];
            b->work_at[k] = b->work_at[2 * k];
        }
        b->records = AUTO_MAX_RECORDS / 2;
    }
    b->E_at[b->records] = b->out.residual;
    b->work_at[b->records++] = b->call.work;
    if (b->out.residual < t->E) {
        t->E = b->out.residual;
        t->best = b->index;
        memcpy(t->impulse, b->out.impulse, (size_t)t->problem->nrow * sizeof *t->impulse);
        memcpy(t->v, b->out.v, (size_t)t->problem->nv * sizeof *t->v);
    }
    t->least = fmin(t->least, b->out.residual);
    if (t->least < HUGE_VAL && t->least <= 0.5 * t->halved) {
        t->halved = t->least;
        t->work_at_halving = auto_total_work(t) - t->excluded_work;
    }
}

/* False without memory. */
bool auto_begin_branch(auto_turns *t, auto_branch *b) {
    b->call.problem = t->problem;
    if (!prepare_branch(t, b)) {
        return false;
    }
    if (sim_problem_local(t->problem) && !b->type->info.local) {
        if (!t->factored) {
            t->factored = true;
            t->factor = problem_from_delassus(t->problem, t->call->scratch, &t->velocities);
        }
        if (t->factor != DELASSUS_FACTORED) {
            b->stage = AUTO_DONE;
            b->out.outcome = SIM_BROKEN_DOWN;
            b->out.reason = SIM_REASON_SINGULAR;
            return t->factor != DELASSUS_NO_MEMORY;
        }
        b->call.work += b->expected;
        t->excluded_work += b->expected;
        b->call.problem = &t->velocities;
    }
    b->stage = AUTO_RUNNING;
    b->state = b->type->begin(&b->call);
    if (b->state && t->from) {
        auto_restart_branch(t, b, t->from);
    }
    return b->state != NULL;
}

void auto_restart_branch(auto_turns *t, auto_branch *b, const double *from) {
    b->type->restart_from(b->state, from);
    b->records = 0;
    auto_record_error(t, b);
}

/* First-order method of least E that has made progress since the finisher last took its impulses; NULL: none. */
static const auto_branch *find_better_branch(const auto_turns *t, const auto_branch *finisher) {
    const auto_branch *best = NULL;
    for (int k = 0; k < t->count; k++) {
        const auto_branch *b = &t->branch[k];
        bool first_order = b->type != finisher->type && b->stage != AUTO_NOT_BEGUN;
        if (first_order && b->out.residual <= PROGRESS_RATIO * finisher->taken_E &&
            (!best || b->out.residual < best->out.residual)) {
            best = b;
        }
    }
    return best && best->out.residual < HUGE_VAL ? best : NULL;
}

bool auto_may_finish(const auto_turns *t, const auto_branch *b, const auto_branch *own) {
    const auto_branch *better = find_better_branch(t, b);
    if (b->stage == AUTO_NOT_BEGUN && own->stage == AUTO_RUNNING) {
        return better && better->out.residual < MUCH_BETTER_RATIO * own->out.residual;
    }
    return b->stage == AUTO_RUNNING || (b->stage != AUTO_DONE && !own->whole_solves && better);
}

/* Together: in every other turn a method gives up its impulses only for much better ones.  Some stalls end by exchange,
 * others by more iterations. */
static void restart_from_best(auto_turns *t, auto_branch *b) {
    double lead = b->turns % 2 ? MUCH_BETTER_RATIO : 1;
    bool better = t->best >= 0 && t->best != b->index && t->E < lead * b->out.residual;
    bool again = b->again && t->best >= 0;
    b->again = 0;
    if (better || again) {
        auto_restart_branch(t, b, t->impulse);
    }
}

/* Apart: the finisher restarts from much better impulses of a first-order method. */
static void restart_from_better(auto_turns *t, auto_branch *b) {
    const auto_branch *better = find_better_branch(t, b);
    double enough = b->stage == AUTO_ENDED || b->taken_E == HUGE_VAL ? HUGE_VAL : MUCH_BETTER_RATIO * b->out.residual;
    if (better && better->out.residual < enough) {
        b->taken_E = better->out.residual;
        b->stage = AUTO_RUNNING;
        auto_restart_branch(t, b, better->out.impulse);
    }
}

void auto_exchange(auto_turns *t, auto_branch *b) {
    if (t->start->together) {
        restart_from_best(t, b);
    } else {
        restart_from_better(t, b);
    }
}

/* False without memory. */
bool auto_restart_all(auto_turns *t) {
    size_t rows = (size_t)t->problem->nrow;
    double *from = ARENA_NEW(t->call->scratch, double, rows);
    if (!from) {
        return false;
    }
    memset(from, 0, rows * sizeof *from);
    if (t->start->from_warm_start && t->warm_start) {
        memcpy(from, t->warm_start, rows * sizeof *from);
    }
    t->from = from;
    t->excluded_work = auto_total_work(t);
    t->least = t->halved = HUGE_VAL;
    for (int k = 0; k < t->count; k++) {
        auto_branch *b = &t->branch[k];
        b->work_before = b->call.work;
        b->taken_E = HUGE_VAL;
        b->again = b->turns = 0;
        if (b->state && b->stage != AUTO_DONE) { /* whole solves have no state */
            b->stage = AUTO_RUNNING;
            auto_restart_branch(t, b, t->from);
        }
    }
    return true;
}

/* L L' is not W to the last bit: the first method, which uses W, confirms the solution or continues from it.  False
 * without memory. */
static bool confirm_solution(auto_turns *t, auto_branch *b) {
    auto_branch *judge = &t->branch[0];
    bool factored = sim_problem_local(t->problem) && !b->type->info.local;
    if (!factored || b->out.residual > t->tolerance) {
        return true;
    }
    if (judge->stage == AUTO_NOT_BEGUN && !judge->whole_solves && !auto_begin_branch(t, judge)) {
        return false;
    }
    if (judge->state) {
        judge->type->restart_from(judge->state, b->out.impulse);
        t->E = judge->out.residual;
        if (t->E > t->tolerance) {
            b->stage = AUTO_DONE;
            judge->stage = AUTO_RUNNING;
            t->best = judge->index;
            memcpy(t->impulse, judge->out.impulse, (size_t)t->problem->nrow * sizeof *t->impulse);
        }
    }
    return true;
}

/* A method that has ended short of the tolerance restarts from the best solution, as long as E halves each time. */
static void end_branch(auto_turns *t, auto_branch *b) {
    b->again = t->start->together && b->out.outcome != SIM_BROKEN_DOWN && t->E > t->tolerance && t->E < HUGE_VAL &&
               t->E <= 0.5 * b->ended_E;
    b->stage = b->again ? AUTO_RUNNING : b->out.outcome == SIM_BROKEN_DOWN ? AUTO_DONE : AUTO_ENDED;
    b->ended_E = t->E;
}

bool auto_resume_branch(auto_turns *t, auto_branch *b, double work) {
    double most = b->type->info.option[b->limit].high;
    b->option[b->limit] = fmin(most, b->out.iterations + auto_iterations_left(t));
    solver_piece piece = b->type->resume(b->state, b->call.work + work);
    auto_record_error(t, b);
    bool confirmed = confirm_solution(t, b);
    if (piece == SIM_PIECE_ENDED && b->stage == AUTO_RUNNING) {
        end_branch(t, b);
    }
    return confirmed && piece != SIM_PIECE_NO_MEMORY;
}

bool auto_solve_turn(auto_turns *t, auto_branch *b, double steps) {
    if (!prepare_branch(t, b)) {
        return false;
    }
    sim_problem from = *t->problem;
    sim_solution found = *t->call->out;
    solver_call call = b->call;
    double unit = auto_iteration_work(t, b);
    size_t mark = arena_mark(call.scratch);
    /* the problem with the best impulses as warm start */
    found.impulse = ARENA_NEW(call.scratch, double, from.nrow);
    found.iterations = found.factorisations = found.searches = 0;
    found.multiplications = found.factor_seconds = 0;
    from.impulse_guess = t->best >= 0 && b->turns > 1 ? t->impulse : NULL;
    b->option[b->limit] = fmin(fmin(floor(steps), MAX_STEPS), auto_iterations_left(t));
    call.problem = &from;
    call.out = &found;
    /* the solve, its work and its result */
    bool done = found.impulse && !symmetric_split_solve(b->type, &call);
    if (done) {
        b->call.iteration_work =
            found.factorisations ? WORK_OF_STEP * found.multiplications / found.factorisations : unit;
        b->call.work += b->expected + found.iterations * b->call.iteration_work;
        t->excluded_work += b->expected;
        b->stage = found.outcome == SIM_AT_LIMIT ? AUTO_RUNNING : AUTO_DONE;
        b->out.outcome = found.outcome;
        auto_add_effort(&b->out, &found);
        if (found.residual < b->out.residual) {
            b->out.residual = found.residual;
            memcpy(b->out.impulse, found.impulse, (size_t)from.nrow * sizeof *found.impulse);
        }
        auto_record_error(t, b);
    }
    arena_release(call.scratch, mark);
    return done && confirm_solution(t, b);
}
