/* Which method for which problem?  Several take turns at the same one, and may go on from each other's impulses.
 *
 * First-order methods are cheap: most problems they answer in some tens of sweeps, and where forces travel far they stall.
 * Newton's method answers these in some tens of steps, each of which costs a few sweeps or, where all touch all, hundreds.
 * The problem does not tell which it will be; the error E does, as it falls:
 *
 *   - a first-order method begins, unless a guess is at hand that is nearly right: to finish is what Newton's is best at;
 *   - a turn goes on while the error falls so fast that, at this rate, it ends sooner than the next is likely to;
 *   - Newton's method begins its first turn from nothing all the same: the impulses of sweeps are rough where contacts share
 *     loads, and cost it more steps than they save; in later turns the impulses of others are a way out of dead ends;
 *   - turns get longer: each method has as much work as all others together, Newton's four times as much.
 *
 * So no more is spent than a small multiple of what the best of them alone would have needed.  Work is counted in
 * multiplications, never in seconds: the same problem takes the same way.
 *
 * It gives up where the work has grown PATIENCE times since the error was last halved. */
#include "solver/law.h"
#include "solver/local.h"
#include "solver/remainder.h"
#include "solver/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const solver_type solver_pgs;
extern const solver_type solver_canal;

/* In the order of turns.  How many iterations each is likely to need where it does well, how many its first turn has at
 * least, how many have to be in vain before all is given up; and how much work it has beside that of all others. */
static const struct {
    const solver_type *type;
    double likely, first, least, share;
} methods[] = {
    {&solver_pgs, 40, 12, 2000, 1},
    {&solver_canal, 20, 36, 150, 4},
};

enum { BRANCHES = sizeof methods / sizeof *methods, FINISHER = BRANCHES - 1 };

static const char *const names[BRANCHES + 1] = {"pgs", "canal", NULL};

enum { TOLERANCE, OPTIONS };
static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {"tolerance", "E at which it stops", 0, 1, 1e-8, 0, NULL},
};

static const double NEARLY = 0.1;  /* E of a guess with which the finisher begins */
static const double PATIENCE = 16; /* growth of work in which E must be halved */
static const double EXTENSION = 3; /* of a turn, while it looks well */
static const double FAR_BETTER = 0.1;
static const double SLICE = 0.2; /* of the work so far, between looks */

static const double ROUND_UNIT =
    0.8; /* Newton's step over the multiplications of its factorisation, for local problems */

enum { LOOKS = 64, MOST_STEPS = 1000000 };

typedef enum stage { NOT_BEGUN, RUNNING, DONE } stage;

typedef struct branch {
    int index;
    const solver_type *type;
    stage stage;
    solver_call call;
    sim_solution out;
    double *option;
    void *state;
    int rounds;       /* W is not symmetric: each turn is a solve of its own, from the best there is (remainder.c) */
    int limit;        /* place of the option that limits iterations */
    double expected;  /* work of beginning, and of an iteration, before it has begun */
    int turns, looks; /* E after so much work, since its turn began */
    double E_at[LOOKS], work_at[LOOKS];
} branch;

typedef struct turns {
    solver_call *call;
    const sim_problem *problem;
    sim_problem velocities; /* a local problem with a factor of W */
    int factored;           /* 0 not tried, 1 yes, -1 there is none */
    double *guess;          /* [nrow] finite; NULL: none */
    branch branch[BRANCHES];
    int best;         /* branch; -1: none has an answer */
    double E, set_up; /* of it; work that was no iteration */
    double halved, work_at_halving;
} turns;

static double total_work(const turns *t) {
    double sum = 0;
    for (int k = 0; k < BRANCHES; k++) {
        sum += t->branch[k].call.work;
    }
    return sum;
}

/* What a method is given: its own tolerance, and no limit but ours. */
static int set_options(branch *b, double tolerance, sim_arena *scratch) {
    const sim_solver_card *card = &b->type->card;
    double *value = b->option = ARENA_NEW(scratch, double, card->noptions);
    for (int k = 0; k < card->noptions && value; k++) {
        const sim_solver_option *o = &card->option[k];
        int limit = strcmp(o->name, "max_iterations") == 0 || strcmp(o->name, "rounds") == 0;
        b->limit = strcmp(o->name, "max_iterations") == 0 ? k : b->limit;
        value[k] = strcmp(o->name, "tolerance") == 0 ? tolerance : limit ? o->high : o->standard;
    }
    b->call.option = value;
    return value != NULL;
}

static int take_guess(turns *t) {
    const double *given = t->problem->impulse_guess;
    t->guess = given ? ARENA_NEW(t->call->scratch, double, t->problem->nrow) : NULL;
    for (int r = 0; r < t->problem->nrow && t->guess; r++) {
        t->guess[r] = isfinite(given[r]) ? given[r] : 0;
    }
    return !given || t->guess;
}

