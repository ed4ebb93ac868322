/* Disjoint sets (union-find) of the numbers 0 .. n-1 with path halving; the least member represents its set.
 *
 * parent[i] is another member of the set of i, and parent[r] = r for the representative r alone.
 * Reference: Tarjan 1975, "Efficiency of a good but not linear set union algorithm", J. ACM 22, 215-225; path halving:
 * Tarjan and van Leeuwen 1984, J. ACM 31, 245-281, section 3.
 * Differs from the paper: linked by number, not by rank, so that representatives do not depend on the order of unions.
 * Cost: O(log n) per call, amortised. */
#ifndef BASE_DISJOINT_SET_H
#define BASE_DISJOINT_SET_H

/* Every member in a set of its own. */
static inline void disjoint_set_start(int *parent, int n) {
    for (int i = 0; i < n; i++) {
        parent[i] = i;
    }
}

/* The representative of the set of i. */
static inline int disjoint_set_find(int *parent, int i) {
    while (parent[i] != i) {
        i = parent[i] = parent[parent[i]];
    }
    return i;
}

/* Unites the sets of a and b. */
static inline void disjoint_set_unite(int *parent, int a, int b) {
    a = disjoint_set_find(parent, a);
    b = disjoint_set_find(parent, b);
    parent[a > b ? a : b] = a > b ? b : a;
}

#endif
