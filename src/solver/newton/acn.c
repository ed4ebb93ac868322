/* ACN: Newton's method on the contact law of Alart and Curnier, in velocities.
 *
 *     F = gamma - P(y) = 0,     y = gamma - rho s',     s' = J v + w_0 - target + R gamma + alpha w (gamma - centre)
 *
 *     P        open 0;  stick y;  slide (mu y_n t, y_n), t = y_t / |y_t|;  bounds of other rows
 *     w        inverse mass of a constraint, trace(W_ii + R_i) / rows, 1/kg;   rho = 1 / ((1 + alpha) w)
 *     alpha, centre   of the proximal outer iteration (solver/core/proximal_point.h)
 *
 * R' = R + alpha w is positive in every row.  So the linearised law gives the impulse of a constraint by its velocity,
 * and the momentum balance A dv = J' dgamma the velocities, with D = 1 - P' + rho P' R':
 *
 *     dgamma = -x - G J dv,   x = D^-1 F,   G = rho D^-1 P',      (A + J' G J) dv = -J' x
 *
 *     open   x = F,  G = 0        stick   x = F / (rho R'),  G = 1 / R'
 *     slide  G = a n' / R'_n + g b b',  g = rho h / d,  d = 1 - h + rho h R'_t,  h = mu y_n / |y_t|
 *            x = (along + mu (1 - rho R'_n) x_n) t + across / d b + x_n n,   x_n = F_n / (rho R'_n)
 *            a = (mu t, 1),  b = (-t_2, t_1, 0),  n = (0, 0, 1);  along = t . F,  across = b . F
 *
 * Steps are whole, without a line search.  nsn takes the same steps in impulses, with dense matrices.
 *
 * References: Alart, Curnier 1991; Acary, Bremond, Huber 2018.
 * Cost: a sparse LU factor of the size of the velocities per step, twice the work of a Cholesky factor. */
#include "math/dense.h"
#include "solver/core/call.h"
#include "solver/core/law.h"
#include "solver/core/natural_map.h"
#include "solver/core/products.h"
#include "solver/core/proximal_point.h"
#include "solver/matrices/delassus.h"
#include "solver/matrices/momentum_jacobian.h"

#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, MAX_WORK, OPTIONS };

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] =
        {.name = "tolerance", .help = "E at which the solver stops", .low = 0, .high = 1, .default_value = 1e-8},
    [MAX_ITERATIONS] = {.name = "max_iterations",
                        .help = "maximum number of Newton steps",
                        .low = 0,
                        .high = 1e6,
                        .default_value = 2000,
                        .integer = true},
    [MAX_WORK] = {.name = "most_work",
                  .help = "limit on the multiplications of all factors, in 1e9",
                  .low = 0,
                  .high = 1e12,
                  .default_value = 5e3},
};

static const double MAX_ROUNDED_E = 1e-12; /* E of a stalled solution that counts as solved to rounding */

typedef struct acn {
    solver_call *call;
    const sim_problem *problem;
    momentum_jacobian *jacobian;
    proximal_point point;
    double *w, *rho;                       /* [nconstraint] inverse mass, and its inverse */
    double *q, *s;                         /* [nrow] velocity without impulses; at gamma, without the proximal term */
    double *gamma, *centre, *least, *best; /* [nrow] */
    double *x, *du, *dgamma;               /* [nrow] */
    double *v, *dv;                        /* [nv] */
    cone_hessian *G;                       /* [nconstraint] as of strict_project */
    double E, best_E;
} acn;

static bool is_given(const acn *a, int row) { return isinf(a->call->R[row]); }

