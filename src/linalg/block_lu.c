/* Sparse LU factorisation in dense blocks, panel by panel.
 *
 *     H = V' D^-1 C = V' U,     U_ik = D_i^-1 C_ik
 *
 *     C_ik = H_ik  - sum_t V_ti' U_tk        k >= i,  D_i = C_ii
 *     V_ik = H_ki' - sum_t U_ti' V_tk        k > i
 *
 * sums over the rows t < i with blocks in both columns.  U and V have the layout of a Cholesky factor (blocks.c), so
 * every product runs along rows.  D_i is factored by LU with row exchanges (lu.c).
 *
 *     forward    z_i = D_i^-1 (b_i - sum_{t < i} V_ti' z_t),      backward   x_i = z_i - sum_{k > i} U_ik x_k
 *
 * Reference: Golub, Van Loan 2013, sections 3.2 and 4.2.  Differs: no row exchanges between blocks; the caller's
 * matrices are diagonally dominant by blocks or are refined.
 * Cost: twice the multiplications of a Cholesky factor. */
#include "linalg/block_lu.h"
#include "linalg/block_system.h"
#include "linalg/dense/lu.h"
#include "linalg/dense/strip.h"

#include <stdlib.h>
#include <string.h>

struct block_lu {
    block_system system;  /* its layout has U */
    double *V;            /* in the layout of U */
    double **target;      /* [rows] at work: the tall block of V in this column */
    const double **lower; /* [entries of layout.H_row]: transposed blocks below the diagonal */
    double **diagonal, **upper, **lower_transposed; /* H: [nodes], [edges] */
    int *swap;                                      /* row exchanges, at layout.x_at */
    double *work, *column;                          /* of lu_factor; of lu_solve_block */
};

block_lu *block_lu_create(void) {
    block_lu *s = calloc(1, sizeof *s);
    if (s && !block_system_open(&s->system)) {
        block_lu_free(s);
        s = NULL;
    }
    return s;
}

void block_lu_free(block_lu *s) {
    if (s) {
        block_system_close(&s->system);
        free(s);
    }
}

/* Blocks of H, and their places in the factor. */
static bool connect_blocks(block_lu *s) {
    block_system *system = &s->system;
    const spd_graph *g = &system->graph;
    const spd_order *o = &system->order;
    spd_blocks *b = &system->layout;
    s->lower = ARENA_NEW(system->kept, const double *, b->H_count);
    s->diagonal = ARENA_NEW(system->kept, double *, g->nodes);
    s->upper = ARENA_NEW(system->kept, double *, g->edges);
    s->lower_transposed = ARENA_NEW(system->kept, double *, g->edges);
    bool ok = s->lower && s->diagonal && s->upper && s->lower_transposed;
    for (int t = 0; t < g->nodes && ok; t++) {
        s->diagonal[t] = block_system_new_block(system, t, t);
        ok = s->diagonal[t] != NULL;
        spd_blocks_connect(b, o->place[t], o->place[t], s->diagonal[t]);
    }
    /* the same places twice: first for the blocks below, then for those above the diagonal */
    for (int e = 0; e < g->edges && ok; e++) {
        spd_edge at = block_system_orient(system, e);
        s->upper[e] = block_system_new_block(system, at.a, at.b);
        s->lower_transposed[e] = block_system_new_block(system, at.a, at.b);
        ok = s->upper[e] && s->lower_transposed[e];
        spd_blocks_connect(b, o->place[at.a], o->place[at.b], s->lower_transposed[e]);
    }
    if (ok) {
        memcpy(s->lower, b->H, b->H_count * sizeof *s->lower);
    }
    for (int e = 0; e < g->edges && ok; e++) {
        spd_edge at = block_system_orient(system, e);
        spd_blocks_connect(b, o->place[at.a], o->place[at.b], s->upper[e]);
    }
    return ok;
}

