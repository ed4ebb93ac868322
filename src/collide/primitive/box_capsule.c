/* Contact of a capsule with a box.
 *
 * Apart: the squared distance of the axis' point p + t d from the box is convex in t, and its slope
 *     2 sum_i d_i (x_i - clamp(x_i)),  x = p + t d,
 * is piecewise linear: the piece where it changes sign has the nearest point.  Crossing: the difference of box and
 * segment is a polyhedron.  Its normals are the box's axes and their cross products with d; the face nearest to the
 * origin gives the least depth.  The points follow from the faces, as for any two convex solids.
 *
 * Cost: constant. */
#include "collide/convex/convex.h"
#include "collide/primitive/primitives.h"

static const double TOUCHING_OVER_SIZE =
    1e-3; /* of the size: nearer, the direction between nearest points may be rounding */
static const double CROSSING_OVER_SIZE = 1e-13; /* of the size: nearer, the distance itself is */

typedef struct crossing {
    double half[3], p[3], d[3], t_most; /* box; axis of the capsule */
} crossing;

static double excess_over_box(const crossing *c, int k, double t) {
    double x = c->p[k] + t * c->d[k];
    return x - fmin(fmax(x, -c->half[k]), c->half[k]);
}

static double distance_slope(const crossing *c, double t) {
    return c->d[0] * excess_over_box(c, 0, t) + c->d[1] * excess_over_box(c, 1, t) + c->d[2] * excess_over_box(c, 2, t);
}

static double nearest_on_axis(const crossing *c) {
    double low = -c->t_most, high = c->t_most, at_low = distance_slope(c, low), at_high = distance_slope(c, high);
    if (at_low >= 0) {
        return low;
    }
    if (at_high <= 0) {
        return high;
    }
    for (int k = 0; k < 6; k++) { /* narrowed to one piece */
        double side = k & 1 ? c->half[k / 2] : -c->half[k / 2], t = (side - c->p[k / 2]) / c->d[k / 2];
        if (t > low && t < high) { /* never for a quotient by zero */
            double at = distance_slope(c, t);
            if (at <= 0) {
                low = t;
                at_low = at;
            } else {
                high = t;
                at_high = at;
            }
        }
    }
    return low + (high - low) * (at_low / (at_low - at_high));
}

/* Least of the box minus greatest of the segment, along n. */
static double separation_from_segment(const crossing *c, const double n[3]) {
    double sum = 0, along = 0, reach = 0;
    for (int k = 0; k < 3; k++) {
        sum -= n[k] * c->p[k];
        along += n[k] * c->d[k];
        reach += fabs(n[k]) * c->half[k];
    }
    return sum - reach - fabs(along) * c->t_most;
}

/* The direction, from segment to box, of greatest separation among those that can be. */
static double find_widest_direction(const crossing *c, double best[3]) {
    double most = -HUGE_VAL;
    for (int k = 0; k < 6; k++) {
        /* a face normal, or the cross product of an edge and the axis */
        double n[3] = {0}, side = 0;
        int i = k % 3, j = (k + 1) % 3, l = (k + 2) % 3;
        if (k < 3) {
            n[i] = 1;
        } else {
            double length = sqrt(c->d[j] * c->d[j] + c->d[l] * c->d[l]);
            if (!(length > 1e-14)) {
                continue;
            }
            n[j] = -c->d[l] / length;
            n[l] = c->d[j] / length;
        }
        /* sign towards the box */
        for (int m = 0; m < 3; m++) {
            side += n[m] * c->p[m];
        }
        for (int m = 0; m < 3; m++) {
            n[m] = side > 0 ? -n[m] : n[m];
        }
        /* the widest */
        double s = separation_from_segment(c, n);
        if (s > most) {
            most = s;
            best[0] = n[0], best[1] = n[1], best[2] = n[2];
        }
    }
    return most;
}

/* The better of two normals where the axis comes close: between the nearest points, or one that separation knows;
 * returns the separation. Sure of being at right angles to the axis where that goes on. */
static double refine_normal(const crossing *c, v3 e, double t, v3 between, convex_gap *gap, int *known) {
    double n[3] = {0}, apart = find_widest_direction(c, n);
    gap->normal = v3_make(n[0], n[1], n[2]);
    *known = 1;
    if (fabs(t) < c->t_most) {
        between = v3_axpy(between, -v3_dot(between, e), e);
    }
    double length = v3_norm(between);
    if (length > 0) {
        v3 m = v3_scale(1 / length, between);
        double s = separation_from_segment(c, (double[]){m.x, m.y, m.z});
        if (s > apart) {
            gap->normal = m;
            *known = 0;
            return s;
        }
    }
    return apart;
}

void box_capsule(const pair *p, manifold *out) {
    convex box, capsule;
    convex_of_shape(p->a, &box);
    convex_of_shape(p->b, &capsule);
    v3 o = p->X_ab.p, e = p->X_ab.R.z;
    crossing c = {{box.half[0], box.half[1], box.half[2]}, {o.x, o.y, o.z}, {e.x, e.y, e.z}, capsule.half[2]};
    double t = nearest_on_axis(&c), size = box.extent + capsule.extent;
    v3 on_axis = v3_axpy(o, t, e),
       d = {-excess_over_box(&c, 0, t), -excess_over_box(&c, 1, t), -excess_over_box(&c, 2, t)};
    double distance = v3_norm(d); /* d: from the axis to the box */
    if (distance - capsule.radius > p->margin) {
        return;
    }
    int known = 0;
    convex_gap gap = {.on_a = v3_add(on_axis, d), .certain = true};
    if (distance > TOUCHING_OVER_SIZE * size) {
        gap.normal = v3_scale(1 / distance, d);
    } else {
        double apart = refine_normal(&c, e, t, d, &gap, &known);
        distance = distance > CROSSING_OVER_SIZE * size ? fmax(distance, apart) : apart;
    }
    gap.gap = distance - capsule.radius;
    gap.on_b = v3_axpy(on_axis, capsule.radius, gap.normal);
    if (known) {
        facing_points(&box, &capsule, &p->X_ab, &gap);
    }
    if (gap.gap <= p->margin) {
        convex_manifold(p, &box, &capsule, &gap, out);
    }
}
