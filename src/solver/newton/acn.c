/* ACN: Newton's method on the contact law of Alart and Curnier, in velocities.
 *
 *     F = gamma - P(y) = 0,     y = gamma - rho s',     s' = J v + w_0 - target + R gamma + alpha c w (gamma - centre)
 *
 *     P        open 0;  stick y;  slide (mu y_n t, y_n), t = y_t / |y_t|;  bounds of other rows
 *     w        inverse mass of a constraint, trace(W_ii + R_i) / rows, 1/kg;   rho = 1 / ((1 + alpha c) w)
 *     alpha, centre   of the proximal outer iteration (solver/core/proximal_point.h)
 *     c        share of a contact in the proximal term: 1 where it changed between open, stick and slide lately
 *
 * R' = R + alpha c w is positive in every row.  So the linearised law gives the impulse of a constraint by its
 * velocity. The momentum balance A dv = J' dgamma gives the velocities, with D = 1 - P' + rho P' R':
 *
 *     dgamma = -x - G J dv,   x = D^-1 F,   G = rho D^-1 P',      (A + J' G J) dv = -J' x
 *
 *     open   x = F,  G = 0        stick   x = F / (rho R'),  G = 1 / R'
 *     slide  G = a n' / R'_n + g b b',  g = rho h / d,  d = 1 - h + rho h R'_t,  h = mu y_n / |y_t|
 *            x = (along + mu (1 - rho R'_n) x_n) t + across / d b + x_n n,   x_n = F_n / (rho R'_n)
 *            a = (mu t, 1),  b = (-t_2, t_1, 0),  n = (0, 0, 1);  along = t . F,  across = b . F
 *
 * acn_rows.c has x and G.  By the exact rule of the outer iterations c is 1 everywhere.  Steps are whole, without a line search.  nsn takes
 * the same steps in impulses, with dense matrices.
 *
 * References: Alart, Curnier 1991; Acary, Bremond, Huber 2018.
 * Cost: a sparse LU factor of the size of the velocities per step, twice the work of a Cholesky factor. */
#include "solver/newton/acn.h"
#include "math/dense.h"
#include "solver/core/law.h"
#include "solver/core/natural_map.h"
#include "solver/matrices/delassus.h"
#include "solver/matrices/momentum_jacobian.h"

#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, MAX_STALLED, EXACT, MAX_WORK, OPTIONS };

static const char *const switches[] = {"off", "on", "plain", NULL};

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {.name = "tolerance",
                   .help = "error against the law given at which the solver stops",
                   .low = 0,
                   .high = 1,
                   .default_value = 1e-8},
    [MAX_ITERATIONS] = {.name = "max_iterations",
                        .help = "maximum number of Newton steps",
                        .low = 0,
                        .high = 1e6,
                        .default_value = 2000,
                        .integer = true},
    [MAX_STALLED] = {.name = "most_stalled",
                     .help = "outer iterations in which E must halve",
                     .low = 1,
                     .high = 1e6,
                     .default_value = PROXIMAL_MAX_STALLED,
                     .integer = true},
    [EXACT] = {.name = "exact",
               .help =
                   "exact outer iterations: more steps, fewer problems unsolved; plain: neither exact nor extrapolated",
               .high = 2,
               .integer = true,
               .choices = switches,
               .study = true},
    [MAX_WORK] = SOLVER_FACTORS_OPTION,
};

/* Share of a contact in the proximal term, after each outer iteration without a change, and at least.  Cycles run over
 * few contacts: the others need not be held back. */
static const double SHARE_DECAY = 0.8, MIN_SHARE = 0.03;

static const double MAX_WARM_E = 0.1;      /* of a warm start: beyond it no impulses may be nearer to the solution */
static const double MAX_WARM_RATIO = 1e3;  /* of its size, as the root of an energy, to that of the motion */
static const double MAX_ROUNDED_E = 1e-12; /* E of a stalled solution that counts as solved to rounding */

static void respond(void *context, int worker, int first, int end) {
    acn *a = context;
    (void)worker;
    problem_response_of(a->problem, &a->rows, first, end, a->gamma, a->v);
}

