/* A hand that sets a pot on a pile of dishes, scenes/robots/panda_stacks_dishes.json: how far the dishes move once it let go. */
#ifndef TESTS_CONTROL_DISHES_H
#define TESTS_CONTROL_DISHES_H

#include "math/spatial.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/sim.h>
#include <stdio.h>
#include <string.h>

#define DISHES 4

typedef struct piling {
    sim_scene *scene;
    sim_world *world;
    int dish[DISHES];   /* bodies, from below */
    v3 at[DISHES];      /* m: where they were when the hand last touched one */
    double moved, held; /* m, since then; s, time of that touch */
    int unsolved;       /* steps */
} piling;

static inline piling begin_piling(const char *solver, const char *law) {
    static const char *const names[DISHES] = {"bowl", "second_bowl", "plate", "pot"};
    char set[2][80];
    snprintf(set[0], sizeof set[0], "world/solver=\"%s\"", solver);
    snprintf(set[1], sizeof set[1], "world/compliance=\"%s\"", law);
    const char *const words[] = {set[0], set[1]};
    sim_scene_overrides overrides = {.count = 2, .set = words};
    sim_error error;
    piling p = {.scene = sim_scene_load("scenes/robots/panda_stacks_dishes.json", &overrides, NULL, &error)};
    cr_assert_not_null(p.scene, "%s", error.text);
    p.world = sim_world_create(p.scene->model, &p.scene->options, &error);
    cr_assert_not_null(p.world, "%s", error.text);
    for (int i = 0; i < DISHES; i++) {
        p.dish[i] = sim_model_find_body(p.scene->model, names[i]);
        p.at[i] = sim_world_derived(p.world)->pose[p.dish[i]].p;
    }
    return p;
}

static inline bool of_hand(const piling *p, int body) {
    return strncmp(p->scene->model->body[body].name, "hand_", 5) == 0;
}

static inline bool hand_touches(const piling *p) {
    const sim_state *now = sim_world_state(p->world);
    bool touches = false;
    for (int i = 0; i < now->ncontact; i++) {
        const sim_contact *c = &now->contact[i];
        touches = touches || of_hand(p, c->body_a) != of_hand(p, c->body_b);
    }
    return touches;
}

static inline void pile_on(piling *p, double seconds) {
    sim_error error;
    const pose *X = sim_world_derived(p->world)->pose;
    for (int n = 0; n < (int)lround(seconds * 240); n++) {
        cr_assert_eq(sim_world_step(p->world, &error), SIM_OK, "%s", error.text);
        p->unsolved += sim_world_info(p->world)->unsolved > 0;
        bool touched = hand_touches(p);
        p->held = touched ? sim_world_state(p->world)->time : p->held;
        p->moved = touched ? 0 : p->moved;
        for (int i = 0; i < DISHES; i++) {
            p->at[i] = touched ? X[p->dish[i]].p : p->at[i];
            p->moved = fmax(p->moved, v3_norm(v3_sub(X[p->dish[i]].p, p->at[i])));
        }
    }
}

static inline void end_piling(piling *p) {
    sim_world_free(p->world);
    sim_scene_free(p->scene);
}

#endif
