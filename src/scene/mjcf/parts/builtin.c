/* Meshes by formula: subdivided spheres and hemispheres, truncated cones, superellipsoids, supertori.
 *
 *     sphere       icosahedron with s halvings of its edges on the unit sphere: 2 + 10 4^s vertices
 *     hemisphere   upper half of an octahedron, edges in r + 1 parts, on the unit sphere, with the centre of its base
 *     cone         convex hull of a regular polygon on the unit circle at z = -1 and the same times `radius` at z = 1
 *     supersphere  (cos^n theta cos^e phi, cos^n theta sin^e phi, sin^n theta), R parts of each angle
 *     supertorus   ((1 + r cos^s theta) cos^t phi, (1 + r cos^s theta) sin^t phi, r sin^s theta), likewise
 *
 * x^p is sign(x) |x|^p, and 0 for x = 0.  Lengths have no unit: `scale` gives it.  Faces are anticlockwise from outside.
 * References: Barr 1981, Superquadrics and angle-preserving transformations, sec. 2; MuJoCo, XML reference, mesh/builtin.
 * Departure: zeros of sines and cosines are exact, so that a small power does not make them large.
 * Cost: proportional to the number of faces. */
#include "scene/mjcf/parts/parts.h"

#include <math.h>
#include <string.h>

enum { MAX_HALVINGS = 4, MAX_QUADRANT_PARTS = 10, MAX_SIDES = 1000, MAX_PARTS = 300, MOST_PARAMETERS = 4 };

/* The parameters of each formula: ranges; the first counts something. */
static const struct {
    const char *name, *wanted;
    int count;
    double least[MOST_PARAMETERS], most[MOST_PARAMETERS];
} formula[] = {
    {"sphere", "the number of halvings, from 0 to 4", 1, {0}, {MAX_HALVINGS}},
    {"hemisphere", "the resolution, from 0 to 10", 1, {0}, {MAX_QUADRANT_PARTS}},
    {"cone", "the number of sides, from 3 to 1000, and the upper radius, from 0 to 1", 2, {3, 0}, {MAX_SIDES, 1}},
    {"supersphere", "the resolution, from 3 to 300, and two powers from 0 to 100", 3, {3, 0, 0}, {MAX_PARTS, 100, 100}},
    {"supertorus",
     "the resolution, from 3 to 300, the smaller radius, up to 1, and two powers up to 100",
     4,
     {3, 1e-9, 1e-9, 1e-9},
     {MAX_PARTS, 1, 100, 100}},
};
enum { FORMULAS = sizeof formula / sizeof formula[0], SPHERE = 0, HEMISPHERE, CONE, SUPERSPHERE, SUPERTORUS };

/* ---- parts of all ---- */

static int add_vertex(mjcf_mesh *m, double x, double y, double z) {
    double *v = m->vertex + 3 * (ptrdiff_t)m->nvertex;
    v[0] = x;
    v[1] = y;
    v[2] = z;
    return m->nvertex++;
}

static void add_face(mjcf_mesh *m, int a, int b, int c) {
    double *f = m->face + 3 * (ptrdiff_t)m->nface++;
    f[0] = a;
    f[1] = b;
    f[2] = c;
}

static bool make_room(mjcf_work *w, mjcf_mesh *m, int vertices, int faces) {
    m->vertex = POOL_NEW(w->pool, double, 3 * (ptrdiff_t)vertices);
    m->face = POOL_NEW(w->pool, double, 3 * (ptrdiff_t)faces);
    w->report->no_memory |= !m->vertex || !m->face;
    return m->vertex && m->face;
}

static double signed_power(double x, double p) {
    static const double ZERO = 1e-12; /* of a sine */
    return fabs(x) < ZERO ? 0 : copysign(pow(fabs(x), p), x);
}

static double turn_part(int k, int parts) { return 2 * acos(-1) * k / parts; }

/* ---- spheres ---- */

/* The vertex on the unit sphere over the middle of an edge; once for the two faces at it. */
static int middle_of(mjcf_mesh *m, int (*edge)[3], int *edges, int a, int b) {
    int low = a < b ? a : b, high = a < b ? b : a;
    for (int k = 0; k < *edges; k++) {
        if (edge[k][0] == low && edge[k][1] == high) {
            int found = edge[k][2];
            memcpy(edge[k], edge[--*edges], sizeof edge[k]); /* no third face asks for it */
            return found;
        }
    }
    const double *p = m->vertex + 3 * (ptrdiff_t)a, *q = m->vertex + 3 * (ptrdiff_t)b;
    double x = p[0] + q[0], y = p[1] + q[1], z = p[2] + q[2], length = sqrt(x * x + y * y + z * z);
    int made = add_vertex(m, x / length, y / length, z / length);
    edge[*edges][0] = low;
    edge[*edges][1] = high;
    edge[(*edges)++][2] = made;
    return made;
}

