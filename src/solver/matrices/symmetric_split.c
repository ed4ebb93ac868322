/* Outer iteration for an unsymmetric or slightly indefinite W, for solvers that need W = L L'.
 *
 *     u = L L' gamma + D gamma + q,   D = W - L L':      target_k = target - D gamma_(k-1)
 *
 * L L': factor of the symmetric part (delassus_factor.c); D: the rest, from gyroscopic terms and rounding.  D is small
 * beside L L' (at most 2 % in the public collections), and each outer iteration contracts by that ratio.  Anderson
 * acceleration (anderson.c) helps where D is larger.  An outer iteration changes s by
 *
 *     d = D (gamma_k - gamma_(k-1)),
 *
 * and the natural map of a contact by at most (1 + mu) rho |d|, because projections do not expand.  This bound, over
 * the scales of E (natural_map.c), is added to the residual of the solver; the outer iteration stops on the sum. */
#include "solver/matrices/symmetric_split.h"
#include "solver/core/anderson.h"
#include "solver/core/products.h"
#include "solver/core/stall.h"
#include "solver/matrices/delassus.h"
#include "solver/matrices/delassus_factor.h"

#include <math.h>
#include <string.h>

/* outer iterations; columns of Anderson acceleration; outer iterations */
enum { MAX_OUTER_ITERATIONS = 100, ANDERSON_WINDOW = 5, MAX_STALLED_ITERATIONS = 10 };
static const double INNER_SHARE = 0.5;        /* of the tolerance goes to the inner solver, the rest to D */
static const double NEGLIGIBLE_CHANGE = 1e-6; /* of the tolerance: below it all goes to the inner solver */
static const double INNER_OVER_CHANGE = 0.01; /* inner tolerance over the change of the last outer iteration */
static const double MIN_CHANGE = 1e-14;       /* rounding of E */
static const double PROGRESS_RATIO = 0.5;     /* of the residual, else the iteration has stalled */

typedef struct split_iteration {
    solver_call *call;
    sim_problem global;
    double *w, *rho, *q;               /* q less the target */
    double *rest, *work;               /* D gamma before or after the outer iteration; L L' gamma */
    double *target, *gamma;            /* of the inner problem; its solution */
    double *v, *v_guess, *gamma_guess; /* work; warm start */
    double *option;
    int tolerance, max_iterations; /* indices of two options; -1: none */
    double asked;                  /* tolerance of the caller */
    anderson acceleration;
    double best;       /* residual of the impulses in call->out */
    stall_watch least; /* of the residual */
    sim_solution inner, total;
} split_iteration;

static int option_index(const sim_solver_info *info, const char *name) {
    for (int k = 0; k < info->noptions; k++) {
        if (strcmp(info->option[k].name, name) == 0) {
            return k;
        }
    }
    return -1;
}

static bool init_iteration(split_iteration *o, const sim_solver_info *info) {
    const sim_problem *p = o->call->problem;
    size_t rows = (size_t)p->nrow;
    sim_arena *scratch = o->call->scratch;
    /* memory */
    double **of_rows[] = {&o->q, &o->rest, &o->work, &o->target, &o->gamma, &o->gamma_guess};
    for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
        *of_rows[k] = ARENA_NEW(scratch, double, rows);
        if (!*of_rows[k]) {
            return false;
        }
    }
    o->w = ARENA_NEW(scratch, double, p->nconstraint);
    o->rho = ARENA_NEW(scratch, double, p->nconstraint);
    o->v = ARENA_NEW(scratch, double, o->global.nv);
    o->v_guess = ARENA_NEW(scratch, double, o->global.nv);
    o->option = ARENA_NEW(scratch, double, info->noptions);
    if (!o->w || !o->rho || !o->v || !o->v_guess || !o->option ||
        !delassus_scales(p, o->call->R, scratch, o->w, o->rho) ||
        !anderson_make(&o->acceleration, p->nrow, ANDERSON_WINDOW, scratch)) {
        return false;
    }
    /* q - target, 0 in rows with a given force */
    for (int r = 0; r < p->nrow; r++) {
        o->q[r] = isinf(o->call->R[r]) ? 0 : p->q[r] - o->call->target[r];
    }
    /* Anderson acceleration weighs the impulses of constraint i by 1 / sqrt(w_i) */
    for (int i = 0; i < p->nconstraint; i++) {
        for (int k = 0; k < p->constraint[i].rows; k++) {
            o->acceleration.scale[p->constraint[i].row + k] = 1 / sqrt(o->w[i]);
        }
    }
    /* options of the inner solver, with its own tolerance and limit */
    memcpy(o->option, o->call->option, (size_t)info->noptions * sizeof *o->option);
    o->tolerance = option_index(info, "tolerance");
    o->max_iterations = option_index(info, "max_iterations");
    o->asked = o->tolerance >= 0 ? o->option[o->tolerance] : 0;
    return true;
}

