/* Tendons: length, moment arms and their change, by virtual work of a taut string.
 *
 *     L    = sum of |y - x| / D + arcs / D                        over the straight lines x -> y, D the pulley's divisor
 *     dL/dq_j = sum of n . (s_j(y) - s_j(x)) / D,                 n = (y - x) / |y - x|
 *     h = dJ/dt v                                                 the second derivative of L where no joint accelerates
 *
 *     x, y     sites, or points where the string meets or leaves a shape, m: there they count as fixed to its body,
 *              because the length is stationary in them
 *     s_j(x)   velocity of the point x of its body by dof j at unit rate
 *
 * Dofs on the paths to both ends of a line move neither against the other, and are left out.  h comes from Taylor series
 * of the length (math/jet.h) in the positions of both ends, seen from the shape.
 *
 * A fixed tendon has constant moment arms, the coefficients of its joints.  Of a ball joint the angle t counts, with the
 * axis a and the angular velocity w seen from the body:
 *
 *     dt/dw = a,     t'' = 1/2 cot(t/2) |w - (a . w) a|^2      where w' = 0
 *
 * Reference: Delp, Loan 1995, A graphics-based software system to develop and analyze models of musculoskeletal
 * structures.  Computers in Biology and Medicine 25 (moment arms as derivatives of the length).
 * Cost: a line costs one motion axis for each dof between its two bodies. */
#include "dyn/motion/tendon.h"
#include "dyn/motion/axes.h"
#include "dyn/motion/tendon_course.h"
#include "model/parts/spring.h"

#include <string.h>

/* A string from a site to the next one, in the world. */
typedef struct leg {
    sim_point from, to;
    v3 a, b;                /* where these are */
    const sim_shape *shape; /* that it touches; NULL: none */
    pose at;                /* of the shape */
    string_obstacle obstacle;
    string_course course; /* seen from the shape */
    double weight;        /* 1 / divisor */
} leg;

/* A place on the path: of the next point, after the site before it. */
typedef struct path_walk {
    const sim_derived *d;
    const sim_tendon *tendon;
    int next;
    const sim_path_point *before, *around;
    double weight;
} path_walk;

static path_walk start_walk(const sim_derived *d, int tendon) {
    return (path_walk){.d = d, .tendon = &d->model->tendon[tendon], .weight = 1};
}

static sim_point point_of_site(const sim_model *m, int site) {
    return (sim_point){m->site[site].body, m->site[site].pose.p};
}

/* The way of the leg over the shape between its sites. */
static void lead_around(const sim_derived *d, const sim_path_point *around, leg *l) {
    const sim_shape *shape = &d->model->shape[around->shape];
    l->at = pose_product(d->pose[shape->body], shape->pose);
    l->obstacle = (string_obstacle){shape->type == SIM_CYLINDER, shape->size[0]};
    v3 side = {0, 0, 0}, a = m3_transposed_times(l->at.R, v3_sub(l->a, l->at.p)),
       b = m3_transposed_times(l->at.R, v3_sub(l->b, l->at.p));
    if (around->site >= 0) {
        v3 at = sim_point_position(d, point_of_site(d->model, around->site));
        side = m3_transposed_times(l->at.R, v3_sub(at, l->at.p));
    }
    l->course = find_course(&l->obstacle, a, b, around->site >= 0 ? &side : NULL);
    l->shape = l->course.kind != COURSE_STRAIGHT ? shape : NULL;
}

/* The next leg of a spatial tendon; false: there is none. */
static bool next_leg(path_walk *w, leg *out) {
    const sim_model *m = w->d->model;
    while (w->next < w->tendon->npoint) {
        const sim_path_point *p = &w->tendon->path[w->next++], *from = w->before;
        if (p->kind == SIM_PATH_PULLEY) {
            w->weight = 1 / p->divisor;
            w->before = NULL;
        } else if (p->kind == SIM_PATH_AROUND) {
            w->around = p;
        } else {
            const sim_path_point *around = w->around;
            w->before = p;
            w->around = NULL;
            if (from) {
                *out =
                    (leg){.from = point_of_site(m, from->site), .to = point_of_site(m, p->site), .weight = w->weight};
                out->a = sim_point_position(w->d, out->from);
                out->b = sim_point_position(w->d, out->to);
                if (around) {
                    lead_around(w->d, around, out);
                }
                return true;
            }
        }
    }
    return false;
}

