/* One sweep of projected block Gauss-Seidel: every constraint in turn is solved exactly, with the others fixed.
 *
 *     s_i = K_i gamma_i + b_i,     gamma_i <- P(gamma_i + omega (solution of the law - gamma_i))
 *
 *     K_i = W_ii + R_i;  b_i: velocity by all other impulses, m/s;  P: projection on the admissible impulses
 *     omega   over-relaxation, 1 is Gauss-Seidel
 *
 * Without an assembled W the velocities carry the change of each block, v += A^-1 J_i' dgamma_i.
 * Reference: Jourdan, Alart, Jean 1998.     Cost: one product with W, or one with J and one with A^-1 J'. */
#include "math/dense.h"
#include "solver/gauss_seidel/pgs.h"

#include <math.h>

static inline void store_quad(double *to, simd4 x) { memcpy(to, &x, sizeof x); }

/* s += columns x, four lanes; two sums, to hide the latency of the addition. */
static inline simd4 columns_times(int n, const double *column, const double *x, simd4 s) {
    simd4 other = {0, 0, 0, 0};
    int j = 0;
    for (; j + 2 <= n; j += 2) {
        s += simd4_load(column + 4 * j) * x[j];
        other += simd4_load(column + 4 * j + 4) * x[j + 1];
    }
    if (j < n) {
        s += simd4_load(column + 4 * j) * x[j];
    }
    return s + other;
}

/* The same with eight lanes, for five or six rows. */
static void wide_columns_times(int n, const double *column, const double *x, double *s) {
    for (int j = 0; j < n; j++) {
        dense_axpy(PGS_WIDEST, x[j], column + PGS_WIDEST * j, s);
    }
}

static simd4 velocity_free(const pgs *p, const pgs_block *b, simd4 s) {
    for (int side = 0; side < 2; side++) {
        s = columns_times(b->nv[side], b->J[side], p->v + b->v0[side], s);
    }
    return s;
}

/* Three rows in all constraints: the innermost loop of large problems. */
static simd4 velocity_uniform(const pgs *p, const pgs_block *b, simd4 s) {
    simd4 s1 = {0, 0, 0, 0}, s2 = {0, 0, 0, 0};
    const double *W = b->W;
    for (int k = b->start; k < b->end; k++, W += 12) {
        const double *g = p->gamma + 4 * p->neighbour[k];
        s += simd4_load(W) * g[0];
        s1 += simd4_load(W + 4) * g[1];
        s2 += simd4_load(W + 8) * g[2];
    }
    return s + (s1 + s2);
}

static simd4 velocity_assembled(const pgs *p, const pgs_block *b, simd4 s) {
    const double *W = b->W;
    for (int k = b->start; k < b->end; k++) {
        const pgs_block *other = &p->block[p->neighbour[k]];
        s = columns_times(other->rows, W, p->gamma + other->at, s);
        W += 4 * other->rows;
    }
    return s;
}

static void velocity_wide(const pgs *p, const pgs_block *b, double *s) {
    const double *W = b->W;
    for (int k = 0; k < PGS_WIDEST; k++) {
        s[k] = p->base[b->at + k] + p->R[b->at + k] * p->gamma[b->at + k];
    }
    for (int side = 0; side < 2 && !p->assembled; side++) {
        wide_columns_times(b->nv[side], b->J[side], p->v + b->v0[side], s);
    }
    for (int k = b->start; k < b->end; k++) {
        const pgs_block *other = &p->block[p->neighbour[k]];
        wide_columns_times(other->rows, W, p->gamma + other->at, s);
        W += PGS_WIDEST * other->rows;
    }
}

static inline void eval_velocity(const pgs *p, const pgs_block *b, double *velocity) {
    if (b->lanes > 4) {
        velocity_wide(p, b, velocity);
        return;
    }
    simd4 s = simd4_load(p->base + b->at) + simd4_load(p->R + b->at) * simd4_load(p->gamma + b->at);
    s = !p->assembled ? velocity_free(p, b, s) : p->uniform ? velocity_uniform(p, b, s) : velocity_assembled(p, b, s);
    store_quad(velocity, s);
}

void pgs_velocity(const pgs *p, const pgs_block *b, double *velocity) { eval_velocity(p, b, velocity); }

/* v += Y x */
static inline void add_response(pgs *p, const pgs_block *b, const double *x) {
    for (int side = 0; side < 2; side++) {
        double *v = p->v + b->v0[side];
        for (int k = 0; k < b->rows && b->Y[side]; k++) {
            dense_axpy(b->stride[side], x[k], b->Y[side] + k * b->stride[side], v);
        }
    }
}

void pgs_refresh(pgs *p) {
    if (!p->assembled) {
        memcpy(p->v, p->v_free, (size_t)p->nv * sizeof *p->v);
        for (int i = 0; i < p->n; i++) {
            add_response(p, &p->block[i], p->gamma + p->block[i].at);
        }
    }
}

static inline void solve_block(const pgs *p, pgs_block *b, const double *s, double relaxation, double *g) {
    double old[PGS_WIDEST];
    memcpy(old, g, (size_t)b->rows * sizeof *g);
    if (b->kind != SIM_CONTACT) {
        pgs_solve_other(b, s, g);
    } else if (p->pyramid) {
        pgs_solve_pyramid(b, s, g);
    } else if (b->turning) {
        pgs_solve_turning(b, s, g);
    } else {
        pgs_solve_contact(b, s, g);
    }
    if (relaxation != 1) {
        for (int k = 0; k < b->rows; k++) {
            g[k] = old[k] + relaxation * (g[k] - old[k]);
        }
        pgs_project(p, b, g);
    }
}

pgs_change pgs_sweep(pgs *p, double relaxation, int backwards) {
    /* blocks forwards or backwards */
    double velocity = 0, impulse = 0, s[PGS_WIDEST], change[PGS_WIDEST];
    for (int k = 0; k < p->n; k++) {
        pgs_block *b = &p->block[backwards ? p->n - 1 - k : k];
        double *g = p->gamma + b->at, square = 0;
        /* local velocity, then the impulse of the block */
        eval_velocity(p, b, s);
        for (int row = 0; row < b->rows; row++) {
            change[row] = -g[row];
        }
        solve_block(p, b, s, relaxation, g);
        for (int row = 0; row < b->rows; row++) {
            change[row] += g[row];
            square += change[row] * change[row];
        }
        /* without an assembled W the change goes to the velocities at once */
        if (!p->assembled && square > 0) {
            add_response(p, b, change);
        }
        /* change in impulses, and in velocities by the step size rho */
        impulse += square;
        velocity += square / (b->rho * b->rho);
    }
    return (pgs_change){sqrt(velocity), sqrt(impulse)};
}
