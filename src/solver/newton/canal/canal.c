/* CANAL: the cascaded Newton-based augmented Lagrangian method.
 *
 * The strict law is the convex one with the normal velocity raised by p = mu |s_t| (eq. 20).  With p and a multiplier
 * lambda from before, each outer iteration solves a convex problem as SAP's, with
 *
 *     R' = R + e,   target' = target + e lambda - (0, 0, p),      e_i = w_i / kappa,   w_i = trace W_ii / rows
 *
 * (eqs. 21, 22; their beta is 1 / e), by Newton's method (primal.c).  Then
 *
 *     lambda <- gamma,     p <- mu |s_t|,    s = J v + w - target + R gamma,
 *
 * until E is within the tolerance (natural_map.c).  The solution does not depend on the penalty kappa.  Rows with R >=
 * e take no multiplier: e = 0.  E is measured on v = v* + A^-1 J' gamma, which is also the result: momentum balances to
 * rounding.
 *
 * Reference: Lee et al. 2024, algorithm 1.  Differs from the paper:
 *   - penalty: lambda converges by 1 / (1 + kappa) per outer iteration, p in sliding by mu^2 / (1 + mu^2).  kappa grows
 *     only where E does not halve and lambda still changes; it falls again where a strict form is stuck or E stalls.
 *   - form of the inner problem (canal_inner.c), acceleration by Newton's method (canal_acceleration.c) and Anderson's
 *     (anderson.c).
 *   - it ends where E has not halved for some hundred outer iterations: jammed bodies may have no solution.
 *   - where a warm start comes to such an end, it begins once more, from no impulses. */
#include "solver/core/anderson.h"
#include "solver/core/law.h"
#include "solver/core/natural_map.h"
#include "solver/core/products.h"
#include "solver/core/stall.h"
#include "solver/matrices/delassus.h"
#include "solver/newton/canal/canal_acceleration.h"
#include "solver/newton/canal/canal_inner.h"
#include "solver/newton/primal.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { AUTO_FORM = INNER_WAYS, MAX_STRICT_UNKNOWNS = 24 }; /* velocities, up to which `auto` uses the mixed form */
enum {
    TOLERANCE,
    MAX_ITERATIONS,
    MAX_OUTER_ITERATIONS,
    PENALTY,
    ACCELERATION,
    FACTORISATION,
    INNER_PROBLEM,
    MAX_WORK,
    OPTIONS
};

static const char *const accelerations[] = {"none", "anderson", "newton", NULL};
static const char *const inners[] = {"cascaded", "dogleg", "semismooth", "mixed", "auto", NULL};

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {.name = "tolerance",
                   .help = "error against the law given at which the solver stops",
                   .low = 0,
                   .high = 1,
                   .default_value = 1e-8},
    [MAX_ITERATIONS] = {.name = "max_iterations",
                        .help = "maximum number of Newton steps in all outer iterations",
                        .low = 0,
                        .high = 1e6,
                        .default_value = 10000,
                        .integer = true},
    [MAX_OUTER_ITERATIONS] = {.name = "rounds",
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
    [FACTORISATION] = HESSIAN_METHOD_OPTION,
    [INNER_PROBLEM] = {.name = "inner",
                       .help = "form of the inner problem",
                       .high = INNER_WAYS,
                       .default_value = AUTO_FORM,
                       .integer = true,
                       .choices = inners,
                       .study = true},
    [MAX_WORK] = SOLVER_FACTORS_OPTION,
};

/* Penalty: growth and its limit; change of multipliers over that of shifts from which it grows; fall. */
static const double PENALTY_GROWTH = 5, MAX_PENALTY = 1e7, MIN_CHANGE_RATIO = 0.3, PENALTY_FALL = 10;
static const double MAX_ANDERSON_GROWTH = 4; /* of |f|^2 after an extrapolation that is kept */
/* Tolerance of inner problems: E times the first, within bounds; lowered after an outer iteration without a step. */
static const double INNER_OVER_E = 0.01, MAX_INNER_TOLERANCE = 1e-4, MIN_INNER_TOLERANCE = 1e-13,
                    TIGHTENING_FACTOR = 0.01;
