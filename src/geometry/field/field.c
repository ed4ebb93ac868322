/* Distance from a solid composed of simpler ones.
 *
 *   union         min_i d_i        intersection   max_i d_i        difference   max(d_0, -d_1, -d_2, ...)
 *   rounding r    d - r            placed at X    d(X^-1 p)
 *
 * (J. C. Hart 1996, "Sphere tracing", The Visual Computer 12, section 3 and appendix).  No leaf is steeper than 1, and
 * min, max, shifts and rigid motions keep that.  So |d(p) - d(q)| <= |p - q| for every field, and |d| never exceeds the
 * distance to the surface.  Moreover:
 *
 *   sphere, box, cylinder, thread without ends    d is the distance, inside and outside
 *   profile                                       outside too; inside at most the distance
 *   union                                         outside too, if each child's is; inside at most the distance
 *   intersection, difference, ends of a rod       at most the distance; the distance itself next to a smooth part of
 *                                                 the surface
 *   rounding                                      outside too, if the unrounded one's is
 *
 * The gradient is that of the child that decides; where two decide, of the first.  Children of a union that only touch
 * leave a wall of distance 0 between them: let them overlap.
 *
 * Cost: one distance of each leaf. */
#include "geometry/field/field.h"

static double sphere_node(double r, v3 p, v3 *g) {
    double n = v3_norm(p);
    *g = n > 1e-140 ? v3_scale(1 / n, p) : v3_make(0, 0, 1);
    return n - r;
}

/* How far p is beyond each pair of faces. */
static v3 box_excess(const double half[3], v3 p) {
    return v3_make(fabs(p.x) - half[0], fabs(p.y) - half[1], fabs(p.z) - half[2]);
}

/* The largest excess decides inside; outside those that are positive are legs of a right angle. */
static double box_node(const double half[3], v3 p, v3 *g) {
    v3 side = {copysign(1, p.x), copysign(1, p.y), copysign(1, p.z)}, q = box_excess(half, p);
    double most = max_of(q.x, max_of(q.y, q.z));
    v3 out = {max_of(q.x, 0), max_of(q.y, 0), max_of(q.z, 0)};
    double n = v3_norm(out);
    if (n > 1e-140) {
        *g = v3_make(side.x * (out.x / n), side.y * (out.y / n), side.z * (out.z / n));
        return n;
    }
    *g = most == q.x ? v3_make(side.x, 0, 0) : most == q.y ? v3_make(0, side.y, 0) : v3_make(0, 0, side.z);
    return most;
}

static double cylinder_node(const double half[3], v3 p, v3 *g) {
    double e[2], side = copysign(1, p.z);
    double across = field_radial(p.x, p.y, e) - half[0], along = fabs(p.z) - half[1];
    if (across > 0 && along > 0) {
        double n = sqrt(across * across + along * along);
        if (n > 1e-140) {
            *g = v3_make(across / n * e[0], across / n * e[1], along / n * side);
            return n;
        }
    }
    *g = across > along ? v3_make(e[0], e[1], 0) : v3_make(0, 0, side);
    return max_of(across, along);
}

double profile_distance(const field_profile *c, v3 p, v3 *g) {
    /* radius and direction from the axis */
    double e[2], r = field_radial(p.x, p.y, e);
    double least = HUGE_VAL, away[2] = {0, 0}, *across = away;
    double normal[2] = {1, 0};
    /* nearest segment of the profile in the plane (r, z) */
    for (int k = 0; k + 1 < c->count; k++) {
        const double *a = c->point[k], *step = c->step[k];
        double from[2] = {r - a[0], p.z - a[1]};
        double t = (from[0] * step[0] + from[1] * step[1]) * c->inverse_squared[k];
        t = fmin(fmax(t, 0), 1);
        double d[2] = {from[0] - t * step[0], from[1] - t * step[1]};
        double squared = d[0] * d[0] + d[1] * d[1];
        if (squared < least) {
            double length = sqrt(step[0] * step[0] + step[1] * step[1]);
            least = squared;
            across[0] = d[0];
            across[1] = d[1];
            normal[0] = length > 0 ? -step[1] / length : 1;
            normal[1] = length > 0 ? step[0] / length : 0;
        }
    }
    /* gradient: away from the nearest point, on the profile across the segment */
    double n = sqrt(least);
    if (n > 1e-140) {
        normal[0] = away[0] / n;
        normal[1] = away[1] / n;
    }
    *g = v3_make(normal[0] * e[0], normal[0] * e[1], normal[1]);
    return n - c->thickness;
}

