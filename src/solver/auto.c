/* Which method for which problem?  Several take turns at the same one, and may go on from each other's impulses.
 *
 * First-order methods are cheap: most problems they answer in some tens of sweeps, and where forces travel far they stall.
 * Newton's method answers these in some tens of steps, each of which costs a few sweeps or, where all touch all, hundreds.
 * The problem does not tell which it will be; the error E does, as it falls:
 *
 *   - PGS begins, unless a guess is at hand that is nearly right: to finish is what Newton's is best at;
 *   - a turn goes on while the error falls so fast that, at this rate, it ends sooner than the next is likely to;
 *   - Newton's method begins its first turn from nothing all the same: the impulses of sweeps are rough where contacts share
 *     loads, and cost it more steps than they save; in later turns the impulses of others are a way out of dead ends;
 *   - after that SubADMM may try, whose iterations cost a third of a sweep and carry less far; then, each time, the first-order
 *     method whose error fell fastest in its last turn, for its work;
 *     It begins from nothing, too, unless all began from a guess: then that is where the others have got stuck;
 *   - turns get longer: Newton's method has four times as much work as the others together, these as much as it.
 *
 * So no more is spent than a small multiple of what the best of them alone would have needed.  Work is counted in
 * multiplications, never in seconds: the same problem takes the same way.
 *
 * It gives up where the work has grown so many times since the error was last halved: PATIENCE for each method that took part. */
#include "solver/auto.h"
#include "solver/natural.h"
#include "solver/reason.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const solver_type solver_pgs;
extern const solver_type solver_subadmm;
extern const solver_type solver_canal;

/* First-order methods, and the finisher.  How many iterations each is likely to need where it does well, how many its first turn has at
 * least, how many have to be in vain before all is given up; and how much work it has beside that of all others. */
static const struct {
    const solver_type *type;
    double likely, first, least, share;
} methods[] = {
    {&solver_pgs, 40, 12, 2000, 1},
    {&solver_subadmm, 120, 36, 2000, 1},
    {&solver_canal, 20, 36, 150, 4},
};

enum { BRANCHES = sizeof methods / sizeof *methods, FINISHER = BRANCHES - 1 };

static const char *const names[BRANCHES + 1] = {"pgs", "subadmm", "canal", NULL};

enum { TOLERANCE, OPTIONS };
static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {"tolerance", "E at which it stops", 0, 1, 1e-8, 0, NULL},
};

enum { FEW = 8, MOST_TURNS = 200 }; /* constraints; turns get longer, so that there never are so many */
static const double NEARLY = 0.1;   /* E of a guess with which the finisher begins */
static const double PATIENCE = 8;   /* growth of work, for each method that has begun, in which E must be halved */
static const double EXTENSION = 3;  /* of a turn, while it looks well */
static const double SLICE = 0.2;    /* of the work so far, between looks */

