/* Rows of equality constraints and springs between two bodies.
 *
 *              gap phi                 rate J v                  bias h = dJ/dt v
 *     connect  d                       v_a - v_b                 a_a - a_b
 *     weld     d;  log(R_a R_b')       v_a - v_b;  w_a - w_b     a_a - a_b;  alpha_a - alpha_b
 *     distance |d| - L                 n . (v_a - v_b)           n . (a_a - a_b) + (|d'|^2 - (n . d')^2) / |d|
 *     coupling q_1 - P(q_2)            v_1 - P' v_2              -P'' v_2^2
 *     tendon   x_1 - P(x_2)            L_1' - P' L_2'            h_1 - P' h_2 - P'' L_2'^2
 *     spring   as distance
 *
 *     (R_a, p_a), (R_b, p_b)  frames on the bodies A and B, in world axes, m;  d = p_a - p_b,  n = d / |d|
 *     v, w        velocity of the frame's origin, m/s, and angular velocity, rad/s
 *     a, alpha    accelerations when no joint accelerates, m/s^2, rad/s^2
 *     L           length, m
 *     P           polynomial of a coupling, with its offset and ratio;  x: length of a tendon, less its initial one, m
 *     p, s        parts of the step at which J is taken, and at which the end velocity obeys the constraint, 0 to 1
 *
 * The rate of the log is w_a - w_b where the weld holds.  The offset of u = J v + w is derived at fill_pair_rows, the
 * force of a spring with damper (a row of kind SIM_SPRING) in springs.c.
 *
 * Cost: one motion axis for each dof on the paths to the two bodies. */
#include "contact/problem/row/row.h"
#include "math/dense.h"
#include "math/spatial.h"

static const double MAX_PARTING = 0.4; /* of dt h, by velocities that go on */
static const double RINGING = 0.8;     /* of the rate at which points part, kept in a step with its sign turned */

static bool is_length(const sim_equality *e) { return e->type == SIM_DISTANCE || e->type == SIM_SPRING_DAMPER; }

/* The motion axis of dof j at the point p: angular velocity, and velocity of p. */
static motion dof_motion_at(const sim_derived *d, int j, v3 p) {
    return motion_at_child(d->S[j], v3_sub(p, d->pose[d->model->dof[j].body].p));
}

/* One column of the rows: connect and weld by components, distance along n. */
static void add_equality_column(const sim_equality *e, motion s, v3 n, double sign, int nv, double *column) {
    const double value[6] = {s.lin.x, s.lin.y, s.lin.z, s.ang.x, s.ang.y, s.ang.z};
    if (is_length(e)) {
        column[0] += sign * v3_dot(n, s.lin);
        return;
    }
    for (int k = 0; k < sim_equality_rows(e->type); k++) {
        column[k * nv] += sign * value[k];
    }
}

static v3 point_at(const sim_derived *d, const sim_equality *e, int side) {
    return pose_point(d->pose[e->body[side]], e->frame[side].p);
}

/* The direction from B to A, and the distance in m; the x axis at distance 0. */
static v3 line_direction(v3 way, double *length) {
    *length = v3_norm(way);
    return *length > 0 ? v3_scale(1 / *length, way) : v3_make(1, 0, 0);
}

static void eval_gaps(const sim_derived *d, const sim_equality *e, double *gap) {
    v3 way = v3_sub(point_at(d, e, 0), point_at(d, e, 1));
    if (is_length(e)) {
        gap[0] = v3_norm(way) - e->distance;
        return;
    }
    gap[0] = way.x;
    gap[1] = way.y;
    gap[2] = way.z;
    if (e->type == SIM_WELD) {
        m3 A = m3_product(d->pose[e->body[0]].R, e->frame[0].R), B = m3_product(d->pose[e->body[1]].R, e->frame[1].R);
        v3 turn = quat_log(quat_from_matrix(m3_product(A, m3_transpose(B))));
        gap[3] = turn.x;
        gap[4] = turn.y;
        gap[5] = turn.z;
    }
}

