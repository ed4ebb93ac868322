/* Reading and writing the tree of an HDF5 file.
 *
 * Bytes come whole from the disk and go whole to it.  So the library never sees a file that changes, and a written
 * file exists whole or not at all.  Types stay in the library's encoding and values as in the file: a file that was
 * read is written again unchanged.  Times are not recorded: the same tree gives the same bytes. */
#include "record/file/hdf5_own.h"
#include "record/file/hdf5_quiet.h"
#include "record/file/hdf5_tree.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 100000, MIN_GROWTH_BYTES = 1 << 16 };

typedef struct reading {
    store *s;
    size_t room; /* bytes of values that may still come: no file holds more than its compression can make of it */
    int nodes, depth;
    sim_error *error;
} reading;

typedef struct place {
    reading *r;
    store_node *node;
} place;

static bool fail_node(reading *r, const store_node *node, const char *what) {
    char path[STORE_PATH_BYTES];
    sim_fail(r->error, SIM_BAD_INPUT, "%s: %s", store_path(node, path), what);
    return false;
}

static bool report_no_memory(reading *r, const store_node *node) {
    char path[STORE_PATH_BYTES];
    sim_fail(r->error, SIM_NO_RESOURCE, "%s: no memory", store_path(node, path));
    return false;
}

static bool fail_library(reading *r, const store_node *node) {
    char text[HDF5_REASON_BYTES], path[STORE_PATH_BYTES];
    hdf5_reason(text);
    sim_fail(r->error, hdf5_status(), "%s: cannot be read: HDF5 says: %s", store_path(node, path), text);
    return false;
}

static store_node *append_node(place at, store_node **list, const char *name) {
    reading *r = at.r;
    if (++r->nodes > MAX_NODES) {
        fail_node(r, at.node, "exceeds the size that can be read");
        return NULL;
    }
    store_node *node = POOL_NEW(r->s->pool, store_node, 1);
    if (!node || !(node->name = pool_text(r->s->pool, name))) {
        report_no_memory(r, at.node);
        return NULL;
    }
    node->parent = at.node;
    node->next = *list; /* in order once the whole list is there */
    *list = node;
    return node;
}

static void reverse_list(store_node **list) {
    store_node *done = NULL;
    for (store_node *next, *node = *list; node; node = next) {
        next = node->next;
        node->next = done;
        done = node;
    }
    *list = done;
}

/* ---- values ---- */

/* Datasets and attributes are read in the same way by functions of different names. */
typedef struct source {
    hid_t id, type, space;
    int attribute;
} source;

static bool read_as(const source *from, hid_t type, void *values) {
    return (from->attribute ? H5Aread(from->id, type, values)
                            : H5Dread(from->id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values)) >= 0;
}

static bool take_shape(reading *r, store_node *node, hid_t space, size_t item) {
    hsize_t size[STORE_MAX_RANK];
    H5S_class_t shape = H5Sget_simple_extent_type(space);
    size_t count = shape == H5S_NULL ? 0 : 1;
    node->rank = shape == H5S_NULL ? -1 : shape == H5S_SCALAR ? 0 : H5Sget_simple_extent_ndims(space);
    if (shape == H5S_NO_CLASS || node->rank > STORE_MAX_RANK || item == 0) {
        return fail_node(r, node, "has a shape that cannot be read");
    }
    item = item < sizeof(int64_t) ? sizeof(int64_t) : item; /* as wide as it will be seen */
    if (node->rank > 0) {
        H5Sget_simple_extent_dims(space, size, NULL);
    }
    for (int d = 0; d < node->rank; d++) {
        node->size[d] = size[d];
        if (size[d] && count > r->room / item / size[d]) {
            return fail_node(r, node, "states a size beyond that of the file");
        }
        count *= (size_t)size[d];
    }
    if (count > r->room / item) {
        return fail_node(r, node, "states a size beyond that of the file");
    }
    r->room -= count * item;
    node->count = (ptrdiff_t)count;
    return true;
}

static bool take_code(reading *r, store_node *node, hid_t type) {
    void *code = NULL;
    if (H5Tencode(type, NULL, &node->code_size) < 0) {
        return fail_library(r, node);
    }
    code = pool_alloc(r->s->pool, node->code_size, 1);
    if (!code) {
        return report_no_memory(r, node);
    }
    if (H5Tencode(type, code, &node->code_size) < 0) {
        return fail_library(r, node);
    }
    node->code = code;
    return true;
}

