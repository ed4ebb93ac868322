/* Services common to all solvers: options, memory, accepted problems, check of the claimed outcome. */
#include "solver/solver.h"
#include "linalg/dense/lapack.h"
#include "solver/core/call.h"
#include "solver/core/outcome.h"
#include "solver/core/products.h"
#include "solver/matrices/symmetric_split.h"
#include "solver/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Size classes of problems, by powers of two of their constraints.  Each has its own memory of the method: the islands of a
 * step take turns, and the structure of a large one outlives those of small ones. */
enum { SIZE_CLASSES = 16 };

struct sim_solver {
    const solver_type *type;
    double *option;
    double *limited; /* those of one call: `option` within the caller's limit of iterations */
    sim_arena *scratch;
    void *kept[SIZE_CLASSES]; /* NULL until the first problem of that size */
    bool has_lapack;          /* LAPACK's memory is allocated */
    sim_threads *threads;     /* the caller's */
};

const char *sim_outcome_name(sim_outcome outcome) {
    static const char *const name[SIM_OUTCOMES] = {
        [SIM_SOLVED] = "solved",   [SIM_AT_ROUNDING] = "solved to rounding", [SIM_AT_LIMIT] = "at its limit",
        [SIM_STALLED] = "stalled", [SIM_BROKEN_DOWN] = "broken down",        [SIM_REFUTED] = "refuted",
    };
    return name[outcome];
}

static sim_status check_option_value(const sim_solver_info *info, int k, double value, sim_error *error) {
    const sim_solver_option *o = &info->option[k];
    if (!(value >= o->low && value <= o->high) || (o->integer && value != floor(value))) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: option %s must be a %s from %g to %g, not %g", info->name, o->name,
                        o->integer ? "whole number" : "number", o->low, o->high, value);
    }
    return SIM_OK;
}

/* The memory of the method for a size class, created for its first problem; false without memory. */
static bool has_workspace(sim_solver *s, int class) {
    if (s->type->create && !s->kept[class]) {
        s->kept[class] = s->type->create();
    }
    return !s->type->create || s->kept[class];
}

static int find_size_class(const sim_problem *p) {
    int class = 0;
    for (int n = p->nconstraint; n > 1 && class < SIZE_CLASSES - 1; n /= 2) {
        class ++;
    }
    return class;
}

static sim_status init_solver(sim_solver *s, const double *option, sim_error *error) {
    const sim_solver_info *info = &s->type->info;
    s->option = malloc((size_t)(info->noptions + 1) * sizeof *s->option);
    s->limited = malloc((size_t)(info->noptions + 1) * sizeof *s->limited);
    s->scratch = arena_create();
    if (!s->option || !s->limited || !s->scratch || !has_workspace(s, 0)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the solver %s", info->name);
    }
    for (int k = 0; k < info->noptions; k++) {
        s->option[k] = option ? option[k] : info->option[k].default_value;
        sim_status status = check_option_value(info, k, s->option[k], error);
        if (status) {
            return status;
        }
    }
    return SIM_OK;
}

sim_solver *sim_solver_create(const sim_solver_info *info, const double *option, sim_error *error) {
    const solver_type *type = solver_type_of(info);
    if (!type) {
        sim_fail(error, SIM_BAD_INPUT, "the solver %s is neither of the library nor registered", info->name);
        return NULL;
    }
    sim_solver *s = calloc(1, sizeof *s);
    if (!s) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the solver %s", info->name);
        return NULL;
    }
    s->type = type;
    if (init_solver(s, option, error)) {
        sim_solver_free(s);
        return NULL;
    }
    return s;
}

void sim_solver_free(sim_solver *s) {
    if (s) {
        for (int class = 0; class < SIZE_CLASSES; class ++) {
            if (s->kept[class]) {
                s->type->destroy(s->kept[class]);
            }
        }
        arena_free(s->scratch);
        free(s->option);
        free(s->limited);
        free(s);
    }
}

const sim_solver_info *sim_solver_info_of(const sim_solver *s) { return &s->type->info; }

void solver_set_threads(sim_solver *s, sim_threads *threads) { s->threads = threads; }

size_t solver_bytes(const sim_solver *s) { return arena_bytes(s->scratch); }

bool solver_uses_threads(const sim_solver *s) { return s->type->uses_threads; }

/* Value of an option; `otherwise` if the solver has none of this name. */
static double option_value(const sim_solver *s, const char *name, double otherwise) {
    const sim_solver_info *info = &s->type->info;
    for (int k = 0; k < info->noptions; k++) {
        if (strcmp(info->option[k].name, name) == 0) {
            return s->option[k];
        }
    }
    return otherwise;
}

