/* The owner of everything that changes. */
#include "world/world.h"
#include "math/v3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const integrator_names[SIM_INTEGRATORS] = {
    [SIM_MIDPOINT] = "midpoint",
    [SIM_SYMPLECTIC_EULER] = "symplectic",
    [SIM_IMPLICIT_EULER] = "implicit",
    [SIM_MOREAU] = "moreau",
    [SIM_RK4] = "rk4",
};

const char *sim_integrator_name(sim_integrator integrator) { return integrator_names[integrator]; }

sim_options sim_options_default(void) {
    return (sim_options){.step = 1e-3,
                         .integrator = SIM_MIDPOINT,
                         .threads = 1,
                         .tolerance = 1e-10,
                         .max_iterations = 50,
                         .contacts = 1,
                         .contact_margin = NAN,
                         .compliance = -1,
                         .law = sim_law_options_default(),
                         .sleep_speed = NAN,
                         .sleep_time = NAN};
}

static sim_status check_options(const sim_options *o, sim_error *error) {
    if (!(o->step > 0) || !isfinite(o->step)) {
        return sim_fail(error, SIM_BAD_INPUT, "the step must be positive and finite, not %g s", o->step);
    }
    if ((unsigned)o->integrator >= SIM_INTEGRATORS) {
        return sim_fail(error, SIM_BAD_INPUT, "%d is no integrator", (int)o->integrator);
    }
    if (o->threads < 1 || o->threads > 64) {
        return sim_fail(error, SIM_BAD_INPUT, "the number of threads must be 1 to 64, not %d", o->threads);
    }
    if (!(o->tolerance > 0 && o->tolerance < 1) || o->max_iterations < 1) {
        return sim_fail(error, SIM_BAD_INPUT, "the tolerance must lie between 0 and 1, max_iterations be at least 1");
    }
    if (o->contact_margin < 0) {
        return sim_fail(error, SIM_BAD_INPUT, "the contact margin must not be negative, as %g m is", o->contact_margin);
    }
    if (o->compliance >= SIM_COMPLIANCES) {
        return sim_fail(error, SIM_BAD_INPUT, "%d is no compliance", o->compliance);
    }
    if (o->sleep && (o->sleep_speed < 0 || o->sleep_time < 0)) {
        return sim_fail(error, SIM_BAD_INPUT, "the speed and the time of sleep must not be negative, as %g m/s, %g s",
                        o->sleep_speed, o->sleep_time);
    }
    if (o->sleep && o->integrator == SIM_RK4) {
        return sim_fail(error, SIM_BAD_INPUT, "nothing sleeps under the integrator rk4: choose another");
    }
    const sim_law_options *l = &o->law;
    if (o->contacts &&
        !(l->beta > 0 && isfinite(l->beta) && l->sigma > 0 && isfinite(l->sigma) && l->push >= 0 && l->push <= 1 &&
          l->threshold >= 0 && l->carried >= 1 && l->slop >= 0 && isfinite(l->slop) && l->undo >= 0)) {
        return sim_fail(
            error, SIM_BAD_INPUT,
            "beta and sigma must be positive, push from 0 to 1, threshold, slop and undo not negative, carried "
            "1 or more");
    }
    return SIM_OK;
}

static int state_create(sim_pool *pool, const sim_model *m, sim_state *state) {
    state->q = POOL_NEW(pool, double, m->nq);
    state->v = POOL_NEW(pool, double, m->nv);
    state->a = POOL_NEW(pool, double, m->nv);
    state->joint_impulse = POOL_NEW(pool, double, 3 * (size_t)m->nv);
    state->equality_impulse = POOL_NEW(pool, double, SIM_MAX_ROWS *(size_t)m->nequality);
    state->effort = POOL_NEW(pool, double, m->nactuator);
    state->held = POOL_NEW(pool, double, m->nv);
    state->trail = POOL_NEW(pool, double, 4 * (size_t)m->nv);
    return state->q && state->v && state->a && state->joint_impulse && state->equality_impulse && state->effort &&
           state->held && state->trail;
}