/* E at rounding, over kappa epsilon: 1 / R' carries the rounding of velocities into impulses. */
static const double ROUNDING_FACTOR = 4;
static const double BETTER_RATIO = 0.99, HALF_RATIO = 0.5; /* of E: stall watches */
/* outer iterations: Anderson window; without a smaller E, at rounding; without half of E, before the penalty falls */
enum { ANDERSON_WINDOW = 10, MAX_IDLE_ITERATIONS = 10, MAX_STUCK_ITERATIONS = 15 };
/* outer iterations without half of E, before the end; from a warm start a solution is near, if there is one; from
 * the second start */
enum { MAX_STALLED_ITERATIONS = 500, MAX_STALLED_WARM_ITERATIONS = 60, MAX_STALLED_RENEWED_ITERATIONS = 55 };
/* Newton steps of an outer iteration: more of them cycle in rounding; of one that tests an extrapolation */
enum { MAX_INNER_STEPS = 100, MAX_TRIAL_STEPS = 12 };
enum { NO_ACCELERATION, ANDERSON_ONLY, ANDERSON_AND_NEWTON };
static const double WORK_OF_DENSE = 0.4; /* multiplications: one within a dense block */
enum { WORK_OF_LAW = 100 };              /* the law of a constraint */

typedef struct canal {
    solver_call *call;
    const sim_problem *problem;
    /* problem */
    double kappa;    /* penalty */
    double *w, *rho; /* [nconstraint] inverse mass; rows / trace(W_ii + R_i) */
    double *n2;      /* [nconstraint] n_i^2 of E */
    double *e;       /* [nconstraint] w / kappa, or 0 */
    double *q, *s;   /* [nrow] velocity without impulses; at gamma */
    law_rows law;    /* of the inner problem */
    double *target;  /* [nrow] of the inner problem */
    /* state */
    double *x, *lambda, *shift;             /* [nrow + nconstraint], and its parts: multipliers, p */
    double *from;                           /* x before the outer iteration */
    double *v;                              /* [nv] v* + A^-1 J' gamma */
    double E, best, last_E;                 /* of this outer iteration; of call->out; of the one before */
    double multiplier_change, shift_change; /* velocities */
    stall_watch least, halving;             /* of E */
    int steady;                             /* outer iterations since the penalty fell */
    int patience;                           /* outer iterations without half of E before the end */
    bool renewable;                         /* it may begin again without its warm start */
    int round;                              /* outer iterations so far */
    /* inner problem */
    canal_inner form;
    primal newton;
    sim_solution inner;
    double max_inner_tolerance;
    double work_of_round; /* multiplications of an outer iteration besides Newton's steps */
    /* acceleration */
    anderson ahead;
    canal_newton leap;
    bool held; /* `ahead` has an extrapolation that `leap` replaced */
} canal;

static bool allocate_canal(canal *c, sim_arena *scratch) {
    size_t rows = (size_t)c->problem->nrow, n = (size_t)c->problem->nconstraint, nv = (size_t)c->problem->nv;
    struct {
        double **at;
        size_t count;
    } all[] = {{&c->w, n},        {&c->rho, n},         {&c->q, rows}, {&c->s, rows}, {&c->target, rows},
               {&c->x, rows + n}, {&c->from, rows + n}, {&c->e, n},    {&c->v, nv}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        *all[k].at = ARENA_NEW(scratch, double, all[k].count);
        if (!*all[k].at) {
            return false;
        }
    }
    c->lambda = c->x;
    c->shift = c->x + rows;
    return law_make(&c->law, c->problem->nrow, scratch);
}

/* Changes of x are weighed as energies: lambda by w^1/2, p by w^-1/2. */
static bool init_canal_acceleration(canal *c, hessian *h) {
    const sim_problem *p = c->problem;
    int how = (int)c->call->option[ACCELERATION], window = how == NO_ACCELERATION ? 0 : ANDERSON_WINDOW;
    if (how == ANDERSON_AND_NEWTON && !canal_newton_make(&c->leap, p, c->w, h, c->call->scratch)) {
        return false;
    }
    if (!anderson_make(&c->ahead, p->nrow + p->nconstraint, window, c->call->scratch)) {
        return false;
    }
    c->ahead.max_growth = MAX_ANDERSON_GROWTH;
    for (int i = 0; i < p->nconstraint && window; i++) {
        const sim_constraint *k = &p->constraint[i];
        for (int r = k->row; r < k->row + k->rows; r++) {
            c->ahead.scale[r] = sqrt(c->w[i]);
        }
        c->ahead.scale[p->nrow + i] = 1 / sqrt(c->w[i]);
    }
    return true;
}

