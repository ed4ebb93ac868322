/* Constraints grouped by the pair of trees that they connect, and the graph of these pairs.
 *
 * Radix sort of the constraints by the higher and then the lower tree.  Cost: linear in constraints and trees. */
#include "solver/core/patches.h"

#include <string.h>

typedef struct sorting {
    const sim_problem *problem;
    patches *out;
    int *low, *high; /* [nconstraint] nodes, high 0 for none, else one more than the node */
    int *slot;       /* [nodes + 2] */
    int *half;       /* [nconstraint] sorted by high */
} sorting;

static int number_nodes(const sim_problem *p, patches *out) {
    /* trees under constraints are nodes */
    for (int t = 0; t < p->ntree; t++) {
        out->node[t] = -1;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        for (int side = 0; side < 2 && p->constraint[i].tree[side] >= 0; side++) {
            out->node[p->constraint[i].tree[side]] = 0;
        }
    }
    /* number them */
    int nodes = 0;
    out->start[0] = 0;
    for (int t = 0; t < p->ntree; t++) {
        if (out->node[t] == 0) {
            out->node[t] = nodes;
            out->tree[nodes] = t;
            out->start[nodes + 1] = out->start[nodes] + p->tree[t].nv;
            nodes++;
        }
    }
    return nodes;
}

static void find_node_pairs(sorting *s) {
    for (int i = 0; i < s->problem->nconstraint; i++) {
        const sim_constraint *c = &s->problem->constraint[i];
        int a = s->out->node[c->tree[0]], b = c->tree[1] >= 0 ? s->out->node[c->tree[1]] : -1;
        s->out->flipped[i] = b >= 0 && b < a;
        s->low[i] = s->out->flipped[i] ? b : a;
        s->high[i] = 1 + (s->out->flipped[i] ? a : b);
    }
}

/* One pass of counting sort: `from` (NULL: 0, 1, ...) into `to`, by key. */
static void sort_pass(sorting *s, const int *key, const int *from, int *to) {
    int count = s->problem->nconstraint, keys = s->out->nodes + 1;
    memset(s->slot, 0, (size_t)(keys + 1) * sizeof *s->slot);
    for (int i = 0; i < count; i++) {
        s->slot[key[i] + 1]++;
    }
    for (int k = 0; k < keys; k++) {
        s->slot[k + 1] += s->slot[k];
    }
    for (int i = 0; i < count; i++) {
        int c = from ? from[i] : i;
        to[s->slot[key[c]]++] = c;
    }
}

static void split_patches(sorting *s) {
    patches *o = s->out;
    o->count = 0;
    for (int k = 0; k < s->problem->nconstraint; k++) {
        int c = o->constraint[k], a = s->low[c], b = s->high[c] - 1;
        patch *last = o->count ? &o->patch[o->count - 1] : NULL;
        if (!last || last->a != a || last->b != b) {
            last = &o->patch[o->count++];
            *last = (patch){.a = a, .b = b, .first = k, .edge = -1};
        }
        last->count++;
        last->rows += s->problem->constraint[c].rows;
    }
}

static bool make_graph(sorting *s, sim_arena *kept) {
    patches *o = s->out;
    int *size = ARENA_NEW(kept, int, o->nodes);
    spd_edge *edge = ARENA_NEW(kept, spd_edge, o->count);
    if (!size || !edge) {
        return false;
    }
    for (int k = 0; k < o->nodes; k++) {
        size[k] = o->start[k + 1] - o->start[k];
    }
    int edges = 0;
    for (int k = 0; k < o->count; k++) {
        if (o->patch[k].b >= 0) {
            o->patch[k].edge = edges;
            edge[edges++] = (spd_edge){o->patch[k].a, o->patch[k].b};
        }
    }
    o->graph = (spd_graph){o->nodes, edges, size, edge};
    return true;
}

static bool sort_constraints(const sim_problem *p, sim_arena *scratch, sim_arena *kept, patches *out) {
    size_t n = (size_t)p->nconstraint;
    sorting s = {p,
                 out,
                 ARENA_NEW(scratch, int, n),
                 ARENA_NEW(scratch, int, n),
                 ARENA_NEW(scratch, int, out->nodes + 2),
                 ARENA_NEW(scratch, int, n)};
    if (!s.low || !s.high || !s.slot || !s.half) {
        return false;
    }
    find_node_pairs(&s);
    sort_pass(&s, s.high, NULL, s.half);
    sort_pass(&s, s.low, s.half, out->constraint);
    split_patches(&s);
    return make_graph(&s, kept);
}

bool patches_find(const sim_problem *p, sim_arena *kept, sim_arena *scratch, patches *out) {
    size_t n = (size_t)p->nconstraint, trees = (size_t)p->ntree;
    out->tree = ARENA_NEW(kept, int, trees);
    out->node = ARENA_NEW(kept, int, trees);
    out->start = ARENA_NEW(kept, int, trees + 1);
    out->constraint = ARENA_NEW(kept, int, n);
    out->flipped = ARENA_NEW(kept, int, n);
    out->patch = ARENA_NEW(kept, patch, n);
    if (!out->tree || !out->node || !out->start || !out->constraint || !out->flipped || !out->patch) {
        return false;
    }
    out->nodes = number_nodes(p, out);
    size_t mark = arena_mark(scratch);
    bool done = sort_constraints(p, scratch, kept, out);
    arena_release(scratch, mark);
    return done;
}
