/* Anderson acceleration of a fixed-point iteration x <- G(x), with a safeguard.
 *
 *     f = G(x) - x,    theta = argmin |f - dF theta|,    x <- G(x) - dG theta
 *
 * dF, dG: differences of the last f and G, at most `window` columns; |.| is weighted by the caller's scale.  Exact for
 * a linear G: contact problems are linear while no contact opens or begins to slide.
 *
 * Safeguard: an extrapolated x is kept only if the iteration from it changes no more than `max_growth` times |f|^2 of
 * the iteration before.  Otherwise x returns to the last G(x), and plain iterations follow: 1, 3, 7, ... up to 63 after
 * each rejection.  At worst one iteration in 65 is lost.
 *
 * Reference: Anderson 1965; Walker, Ni 2011.  Differs from the papers: the safeguard.
 * Cost: reads 2 window vectors per iteration, block by block, so that each block stays in the cache.  Sums add up the
 * blocks in order: the same bits for any number of threads. */
#include "solver/core/anderson.h"
#include "solver/core/lanes.h"

/* plain iterations; numbers, 2 kB; blocks */
enum { MAX_PAUSE = 63, BLOCK_LENGTH = 256, MIN_PARALLEL_BLOCKS = 8 };
static const double RELATIVE_RIDGE = 1e-12; /* regularises nearly dependent columns, relative */

/* ---- long vectors ---- */

typedef struct anderson_task {
    anderson *e;
    double *x;
    const double *theta;
} anderson_task;

static int padded_count(int n) { return (n + LANES - 1) / LANES * LANES; }

static int blocks_of(int n) { return (n + BLOCK_LENGTH - 1) / BLOCK_LENGTH; }

static int end_of(int block, int n) { return (block + 1) * BLOCK_LENGTH < n ? (block + 1) * BLOCK_LENGTH : n; }

static void run_blocks(const anderson *e, threads_task *share, anderson_task *w) {
    int blocks = blocks_of(e->n);
    if (e->threads && blocks >= MIN_PARALLEL_BLOCKS) {
        threads_run_dynamic(e->threads, blocks, share, w);
    } else {
        share(w, 0, 0, blocks);
    }
}

/* n: a multiple of LANES. */
static double dot_lanes(int n, const double *x, const double *y) {
    enum { PARTIAL_SUMS = 4 };
    wide sum[PARTIAL_SUMS] = {lane_all(0), lane_all(0), lane_all(0), lane_all(0)};
    int k = 0;
    for (; k + PARTIAL_SUMS * LANE_WIDTH <= n; k += PARTIAL_SUMS * LANE_WIDTH) {
        for (int i = 0; i < PARTIAL_SUMS; i++) {
            sum[i] += lane_load(x + k + i * LANE_WIDTH) * lane_load(y + k + i * LANE_WIDTH);
        }
    }
    for (; k < n; k += LANE_WIDTH) {
        sum[0] += lane_load(x + k) * lane_load(y + k);
    }
    double each[LANE_WIDTH], all = 0;
    lane_store(each, (sum[0] + sum[1]) + (sum[2] + sum[3]));
    for (int i = 0; i < LANE_WIDTH; i++) {
        all += each[i];
    }
    return all;
}

static double sum_parts(const anderson *e, int which) {
    double sum = 0;
    for (int block = 0; block < blocks_of(e->n); block++) {
        sum += e->part[(ptrdiff_t)block * (e->window + 1) + which];
    }
    return sum;
}

static void copy_blocks(void *context, int worker, int first, int end) {
    const anderson_task *w = context;
    int from = first * BLOCK_LENGTH, to = end_of(end - 1, w->e->n);
    (void)worker;
    memcpy(w->e->from + from, w->x + from, (size_t)(to - from) * sizeof *w->x);
}

