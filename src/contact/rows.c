/* The three rows of a contact.
 *
 * The point p stands midway between the two surfaces and is the same for both bodies; what is still on its way to meet has
 * one on each (collide/sweep.c).  A dof j with the motion axis (w_j; v_j) at o_j, on the path from the root to the body, moves p at v_j + w_j x (p - o_j); along the axis e of the
 * contact frame
 *
 *     J_ej = +-e . (v_j + w_j x (p - o_j)),    + for A, - for B.
 *
 * Bodies of one tree share a block, their parts summed: what is on both paths moves neither against the other and is left
 * out. */
#include "contact/parts.h"
#include "math/spatial.h"

#include <string.h>

/* t1, t2 at right angles to n and t1 x t2 = n.  Laws are isotropic: any two would do. */
static m3 frame_along(v3 n) {
    v3 t1 = v3_perpendicular(n);
    return (m3){t1, v3_cross(n, t1), n};
}

/* The last dof on the paths to both of two dofs, -1: none. */
static int meeting(const sim_model *m, int a, int b) {
    while (a != b) {
        int *further = a > b ? &a : &b;
        *further = m->dof[*further].parent;
    }
    return a;
}

void widen_columns(frame *f, const sim_model *m, int i, int side, int first, int end) {
    const tie *t = &f->tie[f->tie_of[i]];
    int second = side == 1 && t->tree[0] >= 0 && t->tree[0] != t->tree[1], v0 = m->tree[t->tree[side]].v0;
    sim_columns *to = &f->constraint[i].columns[second];
    int low = first - v0, high = end - v0, past = to->first + to->count;
    if (low < high) {
        low = to->count && to->first < low ? to->first : low;
        high = to->count && past > high ? past : high;
        *to = (sim_columns){low, high - low};
    }
}

/* Returns the first dof that has a part in it. */
static int add_body(const sim_derived *d, int last_dof, int stop, v3 p, const m3 *E, double sign, const sim_tree *t,
                    double *J) {
    const sim_model *m = d->model;
    int first = last_dof + 1;
    for (int j = last_dof; j != stop; j = m->dof[j].parent) {
        first = j;
        v3 lever = v3_sub(p, d->pose[m->dof[j].body].p);
        v3 moves = v3_scale(sign, v3_add(d->S[j].lin, v3_cross(d->S[j].ang, lever)));
        double *column = J + (j - t->v0);
        column[0] += v3_dot(E->x, moves);
        column[t->nv] += v3_dot(E->y, moves);
        column[2 * t->nv] += v3_dot(E->z, moves);
    }
    return first;
}

static int order_of(const sim_contact *a, const sim_contact *b) {
    if (a->shape_a != b->shape_a) {
        return a->shape_a < b->shape_a ? -1 : 1;
    }
    if (a->shape_b != b->shape_b) {
        return a->shape_b < b->shape_b ? -1 : 1;
    }
    return a->at.feature < b->at.feature ? -1 : a->at.feature > b->at.feature;
}

/* The impulse of the same contact a step ago; both lists stand in the same order. */
static v3 remembered(const contact_input *in, const sim_contact *c) {
    int low = 0, high = in->nbefore;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (order_of(&in->before[middle], c) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    int found = low < in->nbefore && order_of(&in->before[low], c) == 0;
    return found ? in->impulse_before[low] : v3_make(0, 0, 0);
}

static v3 point_on(const sim_contact *c, int side) { return v3_axpy(c->at.position, side ? -0.5 : 0.5, c->at.apart); }

void rows_of_contact(frame *f, const sim_model *m, const int *last_dof, int i) {
    const tie *t = &f->tie[f->tie_of[i]];
    const sim_contact *from = &f->in->contact[t->index];
    m3 E = frame_along(from->at.normal);
    int last[2] = {last_dof[from->body_a], last_dof[from->body_b]};
    int stop = t->tree[0] == t->tree[1] ? meeting(m, last[0], last[1]) : -1;
    for (int side = 0; side < 2; side++) {
        if (t->tree[side] >= 0) {
            int first = add_body(f->in->start, last[side], stop, point_on(from, side), &E, side ? -1 : 1,
                                 &m->tree[t->tree[side]], block_of(f, i, side));
            widen_columns(f, m, i, side, first, last[side] + 1);
        }
    }
    v3 impulse = m3_transposed_times(E, remembered(f->in, from));
    double *gap = f->gap + f->row[i], *guess = f->impulse_guess + f->row[i];
    gap[0] = gap[1] = 0;
    gap[2] = from->at.gap;
    guess[0] = impulse.x;
    guess[1] = impulse.y;
    guess[2] = impulse.z;
    f->axes[i] = E;
}

double contact_ahead(const frame *f, const sim_model *m, const int *last_dof, int i, const sim_derived *ahead,
                     double *J) {
    const tie *t = &f->tie[f->tie_of[i]];
    const sim_contact *from = &f->in->contact[t->index];
    int body[2] = {from->body_a, from->body_b}, last[2] = {last_dof[body[0]], last_dof[body[1]]};
    int stop = t->tree[0] == t->tree[1] ? meeting(m, last[0], last[1]) : -1;
    v3 p[2];
    for (int side = 0; side < 2; side++) {
        const sim_pose *start = &f->in->start->pose[body[side]];
        v3 own = m3_transposed_times(start->R, v3_sub(point_on(from, side), start->p));
        p[side] = t->tree[side] >= 0 ? pose_point(ahead->pose[body[side]], own) : point_on(from, side);
        if (t->tree[side] >= 0) {
            add_body(ahead, last[side], stop, p[side], &f->axes[i], side ? -1 : 1, &m->tree[t->tree[side]],
                     block_in(J, f, i, side));
        }
    }
    return v3_dot(f->axes[i].z, v3_sub(v3_sub(p[0], p[1]), from->at.apart));
}

void contact_on_body(const frame *f, int i, int side, double *J) {
    const sim_contact *from = &f->in->contact[f->tie[f->tie_of[i]].index];
    const m3 *E = &f->axes[i];
    const v3 axis[3] = {E->x, E->y, E->z};
    v3 lever = v3_sub(point_on(from, side), f->in->start->pose[side ? from->body_b : from->body_a].p);
    for (int k = 0; k < 3; k++) {
        v3 lin = v3_scale(side ? -1 : 1, axis[k]), ang = v3_cross(lever, lin);
        const double row[6] = {ang.x, ang.y, ang.z, lin.x, lin.y, lin.z};
        memcpy(J + 6 * (ptrdiff_t)k, row, sizeof row);
    }
}
