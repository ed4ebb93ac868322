/* Memory, graph, elimination order and layout of a system by blocks, kept from one call to the next. */
#ifndef LINALG_BLOCK_SYSTEM_H
#define LINALG_BLOCK_SYSTEM_H

#include "linalg/blocks.h"

typedef struct block_system {
    sim_arena *kept, *scratch;
    spd_graph graph; /* a copy */
    bool known;      /* the factor is prepared for the graph */
    spd_order order;
    spd_blocks layout;
    double *x; /* [layout.x_at[rows]] a vector in the order of the factor */
} block_system;

/* false without memory. */
bool block_system_open(block_system *s);
void block_system_close(block_system *s);

bool block_system_has_graph(const block_system *s, const spd_graph *graph);
/* Gives back all memory of the last graph, and copies this one. */
sim_status block_system_set_graph(block_system *s, const spd_graph *graph);
/* Approximate minimum fill. */
sim_status block_system_find_order(block_system *s);
/* Layout by the order, or by another one, and x; the caller connects the blocks of H. */
sim_status block_system_find_layout(block_system *s);
sim_status block_system_prepare(block_system *s, const spd_order *order, int rows, const int *size);

/* The nodes of an edge as row and column: the row is eliminated first. */
spd_edge block_system_orient(const block_system *s, int edge);
/* A new block between two nodes, rows padded, not zeroed; NULL without memory. */
double *block_system_new_block(block_system *s, int row, int column);
/* Marks the factor of a node's row as changed. */
void block_system_mark_stale(block_system *s, int node);

/* s->x from x, node after node, zeros in the padding; and back. */
void block_system_gather(block_system *s, const double *x);
void block_system_scatter(const block_system *s, double *x);

#endif
