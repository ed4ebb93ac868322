/* Contact of two polyhedra, or of a ball with one or with a capsule, and its derivatives by the motions of the bodies.
 *
 *     x_A - x_B = g n,    corner of s on a face of o:    x_s moves with s,    N . (dx_o - v_o) = 0                     (1)
 *     two edges:    dx_A = v_A + a e_A,    dx_B = v_B + b e_B                                                          (2)
 *     n of a face:    dn = w x n,    across two edges:    dn = (1 - n n') d(e_A x e_B) / (n . e_A x e_B)               (3)
 *
 *     x, v    point of a side, m, and velocity of its body there;  g: gap, m;  n: normal from B to A
 *     N, e    normal of a face, direction of an edge, both carried by their body of angular velocity w;  a, b: m
 *
 * (1), (2) with (3) give dg and dx.  Features are recognised by the numbers of the contact: points lie on them, and n is
 * that of the nearest candidate of (3).  Where two candidates agree to rounding, as of boxes that lie flat on each other,
 * the contact is at a kink, and the first one counts.  A ball meets a face as a plane, a corner as a ball without
 * radius, and an edge as the foot of its centre on the line.
 * Reference: collide/primitive/box_box.c, collide/manifold/manifold.c.  Cost: corners, faces and edges to recognise,
 * with pairs of edges across n; 200 multiplications a motion. */
#include "world/derivative/touch/touch.h"

#include <math.h>

static const double MAX_NORMAL_ERROR = 1e-9; /* of a candidate */
static const double SAME_NORMAL = 1e-13;     /* candidates closer than this are one normal */
static const double MAX_OFF_SIZE = 1e-9;     /* of a point from its feature, over the size of the solid */
static const double MIN_EDGE_SINE = 1e-6;    /* of two edges that cross */

/* A box or a hull, placed. */
typedef struct placed_solid {
    const sim_shape *shape;
    const sim_hull *hull; /* NULL of a box */
    pose X;
    double tolerance; /* m, of points on its features */
} placed_solid;

/* ---- features ---- */

static v3 corner_of_box(const sim_shape *s, int bits) {
    return v3_make((bits & 1 ? 0.5 : -0.5) * s->size[0], (bits & 2 ? 0.5 : -0.5) * s->size[1],
                   (bits & 4 ? 0.5 : -0.5) * s->size[2]);
}

static int corner_count(const placed_solid *s) { return s->hull ? s->hull->nvertex : 8; }

static v3 corner_at(const placed_solid *s, int k) {
    return pose_point(s->X, s->hull ? s->hull->vertex[k] : corner_of_box(s->shape, k));
}

static int face_count(const placed_solid *s) { return s->hull ? s->hull->nface : 6; }

/* Outward normal of a face, and how far out it is from the shape's origin. */
static v3 face_at(const placed_solid *s, int k, double *offset) {
    if (s->hull) {
        *offset = s->hull->offset[k];
        return m3_times(s->X.R, s->hull->normal[k]);
    }
    v3 way = k / 2 == 0 ? s->X.R.x : k / 2 == 1 ? s->X.R.y : s->X.R.z;
    *offset = s->shape->size[k / 2] / 2;
    return k % 2 ? way : v3_neg(way);
}

static int edge_count(const placed_solid *s) { return s->hull ? s->hull->face_start[s->hull->nface] : 12; }

/* Ends of an edge; of a hull each is there twice. */
static void edge_at(const placed_solid *s, int k, v3 end[2]) {
    int from, to;
    if (s->hull) {
        int f = 0;
        while (k >= s->hull->face_start[f + 1]) {
            f++;
        }
        from = s->hull->loop[k];
        to = s->hull->loop[k + 1 < s->hull->face_start[f + 1] ? k + 1 : s->hull->face_start[f]];
    } else {
        int along = k / 4, one = 1 << (along + 1) % 3, two = 1 << (along + 2) % 3;
        from = (k & 1 ? one : 0) | (k & 2 ? two : 0);
        to = from | 1 << along;
    }
    end[0] = corner_at(s, from);
    end[1] = corner_at(s, to);
}

