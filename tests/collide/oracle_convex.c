/* Every pair of convex shapes against the oracle.
 *
 * SIM_ORACLE_SCENES=100000 for that many scenes a pair in place of a few hundred; SIM_ORACLE_PAIR="box capsule" for one
 * pair; SIM_ORACLE_TABLE=1 prints what is reached, pair by pair; SIM_ORACLE_SHOW=2 the first two scenes of each
 * fault. */
#include "oracle/check.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <stdlib.h>
#include <string.h>

static long from_environment(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

static int is_asked_for(sim_shape_type a, sim_shape_type b) {
    const char *pair = getenv("SIM_ORACLE_PAIR");
    char name[64];
    snprintf(name, sizeof name, "%s %s", sim_shape_name(a), sim_shape_name(b));
    return !pair || !strcmp(pair, name);
}

static void hold_pair(const stock *from, sim_shape_type a, sim_shape_type b, long scenes) {
    if (!is_asked_for(a, b)) {
        return;
    }
    tally t;
    memset(&t, 0, sizeof t);
    random_source r = {(uint64_t)(100 * a + b)};
    scenes = oracle_scenes(scenes);
    for (long k = 0; k < scenes; k++) {
        scene s;
        if (scene_random(&r, from, a, b, (category)(k % CATEGORIES), &s)) {
            scene_check(&s, &t, stderr, (int)from_environment("SIM_ORACLE_SHOW", 1));
        }
    }
    char name[64];
    snprintf(name, sizeof name, "%s - %s", sim_shape_name(a), sim_shape_name(b));
    if (from_environment("SIM_ORACLE_TABLE", 0)) {
        tally_print(stderr, name, &t, 1);
    }
    cr_expect_gt(t.scenes, scenes / 2);
    cr_expect_eq(t.wrong, 0, "%s: %ld of %ld scenes are wrong", name, t.wrong, t.scenes);
}

/* Pairs of `a` with itself and all later types. */
static void hold_row(sim_shape_type a, long scenes) {
    stock from;
    stock_make(&from);
    for (int b = a; b <= SIM_MESH; b++) {
        if (a != SIM_HALF_SPACE || b != SIM_HALF_SPACE) {
            hold_pair(&from, a, (sim_shape_type)b, scenes);
        }
    }
    stock_free(&from);
}

Test(oracle_convex, spheres_against_every_convex_shape) { hold_row(SIM_SPHERE, 660); }
Test(oracle_convex, boxes_against_every_convex_shape) { hold_row(SIM_BOX, 660); }
Test(oracle_convex, capsules_against_every_convex_shape) { hold_row(SIM_CAPSULE, 660); }
Test(oracle_convex, cylinders_against_every_convex_shape) { hold_row(SIM_CYLINDER, 660); }
Test(oracle_convex, ellipsoids_against_every_convex_shape) { hold_row(SIM_ELLIPSOID, 660); }
Test(oracle_convex, half_spaces_against_every_convex_shape) { hold_row(SIM_HALF_SPACE, 660); }
Test(oracle_convex, hulls_against_hulls_and_convex_meshes) { hold_row(SIM_CONVEX, 660); }
Test(oracle_convex, convex_meshes_against_each_other) { hold_row(SIM_MESH, 660); }