/* Work still to do, as the error falls: by the fall over the last part of the turn. */
static double remaining(const auto_turns *t, const auto_branch *b) {
    int last = b->looks - 1, from = last;
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

static double likely(const auto_turns *t, const auto_branch *b) {
    if (b->stage == AUTO_DONE) {
        return HUGE_VAL;
    }
    return methods[b->index].likely * auto_unit(t, b) + (b->stage == AUTO_NOT_BEGUN ? b->expected : 0);
}

/* Of those that have been seen at work, and the first two. */
static double next_best(const auto_turns *t, const auto_branch *b) {
    double least = HUGE_VAL;
    for (int k = 0; k < BRANCHES; k++) {
        int seen = k == 0 || k == FINISHER || t->branch[k].stage == AUTO_RUNNING;
        least = k != b->index && seen ? fmin(least, likely(t, &t->branch[k])) : least;
    }
    return least;
}

/* Of E in its last turn, over the work. */
static double fall(const auto_branch *b) {
    int last = b->looks - 1;
    if (b->stage == AUTO_NOT_BEGUN) {
        return HUGE_VAL;
    }
    return last > 0 && b->E_at[last] > 0 ? log(b->E_at[0] / b->E_at[last]) / fmax(1, b->work_at[last] - b->work_at[0])
                                         : 0;
}

/* Whose turn: of first-order methods that of the fastest fall, none untried; -1: all have ended. */
static int choose(const auto_turns *t) {
    int best = -1;
    for (int k = 0; k < FINISHER; k++) {
        int left = t->branch[k].stage != AUTO_DONE;
        best =
            left && (best < 0 || (t->branch[0].turns > 0 && fall(&t->branch[k]) > fall(&t->branch[best]))) ? k : best;
    }
    return best;
}

static double work_of_first_order(const auto_turns *t) { return auto_work(t) - t->branch[FINISHER].call.work; }

static int over(const auto_turns *t) {
    double work = auto_work(t) - t->set_up, least = 0, patience = 0;
    for (int k = 0; k < BRANCHES; k++) {
        least += methods[k].least * t->branch[k].call.unit;
        patience += t->branch[k].turns || t->branch[k].stage != AUTO_NOT_BEGUN ? PATIENCE : 0;
    }
    return t->E <= t->tolerance || solution_stopped(t->call->out) ||
           (work > least && work > patience * t->work_at_halving);
}

/* 0 without memory. */
static int take_turn(auto_turns *t, auto_branch *b) {
    if (b->stage == AUTO_DONE) {
        return 1;
    }
    b->turns++;
    if (b->rounds) {
        double left = methods[b->index].share * (auto_work(t) - b->call.work) - b->call.work;
        return auto_solve_in_rounds(t, b, fmax(methods[b->index].first, left / auto_unit(t, b)));
    }
    int begun = b->stage == AUTO_RUNNING;
    if (!begun && !auto_begin(t, b)) {
        return 0;
    }
    if (b->stage == AUTO_RUNNING && (begun || (t->guess && b->index != FINISHER))) {
        auto_hand_over(t, b);
    }
    double own = b->index == FINISHER ? b->call.work : work_of_first_order(t), others = auto_work(t) - own;
    double began = b->call.work, first = methods[b->index].first * b->call.unit;
    double share =
        fmax(fmax(first, 1), methods[b->index].share * others - own); /* something, even if there is nothing */
    while (!over(t) && b->stage == AUTO_RUNNING && !b->again) {
        double done = b->call.work - began;
        if (done >= share && (done >= EXTENSION * share || remaining(t, b) > fmax(2 * done, next_best(t, b)))) {
            break;
        }
        if (!auto_go_on(t, b, fmax(b->call.unit, SLICE * done))) {
            return 0;
        }
    }
    return 1;
}

static int any_left(const auto_turns *t) {
    for (int k = 0; k < BRANCHES; k++) {
        if (t->branch[k].stage != AUTO_DONE) {
            return 1;
        }
    }
    return 0;
}

/* What is to call itself as right as rounding allows must be right. */
static sim_outcome outcome_of(const auto_turns *t, const auto_branch *b) {
    if (t->E <= t->tolerance) {
        return SIM_SOLVED;
    }
    if (b && b->stage == AUTO_DONE && b->out.outcome == SIM_AT_ROUNDING && t->E <= NATURAL_RIGHT) {
        return SIM_AT_ROUNDING;
    }
    return t->E < HUGE_VAL || any_left(t) ? SIM_AT_LIMIT : SIM_BROKEN_DOWN;
}

/* Why there is nothing to hand out: what the first that broke down says. */
static sim_reason reason_of_branches(const auto_turns *t) {
    for (int k = 0; k < BRANCHES; k++) {
        if (t->branch[k].out.outcome == SIM_BROKEN_DOWN) {
            return reason_of(&t->branch[k].out, 0);
        }
    }
    return SIM_REASON_NONFINITE;
}

static void report(auto_turns *t) {
    sim_solution *out = t->call->out;
    const auto_branch *b = t->best >= 0 ? &t->branch[t->best] : NULL;
    for (int k = 0; k < BRANCHES; k++) {
        auto_add_effort(out, &t->branch[k].out);
    }
    if (!sim_problem_local(t->problem)) {
        memcpy(out->v, b ? b->out.v : t->problem->v_free, (size_t)t->problem->nv * sizeof *out->v);
    }
    for (int r = 0; r < t->problem->nrow; r++) {
        out->impulse[r] = b ? b->out.impulse[r] : 0;
    }
    out->finished_by = t->best;
    out->residual = t->E;
    out->outcome = outcome_of(t, b);
    out->reason = out->outcome == SIM_AT_LIMIT ? SIM_REASON_STANDSTILL : reason_of_branches(t);
}

/* Who begins: the finisher, if the guess is nearly right; a few contacts are swept sooner than a Newton step is prepared.
 * 0 without memory. */
static int start(auto_turns *t, int *turn) {
    auto_branch *b = &t->branch[FINISHER];
    *turn = 0;
    if (t->guess && t->problem->nconstraint > FEW && b->stage == AUTO_NOT_BEGUN && !sim_problem_local(t->problem)) {
        if (!auto_begin(t, b)) {
            return 0;
        }
        auto_take(t, b, t->guess);
        *turn = t->E < NEARLY ? FINISHER : 0;
    }
    return 1;
}

static int solve(solver_call *call) {
    const solver_type *type[BRANCHES];
    int turn;
    auto_turns *t = ARENA_NEW(call->scratch, auto_turns, 1);
    if (!t) {
        return 0;
    }
    *t = (auto_turns){.call = call, .problem = call->problem, .best = -1, .E = HUGE_VAL, .halved = HUGE_VAL};
    t->tolerance = call->option[TOLERANCE];
    for (int k = 0; k < BRANCHES; k++) {
        type[k] = methods[k].type;
    }
    if (!auto_set_up(t, type, BRANCHES, call->kept) || !start(t, &turn)) {
        return 0;
    }
    for (int count = 0; count < MOST_TURNS && !over(t) && any_left(t); count++) {
        if (turn >= 0 && !take_turn(t, &t->branch[turn])) {
            return 0;
        }
        turn = turn == FINISHER ? choose(t) : FINISHER;
    }
    report(t);
    return 1;
}

static void destroy(void *kept) {
    void **all = kept;
    for (int k = 0; k < BRANCHES; k++) {
        if (all[k]) {
            methods[k].type->destroy(all[k]);
        }
    }
    free(all);
}

static void *create(void) {
    void **all = calloc(BRANCHES, sizeof *all);
    int done = all != NULL;
    for (int k = 0; k < BRANCHES && done; k++) {
        all[k] = methods[k].type->create ? methods[k].type->create() : NULL;
        done = !methods[k].type->create || all[k];
    }
    if (all && !done) {
        destroy(all);
    }
    return done ? all : NULL;
}

const solver_type solver_auto = {
    .card = {.name = "auto",
             .method = "first-order sweeps, Newton's method where they stall",
             .paper = "Jourdan, Alart, Jean 1998; Lee et al. 2024",
             .cone = SIM_CONE_STRICT,
             .compliance = SIM_RIGID,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .local = 1,
             .asymmetric = 1,
             .bodies = 1,
             .branch = names,
             .counts = SIM_COUNTS_SEARCHES,
             .noptions = OPTIONS,
             .option = options},
    .create = create,
    .destroy = destroy,
    .solve = solve,
};
