/* Derivatives of limited actuators beside constraints, by the piece of their law at the end of the step.
 *
 *     A_ (v - v_) = J' gamma + g e dt P(v),    A_ = A - g^2 E e e',    A_ v_ = A_ v* - g e dt p(v*)                 (1)
 *     s = force - E v_l / dt,    P = clamp(s(v), bound),    p = s(v*) or an end of its range, as free motion has it
 *
 *     e, g    unit vector of the joint of an actuator, and its gear;  v_l = g e . v;  E: as in contact/problem/actuators.c
 *     A       with the E of actuators that free motion has within their range
 *
 * Where P and p lie on one piece, (1) is A (v - v*) = J' gamma, whether the actuator is a row or not.  Otherwise
 *
 *     A (v - v*) - g^2 E e e' v + g e dt force = J' gamma + const.    at an end, that free motion has within           (2)
 *     A (v - v*) + g^2 E e e' v - g e dt force = J' gamma + const.    within, that free motion has at an end           (3)
 *
 * so E and dforce join both sides of the system of the island.  A force at an end is constant.  The law of the rows
 * measures by (1) without any of these actuators: A_ dv_ = A dv* + dA (v* - v_) - g e dt dp.  Positions are shifted in
 * the metric of A_, with those removed that are rows.
 * Reference: contact/problem/actuators.c, variant.c; drive_derivatives.c.  Cost: n^3 of trees with such actuators. */
#include "linalg/dense/lu.h"
#include "world/derivative/derivative.h"

#include <math.h>
#include <string.h>

static const double KINK_WIDTH = 1e-9; /* relative distance from an end of a range */

static const sim_actuator *actuator_of(const island_system *s, int k) {
    const motion_work *w = s->step->motion;
    return &w->model->actuator[w->limited[k].actuator];
}

int limited_place(const island_system *s, int k) {
    const contact_actuator *a = &s->step->motion->limited[k];
    int own = actuator_of(s, k)->tree, t = s->step->rows->local[own];
    bool here = t >= 0 && t < s->is->problem.ntree && s->step->rows->tree[s->is->first_tree + t] == own;
    return here && !a->moment && isfinite(1 / a->gain) ? place_of_dof(s, actuator_of(s, k)->dof) : -1;
}

bool make_servos(island_system *s, bool loads) {
    sim_arena *arena = s->step->arena;
    int limited = s->step->motion->nlimited;
    s->law_free = s->free;
    s->bare = s->factor;
    s->swap_bare = s->swap_A;
    s->limited = ARENA_NEW(arena, int, limited + 1);
    if (limited > 0) {
        s->law_free = zeros(arena, loads ? (ptrdiff_t)s->n * s->width : 0);
        s->bare = zeros(arena, s->squares);
        s->swap_bare = ARENA_NEW(arena, int, s->n);
        s->hold = zeros(arena, s->squares);
        s->hold_by = zeros(arena, (ptrdiff_t)s->step->parameters * s->n);
    }
    return s->limited && s->law_free && s->bare && s->swap_bare && (limited == 0 || (s->hold && s->hold_by));
}

/* ---- the force ---- */

void differentiate_held_weight(const island_system *s, int t) {
    const contact_step *step = s->step;
    const motion_work *w = step->motion;
    const sim_model *m = w->model;
    derivative_work *work = step->work;
    int tree = step->rows->tree[s->is->first_tree + t], n = m->tree[tree].nv;
    sim_range bodies = sim_tree_range(m, tree);
    bool holds = false;
    for (int k = w->parts[tree].limited0; k < w->parts[tree].limited_end; k++) {
        holds |= actuator_of(s, k)->gravity_compensation;
    }
    if (!holds) {
        return;
    }
    /* by the place, then by inertias */
    sim_rnea_derivatives(work->dynamics, step->start, bodies, work->zero, NULL, m->gravity, s->hold + s->square[t],
                         work->by_v);
    for (int p = 0; p < step->parameters; p++) {
        double *weight = s->hold_by + (ptrdiff_t)p * s->n + s->is->problem.tree[t].v0;
        sim_body_inertia dI;
        if (change_inertia(m, &step->parameter[p], tree, &dI)) {
            memset(weight, 0, sizeof *weight * (size_t)n);
            sim_inertia_derivatives(step->start, bodies, step->parameter[p].index, &dI, false, NULL, m->gravity, 1,
                                    weight);
        }
    }
}

