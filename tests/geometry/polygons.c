/* Polygons of mesh files cut into triangles: convex ones, concave ones, with holes, and those that cross themselves. */
#include "geometry/import/mesh_file.h"
#include "support/models.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *memory(size_t size) {
    void *m = calloc(size, 1);
    if (!m) {
        abort();
    }
    return m;
}

static sim_triangles obj(const char *text) {
    sim_triangles t;
    sim_error error = {0};
    cr_assert_eq(mesh_parse("test.obj", text, strlen(text), (v3){1, 1, 1}, &t, &error), SIM_OK, "%s", error.text);
    return t;
}

static void drop(sim_triangles t) {
    free(t.vertex);
    free(t.triangle);
}

static double area_of(sim_triangles t, v3 normal) {
    double area = 0;
    for (int i = 0; i < t.ntriangle; i++) {
        v3 a = t.vertex[t.triangle[i][0]], b = t.vertex[t.triangle[i][1]], c = t.vertex[t.triangle[i][2]];
        double piece = 0.5 * v3_dot(normal, v3_cross(v3_sub(b, a), v3_sub(c, a)));
        cr_assert_geq(piece, -1e-9, "a triangle is upside down: %g", piece);
        area += piece;
    }
    return area;
}

/* Shoelace formula. */
static double polygon_area(const double (*p)[2], int n) {
    double area = 0;
    for (int i = 0; i < n; i++) {
        int j = (i + 1) % n;
        area += 0.5 * (p[i][0] * p[j][1] - p[j][0] * p[i][1]);
    }
    return area;
}

static sim_triangles polygon(const double (*p)[2], int n, m3 R) {
    char *text = memory((size_t)n * 100 + 100), *at = text;
    for (int i = 0; i < n; i++) {
        v3 q = m3_times(R, (v3){p[i][0], p[i][1], 0.5});
        at += sprintf(at, "v %.17g %.17g %.17g\n", q.x, q.y, q.z);
    }
    at += sprintf(at, "f");
    for (int i = 0; i < n; i++) {
        at += sprintf(at, " %d", i + 1);
    }
    sim_triangles t = obj(text);
    free(text);
    return t;
}

Test(polygons, concave_polygons_are_cut_into_triangles_that_lie_inside) {
    random_source r = {31};
    for (int round = 0; round < 100; round++) {
        enum { N = 60 };
        double p[N][2];
        int n = 4 + random_index(&r, N - 4);
        for (int i = 0; i < n; i++) { /* a star about the origin */
            double a = 2 * M_PI * i / n, s = random_uniform(&r, 0.2, 1);
            p[i][0] = s * cos(a), p[i][1] = s * sin(a);
        }
        m3 R = random_rotation(&r);
        sim_triangles t = polygon((const double(*)[2])p, n, R);
        cr_assert_eq(t.ntriangle, n - 2);
        cr_assert_float_eq(area_of(t, R.z), polygon_area((const double(*)[2])p, n), 1e-12);
        drop(t);
    }
}

Test(polygons, a_square_with_a_hole_joined_to_its_rim_and_a_comb_are_cut) {
    static const double ring[][2] = {{0, 0}, {3, 0}, {3, 3}, {0, 3}, {0, 0}, {1, 1}, {1, 2}, {2, 2}, {2, 1}, {1, 1}};
    sim_triangles t = polygon(ring, 10, m3_identity());
    cr_assert_eq(t.ntriangle, 8);
    cr_assert_float_eq(area_of(t, (v3){0, 0, 1}), 8, 1e-12);
    drop(t);
    double comb[402][2];
    int n = 0;
    for (int i = 0; i < 200; i++) {
        comb[n][0] = i, comb[n++][1] = i % 2 ? 10 : 1;
    }
    comb[n][0] = 199, comb[n++][1] = 20;
    comb[n][0] = 0, comb[n++][1] = 20;
    for (int i = 0; i < n / 2; i++) { /* anticlockwise */
        for (int k = 0; k < 2; k++) {
            double swap = comb[i][k];
            comb[i][k] = comb[n - 1 - i][k];
            comb[n - 1 - i][k] = swap;
        }
    }
    double area = polygon_area((const double(*)[2])comb, n);
    t = polygon((const double(*)[2])comb, n, m3_identity());
    cr_assert_gt(area * area, 0);
    cr_assert_float_eq(area_of(t, (v3){0, 0, area > 0 ? 1 : -1}), fabs(area), 1e-9);
    drop(t);
}

