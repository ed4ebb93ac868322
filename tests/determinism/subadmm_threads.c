/* SubADMM as a whole: neither threads nor vectors change what it answers. */
#include "solver/solver.h"
#include "support/problems.h"
#include <sim/scene.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct reply {
    double *v, *impulse;
    sim_solution out;
} reply;

static void set(double *option, const char *name, double value) {
    const sim_solver_info *info = sim_solver_find("subadmm");
    for (int k = 0; k < info->noptions; k++) {
        option[k] = strcmp(info->option[k].name, name) == 0 ? value : option[k];
    }
}

static reply solve(const sim_problem *p, const double *option, sim_threads *threads) {
    double *R = calloc((size_t)p->nrow + 1, sizeof *R), *target = calloc((size_t)p->nrow + 1, sizeof *target);
    sim_law_options law = sim_law_options_default();
    sim_regularise(p, SIM_RIGID, &law, NULL, R, target);
    reply r = {calloc((size_t)p->nv + 1, sizeof *r.v), calloc((size_t)p->nrow + 1, sizeof *r.impulse), {0}};
    r.out.v = r.v;
    r.out.impulse = r.impulse;
    sim_solver *s = sim_solver_create(sim_solver_find("subadmm"), option, NULL);
    cr_assert(s && solver_uses_threads(s));
    solver_set_threads(s, threads);
    cr_assert_eq(sim_solver_solve(s, p, &(sim_regularisation){R, target}, &r.out, NULL), SIM_OK);
    sim_solver_free(s);
    free(R);
    free(target);
    return r;
}

static void drop(reply *r) {
    free(r->v);
    free(r->impulse);
}

static void standard(double *option) {
    const sim_solver_info *info = sim_solver_find("subadmm");
    for (int k = 0; k < info->noptions; k++) {
        option[k] = info->option[k].default_value;
    }
}

/* Bodies enough for sixteen batches and more of each kind, with rows that are no contacts and a tree besides. */
static sim_problem *large_problem(uint64_t seed) {
    random_source r = {seed};
    problem_recipe recipe = {.bodies = 200,
                             .chain = 9,
                             .contacts = 300,
                             .friction = 0.5,
                             .bias = 0.05,
                             .kinds = 0x3f,
                             .impact = 1,
                             .scatter = 0.3};
    return random_problem(&r, &recipe);
}

Test(subadmm_threads, change_no_bit_of_an_answer) {
    double option[16];
    standard(option);
    set(option, "iterations", 150);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        sim_problem *p = large_problem(seed);
        reply alone = solve(p, option, NULL);
        cr_assert(alone.out.residual < 0.1, "%g", alone.out.residual); /* it has come a way */
        for (int count = 1; count <= 3; count++) {
            sim_threads *threads = threads_create(count);
            reply r = solve(p, option, threads);
            cr_assert_arr_eq(r.v, alone.v, (size_t)p->nv * sizeof(double));
            cr_assert_arr_eq(r.impulse, alone.impulse, (size_t)p->nrow * sizeof(double));
            cr_assert(r.out.residual == alone.out.residual && r.out.iterations == alone.out.iterations);
            threads_free(threads);
            drop(&r);
        }
        drop(&alone);
        sim_problem_free(p);
    }
}

Test(subadmm_threads, vectors_and_single_numbers_answer_alike_to_rounding) {
    double option[16];
    standard(option);
    set(option, "iterations", 100);
    set(option, "acceleration", 0); /* guesses are made of differences, in which rounding shows first */
    for (uint64_t seed = 4; seed <= 6; seed++) {
        sim_problem *p = large_problem(seed);
        set(option, "lanes", 0);
        reply vector = solve(p, option, NULL);
        set(option, "lanes", 1);
        reply scalar = solve(p, option, NULL);
        double off = 0, size = 0;
        cr_assert(scalar.out.residual < 0.1, "%g", scalar.out.residual);
        for (int j = 0; j < p->nv; j++) {
            off = fmax(off, fabs(vector.v[j] - scalar.v[j]));
            size = fmax(size, fabs(scalar.v[j]));
        }
        cr_assert(off <= 1e-10 * size, "%g of %g", off, size);
        drop(&vector);
        drop(&scalar);
        sim_problem_free(p);
    }
}

/* Boxes pushed along on a plate, with a limb each or none: one island of more than 200 contacts, to which the stage
 * lends its threads. */
#define PLATE(limb)                                                                                                    \
    "{\"sim\": 1, \"world\": {\"step\": 0.005, \"duration\": 1, \"integrator\": \"symplectic\", \"solver\": "          \
    "\"subadmm\","                                                                                                     \
    " \"solver_options\": {\"iterations\": 30}}, \"models\": {\"box\": {\"bodies\": [{\"name\": \"box\", \"joint\": "  \
    "\"free\","                                                                                                        \
    " \"v\": [0.5, 0, 0, 0, 0, 0], \"shapes\": [{\"type\": \"box\", \"size\": [0.1, 0.1, 0.1], \"density\": "          \
    "1000}]}" limb "]}},"                                                                                              \
    " \"bodies\": [{\"name\": \"ground\", \"shapes\": [{\"type\": \"half_space\"}]}, {\"name\": \"plate\", "           \
    "\"joint\": "                                                                                                      \
    "\"free\","                                                                                                        \
    " \"pose\": {\"position\": [0, 0, 0.05]}, \"shapes\": [{\"type\": \"box\", \"size\": [3, 3, 0.1], \"density\": "   \
    "1000}]}],"                                                                                                        \
    " \"instances\": [{\"model\": \"box\", \"prefix\": \"box\", \"pose\": {\"position\": [0, 0, 0.15]},"               \
    " \"repeat\": {\"placement\": \"grid\", \"counts\": [9, 8, 1], \"spacing\": [0.2, 0.2, 0.2]}}]}"

static const char single[] = PLATE("");
static const char limbed[] =
    PLATE(", {\"name\": \"limb\", \"parent\": \"box\", \"joint\": {\"type\": \"hinge\", \"axis\": [1, 0, 0]},"
          " \"pose\": {\"position\": [0, 0, 0.05]}, \"shapes\": [{\"type\": \"box\","
          " \"size\": [0.05, 0.02, 0.02], \"density\": 1000}]}");

static void slide(const char *text, int threads, double *v, int *contacts, int *islands) {
    sim_error error = {0};
    sim_scene *scene = sim_scene_parse(text, strlen(text), "plate", NULL, NULL, &error);
    cr_assert(scene, "%s", error.text);
    scene->options.threads = threads;
    sim_world *w = sim_world_create(scene->model, &scene->options, &error);
    cr_assert(w, "%s", error.text);
    for (int k = 0; k < 12; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
    }
    *contacts = sim_world_info(w)->contacts;
    *islands = sim_world_info(w)->islands;
    memcpy(v, sim_world_state(w)->v, (size_t)scene->model->nv * sizeof *v);
    sim_world_free(w);
    sim_scene_free(scene);
}

static void lend(const char *text) {
    static double one[73 * 7], three[73 * 7];
    int contacts, islands;
    slide(text, 1, one, &contacts, &islands);
    slide(text, 3, three, &contacts, &islands);
    cr_assert_eq(memcmp(one, three, sizeof one), 0);
    cr_assert(contacts >= 200 && islands == 1, "%d contacts in %d islands", contacts, islands);
    cr_assert(one[6] > 0.1 && one[6] < 0.499, "%g m/s", one[6]); /* rubbing */
}

Test(subadmm_threads, lent_by_a_world_change_no_bit) {
    lend(single);
    lend(limbed);
}
