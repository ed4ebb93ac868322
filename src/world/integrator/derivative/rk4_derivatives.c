/* Derivatives of a step of the classical Runge-Kutta method, stage by stage.
 *
 *     du = part h du'_before,    dv = dv0 + part h da_before,    phi = R(u)' phi0 + D(u) du                       (1)
 *     M da = df - d(M a + C - tau - J' F)/dq phi - d(C - tau)/dv dv                                               (2)
 *     u' = w + u x w / 2 + u x (u x w) / 12                                                                       (3)
 *
 *     u, u'     rotation vector of an orientation from the start, and its rate (other coordinates: u' = v)
 *     phi, phi0 turns of the attitude at the stage and at the start;  a: acceleration;  f: generalised force;  h: step
 *
 * Reference: rk4.c, move_derivatives.c, derivatives.c.     Cost: four factorisations of M, n^3 each. */
#include "model/parts/joint.h"
#include "world/integrator/derivative/tree_derivatives.h"

#include <string.h>

/* Rates of (3) and their changes, over those of v in the columns of `rate`; u, du as the stage has them. */
static void correct_rates(const sim_model *m, sim_range bodies, int width, const double *u, const double *v,
                          const double *du, double *rate) {
    sim_range dofs = sim_dof_range(m, bodies);
    for (int i = bodies.first; i < bodies.end; i++) {
        int rotation = joint_facts_of(m->body[i].joint)->quaternion;
        if (rotation < 0) {
            continue;
        }
        int j = m->body[i].v0 + rotation;
        v3 t = {u[j], u[j + 1], u[j + 2]}, w = {v[j], v[j + 1], v[j + 2]};
        const double *turn = du + (ptrdiff_t)(j - dofs.first) * width;
        double *to = rate + (ptrdiff_t)(j - dofs.first) * width;
        for (int c = 0; c < width; c++) {
            v3 dt = {turn[c], turn[width + c], turn[2 * width + c]}, dw = {to[c], to[width + c], to[2 * width + c]};
            v3 dfirst = v3_add(v3_cross(dt, w), v3_cross(t, dw));
            v3 dsecond = v3_add(v3_cross(dt, v3_cross(t, w)), v3_cross(t, dfirst));
            v3 sum = v3_axpy(v3_axpy(dw, 0.5, dfirst), 1.0 / 12, dsecond);
            to[c] = sum.x;
            to[width + c] = sum.y;
            to[2 * width + c] = sum.z;
        }
    }
}

/* The panels of a step, n x width each, and the numbers of its stages. */
typedef struct rk_work {
    derivative_work *work;
    motion_work *w;
    int tree, v0, n, width;
    sim_range bodies;
    double *u, *v;                /* [nv] of the stage ... */
    rk4_rates rates;              /* ... and their rates */
    double *du, *dv, *dq, *drate; /* changes of u, v, the place and u' */
    double *sum_u, *sum_v;        /* weighted sums of changes of rates and accelerations */
    double residual;
} rk_work;

/* (2) into work->A. */
static void differentiate_stage(rk_work *r, double time) {
    derivative_work *work = r->work;
    const sim_model *m = r->w->model;
    int n = r->n;
    sim_kinematics(work->d, r->bodies, work->q);
    sim_velocities(work->d, r->bodies, r->v);
    differentiate_forces(work, r->w, r->tree, work->q, r->v, r->rates.acc, time);
    fill_drive_slopes(r->w, r->tree, true, work->drive);
    for (int i = 0; i < n; i++) {
        const drive_slopes *s = &work->drive[r->v0 + i];
        double *by_q = work->by_q + (ptrdiff_t)i * n, *by_v = work->by_v + (ptrdiff_t)i * n;
        double *to = work->A + (ptrdiff_t)i * r->width;
        by_q[i] -= s->q0;
        by_v[i] += dof_damper_slope(&m->dof[r->v0 + i], r->v[r->v0 + i]) - s->v0;
        for (int c = 0; c < r->width; c++) {
            to[c] = c == 2 * n + i;
        }
        for (int j = 0; j < n; j++) {
            const double *q = r->dq + (ptrdiff_t)j * r->width, *v = r->dv + (ptrdiff_t)j * r->width;
            for (int c = 0; c < r->width; c++) {
                to[c] -= by_q[j] * q[c] + by_v[j] * v[c];
            }
            to[j] += s->holds * work->weight[(ptrdiff_t)i * n + j];
        }
    }
    double residual = solve_derivatives(work, n, r->width, work->A);
    r->residual = residual > r->residual ? residual : r->residual;
}

