/* Writer of trajectories as HDF5.  One dataset a channel, first dimension the record, with its meaning, names
 * and units as attributes; attributes of the root describe the run.
 *
 * Rows gather in memory until a chunk is full, which goes to the file compressed.  A flush does not wait for that.  It
 * writes the chunk uncompressed, and the chunk stays so, because this mode of the library does not reuse space. `time`
 * grows last: as many records as it has are whole in every dataset.
 *
 * Contacts vary in number. They follow each other in datasets of their own, a row a contact; contact/start and
 * contact/count give those of a record. */
#include "record/file/hdf5_quiet.h"
#include "record/run/hdf5_driver.h"
#include "record/run/writer.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FORMAT_VERSION = 1,
    COMPRESSION = 1,          /* of numbers that barely compress, more costs much and gains a hundredth */
    CHUNK_BYTES = 64 * 1024,  /* aimed at; */
    CHUNK_LIMIT = 256 * 1024, /* where few records already weigh more, items are split over several chunks */
    CHUNK_RECORDS_MIN = 16,
    CHUNK_RECORDS_MAX = 4096,
    MEMORY_PAGE = 4096,
    NUMBER = 8, /* bytes; whole numbers are int64 */
};
static const uint32_t no_filters = 0xffffffffu;

typedef struct dataset {
    const record_channel *channel;
    hid_t id;
    hsize_t chunk[3];      /* records, items, components */
    char *rows;            /* [chunk[0]] records as they will stand in the file */
    hsize_t done, pending; /* records in full chunks; records of the chunk that is filling */
    hsize_t flushed;       /* of `pending` */
} dataset;

typedef struct hdf5 {
    writer base;
    memory_pool *pool;
    const char *path;
    hid_t driver, file;
    hdf5_link link;
    int count;
    dataset *dataset; /* [count] those of records, then those of contacts */
    int contacts0;    /* the first of these */
    size_t contact_width;
    char *scratch; /* one chunk */
    hid_t complete;
} hdf5;

bool hdf5_present(void) { return true; }

void hdf5_disable_atexit(void) { H5dont_atexit(); }

/* ---- failures of the library ---- */

static sim_status say_why(const hdf5 *self, sim_error *error) {
    if (self->link.trouble == EWOULDBLOCK) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write: another program has it open", self->path);
    }
    if (self->link.trouble) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write: %s", self->path, strerror(self->link.trouble));
    }
    char text[HDF5_REASON_BYTES];
    hdf5_reason(text);
    return sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write: HDF5 says: %s", self->path, text);
}

/* ---- attributes ---- */

enum { SINGLE_VALUE = -1 }; /* a value that is no list */

/* A list stays a list where it has one item, so that readers need not tell the two apart. */
static bool put_attribute(hid_t owner, const char *name, hid_t type, int count, const void *values) {
    hsize_t size = (hsize_t)count;
    hid_t space = count == SINGLE_VALUE ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, NULL);
    hid_t attribute = H5Acreate2(owner, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, values) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
    return good;
}

static hid_t text_type(size_t width) {
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, width > 0 ? width : 1);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static bool put_text_of(hid_t owner, const char *name, const char *text, size_t length) {
    hid_t type = text_type(length);
    bool good = put_attribute(owner, name, type, SINGLE_VALUE, length > 0 ? text : "");
    H5Tclose(type);
    return good;
}

static bool put_text(hid_t owner, const char *name, const char *text) {
    return put_text_of(owner, name, text ? text : "", text ? strlen(text) : 0);
}

static bool put_whole(hid_t owner, const char *name, int64_t value) {
    return put_attribute(owner, name, H5T_NATIVE_INT64, SINGLE_VALUE, &value);
}

/* Texts of one width, gathered from `text_at`. */
typedef void text_source(const record_channel *channel, const sim_scene *scene, int index, char *text, size_t size);

