/* Portfolio of solvers: several methods take turns at one problem.
 *
 * First-order methods are cheap: most problems they answer in some tens of sweeps, and where forces travel far they
 * stall. Newton's method answers these in some tens of steps, each of which costs a few sweeps or, where all touch all,
 * hundreds. The problem does not tell which it will be; the error E does, as it falls:
 *
 *   - PGS begins, unless a guess is at hand that is nearly right: to finish is what Newton's is best at;
 *   - a turn goes on while the error falls so fast that, at this rate, it ends sooner than the next is likely to;
 *   - after Newton's method SubADMM may try, whose iterations cost a third of a sweep and carry less far; then, each time, the
 *     first-order method whose error fell fastest in its last turn, for its work, and none less than a third as long as the other;
 *   - turns get longer: Newton's method has four times as much work as the others together, these as much as it.
 *
 * Work is counted in multiplications, never in seconds: the same problem takes the same way.
 *
 * At first they go TOGETHER: who finds the best so far much better than his own goes on from there.  That is quickest
 * where it ends well.  But under friction E has minima that are no answers.  Newton's method comes to rest in them, and
 * who goes on from there loses the way that he had, which might have led past.  So, where that has come to nothing,
 * each goes his own way APART, as if he were alone, and what one of them can answer is answered once his share of the
 * work has come to what he needs: no more is spent than a small multiple of what the best of them alone would have
 * needed.  What first-order methods find there is finished by a Newton's method of its own, which begins anew where
 * they are far better than it is, or where it has come to its end and they have got on since.
 *
 * They begin from the guess, if there is one; and where that has come to nothing, at last from nothing.  After a change
 * in a heap the impulses of the step before may lie nearest to such a minimum.
 *
 * Each of these comes to nothing where the work has grown so many times since the error was last halved, and so many
 * iterations of each were made at least; APART, not before Newton's method on its own way has given up by itself.  In a
 * step of a run, where what is there is right for all purposes, the last start has no more patience than the first. */
#include "solver/portfolio/auto.h"
#include "solver/core/natural_map.h"
#include "solver/core/outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const solver_type solver_pgs;
extern const solver_type solver_subadmm;
extern const solver_type solver_canal;

/* First-order methods, Newton's on its own way, and the finisher of what the first found.  How many iterations each is
 * likely to need where it does well, how many its first turn has at least, how many have to be in vain before all is
 * given up; and how much work its kind has beside that of the other. */
static const struct {
    const solver_type *type;
    double likely, first, least, share;
} methods[] = {
    {&solver_pgs, 40, 12, 2000, 1},
    {&solver_subadmm, 120, 36, 2000, 1},
    {&solver_canal, 20, 36, 150, 4},
    {&solver_canal, 20, 36, 0, 4},
};

enum { PGS, SUBADMM, NEWTON, FINISHER, BRANCHES };

static const char *const names[] = {"pgs", "subadmm", "canal", NULL}; /* the finisher is canal, too */

enum { TOLERANCE, OPTIONS };
static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {.name = "tolerance", .help = "E at which it stops", .low = 0, .high = 1, .default_value = 1e-8},
};

enum { FEW = 8 };                 /* constraints */
static const double NEARLY = 0.1; /* E of a guess with which Newton's method begins */
static const double FAIR =
    3; /* times as much work as the other a first-order method may have had, where they go apart */
static const double EXTENSION = 3;       /* of a turn, while it looks well */
static const double SLICE = 0.2;         /* of the work so far, between looks */
static const double NO_SOLUTION_E = 1e3; /* zero impulses where some are needed have E of some 1e8 (natural_map.c) */

/* How they start, and how much has to be in vain: of `least` above; growth of work, for each method that has begun, in
 * which E must be halved. */
static const auto_start starts[] = {
    {.together = 1, .from_guess = 1, .least = 0.2, .growth = 1},
    {.together = 0, .from_guess = 1, .least = 0.2, .growth = 1},
    {.together = 0, .from_guess = 0, .least = 1, .growth = 8},
};

enum { STARTS = sizeof starts / sizeof *starts };

static bool begun(const auto_branch *b) { return b->stage != AUTO_NOT_BEGUN; }
static bool ended(const auto_branch *b) { return b->stage == AUTO_ENDED || b->stage == AUTO_DONE; }

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
    if (ended(b)) {
        return HUGE_VAL;
    }
    return methods[b->index].likely * auto_unit(t, b) + (begun(b) ? 0 : b->expected);
}

