/* Contact of a cylinder, an ellipsoid or a lying capsule with a convex solid, and its derivatives by the motions of the
 * bodies.
 *
 *     x_A - x_B = g n,    dx_A = v_A - K_A (dn - w_A x n) + sum a e,    dx_B = v_B + K_B (dn - w_B x n) + sum b e      (1)
 *     e . (dn - w x n) = 0    for each way on which the solids are flat along n                                        (2)
 *
 *     x, v    point of a side, m, and velocity of its body there;  w: angular velocity;  g: gap, m;  n: from B to A
 *     K       slip of the farthest point as the normal turns, m: the Hessian of the support function,
 *             r (1 - n n') of balls and capsules,  r t t' / |P n| of a cylinder,  (E^2 - y y') / |E n| of an ellipsoid,
 *             r / c (1 + s / c^2 n z') of a capsule seen along n from a point of its axis z,  s = z . n, c^2 = 1 - s^2
 *     P n, t  part of n across the axis, and the unit vector across both;  E, y: touch.c
 *     e       ways on which a point is free: one on an edge, a rim or the side of a cylinder or capsule, two on a face
 *
 * Of the deepest points (1) and (2) have the same ways.  Other points of a manifold lie where corners, edges, rims and
 * faces meet along n, with two ways together; their normal is that of a face, or that of the deepest points.
 * Reference: collide/convex/depth_newton.c, collide/manifold/manifold.c.  Cost: a system of 3 to 5 unknowns, factored
 * once; 150 multiplications a motion. */
#include "linalg/dense/lu.h"
#include "world/derivative/touch/touch.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double FLAT_RAD = 1e-9;     /* a way this near to right angles with the normal is across it */
static const double MAX_OFF_SIZE = 1e-9; /* of a point from its feature, over the size of the solid */
static const m3 NO_SLIP_M = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
enum { STRIDE = 8, WORK = 12 * STRIDE, CANDIDATES = 4, OCTAGON = 8 };

/* A solid, its point of the contact, and the direction to the other one: in the world, and in its own frame. */
typedef struct round_side {
    const sim_shape *shape;
    pose X;
    v3 x, out, own_x, own_out;
    double tolerance; /* m */
} round_side;

bool touch_is_round(const sim_shape *s) { return s->type == SIM_CYLINDER || s->type == SIM_ELLIPSOID; }

static round_side side_of(const sim_shape *shape, pose X, v3 x, v3 out) {
    round_side s = {shape, X, x, out, m3_transposed_times(X.R, v3_sub(x, X.p)), m3_transposed_times(X.R, out), 0};
    s.tolerance = MAX_OFF_SIZE * fmax(v3_norm(s.own_x), shape->type == SIM_CONVEX ? 0 : shape->size[0]);
    return s;
}

static m3 outer_product(double scale, v3 a) {
    return (m3){v3_scale(scale * a.x, a), v3_scale(scale * a.y, a), v3_scale(scale * a.z, a)};
}

/* From the frame of the solid. */
static touch_feature feature_of(const round_side *s, m3 slip, int ways, v3 one, v3 two) {
    m3 R = s->X.R;
    return (touch_feature){
        m3_product(m3_product(R, slip), m3_transpose(R)), ways, {m3_times(R, one), m3_times(R, two)}};
}

static touch_feature face_across(v3 normal) {
    v3 one = v3_perpendicular(normal);
    return (touch_feature){NO_SLIP_M, 2, {one, v3_cross(normal, one)}};
}

/* ---- deepest points ---- */

static m3 ball_slip(const round_side *s) {
    m3 K = outer_product(-s->shape->size[0], s->own_out);
    K.x.x += s->shape->size[0];
    K.y.y += s->shape->size[0];
    K.z.z += s->shape->size[0];
    return K;
}

static bool is_at(const round_side *s, v3 own) { return v3_norm(v3_sub(s->own_x, own)) <= s->tolerance; }

/* The lowest line of a cylinder, its place across the axis, with K. */
static v3 lowest_line(const round_side *s, m3 *slip) {
    double across = hypot(s->own_out.x, s->own_out.y), r = s->shape->size[0];
    v3 side = {s->own_out.x / across, s->own_out.y / across, 0}, t = {-side.y, side.x, 0};
    *slip = outer_product(r / across, t);
    return v3_scale(r, side);
}

