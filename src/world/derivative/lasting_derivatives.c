/* Derivatives of the rows of a contact that lasts: it moves over its bodies within the step.
 *
 *     l = l0 + p (l1 - l0) + d,    n = m / |m|,  m = n0 + p (n1 - n0),    d = (n x w1) r / |n x w1|^2                  (1)
 *     r = (gap1 - gap0) / dt - J_n v_q,  within +-|n x w1| L,    L = max |l1 - l0|                                     (2)
 *     w_e = k (E1_e . u1 - J_e v1),    k = (s - p) / (1 - p),    E1 = E turned to n1                                   (3)
 *     w_e = J_e v0 - 2 b (E0_e . u0 + e),    e = J_e v_q - (E0_e . u0 + E1_e . u1) / 2                                 (4)
 *
 *     0, 1      start of the step, and where v1 leads (world/contact/prediction.c);  p, s: as in contact/problem/row/contacts.c
 *     l, n      lever of the point on a side, m, and normal;  d: shift of the point where it moves over both bodies, m
 *     u, w      velocity of A over B at the point, m/s, and angular velocity, rad/s;  w_e: offset of a row, m/s
 *     v1, v_q   predicted end velocity, and that which positions move with
 *     b         damping of a swing, for rigid contacts that press; of the normal row with the gap's own term
 *
 * A contact that both bodies carry (carry_contact in world/contact/prediction.c) has, with poses X of a body at both times,
 *
 *     x1 = (y_A + y_B) / 2,    y = X1 X0^-1 x0,    n1 = R1_A R0_A' n0,    gap1 = gap0                              (5)
 *     dy = v1 + w1 x (y - o1) + Q (dx0 - v0 - w0 x (x0 - o0)),    Q = R1 R0',    o: origin of the body
 *
 * Every number is differentiated along each column: those of the start move q0, then q1 and v1 by island_derivatives.c.
 * A row whose offset is not that of (3) or (4) is of another rule, and has no derivative.
 * Reference: contact/problem/row/contacts.c.  Cost: n^2 a contact. */
#include "contact/problem/row/row.h"
#include "world/derivative/contact_rows.h"

#include <math.h>
#include <string.h>

static const double MIN_SWING_DAMPING = 0.02; /* these three: as in contacts.c */
static const double SWING_ERROR_RATIO = 3;
static const double GAP_CLOSING_PART = 0.02;
static const double MAX_SHIFT_ERROR = 1e-6;  /* of d, relative; its square of the way of the lever: rounding */
static const double MAX_OFFSET_ERROR = 1e-9; /* of w, over the speeds that it is made of */

enum { START, END, TIMES };

/* The contact at one time: its place along all dofs, and the velocity of A over B at its point. */
typedef struct contact_time {
    touch at;
    v3 x, n, lever[2];
    double gap;
    double *v; /* [n] local */
    motion velocity;
    place_changes place;
    place_change *carried; /* [n] by q0 itself, of a contact that both bodies carry; NULL: by q1 alone */
    motion *axis, *turn;   /* [n] of the velocity, the point held: by v, by q */
} contact_time;

typedef struct lasting {
    contact_rows *r;
    const local_frame *at;
    contact_time time[TIMES];
    const double *J; /* rows x n */
    double p, k, travel;
    bool moves, clamped, in_mean;
    int longer; /* side whose lever changes more */
    v3 d;
    double offset[SIM_CONTACT_ROWS];
} lasting;

/* Of one column. */
typedef struct column_change {
    place_change place[TIMES];
    motion velocity[TIMES];
} column_change;

const followed_contact *lasting_contact(const contact_step *step, int index) {
    const followed_contact *all = step->contacts->followed;
    return all && all[index].known ? &all[index] : NULL;
}

/* ---- one time ---- */

static motion scaled_sum(motion a, double s, motion b) {
    return (motion){v3_axpy(a.ang, s, b.ang), v3_axpy(a.lin, s, b.lin)};
}