static bool put_texts(hid_t owner, const char *name, const record_channel *channel, const sim_scene *scene, int count,
                      text_source *text_at) {
    /* width of the longest text */
    char text[CHANNEL_NAME_BYTES];
    size_t width = 1;
    for (int i = 0; i < count; i++) {
        text_at(channel, scene, i, text, sizeof text);
        width = strlen(text) > width ? strlen(text) : width;
    }
    /* fixed-width strings, padded with zeros */
    char *all = calloc((size_t)count, width);
    if (!all) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        text_at(channel, scene, i, text, sizeof text);
        memcpy(all + (size_t)i * width, text, strlen(text));
    }
    hid_t type = text_type(width);
    bool good = put_attribute(owner, name, type, count, all);
    H5Tclose(type);
    free(all);
    return good;
}

static void name_at(const record_channel *channel, const sim_scene *scene, int index, char *text, size_t size) {
    channel->kind->name(scene, index, text, size);
}

static void component_at(const record_channel *channel, const sim_scene *scene, int index, char *text, size_t size) {
    (void)scene;
    snprintf(text, size, "%s", channel->kind->components[index]);
}

/* Units differ between the items of a flat channel, between the components of a channel of vectors. */
static void unit_at(const record_channel *channel, const sim_scene *scene, int index, char *text, size_t size) {
    int vectors = channel->kind->rank == 3;
    snprintf(text, size, "%s", channel->kind->unit(scene, vectors ? 0 : index, vectors ? index : 0));
}

static bool describe_dataset(hid_t id, const record_channel *channel, const sim_scene *scene) {
    const channel_kind *kind = channel->kind;
    bool good = put_text(id, "meaning", kind->meaning);
    if (kind->rank > 1) {
        good &= put_texts(id, "names", channel, scene, channel->items, name_at);
    }
    if (kind->rank > 2) {
        good &= put_texts(id, "components", channel, scene, kind->width, component_at);
    }
    return good && put_texts(id, "units", channel, scene, kind->rank > 2 ? kind->width : channel->items, unit_at);
}

static bool describe_run(hid_t root, const sim_scene *scene, const sim_options *options) {
    static const char conventions[] = "SI units, radians, right-handed frames; quaternions w x y z, Hamilton, body to "
                                      "world; twists and wrenches (angular; linear), world axes";
    return put_text(root, "format", "sim trajectory") && put_whole(root, "format_version", FORMAT_VERSION) &&
           put_text(root, "sim_version", sim_version()) && put_text(root, "build", sim_build_info()) &&
           put_text(root, "conventions", conventions) && put_text(root, "scene_name", scene->name) &&
           put_text(root, "scene_hash", scene->hash) &&
           put_text_of(root, "scene", scene->text, scene->text ? scene->text_length : 0) &&
           put_attribute(root, "seed", H5T_NATIVE_UINT64, SINGLE_VALUE, &scene->seed) &&
           put_attribute(root, "step", H5T_NATIVE_DOUBLE, SINGLE_VALUE, &options->step) &&
           put_whole(root, "steps_between_records", scene->record.every) &&
           put_text(root, "integrator", sim_integrator_name(options->integrator)) &&
           put_text(root, "solver", options->contacts && options->solver ? options->solver->name : "");
}

/* ---- making the file ---- */

static hsize_t at_most(hsize_t value, hsize_t limit) { return value < limit ? value : limit; }

static void choose_chunk(dataset *set) {
    hsize_t record = (hsize_t)set->channel->count * NUMBER, records = CHUNK_RECORDS_MIN;
    while (records < CHUNK_RECORDS_MAX && 2 * records * record <= CHUNK_BYTES) {
        records *= 2;
    }
    hsize_t width = (hsize_t)set->channel->kind->width, items = CHUNK_LIMIT / (records * width * NUMBER);
    set->chunk[0] = records;
    set->chunk[1] = at_most(items, (hsize_t)set->channel->items);
    set->chunk[2] = width;
}