/* y = D gamma; work = L L' gamma */
static void rest_times(split_iteration *o, const double *gamma, double *y) {
    const sim_problem *p = o->call->problem, *g = &o->global;
    problem_jacobian_transposed(g, gamma, o->v);
    problem_jacobian_times(g, o->v, o->work);
    delassus_times(p, gamma, NULL, y);
    for (int r = 0; r < p->nrow; r++) {
        y[r] -= o->work[r];
    }
}

static double root_ratio(double x, double size) { return x > 0 ? sqrt(x / size) : 0; }

/* Bound on the change of E when `rest` becomes D gamma, which it does. */
static double update_rest(split_iteration *o, const double *gamma) {
    const sim_problem *p = o->call->problem;
    double moved = 0, pushed = 0, q = 0, u = 0, impulses = 0;
    double *fresh = o->target; /* free between outer iterations */
    rest_times(o, gamma, fresh);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double stretch = c->kind == SIM_CONTACT ? 1 + c->friction : 1, rho = o->rho[i];
        for (int r = c->row; r < c->row + c->rows; r++) {
            double R = o->call->R[r], d = isinf(R) ? 0 : stretch * (fresh[r] - o->rest[r]);
            double s = isinf(R) ? 0 : o->q[r] + o->work[r] + fresh[r] + R * gamma[r];
            moved += d * d;
            pushed += rho * rho * d * d;
            q += o->q[r] * o->q[r];
            u += s * s;
            impulses += gamma[r] * gamma[r];
            o->rest[r] = fresh[r];
        }
    }
    return fmax(root_ratio(moved, fmax(q, u)), root_ratio(pushed, impulses));
}

static void set_options(split_iteration *o, double moved) {
    if (o->tolerance >= 0) {
        double some = moved > NEGLIGIBLE_CHANGE * o->asked ? INNER_SHARE * o->asked : o->asked;
        o->option[o->tolerance] = fmin(fmax(some, INNER_OVER_CHANGE * moved), 1);
    }
    if (o->max_iterations >= 0) {
        o->option[o->max_iterations] = fmax(0, o->call->option[o->max_iterations] - o->total.iterations);
    }
}

static void add_effort(sim_solution *total, const sim_solution *s) {
    total->iterations += s->iterations;
    total->factorisations += s->factorisations;
    total->searches += s->searches;
    total->failures += s->failures;
    total->whole_steps += s->whole_steps;
    total->dogleg_steps += s->dogleg_steps;
    total->edge_steps += s->edge_steps;
    total->multiplications += s->multiplications;
    total->factor_seconds += s->factor_seconds;
}

/* Solves the inner problem with the present `rest`. */
static sim_status solve_symmetric_part(split_iteration *o, const solver_type *type) {
    solver_call call = *o->call;
    size_t mark = arena_mark(call.scratch);
    for (int r = 0; r < call.problem->nrow; r++) {
        o->target[r] = o->call->target[r] - o->rest[r];
    }
    o->inner.iterations = o->inner.factorisations = o->inner.searches = o->inner.failures = o->inner.whole_steps = 0;
    o->inner.dogleg_steps = o->inner.edge_steps = 0;
    o->inner.multiplications = o->inner.factor_seconds = 0;
    call.problem = &o->global;
    call.target = o->target;
    call.option = o->option;
    call.out = &o->inner;
    sim_status status = type->solve(&call);
    arena_release(call.scratch, mark);
    add_effort(&o->total, &o->inner);
    return status;
}

/* Keeps the best impulses in call->out; the next outer iteration starts from the last ones. */
static void keep_best_impulses(split_iteration *o, double residual) {
    size_t rows = (size_t)o->call->problem->nrow;
    stall_watch_update_least(&o->least, residual);
    if (residual < o->best || o->best == HUGE_VAL) {
        o->best = residual;
        memcpy(o->call->out->impulse, o->gamma, rows * sizeof *o->gamma);
    }
    memcpy(o->gamma_guess, o->gamma, rows * sizeof *o->gamma);
    memcpy(o->v_guess, o->inner.v, (size_t)o->global.nv * sizeof *o->v_guess);
    o->global.v_guess = o->v_guess;
    o->global.impulse_guess = o->gamma_guess;
}

