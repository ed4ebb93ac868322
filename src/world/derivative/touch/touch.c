/* Point, normal and gap of a contact of primitives, and their derivatives by the motions of the bodies.
 *
 *     plane and solid    y = c - r m (ball), or a corner;    g = m . (y - o),    x = y - k g m,    dm = w x m
 *     two balls          m = (c_A - c_B) / |c_A - c_B|,    g = |c_A - c_B| - r_A - r_B,    x = c_B + (r_B + k g) m
 *     on a line          dc = v + a e,    e . d(c_A - c_B) + (w x e) . (c_A - c_B) = 0
 *     round on a plane   dy = v - K (dm - w_s x m),    K = E^2 / |E m| - y y' / |E m|,    r t t' / |P m| of a rim
 *
 *     m       normal from the plane to the solid, or from B to A;  o: point of the plane;  w: its angular velocity
 *     c, r    centre and radius, m;  y: lowest point of the solid, m
 *     d       from B's point to A's: 0, or g m of bodies that both move
 *     a, e    way along a line, m, and its direction;  v: velocity of the body there
 *     E, y    semi-axes of an ellipsoid, and its lowest point from the centre, m;  P m: m across a cylinder's axis, t across both
 *     k       1/2: midway between the surfaces; 0 or 1 where the point is on the moving body (acting_point.c)
 *
 * Boxes and hulls, and balls with these or capsules: touch_facets.c.  Cylinders and ellipsoids: touch_round.c.
 *
 * Contacts are recognised by their numbers: point and gap must be those of the formula.  So points of bodies that have
 * yet to meet (collide/sweep.c), and of other features, are refused.
 * Reference: collide/primitive.  Cost: some 50 multiplications a motion. */
#include "world/derivative/touch/touch.h"

#include <math.h>

static const double MAX_ERROR = 1e-9; /* of point and gap, over the size of the solid */