static size_t chunk_bytes(const dataset *set) {
    return (size_t)(set->chunk[0] * set->chunk[1] * set->chunk[2]) * NUMBER;
}

static hid_t creation_properties(const dataset *set) {
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, set->channel->kind->rank, set->chunk);
    H5Pset_shuffle(properties);
    H5Pset_deflate(properties, COMPRESSION);
    H5Pset_attr_phase_change(properties, 0, 0); /* attributes apart, so that the header, rewritten often, stays small */
    return properties;
}

static hid_t create_dataset(hid_t file, const dataset *set) {
    const channel_kind *kind = set->channel->kind;
    hsize_t size[3] = {0, (hsize_t)set->channel->items, (hsize_t)kind->width};
    hsize_t limit[3] = {H5S_UNLIMITED, size[1], size[2]};
    hid_t space = H5Screate_simple(kind->rank, size, limit), links = H5Pcreate(H5P_LINK_CREATE);
    hid_t properties = creation_properties(set), access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_create_intermediate_group(links, 1);
    H5Pset_chunk_cache(access, 0, 0, 0); /* only whole chunks are written */
    hid_t type = kind->whole ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
    hid_t id = H5Dcreate2(file, kind->path, type, space, links, properties, access);
    H5Pclose(access);
    H5Pclose(properties);
    H5Pclose(links);
    H5Sclose(space);
    return id;
}

static void shape_at(const record_channel *channel, const sim_scene *scene, int index, char *text, size_t size) {
    (void)channel;
    const char *name = scene->model->shape[index].name;
    snprintf(text, size, "%s", name ? name : "");
}

static void body_at(const record_channel *channel, const sim_scene *scene, int index, char *text, size_t size) {
    (void)channel;
    snprintf(text, size, "%s", scene->model->body[scene->model->shape[index].body].name);
}

/* Names of the shapes by number, as attributes of the first dataset of contacts. */
static bool name_shapes(hid_t id, const sim_scene *scene) {
    return put_texts(id, "shapes", NULL, scene, scene->model->nshape, shape_at) &&
           put_texts(id, "bodies", NULL, scene, scene->model->nshape, body_at);
}

static bool create_datasets(hdf5 *self, const sim_scene *scene, const channel_set *set) {
    /* one dataset for each channel of steps and of contacts */
    size_t largest = 0;
    self->dataset = POOL_NEW(self->pool, dataset, set->count + set->contact_count);
    if (!self->dataset) {
        return false;
    }
    self->contacts0 = set->count;
    self->contact_width = set->contact_width;
    for (int s = 0; s < set->count + set->contact_count; s++) {
        /* chunks, and their rows in memory */
        dataset *d = &self->dataset[s];
        d->channel = s < set->count ? &set->channel[s] : &set->contact_channel[s - set->count];
        choose_chunk(d);
        largest = chunk_bytes(d) > largest ? chunk_bytes(d) : largest;
        d->rows = pool_alloc(self->pool, d->chunk[0] * d->channel->count, NUMBER);
        d->id = d->rows ? create_dataset(self->file, d) : -1;
        if (d->id < 0 || !describe_dataset(d->id, d->channel, scene)) {
            return false;
        }
        self->count++;
    }
    /* buffer for one chunk */
    self->scratch = pool_alloc(self->pool, largest, 1);
    return self->scratch && (set->contact_count == 0 || name_shapes(self->dataset[set->count].id, scene));
}

/* 1 once the file has been closed by the program that wrote it. */
static bool create_mark(hdf5 *self) {
    int64_t no = 0;
    hid_t space = H5Screate(H5S_SCALAR);
    self->complete = H5Dcreate2(self->file, "complete", H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Sclose(space);
    return H5Dwrite(self->complete, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &no) >= 0;
}

static hid_t create_file(hdf5 *self) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
    self->driver = hdf5_driver_register();
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    /* A kill can cut a write in two at the border of two memory pages, so no piece of metadata shall straddle one. */
    H5Pset_file_space_strategy(creation, H5F_FSPACE_STRATEGY_PAGE, 0, 1);
    H5Pset_file_space_page_size(creation, MEMORY_PAGE);
    hid_t file = hdf5_driver_use(access, self->driver, &self->link) < 0
                     ? -1
                     : H5Fcreate(self->path, H5F_ACC_TRUNC, creation, access);
    H5Pclose(creation);
    H5Pclose(access);
    return file;
}

