/* Kinematic motion of a joint: q_k = value within its range, v_k = 0, while time stands.
 *
 * Contacts, impulses and forces of the last step belong to the pose before: the next step starts without them.  Inputs,
 * controllers and switches stay; events are looked for from the new pose on. */
#include "live/joint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The dof whose rate the coordinate has; -1: none, or one of a pose. */
static int dof_of_coordinate(const sim_model *m, int body, int coordinate) {
    const sim_body *b = &m->body[body];
    bool single = b->joint != SIM_FREE && b->joint != SIM_BALL && coordinate < b->nq;
    return single ? b->v0 + coordinate : -1;
}

sim_status live_joint_move(sim_world *world, int body, int coordinate, double value, sim_error *error) {
    const sim_model *m = sim_world_model(world);
    const sim_state *now = sim_world_state(world);
    int dof = dof_of_coordinate(m, body, coordinate);
    if (dof < 0) {
        return sim_fail(error, SIM_BAD_INPUT, "the joint of \"%s\" has no coordinate %d that can be moved",
                        m->body[body].name, coordinate);
    }
    /* the present motion, with that coordinate */
    double *q = calloc((size_t)m->nq + 2 * (size_t)m->nv, sizeof *q);
    sim_happened *event = calloc((size_t)m->nevent + 1, sizeof *event);
    if (!q || !event) {
        free(q);
        free(event);
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for a state");
    }
    sim_state next = {.time = now->time,
                      .time0 = now->time0,
                      .step = now->step,
                      .q = q,
                      .v = q + m->nq,
                      .activation = now->activation,
                      .input = now->input,
                      .control = now->control,
                      .event = event,
                      .switched = now->switched};
    next.a = next.v + m->nv;
    memcpy(next.q, now->q, (size_t)m->nq * sizeof *q);
    memcpy(next.v, now->v, (size_t)m->nv * sizeof *q);
    next.q[m->dof[dof].coordinate] = fmin(fmax(value, m->dof[dof].limit.low), m->dof[dof].limit.high);
    next.v[dof] = 0;
    for (int k = 0; k < m->nevent; k++) {
        event[k] = (sim_happened){.count = now->event[k].count, .time = now->event[k].time};
    }
    sim_status status = sim_world_set_state(world, &next, error);
    free(q);
    free(event);
    return status;
}
