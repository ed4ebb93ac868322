/* Static condensation: soft trees with the dofs that constraints touch, and no others.
 *
 *     A (v - v*) = J' gamma,   J = J_c S      =>      A_c (v_c - v*_c) = J_c' gamma,   A_c = (S A^-1 S')^-1
 *     v = v* + A^-1 S' A_c (v_c - v*_c)
 *
 *     S      picks the touched dofs c of a tree;  A  its sparse matrix, kg;  J_c  rows on c
 *     W = S A^-1 S' = B' B with B upper triangular: half solves, A_c^-1 = B' B, pass towards the first dof
 *
 * The problem in v_c has the same impulses and the same velocities of rows.  So solvers see a small dense tree however
 * fine the mesh is.
 * Reference: Guyan 1965, here exact, as the other dofs carry no impulse.
 * Cost: half a sparse solve for each touched dof, on its path to the root, and n^3 for n of them. */
#include "contact/problem/assemble.h"

#include <string.h>

/* ---- operator ---- */

static void condensed_times(const void *self, int tree, const double *x, double *y) {
    const condensation *c = self;
    const condensed_tree *t = &c->tree[tree];
    if (t->n == 0) {
        c->whole.times(c->whole.self, tree, x, y);
        return;
    }
    for (int i = 0; i < t->n; i++) {
        y[i] = dense_dot(t->n, t->A + (ptrdiff_t)i * t->n, x);
    }
}

static void condensed_solve(const void *self, int tree, double *x) {
    const condensation *c = self;
    const condensed_tree *t = &c->tree[tree];
    if (t->n == 0) {
        c->whole.solve(c->whole.self, tree, x);
        return;
    }
    memcpy(t->work, x, (size_t)t->n * sizeof *x);
    for (int i = 0; i < t->n; i++) {
        x[i] = dense_dot(t->n, t->W + (ptrdiff_t)i * t->n, t->work);
    }
}

static void condensed_matrix(const void *self, int tree, double *A) {
    const condensation *c = self;
    const condensed_tree *t = &c->tree[tree];
    if (t->n == 0) {
        c->whole.matrix(c->whole.self, tree, A);
        return;
    }
    memcpy(A, t->A, (size_t)t->n * (size_t)t->n * sizeof *A);
}

static void condensed_diagonal(const void *self, int tree, double *d) {
    const condensation *c = self;
    const condensed_tree *t = &c->tree[tree];
    if (t->n == 0) {
        c->whole.diagonal(c->whole.self, tree, d);
    }
    for (int j = 0; j < t->n; j++) {
        d[j] = t->A[(ptrdiff_t)j * (t->n + 1)];
    }
}

static void condensed_half(const void *self, int tree, int rows, sim_columns columns, double *X) {
    const condensation *c = self;
    const condensed_tree *t = &c->tree[tree];
    if (t->n == 0) {
        c->whole.half(c->whole.self, tree, rows, columns, X);
        return;
    }
    int end = columns.first + columns.count;
    for (int row = 0; row < rows; row++) {
        double *x = X + (ptrdiff_t)row * t->n;
        for (int i = 0; i < end; i++) { /* in place: row i of B needs no number before i */
            x[i] = dense_dot(end - i, t->B + (ptrdiff_t)i * t->n + i, x + i);
        }
    }
}

/* ---- matrices of a tree ---- */

/* W = B' B; the numbers of B below the diagonal are zero. */
static void factor_inverse(const condensed_tree *t) {
    ptrdiff_t n = t->n;
    memset(t->B, 0, (size_t)(n * n) * sizeof *t->B);
    for (ptrdiff_t i = 0; i < n; i++) {
        double *row = t->B + i * n;
        memcpy(row + i, t->W + i * n + i, (size_t)(n - i) * sizeof *row);
        for (ptrdiff_t k = 0; k < i; k++) {
            const double *above = t->B + k * n;
            dense_axpy((int)(n - i), -above[i], above + i, row + i);
        }
        double root = 1 / sqrt(row[i]);
        for (ptrdiff_t j = i; j < n; j++) {
            row[j] *= root;
        }
    }
}

