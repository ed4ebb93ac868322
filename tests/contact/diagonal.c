/* The diagonal blocks of W that a step hands to its solver are those of the problem that it solves. */
#include <criterion/criterion.h>
#include <sim/method.h>
#include <sim/scene.h>
#include <stdlib.h>
#include <string.h>

/* A rod that strikes leaning, whose restitution a step bounds; a box at rest; an arm whose motor is at its limit. */
static const char *const scene_text =
    "{\"sim\": 1, \"world\": {\"step\": 0.005, \"solver\": \"watcher\"},"
    " \"materials\": [{\"name\": \"m\", \"friction\": 0.6, \"restitution\": 0.8}, {\"name\": \"dull\", \"friction\": "
    "0.6}],"
    " \"bodies\": [{\"name\": \"ground\", \"shapes\": [{\"type\": \"half_space\", \"material\": \"m\"}]},"
    " {\"name\": \"rod\", \"joint\": \"free\", \"pose\": {\"position\": [0, 0, 0.6], \"rpy_deg\": [0, 40, 0]},"
    "  \"shapes\": [{\"type\": \"capsule\", \"radius\": 0.02, \"length\": 1, \"density\": 1000, \"material\": \"m\"}]},"
    " {\"name\": \"box\", \"joint\": \"free\", \"pose\": {\"position\": [3, 0, 0.1]},"
    "  \"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.3, 0.2], \"density\": 1000, \"material\": \"dull\"}]},"
    " {\"name\": \"arm\", \"pose\": {\"position\": [6, 0, 0.1]}, \"joint\": {\"type\": \"hinge\", \"axis\": [0, 1, 0]},"
    "  \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.05, \"density\": 1000, \"material\": \"m\","
    "   \"pose\": {\"position\": [0.3, 0, 0]}}]}],"
    " \"actuators\": [{\"joint\": \"arm\", \"kp\": 100, \"effort\": 1, \"target\": 1.5}]}";

typedef struct tally {
    int known, unknown, different;
    int parts; /* problems with a part of the restitution of their materials */
} tally;

static tally seen;

/* acn, after a look at the blocks of the problem. */
static sim_status watch_and_solve(sim_solver_call *call) {
    const sim_problem *p = call->problem;
    if (p->diagonal) {
        sim_problem blank = *p;
        size_t size = sim_delassus_diagonal_size(p);
        double *W = malloc((size + 1) * sizeof *W);
        blank.diagonal = NULL;
        cr_assert_eq(sim_delassus_diagonal(&blank, W, NULL), SIM_OK);
        seen.different += memcmp(W, p->diagonal, size * sizeof *W) != 0;
        free(W);
    }
    seen.known += p->diagonal != NULL;
    seen.unknown += p->diagonal == NULL;
    for (int i = 0; i < p->nconstraint && p->diagonal; i++) {
        seen.parts += p->constraint[i].restitution > 0 && p->constraint[i].restitution < 0.79;
    }
    sim_regularisation law = {call->R, call->target};
    sim_solver *acn = sim_solver_create(sim_solver_find("acn"), NULL, NULL);
    sim_status status = sim_solver_solve(acn, p, &law, call->out, NULL);
    sim_solver_free(acn);
    return status;
}

static void run(sim_compliance compliance, int steps) {
    sim_error error = {0};
    sim_solver_method watcher = {.info = *sim_solver_find("acn"), .solve = watch_and_solve};
    watcher.info.name = "watcher";
    sim_solver_registry *solvers = sim_solver_registry_create(&error);
    cr_assert(sim_solver_register(solvers, &watcher, &error), "%s", error.text);
    sim_scene_overrides own = {.solvers = solvers};
    sim_scene *scene = sim_scene_parse(scene_text, strlen(scene_text), "diagonal.json", &own, NULL, &error);
    cr_assert(scene, "%s", error.text);
    scene->options.compliance = compliance;
    sim_world *world = sim_world_create(scene->model, &scene->options, &error);
    cr_assert(world, "%s", error.text);
    seen = (tally){0};
    for (int k = 0; k < steps; k++) {
        cr_assert_eq(sim_world_step(world, &error), SIM_OK, "%s", error.text);
    }
    sim_world_free(world);
    sim_scene_free(scene);
    sim_solver_registry_free(solvers);
}

/* Parts of a restitution change no inverse mass.  An actuator at its limit is out of A: the problem of its tree has other
 * blocks than that of the law, and is told none. */
Test(diagonal, is_that_of_the_problem_to_the_bit_or_not_told) {
    run(SIM_ELASTIC, 200);
    cr_expect_eq(seen.different, 0, "%d of %d", seen.different, seen.known);
    cr_expect_gt(seen.known, 100, "%d", seen.known);
    cr_expect_gt(seen.unknown, 20, "%d", seen.unknown);
    cr_expect_gt(seen.parts, 0);
}

/* The rigid law asks for none. */
Test(diagonal, is_not_computed_for_a_law_that_has_no_compliance) {
    run(SIM_RIGID, 200);
    cr_expect_eq(seen.known, 0);
    cr_expect_gt(seen.unknown, 100, "%d", seen.unknown);
}
