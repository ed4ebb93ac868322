/* Sparse linearisation of a soft body: blocks of 3 x 3 on the nodes and edges of its mesh.
 *
 *     A = M + E + c C + k K,   a' = A^-1 (tau + f(q) - C v + k K a)     Newton's step for M a = tau + f(q(a)) - C (v + c a)
 *
 *     M      lumped masses, kg;  E  a diagonal, kg
 *     C, K   viscosity, N s/m, and stiffness, N/m, over the tetrahedra, exact or projected; K with that of gas and rods
 *     c      s, d(velocity)/da;  k  s^2, d(place)/da
 *
 * Where elasticity is rows of the contact problem (contact/problem/row/elastic.c), f and K of tetrahedra are left out.
 *
 * Rods are distances between two nodes: rows of the contact problem, whose impulse keeps its direction n over the
 * step.  A rod that bears the force T = gamma-/dt of the step before, N, pushing, has the geometric stiffness
 *
 *     K_rod = -T/L (1 - n n'),     f_rod = -K_rod (d - d0):     with the row's own force, that along the direction at d
 *
 *     d, d0  from one node to the other, m: where elastic forces are taken, and where the row is;  L = |d0|, n = d0/L
 *
 * Without it a rod that pulls is a spring across itself of stiffness |T|/L with its force at the start of the step.
 * Where that exceeds what else holds the nodes, the force grows from step to step, however short the step is.
 *
 * The graph of the mesh does not change, so its order and the places in the factor are found once.
 * Reference: Baraff, Witkin 1998, Large steps in cloth simulation, eqs. 5-6; of rods Tournier, Nesme, Gilles, Faure 2015,
 * Stable constrained dynamics.
 * Cost: linear in the tetrahedra, and a sparse Cholesky factor of the mesh. */
#include "dyn/soft/soft_system.h"

#include "base/pool.h"
#include "dyn/soft/soft_body.h"
#include "linalg/spd.h"
#include "math/dense.h"

#include <stdlib.h>
#include <string.h>

