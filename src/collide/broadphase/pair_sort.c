/* Parallel radix sort of pairs, with the same result for any number of threads.
 *
 * The leading bits choose one of up to 1024 buckets (counted, then scattered, list by list); each bucket fits the
 * nearest cache. Each is then sorted by its remaining bits, eight at a time from the lowest (Knuth, The Art of Computer
 * Programming 3, 5.2.5).  No key occurs twice, so the outcome does not depend on which list held which key. */
#include "collide/broadphase/pair_sort.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_INSERTION_SORT_PAIRS = 32, DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

bool pair_list_grow(pair_list *list, size_t need) {
    if (need <= list->room) {
        return true;
    }
    pair_key *moved = realloc(list->key, 2 * need * sizeof *moved);
    if (!moved) {
        return false;
    }
    list->key = moved;
    list->room = 2 * need;
    return true;
}

void pair_list_free(pair_list *list) {
    free(list->key);
    *list = (pair_list){NULL, 0, 0};
}

void pair_sort_start(pair_sort *sort, int count, int bits) {
    int shift = 0;
    while ((count - 1) >> shift >= PAIR_BUCKETS) {
        shift++;
    }
    sort->bits = bits;
    sort->shift = bits + shift;
    sort->buckets = count > 0 ? ((count - 1) >> shift) + 1 : 0;
}

void pair_sort_tally(pair_sort *sort, int list, const pair_list *keys) {
    size_t *at = sort->at[list];
    memset(at, 0, (size_t)sort->buckets * sizeof *at);
    for (size_t i = 0; i < keys->count; i++) {
        at[keys->key[i] >> sort->shift]++;
    }
}

size_t pair_sort_divide(pair_sort *sort) {
    size_t begin = 0;
    for (int bucket = 0; bucket < sort->buckets; bucket++) {
        sort->begin[bucket] = begin;
        for (int list = 0; list < sort->nlist; list++) {
            size_t here = sort->at[list][bucket];
            sort->at[list][bucket] = begin;
            begin += here;
        }
    }
    sort->begin[sort->buckets] = begin;
    return begin;
}

void pair_sort_scatter(pair_sort *sort, int list, const pair_list *keys) {
    size_t *at = sort->at[list];
    for (size_t i = 0; i < keys->count; i++) {
        sort->to[at[keys->key[i] >> sort->shift]++] = keys->key[i];
    }
}

static void insert_in_order(pair_key *key, size_t count) {
    for (size_t i = 1; i < count; i++) {
        pair_key k = key[i];
        size_t j = i;
        for (; j > 0 && key[j - 1] > k; j--) {
            key[j] = key[j - 1];
        }
        key[j] = k;
    }
}

static void sort_by_digit(const pair_key *from, pair_key *to, size_t count, int shift) {
    size_t at[DIGITS] = {0};
    for (size_t i = 0; i < count; i++) {
        at[from[i] >> shift & (DIGITS - 1)]++;
    }
    size_t begin = 0;
    for (int d = 0; d < DIGITS; d++) {
        size_t here = at[d];
        at[d] = begin;
        begin += here;
    }
    for (size_t i = 0; i < count; i++) {
        to[at[from[i] >> shift & (DIGITS - 1)]++] = from[i];
    }
}

void pair_sort_bucket(pair_sort *sort, int bucket) {
    size_t begin = sort->begin[bucket], count = sort->begin[bucket + 1] - begin;
    pair_key *key = sort->to + begin, *other = sort->spare + begin;
    if (count <= MAX_INSERTION_SORT_PAIRS) {
        insert_in_order(key, count);
        return;
    }
    int passes = 0;
    for (int shift = 0; shift < sort->shift; shift += DIGIT_BITS, passes++) {
        sort_by_digit(key, other, count, shift);
        pair_key *sorted = other;
        other = key;
        key = sorted;
    }
    if (passes % 2) {
        memcpy(other, key, count * sizeof *key);
    }
}
