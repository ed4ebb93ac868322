/* Derivatives of the memory of an island: impulses, and forces of constraints that last from step to step.
 *
 *     dgamma = dgamma_0 - G J dv,    d (E gamma) = E dgamma + t x (E gamma)                                            (1)
 *     p = sum of lambda J' gamma / dt,    lambda = 1, or gamma- / gamma of the normal row of a strike, or 0           (2)
 *     h = sum of J' gamma / dt of constraints between bodies
 *
 *     dgamma_0    that of the velocities of the step held (island_derivatives.c);  E, t: frame of a contact, and its turn
 *     gamma-      impulse of the step before, N s;  p, h: sim_state.trail and sim_state.held, N or N m
 *
 * lambda is one of three numbers by the piece of its rule; a step drops p of trees in which constraints jam.
 * Reference: contact/result/scatter.c.  Cost: n columns for each constraint. */
#include "contact/problem/row/row.h"
#include "world/derivative/derivative.h"

#include <math.h>
#include <string.h>

static const double MAX_STEADY_CHANGE = 0.5; /* of an impulse, relative: as in scatter.c */

/* lambda, and where it is gamma- / gamma: the row of that impulse. */
typedef struct lasting {
    double part;
    int row; /* -1: lambda is fixed */
} lasting;

static lasting lasting_part_of(const island_system *s, const constraint_system *k) {
    int row = normal_row(k->c);
    double now = k->impulse[row], before = s->is->base.impulse_guess[k->c->row + row];
    if (fabs(now - before) <= MAX_STEADY_CHANGE * fabs(before)) {
        return (lasting){1, -1};
    }
    bool falls = now * before > 0 && before / now < 1;
    return (lasting){now * before > 0 ? fmin(1, before / now) : 0, falls ? row : -1};
}

/* (1), first part. */
static void finish_impulses(const island_system *s, constraint_system *k, double *u) {
    const local_frame *at = &k->by.at;
    for (int t = 0; t < k->c->rows; t++) {
        const double *J = k->J + (ptrdiff_t)t * at->n;
        bool any = false;
        for (int r = 0; r < k->c->rows; r++) {
            any |= k->slopes.G[r][t] != 0;
        }
        if (!any) {
            continue;
        }
        memset(u, 0, sizeof *u * (size_t)s->width);
        for (int side = 0; side < at->trees; side++) {
            for (int j = at->dof[side]; j < at->dof[side] + at->dofs[side]; j++, J++) {
                if (*J != 0) {
                    dense_axpy(s->width, *J, s->dv + (ptrdiff_t)j * s->width, u);
                }
            }
        }
        for (int r = 0; r < k->c->rows; r++) {
            dense_axpy(s->width, -k->slopes.G[r][t], u, k->gamma + (ptrdiff_t)r * s->width);
        }
    }
}

/* The derivative of lambda. */
static void differentiate_part(const island_system *s, const constraint_system *k, const lasting *l, double *part) {
    memset(part, 0, sizeof *part * (size_t)s->width);
    if (l->row >= 0) {
        double now = k->impulse[l->row];
        add_local(s, &k->by.at, 1 / now, k->by.guess + (ptrdiff_t)l->row * k->by.at.width, part);
        part[s->guess0 + k->c->row + l->row] += 1 / now;
        dense_axpy(s->width, -l->part / now, k->gamma + (ptrdiff_t)l->row * s->width, part);
    }
}

/* Adds the derivative of lambda J' gamma / dt. */
static void add_lasting(const island_system *s, const constraint_system *k, const lasting *l, const double *part,
                        double *to) {
    const local_frame *at = &k->by.at;
    for (int side = 0, i = 0; side < at->trees; side++) {
        for (int j = at->dof[side]; j < at->dof[side] + at->dofs[side]; j++, i++) {
            double *row = to + (ptrdiff_t)j * s->width;
            for (int r = 0; r < k->c->rows; r++) {
                double J = k->J[(ptrdiff_t)r * at->n + i] / s->dt;
                dense_axpy(s->width, l->part * J, k->gamma + (ptrdiff_t)r * s->width, row);
                dense_axpy(s->width, k->impulse[r] * J, part, row);
                add_local(s, at, l->part * k->impulse[r] / s->dt, k->by.J[r] + (ptrdiff_t)i * at->width, row);
            }
        }
    }
}

bool differentiate_memory(island_system *s, double *held, double *pressed) {
    double *work = zeros(s->step->arena, s->width);
    bool holds = theta_is_implicit(s->step->motion->options->integrator);
    if (!work) {
        return false;
    }
    for (int i = 0; i < constraints_of(s->is); i++) {
        constraint_system *k = &s->constraint[i];
        bool equality = s->step->rows->source[s->is->source[i]].kind == SOURCE_EQUALITY;
        lasting l = equality ? (lasting){1, -1} : lasting_part_of(s, k);
        finish_impulses(s, k, work);
        if (equality || (holds && l.part > 0)) {
            differentiate_part(s, k, &l, work);
            add_lasting(s, k, &l, work, equality ? held : pressed);
        }
    }
    return true;
}

/* Rows of a vector sum of axis_e gamma_e, whose axes turn with the frame: E dgamma + t x (E gamma). */
static void differentiate_vector(const island_system *s, const constraint_system *k, int first, int count,
                                 const v3 *axis, double *rows) {
    ptrdiff_t width = s->width, local = k->by.at.width;
    v3 g = {0, 0, 0};
    memset(rows, 0, sizeof *rows * 3 * (size_t)width);
    for (int e = 0; e < count; e++) {
        const double *gamma = k->gamma + (first + e) * width;
        g = v3_axpy(g, k->impulse[first + e], axis[e]);
        dense_axpy(s->width, axis[e].x, gamma, rows);
        dense_axpy(s->width, axis[e].y, gamma, rows + width);
        dense_axpy(s->width, axis[e].z, gamma, rows + 2 * width);
    }
    /* t x g */
    const double *turn[3] = {k->by.turn, k->by.turn + local, k->by.turn + 2 * local};
    const local_frame *at = &k->by.at;
    add_local(s, at, g.z, turn[1], rows);
    add_local(s, at, -g.y, turn[2], rows);
    add_local(s, at, g.x, turn[2], rows + width);
    add_local(s, at, -g.z, turn[0], rows + width);
    add_local(s, at, g.y, turn[0], rows + 2 * width);
    add_local(s, at, -g.x, turn[1], rows + 2 * width);
}

bool differentiate_contact_impulse(const island_system *s, int i, double *rows) {
    if (s->step->rows->source[s->is->source[i]].kind != SOURCE_CONTACT) {
        return false;
    }
    const m3 *E = &s->step->rows->axes[s->is->first_constraint + i];
    const v3 axis[SIM_CONTACT_ROWS] = {E->x, E->y, E->z};
    differentiate_vector(s, &s->constraint[i], 0, SIM_CONTACT_ROWS, axis, rows);
    return true;
}

int contact_turning_axes(const island_system *s, int i, v3 axis[3]) {
    const constraint_source *t = &s->step->rows->source[s->is->source[i]];
    bool contact = t->kind == SOURCE_CONTACT;
    return contact
               ? surface_turning_axes(s->step->rows, s->is->first_constraint + i, &s->step->to->contact[t->index], axis)
               : 0;
}

bool differentiate_contact_moment(const island_system *s, int i, double *rows) {
    v3 axis[3];
    int count = contact_turning_axes(s, i, axis);
    if (count > 0) {
        differentiate_vector(s, &s->constraint[i], SIM_CONTACT_ROWS, count, axis, rows);
    }
    return count > 0;
}
