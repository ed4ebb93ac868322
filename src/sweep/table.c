/* Reader of the files of sweeps, CSV and HDF5, told apart by their first bytes. */
#include "sweep/table.h"

#include "base/file.h"
#include "record/file/hdf5_tree.h"
#include "sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t MAX_FILE_BYTES = INT64_C(1) << 36;
enum { HEAD_BYTES = 65536 };

static sim_status report_no_memory(const char *path, sim_error *error) {
    return sim_fail(error, SIM_NO_RESOURCE, "%.200s: no memory for its rows", path);
}

static sim_status report_no_sweep(const char *path, sim_error *error) {
    return sim_fail(error, SIM_BAD_INPUT, "%.200s: is no file of a sweep, or is damaged", path);
}

static bool is_csv_head(const char *head) {
    size_t length = strcspn(head, "\n");
    const char *mark = strstr(head, ",ending,reason,");
    return strncmp(head, "run,", 4) == 0 && mark && (size_t)(mark - head) < length;
}

bool sweep_table_is(const char *path) {
    char head[HEAD_BYTES];
    int file;
    int64_t size;
    if (file_open(path, &file, &size, NULL)) { /* a pipe is read once, by its reader */
        return false;
    }
    ssize_t got = read(file, head, sizeof head - 1);
    head[got > 0 ? got : 0] = 0;
    close(file);
    return is_csv_head(head) || store_file_is(path, "sim sweep 1");
}

static sweep_column *add_column(sweep_table *t, const char *name, sweep_group group) {
    t->column[t->columns] = (sweep_column){.name = name, .group = group};
    return &t->column[t->columns++];
}

/* ---- CSV ---- */

/* Inputs stand before the column "ending", signals behind the last number of the certificate. */
static void group_columns(sweep_table *t) {
    const char *group, *last = "", *name;
    for (int k = 0; sweep_summary_column(k, &group, &name); k++) {
        last = name;
    }
    int ending = sweep_table_find(t, "ending"), certificate = sweep_table_find(t, last);
    for (int k = 1; k < t->columns; k++) {
        t->column[k].group = k < ending ? SWEEP_INPUT : certificate > 0 && k > certificate ? SWEEP_SIGNAL : SWEEP_OTHER;
    }
}

static bool read_header(sweep_table *t, const char *line, char *cell) {
    int columns = 1;
    for (const char *c = line; *c && *c != '\n'; c++) {
        columns += *c == ',';
    }
    t->column = POOL_NEW(t->pool, sweep_column, columns);
    for (const char *at = line; at && t->column;) {
        at = sweep_next_cell(at, cell);
        char *name = pool_text(t->pool, cell);
        if (!name) {
            return false;
        }
        add_column(t, name, SWEEP_OTHER);
    }
    return t->column != NULL;
}

/* The cells of the rows; false without memory, `*good` false where a row has another number of them. */
static bool read_cells(sweep_table *t, const char *line, char *cell, bool *good) {
    for (int k = 0; k < t->columns; k++) {
        t->column[k].word = POOL_NEW(t->pool, const char *, t->rows);
        if (!t->column[k].word) {
            return false;
        }
    }
    for (int64_t run = 0; run < t->rows && *good; run++) {
        const char *at = line;
        for (int k = 0; k < t->columns; k++) {
            *good &= at != NULL;
            at = at ? sweep_next_cell(at, cell) : NULL;
            if (!(t->column[k].word[run] = pool_text(t->pool, cell))) {
                return false;
            }
        }
        *good &= at == NULL;
        line += strcspn(line, "\n") + 1;
    }
    return true;
}

/* Columns of which every cell is a number. */
static bool turn_into_numbers(sweep_table *t) {
    for (int k = 0; k < t->columns; k++) {
        sweep_column *c = &t->column[k];
        double *number = POOL_NEW(t->pool, double, t->rows);
        bool all = strcmp(c->name, "ending") != 0 && strcmp(c->name, "reason") != 0;
        if (!number) {
            return false;
        }
        for (int64_t run = 0; run < t->rows && all; run++) {
            char *end;
            number[run] = strtod(c->word[run], &end);
            all = end != c->word[run] && *end == 0;
        }
        c->number = all ? number : NULL;
        c->word = all ? NULL : c->word;
    }
    return true;
}

static sim_status read_csv(sweep_table *t, const char *path, const char *content, size_t length, sim_error *error) {
    char *cell = malloc(length + 1);
    const char *rest = strchr(content, '\n');
    for (const char *c = rest; c && *c; c++) {
        t->rows += *c == '\n';
    }
    t->rows -= t->rows > 0; /* the header's end */
    bool good = true, room = cell && rest && read_header(t, content, cell) && read_cells(t, rest + 1, cell, &good);
    if (room && good) {
        room = turn_into_numbers(t);
        group_columns(t);
    }
    free(cell);
    return !room ? report_no_memory(path, error) : good ? SIM_OK : report_no_sweep(path, error);
}