/* ---- length ---- */

static double leg_length(const leg *l) {
    if (!l->shape) {
        return v3_norm(v3_sub(l->b, l->a));
    }
    v3 a = m3_transposed_times(l->at.R, v3_sub(l->a, l->at.p)), b = m3_transposed_times(l->at.R, v3_sub(l->b, l->at.p));
    return course_length(&l->obstacle, &l->course, jet3_constant(a), jet3_constant(b)).x;
}

/* ---- ball joints ---- */

/* The turn of a ball joint: its angle times the axis. */
static v3 ball_turn(const sim_derived *d, int body) {
    const sim_body *b = &d->model->body[body];
    m3 before = m3_product(d->pose[b->parent].R, b->placement.R);
    return quat_log(quat_from_matrix(m3_product(m3_transpose(before), d->pose[body].R)));
}

static v3 unit_or_zero(v3 a) {
    double size = v3_norm(a);
    return v3_scale(size > 0 ? 1 / size : 0, a);
}

static bool is_ball(const sim_derived *d, const sim_tendon_joint *j) {
    return d->model->body[j->body].joint == SIM_BALL;
}

static double joint_length(const sim_derived *d, const sim_tendon_joint *j, const double *q) {
    double x = is_ball(d, j) ? v3_norm(ball_turn(d, j->body)) : q[d->model->dof[j->dof].coordinate];
    return j->coefficient * x;
}

static double joint_rate(const sim_derived *d, const sim_tendon_joint *j, const double *v) {
    const double *w = v + j->dof;
    v3 axis = is_ball(d, j) ? unit_or_zero(ball_turn(d, j->body)) : (v3){1, 0, 0};
    return j->coefficient * (is_ball(d, j) ? v3_dot(axis, v3_make(w[0], w[1], w[2])) : w[0]);
}

static double joint_bias(const sim_derived *d, const sim_tendon_joint *j) {
    if (!is_ball(d, j)) {
        return 0;
    }
    const sim_body *b = &d->model->body[j->body];
    v3 turn = ball_turn(d, j->body), axis = unit_or_zero(turn);
    v3 w = m3_transposed_times(d->pose[j->body].R, v3_sub(d->vel[j->body].ang, d->vel[b->parent].ang));
    v3 across = v3_axpy(w, -v3_dot(axis, w), axis);
    double angle = v3_norm(turn);
    return angle > 0 ? j->coefficient * 0.5 * v3_dot(across, across) / tan(0.5 * angle) : 0;
}

double sim_tendon_length(const sim_derived *d, int tendon, const double *q) {
    const sim_tendon *t = &d->model->tendon[tendon];
    double sum = 0;
    leg l;
    for (int k = 0; k < t->njoint; k++) {
        sum += joint_length(d, &t->joint[k], q);
    }
    for (path_walk w = start_walk(d, tendon); next_leg(&w, &l);) {
        sum += l.weight * leg_length(&l);
    }
    return sum;
}

void tendon_measure_initial(sim_derived *d) {
    const sim_model *m = d->model;
    if (m->ntendon) {
        sim_kinematics(d, (sim_range){1, m->nbody}, m->q_reference);
    }
    for (int k = 0; k < m->ntendon; k++) {
        d->tendon_initial[k] = sim_tendon_length(d, k, m->q_reference);
    }
}

double sim_tendon_stretch(const sim_derived *d, int tendon, double length) {
    const double *rest = d->model->tendon[tendon].rest, initial = d->tendon_initial[tendon];
    double low = isnan(rest[0]) ? initial : rest[0], high = isnan(rest[1]) ? initial : rest[1];
    return length > high ? length - high : length < low ? length - low : 0;
}

/* ---- moment arms ---- */

/* A straight line from a point of one body to a point of another. */
typedef struct line {
    int body[2];
    v3 point[2];
} line;

/* The lines of a leg: one, or one to the shape and one from it. */
static int leg_lines(const leg *l, line *out) {
    if (!l->shape) {
        out[0] = (line){{l->from.body, l->to.body}, {l->a, l->b}};
        return 1;
    }
    int on = l->shape->body;
    out[0] = (line){{l->from.body, on}, {l->a, pose_point(l->at, l->course.on[0])}};
    out[1] = (line){{on, l->to.body}, {pose_point(l->at, l->course.on[1]), l->b}};
    return 2;
}