static int set_up(turns *t, void **kept) {
    const solver_call *call = t->call;
    const sim_problem *p = t->problem;
    for (int k = 0; k < BRANCHES; k++) {
        branch *b = &t->branch[k];
        const sim_solver_card *card = &methods[k].type->card;
        *b = (branch){.index = k, .type = methods[k].type, .call = *call};
        b->call.kept = kept[k];
        b->call.out = &b->out;
        b->out = *call->out;
        b->out.impulse = ARENA_NEW(call->scratch, double, p->nrow);
        b->out.v = ARENA_NEW(call->scratch, double, sim_problem_local(p) ? p->nrow : p->nv);
        b->out.residual = HUGE_VAL;
        if (!b->out.impulse || !b->out.v || !set_options(b, call->option[TOLERANCE], call->scratch)) {
            return 0;
        }
        b->rounds = p->W && !p->W->symmetric && !card->asymmetric;
    }
    return take_guess(t);
}

/* The factor of W that methods with velocities need: 1; 0 without memory, -1 if there is none. */
static int factor(turns *t) {
    if (!t->factored) {
        t->factored = local_to_global(t->problem, t->call->scratch, &t->velocities);
    }
    return t->factored;
}

static void add_effort(sim_solution *sum, const sim_solution *part) {
    sum->iterations += part->iterations;
    sum->factorisations += part->factorisations;
    sum->searches += part->searches;
    sum->multiplications += part->multiplications;
    sum->factor_seconds += part->factor_seconds;
}

static void look(turns *t, branch *b) {
    if (b->looks == LOOKS) { /* every other one is enough */
        for (int k = 0; k < LOOKS / 2; k++) {
            b->E_at[k] = b->E_at[2 * k];
            b->work_at[k] = b->work_at[2 * k];
        }
        b->looks = LOOKS / 2;
    }
    b->E_at[b->looks] = b->out.residual;
    b->work_at[b->looks++] = b->call.work;
    if (b->out.residual < t->E) {
        t->E = b->out.residual;
        t->best = b->index;
    }
    if (t->E <= 0.5 * t->halved) {
        t->halved = t->E;
        t->work_at_halving = total_work(t) - t->set_up;
    }
}

/* 0 without memory. */
static int begin(turns *t, branch *b) {
    b->call.problem = t->problem;
    if (sim_problem_local(t->problem) && !b->type->card.local) {
        int made = factor(t);
        if (made <= 0) {
            b->stage = DONE;
            return made < 0;
        }
        b->call.work += b->expected;
        t->set_up += b->expected;
        b->call.problem = &t->velocities;
    }
    b->stage = RUNNING;
    b->state = b->type->begin(&b->call);
    return b->state != NULL;
}

/* From the best there is.  In every other turn a method leaves its own way only for what is far better: some dead ends are
 * left by exchange, others by going on. */
static void hand_over(turns *t, branch *b) {
    double lead = b->turns % 2 ? FAR_BETTER : 1;
    if (t->best >= 0 && t->best != b->index && t->E < lead * b->out.residual) {
        b->type->take(b->state, t->branch[t->best].out.impulse);
        b->looks = 0;
        look(t, b);
    }
}

/* Work still to do, as the error falls: by the fall over the last part of the turn. */
static double remaining(const turns *t, const branch *b) {
    int last = b->looks - 1, from = last;
    if (last < 1) {
        return HUGE_VAL;
    }
    double began = b->work_at[0], now = b->work_at[last];
    while (from > 0 && b->work_at[from] - began > 0.5 * (now - began)) {
        from--;
    }
    double fall = log(b->E_at[from] / b->E_at[last]);
    return fall > 0 ? log(b->E_at[last] / t->call->option[TOLERANCE]) * (now - b->work_at[from]) / fall : HUGE_VAL;
}

static double likely(const turns *t, const branch *b) {
    if (b->stage == DONE) {
        return HUGE_VAL;
    }
    double unit = b->call.unit > 0 ? b->call.unit : b->expected > 0 ? b->expected : 3 * t->branch[0].call.unit;
    return methods[b->index].likely * unit + (b->stage == NOT_BEGUN ? b->expected : 0);
}

static double next_best(const turns *t, const branch *b) {
    double least = HUGE_VAL;
    for (int k = 0; k < BRANCHES; k++) {
        least = k != b->index ? fmin(least, likely(t, &t->branch[k])) : least;
    }
    return least;
}

static int over(const turns *t) {
    double work = total_work(t) - t->set_up, least = 0;
    for (int k = 0; k < BRANCHES; k++) {
        least += methods[k].least * t->branch[k].call.unit;
    }
    return t->E <= t->call->option[TOLERANCE] || solution_stopped(t->call->out) ||
           (work > least && work > PATIENCE * t->work_at_halving);
}

/* A factor of W is not W to the last bit: who works on W itself confirms the answer, or goes on from there. */
static void confirm(turns *t, branch *b) {
    branch *judge = &t->branch[0];
    int factored = sim_problem_local(t->problem) && !b->type->card.local;
    if (factored && b->out.residual <= t->call->option[TOLERANCE] && judge->state) {
        judge->type->take(judge->state, b->out.impulse);
        t->E = judge->out.residual;
        if (t->E > t->call->option[TOLERANCE]) {
            b->stage = DONE;
            t->best = judge->index;
        }
    }
}