/* v = v* + A^-1 J' gamma,  s = J v + w_0 + R gamma - target, and E; keeps the gamma of least E. */
static void eval_acn_error(void *self) {
    acn *a = self;
    const sim_problem *p = a->problem;
    natural_sum sum = {0};
    problem_response(p, a->gamma, a->v);
    problem_velocity(p, a->v, a->s);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int r = c->row; r < c->row + c->rows; r++) {
            a->s[r] = is_given(a, r) ? 0 : a->s[r] + a->call->R[r] * a->gamma[r] - a->call->target[r];
        }
        natural_add(&sum, c, p->step, a->rho[i], a->q + c->row, a->s + c->row, a->gamma + c->row);
    }
    a->E = natural_error(&sum);
    if (a->E < a->best_E) {
        a->best_E = a->E;
        memcpy(a->best, a->gamma, (size_t)p->nrow * sizeof *a->best);
    }
}

/* x and G of a contact at y; |F|^2. */
static double linearise_contact(acn *a, int i, double rho, const double *R, const double *y) {
    const sim_constraint *c = &a->problem->constraint[i];
    double *x = a->x + c->row, mu = c->friction, size = hypot(y[0], y[1]), radius = mu * y[2], F[3];
    memcpy(F, a->gamma + c->row, sizeof F);
    a->G[i] = (cone_hessian){0};
    /* open: P = 0 */
    if (!(y[2] > 0)) {
        memcpy(x, F, sizeof F);
        return F[0] * F[0] + F[1] * F[1] + F[2] * F[2];
    }
    /* stick: P = y */
    bool sticks = size <= radius;
    double t[2] = {sticks ? 0 : y[0] / size, sticks ? 0 : y[1] / size};
    F[0] -= sticks ? y[0] : radius * t[0];
    F[1] -= sticks ? y[1] : radius * t[1];
    F[2] -= y[2];
    for (int k = 0; k < 3 && sticks; k++) {
        a->G[i].weight[k] = 1 / R[k];
        x[k] = F[k] / (rho * R[k]);
    }
    /* slide: P = (mu y_n t, y_n) */
    if (!sticks) {
        double h = radius / size, d = 1 - h + rho * h * R[0], normal = F[2] / (rho * R[2]);
        double along = t[0] * F[0] + t[1] * F[1] + mu * (1 - rho * R[2]) * normal;
        double across = (t[0] * F[1] - t[1] * F[0]) / d;
        a->G[i] = (cone_hessian){.sliding = 1, .t = {t[0], t[1]}, .lean = mu, .weight = {1 / R[2], rho * h / d}};
        x[0] = along * t[0] - across * t[1];
        x[1] = along * t[1] + across * t[0];
        x[2] = normal;
    }
    return F[0] * F[0] + F[1] * F[1] + F[2] * F[2];
}

/* The same of another row. */
static double linearise_bounded_row(acn *a, int i, int r, double rho, double R, double y) {
    const sim_constraint *c = &a->problem->constraint[i];
    double bound = c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR ? a->problem->step * c->bound : HUGE_VAL;
    double low = c->kind == SIM_LIMIT ? 0 : -bound, F = a->gamma[c->row + r] - fmin(fmax(y, low), bound);
    bool inside = y > low && y < bound;
    a->G[i].weight[r] = inside ? 1 / R : 0;
    a->x[c->row + r] = inside ? F / (rho * R) : F;
    return F * F;
}

/* x and G of all constraints at gamma and s; |F|, weighed as energy. */
static double linearise_constraints(void *self) {
    acn *a = self;
    const sim_problem *p = a->problem;
    double alpha = a->point.alpha, sum = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double w = a->w[i], rho = 1 / ((1 + alpha) * w), y[SIM_MAX_ROWS], R[SIM_MAX_ROWS], part = 0;
        /* y = gamma - rho s',  R' = R + alpha w */
        for (int r = 0; r < c->rows; r++) {
            int row = c->row + r;
            y[r] = a->gamma[row] - rho * (a->s[row] + alpha * w * (a->gamma[row] - a->centre[row]));
            R[r] = a->call->R[row] + alpha * w;
        }
        if (c->kind == SIM_CONTACT) {
            sum += w * linearise_contact(a, i, rho, R, y);
            continue;
        }
        a->G[i] = (cone_hessian){0};
        for (int r = 0; r < c->rows; r++) {
            a->x[c->row + r] = 0; /* a given force */
            part += is_given(a, c->row + r) ? 0 : linearise_bounded_row(a, i, r, rho, R[r], y[r]);
        }
        sum += w * part;
    }
    return sqrt(sum);
}

