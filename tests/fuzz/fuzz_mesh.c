/* Any bytes at all through the readers of mesh files: they must not crash, leak or hang, must say why they refuse, and
 * what they accept must be sound.
 *
 * The first byte chooses the name that the file has (OBJ, STL, COLLADA, MSH, neither) and whether the scale mirrors. */
#include "geometry/import/mesh_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void demand(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", what);
        abort();
    }
}

static void check_refusal(const sim_error *error) {
    demand(error->status == SIM_BAD_INPUT && error->text[0], "a refusal has a reason");
    for (const unsigned char *c = (const unsigned char *)error->text; *c; c++) {
        demand(*c >= 0x20 && *c < 0x7f, "messages are printable, on one line");
    }
}

static void check_triangles(const sim_triangles *t, size_t size) {
    demand(t->nvertex > 0 && t->vertex && (t->ntriangle == 0 || t->triangle), "a file that is read has points");
    /* nodes of COLLADA may show a geometry more than once */
    demand((size_t)t->ntriangle <= 8 * size && (size_t)t->nvertex <= 8 * size, "there is no more than the file says");
    unsigned char *used = calloc((size_t)t->nvertex, 1);
    if (!used) {
        abort();
    }
    for (int i = 0; i < t->ntriangle; i++) {
        for (int k = 0; k < 3; k++) {
            demand(t->triangle[i][k] >= 0 && t->triangle[i][k] < t->nvertex, "corners are vertices");
            used[t->triangle[i][k]] = 1;
        }
    }
    for (int v = 0; v < t->nvertex; v++) {
        demand((used[v] || t->ntriangle == 0) && v3_finite(t->vertex[v]), "vertices are used and finite");
    }
    free(used);
}

/* Triangles that were read become a geometry, or are refused with a reason. */
static void check_geometry(const sim_triangles *t) {
    sim_error error = {0};
    sim_geometry *g = sim_geometry_mesh(t->vertex, t->nvertex, (const int(*)[3])t->triangle, t->ntriangle, &error);
    if (!g) {
        check_refusal(&error);
        return;
    }
    demand(v3_finite(g->low) && v3_finite(g->high) && isfinite(g->radius), "bounds are finite");
    demand(g->solid.mass >= 0 && v3_finite(g->solid.com), "mass properties are finite");
    demand(!g->hull == !g->mesh->convex, "convex meshes have a hull, others none");
    sim_geometry_free(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const name[] = {"fuzz.obj", "fuzz.stl", "fuzz", "fuzz.dae", "fuzz.msh"};
    if (size == 0) {
        return 0;
    }
    v3 scale = {1, 0.5, data[0] & 4 ? -2 : 2};
    char *content = malloc(size); /* a zero byte follows the rest */
    if (!content) {
        abort();
    }
    memcpy(content, data + 1, size - 1);
    content[size - 1] = 0;
    sim_triangles triangles;
    sim_error error = {0};
    if (mesh_parse(name[data[0] & 8 ? 4 : data[0] & 3], content, size - 1, scale, &triangles, &error)) {
        check_refusal(&error);
        demand(!triangles.vertex && !triangles.triangle, "nothing is left behind");
    } else {
        check_triangles(&triangles, size);
        check_geometry(&triangles);
    }
    free(triangles.vertex);
    free(triangles.triangle);
    free(content);
    return 0;
}
