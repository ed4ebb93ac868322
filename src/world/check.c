/* Checks of a step: every number finite, nothing faster than light; and the failure in words. */
#include "world/step.h"

#include <math.h>
#include <stdio.h>

static const double LIGHT_SPEED = 299792458; /* m/s */
static const double MIN_CHECKED_SPEED = 1e6; /* m/s or rad/s: below, kinetic energy is not computed */

static bool is_finite_range(const double *x, int first, int count) {
    for (int k = first; k < first + count; k++) {
        if (!isfinite(x[k])) {
            return false;
        }
    }
    return true;
}

/* J of a tree's end velocities, with the masses of the free motion. */
static double kinetic_energy(motion_work *w, int tree) {
    const sim_tree *t = &w->model->tree[tree];
    double *momentum = w->v_point, twice = 0; /* its numbers are no longer needed */
    sim_mass_times(w->derived, sim_tree_range(w->model, tree), NULL, w->next->v, momentum);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        twice += w->next->v[j] * momentum[j];
    }
    return twice / 2;
}

/* More kinetic energy than the tree's mass has at the speed of light: no scene means that. */
static bool beyond_light(motion_work *w, int tree) {
    const sim_tree *t = &w->model->tree[tree];
    bool fast = false;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        fast |= fabs(w->next->v[j]) > MIN_CHECKED_SPEED;
    }
    return fast && !(kinetic_energy(w, tree) <= 0.5 * w->parts[tree].mass * LIGHT_SPEED * LIGHT_SPEED);
}

void check_tree(motion_work *w, int tree, worker_info *info) {
    const sim_tree *t = &w->model->tree[tree];
    if (info->bad_tree < 0 && (!is_finite_range(w->next->v, t->v0, t->nv) ||
                               !is_finite_range(w->next->q, t->q0, t->nq) || beyond_light(w, tree))) {
        info->bad_tree = tree;
    }
}

/* The fastest dof of the tree before the step: where a blow-up usually starts. */
static int fastest_dof(const motion_work *w, int tree) {
    const sim_tree *t = &w->model->tree[tree];
    int worst = t->v0;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        if (fabs(w->now->v[j]) > fabs(w->now->v[worst])) {
            worst = j;
        }
    }
    return worst;
}

static void describe_moment(const motion_work *w, int tree, char *text, size_t size) {
    int j = fastest_dof(w, tree);
    char name[128];
    sim_model_dof_name(w->model, j, name, sizeof name);
    snprintf(text, size, "in step %lld, t = %.9g s; fastest before it in its tree: \"%s\" at %.3g %s",
             (long long)w->now->step + 1, w->now->time + w->options->step, name, w->now->v[j],
             w->model->dof[j].turns ? "rad/s" : "m/s");
}

/* Names the first number that is not finite, in the order in which a step computes them. */
sim_status explain_failure(motion_work *w, const world_contacts *c, int tree, sim_error *error) {
    const sim_model *m = w->model;
    const sim_tree *t = &m->tree[tree];
    char name[128], when[256];
    describe_moment(w, tree, when, sizeof when);
    /* wrenches of the caller */
    for (int i = t->body0; i < t->body0 + t->nbody; i++) {
        if (!is_finite_range((const double *)&w->now->wrench[i], 0, 6)) {
            return sim_fail(error, SIM_FAILED, "the applied wrench of body \"%s\" is not finite %s", m->body[i].name,
                            when);
        }
    }
    /* numbers in the order in which they are made */
    const struct {
        const char *what;
        const double *value;
    } made[] = {{"the applied force", w->now->applied},
                {"the joint force", w->tau},
                {"the acceleration", c->stage ? w->a_out : w->next->a},
                {"the velocity without contacts", c->stage ? c->v_free : w->next->v},
                {"the velocity", w->next->v}};
    /* the first that is not finite */
    for (size_t k = 0; k < sizeof made / sizeof *made; k++) {
        for (int j = t->v0; j < t->v0 + t->nv; j++) {
            if (!isfinite(made[k].value[j])) {
                sim_model_dof_name(m, j, name, sizeof name);
                return sim_fail(error, SIM_FAILED, "%s of \"%s\" (body \"%s\") is not finite %s", made[k].what, name,
                                m->body[m->dof[j].body].name, when);
            }
        }
    }
    /* energies that are impossible, or coordinates */
    if (is_finite_range(w->next->q, t->q0, t->nq)) {
        return sim_fail(error, SIM_FAILED, "the tree of body \"%s\" would move faster than light, with %.3g J %s",
                        m->body[t->body0].name, kinetic_energy(w, tree), when);
    }
    return sim_fail(error, SIM_FAILED, "a coordinate of the tree of body \"%s\" is not finite %s",
                    m->body[t->body0].name, when);
}
