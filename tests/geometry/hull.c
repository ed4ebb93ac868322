/* Convex hulls: closed, convex, flat-faced, whatever the points' size, place and noise. */
#include "geometry/hull/hull.h"
#include "geometry/core/solid.h"
#include "support/models.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static sim_geometry *hull_of(const v3 *point, int count) {
    sim_error error = {0};
    sim_geometry *g = sim_geometry_hull(point, count, &error);
    cr_assert(g, "%s", error.text);
    return g;
}

static int corners(const sim_hull *h, int f) { return h->face_start[f + 1] - h->face_start[f]; }
static int next_corner(const sim_hull *h, int f, int k) {
    return k + 1 < h->face_start[f + 1] ? k + 1 : h->face_start[f];
}

static int in_ring(const sim_hull *h, int v, int w) {
    for (int i = h->ring_start[v]; i < h->ring_start[v + 1]; i++) {
        if (h->ring[i] == w) {
            return 1;
        }
    }
    return 0;
}

/* The face across an edge has the same edge, the other way round, and this face across it. */
static void each_edge_is_shared(const sim_hull *h) {
    for (int f = 0; f < h->nface; f++) {
        for (int k = h->face_start[f]; k < h->face_start[f + 1]; k++) {
            int a = h->loop[k], b = h->loop[next_corner(h, f, k)], g = h->across[k], found = 0;
            cr_assert(g >= 0 && g < h->nface && g != f);
            for (int l = h->face_start[g]; l < h->face_start[g + 1]; l++) {
                found += h->loop[l] == b && h->loop[next_corner(h, g, l)] == a && h->across[l] == f;
            }
            cr_assert_eq(found, 1, "edge %d-%d of face %d is met %d times across", a, b, f, found);
            cr_assert(in_ring(h, a, b) && in_ring(h, b, a));
        }
    }
}

static void rings_hold_each_neighbour_once(const sim_hull *h) {
    cr_assert_eq(h->ring_start[h->nvertex], h->face_start[h->nface]);
    for (int v = 0; v < h->nvertex; v++) {
        cr_assert_geq(h->ring_start[v + 1] - h->ring_start[v], 3);
        for (int i = h->ring_start[v]; i < h->ring_start[v + 1]; i++) {
            for (int j = h->ring_start[v]; j < i; j++) {
                cr_assert_neq(h->ring[i], h->ring[j]);
            }
        }
    }
}

/* Faces are flat and turn to the left all along, seen from outside; no vertex and no given point is outside of them. */
static void faces_bound(const sim_geometry *g, const v3 *point, int count, double tolerance) {
    const sim_hull *h = g->hull;
    for (int f = 0; f < h->nface; f++) {
        v3 n = h->normal[f];
        cr_assert_float_eq(v3_norm(n), 1, 4e-16);
        cr_assert_geq(corners(h, f), 3);
        for (int k = h->face_start[f]; k < h->face_start[f + 1]; k++) {
            int l = next_corner(h, f, k), m = next_corner(h, f, l);
            v3 a = h->vertex[h->loop[k]], b = h->vertex[h->loop[l]], c = h->vertex[h->loop[m]];
            cr_assert_geq(v3_dot(n, a), h->offset[f] - tolerance);
            v3 chord = v3_sub(c, a);
            cr_assert_geq(v3_dot(n, v3_cross(v3_sub(b, a), chord)), -tolerance * v3_norm(chord));
        }
        for (int v = 0; v < h->nvertex; v++) {
            cr_assert_leq(v3_dot(n, h->vertex[v]), h->offset[f] + 1e-15 * g->radius, "%g",
                          v3_dot(n, h->vertex[v]) - h->offset[f]);
        }
        for (int i = 0; i < count; i++) {
            cr_assert_leq(v3_dot(n, point[i]), h->offset[f] + tolerance);
        }
    }
}

static void mesh_closes(const sim_mesh *m) {
    cr_assert(m->closed && m->convex);
    cr_assert_eq(m->nvertex - m->ntriangle / 2, 2);
    for (int t = 0; t < m->ntriangle; t++) {
        for (int k = 0; k < 3; k++) {
            int u = m->across[t][k], a = m->triangle[t][k], b = m->triangle[t][(k + 1) % 3], found = 0;
            cr_assert(u >= 0 && u < m->ntriangle);
            for (int j = 0; j < 3; j++) {
                found += m->across[u][j] == t && m->triangle[u][j] == b && m->triangle[u][(j + 1) % 3] == a;
            }
            cr_assert_eq(found, 1);
        }
    }
}

