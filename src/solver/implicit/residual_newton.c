/* Newton step of r(x) = 0 with the unknowns of open contacts eliminated (residual_map.h).
 *
 *     J = (W + R - 1) F - 1,     min over dx  |J dx + r|^2 + lambda |dx|^2
 *
 * An unknown whose column of F is zero, as for every open contact, appears in its own equation only, with -1.  Of the
 * kept unknowns a and these, o:
 *
 *     J = ( J_a   0 )      o = (J_o a + r_o) / (1 + lambda)     is optimal for any a, at the cost
 *         ( J_o  -1 )      lambda / (1 + lambda) |J_o a + r_o|^2
 *
 * so that a minimises
 *
 *     |J_a a + r_a|^2 + lambda / (1 + lambda) |J_o a + r_o|^2 + lambda |a|^2.
 *
 * The step is that of the whole problem.  With lambda = 0 the open contacts drop out.  Where J_a is square it is
 * Newton's step, by LU (a fifth of the time of least squares), for each uncoupled part of J_a.
 *
 * A contact on an edge moves along two tangents, dx = B (xi_1, xi_2, 0), and J B has two columns for it. */
#include "solver/implicit/residual_newton.h"
#include "base/disjoint_set.h"
#include "linalg/dense/lapack.h"
#include "linalg/dense/lu.h"
#include "linalg/dense/strip.h"
#include "math/dense.h"
#include "solver/matrices/least_squares.h"

#include <math.h>
#include <string.h>

enum { MIN_NORMAL_EQUATION_COLUMNS = 48 }; /* from which J' J is faster than reflections, for sparse W */
enum { REFINEMENT_PASSES = 2 };            /* solves with the factor of J' J */

double residual_newton_dense_numbers(int rows) {
    double n = rows;
    return 3 * n * n + 2 * (double)least_squares_work(rows, rows);
}

bool residual_newton_make(residual_newton *s, const residual_map *h, sim_arena *scratch) {
    size_t n = (size_t)h->n;
    *s = (residual_newton){.h = h};
    /* memory */
    int *whole = ARENA_NEW(scratch, int, 11 * n), numbers = h->start ? h->start[h->n] + (SIM_MAX_ROWS * h->n) : 0;
    s->G = ARENA_NEW(scratch, double, 2 * n * SIM_MAX_ROWS);
    s->M = arena_alloc(scratch, n * n, sizeof *s->M);
    s->A = ARENA_NEW(scratch, double, least_squares_work(h->n, h->n));
    s->lu_work = ARENA_NEW(scratch, double, lu_work(h->n));
    s->y = ARENA_NEW(scratch, double, 2 * n);
    s->row = ARENA_NEW(scratch, int, n + 1);
    s->at = ARENA_NEW(scratch, int, SIM_MAX_ROWS *(size_t)numbers);
    s->value = ARENA_NEW(scratch, double, SIM_MAX_ROWS *(size_t)numbers);
    if (!s->row || !s->at || !s->value || !whole || !s->G || !s->M || !s->A || !s->lu_work || !s->y) {
        return false;
    }
    s->D = s->G + n * SIM_MAX_ROWS;
    s->z = s->y + n;
    int **of[] = {&s->first, &s->kept, &s->place, &s->column, &s->swap, &s->owner,
                  &s->root,  &s->next, &s->last,  &s->member, &s->local};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        *of[k] = whole + k * n;
    }
    /* constraint of every row */
    for (int i = 0; i < h->dual->problem->nconstraint; i++) {
        const sim_constraint *c = &h->dual->problem->constraint[i];
        for (int k = c->row; k < c->row + c->rows; k++) {
            s->owner[k] = i;
        }
    }
    return true;
}

static bool is_zero_column(int rows, const double *F, int column) {
    for (int a = 0; a < rows; a++) {
        if (F[a * rows + column] != 0) {
            return false;
        }
    }
    return true;
}

