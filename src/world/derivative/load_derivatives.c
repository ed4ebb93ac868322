/* Derivative of the inverse mass of a loaded contact of the elastic law.
 *
 *     w = w_n / c,    c = V / du,    dw = (dw_n - w dc) / c,    dc = (dV - c ddu) / du                                 (1)
 *     V = k m w_n, or k (-n . (J v* + w') - max(gap, 0) / dt) of the contact that closes fastest                      (2)
 *     du = |J_s (v* - v0)|,    dv* = dv0 + dt da + A^-1 (dA x - dt dh),    x = v0 + dt a - v*                         (3)
 *
 *     w_n   law_normal_inverse_mass, 1/kg
 *     m     mean impulse of the contacts between two bodies in the step before, N s, fixed in the world
 *     s     the side that the free motion v* changes more;  V, k, c, du: load_stiffening in problem/laws.c
 *     w'    offset of the row, m/s;  A, a, h: island_derivatives.c
 *
 * Where the bounds of c hold, dw = dw_n / c.
 * Reference: laws.c.  Cost: n columns for each contact; the rows of the contacts that share m, and the fastest
 * strike, once. */
#include "linalg/dense/lu.h"
#include "problem/laws.h"
#include "world/derivative/derivative.h"

#include <math.h>
#include <string.h>

void differentiate_free(const island_system *s, double *free) {
    const contact_step *step = s->step;
    const sim_problem *p = &s->is->problem;
    double *x = s->x; /* of forces held from the step before */
    bool held = s->parts == ALL_PARTS;
    for (int j = 0; j < s->n; j++) {
        double v0 = step->motion->now->v[s->dof[j]], end = v0 + s->dt * step->to->a[s->dof[j]];
        x[j] = end - p->v_free[j];
        held |= fabs(x[j]) > 0;
    }
    if (held) {
        for (int t = 0; t < p->ntree; t++) {
            add_mass_times(s, t, 1, x, free);
            for (int j = p->tree[t].v0; j < p->tree[t].v0 + p->tree[t].nv && s->parts == ALL_PARTS; j++) {
                free[(ptrdiff_t)j * s->width + column_of(s, t, BY_HELD, j)] -= s->dt;
            }
        }
        solve_mass(s, free);
    }
    for (int t = 0; t < p->ntree; t++) {
        for (int j = p->tree[t].v0; j < p->tree[t].v0 + p->tree[t].nv; j++) {
            add_columns(s, t, s->dt, s->a + (ptrdiff_t)j * s->width, free + (ptrdiff_t)j * s->width);
            free[(ptrdiff_t)j * s->width + column_of(s, t, BY_START_V, j)] += 1;
        }
    }
}

/* A_ v_ = A v* - dt g p of limited actuators within their range (contact/problem/actuators.c), p their force at rest; A
 * is A_ and the gains.  So A_ dv_ = A dv* + dA (v* - v_) - dt g dp. */
