/* The default solver and law, with no option set, over a minute in long runs, else
 * 20 s; and SHORT_STEPS steps of all shipped scenes within the
 * first second, in long runs of all their time. */
#include "math/v3.h"
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <ftw.h>
#include <math.h>
#include <sim/sim.h>
#include <stdio.h>
#include <string.h>

static const double g = 9.81;

/* s: of a scene that must stand, which settles in the first half and may creep in the second */
static double standing_time(void) { return span_of(60, 20); }

/* ---- stacks ---- */

ParameterizedTestParameters(defaults_long, stack_of_eight_stands) {
    static double load[] = {1, 100, 1000, 1e4};
    return cr_make_param_array(double, load, sizeof load / sizeof *load);
}

/* Gaps are zero at first, so contacts take up the load: within 2 s the stack swings in and comes to rest. */
ParameterizedTest(const double *load, defaults_long, stack_of_eight_stands) {
    yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
    yard_ground(&y);
    for (int k = 0; k < 8; k++) {
        char name[] = {'b', (char)('0' + k), 0};
        yard_add(&y, name, SIM_BOX, 0.2, 0.2, 0.2, k < 7 ? 1 : *load, v3_make(0, 0, 0.1 + 0.2 * k), v3_make(0, 0, 0));
    }
    yard_open(&y, NULL, SIM_MIDPOINT, 1.0 / 240);
    v3 settled = {0};
    double whole = standing_time();
    while (sim_world_state(y.world)->time < whole) {
        yard_step(&y);
        settled = sim_world_state(y.world)->time < whole / 2 ? place_of(&y, "b7") : settled;
    }
    v3 top = place_of(&y, "b7");
    double creep = v3_norm(v3_sub(top, settled)) / (whole / 2);
    cr_log_warn("%g kg: top moved by %.1e m, sank by %.1e m, creeps at %.1e m/s; %d unsolved", *load,
                hypot(top.x, top.y), 1.5 - top.z, creep, y.unsolved);
    cr_expect_lt(hypot(top.x, top.y), 2e-3);
    cr_expect_lt(fabs(top.z - 1.5), 5e-4);
    cr_expect_lt(creep, 1e-9, "%g m/s", creep);
    cr_expect_eq(y.unsolved, 0);
    yard_end(&y);
}

/* ---- scenes ---- */

typedef struct standing {
    char scene[40];       /* parameters go to other processes: no pointers */
    double moves, creeps; /* m, from the start on; m/s, in the second half */
} standing;

ParameterizedTestParameters(defaults_long, scene_stands) {
    static standing of[] = {{"scenes/contact/arch.json", 3e-3, 1e-9},
                            {"scenes/contact/cards.json", 1e-3, 1e-9},
                            {"scenes/contact/wedge.json", 0.1, 1e-9}, /* it falls until it is stuck */
                            {"scenes/contact/tables.json", 1e-3, 1e-9},
                            {"scenes/contact/stack.json", 1e-3, 1e-9}};
    return cr_make_param_array(standing, of, sizeof of / sizeof *of);
}

static double farthest(sim_world *w, const v3 *from, int count) {
    double most = 0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, v3_norm(v3_sub(sim_world_derived(w)->pose[i].p, from[i])));
    }
    return most;
}

static void note_places(sim_world *w, v3 *at, int count) {
    for (int i = 0; i < count; i++) {
        at[i] = sim_world_derived(w)->pose[i].p;
    }
}

ParameterizedTest(const standing *of, defaults_long, scene_stands) {
    enum { MOST_BODIES = 100 };
    v3 start[MOST_BODIES], settled[MOST_BODIES];
    sim_error error = {0};
    sim_scene *scene = sim_scene_load(of->scene, NULL, NULL, &error);
    cr_assert(scene, "%s", error.text);
    cr_assert_eq(scene->options.solver, sim_solver_default(), "%s chooses a solver", of->scene);
    sim_world *w = sim_world_create(scene->model, &scene->options, &error);
    int count = scene->model->nbody, unsolved = 0;
    double moves = 0, whole = standing_time();
    cr_assert(w && count <= MOST_BODIES, "%s", error.text);
    note_places(w, start, count);
    note_places(w, settled, count);
    for (bool half = false; sim_world_state(w)->time < whole;) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
        unsolved += sim_world_info(w)->unsolved;
        moves = fmax(moves, farthest(w, start, count));
        if (!half && sim_world_state(w)->time >= whole / 2) {
            half = true;
            note_places(w, settled, count);
        }
    }
    double creep = farthest(w, settled, count) / (whole / 2);
    cr_log_warn("%s: moved by %.1e m, creeps at %.1e m/s; %d unsolved", of->scene, moves, creep, unsolved);
    cr_expect_lt(moves, of->moves, "%s moves by %g m", of->scene, moves);
    cr_expect_lt(creep, of->creeps, "%s creeps at %g m/s", of->scene, creep);
    cr_expect_eq(unsolved, 0, "%s: %d", of->scene, unsolved);
    sim_world_free(w);
    sim_scene_free(scene);
}

/* ---- all shipped scenes ---- */

typedef struct shipped {
    char path[80];
} shipped;

enum { MOST_SCENES = 200, SHORT_STEPS = 20 };
static shipped all[MOST_SCENES];
static int found;

static int note_scene(const char *path, const struct stat *about, int type) {
    size_t length = strlen(path);
    (void)about;
    if (type == FTW_F && length > 5 && !strcmp(path + length - 5, ".json") && !strstr(path, ".schema.json")) {
        cr_assert(found < MOST_SCENES && length < sizeof all->path, "%s", path);
        snprintf(all[found++].path, sizeof all->path, "%s", path);
    }
    return 0;
}

ParameterizedTestParameters(defaults_long, no_step_of_a_shipped_scene_is_unsolved) {
    cr_assert_eq(ftw("scenes", note_scene, 8), 0);
    return cr_make_param_array(shipped, all, (size_t)found);
}

ParameterizedTest(const shipped *of, defaults_long, no_step_of_a_shipped_scene_is_unsolved) {
    sim_error error = {0};
    sim_scene *scene = sim_scene_load(of->path, NULL, NULL, &error);
    cr_assert(scene, "%s", error.text);
    sim_world *w = sim_world_create(scene->model, &scene->options, &error);
    cr_assert(w, "%s: %s", of->path, error.text);
    int unsolved = 0, steps = 0;
    double until = long_runs() ? scene->duration : fmin(1, scene->duration); /* s */
    while (sim_world_state(w)->time < until && (long_runs() || steps < SHORT_STEPS)) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s: %s", of->path, error.text);
        unsolved += sim_world_info(w)->unsolved > 0 || sim_world_info(w)->nonconverged > 0;
        steps++;
    }
    cr_expect_eq(unsolved, 0, "%s: %d of %d steps", of->path, unsolved, steps);
    sim_world_free(w);
    sim_scene_free(scene);
}