/* A turn of so much work, or a little; 0 without memory. */
static int solve_in_rounds(turns *t, branch *b, double share) {
    sim_problem from = *t->problem;
    sim_solution found = *t->call->out;
    solver_call call = b->call;
    double unit = b->call.unit > 0 ? b->call.unit : b->expected;
    size_t mark = sim_arena_mark(call.scratch);
    found.impulse = ARENA_NEW(call.scratch, double, from.nrow);
    found.iterations = found.factorisations = found.searches = 0;
    found.multiplications = found.factor_seconds = 0;
    from.impulse_guess = t->best >= 0 && b->turns > 1 ? t->branch[t->best].out.impulse : NULL;
    b->option[b->limit] = fmin(fmax(methods[b->index].first, floor(share / unit)), MOST_STEPS);
    call.problem = &from;
    call.out = &found;
    int done = found.impulse && remainder_solve(b->type, &call);
    if (done) {
        b->call.unit = found.factorisations ? ROUND_UNIT * found.multiplications / found.factorisations : unit;
        b->call.work += b->expected + found.iterations * b->call.unit;
        t->set_up += b->expected;
        b->stage = found.outcome == SIM_AT_LIMIT ? RUNNING : DONE;
        b->out.outcome = found.outcome;
        add_effort(&b->out, &found);
        if (found.residual < b->out.residual) {
            b->out.residual = found.residual;
            memcpy(b->out.impulse, found.impulse, (size_t)from.nrow * sizeof *found.impulse);
        }
        look(t, b);
        confirm(t, b);
    }
    sim_arena_release(call.scratch, mark);
    return done;
}

/* 0 without memory. */
static int take_turn(turns *t, branch *b) {
    if (b->stage == DONE) {
        return 1;
    }
    if (b->rounds) {
        b->turns++;
        return solve_in_rounds(t, b, methods[b->index].share * (total_work(t) - b->call.work) - b->call.work);
    }
    b->turns++;
    if (b->stage == RUNNING) {
        hand_over(t, b);
    } else if (!begin(t, b)) {
        return 0;
    }
    double others = total_work(t) - b->call.work, began = b->call.work;
    double share = fmax(methods[b->index].first * b->call.unit, methods[b->index].share * others - began);
    while (!over(t) && b->stage == RUNNING) {
        double done = b->call.work - began;
        if (done >= share && (done >= EXTENSION * share || remaining(t, b) > fmax(2 * done, next_best(t, b)))) {
            break;
        }
        solver_piece piece = b->type->go_on(b->state, b->call.work + fmax(b->call.unit, SLICE * done));
        if (piece == SOLVER_NO_MEMORY) {
            return 0;
        }
        b->stage = piece == SOLVER_ENDED ? DONE : RUNNING;
        look(t, b);
        confirm(t, b);
    }
    return 1;
}

static int any_left(const turns *t) {
    for (int k = 0; k < BRANCHES; k++) {
        if (t->branch[k].stage != DONE) {
            return 1;
        }
    }
    return 0;
}

static void report(turns *t) {
    sim_solution *out = t->call->out;
    const branch *b = t->best >= 0 ? &t->branch[t->best] : NULL;
    for (int k = 0; k < BRANCHES; k++) {
        add_effort(out, &t->branch[k].out);
    }
    if (!sim_problem_local(t->problem)) {
        memcpy(out->v, b ? b->out.v : t->problem->v_free, (size_t)t->problem->nv * sizeof *out->v);
    }
    for (int r = 0; r < t->problem->nrow; r++) {
        out->impulse[r] = b ? b->out.impulse[r] : 0;
    }
    out->finished_by = t->best;
    out->residual = t->E;
    out->outcome = t->E <= t->call->option[TOLERANCE] ? SIM_SOLVED
                   : b && b->stage == DONE            ? b->out.outcome
                                                      : SIM_AT_LIMIT;
}

static int solve(solver_call *call) {
    turns *t = ARENA_NEW(call->scratch, turns, 1);
    if (!t) {
        return 0;
    }
    *t = (turns){.call = call, .problem = call->problem, .best = -1, .E = HUGE_VAL, .halved = HUGE_VAL};
    if (!set_up(t, call->kept)) {
        return 0;
    }
    if (sim_problem_local(t->problem)) {
        double cubes = local_cubes(t->problem, call->scratch);
        t->branch[FINISHER].expected = 0.1 * cubes;
        if (cubes < 0) {
            return 0;
        }
    }
    int turn = 0;
    if (t->guess && t->branch[FINISHER].stage == NOT_BEGUN && !sim_problem_local(t->problem)) {
        if (!begin(t, &t->branch[FINISHER])) {
            return 0;
        }
        branch *b = &t->branch[FINISHER];
        b->type->take(b->state, t->guess);
        look(t, b);
        turn = t->E < NEARLY ? FINISHER : 0;
    }
    while (!over(t) && any_left(t)) {
        if (!take_turn(t, &t->branch[turn])) {
            return 0;
        }
        turn = (turn + 1) % BRANCHES;
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
             .branch = names,
             .noptions = OPTIONS,
             .option = options},
    .create = create,
    .destroy = destroy,
    .solve = solve,
};
