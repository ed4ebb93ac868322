/* Velocities and momentum from the impulses of a solution.
 *
 *     j = J' gamma,    dv = A^-1 j,    W gamma = J dv,    b = J v* + w,    trace W_ii = sum over rows J_r A^-1 J_r'
 *
 * The speeds by which b rounds are |J| V + |w|, V = max(|v*|, |D^2 A v*|): v* solves A v* = p, and each p_j rounds by a part
 * of itself.  For the momentum error, with D = diag(A)^-1/2:    D (A (v - v*) - j),    D A v,    D j.
 *
 * Reference: Castro, Permenter, Han 2021, eqs. 25, 32.  Cost: mostly the traces.  Of a small tree A^-1 is written once,
 * in rows of eight numbers, for all its constraints.  In a larger one each constraint follows its paths to the root, or
 * each row takes a solve. */
#include "judge/motion.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

enum { MAX_SMALL_DOFS = 6, ROW_STRIDE = 8 };

static int max_tree_velocities(const sim_problem *p) {
    int most = 0;
    for (int t = 0; t < p->ntree; t++) {
        most = p->tree[t].nv > most ? p->tree[t].nv : most;
    }
    return most;
}

size_t judge_motion_size(const sim_problem *p) {
    size_t n = (size_t)max_tree_velocities(p), inverses = (size_t)p->ntree * MAX_SMALL_DOFS * ROW_STRIDE;
    size_t rest = (size_t)p->nv + inverses > 3 * n ? (size_t)p->nv + inverses : 3 * n;
    return 2 * (size_t)p->nrow + 2 * (size_t)p->nconstraint + 2 * (size_t)p->nv + rest + SIM_MAX_ROWS * n;
}

judge_motion judge_motion_in(const sim_problem *p, double *work) {
    judge_motion m = {.free = work};
    m.pushed = m.free + p->nrow;
    m.trace = m.pushed + p->nrow;
    m.speed = m.trace + p->nconstraint;
    m.of_dof = m.speed + p->nconstraint;
    m.j = m.of_dof + p->nv;
    m.rest = m.j + p->nv;
    return m;
}

/* A <- A^-1 of a small tree, by Gauss and Jordan, without pivots as A is positive definite.  Column k is
 * changed by masks: a number written into a vector in memory would stall the next reading of the vector. */
static inline void invert_in_place(int n, simd4 A[MAX_SMALL_DOFS][2]) {
    static const simd4_mask at[MAX_SMALL_DOFS][2] = {{{-1, 0, 0, 0}, {0}}, {{0, -1, 0, 0}, {0}}, {{0, 0, -1, 0}, {0}},
                                                     {{0, 0, 0, -1}, {0}}, {{0}, {-1, 0, 0, 0}}, {{0}, {0, -1, 0, 0}}};
    const simd4 none = {0, 0, 0, 0};
    for (int k = 0; k < n; k++) {
        double over = 1 / A[k][k / 4][k % 4];
        simd4 pivot[2];
        for (int half = 0; half < 2; half++) {
            pivot[half] = over * simd4_select(at[k][half], none + 1, A[k][half]);
        }
        for (int i = 0; i < n; i++) {
            double factor = A[i][k / 4][k % 4];
            for (int half = 0; half < 2; half++) {
                A[i][half] = simd4_select(at[k][half], none, A[i][half]) - factor * pivot[half];
            }
        }
        A[k][0] = pivot[0];
        A[k][1] = pivot[1];
    }
}

/* V of a tree; `rest` has room for twice its dofs. */
static void eval_dof_speeds(const sim_problem *p, int t, double *rest, double *speed) {
    int n = p->tree[t].nv;
    const double *v = p->v_free + p->tree[t].v0;
    double *carried = rest, *diagonal = rest + n;
    p->mass.times(p->mass.self, t, v, carried);
    p->mass.diagonal(p->mass.self, t, diagonal);
    for (int i = 0; i < n; i++) {
        speed[i] = fmax(fabs(v[i]), fabs(carried[i]) / diagonal[i]);
    }
}

