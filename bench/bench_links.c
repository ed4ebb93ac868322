/* Does the size of the contact problem grow with the mechanism? (Mylapilli and Jain 2016: in minimal coordinates it
 * depends on the number of contacts alone.)
 *
 * A chain hangs from a height of which its last three links are too much: they lie on the floor, and slide.  Of 12, 48
 * or 192 links four balls touch, the same problem but for the inertia behind it.  CPU microseconds of a step, the least
 * of many: what sets the problem up (motion without contacts, collision, rows, and W), and what answers it, given W.
 * `--json` for programs. */
#include "solver/core/products.h"
#include "solver/matrices/delassus.h"
#include "support/quick.h"

#include <math.h>
#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { METHODS = 5, SIZES = 3, MOST_ROWS = 64 };
static const char *const method[METHODS] = {"mlcp-pivot", "mlcp-pfb-rlm", "mlcp-pfb-plm", "mncp-rlm", "mncp-plm"};
static const int links[SIZES] = {12, 48, 192};

typedef struct figures {
    int links, contacts, rows;
    double free, collide, build, whole_W;
    struct {
        double seconds, E;
        int iterations;
    } answer[METHODS];
} figures;

static double seconds(void *context) {
    struct timespec t;
    (void)context;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what) {
    fprintf(stderr, "bench_links: %s\n", what);
    exit(1);
}

/* Links down to the floor, the last three along it. */
static sim_scene *chain(int count) {
    char height[64], number[64], bent[256];
    snprintf(number, sizeof number, "instances/0/repeat/count=%d", count);
    snprintf(height, sizeof height, "instances/0/pose/position/2=%.2f", count - 3 + 0.35);
    snprintf(
        bent, sizeof bent,
        "initial={\"link%d_ball\": {\"q\": -1.57079632679, \"v\": 0}, \"link%d_ball\": {\"v\": 0.1}, \"link0_ball\": "
        "{\"v\": 0.02}}",
        count - 3, count - 1);
    const char *set[] = {number, height, bent, "record/points=[]"};
    sim_scene_overrides overrides = {.count = 4, .set = set};
    sim_error error = {0};
    sim_scene *scene = sim_scene_load("scenes/papers/pendulum_12.json", &overrides, NULL, &error);
    if (!scene) {
        fail(error.text);
    }
    return scene;
}

