/* How do two solids that overlap in no simple way come apart?
 *
 * The overlap V changes, as A moves by dx, by dV = S . dx, where S is the area vector of the part of A's surface inside B.
 * It hangs on the rim of that part alone, the curve in which the surfaces cut each other:
 *     S = 1/2 (closed integral of) x cross dx, along n_A x n_B
 * (Stokes), a sum over the segments in which triangles cut each other.  A leaves along -S, by as much as the overlap reaches
 * that way (from what of A is inside to what of B is), but by no more than twice the depth of the deepest vertex. */
#include "collide/surface_side.h"

#include <float.h>

typedef struct overlap {
    const pair *p;
    const surface *a, *b;
    pose X_ba;
    v3 origin;
    v3 area;
    v3 corner[3];         /* of the triangle of A */
    v3 normal;            /* its plane in B's frame: normal.x = offset, */
    double offset, grain; /* up to rounding: of the plane, */
    double rounding;      /* of places */
    manifold cuts;        /* position and normal: the ends of a segment */
} overlap;

/* Where the edge from u to v goes through a triangle; 0 if it does not. */
static int pierces(v3 u, v3 v, const v3 c[3], v3 *x) {
    v3 n = v3_cross(v3_sub(c[1], c[0]), v3_sub(c[2], c[0]));
    double du = v3_dot(n, v3_sub(u, c[0])), dv = v3_dot(n, v3_sub(v, c[0]));
    if ((du > 0) == (dv > 0) || du == dv) {
        return 0;
    }
    *x = v3_axpy(u, du / (du - dv), v3_sub(v, u));
    for (int k = 0; k < 3; k++) {
        if (v3_dot(n, v3_cross(v3_sub(c[(k + 1) % 3], c[k]), v3_sub(*x, c[k]))) < 0) {
            return 0;
        }
    }
    return 1;
}

static int on_one_side(const overlap *o, const v3 d[3]) {
    double x = v3_dot(o->normal, d[0]) - o->offset, y = v3_dot(o->normal, d[1]) - o->offset,
           z = v3_dot(o->normal, d[2]) - o->offset;
    return least_of(x, y, z) > o->grain || most_of(x, y, z) < -o->grain;
}

static int visit_b(void *context, int t) {
    overlap *o = context;
    v3 d[3], x[6];
    int count = 0;
    surface_corners(o->b, t, d);
    if (on_one_side(o, d)) {
        return 1;
    }
    for (int k = 0; k < 3; k++) {
        d[k] = pose_point(o->p->X_ab, d[k]);
    }
    for (int k = 0; k < 3; k++) {
        count += pierces(o->corner[k], o->corner[(k + 1) % 3], d, &x[count]);
    }
    for (int k = 0; k < 3; k++) {
        count += pierces(d[k], d[(k + 1) % 3], o->corner, &x[count]);
    }
    if (count != 2) {
        return 1; /* not at all, or only just */
    }
    v3 na = v3_cross(v3_sub(o->corner[1], o->corner[0]), v3_sub(o->corner[2], o->corner[0]));
    v3 nb = v3_cross(v3_sub(d[1], d[0]), v3_sub(d[2], d[0]));
    int forward = v3_dot(v3_cross(na, nb), v3_sub(x[1], x[0])) > 0;
    contact_point cut = {.position = forward ? x[0] : x[1], .normal = forward ? x[1] : x[0]};
    o->area = v3_axpy(o->area, 0.5, v3_cross(v3_sub(cut.position, o->origin), v3_sub(cut.normal, cut.position)));
    manifold_add(&o->cuts, o->p->arena, &cut);
    return !o->cuts.failed;
}

static int visit_a(void *context, const sim_bvh_node *leaf, v3 low, v3 high, const near_list *near) {
    (void)low, (void)high;
    overlap *o = context;
    for (int k = 0; k < leaf->count; k++) {
        v3 x[3], l, h;
        surface_corners(o->a, surface_leaf(o->a, leaf, k), o->corner);
        for (int c = 0; c < 3; c++) {
            x[c] = pose_point(o->X_ba, o->corner[c]);
        }
        bounds_of_corners(x, &l, &h);
        o->normal = v3_cross(v3_sub(x[1], x[0]), v3_sub(x[2], x[0]));
        o->offset = v3_dot(o->normal, x[0]);
        o->grain = o->rounding * v3_norm(o->normal);
        near_in_box(near, l, h, visit_b, o);
    }
    return !o->cuts.failed;
}

static void reach_to(v3 x, v3 n, double *from, double *to) {
    double h = v3_dot(n, x);
    *from = fmin(*from, h);
    *to = fmax(*to, h);
}

void surface_overlap(const pair *p, const surface *a, const surface *b, const manifold *inside, manifold *out) {
    overlap o = {.p = p, .a = a, .b = b, .X_ba = pose_inverse(p->X_ab)};
    o.origin = v3_scale(0.5, v3_add(a->low, a->high));
    o.rounding = 1e-12 * (v3_norm(v3_sub(a->high, a->low)) + v3_norm(v3_sub(b->high, b->low)) + v3_norm(p->X_ab.p));
    surface_near(a, 0, b, &p->X_ab, 0, visit_a, &o);
    int deepest = -1;
    for (int k = 0; k < inside->count; k++) {
        deepest = deepest < 0 || inside->point[k].gap < inside->point[deepest].gap ? k : deepest;
    }
    double size = v3_norm(o.area);
    if (o.cuts.failed) {
        out->failed = 1;
    } else if (o.cuts.count && size > DBL_MIN) {
        v3 n = v3_scale(-1 / size, o.area), sum = {0, 0, 0};
        double from = HUGE_VAL, to = -HUGE_VAL;
        for (int k = 0; k < o.cuts.count; k++) {
            reach_to(o.cuts.point[k].position, n, &from, &to);
            sum = v3_axpy(sum, 1.0 / o.cuts.count, o.cuts.point[k].position);
        }
        for (int k = 0; k < inside->count; k++) { /* the vertex, and the place of the other surface next to it */
            const contact_point *c = &inside->point[k];
            reach_to(v3_axpy(c->position, 0.5 * c->gap, c->normal), n, &from, &to);
            reach_to(v3_axpy(c->position, -0.5 * c->gap, c->normal), n, &from, &to);
        }
        double depth = to - from, least = deepest >= 0 ? inside->point[deepest].gap : -HUGE_VAL;
        v3 middle = v3_axpy(sum, 0.5 * (from + to) - v3_dot(n, sum), n);
        if (depth > -2 * least) { /* several places overlap, far from each other: the deepest alone */
            depth = -2 * least;
            middle = inside->point[deepest].position;
        }
        contact_point c = {.position = middle, .normal = n, .gap = -depth, .feature = feature_pair(3, 3)};
        manifold_add(out, p->arena, &c);
    } else if (deepest >= 0) {
        manifold_add(out, p->arena, &inside->point[deepest]);
    }
}
