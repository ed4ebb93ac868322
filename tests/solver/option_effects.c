/* No option is ignored: each choice, and a change of each number, leaves a trace in the course of some solve.
 *
 * The trace of a solve is its impulses, counters, outcome and recorded residuals, bit by bit.  Exceptions are named
 * below with the reason for which these problems cannot show them. */
#include "support/contenders.h"
#include "support/judged.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROBLEMS = 14, MAX_VALUES = 6 };

/* Options whose effect these problems cannot show. */
static const char *const unseen[][2] = {
    {"nsn", "positions"},         /* they have no positions: tests/contact/positions.c */
    {"nsn", "stiffness"},         /* likewise */
    {"sap", "relaxation"},        /* they have too few bodies: tests/solver/sap.c */
    {"subadmm", "factorisation"}, /* they have no bodies: tests/solver/subadmm_slots.c */
    {"subadmm", "lanes"},         /* likewise: tests/solver/subadmm_lanes.c */
};

/* Options that act only where another one has a certain value. */
static const struct {
    const char *solver, *option, *other;
    double value;
} conditions[] = {
    {"nsn", "function", "friction", 0},          {"nsn", "linear", "friction", 0},
    {"nsn", "linear_iterations", "friction", 0}, {"nsn", "linear_tolerance", "friction", 0},
    {"nsn", "preconditioned", "friction", 0},    {"nsn", "r", "friction", 0},
    {"nsn", "epsilon", "friction", 0},
};

static bool is_unseen(const char *solver, const char *option) {
    for (size_t k = 0; k < sizeof unseen / sizeof *unseen; k++) {
        if (strcmp(unseen[k][0], solver) == 0 && strcmp(unseen[k][1], option) == 0) {
            return true;
        }
    }
    return false;
}

static sim_problem *problem_of(int trial) {
    random_source r = {(uint64_t)(41 + trial)};
    if (trial == PROBLEMS - 1) {
        return loaded_stack(1000);
    }
    if (trial % 3 == 0) {
        return random_problem(&r, trial % 2 ? &hard_recipe : &mixed_recipe);
    }
    problem_recipe recipe = {.bodies = 1 + trial % 4,
                             .chain = trial % 2 ? 7 : 0,
                             .contacts = 4 + 2 * trial,
                             .friction = 0.3 * (1 + trial % 3),
                             .kinds = trial % 2 ? 63 : 0,
                             .impact = 1,
                             .scatter = 0.3 * (trial % 4)};
    return random_problem(&r, &recipe);
}

