/* SAP: the semi-analytic primal method.
 *
 * Contacts are compliant, R > 0 in every row, and obey the convex law.  Then the impulses are a function of the
 * velocities, and the velocities minimise an unconstrained convex cost (primal.c).
 *
 * Minimum compliance.  A row with less than R = 1e-9 w, w = sum_j J_j^2 / A_jj its inverse mass, gets that much: the
 * least that double precision can carry.  A row with w = 0 takes R = 1; nothing depends on its impulse.
 *
 * Continuation.  Newton's method does not converge from afar for such stiff rows.  The problem is solved first with a
 * least compliance of 1e-3 w (the near-rigid law), then 1e-5 w, and so on, each from the solution before.  If no row
 * needs the minimum compliance, ten steps from the warm start are tried first.  The history contains all of these
 * steps.
 *
 * Given forces.  A spring without stiffness and damping has infinite R: its impulse does not depend on velocity, and
 * its cost is -gamma u.
 *
 * Start: the warm start, or v*.  Trees without constraints keep v = v*, and all trees do if that needs no impulse.
 *
 * Reference: Castro, Permenter, Han 2021.  Differs from the paper: rigid rows by continuation; relaxation
 * (relaxation.c). */
#include "solver/core/call.h"
#include "solver/core/law.h"
#include "solver/core/products.h"
#include "solver/newton/primal.h"

#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, LINE_SEARCH, FACTORISATION, MAX_WORK, RELAXATION, OPTIONS };

static const char *const searches[] = {"exact", "armijo", NULL};
static const char *const relaxations[] = {"none", "bodies", NULL};

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {.name = "tolerance",
                   .help = "relative residual of the momentum balance at which the solver stops",
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
    [FACTORISATION] = HESSIAN_METHOD_OPTION,
    [MAX_WORK] = SOLVER_FACTORS_OPTION,
    [RELAXATION] = {.name = "relaxation",
                    .help = "single bodies before a Newton step, or none: the method as published",
                    .high = 1,
                    .default_value = 1,
                    .integer = true,
                    .choices = relaxations,
                    .study = true,
                    .same_states = true},
};

/* Compliance over inverse mass: minimum; first of the continuation, and its factor; below which it is needed. */
static const double MIN_COMPLIANCE = 1e-9, FIRST_COMPLIANCE = 1e-3, COMPLIANCE_FACTOR = 1e-2, STIFF_COMPLIANCE = 1e-4;
/* Tolerance of all but the last solve of the continuation. */
static const double CONTINUATION_TOLERANCE = 1e-3;
/* The momentum of all bodies balances within the tolerance; a contact or spring with a small part in it may err more.
 * The claim is looser than the tolerance by the first factor; the residual relative to impulses is closer by the
 * second. */
static const double CLAIM_FACTOR = 1000, IN_LAW_FACTOR = 10;
static double claimed_error(const double *option) { return solver_claim(CLAIM_FACTOR, option[TOLERANCE]); }

enum { MAX_WARM_STEPS = 10 }; /* Newton steps from a warm start, before the continuation */

/* w = sum_j J_j^2 / A_jj of a row. */
static double row_inverse_mass(const sim_problem *p, const sim_constraint *c, int row, const double *over_A) {
    double w = 0;
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_problem_tree *t = &p->tree[c->tree[side]];
        const double *J = p->J + c->block[side] + (ptrdiff_t)row * t->nv;
        for (int j = 0; j < t->nv; j++) {
            w += J[j] * J[j] * over_A[t->v0 + j];
        }
    }
    return w;
}

typedef struct law_arrays {
    law_rows law;
    double *over_A, *inverse_mass; /* [nv] 1 / diag(A); [nrow] w */
    double min_compliance;         /* over the inverse mass */
    bool raised;                   /* a row had less */
} law_arrays;

static void compute_inverse_masses(const solver_call *call, const law_arrays *a) {
    for (int i = 0; i < call->problem->nconstraint; i++) {
        const sim_constraint *c = &call->problem->constraint[i];
        for (int k = 0; k < c->rows; k++) {
            a->inverse_mass[c->row + k] = row_inverse_mass(call->problem, c, k, a->over_A);
        }
    }
}

/* The law with R >= min_compliance w in every row. */
static void set_convex_law(const solver_call *call, law_arrays *a, double min_compliance) {
    const sim_problem *p = call->problem;
    a->min_compliance = min_compliance;
    a->raised = false;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double *R = a->law.R + c->row, *over_R = a->law.inverse_compliance + c->row;
        for (int k = 0; k < c->rows; k++) {
            double R_min = min_compliance * a->inverse_mass[c->row + k];
            a->raised = a->raised || call->R[c->row + k] < R_min;
            double used = fmax(call->R[c->row + k], R_min);
            law_set_row(&a->law, p, c, k, used > 0 ? used : 1);
        }
        if (c->kind == SIM_CONTACT) { /* unequal tangents would single out a direction */
            R[0] = R[1] = fmax(R[0], R[1]);
            over_R[0] = over_R[1] = fmin(over_R[0], over_R[1]);
        }
        if (c->kind == SIM_CONTACT && c->rows >= 5) {
            R[3] = R[4] = fmax(R[3], R[4]);
            over_R[3] = over_R[4] = fmin(over_R[3], over_R[4]);
        }
    }
}