/* Texts of varying length become texts of fixed length. */
static bool take_varying(reading *r, store_node *node, const source *from) {
    char *text = NULL;
    if (node->count != 1) {
        return fail_node(r, node, "a list of texts of varying length cannot be read");
    }
    if (!read_as(from, from->type, &text)) {
        return fail_library(r, node);
    }
    node->kind = STORE_TEXT;
    node->type = STORE_CHARS;
    node->rank = 0;
    node->text = pool_text(r->s->pool, text ? text : "");
    H5Dvlen_reclaim(from->type, from->space, H5P_DEFAULT, &text);
    return node->text ? true : report_no_memory(r, node);
}

/* The values as int64, double or text, besides the raw ones. */
static bool take_view(reading *r, store_node *node, hid_t type, size_t item) {
    /* text */
    size_t count = (size_t)node->count;
    H5T_class_t class = H5Tget_class(type);
    if (class == H5T_STRING) {
        char *text = pool_alloc(r->s->pool, item + 1, 1);
        if (!text) {
            return report_no_memory(r, node);
        }
        memcpy(text, node->raw, count ? item : 0);
        node->kind = STORE_TEXT;
        node->width = item;
        node->text = text;
    } else if (class == H5T_INTEGER || class == H5T_FLOAT) {
        /* numbers, converted in place */
        int real = class == H5T_FLOAT;
        char *values = pool_alloc(r->s->pool, count, item > 8 ? item : 8);
        if (!values) {
            return report_no_memory(r, node);
        }
        memcpy(values, node->raw, count * item);
        hid_t native = real                                ? H5T_NATIVE_DOUBLE
                       : H5Tget_sign(type) == H5T_SGN_NONE ? H5T_NATIVE_UINT64
                                                           : H5T_NATIVE_INT64;
        if (count && H5Tconvert(type, native, count, values, NULL, H5P_DEFAULT) < 0) {
            return fail_library(r, node);
        }
        node->kind = real ? STORE_REAL : STORE_WHOLE;
        node->real = real ? (const double *)(const void *)values : NULL;
        node->whole = real ? NULL : (const int64_t *)(const void *)values;
    } else {
        node->kind = STORE_OTHER;
    }
    return true;
}

static bool take_values(reading *r, store_node *node, const source *from) {
    /* shape of the array */
    size_t item = H5Tget_size(from->type);
    if (from->type < 0 || from->space < 0 || !take_shape(r, node, from->space, item)) {
        return from->type < 0 || from->space < 0 ? fail_library(r, node) : false;
    }
    /* types that can be stored: numbers, texts of fixed and of varying length */
    if (H5Tis_variable_str(from->type) > 0) {
        return take_varying(r, node, from);
    }
    if (H5Tdetect_class(from->type, H5T_VLEN) || H5Tdetect_class(from->type, H5T_REFERENCE) ||
        H5Tdetect_class(from->type, H5T_STRING) != (H5Tget_class(from->type) == H5T_STRING)) {
        return fail_node(r, node, "holds values of a type that cannot be read");
    }
    /* bytes as the file has them */
    void *raw = pool_alloc(r->s->pool, (size_t)node->count, item);
    if (!raw) {
        return report_no_memory(r, node);
    }
    node->raw = raw;
    if (node->count && !read_as(from, from->type, raw)) {
        return fail_library(r, node);
    }
    /* encoding of the numbers and a view in native types */
    return take_code(r, node, from->type) && take_view(r, node, from->type, item);
}

static bool take_source(reading *r, store_node *node, hid_t id, int attribute) {
    const char *foreign = attribute ? NULL : hdf5_foreign(id);
    if (foreign) {
        return fail_node(r, node, foreign);
    }
    source from = {.id = id,
                   .type = attribute ? H5Aget_type(id) : H5Dget_type(id),
                   .space = attribute ? H5Aget_space(id) : H5Dget_space(id),
                   .attribute = attribute};
    bool good = take_values(r, node, &from);
    H5Sclose(from.space);
    H5Tclose(from.type);
    return good;
}

/* ---- the tree ---- */

static herr_t take_attribute(hid_t owner, const char *name, const H5A_info_t *info, void *data) {
    (void)info;
    place *at = data;
    store_node *node = append_node(*at, &at->node->attribute, name);
    hid_t id = node ? H5Aopen(owner, name, H5P_DEFAULT) : -1;
    bool good = node && (id >= 0 ? take_source(at->r, node, id, 1) : fail_library(at->r, node));
    H5Aclose(id);
    return good ? 0 : -1;
}

static bool take_object(reading *r, store_node *node, hid_t id);

