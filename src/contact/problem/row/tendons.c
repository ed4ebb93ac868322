/* Rows of tendons: ends of a range, dry friction, spring with damper and inertia.
 *
 *     low end    gap = L - low       J = dL/dq       h = dJ/dt v
 *     high end   gap = high - L      J = -dL/dq      -h
 *     friction   gap = 0             J = dL/dq       within +- dt friction
 *     spring     F = -k(x) x - c(L') L' - m L''      J = dL/dq
 *
 *     L      length, m;  x: by how much it exceeds the rest lengths, or falls below
 *     k, c   stiffness, N/m; damping, N s/m, with terms of higher degree (model/parts/spring.h)
 *     m      armature, kg: energy m L'^2 / 2
 *
 * L is taken at the start of the step, J and h where the scheme takes its forces.  Ends obey u = J v + w with the offset
 * w = dt (s - p) h of all rows whose J changes along the motion (fill_pair_rows in equalities.c).
 *
 * The inertia is a damper that pulls towards the rate at the start.  With L' = J v -+ dt h / 2 at the ends of the step,
 *
 *     g = -m (L'_1 - L'_0) = -m (J v - J v0 + dt h)    <=>    damping m / dt, force m (J v0 / dt - h).
 *
 * The spring is on the side of its rest lengths on which free motion has it in the middle of the step.
 *
 * Cost: that of the moment arms (dyn/motion/tendon.c), once a step for each tendon that takes part. */
#include "contact/problem/row/row.h"
#include "dyn/motion/tendon.h"
#include "math/dense.h"

#include <string.h>

/* A row along a length that hardly any velocity changes is none: rounding would decide its impulse. */
static const double MIN_MOMENT_RATIO = 1e-12; /* of a moment arm over the length */

double tendon_speed(const assembly *f, int tendon, const double *v) {
    const sim_model *m = f->tables->model;
    double sum = 0;
    for (int k = 0; k < 2 && m->tendon[tendon].tree[k] >= 0; k++) {
        const sim_tree *t = &m->tree[m->tendon[tendon].tree[k]];
        sum += dense_dot(t->nv, f->tendon[tendon].J[k], v + t->v0);
    }
    return sum;
}

static bool any_moment(const sim_model *m, const sim_tendon *t, const tendon_state *s) {
    double most = 0;
    for (int k = 0; k < 2 && t->tree[k] >= 0; k++) {
        for (int j = 0; j < m->tree[t->tree[k]].nv; j++) {
            most = max_of(most, fabs(s->J[k][j]));
        }
    }
    return most > MIN_MOMENT_RATIO * fabs(s->length);
}

static void eval_tendons(void *context, int worker, int first, int end) {
    assembly *f = context;
    const sim_model *m = f->tables->model;
    (void)worker;
    for (int i = first; i < end; i++) {
        int k = f->tables->tendon[i];
        const sim_tendon *t = &m->tendon[k];
        tendon_state *s = &f->tendon[k];
        if (f->in->asleep && f->in->asleep[t->tree[0]]) {
            continue;
        }
        /* length at the start; moment arms and their change where A is taken */
        s->length = sim_tendon_length(f->in->start, k, f->in->q_start);
        for (int side = 0; side < 2 && t->tree[side] >= 0; side++) {
            memset(s->J[side], 0, (size_t)m->tree[t->tree[side]].nv * sizeof *s->J[side]);
        }
        tendon_add_moments(f->in->mass, k, s->J);
        s->bias = sim_tendon_bias(f->in->mass, k, f->acc);
        s->moves = any_moment(m, t, s);
        /* the side of the spring in the middle of the step */
        double middle = s->length + f->in->position * f->in->step * tendon_speed(f, k, f->in->v_start);
        double stretch = sim_tendon_stretch(f->in->mass, k, middle);
        s->taut = stretch != 0 || t->rest[0] == t->rest[1] || isnan(t->rest[0]);
        s->stretch = s->length - (middle - stretch);
    }
}