static placed_solid place_solid(const sim_shape *shape, pose X) {
    placed_solid s = {.shape = shape, .X = X, .hull = shape->type == SIM_BOX ? NULL : shape->geometry->hull};
    double size = 0;
    for (int k = 0; k < corner_count(&s); k++) {
        size = fmax(size, v3_norm(v3_sub(corner_at(&s, k), X.p)));
    }
    s.tolerance = MAX_OFF_SIZE * size;
    return s;
}

/* ---- recognition ---- */

bool touch_is_polyhedron(const sim_shape *s) {
    return s->type == SIM_BOX || (s->type == SIM_CONVEX && s->geometry && s->geometry->hull);
}

bool touch_find_corner(const sim_shape *shape, pose X, v3 x, v3 *corner) {
    placed_solid s = place_solid(shape, X);
    double nearest = INFINITY;
    for (int k = 0; k < corner_count(&s); k++) {
        v3 at = corner_at(&s, k);
        double distance = v3_norm(v3_sub(at, x));
        *corner = distance < nearest ? at : *corner;
        nearest = fmin(nearest, distance);
    }
    return nearest <= s.tolerance;
}

/* The face that looks most along `out` of those on which the point lies. */
static bool find_face(const placed_solid *s, v3 x, v3 out, v3 *face) {
    double best = 0, offset;
    for (int k = 0; k < face_count(s); k++) {
        v3 normal = face_at(s, k, &offset);
        double along = v3_dot(normal, out);
        if (along > best && fabs(v3_dot(normal, v3_sub(x, s->X.p)) - offset) <= s->tolerance) {
            best = along;
            *face = normal;
        }
    }
    return best > 0;
}

/* The edge on which the point lies. */
static bool find_edge(const placed_solid *s, v3 x, v3 *edge) {
    for (int k = 0; k < edge_count(s); k++) {
        v3 end[2];
        edge_at(s, k, end);
        v3 along = v3_sub(end[1], end[0]), from = v3_sub(x, end[0]);
        double length = v3_norm(along), part = v3_dot(from, along) / (length * length);
        if (v3_norm(v3_axpy(from, -part, along)) <= s->tolerance && part >= 0 && part <= 1) {
            *edge = v3_scale(1 / length, along);
            return true;
        }
    }
    return false;
}

bool touch_find_edge(const sim_shape *shape, pose X, v3 x, v3 *edge) {
    placed_solid s = place_solid(shape, X);
    return find_edge(&s, x, edge);
}

bool touch_find_face(const sim_shape *shape, pose X, v3 x, v3 out, v3 *face) {
    placed_solid s = place_solid(shape, X);
    return find_face(&s, x, out, face);
}

bool touch_holds(const sim_shape *shape, pose X, v3 x) {
    placed_solid s = place_solid(shape, X);
    double offset;
    for (int k = 0; k < face_count(&s); k++) {
        v3 normal = face_at(&s, k, &offset);
        if (v3_dot(normal, v3_sub(x, X.p)) > offset + s.tolerance) {
            return false;
        }
    }
    return true;
}

v3 touch_farthest_corner(const sim_shape *shape, pose X, v3 out) {
    placed_solid s = place_solid(shape, X);
    v3 best = corner_at(&s, 0);
    for (int k = 1; k < corner_count(&s); k++) {
        v3 at = corner_at(&s, k);
        best = v3_dot(out, v3_sub(at, best)) > 0 ? at : best;
    }
    return best;
}

bool touch_farthest_edge(const sim_shape *shape, pose X, v3 out, double angle, v3 *edge) {
    placed_solid s = place_solid(shape, X);
    double far = v3_dot(out, touch_farthest_corner(shape, X, out));
    for (int k = 0; k < edge_count(&s); k++) {
        v3 end[2];
        edge_at(&s, k, end);
        v3 along = v3_sub(end[1], end[0]);
        double length = v3_norm(along), low = fmin(v3_dot(out, end[0]), v3_dot(out, end[1]));
        if (low >= far - angle * length) {
            *edge = v3_scale(1 / length, along);
            return true;
        }
    }
    return false;
}

