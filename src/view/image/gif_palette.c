/* Median cut: colours for pictures that may have 255 of them.  Pixels are counted in bins of 6 bits a channel; a box
 * around all bins is cut where its weighted variance along one channel
 *
 *     V_c = sum w (x_c - mean_c)^2,   w = sqrt(pixels of the bin),   x: the mean colour of the bin, 0 .. 255
 *
 * is the greatest of all boxes and channels, at the mean, until there are enough boxes; a box is shown in the mean of
 * its pixels.  Heckbert, Color image quantization for frame buffer display, SIGGRAPH 1982.  Departures: cuts are at the
 * mean and not at the median; roots of counts, so that a wide background does not take all colours.  Cost: n log n a
 * cut, n the bins in use. */
#include "view/image/moving.h"

#include <math.h>
#include <stdlib.h>

typedef struct used_bin {
    int number;
    double weight, at[3];
} used_bin;

typedef struct box {
    int first, count;
    int channel; /* that varies most */
    double mean, variance;
} box;

static box measure_box(const used_bin *bin, int first, int count) {
    box b = {.first = first, .count = count, .variance = -1};
    for (int c = 0; c < 3; c++) {
        double weight = 0, sum = 0, variance = 0;
        for (int k = first; k < first + count; k++) {
            weight += bin[k].weight;
            sum += bin[k].weight * bin[k].at[c];
        }
        double mean = sum / weight;
        for (int k = first; k < first + count; k++) {
            variance += bin[k].weight * (bin[k].at[c] - mean) * (bin[k].at[c] - mean);
        }
        if (count > 1 && variance > b.variance) {
            b.channel = c;
            b.mean = mean;
            b.variance = variance;
        }
    }
    return b;
}

static void swap_bins(used_bin *a, used_bin *b) {
    used_bin t = *a;
    *a = *b;
    *b = t;
}

/* Those below the mean first; how many. */
static int partition_bins(used_bin *bin, const box *b) {
    int low = b->first;
    for (int k = b->first; k < b->first + b->count; k++) {
        if (bin[k].at[b->channel] < b->mean) {
            swap_bins(&bin[k], &bin[low++]);
        }
    }
    return low - b->first;
}

static int cut_all(used_bin *bin, int bins, box b[PALETTE_COLOURS]) {
    int count = 1;
    b[0] = measure_box(bin, 0, bins);
    while (count < PALETTE_COLOURS) {
        int widest = 0;
        for (int k = 1; k < count; k++) {
            widest = b[k].variance > b[widest].variance ? k : widest;
        }
        box whole = b[widest];
        int low = whole.variance > 0 ? partition_bins(bin, &whole) : 0;
        if (low == 0 || low == whole.count) {
            return count;
        }
        b[widest] = measure_box(bin, whole.first, low);
        b[count++] = measure_box(bin, whole.first + low, whole.count - low);
    }
    return count;
}

static int collect_bins(const palette_bin *bin, used_bin *used) {
    int count = 0;
    for (int k = 0; k < PALETTE_BINS; k++) {
        if (bin[k].count) {
            used_bin *u = &used[count++];
            *u = (used_bin){.number = k, .weight = sqrt((double)bin[k].count)};
            for (int c = 0; c < 3; c++) {
                u->at[c] = (double)bin[k].sum[c] / (double)bin[k].count;
            }
        }
    }
    return count;
}

int palette_choose(const palette_bin *bin, unsigned char colour[PALETTE_COLOURS][3], unsigned char *index_of_bin) {
    /* boxes: median cut of the colours in use */
    used_bin *used = malloc(PALETTE_BINS * sizeof *used);
    if (!used) {
        return 0;
    }
    box b[PALETTE_COLOURS];
    int bins = collect_bins(bin, used), count = bins ? cut_all(used, bins, b) : 0;
    /* mean colour of each box */
    for (int k = 0; k < count; k++) {
        palette_bin all = {0};
        for (int i = b[k].first; i < b[k].first + b[k].count; i++) {
            const palette_bin *one = &bin[used[i].number];
            index_of_bin[used[i].number] = (unsigned char)k;
            all.count += one->count;
            for (int c = 0; c < 3; c++) {
                all.sum[c] += one->sum[c];
            }
        }
        for (int c = 0; c < 3; c++) {
            colour[k][c] = (unsigned char)((all.sum[c] + all.count / 2) / all.count);
        }
    }
    free(used);
    return count;
}
