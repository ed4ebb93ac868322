/* Surfaces of soft bodies as lists of nodes, faces and edges.
 *
 *     n_f = (x_1 - x_0) x (x_2 - x_0) / |.|,     n_node = sum_f angle_f n_f,     n_edge ~ n_f1 + n_f2
 *
 * The side of a point by the normal of the feature nearest to it is exact for closed surfaces.
 * Reference: J. A. Baerentzen, H. Aanaes, Signed distance computation using the angle weighted pseudonormal, 2005.
 * Cost: one pass over the faces a step; n log n for the edges, in a sort, once. */
#include "collide/skin/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double REST_OVER_THICKNESS = 2; /* elements of one body nearer at rest do not touch */

/* A side of a face, with its nodes in ascending order. */
typedef struct side {
    int low, high, corner; /* corner: 3 face + the corner that it begins at */
} side;

static int compare_sides(const void *a, const void *b) {
    const side *x = a, *y = b;
    int by_low = (x->low > y->low) - (x->low < y->low), by_high = (x->high > y->high) - (x->high < y->high);
    return by_low ? by_low : by_high ? by_high : (x->corner > y->corner) - (x->corner < y->corner);
}

/* ---- lists ---- */

static void add_element(skin_surfaces *f, int soft, skin_kind kind, int index, const int *sphere) {
    skin_element e = skin_element_of(f->model, soft, kind, index);
    int lowest = -1, free = -1;
    for (int k = 0; k < skin_corners(kind); k++) {
        int b = e.body[k];
        lowest = lowest < 0 || b < lowest ? b : lowest;
        free = f->model->body[b].nv && (free < 0 || b < free) ? b : free;
    }
    int at = f->count++;
    f->element[at] = e;
    f->moves[at] = free >= 0;
    f->shape[at] = sphere[free >= 0 ? free : lowest];
    f->across[at][0] = f->across[at][1] = -1;
}

/* Edges of a body; each has the sides [k, k + same) of a sorted list. */
static bool add_edges(skin_surfaces *f, int soft, const int *sphere) {
    const sim_soft *s = &f->model->soft[soft];
    skin_edges *edges = &f->edges[soft];
    int count = 3 * s->nface;
    side *list = malloc((size_t)count * sizeof *list);
    for (int k = 0; list && k < count; k++) {
        int a = s->face[k / 3][k % 3], b = s->face[k / 3][(k + 1) % 3];
        list[k] = (side){a < b ? a : b, a < b ? b : a, k};
    }
    if (list) {
        qsort(list, (size_t)count, sizeof *list, compare_sides);
    }
    for (int k = 0, same; list && k < count; k += same) {
        for (same = 1; k + same < count && list[k + same].low == list[k].low && list[k + same].high == list[k].high;) {
            same++;
        }
        int at = f->count;
        add_element(f, soft, SKIN_EDGE, list[k].corner, sphere);
        for (int i = 0; i < same; i++) {
            int corner = list[k + i].corner;
            edges->of_face[corner] = at;
            if (same == 2) {
                f->across[at][i] = edges->first_face + corner / 3;
                f->opposite[at][i] = s->body + 1 + s->face[corner / 3][(corner + 2) % 3];
            }
        }
    }
    free(list);
    return list != NULL;
}

/* Tetrahedra of each node. */
static void list_tets(const sim_soft *s, skin_edges *e) {
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < 4 * s->ntet; k++) {
            int n = s->tet[k / 4][k % 4];
            if (pass == 0) {
                e->first[n + 1]++;
            } else {
                e->list[e->first[n]++] = k / 4;
            }
        }
        for (int n = 0; n < s->nnode && pass == 0; n++) {
            e->first[n + 1] += e->first[n];
        }
    }
    memmove(e->first + 1, e->first, (size_t)s->nnode * sizeof *e->first);
    e->first[0] = 0;
}

/* Nodes of the surface, faces, edges. */
static bool add_surface(skin_surfaces *f, int soft, const int *sphere, memory_pool *pool) {
    const sim_soft *s = &f->model->soft[soft];
    skin_edges *e = &f->edges[soft];
    e->of_face = POOL_NEW(pool, int, 3 * (size_t)s->nface);
    e->first = POOL_NEW(pool, int, (size_t)s->nnode + 1);
    e->list = POOL_NEW(pool, int, 4 * (size_t)s->ntet);
    if (!e->of_face || !e->first || !e->list) {
        return false;
    }
    for (int n = 0; n < s->nnode; n++) {
        if (sphere[s->body + 1 + n] >= 0) {
            f->element_of_body[s->body + 1 + n] = f->count;
            add_element(f, soft, SKIN_NODE, n, sphere);
        }
    }
    e->first_face = f->count;
    for (int k = 0; k < s->nface; k++) {
        add_element(f, soft, SKIN_FACE, k, sphere);
    }
    list_tets(s, e);
    return add_edges(f, soft, sphere);
}

