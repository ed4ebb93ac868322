/* Reader of recorded HDF5 files.  Of all channels that a run can record (channels.c) those that are there; their
 * names and units from the file.  Numbers are read when asked for, a column or a run of rows at a time.  So files
 * larger than memory can be looked at, also while they are being written. */
#include "record/file/hdf5_own.h"
#include "record/file/hdf5_quiet.h"
#include "record/run/channels.h"
#include "record/run/trajectory.h"

#include <stdint.h>
#include <string.h>

enum { MAX_ITEMS = 1000000, MAX_TEXT_BYTES = 1 << 26 };

typedef struct opened {
    hid_t file;
} opened;

static sim_status library_failed(const trajectory *t, const char *what, sim_error *error) {
    char why[HDF5_REASON_BYTES];
    hdf5_reason(why);
    return sim_fail(error, hdf5_status(), "%s: /%s: cannot be read: HDF5 says: %s", t->path, what, why);
}

/* Is it there, every group on the way to it included? */
static bool object_exists(hid_t file, const char *path) {
    const char *slash = strchr(path, '/');
    char group[64];
    if (slash && (size_t)(slash - path) < sizeof group) {
        memcpy(group, path, (size_t)(slash - path));
        group[slash - path] = 0;
        if (H5Lexists(file, group, H5P_DEFAULT) <= 0) {
            return false;
        }
    }
    return H5Lexists(file, path, H5P_DEFAULT) > 0;
}

/* ---- nothing of other files ---- */

typedef struct survey {
    const trajectory *t;
    sim_error *error;
} survey;

/* A name in a file may hold whatever bytes. */
static herr_t refuse_link(const survey *s, const char *name, const char *why) {
    char plain[64];
    size_t k = 0;
    for (; name[k] && k < sizeof plain - 1; k++) {
        plain[k] = (char)(name[k] >= ' ' && name[k] <= '~' ? name[k] : '?');
    }
    plain[k] = 0;
    sim_fail(s->error, SIM_BAD_INPUT, "%s: /%s: %s", s->t->path, plain, why);
    return -1;
}

static herr_t look_at_link(hid_t group, const char *name, const H5L_info_t *info, void *data) {
    const survey *s = data;
    if (info->type != H5L_TYPE_HARD) {
        return refuse_link(s, name, "is a link to elsewhere");
    }
    hid_t id = H5Oopen(group, name, H5P_DEFAULT);
    const char *foreign = id >= 0 && H5Iget_type(id) == H5I_DATASET ? hdf5_foreign(id) : NULL;
    if (id >= 0) {
        H5Oclose(id);
    }
    return foreign ? refuse_link(s, name, foreign) : 0;
}

/* Before anything is read: later reads then need not ask again. */
static sim_status check_links(const trajectory *t, hid_t file, sim_error *error) {
    sim_error why = {0};
    survey s = {t, &why};
    if (H5Lvisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, look_at_link, &s) >= 0) {
        return SIM_OK;
    }
    return why.status ? sim_fail(error, why.status, "%s", why.text) : library_failed(t, "", error);
}

/* ---- texts ---- */

