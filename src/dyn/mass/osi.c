/* Inverse operational-space inertia of k bodies, without A and without J.
 *
 *     Lambda_ij = J_i A^-1 J_j'
 *     Lambda_ii = K_i Lambda_pp K_i' + contribution of the joint,     Lambda_ij = K_i Lambda_pj   for j not below i
 *     K_i = (product over the joint's dofs, last first, of 1 - S_j U_j' / D_j) T_i
 *
 *     Lambda      1/kg, 1/(kg m), 1/(kg m^2);  J_i: Jacobian of body i;  A: mass matrix
 *     K_i         acceleration of body i from that of its parent p, from the articulated factors S, U, D (aba.c)
 *     T_i         shift of a motion by r_i, from the parent's origin to that of body i
 *
 * Nodes are the k bodies and the bodies where the paths to them part; between two nodes K and Lambda are carried along
 * the path.
 *
 * References: Jain 2011; Mylapilli, Jain 2016, section 3.2.  Cost: O(n) for the paths, O(k^2) for the pairs. */
#include "base/pool.h"
#include "dyn/motion/lanes.h"

#include <stdlib.h>
#include <string.h>

typedef struct m6 {
    double e[6][6];
} m6;

typedef struct node {
    int body, parent; /* parent: index of the node next nearer the root, or -1 */
    m6 K;             /* from the parent node to this one */
} node;

struct sim_operational {
    memory_pool *pool;
    int max_bodies, count;
    int *path;       /* [nbody] bodies between two nodes */
    int *sorted;     /* [max] */
    node *node;      /* [2 max] by rising body index */
    int *node_of;    /* [nbody] */
    m6 *block;       /* [2 max x 2 max], lower triangle: (i, j), j <= i */
    double *Lambda;  /* [6 max x 6 max] for sim_delassus_points */
    int *point_body; /* [max] */
};

sim_operational *sim_operational_create(const sim_model *model, int max_bodies, sim_error *error) {
    /* memory, quadratic in the number of bodies */
    memory_pool *pool = pool_create();
    sim_operational *w = pool ? POOL_NEW(pool, sim_operational, 1) : NULL;
    if (w) {
        size_t k = (size_t)max_bodies;
        w->pool = pool;
        w->max_bodies = max_bodies;
        w->path = POOL_NEW(pool, int, model->nbody);
        w->node_of = POOL_NEW(pool, int, model->nbody);
        w->sorted = POOL_NEW(pool, int, k);
        w->point_body = POOL_NEW(pool, int, k);
        w->node = POOL_NEW(pool, node, 2 * k);
        w->block = POOL_NEW(pool, m6, 4 * k * k);
        w->Lambda = POOL_NEW(pool, double, 36 * k * k);
    }
    /* all of it, or nothing */
    if (!w || !w->path || !w->node_of || !w->sorted || !w->point_body || !w->node || !w->block || !w->Lambda) {
        pool_free(pool);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the operational-space inertia of %d bodies", max_bodies);
        return NULL;
    }
    return w;
}

void sim_operational_free(sim_operational *w) {
    if (w) {
        pool_free(w->pool);
    }
}

