/* Registry of solvers: those of the library, followed by those of the caller.  A caller without a registry has the
 * library's alone; there is no global one. */
#include "solver/core/call.h"
#include "solver/core/natural_map.h"
#include "solver/core/products.h"
#include "solver/matrices/delassus.h"
#include "solver/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sim_solver_registry {
    int count, room;
    sim_solver_method **method; /* [count] each stays in place: its info is in use */
};

enum { MAX_NAME_LENGTH = 40 }; /* letters */

sim_solver_registry *sim_solver_registry_create(sim_error *error) {
    sim_solver_registry *made = calloc(1, sizeof *made);
    if (!made) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the solvers");
    }
    return made;
}

void sim_solver_registry_free(sim_solver_registry *registry) {
    for (int k = 0; registry && k < registry->count; k++) {
        free(registry->method[k]);
    }
    if (registry) {
        free(registry->method);
    }
    free(registry);
}

/* ---- checks ---- */

/* Names stand in scenes and on command lines, before ":" and between ",". */
static bool is_name(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t length = name ? strlen(name) : 0;
    return length > 0 && length <= MAX_NAME_LENGTH && strspn(name, letters) == length;
}

/* Largest value of an option. */
static double highest_value(const sim_solver_option *o) {
    int count = 0;
    while (o->choices && o->choices[count]) {
        count++;
    }
    return o->choices ? count - 1 : o->high;
}

static sim_status check_option_table(const sim_solver_info *info, int k, sim_error *error) {
    const sim_solver_option *o = &info->option[k];
    if (!is_name(o->name) || !o->help) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "solver %s: option %d needs a help text and a name of letters, digits, - and _", info->name, k);
    }
    for (int i = 0; i < k; i++) {
        if (strcmp(o->name, info->option[i].name) == 0) {
            return sim_fail(error, SIM_BAD_INPUT, "solver %s: two options are called %s", info->name, o->name);
        }
    }
    double low = o->choices ? 0 : o->low, high = highest_value(o);
    if (!(o->default_value >= low && o->default_value <= high) ||
        ((o->integer || o->choices) && o->default_value != floor(o->default_value))) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "solver %s: the default of option %s is %g, but it takes %s from %g to %g", info->name, o->name,
                        o->default_value, o->integer || o->choices ? "whole numbers" : "numbers", low, high);
    }
    return SIM_OK;
}

static sim_status check_method(const sim_solver_registry *registry, const sim_solver_method *method, sim_error *error) {
    const sim_solver_info *info = &method->info;
    /* name, and no other solver with it */
    if (!is_name(info->name)) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "a solver needs a name of up to %d letters, digits, - and _, not \"%.80s\"", MAX_NAME_LENGTH,
                        info->name ? info->name : "");
    }
    if (sim_solver_registry_find(registry, info->name)) {
        return sim_fail(error, SIM_BAD_INPUT, "there is a solver %s already", info->name);
    }
    /* function, texts and kinds */
    if (!method->solve || !info->method || !info->paper || !info->kinds || !method->create != !method->destroy) {
        return sim_fail(
            error, SIM_BAD_INPUT,
            "solver %s: solve, texts for method and paper, and kinds of constraints are needed, and create and "
            "destroy both or neither",
            info->name);
    }
    /* options */
    if (info->noptions < 0 || info->noptions > SOLVER_MAX_OPTIONS || (info->noptions && !info->option)) {
        return sim_fail(error, SIM_BAD_INPUT, "solver %s: it may have 0 to %d options", info->name, SOLVER_MAX_OPTIONS);
    }
    sim_status status = SIM_OK;
    for (int k = 0; k < info->noptions && !status; k++) {
        status = check_option_table(info, k, error);
    }
    return status;
}

/* ---- registration ---- */

static bool reserve_method(sim_solver_registry *registry) {
    if (registry->count < registry->room) {
        return true;
    }
    int room = 2 * registry->room + 4;
    sim_solver_method **method = realloc(registry->method, (size_t)room * sizeof *method);
    if (method) {
        registry->method = method;
        registry->room = room;
    }
    return method != NULL;
}

