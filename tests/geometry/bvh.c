/* The tree over the triangles, against asking every triangle. */
#include "geometry/mesh/bvh.h"

#include "geometry/core/solid.h"
#include "geometry/mesh/mesh.h"
#include "support/meshes.h"
#include "support/share.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static soup random_soup(random_source *r, int triangles, double size) {
    soup s = {.nvertex = 3 * triangles,
              .ntriangle = triangles,
              .vertex = malloc((size_t)(3 * triangles) * sizeof(v3)),
              .triangle = malloc((size_t)triangles * sizeof(int[3]))};
    for (int t = 0; t < triangles; t++) {
        v3 at = v3_scale(random_uniform(r, 0, 1), random_unit(r));
        for (int k = 0; k < 3; k++) {
            s.vertex[3 * t + k] = v3_axpy(at, size * random_uniform(r, 0, 1), random_unit(r));
            s.triangle[t][k] = 3 * t + k;
        }
    }
    return s;
}

/* Depth of the tree, counting that each triangle stands in one leaf and inside all boxes above it. */
static int depth_of(const sim_geometry *g, int n, int *seen) {
    const bvh_node *node = &g->bvh->node[n];
    if (node->count == 0) {
        int deepest = 0;
        for (int c = node->first; c < node->first + 2; c++) {
            cr_assert(c > n && c < g->bvh->nnode);
            for (int k = 0; k < 3; k++) {
                cr_assert(g->bvh->node[c].low[k] >= node->low[k] && g->bvh->node[c].high[k] <= node->high[k]);
            }
            int d = depth_of(g, c, seen);
            deepest = d > deepest ? d : deepest;
        }
        return deepest + 1;
    }
    for (int k = node->first; k < node->first + node->count; k++) {
        int t = g->bvh->order[k];
        seen[t]++;
        for (int c = 0; c < 3; c++) {
            v3 p = g->mesh->vertex[g->mesh->triangle[t][c]];
            cr_assert(node->low[0] <= p.x && p.x <= node->high[0] && node->low[1] <= p.y && p.y <= node->high[1] &&
                      node->low[2] <= p.z && p.z <= node->high[2]);
        }
    }
    return 0;
}

static void whole(const sim_geometry *g, int most) {
    int *seen = calloc((size_t)g->mesh->ntriangle, sizeof *seen);
    cr_assert_leq(depth_of(g, 0, seen), most);
    for (int t = 0; t < g->mesh->ntriangle; t++) {
        cr_assert_eq(seen[t], 1);
    }
    free(seen);
}

Test(bvh, holds_each_triangle_once_inside_its_boxes) {
    random_source r = {1};
    for (int n = 1; n < 3000; n = 2 * n + 1) {
        sim_geometry *g = soup_geometry(random_soup(&r, n, 0.2));
        whole(g, 20);
        sim_geometry_free(g);
    }
}

Test(bvh, stays_shallow_where_triangles_shrink_geometrically_or_coincide) {
    int n = 20000;
    soup s = {.nvertex = 3 * n,
              .ntriangle = n,
              .vertex = malloc((size_t)(3 * n) * sizeof(v3)),
              .triangle = malloc((size_t)n * sizeof(int[3]))};
    for (int t = 0; t < n; t++) {
        double x = exp2(-(t % 300) / 12.0), w = x * 1e-3;
        s.vertex[3 * t] = v3_make(x, 0, 0);
        s.vertex[3 * t + 1] = v3_make(x + w, 0, 0);
        s.vertex[3 * t + 2] = v3_make(x, w, 0);
        for (int k = 0; k < 3; k++) {
            s.triangle[t][k] = 3 * t + k;
        }
    }
    sim_geometry *g = soup_geometry(s);
    whole(g, BVH_MAX_DEPTH - 1);
    sim_geometry_free(g);
}

static bool mark(void *context, int triangle) {
    ((char *)context)[triangle] = 1;
    return true;
}

