/* Contacts of a convex solid with a surface of triangles.
 *
 * Triangle by triangle, but a triangle by itself knows too little: its edges are edges of nothing where the surface
 * runs on.  The direction n best parts the solid and a triangle.  It counts only if it lies in the normal cone of the
 * feature that it touches (surface_faces).  If it does not, only the face itself can be meant, and the solid's part
 * over the triangle is held along the face's normal.  Where that leaves an overlap without a contact, as on a spike,
 * the solid is lifted until it only touches (convex_lift.c).
 *
 * A face stops solids whose centre is before it.  A solid whose centre is inside a solid surface leaves by the nearest
 * point of the surface, as one plane. */
#include "collide/mesh/surface.h"

#include "geometry/mesh/mesh.h"
#include <float.h>

static const double MIN_DEPTH_OVER_TRIANGLE_DEPTH =
    0.5; /* of the deepest triangle's depth: least depth of the contacts */
enum { MAX_POINTS = 32, MAX_POINTS_PER_GROUP = 4, MAX_PARTS = 8 };
static const double MAX_FACE_ANGLE_RAD =
    0.2; /* rad: faces turned farther than this from the normal are not its faces */
static const double SAME_NORMAL_COSINE = 0.998; /* cosine: normals within 3.6 degrees hold alike */
static const double SHALLOW_DEPTH_OVER_WIDTH =
    1e-3; /* of the least width: so little depth needs no search for a better direction */
static const double MAX_SIDE_ANGLE_RAD = 1e-3; /* rad: a side turned no farther from a face lies along it */
static const double DEEP_DEPTH_OVER_WIDTH =
    1e-2; /* of the least width: from here on a face must be the surface that is nearest */

/* A flat part of the surface that the solid may stand on: by the first of its triangles, its normal in A's frame. */
typedef struct flat_part {
    int triangle, patch, counts;
    v3 normal;
} flat_part;

typedef struct on_surface {
    const pair *p;
    pair local; /* the triangle's corners stand in A's frame */
    const convex *a;
    const surface *s;
    manifold *out;
    v3 low, high;         /* the solid's box in the surface's frame, grown by the margin, */
    v3 own_low, own_high; /* and in its own */
    flat_part part[MAX_PARTS];
    int nparts;
    double worst;       /* how deep at most, and where */
    surface_place lost; /* point in A's frame */
} on_surface;

/* Numbers of a triangle's own features (face.c) to numbers in the surface.  Round solids have none of their own, and
 * leave those of the triangle out: there the touched feature counts.  Where a face continues across an edge, a contact
 * at the edge is no feature of its own. */
static void name_features(on_surface *o, int first, int t, int touched) {
    int round = o->a->kind == CONVEX_ELLIPSOID, kept = first;
    for (int k = first; k < o->out->count; k++) {
        contact_point c = o->out->point[k];
        uint32_t own = (uint32_t)c.feature & 0x3fffffff, index = own >> 2, kind = own & 3;
        int feature = round ? touched : kind == 0 ? (int)index % 3 + 4 : kind == 1 ? (int)index % 3 + 1 : 0;
        v3 n = m3_transposed_times(o->p->X_ab.R, c.normal);
        uint32_t name = surface_feature_along(o->s, t, feature, n);
        c.feature = feature_pair((uint32_t)(c.feature >> 32), name);
        if (round || kind != 1 || (name & 3) == 1 || c.gap < -SHALLOW_DEPTH_OVER_WIDTH * o->a->least) {
            o->out->point[kept++] = c;
        }
    }
    o->out->count = kept;
}

static void add_triangle_points(on_surface *o, const convex *tri, const convex_gap *gap, int t, int touched) {
    int first = o->out->count;
    convex_manifold(&o->local, o->a, tri, gap, o->out);
    name_features(o, first, t, touched);
}

