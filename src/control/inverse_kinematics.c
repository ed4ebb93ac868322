/* Inverse kinematics by damped least squares (Levenberg-Marquardt) within joint ranges.
 *
 *     min 1/2 |r(q)|^2,   low <= q <= high,   r = (p* - p;  L log(R* R'))  of every goal, one after the other
 *     s_F = J_F' (J_F J_F' + lambda 1)^-1 (r - J_B s_B),   q <- q (+) s
 *
 *     p, R     position, m, and axes of the frame in the world;  p*, R*: those of the goal;  log: rotation vector, rad
 *     L        m: what a radian counts
 *     J        [rows][dofs] of -dr/dq, rad rows times L
 *     F, B     dofs that move; that stop at an end of their range, with s_B = end - q.  A dof joins B if it stands at an end
 *              and J'r pushes outwards, or if its step would pass the end
 *     lambda   damping, m^2: a tenth after a good step, tenfold after one that does not reduce |r|
 *
 * J'r is the exact descent direction, since the gradient of 1/2 |log R|^2 is the rotation vector itself.  A search ends
 * where the goal is reached, or where the projected J'r vanishes: a stationary point, the nearest in its surroundings.
 * Then the next one starts elsewhere: starts follow the additive recurrence of Roberts 2018, which fills the ranges evenly.
 * The best end of all is the answer.
 *
 * References: Buss 2004, sections 5 and 8 (damped least squares, clamped joints); Kanzow, Yamashita, Fukushima 2004.
 * Cost: kinematics of the trees, and a Cholesky factor of the rows, for each iteration. */
#include "base/pool.h"
#include "dyn/motion/axes.h"
#include "linalg/dense/cholesky.h"
#include "math/angle.h"
#include "math/dense.h"
#include "math/spatial.h"

#include <math.h>
#include <sim/dynamics.h>
#include <string.h>

static const double FIRST_DAMPING = 1e-3; /* over the mean square of the rows of J */
static const double MIN_DAMPING = 1e-15;
static const double MAX_DAMPING = 1e12;
static const double MIN_REDUCTION_RATIO = 1e-4; /* of the achieved to the expected reduction, of a step that counts */
static const double MIN_REDUCTION = 1e-14;      /* of |r|^2 by a step, relative ... */
/* Factors of the damping after a step, by the ratio of the achieved to the expected reduction. */
static const double GOOD_RATIO = 0.75, EASED = 0.1, POOR_RATIO = 0.25, RAISED = 4, REFUSED = 10;
enum { MAX_ROOT_PASSES = 60 };                  /* of the fixed point for phi */
enum { MAX_STALLED_STEPS = 5 };                 /* ... fewer than so many in a row */
static const double STATIONARY_GRADIENT = 1e-9; /* |projected J'r| over |J| |r| */

static const double MAX_QUATERNION_ERROR = 1e-6; /* of the length of a quaternion at the start */
static const double SAME_END = 1e-9;             /* difference of |r|^2 of two ends that count as one, relative */

typedef struct ik {
    const sim_model *model;
    const sim_ik_goal *goal;
    int goals, rows, stride, n;
    sim_ik_options options;
    sim_derived *d;
    int *dof;              /* [n] those that move */
    int *place;            /* [nv] their places, -1: it stays */
    double *J;             /* [n][stride] columns */
    double *r, *y, *trial; /* [stride] */
    double *A, *inverse;   /* [rows][stride], [rows] */
    double *s, *down;      /* [n] step, J'r */
    char *stops;           /* [n] in B */
    double *v, *q_try;     /* [nv], [nq] */
} ik;

sim_ik_options sim_ik_options_default(void) {
    return (sim_ik_options){.tolerance = 1e-12, .radius = 0.2, .max_iterations = 300, .starts = 60};
}

/* ---- memory and dofs ---- */

/* Dofs on the paths to the goals, without those that are held. */
static void list_dofs(ik *w) {
    const sim_model *m = w->model;
    const bool *held = w->options.held;
    for (int g = 0; g < w->goals; g++) {
        for (int j = find_last_dof(m, w->goal[g].body); j >= 0; j = m->dof[j].parent) {
            bool stays = held ? held[j] : m->body[m->dof[j].body].joint == SIM_FREE;
            w->place[j] = stays ? -1 : 0;
        }
    }
    for (int j = 0; j < m->nv; j++) {
        if (w->place[j] == 0) {
            w->place[j] = w->n;
            w->dof[w->n++] = j;
        }
    }
}

