/* How many of the hard random problems does each strict solver answer?
 *
 * Bodies that float, contacts at random places with random normals, all met at once at speed, with offsets of the gaps:
 * far harder than anything that rests, and some have no answer at all, where one body has eight contacts and friction
 * locks it. Solved: E within 1e-8.  A hundred problems of each family, the same for all; no clock. */
#include "support/answers.h"
#include "support/judged.h"
#include "support/problems.h"
#include "support/quick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int bodies, contacts;
    double friction;
} family[] = {{3, 4, 0.1}, {3, 4, 1},   {4, 10, 0.1}, {4, 10, 0.5}, {4, 10, 1},
              {4, 10, 2},  {1, 8, 0.1}, {1, 8, 0.5},  {1, 8, 1}};
enum { FAMILIES = sizeof family / sizeof *family, MOST_OPTIONS = 32 };

/* Solvers with their options. */
static const struct {
    const char *title, *solver, *option[2];
    double value[2];
} entrant[] = {
    {"incp, no restart", "incp", {"restart"}, {0}},
    {"incp, once from 100 sweeps", "incp", {"restart"}, {1}},
    {"incp", "incp", {NULL}, {0}},
    {"incp, no edges, no restart", "incp", {"restart", "edges"}, {0, 0}},
    {"mncp-rlm", "mncp-rlm", {NULL}, {0}},
    {"mncp-plm", "mncp-plm", {NULL}, {0}},
    {"nsn, fixed point", "nsn", {"friction"}, {0}},
    {"nsn", "nsn", {NULL}, {0}},
    {"pgs, 3000 sweeps", "pgs", {"max_iterations", "acceleration"}, {3000, 0}},
    {"pgs, 3000, guesses ahead", "pgs", {"max_iterations"}, {3000}},
    {"subadmm, 3000", "subadmm", {"max_iterations", "tolerance"}, {3000, 1e-8}},
    {"canal", "canal", {NULL}, {0}},
    {"auto", "auto", {NULL}, {0}},
};
enum { ENTRANTS = sizeof entrant / sizeof *entrant };

static void options_of(int who, double *option) {
    const sim_solver_info *info = sim_solver_find(entrant[who].solver);
    for (int k = 0; k < info->noptions; k++) {
        option[k] = info->option[k].default_value;
        for (int j = 0; j < 2 && entrant[who].option[j]; j++) {
            option[k] = strcmp(info->option[k].name, entrant[who].option[j]) == 0 ? entrant[who].value[j] : option[k];
        }
    }
}

static int solved(const sim_problem *p, int who, long *iterations) {
    double option[MOST_OPTIONS];
    sim_law_options law = sim_law_options_default();
    answer a = answer_create(p, 1, 1e-3);
    sim_regularise(p, SIM_RIGID, &law, NULL, a.R, a.target);
    options_of(who, option);
    answer_find(&a, entrant[who].solver, option);
    int good = certificate_of(p, &a.law, SIM_CONE_STRICT, a.v, a.impulse).E <= 1e-8 * (1 + 1e-6);
    *iterations += good ? a.out.iterations : 0;
    answer_free(&a);
    return good;
}

int main(int count, char **word) {
    int problems = asked_quick(count, word) ? 3 : 100;
    printf("sim %s, %s\n%d problems of each family; solved, and iterations of those in the mean\n\n| solver |",
           sim_version(), sim_build_info(), problems);
    for (int f = 0; f < FAMILIES; f++) {
        printf(" %d, %d, %g |", family[f].bodies, family[f].contacts, family[f].friction);
    }
    printf("\n|---|");
    for (int f = 0; f < FAMILIES; f++) {
        printf("---|");
    }
    for (int who = 0; who < ENTRANTS; who++) {
        printf("\n| %s |", entrant[who].title);
        for (int f = 0; f < FAMILIES; f++) {
            random_source r = {100};
            problem_recipe recipe = {.bodies = family[f].bodies,
                                     .contacts = family[f].contacts,
                                     .friction = family[f].friction,
                                     .bias = 0.1,
                                     .impact = 1,
                                     .scatter = 0.6};
            int good = 0;
            long iterations = 0;
            for (int k = 0; k < problems; k++) {
                sim_problem *p = random_problem(&r, &recipe);
                good += solved(p, who, &iterations);
                sim_problem_free(p);
            }
            printf(" %d, %.0f |", good, good ? (double)iterations / good : 0);
            fflush(stdout);
        }
    }
    printf("\n");
    return 0;
}