/* One stage, a part of the step after its start: rates and their changes, added to the sums. */
static void pass_stage(rk_work *r, double after, double weight) {
    derivative_work *work = r->work;
    const sim_model *m = r->w->model;
    size_t size = sizeof *r->dq * (size_t)r->n * (size_t)r->width;
    /* (1): the place */
    sim_advance(m, r->bodies, r->w->now->q, r->u, 1, work->q);
    differentiate_move(m, r->bodies, ROTATION_EXP, r->u, 1, &work->point);
    memset(r->drate, 0, size);
    for (int i = 0; i < r->n; i++) {
        r->drate[(ptrdiff_t)i * r->width + i] = 1;
    }
    memset(r->dq, 0, size);
    add_move_times(m, r->bodies, &work->point, MOVE_FROM, 1, r->width, r->drate, r->width, r->dq, r->width);
    add_move_times(m, r->bodies, &work->point, MOVE_BY, 1, r->width, r->du, r->width, r->dq, r->width);
    /* rates */
    rk4_stage(r->w, r->tree, after, r->u, r->v, r->rates);
    differentiate_stage(r, r->w->now->time + after);
    memcpy(r->drate, r->dv, size);
    correct_rates(m, r->bodies, r->width, r->u, r->v, r->du, r->drate);
    for (ptrdiff_t k = 0; k < (ptrdiff_t)r->n * r->width; k++) {
        r->sum_u[k] += weight * r->drate[k];
        r->sum_v[k] += weight * work->A[k];
    }
}

/* u, v and their changes where a stage begins, from the rates of the one before. */
static void begin_stage(rk_work *r, double h) {
    const double *v0 = r->w->now->v, *A = r->work->A;
    for (int i = 0; i < r->n; i++) {
        int j = r->v0 + i;
        r->u[j] = h > 0 ? h * r->rates.rate[j] : 0;
        r->v[j] = v0[j] + (h > 0 ? h * r->rates.acc[j] : 0);
        for (int c = 0; c < r->width; c++) {
            ptrdiff_t at = (ptrdiff_t)i * r->width + c;
            r->du[at] = h > 0 ? h * r->drate[at] : 0;
            r->dv[at] = (c == r->n + i) + (h > 0 ? h * A[at] : 0);
        }
    }
}

/* Derivative of the weight of the tree, at rest at the start. */
static void differentiate_weight(const rk_work *r) {
    derivative_work *work = r->work;
    sim_kinematics(work->d, r->bodies, r->w->now->q);
    sim_rnea_derivatives(work->dynamics, work->d, r->bodies, work->zero, NULL, r->w->model->gravity, work->weight,
                         work->by_v);
}

void rk4_derivatives(derivative_work *work, motion_work *w, int tree, tree_jacobian *out) {
    const double part[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    const sim_model *m = w->model;
    size_t nv = (size_t)m->nv;
    double h = w->options->step, *whole = w->rk + 2 * nv;
    rk_work r = {.work = work,
                 .w = w,
                 .tree = tree,
                 .v0 = m->tree[tree].v0,
                 .n = m->tree[tree].nv,
                 .width = out->width,
                 .bodies = sim_tree_range(m, tree),
                 .u = w->rk,
                 .v = w->rk + nv,
                 .rates = {w->rk + 4 * nv, w->rk + 5 * nv},
                 .du = work->stage[0],
                 .dv = work->stage[1],
                 .dq = work->stage[2],
                 .drate = work->stage[3],
                 .sum_u = work->stage[4],
                 .sum_v = work->stage[5]};
    size_t size = sizeof *r.dq * (size_t)r.n * (size_t)r.width;
    memset(r.sum_u, 0, size);
    memset(r.sum_v, 0, size);
    motion_hold_weight(w, tree);
    differentiate_weight(&r);
    for (int j = r.v0; j < r.v0 + r.n; j++) {
        whole[j] = 0;
    }
    for (int s = 0; s < 4; s++) {
        begin_stage(&r, part[s] * h);
        pass_stage(&r, part[s] * h, weight[s]);
        for (int j = r.v0; j < r.v0 + r.n; j++) {
            whole[j] += weight[s] * r.rates.rate[j];
        }
    }
    /* the end */
    memset(r.drate, 0, size);
    memset(out->q, 0, size);
    for (int i = 0; i < r.n; i++) {
        ptrdiff_t row = (ptrdiff_t)i * r.width;
        r.drate[row + i] = 1;
        for (int c = 0; c < r.width; c++) {
            out->v[row + c] = (c == r.n + i) + h * r.sum_v[row + c];
        }
    }
    differentiate_move(m, r.bodies, ROTATION_EXP, whole, h, &work->end);
    add_move_times(m, r.bodies, &work->end, MOVE_FROM, 1, r.width, r.drate, r.width, out->q, r.width);
    add_move_times(m, r.bodies, &work->end, MOVE_BY, 1, r.width, r.sum_u, r.width, out->q, r.width);
    out->residual = r.residual;
}
