/* States: memory, copies, and checks of states that the caller sets. */
#include "world/core/world.h"

#include <math.h>
#include <string.h>

sim_status state_create(memory_pool *pool, const sim_model *m, sim_state *state) {
    /* all arrays, or failure */
    state->q = POOL_NEW(pool, double, m->nq);
    state->v = POOL_NEW(pool, double, m->nv);
    state->a = POOL_NEW(pool, double, m->nv);
    state->joint_impulse = POOL_NEW(pool, double, SIM_JOINT_ROWS *(size_t)m->nv);
    state->equality_impulse = POOL_NEW(pool, double, SIM_MAX_ROWS *(size_t)m->nequality);
    state->tendon_impulse = POOL_NEW(pool, double, 4 * (size_t)m->ntendon);
    state->effort = POOL_NEW(pool, double, m->nactuator);
    state->activation = POOL_NEW(pool, double, m->nactuator);
    state->input = POOL_NEW(pool, double, SIM_INPUTS *(size_t)m->nactuator);
    state->event = POOL_NEW(pool, sim_happened, m->nevent);
    state->control = POOL_NEW(pool, double, m->ncontrol);
    state->applied = POOL_NEW(pool, double, m->nv);
    state->wrench = POOL_NEW(pool, sim_force, m->nbody);
    state->switched = POOL_NEW(pool, sim_switched, m->nequality);
    state->held = POOL_NEW(pool, double, m->nv);
    state->trail = POOL_NEW(pool, double, 4 * (size_t)m->nv);
    state->sensor = POOL_NEW(pool, double, m->nsensor_value);
    state->history = POOL_NEW(pool, double, m->nhistory);
    bool ok = state->q && state->v && state->a && state->joint_impulse && state->equality_impulse && state->effort &&
              state->activation && state->input && state->held && state->trail && state->tendon_impulse &&
              state->sensor && state->history && state->event && state->control && state->applied && state->wrench &&
              state->switched;
    return ok ? SIM_OK : SIM_NO_RESOURCE;
}

static void copy_or_zero(double *to, const double *from, size_t count) {
    if (from) {
        memmove(to, from, count * sizeof *to);
    } else {
        memset(to, 0, count * sizeof *to);
    }
}

/* NULL: those that the model begins with. */
static void copy_activations(const sim_model *m, double *to, const double *from) {
    for (int k = 0; k < m->nactuator; k++) {
        to[k] = from ? from[k] : m->actuator[k].activation.initial;
    }
}

/* NULL: as before the first step. */
static void copy_control(const sim_model *m, double *to, const double *from) {
    if (from) {
        memmove(to, from, (size_t)m->ncontrol * sizeof *to);
    } else {
        control_start(m, to);
    }
}

/* NULL: nothing is known of them. */
static void copy_events(const sim_model *m, sim_happened *to, const sim_happened *from) {
    for (int k = 0; k < m->nevent; k++) {
        to[k] = from ? from[k] : (sim_happened){0};
    }
}

/* NULL: by the model's tracks. */
static void copy_inputs(const sim_model *m, double *to, const double *from) {
    for (int k = 0; k < SIM_INPUTS * m->nactuator; k++) {
        to[k] = from ? from[k] : NAN;
    }
}

void state_clear_trail(const sim_model *m, sim_state *state) {
    size_t size = (size_t)m->nv * sizeof *state->v;
    memcpy(state->trail, state->v, size);
    memcpy(state->trail + m->nv, state->v, size);
    memset(state->trail + 2 * m->nv, 0, 2 * size);
}