static bool cylinder_support(const round_side *s, touch_feature *f) {
    const v3 *d = &s->own_out, *x = &s->own_x;
    v3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};
    double half = s->shape->size[1] / 2, end = d->z > 0 ? half : -half;
    m3 slip;
    if (hypot(d->x, d->y) <= FLAT_RAD) {
        *f = feature_of(s, NO_SLIP_M, 2, X, Y);
        return fabs(x->z - end) <= s->tolerance && hypot(x->x, x->y) <= s->shape->size[0] + s->tolerance;
    }
    v3 low = lowest_line(s, &slip);
    if (fabs(d->z) <= FLAT_RAD) {
        *f = feature_of(s, slip, 1, Z, Z);
        return is_at(s, v3_make(low.x, low.y, x->z)) && fabs(x->z) <= half + s->tolerance;
    }
    *f = feature_of(s, slip, 0, Z, Z);
    return is_at(s, v3_make(low.x, low.y, end));
}

static bool ellipsoid_support(const round_side *s, touch_feature *f) {
    const double *e = s->shape->size;
    v3 d = s->own_out, square = {e[0] * e[0], e[1] * e[1], e[2] * e[2]};
    double far = v3_norm(v3_make(e[0] * d.x, e[1] * d.y, e[2] * d.z));
    v3 y = {square.x * d.x / far, square.y * d.y / far, square.z * d.z / far};
    m3 K = outer_product(-1 / far, y);
    K.x.x += square.x / far;
    K.y.y += square.y / far;
    K.z.z += square.z / far;
    *f = feature_of(s, K, 0, d, d);
    return is_at(s, y);
}

static bool capsule_support(const round_side *s, touch_feature *f) {
    v3 centre = v3_axpy(s->own_x, -s->shape->size[0], s->own_out), Z = {0, 0, 1};
    double half = s->shape->size[1] / 2;
    int ways = fabs(s->own_out.z) <= FLAT_RAD;
    *f = feature_of(s, ball_slip(s), ways, Z, Z);
    double beyond = ways ? fabs(centre.z) - half : fabs(centre.z - copysign(half, s->own_out.z));
    return hypot(centre.x, centre.y) <= s->tolerance && beyond <= s->tolerance;
}

/* A face across the normal, a corner, or an edge at right angles to it. */
static bool polyhedron_support(const round_side *s, touch_feature *f) {
    v3 face, corner;
    *f = (touch_feature){NO_SLIP_M, 0, {s->out, s->out}};
    if (touch_find_face(s->shape, s->X, s->x, s->out, &face) && v3_norm(v3_sub(face, s->out)) <= FLAT_RAD) {
        *f = face_across(face);
        return true;
    }
    if (touch_find_corner(s->shape, s->X, s->x, &corner)) {
        return true;
    }
    f->ways = 1;
    return touch_find_edge(s->shape, s->X, s->x, &f->way[0]) && fabs(v3_dot(f->way[0], s->out)) <= FLAT_RAD;
}

/* The feature that is farthest out; false: the point is elsewhere. */
static bool find_support(const round_side *s, touch_feature *f) {
    switch (s->shape->type) {
    case SIM_SPHERE:
        *f = feature_of(s, ball_slip(s), 0, s->own_out, s->own_out);
        return is_at(s, v3_scale(s->shape->size[0], s->own_out));
    case SIM_CAPSULE:
        return capsule_support(s, f);
    case SIM_CYLINDER:
        return cylinder_support(s, f);
    case SIM_ELLIPSOID:
        return ellipsoid_support(s, f);
    default:
        return polyhedron_support(s, f);
    }
}

/* ---- other points ---- */

/* A corner of the octagon by which a cap is seen, the end of its lowest line, a point of the rim; of that line; of a cap
 * (collide/manifold/face.c). */