/* Adds `scale` times g dt dforce of a limited actuator, whose joint is at a place in the island, to its row. */
static void add_servo_force(const island_system *s, int k, int place, double scale, double *row) {
    const motion_work *w = s->step->motion;
    const sim_actuator *of = actuator_of(s, k);
    int t = s->step->rows->local[of->tree], v0 = s->is->problem.tree[t].v0, n = s->is->problem.tree[t].nv;
    double travel = theta_travel(w->options->integrator), h = scale * s->dt;
    drive_slopes at = {0};
    add_drive_slopes(w, w->limited_order[k], false, &at);
    /* by its own length and rate */
    row[column_of(s, t, BY_START_Q, place)] += h * (at.q0 + at.q1);
    row[column_of(s, t, BY_START_V, place)] += h * (at.v0 + at.q1 * s->dt * (1 - travel));
    /* by the weight that it holds */
    const double *hold = s->hold + s->square[t] + (ptrdiff_t)(place - v0) * n;
    for (int j = 0; j < n && at.holds; j++) {
        row[column_of(s, t, BY_START_Q, v0 + j)] += h * hold[j];
    }
    for (int p = 0; p < s->step->parameters; p++) {
        const sim_parameter *by = &s->step->parameter[p];
        bool own = (int)by->kind == BY_SERVO && by->index == w->limited[k].actuator;
        row[s->parameter0 + p] += own ? h : at.holds ? h * s->hold_by[(ptrdiff_t)p * s->n + place] : 0;
    }
}

/* ---- the system of the island ---- */

void differentiate_servos(island_system *s) {
    const motion_work *w = s->step->motion;
    for (int k = 0; k < w->nlimited; k++) {
        const contact_actuator *a = &w->limited[k];
        int place = limited_place(s, k);
        if (place < 0) {
            continue;
        }
        /* its side at the end */
        double g = actuator_of(s, k)->gear, fall = a->gain / s->dt, effort = a->force - fall * g * s->is->v[place];
        int end = (effort > a->bound) - (effort < -a->bound);
        double near = fmax(KINK_WIDTH * fmax(a->bound, fabs(effort)), fall * fabs(g) * s->step->near);
        s->kinks += fabs(fabs(effort) - a->bound) <= near;
        if (end == a->side || (end && a->side)) {
            continue;
        }
        /* (2), (3) */
        double sign = end ? -1 : 1;
        s->H[(ptrdiff_t)place * (s->stride + 1)] += sign * g * g * a->gain;
        add_servo_force(s, k, place, sign, s->dv + (ptrdiff_t)place * s->width);
    }
}

/* ---- masses without them ---- */

/* A less the gains of some actuators, factored tree by tree. */
static bool factor_without(const island_system *s, const int *limited, int count, double *factor, int *swap) {
    const motion_work *w = s->step->motion;
    const sim_problem *p = &s->is->problem;
    memcpy(factor, s->A, sizeof *factor * (size_t)s->squares);
    for (int i = 0; i < count; i++) {
        const contact_actuator *a = &w->limited[limited[i]];
        const sim_actuator *of = actuator_of(s, limited[i]);
        if (limited_place(s, limited[i]) >= 0 && !a->side) {
            int tree = s->step->rows->local[of->tree], n = p->tree[tree].nv;
            ptrdiff_t j = of->dof - w->model->tree[of->tree].v0;
            factor[s->square[tree] + j * (row_stride(n) + 1)] -= of->gear * of->gear * a->gain;
        }
    }
    bool ok = true;
    for (int t = 0; t < p->ntree; t++) {
        ok = ok && lu_factor(p->tree[t].nv, row_stride(p->tree[t].nv), factor + s->square[t], swap + p->tree[t].v0,
                             s->solve, NULL);
    }
    return ok;
}

