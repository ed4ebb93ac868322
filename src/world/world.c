/* The world: owner of the state and of the stages of a step; its public interface. */
#include "world/core/world.h"
#include "math/spatial.h"
#include "model/parts/delay.h"

#include <stdlib.h>
#include <string.h>

/* Every degree of freedom must move some mass. */
static sim_status check_masses(sim_world *w, sim_error *error) {
    int dof = -1;
    if (sim_massless_dof(w->derived, w->now.q, &dof)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for a world");
    }
    return dof < 0 ? SIM_OK
                   : sim_fail(error, SIM_BAD_INPUT, "the joint of body \"%.80s\" moves without inertia",
                              w->model->body[w->model->dof[dof].body].name);
}

/* Room for the steps of all delays. */
static sim_status check_delays(const sim_model *m, double step, sim_error *error) {
    for (int k = 0; k < m->nactuator + m->nsensor; k++) {
        const sim_actuator *a = k < m->nactuator ? &m->actuator[k] : NULL;
        const sim_sensor *s = a ? NULL : &m->sensor[k - m->nactuator];
        double delay = a ? a->delay : s->delay;
        int room = a ? a->delay_steps : s->delay_steps;
        if (delay > 0 && delay_in_steps(delay, step) > room) {
            return sim_fail(error, SIM_BAD_INPUT,
                            "the %s \"%s\" has a delay of %g s, but room for %d steps of %g s alone",
                            a ? "actuator" : "sensor", a ? a->name : s->name, delay, room, step);
        }
    }
    return SIM_OK;
}

sim_world *sim_world_create(const sim_model *model, const sim_options *options, sim_error *error) {
    /* options */
    sim_options chosen = options ? *options : sim_options_default();
    chosen.solver = chosen.solver ? chosen.solver : sim_solver_default();
    if (options_check(&chosen, error) || check_delays(model, chosen.step, error)) {
        return NULL;
    }
    /* memory and stages */
    memory_pool *pool = pool_create();
    sim_world *w = pool ? POOL_NEW(pool, sim_world, 1) : NULL;
    if (!w) {
        pool_free(pool);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a world");
        return NULL;
    }
    w->model = model;
    w->options = chosen;
    w->pool = pool;
    w->stopped = -1;
    if (world_create_parts(w, error)) {
        sim_world_free(w);
        return NULL;
    }
    /* initial state */
    sim_world_start(w, -1);
    if (check_masses(w, error)) {
        sim_world_free(w);
        return NULL;
    }
    return w;
}

void sim_world_free(sim_world *w) {
    if (w) {
        threads_free(w->threads);
        collision_free(w->collision);
        contact_stage_free(w->contacts.stage);
        prediction_free(&w->contacts);
        separation_free(&w->contacts);
        sensors_free(w->sensors);
        control_free(w->control);
        if (w->contacts.start != w->derived) {
            sim_derived_free(w->contacts.start);
        }
        sim_derived_free(w->motion.ahead);
        soft_motion_free(&w->motion);
        sim_derived_free(w->derived);
        state_free_contacts(&w->now);
        state_free_contacts(&w->next);
        pool_free(w->pool);
    }
}

const sim_model *sim_world_model(const sim_world *w) { return w->model; }
const sim_options *sim_world_options(const sim_world *w) { return &w->options; }
const sim_state *sim_world_state(const sim_world *w) { return &w->now; }
const sim_step_info *sim_world_info(const sim_world *w) { return &w->info; }
size_t sim_world_bytes(const sim_world *w) {
    const world_contacts *c = &w->contacts;
    size_t kept = 2 * (size_t)c->room * (sizeof(sim_contact) + sizeof(sim_v3));
    return pool_bytes(w->pool) + w->derived->bytes + kept + (w->collision ? collision_bytes(w->collision) : 0) +
           (c->start != w->derived ? c->start->bytes : 0) + (c->stage ? contact_stage_bytes(c->stage) : 0) +
           prediction_bytes(c) + separation_bytes(c) + sensors_bytes(w->sensors) + control_bytes(w->control) +
           soft_motion_bytes(&w->motion) + (w->motion.ahead ? w->motion.ahead->bytes : 0);
}
const double *sim_world_efforts(const sim_world *w) { return w->now.effort; }
double *sim_world_inputs(sim_world *w, sim_input input) { return w->now.input + input * w->model->nactuator; }
const double *sim_world_sensors(const sim_world *w) { return w->now.sensor; }
double *sim_world_applied(sim_world *w) { return w->now.applied; }
sim_force *sim_world_wrenches(sim_world *w) { return w->now.wrench; }

