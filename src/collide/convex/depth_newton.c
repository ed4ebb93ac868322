/* Newton's method for a minimum of the support function h of D = A - B.
 *
 * On the unit sphere h has the gradient w - h u and the Hessian W - h 1. w is the farthest point of D along u, W the
 * second derivative of h: the radii of curvature of A and B added up. h is smooth but for creases: an edge or a
 * straight side with direction c of either solid makes one along the circle c.u = 0.  A minimum therefore lies where
 * two creases cross (u = c1 x c2, exact), on one crease (Newton along the circle), or on none (Newton in the tangent
 * plane).  All three are tried, the best is kept, until nothing is gained. */
#include "collide/convex/minkowski.h"

enum { MAX_TIED_FACES = 4, MAX_SHARPENINGS = 4 };
static const double TIED_OVER_SIZE = 1e-9, STEP_ASIDE = 1e-6;
static const double TOUCHING_GRAINS = 1e6; /* grains: nearer solids all but touch */

/* The creases near a direction, and the curvature between them. */
typedef struct crease {
    int count;
    v3 along[2 * MAX_TIED_FACES];
    double off[2 * MAX_TIED_FACES]; /* how far from the crease: |c.u| */
    sym3 W;
} crease;

/* Keeps the nearest MAX_TIED_FACES of those that come after `first`. */
static void add_crease(crease *k, int first, v3 along, double off) {
    int i = k->count;
    if (i - first == MAX_TIED_FACES) {
        i--;
        if (off >= k->off[i]) {
            return;
        }
    } else {
        k->count++;
    }
    for (; i > first && k->off[i - 1] > off; i--) {
        k->along[i] = k->along[i - 1];
        k->off[i] = k->off[i - 1];
    }
    k->along[i] = along;
    k->off[i] = off;
}

static void add_edge_crease(crease *k, int first, v3 corner, v3 other, v3 u, double slack) {
    v3 e = v3_sub(corner, other);
    double length = v3_norm(e), off = v3_dot(e, u);
    if (length > 0 && off <= slack * length) {
        add_crease(k, first, v3_scale(1 / length, e), fabs(off) / length);
    }
}

static void add_hull_creases(const convex *c, v3 u, double slack, uint32_t start, int first, crease *k) {
    uint32_t best = start;
    v3 v = convex_support_from(c, u, &best);
    if (c->kind == CONVEX_TRIANGLE) {
        for (uint32_t i = 1; i < 3; i++) {
            add_edge_crease(k, first, v, c->corner[(best + i) % 3], u, slack);
        }
        return;
    }
    for (int i = c->hull->ring_start[best], end = c->hull->ring_start[best + 1]; i < end; i++) {
        add_edge_crease(k, first, v, c->hull->vertex[c->hull->ring[i]], u, slack);
    }
}

/* Curvature of the support function of a cylinder's rim and of an ellipsoid. */
static sym3 support_hessian(const convex *c, v3 u) {
    sym3 W = {0, 0, 0, 0, 0, 0};
    const double *s = c->half;
    if (c->kind == CONVEX_CYLINDER) {
        double across = sqrt(u.x * u.x + u.y * u.y);
        if (across > DBL_MIN) {
            W = sym3_rank_one(W, s[0] / across, v3_make(-u.y / across, u.x / across, 0));
        }
    } else if (c->kind == CONVEX_ELLIPSOID) {
        v3 square = {s[0] * s[0], s[1] * s[1], s[2] * s[2]}, e = {square.x * u.x, square.y * u.y, square.z * u.z};
        double h = sqrt(v3_dot(e, u));
        W = (sym3){square.x / h, square.y / h, square.z / h, 0, 0, 0};
        W = sym3_rank_one(W, -1 / (h * h * h), e);
    }
    return W;
}

