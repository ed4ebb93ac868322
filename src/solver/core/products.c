/* Products with the parts of a problem: J v, J' gamma, A x, A^-1 x. */
#include "solver/core/products.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

static inline simd2 load_pair(const double *x) {
    simd2 v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* A contact of a free body: three rows of six. */
static inline void six_columns_times(const double *J, const double *v, double *u) {
    simd4 head = simd4_load(v);
    simd2 tail = load_pair(v + 4);
    for (int k = 0; k < 3; k++) {
        simd4 a = simd4_load(J + 6 * k) * head;
        simd2 b = load_pair(J + 6 * k + 4) * tail;
        u[k] += ((a[0] + a[1]) + (a[2] + a[3])) + (b[0] + b[1]);
    }
}

static inline void six_transposed(const double *J, const double *gamma, double *j) {
    simd4 head = gamma[0] * simd4_load(J) + gamma[1] * simd4_load(J + 6) + gamma[2] * simd4_load(J + 12);
    simd2 tail = gamma[0] * load_pair(J + 4) + gamma[1] * load_pair(J + 10) + gamma[2] * load_pair(J + 16);
    head += simd4_load(j);
    tail += load_pair(j + 4);
    memcpy(j, &head, sizeof head);
    memcpy(j + 4, &tail, sizeof tail);
}

/* u += J v of one side of a constraint */
static inline void add_side_times(const sim_problem *p, int i, int side, const double *v, double *u) {
    const sim_constraint *c = &p->constraint[i];
    const sim_problem_tree *t = &p->tree[c->tree[side]];
    const double *J = p->J + c->block[side];
    if (t->nv == 6 && c->rows == 3) {
        six_columns_times(J, v + t->v0, u + c->row);
        return;
    }
    sim_columns of = sim_block_columns(p, c, side);
    for (int k = 0; k < c->rows; k++) {
        u[c->row + k] += dense_dot(of.count, J + k * t->nv + of.first, v + t->v0 + of.first);
    }
}

void problem_jacobian_times_of(const sim_problem *p, int first, int end, const double *v, double *u) {
    for (int i = first; i < end; i++) {
        const sim_constraint *c = &p->constraint[i];
        memset(u + c->row, 0, (size_t)c->rows * sizeof *u);
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            add_side_times(p, i, side, v, u);
        }
    }
}

void problem_jacobian_times(const sim_problem *p, const double *v, double *u) {
    problem_jacobian_times_of(p, 0, p->nconstraint, v, u);
}

void problem_velocity_of(const sim_problem *p, int first, int end, const double *v, double *u) {
    problem_jacobian_times_of(p, first, end, v, u);
    for (int i = first; i < end && p->offset; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = c->row; k < c->row + c->rows; k++) {
            u[k] += p->offset[k];
        }
    }
}

void problem_velocity(const sim_problem *p, const double *v, double *u) {
    problem_velocity_of(p, 0, p->nconstraint, v, u);
}

void problem_velocity_size(const sim_problem *p, const double *v, double *size) {
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = c->row; k < c->row + c->rows; k++) {
            size[k] = p->offset ? fabs(p->offset[k]) : 0;
        }
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            const sim_problem_tree *t = &p->tree[c->tree[side]];
            sim_columns of = sim_block_columns(p, c, side);
            for (int k = 0; k < c->rows; k++) {
                const double *J = p->J + c->block[side] + (ptrdiff_t)k * t->nv;
                for (int j = of.first; j < of.first + of.count; j++) {
                    size[c->row + k] += fabs(J[j] * v[t->v0 + j]);
                }
            }
        }
    }
}

/* j += J' gamma of one side of a constraint */
static inline void add_side_transposed(const sim_problem *p, int i, int side, const double *gamma, double *j) {
    const sim_constraint *c = &p->constraint[i];
    const sim_problem_tree *t = &p->tree[c->tree[side]];
    const double *J = p->J + c->block[side];
    if (t->nv == 6 && c->rows == 3) {
        six_transposed(J, gamma + c->row, j + t->v0);
        return;
    }
    sim_columns of = sim_block_columns(p, c, side);
    for (int k = 0; k < c->rows; k++) {
        dense_axpy(of.count, gamma[c->row + k], J + k * t->nv + of.first, j + t->v0 + of.first);
    }
}

void problem_jacobian_transposed(const sim_problem *p, const double *gamma, double *j) {
    memset(j, 0, (size_t)p->nv * sizeof *j);
    for (int i = 0; i < p->nconstraint; i++) {
        for (int side = 0; side < 2 && p->constraint[i].tree[side] >= 0; side++) {
            add_side_transposed(p, i, side, gamma, j);
        }
    }
}

bool tree_rows_find(const sim_problem *p, sim_arena *scratch, tree_rows *rows) {
    rows->start = ARENA_NEW(scratch, int, p->ntree + 2);
    rows->entry = ARENA_NEW(scratch, int, 2 * p->nconstraint);
    if (!rows->start || !rows->entry) {
        return false;
    }
    /* counts, starts, entries */
    memset(rows->start, 0, ((size_t)p->ntree + 2) * sizeof *rows->start);
    for (int k = 0; k < 2 * p->nconstraint; k++) {
        int tree = p->constraint[k / 2].tree[k % 2];
        rows->start[tree + 2] += tree >= 0;
    }
    for (int t = 0; t < p->ntree; t++) {
        rows->start[t + 2] += rows->start[t + 1];
    }
    for (int k = 0; k < 2 * p->nconstraint; k++) {
        int tree = p->constraint[k / 2].tree[k % 2];
        if (tree >= 0) {
            rows->entry[rows->start[tree + 1]++] = k;
        }
    }
    return true;
}

void problem_jacobian_transposed_of(const sim_problem *p, const tree_rows *rows, int first, int end,
                                    const double *gamma, double *j) {
    for (int t = first; t < end; t++) {
        memset(j + p->tree[t].v0, 0, (size_t)p->tree[t].nv * sizeof *j);
        for (int k = rows->start[t]; k < rows->start[t + 1]; k++) {
            add_side_transposed(p, rows->entry[k] / 2, rows->entry[k] % 2, gamma, j);
        }
    }
}

void problem_response_of(const sim_problem *p, const tree_rows *rows, int first, int end, const double *gamma,
                         double *v) {
    problem_jacobian_transposed_of(p, rows, first, end, gamma, v);
    for (int t = first; t < end; t++) {
        int v0 = p->tree[t].v0;
        p->mass.solve(p->mass.self, t, v + v0);
        for (int k = v0; k < v0 + p->tree[t].nv; k++) {
            v[k] += p->v_free[k];
        }
    }
}

void problem_mass_times(const sim_problem *p, const double *x, double *y) {
    for (int t = 0; t < p->ntree; t++) {
        p->mass.times(p->mass.self, t, x + p->tree[t].v0, y + p->tree[t].v0);
    }
}

void problem_mass_solve(const sim_problem *p, double *x) {
    for (int t = 0; t < p->ntree; t++) {
        p->mass.solve(p->mass.self, t, x + p->tree[t].v0);
    }
}

void problem_response(const sim_problem *p, const double *gamma, double *v) {
    problem_jacobian_transposed(p, gamma, v);
    problem_mass_solve(p, v);
    for (int k = 0; k < p->nv; k++) {
        v[k] += p->v_free[k];
    }
}