enum { TET_EDGES = 6, STRIDE = 4 };
static const int PAIR[TET_EDGES][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

/* Blocks of a face of a chamber in A: as those of a tetrahedron. */
typedef struct face_blocks {
    int unknown[3];
    double *edge[3];
    bool turned[3];
} face_blocks;

/* A rigid distance between two nodes. */
typedef struct rod {
    int equality;
    int node[2], unknown[2];
    double *edge; /* its block in A; NULL: a node is held */
} rod;

/* Blocks of a tetrahedron in A. */
typedef struct tet_blocks {
    int unknown[4];          /* node among those that move, -1: it is held */
    double *diagonal[4];     /* NULL: none */
    double *edge[TET_EDGES]; /* NULL: none */
    bool turned[TET_EDGES];  /* the block has the second corner of the pair as its row */
} tet_blocks;

struct soft_system {
    memory_pool *pool;
    const sim_model *model;
    const sim_soft *soft;
    const sim_tree *tree;
    elastic_material material;
    int nodes, edges, rods;
    double *mass;               /* [nodes] */
    double *force;              /* [nodes] N: sizes of terms of the elastic force */
    double *inertia, *constant; /* [3 nodes] of the last linearisation: M + E, kg; f(q) - C v + k K a0, N */
    elastic_tet *tet;
    tet_blocks *at;
    face_blocks *face; /* [nchamber] of the soft body */
    rod *rod;
    spd *A;
    spd_edge *edge;
    int *size;
    double **diagonal, **between; /* blocks of A */
    spd_edge *of;                 /* [edges] row and column of a block */
    bool failed;
};

/* ---- creation ---- */

static int compare_edges(const void *a, const void *b) {
    const spd_edge *x = a, *y = b;
    return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

static spd_edge edge_between(int a, int b) { return a < b ? (spd_edge){a, b} : (spd_edge){b, a}; }

static spd_edge edge_of(const tet_blocks *t, int pair) {
    return edge_between(t->unknown[PAIR[pair][0]], t->unknown[PAIR[pair][1]]);
}

/* A node among those that move, -1: it is held. */
static int unknown_of(const soft_system *s, int node) {
    const sim_body *b = &s->model->body[s->soft->body + 1 + node];
    return b->nv ? (b->v0 - s->tree->v0) / 3 : -1;
}

/* Rigid distances between two nodes of this body. */
static void find_rods(soft_system *s) {
    for (int k = 0; k < s->model->nequality; k++) {
        const sim_equality *e = &s->model->equality[k];
        rod r = {.equality = k};
        bool inside = e->type == SIM_DISTANCE;
        for (int side = 0; side < 2 && inside; side++) {
            r.node[side] = e->body[side] - s->soft->body - 1;
            inside = r.node[side] >= 0 && r.node[side] < s->soft->nnode;
            r.unknown[side] = inside ? unknown_of(s, r.node[side]) : -1;
        }
        if (inside) {
            s->rod[s->rods++] = r;
        }
    }
}

/* Edges between nodes that move, each once. */
static void find_edges(soft_system *s) {
    int count = 0;
    for (int k = 0; k < s->rods; k++) {
        spd_edge e = edge_between(s->rod[k].unknown[0], s->rod[k].unknown[1]);
        if (e.a >= 0) {
            s->edge[count++] = e;
        }
    }
    for (int k = 0; k < s->soft->ntet; k++) {
        for (int pair = 0; pair < TET_EDGES; pair++) {
            spd_edge e = edge_of(&s->at[k], pair);
            if (e.a >= 0) {
                s->edge[count++] = e;
            }
        }
    }
    qsort(s->edge, (size_t)count, sizeof *s->edge, compare_edges);
    for (int k = 0; k < count; k++) {
        if (k == 0 || compare_edges(&s->edge[k], &s->edge[s->edges - 1]) != 0) {
            s->edge[s->edges++] = s->edge[k];
        }
    }
}

/* Shapes at rest, nodes that move, masses. */
static void measure_tets(soft_system *s) {
    const sim_soft *soft = s->soft;
    const sim_body *first = &s->model->body[soft->body + 1];
    double stiff = 2 * s->material.mu + s->material.lambda;
    for (int k = 0; k < soft->ntet; k++) {
        v3 rest[4];
        for (int i = 0; i < 4; i++) {
            rest[i] = soft->node[soft->tet[k][i]];
            s->at[k].unknown[i] = unknown_of(s, soft->tet[k][i]);
        }
        s->tet[k] = make_elastic_tet(rest);
        for (int i = 0; i < 4; i++) {
            int u = s->at[k].unknown[i];
            if (u >= 0) {
                s->mass[u] = first[soft->tet[k][i]].inertia.mass;
                s->force[u] += stiff * s->tet[k].volume * v3_norm(s->tet[k].slope[i]);
            }
        }
    }
}

/* The block between two nodes, NULL: one is held; `turned`: its row is that of b. */
static double *find_block(const soft_system *s, int a, int b, bool *turned) {
    spd_edge e = edge_between(a, b);
    const spd_edge *found = bsearch(&e, s->edge, (size_t)s->edges, sizeof e, compare_edges);
    *turned = found && s->of[found - s->edge].a != a;
    return found ? s->between[found - s->edge] : NULL;
}

/* The places of the blocks of each face of a chamber. */
static void connect_faces(soft_system *s) {
    for (int k = 0; k < s->soft->nchamber; k++) {
        face_blocks *t = &s->face[k];
        for (int i = 0; i < 3; i++) {
            t->unknown[i] = unknown_of(s, s->soft->face[s->soft->nface - s->soft->nchamber + k][i]);
        }
        for (int pair = 0; pair < 3; pair++) {
            t->edge[pair] =
                find_block(s, t->unknown[FACE_PAIR[pair][0]], t->unknown[FACE_PAIR[pair][1]], &t->turned[pair]);
        }
    }
}

/* The place of the block of each rod, which is symmetric. */
static void connect_rods(soft_system *s) {
    for (int k = 0; k < s->rods; k++) {
        bool turned;
        s->rod[k].edge = find_block(s, s->rod[k].unknown[0], s->rod[k].unknown[1], &turned);
    }
}

/* The places of the blocks of each tetrahedron. */
static void connect_blocks(soft_system *s) {
    for (int u = 0; u < s->nodes; u++) {
        s->diagonal[u] = spd_diagonal(s->A, u).value;
    }
    for (int e = 0; e < s->edges; e++) {
        spd_block b = spd_between(s->A, e);
        s->between[e] = b.value;
        s->of[e] = (spd_edge){b.row, b.column};
    }
    for (int k = 0; k < s->soft->ntet; k++) {
        tet_blocks *t = &s->at[k];
        for (int i = 0; i < 4; i++) {
            t->diagonal[i] = t->unknown[i] >= 0 ? s->diagonal[t->unknown[i]] : NULL;
        }
        for (int pair = 0; pair < TET_EDGES; pair++) {
            t->edge[pair] = find_block(s, t->unknown[PAIR[pair][0]], t->unknown[PAIR[pair][1]], &t->turned[pair]);
        }
    }
    connect_faces(s);
    connect_rods(s);
}

static bool allocate_system(soft_system *s) {
    size_t ntet = (size_t)s->soft->ntet, nodes = (size_t)s->nodes;
    s->mass = POOL_NEW(s->pool, double, nodes);
    s->force = POOL_NEW(s->pool, double, nodes);
    s->inertia = POOL_NEW(s->pool, double, 3 * nodes);
    s->constant = POOL_NEW(s->pool, double, 3 * nodes);
    s->tet = POOL_NEW(s->pool, elastic_tet, ntet);
    s->at = POOL_NEW(s->pool, tet_blocks, ntet);
    s->face = POOL_NEW(s->pool, face_blocks, s->soft->nchamber);
    s->rod = POOL_NEW(s->pool, rod, s->model->nequality);
    s->edge = POOL_NEW(s->pool, spd_edge, TET_EDGES * ntet + (size_t)s->model->nequality);
    s->size = POOL_NEW(s->pool, int, nodes);
    s->diagonal = POOL_NEW(s->pool, double *, nodes);
    s->A = spd_create();
    return s->mass && s->force && s->inertia && s->constant && s->tet && s->at && s->face && s->rod && s->edge &&
           s->size && s->diagonal && s->A;
}

/* The factor's places. */
static bool analyse_graph(soft_system *s) {
    find_edges(s);
    s->between = POOL_NEW(s->pool, double *, s->edges);
    s->of = POOL_NEW(s->pool, spd_edge, s->edges);
    for (int u = 0; u < s->nodes; u++) {
        s->size[u] = 3;
    }
    spd_graph graph = {s->nodes, s->edges, s->size, s->edge};
    spd_expect_lasting(s->A);
    return s->between && s->of && !spd_analyse(s->A, &graph, SPD_AUTO);
}

soft_system *soft_system_create(const sim_model *model, const sim_soft *soft) {
    /* memory, masses, graph of A */
    memory_pool *pool = pool_create();
    soft_system *s = pool ? POOL_NEW(pool, soft_system, 1) : NULL;
    if (!s) {
        pool_free(pool);
        return NULL;
    }
    s->pool = pool;
    s->model = model;
    s->soft = soft;
    s->tree = &model->tree[model->body[soft->body].tree];
    s->material = material_of_soft(soft);
    s->nodes = s->tree->nv / 3;
    if (!allocate_system(s)) {
        soft_system_free(s);
        return NULL;
    }
    measure_tets(s);
    find_rods(s);
    if (!analyse_graph(s)) {
        soft_system_free(s);
        return NULL;
    }
    connect_blocks(s);
    return s;
}

void soft_system_free(soft_system *s) {
    if (s) {
        spd_free(s->A);
        pool_free(s->pool);
    }
}

size_t soft_system_bytes(const soft_system *s) { return pool_bytes(s->pool) + spd_bytes(s->A); }

/* ---- linearisation ---- */

/* Zeros in all blocks, which marks them as changed; M + E on the diagonal. */
static void start_blocks(soft_system *s, const double *extra) {
    for (int u = 0; u < s->nodes; u++) {
        double *block = spd_diagonal(s->A, u).value;
        memset(block, 0, 3 * STRIDE * sizeof *block);
        for (int k = 0; k < 3; k++) {
            s->inertia[3 * u + k] = s->mass[u] + (extra ? extra[s->tree->v0 + 3 * u + k] : 0);
            block[k * (STRIDE + 1)] = s->inertia[3 * u + k];
        }
    }
    for (int e = 0; e < s->edges; e++) {
        memset(spd_between(s->A, e).value, 0, 3 * STRIDE * sizeof(double));
    }
}

/* block += the part (i, j) of a tetrahedron's matrix. */
static void add_block(double (*B)[12], int i, int j, double *block) {
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            block[r * STRIDE + c] += B[3 * i + r][3 * j + c];
        }
    }
}

