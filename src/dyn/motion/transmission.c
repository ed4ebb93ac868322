/* Lengths of actuators and their moments.
 *
 *     l = l(q),     moment = dl/dq,     l' = moment v
 *
 *     joint          l = g q
 *     site           l = 0;  moment = J_s' (R_s g): the wrench g at the site, in its axes
 *     two sites      l = g . (R_r' (p_s - p_r), log(R_r' R_s)), the pose of the site seen from the reference r; moment
 *                    of the wrench along the reference's axes, on the site and back on the body of the reference
 *     slider-crank   l = g (a - sqrt(a^2 + r^2 - |d|^2)),   d = p_c - p_s,   a = n . d:  where a rod of length r that
 *                    hangs on the crank's point meets the slider's axis, or the foot of d on it beyond its reach
 *     tendon         l = g times its length (tendon.c)
 *     orientation    l = g . log(q) of a ball joint, 0 of a free one;  moment = g, in the axes of their velocities;
 *                    in the axes of the parent R(q)' times the torque of g
 *     contacts       l = 0;  moment 0: the force is a load of contacts (contact/problem/row/surfaces.c)
 *
 *     g              gear: a number, or six for the force and torque along the axes of a site
 *     p, R           position and axes of a site;  n: axis z of the slider's site
 *
 * With a torque l' is the derivative of l to first order in the angle between both sites.
 * Cost: linear in the depth of the bodies. */
#include "dyn/motion/transmission.h"
#include "dyn/motion/tendon.h"
#include "math/spatial.h"
#include "math/v3.h"

#include <math.h>
#include <string.h>

typedef struct frame {
    int body;
    v3 p;
    m3 R;
} frame;

static frame frame_of(const sim_derived *d, int site) {
    const sim_site *s = &d->model->site[site];
    const pose *X = &d->pose[s->body];
    return (frame){s->body, pose_point(*X, s->pose.p), m3_product(X->R, s->pose.R)};
}

/* Adds J' of a wrench (moment, force) at a point of a body, in world axes, over the dofs of its tree. */
static void add_wrench(const sim_derived *d, int body, v3 point, force f, double *moment) {
    const sim_model *m = d->model;
    int v0 = body ? m->tree[m->body[body].tree].v0 : 0;
    f = force_at_parent(f, v3_sub(point, d->pose[body].p));
    for (int i = body; i > 0; i = m->body[i].parent) {
        const sim_body *b = &m->body[i];
        for (int j = b->v0; j < b->v0 + b->nv; j++) {
            moment[j - v0] += motion_dot(d->S[j], f);
        }
        f = force_at_parent(f, d->r[i]);
    }
}

static force force_scale(double s, force f) { return (force){v3_scale(s, f.ang), v3_scale(s, f.lin)}; }

/* Six numbers: a force and a torque along the axes. */
static force wrench_along(m3 R, const double *g) {
    return (force){m3_times(R, v3_make(g[3], g[4], g[5])), m3_times(R, v3_make(g[0], g[1], g[2]))};
}

/* A wrench (moment, force) at a point of a body, in world axes. */
typedef struct pull {
    int body;
    v3 point;
    force f;
} pull;

/* By a force of 1 of an actuator of sites; the number of pulls. */
static int find_site_pulls(const sim_derived *d, const sim_actuator *a, pull out[2], double *length) {
    frame s = frame_of(d, a->site[0]);
    if (a->site[1] < 0) {
        out[0] = (pull){s.body, s.p, wrench_along(s.R, a->wrench)};
        *length = 0;
        return 1;
    }
    /* the pose of the site in the reference */
    frame r = frame_of(d, a->site[1]);
    const double *g = a->wrench;
    v3 apart = m3_transposed_times(r.R, v3_sub(s.p, r.p));
    v3 turn = quat_log(quat_from_matrix(m3_product(m3_transpose(r.R), s.R)));
    *length = v3_dot(v3_make(g[0], g[1], g[2]), apart) + v3_dot(v3_make(g[3], g[4], g[5]), turn);
    /* the wrench on the site, and back on the body of the reference at the same point */
    force f = wrench_along(r.R, g);
    out[0] = (pull){s.body, s.p, f};
    out[1] = (pull){r.body, s.p, force_scale(-1, f)};
    return 2;
}

