/* Lemke's complementary pivots for 0 <= x perp y = M x + q >= 0 (Cottle, Pang, Stone 1992, ch. 4.4).
 *
 * The covering unknown z0 >= 0 makes q feasible:  y - M x - 1 z0 = q.  z0 enters first, as small as possible.  Then the
 * complement of the last leaving unknown enters, until z0 leaves.  Every step is a basic solution B b = q; B^-1 is kept
 * and updated by one pivot.
 *
 * Ties: of the rows of (b, B^-1) over their entry in the pivot column the lexicographically least leaves, so that no
 * basis recurs.  Let M = X' W X with positive semidefinite W and the copositive couplings of polyhedral.h. The path
 * ends in a solution if the gaps can be held open, else on a ray.
 *
 * Rounding accumulates in B^-1: it is recomputed after as many pivots as unknowns, and at the end. */
#include "solver/pyramid/lemke.h"
#include "math/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Relative sizes that count as rounding: of a pivot, over its column; of a difference of ratios; of b, over the terms
 * of its sum. */
static const double MIN_PIVOT_RATIO = 1e-9, TIE_TOLERANCE = 1e-11, ROUNDING_FACTOR = 8 * DBL_EPSILON;
enum { MIN_REFRESH_PIVOTS = 50 };
enum { MIN_POLLED_ROWS = 500 }; /* from which inverses poll the caller's limit in each row */

typedef struct tableau {
    const lemke_problem *of;
    size_t n;
    double *inverse; /* B^-1 */
    double *b;       /* B^-1 q, not below 0 */
    double *column;  /* B^-1 times the entering column */
    double *scratch; /* [n] */
    int *basis;      /* [n] y_i is i, x_i is n + i, z0 is 2 n */
    int *tied, *swap;
} tableau;

static bool make_tableau(tableau *t, const lemke_problem *p, sim_arena *scratch) {
    size_t n = (size_t)p->n;
    *t = (tableau){.of = p, .n = n};
    t->inverse = arena_alloc(scratch, n * n, sizeof *t->inverse);
    t->b = ARENA_NEW(scratch, double, n);
    t->column = ARENA_NEW(scratch, double, n);
    t->scratch = ARENA_NEW(scratch, double, n);
    t->basis = ARENA_NEW(scratch, int, n);
    t->tied = ARENA_NEW(scratch, int, n);
    t->swap = ARENA_NEW(scratch, int, n);
    return t->inverse && t->b && t->column && t->scratch && t->basis && t->tied && t->swap;
}

static double entry_of_variable(const tableau *t, size_t row, int variable) {
    int n = (int)t->n;
    return variable == 2 * n ? -1
           : variable >= n   ? -t->of->M[row * (size_t)t->of->stride + (size_t)(variable - n)]
                             : (int)row == variable;
}

/* B^-1 times the column of a variable. */
static void find_entering_column(const tableau *t, int variable) {
    size_t n = t->n;
    for (size_t i = 0; i < n; i++) {
        t->scratch[i] = entry_of_variable(t, i, variable);
    }
    for (size_t i = 0; i < n; i++) {
        t->column[i] = variable < (int)n ? t->inverse[i * n + (size_t)variable]
                                         : dense_dot((int)n, t->inverse + i * n, t->scratch);
    }
}

static void pivot_on_row(tableau *t, size_t row, int variable) {
    size_t n = t->n;
    double scale = 1 / t->column[row], *own = t->inverse + row * n;
    for (size_t j = 0; j < n; j++) {
        own[j] *= scale;
    }
    t->b[row] *= scale;
    for (size_t i = 0; i < n; i++) {
        if (i != row && t->column[i] != 0) {
            dense_axpy((int)n, -t->column[i], own, t->inverse + i * n);
            t->b[i] = fmax(t->b[i] - t->column[i] * t->b[row], 0);
        }
    }
    t->basis[row] = variable;
}

static bool is_path_stopped(const lemke_problem *p) { return p->stop && p->stop(p->context); }

