/* Derivatives of the rows of an equality between two bodies by the start of the step.
 *
 *     connect, weld    J_rk = +-S_k,    gap = d, log(R_A R_B'),    w = k h,  h = a_A - a_B, alpha_A - alpha_B
 *     distance         J_k = +-n . S_k,  gap = |d| - L,  h = n . (a_A - a_B) + |V - n (n . V)|^2 / |d|
 *     d v / d q_j = S_j x (v - v_P),    d a / d q_j = S_j x (a - a_P) + (v_P x S_j) x (v - v_P)                         (1)
 *     d v / d v_j = S_j,                d a / d v_j = v_P x S_j + S_j x (v - v_j)                                      (2)
 *
 *     S      axis of a dof on the path to a body, at the point of its frame, world axes, where the scheme takes its forces
 *     v, a   velocity there, and spatial acceleration while no joint accelerates; of P: before the dof; of j: past it
 *     d, n, V    way from B to A, m, its direction, its rate;  L: length, m;  k: dt (3/2 - theta - p), s
 *
 * The point moves with its body, so its acceleration a + w x V changes with it.  The three dofs of an orientation turn
 * together: they share v_P, a_P and v_j.  Rows whose offset is not k h are of another rule, and have no derivative.
 * Reference: contact/problem/row/equalities.c; R. Featherstone 2008, section 2.9.  Cost: n^2 a row. */
#include "dyn/mass/wrench.h"
#include "world/derivative/derivative.h"

#include <math.h>
#include <string.h>

static const double MAX_OFFSET_ERROR = 1e-6; /* of h, over its terms: velocities of the last sweep but one */

/* A dof on the path to a body, at its point, and the motions before and past it. */
typedef struct chain_dof {
    int dof, row;
    motion S, v_before, a_before, v_past;
} chain_dof;

/* A side, where the scheme takes its forces. */
typedef struct chain {
    int count;
    chain_dof *at; /* from the root */
    motion v, a;
    v3 x;
    m3 R; /* of its frame */
} chain;

/* Of A over B along one dof: by q, by v; angular parts, and those of the point. */
typedef struct pair_change {
    v3 way, turn;                              /* by q */
    v3 V_q, V_v, acc_q, acc_v, spin_q, spin_v; /* rates; accelerations and angular ones */
} pair_change;

typedef struct pair {
    const island_system *s;
    const sim_equality *e;
    const local_frame *at;
    chain side[2];
    pair_change *by; /* [n] */
    v3 way, n, V, acc, spin;
    double length;
} pair;

static motion motion_cross(motion a, motion b) {
    return (motion){v3_cross(a.ang, b.ang), v3_add(v3_cross(a.ang, b.lin), v3_cross(a.lin, b.ang))};
}

static motion motion_sub(motion a, motion b) { return (motion){v3_sub(a.ang, b.ang), v3_sub(a.lin, b.lin)}; }

static int last_dof_of(const sim_model *m, int body) {
    while (body > 0 && m->body[body].nv == 0) {
        body = m->body[body].parent;
    }
    return body > 0 ? m->body[body].v0 + m->body[body].nv - 1 : -1;
}

/* The part of a with which the velocity changes until the scheme takes its forces. */
static double part_at_forces(const contact_step *step, int tree) {
    const theta_scheme *scheme = theta_scheme_of(step->motion->options->integrator);
    return step->motion->parts[tree].turns ? scheme->turning : scheme->velocity;
}

/* Is h taken with the velocities of the free motion, whose kinematics begin the step? */
static bool takes_free_velocity(const contact_step *step) { return step->contacts->start == step->motion->derived; }

/* The velocity of a dof there. */
static double rate_at_forces(const island_system *s, int dof) {
    const contact_step *step = s->step;
    const motion_work *w = step->motion;
    int tree = w->model->body[w->model->dof[dof].body].tree;
    return takes_free_velocity(step)
               ? s->is->problem.v_free[place_of_dof(s, dof)]
               : w->now->v[dof] + part_at_forces(step, tree) * w->options->step * step->to->a[dof];
}