/* Which feature of the triangle is farthest along n. */
static int feature_along(const convex *tri, v3 n) {
    double h[3], top = -HUGE_VAL;
    int in[3], count = 0;
    for (int k = 0; k < 3; k++) {
        h[k] = v3_dot(n, v3_sub(tri->corner[k], tri->centre));
        top = fmax(top, h[k]);
    }
    for (int k = 0; k < 3; k++) {
        count += in[k] = h[k] >= top - SURFACE_SLACK * tri->extent;
    }
    if (count == 3) {
        return 0;
    }
    if (count == 2) {
        return !in[2] ? 1 : !in[0] ? 2 : 3;
    }
    return in[0] ? 4 : in[1] ? 5 : 6;
}

/* Is x over the triangle, seen along its normal n? */
static bool is_over_triangle(const v3 c[3], double size, v3 n, v3 x) {
    for (int k = 0; k < 3; k++) {
        v3 e = v3_sub(c[(k + 1) % 3], c[k]);
        if (v3_dot(v3_cross(n, e), v3_sub(x, c[k])) < -1e-9 * v3_norm(e) * size) {
            return false;
        }
    }
    return true;
}

/* Drops points so deep under a face that another part of the surface, which faces elsewhere, is much nearer. */
static void drop_hidden(const on_surface *o, int first) {
    const pair *p = o->p;
    int kept = first;
    for (int k = first; k < o->out->count; k++) {
        contact_point *c = &o->out->point[k];
        surface_place place;
        v3 at = v3_axpy(c->position, 0.5 * c->gap, c->normal); /* on the solid */
        v3 there = m3_transposed_times(p->X_ab.R, v3_sub(at, p->X_ab.p));
        int hidden = c->gap < -DEEP_DEPTH_OVER_WIDTH * o->a->least &&
                     surface_nearest(o->s, there, -0.5 * c->gap, &place) &&
                     v3_dot(m3_times(p->X_ab.R, place.normal), c->normal) < 0.7;
        if (!hidden) {
            o->out->point[kept++] = *c;
        }
    }
    o->out->count = kept;
}

/* The solid against the face alone: its lowest point, if that is over the triangle, or a side of it that lies along. */
static void add_face_points(on_surface *o, const convex *tri, int t, v3 n, v3 lowest, double gap, int guarded) {
    int first = o->out->count, counts = is_over_triangle(tri->corner, tri->extent, n, lowest);
    if (!counts) {
        face side;
        convex_face(o->a, v3_neg(n), MAX_SIDE_ANGLE_RAD, INFINITY, &side);
        if (side.count == 1) {
            return;
        }
    }
    convex_gap g = {.gap = counts ? gap : HUGE_VAL, .normal = n, .on_a = lowest, .on_b = v3_axpy(lowest, -gap, n)};
    add_triangle_points(o, tri, &g, t, 0);
    if (guarded) {
        drop_hidden(o, first);
    }
}

/* ---- flat parts ----
 *
 * A flat part of several triangles is one face: the corners of the solid are asked whether they are over it.  A
 * triangle within the part adds nothing.  One at its border may be touched aslant, and adds crossings of the border
 * with the solid's edges. */

typedef struct under {
    const on_surface *o;
    int patch, triangle; /* -1: none */
    v3 x;                /* in the surface's frame */
    v3 corner[3], normal;
} under;

static bool visit_under(void *context, int t) {
    under *u = context;
    const surface *s = u->o->s;
    if (surface_patch(s, t) != u->patch) {
        return true;
    }
    surface_corners(s, t, u->corner);
    u->normal = surface_normal(s, t);
    double size = v3_norm(v3_sub(u->corner[1], u->corner[0])) + 1e-3 * u->o->a->extent;
    u->triangle = is_over_triangle(u->corner, size, u->normal, u->x) ? t : -1;
    return u->triangle < 0;
}

/* Of a point in A's frame over the plane of the part. */
static double height_over(const on_surface *o, const flat_part *part, v3 on_a) {
    const pair *p = o->p;
    v3 there = m3_transposed_times(p->X_ab.R, v3_sub(on_a, p->X_ab.p)), c[3];
    surface_corners(o->s, part->triangle, c);
    return v3_dot(surface_normal(o->s, part->triangle), v3_sub(there, c[0]));
}