static sim_status create_work(ik *w, memory_pool *pool) {
    const sim_model *m = w->model;
    /* arrays by rows, dofs and coordinates */
    w->stride = (w->rows + 3) / 4 * 4;
    size_t nv = (size_t)m->nv, stride = (size_t)w->stride;
    w->d = sim_derived_create(m, NULL);
    w->dof = POOL_NEW(pool, int, nv);
    w->place = POOL_NEW(pool, int, nv);
    w->J = POOL_NEW(pool, double, nv *stride);
    w->r = POOL_NEW(pool, double, stride);
    w->y = POOL_NEW(pool, double, stride);
    w->trial = POOL_NEW(pool, double, stride);
    w->A = POOL_NEW(pool, double, stride *stride);
    w->inverse = POOL_NEW(pool, double, stride);
    w->s = POOL_NEW(pool, double, nv);
    w->down = POOL_NEW(pool, double, nv);
    w->stops = POOL_NEW(pool, char, nv);
    w->v = POOL_NEW(pool, double, nv);
    w->q_try = POOL_NEW(pool, double, m->nq);
    bool ok = w->d && w->dof && w->place && w->J && w->r && w->y && w->trial && w->A && w->inverse && w->s && w->down &&
              w->stops && w->v && w->q_try;
    /* no dof has a place yet */
    for (int j = 0; ok && j < m->nv; j++) {
        w->place[j] = -1;
    }
    return ok ? SIM_OK : SIM_NO_RESOURCE;
}

/* ---- residual and Jacobian ---- */

static pose frame_of(const ik *w, const sim_ik_goal *g) { return pose_product(w->d->pose[g->body], g->frame); }

static v3 turn_left(const sim_ik_goal *g, pose X) {
    return quat_log(quat_from_matrix(m3_product(g->pose.R, m3_transpose(X.R))));
}

/* r at q; after it the kinematics are those of q. */
static void eval_residual(ik *w, const double *q, double *r) {
    double *row = r;
    for (int g = 0; g < w->goals; g++) {
        const sim_ik_goal *goal = &w->goal[g];
        int tree = w->model->body[goal->body].tree;
        sim_kinematics(w->d, sim_tree_range(w->model, tree), q);
        pose X = frame_of(w, goal);
        v3 way = v3_sub(goal->pose.p, X.p), turn = v3_scale(w->options.radius, turn_left(goal, X));
        const double value[6] = {way.x, way.y, way.z, turn.x, turn.y, turn.z};
        int rows = goal->point ? 3 : 6;
        memcpy(row, value, (size_t)rows * sizeof *row);
        row += rows;
    }
}

static void eval_jacobian(ik *w) {
    const sim_model *m = w->model;
    memset(w->J, 0, (size_t)w->n * (size_t)w->stride * sizeof *w->J);
    for (int g = 0, row = 0; g < w->goals; g++) {
        const sim_ik_goal *goal = &w->goal[g];
        v3 at = frame_of(w, goal).p;
        for (int j = find_last_dof(m, goal->body); j >= 0; j = m->dof[j].parent) {
            motion S = motion_axis_at(w->d, j, at);
            v3 ang = v3_scale(w->options.radius, S.ang);
            const double value[6] = {S.lin.x, S.lin.y, S.lin.z, ang.x, ang.y, ang.z};
            if (w->place[j] >= 0) {
                memcpy(w->J + (ptrdiff_t)w->place[j] * w->stride + row, value, (goal->point ? 3 : 6) * sizeof *value);
            }
        }
        row += goal->point ? 3 : 6;
    }
}

static const double *jacobian_column(const ik *w, int k) { return w->J + (ptrdiff_t)k * w->stride; }

/* ---- ranges ---- */

static double coordinate_of(const ik *w, const double *q, int k) {
    int c = w->model->dof[w->dof[k]].coordinate;
    return c >= 0 ? q[c] : 0;
}