static void sound(const sim_geometry *g, const v3 *point, int count, double tolerance) {
    const sim_hull *h = g->hull;
    cr_assert_eq(g->type, SIM_GEOMETRY_HULL);
    cr_assert_eq(h->nvertex - h->face_start[h->nface] / 2 + h->nface, 2);
    each_edge_is_shared(h);
    rings_hold_each_neighbour_once(h);
    faces_bound(g, point, count, tolerance);
    mesh_closes(g->mesh);
    for (int v = 0; v < h->nvertex; v++) { /* each is one of the points, bit for bit */
        int found = 0;
        for (int i = 0; i < count && !found; i++) {
            found = memcmp(&h->vertex[v], &point[i], sizeof(v3)) == 0;
        }
        cr_assert(found);
    }
}

static void box_points(v3 *point, double x, double y, double z) {
    for (int i = 0; i < 8; i++) {
        point[i] = (v3){(i & 1) ? x : 0, (i & 2) ? y : 0, (i & 4) ? z : 0};
    }
}

static v3 random_point(random_source *r, double size) {
    double x = random_uniform(r, -size, size), y = random_uniform(r, -size, size);
    return (v3){x, y, random_uniform(r, -size, size)};
}

static void near_inertia(sim_inertia a, sim_inertia b, double size, double tolerance) {
    double m = b.mass, I = m * size * size;
    cr_assert_float_eq(a.mass, m, tolerance * m, "%.17g instead of %.17g", a.mass, m);
    cr_assert_leq(v3_norm(v3_sub(a.com, b.com)), tolerance * size);
    const double *x = &a.moment.xx, *y = &b.moment.xx;
    for (int i = 0; i < 6; i++) {
        cr_assert_float_eq(x[i], y[i], tolerance * I, "moment %d: %.17g instead of %.17g", i, x[i], y[i]);
    }
}

Test(hull, of_a_box_has_six_four_cornered_faces_and_its_closed_form_inertia) {
    v3 p[8];
    box_points(p, 2, 3, 0.5);
    sim_geometry *g = hull_of(p, 8);
    sound(g, p, 8, 1e-15);
    cr_assert_eq(g->hull->nface, 6);
    cr_assert_eq(g->hull->nvertex, 8);
    sim_inertia box = box_inertia(3, 2, 3, 0.5);
    box.com = (v3){1, 1.5, 0.25};
    near_inertia(g->solid, box, 4, 1e-15);
    cr_assert(g->low.x == 0 && g->low.y == 0 && g->low.z == 0);
    cr_assert(g->high.x == 2 && g->high.y == 3 && g->high.z == 0.5);
    cr_assert_float_eq(g->radius, sqrt(4 + 9 + 0.25), 1e-15);
    sim_geometry_free(g);
}

Test(hull, of_a_noisy_turned_cube_has_six_four_cornered_faces_at_any_size_and_place) {
    random_source r = {11};
    for (int round = 0; round < 200; round++) {
        double size = pow(10, random_uniform(&r, -6, 6)), noise = round % 2 ? 1e-12 : 0;
        m3 R = random_rotation(&r);
        v3 p[8 * 5], place = v3_scale(round % 3 ? 0 : 1e3 * size, random_unit(&r));
        for (int i = 0; i < 40; i++) { /* each corner five times over */
            v3 c = {i & 1, i >> 1 & 1, i >> 2 & 1};
            p[i] = v3_axpy(place, size, m3_times(R, v3_add(c, random_point(&r, noise))));
        }
        sim_geometry *g = hull_of(p, 40);
        cr_assert_eq(g->hull->nface, 6, "%d faces in round %d", g->hull->nface, round);
        cr_assert_eq(g->hull->nvertex, 8);
        sound(g, p, 40, 1e-11 * size);
        cr_assert_float_eq(g->solid.mass, size * size * size, 2e-11 * size * size * size);
        sim_geometry_free(g);
    }
}

Test(hull, of_a_turned_cube_in_single_precision_has_six_faces) {
    random_source r = {12};
    for (int round = 0; round < 200; round++) {
        m3 R = random_rotation(&r);
        v3 p[26];
        int count = 0;
        for (int i = 0; i < 27; i++) { /* corners, middles of edges and faces */
            v3 c = m3_times(R, (v3){i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1});
            if (i != 13) {
                p[count++] = (v3){(double)(float)c.x, (double)(float)c.y, (double)(float)c.z};
            }
        }
        sim_geometry *g = hull_of(p, count);
        cr_assert_eq(g->hull->nface, 6, "%d faces in round %d", g->hull->nface, round);
        cr_assert_eq(g->hull->nvertex, 8);
        sound(g, p, count, 1e-6);
        sim_geometry_free(g);
    }
}

