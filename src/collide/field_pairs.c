/* Contact of a signed distance field (always B) with each type of shape.
 *
 *     A                            whose triangles against whose distance
 *     sphere, capsule, ellipsoid   B's against A's, and A's core against B's
 *     half-space                   B's against A's
 *     box, cylinder, hull          B's against A's: smooth contact; A's edges and corners against B's
 *     mesh, heights                A's against B's; of a small closed mesh B's against A's too
 *     field                        the coarser's against the other's; the other's edges and corners too
 */
#include "collide/field_pairs.h"

#include "collide/convex/convex.h"
#include "collide/field/field_contact.h"
#include "collide/manifold/cluster.h"
#include "collide/mesh/surface.h"
#include "geometry/field/field.h"

enum {
    EXTENT_OVER_TRIANGLE = 4
}; /* a triangle longer than this part of the other solid may touch it in several places */

static pose inverse_pose(pose X) {
    m3 R = m3_transpose(X.R);
    return (pose){R, v3_neg(m3_times(R, X.p))};
}

static bool is_round_solid(const sim_shape *s) {
    return s->type == SIM_SPHERE || s->type == SIM_CAPSULE || s->type == SIM_ELLIPSOID;
}

/* A's surface in B's field, or B's in A's. */
static void collide_surface_with_field(const pair *p, const solid *a, const solid *b, int surface_is_a, int sharp_only,
                                       int first, manifold *out) {
    const solid *skin = surface_is_a ? a : b, *other = surface_is_a ? b : a;
    convex core;
    encounter e = {.pair = p,
                   .surface = skin,
                   .field = other,
                   .X_fs = surface_is_a ? inverse_pose(p->X_ab) : p->X_ab,
                   .margin = p->nearest ? fmin(p->margin, manifold_least_gap(out, first)) : p->margin,
                   .coarse = other->convex ? HUGE_VAL : other->extent / EXTENT_OVER_TRIANGLE,
                   .round = is_round_solid(p->a) && !surface_is_a && convex_of_shape(p->a, &core) ? &core : NULL,
                   .surface_is_a = surface_is_a,
                   .sharp_only = sharp_only,
                   .out = out,
                   .first = first};
    if (!encounter_run(&e)) {
        out->failed = 1;
    }
}

static void reduce_field_points(const pair *p, const solid *a, const solid *b, manifold *out, int first, int most) {
    double near = 1e-3 * fmin(a->extent, b->extent);
    encounter_overlap(p, a, b, first, out);
    cluster_join(p, out, first, near);
    flat_points(p, out, first, near);
    cluster_points(p, out, first, most, near);
}

/* A ball of A, centred at c: where is B's surface nearest?  Exact where B's distance is; where that is only a bound,
 * the nearest place found from there. */
static void add_ball_contact(const pair *p, const solid *b, v3 c, double radius, uint32_t feature, manifold *out) {
    pose X_ba = inverse_pose(p->X_ab);
    v3 in_b = pose_point(X_ba, c), g, on, normal;
    double f = b->distance(b, in_b, &g), length = v3_norm(g);
    if (!(f - radius < p->margin) || !(length > 0.5)) {
        return;
    }
    g = v3_scale(1 / length, g);
    if (solid_project(b, in_b, 2 * (fabs(f) + b->extent), &on, &normal)) {
        v3 apart = v3_sub(in_b, on);
        double d = v3_norm(apart), sign = f < 0 ? -1 : 1;
        if (d > 1e-9 * b->extent) {
            g = v3_scale(sign / d, apart);
            f = sign * d;
        }
    }
    double gap = f - radius;
    if (gap < p->margin) {
        v3 n = m3_times(p->X_ab.R, g), on_a = v3_axpy(c, -radius, n);
        contact_point at = point_between(v3_axpy(on_a, -0.5 * gap, n), n, gap, feature_pair(feature, 0));
        manifold_add(out, p->arena, &at);
    }
}