static void eval_biases(const sim_derived *d, const sim_motion *acc, const sim_equality *e, double *h) {
    sim_point a = {e->body[0], e->frame[0].p}, b = {e->body[1], e->frame[1].p};
    v3 lin = v3_sub(sim_point_bias_acceleration(d, acc, a), sim_point_bias_acceleration(d, acc, b));
    v3 ang = v3_sub(acc[a.body].ang, acc[b.body].ang);
    if (e->type == SIM_DISTANCE) {
        double length;
        v3 n = line_direction(v3_sub(point_at(d, e, 0), point_at(d, e, 1)), &length);
        v3 rate = v3_sub(sim_point_velocity(d, a), sim_point_velocity(d, b));
        v3 across = v3_axpy(rate, -v3_dot(n, rate), n);
        h[0] = v3_dot(n, lin) + (length > 0 ? v3_dot(across, across) / length : 0);
        return;
    }
    const double value[6] = {lin.x, lin.y, lin.z, ang.x, ang.y, ang.z};
    for (int k = 0; k < sim_equality_rows(e->type); k++) {
        h[k] = value[k];
    }
}

/* Is J in the middle of the step, where the free motion leads? */
static bool is_in_middle(const assembly *f, const sim_equality *e) {
    const sim_body *body = f->tables->model->body;
    return f->in->position == 0.5 && !tree_is_damped(f, body[e->body[0]].tree) &&
           !tree_is_damped(f, body[e->body[1]].tree);
}

/* Did a constraint not act in the step before? */
static bool is_new(const assembly *f, int index) {
    bool any = false;
    for (int k = 0; k < SIM_MAX_ROWS; k++) {
        any |= f->in->equality_before[SIM_MAX_ROWS * index + k] != 0;
    }
    return !any;
}

/* Do the points of a connection part at the start otherwise than the turn of a step explains?  A motion that goes on has
 * J v = dt h / 2 there, as the step before left J v = -dt h / 2 in its own axes.  The points of a body that turns and
 * must stop part at w r, across h = w^2 r: at least dt h / 2 from it, however far it turns. */
static bool velocities_jump(const assembly *f, const sim_equality *e) {
    if (is_length(e) || (is_in_middle(f, e) && !is_new(f, (int)(e - f->in->equality)))) {
        return false;
    }
    double h[6];
    eval_biases(f->anchor, f->anchor_acc, e, h);
    sim_point a = {e->body[0], e->frame[0].p}, b = {e->body[1], e->frame[1].p};
    v3 rate = v3_sub(sim_point_velocity(f->anchor, a), sim_point_velocity(f->anchor, b));
    v3 turn = v3_scale(f->in->step, v3_make(h[0], h[1], h[2]));
    return v3_norm(v3_axpy(rate, -0.5, turn)) > MAX_PARTING * v3_norm(turn);
}

static bool ties_soft(const assembly *f, const sim_equality *e) {
    const sim_body *body = f->tables->model->body;
    bool any = false;
    for (int side = 0; side < 2 && f->anchor; side++) {
        int tree = body[e->body[side]].tree;
        any |= tree >= 0 && f->in->soft[tree];
    }
    return any;
}

/* Are its rows those of the anchor?  With J in the middle of the step, where the free motion leads: those whose
 * velocities jump.  J in the middle of a turn that is stopped would throw the bodies. */
static bool holds_soft(const assembly *f, const sim_equality *e) {
    return ties_soft(f, e) && (!is_in_middle(f, e) || velocities_jump(f, e));
}

/* Row k of connect, weld and distance on a body: along an axis of the world at the point, or about it. */
void equality_on_body(const assembly *f, int i, int side, double *J) {
    static const v3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const sim_equality *e = &f->in->equality[f->source[f->source_of[i]].index];
    const sim_derived *d = holds_soft(f, e) ? f->anchor : f->in->mass;
    double length, sign = side ? -1 : 1;
    v3 p = point_at(d, e, side), lever = v3_sub(p, d->pose[e->body[side]].p);
    v3 n = line_direction(v3_sub(point_at(d, e, 0), point_at(d, e, 1)), &length);
    for (int k = 0; k < sim_equality_rows(e->type); k++, J += 6) {
        v3 to = v3_scale(sign, is_length(e) ? n : axis[k % 3]), none = {0, 0, 0};
        v3 lin = k < 3 ? to : none, ang = k < 3 ? v3_cross(lever, to) : to;
        const double row[6] = {ang.x, ang.y, ang.z, lin.x, lin.y, lin.z};
        for (int c = 0; c < 6; c++) {
            J[c] = row[c];
        }
    }
}