static bool prepare_lu(block_lu *s, const spd_graph *g) {
    block_system *system = &s->system;
    if (block_system_set_graph(system, g) || block_system_find_order(system) || block_system_find_layout(system)) {
        return false;
    }
    const spd_blocks *b = &system->layout;
    int largest = 0;
    for (int node = 0; node < g->nodes; node++) {
        largest = g->size[node] > largest ? g->size[node] : largest;
    }
    s->V = ARENA_NEW(system->kept, double, b->numbers);
    s->target = ARENA_NEW(system->kept, double *, b->rows);
    s->swap = ARENA_NEW(system->kept, int, b->x_at[b->rows]);
    s->work = ARENA_NEW(system->kept, double, lu_work(largest));
    s->column = ARENA_NEW(system->kept, double, largest);
    return s->V && s->target && s->swap && s->work && s->column && connect_blocks(s);
}

sim_status block_lu_analyse(block_lu *s, const spd_graph *g) {
    if (!block_system_has_graph(&s->system, g)) {
        s->system.known = prepare_lu(s, g);
    }
    return s->system.known ? SIM_OK : SIM_NO_RESOURCE;
}

double block_lu_multiplications(const block_lu *s) { return 2 * s->system.order.multiplications; }

double *block_lu_diagonal(block_lu *s, int node) {
    block_system_mark_stale(&s->system, node);
    return s->diagonal[node];
}

block_lu_edge block_lu_between(block_lu *s, int edge) {
    spd_edge e = block_system_orient(&s->system, edge);
    block_system_mark_stale(&s->system, e.a);
    return (block_lu_edge){e.a, e.b, strip_stride(s->system.graph.size[e.b]), s->upper[edge],
                           s->lower_transposed[edge]};
}

/* Copies panel p of H to U and V. */
static void load_lu_panel(block_lu *s, int p) {
    const spd_order *o = &s->system.order;
    spd_blocks *b = &s->system.layout;
    for (int e = o->start[p]; e < o->start[p + 1]; e++) {
        b->target[o->column[e]] = b->U + b->at[e];
        s->target[o->column[e]] = s->V + b->at[e];
    }
    for (int i = o->first[p]; i < o->first[p + 1]; i++) {
        for (int e = o->start[p] + i - o->first[p]; e < o->start[p + 1]; e++) {
            int stride = b->stride[o->column[e]], k = b->H_row[i] + e - o->start[p];
            ptrdiff_t at = b->at[e] + (ptrdiff_t)b->offset[i] * stride;
            if (o->column[e] == i) {
                spd_blocks_copy(b->U + at, b->H_diagonal[i], b->size[i], stride);
            } else {
                spd_blocks_copy(b->U + at, b->H[k], b->size[i], stride);
                spd_blocks_copy(s->V + at, s->lower[k], b->size[i], stride);
            }
        }
    }
}

/* C -= P' Q with `height` rows */
static void subtract_block(int n, int width, int height, const double *P, int stride, const double *Q, double *C) {
    if (n == BODY_DOFS && width == BODY_STRIDE) {
        strip_update_6(height, P, Q, C);
    } else {
        strip_update(n, width, height, P, stride, Q, width, C, width);
    }
}

/* Subtracts from row i the products of `height` rows of panel p: its column there, entry e, with it and later ones. */
static void subtract_lu_products(block_lu *s, int i, int p, int e, int height) {
    const spd_order *o = &s->system.order;
    spd_blocks *b = &s->system.layout;
    const double *U = b->U + b->at[e], *V = s->V + b->at[e];
    int n = b->size[i], stride = b->stride[i];
    subtract_block(n, stride, height, V, stride, U, b->target[i] + (ptrdiff_t)b->offset[i] * stride);
    /* blocks to its right and below, two columns at a time where both are of bodies */
    int end = o->start[p + 1];
    for (int f = e + 1; f < end; f++) {
        int k = o->column[f], width = b->stride[k];
        ptrdiff_t to = (ptrdiff_t)b->offset[i] * width;
        if (n == BODY_DOFS && width == BODY_STRIDE && STRIP_PAIRS && f + 1 < end &&
            b->stride[o->column[f + 1]] == BODY_STRIDE) {
            int next = o->column[++f];
            strip_update_6_pair(height, V, b->U + b->at[f - 1], b->U + b->at[f], b->target[k] + to,
                                b->target[next] + to);
            strip_update_6_pair(height, U, s->V + b->at[f - 1], s->V + b->at[f], s->target[k] + to,
                                s->target[next] + to);
            continue;
        }
        subtract_block(n, width, height, V, stride, b->U + b->at[f], b->target[k] + to);
        subtract_block(n, width, height, U, stride, s->V + b->at[f], s->target[k] + to);
    }
}

