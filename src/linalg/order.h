/* The order in which nodes are eliminated, and the fill that follows. */
#ifndef LINALG_ORDER_H
#define LINALG_ORDER_H

#include "base/arena.h"
#include "linalg/spd.h"

/* Row i of the factor stands for the node that is eliminated as number i; its blocks stand in columns
 * column[start[i] .. start[i + 1]), numbers of later rows, rising. */
typedef struct spd_order {
    int *node;  /* [nodes] of a row */
    int *place; /* [nodes] row of a node */
    int *start, *column;
    double multiplications, numbers;
} spd_order;

/* Minimum degree.  The order stands in `kept`; `scratch` is given back.  0 without memory. */
int spd_order_find(const spd_graph *graph, sim_arena *kept, sim_arena *scratch, spd_order *order);

#endif
