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
 * Threads share out the panels (blocks_schedule.c).  Those that they factor together they share out by rows and columns
 * of blocks; the diagonal blocks of some rows at a time are one thread's.
 *
 * Reference: Golub, Van Loan 2013, sections 3.2 and 4.2.  Differs: no row exchanges between blocks; the caller's
 * matrices are diagonally dominant by blocks or are refined.
 * Cost: twice the multiplications of a Cholesky factor. */
#include "linalg/block_lu.h"
#include "linalg/block_system.h"
#include "linalg/blocks_schedule.h"
#include "linalg/dense/lu.h"
#include "linalg/dense/strip.h"

#include <stdlib.h>
#include <string.h>

/* Columns of blocks of a task, an even number; rows of blocks whose diagonal blocks one thread factors in a go. */
enum { CHUNK_COLUMNS = 8, GROUP_ROWS = 4 };

static const double MIN_SHARED_WORK = 5e5; /* multiplications of a factor, some 50 us, that several threads share */

/* A thread at work on a panel. */
typedef struct lu_worker {
    double **U, **V;       /* [rows] tall block of the panel in this column */
    double *work, *column; /* of lu_factor; of lu_solve_block */
} lu_worker;

struct block_lu {
    block_system system;  /* its layout has U */
    double *V;            /* in the layout of U */
    const double **lower; /* [entries of layout.H_row]: transposed blocks below the diagonal */
    double **diagonal, **upper, **lower_transposed; /* H: [nodes], [edges] */
    int *swap;                                      /* row exchanges, at layout.x_at */
    sim_threads *threads;                           /* NULL: one */
    blocks_schedule schedule;                       /* for the threads of the last analysis */
    lu_worker *worker;
    int workers;
};

/* A panel that all threads factor. */
typedef struct lu_panel {
    block_lu *lu;
    int panel;
    int begin, end; /* rows whose diagonal blocks are factored */
} lu_panel;

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

static bool make_workers(block_lu *s, int count) {
    block_system *system = &s->system;
    int largest = 0, rows = system->layout.rows;
    for (int node = 0; node < system->graph.nodes; node++) {
        largest = system->graph.size[node] > largest ? system->graph.size[node] : largest;
    }
    s->worker = ARENA_NEW(system->kept, lu_worker, count);
    bool ok = s->worker;
    for (int k = 0; k < count && ok; k++) {
        lu_worker *w = &s->worker[k];
        w->U = ARENA_NEW(system->kept, double *, rows);
        w->V = ARENA_NEW(system->kept, double *, rows);
        w->work = ARENA_NEW(system->kept, double, lu_work(largest));
        w->column = ARENA_NEW(system->kept, double, largest);
        ok = w->U && w->V && w->work && w->column;
    }
    s->workers = count;
    return ok &&
           (count == 1 || !blocks_schedule_make(&s->schedule, &system->layout, count, system->kept, system->scratch));
}

static bool prepare_lu(block_lu *s, const spd_graph *g, int workers) {
    block_system *system = &s->system;
    if (block_system_set_graph(system, g) || block_system_find_order(system) || block_system_find_layout(system)) {
        return false;
    }
    const spd_blocks *b = &system->layout;
    s->V = ARENA_NEW(system->kept, double, b->numbers);
    s->swap = ARENA_NEW(system->kept, int, b->x_at[b->rows]);
    return s->V && s->swap && make_workers(s, workers) && connect_blocks(s);
}

sim_status block_lu_analyse(block_lu *s, const spd_graph *g, sim_threads *threads) {
    int workers = threads ? threads_count(threads) : 1;
    s->threads = workers > 1 ? threads : NULL;
    if (!block_system_has_graph(&s->system, g) || s->workers < workers) {
        s->system.known = prepare_lu(s, g, workers);
    }
    return s->system.known ? SIM_OK : SIM_NO_RESOURCE;
}

double block_lu_multiplications(const block_lu *s) { return 2 * s->system.order.multiplications; }

double *block_lu_diagonal(block_lu *s, int node) {
    block_system_mark_stale(&s->system, node);
    return s->diagonal[node];
}

void block_lu_mark(block_lu *s, int edge) {
    block_system_mark_stale(&s->system, block_system_orient(&s->system, edge).a);
}

block_lu_edge block_lu_between(const block_lu *s, int edge) {
    spd_edge e = block_system_orient(&s->system, edge);
    return (block_lu_edge){e.a, e.b, strip_stride(s->system.graph.size[e.b]), s->upper[edge],
                           s->lower_transposed[edge]};
}

/* The panel at work of a thread. */
static void open_panel(block_lu *s, const lu_worker *w, int p) {
    const spd_order *o = &s->system.order;
    const spd_blocks *b = &s->system.layout;
    for (int e = o->start[p]; e < o->start[p + 1]; e++) {
        w->U[o->column[e]] = b->U + b->at[e];
        w->V[o->column[e]] = s->V + b->at[e];
    }
}