void differentiate_law_free(const island_system *s) {
    const motion_work *w = s->step->motion;
    const sim_problem *p = &s->is->problem;
    memcpy(s->v_law, p->v_free, sizeof *s->v_law * (size_t)s->n);
    if (s->bare == s->factor) {
        return;
    }
    /* A v* - dt g p, and A dv* */
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
    for (int k = 0; k < w->nlimited; k++) {
        const contact_actuator *a = &w->limited[k];
        const sim_actuator *of = &w->model->actuator[a->actuator];
        int place = limited_place(s, a), t = place < 0 ? 0 : s->step->rows->local[of->tree];
        if (place < 0) {
            continue;
        }
        double *row = s->law_free + (ptrdiff_t)place * s->width;
        s->v_law[place] -= s->dt * of->gear * (a->side ? a->side * a->bound : a->force);
        row[column_of(s, t, BY_START_Q, place)] -= a->side ? 0 : s->dt * s->servo[2 * place];
        row[column_of(s, t, BY_START_V, place)] -= a->side ? 0 : s->dt * s->servo[2 * place + 1];
        for (int c = 0; c < s->step->parameters; c++) {
            const sim_parameter *by = &s->step->parameter[c];
            bool own = (int)by->kind == BY_SERVO && by->index == a->actuator && !a->side;
            row[s->parameter0 + c] -= own ? s->dt : 0;
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

/* (3) */
static void differentiate_change(const island_system *s, const constraint_system *k, const contact_load *load,
                                 double scale, double *out) {
    const sim_problem *p = &s->is->problem;
    const local_frame *at = &k->by.at;
    const sim_problem_tree *t = &p->tree[k->c->tree[load->side]];
    int first = load->side ? at->dofs[0] : 0;
    for (int r = 0; r < SIM_CONTACT_ROWS; r++) {
        const double *J = k->J + (ptrdiff_t)r * at->n + first;
        const double *dJ = k->by.J[r] + (ptrdiff_t)first * at->width;
        double u = 0;
        for (int j = 0; j < t->nv; j++) {
            u += J[j] * (s->v_law[t->v0 + j] - p->v_start[t->v0 + j]);
        }
        u *= scale / load->change;
        for (int j = 0; j < t->nv && u != 0; j++) {
            int dof = t->v0 + j;
            add_local(s, at, u * (s->v_law[dof] - p->v_start[dof]), dJ + (ptrdiff_t)j * at->width, out);
            add_columns(s, at->tree[load->side], u * J[j], s->law_free + (ptrdiff_t)dof * s->width, out);
            out[column_of(s, at->tree[load->side], BY_START_V, dof)] -= u * J[j];
        }
    }
}

/* (2) of a contact that closes, without k. */
static void differentiate_closing(const island_system *s, const constraint_system *k, double scale, double *out) {
    const sim_problem *p = &s->is->problem;
    const local_frame *at = &k->by.at;
    const double *J = k->J + (ptrdiff_t)2 * at->n, *dJ = k->by.J[2];
    for (int side = 0, i = 0; side < at->trees; side++) {
        for (int j = at->dof[side]; j < at->dof[side] + at->dofs[side]; j++, i++) {
            add_local(s, at, -scale * s->v_law[j], dJ + (ptrdiff_t)i * at->width, out);
            add_columns(s, at->tree[side], -scale * J[i], s->law_free + (ptrdiff_t)j * s->width, out);
        }
    }
    add_local(s, at, -scale, k->by.offset + (ptrdiff_t)2 * at->width, out);
    if (p->gap[k->c->row + 2] > 0) {
        add_local(s, at, -scale / s->dt, k->by.gap + (ptrdiff_t)2 * at->width, out);
    }
}

/* The sum of the normal impulses of a step ago of contacts [first, end). */
static void differentiate_carried(island_system *s, const contact_load *load) {
    if (s->carried_first == load->first) {
        return;
    }
    memset(s->carried, 0, sizeof *s->carried * (size_t)s->width);
    s->carried_first = load->first;
    for (int i = load->first; i < load->end; i++) {
        const constraint_system *k = &s->constraint[i];
        add_local(s, &k->by.at, 1, k->by.guess + (ptrdiff_t)2 * k->by.at.width, s->carried);
        if (s->parts == ALL_PARTS) {
            s->carried[s->guess0 + k->c->row + 2] += 1;
        }
    }
}

/* The speed of the fastest strike. */
static void differentiate_strike(island_system *s, int strike) {
    if (!s->struck) {
        differentiate_closing(s, &s->constraint[strike], 1, s->strike);
        s->struck = true;
    }
}

/* dV times `scale`; dw of its own mass. */
static void differentiate_speed(island_system *s, const constraint_system *k, const contact_load *load, double scale,
                                const double *dw, double *out, column_set *set) {
    const local_frame *at = &k->by.at;
    bool floored;
    double w = law_normal_inverse_mass(k->c->rows, k->W, &floored);
    if (load->kind == LOAD_CLOSING) {
        differentiate_closing(s, k, scale * load->part, out);
        return;
    }
    if (load->kind == LOAD_CARRIED) {
        differentiate_carried(s, load);
        double part = scale * load->part * w / (load->end - load->first);
        for (int side = 0; side < at->trees; side++) {
            dense_axpy(at->columns[side], part, s->carried + at->column[side], out + at->column[side]);
        }
        dense_axpy(s->width - s->parameter0, part, s->carried + s->parameter0, out + s->parameter0);
        add_local(s, at, scale * load->part * load->impulse, dw, out);
        set->guess = s->guess0 + s->constraint[load->first].c->row;
        set->guesses =
            s->parts == ALL_PARTS ? s->guess0 + s->constraint[load->end - 1].c->row + SIM_CONTACT_ROWS - set->guess : 0;
        return;
    }
    set->all = true;
    differentiate_strike(s, load->strike);
    dense_axpy(s->width, scale * load->part, s->strike, out);
}

void differentiate_load(island_system *s, constraint_system *k, double *w, const double *dw, double *out,
                        column_set *set) {
    const sim_options *o = s->step->motion->options;
    sim_problem full = s->is->problem;
    full.v_free = s->v_law;
    if (!s->scanned) {
        s->loads = law_scan_loads(&full);
        s->scanned = true;
    }
    contact_load load = law_contact_load(&full, &o->law, &s->loads, k->index, k->W, s->step->near);
    double c = load.stiffer;
    k->by.kink |= load.kink;
    /* (1), from dw_n */
    *w /= c;
    add_local(s, &k->by.at, 1 / c, dw, out);
    if (load.kind == LOAD_NONE || load.kind == LOAD_MOST) {
        return;
    }
    if (load.side >= 0) {
        differentiate_change(s, k, &load, *w / load.change, out);
    }
    differentiate_speed(s, k, &load, -*w / (c * load.change), dw, out, set);
}
