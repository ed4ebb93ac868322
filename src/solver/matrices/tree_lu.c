/* LU factor of H = A + J' G J for one tree of bodies, from the tips to the root: articulated bodies with contacts.
 *
 *     V_b = X_b V_p + S_b v_b      velocity of body b, of its parent p and of its joint
 *     v' H v = sum_b V_b' P_b V_b + v' F v
 *
 *     P_b   inertia of b, and the contacts of b with what does not move, 6 x 6
 *     F     implicit terms of joints; constraints within the tree, which move only the dofs on the path between their
 *           two bodies
 *
 * H itself is dense for a chain.  Here the velocities of bodies stand between: body by body, from the tips,
 *
 *     H_ij = S_i' P S_j + S_i' C_j + R_i S_j + F_ij       i, j dofs of b;   with an ancestor's dof j:  S_i' C_j + F_ij
 *     P_p += X' P X,   C_p += X' C,   R_p += R X
 *
 * with C, R the couplings of V_b and the dofs on its path to the root.  Then Gauss eliminates the dofs of b, and updates F,
 * C_p, R_p, P_p.  Couplings reach up as far as the constraints across b do, no farther.  Where A and contacts belong to two
 * configurations of a step, V holds 12 numbers, six for each, and X and S likewise.
 *
 * Reference: Featherstone 2008, chapter 7 (without F); Duff, Erisman, Reid 1986, section 10.3 (envelopes).  Differs: two
 * couplings for an H that is not symmetric; no row exchanges, so the caller checks solutions.
 * Long: structure, factor and solution share one struct.
 * Cost: n (k^2 + 24 k + 500) multiplications for n dofs with k dofs within the reach of each; memory n (2 k + 24). */
#include "solver/matrices/tree_lu.h"
#include "math/dense.h"
#include "math/spatial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIX = 6, MAX_STATE = SIX * SIM_CHAINS };
static const double DENSE_ADVANTAGE = 3; /* multiplications a second of a dense factor over those here */
enum { PANEL = 8, AT_ONCE = 4 };         /* dofs whose products wait; rows added at once */

/* Where a constraint acts: on a body against the world, or on the dofs from `dof` up to depth `top`. */
typedef struct tree_reach {
    int body; /* -1: on dofs */
    int dof, top;
} tree_reach;

struct tree_lu {
    sim_arena *kept;
    const sim_problem *problem;
    const sim_problem_bodies *bodies;
    int n, m; /* dofs; numbers of a body's velocity */
    int nbody;
    tree_reach *reach; /* [nconstraint] */
    double work;
    /* dofs: the one before on the path, the number of those, and the least depth that its row reaches */
    int *up, *depth, *low;
    ptrdiff_t *at; /* of a row in U and L; by depth from `low` on */
    /* bodies: the last dof on the path, the least depth that C and R reach, their place */
    int *last, *body_low;
    ptrdiff_t *C_at;
    char *odd, *opens; /* levels from the root, as parity; is it the first that passes something to its parent? */
    /* values */
    double *D, *U, *L, *UV, *LV; /* pivots, later their inverse; rows; couplings with V_p [n m] */
    double *P, *C, *R;           /* [nbody m m]; by depth, m numbers each */
    double *S;                   /* [n m] */
    double *x, *g;               /* of a solution: [n]; V, or forces on it [nbody m] */
    /* dofs whose products with rows are still to be subtracted, one the parent of the other */
    int waiting, wait[PANEL];
    /* pairs of a constraint that are still to be added: x and y [n] by depth */
    int pairs, pair_of;
    double *pair[2][AT_ONCE], weight[AT_ONCE];
    ptrdiff_t entries, couplings;
};

tree_lu *tree_lu_create(void) {
    tree_lu *s = calloc(1, sizeof *s);
    if (s) {
        s->kept = arena_create();
        if (!s->kept) {
            tree_lu_free(s);
            s = NULL;
        }
    }
    return s;
}

void tree_lu_free(tree_lu *s) {
    if (s) {
        arena_free(s->kept);
        free(s);
    }
}

double tree_lu_multiplications(const tree_lu *s) { return s->work; }

