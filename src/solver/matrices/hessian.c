/* Hessian of the primal cost, H = A + J' G J, by blocks of pairs of trees.
 *
 * The part of each patch of constraints is summed in hessian_sum.c and its diagonal blocks are kept apart, so that a
 * patch whose G has not changed needs no work.
 *
 * Reference: Castro, Permenter, Han 2021, secs. IV-A, IV-D. */
#include "solver/matrices/hessian.h"
#include "linalg/strip.h"
#include "solver/matrices/hessian_sum.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DENSE_DOFS = 64 }; /* of a tree, for products with A from the dense block */

const char *const hessian_methods[] = {
    [SPD_AUTO] = "auto", [SPD_DENSE] = "dense", [SPD_BLOCKS] = "blocks", [SPD_SUPERNODAL] = "supernodal", NULL};

struct hessian {
    sim_arena *kept, *scratch;
    spd *system;
    patches patches;
    const sim_problem *problem;
    bool known;             /* the structure of a problem is at hand: */
    sim_problem_tree *tree; /* copies for the comparison with the next problem */
    int ntree, nconstraint;
    int (*touched)[3]; /* [nconstraint] trees and rows */
    double **A;        /* [nodes] padded */
    double **part;     /* [2 patches] of the diagonal blocks of a and b */
    cone_hessian *G;   /* [nconstraint] as of the last sum */
    char *stale;       /* [nodes] diagonal block to be summed again */
    bool summed;       /* since A and J were set */
    hessian_sum sum;
    double *x, *padded; /* [unknowns], [largest node] */
};

hessian *hessian_create(void) {
    hessian *h = calloc(1, sizeof *h);
    if (h) {
        h->kept = arena_create();
        h->scratch = arena_create();
        h->system = spd_create();
        if (!h->kept || !h->scratch || !h->system) {
            hessian_free(h);
            h = NULL;
        }
    }
    return h;
}

void hessian_free(hessian *h) {
    if (h) {
        spd_free(h->system);
        arena_free(h->scratch);
        arena_free(h->kept);
        free(h);
    }
}

void *hessian_create_workspace(void) { return hessian_create(); }
void hessian_free_workspace(void *h) { hessian_free(h); }

const patches *hessian_patches(const hessian *h) { return &h->patches; }
spd_work hessian_work(const hessian *h) { return spd_expected(h->system); }

static int size_of(const hessian *h, int node) { return h->patches.graph.size[node]; }
static ptrdiff_t block_numbers(const hessian *h, int node) {
    return (ptrdiff_t)size_of(h, node) * strip_stride(size_of(h, node));
}

static bool same_structure(const hessian *h, const sim_problem *p) {
    if (!h->known || h->ntree != p->ntree || h->nconstraint != p->nconstraint) {
        return false;
    }
    for (int t = 0; t < p->ntree; t++) {
        if (h->tree[t].nv != p->tree[t].nv) {
            return false;
        }
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (h->touched[i][0] != c->tree[0] || h->touched[i][1] != c->tree[1] || h->touched[i][2] != c->rows) {
            return false;
        }
    }
    return true;
}

static bool copy_structure(hessian *h, const sim_problem *p) {
    h->ntree = p->ntree;
    h->nconstraint = p->nconstraint;
    h->tree = ARENA_NEW(h->kept, sim_problem_tree, p->ntree);
    h->touched = arena_alloc(h->kept, (size_t)p->nconstraint, sizeof *h->touched);
    if (!h->tree || !h->touched) {
        return false;
    }
    for (int t = 0; t < p->ntree; t++) {
        h->tree[t] = p->tree[t];
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        h->touched[i][0] = c->tree[0];
        h->touched[i][1] = c->tree[1];
        h->touched[i][2] = c->rows;
    }
    return true;
}

static bool reserve_padded(hessian *h) {
    int largest = 0;
    for (int node = 0; node < h->patches.nodes; node++) {
        largest = size_of(h, node) > largest ? size_of(h, node) : largest;
    }
    h->padded = ARENA_NEW(h->kept, double, strip_stride(largest) + 8);
    return h->padded != NULL;
}

/* Memory that depends on the structure. */
static bool reserve_blocks(hessian *h) {
    const patches *o = &h->patches;
    h->A = ARENA_NEW(h->kept, double *, o->nodes);
    h->part = ARENA_NEW(h->kept, double *, 2 * o->count);
    h->G = ARENA_NEW(h->kept, cone_hessian, h->nconstraint);
    h->stale = ARENA_NEW(h->kept, char, o->nodes);
    h->x = ARENA_NEW(h->kept, double, o->start[o->nodes]);
    bool ok = h->A && h->part && h->G && h->stale && h->x && reserve_padded(h) && hessian_sum_make(&h->sum, o, h->kept);
    for (int node = 0; node < o->nodes && ok; node++) {
        h->A[node] = ARENA_NEW(h->kept, double, block_numbers(h, node));
        ok = h->A[node] != NULL;
    }
    for (int k = 0; k < o->count && ok; k++) {
        h->part[2 * k] = ARENA_NEW(h->kept, double, block_numbers(h, o->patch[k].a));
        h->part[2 * k + 1] = o->patch[k].b >= 0 ? ARENA_NEW(h->kept, double, block_numbers(h, o->patch[k].b)) : NULL;
        ok = h->part[2 * k] && (o->patch[k].b < 0 || h->part[2 * k + 1]);
    }
    return ok;
}