static uint64_t hash_more(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *c = data;
    for (size_t k = 0; k < bytes; k++) {
        hash = (hash ^ c[k]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* A warm start that is no solution: as hard a push as the free motion asks for, at every contact. */
static double *start_pushing(sim_problem *p) {
    double *guess = calloc((size_t)p->nrow + 1, sizeof *guess);
    for (int c = 0; c < p->nconstraint; c++) {
        guess[p->constraint[c].row + p->constraint[c].rows - 1] = p->constraint[c].kind == SIM_CONTACT ? 0.5 : 0;
    }
    p->impulse_guess = guess;
    return guess;
}

static uint64_t trace_of(const sim_problem *p, const sim_solver_info *info, const double *option) {
    answer a = contest_entry(p, info->default_law != SIM_NEAR_RIGID ? 0 : -1);
    sim_error error = {0};
    sim_solver *s = sim_solver_create(info, option, &error);
    cr_assert(s, "%s: %s", info->name, error.text);
    a.out = (sim_solution){.v = a.v, .impulse = a.impulse, .history = &a.history};
    /* a refusal, as of a problem that needs more memory than allowed, is a trace, too */
    sim_status status = sim_solver_solve(s, p, &a.law, &a.out, &error);
    sim_solver_free(s);
    double counts[] = {a.out.iterations, a.out.outcome,     a.out.searches,       a.out.factorisations,
                       a.out.failures,   a.out.whole_steps, a.out.multiplications};
    uint64_t hash = hash_more(UINT64_C(0xcbf29ce484222325) + status, counts, sizeof counts);
    hash = hash_more(hash, a.impulse, (size_t)p->nrow * sizeof *a.impulse);
    int count = a.history.count < a.history.room ? a.history.count : a.history.room;
    hash = hash_more(hash, a.history.residual, (size_t)count * sizeof *a.history.residual);
    answer_free(&a);
    return hash;
}

/* All choices of an option; of a number the default, its ends, and values between. */
static int values_of(const sim_solver_option *o, double value[MAX_VALUES]) {
    int count = 0;
    if (o->choices) {
        while (o->choices[count]) {
            value[count] = count;
            count++;
        }
        return count;
    }
    double d = o->default_value, far = fmin(o->high, 3 * d + 1), list[] = {d, o->low, 0.5 * (o->low + d), far};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        value[count++] = o->integer ? rint(list[k]) : list[k];
    }
    return count;
}

static void set_defaults(const sim_solver_info *info, const char *name, double *option) {
    for (int k = 0; k < info->noptions; k++) {
        option[k] = info->option[k].default_value;
    }
    for (size_t k = 0; k < sizeof conditions / sizeof *conditions; k++) {
        if (strcmp(conditions[k].solver, info->name) == 0 && strcmp(conditions[k].option, name) == 0) {
            option[option_of(info, conditions[k].other)] = conditions[k].value;
        }
    }
}

/* `auto` is one of the other choices; without bodies a split by them is one by trees (subadmm). */
static bool must_differ(const sim_solver_option *o, int k, int j) {
    bool by_bodies = strcmp(o->choices[k], "bodies") == 0 && strcmp(o->choices[j], "trees") == 0;
    return k < j && !by_bodies && strcmp(o->choices[k], "auto") != 0 && strcmp(o->choices[j], "auto") != 0;
}

/* Pairs of choices that have left the same traces so far. */
static int count_alike(const sim_solver_option *o, int count, bool told[MAX_VALUES][MAX_VALUES]) {
    int alike = 0;
    for (int k = 0; k < count && o->choices; k++) {
        for (int j = 0; j < count; j++) {
            alike += must_differ(o, k, j) && !told[k][j];
        }
    }
    return alike;
}

/* Of choices: each two leave different traces in some problem.  Of a number: some value differs from the default. */
static void check_option(sim_problem *const *problem, const sim_solver_info *info, int index) {
    const sim_solver_option *o = &info->option[index];
    double option[MOST_OPTIONS], value[MAX_VALUES];
    bool told[MAX_VALUES][MAX_VALUES] = {{false}}, any = false;
    int count = values_of(o, value);
    set_defaults(info, o->name, option);
    for (int t = 0; t < PROBLEMS && (!any || count_alike(o, count, told)); t++) {
        uint64_t trace[MAX_VALUES];
        for (int k = 0; k < count; k++) {
            option[index] = value[k];
            trace[k] = trace_of(problem[t], info, option);
        }
        for (int k = 0; k < count; k++) {
            for (int j = 0; j < count; j++) {
                told[k][j] |= trace[k] != trace[j];
                any |= told[k][j];
            }
        }
    }
    cr_expect(any, "%s: %s leaves no trace", info->name, o->name);
    for (int k = 0; k < count; k++) {
        for (int j = 0; j < count; j++) {
            if (o->choices && must_differ(o, k, j)) {
                cr_expect(told[k][j], "%s: %s=%s does what %s does", info->name, o->name, o->choices[k], o->choices[j]);
            }
        }
    }
}

static void check_solver(const char *name) {
    const sim_solver_info *info = sim_solver_find(name);
    sim_problem *problem[PROBLEMS];
    double *guess[PROBLEMS] = {NULL};
    for (int t = 0; t < PROBLEMS; t++) {
        problem[t] = problem_of(t);
        guess[t] = t % 4 == 2 ? start_pushing(problem[t]) : NULL;
    }
    for (int k = 0; k < info->noptions; k++) {
        if (!is_unseen(name, info->option[k].name)) {
            check_option(problem, info, k);
        }
    }
    for (int t = 0; t < PROBLEMS; t++) {
        problem[t]->impulse_guess = NULL;
        sim_problem_free(problem[t]);
        free(guess[t]);
    }
}

Test(option_effects, no_option_of_any_solver_is_ignored) {
    for (int s = 0; s < sim_solver_count(); s++) {
        check_solver(sim_solver_at(s)->name);
    }
}
