/* Sums A + J' G J over patches of constraints.
 *
 * A and the part of each patch in the diagonal blocks are kept apart, so that a patch whose G has not changed needs no
 * work.  The structure and all memory are kept while trees and constraints connect in the same way. */
#include "solver/matrices/patch_sums.h"
#include "linalg/blocks.h"
#include "linalg/dense/strip.h"

#include <string.h>

bool patch_sums_open(patch_sums *s, patch_sums_matrix matrix) {
    s->matrix = matrix;
    s->kept = arena_create();
    s->scratch = arena_create();
    return s->kept && s->scratch;
}

void patch_sums_close(patch_sums *s) {
    arena_free(s->scratch);
    arena_free(s->kept);
}

static size_t block_numbers(const patch_sums *s, int node) {
    int n = patch_sums_size(s, node);
    return (size_t)n * (size_t)strip_stride(n);
}

static bool has_structure(const patch_sums *s, const sim_problem *p) {
    bool same = s->known && s->ntree == p->ntree && s->nconstraint == p->nconstraint;
    for (int t = 0; t < p->ntree && same; t++) {
        same = s->tree[t].nv == p->tree[t].nv;
    }
    for (int i = 0; i < p->nconstraint && same; i++) {
        const sim_constraint *c = &p->constraint[i];
        same = s->touched[i][0] == c->tree[0] && s->touched[i][1] == c->tree[1] && s->touched[i][2] == c->rows;
    }
    return same;
}

static bool copy_structure(patch_sums *s, const sim_problem *p) {
    s->ntree = p->ntree;
    s->nconstraint = p->nconstraint;
    s->tree = ARENA_NEW(s->kept, sim_problem_tree, p->ntree);
    s->touched = arena_alloc(s->kept, (size_t)p->nconstraint, sizeof *s->touched);
    if (!s->tree || !s->touched) {
        return false;
    }
    for (int t = 0; t < p->ntree; t++) {
        s->tree[t] = p->tree[t];
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        s->touched[i][0] = c->tree[0];
        s->touched[i][1] = c->tree[1];
        s->touched[i][2] = c->rows;
    }
    return true;
}

static int node_of_part(const patch_sums *s, int part) {
    const patch *p = &s->patches.patch[part / 2];
    return part % 2 ? p->b : p->a;
}

/* By node, the parts of its diagonal block. */
static bool list_parts(patch_sums *s) {
    const patches *o = &s->patches;
    s->part_start = ARENA_NEW(s->kept, int, o->nodes + 2);
    s->node_part = ARENA_NEW(s->kept, int, 2 * o->count);
    if (!s->part_start || !s->node_part) {
        return false;
    }
    memset(s->part_start, 0, ((size_t)o->nodes + 2) * sizeof *s->part_start);
    for (int k = 0; k < 2 * o->count; k++) {
        int node = node_of_part(s, k);
        s->part_start[node + 2] += node >= 0;
    }
    for (int node = 0; node < o->nodes; node++) {
        s->part_start[node + 2] += s->part_start[node + 1];
    }
    for (int k = 0; k < 2 * o->count; k++) {
        int node = node_of_part(s, k);
        if (node >= 0) {
            s->node_part[s->part_start[node + 1]++] = k;
        }
    }
    return true;
}

static bool allocate_sums(patch_sums *s) {
    const patches *o = &s->patches;
    /* lists */
    s->A = ARENA_NEW(s->kept, double *, o->nodes);
    s->part = ARENA_NEW(s->kept, double *, 2 * o->count);
    s->G = ARENA_NEW(s->kept, cone_hessian, s->nconstraint);
    s->diagonal = ARENA_NEW(s->kept, double *, o->nodes);
    s->changed = ARENA_NEW(s->kept, int, o->count);
    s->x = ARENA_NEW(s->kept, double, o->start[o->nodes]);
    bool ok = s->A && s->part && s->G && s->diagonal && s->changed && s->x && list_parts(s);
    /* blocks */
    for (int node = 0; node < o->nodes && ok; node++) {
        s->A[node] = ARENA_NEW(s->kept, double, block_numbers(s, node));
        ok = s->A[node] != NULL;
    }
    for (int k = 0; k < o->count && ok; k++) {
        const patch *p = &o->patch[k];
        s->part[2 * k] = ARENA_NEW(s->kept, double, block_numbers(s, p->a));
        s->part[2 * k + 1] = p->b >= 0 ? ARENA_NEW(s->kept, double, block_numbers(s, p->b)) : NULL;
        ok = s->part[2 * k] && (p->b < 0 || s->part[2 * k + 1]);
    }
    return ok;
}

