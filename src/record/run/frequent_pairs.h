/* Pairs of bodies that occur most often in a run. */
#ifndef RECORD_RUN_FREQUENT_PAIRS_H
#define RECORD_RUN_FREQUENT_PAIRS_H

#include <stdint.h>

enum { MAX_FREQUENT_PAIRS = 64 };

typedef struct frequent_pair {
    int body[2];           /* ascending; -1: one alone */
    int64_t least, counts; /* it occurred at least and at most so often */
} frequent_pair;

typedef struct frequent_pairs {
    int pairs;
    frequent_pair pair[MAX_FREQUENT_PAIRS]; /* falling counts */
} frequent_pairs;

/* Count one more of `body`, whichever of the two is the first. */
void frequent_pairs_add(frequent_pairs *pairs, const int body[2]);

#endif
