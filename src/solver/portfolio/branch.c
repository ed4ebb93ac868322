/* One turn of a method in a portfolio.  It begins, resumes from its own impulses or from those of another, and what it
 * reaches is kept if it is the best so far.
 *
 * Methods that want velocities are given W = L L' of a local problem; as that is not W to the last bit, who works on W
 * itself confirms the answer.  A W that is not symmetric they take in rounds, one whole solve a turn
 * (symmetric_split.c). */
#include "solver/core/law.h"
#include "solver/matrices/delassus_factor.h"
#include "solver/matrices/symmetric_split.h"
#include "solver/portfolio/auto.h"

#include <math.h>
#include <string.h>

static const double FAR_BETTER = 0.1; /* the part of its own error for which the finisher leaves its way */
static const double GOT_ON = 0.5;     /* the part of what it took last that is worth another try */
/* For work in rounds: a Newton step over the multiplications of its factorisation; a factor of W over rows^3. */
static const double STEP = 0.8, FACTOR = 0.1;
static const double SWEEPS = 3; /* those of the first method that take as long as an iteration of another */
static const double MOST_STEPS = 1e6;

double auto_work(const auto_turns *t) {
    double sum = 0;
    for (int k = 0; k < t->count; k++) {
        sum += t->branch[k].call.work;
    }
    return sum;
}

double auto_unit(const auto_turns *t, const auto_branch *b) {
    return b->call.iteration_work > 0 ? b->call.iteration_work
           : b->expected > 0          ? b->expected
                                      : SWEEPS * t->branch[0].call.iteration_work;
}

/* What a method is given: its own tolerance, and no limit but ours. */
static bool set_options(auto_branch *b, double tolerance, sim_arena *scratch) {
    const sim_solver_info *info = &b->type->info;
    double *value = b->option = ARENA_NEW(scratch, double, info->noptions);
    for (int k = 0; k < info->noptions && value; k++) {
        const sim_solver_option *o = &info->option[k];
        int limit = strcmp(o->name, "max_iterations") == 0 || strcmp(o->name, "rounds") == 0;
        b->limit = strcmp(o->name, "max_iterations") == 0 ? k : b->limit;
        value[k] = strcmp(o->name, "tolerance") == 0 ? tolerance : limit ? o->high : o->default_value;
    }
    b->call.option = value;
    return value != NULL;
}

static bool take_guess(auto_turns *t) {
    const double *given = t->problem->impulse_guess;
    t->guess = given ? ARENA_NEW(t->call->scratch, double, t->problem->nrow) : NULL;
    for (int r = 0; r < t->problem->nrow && t->guess; r++) {
        t->guess[r] = isfinite(given[r]) ? given[r] : 0;
    }
    return !given || t->guess;
}

bool auto_set_up(auto_turns *t, const solver_type *const *type, int count, void **kept) {
    const solver_call *call = t->call;
    const sim_problem *p = t->problem;
    double cubes = sim_problem_local(p) ? delassus_factor_cubes(p, call->scratch) : 0;
    int lawful = law_is_supported(call);
    t->count = count;
    for (int k = 0; k < t->count; k++) {
        auto_branch *b = &t->branch[k];
        const sim_solver_info *info = &type[k]->info;
        *b = (auto_branch){.index = k, .type = type[k], .call = *call};
        b->call.workspace = kept[k];
        b->call.out = &b->out;
        b->out = *call->out;
        b->out.impulse = ARENA_NEW(call->scratch, double, p->nrow);
        b->out.v = ARENA_NEW(call->scratch, double, sim_problem_local(p) ? p->nrow : p->nv);
        b->out.residual = HUGE_VAL;
        b->taken = b->ended = HUGE_VAL;
        if (!b->out.impulse || !b->out.v || !set_options(b, t->tolerance, call->scratch)) {
            return false;
        }
        b->rounds = p->W && !p->W->symmetric && !info->asymmetric;
        b->expected = info->local ? 0 : FACTOR * cubes;
        int unfit = !info->local && (!lawful || (info->bodies && sim_problem_local(p)));
        b->stage = unfit ? AUTO_DONE : AUTO_NOT_BEGUN;
    }
    t->impulse = ARENA_NEW(call->scratch, double, p->nrow);
    t->v = ARENA_NEW(call->scratch, double, p->nv);
    t->least = HUGE_VAL;
    return cubes >= 0 && t->impulse && t->v && take_guess(t);
}

