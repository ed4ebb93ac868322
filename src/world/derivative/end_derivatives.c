/* Derivative of the positions at the end of an island's step by those of its velocities.
 *
 *     q1 = q0 (+) dt (v0 + theta (v - v0) + c),    Moreau: q1 = q* (+) dt/2 (v + 2 c)
 *
 *     c    shift of positions (contact/island/position_correction.c), theta: part of the change that positions move with
 *
 * Reference: finish_in_contact in integrator/theta.c; integrator/move_derivatives.c.  Cost: n^2. */
#include "world/derivative/derivative.h"

/* The velocity of the last move of a tree, and its derivative. */
static void fill_rates(const island_system *s, int t, const double *dc, bool from_point, double *rate) {
    const contact_step *step = s->step;
    const double *v0 = step->motion->now->v;
    int v_first = s->is->problem.tree[t].v0, n = s->is->problem.tree[t].nv, first = s->dof[v_first];
    double travel = from_point ? 1 : theta_scheme_of(step->motion->options->integrator)->travel;
    for (int i = 0; i < n; i++) {
        int at = v_first + i;
        double shift = (from_point ? 2 : 1) * s->is->shift[at], start = v0[first + i];
        double *row = rate + (ptrdiff_t)i * s->width;
        const double *end = s->dv + (ptrdiff_t)at * s->width;
        for (int c = 0; c < s->width; c++) {
            row[c] = travel * end[c];
        }
        row[column_of(s, t, BY_START_V, at)] += 1 - travel;
        if (dc) {
            dense_axpy(s->width, from_point ? 2 : 1, dc + (ptrdiff_t)at * s->width, row);
        }
        step->work->v[first + i] = start + travel * (s->is->v[at] - start) + shift;
    }
}

/* Tree by tree: the last move, by where it begins and by its velocity. */
bool differentiate_end(const island_system *s, const double *dc, double *dq) {
    const contact_step *step = s->step;
    const sim_model *m = step->motion->model;
    const theta_scheme *scheme = theta_scheme_of(step->motion->options->integrator);
    bool from_point = scheme->explicit_position && scheme->position > 0;
    rotation_map map = !from_point && scheme->travel == 0.5 ? ROTATION_CAYLEY : ROTATION_EXP;
    double *rate = numbers_of(step->arena, (ptrdiff_t)s->n * s->width),
           *start = zeros(step->arena, from_point ? 0 : (ptrdiff_t)s->n * s->width);
    if (!rate || !start) {
        return false;
    }
    for (int t = 0; t < s->is->problem.ntree; t++) {
        int v0 = s->is->problem.tree[t].v0;
        ptrdiff_t row = (ptrdiff_t)v0 * s->width;
        sim_range bodies = sim_tree_range(m, step->rows->tree[s->is->first_tree + t]);
        fill_rates(s, t, dc, from_point, rate);
        differentiate_move(m, bodies, map, step->work->v, from_point ? 0.5 * s->dt : s->dt, &step->work->end);
        for (int i = v0; i < v0 + s->is->problem.tree[t].nv && !from_point; i++) {
            start[(ptrdiff_t)i * s->width + column_of(s, t, BY_START_Q, i)] = 1;
        }
        const double *from = from_point ? s->place : start;
        add_move_times(m, bodies, &step->work->end, MOVE_FROM, 1, s->width, from + row, s->width, dq + row, s->width);
        add_move_times(m, bodies, &step->work->end, MOVE_BY, 1, s->width, rate, s->width, dq + row, s->width);
    }
    return true;
}