static void make_sphere(mjcf_work *w, mjcf_mesh *m, int halvings) {
    static const int corner[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                      {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                      {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                      {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    /* icosahedron */
    int most = 20 << 2 * halvings;
    int(*edge)[3] = pool_alloc(w->pool, (size_t)most * 2, sizeof *edge);
    double *faces = POOL_NEW(w->pool, double, 3 * (ptrdiff_t)most);
    w->report->no_memory |= !edge || !faces;
    if (!edge || !faces || !make_room(w, m, 2 + most / 2, most)) {
        return;
    }
    double golden = (1 + sqrt(5)) / 2, unit = 1 / sqrt(1 + golden * golden);
    for (int k = 0; k < 12; k++) {
        int axis = k / 4; /* (1, golden, 0) with all signs, and turned through the axes */
        double p[2] = {k % 2 ? unit : -unit, (k / 2 % 2 ? -golden : golden) * unit};
        axis == 0   ? add_vertex(m, p[0], p[1], 0)
        : axis == 1 ? add_vertex(m, 0, p[0], p[1])
                    : add_vertex(m, p[1], 0, p[0]);
    }
    for (int k = 0; k < 20; k++) {
        add_face(m, corner[k][0], corner[k][1], corner[k][2]);
    }
    /* each face in four */
    for (int step = 0; step < halvings; step++) {
        int count = m->nface, edges = 0;
        memcpy(faces, m->face, 3 * (size_t)count * sizeof *faces);
        m->nface = 0;
        for (int k = 0; k < count; k++) {
            int v[3] = {(int)faces[3 * k], (int)faces[3 * k + 1], (int)faces[3 * k + 2]}, mid[3];
            for (int i = 0; i < 3; i++) {
                mid[i] = middle_of(m, edge, &edges, v[i], v[(i + 1) % 3]);
            }
            for (int i = 0; i < 3; i++) {
                add_face(m, v[i], mid[i], mid[(i + 2) % 3]);
            }
            add_face(m, mid[0], mid[1], mid[2]);
        }
    }
}

/* The k-th ring of the hemisphere has 4 k vertices. */
static int ring_vertex(int ring, int k) { return ring == 0 ? 0 : 1 + 2 * ring * (ring - 1) + k % (4 * ring); }

static void make_hemisphere(mjcf_work *w, mjcf_mesh *m, int resolution) {
    int rings = resolution + 1;
    if (!make_room(w, m, 2 + 2 * rings * (rings + 1), 4 * rings * (rings + 1))) {
        return;
    }
    /* the pole, the rings, the centre */
    add_vertex(m, 0, 0, 1);
    for (int ring = 1; ring <= rings; ring++) {
        for (int k = 0; k < 4 * ring; k++) {
            static const int cosine[4] = {1, 0, -1, 0}, sine[4] = {0, 1, 0, -1};
            int quadrant = k / ring, along = k % ring, x = ring - along, y = along, z = rings - ring;
            double length = sqrt((double)(x * x + y * y + z * z));
            add_vertex(m, (cosine[quadrant] * x - sine[quadrant] * y) / length,
                       (sine[quadrant] * x + cosine[quadrant] * y) / length, z / length);
        }
    }
    int centre = add_vertex(m, 0, 0, 0);
    /* between rings; the base */
    for (int ring = 0; ring < rings; ring++) {
        for (int quadrant = 0; quadrant < 4; quadrant++) {
            int from = quadrant * ring, to = quadrant * (ring + 1);
            for (int k = 0; k <= ring; k++) {
                add_face(m, ring_vertex(ring, from + k), ring_vertex(ring + 1, to + k),
                         ring_vertex(ring + 1, to + k + 1));
                if (k < ring) {
                    add_face(m, ring_vertex(ring, from + k), ring_vertex(ring + 1, to + k + 1),
                             ring_vertex(ring, from + k + 1));
                }
            }
        }
    }
    for (int k = 0; k < 4 * rings; k++) {
        add_face(m, ring_vertex(rings, k), centre, ring_vertex(rings, k + 1));
    }
}

/* ---- solids of angles ---- */

static void make_cone(mjcf_work *w, mjcf_mesh *m, int sides, double radius) {
    if (!make_room(w, m, 2 * sides, 4 * sides)) {
        return;
    }
    /* polygons, or a tip */
    for (int k = 0; k < sides; k++) {
        add_vertex(m, cos(turn_part(k, sides)), sin(turn_part(k, sides)), -1);
    }
    for (int k = 0; k < (radius > 0 ? sides : 1); k++) {
        add_vertex(m, radius * cos(turn_part(k, sides)), radius * sin(turn_part(k, sides)), 1);
    }
    /* sides, base, top */
    for (int k = 0; k < sides; k++) {
        int next = (k + 1) % sides;
        add_face(m, k, next, radius > 0 ? sides + next : sides);
        if (radius > 0) {
            add_face(m, k, sides + next, sides + k);
        }
        if (k > 0 && k < sides - 1) {
            add_face(m, 0, next, k);
            if (radius > 0) {
                add_face(m, sides, sides + k, sides + next);
            }
        }
    }
}

static void make_supersphere(mjcf_work *w, mjcf_mesh *m, int parts, double east, double north) {
    int rings = parts - 1, last = 1 + rings * parts;
    if (!make_room(w, m, last + 1, 2 * parts * rings)) {
        return;
    }
    /* a pole, rings, a pole */
    add_vertex(m, 0, 0, -1);
    for (int i = 1; i <= rings; i++) {
        double theta = turn_part(2 * i - parts, 4 * parts), around = signed_power(cos(theta), north);
        for (int j = 0; j < parts; j++) {
            double phi = turn_part(2 * j - parts, 2 * parts);
            add_vertex(m, around * signed_power(cos(phi), east), around * signed_power(sin(phi), east),
                       signed_power(sin(theta), north));
        }
    }
    add_vertex(m, 0, 0, 1);
    /* faces between them */
    for (int j = 0; j < parts; j++) {
        int next = (j + 1) % parts;
        add_face(m, 0, 1 + next, 1 + j);
        for (int i = 0; i < rings - 1; i++) {
            int low = 1 + i * parts, high = low + parts;
            add_face(m, low + j, low + next, high + j);
            add_face(m, low + next, high + next, high + j);
        }
        add_face(m, last - parts + j, last - parts + next, last);
    }
}

static void make_supertorus(mjcf_work *w, mjcf_mesh *m, int parts, const double *given) {
    if (!make_room(w, m, parts * parts, 2 * parts * parts)) {
        return;
    }
    /* sections one after the other about the axis */
    for (int i = 0; i < parts; i++) {
        double phi = turn_part(i, parts);
        for (int j = 0; j < parts; j++) {
            double theta = turn_part(j, parts), out = 1 + given[1] * signed_power(cos(theta), given[2]);
            add_vertex(m, out * signed_power(cos(phi), given[3]), out * signed_power(sin(phi), given[3]),
                       given[1] * signed_power(sin(theta), given[2]));
        }
    }
    /* faces from each to the next */
    for (int i = 0; i < parts; i++) {
        int here = i * parts, there = (i + 1) % parts * parts;
        for (int j = 0; j < parts; j++) {
            int next = (j + 1) % parts;
            add_face(m, here + j, there + j, here + next);
            add_face(m, there + j, there + next, here + next);
        }
    }
}

void mjcf_make_mesh(mjcf_work *w, mjcf_mesh *m, const char *name) {
    /* formula and its parameters */
    if (!name) { /* another word, which was reported */
        mjcf_refuse(w);
        return;
    }
    int kind = 0;
    double given[MOST_PARAMETERS + 1] = {0};
    while (kind < FORMULAS - 1 && strcmp(formula[kind].name, name) != 0) {
        kind++;
    }
    const char *params = xml_text(m->at, "params");
    int count = params ? xml_count_numbers(params) : 0;
    bool fits = count == formula[kind].count;
    if (fits) {
        xml_numbers(m->at, "params", count, given);
    }
    for (int k = 0; k < formula[kind].count; k++) {
        fits &= given[k] >= formula[kind].least[k] && given[k] <= formula[kind].most[k];
    }
    if (!fits || given[0] != floor(given[0])) {
        xml_error(w->report, m->at, "params", NULL, "\"%s\" takes %s", name, formula[kind].wanted);
        mjcf_refuse(w);
        return;
    }
    /* vertices and faces */
    int first = (int)given[0];
    switch (kind) {
    case SPHERE:
        make_sphere(w, m, first);
        break;
    case HEMISPHERE:
        make_hemisphere(w, m, first);
        break;
    case CONE:
        make_cone(w, m, first, given[1]);
        break;
    case SUPERSPHERE:
        make_supersphere(w, m, first, given[1], given[2]);
        break;
    default:
        make_supertorus(w, m, first, given);
        break;
    }
}