void auto_add_effort(sim_solution *sum, const sim_solution *part) {
    sum->iterations += part->iterations;
    sum->factorisations += part->factorisations;
    sum->searches += part->searches;
    sum->multiplications += part->multiplications;
    sum->factor_seconds += part->factor_seconds;
}

void auto_look(auto_turns *t, auto_branch *b) {
    if (b->looks == AUTO_LOOKS) { /* every other one is enough */
        for (int k = 0; k < AUTO_LOOKS / 2; k++) {
            b->E_at[k] = b->E_at[2 * k];
            b->work_at[k] = b->work_at[2 * k];
        }
        b->looks = AUTO_LOOKS / 2;
    }
    b->E_at[b->looks] = b->out.residual;
    b->work_at[b->looks++] = b->call.work;
    if (b->out.residual < t->E) {
        t->E = b->out.residual;
        t->best = b->index;
        memcpy(t->impulse, b->out.impulse, (size_t)t->problem->nrow * sizeof *t->impulse);
        memcpy(t->v, b->out.v, (size_t)t->problem->nv * sizeof *t->v);
    }
    t->least = fmin(t->least, b->out.residual);
    if (t->least < HUGE_VAL && t->least <= 0.5 * t->halved) {
        t->halved = t->least;
        t->work_at_halving = auto_work(t) - t->began;
    }
}

/* false without memory. */
bool auto_begin(auto_turns *t, auto_branch *b) {
    b->call.problem = t->problem;
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
        t->began += b->expected;
        b->call.problem = &t->velocities;
    }
    b->stage = AUTO_RUNNING;
    b->state = b->type->begin(&b->call);
    if (b->state && t->from) {
        auto_take(t, b, t->from);
    }
    return b->state != NULL;
}

void auto_take(auto_turns *t, auto_branch *b, const double *from) {
    b->type->restart_from(b->state, from);
    b->looks = 0;
    auto_look(t, b);
}

/* The first-order method that has found the best since the finisher last took anything; NULL: none has got on. */
static const auto_branch *found(const auto_turns *t, const auto_branch *finisher) {
    const auto_branch *best = NULL;
    for (int k = 0; k < t->count; k++) {
        const auto_branch *b = &t->branch[k];
        int first_order = b->type != finisher->type && b->stage != AUTO_NOT_BEGUN;
        if (first_order && b->out.residual <= GOT_ON * finisher->taken &&
            (!best || b->out.residual < best->out.residual)) {
            best = b;
        }
    }
    return best && best->out.residual < HUGE_VAL ? best : NULL;
}

bool auto_may_finish(const auto_turns *t, const auto_branch *b, const auto_branch *own) {
    const auto_branch *better = found(t, b);
    if (b->stage == AUTO_NOT_BEGUN && own->stage == AUTO_RUNNING) {
        return better && better->out.residual < FAR_BETTER * own->out.residual;
    }
    return b->stage == AUTO_RUNNING || (b->stage != AUTO_DONE && !own->rounds && better);
}

/* In every other turn a method leaves its own way only for what is far better: some dead ends are left by exchange,
 * others by going on. */
static void exchange(auto_turns *t, auto_branch *b) {
    double lead = b->turns % 2 ? FAR_BETTER : 1;
    int better = t->best >= 0 && t->best != b->index && t->E < lead * b->out.residual;
    int again = b->again && t->best >= 0;
    b->again = 0;
    if (better || again) {
        auto_take(t, b, t->impulse);
    }
}

/* What others have found since it last took anything up. */
static void finish(auto_turns *t, auto_branch *b) {
    const auto_branch *better = found(t, b);
    double enough = b->stage == AUTO_ENDED || b->taken == HUGE_VAL ? HUGE_VAL : FAR_BETTER * b->out.residual;
    if (better && better->out.residual < enough) {
        b->taken = better->out.residual;
        b->stage = AUTO_RUNNING;
        auto_take(t, b, better->out.impulse);
    }
}