void sim_world_push(sim_world *w, sim_point point, sim_force wrench) {
    const sim_derived *d = sim_world_derived(w);
    v3 lever = v3_sub(sim_point_position(d, point), d->pose[point.body].p);
    w->now.wrench[point.body] = force_add(w->now.wrench[point.body], force_at_parent(wrench, lever));
}

int sim_world_phase(const sim_world *w, int controller) {
    return (int)w->now.control[w->model->controller[controller].first];
}

const sim_happened *sim_world_events(const sim_world *w) { return w->now.event; }
int sim_world_stopped(const sim_world *w) { return w->stopped; }

sim_status sim_world_switch(sim_world *w, int equality, sim_switch to, sim_error *error) {
    return switches_set(&w->now, w->equality, sim_world_derived(w), equality, to, error);
}

sim_status sim_world_set_state(sim_world *w, const sim_state *state, sim_error *error) {
    sim_status status = state_check(w->model, &w->options, w->sleep, state, error);
    if (status == SIM_OK && contacts_make_room(&w->contacts, state->ncontact)) {
        status = sim_fail(error, SIM_NO_RESOURCE, "no memory for %d contacts", state->ncontact);
    }
    if (status == SIM_OK) {
        state_copy(w->model, &w->now, state);
        switches_apply(w->model, &w->now, w->equality);
        w->shown = w->touched = w->stepped = false;
        if (w->sensors && !state->sensor) {
            sensors_read(w->sensors, &w->now, NULL);
        }
        if (w->sleep) {
            memset(w->sleep->posed, 0, (size_t)w->model->ntree);
        }
    }
    return status;
}

void sim_world_start(sim_world *w, int keyframe) {
    state_start(w->model, &w->now, keyframe);
    switches_apply(w->model, &w->now, w->equality);
    w->shown = w->touched = w->stepped = false;
    if (w->sensors) {
        sensors_read(w->sensors, &w->now, NULL);
    }
    if (w->sleep) {
        memset(w->sleep->posed, 0, (size_t)w->model->ntree);
    }
}

const sim_derived *sim_world_derived(sim_world *w) {
    if (!w->shown) {
        sim_range all = sim_all(w->model);
        sim_kinematics(w->derived, all, w->now.q);
        sim_velocities(w->derived, all, w->now.v);
        w->shown = true;
    }
    return w->derived;
}

sim_status sim_world_contacts(sim_world *w, const sim_contact **contact, int *count, sim_error *error) {
    sim_status status = world_create_collision(w, error);
    if (!status && !w->touched) {
        const sim_derived *d = sim_world_derived(w);
        collision_input input = {.pose = d->pose,
                                 .velocity = d->vel,
                                 .step = w->options.step,
                                 .before = w->now.contact,
                                 .nbefore = w->now.ncontact};
        status = collision_update(w->collision, &input, w->threads, error);
    }
    if (!status) {
        w->touched = true;
        *contact = collision_contacts(w->collision, count);
    }
    return status;
}

/* Energy of the springs between bodies and of tendons. */
static double energy_of_springs(const sim_world *w, const sim_derived *d) {
    double sum = 0;
    for (int k = 0; k < w->model->nequality; k++) {
        const sim_equality *e = &w->equality[k];
        if (e->type == SIM_SPRING_DAMPER && !e->off) {
            v3 a = sim_point_position(d, (sim_point){e->body[0], e->frame[0].p});
            v3 b = sim_point_position(d, (sim_point){e->body[1], e->frame[1].p});
            double x = v3_norm(v3_sub(a, b)) - e->distance;
            sum += 0.5 * e->stiffness * x * x;
        }
    }
    for (int k = 0; k < w->model->ntendon; k++) {
        sum += sim_tendon_energy(d, k, w->now.q);
    }
    return sum;
}

/* Energy of the inertia of tendons. */
static double armature_energy(const sim_world *w, const sim_derived *d) {
    double sum = 0;
    for (int k = 0; k < w->model->ntendon; k++) {
        double armature = w->model->tendon[k].armature, rate = armature > 0 ? sim_tendon_rate(d, k, w->now.v) : 0;
        sum += 0.5 * armature * rate * rate;
    }
    return sum;
}

sim_energy sim_world_energy(sim_world *w) {
    const sim_derived *d = sim_world_derived(w);
    sim_range all = sim_all(w->model);
    return (sim_energy){sim_kinetic_energy(d, all, w->now.v) + armature_energy(w, d),
                        sim_potential_energy(d, all, w->now.q) + energy_of_springs(w, d)};
}

sim_force sim_world_momentum(sim_world *w) { return sim_momentum(sim_world_derived(w), sim_all(w->model)); }
