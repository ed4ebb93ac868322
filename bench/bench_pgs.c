/* What does a sweep of Gauss-Seidel cost, matrix-free and with W assembled?
 *
 * Clutter of rigid bodies after 3 s in a container, and stacks of boxes: nanoseconds for a contact in a sweep,
 * microseconds to prepare, and sweeps to E = 1e-8 from nothing, at most 5,000. */
#include "contact/stage.h"
#include "support/container.h"
#include "support/problems.h"
#include "support/quick.h"
#include "world/core/world.h"

#include <math.h>
#include <sim/solver.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct run {
    double time;
    sim_solution out;
} run;

/* matrix 0, 1, 2: chosen, free, assembled */
static void choose(const sim_solver_info *info, int matrix, int accelerated, int sweeps, double tolerance,
                   double *option) {
    for (int k = 0; k < info->noptions; k++) {
        const char *name = info->option[k].name;
        option[k] = strcmp(name, "matrix") == 0           ? matrix
                    : strcmp(name, "acceleration") == 0   ? accelerated
                    : strcmp(name, "max_iterations") == 0 ? sweeps
                    : strcmp(name, "tolerance") == 0      ? tolerance
                                                          : info->option[k].default_value;
    }
}

/* The best of a few. */
static run solve(const sim_problem *p, int matrix, int accelerated, int sweeps, double tolerance) {
    const sim_solver_info *info = sim_solver_find("pgs");
    sim_law_options law = sim_law_options_default();
    double option[32], *all = calloc((size_t)(3 * p->nrow + p->nv + 1), sizeof *all), *R = all, *target = R + p->nrow;
    run best = {.time = INFINITY};
    choose(info, matrix, accelerated, sweeps, tolerance, option);
    sim_regularise(p, SIM_RIGID, &law, NULL, R, target);
    sim_solver *s = sim_solver_create(info, option, NULL);
    for (int k = 0; k < 3; k++) {
        sim_regularisation own = {R, target};
        sim_solution out = {.v = all + 3 * p->nrow, .impulse = all + 2 * p->nrow};
        double begin = seconds();
        sim_solver_solve(s, p, &own, &out, NULL);
        double time = seconds() - begin;
        if (time < best.time) {
            best = (run){time, out};
        }
    }
    sim_solver_free(s);
    free(all);
    return best;
}

static void measure(const char *name, const sim_problem *given) {
    enum { SWEEPS = 400 };
    sim_problem cold = *given;
    const sim_problem *p = &cold;
    cold.impulse_guess = NULL;
    printf("%-16s %8d", name, p->nconstraint);
    for (int matrix = 1; matrix <= 2; matrix++) {
        double prepare = solve(p, matrix, 0, 0, 0).time, swept = solve(p, matrix, 0, SWEEPS, 0).time;
        double guessed = solve(p, matrix, 1, SWEEPS, 0).time, each = 1e9 / (SWEEPS * (double)p->nconstraint);
        printf(" %9.0f %8.1f %8.1f", 1e6 * prepare, each * (swept - prepare), each * (guessed - prepare));
    }
    for (int accelerated = 0; accelerated <= 1; accelerated++) {
        run found = solve(p, 0, accelerated, 5000, 1e-8);
        printf(" %8d %9.0f", found.out.outcome == SIM_SOLVED ? found.out.iterations : -1, 1e6 * found.time);
    }
    printf("\n");
}

static void measure_clutter(int count) {
    random_source r = {1};
    sim_options o = sim_options_default();
    sim_error error = {0};
    double option[32];
    choose(sim_solver_find("pgs"), 0, 1, 100, 1e-8, option);
    o.step = 0.01;
    o.integrator = SIM_SYMPLECTIC_EULER;
    o.solver = sim_solver_find("pgs");
    o.solver_option = option;
    sim_model *m = clutter_model(&r, count, 1, INFINITY, o.step);
    sim_world *w = sim_world_create(m, &o, &error);
    for (int k = 0; k < 300; k++) {
        sim_world_step(w, &error);
    }
    for (int tree = 0; tree < m->ntree; tree++) {
        sim_step_info info;
        theta_free_motion(&w->motion, tree, &info);
    }
    contact_input in;
    contacts_find(&w->contacts, &in, NULL);
    contact_stage_build(w->contacts.stage, &in, w->threads, NULL);
    sim_problem *p = contact_stage_problem(w->contacts.stage, &error);
    char name[32];
    snprintf(name, sizeof name, "clutter %d", count);
    measure(name, p);
    sim_problem_free(p);
    sim_world_free(w);
    sim_model_free(m);
}

static void measure_stack(int count) {
    double mass[64];
    char name[32];
    for (int k = 0; k < count; k++) {
        mass[k] = 1;
    }
    sim_problem *p = box_stack(count, mass, 0.5, 0.01, 0);
    snprintf(name, sizeof name, "stack of %d", count);
    measure(name, p);
    sim_problem_free(p);
}

int main(int count, char **word) {
    int quick = asked_quick(count, word);
    printf("sim %s, %s\n", sim_version(), sim_build_info());
    printf("%-16s %8s %27s %27s %18s %18s\n", "", "", "matrix-free", "assembled", "plain", "with guesses");
    printf("%-16s %8s %9s %8s %8s %9s %8s %8s %8s %9s %8s %9s\n", "", "contacts", "prepare", "ns plain", "guesses",
           "prepare", "ns plain", "guesses", "sweeps", "us", "sweeps", "us");
    measure_stack(2);
    measure_stack(10);
    if (!quick) {
        measure_stack(60);
    }
    for (int bodies = quick ? 10 : 40; bodies <= (quick ? 10 : 640); bodies *= 4) {
        measure_clutter(bodies);
    }
    return 0;
}
