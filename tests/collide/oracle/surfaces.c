/* Surfaces to try that are not convex. */
#include "triangles.h"

#include <stddef.h>
#include <stdlib.h>

/* A grid of u x v places that closes on itself both ways. */
static sim_geometry *closed_grid(const sim_v3 *vertex, int u, int v) {
    int(*triangle)[3] = malloc((size_t)(2 * u * v) * sizeof *triangle), count = 0;
    for (int i = 0; i < u; i++) {
        for (int j = 0; j < v; j++) {
            int a = i * v + j, b = (i + 1) % u * v + j, c = (i + 1) % u * v + (j + 1) % v, d = i * v + (j + 1) % v;
            int first[3] = {a, b, c}, second[3] = {a, c, d};
            for (int k = 0; k < 3; k++) {
                triangle[count][k] = first[k];
                triangle[count + 1][k] = second[k];
            }
            count += 2;
        }
    }
    sim_error error;
    sim_geometry *g = sim_geometry_mesh(vertex, u * v, (const int(*)[3])triangle, count, &error);
    free(triangle);
    return g;
}

sim_geometry *torus_mesh(double major, double minor, int round, int across) {
    sim_v3 *v = malloc((size_t)(round * across) * sizeof *v);
    for (int i = 0; i < round; i++) {
        for (int j = 0; j < across; j++) {
            double s = 6.283185307179586 * i / round, t = 6.283185307179586 * j / across, r = major + minor * cos(t);
            v[i * across + j] = (sim_v3){r * cos(s), r * sin(s), minor * sin(t)};
        }
    }
    sim_geometry *g = closed_grid(v, round, across);
    free(v);
    return g;
}

sim_geometry *ell_mesh(void) {
    static const double outline[6][2] = {{0, 0}, {0.6, 0}, {0.6, 0.3}, {0.3, 0.3}, {0.3, 0.6}, {0, 0.6}};
    static const int cap[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
    sim_v3 v[12];
    int triangle[20][3], count = 0;
    for (int k = 0; k < 6; k++) {
        v[k] = (sim_v3){outline[k][0], outline[k][1], -0.2};
        v[k + 6] = (sim_v3){outline[k][0], outline[k][1], 0.2};
    }
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 3; i++) {
            triangle[count][i] = cap[k][2 - i];
            triangle[count + 1][i] = cap[k][i] + 6;
        }
        count += 2;
    }
    for (int k = 0; k < 6; k++) {
        int l = (k + 1) % 6, first[3] = {k, l, l + 6}, second[3] = {k, l + 6, k + 6};
        for (int i = 0; i < 3; i++) {
            triangle[count][i] = first[i];
            triangle[count + 1][i] = second[i];
        }
        count += 2;
    }
    sim_error error;
    return sim_geometry_mesh(v, 12, (const int(*)[3])triangle, count, &error);
}

sim_geometry *star_mesh(void) {
    enum { ROUND = 16, RINGS = 7 };
    sim_v3 v[ROUND * RINGS + 2];
    int triangle[2 * ROUND * RINGS][3], count = 0;
    random_source r = {99};
    for (int j = 0; j < RINGS; j++) {
        for (int i = 0; i < ROUND; i++) {
            double s = 6.283185307179586 * i / ROUND, t = 3.141592653589793 * (j + 1) / (RINGS + 1);
            double far = 0.4 * random_uniform(&r, 0.6, 1.2);
            v[j * ROUND + i] = (sim_v3){far * sin(t) * cos(s), far * sin(t) * sin(s), far * cos(t)};
        }
    }
    int top = ROUND * RINGS, bottom = top + 1;
    v[top] = (sim_v3){0, 0, 0.35};
    v[bottom] = (sim_v3){0, 0, -0.45};
    for (int i = 0; i < ROUND; i++) {
        int n = (i + 1) % ROUND, last = (RINGS - 1) * ROUND;
        int cap[2][3] = {{top, i, n}, {bottom, last + n, last + i}};
        for (int k = 0; k < 3; k++) {
            triangle[count][k] = cap[0][k];
            triangle[count + 1][k] = cap[1][k];
        }
        count += 2;
        for (int j = 0; j + 1 < RINGS; j++, count += 2) {
            int a = j * ROUND + i, b = a + ROUND, c = (j + 1) * ROUND + n, d = j * ROUND + n;
            int first[3] = {a, b, c}, second[3] = {a, c, d};
            for (int k = 0; k < 3; k++) {
                triangle[count][k] = first[k];
                triangle[count + 1][k] = second[k];
            }
        }
    }
    sim_error error;
    return sim_geometry_mesh(v, ROUND * RINGS + 2, (const int(*)[3])triangle, count, &error);
}

sim_geometry *ground_heights(void) {
    enum { COLUMNS = 13, ROWS = 11 };
    double height[COLUMNS * ROWS], size[2] = {2.4, 2};
    for (int j = 0; j < ROWS; j++) {
        for (int i = 0; i < COLUMNS; i++) {
            height[j * COLUMNS + i] = 0.1 * sin(1.1 * i) * cos(0.9 * j) + 0.05 * sin(0.7 * i * j);
        }
    }
    sim_error error;
    return sim_geometry_heights(COLUMNS, ROWS, size, height, &error);
}