/* A = B^-1 B^-T, with C = B^-1 in the place of A first. */
static void invert_inverse(const condensed_tree *t) {
    ptrdiff_t n = t->n;
    /* rows of C = B^-1, upper triangular, from the last */
    memset(t->A, 0, (size_t)(n * n) * sizeof *t->A);
    for (ptrdiff_t i = n - 1; i >= 0; i--) {
        double *row = t->A + i * n;
        const double *of = t->B + i * n;
        for (ptrdiff_t k = i + 1; k < n; k++) {
            dense_axpy((int)(n - k), -of[k], t->A + k * n + k, row + k);
        }
        for (ptrdiff_t j = i; j < n; j++) {
            row[j] = (row[j] + (j == i)) / of[i];
        }
    }
    /* C C': entry (i, j) needs rows i and j from the later on; each row is complete before it is replaced */
    for (ptrdiff_t i = 0; i < n; i++) {
        double *row = t->A + i * n;
        for (ptrdiff_t j = i; j < n; j++) {
            row[j] = dense_dot((int)(n - j), row + j, t->A + j * n + j);
        }
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        for (ptrdiff_t j = 0; j < i; j++) {
            t->A[i * n + j] = t->A[j * n + i];
        }
    }
}

static sim_status fill_tree(const condensed_tree *t) {
    if (soft_system_inverse_part(t->soft, t->n, t->dof, t->W)) {
        return SIM_NO_RESOURCE;
    }
    factor_inverse(t);
    invert_inverse(t);
    return SIM_OK;
}

/* ---- islands ---- */

/* Marks the nodes on which a constraint has a part: of those between its first and last many have none. */
static void mark_touched(const assembly *f, const sim_problem *p, const sim_constraint *c, int side, int *local) {
    int nv = p->tree[c->tree[side]].nv;
    sim_columns of = sim_block_columns(p, c, side);
    for (int j = of.first; j < of.first + of.count; j++) {
        bool acts = false;
        for (int row = 0; row < c->rows; row++) {
            acts |= f->J[c->block[side] + (ptrdiff_t)row * nv + j] != 0;
        }
        for (int k = 3 * (j / 3); acts && k < 3 * (j / 3) + 3; k++) {
            local[k] = 0;
        }
    }
}

/* Marks the touched dofs of a tree and lists them. */
static bool list_touched(assembly *f, const sim_problem *p, int tree, condensed_tree *t, int *local) {
    t->nv = p->tree[tree].nv;
    for (int j = 0; j < t->nv; j++) {
        local[j] = -1;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            if (c->tree[side] == tree) {
                mark_touched(f, p, c, side, local);
            }
        }
    }
    for (int j = 0; j < t->nv; j++) {
        bool none = j == t->nv - 1 && t->n == 0; /* of nodes that are held alone: any dof stands for the tree */
        local[j] = local[j] < 0 && !none ? -1 : t->n++;
    }
    int *dof = ARENA_NEW(f->arena, int, t->n);
    t->dof = dof;
    for (int j = 0; dof && j < t->nv; j++) {
        if (local[j] >= 0) {
            dof[local[j]] = j;
        }
    }
    size_t n = (size_t)t->n;
    t->W = ARENA_NEW(f->arena, double, n *n);
    t->A = ARENA_NEW(f->arena, double, n *n);
    t->B = ARENA_NEW(f->arena, double, n *n);
    t->work = ARENA_NEW(f->arena, double, n);
    t->lift = ARENA_NEW(f->arena, double, t->nv);
    return dof && t->W && t->A && t->B && t->work && t->lift;
}

/* The touched dofs among these. */
static sim_columns narrow_columns(sim_columns of, const int *local) {
    int first = 0, end = 0;
    for (int j = of.first; j < of.first + of.count; j++) {
        if (local[j] >= 0) {
            first = end ? first : local[j];
            end = local[j] + 1;
        }
    }
    return (sim_columns){first, end - first};
}

/* The rows of J on a tree, each on the touched dofs alone; a block keeps its place, and is narrower. */
static void narrow_rows(const assembly *f, const sim_problem *p, int tree, const condensed_tree *t, const int *local,
                        sim_constraint *constraint, double *J) {
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            if (c->tree[side] != tree) {
                continue;
            }
            sim_columns of = sim_block_columns(p, c, side);
            for (int row = 0; row < c->rows; row++) {
                const double *from = f->J + c->block[side] + (ptrdiff_t)row * t->nv;
                double *to = J + c->block[side] + (ptrdiff_t)row * t->n;
                for (int k = 0; k < t->n; k++) {
                    to[k] = from[t->dof[k]];
                }
            }
            constraint[i].columns[side] = narrow_columns(of, local);
        }
    }
}

/* The rows of J on a rigid tree. */
static void copy_rows(const assembly *f, const sim_problem *p, int tree, double *J) {
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            if (c->tree[side] == tree) {
                size_t size = (size_t)c->rows * (size_t)p->tree[tree].nv;
                memcpy(J + c->block[side], f->J + c->block[side], size * sizeof *J);
            }
        }
    }
}

/* Numbers of all dofs to those of the problem: v_start, v*. */
static void pick_velocities(const sim_problem *p, const condensation *c, const sim_problem_tree *tree,
                            const double *all, double *v) {
    for (int k = 0; k < p->ntree; k++) {
        const condensed_tree *t = &c->tree[k];
        for (int j = 0; j < tree[k].nv; j++) {
            v[tree[k].v0 + j] = all[p->tree[k].v0 + (t->n ? t->dof[j] : j)];
        }
    }
}