/* `start`: a vertex near the farthest, of a hull. */
static void add_creases(const convex *c, m3 R, v3 u_outer, double slack, uint32_t start, crease *k) {
    v3 u = m3_transposed_times(R, u_outer);
    /* directions along which the support jumps, by the shape's edges and faces at u */
    int first = k->count;
    switch (c->kind) {
    case CONVEX_SEGMENT:
        if (fabs(u.z) <= slack) {
            add_crease(k, first, v3_make(0, 0, 1), fabs(u.z));
        }
        break;
    case CONVEX_CYLINDER:
        if (fabs(u.z) <= slack) {
            add_crease(k, first, v3_make(0, 0, 1), fabs(u.z));
        } else if (u.x * u.x + u.y * u.y <= slack * slack) {
            add_crease(k, first, v3_make(1, 0, 0), fabs(u.x));
            add_crease(k, first, v3_make(0, 1, 0), fabs(u.y));
        }
        break;
    case CONVEX_BOX:
        for (int i = 0; i < 3; i++) {
            double x = i == 0 ? u.x : i == 1 ? u.y : u.z;
            if (fabs(x) <= slack) {
                add_crease(k, first, v3_make(i == 0, i == 1, i == 2), fabs(x));
            }
        }
        break;
    case CONVEX_HULL:
    case CONVEX_TRIANGLE:
        add_hull_creases(c, u, slack, start, first, k);
        break;
    default:
        break;
    }
    /* to the outer frame */
    for (int i = first; i < k->count; i++) {
        k->along[i] = m3_times(R, k->along[i]);
    }
    /* curvature of a smooth surface */
    if (c->kind == CONVEX_CYLINDER || c->kind == CONVEX_ELLIPSOID) {
        k->W = sym3_add(k->W, sym3_rotated(R, support_hessian(c, u)));
    }
}

static void find_creases(const minkowski *m, v3 u, crease *k) {
    static const double slack = 0.15;
    *k = (crease){.count = 0};
    add_creases(m->a, m3_identity(), u, slack, m->start ? m->start[0] : 0, k);
    add_creases(m->b, m->X_ab.R, v3_neg(u), slack, m->start ? m->start[1] : 0, k);
}

bool mink_tied(const convex *c, v3 u) {
    crease k = {.count = 0};
    add_creases(c, m3_identity(), u, TIED_OVER_SIZE, 0, &k);
    return k.count > 0;
}

/* Lower, or as low within rounding and flatter. */
static bool is_better(const minkowski *m, mink_direction x, mink_direction than) {
    return x.h < than.h - m->grain || (x.h <= than.h + m->grain && x.slope < 0.5 * than.slope);
}

static void keep_if_better(const minkowski *m, mink_direction x, mink_direction *best) {
    if (is_better(m, x, *best)) {
        *best = x;
    }
}

/* `w`: a point of D; where it shows that nothing is gained, h is not asked for. */
static mink_direction cross_two_creases(const minkowski *m, v3 c, v3 d, v3 near, v3 w, double most) {
    v3 n = v3_cross(c, d);
    double length = v3_norm(n);
    if (!(length > 1e-6)) {
        return (mink_direction){near, HUGE_VAL, HUGE_VAL};
    }
    v3 u = v3_scale(copysign(1 / length, v3_dot(n, near)), n);
    if (v3_dot(u, w) > most) {
        return (mink_direction){near, HUGE_VAL, HUGE_VAL};
    }
    return (mink_direction){u, v3_dot(u, mink_support(m, u).d), 0};
}

/* One step of Newton along the circle c.u = 0, from the point of it nearest to `near`. */
static mink_direction step_along_crease(const minkowski *m, sym3 W, v3 c, v3 near, mink_direction *projected) {
    v3 u = v3_unit(v3_axpy(near, -v3_dot(near, c), c)), t = v3_cross(c, u);
    v3 w = mink_support(m, u).d;
    double g = v3_dot(w, t), h = v3_dot(w, u), H = v3_dot(t, sym3_times(W, t)) - h;
    *projected = (mink_direction){u, h, fabs(g)};
    if (!(H > 0)) {
        return *projected;
    }
    double s = min_of(max_of(-g / H, -0.3), 0.3);
    u = v3_unit(v3_axpy(u, s, t));
    t = v3_cross(c, u);
    w = mink_support(m, u).d;
    return (mink_direction){u, v3_dot(w, u), fabs(v3_dot(w, t))};
}

/* h is no less than this where the circle c.u = 0 is nearest to `near`. */
static double bound_on_circle(v3 c, v3 near, v3 w) {
    v3 u = v3_axpy(near, -v3_dot(near, c), c);
    double length = v3_norm(u);
    return length > 0 ? v3_dot(u, w) / length : -HUGE_VAL;
}

