/* Inertia of the model at its reference pose, where MuJoCo takes the scale of soft constraints and damping ratios.
 *
 *     M = sum_b J_b' I_b J_b + armature      J_b: motion of the centre of mass of body b by each coordinate
 *     A_dof = (M^-1)_kk,   A_b = tr(J_b,lin M^-1 J_b,lin') / 3
 *
 * A: inverse inertia that a constraint on the coordinate, or at the body, meets, 1/kg or 1/(kg m^2).  Coordinates of a
 * ball, and the three of each kind of a free body, take their mean.
 *
 *     a + d (b v + k r) = (1 - d) a0     k = d / (dmax^2 T^2 z^2),  b = 2 / (dmax T)
 *
 * is a spring and damper beside the inertia 1/A: stiffness K = d k / ((1 - d) A) and dissipation b / k, with solref (T, z),
 * or k dmax^2 / d and b dmax where it is negative.  The working point is the overlap `width` of solimp, where the
 * impedance d is dmax: the constraint is as stiff as it becomes.
 *
 * Reference: MuJoCo, Computation, section Constraint model; Modeling, section Solver parameters.
 * Cost: nv^3 once, dense. */
#include "linalg/dense/cholesky.h"
#include "scene/mjcf/parts/parts.h"

#include <math.h>
#include <string.h>

enum { MAX_COORDINATES = 400 };
static const double MIN_MOMENT_SQUARE = 1e-15; /* joints that a transmission moves less do not count */

/* ---- motions of a body ---- */

typedef struct columns {
    int count, *dof;
    sim_v3 *lin, *ang; /* at the centre of mass */
} columns;

static void add_column(columns *c, int dof, sim_v3 ang, sim_v3 lin, sim_v3 arm) {
    c->dof[c->count] = dof;
    c->ang[c->count] = ang;
    c->lin[c->count] = v3_add(lin, v3_cross(ang, arm));
    c->count++;
}

static void add_joint(columns *c, const mjcf_joint *j, sim_pose X, sim_v3 com) {
    const sim_v3 zero = {0, 0, 0}, *body_axis[3] = {&X.R.x, &X.R.y, &X.R.z};
    const sim_v3 world_axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    sim_v3 arm = v3_sub(com, pose_point(X, j->pos));
    sim_v3 axis = m3_times(X.R, v3_scale(1 / fmax(v3_norm(j->axis), 1e-300), j->axis));
    if (j->type == MJCF_HINGE) {
        add_column(c, j->v0, axis, zero, arm);
    } else if (j->type == MJCF_SLIDE) {
        add_column(c, j->v0, zero, axis, arm);
    }
    for (int k = 0; k < 3 && j->type == MJCF_FREE; k++) {
        add_column(c, j->v0 + k, zero, world_axis[k], arm);
    }
    for (int k = 0; k < 3 && j->type <= MJCF_BALL; k++) {
        add_column(c, j->v0 + (j->type == MJCF_FREE ? 3 : 0) + k, *body_axis[k], zero, arm);
    }
}

/* Of a point of a body, by the joints between it and a body that carries it. */
static void list_motions(const mjcf_model *m, int body, int carrier, sim_v3 point, columns *c) {
    c->count = 0;
    for (int b = body; b > 0 && b != carrier; b = m->body[b].parent) {
        for (int k = m->body[b].joint; k >= 0; k = m->joint[k].next) {
            add_joint(c, &m->joint[k], m->body[b].world, point);
        }
    }
}

static void list_columns(const mjcf_model *m, int body, columns *c) {
    list_motions(m, body, 0, pose_point(m->body[body].world, m->body[body].inertia.com), c);
}

/* ---- the mass matrix and its inverse ---- */