void state_copy(const sim_model *m, sim_state *to, const sim_state *from) {
    /* time and motion */
    to->time = from->time;
    to->time0 = from->time0;
    to->step = from->step;
    memmove(to->q, from->q, (size_t)m->nq * sizeof *to->q);
    memmove(to->v, from->v, (size_t)m->nv * sizeof *to->v);
    memmove(to->a, from->a, (size_t)m->nv * sizeof *to->a);
    /* warm starts */
    copy_or_zero(to->joint_impulse, from->joint_impulse, SIM_JOINT_ROWS * (size_t)m->nv);
    copy_or_zero(to->equality_impulse, from->equality_impulse, SIM_MAX_ROWS * (size_t)m->nequality);
    copy_or_zero(to->tendon_impulse, from->tendon_impulse, 4 * (size_t)m->ntendon);
    copy_or_zero(to->effort, from->effort, (size_t)m->nactuator);
    copy_activations(m, to->activation, from->activation);
    copy_inputs(m, to->input, from->input);
    copy_control(m, to->control, from->control);
    copy_events(m, to->event, from->event);
    copy_or_zero(to->applied, from->applied, (size_t)m->nv);
    copy_or_zero((double *)to->wrench, (const double *)from->wrench, 6 * (size_t)m->nbody);
    if (from->switched) {
        memmove(to->switched, from->switched, (size_t)m->nequality * sizeof *to->switched);
    } else {
        switches_start(m, to->switched);
    }
    copy_or_zero(to->held, from->held, (size_t)m->nv);
    copy_or_zero(to->sensor, from->sensor, (size_t)m->nsensor_value);
    copy_or_zero(to->history, from->history, (size_t)m->nhistory);
    /* trail and rest */
    if (from->trail) {
        memmove(to->trail, from->trail, 4 * (size_t)m->nv * sizeof *to->trail);
    } else {
        state_clear_trail(m, to);
    }
    if (to->rest && from->rest) {
        memmove(to->rest, from->rest, (size_t)m->ntree * sizeof *to->rest);
    } else if (to->rest) {
        memset(to->rest, 0, (size_t)m->ntree * sizeof *to->rest);
    }
    /* contacts */
    to->ncontact = from->ncontact;
    if (from->ncontact) {
        memmove(to->contact, from->contact, (size_t)from->ncontact * sizeof *to->contact);
        memmove(to->impulse, from->impulse, (size_t)from->ncontact * sizeof *to->impulse);
        copy_or_zero((double *)to->impulse_trend, (const double *)from->impulse_trend, 3 * (size_t)from->ncontact);
    }
}

void state_start(const sim_model *m, sim_state *state, int keyframe) {
    state->time = state->time0 = keyframe < 0 ? m->time_initial : m->keyframe[keyframe].time;
    state->step = 0;
    sim_model_keyframe_state(m, keyframe, state->q, state->v);
    /* nothing is known of a step before */
    copy_or_zero(state->a, NULL, (size_t)m->nv);
    copy_or_zero(state->joint_impulse, NULL, SIM_JOINT_ROWS * (size_t)m->nv);
    copy_or_zero(state->equality_impulse, NULL, SIM_MAX_ROWS * (size_t)m->nequality);
    copy_or_zero(state->tendon_impulse, NULL, 4 * (size_t)m->ntendon);
    copy_or_zero(state->effort, NULL, (size_t)m->nactuator);
    copy_inputs(m, state->input, NULL);
    sim_model_keyframe_drives(m, keyframe, state->input + SIM_CTRL * m->nactuator, state->activation);
    control_start(m, state->control);
    copy_events(m, state->event, NULL);
    copy_or_zero(state->applied, NULL, (size_t)m->nv);
    copy_or_zero((double *)state->wrench, NULL, 6 * (size_t)m->nbody);
    switches_start(m, state->switched);
    copy_or_zero(state->held, NULL, (size_t)m->nv);
    copy_or_zero(state->history, NULL, (size_t)m->nhistory);
    state_clear_trail(m, state);
    if (state->rest) {
        memset(state->rest, 0, (size_t)m->ntree * sizeof *state->rest);
    }
    state->ncontact = 0;
}