static int cylinder_candidates(const round_side *s, touch_feature f[CANDIDATES]) {
    const v3 *x = &s->own_x;
    v3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};
    double r = s->shape->size[0], half = s->shape->size[1] / 2, radius = hypot(x->x, x->y);
    bool at_end = fabs(fabs(x->z) - half) <= s->tolerance, at_rim = at_end && fabs(radius - r) <= s->tolerance;
    int count = 0;
    m3 slip;
    v3 low = lowest_line(s, &slip);
    bool lowest = hypot(x->x - low.x, x->y - low.y) <= s->tolerance;
    for (int k = 0; k < OCTAGON && at_rim && fabs(s->own_out.z) > 0.5 && count == 0; k++) { /* it stands */
        double angle = M_PI / 4 * k;
        if (is_at(s, v3_make(r * cos(angle), r * sin(angle), x->z))) {
            f[count++] = feature_of(s, NO_SLIP_M, 0, Z, Z);
        }
    }
    if (at_rim && lowest && count == 0) {
        f[count++] = feature_of(s, slip, 0, Z, Z);
    }
    if (at_rim) {
        f[count++] = feature_of(s, NO_SLIP_M, 1, v3_make(-x->y / radius, x->x / radius, 0), Z);
    } else if (at_end && radius < r) {
        f[count++] = feature_of(s, NO_SLIP_M, 2, X, Y);
    } else if (lowest && fabs(x->z) < half) {
        f[count++] = feature_of(s, slip, 1, Z, Z);
    }
    return count;
}

/* An end, as a ball, or as that of the side; a point of the side (collide/manifold/manifold.c, round_height). */
static int capsule_candidates(const round_side *s, touch_feature f[CANDIDATES]) {
    double r = s->shape->size[0], half = s->shape->size[1] / 2, fall = s->own_out.z, square = 1 - fall * fall;
    v3 Z = {0, 0, 1}, ball = v3_axpy(s->own_x, -r, s->own_out);
    int count = 0;
    bool nearer = ball.z * fall >= 0; /* the other end is seen over its axis */
    if (nearer && hypot(ball.x, ball.y) <= s->tolerance && fabs(fabs(ball.z) - half) <= s->tolerance) {
        f[count++] = feature_of(s, ball_slip(s), 0, Z, Z);
    }
    if (square > 0.5) {
        double height = r / sqrt(square);
        v3 axis = v3_axpy(s->own_x, -height, s->own_out), tilt = v3_scale(height * fall / square, s->own_out);
        m3 K = {{height, 0, 0}, {0, height, 0}, v3_add(v3_make(0, 0, height), tilt)}; /* by columns */
        bool on_axis = hypot(axis.x, axis.y) <= s->tolerance;
        if (on_axis && !nearer && fabs(fabs(axis.z) - half) <= s->tolerance) {
            f[count++] = feature_of(s, K, 0, Z, Z);
        } else if (on_axis && fabs(axis.z) < half) {
            f[count++] = feature_of(s, K, 1, Z, Z);
        }
    }
    return count;
}

/* Features of a solid on which its point lies. */
static int list_candidates(const round_side *s, touch_feature f[CANDIDATES]) {
    int count = 0;
    v3 corner, edge, face;
    if (s->shape->type == SIM_CAPSULE) {
        return capsule_candidates(s, f);
    }
    if (s->shape->type == SIM_CYLINDER) {
        return cylinder_candidates(s, f);
    }
    if (!touch_is_polyhedron(s->shape)) {
        return 0;
    }
    if (touch_find_corner(s->shape, s->X, s->x, &corner)) {
        f[count++] = (touch_feature){NO_SLIP_M, 0, {s->out, s->out}};
    }
    if (touch_find_edge(s->shape, s->X, s->x, &edge)) {
        f[count++] = (touch_feature){NO_SLIP_M, 1, {edge, edge}};
    }
    if (touch_find_face(s->shape, s->X, s->x, s->out, &face)) {
        f[count++] = face_across(face);
    }
    return count;
}

/* The ways on which a solid is flat across the normal, wherever its point is. */
static int flat_ways(const round_side *s, v3 way[2]) {
    touch_feature f = {NO_SLIP_M, 0, {s->out, s->out}};
    v3 face;
    if (s->shape->type == SIM_CYLINDER) {
        cylinder_support(s, &f);
    } else if (s->shape->type == SIM_CAPSULE) {
        capsule_support(s, &f);
    } else if (touch_is_polyhedron(s->shape) && touch_find_normal(s->shape, s->X, s->out, FLAT_RAD, &face)) {
        f = face_across(face);
    } else if (touch_is_polyhedron(s->shape) && touch_farthest_edge(s->shape, s->X, s->out, FLAT_RAD, &face)) {
        f = (touch_feature){NO_SLIP_M, 1, {face, face}};
    }
    way[0] = f.way[0];
    way[1] = f.way[1];
    return f.ways;
}

