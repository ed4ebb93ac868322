/* Elimination order of a graph by approximate minimum fill, and the panels (supernodes) of its factor.
 *
 *     fill(k) ~ d_k^2 - c_k^2
 *
 *     d_k     unknowns of the remaining neighbours of node k
 *     c_k     those of them that the last elimination beside k has connected with each other
 *
 * Elimination of a node connects all its neighbours with each other.  The node with the least new connections goes first,
 * the first among equals.  So bodies with one neighbour go first, without fill.  In heaps this takes 0.7 of the
 * multiplications of minimum degree.  The remaining graph is stored explicitly, one row of bits a node.  Connecting
 * neighbours is an `or` of words, and the bits of a node at its elimination are its row of the factor.
 *
 * The first node in a row of the factor is the parent of the row's own node (elimination tree).  Any order with
 * children before parents has the same fill.  Depth first, with the child of the longest row last, makes nodes of
 * equal rows but for themselves neighbours.  They form a panel, which is factored as one block with long sums.
 * (Panels made longer by including a few zeros gained nothing.)
 *
 * References: Rothberg, Eisenstat 1998, Node Selection Strategies for Bottom-Up Sparse Matrix Ordering; George, Liu 1981,
 * Computer Solution of Large Sparse Positive Definite Systems, chapter 5.
 * Cost: n / 64 words for each neighbour of an eliminated node, with n nodes. */
#include "linalg/order.h"

#include <stdint.h>
#include <string.h>

typedef struct elimination {
    const spd_graph *graph;
    int words;
    int same;               /* unknowns of every node; 0: they differ */
    uint64_t *bits;         /* [nodes x words] remaining neighbours */
    int64_t *degree, *fill; /* [nodes] */
    unsigned char *gone;
    int *parent, *length;       /* [nodes] parent in the elimination tree, -1: none; blocks in its row */
    int *child, *sibling, *way; /* [nodes] the forest of parents, and the path of its depth-first traversal */
} elimination;

static void set_bit(uint64_t *bits, int k) { bits[k / 64] |= (uint64_t)1 << k % 64; }
static void clear_bit(uint64_t *bits, int k) { bits[k / 64] &= ~((uint64_t)1 << k % 64); }

/* For all k in bits, rising. */
#define EACH_BIT(k, bits, words)                                                                                       \
    for (int word_ = 0, k = 0; word_ < (words); word_++)                                                               \
        for (uint64_t left_ = (bits)[word_]; left_ && (k = 64 * word_ + __builtin_ctzll(left_), 1); left_ &= left_ - 1)

static uint64_t *bits_of(const elimination *e, int node) { return e->bits + (size_t)node * e->words; }

static void count_degree(elimination *e, int node) {
    int64_t sum = 0;
    const uint64_t *bits = bits_of(e, node);
    for (int w = 0; w < e->words && e->same; w++) {
        sum += e->same * __builtin_popcountll(bits[w]);
    }
    if (!e->same) {
        EACH_BIT(k, bits, e->words) { sum += e->graph->size[k]; }
    }
    e->degree[node] = sum;
}

/* `connected`: unknowns of the neighbours that the last elimination has connected with each other. */
static void estimate_fill(elimination *e, int node, int64_t connected) {
    e->fill[node] = e->degree[node] * e->degree[node] - connected * connected;
}

static sim_status create_elimination(elimination *e, const spd_graph *g, sim_arena *scratch) {
    /* memory */
    size_t n = (size_t)g->nodes;
    e->graph = g;
    e->words = g->nodes / 64 + 1;
    e->same = g->nodes ? g->size[0] : 0;
    for (int i = 0; i < g->nodes; i++) {
        e->same = g->size[i] == e->same ? e->same : 0;
    }
    e->bits = ARENA_NEW(scratch, uint64_t, n * (size_t)e->words);
    e->degree = ARENA_NEW(scratch, int64_t, n);
    e->fill = ARENA_NEW(scratch, int64_t, n);
    e->gone = ARENA_NEW(scratch, unsigned char, n);
    int **lists[] = {&e->parent, &e->length, &e->child, &e->sibling, &e->way};
    bool ok = true;
    for (int k = 0; k < 5; k++) {
        *lists[k] = ARENA_NEW(scratch, int, n);
        ok = ok && *lists[k];
    }
    if (!ok || !e->bits || !e->degree || !e->fill || !e->gone) {
        return SIM_NO_RESOURCE;
    }
    /* adjacency in bits */
    memset(e->bits, 0, n * (size_t)e->words * sizeof *e->bits);
    memset(e->gone, 0, n);
    for (int k = 0; k < g->edges; k++) {
        set_bit(bits_of(e, g->edge[k].a), g->edge[k].b);
        set_bit(bits_of(e, g->edge[k].b), g->edge[k].a);
    }
    /* degrees and fill */
    for (int i = 0; i < g->nodes; i++) {
        count_degree(e, i);
        estimate_fill(e, i, 0);
    }
    return SIM_OK;
}