static herr_t take_link(hid_t group, const char *name, const H5L_info_t *info, void *data) {
    place *at = data;
    store_node *node = append_node(*at, &at->node->child, name);
    if (!node) {
        return -1;
    }
    if (info->type != H5L_TYPE_HARD) {
        fail_node(at->r, node, "is a link to elsewhere");
        return -1;
    }
    hid_t id = H5Oopen(group, name, H5P_DEFAULT);
    bool good = id >= 0 ? take_object(at->r, node, id) : fail_library(at->r, node);
    H5Oclose(id);
    return good ? 0 : -1;
}

/* Failures below were reported there; failures within the library were not. */
static bool go_through(reading *r, store_node *node, herr_t status) {
    return status >= 0 ? true : r->error->text[0] ? false : fail_library(r, node);
}

static bool take_object(reading *r, store_node *node, hid_t id) {
    /* attributes of groups and arrays */
    place here = {r, node};
    H5I_type_t type = H5Iget_type(id);
    if (type != H5I_GROUP && type != H5I_DATASET) {
        return fail_node(r, node, "is neither a group nor an array");
    }
    if (!go_through(r, node, H5Aiterate2(id, H5_INDEX_NAME, H5_ITER_INC, NULL, take_attribute, &here))) {
        return false;
    }
    reverse_list(&node->attribute);
    if (store_stopped(r->s)) {
        sim_fail(r->error, SIM_FAILED, "reading it took too long");
        return false;
    }
    /* values of an array */
    if (type == H5I_DATASET) {
        return take_source(r, node, id, 0);
    }
    /* members of a group */
    if (++r->depth > STORE_MAX_DEPTH) {
        return fail_node(r, node, "is nested too deep");
    }
    bool good = go_through(r, node, H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, NULL, take_link, &here));
    reverse_list(&node->child);
    r->depth--;
    return good;
}

static hid_t memory_access(void) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, MIN_GROWTH_BYTES, 0);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    return access;
}

sim_status store_parse(store *s, const void *bytes, size_t size, sim_error *error) {
    static const unsigned char magic[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    enum { MAX_COMPRESSION_RATIO = 1032, MAX_TREE_BYTES = 2000000000 };
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0) {
        return sim_fail(error, SIM_BAD_INPUT, "not an HDF5 file");
    }
    sim_error why = {0};
    reading r = {.s = s,
                 .room = size > MAX_TREE_BYTES / MAX_COMPRESSION_RATIO ? MAX_TREE_BYTES : size * MAX_COMPRESSION_RATIO,
                 .error = &why};
    hdf5_silence before = hdf5_silence_begin();
    hid_t access = memory_access();
    H5Pset_file_image(access, (void *)bytes, size); /* the library copies it */
    hid_t file = H5Fopen("image", H5F_ACC_RDONLY, access), root = file >= 0 ? H5Gopen2(file, "/", H5P_DEFAULT) : -1;
    bool good = root >= 0 ? take_object(&r, &s->root, root) : fail_library(&r, &s->root);
    H5Gclose(root);
    H5Fclose(file);
    H5Pclose(access);
    hdf5_silence_end(before);
    return good ? SIM_OK : sim_fail(error, why.status, "%s", why.text);
}

bool store_file_is(const char *path, const char *format) {
    enum { MOST_BYTES = 64 };
    char found[MOST_BYTES] = "";
    bool good = false;
    hdf5_silence before = hdf5_silence_begin();
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), id = file >= 0 ? H5Aopen(file, "format", H5P_DEFAULT) : -1;
    if (id >= 0) {
        hid_t type = H5Aget_type(id), space = H5Aget_space(id);
        bool text = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 && H5Tget_size(type) < MOST_BYTES;
        good = text && H5Sget_simple_extent_npoints(space) == 1 && H5Aread(id, type, found) >= 0;
        H5Sclose(space);
        H5Tclose(type);
        H5Aclose(id);
    }
    if (file >= 0) {
        H5Fclose(file);
    }
    hdf5_silence_end(before);
    return good && strcmp(found, format) == 0;
}

/* ---- writing ---- */

static hid_t make_file_type(const store_node *node) {
    if (node->code) {
        return H5Tdecode(node->code);
    }
    if (node->kind == STORE_TEXT) {
        hid_t type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, node->width ? node->width : strlen(node->text) + 1);
        H5Tset_cset(type, H5T_CSET_UTF8);
        return type;
    }
    return H5Tcopy(node->type == STORE_I32   ? H5T_STD_I32LE
                   : node->type == STORE_I64 ? H5T_STD_I64LE
                   : node->type == STORE_U64 ? H5T_STD_U64LE
                                             : H5T_IEEE_F64LE);
}

