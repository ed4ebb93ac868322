/* Constraints between bodies that a caller switches on and off.
 *
 *     off    no rows
 *     on     rows with the frames, distance or offset of the model
 *     hold   rows with those that leave no gap at the moment of switching:
 *
 *     weld              frame_1 <- X_1^-1 X_0 frame_0
 *     connect           p_1 <- X_1^-1 X_0 p_0
 *     distance, spring  L <- |X_0 p_0 - X_1 p_1|
 *     coupling          offset <- offset + q_1 - P(q_2)
 *     tendon            offset <- offset + x_1 - P(x_2)
 *
 *     X_i          pose of body i in the world, m
 *     frame_i, p_i frame of the constraint on body i and its origin, in axes of the body, m
 *     q, x, P      coordinates, lengths of tendons less their initial ones, and the polynomial (equalities.c)
 *
 * The state says how each is switched and where it holds; the constraints as they act now follow from it.  A constraint
 * that is switched starts without impulse.  Extrapolated forces of its trees (prediction.c) held what it gave before:
 * they start anew, too. */
#include "contact/problem/core/interface.h"
#include "world/core/world.h"

#include <math.h>
#include <string.h>

static sim_switch initial_switch(const sim_equality *e) { return e->off ? SIM_SWITCH_OFF : SIM_SWITCH_ON; }

void switches_start(const sim_model *m, sim_switched *switched) {
    for (int k = 0; k < m->nequality; k++) {
        switched[k] = (sim_switched){.to = initial_switch(&m->equality[k])};
    }
}

/* Numbers of `at` that a type uses. */
static int held_numbers(sim_equality_type type) { return type == SIM_WELD ? 7 : type == SIM_CONNECT ? 3 : 1; }

static bool is_length(sim_equality_type type) { return type == SIM_DISTANCE || type == SIM_SPRING_DAMPER; }

sim_status switches_check(const sim_model *m, const sim_switched *switched, sim_error *error) {
    for (int k = 0; k < m->nequality; k++) {
        const sim_switched *s = &switched[k];
        sim_equality_type type = m->equality[k].type;
        double sum = 0, turn = 1;
        for (int i = 0; i < 7; i++) {
            sum += s->at[i];
        }
        if (s->to == SIM_SWITCH_HOLD && type == SIM_WELD) {
            turn = quat_norm((quat){s->at[3], s->at[4], s->at[5], s->at[6]});
        }
        bool apart = s->to != SIM_SWITCH_HOLD || !is_length(type) || s->at[0] > 0;
        if (s->to < 0 || s->to >= SIM_SWITCHES || !isfinite(sum) || !(fabs(turn - 1) <= 1e-9) || !apart) {
            return sim_fail(error, SIM_BAD_INPUT, "constraint \"%s\" cannot be switched as the state says",
                            m->equality[k].name);
        }
    }
    return SIM_OK;
}

/* Moves a constraint to where it holds. */
static void hold_at(sim_equality *e, const double *at) {
    switch (e->type) {
    case SIM_WELD:
        e->frame[1].R = quat_matrix((quat){at[3], at[4], at[5], at[6]});
        e->frame[1].p = v3_make(at[0], at[1], at[2]);
        break;
    case SIM_CONNECT:
        e->frame[1].p = v3_make(at[0], at[1], at[2]);
        break;
    case SIM_DISTANCE:
    case SIM_SPRING_DAMPER:
        e->distance = at[0];
        break;
    default:
        e->offset = at[0];
    }
}

static void apply_switch(const sim_model *m, const sim_state *state, sim_equality *equality, int k) {
    equality[k] = m->equality[k];
    equality[k].off = state->switched[k].to == SIM_SWITCH_OFF;
    if (state->switched[k].to == SIM_SWITCH_HOLD) {
        hold_at(&equality[k], state->switched[k].at);
    }
}

void switches_apply(const sim_model *m, const sim_state *state, sim_equality *equality) {
    for (int k = 0; k < m->nequality; k++) {
        apply_switch(m, state, equality, k);
    }
}

/* Where the constraint leaves no gap in the present state. */
static void find_hold(const sim_derived *d, const double *q, const sim_equality *e, double *at) {
    const sim_model *m = d->model;
    pose first = pose_product(d->pose[e->body[0]], e->frame[0]);
    pose held = pose_relative(d->pose[e->body[1]], first);
    if (e->type == SIM_COUPLING) {
        double q1 = q[m->dof[e->dof[0]].coordinate], q2 = q[m->dof[e->dof[1]].coordinate];
        at[0] = e->offset + equality_polynomial_gap(e, q1, q2);
    } else if (e->type == SIM_TENDON_COUPLING) {
        double x[2] = {0, 0};
        for (int side = 0; side < 2; side++) {
            int t = e->tendon[side];
            x[side] = t >= 0 ? sim_tendon_length(d, t, q) - d->tendon_initial[t] : 0;
        }
        at[0] = e->tendon[1] >= 0 ? e->offset + equality_polynomial_gap(e, x[0], x[1]) : x[0];
    } else if (is_length(e->type)) {
        at[0] = v3_norm(v3_sub(held.p, e->frame[1].p));
    } else {
        quat turn = quat_normalised(quat_from_matrix(held.R));
        const double all[7] = {held.p.x, held.p.y, held.p.z, turn.w, turn.x, turn.y, turn.z};
        memcpy(at, all, (size_t)held_numbers(e->type) * sizeof *at);
    }
}

/* Nothing is known of its forces in the step before. */
static void forget_forces(const sim_model *m, sim_state *now, int k) {
    memset(now->equality_impulse + (ptrdiff_t)SIM_MAX_ROWS * k, 0, SIM_MAX_ROWS * sizeof(double));
    for (int side = 0; side < 2; side++) {
        int tree = m->body[m->equality[k].body[side]].tree;
        for (int j = tree < 0 ? 0 : m->tree[tree].v0; tree >= 0 && j < m->tree[tree].v0 + m->tree[tree].nv; j++) {
            now->held[j] = 0;
            now->trail[j] = now->trail[m->nv + j] = now->v[j];
            now->trail[2 * m->nv + j] = now->trail[3 * m->nv + j] = 0;
        }
    }
}

sim_status switches_set(sim_state *state, sim_equality *equality, const sim_derived *d, int k, sim_switch to,
                        sim_error *error) {
    /* what cannot be switched */
    const sim_model *m = d->model;
    if (k < 0 || k >= m->nequality) {
        return sim_fail(error, SIM_BAD_INPUT, "there is no constraint %d to switch: the model has %d", k, m->nequality);
    }
    if (to < 0 || to >= SIM_SWITCHES) {
        return sim_fail(error, SIM_BAD_INPUT, "%d is not a way to switch a constraint", (int)to);
    }
    /* where it holds */
    sim_switched *now = &state->switched[k], next = {.to = to};
    if (to == SIM_SWITCH_HOLD) {
        find_hold(d, state->q, &m->equality[k], next.at);
        if (is_length(m->equality[k].type) && !(next.at[0] > 0)) {
            return sim_fail(error, SIM_BAD_INPUT, "constraint \"%s\" cannot hold the distance of points that coincide",
                            m->equality[k].name);
        }
    }
    /* from now on */
    if (memcmp(now, &next, sizeof next) != 0) {
        *now = next;
        apply_switch(m, state, equality, k);
        forget_forces(m, state, k);
    }
    return SIM_OK;
}