static void scaled_change(int n, const double *restrict scale, const double *restrict x, const double *restrict from,
                          double *restrict to) {
    for (int k = 0; k < n; k++) {
        to[k] = scale[k] * (x[k] - from[k]);
    }
}

static void change_blocks(void *context, int worker, int first, int end) {
    const anderson_task *w = context;
    anderson *e = w->e;
    (void)worker;
    for (int block = first; block < end; block++) {
        int at = block * BLOCK_LENGTH, n = end_of(block, e->n) - at;
        scaled_change(n, e->scale + at, w->x + at, e->from + at, e->change + at);
        e->part[(ptrdiff_t)block * (e->window + 1)] = dot_lanes(padded_count(n), e->change + at, e->change + at);
    }
}

/* dx = x - was, was = x */
static void update_difference(int n, const double *restrict x, double *restrict was, double *restrict dx) {
    for (int k = 0; k < n; k++) {
        dx[k] = x[k] - was[k];
        was[k] = x[k];
    }
}

/* New columns of dF and dG, and the products of dF with all columns and with f. */
static void add_column_blocks(void *context, int worker, int first, int end) {
    const anderson_task *w = context;
    anderson *e = w->e;
    ptrdiff_t stride = padded_count(e->n);
    double *dF = e->dF + e->next * stride, *dG = e->dG + e->next * stride;
    int columns = e->columns < e->window ? e->columns + 1 : e->window;
    (void)worker;
    for (int block = first; block < end; block++) {
        int at = block * BLOCK_LENGTH, n = end_of(block, e->n) - at;
        double *part = e->part + (ptrdiff_t)block * (e->window + 1);
        update_difference(n, e->change + at, e->f + at, dF + at);
        update_difference(n, w->x + at, e->g + at, dG + at);
        for (int j = 0; j < columns; j++) {
            part[j] = dot_lanes(padded_count(n), dF + at, e->dF + j * stride + at);
        }
        part[e->window] = dot_lanes(padded_count(n), dF + at, e->f + at);
    }
}

/* x - dG theta for LANE_WIDTH numbers */
static wide extrapolate_lanes(const anderson *e, const double *theta, int k, wide x) {
    ptrdiff_t stride = padded_count(e->n);
    for (int j = 0; j < e->columns; j++) {
        x -= theta[j] * lane_load(e->dG + j * stride + k);
    }
    return x;
}

static void extrapolate_blocks(void *context, int worker, int first, int end) {
    const anderson_task *w = context;
    int to = end_of(end - 1, w->e->n), k = first * BLOCK_LENGTH;
    (void)worker;
    for (; k + LANE_WIDTH <= to; k += LANE_WIDTH) {
        lane_store(w->x + k, extrapolate_lanes(w->e, w->theta, k, lane_load(w->x + k)));
    }
    if (k < to) {
        double rest[LANE_WIDTH] = {0};
        memcpy(rest, w->x + k, (size_t)(to - k) * sizeof *rest);
        lane_store(rest, extrapolate_lanes(w->e, w->theta, k, lane_load(rest)));
        memcpy(w->x + k, rest, (size_t)(to - k) * sizeof *rest);
    }
}

/* ---- iterations ---- */

bool anderson_make(anderson *e, int numbers, int window, sim_arena *scratch) {
    size_t n = (size_t)padded_count(numbers), count = window > 0 ? 2 * (size_t)window + 5 : 0;
    *e = (anderson){.window = window, .n = numbers, .max_growth = 1};
    double *all = ARENA_NEW(scratch, double, n *count);
    e->part = ARENA_NEW(scratch, double, (size_t)blocks_of(numbers) * ((size_t)window + 1));
    if (!all || !e->part) {
        return false;
    }
    for (size_t k = 0; k < count; k++) { /* the padding counts in sums */
        memset(all + k * n + numbers, 0, (n - (size_t)numbers) * sizeof *all);
    }
    if (window > 0) {
        memset(all, 0, n * sizeof *all);
        e->scale = all;
        e->from = all + n;
        e->f = all + 2 * n;
        e->g = all + 3 * n;
        e->change = all + 4 * n;
        e->dF = all + 5 * n;
        e->dG = e->dF + (size_t)window * n;
    }
    return true;
}