static void add_body(const mjcf_model *m, int body, columns *c, double *M) {
    const mjcf_body *b = &m->body[body];
    if (!b->massive) {
        return;
    }
    list_columns(m, body, c);
    sim_sym3 J = sym3_rotated(b->world.R, b->inertia.moment);
    for (int i = 0; i < c->count; i++) {
        sim_v3 spin = sym3_times(J, c->ang[i]);
        for (int k = 0; k < c->count; k++) {
            M[(size_t)c->dof[i] * (size_t)m->nv + (size_t)c->dof[k]] +=
                b->inertia.mass * v3_dot(c->lin[i], c->lin[k]) + v3_dot(spin, c->ang[k]);
        }
    }
}

/* M <- M^-1, column by column; false: it is not positive definite within rounding, or no memory. */
static bool invert_matrix(mjcf_work *w, double *M, int n) {
    int stride = (n + 3) & ~3;
    double *U = POOL_NEW(w->pool, double, (size_t)n *(size_t)stride + 1), *inverse = POOL_NEW(w->pool, double, n + 1);
    double *x = POOL_NEW(w->pool, double, n + 1);
    if (!U || !inverse || !x) {
        w->report->no_memory = true;
        return false;
    }
    for (int i = 0; i < n; i++) {
        memcpy(U + (ptrdiff_t)i * stride, M + (ptrdiff_t)i * n, (size_t)n * sizeof *U);
    }
    if (!cholesky_upper(n, stride, U, inverse)) {
        return false;
    }
    for (int j = 0; j < n; j++) {
        memset(x, 0, (size_t)n * sizeof *x);
        x[j] = 1;
        cholesky_forward(n, U, stride, inverse, x);
        cholesky_backward(n, U, stride, inverse, x);
        for (int i = 0; i < n; i++) {
            M[(ptrdiff_t)i * n + j] = x[i];
        }
    }
    return true;
}

static bool make_columns(mjcf_work *w, columns *c) {
    int room = w->model.nv + 6;
    *c = (columns){.dof = POOL_NEW(w->pool, int, room),
                   .lin = POOL_NEW(w->pool, sim_v3, room),
                   .ang = POOL_NEW(w->pool, sim_v3, room)};
    w->report->no_memory |= !c->dof || !c->lin || !c->ang;
    return c->dof && c->lin && c->ang;
}

/* Weights of the bodies, from the inverse. */
static void weigh_bodies(mjcf_model *m, columns *c) {
    for (int b = 1; b < m->nbody; b++) {
        list_columns(m, b, c);
        double sum = 0;
        for (int i = 0; i < c->count; i++) {
            for (int k = 0; k < c->count; k++) {
                sum += m->inverse[(size_t)c->dof[i] * (size_t)m->nv + (size_t)c->dof[k]] * v3_dot(c->lin[i], c->lin[k]);
            }
        }
        m->body[b].weight = sum / 3;
    }
}

bool mjcf_find_weights(mjcf_work *w) {
    mjcf_model *m = &w->model;
    if (m->weighed) {
        return m->inverse != NULL;
    }
    m->weighed = true;
    size_t n = (size_t)m->nv;
    columns c;
    double *M = m->nv <= MAX_COORDINATES ? POOL_NEW(w->pool, double, n *n + 1) : NULL;
    m->diagonal = POOL_NEW(w->pool, double, n + 1);
    if (!M || !m->diagonal || !make_columns(w, &c)) {
        w->report->no_memory |= m->nv <= MAX_COORDINATES;
        return false;
    }
    /* M, its diagonal, its inverse */
    for (int b = 1; b < m->nbody; b++) {
        add_body(m, b, &c, M);
    }
    static const int nv_of[MJCF_JOINT_TYPES] = {6, 3, 1, 1};
    for (int k = 0; k < m->njoint; k++) {
        for (int i = 0; i < nv_of[m->joint[k].type]; i++) {
            M[(size_t)(m->joint[k].v0 + i) * (n + 1)] += m->joint[k].armature;
        }
    }
    for (size_t k = 0; k < n; k++) {
        m->diagonal[k] = M[k * (n + 1)];
    }
    if (!invert_matrix(w, M, m->nv)) {
        return false;
    }
    m->inverse = M;
    weigh_bodies(m, &c);
    return true;
}

