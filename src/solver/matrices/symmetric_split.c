/* What of a W that no bodies could have given?
 *
 * Gyroscopic terms make W unsymmetric, rounding makes it indefinite by a little; solvers that work on velocities want
 * W = L L'.  They are given L L' of the symmetric part (delassus_factor.c), and what that leaves out of the answer before:
 *
 *     u = L L' gamma + D gamma + q,   D = W - L L':      target_k = target - D gamma_(k-1)
 *
 * D is small beside L L' (2 % at most in the public collections), so that rounds of this contract by as much; and where D
 * is not small they are guessed ahead (anderson.c).  A round changes s by
 *
 *     d = D (gamma_k - gamma_(k-1)),
 *
 * and the natural map of any law by no more than (1 + mu) rho |d| in a contact, as projections stretch nothing.  That, over
 * the sizes by which E is measured (natural_map.c), is added to what the solver says of itself; so far the rounds go. */
#include "solver/matrices/symmetric_split.h"
#include "solver/core/anderson.h"
#include "solver/core/products.h"
#include "solver/core/stall.h"
#include "solver/matrices/delassus.h"
#include "solver/matrices/delassus_factor.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 100, WINDOW = 5, PATIENCE = 10 }; /* at most; of guesses; rounds that gain nothing */
static const double SHARE = 0.5;                  /* of the tolerance, for the solver where D is to be reckoned with */
static const double EXACT = 1e-6;                 /* of the tolerance: below that it is not */
static const double AHEAD = 0.01;                 /* of what the last round moved: more exact no solver need be */
static const double ROUNDING = 1e-14;

typedef struct rounds {
    solver_call *call;
    sim_problem global;
    double *w, *rho, *q;    /* q less the target */
    double *left, *moved;   /* D gamma: as the round took it, or as its answer has it; work */
    double *target, *gamma; /* of the round: what it aims at, its answer */
    double *v, *v_guess, *gamma_guess;
    double *option;
    int tolerance, most; /* places of two options; -1: the solver has none such */
    double asked;        /* tolerance */
    anderson ahead;
    double best;       /* residual of what stands in call->out */
    stall_watch least; /* of the residual */
    sim_solution inner, total;
} rounds;

static int place_of(const sim_solver_info *info, const char *name) {
    for (int k = 0; k < info->noptions; k++) {
        if (strcmp(info->option[k].name, name) == 0) {
            return k;
        }
    }
    return -1;
}

static int weigh(rounds *o) {
    const sim_problem *p = o->call->problem;
    double *W = ARENA_NEW(o->call->scratch, double, sim_delassus_diagonal_size(p));
    if (!W || !delassus_diagonal(p, NULL, o->call->scratch, W)) {
        return 0;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double trace = 0, R = 0;
        for (int k = 0; k < c->rows; k++) {
            int row = c->row + k, forced = isinf(o->call->R[row]);
            trace += W[k * c->rows + k];
            R += forced ? 0 : o->call->R[row];
            o->q[row] = forced ? 0 : p->q[row] - o->call->target[row];
        }
        W += c->rows * c->rows;
        o->w[i] = trace > 0 ? trace / c->rows : 1;
        o->rho[i] = trace + R > 0 ? c->rows / (trace + R) : 1;
    }
    return 1;
}

static int prepare(rounds *o, const sim_solver_info *info) {
    const sim_problem *p = o->call->problem;
    size_t rows = (size_t)p->nrow;
    sim_arena *scratch = o->call->scratch;
    double **of_rows[] = {&o->q, &o->left, &o->moved, &o->target, &o->gamma, &o->gamma_guess};
    for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
        *of_rows[k] = ARENA_NEW(scratch, double, rows);
        if (!*of_rows[k]) {
            return 0;
        }
    }
    o->w = ARENA_NEW(scratch, double, p->nconstraint);
    o->rho = ARENA_NEW(scratch, double, p->nconstraint);
    o->v = ARENA_NEW(scratch, double, o->global.nv);
    o->v_guess = ARENA_NEW(scratch, double, o->global.nv);
    o->option = ARENA_NEW(scratch, double, info->noptions);
    if (!o->w || !o->rho || !o->v || !o->v_guess || !o->option || !weigh(o) ||
        !anderson_make(&o->ahead, p->nrow, WINDOW, scratch)) {
        return 0;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        for (int k = 0; k < p->constraint[i].rows; k++) {
            o->ahead.scale[p->constraint[i].row + k] = 1 / sqrt(o->w[i]);
        }
    }
    memcpy(o->option, o->call->option, (size_t)info->noptions * sizeof *o->option);
    o->tolerance = place_of(info, "tolerance");
    o->most = place_of(info, "max_iterations");
    o->asked = o->tolerance >= 0 ? o->option[o->tolerance] : 0;
    return 1;
}

/* y = D gamma */
static void remainder_of(rounds *o, const double *gamma, double *y) {
    const sim_problem *p = o->call->problem, *g = &o->global;
    problem_jacobian_transposed(g, gamma, o->v);
    problem_jacobian_times(g, o->v, o->moved);
    delassus_times(p, gamma, NULL, y);
    for (int r = 0; r < p->nrow; r++) {
        y[r] -= o->moved[r];
    }
}

static double over(double x, double size) { return x > 0 ? sqrt(x / size) : 0; }

