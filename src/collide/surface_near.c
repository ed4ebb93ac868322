/* Which triangles of one surface are near another? */
#include "collide/surface_side.h"

void box_over(const pose *X, v3 low, v3 high, double grow, v3 *to_low, v3 *to_high) {
    v3 c = pose_point(*X, v3_scale(0.5, v3_add(low, high))), h = v3_scale(0.5, v3_sub(high, low));
    const m3 *R = &X->R;
    v3 half = {fabs(R->x.x) * h.x + fabs(R->y.x) * h.y + fabs(R->z.x) * h.z + grow,
               fabs(R->x.y) * h.x + fabs(R->y.y) * h.y + fabs(R->z.y) * h.z + grow,
               fabs(R->x.z) * h.x + fabs(R->y.z) * h.y + fabs(R->z.z) * h.z + grow};
    *to_low = v3_sub(c, half);
    *to_high = v3_add(c, half);
}

int box_reaches(v3 low, v3 high, const surface *s) {
    return low.x <= s->high.x && high.x >= s->low.x && low.y <= s->high.y && high.y >= s->low.y && low.z <= s->high.z &&
           (s->heights || high.z >= s->low.z);
}

static int found_one(void *context, int t) {
    (void)t;
    *(int *)context = 1;
    return 0;
}

int box_meets(const surface *s, int of, v3 low, v3 high) {
    int found = 0;
    surface_some_in_box(s, of, low, high, found_one, &found);
    return found;
}

void surface_near(const surface *a, int of, const surface *b, const pose *X_ab, double margin, leaf_visit *visit,
                  void *context) {
    pose back = pose_inverse(*X_ab);
    int waiting[BVH_MAX_DEPTH + 1] = {0}, nwaiting = 1;
    while (nwaiting > 0) {
        int at = waiting[--nwaiting];
        const sim_bvh_node *n = &a->bvh->node[at];
        v3 low, high;
        if (of && !(a->relief->node[at] & of)) {
            continue;
        }
        box_over(&back, node_low(n), node_high(n), margin, &low, &high);
        if (!box_reaches(low, high, b) || !box_meets(b, of, low, high)) {
            continue;
        }
        if (n->count == 0) {
            waiting[nwaiting++] = n->first + 1;
            waiting[nwaiting++] = n->first;
            continue;
        }
        if (!visit(context, n, low, high)) {
            return;
        }
    }
}
