/* Matrix of an interior point step by blocks of pairs of trees, and its factor by CHOLMOD.
 *
 *     M = A + J' G J,     M_aa += J_a' G J_a,   M_ab = J_a' G J_b,   M_bb += J_b' G J_b   of every constraint
 *
 * J_a, J_b: rows of the constraint in the velocities of its two trees.  The Hessian of the primal cost has the same
 * structure, but its G of a contact has one or two vectors; here G is full.
 *
 * Cost: rows (n_a + n_b)^2 multiplications a constraint, and a supernodal factor. */
#include "solver/interior_point/barrier_matrix.h"
#include "linalg/dense/strip.h"

#include <stdlib.h>
#include <string.h>

struct barrier_matrix {
    patch_sums sums;
    spd *system;
    double *product; /* [rows of a constraint][largest stride] G J */
};

static bool reserve_product(void *self, int threads) {
    (void)threads;
    barrier_matrix *m = self;
    const patches *o = &m->sums.patches;
    int largest = 0;
    for (int node = 0; node < o->nodes; node++) {
        largest = o->graph.size[node] > largest ? o->graph.size[node] : largest;
    }
    m->product = ARENA_NEW(m->sums.kept, double, SIM_MAX_ROWS *(size_t)strip_stride(largest));
    return m->product != NULL;
}

/* C += J' X of n x m numbers */
static void add_transposed_product(int rows, int n, const double *J, int columns, const double *X, double *C) {
    int stride = strip_stride(columns);
    for (int r = 0; r < rows; r++) {
        for (int i = 0; i < n; i++) {
            double factor = J[r * n + i];
            for (int j = 0; j < columns && factor != 0; j++) {
                C[i * stride + j] += factor * X[r * columns + j];
            }
        }
    }
}

/* X = G J of a constraint */
static void weigh_rows(const sim_constraint *c, const cone_hessian *G, int n, const double *J, double *X) {
    const double *w = G->weight;
    const double full[3][3] = {{w[0], w[3], w[4]}, {w[3], w[1], w[5]}, {w[4], w[5], w[2]}};
    for (int r = 0; r < c->rows; r++) {
        for (int j = 0; j < n; j++) {
            X[r * n + j] = c->kind == SIM_CONTACT
                               ? full[r][0] * J[j] + full[r][1] * J[n + j] + full[r][2] * J[2 * n + j]
                               : w[r] * J[r * n + j];
        }
    }
}

static void sum_barrier_patch(void *self, int thread, int k) {
    barrier_matrix *m = self;
    (void)thread;
    const patch_sums *s = &m->sums;
    const patch *p = &s->patches.patch[k];
    /* blocks of both trees, and the one between them, row: the tree that is eliminated first */
    int size[2] = {patch_sums_size(s, p->a), p->b >= 0 ? patch_sums_size(s, p->b) : 0};
    spd_block between = p->b >= 0 ? spd_between(m->system, p->edge) : (spd_block){0};
    int row = p->b >= 0 && between.row == p->b ? 1 : 0;
    for (int side = 0; side < 2 && size[side]; side++) {
        memset(s->part[2 * k + side], 0, (size_t)size[side] * (size_t)strip_stride(size[side]) * sizeof(double));
    }
    if (p->b >= 0) {
        memset(between.value, 0, (size_t)size[row] * (size_t)between.stride * sizeof(double));
    }
    /* constraint by constraint */
    for (int at = p->first; at < p->first + p->count; at++) {
        int i = s->patches.constraint[at], flipped = s->patches.flipped[i];
        const sim_constraint *c = &s->problem->constraint[i];
        for (int side = 0; side < 2 && size[side]; side++) {
            const double *J = s->problem->J + c->block[side ^ flipped];
            weigh_rows(c, &s->G[i], size[side], J, m->product);
            add_transposed_product(c->rows, size[side], J, size[side], m->product, s->part[2 * k + side]);
            if (size[1] && side != row) {
                const double *J_row = s->problem->J + c->block[row ^ flipped];
                add_transposed_product(c->rows, size[row], J_row, size[side], m->product, between.value);
            }
        }
    }
}

static double *barrier_diagonal_block(void *self, int node) {
    barrier_matrix *m = self;
    return spd_diagonal(m->system, node).value;
}

void *barrier_matrix_create(void) {
    barrier_matrix *m = calloc(1, sizeof *m);
    if (m) {
        bool ok = patch_sums_open(
            &m->sums, (patch_sums_matrix){m, reserve_product, NULL, sum_barrier_patch, barrier_diagonal_block});
        m->system = spd_create();
        if (!ok || !m->system) {
            barrier_matrix_free(m);
            m = NULL;
        }
    }
    return m;
}

void barrier_matrix_free(void *matrix) {
    barrier_matrix *m = matrix;
    if (m) {
        spd_free(m->system);
        patch_sums_close(&m->sums);
        free(m);
    }
}

bool barrier_matrix_prepare(barrier_matrix *m, const sim_problem *p) {
    return patch_sums_prepare(&m->sums, p, NULL) && !spd_analyse(m->system, &m->sums.patches.graph, SPD_SUPERNODAL);
}

const patches *barrier_matrix_patches(const barrier_matrix *m) { return &m->sums.patches; }
double barrier_matrix_work(const barrier_matrix *m) { return spd_expected(m->system).multiplications; }

void barrier_matrix_mass_diagonal(const barrier_matrix *m, double *diagonal) {
    const patch_sums *s = &m->sums;
    for (int node = 0; node < s->patches.nodes; node++) {
        int n = patch_sums_size(s, node), v0 = s->problem->tree[s->patches.tree[node]].v0;
        for (int j = 0; j < n; j++) {
            diagonal[v0 + j] = s->A[node][(ptrdiff_t)j * (strip_stride(n) + 1)];
        }
    }
}

void barrier_matrix_set(barrier_matrix *m, const cone_hessian *G) { patch_sums_set(&m->sums, G); }
spd_outcome barrier_matrix_factor(barrier_matrix *m) { return spd_factor(m->system); }

bool barrier_matrix_solve(barrier_matrix *m, double *x) {
    patch_sums_gather(&m->sums, x);
    if (spd_solve(m->system, m->sums.x)) {
        return false;
    }
    patch_sums_scatter(&m->sums, x);
    return true;
}
