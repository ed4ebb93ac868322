/* CANAL: the cascaded Newton-based augmented Lagrangian method (Lee et al. 2024/25, algorithm 1).
 *
 * The strict law is the convex one with the normal velocity raised by p = mu |s_t| (eq. 20).  With p and a multiplier
 * lambda from the round before, each round answers a convex problem, that of SAP with
 *
 *     R' = R + e,   target' = target + e lambda - (0, 0, p),      e_i = w_i / kappa,   w_i = trace W_ii / rows
 *
 * (eqs. 21, 22 with beta = 1 / e), by Newton's method on its primal cost (primal.c).  Then
 *
 *     lambda <- gamma,     p <- mu |s_t|,    s = J v + w - target + R gamma,
 *
 * until gamma and v obey the strict law.  A fixed point does not depend on e. */
#include "solver/delassus.h"
#include "solver/extrapolate.h"
#include "solver/natural.h"
#include "solver/primal.h"
#include "solver/products.h"
#include "solver/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, ROUNDS, OPTIONS };

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {"tolerance", "E at which it stops", 0, 1, 1e-8, 0, NULL},
    [MAX_ITERATIONS] = {"max_iterations", "Newton steps, of all rounds", 0, 1e6, 2000, 1, NULL},
    [ROUNDS] = {"rounds", "of multipliers at most", 1, 1e6, 500, 1, NULL},
};

typedef struct canal {
    const solver_call *call;
    const sim_problem *problem;
    double *w, *rho;                       /* [nconstraint] */
    double *R, *yield, *target, *constant; /* [nrow] of the inner problem */
    double *lambda, *q, *s;                /* [nrow] */
    double *shift;                         /* [nconstraint] p */
    double *vbar;                          /* [nv] */
    double kappa;
} canal;

static int make(canal *c, const solver_call *call) {
    const sim_problem *p = call->problem;
    size_t rows = (size_t)p->nrow, n = (size_t)p->nconstraint;
    *c = (canal){.call = call, .problem = p, .kappa = 100};
    double **of_rows[] = {&c->R, &c->yield, &c->target, &c->constant, &c->lambda, &c->q, &c->s};
    double **of_all[] = {&c->w, &c->rho, &c->shift};
    int ok = 1;
    for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
        *of_rows[k] = ARENA_NEW(call->scratch, double, rows);
        ok = ok && *of_rows[k];
    }
    for (size_t k = 0; k < sizeof of_all / sizeof *of_all; k++) {
        *of_all[k] = ARENA_NEW(call->scratch, double, n);
        ok = ok && *of_all[k];
    }
    c->vbar = ARENA_NEW(call->scratch, double, p->nv);
    double *W = ARENA_NEW(call->scratch, double, sim_delassus_diagonal_size(p));
    if (!ok || !c->vbar || !W || !delassus_diagonal(p, NULL, call->scratch, W)) {
        return 0;
    }
    problem_velocity(p, p->v_free, c->q);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *k = &p->constraint[i];
        double trace = 0, R = 0;
        for (int r = 0; r < k->rows; r++) {
            trace += W[r * k->rows + r];
            R += call->R[k->row + r];
            c->q[k->row + r] -= call->target[k->row + r];
        }
        W += k->rows * k->rows;
        c->w[i] = trace > 0 ? trace / k->rows : 1;
        c->rho[i] = trace + R > 0 ? k->rows / (trace + R) : 1;
    }
    return 1;
}

/* The law of the inner problem. */
static void set_law(canal *c) {
    const solver_call *call = c->call;
    for (int i = 0; i < c->problem->nconstraint; i++) {
        const sim_constraint *k = &c->problem->constraint[i];
        double e = c->w[i] / c->kappa, least = HUGE_VAL;
        for (int r = k->row; r < k->row + k->rows; r++) {
            least = fmin(least, call->R[r]);
        }
        e = least >= e ? 0 : e;
        for (int r = k->row; r < k->row + k->rows; r++) {
            double R = call->R[r] + e;
            c->constant[r] = k->kind == SIM_SPRING || k->kind == SIM_ACTUATOR ? c->problem->step * k->force : 0;
            c->R[r] = isinf(R) ? 0 : R;
            c->yield[r] = isinf(R) ? 0 : 1 / R;
            c->target[r] = isinf(R) ? 0 : call->target[r] + e * c->lambda[r];
        }
        if (k->kind == SIM_CONTACT) {
            c->target[k->row + 2] -= c->shift[i];
        }
    }
}

/* s at the velocities v + A^-1 (J' gamma - A (v - v*)), with which momentum is in balance to the last bit. */
static double measure(canal *c, const double *gamma) {
    const sim_problem *p = c->problem;
    natural_sum sum = {0};
    problem_jacobian_transposed(p, gamma, c->vbar);
    problem_mass_solve(p, c->vbar);
    for (int j = 0; j < p->nv; j++) {
        c->vbar[j] += p->v_free[j];
    }
    problem_velocity(p, c->vbar, c->s);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *k = &p->constraint[i];
        for (int r = k->row; r < k->row + k->rows; r++) {
            c->s[r] += isinf(c->call->R[r]) ? 0 : c->call->R[r] * gamma[r] - c->call->target[r];
        }
        natural_add(&sum, k, p->step, c->rho[i], c->q + k->row, c->s + k->row, gamma + k->row);
    }
    return natural_error(&sum);
}

static void take_shift(canal *c) {
    for (int i = 0; i < c->problem->nconstraint; i++) {
        const sim_constraint *k = &c->problem->constraint[i];
        c->shift[i] = k->kind == SIM_CONTACT ? k->friction * hypot(c->s[k->row], c->s[k->row + 1]) : 0;
    }
}

