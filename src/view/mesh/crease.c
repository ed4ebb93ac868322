/* Normals of a triangle mesh with creases.  At a corner, a triangle takes the mean normal of those round the vertex
 * that lean from it by less than a crease, weighted by area:
 *
 *     n = sum of n_j A_j  over j with n_j . n_i > cos(crease)
 *
 * Corners at one vertex that come to the same normal are one corner. */
#include "math/v3.h"
#include "view/mesh/parts.h"

#include <stdlib.h>

static const double MIN_CREASE_COSINE = 0.8; /* 37 degrees: cylinders of ten sides look round, those of eight do not */
/* Vertices of more triangles than this, as the middle of a fan, are not smoothed: the work grows with its square. */
enum { MAX_TRIANGLES_ROUND_VERTEX = 256 };

typedef struct surface {
    const sim_v3 *vertex;
    const int (*triangle)[3];
    v3 *area;   /* [ntriangle] normal, as long as twice the area */
    v3 *normal; /* [ntriangle] unit */
    int *start; /* [nvertex + 1] triangles at vertex v: around[start[v] .. start[v + 1]) */
    int *around;
} surface;

static void surface_clear(surface *s) {
    free(s->area);
    free(s->normal);
    free(s->start);
    free(s->around);
}

static bool surface_room(surface *s, int nvertex, int ntriangle) {
    s->area = calloc((size_t)ntriangle + 1, sizeof *s->area);
    s->normal = calloc((size_t)ntriangle + 1, sizeof *s->normal);
    s->start = calloc((size_t)nvertex + 2, sizeof *s->start);
    s->around = calloc(3 * (size_t)ntriangle + 1, sizeof *s->around);
    return s->area && s->normal && s->start && s->around;
}

static void find_normals(surface *s, int ntriangle) {
    for (int t = 0; t < ntriangle; t++) {
        const int *i = s->triangle[t];
        v3 a = s->vertex[i[0]];
        s->area[t] = v3_cross(v3_sub(s->vertex[i[1]], a), v3_sub(s->vertex[i[2]], a));
        double length = v3_norm(s->area[t]);
        s->normal[t] = length > 0 ? v3_scale(1 / length, s->area[t]) : (v3){0, 0, 0};
    }
}

/* Counts, sums, then fills: start[v + 1] runs ahead to where the next triangle of v goes. */
static void find_around(surface *s, int nvertex, int ntriangle) {
    for (int t = 0; t < ntriangle; t++) {
        for (int k = 0; k < 3; k++) {
            s->start[s->triangle[t][k] + 2]++;
        }
    }
    for (int v = 2; v <= nvertex; v++) {
        s->start[v] += s->start[v - 1];
    }
    for (int t = 0; t < ntriangle; t++) {
        for (int k = 0; k < 3; k++) {
            s->around[s->start[s->triangle[t][k] + 1]++] = t;
        }
    }
}

static v3 corner_normal(const surface *s, int vertex, int t) {
    int first = s->start[vertex], last = s->start[vertex + 1];
    v3 sum = s->area[t];
    for (int k = first; k < last && last - first <= MAX_TRIANGLES_ROUND_VERTEX; k++) {
        int other = s->around[k];
        if (other != t && v3_dot(s->normal[other], s->normal[t]) > MIN_CREASE_COSINE) {
            sum = v3_add(sum, s->area[other]);
        }
    }
    return sum;
}

static bool same_normal(const view_mesh *mesh, int a, int b) {
    double dot = 0;
    for (int k = 0; k < 3; k++) {
        dot += (double)mesh->normal[a][k] * mesh->normal[b][k];
    }
    return dot > 0.9999;
}

/* Puts a corner at each triangle round the vertex; among those made for this vertex an equal one is taken again. */
static void add_corners(view_mesh *mesh, const surface *s, int vertex) {
    v3 p = s->vertex[vertex];
    int made = mesh->nvertex;
    for (int k = s->start[vertex]; k < s->start[vertex + 1]; k++) {
        int t = s->around[k], mine;
        v3 n = corner_normal(s, vertex, t);
        int fresh = view_mesh_vertex(mesh, p.x, p.y, p.z, n.x, n.y, n.z);
        for (mine = fresh - MAX_TRIANGLES_ROUND_VERTEX > made ? fresh - MAX_TRIANGLES_ROUND_VERTEX : made; mine < fresh;
             mine++) {
            if (same_normal(mesh, mine, fresh)) {
                mesh->nvertex = fresh;
                break;
            }
        }
        for (int c = 0; c < 3; c++) {
            if (s->triangle[t][c] == vertex) {
                mesh->triangle[t][c] = (uint32_t)mine;
            }
        }
    }
}

view_mesh *view_mesh_creased(const sim_v3 *vertex, int nvertex, const int (*triangle)[3], int ntriangle) {
    surface s = {.vertex = vertex, .triangle = triangle};
    view_mesh *mesh = surface_room(&s, nvertex, ntriangle) ? view_mesh_room(3 * ntriangle, ntriangle) : NULL;
    if (mesh) {
        find_normals(&s, ntriangle);
        find_around(&s, nvertex, ntriangle);
        mesh->ntriangle = ntriangle;
        for (int v = 0; v < nvertex; v++) {
            add_corners(mesh, &s, v);
        }
    }
    surface_clear(&s);
    return mesh;
}