double mjcf_joint_weight(const mjcf_model *m, const mjcf_joint *j) {
    static const int nv_of[MJCF_JOINT_TYPES] = {6, 3, 1, 1};
    double sum = 0;
    for (int k = 0; k < nv_of[j->type]; k++) {
        sum += m->inverse[(size_t)(j->v0 + k) * ((size_t)m->nv + 1)];
    }
    return sum / nv_of[j->type];
}

/* ---- inertia along a transmission ---- */

/* moments += (push; twist) . motion of a site by each joint between its body and `carrier`. */
static void add_moments(mjcf_model *m, const mjcf_site *s, int carrier, sim_v3 push, sim_v3 twist, columns *c) {
    list_motions(m, s->body, carrier, pose_point(m->body[s->body].world, s->place.p), c);
    for (int k = 0; k < c->count; k++) {
        m->moment[c->dof[k]] += v3_dot(push, c->lin[k]) + v3_dot(twist, c->ang[k]);
    }
}

static int common_carrier(const mjcf_model *m, int a, int b) {
    while (a != b) { /* bodies stand behind those that carry them */
        if (a > b) {
            a = m->body[a].parent;
        } else {
            b = m->body[b].parent;
        }
    }
    return a;
}

static bool has_moments(mjcf_work *w, columns *c) {
    mjcf_model *m = &w->model;
    m->moment = m->moment ? m->moment : POOL_NEW(w->pool, double, m->nv + 1);
    w->report->no_memory |= !m->moment;
    return m->moment && make_columns(w, c);
}

/* sum M_kk / moment_k^2, as in MuJoCo; all moments are 0 again. */
static double take_weight(mjcf_model *m) {
    double weight = 0;
    for (int k = 0; k < m->nv; k++) {
        double square = m->moment[k] * m->moment[k];
        weight += square > MIN_MOMENT_SQUARE ? m->diagonal[k] / square : 0;
        m->moment[k] = 0;
    }
    return weight;
}

double mjcf_site_weight(mjcf_work *w, int site, int reference, const double gear[6]) {
    mjcf_model *m = &w->model;
    columns c;
    if (!has_moments(w, &c)) {
        return 0;
    }
    const mjcf_site *s = &m->site[site], *from = reference < 0 ? s : &m->site[reference];
    sim_m3 R = m3_product(m->body[from->body].world.R, mjcf_pose(from->place).R);
    sim_v3 push = m3_times(R, mjcf_vector(gear)), twist = m3_times(R, mjcf_vector(gear + 3));
    int carrier = reference < 0 ? 0 : common_carrier(m, s->body, from->body);
    add_moments(m, s, carrier, push, twist, &c);
    if (reference >= 0) {
        add_moments(m, from, carrier, v3_neg(push), v3_neg(twist), &c);
    }
    return take_weight(m);
}

double mjcf_ball_weight(mjcf_work *w, const mjcf_joint *j, const double gear[6]) {
    mjcf_model *m = &w->model;
    columns c;
    if (!has_moments(w, &c)) {
        return 0;
    }
    for (int k = 0; k < (j->type == MJCF_FREE ? 6 : 3); k++) {
        m->moment[j->v0 + k] = gear[k];
    }
    return take_weight(m);
}