sim_status tendons_find(assembly *f, sim_threads *threads) {
    /* memory */
    const model_tables *tables = f->tables;
    const sim_model *m = tables->model;
    f->tendon = ARENA_NEW(f->arena, tendon_state, m->ntendon);
    if (!f->tendon) {
        return SIM_NO_RESOURCE;
    }
    for (int i = 0; i < tables->ntendon; i++) {
        const sim_tendon *t = &m->tendon[tables->tendon[i]];
        tendon_state *s = &f->tendon[tables->tendon[i]];
        *s = (tendon_state){0};
        for (int side = 0; side < 2 && t->tree[side] >= 0; side++) {
            s->J[side] = ARENA_NEW(f->arena, double, m->tree[t->tree[side]].nv);
            if (!s->J[side]) {
                return SIM_NO_RESOURCE;
            }
        }
    }
    /* each by itself */
    threads_run(threads, tables->ntendon, eval_tendons, f);
    return SIM_OK;
}

/* Of a fixed tendon whose joints all turn. */
static bool length_is_angle(const sim_model *m, const sim_tendon *t) {
    bool turns = t->njoint > 0;
    for (int k = 0; k < t->njoint; k++) {
        turns &= m->dof[t->joint[k].dof].turns;
    }
    return turns;
}

sim_constraint tendon_constraint(const sim_model *m, const constraint_source *t) {
    const sim_tendon *from = &m->tendon[t->index];
    sim_constraint c = {
        .rows = 1, .tree = {-1, -1}, .body = {from->moved_body[0], from->moved_body[1]}, .id = (uint64_t)t->index};
    if (t->kind == SOURCE_TENDON_FRICTION) {
        c.kind = SIM_FRICTION;
        c.bound = from->friction;
    } else if (t->kind == SOURCE_TENDON_SPRING) {
        c.kind = SIM_SPRING;
    } else {
        c.kind = SIM_LIMIT;
        c.turns = length_is_angle(m, from);
        c.stiffness = from->limit.stiffness;
        c.dissipation = from->limit.dissipation;
        c.restitution = from->limit.restitution;
    }
    return c;
}

void add_tendon_moments(assembly *f, int tendon, double part, int i) {
    const sim_model *m = f->tables->model;
    const constraint_source *t = &f->source[f->source_of[i]];
    const tendon_state *s = &f->tendon[tendon];
    for (int k = 0; k < 2 && m->tendon[tendon].tree[k] >= 0; k++) {
        const sim_tree *tree = &m->tree[m->tendon[tendon].tree[k]];
        int side = m->tendon[tendon].tree[k] == t->tree[1], first = tree->nv, end = 0;
        double *to = block_of(f, i, side);
        for (int j = 0; j < tree->nv; j++) {
            if (s->J[k][j] != 0) {
                to[j] += part * s->J[k][j];
                first = first < j ? first : j;
                end = j + 1;
            }
        }
        widen_columns(f, m, i, side, tree->v0 + first, tree->v0 + end);
    }
}

void rows_of_tendon(assembly *f, const sim_model *m, int i) {
    const constraint_source *t = &f->source[f->source_of[i]];
    const sim_tendon *tendon = &m->tendon[t->index];
    const tendon_state *s = &f->tendon[t->index];
    double dt = f->in->step, sign = t->kind == SOURCE_TENDON_HIGH ? -1 : 1;
    int row = f->row[i];
    add_tendon_moments(f, t->index, sign, i);
    f->gap[row] = 0;
    f->impulse_guess[row] = f->in->tendon_before[4 * t->index + (int)(t->kind - SOURCE_TENDON_LOW)];
    if (t->kind == SOURCE_TENDON_SPRING) {
        /* spring and damper, and the inertia beside them */
        row_spring spring = {.damping = tendon->damping, .damper = {tendon->damper[0], tendon->damper[1]}};
        if (s->taut) {
            spring.stiffness = tendon->stiffness;
            spring.stretch = s->stretch;
            memcpy(spring.spring, tendon->spring, sizeof spring.spring);
        }
        fill_spring_row(f, m, i, spring);
        f->constraint[i].force += tendon->armature * (tendon_speed(f, t->index, f->in->v_start) / dt - s->bias);
        f->constraint[i].damping += tendon->armature / dt;
    } else if (t->kind != SOURCE_TENDON_FRICTION) {
        f->gap[row] = t->kind == SOURCE_TENDON_LOW ? s->length - tendon->limit.low : tendon->limit.high - s->length;
        f->offset[row] = sign * offset_of_bias(f, s->bias);
    }
}
