/* Derivatives of a contact of primitives by a size of one of its shapes: how a point of its surface moves while the normal
 * stays, as which the rates of the contact take it.
 *
 *     ball, capsule    dx = u dr,  and at the ends of a capsule  +-z dl / 2;    on the side below the other end u dr / cos t
 *     cylinder         dx = p dr  at its side and rims,  +-z dl / 2  on its caps
 *     box              dx = +-k de_k / 2  on the faces across k
 *     ellipsoid        dx = (2 e_k u_k k - y e_k u_k^2 / h) de_k / h,    h = |E u|
 *
 *     u, p    direction to the other solid, and the way from the axis to the point;  z, k: axes of the shape
 *     r, l, e, E, y, t: radius, length, edges or semi-axes, touch.c, m
 *
 * Hulls and half-spaces have no sizes.  Reference: touch.c, touch_round.c.  Cost: that of a rate. */
#include "world/derivative/touch/touch.h"

#include <math.h>

static const double MAX_OFF_SIZE = 1e-9; /* of a point from a face, an end or a rim, over the size */

static v3 axis_of(const pose *X, int k) { return k == 0 ? X->R.x : k == 1 ? X->R.y : X->R.z; }

/* Towards the face across an axis if the point is there, by half of the size. */
static v3 grow_along(const pose *X, int axis, double place, double size) {
    bool there = fabs(fabs(place) - size / 2) <= MAX_OFF_SIZE * size;
    return v3_scale(there ? copysign(0.5, place) : 0, axis_of(X, axis));
}

static v3 grow_ellipsoid(const sim_shape *s, const pose *X, v3 out, int k) {
    const double *e = s->size;
    v3 u = m3_transposed_times(X->R, out);
    double h = v3_norm(v3_make(e[0] * u.x, e[1] * u.y, e[2] * u.z)), u_k = k == 0 ? u.x : k == 1 ? u.y : u.z;
    v3 y = {e[0] * e[0] * u.x / h, e[1] * e[1] * u.y / h, e[2] * e[2] * u.z / h};
    return v3_axpy(v3_scale(2 * e[k] * u_k / h, axis_of(X, k)), -e[k] * u_k * u_k / (h * h), m3_times(X->R, y));
}

/* At a point of the surface of a capsule that is seen along `out`: an end is a ball; over a point of the side, or of the
 * end that is higher, the surface is r / c off the axis (touch_round.c). */
static v3 grow_capsule(const sim_shape *s, const pose *X, v3 at, v3 out, int component) {
    double r = s->size[0], fall = v3_dot(X->R.z, out), lift[2] = {r, r / sqrt(fmax(1 - fall * fall, 1e-300))}, off[2];
    v3 own[2];
    for (int k = 0; k < 2; k++) {
        own[k] = m3_transposed_times(X->R, v3_sub(v3_axpy(at, -lift[k], out), X->p));
        off[k] = hypot(own[k].x, own[k].y);
    }
    int k = off[1] < off[0];
    return component == 0 ? v3_scale(lift[k] / r, out) : grow_along(X, 2, own[k].z, s->size[1]);
}

/* At a point of the surface; of a ball or capsule at the centre below it. */
static v3 grow_point(const sim_shape *s, const pose *X, v3 at, v3 out, int component) {
    static const v3 none = {0, 0, 0};
    v3 own = m3_transposed_times(X->R, v3_sub(at, X->p));
    double across = hypot(own.x, own.y), place = component == 0 ? own.x : component == 1 ? own.y : own.z;
    bool beside = across > 0 && fabs(across - s->size[0]) <= MAX_OFF_SIZE * s->size[0];
    switch (s->type) {
    case SIM_SPHERE:
        return component == 0 ? out : none;
    case SIM_CAPSULE:
        return component == 0 ? out : component == 1 ? grow_along(X, 2, own.z, s->size[1]) : none;
    case SIM_CYLINDER:
        if (component == 0 && beside) {
            return m3_times(X->R, v3_make(own.x / across, own.y / across, 0));
        }
        return component == 1 ? grow_along(X, 2, own.z, s->size[1]) : none;
    case SIM_BOX:
        return grow_along(X, component, place, s->size[component]);
    case SIM_ELLIPSOID:
        return grow_ellipsoid(s, X, out, component);
    default:
        return none;
    }
}

touch_rate touch_by_size(const sim_shape *s, pose X, const touch *t, int side, int component) {
    static const sim_motion still[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
    v3 out = side == 0 ? v3_neg(t->n) : t->n;
    bool hollow = t->kind == TOUCH_ROUND && s->type == SIM_CAPSULE; /* its points are on the surface */
    touch_growth grow = {.radius = {0, 0}, .half = {0, 0}};
    grow.radius[side] = component == 0;
    grow.half[side] = component == 1 ? 0.5 : 0;
    grow.point[side] = hollow && component < 2 ? grow_capsule(s, &X, t->at[side], out, component)
                                               : grow_point(s, &X, t->at[side], out, hollow ? 2 : component);
    if (t->lies && side == t->solid && component == 0) {
        grow.point[side] = v3_scale(t->radius[side] / s->size[0], grow.point[side]);
    }
    if (t->owned) {
        grow.owner[side] = hollow && component < 2 ? grow_capsule(s, &X, t->owner.x[side], out, component)
                                                   : grow_point(s, &X, t->owner.x[side], out, hollow ? 2 : component);
    }
    return touch_growing(t, still, &grow);
}