/* ---- structure ---- */

static bool have_equal_chains(const sim_problem_bodies *b, int n) {
    const sim_body_chain *x = &b->chain[SIM_CHAIN_START], *y = &b->chain[SIM_CHAIN_MASS];
    bool same = memcmp(x->S, y->S, (size_t)n * sizeof *x->S) == 0;
    for (int i = 1; i < b->nbody && same; i++) { /* of the first nothing depends on r */
        same = memcmp(&x->r[i], &y->r[i], sizeof *x->r) == 0;
    }
    return same;
}

static void find_paths(tree_lu *s) {
    for (int i = 0; i < s->nbody; i++) {
        const sim_body_node *b = &s->bodies->node[i];
        int before = b->parent >= 0 ? s->last[b->parent] : -1;
        for (int j = b->v0; j < b->v0 + b->nv; j++) {
            s->up[j] = before;
            s->depth[j] = s->low[j] = before < 0 ? 0 : s->depth[before] + 1;
            before = j;
        }
        s->last[i] = before;
    }
}

static int depth_of(const tree_lu *s, int dof) { return dof < 0 ? -1 : s->depth[dof]; }

/* Is body a on the path of body b to the root? */
static bool is_ancestor(const tree_lu *s, int a, int b) {
    while (b > a) {
        b = s->bodies->node[b].parent;
    }
    return a == b;
}

/* The dofs of the columns of J that are not zero; false: they lie on no path. */
static bool find_columns(const tree_lu *s, const sim_constraint *c, tree_reach *to) {
    const sim_problem *p = s->problem;
    const double *J = p->J + c->block[0];
    sim_columns of = sim_block_columns(p, c, 0);
    *to = (tree_reach){-1, -1, 0};
    for (int j = of.first + of.count - 1, next = -1; j >= of.first; j--) {
        bool any = false;
        for (int k = 0; k < c->rows; k++) {
            any = any || J[(ptrdiff_t)k * s->n + j] != 0;
        }
        if (!any) {
            continue;
        }
        to->dof = to->dof < 0 ? j : to->dof;
        for (next = next < 0 ? j : next; next > j;) {
            next = s->up[next];
        }
        if (next != j) {
            return false;
        }
        to->top = s->depth[j];
    }
    return true;
}

/* false: the constraint joins two branches. */
static bool find_reach(tree_lu *s, int i) {
    const sim_body_rows *on = &s->bodies->rows[i];
    int a = on->body[0], b = on->body[1];
    tree_reach *to = &s->reach[i];
    if (a >= 0 && b >= 0) {
        int deep = a > b ? a : b, other = a > b ? b : a;
        *to = (tree_reach){-1, s->last[deep], depth_of(s, s->last[other]) + 1};
        return is_ancestor(s, other, deep);
    }
    if (a >= 0 || b >= 0) {
        *to = (tree_reach){a >= 0 ? a : b, -1, 0};
        return true;
    }
    return find_columns(s, &s->problem->constraint[i], to);
}

/* Least depths of rows and of C, from the constraints and upwards from the tips. */
static void find_envelope(tree_lu *s) {
    /* constraints */
    for (int i = 0; i < s->problem->nconstraint; i++) {
        for (int j = s->reach[i].dof; j >= 0 && s->depth[j] >= s->reach[i].top; j = s->up[j]) {
            s->low[j] = s->reach[i].top < s->low[j] ? s->reach[i].top : s->low[j];
        }
    }
    for (int i = 0; i < s->nbody; i++) {
        s->body_low[i] = depth_of(s, s->last[i]) + 1;
    }
    /* upwards */
    for (int i = s->nbody - 1; i >= 0; i--) {
        const sim_body_node *b = &s->bodies->node[i];
        int low = s->body_low[i];
        if (b->nv && s->depth[b->v0] < low) { /* the dofs of a body see each other */
            low = s->depth[b->v0];
        }
        for (int j = b->v0 + b->nv - 1; j >= b->v0; j--) {
            low = s->low[j] = s->low[j] < low ? s->low[j] : low;
        }
        if (b->parent >= 0 && low < s->body_low[b->parent]) {
            s->body_low[b->parent] = low;
        }
    }
}