/* The contact of a corner with the part, if it is over that. */
static void add_corner_over_part(on_surface *o, const flat_part *part, v3 on_a, uint32_t vertex) {
    const pair *p = o->p;
    v3 there = m3_transposed_times(p->X_ab.R, v3_sub(on_a, p->X_ab.p)), c[3];
    surface_corners(o->s, part->triangle, c);
    v3 own = surface_normal(o->s, part->triangle);
    double gap = v3_dot(own, v3_sub(there, c[0])), slack = 1e-9 * (o->a->extent + fabs(gap));
    if (gap > p->margin + slack) {
        return;
    }
    under u = {.o = o, .patch = part->patch, .triangle = -1, .x = v3_axpy(there, -gap, own)};
    v3 grow = {slack, slack, slack};
    surface_in_box(o->s, v3_sub(u.x, grow), v3_add(u.x, grow), visit_under, &u);
    if (u.triangle < 0) {
        return;
    }
    if (gap < -SHALLOW_DEPTH_OVER_WIDTH * o->a->least &&
        (surface_flag(o->s, u.triangle) & RELIEF_FLAT) != RELIEF_FLAT) {
        return; /* at the border there may be a shorter way out */
    }
    v3 n = m3_times(p->X_ab.R, u.normal);
    gap = v3_dot(u.normal, v3_sub(there, u.corner[0]));
    contact_point contact = {.position = v3_axpy(on_a, -0.5 * gap, n), .normal = n, .gap = gap};
    contact.feature = feature_pair(vertex, surface_feature(o->s, u.triangle, 0));
    if (gap <= p->margin) {
        manifold_add(o->out, p->arena, &contact);
    }
}

static void add_part_points(on_surface *o, const flat_part *part) {
    face side;
    uint32_t unused;
    int first = o->out->count;
    v3 n = part->normal;
    v3 lowest = v3_axpy(convex_support(o->a, v3_neg(n), &unused), -o->a->radius, n);
    convex_face(o->a, v3_neg(n), MAX_FACE_ANGLE_RAD, o->p->margin - height_over(o, part, lowest), &side);
    for (int k = 0; k < side.count; k++) {
        add_corner_over_part(o, part, v3_axpy(side.corner[k], -o->a->radius, n), side.vertex[k]);
    }
    if (side.disc) { /* tilted, the rim's lowest point is none of those it is given by */
        add_corner_over_part(o, part, lowest, side.number);
    }
    drop_hidden(o, first);
}

/* Notes the part that a flat triangle belongs to; false if there is no room. */
static bool note_part(on_surface *o, int t) {
    int patch = surface_patch(o->s, t);
    uint32_t vertex;
    for (int k = 0; k < o->nparts; k++) {
        if (o->part[k].patch == patch) {
            return true;
        }
    }
    if (o->nparts == MAX_PARTS) {
        return false;
    }
    v3 c[3];
    surface_corners(o->s, t, c);
    v3 n = m3_times(o->p->X_ab.R, surface_normal(o->s, t)), at = pose_point(o->p->X_ab, c[0]);
    v3 lowest = v3_axpy(convex_support(o->a, v3_neg(n), &vertex), -o->a->radius, n);
    int counts = v3_dot(n, v3_sub(lowest, at)) <= o->p->margin && v3_dot(n, v3_sub(o->a->centre, at)) > 0;
    o->part[o->nparts++] = (flat_part){t, patch, counts, n};
    return true;
}

/* ---- triangles ---- */

static bool are_outside_interval(double a, double b, double c, double low, double high) {
    return (a > high && b > high && c > high) || (a < low && b < low && c < low);
}

static bool is_beside_box(const v3 c[3], v3 low, v3 high) {
    return are_outside_interval(c[0].x, c[1].x, c[2].x, low.x, high.x) ||
           are_outside_interval(c[0].y, c[1].y, c[2].y, low.y, high.y) ||
           are_outside_interval(c[0].z, c[1].z, c[2].z, low.z, high.z);
}

