/* Reader of recorded CSV files.  A header of names and units, then a line a record, as csv.c writes them; or the
 * history of a solver, whose first column is a text.  The last line may be cut off: the program that wrote it was
 * killed. */
#include "record/run/trajectory.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t most_bytes = (size_t)1 << 31;
static const char label_name[] = "file"; /* the column of texts */

typedef struct table {
    char *text; /* the file */
    char *next; /* the rest of the text */
    int line;
    ptrdiff_t room;
    double *value; /* [room][columns] */
    int *label;    /* [room] */
    int label_room;
} table;

static sim_status report_no_memory(const trajectory *t, sim_error *error) {
    return sim_fail(error, SIM_NO_RESOURCE, "%s: no memory for its content", t->path);
}

/* ---- the bytes ---- */

static sim_status take_file(trajectory *t, FILE *file, char **text, sim_error *error) {
    /* read to the end; the buffer doubles */
    size_t room = 1 << 16, length = 0;
    char *all = malloc(room);
    while (all && length < most_bytes) {
        length += fread(all + length, 1, room - 1 - length, file);
        if (length < room - 1) {
            break;
        }
        char *larger = realloc(all, room *= 2);
        if (!larger) {
            free(all);
        }
        all = larger;
    }
    /* text without NUL, within the limit */
    *text = all;
    if (!all || length >= most_bytes) {
        return all ? sim_fail(error, SIM_BAD_INPUT, "%s: is larger than 2 GiB", t->path) : report_no_memory(t, error);
    }
    if (ferror(file)) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: cannot be read: %s", t->path, strerror(errno));
    }
    all[length] = 0;
    return strlen(all) == length ? SIM_OK : sim_fail(error, SIM_BAD_INPUT, "%s: is neither HDF5 nor text", t->path);
}

static sim_status read_csv_file(trajectory *t, char **text, sim_error *error) {
    FILE *file = fopen(t->path, "rbe");
    if (!file) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: cannot be read: %s", t->path, strerror(errno));
    }
    sim_status status = take_file(t, file, text, error);
    fclose(file);
    return status;
}

/* ---- cells ---- */

/* Unquotes the cell at `*at` in place; `*at` then is behind the comma, or at the end of the line. */
static char *take_cell(char **at, int *last) {
    char *from = *at, *start = from, *to = from;
    int quoted = *from == '"';
    for (from += quoted; *from && (quoted || (*from != ',' && *from != '\n')); from++) {
        if (quoted && *from == '"') {
            if (from[1] != '"') {
                quoted = 0;
                continue;
            }
            from++;
        }
        *to++ = *from;
    }
    *last = *from != ',';
    *at = from + (*from != 0);
    if (to > start && to[-1] == '\r') {
        to--;
    }
    *to = 0;
    return start;
}

/* A file that was cut off ends without a newline. */
static bool is_whole(const char *line) { return strchr(line, '\n') != NULL; }

/* "elbow [rad]" */
static void split_unit(char *head, trajectory_column *column) {
    char *open = strrchr(head, '[');
    size_t length = strlen(head);
    column->name = head;
    column->unit = "";
    if (open && open > head + 1 && open[-1] == ' ' && head[length - 1] == ']') {
        head[length - 1] = 0;
        open[-1] = 0;
        column->unit = open + 1;
    }
}

static sim_status read_header(trajectory *t, table *file, sim_error *error) {
    enum { MAX_COLUMNS = 1000000 };
    /* number of columns */
    int count = 1, last = 0;
    for (const char *letter = file->next; *letter && *letter != '\n'; letter++) {
        count += *letter == ',';
    }
    t->column = count <= MAX_COLUMNS ? POOL_NEW(t->pool, trajectory_column, count) : NULL;
    if (!t->column) {
        return count <= MAX_COLUMNS ? report_no_memory(t, error)
                                    : sim_fail(error, SIM_BAD_INPUT, "%s: has too many columns", t->path);
    }
    /* names and units of the first line */
    if (!is_whole(file->next)) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "%s: is not a table: its first line must name columns, as in 'time [s],step'", t->path);
    }
    while (!last && t->columns < count) {
        char *head = take_cell(&file->next, &last);
        if (!*head || isdigit((unsigned char)*head) || *head == '-') {
            return sim_fail(error, SIM_BAD_INPUT,
                            "%s:1: '%.40s' is not a column name; the first line must name all columns", t->path, head);
        }
        split_unit(head, &t->column[t->columns++]);
    }
    file->line = 1;
    return last ? SIM_OK : sim_fail(error, SIM_BAD_INPUT, "%s:1: a name of a column holds a line break", t->path);
}