static void time_step(sim_world *w, int repeat, figures *f) {
    sim_profile profile = {.clock = {seconds, NULL}};
    sim_world *start = sim_world_create(sim_world_model(w), sim_world_options(w), NULL);
    double least[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
    sim_world_profile(w, &profile);
    for (int k = 0; k < repeat && start; k++) {
        memset(profile.seconds, 0, sizeof profile.seconds);
        if (sim_world_set_state(w, sim_world_state(start), NULL) || sim_world_step(w, NULL)) {
            fail("no step");
        }
        for (int part = 0; part < 3; part++) {
            least[part] = fmin(least[part], profile.seconds[SIM_TIME_FREE + part]);
        }
    }
    sim_world_free(start);
    f->free = least[0];
    f->collide = least[1];
    f->build = least[2];
}

/* The problem of W and q alone. */
static sim_problem local_problem(const sim_problem *p, const sim_delassus *W, sim_constraint *c, double *q) {
    sim_problem local = {
        .step = p->step, .nconstraint = p->nconstraint, .nrow = p->nrow, .constraint = c, .gap = p->gap};
    problem_velocity(p, p->v_free, q);
    for (int i = 0; i < p->nconstraint; i++) {
        c[i] = p->constraint[i];
        c[i].tree[0] = c[i].tree[1] = -1;
    }
    local.W = W;
    local.q = q;
    return local;
}

static void time_answers(const sim_problem *p, int repeat, figures *f) {
    double R[MOST_ROWS], target[MOST_ROWS], q[MOST_ROWS], impulse[MOST_ROWS];
    sim_constraint c[MOST_ROWS / 3];
    sim_arena *arena = arena_create();
    sim_law_options o = sim_law_options_default();
    sim_delassus W;
    f->contacts = p->nconstraint;
    f->rows = p->nrow;
    f->whole_W = HUGE_VAL;
    if (p->nrow > MOST_ROWS || !arena) {
        fail("more contacts than it lays out");
    }
    sim_regularise(p, SIM_RIGID, &o, NULL, R, target);
    for (int k = 0; k < repeat; k++) {
        double since = seconds(NULL);
        arena_release(arena, 0);
        if (!delassus_whole(p, arena, &W)) {
            fail("no memory");
        }
        f->whole_W = fmin(f->whole_W, seconds(NULL) - since);
    }
    sim_problem local = local_problem(p, &W, c, q);
    sim_regularisation law = {R, target};
    for (int m = 0; m < METHODS; m++) {
        sim_solver *solver = sim_solver_create(sim_solver_find(method[m]), NULL, NULL);
        f->answer[m].seconds = HUGE_VAL;
        for (int k = 0; k < repeat && solver; k++) {
            sim_solution out = {.impulse = impulse};
            double since = seconds(NULL);
            sim_solver_solve(solver, &local, &law, &out, NULL);
            f->answer[m].seconds = fmin(f->answer[m].seconds, seconds(NULL) - since);
            f->answer[m].iterations = out.iterations;
            f->answer[m].E = out.residual;
        }
        sim_solver_free(solver);
    }
    arena_free(arena);
}

static void measure(int count, int repeat, figures *f) {
    sim_error error = {0};
    sim_scene *scene = chain(count);
    scene->options.solver = sim_solver_find("mncp-plm");
    sim_world *w = sim_world_create(scene->model, &scene->options, &error);
    sim_problem *p = w ? sim_world_problem(w, &error) : NULL;
    if (!p) {
        fail(error.text);
    }
    f->links = count;
    time_answers(p, repeat, f);
    time_step(w, repeat, f);
    sim_problem_free(p);
    sim_world_free(w);
    sim_scene_free(scene);
}

static void print_table(const figures *f) {
    printf("%6s %9s %5s %9s %9s %9s %9s |", "links", "contacts", "rows", "free", "collide", "rows", "W");
    for (int m = 0; m < METHODS; m++) {
        printf(" %13s it.", method[m]);
    }
    printf("\n");
    for (int k = 0; k < SIZES; k++) {
        printf("%6d %9d %5d %9.2f %9.2f %9.2f %9.2f |", f[k].links, f[k].contacts, f[k].rows, 1e6 * f[k].free,
               1e6 * f[k].collide, 1e6 * f[k].build, 1e6 * f[k].whole_W);
        for (int m = 0; m < METHODS; m++) {
            printf(" %13.2f %3d", 1e6 * f[k].answer[m].seconds, f[k].answer[m].iterations);
        }
        printf("\n");
    }
}

static void print_json(const figures *f) {
    printf("{\"format\": \"bench_links\", \"sizes\": [");
    for (int k = 0; k < SIZES; k++) {
        printf("%s\n{\"links\": %d, \"contacts\": %d, \"rows\": %d, \"free\": %g, \"collide\": %g, \"build\": %g, "
               "\"W\": %g, \"answers\": [",
               k ? "," : "", f[k].links, f[k].contacts, f[k].rows, f[k].free, f[k].collide, f[k].build, f[k].whole_W);
        for (int m = 0; m < METHODS; m++) {
            printf("%s{\"solver\": \"%s\", \"seconds\": %g, \"iterations\": %d, \"residual\": %g}", m ? ", " : "",
                   method[m], f[k].answer[m].seconds, f[k].answer[m].iterations, f[k].answer[m].E);
        }
        printf("]}");
    }
    printf("]}\n");
}

int main(int count, char **word) {
    int quick = asked_quick(count, word), json = count > 1 && strcmp(word[count - 1], "--json") == 0;
    figures f[SIZES];
    for (int k = 0; k < SIZES; k++) {
        measure(links[k], quick ? 20 : 2000, &f[k]);
    }
    if (json) {
        print_json(f);
    } else {
        print_table(f);
    }
    return 0;
}