/* y = G u */
static void strict_hessian_times(const sim_constraint *c, const cone_hessian *G, const double *u, double *y) {
    if (!G->sliding) {
        cone_hessian_times(c, G, u, y);
        return;
    }
    double along = G->lean * G->weight[0] * u[2], across = G->weight[1] * (G->t[0] * u[1] - G->t[1] * u[0]);
    y[0] = G->t[0] * along - G->t[1] * across;
    y[1] = G->t[1] * along + G->t[0] * across;
    y[2] = G->weight[0] * u[2];
}

static bool take_acn_step(void *self) {
    acn *a = self;
    const sim_problem *p = a->problem;
    sim_solution *out = a->call->out;
    /* (A + J' G J) dv = -J' x */
    momentum_jacobian_set(a->jacobian, a->G);
    out->factorisations++;
    out->multiplications += momentum_jacobian_work(a->jacobian);
    if (!momentum_jacobian_factor(a->jacobian)) {
        return false;
    }
    for (int r = 0; r < p->nrow; r++) {
        a->dgamma[r] = -a->x[r];
    }
    problem_jacobian_transposed(p, a->dgamma, a->dv);
    momentum_jacobian_solve(a->jacobian, a->dv);
    /* dgamma = -x - G J dv */
    problem_jacobian_times(p, a->dv, a->du);
    double sum = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double pushed[SIM_MAX_ROWS];
        strict_hessian_times(c, &a->G[i], a->du + c->row, pushed);
        for (int r = 0; r < c->rows; r++) {
            a->dgamma[c->row + r] -= pushed[r];
            sum += a->dgamma[c->row + r];
        }
    }
    if (isfinite(sum)) {
        dense_axpy(p->nrow, 1, a->dgamma, a->gamma);
    }
    return isfinite(sum);
}

static bool is_over_work(const acn *a) {
    const sim_solution *out = a->call->out;
    return out->multiplications + momentum_jacobian_work(a->jacobian) > 1e9 * a->call->option[MAX_WORK];
}

static bool has_acn_ended(void *self) {
    const acn *a = self;
    return a->best_E <= a->call->option[TOLERANCE] || solution_stopped(a->call->out) || is_over_work(a) ||
           a->call->out->iterations >= (int)a->call->option[MAX_ITERATIONS];
}

static void record_acn_step(void *self) {
    const acn *a = self;
    solver_record(a->call, a->E, NAN);
}

static bool allocate_acn(acn *a) {
    const sim_problem *p = a->problem;
    sim_arena *scratch = a->call->scratch;
    double **of_rows[] = {&a->q, &a->s, &a->gamma, &a->centre, &a->least, &a->best, &a->x, &a->du, &a->dgamma};
    bool ok = true;
    for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
        *of_rows[k] = ARENA_NEW(scratch, double, p->nrow);
        ok = ok && *of_rows[k];
    }
    a->v = ARENA_NEW(scratch, double, p->nv);
    a->dv = ARENA_NEW(scratch, double, p->nv);
    a->w = ARENA_NEW(scratch, double, p->nconstraint);
    a->rho = ARENA_NEW(scratch, double, p->nconstraint);
    a->G = ARENA_NEW(scratch, cone_hessian, p->nconstraint);
    return ok && a->v && a->dv && a->w && a->rho && a->G;
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
            a->q[r] = is_given(a, r) ? 0 : a->q[r] - a->call->target[r];
            a->gamma[r] = is_given(a, r) ? fmin(fmax(force, -bound), bound) : 0;
        }
        a->w[i] = 1 / a->rho[i];
    }
    memset(a->dv, 0, (size_t)p->nv * sizeof *a->dv); /* trees without constraints */
    memcpy(a->centre, a->gamma, (size_t)p->nrow * sizeof *a->gamma);
    eval_acn_error(a);
}