static int find_least_fill(const elimination *e) {
    int best = -1;
    for (int i = 0; i < e->graph->nodes; i++) {
        if (!e->gone[i] && (best < 0 || e->fill[i] < e->fill[best])) {
            best = i;
        }
    }
    return best;
}

static void eliminate_node(elimination *e, int node) {
    const uint64_t *own = bits_of(e, node);
    e->gone[node] = 1;
    EACH_BIT(k, own, e->words) {
        uint64_t *other = bits_of(e, k);
        for (int w = 0; w < e->words; w++) {
            other[w] |= own[w];
        }
        clear_bit(other, k);
        clear_bit(other, node);
        count_degree(e, k);
        estimate_fill(e, k, e->degree[node] - e->graph->size[k]);
    }
}

/* The elimination tree, from the first order. */
static void find_parents(elimination *e, const spd_order *o) {
    int n = e->graph->nodes;
    for (int i = 0; i < n; i++) {
        e->child[i] = -1;
    }
    for (int i = n - 1; i >= 0; i--) { /* backwards, so that children are listed in order */
        int node = o->node[i], first = n;
        e->length[node] = 0;
        EACH_BIT(k, bits_of(e, node), e->words) {
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

/* Moves the child with the longest row to the end of its list. */
static void move_longest_last(elimination *e, int node) {
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
static void append_depth_first(elimination *e, spd_order *o, int root, int *at) {
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
        move_longest_last(e, o->node[i]);
        if (e->parent[o->node[i]] < 0) {
            root[roots++] = o->node[i];
        }
    }
    for (int k = 0; k < roots; k++) {
        append_depth_first(e, o, root[k], &at);
    }
    for (int i = 0; i < n; i++) {
        o->place[o->node[i]] = i;
    }
}

/* ---- panels ---- */

static void count_work(const elimination *e, int node, spd_order *o) {
    double n = e->graph->size[node], s = 0;
    EACH_BIT(k, bits_of(e, node), e->words) { s += e->graph->size[k]; }
    o->multiplications += n * n * n / 6 + n * n * s / 2 + n * s * s / 2;
    o->numbers += n * n / 2 + n * s;
}

/* Panels of rows [first[s], first[s + 1]): row after row joins the panel before it, or starts its own. */
static void find_panels(const elimination *e, spd_order *o) {
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
static sim_status list_panel_columns(const elimination *e, sim_arena *kept, sim_arena *scratch, spd_order *o) {
    /* starts: own columns, and those that the last of them reaches */
    int count = 0;
    uint64_t *places = ARENA_NEW(scratch, uint64_t, e->words);
    o->start = ARENA_NEW(kept, int, o->panels + 1);
    if (!places || !o->start) {
        return SIM_NO_RESOURCE;
    }
    for (int s = 0; s < o->panels; s++) {
        int last = o->first[s + 1] - 1;
        o->start[s] = count;
        count += o->first[s + 1] - o->first[s] + e->length[o->node[last]];
    }
    o->start[o->panels] = count;
    o->column = ARENA_NEW(kept, int, count);
    if (!o->column) {
        return SIM_NO_RESOURCE;
    }
    /* columns, sorted by bits */
    for (int s = 0; s < o->panels; s++) {
        int *column = o->column + o->start[s], last = o->first[s + 1] - 1;
        for (int i = o->first[s]; i <= last; i++) {
            *column++ = i;
        }
        memset(places, 0, (size_t)e->words * sizeof *places);
        EACH_BIT(k, bits_of(e, o->node[last]), e->words) { set_bit(places, o->place[k]); }
        EACH_BIT(k, places, e->words) { *column++ = k; }
    }
    return SIM_OK;
}

/* In a given order, NULL: by least fill. */
static sim_status eliminate_all(const spd_graph *g, const int *given, sim_arena *kept, sim_arena *scratch,
                                spd_order *o) {
    elimination e;
    o->node = ARENA_NEW(kept, int, g->nodes);
    o->place = ARENA_NEW(kept, int, g->nodes);
    o->first = ARENA_NEW(kept, int, g->nodes + 1);
    int *root = ARENA_NEW(scratch, int, g->nodes);
    if (!o->node || !o->place || !o->first || !root || create_elimination(&e, g, scratch)) {
        return SIM_NO_RESOURCE;
    }
    for (int i = 0; i < g->nodes; i++) {
        int node = given ? given[i] : find_least_fill(&e);
        o->node[i] = node;
        o->place[node] = i;
        eliminate_node(&e, node);
    }
    order_depth_first(&e, o, root);
    find_panels(&e, o);
    return list_panel_columns(&e, kept, scratch, o);
}

sim_status spd_order_find(const spd_graph *g, sim_arena *kept, sim_arena *scratch, spd_order *o) {
    size_t mark = arena_mark(scratch);
    sim_status status = eliminate_all(g, NULL, kept, scratch, o);
    arena_release(scratch, mark);
    return status;
}

sim_status spd_order_given(const spd_graph *g, const int *node, sim_arena *kept, sim_arena *scratch, spd_order *o) {
    size_t mark = arena_mark(scratch);
    sim_status status = eliminate_all(g, node, kept, scratch, o);
    arena_release(scratch, mark);
    return status;
}