/* Of two points near each other on one side of a ball or an ellipsoid? */
static bool is_same_way(const contact_point *c, const contact_point *d, double near) {
    const double SAME_WAY =
        1 - 2 * FIELD_SLACK * FIELD_SLACK; /* cosine up to which directions count as parallel, to both sides */
    return v3_dot(c->normal, d->normal) > SAME_WAY && v3_norm(v3_sub(c->position, d->position)) <= near;
}

/* A round and an almost flat surface meet in one point. Of two from the same side the deeper one counts; the first,
 * unless another is deeper by more than rounding.  It has the name of the one that was there a step ago. */
static void keep_one_each_way(const pair *p, double extent, int first, manifold *out) {
    int left = first;
    for (int k = first; k < out->count; k++) {
        contact_point c = out->point[k];
        int j = first;
        while (j < left && !is_same_way(&out->point[j], &c, 0.1 * extent)) {
            j++;
        }
        if (j == left) {
            out->point[left++] = c;
            continue;
        }
        uint64_t name = pair_was_kept(p, c.feature) ? c.feature : out->point[j].feature;
        if (c.gap < out->point[j].gap - 1e-9 * extent) {
            out->point[j] = c;
        }
        out->point[j].feature = name;
    }
    out->count = left;
}

void sphere_field(const pair *p, manifold *out) {
    solid a = solid_of_shape(p->a), b = solid_of_shape(p->b);
    int first = out->count;
    add_ball_contact(p, &b, v3_make(0, 0, 0), p->a->size[0], 0, out);
    collide_surface_with_field(p, &a, &b, 0, 0, first, out);
    keep_one_each_way(p, a.extent, first, out);
    reduce_field_points(p, &a, &b, out, first, CLUSTER_MAX_POINTS);
}

/* B's distance at height z on the axis of A, and how it changes. */
static double distance_along_axis(const pair *p, const solid *b, const pose *X_ba, double z, double *slope) {
    v3 g;
    double f = b->distance(b, pose_point(*X_ba, v3_make(0, 0, z)), &g);
    *slope = v3_dot(g, m3_times(X_ba->R, v3_make(0, 0, 1)));
    (void)p;
    return f;
}

/* The balls at both ends, and at each local minimum of B's distance along the axis between samples. */
void capsule_field(const pair *p, manifold *out) {
    enum { AXIS_SAMPLES = 16, BISECTION_STEPS = 40 };
    solid a = solid_of_shape(p->a), b = solid_of_shape(p->b);
    pose X_ba = inverse_pose(p->X_ab);
    int first = out->count;
    double r = p->a->size[0], length = p->a->size[1], slope, last = 0;
    /* samples along the axis: the ends, and changes of sign of the slope */
    for (int k = 0; k <= AXIS_SAMPLES; k++) {
        double z = length * ((double)k / AXIS_SAMPLES - 0.5);
        double f = distance_along_axis(p, &b, &X_ba, z, &slope);
        int end = k == 0 ? slope > -FIELD_SLACK : k == AXIS_SAMPLES && slope < FIELD_SLACK;
        if (end && f - r < p->margin) {
            add_ball_contact(p, &b, v3_make(0, 0, z), r, k == 0 ? 1 : 2, out);
        }
        if (k > 0 && last < -FIELD_SLACK && slope > FIELD_SLACK && f - r < p->margin + length / AXIS_SAMPLES) {
            /* bisection of the slope */
            double low = z - length / AXIS_SAMPLES, high = z;
            for (int i = 0; i < BISECTION_STEPS; i++) {
                double middle = 0.5 * (low + high), s;
                distance_along_axis(p, &b, &X_ba, middle, &s);
                low = s < 0 ? middle : low;
                high = s < 0 ? high : middle;
            }
            add_ball_contact(p, &b, v3_make(0, 0, 0.5 * (low + high)), r, 3 + (uint32_t)k, out);
        }
        last = slope;
    }
    /* the surface of the capsule against the field, and a few of all points */
    collide_surface_with_field(p, &a, &b, 0, 0, first, out);
    keep_one_each_way(p, a.extent, first, out);
    reduce_field_points(p, &a, &b, out, first, CLUSTER_MAX_POINTS);
}

