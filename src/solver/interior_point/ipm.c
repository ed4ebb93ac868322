/* IPM: a primal-dual interior point method on the convex contact law.
 *
 *     A (v - v*) = J' gamma,   s = J v + w_0 + R gamma - target,   gamma in K,  s in K*,  gamma . s = 0
 *
 *     K        contact { |gamma_t| <= mu gamma_n };  limit { gamma >= 0 };  friction, actuator { |gamma| <= L }
 *     v, v*    velocities, without impulses, m/s, rad/s;   gamma  impulses, N s;   s  m/s;   R  compliance, 1/kg
 *
 * In x = (gamma_t, mu gamma_n), z = (s_t, s_n / mu) a contact has the second-order cone for both.  The central path is
 * x o z = nu e.  A Newton step towards sigma nu, with the scaling of Nesterov and Todd and lambda = P x = P^-1 z,
 *
 *     P dx + P^-1 dz = lambda \ (sigma nu e - lambda o lambda - (P dx_a) o (P^-1 dz_a)),     H = D P^2 D
 *     (A + J' G J) dv = -r_v + J' G (h - r_s),   dgamma = G (h - r_s - J dv),   G = (R + H)^-1,   h of the right side
 *
 * dx_a, dz_a: the step to nu = 0 (Mehrotra's predictor), which also chooses sigma.  A bounded row has two slacks, each a
 * cone of one row.  The method needs no start and can use none: that is what sap is compared with.
 *
 * References: Vandenberghe 2010; Castro, Permenter, Han 2021, secs. III, VI-A (the problem, and their competitor,
 * geodesic).  R is at least 1e-9 of the inverse mass of a row, as in sap.
 * Cost: a supernodal Cholesky factor and two solves a step, about 10 to 20 steps.
 *
 * Long: the two kinds of cones, contacts and rows, go through every stage. */
#include "solver/core/call.h"
#include "solver/core/law.h"
#include "solver/core/products.h"
#include "solver/interior_point/barrier_matrix.h"
#include "solver/interior_point/cone_scaling.h"

#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, MAX_WORK, OPTIONS };
static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {.name = "tolerance",
                   .help = "errors of momentum, of velocities, and by the gap, relative, at which the solver stops",
                   .high = 1,
                   .default_value = 1e-8},
    [MAX_ITERATIONS] = {.name = "max_iterations",
                        .help = "maximum number of Newton steps",
                        .high = 1000,
                        .default_value = 100,
                        .integer = true},
    [MAX_WORK] = SOLVER_FACTORS_OPTION,
};

static const double MIN_COMPLIANCE = 1e-9; /* of the inverse mass of a row, as in sap */
static const double STEP_RATIO = 0.99;     /* of the way to the boundary of the cones */
static const double MIN_ENERGY_RATIO =
    1e-8; /* of free motion: energies below it are none, in the complementarity error */
static const double MAX_ROUNDED_ERROR = 1e-6; /* of a stalled solution that counts as solved to rounding */
enum { MAX_STALLED = 8 };                     /* steps in which the error must halve */

static const double CLAIM_FACTOR = 1000; /* momentum balances as a whole, and a contact may have a small part in it */
static double claimed_error(const double *option) { return solver_claim(CLAIM_FACTOR, option[TOLERANCE]); }

typedef enum row_cone { ROW_FREE, ROW_FIXED, ROW_ABOVE, ROW_BETWEEN } row_cone;

typedef struct ipm {
    solver_call *call;
    const sim_problem *problem;
    barrier_matrix *matrix;
    char *cone;                   /* [nrow] row_cone, of rows that are no cone of a contact */
    double *R, *low, *high;       /* [nrow] compliance; distances of gamma from the ends of its row, N s */
    double *gamma, *s, *t;        /* [nrow] impulse; slack of contacts and lower ends; of upper ends */
    double *rs, *h, *u;           /* [nrow] residual, right side, J v + w_0, then J dv */
    double *dgamma, *ds, *dt;     /* [nrow] */
    double *v, *rv, *dv, *over_A; /* [nv] velocity, residual, step; 1 / diag(A) */
    double *best, *best_v;        /* [nrow], [nv] of the least error */
    cone_point *x, *z;            /* [nconstraint] gamma and s of contacts, in the coordinates of the cone */
    cone_scaling *scaling;        /* [nconstraint] */
    cone_hessian *G;              /* [nconstraint] packed, barrier_matrix.h */
    int cones;
    double gap, error, best_error, speed;
} ipm;

