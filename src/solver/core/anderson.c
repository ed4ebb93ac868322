/* Where do rounds lead?
 *
 * A round of an iteration is a map x -> G(x); its answer is the fixed point.  From the last rounds, with f = G(x) - x,
 * Anderson's method (Anderson 1965; Walker, Ni 2011) takes the combination that would leave the least change if G were
 * linear, which it is as long as no contact opens or begins to slide:
 *
 *     min over theta  |f - dF theta|,     x <- G(x) - dG theta
 *
 * dF and dG hold differences of consecutive f and G; lengths are measured in the caller's scale.
 *
 * Laws are no linear map: a guess is kept only if the round from it changes no more than `growth` times what the round
 * before it did.  Else that round's result is taken up again, and plain rounds follow, twice as many after each bad guess.
 * At worst it is the plain iteration with one round in 65 lost.
 *
 * All this is reading long vectors, more than the round itself where that is cheap.  It goes block by block, each of which
 * stays in the nearest cache while everything about it is done; sums add up blocks in their order, whoever did them. */
#include "solver/core/anderson.h"
#include "solver/core/lanes.h"

enum { LONGEST_PAUSE = 63, BLOCK = 256, FEW_BLOCKS = 8 };
static const double ridge = 1e-12; /* relative, for differences that are nearly dependent */

/* ---- long vectors ---- */

typedef struct work {
    anderson *e;
    double *x;
    const double *theta;
} work;

static int padded(int n) { return (n + LANES - 1) / LANES * LANES; }

static int blocks_of(int n) { return (n + BLOCK - 1) / BLOCK; }

static int end_of(int block, int n) { return (block + 1) * BLOCK < n ? (block + 1) * BLOCK : n; }

static void run(const anderson *e, threads_task *share, work *w) {
    int blocks = blocks_of(e->n);
    if (e->threads && blocks >= FEW_BLOCKS) {
        threads_run_dynamic(e->threads, blocks, share, w);
    } else {
        share(w, 0, 0, blocks);
    }
}