void half_space_field(const pair *p, manifold *out) {
    solid a = solid_of_shape(p->a), b = solid_of_shape(p->b);
    int first = out->count;
    collide_surface_with_field(p, &a, &b, 0, 0, first, out);
    reduce_field_points(p, &a, &b, out, first, CLUSTER_MAX_POINTS);
}

/* An ellipsoid that lies wholly within B meets none of its triangles: its point deepest along B's gradient is taken. */
static void add_swallowed_contact(const pair *p, const solid *b, manifold *out) {
    convex a;
    v3 g, here;
    uint32_t ignored;
    pose X_ba = inverse_pose(p->X_ab);
    if (!(b->distance(b, X_ba.p, &g) < 0) || !(v3_norm(g) > 0.5) || !convex_of_shape(p->a, &a)) {
        return;
    }
    here = convex_support(&a, v3_neg(m3_times(p->X_ab.R, g)), &ignored);
    double gap = b->distance(b, pose_point(X_ba, here), &g), length = v3_norm(g);
    if (gap < 0 && length > 0.5) {
        v3 n = v3_scale(1 / length, m3_times(p->X_ab.R, g));
        contact_point at = point_between(v3_axpy(here, -0.5 * gap, n), n, gap, feature_pair(1, 0));
        manifold_add(out, p->arena, &at);
    }
}

void ellipsoid_field(const pair *p, manifold *out) {
    solid a = solid_of_shape(p->a), b = solid_of_shape(p->b);
    int first = out->count;
    collide_surface_with_field(p, &a, &b, 0, 0, first, out);
    if (out->count == first) {
        add_swallowed_contact(p, &b, out);
    }
    keep_one_each_way(p, a.extent, first, out);
    reduce_field_points(p, &a, &b, out, first, CLUSTER_MAX_POINTS);
}

void sharp_field(const pair *p, manifold *out) {
    solid a = solid_of_shape(p->a), b = solid_of_shape(p->b);
    int first = out->count;
    collide_surface_with_field(p, &a, &b, 0, 0, first, out);
    encounter_edges(p, &a, &b, first, out);
    encounter_shorten(p, &a, &b, first, out);
    reduce_field_points(p, &a, &b, out, first, CLUSTER_MAX_POINTS);
}

void mesh_field(const pair *p, manifold *out) {
    enum { MAX_CHEAP_TRIANGLES = 1024 }; /* triangles of a mesh whose distance is asked for many times */
    solid a = solid_of_shape(p->a), b = solid_of_shape(p->b);
    int first = out->count;
    collide_surface_with_field(p, &a, &b, 1, 0, first, out);
    if (a.distance && (a.convex || a.mesh->ntriangle <= MAX_CHEAP_TRIANGLES || out->count == first)) {
        collide_surface_with_field(p, &a, &b, 0, 0, first, out);
    }
    reduce_field_points(p, &a, &b, out, first, CLUSTER_MAX_POINTS);
}

/* Ground is solid below: B's vertex that is deepest in it stands for a contact where none is half as deep. */
static void add_deepest_below_ground(const pair *p, const solid *b, int first, manifold *out) {
    surface ground = surface_of(p->a->geometry);
    surface_place here, at = {.triangle = -1};
    double least = 0, deepest = 0, f;
    int which = 0;
    for (int k = first; k < out->count; k++) {
        least = fmin(least, 2 * out->point[k].gap);
    }
    for (int v = 0; v < b->mesh->nvertex; v++) {
        v3 x = pose_point(p->X_ab, b->mesh->vertex[v]);
        if (x.z < ground.high.z + 2 * least && surface_holds(&ground, x, &f, &here) && f < fmin(least, deepest)) {
            deepest = f;
            at = here;
            which = v;
        }
    }
    if (at.triangle >= 0) {
        v3 x = pose_point(p->X_ab, b->mesh->vertex[which]), n = v3_neg(at.normal);
        contact_point c =
            point_between(v3_axpy(x, -0.5 * deepest, at.normal), n, deepest, feature_pair(3, (uint32_t)which));
        manifold_add(out, p->arena, &c);
    }
}