static void add_blocks(const tet_blocks *t, double (*B)[12]) {
    for (int i = 0; i < 4; i++) {
        if (t->diagonal[i]) {
            add_block(B, i, i, t->diagonal[i]);
        }
    }
    for (int pair = 0; pair < TET_EDGES; pair++) {
        if (t->edge[pair]) {
            int i = PAIR[pair][t->turned[pair]], j = PAIR[pair][!t->turned[pair]];
            add_block(B, i, j, t->edge[pair]);
        }
    }
}

/* The numbers of a tetrahedron's corners in an array of the model; zeros for those that are held. */
static void gather_corners(const soft_system *s, const tet_blocks *t, const double *x, double out[12]) {
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++) {
            out[3 * i + k] = t->unknown[i] >= 0 ? x[s->tree->v0 + 3 * t->unknown[i] + k] : 0;
        }
    }
}

static void scatter_corners(const tet_blocks *t, const double f[12], double *force) {
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3 && t->unknown[i] >= 0; k++) {
            force[3 * t->unknown[i] + k] += f[3 * i + k];
        }
    }
}

static void linearise_tet(soft_system *s, const soft_point *at, int k) {
    /* force, stiffness, viscosity */
    tet_blocks *t = &s->at[k];
    bool viscous = s->material.dissipation > 0;
    double K[12][12], C[12][12], v[12], a[12], f[12];
    v3 x[4], from[4], start[4], own[4];
    for (int i = 0; i < 4; i++) {
        x[i] = soft_place(s->model, s->soft, s->soft->tet[k][i], at->q);
        from[i] = soft_place(s->model, s->soft, s->soft->tet[k][i], at->from ? at->from : at->q);
        start[i] = soft_place(s->model, s->soft, s->soft->tet[k][i], at->start ? at->start : at->q);
    }
    bool elastic = !s->soft->rows;
    if (!elastic && !viscous) {
        return;
    }
    eval_elastic_matrices(&s->material, &s->tet[k], x,
                          &(elastic_matrices){elastic ? K : NULL, at->tangent != SOFT_EXACT, viscous ? C : NULL,
                                              elastic ? own : NULL, at->from ? from : NULL,
                                              viscous && at->start ? start : NULL});
    gather_corners(s, t, at->v, v);
    gather_corners(s, t, at->a, a);
    /* f - C v + k K a, and c C + k K */
    for (int i = 0; i < 12; i++) {
        const double *p = &own[i / 3].x;
        f[i] = elastic ? p[i % 3] : 0;
        for (int j = 0; j < 12; j++) {
            K[i][j] = elastic ? at->stiffness * K[i][j] : 0;
            f[i] += K[i][j] * a[j] - (viscous ? C[i][j] * v[j] : 0);
            K[i][j] += viscous ? at->viscosity * C[i][j] : 0;
        }
    }
    add_blocks(t, K);
    scatter_corners(t, f, s->constant);
}

