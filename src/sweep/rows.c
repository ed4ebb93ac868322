/* Rows as they come: a line each at the end of a part, which every process writes alone.
 *
 * A part begins with the hash of the sweep.  A kill leaves at most the beginning of a line, which the next process
 * cuts off.  A row is a function of its run, so that of two rows of one run either will do. */
#include "sweep/rows.h"
#include "base/file.h"
#include "base/words.h"

#include "record/run/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_BYTES = 128 };
static const int64_t MAX_PART_BYTES = INT64_C(1) << 36;

struct sim_sweep_rows {
    const sim_sweep *sweep;
    char *path, *folder, *part; /* the file, its folder, the part that is written */
    const char *base;           /* the name of the file in its folder */
    char head[HEAD_BYTES];
    char **row; /* [runs]; NULL: not there */
    int64_t count, failures;
    int file;      /* the part; -1: none */
    bool finished; /* the file is there */
};

static sim_status report_no_memory(sim_error *error) {
    return sim_fail(error, SIM_NO_RESOURCE, "no memory for the rows");
}

/* ---- rows in memory ---- */

/* Of a line without its end. */
static sim_status check_row(const sim_sweep_rows *r, const char *line, int64_t *run, bool *failed, sim_error *error) {
    const sim_sweep_info *info = &r->sweep->info;
    char *end, *cell = malloc(strlen(line) + 1);
    int cells = 0;
    if (!cell) {
        return report_no_memory(error);
    }
    for (const char *at = line; at; cells++) {
        at = sweep_next_cell(at, cell);
        if (cells < info->columns && strcmp(info->column[cells], "ending") == 0) {
            *failed = strcmp(cell, "finished") != 0;
        }
    }
    free(cell);
    *run = strtoll(line, &end, 10);
    bool good = end != line && *end == ',' && *run >= 0 && *run < info->runs && cells == info->columns;
    return good ? SIM_OK : sim_fail(error, SIM_BAD_INPUT, "is no row of this sweep: %.80s", line);
}

/* `line` is copied; a second row of a run is left out. */
static sim_status keep_row(sim_sweep_rows *r, const char *line, bool *added, sim_error *error) {
    int64_t run = -1;
    bool failed = false;
    *added = false;
    sim_status status = check_row(r, line, &run, &failed, error);
    if (status || r->row[run]) {
        return status;
    }
    if (!(r->row[run] = strdup(line))) {
        return report_no_memory(error);
    }
    r->count++;
    r->failures += failed;
    *added = true;
    return SIM_OK;
}

/* ---- parts ---- */

/* The rows of the text of a part; `*whole` bytes of it are whole lines. */
static sim_status take_lines(sim_sweep_rows *r, char *content, size_t *whole, sim_error *error) {
    size_t head = strlen(r->head);
    *whole = 0;
    char *line = content, *end = strchr(content, '\n');
    if (!end) {
        return SIM_OK; /* not even a head */
    }
    if (strncmp(content, r->head, head) != 0) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "holds rows of another sweep, scene or build: remove it, or choose another --out");
    }
    for (line = end + 1; (end = strchr(line, '\n')); line = end + 1) {
        bool added;
        *end = 0;
        sim_status status = keep_row(r, line, &added, error);
        if (status) {
            return status;
        }
    }
    *whole = (size_t)(line - content);
    return SIM_OK;
}

static sim_status read_part(sim_sweep_rows *r, const char *path, size_t *whole, sim_error *error) {
    char *content = NULL;
    size_t length = 0;
    sim_error why = {0};
    *whole = 0;
    sim_status status = file_read(path, MAX_PART_BYTES, &content, &length, &why);
    status = status ? status : take_lines(r, content, whole, &why);
    free(content);
    return status ? sim_fail(error, status, "%.300s: %.200s", path, why.text) : SIM_OK;
}

/* "sweep.h5.part", "sweep.h5.part.12" */
static bool is_part(const sim_sweep_rows *r, const char *name) {
    size_t length = strlen(r->base);
    if (strncmp(name, r->base, length) != 0 || strncmp(name + length, ".part", 5) != 0) {
        return false;
    }
    const char *rest = name + length + 5;
    return *rest == 0 || (*rest == '.' && rest[1] && rest[1 + strspn(rest + 1, "0123456789")] == 0);
}

/* Each part in turn, by its path, to `use`. */
static sim_status each_part(sim_sweep_rows *r, sim_status (*use)(sim_sweep_rows *, const char *, sim_error *),
                            sim_error *error) {
    DIR *folder = opendir(r->folder);
    sim_status status = folder ? SIM_OK : sim_fail(error, SIM_NO_RESOURCE, "%s: %s", r->folder, strerror(errno));
    for (struct dirent *entry; !status && folder && (entry = readdir(folder));) {
        text path = {0};
        if (is_part(r, entry->d_name)) {
            text_add(&path, "%s/%s", r->folder, entry->d_name);
            char *whole = text_take(&path);
            status = whole ? use(r, whole, error) : report_no_memory(error);
            free(whole);
        }
    }
    if (folder) {
        closedir(folder);
    }
    return status;
}

static sim_status read_other_part(sim_sweep_rows *r, const char *path, sim_error *error) {
    size_t whole;
    return file_same(path, r->part) ? SIM_OK : read_part(r, path, &whole, error);
}

