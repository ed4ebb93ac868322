/* Which things hang together?  Each points to another of its group, the least of them to itself. */
#ifndef CONTACT_PROBLEM_JOINED_H
#define CONTACT_PROBLEM_JOINED_H

static inline int joined_root(int *parent, int t) {
    while (parent[t] != t) {
        parent[t] = parent[parent[t]];
        t = parent[t];
    }
    return t;
}

static inline void joined_add(int *parent, int a, int b) {
    a = joined_root(parent, a);
    b = joined_root(parent, b);
    parent[a > b ? a : b] = a > b ? b : a;
}

#endif