/* The texts of an attribute, of one fixed width; *width is 0 where there are none. */
static char *texts_of(const trajectory *t, hid_t owner, const char *name, int count, size_t *width) {
    char *all = NULL;
    *width = 0;
    if (H5Aexists(owner, name) <= 0) {
        return NULL;
    }
    hid_t id = H5Aopen(owner, name, H5P_DEFAULT), type = H5Aget_type(id), space = H5Aget_space(id);
    size_t size = H5Tget_size(type);
    if (H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 && size > 0 && size < MAX_TEXT_BYTES &&
        H5Sget_simple_extent_npoints(space) == count) {
        all = pool_alloc(t->pool, (size_t)count * size + 1, 1);
        if (all && H5Aread(id, type, all) >= 0) {
            *width = size;
        }
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(id);
    return all;
}

static int text_length(const char *all, size_t width, int k) {
    size_t length = 0;
    while (length < width && all[(size_t)k * width + length]) {
        length++;
    }
    return (int)length;
}

/* ---- columns ---- */

/* "hand.pose.x", as csv.c puts names together. */
static const char *column_name(trajectory *t, const channel_kind *kind, const char *names, size_t width, int item,
                               int component) {
    char number[16], text[CHANNEL_NAME_BYTES * 2];
    int length = width ? text_length(names, width, item) : 0;
    const char *name = width ? names + (size_t)item * width : number;
    if (!width && kind->rank > 1) {
        length = snprintf(number, sizeof number, "%d", item);
    }
    if (kind->rank < 3) {
        snprintf(text, sizeof text, "%s%.*s", kind->column, length, name);
    } else {
        snprintf(text, sizeof text, "%.*s.%s%s", length, name, kind->column, kind->components[component]);
    }
    return pool_text(t->pool, text);
}

static const char *column_unit(trajectory *t, const char *units, size_t width, int k) {
    char text[64];
    snprintf(text, sizeof text, "%.*s", width ? text_length(units, width, k) : 0,
             width ? units + (size_t)k * width : "");
    return strcmp(text, "1") == 0 ? "" : pool_text(t->pool, text);
}

static bool grow_columns(trajectory *t, int more) {
    trajectory_column *column = POOL_NEW(t->pool, trajectory_column, t->columns + more);
    if (!column) {
        return false;
    }
    if (t->columns) {
        memcpy(column, t->column, (size_t)t->columns * sizeof *column);
    }
    t->column = column;
    return true;
}

static sim_status add_columns(trajectory *t, int number, hid_t set, int items, sim_error *error) {
    /* names and units stored with the dataset */
    const channel_kind *kind = channel_kind_at(number);
    size_t names_width = 0, units_width = 0;
    int vectors = kind->rank == 3, units_count = vectors ? kind->width : items;
    char *names = kind->rank > 1 ? texts_of(t, set, "names", items, &names_width) : NULL;
    char *units = texts_of(t, set, "units", units_count, &units_width);
    if (!grow_columns(t, items * kind->width)) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: no memory for its content", t->path);
    }
    /* a column for each component of each item */
    for (int k = 0; k < items * kind->width; k++) {
        int item = k / kind->width, component = k % kind->width;
        trajectory_column column = {column_name(t, kind, names, names_width, item, component),
                                    column_unit(t, units, units_width, vectors ? component : item), number, item,
                                    component};
        if (!column.name || !column.unit) {
            return sim_fail(error, SIM_NO_RESOURCE, "%s: no memory for its content", t->path);
        }
        t->column[t->columns++] = column;
    }
    return SIM_OK;
}

static bool is_number(hid_t set) {
    hid_t type = H5Dget_type(set);
    H5T_class_t class = H5Tget_class(type);
    H5Tclose(type);
    return class == H5T_INTEGER || class == H5T_FLOAT;
}

/* Rank, or -1; `size` has room for three. */
static int read_shape(hid_t set, hsize_t size[3]) {
    hid_t space = H5Dget_space(set);
    int rank = H5Sget_simple_extent_ndims(space);
    size[0] = size[1] = size[2] = 1;
    if (rank >= 1 && rank <= 3) {
        H5Sget_simple_extent_dims(space, size, NULL);
    }
    H5Sclose(space);
    return rank;
}

static sim_status add_channel(trajectory *t, int number, sim_error *error) {
    const channel_kind *kind = channel_kind_at(number);
    hid_t file = ((opened *)t->file)->file;
    if (!kind->column || !object_exists(file, kind->path)) {
        return SIM_OK;
    }
    hid_t set = H5Dopen2(file, kind->path, H5P_DEFAULT);
    hsize_t size[3];
    if (set < 0) {
        return library_failed(t, kind->path, error);
    }
    int fits = read_shape(set, size) == kind->rank && size[0] >= (hsize_t)t->records && size[1] > 0 &&
               size[1] <= MAX_ITEMS && size[2] == (hsize_t)(kind->rank == 3 ? kind->width : 1) && is_number(set);
    sim_status status = fits ? add_columns(t, number, set, (int)size[1], error)
                             : sim_fail(error, SIM_BAD_INPUT, "%s: /%s: should hold %lld records of numbers", t->path,
                                        kind->path, (long long)t->records);
    H5Dclose(set);
    return status;
}

/* As many records as `time` has are whole in every dataset. */
static sim_status count_records(trajectory *t, sim_error *error) {
    hid_t file = ((opened *)t->file)->file;
    hid_t set = object_exists(file, "time") ? H5Dopen2(file, "time", H5P_DEFAULT) : -1;
    hsize_t size[3];
    int good = set >= 0 && read_shape(set, size) == 1 && size[0] < PTRDIFF_MAX / 16;
    t->records = good ? (ptrdiff_t)size[0] : 0;
    if (set >= 0) {
        H5Dclose(set);
    }
    return good ? SIM_OK
                : sim_fail(error, SIM_BAD_INPUT, "%s: is not a trajectory: it has no dataset /time of one dimension",
                           t->path);
}