/* Of those that have been seen at work, and the first two. */
static double next_best(const auto_turns *t, const auto_branch *b) {
    double least = HUGE_VAL;
    for (int k = 0; k < BRANCHES; k++) {
        int seen = k == PGS || k == NEWTON || t->branch[k].stage == AUTO_RUNNING;
        least = k != b->index && seen ? fmin(least, likely(t, &t->branch[k])) : least;
    }
    return least;
}

/* Of E in its last turn, over the work. */
static double fall(const auto_branch *b) {
    int last = b->looks - 1;
    if (!begun(b)) {
        return HUGE_VAL;
    }
    return last > 0 && b->E_at[last] > 0 ? log(b->E_at[0] / b->E_at[last]) / fmax(1, b->work_at[last] - b->work_at[0])
                                         : 0;
}

/* Whose turn: who has had much less than his share, else who is untried, else that of the fastest fall; -1: all have
 * ended. */
static int choose_first_order(const auto_turns *t) {
    const auto_branch *b[] = {&t->branch[PGS], &t->branch[SUBADMM]};
    int best = -1;
    for (int k = 0; k < 2; k++) {
        int left = !ended(b[k]), behind = !t->start->together && FAIR * auto_since(b[k]) < auto_since(b[!k]);
        if (left && behind) {
            return k;
        }
        best = left && (best < 0 || (b[PGS]->turns > 0 && fall(b[k]) > fall(b[best]))) ? k : best;
    }
    return best;
}

/* Newton's method on its own way, or what others have found to be finished: who has worked less.  -1: neither can go
 * on. */
static int choose_newton(const auto_turns *t) {
    const auto_branch *own = &t->branch[NEWTON], *other = &t->branch[FINISHER];
    int goes_on = !ended(own), finishes = !t->start->together && own->turns > 0 && auto_may_finish(t, other, own);
    if (goes_on && finishes) {
        return auto_since(other) < auto_since(own) ? FINISHER : NEWTON;
    }
    return goes_on ? NEWTON : finishes ? FINISHER : -1;
}

/* After that of `turn`; -1: nobody is left. */
static int choose(const auto_turns *t, int turn) {
    int newton = choose_newton(t), first_order = choose_first_order(t);
    int alternate = turn >= NEWTON ? first_order >= 0 : newton < 0;
    return alternate ? first_order : newton;
}

static double work_of(const auto_turns *t, int first, int end) {
    double sum = 0;
    for (int k = first; k < end; k++) {
        sum += auto_since(&t->branch[k]);
    }
    return sum;
}

static bool answered(const auto_turns *t) { return t->E <= t->tolerance || solution_stopped(t->call->out); }

/* Has the present start come to nothing?  near: what a step of a run asks for is there. */
static bool over(const auto_turns *t) {
    const auto_branch *own = &t->branch[NEWTON];
    double work = auto_work(t) - t->began, least = 0, growth = 0;
    int may_be = t->start->together || own->rounds || ended(own), near = t->guess && t->E <= MAX_E_AT_ROUNDING;
    for (int k = 0; k < BRANCHES; k++) {
        least += (near ? starts[0].least : t->start->least) * methods[k].least * t->branch[k].call.iteration_work;
        growth += k != FINISHER && (t->branch[k].turns || begun(&t->branch[k])) ? near ? 1 : t->start->growth : 0;
    }
    return answered(t) || (may_be && work > least && work > growth * t->work_at_halving);
}

/* Work that a method of this kind has to come to, to have its share beside the other kind. */
static double short_of(const auto_turns *t, const auto_branch *b) {
    double first_order = work_of(t, PGS, NEWTON), newton = work_of(t, NEWTON, BRANCHES),
           share = methods[b->index].share;
    return b->index >= NEWTON ? share * first_order - newton : share * newton - first_order;
}

/* Of a turn: something, even if there is nothing; as much again as it had where only first-order methods are left. */
static double work_of_turn(const auto_turns *t, const auto_branch *b) {
    double least = fmax(1, methods[b->index].first * b->call.iteration_work), alone = 0;
    if (b->index < NEWTON && choose_newton(t) < 0) {
        alone = auto_since(b);
    }
    return fmax(fmax(least, alone), short_of(t, b));
}

/* Who has just begun has seen nothing of others; but from a guess, others have come to where first-order methods get
 * stuck. */
static bool hands_over(const auto_turns *t, const auto_branch *b, int new) {
    return b->index == FINISHER || (t->start->together && (!new || (t->guess && b->index != NEWTON)));
}

