/* Contact of two round sides that lie along each other, and its derivatives by the motions of the bodies.
 *
 *     c, z, r, l     centre and axis, radius and length of a side, m
 *     n, u_k         normal from B to A; direction from side k to the other: -n of A, n of B
 *     P x            x - (n . x) n: places seen along n
 *     S              end of a line: of a capsule c +- l/2 z, of a cylinder c + r p +- l/2 z,  p = part of u_k across z, unit
 *     F              foot of P S on the other line:  c' + t z',  t = P (S - c') . P z' / |P z'|^2
 *     x              (P S + P F) / 2, and between both heights along n                                                 (1)
 *     a              |P S - P F| / 2: how far x is beside each line, m
 *     capsule        height of its axis, then sqrt(r^2 - a^2) / c towards the other,  c^2 = 1 - (z . n)^2; at its nearer
 *                    end without c
 *     cylinder       height of its line, then a^2 / (r + sqrt(r^2 - a^2)) away from the other
 *     n              across both axes:   z_k . (dn - w_k x n) = 0; or that of the deepest points (touch_round.c)
 *
 * All of these are differentiated as they are evaluated, along one motion (math/jet.h).  Sides that are parallel are at a
 * kink: as they tilt, the nearest point is at one end or at another.  There the derivative is that of a tilt towards the
 * first end of the first side that has one beside the other.
 * Reference: collide/manifold/manifold.c, add_edge_overlap.  Cost: 600 multiplications a motion. */
#include "math/jet.h"
#include "world/derivative/touch/touch.h"

#include <math.h>

static const double MAX_ERROR = 1e-9;     /* of point and gap, over the size of the solid */
static const double MIN_AXIS_SINE = 1e-6; /* of two axes that cross; closer ones are parallel */
static const double MAX_FALL = 0.5;       /* of an axis along the normal */

/* A side as it moves. */
typedef struct round_line {
    jet3 c, z, at; /* centre, axis, centre of the line */
    jet half, radius;
    bool hollow; /* the line is the core of a capsule */
} round_line;

static jet3 add3(jet3 a, jet3 b) { return (jet3){v3_add(a.x, b.x), v3_add(a.d, b.d), v3_add(a.dd, b.dd)}; }

static jet3 axpy3(jet3 a, jet s, jet3 b) {
    return (jet3){v3_axpy(a.x, s.x, b.x), v3_axpy(v3_axpy(a.d, s.d, b.x), s.x, b.d), a.dd};
}

/* P x */
static jet3 flatten(jet3 x, jet3 n) { return axpy3(x, jet_scale(-1, jet3_dot(x, n)), n); }

static jet3 carried(v3 x, v3 origin, sim_motion velocity) {
    return (jet3){x, v3_add(velocity.lin, v3_cross(velocity.ang, v3_sub(x, origin))), {0, 0, 0}};
}

static round_line line_of(const touch *t, const sim_motion velocity[2], const touch_growth *grow, int side, jet3 n) {
    const touch_side *s = &t->lying.side[side];
    round_line out = {.c = carried(s->c, t->origin[side], velocity[side]), .hollow = s->hollow};
    out.z = (jet3){s->z, v3_cross(velocity[side].ang, s->z), {0, 0, 0}};
    out.half = (jet){s->half, grow->half[side], 0};
    out.radius = (jet){s->radius, grow->radius[side], 0};
    out.at = out.c;
    if (!s->hollow) {
        jet3 towards = axpy3(n, jet_scale(-1, jet3_dot(n, out.z)), out.z);
        jet reach = jet_over(jet_scale(side == 0 ? -1 : 1, out.radius), jet3_norm(towards));
        out.at = axpy3(out.c, reach, towards);
    }
    return out;
}

/* Height of a side over the place of `x` on its line, beside it by the root of `square`. */
static jet height_of(const round_line *l, int side, jet3 n, jet3 x, jet square, bool nearer_end) {
    jet up = jet3_dot(n, x), rest = jet_axpy(jet_times(l->radius, l->radius), -1, square), root = jet_root(rest);
    double towards = side == 0 ? -1 : 1;
    if (!l->hollow) {
        jet away = jet_over(square, jet_axpy(l->radius, 1, root));
        return jet_axpy(up, -towards, away);
    }
    jet fall = jet3_dot(n, l->z), cosine = jet_root(jet_axpy(jet_constant(1), -1, jet_times(fall, fall)));
    return jet_axpy(up, towards, nearer_end ? root : jet_over(root, cosine));
}