void anderson_restart(anderson *e) {
    e->known = e->extrapolated = false;
    e->columns = e->next = e->pause = e->left = 0;
}

void anderson_begin(anderson *e, double *x) {
    if (e->window > 0 && e->n > 0) {
        run_blocks(e, copy_blocks, &(anderson_task){.e = e, .x = x});
    }
}

static void reject_extrapolation(anderson *e, double *x) {
    memcpy(x, e->g, (size_t)e->n * sizeof *e->g);
    e->pause = e->pause < MAX_PAUSE ? 2 * e->pause + 1 : e->pause;
    e->left = e->pause;
    e->extrapolated = false;
}

/* Adds f and g of this iteration: a new column in place of the oldest. */
static void add_column(anderson *e, double *x, double size) {
    int at = e->next;
    run_blocks(e, add_column_blocks, &(anderson_task){.e = e, .x = x});
    e->size = size;
    if (!e->known) {
        e->known = true;
        return;
    }
    e->columns += e->columns < e->window;
    e->next = (at + 1) % e->window;
    for (int j = 0; j < e->columns; j++) {
        e->gram[at][j] = e->gram[j][at] = sum_parts(e, j);
        e->moment[j] += e->gram[at][j]; /* f has changed by dF */
    }
    e->moment[at] = sum_parts(e, e->window);
}

/* theta from the normal equations, by Cholesky factorisation; false for dependent columns. */
static bool solve_coefficients(const anderson *e, double *theta) {
    int n = e->columns;
    double L[ANDERSON_MAX_WINDOW][ANDERSON_MAX_WINDOW];
    /* Cholesky factor of the Gram matrix dF' dF with a ridge, and forward substitution: L y = dF' f */
    for (int i = 0; i < n; i++) {
        theta[i] = e->moment[i];
        for (int j = 0; j <= i; j++) {
            double sum = e->gram[i][j] * (i == j ? 1 + RELATIVE_RIDGE : 1);
            for (int k = 0; k < j; k++) {
                sum -= L[i][k] * L[j][k];
            }
            if (i == j && !(sum > 0)) {
                return false;
            }
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
        for (int k = 0; k < i; k++) {
            theta[i] -= L[i][k] * theta[k];
        }
        theta[i] /= L[i][i];
    }
    /* back substitution: L' theta = y */
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) {
            theta[i] -= L[k][i] * theta[k];
        }
        theta[i] /= L[i][i];
    }
    return true;
}

static bool extrapolate_state(anderson *e, double *x) {
    double theta[ANDERSON_MAX_WINDOW];
    if (!solve_coefficients(e, theta)) {
        e->columns = e->next = 0;
        return false;
    }
    run_blocks(e, extrapolate_blocks, &(anderson_task){.e = e, .x = x, .theta = theta});
    e->extrapolated = true;
    return true;
}

anderson_result anderson_end(anderson *e, double *x) {
    if (e->window == 0) {
        return ANDERSON_PLAIN;
    }
    run_blocks(e, change_blocks, &(anderson_task){.e = e, .x = x});
    double size = sum_parts(e, 0);
    if (e->extrapolated && !(size <= e->max_growth * e->size)) {
        reject_extrapolation(e, x);
        return ANDERSON_REJECTED;
    }
    e->pause = e->extrapolated ? e->pause / 2 : e->pause;
    e->extrapolated = false;
    add_column(e, x, size);
    if (e->left > 0) {
        e->left--;
        return ANDERSON_PLAIN;
    }
    return e->columns > 0 && extrapolate_state(e, x) ? ANDERSON_EXTRAPOLATED : ANDERSON_PLAIN;
}