/* The velocity of A over B at x, and its derivatives. */
static bool find_velocity(const lasting *l, const sim_derived *d, contact_time *t) {
    const contact_rows *r = l->r;
    sim_arena *arena = r->s->step->arena;
    size_t n = (size_t)l->at->n;
    t->axis = ARENA_NEW(arena, motion, n + 1);
    t->turn = ARENA_NEW(arena, motion, n + 1);
    if (!t->axis || !t->turn) {
        return false;
    }
    memset(t->axis, 0, n * sizeof *t->axis);
    memset(t->turn, 0, n * sizeof *t->turn);
    t->velocity = (motion){{0, 0, 0}, {0, 0, 0}};
    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < r->depth[side]; k++) {
            int of = r->path[side][k].dof, row = r->path[side][k].row;
            motion S = motion_at_child(d->S[of], v3_sub(t->x, d->pose[d->model->dof[of].body].p));
            double sign = side ? -1 : 1;
            t->axis[row] = scaled_sum(t->axis[row], sign, S);
            t->velocity = scaled_sum(t->velocity, sign * t->v[row], S);
            for (int j = 0; j < r->depth[side]; j++) {
                int by = r->path[side][j].dof, to = r->path[side][j].row;
                motion S_j = motion_at_child(d->S[by], v3_sub(t->x, d->pose[d->model->dof[by].body].p));
                t->turn[to] = scaled_sum(t->turn[to], sign * t->v[row], axis_change(d->model, by, of, S_j, S));
            }
        }
    }
    return true;
}

/* v0, or v1, of its dofs. */
static bool list_velocities(const lasting *l, const double *v, contact_time *t) {
    t->v = numbers_of(l->r->s->step->arena, l->at->n);
    for (int side = 0, k = 0; t->v && side < l->at->trees; side++) {
        for (int j = 0; j < l->at->dofs[side]; j++) {
            t->v[k++] = v[l->at->dof[side] + j];
        }
    }
    return t->v != NULL;
}

static bool open_time(const lasting *l, const sim_derived *d, const double *v, contact_time *t) {
    for (int side = 0; side < 2; side++) {
        t->lever[side] = v3_sub(t->x, d->pose[l->r->body[side]].p);
    }
    return list_velocities(l, v, t) && find_velocity(l, d, t);
}

/* ---- contacts that both bodies carry ---- */

/* (5) of both bodies: the turns Q, and the points y. */
typedef struct carrier {
    m3 Q[2];
    v3 y[2];
} carrier;

static carrier make_carrier(const lasting *l) {
    const contact_step *step = l->r->s->step;
    const contact_time *t = l->time;
    carrier out;
    for (int side = 0; side < 2; side++) {
        const pose *from = &step->start->pose[l->r->body[side]], *to = &step->ahead->pose[l->r->body[side]];
        out.Q[side] = m3_product(to->R, m3_transpose(from->R));
        out.y[side] = v3_add(to->p, m3_times(out.Q[side], v3_sub(t[START].x, from->p)));
    }
    return out;
}

/* The end from the place at the start and the motions there, of the bodies at both times. */
static place_change carry_place(const lasting *l, const carrier *by, const place_change *from, const motion start[2],
                                const motion end[2]) {
    const contact_time *t = l->time;
    place_change out = {.gap = from->gap};
    v3 dy[2];
    for (int side = 0; side < 2; side++) {
        v3 held = v3_sub(v3_sub(from->x, start[side].lin), v3_cross(start[side].ang, t[START].lever[side]));
        v3 lever = v3_sub(by->y[side], l->r->s->step->ahead->pose[l->r->body[side]].p);
        dy[side] = v3_add(m3_times(by->Q[side], held), v3_add(end[side].lin, v3_cross(end[side].ang, lever)));
    }
    out.x = v3_scale(0.5, v3_add(dy[0], dy[1]));
    out.n =
        v3_add(m3_times(by->Q[0], v3_sub(from->n, v3_cross(start[0].ang, t[START].n))), v3_cross(end[0].ang, t[END].n));
    for (int side = 0; side < 2; side++) {
        out.lever[side] = v3_sub(out.x, end[side].lin);
    }
    return out;
}

/* Motions of both bodies by a dof. */
static void list_motions(const lasting *l, const sim_derived *d, int dof, motion out[2]) {
    for (int side = 0; side < 2; side++) {
        int body = l->r->body[side];
        bool moves = is_dof_on_path(d->model, dof, l->r->last[side]);
        out[side] = moves ? motion_at_child(d->S[dof], v3_sub(d->pose[body].p, d->pose[d->model->dof[dof].body].p))
                          : (motion){{0, 0, 0}, {0, 0, 0}};
    }
}

