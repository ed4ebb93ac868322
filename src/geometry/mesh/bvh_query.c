/* Queries of a bounding volume hierarchy: triangles in a box, nearest point.
 *
 * Nearest point of a triangle: by the seven regions of its plane (C. Ericson 2005, "Real-Time Collision Detection",
 * 5.1.5).  Sign: with q the nearest point of a closed surface and n the pseudonormal of the feature it lies on, p is
 * outside where n . (p - q) > 0; n is the face's normal, the sum of two faces' at an edge, the sum weighted by the
 * faces' angles at a vertex (J. A. Baerentzen, H. Aanaes 2005, "Signed distance computation using the angle weighted
 * pseudonormal", IEEE TVCG 11, theorem 1).
 *
 * Cost: about logarithmic in the triangles, plus those found. */
#include "geometry/mesh/bvh.h"

#include "geometry/mesh/mesh.h"
#include <float.h>

void bvh_in_box(const sim_bvh *bvh, int root, const uint8_t *bits, int of, v3 low, v3 high, bvh_visit *visit,
                void *context) {
    /* depth first, with a stack */
    bvh_box box = bvh_box_of(low, high);
    int waiting[BVH_MAX_DEPTH + 1], nwaiting = 1;
    waiting[0] = root;
    while (nwaiting > 0) {
        int at = waiting[--nwaiting];
        const bvh_node *n = &bvh->node[at];
        if (!bvh_box_meets(n, &box) || (bits && !(bits[at] & of))) {
            continue;
        }
        if (n->count == 0) {
            waiting[nwaiting++] = n->first + 1;
            waiting[nwaiting++] = n->first;
            continue;
        }
        /* triangles of a leaf */
        for (int k = n->first; k < n->first + n->count; k++) {
            if (!visit(context, bvh->order[k])) {
                return;
            }
        }
    }
}

v3 triangle_nearest(v3 a, v3 b, v3 c, v3 p, int *feature) {
    v3 ab = v3_sub(b, a), ac = v3_sub(c, a), ap = v3_sub(p, a), bp = v3_sub(p, b), cp = v3_sub(p, c);
    double d1 = v3_dot(ab, ap), d2 = v3_dot(ac, ap);
    if (d1 <= 0 && d2 <= 0) {
        *feature = 4;
        return a;
    }
    double d3 = v3_dot(ab, bp), d4 = v3_dot(ac, bp);
    if (d3 >= 0 && d4 <= d3) {
        *feature = 5;
        return b;
    }
    double d5 = v3_dot(ab, cp), d6 = v3_dot(ac, cp);
    if (d6 >= 0 && d5 <= d6) {
        *feature = 6;
        return c;
    }
    v3 n = v3_cross(ab, ac);
    /* Outside an edge: by the plane through it and the normal, which cancels less than products of the above. */
    if (d1 >= 0 && d3 <= 0 && v3_dot(v3_cross(ab, n), ap) >= 0) {
        *feature = 1;
        return v3_axpy(a, d1 / (d1 - d3), ab);
    }
    if (d4 >= d3 && d5 >= d6 && v3_dot(v3_cross(v3_sub(c, b), n), bp) >= 0) {
        *feature = 2;
        return v3_axpy(b, (d4 - d3) / ((d4 - d3) + (d5 - d6)), v3_sub(c, b));
    }
    if (d2 >= 0 && d6 <= 0 && v3_dot(v3_cross(n, ac), ap) >= 0) {
        *feature = 3;
        return v3_axpy(a, d2 / (d2 - d6), ac);
    }
    *feature = 0;
    return v3_axpy(p, -v3_dot(ap, n) / v3_dot(n, n), n);
}

/* How far p lies outside [low, high]. */
static double outside_interval(double p, double low, double high) {
    return p < low ? low - p : p > high ? p - high : 0;
}

/* Of the squared distance from p to the box. */
static double box_distance(const bvh_node *n, v3 p) {
    double x = outside_interval(p.x, n->low[0], n->high[0]), y = outside_interval(p.y, n->low[1], n->high[1]),
           z = outside_interval(p.z, n->low[2], n->high[2]);
    return x * x + y * y + z * z;
}

void bvh_in_ball(const sim_bvh *bvh, v3 p, double reach, bvh_visit *visit, void *context) {
    int waiting[BVH_MAX_DEPTH + 1] = {0}, nwaiting = 1;
    while (nwaiting > 0) {
        const bvh_node *n = &bvh->node[waiting[--nwaiting]];
        if (box_distance(n, p) > reach * reach) {
            continue;
        }
        if (n->count == 0) {
            waiting[nwaiting++] = n->first + 1;
            waiting[nwaiting++] = n->first;
            continue;
        }
        for (int k = n->first; k < n->first + n->count; k++) {
            if (!visit(context, bvh->order[k])) {
                return;
            }
        }
    }
}

typedef struct best {
    double distance; /* squared */
    v3 point;
    int triangle, feature;
} best;

