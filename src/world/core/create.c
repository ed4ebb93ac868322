/* Creation of a world: memory, and the stages of its step. */
#include "world/core/world.h"

#include "model/parts/joint.h"

#include <math.h>
#include <string.h>

static int tree_of_load(const sim_model *m, const sim_load *load) {
    return m->body[load->dof >= 0 ? m->dof[load->dof].body : load->body].tree;
}

/* Actuators and loads listed tree by tree, in the model's order within a tree. */
static void sort_parts(motion_work *w) {
    const sim_model *m = w->model;
    for (int k = 0; k < m->nactuator; k++) {
        w->parts[m->actuator[k].tree].actuators++;
    }
    for (int k = 0; k < m->nload; k++) {
        int tree = tree_of_load(m, &m->load[k]);
        if (tree >= 0) { /* a load on the world moves nothing */
            w->parts[tree].loads++;
        }
    }
    for (int t = 1; t < m->ntree; t++) {
        w->parts[t].actuator0 = w->parts[t - 1].actuator0 + w->parts[t - 1].actuators;
        w->parts[t].load0 = w->parts[t - 1].load0 + w->parts[t - 1].loads;
    }
    for (int t = 0; t < m->ntree; t++) {
        w->parts[t].actuators = w->parts[t].loads = 0;
    }
    for (int k = 0; k < m->nactuator; k++) {
        const sim_actuator *actuator = &m->actuator[k];
        tree_parts *parts = &w->parts[actuator->tree];
        w->actuator_order[parts->actuator0 + parts->actuators++] = k;
        parts->gravity_compensation |= actuator->gravity_compensation;
        parts->any_limit |= actuator->transmission == SIM_BY_JOINT && isfinite(actuator->force_range[0]);
        parts->lengths |= actuator->transmission != SIM_BY_JOINT && actuator->transmission != SIM_BY_CONTACTS;
    }
    for (int k = 0; k < m->nload; k++) {
        int tree = tree_of_load(m, &m->load[k]);
        if (tree >= 0) {
            w->load_order[w->parts[tree].load0 + w->parts[tree].loads++] = k;
        }
    }
    for (int j = 0; j < m->nv; j++) {
        const sim_dof *dof = &m->dof[j];
        tree_parts *parts = &w->parts[m->body[dof->body].tree];
        parts->passive |= dof->damping != 0 || dof->stiffness != 0 || dof_has_terms(dof);
        parts->bends |= dof->damper[0] != 0 || dof->damper[1] != 0;
    }
    for (int i = 1; i < m->nbody; i++) {
        w->parts[m->body[i].tree].mass += m->body[i].inertia.mass;
    }
}

/* Room for the moments of actuators that are no joints'. */
static sim_status create_moments(motion_work *w, memory_pool *pool) {
    const sim_model *m = w->model;
    for (int k = 0; k < m->nactuator; k++) {
        const sim_actuator *a = &m->actuator[w->actuator_order[k]];
        if (a->transmission != SIM_BY_JOINT && !(w->moment[k] = POOL_NEW(pool, double, m->tree[a->tree].nv))) {
            return SIM_NO_RESOURCE;
        }
    }
    return SIM_OK;
}

static void list_limited_actuators(motion_work *w) {
    for (int t = 0; t < w->model->ntree; t++) {
        tree_parts *parts = &w->parts[t];
        parts->limited0 = w->nlimited;
        for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
            if (contact_actuator_is_limited(w->model, w->actuator_order[k])) {
                w->limited_order[w->nlimited++] = k;
            }
        }
        parts->limited_end = w->nlimited;
    }
}

/* May a body turn far in a step of a scheme that the energy of the step is checked in? */
static bool any_dof_turns(const motion_work *w) {
    bool any = false;
    for (int j = 0; j < w->model->nv; j++) {
        any |= w->model->dof[j].turns;
    }
    return any && w->options->integrator != SIM_RK4;
}

