/* Proof that a direction u minimises the support function h of D = A - B, locally and globally.
 *
 * The farthest points of A along u and of B against u are each a point, a segment, a polygon or a disc at right angles
 * to u.  Seen along u they have a place in common exactly if h u is a point of D, and then u is stationary: points a of
 * A and b of B with a - b = h u.  That settles it for the whole sphere:
 *
 *   - apart (h < 0): |a - b| is no less than the distance, -h no more.
 *   - overlapping, a ball of radius h about b that lies in A: D holds A - b, so it holds the ball of radius h about the
 *     origin, and h is nowhere less.  The same with a in B.
 *   - overlapping, with an ellipsoid of semi-axes s: a ball of radius min(s)^2 / max(s) rolls freely inside it.  So the
 *     ellipsoid is the sum of such a ball and a convex set, and so is D, with the sum of the radii (W. Blaschke, Kreis
 *     und Kugel, 1916, section 24).  If h <= that sum, the ball that touches h u holds the one about the origin.
 *     Else the ball about b may be smaller by the radius that rolls in B, with b moved inwards by that radius.
 *
 * Among the places in common one in the middle is taken, for the sake of the balls.
 *
 * Cost: a support patch of both solids, and the clipping of one by the other. */
#include "collide/convex/minkowski.h"

static const double TIED_OVER_SIZE = 1e-9, INNER_OVER_SIZE = 1e-6;

enum { MAX_CORNERS = FACE_CORNERS, MAX_CLIPPED_CORNERS = 2 * FACE_CORNERS };

typedef struct spot {
    double x, y;
} spot;

/* The farthest points of one solid. */
typedef struct patch {
    int count; /* corners; 1: a point, 2: a segment */
    v3 corner[MAX_CORNERS];
    spot at[MAX_CORNERS];
    bool disc; /* then one corner, its centre */
    v3 axis;
    double radius;
} patch;

static void add_patch_corner(patch *f, const pose *X, v3 x) {
    if (f->count < MAX_CORNERS) {
        f->corner[f->count++] = X ? pose_point(*X, x) : x;
    }
}

static void box_patch(const convex *c, const pose *X, v3 u, patch *f) {
    const double *h = c->half;
    v3 x = {u.x > 0 ? h[0] : -h[0], u.y > 0 ? h[1] : -h[1], u.z > 0 ? h[2] : -h[2]};
    int tx = fabs(u.x) <= TIED_OVER_SIZE, ty = fabs(u.y) <= TIED_OVER_SIZE, tz = fabs(u.z) <= TIED_OVER_SIZE;
    v3 one = {tx ? -x.x : x.x, !tx && ty ? -x.y : x.y, !tx && !ty && tz ? -x.z : x.z};
    add_patch_corner(f, X, x);
    if (tx + ty + tz > 0) {
        add_patch_corner(f, X, one);
    }
    if (tx + ty + tz > 1) {
        v3 other = {tx ? -x.x : x.x, ty ? -x.y : x.y, tz ? -x.z : x.z};
        add_patch_corner(f, X, other);
        v3 last = {x.x, tx && ty ? -x.y : x.y, tz ? -x.z : x.z};
        add_patch_corner(f, X, last);
    }
}

static void cylinder_patch(const convex *c, const pose *X, v3 u, patch *f) {
    const double *h = c->half;
    double across = sqrt(u.x * u.x + u.y * u.y);
    if (across <= TIED_OVER_SIZE) {
        add_patch_corner(f, X, v3_make(0, 0, copysign(h[2], u.z)));
        f->disc = true;
        f->radius = h[0];
        f->axis = X ? X->R.z : v3_make(0, 0, 1);
        return;
    }
    v3 x = {h[0] / across * u.x, h[0] / across * u.y, copysign(h[2], u.z)};
    add_patch_corner(f, X, x);
    if (fabs(u.z) <= TIED_OVER_SIZE) {
        x.z = -x.z;
        add_patch_corner(f, X, x);
    }
}

