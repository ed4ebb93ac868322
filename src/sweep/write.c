/* The file of a sweep: all rows, in order, as CSV or as columns in HDF5. */
#include "base/file.h"
#include "record/file/atomic_file.h"
#include "record/file/hdf5_tree.h"
#include "sweep/rows.h"

#include <stdlib.h>
#include <string.h>

static const int64_t MAX_FILE_BYTES = INT64_C(1) << 36;

/* ---- CSV ---- */

sim_status sweep_write_csv(const sim_sweep *s, const char *path, const char *const *row, sim_error *error) {
    text all = {0};
    for (int k = 0; k < s->info.columns; k++) {
        if (k) {
            text_add(&all, ",");
        }
        sweep_add_cell(&all, s->info.column[k]);
    }
    text_add(&all, "\n");
    for (int64_t run = 0; run < s->info.runs; run++) {
        text_add(&all, "%s\n", row[run]);
    }
    size_t length = all.length;
    char *whole = text_take(&all);
    sim_status status = whole ? replace_file(path, "the rows of a sweep", whole, length, error)
                              : sim_fail(error, SIM_NO_RESOURCE, "no memory for the rows");
    free(whole);
    return status;
}

/* ---- HDF5 ---- */

/* Cell `column` of each row, into `cell`. */
static const char *find_cell(const char *row, int column, char *cell) {
    for (int k = 0; k <= column; k++) {
        row = sweep_next_cell(row, cell);
    }
    return cell;
}

static size_t longest_row(const sim_sweep *s, const char *const *row) {
    size_t most = 0;
    for (int64_t run = 0; run < s->info.runs; run++) {
        size_t length = strlen(row[run]);
        most = length > most ? length : most;
    }
    return most;
}

/* Numbers and texts of a column go to `parent`. */
static bool put_column(store *tree, store_node *parent, const sim_sweep *s, int column, const char *const *row,
                       char *cell) {
    int64_t runs = s->info.runs;
    const char *name = s->info.column[column];
    if (!s->info.is_text[column]) {
        double *value = malloc((size_t)runs * sizeof *value);
        for (int64_t run = 0; value && run < runs; run++) {
            value[run] = strtod(find_cell(row[run], column, cell), NULL);
        }
        if (value) {
            store_real(tree, parent, name, 1, runs, value);
        }
        free(value);
        return value != NULL;
    }
    size_t width = 1;
    for (int64_t run = 0; run < runs; run++) {
        size_t length = strlen(find_cell(row[run], column, cell));
        width = length + 1 > width ? length + 1 : width;
    }
    char *texts = calloc((size_t)runs, width);
    for (int64_t run = 0; texts && run < runs; run++) {
        strcpy(texts + (size_t)run * width, find_cell(row[run], column, cell));
    }
    if (texts) {
        store_texts(tree, parent, name, runs, width, texts);
    }
    free(texts);
    return texts != NULL;
}

/* The order of the columns, which HDF5 lists by name. */
static bool put_order(store *tree, const sim_sweep *s) {
    size_t width = 1;
    for (int k = 0; k < s->info.columns; k++) {
        size_t length = strlen(s->info.column[k]);
        width = length + 1 > width ? length + 1 : width;
    }
    char *names = POOL_NEW(tree->pool, char, (size_t)s->info.columns *width);
    for (int k = 0; k < s->info.columns && names; k++) {
        strcpy(names + (size_t)k * width, s->info.column[k]);
    }
    if (names) {
        store_texts(tree, &tree->root, "columns", s->info.columns, width, names);
    }
    return names != NULL;
}

static bool put_columns(store *tree, const sim_sweep *s, const char *const *row) {
    char *cell = malloc(longest_row(s, row) + 1);
    bool good = cell != NULL;
    for (int k = 0; good && k < s->info.columns; k++) {
        store_node *group = store_find(&tree->root, s->info.group[k]);
        group = group ? group : store_group(tree, &tree->root, s->info.group[k]);
        good = group && put_column(tree, group, s, k, row, cell);
    }
    free(cell);
    return good;
}

sim_status sweep_write_hdf5(const sim_sweep *s, const char *path, const char *const *row, sim_error *error) {
    void *bytes = NULL;
    size_t size = 0;
    store tree = {.pool = pool_create(), .root = {.name = ""}};
    sim_status status = SIM_OK;
    if (!tree.pool) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the rows");
    }
    /* identity */
    store_attribute(&tree, &tree.root, "format", "sim sweep 1");
    store_attribute(&tree, &tree.root, "name", s->info.name);
    store_attribute(&tree, &tree.root, "sim_version", sim_version());
    store_attribute(&tree, &tree.root, "build", sim_build_info());
    store_attribute(&tree, &tree.root, "hash", s->info.hash);
    store_text(&tree, &tree.root, "sweep", s->info.text);
    /* columns, to the disk at once */
    if (!put_order(&tree, s) || !put_columns(&tree, s, row)) {
        status = sim_fail(error, SIM_NO_RESOURCE, "no memory for the rows");
    }
    status = status ? status : store_print(&tree, &bytes, &size, error);
    status = status ? status : replace_file(path, "the rows of a sweep", bytes, size, error);
    free(bytes);
    pool_free(tree.pool);
    return status;
}

/* ---- a file that is there ---- */

static const char *attribute_of(const store_node *owner, const char *name) {
    for (const store_node *a = owner->attribute; a; a = a->next) {
        if (strcmp(a->name, name) == 0 && a->kind == STORE_TEXT) {
            return a->text;
        }
    }
    return "";
}

static int64_t count_failures(const store *tree) {
    const store_node *ending = store_find(store_find(&tree->root, "runs"), "ending");
    int64_t failures = 0;
    for (ptrdiff_t run = 0; ending && ending->kind == STORE_TEXT && ending->raw && run < ending->count; run++) {
        failures += strcmp((const char *)ending->raw + (size_t)run * ending->width, "finished") != 0;
    }
    return failures;
}

/* HDF5 has the hash of its sweep; CSV has no place for it. */
sim_status sweep_check_finished(const sim_sweep *s, const char *path, int64_t *failures, sim_error *error) {
    static const char advice[] = "remove it, or choose another name";
    char *bytes = NULL;
    size_t size = 0;
    sim_error why = {0};
    store tree = {.pool = pool_create(), .root = {.name = ""}};
    const char *dot = strrchr(path, '.');
    sim_status status = SIM_OK;
    if (dot && strcmp(dot, ".h5") == 0 && tree.pool) {
        status = file_read(path, MAX_FILE_BYTES, &bytes, &size, &why);
        bool same = !status && !store_parse(&tree, bytes, size, &why) &&
                    strcmp(attribute_of(&tree.root, "hash"), s->info.hash) == 0;
        *failures = same ? count_failures(&tree) : 0;
        status = same ? SIM_OK
                      : sim_fail(error, SIM_BAD_INPUT, "%s: is there, but is not of this sweep, scene and build: %s",
                                 path, advice);
    } else {
        status = sim_fail(error, SIM_BAD_INPUT, "%s: is there already: %s", path, advice);
    }
    free(bytes);
    pool_free(tree.pool);
    return status;
}