static void eval_velocities(void *context, int worker, int first, int end) {
    acn *a = context;
    const sim_problem *p = a->problem;
    (void)worker;
    problem_velocity_of(p, first, end, a->v, a->s);
    for (int i = first; i < end; i++) {
        const sim_constraint *c = &p->constraint[i];
        const double *s = a->s + c->row, *gamma = a->gamma + c->row;
        for (int r = c->row; r < c->row + c->rows; r++) {
            a->s[r] = acn_is_given(a, r) ? 0 : a->s[r] + a->call->R[r] * a->gamma[r] - a->call->target[r];
        }
        a->map[i] = natural_map(c, p->step, a->rho[i], s, gamma);
        a->map_one[i] = natural_map(c, p->step, 1, s, gamma);
    }
}

/* v = v* + A^-1 J' gamma,  s = J v + w_0 + R gamma - target, and E; keeps the gamma of least E. */
static void eval_acn_error(void *self) {
    acn *a = self;
    const sim_problem *p = a->problem;
    natural_sum sum = {0};
    solver_run(a->call, p->ntree, respond, a);
    solver_run(a->call, p->nconstraint, eval_velocities, a);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        natural_add_maps(&sum, c->rows, a->rho[i], a->n2[i], a->map[i], a->map_one[i], a->q + c->row, a->s + c->row,
                         a->gamma + c->row);
    }
    a->E = natural_error(&sum);
    if (a->E < a->best_E) {
        a->best_E = a->E;
        memcpy(a->best, a->gamma, (size_t)p->nrow * sizeof *a->best);
        memcpy(a->best_v, a->v, (size_t)p->nv * sizeof *a->best_v);
    }
    a->call->work += a->products;
}

/* |gamma - centre|, weighed as energy. */
static double eval_distance(void *self) {
    const acn *a = self;
    double sum = 0;
    for (int i = 0; i < a->problem->nconstraint; i++) {
        const sim_constraint *c = &a->problem->constraint[i];
        for (int r = c->row; r < c->row + c->rows; r++) {
            double moved = a->gamma[r] - a->centre[r];
            sum += a->w[i] * moved * moved;
        }
    }
    return sqrt(sum);
}

static void begin_outer_iteration(void *self) {
    acn *a = self;
    for (int i = 0; i < a->problem->nconstraint; i++) {
        a->share[i] = a->point.exact ? 1 : fmax(MIN_SHARE, a->next_share[i]);
        a->next_share[i] *= SHARE_DECAY;
    }
}

/* The factor of A + J' G J. */
static bool factor_momentum_jacobian(acn *a) {
    sim_solution *out = a->call->out;
    const sim_clock *clock = out->clock;
    double begin = clock ? clock->now(clock->context) : 0;
    momentum_jacobian_set(a->jacobian, a->G);
    bool regular = momentum_jacobian_factor(a->jacobian);
    out->factor_seconds += clock ? clock->now(clock->context) - begin : 0;
    out->multiplications += momentum_jacobian_work(a->jacobian);
    out->factorisations++;
    a->call->work += a->call->iteration_work - a->products;
    return regular;
}

static void push(void *context, int worker, int first, int end) {
    acn *a = context;
    (void)worker;
    problem_jacobian_transposed_of(a->problem, &a->rows, first, end, a->dgamma, a->dv);
}

/* dgamma = -x - G J dv */
static void find_impulses(void *context, int worker, int first, int end) {
    acn *a = context;
    (void)worker;
    problem_jacobian_times_of(a->problem, first, end, a->dv, a->du);
    for (int i = first; i < end; i++) {
        const sim_constraint *c = &a->problem->constraint[i];
        double pushed[SIM_MAX_ROWS];
        strict_hessian_times(c, &a->G[i], a->du + c->row, pushed);
        for (int r = 0; r < c->rows; r++) {
            a->dgamma[c->row + r] -= pushed[r];
        }
    }
}

