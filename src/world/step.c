/* The step.
 *
 *     every tree as if it touched nothing  ->  contacts: end velocities of what touches  ->  positions
 *
 * from `now` to `next`; then, if every number is finite and nothing is faster than light, the two change places.  A step happens whole or not at all. */
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double LIGHT = 299792458;    /* m/s */
static const double WORTH_WEIGHING = 1e6; /* m/s or rad/s: below, kinetic energy is not looked at */

static int finite(const double *x, int first, int count) {
    for (int k = first; k < first + count; k++) {
        if (!isfinite(x[k])) {
            return 0;
        }
    }
    return 1;
}

/* J of a tree's end velocities, with the masses of the free motion. */
static double kinetic(sim_world *w, int tree) {
    const sim_tree *t = &w->model->tree[tree];
    double *momentum = w->v_point, twice = 0; /* of nobody any more */
    sim_mass_times(w->derived, sim_tree_range(w->model, tree), NULL, w->next.v, momentum);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        twice += w->next.v[j] * momentum[j];
    }
    return twice / 2;
}

/* No run goes on with a tree that has more kinetic energy than its mass at the speed of light: whatever it was that put
 * that in, it was not what the scene means. */
static int beyond_light(sim_world *w, int tree) {
    const sim_tree *t = &w->model->tree[tree];
    int fast = 0;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        fast |= fabs(w->next.v[j]) > WORTH_WEIGHING;
    }
    return fast && !(kinetic(w, tree) <= 0.5 * w->parts[tree].mass * LIGHT * LIGHT);
}

static void check_finite(sim_world *w, int tree, worker_info *mine) {
    const sim_tree *t = &w->model->tree[tree];
    if (mine->bad_tree < 0 &&
        (!(finite(w->next.v, t->v0, t->nv) && finite(w->next.q, t->q0, t->nq)) || beyond_light(w, tree))) {
        mine->bad_tree = tree;
    }
}

/* One thread's share of the trees: all the way where nothing can touch, else as far as the free motion. */
static void step_trees(void *context, int worker, int first, int end) {
    sim_world *w = context;
    worker_info *mine = &w->worker[worker];
    for (int tree = first; tree < end; tree++) {
        const sim_tree *t = &w->model->tree[tree];
        sim_step_info info;
        if (t->nv == 0) {
            continue;
        }
        if (world_sleeps(w, tree)) {
            mine->info.saturated += w->stage ? 0 : world_sleep_pass(w, tree);
            continue;
        }
        if (w->options.integrator == SIM_RK4) {
            world_rk4_step(w, tree, &info);
        } else {
            world_theta_free(w, tree, &info);
        }
        world_info_add(&mine->info, &info);
        if (!w->stage) {
            if (w->options.integrator != SIM_RK4) {
                world_theta_finish(w, tree);
            }
            check_finite(w, tree, mine);
        }
    }
}

/* What held it has let go: it moved freely, without that. */
static void free_again(sim_world *w, int tree, worker_info *mine) {
    const sim_tree *t = &w->model->tree[tree];
    sim_step_info info;
    memset(w->held + t->v0, 0, (size_t)t->nv * sizeof *w->held);
    world_theta_free(w, tree, &info);
    world_info_add(&mine->info, &info);
}

static void finish_trees(void *context, int worker, int first, int end) {
    sim_world *w = context;
    for (int tree = first; tree < end; tree++) {
        if (world_sleeps(w, tree)) {
            w->worker[worker].info.saturated += world_sleep_pass(w, tree);
        } else if (w->in_contact[tree]) {
            world_theta_finish_in_contact(w, tree);
        } else if (w->model->tree[tree].nv) {
            if (world_held(w, tree)) {
                free_again(w, tree, &w->worker[worker]);
            }
            world_theta_finish(w, tree);
        }
        check_finite(w, tree, &w->worker[worker]);
    }
}

/* The fastest dof of the tree before the step: where a blow-up usually starts. */
static int fastest(const sim_world *w, int tree) {
    const sim_tree *t = &w->model->tree[tree];
    int worst = t->v0;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        if (fabs(w->now.v[j]) > fabs(w->now.v[worst])) {
            worst = j;
        }
    }
    return worst;
}

