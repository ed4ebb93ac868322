/* Contacts of a surface of triangles with a half-space.
 *
 * At its vertices, each asked by the triangle that owns it.  Branches of the tree of boxes that stay above z = margin
 * are passed over. */
#include "collide/mesh/surface.h"
#include "collide/primitive/primitives.h"

enum { MAX_POINTS_PER_GROUP = 4 };

typedef struct plane {
    const pair *p;
    const surface *s;
    manifold *out;
} plane;

static bool add_vertices_below(void *context, int t) {
    plane *h = context;
    int i[3], flag = surface_flag(h->s, t);
    surface_triangle(h->s, t, i);
    for (int k = 0; k < 3; k++) {
        if (!(flag & RELIEF_OWNS << k)) {
            continue;
        }
        v3 at = pose_point(h->p->X_ab, surface_vertex(h->s, i[k]));
        if (at.z <= h->p->margin) {
            contact_point c = {.position = {at.x, at.y, 0.5 * at.z},
                               .normal = {0, 0, -1},
                               .gap = at.z,
                               .feature = feature_pair(0, (uint32_t)i[k] << 2)};
            manifold_add(h->out, h->p->arena, &c);
        }
    }
    return !h->out->failed;
}

/* Triangles whose box reaches below z = margin, in A's frame. */
static void visit_nodes_below(plane *h) {
    const surface *s = h->s;
    const pose *X = &h->p->X_ab;
    v3 up = {X->R.x.z, X->R.y.z, X->R.z.z};
    int waiting[BVH_MAX_DEPTH + 1] = {0}, nwaiting = 1;
    while (nwaiting > 0) {
        const bvh_node *n = &s->bvh->node[waiting[--nwaiting]];
        double least = X->p.z + up.x * (up.x > 0 ? n->low[0] : n->high[0]) +
                       up.y * (up.y > 0 ? n->low[1] : n->high[1]) + up.z * (up.z > 0 ? n->low[2] : n->high[2]);
        if (least > h->p->margin) {
            continue;
        }
        if (n->count == 0) {
            waiting[nwaiting++] = n->first + 1;
            waiting[nwaiting++] = n->first;
        }
        for (int k = 0; k < n->count; k++) {
            if (!add_vertices_below(h, surface_leaf(s, n, k))) {
                return;
            }
        }
    }
}

void pair_half_space_surface(const pair *p, manifold *out) {
    if (p->b->geometry->hull) {
        half_space_convex(p, out);
        return;
    }
    surface s = surface_of(p->b->geometry);
    plane h = {p, &s, out};
    int first = out->count;
    visit_nodes_below(&h);
    manifold_reduce(p, out, first, MAX_POINTS_PER_GROUP);
}
