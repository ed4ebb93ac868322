/* Products with the matrices of an island and their derivatives.
 *
 *     J of two trees,    x' X,    dA y = (d (M y) / d q) dq* + (dM / dp) y dp + dE y,    x . dA y,    A^-1 C          (1)
 *
 *     A      mass of the trees at q*, tree by tree;  p: inertias of bodies;  letters as in island_derivatives.c
 *     E      diagonal of dampers and springs; it changes with v and q* by terms of the second and third degree
 *
 * A constraint touches two trees at most.  So its rows and their derivatives have the dofs and columns of these alone.
 * The derivative of M y is that of inverse dynamics with the acceleration y, at rest and without gravity.
 * Reference: dyn/mass/derivatives.c.  Cost: n^2 of a tree of n dofs, times the columns of (1). */
#include "linalg/dense/lu.h"
#include "model/parts/joint.h"
#include "world/derivative/derivative.h"

#include <string.h>

/* ---- the part of a constraint ---- */

bool follows_contacts(const contact_step *step, const island *is) {
    for (int i = 0; i < constraints_of(is); i++) {
        const constraint_source *t = &step->rows->source[is->source[i]];
        if (t->kind == SOURCE_CONTACT && lasting_contact(step, t->index)) {
            return true;
        }
    }
    return false;
}

bool has_bends(const contact_step *step, const island *is) {
    const sim_model *m = step->motion->model;
    for (int t = 0; t < is->problem.ntree; t++) {
        const sim_tree *tree = &m->tree[step->rows->tree[is->first_tree + t]];
        for (int j = tree->v0; j < tree->v0 + tree->nv; j++) {
            if (dof_has_terms(&m->dof[j])) {
                return true;
            }
        }
    }
    return false;
}

/* Rows of contacts and joints move with q0 alone, or with v0 besides, where q* follows no force of the step. */
int row_parts_of(const contact_step *step, const island *is, int all) {
    const theta_scheme *scheme = theta_scheme_of(step->motion->options->integrator);
    if (has_bends(step, is)) {
        return all;
    }
    for (int i = 0; i < constraints_of(is); i++) {
        if (step->rows->source[is->source[i]].kind == SOURCE_EQUALITY) {
            return all;
        }
    }
    return !scheme->explicit_position ? all : scheme->position > 0 ? BY_START_V + 1 : BY_START_Q + 1;
}

static local_frame frame_of(const island_system *s, const sim_constraint *c) {
    local_frame at = {0};
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_problem_tree *t = &s->is->problem.tree[c->tree[side]];
        at.tree[side] = c->tree[side];
        at.dof[side] = t->v0;
        at.dofs[side] = t->nv;
        at.column[side] = s->column[c->tree[side]];
        at.columns[side] = s->row_parts * t->nv;
        at.n += t->nv;
        at.width += at.columns[side];
        at.trees++;
    }
    at.width += s->step->parameters;
    return at;
}

static bool open_change(const island_system *s, int rows, local_frame at, constraint_change *out) {
    sim_arena *arena = s->step->arena;
    bool all = true;
    *out = (constraint_change){.at = at};
    for (int k = 0; k < rows; k++) {
        out->J[k] = zeros(arena, (ptrdiff_t)at.n * at.width);
        all &= out->J[k] != NULL;
    }
    out->gap = zeros(arena, (ptrdiff_t)rows * at.width);
    out->offset = zeros(arena, (ptrdiff_t)rows * at.width);
    out->guess = zeros(arena, (ptrdiff_t)rows * at.width);
    out->turn = zeros(arena, (ptrdiff_t)3 * at.width);
    surface_rates *surface = &out->surface;
    surface->friction = zeros(arena, s->step->parameters);
    surface->stiffness = zeros(arena, s->step->parameters);
    surface->dissipation = zeros(arena, s->step->parameters);
    return all && surface->friction && surface->stiffness && surface->dissipation && out->gap && out->offset &&
           out->guess && out->turn;
}