/* Depths in C and R of a body. */
static int width_of(const tree_lu *s, int body) { return depth_of(s, s->last[body]) + 1 - s->body_low[body]; }

/* Places of rows, and the work. */
static void place_rows(tree_lu *s) {
    double m = s->m;
    s->entries = 0;
    s->work = 0;
    for (int j = 0; j < s->n; j++) {
        double k = s->depth[j] - s->low[j];
        s->at[j] = s->entries - s->low[j];
        s->entries += s->depth[j] - s->low[j];
        s->work += k * k + 2 * m * k + m * m;
    }
    for (int i = 0; i < s->nbody; i++) {
        int width = width_of(s, i);
        s->work += m * (2.0 * width * (s->bodies->node[i].nv + 2) + m * (s->bodies->node[i].nv + 8.0));
    }
}

/* Places of C and R, which only bodies on one path need at a time: two stacks, of even and odd levels, so that a body
 * stands on top of one while its parent opens on the other. */
static void place_couplings(tree_lu *s) {
    ptrdiff_t top[2] = {0}, most[2] = {0};
    for (int i = 0; i < s->nbody; i++) {
        int p = s->bodies->node[i].parent;
        s->odd[i] = (char)(p >= 0 ? !s->odd[p] : 0);
        s->C_at[i] = -1;
    }
    for (int i = s->nbody - 1; i >= 0; i--) {
        int p = s->bodies->node[i].parent;
        s->opens[i] = (char)(p >= 0 && s->C_at[p] < 0);
        if (s->opens[i]) {
            ptrdiff_t *at = &top[(int)s->odd[p]], *all = &most[(int)s->odd[p]];
            s->C_at[p] = *at;
            *at += width_of(s, p);
            *all = *at > *all ? *at : *all;
        }
        if (s->C_at[i] >= 0) {
            top[(int)s->odd[i]] = s->C_at[i];
        }
    }
    s->couplings = most[0] + most[1];
    for (int i = 0; i < s->nbody; i++) { /* by depth from body_low on; none at tips */
        ptrdiff_t at = s->C_at[i] < 0 ? 0 : s->C_at[i] + (s->odd[i] ? most[0] : 0);
        s->C_at[i] = s->m * (at - s->body_low[i]);
    }
}

static bool allocate_structure(tree_lu *s) {
    size_t n = (size_t)s->n, bodies = (size_t)s->nbody;
    int **of_dofs[] = {&s->up, &s->depth, &s->low}, **of_bodies[] = {&s->last, &s->body_low};
    bool ok = true;
    for (int k = 0; k < 3; k++) {
        *of_dofs[k] = ARENA_NEW(s->kept, int, n);
        ok = ok && *of_dofs[k];
    }
    for (int k = 0; k < 2; k++) {
        *of_bodies[k] = ARENA_NEW(s->kept, int, bodies);
        ok = ok && *of_bodies[k];
    }
    s->at = ARENA_NEW(s->kept, ptrdiff_t, n);
    s->C_at = ARENA_NEW(s->kept, ptrdiff_t, bodies);
    s->odd = ARENA_NEW(s->kept, char, bodies);
    s->opens = ARENA_NEW(s->kept, char, bodies);
    s->reach = ARENA_NEW(s->kept, tree_reach, s->problem->nconstraint);
    return ok && s->at && s->C_at && s->odd && s->opens && s->reach;
}

static bool allocate_values(tree_lu *s) {
    size_t n = (size_t)s->n, m = (size_t)s->m, bodies = (size_t)s->nbody;
    s->D = ARENA_NEW(s->kept, double, n);
    s->x = ARENA_NEW(s->kept, double, n);
    s->U = ARENA_NEW(s->kept, double, s->entries);
    s->L = ARENA_NEW(s->kept, double, s->entries);
    s->UV = ARENA_NEW(s->kept, double, n *m);
    s->LV = ARENA_NEW(s->kept, double, n *m);
    s->S = ARENA_NEW(s->kept, double, n *m);
    s->P = ARENA_NEW(s->kept, double, bodies *m *m);
    s->g = ARENA_NEW(s->kept, double, bodies *m);
    s->C = ARENA_NEW(s->kept, double, (size_t)s->couplings *m);
    s->R = ARENA_NEW(s->kept, double, (size_t)s->couplings *m);
    bool ok = true;
    for (int k = 0; k < 2 * AT_ONCE; k++) {
        s->pair[k / AT_ONCE][k % AT_ONCE] = ARENA_NEW(s->kept, double, n);
        ok = ok && s->pair[k / AT_ONCE][k % AT_ONCE];
    }
    return ok && s->D && s->x && s->U && s->L && s->UV && s->LV && s->S && s->P && s->g && s->C && s->R;
}