/* ---- HDF5 ---- */

/* Numbers stay where they are, texts are copied. */
static sim_status take_array(sweep_table *t, const store_node *n, sweep_group group, const char *path,
                             sim_error *error) {
    bool texts = n->kind == STORE_TEXT && n->raw && n->width;
    if (n->rank != 1 || n->count != t->rows || !(texts || n->kind == STORE_REAL)) {
        return report_no_sweep(path, error);
    }
    sweep_column *c = add_column(t, pool_text(t->pool, n->name), group);
    if (!texts) {
        c->number = (double *)n->real;
        return c->name ? SIM_OK : report_no_memory(path, error);
    }
    c->word = POOL_NEW(t->pool, const char *, t->rows);
    bool room = c->name && c->word;
    for (int64_t run = 0; run < t->rows && room; run++) {
        char *word = pool_alloc(t->pool, n->width + 1, 1);
        room = word != NULL;
        if (room) {
            memcpy(word, (const char *)n->raw + (size_t)run * n->width, n->width);
            c->word[run] = word;
        }
    }
    return room ? SIM_OK : report_no_memory(path, error);
}

/* As the sweep has them; those that it does not name stay behind. */
static void order_columns(sweep_table *t, const store_node *order) {
    int done = 0;
    for (ptrdiff_t k = 0; order && order->kind == STORE_TEXT && order->raw && k < order->count; k++) {
        const char *name = (const char *)order->raw + (size_t)k * order->width;
        for (int c = done; c < t->columns; c++) {
            if (strncmp(t->column[c].name, name, order->width) == 0) {
                sweep_column found = t->column[c];
                memmove(&t->column[done + 1], &t->column[done], (size_t)(c - done) * sizeof found);
                t->column[done++] = found;
                break;
            }
        }
    }
}

static sim_status take_groups(sweep_table *t, const store *tree, const char *path, sim_error *error) {
    /* rows and columns */
    const store_node *run = store_find(store_find(&tree->root, "runs"), "run");
    int columns = 0;
    for (const store_node *g = tree->root.child; g; g = g->next) {
        for (const store_node *n = g->child; n; n = n->next) {
            columns++;
        }
    }
    t->rows = run && run->rank == 1 ? run->count : 0;
    t->column = POOL_NEW(t->pool, sweep_column, columns + 1);
    sim_status status = !t->column ? report_no_memory(path, error) : t->rows ? SIM_OK : report_no_sweep(path, error);
    /* each group */
    for (const store_node *g = tree->root.child; g && !status; g = g->next) {
        sweep_group group = strcmp(g->name, "inputs") == 0    ? SWEEP_INPUT
                            : strcmp(g->name, "signals") == 0 ? SWEEP_SIGNAL
                                                              : SWEEP_OTHER;
        for (const store_node *n = g->child; n && !status; n = n->next) {
            status = take_array(t, n, group, path, error);
        }
    }
    order_columns(t, store_find(&tree->root, "columns"));
    for (const store_node *a = tree->root.attribute; a && !status; a = a->next) {
        t->title = strcmp(a->name, "name") == 0 && a->kind == STORE_TEXT ? pool_text(t->pool, a->text) : t->title;
    }
    return status;
}

/* ---- both ---- */

sweep_table *sweep_table_read(const char *path, sim_error *error) {
    /* content */
    char *content = NULL;
    size_t length = 0;
    sim_error why = {0};
    memory_pool *pool = pool_create();
    sweep_table *t = pool ? POOL_NEW(pool, sweep_table, 1) : NULL;
    sim_status status = t ? file_read(path, MAX_FILE_BYTES, &content, &length, &why) : report_no_memory(path, error);
    if (t && status) {
        sim_fail(error, status, "%.200s: %s", path, why.text);
    }
    /* columns */
    if (!status) {
        *t = (sweep_table){.pool = pool, .title = ""};
        store tree = {.pool = pool, .root = {.name = ""}};
        if (is_csv_head(content)) {
            status = read_csv(t, path, content, length, error);
        } else if (store_parse(&tree, content, length, &why)) {
            status = sim_fail(error, why.status, "%.200s: %s", path, why.text);
        } else {
            status = take_groups(t, &tree, path, error);
        }
    }
    free(content);
    if (status) {
        pool_free(pool);
        return NULL;
    }
    return t;
}

void sweep_table_free(sweep_table *t) {
    if (t) {
        pool_free(t->pool);
    }
}

int sweep_table_find(const sweep_table *t, const char *name) {
    for (int k = 0; k < t->columns; k++) {
        if (strcmp(t->column[k].name, name) == 0) {
            return k;
        }
    }
    return -1;
}