bool factor_masses(const island_system *s) {
    const motion_work *w = s->step->motion;
    int *all = s->limited;
    for (int k = 0; k < w->nlimited; k++) {
        all[k] = k;
    }
    return factor_without(s, all, 0, s->factor, s->swap_A) &&
           (s->bare == s->factor || factor_without(s, all, w->nlimited, s->bare, s->swap_bare));
}

bool factor_mass_of_rows(const island_system *s) {
    int *rows = s->limited;
    for (int k = 0; k < s->is->rows; k++) {
        rows[k] = s->step->rows->source[s->is->source[s->is->first_actuator + s->is->order[k]]].index;
    }
    return s->is->rows == 0 || factor_without(s, rows, s->is->rows, s->factor, s->swap_A);
}

/* ---- the free motion by which laws measure ---- */

/* A v* and A dv*. */
static void begin_law_free(const island_system *s) {
    const sim_problem *p = &s->is->base;
    for (int t = 0; t < p->ntree; t++) {
        int v0 = p->tree[t].v0, n = p->tree[t].nv;
        const double *A = s->A + s->square[t];
        for (int i = 0; i < n; i++) {
            const double *row = A + (ptrdiff_t)i * row_stride(n);
            s->v_law[v0 + i] = dense_dot(n, row, p->v_free + v0);
            for (int j = 0; j < n; j++) {
                if (row[j] != 0) {
                    dense_axpy(s->width, row[j], s->free + (ptrdiff_t)(v0 + j) * s->width,
                               s->law_free + (ptrdiff_t)(v0 + i) * s->width);
                }
            }
        }
    }
}

/* Does an actuator share the range of its joint with others?  Then its middle moves with the state. */
static bool shares_its_range(const motion_work *w, int k) {
    int of = w->shared_of[w->limited_order[k]];
    return of >= 0 && w->shared[of].count > 1;
}

void differentiate_law_free(island_system *s) {
    const motion_work *w = s->step->motion;
    const sim_problem *p = &s->is->base;
    memcpy(s->v_law, p->v_free, sizeof *s->v_law * (size_t)s->n);
    if (s->bare == s->factor) {
        return;
    }
    memset(s->v_law, 0, sizeof *s->v_law * (size_t)s->n);
    begin_law_free(s);
    /* less dt g p */
    for (int k = 0; k < w->nlimited; k++) {
        const contact_actuator *a = &w->limited[k];
        int place = limited_place(s, k);
        if (place < 0) {
            continue;
        }
        s->v_law[place] -= s->dt * actuator_of(s, k)->gear * (a->side ? a->side * a->bound : a->force);
        if (!a->side) {
            add_servo_force(s, k, place, -1, s->law_free + (ptrdiff_t)place * s->width);
        }
        if (shares_its_range(w, k)) {
            s->trouble = "has several actuators beside constraints that share the range of a joint";
        }
    }
    /* A_^-1 of both, with dA (v* - v_) */
    double *y = s->y;
    for (int t = 0; t < p->ntree; t++) {
        int v0 = p->tree[t].v0, n = p->tree[t].nv;
        lu_solve(n, row_stride(n), s->bare + s->square[t], s->swap_bare + v0, s->v_law + v0);
    }
    for (int j = 0; j < s->n; j++) {
        y[j] = p->v_free[j] - s->v_law[j];
    }
    for (int t = 0; t < p->ntree; t++) {
        int v0 = p->tree[t].v0, n = p->tree[t].nv;
        add_mass_times(s, t, 1, y, s->law_free);
        lu_solve_block(n, row_stride(n), s->bare + s->square[t], s->swap_bare + v0, s->width,
                       s->law_free + (ptrdiff_t)v0 * s->width, s->solve);
    }
}
