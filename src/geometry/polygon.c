/* How is a polygon cut into triangles?
 *
 * The polygon is seen along its area vector (a corner off its plane does no harm).  A convex one becomes a fan about its
 * first corner.  From a concave one ears are cut, one after the other: an ear is a convex corner whose triangle with its
 * two neighbours holds no other corner (G. H. Meisters, Polygons have ears, Amer. Math. Monthly 82, 1975: there are always
 * two).  Where corners nearly coincide, rounding is given the benefit of the doubt, so that outlines which touch
 * themselves (a hole joined to the rim by two edges at one place) are cut as well.  An outline that crosses itself is
 * refused when the ears run out or the last triangle is upside down. */
#include "geometry/mesh_file.h"

#include <stdlib.h>

/* Twice an area, relative to the square of the polygon's size, that rounding may leave. */
#define SMALL 1e-12

typedef struct flat {
    double x, y;
} flat;

/* Twice the area of (a, b, c). */
static double turn(flat a, flat b, flat c) { return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x); }

/* Coordinates across the area vector, relative to the first corner and to the size; 0 for a polygon without area. */
static int flatten(const mesh_parts *parts, const int *corner, int count, flat *at) {
    v3 area = {0, 0, 0}, first = parts->vertex[corner[0]];
    double size = 0;
    for (int i = 1; i < count; i++) {
        v3 d = v3_sub(parts->vertex[corner[i]], first);
        size = fmax(size, fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z))));
    }
    if (!(size > 0) || !isfinite(size)) {
        return 0;
    }
    for (int i = 2; i < count; i++) {
        v3 b = v3_scale(1 / size, v3_sub(parts->vertex[corner[i - 1]], first));
        v3 c = v3_scale(1 / size, v3_sub(parts->vertex[corner[i]], first));
        area = v3_add(area, v3_cross(b, c));
    }
    if (!(v3_norm(area) > 1e-14)) {
        return 0;
    }
    v3 normal = v3_scale(1 / v3_norm(area), area);
    v3 x = v3_perpendicular(normal), y = v3_cross(normal, x);
    for (int i = 0; i < count; i++) {
        v3 d = v3_scale(1 / size, v3_sub(parts->vertex[corner[i]], first));
        at[i] = (flat){v3_dot(d, x), v3_dot(d, y)};
    }
    return 1;
}

/* Turns to the left everywhere, and each triangle of its fan too. */
static int is_convex(const flat *at, int count) {
    for (int i = 0; i < count; i++) {
        if (turn(at[i], at[(i + 1) % count], at[(i + 2) % count]) < -SMALL ||
            (i >= 2 && turn(at[0], at[i - 1], at[i]) < -SMALL)) {
            return 0;
        }
    }
    return 1;
}

static int fan(mesh_parts *parts, const int *corner, int count) {
    for (int i = 2; i < count; i++) {
        if (!mesh_add_triangle(parts, corner[0], corner[i - 1], corner[i])) {
            return 0;
        }
    }
    return 1;
}

static int is_ear(const flat *at, int count, int i) {
    flat a = at[(i + count - 1) % count], b = at[i], c = at[(i + 1) % count];
    if (turn(a, b, c) < -SMALL) {
        return 0;
    }
    for (int k = 0; k < count; k++) {
        flat p = at[k];
        if (turn(a, b, p) > SMALL && turn(b, c, p) > SMALL && turn(c, a, p) > SMALL) {
            return 0;
        }
    }
    return 1;
}

static polygon_outcome cut_ears(mesh_parts *parts, int *corner, flat *at, int count) {
    int i = 0, tried = 0;
    while (count > 3) {
        if (tried == count) {
            return POLYGON_CROSSED;
        }
        if (!is_ear(at, count, i)) {
            tried++;
            i = (i + 1) % count;
            continue;
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
        tried = 0;
    }
    if (turn(at[0], at[1], at[2]) < -SMALL) {
        return POLYGON_CROSSED;
    }
    return fan(parts, corner, count) ? POLYGON_CUT : POLYGON_NO_MEMORY;
}

polygon_outcome polygon_cut(mesh_parts *parts, int *corner, int count) {
    if (count == 3) {
        return fan(parts, corner, count) ? POLYGON_CUT : POLYGON_NO_MEMORY;
    }
    flat *at = malloc((size_t)count * sizeof(flat));
    polygon_outcome outcome = POLYGON_NO_MEMORY;
    if (at && (!flatten(parts, corner, count, at) || is_convex(at, count))) {
        outcome = fan(parts, corner, count) ? POLYGON_CUT : POLYGON_NO_MEMORY;
    } else if (at) {
        outcome = count > POLYGON_MAX_CONCAVE ? POLYGON_TOO_LARGE : cut_ears(parts, corner, at, count);
    }
    free(at);
    return outcome;
}
