/* Trees of bodies that a row of a contact problem moves together.
 *
 * A row has blocks of J for two trees.  Where it moves three, as a string over several bodies does, all are tied to one:
 * A then has one block for them, which stays sparse along their branches.  Motion does not change by that.
 *
 * Reference: Tarjan (1975), disjoint sets.
 * Cost: O(log n) a tie. */
#include "model/builder/core/builder.h"
#include "model/parts/joint.h"

#include <stdlib.h>

int builder_tree(const sim_builder *b, int root) {
    while (b->tied && root < b->tied_room && b->tied[root] != root) {
        root = b->tied[root];
    }
    return root;
}

bool builder_carries(const sim_builder *b, int body, int other) {
    while (other > 0 && other != body) {
        other = b->body[other].parent;
    }
    return other == body;
}

sim_status builder_tie_trees(sim_builder *b, int root, int other) {
    /* every body so far has a place */
    int from = b->tied_room;
    while (b->tied_room < b->nbody) {
        if (builder_grow(b, (void **)&b->tied, b->tied_room, &b->tied_room, sizeof *b->tied)) {
            return b->error.status;
        }
        for (; from < b->tied_room; from++) {
            b->tied[from] = from;
        }
    }
    int one = builder_tree(b, root), two = builder_tree(b, other);
    b->tied[one > two ? one : two] = one < two ? one : two;
    return SIM_OK;
}

sim_status builder_add_tree(sim_builder *b, int body, int *tree, int *moved_body) {
    /* the child of the world above the body, if a joint on the way moves */
    int root = body;
    bool moves = false;
    for (int i = body; i > 0; i = b->body[i].parent) {
        moves |= sim_joint_nv(b->body[i].joint) > 0;
        root = i;
    }
    /* into the first free place */
    for (int k = 0; moves && k < 2; k++) {
        if (tree[k] < 0) {
            tree[k] = root;
            moved_body[k] = body;
        }
        if (builder_tree(b, tree[k]) == builder_tree(b, root)) {
            return SIM_OK;
        }
    }
    /* three become one */
    if (moves && (builder_tie_trees(b, tree[0], tree[1]) || builder_tie_trees(b, tree[0], root))) {
        return b->error.status;
    }
    if (moves) {
        tree[1] = moved_body[1] = -1;
    }
    return SIM_OK;
}

bool builder_gather_trees(const sim_builder *b, int *child, int count) {
    if (!b->tied) {
        return true;
    }
    /* list of each tree: its first child, and from one to the next */
    int *first = malloc((size_t)b->nbody * sizeof *first), *last = malloc((size_t)b->nbody * sizeof *last);
    int *next = malloc((size_t)b->nbody * sizeof *next), *list = malloc((size_t)count * sizeof *list), trees = 0;
    bool ok = first && last && next && list;
    for (int i = 0; ok && i < b->nbody; i++) {
        first[i] = next[i] = -1;
    }
    for (int k = 0; ok && k < count; k++) {
        int t = builder_tree(b, child[k]);
        if (first[t] < 0) {
            first[t] = child[k];
            list[trees++] = t;
        } else {
            next[last[t]] = child[k];
        }
        last[t] = child[k];
    }
    /* list by list */
    for (int k = 0, at = 0; ok && k < trees; k++) {
        for (int i = first[list[k]]; i >= 0; i = next[i]) {
            child[at++] = i;
        }
    }
    free(first);
    free(last);
    free(next);
    free(list);
    return ok;
}