/* The farthest point along the normal of a cylinder, capsule or polyhedron; is it the only one, as of a rim, an end or a
 * corner? */
static v3 farthest_point(const round_side *s, bool *alone) {
    m3 slip;
    touch_feature f;
    if (s->shape->type == SIM_CYLINDER) {
        cylinder_support(s, &f);
        v3 low = lowest_line(s, &slip);
        *alone = f.ways == 0;
        return pose_point(s->X, v3_make(low.x, low.y, copysign(s->shape->size[1] / 2, s->own_out.z)));
    }
    if (s->shape->type == SIM_CAPSULE) {
        *alone = fabs(s->own_out.z) > FLAT_RAD;
        v3 end = {0, 0, copysign(s->shape->size[1] / 2, s->own_out.z)};
        return pose_point(s->X, v3_axpy(end, s->shape->size[0], s->own_out));
    }
    *alone = touch_is_polyhedron(s->shape);
    return *alone ? touch_farthest_corner(s->shape, s->X, s->out) : s->x;
}

/* ---- the system ---- */

static void hold(touch_round *r, int side, v3 way) {
    r->held_side[r->held] = side;
    r->held_way[r->held++] = way;
}

/* (1) along axes across n and along it, then (2): unknowns dn across, dg, slips. */
static bool factor_system(touch_round *r, v3 n) {
    double *H = r->LU, work[WORK];
    v3 axis[3] = {v3_perpendicular(n), v3_cross(n, v3_perpendicular(n)), n};
    memset(r->LU, 0, sizeof r->LU);
    r->across[0] = axis[0];
    r->across[1] = axis[1];
    r->unknowns = 3;
    for (int c = 0; c < 2; c++) {
        v3 column = v3_axpy(m3_times(r->point[0].slip, axis[c]), r->gap, axis[c]);
        column = v3_add(column, m3_times(r->point[1].slip, axis[c]));
        for (int row = 0; row < 3; row++) {
            H[row * STRIDE + c] = v3_dot(axis[row], column);
        }
        for (int k = 0; k < r->held; k++) {
            H[(3 + k) * STRIDE + c] = v3_dot(r->held_way[k], axis[c]);
        }
    }
    H[2 * STRIDE + 2] = 1;
    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < r->point[side].ways; k++, r->unknowns++) {
            for (int row = 0; row < 3; row++) {
                double along = v3_dot(axis[row], r->point[side].way[k]);
                H[row * STRIDE + r->unknowns] = side ? along : -along;
            }
        }
    }
    assert(lu_work(r->unknowns) <= WORK);
    return r->unknowns == 3 + r->held && lu_factor(r->unknowns, STRIDE, H, r->swap, work, NULL);
}

/* Of deepest points: false if these are none, or flat on each other. */
static bool make_deepest(const round_side s[2], v3 n, touch_round *r) {
    r->held = 0;
    if (!find_support(&s[0], &r->point[0]) || !find_support(&s[1], &r->point[1]) ||
        r->point[0].ways + r->point[1].ways > 2) {
        return false;
    }
    for (int side = 0; side < 2; side++) {
        r->x[side] = s[side].x;
        for (int k = 0; k < r->point[side].ways; k++) {
            hold(r, side, r->point[side].way[k]);
        }
    }
    r->gap = v3_dot(n, v3_sub(r->x[0], r->x[1]));
    return factor_system(r, n);
}

/* Of a point of a manifold, whose normal is that of a face, or across two edges: (2). */
static bool hold_face(touch *t, const round_side s[2]) {
    v3 way[2][2];
    int ways[2] = {flat_ways(&s[0], way[0]), flat_ways(&s[1], way[1])};
    t->kink = ways[0] == 2 && ways[1] == 2;
    for (int side = 0; side < 2; side++) {
        bool owns = ways[side] == 2 || (ways[0] < 2 && ways[1] < 2);
        for (int k = 0; k < ways[side] && owns && t->round.held < 2; k++) {
            hold(&t->round, side, way[side][k]);
        }
    }
    return t->round.held == 2;
}