Test(bvh, finds_all_triangles_whose_box_meets_a_box) {
    random_source r = {2};
    sim_geometry *g = soup_geometry(random_soup(&r, 800, 0.2));
    char found[800];
    for (int q = 0; q < 300; q++) {
        v3 at = v3_scale(random_uniform(&r, 0, 1.2), random_unit(&r));
        v3 half = {random_uniform(&r, 0, 0.4), random_uniform(&r, 0, 0.4), random_uniform(&r, 0, 0.4)};
        v3 low = v3_sub(at, half), high = v3_add(at, half);
        memset(found, 0, sizeof found);
        bvh_in_box(g->bvh, 0, NULL, 0, low, high, mark, found);
        for (int t = 0; t < g->mesh->ntriangle; t++) {
            v3 l, h;
            const int *i = g->mesh->triangle[t];
            v3 corner[3] = {g->mesh->vertex[i[0]], g->mesh->vertex[i[1]], g->mesh->vertex[i[2]]};
            double radius;
            solid_bounds(corner, 3, &l, &h, &radius);
            int meets = l.x <= high.x && h.x >= low.x && l.y <= high.y && h.y >= low.y && l.z <= high.z && h.z >= low.z;
            cr_assert(!meets || found[t]);
        }
    }
    sim_geometry_free(g);
}

/* The nearest point of a triangle by bisecting its edges and its inside: slow and of another kind. */
static double nearest_by_hand(v3 a, v3 b, v3 c, v3 p) {
    double best = HUGE_VAL;
    v3 corner[3] = {a, b, c};
    for (int k = 0; k < 3; k++) {
        v3 u = corner[k], e = v3_sub(corner[(k + 1) % 3], u);
        double s = fmin(1, fmax(0, v3_dot(v3_sub(p, u), e) / v3_dot(e, e)));
        best = fmin(best, v3_norm(v3_sub(p, v3_axpy(u, s, e))));
    }
    v3 n = v3_cross(v3_sub(b, a), v3_sub(c, a));
    n = v3_scale(1 / v3_norm(n), n);
    double height = v3_dot(n, v3_sub(p, a));
    v3 q = v3_axpy(p, -height, n);
    int inside = 1;
    for (int k = 0; k < 3; k++) {
        inside &= v3_dot(n, v3_cross(v3_sub(corner[(k + 1) % 3], corner[k]), v3_sub(q, corner[k]))) >= 0;
    }
    return inside ? fabs(height) : best;
}

Test(bvh, nearest_point_is_the_nearest_of_all_triangles_and_says_where_it_lies) {
    random_source r = {3};
    sim_geometry *g = soup_geometry(random_soup(&r, 600, 0.3));
    int seen[7] = {0};
    for (int q = 0; q < part_of(3000); q++) {
        v3 p = v3_scale(random_uniform(&r, 0, 2), random_unit(&r)), at;
        int feature, t = bvh_nearest(g->bvh, g->mesh, p, HUGE_VAL, &at, &feature);
        double least = HUGE_VAL;
        for (int k = 0; k < g->mesh->ntriangle; k++) {
            const int *i = g->mesh->triangle[k];
            least =
                fmin(least, nearest_by_hand(g->mesh->vertex[i[0]], g->mesh->vertex[i[1]], g->mesh->vertex[i[2]], p));
        }
        cr_assert_float_eq(v3_norm(v3_sub(p, at)), least, 1e-14);
        seen[feature]++;
        const int *i = g->mesh->triangle[t];
        if (feature >= 4) {
            cr_assert_eq(v3_norm(v3_sub(at, g->mesh->vertex[i[feature - 4]])), 0);
        } else if (feature > 0) {
            v3 u = g->mesh->vertex[i[feature - 1]], v = g->mesh->vertex[i[feature % 3]];
            cr_assert_float_eq(v3_norm(v3_sub(at, u)) + v3_norm(v3_sub(at, v)), v3_norm(v3_sub(u, v)), 1e-14);
        }
        cr_assert_eq(bvh_nearest(g->bvh, g->mesh, p, 0.999 * least, &at, &feature), -1);
    }
    for (int k = 0; k < 7; k++) {
        cr_assert_gt(seen[k], 0);
    }
    sim_geometry_free(g);
}