bool touch_first_edge(const sim_shape *shape, pose X, v3 out, v3 x, v3 z, v3 *edge) {
    placed_solid s = place_solid(shape, X);
    v3 aside = v3_cross(out, z);
    double far = v3_dot(out, touch_farthest_corner(shape, X, out)) - s.tolerance, first = INFINITY;
    for (int k = 0; k < edge_count(&s); k++) {
        v3 end[2];
        edge_at(&s, k, end);
        double one = v3_dot(aside, v3_sub(end[0], x)), two = v3_dot(aside, v3_sub(end[1], x));
        bool level = v3_dot(out, end[0]) >= far && v3_dot(out, end[1]) >= far;
        if (!level || one * two > 0 || one == two) {
            continue;
        }
        v3 along = v3_sub(end[1], end[0]), crossing = v3_axpy(end[0], one / (one - two), along);
        double place = v3_dot(z, v3_sub(crossing, x));
        *edge = place < first ? v3_scale(1 / v3_norm(along), along) : *edge;
        first = fmin(first, place);
    }
    return isfinite(first);
}

bool touch_find_normal(const sim_shape *shape, pose X, v3 n, double angle, v3 *face) {
    placed_solid s = place_solid(shape, X);
    double offset, best = angle;
    bool found = false;
    for (int k = 0; k < face_count(&s); k++) {
        v3 normal = face_at(&s, k, &offset);
        double off = v3_norm(v3_sub(normal, n));
        if (off <= best) {
            *face = normal;
            best = off;
            found = true;
        }
    }
    return found;
}

/* How far the normal is from that of the nearest face. */
static double nearest_face(const touch *t, const placed_solid *s) {
    double offset, best = INFINITY;
    for (int k = 0; k < face_count(s); k++) {
        v3 normal = face_at(s, k, &offset);
        best = fmin(best, fmin(v3_norm(v3_sub(normal, t->n)), v3_norm(v3_add(normal, t->n))));
    }
    return best;
}

/* How far it is from being across two edges; nearest ones into `along`. */
static double nearest_edges(touch *t, const placed_solid s[2]) {
    v3 one[2], two[2];
    double best = INFINITY;
    for (int k = 0; k < edge_count(&s[0]); k++) {
        edge_at(&s[0], k, one);
        v3 a = v3_sub(one[1], one[0]);
        if (fabs(v3_dot(a, t->n)) > 2 * MAX_NORMAL_ERROR * v3_norm(a)) {
            continue;
        }
        for (int j = 0; j < edge_count(&s[1]); j++) {
            edge_at(&s[1], j, two);
            v3 b = v3_sub(two[1], two[0]), across = v3_cross(a, b);
            double size = v3_norm(across);
            if (size > MIN_EDGE_SINE * v3_norm(a) * v3_norm(b)) {
                across = v3_scale(1 / size, across);
                double error = fmin(v3_norm(v3_sub(across, t->n)), v3_norm(v3_add(across, t->n)));
                t->facets.along[0] = error < best ? a : t->facets.along[0];
                t->facets.along[1] = error < best ? b : t->facets.along[1];
                best = fmin(best, error);
            }
        }
    }
    return best;
}

/* The owner of the normal: a face of either solid, or two edges. */
static bool find_normal(touch *t, const placed_solid s[2]) {
    double face[2] = {nearest_face(t, &s[0]), nearest_face(t, &s[1])}, best = fmin(face[0], face[1]);
    double edges = best <= SAME_NORMAL ? INFINITY : nearest_edges(t, s);
    t->kink = fmax(face[0], face[1]) <= SAME_NORMAL;
    t->facets.turner = edges < best ? -1 : face[0] <= face[1] || t->kink ? 0 : 1;
    return fmin(best, edges) <= MAX_NORMAL_ERROR;
}