/* e = w / kappa, R' = R + e, target' = target + e lambda; e = 0 where R >= w / kappa. */
static void set_canal_law(canal *c) {
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

/* v, s and E of gamma.  Given forces have no s.  E is at least the rounding of impulses that cancel. */
static void eval_canal_error(canal *c, const double *gamma) {
    const sim_problem *p = c->problem;
    const double *R = c->call->R;
    natural_sum sum = {0};
    double pushed = 0;
    /* v = v* + A^-1 J' gamma,  s = J v + w + R gamma - target */
    problem_response(p, gamma, c->v);
    problem_velocity(p, c->v, c->s);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *k = &p->constraint[i];
        for (int r = k->row; r < k->row + k->rows; r++) {
            c->s[r] = isinf(R[r]) ? 0 : c->s[r] + R[r] * gamma[r] - c->call->target[r];
            pushed += c->w[i] * gamma[r] * c->w[i] * gamma[r];
        }
        natural_add(&sum, k, p->step, c->rho[i], c->n2[i], c->q + k->row, c->s + k->row, gamma + k->row);
    }
    c->E = natural_error(&sum);
    double rounding = pushed > 0 ? DBL_EPSILON * sqrt(pushed / fmax(sum.q, sum.s)) : 0;
    c->E = c->E < rounding ? rounding : c->E;
}

static void keep_best_iterate(canal *c, const double *gamma) {
    stall_watch_update_least(&c->least, c->E);
    stall_watch_update(&c->halving, c->E);
    if (c->E < c->best) {
        c->best = c->E;
        memcpy(c->call->out->v, c->v, (size_t)c->problem->nv * sizeof *c->v);
        memcpy(c->call->out->impulse, gamma, (size_t)c->problem->nrow * sizeof *gamma);
    }
}

/* mu |s_t| of a contact */
static double contact_shift(const canal *c, const sim_constraint *k, const double *s) {
    return k->kind == SIM_CONTACT && inner_shifts(&c->form) ? k->friction * hypot(s[k->row], s[k->row + 1]) : 0;
}

/* lambda <- gamma, p <- mu |s_t|; the changes in units of velocity. */
static void update_multipliers(canal *c, const double *gamma) {
    double multipliers = 0, shifts = 0;
    for (int i = 0; i < c->problem->nconstraint; i++) {
        const sim_constraint *k = &c->problem->constraint[i];
        double p = contact_shift(c, k, c->s), e = c->w[i] / c->kappa, change = 0;
        for (int r = k->row; r < k->row + k->rows; r++) {
            change += (gamma[r] - c->lambda[r]) * (gamma[r] - c->lambda[r]);
            c->lambda[r] = gamma[r];
        }
        multipliers += e * e * change;
        shifts += (p - c->shift[i]) * (p - c->shift[i]);
        c->shift[i] = p;
    }
    c->multiplier_change = sqrt(multipliers);
    c->shift_change = c->form.strictly ? 0 : sqrt(shifts);
}

typedef enum round_result { ROUND_NO_MEMORY, ROUND_REJECTED, ROUND_KEPT } round_result;

/* Replaces x by an extrapolation; ROUND_REJECTED: the one that this outer iteration started from was bad. */
static round_result accelerate_multipliers(canal *c) {
    /* an extrapolation that was bad is taken back */
    double *v = c->newton.at.v;
    if (canal_newton_reject(&c->leap, c->E, c->x, v)) {
        c->ahead.extrapolated = c->held;
        return ROUND_REJECTED;
    }
    /* Anderson acceleration; shifts stay above zero */
    anderson_result found = anderson_end(&c->ahead, c->x);
    for (int i = 0; i < c->problem->nconstraint; i++) {
        c->shift[i] = fmax(0, c->shift[i]);
    }
    if (!c->leap.problem || found == ANDERSON_REJECTED || c->form.strictly) {
        return ROUND_KEPT;
    }
    /* Newton extrapolation of the fixed point */
    canal_round round = {.R = c->call->R,
                         .e = c->e,
                         .lambda = c->from,
                         .shift = c->from + c->problem->nrow,
                         .gamma = c->newton.at.gamma,
                         .s = c->s,
                         .G = c->newton.at.G,
                         .E = c->E};
    canal_newton_result step = canal_newton_extrapolate(&c->leap, &round, c->x, v);
    if (step == CANAL_NEWTON_STEP) {
        c->held = c->ahead.extrapolated;
        c->ahead.extrapolated = false;
    }
    return step == CANAL_NEWTON_NO_MEMORY ? ROUND_NO_MEMORY : ROUND_KEPT;
}

