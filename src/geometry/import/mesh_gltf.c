/* The triangles of a glTF 2.0 file, as JSON (.gltf) or packed (.glb).
 *
 * A vertex that a node of the scene shows is at
 *
 *     p = U M_1 M_2 ... M_n x        U: y up to z up, M: matrices of the nodes from the scene down, or T R S
 *
 * Read are triangles, strips and fans with positions in single precision; points and lines are passed over.  Corners with
 * equal coordinates become one vertex.  Data stand in the file itself, or in files below its folder.  Sparse accessors,
 * skins and extensions that a reader must know (compression) are refused by name.
 *
 * Nodes may show a mesh many times: the corners of all copies are limited to a multiple of the length of all files.
 *
 * Khronos Group, glTF 2.0 Specification, 2021, sections 3.5 to 3.7 and 4.4. */
#include "base/file.h"
#include "geometry/import/mesh_file.h"
#include "math/spatial.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 2000000, MAX_DEPTH = 100, MAX_COPIES = 8, MAX_BUFFER_BYTES = 1 << 28 };
enum { BYTE = 5121, SHORT = 5123, INT = 5125, FLOAT = 5126 }; /* component types */
enum { CHUNK_JSON = 0x4e4f534a, CHUNK_BINARY = 0x004e4942, MODE_TRIANGLES = 4, MODE_STRIP = 5, MODE_FAN = 6 };

/* An array of the file, by number. */
typedef struct json_list {
    const char *name;
    const cJSON **item;
    int count;
} json_list;

typedef struct bytes_part {
    const unsigned char *at;
    size_t length;
} bytes_part;

typedef struct gltf {
    mesh_text *text;
    mesh_parts *parts;
    cJSON *root;
    json_list buffers, views, accessors, meshes, nodes, scenes;
    bytes_part binary;        /* that of a packed file */
    unsigned char **unpacked; /* [buffers], those in base64 */
    size_t *unpacked_length;
    vertex_table table;
    size_t budget; /* corners and nodes that may still come */
} gltf;

/* Items of an accessor. */
typedef struct gltf_items {
    const unsigned char *at;
    size_t count, stride;
    long long component;
} gltf_items;

static sim_status report_wrong_item(const gltf *g, const json_list *list, int k, const char *what) {
    return sim_fail(g->text->error, SIM_BAD_INPUT, "%.200s: /%s/%d: %s", g->text->name, list->name, k, what);
}

/* ---- JSON ---- */

static bool list_items(const cJSON *root, const char *name, json_list *list) {
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(root, name), *item;
    *list = (json_list){.name = name};
    list->item = calloc((size_t)(cJSON_IsArray(array) ? cJSON_GetArraySize(array) : 0) + 1, sizeof *list->item);
    if (!list->item) {
        return false;
    }
    if (cJSON_IsArray(array)) {
        cJSON_ArrayForEach(item, array) { list->item[list->count++] = item; }
    }
    return true;
}

/* A whole number of an object; the standard one where it is absent, -1 where it is none. */
static long long whole_member(const cJSON *object, const char *name, long long standard) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!item) {
        return standard;
    }
    bool whole = cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 1e15 &&
                 item->valuedouble == floor(item->valuedouble);
    return whole ? (long long)item->valuedouble : -1;
}

/* The item that a member names by its number; -1 and the error if there is none. */
static int named_item(const gltf *g, const json_list *from, int k, const cJSON *object, const char *name,
                      const json_list *list, sim_status *status) {
    long long index = whole_member(object, name, -1);
    if (index >= 0 && index < list->count) {
        return (int)index;
    }
    *status = sim_fail(g->text->error, SIM_BAD_INPUT, "%.200s: /%s/%d: expected \"%s\" to be an index below %d",
                       g->text->name, from->name, k, name, list->count);
    return -1;
}

