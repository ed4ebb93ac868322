/* In which order should nodes be eliminated?
 *
 * Eliminating a node joins all its neighbours with each other.  Minimum degree takes, of what is left, the node with the
 * fewest unknowns next to it (of equals the first): bodies that touch only one other go first and cost no fill at all.
 * The graph of what is left is kept as it is, a row of bits for every node: the joining of neighbours is an `or` of words,
 * and the bits that a node has when its turn comes are its row of the factor. */
#include "linalg/order.h"

#include <stdint.h>
#include <string.h>

typedef struct elimination {
    const spd_graph *graph;
    int words;
    uint64_t *bits; /* [nodes x words] neighbours that are left */
    int64_t *degree;
    unsigned char *gone;
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
    if (!e->bits || !e->degree || !e->gone) {
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

/* Row by row the columns in rising order: through bits once more, those of places. */
static int collect(const elimination *e, sim_arena *kept, sim_arena *scratch, spd_order *o) {
    int n = e->graph->nodes, count = 0;
    uint64_t *places = ARENA_NEW(scratch, uint64_t, e->words);
    o->start = ARENA_NEW(kept, int, n + 1);
    if (!places || !o->start) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        o->start[i] = count;
        for (int w = 0; w < e->words; w++) {
            count += __builtin_popcountll(row(e, o->node[i])[w]);
        }
    }
    o->start[n] = count;
    o->column = ARENA_NEW(kept, int, count);
    if (!o->column) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        int *column = o->column + o->start[i];
        memset(places, 0, (size_t)e->words * sizeof *places);
        EACH_BIT(k, row(e, o->node[i]), e->words) { set(places, o->place[k]); }
        EACH_BIT(k, places, e->words) { *column++ = k; }
    }
    return 1;
}

static void count_work(const elimination *e, spd_order *o) {
    o->multiplications = o->numbers = 0;
    for (int i = 0; i < e->graph->nodes; i++) {
        double n = e->graph->size[o->node[i]], s = 0;
        for (int q = o->start[i]; q < o->start[i + 1]; q++) {
            s += e->graph->size[o->node[o->column[q]]];
        }
        o->multiplications += n * n * n / 6 + n * n * s / 2 + n * s * s / 2;
        o->numbers += n * n / 2 + n * s;
    }
}

static int find(const spd_graph *g, sim_arena *kept, sim_arena *scratch, spd_order *o) {
    elimination e;
    o->node = ARENA_NEW(kept, int, g->nodes);
    o->place = ARENA_NEW(kept, int, g->nodes);
    if (!o->node || !o->place || !begin(&e, g, scratch)) {
        return 0;
    }
    for (int i = 0; i < g->nodes; i++) {
        int node = next(&e);
        o->node[i] = node;
        o->place[node] = i;
        eliminate(&e, node);
    }
    if (!collect(&e, kept, scratch, o)) {
        return 0;
    }
    count_work(&e, o);
    return 1;
}

int spd_order_find(const spd_graph *g, sim_arena *kept, sim_arena *scratch, spd_order *o) {
    size_t mark = sim_arena_mark(scratch);
    int found = find(g, kept, scratch, o);
    sim_arena_release(scratch, mark);
    return found;
}