static void lower_penalty(canal *c) {
    c->kappa = fmax(c->kappa / PENALTY_FALL, c->call->option[PENALTY]);
    c->steady = 0;
    anderson_restart(&c->ahead);
}

/* Solves the inner problem; with a lower penalty where its strict form is stuck.  If it takes no step, the next
 * tolerance is tighter: small impulses that act on a large momentum are not seen otherwise. */
static sim_status solve_inner_problem(canal *c) {
    int limit = (int)c->call->option[MAX_ITERATIONS], before = c->inner.iterations;
    sim_status status;
    c->newton.options.tolerance = fmax(MIN_INNER_TOLERANCE, fmin(c->max_inner_tolerance, INNER_OVER_E * c->best));
    c->form.max_steps = limit;
    do {
        int some = c->inner.iterations + (c->leap.extrapolated ? MAX_TRIAL_STEPS : MAX_INNER_STEPS);
        c->newton.options.max_iterations = some < limit ? some : limit;
        set_canal_law(c);
        c->form.trial = c->leap.extrapolated;
        c->form.give_way = c->kappa <= c->call->option[PENALTY];
        status = inner_solve(&c->form, c->target, c->shift, ROUNDING_FACTOR * c->kappa * DBL_EPSILON);
        if (c->form.stuck) {
            lower_penalty(c);
        }
    } while (!status && c->form.stuck && c->inner.iterations < limit && c->inner.reason != SIM_REASON_WORK &&
             !solution_stopped(c->call->out));
    c->max_inner_tolerance *= c->inner.iterations > before ? 1 : TIGHTENING_FACTOR;
    return status;
}

/* Outcome after an outer iteration; SIM_OUTCOMES: the method continues. */
static sim_outcome judge_outer_iteration(const canal *c) {
    const double *o = c->call->option;
    /* solved */
    if (c->best <= o[TOLERANCE]) {
        return SIM_SOLVED;
    }
    /* breakdown */
    if (c->inner.outcome == SIM_BROKEN_DOWN || !isfinite(c->E)) {
        c->call->out->reason = isfinite(c->E) ? c->inner.reason : SIM_REASON_NONFINITE;
        return SIM_BROKEN_DOWN;
    }
    /* limits of iterations, time and work */
    if (c->inner.iterations >= (int)o[MAX_ITERATIONS] || solution_stopped(c->call->out)) {
        return SIM_AT_LIMIT;
    }
    if (c->inner.reason == SIM_REASON_WORK) {
        c->call->out->reason = SIM_REASON_WORK;
        return SIM_AT_LIMIT;
    }
    /* stalled: at rounding, or short of a solution */
    if (c->least.stalled >= MAX_IDLE_ITERATIONS && c->best <= ROUNDING_FACTOR * c->kappa * DBL_EPSILON) {
        return SIM_AT_ROUNDING;
    }
    if (c->halving.stalled >= c->patience) {
        c->call->out->reason = SIM_REASON_STANDSTILL;
        return SIM_AT_LIMIT;
    }
    return SIM_OUTCOMES;
}

static void update_penalty(canal *c) {
    bool slow = c->E > 0.5 * c->last_E && c->multiplier_change > MIN_CHANGE_RATIO * c->shift_change;
    c->steady++;
    if (c->halving.stalled >= MAX_STUCK_ITERATIONS && c->steady > MAX_STUCK_ITERATIONS &&
        c->kappa > c->call->option[PENALTY]) {
        lower_penalty(c);
    } else if (slow && c->kappa < MAX_PENALTY) {
        c->kappa = fmin(PENALTY_GROWTH * c->kappa, MAX_PENALTY);
        anderson_restart(&c->ahead);
    }
    c->last_E = c->E;
}

/* lambda and p from these impulses (NULL: zero) and the present velocities. */
static void init_multipliers(canal *c, const double *impulse) {
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
        c->shift[i] = contact_shift(c, k, c->s);
    }
}

