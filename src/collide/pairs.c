/* Table of pair functions: one for each pair of shape types. */
#include "collide/contact/pair.h"
#include "collide/convex/convex.h"
#include "collide/field_pairs.h"
#include "collide/mesh/surface.h"
#include "collide/pressure/pressure.h"
#include "collide/primitive/primitives.h"

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

static void collide_soft(const pair *p, manifold *out) {
    if (p->a->pressure && p->b->pressure) {
        pressure_soft_soft(p, out);
    } else if (p->a->pressure) {
        pressure_soft_rigid(p, out);
    } else {
        pair_swapped(p, pressure_soft_rigid, out);
    }
}

double pair_apart(const pair *p, double enough, double too_near) {
    bool swap = p->a->type > p->b->type;
    const sim_shape *a = swap ? p->b : p->a, *b = swap ? p->a : p->b;
    if (b->type != SIM_SDF || a->type == SIM_HALF_SPACE || a->type > SIM_CONVEX || pressure_meets(a, b)) {
        return -HUGE_VAL;
    }
    pair ordered = {.a = a, .b = b, .X_ab = swap ? pose_inverse(p->X_ab) : p->X_ab};
    return field_apart(&ordered, enough, too_near);
}

void pair_collide(const pair *p, manifold *out) {
    if (pressure_meets(p->a, p->b)) {
        collide_soft(p, out);
        return;
    }
    bool swap = p->a->type > p->b->type;
    pair_function *f = swap ? function[p->b->type][p->a->type] : function[p->a->type][p->b->type];
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
