/* Surfaces of solids with images of their points on the medial set.
 *
 * The extent of a pressure field is the depth below the surface over the greatest depth, e = d / d_max.  It is linear
 * along the way from a point of the surface to its image:
 *
 *     box, half edges h_i         x_i (h_i - d) / h_i, the face's own coordinate +-(h_i - d);   d = min h_i
 *     cylinder, radius r, half l  side, r <= l:  the axis, |z| <= l - r;      side, r > l: the circle r - l at z = 0
 *     capsule                     the nearest point of its axis
 *     sphere, ellipsoid           the centre
 *     hull                        the centre of mass
 *
 * In boxes, cylinders (their facets) and spheres e is exactly d / d_max.  In ellipsoids and hulls it is 1 at the centre
 * alone.  Facets of round solids cut their surface so that the volume is kept: of the second order in the edges.
 *
 * Reference: R. Elandt, E. Drumwright, M. Sherman, A. Ruina, A pressure field model for fast, robust approximation of
 * net contact force and moment between nominally rigid objects, IROS 2019, section III. */
#include "model/soft/soft_surface.h"
#include "math/angle.h"

#include <string.h>

enum { MIN_SEGMENTS = 8, MAX_LEVELS = 7 };

typedef struct surface_emitter {
    soft_visit *visit;
    void *context;
    v3 scale; /* of an ellipsoid */
} surface_emitter;

static void emit_triangle(const surface_emitter *e, v3 a, v3 b, v3 c, v3 image_a, v3 image_b, v3 image_c) {
    if (v3_norm(v3_cross(v3_sub(b, a), v3_sub(c, a))) > 0) {
        const v3 outer[3] = {a, b, c}, inner[3] = {image_a, image_b, image_c};
        e->visit(e->context, outer, inner);
    }
}

static int piece_count(double length, double edge) { return (int)fmax(1, ceil(length / edge * (1 - 1e-12))); }

/* ---- boxes ---- */

static double *coordinate_at(v3 *v, int axis) { return axis == 0 ? &v->x : axis == 1 ? &v->y : &v->z; }

/* Point (i, j) of a grid on the face across `axis`, and its image. */
static void box_point(const double h[3], double depth, int axis, double sign, double i, double j, v3 *x, v3 *image) {
    int u = (axis + 1) % 3, w = (axis + 2) % 3;
    *coordinate_at(x, axis) = sign * h[axis];
    *coordinate_at(x, u) = (2 * i - 1) * h[u];
    *coordinate_at(x, w) = (2 * j - 1) * h[w];
    *coordinate_at(image, axis) = sign * (h[axis] - depth);
    *coordinate_at(image, u) = (2 * i - 1) * (h[u] - depth);
    *coordinate_at(image, w) = (2 * j - 1) * (h[w] - depth);
}