/* Work space of the free motion. */
static sim_status create_motion(sim_world *w) {
    /* links to the world */
    const sim_model *m = w->model;
    memory_pool *pool = w->pool;
    motion_work *f = &w->motion;
    *f = (motion_work){.model = m, .options = &w->options, .now = &w->now, .next = &w->next};
    f->derived = w->derived;
    /* memory */
    f->limited = POOL_NEW(pool, contact_actuator, m->nactuator);
    f->limited_order = POOL_NEW(pool, int, m->nactuator);
    f->parts = POOL_NEW(pool, tree_parts, m->ntree);
    f->actuator_order = POOL_NEW(pool, int, m->nactuator);
    f->load_order = POOL_NEW(pool, int, m->nload);
    f->law = POOL_NEW(pool, drive_law, m->nactuator);
    f->moment = POOL_NEW(pool, double *, m->nactuator);
    f->clamped = POOL_NEW(pool, int, m->nactuator);
    f->asked = POOL_NEW(pool, double, m->nactuator);
    f->gain = POOL_NEW(pool, double, m->nactuator);
    f->q_point = POOL_NEW(pool, double, m->nq);
    f->v_point = POOL_NEW(pool, double, m->nv);
    f->tau = POOL_NEW(pool, double, m->nv);
    f->extra = POOL_NEW(pool, double, m->nv);
    f->a_try = POOL_NEW(pool, double, m->nv);
    f->a_out = POOL_NEW(pool, double, m->nv);
    f->hold = POOL_NEW(pool, double, m->nv);
    f->strength = POOL_NEW(pool, double, m->nv);
    f->external = POOL_NEW(pool, sim_force, m->nbody);
    f->history = POOL_NEW(pool, double, (2 + 2 * ANDERSON_DEPTH) * (size_t)m->nv);
    f->rk = POOL_NEW(pool, double, RK_VECTORS *(size_t)m->nv);
    /* all of it, or nothing */
    bool ok = f->limited && f->limited_order && f->parts && f->actuator_order && f->load_order && f->law &&
              f->clamped && f->asked && f->gain && f->q_point && f->v_point && f->tau && f->extra && f->a_try &&
              f->a_out && f->hold && f->strength && f->external && f->history && f->rk;
    return ok ? SIM_OK : SIM_NO_RESOURCE;
}

/* Actuators, loads and single rigid bodies, tree by tree. */
static sim_status create_tree_parts(sim_world *w) {
    motion_work *f = &w->motion;
    sort_parts(f);
    if (spin_create(f, w->pool) || drag_create(f, w->pool) || create_moments(f, w->pool) ||
        shared_effort_create(f, w->pool)) {
        return SIM_NO_RESOURCE;
    }
    if (any_dof_turns(f) && !(f->ahead = sim_derived_create(w->model, NULL))) {
        return SIM_NO_RESOURCE;
    }
    list_limited_actuators(f);
    return SIM_OK;
}

/* Velocities and efforts that contacts leave. */
static sim_status create_contacts(sim_world *w) {
    /* links to the world */
    const sim_model *m = w->model;
    world_contacts *c = &w->contacts;
    *c = (world_contacts){.model = m,
                          .options = &w->options,
                          .equality = w->equality,
                          .now = &w->now,
                          .threads = w->threads,
                          .pool = w->pool,
                          .next = &w->next,
                          .info = &w->info,
                          .motion = &w->motion,
                          .worker = w->worker};
    /* memory */
    c->v_free = POOL_NEW(w->pool, double, m->nv);
    c->v_end = POOL_NEW(w->pool, double, m->nv);
    c->shift = POOL_NEW(w->pool, double, m->nv);
    c->in_contact = POOL_NEW(w->pool, char, m->ntree);
    c->unsolved = POOL_NEW(w->pool, char, m->ntree);
    c->row_effort = POOL_NEW(w->pool, double, m->nactuator);
    if (!c->v_free || !c->v_end || !c->shift || !c->in_contact || !c->unsolved || !c->row_effort) {
        return SIM_NO_RESOURCE;
    }
    /* no effort is a row of the contact problem yet */
    for (int k = 0; k < m->nactuator; k++) {
        c->row_effort[k] = NAN;
    }
    w->motion.row_effort = c->row_effort;
    return SIM_OK;
}

static sim_status create_world_memory(sim_world *w) {
    const sim_model *m = w->model;
    sim_status status = state_create(w->pool, m, &w->now);
    status = status ? status : state_create(w->pool, m, &w->next);
    w->equality = POOL_NEW(w->pool, sim_equality, m->nequality);
    /* steps leave these as they are */
    w->next.input = w->now.input;
    w->next.applied = w->now.applied;
    w->next.wrench = w->now.wrench;
    w->next.switched = w->now.switched;
    w->worker = POOL_NEW(w->pool, worker_info, w->options.threads);
    w->derived = sim_derived_create(m, NULL);
    return !status && w->worker && w->equality && w->derived ? SIM_OK : SIM_NO_RESOURCE;
}

sim_status world_create_collision(sim_world *w, sim_error *error) {
    if (!w->collision && !(w->collision = collision_create(w->model, w->options.contact_margin))) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the contacts of %d shapes", w->model->nshape);
    }
    return SIM_OK;
}

/* The solver's options in memory of our own, defaults filled in. */
/* Those of a scene are for the solver of the scene; NULL: defaults. */
static const double *given_options(const sim_options *o) {
    bool of_another = o->solver_option == o->scene_option && o->solver != o->scene_solver;
    return of_another ? NULL : o->solver_option;
}

static sim_status keep_solver_options(sim_world *w) {
    sim_options *o = &w->options;
    int count = o->solver ? o->solver->noptions : 0;
    const double *given = given_options(o);
    double *option = POOL_NEW(w->pool, double, count);
    for (int k = 0; option && k < count; k++) {
        option[k] = given ? given[k] : o->solver->option[k].default_value;
    }
    o->solver_option = option;
    return option ? SIM_OK : SIM_NO_RESOURCE;
}

