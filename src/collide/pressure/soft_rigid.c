/* A soft solid against a rigid one: the surface of the rigid one within the soft one.
 *
 * The surface of contact is the part of the rigid solid's surface inside the soft one.  It is a plane or triangles: of
 * a mesh, a height field, a distance field, or the facets of simple solids.  Each triangle is cut to each tetrahedron.
 * The normal is that of the rigid surface.  Cost: four cuts a tetrahedron and triangle whose boxes meet. */
#include "collide/mesh/surface.h"
#include "collide/pressure/pressure.h"
#include "collide/pressure/soft_contact.h"

typedef struct search {
    const pair *p;
    manifold *out;
    const sim_geometry *a;
    surface b; /* of triangles */
    pose X_ba;
    /* the tetrahedron at hand */
    int tet;
    v3 corner[4], slope; /* in the frame of A; Pa/m */
    double level, size;
} search;

static void take_tet(search *s, int tet) {
    const sim_tets *a = s->a->tets;
    s->tet = tet;
    soft_corners(a, tet, NULL, s->corner);
    s->slope = v3_scale(s->p->a->modulus, a->slope[tet]);
    s->level = s->p->a->modulus * a->level[tet];
    s->size = soft_size(s->corner);
}

static void add_patch(const search *s, const polygon *patch, v3 n, int feature) {
    if (patch->count >= 3) {
        v3 rigid = {0, 0, 0};
        soft_add_contact(s->p, patch, n, s->slope, rigid, s->level, s->slope, s->size,
                         feature_pair((uint32_t)s->tet, (uint32_t)feature), s->out);
    }
}

static bool meet_plane(void *context, int tet) {
    search *s = context;
    v3 n = s->p->X_ab.R.z;
    double height[4];
    polygon patch;
    take_tet(s, tet);
    for (int k = 0; k < 4; k++) {
        height[k] = v3_dot(n, v3_sub(s->corner[k], s->p->X_ab.p));
    }
    polygon_of_section(s->corner, height, &patch);
    add_patch(s, &patch, n, 0);
    return !s->out->failed;
}

static bool meet_triangle(void *context, int triangle) {
    search *s = context;
    v3 corner[3];
    surface_corners(&s->b, triangle, corner);
    polygon patch = {.count = 3};
    for (int k = 0; k < 3; k++) {
        patch.corner[k] = pose_point(s->p->X_ab, corner[k]);
    }
    polygon_clip_to_tet(&patch, s->corner);
    if (patch.count >= 3) {
        add_patch(s, &patch, m3_times(s->p->X_ab.R, surface_normal_of(corner)), triangle);
    }
    return !s->out->failed;
}

static bool meet_triangles(void *context, int tet) {
    search *s = context;
    take_tet(s, tet);
    v3 low, high;
    soft_box_of(s->corner, &s->X_ba, &low, &high);
    surface_in_box(&s->b, low, high, meet_triangle, s);
    return !s->out->failed;
}

/* Tetrahedra on the plane or below it are all that may meet it; the box of A is small against a plane. */
static void meet_half_space(search *s) {
    const sim_geometry *a = s->a;
    bvh_in_box(a->bvh, 0, NULL, 0, a->low, a->high, meet_plane, s);
}

void pressure_soft_rigid(const pair *p, manifold *out) {
    search s = {.p = p, .out = out, .a = p->a->pressure, .X_ba = p->X_ba ? *p->X_ba : pose_inverse(p->X_ab)};
    const sim_geometry *triangles = p->b->facets ? p->b->facets : p->b->geometry;
    if (p->b->type == SIM_HALF_SPACE) {
        meet_half_space(&s);
    } else if (triangles) {
        v3 low, high;
        s.b = surface_of(triangles);
        soft_box_in(&p->X_ab, s.b.low, s.b.high, &low, &high);
        bvh_in_box(s.a->bvh, 0, NULL, 0, low, high, meet_triangles, &s);
    }
}