/* F B and B of a contact held on an edge: tangent columns only. */
static void keep_tangents(residual_newton *s, const sim_constraint *c, const double *F, const double *B) {
    for (int a = 0; a < 3; a++) {
        double *G = s->G + (ptrdiff_t)(c->row + a) * SIM_MAX_ROWS, *D = s->D + (ptrdiff_t)(c->row + a) * SIM_MAX_ROWS;
        for (int j = 0; j < 2; j++) {
            G[j] = F[3 * a] * B[j] + F[3 * a + 1] * B[3 + j] + F[3 * a + 2] * B[6 + j];
            D[j] = B[3 * a + j];
        }
        s->column[c->row + a] = a < 2 ? s->columns + a : -1;
    }
    s->columns += 2;
    s->square = false;
}

static void keep_nonzero_columns(residual_newton *s, const sim_constraint *c, const double *F) {
    int first = s->columns;
    for (int j = 0; j < c->rows; j++) {
        if (is_zero_column(c->rows, F, j)) {
            s->column[c->row + j] = -1;
            continue;
        }
        for (int a = 0; a < c->rows; a++) {
            s->G[(c->row + a) * SIM_MAX_ROWS + s->columns - first] = F[a * c->rows + j];
            s->D[(c->row + a) * SIM_MAX_ROWS + s->columns - first] = a == j;
        }
        s->column[c->row + j] = s->columns++;
    }
}

/* Kept unknowns; rows of their constraints come first, in their order. */
static void choose_unknowns(residual_newton *s, const double *F, const int *held, const double *basis) {
    const sim_problem *p = s->h->dual->problem;
    s->columns = 0;
    s->square = true;
    /* columns of each constraint: two tangents on an edge, else those of F that are not zero */
    for (int i = 0; i < p->nconstraint; i++, F += RESIDUAL_BLOCK) {
        const sim_constraint *c = &p->constraint[i];
        int first = s->columns;
        if (basis && held[i]) {
            keep_tangents(s, c, F, basis + (ptrdiff_t)9 * i);
        } else {
            keep_nonzero_columns(s, c, F);
        }
        for (int k = c->row; k < c->row + c->rows; k++) {
            s->first[k] = first;
            s->kept[k] = s->columns - first;
            s->place[k] = basis && held[i] ? 1 : s->column[k] >= 0;
        }
    }
    /* rows of kept unknowns come first, those of eliminated ones after them */
    s->top = 0;
    for (int k = 0; k < s->h->n; k++) {
        s->top += s->place[k];
    }
    for (int k = 0, above = 0, below = s->top; k < s->h->n; k++) {
        s->place[k] = s->place[k] ? above++ : below++;
    }
}

/* ---- J of the kept unknowns: dense, or compressed rows where W is sparse ---- */

/* at[c] += w times row k of F */
static inline void add_scaled_row(const residual_newton *s, double *at, size_t stride, int k, double w) {
    const double *G = s->G + (ptrdiff_t)k * SIM_MAX_ROWS;
    for (int c = 0; c < s->kept[k]; c++) {
        at[(size_t)c * stride] += w * G[c];
    }
}

static void add_own_terms(const residual_newton *s, double *at, size_t stride, int i) {
    add_scaled_row(s, at, stride, i, s->h->soft - 1);
    for (int c = 0; c < s->kept[i]; c++) {
        at[(size_t)c * stride] -= s->D[i * SIM_MAX_ROWS + c];
    }
}

static double fill_dense_jacobian(residual_newton *s) {
    const residual_map *h = s->h;
    size_t n = (size_t)h->n;
    double trace = 0;
    memset(s->M, 0, n * (size_t)s->columns * sizeof *s->M);
    for (int i = 0; i < h->n; i++) {
        double *row = s->M + s->place[i];
        for (int k = 0; k < h->n; k++) {
            add_scaled_row(s, row + (size_t)s->first[k] * n, n, k, h->W[(size_t)i * n + (size_t)k]);
        }
        add_own_terms(s, row + (size_t)s->first[i] * n, n, i);
    }
    for (size_t k = 0; k < (size_t)s->columns; k++) {
        trace += dense_dot(h->n, s->M + k * n, s->M + k * n);
    }
    return trace;
}