static sim_status open_all(trajectory *t, sim_error *error) {
    /* closing the file closes all that is open in it */
    opened *file = t->file;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    file->file = H5Fopen(t->path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    if (file->file < 0) {
        sim_status why = hdf5_status();
        return sim_fail(error, why,
                        why == SIM_NO_RESOURCE
                            ? "%s: no memory to open it"
                            : "%s: starts as HDF5, but cannot be opened; it may be damaged or truncated",
                        t->path);
    }
    /* records, then the columns of each channel */
    sim_status status = check_links(t, file->file, error);
    status = status ? status : count_records(t, error);
    for (int k = 0; !status && channel_kind_at(k); k++) {
        status = add_channel(t, k, error);
    }
    return status;
}

/* ---- numbers ---- */

/* Rows [start, start + count) in each dimension. */
static sim_status read_record_rows(trajectory *t, const char *path, int rank, const hsize_t *start,
                                   const hsize_t *count, double *value, sim_error *error) {
    hdf5_silence before = hdf5_silence_begin();
    hid_t set = H5Dopen2(((opened *)t->file)->file, path, H5P_DEFAULT), space = set >= 0 ? H5Dget_space(set) : -1;
    hid_t memory = H5Screate_simple(rank, count, NULL);
    int good = space >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
               H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, value) >= 0;
    sim_status status = good ? SIM_OK : library_failed(t, path, error);
    H5Sclose(memory);
    if (space >= 0) {
        H5Sclose(space);
    }
    if (set >= 0) {
        H5Dclose(set);
    }
    hdf5_silence_end(before);
    return status;
}

static sim_status hdf5_values(trajectory *t, int column, double *value, sim_error *error) {
    const trajectory_column *c = &t->column[column];
    const channel_kind *kind = channel_kind_at(c->set);
    hsize_t start[3] = {0, (hsize_t)c->item, (hsize_t)c->component}, count[3] = {(hsize_t)t->records, 1, 1};
    return read_record_rows(t, kind->path, kind->rank, start, count, value, error);
}

sim_status trajectory_rows(trajectory *t, const char *dataset, ptrdiff_t first, ptrdiff_t rows, ptrdiff_t width,
                           double *value, sim_error *error) {
    /* shape of the dataset, if the run has it */
    hsize_t size[3] = {0, 0, 0}, start[3] = {(hsize_t)first, 0, 0};
    hdf5_silence before = hdf5_silence_begin();
    int rank = -1, is_hdf5 = t->read == hdf5_values;
    hid_t set = is_hdf5 && object_exists(((opened *)t->file)->file, dataset)
                    ? H5Dopen2(((opened *)t->file)->file, dataset, H5P_DEFAULT)
                    : -1;
    if (set >= 0) {
        rank = read_shape(set, size);
        rank = is_number(set) ? rank : -1;
        H5Dclose(set);
    }
    hdf5_silence_end(before);
    /* rows within it, as wide as the caller expects */
    if (rank < 1 || first < 0 || rows < 0 || size[0] < (hsize_t)first + (hsize_t)rows || size[1] > MAX_ITEMS ||
        size[2] > MAX_ITEMS || (ptrdiff_t)(size[1] * size[2]) != width) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: /%s: does not hold %lld rows of %lld numbers", t->path, dataset,
                        (long long)first + (long long)rows, (long long)width);
    }
    /* read */
    hsize_t count[3] = {(hsize_t)rows, size[1], size[2]};
    return rows ? read_record_rows(t, dataset, rank, start, count, value, error) : SIM_OK;
}

const char *trajectory_text(trajectory *t, const char *name) {
    size_t width = 0;
    if (t->read != hdf5_values) {
        return NULL;
    }
    hdf5_silence before = hdf5_silence_begin();
    char *text = texts_of(t, ((opened *)t->file)->file, name, 1, &width);
    hdf5_silence_end(before);
    return width ? text : NULL;
}

double trajectory_number(trajectory *t, const char *name, double standard) {
    hid_t file = t->read == hdf5_values ? ((opened *)t->file)->file : -1;
    double value = standard;
    if (file < 0) {
        return standard;
    }
    hdf5_silence before = hdf5_silence_begin();
    if (H5Aexists(file, name) > 0) {
        hid_t id = H5Aopen(file, name, H5P_DEFAULT), type = H5Aget_type(id), space = H5Aget_space(id);
        if (H5Tget_class(type) != H5T_FLOAT || H5Sget_simple_extent_npoints(space) != 1 ||
            H5Aread(id, H5T_NATIVE_DOUBLE, &value) < 0) {
            value = standard;
        }
        H5Sclose(space);
        H5Tclose(type);
        H5Aclose(id);
    }
    hdf5_silence_end(before);
    return value;
}

static void close_hdf5_trajectory(trajectory *t) {
    hid_t file = ((opened *)t->file)->file;
    if (file >= 0) {
        H5Fclose(file);
    }
}

sim_status trajectory_open_hdf5(trajectory *t, sim_error *error) {
    opened *file = POOL_NEW(t->pool, opened, 1);
    if (!file) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: no memory", t->path);
    }
    file->file = -1;
    t->file = file;
    t->read = hdf5_values;
    t->close = close_hdf5_trajectory;
    hdf5_silence before = hdf5_silence_begin();
    sim_status status = open_all(t, error);
    hdf5_silence_end(before);
    return status;
}