/* Refuses dense matrices beyond the option most_memory before they are allocated. */
static sim_status check_memory_limit(const sim_solver *s, const sim_problem *p, sim_error *error) {
    double limit = option_value(s, "most_memory", HUGE_VAL);
    double gigabytes = s->type->dense ? 1e-9 * sizeof(double) * s->type->dense(p, s->option) : 0;
    if (gigabytes > limit) {
        return sim_fail(
            error, SIM_NO_RESOURCE,
            "the solver %s would take %.3g GB of dense matrices for %d constraints with %d rows, and its option "
            "most_memory allows %g; sap, pgs and subadmm take none",
            s->type->info.name, gigabytes, p->nconstraint, p->nrow, limit);
    }
    return SIM_OK;
}

sim_status sim_solver_accepts(const sim_solver *s, const sim_problem *p, sim_error *error) {
    const sim_solver_info *info = &s->type->info;
    for (int i = 0; i < p->nconstraint; i++) {
        if (!(info->kinds >> p->constraint[i].kind & 1)) {
            return sim_fail(error, SIM_BAD_INPUT, "the solver %s takes no constraints of kind %s", info->name,
                            sim_constraint_name(p->constraint[i].kind));
        }
        if (p->constraint[i].kind == SIM_CONTACT && sim_contact_turns(&p->constraint[i]) && !info->turning) {
            return sim_fail(error, SIM_BAD_INPUT, "the solver %s takes no contacts with rolling or torsion",
                            info->name);
        }
    }
    return check_memory_limit(s, p, error);
}

/* True if all numbers of the solution and of the law are finite. */
static bool solution_is_finite(const solver_call *call) {
    const sim_problem *p = call->problem;
    double sum = 0;
    for (int k = 0; k < p->nv; k++) {
        sum += 0 * call->out->v[k];
    }
    for (int k = 0; k < p->nrow; k++) {
        sum += 0 * call->out->impulse[k] + (isinf(call->R[k]) ? 0 : 0 * call->target[k]) + (p->q ? 0 * p->q[k] : 0);
    }
    return sum == 0;
}

/* *finite: no square of a velocity, momentum or bias of the problem overflows.  All methods add up such squares. */
static sim_status check_magnitudes(const solver_call *call, bool *finite) {
    const sim_problem *p = call->problem;
    size_t mark = arena_mark(call->scratch);
    double *u = ARENA_NEW(call->scratch, double, p->nrow), *momentum = ARENA_NEW(call->scratch, double, p->nv), sum = 0;
    if (!u || !momentum) {
        return SIM_NO_RESOURCE;
    }
    /* velocity of the rows without impulses; momentum */
    if (sim_problem_local(p)) {
        memcpy(u, p->q, (size_t)p->nrow * sizeof *u);
    } else {
        problem_velocity(p, p->v_free, u);
        problem_mass_times(p, p->v_free, momentum);
    }
    /* one sum: finite only if all terms are */
    for (int k = 0; k < p->nv; k++) {
        sum += p->v_free[k] * p->v_free[k] + momentum[k] * momentum[k];
    }
    for (int k = 0; k < p->nrow; k++) {
        sum += u[k] * u[k] + (isinf(call->R[k]) ? 0 : call->target[k] * call->target[k]);
    }
    arena_release(call->scratch, mark);
    *finite = isfinite(sum);
    return SIM_OK;
}

/* Allocates LAPACK's memory before the first call that needs it; false without memory. */
static bool reserve_lapack(sim_solver *s, const sim_problem *p) {
    bool needed = s->type->lapack > 0 && p->nrow >= s->type->lapack && !s->has_lapack;
    s->has_lapack |= needed && lapack_has_room();
    return !needed || s->has_lapack;
}

/* Zero impulses, with the outcome "not finite". */
static void write_nonfinite(const solver_call *call) {
    const sim_problem *p = call->problem;
    memset(call->out->impulse, 0, (size_t)p->nrow * sizeof *call->out->impulse);
    if (p->nv) {
        memcpy(call->out->v, p->v_free, (size_t)p->nv * sizeof *call->out->v);
    }
    call->out->residual = HUGE_VAL;
    call->out->outcome = SIM_BROKEN_DOWN;
    call->out->reason = SIM_REASON_NONFINITE;
}