Test(hull, of_points_on_a_sphere_has_them_all_and_satisfies_euler) {
    random_source r = {13};
    for (int round = 0; round < 30; round++) {
        int count = 4 + random_index(&r, 200);
        double size = pow(10, random_uniform(&r, -6, 6));
        v3 *p = calloc((size_t)count, sizeof(v3));
        for (int i = 0; i < count; i++) {
            p[i] = v3_scale(size, random_unit(&r));
        }
        sim_geometry *g = sim_geometry_hull(p, count, NULL);
        if (g) { /* four points may be too flat */
            sound(g, p, count, 1.5e-6 * size);
            cr_assert_eq(g->hull->nvertex, count);
            sim_geometry_free(g);
        }
        free(p);
    }
}

Test(hull, of_a_prism_has_two_round_faces_and_its_closed_form_inertia) {
    enum { N = 64 };
    v3 p[2 * N];
    for (int i = 0; i < N; i++) {
        double a = 2 * M_PI * i / N;
        p[2 * i] = (v3){2 * cos(a), 2 * sin(a), -1};
        p[2 * i + 1] = (v3){2 * cos(a), 2 * sin(a), 2};
    }
    sim_geometry *g = hull_of(p, 2 * N);
    sound(g, p, 2 * N, 1e-14);
    cr_assert_eq(g->hull->nface, N + 2);
    int round = 0;
    for (int f = 0; f < g->hull->nface; f++) {
        round += corners(g->hull, f) == N;
    }
    cr_assert_eq(round, 2);
    /* regular polygon: area n r^2 sin(2 pi/n)/2, polar moment area r^2 (2 + cos(2 pi/n))/6 */
    double angle = 2 * M_PI / N, area = N * 4 * sin(angle) / 2, mass = 3 * area, J = mass * 4 * (2 + cos(angle)) / 6;
    sim_inertia prism = {mass, {0, 0, 0.5}, {J / 2 + mass * 9 / 12, J / 2 + mass * 9 / 12, J, 0, 0, 0}};
    near_inertia(g->solid, prism, 2, 1e-14);
    sim_geometry_free(g);
}