/* `w`: the farthest point along from.u. */
static mink_direction step_on_sphere(const minkowski *m, sym3 W, mink_direction from, v3 w) {
    v3 u = from.u, s = v3_perpendicular(u), t = v3_cross(u, s);
    double h = v3_dot(w, u), gs = v3_dot(w, s), gt = v3_dot(w, t);
    v3 Ws = sym3_times(W, s), Wt = sym3_times(W, t);
    double ss = v3_dot(s, Ws) - h, tt = v3_dot(t, Wt) - h, st = v3_dot(s, Wt), det = ss * tt - st * st;
    if (!(ss + tt > 0) || !(det > 1e-14 * (ss + tt) * (ss + tt))) {
        return from;
    }
    double x = -(tt * gs - st * gt) / det, y = -(ss * gt - st * gs) / det, length = sqrt(x * x + y * y);
    double cut = length > 0.3 ? 0.3 / length : 1;
    u = v3_unit(v3_axpy(v3_axpy(u, cut * x, s), cut * y, t));
    w = mink_support(m, u).d;
    h = v3_dot(w, u);
    return (mink_direction){u, h, v3_norm(v3_axpy(w, -h, u))};
}

/* The minimum of all, or for certain one. */
static bool is_settled(const minkowski *m, const mink_foot *foot) {
    return mink_is_minimum(m, foot) || (foot->strict && foot->off <= MINK_TIGHT * m->grain);
}

/* `all`: along creases too that are too high where they are nearest. */
static mink_direction try_all_creases(const minkowski *m, const crease *k, mink_direction from, int all) {
    /* corners: directions across two creases */
    mink_direction best = from, projected;
    v3 w = mink_support(m, from.u).d;
    for (int i = 0; i < k->count; i++) {
        for (int j = 0; j < i; j++) {
            mink_direction x = cross_two_creases(m, k->along[i], k->along[j], from.u, w, best.h + m->grain);
            if (is_better(m, x, best)) {
                best = x;
                mink_foot foot;
                mink_foot_of(m, x.u, &foot);
                mink_foot_prove(m, &foot);
                if (is_settled(m, &foot)) {
                    return x;
                }
            }
        }
    }
    /* smooth: a Newton step on the sphere */
    if (m->curved) {
        keep_if_better(m, step_on_sphere(m, k->W, from, w), &best);
    }
    /* edges: Newton steps along each crease */
    for (int i = 0; i < k->count; i++) {
        if (!all && bound_on_circle(k->along[i], from.u, w) > best.h + m->grain) {
            continue;
        }
        mink_direction step = step_along_crease(m, k->W, k->along[i], from.u, &projected);
        keep_if_better(m, projected, &best);
        keep_if_better(m, step, &best);
    }
    return best;
}

/* From u a little along p: does h fall there?  Then on from that side of the crease, with its farthest point. */
static void try_both_sides(const minkowski *m, const crease *k, mink_direction at, v3 p, mink_direction *best) {
    for (int side = -1; side <= 1; side += 2) {
        mink_direction x = {v3_unit(v3_axpy(at.u, side * STEP_ASIDE, p)), HUGE_VAL, HUGE_VAL}, projected;
        v3 w = mink_support(m, x.u).d;
        if (side * v3_dot(w, p) < -m->grain) {
            keep_if_better(m, step_on_sphere(m, k->W, x, w), best);
            for (int j = 0; j < k->count; j++) {
                keep_if_better(m, step_along_crease(m, k->W, k->along[j], x.u, &projected), best);
            }
        }
    }
}

/* On a crease the farthest point is that of one side, and Newton's step may have seen only the rising one. */
static mink_direction leave_creases(const minkowski *m, const crease *k, mink_direction at) {
    mink_direction best = at;
    for (int i = 0; i < k->count; i++) {
        if (k->off[i] <= TIED_OVER_SIZE) {
            try_both_sides(m, k, at, k->along[i], &best);
            if (k->count > 1) {
                try_both_sides(m, k, at, v3_cross(k->along[i], at.u), &best);
            }
        }
    }
    return best;
}

/* A step down along the shortest slope at a direction that is not stationary: by Newton's method from a little that
 * way, or by a step that lowers h. */
