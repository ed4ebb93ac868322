/* Common part of the factorisations by blocks (spd.c, block_lu.c): memory, graph, order, layout, vectors. */
#include "linalg/block_system.h"
#include "linalg/dense/strip.h"

#include <string.h>

bool block_system_open(block_system *s) {
    s->kept = arena_create();
    s->scratch = arena_create();
    return s->kept && s->scratch;
}

void block_system_close(block_system *s) {
    arena_free(s->scratch);
    arena_free(s->kept);
}

bool block_system_has_graph(const block_system *s, const spd_graph *g) {
    const spd_graph *own = &s->graph;
    return s->known && own->nodes == g->nodes && own->edges == g->edges &&
           (!g->nodes || memcmp(own->size, g->size, (size_t)g->nodes * sizeof *g->size) == 0) &&
           (!g->edges || memcmp(own->edge, g->edge, (size_t)g->edges * sizeof *g->edge) == 0);
}

sim_status block_system_set_graph(block_system *s, const spd_graph *g) {
    arena_release(s->kept, 0);
    int *size = ARENA_NEW(s->kept, int, g->nodes);
    spd_edge *edge = ARENA_NEW(s->kept, spd_edge, g->edges);
    if (!size || !edge) {
        return SIM_NO_RESOURCE;
    }
    memcpy(size, g->size, (size_t)g->nodes * sizeof *size);
    memcpy(edge, g->edge, (size_t)g->edges * sizeof *edge);
    s->graph = (spd_graph){g->nodes, g->edges, size, edge};
    return SIM_OK;
}

sim_status block_system_find_order(block_system *s) {
    return spd_order_find(&s->graph, s->kept, s->scratch, &s->order);
}

sim_status block_system_prepare(block_system *s, const spd_order *order, int rows, const int *size) {
    if (spd_blocks_prepare(&s->layout, order, rows, size, s->kept)) {
        return SIM_NO_RESOURCE;
    }
    s->x = ARENA_NEW(s->kept, double, s->layout.x_at[rows]);
    return s->x ? SIM_OK : SIM_NO_RESOURCE;
}

sim_status block_system_find_layout(block_system *s) {
    int n = s->graph.nodes, *size = ARENA_NEW(s->kept, int, n);
    if (!size) {
        return SIM_NO_RESOURCE;
    }
    for (int i = 0; i < n; i++) {
        size[i] = s->graph.size[s->order.node[i]];
    }
    return block_system_prepare(s, &s->order, n, size);
}

spd_edge block_system_orient(const block_system *s, int edge) {
    spd_edge e = s->graph.edge[edge];
    return s->order.place[e.b] < s->order.place[e.a] ? (spd_edge){e.b, e.a} : e;
}

double *block_system_new_block(block_system *s, int row, int column) {
    const int *size = s->graph.size;
    return ARENA_NEW(s->kept, double, (size_t)size[row] * strip_stride(size[column]));
}

void block_system_mark_stale(block_system *s, int node) { s->layout.stale[s->layout.panel[s->order.place[node]]] = 1; }

void block_system_gather(block_system *s, const double *x) {
    const spd_blocks *b = &s->layout;
    memset(s->x, 0, (size_t)b->x_at[b->rows] * sizeof *s->x);
    for (int node = 0; node < b->rows; node++) {
        int row = b->order->place[node];
        memcpy(s->x + b->x_at[row], x, (size_t)b->size[row] * sizeof *x);
        x += b->size[row];
    }
}

void block_system_scatter(const block_system *s, double *x) {
    const spd_blocks *b = &s->layout;
    for (int node = 0; node < b->rows; node++) {
        int row = b->order->place[node];
        memcpy(x, s->x + b->x_at[row], (size_t)b->size[row] * sizeof *x);
        x += b->size[row];
    }
}