/* Is a triangle farther than the margin from what is round?  Quicker than its distance. */
static bool is_clear_of_round(const convex *a, const v3 c[3], double margin) {
    v3 x[3], origin = {0, 0, 0};
    int feature;
    if (a->kind == CONVEX_CYLINDER) { /* from the axis */
        for (int k = 0; k < 3; k++) {
            x[k] = v3_make(c[k].x, c[k].y, 0);
        }
        double far = a->half[0] + margin;
        v3 q = triangle_nearest(x[0], x[1], x[2], origin, &feature);
        return v3_dot(q, q) > far * far;
    }
    if (a->kind != CONVEX_ELLIPSOID) {
        return false;
    }
    /* from an ellipsoid with all axes longer by one factor, the shortest by the margin */
    double grow = 1 + margin / (0.5 * a->least);
    for (int k = 0; k < 3; k++) {
        x[k] = v3_make(c[k].x / a->half[0], c[k].y / a->half[1], c[k].z / a->half[2]);
    }
    v3 q = triangle_nearest(x[0], x[1], x[2], origin, &feature);
    return v3_dot(q, q) > grow * grow;
}

/* The triangle by its own normal n, and by the direction in which it and the solid are best parted. */
static void collide_triangle(on_surface *o, int t, const v3 c[3], v3 n) {
    /* gap along the normal of the triangle */
    uint32_t vertex;
    v3 lowest = v3_axpy(convex_support(o->a, v3_neg(n), &vertex), -o->a->radius, n);
    double gap = v3_dot(n, v3_sub(lowest, c[0])), centre = v3_dot(n, v3_sub(o->a->centre, c[0]));
    int before = centre > 0;
    if (gap > o->p->margin || is_clear_of_round(o->a, c, o->p->margin)) {
        return;
    }
    /* shallow over the triangle: contacts on its face */
    convex tri = convex_triangle(c[0], c[1], c[2]);
    if (before && gap > -SHALLOW_DEPTH_OVER_WIDTH * o->a->least && is_over_triangle(c, tri.extent, n, lowest)) {
        add_face_points(o, &tri, t, n, lowest, gap, 0);
        return;
    }
    /* least separation of the solid and the triangle */
    convex_gap g;
    pose still = pose_identity();
    if (!convex_distance(o->a, &tri, &still, o->p->margin, v3_make(0, 0, 0), &g)) {
        return;
    }
    /* the deepest triangle, for an overlap that leaves no contact */
    int feature = feature_along(&tri, g.normal);
    if (g.gap < 0 && -g.gap > o->worst) {
        o->worst = -g.gap;
        o->lost = (surface_place){.point = g.on_b, .triangle = t, .feature = feature};
    }
    /* contacts along the direction of separation if its feature faces it, else on the face */
    int counts = surface_faces(o->s, t, feature, m3_transposed_times(o->p->X_ab.R, g.normal));
    if (counts && feature && v3_norm(v3_cross(n, g.normal)) > 4 * SURFACE_SLACK) {
        add_triangle_points(o, &tri, &g, t, feature);
    } else if (before) {
        add_face_points(o, &tri, t, n, lowest, gap, !counts);
    }
}

static bool visit_near_triangle(void *context, int t) {
    on_surface *o = context;
    v3 own[3], c[3];
    int level = surface_flag(o->s, t) & RELIEF_FLAT;
    if (level && note_part(o, t) && level == RELIEF_FLAT) {
        return true;
    }
    surface_corners(o->s, t, own);
    if (is_beside_box(own, o->low, o->high)) {
        return true;
    }
    for (int k = 0; k < 3; k++) {
        c[k] = pose_point(o->p->X_ab, own[k]);
    }
    if (!is_beside_box(c, o->own_low, o->own_high)) {
        collide_triangle(o, t, c, m3_times(o->p->X_ab.R, surface_normal_of(own)));
    }
    return !o->out->failed;
}

