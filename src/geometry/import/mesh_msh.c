/* Reader of MSH files, MuJoCo's own binary meshes (little end first):
 *
 *     4 integers of 32 bits    numbers of vertices n, normals, texture coordinates, triangles m
 *     floats                   3 n coordinates, 3 a normal, 2 a texture coordinate
 *     3 m integers             corners, from 0
 *
 * Normals and texture coordinates are passed over.
 * Reference: MuJoCo, XML reference, asset/mesh. */
#include "geometry/import/mesh_file.h"

#include <limits.h>
#include <string.h>

static uint32_t whole_at(const char *at) {
    const unsigned char *p = (const unsigned char *)at;
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static double float_at(const char *at) {
    uint32_t bits = whole_at(at);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static sim_status read_corners(const mesh_text *t, const char *at, uint32_t count, uint32_t nvertex,
                               mesh_parts *parts) {
    for (uint32_t k = 0; k < count; k++, at += 12) {
        uint32_t corner[3] = {whole_at(at), whole_at(at + 4), whole_at(at + 8)};
        for (int i = 0; i < 3; i++) {
            if (corner[i] >= nvertex) {
                return sim_fail(t->error, SIM_BAD_INPUT, "%.200s: triangle %u has a corner %u, of %u vertices", t->name,
                                k, corner[i], nvertex);
            }
        }
        if (!mesh_add_triangle(parts, (int)corner[0], (int)corner[1], (int)corner[2])) {
            return mesh_report_no_memory(t);
        }
    }
    return SIM_OK;
}

sim_status mesh_read_msh(mesh_text *t, mesh_parts *parts) {
    /* Gmsh's files have the same ending */
    static const char gmsh[] = "$MeshFormat";
    enum { HEAD_BYTES = 16 };
    size_t size = (size_t)(t->end - t->start);
    if (size >= sizeof gmsh && memcmp(t->start, gmsh, sizeof gmsh - 1) == 0) {
        return sim_fail(
            t->error, SIM_BAD_INPUT,
            "%.200s: a file of Gmsh; a soft body of type \"tetrahedra\" reads it, and a mesh is read from MSH "
            "of MuJoCo, OBJ, STL, COLLADA or glTF",
            t->name);
    }
    /* the four numbers tell how long the file is */
    uint32_t count[4] = {0};
    for (int k = 0; k < 4 && size >= HEAD_BYTES; k++) {
        count[k] = whole_at(t->start + 4 * k);
    }
    uint64_t expected = HEAD_BYTES + 12 * (uint64_t)count[0] + 12 * (uint64_t)count[1] + 8 * (uint64_t)count[2] +
                        12 * (uint64_t)count[3];
    if (size < HEAD_BYTES || expected != size || count[0] > INT_MAX || count[3] > INT_MAX) {
        return sim_fail(t->error, SIM_BAD_INPUT,
                        "%.200s: not an MSH file of MuJoCo: it has %zu bytes, where its first four numbers say %llu",
                        t->name, size, (unsigned long long)expected);
    }
    /* vertices */
    const char *at = t->start + HEAD_BYTES;
    for (uint32_t k = 0; k < count[0]; k++, at += 12) {
        v3 p = {float_at(at), float_at(at + 4), float_at(at + 8)};
        if (!v3_finite(p)) {
            return sim_fail(t->error, SIM_BAD_INPUT, "%.200s: vertex %u is not finite", t->name, k);
        }
        if (!mesh_add_vertex(parts, p)) {
            return mesh_report_no_memory(t);
        }
    }
    /* triangles */
    at += 12 * (size_t)count[1] + 8 * (size_t)count[2];
    return read_corners(t, at, count[3], count[0], parts);
}