static bool all_zero(const double *gamma, int rows) {
    for (int k = 0; k < rows; k++) {
        if (gamma[k] != 0) {
            return false;
        }
    }
    return true;
}

/* Without impulses, v = v* to the last bit. */
static void restore_free_motion(primal *p) {
    if (p->out->outcome != SIM_BROKEN_DOWN && all_zero(p->at.gamma, p->problem->nrow)) {
        memcpy(p->at.v, p->problem->v_free, (size_t)p->problem->nv * sizeof(double));
        primal_eval_at(p);
        p->out->residual = p->at.residual;
        if (!all_zero(p->at.gamma, p->problem->nrow) && !primal_done(p)) {
            primal_minimise(p);
        }
    }
}

/* A few steps with the final law: a warm start may be near the solution. */
static sim_status try_warm_start(primal *newton) {
    int limit = newton->options.max_iterations;
    newton->options.max_iterations = limit < MAX_WARM_STEPS ? limit : MAX_WARM_STEPS;
    sim_status status = primal_minimise(newton);
    newton->options.max_iterations = limit;
    return status;
}

/* Solves with the minimum compliance, by continuation where rows are stiff. */
static sim_status solve_by_continuation(const solver_call *call, law_arrays *a, primal *newton) {
    double tolerance = newton->options.tolerance, in_law = newton->options.in_law;
    set_convex_law(call, a, STIFF_COMPLIANCE);
    bool stiff = a->raised;
    set_convex_law(call, a, MIN_COMPLIANCE);
    bool compliant = !a->raised;
    if (stiff) {
        primal_eval_at(newton);
    }

    /* the final law from the warm start */
    if (stiff && compliant && call->problem->v_guess) {
        sim_status status = try_warm_start(newton);
        if (status || newton->out->outcome == SIM_SOLVED) {
            return status;
        }
        law_set_initial_velocity(call, hessian_patches(newton->hessian));
        primal_eval_at(newton);
    }

    /* laws with ever less compliance */
    if (stiff && !primal_done(newton)) {
        newton->options.tolerance = fmax(tolerance, CONTINUATION_TOLERANCE);
        newton->options.in_law = HUGE_VAL;
        for (double compliance = FIRST_COMPLIANCE; compliance > MIN_COMPLIANCE; compliance *= COMPLIANCE_FACTOR) {
            set_convex_law(call, a, compliance);
            sim_status status = a->raised ? primal_minimise(newton) : SIM_OK;
            if (status) {
                return status;
            }
        }
    }

    /* the final law */
    newton->options.tolerance = tolerance;
    newton->options.in_law = in_law;
    set_convex_law(call, a, MIN_COMPLIANCE);
    return primal_minimise(newton);
}

static sim_status solve_sap(solver_call *call) {
    const sim_problem *p = call->problem;
    const double *value = call->option;
    hessian *h = call->workspace;
    law_arrays a = {.over_A = ARENA_NEW(call->scratch, double, p->nv),
                    .inverse_mass = ARENA_NEW(call->scratch, double, p->nrow)};
    primal_options o = {.tolerance = value[TOLERANCE],
                        .max_iterations = (int)value[MAX_ITERATIONS],
                        .armijo = (int)value[LINE_SEARCH],
                        .method = (spd_method)(int)value[FACTORISATION],
                        .max_work = 1e9 * value[MAX_WORK],
                        .carries = true,
                        .relaxes = value[RELAXATION] != 0,
                        .in_law = claimed_error(value) / IN_LAW_FACTOR};
    if (!law_make(&a.law, p->nrow, call->scratch) || !a.over_A || !a.inverse_mass || !hessian_prepare(h, p, o.method)) {
        return SIM_NO_RESOURCE;
    }
    /* 1 / diag(A) */
    for (int j = 0; j < p->nv; j++) {
        a.over_A[j] = 1;
    }
    hessian_mass_diagonal(h, a.over_A);
    for (int j = 0; j < p->nv; j++) {
        a.over_A[j] = 1 / a.over_A[j];
    }
    if (!law_is_supported(call)) {
        law_reject(call);
        return SIM_OK;
    }

    /* compliance, initial velocity, Newton's method */
    compute_inverse_masses(call, &a);
    convex_law law = {p, a.law.R, a.law.inverse_compliance, call->target, a.law.constant};
    primal newton = {.at = {.v = call->out->v, .gamma = call->out->impulse}};
    law_set_initial_velocity(call, hessian_patches(h));
    if (!primal_begin(&newton, &law, h, &o, call->out, call->scratch) || solve_by_continuation(call, &a, &newton)) {
        return SIM_NO_RESOURCE;
    }
    restore_free_motion(&newton);
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
             .turning = true,
             .counts = SIM_COUNTS_SEARCHES,
             .noptions = OPTIONS,
             .option = options,
             .claim = claimed_error},
    .create = hessian_create_workspace,
    .destroy = hessian_free_workspace,
    .solve = solve_sap,
};
