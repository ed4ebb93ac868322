/* SAP: the semi-analytic primal method (Castro, Permenter, Han 2021).
 *
 * Contact yields a little, R > 0 in every row, and obeys the convex law; then the impulses are a function of the velocities,
 * and these alone remain, without constraints: primal.c minimises their cost.
 *
 * A row without compliance, or with less (another law's), gets the least that double precision can carry beside its
 * inverse mass w = sum_j J_j^2 / A_jj: R = 1e-9 w.  The answer is then that of a contact so much stiffer than the body it
 * carries, its error of that order; a row that moves nothing (w = 0) takes R = 1, and on its impulse nothing depends.  To
 * such stiffness Newton's method finds no way from afar: the same problem with a hundred times the least compliance leads
 * there, and so on up to 1e-3 w, which is where the near-rigid law stands.  Where all rows yield by more than the least, a
 * guess may be near for all that: ten steps from it are tried first.  (The history then tells of all of them.)
 *
 * A spring without stiffness and damping has R infinite: it gives its force whatever the velocity, and costs -gamma u.
 *
 * Start: the guess if there is one, else v*.  Trees that nothing touches have v = v*, and so have all if that needs no
 * impulse at all. */
#include "solver/core/call.h"
#include "solver/core/law.h"
#include "solver/core/products.h"
#include "solver/newton/primal.h"

#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, LINE_SEARCH, FACTORISATION, MOST_WORK, OPTIONS };

static const char *const searches[] = {"exact", "armijo", NULL};

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {.name = "tolerance",
                   .help = "relative residual of the momentum balance at which it stops",
                   .low = 0,
                   .high = 1,
                   .default_value = 1e-6},
    [MAX_ITERATIONS] = {.name = "max_iterations",
                        .help = "maximum number of Newton steps",
                        .low = 0,
                        .high = 10000,
                        .default_value = 100,
                        .integer = true},
    [LINE_SEARCH] = {.name = "line_search",
                     .help = "the minimum along the line, or Armijo's sufficient decrease",
                     .high = 1,
                     .integer = true,
                     .choices = searches,
                     .study = true},
    [FACTORISATION] = {.name = "factorisation",
                       .help = "factorisation of the Hessian",
                       .high = SPD_METHODS - 1,
                       .default_value = SPD_AUTO,
                       .integer = true,
                       .choices = hessian_methods,
                       .study = true},
    [MOST_WORK] = {.name = "most_work",
                   .help = "limit on the multiplications of all factors of the Hessian, in 1e9",
                   .low = 0,
                   .high = 1e12,
                   .default_value = 5e3},
};

/* Compliance over the inverse mass: the least that is used; where the way there starts, and its steps; below which it is
 * taken. */
static const double LEAST = 1e-9, SOFTEST = 1e-3, STIFFER = 1e-2, STIFF = 1e-4;
/* Momentum out of balance that is good enough on the way. */
static const double ON_THE_WAY = 1e-3;
/* Momentum is in balance to the tolerance, of all that there is; the law of a contact or spring that has a small part in it
 * is claimed to be looser by this, and momentum in balance closer than that beside impulses alone. */
static const double OF_THE_LAW = 1000, CLOSER = 10;
static double claim(const double *option) { return solver_claim(OF_THE_LAW, option[TOLERANCE]); }

enum { NEAR = 10 }; /* Newton steps from a guess before the way from afar is taken */

/* sum_j J_j^2 / A_jj of a row. */
static double inverse_mass(const sim_problem *p, const sim_constraint *c, int row, const double *over) {
    double w = 0;
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_problem_tree *t = &p->tree[c->tree[side]];
        const double *J = p->J + c->block[side] + (ptrdiff_t)row * t->nv;
        for (int j = 0; j < t->nv; j++) {
            w += J[j] * J[j] * over[t->v0 + j];
        }
    }
    return w;
}

typedef struct law_arrays {
    law_rows law;
    double *over, *inverse_mass; /* 1 / diag(A); of the rows */
    double least;                /* compliance, over the inverse mass */
    int raised;                  /* a row had less */
} law_arrays;

/* The compliance of a row as it is used. */
static void set_row(const solver_call *call, law_arrays *a, const sim_constraint *c, int k) {
    double R = call->R[c->row + k], least = a->least * a->inverse_mass[c->row + k];
    a->raised |= R < least;
    R = fmax(R, least);
    law_set_row(&a->law, call->problem, c, k, R > 0 ? R : 1);
}

static void weigh(const solver_call *call, const law_arrays *a) {
    for (int i = 0; i < call->problem->nconstraint; i++) {
        const sim_constraint *c = &call->problem->constraint[i];
        for (int k = 0; k < c->rows; k++) {
            a->inverse_mass[c->row + k] = inverse_mass(call->problem, c, k, a->over);
        }
    }
}

