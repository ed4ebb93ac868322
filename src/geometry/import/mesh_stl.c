/* The triangles of an STL file, binary or text.
 *
 * Binary: 80 bytes of anything, then the number of triangles in four bytes.  Then 50 bytes for each, least byte first:
 * normal, three corners of three floats, two bytes of anything.  A file of just the length that its count asks for is
 * binary, also when it begins with "solid", as some do.  Text: `solid NAME`, `facet normal X Y Z`, `outer loop`, three
 * times `vertex X Y Z`, `endloop`, `endfacet`, ..., `endsolid NAME`, in large or small letters, any number of solids.
 * Normals are left aside.  Corners with equal coordinates become one vertex.
 *
 * 3D Systems, StereoLithography Interface Specification, 1988. */
#include "geometry/import/mesh_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES = 84, RECORD_BYTES = 50 };

static int add_stl_triangle(vertex_table *t, mesh_parts *parts, const v3 corner[3]) {
    int v[3];
    for (int i = 0; i < 3; i++) {
        v[i] = vertex_table_find(t, parts, corner[i]);
        if (v[i] < 0) {
            return 0;
        }
    }
    return mesh_add_triangle(parts, v[0], v[1], v[2]);
}

/* ---- binary ---- */

static uint32_t little_endian(const char *at) {
    const unsigned char *b = (const unsigned char *)at;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double float_at(const char *at) {
    uint32_t bits = little_endian(at);
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

bool mesh_is_binary_stl(const char *content, size_t size) {
    return size >= HEADER_BYTES && size == HEADER_BYTES + (size_t)RECORD_BYTES * little_endian(content + 80);
}

static sim_status read_binary(mesh_text *t, mesh_parts *parts, vertex_table *table) {
    /* length of the file */
    size_t size = (size_t)(t->end - t->start);
    if (size < HEADER_BYTES) {
        return sim_fail(t->error, SIM_BAD_INPUT, "%.200s: byte %zu: an STL file, cut off within its header of %d bytes",
                        t->name, size, HEADER_BYTES);
    }
    size_t count = little_endian(t->start + 80), whole = HEADER_BYTES + RECORD_BYTES * count;
    if (size != whole) {
        return sim_fail(t->error, SIM_BAD_INPUT,
                        "%.200s: byte 80: the header says %zu triangles, a file of %zu bytes; this one has %zu%s",
                        t->name, count, whole, size, size < whole ? ": it is cut off or not STL" : "");
    }
    if (count > INT_MAX) {
        return sim_fail(t->error, SIM_BAD_INPUT, "%.200s: byte 80: more than %d triangles", t->name, INT_MAX);
    }
    /* room of the vertex table */
    size_t room = 64;
    while (room < count) { /* a closed surface has half as many vertices as triangles */
        room *= 2;
    }
    if (!vertex_table_grow(table, room, parts)) {
        return mesh_report_no_memory(t);
    }
    /* each triangle */
    for (size_t i = 0; i < count; i++) {
        v3 corner[3];
        const char *record = t->start + HEADER_BYTES + RECORD_BYTES * i;
        for (int k = 0; k < 3; k++) {
            const char *at = record + 12 + 12 * k;
            corner[k] = (v3){float_at(at), float_at(at + 4), float_at(at + 8)};
            if (!v3_finite(corner[k])) {
                return sim_fail(t->error, SIM_BAD_INPUT,
                                "%.200s: byte %zu: corner %d of triangle %zu is not finite: (%g, %g, %g)", t->name,
                                (size_t)(at - t->start), k + 1, i + 1, corner[k].x, corner[k].y, corner[k].z);
            }
        }
        if (!add_stl_triangle(table, parts, corner)) {
            return mesh_report_no_memory(t);
        }
    }
    return SIM_OK;
}

/* ---- text ---- */

static void skip_space(mesh_text *t) {
    while (text_is_blank(*t->at) || *t->at == '\n' || *t->at == '\r') {
        t->at++;
    }
}

static bool take_word(mesh_text *t, const char *word) {
    skip_space(t);
    if (!text_is_word(t->at, word)) {
        return false;
    }
    t->at = text_word_end(t->at);
    return true;
}

static sim_status demand_words(mesh_text *t, const char *first, const char *second) {
    if (!take_word(t, first)) {
        return text_expected(t, t->at, first);
    }
    return !second || take_word(t, second) ? SIM_OK : text_expected(t, t->at, second);
}

static void skip_name(mesh_text *t) {
    while (t->at < t->end && *t->at != '\n' && *t->at != '\r') {
        t->at++;
    }
}

static sim_status read_facet(mesh_text *t, mesh_parts *parts, vertex_table *table) {
    v3 corner[3];
    sim_status status = demand_words(t, "normal", NULL);
    for (int i = 0; i < 3 && !status; i++) { /* three words, numbers or not: flat facets have normals like "nan" */
        skip_space(t);
        t->at = text_word_end(t->at);
    }
    status = status ? status : demand_words(t, "outer", "loop");
    for (int i = 0; i < 3 && !status; i++) {
        double x[3];
        status = demand_words(t, "vertex", NULL);
        for (int k = 0; k < 3 && !status; k++) {
            skip_space(t);
            status = text_number(t, &x[k]) ? SIM_OK : SIM_BAD_INPUT;
        }
        if (!status) {
            corner[i] = (v3){x[0], x[1], x[2]};
        }
    }
    status = status ? status : demand_words(t, "endloop", NULL);
    status = status ? status : demand_words(t, "endfacet", NULL);
    if (status) {
        return status;
    }
    if (parts->ntriangle == INT_MAX) {
        return text_wrong(t, t->at, "more than %d triangles", INT_MAX);
    }
    return add_stl_triangle(table, parts, corner) ? SIM_OK : mesh_report_no_memory(t);
}

static sim_status read_stl_text(mesh_text *t, mesh_parts *parts, vertex_table *table) {
    sim_status status = SIM_OK;
    for (skip_space(t); t->at < t->end && !status; skip_space(t)) {
        status = demand_words(t, "solid", NULL);
        if (!status) {
            skip_name(t);
        }
        while (!status && take_word(t, "facet")) {
            status = read_facet(t, parts, table);
        }
        if (!status) {
            status = take_word(t, "endsolid") ? SIM_OK : text_expected(t, t->at, "facet or endsolid");
            skip_name(t);
        }
    }
    return status;
}

/* Text has no zero bytes; headers of binary files are padded with them, or lead into floats that have some. */
static bool looks_like_text(const mesh_text *t) {
    const char *p = t->start;
    size_t size = (size_t)(t->end - t->start);
    while (text_is_blank(*p) || *p == '\n' || *p == '\r') {
        p++;
    }
    return text_is_word(p, "solid") && !memchr(t->start, 0, size < 1024 ? size : 1024);
}

sim_status mesh_read_stl(mesh_text *t, mesh_parts *parts) {
    vertex_table table = {NULL, 0};
    int text = !mesh_is_binary_stl(t->start, (size_t)(t->end - t->start)) && looks_like_text(t);
    sim_status status = text ? read_stl_text(t, parts, &table) : read_binary(t, parts, &table);
    free(table.slot);
    return status;
}
