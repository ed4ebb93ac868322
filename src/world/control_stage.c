/* Controllers in a step: from the state at its start to commands of actuators, before the free motion.
 *
 * Their memory goes to the next state.  Constraints that phases switch are switched in the present one, and back if the
 * step fails. */
#include "world/step.h"

#include <string.h>

static void keep_switched(sim_world *w) {
    if (w->switched) {
        memcpy(w->switched, w->now.switched, (size_t)w->model->nequality * sizeof *w->switched);
    }
}

void control_stage_undo(sim_world *w) {
    if (w->control && w->control->nchange) {
        memcpy(w->now.switched, w->switched, (size_t)w->model->nequality * sizeof *w->switched);
        switches_apply(w->model, &w->now, w->equality);
    }
}

sim_status control_stage(sim_world *w, sim_error *error) {
    control_work *c = w->control;
    if (!c) {
        return SIM_OK;
    }
    /* commands and memory */
    const sim_state *now = &w->now;
    control_input in = {.time = now->time,
                        .step = w->options.step,
                        .moved = now->step > 0,
                        .q = now->q,
                        .v = now->v,
                        .v_before = now->trail,
                        .sensor = now->sensor,
                        .control = now->control,
                        .contact = now->contact,
                        .impulse = now->impulse,
                        .ncontact = now->ncontact};
    keep_switched(w);
    control_evaluate(c, &in);
    memcpy(w->next.control, c->next, (size_t)w->model->ncontrol * sizeof *c->next);
    /* constraints */
    sim_status status = SIM_OK;
    for (int k = 0; k < c->nchange && !status; k++) {
        status = switches_set(&w->now, w->equality, c->d, c->change[k].equality, c->change[k].to, error);
    }
    if (status) {
        control_stage_undo(w);
    }
    return status;
}
