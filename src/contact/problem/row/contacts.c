/* Rows of a contact: Jacobian, offset, gap and warm start along the axes (t1, t2, n) of its frame.
 *
 *     u = J v + w,     J_ej = +-e . (v_j + w_j x (x - o_j)),     + for body A, - for body B
 *
 *     e         axis of the contact frame, t1, t2 or n
 *     j         dof on the path from the root to the body; (w_j; v_j) its motion axis at the point o_j
 *     x         contact point, m (world/contact/contacts.h); bodies yet to meet have one each (collide/sweep.c)
 *     u, w      relative velocity and its offset, m/s
 *     p, s      parts of the step at which J is taken, and at which the end velocity obeys the contact, 0 to 1
 *     v0, v1    velocities at the start of the step, and predicted at its end
 *     v_q       velocity that positions move with
 *     phi0, phi1  gap at the start, and where the contact is expected at the end, m
 *
 * Dofs on the paths to both bodies move neither against the other and are left out.  Bodies of one tree share a block
 * of J, which holds the sum of their parts.
 *
 * A contact that lasts moves over its bodies, from (x0, n0) at the start of the step to (x1, n1) where the step is
 * expected to lead (world/contact/prediction.c).  J is taken at the part p of the way, where the scheme takes its
 * forces. Derivations stand at fill_lasting_rows (w), discrete_gradient_shift (x) and constrain_mean_velocity
 * (rolling).
 *
 * References: O. Gonzalez, Time integration and discrete Hamiltonian systems, J. Nonlinear Science 6, 1996; O.
 * Gonzalez, Mechanical systems subject to holonomic constraints, Physica D 132, 1999 (constraints obeyed in the mean).
 * Cost: some 40 multiplications a dof and contact. */
#include "collide/skin/element.h"
#include "contact/problem/row/row.h"
#include "math/dense.h"
#include "math/spatial.h"

#include <string.h>

/* The last dof on the paths to both dofs a and b, -1: none. */
static int find_common_dof(const sim_model *m, int a, int b) {
    while (a != b) {
        int *further = a > b ? &a : &b;
        *further = m->dof[*further].parent;
    }
    return a;
}

void widen_columns(assembly *f, const sim_model *m, int i, int side, int first, int end) {
    const constraint_source *t = &f->source[f->source_of[i]];
    int second = side == 1 && t->tree[0] >= 0 && t->tree[0] != t->tree[1], v0 = m->tree[t->tree[side]].v0;
    sim_columns *to = &f->constraint[i].columns[second];
    int low = first - v0, high = end - v0, past = to->first + to->count;
    if (low < high) {
        low = to->count && to->first < low ? to->first : low;
        high = to->count && past > high ? past : high;
        *to = (sim_columns){low, high - low};
    }
}