/* k K of the gas on a face into A, and k K a. */
static void linearise_face(soft_system *s, const soft_point *at, int k) {
    const face_blocks *t = &s->face[k];
    v3 w[3];
    eval_gas_stiffness(s->model, s->soft, s->soft->nface - s->soft->nchamber + k, at->q, at->pressure, w);
    for (int pair = 0; pair < 3; pair++) {
        if (!t->edge[pair]) {
            continue;
        }
        v3 turn = v3_scale(at->stiffness, w[pair]);
        for (int side = 0; side < 2; side++, turn = v3_neg(turn)) { /* K_ji = -K_ij, as cross products */
            double *to = s->constant + 3 * t->unknown[FACE_PAIR[pair][side]];
            const double *a = at->a + s->tree->v0 + 3 * t->unknown[FACE_PAIR[pair][!side]];
            v3 f = v3_cross(turn, v3_make(a[0], a[1], a[2]));
            to[0] += f.x, to[1] += f.y, to[2] += f.z;
        }
        v3 row = t->turned[pair] ? v3_neg(turn) : turn;
        double *block = t->edge[pair];
        block[1] -= row.z, block[2] += row.y;
        block[STRIDE] += row.z, block[STRIDE + 2] -= row.x;
        block[2 * STRIDE] -= row.y, block[2 * STRIDE + 1] += row.x;
    }
}

