/* Access to a surface of triangles, a mesh or a height field.
 *
 * A direction n belongs to a feature (lies in its normal cone) when the surface near it lies below the plane across n
 * through it.  For the nearest point q of a surface to p that is so of p - q: the nearest place is a face, or an edge
 * or vertex that sticks out. */
#include "collide/mesh/surface.h"

#include "geometry/mesh/mesh.h"

surface surface_of(const sim_geometry *g) {
    surface s = {.mesh = g->mesh, .heights = g->heights, .bvh = g->bvh, .relief = g->relief};
    s.low = g->low;
    s.high = g->high;
    s.solid = g->heights || g->mesh->closed;
    return s;
}

int surface_triangles(const surface *s) { return s->mesh ? s->mesh->ntriangle : heights_triangles(s->heights); }

void surface_triangle(const surface *s, int t, int corner[3]) {
    if (s->mesh) {
        for (int k = 0; k < 3; k++) {
            corner[k] = s->mesh->triangle[t][k];
        }
        return;
    }
    heights_triangle(s->heights, t, corner);
}

int surface_leaf(const surface *s, const bvh_node *leaf, int k) {
    return s->mesh ? s->bvh->order[leaf->first + k] : heights_leaf(s->heights, leaf, k);
}

v3 surface_vertex(const surface *s, int v) { return s->mesh ? s->mesh->vertex[v] : heights_vertex(s->heights, v); }

void surface_corners(const surface *s, int t, v3 corner[3]) {
    if (s->heights) {
        heights_corners(s->heights, t, corner);
        return;
    }
    for (int k = 0; k < 3; k++) {
        corner[k] = s->mesh->vertex[s->mesh->triangle[t][k]];
    }
}

int surface_across(const surface *s, int t, int k) {
    return s->mesh ? s->mesh->across[t][k] : heights_across(s->heights, t, k);
}

v3 surface_normal_of(const v3 c[3]) {
    v3 n = v3_cross(v3_sub(c[1], c[0]), v3_sub(c[2], c[0]));
    return v3_scale(1 / v3_norm(n), n);
}

v3 surface_normal(const surface *s, int t) {
    v3 c[3];
    surface_corners(s, t, c);
    return surface_normal_of(c);
}

bool surface_turn(const surface *s, int *t, int *corner, int back) {
    int here[3], there[3];
    surface_triangle(s, *t, here);
    int u = surface_across(s, *t, back ? *corner : (*corner + 2) % 3);
    if (u < 0) {
        return false;
    }
    surface_triangle(s, u, there);
    *corner = there[0] == here[*corner] ? 0 : there[1] == here[*corner] ? 1 : 2;
    *t = u;
    return true;
}

static v3 weighted_normal(const surface *s, int t, int k) {
    v3 c[3];
    surface_corners(s, t, c);
    v3 a = v3_sub(c[(k + 1) % 3], c[k]), b = v3_sub(c[(k + 2) % 3], c[k]);
    return v3_scale(atan2(v3_norm(v3_cross(a, b)), v3_dot(a, b)), surface_normal_of(c));
}

v3 surface_feature_normal(const surface *s, int triangle, int feature) {
    if (s->mesh) {
        return mesh_feature_normal(s->mesh, triangle, feature);
    }
    v3 n = surface_normal(s, triangle);
    if (feature >= 4) {
        n = weighted_normal(s, triangle, feature - 4);
        for (int back = 0; back < 2; back++) {
            int t = triangle, k = feature - 4;
            while (surface_turn(s, &t, &k, back) && t != triangle) { /* six at most */
                n = v3_add(n, weighted_normal(s, t, k));
            }
            if (t == triangle) {
                break;
            }
        }
    } else if (feature > 0 && surface_across(s, triangle, feature - 1) >= 0) {
        n = v3_add(n, surface_normal(s, surface_across(s, triangle, feature - 1)));
    }
    return v3_scale(1 / v3_norm(n), n); /* all point up: no sum of them vanishes */
}

static bool falls_within(v3 n, v3 from, v3 to, double slack) {
    v3 d = v3_sub(to, from);
    return v3_dot(n, d) <= slack * v3_norm(d);
}

static bool falls_towards(v3 n, v3 from, v3 to) { return falls_within(n, from, to, SURFACE_SLACK); }