static void add_line_moments(const sim_derived *d, const sim_tendon *t, const line *l, double weight,
                             double *const J[2]) {
    const sim_model *m = d->model;
    v3 way = v3_sub(l->point[1], l->point[0]);
    double length = v3_norm(way);
    v3 n = length > 0 ? v3_scale(weight / length, way) : v3_make(0, 0, 0);
    /* up to the last dof on the paths to both */
    int last[2] = {find_last_dof(m, l->body[0]), find_last_dof(m, l->body[1])};
    while (last[0] != last[1]) {
        int end = last[1] > last[0], j = last[end], tree = m->body[m->dof[j].body].tree;
        double *column = J[tree == t->tree[1]] + (j - m->tree[tree].v0);
        *column += (end ? 1 : -1) * v3_dot(n, motion_axis_at(d, j, l->point[end]).lin);
        last[end] = m->dof[j].parent;
    }
}

void tendon_add_moments(const sim_derived *d, int tendon, double *const J[2]) {
    const sim_model *m = d->model;
    const sim_tendon *t = &m->tendon[tendon];
    leg l;
    line lines[2];
    /* joints */
    for (int k = 0; k < t->njoint; k++) {
        const sim_tendon_joint *j = &t->joint[k];
        int tree = m->body[j->body].tree;
        double *column = J[tree == t->tree[1]] + (j->dof - m->tree[tree].v0);
        v3 axis = is_ball(d, j) ? unit_or_zero(ball_turn(d, j->body)) : (v3){1, 0, 0};
        column[0] += j->coefficient * axis.x;
        if (is_ball(d, j)) {
            column[1] += j->coefficient * axis.y;
            column[2] += j->coefficient * axis.z;
        }
    }
    /* path */
    for (path_walk w = start_walk(d, tendon); next_leg(&w, &l);) {
        int count = leg_lines(&l, lines);
        for (int k = 0; k < count; k++) {
            add_line_moments(d, t, &lines[k], l.weight, J);
        }
    }
}

void tendon_add_wrenches(const sim_derived *d, int tendon, double strength, sim_force *wrench) {
    leg l;
    line lines[2];
    for (path_walk w = start_walk(d, tendon); next_leg(&w, &l);) {
        int count = leg_lines(&l, lines);
        for (int k = 0; k < count; k++) {
            v3 way = v3_sub(lines[k].point[1], lines[k].point[0]);
            double length = v3_norm(way);
            v3 pull = length > 0 ? v3_scale(strength * l.weight / length, way) : v3_make(0, 0, 0);
            for (int end = 0; end < 2; end++) {
                int body = lines[k].body[end];
                force f = {{0, 0, 0}, end ? pull : v3_neg(pull)};
                wrench[body] =
                    force_add(wrench[body], force_at_parent(f, v3_sub(lines[k].point[end], d->pose[body].p)));
            }
        }
    }
}

void sim_tendon_moments(const sim_derived *d, int tendon, double *J) {
    const sim_model *m = d->model;
    const int *tree = m->tendon[tendon].tree;
    memset(J, 0, (size_t)m->nv * sizeof *J);
    tendon_add_moments(d, tendon,
                       (double *[2]){J + m->tree[tree[0]].v0, tree[1] >= 0 ? J + m->tree[tree[1]].v0 : NULL});
}

/* ---- rates ---- */

double sim_tendon_rate(const sim_derived *d, int tendon, const double *v) {
    const sim_tendon *t = &d->model->tendon[tendon];
    double sum = 0;
    leg l;
    line lines[2];
    for (int k = 0; k < t->njoint; k++) {
        sum += joint_rate(d, &t->joint[k], v);
    }
    /* n . (velocity of the end - velocity of the start), line by line */
    for (path_walk w = start_walk(d, tendon); next_leg(&w, &l);) {
        int count = leg_lines(&l, lines);
        for (int k = 0; k < count; k++) {
            v3 u[2], way = v3_sub(lines[k].point[1], lines[k].point[0]);
            double length = v3_norm(way);
            for (int end = 0; end < 2; end++) {
                int body = lines[k].body[end];
                u[end] = motion_at_child(d->vel[body], v3_sub(lines[k].point[end], d->pose[body].p)).lin;
            }
            sum += length > 0 ? l.weight * v3_dot(way, v3_sub(u[1], u[0])) / length : 0;
        }
    }
    return sum;
}