/* The path to the point of a side, in kinematics d. */
static bool list_chain(const island_system *s, const sim_derived *d, const sim_equality *e, const local_frame *at,
                       int side, chain *out) {
    const sim_model *m = d->model;
    const pose *X = &d->pose[e->body[side]];
    out->x = pose_point(*X, e->frame[side].p);
    out->R = m3_product(X->R, e->frame[side].R);
    out->count = 0;
    out->at = ARENA_NEW(s->step->arena, chain_dof, at->n + 1);
    int last = last_dof_of(m, e->body[side]);
    for (int k = last; k >= 0; k = m->dof[k].parent) {
        out->count++;
    }
    for (int k = last, i = out->count - 1; out->at && k >= 0; k = m->dof[k].parent, i--) {
        v3 lever = v3_sub(out->x, d->pose[m->dof[k].body].p);
        out->at[i] = (chain_dof){.dof = k, .row = local_dof(s, at, k), .S = motion_at_child(d->S[k], lever)};
    }
    return out->at != NULL;
}

/* v and a of (1) and (2), from the root. */
static void find_motions(const island_system *s, chain *c) {
    const sim_model *m = s->step->motion->model;
    c->v = c->a = (motion){{0, 0, 0}, {0, 0, 0}};
    for (int i = 0, next; i < c->count; i = next) {
        motion v = c->v, a = c->a;
        for (next = i; next < c->count && (next == i || turn_together(m, c->at[i].dof, c->at[next].dof)); next++) {
            double rate = rate_at_forces(s, c->at[next].dof);
            c->at[next].v_before = v;
            c->at[next].a_before = a;
            c->v = motion_axpy(c->v, rate, c->at[next].S);
            c->a = motion_axpy(c->a, rate, motion_cross(v, c->at[next].S));
        }
        for (int k = i; k < next; k++) {
            c->at[k].v_past = c->v;
        }
    }
}

/* The acceleration of the point that moves with the body: a + w x v, and its change with dx. */
static v3 point_change(const chain *c, motion dv, motion da, v3 dx) {
    v3 rate = v3_add(dv.lin, v3_cross(c->v.ang, dx));
    v3 sum = v3_add(da.lin, v3_cross(c->a.ang, dx));
    return v3_add(sum, v3_add(v3_cross(dv.ang, c->v.lin), v3_cross(c->v.ang, rate)));
}

/* (1), (2) of all dofs of a side. */
static void differentiate_chain(const chain *c, double sign, pair_change *by) {
    static const v3 none = {0, 0, 0};
    for (int i = 0; i < c->count; i++) {
        const chain_dof *j = &c->at[i];
        pair_change *to = &by[j->row];
        motion over = motion_sub(c->v, j->v_before);
        motion v_q = motion_cross(j->S, over);
        motion a_q = motion_cross(j->S, motion_sub(c->a, j->a_before));
        a_q = motion_axpy(a_q, 1, motion_cross(motion_cross(j->v_before, j->S), over));
        motion a_v = motion_cross(j->v_before, j->S);
        a_v = motion_axpy(a_v, 1, motion_cross(j->S, motion_sub(c->v, j->v_past)));
        to->way = v3_axpy(to->way, sign, j->S.lin);
        to->V_q = v3_axpy(to->V_q, sign, v3_add(v_q.lin, v3_cross(c->v.ang, j->S.lin)));
        to->V_v = v3_axpy(to->V_v, sign, j->S.lin);
        to->acc_q = v3_axpy(to->acc_q, sign, point_change(c, v_q, a_q, j->S.lin));
        to->acc_v = v3_axpy(to->acc_v, sign, point_change(c, j->S, a_v, none));
        to->spin_q = v3_axpy(to->spin_q, sign, a_q.ang);
        to->spin_v = v3_axpy(to->spin_v, sign, a_v.ang);
    }
}

/* ---- rows ---- */

/* Adds `scale` times the columns of a dof of the island, from rows of its width, to a row of the local width. */
static void add_dof_columns(const pair *p, int dof, double scale, const double *rows, double *to) {
    const local_frame *at = p->at;
    int on = at->trees == 2 && dof >= at->dofs[0], place = at->dof[on] + dof - (on ? at->dofs[0] : 0);
    const double *row = rows + (ptrdiff_t)place * p->s->width;
    int parameters = p->s->step->parameters;
    if (scale != 0) {
        dense_axpy(at->columns[on], scale, row + at->column[on], to + (on ? at->columns[0] : 0));
        dense_axpy(parameters, scale, row + p->s->parameter0, to + at->width - parameters);
    }
}