static bool take_acn_step(void *self) {
    acn *a = self;
    const sim_problem *p = a->problem;
    /* (A + J' G J) dv = -J' x */
    if (!factor_momentum_jacobian(a)) {
        return false;
    }
    double sum = 0;
    for (int r = 0; r < p->nrow; r++) {
        a->dgamma[r] = -a->x[r];
    }
    solver_run(a->call, p->ntree, push, a);
    momentum_jacobian_solve(a->jacobian, a->dv);
    solver_run(a->call, p->nconstraint, find_impulses, a);
    for (int r = 0; r < p->nrow; r++) {
        sum += a->dgamma[r];
    }
    if (isfinite(sum)) {
        dense_axpy(p->nrow, 1, a->dgamma, a->gamma);
    }
    return isfinite(sum);
}

static bool is_over_work(const acn *a) {
    const sim_solution *out = a->call->out;
    return out->multiplications + out->expected > 1e9 * a->call->option[MAX_WORK];
}

static bool has_acn_ended(void *self) {
    const acn *a = self;
    return a->best_E <= a->call->option[TOLERANCE] || solution_stopped(a->call->out) || is_over_work(a) ||
           a->call->out->iterations >= (int)a->call->option[MAX_ITERATIONS];
}

static bool is_acn_paused(void *self) {
    const acn *a = self;
    return a->call->work >= a->until;
}

static void record_acn_step(void *self) {
    const acn *a = self;
    solver_record(a->call, a->E, NAN);
}

/* Memory of rows, velocities and constraints. */
static bool allocate_acn(acn *a) {
    const sim_problem *p = a->problem;
    sim_arena *scratch = a->call->scratch;
    double **of_rows[] = {&a->q,      &a->s,    &a->gamma, &a->centre, &a->least,
                          &a->before, &a->best, &a->x,     &a->du,     &a->dgamma};
    bool ok = true;
    for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
        *of_rows[k] = ARENA_NEW(scratch, double, p->nrow);
        ok = ok && *of_rows[k];
    }
    a->v = ARENA_NEW(scratch, double, p->nv);
    a->dv = ARENA_NEW(scratch, double, p->nv);
    a->best_v = ARENA_NEW(scratch, double, p->nv);
    a->w = ARENA_NEW(scratch, double, p->nconstraint);
    a->rho = ARENA_NEW(scratch, double, p->nconstraint);
    a->G = ARENA_NEW(scratch, cone_hessian, p->nconstraint);
    a->share = ARENA_NEW(scratch, double, p->nconstraint);
    a->next_share = ARENA_NEW(scratch, double, p->nconstraint);
    a->piece = ARENA_NEW(scratch, char, p->nconstraint);
    double **of_constraints[] = {&a->map, &a->map_one, &a->part};
    for (int k = 0; k < 3; k++) {
        *of_constraints[k] = ARENA_NEW(scratch, double, p->nconstraint);
        ok = ok && *of_constraints[k];
    }
    return ok && tree_rows_find(p, scratch, &a->rows) && a->v && a->dv && a->best_v && a->w && a->rho && a->G &&
           a->share && a->next_share && a->piece;
}

/* q = J v* + w_0 - target, and the impulses of given forces; all others zero. */
static void set_acn_start(acn *a) {
    const sim_problem *p = a->problem;
    problem_velocity(p, p->v_free, a->q);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double bound = c->kind == SIM_ACTUATOR ? p->step * c->bound : HUGE_VAL;
        double force = c->kind == SIM_SPRING || c->kind == SIM_ACTUATOR ? p->step * c->force : 0;
        for (int r = c->row; r < c->row + c->rows; r++) {
            a->q[r] = acn_is_given(a, r) ? 0 : a->q[r] - a->call->target[r];
            a->gamma[r] = acn_is_given(a, r) ? fmin(fmax(force, -bound), bound) : 0;
        }
        a->w[i] = 1 / a->rho[i];
    }
    memcpy(a->centre, a->gamma, (size_t)p->nrow * sizeof *a->gamma);
}

/* These impulses, with their trend or NULL, where they are finite, in rows without a given force. */
static void set_impulses(acn *a, const double *impulse, const double *trend) {
    for (int r = 0; r < a->problem->nrow; r++) {
        double gamma = impulse[r] + (trend ? trend[r] : 0);
        a->gamma[r] = acn_is_given(a, r) || !isfinite(gamma) ? a->gamma[r] : gamma;
    }
    eval_acn_error(a);
}