static bool at_end(const ik *w, const double *q, int k, double direction) {
    const sim_dof *dof = &w->model->dof[w->dof[k]];
    double x = coordinate_of(w, q, k);
    return dof->coordinate >= 0 && ((direction < 0 && x <= dof->limit.low) || (direction > 0 && x >= dof->limit.high));
}

static void clip_to_ranges(const ik *w, double *q) {
    for (int k = 0; k < w->n; k++) {
        const sim_dof *dof = &w->model->dof[w->dof[k]];
        if (dof->coordinate >= 0) {
            q[dof->coordinate] = fmin(fmax(q[dof->coordinate], dof->limit.low), dof->limit.high);
        }
    }
}

/* ---- one step ---- */

/* The step of the dofs that move, against what is left of r: in y.  false: the matrix is singular. */
static bool solve_free(ik *w, double lambda, const double *left) {
    memset(w->A, 0, (size_t)w->rows * (size_t)w->stride * sizeof *w->A);
    for (int k = 0; k < w->n; k++) {
        const double *c = jacobian_column(w, k);
        for (int i = 0; i < w->rows && !w->stops[k]; i++) {
            dense_axpy(w->rows, c[i], c, w->A + (ptrdiff_t)i * w->stride);
        }
    }
    for (int i = 0; i < w->rows; i++) {
        w->A[(ptrdiff_t)i * w->stride + i] += lambda;
    }
    memcpy(w->y, left, (size_t)w->rows * sizeof *w->y);
    if (!cholesky_upper(w->rows, w->stride, w->A, w->inverse)) {
        return false;
    }
    cholesky_forward(w->rows, w->A, w->stride, w->inverse, w->y);
    cholesky_backward(w->rows, w->A, w->stride, w->inverse, w->y);
    return true;
}

/* s; the |r - J s|^2 that it expects, negative if there is none.  Each pass stops at least one more dof. */
static double find_step(ik *w, const double *q, double lambda) {
    double *left = w->trial;
    memcpy(left, w->r, (size_t)w->rows * sizeof *left);
    for (int k = 0; k < w->n; k++) {
        w->stops[k] = (char)at_end(w, q, k, w->down[k]);
        w->s[k] = 0;
    }
    for (bool passed = true; passed;) {
        passed = false;
        if (!solve_free(w, lambda, left)) {
            return -1;
        }
        for (int k = 0; k < w->n; k++) {
            if (w->stops[k]) {
                continue;
            }
            const sim_dof *dof = &w->model->dof[w->dof[k]];
            double x = coordinate_of(w, q, k), step = dense_dot(w->rows, jacobian_column(w, k), w->y);
            double end = x + step < dof->limit.low ? dof->limit.low : dof->limit.high;
            w->s[k] = step;
            if (dof->coordinate >= 0 && (x + step < dof->limit.low || x + step > dof->limit.high)) {
                passed = true;
                w->stops[k] = 1;
                w->s[k] = end - x;
                dense_axpy(w->rows, -w->s[k], jacobian_column(w, k), left);
            }
        }
    }
    for (int k = 0; k < w->n; k++) {
        if (!w->stops[k]) {
            dense_axpy(w->rows, -w->s[k], jacobian_column(w, k), left);
        }
    }
    return dense_dot(w->rows, left, left);
}

static void move_along(ik *w, const double *q) {
    memset(w->v, 0, (size_t)w->model->nv * sizeof *w->v);
    for (int k = 0; k < w->n; k++) {
        w->v[w->dof[k]] = w->s[k];
    }
    sim_advance(w->model, sim_all(w->model), q, w->v, 1, w->q_try);
    clip_to_ranges(w, w->q_try);
}

/* J'r, and whether its part within the ranges vanishes. */
static bool is_stationary(ik *w, const double *q) {
    double most = 0, size = 0, r = sqrt(dense_dot(w->rows, w->r, w->r));
    for (int k = 0; k < w->n; k++) {
        w->down[k] = dense_dot(w->rows, jacobian_column(w, k), w->r);
        size = fmax(size, dense_dot(w->rows, jacobian_column(w, k), jacobian_column(w, k)));
        most = fmax(most, at_end(w, q, k, w->down[k]) ? 0 : fabs(w->down[k]));
    }
    return most <= STATIONARY_GRADIENT * sqrt(size) * r;
}

