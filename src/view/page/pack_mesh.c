/* Encoding of surfaces.  Positions in steps of 1/65535 of the bounds along each axis, normals as directions on
 * an octahedron,
 *
 *     n / (|x| + |y| + |z|), the lower half folded outwards over the edges of the square |x| + |y| = 1
 *
 * (Meyer, Suessmuth, Sussner, Stamminger 2010), corners of triangles as differences from the one before. */
#include "view/page/pack.h"

#include <math.h>
#include <stdlib.h>

static double sign_of(double x) { return x < 0 ? -1 : 1; }

void view_pack_direction(double x, double y, double z, int steps, int64_t code[2]) {
    double sum = fabs(x) + fabs(y) + fabs(z);
    double u = sum > 0 ? x / sum : 0, v = sum > 0 ? y / sum : 0;
    if (!isfinite(sum)) {
        u = v = 0;
    }
    if (z < 0) {
        double outer = (1 - fabs(v)) * sign_of(u);
        v = (1 - fabs(u)) * sign_of(v);
        u = outer;
    }
    code[0] = llrint(steps * u);
    code[1] = llrint(steps * v);
}

static void find_bounds(const view_mesh *mesh, float low[3], float high[3]) {
    for (int k = 0; k < 3; k++) {
        low[k] = high[k] = mesh->nvertex ? mesh->position[0][k] : 0;
        for (int i = 1; i < mesh->nvertex; i++) {
            low[k] = fminf(low[k], mesh->position[i][k]);
            high[k] = fmaxf(high[k], mesh->position[i][k]);
        }
    }
}

static void put_positions(view_bytes *out, const view_mesh *mesh, int64_t *column) {
    float low[3], high[3];
    find_bounds(mesh, low, high);
    view_put_bytes(out, low, sizeof low);
    view_put_bytes(out, high, sizeof high);
    for (int k = 0; k < 3; k++) {
        double width = (double)high[k] - low[k];
        for (int i = 0; i < mesh->nvertex; i++) {
            column[i] = width > 0 ? llrint(65535 * (mesh->position[i][k] - low[k]) / width) : 0;
        }
        view_put_column(out, column, mesh->nvertex);
    }
}

static void put_normals(view_bytes *out, const view_mesh *mesh, int64_t *column) {
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < mesh->nvertex; i++) {
            int64_t code[2];
            const float *n = mesh->normal[i];
            view_pack_direction(n[0], n[1], n[2], VIEW_NORMAL_STEPS, code);
            column[i] = code[k];
        }
        view_put_column(out, column, mesh->nvertex);
    }
}

void view_pack_mesh(view_bytes *out, const view_mesh *mesh) {
    size_t corners = 3 * (size_t)mesh->ntriangle;
    size_t most = corners > (size_t)mesh->nvertex ? corners : (size_t)mesh->nvertex;
    int64_t *column = calloc(most + 1, sizeof *column);
    if (!column) {
        out->starved = 1;
        return;
    }
    view_put_number(out, (uint64_t)mesh->nvertex);
    view_put_number(out, (uint64_t)mesh->ntriangle);
    put_positions(out, mesh, column);
    put_normals(out, mesh, column);
    for (size_t k = 0; k < corners; k++) {
        column[k] = mesh->triangle[k / 3][k % 3];
    }
    view_put_column(out, column, (int)corners);
    free(column);
}
