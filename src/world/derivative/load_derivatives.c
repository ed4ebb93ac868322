/* Derivative of the inverse mass of a loaded contact of the elastic law.
 *
 *     w = w_n / c,    c = V / du,    dw = (dw_n - w dc) / c,    dc = (dV - c ddu) / du                                 (1)
 *     V = k m w_n, or k (-n . (J v* + w') - max(gap, 0) / dt) of the contact that closes fastest                      (2)
 *     du = |J_s (v* - v0)|,    dv* = dv0 + dt da + A^-1 dA x,    x = v0 + dt a - v*                                    (3)
 *
 *     w_n   law_normal_inverse_mass, 1/kg
 *     m     mean impulse of the contacts between two bodies in the step before, N s, fixed in the world
 *     s     the side that the free motion v* changes more;  V, k, c, du: load_stiffening in problem/laws.c
 *     w'    offset of the row, m/s;  A, a: island_derivatives.c
 *
 * Where the bounds of c hold, dw = dw_n / c.
 * Reference: laws.c.  Cost: the rows of the contacts that share m, n^2 each. */
#include "linalg/dense/lu.h"
#include "problem/laws.h"
#include "world/derivative/derivative.h"

#include <math.h>
#include <string.h>

void differentiate_free(const island_system *s, double *free) {
    const contact_step *step = s->step;
    double *x = s->J; /* of forces held from the step before */
    bool held = false;
    for (int j = 0; j < s->n; j++) {
        double v0 = step->motion->now->v[s->dof[j]], end = v0 + s->dt * step->to->a[s->dof[j]];
        x[j] = end - s->is->problem.v_free[j];
        held |= fabs(x[j]) > 0;
    }
    if (held) {
        for (int t = 0; t < s->is->problem.ntree; t++) {
            add_mass_times(s, t, 1, x, free);
        }
        lu_solve_block(s->n, s->stride, s->factor, s->swap_A, s->width, free, s->solve);
    }
    for (int j = 0; j < s->n; j++) {
        dense_axpy(s->width, s->dt, s->a + (ptrdiff_t)j * s->width, free + (ptrdiff_t)j * s->width);
        free[(ptrdiff_t)j * s->width + s->n + j] += 1;
    }
}

/* (3) */
static void differentiate_change(const island_system *s, const constraint_system *k, const contact_load *load,
                                 double *ddu) {
    const sim_problem *p = &s->is->problem;
    const sim_problem_tree *t = &p->tree[k->c->tree[load->side]];
    for (int r = 0; r < SIM_CONTACT_ROWS; r++) {
        const double *J = s->J + (ptrdiff_t)r * s->n;
        double u = 0;
        for (int j = t->v0; j < t->v0 + t->nv; j++) {
            u += J[j] * (p->v_free[j] - p->v_start[j]);
        }
        for (int j = t->v0; j < t->v0 + t->nv; j++) {
            double scale = u / load->change;
            dense_axpy(s->width, scale * (p->v_free[j] - p->v_start[j]), k->by.J[r] + (ptrdiff_t)j * s->width, ddu);
            dense_axpy(s->width, scale * J[j], s->free + (ptrdiff_t)j * s->width, ddu);
            ddu[s->n + j] -= scale * J[j];
        }
    }
}

/* The changes of another contact. */
static bool change_of(const island_system *s, int i, constraint_change *out) {
    return make_change(s, s->is->problem.constraint[i].rows, out) && differentiate_rows(s, i, out);
}

/* (2) of a contact that closes; its own rows replace those in s->J. */
static void differentiate_closing(const island_system *s, int i, const constraint_change *by, double scale,
                                  double *dV) {
    const sim_problem *p = &s->is->problem;
    const sim_constraint *c = &p->constraint[i];
    spread_rows(s, c);
    const double *J = s->J + (ptrdiff_t)2 * s->n;
    add_product(s, -scale, p->v_free, by->J[2], dV);
    add_product(s, -scale, J, s->free, dV);
    dense_axpy(s->width, -scale, by->offset + (ptrdiff_t)2 * s->width, dV);
    if (p->gap[c->row + 2] > 0) {
        dense_axpy(s->width, -scale / s->dt, by->gap + (ptrdiff_t)2 * s->width, dV);
    }
}

static bool differentiate_speed(island_system *s, const constraint_system *k, const contact_load *load,
                                const double *dW, double *dV) {
    bool floored;
    double w = law_normal_inverse_mass(k->c->rows, k->W, &floored);
    int first = load->kind == LOAD_CARRIED ? load->first : load->strike, count = load->end - load->first;
    int end = load->kind == LOAD_CARRIED ? load->end : first + 1;
    if (load->kind == LOAD_CLOSING) {
        differentiate_closing(s, k->index, &k->by, load->part, dV);
        return true;
    }
    /* the impulses, or speed, of other contacts */
    for (int i = first; i < end; i++) {
        size_t mark = arena_mark(s->step->arena);
        constraint_change by;
        if (!change_of(s, i, &by)) {
            return false;
        }
        s->trouble = by.trouble ? by.trouble : s->trouble;
        if (load->kind == LOAD_CARRIED) {
            dense_axpy(s->width, load->part * w / count, by.guess + (ptrdiff_t)2 * s->width, dV);
        } else {
            differentiate_closing(s, i, &by, load->part, dV);
        }
        arena_release(s->step->arena, mark);
    }
    /* its own mass */
    if (load->kind == LOAD_CARRIED) {
        dense_axpy(s->width, load->part * load->impulse, dW, dV);
    }
    spread_rows(s, k->c);
    return true;
}

bool differentiate_load(island_system *s, constraint_system *k, double *w, double *dw) {
    const sim_options *o = s->step->motion->options;
    contact_load load = law_contact_load(&s->is->problem, &o->law, k->index, k->W);
    double c = load.stiffer, *ddu = zeros(s->step->arena, s->width), *dV = zeros(s->step->arena, s->width);
    if (!ddu || !dV) {
        return false;
    }
    k->by.kink |= load.kink;
    /* (1), from dw_n in dw */
    *w /= c;
    if (load.kind != LOAD_NONE && load.kind != LOAD_MOST) {
        if (load.side >= 0) {
            differentiate_change(s, k, &load, ddu);
        }
        if (!differentiate_speed(s, k, &load, dw, dV)) {
            return false;
        }
        dense_axpy(s->width, -*w / load.change, dV, dw);
        dense_axpy(s->width, *w * c / load.change, ddu, dw);
    }
    for (int j = 0; j < s->width; j++) {
        dw[j] /= c;
    }
    return true;
}
