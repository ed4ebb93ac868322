/* Worlds: creation, steps, comparison of states. */
#include "support/worlds.h"

#include <criterion/criterion.h>
#include <string.h>

sim_world *open_world(const sim_model *m, sim_integrator integrator, double step, int threads) {
    sim_options options = sim_options_default();
    options.integrator = integrator;
    options.step = step;
    options.threads = threads;
    sim_error error;
    sim_world *w = sim_world_create(m, &options, &error);
    cr_assert_not_null(w, "%s", error.text);
    return w;
}

void run_world(sim_world *w, int steps) {
    sim_error error;
    for (int k = 0; k < steps; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
    }
}

int same_state(const sim_model *m, const sim_state *a, const sim_state *b) {
    return a->time == b->time && a->time0 == b->time0 && a->step == b->step &&
           !memcmp(a->q, b->q, (size_t)m->nq * sizeof *a->q) && !memcmp(a->v, b->v, (size_t)m->nv * sizeof *a->v) &&
           !memcmp(a->a, b->a, (size_t)m->nv * sizeof *a->a) && a->ncontact == b->ncontact &&
           (a->ncontact == 0 || (!memcmp(a->contact, b->contact, (size_t)a->ncontact * sizeof *a->contact) &&
                                 !memcmp(a->impulse, b->impulse, (size_t)a->ncontact * sizeof *a->impulse))) &&
           !memcmp(a->joint_impulse, b->joint_impulse, SIM_JOINT_ROWS * (size_t)m->nv * sizeof *a->v) &&
           (m->ntendon == 0 || !memcmp(a->tendon_impulse, b->tendon_impulse, 4 * (size_t)m->ntendon * sizeof *a->v)) &&
           (m->nactuator == 0 || !memcmp(a->effort, b->effort, (size_t)m->nactuator * sizeof *a->v)) &&
           (m->nactuator == 0 || !memcmp(a->activation, b->activation, (size_t)m->nactuator * sizeof *a->v)) &&
           (m->nactuator == 0 || !memcmp(a->input, b->input, SIM_INPUTS * (size_t)m->nactuator * sizeof *a->v)) &&
           !memcmp(a->held, b->held, (size_t)m->nv * sizeof *a->v) &&
           !memcmp(a->trail, b->trail, 4 * (size_t)m->nv * sizeof *a->v);
}
