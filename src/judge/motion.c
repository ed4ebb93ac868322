/* What do the impulses of an answer do?
 *
 *     j = J' gamma,    dv = A^-1 j,    W gamma = J dv,    b = J v* + w,    trace W_ii = sum over rows J_r A^-1 J_r'
 *
 * and, for the momentum error (Castro, Permenter, Han 2021, eqs. 25, 32), with D = diag(A)^-1/2:
 *
 *     D (A (v - v*) - j),    D A v,    D j.
 *
 * The traces are what costs.  A small tree, as most are, has its A^-1 written down once, in rows of eight numbers, for all
 * constraints that touch it; a larger one is solved for each row. */
#include "judge/motion.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

enum { SMALL = 6, STRIDE = 8 };

static int most_velocities(const sim_problem *p) {
    int most = 0;
    for (int t = 0; t < p->ntree; t++) {
        most = p->tree[t].nv > most ? p->tree[t].nv : most;
    }
    return most;
}

size_t judge_motion_size(const sim_problem *p) {
    size_t n = (size_t)most_velocities(p), inverses = (size_t)(p->ntree * SMALL * STRIDE), square = n * n + 2 * n;
    size_t rest = (size_t)p->nv + inverses > square ? (size_t)p->nv + inverses : square;
    return 2 * (size_t)p->nrow + (size_t)p->nconstraint + (size_t)p->nv + rest + n;
}

judge_motion judge_motion_in(const sim_problem *p, double *work) {
    judge_motion m = {.free = work};
    m.pushed = m.free + p->nrow;
    m.trace = m.pushed + p->nrow;
    m.j = m.trace + p->nconstraint;
    m.rest = m.j + p->nv;
    return m;
}

/* A <- A^-1 of a small tree, by Gauss and Jordan; no pivots need be sought, for A is positive definite. */
static void invert(int n, double *A) {
    for (int k = 0; k < n; k++) {
        double *pivot = A + k * STRIDE, over = 1 / pivot[k];
        pivot[k] = 1;
        for (int c = 0; c < STRIDE; c++) {
            pivot[c] *= over;
        }
        for (int i = 0; i < n; i++) {
            double *row = A + i * STRIDE, factor = row[k];
            if (i != k) {
                row[k] = 0;
                dense_axpy(STRIDE, -factor, pivot, row);
            }
        }
    }
}

static void write_inverse(const sim_problem *p, int t, double *inverse) {
    int n = p->tree[t].nv;
    double A[SMALL * SMALL];
    p->mass.matrix(p->mass.self, t, A);
    memset(inverse, 0, SMALL * STRIDE * sizeof *inverse);
    for (int i = 0; i < n; i++) {
        memcpy(inverse + i * STRIDE, A + i * n, (size_t)n * sizeof *A);
    }
    invert(n, inverse);
}

/* Sum over rows of J_r A^-1 J_r'. */
static double trace_small(int rows, int n, const double *J, const double *inverse) {
    double sum = 0;
    for (int r = 0; r < rows; r++, J += n) {
        double x[STRIDE] = {0};
        for (int i = 0; i < n; i++) {
            dense_axpy(STRIDE, J[i], inverse + i * STRIDE, x);
        }
        sum += dense_dot(n, J, x);
    }
    return sum;
}

static double trace_large(const sim_problem *p, int t, int rows, const double *J, double *x) {
    int n = p->tree[t].nv;
    double sum = 0;
    for (int r = 0; r < rows; r++, J += n) {
        memcpy(x, J, (size_t)n * sizeof *x);
        p->mass.solve(p->mass.self, t, x);
        sum += dense_dot(n, J, x);
    }
    return sum;
}

