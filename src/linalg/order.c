/* Elimination order of a graph and its supernodes.
 *
 * Eliminating a node joins all its neighbours with each other.  Minimum degree takes, of what is left, the node with the
 * fewest unknowns next to it (of equals the first): bodies that touch only one other go first and cost no fill at all.
 * The graph of what is left is kept as it is, a row of bits for every node: the joining of neighbours is an `or` of words,
 * and the bits that a node has when its turn comes are its row of the factor.
 *
 * The first node in a row of the factor is the parent of its own: what waits for it.  Any order with children before their
 * parents gives the same fill; taken depth first (the child with the longest row last), nodes with the same row but for
 * themselves follow on each other and make a panel, whose blocks are worked on as one: long sums are what processors are
 * quick at.  (Panels made longer still by taking in a few zeros gained nothing.) */
#include "linalg/order.h"

#include <stdint.h>
#include <string.h>

typedef struct elimination {
    const spd_graph *graph;
    int words;
    uint64_t *bits; /* [nodes x words] neighbours that are left */
    int64_t *degree;
    unsigned char *gone;
    int *parent, *length;       /* [nodes] of a node: node that waits for it (-1: none), blocks in its row */
    int *child, *sibling, *way; /* [nodes] the forest of parents, walked depth first */
} elimination;

static void set(uint64_t *bits, int k) { bits[k / 64] |= (uint64_t)1 << k % 64; }
static void clear(uint64_t *bits, int k) { bits[k / 64] &= ~((uint64_t)1 << k % 64); }

/* For all k in bits, rising. */
#define EACH_BIT(k, bits, words)                                                                                       \
    for (int word_ = 0, k = 0; word_ < (words); word_++)                                                               \
        for (uint64_t left_ = (bits)[word_]; left_ && (k = 64 * word_ + __builtin_ctzll(left_), 1); left_ &= left_ - 1)

static uint64_t *row(const elimination *e, int node) { return e->bits + (size_t)node * e->words; }

static void weigh(elimination *e, int node) {
    int64_t sum = 0;
    EACH_BIT(k, row(e, node), e->words) { sum += e->graph->size[k]; }
    e->degree[node] = sum;
}

static int begin(elimination *e, const spd_graph *g, sim_arena *scratch) {
    size_t n = (size_t)g->nodes;
    e->graph = g;
    e->words = g->nodes / 64 + 1;
    e->bits = ARENA_NEW(scratch, uint64_t, n * (size_t)e->words);
    e->degree = ARENA_NEW(scratch, int64_t, n);
    e->gone = ARENA_NEW(scratch, unsigned char, n);
    int **lists[] = {&e->parent, &e->length, &e->child, &e->sibling, &e->way}, ok = 1;
    for (int k = 0; k < 5; k++) {
        *lists[k] = ARENA_NEW(scratch, int, n);
        ok = ok && *lists[k];
    }
    if (!ok || !e->bits || !e->degree || !e->gone) {
        return 0;
    }
    memset(e->bits, 0, n * (size_t)e->words * sizeof *e->bits);
    memset(e->gone, 0, n);
    for (int k = 0; k < g->edges; k++) {
        set(row(e, g->edge[k].a), g->edge[k].b);
        set(row(e, g->edge[k].b), g->edge[k].a);
    }
    for (int i = 0; i < g->nodes; i++) {
        weigh(e, i);
    }
    return 1;
}

static int next(const elimination *e) {
    int best = -1;
    for (int i = 0; i < e->graph->nodes; i++) {
        if (!e->gone[i] && (best < 0 || e->degree[i] < e->degree[best])) {
            best = i;
        }
    }
    return best;
}

static void eliminate(elimination *e, int node) {
    const uint64_t *own = row(e, node);
    e->gone[node] = 1;
    EACH_BIT(k, own, e->words) {
        uint64_t *other = row(e, k);
        for (int w = 0; w < e->words; w++) {
            other[w] |= own[w];
        }
        clear(other, k);
        clear(other, node);
        weigh(e, k);
    }
}

/* Whom each node waits for, once the first order is there. */
static void find_parents(elimination *e, const spd_order *o) {
    int n = e->graph->nodes;
    for (int i = 0; i < n; i++) {
        e->child[i] = -1;
    }
    for (int i = n - 1; i >= 0; i--) { /* so that of a node's children the first comes first */
        int node = o->node[i], first = n;
        e->length[node] = 0;
        EACH_BIT(k, row(e, node), e->words) {
            first = o->place[k] < first ? o->place[k] : first;
            e->length[node]++;
        }
        e->parent[node] = first < n ? o->node[first] : -1;
        if (first < n) {
            e->sibling[node] = e->child[e->parent[node]];
            e->child[e->parent[node]] = node;
        }
    }
}