/* One plane through the place q, normal n, both in A's frame: the solid's lowest face. */
static void add_plane_points(const on_surface *o, v3 q, v3 n, const surface_place *place) {
    uint32_t vertex;
    face f;
    int first = o->out->count;
    v3 lowest = convex_support(o->a, v3_neg(n), &vertex);
    convex_face(o->a, v3_neg(n), MAX_FACE_ANGLE_RAD, o->p->margin - (v3_dot(n, v3_sub(lowest, q)) - o->a->radius), &f);
    for (int k = -1; k < f.count; k++) {
        v3 on_a = v3_axpy(k < 0 ? lowest : f.corner[k], -o->a->radius, n);
        double gap = v3_dot(n, v3_sub(on_a, q));
        contact_point c = {.position = v3_axpy(on_a, -0.5 * gap, n),
                           .normal = n,
                           .gap = gap,
                           .feature = feature_pair(k < 0 ? f.number : f.vertex[k],
                                                   surface_feature(o->s, place->triangle, place->feature))};
        if (gap <= o->p->margin && (k >= 0 || f.count == 1 || f.disc)) {
            manifold_add(o->out, o->p->arena, &c);
        }
    }
    manifold_reduce(o->p, o->out, first, MAX_POINTS_PER_GROUP);
}

static void collide_surface(on_surface *o) {
    o->local = *o->p;
    o->local.X_ab = pose_identity();
    convex_bounds(o->a, &o->p->X_ab, o->p->margin, &o->low, &o->high);
    convex_bounds(o->a, &o->local.X_ab, o->p->margin, &o->own_low, &o->own_high);
    surface_in_box(o->s, o->low, o->high, visit_near_triangle, o);
    for (int k = 0; k < o->nparts; k++) {
        if (o->part[k].counts) {
            add_part_points(o, &o->part[k]);
        }
    }
}

static void collide_lifted(const pair *p, const convex *a, const surface *s, manifold *out) {
    on_surface o = {.p = p, .a = a, .s = s, .out = out};
    collide_surface(&o);
}

/* Overlap that no contact accounts for: a spike, each of whose triangles is left more easily sideways, or many small
 * triangles deep inside.  The way out leads along the surface's normal at the deepest of them, or to the solid's
 * centre. */
static void add_lost_contact(const on_surface *o, int first) {
    v3 n = m3_times(o->p->X_ab.R, surface_feature_normal(o->s, o->lost.triangle, o->lost.feature));
    v3 to = v3_sub(o->a->centre, o->lost.point);
    double away = v3_norm(to);
    if (v3_dot(n, to) <= 0) {
        if (!o->s->solid || away <= DBL_EPSILON * o->a->extent) {
            return;
        }
        n = v3_scale(1 / away, to);
    }
    if (!convex_lifted(o->p, o->a, o->s, n, collide_lifted, o->out) && o->out->count == first) {
        add_plane_points(o, o->lost.point, n, &o->lost);
    }
}

void convex_on_surface(const pair *p, const convex *a, const surface *s, manifold *out) {
    on_surface o = {.p = p, .a = a, .s = s, .out = out};
    double distance;
    surface_place place;
    v3 centre = m3_transposed_times(p->X_ab.R, v3_sub(a->centre, p->X_ab.p));
    if (surface_holds(s, centre, &distance, &place)) {
        v3 n = distance < -1e-9 * a->least ? v3_scale(-1 / distance, v3_sub(place.point, centre)) : place.normal;
        add_plane_points(&o, pose_point(p->X_ab, place.point), m3_times(p->X_ab.R, n), &place);
        return;
    }
    int first = out->count;
    collide_surface(&o);
    if (o.worst > 0 && manifold_least_gap(out, first) > -MIN_DEPTH_OVER_TRIANGLE_DEPTH * o.worst) {
        add_lost_contact(&o, first);
    }
    manifold_group(p, out, first, SAME_NORMAL_COSINE, 1e-6 * a->least, MAX_POINTS_PER_GROUP, MAX_POINTS);
}