/* (1) at an end of a side: the place, and heights of both. */
static jet3 place_of_end(const touch *t, const round_line line[2], jet3 n, int side, int end, jet height[2]) {
    const round_line *s = &line[side], *o = &line[!side];
    jet3 S = axpy3(s->at, jet_scale(end, s->half), s->z), z = flatten(o->z, n);
    jet along = jet_over(jet3_dot(flatten(jet3_sub(S, o->at), n), z), jet3_dot(z, z));
    jet3 F = axpy3(o->at, along, o->z), stray = flatten(jet3_sub(S, F), n), sum = add3(S, F);
    jet square = jet_scale(0.25, jet3_dot(stray, stray));
    bool nearer = (side == 0 ? -1 : 1) * end * v3_dot(t->n, s->z.x) > 0;
    height[side] = height_of(s, side, n, S, square, nearer);
    height[!side] = height_of(o, !side, n, F, square, false);
    jet3 middle = {v3_scale(0.5, sum.x), v3_scale(0.5, sum.d), {0, 0, 0}};
    return flatten(middle, n);
}

static v3 turn_across(const touch *t, const sim_motion velocity[2]) {
    v3 z[2] = {t->lying.side[0].z, t->lying.side[1].z}, n = t->n;
    double across = v3_dot(n, v3_cross(z[0], z[1])), by[2];
    for (int k = 0; k < 2; k++) {
        by[k] = v3_dot(z[k], v3_cross(velocity[k].ang, n)) / across;
    }
    return v3_axpy(v3_scale(by[0], v3_cross(z[1], n)), by[1], v3_cross(n, z[0]));
}

static touch_rate rate_at_end(const touch *t, const sim_motion velocity[2], const touch_growth *grow, v3 turn, int side,
                              int end, v3 *position, double *gap) {
    jet3 n = {t->n, turn, {0, 0, 0}};
    const round_line line[2] = {line_of(t, velocity, grow, 0, n), line_of(t, velocity, grow, 1, n)};
    jet height[2];
    jet3 place = place_of_end(t, line, n, side, end, height);
    jet apart = jet_axpy(height[0], -1, height[1]);
    jet3 x = axpy3(place, jet_axpy(height[1], t->part, apart), n);
    *position = x.x;
    *gap = apart.x;
    return (touch_rate){.x = x.d, .n = turn, .gap = apart.d};
}

touch_rate touch_rate_of_lying(const touch *t, const sim_motion velocity[2], const touch_growth *grow, const v3 *turn) {
    v3 position;
    double gap;
    return rate_at_end(t, velocity, grow, turn ? *turn : turn_across(t, velocity), t->lying.whose, t->lying.end,
                       &position, &gap);
}

/* Is the place of an end of a side on the line of the other? */
static bool stands_beside(const lying_touch *l, int side, int end) {
    const touch_side *s = &l->side[side], *o = &l->side[!side];
    v3 S = v3_axpy(s->c, end * s->half, s->z);
    return fabs(v3_dot(o->z, v3_sub(S, o->c))) <= o->half;
}

static bool set_side(const sim_shape *s, pose X, v3 n, touch_side *out) {
    *out = (touch_side){.c = X.p, .z = X.R.z, .half = 0.5 * s->size[1], .radius = s->size[0]};
    out->hollow = s->type == SIM_CAPSULE;
    return (out->hollow || s->type == SIM_CYLINDER) && fabs(v3_dot(X.R.z, n)) <= MAX_FALL;
}

bool touch_are_parallel(const sim_shape *const shape[2], const pose X[2], v3 n) {
    touch_side s[2];
    return set_side(shape[0], X[0], n, &s[0]) && set_side(shape[1], X[1], n, &s[1]) &&
           v3_norm(v3_cross(s[0].z, s[1].z)) <= MIN_AXIS_SINE && fabs(v3_dot(s[0].z, n)) <= MIN_AXIS_SINE;
}

bool touch_make_lying(const sim_shape *const shape[2], const pose X[2], const sim_contact *c, touch *t) {
    static const sim_motion still[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
    static const touch_growth none = {.radius = {0, 0}, .half = {0, 0}};
    static const v3 no_turn = {0, 0, 0};
    lying_touch *l = &t->lying;
    if (!set_side(shape[0], X[0], t->n, &l->side[0]) || !set_side(shape[1], X[1], t->n, &l->side[1])) {
        return false;
    }
    l->parallel = touch_are_parallel(shape, X, t->n);
    double size = l->side[0].half + l->side[1].half + l->side[0].radius + l->side[1].radius;
    /* the end of which these are the numbers */
    for (int k = 0; k < 4; k++) {
        v3 position;
        double gap;
        l->whose = k / 2;
        l->end = k % 2 ? 1 : -1;
        rate_at_end(t, still, &none, no_turn, l->whose, l->end, &position, &gap);
        if (v3_norm(v3_sub(position, c->at.position)) <= MAX_ERROR * size && fabs(gap - t->gap) <= MAX_ERROR * size) {
            t->lies_along = true;
            return true;
        }
    }
    return false;
}

bool touch_first_end(const lying_touch *l, int *side, int *end) {
    for (int k = 0; k < 4; k++) {
        *side = k / 2;
        *end = k % 2 ? 1 : -1;
        if (stands_beside(l, *side, *end)) {
            return true;
        }
    }
    return false;
}