bool open_constraint(const island_system *s, int i, constraint_system *k) {
    const sim_problem *p = &s->is->problem;
    const sim_constraint *c = &p->constraint[i];
    local_frame at = frame_of(s, c);
    *k = (constraint_system){.index = i, .c = c, .impulse = s->is->impulse + c->row};
    k->J = numbers_of(s->step->arena, (ptrdiff_t)c->rows * at.n);
    k->Y = numbers_of(s->step->arena, (ptrdiff_t)c->rows * at.n);
    k->bare = numbers_of(s->step->arena, (ptrdiff_t)c->rows * at.n);
    if (!k->J || !k->Y || !k->bare || !open_change(s, c->rows, at, &k->by)) {
        return false;
    }
    for (int side = 0, first = 0; side < at.trees; first += at.dofs[side], side++) {
        for (int r = 0; r < c->rows; r++) {
            memcpy(k->J + (ptrdiff_t)r * at.n + first, p->J + c->block[side] + (ptrdiff_t)r * at.dofs[side],
                   sizeof *k->J * (size_t)at.dofs[side]);
        }
    }
    return true;
}

void add_local(const island_system *s, const local_frame *at, double scale, const double *local, double *to) {
    for (int side = 0; side < at->trees; side++) {
        dense_axpy(at->columns[side], scale, local, to + at->column[side]);
        local += at->columns[side];
    }
    dense_axpy(s->step->parameters, scale, local, to + s->parameter0);
}

void add_columns(const island_system *s, int tree, double scale, const double *x, double *to) {
    int first = s->column[tree];
    dense_axpy(s->parts * s->is->problem.tree[tree].nv, scale, x + first, to + first);
    dense_axpy(s->step->parameters, scale, x + s->parameter0, to + s->parameter0);
}

void add_set(const island_system *s, const column_set *set, double scale, const double *x, double *y) {
    if (set->all) {
        dense_axpy(s->width, scale, x, y);
        return;
    }
    for (int side = 0; side < set->at->trees; side++) {
        int first = set->at->column[side];
        int count = set->wide ? s->parts * set->at->dofs[side] : set->at->columns[side];
        dense_axpy(count, scale, x + first, y + first);
    }
    dense_axpy(s->step->parameters, scale, x + s->parameter0, y + s->parameter0);
    dense_axpy(set->guesses, scale, x + set->guess, y + set->guess);
}

double local_dot(const local_frame *at, const double *local, const double *v) {
    double sum = 0;
    for (int side = 0; side < at->trees; side++) {
        sum += dense_dot(at->dofs[side], local, v + at->dof[side]);
        local += at->dofs[side];
    }
    return sum;
}

void add_product(const local_frame *at, double scale, const double *x, const double *X, double *y) {
    for (int i = 0; i < at->n; i++) {
        if (x[i] != 0) {
            dense_axpy(at->width, scale * x[i], X + (ptrdiff_t)i * at->width, y);
        }
    }
}

/* ---- mass ---- */

/* A free body about its centre of mass has the same mass matrix everywhere. */
static bool has_constant_mass(const island_system *s, int t) {
    const sim_model *m = s->step->motion->model;
    const sim_tree *tree = &m->tree[s->step->rows->tree[s->is->first_tree + t]];
    v3 h = m->inertia[tree->body0].h;
    return tree->nbody == 1 && m->body[tree->body0].joint == SIM_FREE && v3_dot(h, h) == 0;
}