bool surfaces_create(skin_surfaces *f, const sim_model *m, const filter *allowed, memory_pool *pool) {
    /* room for all */
    size_t most = 0;
    for (int k = 0; k < m->nsoft; k++) {
        most += m->soft[k].thickness > 0 ? (size_t)m->soft[k].nnode + 4 * (size_t)m->soft[k].nface : 0;
    }
    int *sphere = POOL_NEW(pool, int, m->nbody);
    *f = (skin_surfaces){.model = m, .filter = allowed};
    f->element = POOL_NEW(pool, skin_element, most);
    f->moves = POOL_NEW(pool, bool, most);
    f->shape = POOL_NEW(pool, int, most);
    f->across = pool_alloc(pool, most, sizeof *f->across);
    f->opposite = pool_alloc(pool, most, sizeof *f->opposite);
    f->normal = POOL_NEW(pool, v3, most);
    f->element_of_body = POOL_NEW(pool, int, m->nbody);
    f->edges = POOL_NEW(pool, skin_edges, m->nsoft);
    if (!sphere || !f->element || !f->moves || !f->shape || !f->across || !f->opposite || !f->normal ||
        !f->element_of_body || !f->edges) {
        return false;
    }
    /* spheres of the nodes, elements of each body */
    for (int i = 0; i < m->nbody; i++) {
        sphere[i] = -1;
    }
    for (int k = m->nshape - 1; k >= 0; k--) {
        sphere[m->shape[k].body] = m->shape[k].hidden ? k : sphere[m->shape[k].body];
    }
    for (int k = 0; k < m->nsoft; k++) {
        if (m->soft[k].thickness > 0 && !add_surface(f, k, sphere, pool)) {
            return false;
        }
    }
    return true;
}

/* ---- normals ---- */

static double corner_angle(v3 a, v3 b) {
    double across = v3_norm(v3_cross(a, b)), along = v3_dot(a, b);
    return across > 0 || along > 0 ? atan2(across, along) : 0;
}

static v3 unit_or_zero(v3 a) {
    double size = v3_norm(a);
    return size > 0 ? v3_scale(1 / size, a) : a;
}

/* Of faces, and sums of them by the angles at each node. */
void surfaces_turn(skin_surfaces *f, const sim_pose *X) {
    for (int k = 0; k < f->count; k++) {
        if (f->element[k].kind == SKIN_NODE) {
            f->normal[k] = v3_make(0, 0, 0);
        }
    }
    for (int k = 0; k < f->count; k++) {
        const int *b = f->element[k].body;
        if (f->element[k].kind != SKIN_FACE) {
            continue;
        }
        const v3 x[3] = {X[b[0]].p, X[b[1]].p, X[b[2]].p};
        f->normal[k] = unit_or_zero(v3_cross(v3_sub(x[1], x[0]), v3_sub(x[2], x[0])));
        for (int i = 0; i < 3; i++) {
            v3 *sum = &f->normal[f->element_of_body[b[i]]];
            double angle = corner_angle(v3_sub(x[(i + 1) % 3], x[i]), v3_sub(x[(i + 2) % 3], x[i]));
            *sum = v3_axpy(*sum, angle, f->normal[k]);
        }
    }
    for (int k = 0; k < f->count; k++) {
        if (f->element[k].kind == SKIN_NODE) {
            f->normal[k] = unit_or_zero(f->normal[k]);
        }
    }
}

/* ---- pairs ---- */

/* Has a tetrahedron corners of both? */
static bool share_tet(const skin_surfaces *f, const skin_element *a, const skin_element *b) {
    const sim_soft *s = &f->model->soft[a->soft];
    const skin_edges *e = &f->edges[a->soft];
    for (int i = 0; i < skin_corners(a->kind); i++) {
        int n = a->body[i] - s->body - 1;
        for (int k = 4 * e->first[n]; k < 4 * e->first[n + 1]; k++) {
            int corner = s->body + 1 + s->tet[e->list[k / 4]][k % 4];
            for (int j = 0; j < skin_corners(b->kind); j++) {
                if (corner == b->body[j]) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* Are two elements of one body near at rest? */
static bool is_near_at_rest(const skin_surfaces *f, const skin_element *a, const skin_element *b) {
    const sim_soft *s = &f->model->soft[a->soft];
    skin_element of[2] = {*a, *b};
    sim_pose place[6];
    for (int k = 0; k < 6; k++) {
        skin_element *e = &of[k / 3];
        if (k % 3 < skin_corners(e->kind)) {
            place[k].p = s->node[e->body[k % 3] - s->body - 1];
            e->body[k % 3] = k;
        }
    }
    skin_point p, q;
    skin_nearest(&of[0], &of[1], place, &p, &q);
    return v3_norm(v3_sub(p.at, q.at)) < REST_OVER_THICKNESS * 2 * s->thickness;
}

bool surfaces_may_touch(const skin_surfaces *f, int a, int b) {
    const skin_element *x = &f->element[a], *y = &f->element[b];
    bool edges = x->kind == SKIN_EDGE && y->kind == SKIN_EDGE;
    bool face = (x->kind == SKIN_NODE && y->kind == SKIN_FACE) || (x->kind == SKIN_FACE && y->kind == SKIN_NODE);
    if ((!edges && !face) || !filter_allows_soft(f->filter, x->soft, y->soft)) {
        return false;
    }
    return x->soft != y->soft || (!share_tet(f, x, y) && !is_near_at_rest(f, x, y));
}