/* One row of J, constraint by constraint; returns the sum of its squares. */
static double fill_jacobian_row(residual_newton *s, int i) {
    const residual_map *h = s->h;
    int at = s->row[i], end = h->start[i + 1], own = 0;
    double trace = 0;
    for (int k = h->start[i]; k < end || !own;) {
        int of = k < end ? h->column[k] : i, first = s->first[of], count = s->kept[of];
        /* columns of one constraint in row i: W times F of its rows */
        for (int c = 0; c < count; c++) {
            s->at[at + c] = first + c;
            s->value[at + c] = 0;
        }
        for (; k < end && s->owner[h->column[k]] == s->owner[of]; k++) {
            add_scaled_row(s, s->value + at, 1, h->column[k], h->value[k]);
        }
        /* the constraint of row i itself adds (soft - 1) F - 1 */
        if (s->owner[of] == s->owner[i]) {
            add_own_terms(s, s->value + at, 1, i);
            own = 1;
        }
        trace += dense_dot(count, s->value + at, s->value + at);
        at += count;
    }
    s->row[i + 1] = at;
    return trace;
}

void residual_newton_form(residual_newton *s, const double *F, const int *held, const double *basis) {
    const residual_map *h = s->h;
    double trace = h->n;
    choose_unknowns(s, F, held, basis);
    trace -= s->columns;
    if (h->start) {
        s->row[0] = 0;
        for (int i = 0; i < h->n; i++) {
            trace += fill_jacobian_row(s, i);
        }
    } else {
        trace += fill_dense_jacobian(s);
    }
    s->dense = !h->start;
    s->size = trace > 0 ? trace / (double)h->n : 1;
}

/* Computes M from the compressed rows, if needed. */
static void expand_jacobian(residual_newton *s) {
    size_t n = (size_t)s->h->n;
    if (s->dense) {
        return;
    }
    memset(s->M, 0, n * (size_t)s->columns * sizeof *s->M);
    for (int i = 0; i < s->h->n; i++) {
        for (int k = s->row[i]; k < s->row[i + 1]; k++) {
            s->M[(size_t)s->at[k] * n + (size_t)s->place[i]] = s->value[k];
        }
    }
    s->dense = true;
}

/* Row i of J_a a. */
static double jacobian_row_times(const residual_newton *s, const double *a, int i) {
    double sum = 0;
    for (int k = 0; k < s->columns && !s->h->start; k++) {
        sum += s->M[(size_t)k * (size_t)s->h->n + (size_t)s->place[i]] * a[k];
    }
    for (int k = s->h->start ? s->row[i] : 0; s->h->start && k < s->row[i + 1]; k++) {
        sum += s->value[k] * a[s->at[k]];
    }
    return sum;
}

/* dx of all unknowns from the kept ones. */
static void complete_step(residual_newton *s, const double *r, double lambda, const double *a, double *dx) {
    for (int i = 0; i < s->h->n; i++) {
        dx[i] = 0;
        for (int c = 0; c < s->kept[i]; c++) {
            dx[i] += s->D[i * SIM_MAX_ROWS + c] * a[s->first[i] + c];
        }
        if (s->place[i] >= s->top) {
            dx[i] = (jacobian_row_times(s, a, i) + r[i]) / (1 + lambda);
        }
    }
}

/* ---- coupled parts ---- */

/* Columns coupled by the leading rows of J, or by all rows, directly or not, share a root, the head of their list.
 * `member`: row of J_a of a column. */
static void find_coupled_columns(residual_newton *s, int all) {
    for (int k = 0; k < s->columns; k++) {
        s->root[k] = k;
        s->next[k] = s->last[k] = -1;
    }
    for (int i = 0; i < s->h->n; i++) {
        for (int k = s->row[i]; k < s->row[i + 1] && (all || s->place[i] < s->top); k++) {
            disjoint_set_unite(s->root, s->at[s->row[i]], s->at[k]);
        }
        if (s->column[i] >= 0) {
            s->member[s->column[i]] = i;
        }
    }
    for (int k = 0; k < s->columns; k++) { /* lists from the roots */
        int root = s->root[k] = disjoint_set_find(s->root, k);
        if (root != k) {
            s->next[s->last[root] < 0 ? root : s->last[root]] = k;
            s->last[root] = k;
        }
    }
}