static void store_motion(motion m, double *x) {
    const double all[SIX] = {m.ang.x, m.ang.y, m.ang.z, m.lin.x, m.lin.y, m.lin.z};
    memcpy(x, all, sizeof all);
}

/* Place of a chain's six numbers in V. */
static int chain_at(const tree_lu *s, int chain) { return s->m > SIX ? SIX * chain : 0; }

static void copy_axes(tree_lu *s) {
    for (int j = 0; j < s->n; j++) {
        for (int k = 0; SIX * k < s->m; k++) {
            store_motion(s->bodies->chain[k].S[j], s->S + (ptrdiff_t)j * s->m + (ptrdiff_t)SIX * k);
        }
    }
}

/* Sums of J' G J and the factor against those of dense matrices. */
static bool saves_time(const tree_lu *s) {
    const sim_problem *p = s->problem;
    double n = s->n, sum = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        double k = s->reach[i].body >= 0 ? SIX : depth_of(s, s->reach[i].dof) + 1 - s->reach[i].top;
        sum += p->constraint[i].rows * k * k;
    }
    return DENSE_ADVANTAGE * (s->work + sum) < n * n * (n / 3 + p->nrow);
}

tree_lu_fit tree_lu_prepare(tree_lu *s, const sim_problem *p) {
    if (p->ntree != 1 || p->nv < TREE_LU_MIN_DOFS || !p->bodies) {
        return TREE_LU_UNFIT;
    }
    /* paths and reaches */
    arena_release(s->kept, 0);
    s->problem = p;
    s->bodies = sim_problem_find_bodies(p);
    s->n = p->nv;
    s->nbody = s->bodies->nbody;
    s->m = have_equal_chains(s->bodies, s->n) ? SIX : MAX_STATE;
    if (!allocate_structure(s)) {
        return TREE_LU_NO_MEMORY;
    }
    find_paths(s);
    for (int i = 0; i < p->nconstraint; i++) {
        if (!find_reach(s, i)) {
            return TREE_LU_UNFIT;
        }
    }
    /* envelope, work and memory */
    find_envelope(s);
    place_rows(s);
    place_couplings(s);
    if (!saves_time(s)) {
        return TREE_LU_UNFIT;
    }
    if (!allocate_values(s)) {
        return TREE_LU_NO_MEMORY;
    }
    copy_axes(s);
    return TREE_LU_FITS;
}

/* ---- H ---- */

/* Entry of a row of U or L at a depth; m numbers of C or R there. */
static double *row_at(const tree_lu *s, double *rows, int dof, int depth) { return rows + (s->at[dof] + depth); }
static double *coupling_at(const tree_lu *s, double *C, int body, int depth) {
    return C + (s->C_at[body] + (ptrdiff_t)depth * s->m);
}

static double *body_matrix(const tree_lu *s, int body) { return s->P + (ptrdiff_t)body * s->m * s->m; }

/* P += I, in the rows and columns of the chain of A. */
static void add_rigid(const tree_lu *s, const sim_body_inertia *I, double *P) {
    const double A[3][3] = {{I->I.xx, I->I.xy, I->I.xz}, {I->I.xy, I->I.yy, I->I.yz}, {I->I.xz, I->I.yz, I->I.zz}};
    const double h[3][3] = {{0, -I->h.z, I->h.y}, {I->h.z, 0, -I->h.x}, {-I->h.y, I->h.x, 0}};
    int m = s->m, first = chain_at(s, SIM_CHAIN_MASS);
    for (int i = 0; i < 3; i++) {
        double *ang = P + (ptrdiff_t)(first + i) * m + first, *lin = ang + 3 * (ptrdiff_t)m;
        lin[i + 3] += I->mass;
        for (int j = 0; j < 3; j++) {
            ang[j] += A[i][j];
            ang[j + 3] += h[i][j];
            lin[j] -= h[i][j];
        }
    }
}