static void copy_or_zero(double *to, const double *from, size_t count) {
    if (from) {
        memmove(to, from, count * sizeof *to);
    } else {
        memset(to, 0, count * sizeof *to);
    }
}

/* Nothing is known of the steps before: as if all had gone on as it does now. */
static void state_forget(const sim_model *m, sim_state *state) {
    size_t size = (size_t)m->nv * sizeof *state->v;
    memcpy(state->trail, state->v, size);
    memcpy(state->trail + m->nv, state->v, size);
    memset(state->trail + 2 * m->nv, 0, 2 * size);
}

static void state_copy(const sim_model *m, sim_state *to, const sim_state *from) {
    to->time = from->time;
    to->time0 = from->time0;
    to->step = from->step;
    memmove(to->q, from->q, (size_t)m->nq * sizeof *to->q);
    memmove(to->v, from->v, (size_t)m->nv * sizeof *to->v);
    memmove(to->a, from->a, (size_t)m->nv * sizeof *to->a);
    copy_or_zero(to->joint_impulse, from->joint_impulse, 3 * (size_t)m->nv);
    copy_or_zero(to->equality_impulse, from->equality_impulse, SIM_MAX_ROWS * (size_t)m->nequality);
    copy_or_zero(to->effort, from->effort, (size_t)m->nactuator);
    copy_or_zero(to->held, from->held, (size_t)m->nv);
    if (from->trail) {
        memmove(to->trail, from->trail, 4 * (size_t)m->nv * sizeof *to->trail);
    } else {
        state_forget(m, to);
    }
    if (to->rest && from->rest) {
        memmove(to->rest, from->rest, (size_t)m->ntree * sizeof *to->rest);
    } else if (to->rest) {
        memset(to->rest, 0, (size_t)m->ntree * sizeof *to->rest);
    }
    to->ncontact = from->ncontact;
    if (from->ncontact) {
        memmove(to->contact, from->contact, (size_t)from->ncontact * sizeof *to->contact);
        memmove(to->impulse, from->impulse, (size_t)from->ncontact * sizeof *to->impulse);
    }
}

static int tree_of_load(const sim_model *m, const sim_load *load) {
    return m->body[load->dof >= 0 ? m->dof[load->dof].body : load->body].tree;
}

static void list_motors(sim_world *w) {
    for (int t = 0; t < w->model->ntree; t++) {
        tree_parts *parts = &w->parts[t];
        parts->motor0 = w->nmotor;
        for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
            if (contact_actuator_is_limited(&w->model->actuator[w->actuator_order[k]])) {
                w->motor_order[w->nmotor++] = k;
            }
        }
        parts->motors = w->nmotor - parts->motor0;
    }
    for (int k = 0; k < w->model->nactuator; k++) {
        w->row_effort[k] = NAN;
    }
}

/* Actuators and loads listed tree by tree, in the model's order within a tree. */
static void sort_parts(sim_world *w) {
    const sim_model *m = w->model;
    for (int k = 0; k < m->nactuator; k++) {
        w->parts[m->body[m->dof[m->actuator[k].dof].body].tree].actuators++;
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
        tree_parts *parts = &w->parts[m->body[m->dof[actuator->dof].body].tree];
        w->actuator_order[parts->actuator0 + parts->actuators++] = k;
        parts->gravity_compensation |= actuator->gravity_compensation;
        parts->limited |= isfinite(actuator->effort);
    }
    for (int k = 0; k < m->nload; k++) {
        int tree = tree_of_load(m, &m->load[k]);
        if (tree >= 0) {
            w->load_order[w->parts[tree].load0 + w->parts[tree].loads++] = k;
        }
    }
    for (int j = 0; j < m->nv; j++) {
        w->parts[m->body[m->dof[j].body].tree].passive |= m->dof[j].damping != 0 || m->dof[j].stiffness != 0;
    }
    for (int i = 1; i < m->nbody; i++) {
        w->parts[m->body[i].tree].mass += m->body[i].inertia.mass;
    }
}

