/* Pairs as numbers, found in parts, sorted all together in linear time. */
#ifndef COLLIDE_BROADPHASE_PAIR_SORT_H
#define COLLIDE_BROADPHASE_PAIR_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PAIR_BUCKETS = 1024 };

/* A pair (a, b) of numbers below 2^bits is the key a 2^bits + b: the order of keys is the order of pairs. */
typedef uint64_t pair_key;

typedef struct pair_list {
    pair_key *key;
    size_t count, room;
} pair_list;

static inline pair_key pair_key_of(int a, int b, int bits) {
    return a < b ? (pair_key)a << bits | (pair_key)b : (pair_key)b << bits | (pair_key)a;
}
static inline int pair_first(pair_key key, int bits) { return (int)(key >> bits); }
static inline int pair_second(pair_key key, int bits) { return (int)(key & (((pair_key)1 << bits) - 1)); }

/* Room for `need` keys and as many again; false without memory. */
bool pair_list_grow(pair_list *list, size_t need);
void pair_list_free(pair_list *list);

/* One sorting: `nlist` lists, a bucket for each run of first numbers.  In four steps; all but the second may be shared
 * out, the first and third by lists, the last by buckets. */
typedef struct pair_sort {
    int bits, shift; /* bucket of a key: key >> shift */
    int buckets;     /* so many there are; few where there are few numbers */
    int nlist;
    size_t (*at)[PAIR_BUCKETS]; /* [nlist]: first how many keys, then where the next one goes */
    size_t begin[PAIR_BUCKETS + 1];
    pair_key *to, *spare; /* as many as there are keys */
} pair_sort;

void pair_sort_start(pair_sort *sort, int count, int bits);
void pair_sort_tally(pair_sort *sort, int list, const pair_list *keys);
/* Returns the number of keys. */
size_t pair_sort_divide(pair_sort *sort);
void pair_sort_scatter(pair_sort *sort, int list, const pair_list *keys);
void pair_sort_bucket(pair_sort *sort, int bucket);

#endif