/* ---- rows ---- */

static void append_row(dataset *set, const double *row) {
    char *target = set->rows + (size_t)set->pending * set->channel->count * NUMBER;
    const double *from = row + set->channel->offset;
    if (!set->channel->kind->whole) {
        memcpy(target, from, set->channel->count * NUMBER);
    } else {
        for (size_t k = 0; k < set->channel->count; k++) {
            int64_t value = (int64_t)from[k];
            memcpy(target + k * NUMBER, &value, NUMBER);
        }
    }
    set->pending++;
}

static bool extend_dataset(const dataset *set) {
    hsize_t size[3] = {set->done + set->pending, (hsize_t)set->channel->items, set->chunk[2]};
    return H5Dset_extent(set->id, size) >= 0;
}

/* Through the filters, all items at once. */
static bool write_compressed(const dataset *set) {
    int rank = set->channel->kind->rank;
    hsize_t start[3] = {set->done, 0, 0}, count[3] = {set->pending, (hsize_t)set->channel->items, set->chunk[2]};
    hid_t type = set->channel->kind->whole ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
    hid_t memory = H5Screate_simple(rank, count, NULL), space = H5Dget_space(set->id);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    bool good = H5Dwrite(set->id, type, memory, space, H5P_DEFAULT, set->rows) >= 0;
    H5Sclose(space);
    H5Sclose(memory);
    return good;
}

/* Chunk by chunk as it is: rewritten later in the same place, with more records in it. */
static bool write_plain(hdf5 *self, const dataset *set) {
    size_t item = (size_t)set->chunk[2] * NUMBER, row = set->channel->count * NUMBER,
           part = (size_t)set->chunk[1] * item;
    for (hsize_t first = 0; first < (hsize_t)set->channel->items; first += set->chunk[1]) {
        size_t here = (size_t)at_most(set->chunk[1], (hsize_t)set->channel->items - first) * item;
        memset(self->scratch, 0, chunk_bytes(set));
        for (hsize_t r = 0; r < set->pending; r++) {
            memcpy(self->scratch + (size_t)r * part, set->rows + (size_t)r * row + (size_t)first * item, here);
        }
        hsize_t at[3] = {set->done, first, 0};
        if (H5Dwrite_chunk(set->id, H5P_DEFAULT, no_filters, at, chunk_bytes(set), self->scratch) < 0) {
            return false;
        }
    }
    return true;
}

static bool put_rows(hdf5 *self, dataset *set, int last) {
    if (set->pending == set->flushed) {
        return true;
    }
    int full = set->pending == set->chunk[0];
    bool good =
        extend_dataset(set) && (set->flushed == 0 && (full || last) ? write_compressed(set) : write_plain(self, set));
    set->flushed = set->pending;
    if (full) {
        set->done += set->pending;
        set->pending = set->flushed = 0;
    }
    return good;
}

/* `time` stands first in the table and is written last, after the others have reached the file. */
static bool put_all(hdf5 *self, int last) {
    bool good = true;
    for (int d = self->count - 1; d >= 0; d--) {
        if (d == 0) {
            good &= H5Fflush(self->file, H5F_SCOPE_GLOBAL) >= 0;
        }
        good &= put_rows(self, &self->dataset[d], last);
    }
    good &= H5Fflush(self->file, H5F_SCOPE_GLOBAL) >= 0;
    return good && !self->link.trouble;
}