/* Numbers the columns of a part; returns their count. */
static int number_columns_of_part(residual_newton *s, int root) {
    int size = 0;
    for (int k = root; k >= 0; k = s->next[k]) {
        s->local[k] = size++;
    }
    return size;
}

/* ---- the normal equations, for many columns ---- */

/* Weight of a row: lambda / (1 + lambda) where its unknown is not kept. */
static double weight_of_row(const residual_newton *s, int i, double lambda) {
    return s->place[i] < s->top ? 1 : lambda / (1 + lambda);
}

/* Row i belongs to the part. */
static bool is_row_of_part(const residual_newton *s, int i, int root) {
    return s->row[i] < s->row[i + 1] && s->root[s->at[s->row[i]]] == root;
}

static bool factor_part_squares(residual_newton *s, int root, int size, double lambda) {
    size_t n = (size_t)size;
    memset(s->A, 0, n * n * sizeof *s->A);
    for (int i = 0; i < s->h->n && !panels_stopped(size, &s->h->dual->watch); i++) {
        double weight = is_row_of_part(s, i, root) ? weight_of_row(s, i, lambda) : 0;
        for (int k = s->row[i]; k < s->row[i + 1] && weight > 0; k++) {
            double w = weight * s->value[k];
            for (int l = k; l < s->row[i + 1]; l++) {
                int a = s->local[s->at[k]], b = s->local[s->at[l]];
                s->A[n * (size_t)(a < b ? a : b) + (size_t)(a < b ? b : a)] += w * s->value[l];
            }
        }
    }
    for (size_t k = 0; k < n; k++) {
        s->A[k * (n + 1)] += lambda;
    }
    return panels_cholesky(size, s->A, &s->h->dual->watch);
}

/* a of a part, with iterative refinement on the gradient; false: rounding made J' J indefinite. */
static bool solve_part_squares(residual_newton *s, int root, const double *r, double lambda, double *a) {
    int size = number_columns_of_part(s, root), one = 1, info;
    double *left = s->z;
    if (!factor_part_squares(s, root, size, lambda)) {
        return false;
    }
    for (int k = root; k >= 0; k = s->next[k]) {
        a[k] = 0;
    }
    for (int pass = 0; pass < REFINEMENT_PASSES; pass++) {
        /* left = -lambda a - J' weight (r + J a) */
        for (int k = root; k >= 0; k = s->next[k]) {
            left[s->local[k]] = -lambda * a[k];
        }
        for (int i = 0; i < s->h->n; i++) {
            double weighted =
                is_row_of_part(s, i, root) ? weight_of_row(s, i, lambda) * (r[i] + jacobian_row_times(s, a, i)) : 0;
            for (int k = s->row[i]; k < s->row[i + 1] && weighted != 0; k++) {
                left[s->local[s->at[k]]] -= weighted * s->value[k];
            }
        }
        /* a <- a + (J' weight J + lambda)^-1 left */
        dpotrs_("L", &size, &one, s->A, &size, left, &size, &info);
        for (int k = root; k >= 0; k = s->next[k]) {
            a[k] += left[s->local[k]];
        }
    }
    return true;
}

/* a by the normal equations, part by part. */
static bool solve_normal_equations(residual_newton *s, const double *r, double lambda, double *a) {
    find_coupled_columns(s, 1);
    for (int k = 0; k < s->columns; k++) {
        if (s->root[k] == k && !solve_part_squares(s, k, r, lambda, a)) {
            return false;
        }
    }
    return true;
}