static bool is_listed_before(const sim_contact *a, const sim_contact *b) {
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
        sim_v3 h = state->impulse_trend ? state->impulse_trend[k] : (sim_v3){0, 0, 0};
        if (c->shape_a < 0 || c->shape_b <= c->shape_a || c->shape_b >= m->nshape ||
            c->body_a != m->shape[c->shape_a].body || c->body_b != m->shape[c->shape_b].body) {
            return sim_fail(error, SIM_BAD_INPUT, "contact %d of the state has shapes that the model lacks", k);
        }
        if (!isfinite(p.x + p.y + p.z) || !isfinite(n.x + n.y + n.z) || !isfinite(d.x + d.y + d.z) ||
            !isfinite(g.x + g.y + g.z) || !isfinite(h.x + h.y + h.z) || !isfinite(c->at.gap) ||
            !isfinite(c->moment.x + c->moment.y + c->moment.z) ||
            isnan(c->friction + c->stiffness + c->dissipation + c->restitution + c->torsion + c->rolling +
                  c->adhesion)) {
            return sim_fail(error, SIM_BAD_INPUT, "contact %d of the state holds a number that is not finite", k);
        }
        if (k > 0 && is_listed_before(c, c - 1)) {
            return sim_fail(error, SIM_BAD_INPUT,
                            "contact %d of the state is out of order: sorted by shapes, then features", k);
        }
    }
    return SIM_OK;
}

/* NULL: nothing is known of them. */
static bool events_finite(const sim_model *m, const sim_happened *event) {
    for (int k = 0; event && k < m->nevent; k++) {
        if (!isfinite(event[k].time + event[k].g + event[k].change)) {
            return false;
        }
    }
    return true;
}

/* NULL stands for zeros. */
static bool is_finite_or_null(const double *x, size_t count) {
    for (size_t k = 0; x && k < count; k++) {
        if (!isfinite(x[k])) {
            return false;
        }
    }
    return true;
}

sim_status state_check(const sim_model *m, const sim_options *options, const world_sleep *sleep, const sim_state *state,
                       sim_error *error) {
    /* finite numbers */
    double sum = state->time + state->time0;
    double due = state->time0 + (double)state->step * options->step;
    for (int k = 0; k < m->nq; k++) {
        sum += isfinite(state->q[k]) ? 0 : NAN;
    }
    for (int j = 0; j < m->nv; j++) {
        sum += isfinite(state->v[j]) && isfinite(state->a[j]) ? 0 : NAN;
    }
    /* arrays */
    if (state->ncontact < 0 || (state->ncontact > 0 && !(state->contact && state->impulse))) {
        return sim_fail(error, SIM_BAD_INPUT, "the state has %d contacts, but no array of them", state->ncontact);
    }
    bool rows_finite = is_finite_or_null(state->joint_impulse, SIM_JOINT_ROWS * (size_t)m->nv) &&
                       is_finite_or_null(state->equality_impulse, SIM_MAX_ROWS * (size_t)m->nequality) &&
                       is_finite_or_null(state->tendon_impulse, 4 * (size_t)m->ntendon) &&
                       is_finite_or_null(state->effort, (size_t)m->nactuator) &&
                       is_finite_or_null(state->activation, (size_t)m->nactuator) &&
                       is_finite_or_null(state->control, (size_t)m->ncontrol) && events_finite(m, state->event) &&
                       is_finite_or_null(state->applied, (size_t)m->nv) &&
                       is_finite_or_null((const double *)state->wrench, 6 * (size_t)m->nbody) &&
                       is_finite_or_null(state->held, (size_t)m->nv) &&
                       is_finite_or_null(state->trail, 4 * (size_t)m->nv) &&
                       is_finite_or_null(state->sensor, (size_t)m->nsensor_value) &&
                       is_finite_or_null(state->history, (size_t)m->nhistory);
    for (int k = 0; state->input && k < SIM_INPUTS * m->nactuator; k++) {
        sum += isinf(state->input[k]) ? NAN : 0;
    }
    if (!isfinite(sum) || state->step < 0 || !rows_finite) {
        return sim_fail(error, SIM_BAD_INPUT, "the state holds a number that is not finite");
    }
    /* time is that of the step */
    if (fabs(state->time - due) > 1e-9 * fmax(fabs(due), options->step)) {
        return sim_fail(error, SIM_BAD_INPUT, "time %.12g s is not that of step %lld of %g s from %g s on", state->time,
                        (long long)state->step, options->step, state->time0);
    }
    /* unit quaternions */
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
    /* constraints, contacts and sleep */
    sim_status status = state->switched ? switches_check(m, state->switched, error) : SIM_OK;
    status = status || !state->control ? status : control_check(m, state->control, error);
    status = status ? status : check_contacts(m, state, error);
    return status || !sleep || !state->rest ? status : sleep_check(sleep, state, error);
}
