/* Contact points of two convex solids for a known gap and normal.
 *
 * Both supporting faces are seen along the normal n, A's from below and B's from above. The two outlines have a
 * polygon, a segment or a point in common. Its corners are the contact points: corners of one face within the other,
 * and crossings of two edges. Those pairs are their features. Over a place u of the plane across n the face of A has
 * the height h_A(u), that of B h_B(u). The gap there is h_A - h_B along n, at least the gap of the solids. Neither face
 * is the reference, so nothing can change sides.
 *
 * Outlines are compared with a tolerance far above rounding and far below sizes, and corners go before crossings. So
 * corner on corner, or edge on edge, gives the same features whatever the rounding. */
#include "collide/convex/convex.h"

static const double MAX_FACE_ANGLE_RAD =
    0.2; /* rad: faces turned farther than this from the normal are not its faces */
static const double SAME_PLACE_OVER_SIZE = 1e-6; /* places closer than this part of the smaller solid are one */
static const double PARALLEL =
    0.01; /* round sides lie along each other if their ends stray by less of the least width */
static const double MAX_DEPTH_LOSS_OVER_SIZE =
    1e-13; /* the deepest point is missing if what is found is shallower by this */
enum { WITNESS = 3, MAX_POINTS = 4, MAX_NEWTON_STEPS = 12 };

typedef struct place {
    double x, y;
} place;

/* A face seen along n: anticlockwise as seen against n. */
typedef struct outline {
    const face *face;
    place at[FACE_CORNERS];
    double height[FACE_CORNERS]; /* of the core */
    uint32_t vertex[FACE_CORNERS], edge[FACE_CORNERS];
    place out[FACE_CORNERS];        /* of a polygon: the edges' outward unit normals, */
    double reach[FACE_CORNERS];     /* and how far out they are */
    double level, slope_x, slope_y; /* height of the face's plane */
    place centre;                   /* of a disc */
    double centre_height;
    double radius; /* of a disc, or of a round edge */
    double length, down;
} outline;

typedef struct view {
    v3 origin, n, ex, ey; /* of the plane across the normal */
    double same, exact, margin, least;
    const pair *p;
    manifold *out;
    int first;
    bool s_is_b; /* the outline `s` is B's */
    int proven;  /* a place within both faces is as near as the gap says */
} view;