/* With root = sqrt(a^2 + r^2 - |d|^2):  dl = n' . d (1 - a/root) + d' . (n (1 - a/root) + d/root). */
static int find_crank_pulls(const sim_derived *d, const sim_actuator *a, pull out[2], double *length) {
    frame crank = frame_of(d, a->site[0]), slider = frame_of(d, a->site[1]);
    v3 apart = v3_sub(crank.p, slider.p), n = slider.R.z;
    double along = v3_dot(n, apart), square = along * along + a->rod * a->rod - v3_dot(apart, apart);
    double root = square > 0 ? sqrt(square) : 0, part = square > 0 ? 1 - along / root : 1;
    /* force on the crank's point and back on the slider's; n turns with the slider's body: n' . d = w . (n x d) */
    v3 f = v3_scale(a->gear, v3_axpy(v3_scale(part, n), square > 0 ? 1 / root : 0, apart));
    out[0] = (pull){crank.body, crank.p, (force){{0, 0, 0}, f}};
    out[1] = (pull){slider.body, slider.p, (force){v3_scale(a->gear * part, v3_cross(n, apart)), v3_neg(f)}};
    *length = a->gear * (along - root);
    return 2;
}

static int find_pulls(const sim_derived *d, const sim_actuator *a, pull out[2], double *length) {
    return a->transmission == SIM_BY_SITE           ? find_site_pulls(d, a, out, length)
           : a->transmission == SIM_BY_SLIDER_CRANK ? find_crank_pulls(d, a, out, length)
                                                    : 0;
}

void transmission_add_wrenches(const sim_derived *d, const sim_actuator *a, double strength, sim_force *wrench) {
    pull pulls[2];
    double length;
    int count = find_pulls(d, a, pulls, &length);
    for (int k = 0; k < count; k++) {
        const pull *p = &pulls[k];
        force f = force_at_parent(p->f, v3_sub(p->point, d->pose[p->body].p));
        wrench[p->body] = force_axpy(wrench[p->body], strength, f);
    }
    if (a->transmission == SIM_BY_TENDON) {
        tendon_add_wrenches(d, a->tendon, a->gear * strength, wrench);
    }
}

/* Of a ball or free joint; `moment` over the dofs of its tree. */
static double orientation_length(const sim_model *m, const sim_actuator *a, const double *q, double *moment) {
    const sim_body *b = &m->body[a->body];
    const double *p = q + b->q0 + (b->joint == SIM_BALL ? 0 : 3), *g = a->wrench + 6 - b->nv;
    v3 torque = v3_make(a->wrench[3], a->wrench[4], a->wrench[5]);
    sim_quat turned = {p[0], p[1], p[2], p[3]};
    double *out = moment + (b->v0 - m->tree[a->tree].v0);
    memcpy(out, g, (size_t)b->nv * sizeof *out);
    if (a->in_parent) {
        v3 own = m3_transposed_times(quat_matrix(turned), torque);
        memcpy(out + b->nv - 3, &(double[3]){own.x, own.y, own.z}, 3 * sizeof *out);
    }
    return b->joint == SIM_BALL ? v3_dot(quat_log(turned), torque) : 0;
}

double transmission_period(const sim_model *m, const sim_actuator *a) {
    const double *g = a->wrench;
    bool ball = a->transmission == SIM_BY_ORIENTATION && m->body[a->body].joint == SIM_BALL;
    bool turn = a->transmission == SIM_BY_SITE && a->site[1] >= 0 && g[0] == 0 && g[1] == 0 && g[2] == 0;
    return ball || turn ? 2 * M_PI * v3_norm(v3_make(g[3], g[4], g[5])) : 0;
}

double sim_actuator_length(const sim_derived *d, int actuator, const double *q, double *moment) {
    /* no moments, then those of its kind */
    const sim_model *m = d->model;
    const sim_actuator *a = &m->actuator[actuator];
    const sim_tree *t = &m->tree[a->tree];
    memset(moment, 0, (size_t)t->nv * sizeof *moment);
    if (a->transmission == SIM_BY_JOINT) {
        moment[a->dof - t->v0] = a->gear;
        return a->gear * q[m->dof[a->dof].coordinate];
    }
    if (a->transmission == SIM_BY_TENDON) {
        tendon_add_moments(d, a->tendon, (double *const[2]){moment, NULL});
        for (int j = 0; j < t->nv; j++) {
            moment[j] *= a->gear;
        }
        return a->gear * sim_tendon_length(d, a->tendon, q);
    }
    if (a->transmission == SIM_BY_ORIENTATION) {
        return orientation_length(m, a, q, moment);
    }
    /* by wrenches on bodies */
    pull pulls[2];
    double length = 0;
    int count = find_pulls(d, a, pulls, &length);
    for (int k = 0; k < count; k++) {
        add_wrench(d, pulls[k].body, pulls[k].point, pulls[k].f, moment);
    }
    return length;
}