static void hull_patch(const convex *c, const pose *X, v3 u, uint32_t *start, patch *f) {
    /* edges of the support vertex that are level across u */
    const sim_hull *hull = c->hull;
    v3 x = convex_support_from(c, u, start);
    int v = (int)*start, ties = 0, other = 0;
    for (int k = hull->ring_start[v]; k < hull->ring_start[v + 1]; k++) {
        v3 e = v3_sub(x, hull->vertex[hull->ring[k]]);
        double off = v3_dot(u, e);
        if (off <= 0 || off * off <= TIED_OVER_SIZE * TIED_OVER_SIZE * v3_dot(e, e)) {
            ties++;
            other = hull->ring[k];
        }
    }
    /* the patch is a vertex or an edge */
    if (ties < 2) {
        add_patch_corner(f, X, x);
        if (ties) {
            add_patch_corner(f, X, hull->vertex[other]);
        }
        return;
    }
    /* the patch is the face whose normal is nearest to u */
    int best = 0;
    double most = -2;
    for (int k = 0; k < hull->nface; k++) {
        double s = v3_dot(u, hull->normal[k]);
        best = s > most ? k : best;
        most = max_of(s, most);
    }
    for (int k = hull->face_start[best]; k < hull->face_start[best + 1]; k++) {
        add_patch_corner(f, X, hull->vertex[hull->loop[k]]);
    }
}

static void triangle_patch(const convex *c, const pose *X, v3 u, patch *f) {
    double s[3] = {v3_dot(u, c->corner[0]), v3_dot(u, c->corner[1]), v3_dot(u, c->corner[2])};
    double top = max_of(s[0], max_of(s[1], s[2])), slack = TIED_OVER_SIZE * c->extent;
    for (int k = 0; k < 3; k++) {
        if (s[k] >= top - slack) {
            add_patch_corner(f, X, c->corner[k]);
        }
    }
}

/* `u` and what comes out in the frame in which X places the solid (NULL: in its own). */
static void find_support_patch(const convex *c, const pose *X, v3 u_outer, uint32_t *start, patch *f) {
    v3 u = X ? m3_transposed_times(X->R, u_outer) : u_outer;
    f->count = f->disc = false;
    switch (c->kind) {
    case CONVEX_SEGMENT:
        add_patch_corner(f, X, v3_make(0, 0, copysign(c->half[2], u.z)));
        if (fabs(u.z) <= TIED_OVER_SIZE) {
            add_patch_corner(f, X, v3_make(0, 0, -copysign(c->half[2], u.z)));
        }
        return;
    case CONVEX_BOX:
        box_patch(c, X, u, f);
        return;
    case CONVEX_CYLINDER:
        cylinder_patch(c, X, u, f);
        return;
    case CONVEX_HULL:
        hull_patch(c, X, u, start, f);
        return;
    case CONVEX_TRIANGLE:
        triangle_patch(c, X, u, f);
        return;
    default:
        add_patch_corner(f, X, convex_support_from(c, u, start));
    }
}

/* ---- places seen along u ---- */

static spot subtract_spots(spot a, spot b) { return (spot){a.x - b.x, a.y - b.y}; }
static spot interpolate_spots(spot a, spot b, double t) { return (spot){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)}; }
static double dot_spots(spot a, spot b) { return a.x * b.x + a.y * b.y; }
static double cross_spots(spot a, spot b) { return a.x * b.y - a.y * b.x; }

static double clamp_to_unit(double t) { return min_of(max_of(t, 0), 1); }

static double nearest_parameter(spot a, spot b, spot c) {
    spot e = subtract_spots(b, a);
    double length = dot_spots(e, e);
    return length > 0 ? clamp_to_unit(dot_spots(subtract_spots(c, a), e) / length) : 0;
}

