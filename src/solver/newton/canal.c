/* CANAL: the cascaded Newton-based augmented Lagrangian method (Lee et al. 2024, algorithm 1).
 *
 * The strict law is the convex one whose normal velocity is raised by p = mu |s_t| (eq. 20).  With p and a multiplier
 * lambda from the round before, each round answers a convex problem, that of SAP with
 *
 *     R' = R + e,   target' = target + e lambda - (0, 0, p),      e_i = w_i / kappa,   w_i = trace W_ii / rows
 *
 * (eqs. 21, 22; their beta is 1 / e), by Newton's method on its primal cost (primal.c).  Then
 *
 *     lambda <- gamma,     p <- mu |s_t|,    s = J v + w - target + R gamma,
 *
 * until gamma obeys the strict law to within the tolerance on E (natural_map.c).  Where it ends does not depend on kappa.  Rows
 * that yield by more than e take no multiplier: e = 0.
 *
 * Two things go on at once.  lambda comes nearer by about 1 / (1 + kappa) each round, p of a sliding contact by
 * mu^2 / (1 + mu^2) whatever kappa is (W = w 1).  So kappa grows where the error does not halve and lambda is what still
 * changes, compared in units of velocity.  (The authors let it grow whenever the error does not fall enough.)  Where more
 * contacts push than the motion can tell apart, impulses have to wander far before those that should let go do, at a pace
 * that grows with kappa; so it may become very stiff.  Too stiff is a round put strictly that gets stuck (canal_inner.c),
 * and rounds that have not halved the error for a while: then kappa falls again.
 *
 * Where the rounds lead is guessed: from the derivative of the last one, which near the end makes the error ten times less
 * a round (canal_acceleration.c), and while that is no good from the changes of several, which finds through to the hard ones
 * (anderson.c).
 *
 * There need not be an answer: bodies jammed by friction cannot obey a target that pushes them apart.  Where the error has
 * not halved for PATIENCE rounds it ends.  From a guess the answer is near, if there is one, and fewer rounds tell.
 *
 * E is measured on v = v* + A^-1 J' gamma, with which momentum is in balance to the last bit; so is what is handed out. */
#include "solver/core/anderson.h"
#include "solver/core/law.h"
#include "solver/core/natural_map.h"
#include "solver/core/products.h"
#include "solver/core/stall.h"
#include "solver/matrices/delassus.h"
#include "solver/newton/canal_acceleration.h"
#include "solver/newton/canal_inner.h"
#include "solver/newton/primal.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { AUTO = INNER_WAYS, FEW = 24 }; /* how rounds are put: mixed up to so many velocities, cascaded beyond */
enum { TOLERANCE, MAX_ITERATIONS, ROUNDS, PENALTY, ACCELERATION, FACTORISATION, INNER_PROBLEM, MOST_WORK, OPTIONS };

static const char *const accelerations[] = {"none", "anderson", "newton", NULL};
static const char *const inners[] = {"cascaded", "dogleg", "semismooth", "mixed", "auto", NULL};

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {.name = "tolerance", .help = "E at which it stops", .low = 0, .high = 1, .default_value = 1e-8},
    [MAX_ITERATIONS] = {.name = "max_iterations",
                        .help = "maximum number of Newton steps in all outer iterations",
                        .low = 0,
                        .high = 1e6,
                        .default_value = 10000,
                        .integer = true},
    [ROUNDS] = {.name = "rounds",
                .help = "maximum number of outer iterations (updates of the multipliers)",
                .low = 1,
                .high = 1e6,
                .default_value = 5000,
                .integer = true},
    [PENALTY] = {.name = "penalty",
                 .help = "inverse mass over compliance in the first outer iteration",
                 .low = 1,
                 .high = 1e6,
                 .default_value = 100,
                 .study = true},
    [ACCELERATION] =
        {.name = "acceleration",
         .help = "extrapolation: from consecutive outer iterations (Anderson), or from the derivative of one as well",
         .high = 2,
         .default_value = 2,
         .integer = true,
         .choices = accelerations,
         .study = true},
    [FACTORISATION] = {.name = "factorisation",
                       .help = "factorisation of the Hessian",
                       .high = SPD_METHODS - 1,
                       .default_value = SPD_AUTO,
                       .integer = true,
                       .choices = hessian_methods,
                       .study = true},
    [INNER_PROBLEM] = {.name = "inner",
                       .help = "form of the inner problem",
                       .high = INNER_WAYS,
                       .default_value = AUTO,
                       .integer = true,
                       .choices = inners,
                       .study = true},
    [MOST_WORK] = {.name = "most_work",
                   .help = "limit on the multiplications of all factors of Hessians, in 1e9",
                   .low = 0,
                   .high = 1e12,
                   .default_value = 5e3},
};