/* A point of a body and its derivatives where no joint accelerates. */
static jet3 moving_point(const sim_derived *d, const sim_motion *acc, sim_point p) {
    return (jet3){sim_point_position(d, p), sim_point_velocity(d, p), sim_point_bias_acceleration(d, acc, p)};
}

/* A moving point seen from a shape on a body of angular velocity w and acceleration alpha:
 *
 *     x = R' (p - c),    R x' = p' - c' - w x r,    R x'' = p'' - c'' - alpha x r - w x (w x r) - 2 w x (R x'),   r = p - c */
static jet3 seen_from(m3 R, jet3 centre, v3 w, v3 alpha, jet3 p) {
    jet3 r = jet3_sub(p, centre);
    v3 u = v3_sub(r.d, v3_cross(w, r.x));
    v3 a = v3_sub(r.dd, v3_add(v3_cross(alpha, r.x), v3_cross(w, v3_cross(w, r.x))));
    a = v3_axpy(a, -2, v3_cross(w, u));
    return (jet3){m3_transposed_times(R, r.x), m3_transposed_times(R, u), m3_transposed_times(R, a)};
}

double sim_tendon_bias(const sim_derived *d, int tendon, const sim_motion *acc) {
    const sim_tendon *t = &d->model->tendon[tendon];
    double sum = 0;
    leg l;
    for (int k = 0; k < t->njoint; k++) {
        sum += joint_bias(d, &t->joint[k]);
    }
    for (path_walk w = start_walk(d, tendon); next_leg(&w, &l);) {
        jet3 a = moving_point(d, acc, l.from), b = moving_point(d, acc, l.to);
        if (l.shape) {
            int body = l.shape->body;
            jet3 centre = moving_point(d, acc, (sim_point){body, l.shape->pose.p});
            a = seen_from(l.at.R, centre, d->vel[body].ang, acc[body].ang, a);
            b = seen_from(l.at.R, centre, d->vel[body].ang, acc[body].ang, b);
        }
        sum += l.weight * course_length(&l.obstacle, &l.course, a, b).dd;
    }
    return sum;
}

/* ---- energy, pictures ---- */

double sim_tendon_energy(const sim_derived *d, int tendon, const double *q) {
    double stretch = sim_tendon_stretch(d, tendon, sim_tendon_length(d, tendon, q));
    return spring_energy(d->model->tendon[tendon].stiffness, d->model->tendon[tendon].spring, stretch);
}

static const double MAX_CHORD_ANGLE = M_PI / 12; /* rad, of an arc in a picture */

/* The point of a leg's arc at a part of the way over the shape. */
static v3 point_of_arc(const leg *l, double part) {
    const string_course *c = &l->course;
    double angle = c->arc[0] + part * (c->arc[1] - c->arc[0]), r = l->obstacle.radius;
    v3 p = v3_add(v3_scale(r * cos(angle), c->e1), v3_scale(r * sin(angle), c->e2));
    p.z += l->obstacle.cylinder ? c->on[0].z + part * (c->on[1].z - c->on[0].z) : 0;
    return pose_point(l->at, p);
}

int sim_tendon_lines(const sim_derived *d, int tendon, sim_v3 (*out)[2], int room) {
    int count = 0;
    leg l;
    line lines[2];
    for (path_walk w = start_walk(d, tendon); next_leg(&w, &l);) {
        int straight = leg_lines(&l, lines);
        for (int k = 0; k < straight; k++, count++) {
            if (count < room) {
                memcpy(out[count], lines[k].point, sizeof out[count]);
            }
        }
        /* chords of the arc */
        double turn = l.shape ? fabs(l.course.arc[1] - l.course.arc[0]) : 0;
        int chords = (int)ceil(turn / MAX_CHORD_ANGLE);
        for (int k = 0; k < chords; k++, count++) {
            if (count < room) {
                out[count][0] = point_of_arc(&l, (double)k / chords);
                out[count][1] = point_of_arc(&l, (double)(k + 1) / chords);
            }
        }
    }
    return count;
}