static bool is_cone(const sim_constraint *c) { return c->kind == SIM_CONTACT && c->friction > 0; }

/* Steps of gamma and s in the coordinates of the cone. */
static void cone_coordinates(double mu, const double *dgamma, const double *ds, double dx[3], double dz[3]) {
    dx[0] = dgamma[0], dx[1] = dgamma[1], dx[2] = mu * dgamma[2];
    dz[0] = ds[0], dz[1] = ds[1], dz[2] = ds[2] / mu;
}

/* ---- start ---- */

static double row_inverse_mass(const ipm *a, const sim_constraint *c, int k) {
    double w = 0;
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_problem_tree *tree = &a->problem->tree[c->tree[side]];
        const double *J = a->problem->J + c->block[side] + (ptrdiff_t)k * tree->nv;
        for (int j = 0; j < tree->nv; j++) {
            w += J[j] * J[j] * a->over_A[tree->v0 + j];
        }
    }
    return w;
}

/* Compliance and cone of a row; its impulse and slacks in the middle of the cone, for velocities of about `speed`. */
static void start_row(ipm *a, const sim_constraint *c, int k, double w) {
    int r = c->row + k;
    bool spring = c->kind == SIM_SPRING || c->kind == SIM_ACTUATOR, given = isinf(a->call->R[r]);
    double bound = c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR ? a->problem->step * c->bound : HUGE_VAL;
    double force = spring ? a->problem->step * c->force : 0;
    double R = given ? 1 : fmax(a->call->R[r], MIN_COMPLIANCE * w);
    bool tangent = c->kind == SIM_CONTACT && k < 2, above = c->kind == SIM_CONTACT || c->kind == SIM_LIMIT;
    R = a->R[r] = R > 0 ? R : 1; /* w = 0: nothing depends on the impulse */
    double impulse = a->speed / (w + R);
    a->cone[r] = given || bound == 0 || (tangent && c->friction == 0) ? ROW_FIXED
                 : above                                              ? ROW_ABOVE
                 : isinf(bound)                                       ? ROW_FREE
                                                                      : ROW_BETWEEN;
    a->gamma[r] = given ? fmin(fmax(force, -bound), bound) : a->cone[r] == ROW_ABOVE && !tangent ? impulse : 0;
    a->s[r] = a->cone[r] == ROW_BETWEEN || (a->cone[r] == ROW_ABOVE && !tangent) ? a->speed : 0;
    a->t[r] = a->cone[r] == ROW_BETWEEN ? a->speed : 0;
    a->low[r] = a->cone[r] == ROW_BETWEEN ? bound : a->gamma[r];
    a->high[r] = bound;
    a->cones += a->cone[r] == ROW_BETWEEN ? 2 : a->cone[r] == ROW_ABOVE && !tangent;
}

/* gamma and s of a contact from the points of its cones. */
static void write_cone(ipm *a, int i) {
    const sim_constraint *c = &a->problem->constraint[i];
    double *gamma = a->gamma + c->row, *s = a->s + c->row;
    memcpy(gamma, a->x[i].t, sizeof a->x[i].t);
    memcpy(s, a->z[i].t, sizeof a->z[i].t);
    gamma[2] = cone_point_normal(&a->x[i]) / c->friction;
    s[2] = cone_point_normal(&a->z[i]) * c->friction;
}

static void start_constraint(ipm *a, int i) {
    const sim_constraint *c = &a->problem->constraint[i];
    double *R = a->R + c->row;
    for (int k = 0; k < c->rows; k++) {
        start_row(a, c, k, row_inverse_mass(a, c, k));
    }
    if (c->kind == SIM_CONTACT) {
        R[0] = R[1] = fmax(R[0], R[1]);
    }
    if (is_cone(c)) {
        a->x[i] = (cone_point){.over = a->gamma[c->row + 2]};
        a->z[i] = (cone_point){.over = a->speed};
        write_cone(a, i);
    }
}

/* Start: v* with the given forces; the greatest |J v + w_0 - target| of the other rows. */
static double free_speed(ipm *a) {
    double most = 0;
    const sim_problem *p = a->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double bound = c->kind == SIM_ACTUATOR ? p->step * c->bound : HUGE_VAL, force = p->step * c->force;
        for (int r = c->row; r < c->row + c->rows; r++) {
            a->gamma[r] = isinf(a->call->R[r]) ? fmin(fmax(force, -bound), bound) : 0;
        }
    }
    problem_response(p, a->gamma, a->v);
    problem_velocity(p, a->v, a->u);
    for (int r = 0; r < p->nrow; r++) {
        most = isinf(a->call->R[r]) ? most : fmax(most, fabs(a->u[r] - a->call->target[r]));
    }
    return most;
}