/* Makes it anticlockwise. */
static void make_anticlockwise(patch *f) {
    double area = 0;
    for (int k = 2; k < f->count; k++) {
        area += cross_spots(subtract_spots(f->at[k - 1], f->at[0]), subtract_spots(f->at[k], f->at[0]));
    }
    for (int i = 0, j = f->count - 1; area < 0 && i < j; i++, j--) {
        v3 x = f->corner[i];
        spot at = f->at[i];
        f->corner[i] = f->corner[j];
        f->at[i] = f->at[j];
        f->corner[j] = x;
        f->at[j] = at;
    }
}

static spot nearest_spot(const patch *f, spot c) {
    /* of a disc */
    spot best = f->at[0];
    double square = HUGE_VAL;
    if (f->disc) {
        spot d = subtract_spots(c, best);
        double length = sqrt(dot_spots(d, d));
        return length > f->radius ? interpolate_spots(best, c, f->radius / length) : c;
    }
    /* of a convex polygon: inside, or the nearest of its edges */
    int inside = f->count > 2;
    for (int k = 0; k < f->count; k++) {
        spot a = f->at[k], b = f->at[k + 1 < f->count ? k + 1 : 0], e = subtract_spots(b, a);
        if (inside && cross_spots(e, subtract_spots(c, a)) >= 0) {
            continue;
        }
        inside = 0;
        spot x = interpolate_spots(a, b, nearest_parameter(a, b, c)), d = subtract_spots(c, x);
        if (dot_spots(d, d) < square) {
            square = dot_spots(d, d);
            best = x;
        }
    }
    return inside ? c : best;
}

/* The part of a segment within f, from t[0] to t[1]; false: none. */
static bool clip_segment(const patch *f, spot a, spot b, double t[2]) {
    spot e = subtract_spots(b, a);
    t[0] = 0;
    t[1] = 1;
    /* a disc: both roots of a quadratic */
    if (f->disc) {
        spot d = subtract_spots(a, f->at[0]);
        double ee = dot_spots(e, e), half = dot_spots(d, e),
               D = half * half - ee * (dot_spots(d, d) - f->radius * f->radius);
        if (!(D > 0) || !(ee > 0)) {
            return false;
        }
        t[0] = max_of(0, (-half - sqrt(D)) / ee);
        t[1] = min_of(1, (-half + sqrt(D)) / ee);
        return t[0] <= t[1];
    }
    /* a polygon: Cyrus-Beck clipping, edge by edge */
    for (int k = 0; k < f->count; k++) {
        spot o = f->at[k], g = subtract_spots(f->at[k + 1 < f->count ? k + 1 : 0], o);
        double from = cross_spots(g, subtract_spots(a, o)), rise = cross_spots(g, e);
        if (rise > 0) {
            t[0] = max_of(t[0], -from / rise);
        } else if (rise < 0) {
            t[1] = min_of(t[1], -from / rise);
        } else if (from < 0) {
            return false;
        }
    }
    return t[0] <= t[1];
}

static bool is_inner(double t) { return t > INNER_OVER_SIZE && t < 1 - INNER_OVER_SIZE; }

/* `strict`: they cross. */
static spot common_spot_of_segments(const patch *f, const patch *g, int *strict) {
    spot a = f->at[0], b = f->at[1], e = subtract_spots(b, a), k = subtract_spots(g->at[1], g->at[0]),
         d = subtract_spots(g->at[0], a);
    double cross = cross_spots(e, k), ee = dot_spots(e, e), kk = dot_spots(k, k);
    if (cross * cross > 1e-12 * ee * kk) {
        double t = cross_spots(d, k) / cross;
        *strict = is_inner(t) && is_inner(cross_spots(d, e) / cross);
        return interpolate_spots(a, b, clamp_to_unit(t));
    }
    double s = nearest_parameter(a, b, g->at[0]), t = nearest_parameter(a, b, g->at[1]);
    return interpolate_spots(a, b, 0.5 * (s + t));
}

