#include "support/touched.h"

#include "math/v3.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double step = 1e-3;

static void take_state(touched *t, const double *q, const double *v, int extra) {
    const sim_model *m = t->model;
    double *tau = calloc((size_t)m->nv + 1, sizeof *tau), *a = calloc((size_t)m->nv + 1, sizeof *a);
    for (int k = 0; k < m->nq; k++) {
        t->q[k] = q ? q[k] : m->q_initial[k];
    }
    for (int j = 0; j < m->nv; j++) {
        t->v[j] = v ? v[j] : 0;
        t->extra[j] = extra ? 0.01 * (1 + j % 3) : 0;
    }
    sim_kinematics(t->derived, sim_all(m), t->q);
    sim_velocities(t->derived, sim_all(m), t->v);
    sim_aba(t->derived, sim_all(m), tau, NULL, m->gravity, t->extra, NULL, a);
    for (int j = 0; j < m->nv; j++) {
        t->v_free[j] = t->v[j] + step * a[j];
    }
    free(tau);
    free(a);
}

static void take_output(touched *t, int count) {
    const sim_model *m = t->model;
    size_t nv = (size_t)m->nv + 1;
    t->out.v = calloc(nv, sizeof(double));
    t->out.shift = calloc(nv, sizeof(double));
    t->out.held = calloc(nv, sizeof(double));
    t->out.pressed = calloc(nv, sizeof(double));
    t->out.joint_impulse = calloc(SIM_JOINT_ROWS * nv, sizeof(double));
    t->out.equality_impulse = calloc(SIM_MAX_ROWS * (size_t)m->nequality + 1, sizeof(double));
    t->out.touched = calloc((size_t)m->ntree + 1, 1);
    t->out.unsolved = calloc((size_t)m->ntree + 1, 1);
    t->out.impulse = calloc((size_t)count + 1, sizeof(sim_v3));
    t->out.impulse_trend = calloc((size_t)count + 1, sizeof(sim_v3));
}

touched *touched_create(sim_model *m, const double *q, const double *v, int extra, const sim_contact *contact,
                        int count, const char *solver, int bodies) {
    touched *t = calloc(1, sizeof *t);
    size_t nv = (size_t)m->nv + 1;
    const sim_solver_info *info = sim_solver_find(solver);
    contact_options options = {.solver = info,
                               .compliance = info->default_law,
                               .law = sim_law_options_default(),
                               .threads = 1,
                               .bodies = bodies};
    t->model = m;
    t->derived = sim_derived_create(m, NULL);
    t->q = calloc((size_t)m->nq + 1, sizeof *t->q);
    t->v = calloc(nv, sizeof *t->v);
    t->v_free = calloc(nv, sizeof *t->v);
    t->extra = calloc(nv, sizeof *t->v);
    t->contact = calloc((size_t)count + 1, sizeof *t->contact);
    for (int k = 0; k < count; k++) {
        t->contact[k] = contact[k];
        t->contact[k].shape_a = t->contact[k].shape_b = k;
        t->contact[k].at.feature = (uint64_t)k;
    }
    take_state(t, q, v, extra);
    take_output(t, count);
    t->threads = threads_create(1);
    t->stage = contact_stage_create(m, &options, NULL);
    assert(t->threads && t->stage);
    t->in = (contact_input){.start = t->derived,
                            .mass = t->derived,
                            .extra = t->extra,
                            .q_start = t->q,
                            .v_start = t->v,
                            .v_free = t->v_free,
                            .step = step,
                            .travel = 1,
                            .contact = t->contact,
                            .ncontact = count,
                            .equality = m->equality,
                            .joint_before = calloc(SIM_JOINT_ROWS * nv, sizeof(double)),
                            .equality_before = calloc(SIM_MAX_ROWS * (size_t)m->nequality + 1, sizeof(double))};
    return t;
}

void touched_free(touched *t) {
    contact_stage_free(t->stage);
    threads_free(t->threads);
    sim_derived_free(t->derived);
    sim_model_free(t->model);
    void *all[] = {t->q,
                   t->v,
                   t->v_free,
                   t->extra,
                   t->contact,
                   t->out.v,
                   t->out.shift,
                   t->out.held,
                   t->out.pressed,
                   t->out.joint_impulse,
                   t->out.equality_impulse,
                   t->out.touched,
                   t->out.unsolved,
                   t->out.impulse,
                   t->out.impulse_trend,
                   (void *)t->in.joint_before,
                   (void *)t->in.equality_before,
                   t};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        free(all[k]);
    }
}

const sim_problem *touched_build(touched *t, int island) {
    sim_status status = contact_stage_build(t->stage, &t->in, t->threads, NULL);
    assert(!status);
    return status ? NULL : contact_stage_island(t->stage, island);
}

void touched_solve(touched *t) {
    sim_status status = contact_stage_solve(t->stage, t->threads, &t->out, NULL);
    assert(!status);
    (void)status;
}

static sim_contact contact_of(int a, int b, v3 position, v3 normal) {
    return (sim_contact){.body_a = a,
                         .body_b = b,
                         .at = {.position = position, .normal = normal, .gap = -1e-4},
                         .friction = 0.5,
                         .stiffness = INFINITY};
}

void random_contacts(random_source *r, const sim_model *m, const double *q, int count, sim_contact *contact) {
    sim_derived *d = sim_derived_create(m, NULL);
    sim_poses(d, sim_all(m), q);
    for (int k = 0; k < count; k++) {
        int a = 1 + random_index(r, m->nbody - 1), b = random_index(r, m->nbody);
        b = b == a ? 0 : b;
        v3 p = v3_axpy(d->pose[a].p, random_uniform(r, 0, 0.5), random_unit(r));
        contact[k] = contact_of(a, b, p, random_unit(r));
    }
    sim_derived_free(d);
}

int standing_contacts(const sim_model *m, int each, sim_contact *contact) {
    sim_derived *d = sim_derived_create(m, NULL);
    int count = 0;
    sim_poses(d, sim_all(m), m->q_initial);
    for (int i = 1; i < m->nbody; i++) {
        for (int k = 0; k < each && m->body[i].subtree_end == i + 1; k++) {
            v3 p = v3_add(d->pose[i].p, v3_make(0.05 * (k % 2), 0.03 * k, -0.3));
            contact[count++] = contact_of(i, 0, p, v3_make(0, 0, 1));
        }
    }
    sim_derived_free(d);
    return count;
}

int looped_contacts(const sim_model *m, int turn, int each, sim_contact *contact) {
    sim_derived *d = sim_derived_create(m, NULL);
    int count = 0;
    sim_poses(d, sim_all(m), m->q_initial);
    for (int i = 1; i + turn < m->nbody; i++) {
        for (int k = 0; k < each; k++) {
            v3 p = v3_add(d->pose[i + turn].p, v3_make(0.02 * k, 0, 0));
            contact[count++] = contact_of(i + turn, i, p, v3_make(0, 0, 1));
        }
    }
    sim_derived_free(d);
    return count;
}