/* Is there a tree whose ball or free joints move more than one rigid body? */
static int articulated_turning(const sim_world *w) {
    int any = 0;
    for (int t = 0; t < w->model->ntree; t++) {
        any |= w->parts[t].turns && !w->parts[t].spins;
    }
    return any && w->options.integrator != SIM_RK4;
}

static int take_memory(sim_world *w) {
    const sim_model *m = w->model;
    sim_pool *pool = w->pool;
    int ok = state_create(pool, m, &w->now) && state_create(pool, m, &w->next);
    w->worker = POOL_NEW(pool, worker_info, w->options.threads);
    w->applied = POOL_NEW(pool, double, m->nv);
    w->row_effort = POOL_NEW(pool, double, m->nactuator);
    w->motor = POOL_NEW(pool, contact_actuator, m->nactuator);
    w->motor_order = POOL_NEW(pool, int, m->nactuator);
    w->parts = POOL_NEW(pool, tree_parts, m->ntree);
    w->actuator_order = POOL_NEW(pool, int, m->nactuator);
    w->load_order = POOL_NEW(pool, int, m->nload);
    w->target = POOL_NEW(pool, double, m->nactuator);
    w->target_rate = POOL_NEW(pool, double, m->nactuator);
    w->feedforward = POOL_NEW(pool, double, m->nactuator);
    w->clamped = POOL_NEW(pool, int, m->nactuator);
    w->asked = POOL_NEW(pool, double, m->nactuator);
    w->gain = POOL_NEW(pool, double, m->nactuator);
    w->q_point = POOL_NEW(pool, double, m->nq);
    w->v_point = POOL_NEW(pool, double, m->nv);
    w->tau = POOL_NEW(pool, double, m->nv);
    w->extra = POOL_NEW(pool, double, m->nv);
    w->a_try = POOL_NEW(pool, double, m->nv);
    w->a_out = POOL_NEW(pool, double, m->nv);
    w->hold = POOL_NEW(pool, double, m->nv);
    w->strength = POOL_NEW(pool, double, m->nv);
    w->external = POOL_NEW(pool, sim_force, m->nbody);
    w->history = POOL_NEW(pool, double, (2 + 2 * ANDERSON_DEPTH) * (size_t)m->nv);
    w->rk = POOL_NEW(pool, double, RK_VECTORS *(size_t)m->nv);
    w->v_free = POOL_NEW(pool, double, m->nv);
    w->v_end = POOL_NEW(pool, double, m->nv);
    w->shift = POOL_NEW(pool, double, m->nv);
    w->in_contact = POOL_NEW(pool, char, m->ntree);
    ok = ok && w->v_free && w->v_end && w->shift && w->in_contact && w->row_effort && w->motor && w->motor_order;
    return ok && w->worker && w->applied && w->target && w->target_rate && w->feedforward && w->parts &&
           w->actuator_order && w->load_order && w->clamped && w->asked && w->gain && w->q_point && w->v_point &&
           w->tau && w->extra && w->a_try && w->a_out && w->hold && w->external && w->strength && w->history && w->rk;
}

static sim_status collision_ready(sim_world *w, sim_error *error) {
    if (!w->collision && !(w->collision = collision_create(w->model, w->options.contact_margin))) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the contacts of %d shapes", w->model->nshape);
    }
    return SIM_OK;
}

/* The solver's options in memory of our own, those left alone filled in. */
static int keep_solver_options(sim_world *w) {
    const sim_solver_info *info = w->options.solver;
    int count = info ? info->noptions : 0;
    double *option = POOL_NEW(w->pool, double, count);
    for (int k = 0; option && k < count; k++) {
        option[k] = w->options.solver_option ? w->options.solver_option[k] : info->option[k].default_value;
    }
    w->options.solver_option = option;
    return option != NULL;
}