/* Corners of f clipped by the edges of g; the middle of what is left. */
static bool clip_polygons(const patch *f, const patch *g, spot *out) {
    /* Sutherland-Hodgman clipping */
    spot room[2][MAX_CLIPPED_CORNERS + 2], *from = room[0], *to = room[1];
    int count = f->count;
    for (int k = 0; k < count; k++) {
        from[k] = f->at[k];
    }
    for (int k = 0; k < g->count && count; k++) {
        spot o = g->at[k], e = subtract_spots(g->at[k + 1 < g->count ? k + 1 : 0], o);
        int kept = 0;
        for (int i = 0; i < count; i++) {
            spot a = from[i], b = from[i + 1 < count ? i + 1 : 0];
            double ha = cross_spots(e, subtract_spots(a, o)), hb = cross_spots(e, subtract_spots(b, o));
            if (ha >= 0 && kept < MAX_CLIPPED_CORNERS) {
                to[kept++] = a;
            }
            if ((ha < 0) != (hb < 0) && kept < MAX_CLIPPED_CORNERS) {
                to[kept++] = interpolate_spots(a, b, ha / (ha - hb));
            }
        }
        spot *swap = from;
        from = to;
        to = swap;
        count = kept;
    }
    /* mean of the corners */
    *out = (spot){0, 0};
    for (int k = 0; k < count; k++) {
        out->x += from[k].x / count;
        out->y += from[k].y / count;
    }
    return count > 0;
}

static spot patch_middle(const patch *f) {
    spot m = {0, 0};
    for (int k = 0; k < f->count; k++) {
        m.x += f->at[k].x / f->count;
        m.y += f->at[k].y / f->count;
    }
    return m;
}

/* A disc g and a disc or a polygon f. */
static spot common_spot_with_disc(const patch *f, const patch *g) {
    spot c = g->at[0];
    if (f->disc) { /* along the line of the centres */
        spot d = subtract_spots(f->at[0], c);
        double length = sqrt(dot_spots(d, d)), low = max_of(-g->radius, length - f->radius),
               high = min_of(g->radius, length + f->radius);
        return length > 0 ? interpolate_spots(c, f->at[0], 0.5 * (low + high) / length) : c;
    }
    spot near = nearest_spot(f, c), m = patch_middle(f);
    double t[2];
    if (clip_segment(g, near, m, t)) {
        return interpolate_spots(near, m, 0.5 * t[1]);
    }
    return near;
}

/* Is c well within a disc or a polygon? */
static bool is_well_within(const patch *f, spot c) {
    if (f->disc) {
        spot d = subtract_spots(c, f->at[0]);
        return sqrt(dot_spots(d, d)) < (1 - INNER_OVER_SIZE) * f->radius;
    }
    for (int k = 0; k < f->count; k++) {
        spot e = subtract_spots(f->at[k + 1 < f->count ? k + 1 : 0], f->at[k]);
        if (cross_spots(e, subtract_spots(c, f->at[k])) <= INNER_OVER_SIZE * dot_spots(e, e)) {
            return false;
        }
    }
    return f->count > 2;
}

static spot find_common_spot(const patch *f, const patch *g, int *strict) {
    /* points */
    double t[2];
    spot out;
    if (f->count == 1 && !f->disc) {
        *strict = is_well_within(g, f->at[0]);
        return f->at[0];
    }
    if (g->count == 1 && !g->disc) {
        *strict = is_well_within(f, g->at[0]);
        return g->at[0];
    }
    /* segments */
    if (f->count == 2 && g->count == 2) {
        return common_spot_of_segments(f, g, strict);
    }
    if (f->count == 2 || g->count == 2) {
        const patch *s = f->count == 2 ? f : g, *other = f->count == 2 ? g : f;
        return clip_segment(other, s->at[0], s->at[1], t)
                   ? interpolate_spots(s->at[0], s->at[1], 0.5 * (t[0] + t[1]))
                   : nearest_spot(other, interpolate_spots(s->at[0], s->at[1], 0.5));
    }
    /* discs and polygons */
    if (f->disc || g->disc) {
        return g->disc ? common_spot_with_disc(f, g) : common_spot_with_disc(g, f);
    }
    return clip_polygons(f, g, &out) ? out : nearest_spot(g, patch_middle(f));
}