/* Area vector of all triangles. */
static v3 area_vector(sim_triangles t) {
    v3 sum = {0, 0, 0};
    for (int i = 0; i < t.ntriangle; i++) {
        v3 a = t.vertex[t.triangle[i][0]], b = t.vertex[t.triangle[i][1]], c = t.vertex[t.triangle[i][2]];
        sum = v3_axpy(sum, 0.5, v3_cross(v3_sub(b, a), v3_sub(c, a)));
    }
    return sum;
}

/* Each edge of the outline once, each chord in both directions. */
static void check_edges(sim_triangles t, int n) {
    int *count = memory((size_t)n * (size_t)n * sizeof *count);
    for (int i = 0; i < t.ntriangle; i++) {
        for (int k = 0; k < 3; k++) {
            count[t.triangle[i][k] * n + t.triangle[i][(k + 1) % 3]]++;
        }
    }
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) {
            int outline = (b == (a + 1) % n) - (a == (b + 1) % n);
            cr_assert_eq(count[a * n + b] - count[b * n + a], outline, "edge %d-%d", a, b);
        }
    }
    free(count);
}

Test(polygons, polygons_that_cross_themselves_keep_their_edges_and_area_and_are_counted) {
    random_source r = {37};
    int crossed = 0;
    for (int round = 0; round < 300; round++) {
        enum { N = 20 };
        double p[N][2];
        int n = 4 + random_index(&r, N - 4);
        for (int i = 0; i < n; i++) {
            p[i][0] = random_uniform(&r, -1, 1), p[i][1] = random_uniform(&r, -1, 1);
        }
        m3 R = random_rotation(&r);
        sim_triangles t = polygon((const double(*)[2])p, n, R);
        v3 off = v3_axpy(area_vector(t), -polygon_area((const double(*)[2])p, n), R.z);
        cr_assert_eq(t.ntriangle, n - 2);
        cr_assert_lt(v3_norm(off), 1e-13 * n);
        check_edges(t, n);
        cr_assert(t.ncrossed == 0 || (t.crossed_line == n + 1 && t.crossed_column == 1));
        crossed += t.ncrossed;
        drop(t);
    }
    cr_assert_gt(crossed, 200);
    /* the first of two; one that is not crossed is none */
    sim_triangles t = obj("v 0 0 0\nv 4 4 0\nv 4 0 0\nv 0 3 0\nf 1 3 2 4\n f 1 2 3 4\nf 2 1 4 3\n");
    cr_assert(t.ntriangle == 6 && t.ncrossed == 2 && t.crossed_line == 6 && t.crossed_column == 2);
    drop(t);
}

Test(polygons, a_polygon_that_is_too_large_to_cut_is_refused) {
    char *text = memory(100000), *at = text;
    for (int i = 0; i < 1200; i++) {
        double s = i % 2 ? 1 : 0.5, a = 2 * M_PI * i / 1200;
        at += sprintf(at, "v %g %g 0\n", s * cos(a), s * sin(a));
    }
    at += sprintf(at, "f");
    for (int i = 0; i < 1200; i++) {
        at += sprintf(at, " %d", i + 1);
    }
    sim_triangles t;
    sim_error error = {0};
    cr_assert_eq(mesh_parse("a.obj", text, strlen(text), (v3){1, 1, 1}, &t, &error), SIM_BAD_INPUT);
    cr_assert_str_eq(error.text, "a.obj:1201:1: a face of 1200 corners that is not convex: at most 1000 can be cut");
    free(text);
}
