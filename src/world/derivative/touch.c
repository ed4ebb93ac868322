/* Point, normal and gap of a contact of primitives, and their derivatives by the motions of the bodies.
 *
 *     plane and solid    y = c - r m (ball), or a corner;    g = m . (y - o),    x = y - k g m,    dm = w x m
 *     two balls          m = (c_A - c_B) / |c_A - c_B|,    g = |c_A - c_B| - r_A - r_B,    x = c_B + (r_B + k g) m
 *
 *     m       normal from the plane to the solid, or from B to A;  o: point of the plane;  w: its angular velocity
 *     c, r    centre and radius, m;  y: lowest point of the solid, m
 *     d       from B's point to A's: 0, or g m of bodies that both move
 *     k       1/2: midway between the surfaces; 0 or 1 where the point is on the moving body (acting_point.c)
 *
 * Boxes and hulls, and balls with these or capsules: touch_facets.c.
 *
 * Contacts are recognised by their numbers: point and gap must be those of the formula.  So points of bodies that have
 * yet to meet (collide/sweep.c), and of other features, are refused.
 * Reference: collide/primitive.  Cost: some 50 multiplications a motion. */
#include "world/derivative/touch.h"

#include <math.h>

static const double MAX_ERROR = 1e-9; /* of point and gap, over the size of the solid */

static pose shape_pose(const sim_derived *d, int shape) {
    const sim_shape *s = &d->model->shape[shape];
    return pose_product(d->pose[s->body], s->pose);
}

static bool can_move(const sim_model *m, int body) {
    int tree = m->body[body].tree;
    return tree >= 0 && m->tree[tree].nv > 0;
}

/* Does the contact act on the surface of the only body that moves?  On that of which side?  -1: midway. */
static int acting_side(const sim_model *m, const sim_contact *c) {
    bool a = can_move(m, c->body_a), b = can_move(m, c->body_b);
    return a == b || !isinf(c->stiffness) || c->at.gap >= 0 ? -1 : a ? 0 : 1;
}

/* From the plane to the solid. */
static v3 upwards(const touch *t) { return t->solid == 0 ? t->n : v3_neg(t->n); }

static bool matches(const touch *t, const sim_contact *c, double size) {
    v3 m = upwards(t), y = v3_axpy(t->at[t->solid], -t->radius[t->solid], m);
    double gap = v3_dot(m, v3_sub(y, t->at[!t->solid]));
    v3 x = v3_axpy(y, -t->part * gap, m);
    return v3_norm(v3_sub(x, c->at.position)) <= MAX_ERROR * size && fabs(gap - t->gap) <= MAX_ERROR * size;
}

/* A corner of a box or a hull at the point of the contact. */
static bool find_corner(const sim_shape *s, pose X, const sim_contact *c, touch *t) {
    v3 y = v3_axpy(c->at.position, t->part * t->gap, upwards(t));
    return touch_find_corner(s, X, y, &t->at[t->solid]) && matches(t, c, v3_norm(v3_sub(y, X.p)));
}

static bool find_ball(const sim_shape *s, pose X, const sim_contact *c, touch *t) {
    int ends = s->type == SIM_CAPSULE ? 2 : 1;
    t->radius[t->solid] = s->size[0];
    for (int end = 0; end < ends; end++) {
        double along = ends == 1 ? 0 : (end ? 0.5 : -0.5) * s->size[1];
        t->at[t->solid] = v3_axpy(X.p, along, X.R.z);
        if (matches(t, c, s->size[0])) {
            return true;
        }
    }
    return false;
}

static bool balls_match(const touch *t, const sim_contact *c) {
    v3 way = v3_sub(t->at[0], t->at[1]);
    double length = v3_norm(way), size = fmax(t->radius[0], t->radius[1]);
    v3 n = v3_scale(1 / length, way), x = v3_axpy(t->at[1], t->radius[1] + t->part * t->gap, n);
    return length > 0 && fabs(length - t->radius[0] - t->radius[1] - t->gap) <= MAX_ERROR * size &&
           v3_norm(v3_sub(x, c->at.position)) <= MAX_ERROR * size && v3_norm(v3_sub(n, c->at.normal)) <= MAX_ERROR;
}

static bool find_balls(const sim_derived *d, const sim_contact *c, touch *t) {
    const int shape[2] = {c->shape_a, c->shape_b};
    t->kind = TOUCH_BALLS;
    for (int side = 0; side < 2; side++) {
        t->at[side] = shape_pose(d, shape[side]).p;
        t->radius[side] = d->model->shape[shape[side]].size[0];
    }
    return balls_match(t, c);
}

/* A ball and a box, a hull or a capsule. */
static const char *find_ball_on_solid(const sim_shape *const shape[2], const pose X[2], const sim_contact *c,
                                      touch *t) {
    bool found =
        touch_ball(shape, X, t) && (t->kind == TOUCH_PLANE ? matches(t, c, t->radius[t->solid]) : balls_match(t, c));
    return found ? NULL : "has a ball that has yet to meet a box, a hull or a capsule";
}