const char *touch_solids(const sim_shape *const shape[2], const pose X[2], const sim_contact *c, touch *t) {
    /* points of both sides, and the normal */
    facet_touch *f = &t->facets;
    const placed_solid s[2] = {place_solid(shape[0], X[0]), place_solid(shape[1], X[1])};
    t->kind = TOUCH_FACETS;
    t->at[1] = v3_axpy(c->at.position, -t->part * t->gap, t->n);
    t->at[0] = v3_axpy(t->at[1], t->gap, t->n);
    if (!find_normal(t, s)) {
        return "has boxes or hulls that meet at a corner, or have yet to meet";
    }
    /* a corner and a face, or two edges */
    for (int side = 0; side < 2; side++) {
        v3 out = side == 0 ? t->n : v3_neg(t->n), corner;
        if (touch_find_corner(shape[side], X[side], t->at[side], &corner) &&
            find_face(&s[!side], t->at[!side], out, &f->face)) {
            f->corner = side;
            return NULL;
        }
    }
    f->corner = -1;
    bool cross = find_edge(&s[0], t->at[0], &f->edge[0]) && find_edge(&s[1], t->at[1], &f->edge[1]) &&
                 v3_norm(v3_cross(f->edge[0], f->edge[1])) > MIN_EDGE_SINE;
    return cross ? NULL : "has boxes or hulls that meet beside their faces, or have yet to meet";
}

/* The side or an end of a capsule. */
static void meet_capsule(touch *t, const sim_shape *s, const pose *X, int ball) {
    v3 own = m3_transposed_times(X->R, v3_sub(t->at[ball], X->p));
    double half = s->size[1] / 2, along = fmin(fmax(own.z, -half), half);
    t->kind = TOUCH_BALLS;
    t->at[!ball] = v3_axpy(X->p, along, X->R.z);
    t->radius[!ball] = s->size[0];
    t->line[!ball] = fabs(own.z) < half;
    t->facets.edge[!ball] = X->R.z;
}

/* A face, a corner or an edge of a polyhedron, at the foot of the ball's centre. */
static bool meet_polyhedron(touch *t, const sim_shape *shape, const pose *X, int ball) {
    placed_solid s = place_solid(shape, *X);
    v3 out = ball == 0 ? t->n : v3_neg(t->n), face = {0, 0, 0}, corner;
    t->at[!ball] = v3_axpy(t->at[ball], -t->radius[ball] - t->gap, out);
    t->kind = TOUCH_BALLS;
    if (find_face(&s, t->at[!ball], out, &face) && v3_norm(v3_sub(face, out)) <= MAX_NORMAL_ERROR) {
        t->kind = TOUCH_PLANE;
        t->solid = ball;
        t->part = t->part == 0.5 ? 0.5 : t->part == (ball == 0) ? 0 : 1; /* from the ball, whichever side it is */
        return true;
    }
    if (touch_find_corner(shape, *X, t->at[!ball], &corner)) {
        return true;
    }
    t->line[!ball] = find_edge(&s, t->at[!ball], &t->facets.edge[!ball]);
    return t->line[!ball];
}

bool touch_ball(const sim_shape *const shape[2], const pose X[2], touch *t) {
    int ball = shape[0]->type == SIM_SPHERE ? 0 : 1;
    t->at[ball] = X[ball].p;
    t->radius[ball] = shape[ball]->size[0];
    if (shape[!ball]->type == SIM_CAPSULE) {
        meet_capsule(t, shape[!ball], &X[!ball], ball);
        return true;
    }
    return meet_polyhedron(t, shape[!ball], &X[!ball], ball);
}

/* The core of a capsule, or of a polyhedron without a face there, at a point of it: an end or a corner, or a line. */
static bool find_core(const sim_shape *shape, pose X, int side, touch *t) {
    v3 x = t->at[side], corner;
    if (shape->type == SIM_CAPSULE) {
        v3 own = m3_transposed_times(X.R, v3_sub(x, X.p));
        double half = 0.5 * shape->size[1], tolerance = MAX_OFF_SIZE * (half + shape->size[0]);
        t->line[side] = fabs(own.z) < half - tolerance;
        t->facets.edge[side] = X.R.z;
        return hypot(own.x, own.y) <= tolerance && fabs(own.z) <= half + tolerance;
    }
    placed_solid s = place_solid(shape, X);
    if (touch_find_corner(shape, X, x, &corner)) {
        return true;
    }
    t->line[side] = find_edge(&s, x, &t->facets.edge[side]);
    return t->line[side];
}

/* The other end of a capsule is seen over its axis: touch_round.c. */
static bool is_nearer_end(const touch *t, pose X, int side) {
    v3 out = side == 0 ? v3_neg(t->n) : t->n;
    return v3_dot(X.R.z, v3_sub(t->at[side], X.p)) * v3_dot(X.R.z, out) >= 0;
}