static void emit_box_face(const surface_emitter *e, const double h[3], double edge, int axis, double sign) {
    int u = (axis + 1) % 3, w = (axis + 2) % 3, nu = piece_count(2 * h[u], edge), nw = piece_count(2 * h[w], edge);
    double depth = fmin(h[0], fmin(h[1], h[2]));
    for (int j = 0; j < nw; j++) {
        for (int i = 0; i < nu; i++) {
            v3 x[4], y[4];
            static const int step[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
            for (int k = 0; k < 4; k++) {
                int corner = sign > 0 ? k : 3 - k;
                box_point(h, depth, axis, sign, (double)(i + step[corner][0]) / nu, (double)(j + step[corner][1]) / nw,
                          &x[k], &y[k]);
            }
            emit_triangle(e, x[0], x[1], x[2], y[0], y[1], y[2]);
            emit_triangle(e, x[0], x[2], x[3], y[0], y[2], y[3]);
        }
    }
}

static void emit_box(const surface_emitter *e, const double size[3], double edge) {
    const double h[3] = {size[0] / 2, size[1] / 2, size[2] / 2};
    for (int axis = 0; axis < 3; axis++) {
        emit_box_face(e, h, edge, axis, -1);
        emit_box_face(e, h, edge, axis, 1);
    }
}

/* ---- solids of revolution ---- */

/* A point of the profile: radius and height, and those of its image. */
typedef struct ring {
    double radius, height, image_radius, image_height;
} ring;

static v3 ring_point(double radius, double height, int i, int n) {
    double angle = 2 * PI * (i % n) / n;
    return radius == 0 ? v3_make(0, 0, height) : v3_make(radius * cos(angle), radius * sin(angle), height);
}

/* The band between two rings, the second above the first or nearer the axis at the upper end. */
static void emit_band(const surface_emitter *e, ring a, ring b, int n) {
    for (int i = 0; i < n; i++) {
        v3 x[4] = {ring_point(a.radius, a.height, i, n), ring_point(a.radius, a.height, i + 1, n),
                   ring_point(b.radius, b.height, i + 1, n), ring_point(b.radius, b.height, i, n)};
        v3 y[4] = {
            ring_point(a.image_radius, a.image_height, i, n), ring_point(a.image_radius, a.image_height, i + 1, n),
            ring_point(b.image_radius, b.image_height, i + 1, n), ring_point(b.image_radius, b.image_height, i, n)};
        emit_triangle(e, x[0], x[1], x[2], y[0], y[1], y[2]);
        emit_triangle(e, x[0], x[2], x[3], y[0], y[2], y[3]);
    }
}

/* Bands along the straight line from one ring to another, whose images go straight, too. */
static void emit_bands(const surface_emitter *e, ring from, ring to, double edge, int n) {
    int count = piece_count(hypot(to.radius - from.radius, to.height - from.height), edge);
    ring a = from;
    for (int k = 1; k <= count; k++) {
        double s = (double)k / count;
        ring b = k == count
                     ? to
                     : (ring){from.radius + s * (to.radius - from.radius), from.height + s * (to.height - from.height),
                              from.image_radius + s * (to.image_radius - from.image_radius),
                              from.image_height + s * (to.image_height - from.image_height)};
        emit_band(e, a, b, n);
        a = b;
    }
}

static int segment_count(double radius, double edge) {
    return (int)fmax(MIN_SEGMENTS, ceil(2 * PI * radius / edge * (1 - 1e-12)));
}

/* Radius of the corners of a regular polygon of n corners over that of a circle of the same area. */
static double polygon_growth(int n) { return sqrt(2 * PI / (n * sin(2 * PI / n))); }

static void emit_cylinder(const surface_emitter *e, double radius, double half, double edge) {
    int n = segment_count(radius, edge);
    double r = radius * polygon_growth(n), depth = fmin(radius, half), rim = fmax(r - depth * r / radius, 0),
           end = half - depth;
    const ring profile[6] = {{0, -half, 0, -end}, {rim, -half, rim, -end}, {r, -half, rim, -end},
                             {r, half, rim, end}, {rim, half, rim, end},   {0, half, 0, end}};
    for (int k = 0; k < 5; k++) {
        ring a = profile[k], b = profile[k + 1];
        if (k == 2 && end > 0) { /* ends of the axis */
            ring low = {r, -end, rim, -end}, high = {r, end, rim, end};
            emit_bands(e, a, low, edge, n);
            emit_bands(e, low, high, edge, n);
            emit_bands(e, high, b, edge, n);
        } else if (a.radius != b.radius || a.height != b.height) {
            emit_bands(e, a, b, edge, n);
        }
    }
}

static void emit_capsule(const surface_emitter *e, double radius, double half, double edge) {
    int n = segment_count(radius, edge), rings = piece_count(PI / 2 * radius, edge);
    double r = radius * polygon_growth(n);
    rings = rings < MIN_SEGMENTS / 4 ? MIN_SEGMENTS / 4 : rings;
    ring equator[2] = {{r, -half, 0, -half}, {r, half, 0, half}};
    for (int end = 0; end < 2; end++) {
        double sign = end ? 1 : -1;
        for (int k = 0; k < rings; k++) {
            /* from the lower pole up, or from the upper equator up */
            double from = PI / 2 * (end ? k : rings - k) / rings, to = PI / 2 * (end ? k + 1 : rings - k - 1) / rings;
            ring pole = {0, sign * (half + r), 0, sign * half};
            ring a = {r * cos(from), sign * (half + r * sin(from)), 0, sign * half};
            ring b = {r * cos(to), sign * (half + r * sin(to)), 0, sign * half};
            a = (end ? k == 0 : false) ? equator[1] : !end && k == 0 ? pole : a;
            b = (end ? k == rings - 1 : false) ? pole : !end && k == rings - 1 ? equator[0] : b;
            emit_band(e, a, b, n);
        }
    }
    if (half > 0) {
        emit_bands(e, equator[0], equator[1], edge, n);
    }
}

/* ---- spheres and ellipsoids: an icosahedron, cut in four at the middles of its edges ---- */

static v3 scale_vector(v3 a, v3 s) { return v3_make(a.x * s.x, a.y * s.y, a.z * s.z); }
static v3 middle_on_sphere(v3 a, v3 b) {
    v3 m = v3_add(a, b);
    return v3_scale(1 / v3_norm(m), m);
}

static void emit_sphere_part(const surface_emitter *e, v3 a, v3 b, v3 c, int levels) {
    if (levels == 0) {
        v3 centre = {0, 0, 0};
        emit_triangle(e, scale_vector(a, e->scale), scale_vector(b, e->scale), scale_vector(c, e->scale), centre,
                      centre, centre);
        return;
    }
    v3 ab = middle_on_sphere(a, b), bc = middle_on_sphere(b, c), ca = middle_on_sphere(c, a);
    emit_sphere_part(e, a, ab, ca, levels - 1);
    emit_sphere_part(e, b, bc, ab, levels - 1);
    emit_sphere_part(e, c, ca, bc, levels - 1);
    emit_sphere_part(e, ab, bc, ca, levels - 1);
}

static int sphere_levels(double radius, double edge) {
    double icosahedron = 4 / sqrt(10 + 2 * sqrt(5)) * radius; /* its edge */
    return (int)fmax(0, fmin(MAX_LEVELS, ceil(log2(icosahedron / edge) - 1e-12)));
}

/* Six times the volume below a part of the unit sphere's facets. */
static double part_volume(v3 a, v3 b, v3 c, int levels) {
    if (levels == 0) {
        return v3_dot(v3_cross(a, b), c);
    }
    v3 ab = middle_on_sphere(a, b), bc = middle_on_sphere(b, c), ca = middle_on_sphere(c, a);
    return part_volume(a, ab, ca, levels - 1) + part_volume(b, bc, ab, levels - 1) +
           part_volume(c, ca, bc, levels - 1) + part_volume(ab, bc, ca, levels - 1);
}

static void emit_sphere(surface_emitter *e, double radius, double edge) {
    /* corners (0, +-1, +-g) and their cyclic permutations */
    const double g = (1 + sqrt(5)) / 2, s = 1 / sqrt(1 + g * g), p = s, q = g * s;
    const v3 x[12] = {{-p, q, 0},  {p, q, 0},  {-p, -q, 0}, {p, -q, 0}, {0, -p, q},  {0, p, q},
                      {0, -p, -q}, {0, p, -q}, {q, 0, -p},  {q, 0, p},  {-q, 0, -p}, {-q, 0, p}};
    static const int face[20][3] = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                                    {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
                                    {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
    int levels = sphere_levels(radius, edge);
    double volume = 20 * part_volume(x[face[0][0]], x[face[0][1]], x[face[0][2]], levels) / 6;
    e->scale = v3_scale(cbrt(4.0 / 3 * PI / volume), e->scale);
    for (int k = 0; k < 20; k++) {
        emit_sphere_part(e, x[face[k][0]], x[face[k][1]], x[face[k][2]], levels);
    }
}

/* ---- hulls ---- */

static v3 mix_corners(v3 a, v3 b, v3 c, double s, double t) {
    return v3_axpy(v3_axpy(a, s, v3_sub(b, a)), t, v3_sub(c, a));
}

/* A flat triangle in n^2 equal ones. */
static void emit_flat(const surface_emitter *e, v3 a, v3 b, v3 c, v3 centre, double edge) {
    double longest = fmax(v3_norm(v3_sub(b, a)), fmax(v3_norm(v3_sub(c, b)), v3_norm(v3_sub(a, c))));
    int n = piece_count(longest, edge);
    for (int i = 0; i < n; i++) {
        for (int j = 0; i + j < n; j++) {
            double s = (double)i / n, t = (double)j / n, s1 = (double)(i + 1) / n, t1 = (double)(j + 1) / n;
            emit_triangle(e, mix_corners(a, b, c, s, t), mix_corners(a, b, c, s1, t), mix_corners(a, b, c, s, t1),
                          centre, centre, centre);
            if (i + j + 1 < n) {
                emit_triangle(e, mix_corners(a, b, c, s1, t), mix_corners(a, b, c, s1, t1), mix_corners(a, b, c, s, t1),
                              centre, centre, centre);
            }
        }
    }
}

static void emit_hull(const surface_emitter *e, const sim_geometry *g, double edge) {
    const sim_hull *h = g->hull;
    for (int f = 0; f < h->nface; f++) {
        const int *corner = h->loop + h->face_start[f];
        int count = h->face_start[f + 1] - h->face_start[f];
        for (int k = 1; k + 1 < count; k++) {
            emit_flat(e, h->vertex[corner[0]], h->vertex[corner[k]], h->vertex[corner[k + 1]], g->solid.com, edge);
        }
    }
}

/* The surface of each type: that of a hull where it has a geometry. */
bool soft_surface(const sim_shape *shape, double edge, soft_visit *visit, void *context) {
    surface_emitter e = {visit, context, {1, 1, 1}};
    const double *s = shape->size;
    switch (shape->type) {
    case SIM_SPHERE:
        e.scale = v3_make(s[0], s[0], s[0]);
        emit_sphere(&e, s[0], edge);
        return true;
    case SIM_ELLIPSOID:
        e.scale = v3_make(s[0], s[1], s[2]);
        emit_sphere(&e, fmax(s[0], fmax(s[1], s[2])), edge);
        return true;
    case SIM_BOX:
        emit_box(&e, s, edge);
        return true;
    case SIM_CAPSULE:
        emit_capsule(&e, s[0], s[1] / 2, edge);
        return true;
    case SIM_CYLINDER:
        emit_cylinder(&e, s[0], s[1] / 2, edge);
        return true;
    case SIM_HALF_SPACE:
    case SIM_CONVEX:
    case SIM_MESH:
    case SIM_HEIGHT_FIELD:
    case SIM_SDF:
    case SIM_SHAPE_TYPES:
        break;
    }
    if (shape->geometry && shape->geometry->hull) {
        emit_hull(&e, shape->geometry, edge);
        return true;
    }
    return false;
}

/* Four triangles for each square of the edges on an area that is not less than the surface. */
double soft_surface_count(const sim_shape *shape, double edge) {
    const double *s = shape->size;
    double area = 0;
    switch (shape->type) {
    case SIM_BOX:
        area = 2 * (s[0] * s[1] + s[1] * s[2] + s[2] * s[0]);
        break;
    case SIM_CAPSULE:
    case SIM_CYLINDER:
        area = 2 * PI * s[0] * (s[1] + 2 * s[0]);
        break;
    case SIM_SPHERE:
    case SIM_ELLIPSOID: {
        double r = fmax(s[0], fmax(s[1], s[2]));
        area = 4 * PI * r * r;
        break;
    }
    case SIM_HALF_SPACE:
    case SIM_CONVEX:
    case SIM_MESH:
    case SIM_HEIGHT_FIELD:
    case SIM_SDF:
    case SIM_SHAPE_TYPES:
        for (int t = 0; shape->geometry && shape->geometry->mesh && t < shape->geometry->mesh->ntriangle; t++) {
            const int *i = shape->geometry->mesh->triangle[t];
            const v3 *x = shape->geometry->mesh->vertex;
            area += v3_norm(v3_cross(v3_sub(x[i[1]], x[i[0]]), v3_sub(x[i[2]], x[i[0]]))) / 2;
        }
    }
    return 4 * area / (edge * edge);
}
