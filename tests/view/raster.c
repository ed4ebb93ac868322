/* Which samples triangles cover. */
#include "view/render/raster.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 97, HEIGHT = 61 };
static float near[WIDTH * HEIGHT];
static uint32_t id[WIDTH * HEIGHT];

static raster_plane plane_of(int first, int end) {
    raster_plane plane = {WIDTH, first, end, 0.375, 0.625, near + first * WIDTH, id + first * WIDTH};
    raster_clear(&plane, 0);
    return plane;
}

static raster_triangle triangle_of(double at[3][2], uint32_t number, double depth) {
    raster_triangle t = {.id = number, .planes = 1};
    for (int i = 0; i < 3; i++) {
        t.x[i] = at[i][0];
        t.y[i] = at[i][1];
        t.near[i] = depth;
    }
    return t;
}

static double noise(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) / 16777216.0;
}

/* Each piece alone, and how many take each sample. */
Test(raster, pieces_of_a_picture_take_every_sample_once) {
    enum { CELLS = 9 };
    unsigned seed = 7;
    for (int round = 0; round < 20; round++) {
        double corner[CELLS + 1][CELLS + 1][2];
        static int taken[WIDTH * HEIGHT];
        memset(taken, 0, sizeof taken);
        for (int i = 0; i <= CELLS; i++) {
            for (int j = 0; j <= CELLS; j++) {
                int inner = i > 0 && j > 0 && i < CELLS && j < CELLS;
                double reach_x = inner ? 0.24 * WIDTH / CELLS : 0, reach_y = inner ? 0.24 * HEIGHT / CELLS : 0;
                corner[i][j][0] = (double)i * WIDTH / CELLS + reach_x * (2 * noise(&seed) - 1);
                corner[i][j][1] = (double)j * HEIGHT / CELLS + reach_y * (2 * noise(&seed) - 1);
            }
        }
        for (int k = 0; k < 2 * CELLS * CELLS; k++) {
            int i = k / 2 % CELLS, j = k / 2 / CELLS;
            const double *a = corner[i][j], *b = corner[i + 1][j + 1], *c = k % 2 ? corner[i + 1][j] : corner[i][j + 1];
            double at[3][2] = {{a[0], a[1]}, {b[0], b[1]}, {c[0], c[1]}};
            raster_plane plane = plane_of(0, HEIGHT);
            raster_triangle t = triangle_of(at, 1, 1);
            raster_triangle_fill(&plane, &t);
            for (int s = 0; s < WIDTH * HEIGHT; s++) {
                taken[s] += id[s] == 1;
            }
        }
        for (int s = 0; s < WIDTH * HEIGHT; s++) {
            cr_assert_eq(taken[s], 1, "sample %d of round %d: %d times", s, round, taken[s]);
        }
    }
}

Test(raster, samples_inside_are_taken_and_those_outside_not) {
    unsigned seed = 3;
    for (int round = 0; round < 200; round++) {
        double at[3][2], area;
        for (int i = 0; i < 3; i++) {
            at[i][0] = (2 * noise(&seed) - 0.5) * WIDTH;
            at[i][1] = (2 * noise(&seed) - 0.5) * HEIGHT;
        }
        area = (at[1][0] - at[0][0]) * (at[2][1] - at[0][1]) - (at[1][1] - at[0][1]) * (at[2][0] - at[0][0]);
        raster_plane plane = plane_of(0, HEIGHT);
        raster_triangle t = triangle_of(at, 1, 1);
        raster_triangle_fill(&plane, &t);
        for (int s = 0; s < WIDTH * HEIGHT; s++) {
            double x = s % WIDTH + plane.dx, y = s / WIDTH + plane.dy, least = INFINITY;
            for (int i = 0; i < 3; i++) {
                const double *p = at[i], *q = at[(i + 1) % 3];
                double side =
                    ((q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0])) / hypot(q[0] - p[0], q[1] - p[1]);
                least = fmin(least, area > 0 ? side : -side);
            }
            cr_assert(fabs(least) < 1e-9 || (id[s] == 1) == (least > 0), "%g from the border", least);
        }
    }
}

Test(raster, the_nearest_stays_and_of_equals_the_first) {
    double at[3][2] = {{-10, -10}, {300, -10}, {-10, 300}};
    raster_plane plane = plane_of(0, HEIGHT);
    raster_triangle t = triangle_of(at, 1, 2);
    raster_triangle_fill(&plane, &t);
    t = triangle_of(at, 2, 1);
    raster_triangle_fill(&plane, &t);
    t = triangle_of(at, 3, 2);
    raster_triangle_fill(&plane, &t);
    cr_assert_eq(id[5 * WIDTH + 5], 1);
    t = triangle_of(at, 4, 3);
    t.near[0] = 3 + 10;
    raster_triangle_fill(&plane, &t);
    cr_assert_eq(id[5 * WIDTH + 5], 4);
    /* near falls from 13 at the first corner to 3 along x and y */
    double here = 3 + 10 * (1 - (5 + plane.dx + 10) / 310 - (5 + plane.dy + 10) / 310);
    cr_assert_float_eq(near[5 * WIDTH + 5], here, 1e-5);
    raster_surface_fill(&plane, 9, here - 1, 0.1, 0);
    cr_assert_eq(id[5 * WIDTH + 5], 4);
    cr_assert_eq(id[5 * WIDTH + 60], 9);
}

Test(raster, bands_together_are_the_whole_picture) {
    unsigned seed = 11;
    for (int round = 0; round < 30; round++) {
        double at[3][2];
        static uint32_t whole[WIDTH * HEIGHT];
        for (int i = 0; i < 3; i++) {
            at[i][0] = (3 * noise(&seed) - 1) * WIDTH;
            at[i][1] = (3 * noise(&seed) - 1) * HEIGHT;
        }
        raster_triangle t = triangle_of(at, 1, 1);
        raster_plane plane = plane_of(0, HEIGHT);
        raster_triangle_fill(&plane, &t);
        memcpy(whole, id, sizeof whole);
        for (int first = 0; first < HEIGHT; first += 16) {
            plane = plane_of(first, first + 16 < HEIGHT ? first + 16 : HEIGHT);
            raster_triangle_fill(&plane, &t);
        }
        cr_assert_arr_eq(id, whole, sizeof whole);
    }
}