static double component(v3 a, int k) { return k == 0 ? a.x : k == 1 ? a.y : a.z; }

/* Change of n with d. */
static v3 direction_change(const pair *p, v3 way) {
    return p->length > 0 ? v3_scale(1 / p->length, v3_axpy(way, -v3_dot(p->n, way), p->n)) : (v3){0, 0, 0};
}

/* dJ of a side: where its axes turn and its point moves, and n with both points. */
static void differentiate_axes(const pair *p, const chain *c, double sign, constraint_change *out) {
    const sim_model *m = p->s->step->motion->model;
    int rows = sim_equality_rows(p->e->type);
    for (int k = 0; k < c->count; k++) {
        const chain_dof *of = &c->at[k];
        for (int j = 0; j < c->count; j++) {
            const chain_dof *by = &c->at[j];
            motion change = axis_change(m, by->dof, of->dof, by->S, of->S);
            v3 lin = v3_add(change.lin, v3_cross(of->S.ang, by->S.lin));
            for (int r = 0; r < rows; r++) {
                double D = p->e->type == SIM_DISTANCE ? v3_dot(p->n, lin)
                           : r < 3                    ? component(lin, r)
                                                      : component(change.ang, r - 3);
                add_dof_columns(p, by->row, sign * D, p->s->place, out->J[r] + of->row * (ptrdiff_t)p->at->width);
            }
        }
        for (int j = 0; p->e->type == SIM_DISTANCE && j < p->at->n; j++) {
            double D = v3_dot(direction_change(p, p->by[j].way), of->S.lin);
            add_dof_columns(p, j, sign * D, p->s->place, out->J[0] + of->row * (ptrdiff_t)p->at->width);
        }
    }
}

/* dh of row r by a dof, from changes of d, V and both accelerations. */
static double bias_change(const pair *p, int r, v3 way, v3 V, v3 acc, v3 spin) {
    if (p->e->type != SIM_DISTANCE) {
        return r < 3 ? component(acc, r) : component(spin, r - 3);
    }
    if (p->length == 0) {
        return v3_dot(p->n, acc);
    }
    v3 dn = direction_change(p, way);
    double along = v3_dot(p->n, p->V), dalong = v3_dot(dn, p->V) + v3_dot(p->n, V);
    double square = v3_dot(p->V, p->V) - along * along, dsquare = 2 * (v3_dot(p->V, V) - along * dalong);
    return v3_dot(dn, p->acc) + v3_dot(p->n, acc) + dsquare / p->length -
           square * v3_dot(p->n, way) / (p->length * p->length);
}

static double bias_of(const pair *p, int r) {
    if (p->e->type != SIM_DISTANCE) {
        return r < 3 ? component(p->acc, r) : component(p->spin, r - 3);
    }
    double along = v3_dot(p->n, p->V), square = v3_dot(p->V, p->V) - along * along;
    return v3_dot(p->n, p->acc) + (p->length > 0 ? square / p->length : 0);
}

/* Adds `scale` times the columns of the velocity of a dof where h is taken. */
static void add_rate_columns(const pair *p, int dof, double scale, double *to) {
    const island_system *s = p->s;
    const contact_step *step = s->step;
    int on = p->at->trees == 2 && dof >= p->at->dofs[0], own = dof - (on ? p->at->dofs[0] : 0);
    int tree = step->rows->tree[s->is->first_tree + p->at->tree[on]];
    if (takes_free_velocity(step)) {
        add_dof_columns(p, dof, scale, s->free, to);
        return;
    }
    double part = part_at_forces(step, tree);
    add_dof_columns(p, dof, scale * part * s->dt, s->a, to);
    to[(on ? p->at->columns[0] : 0) + (int)BY_START_V * p->at->dofs[on] + own] += scale;
}