/* Of n numbers, a multiple of LANES; in eight sums or more. */
static double dot(int n, const double *x, const double *y) {
    enum { SUMS = 4 };
    wide sum[SUMS] = {lane_all(0), lane_all(0), lane_all(0), lane_all(0)};
    int k = 0;
    for (; k + SUMS * LANE_WIDTH <= n; k += SUMS * LANE_WIDTH) {
        for (int i = 0; i < SUMS; i++) {
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
    const work *w = context;
    int from = first * BLOCK, to = end_of(end - 1, w->e->n);
    (void)worker;
    memcpy(w->e->from + from, w->x + from, (size_t)(to - from) * sizeof *w->x);
}

static void change(int n, const double *restrict scale, const double *restrict x, const double *restrict from,
                   double *restrict to) {
    for (int k = 0; k < n; k++) {
        to[k] = scale[k] * (x[k] - from[k]);
    }
}

static void change_blocks(void *context, int worker, int first, int end) {
    const work *w = context;
    anderson *e = w->e;
    (void)worker;
    for (int block = first; block < end; block++) {
        int at = block * BLOCK, n = end_of(block, e->n) - at;
        change(n, e->scale + at, w->x + at, e->from + at, e->change + at);
        e->part[(ptrdiff_t)block * (e->window + 1)] = dot(padded(n), e->change + at, e->change + at);
    }
}

/* dx = x - was, and x is remembered. */
static void difference(int n, const double *restrict x, double *restrict was, double *restrict dx) {
    for (int k = 0; k < n; k++) {
        dx[k] = x[k] - was[k];
        was[k] = x[k];
    }
}

/* Differences from the round before, and their products with those that are kept and with f. */
static void remember_blocks(void *context, int worker, int first, int end) {
    const work *w = context;
    anderson *e = w->e;
    ptrdiff_t stride = padded(e->n);
    double *dF = e->dF + e->next * stride, *dG = e->dG + e->next * stride;
    int columns = e->columns < e->window ? e->columns + 1 : e->window;
    (void)worker;
    for (int block = first; block < end; block++) {
        int at = block * BLOCK, n = end_of(block, e->n) - at;
        double *part = e->part + (ptrdiff_t)block * (e->window + 1);
        difference(n, e->change + at, e->f + at, dF + at);
        difference(n, w->x + at, e->g + at, dG + at);
        for (int j = 0; j < columns; j++) {
            part[j] = dot(padded(n), dF + at, e->dF + j * stride + at);
        }
        part[e->window] = dot(padded(n), dF + at, e->f + at);
    }
}

/* x - dG theta at one place */
static wide guess_at(const anderson *e, const double *theta, int k, wide x) {
    ptrdiff_t stride = padded(e->n);
    for (int j = 0; j < e->columns; j++) {
        x -= theta[j] * lane_load(e->dG + j * stride + k);
    }
    return x;
}

static void guess_blocks(void *context, int worker, int first, int end) {
    const work *w = context;
    int to = end_of(end - 1, w->e->n), k = first * BLOCK;
    (void)worker;
    for (; k + LANE_WIDTH <= to; k += LANE_WIDTH) {
        lane_store(w->x + k, guess_at(w->e, w->theta, k, lane_load(w->x + k)));
    }
    if (k < to) {
        double rest[LANE_WIDTH] = {0};
        memcpy(rest, w->x + k, (size_t)(to - k) * sizeof *rest);
        lane_store(rest, guess_at(w->e, w->theta, k, lane_load(rest)));
        memcpy(w->x + k, rest, (size_t)(to - k) * sizeof *rest);
    }
}

/* ---- rounds ---- */

int anderson_make(anderson *e, int numbers, int window, sim_arena *scratch) {
    size_t n = (size_t)padded(numbers), count = window > 0 ? 2 * (size_t)window + 5 : 0;
    *e = (anderson){.window = window, .n = numbers, .growth = 1};
    double *all = ARENA_NEW(scratch, double, n *count);
    e->part = ARENA_NEW(scratch, double, (size_t)blocks_of(numbers) * ((size_t)window + 1));
    if (!all || !e->part) {
        return 0;
    }
    for (size_t k = 0; k < count; k++) { /* what stands behind the numbers counts in sums, and nothing else does yet */
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
    return 1;
}

void anderson_restart(anderson *e) { e->known = e->columns = e->next = e->guessed = e->pause = e->left = 0; }

void anderson_begin(anderson *e, double *x) {
    if (e->window > 0 && e->n > 0) {
        run(e, copy_blocks, &(work){.e = e, .x = x});
    }
}

static void take_back(anderson *e, double *x) {
    memcpy(x, e->g, (size_t)e->n * sizeof *e->g);
    e->pause = e->pause < LONGEST_PAUSE ? 2 * e->pause + 1 : e->pause;
    e->left = e->pause;
    e->guessed = 0;
}

/* f and g of this round, and their differences from those before as a new column in place of the oldest. */
static void remember(anderson *e, double *x, double size) {
    int at = e->next;
    run(e, remember_blocks, &(work){.e = e, .x = x});
    e->size = size;
    if (!e->known) {
        e->known = 1;
        return;
    }
    e->columns += e->columns < e->window;
    e->next = (at + 1) % e->window;
    for (int j = 0; j < e->columns; j++) {
        e->gram[at][j] = e->gram[j][at] = sum_parts(e, j);
        e->moment[j] += e->gram[at][j]; /* f moved by dF */
    }
    e->moment[at] = sum_parts(e, e->window);
}

/* theta by Cholesky's method; 0 if the columns depend on each other. */
static int least_squares(const anderson *e, double *theta) {
    int n = e->columns;
    double L[ANDERSON_MAX_WINDOW][ANDERSON_MAX_WINDOW];
    for (int i = 0; i < n; i++) {
        theta[i] = e->moment[i];
        for (int j = 0; j <= i; j++) {
            double sum = e->gram[i][j] * (i == j ? 1 + ridge : 1);
            for (int k = 0; k < j; k++) {
                sum -= L[i][k] * L[j][k];
            }
            if (i == j && !(sum > 0)) {
                return 0;
            }
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
        for (int k = 0; k < i; k++) {
            theta[i] -= L[i][k] * theta[k];
        }
        theta[i] /= L[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) {
            theta[i] -= L[k][i] * theta[k];
        }
        theta[i] /= L[i][i];
    }
    return 1;
}

static int guess(anderson *e, double *x) {
    double theta[ANDERSON_MAX_WINDOW];
    if (!least_squares(e, theta)) {
        e->columns = e->next = 0;
        return 0;
    }
    run(e, guess_blocks, &(work){.e = e, .x = x, .theta = theta});
    e->guessed = 1;
    return 1;
}

anderson_result anderson_end(anderson *e, double *x) {
    if (e->window == 0) {
        return ANDERSON_PLAIN;
    }
    run(e, change_blocks, &(work){.e = e, .x = x});
    double size = sum_parts(e, 0);
    if (e->guessed && !(size <= e->growth * e->size)) {
        take_back(e, x);
        return ANDERSON_REJECTED;
    }
    e->pause = e->guessed ? e->pause / 2 : e->pause;
    e->guessed = 0;
    remember(e, x, size);
    if (e->left > 0) {
        e->left--;
        return ANDERSON_PLAIN;
    }
    return e->columns > 0 && guess(e, x) ? ANDERSON_EXTRAPOLATED : ANDERSON_PLAIN;
}