/* x - y of the two nodes of a rod: from the second to the first, in an array of numbers of the dofs. */
static v3 gather_rod(const soft_system *s, const rod *r, const double *x) {
    v3 sum = {0, 0, 0};
    for (int side = 0; side < 2; side++) {
        if (r->unknown[side] >= 0) {
            const double *y = x + s->tree->v0 + 3 * r->unknown[side];
            sum = v3_axpy(sum, side ? -1 : 1, v3_make(y[0], y[1], y[2]));
        }
    }
    return sum;
}

static v3 rod_way(const soft_system *s, const rod *r, const double *q) {
    const sim_equality *e = &s->model->equality[r->equality];
    v3 to = v3_add(soft_place(s->model, s->soft, r->node[0], q), e->frame[0].p);
    return v3_sub(to, v3_add(soft_place(s->model, s->soft, r->node[1], q), e->frame[1].p));
}

/* k K_rod into A, and f_rod + k K_rod a. */
static void linearise_rod(soft_system *s, const soft_point *at, const rod *r) {
    /* K_rod; one that pushes leaves it out where A is to stay positive definite */
    v3 d0 = rod_way(s, r, at->rod_q), turn = v3_sub(rod_way(s, r, at->q), d0);
    double L = v3_norm(d0), push = at->rod_impulse[at->rod_rows * r->equality] / at->step, across[3][3];
    if (!(L > 0) || push == 0 || (push > 0 && at->tangent != SOFT_EXACT)) {
        return;
    }
    const double n[3] = {d0.x / L, d0.y / L, d0.z / L};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            across[i][j] = -push / L * ((i == j) - n[i] * n[j]);
        }
    }
    /* forces; with elasticity as rows, q is that without the acceleration */
    v3 way = s->soft->rows ? turn : v3_axpy(turn, -at->stiffness, gather_rod(s, r, at->a));
    for (int side = 0; side < 2; side++) {
        int u = r->unknown[side];
        for (int i = 0; i < 3 && u >= 0; i++) {
            double f = across[i][0] * way.x + across[i][1] * way.y + across[i][2] * way.z;
            s->constant[3 * u + i] += side ? f : -f;
            for (int j = 0; j < 3; j++) {
                s->diagonal[u][i * STRIDE + j] += at->stiffness * across[i][j];
            }
        }
    }
    for (int k = 0; k < 9 && r->edge; k++) {
        r->edge[k / 3 * STRIDE + k % 3] -= at->stiffness * across[k / 3][k % 3];
    }
}

void soft_system_linearise(soft_system *s, const soft_point *at, double *force, double *strength) {
    start_blocks(s, at->extra);
    memset(s->constant, 0, 3 * (size_t)s->nodes * sizeof *s->constant);
    for (int k = 0; k < s->soft->ntet; k++) {
        linearise_tet(s, at, k);
    }
    add_chamber_forces(s->model, s->soft, at->q, at->pressure, s->constant, strength + s->tree->v0);
    for (int k = 0; k < s->soft->nchamber && at->tangent != SOFT_PROJECTED && at->pressure != 0; k++) {
        linearise_face(s, at, k);
    }
    for (int k = 0; k < s->rods && at->rod_impulse; k++) {
        linearise_rod(s, at, &s->rod[k]);
    }
    for (int j = 0; j < s->tree->nv; j++) {
        force[s->tree->v0 + j] += s->constant[j];
        strength[s->tree->v0 + j] += s->force[j / 3];
    }
}