/* What a step with contacts needs, if anything can touch. */
static sim_status create_stage(sim_world *w, sim_error *error) {
    const sim_options *o = &w->options;
    int possible = o->contacts ? collision_possible(w->model) : 0;
    if (possible < 0) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the contacts of %d shapes", w->model->nshape);
    }
    w->collides = possible;
    if (!possible && !contact_stage_needed(w->model)) {
        return SIM_OK;
    }
    if (o->integrator == SIM_RK4) {
        return sim_fail(error, SIM_BAD_INPUT,
                        possible
                            ? "the integrator rk4 takes no contacts: choose another, or switch contacts off"
                            : "the integrator rk4 takes no joint ranges, no dry friction and no constraints between "
                              "bodies: choose another");
    }
    if (contact_wants_positions(o->solver, o->solver_option) && world_theta_travel(o->integrator) < 1) {
        return sim_fail(
            error, SIM_BAD_INPUT,
            "the solver %s can take gaps where the step ends only if positions move with the velocity at its "
            "end: choose the integrator symplectic or implicit",
            o->solver->name);
    }
    contact_options options = {.solver = o->solver,
                               .solver_option = o->solver_option,
                               .compliance = world_compliance(o),
                               .law = o->law,
                               .threads = o->threads};
    sim_status status = possible ? collision_ready(w, error) : SIM_OK;
    sim_error why = {.status = SIM_NO_RESOURCE};
    if (!status && !(w->stage = contact_stage_create(w->model, &options, &why))) {
        return sim_fail(error, why.status, "%s", why.text);
    }
    w->start = w->derived;
    if (!status && !world_theta_at_start(o->integrator) && !(w->start = sim_derived_create(w->model, NULL))) {
        w->start = w->derived;
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for a world of %d bodies", w->model->nbody);
    }
    w->middle = w->start;
    if (!status && (!world_hold_create(w) || (possible && !world_follow_create(w)))) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for a world of %d bodies", w->model->nbody);
    }
    return status;
}

sim_world *sim_world_create(const sim_model *model, const sim_options *options, sim_error *error) {
    sim_options chosen = options ? *options : sim_options_default();
    chosen.solver = chosen.solver ? chosen.solver : sim_solver_find("sap");
    if (check_options(&chosen, error)) {
        return NULL;
    }
    sim_pool *pool = sim_pool_create();
    sim_world *w = pool ? POOL_NEW(pool, sim_world, 1) : NULL;
    if (!w) {
        sim_pool_free(pool);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a world");
        return NULL;
    }
    w->model = model;
    w->options = chosen;
    w->pool = pool;
    if (!take_memory(w) || !keep_solver_options(w) || !(w->derived = sim_derived_create(model, NULL))) {
        sim_world_free(w);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a world of %d bodies", model->nbody);
        return NULL;
    }
    w->threads = sim_threads_create(chosen.threads);
    if (!w->threads) {
        sim_world_free(w);
        sim_fail(error, SIM_NO_RESOURCE, "%d threads could not be started", chosen.threads);
        return NULL;
    }
    if (create_stage(w, error)) {
        sim_world_free(w);
        return NULL;
    }
    if (chosen.sleep && !world_sleep_create(w)) {
        sim_world_free(w);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a world of %d bodies", model->nbody);
        return NULL;
    }
    sort_parts(w);
    if (!world_spin_create(w) || (articulated_turning(w) && !(w->ahead = sim_derived_create(model, NULL)))) {
        sim_world_free(w);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a world of %d bodies", model->nbody);
        return NULL;
    }
    list_motors(w);
    memcpy(w->now.q, model->q_initial, (size_t)model->nq * sizeof *w->now.q);
    memcpy(w->now.v, model->v_initial, (size_t)model->nv * sizeof *w->now.v);
    state_forget(model, &w->now);
    return w;
}

