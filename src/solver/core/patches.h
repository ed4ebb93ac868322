/* Which trees touch: constraints gathered by the pair of trees that they join, and the graph of the pairs. */
#ifndef SOLVER_CORE_PATCHES_H
#define SOLVER_CORE_PATCHES_H

#include "base/arena.h"
#include "linalg/spd.h"
#include <sim/problem.h>

/* All constraints between the nodes a < b, or of a alone (b = -1): constraint[first .. first + count). */
typedef struct patch {
    int a, b, first, count;
    int rows; /* of all of them */
    int edge; /* of the graph; -1 */
} patch;

/* Nodes are the trees that any constraint touches, in the order of trees. */
typedef struct patches {
    int nodes, count;
    int *tree;       /* [nodes] of a node */
    int *node;       /* [ntree] of a tree; -1: untouched */
    int *start;      /* [nodes + 1] unknowns of the nodes one after the other */
    int *constraint; /* all, patch after patch, in their order within each */
    patch *patch;    /* those of lower a first, then of lower b, of a alone first of all */
    int *flipped;    /* [nconstraint] 1: the second tree of the constraint is the patch's a */
    spd_graph graph;
} patches;

/* In `kept`; `scratch` is given back.  0 without memory. */
int patches_find(const sim_problem *problem, sim_arena *kept, sim_arena *scratch, patches *out);

#endif
