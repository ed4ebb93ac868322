/* Writer of matrices in FCLIB's storage. */
#include "record/problem/fclib.h"

static store_node *put_fclib_head(store *s, store_node *parent, const char *name, int rows, int columns, int nz,
                                  ptrdiff_t most) {
    store_node *group = store_group(s, parent, name);
    store_int(s, group, "m", rows);
    store_int(s, group, "n", columns);
    store_int(s, group, "nz", nz);
    store_int(s, group, "nzmax", (int)most);
    return group;
}

static int64_t *widen_integers(store *s, const int *values, ptrdiff_t count) {
    int64_t *wide = POOL_NEW(s->pool, int64_t, count);
    for (ptrdiff_t k = 0; wide && k < count; k++) {
        wide[k] = values[k];
    }
    s->starved |= !wide;
    return wide;
}

void fclib_put_triplets(store *s, store_node *parent, const char *name, int rows, int columns, const triplets *t) {
    store_node *group = put_fclib_head(s, parent, name, rows, columns, (int)t->count, t->count);
    const int64_t *row = widen_integers(s, t->row, t->count), *column = widen_integers(s, t->column, t->count);
    if (row && column) {
        store_whole(s, group, "i", STORE_I32, 1, t->count, row);
        store_whole(s, group, "p", STORE_I32, 1, t->count, column);
        store_real(s, group, "x", 1, t->count, t->value);
    }
}

void fclib_put_rows(store *s, store_node *parent, const char *name, const sparse *a) {
    ptrdiff_t entries = a->start[a->rows];
    store_node *group = put_fclib_head(s, parent, name, a->rows, a->columns, -2, entries);
    int64_t *start = POOL_NEW(s->pool, int64_t, (ptrdiff_t)a->rows + 1);
    const int64_t *column = widen_integers(s, a->column, entries);
    for (int i = 0; start && i <= a->rows; i++) {
        start[i] = a->start[i];
    }
    s->starved |= !start;
    if (start && column) {
        store_whole(s, group, "p", STORE_I32, 1, (ptrdiff_t)a->rows + 1, start);
        store_whole(s, group, "i", STORE_I32, 1, entries, column);
        store_real(s, group, "x", 1, entries, a->value);
    }
}