void sim_world_free(sim_world *w) {
    if (w) {
        sim_threads_free(w->threads);
        collision_free(w->collision);
        contact_stage_free(w->stage);
        world_follow_free(w);
        if (w->start != w->derived) {
            sim_derived_free(w->start);
        }
        sim_derived_free(w->ahead);
        sim_derived_free(w->derived);
        free(w->now.contact);
        free(w->now.impulse);
        free(w->next.contact);
        free(w->next.impulse);
        sim_pool_free(w->pool);
    }
}

const sim_model *sim_world_model(const sim_world *w) { return w->model; }
const sim_options *sim_world_options(const sim_world *w) { return &w->options; }
const sim_state *sim_world_state(const sim_world *w) { return &w->now; }
const sim_step_info *sim_world_info(const sim_world *w) { return &w->info; }
size_t sim_world_bytes(const sim_world *w) {
    size_t kept = 2 * (size_t)w->room * (sizeof(sim_contact) + sizeof(sim_v3));
    return sim_pool_bytes(w->pool) + w->derived->bytes + kept + (w->collision ? collision_bytes(w->collision) : 0) +
           (w->start && w->start != w->derived ? w->start->bytes : 0) + (w->stage ? contact_stage_bytes(w->stage) : 0) +
           world_follow_bytes(w);
}
const double *sim_world_efforts(const sim_world *w) { return w->now.effort; }
double *sim_world_applied(sim_world *w) { return w->applied; }

static int stands_before(const sim_contact *a, const sim_contact *b) {
    if (a->shape_a != b->shape_a) {
        return a->shape_a < b->shape_a;
    }
    return a->shape_b != b->shape_b ? a->shape_b < b->shape_b : a->at.feature < b->at.feature;
}

/* Contacts are found again by shapes and feature, in a list that must be sorted by them. */
static sim_status check_contacts(const sim_model *m, const sim_state *state, sim_error *error) {
    for (int k = 0; k < state->ncontact; k++) {
        const sim_contact *c = &state->contact[k];
        sim_v3 p = c->at.position, n = c->at.normal, d = c->at.apart, g = state->impulse[k];
        if (c->shape_a < 0 || c->shape_b <= c->shape_a || c->shape_b >= m->nshape ||
            c->body_a != m->shape[c->shape_a].body || c->body_b != m->shape[c->shape_b].body) {
            return sim_fail(error, SIM_BAD_INPUT, "contact %d of the state is of shapes that the model does not have",
                            k);
        }
        if (!isfinite(p.x + p.y + p.z) || !isfinite(n.x + n.y + n.z) || !isfinite(d.x + d.y + d.z) ||
            !isfinite(g.x + g.y + g.z) || !isfinite(c->at.gap) ||
            isnan(c->friction + c->stiffness + c->dissipation + c->restitution)) {
            return sim_fail(error, SIM_BAD_INPUT, "contact %d of the state holds a number that is not finite", k);
        }
        if (k > 0 && stands_before(c, c - 1)) {
            return sim_fail(error, SIM_BAD_INPUT,
                            "contact %d of the state is out of order: sorted by shapes, then features", k);
        }
    }
    return SIM_OK;
}

/* Nothing given is as good as zeros. */
static int finite_or_none(const double *x, size_t count) {
    for (size_t k = 0; x && k < count; k++) {
        if (!isfinite(x[k])) {
            return 0;
        }
    }
    return 1;
}

