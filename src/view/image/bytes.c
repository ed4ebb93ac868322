/* Compression of columns of numbers that change smoothly.  A column is written as differences of the order that makes
 * it shortest, which its first byte names,
 *
 *     order 0: x_k     1: x_k - x_{k-1}     2: x_k - 2 x_{k-1} + x_{k-2}     (0 before the first)
 *
 * each folded to be positive, 0 -1 1 -2 2 .. to 0 1 2 3 4 .., and cut into groups of seven bits. */
#include "view/image/bytes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DIFFERENCE_ORDERS = 3 };

static bool grow_bytes(view_bytes *bytes, size_t more) {
    if (bytes->size + more > bytes->room) {
        size_t room = 2 * (bytes->size + more) + 256;
        unsigned char *data = realloc(bytes->data, room);
        bytes->starved |= !data;
        bytes->data = data ? data : bytes->data;
        bytes->room = data ? room : bytes->room;
    }
    return bytes->size + more <= bytes->room;
}

void view_bytes_free(view_bytes *bytes) {
    free(bytes->data);
    *bytes = (view_bytes){0};
}

void view_put_bytes(view_bytes *bytes, const void *from, size_t size) {
    if (size > 0 && grow_bytes(bytes, size)) {
        memcpy(bytes->data + bytes->size, from, size);
        bytes->size += size;
    }
}

void view_put_byte(view_bytes *bytes, int byte) {
    if (grow_bytes(bytes, 1)) {
        bytes->data[bytes->size++] = (unsigned char)byte;
    }
}

void view_put_number(view_bytes *bytes, uint64_t value) {
    for (; value >= 128; value >>= 7) {
        view_put_byte(bytes, (int)(value & 127) | 128);
    }
    view_put_byte(bytes, (int)value);
}

static uint64_t zigzag_code(int64_t value) { return value < 0 ? ~((uint64_t)value << 1) : (uint64_t)value << 1; }

static int64_t eval_difference(const int64_t *x, int k, int order) {
    int64_t one = k > 0 ? x[k - 1] : 0, two = k > 1 ? x[k - 2] : 0;
    return order == 0 ? x[k] : order == 1 ? x[k] - one : x[k] - 2 * one + two;
}

/* Numbers that take one byte still deflate the better the smaller they are. */
static int byte_cost(uint64_t value) {
    int bits = 0;
    for (; value > 0; value >>= 1) {
        bits++;
    }
    return bits;
}

void view_put_column(view_bytes *bytes, const int64_t *value, int count) {
    int64_t sum[DIFFERENCE_ORDERS] = {0};
    int best = 0;
    for (int order = 0; order < DIFFERENCE_ORDERS; order++) {
        for (int k = 0; k < count; k++) {
            sum[order] += byte_cost(zigzag_code(eval_difference(value, k, order)));
        }
        best = sum[order] < sum[best] ? order : best;
    }
    view_put_byte(bytes, best);
    for (int k = 0; k < count; k++) {
        view_put_number(bytes, zigzag_code(eval_difference(value, k, best)));
    }
}