/* The penalty grows by STEP up to STIFFEST where the change of multipliers is more than SHARE of that of shifts; it falls by
 * RELIEF where a strict round is stuck or STUCK rounds did not halve the error, but not below where it began. */
static const double STEP = 5, STIFFEST = 1e7, SHARE = 0.3, RELIEF = 10;
static const double GROWTH = 4;                       /* of changes after a guess, for which it is still taken */
static const double LOOSEST = 1e-4, TIGHTEST = 1e-13; /* of inner problems, else INNER times E */
static const double INNER = 0.01, TIGHTER = 0.01;
enum { WINDOW = 10, IDLE = 10, STUCK = 15, ROUNDING = 4 }; /* rounds; E over the penalty's rounding */
enum { PATIENCE = 500, PATIENCE_NEAR = 60 };               /* rounds without half the error; from a guess */
enum { MOST_STEPS = 100, TRIAL = 12 }; /* of Newton in a round, as more go round in rounding; from a guess */
enum { NO_GUESSES, ANDERSON, NEWTON };
static const double WORK_OF_DENSE = 0.4; /* of a multiplication in blocks */
enum { WORK_OF_LAW = 100 };              /* multiplications that take as long as the law of a constraint */

typedef struct canal {
    solver_call *call;
    const sim_problem *problem;
    double kappa;
    double *w, *rho;            /* [nconstraint] */
    double *q, *s;              /* [nrow] */
    law_rows law;               /* of the inner problem */
    double *target;             /* [nrow] */
    double *x, *lambda, *shift; /* [nrow + nconstraint] the state; its parts */
    double *from, *e;           /* x as the round took it; [nconstraint] w / kappa or 0 */
    double *v;                  /* [nv] v* + A^-1 J' gamma */
    double E, best;             /* of this round; of what stands in call->out */
    stall_watch least, halving; /* of E: rounds without a smaller one; without half the last one */
    int steady;                 /* rounds since the penalty last fell */
    double multiplier_change, shift_change;
    int near; /* from a guess: the answer is near, if there is one */
    int round, ended;
    double before;        /* E of the round before */
    double loosest;       /* tolerance of inner problems */
    double work_of_round; /* what a round takes beside Newton's steps */
    canal_inner rounds;
    anderson ahead;
    canal_newton leap;
    int held; /* a guess of `ahead` that was put off for one of `leap` */
    sim_solution inner;
    primal newton;
} canal;

static int reserve(canal *c, sim_arena *scratch) {
    size_t rows = (size_t)c->problem->nrow, n = (size_t)c->problem->nconstraint, nv = (size_t)c->problem->nv;
    struct {
        double **at;
        size_t count;
    } all[] = {{&c->w, n},        {&c->rho, n},         {&c->q, rows}, {&c->s, rows}, {&c->target, rows},
               {&c->x, rows + n}, {&c->from, rows + n}, {&c->e, n},    {&c->v, nv}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        *all[k].at = ARENA_NEW(scratch, double, all[k].count);
        if (!*all[k].at) {
            return 0;
        }
    }
    c->lambda = c->x;
    c->shift = c->x + rows;
    return law_make(&c->law, c->problem->nrow, scratch);
}

/* w, rho, and q = J v* + w - target. */
static int weigh(canal *c) {
    const sim_problem *p = c->problem;
    double *W = ARENA_NEW(c->call->scratch, double, sim_delassus_diagonal_size(p));
    if (!W || !delassus_diagonal(p, NULL, c->call->scratch, W)) {
        return 0;
    }
    problem_velocity(p, p->v_free, c->q);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *k = &p->constraint[i];
        double trace = 0, R = 0;
        for (int r = 0; r < k->rows; r++) {
            int forced = isinf(c->call->R[k->row + r]);
            trace += W[r * k->rows + r];
            R += forced ? 0 : c->call->R[k->row + r];
            c->q[k->row + r] = forced ? 0 : c->q[k->row + r] - c->call->target[k->row + r];
        }
        W += k->rows * k->rows;
        c->w[i] = trace > 0 ? trace / k->rows : 1;
        c->rho[i] = trace + R > 0 ? k->rows / (trace + R) : 1;
    }
    return 1;
}