sim_status soft_system_factor(soft_system *s) {
    spd_outcome outcome = s->nodes ? spd_factor(s->A) : SPD_FACTORED;
    s->failed = outcome != SPD_FACTORED;
    return outcome == SPD_FACTORED ? SIM_OK : outcome == SPD_NO_MEMORY ? SIM_NO_RESOURCE : SIM_FAILED;
}

/* ---- products ---- */

void soft_system_solve(soft_system *s, double *x) {
    if (s->nodes && (s->failed || spd_solve(s->A, x))) {
        for (int j = 0; j < 3 * s->nodes; j++) {
            x[j] = NAN;
        }
    }
}

sim_status soft_system_inverse_part(soft_system *s, int n, const int *dof, double *W) {
    if (s->failed) {
        for (ptrdiff_t k = 0; k < (ptrdiff_t)n * n; k++) {
            W[k] = NAN;
        }
        return SIM_OK;
    }
    return spd_inverse_part(s->A, n, dof, W);
}

/* y += B x, or B' x */
static void add_times(const double *B, bool transposed, const double *x, double *y) {
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            y[transposed ? c : r] += B[r * STRIDE + c] * x[transposed ? r : c];
        }
    }
}

void soft_system_times(const soft_system *s, const double *x, double *y) {
    memset(y, 0, 3 * (size_t)s->nodes * sizeof *y);
    for (int u = 0; u < s->nodes; u++) {
        add_times(s->diagonal[u], false, x + 3 * u, y + 3 * u);
    }
    for (int e = 0; e < s->edges; e++) {
        int row = 3 * s->of[e].a, column = 3 * s->of[e].b;
        add_times(s->between[e], false, x + column, y + row);
        add_times(s->between[e], true, x + row, y + column);
    }
}

static void copy_block(const double *B, size_t n, size_t row, size_t column, double *A) {
    for (size_t r = 0; r < 3; r++) {
        for (size_t c = 0; c < 3; c++) {
            A[(row + r) * n + column + c] = A[(column + c) * n + row + r] = B[r * STRIDE + c];
        }
    }
}

void soft_system_matrix(const soft_system *s, double *A) {
    size_t n = 3 * (size_t)s->nodes;
    memset(A, 0, n * n * sizeof *A);
    for (int u = 0; u < s->nodes; u++) {
        copy_block(s->diagonal[u], n, 3 * (size_t)u, 3 * (size_t)u, A);
    }
    for (int e = 0; e < s->edges; e++) {
        copy_block(s->between[e], n, 3 * (size_t)s->of[e].a, 3 * (size_t)s->of[e].b, A);
    }
}

void soft_system_diagonal(const soft_system *s, double *d) {
    for (int u = 0; u < s->nodes; u++) {
        for (int r = 0; r < 3; r++) {
            d[3 * u + r] = s->diagonal[u][r * (STRIDE + 1)];
        }
    }
}

void soft_system_forces(const soft_system *s, const double *a, double *out) {
    const double *own = a + s->tree->v0;
    soft_system_times(s, own, out);
    for (int j = 0; j < 3 * s->nodes; j++) {
        out[j] = s->constant[j] + s->inertia[j] * own[j] - out[j];
    }
}

double soft_system_energy(const soft_system *s, const double *q, const double *v, double *slope) {
    double energy = 0, u[12];
    for (int k = 0; k < s->soft->ntet; k++) {
        v3 x[4], f[4];
        for (int i = 0; i < 4; i++) {
            x[i] = soft_place(s->model, s->soft, s->soft->tet[k][i], q);
        }
        energy += eval_elastic_tet(&s->material, &s->tet[k], x, slope ? f : NULL);
        if (slope) {
            gather_corners(s, &s->at[k], v, u);
            *slope -= dense_dot(12, &f[0].x, u);
        }
    }
    return energy;
}

double soft_system_mass(const soft_system *s, int dof) { return s->mass[dof / 3]; }