static int solve(solver_call *call) {
    const sim_problem *p = call->problem;
    const double *value = call->option;
    hessian *h = call->kept;
    canal c;
    if (!make(&c, call) || !hessian_prepare(h, p, SPD_AUTO)) {
        return 0;
    }
    primal_options o = {1e-4, (int)value[MAX_ITERATIONS], 0, SPD_AUTO};
    double *v = call->out->v;
    memcpy(v, p->v_guess ? p->v_guess : p->v_free, (size_t)p->nv * sizeof *v);
    for (int r = 0; r < p->nrow; r++) {
        c.lambda[r] = p->impulse_guess ? p->impulse_guess[r] : 0;
    }
    problem_velocity(p, v, c.s);
    take_shift(&c);
    convex_law law = {p, c.R, c.yield, c.target, c.constant};
    primal newton = {.at = {.v = v, .gamma = call->out->impulse}};
    set_law(&c);
    if (!primal_begin(&newton, &law, h, &o, call->out, call->scratch)) {
        return 0;
    }
    double before = HUGE_VAL, best = HUGE_VAL; if (getenv("K0")) c.kappa = atof(getenv("K0"));
    int debug = getenv("CANAL") != NULL, total = p->nrow + p->nconstraint;
    double *kept_v = ARENA_NEW(call->scratch, double, p->nv), *kept_g = ARENA_NEW(call->scratch, double, p->nrow);
    double *x = ARENA_NEW(call->scratch, double, total);
    extrapolation ex;
    int window = getenv("WINDOW") ? atoi(getenv("WINDOW")) : 10;
    extrapolation_make(&ex, total, window, call->scratch);
    ex.growth = getenv("GROWTH") ? atof(getenv("GROWTH")) : 4;
    double kmax = getenv("KMAX") ? atof(getenv("KMAX")) : 1e6;
    for (int i = 0; i < p->nconstraint && window; i++) {
        for (int r = 0; r < p->constraint[i].rows; r++) {
            ex.scale[p->constraint[i].row + r] = sqrt(c.w[i]);
        }
        ex.scale[p->nrow + i] = 1 / sqrt(c.w[i]);
    }
    memcpy(x, c.lambda, (size_t)p->nrow * sizeof *x);
    memcpy(x + p->nrow, c.shift, (size_t)p->nconstraint * sizeof *x);
    for (int round = 0; round < (int)value[ROUNDS]; round++) {
        memcpy(c.lambda, x, (size_t)p->nrow * sizeof *x);
        for (int i = 0; i < p->nconstraint; i++) {
            c.shift[i] = fmax(0, x[p->nrow + i]);
        }
        extrapolation_begin(&ex, x);
        set_law(&c);
        newton.options.tolerance = fmax(1e-13, fmin(1e-4, 0.01 * best));
        if (!primal_minimise(&newton)) {
            return 0;
        }
        double E = measure(&c, newton.at.gamma);
        if (E < best) {
            best = E;
            memcpy(kept_v, v, (size_t)p->nv * sizeof *v);
            memcpy(kept_g, newton.at.gamma, (size_t)p->nrow * sizeof *v);
        }
        take_shift(&c);
        double multiplier = 0, shift = 0;
        for (int i = 0; i < p->nconstraint; i++) {
            for (int r = p->constraint[i].row; r < p->constraint[i].row + p->constraint[i].rows; r++) {
                multiplier += pow(c.w[i] * (newton.at.gamma[r] - x[r]) / c.kappa, 2);
            }
            shift += pow(c.shift[i] - x[p->nrow + i], 2);
        }
        multiplier = sqrt(multiplier), shift = sqrt(shift);
        memcpy(x, newton.at.gamma, (size_t)p->nrow * sizeof *x);
        memcpy(x + p->nrow, c.shift, (size_t)p->nconstraint * sizeof *x);
        int guessed = ex.guessed;
        int res = (int)extrapolation_end(&ex, x);
        if (debug) {
            fprintf(stderr, "%d newton %d kappa %.1e inner %.1e %s E %.3e mult %.1e shift %.1e guess %d res %d\n", round,
                    call->out->iterations, c.kappa, newton.at.residual, sim_outcome_name(call->out->outcome), E,
                    multiplier, shift, guessed, res);
        }
        if (best <= value[TOLERANCE] || call->out->iterations >= (int)value[MAX_ITERATIONS] ||
            solution_stopped(call->out)) {
            break;
        }
        if (E > 0.5 * before && multiplier > (getenv("RATIO") ? atof(getenv("RATIO")) : 1) * shift && c.kappa < kmax) {
            c.kappa = fmin(c.kappa * (getenv("KSTEP") ? atof(getenv("KSTEP")) : 5), kmax);
            extrapolation_restart(&ex);
        }
        before = E;
    }
    memcpy(v, kept_v, (size_t)p->nv * sizeof *v);
    memcpy(newton.at.gamma, kept_g, (size_t)p->nrow * sizeof *v);
    if (newton.at.gamma != call->out->impulse) {
        memcpy(call->out->impulse, kept_g, (size_t)p->nrow * sizeof *v);
    }
    call->out->residual = best;
    call->out->outcome = best <= value[TOLERANCE] ? SIM_SOLVED : SIM_AT_LIMIT;
    return 1;
}

static void *create(void) { return hessian_create(); }
static void destroy(void *kept) { hessian_free(kept); }

const solver_type solver_canal = {
    .card = {.name = "canal",
             .method = "augmented Lagrangian over convex problems, each by Newton's method",
             .paper = "Lee et al. 2024",
             .cone = SIM_CONE_STRICT,
             .compliance = SIM_RIGID,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .noptions = OPTIONS,
             .option = options},
    .create = create,
    .destroy = destroy,
    .solve = solve,
};