/* The places of the end by q1, by q0 and by parameters.  False without memory. */
static bool list_carried(lasting *l) {
    static const motion rest[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
    static const place_change none = {.gap = 0};
    const contact_step *step = l->r->s->step;
    const sim_model *m = step->motion->model;
    contact_time *t = l->time;
    size_t n = (size_t)l->at->n, parameters = (size_t)step->parameters;
    t[END].carried = ARENA_NEW(step->arena, place_change, n + 1);
    t[END].place.by_dof = ARENA_NEW(step->arena, place_change, n + 1);
    t[END].place.by_parameter = ARENA_NEW(step->arena, place_change, parameters + 1);
    if (!t[END].carried || !t[END].place.by_dof || !t[END].place.by_parameter) {
        return false;
    }
    memset(t[END].carried, 0, n * sizeof *t[END].carried);
    memset(t[END].place.by_dof, 0, n * sizeof *t[END].place.by_dof);
    carrier by = make_carrier(l);
    for (int side = 0; side < 2; side++) {
        for (int j = l->r->last[side]; j >= 0; j = m->dof[j].parent) {
            if (side == 0 || !is_dof_on_path(m, j, l->r->last[0])) {
                motion start[2], end[2];
                int own = local_dof(l->r->s, l->at, j);
                list_motions(l, step->start, j, start);
                list_motions(l, step->ahead, j, end);
                t[END].carried[own] = carry_place(l, &by, &t[START].place.by_dof[own], start, rest);
                t[END].place.by_dof[own] = carry_place(l, &by, &none, rest, end);
            }
        }
    }
    for (size_t p = 0; p < parameters; p++) {
        t[END].place.by_parameter[p] = carry_place(l, &by, &t[START].place.by_parameter[p], rest, rest);
    }
    return true;
}

/* ---- columns ---- */

static void add_place(double scale, const place_change *x, place_change *to) {
    to->x = v3_axpy(to->x, scale, x->x);
    to->lever[0] = v3_axpy(to->lever[0], scale, x->lever[0]);
    to->lever[1] = v3_axpy(to->lever[1], scale, x->lever[1]);
    to->n = v3_axpy(to->n, scale, x->n);
    to->gap += scale * x->gap;
}

/* By a dof at the start: q1 and v1 follow. */
static void fill_dof_column(const lasting *l, int side, start_part part, int dof, column_change *out) {
    const island_system *s = l->r->s;
    const local_frame *at = l->at;
    int first = side ? at->dofs[0] : 0, own = first + dof;
    const contact_time *start = &l->time[START], *end = &l->time[END];
    if (part == BY_START_Q) {
        if (end->carried) {
            add_place(1, &end->carried[own], &out->place[END]);
        }
        add_place(1, &start->place.by_dof[own], &out->place[START]);
        out->velocity[START] = scaled_sum(out->velocity[START], 1, start->turn[own]);
    } else if (part == BY_START_V) {
        out->velocity[START] = scaled_sum(out->velocity[START], 1, start->axis[own]);
    }
    double ahead = s->ahead_part[ALL_PARTS * at->tree[side] + (int)part];
    out->velocity[END] = scaled_sum(out->velocity[END], ahead, end->axis[own]);
    int column = at->column[side] + (int)part * at->dofs[side] + dof;
    for (int j = 0; j < at->dofs[side]; j++) {
        double by = s->ahead[(ptrdiff_t)(at->dof[side] + j) * s->width + column];
        if (by != 0) {
            add_place(by, &end->place.by_dof[first + j], &out->place[END]);
            out->velocity[END] = scaled_sum(out->velocity[END], by, end->turn[first + j]);
        }
    }
}

static void fill_column(const lasting *l, int column, column_change *out) {
    const local_frame *at = l->at;
    int parameter0 = at->width - l->r->s->step->parameters;
    memset(out, 0, sizeof *out);
    if (column >= parameter0) {
        for (int t = 0; t < TIMES; t++) {
            out->place[t] = l->time[t].place.by_parameter[column - parameter0];
        }
    } else {
        int side = at->trees == 2 && column >= at->columns[0], rest = side ? column - at->columns[0] : column;
        fill_dof_column(l, side, (start_part)(rest / at->dofs[side]), rest % at->dofs[side], out);
    }
    for (int t = 0; t < TIMES; t++) {
        v3 way = v3_cross(l->time[t].velocity.ang, out->place[t].x);
        out->velocity[t].lin = v3_add(out->velocity[t].lin, way);
    }
}

/* dn of (1), less the part along n. */
static v3 normal_change(const lasting *l, const column_change *by) {
    v3 n = l->r->axis[2], n0 = l->time[START].n, n1 = l->time[END].n;
    v3 m = v3_axpy(n0, l->p, v3_sub(n1, n0));
    v3 dm = v3_axpy(v3_scale(1 - l->p, by->place[START].n), l->p, by->place[END].n);
    return v3_scale(1 / v3_norm(m), v3_axpy(dm, -v3_dot(n, dm), n));
}

/* All columns of J; `shift`: dd [width], NULL: none. */
static void fill_rows(const lasting *l, const v3 *shift, constraint_change *out) {
    for (int column = 0; column < out->at.width; column++) {
        column_change by;
        v3 lever[2];
        fill_column(l, column, &by);
        for (int side = 0; side < 2; side++) {
            lever[side] = v3_axpy(v3_scale(1 - l->p, by.place[START].lever[side]), l->p, by.place[END].lever[side]);
            lever[side] = shift ? v3_add(lever[side], shift[column]) : lever[side];
        }
        out->gap[2 * out->at.width + column] = by.place[START].gap;
        add_row_column(l->r, lever, v3_cross(l->r->axis[2], normal_change(l, &by)), column, out);
    }
    for (int side = 0; side < 2; side++) {
        if (l->r->last[side] >= 0) {
            add_middle(l->r, side, out);
        }
    }
}

/* ---- the shift of the point ---- */

/* r of (2), not bounded, from the speed J_n v_q of the point before its shift. */
static double gap_error(const lasting *l, double speed) {
    return (l->time[END].gap - l->time[START].gap) / l->r->s->dt - speed;
}

static double velocity_ahead(const lasting *l, int dof, double part) {
    return (1 - part) * l->time[START].v[dof] + part * l->time[END].v[dof];
}

/* J_n v_q of the point that J has now. */
static double mean_speed(const lasting *l) {
    const contact_rows *r = l->r;
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < r->count[side]; k++) {
            double u = velocity_ahead(l, r->path[side][k].row, l->travel) * v3_dot(r->axis[2], r->path[side][k].moves);
            sum += side ? -u : u;
        }
    }
    return sum;
}