/* Outcome after an outer iteration; SIM_OUTCOMES: the iteration continues. */
static sim_outcome judge_split_iteration(split_iteration *o, double moved) {
    sim_outcome of_solver = o->inner.outcome;
    bool loose = o->tolerance >= 0 && o->option[o->tolerance] > o->asked;
    o->total.reason = o->inner.reason;
    if (of_solver == SIM_AT_LIMIT || of_solver == SIM_BROKEN_DOWN) {
        return of_solver;
    }
    if (!loose && moved <= fmax(INNER_SHARE * o->asked, MIN_CHANGE)) {
        return of_solver;
    }
    if (o->least.stalled >= MAX_STALLED_ITERATIONS || !isfinite(moved)) {
        o->total.reason = isfinite(moved) ? SIM_REASON_STANDSTILL : SIM_REASON_NONFINITE;
        return SIM_AT_LIMIT;
    }
    return solution_stopped(o->call->out) ? SIM_AT_LIMIT : SIM_OUTCOMES;
}

/* Size of the skew part of W, relative: bounds the tolerance of the first inner problem. */
static double skew_ratio(const sim_problem *p) {
    const sim_delassus *W = p->W;
    double skew = 0, all = 0;
    for (int i = 0; i < p->nconstraint && !W->symmetric; i++) {
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            int j = W->column[k], rows = p->constraint[i].rows, columns = p->constraint[j].rows;
            const double *B = W->value + W->at[k], *C = delassus_block(p, j, i);
            for (int e = 0; e < rows * columns; e++) {
                double other = C ? C[e % columns * rows + e / columns] : 0;
                skew += (B[e] - other) * (B[e] - other);
                all += B[e] * B[e];
            }
        }
    }
    return 0.5 * root_ratio(skew, all);
}

static sim_status run_iteration(split_iteration *o, const solver_type *type) {
    double moved = skew_ratio(o->call->problem);
    sim_outcome outcome = SIM_OUTCOMES;
    memset(o->rest, 0, (size_t)o->call->problem->nrow * sizeof *o->rest);
    if (o->global.impulse_guess) {
        update_rest(o, o->global.impulse_guess);
    }
    for (int k = 0; k < MAX_OUTER_ITERATIONS && outcome == SIM_OUTCOMES; k++) {
        /* gamma_k: L L' gamma with target - D gamma_(k-1) */
        set_options(o, moved);
        anderson_begin(&o->acceleration, o->rest);
        sim_status status = solve_symmetric_part(o, type);
        if (status) {
            return status;
        }
        /* bound on the error that D (gamma_k - gamma_(k-1)) leaves */
        moved = update_rest(o, o->gamma);
        keep_best_impulses(o, o->inner.residual + moved);
        outcome = judge_split_iteration(o, moved);
        anderson_end(&o->acceleration, o->rest);
    }
    o->total.outcome = outcome == SIM_OUTCOMES ? SIM_AT_LIMIT : outcome;
    o->total.residual = o->best;
    return SIM_OK;
}

sim_status symmetric_split_solve(const solver_type *type, solver_call *call) {
    split_iteration o = {
        .call = call, .best = HUGE_VAL, .least = stall_watch_start(PROGRESS_RATIO), .inner = *call->out};
    delassus_factor_result made = problem_from_delassus(call->problem, call->scratch, &o.global);
    if (made == DELASSUS_INDEFINITE) {
        memset(call->out->impulse, 0, (size_t)call->problem->nrow * sizeof *call->out->impulse);
        call->out->outcome = SIM_BROKEN_DOWN;
        call->out->residual = HUGE_VAL;
        return SIM_OK;
    }
    o.inner.v = made == DELASSUS_FACTORED ? ARENA_NEW(call->scratch, double, o.global.nv) : NULL;
    if (!o.inner.v || !init_iteration(&o, &type->info)) {
        return SIM_NO_RESOURCE;
    }
    o.inner.impulse = o.gamma;
    o.total = *call->out;
    sim_status status = run_iteration(&o, type);
    *call->out = o.total;
    return status;
}