/* ---- residuals ---- */

/* |x| in the norm of A^-1's diagonal, of trees with constraints. */
static double momentum_size(const ipm *a, const double *x) {
    const patches *o = barrier_matrix_patches(a->matrix);
    double sum = 0;
    for (int node = 0; node < o->nodes; node++) {
        const sim_problem_tree *t = &a->problem->tree[o->tree[node]];
        for (int j = t->v0; j < t->v0 + t->nv; j++) {
            sum += x[j] * x[j] * a->over_A[j];
        }
    }
    return sqrt(sum);
}

static double row_gap(const ipm *a, int r) {
    return a->cone[r] == ROW_BETWEEN ? a->s[r] * a->low[r] + a->t[r] * a->high[r]
           : a->cone[r] == ROW_ABOVE ? a->s[r] * a->low[r]
                                     : 0;
}

/* x . z of all cones. */
static double total_gap(const ipm *a) {
    double sum = 0;
    for (int i = 0; i < a->problem->nconstraint; i++) {
        const sim_constraint *c = &a->problem->constraint[i];
        sum += is_cone(c) ? cone_point_product(&a->x[i], &a->z[i]) : 0;
        for (int r = c->row; r < c->row + c->rows && !is_cone(c); r++) {
            sum += row_gap(a, r);
        }
    }
    return sum;
}

/* r_v, r_s, the gap x . z and the error: the greatest of |r_v| and |r_s|, relative, and sqrt(gap / energy), which bounds
 * the distance of v from the solution, |dv|_A^2 <= gap.  Keeps the iterate of the least error. */
static double eval_ipm_error(ipm *a) {
    /* momentum: A (v - v*) - J' gamma */
    const sim_problem *p = a->problem;
    double energy = 0, free = 0, wrong = 0, size = 0;
    for (int j = 0; j < p->nv; j++) {
        a->dv[j] = a->v[j] - p->v_free[j];
    }
    problem_mass_times(p, p->v_free, a->rv);
    for (int j = 0; j < p->nv; j++) {
        free += p->v_free[j] * a->rv[j];
    }
    double momentum = momentum_size(a, a->rv);
    problem_mass_times(p, a->dv, a->rv);
    for (int j = 0; j < p->nv; j++) {
        energy += a->dv[j] * a->rv[j];
    }
    problem_jacobian_transposed(p, a->gamma, a->dv);
    momentum = fmax(momentum, momentum_size(a, a->dv));
    for (int j = 0; j < p->nv; j++) {
        a->rv[j] -= a->dv[j];
    }
    /* velocities: s = J v + w_0 + R gamma - target */
    problem_velocity(p, a->v, a->u);
    a->gap = total_gap(a);
    for (int r = 0; r < p->nrow; r++) {
        bool fixed = a->cone[r] == ROW_FIXED;
        double law = a->u[r] + (isinf(a->call->R[r]) ? 0 : a->R[r] * a->gamma[r] - a->call->target[r]);
        a->rs[r] = fixed ? 0 : law - a->s[r] + a->t[r];
        wrong += a->rs[r] * a->rs[r];
        size += fixed ? 0 : law * law + a->speed * a->speed;
    }
    double scale = fmax(energy, MIN_ENERGY_RATIO * free);
    a->error = fmax(momentum > 0 ? momentum_size(a, a->rv) / momentum : 0, size > 0 ? sqrt(wrong / size) : 0);
    a->error = fmax(a->error, scale > 0 ? sqrt(a->gap / scale) : a->gap > 0);
    a->error = isfinite(momentum + wrong + size + a->gap + energy) ? a->error : HUGE_VAL;
    if (a->error < a->best_error) {
        a->best_error = a->error;
        memcpy(a->best, a->gamma, (size_t)p->nrow * sizeof *a->best);
        memcpy(a->best_v, a->v, (size_t)p->nv * sizeof *a->best_v);
    }
    return energy / 2;
}

/* ---- a step ---- */