void tree_lu_reset(tree_lu *s) {
    memset(s->P, 0, (size_t)s->nbody * (size_t)s->m * (size_t)s->m * sizeof *s->P);
    memset(s->U, 0, (size_t)s->entries * sizeof *s->U);
    memset(s->L, 0, (size_t)s->entries * sizeof *s->L);
    memcpy(s->D, s->bodies->diagonal, (size_t)s->n * sizeof *s->D);
    s->pairs = s->waiting = 0;
    for (int i = 0; i < s->nbody; i++) {
        add_rigid(s, &s->bodies->I[i], body_matrix(s, i));
    }
}

/* sum_k l_k J_kj */
static double combine_column(const double *J, int stride, int rows, const double *l, int j) {
    double sum = 0;
    for (int k = 0; k < rows; k++) {
        sum += l[k] * J[(ptrdiff_t)k * stride + j];
    }
    return sum;
}

static void add_on_body(const tree_lu *s, int i, const double *l, const double *q, double weight) {
    const sim_body_rows *on = &s->bodies->rows[i];
    const double *J = s->bodies->J + on->block[on->body[0] >= 0 ? 0 : 1];
    int rows = s->problem->constraint[i].rows, first = chain_at(s, on->chain);
    double x[SIX], y[SIX], *P = body_matrix(s, s->reach[i].body) + (ptrdiff_t)first * (s->m + 1);
    for (int j = 0; j < SIX; j++) {
        x[j] = weight * combine_column(J, SIX, rows, l, j);
        y[j] = combine_column(J, SIX, rows, q, j);
    }
    for (int j = 0; j < SIX; j++) {
        dense_axpy(SIX, x[j], y, P + (ptrdiff_t)j * s->m);
    }
}

/* y += sum_k f_k x_k over at most AT_ONCE rows of n numbers. */
static void add_rows(int n, int count, const double *f, const double *const *x, double *y) {
    if (count < AT_ONCE) {
        for (int k = 0; k < count; k++) {
            dense_axpy(n, f[k], x[k], y);
        }
        return;
    }
    int j = 0;
    for (; j + 4 <= n; j += 4) {
        simd4 a = f[0] * simd4_load(x[0] + j) + f[1] * simd4_load(x[1] + j);
        simd4 b = f[2] * simd4_load(x[2] + j) + f[3] * simd4_load(x[3] + j);
        simd4_store(y + j, simd4_load(y + j) + (a + b));
    }
    for (; j < n; j++) {
        y[j] += (f[0] * x[0][j] + f[1] * x[1][j]) + (f[2] * x[2][j] + f[3] * x[3][j]);
    }
}

/* H_ij += weight x_i y_j of the pairs that wait. */
static void add_pairs(tree_lu *s) {
    int top = s->pairs ? s->reach[s->pair_of].top : 0;
    for (int j = s->pairs ? s->reach[s->pair_of].dof : -1; j >= 0 && s->depth[j] >= top; j = s->up[j]) {
        int d = s->depth[j];
        double f[2][AT_ONCE];
        const double *row[2][AT_ONCE];
        for (int k = 0; k < s->pairs; k++) {
            for (int side = 0; side < 2; side++) {
                f[side][k] = s->weight[k] * s->pair[side][k][d];
                row[side][k] = s->pair[1 - side][k] + top;
            }
            s->D[j] += f[0][k] * s->pair[1][k][d];
        }
        add_rows(d - top, s->pairs, f[0], row[0], row_at(s, s->U, j, top));
        add_rows(d - top, s->pairs, f[1], row[1], row_at(s, s->L, j, top));
    }
    s->pairs = 0;
}

