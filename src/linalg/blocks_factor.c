/* Block Cholesky factorisation U'U = H, panel by panel.
 *
 *     C_ik = H_ik - sum_t U_ti' U_tk   over earlier panels t with blocks in the columns i and k,   k >= i
 *
 * and within the panel, row of blocks by row of blocks,
 *
 *     C_ik <- C_ik - sum_j U_ji' U_jk   over its rows j < i,      U_ii' U_ii = C_ii,   U_ik = U_ii^-T C_ik.
 *
 *     U_ti    tall block of panel t in column i, with all its rows
 *
 * Reference: Golub, Van Loan 2013, Matrix Computations, section 4.2.  Cost: multiplications as counted by order.c. */
#include "linalg/blocks.h"
#include "linalg/dense/cholesky.h"
#include "linalg/dense/strip.h"

#include <string.h>

/* Copies panel s of H to U. */
static void load_panel(spd_blocks *b, int s) {
    const spd_order *o = b->order;
    for (int e = o->start[s]; e < o->start[s + 1]; e++) {
        b->target[o->column[e]] = b->U + b->at[e];
    }
    for (int i = o->first[s]; i < o->first[s + 1]; i++) {
        const double *const *H = b->H + b->H_row[i];
        for (int e = o->start[s] + i - o->first[s]; e < o->start[s + 1]; e++) {
            int stride = b->stride[o->column[e]];
            spd_blocks_copy(b->U + b->at[e] + (ptrdiff_t)b->offset[i] * stride,
                            o->column[e] == i ? b->H_diagonal[i] : H[e - o->start[s]], b->size[i], stride);
        }
    }
}

/* Subtracts from row i the products of `height` rows of panel t: its column there, entry e, with it and later ones. */
static void subtract_products(spd_blocks *b, int i, int t, int e, int height) {
    /* diagonal block */
    const spd_order *o = b->order;
    const double *P = b->U + b->at[e];
    int n = b->size[i], stride = b->stride[i], end = o->start[t + 1];
    double *D = b->target[i] + (ptrdiff_t)b->offset[i] * stride;
    if (n == BODY_DOFS) {
        strip_update_6(height, P, P, D);
    } else {
        strip_update_upper(n, height, P, stride, P, stride, D, stride);
    }
    /* blocks to its right, two at a time where both are of bodies */
    for (int f = e + 1; f < end; f++) {
        int k = o->column[f], width = b->stride[k];
        const double *Q = b->U + b->at[f];
        double *C = b->target[k] + (ptrdiff_t)b->offset[i] * width;
        if (n == BODY_DOFS && width == BODY_STRIDE && STRIP_PAIRS && f + 1 < end &&
            b->stride[o->column[f + 1]] == BODY_STRIDE) {
            double *next = b->target[o->column[f + 1]] + (ptrdiff_t)b->offset[i] * BODY_STRIDE;
            strip_update_6_pair(height, P, Q, b->U + b->at[f + 1], C, next);
            f++;
        } else if (n == BODY_DOFS && width == BODY_STRIDE) {
            strip_update_6(height, P, Q, C);
        } else {
            strip_update(n, width, height, P, stride, Q, width, C, width);
        }
    }
}

static bool factor_row(spd_blocks *b, int s, int i) {
    const spd_order *o = b->order;
    int own = o->start[s] + i - o->first[s], above = b->offset[i], stride = b->stride[i];
    double *D = b->U + b->at[own] + (ptrdiff_t)above * stride, *inverse = b->inverse + b->x_at[i];
    if (above > 0) {
        subtract_products(b, i, s, own, above);
    }
    if (!cholesky_upper(b->size[i], stride, D, inverse)) {
        return false;
    }
    for (int e = own + 1; e < o->start[s + 1]; e++) {
        int width = b->stride[o->column[e]];
        cholesky_panel(b->size[i], D, stride, inverse, b->U + b->at[e] + (ptrdiff_t)above * width, width);
    }
    return true;
}

static bool factor_panel(void *self, int s) {
    spd_blocks *b = self;
    const spd_order *o = b->order;
    load_panel(b, s);
    for (int k = b->above_start[s]; k < b->above_start[s + 1]; k++) {
        spd_above a = b->above[k];
        for (int e = a.first; e < a.end; e++) {
            subtract_products(b, o->column[e], a.panel, e, b->height[a.panel]);
        }
    }
    for (int i = o->first[s]; i < o->first[s + 1]; i++) {
        if (!factor_row(b, s, i)) {
            return false;
        }
    }
    return true;
}

/* A panel is stale where one that it needs is. */
static void spread_staleness(spd_blocks *b, int s) {
    for (int k = b->above_start[s]; k < b->above_start[s + 1] && !b->stale[s]; k++) {
        b->stale[s] = b->stale[b->above[k].panel];
    }
}

void spd_blocks_begin_factor(spd_blocks *b) {
    int panels = b->order->panels;
    if (b->stale_all) {
        memset(b->stale, 1, (size_t)panels);
    }
    b->stale_all = true; /* until all panels are done */
    for (int s = 0; s < panels; s++) {
        spread_staleness(b, s);
    }
}

void spd_blocks_end_factor(spd_blocks *b) {
    memset(b->stale, 0, (size_t)b->order->panels);
    b->stale_all = false;
}

bool spd_blocks_factor_stale(spd_blocks *b, spd_blocks_factor_panel *factor, void *self) {
    spd_blocks_begin_factor(b);
    for (int s = 0; s < b->order->panels; s++) {
        if (b->stale[s] && !factor(self, s)) {
            return false;
        }
    }
    spd_blocks_end_factor(b);
    return true;
}

bool spd_blocks_factor(spd_blocks *b) { return spd_blocks_factor_stale(b, factor_panel, b); }
