/* Triangles of one surface near another: candidates from bounding volume hierarchies (BVH).
 *
 * The tree of surface A is descended.  The box of each node, grown by the margin, is taken into the frame of B (half
 * edges |R| h).  A node lists the nodes of B of about its size that meet it.  The lists of its children begin from that
 * list.  A node without list ends the descent.  Cost: proportional to the pairs of nodes that meet. */
#include "collide/mesh/surface_side.h"

void box_over(const pose *X, v3 low, v3 high, double grow, v3 *to_low, v3 *to_high) {
    v3 c = pose_point(*X, v3_scale(0.5, v3_add(low, high))), h = v3_scale(0.5, v3_sub(high, low));
    const m3 *R = &X->R;
    v3 half = {fabs(R->x.x) * h.x + fabs(R->y.x) * h.y + fabs(R->z.x) * h.z + grow,
               fabs(R->x.y) * h.x + fabs(R->y.y) * h.y + fabs(R->z.y) * h.z + grow,
               fabs(R->x.z) * h.x + fabs(R->y.z) * h.y + fabs(R->z.z) * h.z + grow};
    *to_low = v3_sub(c, half);
    *to_high = v3_add(c, half);
}

bool box_reaches(v3 low, v3 high, const surface *s) {
    return low.x <= s->high.x && high.x >= s->low.x && low.y <= s->high.y && high.y >= s->low.y && low.z <= s->high.z &&
           (s->heights || high.z >= s->low.z);
}

static bool found_one(void *context, int t) {
    (void)t;
    *(bool *)context = true;
    return false;
}

bool box_meets(const surface *s, v3 low, v3 high) {
    bool found = false;
    surface_in_box(s, low, high, found_one, &found);
    return found;
}

/* ---- lists ---- */

enum { SMALL_TREE_NODES = 1000 }; /* nodes: such a tree is gone down as quickly from its root */

static float longest_side(const float low[3], const float high[3]) {
    float x = high[0] - low[0], y = high[1] - low[1], z = high[2] - low[2];
    return x > y ? (x > z ? x : z) : y > z ? y : z;
}

/* The nodes under `root` that meet the box, no larger than `size`; returns how many, or -1 if there is no room. */
static int choose_under(const near_list *from, int root, const bvh_box *box, float size, int *to, int room) {
    const sim_bvh *bvh = from->of->bvh;
    int waiting[BVH_MAX_DEPTH + 1], nwaiting = 1, count = 0;
    waiting[0] = root;
    while (nwaiting > 0) {
        int at = waiting[--nwaiting];
        const bvh_node *n = &bvh->node[at];
        if (!bvh_box_meets(n, box) || (from->bits && !(from->of->relief->node[at] & from->bits))) {
            continue;
        }
        if (n->count == 0 && longest_side(n->low, n->high) > size) {
            waiting[nwaiting++] = n->first + 1;
            waiting[nwaiting++] = n->first;
        } else if (count == room) {
            return -1;
        } else {
            to[count++] = at;
        }
    }
    return count;
}

near_list near_choose(const near_list *from, v3 low, v3 high, int *to, int room) {
    near_list out = *from;
    bvh_box box = bvh_box_of(low, high);
    float size = longest_side(box.low, box.high);
    if (from->of->heights) {
        out.count = from->count && box_meets(from->of, low, high);
        return out;
    }
    if (from->of->bvh->nnode <= SMALL_TREE_NODES) {
        out.count = near_meets(from, low, high) ? from->count : 0;
        return out;
    }
    out.node = to;
    out.count = 0;
    for (int k = 0; k < from->count; k++) {
        int more = choose_under(from, from->node[k], &box, size, to + out.count, room - out.count);
        if (more < 0) { /* no room: the whole list does as well */
            return *from;
        }
        out.count += more;
    }
    return out;
}

void near_in_box(const near_list *list, v3 low, v3 high, bvh_visit *visit, void *context) {
    const surface *s = list->of;
    if (s->heights) {
        surface_in_box(s, low, high, visit, context);
        return;
    }
    for (int k = 0; k < list->count; k++) {
        bvh_in_box(s->bvh, list->node[k], list->bits ? s->relief->node : NULL, list->bits, low, high, visit, context);
    }
}

bool near_meets(const near_list *list, v3 low, v3 high) {
    bool found = false;
    for (int k = 0; k < list->count && !found && !list->of->heights; k++) {
        bvh_in_box(list->of->bvh, list->node[k], NULL, 0, low, high, found_one, &found);
    }
    return found || (list->of->heights && list->count && box_meets(list->of, low, high));
}

void surface_near(const surface *a, int bits, const surface *b, const pose *X_ab, double margin, leaf_visit *visit,
                  void *context) {
    static const int root = 0;
    pose back = pose_inverse(*X_ab);
    int buffer[NEAR_ROOM], nwaiting = 1;
    struct {
        int node, used; /* of the buffer */
        near_list near;
    } waiting[BVH_MAX_DEPTH + 1] = {{0, 0, {b, bits, &root, 1}}};
    while (nwaiting > 0) {
        int at = waiting[--nwaiting].node, used = waiting[nwaiting].used;
        const bvh_node *n = &a->bvh->node[at];
        v3 low, high;
        if (bits && !(a->relief->node[at] & bits)) {
            continue;
        }
        box_over(&back, node_low(n), node_high(n), margin, &low, &high);
        near_list near = near_choose(&waiting[nwaiting].near, low, high, buffer + used, NEAR_ROOM - used);
        if (near.count == 0) {
            continue;
        }
        if (n->count && !visit(context, n, low, high, &near)) {
            return;
        }
        used += near.node == buffer + used ? near.count : 0;
        for (int k = 1; k >= 0 && n->count == 0; k--) {
            waiting[nwaiting].node = n->first + k;
            waiting[nwaiting].used = used;
            waiting[nwaiting++].near = near;
        }
    }
}
