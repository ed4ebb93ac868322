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
#include "linalg/blocks.h"
#include "linalg/lu.h"
#include "linalg/strip.h"

#include <stdlib.h>
#include <string.h>

enum { SIX = 6, WIDE = 8 }; /* a free body's block: rows of six numbers and two zeros */

struct block_lu {
    sim_arena *kept, *scratch;
    spd_graph graph; /* copies */
    bool known, renewed;
    spd_order order;
    spd_blocks layout;    /* and U */
    double *V;            /* in the layout of U */
    double **target;      /* [rows] at work: the tall block of V in this column */
    const double **lower; /* [entries of layout.H_row]: transposed blocks below the diagonal */
    double **diagonal, **upper, **lower_transposed; /* H: [nodes], [edges] */
    int *swap;                                      /* row exchanges, at layout.x_at */
    double *x, *work, *column;                      /* [x_at[rows]]; of lu_factor; of lu_solve_block */
};

block_lu *block_lu_create(void) {
    block_lu *s = calloc(1, sizeof *s);
    if (s) {
        s->kept = arena_create();
        s->scratch = arena_create();
        if (!s->kept || !s->scratch) {
            block_lu_free(s);
            s = NULL;
        }
    }
    return s;
}

void block_lu_free(block_lu *s) {
    if (s) {
        arena_free(s->scratch);
        arena_free(s->kept);
        free(s);
    }
}

static bool has_graph(const block_lu *s, const spd_graph *g) {
    const spd_graph *own = &s->graph;
    return s->known && own->nodes == g->nodes && own->edges == g->edges &&
           (!g->nodes || memcmp(own->size, g->size, (size_t)g->nodes * sizeof *g->size) == 0) &&
           (!g->edges || memcmp(own->edge, g->edge, (size_t)g->edges * sizeof *g->edge) == 0);
}

static bool copy_graph_of(block_lu *s, const spd_graph *g) {
    int *size = ARENA_NEW(s->kept, int, g->nodes);
    spd_edge *edge = ARENA_NEW(s->kept, spd_edge, g->edges);
    if (!size || !edge) {
        return false;
    }
    memcpy(size, g->size, (size_t)g->nodes * sizeof *size);
    memcpy(edge, g->edge, (size_t)g->edges * sizeof *edge);
    s->graph = (spd_graph){g->nodes, g->edges, size, edge};
    return true;
}

/* The nodes of an edge as row and column. */
static spd_edge orient(const block_lu *s, int edge) {
    spd_edge e = s->graph.edge[edge];
    return s->order.place[e.b] < s->order.place[e.a] ? (spd_edge){e.b, e.a} : e;
}

/* Blocks of H, and their places in the factor. */
static bool connect_blocks(block_lu *s) {
    const spd_graph *g = &s->graph;
    const spd_order *o = &s->order;
    spd_blocks *b = &s->layout;
    size_t blocks = 0;
    for (int i = 0; i < g->nodes; i++) {
        blocks += (size_t)(o->start[b->panel[i] + 1] - o->start[b->panel[i]]);
    }
    s->lower = ARENA_NEW(s->kept, const double *, blocks);
    s->diagonal = ARENA_NEW(s->kept, double *, g->nodes);
    s->upper = ARENA_NEW(s->kept, double *, g->edges);
    s->lower_transposed = ARENA_NEW(s->kept, double *, g->edges);
    bool ok = s->lower && s->diagonal && s->upper && s->lower_transposed;
    for (int t = 0; t < g->nodes && ok; t++) {
        s->diagonal[t] = ARENA_NEW(s->kept, double, (size_t)g->size[t] * strip_stride(g->size[t]));
        ok = s->diagonal[t] != NULL;
        if (ok) {
            spd_blocks_connect(b, o->place[t], o->place[t], s->diagonal[t]);
        }
    }
    for (int e = 0; e < g->edges && ok; e++) {
        spd_edge at = orient(s, e);
        size_t numbers = (size_t)g->size[at.a] * strip_stride(g->size[at.b]);
        s->upper[e] = ARENA_NEW(s->kept, double, numbers);
        s->lower_transposed[e] = ARENA_NEW(s->kept, double, numbers);
        ok = s->upper[e] && s->lower_transposed[e];
        if (ok) { /* the same place twice: first for the blocks below, then for those above the diagonal */
            spd_blocks_connect(b, o->place[at.a], o->place[at.b], s->lower_transposed[e]);
        }
    }
    if (ok) {
        memcpy(s->lower, b->H, blocks * sizeof *s->lower);
    }
    for (int e = 0; e < g->edges && ok; e++) {
        spd_edge at = orient(s, e);
        spd_blocks_connect(b, o->place[at.a], o->place[at.b], s->upper[e]);
    }
    return ok;
}

