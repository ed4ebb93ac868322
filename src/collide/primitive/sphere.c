/* Contact of a sphere with a primitive.
 *
 * With the signed distance s of its centre from the other solid and the outward normal n there, the gap is s - r,
 * inside as well.  The depth of a sum of convex sets is the sum of the depths along one normal.  In A's frame the
 * centre is 0.
 *
 * Cost: constant. */
#include "collide/primitive/primitives.h"

/* One point, and one only: its feature never changes. */
static void add_sphere_contact(const pair *p, manifold *out, double distance, v3 normal) {
    double r = p->a->size[0];
    add_contact(p, out, v3_scale(-r, normal), normal, distance - r, 0);
}

void sphere_sphere(const pair *p, manifold *out) {
    v3 d = v3_neg(p->X_ab.p);
    double length = v3_norm(d);
    add_sphere_contact(p, out, length - p->b->size[0], direction_or(d, length, v3_make(0, 0, 1)));
}

void sphere_half_space(const pair *p, manifold *out) {
    v3 n = p->X_ab.R.z;
    add_sphere_contact(p, out, -v3_dot(n, p->X_ab.p), n);
}

/* The sphere's centre in B's frame. */
static v3 centre_in_b(const pair *p) { return v3_neg(m3_transposed_times(p->X_ab.R, p->X_ab.p)); }

void sphere_box(const pair *p, manifold *out) {
    /* offset of the centre beyond the faces */
    v3 centre = centre_in_b(p);
    double c[3] = {centre.x, centre.y, centre.z}, over[3], depth = -HUGE_VAL, n[3] = {0};
    int out_of = 0, shallow = 0;
    for (int k = 0; k < 3; k++) {
        double beyond = fabs(c[k]) - p->b->size[k] / 2;
        over[k] = copysign(fmax(beyond, 0), c[k]);
        out_of += beyond > 0;
        if (beyond > depth) {
            depth = beyond;
            shallow = k;
        }
    }
    /* nearest to an edge or a corner */
    if (out_of > 1) {
        v3 d = v3_make(over[0], over[1], over[2]);
        depth = v3_norm(d);
        add_sphere_contact(p, out, depth, m3_times(p->X_ab.R, direction_or(d, depth, v3_make(0, 0, 1))));
        return;
    }
    /* nearest to a face, or inside */
    n[shallow] = c[shallow] < 0 ? -1 : 1;
    add_sphere_contact(p, out, depth, m3_times(p->X_ab.R, v3_make(n[0], n[1], n[2])));
}

void sphere_capsule(const pair *p, manifold *out) {
    v3 c = centre_in_b(p);
    double half = p->b->size[1] / 2;
    v3 d = {c.x, c.y, c.z - fmin(fmax(c.z, -half), half)};
    double length = v3_norm(d);
    v3 n = direction_or(d, length, v3_make(1, 0, 0));
    add_sphere_contact(p, out, length - p->b->size[0], m3_times(p->X_ab.R, n));
}

void sphere_cylinder(const pair *p, manifold *out) {
    v3 c = centre_in_b(p);
    double across = sqrt(c.x * c.x + c.y * c.y), radial = across - p->b->size[0], axial = fabs(c.z) - p->b->size[1] / 2;
    v3 side = direction_or(v3_make(c.x, c.y, 0), across, v3_make(1, 0, 0)), up = {0, 0, c.z < 0 ? -1 : 1}, n;
    double distance = fmax(radial, axial);
    if (radial > 0 && axial > 0) {
        distance = sqrt(radial * radial + axial * axial);
        n = direction_or(v3_axpy(v3_scale(radial, side), axial, up), distance, side);
    } else {
        n = radial > axial ? side : up;
    }
    add_sphere_contact(p, out, distance, m3_times(p->X_ab.R, n));
}

void sphere_ellipsoid(const pair *p, manifold *out) {
    v3 n;
    double distance = ellipsoid_distance(p->b->size, centre_in_b(p), &n);
    add_sphere_contact(p, out, distance, m3_times(p->X_ab.R, n));
}