/* d A y / d q* of a tree, y of its dofs, into work->by_q. */
static void change_mass(const island_system *s, int t, const double *y) {
    const contact_step *step = s->step;
    const sim_model *m = step->motion->model;
    derivative_work *work = step->work;
    int tree = step->rows->tree[s->is->first_tree + t];
    static const v3 no_gravity = {0, 0, 0};
    memcpy(work->x + m->tree[tree].v0, y, sizeof *y * (size_t)m->tree[tree].nv);
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

bool tabulate_mass(const island_system *s, int t) {
    int n = s->is->problem.tree[t].nv;
    if (has_constant_mass(s, t)) {
        return true;
    }
    double *unit = s->y, *table = numbers_of(s->step->arena, (ptrdiff_t)n * n * n);
    for (int k = 0; table && k < n; k++) {
        for (int i = 0; i < n; i++) {
            unit[i] = i == k;
        }
        change_mass(s, t, unit);
        memcpy(table + (ptrdiff_t)k * n * n, s->step->work->by_q, sizeof *table * (size_t)n * (size_t)n);
    }
    s->mass_change[t] = table;
    return table != NULL;
}

/* Adds the derivatives of x . A y by q* of a tree to `to`. */
static void add_mass_gradient(const island_system *s, int t, const double *x, const double *y, double *to) {
    int n = s->is->problem.tree[t].nv;
    const double *table = s->mass_change[t];
    if (has_constant_mass(s, t)) {
        return;
    }
    if (!table) {
        change_mass(s, t, y);
    }
    for (int k = 0; k < (table ? n : 1); k++) {
        const double *by_q = table ? table + (ptrdiff_t)k * n * n : s->step->work->by_q;
        for (int i = 0; i < n; i++) {
            double scale = table ? x[i] * y[k] : x[i];
            if (scale != 0) {
                dense_axpy(n, scale, by_q + (ptrdiff_t)i * n, to);
            }
        }
    }
}

/* The same of the diagonal of E: by q*, and by the velocities at which dampers act. */
static void add_diagonal_gradient(const island_system *s, int t, const double *x, const double *y, double *by_place,
                                  double *by_rate) {
    int v0 = s->is->problem.tree[t].v0, n = s->is->problem.tree[t].nv;
    for (int i = 0; s->bend && i < n; i++) {
        const diagonal_change *E = &s->bend[v0 + i];
        for (int k = 0; k < E->count; k++) {
            by_place[E->first + k - s->dof[v0]] += x[i] * y[i] * E->by_q[k];
        }
        by_rate[i] += x[i] * y[i] * E->by_v;
    }
}

/* dA y of the diagonal of E alone. */
static void add_diagonal_times(const island_system *s, int t, double scale, const double *y, double *to) {
    int v0 = s->is->problem.tree[t].v0, n = s->is->problem.tree[t].nv;
    for (int i = v0; s->bend && i < v0 + n; i++) {
        const diagonal_change *E = &s->bend[i];
        double *row = to + (ptrdiff_t)i * s->width;
        for (int k = 0; k < E->count; k++) {
            int from = v0 + E->first + k - s->dof[v0];
            add_columns(s, t, scale * y[i] * E->by_q[k], s->place + (ptrdiff_t)from * s->width, row);
        }
        add_columns(s, t, scale * y[i] * E->by_v, s->rate + (ptrdiff_t)i * s->width, row);
    }
}

void differentiate_diagonals(const island_system *s, int t) {
    const contact_step *step = s->step;
    const motion_work *w = step->motion;
    const theta_scheme *scheme = theta_scheme_of(w->options->integrator);
    double gain = scheme->damper * s->dt;
    for (int i = s->is->problem.tree[t].v0; s->bend && i < s->is->problem.tree[t].v0 + s->is->problem.tree[t].nv; i++) {
        int j = s->dof[i];
        double *rate = s->rate + (ptrdiff_t)i * s->width;
        differentiate_diagonal(w, scheme, j, step->work->q, w->now->v[j] + gain * step->to->a[j], &s->bend[i]);
        add_columns(s, t, gain, s->a + (ptrdiff_t)i * s->width, rate);
        rate[column_of(s, t, BY_START_V, i)] += 1;
    }
}

void add_mass_change(const island_system *s, const local_frame *at, int side, double scale, int rows, const double *x,
                     const double *y, double *to) {
    int t = at->tree[side], n = at->dofs[side], parameters = s->step->parameters;
    double *by_parameter = to + at->width - parameters, *by_place = s->y, *by_rate = s->by_rate;
    /* by the inertias of the tree, its place and its rates */
    memset(by_place, 0, sizeof *by_place * (size_t)n);
    memset(by_rate, 0, sizeof *by_rate * (size_t)n);
    for (int r = 0; r < rows; r++) {
        const double *x_r = x + (ptrdiff_t)r * at->n, *y_r = y + (ptrdiff_t)r * at->n;
        if (dense_dot(n, x_r, x_r) == 0) {
            continue;
        }
        add_mass_gradient(s, t, x_r, y_r, by_place);
        add_diagonal_gradient(s, t, x_r, y_r, by_place, by_rate);
        for (int p = 0; p < parameters; p++) {
            memcpy(s->step->work->x + s->dof[at->dof[side]], y_r, sizeof *y * (size_t)n);
            if (mass_by_parameter(s, t, p)) {
                by_parameter[p] += scale * dense_dot(n, x_r, s->step->work->y);
            }
        }
    }
    /* these by the start */
    for (int k = 0; k < 2 * n; k++) {
        const double *panel = k < n ? s->place : s->rate, by = k < n ? by_place[k] : by_rate[k - n];
        const double *row = by != 0 ? panel + (ptrdiff_t)(at->dof[side] + k % n) * s->width : NULL;
        if (row) {
            dense_axpy(at->columns[side], scale * by, row + at->column[side], to + (side ? at->columns[0] : 0));
            dense_axpy(parameters, scale * by, row + s->parameter0, by_parameter);
        }
    }
}

void add_mass_times(const island_system *s, int t, double scale, const double *y, double *to) {
    int v0 = s->is->problem.tree[t].v0, n = s->is->problem.tree[t].nv;
    /* by the place of the tree, then by its inertias */
    bool constant = has_constant_mass(s, t);
    memcpy(s->step->work->x + s->dof[v0], y + v0, sizeof *y * (size_t)n);
    if (!constant) {
        change_mass(s, t, y + v0);
    }
    for (int i = 0; i < n && !constant; i++) {
        for (int j = 0; j < n; j++) {
            double by_q = s->step->work->by_q[(ptrdiff_t)i * n + j];
            if (by_q != 0) {
                add_columns(s, t, scale * by_q, s->place + (ptrdiff_t)(v0 + j) * s->width,
                            to + (ptrdiff_t)(v0 + i) * s->width);
            }
        }
    }
    add_diagonal_times(s, t, scale, y, to);
    for (int p = 0; p < s->step->parameters; p++) {
        bool any = mass_by_parameter(s, t, p);
        for (int i = 0; any && i < n; i++) {
            to[(ptrdiff_t)(v0 + i) * s->width + s->parameter0 + p] += scale * s->step->work->y[i];
        }
    }
}

void solve_mass(const island_system *s, double *C) {
    for (int t = 0; t < s->is->problem.ntree; t++) {
        int v0 = s->is->problem.tree[t].v0, n = s->is->problem.tree[t].nv;
        lu_solve_block(n, row_stride(n), s->factor + s->square[t], s->swap_A + v0, s->width,
                       C + (ptrdiff_t)v0 * s->width, s->solve);
    }
}

/* A^-1 J' of a constraint, by a factor of A. */
static void solve_rows_of(const island_system *s, const constraint_system *k, const double *factor, const int *swap,
                          double *Y) {
    const local_frame *at = &k->by.at;
    memcpy(Y, k->J, sizeof *k->J * (size_t)k->c->rows * (size_t)at->n);
    for (int r = 0; r < k->c->rows; r++) {
        for (int side = 0; side < at->trees; side++) {
            int n = at->dofs[side];
            lu_solve(n, row_stride(n), factor + s->square[at->tree[side]], swap + at->dof[side], Y);
            Y += n;
        }
    }
}

/* Y = A^-1 J', and W = J A^-1 J' of the bare A. */
void fill_delassus(const island_system *s, constraint_system *k) {
    int rows = k->c->rows, n = k->by.at.n;
    solve_rows_of(s, k, s->factor, s->swap_A, k->Y);
    if (s->bare == s->factor) {
        k->bare = k->Y;
    } else {
        solve_rows_of(s, k, s->bare, s->swap_bare, k->bare);
    }
    for (int r = 0; r < rows; r++) {
        for (int t = 0; t < rows; t++) {
            k->W[r * rows + t] = dense_dot(n, k->J + (ptrdiff_t)r * n, k->bare + (ptrdiff_t)t * n);
        }
    }
}