static bool prepare(block_lu *s, const spd_graph *g) {
    if (!copy_graph_of(s, g) || spd_order_find(&s->graph, s->kept, s->scratch, &s->order)) {
        return false;
    }
    int *size = ARENA_NEW(s->kept, int, g->nodes), largest = 0;
    for (int i = 0; size && i < g->nodes; i++) {
        size[i] = g->size[s->order.node[i]];
        largest = size[i] > largest ? size[i] : largest;
    }
    if (!size || spd_blocks_prepare(&s->layout, &s->order, g->nodes, size, s->kept)) {
        return false;
    }
    const spd_order *o = &s->order;
    ptrdiff_t numbers = 0;
    for (int p = 0; p < o->panels; p++) {
        for (int e = o->start[p]; e < o->start[p + 1]; e++) {
            numbers += (ptrdiff_t)s->layout.height[p] * s->layout.stride[o->column[e]];
        }
    }
    s->V = ARENA_NEW(s->kept, double, numbers);
    s->target = ARENA_NEW(s->kept, double *, g->nodes);
    s->swap = ARENA_NEW(s->kept, int, s->layout.x_at[g->nodes]);
    s->x = ARENA_NEW(s->kept, double, s->layout.x_at[g->nodes]);
    s->work = ARENA_NEW(s->kept, double, lu_work(largest));
    s->column = ARENA_NEW(s->kept, double, largest);
    return s->V && s->target && s->swap && s->x && s->work && s->column && connect_blocks(s);
}

sim_status block_lu_analyse(block_lu *s, const spd_graph *g) {
    s->renewed = !has_graph(s, g);
    if (s->renewed) {
        arena_release(s->kept, 0);
        s->known = prepare(s, g);
    }
    return s->known ? SIM_OK : SIM_NO_RESOURCE;
}

bool block_lu_renewed(const block_lu *s) { return s->renewed; }
double block_lu_multiplications(const block_lu *s) { return 2 * s->order.multiplications; }

double *block_lu_diagonal(block_lu *s, int node) {
    s->layout.stale[s->layout.panel[s->order.place[node]]] = 1;
    return s->diagonal[node];
}

block_lu_edge block_lu_between(block_lu *s, int edge) {
    spd_edge e = orient(s, edge);
    s->layout.stale[s->layout.panel[s->order.place[e.a]]] = 1;
    return (block_lu_edge){e.a, e.b, strip_stride(s->graph.size[e.b]), s->upper[edge], s->lower_transposed[edge]};
}

static void copy_block_or_zero(double *to, const double *from, int rows, int stride) {
    size_t bytes = (size_t)rows * (size_t)stride * sizeof *to;
    if (from) {
        memcpy(to, from, bytes);
    } else {
        memset(to, 0, bytes);
    }
}

/* Copies panel p of H to U and V. */
static void load_lu_panel(block_lu *s, int p) {
    const spd_order *o = &s->order;
    spd_blocks *b = &s->layout;
    for (int e = o->start[p]; e < o->start[p + 1]; e++) {
        b->target[o->column[e]] = b->U + b->at[e];
        s->target[o->column[e]] = s->V + b->at[e];
    }
    for (int i = o->first[p]; i < o->first[p + 1]; i++) {
        for (int e = o->start[p] + i - o->first[p]; e < o->start[p + 1]; e++) {
            int stride = b->stride[o->column[e]], k = b->H_row[i] + e - o->start[p];
            ptrdiff_t at = b->at[e] + (ptrdiff_t)b->offset[i] * stride;
            if (o->column[e] == i) {
                copy_block_or_zero(b->U + at, b->H_diagonal[i], b->size[i], stride);
            } else {
                copy_block_or_zero(b->U + at, b->H[k], b->size[i], stride);
                copy_block_or_zero(s->V + at, s->lower[k], b->size[i], stride);
            }
        }
    }
}

/* C -= P' Q with `height` rows */
static void subtract_block(int n, int width, int height, const double *P, int stride, const double *Q, double *C) {
    if (n == SIX && width == WIDE) {
        strip_update_6(height, P, Q, C);
    } else {
        strip_update(n, width, height, P, stride, Q, width, C, width);
    }
}