static bool vertex_faces(const surface *s, int triangle, int corner, v3 n) {
    /* around the vertex in both directions: every edge falls away from n */
    int border = 0;
    for (int back = 0; back < 2; back++) {
        int t = triangle, k = corner;
        for (int left = surface_triangles(s); left > 0; left--) {
            v3 c[3];
            surface_corners(s, t, c);
            if (!falls_towards(n, c[k], c[(k + 1) % 3]) || !falls_towards(n, c[k], c[(k + 2) % 3])) {
                return false;
            }
            if (!surface_turn(s, &t, &k, back)) {
                border = 1;
                break;
            }
            if (t == triangle) {
                return true;
            }
        }
    }
    /* at a border the normal of the vertex decides */
    return !border || v3_dot(n, surface_feature_normal(s, triangle, corner + 4)) >= -SURFACE_SLACK;
}

bool surface_faces(const surface *s, int triangle, int feature, v3 n) {
    v3 c[3], own;
    if (feature >= 4) {
        return vertex_faces(s, triangle, feature - 4, n);
    }
    surface_corners(s, triangle, c);
    own = surface_normal_of(c);
    if (feature == 0) {
        return v3_dot(n, own) > 0 && v3_norm(v3_cross(n, own)) <= SURFACE_SLACK;
    }
    int k = feature - 1, other = surface_across(s, triangle, k);
    if (!falls_towards(n, c[k], c[(k + 2) % 3])) {
        return false;
    }
    if (other < 0) {
        return v3_dot(n, own) >= -SURFACE_SLACK;
    }
    v3 d[3];
    int here[3], there[3];
    surface_triangle(s, triangle, here);
    surface_triangle(s, other, there);
    surface_corners(s, other, d);
    for (int i = 0; i < 3; i++) {
        if (there[i] != here[k] && there[i] != here[(k + 1) % 3] && !falls_towards(n, c[k], d[i])) {
            return false;
        }
    }
    /* Two triangles in one plane, seen from behind, fall away as well. */
    return v3_dot(n, v3_add(own, surface_normal_of(d))) >= -SURFACE_SLACK;
}

bool surface_ends(const surface *s, int triangle, int feature, v3 n, double slack) {
    enum { MAX_FACES_AROUND = 64 };
    int around[MAX_FACES_AROUND], count = surface_faces_at(s, triangle, feature, around, MAX_FACES_AROUND);
    v3 c[3], at[2];
    surface_corners(s, triangle, c);
    int k = feature >= 4 ? feature - 4 : feature - 1, ends = feature > 0 && feature < 4 ? 2 : 1;
    at[0] = c[k];
    at[1] = c[(k + 1) % 3];
    for (int f = 0; f < count; f++) {
        surface_corners(s, around[f], c);
        for (int j = 0; j < 3 * ends; j++) {
            if (!falls_within(n, at[j / 3], c[j % 3], slack)) {
                return false;
            }
        }
    }
    return true;
}

int surface_faces_at(const surface *s, int triangle, int feature, int *found, int room) {
    /* the triangle, the one across an edge, or all around a vertex */
    int count = 0;
    found[count++] = triangle;
    if (feature > 0 && feature < 4) {
        int other = surface_across(s, triangle, feature - 1);
        if (other >= 0 && count < room) {
            found[count++] = other;
        }
    } else if (feature >= 4) {
        for (int back = 0; back < 2; back++) {
            int t = triangle, k = feature - 4;
            while (count < room && surface_turn(s, &t, &k, back) && t != triangle) {
                found[count++] = t;
            }
            if (t == triangle) {
                break;
            }
        }
    }
    return count;
}

uint32_t surface_feature(const surface *s, int triangle, int feature) {
    int i[3];
    if (feature == 0) {
        return (uint32_t)surface_patch(s, triangle) << 2 | 2;
    }
    surface_triangle(s, triangle, i);
    if (feature >= 4) {
        return (uint32_t)i[feature - 4] << 2;
    }
    int k = feature - 1, other = surface_across(s, triangle, k);
    uint32_t half = 3 * (uint32_t)triangle + (uint32_t)k;
    if (other >= 0 && other < triangle) {
        int j[3];
        surface_triangle(s, other, j);
        for (int e = 0; e < 3; e++) {
            half = j[e] == i[(k + 1) % 3] && j[(e + 1) % 3] == i[k] ? 3 * (uint32_t)other + (uint32_t)e : half;
        }
    }
    return half << 2 | 1;
}

uint32_t surface_feature_along(const surface *s, int triangle, int feature, v3 n) {
    int level = feature > 0 && feature < 4 && surface_flag(s, triangle) & RELIEF_LEVEL << (feature - 1);
    if (feature == 0 || level) {
        int faces = surface_faces(s, triangle, 0, n);
        return faces     ? surface_feature(s, triangle, 0)
               : feature ? surface_feature(s, triangle, feature)
                         : (uint32_t)triangle << 2 | 3;
    }
    return surface_feature(s, triangle, feature);
}
