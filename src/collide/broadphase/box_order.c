/* Order of boxes along Hilbert's curve.
 *
 * First by size, in four-fold steps.  No small box then shares a node with a large one.  Then by the place of the
 * centre on Hilbert's curve through a grid of cubes over all centres.  Crowded cells have a finer grid of their own.
 * Every level of grids costs linear time, and there are at most MAX_DEPTH.
 *
 * Hilbert's index from coordinates: J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707, 381
 * (2004), for three dimensions. */
#include "collide/broadphase/box_order.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_BITS = 5, /* of a grid's side */
    MAX_DEPTH = 32,
    SIZES = 128,        /* four-fold steps over all exponents of a float */
    CROWD = TREE_WIDTH, /* cells that hold no more stay as they are */
    COUNTERS = 1 << (3 * MAX_BITS)
};

bool box_order_create(box_order *order, int room) {
    size_t n = room > 0 ? (size_t)room : 1;
    *order = (box_order){malloc(n * sizeof(int)),
                         malloc(n * sizeof(int)),
                         malloc(n * sizeof(uint32_t)),
                         malloc(n * sizeof(uint32_t)),
                         malloc(COUNTERS * sizeof(int)),
                         room,
                         4 * n * sizeof(int) + COUNTERS * sizeof(int)};
    if (!order->item || !order->spare || !order->key || !order->spare_key || !order->counter) {
        box_order_free(order);
        return false;
    }
    return true;
}

void box_order_free(box_order *order) {
    free(order->item);
    free(order->spare);
    free(order->key);
    free(order->spare_key);
    free(order->counter);
    memset(order, 0, sizeof *order);
}

static inline void centre_of(const float_box *box, float c[3]) {
    for (int k = 0; k < 3; k++) {
        c[k] = 0.5f * box->low[k] + 0.5f * box->high[k];
    }
}

static uint32_t hilbert_index(uint32_t x, uint32_t y, uint32_t z, int bits) {
    /* inverse undo, from the most significant bit */
    uint32_t X[3] = {x, y, z};
    for (uint32_t q = 1u << (bits - 1); q > 1; q >>= 1) {
        uint32_t p = q - 1;
        for (int i = 0; i < 3; i++) {
            uint32_t set = 0u - ((X[i] & q) != 0), t = (X[0] ^ X[i]) & p & ~set;
            X[0] ^= (p & set) | t;
            X[i] ^= t;
        }
    }
    /* Gray code */
    X[1] ^= X[0];
    X[2] ^= X[1];
    uint32_t t = 0;
    for (uint32_t q = 1u << (bits - 1); q > 1; q >>= 1) {
        t ^= (q - 1) & (0u - ((X[2] & q) != 0));
    }
    /* interleave the bits */
    uint32_t index = 0;
    for (int b = bits - 1; b >= 0; b--) {
        for (int i = 0; i < 3; i++) {
            index = index << 1 | (((X[i] ^ t) >> b) & 1u);
        }
    }
    return index;
}

/* Stable counting sort of items [first, first + count) by their keys, which are less than `keys`. */
static void sort_by_key(box_order *o, int first, int count, int keys) {
    int *counter = o->counter;
    memset(counter, 0, (size_t)keys * sizeof *counter);
    for (int i = first; i < first + count; i++) {
        counter[o->key[i]]++;
    }
    for (int k = 0, begin = 0; k < keys; k++) {
        int here = counter[k];
        counter[k] = begin;
        begin += here;
    }
    for (int i = first; i < first + count; i++) {
        int to = counter[o->key[i]]++;
        o->spare[to] = o->item[i];
        o->spare_key[to] = o->key[i];
    }
    memcpy(o->item + first, o->spare, (size_t)count * sizeof *o->item);
    memcpy(o->key + first, o->spare_key, (size_t)count * sizeof *o->key);
}

/* Keys of the cells of a grid over the centres of these items; the bits of its side, 0 where all centres are one. */
static int set_grid_keys(box_order *o, int first, int count, const float_box *box) {
    /* bounds of the centres */
    float low[3], high[3], c[3];
    centre_of(&box[o->item[first]], low);
    memcpy(high, low, sizeof high);
    for (int i = first + 1; i < first + count; i++) {
        centre_of(&box[o->item[i]], c);
        for (int k = 0; k < 3; k++) {
            low[k] = c[k] < low[k] ? c[k] : low[k];
            high[k] = c[k] > high[k] ? c[k] : high[k];
        }
    }
    float side = fmaxf(high[0] - low[0], fmaxf(high[1] - low[1], high[2] - low[2]));
    if (!(side > 0)) {
        return 0;
    }
    /* about as many cells as items */
    int bits = 1;
    while (bits < MAX_BITS && 1 << (3 * bits) < count) {
        bits++;
    }
    uint32_t last = (1u << bits) - 1;
    float cells = (float)(1u << bits);
    /* Hilbert index of each cell */
    for (int i = first; i < first + count; i++) {
        uint32_t cell[3];
        centre_of(&box[o->item[i]], c);
        for (int k = 0; k < 3; k++) {
            cell[k] = (uint32_t)((c[k] - low[k]) / side * cells);
            cell[k] = cell[k] < last ? cell[k] : last;
        }
        o->key[i] = hilbert_index(cell[0], cell[1], cell[2], bits);
    }
    return bits;
}

static void sort_along_curve(box_order *o, int first, int count, const float_box *box, int depth) {
    int bits = count > CROWD && depth < MAX_DEPTH ? set_grid_keys(o, first, count, box) : 0;
    if (bits == 0) {
        return;
    }
    sort_by_key(o, first, count, 1 << (3 * bits));
    for (int i = first, end; i < first + count; i = end) {
        uint32_t key = o->key[i];
        end = i + 1;
        while (end < first + count && o->key[end] == key) {
            end++;
        }
        sort_along_curve(o, i, end - i, box, depth + 1);
    }
}

static uint32_t size_class(const float_box *box) {
    float size = 0;
    for (int k = 0; k < 3; k++) {
        size = fmaxf(size, box->high[k] - box->low[k]);
    }
    int exponent;
    frexpf(size, &exponent);
    int step = (exponent + SIZES) >> 1; /* exponents of floats: -148 to 128 */
    return (uint32_t)(step < 0 ? 0 : step < SIZES ? step : SIZES - 1);
}

void box_order_sort(box_order *o, int count, const float_box *box) {
    for (int i = 0; i < count; i++) {
        const float_box *b = &box[o->item[i]];
        o->key[i] = box_is_none(b) ? SIZES : size_class(b);
    }
    sort_by_key(o, 0, count, SIZES + 1);
    for (int i = 0, end; i < count; i = end) {
        uint32_t key = o->key[i];
        end = i + 1;
        while (end < count && o->key[end] == key) {
            end++;
        }
        if (key < SIZES) {
            sort_along_curve(o, i, end - i, box, 0);
        }
    }
}
