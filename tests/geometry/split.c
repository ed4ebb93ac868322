/* Convex decomposition: parts cover the solid, and fill little beside it. */
#include "geometry/mesh/mesh.h"
#include "math/spatial.h"
#include "support/meshes.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/geometry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- solids ---- */

enum { MAX_POINTS = 4000, MAX_TRIANGLES = 8000 };
typedef struct solid {
    v3 point[MAX_POINTS];
    int triangle[MAX_TRIANGLES][3];
    int npoint, ntriangle;
} solid;

static void add_triangle(solid *s, int a, int b, int c) {
    int *t = s->triangle[s->ntriangle++];
    t[0] = a;
    t[1] = b;
    t[2] = c;
}

/* A closed curve (radius, z), anticlockwise about its inside, turned about z. */
static void turn_profile(solid *s, const double (*curve)[2], int count, int turns) {
    s->npoint = s->ntriangle = 0;
    for (int i = 0; i < turns; i++) {
        double angle = 2 * M_PI * i / turns;
        for (int k = 0; k < count; k++) {
            s->point[s->npoint++] = v3_make(curve[k][0] * cos(angle), curve[k][0] * sin(angle), curve[k][1]);
        }
    }
    for (int i = 0; i < turns; i++) {
        int here = i * count, there = (i + 1) % turns * count;
        for (int k = 0; k < count; k++) {
            int next = (k + 1) % count;
            add_triangle(s, here + k, there + k, there + next);
            add_triangle(s, here + k, there + next, here + next);
        }
    }
}

/* A polygon in x and y between z = 0 and `height`, given with its triangles. */
static void raise_polygon(solid *s, const double (*corner)[2], int count, const int (*flat)[3], int nflat,
                          double height) {
    s->npoint = s->ntriangle = 0;
    for (int level = 0; level < 2; level++) {
        for (int k = 0; k < count; k++) {
            s->point[s->npoint++] = v3_make(corner[k][0], corner[k][1], level * height);
        }
    }
    for (int k = 0; k < nflat; k++) {
        add_triangle(s, flat[k][0], flat[k][2], flat[k][1]);
        add_triangle(s, count + flat[k][0], count + flat[k][1], count + flat[k][2]);
    }
    for (int k = 0; k < count; k++) {
        int next = (k + 1) % count;
        add_triangle(s, k, next, count + next);
        add_triangle(s, k, count + next, count + k);
    }
}

static void turn_solid(solid *s, sim_quat q) {
    sim_m3 R = quat_matrix(quat_normalised(q));
    for (int k = 0; k < s->npoint; k++) {
        s->point[k] = m3_times(R, s->point[k]);
    }
}

static sim_geometry *mesh_of(const solid *s) {
    sim_error error = {0};
    sim_geometry *g = sim_geometry_mesh(s->point, s->npoint, (const int(*)[3])s->triangle, s->ntriangle, &error);
    cr_assert(g && g->mesh->closed, "%s", error.text);
    return g;
}