/* Copies A of every node with padded rows, from the last row to the first. */
static void copy_mass(hessian *h) {
    const sim_mass *mass = &h->problem->mass;
    for (int node = 0; node < h->patches.nodes; node++) {
        int n = size_of(h, node), stride = strip_stride(n);
        double *A = h->A[node];
        mass->matrix(mass->self, h->patches.tree[node], A);
        for (int r = n - 1; r >= 0; r--) {
            memmove(A + (ptrdiff_t)r * stride, A + (ptrdiff_t)r * n, (size_t)n * sizeof *A);
            memset(A + (ptrdiff_t)r * stride + n, 0, (size_t)(stride - n) * sizeof *A);
        }
    }
}

bool hessian_prepare(hessian *h, const sim_problem *p, spd_method method) {
    h->problem = p;
    if (!same_structure(h, p)) {
        arena_release(h->kept, 0);
        h->known = copy_structure(h, p) && patches_find(p, h->kept, h->scratch, &h->patches) && reserve_blocks(h);
    }
    h->summed = false;
    if (!h->known || spd_analyse(h->system, &h->patches.graph, method)) {
        return false;
    }
    copy_mass(h);
    return true;
}

const double *hessian_mass(const hessian *h, int node) { return h->A[node]; }

void hessian_mass_times(const hessian *h, const double *x, double *y) {
    for (int node = 0; node < h->patches.nodes; node++) {
        int n = size_of(h, node), stride = strip_stride(n), v0 = h->problem->tree[h->patches.tree[node]].v0;
        if (n > MAX_DENSE_DOFS) {
            h->problem->mass.times(h->problem->mass.self, h->patches.tree[node], x + v0, y + v0);
            continue;
        }
        if (n == 6) {
            strip_row_6(x + v0, h->A[node], y + v0);
            continue;
        }
        memset(h->padded, 0, (size_t)stride * sizeof *h->padded);
        strip_update(1, stride, n, x + v0, 1, h->A[node], stride, h->padded, stride);
        for (int j = 0; j < n; j++) {
            y[v0 + j] = -h->padded[j];
        }
    }
}

void hessian_mass_diagonal(const hessian *h, double *diagonal) {
    for (int node = 0; node < h->patches.nodes; node++) {
        int n = size_of(h, node), v0 = h->problem->tree[h->patches.tree[node]].v0;
        for (int j = 0; j < n; j++) {
            diagonal[v0 + j] = h->A[node][(ptrdiff_t)j * (strip_stride(n) + 1)];
        }
    }
}

static void sum_patch(hessian *h, int k) {
    const patch *p = &h->patches.patch[k];
    spd_block between = p->b >= 0 ? spd_between(h->system, p->edge) : (spd_block){0};
    hessian_sum_patch(&h->sum, h->problem, &h->patches, p, h->G, h->part[2 * k], h->part[2 * k + 1], &between);
    h->stale[p->a] = 1;
    if (p->b >= 0) {
        h->stale[p->b] = 1;
    }
}

/* Copies G of a patch; true if it changed. */
static bool update_G(hessian *h, const patch *p, const cone_hessian *G) {
    bool any = !h->summed;
    for (int k = 0; k < p->count; k++) {
        int i = h->patches.constraint[p->first + k];
        if (!h->summed || memcmp(&h->G[i], &G[i], sizeof *G) != 0) {
            h->G[i] = G[i];
            any = true;
        }
    }
    return any;
}

static void add_block(double *to, const double *from, ptrdiff_t count) {
    for (ptrdiff_t j = 0; j < count; j += 4) {
        simd4 sum = simd4_load(to + j) + simd4_load(from + j);
        memcpy(to + j, &sum, sizeof sum);
    }
}

void hessian_set(hessian *h, const cone_hessian *G) {
    const patches *o = &h->patches;
    memset(h->stale, 0, (size_t)o->nodes);
    /* patches whose G changed: their part of H_aa, H_bb and H_ab */
    for (int k = 0; k < o->count; k++) {
        if (update_G(h, &o->patch[k], G)) {
            sum_patch(h, k);
        }
    }
    /* diagonal blocks of their nodes: A, and the parts of all patches */
    for (int node = 0; node < o->nodes; node++) {
        double *H = h->stale[node] ? spd_diagonal(h->system, node).value : NULL;
        if (H && size_of(h, node) == 6) {
            memcpy(H, h->A[node], 48 * sizeof *H);
        } else if (H) {
            memcpy(H, h->A[node], (size_t)block_numbers(h, node) * sizeof *H);
        }
    }
    for (int k = 0; k < o->count; k++) {
        for (int side = 0; side < 2; side++) {
            int node = side ? o->patch[k].b : o->patch[k].a;
            if (node >= 0 && h->stale[node]) {
                add_block(spd_diagonal(h->system, node).value, h->part[2 * k + side], block_numbers(h, node));
            }
        }
    }
    h->summed = true;
}

hessian_result hessian_factor(hessian *h) {
    switch (spd_factor(h->system)) {
    case SPD_FACTORED:
        return HESSIAN_FACTORED;
    case SPD_NOT_POSITIVE:
        return HESSIAN_INDEFINITE;
    default:
        return HESSIAN_NO_MEMORY;
    }
}

bool hessian_solve(hessian *h, double *x) {
    const patches *o = &h->patches;
    for (int back = 0; back < 2; back++) {
        for (int node = 0; node < o->nodes; node++) {
            double *all = x + h->problem->tree[o->tree[node]].v0, *own = h->x + o->start[node];
            memcpy(back ? all : own, back ? own : all, (size_t)size_of(h, node) * sizeof *x);
        }
        if (!back && spd_solve(h->system, h->x)) {
            return false;
        }
    }
    return true;
}