/* false without memory. */
static bool take_turn(auto_turns *t, auto_branch *b) {
    b->turns++;
    if (b->rounds) {
        return auto_solve_in_rounds(t, b, fmax(methods[b->index].first, short_of(t, b) / auto_unit(t, b)));
    }
    int new = !begun(b);
    if (new && !auto_begin(t, b)) {
        return false;
    }
    if (b->stage != AUTO_DONE && hands_over(t, b, new)) {
        auto_hand_over(t, b);
    }
    double began = b->call.work, share = work_of_turn(t, b);
    while (!over(t) && b->stage == AUTO_RUNNING && !b->again) {
        double done = b->call.work - began;
        if (done >= share && (done >= EXTENSION * share || remaining(t, b) > fmax(2 * done, next_best(t, b)))) {
            break;
        }
        if (!auto_go_on(t, b, fmax(b->call.iteration_work, SLICE * done))) {
            return false;
        }
    }
    return true;
}

/* What is to call itself as right as rounding allows must be right. */
static sim_outcome outcome_of(const auto_turns *t, const auto_branch *b) {
    if (t->E <= t->tolerance) {
        return SIM_SOLVED;
    }
    if (b && ended(b) && b->out.outcome == SIM_AT_ROUNDING && t->E <= MAX_E_AT_ROUNDING) {
        return SIM_AT_ROUNDING;
    }
    return t->E < NO_SOLUTION_E || choose(t, PGS) >= 0 ? SIM_AT_LIMIT : SIM_BROKEN_DOWN;
}

/* Why there is nothing to hand out: what the first that broke down says. */
static sim_reason reason_of_branches(const auto_turns *t) {
    for (int k = 0; k < BRANCHES; k++) {
        if (t->branch[k].out.outcome == SIM_BROKEN_DOWN) {
            return outcome_reason(&t->branch[k].out, false);
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
        memcpy(out->v, b ? t->v : t->problem->v_free, (size_t)t->problem->nv * sizeof *out->v);
    }
    for (int r = 0; r < t->problem->nrow; r++) {
        out->impulse[r] = b ? t->impulse[r] : 0;
    }
    out->finished_by = t->best == FINISHER ? NEWTON : t->best;
    out->residual = t->E;
    out->outcome = outcome_of(t, b);
    out->reason = out->outcome == SIM_AT_LIMIT ? SIM_REASON_STANDSTILL : reason_of_branches(t);
}

/* Who begins: Newton's method, if the guess is nearly right; a few contacts are swept sooner than a Newton step is
 * prepared. false without memory. */
static bool start(auto_turns *t, int *turn) {
    auto_branch *b = &t->branch[NEWTON];
    *turn = PGS;
    if (t->guess && t->problem->nconstraint > FEW && !begun(b) && !sim_problem_local(t->problem)) {
        if (!auto_begin(t, b)) {
            return false;
        }
        auto_take(t, b, t->guess);
        *turn = t->E < NEARLY ? NEWTON : PGS;
    }
    return true;
}

/* false without memory. */
static bool take_turns(auto_turns *t, int turn) {
    while (turn >= 0 && !over(t)) {
        if (!take_turn(t, &t->branch[turn])) {
            return false;
        }
        turn = choose(t, turn);
    }
    return true;
}

static sim_status solve(solver_call *call) {
    const solver_type *type[BRANCHES];
    int turn;
    auto_turns *t = ARENA_NEW(call->scratch, auto_turns, 1);
    if (!t) {
        return SIM_NO_RESOURCE;
    }
    *t = (auto_turns){.call = call, .problem = call->problem, .best = -1, .E = HUGE_VAL, .halved = HUGE_VAL};
    t->start = starts;
    t->tolerance = call->option[TOLERANCE];
    for (int k = 0; k < BRANCHES; k++) {
        type[k] = methods[k].type;
    }
    if (!auto_set_up(t, type, BRANCHES, call->workspace) || !start(t, &turn)) {
        return SIM_NO_RESOURCE;
    }
    for (int k = 0; k < STARTS && !answered(t); k++) {
        int same = k > 0 && starts[k].from_guess && !t->guess; /* as the next one, from nothing */
        t->start = &starts[k];
        if (!same && ((k > 0 && !auto_begin_anew(t)) || !take_turns(t, k > 0 ? PGS : turn))) {
            return SIM_NO_RESOURCE;
        }
    }
    report(t);
    return SIM_OK;
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
    .info = {.name = "auto",
             .method = "pgs, subadmm and canal in turns, chosen by the fall of the error",
             .paper = "Jourdan, Alart, Jean 1998; Lee et al. 2024",
             .cone = SIM_CONE_STRICT,
             .default_law = SIM_RIGID,
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