/* Subtracts from row i the products of `height` rows of panel p: its column there, entry e, with it and later ones. */
static void subtract_lu_products(block_lu *s, int i, int p, int e, int height) {
    const spd_order *o = &s->order;
    spd_blocks *b = &s->layout;
    const double *U = b->U + b->at[e], *V = s->V + b->at[e];
    int n = b->size[i], stride = b->stride[i];
    subtract_block(n, stride, height, V, stride, U, b->target[i] + (ptrdiff_t)b->offset[i] * stride);
    for (int f = e + 1; f < o->start[p + 1]; f++) {
        int k = o->column[f], width = b->stride[k];
        ptrdiff_t to = (ptrdiff_t)b->offset[i] * width;
        subtract_block(n, width, height, V, stride, b->U + b->at[f], b->target[k] + to);
        subtract_block(n, width, height, U, stride, s->V + b->at[f], s->target[k] + to);
    }
}

/* D_i = L U, U_ik = D_i^-1 C_ik */
static bool factor_lu_row(block_lu *s, int p, int i) {
    const spd_order *o = &s->order;
    spd_blocks *b = &s->layout;
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

static bool factor_lu_panel(block_lu *s, int p) {
    const spd_order *o = &s->order;
    const spd_blocks *b = &s->layout;
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

/* Has the panel changed, or one that it depends on? */
static bool is_stale(block_lu *s, int p) {
    spd_blocks *b = &s->layout;
    for (int k = b->above_start[p]; k < b->above_start[p + 1] && !b->stale[p]; k++) {
        b->stale[p] = b->stale[b->above[k].panel];
    }
    return b->stale[p];
}

bool block_lu_factor(block_lu *s) {
    spd_blocks *b = &s->layout;
    int panels = s->order.panels;
    if (b->stale_all) {
        memset(b->stale, 1, (size_t)panels);
    }
    b->stale_all = true; /* until all panels are done */
    for (int p = 0; p < panels; p++) {
        if (is_stale(s, p) && !factor_lu_panel(s, p)) {
            return false;
        }
    }
    memset(b->stale, 0, (size_t)panels);
    b->stale_all = false;
    return true;
}

static void solve_lu_forward(block_lu *s, int p) {
    const spd_order *o = &s->order;
    const spd_blocks *b = &s->layout;
    double *own = s->x + b->x_at[o->first[p]];
    for (int i = o->first[p], e = o->start[p]; i < o->first[p + 1]; i++, e++) {
        int stride = b->stride[i], above = b->offset[i];
        if (above > 0) {
            spd_blocks_subtract_transposed(above, stride, s->V + b->at[e], own, own + above);
        }
        lu_solve(b->size[i], stride, b->U + b->at[e] + (ptrdiff_t)above * stride, s->swap + b->x_at[i], own + above);
    }
    for (int e = o->start[p] + o->first[p + 1] - o->first[p]; e < o->start[p + 1]; e++) {
        int k = o->column[e];
        spd_blocks_subtract_transposed(b->height[p], b->stride[k], s->V + b->at[e], own, s->x + b->x_at[k]);
    }
}

static void solve_lu_backward(block_lu *s, int p) {
    const spd_order *o = &s->order;
    const spd_blocks *b = &s->layout;
    double *own = s->x + b->x_at[o->first[p]];
    int first = o->start[p] + o->first[p + 1] - o->first[p];
    spd_blocks_subtract_rows(b, 0, b->height[p], first, o->start[p + 1], s->x, own);
    for (int i = o->first[p + 1] - 1, e = first - 1; i >= o->first[p]; i--, e--) {
        spd_blocks_subtract_rows(b, b->offset[i], b->size[i], e + 1, first, s->x, own);
    }
}

/* Copies between the order of nodes and the padded rows of the factor. */
static void permute(const block_lu *s, double *x, bool back) {
    for (int t = 0; t < s->graph.nodes; t++) {
        double *at = s->x + s->layout.x_at[s->order.place[t]];
        size_t bytes = (size_t)s->graph.size[t] * sizeof *x;
        memcpy(back ? x : at, back ? at : x, bytes);
        x += s->graph.size[t];
    }
}

void block_lu_solve(block_lu *s, double *x) {
    memset(s->x, 0, (size_t)s->layout.x_at[s->layout.rows] * sizeof *s->x);
    permute(s, x, false);
    for (int p = 0; p < s->order.panels; p++) {
        solve_lu_forward(s, p);
    }
    for (int p = s->order.panels - 1; p >= 0; p--) {
        solve_lu_backward(s, p);
    }
    permute(s, x, true);
}