/* ---- records ---- */

static int find_csv_label(trajectory *t, table *file, const char *text) {
    /* the newest label is the likeliest */
    for (int k = t->labels - 1; k >= 0; k--) {
        if (strcmp(t->label[k], text) == 0) {
            return k;
        }
    }
    /* the array doubles */
    if (t->labels == file->label_room) {
        int room = 2 * file->label_room + 16;
        const char **larger = POOL_NEW(t->pool, const char *, room);
        if (!larger) {
            return -1;
        }
        if (t->labels) {
            memcpy(larger, t->label, (size_t)t->labels * sizeof *larger);
        }
        t->label = larger;
        file->label_room = room;
    }
    /* a new label */
    t->label[t->labels] = text;
    return t->labels++;
}

static bool grow_csv_table(trajectory *t, table *file) {
    if (t->records < file->room) {
        return true;
    }
    ptrdiff_t room = 2 * file->room + 256;
    double *value = realloc(file->value, (size_t)room * (size_t)t->columns * sizeof *value);
    file->value = value ? value : file->value;
    int *label = value ? realloc(file->label, (size_t)room * sizeof *label) : NULL;
    file->label = label ? label : file->label;
    file->room = label ? room : file->room;
    return label != NULL;
}

static sim_status read_record(trajectory *t, table *file, int named, sim_error *error) {
    double *row = file->value + (size_t)t->records * (size_t)t->columns;
    int count = 0, last = 0;
    for (; !last; count++) {
        char *cell = take_cell(&file->next, &last), *end;
        if (count >= t->columns) {
            continue;
        }
        if (named && count == 0) {
            file->label[t->records] = find_csv_label(t, file, cell);
            if (file->label[t->records] < 0) {
                return report_no_memory(t, error);
            }
            row[0] = file->label[t->records];
            continue;
        }
        row[count] = *cell ? strtod(cell, &end) : NAN; /* figures that a solver does not compute are empty */
        if (*cell && *end) {
            return sim_fail(error, SIM_BAD_INPUT, "%s:%d: '%.40s' is not a number (column '%.60s')", t->path,
                            file->line, cell, t->column[count].name);
        }
    }
    return count == t->columns ? SIM_OK
                               : sim_fail(error, SIM_BAD_INPUT, "%s:%d: has %d cells, but there are %d columns",
                                          t->path, file->line, count, t->columns);
}

static sim_status read_records(trajectory *t, table *file, sim_error *error) {
    int named = strcmp(t->column[0].name, label_name) == 0;
    sim_status status = SIM_OK;
    while (!status && *file->next && is_whole(file->next)) {
        file->line++;
        if (*file->next == '\n' || strncmp(file->next, "\r\n", 2) == 0) {
            file->next += strcspn(file->next, "\n") + 1;
            continue;
        }
        status = grow_csv_table(t, file) ? read_record(t, file, named, error) : report_no_memory(t, error);
        t->records += !status;
    }
    t->label_of = file->label;
    return status;
}

/* ---- the file as a whole ---- */

static sim_status csv_values(trajectory *t, int column, double *value, sim_error *error) {
    const table *file = t->file;
    (void)error;
    for (ptrdiff_t r = 0; r < t->records; r++) {
        value[r] = file->value[r * t->columns + column];
    }
    return SIM_OK;
}

static void close_csv_trajectory(trajectory *t) {
    table *file = t->file;
    free(file->text);
    free(file->value);
    free(file->label);
}

sim_status trajectory_open_csv(trajectory *t, sim_error *error) {
    table *file = POOL_NEW(t->pool, table, 1);
    if (!file) {
        return report_no_memory(t, error);
    }
    t->file = file;
    t->read = csv_values;
    t->close = close_csv_trajectory;
    sim_status status = read_csv_file(t, &file->text, error);
    file->next = file->text;
    status = status ? status : read_header(t, file, error);
    return status ? status : read_records(t, file, error);
}