Test(hull, of_a_tetrahedron_has_the_closed_form_inertia_far_from_the_origin) {
    v3 p[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    sim_inertia t = {1.0 / 6, {0.25, 0.25, 0.25}, {1.0 / 80, 1.0 / 80, 1.0 / 80, 1.0 / 480, 1.0 / 480, 1.0 / 480}};
    for (int far = 0; far < 2; far++) {
        sim_geometry *g = hull_of(p, 4);
        near_inertia(g->solid, t, 1, far ? 1e-11 : 1e-15);
        cr_assert_eq(g->hull->nface, 4);
        sim_geometry_free(g);
        for (int i = 0; i < 4; i++) {
            p[i] = v3_add(p[i], (v3){4096, -8192, 1024});
        }
        t.com = v3_add(t.com, (v3){4096, -8192, 1024});
    }
}

static int inside(const sim_hull *h, v3 p) {
    for (int f = 0; f < h->nface; f++) {
        if (v3_dot(h->normal[f], p) > h->offset[f]) {
            return 0;
        }
    }
    return 1;
}

Test(hull, has_the_inertia_that_random_points_in_it_have) {
    enum { POINTS = 400000 };
    random_source r = {14};
    v3 p[30];
    for (int i = 0; i < 30; i++) {
        v3 u = random_unit(&r);
        p[i] = (v3){1 + u.x, 0.6 * u.y + 0.3 * u.x, 0.4 * u.z};
    }
    sim_geometry *g = hull_of(p, 30);
    v3 size = v3_sub(g->high, g->low), sum = {0, 0, 0};
    sym3 second = {0};
    int hits = 0;
    for (int i = 0; i < POINTS; i++) {
        double x = random_uniform(&r, 0, size.x), y = random_uniform(&r, 0, size.y), z = random_uniform(&r, 0, size.z);
        v3 q = v3_add(g->low, (v3){x, y, z});
        if (inside(g->hull, q)) {
            hits++;
            sum = v3_add(sum, q);
            second = sym3_parallel_axis(second, 1, v3_sub(q, g->solid.com));
        }
    }
    double cell = size.x * size.y * size.z / POINTS, m = g->solid.mass;
    cr_assert_float_eq(hits * cell, m, 0.01 * m);
    cr_assert_leq(v3_norm(v3_sub(v3_scale(1.0 / hits, sum), g->solid.com)), 0.005);
    const double *a = &second.xx, *b = &g->solid.moment.xx;
    for (int i = 0; i < 6; i++) {
        cr_assert_float_eq(a[i] * cell, b[i], 0.01 * m, "%d: %g, %g", i, a[i] * cell, b[i]);
    }
    sim_geometry_free(g);
}

Test(hull, of_points_in_any_order_twice_over_is_the_same_solid) {
    random_source r = {15};
    v3 p[100], q[200];
    for (int i = 0; i < 100; i++) {
        p[i] = random_point(&r, 1);
    }
    for (int i = 0; i < 200; i++) {
        q[i] = p[(i * 37) % 100];
    }
    sim_geometry *g = hull_of(p, 100), *h = hull_of(q, 200), *again = hull_of(p, 100);
    cr_assert_eq(g->hull->nvertex, h->hull->nvertex);
    cr_assert_eq(g->hull->nface, h->hull->nface);
    near_inertia(g->solid, h->solid, 1, 1e-14);
    cr_assert_eq(g->fingerprint, again->fingerprint);
    size_t corner_count = (size_t)g->hull->face_start[g->hull->nface];
    cr_assert_eq(memcmp(g->hull->loop, again->hull->loop, corner_count * sizeof(int)), 0);
    cr_assert_eq(memcmp(g->hull->normal, again->hull->normal, (size_t)g->hull->nface * sizeof(v3)), 0);
    p[0].x = 2;
    sim_geometry *other = hull_of(p, 100);
    cr_assert_neq(other->fingerprint, g->fingerprint);
    sim_geometry_free(g), sim_geometry_free(h), sim_geometry_free(again), sim_geometry_free(other);
}

/* Grids on the faces, fine rings, cones, lattices on spheres: the points that give hull codes trouble. */
Test(hull, is_sound_where_many_points_are_nearly_in_one_plane) {
    random_source r = {16};
    enum { MOST = 3000 };
    v3 *p = calloc(MOST, sizeof(v3));
    for (int shape = 0; shape < 60; shape++) {
        int count = 0, n = 4 + random_index(&r, 20);
        double noise = shape % 2 ? pow(10, random_uniform(&r, -16, -6)) : 0, flat = shape % 3 ? 1 : 1e-4;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < 2 * n && count < MOST - 2; j++) {
                double t = M_PI * i / (n - 1), a = M_PI * j / n;
                v3 on[4] = {{sin(t) * cos(a), sin(t) * sin(a), cos(t)},
                            {cos(a), sin(a), i % 2},
                            {i / (n - 1.0) * cos(a), i / (n - 1.0) * sin(a), i / (n - 1.0)},
                            {i / (n - 1.0), j / (2 * n - 1.0), (i * j) % 2}};
                v3 q = v3_add(on[shape % 4], random_point(&r, noise));
                p[count++] = (v3){q.x, q.y, flat * q.z};
            }
        }
        sim_geometry *g = hull_of(p, count);
        sound(g, p, count, 4 * fmin(7e-7, 2e-3 * flat) + 10 * noise);
        sim_geometry_free(g);
    }
    free(p);
}

Test(hull, of_a_hundred_thousand_points_is_found) {
    const int N = part_of(100000);
    random_source r = {17};
    v3 *p = calloc((size_t)N + 1, sizeof(v3));
    for (int i = 0; i < N; i++) {
        p[i] = random_unit(&r);
    }
    sim_geometry *g = hull_of(p, N);
    cr_assert_gt(g->hull->nvertex, 99 * N / 100);
    cr_assert_float_eq(g->solid.mass, 4 * M_PI / 3, 100.0 / N);
    mesh_closes(g->mesh);
    sim_geometry_free(g);
    for (int i = 0; i < N; i++) { /* a cone: one vertex with ever so many neighbours */
        p[i] = (v3){cos(2 * M_PI * i / N), sin(2 * M_PI * i / N), 0};
    }
    p[N] = (v3){0, 0, 1};
    g = hull_of(p, N + 1);
    cr_assert_float_eq(g->solid.mass, M_PI / 3, 2e-6);
    mesh_closes(g->mesh);
    sim_geometry_free(g);
    free(p);
}