void tree_lu_add(tree_lu *s, int i, const double *l, const double *q, double weight) {
    if (s->reach[i].body >= 0) {
        add_on_body(s, i, l, q, weight);
        return;
    }
    if (s->pairs == AT_ONCE || s->pair_of != i) {
        add_pairs(s);
    }
    /* x = J' l and y = J' q along the path, by depth */
    const sim_constraint *c = &s->problem->constraint[i];
    const double *J = s->problem->J + c->block[0];
    double *x = s->pair[0][s->pairs], *y = s->pair[1][s->pairs];
    for (int j = s->reach[i].dof; j >= 0 && s->depth[j] >= s->reach[i].top; j = s->up[j]) {
        x[s->depth[j]] = combine_column(J, s->n, c->rows, l, j);
        y[s->depth[j]] = combine_column(J, s->n, c->rows, q, j);
    }
    s->weight[s->pairs++] = weight;
    s->pair_of = i;
}

/* ---- factor ---- */

/* A force, taken at the parent's origin, in both chains. */
static void shift_force(const tree_lu *s, int body, ptrdiff_t step, double *F) {
    for (int k = 0; SIX * k < s->m; k++) {
        v3 r = s->bodies->chain[k].r[body];
        double *f = F + SIX * k * step, x = f[3 * step], y = f[4 * step], z = f[5 * step];
        f[0] += r.y * z - r.z * y;
        f[step] += r.z * x - r.x * z;
        f[2 * step] += r.x * y - r.y * x;
    }
}

/* y = P x or P' x */
static void matrix_times(int m, const double *P, bool transposed, const double *x, double *y) {
    memset(y, 0, (size_t)m * sizeof *y);
    for (int k = 0; k < m; k++) {
        if (transposed) {
            dense_axpy(m, x[k], P + (ptrdiff_t)k * m, y);
        } else {
            y[k] = dense_dot(m, P + (ptrdiff_t)k * m, x);
        }
    }
}

/* H of the dofs of a body: with each other, with those before, with V_p. */
static void find_rows(tree_lu *s, int body) {
    const sim_body_node *b = &s->bodies->node[body];
    const double *P = body_matrix(s, body);
    int m = s->m, first = b->nv ? s->depth[b->v0] : 0;
    for (int i = b->v0; i < b->v0 + b->nv; i++) {
        const double *S = s->S + (ptrdiff_t)i * m;
        double *UV = s->UV + (ptrdiff_t)i * m, *LV = s->LV + (ptrdiff_t)i * m;
        int d = s->depth[i], low = s->body_low[body];
        /* S' P + R_i, P S + C_i */
        matrix_times(m, P, true, S, UV);
        matrix_times(m, P, false, S, LV);
        if (d >= low) {
            dense_axpy(m, 1, coupling_at(s, s->R, body, d), UV);
            dense_axpy(m, 1, coupling_at(s, s->C, body, d), LV);
        }
        /* dofs of ancestors */
        for (int e = low; e < first; e++) {
            *row_at(s, s->U, i, e) += dense_dot(m, S, coupling_at(s, s->C, body, e));
            *row_at(s, s->L, i, e) += dense_dot(m, S, coupling_at(s, s->R, body, e));
        }
        /* own dofs */
        for (int j = b->v0; j <= i; j++) {
            const double *other = s->S + (ptrdiff_t)j * m;
            int e = s->depth[j];
            double upper = dense_dot(m, UV, other), lower = dense_dot(m, LV, other);
            if (e >= low) {
                upper += dense_dot(m, S, coupling_at(s, s->C, body, e));
                lower += dense_dot(m, S, coupling_at(s, s->R, body, e));
            }
            if (j == i) {
                s->D[i] += upper;
            } else {
                *row_at(s, s->U, i, e) += upper;
                *row_at(s, s->L, i, e) += lower;
            }
        }
    }
}