static bool meets_ball(const sim_shape *a, const sim_shape *b) {
    return a->type == SIM_SPHERE && (touch_is_polyhedron(b) || b->type == SIM_CAPSULE);
}

/* By the types of both shapes, then by the numbers of the contact. */
const char *touch_make(const sim_derived *d, const sim_contact *c, touch *t) {
    const sim_model *m = d->model;
    const sim_shape *a = &m->shape[c->shape_a], *b = &m->shape[c->shape_b];
    int acts = acting_side(m, c);
    *t = (touch){
        .n = c->at.normal, .gap = c->at.gap, .line = -1, .origin = {d->pose[c->body_a].p, d->pose[c->body_b].p}};
    t->spread = v3_dot(c->at.apart, c->at.apart) > 0;
    if (t->spread && v3_norm(v3_axpy(c->at.apart, -t->gap, t->n)) > MAX_ERROR * fabs(t->gap)) {
        return "has bodies that have yet to meet";
    }
    if (a->type == SIM_SPHERE && b->type == SIM_SPHERE) {
        t->part = acts < 0 ? 0.5 : acts == 0 ? 1 : 0;
        return find_balls(d, c, t) ? NULL : "has balls that have yet to meet";
    }
    if (a->type != SIM_HALF_SPACE && b->type != SIM_HALF_SPACE) {
        const sim_shape *const shape[2] = {a, b};
        const pose X[2] = {shape_pose(d, c->shape_a), shape_pose(d, c->shape_b)};
        t->part = acts < 0 ? 0.5 : acts == 0 ? 1 : 0;
        return touch_is_polyhedron(a) && touch_is_polyhedron(b) ? touch_solids(shape, X, c, t)
               : meets_ball(a, b) || meets_ball(b, a)           ? find_ball_on_solid(shape, X, c, t)
                                                      : "has contacts other than of balls, boxes, hulls, half-spaces, "
                                                        "and capsules with half-spaces or balls";
    }
    t->solid = a->type == SIM_HALF_SPACE;
    t->part = acts < 0 ? 0.5 : acts == t->solid ? 0 : 1;
    t->at[!t->solid] = shape_pose(d, t->solid ? c->shape_a : c->shape_b).p;
    const sim_shape *s = t->solid ? b : a;
    pose X = shape_pose(d, t->solid ? c->shape_b : c->shape_a);
    if (touch_is_polyhedron(s)) {
        return find_corner(s, X, c, t) ? NULL : "has a box or a hull that has yet to meet a half-space";
    }
    if (s->type == SIM_SPHERE || s->type == SIM_CAPSULE) {
        return find_ball(s, X, c, t) ? NULL
                                     : "has a ball or capsule that has yet to meet a half-space, or lies on its side";
    }
    return "has contacts of a half-space with a shape other than a ball, a capsule, a box or a hull";
}

static touch_rate rate_of(const touch *t, const sim_motion velocity[2]) {
    touch_rate out = {0};
    v3 rate[2] = {touch_velocity(t, velocity, 0), touch_velocity(t, velocity, 1)}, over = v3_sub(rate[0], rate[1]);
    if (t->kind == TOUCH_FACETS) {
        return touch_rate_of_facets(t, velocity);
    }
    if (t->kind == TOUCH_BALLS) {
        v3 way = v3_sub(t->at[0], t->at[1]);
        double length = v3_norm(way), reach = t->radius[1] + t->part * t->gap;
        if (t->line >= 0) { /* the foot of the ball's centre slips along the line */
            v3 e = t->facets.edge[t->line], turned = v3_cross(velocity[t->line].ang, e);
            over = v3_axpy(over, -(v3_dot(e, over) + v3_dot(way, turned)), e);
            rate[1] = t->line == 1 ? v3_sub(rate[0], over) : rate[1];
        }
        out.gap = v3_dot(t->n, over);
        out.n = v3_scale(1 / length, v3_axpy(over, -out.gap, t->n));
        out.x = v3_axpy(v3_axpy(rate[1], reach, out.n), t->part * out.gap, t->n);
        return out;
    }
    /* the plane turns its normal, and a ball keeps its lowest point */
    v3 m = upwards(t), turned = v3_cross(velocity[!t->solid].ang, m);
    v3 y = v3_axpy(t->at[t->solid], -t->radius[t->solid], m);
    v3 dy = v3_axpy(rate[t->solid], -t->radius[t->solid], turned);
    out.n = t->solid == 0 ? turned : v3_neg(turned);
    out.gap = v3_dot(turned, v3_sub(y, t->at[!t->solid])) + v3_dot(m, v3_sub(dy, rate[!t->solid]));
    out.x = v3_axpy(v3_axpy(dy, -t->part * t->gap, turned), -t->part * out.gap, m);
    return out;
}

touch_rate touch_along(const touch *t, const sim_motion velocity[2]) {
    touch_rate out = rate_of(t, velocity);
    if (t->spread) {
        out.apart = v3_axpy(v3_scale(out.gap, t->n), t->gap, out.n);
    }
    return out;
}