/* Gauss-Jordan elimination with row exchanges, in place; false: singular, or stopped. */
static bool invert_basis(const lemke_problem *of, double *A, int *swap) {
    const size_t n = (size_t)of->n;
    for (size_t k = 0; k < n; k++) {
        /* pivot of greatest size in the column */
        size_t best = k;
        if (n > MIN_POLLED_ROWS && is_path_stopped(of)) {
            return false;
        }
        for (size_t i = k + 1; i < n; i++) {
            best = fabs(A[i * n + k]) > fabs(A[best * n + k]) ? i : best;
        }
        swap[k] = (int)best;
        for (size_t j = 0; j < n && best != k; j++) {
            double other = A[k * n + j];
            A[k * n + j] = A[best * n + j];
            A[best * n + j] = other;
        }
        /* scale its row, eliminate the column */
        double scale = 1 / A[k * n + k];
        if (!isfinite(scale)) {
            return false;
        }
        A[k * n + k] = 1;
        for (size_t j = 0; j < n; j++) {
            A[k * n + j] *= scale;
        }
        for (size_t i = 0; i < n; i++) {
            double factor = A[i * n + k];
            if (i != k && factor != 0) {
                A[i * n + k] = 0;
                dense_axpy((int)n, -factor, A + k * n, A + i * n);
            }
        }
    }
    /* undo the exchanges on the columns */
    for (size_t k = n; k-- > 0;) {
        for (size_t i = 0; i < n && swap[k] != (int)k; i++) {
            double other = A[i * n + k];
            A[i * n + k] = A[i * n + (size_t)swap[k]];
            A[i * n + (size_t)swap[k]] = other;
        }
    }
    return true;
}

/* Recomputes B^-1 and b, with one step of refinement; entries of b below their rounding become 0. */
static bool refresh_inverse(tableau *t) {
    size_t n = t->n;
    /* B from the basic unknowns, and B^-1 */
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            t->inverse[i * n + j] = entry_of_variable(t, i, t->basis[j]);
        }
    }
    if (!invert_basis(t->of, t->inverse, t->swap)) {
        return false;
    }
    /* b = B^-1 q */
    for (size_t i = 0; i < n; i++) {
        t->b[i] = dense_dot((int)n, t->inverse + i * n, t->of->q);
    }
    /* remainder of one iterative refinement: q - B b */
    for (size_t i = 0; i < n; i++) {
        t->scratch[i] = t->of->q[i];
        for (size_t j = 0; j < n; j++) {
            t->scratch[i] -= entry_of_variable(t, i, t->basis[j]) * t->b[j];
        }
    }
    /* b <- b + B^-1 remainder; negative b and rounding become 0 */
    for (size_t i = 0; i < n; i++) {
        double rounding = 0;
        for (size_t j = 0; j < n; j++) {
            rounding += fabs(t->inverse[i * n + j] * t->of->q[j]);
        }
        t->b[i] += dense_dot((int)n, t->inverse + i * n, t->scratch);
        t->b[i] = t->b[i] > ROUNDING_FACTOR * rounding ? t->b[i] : 0;
    }
    return true;
}

/* Keeps the tied rows of least ratio: `number` (b, or a column of B^-1) over the pivot column.  Returns their count. */
static int filter_least_ratios(const tableau *t, int count, const double *number, size_t stride) {
    double size = 0, low = HUGE_VAL;
    for (int k = 0; k < count; k++) {
        size_t i = (size_t)t->tied[k];
        double ratio = number[i * stride] / t->column[i];
        low = fmin(low, ratio);
        size = fmax(size, fabs(ratio));
    }
    int kept = 0;
    for (int k = 0; k < count; k++) {
        size_t i = (size_t)t->tied[k];
        if (number[i * stride] / t->column[i] <= low + TIE_TOLERANCE * size) {
            t->tied[kept++] = (int)i;
        }
    }
    return kept;
}