pose touch_shape_pose(const sim_derived *d, int shape) {
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

/* A ball; of a capsule at its lower end, or on the side below the other one (collide/primitive/half_space.c). */
static bool find_ball(const sim_shape *s, pose X, const sim_contact *c, touch *t) {
    int ends = s->type == SIM_CAPSULE ? 2 : 1;
    double fall = v3_dot(X.R.z, upwards(t)), cosine = sqrt(fmax(1 - fall * fall, 0));
    t->axis = X.R.z;
    for (int k = 0; k < ends; k++) {
        t->lies = ends == 2 && fall != 0 && (fall < 0) != k;
        double along = ends == 1 ? 0 : (k ? 0.5 : -0.5) * s->size[1];
        t->radius[t->solid] = t->lies ? s->size[0] / cosine : s->size[0];
        t->at[t->solid] = v3_axpy(X.p, along, X.R.z);
        if ((!t->lies || cosine > MAX_ERROR) && matches(t, c, s->size[0])) {
            return true;
        }
    }
    return false;
}

/* A lowest point of its own frame, with the slip there. */
static bool try_lowest(const sim_shape *s, pose X, const sim_contact *c, v3 own, m3 slip, touch *t) {
    t->at[t->solid] = pose_point(X, own);
    t->slip = m3_product(m3_product(X.R, slip), m3_transpose(X.R));
    return matches(t, c, fmax(s->size[0], s->size[1]));
}

static m3 outer_product(double scale, v3 a) {
    return (m3){v3_scale(scale * a.x, a), v3_scale(scale * a.y, a), v3_scale(scale * a.z, a)};
}

/* The lowest point of a rim, or one of four that turn with a cylinder that stands (collide/primitive/half_space.c). */
static bool find_rim(const sim_shape *s, pose X, const sim_contact *c, touch *t) {
    static const double turn[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    static const m3 none = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    v3 m = m3_transposed_times(X.R, upwards(t));
    double r = s->size[0], across = hypot(m.x, m.y);
    for (int end = -1; end <= 1; end += 2) {
        double z = 0.5 * end * s->size[1];
        if (across > 0) {
            v3 side = {-m.x / across, -m.y / across, 0}, along = {-side.y, side.x, 0};
            if (try_lowest(s, X, c, v3_make(r * side.x, r * side.y, z), outer_product(r / across, along), t)) {
                return true;
            }
        }
        for (int k = 0; k < 4; k++) {
            if (try_lowest(s, X, c, v3_make(r * turn[k][0], r * turn[k][1], z), none, t)) {
                return true;
            }
        }
    }
    return false;
}

static bool find_ellipsoid(const sim_shape *s, pose X, const sim_contact *c, touch *t) {
    const double *e = s->size;
    v3 m = m3_transposed_times(X.R, upwards(t)), square = {e[0] * e[0], e[1] * e[1], e[2] * e[2]};
    double far = v3_norm(v3_make(e[0] * m.x, e[1] * m.y, e[2] * m.z));
    v3 y = {-square.x * m.x / far, -square.y * m.y / far, -square.z * m.z / far};
    m3 K = outer_product(-1 / far, y);
    K.x.x += square.x / far;
    K.y.y += square.y / far;
    K.z.z += square.z / far;
    return try_lowest(s, X, c, y, K, t);
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
        t->at[side] = touch_shape_pose(d, shape[side]).p;
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

static bool has_core(const sim_shape *s) { return s->type == SIM_CAPSULE || touch_is_polyhedron(s); }

/* A capsule and a capsule, a box or a hull. */
static const char *find_capsule(const sim_shape *const shape[2], const pose X[2], const sim_contact *c, touch *t) {
    touch start = *t;
    if (!touch_are_parallel(shape, X, t->n) && !touch_hangs_over(shape, X, t->n) && touch_capsule(shape, X, c, t) &&
        (t->kind == TOUCH_PLANE ? matches(t, c, t->radius[t->solid]) : balls_match(t, c))) {
        return NULL;
    }
    /* beside the deepest point */
    *t = start;
    return touch_make_round(shape, X, c, t)
               ? NULL
               : "has a capsule that has yet to meet a capsule, a box or a hull, or meets it beside its faces";
}

/* A cylinder or an ellipsoid. */
static const char *find_round(const sim_shape *const shape[2], const pose X[2], const sim_contact *c, touch *t) {
    return touch_make_round(shape, X, c, t)
               ? NULL
               : "has a cylinder or an ellipsoid that has yet to meet a solid, or meets it beside its faces";
}

static bool is_convex(const sim_shape *s) {
    return s->type == SIM_SPHERE || s->type == SIM_CAPSULE || touch_is_polyhedron(s) || touch_is_round(s);
}

static bool meets_ball(const sim_shape *a, const sim_shape *b) {
    return a->type == SIM_SPHERE && (touch_is_polyhedron(b) || b->type == SIM_CAPSULE);
}

/* By the types of both shapes, then by the numbers of the contact. */
const char *touch_make(const sim_derived *d, const sim_contact *c, touch *t) {
    const sim_model *m = d->model;
    const sim_shape *a = &m->shape[c->shape_a], *b = &m->shape[c->shape_b];
    int acts = acting_side(m, c);
    *t = (touch){.n = c->at.normal, .gap = c->at.gap, .origin = {d->pose[c->body_a].p, d->pose[c->body_b].p}};
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
        const pose X[2] = {touch_shape_pose(d, c->shape_a), touch_shape_pose(d, c->shape_b)};
        t->part = acts < 0 ? 0.5 : acts == 0 ? 1 : 0;
        return touch_is_polyhedron(a) && touch_is_polyhedron(b) ? touch_solids(shape, X, c, t)
               : meets_ball(a, b) || meets_ball(b, a)           ? find_ball_on_solid(shape, X, c, t)
               : has_core(a) && has_core(b)                     ? find_capsule(shape, X, c, t)
               : is_convex(a) && is_convex(b)                   ? find_round(shape, X, c, t)
                                              : "has contacts other than of balls, capsules, boxes, hulls, cylinders, "
                                                "ellipsoids and half-spaces";
    }
    t->solid = a->type == SIM_HALF_SPACE;
    t->part = acts < 0 ? 0.5 : acts == t->solid ? 0 : 1;
    t->at[!t->solid] = touch_shape_pose(d, t->solid ? c->shape_a : c->shape_b).p;
    const sim_shape *s = t->solid ? b : a;
    pose X = touch_shape_pose(d, t->solid ? c->shape_b : c->shape_a);
    if (touch_is_polyhedron(s)) {
        return find_corner(s, X, c, t) ? NULL : "has a box or a hull that has yet to meet a half-space";
    }
    if (s->type == SIM_SPHERE || s->type == SIM_CAPSULE) {
        return find_ball(s, X, c, t) ? NULL : "has a ball or capsule that has yet to meet a half-space";
    }
    if (s->type == SIM_CYLINDER || s->type == SIM_ELLIPSOID) {
        bool found = s->type == SIM_CYLINDER ? find_rim(s, X, c, t) : find_ellipsoid(s, X, c, t);
        return found ? NULL : "has a cylinder or ellipsoid that has yet to meet a half-space";
    }
    return "has contacts of a half-space with a shape other than a ball, capsule, box, hull, cylinder or ellipsoid";
}

/* Ways of the balls along their lines: across both, or across one, their difference stays at right angles. */
static void slip_along(const touch *t, const sim_motion velocity[2], v3 over, v3 way, double along[2]) {
    double r[2] = {0, 0}, c = v3_dot(t->facets.edge[0], t->facets.edge[1]);
    for (int side = 0; side < 2; side++) {
        if (t->line[side]) {
            v3 e = t->facets.edge[side];
            r[side] = -v3_dot(e, over) - v3_dot(way, v3_cross(velocity[side].ang, e));
        }
    }
    bool both = t->line[0] && t->line[1];
    along[0] = both ? (r[0] - c * r[1]) / (1 - c * c) : r[0];
    along[1] = both ? (c * r[0] - r[1]) / (1 - c * c) : -r[1];
}

static touch_rate rate_of(const touch *t, const sim_motion velocity[2], const touch_growth *grow) {
    touch_rate out = {0};
    v3 rate[2] = {v3_add(touch_velocity(t, velocity, 0), grow->point[0]),
                  v3_add(touch_velocity(t, velocity, 1), grow->point[1])};
    v3 over = v3_sub(rate[0], rate[1]);
    if (t->kind == TOUCH_FACETS) {
        return touch_rate_of_facets(t, velocity, grow);
    }
    if (t->kind == TOUCH_ROUND) {
        return touch_rate_of_round(t, velocity, grow);
    }
    if (t->kind == TOUCH_BALLS) {
        v3 way = v3_sub(t->at[0], t->at[1]);
        double length = v3_norm(way), reach = t->radius[1] + t->part * t->gap;
        double along[2];
        slip_along(t, velocity, over, way, along);
        for (int side = 0; side < 2; side++) {
            if (t->line[side]) {
                over = v3_axpy(over, side ? -along[side] : along[side], t->facets.edge[side]);
                rate[side] = v3_axpy(rate[side], along[side], t->facets.edge[side]);
            }
        }
        out.gap = v3_dot(t->n, over);
        out.n = v3_scale(1 / length, v3_axpy(over, -out.gap, t->n));
        out.x = v3_axpy(v3_axpy(rate[1], reach, out.n), t->part * out.gap, t->n);
        return out;
    }
    /* the plane turns its normal, and a ball keeps its lowest point; that of other round solids slips */
    v3 m = upwards(t), turned = v3_cross(velocity[!t->solid].ang, m), own = v3_cross(velocity[t->solid].ang, m);
    v3 y = v3_axpy(t->at[t->solid], -t->radius[t->solid], m);
    v3 dy = v3_axpy(rate[t->solid], -t->radius[t->solid], turned);
    dy = v3_sub(dy, m3_times(t->slip, v3_sub(turned, own)));
    if (t->lies) {
        double fall = v3_dot(t->axis, m), change = v3_dot(t->axis, v3_sub(turned, own));
        dy = v3_axpy(dy, -t->radius[t->solid] * fall * change / (1 - fall * fall), m);
    }
    out.n = t->solid == 0 ? turned : v3_neg(turned);
    out.gap = v3_dot(turned, v3_sub(y, t->at[!t->solid])) + v3_dot(m, v3_sub(dy, rate[!t->solid]));
    out.x = v3_axpy(v3_axpy(dy, -t->part * t->gap, turned), -t->part * out.gap, m);
    return out;
}

touch_rate touch_along(const touch *t, const sim_motion velocity[2]) {
    static const touch_growth none = {.radius = {0, 0}, .half = {0, 0}};
    return touch_growing(t, velocity, &none);
}

touch_rate touch_growing(const touch *t, const sim_motion velocity[2], const touch_growth *grow) {
    touch_rate out = rate_of(t, velocity, grow);
    if (t->spread) {
        out.apart = v3_axpy(v3_scale(out.gap, t->n), t->gap, out.n);
    }
    return out;
}