static bool has_soft(const assembly *f, const island *is) {
    bool any = false;
    for (int t = 0; t < is->base.ntree; t++) {
        any |= f->in->soft[f->tree[is->first_tree + t]] != NULL;
    }
    return any;
}

static sim_status condense_island(assembly *f, island *is, double *J) {
    /* memory */
    sim_problem *p = &is->base;
    condensation *c = ARENA_NEW(f->arena, condensation, 1);
    sim_problem_tree *tree = ARENA_NEW(f->arena, sim_problem_tree, p->ntree);
    sim_constraint *constraint = ARENA_NEW(f->arena, sim_constraint, p->nconstraint);
    int *local = ARENA_NEW(f->arena, int, p->nv);
    double *v = ARENA_NEW(f->arena, double, 2 * (size_t)p->nv);
    condensed_tree *of = ARENA_NEW(f->arena, condensed_tree, p->ntree);
    if (!c || !tree || !constraint || !local || !v || !of) {
        return SIM_NO_RESOURCE;
    }
    *c = (condensation){.whole = p->mass, .tree = of};
    memcpy(constraint, p->constraint, (size_t)p->nconstraint * sizeof *constraint);
    memset(of, 0, (size_t)p->ntree * sizeof *of);
    /* trees: dofs, matrices, rows */
    int nv = 0;
    for (int k = 0; k < p->ntree; k++) {
        condensed_tree *t = &of[k];
        if (!f->in->soft[f->tree[is->first_tree + k]]) {
            copy_rows(f, p, k, J);
        } else {
            t->v_free = p->v_free + p->tree[k].v0;
            t->soft = f->in->soft[f->tree[is->first_tree + k]];
            if (!list_touched(f, p, k, t, local) || fill_tree(t)) {
                return SIM_NO_RESOURCE;
            }
            narrow_rows(f, p, k, t, local, constraint, J);
        }
        tree[k] = (sim_problem_tree){nv, t->n ? t->n : p->tree[k].nv};
        nv += tree[k].nv;
    }
    /* the problem in their place */
    pick_velocities(p, c, tree, p->v_start, v);
    pick_velocities(p, c, tree, p->v_free, v + nv);
    p->v_start = p->v_guess = is->v_guess = v;
    p->v_free = v + nv;
    if (f->driven) {
        memcpy(f->v_free_variant + is->first_v, p->v_free, (size_t)nv * sizeof *v);
    }
    p->tree = tree;
    p->nv = nv;
    p->constraint = constraint;
    p->J = J;
    p->mass = (sim_mass){c, condensed_times, condensed_solve, condensed_matrix, condensed_diagonal, condensed_half};
    is->condensed = c;
    is->problem = is->base;
    return SIM_OK;
}

sim_status condense_islands(assembly *f) {
    double *J = ARENA_NEW(f->arena, double, f->nJ);
    if (!J) {
        return SIM_NO_RESOURCE;
    }
    for (int k = 0; k < f->nisland; k++) {
        if (has_soft(f, &f->island[k]) && condense_island(f, &f->island[k], J)) {
            return SIM_NO_RESOURCE;
        }
    }
    return SIM_OK;
}

/* all += A^-1 S' A_c x */
static void lift_tree(const condensed_tree *t, const double *x, double *all) {
    memset(t->lift, 0, (size_t)t->nv * sizeof *t->lift);
    for (int i = 0; i < t->n; i++) {
        t->lift[t->dof[i]] = dense_dot(t->n, t->A + (ptrdiff_t)i * t->n, x);
    }
    soft_system_solve(t->soft, t->lift);
    dense_axpy(t->nv, 1, t->lift, all);
}

void condensed_velocity(const island *is, int tree, const double *v, double *all) {
    const condensed_tree *t = &is->condensed->tree[tree];
    v += is->base.tree[tree].v0;
    for (int j = 0; j < t->n; j++) {
        t->work[j] = v[j] - t->v_free[t->dof[j]];
    }
    memcpy(all, t->v_free, (size_t)t->nv * sizeof *all);
    lift_tree(t, t->work, all);
    for (int j = 0; j < t->n; j++) { /* without the rounding of the inverse */
        all[t->dof[j]] = v[j];
    }
}

void condensed_shift(const island *is, int tree, const double *shift, double *all) {
    const condensed_tree *t = &is->condensed->tree[tree];
    memset(all, 0, (size_t)t->nv * sizeof *all);
    lift_tree(t, shift + is->base.tree[tree].v0, all);
}