/* P, C and R of a body to its parent; the couplings of its dofs likewise. */
static void pass_to_parent(tree_lu *s, int body) {
    const sim_body_node *b = &s->bodies->node[body];
    int m = s->m, p = b->parent;
    double *P = body_matrix(s, body), *to = body_matrix(s, p);
    for (int k = 0; k < m; k++) {
        shift_force(s, body, 1, P + (ptrdiff_t)k * m);
    }
    for (int k = 0; k < m; k++) {
        shift_force(s, body, m, P + k);
    }
    dense_axpy(m * m, 1, P, to);
    if (s->opens[body] && width_of(s, p) > 0) {
        size_t bytes = (size_t)width_of(s, p) * (size_t)m * sizeof *s->C;
        memset(coupling_at(s, s->C, p, s->body_low[p]), 0, bytes);
        memset(coupling_at(s, s->R, p, s->body_low[p]), 0, bytes);
    }
    for (int e = s->body_low[body]; e <= depth_of(s, s->last[p]); e++) {
        double *C = coupling_at(s, s->C, body, e), *R = coupling_at(s, s->R, body, e);
        shift_force(s, body, 1, C);
        shift_force(s, body, 1, R);
        dense_axpy(m, 1, C, coupling_at(s, s->C, p, e));
        dense_axpy(m, 1, R, coupling_at(s, s->R, p, e));
    }
    for (int i = b->v0; i < b->v0 + b->nv; i++) {
        shift_force(s, body, 1, s->UV + (ptrdiff_t)i * m);
        shift_force(s, body, 1, s->LV + (ptrdiff_t)i * m);
    }
}

/* Subtracts the products of the dofs that wait from the row of dof j before them. */
static void subtract_waiting(tree_lu *s, int j) {
    int d = s->depth[j];
    for (int first = 0; first < s->waiting; first += AT_ONCE) {
        double f[2][AT_ONCE];
        const double *row[2][AT_ONCE];
        int count = 0, low = d; /* of the first that reaches j; those before it reach at least as far up */
        for (int k = first; k < s->waiting && k < first + AT_ONCE; k++) {
            int i = s->wait[k];
            if (s->low[i] > d) {
                continue;
            }
            low = count ? low : s->low[i];
            double U = *row_at(s, s->U, i, d), L = *row_at(s, s->L, i, d);
            f[0][count] = -s->D[i] * L;
            f[1][count] = -s->D[i] * U;
            s->D[j] += f[0][count] * U;
            row[0][count] = row_at(s, s->U, i, low);
            row[1][count] = row_at(s, s->L, i, low);
            /* the part that the first does not reach */
            dense_axpy(low - s->low[i], f[0][count], row_at(s, s->U, i, s->low[i]), row_at(s, s->U, j, s->low[i]));
            dense_axpy(low - s->low[i], f[1][count], row_at(s, s->L, i, s->low[i]), row_at(s, s->L, j, s->low[i]));
            count++;
        }
        add_rows(d - low, count, f[0], row[0], row_at(s, s->U, j, low));
        add_rows(d - low, count, f[1], row[1], row_at(s, s->L, j, low));
    }
}

/* Subtracts them from all rows before. */
static void end_panel(tree_lu *s) {
    int low = s->waiting ? s->low[s->wait[s->waiting - 1]] : 0;
    for (int j = s->waiting ? s->up[s->wait[s->waiting - 1]] : -1; j >= 0 && s->depth[j] >= low; j = s->up[j]) {
        subtract_waiting(s, j);
    }
    s->waiting = 0;
}

/* Subtracts the products of dof i from the couplings of dofs before it with V_p, and from P_p; those with rows wait. */
static bool eliminate_dof(tree_lu *s, int body, int i) {
    const sim_body_node *b = &s->bodies->node[body];
    int m = s->m, low = s->low[i], p = b->parent;
    /* products of dofs behind it */
    if (s->waiting == PANEL || (s->waiting && s->up[s->wait[s->waiting - 1]] != i)) {
        end_panel(s);
    } else {
        subtract_waiting(s, i);
    }
    double over = 1 / s->D[i];
    s->D[i] = over;
    s->wait[s->waiting++] = i;
    if (!isfinite(over)) {
        return false;
    }
    /* V_p */
    const double *U = row_at(s, s->U, i, low), *L = row_at(s, s->L, i, low);
    const double *UV = s->UV + (ptrdiff_t)i * m, *LV = s->LV + (ptrdiff_t)i * m;
    for (int j = s->up[i]; j >= 0 && s->depth[j] >= low && p >= 0; j = s->up[j]) {
        int d = s->depth[j];
        double f = over * L[d - low], h = over * U[d - low];
        bool own = j >= b->v0;
        dense_axpy(m, -f, UV, own ? s->UV + (ptrdiff_t)j * m : coupling_at(s, s->R, p, d));
        dense_axpy(m, -h, LV, own ? s->LV + (ptrdiff_t)j * m : coupling_at(s, s->C, p, d));
    }
    for (int k = 0; k < m && p >= 0; k++) {
        dense_axpy(m, -over * LV[k], UV, body_matrix(s, p) + (ptrdiff_t)k * m);
    }
    return true;
}

