/* Signed distances of the shapes that have a closed form, in the form in which fields have theirs.
 *
 * Ellipsoid: the nearest point x of the surface to p satisfies p - x = t grad/2, so x_i = a_i^2 p_i / (a_i^2 + t), and
 * t is the greatest root of  F(t) = sum (a_i p_i / (a_i^2 + t))^2 - 1  (Eberly, "Distance from a point to an ellipse,
 * an ellipsoid, or a hyperellipsoid", 2013). F is convex and falls right of its last pole: Newton from the left
 * converges. */
#include "collide/field/field_solid.h"
#include "geometry/field/field.h"
#include "geometry/field/field_mesh.h"
#include "geometry/mesh/mesh.h"

static double distance_of_half_space(const solid *s, v3 p, v3 *gradient) {
    (void)s;
    *gradient = v3_make(0, 0, 1);
    return p.z;
}

/* Away from a point that is the nearest of the core; `z` where p is the core itself. */
static double distance_of_rounded(v3 from_core, double radius, v3 otherwise, v3 *gradient) {
    double d = v3_norm(from_core);
    *gradient = d > 0 ? v3_scale(1 / d, from_core) : otherwise;
    return d - radius;
}

static double distance_of_sphere(const solid *s, v3 p, v3 *gradient) {
    return distance_of_rounded(p, s->size[0], v3_make(0, 0, 1), gradient);
}

static double distance_of_capsule(const solid *s, v3 p, v3 *gradient) {
    double half = s->size[1] / 2;
    p.z -= fmin(fmax(p.z, -half), half);
    return distance_of_rounded(p, s->size[0], v3_make(1, 0, 0), gradient);
}

static double distance_of_box(const solid *s, v3 p, v3 *gradient) {
    double q[3] = {fabs(p.x) - s->size[0] / 2, fabs(p.y) - s->size[1] / 2, fabs(p.z) - s->size[2] / 2};
    int k = q[0] >= q[1] && q[0] >= q[2] ? 0 : q[1] >= q[2] ? 1 : 2;
    double g[3] = {0, 0, 0}, distance = q[k];
    if (distance > 0) {
        distance = 0;
        for (int i = 0; i < 3; i++) {
            g[i] = fmax(q[i], 0);
            distance += g[i] * g[i];
        }
        distance = sqrt(distance);
        for (int i = 0; i < 3; i++) {
            g[i] /= distance;
        }
    } else {
        g[k] = 1;
    }
    *gradient = v3_make(copysign(g[0], p.x), copysign(g[1], p.y), copysign(g[2], p.z));
    return distance;
}

static double distance_of_cylinder(const solid *s, v3 p, v3 *gradient) {
    double r = hypot(p.x, p.y), across = r - s->size[0], along = fabs(p.z) - s->size[1] / 2;
    v3 out = r > 0 ? v3_make(p.x / r, p.y / r, 0) : v3_make(1, 0, 0), up = v3_make(0, 0, copysign(1, p.z));
    if (across > 0 && along > 0) {
        double d = hypot(across, along);
        *gradient = v3_add(v3_scale(across / d, out), v3_scale(along / d, up));
        return d;
    }
    *gradient = across > along ? out : up;
    return fmax(across, along);
}

static double distance_of_ellipsoid(const solid *s, v3 p, v3 *gradient) {
    const double *a = s->size;
    double q[3] = {p.x, p.y, p.z}, g[3], level = -1, t = -HUGE_VAL;
    double tiny = 1e-9 * fmin(a[0], fmin(a[1], a[2]));
    for (int i = 0; i < 3; i++) {
        /* Never on a plane of symmetry: there the inside has two nearest points, and this chooses one. */
        q[i] = fabs(q[i]) < tiny ? copysign(tiny, q[i]) : q[i];
        level += q[i] * q[i] / (a[i] * a[i]);
        t = fmax(t, a[i] * fabs(q[i]) - a[i] * a[i]); /* there one term alone is 1: left of the root */
    }
    for (int iteration = 0; iteration < 60; iteration++) {
        double F = -1, slope = 0;
        for (int i = 0; i < 3; i++) {
            double w = 1 / (a[i] * a[i] + t), u = a[i] * q[i] * w;
            F += u * u;
            slope -= 2 * u * u * w;
        }
        double step = -F / slope;
        if (!(step > 1e-15 * (fabs(t) + tiny * tiny))) {
            break;
        }
        t += step;
    }
    double length = 0, distance = 0;
    for (int i = 0; i < 3; i++) {
        double x = a[i] * a[i] * q[i] / (a[i] * a[i] + t);
        g[i] = x / (a[i] * a[i]);
        length += g[i] * g[i];
        distance += (q[i] - x) * (q[i] - x);
    }
    length = sqrt(length);
    *gradient = v3_make(g[0] / length, g[1] / length, g[2] / length);
    return copysign(sqrt(distance), level);
}

static double distance_of_mesh(const solid *s, v3 p, v3 *gradient) { return mesh_distance(s->geometry, p, gradient); }

/* From outside a convex solid: the nearest of the triangles that face p; the rest is farther. */
static double from_outside(const sim_mesh *m, v3 p, v3 *gradient) {
    double least = HUGE_VAL;
    for (int t = 0; t < m->ntriangle; t++) {
        const int *c = m->triangle[t];
        v3 away = v3_sub(p, m->vertex[c[0]]);
        if (v3_dot(triangle_cross(m, t), away) > 0) {
            int ignored;
            v3 d = v3_sub(p, triangle_nearest(m->vertex[c[0]], m->vertex[c[1]], m->vertex[c[2]], p, &ignored));
            double squared = v3_dot(d, d);
            if (squared < least && squared > 0) {
                least = squared;
                *gradient = d;
            }
        }
    }
    double distance = sqrt(least);
    if (isfinite(distance)) {
        *gradient = v3_scale(1 / distance, *gradient);
    }
    return distance;
}