/* The point of the patch over the place nearest to c: always a convex combination of its corners. */
static v3 point_over(const patch *f, spot c, v3 ex, v3 ey) {
    if (f->count == 1 && !f->disc) {
        return f->corner[0];
    }
    c = nearest_spot(f, c);
    if (f->disc) {
        spot d = subtract_spots(c, f->at[0]);
        v3 e = v3_axpy(v3_scale(d.x, ex), d.y, ey);
        return v3_add(f->corner[0], v3_axpy(e, -v3_dot(e, f->axis), f->axis));
    }
    if (f->count == 2) {
        return v3_axpy(f->corner[0], nearest_parameter(f->at[0], f->at[1], c), v3_sub(f->corner[1], f->corner[0]));
    }
    spot d = subtract_spots(c, f->at[0]);
    int k = 1; /* the triangle of the fan that holds it */
    while (k + 2 < f->count && cross_spots(subtract_spots(f->at[k + 1], f->at[0]), d) > 0) {
        k++;
    }
    spot a = subtract_spots(f->at[k], f->at[0]), b = subtract_spots(f->at[k + 1], f->at[0]);
    double area = cross_spots(a, b), s = area > 0 ? clamp_to_unit(cross_spots(d, b) / area) : 0,
           t = area > 0 ? clamp_to_unit(cross_spots(a, d) / area) : 0;
    double sum = max_of(s + t, 1);
    v3 x = v3_axpy(f->corner[0], s / sum, v3_sub(f->corner[k], f->corner[0]));
    return v3_axpy(x, t / sum, v3_sub(f->corner[k + 1], f->corner[0]));
}

static void project_patch(patch *f, v3 origin, v3 ex, v3 ey) {
    for (int k = 0; k < f->count; k++) {
        v3 d = v3_sub(f->corner[k], origin);
        f->at[k] = (spot){v3_dot(ex, d), v3_dot(ey, d)};
    }
    if (f->count > 2) {
        make_anticlockwise(f);
    }
}

/* ---- balls ---- */

/* The greatest ball about a point that is known to lie in the core, its radius; negative outside. */
static double ball_within(const convex *c, v3 x) {
    const double *h = c->half;
    double r = HUGE_VAL;
    switch (c->kind) {
    case CONVEX_BOX:
        return min_of(h[0] - fabs(x.x), min_of(h[1] - fabs(x.y), h[2] - fabs(x.z)));
    case CONVEX_CYLINDER:
        return min_of(h[0] - sqrt(x.x * x.x + x.y * x.y), h[2] - fabs(x.z));
    case CONVEX_HULL:
        for (int f = 0; f < c->hull->nface; f++) {
            r = min_of(r, c->hull->offset[f] - v3_dot(c->hull->normal[f], x));
        }
        return r;
    default:
        return -HUGE_VAL;
    }
}

static double rolling_radius(const convex *c) {
    const double *s = c->half;
    if (c->kind != CONVEX_ELLIPSOID) {
        return 0;
    }
    double least = min_of(s[0], min_of(s[1], s[2]));
    return least * least / max_of(s[0], max_of(s[1], s[2]));
}

double mink_rolling(const minkowski *m) { return rolling_radius(m->a) + rolling_radius(m->b); }

static double max_along(const patch *f, v3 u) {
    double top = v3_dot(u, f->corner[0]);
    for (int k = 1; k < f->count; k++) {
        top = max_of(top, v3_dot(u, f->corner[k]));
    }
    return top;
}

