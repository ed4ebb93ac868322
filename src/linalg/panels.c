/* Dense factors by panels: LU, Cholesky, reflections (Golub and Van Loan 2013, chapters 3.2, 4.2, 5.2).
 *
 *     A = ( P  B )      P = first columns, factored by LAPACK;      S <- S - (what P makes of B),  strip by strip of columns
 *         (    S )
 *
 * LAPACK's own routines do the same, and cannot be left: of 10,000 unknowns LU takes half a minute and reflections three.
 * Here who waits is asked before each panel and each strip, which are some 1e9 multiplications at most: a tenth of a second.
 * Up to PANELS_WHOLE unknowns one call of LAPACK does it all, in some tenths of a second; beyond, rounding is another.
 *
 * Cost: n^3 / 3 multiplications (LU), n^3 / 6 (Cholesky), n^3 / 2 (half a square), m n^2 (reflections of m rows, or of a
 * stack of m below a triangle). */
#include "linalg/panels.h"
#include "linalg/lapack.h"

#include <stddef.h>

enum { WIDTH = 128, STRIP = 1024, DEPTH = 64, ROOM = 65 * 64 }; /* ROOM: of dormqr's own, beside */

static const double one = 1, minus = -1, none = 0;

static int stopped(const panels_watch *w) { return w && w->stop && w->stop(w->context); }

int panels_stopped(int n, const panels_watch *w) { return n > PANELS_WHOLE && stopped(w); }

static int least(int a, int b) { return a < b ? a : b; }

static double *at(double *A, int stride, int row, int column) { return A + (size_t)stride * (size_t)column + row; }

/* ---- LU ---- */

/* What the columns first .. last - 1 make of the strip of `count` columns that begins at `column`. */
static void pass_lu(int n, double *A, const int *swap, int first, int last, int column, int count) {
    int from = first + 1, step = 1, width = last - first, below = n - last;
    dlaswp_(&count, at(A, n, 0, column), &n, &from, &last, swap, &step);
    dtrsm_("L", "L", "N", "U", &width, &count, &one, at(A, n, first, first), &n, at(A, n, first, column), &n);
    if (below > 0) {
        dgemm_("N", "N", &below, &count, &width, &minus, at(A, n, last, first), &n, at(A, n, first, column), &n, &one,
               at(A, n, last, column), &n);
    }
}

int panels_lu(int n, double *A, int *swap, const panels_watch *watch) {
    int info = 0, step = 1;
    if (n <= PANELS_WHOLE) {
        dgetrf_(&n, &n, A, &n, swap, &info);
        return info == 0;
    }
    for (int first = 0; first < n; first += WIDTH) {
        int width = least(WIDTH, n - first), rows = n - first, from = first + 1, last = first + width;
        if (stopped(watch)) {
            return 0;
        }
        dgetrf_(&rows, &width, at(A, n, first, first), &n, swap + first, &info);
        if (info != 0) {
            return 0;
        }
        for (int k = first; k < last; k++) {
            swap[k] += first;
        }
        dlaswp_(&first, A, &n, &from, &last, swap, &step);
        for (int column = last; column < n; column += STRIP) {
            if (stopped(watch)) {
                return 0;
            }
            pass_lu(n, A, swap, first, last, column, least(STRIP, n - column));
        }
    }
    return 1;
}

/* ---- Cholesky ---- */

/* C -= P P' of the strip of columns that begins at `column`, from its diagonal down. */
static void pass_cholesky(int n, double *A, int first, int width, int column, int count) {
    int below = n - column - count;
    const double *P = at(A, n, column, first);
    dsyrk_("L", "N", &count, &width, &minus, P, &n, &one, at(A, n, column, column), &n);
    if (below > 0) {
        dgemm_("N", "T", &below, &count, &width, &minus, P + count, &n, P, &n, &one, at(A, n, column + count, column),
               &n);
    }
}

int panels_cholesky(int n, double *A, const panels_watch *watch) {
    int info = 0;
    if (n <= PANELS_WHOLE) {
        dpotrf_("L", &n, A, &n, &info);
        return info == 0;
    }
    for (int first = 0; first < n; first += WIDTH) {
        int width = least(WIDTH, n - first), last = first + width, below = n - last;
        if (stopped(watch)) {
            return 0;
        }
        dpotrf_("L", &width, at(A, n, first, first), &n, &info);
        if (info != 0) {
            return 0;
        }
        if (below > 0) {
            dtrsm_("R", "L", "T", "N", &below, &width, &one, at(A, n, first, first), &n, at(A, n, last, first), &n);
        }
        for (int column = last; column < n; column += STRIP) {
            if (stopped(watch)) {
                return 0;
            }
            pass_cholesky(n, A, first, width, column, least(STRIP, n - column));
        }
    }
    return 1;
}

int panels_square(int n, const double *A, double *C, const panels_watch *watch) {
    if (n <= PANELS_WHOLE) {
        dsyrk_("L", "N", &n, &n, &one, A, &n, &none, C, &n);
        return 1;
    }
    for (int column = 0; column < n; column += STRIP) {
        int count = least(STRIP, n - column), rows = n - column;
        for (int k = 0; k < n; k += WIDTH) {
            int depth = least(WIDTH, n - k);
            const double *from = A + (size_t)n * (size_t)k + column;
            if (stopped(watch)) {
                return 0;
            }
            dgemm_("N", "T", &rows, &count, &depth, &one, from, &n, from, &n, k ? &one : &none,
                   at(C, n, column, column), &n);
        }
    }
    return 1;
}

/* ---- reflections ---- */

int panels_reflect(const panels_reflections *q, const panels_watch *watch) {
    int info, strip = least(STRIP, (q->size - ROOM) / DEPTH);
    for (int first = 0; first < q->n; first += DEPTH) {
        int width = least(DEPTH, q->n - first), rows = q->rows - first;
        double *P = at(q->A, q->stride, first, first);
        if (stopped(watch)) {
            return 0;
        }
        dgeqrf_(&rows, &width, P, &q->stride, q->tau + first, q->work, &q->size, &info);
        for (int column = first + width; column < q->total; column += strip) {
            int count = least(strip, q->total - column);
            if (stopped(watch)) {
                return 0;
            }
            dormqr_("L", "T", &rows, &count, &width, P, &q->stride, q->tau + first, at(q->A, q->stride, first, column),
                    &q->stride, q->work, &q->size, &info);
        }
    }
    return 1;
}

int panels_reflect_stack(const panels_stack *q, const panels_watch *watch) {
    int info;
    for (int first = 0; first < q->n; first += q->block) {
        int width = least(q->block, q->n - first), rows = least(q->m - q->l + first + width, q->m);
        int slanted = first + 1 >= q->l ? 0 : rows - q->m + q->l - first;
        double *V = at(q->B, q->B_stride, 0, first), *T = q->T + (size_t)q->block * (size_t)first;
        if (stopped(watch)) {
            return 0;
        }
        dtpqrt_(&rows, &width, &slanted, &width, at(q->R, q->R_stride, first, first), &q->R_stride, V, &q->B_stride, T,
                &q->block, q->work, &info);
        for (int column = first + width; column < q->total; column += STRIP) {
            int count = least(STRIP, q->total - column);
            if (stopped(watch)) {
                return 0;
            }
            dtpmqrt_("L", "T", &rows, &count, &width, &slanted, &width, V, &q->B_stride, T, &q->block,
                     at(q->R, q->R_stride, first, column), &q->R_stride, at(q->B, q->B_stride, 0, column), &q->B_stride,
                     q->work, &info);
        }
    }
    return 1;
}
