/* Meshes in MuJoCo's binary format MSH. */
#include "geometry/import/mesh_file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sim_status parse(const char *name, const void *content, size_t size, sim_triangles *out, sim_error *error) {
    char *copy = malloc(size + 1); /* so that a step too far shows */
    memcpy(copy, content, size);
    copy[size] = 0;
    sim_status status = mesh_parse(name, copy, size, (sim_v3){1, 1, 1}, out, error);
    free(copy);
    return status;
}

static void refused(const void *content, size_t size, const char *what) {
    sim_triangles t;
    sim_error error = {0};
    cr_assert_eq(parse("a.msh", content, size, &t, &error), SIM_BAD_INPUT);
    cr_assert_str_eq(error.text, what);
    cr_assert(!t.vertex && !t.triangle);
}

/* The numbers of a tetrahedron: 4 vertices, `normals` normals, 3 texture coordinates, 4 triangles. */
static size_t put_msh(unsigned char *to, int normals) {
    static const int triangle[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
    static const float point[4][3] = {{0, 0, 0}, {0.1f, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const int count[4] = {4, normals, 3, 4};
    size_t at = 0;
    memcpy(to, count, sizeof count);
    at += sizeof count;
    memcpy(to + at, point, sizeof point);
    at += sizeof point;
    memset(to + at, 0x41, (size_t)(12 * normals + 24));
    at += (size_t)(12 * normals + 24);
    memcpy(to + at, triangle, sizeof triangle);
    return at + sizeof triangle;
}

Test(msh, an_msh_file_has_the_triangles_of_its_numbers) {
    unsigned char file[400];
    for (int normals = 0; normals <= 4; normals += 4) {
        size_t size = put_msh(file, normals);
        static const char text[] = "v 0 0 0\nv 0.100000001490116119384765625 0 0\nv 0 1 0\nv 0 0 1\n"
                                   "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
        sim_triangles a, b;
        cr_assert_eq(parse("a.msh", file, size, &a, NULL), SIM_OK);
        cr_assert_eq(parse("a.obj", text, strlen(text), &b, NULL), SIM_OK);
        cr_assert(a.nvertex == 4 && b.nvertex == 4 && a.ntriangle == 4 && b.ntriangle == 4);
        cr_assert(memcmp(a.vertex, b.vertex, 4 * sizeof *a.vertex) == 0);
        cr_assert(memcmp(a.triangle, b.triangle, 4 * sizeof *a.triangle) == 0);
        free(a.vertex);
        free(a.triangle);
        free(b.vertex);
        free(b.triangle);
        char said[200];
        snprintf(said, sizeof said,
                 "a.msh: not an MSH file of MuJoCo: it has %zu bytes, where its first four numbers say %zu", size - 1,
                 size);
        refused(file, size - 1, said);
        const int beyond = 4;
        memcpy(file + size - 4, &beyond, 4);
        refused(file, size, "a.msh: triangle 3 has a corner 4, of 4 vertices");
    }
    static const char gmsh[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
    refused(
        gmsh, strlen(gmsh),
        "a.msh: a file of Gmsh; a soft body of type \"tetrahedra\" reads it, and a mesh is read from MSH of MuJoCo, "
        "OBJ, STL, COLLADA or glTF");
    refused(file, 15, "a.msh: not an MSH file of MuJoCo: it has 15 bytes, where its first four numbers say 16");
}