/* Adds sign * e . (v_j + w_j x (x - o_j)) of the dofs from last_dof up to `stop`; returns the first of them. */
static int add_body_columns(const sim_derived *d, int last_dof, int stop, v3 p, const m3 *E, double sign,
                            const sim_tree *t, double *J) {
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

int contact_order(const sim_contact *a, const sim_contact *b) {
    if (a->shape_a != b->shape_a) {
        return a->shape_a < b->shape_a ? -1 : 1;
    }
    if (a->shape_b != b->shape_b) {
        return a->shape_b < b->shape_b ? -1 : 1;
    }
    return a->at.feature < b->at.feature ? -1 : a->at.feature > b->at.feature;
}

static bool is_same_pair(const sim_contact *a, const sim_contact *b) {
    return a->shape_a == b->shape_a && a->shape_b == b->shape_b;
}

/* Is contact k the only one of its pair, in an ordered list? */
static bool is_only_contact_of_pair(const sim_contact *list, int count, int k) {
    return !(k > 0 && is_same_pair(&list[k - 1], &list[k])) && !(k + 1 < count && is_same_pair(&list[k + 1], &list[k]));
}

/* The smaller radius of its two bodies, m; 0: none has one. */
static double smaller_size(const assembly *f, const sim_contact *c) {
    double a = f->tables->size[c->body_a], b = f->tables->size[c->body_b];
    return a > 0 && b > 0 ? min_of(a, b) : max_of(a, b);
}

/* The place of a contact in an ordered list, or the place where it would stand. */
static int contact_place(const sim_contact *list, int count, const sim_contact *c) {
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (contact_order(&list[middle], c) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool stands_at(const sim_contact *list, int count, int place, const sim_contact *c) {
    return place < count && contact_order(&list[place], c) == 0;
}

/* The nearest point of the pair of c among those of `list` whose feature `other` has not, within `reach`; -1: none. */
static int find_nearest_point(const sim_contact *list, int count, const sim_contact *c, const sim_contact *other,
                              int others, double reach) {
    int nearest = -1, first = contact_place(list, count, c);
    while (first > 0 && is_same_pair(&list[first - 1], c)) {
        first--;
    }
    for (int k = first; k < count && is_same_pair(&list[k], c); k++) {
        double apart = v3_norm(v3_sub(list[k].at.position, c->at.position));
        if (apart < reach && !stands_at(other, others, contact_place(other, others, &list[k]), &list[k])) {
            nearest = k;
            reach = apart;
        }
    }
    return nearest;
}

/* The same contact in the step before, -1: there is none; both lists have the same order.  It has the same feature, or
 * is the only contact of its pair in both steps.  Features change together where a face of the one body takes the place
 * of one of the other as the reference: then each is the nearest to the other of those whose features are gone. */
static int find_contact_before(const contact_input *in, int index, double reach) {
    const sim_contact *c = &in->contact[index];
    int place = contact_place(in->before, in->nbefore, c);
    if (stands_at(in->before, in->nbefore, place, c)) {
        return place;
    }
    for (int k = place > 0 ? place - 1 : 0; k <= place && k < in->nbefore; k++) {
        if (is_same_pair(&in->before[k], c) && is_only_contact_of_pair(in->before, in->nbefore, k) &&
            is_only_contact_of_pair(in->contact, in->ncontact, index)) {
            return k;
        }
    }
    int near = find_nearest_point(in->before, in->nbefore, c, in->contact, in->ncontact, reach);
    bool mutual = near >= 0 && find_nearest_point(in->contact, in->ncontact, &in->before[near], in->before, in->nbefore,
                                                  reach) == index;
    return mutual ? near : -1;
}

static const double MAX_MOVE_OVER_SIZE = 0.02;  /* of a point whose feature changes, over the radius of its bodies */
static const double MIN_ROLLING_WAY_PART = 0.1; /* way over a body, of the way of the point in space: less is none */
static const double MIN_PIVOT_WAY_PART =
    1e-3; /* way over a body, of that of its turning lever: less is rounding at a pivot */
static const double MIN_SWING_DAMPING = 0.02; /* least b of constrain_mean_velocity */
static const double SWING_ERROR_RATIO = 3;    /* swing over the error of the scheme at which b is 1/4 */
static const double GAP_CLOSING_PART = 0.02; /* of a gap or overlap left by errors of the scheme: undone in two steps */

static v3 contact_point_on(const sim_contact *c, int side) {
    return v3_axpy(c->at.position, side ? -0.5 : 0.5, c->at.apart);
}

/* The contact where the step is expected to lead; NULL: not known. */
static const followed_contact *find_followed(const assembly *f, const constraint_source *t) {
    const followed_contact *all = f->in->followed;
    return all && all[t->index].known ? &all[t->index] : NULL;
}

/* The point of a side at which J is taken: at the part p from x0 to x1, or with the lever of the start. */
static v3 contact_point_in_middle(const assembly *f, const constraint_source *t, int side) {
    const sim_contact *from = &f->in->contact[t->index];
    const followed_contact *to = find_followed(f, t);
    v3 x0 = contact_point_on(from, side);
    int body = side ? from->body_b : from->body_a;
    v3 lever = v3_sub(x0, f->in->start->pose[body].p);
    if (to) {
        v3 at_end = v3_sub(to->position, f->in->end->pose[body].p);
        lever = v3_axpy(lever, f->in->place, v3_sub(at_end, lever));
    }
    return v3_add(f->middle->pose[body].p, lever);
}

static v3 contact_normal_in_middle(const assembly *f, const constraint_source *t) {
    const followed_contact *to = find_followed(f, t);
    v3 n0 = f->in->contact[t->index].at.normal;
    if (!to) {
        return n0;
    }
    v3 n = v3_axpy(n0, f->in->place, v3_sub(to->normal, n0));
    return v3_scale(1 / v3_norm(n), n);
}

static v3 velocity_of_point(const sim_derived *d, int body, v3 x) {
    return v3_add(d->vel[body].lin, v3_cross(d->vel[body].ang, v3_sub(x, d->pose[body].p)));
}

/* The frame E after the shortest rotation of its normal to n. */
static m3 turn_frame_to(m3 E, v3 n) {
    v3 axis = v3_cross(E.z, n);
    double k = 1 / (1 + v3_dot(E.z, n)), c = v3_dot(E.z, n);
    const v3 t[2] = {E.x, E.y};
    v3 out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = v3_add(v3_axpy(v3_scale(c, t[i]), k * v3_dot(axis, t[i]), axis), v3_cross(axis, t[i]));
    }
    return (m3){out[0], out[1], n};
}

/* J (v0 + part (v1 - v0)) of a row, m/s. */
static double row_speed(const assembly *f, const sim_model *m, int i, int row, double part) {
    const constraint_source *t = &f->source[f->source_of[i]];
    double u = 0;
    for (int side = 0; side < 2; side++) {
        if (t->tree[side] >= 0 && !(side == 1 && t->tree[0] == t->tree[1])) {
            const sim_tree *tree = &m->tree[t->tree[side]];
            const double *J = block_of(f, i, side) + (ptrdiff_t)row * tree->nv;
            u += (1 - part) * dense_dot(tree->nv, J, f->in->v_start + tree->v0) +
                 part * dense_dot(tree->nv, J, f->in->v_ahead + tree->v0);
        }
    }
    return u;
}

/* Moves the point at which J is taken by d: adds +-e . (w_j x d) to J. */
static void move_contact_point(const assembly *f, const sim_model *m, const int *last_dof, int i, v3 d) {
    const constraint_source *t = &f->source[f->source_of[i]];
    const sim_contact *from = &f->in->contact[t->index];
    const m3 *E = &f->axes[i];
    int last[2] = {last_dof[from->body_a], last_dof[from->body_b]};
    int stop = t->tree[0] == t->tree[1] ? find_common_dof(m, last[0], last[1]) : -1;
    f->moved[i] = d;
    for (int side = 0; side < 2; side++) {
        for (int j = t->tree[side] >= 0 ? last[side] : stop; j != stop; j = m->dof[j].parent) {
            const sim_tree *tree = &m->tree[t->tree[side]];
            double *column = block_of(f, i, side) + (j - tree->v0);
            v3 moves = v3_scale(side ? -1 : 1, v3_cross(f->middle->S[j].ang, d));
            column[0] += v3_dot(E->x, moves);
            column[tree->nv] += v3_dot(E->y, moves);
            column[2 * tree->nv] += v3_dot(E->z, moves);
        }
    }
}

/* The greater change of both levers within the step, m. */
static double lever_change(const assembly *f, const sim_contact *from, const followed_contact *to) {
    double most = 0;
    for (int side = 0; side < 2; side++) {
        int body = side ? from->body_b : from->body_a;
        v3 before = v3_sub(from->at.position, f->in->start->pose[body].p);
        v3 after = v3_sub(to->position, f->in->end->pose[body].p);
        most = fmax(most, v3_norm(v3_sub(after, before)));
    }
    return most;
}

/* Does the contact point move over both bodies?  A corner stays at one point of its body. */
static bool rolls_over_both_bodies(const assembly *f, const constraint_source *t, const followed_contact *to) {
    const sim_contact *from = &f->in->contact[t->index];
    v3 turn = v3_sub(f->in->end->vel[from->body_a].ang, f->in->end->vel[from->body_b].ang);
    double way = HUGE_VAL, lever = 0;
    for (int side = 0; side < 2; side++) {
        int body = side ? from->body_b : from->body_a;
        const sim_pose *a = &f->in->start->pose[body], *b = &f->in->end->pose[body];
        v3 before = m3_transposed_times(a->R, v3_sub(from->at.position, a->p));
        way = fmin(way, v3_norm(v3_sub(m3_transposed_times(b->R, v3_sub(to->position, b->p)), before)));
        lever = t->tree[side] >= 0 ? fmax(lever, v3_norm(before)) : lever;
    }
    double turned = f->in->step * v3_norm(turn) * lever;
    return way > MIN_ROLLING_WAY_PART * v3_norm(v3_sub(to->position, from->at.position)) &&
           way > MIN_PIVOT_WAY_PART * turned;
}

/* The shift d of the contact point with which J_n v_q is the exact rate of the gap (a discrete gradient, Gonzalez
 * 1996):
 *
 *     dt J_n v_q = phi1 - phi0,    x <- x + d,    d = (n x omega) (phi1 - phi0 - dt J_n v_q) / (dt |n x omega|^2),
 *
 * omega the angular velocity of A over B, rad/s.  |d| is at most the change of the levers within the step. */
static v3 discrete_gradient_shift(const assembly *f, const sim_model *m, int i) {
    const constraint_source *t = &f->source[f->source_of[i]];
    const sim_contact *from = &f->in->contact[t->index];
    const followed_contact *to = find_followed(f, t);
    v3 turn = v3_sub(f->in->end->vel[from->body_a].ang, f->in->end->vel[from->body_b].ang);
    v3 across = v3_cross(f->axes[i].z, turn);
    double error = (to->gap - from->at.gap) / f->in->step - row_speed(f, m, i, 2, f->in->travel),
           size = v3_norm(across);
    double max_error = size * lever_change(f, from, to);
    error = fmax(-max_error, fmin(max_error, error));
    return size > 0 ? v3_scale(error / (size * size), across) : across;
}

/* The relative velocity of the two bodies at the contact at the start of the step, m/s. */
static v3 velocity_at_start(const assembly *f, const sim_model *m, const int *last_dof, const sim_contact *from) {
    v3 u = v3_make(0, 0, 0);
    for (int side = 0; side < 2; side++) {
        for (int j = last_dof[side ? from->body_b : from->body_a]; j >= 0; j = m->dof[j].parent) {
            const sim_motion *S = &f->in->start->S[j];
            v3 lever = v3_sub(from->at.position, f->in->start->pose[m->dof[j].body].p);
            u = v3_axpy(u, side ? -f->in->v_start[j] : f->in->v_start[j], v3_add(S->lin, v3_cross(S->ang, lever)));
        }
    }
    return u;
}

/* b = d^2 / 2 (d^2 + (3 e)^2) over the rows [first, end), at least MIN_SWING_DAMPING. */
static double swing_damping(const double *d, const double *e, int first, int end) {
    double d2 = 0, e2 = 0;
    for (int row = first; row < end; row++) {
        d2 += d[row] * d[row];
        e2 += e[row] * e[row];
    }
    return fmax(MIN_SWING_DAMPING, d2 > 0 ? 0.5 * d2 / (d2 + SWING_ERROR_RATIO * SWING_ERROR_RATIO * e2) : 0);
}

/* w of a rigid contact that rolls and pressed in the step before; `u1` holds the relative velocity predicted at the
 * end.
 *
 * The law of fill_lasting_rows, J_1 v1 = 0, leaves the mean velocity J_p v_q = (u0 + u1)/2 + e, with e the error of the
 * trapezoidal rule for u.  Where the load rises steeply, gamma e is work that no force of the model does.  So the
 * contact obeys the mean velocity instead, where v_q = (v0 + v1)/2:
 *
 *     J_p v_q = b (u0 + e) - n phi0 / 100 dt,      w = J_p v0 - 2 b (u0 + e) + n phi0 / 50 dt.
 *
 * With b = 0 impulses of rolling contacts do no work at all; but once u swings from step to step it does so for ever,
 * u1 = -u0 - 2 e. b = d^2 / 2 (d^2 + (3 e)^2) with d = |u0 + e|, along the tangents and along n, damps the part of a
 * swing beyond the error of the scheme.  It is 1 for large swings (slip that ends), and 0.02 at least.  The last term
 * closes what is left of the gap.  Along n only an approach, d < 0, is damped: to damp a departure would push, and do
 * work.  Velocities are relative to surfaces with a velocity of their own, which is added: that of the start to u0,
 * twice that of the middle to w. */
static void constrain_mean_velocity(assembly *f, const sim_model *m, const int *last_dof, int i, const double *u1) {
    const sim_contact *from = &f->in->contact[f->source[f->source_of[i]].index];
    m3 E = turn_frame_to(f->axes[i], from->at.normal);
    v3 start = velocity_at_start(f, m, last_dof, from);
    const followed_contact *to = find_followed(f, &f->source[f->source_of[i]]);
    v3 before = surface_belts(f, m, i, to, 0), belts = surface_belts(f, m, i, to, 0.5);
    const double u0[3] = {v3_dot(E.x, start), v3_dot(E.y, start), v3_dot(E.z, start)}, over[3] = {belts.x, belts.y, 0},
                 over0[3] = {before.x, before.y, 0};
    double d[3], e[3], *w = f->offset + f->row[i], closing = f->gap[f->row[i] + 2] / f->in->step;
    for (int row = 0; row < 3; row++) {
        e[row] = row_speed(f, m, i, row, f->in->travel) - 0.5 * (u0[row] + u1[row]);
        d[row] = u0[row] + over0[row] + e[row];
    }
    double along = swing_damping(d, e, 0, 2), across = swing_damping(d, e, 2, 3);
    for (int row = 0; row < 3; row++) {
        double swing = row == 2 ? across * fmin(d[row], 0) : along * d[row];
        w[row] = row_speed(f, m, i, row, 0) + over[row] - 2 * swing;
    }
    w[2] += GAP_CLOSING_PART * closing - fmax(closing, 0); /* the law lets a gap close within one step */
    surface_add_belts(f, i, belts);
    f->constraint[i].restitution = 0; /* it pressed, so it does not strike: w holds no speed of approach */
    f->rolls[i] = ROLLS_IN_MEAN;
}

/* Did this rigid contact press in the step before? */
static bool presses_rigidly(const assembly *f, int i) {
    return f->rigid && isinf(f->constraint[i].stiffness) && f->impulse_guess[f->row[i] + 2] > 0;
}

/* J between the start and the end, and w, of a contact that lasts.
 *
 * The end velocity v obeys the contact at the part s of the step, as that of equalities does (equalities.c):
 *
 *     u = J_p v + w,    w = (s - p) / (1 - p) (J_1 v1 - J_p v1),    s = 3/2 - theta.
 *
 * The rate of the gap is then right to second order, and impulses do no work on bodies that roll.  Where the point
 * moves over both bodies, discrete_gradient_shift corrects it; balls need no correction. */
static void fill_lasting_rows(assembly *f, const sim_model *m, const int *last_dof, int i) {
    const constraint_source *t = &f->source[f->source_of[i]];
    const sim_contact *from = &f->in->contact[t->index];
    const followed_contact *to = find_followed(f, t);
    bool ball = m->shape[from->shape_a].type == SIM_SPHERE || m->shape[from->shape_b].type == SIM_SPHERE;
    f->rolls[i] = rolls_over_both_bodies(f, t, to) ? ROLLS : ROLLS_NOT;
    if (f->in->place > 0 && f->rolls[i] && !ball) {
        move_contact_point(f, m, last_dof, i, discrete_gradient_shift(f, m, i));
    }

    /* w, from the frame turned to the normal at the end */
    double tangent = 1.5 - f->in->travel, part = (tangent - f->in->place) / (1 - f->in->place);
    m3 E = turn_frame_to(f->axes[i], to->normal);
    v3 u = v3_sub(velocity_of_point(f->in->end, from->body_a, to->position),
                  velocity_of_point(f->in->end, from->body_b, to->position));
    const double at_end[3] = {v3_dot(E.x, u), v3_dot(E.y, u), v3_dot(E.z, u)};
    for (int row = 0; row < 3; row++) {
        f->offset[f->row[i] + row] = part * (at_end[row] - row_speed(f, m, i, row, 1));
    }

    if (f->rolls[i] && f->in->place > 0 && f->in->travel == 0.5 && presses_rigidly(f, i)) {
        constrain_mean_velocity(f, m, last_dof, i, at_end);
    } else if (f->tables->belts) {
        surface_add_belts(f, i, surface_belts(f, m, i, to, tangent));
    }
}

/* J of a contact between surfaces of soft bodies: e . (sum a_i v_i - sum b_j v_j) over the corners i, j of the elements
 * that meet, with the weights a_i, b_j of the nearest points. */
static void fill_skin_rows(assembly *f, const sim_model *m, const int *last_dof, int i, const m3 *E) {
    const constraint_source *t = &f->source[f->source_of[i]];
    const sim_contact *from = &f->in->contact[t->index];
    skin_element e[2] = {skin_side_of(m, from, 0), skin_side_of(m, from, 1)};
    skin_point at[2];
    skin_nearest(&e[0], &e[1], f->in->start->pose, &at[0], &at[1]);
    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < skin_corners(e[side].kind); k++) {
            int last = m->body[e[side].body[k]].nv ? last_dof[e[side].body[k]] : -1;
            if (t->tree[side] >= 0 && last >= 0) {
                double weight = side ? -at[side].weight[k] : at[side].weight[k];
                int first = add_body_columns(f->middle, last, -1, at[side].at, E, weight, &m->tree[t->tree[side]],
                                             block_of(f, i, side));
                widen_columns(f, m, i, side, first, last + 1);
            }
        }
    }
}

