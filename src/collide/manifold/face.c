/* Face of a convex core along a direction: a polygon, a segment or a point.
 *
 * A face counts when its normal is within `slack` of the direction d. An edge counts when it is that close to being
 * at right angles to d and ends in the farthest point. Numbers: a vertex i is 4 i, an edge 4 i + 1, a face 4 i + 2;
 * each kind of core has its own numbering.
 *
 * Cost: constant; of a hull linear in its faces. */
#include "collide/convex/convex.h"

#include <float.h>

enum { VERTEX = 0, EDGE = 1, FACE = 2 };

static uint32_t feature_number(int index, uint32_t class) { return (uint32_t)index << 2 | class; }

static void add_face_corner(face *out, v3 x, int vertex, int edge) {
    out->corner[out->count] = x;
    out->vertex[out->count] = feature_number(vertex, VERTEX);
    out->edge[out->count] = feature_number(edge, EDGE);
    out->count++;
}

static void segment_face(const convex *c, v3 d, double sine, face *out) {
    double z = c->half[2];
    if (fabs(d.z) <= sine) {
        add_face_corner(out, v3_make(0, 0, -z), 0, 0);
        add_face_corner(out, v3_make(0, 0, z), 1, 0);
        out->number = feature_number(0, EDGE);
    } else {
        int top = d.z > 0;
        add_face_corner(out, v3_make(0, 0, top ? z : -z), top, 0);
        out->number = feature_number(top, VERTEX);
    }
}

static v3 box_corner(const double h[3], int bits) {
    return v3_make(bits & 1 ? h[0] : -h[0], bits & 2 ? h[1] : -h[1], bits & 4 ? h[2] : -h[2]);
}

/* An edge of a box: its axis, and the corner it starts from. */
static int box_edge(int axis, int bits) { return 8 * axis + (bits & ~(1 << axis)); }

static void box_face(const convex *c, v3 direction, double sine, face *out) {
    const double d[3] = {direction.x, direction.y, direction.z}, *h = c->half;
    double size[3] = {fabs(d[0]), fabs(d[1]), fabs(d[2])};
    int most = size[0] >= size[1] && size[0] >= size[2] ? 0 : size[1] >= size[2] ? 1 : 2;
    int j = (most + 1) % 3, k = (most + 2) % 3;
    int bits = (d[0] > 0) | (d[1] > 0) << 1 | (d[2] > 0) << 2;
    if (size[j] * size[j] + size[k] * size[k] <= sine * sine) {
        int up = d[most] > 0, base = up << most;
        int turn[4] = {0, 1 << j, 1 << j | 1 << k, 1 << k}; /* anticlockwise about +axis */
        for (int i = 0; i < 4; i++) {
            int here = base | turn[up ? i : 3 - i], next = base | turn[up ? (i + 1) % 4 : (6 - i) % 4];
            add_face_corner(out, box_corner(h, here), here, box_edge((here ^ next) >> 1, here));
        }
        double sign = up ? 1 : -1;
        out->normal = v3_make(most == 0 ? sign : 0, most == 1 ? sign : 0, most == 2 ? sign : 0);
        out->number = feature_number(2 * most + up, FACE);
        return;
    }
    int least = size[j] < size[k] ? j : k;
    if (size[least] <= sine) {
        int low = bits & ~(1 << least), edge = box_edge(least, low);
        add_face_corner(out, box_corner(h, low), low, edge);
        add_face_corner(out, box_corner(h, low | 1 << least), low | 1 << least, edge);
        out->number = feature_number(edge, EDGE);
        return;
    }
    add_face_corner(out, box_corner(h, bits), bits, 0);
    out->number = feature_number(bits, VERTEX);
}

/* Caps are 0 (below) and 1; the points of cap k's rim are 8 k + 2 .., its farthest point alone is vertex k. */
static void cylinder_face(const convex *c, v3 d, double sine, double reach, face *out) {
    /* the cap as an octagon, if d is nearly its normal */
    double across = sqrt(d.x * d.x + d.y * d.y), r = c->half[0], z = c->half[2];
    int top = d.z > 0;
    if (across <= sine && 2 * r * across <= reach) {
        static const double turn[FACE_DISC][2] = {{1, 0},  {M_SQRT1_2, M_SQRT1_2},   {0, 1},  {-M_SQRT1_2, M_SQRT1_2},
                                                  {-1, 0}, {-M_SQRT1_2, -M_SQRT1_2}, {0, -1}, {M_SQRT1_2, -M_SQRT1_2}};
        for (int i = 0; i < FACE_DISC; i++) {
            int k = top ? i : FACE_DISC - 1 - i;
            add_face_corner(out, v3_make(r * turn[k][0], r * turn[k][1], top ? z : -z), 2 + FACE_DISC * top + k,
                            1 + top);
        }
        out->normal = v3_make(0, 0, top ? 1 : -1);
        out->number = feature_number(top, FACE);
        out->disc = true;
        return;
    }
    /* the side along its line, or a point of the rim */
    double x = r * d.x / across, y = r * d.y / across;
    if (fabs(d.z) <= sine) {
        add_face_corner(out, v3_make(x, y, -z), 0, 0);
        add_face_corner(out, v3_make(x, y, z), 1, 0);
        out->number = feature_number(0, EDGE);
    } else {
        add_face_corner(out, v3_make(x, y, top ? z : -z), top, 0);
        out->number = feature_number(top, VERTEX);
    }
}