/* Of columns: by a dof of v0 or v1, 1 and the part of v1. */
static double velocity_part(const lasting *l, int column, double part, int *dof) {
    const local_frame *at = l->at;
    int side = at->trees == 2 && column >= at->columns[0], rest = side ? column - at->columns[0] : column;
    if (column >= at->width - l->r->s->step->parameters) {
        *dof = 0;
        return 0;
    }
    int kind = rest / at->dofs[side];
    *dof = (side ? at->dofs[0] : 0) + rest % at->dofs[side];
    return (kind == BY_START_V ? 1 - part : 0) + part * l->r->s->ahead_part[ALL_PARTS * at->tree[side] + kind];
}

/* d (J_e v) of v0 + part (v1 - v0), from dJ and J. */
static double speed_change(const lasting *l, const double *J, const double *dJ, int column, double part) {
    int width = l->at->width, dof;
    double own = velocity_part(l, column, part, &dof), sum = own != 0 ? own * J[dof] : 0;
    for (int k = 0; k < l->at->n; k++) {
        sum += velocity_ahead(l, k, part) * dJ[(ptrdiff_t)k * width + column];
    }
    return sum;
}

/* dd of (1) from dr of (2). */
static v3 shift_change(const lasting *l, const column_change *by, double r, double dr) {
    v3 n = l->r->axis[2], across = v3_cross(n, l->time[END].velocity.ang);
    v3 change = v3_add(v3_cross(normal_change(l, by), l->time[END].velocity.ang), v3_cross(n, by->velocity[END].ang));
    double square = v3_dot(across, across);
    if (l->clamped) {
        v3 way = v3_sub(l->time[END].lever[l->longer], l->time[START].lever[l->longer]);
        double size = sqrt(square), longest = v3_norm(way), dsize = v3_dot(across, change) / size;
        v3 dway = v3_sub(by->place[END].lever[l->longer], by->place[START].lever[l->longer]);
        dr = dsize * longest + (longest > 0 ? size * v3_dot(way, dway) / longest : 0);
        dr = r < 0 ? -dr : dr;
    }
    double twice = 2 * v3_dot(across, change) / square;
    return v3_scale(1 / square, v3_axpy(v3_scale(r, change), dr - r * twice, across));
}

