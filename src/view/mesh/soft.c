/* Surfaces of soft bodies: corners that follow the nodes, with normals of the moment.
 *
 *     n = sum of n_j A_j   over the triangles j of the corner
 *
 * Triangles round a node that lean from each other by less than a crease, at rest, from one to the next, share a corner.
 * So a box keeps its edges while it bends, and a ball is smooth however coarse it is.
 * Cost: linear in the triangles; at rest quadratic in those round a node. */
#include "view/mesh/soft.h"

#include "math/v3.h"
#include "view/mesh/parts.h"

#include <stdlib.h>
#include <string.h>

static const double MIN_CREASE_COSINE = 0.6; /* 53 degrees */

void view_soft_free(view_soft *v) {
    view_mesh_free(v->mesh);
    free(v->node);
    *v = (view_soft){0};
}

static v3 area_of(v3 a, v3 b, v3 c) { return v3_cross(v3_sub(b, a), v3_sub(c, a)); }

/* z where there is no direction. */
static v3 unit_of(v3 a) {
    double length = v3_direction(&a);
    return length > 0 ? v3_scale(1 / length, a) : v3_make(0, 0, 1);
}

/* Corners of triangles, listed by their nodes: of node n list[start[n] .. start[n + 1]), each 3 triangle + corner. */
typedef struct corner_list {
    int *start, *list;
    v3 *normal; /* of triangles, unit */
} corner_list;

static bool list_corners(corner_list *c, const sim_soft *s) {
    c->start = calloc((size_t)s->nnode + 2, sizeof *c->start);
    c->list = calloc(3 * (size_t)s->nface + 1, sizeof *c->list);
    c->normal = calloc((size_t)s->nface + 1, sizeof *c->normal);
    if (!c->start || !c->list || !c->normal) {
        return false;
    }
    /* counts, sums, then places: start[n + 1] runs ahead */
    for (int k = 0; k < 3 * s->nface; k++) {
        c->start[s->face[k / 3][k % 3] + 2]++;
    }
    for (int n = 2; n <= s->nnode; n++) {
        c->start[n] += c->start[n - 1];
    }
    for (int k = 0; k < 3 * s->nface; k++) {
        c->list[c->start[s->face[k / 3][k % 3] + 1]++] = k;
    }
    for (int t = 0; t < s->nface; t++) {
        const int *i = s->face[t];
        c->normal[t] = area_of(s->node[i[0]], s->node[i[1]], s->node[i[2]]);
        c->normal[t] = unit_of(c->normal[t]);
    }
    return true;
}

/* One corner for all triangles round a node that hang together without a crease. */
static void join_corners(view_soft *v, const corner_list *c, int node, int *waiting) {
    int first = c->start[node], count = c->start[node + 1] - first;
    for (int k = 0; k < count; k++) {
        int seed = c->list[first + k], waits = 0;
        if (v->mesh->triangle[seed / 3][seed % 3] != UINT32_MAX) {
            continue;
        }
        int corner = view_mesh_vertex(v->mesh, 0, 0, 0, 0, 0, 1);
        v->node[corner] = node;
        v->mesh->triangle[seed / 3][seed % 3] = (uint32_t)corner;
        waiting[waits++] = seed;
        while (waits > 0) {
            int from = waiting[--waits];
            for (int l = 0; l < count; l++) {
                int to = c->list[first + l];
                if (v->mesh->triangle[to / 3][to % 3] == UINT32_MAX &&
                    v3_dot(c->normal[from / 3], c->normal[to / 3]) > MIN_CREASE_COSINE) {
                    v->mesh->triangle[to / 3][to % 3] = (uint32_t)corner;
                    waiting[waits++] = to;
                }
            }
        }
    }
}

bool view_soft_create(view_soft *v, const sim_soft *s) {
    /* room for a corner of each triangle */
    corner_list c = {0};
    int *waiting = calloc(3 * (size_t)s->nface + 1, sizeof *waiting);
    v->mesh = view_mesh_room(3 * s->nface, s->nface);
    v->node = calloc(3 * (size_t)s->nface + 1, sizeof *v->node);
    bool good = waiting && v->mesh && v->node && list_corners(&c, s);
    /* those that are one */
    if (good) {
        v->mesh->ntriangle = s->nface;
        memset(v->mesh->triangle, 0xff, (size_t)s->nface * sizeof *v->mesh->triangle);
        for (int n = 0; n < s->nnode; n++) {
            join_corners(v, &c, n, waiting);
        }
    }
    free(waiting);
    free(c.start);
    free(c.list);
    free(c.normal);
    return good;
}

static v3 vector_of(const float x[3]) { return v3_make((double)x[0], (double)x[1], (double)x[2]); }

static void store_vector(float out[3], v3 x) {
    out[0] = (float)x.x;
    out[1] = (float)x.y;
    out[2] = (float)x.z;
}

void view_soft_place(view_soft *v, const sim_soft *soft, const sim_pose *pose, sim_v3 eye) {
    /* places */
    view_mesh *m = v->mesh;
    for (int k = 0; k < m->nvertex; k++) {
        store_vector(m->position[k], v3_sub(pose[soft->body + 1 + v->node[k]].p, eye));
        store_vector(m->normal[k], (v3){0, 0, 0});
    }
    /* normals: areas of triangles, summed at their corners */
    for (int t = 0; t < m->ntriangle; t++) {
        const uint32_t *i = m->triangle[t];
        v3 area = area_of(vector_of(m->position[i[0]]), vector_of(m->position[i[1]]), vector_of(m->position[i[2]]));
        for (int c = 0; c < 3; c++) {
            store_vector(m->normal[i[c]], v3_add(vector_of(m->normal[i[c]]), area));
        }
    }
    for (int k = 0; k < m->nvertex; k++) {
        store_vector(m->normal[k], unit_of(vector_of(m->normal[k])));
    }
}
