/* Which function answers for which two types of shape. */
#include "collide/pair.h"
#include "collide/primitives.h"

#include <string.h>

enum { FIRST_ROOM = 8 };

void manifold_add(manifold *out, sim_arena *arena, const contact_point *point) {
    if (out->count == out->room) {
        int room = out->room ? 2 * out->room : FIRST_ROOM;
        contact_point *moved = ARENA_NEW(arena, contact_point, room);
        if (!moved) {
            out->failed = 1;
            return;
        }
        if (out->count) {
            memcpy(moved, out->point, (size_t)out->count * sizeof *moved);
        }
        out->point = moved;
        out->room = room;
    }
    out->point[out->count++] = *point;
}

/* Rows: the first type; columns: the second, never before the first.  0: these two never touch. */
static pair_function *const function[SIM_SHAPE_TYPES][SIM_SHAPE_TYPES] = {
    [SIM_SPHERE][SIM_SPHERE] = sphere_sphere,
    [SIM_SPHERE][SIM_BOX] = sphere_box,
    [SIM_SPHERE][SIM_CAPSULE] = sphere_capsule,
    [SIM_SPHERE][SIM_CYLINDER] = sphere_cylinder,
    [SIM_SPHERE][SIM_ELLIPSOID] = sphere_ellipsoid,
    [SIM_SPHERE][SIM_HALF_SPACE] = sphere_half_space,
    [SIM_BOX][SIM_BOX] = box_box,
    [SIM_BOX][SIM_CAPSULE] = box_capsule,
    [SIM_BOX][SIM_HALF_SPACE] = box_half_space,
    [SIM_CAPSULE][SIM_CAPSULE] = capsule_capsule,
    [SIM_CAPSULE][SIM_HALF_SPACE] = capsule_half_space,
    [SIM_CYLINDER][SIM_HALF_SPACE] = cylinder_half_space,
    [SIM_ELLIPSOID][SIM_HALF_SPACE] = ellipsoid_half_space,
    [SIM_HALF_SPACE][SIM_CONVEX] = half_space_convex,
};

pair_function *pair_function_of(sim_shape_type first, sim_shape_type second) { return function[first][second]; }

void pair_collide(const pair *p, manifold *out) {
    if (p->a->type <= p->b->type) {
        pair_function *f = pair_function_of(p->a->type, p->b->type);
        if (f) {
            f(p, out);
        }
        return;
    }
    pair_function *f = pair_function_of(p->b->type, p->a->type);
    if (!f) {
        return;
    }
    pair q = *p;
    uint64_t *kept = p->nkept ? ARENA_NEW(p->arena, uint64_t, p->nkept) : NULL;
    if (p->nkept && !kept) {
        out->failed = 1;
        return;
    }
    for (int k = 0; k < p->nkept; k++) {
        kept[k] = feature_swapped(p->kept[k]);
    }
    q.a = p->b;
    q.b = p->a;
    q.X_ab = pose_inverse(p->X_ab);
    q.kept = kept;
    int first = out->count;
    f(&q, out);
    for (int k = first; k < out->count; k++) {
        contact_point *c = &out->point[k];
        c->position = pose_point(p->X_ab, c->position);
        c->normal = v3_neg(m3_times(p->X_ab.R, c->normal));
        c->feature = feature_swapped(c->feature);
    }
}