/* d, and where its bound holds; false: it is not the one of the step. */
static bool find_shift(lasting *l, double *r) {
    double change[2], size = v3_norm(v3_cross(l->r->axis[2], l->time[END].velocity.ang));
    for (int side = 0; side < 2; side++) {
        change[side] = v3_norm(v3_sub(l->time[END].lever[side], l->time[START].lever[side]));
    }
    l->longer = change[1] > change[0];
    *r = gap_error(l, mean_speed(l));
    double most = size * change[l->longer];
    l->clamped = fabs(*r) > most;
    *r = fmax(-most, fmin(most, *r));
    v3 d = v3_scale(*r / size, v3_scale(1 / size, v3_cross(l->r->axis[2], l->time[END].velocity.ang)));
    return size > 0 &&
           v3_norm(v3_sub(d, l->d)) <= MAX_SHIFT_ERROR * (v3_norm(l->d) + MAX_SHIFT_ERROR * change[l->longer]);
}

/* dd of all columns, from J of the point before its shift. */
static bool differentiate_move_of_point(lasting *l, v3 *shift, constraint_change *out) {
    sim_arena *arena = l->r->s->step->arena;
    const local_frame *at = l->at;
    ptrdiff_t block = (ptrdiff_t)at->n * at->width;
    constraint_change bare = *out;
    double *J = zeros(arena, at->n), r;
    bool all = true;
    for (int e = 0; e < SIM_CONTACT_ROWS + l->r->turners; e++) {
        bare.J[e] = zeros(arena, block);
        all &= bare.J[e] != NULL;
    }
    if (!J || !all || !list_paths(l->r, at)) {
        return false;
    }
    if (!find_shift(l, &r)) {
        out->trouble = v3_norm(l->d) > 0 ? "has a contact that rolls by a rule without derivative"
                                         : "has a contact that moves over both bodies and does not turn";
        return true;
    }
    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < l->r->count[side]; k++) {
            double u = v3_dot(l->r->axis[2], l->r->path[side][k].moves);
            J[l->r->path[side][k].row] += side ? -u : u;
        }
    }
    fill_rows(l, NULL, &bare);
    for (int column = 0; column < at->width; column++) {
        column_change by;
        fill_column(l, column, &by);
        double gaps = (by.place[END].gap - by.place[START].gap) / l->r->s->dt;
        shift[column] =
            shift_change(l, &by, r, gaps - speed_change(l, J, bare.J[SIM_CONTACT_ROWS - 1], column, l->travel));
    }
    return true;
}

/* ---- offsets ---- */

/* The frame E turned to n, and its change where E turns by `turn` and n by dn. */
static void turn_frame(const contact_rows *r, v3 turn, v3 n, v3 dn, v3 out[3], v3 change[3]) {
    v3 z = r->axis[2], dz = v3_cross(turn, z), a = v3_cross(z, n), da = v3_add(v3_cross(dz, n), v3_cross(z, dn));
    double c = v3_dot(z, n), k = 1 / (1 + c), dc = v3_dot(dz, n) + v3_dot(z, dn), dk = -k * k * dc;
    for (int i = 0; i < 2; i++) {
        v3 t = r->axis[i], dt = v3_cross(turn, t);
        double along = v3_dot(a, t), dalong = v3_dot(da, t) + v3_dot(a, dt);
        out[i] = v3_add(v3_axpy(v3_scale(c, t), k * along, a), v3_cross(a, t));
        change[i] = v3_add(v3_axpy(v3_scale(dc, t), c, dt), v3_add(v3_cross(da, t), v3_cross(a, dt)));
        change[i] = v3_add(change[i], v3_axpy(v3_scale(dk * along + k * dalong, a), k * along, da));
    }
    out[2] = n;
    change[2] = dn;
}

/* Numbers along the three axes. */
typedef struct three {
    double x[3], dx[3];
} three;

/* E . u at a time. */
static three speeds_at(const lasting *l, int time, v3 turn, const column_change *by) {
    const contact_time *t = &l->time[time];
    v3 E[3], dE[3];
    three out;
    turn_frame(l->r, turn, t->n, by->place[time].n, E, dE);
    for (int e = 0; e < 3; e++) {
        out.x[e] = v3_dot(E[e], t->velocity.lin);
        out.dx[e] = v3_dot(dE[e], t->velocity.lin) + v3_dot(E[e], by->velocity[time].lin);
    }
    return out;
}

