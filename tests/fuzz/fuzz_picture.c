/* Any bytes at all through the reader of PNG files: it must not crash, leak or hang, and must say why it refuses.
 *
 * Where the first byte is even, the check sums of the chunks are mended first, so that what lies behind them is met. */
#include "geometry/import/picture.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void demand(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", what);
        abort();
    }
}

static void mend_sums(unsigned char *at, size_t left) {
    while (left >= 12) {
        size_t size = (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
        if (size > left - 12) {
            return;
        }
        uLong sum = crc32(0, at + 4, (uInt)size + 4);
        for (size_t k = 0; k < 4; k++) {
            at[8 + size + k] = (unsigned char)(sum >> (24 - 8 * k));
        }
        at += size + 12;
        left -= size + 12;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { MOST_KEPT = 100000 };
    if (size == 0) {
        return 0;
    }
    unsigned char *file = malloc(size);
    demand(file, "there is memory");
    memcpy(file, data + 1, size - 1);
    if (data[0] % 2 == 0 && size > 9) {
        mend_sums(file + 8, size - 9);
    }
    picture p;
    sim_error error = {0};
    if (picture_read_png("fuzz.png", (char *)file, size - 1, MOST_KEPT, &p, &error)) {
        demand(error.status == SIM_BAD_INPUT && error.text[0] && !p.sample,
               "a refusal has a reason and leaves nothing");
    } else {
        demand(p.width > 0 && p.height > 0 && !p.sample == ((int64_t)p.width * p.height > MOST_KEPT),
               "samples are kept");
        for (int k = 0; k < 3; k++) {
            demand(p.mean[k] >= 0 && p.mean[k] <= 1, "means are colours");
        }
    }
    free(p.sample);
    free(file);
    return 0;
}