/* Changes are measured as energies: of lambda times w^1/2, of p over it. */
static int prepare_guesses(canal *c, hessian *h) {
    const sim_problem *p = c->problem;
    int how = (int)c->call->option[ACCELERATION], window = how == NO_GUESSES ? 0 : WINDOW;
    if (how == NEWTON && !canal_newton_make(&c->leap, p, c->w, h, c->call->scratch)) {
        return 0;
    }
    if (!anderson_make(&c->ahead, p->nrow + p->nconstraint, window, c->call->scratch)) {
        return 0;
    }
    c->ahead.growth = GROWTH;
    for (int i = 0; i < p->nconstraint && window; i++) {
        const sim_constraint *k = &p->constraint[i];
        for (int r = k->row; r < k->row + k->rows; r++) {
            c->ahead.scale[r] = sqrt(c->w[i]);
        }
        c->ahead.scale[p->nrow + i] = 1 / sqrt(c->w[i]);
    }
    return 1;
}

static void set_law(canal *c) {
    const double *R = c->call->R;
    for (int i = 0; i < c->problem->nconstraint; i++) {
        const sim_constraint *k = &c->problem->constraint[i];
        double e = c->w[i] / c->kappa, least = HUGE_VAL;
        for (int r = k->row; r < k->row + k->rows; r++) {
            least = fmin(least, R[r]);
        }
        c->e[i] = e = least >= e ? 0 : e;
        for (int r = 0; r < k->rows; r++) {
            int row = k->row + r;
            law_set_row(&c->law, c->problem, k, r, R[row] + e);
            c->target[row] = isinf(R[row]) ? 0 : c->call->target[row] + e * c->lambda[row];
        }
    }
}

/* v, s and E that follow from gamma; what is forced whatever the velocity is as it should be.  Where impulses that cancel
 * are so large that rounding alone moves things, E is no less than that. */
static void measure(canal *c, const double *gamma) {
    const sim_problem *p = c->problem;
    const double *R = c->call->R;
    natural_sum sum = {0};
    double pushed = 0;
    problem_response(p, gamma, c->v);
    problem_velocity(p, c->v, c->s);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *k = &p->constraint[i];
        for (int r = k->row; r < k->row + k->rows; r++) {
            c->s[r] = isinf(R[r]) ? 0 : c->s[r] + R[r] * gamma[r] - c->call->target[r];
            pushed += c->w[i] * gamma[r] * c->w[i] * gamma[r];
        }
        natural_add(&sum, k, p->step, c->rho[i], c->q + k->row, c->s + k->row, gamma + k->row);
    }
    c->E = natural_error(&sum);
    double rounding = pushed > 0 ? DBL_EPSILON * sqrt(pushed / fmax(sum.q, sum.s)) : 0;
    c->E = c->E < rounding ? rounding : c->E;
}

static void keep_best(canal *c, const double *gamma) {
    stall_watch_update_least(&c->least, c->E);
    stall_watch_update(&c->halving, c->E);
    if (c->E < c->best) {
        c->best = c->E;
        memcpy(c->call->out->v, c->v, (size_t)c->problem->nv * sizeof *c->v);
        memcpy(c->call->out->impulse, gamma, (size_t)c->problem->nrow * sizeof *gamma);
    }
}

static double slip(const canal *c, const sim_constraint *k, const double *s) {
    return k->kind == SIM_CONTACT && inner_shifts(&c->rounds) ? k->friction * hypot(s[k->row], s[k->row + 1]) : 0;
}

/* lambda <- gamma, p <- mu |s_t|, and how much that is, in units of velocity. */
static void move_on(canal *c, const double *gamma) {
    double multipliers = 0, shifts = 0;
    for (int i = 0; i < c->problem->nconstraint; i++) {
        const sim_constraint *k = &c->problem->constraint[i];
        double p = slip(c, k, c->s), e = c->w[i] / c->kappa, change = 0;
        for (int r = k->row; r < k->row + k->rows; r++) {
            change += (gamma[r] - c->lambda[r]) * (gamma[r] - c->lambda[r]);
            c->lambda[r] = gamma[r];
        }
        multipliers += e * e * change;
        shifts += (p - c->shift[i]) * (p - c->shift[i]);
        c->shift[i] = p;
    }
    c->multiplier_change = sqrt(multipliers);
    c->shift_change = c->rounds.strictly ? 0 : sqrt(shifts);
}