/* P'(x) and P''(x) */
static double polynomial_slope(const sim_equality *e, double x) {
    return e->ratio + x * (2 * e->higher[0] + x * (3 * e->higher[1] + x * 4 * e->higher[2]));
}
static double polynomial_bend(const sim_equality *e, double x) {
    return 2 * e->higher[0] + x * (6 * e->higher[1] + x * 12 * e->higher[2]);
}

static void fill_coupling_row(assembly *f, const sim_model *m, const sim_equality *e, int i) {
    const constraint_source *t = &f->source[f->source_of[i]];
    const double *q = f->in->q_start, v2 = f->in->v_start[e->dof[1]];
    double q1 = q[m->dof[e->dof[0]].coordinate], q2 = q[m->dof[e->dof[1]].coordinate];
    double middle = q2 + f->in->position * f->in->step * v2;
    const double part[2] = {1, -polynomial_slope(e, middle)};
    for (int side = 0; side < 2; side++) {
        block_of(f, i, side)[e->dof[side] - m->tree[t->tree[side]].v0] += part[side];
        widen_columns(f, m, i, side, e->dof[side], e->dof[side] + 1);
    }
    f->gap[f->row[i]] = equality_polynomial_gap(e, q1, q2);
    f->offset[f->row[i]] = offset_of_bias(f, -polynomial_bend(e, middle) * v2 * v2);
}

static void fill_tendon_row(assembly *f, const sim_equality *e, int i) {
    const double *initial = f->in->mass->tendon_initial;
    int one = e->tendon[0], two = e->tendon[1];
    double x1 = f->tendon[one].length - initial[one], x2 = 0, h = f->tendon[one].bias;
    add_tendon_moments(f, one, 1, i);
    if (two >= 0) {
        double rate = tendon_speed(f, two, f->in->v_start);
        x2 = f->tendon[two].length - initial[two];
        double middle = x2 + f->in->position * f->in->step * rate, slope = polynomial_slope(e, middle);
        add_tendon_moments(f, two, -slope, i);
        h -= slope * f->tendon[two].bias + polynomial_bend(e, middle) * rate * rate;
    }
    f->gap[f->row[i]] = equality_polynomial_gap(e, x1, x2);
    f->offset[f->row[i]] = offset_of_bias(f, h);
}

/* Adds J at the positions of d. */
static void add_equality_rows(const assembly *f, const sim_model *m, const int *last_dof, const sim_derived *d, int i,
                              double *J) {
    const constraint_source *t = &f->source[f->source_of[i]];
    const sim_equality *e = &f->in->equality[t->index];
    double length;
    v3 n = line_direction(v3_sub(point_at(d, e, 0), point_at(d, e, 1)), &length);
    for (int side = 0; side < 2; side++) {
        v3 p = point_at(d, e, side);
        int last = t->tree[side] >= 0 ? last_dof[e->body[side]] : -1;
        for (int j = last; j >= 0; j = m->dof[j].parent) {
            const sim_tree *tree = &m->tree[t->tree[side]];
            add_equality_column(e, dof_motion_at(d, j, p), n, side ? -1 : 1, tree->nv,
                                block_in(J, f, i, side) + (j - tree->v0));
        }
    }
}

void equality_ahead(const assembly *f, const sim_model *m, const int *last_dof, int i, const sim_derived *ahead,
                    double *J, double *gap) {
    eval_gaps(ahead, &f->in->equality[f->source[f->source_of[i]].index], gap);
    add_equality_rows(f, m, last_dof, ahead, i, J);
}

/* J v0 of row k. */
static double row_rate_at_start(const assembly *f, const sim_model *m, int i, int k) {
    const constraint_source *t = &f->source[f->source_of[i]];
    double rate = 0;
    for (int side = 0; side < 2; side++) {
        const sim_tree *tree = t->tree[side] >= 0 ? &m->tree[t->tree[side]] : NULL;
        const double *J = tree ? block_of(f, i, side) + (ptrdiff_t)k * tree->nv : NULL;
        bool shared = side == 1 && t->tree[0] == t->tree[1];
        rate += tree && !shared ? dense_dot(tree->nv, J, f->in->v_start + tree->v0) : 0;
    }
    return rate;
}

