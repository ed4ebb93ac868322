/* Interruptible dense factorisations by panels: LU, Cholesky, Householder reflections.
 *
 *     A = ( P  B )      P = first columns, factored by LAPACK;      S <- S - (product of P and B),  strip by strip
 *         (    S )
 *
 * Routines of LAPACK cannot be interrupted: with 10,000 unknowns LU takes half a minute, and reflections three.  Here
 * the caller's `stop` is called before each panel and each strip, of at most some 1e9 multiplications or a tenth of a
 * second. Up to PANELS_WHOLE unknowns one LAPACK call does it all in some tenths of a second; beyond, rounding differs
 * from it.  LU up to that size is lu.c.
 *
 * Reference: Golub, Van Loan 2013, Matrix Computations, sections 3.2, 4.2, 5.2.
 * Cost: n^3 / 3 multiplications (LU), n^3 / 6 (Cholesky), n^3 / 2 (half a square), m n^2 (reflections of m rows, or of
 * a stack of m below a triangle). */
#include "linalg/dense/panels.h"
#include "linalg/dense/lapack.h"

#include <stddef.h>

enum {
    PANEL_COLUMNS = 128,
    STRIP_COLUMNS = 1024,
    REFLECTION_COLUMNS = 64,
    DORMQR_WORK = 65 * 64
}; /* ROOM: of dormqr's own, beside */

static const double one = 1, minus_one = -1, zero = 0;

static bool is_stopped(const panels_watch *w) { return w && w->stop && w->stop(w->context); }

bool panels_stopped(int n, const panels_watch *w) { return n > PANELS_WHOLE && is_stopped(w); }

static int min_int(int a, int b) { return a < b ? a : b; }

static double *entry_at(double *A, int stride, int row, int column) {
    return A + (size_t)stride * (size_t)column + row;
}

/* ---- LU ---- */

/* Updates the strip of `count` columns from `column` on by the factored columns first .. last - 1. */
static void update_strip_lu(int n, int stride, double *A, const int *swap, int first, int last, int column, int count) {
    int from = first + 1, step = 1, width = last - first, below = n - last;
    dlaswp_(&count, entry_at(A, stride, 0, column), &stride, &from, &last, swap, &step);
    dtrsm_("L", "L", "N", "U", &width, &count, &one, entry_at(A, stride, first, first), &stride,
           entry_at(A, stride, first, column), &stride);
    if (below > 0) {
        dgemm_("N", "N", &below, &count, &width, &minus_one, entry_at(A, stride, last, first), &stride,
               entry_at(A, stride, first, column), &stride, &one, entry_at(A, stride, last, column), &stride);
    }
}

bool panels_lu(int n, int stride, double *A, int *swap, const panels_watch *watch) {
    /* factor a panel of columns with partial pivoting */
    int info = 0, step = 1;
    for (int first = 0; first < n; first += PANEL_COLUMNS) {
        int width = min_int(PANEL_COLUMNS, n - first), rows = n - first, from = first + 1, last = first + width;
        if (is_stopped(watch)) {
            return false;
        }
        dgetrf_(&rows, &width, entry_at(A, stride, first, first), &stride, swap + first, &info);
        if (info != 0) {
            return false;
        }
        /* row numbers of the whole matrix */
        for (int k = first; k < last; k++) {
            swap[k] += first;
        }
        /* swap the columns before it, update those behind it in strips */
        dlaswp_(&first, A, &stride, &from, &last, swap, &step);
        for (int column = last; column < n; column += STRIP_COLUMNS) {
            if (is_stopped(watch)) {
                return false;
            }
            update_strip_lu(n, stride, A, swap, first, last, column, min_int(STRIP_COLUMNS, n - column));
        }
    }
    return true;
}

/* ---- Cholesky ---- */

/* C -= P P' of the strip of columns that begins at `column`, from its diagonal down. */
static void update_strip_cholesky(int n, double *A, int first, int width, int column, int count) {
    int below = n - column - count;
    const double *P = entry_at(A, n, column, first);
    dsyrk_("L", "N", &count, &width, &minus_one, P, &n, &one, entry_at(A, n, column, column), &n);
    if (below > 0) {
        dgemm_("N", "T", &below, &count, &width, &minus_one, P + count, &n, P, &n, &one,
               entry_at(A, n, column + count, column), &n);
    }
}