/* Terms of fixed tendons, and straight branches of spatial ones, from site to site. */
static bool add_path(mjcf_work *w, const mjcf_tendon *t, columns *c) {
    mjcf_model *m = &w->model;
    const mjcf_site *before = NULL;
    double divisor = 1;
    for (const xml_element *e = t->at->first; e; e = e->next) {
        if (!e->table) {
            continue;
        }
        mjcf_item item = mjcf_plain(t->scope, e);
        if (strcmp(e->name, "site") == 0) {
            int found = mjcf_find(w, t->scope, &m->sites, &item, "site", "site");
            if (found < 0) {
                return false;
            }
            const mjcf_site *here = &m->site[found];
            if (before) {
                sim_v3 from = pose_point(m->body[before->body].world, before->place.p);
                sim_v3 way = v3_sub(pose_point(m->body[here->body].world, here->place.p), from);
                sim_v3 along = v3_scale(1 / (divisor * fmax(v3_norm(way), 1e-300)), way);
                int carrier = common_carrier(m, before->body, here->body);
                add_moments(m, here, carrier, along, (sim_v3){0, 0, 0}, c);
                add_moments(m, before, carrier, v3_neg(along), (sim_v3){0, 0, 0}, c);
            }
            before = here;
        } else if (strcmp(e->name, "pulley") == 0) {
            xml_numbers(e, "divisor", 1, &divisor);
            before = NULL;
        } else if (strcmp(e->name, "joint") == 0) {
            int found = mjcf_find(w, t->scope, &m->joints, &item, "joint", "joint");
            double factor = 1;
            xml_numbers(e, "coef", 1, &factor);
            if (found >= 0) {
                m->moment[m->joint[found].v0] += factor;
            }
        } else {
            return false;
        }
    }
    return true;
}

double mjcf_tendon_weight(mjcf_work *w, const mjcf_tendon *t) {
    columns c;
    if (!has_moments(w, &c)) {
        return 0;
    }
    bool known = add_path(w, t, &c);
    double weight = take_weight(&w->model);
    return known ? weight : 0;
}

/* ---- softness ---- */

static double full_impedance(const mjcf_softness *s) { return fmin(fmax(s->imp[1], 1e-4), 0.9999); }

/* k and b of a + d (b v + k r) = (1 - d) a0; k without its factor d. */
static void read_reference(const mjcf_softness *s, double *k, double *b) {
    double most = full_impedance(s);
    if (s->ref[0] > 0) {
        *k = 1 / (most * most * s->ref[0] * s->ref[0] * s->ref[1] * s->ref[1]);
        *b = 2 / (most * s->ref[0]);
    } else {
        *k = -s->ref[0] / (most * most);
        *b = -s->ref[1] / most;
    }
}

static bool find_spring(const mjcf_softness *s, double weight, double *stiffness, double *dissipation) {
    double k, b;
    read_reference(s, &k, &b);
    if (!(weight > 0) || !(k > 0) || !isfinite(k) || b < 0) {
        return false;
    }
    double d = full_impedance(s);
    *stiffness = d * d * k / ((1 - d) * weight);
    *dissipation = b / (d * k);
    return isfinite(*stiffness) && *stiffness > 0;
}

bool mjcf_soften(mjcf_work *w, mjcf_soft_kind kind, const xml_element *at, const mjcf_softness *s, double weight,
                 double *stiffness, double *dissipation) {
    if (!find_spring(s, weight, stiffness, dissipation)) {
        return false;
    }
    /* of this kind */
    mjcf_softened *all = &w->softened[kind];
    if (all->count++ == 0) {
        *all = (mjcf_softened){at, 1, {*stiffness, *stiffness}, {*dissipation, *dissipation}};
    }
    all->stiffness[0] = fmin(all->stiffness[0], *stiffness);
    all->stiffness[1] = fmax(all->stiffness[1], *stiffness);
    all->dissipation[0] = fmin(all->dissipation[0], *dissipation);
    all->dissipation[1] = fmax(all->dissipation[1], *dissipation);
    return true;
}

void mjcf_say_softened(mjcf_work *w) {
    static const char *const name[MJCF_SOFT_KINDS] = {"surfaces", "limits", "equalities"};
    for (int k = 0; k < MJCF_SOFT_KINDS; k++) {
        const mjcf_softened *s = &w->softened[k];
        if (s->count) {
            xml_notice(
                w->report, s->at, NULL, "without solref and solimp they are as stiff as the step resolves",
                "solref and solimp of %d %s become stiffness %.3g to %.3g N/m (N m/rad) and dissipation %.3g to %.3g s",
                s->count, name[k], s->stiffness[0], s->stiffness[1], s->dissipation[0], s->dissipation[1]);
        }
    }
}