/* `count` finite numbers of an array; false where the member is absent. */
static bool number_members(const cJSON *object, const char *name, int count, double *value, bool *good) {
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(object, name), *item;
    int k = 0;
    if (!array) {
        return false;
    }
    cJSON_ArrayForEach(item, array) {
        if (k < count && cJSON_IsNumber(item)) {
            value[k] = item->valuedouble;
            *good &= isfinite(value[k]);
        }
        *good &= k < count && cJSON_IsNumber(item);
        k++;
    }
    *good &= k == count;
    return true;
}

/* ---- bytes ---- */

static uint32_t little_word(const unsigned char *b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static int base64_digit(char c) {
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* RFC 4648, section 4; false where another letter stands. */
static bool unpack_base64(const char *text, unsigned char *out, size_t *length) {
    uint32_t bits = 0;
    int held = 0;
    for (*length = 0; *text && *text != '='; text++) {
        int digit = base64_digit(*text);
        if (digit < 0) {
            return false;
        }
        bits = bits << 6 | (uint32_t)digit;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[(*length)++] = (unsigned char)(bits >> held);
        }
    }
    return true;
}

static int hexadecimal_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Does a path stay below the folder in which it begins? */
static bool stays_below(const char *path) {
    for (const char *part = path; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL) {
        if (strcmp(part, "..") == 0 || strncmp(part, "../", 3) == 0) {
            return false;
        }
    }
    return path[0] && path[0] != '/';
}

/* The path of a relative reference (RFC 3986, section 4.2) to a file in the folder of the text or below it, to be freed;
 * NULL: it is none, or there is no memory. */
static char *path_beside(const mesh_text *text, const char *uri) {
    const char *slash = strrchr(text->name, '/');
    size_t folder = slash ? (size_t)(slash - text->name) + 1 : 0;
    char *path = strpbrk(uri, ":?#\\") ? NULL : malloc(folder + strlen(uri) + 1), *to = path;
    if (!path) {
        return NULL;
    }
    /* the folder, then the reference, in which %20 is a blank */
    memcpy(path, text->name, folder);
    to += folder;
    while (*uri) {
        int high = *uri == '%' ? hexadecimal_digit(uri[1]) : -1, low = high >= 0 ? hexadecimal_digit(uri[2]) : -1;
        *to++ = (char)(low >= 0 ? 16 * high + low : *uri);
        uri += low >= 0 ? 3 : 1;
    }
    *to = 0;
    if (!stays_below(path + folder)) {
        free(path);
        return NULL;
    }
    return path;
}

/* A buffer in a file of its own. */
static sim_status read_buffer(gltf *g, int k, const char *uri) {
    char *path = g->text->beside ? path_beside(g->text, uri) : NULL, *bytes = NULL;
    if (!path) {
        return report_wrong_item(g, &g->buffers, k,
                                 g->text->beside ? "expected the name of a file in the folder of the mesh or below it"
                                                 : "buffers in other files are not read: pack the file as .glb");
    }
    sim_error why = {0};
    sim_status status = file_read(path, MAX_BUFFER_BYTES, &bytes, &g->unpacked_length[k], &why);
    g->unpacked[k] = (unsigned char *)bytes;
    if (status) {
        sim_fail(g->text->error, status, "%.150s: /buffers/%d: %.150s: %.150s", g->text->name, k, path, why.text);
    } else {
        g->budget += MAX_COPIES * g->unpacked_length[k];
    }
    free(path);
    return status;
}

/* The bytes of a buffer: the chunk of a packed file, or base64 or another file, which are unpacked once. */
static sim_status find_buffer(gltf *g, int k, bytes_part *part) {
    const cJSON *uri = cJSON_GetObjectItemCaseSensitive(g->buffers.item[k], "uri");
    if (!uri) {
        *part = g->binary;
        return k == 0 && g->binary.at
                   ? SIM_OK
                   : report_wrong_item(g, &g->buffers, k, "it has no \"uri\" and no chunk of the file");
    }
    const char *data =
        cJSON_IsString(uri) && strncmp(uri->valuestring, "data:", 5) == 0 ? strstr(uri->valuestring, ";base64,") : NULL;
    bool other = !data && cJSON_IsString(uri) && strncmp(uri->valuestring, "data:", 5) != 0;
    if (!data && !other) {
        return report_wrong_item(g, &g->buffers, k, "expected data in base64, or the name of a file");
    }
    if (other && !g->unpacked[k]) {
        sim_status status = read_buffer(g, k, uri->valuestring);
        if (status) {
            return status;
        }
    }
    if (!g->unpacked[k]) {
        g->unpacked[k] = malloc(strlen(data) + 1);
        if (!g->unpacked[k]) {
            return mesh_report_no_memory(g->text);
        }
        if (!unpack_base64(data + 8, g->unpacked[k], &g->unpacked_length[k])) {
            return report_wrong_item(g, &g->buffers, k, "expected base64");
        }
    }
    *part = (bytes_part){g->unpacked[k], g->unpacked_length[k]};
    return SIM_OK;
}

/* The items of an accessor, whose every byte is in its buffer. */
static sim_status find_items(gltf *g, int k, const char *type, gltf_items *items) {
    const cJSON *accessor = g->accessors.item[k], *named = cJSON_GetObjectItemCaseSensitive(accessor, "type");
    sim_status status = SIM_OK;
    if (cJSON_GetObjectItemCaseSensitive(accessor, "sparse")) {
        return report_wrong_item(g, &g->accessors, k, "sparse accessors are not read");
    }
    int v = named_item(g, &g->accessors, k, accessor, "bufferView", &g->views, &status);
    int b = v < 0 ? -1 : named_item(g, &g->views, v, g->views.item[v], "buffer", &g->buffers, &status);
    bytes_part part = {0};
    status = status ? status : find_buffer(g, b, &part);
    if (status) {
        return status;
    }
    /* sizes */
    const cJSON *view = g->views.item[v];
    items->component = whole_member(accessor, "componentType", 0);
    long long size = items->component == FLOAT   ? 12
                     : items->component == INT   ? 4
                     : items->component == SHORT ? 2
                                                 : items->component == BYTE;
    long long count = whole_member(accessor, "count", -1), stride = whole_member(view, "byteStride", size);
    long long start = whole_member(view, "byteOffset", 0), room = whole_member(view, "byteLength", -1);
    long long first = whole_member(accessor, "byteOffset", 0);
    bool is_float = items->component == FLOAT;
    if (!cJSON_IsString(named) || strcmp(named->valuestring, type) != 0 || size == 0 || is_float != (type[0] == 'V')) {
        return report_wrong_item(g, &g->accessors, k,
                                 type[0] == 'V' ? "expected positions of type VEC3 in single precision"
                                                : "expected indices of type SCALAR in whole numbers without sign");
    }
    /* bounds */
    bool fits = count >= 1 && stride >= size && start >= 0 && room >= 0 && first >= 0 &&
                start <= (long long)part.length && room <= (long long)part.length - start && first + size <= room &&
                count - 1 <= (room - first - size) / stride;
    if (!fits) {
        return report_wrong_item(g, &g->accessors, k, "it reaches beyond its buffer");
    }
    items->at = part.at + start + first;
    items->count = (size_t)count;
    items->stride = (size_t)stride;
    return SIM_OK;
}

static size_t index_at(const gltf_items *items, size_t k) {
    const unsigned char *b = items->at + k * items->stride;
    return items->component == BYTE    ? b[0]
           : items->component == SHORT ? (size_t)b[0] | (size_t)b[1] << 8
                                       : little_word(b);
}

static v3 position_at(const gltf_items *items, size_t k) {
    float x[3];
    for (int i = 0; i < 3; i++) {
        uint32_t bits = little_word(items->at + k * items->stride + 4 * (size_t)i);
        memcpy(&x[i], &bits, sizeof x[i]);
    }
    return (v3){(double)x[0], (double)x[1], (double)x[2]};
}

/* ---- meshes ---- */

static sim_status spend_on(gltf *g, const json_list *list, int k, size_t count) {
    if (count > g->budget) {
        return report_wrong_item(g, list, k, "nodes show more triangles or nodes than a file of this length may");
    }
    g->budget -= count;
    return SIM_OK;
}

static sim_status take_vertex(gltf *g, int mesh, const gltf_items *at, size_t k, const pose *place, int *vertex) {
    v3 p = k < at->count ? pose_point(*place, position_at(at, k)) : (v3){NAN, 0, 0};
    if (!v3_finite(p)) {
        return report_wrong_item(g, &g->meshes, mesh,
                                 k < at->count ? "a corner is not finite" : "an index has no position");
    }
    *vertex = vertex_table_find(&g->table, g->parts, p);
    return *vertex < 0 ? mesh_report_no_memory(g->text) : SIM_OK;
}

/* Corners one after the other: each third one, or each one after two, ends a triangle. */
static sim_status add_corners(gltf *g, int mesh, long long mode, const gltf_items *at, const gltf_items *index,
                              const pose *place) {
    size_t count = index ? index->count : at->count;
    bool mirrors = v3_dot(place->R.x, v3_cross(place->R.y, place->R.z)) < 0;
    int last[3] = {0}; /* of a fan the first and the last, of others the last two, and the new one */
    sim_status status = spend_on(g, &g->meshes, mesh, count);
    for (size_t k = 0; k < count && !status; k++) {
        size_t place_in = mode == MODE_TRIANGLES ? k % 3 : k < 2 ? k : 2;
        status = take_vertex(g, mesh, at, index ? index_at(index, k) : k, place, &last[place_in]);
        if (status || place_in < 2) {
            continue;
        }
        bool turned = mirrors != (mode == MODE_STRIP && k % 2);
        if (!mesh_add_triangle(g->parts, last[turned ? 1 : 0], last[turned ? 0 : 1], last[2])) {
            status = mesh_report_no_memory(g->text);
        }
        if (mode == MODE_STRIP) {
            last[0] = last[1];
        }
        last[1] = mode == MODE_TRIANGLES ? last[1] : last[2];
    }
    return status;
}

/* One primitive of a mesh. */
static sim_status read_surface(gltf *g, int mesh, const cJSON *primitive, const pose *place) {
    long long mode = whole_member(primitive, "mode", MODE_TRIANGLES);
    const cJSON *attributes = cJSON_GetObjectItemCaseSensitive(primitive, "attributes");
    gltf_items at, index;
    sim_status status = SIM_OK;
    if (mode >= 0 && mode < MODE_TRIANGLES) {
        return SIM_OK; /* points, lines */
    }
    if (mode < 0 || mode > MODE_FAN) {
        return report_wrong_item(g, &g->meshes, mesh, "expected a \"mode\" from 0 to 6");
    }
    int positions = named_item(g, &g->meshes, mesh, attributes, "POSITION", &g->accessors, &status);
    status = status ? status : find_items(g, positions, "VEC3", &at);
    bool indexed = cJSON_GetObjectItemCaseSensitive(primitive, "indices");
    if (!status && indexed) {
        int indices = named_item(g, &g->meshes, mesh, primitive, "indices", &g->accessors, &status);
        status = status ? status : find_items(g, indices, "SCALAR", &index);
    }
    return status ? status : add_corners(g, mesh, mode, &at, indexed ? &index : NULL, place);
}

static sim_status read_shown_mesh(gltf *g, int mesh, const pose *place) {
    const cJSON *primitive, *primitives = cJSON_GetObjectItemCaseSensitive(g->meshes.item[mesh], "primitives");
    sim_status status = SIM_OK;
    cJSON_ArrayForEach(primitive, primitives) { status = status ? status : read_surface(g, mesh, primitive, place); }
    return status;
}

/* ---- nodes ---- */

/* The matrix of a node, or its translation, rotation and scale. */
static bool read_placement(const cJSON *node, pose *place) {
    double m[16], t[3] = {0}, r[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    bool good = true;
    if (number_members(node, "matrix", 16, m, &good)) { /* by columns */
        *place = (pose){{{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}}, {m[12], m[13], m[14]}};
        return good && m[3] == 0 && m[7] == 0 && m[11] == 0 && m[15] == 1;
    }
    number_members(node, "translation", 3, t, &good);
    number_members(node, "rotation", 4, r, &good);
    number_members(node, "scale", 3, s, &good);
    double length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
    if (!good || !(length > 0)) {
        return false;
    }
    m3 R = quat_matrix((quat){r[3] / length, r[0] / length, r[1] / length, r[2] / length});
    *place = (pose){{v3_scale(s[0], R.x), v3_scale(s[1], R.y), v3_scale(s[2], R.z)}, {t[0], t[1], t[2]}};
    return true;
}

/* The mesh of a node, and what hangs on it. */
static sim_status read_gltf_node(gltf *g, int k, pose outer, int depth) {
    const cJSON *node = g->nodes.item[k], *child;
    pose own;
    sim_status status = spend_on(g, &g->nodes, k, 1);
    if (depth > MAX_DEPTH) {
        return report_wrong_item(g, &g->nodes, k, "nodes within nodes, more than 100 deep: one may hold itself");
    }
    if (cJSON_GetObjectItemCaseSensitive(node, "skin")) {
        return report_wrong_item(g, &g->nodes, k, "skins are not read");
    }
    if (!read_placement(node, &own)) {
        return report_wrong_item(g, &g->nodes, k,
                                 "expected 16 numbers of a \"matrix\" with the last row 0 0 0 1, or 3, 4 and 3 of "
                                 "\"translation\", \"rotation\" and \"scale\"");
    }
    pose place = pose_product(outer, own);
    if (!status && cJSON_GetObjectItemCaseSensitive(node, "mesh")) {
        int mesh = named_item(g, &g->nodes, k, node, "mesh", &g->meshes, &status);
        status = status ? status : read_shown_mesh(g, mesh, &place);
    }
    cJSON_ArrayForEach(child, cJSON_GetObjectItemCaseSensitive(node, "children")) {
        bool exists = cJSON_IsNumber(child) && child->valuedouble >= 0 && child->valuedouble < g->nodes.count;
        status = status    ? status
                 : !exists ? report_wrong_item(g, &g->nodes, k, "one of its \"children\" does not exist")
                           : read_gltf_node(g, (int)child->valuedouble, place, depth + 1);
    }
    return status;
}

static sim_status read_gltf_scene(gltf *g) {
    const pose upright = {{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}, {0, 0, 0}};
    const cJSON *root;
    long long scene = whole_member(g->root, "scene", 0);
    if (scene < 0 || scene >= g->scenes.count) {
        return sim_fail(g->text->error, SIM_BAD_INPUT, "%.200s: there is no scene in the file", g->text->name);
    }
    sim_status status = SIM_OK;
    cJSON_ArrayForEach(root, cJSON_GetObjectItemCaseSensitive(g->scenes.item[scene], "nodes")) {
        bool exists = cJSON_IsNumber(root) && root->valuedouble >= 0 && root->valuedouble < g->nodes.count;
        status = status    ? status
                 : !exists ? report_wrong_item(g, &g->scenes, (int)scene, "one of its \"nodes\" does not exist")
                           : read_gltf_node(g, (int)root->valuedouble, upright, 0);
    }
    return status;
}

/* ---- files ---- */

/* The JSON of the file and, if it is packed, its data. */
static sim_status find_chunks(gltf *g, bytes_part *json) {
    const unsigned char *start = (const unsigned char *)g->text->start;
    size_t size = (size_t)(g->text->end - g->text->start);
    *json = (bytes_part){start, size};
    if (size < 4 || memcmp(start, "glTF", 4) != 0) {
        return SIM_OK;
    }
    size_t length = size >= 20 ? little_word(start + 12) : 0;
    if (size < 20 || little_word(start + 4) != 2 || little_word(start + 8) > size ||
        little_word(start + 16) != CHUNK_JSON || length > size - 20) {
        return sim_fail(g->text->error, SIM_BAD_INPUT,
                        "%.200s: byte 4: a glTF file that is cut off or not of version 2", g->text->name);
    }
    *json = (bytes_part){start + 20, length};
    const unsigned char *next = start + 20 + length;
    size_t left = size - 20 - length;
    if (left >= 8 && little_word(next + 4) == CHUNK_BINARY && little_word(next) <= left - 8) {
        g->binary = (bytes_part){next + 8, little_word(next)};
    }
    return SIM_OK;
}

/* Version 2, and no extension without which the geometry cannot be read. */
static sim_status check_version(const gltf *g) {
    static const char *const harmless[] = {"KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_", "KHR_xmp_"};
    const cJSON *asset = cJSON_GetObjectItemCaseSensitive(g->root, "asset"), *name;
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(asset, "version");
    if (!cJSON_IsString(version) || strncmp(version->valuestring, "2.", 2) != 0) {
        return sim_fail(g->text->error, SIM_BAD_INPUT, "%.200s: expected \"asset\" to say version 2 of glTF",
                        g->text->name);
    }
    cJSON_ArrayForEach(name, cJSON_GetObjectItemCaseSensitive(g->root, "extensionsRequired")) {
        bool known = false;
        for (size_t k = 0; cJSON_IsString(name) && k < sizeof harmless / sizeof *harmless; k++) {
            known |= strncmp(name->valuestring, harmless[k], strlen(harmless[k])) == 0;
        }
        if (!known) {
            const char *word = cJSON_IsString(name) ? name->valuestring : "?";
            bool plain =
                strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == strlen(word);
            return sim_fail(g->text->error, SIM_BAD_INPUT,
                            "%.200s: the extension %.60s, which the file requires, is not read", g->text->name,
                            plain ? word : "?");
        }
    }
    return SIM_OK;
}

/* The JSON as a tree, in bounded memory. */
static sim_status parse_json(gltf *g) {
    bytes_part json;
    sim_status status = find_chunks(g, &json);
    size_t values = 1;
    for (size_t k = 0; !status && k < json.length; k++) {
        values += json.at[k] == ',' || json.at[k] == '[' || json.at[k] == '{';
    }
    if (!status && values > MAX_VALUES) {
        status = sim_fail(g->text->error, SIM_BAD_INPUT, "%.200s: more than %d values in its JSON", g->text->name,
                          MAX_VALUES);
    }
    if (!status) {
        const char *end = NULL;
        g->root = cJSON_ParseWithLengthOpts((const char *)json.at, json.length, &end, 0);
        if (!cJSON_IsObject(g->root)) {
            const char *at = end ? end : (const char *)json.at;
            status = text_wrong(g->text, at, "expected the JSON object of a glTF file");
        }
    }
    return status;
}

sim_status mesh_read_gltf(mesh_text *text, mesh_parts *parts) {
    gltf g = {.text = text, .parts = parts, .budget = MAX_COPIES * (size_t)(text->end - text->start)};
    sim_status status = parse_json(&g);
    json_list *const lists[] = {&g.buffers, &g.views, &g.accessors, &g.meshes, &g.nodes, &g.scenes};
    static const char *const names[] = {"buffers", "bufferViews", "accessors", "meshes", "nodes", "scenes"};
    /* arrays of the file */
    for (size_t k = 0; k < 6 && !status; k++) {
        status = list_items(g.root, names[k], lists[k]) ? SIM_OK : mesh_report_no_memory(text);
    }
    if (!status) {
        g.unpacked = calloc((size_t)g.buffers.count + 1, sizeof *g.unpacked);
        g.unpacked_length = calloc((size_t)g.buffers.count + 1, sizeof *g.unpacked_length);
        status = g.unpacked && g.unpacked_length ? check_version(&g) : mesh_report_no_memory(text);
    }
    /* the scene */
    status = status ? status : read_gltf_scene(&g);
    /* clean up */
    for (int k = 0; g.unpacked && k < g.buffers.count; k++) {
        free(g.unpacked[k]);
    }
    for (size_t k = 0; k < 6; k++) {
        free(lists[k]->item);
    }
    free(g.unpacked);
    free(g.unpacked_length);
    free(g.table.slot);
    cJSON_Delete(g.root);
    return status;
}