/* Refuses integrators that the constraints of a model, or the solver, cannot have. */
static sim_status check_integrator(const sim_options *o, bool collides, sim_error *error) {
    if (o->integrator == SIM_RK4) {
        return sim_fail(error, SIM_BAD_INPUT,
                        collides ? "the integrator %s takes no contacts: choose another, or switch contacts off"
                                 : "the integrator %s takes no joint ranges, no dry friction, no tendons, no "
                                   "velocity limits and no constraints between bodies: choose another",
                        sim_integrator_name(o->integrator));
    }
    if (contact_wants_positions(o->solver, given_options(o)) && theta_travel(o->integrator) < 1) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "the solver %s can take gaps at the end of the step only if positions move with the end "
                        "velocities: choose the integrator symplectic or implicit",
                        o->solver->name);
    }
    return SIM_OK;
}

/* The contact stage, and kinematics where it takes gaps and J; none if nothing can touch and no joint has rows. */
static sim_status create_stage(sim_world *w, sim_error *error) {
    /* can anything touch? */
    const sim_options *o = &w->options;
    world_contacts *c = &w->contacts;
    int possible = o->contacts ? collision_possible(w->model) : 0;
    if (possible < 0) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the contacts of %d shapes", w->model->nshape);
    }
    c->collides = possible;
    c->start = c->middle = w->derived;
    if (!possible && !contact_stage_needed(w->model)) {
        return SIM_OK;
    }
    /* collision */
    sim_status status = check_integrator(o, possible, error);
    status = status || !possible ? status : world_create_collision(w, error);
    if (status) {
        return status;
    }
    c->collision = w->collision;
    /* contact stage */
    contact_options options = {.solver = o->solver,
                               .solver_option = o->solver_option,
                               .budget = o->budget,
                               .compliance = sim_options_compliance(o),
                               .law = o->law,
                               .threads = o->threads};
    sim_error why = {.status = SIM_NO_RESOURCE};
    if (!(c->stage = contact_stage_create(w->model, &options, &why))) {
        return sim_fail(error, why.status, "%s", why.text);
    }
    /* kinematics at the start of the step, where the integrator has others */
    if (!theta_is_at_start(o->integrator)) {
        sim_derived *start = sim_derived_create(w->model, NULL);
        c->start = c->middle = start ? start : w->derived;
        status = start ? SIM_OK : SIM_NO_RESOURCE;
    }
    status = status ? status : forces_create(c);
    status = status ? status : soft_newton_create(c);
    status = status || !possible ? status : prediction_create(c);
    status = status || !possible ? status : separation_create(c);
    w->motion.held = c->held;
    return status ? sim_fail(error, status, "no memory for a world of %d bodies", w->model->nbody) : SIM_OK;
}

/* Sleep, if the options ask for it. */
static sim_status create_sleep(sim_world *w) {
    const sim_model *m = w->model;
    if (!w->options.sleep) {
        return SIM_OK;
    }
    w->now.rest = POOL_NEW(w->pool, sim_rest, m->ntree);
    w->next.rest = POOL_NEW(w->pool, sim_rest, m->ntree);
    w->sleep = w->contacts.sleep = POOL_NEW(w->pool, world_sleep, 1);
    if (!w->sleep || !w->now.rest || !w->next.rest) {
        return SIM_NO_RESOURCE;
    }
    *w->sleep = (world_sleep){.model = m,
                              .options = &w->options,
                              .equality = w->equality,
                              .now = &w->now,
                              .motion = &w->motion,
                              .threads = w->threads,
                              .next = &w->next,
                              .info = &w->info};
    return sleep_create(w->sleep, w->pool);
}

/* Controllers, and room for the switches before a step. */
static sim_status create_control(sim_world *w) {
    if (control_create(w->model, w->pool, &w->control)) {
        return SIM_NO_RESOURCE;
    }
    w->motion.command = w->control ? w->control->command : NULL;
    w->switched = w->control ? POOL_NEW(w->pool, sim_switched, w->model->nequality) : NULL;
    return !w->control || w->switched ? SIM_OK : SIM_NO_RESOURCE;
}

sim_status world_create_parts(sim_world *w, sim_error *error) {
    /* state and threads */
    int bodies = w->model->nbody;
    if (create_world_memory(w) || keep_solver_options(w)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for a world of %d bodies", bodies);
    }
    w->threads = threads_create(w->options.threads);
    if (!w->threads) {
        return sim_fail(error, SIM_NO_RESOURCE, "%d threads could not be started", w->options.threads);
    }
    /* motion and contacts */
    if (create_motion(w) || create_contacts(w)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for a world of %d bodies", bodies);
    }
    /* stages */
    sim_status status = create_stage(w, error);
    if (status) {
        return status;
    }
    if (create_sleep(w) || create_tree_parts(w)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for a world of %d bodies", bodies);
    }
    status = soft_motion_create(&w->motion, w->pool, error);
    if (status) {
        return status;
    }
    if (sensors_create(w->model, &w->options, w->equality, w->motion.drag, w->motion.damped, w->pool, &w->sensors) ||
        create_control(w)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for a world of %d bodies", bodies);
    }
    return SIM_OK;
}