static void scale_cones(ipm *a) {
    for (int i = 0; i < a->problem->nconstraint; i++) {
        const sim_constraint *c = &a->problem->constraint[i];
        a->G[i] = (cone_hessian){0};
        if (is_cone(c)) {
            a->scaling[i] = cone_scaling_of(&a->x[i], &a->z[i]);
            cone_scaling_block(&a->scaling[i], a->R + c->row, c->friction, a->G[i].weight);
            continue;
        }
        for (int r = c->row; r < c->row + c->rows; r++) {
            double H = a->cone[r] == ROW_BETWEEN ? a->s[r] / a->low[r] + a->t[r] / a->high[r]
                       : a->cone[r] == ROW_ABOVE ? a->s[r] / a->low[r]
                                                 : 0;
            a->G[i].weight[r - c->row] = a->cone[r] == ROW_FIXED ? 0 : 1 / (a->R[r] + H);
        }
    }
}

/* h of a contact towards nu; with the product of the predictor's steps if `corrects`. */
static void set_cone_side(ipm *a, int i, double nu, bool corrects) {
    const sim_constraint *c = &a->problem->constraint[i];
    const cone_scaling *s = &a->scaling[i];
    double d[3], y[3], mu = c->friction;
    cone_product(s->lambda, s->lambda, d);
    for (int k = 0; k < 3; k++) {
        d[k] = (k == 2 ? nu : 0) - d[k];
    }
    if (corrects) {
        double dx[3], dz[3];
        cone_coordinates(mu, a->dgamma + c->row, a->ds + c->row, dx, dz);
        cone_scale(s, dx, dx);
        cone_unscale(s, dz, dz);
        cone_product(dx, dz, y);
        for (int k = 0; k < 3; k++) {
            d[k] -= y[k];
        }
    }
    cone_divide(s->lambda, d, y);
    cone_scale(s, y, y);
    a->h[c->row] = y[0];
    a->h[c->row + 1] = y[1];
    a->h[c->row + 2] = mu * y[2];
    for (int k = 0; k < 3; k++) {
        a->dt[c->row + k] = 0;
    }
}

/* h of a row; a bounded row keeps the parts of its two slacks in ds and dt until the step is known. */
static void set_row_side(ipm *a, int r, double nu, bool corrects) {
    double low = a->low[r], high = a->high[r];
    double first = nu - (corrects ? a->dgamma[r] * a->ds[r] : 0),
           second = nu + (corrects ? a->dgamma[r] * a->dt[r] : 0);
    bool between = a->cone[r] == ROW_BETWEEN, above = a->cone[r] == ROW_ABOVE;
    a->ds[r] = between || above ? first / low - a->s[r] : 0;
    a->dt[r] = between ? second / high - a->t[r] : 0;
    a->h[r] = a->ds[r] - a->dt[r];
}

/* x = G y */
static void weigh_side(const ipm *a, int i, const double *y, double *x) {
    const sim_constraint *c = &a->problem->constraint[i];
    const double *w = a->G[i].weight;
    if (!is_cone(c)) {
        for (int k = 0; k < c->rows; k++) {
            x[k] = w[k] * y[k];
        }
        return;
    }
    double b[3] = {y[0], y[1], y[2]};
    x[0] = w[0] * b[0] + w[3] * b[1] + w[4] * b[2];
    x[1] = w[3] * b[0] + w[1] * b[1] + w[5] * b[2];
    x[2] = w[4] * b[0] + w[5] * b[1] + w[2] * b[2];
}

/* dv, dgamma, ds, dt towards nu; false without memory. */
static bool find_step(ipm *a, double nu, bool corrects) {
    const sim_problem *p = a->problem;
    /* right side: -r_v + J' G (h - r_s) */
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double y[SIM_MAX_ROWS];
        for (int r = c->row; r < c->row + c->rows && !is_cone(c); r++) {
            set_row_side(a, r, nu, corrects);
        }
        if (is_cone(c)) {
            set_cone_side(a, i, nu, corrects);
        }
        for (int k = 0; k < c->rows; k++) {
            a->h[c->row + k] -= a->rs[c->row + k];
            y[k] = a->h[c->row + k];
        }
        weigh_side(a, i, y, a->dgamma + c->row);
    }
    problem_jacobian_transposed(p, a->dgamma, a->dv);
    for (int j = 0; j < p->nv; j++) {
        a->dv[j] -= a->rv[j];
    }
    if (!barrier_matrix_solve(a->matrix, a->dv)) {
        return false;
    }
    /* dgamma = G (h - r_s - J dv);  ds from the linear rows */
    problem_jacobian_times(p, a->dv, a->u);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double y[SIM_MAX_ROWS];
        for (int k = 0; k < c->rows; k++) {
            y[k] = a->h[c->row + k] - a->u[c->row + k];
        }
        weigh_side(a, i, y, a->dgamma + c->row);
        for (int r = c->row; r < c->row + c->rows; r++) {
            double linear = a->rs[r] + a->u[r] + a->R[r] * a->dgamma[r];
            bool between = a->cone[r] == ROW_BETWEEN;
            a->dt[r] += between ? a->t[r] / a->high[r] * a->dgamma[r] : 0;
            a->ds[r] = between ? linear + a->dt[r] : is_cone(c) || a->cone[r] == ROW_ABOVE ? linear : 0;
        }
    }
    return true;
}