/* The options, with the limits of iterations at most `most_iterations`; 0: as they are. */
static const double *limit_options(const sim_solver *s, int most_iterations) {
    const sim_solver_info *info = &s->type->info;
    for (int k = 0; k < info->noptions; k++) {
        const char *name = info->option[k].name;
        bool limit = strcmp(name, "max_iterations") == 0 || strcmp(name, "iterations") == 0;
        s->limited[k] = limit ? fmin(s->option[k], most_iterations) : s->option[k];
    }
    return most_iterations > 0 ? s->limited : s->option;
}

/* The reason of a failure: a limit of iterations is the caller's if that one was reached. */
static sim_reason reason_of_call(const sim_solution *out, bool stopped) {
    sim_reason reason = outcome_reason(out, stopped);
    bool spent = out->most_iterations > 0 && out->iterations >= out->most_iterations;
    return reason == SIM_REASON_ITERATIONS && spent ? SIM_REASON_BUDGET : reason;
}

sim_status sim_solver_solve(sim_solver *s, const sim_problem *p, const sim_regularisation *law, sim_solution *out,
                            sim_error *error) {
    /* clear the solution */
    out->outcome = SIM_SOLVED;
    out->reason = SIM_REASON_NONE;
    out->iterations = out->factorisations = out->searches = out->failures = out->whole_steps = 0;
    out->dogleg_steps = out->edge_steps = 0;
    out->finished_by = -1;
    out->residual = out->multiplications = out->factor_seconds = out->expected = 0;
    if (out->history) {
        out->history->count = out->history->linear_count = out->history->place_count = 0;
    }
    if (p->nv == 0 && p->nrow == 0) {
        return SIM_OK;
    }
    /* limits of memory */
    sim_status too_large = check_memory_limit(s, p, error);
    if (too_large) {
        return too_large;
    }
    /* call; problems that the method cannot take as they are get velocities */
    const double *option = limit_options(s, out->most_iterations);
    int class = find_size_class(p);
    bool has_memory = reserve_lapack(s, p) && has_workspace(s, class);
    solver_call call = {p, law->R, law->target, option, s->scratch, s->kept[class], out, 0, 0, s->threads};
    const sim_solver_info *info = &s->type->info;
    bool takes_W = info->local && (info->asymmetric || !p->W || p->W->symmetric);
    bool wants_velocities = sim_problem_local(p) && p->nrow && !takes_W;
    stop_listener listener = {out->stop, out->stop_context, false};
    if (listener.stop) {
        out->stop = stop_listener_call;
        out->stop_context = &listener;
    }

    /* solve */
    bool finite = false;
    sim_status status = has_memory ? check_magnitudes(&call, &finite) : SIM_NO_RESOURCE;
    if (!status && !finite) {
        write_nonfinite(&call);
    } else if (!status) {
        status = wants_velocities ? symmetric_split_solve(s->type, &call) : s->type->solve(&call);
    }

    /* the reason, where the solver has set none */
    out->stop = listener.stop;
    out->stop_context = listener.context;
    if (!status && !solution_is_finite(&call)) {
        out->outcome = SIM_BROKEN_DOWN;
        out->reason = SIM_REASON_NONFINITE;
    }
    out->reason = reason_of_call(out, listener.stopped);
    out->outcome = out->reason == SIM_REASON_TIME ? SIM_AT_LIMIT : out->outcome;
    arena_release(s->scratch, 0);
    return status ? sim_fail(error, SIM_NO_RESOURCE, "no memory for %d contact rows", p->nrow) : SIM_OK;
}

/* Bounds on `own` of the certificate: rounding, which every claim includes; largest error of "solved to rounding";
 * claim over tolerance of solvers without `claim`. */
static const double MIN_CLAIM = 1e-7, MAX_ROUNDED_ERROR = 1e-3, CLAIM_OVER_TOLERANCE = 10;

static double max_own_error(const sim_solver *s) {
    const sim_solver_info *info = &s->type->info;
    if (info->claim) {
        return info->claim(s->option);
    }
    double tolerance = option_value(s, "tolerance", -1);
    return tolerance >= 0 ? solver_claim(CLAIM_OVER_TOLERANCE, tolerance) : CLAIM_OVER_TOLERANCE * MIN_CLAIM;
}

void sim_solver_confirm(const sim_solver *s, double own, double momentum, sim_outcome *outcome, sim_reason *reason) {
    double bound = fmax(max_own_error(s), *outcome == SIM_AT_ROUNDING ? MAX_ROUNDED_ERROR : MIN_CLAIM);
    bool claims = *outcome == SIM_SOLVED || *outcome == SIM_AT_ROUNDING;
    if (claims && !(own <= bound && momentum <= bound && isfinite(own) && isfinite(momentum))) {
        *outcome = SIM_REFUTED;
        *reason = SIM_REASON_REFUTED;
    }
}