static place subtract_places(place a, place b) { return (place){a.x - b.x, a.y - b.y}; }
static place interpolate_place(place a, place b, double t) {
    return (place){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
}
static double plane_height(const outline *o, place u) { return o->level + o->slope_x * u.x + o->slope_y * u.y; }

static place project_point(const view *v, v3 x, double *height) {
    v3 d = v3_sub(x, v->origin);
    *height = v3_dot(v->n, d);
    return (place){v3_dot(v->ex, d), v3_dot(v->ey, d)};
}

/* Distance of the surface of a capsule from its end's centre along n, over the point of its axis at u from 0 to 1,
 * `aside` to the side. Cut there along its axis, the capsule has the radius r = sqrt(radius^2 - aside^2). It leans by
 * an angle a: to r sin a beside the end that is nearer to the other solid is that end's ball. Then comes the side,
 * which stands off the axis by r / cos a. `down`: -1 where the surface is below. */
static double round_height(const outline *o, double u, double aside) {
    double up = o->down * (o->height[1] - o->height[0]); /* positive: the second end is nearer */
    double r = sqrt(max_of(o->radius * o->radius - aside * aside, 0));
    double beside = (up > 0 ? 1 - u : u) * o->length, fall = o->length > 0 ? fabs(up) / o->length : 0;
    double cosine = sqrt(1 - min_of(fall * fall, 0.5)), flat = beside * cosine;
    double depth = flat < r * fall ? sqrt(r * r - flat * flat) : r / cosine - beside * fall;
    return (up > 0 ? o->height[1] : o->height[0]) + o->down * depth;
}

static double edge_height(const outline *o, int from, int to, double t) {
    return o->radius > 0 && o->face->count == 2 ? round_height(o, t, 0)
                                                : o->height[from] + t * (o->height[to] - o->height[from]);
}

/* Of a side, `aside` from its highest line: drop of a round surface there. */
static double side_height(const convex *c, const outline *o, double t, double aside) {
    if (o->radius > 0) {
        return round_height(o, t, aside);
    }
    double r = c->kind == CONVEX_CYLINDER ? c->half[0] : 0;
    return edge_height(o, 0, 1, t) -
           (r > 0 ? o->down * aside * aside / (r + sqrt(max_of(r * r - aside * aside, 0))) : 0);
}

static double corner_height(const outline *o, int k) {
    return o->face->count == 2 ? edge_height(o, 0, 1, k) : o->height[k];
}

static void set_borders(outline *o) {
    for (int k = 0, count = o->face->count; k < count; k++) {
        place a = o->at[k], e = subtract_places(o->at[k + 1 < count ? k + 1 : 0], a);
        double length = sqrt(e.x * e.x + e.y * e.y), s = length > 0 ? 1 / length : 0;
        o->out[k] = (place){s * e.y, -s * e.x};
        o->reach[k] = o->out[k].x * a.x + o->out[k].y * a.y;
    }
}

/* `f`, placed at X; from below its corners run the other way round. */
static void outline_of(const view *v, const convex *c, const face *f, const pose *X, int below, outline *o) {
    o->face = f;
    for (int k = 0; k < f->count; k++) {
        int from = below ? f->count - 1 - k : k;
        o->at[k] = project_point(v, pose_point(*X, f->corner[from]), &o->height[k]);
        o->vertex[k] = f->vertex[from];
        o->edge[k] = f->edge[below ? (from + f->count - 1) % f->count : from];
    }
    o->radius = f->disc ? c->half[0] : c->radius;
    o->length = 2 * c->half[2];
    o->down = below ? -1 : 1;
    if (f->count < 3) {
        return;
    }
    v3 normal = m3_times(X->R, f->normal);
    double along = v3_dot(normal, v->n); /* at least cos(MAX_FACE_ANGLE_RAD) in size */
    o->slope_x = -v3_dot(normal, v->ex) / along;
    o->slope_y = -v3_dot(normal, v->ey) / along;
    o->level = o->height[0] - o->slope_x * o->at[0].x - o->slope_y * o->at[0].y;
    if (f->disc) {
        o->centre = project_point(v, pose_point(*X, v3_make(0, 0, f->corner[0].z)), &o->centre_height);
    } else {
        set_borders(o);
    }
}

/* How far u is outside the edge k of a polygon; negative within. */
static double outside_edge(const outline *o, int k, place u) {
    return o->out[k].x * u.x + o->out[k].y * u.y - o->reach[k];
}

/* From the centre of the disc o, in the disc's own plane. */
static v3 from_centre(const outline *o, place u) {
    place d = subtract_places(u, o->centre);
    return v3_make(d.x, d.y, plane_height(o, u) - o->centre_height);
}

static bool is_within_outline(const outline *o, place u, double tolerance) {
    if (o->face->disc) {
        return v3_norm(from_centre(o, u)) <= o->radius + tolerance;
    }
    for (int k = 0; k < o->face->count; k++) {
        if (outside_edge(o, k, u) > tolerance) {
            return false;
        }
    }
    return true;
}

/* A contact at the place u, heights of s and r given. */
static void add_overlay_point(view *v, const outline *s, const outline *r, place u, double hs, double hr, uint32_t fs,
                              uint32_t fr, int unless_near) {
    double ha = v->s_is_b ? hr : hs, hb = v->s_is_b ? hs : hr,
           gap = max_of(ha - hb, v->least); /* less: just beside a tilted face */
    if (gap > v->margin) {
        return;
    }
    if (gap <= v->least + v->exact && !v->proven) {
        v->proven = (s->face->count == 2 || is_within_outline(s, u, v->exact)) &&
                    (r->face->count == 2 || is_within_outline(r, u, v->exact));
    }
    v3 flat = v3_axpy(v3_axpy(v->origin, u.x, v->ex), u.y, v->ey);
    contact_point c = {.position = v3_axpy(flat, 0.5 * (ha + hb), v->n),
                       .normal = v->n,
                       .gap = gap,
                       .feature = v->s_is_b ? feature_pair(fr, fs) : feature_pair(fs, fr)};
    for (int k = v->first; unless_near && k < v->out->count; k++) {
        v3 d = v3_sub(v->out->point[k].position, c.position);
        if (v3_dot(d, d) <= 16 * v->same * v->same) {
            return;
        }
    }
    manifold_add(v->out, v->p->arena, &c);
}

/* Corners of s within r; returns how many. */
static int add_corners_within(view *v, const outline *s, const outline *r, int unless_near) {
    int inside = 0;
    for (int k = 0; k < s->face->count; k++) {
        if (is_within_outline(r, s->at[k], v->same)) {
            inside++;
            add_overlay_point(v, s, r, s->at[k], corner_height(s, k), plane_height(r, s->at[k]), s->vertex[k],
                              r->face->number, unless_near);
        }
    }
    return inside;
}

/* The part of the segment from a to b within r: t[0] .. t[1], and through which edges of r it comes and goes (-1: an
 * end of the segment is inside). False if there is none. */
static bool clip_to_polygon(const outline *r, place a, place b, double tolerance, double t[2], int through[2]) {
    double low = 0, high = 1;
    through[0] = through[1] = -1;
    for (int k = 0; k < r->face->count; k++) {
        double oa = outside_edge(r, k, a), ob = outside_edge(r, k, b);
        if (oa > tolerance && ob > tolerance) {
            return false;
        }
        if (oa > tolerance && (oa - tolerance) / (oa - ob) > low) {
            low = (oa - tolerance) / (oa - ob);
            through[0] = k;
        } else if (ob > tolerance && (oa - tolerance) / (oa - ob) < high) {
            high = (oa - tolerance) / (oa - ob);
            through[1] = k;
        }
    }
    if (low > high) {
        return false;
    }
    for (int i = 0; i < 2; i++) { /* the crossing itself, which the tolerance had moved */
        t[i] = i ? high : low;
        if (through[i] >= 0) {
            double oa = outside_edge(r, through[i], a), ob = outside_edge(r, through[i], b);
            t[i] = min_of(max_of(oa / (oa - ob), 0), 1);
        }
    }
    return true;
}

static bool clip_to_disc(const outline *r, place a, place b, double tolerance, double t[2], int through[2]) {
    v3 da = from_centre(r, a), e = v3_sub(from_centre(r, b), da);
    double ee = v3_dot(e, e), half = v3_dot(da, e), c = v3_dot(da, da) - r->radius * r->radius;
    double D = half * half - ee * c, slack = r->radius * tolerance;
    if (ee <= 0 || D <= 0) {
        return false;
    }
    double root = sqrt(D), far = half >= 0 ? -half - root : -half + root; /* without cancellation */
    double one = far / ee, other = c / far, low = min_of(one, other), high = max_of(one, other);
    if (low >= 1 || high <= 0) {
        return false;
    }
    int a_inside = c <= slack, b_inside = c + 2 * half + ee <= slack;
    t[0] = a_inside ? 0 : low;
    t[1] = b_inside ? 1 : high;
    through[0] = a_inside ? -1 : 0;
    through[1] = b_inside ? -1 : 1;
    return true;
}

/* Where edges of s cross the border of r. */
static void add_edge_crossings(view *v, const outline *s, const outline *r) {
    int count = s->face->count, disc = r->face->disc;
    for (int k = 0; k < (count == 2 ? 1 : count); k++) {
        int next = (k + 1) % count, through[2];
        double t[2];
        if (!(disc ? clip_to_disc(r, s->at[k], s->at[next], v->same, t, through)
                   : clip_to_polygon(r, s->at[k], s->at[next], v->same, t, through))) {
            continue;
        }
        for (int i = 0; i < 2; i++) {
            if (through[i] >= 0) {
                place u = interpolate_place(s->at[k], s->at[next], t[i]);
                double height = edge_height(s, k, next, t[i]);
                /* a rim has one number: coming in and going out tell its two crossings apart */
                uint32_t border = disc ? r->edge[0] | (uint32_t)i << 31 : r->edge[through[i]];
                add_overlay_point(v, s, r, u, height, plane_height(r, u), s->edge[k], border, 1);
            }
        }
    }
}

/* How far u is outside a rim, as a square, and its slope. */
static double outside_rim(const outline *o, place u, place *slope) {
    v3 d = from_centre(o, u);
    *slope = (place){2 * (d.x + d.z * o->slope_x), 2 * (d.y + d.z * o->slope_y)};
    return v3_dot(d, d) - o->radius * o->radius;
}

/* Where both rims are, from a guess near it; false if it leads nowhere. */
static bool solve_rim_crossing(const view *v, const outline *s, const outline *r, place *u) {
    for (int k = 0; k < MAX_NEWTON_STEPS; k++) {
        place gs, gr;
        double fs = outside_rim(s, *u, &gs), fr = outside_rim(r, *u, &gr), det = gs.x * gr.y - gs.y * gr.x;
        if (fabs(det) <= SAME_PLACE_OVER_SIZE * s->radius * r->radius) { /* they touch, rather than cross */
            return false;
        }
        place step = {(fs * gr.y - fr * gs.y) / det, (fr * gs.x - fs * gr.x) / det};
        *u = subtract_places(*u, step);
        if (fabs(step.x) + fabs(step.y) <= v->exact) {
            return is_within_outline(s, *u, v->same) && is_within_outline(r, *u, v->same);
        }
    }
    return false;
}

/* Where two rims cross: guessed as if both were round in the plane, then followed to where they are. */
static void add_rim_crossings(view *v, const outline *s, const outline *r) {
    place d = subtract_places(r->centre, s->centre);
    double dd = d.x * d.x + d.y * d.y;
    if (dd <= v->same * v->same) {
        return;
    }
    double x = 0.5 * (1 + (s->radius * s->radius - r->radius * r->radius) / dd);
    double yy = s->radius * s->radius / dd - x * x;
    for (int i = 0; i < 2 && yy > 0; i++) {
        double y = i ? sqrt(yy) : -sqrt(yy);
        place u = {s->centre.x + x * d.x - y * d.y, s->centre.y + x * d.y + y * d.x};
        if (solve_rim_crossing(v, s, r, &u)) {
            add_overlay_point(v, s, r, u, plane_height(s, u), plane_height(r, u), s->edge[0] | (uint32_t)i << 31,
                              r->edge[0], 1);
        }
    }
}

static bool has_round_side(const convex *c) { return c->kind == CONVEX_SEGMENT || c->kind == CONVEX_CYLINDER; }

/* The common part of two edges along each other: two points, midway between the edges. */
static void add_edge_overlap(view *v, const outline *s, const outline *r, const convex *a, const convex *b) {
    double most =
        (has_round_side(a) && has_round_side(b) ? PARALLEL : SAME_PLACE_OVER_SIZE) * min_of(a->least, b->least);
    place es = subtract_places(s->at[1], s->at[0]), er = subtract_places(r->at[1], r->at[0]);
    double ss = es.x * es.x + es.y * es.y, rr = er.x * er.x + er.y * er.y;
    if (ss <= 0 || rr <= 0) {
        return;
    }
    double t[2], near = v->same / sqrt(ss);
    for (int k = 0; k < 2; k++) {
        place d = subtract_places(r->at[k], s->at[0]);
        t[k] = (d.x * es.x + d.y * es.y) / ss;
    }
    const int r_end[2] = {t[0] > t[1], t[0] <= t[1]};
    const int at_s[2] = {t[r_end[0]] <= near, t[r_end[1]] >= 1 - near}; /* the end is one of s */
    const double on_s[2] = {at_s[0] ? 0 : t[r_end[0]], at_s[1] ? 1 : t[r_end[1]]};
    double on_r[2], beside[2], aside[2];
    place us[2], ur[2];
    for (int i = 0; i < 2; i++) {
        us[i] = interpolate_place(s->at[0], s->at[1], on_s[i]);
        place d = subtract_places(us[i], r->at[0]);
        on_r[i] = at_s[i] ? (d.x * er.x + d.y * er.y) / rr : r_end[i];
        ur[i] = interpolate_place(r->at[0], r->at[1], on_r[i]);
        place stray = subtract_places(us[i], ur[i]);
        if (stray.x * stray.x + stray.y * stray.y > most * most) {
            return;
        }
        aside[i] = 0.5 * sqrt(stray.x * stray.x + stray.y * stray.y);
        beside[i] = (es.x * stray.y - es.y * stray.x) / sqrt(ss);
    }
    if (beside[0] * beside[1] > 0 && min_of(fabs(beside[0]), fabs(beside[1])) > v->exact) {
        return; /* one beside the other: they do not meet along n */
    }
    v->proven = 1; /* the edges cross, or end on each other */
    for (int i = 0; i < 2 && on_s[1] - on_s[0] > near; i++) {
        double hs = side_height(a, s, on_s[i], aside[i]), hr = side_height(b, r, on_r[i], aside[i]);
        add_overlay_point(v, s, r, interpolate_place(us[i], ur[i], 0.5), hs, hr, at_s[i] ? s->vertex[i] : s->edge[0],
                          at_s[i] ? r->edge[0] : r->vertex[r_end[i]], 0);
    }
}

static void add_face_overlap(view *v, const outline *s, const outline *r) {
    if (add_corners_within(v, s, r, 0) == s->face->count) {
        return;
    }
    if (s->face->count > 2) {
        v->s_is_b = !v->s_is_b;
        int all = add_corners_within(v, r, s, 1) == r->face->count;
        v->s_is_b = !v->s_is_b;
        if (all) {
            return;
        }
    }
    if (s->face->disc) {
        add_rim_crossings(v, s, r);
    } else {
        add_edge_crossings(v, s, r);
    }
}

static bool has_round_core(const convex *c) { return c->kind == CONVEX_POINT || c->kind == CONVEX_ELLIPSOID; }

static void add_witness(view *v, const convex *a, const convex *b, const face *fa, const face *fb,
                        const convex_gap *gap) {
    int lone = fa->count == 1 || fb->count == 1, round = has_round_core(a) || has_round_core(b);
    contact_point c = {.position = v3_scale(0.5, v3_add(gap->on_a, gap->on_b)), .normal = gap->normal, .gap = gap->gap};
    /* a round surface has one point, wherever it has rolled to */
    c.feature = round ? 0 : lone ? feature_pair(fa->number, fb->number) : feature_pair(WITNESS, WITNESS);
    manifold_add(v->out, v->p->arena, &c);
}

bool convex_manifold(const pair *p, const convex *a, const convex *b, const convex_gap *gap, manifold *out) {
    pose still = pose_identity();
    v3 n = gap->normal, ex = v3_perpendicular(n);
    view v = {.origin = v3_scale(0.5, v3_add(gap->on_a, gap->on_b)),
              .n = n,
              .ex = ex,
              .ey = v3_cross(n, ex),
              .same = SAME_PLACE_OVER_SIZE * min_of(a->extent, b->extent),
              .exact = MAX_DEPTH_LOSS_OVER_SIZE * (a->extent + b->extent),
              .margin = p->margin,
              .least = gap->gap,
              .p = p,
              .out = out,
              .first = out->count};
    face fa, fb;
    double reach = gap->gap < HUGE_VAL ? p->margin - gap->gap : INFINITY; /* no gap known: all may touch */
    convex_face(a, v3_neg(n), MAX_FACE_ANGLE_RAD, reach, &fa);
    convex_face(b, m3_transposed_times(p->X_ab.R, n), MAX_FACE_ANGLE_RAD, reach, &fb);
    if (fa.count > 1 && fb.count > 1) {
        outline oa, ob;
        outline_of(&v, a, &fa, &still, 1, &oa);
        outline_of(&v, b, &fb, &p->X_ab, 0, &ob);
        if (fa.count == 2 && fb.count == 2) {
            add_edge_overlap(&v, &oa, &ob, a, b);
        } else if (fa.count == 2 || (fb.count > 2 && !fa.disc) || (fa.disc && fb.disc)) {
            add_face_overlap(&v, &oa, &ob);
        } else { /* a segment, or a polygon before a disc, is `s` */
            v.s_is_b = true;
            add_face_overlap(&v, &ob, &oa);
        }
    }
    double least = HUGE_VAL;
    for (int k = v.first; k < out->count; k++) {
        least = min_of(least, out->point[k].gap);
    }
    if (!(least <= gap->gap + v.exact)) {
        add_witness(&v, a, b, &fa, &fb, gap);
    }
    manifold_reduce(p, out, v.first, MAX_POINTS);
    return v.proven && least <= gap->gap + v.exact;
}