static void hull_polygon(const sim_hull *hull, int f, face *out) {
    int first = hull->face_start[f], count = hull->face_start[f + 1] - first;
    int kept = count < FACE_CORNERS ? count : FACE_CORNERS;
    for (int i = 0; i < kept; i++) { /* of too many corners every so-and-so-many-th */
        int k = first + (int)((long)i * count / kept);
        add_face_corner(out, hull->vertex[hull->loop[k]], hull->loop[k], k);
    }
    out->normal = hull->normal[f];
    out->number = feature_number(f, FACE);
}

static void hull_face(const convex *c, v3 d, double sine, face *out) {
    const sim_hull *hull = c->hull;
    int best = 0;
    double along = -2;
    /* the face whose normal is nearest to d */
    for (int f = 0; f < hull->nface; f++) {
        double s = v3_dot(d, hull->normal[f]);
        if (s > along) {
            along = s;
            best = f;
        }
    }
    v3 off = v3_cross(d, hull->normal[best]);
    if (along > 0 && v3_dot(off, off) <= sine * sine) {
        hull_polygon(hull, best, out);
        return;
    }
    /* else the support vertex and its most level edge */
    uint32_t far;
    v3 x = convex_support(c, d, &far);
    int v = (int)far, edge = -1;
    double least = sine;
    for (int k = hull->ring_start[v]; k < hull->ring_start[v + 1]; k++) {
        v3 to = v3_sub(x, hull->vertex[hull->ring[k]]);
        double fall = v3_dot(d, to) / v3_norm(to);
        if (fall <= least) {
            least = fall;
            edge = k;
        }
    }
    if (edge < 0) {
        add_face_corner(out, x, v, 0);
        out->number = feature_number(v, VERTEX);
        return;
    }
    /* the edge, from its lower vertex */
    int w = hull->ring[edge], low = v < w ? v : w, high = v < w ? w : v;
    for (int k = hull->ring_start[low]; k < hull->ring_start[low + 1]; k++) { /* one number, from whichever end */
        edge = hull->ring[k] == high ? k : edge;
    }
    add_face_corner(out, hull->vertex[low], low, edge);
    add_face_corner(out, hull->vertex[high], high, edge);
    out->number = feature_number(edge, EDGE);
}

static void triangle_face(const convex *c, v3 d, double sine, face *out) {
    /* the face, if d is within the slack of its normal */
    const v3 *x = c->corner;
    v3 normal = v3_cross(v3_sub(x[1], x[0]), v3_sub(x[2], x[0]));
    double twice = v3_norm(normal), along = v3_dot(d, normal);
    v3 off = v3_cross(d, normal);
    if (twice > DBL_MIN && v3_dot(off, off) <= sine * sine * twice * twice) {
        int front = along > 0;
        for (int i = 0; i < 3; i++) {
            int k = front ? i : 2 - i;
            add_face_corner(out, x[k], k, front ? k : (k + 2) % 3);
        }
        out->normal = v3_scale((front ? 1 : -1) / twice, normal);
        out->number = feature_number(front, FACE);
        return;
    }
    /* else the support vertex and its most level edge */
    uint32_t far;
    v3 top = convex_support(c, d, &far);
    int v = (int)far, best = -1;
    double least = sine;
    for (int k = 1; k < 3; k++) {
        v3 to = v3_sub(top, x[(v + k) % 3]);
        double length = v3_norm(to), fall = length > DBL_MIN ? v3_dot(d, to) / length : 2;
        if (fall <= least) {
            least = fall;
            best = k;
        }
    }
    /* a vertex alone */
    if (best < 0) {
        add_face_corner(out, top, v, 0);
        out->number = feature_number(v, VERTEX);
        return;
    }
    /* the edge */
    int edge = best == 1 ? v : (v + 2) % 3;
    add_face_corner(out, x[edge], edge, edge);
    add_face_corner(out, x[(edge + 1) % 3], (edge + 1) % 3, edge);
    out->number = feature_number(edge, EDGE);
}

void convex_face(const convex *c, v3 d, double slack, double reach, face *out) {
    /* a vertex, unless the shape has an edge or a face across d */
    double sine = sin(slack);
    uint32_t vertex;
    out->count = 0;
    out->disc = false;
    out->normal = d;
    switch (c->kind) {
    case CONVEX_SEGMENT:
        segment_face(c, d, sine, out);
        return;
    case CONVEX_BOX:
        box_face(c, d, sine, out);
        return;
    case CONVEX_CYLINDER:
        cylinder_face(c, d, sine, reach, out);
        return;
    case CONVEX_HULL:
        hull_face(c, d, sine, out);
        return;
    case CONVEX_TRIANGLE:
        triangle_face(c, d, sine, out);
        return;
    default:
        add_face_corner(out, convex_support(c, d, &vertex), 0, 0);
        out->number = feature_number(0, VERTEX);
    }
}