static const double L_CORNER[6][2] = {{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 2}, {0, 2}};
static const int L_FLAT[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 5}, {3, 4, 5}};
static const double U_CORNER[8][2] = {{0, 0}, {3, 0}, {3, 2}, {2, 2}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
static const int U_FLAT[6][3] = {{0, 1, 4}, {0, 4, 5}, {1, 2, 3}, {1, 3, 4}, {0, 5, 6}, {0, 6, 7}};

/* Wall of 0.05 about a hole of radius 0.5, floor of 0.1. */
static void make_cup(solid *s, int turns) {
    /* without the middle of both floors, which stand once */
    static const double wall[4][2] = {{0.55, 0}, {0.55, 1}, {0.5, 1}, {0.5, 0.1}};
    turn_profile(s, wall, 4, turns);
    s->ntriangle = 0;
    int below = s->npoint, above = below + 1;
    s->point[s->npoint++] = v3_make(0, 0, 0);
    s->point[s->npoint++] = v3_make(0, 0, 0.1);
    for (int i = 0; i < turns; i++) {
        int here = 4 * i, there = (i + 1) % turns * 4;
        for (int k = 0; k < 3; k++) {
            add_triangle(s, here + k, there + k, there + k + 1);
            add_triangle(s, here + k, there + k + 1, here + k + 1);
        }
        add_triangle(s, below, there, here);
        add_triangle(s, above, here + 3, there + 3);
    }
}

static void make_ring(solid *s, int turns, int round) {
    double curve[64][2];
    for (int k = 0; k < round; k++) {
        curve[k][0] = 1 + 0.3 * cos(2 * M_PI * k / round);
        curve[k][1] = 0.3 * sin(2 * M_PI * k / round);
    }
    turn_profile(s, (const double(*)[2])curve, round, turns);
}

/* ---- what parts fill ---- */

static double depth_in(const sim_hull *h, v3 x) {
    double depth = INFINITY;
    for (int f = 0; f < h->nface; f++) {
        depth = fmin(depth, h->offset[f] - v3_dot(h->normal[f], x));
    }
    return depth;
}

static double depth_in_parts(const sim_parts *p, v3 x) {
    double depth = -INFINITY;
    for (int k = 0; k < p->count; k++) {
        depth = fmax(depth, depth_in(p->part[k]->hull, x));
    }
    return depth;
}

static double noise(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-53;
}

typedef struct fit {
    double volume;    /* of the union, by random points */
    double uncovered; /* greatest distance of the surface from the parts */
    double beyond;    /* greatest distance of the union from the solid */
} fit;

static fit measure_fit(const sim_geometry *g, const sim_parts *p, int points) {
    fit f = {0};
    uint64_t seed = 7;
    v3 size = v3_sub(g->high, g->low);
    int inside = 0;
    for (int k = 0; k < points; k++) {
        v3 x = {g->low.x + noise(&seed) * size.x, g->low.y + noise(&seed) * size.y, g->low.z + noise(&seed) * size.z},
           at;
        if (!(depth_in_parts(p, x) > 0)) {
            continue;
        }
        inside++;
        int feature, t = bvh_nearest(g->bvh, g->mesh, x, INFINITY, &at, &feature);
        v3 apart = v3_sub(x, at);
        bool outside = v3_dot(apart, mesh_feature_normal(g->mesh, t, feature)) > 0;
        f.beyond = outside ? fmax(f.beyond, v3_norm(apart)) : f.beyond;
    }
    f.volume = size.x * size.y * size.z * inside / points;
    for (int k = 0; k < points; k++) {
        const int *c = g->mesh->triangle[k % g->mesh->ntriangle];
        double u = noise(&seed), w = noise(&seed) * (1 - u);
        v3 a = g->mesh->vertex[c[0]];
        v3 x = v3_axpy(v3_axpy(a, u, v3_sub(g->mesh->vertex[c[1]], a)), w, v3_sub(g->mesh->vertex[c[2]], a));
        f.uncovered = fmax(f.uncovered, -depth_in_parts(p, x));
    }
    return f;
}

static sim_parts split_solid(const sim_geometry *g, double concavity, int parts) {
    sim_parts p;
    sim_error error = {0};
    cr_assert_eq(sim_geometry_split(g, &(sim_split_options){concavity, parts}, &p, &error), SIM_OK, "%s", error.text);
    return p;
}

Test(split, cuts_polygons_along_their_faces_into_as_few_boxes_as_there_are) {
    for (int k = 0; k < 4; k++) {
        solid *s = calloc(1, sizeof *s);
        bool legs = k % 2;
        if (legs) {
            raise_polygon(s, U_CORNER, 8, U_FLAT, 6, 1);
        } else {
            raise_polygon(s, L_CORNER, 6, L_FLAT, 4, 1);
        }
        turn_solid(s, k < 2 ? (sim_quat){1, 0, 0, 0} : (sim_quat){0.5, 0.3, -0.7, 0.2});
        sim_geometry *g = mesh_of(s);
        sim_parts p = split_solid(g, 0, 32);
        cr_expect_eq(p.count, legs ? 3 : 2, "%d parts", p.count);
        double volume = 0;
        for (int i = 0; i < p.count; i++) {
            volume += p.part[i]->solid.mass;
        }
        cr_expect_float_eq(volume, g->solid.mass, 1e-9, "%g", volume);
        cr_expect_lt(p.concavity, 1e-9);
        sim_parts_free(&p);
        sim_geometry_free(g);
        free(s);
    }
}

/* The parts cover all of the surface, reach no farther beyond it than the bound, and have the volume of the solid and
 * little more. */
Test(split, of_rings_and_cups_covers_them_and_keeps_to_the_bound) {
    for (int k = 3 - part_of(3); k < 3; k++) {
        solid *s = calloc(1, sizeof *s);
        if (k == 0) {
            make_ring(s, 48, 16);
        } else {
            make_cup(s, is_part() ? 16 : long_runs() ? 48 : 12 * (3 - k));
        }
        turn_solid(s, k == 2 ? (sim_quat){0.5, 0.3, -0.7, 0.2} : (sim_quat){1, 0, 0, 0});
        sim_geometry *g = mesh_of(s);
        double bound = k ? 0.03 : 0.1;
        sim_parts p = split_solid(g, bound, 64);
        fit f = measure_fit(g, &p, trials_of(40000));
        cr_expect_leq(p.concavity, bound, "%d: %g of %d parts", k, p.concavity, p.count);
        cr_expect_lt(f.uncovered, 1e-6);
        cr_expect_lt(f.beyond, 1.05 * bound, "%g", f.beyond);
        cr_expect_lt(f.volume, 1.3 * g->solid.mass, "%g, not %g", f.volume, g->solid.mass);
        cr_expect_lt(p.count, 48, "%d parts", p.count);
        sim_parts_free(&p);
        sim_geometry_free(g);
        free(s);
    }
}

/* The same surface gives the same parts, bit by bit. */
Test(split, is_the_same_again) {
    solid *s = calloc(1, sizeof *s);
    make_cup(s, is_part() ? 12 : 24);
    sim_geometry *g = mesh_of(s);
    sim_parts a = split_solid(g, 0, 12), b = split_solid(g, 0, 12);
    cr_assert_eq(a.count, b.count);
    cr_expect_leq(a.count, 12);
    for (int k = 0; k < a.count; k++) {
        cr_expect_eq(a.part[k]->fingerprint, b.part[k]->fingerprint);
    }
    sim_parts_free(&a);
    sim_parts_free(&b);
    sim_geometry_free(g);
    free(s);
}

/* A convex solid is one part; open surfaces and senseless options are refused. */
Test(split, leaves_convex_solids_whole_and_refuses_surfaces) {
    sim_geometry *ball = soup_geometry(soup_sphere(1, 2)), *plane = soup_geometry(soup_plane(1, 1, 2, 2));
    sim_parts p = split_solid(ball, 0, 8);
    sim_error error = {0};
    cr_expect_eq(p.count, 1);
    sim_parts_free(&p);
    cr_expect_eq(sim_geometry_split(plane, &(sim_split_options){0, 8}, &p, &error), SIM_BAD_INPUT);
    cr_expect_eq(sim_geometry_split(ball, &(sim_split_options){0, 0}, &p, &error), SIM_BAD_INPUT);
    cr_expect_eq(sim_geometry_split(ball, &(sim_split_options){NAN, 8}, &p, &error), SIM_BAD_INPUT);
    sim_geometry_free(ball);
    sim_geometry_free(plane);
}