bool panels_cholesky(int n, double *A, const panels_watch *watch) {
    /* small: by LAPACK */
    int info = 0;
    if (n <= PANELS_WHOLE) {
        dpotrf_("L", &n, A, &n, &info);
        return info == 0;
    }
    /* factor a panel: diagonal block, then the rows below */
    for (int first = 0; first < n; first += PANEL_COLUMNS) {
        int width = min_int(PANEL_COLUMNS, n - first), last = first + width, below = n - last;
        if (is_stopped(watch)) {
            return false;
        }
        dpotrf_("L", &width, entry_at(A, n, first, first), &n, &info);
        if (info != 0) {
            return false;
        }
        if (below > 0) {
            dtrsm_("R", "L", "T", "N", &below, &width, &one, entry_at(A, n, first, first), &n,
                   entry_at(A, n, last, first), &n);
        }
        /* update what is left in strips */
        for (int column = last; column < n; column += STRIP_COLUMNS) {
            if (is_stopped(watch)) {
                return false;
            }
            update_strip_cholesky(n, A, first, width, column, min_int(STRIP_COLUMNS, n - column));
        }
    }
    return true;
}

bool panels_square(int n, const double *A, double *C, const panels_watch *watch) {
    if (n <= PANELS_WHOLE) {
        dsyrk_("L", "N", &n, &n, &one, A, &n, &zero, C, &n);
        return true;
    }
    for (int column = 0; column < n; column += STRIP_COLUMNS) {
        int count = min_int(STRIP_COLUMNS, n - column), rows = n - column;
        for (int k = 0; k < n; k += PANEL_COLUMNS) {
            int depth = min_int(PANEL_COLUMNS, n - k);
            const double *from = A + (size_t)n * (size_t)k + column;
            if (is_stopped(watch)) {
                return false;
            }
            dgemm_("N", "T", &rows, &count, &depth, &one, from, &n, from, &n, k ? &one : &zero,
                   entry_at(C, n, column, column), &n);
        }
    }
    return true;
}

/* ---- reflections ---- */

bool panels_reflect(const panels_reflections *q, const panels_watch *watch) {
    int info, strip = min_int(STRIP_COLUMNS, (q->size - DORMQR_WORK) / REFLECTION_COLUMNS);
    for (int first = 0; first < q->n; first += REFLECTION_COLUMNS) {
        int width = min_int(REFLECTION_COLUMNS, q->n - first), rows = q->rows - first;
        double *P = entry_at(q->A, q->stride, first, first);
        if (is_stopped(watch)) {
            return false;
        }
        dgeqrf_(&rows, &width, P, &q->stride, q->tau + first, q->work, &q->size, &info);
        for (int column = first + width; column < q->total; column += strip) {
            int count = min_int(strip, q->total - column);
            if (is_stopped(watch)) {
                return false;
            }
            dormqr_("L", "T", &rows, &count, &width, P, &q->stride, q->tau + first,
                    entry_at(q->A, q->stride, first, column), &q->stride, q->work, &q->size, &info);
        }
    }
    return true;
}

bool panels_reflect_stack(const panels_stack *q, const panels_watch *watch) {
    /* reflect a panel, which is trapezoidal at its lower end */
    int info;
    for (int first = 0; first < q->n; first += q->block) {
        int width = min_int(q->block, q->n - first), rows = min_int(q->m - q->l + first + width, q->m);
        int slanted = first + 1 >= q->l ? 0 : rows - q->m + q->l - first;
        double *V = entry_at(q->B, q->B_stride, 0, first), *T = q->T + (size_t)q->block * (size_t)first;
        if (is_stopped(watch)) {
            return false;
        }
        dtpqrt_(&rows, &width, &slanted, &width, entry_at(q->R, q->R_stride, first, first), &q->R_stride, V,
                &q->B_stride, T, &q->block, q->work, &info);
        /* apply the reflections to what is right of it, in strips */
        for (int column = first + width; column < q->total; column += STRIP_COLUMNS) {
            int count = min_int(STRIP_COLUMNS, q->total - column);
            if (is_stopped(watch)) {
                return false;
            }
            dtpmqrt_("L", "T", &rows, &count, &width, &slanted, &width, V, &q->B_stride, T, &q->block,
                     entry_at(q->R, q->R_stride, first, column), &q->R_stride, entry_at(q->B, q->B_stride, 0, column),
                     &q->B_stride, q->work, &info);
        }
    }
    return true;
}