static sim_status check_state(const sim_world *w, const sim_state *state, sim_error *error) {
    const sim_model *m = w->model;
    double sum = state->time + state->time0;
    double due = state->time0 + (double)state->step * w->options.step;
    for (int k = 0; k < m->nq; k++) {
        sum += isfinite(state->q[k]) ? 0 : NAN;
    }
    for (int j = 0; j < m->nv; j++) {
        sum += isfinite(state->v[j]) && isfinite(state->a[j]) ? 0 : NAN;
    }
    if (state->ncontact < 0 || (state->ncontact > 0 && !(state->contact && state->impulse))) {
        return sim_fail(error, SIM_BAD_INPUT, "the state has %d contacts, but not where they stand", state->ncontact);
    }
    int rows_finite = finite_or_none(state->joint_impulse, 3 * (size_t)m->nv) &&
                      finite_or_none(state->equality_impulse, SIM_MAX_ROWS * (size_t)m->nequality) &&
                      finite_or_none(state->effort, (size_t)m->nactuator) &&
                      finite_or_none(state->held, (size_t)m->nv) && finite_or_none(state->trail, 4 * (size_t)m->nv);
    if (!isfinite(sum) || state->step < 0 || !rows_finite) {
        return sim_fail(error, SIM_BAD_INPUT, "the state holds a number that is not finite");
    }
    if (fabs(state->time - due) > 1e-9 * fmax(fabs(due), w->options.step)) {
        return sim_fail(error, SIM_BAD_INPUT, "time %.12g s is not that of step %lld of %g s from %g s on", state->time,
                        (long long)state->step, w->options.step, state->time0);
    }
    for (int i = 1; i < m->nbody; i++) {
        const sim_body *b = &m->body[i];
        if (b->joint != SIM_BALL && b->joint != SIM_FREE) {
            continue;
        }
        const double *q = state->q + b->q0 + b->nq - 4;
        double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        if (fabs(norm - 1) > 1e-9) {
            return sim_fail(error, SIM_BAD_INPUT, "the quaternion of body \"%s\" has length %.12g, not 1", b->name,
                            norm);
        }
    }
    sim_status status = check_contacts(m, state, error);
    return status || !w->sleep || !state->rest ? status : world_sleep_check(w, state, error);
}

sim_status sim_world_set_state(sim_world *w, const sim_state *state, sim_error *error) {
    sim_status status = check_state(w, state, error);
    if (status == SIM_OK && !world_contacts_room(w, state->ncontact)) {
        status = sim_fail(error, SIM_NO_RESOURCE, "no memory for %d contacts", state->ncontact);
    }
    if (status == SIM_OK) {
        state_copy(w->model, &w->now, state);
        w->shown = w->touched = 0;
        if (w->sleep) {
            memset(w->sleep->posed, 0, (size_t)w->model->ntree);
        }
    }
    return status;
}

const sim_derived *sim_world_derived(sim_world *w) {
    if (!w->shown) {
        sim_range all = sim_all(w->model);
        sim_kinematics(w->derived, all, w->now.q);
        sim_velocities(w->derived, all, w->now.v);
        w->shown = 1;
    }
    return w->derived;
}

sim_status sim_world_contacts(sim_world *w, const sim_contact **contact, int *count, sim_error *error) {
    sim_status status = collision_ready(w, error);
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
        w->touched = 1;
        *contact = collision_contacts(w->collision, count);
    }
    return status;
}

/* Energy of the springs between bodies. */
static double stretched(const sim_world *w, const sim_derived *d) {
    double sum = 0;
    for (int k = 0; k < w->model->nequality; k++) {
        const sim_equality *e = &w->model->equality[k];
        if (e->type == SIM_SPRING_DAMPER) {
            v3 a = sim_point_position(d, (sim_point){e->body[0], e->frame[0].p});
            v3 b = sim_point_position(d, (sim_point){e->body[1], e->frame[1].p});
            double x = v3_norm(v3_sub(a, b)) - e->distance;
            sum += 0.5 * e->stiffness * x * x;
        }
    }
    return sum;
}

sim_energy sim_world_energy(sim_world *w) {
    const sim_derived *d = sim_world_derived(w);
    sim_range all = sim_all(w->model);
    return (sim_energy){sim_kinetic_energy(d, all, w->now.v), sim_potential_energy(d, all, w->now.q) + stretched(w, d)};
}

sim_force sim_world_momentum(sim_world *w) { return sim_momentum(sim_world_derived(w), sim_all(w->model)); }