/* dw; false: w of the step is another one. */
static bool differentiate_offsets(const pair *p, int i, constraint_change *out) {
    const island_system *s = p->s;
    const contact_step *step = s->step;
    sim_integrator scheme = step->motion->options->integrator;
    double k = s->dt * (1.5 - theta_travel(scheme) - theta_position(scheme));
    double size = v3_norm(p->acc) + v3_norm(p->spin) + v3_norm(p->side[0].a.lin) + v3_norm(p->side[1].a.lin) +
                  v3_norm(step->motion->model->gravity);
    const double *offset = s->is->problem.offset;
    for (int r = 0; r < sim_equality_rows(p->e->type); r++) {
        double *to = out->offset + (ptrdiff_t)r * p->at->width;
        double w = offset ? offset[s->is->problem.constraint[i].row + r] : 0;
        if (fabs(w - k * bias_of(p, r)) > MAX_OFFSET_ERROR * s->dt * size) {
            return false;
        }
        for (int j = 0; j < p->at->n; j++) {
            const pair_change *by = &p->by[j];
            v3 none = {0, 0, 0};
            double by_q = k * bias_change(p, r, by->way, by->V_q, by->acc_q, by->spin_q);
            double by_v = k * bias_change(p, r, none, by->V_v, by->acc_v, by->spin_v);
            add_dof_columns(p, j, by_q, s->place, to);
            add_rate_columns(p, j, by_v, to);
        }
    }
    return true;
}

/* d gap, at the start. */
static bool differentiate_gaps(const pair *p, constraint_change *out) {
    const island_system *s = p->s;
    chain side[2];
    for (int k = 0; k < 2; k++) {
        if (!list_chain(s, s->step->start, p->e, p->at, k, &side[k])) {
            return false;
        }
    }
    v3 way = v3_sub(side[0].x, side[1].x);
    double length = v3_norm(way);
    v3 n = length > 0 ? v3_scale(1 / length, way) : (v3){1, 0, 0};
    m3 R = m3_product(side[0].R, m3_transpose(side[1].R));
    v3 turn = quat_log(quat_from_matrix(R));
    m3 log = m3_transpose(rotation_log_derivative(turn)); /* from axes of the world */
    for (int k = 0; k < 2; k++) {
        for (int j = 0; j < side[k].count; j++) {
            const chain_dof *by = &side[k].at[j];
            int column = local_column(s, p->at, BY_START_Q, by->dof);
            double sign = k ? -1 : 1;
            v3 spin = m3_times(log, k ? m3_times(R, by->S.ang) : by->S.ang);
            for (int r = 0; r < sim_equality_rows(p->e->type); r++) {
                double change = p->e->type == SIM_DISTANCE ? v3_dot(n, by->S.lin)
                                : r < 3                    ? component(by->S.lin, r)
                                                           : component(spin, r - 3);
                out->gap[r * (ptrdiff_t)p->at->width + column] += sign * change;
            }
        }
    }
    return true;
}

/* Both paths where the scheme takes its forces; then J, offsets and gaps. */
bool differentiate_pair(const island_system *s, int i, const sim_equality *e, constraint_change *out) {
    size_t mark = arena_mark(s->step->arena);
    pair p = {.s = s, .e = e, .at = &out->at};
    p.by = ARENA_NEW(s->step->arena, pair_change, out->at.n + 1);
    bool ok = p.by != NULL;
    for (int k = 0; k < 2 && ok; k++) {
        ok = list_chain(s, s->step->work->d, e, &out->at, k, &p.side[k]);
    }
    if (ok) {
        memset(p.by, 0, (size_t)out->at.n * sizeof *p.by);
        for (int k = 0; k < 2; k++) {
            find_motions(s, &p.side[k]);
            differentiate_chain(&p.side[k], k ? -1 : 1, p.by);
        }
        const chain *a = &p.side[0], *b = &p.side[1];
        v3 swing[2] = {v3_cross(a->v.ang, a->v.lin), v3_cross(b->v.ang, b->v.lin)};
        p.way = v3_sub(a->x, b->x);
        p.length = v3_norm(p.way);
        p.n = p.length > 0 ? v3_scale(1 / p.length, p.way) : (v3){1, 0, 0};
        p.V = v3_sub(a->v.lin, b->v.lin);
        p.acc = v3_sub(v3_add(a->a.lin, swing[0]), v3_add(b->a.lin, swing[1]));
        p.spin = v3_sub(a->a.ang, b->a.ang);
        differentiate_axes(&p, a, 1, out);
        differentiate_axes(&p, b, -1, out);
        if (!differentiate_offsets(&p, i, out)) {
            out->trouble = "has a constraint between bodies of which one is soft or stops within the step";
        }
        ok = differentiate_gaps(&p, out);
    }
    arena_release(s->step->arena, mark);
    return ok;
}