/* Where the next round starts; -1 without memory, 0 if what this one started from was a bad guess. */
static int look_ahead(canal *c) {
    double *v = c->newton.at.v;
    if (canal_newton_back(&c->leap, c->E, c->x, v)) {
        c->ahead.guessed = c->held;
        return 0;
    }
    anderson_result found = anderson_end(&c->ahead, c->x);
    for (int i = 0; i < c->problem->nconstraint; i++) {
        c->shift[i] = fmax(0, c->shift[i]);
    }
    if (!c->leap.problem || found == ANDERSON_REJECTED || c->rounds.strictly) {
        return 1;
    }
    canal_round round = {c->call->R,         c->e, c->from,        c->from + c->problem->nrow,
                         c->newton.at.gamma, c->s, c->newton.at.G, c->E};
    int guessed = canal_newton_guess(&c->leap, &round, c->x, v);
    if (guessed == 1) {
        c->held = c->ahead.guessed;
        c->ahead.guessed = 0;
    }
    return guessed < 0 ? -1 : 1;
}

static void relieve(canal *c) {
    c->kappa = fmax(c->kappa / RELIEF, c->call->option[PENALTY]);
    c->steady = 0;
    anderson_restart(&c->ahead);
}

/* The problem of the round; where it was to be put strictly and got stuck, softer.  A round that takes no step has not seen
 * what is still wrong, as where small impulses act on what moves with great momentum: the next looks closer. */
static int answer(canal *c) {
    int most = (int)c->call->option[MAX_ITERATIONS], done;
    int before = c->inner.iterations;
    c->newton.options.tolerance = fmax(TIGHTEST, fmin(c->loosest, INNER * c->best));
    do {
        int some = c->inner.iterations + (c->leap.guessed ? TRIAL : MOST_STEPS);
        c->newton.options.max_iterations = some < most ? some : most;
        set_law(c);
        c->rounds.trial = c->leap.guessed;
        c->rounds.give_way = c->kappa <= c->call->option[PENALTY];
        done = inner_answer(&c->rounds, c->target, c->shift, ROUNDING * c->kappa * DBL_EPSILON);
        if (c->rounds.stuck) {
            relieve(c);
        }
    } while (done && c->rounds.stuck && c->inner.iterations < most && c->inner.reason != SIM_REASON_WORK &&
             !solution_stopped(c->call->out));
    c->loosest *= c->inner.iterations > before ? 1 : TIGHTER;
    return done;
}

/* As look_ahead. */
static int run_round(canal *c) {
    const double *gamma = c->newton.at.gamma;
    anderson_begin(&c->ahead, c->x);
    memcpy(c->from, c->x, (size_t)(c->problem->nrow + c->problem->nconstraint) * sizeof *c->x);
    if (!answer(c)) {
        return -1;
    }
    c->inner.failures += c->rounds.failed && !c->leap.guessed; /* trials are no rounds */
    gamma = c->newton.at.gamma;
    measure(c, gamma);
    keep_best(c, gamma);
    move_on(c, gamma);
    return c->best <= c->call->option[TOLERANCE] ? 1 : look_ahead(c); /* as dear as a Newton step */
}

/* 1 / R' carries the rounding of velocities into impulses. */
static int at_rounding(const canal *c) {
    return c->least.stalled >= IDLE && c->best <= ROUNDING * c->kappa * DBL_EPSILON;
}