/* J, gap and offset of rows between two bodies.
 *
 * J is taken at the part p of the step, where the scheme takes its forces: constraint forces then do as little work as
 * the scheme's own.  Positions move with v_q = v0 + theta (v - v0).  If every end velocity is tangent to the constraint
 * at the part s of its step, J v = dt (p - s) h.  For the step before J v0 = dt (p - s + 1) h.  So the gap grows by
 *
 *     dt J v_q + dt^2 (1/2 - p) h  =  dt^2 h (3/2 - theta - s) + O(dt^3),
 *
 * which is zero to second order for s = 3/2 - theta.  Hence the offset w = dt (s - p) h in u = J v + w.  For symplectic
 * Euler that is SHAKE; for the midpoint rule the velocity is tangent at the end of the step.
 *
 * Implicit Euler has p = 1, the end of the free motion.  A light body that a soft one holds turns far without it, and
 * rows at that end would throw it.  So these rows have p = 0 and h at the start, as with symplectic Euler, and those
 * with p = 1/2 that are new and whose velocities jump.  They have w = 0 where the step ends those velocities: w of a turn
 * that does not happen would do work on the bodies.  Positions then move as the end velocities say (position_correction.c).
 *
 * Other ties of soft bodies with p = 1/2 have w + r (J v0 - w), r = RINGING.  With r = 1 the mean velocity is zero, so
 * the row does the work -theta g R g and no other.  But an error e = J v0 - w then rings on with the sign turned in each
 * step, and gaps that close add to it.  r < 1 lets it die out; its work g (1 - r) e / 2 is of second order, and r = 0
 * gives a tumbling body energy.  So have distances: rods in a body under load that obeyed the end velocity did the work
 * g J v0 / 2, and kept it moving. */
static void fill_pair_rows(assembly *f, const sim_model *m, const int *last_dof, const sim_equality *e, int i) {
    const constraint_source *t = &f->source[f->source_of[i]];
    bool held = holds_soft(f, e), damped = source_is_damped(f, t);
    const sim_derived *d = held ? f->anchor : f->in->mass;
    double h[6];
    for (int side = 0; side < 2; side++) {
        int last = t->tree[side] >= 0 ? last_dof[e->body[side]] : -1;
        for (int j = last; j >= 0; j = m->dof[j].parent) {
            widen_columns(f, m, i, side, j, last + 1);
        }
    }
    add_equality_rows(f, m, last_dof, d, i, f->J);
    eval_gaps(f->in->start, e, f->gap + f->row[i]);
    if (e->type == SIM_SPRING_DAMPER) {
        fill_spring_row(f, m, i,
                        (row_spring){.stiffness = e->stiffness, .damping = e->damping, .stretch = f->gap[f->row[i]]});
        f->gap[f->row[i]] = 0;
        return;
    }
    eval_biases(d, held ? f->anchor_acc : f->acc, e, h);
    /* w of a velocity that is tangent at a part of the step, or in part of the mean velocity */
    bool jumps = held && velocities_jump(f, e), in_mean = !held && ties_soft(f, e);
    double place = held ? 0 : damped ? 1 : f->in->position;
    f->rolls[i] = jumps ? PARTS_AT_ONCE : ROLLS_NOT;
    for (int k = 0; k < sim_equality_rows(e->type); k++) {
        double w = jumps ? 0 : offset_of_place(f, travel_of(f, damped), place, h[k]);
        f->offset[f->row[i] + k] = in_mean ? w + RINGING * (row_rate_at_start(f, m, i, k) - w) : w;
    }
}

void rows_of_equality(assembly *f, const sim_model *m, const int *last_dof, int i) {
    const constraint_source *t = &f->source[f->source_of[i]];
    const sim_equality *e = &f->in->equality[t->index];
    if (e->type == SIM_COUPLING) {
        fill_coupling_row(f, m, e, i);
    } else if (e->type == SIM_TENDON_COUPLING) {
        fill_tendon_row(f, e, i);
    } else {
        fill_pair_rows(f, m, last_dof, e, i);
    }
    for (int k = 0; k < sim_equality_rows(e->type); k++) {
        f->impulse_guess[f->row[i] + k] = f->in->equality_before[SIM_MAX_ROWS * t->index + k];
    }
}