static void visit_leaf_triangles(const bvh_node *n, const sim_bvh *bvh, const sim_mesh *mesh, v3 p, best *found) {
    for (int k = n->first; k < n->first + n->count; k++) {
        const int *i = mesh->triangle[bvh->order[k]];
        int feature;
        v3 q = triangle_nearest(mesh->vertex[i[0]], mesh->vertex[i[1]], mesh->vertex[i[2]], p, &feature);
        v3 d = v3_sub(q, p);
        double distance = v3_dot(d, d);
        if (distance < found->distance || (distance == found->distance && found->triangle < 0)) {
            *found = (best){distance, q, bvh->order[k], feature};
        }
    }
}

int bvh_nearest(const sim_bvh *bvh, const sim_mesh *mesh, v3 p, double reach, v3 *nearest, int *feature) {
    struct {
        double distance;
        int node;
    } waiting[BVH_MAX_DEPTH + 1] = {{box_distance(&bvh->node[0], p), 0}};
    int nwaiting = 1;
    best found = {.distance = reach * reach, .triangle = -1};
    while (nwaiting > 0) {
        nwaiting--;
        if (waiting[nwaiting].distance > found.distance) {
            continue;
        }
        const bvh_node *n = &bvh->node[waiting[nwaiting].node];
        if (n->count) {
            visit_leaf_triangles(n, bvh, mesh, p, &found);
            continue;
        }
        double first = box_distance(&bvh->node[n->first], p), second = box_distance(&bvh->node[n->first + 1], p);
        int nearer = second < first, from = n->first; /* the nearer one on top */
        waiting[nwaiting].node = from + !nearer;
        waiting[nwaiting++].distance = nearer ? first : second;
        waiting[nwaiting].node = from + nearer;
        waiting[nwaiting++].distance = nearer ? second : first;
    }
    *nearest = found.point;
    *feature = found.feature;
    return found.triangle;
}

static double angle_between(v3 a, v3 b) { return atan2(v3_norm(v3_cross(a, b)), v3_dot(a, b)); }

v3 mesh_triangle_normal(const sim_mesh *mesh, int t) {
    v3 n = triangle_cross(mesh, t);
    return v3_scale(1 / v3_norm(n), n);
}

bool mesh_turn(const sim_mesh *mesh, int *t, int *corner, int back) {
    int v = mesh->triangle[*t][*corner];
    int u = mesh->across[*t][back ? *corner : (*corner + 2) % 3];
    if (u < 0) {
        return false;
    }
    const int *i = mesh->triangle[u];
    *t = u;
    *corner = i[0] == v ? 0 : i[1] == v ? 1 : 2;
    return true;
}

static v3 angle_weighted_normal(const sim_mesh *mesh, int t, int corner) {
    const int *i = mesh->triangle[t];
    v3 at = mesh->vertex[i[corner]];
    double angle =
        angle_between(v3_sub(mesh->vertex[i[(corner + 1) % 3]], at), v3_sub(mesh->vertex[i[(corner + 2) % 3]], at));
    return v3_scale(angle, mesh_triangle_normal(mesh, t));
}

static v3 vertex_normal(const sim_mesh *mesh, int triangle, int corner) {
    v3 sum = angle_weighted_normal(mesh, triangle, corner);
    for (int back = 0; back < 2; back++) {
        int t = triangle, c = corner;
        for (int left = mesh->ntriangle; left > 0 && mesh_turn(mesh, &t, &c, back); left--) {
            if (t == triangle) {
                return sum; /* all the way round */
            }
            sum = v3_add(sum, angle_weighted_normal(mesh, t, c));
        }
    }
    return sum;
}

v3 mesh_feature_normal(const sim_mesh *mesh, int triangle, int feature) {
    v3 face = mesh_triangle_normal(mesh, triangle), n = face;
    if (feature >= 4) {
        n = vertex_normal(mesh, triangle, feature - 4);
    } else if (feature > 0 && mesh->across[triangle][feature - 1] >= 0) {
        n = v3_add(face, mesh_triangle_normal(mesh, mesh->across[triangle][feature - 1]));
    }
    double length = v3_norm(n);
    return length > 1e-12 ? v3_scale(1 / length, n) : face;
}

double mesh_distance(const sim_geometry *mesh, v3 p, v3 *gradient) {
    v3 q;
    int feature, t = bvh_nearest(mesh->bvh, mesh->mesh, p, HUGE_VAL, &q, &feature);
    v3 d = v3_sub(p, q), n = mesh_feature_normal(mesh->mesh, t, feature);
    double distance = v3_norm(d), sign = v3_dot(d, n) < 0 ? -1 : 1;
    if (gradient) {
        /* On the surface itself rounding decides where d points. */
        *gradient = distance > 8 * DBL_EPSILON * (v3_norm(p) + mesh->radius) ? v3_scale(sign / distance, d) : n;
    }
    return sign * distance;
}