void rows_of_contact(assembly *f, const sim_model *m, const int *last_dof, int i) {
    const constraint_source *t = &f->source[f->source_of[i]];
    const sim_contact *from = &f->in->contact[t->index];

    /* J of each side */
    m3 E = surface_frame(f, m, i, contact_normal_in_middle(f, t));
    int last[2] = {last_dof[from->body_a], last_dof[from->body_b]};
    bool skin = skin_is_contact(m, from);
    int stop = t->tree[0] == t->tree[1] && !skin ? find_common_dof(m, last[0], last[1]) : -1;
    if (skin) {
        fill_skin_rows(f, m, last_dof, i, &E);
    }
    for (int side = 0; side < 2 && !skin; side++) {
        if (t->tree[side] >= 0) {
            int first = add_body_columns(f->middle, last[side], stop, contact_point_in_middle(f, t, side), &E,
                                         side ? -1 : 1, &m->tree[t->tree[side]], block_of(f, i, side));
            widen_columns(f, m, i, side, first, last[side] + 1);
        }
    }

    /* gap and warm start, from N s in world axes */
    double reach = MAX_MOVE_OVER_SIZE * smaller_size(f, from);
    int before = find_contact_before(f->in, t->index, reach), row = f->row[i];
    v3 none = v3_make(0, 0, 0);
    memcpy(f->gap + row, (const double[3]){0, 0, from->at.gap}, 3 * sizeof *f->gap);
    f->axes[i] = E;
    f->before[i] = before;
    surface_set_guess(f, i, before < 0 ? none : f->in->impulse_before[before],
                      before < 0 ? none : f->in->trend_before[before]);
    if (t->rows > SIM_CONTACT_ROWS) {
        surface_turning_rows(f, f->middle, last, stop, i, f->J);
        surface_start_turning(f, i, before < 0 ? none : f->in->before[before].moment);
    }
    f->moved[i] = v3_make(0, 0, 0);
    if (find_followed(f, t)) {
        fill_lasting_rows(f, m, last_dof, i);
    } else if (f->tables->belts) {
        surface_add_belts(f, i, surface_belts(f, m, i, NULL, 0));
    }
}