/* The first penalty, no extrapolation, and E has not been seen. */
static void forget_course(canal *c) {
    c->kappa = c->call->option[PENALTY];
    anderson_restart(&c->ahead);
    c->leap.extrapolated = c->held = false;
    c->leap.pause = c->leap.left = 0;
    c->last_E = HUGE_VAL;
    c->least = stall_watch_start(BETTER_RATIO);
    c->halving = stall_watch_start(HALF_RATIO);
    c->steady = 0;
}

/* Begins again from free motion; the best solution so far stays in call->out. */
static void begin_cold(canal *c) {
    memcpy(c->newton.at.v, c->problem->v_free, (size_t)c->problem->nv * sizeof(double));
    init_multipliers(c, NULL);
    forget_course(c);
    c->max_inner_tolerance = MAX_INNER_TOLERANCE;
    c->patience = MAX_STALLED_RENEWED_ITERATIONS;
    c->renewable = false;
    c->call->out->reason = SIM_REASON_NONE;
}

/* Outer iterations until the work of the call reaches `until`. */
static solver_piece iterate_canal(canal *c, double until) {
    solver_call *call = c->call;
    const sim_problem *p = c->problem;
    sim_outcome outcome = SIM_OUTCOMES;
    while (c->round < (int)call->option[MAX_OUTER_ITERATIONS] && outcome == SIM_OUTCOMES) {
        if (call->work >= until) {
            return SIM_PIECE_PAUSED;
        }

        /* inner problem: v, gamma with R + e, target + e lambda - (0, 0, p) */
        int steps = c->inner.iterations;
        anderson_begin(&c->ahead, c->x);
        memcpy(c->from, c->x, (size_t)(p->nrow + p->nconstraint) * sizeof *c->x);
        if (solve_inner_problem(c)) {
            return SIM_PIECE_NO_MEMORY;
        }
        c->inner.failures += c->form.failed && !c->leap.extrapolated; /* trials do not count */

        /* E of gamma; lambda <- gamma, p <- mu |s_t| */
        const double *gamma = c->newton.at.gamma;
        eval_canal_error(c, gamma);
        keep_best_iterate(c, gamma);
        update_multipliers(c, gamma);

        /* extrapolation of lambda and p; Newton's costs as much as a step */
        round_result result = c->best <= call->option[TOLERANCE] ? ROUND_KEPT : accelerate_multipliers(c);
        if (result == ROUND_NO_MEMORY) {
            return SIM_PIECE_NO_MEMORY;
        }

        /* end; penalty of the next outer iteration */
        c->round++;
        call->work += (c->inner.iterations - steps + c->leap.extrapolated) * call->iteration_work + c->work_of_round;
        solver_record(call, c->E, NAN);
        outcome = judge_outer_iteration(c);
        if (outcome == SIM_AT_LIMIT && call->out->reason == SIM_REASON_STANDSTILL && c->renewable) {
            begin_cold(c);
            outcome = SIM_OUTCOMES;
        } else if (result == ROUND_KEPT) {
            update_penalty(c);
        }
    }
    call->out->outcome = outcome == SIM_OUTCOMES ? SIM_AT_LIMIT : outcome;
    return SIM_PIECE_ENDED;
}

static void write_effort(const canal *c) {
    sim_solution *out = c->call->out;
    out->iterations = c->inner.iterations;
    out->factorisations = c->inner.factorisations;
    out->searches = c->inner.searches;
    out->failures = c->inner.failures;
    out->multiplications = c->inner.multiplications;
    out->factor_seconds = c->inner.factor_seconds;
    out->residual = c->best;
}

/* The strict form has a dense LU factor.  It pays for few unknowns (four bodies that slide on each other: six times
 * faster; fifteen: three times slower). */
static inner_way choose_inner_form(const canal *c, const patches *o) {
    int asked = (int)c->call->option[INNER_PROBLEM];
    bool few = o->start[o->nodes] <= MAX_STRICT_UNKNOWNS;
    return asked != AUTO_FORM ? (inner_way)asked : few ? INNER_MIXED : INNER_CASCADED;
}