/* 2 T, J, of the free motion and of the start of the step. */
static double twice_kinetic_energy(const acn *a) {
    const sim_problem *p = a->problem;
    const double *v[] = {p->v_free, p->v_start};
    double sum = 0;
    for (int k = 0; k < 2 && v[k]; k++) {
        problem_mass_times(p, v[k], a->dv);
        sum += dense_dot(p->nv, v[k], a->dv);
    }
    return sum;
}

/* Does a warm start squeeze bodies far harder than their motion can?  Rigid contacts between walls have such solutions,
 * impulses that cancel, and from them the next step finds no other.  Where contacts give way, overlaps alone decide how
 * hard they squeeze, as in a heap jammed between walls.  sqrt(w) gamma of a load on bodies R times lighter is up to
 * sqrt(R) of the root of the energy. */
static bool is_squeeze(const acn *a, const double *impulse) {
    const sim_problem *p = a->problem;
    double sum = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int r = c->row; r < c->row + c->rows; r++) {
            sum += acn_is_given(a, r) ? 0 : a->w[i] * impulse[r] * impulse[r];
        }
    }
    return sum > MAX_WARM_RATIO * MAX_WARM_RATIO * twice_kinetic_energy(a);
}

/* Of the warm start with its trend, without it, and no impulses, those of least E. Where bodies rest or move evenly the
 * first is often a solution.  It is exact if impulses change in equal parts from step to step. */
static void choose_start(acn *a) {
    const sim_problem *p = a->problem;
    size_t bytes = (size_t)p->nrow * sizeof *a->gamma;
    bool warm = p->impulse_guess && !(law_has_rigid_contact(a->call) && is_squeeze(a, p->impulse_guess));
    if (warm && p->impulse_trend) {
        set_impulses(a, p->impulse_guess, p->impulse_trend);
    }
    if (warm && !(a->best_E <= a->call->option[TOLERANCE])) {
        set_impulses(a, p->impulse_guess, NULL);
    }
    if (!(a->best_E <= MAX_WARM_E)) {
        memcpy(a->gamma, a->centre, bytes);
        eval_acn_error(a);
    }
    if (isfinite(a->best_E) && a->E != a->best_E) {
        memcpy(a->gamma, a->best, bytes);
        eval_acn_error(a);
    }
}

/* Outcome from the end of the iteration and the least E. */
static sim_outcome judge_end(const acn *a, sim_outcome end) {
    if (a->best_E <= a->call->option[TOLERANCE]) {
        return SIM_SOLVED;
    }
    if (!isfinite(a->best_E)) {
        a->call->out->reason = SIM_REASON_NONFINITE;
        return SIM_BROKEN_DOWN;
    }
    if (end == SIM_STALLED && a->best_E <= MAX_ROUNDED_E) {
        return SIM_AT_ROUNDING;
    }
    a->call->out->reason = end == SIM_STALLED ? SIM_REASON_STANDSTILL
                           : is_over_work(a)  ? SIM_REASON_WORK
                                              : SIM_REASON_NONE;
    return end;
}

/* The best iterate is the solution. */
static void write_best(const acn *a) {
    sim_solution *out = a->call->out;
    out->residual = a->best_E;
    memcpy(out->impulse, a->best, (size_t)a->problem->nrow * sizeof *a->best);
    memcpy(out->v, a->best_v, (size_t)a->problem->nv * sizeof *a->best_v);
}

/* Multiplications of an evaluation of E: products with J, and with the factor of A. */
static void count_products(acn *a) {
    const sim_problem *p = a->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            a->products += 2.0 * c->rows * sim_block_columns(p, c, side).count;
        }
    }
    for (int t = 0; t < p->ntree; t++) {
        a->products += (double)p->tree[t].nv * p->tree[t].nv;
    }
    a->call->iteration_work = 2 * a->products;
}

/* Order and memory of the factor, which a start that is a solution does not need.  False without memory. */
static bool prepare_steps(acn *a) {
    if (!a->prepared) {
        a->prepared = momentum_jacobian_prepare(a->jacobian, a->problem, a->call->threads);
        a->call->out->expected = a->prepared ? momentum_jacobian_work(a->jacobian) : 0;
        a->call->iteration_work = a->call->out->expected + 2 * a->products;
    }
    return a->prepared;
}

