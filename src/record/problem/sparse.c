/* Sparse matrices in compressed rows (CSR), from triplets in any order.
 *
 * Two stable counting sorts, by column and then by row, order the entries; entries at one place are summed, zeros
 * dropped.  Cost: linear in entries, rows and columns. */
#include "record/problem/fclib.h"

#include <math.h>

triplets triplets_make(memory_pool *pool, ptrdiff_t count) {
    triplets t = {0, POOL_NEW(pool, int, count), POOL_NEW(pool, int, count), POOL_NEW(pool, double, count)};
    return t;
}

/* Stable: a counting sort of the order `from` by `key`. */
static bool sort_by(memory_pool *pool, int keys, const int *key, ptrdiff_t count, const ptrdiff_t *from,
                    ptrdiff_t *to) {
    ptrdiff_t *at = POOL_NEW(pool, ptrdiff_t, (ptrdiff_t)keys + 1);
    if (!at) {
        return false;
    }
    for (ptrdiff_t k = 0; k < count; k++) {
        at[key[k] + 1]++;
    }
    for (int i = 0; i < keys; i++) {
        at[i + 1] += at[i];
    }
    for (ptrdiff_t k = 0; k < count; k++) {
        ptrdiff_t item = from ? from[k] : k;
        to[at[key[item]]++] = item;
    }
    return true;
}

/* Sorts by rows and columns, sums entries at one place, drops zeros. */
static void gather_entries(sparse *a, const triplets *t, const ptrdiff_t *order) {
    ptrdiff_t filled = 0;
    for (ptrdiff_t k = 0; k < t->count;) {
        int row = t->row[order[k]], column = t->column[order[k]];
        double sum = t->value[order[k]];
        for (k++; k < t->count && t->row[order[k]] == row && t->column[order[k]] == column; k++) {
            sum += t->value[order[k]];
        }
        if (sum != 0) {
            a->column[filled] = column;
            a->value[filled++] = sum;
            a->start[row + 1]++;
        }
    }
    for (int i = 0; i < a->rows; i++) {
        a->start[i + 1] += a->start[i];
    }
}

sparse sparse_of(memory_pool *pool, int rows, int columns, const triplets *t) {
    sparse a = {rows, columns, POOL_NEW(pool, ptrdiff_t, (ptrdiff_t)rows + 1), POOL_NEW(pool, int, t->count),
                POOL_NEW(pool, double, t->count)};
    ptrdiff_t *by_column = POOL_NEW(pool, ptrdiff_t, t->count), *order = POOL_NEW(pool, ptrdiff_t, t->count);
    if (!by_column || !order || !sparse_there(&a) || !sort_by(pool, columns, t->column, t->count, NULL, by_column) ||
        !sort_by(pool, rows, t->row, t->count, by_column, order)) {
        return (sparse){0};
    }
    gather_entries(&a, t, order);
    return a;
}

sparse sparse_transposed(memory_pool *pool, const sparse *a) {
    triplets t = triplets_make(pool, sparse_there(a) ? a->start[a->rows] : 0);
    if (!sparse_there(a) || !t.row || !t.column || !t.value) {
        return (sparse){0};
    }
    for (int i = 0; i < a->rows; i++) {
        for (ptrdiff_t k = a->start[i]; k < a->start[i + 1]; k++) {
            triplets_add(&t, a->column[k], i, a->value[k]);
        }
    }
    return sparse_of(pool, a->columns, a->rows, &t);
}

static double value_at(const sparse *a, int row, int column) {
    ptrdiff_t low = a->start[row], high = a->start[row + 1];
    while (low < high) {
        ptrdiff_t middle = low + (high - low) / 2;
        if (a->column[middle] < column) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < a->start[row + 1] && a->column[low] == column ? a->value[low] : 0;
}

bool sparse_symmetric(const sparse *a) {
    for (int i = 0; i < a->rows; i++) {
        for (ptrdiff_t k = a->start[i]; k < a->start[i + 1]; k++) {
            if (a->value[k] != value_at(a, a->column[k], i)) {
                return false;
            }
        }
    }
    return true;
}

/* Asymmetry by rounding of matrix products, relative to sqrt(a_ii a_jj). */
static const double SYMMETRY_TOLERANCE = 1e-13;

static bool nearly_symmetric(const sparse *a) {
    for (int i = 0; i < a->rows; i++) {
        for (ptrdiff_t k = a->start[i]; k < a->start[i + 1]; k++) {
            int j = a->column[k];
            double size = sqrt(fabs(value_at(a, i, i))) * sqrt(fabs(value_at(a, j, j)));
            if (fabs(a->value[k] - value_at(a, j, i)) > SYMMETRY_TOLERANCE * size) {
                return false;
            }
        }
    }
    return true;
}

bool sparse_even_out(memory_pool *pool, sparse *a) {
    if (sparse_symmetric(a) || !nearly_symmetric(a)) {
        return true;
    }
    triplets t = triplets_make(pool, 2 * a->start[a->rows]);
    if (!t.row || !t.column || !t.value) {
        return false;
    }
    for (int i = 0; i < a->rows; i++) {
        for (ptrdiff_t k = a->start[i]; k < a->start[i + 1]; k++) {
            triplets_add(&t, i, a->column[k], a->value[k] / 2);
            triplets_add(&t, a->column[k], i, a->value[k] / 2);
        }
    }
    *a = sparse_of(pool, a->rows, a->columns, &t);
    return sparse_there(a);
}