/* A rim and an edge, or a corner and a side, own the normal: their deepest points, of which the rim or the corner has
 * but one. */
static bool find_owner(touch *t, const round_side s[2]) {
    v3 x[2];
    bool alone[2];
    for (int side = 0; side < 2; side++) {
        x[side] = farthest_point(&s[side], &alone[side]);
    }
    for (int side = 0; side < 2; side++) {
        v3 foot = v3_axpy(x[side], v3_dot(t->n, v3_sub(x[!side], x[side])), t->n), at[2];
        at[side] = x[side];
        at[!side] = foot;
        const round_side deepest[2] = {side_of(s[0].shape, s[0].X, at[0], s[0].out),
                                       side_of(s[1].shape, s[1].X, at[1], s[1].out)};
        if (alone[side] && make_deepest(deepest, t->n, &t->owner)) {
            t->owned = true;
            t->round.held = 0;
            hold(&t->round, 0, t->owner.across[0]);
            hold(&t->round, 0, t->owner.across[1]);
            return true;
        }
    }
    return false;
}

/* Sides along each other.  Of parallel ones the normal is that of the first end beside the other line, if that is the
 * nearest: it is flat on that line alone. */
static bool lie_along(touch *t, const sim_shape *const shape[2], const pose X[2], const sim_contact *c,
                      const round_side s[2]) {
    int side, end;
    if (!touch_make_lying(shape, X, c, t)) {
        return false;
    }
    if (!t->lying.parallel) {
        return t->round.held == 2;
    }
    if (!touch_first_end(&t->lying, &side, &end)) {
        return false;
    }
    v3 at[2];
    bool alone;
    at[side] = farthest_point(&s[side], &alone);
    double along = end * t->lying.side[side].half - v3_dot(X[side].R.z, v3_sub(at[side], X[side].p));
    at[side] = v3_axpy(at[side], along, X[side].R.z);
    v3 foot = farthest_point(&s[!side], &alone);
    at[!side] = v3_axpy(at[side], v3_dot(t->n, v3_sub(foot, at[side])), t->n);
    touch_round *r = &t->owner;
    for (int k = 0; k < 2; k++) {
        round_side deepest = side_of(s[k].shape, s[k].X, at[k], s[k].out);
        r->x[k] = at[k];
        if (!find_support(&deepest, &r->point[k])) {
            return false;
        }
    }
    r->held = 0;
    r->point[side].ways = 0;
    hold(r, !side, r->point[!side].way[0]);
    r->gap = v3_dot(t->n, v3_sub(r->x[0], r->x[1]));
    t->owned = t->kink = true;
    return factor_system(r, t->n);
}

/* Features with two ways together. */
static bool find_meeting(const round_side s[2], touch_feature point[2]) {
    touch_feature one[CANDIDATES], two[CANDIDATES];
    int ones = list_candidates(&s[0], one), twos = list_candidates(&s[1], two);
    for (int i = 0; i < ones; i++) {
        for (int k = 0; k < twos; k++) {
            if (one[i].ways + two[k].ways == 2) {
                point[0] = one[i];
                point[1] = two[k];
                return true;
            }
        }
    }
    return false;
}

/* A side that is level on a face: how many of its ends are beyond that?  0: it is none. */
static int count_ends_beyond(const round_side *line, const round_side *face) {
    v3 way[2];
    if (!touch_is_polyhedron(face->shape) || flat_ways(face, way) != 2 || flat_ways(line, way) != 1) {
        return 0;
    }
    double level = v3_dot(face->out, touch_farthest_corner(face->shape, face->X, face->out));
    int beyond = 0;
    for (int end = -1; end <= 1; end += 2) {
        v3 at = v3_axpy(line->X.p, 0.5 * end * line->shape->size[1], line->X.R.z);
        at = v3_axpy(at, level - v3_dot(face->out, at), face->out);
        beyond += !touch_holds(face->shape, face->X, at);
    }
    return beyond;
}

bool touch_hangs_over(const sim_shape *const shape[2], const pose X[2], v3 n) {
    const round_side s[2] = {side_of(shape[0], X[0], X[0].p, v3_neg(n)), side_of(shape[1], X[1], X[1].p, n)};
    return count_ends_beyond(&s[0], &s[1]) + count_ends_beyond(&s[1], &s[0]) > 0;
}

