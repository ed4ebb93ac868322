/* Snapshots: copies of a world's state that the caller keeps; states compared bit by bit. */
#include "world/core/world.h"

#include <stdlib.h>
#include <string.h>

struct sim_snapshot {
    memory_pool *pool;
    const sim_model *model;
    sim_state state;
    sim_rest *rest; /* [ntree] of worlds in which bodies sleep */
    int room;       /* for contacts */
};

sim_snapshot *sim_snapshot_create(const sim_world *w, sim_error *error) {
    const sim_model *m = w->model;
    memory_pool *pool = pool_create();
    sim_snapshot *s = pool ? POOL_NEW(pool, sim_snapshot, 1) : NULL;
    if (s) {
        *s = (sim_snapshot){.pool = pool, .model = m, .rest = POOL_NEW(pool, sim_rest, m->ntree)};
    }
    if (!s || !s->rest || state_create(pool, m, &s->state)) {
        pool_free(pool);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a snapshot of %d bodies", m->nbody);
        return NULL;
    }
    if (sim_snapshot_take(s, w, error)) {
        sim_snapshot_free(s);
        return NULL;
    }
    return s;
}

void sim_snapshot_free(sim_snapshot *s) {
    if (s) {
        state_free_contacts(&s->state);
        pool_free(s->pool);
    }
}

sim_status sim_snapshot_take(sim_snapshot *s, const sim_world *w, sim_error *error) {
    if (w->model != s->model) {
        return sim_fail(error, SIM_BAD_INPUT, "the snapshot is of a world of another model");
    }
    int count = w->now.ncontact;
    if (count > s->room) {
        if (!state_make_room(&s->state, count + count / 2)) {
            return sim_fail(error, SIM_NO_RESOURCE, "no memory for a snapshot of %d contacts", count);
        }
        s->room = count + count / 2;
    }
    s->state.rest = w->now.rest ? s->rest : NULL;
    state_copy(s->model, &s->state, &w->now);
    return SIM_OK;
}

const sim_state *sim_snapshot_state(const sim_snapshot *s) { return &s->state; }

static bool same_bytes(const void *a, const void *b, size_t size) { return size == 0 || memcmp(a, b, size) == 0; }

static bool same_numbers(const double *a, const double *b, size_t count) { return same_bytes(a, b, count * sizeof *a); }

static bool same_contacts(const sim_state *a, const sim_state *b) {
    size_t count = (size_t)a->ncontact;
    return a->ncontact == b->ncontact && same_bytes(a->contact, b->contact, count * sizeof *a->contact) &&
           same_bytes(a->impulse, b->impulse, count * sizeof *a->impulse) &&
           same_bytes(a->impulse_trend, b->impulse_trend, count * sizeof *a->impulse_trend);
}

/* Warm starts and drives. */
static bool same_forces(const sim_model *m, const sim_state *a, const sim_state *b) {
    size_t nv = (size_t)m->nv, drives = (size_t)m->nactuator, ties = (size_t)m->nequality;
    return same_numbers(a->joint_impulse, b->joint_impulse, SIM_JOINT_ROWS * nv) &&
           same_numbers(a->equality_impulse, b->equality_impulse, SIM_MAX_ROWS * ties) &&
           same_numbers(a->tendon_impulse, b->tendon_impulse, 4 * (size_t)m->ntendon) &&
           same_numbers(a->effort, b->effort, drives) && same_numbers(a->activation, b->activation, drives) &&
           same_numbers(a->input, b->input, SIM_INPUTS * drives) && same_numbers(a->applied, b->applied, nv) &&
           same_numbers(a->control, b->control, (size_t)m->ncontrol) &&
           same_bytes(a->event, b->event, (size_t)m->nevent * sizeof *a->event) &&
           same_bytes(a->wrench, b->wrench, (size_t)m->nbody * sizeof *a->wrench) &&
           same_bytes(a->switched, b->switched, ties * sizeof *a->switched) && same_numbers(a->held, b->held, nv) &&
           same_numbers(a->trail, b->trail, 4 * nv);
}

bool sim_state_same(const sim_model *m, const sim_state *a, const sim_state *b) {
    const double time[2][2] = {{a->time, a->time0}, {b->time, b->time0}};
    return same_numbers(time[0], time[1], 2) && a->step == b->step && same_numbers(a->q, b->q, (size_t)m->nq) &&
           same_numbers(a->v, b->v, (size_t)m->nv) && same_numbers(a->a, b->a, (size_t)m->nv) && same_contacts(a, b) &&
           same_forces(m, a, b) && same_numbers(a->sensor, b->sensor, (size_t)m->nsensor_value) &&
           same_numbers(a->history, b->history, (size_t)m->nhistory) && !a->rest == !b->rest &&
           (!a->rest || same_bytes(a->rest, b->rest, (size_t)m->ntree * sizeof *a->rest));
}