/* Winding number by solid angles (A. van Oosterom, J. Strackee 1983): 1 inside, 0 outside. */
static double winding(const sim_mesh *m, v3 p) {
    double sum = 0;
    for (int t = 0; t < m->ntriangle; t++) {
        const int *i = m->triangle[t];
        v3 a = v3_sub(m->vertex[i[0]], p), b = v3_sub(m->vertex[i[1]], p), c = v3_sub(m->vertex[i[2]], p);
        double x = v3_norm(a), y = v3_norm(b), z = v3_norm(c);
        sum += atan2(v3_dot(a, v3_cross(b, c)), x * y * z + v3_dot(a, b) * z + v3_dot(b, c) * x + v3_dot(c, a) * y);
    }
    return sum / (2 * M_PI);
}

/* A ball with spikes and dents: sharp vertices and edges of both signs. */
static sim_geometry *spiky(random_source *r) {
    soup s = soup_sphere(1, 2), torn = s;
    sim_geometry *g = soup_geometry(torn);
    soup own = {.nvertex = g->mesh->nvertex,
                .ntriangle = g->mesh->ntriangle,
                .vertex = malloc((size_t)g->mesh->nvertex * sizeof(v3)),
                .triangle = malloc((size_t)g->mesh->ntriangle * sizeof(int[3]))};
    for (int k = 0; k < own.nvertex; k++) {
        own.vertex[k] = v3_scale(random_uniform(r, 0.4, 1.6), g->mesh->vertex[k]);
    }
    memcpy(own.triangle, g->mesh->triangle, (size_t)own.ntriangle * sizeof(int[3]));
    sim_geometry_free(g);
    return soup_geometry(own);
}

Test(bvh, signed_distance_has_the_sign_of_the_winding_number_and_a_unit_gradient) {
    random_source r = {4};
    for (int k = 0; k < 4; k++) {
        sim_geometry *g = spiky(&r);
        cr_assert(g->mesh->closed);
        for (int q = 0; q < 1500; q++) {
            v3 p = v3_scale(random_uniform(&r, 0, 1.7), random_unit(&r)), gradient, at;
            double d = mesh_distance(g, p, &gradient);
            int feature;
            bvh_nearest(g->bvh, g->mesh, p, HUGE_VAL, &at, &feature);
            cr_assert_float_eq(fabs(d), v3_norm(v3_sub(p, at)), 1e-15);
            cr_assert_eq(d<0, winding(g->mesh, p)> 0.5);
            cr_assert_float_eq(v3_norm(gradient), 1, 1e-12);
            cr_assert_float_eq(mesh_distance(g, v3_axpy(p, -d, gradient), NULL), 0, 1e-14);
        }
        sim_geometry_free(g);
    }
}

Test(bvh, on_the_surface_the_gradient_is_the_normal) {
    sim_geometry *g = soup_geometry(soup_box(1, 1, 1));
    v3 n;
    cr_assert_float_eq(mesh_distance(g, v3_make(0.1, 0.2, 0.5), &n), 0, 1e-15);
    cr_assert_float_eq(n.z, 1, 1e-15);
    mesh_distance(g, v3_make(0.5, 0.5, 0.5), &n);
    cr_assert_float_eq(n.x, sqrt(1.0 / 3), 1e-12);
    mesh_distance(g, v3_make(0.5, 0.1, 0.5), &n);
    cr_assert_float_eq(n.x, sqrt(0.5), 1e-12);
    sim_geometry_free(g);
}