static void describe_moment(const sim_world *w, int tree, char *text, size_t size) {
    int j = fastest(w, tree);
    char name[128];
    sim_model_dof_name(w->model, j, name, sizeof name);
    snprintf(text, size, "in step %lld, t = %.9g s; fastest before it in its tree: \"%s\" at %.3g %s",
             (long long)w->now.step + 1, w->now.time + w->options.step, name, w->now.v[j],
             w->model->dof[j].turns ? "rad/s" : "m/s");
}

/* What was the first number to go wrong, in the order in which a step makes them? */
static sim_status explain(sim_world *w, int tree, sim_error *error) {
    const sim_model *m = w->model;
    const sim_tree *t = &m->tree[tree];
    const struct {
        const char *what;
        const double *value;
    } made[] = {{"the applied force", w->applied},
                {"the joint force", w->tau},
                {"the acceleration", w->stage ? w->a_out : w->next.a},
                {"the velocity without contacts", w->stage ? w->v_free : w->next.v},
                {"the velocity", w->next.v}};
    char name[128], when[256];
    describe_moment(w, tree, when, sizeof when);
    for (size_t k = 0; k < sizeof made / sizeof *made; k++) {
        for (int j = t->v0; j < t->v0 + t->nv; j++) {
            if (!isfinite(made[k].value[j])) {
                sim_model_dof_name(m, j, name, sizeof name);
                return sim_fail(error, SIM_FAILED, "%s of \"%s\" (body \"%s\") is not finite %s", made[k].what, name,
                                m->body[m->dof[j].body].name, when);
            }
        }
    }
    if (finite(w->next.q, t->q0, t->nq)) {
        return sim_fail(error, SIM_FAILED, "the tree of body \"%s\" would move faster than light, with %.3g J %s",
                        m->body[t->body0].name, kinetic(w, tree), when);
    }
    return sim_fail(error, SIM_FAILED, "a coordinate of the tree of body \"%s\" is not finite %s",
                    m->body[t->body0].name, when);
}

/* Actuators at their limit: free motion's count may not be that with contacts. */
static int at_limit(const sim_world *w) {
    int count = 0;
    for (int k = 0; k < w->model->nactuator; k++) {
        count += fabs(w->next.effort[k]) >= w->model->actuator[k].effort;
    }
    return count;
}

sim_status sim_world_step(sim_world *w, sim_error *error) {
    int threads = sim_threads_count(w->threads);
    for (int k = 0; k < threads; k++) {
        w->worker[k] = (worker_info){.bad_tree = -1};
    }
    w->shown = w->touched = 0;

    w->info = (sim_step_info){0};
    w->since = w->profile ? w->profile->clock.now(w->profile->clock.context) : 0;
    if (w->sleep) {
        world_sleep_begin(w);
    }
    if (w->stage) {
        world_hold_lasting(w);
    }
    sim_threads_run(w->threads, w->model->ntree, step_trees, w);
    world_spend(w, SIM_TIME_FREE);
    if (w->stage) {
        sim_status status = world_contacts_step(w, error);
        if (status) {
            return status;
        }
        sim_threads_run(w->threads, w->model->ntree, finish_trees, w);
    }
    for (int k = 0; k < threads; k++) {
        world_info_add(&w->info, &w->worker[k].info);
        if (w->worker[k].bad_tree >= 0) {
            return explain(w, w->worker[k].bad_tree, error);
        }
    }
    if (w->sleep) {
        world_sleep_end(w);
    }
    if (w->stage) {
        w->info.saturated = at_limit(w);
    }
    world_leave_trail(w);
    w->next.step = w->now.step + 1;
    w->next.time0 = w->now.time0;
    w->next.time = w->next.time0 + (double)w->next.step * w->options.step;
    sim_state before = w->now;
    w->now = w->next;
    w->next = before;
    world_spend(w, SIM_TIME_INTEGRATE);
    return SIM_OK;
}
