/* Lemke's complementary pivots for 0 <= x perp y = M x + q >= 0 (Cottle, Pang, Stone 1992, ch. 4.4).
 *
 * One more unknown, z0 >= 0, covers what q lacks:  y - M x - 1 z0 = q.  At the start z0 is as great as it must be; then
 * what is the counterpart of what has just left the basis enters it, and z0 gets its way out at last.  Every step is a
 * basic solution B b = q, with B^-1 kept and changed by one pivot.
 *
 * Where several could leave the basis at once, the one whose row of (b, B^-1) over its entry of the pivot column is the
 * least in the order of a dictionary does: so no basis comes twice.  Of M = X' W X with W positive semidefinite, and the
 * couplings of polyhedral.h, which are copositive, the path ends in an answer if there is one whose gaps can be held open;
 * if not, on a ray.
 *
 * Rounding gathers in B^-1; after as many pivots as there are unknowns it is made afresh, and so it is for the answer. */
#include "solver/pyramid/lemke.h"
#include "math/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* What is less than this part of the greatest is rounding: of a column; of what is compared in ratios; of
 * the sum that an unknown is made of. */
static const double NO_PIVOT = 1e-9, TIE = 1e-11, ROUNDING = 8 * DBL_EPSILON;
enum { FRESH_LEAST = 50, LARGE = 500 }; /* LARGE: from here on a row of an inverse is worth asking whether to go on */

typedef struct tableau {
    const lemke_problem *of;
    size_t n;
    double *inverse; /* B^-1 */
    double *b;       /* B^-1 q, not below 0 */
    double *column;  /* B^-1 times what enters */
    double *spare;   /* [n] */
    int *basis;      /* [n] y_i is i, x_i is n + i, z0 is 2 n */
    int *tied, *swap;
} tableau;

static int make(tableau *t, const lemke_problem *p, sim_arena *scratch) {
    size_t n = (size_t)p->n;
    *t = (tableau){.of = p, .n = n};
    t->inverse = arena_alloc(scratch, n * n, sizeof *t->inverse);
    t->b = ARENA_NEW(scratch, double, n);
    t->column = ARENA_NEW(scratch, double, n);
    t->spare = ARENA_NEW(scratch, double, n);
    t->basis = ARENA_NEW(scratch, int, n);
    t->tied = ARENA_NEW(scratch, int, n);
    t->swap = ARENA_NEW(scratch, int, n);
    return t->inverse && t->b && t->column && t->spare && t->basis && t->tied && t->swap;
}

static double entry(const tableau *t, size_t row, int variable) {
    int n = (int)t->n;
    return variable == 2 * n ? -1
           : variable >= n   ? -t->of->M[row * (size_t)t->of->stride + (size_t)(variable - n)]
                             : (int)row == variable;
}

/* B^-1 times the column of a variable. */
static void enter(const tableau *t, int variable) {
    size_t n = t->n;
    for (size_t i = 0; i < n; i++) {
        t->spare[i] = entry(t, i, variable);
    }
    for (size_t i = 0; i < n; i++) {
        t->column[i] =
            variable < (int)n ? t->inverse[i * n + (size_t)variable] : dense_dot((int)n, t->inverse + i * n, t->spare);
    }
}

