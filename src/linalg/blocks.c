/* Layout of a sparse Cholesky factor in dense blocks.
 *
 *     U'U = H,     U upper, by rows
 *
 * A panel is a run of block rows with the same block columns.  Each of its columns is a tall block: the rows of the panel
 * stand one under the other there.  So the product of two columns is one long sum, along which both are read.
 *
 * Cost: some passes over the blocks of U. */
#include "linalg/blocks.h"
#include "linalg/dense/strip.h"

#include <string.h>

/* Places of all tall blocks in U and of the blocks of H, panel by panel. */
static void place_blocks(spd_blocks *b) {
    const spd_order *o = b->order;
    b->numbers = 0;
    b->H_count = 0;
    for (int s = 0; s < o->panels; s++) {
        b->height[s] = 0;
        for (int i = o->first[s]; i < o->first[s + 1]; i++) {
            b->panel[i] = s;
            b->offset[i] = b->height[s];
            b->height[s] += b->size[i];
            b->H_row[i] = (int)b->H_count;
            b->H_count += (size_t)(o->start[s + 1] - o->start[s]);
        }
        for (int e = o->start[s]; e < o->start[s + 1]; e++) {
            b->at[e] = b->numbers;
            b->numbers += (ptrdiff_t)b->height[s] * b->stride[o->column[e]];
        }
    }
}

/* Runs of entries of a panel that are rows of one later panel.  The first pass, with above NULL, counts them at
 * above_start[panel + 2]. */
static void find_runs(spd_blocks *b, spd_above *above) {
    const spd_order *o = b->order;
    for (int s = 0; s < o->panels; s++) {
        int e = o->start[s] + o->first[s + 1] - o->first[s];
        while (e < o->start[s + 1]) {
            int to = b->panel[o->column[e]], first = e;
            while (e < o->start[s + 1] && b->panel[o->column[e]] == to) {
                e++;
            }
            if (above) {
                above[b->above_start[to + 1]++] = (spd_above){s, first, e};
            } else {
                b->above_start[to + 2]++;
            }
        }
    }
}

static sim_status list_above(spd_blocks *b, sim_arena *kept) {
    int panels = b->order->panels;
    b->above_start = ARENA_NEW(kept, int, panels + 2);
    if (!b->above_start) {
        return SIM_NO_RESOURCE;
    }
    memset(b->above_start, 0, (size_t)(panels + 2) * sizeof *b->above_start);
    find_runs(b, NULL);
    for (int s = 0; s < panels; s++) {
        b->above_start[s + 2] += b->above_start[s + 1];
    }
    b->above = ARENA_NEW(kept, spd_above, b->above_start[panels + 1]);
    if (b->above) {
        find_runs(b, b->above);
    }
    return b->above ? SIM_OK : SIM_NO_RESOURCE;
}

/* Places in x, with padding behind each panel. */
static void place_x(spd_blocks *b) {
    const int PADDING = 4; /* numbers */
    const spd_order *o = b->order;
    int at = 0;
    for (int s = 0; s < o->panels; s++) {
        for (int i = o->first[s]; i < o->first[s + 1]; i++) {
            b->x_at[i] = at + b->offset[i];
        }
        at += strip_stride(b->height[s]) + PADDING;
    }
    b->x_at[b->rows] = at;
}

sim_status spd_blocks_prepare(spd_blocks *b, const spd_order *order, int rows, const int *size, sim_arena *kept) {
    /* memory of the layout */
    int entries = order->start[order->panels];
    b->rows = rows;
    b->order = order;
    b->size = size;
    b->stride = ARENA_NEW(kept, int, rows);
    b->panel = ARENA_NEW(kept, int, rows);
    b->offset = ARENA_NEW(kept, int, rows);
    b->height = ARENA_NEW(kept, int, order->panels);
    b->at = ARENA_NEW(kept, ptrdiff_t, entries);
    b->x_at = ARENA_NEW(kept, int, rows + 1);
    b->H_diagonal = ARENA_NEW(kept, const double *, rows);
    b->H_row = ARENA_NEW(kept, int, rows);
    b->target = ARENA_NEW(kept, double *, rows);
    b->stale = ARENA_NEW(kept, char, order->panels);
    b->stale_all = true;
    if (!b->stride || !b->panel || !b->offset || !b->height || !b->at || !b->x_at || !b->H_diagonal || !b->H_row ||
        !b->target || !b->stale) {
        return SIM_NO_RESOURCE;
    }
    /* places of the blocks and of x */
    for (int i = 0; i < rows; i++) {
        b->stride[i] = strip_stride(size[i]);
    }
    place_blocks(b);
    place_x(b);
    /* values */
    b->U = ARENA_NEW(kept, double, b->numbers);
    b->H = ARENA_NEW(kept, const double *, b->H_count);
    b->inverse = ARENA_NEW(kept, double, b->x_at[rows]);
    if (!b->U || !b->H || !b->inverse) {
        return SIM_NO_RESOURCE;
    }
    memset(b->H, 0, b->H_count * sizeof *b->H);
    return list_above(b, kept);
}

void spd_blocks_connect(spd_blocks *b, int i, int k, const double *H) {
    if (i == k) {
        b->H_diagonal[i] = H;
        return;
    }
    const spd_order *o = b->order;
    int first = o->start[b->panel[i]], low = first, high = o->start[b->panel[i] + 1] - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (o->column[middle] < k) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    b->H[b->H_row[i] + low - first] = H;
}