static int compare_bodies(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The lowest body above both, b > a; 0 if their trees differ. */
static int find_common_ancestor(const sim_model *m, int a, int b) {
    while (a && m->body[a].subtree_end <= b) {
        a = m->body[a].parent;
    }
    return a;
}

/* The k bodies and the branching points between them, by rising index: in depth-first order the branching points are
 * the common ancestors of neighbours. */
static void find_nodes(sim_operational *w, const sim_model *m, const int *bodies, int k) {
    memcpy(w->sorted, bodies, (size_t)k * sizeof *bodies);
    qsort(w->sorted, (size_t)k, sizeof *bodies, compare_bodies);
    int *all = w->path; /* unused until the paths are walked; at most 2k - 1 of nbody bodies, each once */
    int count = 0;
    for (int i = 0; i < k; i++) {
        int body = w->sorted[i];
        if (body == 0 || (i && body == w->sorted[i - 1])) {
            continue;
        }
        int above = count ? find_common_ancestor(m, w->sorted[i - 1], body) : 0;
        int known = above == 0;
        for (int j = count - 1; j >= 0 && !known; j--) {
            known = all[j] == above;
        }
        if (!known) {
            all[count++] = above;
        }
        all[count++] = body;
    }
    qsort(all, (size_t)count, sizeof *all, compare_bodies);
    w->count = count;
    for (int i = 0; i < count; i++) {
        w->node[i].body = all[i];
    }
    for (int i = 0; i < count; i++) {
        w->node_of[w->node[i].body] = i;
        int parent = i - 1; /* nodes above i come before it, the nearest last */
        while (parent >= 0 && m->body[w->node[parent].body].subtree_end <= w->node[i].body) {
            parent--;
        }
        w->node[i].parent = parent;
    }
}

/* X <- T X: rows 3..5 (linear) gain (rows 0..2) x r, column by column. */
static void shift_rows(m6 *X, v3 r) {
    for (int c = 0; c < 6; c++) {
        v3 lin = v3_cross(v3_make(X->e[0][c], X->e[1][c], X->e[2][c]), r);
        X->e[3][c] += lin.x;
        X->e[4][c] += lin.y;
        X->e[5][c] += lin.z;
    }
}

/* X <- (1 - S U' / D) X */
static void pass_joint(m6 *X, const double S[6], const double U[6], double Dinv) {
    for (int c = 0; c < 6; c++) {
        double sum = 0;
        for (int row = 0; row < 6; row++) {
            sum += U[row] * X->e[row][c];
        }
        for (int row = 0; row < 6; row++) {
            X->e[row][c] -= S[row] * sum * Dinv;
        }
    }
}

static m6 transpose_six(const m6 *X) {
    m6 Y;
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            Y.e[i][j] = X->e[j][i];
        }
    }
    return Y;
}

static m6 multiply_six(const m6 *A, const m6 *B) {
    m6 C;
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            double sum = 0;
            for (int k = 0; k < 6; k++) {
                sum += A->e[i][k] * B->e[k][j];
            }
            C.e[i][j] = sum;
        }
    }
    return C;
}

static void to_array(v3 ang, v3 lin, double a[6]) {
    const double all[6] = {ang.x, ang.y, ang.z, lin.x, lin.y, lin.z};
    memcpy(a, all, sizeof all);
}

static void lanes_as_array(const lanes6 *f, double a[6]) {
    for (int k = 0; k < 3; k++) {
        a[k] = f->ang[k];
        a[3 + k] = f->lin[k];
    }
}

/* Carries K and Lambda over the joint of body i. */
static void cross_body(const sim_derived *d, int i, m6 *K, m6 *Lambda) {
    const sim_body *b = &d->model->body[i];
    shift_rows(K, d->r[i]);
    shift_rows(Lambda, d->r[i]);
    *Lambda = transpose_six(Lambda);
    shift_rows(Lambda, d->r[i]);
    for (int j = b->v0; j < b->v0 + b->nv; j++) {
        double S[6], U[6];
        to_array(d->S[j].ang, d->S[j].lin, S);
        lanes_as_array(&d->U[j], U);
        pass_joint(K, S, U, d->Dinv[j]);
        pass_joint(Lambda, S, U, d->Dinv[j]);
        *Lambda = transpose_six(Lambda);
        pass_joint(Lambda, S, U, d->Dinv[j]);
        for (int p = 0; p < 6; p++) {
            for (int q = 0; q < 6; q++) {
                Lambda->e[p][q] += S[p] * S[q] * d->Dinv[j];
            }
        }
    }
}

static m6 *block_at(sim_operational *w, int i, int j) { return &w->block[(size_t)i * 2 * w->max_bodies + j]; }