/* What a round says of how it goes on: SIM_OUTCOMES means that it does. */
static sim_outcome judge_round(const canal *c) {
    const double *o = c->call->option;
    if (c->best <= o[TOLERANCE]) {
        return SIM_SOLVED;
    }
    if (c->inner.outcome == SIM_BROKEN_DOWN || !isfinite(c->E)) {
        c->call->out->reason = isfinite(c->E) ? c->inner.reason : SIM_REASON_NONFINITE;
        return SIM_BROKEN_DOWN;
    }
    if (c->inner.iterations >= (int)o[MAX_ITERATIONS] || solution_stopped(c->call->out)) {
        return SIM_AT_LIMIT;
    }
    if (c->inner.reason == SIM_REASON_WORK) {
        c->call->out->reason = SIM_REASON_WORK;
        return SIM_AT_LIMIT;
    }
    if (at_rounding(c)) {
        return SIM_AT_ROUNDING;
    }
    if (c->halving.stalled >= (c->near ? PATIENCE_NEAR : PATIENCE)) {
        c->call->out->reason = SIM_REASON_STANDSTILL;
        return SIM_AT_LIMIT;
    }
    return SIM_OUTCOMES;
}

static void set_penalty(canal *c) {
    c->steady++;
    if (c->halving.stalled >= STUCK && c->steady > STUCK && c->kappa > c->call->option[PENALTY]) {
        relieve(c);
    } else if (c->E > 0.5 * c->before && c->multiplier_change > SHARE * c->shift_change && c->kappa < STIFFEST) {
        c->kappa = fmin(STEP * c->kappa, STIFFEST);
        anderson_restart(&c->ahead);
    }
    c->before = c->E;
}

static solver_piece iterate(canal *c, double until) {
    sim_outcome outcome = SIM_OUTCOMES;
    while (c->round < (int)c->call->option[ROUNDS] && outcome == SIM_OUTCOMES) {
        int steps = c->inner.iterations;
        if (c->call->work >= until) {
            return SIM_PIECE_PAUSED;
        }
        int kept = run_round(c);
        if (kept < 0) {
            return SIM_PIECE_NO_MEMORY;
        }
        c->round++;
        c->call->work += (c->inner.iterations - steps + c->leap.guessed) * c->call->iteration_work + c->work_of_round;
        solver_record(c->call, c->E, NAN);
        outcome = judge_round(c);
        if (kept) {
            set_penalty(c);
        }
    }
    c->call->out->outcome = outcome == SIM_OUTCOMES ? SIM_AT_LIMIT : outcome;
    c->ended = 1;
    return SIM_PIECE_ENDED;
}

/* lambda and p of these impulses (NULL: none) and the velocities as they stand. */
static void start(canal *c, const double *impulse) {
    const sim_problem *p = c->problem;
    for (int r = 0; r < p->nrow; r++) {
        c->lambda[r] = impulse && isfinite(impulse[r]) ? impulse[r] : 0;
    }
    problem_velocity(p, c->newton.at.v, c->s);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *k = &p->constraint[i];
        for (int r = k->row; r < k->row + k->rows; r++) {
            c->s[r] += isinf(c->call->R[r]) ? 0 : c->call->R[r] * c->lambda[r] - c->call->target[r];
        }
        c->shift[i] = slip(c, k, c->s);
    }
}

static void report(const canal *c) {
    sim_solution *out = c->call->out;
    out->iterations = c->inner.iterations;
    out->factorisations = c->inner.factorisations;
    out->searches = c->inner.searches;
    out->failures = c->inner.failures;
    out->multiplications = c->inner.multiplications;
    out->factor_seconds = c->inner.factor_seconds;
    out->residual = c->best;
}

/* Strict problems have no symmetry, and no sparse factor here: they pay where a dense one costs nothing (four bodies that
 * slide on each other: six times quicker; fifteen: three times slower). */
static inner_way way_of(const canal *c, const patches *o) {
    int asked = (int)c->call->option[INNER_PROBLEM];
    return asked == AUTO ? (o->start[o->nodes] <= FEW ? INNER_MIXED : INNER_CASCADED) : (inner_way)asked;
}