const sim_solver_info *sim_solver_register(sim_solver_registry *registry, const sim_solver_method *method,
                                           sim_error *error) {
    if (check_method(registry, method, error)) {
        return NULL;
    }
    sim_solver_method *own = reserve_method(registry) ? malloc(sizeof *own) : NULL;
    if (!own) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the solver %s", method->info.name);
        return NULL;
    }
    *own = *method;
    own->uses_threads = false; /* sim_threads is not public */
    own->info.registered = own;
    registry->method[registry->count++] = own;
    return &own->info;
}

int sim_solver_registry_count(const sim_solver_registry *registry) {
    return sim_solver_count() + (registry ? registry->count : 0);
}

const sim_solver_info *sim_solver_registry_at(const sim_solver_registry *registry, int index) {
    int own = index - sim_solver_count();
    return own < 0 || !registry ? sim_solver_at(index) : own < registry->count ? &registry->method[own]->info : NULL;
}

const sim_solver_info *sim_solver_registry_find(const sim_solver_registry *registry, const char *name) {
    for (int k = 0; k < sim_solver_registry_count(registry); k++) {
        const sim_solver_info *info = sim_solver_registry_at(registry, k);
        if (strcmp(info->name, name) == 0) {
            return info;
        }
    }
    return NULL;
}

/* ---- services for a method ---- */

void *sim_solver_memory(sim_solver_call *call, size_t count, size_t size) {
    return arena_alloc(call->scratch, count, size);
}

void sim_solver_velocity(const sim_problem *problem, const double *v, double *u) { problem_velocity(problem, v, u); }

void sim_solver_response(const sim_problem *p, const double *impulse, double *v) { problem_response(p, impulse, v); }

void sim_solver_warm_start(const sim_solver_call *call, double *impulse) {
    for (int r = 0; r < call->problem->nrow; r++) {
        impulse[r] = call->problem->impulse_guess ? call->problem->impulse_guess[r] : 0;
    }
}

void sim_solver_law_velocity(const sim_solver_call *call, double *s) {
    const sim_solution *out = call->out;
    sim_solver_response(call->problem, out->impulse, out->v);
    sim_solver_velocity(call->problem, out->v, s);
    for (int r = 0; r < call->problem->nrow; r++) {
        s[r] = isinf(call->R[r]) ? 0 : s[r] - call->target[r] + call->R[r] * out->impulse[r];
    }
}

void sim_solver_project(const sim_problem *problem, int i, double *y) {
    natural_project(&problem->constraint[i], problem->step, y);
}

void sim_solver_strict_step(const sim_problem *problem, int i, double rho, const double *s, const double *impulse,
                            double *next) {
    natural_step(&problem->constraint[i], problem->step, rho, s, impulse, next);
}

bool sim_solver_finished(const sim_solver_call *call, double tolerance, double max_iterations) {
    sim_solution *out = call->out;
    out->outcome = !isfinite(out->residual) ? SIM_BROKEN_DOWN : out->residual <= tolerance ? SIM_SOLVED : SIM_AT_LIMIT;
    return out->outcome != SIM_AT_LIMIT || out->iterations >= max_iterations || sim_solver_stopped(call);
}

sim_status sim_solver_diagonal(sim_solver_call *call, double *W) {
    size_t mark = arena_mark(call->scratch);
    int done = delassus_diagonal(call->problem, NULL, call->scratch, W);
    arena_release(call->scratch, mark);
    return done ? SIM_OK : SIM_NO_RESOURCE;
}

sim_status sim_solver_traces(sim_solver_call *call, double *w) {
    const sim_problem *p = call->problem;
    size_t mark = arena_mark(call->scratch), at = 0;
    double *W = sim_solver_memory(call, sim_delassus_diagonal_size(p), sizeof *W);
    int done = W && delassus_diagonal(p, NULL, call->scratch, W);
    for (int i = 0; i < p->nconstraint && done; i++) {
        int rows = p->constraint[i].rows, first = p->constraint[i].row;
        w[i] = 0;
        for (int k = 0; k < rows; k++) {
            w[i] += W[at + (size_t)(k * (rows + 1))] + (isinf(call->R[first + k]) ? 0 : call->R[first + k]);
        }
        w[i] = w[i] > 0 ? w[i] : 1;
        at += (size_t)(rows * rows);
    }
    arena_release(call->scratch, mark);
    return done ? SIM_OK : SIM_NO_RESOURCE;
}