static void set_law(const solver_call *call, law_arrays *a, double least) {
    const sim_problem *p = call->problem;
    a->least = least;
    a->raised = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double *R = a->law.R + c->row, *over_R = a->law.inverse_compliance + c->row;
        for (int k = 0; k < c->rows; k++) {
            set_row(call, a, c, k);
        }
        if (c->kind == SIM_CONTACT) { /* unequal tangents would single out a direction */
            R[0] = R[1] = fmax(R[0], R[1]);
            over_R[0] = over_R[1] = fmin(over_R[0], over_R[1]);
        }
    }
}

static int without_impulse(const double *gamma, int rows) {
    for (int k = 0; k < rows; k++) {
        if (gamma[k] != 0) {
            return 0;
        }
    }
    return 1;
}

/* If nothing pushes, v is v* to the last bit. */
static void settle(primal *p) {
    if (p->out->outcome != SIM_BROKEN_DOWN && without_impulse(p->at.gamma, p->problem->nrow)) {
        memcpy(p->at.v, p->problem->v_free, (size_t)p->problem->nv * sizeof(double));
        primal_eval_at(p);
        p->out->residual = p->at.residual;
        if (!without_impulse(p->at.gamma, p->problem->nrow) && !primal_done(p)) {
            primal_minimise(p);
        }
    }
}

/* From a guess the answer may be near, however stiff it is: a few steps tell. */
static int is_near(primal *newton, int *solved) {
    int most = newton->options.max_iterations;
    newton->options.max_iterations = most < NEAR ? most : NEAR;
    int enough = primal_minimise(newton);
    newton->options.max_iterations = most;
    *solved = newton->out->outcome == SIM_SOLVED;
    return enough;
}

/* The law with ever less compliance, each from the answer of the one before; 0 without memory. */
static int approach(const solver_call *call, law_arrays *a, primal *newton) {
    double tolerance = newton->options.tolerance, in_law = newton->options.in_law;
    set_law(call, a, STIFF);
    int stiff = a->raised;
    set_law(call, a, LEAST);
    int yields = !a->raised;
    if (stiff) {
        primal_eval_at(newton);
    }
    int solved = 0;
    if (stiff && yields && call->problem->v_guess) {
        if (!is_near(newton, &solved)) {
            return 0;
        }
        if (solved) {
            return 1;
        }
        law_start(call, hessian_patches(newton->hessian));
        primal_eval_at(newton);
    }
    if (stiff && !primal_done(newton)) {
        newton->options.tolerance = fmax(tolerance, ON_THE_WAY);
        newton->options.in_law = HUGE_VAL;
        for (double least = SOFTEST; least > LEAST; least *= STIFFER) {
            set_law(call, a, least);
            if (a->raised && !primal_minimise(newton)) {
                return 0;
            }
        }
    }
    newton->options.tolerance = tolerance;
    newton->options.in_law = in_law;
    set_law(call, a, LEAST);
    return primal_minimise(newton);
}

static sim_status solve(solver_call *call) {
    const sim_problem *p = call->problem;
    const double *value = call->option;
    hessian *h = call->workspace;
    law_arrays a = {.over = ARENA_NEW(call->scratch, double, p->nv),
                    .inverse_mass = ARENA_NEW(call->scratch, double, p->nrow)};
    primal_options o = {value[TOLERANCE],        (int)value[MAX_ITERATIONS],
                        (int)value[LINE_SEARCH], (spd_method)(int)value[FACTORISATION],
                        1e9 * value[MOST_WORK],  1,
                        claim(value) / CLOSER};
    if (!law_make(&a.law, p->nrow, call->scratch) || !a.over || !a.inverse_mass || !hessian_prepare(h, p, o.method)) {
        return SIM_NO_RESOURCE;
    }
    for (int j = 0; j < p->nv; j++) {
        a.over[j] = 1;
    }
    hessian_mass_diagonal(h, a.over);
    for (int j = 0; j < p->nv; j++) {
        a.over[j] = 1 / a.over[j];
    }
    if (!law_check(call)) {
        law_refuse(call);
        return SIM_OK;
    }
    weigh(call, &a);
    convex_law law = {p, a.law.R, a.law.inverse_compliance, call->target, a.law.constant};
    primal newton = {.at = {.v = call->out->v, .gamma = call->out->impulse}};
    law_start(call, hessian_patches(h));
    if (!primal_begin(&newton, &law, h, &o, call->out, call->scratch) || !approach(call, &a, &newton)) {
        return SIM_NO_RESOURCE;
    }
    settle(&newton);
    return SIM_OK;
}

const solver_type solver_sap = {
    .info = {.name = "sap",
             .method =
                 "Newton's method on the primal cost of the convex law, exact line search, Hessian factored by trees",
             .paper = "Castro, Permenter, Han 2021",
             .cone = SIM_CONE_CONVEX,
             .default_law = SIM_NEAR_RIGID,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .counts = SIM_COUNTS_SEARCHES,
             .noptions = OPTIONS,
             .option = options,
             .claim = claim},
    .create = hessian_create_workspace,
    .destroy = hessian_free_workspace,
    .solve = solve,
};