/* b over the rows [first, end), and its change; is its least value within `near` of d? */
static double swing_damping(const three *d, const three *e, int first, int end, double near, double *change,
                            bool *kink) {
    double d2 = 0, e2 = 0, dd2 = 0, de2 = 0, ratio = SWING_ERROR_RATIO * SWING_ERROR_RATIO;
    for (int row = first; row < end; row++) {
        d2 += d->x[row] * d->x[row];
        e2 += e->x[row] * e->x[row];
        dd2 += 2 * d->x[row] * d->dx[row];
        de2 += 2 * e->x[row] * e->dx[row];
    }
    double all = d2 + ratio * e2, b = d2 > 0 ? 0.5 * d2 / all : 0;
    double least = sqrt(ratio * e2 * 2 * MIN_SWING_DAMPING / (1 - 2 * MIN_SWING_DAMPING));
    *kink |= fabs(sqrt(d2) - least) <= near;
    *change = b > MIN_SWING_DAMPING ? 0.5 * (dd2 * all - d2 * (dd2 + ratio * de2)) / (all * all) : 0;
    return fmax(MIN_SWING_DAMPING, b);
}

/* J_e of v0 + part (v1 - v0), and its changes. */
static three speeds_of_rows(const lasting *l, const constraint_change *out, int column, double part) {
    three u;
    for (int e = 0; e < 3; e++) {
        const double *J = l->J + (ptrdiff_t)e * l->at->n;
        u.x[e] = 0;
        for (int k = 0; k < l->at->n; k++) {
            u.x[e] += J[k] * velocity_ahead(l, k, part);
        }
        u.dx[e] = speed_change(l, J, out->J[e], column, part);
    }
    return u;
}

/* (4) */
static three offsets_in_mean(const lasting *l, const constraint_change *out, int column, const three *u0,
                             const three *u1, const column_change *by, bool *kink) {
    three mean = speeds_of_rows(l, out, column, l->travel), start = speeds_of_rows(l, out, column, 0), d, e, w;
    for (int r = 0; r < 3; r++) {
        e.x[r] = mean.x[r] - 0.5 * (u0->x[r] + u1->x[r]);
        e.dx[r] = mean.dx[r] - 0.5 * (u0->dx[r] + u1->dx[r]);
        d.x[r] = u0->x[r] + e.x[r];
        d.dx[r] = u0->dx[r] + e.dx[r];
    }
    double near = l->r->s->step->near, db[2];
    double b[2] = {swing_damping(&d, &e, 0, 2, near, &db[0], kink), swing_damping(&d, &e, 2, 3, near, &db[1], kink)};
    *kink |= fabs(d.x[2]) <= near;
    for (int r = 0; r < 3; r++) {
        bool parts = r == 2 && d.x[r] >= 0;
        w.x[r] = start.x[r] - (parts ? 0 : 2 * b[r == 2] * d.x[r]);
        w.dx[r] = start.dx[r] - (parts ? 0 : 2 * (db[r == 2] * d.x[r] + b[r == 2] * d.dx[r]));
    }
    double gap = l->time[START].gap / l->r->s->dt, dgap = by->place[START].gap / l->r->s->dt;
    w.x[2] += GAP_CLOSING_PART * gap - fmax(gap, 0);
    w.dx[2] += (GAP_CLOSING_PART - (gap > 0 ? 1 : 0)) * dgap;
    return w;
}

/* (3), or (4): into the offsets of all columns, or no derivative. */
static void fill_offsets(const lasting *l, int i, constraint_change *out) {
    const sim_problem *p = &l->r->s->is->problem;
    for (int column = 0; column < out->at.width; column++) {
        column_change by;
        fill_column(l, column, &by);
        v3 turn = v3_cross(l->r->axis[2], normal_change(l, &by));
        three u0 = speeds_at(l, START, turn, &by), u1 = speeds_at(l, END, turn, &by), w;
        if (l->in_mean) {
            w = offsets_in_mean(l, out, column, &u0, &u1, &by, &out->kink);
        } else {
            three ahead = speeds_of_rows(l, out, column, 1);
            for (int e = 0; e < 3; e++) {
                w.x[e] = l->k * (u1.x[e] - ahead.x[e]);
                w.dx[e] = l->k * (u1.dx[e] - ahead.dx[e]);
            }
        }
        for (int e = 0; e < 3; e++) {
            double due = p->offset ? p->offset[p->constraint[i].row + e] : 0;
            double size = fabs(u0.x[e]) + v3_norm(l->time[START].velocity.lin) + v3_norm(l->time[END].velocity.lin);
            out->offset[e * out->at.width + column] = w.dx[e];
            if (fabs(w.x[e] - due) > MAX_OFFSET_ERROR * fmax(size, l->r->s->step->motion->options->law.undo)) {
                out->trouble = "has a contact that rolls by a rule without derivative";
            }
        }
    }
}

