/* Products with the matrices of an island and their derivatives.
 *
 *     J dense,    x' X,    dA y = (d (M y) / d q) dq* + (dM / dp) y dp,    x . dA y                                    (1)
 *
 *     A      mass of the trees at q*;  p: inertias of bodies;  letters as in island_derivatives.c
 *
 * The derivative of M y is that of inverse dynamics with the acceleration y, at rest and without gravity.
 * Reference: dyn/mass/derivatives.c.  Cost: n^2 of a tree of n dofs, times the width of (1). */
#include "linalg/dense/lu.h"
#include "world/derivative/derivative.h"

#include <string.h>

bool make_change(const island_system *s, int rows, constraint_change *out) {
    sim_arena *arena = s->step->arena;
    bool all = true;
    *out = (constraint_change){0};
    for (int k = 0; k < rows; k++) {
        out->J[k] = zeros(arena, (ptrdiff_t)s->n * s->width);
        all &= out->J[k] != NULL;
    }
    out->gap = zeros(arena, (ptrdiff_t)rows * s->width);
    out->offset = zeros(arena, (ptrdiff_t)rows * s->width);
    out->guess = zeros(arena, (ptrdiff_t)rows * s->width);
    out->friction = zeros(arena, s->step->parameters);
    out->stiffness = zeros(arena, s->step->parameters);
    out->dissipation = zeros(arena, s->step->parameters);
    return all && out->friction && out->stiffness && out->dissipation && out->gap && out->offset && out->guess;
}

void spread_rows(const island_system *s, const sim_constraint *c) {
    const sim_problem *p = &s->is->problem;
    memset(s->J, 0, sizeof *s->J * SIM_MAX_ROWS * (size_t)s->n);
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_problem_tree *t = &p->tree[c->tree[side]];
        for (int k = 0; k < c->rows; k++) {
            memcpy(s->J + (ptrdiff_t)k * s->n + t->v0, p->J + c->block[side] + (ptrdiff_t)k * t->nv,
                   sizeof *s->J * (size_t)t->nv);
        }
    }
}

void add_product(const island_system *s, double scale, const double *x, const double *X, double *y) {
    for (int i = 0; i < s->n; i++) {
        if (x[i] != 0) {
            dense_axpy(s->width, scale * x[i], X + (ptrdiff_t)i * s->width, y);
        }
    }
}

/* d A y / d q* of a tree, y in the island's order, into work->by_q. */
static void change_mass(const island_system *s, int t, const double *y) {
    const contact_step *step = s->step;
    const sim_model *m = step->motion->model;
    derivative_work *work = step->work;
    int tree = step->rows->tree[s->is->first_tree + t], v0 = s->is->problem.tree[t].v0;
    static const v3 no_gravity = {0, 0, 0};
    memcpy(work->x + m->tree[tree].v0, y + v0, sizeof *y * (size_t)m->tree[tree].nv);
    sim_rnea_derivatives(work->dynamics, work->d, sim_tree_range(m, tree), work->zero, work->x, no_gravity, work->by_q,
                         work->by_v);
}

/* (dM / dp) y of a tree for a parameter, its y in work->x, into work->y of the tree's size; false: none. */
static bool mass_by_parameter(const island_system *s, int t, int p) {
    const contact_step *step = s->step;
    const sim_model *m = step->motion->model;
    int tree = step->rows->tree[s->is->first_tree + t];
    static const v3 no_gravity = {0, 0, 0};
    sim_body_inertia dI;
    if (!change_inertia(m, &step->parameter[p], tree, &dI)) {
        return false;
    }
    memset(step->work->y, 0, sizeof(double) * (size_t)m->tree[tree].nv);
    sim_inertia_derivatives(step->work->d, sim_tree_range(m, tree), step->parameter[p].index, &dI, false, step->work->x,
                            no_gravity, 1, step->work->y);
    return true;
}

void add_mass_change(const island_system *s, int t, double scale, const double *x, const double *y, double *to) {
    int v0 = s->is->problem.tree[t].v0, n = s->is->problem.tree[t].nv;
    change_mass(s, t, y);
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++) {
            sum += x[v0 + i] * s->step->work->by_q[(ptrdiff_t)i * n + j];
        }
        dense_axpy(s->width, scale * sum, s->place + (ptrdiff_t)(v0 + j) * s->width, to);
    }
    for (int p = 0; p < s->step->parameters; p++) {
        if (mass_by_parameter(s, t, p)) {
            to[3 * s->n + p] += scale * dense_dot(n, x + v0, s->step->work->y);
        }
    }
}

void add_mass_times(const island_system *s, int t, double scale, const double *y, double *to) {
    int v0 = s->is->problem.tree[t].v0, n = s->is->problem.tree[t].nv;
    change_mass(s, t, y);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            dense_axpy(s->width, scale * s->step->work->by_q[(ptrdiff_t)i * n + j],
                       s->place + (ptrdiff_t)(v0 + j) * s->width, to + (ptrdiff_t)(v0 + i) * s->width);
        }
    }
    for (int p = 0; p < s->step->parameters; p++) {
        bool any = mass_by_parameter(s, t, p);
        for (int i = 0; any && i < n; i++) {
            to[(ptrdiff_t)(v0 + i) * s->width + 3 * s->n + p] += scale * s->step->work->y[i];
        }
    }
}
