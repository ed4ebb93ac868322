/* Pair functions with a mesh or a height field.
 *
 * A mesh that is convex is a hull like any other.  Else the other shape, if convex, is laid on the mesh's surface. */
#include "collide/field/field_contact.h"
#include "collide/mesh/surface.h"

void pair_sphere_mesh(const pair *p, manifold *out) {
    if (p->b->geometry->hull) {
        pair_convex(p, out);
        return;
    }
    surface s = surface_of(p->b->geometry);
    ball_on_surface(p, p->a->size[0], &s, out);
}

void pair_convex_mesh(const pair *p, manifold *out) {
    convex a;
    if (p->b->geometry->hull) {
        pair_convex(p, out);
    } else if (convex_of_shape(p->a, &a)) {
        surface s = surface_of(p->b->geometry);
        convex_on_surface(p, &a, &s, out);
    }
}

/* Where surfaces coincide neither is under the other, however deep the solids are in each other. */
static void separate_coincident_surfaces(const pair *p, int first, manifold *out) {
    solid a = solid_of_shape(p->a), b = solid_of_shape(p->b);
    double touching = 1e-9 * fmin(a.extent, b.extent);
    for (int k = first; k < out->count; k++) {
        if (fabs(out->point[k].gap) > touching) {
            return;
        }
    }
    if (!out->failed) {
        encounter_overlap(p, &a, &b, first, out);
    }
}

void pair_mesh_mesh(const pair *p, manifold *out) {
    const sim_geometry *ga = p->a->geometry, *gb = p->b->geometry;
    if (ga->hull) {
        pair_convex_mesh(p, out);
    } else if (gb->hull) {
        pair_swapped(p, pair_convex_mesh, out);
    } else {
        surface a = surface_of(ga), b = surface_of(gb);
        int first = out->count;
        surface_on_surface(p, &a, &b, out);
        separate_coincident_surfaces(p, first, out);
    }
}

void pair_sphere_heights(const pair *p, manifold *out) {
    surface s = surface_of(p->b->geometry);
    ball_on_surface(p, p->a->size[0], &s, out);
}

void pair_convex_heights(const pair *p, manifold *out) {
    surface s = surface_of(p->b->geometry);
    convex a;
    if (convex_of_shape(p->a, &a)) {
        convex_on_surface(p, &a, &s, out);
    }
}

void pair_mesh_heights(const pair *p, manifold *out) {
    if (p->a->geometry->hull) {
        pair_convex_heights(p, out);
        return;
    }
    surface a = surface_of(p->a->geometry), b = surface_of(p->b->geometry);
    surface_on_surface(p, &a, &b, out);
}
