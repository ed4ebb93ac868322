/* Triangulation of a polygon.
 *
 * The polygon is seen along its area vector (a corner off its plane does no harm).  A convex one becomes a fan about
 * its first corner.  From others ears are cut, one after the other: an ear is a convex corner whose triangle with its
 * two neighbours holds no other corner (G. H. Meisters, Polygons have ears, Amer. Math. Monthly 82, 1975: there are
 * always two).  Of the ears a plump one goes first.  So a corner on a straight edge ends up in a triangle with an
 * area, where its neighbours on the other side of the edge can join it.  Where corners nearly coincide, rounding is
 * given the benefit of the doubt.  So outlines which touch themselves (a hole joined to the rim by two edges at one
 * place) are cut as well.
 *
 *     sum of triangles (b - a) x (c - a) / 2  =  sum of edges x_k x x_k+1 / 2        area vector, m^2
 *
 * holds for any cut along chords.  Where ears run out, the outline crosses itself: the fan whose triangles have the least
 * sum of sizes takes the rest.  It keeps each edge, and so a closed surface and the volume within. */
#include "geometry/import/parts/parts.h"

#include <stdlib.h>

/* Twice an area, relative to the square of the polygon's size, that rounding may leave. */
#define ROUNDING_OVER_SIZE 1e-12

typedef struct flat {
    double x, y;
} flat;

/* Twice the area of (a, b, c). */
static double turn_area(flat a, flat b, flat c) { return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x); }

/* Coordinates across the area vector, relative to the first corner and to the size; false without area. */
static bool flatten_polygon(const mesh_parts *parts, const int *corner, int count, flat *at) {
    /* size */
    v3 area = {0, 0, 0}, first = parts->vertex[corner[0]];
    double size = 0;
    for (int i = 1; i < count; i++) {
        v3 d = v3_sub(parts->vertex[corner[i]], first);
        size = fmax(size, fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z))));
    }
    if (!(size > 0) || !isfinite(size)) {
        return false;
    }
    /* area vector (Newell) */
    for (int i = 2; i < count; i++) {
        v3 b = v3_scale(1 / size, v3_sub(parts->vertex[corner[i - 1]], first));
        v3 c = v3_scale(1 / size, v3_sub(parts->vertex[corner[i]], first));
        area = v3_add(area, v3_cross(b, c));
    }
    if (!(v3_norm(area) > 1e-14)) {
        return false;
    }
    /* axes of the plane */
    v3 normal = v3_scale(1 / v3_norm(area), area);
    v3 x = v3_perpendicular(normal), y = v3_cross(normal, x);
    for (int i = 0; i < count; i++) {
        v3 d = v3_scale(1 / size, v3_sub(parts->vertex[corner[i]], first));
        at[i] = (flat){v3_dot(d, x), v3_dot(d, y)};
    }
    return true;
}

/* Turns to the left everywhere by more than `least`, and each triangle of its fan too. */
static bool is_convex(const flat *at, int count, double least) {
    for (int i = 0; i < count; i++) {
        if (turn_area(at[i], at[(i + 1) % count], at[(i + 2) % count]) < least ||
            (i >= 2 && turn_area(at[0], at[i - 1], at[i]) < least)) {
            return false;
        }
    }
    return true;
}

static bool cut_fan(mesh_parts *parts, const int *corner, int count) {
    for (int i = 2; i < count; i++) {
        if (!mesh_add_triangle(parts, corner[0], corner[i - 1], corner[i])) {
            return false;
        }
    }
    return true;
}

/* Twice the area over the square of the longest side: 0.87 at the most. */
static double relative_area(flat a, flat b, flat c) {
    double ab = hypot(b.x - a.x, b.y - a.y), bc = hypot(c.x - b.x, c.y - b.y), ca = hypot(a.x - c.x, a.y - c.y);
    double longest = fmax(ab, fmax(bc, ca));
    return longest > 0 ? turn_area(a, b, c) / (longest * longest) : 0;
}

static bool is_same(flat a, flat b) {
    return fabs(a.x - b.x) <= ROUNDING_OVER_SIZE && fabs(a.y - b.y) <= ROUNDING_OVER_SIZE;
}

/* How good an ear is corner i?  0: none.  1 and more: a plump one that no other corner touches; below: touched on its
 * rim, or flat. */