void mink_foot_of(const minkowski *m, v3 u, mink_foot *out) {
    /* support patches of both shapes */
    patch fa, fb;
    uint32_t start[2] = {m->start ? m->start[0] : 0, m->start ? m->start[1] : 0};
    find_support_patch(m->a, NULL, u, &start[0], &fa);
    find_support_patch(m->b, &m->X_ab, v3_neg(u), &start[1], &fb);
    v3 a = fa.corner[0], b = fb.corner[0];
    out->strict = 0;
    /* their common point, seen along u */
    if (fa.count > 1 || fb.count > 1 || fa.disc || fb.disc) {
        v3 ex = v3_perpendicular(u), ey = v3_cross(u, ex), origin = a;
        project_patch(&fa, origin, ex, ey);
        project_patch(&fb, origin, ex, ey);
        spot c = find_common_spot(&fa, &fb, &out->strict);
        a = point_over(&fa, c, ex, ey);
        b = point_over(&fb, c, ex, ey);
    }
    /* support h along u, distance of a - b from h u, and the bound -|a - b| */
    v3 d = v3_sub(a, b);
    out->a = a;
    out->b = b;
    out->h = max_along(&fa, u) + max_along(&fb, v3_neg(u));
    out->off = v3_norm(v3_axpy(d, -out->h, u));
    out->below = -v3_norm(d);
}

void mink_foot_prove(const minkowski *m, mink_foot *f) {
    if (f->h <= 0 || f->off > MINK_TIGHT * m->grain) {
        return;
    }
    double ra = rolling_radius(m->a), rb = rolling_radius(m->b), enough = f->h - 8 * m->grain;
    if (f->h <= ra + rb + 8 * m->grain) {
        f->below = min_of(f->h, ra + rb);
        return;
    }
    v3 u = v3_scale(1 / f->h, v3_sub(f->a, f->b)), a = v3_axpy(f->a, -ra, u), b = v3_axpy(f->b, rb, u);
    double in_a = ball_within(m->a, b) + rb, in_b = in_a;
    if (in_a < enough) {
        in_b = ball_within(m->b, m3_transposed_times(m->X_ab.R, v3_sub(a, m->X_ab.p))) + ra;
    }
    f->below = max_of(f->below, max_of(in_a, in_b));
}

/* Corners of a patch; of a disc four of its rim. */
static int patch_corners(const patch *f, v3 *out) {
    if (!f->disc) {
        for (int k = 0; k < f->count; k++) {
            out[k] = f->corner[k];
        }
        return f->count;
    }
    v3 e = v3_perpendicular(f->axis), g = v3_cross(f->axis, e);
    for (int k = 0; k < 4; k++) {
        out[k] = v3_axpy(f->corner[0], k & 1 ? f->radius : -f->radius, k & 2 ? e : g);
    }
    return 4;
}

int mink_flat(const minkowski *m, v3 u, v3 *point, int most, v3 *along) {
    patch fa, fb;
    v3 a[MAX_CORNERS], b[MAX_CORNERS];
    uint32_t start[2] = {m->start ? m->start[0] : 0, m->start ? m->start[1] : 0};
    find_support_patch(m->a, NULL, u, &start[0], &fa);
    find_support_patch(m->b, &m->X_ab, v3_neg(u), &start[1], &fb);
    int na = patch_corners(&fa, a), nb = patch_corners(&fb, b), count = 0;
    for (int i = 0; i < na; i++) {
        for (int j = 0; j < nb && count < most; j++) {
            point[count++] = v3_sub(a[i], b[j]);
        }
    }
    v3 e = count > 1 ? v3_sub(point[1], point[0]) : v3_make(0, 0, 0);
    double length = v3_norm(e);
    *along = length > m->grain ? v3_scale(1 / length, e) : v3_perpendicular(u);
    return count;
}
