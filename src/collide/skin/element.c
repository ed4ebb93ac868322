/* Elements of the surface of a soft body, named by the feature of a contact, and their nearest points.
 *
 *     x_A = sum a_i x_i,   x_B = sum b_j x_j,   sum a_i = sum b_j = 1,   |x_A - x_B| least over both elements
 *
 *     x_i, x_j  corners of the two elements, m;  a_i, b_j  their weights
 *
 * Reference: C. Ericson, Real-time collision detection, 2005, sections 5.1.5 (triangle) and 5.1.9 (segments).
 * Cost: some 100 flops. */
#include "collide/skin/element.h"
#include "collide/primitive/primitives.h"
#include "geometry/mesh/mesh.h"

enum { CODE_BITS = 30 };

skin_element skin_element_of(const sim_model *m, int soft, skin_kind kind, int index) {
    const sim_soft *s = &m->soft[soft];
    skin_element e = {soft, (uint32_t)kind << CODE_BITS | (uint32_t)index, kind, {s->body + 1 + index, -1, -1}};
    for (int k = 0; k < skin_corners(kind) && kind != SKIN_NODE; k++) {
        const int *corner = s->face[kind == SKIN_FACE ? index : index / 3];
        e.body[k] = s->body + 1 + corner[kind == SKIN_FACE ? k : (index + k) % 3];
    }
    return e;
}

int skin_soft_of(const sim_model *m, int body) {
    for (int k = 0; k < m->nsoft; k++) {
        const sim_soft *s = &m->soft[k];
        if (body > s->body && body <= s->body + s->nnode) {
            return k;
        }
    }
    return -1;
}

bool skin_is_contact(const sim_model *m, const sim_contact *c) {
    return m->nsoft > 0 && skin_soft_of(m, c->body_a) >= 0 && skin_soft_of(m, c->body_b) >= 0;
}

skin_element skin_side_of(const sim_model *m, const sim_contact *c, int side) {
    uint32_t code = (uint32_t)(side ? c->at.feature : c->at.feature >> 32);
    return skin_element_of(m, skin_soft_of(m, side ? c->body_b : c->body_a), (skin_kind)(code >> CODE_BITS),
                           (int)(code & ((1u << CODE_BITS) - 1)));
}

/* Weights of the corners for a point of the triangle's plane. */
static void weigh_corners(v3 a, v3 b, v3 c, v3 p, double weight[3]) {
    v3 normal = v3_cross(v3_sub(b, a), v3_sub(c, a)), x = v3_sub(p, a);
    double area2 = v3_dot(normal, normal);
    weight[1] = area2 > 0 ? v3_dot(normal, v3_cross(x, v3_sub(c, a))) / area2 : 0;
    weight[2] = area2 > 0 ? v3_dot(normal, v3_cross(v3_sub(b, a), x)) / area2 : 0;
    weight[0] = 1 - weight[1] - weight[2];
}

static int nearest_on_face(const skin_element *node, const skin_element *triangle, const sim_pose *X,
                           skin_point *on_node, skin_point *on_triangle) {
    int feature;
    v3 p = X[node->body[0]].p, a = X[triangle->body[0]].p, b = X[triangle->body[1]].p, c = X[triangle->body[2]].p;
    *on_node = (skin_point){{1, 0, 0}, p};
    on_triangle->at = triangle_nearest(a, b, c, p, &feature);
    weigh_corners(a, b, c, on_triangle->at, on_triangle->weight);
    return feature;
}

/* An edge as its middle, unit direction and half length. */
static double edge_line(const skin_element *e, const sim_pose *X, v3 *middle, v3 *along) {
    v3 a = X[e->body[0]].p, b = X[e->body[1]].p, d = v3_sub(b, a);
    double length = v3_norm(d);
    *middle = v3_scale(0.5, v3_add(a, b));
    *along = length > 0 ? v3_scale(1 / length, d) : v3_make(1, 0, 0);
    return 0.5 * length;
}

static skin_point point_of_edge(v3 middle, v3 along, double half, double s) {
    double second = half > 0 ? 0.5 * (1 + s / half) : 0.5;
    return (skin_point){{1 - second, second, 0}, v3_axpy(middle, s, along)};
}

int skin_nearest(const skin_element *a, const skin_element *b, const sim_pose *X, skin_point *on_a, skin_point *on_b) {
    if (a->kind == SKIN_NODE) {
        return nearest_on_face(a, b, X, on_a, on_b);
    }
    if (b->kind == SKIN_NODE) {
        return nearest_on_face(b, a, X, on_b, on_a);
    }
    v3 p, d, q, e;
    double s, t, half_a = edge_line(a, X, &p, &d), half_b = edge_line(b, X, &q, &e);
    segments_nearest(p, d, half_a, q, e, half_b, &s, &t);
    *on_a = point_of_edge(p, d, half_a, s);
    *on_b = point_of_edge(q, e, half_b, t);
    return 0;
}
