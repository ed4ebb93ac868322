/* Patches: constraints grouped by the pair of trees that they connect, and the graph of these pairs. */
#ifndef SOLVER_CORE_PATCHES_H
#define SOLVER_CORE_PATCHES_H

#include "base/arena.h"
#include "linalg/spd.h"
#include <sim/problem.h>
#include <stdbool.h>

/* All constraints between the nodes a < b, or of a alone (b = -1): constraint[first .. first + count). */
typedef struct patch {
    int a, b, first, count;
    int rows; /* of all its constraints */
    int edge; /* in the graph; -1: none */
} patch;

/* Nodes are the trees with constraints, in the order of trees. */
typedef struct patches {
    int nodes, count;
    int *tree;       /* [nodes] tree of a node */
    int *node;       /* [ntree] node of a tree; -1: no constraint */
    int *start;      /* [nodes + 1] first unknown of a node */
    int *constraint; /* [nconstraint] patch after patch, in rising order within each */
    patch *patch;    /* [count] sorted by a, then b */
    int *flipped;    /* [nconstraint] 1: the second tree of the constraint is the patch's a */
    spd_graph graph;
} patches;

/* Result in `kept`; `scratch` is given back.  false without memory. */
bool patches_find(const sim_problem *problem, sim_arena *kept, sim_arena *scratch, patches *out);

#endif
