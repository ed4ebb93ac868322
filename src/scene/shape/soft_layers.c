/* Inextensible layers of soft bodies: edges of the mesh between nodes in a box keep their length.
 *
 *     |x_a - x_b| = |x_a - x_b| at rest
 *
 * Each is a distance between two nodes (contact/problem/row/equalities.c), held by a spring of stiffness 1e6 E L:
 *
 *     E   Young's modulus of the material, Pa;  L  length of the edge at rest, m
 *
 * A flat layer has more edges than velocities in its plane.  Were they rigid, the forces that balance each other in it
 * would be free as long as it is flat.  They would be without bound when it hardly bends: such rows differ by the bend.
 * A layer of one node's thickness bends along the lines of its edges, as a cloth does that neither stretches nor shears.
 * Reference: Macklin et al. 2019, section 5, has stiff distances in the palm of a finger.
 * Cost: the edges, sorted. */
#include "math/v3.h"
#include "scene/shape/soft.h"

#include <stdlib.h>

static const double STIFFER = 1e6; /* than the material along the same edge */

typedef struct layer_edge {
    int a, b; /* a < b */
} layer_edge;

static int compare_layer_edges(const void *x, const void *y) {
    const layer_edge *e = x, *f = y;
    return e->a != f->a ? (e->a > f->a) - (e->a < f->a) : (e->b > f->b) - (e->b < f->b);
}

static bool is_in(const layer_data *d, v3 x) {
    return x.x >= d->min[0] && x.x <= d->max[0] && x.y >= d->min[1] && x.y <= d->max[1] && x.z >= d->min[2] &&
           x.z <= d->max[2];
}

/* Edges of tetrahedra between nodes of a layer of which one moves at least, each once; their number. */
static int list_edges(const layer_data *d, const sim_soft *s, layer_edge *edge) {
    static const int PAIR[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    int found = 0, count = 0;
    for (int k = 0; k < s->ntet; k++) {
        for (int pair = 0; pair < 6; pair++) {
            int a = s->tet[k][PAIR[pair][0]], b = s->tet[k][PAIR[pair][1]];
            if (is_in(d, s->node[a]) && is_in(d, s->node[b]) && !(s->held[a] && s->held[b])) {
                edge[found++] = a < b ? (layer_edge){a, b} : (layer_edge){b, a};
            }
        }
    }
    qsort(edge, (size_t)found, sizeof *edge, compare_layer_edges);
    for (int k = 0; k < found; k++) {
        if (k == 0 || compare_layer_edges(&edge[k], &edge[count - 1]) != 0) {
            edge[count++] = edge[k];
        }
    }
    return count;
}

void add_layers(loader *l, const entry *e, const soft_data *d, const sim_soft *s, int first) {
    layer_edge *edge = POOL_NEW(l->work, layer_edge, 6 * (size_t)s->ntet);
    if (!edge) {
        l->report.no_memory = true;
        return;
    }
    /* edges of each layer */
    for (const node *n = d->inextensible ? d->inextensible->first : NULL; n; n = n->next) {
        layer_data layer;
        if (!loader_read(l, n, &table_layer, &layer) || !loader_spend(l, 6 * (int64_t)s->ntet, n)) {
            return;
        }
        int count = list_edges(&layer, s, edge);
        if (count == 0) {
            report_once(&l->report, n, NULL, "no edge of the mesh of \"%.80s\" is in that box", e->name);
        }
        /* their distances */
        for (int k = 0; k < count; k++) {
            sim_equality equality = sim_equality_default();
            equality.type = SIM_DISTANCE;
            equality.body[0] = first + edge[k].a;
            equality.body[1] = first + edge[k].b;
            equality.distance = v3_norm(v3_sub(s->node[edge[k].a], s->node[edge[k].b]));
            equality.stiffness = STIFFER * s->modulus * equality.distance;
            sim_builder_add_equality(l->builder, &equality);
        }
    }
}