static mink_direction descend_steepest(const minkowski *m, const crease *k, mink_direction at, const mink_foot *foot) {
    mink_direction best = at, projected;
    v3 d = v3_axpy(v3_sub(foot->a, foot->b), -foot->h, at.u), p = v3_scale(-1 / foot->off, d);
    mink_direction x = {v3_unit(v3_axpy(at.u, STEP_ASIDE, p)), HUGE_VAL, HUGE_VAL};
    keep_if_better(m, step_on_sphere(m, k->W, x, mink_support(m, x.u).d), &best);
    for (int j = 0; j < k->count; j++) {
        keep_if_better(m, step_along_crease(m, k->W, k->along[j], x.u, &projected), &best);
    }
    for (double s = 0.1; s > 1e-8 && !is_better(m, best, at); s *= 0.1) {
        x.u = v3_unit(v3_axpy(at.u, s, p));
        x.h = v3_dot(x.u, mink_support(m, x.u).d);
        keep_if_better(m, x, &best);
    }
    return best;
}

/* A search some way on from `at`; its result may be no better. */
static mink_direction find_lower_direction(const minkowski *m, mink_direction at, mink_foot *foot) {
    crease k;
    find_creases(m, at.u, &k);
    mink_direction next = try_all_creases(m, &k, at, 0);
    if (!is_better(m, next, at)) {
        next = try_all_creases(m, &k, at, 1);
    }
    if (!is_better(m, next, at)) {
        next = leave_creases(m, &k, at);
    }
    if (!is_better(m, next, at)) {
        mink_foot_of(m, at.u, foot);
        next = foot->off > MINK_TIGHT * m->grain ? descend_steepest(m, &k, at, foot) : at;
    }
    return next;
}

/* The direction of the two that is no higher and more nearly stationary. */
static void try_foot(const minkowski *m, mink_direction x, double most, mink_direction *best, mink_foot *foot) {
    if (x.h <= most) {
        mink_foot f;
        mink_foot_of(m, x.u, &f);
        if (f.off < foot->off) {
            *best = x;
            *foot = f;
        }
    }
}

/* Where the solids all but touch, h no longer tells directions apart, but how far a - b strays from h u still does. */
static void sharpen_touching(const minkowski *m, mink_direction *at, mink_foot *foot) {
    for (int round = 0; round < MAX_SHARPENINGS; round++) {
        if (!(foot->off > max_of(2 * m->grain, STEP_ASIDE * fabs(at->h))) || fabs(at->h) > TOUCHING_GRAINS * m->grain) {
            return;
        }
        crease k;
        find_creases(m, at->u, &k);
        double off = foot->off, most = at->h + m->grain;
        v3 d = v3_axpy(v3_sub(foot->a, foot->b), -foot->h, at->u);
        mink_direction x = {v3_unit(v3_axpy(at->u, -STEP_ASIDE / off, d)), HUGE_VAL, HUGE_VAL}, best = *at, projected;
        try_foot(m, step_on_sphere(m, k.W, x, mink_support(m, x.u).d), most, &best, foot);
        for (int j = 0; j < k.count; j++) {
            try_foot(m, step_along_crease(m, k.W, k.along[j], x.u, &projected), most, &best, foot);
        }
        *at = best;
        if (foot->off > 0.5 * off) {
            return;
        }
    }
}

static int walk_downhill(const minkowski *m, int rounds, mink_direction *at, mink_foot *foot) {
    int round = 0;
    for (; round < rounds && -at->h <= m->far; round++) {
        if (at->slope <= MINK_TIGHT * m->grain) {
            mink_foot_of(m, at->u, foot);
            mink_foot_prove(m, foot);
            if (is_settled(m, foot)) {
                return round;
            }
            at->slope = round ? at->slope : foot->off; /* it had only been hoped for */
        }
        mink_direction next = find_lower_direction(m, *at, foot);
        if (!is_better(m, next, *at)) {
            break;
        }
        *at = next;
    }
    mink_foot_of(m, at->u, foot);
    mink_foot_prove(m, foot);
    return round;
}

int mink_polish(const minkowski *m, int rounds, mink_direction *at, mink_foot *foot) {
    int count = walk_downhill(m, rounds, at, foot);
    double off = foot->off;
    if (m->curved) {
        sharpen_touching(m, at, foot);
    }
    if (foot->off < off) {
        mink_foot_prove(m, foot);
    }
    return count;
}