/* Copies A of every node; rows are padded in place, from the last to the first. */
static void copy_mass(patch_sums *s) {
    const sim_mass *mass = &s->problem->mass;
    for (int node = 0; node < s->patches.nodes; node++) {
        int n = patch_sums_size(s, node), stride = strip_stride(n);
        double *A = s->A[node];
        mass->matrix(mass->self, s->patches.tree[node], A);
        for (int r = n - 1; r >= 0; r--) {
            memmove(A + (ptrdiff_t)r * stride, A + (ptrdiff_t)r * n, (size_t)n * sizeof *A);
            memset(A + (ptrdiff_t)r * stride + n, 0, (size_t)(stride - n) * sizeof *A);
        }
    }
}

bool patch_sums_prepare(patch_sums *s, const sim_problem *p, sim_threads *threads) {
    int workers = threads ? threads_count(threads) : 1;
    s->problem = p;
    s->threads = threads;
    s->summed = false;
    if (!has_structure(s, p) || s->workers < workers) {
        arena_release(s->kept, 0);
        s->workers = workers;
        s->known = copy_structure(s, p) && patches_find(p, s->kept, s->scratch, &s->patches) && allocate_sums(s) &&
                   s->matrix.reserve(s->matrix.self, workers);
    }
    if (s->known) {
        copy_mass(s);
    }
    return s->known;
}

/* Copies G of a patch; true if it changed. */
static bool update_G(patch_sums *s, const patch *p, const cone_hessian *G) {
    bool any = !s->summed;
    for (int k = 0; k < p->count; k++) {
        int i = s->patches.constraint[p->first + k];
        if (!s->summed || memcmp(&s->G[i], &G[i], sizeof *G) != 0) {
            s->G[i] = G[i];
            any = true;
        }
    }
    return any;
}

static void add_block(double *to, const double *from, size_t count) {
    for (size_t j = 0; j < count; j += 4) {
        simd4 sum = simd4_load(to + j) + simd4_load(from + j);
        memcpy(to + j, &sum, sizeof sum);
    }
}

static void sum_changed(void *context, int worker, int first, int end) {
    patch_sums *s = context;
    for (int k = first; k < end; k++) {
        s->matrix.sum_patch(s->matrix.self, worker, s->changed[k]);
    }
}

/* Diagonal blocks of nodes: A, and the parts of all patches. */
static void sum_nodes(void *context, int worker, int first, int end) {
    patch_sums *s = context;
    (void)worker;
    for (int node = first; node < end; node++) {
        if (!s->diagonal[node]) {
            continue;
        }
        int n = patch_sums_size(s, node);
        spd_blocks_copy(s->diagonal[node], s->A[node], n, strip_stride(n));
        for (int k = s->part_start[node]; k < s->part_start[node + 1]; k++) {
            add_block(s->diagonal[node], s->part[s->node_part[k]], block_numbers(s, node));
        }
    }
}

static void share_sums(patch_sums *s, int items, threads_task *task) {
    if (s->threads) {
        threads_run_dynamic(s->threads, items, task, s);
    } else {
        task(s, 0, 0, items);
    }
}

void patch_sums_set(patch_sums *s, const cone_hessian *G) {
    const patches *o = &s->patches;
    const patch_sums_matrix *matrix = &s->matrix;
    int count = 0;
    for (int node = 0; node < o->nodes; node++) {
        s->diagonal[node] = NULL;
    }
    /* patches whose G changed */
    for (int k = 0; k < o->count; k++) {
        const patch *p = &o->patch[k];
        if (update_G(s, p, G)) {
            s->changed[count++] = k;
            if (matrix->mark_patch) {
                matrix->mark_patch(matrix->self, k);
            }
            s->diagonal[p->a] = matrix->diagonal_block(matrix->self, p->a);
            if (p->b >= 0) {
                s->diagonal[p->b] = matrix->diagonal_block(matrix->self, p->b);
            }
        }
    }
    share_sums(s, count, sum_changed);
    share_sums(s, o->nodes, sum_nodes);
    s->summed = true;
}

void patch_sums_gather(patch_sums *s, const double *x) {
    const patches *o = &s->patches;
    for (int node = 0; node < o->nodes; node++) {
        memcpy(s->x + o->start[node], x + s->problem->tree[o->tree[node]].v0,
               (size_t)patch_sums_size(s, node) * sizeof *x);
    }
}

void patch_sums_scatter(const patch_sums *s, double *x) {
    const patches *o = &s->patches;
    for (int node = 0; node < o->nodes; node++) {
        memcpy(x + s->problem->tree[o->tree[node]].v0, s->x + o->start[node],
               (size_t)patch_sums_size(s, node) * sizeof *x);
    }
}