bool touch_capsule(const sim_shape *const shape[2], const pose X[2], const sim_contact *c, touch *t) {
    /* points of the cores */
    v3 on_b = v3_axpy(c->at.position, -t->part * t->gap, t->n), face = {0, 0, 0};
    for (int side = 0; side < 2; side++) {
        t->radius[side] = shape[side]->type == SIM_CAPSULE ? shape[side]->size[0] : 0;
    }
    t->at[0] = v3_axpy(on_b, t->gap + t->radius[0], t->n);
    t->at[1] = v3_axpy(on_b, -t->radius[1], t->n);
    t->kind = TOUCH_BALLS;
    /* an end on a face is a ball on a plane */
    for (int side = 0; side < 2; side++) {
        if (touch_is_polyhedron(shape[side])) {
            placed_solid s = place_solid(shape[side], X[side]);
            v3 out = side == 1 ? t->n : v3_neg(t->n);
            if (find_face(&s, t->at[side], out, &face) && v3_norm(v3_sub(face, out)) <= MAX_NORMAL_ERROR) {
                t->kind = TOUCH_PLANE;
                t->solid = !side;
                t->part = t->part == 0.5 ? 0.5 : t->part == (t->solid == 0) ? 0 : 1;
                return find_core(shape[!side], X[!side], !side, t) && !t->line[!side] &&
                       is_nearer_end(t, X[!side], !side);
            }
        }
    }
    if (!find_core(shape[0], X[0], 0, t) || !find_core(shape[1], X[1], 1, t)) {
        return false;
    }
    /* lines are at right angles to the normal, and to each other's common plane */
    bool across = true;
    for (int side = 0; side < 2; side++) {
        across = across && (!t->line[side] || fabs(v3_dot(t->facets.edge[side], t->n)) <= MAX_NORMAL_ERROR);
    }
    bool both = t->line[0] && t->line[1];
    return across && (!both || v3_norm(v3_cross(t->facets.edge[0], t->facets.edge[1])) > MIN_EDGE_SINE);
}

/* ---- rates ---- */

static v3 rate_of_normal(const touch *t, const sim_motion velocity[2]) {
    const facet_touch *f = &t->facets;
    if (f->turner >= 0) {
        return v3_cross(velocity[f->turner].ang, t->n);
    }
    v3 turned[2] = {v3_cross(velocity[0].ang, f->along[0]), v3_cross(velocity[1].ang, f->along[1])};
    v3 across = v3_add(v3_cross(turned[0], f->along[1]), v3_cross(f->along[0], turned[1]));
    double length = v3_dot(t->n, v3_cross(f->along[0], f->along[1]));
    return v3_scale(1 / length, v3_axpy(across, -v3_dot(t->n, across), t->n));
}

touch_rate touch_rate_of_facets(const touch *t, const sim_motion velocity[2], const touch_growth *grow) {
    /* normal, and what the gap adds to the way between the points */
    const facet_touch *f = &t->facets;
    touch_rate out = {.n = rate_of_normal(t, velocity)};
    v3 rate[2] = {v3_add(touch_velocity(t, velocity, 0), grow->point[0]),
                  v3_add(touch_velocity(t, velocity, 1), grow->point[1])};
    v3 over = v3_axpy(v3_sub(rate[0], rate[1]), -t->gap, out.n), from;
    if (f->corner >= 0) { /* (1) */
        out.gap = v3_dot(f->face, over) / v3_dot(f->face, t->n);
        from = f->corner == 1 ? rate[1] : v3_axpy(v3_axpy(rate[0], -out.gap, t->n), -t->gap, out.n);
    } else { /* (2) */
        v3 across = v3_cross(f->edge[0], f->edge[1]), rest;
        out.gap = v3_dot(across, over) / v3_dot(across, t->n);
        rest = v3_axpy(over, -out.gap, t->n);
        double b = v3_dot(rest, v3_cross(across, f->edge[0])) / v3_dot(across, across);
        from = v3_axpy(rate[1], b, f->edge[1]);
    }
    out.x = v3_axpy(v3_axpy(from, t->part * out.gap, t->n), t->part * t->gap, out.n);
    return out;
}
