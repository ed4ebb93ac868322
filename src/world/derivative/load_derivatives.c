/* Derivatives of R and target of rows by their inverse mass, and of that of a loaded contact of the elastic law.
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
        x[j] = end - s->is->base.v_free[j];
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

/* w and dw of a contact of the elastic law become those under its load; dw of the local width, `out` of the island's, in
 * columns that join `set`. */
static void differentiate_load(island_system *s, constraint_system *k, double *w, const double *dw, double *out,
                               column_set *set) {
    const sim_options *o = s->step->motion->options;
    sim_problem full = problem_of_laws(s->is);
    full.v_free = s->v_law;
    if (!s->scanned) {
        s->loads = law_scan_loads(&full, &o->law);
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

/* ---- all rows ---- */

/* dW by its weights (island_derivatives.c): dw, a row of the local width. */
static void differentiate_inverse_mass(const island_system *s, const constraint_system *k, const double *weight,
                                       double *dw) {
    const local_frame *at = &k->by.at;
    int rows = k->c->rows;
    double *sum = s->sums;
    memset(sum, 0, sizeof *sum * (size_t)rows * (size_t)at->n);
    for (int r = 0; r < rows; r++) {
        for (int i = 0; i < rows; i++) {
            if (weight[r * rows + i] != 0) {
                dense_axpy(at->n, weight[r * rows + i], k->bare + (ptrdiff_t)i * at->n, sum + (ptrdiff_t)r * at->n);
            }
        }
        add_product(at, 2, sum + (ptrdiff_t)r * at->n, k->by.J[r], dw);
    }
    for (int side = 0, first = 0; side < at->trees; first += at->dofs[side], side++) {
        add_mass_change(s, at, side, -1, rows, sum + first, k->bare + first, dw);
    }
}

/* R and target of row r by their slopes. */
static void add_slopes(const island_system *s, const constraint_system *k, const column_set *set, int r,
                       const row_slopes *slopes, const double *dw, double *R, double *target) {
    const local_frame *at = &k->by.at;
    add_set(s, set, slopes->R_w, dw, R);
    add_set(s, set, slopes->target_w, dw, target);
    add_local(s, at, slopes->target_guess, k->by.guess + (ptrdiff_t)r * at->width, target);
    if (s->parts == ALL_PARTS) {
        target[s->guess0 + k->c->row + r] += slopes->target_guess;
    }
    for (int i = 0; i < 3 && r / 3 * 3 + i < k->c->rows; i++) {
        const double *gap = k->by.gap + (ptrdiff_t)(r / 3 * 3 + i) * at->width;
        if (slopes->R_gap[i] != 0) {
            add_local(s, at, slopes->R_gap[i], gap, R);
        }
        if (slopes->target_gap[i] != 0) {
            add_local(s, at, slopes->target_gap[i], gap, target);
        }
    }
    for (int p = 0; p < s->step->parameters; p++) {
        int column = s->parameter0 + p;
        R[column] +=
            slopes->R_stiffness * k->by.surface.stiffness[p] + slopes->R_dissipation * k->by.surface.dissipation[p];
        target[column] += slopes->target_dissipation * k->by.surface.dissipation[p];
    }
}

/* w and dw of a group of three rows: of constraints without load, of a loaded contact, or of its rows against turning,
 *
 *     w_t / c,    d(w_t / c) = dw_t / c + (w_t / w_n) (dw - dw_n / c)                                                 (4)
 *
 * w_n / c and dw: those of the first group; own: dw_n of both groups. */
static void differentiate_group(island_system *s, constraint_system *k, int group, double *own[2], double *w,
                                double *stiffer, double *dw, column_set *set) {
    const local_frame *at = &k->by.at;
    sim_compliance compliance = sim_options_compliance(s->step->motion->options);
    double weight[SIM_MAX_ROWS * SIM_MAX_ROWS], first = *w;
    *w = law_mass_weights(compliance, k->c, k->W, SIM_CONTACT_ROWS * group, weight);
    memset(own[group], 0, sizeof **own * (size_t)at->width);
    differentiate_inverse_mass(s, k, weight, own[group]);
    bool loaded = compliance == SIM_ELASTIC && k->c->kind == SIM_CONTACT;
    if (loaded && group == 1) {
        *w /= *stiffer;
        for (int c = 0; c < s->width; c++) {
            dw[c] *= *w / first;
        }
        add_local(s, at, -*w / (first * *stiffer), own[0], dw);
        add_local(s, at, 1 / *stiffer, own[1], dw);
        return;
    }
    memset(dw, 0, sizeof *dw * (size_t)s->width);
    if (loaded) {
        double w_n = *w;
        differentiate_load(s, k, w, own[0], dw, set);
        *stiffer = w_n / *w;
    } else {
        add_local(s, at, 1, own[group], dw);
    }
}

bool differentiate_law(island_system *s, constraint_system *k, double *R, double *target, column_set *set) {
    const sim_options *o = s->step->motion->options;
    const sim_constraint *c = k->c;
    sim_arena *arena = s->step->arena;
    sim_regularisation law = {s->is->law.R, s->is->law.target};
    double w = 0, stiffer = 1, *dw = numbers_of(arena, s->width);
    double *own[2] = {numbers_of(arena, k->by.at.width), numbers_of(arena, k->by.at.width)};
    if (!own[0] || !own[1] || !dw) {
        return false;
    }
    sim_problem p = problem_of_laws(s->is);
    for (int r = 0; r < c->rows; r++) {
        row_slopes slopes;
        if (r % 3 == 0) { /* three rows have one w */
            differentiate_group(s, k, r / 3, own, &w, &stiffer, dw, set);
        }
        if (!law_row_slopes(&p, sim_options_compliance(o), &o->law, &law, c, r, w, s->step->near, &slopes)) {
            s->trouble = "has a row whose law follows more than gap and mass: a bounce, an overlap held back";
        }
        k->by.kink |= slopes.kink;
        add_slopes(s, k, set, r, &slopes, dw, R + (ptrdiff_t)r * s->width, target + (ptrdiff_t)r * s->width);
    }
    return true;
}