static void add_transposed(const sim_problem *p, const sim_constraint *c, const double *gamma, judge_motion *m) {
    double *inverse = m->rest + p->nv, *column = inverse + p->ntree * SMALL * STRIDE;
    double trace = 0;
    for (int k = c->row; k < c->row + c->rows; k++) {
        m->free[k] = p->offset ? p->offset[k] : 0;
    }
    for (int side = 0; side < 2; side++) {
        int t = c->tree[side];
        if (t < 0) {
            continue;
        }
        int n = p->tree[t].nv, v0 = p->tree[t].v0;
        const double *J = p->J + c->block[side];
        for (int k = 0; k < c->rows; k++) {
            dense_axpy(n, gamma[c->row + k], J + k * n, m->j + v0);
            m->free[c->row + k] += dense_dot(n, J + k * n, p->v_free + v0);
        }
        trace += n <= SMALL ? trace_small(c->rows, n, J, inverse + t * SMALL * STRIDE)
                            : trace_large(p, t, c->rows, J, column);
    }
    m->trace[c - p->constraint] = trace;
}

static void times_rows(const sim_problem *p, const sim_constraint *c, const double *dv, double *pushed) {
    for (int k = c->row; k < c->row + c->rows; k++) {
        pushed[k] = 0;
    }
    for (int side = 0; side < 2; side++) {
        int t = c->tree[side];
        for (int k = 0; k < c->rows && t >= 0; k++) {
            int n = p->tree[t].nv;
            pushed[c->row + k] += dense_dot(n, p->J + c->block[side] + k * n, dv + p->tree[t].v0);
        }
    }
}

static void global_motion(const sim_problem *p, const double *gamma, judge_motion *m) {
    double *dv = m->rest, *inverse = dv + p->nv;
    memset(m->j, 0, (size_t)p->nv * sizeof *m->j);
    for (int t = 0; t < p->ntree; t++) {
        if (p->tree[t].nv <= SMALL) {
            write_inverse(p, t, inverse + t * SMALL * STRIDE);
        }
    }
    for (int i = 0; i < p->nconstraint; i++) {
        add_transposed(p, &p->constraint[i], gamma, m);
    }
    memcpy(dv, m->j, (size_t)p->nv * sizeof *dv);
    for (int t = 0; t < p->ntree; t++) {
        p->mass.solve(p->mass.self, t, dv + p->tree[t].v0);
    }
    for (int i = 0; i < p->nconstraint; i++) {
        times_rows(p, &p->constraint[i], dv, m->pushed);
    }
}

/* W gamma and the traces from W alone; q stands for J v* + w. */
static void local_motion(const sim_problem *p, const double *gamma, judge_motion *m) {
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double trace = 0, sum[SIM_MAX_ROWS] = {0};
        for (int k = p->W->start[i]; k < p->W->start[i + 1]; k++) {
            const sim_constraint *d = &p->constraint[p->W->column[k]];
            const double *W = p->W->value + p->W->at[k];
            for (int r = 0; r < c->rows; r++, W += d->rows) {
                sum[r] += dense_dot(d->rows, W, gamma + d->row);
                trace += c == d ? W[r] : 0;
            }
        }
        m->trace[i] = trace;
        memcpy(m->pushed + c->row, sum, (size_t)c->rows * sizeof *sum);
        memcpy(m->free + c->row, p->q + c->row, (size_t)c->rows * sizeof *sum);
    }
}

void judge_motion_of(const sim_problem *p, const double *gamma, judge_motion *m) {
    if (sim_problem_local(p)) {
        local_motion(p, gamma, m);
    } else {
        global_motion(p, gamma, m);
    }
}

judge_balance judge_momentum(const sim_problem *p, const double *v, judge_motion *m) {
    judge_balance b = {0, 0, 0};
    for (int t = 0; t < p->ntree; t++) {
        int n = p->tree[t].nv, v0 = p->tree[t].v0;
        double *x = m->rest, *y = x + n, *A = y + n;
        const double *j = m->j + v0;
        p->mass.matrix(p->mass.self, t, A);
        for (int k = 0; k < n; k++) {
            x[k] = v[v0 + k] - p->v_free[v0 + k];
        }
        p->mass.times(p->mass.self, t, x, y);
        for (int k = 0; k < n; k++) {
            double error = y[k] - j[k], D2 = 1 / A[k * n + k];
            b.error += D2 * error * error;
            b.contact += D2 * j[k] * j[k];
        }
        p->mass.times(p->mass.self, t, v + v0, y);
        for (int k = 0; k < n; k++) {
            b.momentum += y[k] * y[k] / A[k * n + k];
        }
    }
    return b;
}