static hid_t memory_type_of(const store_node *node, hid_t type) {
    return node->code || node->kind == STORE_TEXT ? type
           : node->kind == STORE_REAL             ? H5T_NATIVE_DOUBLE
           : node->type == STORE_U64              ? H5T_NATIVE_UINT64
                                                  : H5T_NATIVE_INT64;
}

static const void *values_of(const store_node *node) {
    return node->code                 ? node->raw
           : node->kind == STORE_REAL ? (const void *)node->real
           : node->kind == STORE_TEXT ? (const void *)node->text
                                      : (const void *)node->whole;
}

static hid_t make_space(const store_node *node) {
    hsize_t size[STORE_MAX_RANK];
    for (int d = 0; d < node->rank; d++) {
        size[d] = node->size[d];
    }
    return node->rank < 0    ? H5Screate(H5S_NULL)
           : node->rank == 0 ? H5Screate(H5S_SCALAR)
                             : H5Screate_simple(node->rank, size, NULL);
}

static bool put_attributes(const store_node *node, hid_t owner) {
    bool good = true;
    for (const store_node *a = node->attribute; a && good; a = a->next) {
        hid_t type = make_file_type(a), space = make_space(a);
        hid_t id = H5Acreate2(owner, a->name, type, space, H5P_DEFAULT, H5P_DEFAULT);
        good = id >= 0 && (a->count == 0 || H5Awrite(id, memory_type_of(a, type), values_of(a)) >= 0);
        H5Aclose(id);
        H5Sclose(space);
        H5Tclose(type);
    }
    return good;
}

/* Long arrays of numbers are packed, as A of a soft body is nearly all zeros; readers of HDF5 unpack them unasked. */
static void pack_array(const store_node *node, hid_t properties) {
    enum { MIN_NUMBERS = 1 << 14, CHUNK_NUMBERS = 1 << 16, LEVEL = 1 };
    hsize_t chunk = CHUNK_NUMBERS;
    if (node->kind == STORE_REAL && node->rank == 1 && node->count >= MIN_NUMBERS &&
        H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) {
        chunk = (hsize_t)node->count < chunk ? (hsize_t)node->count : chunk;
        H5Pset_chunk(properties, 1, &chunk);
        H5Pset_deflate(properties, LEVEL);
    }
}

static bool put_array(const store_node *node, hid_t parent) {
    hid_t type = make_file_type(node), space = make_space(node), properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(properties, 0);
    pack_array(node, properties);
    hid_t id = H5Dcreate2(parent, node->name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    bool good = id >= 0 && put_attributes(node, id) &&
                (node->count == 0 ||
                 H5Dwrite(id, memory_type_of(node, type), H5S_ALL, H5S_ALL, H5P_DEFAULT, values_of(node)) >= 0);
    H5Dclose(id);
    H5Pclose(properties);
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

static bool put_content(const store_node *node, hid_t group) {
    bool good = put_attributes(node, group);
    for (const store_node *child = node->child; child && good; child = child->next) {
        if (child->kind != STORE_GROUP) {
            good = put_array(child, group);
            continue;
        }
        hid_t id = H5Gcreate2(group, child->name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        good = id >= 0 && put_content(child, id);
        H5Gclose(id);
    }
    return good;
}

static bool take_image(hid_t file, void **bytes, size_t *size) {
    ssize_t length = H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0 ? H5Fget_file_image(file, NULL, 0) : -1;
    *bytes = length > 0 ? malloc((size_t)length) : NULL;
    *size = length > 0 ? (size_t)length : 0;
    return *bytes && H5Fget_file_image(file, *bytes, *size) == length;
}

sim_status store_print(const store *s, void **bytes, size_t *size, sim_error *error) {
    /* write into a file in memory */
    *bytes = NULL;
    if (s->starved) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the content of the file");
    }
    hdf5_silence before = hdf5_silence_begin();
    hid_t access = memory_access();
    hid_t file = H5Fcreate("image", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t root = file >= 0 ? H5Gopen2(file, "/", H5P_DEFAULT) : -1;
    /* content, then the bytes of the file */
    bool good = root >= 0 && put_content(&s->root, root) && take_image(file, bytes, size);
    char why[HDF5_REASON_BYTES];
    hdf5_reason(why);
    H5Gclose(root);
    H5Fclose(file);
    H5Pclose(access);
    hdf5_silence_end(before);
    if (good) {
        return SIM_OK;
    }
    free(*bytes);
    *bytes = NULL;
    return sim_fail(error, SIM_NO_RESOURCE, "cannot be written: HDF5 says: %s", why);
}