/* ---- the search ---- */

static void measure_targets(ik *w, const double *q, sim_ik_result *out) {
    out->distance = out->angle = 0;
    for (int g = 0; g < w->goals; g++) {
        sim_kinematics(w->d, sim_tree_range(w->model, w->model->body[w->goal[g].body].tree), q);
        pose X = frame_of(w, &w->goal[g]);
        out->distance = fmax(out->distance, v3_norm(v3_sub(w->goal[g].pose.p, X.p)));
        out->angle = w->goal[g].point ? out->angle : fmax(out->angle, v3_norm(turn_left(&w->goal[g], X)));
    }
}

static bool is_reached(ik *w) {
    bool all = true;
    for (int row = 0; row < w->rows; row++) {
        all &= fabs(w->r[row]) <= w->options.tolerance;
    }
    return all;
}

/* From q, downhill to its end; |r|^2 there. */
static double search_from(ik *w, double *q, sim_ik_result *out) {
    clip_to_ranges(w, q);
    eval_residual(w, q, w->r);
    double f = dense_dot(w->rows, w->r, w->r), lambda = -1;
    out->outcome = SIM_IK_STOPPED;
    int stalled = 0;
    for (int k = 0; k < w->options.max_iterations; k++, out->iterations++) {
        /* at an end? */
        if (is_reached(w)) {
            out->outcome = SIM_IK_REACHED;
            return f;
        }
        eval_jacobian(w);
        if (is_stationary(w, q)) {
            out->outcome = SIM_IK_STATIONARY;
            return f;
        }
        double trace = dense_dot(w->n * w->stride, w->J, w->J) / w->rows;
        lambda = lambda < 0 ? FIRST_DAMPING * trace : fmax(lambda, MIN_DAMPING * trace);
        /* the first step that reduces |r| */
        double ratio = -1, next = f;
        while (!(ratio > MIN_REDUCTION_RATIO) && lambda < MAX_DAMPING * trace) {
            double expected = find_step(w, q, lambda);
            if (expected >= 0 && expected < f) {
                move_along(w, q);
                eval_residual(w, w->q_try, w->trial);
                next = dense_dot(w->rows, w->trial, w->trial);
                ratio = (f - next) / (f - expected);
            }
            lambda *= ratio > MIN_REDUCTION_RATIO ? (ratio > GOOD_RATIO   ? EASED
                                                     : ratio < POOR_RATIO ? RAISED
                                                                          : 1)
                                                  : REFUSED;
        }
        stalled = f - next <= MIN_REDUCTION * f ? stalled + 1 : 0;
        if (!(ratio > MIN_REDUCTION_RATIO) || stalled == MAX_STALLED_STEPS) { /* no step does, to rounding */
            eval_residual(w, q, w->r);
            out->outcome = is_reached(w) ? SIM_IK_REACHED : SIM_IK_STATIONARY;
            return f;
        }
        memcpy(q, w->q_try, (size_t)w->model->nq * sizeof *q);
        memcpy(w->r, w->trial, (size_t)w->rows * sizeof *w->r);
        f = next;
    }
    return f;
}

/* The k-th start: frac(1/2 + k / phi^(i+1)) of the way through the range of dof i, phi^(n+1) = phi + 1. */
static void place_start(const ik *w, int start, const double *from, double *q) {
    double phi = 1.5;
    for (int pass = 0; pass < MAX_ROOT_PASSES; pass++) {
        phi = pow(1 + phi, 1.0 / (w->n + 1));
    }
    for (int k = 0; k < w->n; k++) {
        const sim_dof *dof = &w->model->dof[w->dof[k]];
        double part = 0.5 + start * pow(phi, -(k + 1)), low = dof->limit.low, high = dof->limit.high;
        part -= floor(part);
        if (dof->coordinate < 0) {
            continue;
        }
        double x = from[dof->coordinate];
        bool turns = !(isfinite(low) && isfinite(high)) && dof->turns && !dof->slides;
        low = turns ? fmax(low, x - PI) : low;
        high = turns ? fmin(high, x + PI) : high;
        q[dof->coordinate] = isfinite(low) && isfinite(high) ? low + part * (high - low) : x;
    }
}