bool tree_lu_factor(tree_lu *s) {
    add_pairs(s);
    for (int body = s->nbody - 1; body >= 0; body--) {
        const sim_body_node *b = &s->bodies->node[body];
        find_rows(s, body);
        if (b->parent >= 0) {
            pass_to_parent(s, body);
        }
        for (int i = b->v0 + b->nv - 1; i >= b->v0; i--) {
            if (!eliminate_dof(s, body, i)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- solution ---- */

/* Forward: x <- L^-1 x, forces on bodies along. */
static void solve_inwards(tree_lu *s, double *x) {
    int m = s->m;
    memset(s->g, 0, (size_t)s->nbody * (size_t)m * sizeof *s->g);
    for (int body = s->nbody - 1; body >= 0; body--) {
        const sim_body_node *b = &s->bodies->node[body];
        double *g = s->g + (ptrdiff_t)body * m, *to = b->parent >= 0 ? s->g + (ptrdiff_t)b->parent * m : NULL;
        for (int i = b->v0; i < b->v0 + b->nv; i++) {
            x[i] += dense_dot(m, s->S + (ptrdiff_t)i * m, g);
        }
        if (to) {
            shift_force(s, body, 1, g);
            dense_axpy(m, 1, g, to);
        }
        for (int i = b->v0 + b->nv - 1; i >= b->v0; i--) {
            double f = x[i] * s->D[i];
            for (int j = s->up[i]; j >= 0 && s->depth[j] >= s->low[i]; j = s->up[j]) {
                x[j] -= f * *row_at(s, s->L, i, s->depth[j]);
            }
            if (to) {
                dense_axpy(m, -f, s->LV + (ptrdiff_t)i * m, to);
            }
        }
    }
}

/* V at a child's origin, in both chains. */
static void shift_motion(const tree_lu *s, int body, const double *parent, double *V) {
    for (int k = 0; SIX * k < s->m; k++) {
        const double *w = parent + SIX * (ptrdiff_t)k;
        motion at = {{w[0], w[1], w[2]}, {w[3], w[4], w[5]}};
        store_motion(motion_at_child(at, s->bodies->chain[k].r[body]), V + SIX * (ptrdiff_t)k);
    }
}

/* Backward: x <- U^-1 x, velocities of bodies along. */
static void solve_outwards(tree_lu *s, double *x) {
    int m = s->m;
    for (int body = 0; body < s->nbody; body++) {
        const sim_body_node *b = &s->bodies->node[body];
        double *V = s->g + (ptrdiff_t)body * m;
        const double *from = b->parent >= 0 ? s->g + (ptrdiff_t)b->parent * m : NULL;
        memset(V, 0, (size_t)m * sizeof *V);
        if (from) {
            shift_motion(s, body, from, V);
        }
        for (int i = b->v0; i < b->v0 + b->nv; i++) {
            double sum = from ? x[i] - dense_dot(m, s->UV + (ptrdiff_t)i * m, from) : x[i];
            for (int j = s->up[i]; j >= 0 && s->depth[j] >= s->low[i]; j = s->up[j]) {
                sum -= *row_at(s, s->U, i, s->depth[j]) * x[j];
            }
            x[i] = sum * s->D[i];
            dense_axpy(m, x[i], s->S + (ptrdiff_t)i * m, V);
        }
    }
}

void tree_lu_solve(tree_lu *s, double *x) {
    solve_inwards(s, x);
    solve_outwards(s, x);
}