/* Copies row i of panel p of H to U and V, its entries [from, to). */
static void load_row(block_lu *s, int p, int i, int from, int to) {
    const spd_order *o = &s->system.order;
    const spd_blocks *b = &s->system.layout;
    for (int e = from; e < to; e++) {
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

/* C -= P' Q with `height` rows */
static void subtract_block(int n, int width, int height, const double *P, int stride, const double *Q, double *C) {
    if (n == BODY_DOFS && width == BODY_STRIDE) {
        strip_update_6(height, P, Q, C);
    } else {
        strip_update(n, width, height, P, stride, Q, width, C, width);
    }
}

/* Subtracts from row i the products of `height` rows of a panel: its column there, entry e, with the entries [from, to),
 * of which e may be the first. */
static void subtract_lu_products(block_lu *s, const lu_worker *w, int i, int e, int from, int to, int height) {
    const spd_order *o = &s->system.order;
    const spd_blocks *b = &s->system.layout;
    const double *U = b->U + b->at[e], *V = s->V + b->at[e];
    int n = b->size[i], stride = b->stride[i];
    if (from == e && from < to) {
        subtract_block(n, stride, height, V, stride, U, w->U[i] + (ptrdiff_t)b->offset[i] * stride);
        from++;
    }
    /* blocks to its right and below, two columns at a time where both are of bodies */
    for (int f = from; f < to; f++) {
        int k = o->column[f], width = b->stride[k];
        ptrdiff_t at = (ptrdiff_t)b->offset[i] * width;
        if (n == BODY_DOFS && width == BODY_STRIDE && STRIP_PAIRS && f + 1 < to &&
            b->stride[o->column[f + 1]] == BODY_STRIDE) {
            int next = o->column[++f];
            strip_update_6_pair(height, V, b->U + b->at[f - 1], b->U + b->at[f], w->U[k] + at, w->U[next] + at);
            strip_update_6_pair(height, U, s->V + b->at[f - 1], s->V + b->at[f], w->V[k] + at, w->V[next] + at);
            continue;
        }
        subtract_block(n, width, height, V, stride, b->U + b->at[f], w->U[k] + at);
        subtract_block(n, width, height, U, stride, s->V + b->at[f], w->V[k] + at);
    }
}

/* U_ik = D_i^-1 C_ik of the entries [from, to). */
static void solve_row(block_lu *s, const lu_worker *w, int i, const double *D, int from, int to) {
    const spd_blocks *b = &s->system.layout;
    for (int e = from; e < to; e++) {
        int width = b->stride[s->system.order.column[e]];
        lu_solve_block(b->size[i], b->stride[i], D, s->swap + b->x_at[i], width,
                       b->U + b->at[e] + (ptrdiff_t)b->offset[i] * width, w->column);
    }
}

static int entry_of_row(const block_lu *s, int p, int i) {
    return s->system.order.start[p] + i - s->system.order.first[p];
}

static double *diagonal_of_row(const block_lu *s, int p, int i) {
    const spd_blocks *b = &s->system.layout;
    return b->U + b->at[entry_of_row(s, p, i)] + (ptrdiff_t)b->offset[i] * b->stride[i];
}

/* D_i = L U, U_ik = D_i^-1 C_ik, of the entries before `to`. */
static bool factor_lu_row(block_lu *s, const lu_worker *w, int p, int i, int to) {
    const spd_blocks *b = &s->system.layout;
    int own = entry_of_row(s, p, i), above = b->offset[i];
    if (above > 0) {
        subtract_lu_products(s, w, i, own, own, to, above);
    }
    double *D = diagonal_of_row(s, p, i);
    if (!lu_factor(b->size[i], b->stride[i], D, s->swap + b->x_at[i], w->work, NULL)) {
        return false;
    }
    solve_row(s, w, i, D, own + 1, to);
    return true;
}

static bool factor_lu_panel(void *self, int worker, int p) {
    block_lu *s = self;
    const lu_worker *w = &s->worker[worker];
    const spd_order *o = &s->system.order;
    const spd_blocks *b = &s->system.layout;
    /* H, less the products of the panels before */
    open_panel(s, w, p);
    for (int i = o->first[p]; i < o->first[p + 1]; i++) {
        load_row(s, p, i, entry_of_row(s, p, i), o->start[p + 1]);
    }
    for (int k = b->above_start[p]; k < b->above_start[p + 1]; k++) {
        spd_above a = b->above[k];
        for (int e = a.first; e < a.end; e++) {
            subtract_lu_products(s, w, o->column[e], e, e, o->start[a.panel + 1], b->height[a.panel]);
        }
    }
    /* its own rows */
    for (int i = o->first[p]; i < o->first[p + 1]; i++) {
        if (!factor_lu_row(s, w, p, i, o->start[p + 1])) {
            return false;
        }
    }
    return true;
}

static bool factor_lu_panel_alone(void *self, int p) { return factor_lu_panel(self, 0, p); }

/* ---- a panel by all threads ---- */

/* The first of the entries [first, end) with a column from `column` on. */
static int find_entry(const spd_order *o, int first, int end, int column) {
    while (first < end) {
        int middle = first + (end - first) / 2;
        if (o->column[middle] < column) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first;
}

static int count_chunks(int columns) { return (columns + CHUNK_COLUMNS - 1) / CHUNK_COLUMNS; }

/* H, and the products of the panels before, in the entries [from, to) of row i. */
static void assemble_row(block_lu *s, int p, int i, int from, int to) {
    const spd_order *o = &s->system.order;
    const spd_blocks *b = &s->system.layout;
    int low = o->column[from], high = o->column[to - 1];
    load_row(s, p, i, from, to);
    for (int k = b->above_start[p]; k < b->above_start[p + 1]; k++) {
        spd_above a = b->above[k];
        int e = find_entry(o, a.first, a.end, i), end = o->start[a.panel + 1];
        if (e < a.end && o->column[e] == i) {
            int first = find_entry(o, e, end, low), last = find_entry(o, first, end, high + 1);
            subtract_lu_products(s, &s->worker[0], i, e, first, last, b->height[a.panel]);
        }
    }
}

/* Tasks: chunks of columns, row by row. */
static void assemble_chunks(void *context, int worker, int first, int end) {
    const lu_panel *work = context;
    block_lu *s = work->lu;
    const spd_order *o = &s->system.order;
    int p = work->panel, chunks = count_chunks(o->start[p + 1] - o->start[p]);
    (void)worker;
    for (int k = first; k < end; k++) {
        int i = o->first[p] + k / chunks, own = entry_of_row(s, p, i), from = o->start[p] + k % chunks * CHUNK_COLUMNS;
        int to = from + CHUNK_COLUMNS < o->start[p + 1] ? from + CHUNK_COLUMNS : o->start[p + 1];
        from = from > own ? from : own;
        if (from < to) {
            assemble_row(s, p, i, from, to);
        }
    }
}

/* Rows whose diagonal blocks are factored, in chunks of the columns behind them. */
static void factor_chunks(void *context, int worker, int first, int end) {
    const lu_panel *work = context;
    block_lu *s = work->lu;
    const spd_order *o = &s->system.order;
    int p = work->panel, behind = entry_of_row(s, p, work->end);
    for (int k = first; k < end; k++) {
        int from = behind + k * CHUNK_COLUMNS;
        int to = from + CHUNK_COLUMNS < o->start[p + 1] ? from + CHUNK_COLUMNS : o->start[p + 1];
        for (int i = work->begin; i < work->end; i++) {
            int above = s->system.layout.offset[i];
            if (above > 0) {
                subtract_lu_products(s, &s->worker[0], i, entry_of_row(s, p, i), from, to, above);
            }
            solve_row(s, &s->worker[worker], i, diagonal_of_row(s, p, i), from, to);
        }
    }
}

static bool factor_lu_panel_together(void *self, sim_threads *threads, int p) {
    block_lu *s = self;
    const spd_order *o = &s->system.order;
    int columns = o->start[p + 1] - o->start[p], last = o->first[p + 1];
    lu_panel work = {.lu = s, .panel = p};
    open_panel(s, &s->worker[0], p);
    threads_run_dynamic(threads, (last - o->first[p]) * count_chunks(columns), assemble_chunks, &work);
    for (work.begin = o->first[p]; work.begin < last; work.begin = work.end) {
        work.end = work.begin + GROUP_ROWS < last ? work.begin + GROUP_ROWS : last;
        int behind = entry_of_row(s, p, work.end);
        for (int i = work.begin; i < work.end; i++) {
            if (!factor_lu_row(s, &s->worker[0], p, i, behind)) {
                return false;
            }
        }
        threads_run_dynamic(threads, count_chunks(o->start[p + 1] - behind), factor_chunks, &work);
    }
    return true;
}

bool block_lu_factor(block_lu *s) {
    const blocks_panel_method method = {s, factor_lu_panel, factor_lu_panel_together};
    bool shares = s->threads && block_lu_multiplications(s) >= MIN_SHARED_WORK;
    return shares ? blocks_schedule_run(&s->schedule, &s->system.layout, s->threads, &method)
                  : spd_blocks_factor_stale(&s->system.layout, factor_lu_panel_alone, s);
}

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