/* By how much may E differ, as `left` was D of another gamma?  Leaves D of this one there. */
static double renew(rounds *o, const double *gamma) {
    const sim_problem *p = o->call->problem;
    double moved = 0, pushed = 0, q = 0, u = 0, impulses = 0;
    double *fresh = o->target; /* of use again when the round is over */
    remainder_of(o, gamma, fresh);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double stretch = c->kind == SIM_CONTACT ? 1 + c->friction : 1, rho = o->rho[i];
        for (int r = c->row; r < c->row + c->rows; r++) {
            double R = o->call->R[r], d = isinf(R) ? 0 : stretch * (fresh[r] - o->left[r]);
            double s = isinf(R) ? 0 : o->q[r] + o->moved[r] + fresh[r] + R * gamma[r];
            moved += d * d;
            pushed += rho * rho * d * d;
            q += o->q[r] * o->q[r];
            u += s * s;
            impulses += gamma[r] * gamma[r];
            o->left[r] = fresh[r];
        }
    }
    return fmax(over(moved, fmax(q, u)), over(pushed, impulses));
}

static void set_options(rounds *o, double moved) {
    if (o->tolerance >= 0) {
        double some = moved > EXACT * o->asked ? SHARE * o->asked : o->asked;
        o->option[o->tolerance] = fmin(fmax(some, AHEAD * moved), 1);
    }
    if (o->most >= 0) {
        o->option[o->most] = fmax(0, o->call->option[o->most] - o->total.iterations);
    }
}

static void count(sim_solution *total, const sim_solution *s) {
    total->iterations += s->iterations;
    total->factorisations += s->factorisations;
    total->searches += s->searches;
    total->failures += s->failures;
    total->whole_steps += s->whole_steps;
    total->multiplications += s->multiplications;
    total->factor_seconds += s->factor_seconds;
}

/* One round, with what stands in `left`; 0 without memory. */
static int solve_once(rounds *o, const solver_type *type) {
    solver_call call = *o->call;
    size_t mark = arena_mark(call.scratch);
    for (int r = 0; r < call.problem->nrow; r++) {
        o->target[r] = o->call->target[r] - o->left[r];
    }
    o->inner.iterations = o->inner.factorisations = o->inner.searches = o->inner.failures = o->inner.whole_steps = 0;
    o->inner.multiplications = o->inner.factor_seconds = 0;
    call.problem = &o->global;
    call.target = o->target;
    call.option = o->option;
    call.out = &o->inner;
    int done = !type->solve(&call);
    arena_release(call.scratch, mark);
    count(&o->total, &o->inner);
    return done;
}

/* The best answer so far stands in call->out; the next round starts from the last. */
static void keep(rounds *o, double residual) {
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

/* What a round says of how it goes on: SIM_OUTCOMES means that it does. */
static sim_outcome judge_round(rounds *o, double moved) {
    sim_outcome of_solver = o->inner.outcome;
    int far = o->tolerance >= 0 && o->option[o->tolerance] > o->asked;
    o->total.reason = o->inner.reason;
    if (of_solver == SIM_AT_LIMIT || of_solver == SIM_BROKEN_DOWN) {
        return of_solver;
    }
    if (!far && moved <= fmax(SHARE * o->asked, ROUNDING)) {
        return of_solver;
    }
    if (o->least.stalled >= PATIENCE || !isfinite(moved)) {
        o->total.reason = isfinite(moved) ? SIM_REASON_STANDSTILL : SIM_REASON_NONFINITE;
        return SIM_AT_LIMIT;
    }
    return solution_stopped(o->call->out) ? SIM_AT_LIMIT : SIM_OUTCOMES;
}

/* How much of W is no symmetric part: so exact need the first round not be. */
static double skew_part(const sim_problem *p) {
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
    return 0.5 * over(skew, all);
}

/* 0 without memory. */
static int iterate(rounds *o, const solver_type *type) {
    double moved = skew_part(o->call->problem);
    sim_outcome outcome = SIM_OUTCOMES;
    memset(o->left, 0, (size_t)o->call->problem->nrow * sizeof *o->left);
    if (o->global.impulse_guess) {
        renew(o, o->global.impulse_guess);
    }
    for (int round = 0; round < ROUNDS && outcome == SIM_OUTCOMES; round++) {
        set_options(o, moved);
        anderson_begin(&o->ahead, o->left);
        if (!solve_once(o, type)) {
            return 0;
        }
        moved = renew(o, o->gamma);
        keep(o, o->inner.residual + moved);
        outcome = judge_round(o, moved);
        anderson_end(&o->ahead, o->left);
    }
    o->total.outcome = outcome == SIM_OUTCOMES ? SIM_AT_LIMIT : outcome;
    o->total.residual = o->best;
    return 1;
}

int symmetric_split_solve(const solver_type *type, solver_call *call) {
    rounds o = {.call = call, .best = HUGE_VAL, .least = stall_watch_start(SHARE), .inner = *call->out};
    int made = problem_from_delassus(call->problem, call->scratch, &o.global);
    if (made < 0) {
        memset(call->out->impulse, 0, (size_t)call->problem->nrow * sizeof *call->out->impulse);
        call->out->outcome = SIM_BROKEN_DOWN;
        call->out->residual = HUGE_VAL;
        return 1;
    }
    o.inner.v = made ? ARENA_NEW(call->scratch, double, o.global.nv) : NULL;
    if (!o.inner.v || !prepare(&o, &type->info)) {
        return 0;
    }
    o.inner.impulse = o.gamma;
    o.total = *call->out;
    int done = iterate(&o, type);
    *call->out = o.total;
    return done;
}
