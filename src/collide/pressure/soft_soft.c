/* Two soft solids: the surface on which both have the same pressure.
 *
 *     p_A(x) = E_A e_A(x),   p_B(x) = E_B e_B(x),   surface: p_A = p_B
 *
 * Both are linear within a tetrahedron each, so the surface within a pair of tetrahedra is the plane p_A - p_B = 0 of
 * normal n = grad (p_A - p_B), cut to both.  Pairs come from the hierarchy of A, each box of a tetrahedron asked of
 * that of B.  Cost: one plane, up to eight cuts a pair of tetrahedra whose boxes meet. */
#include "collide/pressure/pressure.h"
#include "collide/pressure/soft_contact.h"
#include "geometry/mesh/bvh.h"

typedef struct search {
    const pair *p;
    manifold *out;
    const sim_geometry *a, *b;
    pose X_ba; /* A's frame in B's */
    /* the tetrahedron of A at hand */
    int tet_a;
    v3 corner[4], slope; /* Pa/m */
    double level, size;
} search;

static bool meet_tet(void *context, int tet_b) {
    search *s = context;
    const sim_tets *b = s->b->tets;
    const pose *X = &s->p->X_ab;
    /* pressure of B in the frame of A */
    double E = s->p->b->modulus;
    v3 slope_b = v3_scale(E, m3_times(X->R, b->slope[tet_b])), rise = v3_sub(s->slope, slope_b);
    double level_b = E * b->level[tet_b] - v3_dot(slope_b, X->p), size = v3_norm(rise), difference[4];
    if (!(size > 0)) {
        return true;
    }
    for (int k = 0; k < 4; k++) {
        difference[k] = s->level - level_b + v3_dot(rise, s->corner[k]);
    }
    /* the plane within both */
    polygon patch;
    polygon_of_section(s->corner, difference, &patch);
    if (patch.count) {
        v3 corner_b[4];
        soft_corners(b, tet_b, X, corner_b);
        polygon_clip_to_tet(&patch, corner_b);
    }
    if (patch.count >= 3) {
        soft_add_contact(s->p, &patch, v3_scale(1 / size, rise), s->slope, slope_b, s->level, s->slope, s->size,
                         feature_pair((uint32_t)s->tet_a, (uint32_t)tet_b), s->out);
    }
    return !s->out->failed;
}

static bool meet_solid(void *context, int tet_a) {
    search *s = context;
    const sim_tets *a = s->a->tets;
    s->tet_a = tet_a;
    soft_corners(a, tet_a, NULL, s->corner);
    s->slope = v3_scale(s->p->a->modulus, a->slope[tet_a]);
    s->level = s->p->a->modulus * a->level[tet_a];
    s->size = soft_size(s->corner);
    /* its box in the frame of B */
    v3 low, high;
    soft_box_of(s->corner, &s->X_ba, &low, &high);
    bvh_in_box(s->b->bvh, 0, NULL, 0, low, high, meet_tet, s);
    return !s->out->failed;
}

void pressure_soft_soft(const pair *p, manifold *out) {
    search s = {.p = p,
                .out = out,
                .a = p->a->pressure,
                .b = p->b->pressure,
                .X_ba = p->X_ba ? *p->X_ba : pose_inverse(p->X_ab)};
    v3 low, high;
    soft_box_in(&p->X_ab, s.b->low, s.b->high, &low, &high);
    bvh_in_box(s.a->bvh, 0, NULL, 0, low, high, meet_solid, &s);
}
