/* Contact of two convex solids without a closed formula.
 *
 * Signed distance and normal by convex_distance, the points by clipping the faces that look at each other
 * (convex_manifold). */
#include "collide/convex/convex.h"

void pair_convex(const pair *p, manifold *out) {
    convex a, b;
    convex_gap gap;
    v3 parting = p->parting ? *p->parting : v3_make(0, 0, 0);
    if (!convex_of_shape(p->a, &a) || !convex_of_shape(p->b, &b)) {
        return;
    }
    if (convex_distance(&a, &b, &p->X_ab, p->margin, parting, &gap)) {
        convex_manifold(p, &a, &b, &gap, out);
        gap.normal = v3_make(0, 0, 0);
    }
    if (p->parting) {
        *p->parting = gap.normal;
    }
}