static double ear_worth(const flat *at, int count, int i) {
    flat a = at[(i + count - 1) % count], b = at[i], c = at[(i + 1) % count];
    if (turn_area(a, b, c) < -ROUNDING_OVER_SIZE) {
        return 0;
    }
    int touched = 0;
    for (int k = 0; k < count; k++) {
        flat p = at[k];
        double least = fmin(turn_area(a, b, p), fmin(turn_area(b, c, p), turn_area(c, a, p)));
        if (least > ROUNDING_OVER_SIZE) {
            return 0;
        }
        touched |= least >= -ROUNDING_OVER_SIZE && !is_same(p, a) && !is_same(p, b) && !is_same(p, c);
    }
    double plump = relative_area(a, b, c);
    if (count == 4) { /* the remainder is a triangle too */
        plump = fmin(plump, relative_area(a, c, at[(i + 2) % count]));
    }
    return touched || plump <= ROUNDING_OVER_SIZE ? 0.5 + 0.4 * fmax(plump, 0) : 1 + plump;
}

/* The first ear that is good enough, else the best; -1 if there is none. */
static int find_ear(const flat *at, int count, int from) {
    static const double good = 1.2;
    int best = -1;
    double most = 0;
    for (int k = 0; k < count && most < good; k++) {
        int i = (from + k) % count;
        double worth = ear_worth(at, count, i);
        if (worth > most) {
            most = worth;
            best = i;
        }
    }
    return best;
}

/* A fan about the corner from which its triangles have the least area, each counted without its sign. */
static bool cut_least_fan(mesh_parts *parts, const int *corner, const flat *at, int count) {
    /* the corner */
    double least = INFINITY;
    int hub = 0;
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int k = 1; k + 1 < count; k++) {
            sum += fabs(turn_area(at[i], at[(i + k) % count], at[(i + k + 1) % count]));
        }
        hub = sum < least ? i : hub;
        least = fmin(least, sum);
    }
    /* its fan */
    for (int k = 1; k + 1 < count; k++) {
        if (!mesh_add_triangle(parts, corner[hub], corner[(hub + k) % count], corner[(hub + k + 1) % count])) {
            return false;
        }
    }
    return true;
}

static polygon_outcome cut_ears(mesh_parts *parts, int *corner, flat *at, int count) {
    /* cut an ear, a corner whose triangle lies inside, until a triangle is left */
    int i = 0;
    while (count > 3) {
        i = find_ear(at, count, i);
        if (i < 0) {
            return cut_least_fan(parts, corner, at, count) ? POLYGON_CROSSED : POLYGON_NO_MEMORY;
        }
        if (!mesh_add_triangle(parts, corner[(i + count - 1) % count], corner[i], corner[(i + 1) % count])) {
            return POLYGON_NO_MEMORY;
        }
        count--;
        for (int k = i; k < count; k++) {
            corner[k] = corner[k + 1];
            at[k] = at[k + 1];
        }
        i %= count;
    }
    /* what is left has the orientation of the polygon, unless that crosses itself */
    bool turned = turn_area(at[0], at[1], at[2]) < -ROUNDING_OVER_SIZE;
    return !cut_fan(parts, corner, count) ? POLYGON_NO_MEMORY : turned ? POLYGON_CROSSED : POLYGON_CUT;
}

polygon_outcome polygon_cut(mesh_parts *parts, int *corner, int count) {
    if (count == 3) {
        return cut_fan(parts, corner, count) ? POLYGON_CUT : POLYGON_NO_MEMORY;
    }
    flat *at = malloc((size_t)count * sizeof(flat));
    polygon_outcome outcome = POLYGON_NO_MEMORY;
    double least = count > POLYGON_MAX_CONCAVE ? -ROUNDING_OVER_SIZE : ROUNDING_OVER_SIZE;
    if (at && (!flatten_polygon(parts, corner, count, at) || is_convex(at, count, least))) {
        outcome = cut_fan(parts, corner, count) ? POLYGON_CUT : POLYGON_NO_MEMORY;
    } else if (at) {
        outcome = count > POLYGON_MAX_CONCAVE ? POLYGON_TOO_LARGE : cut_ears(parts, corner, at, count);
    }
    free(at);
    return outcome;
}

sim_status mesh_add_polygon(const mesh_text *t, const char *at, mesh_parts *parts, int *corner, int count) {
    switch (polygon_cut(parts, corner, count)) {
    case POLYGON_CUT:
        return SIM_OK;
    case POLYGON_CROSSED:
        parts->crossed = parts->ncrossed++ ? parts->crossed : at;
        return SIM_OK;
    case POLYGON_TOO_LARGE:
        return text_wrong(t, at, "a face of %d corners that is not convex: at most %d can be cut", count,
                          POLYGON_MAX_CONCAVE);
    default:
        return mesh_report_no_memory(t);
    }
}