/* The warm start, if it is better than no impulses. */
static void use_warm_impulses(acn *a) {
    const sim_problem *p = a->problem;
    double nothing = a->E;
    for (int r = 0; r < p->nrow && p->impulse_guess; r++) {
        a->gamma[r] = is_given(a, r) || !isfinite(p->impulse_guess[r]) ? a->gamma[r] : p->impulse_guess[r];
    }
    eval_acn_error(a);
    if (!(a->E <= nothing)) {
        memcpy(a->gamma, a->centre, (size_t)p->nrow * sizeof *a->gamma);
        eval_acn_error(a);
    }
}

/* Outcome from the end of the iteration and the least E. */
static sim_outcome judge_end(const acn *a, sim_outcome end) {
    if (a->best_E <= a->call->option[TOLERANCE]) {
        return SIM_SOLVED;
    }
    if (end == SIM_STALLED && a->best_E <= MAX_ROUNDED_E) {
        return SIM_AT_ROUNDING;
    }
    a->call->out->reason = end == SIM_STALLED ? SIM_REASON_STANDSTILL
                           : is_over_work(a)  ? SIM_REASON_WORK
                                              : SIM_REASON_NONE;
    return end;
}

static sim_status solve_acn(solver_call *call) {
    acn a = {.call = call, .problem = call->problem, .jacobian = call->workspace, .best_E = HUGE_VAL};
    if (!law_is_supported(call)) {
        law_reject(call);
        return SIM_OK;
    }
    /* memory, scales and structure of the problem */
    if (!allocate_acn(&a) || !delassus_scales(call->problem, call->R, call->scratch, a.w, a.rho) ||
        !momentum_jacobian_prepare(a.jacobian, call->problem)) {
        return SIM_NO_RESOURCE;
    }
    call->out->expected = momentum_jacobian_work(a.jacobian);
    /* start */
    set_acn_start(&a);
    if (!isfinite(a.E)) {
        law_reject(call);
        call->out->reason = SIM_REASON_NONFINITE;
        return SIM_OK;
    }
    use_warm_impulses(&a);
    solver_record(call, a.E, NAN);
    /* proximal outer iterations */
    a.point = (proximal_point){.self = &a,
                               .eval_map = linearise_constraints,
                               .take_step = take_acn_step,
                               .eval_error = eval_acn_error,
                               .record = record_acn_step,
                               .has_ended = has_acn_ended,
                               .rows = call->problem->nrow,
                               .gamma = a.gamma,
                               .centre = a.centre,
                               .least = a.least,
                               .best_E = &a.best_E,
                               .out = call->out,
                               .alpha = fmin(1, a.E)};
    sim_outcome end = proximal_point_iterate(&a.point);
    /* the best iterate is the solution */
    call->out->outcome = judge_end(&a, end);
    call->out->residual = a.best_E;
    solution_write(call, a.best);
    return SIM_OK;
}

static void *create_acn_workspace(void) { return momentum_jacobian_create(); }
static void free_acn_workspace(void *jacobian) { momentum_jacobian_free(jacobian); }

const solver_type solver_acn = {
    .info = {.name = "acn",
             .method = "Newton's method on the law of Alart and Curnier in velocities, in proximal outer iterations",
             .paper = "Alart, Curnier 1991",
             .cone = SIM_CONE_STRICT,
             .default_law = SIM_ELASTIC,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .counts = SIM_COUNTS_FAILURES,
             .noptions = OPTIONS,
             .option = options},
    .create = create_acn_workspace,
    .destroy = free_acn_workspace,
    .solve = solve_acn,
};
