/* Any bytes at all through the reader of glTF, with the file of data beside the mesh: it must not crash, leak or hang,
 * must say why it refuses, and what it accepts must be sound.
 *
 * The first zero byte ends the mesh; the file `b` beside it follows.  A packed file begins with "glTF": it has none. */
#include "geometry/import/mesh_file.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void demand(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", what);
        abort();
    }
}

static void put_file(const char *path, const void *bytes, size_t size) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    demand(file >= 0 && write(file, bytes, size) == (ssize_t)size && close(file) == 0, "files can be written");
}

static void check_triangles(const sim_triangles *t, size_t size) {
    demand(t->nvertex > 0 && t->ntriangle > 0 && t->vertex && t->triangle, "a file that is read has triangles");
    /* nodes may show a mesh more than once, and fans and strips have a triangle a corner */
    demand((size_t)t->ntriangle <= 8 * size && (size_t)t->nvertex <= 8 * size, "there is no more than the files say");
    for (int i = 0; i < t->ntriangle; i++) {
        for (int k = 0; k < 3; k++) {
            demand(t->triangle[i][k] >= 0 && t->triangle[i][k] < t->nvertex, "corners are vertices");
        }
    }
    for (int v = 0; v < t->nvertex; v++) {
        demand(v3_finite(t->vertex[v]), "vertices are finite");
    }
}

static char folder[64], mesh_path[80], data_path[80];

static void remove_files(void) {
    unlink(mesh_path);
    unlink(data_path);
    rmdir(folder);
}

static void make_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/sim-fuzz-XXXXXX");
    demand(mkdtemp(folder) != NULL, "a folder can be made");
    snprintf(mesh_path, sizeof mesh_path, "%s/mesh.gltf", folder);
    snprintf(data_path, sizeof data_path, "%s/b", folder);
    atexit(remove_files);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!folder[0]) {
        make_folder();
    }
    bool packed = size >= 4 && memcmp(data, "glTF", 4) == 0;
    const uint8_t *zero = packed || size == 0 ? NULL : memchr(data, 0, size);
    size_t length = zero ? (size_t)(zero - data) : size;
    put_file(mesh_path, data, length);
    if (zero) {
        put_file(data_path, zero + 1, size - length - 1);
    } else {
        unlink(data_path);
    }
    sim_triangles t;
    sim_error error = {0};
    sim_status status = sim_triangles_read(mesh_path, (v3){1, 1, 1}, &t, &error);
    if (status) {
        demand((status == SIM_BAD_INPUT || status == SIM_NO_RESOURCE) && error.text[0], "a refusal has a reason");
        demand(!t.vertex && !t.triangle, "nothing is left behind");
        for (const unsigned char *c = (const unsigned char *)error.text; *c; c++) {
            demand(*c >= 0x20 && *c < 0x7f, "messages are printable, on one line");
        }
    } else {
        check_triangles(&t, size);
    }
    free(t.vertex);
    free(t.triangle);
    return 0;
}