static double part_to_zero(double x, double dx) { return dx < 0 ? -x / dx : HUGE_VAL; }

/* The part of the step that leads to the boundary of the cones; 2: beyond the step. */
static double part_to_boundary(const ipm *a) {
    double most = 2;
    for (int i = 0; i < a->problem->nconstraint; i++) {
        const sim_constraint *c = &a->problem->constraint[i];
        if (is_cone(c)) {
            double dx[3], dz[3];
            cone_coordinates(c->friction, a->dgamma + c->row, a->ds + c->row, dx, dz);
            most = fmin(most, fmin(cone_step_length(&a->x[i], dx), cone_step_length(&a->z[i], dz)));
            continue;
        }
        for (int r = c->row; r < c->row + c->rows; r++) {
            bool between = a->cone[r] == ROW_BETWEEN, one = a->cone[r] == ROW_ABOVE || between;
            double low = a->low[r];
            most = one ? fmin(most, fmin(part_to_zero(low, a->dgamma[r]), part_to_zero(a->s[r], a->ds[r]))) : most;
            most = between ? fmin(most, fmin(part_to_zero(a->high[r], -a->dgamma[r]), part_to_zero(a->t[r], a->dt[r])))
                           : most;
        }
    }
    return most;
}

/* False without memory. */
static bool take_ipm_step(ipm *a) {
    const sim_problem *p = a->problem;
    double nu = a->cones > 0 ? a->gap / a->cones : 0;
    if (!find_step(a, 0, false)) {
        return false;
    }
    double left = 1 - fmin(1, part_to_boundary(a)), sigma = left * left * left;
    if (!find_step(a, sigma * nu, true)) {
        return false;
    }
    double length = fmin(1, STEP_RATIO * part_to_boundary(a));
    for (int j = 0; j < p->nv; j++) {
        a->v[j] += length * a->dv[j];
    }
    for (int r = 0; r < p->nrow; r++) {
        a->gamma[r] += length * a->dgamma[r];
        a->low[r] += length * a->dgamma[r];
        a->high[r] -= length * a->dgamma[r];
        a->s[r] += length * a->ds[r];
        a->t[r] += length * a->dt[r];
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (is_cone(c)) {
            double dx[3], dz[3];
            cone_coordinates(c->friction, a->dgamma + c->row, a->ds + c->row, dx, dz);
            a->x[i] = cone_point_moved(&a->x[i], dx, length);
            a->z[i] = cone_point_moved(&a->z[i], dz, length);
            write_cone(a, i);
        }
    }
    return true;
}

/* ---- the iteration ---- */

/* All arrays of rows, velocities and constraints; false without memory. */
static bool allocate_ipm(ipm *a) {
    const sim_problem *p = a->problem;
    sim_arena *scratch = a->call->scratch;
    double **of_rows[] = {&a->R, &a->low, &a->high,   &a->gamma, &a->s,  &a->t,   &a->rs,
                          &a->h, &a->u,   &a->dgamma, &a->ds,    &a->dt, &a->best};
    double **of_velocities[] = {&a->v, &a->rv, &a->dv, &a->over_A, &a->best_v};
    bool ok = true;
    for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
        *of_rows[k] = ARENA_NEW(scratch, double, p->nrow);
        ok = ok && *of_rows[k];
    }
    for (size_t k = 0; k < sizeof of_velocities / sizeof *of_velocities; k++) {
        *of_velocities[k] = ARENA_NEW(scratch, double, p->nv);
        ok = ok && *of_velocities[k];
    }
    a->cone = ARENA_NEW(scratch, char, p->nrow);
    a->x = ARENA_NEW(scratch, cone_point, p->nconstraint);
    a->z = ARENA_NEW(scratch, cone_point, p->nconstraint);
    a->scaling = ARENA_NEW(scratch, cone_scaling, p->nconstraint);
    a->G = ARENA_NEW(scratch, cone_hessian, p->nconstraint);
    return ok && a->cone && a->x && a->z && a->scaling && a->G;
}