double contact_ahead(const assembly *f, const sim_model *m, const int *last_dof, int i, const sim_derived *ahead,
                     double *J) {
    const constraint_source *t = &f->source[f->source_of[i]];
    const sim_contact *from = &f->in->contact[t->index];
    int body[2] = {from->body_a, from->body_b}, last[2] = {last_dof[body[0]], last_dof[body[1]]};
    int stop = t->tree[0] == t->tree[1] ? find_common_dof(m, last[0], last[1]) : -1;
    v3 p[2];
    for (int side = 0; side < 2; side++) {
        const sim_pose *start = &f->in->start->pose[body[side]];
        v3 own = m3_transposed_times(start->R, v3_sub(contact_point_on(from, side), start->p));
        p[side] = t->tree[side] >= 0 ? pose_point(ahead->pose[body[side]], own) : contact_point_on(from, side);
        if (t->tree[side] >= 0) {
            add_body_columns(ahead, last[side], stop, p[side], &f->axes[i], side ? -1 : 1, &m->tree[t->tree[side]],
                             block_in(J, f, i, side));
        }
    }
    surface_turning_rows(f, ahead, last, stop, i, J);
    return v3_dot(f->axes[i].z, v3_sub(v3_sub(p[0], p[1]), from->at.apart));
}

void contact_on_body(const assembly *f, int i, int side, double *J) {
    const sim_contact *from = &f->in->contact[f->source[f->source_of[i]].index];
    const m3 *E = &f->axes[i];
    const v3 axis[3] = {E->x, E->y, E->z};
    v3 x = v3_add(contact_point_in_middle(f, &f->source[f->source_of[i]], side), f->moved[i]);
    v3 lever = v3_sub(x, f->middle->pose[side ? from->body_b : from->body_a].p);
    for (int k = 0; k < 3; k++) {
        v3 lin = v3_scale(side ? -1 : 1, axis[k]), ang = v3_cross(lever, lin);
        const double row[6] = {ang.x, ang.y, ang.z, lin.x, lin.y, lin.z};
        memcpy(J + 6 * (ptrdiff_t)k, row, sizeof row);
    }
    surface_turning_on_body(f, i, side, J);
}