/* The child with the longest row to the end of its line. */
static void put_longest_last(elimination *e, int node) {
    int *longest = NULL, *link = &e->child[node];
    for (; *link >= 0; link = &e->sibling[*link]) {
        longest = !longest || e->length[*link] >= e->length[*longest] ? link : longest;
    }
    if (longest && e->sibling[*longest] >= 0) {
        int child = *longest;
        *longest = e->sibling[child];
        for (link = longest; *link >= 0; link = &e->sibling[*link]) {
        }
        *link = child;
        e->sibling[child] = -1;
    }
}

/* Children before their parents, depth first. */
static void walk(elimination *e, spd_order *o, int root, int *at) {
    int depth = 0;
    e->way[depth++] = root;
    while (depth > 0) {
        int node = e->way[depth - 1], child = e->child[node];
        if (child >= 0) {
            e->child[node] = e->sibling[child];
            e->way[depth++] = child;
        } else {
            o->node[(*at)++] = node;
            depth--;
        }
    }
}

static void order_depth_first(elimination *e, spd_order *o, int *root) {
    int n = e->graph->nodes, roots = 0, at = 0;
    find_parents(e, o);
    for (int i = 0; i < n; i++) {
        put_longest_last(e, o->node[i]);
        if (e->parent[o->node[i]] < 0) {
            root[roots++] = o->node[i];
        }
    }
    for (int k = 0; k < roots; k++) {
        walk(e, o, root[k], &at);
    }
    for (int i = 0; i < n; i++) {
        o->place[o->node[i]] = i;
    }
}

/* ---- panels ---- */

static void count_work(const elimination *e, int node, spd_order *o) {
    double n = e->graph->size[node], s = 0;
    EACH_BIT(k, row(e, node), e->words) { s += e->graph->size[k]; }
    o->multiplications += n * n * n / 6 + n * n * s / 2 + n * s * s / 2;
    o->numbers += n * n / 2 + n * s;
}

/* Panels of rows [first[s], first[s + 1]): row after row joins the panel before it, or starts its own. */
static void cut_panels(const elimination *e, spd_order *o) {
    int n = e->graph->nodes;
    o->panels = 0;
    o->multiplications = o->numbers = 0;
    for (int i = 0; i < n; i++) {
        int node = o->node[i], before = i > 0 ? o->node[i - 1] : -1;
        if (before < 0 || e->parent[before] != node || e->length[before] != e->length[node] + 1) {
            o->first[o->panels++] = i;
        }
        count_work(e, node, o);
    }
    o->first[o->panels] = n;
}

/* Panel by panel the columns in rising order: through bits once more, those of places. */
static int collect(const elimination *e, sim_arena *kept, sim_arena *scratch, spd_order *o) {
    int count = 0;
    uint64_t *places = ARENA_NEW(scratch, uint64_t, e->words);
    o->start = ARENA_NEW(kept, int, o->panels + 1);
    if (!places || !o->start) {
        return 0;
    }
    for (int s = 0; s < o->panels; s++) {
        int last = o->first[s + 1] - 1;
        o->start[s] = count;
        count += o->first[s + 1] - o->first[s] + e->length[o->node[last]];
    }
    o->start[o->panels] = count;
    o->column = ARENA_NEW(kept, int, count);
    if (!o->column) {
        return 0;
    }
    for (int s = 0; s < o->panels; s++) {
        int *column = o->column + o->start[s], last = o->first[s + 1] - 1;
        for (int i = o->first[s]; i <= last; i++) {
            *column++ = i;
        }
        memset(places, 0, (size_t)e->words * sizeof *places);
        EACH_BIT(k, row(e, o->node[last]), e->words) { set(places, o->place[k]); }
        EACH_BIT(k, places, e->words) { *column++ = k; }
    }
    return 1;
}

static int find(const spd_graph *g, sim_arena *kept, sim_arena *scratch, spd_order *o) {
    elimination e;
    o->node = ARENA_NEW(kept, int, g->nodes);
    o->place = ARENA_NEW(kept, int, g->nodes);
    o->first = ARENA_NEW(kept, int, g->nodes + 1);
    int *root = ARENA_NEW(scratch, int, g->nodes);
    if (!o->node || !o->place || !o->first || !root || !begin(&e, g, scratch)) {
        return 0;
    }
    for (int i = 0; i < g->nodes; i++) {
        int node = next(&e);
        o->node[i] = node;
        o->place[node] = i;
        eliminate(&e, node);
    }
    order_depth_first(&e, o, root);
    cut_panels(&e, o);
    return collect(&e, kept, scratch, o);
}

int spd_order_find(const spd_graph *g, sim_arena *kept, sim_arena *scratch, spd_order *o) {
    size_t mark = arena_mark(scratch);
    int found = find(g, kept, scratch, o);
    arena_release(scratch, mark);
    return found;
}
