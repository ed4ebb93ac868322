/* Reader of recorded files, CSV or HDF5.  The two kinds of files are told apart by their first bytes, not by names. */
#include "record/run/trajectory.h"
#include "base/file.h"
#include "base/words.h"
#include "scene/format/foreign.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const unsigned char hdf5_magic[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

/* Beginnings of files that are no records. */
static sim_status check_head(const trajectory *t, const unsigned char *head, size_t length, sim_error *error) {
    if (length == 0) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: is empty", t->path);
    }
    if (ends_in(t->path, ".h5") || ends_in(t->path, ".hdf5")) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: is not an HDF5 file, despite its name", t->path);
    }
    if (head[0] == '{' || head[0] == '[') {
        return sim_fail(error, SIM_BAD_INPUT,
                        "%s: is JSON, not a recorded run; of a scene, sim SCENE.json --out FILE.h5 records one",
                        t->path);
    }
    const foreign_kind *kind = foreign_find_kind("", (const char *)head, length); /* whatever its name */
    if (kind && !kind->recorded) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: is %s, not a recorded run", t->path, kind->is);
    }
    return SIM_OK;
}

static sim_status open_kind(trajectory *t, sim_error *error) {
    /* first bytes of the file */
    unsigned char head[FOREIGN_HEAD_BYTES];
    int file;
    int64_t size;
    sim_error why = {0};
    if (file_open(t->path, &file, &size, &why)) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: %s%s", t->path,
                        why.status == SIM_BAD_INPUT ? "is " : "cannot be read: ", why.text);
    }
    ssize_t got = read(file, head, sizeof head);
    size_t length = got > 0 ? (size_t)got : 0;
    close(file);
    if (got < 0) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: cannot be read: %s", t->path, strerror(errno));
    }
    /* HDF5 by its signature, else text */
    if (length >= sizeof hdf5_magic && memcmp(head, hdf5_magic, sizeof hdf5_magic) == 0) {
        return trajectory_open_hdf5(t, error);
    }
    sim_status status = check_head(t, head, length, error);
    return status ? status : trajectory_open_csv(t, error);
}

trajectory *trajectory_open(const char *path, sim_error *error) {
    memory_pool *pool = pool_create();
    trajectory *t = pool ? POOL_NEW(pool, trajectory, 1) : NULL;
    if (!t || !(t->path = pool_text(pool, path))) {
        pool_free(pool);
        sim_fail(error, SIM_NO_RESOURCE, "%s: no memory", path);
        return NULL;
    }
    t->pool = pool;
    sim_status status = open_kind(t, error);
    if (!status && t->records == 0) {
        status = sim_fail(error, SIM_BAD_INPUT, "%s: has columns, but no records", path);
    }
    if (status) {
        trajectory_free(t);
        return NULL;
    }
    return t;
}

void trajectory_free(trajectory *t) {
    if (t) {
        if (t->close) {
            t->close(t);
        }
        pool_free(t->pool);
    }
}

sim_status trajectory_values(trajectory *t, int column, double *value, sim_error *error) {
    return t->read(t, column, value, error);
}

static bool is_called(const trajectory_column *column, const char *name) {
    size_t length = strlen(column->name);
    if (strncmp(column->name, name, length) != 0) {
        return false;
    }
    const char *rest = name + length;
    size_t unit = strlen(column->unit);
    return !*rest || (strncmp(rest, " [", 2) == 0 && strncmp(rest + 2, column->unit, unit) == 0 &&
                      strcmp(rest + 2 + unit, "]") == 0);
}

int trajectory_find(const trajectory *t, const char *name, int from) {
    for (int k = from; k < t->columns; k++) {
        if (is_called(&t->column[k], name)) {
            return k;
        }
    }
    return -1;
}
