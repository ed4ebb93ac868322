/* Planes of the faces of a hull.
 *
 * The normal is that of the face's area vector.  The plane goes through the vertex farthest along it, so that the solid
 * is on one side.  On large hulls that vertex is found uphill from the face's corners.
 *
 * Rounding tilts narrow faces.  Where the farthest vertex so stands out from a face by more than the tolerance, the
 * normals of the faces around it are tried.  The one that leaves the face's corners nearest to the plane is taken.
 * The remaining error may be that of a tilt, d e / h at the distance d for a face of height h and the tolerance e;
 * beyond, the hull is not convex. */
#include "geometry/hull/hull.h"

enum { MAX_VERTEX_FACE_PRODUCTS = 1 << 22 }; /* vertices times faces */

v3 hull_area(const v3 *vertex, const int *loop, int count) {
    v3 area = {0, 0, 0}, a = vertex[loop[0]];
    for (int i = 2; i < count; i++) {
        v3 b = v3_sub(vertex[loop[i - 1]], a), c = v3_sub(vertex[loop[i]], a);
        area = v3_axpy(area, 0.5, v3_cross(b, c));
    }
    return area;
}

/* The vertex farthest along n, from v uphill over its neighbours. */
static int climb_to_support(const sim_hull *h, v3 n, int v) {
    double most = v3_dot(n, h->vertex[v]);
    for (int last = -1; last != v;) {
        last = v;
        for (int i = h->ring_start[last]; i < h->ring_start[last + 1]; i++) {
            double d = v3_dot(n, h->vertex[h->ring[i]]);
            if (d > most) {
                most = d;
                v = h->ring[i];
            }
        }
    }
    return v;
}

static int farthest_of_all(const sim_hull *h, v3 n, int v) {
    double most = v3_dot(n, h->vertex[v]);
    for (int w = 0; w < h->nvertex; w++) {
        double d = v3_dot(n, h->vertex[w]);
        if (d > most) {
            most = d;
            v = w;
        }
    }
    return v;
}

typedef struct support {
    v3 normal;
    double offset;
    double depth; /* of the face's deepest corner below the plane */
    double reach; /* from there to the vertex that carries the plane */
} support;

static support plane_along(const sim_hull *h, int f, v3 n) {
    int begin = h->face_start[f], high = h->loop[begin], low = high;
    for (int k = begin; k < h->face_start[f + 1]; k++) {
        double d = v3_dot(n, h->vertex[h->loop[k]]);
        high = d > v3_dot(n, h->vertex[high]) ? h->loop[k] : high;
        low = d < v3_dot(n, h->vertex[low]) ? h->loop[k] : low;
    }
    int all = (double)h->nvertex * h->nface <= MAX_VERTEX_FACE_PRODUCTS;
    int far = all ? farthest_of_all(h, n, high) : climb_to_support(h, n, high);
    v3 up = v3_sub(h->vertex[far], h->vertex[low]);
    return (support){n, v3_dot(n, h->vertex[far]), v3_dot(n, up), v3_norm(up)};
}

static v3 area_of(const sim_hull *h, int f) {
    return hull_area(h->vertex, h->loop + h->face_start[f], h->face_start[f + 1] - h->face_start[f]);
}

static v3 exact_unit(v3 a) {
    a = v3_scale(1 / v3_norm(a), a);
    return v3_scale(1 / v3_norm(a), a);
}

/* False where the face is not one of a convex body. */
static bool find_plane(const sim_hull *h, int f, double tolerance, support *best) {
    v3 area = area_of(h, f), first = h->vertex[h->loop[h->face_start[f]]];
    double longest = 0;
    *best = plane_along(h, f, exact_unit(area));
    for (int k = h->face_start[f]; k < h->face_start[f + 1] && best->depth > 4 * tolerance; k++) {
        support other = plane_along(h, f, exact_unit(area_of(h, h->across[k])));
        *best = other.depth < best->depth ? other : *best;
    }
    for (int k = h->face_start[f]; k < h->face_start[f + 1]; k++) {
        longest = fmax(longest, v3_norm(v3_sub(h->vertex[h->loop[k]], first)));
    }
    return v3_finite(best->normal) && best->depth <= 8 * tolerance * (1 + best->reach * longest / v3_norm(area));
}

hull_outcome hull_find_planes(const sim_hull *h, double tolerance, v3 *normal, double *offset) {
    for (int f = 0; f < h->nface; f++) {
        support s;
        if (!find_plane(h, f, tolerance, &s)) {
            return HULL_BROKEN;
        }
        normal[f] = s.normal;
        offset[f] = s.offset;
    }
    return HULL_BUILT;
}