static void start_outer_iterations(acn *a) {
    for (int i = 0; i < a->problem->nconstraint; i++) {
        a->next_share[i] = 1;
        a->piece[i] = PIECE_UNKNOWN;
    }
    a->point.exact = (int)a->call->option[EXACT] == 1;
    a->point.plain = (int)a->call->option[EXACT] == 2;
    a->point.max_stalled = (int)a->call->option[MAX_STALLED];
    proximal_point_start(&a->point, fmin(1, a->E));
}

static void *begin_acn(solver_call *call) {
    acn *a = ARENA_NEW(call->scratch, acn, 1);
    if (!a) {
        return NULL;
    }
    /* memory, scales and structure of the problem */
    *a = (acn){.call = call, .problem = call->problem, .jacobian = call->workspace, .best_E = HUGE_VAL};
    a->n2 = squared_natural_speeds(call->problem, call->scratch);
    if (!a->n2 || !allocate_acn(a) || !delassus_scales(call->problem, call->R, call->scratch, a->w, a->rho)) {
        return NULL;
    }
    count_products(a);
    a->point = (proximal_point){.self = a,
                                .begin = begin_outer_iteration,
                                .eval_map = acn_linearise,
                                .take_step = take_acn_step,
                                .eval_error = eval_acn_error,
                                .record = record_acn_step,
                                .has_ended = has_acn_ended,
                                .is_paused = is_acn_paused,
                                .distance = eval_distance,
                                .rows = call->problem->nrow,
                                .gamma = a->gamma,
                                .centre = a->centre,
                                .least = a->least,
                                .before = a->before,
                                .best_E = &a->best_E,
                                .out = call->out};
    /* start; without finite numbers the solution is free motion */
    memcpy(a->best_v, call->problem->v_free, (size_t)call->problem->nv * sizeof *a->best_v);
    memset(a->best, 0, (size_t)call->problem->nrow * sizeof *a->best);
    set_acn_start(a);
    choose_start(a);
    memset(a->dv, 0, (size_t)call->problem->nv * sizeof *a->dv); /* trees without constraints */
    if (!has_acn_ended(a) && !prepare_steps(a)) {
        return NULL;
    }
    start_outer_iterations(a);
    solver_record(call, a->E, NAN);
    write_best(a);
    return a;
}

static solver_piece resume_acn(void *state, double until) {
    acn *a = state;
    a->until = until;
    if (!has_acn_ended(a) && !prepare_steps(a)) {
        return SIM_PIECE_NO_MEMORY;
    }
    /* proximal outer iterations */
    sim_outcome end = isfinite(a->E) ? proximal_point_iterate(&a->point) : SIM_BROKEN_DOWN;
    write_best(a);
    if (end == SIM_AT_LIMIT && !has_acn_ended(a)) {
        return SIM_PIECE_PAUSED;
    }
    a->call->out->outcome = judge_end(a, end);
    return SIM_PIECE_ENDED;
}

static void restart_acn(void *state, const double *impulse) {
    acn *a = state;
    a->best_E = HUGE_VAL;
    set_impulses(a, impulse, NULL);
    start_outer_iterations(a);
    write_best(a);
}

static sim_status solve_acn(solver_call *call) { return law_solve_in_one_piece(call, begin_acn, resume_acn); }

static void *create_acn_workspace(void) { return momentum_jacobian_create(); }
static void free_acn_workspace(void *jacobian) { momentum_jacobian_free(jacobian); }

const solver_type solver_acn = {
    .info = {.name = "acn",
             .method = "Newton's method on the law of Alart and Curnier in velocities, in proximal outer iterations",
             .paper = "Alart, Curnier 1991",
             .cone = SIM_CONE_STRICT,
             .default_law = SIM_ELASTIC,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .turning = true,
             .counts = SIM_COUNTS_FAILURES,
             .noptions = OPTIONS,
             .option = options},
    .uses_threads = true,
    .create = create_acn_workspace,
    .destroy = free_acn_workspace,
    .solve = solve_acn,
    .begin = begin_acn,
    .resume = resume_acn,
    .restart_from = restart_acn,
};
