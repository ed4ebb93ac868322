/* The Space-Saving counters of frequent items.
 *
 * m counters. A pair that has one adds 1 to it. A new pair takes a free counter, or the one with the least count c: its
 * count becomes c + 1, of which c may be those of the pair that leaves. With n additions
 *     least <= true count <= counts,   counts - least <= n / m,
 * so each pair with over n / m occurrences is among them. Up to m pairs the counts are exact.
 *
 * Reference: Metwally, Agrawal, El Abbadi (2005), Efficient computation of frequent and top-k elements in data streams,
 * section 3. The counters are a sorted array instead of buckets, as m is small; of equal counts the older stands first.
 *
 * Cost: O(m) an addition. */
#include "record/run/frequent_pairs.h"

static int counter_of(const frequent_pairs *pairs, const int body[2]) {
    int k = 0;
    while (k < pairs->pairs && (pairs->pair[k].body[0] != body[0] || pairs->pair[k].body[1] != body[1])) {
        k++;
    }
    return k;
}

void frequent_pairs_add(frequent_pairs *pairs, const int body[2]) {
    const int first = body[0] > body[1];
    const int sorted[2] = {body[first], body[1 - first]};
    int k = counter_of(pairs, sorted);
    /* a new pair takes a free counter or the last, which has the least count */
    if (k == pairs->pairs) {
        int64_t inherited = 0;
        if (k == MAX_FREQUENT_PAIRS) {
            inherited = pairs->pair[--k].counts;
        } else {
            pairs->pairs++;
        }
        pairs->pair[k] = (frequent_pair){.body = {sorted[0], sorted[1]}, .counts = inherited};
    }
    pairs->pair[k].least++;
    pairs->pair[k].counts++;
    /* before those with fewer */
    for (; k > 0 && pairs->pair[k - 1].counts < pairs->pair[k].counts; k--) {
        frequent_pair behind = pairs->pair[k - 1];
        pairs->pair[k - 1] = pairs->pair[k];
        pairs->pair[k] = behind;
    }
}
