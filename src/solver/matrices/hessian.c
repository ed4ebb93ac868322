/* Hessian of the primal cost, H = A + J' G J, by blocks of pairs of trees.
 *
 * The part of each patch of constraints is summed in hessian_sum.c; patch_sums.c keeps it as long as its G does not
 * change.
 *
 * Reference: Castro, Permenter, Han 2021, secs. IV-A, IV-D. */
#include "solver/matrices/hessian.h"
#include "linalg/dense/strip.h"
#include "solver/matrices/hessian_sum.h"
#include "solver/matrices/patch_sums.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DENSE_DOFS = 64 }; /* of a tree, for products with A from the dense block */

const char *const hessian_methods[] = {
    [SPD_AUTO] = "auto", [SPD_DENSE] = "dense", [SPD_BLOCKS] = "blocks", [SPD_SUPERNODAL] = "supernodal", NULL};

struct hessian {
    patch_sums sums;
    spd *system;
    hessian_sum sum;
    double *padded; /* [largest node] */
};

static bool reserve_hessian_rows(void *self, int threads) {
    hessian *h = self;
    (void)threads;
    const patches *o = &h->sums.patches;
    int largest = 0;
    for (int node = 0; node < o->nodes; node++) {
        largest = o->graph.size[node] > largest ? o->graph.size[node] : largest;
    }
    h->padded = ARENA_NEW(h->sums.kept, double, strip_stride(largest) + 8);
    return h->padded && hessian_sum_make(&h->sum, o, h->sums.kept);
}

static void sum_hessian_patch(void *self, int thread, int k) {
    hessian *h = self;
    (void)thread;
    patch_sums *s = &h->sums;
    const patch *p = &s->patches.patch[k];
    spd_block between = p->b >= 0 ? spd_between(h->system, p->edge) : (spd_block){0};
    hessian_sum_patch(&h->sum, s->problem, &s->patches, p, s->G, s->part[2 * k], s->part[2 * k + 1], &between);
}

static double *hessian_diagonal_block(void *self, int node) {
    hessian *h = self;
    return spd_diagonal(h->system, node).value;
}

hessian *hessian_create(void) {
    hessian *h = calloc(1, sizeof *h);
    if (h) {
        bool ok = patch_sums_open(
            &h->sums, (patch_sums_matrix){h, reserve_hessian_rows, NULL, sum_hessian_patch, hessian_diagonal_block});
        h->system = spd_create();
        if (!ok || !h->system) {
            hessian_free(h);
            h = NULL;
        }
    }
    return h;
}

void hessian_free(hessian *h) {
    if (h) {
        spd_free(h->system);
        patch_sums_close(&h->sums);
        free(h);
    }
}

void *hessian_create_workspace(void) { return hessian_create(); }
void hessian_free_workspace(void *h) { hessian_free(h); }

const patches *hessian_patches(const hessian *h) { return &h->sums.patches; }
spd_work hessian_work(const hessian *h) { return spd_expected(h->system); }

bool hessian_prepare(hessian *h, const sim_problem *p, spd_method method) {
    return patch_sums_prepare(&h->sums, p, NULL) && !spd_analyse(h->system, &h->sums.patches.graph, method);
}

const double *hessian_mass(const hessian *h, int node) { return h->sums.A[node]; }

void hessian_mass_times(const hessian *h, const double *x, double *y) {
    /* trees that are large, of one free body, and dense */
    const patch_sums *s = &h->sums;
    const sim_mass *mass = &s->problem->mass;
    for (int node = 0; node < s->patches.nodes; node++) {
        int n = patch_sums_size(s, node), stride = strip_stride(n), tree = s->patches.tree[node];
        int v0 = s->problem->tree[tree].v0;
        if (n > MAX_DENSE_DOFS) {
            mass->times(mass->self, tree, x + v0, y + v0);
            continue;
        }
        if (n == 6) {
            strip_row_6(x + v0, s->A[node], y + v0);
            continue;
        }
        /* product with padded strips */
        memset(h->padded, 0, (size_t)stride * sizeof *h->padded);
        strip_update(1, stride, n, x + v0, 1, s->A[node], stride, h->padded, stride);
        for (int j = 0; j < n; j++) {
            y[v0 + j] = -h->padded[j];
        }
    }
}

void hessian_mass_diagonal(const hessian *h, double *diagonal) {
    const patch_sums *s = &h->sums;
    for (int node = 0; node < s->patches.nodes; node++) {
        int n = patch_sums_size(s, node), v0 = s->problem->tree[s->patches.tree[node]].v0;
        for (int j = 0; j < n; j++) {
            diagonal[v0 + j] = s->A[node][(ptrdiff_t)j * (strip_stride(n) + 1)];
        }
    }
}

void hessian_set(hessian *h, const cone_hessian *G) { patch_sums_set(&h->sums, G); }

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
    patch_sums_gather(&h->sums, x);
    if (spd_solve(h->system, h->sums.x)) {
        return false;
    }
    patch_sums_scatter(&h->sums, x);
    return true;
}