/* `lead` of a thread: without bound next to a smooth part of its surface, or over a rod's ends.  Else 0: the others cost
 * little to ask again. */
static double leaf_distance(const field_node *n, v3 p, v3 *g, double *lead) {
    *lead = 0;
    switch (n->type) {
    case SIM_FIELD_SPHERE:
        return sphere_node(n->half[0], p, g);
    case SIM_FIELD_BOX:
        return box_node(n->half, p, g);
    case SIM_FIELD_CYLINDER:
        return cylinder_node(n->half, p, g);
    case SIM_FIELD_PROFILE:
        return profile_distance(n->profile, p, g);
    case SIM_FIELD_THREAD:
        return thread_distance(n->thread, p, g, lead);
    default:
        return grid_distance(n->grid, p, g);
    }
}

static v3 leaf_place(const field_node *n, v3 p) {
    return n->placed ? m3_transposed_times(n->X.R, v3_sub(p, n->X.p)) : p;
}

/* Boxes alone: a bound of the leaf's distance, from below for a union and else from above.  Inside a box both are the
 * distance. */
static double bound_leaf(const field_node *n, sim_field_type operation, v3 p) {
    if (n->type != SIM_FIELD_BOX) {
        return operation == SIM_FIELD_INTERSECTION ? HUGE_VAL : -HUGE_VAL;
    }
    v3 q = box_excess(n->half, leaf_place(n, p));
    double most = max_of(q.x, max_of(q.y, q.z));
    return (most > 0 && operation == SIM_FIELD_INTERSECTION ? HUGE_VAL : most) - n->rounding;
}

/* p and the gradient in the field's frame.  `lead`: of the leaf that decides over all others, in each operation; 0 where
 * that is not next to a smooth part of its surface.  No deeper than FIELD_MAX_DEPTH. */
static double node_distance(const sim_field *field, int at, v3 p, v3 *gradient, double *lead) {
    /* leaf, in its own frame */
    const field_node *n = &field->node[at];
    if (n->type < SIM_FIELD_UNION) {
        v3 local;
        double d = leaf_distance(n, leaf_place(n, p), &local, lead);
        *gradient = n->placed ? m3_times(n->X.R, local) : local;
        return d - n->rounding;
    }
    /* operands: minimum for a union, maximum for an intersection, negated for a difference; not asked where a bound of
     * it decides */
    double best = node_distance(field, at + 1, p, gradient, lead);
    for (int child = field->node[at + 1].end; child < n->end; child = field->node[child].end) {
        v3 g;
        double lead_of_child, sign = n->type == SIM_FIELD_DIFFERENCE ? -1 : 1;
        double d = sign * bound_leaf(&field->node[child], n->type, p);
        double behind = n->type == SIM_FIELD_UNION ? d - best : best - d;
        if (behind >= 0) {
            *lead = min_of(*lead, behind);
            continue;
        }
        d = sign * node_distance(field, child, p, &g, &lead_of_child);
        behind = n->type == SIM_FIELD_UNION ? d - best : best - d;
        if (behind < 0) {
            best = d;
            *gradient = v3_scale(sign, g);
            *lead = lead_of_child;
        }
        *lead = min_of(*lead, fabs(behind));
    }
    return best - n->rounding;
}

double field_distance_and_lead(const sim_field *field, v3 p, v3 *gradient, double *lead) {
    return node_distance(field, 0, p, gradient, lead);
}

double sim_field_distance(const sim_field *field, sim_v3 p, sim_v3 *gradient) {
    v3 unused;
    double lead;
    return node_distance(field, 0, p, gradient ? gradient : &unused, &lead);
}
