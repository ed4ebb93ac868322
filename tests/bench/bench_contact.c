/* What does a step with contacts cost, and where does the time go?
 *
 * Clutter that has come to rest, stage by stage: free motion, collision, building the problem, solving it, positions.  The
 * stages are those of the step itself, called one by one; what they find is thrown away, then the step is taken. */
#include "support/container.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STAGES = 5, SETTLE = 600, TIMED = 100 };
static const char *const stage_name[STAGES] = {"free", "collide", "build", "solve", "whole"};

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void move_freely(sim_world *w) {
    for (int tree = 0; tree < w->model->ntree; tree++) {
        sim_step_info info;
        world_theta_free(w, tree, &info);
    }
}

/* Collision and problem, from the free motion on. */
static void stages(sim_world *w, double *spent) {
    double at[STAGES];
    contact_input in;
    at[0] = seconds();
    move_freely(w);
    at[1] = seconds();
    world_contacts_find(w, &in, NULL);
    at[2] = seconds();
    contact_output out = world_contacts_output(w);
    contact_stage_build(w->stage, &in, w->threads, NULL);
    at[3] = seconds();
    contact_stage_solve(w->stage, w->threads, &out, NULL);
    at[4] = seconds();
    for (int k = 0; k < STAGES - 1; k++) {
        spent[k] += at[k + 1] - at[k];
    }
}

static void measure(int count, int walls, const char *solver) {
    random_source r = {1};
    sim_options o = sim_options_default();
    sim_error error = {0};
    o.step = 0.01;
    o.integrator = SIM_SYMPLECTIC_EULER;
    o.solver = sim_solver_find(solver);
    sim_model *m = clutter_model(&r, count, walls, 1e12, o.step);
    sim_world *w = sim_world_create(m, &o, &error);
    double spent[STAGES] = {0}, iterations = 0, E = 0, own = 0, momentum = 0;
    int unsolved = 0;
    for (int k = 0; k < SETTLE + TIMED && w; k++) {
        if (k >= SETTLE) {
            stages(w, spent);
        }
        double begin = seconds();
        if (sim_world_step(w, &error)) {
            printf("%s\n", error.text);
            break;
        }
        if (k >= SETTLE) {
            const sim_step_info *info = sim_world_info(w);
            spent[STAGES - 1] += seconds() - begin;
            iterations += info->solver_iterations;
            unsolved += info->unsolved;
            E = fmax(E, info->certificate.E);
            own = fmax(own, info->certificate.own);
            momentum = fmax(momentum, info->certificate.momentum);
        }
    }
    if (!w) {
        printf("%s\n", error.text);
        return;
    }
    const sim_step_info *info = sim_world_info(w);
    printf("%6d %5s %6s %8d %7d", count, walls ? "yes" : "no", solver, info->contacts, info->islands);
    for (int k = 0; k < STAGES; k++) {
        printf(" %8.1f", 1e6 * spent[k] / TIMED);
    }
    printf(" %9.2f %8d %8.0e %8.0e %8.0e\n", iterations / TIMED, unsolved, E, own, momentum);
    sim_world_free(w);
    sim_model_free(m);
}

int main(int argc, char **argv) {
    static const int size[] = {8, 40, 80, 160, 320, 640};
    const char *solver = argc > 1 ? argv[1] : "sap";
    int most = argc > 2 ? atoi(argv[2]) : 640;
    printf("sim %s, %s\nclutter at rest, CPU microseconds a step\n", sim_version(), sim_build_info());
    printf("%6s %5s %6s %8s %7s", "bodies", "walls", "solver", "contacts", "islands");
    for (int k = 0; k < STAGES; k++) {
        printf(" %8s", stage_name[k]);
    }
    printf(" %9s %8s %8s %8s %8s\n", "iterations", "unsolved", "E", "own", "momentum");
    for (int walls = 1; walls >= 0; walls--) {
        for (size_t k = 0; k < sizeof size / sizeof *size && size[k] <= most; k++) {
            measure(size[k], walls, solver);
        }
    }
    return 0;
}