/* Inside a convex solid the nearest plane is the distance; outside only where it stands before its own face. */
static double distance_of_hull(const solid *s, v3 p, v3 *gradient) {
    const sim_hull *h = s->geometry->hull;
    double best = -HUGE_VAL;
    int face = 0;
    for (int f = 0; f < h->nface; f++) {
        double d = v3_dot(h->normal[f], p) - h->offset[f];
        if (d > best) {
            best = d;
            face = f;
        }
    }
    *gradient = h->normal[face];
    double distance = best > 1e-12 * s->extent ? from_outside(s->mesh, p, gradient) : best;
    return isfinite(distance) ? distance : best;
}

static double distance_of_field(const solid *s, v3 p, v3 *gradient) {
    return sim_field_distance(s->geometry->field, p, gradient);
}

solid solid_of_shape(const sim_shape *shape) {
    const sim_geometry *g = shape->geometry;
    const double *a = shape->size;
    solid s = {.size = {a[0], a[1], a[2]}, .geometry = g, .extent = a[0], .convex = true};
    if (g) {
        s.mesh = g->mesh;
        s.bvh = g->mesh ? g->bvh : NULL; /* that of a height field has no triangles of its own */
        s.extent = 0.5 * v3_norm(v3_sub(g->high, g->low));
    }
    switch (shape->type) {
    case SIM_SPHERE:
        s.distance = distance_of_sphere;
        break;
    case SIM_BOX:
        s.distance = distance_of_box;
        s.extent = 0.5 * v3_norm(v3_make(a[0], a[1], a[2]));
        break;
    case SIM_CAPSULE:
        s.distance = distance_of_capsule;
        s.extent = a[0] + a[1] / 2;
        break;
    case SIM_CYLINDER:
        s.distance = distance_of_cylinder;
        s.extent = hypot(a[0], a[1] / 2);
        break;
    case SIM_ELLIPSOID:
        s.distance = distance_of_ellipsoid;
        s.extent = fmax(a[0], fmax(a[1], a[2]));
        break;
    case SIM_HALF_SPACE:
        s.distance = distance_of_half_space;
        s.extent = HUGE_VAL;
        break;
    case SIM_SDF:
        s.distance = distance_of_field;
        s.convex = false;
        s.curved = true;
        s.skin = g->skin;
        s.mesh = g->skin->mesh;
        s.bvh = g->skin->bvh;
        break;
    case SIM_CONVEX:
        s.distance = distance_of_hull;
        break;
    case SIM_MESH:
        s.convex = g->hull != NULL;
        s.distance = g->hull ? distance_of_hull : g->mesh->closed ? distance_of_mesh : NULL;
        break;
    case SIM_HEIGHT_FIELD:
    case SIM_SHAPE_TYPES:
        break;
    }
    return s;
}

void solid_box(const sim_shape *shape, const solid *s, v3 *low, v3 *high) {
    double r = s->extent;
    v3 reach = shape->type == SIM_BOX        ? v3_make(s->size[0] / 2, s->size[1] / 2, s->size[2] / 2)
               : shape->type == SIM_CYLINDER ? v3_make(s->size[0], s->size[0], s->size[1] / 2)
               : shape->type == SIM_CAPSULE  ? v3_make(s->size[0], s->size[0], s->size[0] + s->size[1] / 2)
                                             : v3_make(r, r, r);
    if (shape->type == SIM_ELLIPSOID) {
        reach = v3_make(s->size[0], s->size[1], s->size[2]);
    }
    *low = s->geometry ? s->geometry->low : v3_neg(reach);
    *high = s->geometry ? s->geometry->high : reach;
}

/* `lead` as of field_distance_and_lead; 0: not known. */
static double distance_and_lead(const solid *s, v3 p, v3 *gradient, double *lead) {
    *lead = 0;
    return s->distance == distance_of_field ? field_distance_and_lead(s->geometry->field, p, gradient, lead)
                                            : s->distance(s, p, gradient);
}

bool solid_project(const solid *s, v3 p, double reach, v3 *on, v3 *normal) {
    enum { MAX_NEWTON_STEPS = 8 };
    v3 x = p, g;
    double settled = 1e-6 * (isfinite(s->extent) ? s->extent : reach);
    for (int k = 0; k < MAX_NEWTON_STEPS; k++) {
        double lead, d = distance_and_lead(s, x, &g, &lead), slope = v3_dot(g, g);
        if (slope < 0.25) { /* no way out is known here: the middle of something */
            return false;
        }
        x = v3_axpy(x, -d / slope, g);
        bool settles = fabs(d) <= settled; /* the error left is its square */
        if (!settles && !(v3_norm(v3_sub(x, p)) <= reach)) {
            return false;
        }
        if (settles || lead > 2 * fabs(d)) {
            *on = x;
            *normal = v3_scale(1 / sqrt(slope), g);
            return true;
        }
    }
    double d = s->distance(s, x, &g), slope = v3_dot(g, g);
    *on = x;
    *normal = v3_scale(1 / sqrt(fmax(slope, 0.25)), g);
    return slope >= 0.25 && fabs(d) <= 1e-6 * reach;
}