static bool init_problem(canal *c, hessian *h, sim_arena *scratch) {
    const sim_problem *p = c->problem;
    const double *value = c->call->option;
    spd_method method = (spd_method)(int)value[FACTORISATION];

    /* memory, scales and structure of the problem */
    c->newton.at.v = ARENA_NEW(scratch, double, p->nv);
    c->newton.at.gamma = ARENA_NEW(scratch, double, p->nrow);
    c->n2 = squared_natural_speeds(p, scratch);
    if (!c->newton.at.v || !c->newton.at.gamma || !c->n2 || !allocate_canal(c, scratch) ||
        !delassus_scales(p, c->call->R, scratch, c->w, c->rho) || !init_canal_acceleration(c, h) ||
        !hessian_prepare(h, p, method)) {
        return false;
    }

    /* q = J v* + w - target; 0 in rows with a given force */
    problem_velocity(p, p->v_free, c->q);
    for (int r = 0; r < p->nrow; r++) {
        c->q[r] = isinf(c->call->R[r]) ? 0 : c->q[r] - c->call->target[r];
    }

    /* warm start */
    c->form.way = choose_inner_form(c, hessian_patches(h));
    law_set_initial_velocity(c->call, hessian_patches(h));
    memcpy(c->newton.at.v, c->call->out->v, (size_t)p->nv * sizeof(double));
    init_multipliers(c, p->impulse_guess);
    c->renewable = p->impulse_guess != NULL;
    c->patience = c->renewable ? MAX_STALLED_WARM_ITERATIONS : MAX_STALLED_ITERATIONS;

    /* result if no outer iteration gives finite numbers: zero impulses */
    memcpy(c->call->out->v, p->v_free, (size_t)p->nv * sizeof(double));
    memset(c->call->out->impulse, 0, (size_t)p->nrow * sizeof(double));

    primal_options o = {.tolerance = MAX_INNER_TOLERANCE,
                        .max_iterations = (int)value[MAX_ITERATIONS],
                        .method = method,
                        .max_work = 1e9 * value[MAX_WORK]};
    convex_law law = {p, c->law.R, c->law.inverse_compliance, c->target, c->law.constant};
    return primal_begin(&c->newton, &law, h, &o, &c->inner, scratch) && inner_begin(&c->form, &c->newton, scratch);
}

/* Multiplications: products with J and A; laws, five times in a step (line search); H. */
static void count_canal_work(canal *c) {
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

static void *begin_canal(solver_call *call) {
    canal *c = ARENA_NEW(call->scratch, canal, 1);
    if (!c) {
        return NULL;
    }
    *c = (canal){.call = call, .problem = call->problem, .kappa = call->option[PENALTY], .best = HUGE_VAL};
    c->last_E = HUGE_VAL;
    c->least = stall_watch_start(BETTER_RATIO);
    c->halving = stall_watch_start(HALF_RATIO);
    c->max_inner_tolerance = MAX_INNER_TOLERANCE;
    c->inner = *call->out;
    c->inner.history = NULL; /* the history has one record per outer iteration */
    if (!init_problem(c, call->workspace, call->scratch)) {
        return NULL;
    }
    count_canal_work(c);
    call->out->expected = hessian_work(call->workspace).multiplications;
    return c;
}

static solver_piece resume_canal(void *state, double until) {
    canal *c = state;
    solver_piece piece = iterate_canal(c, until);
    write_effort(c);
    return piece;
}

/* From v = v* + A^-1 J' impulse, with the first penalty. */
static void restart_canal(void *state, const double *impulse) {
    canal *c = state;
    eval_canal_error(c, impulse);
    c->best = HUGE_VAL;
    keep_best_iterate(c, impulse);
    memcpy(c->newton.at.v, c->v, (size_t)c->problem->nv * sizeof *c->v);
    init_multipliers(c, impulse);
    bool warm = false;
    for (int r = 0; r < c->problem->nrow; r++) {
        warm = warm || impulse[r] != 0;
    }
    c->patience = warm ? MAX_STALLED_WARM_ITERATIONS : MAX_STALLED_ITERATIONS;
    forget_course(c);
    c->least.reference = c->best;
    c->renewable = false;
    c->call->work += c->work_of_round;
    write_effort(c);
}

static sim_status solve_canal(solver_call *call) { return law_solve_in_one_piece(call, begin_canal, resume_canal); }

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
    .solve = solve_canal,
    .begin = begin_canal,
    .resume = resume_canal,
    .restart_from = restart_canal,
};