void heights_field(const pair *p, manifold *out) {
    const sim_geometry *g = p->b->geometry;
    solid a, b = solid_of_shape(p->b);
    v3 low = v3_make(HUGE_VAL, HUGE_VAL, HUGE_VAL), high = v3_neg(low);
    for (int k = 0; k < 8; k++) {
        v3 corner = v3_make(k & 1 ? g->high.x : g->low.x, k & 2 ? g->high.y : g->low.y, k & 4 ? g->high.z : g->low.z);
        v3 x = pose_point(p->X_ab, corner);
        low = v3_make(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
        high = v3_make(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
    }
    v3 margin = v3_make(p->margin, p->margin, p->margin);
    int first = out->count;
    if (!solid_heights(&a, p->a->geometry->heights, v3_sub(low, margin), v3_add(high, margin), p->arena)) {
        out->failed = 1;
        return;
    }
    collide_surface_with_field(p, &a, &b, 1, 0, first, out);
    add_deepest_below_ground(p, &b, first, out);
    reduce_field_points(p, &a, &b, out, first, CLUSTER_MAX_POINTS);
}

static double sampled_longest_edge(const sim_mesh *m) {
    double most = 0;
    for (int t = 0; t < m->ntriangle; t += 1 + m->ntriangle / 32) {
        const int *c = m->triangle[t];
        most = fmax(most, v3_norm(v3_sub(m->vertex[c[0]], m->vertex[c[1]])));
    }
    return most;
}

/* Approximate cost of the triangles of one field in the other: each evaluates the other once or so, and its own
 * distance a few times. */
static double traversal_cost(const solid *skin, const solid *other) {
    return skin->mesh->ntriangle * (2.0 * skin->geometry->field->nnode + other->geometry->field->nnode);
}

/* Are A's triangles to be gone through, and not B's?  The cheaper lose nothing, since contact is looked for on the true
 * surface; but they must be small against what they meet. */
static int should_traverse_a(const solid *a, const solid *b) {
    enum { EXTENT_OVER_SMALL_TRIANGLE = 4 };
    int small_a = sampled_longest_edge(a->mesh) * EXTENT_OVER_SMALL_TRIANGLE <= b->extent,
        small_b = sampled_longest_edge(b->mesh) * EXTENT_OVER_SMALL_TRIANGLE <= a->extent;
    return small_a == small_b ? traversal_cost(a, b) < traversal_cost(b, a) : small_a;
}

void field_field_most(const pair *p, manifold *out, int most) {
    solid a = solid_of_shape(p->a), b = solid_of_shape(p->b);
    int first = out->count, side = should_traverse_a(&a, &b);
    collide_surface_with_field(p, &a, &b, side, 0, first, out);
    if (out->count - first < most) { /* else they conform, and the other's edges have been met from this side */
        collide_surface_with_field(p, &a, &b, !side, 1, first, out);
    }
    reduce_field_points(p, &a, &b, out, first, most);
}

/* Of two fields one is always A, whichever is named first: so both orders have one answer.  The field whose triangles
 * are visited.  Of two alike the pose decides: d changes its sign when they are exchanged, and `line` is a direction in
 * which neither stacks nor rows are built. */
static int are_in_order(const pair *p) {
    const v3 line = {0.3607, 0.4793, 0.8001};
    solid a = solid_of_shape(p->a), b = solid_of_shape(p->b);
    int through = should_traverse_a(&a, &b);
    v3 d = v3_add(p->X_ab.p, m3_transposed_times(p->X_ab.R, p->X_ab.p));
    return through != should_traverse_a(&b, &a) ? through : v3_dot(line, d) >= 0;
}

static void collide_fields_in_order(const pair *p, manifold *out) { field_field_most(p, out, CLUSTER_MAX_POINTS); }

void field_field(const pair *p, manifold *out) {
    if (are_in_order(p)) {
        collide_fields_in_order(p, out);
    } else {
        pair_swapped(p, collide_fields_in_order, out);
    }
}