/* ---- the whole ---- */

/* Both times. */
static bool open_lasting(lasting *l, const followed_contact *to, constraint_change *out) {
    const contact_rows *r = l->r;
    const contact_step *step = r->s->step;
    const theta_scheme *scheme = theta_scheme_of(step->motion->options->integrator);
    sim_contact end = *r->c;
    end.at.position = to->position;
    end.at.normal = to->normal;
    end.at.gap = to->gap;
    l->p = prediction_place(step->motion->options);
    l->travel = scheme->travel;
    l->k = (1.5 - l->travel - l->p) / (1 - l->p);
    contact_time *t = l->time;
    t[START] = (contact_time){.at = r->at, .x = r->c->at.position, .n = r->c->at.normal, .gap = r->c->at.gap};
    t[END] = (contact_time){.x = to->position, .n = to->normal, .gap = to->gap};
    out->trouble = to->carried ? NULL : touch_make(step->ahead, &end, &t[END].at);
    out->kink |= !out->trouble && !to->carried && t[END].at.kink;
    for (int side = 0; side < 2 && !out->trouble; side++) {
        int tree = step->motion->model->body[r->body[side]].tree;
        if (r->last[side] >= 0 && !step->contacts->lasts[tree]) {
            out->trouble = "has a contact that rolls on a body too slow to follow";
        }
    }
    double *v0 = r->s->y;
    for (int j = 0; j < r->s->n; j++) {
        v0[j] = step->motion->now->v[r->s->dof[j]];
    }
    return out->trouble ||
           (open_time(l, step->start, v0, &t[START]) && open_time(l, step->ahead, r->s->v_ahead, &t[END]) &&
            list_places(r, &t[START].at, step->start, l->at, &t[START].place) &&
            (to->carried ? list_carried(l) : list_places(r, &t[END].at, step->ahead, l->at, &t[END].place)));
}

static bool meets_ball(const contact_step *step, const sim_contact *c) {
    const sim_shape *shape = step->motion->model->shape;
    return shape[c->shape_a].type == SIM_SPHERE || shape[c->shape_b].type == SIM_SPHERE;
}

/* Times, the shift of the point, rows, offsets. */
bool differentiate_lasting(contact_rows *r, int i, constraint_change *out) {
    const island_system *s = r->s;
    const contact_step *step = s->step;
    const constraint_source *source = &step->rows->source[s->is->source[i]];
    lasting l = {.r = r, .at = &out->at, .J = s->constraint[i].J};
    l.in_mean = s->is->rolls[i] == ROLLS_IN_MEAN;
    l.d = step->rows->moved[s->is->first_constraint + i];
    l.moves = s->is->rolls[i] != ROLLS_NOT && prediction_place(step->motion->options) > 0 && !meets_ball(step, r->c);
    v3 *shift = l.moves ? ARENA_NEW(step->arena, v3, out->at.width) : NULL;
    if (!list_paths(r, &out->at) || !open_lasting(&l, lasting_contact(step, source->index), out) ||
        (l.moves && !shift)) {
        return false;
    }
    if (out->trouble) {
        return true;
    }
    for (int side = 0; side < 2; side++) {
        r->lever[side] =
            v3_axpy(l.time[START].lever[side], l.p, v3_sub(l.time[END].lever[side], l.time[START].lever[side]));
    }
    if (l.moves && !differentiate_move_of_point(&l, shift, out)) {
        return false;
    }
    r->lever[0] = v3_add(r->lever[0], l.d);
    r->lever[1] = v3_add(r->lever[1], l.d);
    if (!list_paths(r, &out->at)) {
        return false;
    }
    fill_rows(&l, shift, out);
    fill_offsets(&l, i, out);
    return true;
}
