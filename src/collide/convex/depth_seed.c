/* Start directions for the least support of the Minkowski difference D = A - B.
 *
 * From centre to centre; the axes of boxes and cylinders, exact for contacts of faces. Then at right angles to a
 * cylinder's axis towards the other solid, and out of the sides of the last simplex. */
#include "collide/convex/minkowski.h"
#include "collide/convex/polytope.h"

static v3 between_centres(const minkowski *m) {
    v3 c = v3_sub(m->a->centre, pose_point(m->X_ab, m->b->centre));
    return v3_norm(c) > 1e-9 * (m->a->extent + m->b->extent) ? c : v3_make(1, 0, 0);
}

/* `slope`: 0 if u may well be the minimum as it is. */
static void keep_lower(const minkowski *m, v3 u, double slope, mink_direction *best) {
    double h = v3_dot(u, mink_support(m, u).d);
    if (h < best->h) {
        *best = (mink_direction){u, h, slope};
    }
}

/* Along the axes of a box or a cylinder, and at right angles to the cylinder's.  `u`: roughly the direction; `X`: NULL
 * or the solid's pose. */
static void try_normals(const minkowski *m, const convex *c, const pose *X, v3 u_outer, mink_direction *best) {
    v3 u = X ? m3_transposed_times(X->R, u_outer) : u_outer;
    v3 n[3] = {{copysign(1, u.x), 0, 0}, {0, copysign(1, u.y), 0}, {0, 0, copysign(1, u.z)}};
    double across = sqrt(u.x * u.x + u.y * u.y);
    if (c->kind == CONVEX_CYLINDER) {
        n[0] = across > 0 ? v3_make(u.x / across, u.y / across, 0) : n[0];
        n[1] = n[2];
    }
    int count = c->kind == CONVEX_BOX ? 3 : c->kind == CONVEX_CYLINDER ? 2 : 0;
    for (int k = 0; k < count; k++) {
        keep_lower(m, X ? m3_times(X->R, n[k]) : n[k], 0, best);
    }
}

mink_direction mink_first(const minkowski *m) {
    v3 u = v3_neg(v3_unit(between_centres(m)));
    mink_direction best = {u, HUGE_VAL, HUGE_VAL};
    keep_lower(m, u, HUGE_VAL, &best);
    try_normals(m, m->a, NULL, u, &best);
    try_normals(m, m->b, &m->X_ab, u, &best);
    return best;
}

void mink_weigh_sides(const minkowski *m, const gjk_result *g, mink_direction *best) {
    static const int side[4][4] = {{1, 2, 3, 0}, {0, 3, 2, 1}, {0, 1, 3, 2}, {0, 2, 1, 3}};
    for (int f = 0; f < 4; f++) {
        v3 p = g->corner[side[f][0]].d;
        v3 n = triangle_normal(p, g->corner[side[f][1]].d, g->corner[side[f][2]].d);
        double length = v3_norm(n), beyond = v3_dot(n, v3_sub(g->corner[side[f][3]].d, p));
        if (length > 0) {
            n = v3_scale((beyond > 0 ? -1 : 1) / length, n);
            if (v3_dot(n, p) < best->h) {
                keep_lower(m, n, HUGE_VAL, best);
            }
        }
    }
}