static void start_ipm(ipm *a) {
    for (int j = 0; j < a->problem->nv; j++) {
        a->over_A[j] = 1;
    }
    barrier_matrix_mass_diagonal(a->matrix, a->over_A);
    for (int j = 0; j < a->problem->nv; j++) {
        a->over_A[j] = 1 / a->over_A[j];
    }
    a->speed = free_speed(a);
    for (int i = 0; i < a->problem->nconstraint; i++) {
        start_constraint(a, i);
    }
}

/* Newton steps until the error is small, no longer falls, or the caller's limits are reached. */
static sim_status iterate_ipm(ipm *a) {
    sim_solution *out = a->call->out;
    int stalled = 0;
    double halved = HUGE_VAL, work = barrier_matrix_work(a->matrix);
    out->outcome = SIM_AT_LIMIT;
    solver_record(a->call, a->error, eval_ipm_error(a));
    while (!(a->best_error <= a->call->option[TOLERANCE])) {
        out->expected = work;
        bool over_work = out->multiplications + work > 1e9 * a->call->option[MAX_WORK];
        if (out->iterations >= (int)a->call->option[MAX_ITERATIONS] || over_work || solution_stopped(out)) {
            out->reason = over_work ? SIM_REASON_WORK : SIM_REASON_NONE;
            return SIM_OK;
        }
        scale_cones(a);
        barrier_matrix_set(a->matrix, a->G);
        spd_outcome factor = barrier_matrix_factor(a->matrix);
        out->factorisations++;
        out->multiplications += work;
        if (factor == SPD_NO_MEMORY || (factor == SPD_FACTORED && !take_ipm_step(a))) {
            return SIM_NO_RESOURCE;
        }
        out->iterations++;
        double cost = factor == SPD_FACTORED ? eval_ipm_error(a) : NAN;
        solver_record(a->call, a->error, cost);
        stalled = a->best_error <= halved / 2 ? 0 : stalled + 1;
        halved = stalled ? halved : a->best_error;
        if (factor == SPD_NOT_POSITIVE || !isfinite(a->error) || stalled > MAX_STALLED) {
            bool rounded = a->best_error <= MAX_ROUNDED_ERROR;
            out->outcome = rounded ? SIM_AT_ROUNDING : isfinite(a->error) ? SIM_STALLED : SIM_BROKEN_DOWN;
            out->reason = rounded ? SIM_REASON_NONE : isfinite(a->error) ? SIM_REASON_STANDSTILL : SIM_REASON_NONFINITE;
            return SIM_OK;
        }
    }
    out->outcome = SIM_SOLVED;
    return SIM_OK;
}

static sim_status solve_ipm(solver_call *call) {
    const sim_problem *p = call->problem;
    ipm a = {.call = call, .problem = p, .matrix = call->workspace, .best_error = HUGE_VAL};
    /* a law that the method can express */
    if (!law_is_supported(call)) {
        law_reject(call);
        return SIM_OK;
    }
    if (!allocate_ipm(&a) || !barrier_matrix_prepare(a.matrix, p)) {
        return SIM_NO_RESOURCE;
    }
    /* start, steps */
    start_ipm(&a);
    sim_status status = iterate_ipm(&a);
    if (status) {
        return status;
    }
    /* the best iterate */
    bool found = isfinite(a.best_error);
    memcpy(call->out->v, found ? a.best_v : p->v_free, (size_t)p->nv * sizeof(double));
    for (int r = 0; r < p->nrow; r++) {
        call->out->impulse[r] = found ? a.best[r] : 0;
    }
    call->out->residual = a.best_error;
    return SIM_OK;
}

const solver_type solver_ipm = {
    .info = {.name = "ipm",
             .method = "primal-dual interior point method on the convex law, Mehrotra's steps, CHOLMOD",
             .paper = "Vandenberghe 2010; after the competitor in Castro, Permenter, Han 2021",
             .cone = SIM_CONE_CONVEX,
             .default_law = SIM_NEAR_RIGID,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .study = true,
             .noptions = OPTIONS,
             .option = options,
             .claim = claimed_error},
    .create = barrier_matrix_create,
    .destroy = barrier_matrix_free,
    .solve = solve_ipm,
};