static void pivot(tableau *t, size_t row, int variable) {
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

static int stopped(const lemke_problem *p) { return p->stop && p->stop(p->context); }

/* In place, by Gauss and Jordan with row exchanges; 0 if it is singular, or was stopped. */
static int invert(const lemke_problem *of, double *A, int *swap) {
    const size_t n = (size_t)of->n;
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        if (n > LARGE && stopped(of)) {
            return 0;
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
        double scale = 1 / A[k * n + k];
        if (!isfinite(scale)) {
            return 0;
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
    for (size_t k = n; k-- > 0;) {
        for (size_t i = 0; i < n && swap[k] != (int)k; i++) {
            double other = A[i * n + k];
            A[i * n + k] = A[i * n + (size_t)swap[k]];
            A[i * n + (size_t)swap[k]] = other;
        }
    }
    return 1;
}

/* B^-1 and b afresh, with one step of refinement; what is less than its own rounding is 0. */
static int refresh(tableau *t) {
    size_t n = t->n;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            t->inverse[i * n + j] = entry(t, i, t->basis[j]);
        }
    }
    if (!invert(t->of, t->inverse, t->swap)) {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        t->b[i] = dense_dot((int)n, t->inverse + i * n, t->of->q);
    }
    for (size_t i = 0; i < n; i++) {
        t->spare[i] = t->of->q[i];
        for (size_t j = 0; j < n; j++) {
            t->spare[i] -= entry(t, i, t->basis[j]) * t->b[j];
        }
    }
    for (size_t i = 0; i < n; i++) {
        double rounding = 0;
        for (size_t j = 0; j < n; j++) {
            rounding += fabs(t->inverse[i * n + j] * t->of->q[j]);
        }
        t->b[i] += dense_dot((int)n, t->inverse + i * n, t->spare);
        t->b[i] = t->b[i] > ROUNDING * rounding ? t->b[i] : 0;
    }
    return 1;
}

/* Of the tied rows those that are least in `ratio` (b, or a column of B^-1, over the pivot column). */
static int least(const tableau *t, int count, const double *number, size_t stride) {
    double size = 0, low = HUGE_VAL;
    for (int k = 0; k < count; k++) {
        size_t i = (size_t)t->tied[k];
        double ratio = number[i * stride] / t->column[i];
        low = fmin(low, ratio);
        size = fmax(size, fabs(ratio));
    }
    int left = 0;
    for (int k = 0; k < count; k++) {
        size_t i = (size_t)t->tied[k];
        if (number[i * stride] / t->column[i] <= low + TIE * size) {
            t->tied[left++] = (int)i;
        }
    }
    return left;
}

/* The row that leaves; -1: none, a ray. */
static int leaving(const tableau *t) {
    double greatest = 0;
    int count = 0;
    for (size_t i = 0; i < t->n; i++) {
        greatest = fmax(greatest, fabs(t->column[i]));
    }
    for (size_t i = 0; i < t->n; i++) {
        if (t->column[i] > NO_PIVOT * greatest) {
            t->tied[count++] = (int)i;
        }
    }
    if (count == 0) {
        return -1;
    }
    count = least(t, count, t->b, 1);
    for (int k = 0; k < count; k++) {
        if (t->basis[t->tied[k]] == 2 * (int)t->n) {
            return t->tied[k];
        }
    }
    for (size_t j = 0; j < t->n && count > 1; j++) {
        count = least(t, count, t->inverse + j, t->n);
    }
    return t->tied[0];
}

/* z0 enters for the least of q, of equals the last. */
static int begin(tableau *t) {
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
        pivot(t, (size_t)first, 2 * (int)n);
    }
    return first;
}

static lemke_end walk(tableau *t, int left, int *pivots) {
    int n = (int)t->n, fresh = 0;
    for (*pivots = 1; *pivots < t->of->most; ++*pivots) {
        int variable = left < n ? left + n : left - n;
        enter(t, variable);
        int row = leaving(t);
        if (row < 0) {
            return LEMKE_RAY;
        }
        left = t->basis[row];
        pivot(t, (size_t)row, variable);
        if (left == 2 * n) {
            return LEMKE_SOLVED;
        }
        if (++fresh >= (n > FRESH_LEAST ? n : FRESH_LEAST)) {
            fresh = 0;
            if (!refresh(t)) {
                return LEMKE_SINGULAR;
            }
        }
        if (stopped(t->of)) {
            return LEMKE_LIMIT;
        }
    }
    return LEMKE_LIMIT;
}

/* Is there no time for as much as an inverse? */
static int left_alone(const tableau *t) { return t->n > LARGE && stopped(t->of); }

int lemke_solve(const lemke_problem *problem, sim_arena *scratch, lemke_answer *answer) {
    tableau t;
    int n = problem->n;
    if (!make(&t, problem, scratch)) {
        return 0;
    }
    memset(answer->x, 0, (size_t)n * sizeof *answer->x);
    answer->cover = 0;
    answer->pivots = 0;
    answer->end = LEMKE_LIMIT;
    if (left_alone(&t)) {
        return 1;
    }
    answer->end = LEMKE_SOLVED;
    int left = begin(&t);
    if (left < 0) {
        return 1;
    }
    answer->end = walk(&t, left, &answer->pivots);
    if (answer->end != LEMKE_SINGULAR && !left_alone(&t) && !refresh(&t)) {
        answer->end = LEMKE_SINGULAR;
    }
    for (int i = 0; i < n; i++) {
        if (t.basis[i] == 2 * n) {
            answer->cover = t.b[i];
        } else if (t.basis[i] >= n) {
            answer->x[t.basis[i] - n] = t.b[i];
        }
    }
    return 1;
}
