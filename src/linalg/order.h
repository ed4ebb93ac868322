/* Elimination order of the nodes of a graph, and the fill of its factor. */
#ifndef LINALG_ORDER_H
#define LINALG_ORDER_H

#include "base/arena.h"
#include "linalg/spd.h"

/* Row i of the factor belongs to node number i of the elimination.  Consecutive rows with the same blocks to their
 * right make a panel: rows [first[s], first[s + 1]), with blocks in the columns column[start[s] .. start[s + 1]),
 * rising; its own rows come first among them. */
typedef struct spd_order {
    int *node;  /* [nodes] of a row */
    int *place; /* [nodes] row of a node */
    int panels;
    int *first;          /* [panels + 1] */
    int *start, *column; /* [panels + 1] */
    double multiplications, numbers;
} spd_order;

/* Approximate minimum fill.  The order is stored in `kept`; `scratch` is released.  SIM_NO_RESOURCE without memory. */
sim_status spd_order_find(const spd_graph *graph, sim_arena *kept, sim_arena *scratch, spd_order *order);
/* The same of a given order of elimination, node[]: its fill, and its panels, for which it is sorted anew. */
sim_status spd_order_given(const spd_graph *graph, const int *node, sim_arena *kept, sim_arena *scratch,
                           spd_order *order);

#endif