static int prepare(canal *c, hessian *h, sim_arena *scratch) {
    const sim_problem *p = c->problem;
    const double *value = c->call->option;
    spd_method method = (spd_method)(int)value[FACTORISATION];
    c->newton.at.v = ARENA_NEW(scratch, double, p->nv);
    c->newton.at.gamma = ARENA_NEW(scratch, double, p->nrow);
    if (!c->newton.at.v || !c->newton.at.gamma || !reserve(c, scratch) || !weigh(c) || !prepare_guesses(c, h) ||
        !hessian_prepare(h, p, method)) {
        return 0;
    }
    c->rounds.way = way_of(c, hessian_patches(h));
    law_start(c->call, hessian_patches(h));
    memcpy(c->newton.at.v, c->call->out->v, (size_t)p->nv * sizeof(double));
    /* what is handed out if no round gives numbers: no impulse */
    memcpy(c->call->out->v, p->v_free, (size_t)p->nv * sizeof(double));
    memset(c->call->out->impulse, 0, (size_t)p->nrow * sizeof(double));
    start(c, p->impulse_guess);
    c->near = p->impulse_guess != NULL;
    primal_options o = {LOOSEST, (int)value[MAX_ITERATIONS], 0, method, 1e9 * value[MOST_WORK], 0, 0};
    convex_law law = {p, c->law.R, c->law.inverse_compliance, c->target, c->law.constant};
    return primal_begin(&c->newton, &law, h, &o, &c->inner, scratch) && inner_begin(&c->rounds, &c->newton, scratch);
}

/* Multiplications: products with J and A, what the law of a constraint takes, in a step five times (the line), and H. */
static void count_work(canal *c) {
    const sim_problem *p = c->problem;
    double products = 0, sum = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *k = &p->constraint[i];
        double nv = 0;
        for (int side = 0; side < 2 && k->tree[side] >= 0; side++) {
            nv += sim_block_columns(p, k, side).count;
        }
        products += k->rows * nv;
        sum += 0.5 * k->rows * nv * nv;
    }
    double laws = WORK_OF_LAW * (double)p->nconstraint;
    c->work_of_round = 4 * products + 2 * laws;
    double dense = hessian_work(c->call->workspace).multiplications + sum;
    c->call->iteration_work = WORK_OF_DENSE * dense + 2 * products + 5 * laws;
}

static void *begin(solver_call *call) {
    canal *c = ARENA_NEW(call->scratch, canal, 1);
    if (!c) {
        return NULL;
    }
    *c = (canal){.call = call, .problem = call->problem, .kappa = call->option[PENALTY], .best = HUGE_VAL};
    c->before = HUGE_VAL;
    c->least = stall_watch_start(0.99);
    c->halving = stall_watch_start(0.5);
    c->loosest = LOOSEST;
    c->rounds.most = (int)call->option[MAX_ITERATIONS];
    c->inner = *call->out;
    c->inner.history = NULL; /* a record is a round */
    if (!prepare(c, call->workspace, call->scratch)) {
        return NULL;
    }
    count_work(c);
    call->out->expected = hessian_work(call->workspace).multiplications;
    return c;
}

static solver_piece resume(void *state, double until) {
    canal *c = state;
    solver_piece piece = iterate(c, until);
    report(c);
    return piece;
}

/* From v = v* + A^-1 J' impulse, with a penalty as soft as at first. */
static void restart_from(void *state, const double *impulse) {
    canal *c = state;
    measure(c, impulse);
    c->best = HUGE_VAL;
    keep_best(c, impulse);
    memcpy(c->newton.at.v, c->v, (size_t)c->problem->nv * sizeof *c->v);
    start(c, impulse);
    c->near = 0;
    for (int r = 0; r < c->problem->nrow; r++) {
        c->near = c->near || impulse[r] != 0;
    }
    c->kappa = c->call->option[PENALTY];
    c->ended = 0;
    anderson_restart(&c->ahead);
    c->leap.guessed = c->leap.pause = c->leap.left = c->held = 0;
    c->before = HUGE_VAL;
    c->least = (stall_watch){.ratio = 0.99, .reference = c->best};
    c->halving = stall_watch_start(0.5);
    c->steady = 0;
    c->call->work += c->work_of_round;
    report(c);
}

static sim_status solve(solver_call *call) { return law_solve_in_one_piece(call, begin, resume); }

const solver_type solver_canal = {
    .info = {.name = "canal",
             .method = "augmented Lagrangian with convex inner problems, solved by Newton's method",
             .paper = "Lee et al. 2024",
             .cone = SIM_CONE_STRICT,
             .default_law = SIM_RIGID,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .counts = SIM_COUNTS_SEARCHES | SIM_COUNTS_FAILURES,
             .noptions = OPTIONS,
             .option = options},
    .create = hessian_create_workspace,
    .destroy = hessian_free_workspace,
    .solve = solve,
    .begin = begin,
    .resume = resume,
    .restart_from = restart_from,
};