void auto_hand_over(auto_turns *t, auto_branch *b) {
    if (t->start->together) {
        exchange(t, b);
    } else {
        finish(t, b);
    }
}

/* false without memory. */
bool auto_begin_anew(auto_turns *t) {
    size_t rows = (size_t)t->problem->nrow;
    double *from = ARENA_NEW(t->call->scratch, double, rows);
    if (!from) {
        return false;
    }
    memset(from, 0, rows * sizeof *from);
    if (t->start->from_guess && t->guess) {
        memcpy(from, t->guess, rows * sizeof *from);
    }
    t->from = from;
    t->began = auto_work(t);
    t->least = t->halved = HUGE_VAL;
    for (int k = 0; k < t->count; k++) {
        auto_branch *b = &t->branch[k];
        b->before = b->call.work;
        b->taken = HUGE_VAL;
        b->again = b->turns = 0;
        if (b->state && b->stage != AUTO_DONE) { /* in rounds it has none */
            b->stage = AUTO_RUNNING;
            auto_take(t, b, t->from);
        }
    }
    return true;
}

/* A factor of W is not W to the last bit: who works on W itself confirms the answer, or goes on from there. */
static void confirm(auto_turns *t, auto_branch *b) {
    auto_branch *judge = &t->branch[0];
    int factored = sim_problem_local(t->problem) && !b->type->info.local;
    if (factored && b->out.residual <= t->tolerance && judge->state) {
        judge->type->restart_from(judge->state, b->out.impulse);
        t->E = judge->out.residual;
        if (t->E > t->tolerance) {
            b->stage = AUTO_DONE;
            judge->stage = AUTO_RUNNING;
            t->best = judge->index;
            memcpy(t->impulse, judge->out.impulse, (size_t)t->problem->nrow * sizeof *t->impulse);
        }
    }
}

/* A method that has come to its end short of the tolerance begins again from what others found, as long as that helps. */
static void end(auto_turns *t, auto_branch *b) {
    b->again = t->start->together && b->out.outcome != SIM_BROKEN_DOWN && t->E > t->tolerance && t->E < HUGE_VAL &&
               t->E <= 0.5 * b->ended;
    b->stage = b->again ? AUTO_RUNNING : b->out.outcome == SIM_BROKEN_DOWN ? AUTO_DONE : AUTO_ENDED;
    b->ended = t->E;
}

bool auto_go_on(auto_turns *t, auto_branch *b, double work) {
    solver_piece piece = b->type->resume(b->state, b->call.work + work);
    auto_look(t, b);
    confirm(t, b);
    if (piece == SIM_PIECE_ENDED && b->stage == AUTO_RUNNING) {
        end(t, b);
    }
    return piece != SIM_PIECE_NO_MEMORY;
}

bool auto_solve_in_rounds(auto_turns *t, auto_branch *b, double steps) {
    sim_problem from = *t->problem;
    sim_solution found = *t->call->out;
    solver_call call = b->call;
    double unit = auto_unit(t, b);
    size_t mark = arena_mark(call.scratch);
    found.impulse = ARENA_NEW(call.scratch, double, from.nrow);
    found.iterations = found.factorisations = found.searches = 0;
    found.multiplications = found.factor_seconds = 0;
    from.impulse_guess = t->best >= 0 && b->turns > 1 ? t->impulse : NULL;
    b->option[b->limit] = fmin(floor(steps), MOST_STEPS);
    call.problem = &from;
    call.out = &found;
    bool done = found.impulse && !symmetric_split_solve(b->type, &call);
    if (done) {
        b->call.iteration_work = found.factorisations ? STEP * found.multiplications / found.factorisations : unit;
        b->call.work += b->expected + found.iterations * b->call.iteration_work;
        t->began += b->expected;
        b->stage = found.outcome == SIM_AT_LIMIT ? AUTO_RUNNING : AUTO_DONE;
        b->out.outcome = found.outcome;
        auto_add_effort(&b->out, &found);
        if (found.residual < b->out.residual) {
            b->out.residual = found.residual;
            memcpy(b->out.impulse, found.impulse, (size_t)from.nrow * sizeof *found.impulse);
        }
        auto_look(t, b);
        confirm(t, b);
    }
    arena_release(call.scratch, mark);
    return done;
}