static sim_status check_goals(const sim_model *m, const sim_ik_goal *goal, int count, sim_error *error) {
    for (int g = 0; g < count; g++) {
        const sim_pose *p = &goal[g].pose;
        if (goal[g].body < 0 || goal[g].body >= m->nbody) {
            return sim_fail(error, SIM_BAD_INPUT, "goal %d is of body %d, which the model lacks", g, goal[g].body);
        }
        if (!isfinite(p->p.x + p->p.y + p->p.z) || !isfinite(v3_norm(p->R.x) + v3_norm(p->R.y) + v3_norm(p->R.z))) {
            return sim_fail(error, SIM_BAD_INPUT, "goal %d is not finite", g);
        }
        if (m->body[goal[g].body].tree < 0) {
            return sim_fail(error, SIM_BAD_INPUT, "goal %d is of the world, which does not move", g);
        }
    }
    return SIM_OK;
}

/* Finite coordinates, and quaternions of unit length. */
static sim_status check_start(const sim_model *m, const double *q, sim_error *error) {
    for (int k = 1; k < m->nbody; k++) {
        const sim_body *b = &m->body[k];
        double sum = 0;
        for (int i = b->q0; i < b->q0 + b->nq; i++) {
            sum += q[i];
        }
        const double *turn = q + b->q0 + b->nq - 4;
        bool quaternion = b->joint == SIM_BALL || b->joint == SIM_FREE;
        if (!isfinite(sum) || (quaternion && !(fabs(quat_norm((quat){turn[0], turn[1], turn[2], turn[3]}) - 1) <=
                                               MAX_QUATERNION_ERROR))) {
            return sim_fail(error, SIM_BAD_INPUT, "the coordinates of body \"%s\" at the start are %s", b->name,
                            isfinite(sum) ? "no unit quaternion" : "not finite");
        }
    }
    return SIM_OK;
}

sim_status sim_inverse_kinematics(const sim_model *m, const sim_ik_goal *goal, int count, const sim_ik_options *options,
                                  double *q, sim_ik_result *out, sim_error *error) {
    /* memory */
    ik w = {.model = m, .goal = goal, .goals = count, .options = options ? *options : sim_ik_options_default()};
    sim_status status = check_goals(m, goal, count, error);
    status = status ? status : check_start(m, q, error);
    for (int g = 0; g < count; g++) {
        w.rows += goal[g].point ? 3 : 6;
    }
    memory_pool *pool = status ? NULL : pool_create();
    double *from = pool ? POOL_NEW(pool, double, m->nq) : NULL, *at = pool ? POOL_NEW(pool, double, m->nq) : NULL;
    if (!status && (!from || !at || create_work(&w, pool))) {
        status = sim_fail(error, SIM_NO_RESOURCE, "no memory for inverse kinematics of %d bodies", m->nbody);
    }
    /* from q, then from elsewhere */
    double best = INFINITY;
    *out = (sim_ik_result){.outcome = SIM_IK_STOPPED};
    if (!status) {
        list_dofs(&w);
        memcpy(from, q, (size_t)m->nq * sizeof *q);
    }
    for (int start = 0; !status && out->outcome != SIM_IK_REACHED && start < (w.n ? w.options.starts : 1); start++) {
        sim_ik_result found = {.iterations = out->iterations, .starts = start + 1};
        memcpy(at, from, (size_t)m->nq * sizeof *at);
        if (start > 0) {
            place_start(&w, start, from, at);
        }
        double f = search_from(&w, at, &found);
        out->iterations = found.iterations;
        out->starts = found.starts;
        bool nearer = f < best * (1 - SAME_END), ends = out->outcome == SIM_IK_STOPPED && f < best * (1 + SAME_END);
        if (nearer || found.outcome == SIM_IK_REACHED || (ends && found.outcome == SIM_IK_STATIONARY)) {
            best = f;
            out->outcome = found.outcome;
            measure_targets(&w, at, out);
            memcpy(q, at, (size_t)m->nq * sizeof *q);
        }
    }
    sim_derived_free(w.d);
    pool_free(pool);
    return status;
}