/* K and the diagonal block of node n, along the path from its parent node (or from the world). */
static void walk_path(sim_operational *w, const sim_derived *d, int n) {
    node *at = &w->node[n];
    int stop = at->parent < 0 ? 0 : w->node[at->parent].body;
    int length = 0;
    for (int i = at->body; i != stop; i = d->model->body[i].parent) {
        w->path[length++] = i;
    }
    m6 K = {{{0}}}, Lambda = {{{0}}};
    for (int p = 0; p < 6; p++) {
        K.e[p][p] = 1;
    }
    if (at->parent >= 0) {
        Lambda = *block_at(w, at->parent, at->parent);
    }
    while (length) {
        cross_body(d, w->path[--length], &K, &Lambda);
    }
    at->K = K;
    *block_at(w, n, n) = Lambda;
}

static void fill_pairs(sim_operational *w, int n) {
    const node *at = &w->node[n];
    for (int j = 0; j < n; j++) {
        int p = at->parent;
        if (p < 0) {
            memset(block_at(w, n, j), 0, sizeof(m6));
            continue;
        }
        m6 above = p >= j ? *block_at(w, p, j) : transpose_six(block_at(w, j, p));
        *block_at(w, n, j) = multiply_six(&at->K, &above);
    }
}

void sim_operational_inertia(sim_operational *w, const sim_derived *d, const int *bodies, int k, double *Lambda) {
    /* blocks of all pairs, node by node from the root */
    find_nodes(w, d->model, bodies, k);
    for (int n = 0; n < w->count; n++) {
        walk_path(w, d, n);
        fill_pairs(w, n);
    }
    /* copy them in the caller's order; the lower triangle holds the transposed */
    size_t width = 6 * (size_t)k;
    for (int a = 0; a < k; a++) {
        for (int b = 0; b < k; b++) {
            m6 block = {{{0}}};
            if (bodies[a] && bodies[b]) {
                int i = w->node_of[bodies[a]], j = w->node_of[bodies[b]];
                block = i >= j ? *block_at(w, i, j) : transpose_six(block_at(w, j, i));
            }
            for (int row = 0; row < 6; row++) {
                memcpy(Lambda + (6 * (size_t)a + (size_t)row) * width + 6 * (size_t)b, block.e[row],
                       sizeof block.e[row]);
            }
        }
    }
}

/* Row `axis` of C = [-[x], 1], the velocity of the point at lever x along the axis for a unit of each body velocity. */
static void point_row(v3 x, int axis, double row[6]) {
    v3 e = {axis == 0, axis == 1, axis == 2};
    to_array(v3_cross(x, e), e, row);
}

void sim_delassus_points(sim_operational *w, const sim_derived *d, const sim_point *points, int k, double *W) {
    /* inverse inertia of the bodies */
    for (int a = 0; a < k; a++) {
        w->point_body[a] = points[a].body;
    }
    sim_operational_inertia(w, d, w->point_body, k, w->Lambda);
    /* rows of the points on both sides */
    size_t width = 6 * (size_t)k;
    for (int a = 0; a < 3 * k; a++) {
        double row_a[6];
        point_row(m3_times(d->pose[points[a / 3].body].R, points[a / 3].local), a % 3, row_a);
        for (int b = 0; b < 3 * k; b++) {
            double row_b[6], sum = 0;
            point_row(m3_times(d->pose[points[b / 3].body].R, points[b / 3].local), b % 3, row_b);
            for (int p = 0; p < 6; p++) {
                const double *block = w->Lambda + (6 * (size_t)(a / 3) + (size_t)p) * width + 6 * (size_t)(b / 3);
                for (int q = 0; q < 6; q++) {
                    sum += row_a[p] * block[q] * row_b[q];
                }
            }
            W[(size_t)a * 3 * (size_t)k + (size_t)b] = sum;
        }
    }
}