/* D_i = L U, U_ik = D_i^-1 C_ik */
static bool factor_lu_row(block_lu *s, int p, int i) {
    const spd_order *o = &s->system.order;
    spd_blocks *b = &s->system.layout;
    int own = o->start[p] + i - o->first[p], above = b->offset[i], n = b->size[i], stride = b->stride[i];
    int *swap = s->swap + b->x_at[i];
    if (above > 0) {
        subtract_lu_products(s, i, p, own, above);
    }
    double *D = b->U + b->at[own] + (ptrdiff_t)above * stride;
    if (!lu_factor(n, stride, D, swap, s->work, NULL)) {
        return false;
    }
    for (int e = own + 1; e < o->start[p + 1]; e++) {
        int width = b->stride[o->column[e]];
        lu_solve_block(n, stride, D, swap, width, b->U + b->at[e] + (ptrdiff_t)above * width, s->column);
    }
    return true;
}

static bool factor_lu_panel(void *self, int p) {
    block_lu *s = self;
    const spd_order *o = &s->system.order;
    const spd_blocks *b = &s->system.layout;
    load_lu_panel(s, p);
    for (int k = b->above_start[p]; k < b->above_start[p + 1]; k++) {
        spd_above a = b->above[k];
        for (int e = a.first; e < a.end; e++) {
            subtract_lu_products(s, o->column[e], a.panel, e, b->height[a.panel]);
        }
    }
    for (int i = o->first[p]; i < o->first[p + 1]; i++) {
        if (!factor_lu_row(s, p, i)) {
            return false;
        }
    }
    return true;
}

bool block_lu_factor(block_lu *s) { return spd_blocks_factor_stale(&s->system.layout, factor_lu_panel, s); }

static void solve_lu_forward(block_lu *s, int p) {
    const spd_order *o = &s->system.order;
    const spd_blocks *b = &s->system.layout;
    double *own = s->system.x + b->x_at[o->first[p]];
    for (int i = o->first[p], e = o->start[p]; i < o->first[p + 1]; i++, e++) {
        int stride = b->stride[i], above = b->offset[i];
        if (above > 0) {
            spd_blocks_subtract_transposed(above, stride, s->V + b->at[e], own, own + above);
        }
        lu_solve(b->size[i], stride, b->U + b->at[e] + (ptrdiff_t)above * stride, s->swap + b->x_at[i], own + above);
    }
    for (int e = o->start[p] + o->first[p + 1] - o->first[p]; e < o->start[p + 1]; e++) {
        int k = o->column[e];
        spd_blocks_subtract_transposed(b->height[p], b->stride[k], s->V + b->at[e], own, s->system.x + b->x_at[k]);
    }
}

static void solve_lu_backward(block_lu *s, int p) {
    const spd_order *o = &s->system.order;
    const spd_blocks *b = &s->system.layout;
    double *own = s->system.x + b->x_at[o->first[p]];
    int first = o->start[p] + o->first[p + 1] - o->first[p];
    spd_blocks_subtract_rows(b, 0, b->height[p], first, o->start[p + 1], s->system.x, own);
    for (int i = o->first[p + 1] - 1, e = first - 1; i >= o->first[p]; i--, e--) {
        spd_blocks_subtract_rows(b, b->offset[i], b->size[i], e + 1, first, s->system.x, own);
    }
}

void block_lu_solve(block_lu *s, double *x) {
    int panels = s->system.order.panels;
    block_system_gather(&s->system, x);
    for (int p = 0; p < panels; p++) {
        solve_lu_forward(s, p);
    }
    for (int p = panels - 1; p >= 0; p--) {
        solve_lu_backward(s, p);
    }
    block_system_scatter(&s->system, x);
}