bool residual_newton_least_squares(residual_newton *s, const double *r, double lambda, double *dx, double *range) {
    /* large sparse systems: normal equations by parts */
    if (s->h->start && s->columns > MIN_NORMAL_EQUATION_COLUMNS && lambda > 0 &&
        solve_normal_equations(s, r, lambda, s->y)) {
        *range = 1;
        complete_step(s, r, lambda, s->y, dx);
        return true;
    }
    /* stacked matrix: rows J_a above sqrt(lambda / (1 + lambda)) J_o */
    expand_jacobian(s);
    double weight = sqrt(lambda / (1 + lambda));
    size_t n = (size_t)s->h->n, columns = (size_t)s->columns, top = (size_t)s->top, rows = weight > 0 ? n : top;
    size_t height = rows + columns;
    double *b = s->A + height * columns;
    for (size_t k = 0; k < columns; k++) {
        double *to = s->A + height * k;
        memcpy(to, s->M + n * k, top * sizeof *to);
        for (size_t i = top; i < rows; i++) {
            to[i] = weight * s->M[n * k + i];
        }
    }
    /* right side: -r_a above the weighted -r_o */
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)s->place[i];
        if (at < rows) {
            b[at] = at < top ? -r[i] : -weight * r[i];
        }
    }
    /* a, then the eliminated unknowns o */
    bool done = least_squares_solve((int)rows, s->columns, s->A, lambda, s->y, range, &s->h->dual->watch);
    complete_step(s, r, lambda, s->y, dx);
    return done;
}

/* ---- Newton's step ---- */

/* y of the columns of a part; false: singular. */
static bool solve_coupled_part(residual_newton *s, int root, const double *r, double *y) {
    int size = number_columns_of_part(s, root), stride = strip_stride(size);
    double *b = s->z;
    memset(s->A, 0, (size_t)size * (size_t)stride * sizeof *s->A);
    for (int k = root; k >= 0; k = s->next[k]) {
        int i = s->member[k];
        b[s->local[k]] = -r[i];
        for (int j = s->row[i]; j < s->row[i + 1]; j++) {
            s->A[(ptrdiff_t)s->local[k] * stride + s->local[s->at[j]]] = s->value[j];
        }
    }
    if (!lu_factor(size, stride, s->A, s->swap, s->lu_work, &s->h->dual->watch)) {
        return false;
    }
    lu_solve(size, stride, s->A, s->swap, b);
    for (int k = root; k >= 0; k = s->next[k]) {
        y[k] = b[s->local[k]];
    }
    return true;
}

static bool solve_coupled_parts(residual_newton *s, const double *r, double *y) {
    find_coupled_columns(s, 0);
    for (int k = 0; k < s->columns; k++) {
        if (s->root[k] == k && !solve_coupled_part(s, k, r, y)) {
            return false;
        }
    }
    return true;
}

static bool solve_dense_jacobian(residual_newton *s, const double *r, double *y) {
    size_t n = (size_t)s->h->n, columns = (size_t)s->columns, stride = (size_t)strip_stride(s->columns);
    for (size_t k = 0; k < columns; k++) { /* rows of J_a' */
        memcpy(s->A + stride * k, s->M + n * k, columns * sizeof *s->A);
        memset(s->A + stride * k + columns, 0, (stride - columns) * sizeof *s->A);
    }
    for (int i = 0; i < s->h->n; i++) {
        if (s->place[i] < s->top) {
            y[s->place[i]] = -r[i];
        }
    }
    if (!lu_factor(s->columns, (int)stride, s->A, s->swap, s->lu_work, &s->h->dual->watch)) {
        return false;
    }
    lu_solve_transposed(s->columns, (int)stride, s->A, s->swap, y);
    return true;
}

bool residual_newton_solve(residual_newton *s, const double *r, double *dx) {
    if (!s->square || !(s->h->start ? solve_coupled_parts(s, r, s->y) : solve_dense_jacobian(s, r, s->y))) {
        return false;
    }
    complete_step(s, r, 0, s->y, dx);
    return isfinite(dense_dot(s->h->n, dx, dx));
}