/* A chunk may be full in the midst of them. */
static bool put_contact_rows(hdf5 *self, dataset *set, const double *contact, int contacts) {
    bool good = true;
    for (int k = 0; k < contacts; k++) {
        append_row(set, contact + (size_t)k * self->contact_width);
        if (set->pending == set->chunk[0]) {
            good &= put_rows(self, set, 0);
        }
    }
    return good;
}

static sim_status write_hdf5_recorder(writer *base, const double *row, const double *contact, int contacts,
                                      sim_error *error) {
    hdf5 *self = (hdf5 *)base;
    hdf5_silence before = hdf5_silence_begin();
    bool good = true;
    for (int d = self->count - 1; d >= self->contacts0; d--) {
        good &= put_contact_rows(self, &self->dataset[d], contact, contacts);
    }
    for (int d = self->contacts0 - 1; d >= 0; d--) {
        dataset *set = &self->dataset[d];
        append_row(set, row);
        if (set->pending == set->chunk[0]) {
            good &= d == 0 ? put_all(self, 0) : put_rows(self, set, 0);
        }
    }
    sim_status status = good && !self->link.trouble ? SIM_OK : say_why(self, error);
    hdf5_silence_end(before);
    return status;
}

static sim_status flush_hdf5_recorder(writer *base, sim_error *error) {
    hdf5 *self = (hdf5 *)base;
    hdf5_silence before = hdf5_silence_begin();
    sim_status status = put_all(self, 0) ? SIM_OK : say_why(self, error);
    hdf5_silence_end(before);
    return status;
}

static void discard_file(hdf5 *self) {
    for (int d = 0; d < self->count; d++) {
        H5Dclose(self->dataset[d].id);
    }
    H5Dclose(self->complete);
    H5Fclose(self->file);
    H5FDunregister(self->driver);
    pool_free(self->pool);
}

static sim_status close_hdf5_recorder(writer *base, sim_error *error) {
    hdf5 *self = (hdf5 *)base;
    hdf5_silence before = hdf5_silence_begin();
    int64_t yes = 1;
    bool good = put_all(self, 1);
    good = good && H5Dwrite(self->complete, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &yes) >= 0 &&
           H5Fflush(self->file, H5F_SCOPE_GLOBAL) >= 0 && !self->link.trouble;
    sim_status status = good ? SIM_OK : say_why(self, error);
    discard_file(self);
    hdf5_silence_end(before);
    return status;
}

static bool make_file(hdf5 *self, const sim_scene *scene, const channel_set *set) {
    self->file = create_file(self);
    bool good = self->file >= 0 && describe_run(self->file, scene, &scene->options) &&
                create_datasets(self, scene, set) && create_mark(self) && H5Fstart_swmr_write(self->file) >= 0 &&
                H5Fflush(self->file, H5F_SCOPE_GLOBAL) >= 0 && !self->link.trouble;
    if (good) {
        hdf5_driver_publish(&self->link);
    }
    return good && !self->link.trouble;
}

writer *hdf5_open(const char *path, const sim_scene *scene, const channel_set *set, sim_error *error) {
    /* state of the recorder */
    memory_pool *pool = pool_create();
    hdf5 *self = pool ? POOL_NEW(pool, hdf5, 1) : NULL;
    char *name = self ? pool_text(pool, path) : NULL;
    if (!name) {
        pool_free(pool);
        sim_fail(error, SIM_NO_RESOURCE, "%s: no memory", path);
        return NULL;
    }
    *self = (hdf5){.base = {write_hdf5_recorder, flush_hdf5_recorder, close_hdf5_recorder},
                   .pool = pool,
                   .path = name,
                   .file = -1};
    self->driver = self->complete = -1;
    /* file with empty datasets; discarded where that fails */
    hdf5_silence before = hdf5_silence_begin();
    bool good = make_file(self, scene, set);
    if (!good) {
        say_why(self, error);
        discard_file(self);
    }
    hdf5_silence_end(before);
    return good ? &self->base : NULL;
}