static sim_status remove_part(sim_sweep_rows *r, const char *path, sim_error *error) {
    (void)r;
    return unlink(path) && errno != ENOENT ? sim_fail(error, SIM_NO_RESOURCE, "%s: %s", path, strerror(errno)) : SIM_OK;
}

static sim_status append(const sim_sweep_rows *r, const char *line, sim_error *error) {
    for (size_t left = strlen(line); left > 0;) {
        ssize_t done = write(r->file, line, left);
        if (done < 0 && errno != EINTR) {
            return sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write a row: %s", r->part, strerror(errno));
        }
        line += done > 0 ? done : 0;
        left -= done > 0 ? (size_t)done : 0;
    }
    return SIM_OK;
}

/* The part of this process: locked, read, and cut after its last whole line. */
static sim_status open_part(sim_sweep_rows *r, sim_error *error) {
    size_t whole;
    r->file = open(r->part, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (r->file < 0) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: %s", r->part, strerror(errno));
    }
    if (flock(r->file, LOCK_EX | LOCK_NB)) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: another process is at work on this sweep", r->part);
    }
    sim_status status = read_part(r, r->part, &whole, error);
    if (!status && ftruncate(r->file, (off_t)whole)) {
        status = sim_fail(error, SIM_NO_RESOURCE, "%s: %s", r->part, strerror(errno));
    }
    return status || whole ? status : append(r, r->head, error);
}

/* ---- the interface ---- */

static sim_status name_files(sim_sweep_rows *r, const char *path, int part, sim_error *error) {
    const char *slash = strrchr(path, '/');
    text name = {0}, folder = {0};
    text_add(&name, "%s.part", path);
    if (part >= 0) {
        text_add(&name, ".%d", part);
    }
    text_add(&folder, "%.*s", slash ? (int)(slash - path) + (slash == path) : 1, slash ? path : ".");
    r->part = text_take(&name);
    r->folder = text_take(&folder);
    r->path = strdup(path);
    r->row = calloc((size_t)r->sweep->info.runs, sizeof *r->row);
    r->base = r->path ? r->path + (slash ? slash - path + 1 : 0) : NULL;
    snprintf(r->head, sizeof r->head, "# rows of the sweep %s\n", r->sweep->info.hash);
    return r->part && r->folder && r->path && r->row ? SIM_OK : report_no_memory(error);
}

static sim_status check_ending(const char *path, sim_error *error) {
    if (!ends_in(path, ".csv") && !ends_in(path, ".h5")) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: the file of a sweep ends in .csv or .h5", path);
    }
    if (ends_in(path, ".h5") && !hdf5_present()) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: this build has no HDF5; choose a file that ends in .csv", path);
    }
    return SIM_OK;
}

sim_sweep_rows *sim_sweep_rows_open(const sim_sweep *sweep, const char *path, int part, sim_error *error) {
    /* names */
    if (check_ending(path, error)) {
        return NULL;
    }
    sim_sweep_rows *r = calloc(1, sizeof *r);
    if (!r) {
        report_no_memory(error);
        return NULL;
    }
    *r = (sim_sweep_rows){.sweep = sweep, .file = -1};
    sim_status status = name_files(r, path, part, error);
    /* rows that are there */
    if (!status && access(path, F_OK) == 0) {
        status = sweep_check_finished(sweep, path, &r->failures, error);
        r->finished = !status;
    } else if (!status) {
        status = open_part(r, error);
        status = status ? status : each_part(r, read_other_part, error);
    }
    if (status) {
        sim_sweep_rows_close(r);
        return NULL;
    }
    return r;
}

bool sim_sweep_rows_has(const sim_sweep_rows *rows, int64_t run) { return rows->finished || rows->row[run]; }

int64_t sim_sweep_rows_count(const sim_sweep_rows *rows) {
    return rows->finished ? rows->sweep->info.runs : rows->count;
}

int64_t sim_sweep_rows_failures(const sim_sweep_rows *rows) { return rows->failures; }

sim_status sim_sweep_rows_add(sim_sweep_rows *rows, const char *row, sim_error *error) {
    bool added = false;
    sim_status status = rows->finished ? SIM_OK : keep_row(rows, row, &added, error);
    if (status || !added) {
        return status;
    }
    text line = {0};
    text_add(&line, "%s\n", row);
    char *whole = text_take(&line);
    status = whole ? append(rows, whole, error) : report_no_memory(error);
    free(whole);
    return status;
}

sim_status sim_sweep_rows_finish(sim_sweep_rows *rows, sim_error *error) {
    const sim_sweep *s = rows->sweep;
    if (rows->finished) {
        return SIM_OK;
    }
    if (rows->count < s->info.runs) {
        return sim_fail(error, SIM_FAILED, "%lld of %lld rows are missing", (long long)(s->info.runs - rows->count),
                        (long long)s->info.runs);
    }
    sim_status status = (ends_in(rows->path, ".csv") ? sweep_write_csv : sweep_write_hdf5)(
        s, rows->path, (const char *const *)rows->row, error);
    rows->finished = !status;
    return status ? status : each_part(rows, remove_part, error);
}

void sim_sweep_rows_close(sim_sweep_rows *rows) {
    if (!rows) {
        return;
    }
    for (int64_t k = 0; rows->row && k < rows->sweep->info.runs; k++) {
        free(rows->row[k]);
    }
    if (rows->file >= 0) {
        close(rows->file);
    }
    free(rows->row);
    free(rows->part);
    free(rows->folder);
    free(rows->path);
    free(rows);
}