static void refused(const v3 *p, int count, const char *why) {
    sim_error error = {0};
    cr_assert_null(sim_geometry_hull(p, count, &error));
    cr_assert_eq(error.status, SIM_BAD_INPUT);
    cr_assert(strstr(error.text, why), "\"%s\" does not say \"%s\"", error.text, why);
    cr_assert_null(sim_geometry_hull(p, count, NULL));
}

Test(hull, says_why_points_have_none) {
    random_source r = {18};
    v3 p[20];
    for (int i = 0; i < 20; i++) {
        p[i] = random_point(&r, 1);
    }
    refused(p, 3, "at least 4 points, got 3");
    refused(p, 0, "got 0");
    refused(p, -5, "got 0");
    refused(p, 1 << 30, "at most");
    p[7].y = NAN;
    refused(p, 20, "point 7 of a convex hull is not finite");
    p[7].y = -INFINITY;
    refused(p, 20, "not finite");
    p[7].y = 1e200;
    refused(p, 20, "1e+200 m away");
    for (int i = 0; i < 20; i++) {
        p[i] = (v3){1, 2, 3};
    }
    refused(p, 20, "at one place");
    for (int i = 0; i < 20; i++) {
        p[i] = (v3){i, 2 * i + 1e-12 * (i % 3), 3 * i};
    }
    refused(p, 20, "on one line to within");
    for (int i = 0; i < 20; i++) {
        p[i] = (v3){i % 5, i / 5, 1e-9 * (i % 2) + i % 5};
    }
    refused(p, 20, "in one plane to within 7.07e-10 m, over");
}

Test(hull, of_a_plate_a_million_times_wider_than_thick_keeps_its_thickness) {
    v3 p[8];
    box_points(p, 1, 1, 1e-6);
    sim_geometry *g = hull_of(p, 8);
    cr_assert_eq(g->hull->nface, 6);
    cr_assert_float_eq(g->solid.mass, 1e-6, 1e-18);
    sound(g, p, 8, 1e-15);
    sim_geometry_free(g);
}

/* ---- meshes that are their own hulls ---- */

static bool is_own_hull(const sim_mesh *m, int *nface) {
    memory_pool *pool = pool_create();
    const sim_hull *hull;
    cr_assert_eq(hull_of_mesh(m, pool, &hull), SIM_OK);
    *nface = hull ? hull->nface : 0;
    pool_free(pool);
    return hull != NULL;
}

Test(hull, of_a_convex_mesh_is_the_mesh_and_a_dented_mesh_is_not_convex) {
    random_source r = {19};
    for (int round = 0; round < 20; round++) {
        v3 p[60];
        for (int i = 0; i < 60; i++) {
            p[i] = round % 2 ? random_unit(&r) : (v3){i % 3, i / 3 % 4, i / 12}; /* a sphere, a box */
        }
        sim_geometry *g = hull_of(p, 60);
        v3 *moved = malloc((size_t)g->mesh->nvertex * sizeof(v3));
        memcpy(moved, g->mesh->vertex, (size_t)g->mesh->nvertex * sizeof(v3));
        sim_mesh m = *g->mesh;
        m.vertex = moved;
        int nface;
        cr_assert(is_own_hull(&m, &nface));
        cr_assert_eq(nface, g->hull->nface);
        int v = random_index(&r, m.nvertex);
        moved[v] = v3_axpy(moved[v], 0.9, v3_sub(g->solid.com, moved[v]));
        cr_assert_not(is_own_hull(&m, &nface));
        free(moved);
        sim_geometry_free(g);
    }
}

Test(hull, does_not_take_two_separate_boxes_or_an_open_box_for_convex) {
    v3 p[16];
    box_points(p, 1, 1, 1);
    sim_geometry *g = hull_of(p, 8);
    int triangle[24][3], across[24][3], nface;
    for (int i = 0; i < 8; i++) {
        p[i] = g->mesh->vertex[i];
        p[i + 8] = v3_add(p[i], (v3){3, 0, 0});
    }
    for (int t = 0; t < 24; t++) {
        for (int k = 0; k < 3; k++) {
            triangle[t][k] = g->mesh->triangle[t % 12][k] + 8 * (t / 12);
            across[t][k] = g->mesh->across[t % 12][k] + 12 * (t / 12);
        }
    }
    sim_mesh m = {16, 24, p, (const int(*)[3])triangle, (const int(*)[3])across, 1, 0};
    cr_assert_not(is_own_hull(&m, &nface));
    m = *g->mesh;
    m.closed = 0;
    cr_assert_not(is_own_hull(&m, &nface));
    sim_geometry_free(g);
}