/* As a side that hangs over tilts, the edge where it does so owns the normal, or the face; of one that goes on beyond both
 * edges one of these.  There the first one counts. */
static bool hold_edge(touch *t, const round_side s[2]) {
    static const v3 later = {0, 0, 0};
    for (int side = 0; side < 2; side++) {
        const round_side *line = &s[side], *face = &s[!side];
        if (count_ends_beyond(line, face) == 2) {
            t->round.held = 0;
            hold(&t->round, side, line->X.R.z);
            hold(&t->round, !side, later);
            return touch_first_edge(face->shape, face->X, face->out, line->X.p, line->X.R.z, &t->round.held_way[1]);
        }
    }
    return true;
}

bool touch_make_round(const sim_shape *const shape[2], const pose X[2], const sim_contact *c, touch *t) {
    /* both points, and directions to the other solid */
    t->kind = TOUCH_ROUND;
    t->at[1] = v3_axpy(c->at.position, -t->part * t->gap, t->n);
    t->at[0] = v3_axpy(t->at[1], t->gap, t->n);
    const round_side s[2] = {side_of(shape[0], X[0], t->at[0], v3_neg(t->n)), side_of(shape[1], X[1], t->at[1], t->n)};
    /* the deepest points, or others of a manifold */
    bool parallel = touch_are_parallel(shape, X, t->n), hangs = touch_hangs_over(shape, X, t->n);
    if (!parallel && !hangs && make_deepest(s, t->n, &t->round)) {
        return true;
    }
    touch_round *r = &t->round;
    r->held = 0;
    r->x[0] = t->at[0];
    r->x[1] = t->at[1];
    r->gap = t->gap;
    bool turns = !parallel && (hold_face(t, s) ? hold_edge(t, s) : find_owner(t, s));
    t->kink |= hangs;
    return (turns && find_meeting(s, r->point) && factor_system(r, t->n)) || lie_along(t, shape, X, c, s);
}

/* ---- rates ---- */

/* Rates of n, gap and B's point; `turn`: that of n, or NULL. */
static touch_rate rate_of_system(const touch *t, const touch_round *r, const sim_motion velocity[2], const v3 grow[2],
                                 const v3 *turn) {
    v3 rate[2], turned[2], right = {0, 0, 0};
    for (int side = 0; side < 2; side++) {
        v3 lever = v3_sub(r->x[side], t->origin[side]);
        rate[side] = v3_add(v3_add(velocity[side].lin, v3_cross(velocity[side].ang, lever)), grow[side]);
        turned[side] = v3_cross(velocity[side].ang, t->n);
        right = v3_axpy(v3_add(right, m3_times(r->point[side].slip, turned[side])), side ? -1 : 1, rate[side]);
    }
    double x[STRIDE] = {v3_dot(r->across[0], right), v3_dot(r->across[1], right), v3_dot(t->n, right)};
    for (int k = 0; k < r->held; k++) {
        x[3 + k] = v3_dot(r->held_way[k], turn ? *turn : turned[r->held_side[k]]);
    }
    lu_solve(r->unknowns, STRIDE, r->LU, r->swap, x);
    touch_rate out = {.n = v3_axpy(v3_scale(x[0], r->across[0]), x[1], r->across[1]), .gap = x[2]};
    out.x = v3_add(rate[1], m3_times(r->point[1].slip, v3_sub(out.n, turned[1])));
    for (int k = 0; k < r->point[1].ways; k++) {
        out.x = v3_axpy(out.x, x[3 + r->point[0].ways + k], r->point[1].way[k]);
    }
    return out;
}

touch_rate touch_rate_of_round(const touch *t, const sim_motion velocity[2], const touch_growth *grow) {
    v3 turn = t->owned ? rate_of_system(t, &t->owner, velocity, grow->owner, NULL).n : t->n;
    if (t->lies_along) {
        return touch_rate_of_lying(t, velocity, grow, t->owned ? &turn : NULL);
    }
    touch_rate out = rate_of_system(t, &t->round, velocity, grow->point, t->owned ? &turn : NULL);
    out.x = v3_axpy(v3_axpy(out.x, t->part * out.gap, t->n), t->part * t->gap, out.n);
    return out;
}
