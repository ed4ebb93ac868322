/* Which function answers for which two types of shape. */

#include "collide/bounds.h"
#include "collide/convex.h"
#include "collide/field_pairs.h"
#include "collide/pair.h"
#include "collide/primitives.h"
#include "collide/surface.h"

#include <math.h>
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

/* The place in the table where the feature is, or an empty one. */
static size_t slot_of(const manifold *out, const int *seen, size_t room, uint64_t feature) {
    size_t at = (size_t)(feature * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (room - 1);
    while (seen[at] && out->point[seen[at] - 1].feature != feature) {
        at = (at + 1) & (room - 1);
    }
    return at;
}

void manifold_unique(const pair *p, manifold *out, int first) {
    double same = 1e-6 * fmin(shape_ball(p->a).radius, shape_ball(p->b).radius);
    uint64_t next = UINT64_C(1) << (p->a->type <= p->b->type ? 28 : 60); /* beside the number of a triangle or vertex */
    size_t mark = sim_arena_mark(p->arena), room = 16;
    while (room < 2 * (size_t)(out->count - first)) {
        room *= 2;
    }
    int *seen = ARENA_NEW(p->arena, int, room), kept = first; /* 1 + the point, 0 for none */
    if (!seen) {
        out->failed = 1;
        return;
    }
    memset(seen, 0, room * sizeof *seen);
    for (int k = first; k < out->count; k++) {
        contact_point c = out->point[k];
        size_t at = slot_of(out, seen, room, c.feature);
        while (seen[at] && v3_norm(v3_sub(out->point[seen[at] - 1].position, c.position)) > same) {
            c.feature += next;
            at = slot_of(out, seen, room, c.feature);
        }
        if (!seen[at]) {
            out->point[kept] = c;
            seen[at] = ++kept;
        } else if (c.gap < out->point[seen[at] - 1].gap) {
            out->point[seen[at] - 1] = c;
        }
    }
    out->count = kept;
    sim_arena_release(p->arena, mark);
}

/* Rows: the first type; columns: the second, never before the first.  0: these two never touch. */
/* clang-format off */
static pair_function *const function[SIM_SHAPE_TYPES][SIM_SHAPE_TYPES] = {
    [SIM_SPHERE][SIM_SPHERE] = sphere_sphere,
    [SIM_SPHERE][SIM_BOX] = sphere_box,
    [SIM_SPHERE][SIM_CAPSULE] = sphere_capsule,
    [SIM_SPHERE][SIM_CYLINDER] = sphere_cylinder,
    [SIM_SPHERE][SIM_ELLIPSOID] = sphere_ellipsoid,
    [SIM_SPHERE][SIM_HALF_SPACE] = sphere_half_space,
    [SIM_SPHERE][SIM_CONVEX] = pair_convex,
    [SIM_SPHERE][SIM_MESH] = pair_sphere_mesh,
    [SIM_SPHERE][SIM_HEIGHT_FIELD] = pair_sphere_heights,
    [SIM_SPHERE][SIM_SDF] = sphere_field,
    [SIM_BOX][SIM_BOX] = box_box,
    [SIM_BOX][SIM_CAPSULE] = box_capsule,
    [SIM_BOX][SIM_CYLINDER] = pair_convex,
    [SIM_BOX][SIM_ELLIPSOID] = pair_convex,
    [SIM_BOX][SIM_HALF_SPACE] = box_half_space,
    [SIM_BOX][SIM_CONVEX] = pair_convex,
    [SIM_BOX][SIM_MESH] = pair_convex_mesh,
    [SIM_BOX][SIM_HEIGHT_FIELD] = pair_convex_heights,
    [SIM_BOX][SIM_SDF] = sharp_field,
    [SIM_CAPSULE][SIM_CAPSULE] = capsule_capsule,
    [SIM_CAPSULE][SIM_CYLINDER] = pair_convex,
    [SIM_CAPSULE][SIM_ELLIPSOID] = pair_convex,
    [SIM_CAPSULE][SIM_HALF_SPACE] = capsule_half_space,
    [SIM_CAPSULE][SIM_CONVEX] = pair_convex,
    [SIM_CAPSULE][SIM_MESH] = pair_convex_mesh,
    [SIM_CAPSULE][SIM_HEIGHT_FIELD] = pair_convex_heights,
    [SIM_CAPSULE][SIM_SDF] = capsule_field,
    [SIM_CYLINDER][SIM_CYLINDER] = pair_convex,
    [SIM_CYLINDER][SIM_ELLIPSOID] = pair_convex,
    [SIM_CYLINDER][SIM_HALF_SPACE] = cylinder_half_space,
    [SIM_CYLINDER][SIM_CONVEX] = pair_convex,
    [SIM_CYLINDER][SIM_MESH] = pair_convex_mesh,
    [SIM_CYLINDER][SIM_HEIGHT_FIELD] = pair_convex_heights,
    [SIM_CYLINDER][SIM_SDF] = sharp_field,
    [SIM_ELLIPSOID][SIM_ELLIPSOID] = pair_convex,
    [SIM_ELLIPSOID][SIM_HALF_SPACE] = ellipsoid_half_space,
    [SIM_ELLIPSOID][SIM_CONVEX] = pair_convex,
    [SIM_ELLIPSOID][SIM_MESH] = pair_convex_mesh,
    [SIM_ELLIPSOID][SIM_HEIGHT_FIELD] = pair_convex_heights,
    [SIM_ELLIPSOID][SIM_SDF] = ellipsoid_field,
    [SIM_HALF_SPACE][SIM_CONVEX] = half_space_convex,
    [SIM_HALF_SPACE][SIM_MESH] = pair_half_space_surface,
    [SIM_HALF_SPACE][SIM_HEIGHT_FIELD] = pair_half_space_surface,
    [SIM_HALF_SPACE][SIM_SDF] = half_space_field,
    [SIM_CONVEX][SIM_CONVEX] = pair_convex,
    [SIM_CONVEX][SIM_MESH] = pair_convex_mesh,
    [SIM_CONVEX][SIM_HEIGHT_FIELD] = pair_convex_heights,
    [SIM_CONVEX][SIM_SDF] = sharp_field,
    [SIM_MESH][SIM_MESH] = pair_mesh_mesh,
    [SIM_MESH][SIM_HEIGHT_FIELD] = pair_mesh_heights,
    [SIM_MESH][SIM_SDF] = mesh_field,
    [SIM_HEIGHT_FIELD][SIM_SDF] = heights_field,
    [SIM_SDF][SIM_SDF] = field_field,
};
/* clang-format on */

pair_function *pair_function_of(sim_shape_type first, sim_shape_type second) { return function[first][second]; }

void pair_swapped(const pair *p, pair_function *f, manifold *out) {
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
    q.X_ab = p->X_ba ? *p->X_ba : pose_inverse(p->X_ab);
    q.X_ba = &p->X_ab;
    q.kept = kept;
    v3 parting = {0, 0, 0};
    if (p->parting) {
        parting = v3_neg(m3_transposed_times(p->X_ab.R, *p->parting));
        q.parting = &parting;
    }
    int first = out->count;
    f(&q, out);
    for (int k = first; k < out->count; k++) {
        contact_point *c = &out->point[k];
        c->position = pose_point(p->X_ab, c->position);
        c->normal = v3_neg(m3_times(p->X_ab.R, c->normal));
        c->feature = feature_swapped(c->feature);
    }
    if (p->parting) {
        *p->parting = v3_neg(m3_times(p->X_ab.R, parting));
    }
}

void pair_collide(const pair *p, manifold *out) {
    int swap = p->a->type > p->b->type;
    pair_function *f = swap ? pair_function_of(p->b->type, p->a->type) : pair_function_of(p->a->type, p->b->type);
    int first = out->count;
    if (f && swap) {
        pair_swapped(p, f, out);
    } else if (f) {
        f(p, out);
    }
    if ((p->a->type > SIM_CONVEX || p->b->type > SIM_CONVEX) && out->count > first + 1) {
        manifold_unique(p, out, first); /* one place may be found from several triangles */
    }
}