static void invert_tree(const sim_problem *p, int t, double *inverse) {
    int n = p->tree[t].nv;
    double A[MAX_SMALL_DOFS * MAX_SMALL_DOFS];
    simd4 B[MAX_SMALL_DOFS][2];
    p->mass.matrix(p->mass.self, t, A);
    memset(B, 0, sizeof B);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            B[i][j / 4][j % 4] = A[i * n + j];
        }
    }
    if (n == 6) {
        invert_in_place(6, B); /* free bodies, with loops of known length */
    } else {
        invert_in_place(n, B);
    }
    memcpy(inverse, B, sizeof B);
}

/* The first `count` numbers at x, and zeros. */
static inline simd4 load_part(int count, const double *x) {
    return count >= 4 ? simd4_load(x) : (simd4){count > 0 ? x[0] : 0, count > 1 ? x[1] : 0, count > 2 ? x[2] : 0, 0};
}

/* Sum over rows of J_r A^-1 J_r'. */
static inline double trace_small(int rows, int n, const double *J, const double *inverse) {
    simd4 sum = {0, 0, 0, 0};
    for (int r = 0; r < rows; r++, J += n) {
        simd4 low = {0, 0, 0, 0}, high = low;
        for (int i = 0; i < n; i++) {
            low += J[i] * simd4_load(inverse + i * ROW_STRIDE);
            high += J[i] * simd4_load(inverse + i * ROW_STRIDE + 4);
        }
        sum += low * load_part(n, J);
        if (n > 4) {
            sum += high * load_part(n - 4, J + 4);
        }
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* The same as the squares of B J', where A^-1 = B' B is known. */
static double trace_by_halves(const sim_problem *p, int t, int rows, sim_columns columns, const double *J, double *X) {
    int n = p->tree[t].nv, end = columns.first + columns.count;
    double sum = 0;
    memcpy(X, J, (size_t)rows * (size_t)n * sizeof *X);
    p->mass.half(p->mass.self, t, rows, columns, X);
    for (int r = 0; r < rows; r++) {
        sum += dense_dot(end, X + r * n, X + r * n);
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

/* The columns of a side's block of J; of free bodies all, for loops of known length. */
static inline sim_columns side_columns(const sim_problem *p, const sim_constraint *c, int side) {
    int n = p->tree[c->tree[side]].nv;
    return n == 6 ? (sim_columns){0, 6} : sim_block_columns(p, c, side);
}

/* j += J_i' gamma_i, and the trace of W_ii. */
static void add_transposed(const sim_problem *p, const sim_constraint *c, const double *gamma, judge_motion *m) {
    double *inverse = m->rest + p->nv, *column = inverse + p->ntree * MAX_SMALL_DOFS * ROW_STRIDE, trace = 0;
    for (int side = 0; side < 2; side++) {
        int t = c->tree[side];
        if (t < 0) {
            continue;
        }
        int n = p->tree[t].nv;
        const double *J = p->J + c->block[side], *of_tree = inverse + t * MAX_SMALL_DOFS * ROW_STRIDE;
        sim_columns of = side_columns(p, c, side);
        for (int k = 0; k < c->rows; k++) {
            dense_axpy(of.count, gamma[c->row + k], J + k * n + of.first, m->j + p->tree[t].v0 + of.first);
        }
        trace += n == 6                ? trace_small(c->rows, 6, J, of_tree) /* loops of known length */
                 : n <= MAX_SMALL_DOFS ? trace_small(c->rows, n, J, of_tree)
                 : p->mass.half        ? trace_by_halves(p, t, c->rows, of, J, column)
                                       : trace_large(p, t, c->rows, J, column);
    }
    m->trace[c - p->constraint] = trace;
}

static inline double absolute_dot(int n, const double *x, const double *y) {
    double sum = 0;
    for (int k = 0; k < n; k++) {
        sum += fabs(x[k] * y[k]);
    }
    return sum;
}

/* Rows of J v* + w and of J dv. */
static void multiply_rows(const sim_problem *p, const sim_constraint *c, const double *dv, judge_motion *m) {
    double speed[SIM_MAX_ROWS] = {0}, sum = 0;
    for (int k = c->row; k < c->row + c->rows; k++) {
        m->free[k] = p->offset ? p->offset[k] : 0;
        m->pushed[k] = 0;
        speed[k - c->row] = fabs(m->free[k]);
    }
    for (int side = 0; side < 2; side++) {
        int t = c->tree[side];
        sim_columns of = t >= 0 ? side_columns(p, c, side) : (sim_columns){0, 0};
        for (int k = 0; k < c->rows && t >= 0; k++) {
            int n = p->tree[t].nv, at = p->tree[t].v0 + of.first;
            const double *J = p->J + c->block[side] + k * n + of.first;
            m->free[c->row + k] += n == 6 ? dense_dot(6, J, p->v_free + at) : dense_dot(of.count, J, p->v_free + at);
            m->pushed[c->row + k] += n == 6 ? dense_dot(6, J, dv + at) : dense_dot(of.count, J, dv + at);
            speed[k] += n == 6 ? absolute_dot(6, J, m->of_dof + at) : absolute_dot(of.count, J, m->of_dof + at);
        }
    }
    for (int k = 0; k < c->rows; k++) {
        sum += speed[k] * speed[k];
    }
    m->speed[c - p->constraint] = sum;
}

static void eval_global_motion(const sim_problem *p, const double *gamma, judge_motion *m) {
    double *dv = m->rest, *inverse = dv + p->nv;
    memset(m->j, 0, (size_t)p->nv * sizeof *m->j);
    /* V; `rest` is free so far */
    for (int t = 0; t < p->ntree; t++) {
        eval_dof_speeds(p, t, m->rest, m->of_dof + p->tree[t].v0);
    }
    /* A^-1 of small trees */
    for (int t = 0; t < p->ntree; t++) {
        if (p->tree[t].nv <= MAX_SMALL_DOFS) {
            invert_tree(p, t, inverse + t * MAX_SMALL_DOFS * ROW_STRIDE);
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
        multiply_rows(p, &p->constraint[i], dv, m);
    }
}

/* W gamma and the traces from W alone; q stands for J v* + w. */
static void eval_local_motion(const sim_problem *p, const double *gamma, judge_motion *m) {
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
        m->speed[i] = 0;
        memcpy(m->pushed + c->row, sum, (size_t)c->rows * sizeof *sum);
        memcpy(m->free + c->row, p->q + c->row, (size_t)c->rows * sizeof *sum);
    }
}

void judge_eval_motion(const sim_problem *p, const double *gamma, judge_motion *m) {
    if (sim_problem_local(p)) {
        eval_local_motion(p, gamma, m);
    } else {
        eval_global_motion(p, gamma, m);
    }
}

judge_balance judge_eval_momentum(const sim_problem *p, const double *v, judge_motion *m) {
    judge_balance b = {0, 0, 0};
    for (int t = 0; t < p->ntree; t++) {
        int n = p->tree[t].nv, v0 = p->tree[t].v0;
        double *x = m->rest, *y = x + n, *diagonal = y + n;
        const double *j = m->j + v0;
        /* residual A (v - v_free) - J^T impulse */
        p->mass.diagonal(p->mass.self, t, diagonal);
        for (int k = 0; k < n; k++) {
            x[k] = v[v0 + k] - p->v_free[v0 + k];
        }
        p->mass.times(p->mass.self, t, x, y);
        /* norms with the inverse diagonal of A as weights */
        for (int k = 0; k < n; k++) {
            double error = y[k] - j[k], D2 = 1 / diagonal[k];
            b.error += D2 * error * error;
            b.contact += D2 * j[k] * j[k];
        }
        /* momentum A v */
        p->mass.times(p->mass.self, t, v + v0, y);
        for (int k = 0; k < n; k++) {
            b.momentum += y[k] * y[k] / diagonal[k];
        }
    }
    return b;
}