/* Leaving row; -1: none, a ray. */
static int find_leaving_row(const tableau *t) {
    double greatest = 0;
    int count = 0;
    /* candidates: positive entries of the pivot column */
    for (size_t i = 0; i < t->n; i++) {
        greatest = fmax(greatest, fabs(t->column[i]));
    }
    for (size_t i = 0; i < t->n; i++) {
        if (t->column[i] > MIN_PIVOT_RATIO * greatest) {
            t->tied[count++] = (int)i;
        }
    }
    if (count == 0) {
        return -1;
    }
    /* least ratio of b; z0 leaves if it is among them */
    count = filter_least_ratios(t, count, t->b, 1);
    for (int k = 0; k < count; k++) {
        if (t->basis[t->tied[k]] == 2 * (int)t->n) {
            return t->tied[k];
        }
    }
    /* ties: lexicographically least row of B^-1 */
    for (size_t j = 0; j < t->n && count > 1; j++) {
        count = filter_least_ratios(t, count, t->inverse + j, t->n);
    }
    return t->tied[0];
}

/* z0 enters for the least of q, the last of equals; returns that row, -1: q >= 0. */
static int enter_cover(tableau *t) {
    size_t n = t->n;
    int first = -1;
    double low = 0;
    memset(t->inverse, 0, n * n * sizeof *t->inverse);
    for (size_t i = 0; i < n; i++) {
        t->inverse[i * n + i] = 1;
        t->basis[i] = (int)i;
        t->b[i] = t->of->q[i];
        if (t->b[i] < 0 && t->b[i] <= low) {
            first = (int)i;
            low = t->b[i];
        }
        t->column[i] = -1;
    }
    if (first >= 0) {
        pivot_on_row(t, (size_t)first, 2 * (int)n);
    }
    return first;
}

static lemke_end follow_path(tableau *t, int left, int *pivots) {
    int n = (int)t->n, fresh = 0;
    for (*pivots = 1; *pivots < t->of->max_pivots; ++*pivots) {
        /* the complement of the last leaving unknown enters */
        int variable = left < n ? left + n : left - n;
        find_entering_column(t, variable);
        int row = find_leaving_row(t);
        if (row < 0) {
            return LEMKE_RAY;
        }
        /* pivot; the path ends when z0 leaves */
        left = t->basis[row];
        pivot_on_row(t, (size_t)row, variable);
        if (left == 2 * n) {
            return LEMKE_SOLVED;
        }
        /* B^-1 anew after as many pivots as unknowns */
        if (++fresh >= (n > MIN_REFRESH_PIVOTS ? n : MIN_REFRESH_PIVOTS)) {
            fresh = 0;
            if (!refresh_inverse(t)) {
                return LEMKE_SINGULAR;
            }
        }
        if (is_path_stopped(t->of)) {
            return LEMKE_LIMIT;
        }
    }
    return LEMKE_LIMIT;
}

/* The problem is large and the caller has stopped: not even an inverse is computed. */
static bool has_no_time(const tableau *t) { return t->n > MIN_POLLED_ROWS && is_path_stopped(t->of); }

bool lemke_solve(const lemke_problem *problem, sim_arena *scratch, lemke_result *result) {
    tableau t;
    int n = problem->n;
    if (!make_tableau(&t, problem, scratch)) {
        return false;
    }
    /* the trivial ends */
    memset(result->x, 0, (size_t)n * sizeof *result->x);
    result->cover = 0;
    result->pivots = 0;
    result->end = LEMKE_LIMIT;
    if (has_no_time(&t)) {
        return true;
    }
    result->end = LEMKE_SOLVED;
    int left = enter_cover(&t);
    if (left < 0) {
        return true;
    }
    /* the path, and its basic solution */
    result->end = follow_path(&t, left, &result->pivots);
    if (result->end != LEMKE_SINGULAR && !has_no_time(&t) && !refresh_inverse(&t)) {
        result->end = LEMKE_SINGULAR;
    }
    for (int i = 0; i < n; i++) {
        if (t.basis[i] == 2 * n) {
            result->cover = t.b[i];
        } else if (t.basis[i] >= n) {
            result->x[t.basis[i] - n] = t.b[i];
        }
    }
    return true;
}
