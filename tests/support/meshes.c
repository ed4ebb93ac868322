#include "support/meshes.h"

#include "math/v3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static soup make(int nvertex, int ntriangle) {
    soup s = {.nvertex = nvertex,
              .ntriangle = ntriangle,
              .vertex = malloc((size_t)nvertex * sizeof(v3)),
              .triangle = malloc((size_t)ntriangle * sizeof(int[3]))};
    return s;
}

static void set(soup *s, int t, int a, int b, int c) {
    s->triangle[t][0] = a;
    s->triangle[t][1] = b;
    s->triangle[t][2] = c;
}

soup soup_box(double x, double y, double z) {
    static const int quad[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    soup s = make(8, 12);
    for (int k = 0; k < 8; k++) {
        s.vertex[k] = v3_make(k & 1 ? x / 2 : -x / 2, k & 2 ? y / 2 : -y / 2, k & 4 ? z / 2 : -z / 2);
    }
    for (int f = 0; f < 6; f++) {
        set(&s, 2 * f, quad[f][0], quad[f][1], quad[f][2]);
        set(&s, 2 * f + 1, quad[f][0], quad[f][2], quad[f][3]);
    }
    return s;
}

static soup icosahedron(void) {
    static const int face[20][3] = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                                    {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
                                    {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
    double t = (1 + sqrt(5)) / 2;
    const v3 v[12] = {{-1, t, 0},  {1, t, 0},  {-1, -t, 0}, {1, -t, 0}, {0, -1, t},  {0, 1, t},
                      {0, -1, -t}, {0, 1, -t}, {t, 0, -1},  {t, 0, 1},  {-t, 0, -1}, {-t, 0, 1}};
    soup s = make(12, 20);
    memcpy(s.vertex, v, sizeof v);
    memcpy(s.triangle, face, sizeof face);
    return s;
}

soup soup_sphere(double radius, int level) {
    soup s = icosahedron();
    for (int l = 0; l < level; l++) {
        soup fine = make(6 * s.ntriangle, 4 * s.ntriangle);
        for (int t = 0; t < s.ntriangle; t++) {
            v3 *v = fine.vertex + 6 * t;
            for (int k = 0; k < 3; k++) {
                v[k] = s.vertex[s.triangle[t][k]];
            }
            for (int k = 0; k < 3; k++) {
                v[3 + k] = v3_scale(0.5, v3_add(v[k], v[(k + 1) % 3]));
            }
            int o = 6 * t;
            set(&fine, 4 * t, o, o + 3, o + 5);
            set(&fine, 4 * t + 1, o + 3, o + 1, o + 4);
            set(&fine, 4 * t + 2, o + 5, o + 4, o + 2);
            set(&fine, 4 * t + 3, o + 3, o + 4, o + 5);
        }
        for (int k = 0; k < fine.nvertex; k++) {
            fine.vertex[k] = v3_scale(radius / v3_norm(fine.vertex[k]), fine.vertex[k]);
        }
        soup_free(&s);
        s = fine;
    }
    for (int k = 0; k < s.nvertex; k++) {
        s.vertex[k] = v3_scale(radius / v3_norm(s.vertex[k]), s.vertex[k]);
    }
    return s;
}

static void set_quads(soup *s, int columns, int rows, int wrap) {
    int t = 0;
    int nx = wrap ? columns : columns - 1, ny = wrap ? rows : rows - 1;
    for (int j = 0; j < ny; j++) {
        for (int i = 0; i < nx; i++) {
            int i1 = (i + 1) % columns, j1 = (j + 1) % rows;
            int a = j * columns + i, b = j * columns + i1, c = j1 * columns + i1, d = j1 * columns + i;
            set(s, t++, a, b, c);
            set(s, t++, a, c, d);
        }
    }
}

soup soup_torus(double ring, double tube, int around, int across) {
    soup s = make(around * across, 2 * around * across);
    for (int j = 0; j < across; j++) {
        for (int i = 0; i < around; i++) {
            double u = 2 * M_PI * i / around, v = 2 * M_PI * j / across, r = ring + tube * cos(v);
            s.vertex[j * around + i] = v3_make(r * cos(u), r * sin(u), tube * sin(v));
        }
    }
    set_quads(&s, around, across, 1);
    return s;
}

soup soup_plane(double x, double y, int nx, int ny) {
    soup s = make((nx + 1) * (ny + 1), 2 * nx * ny);
    for (int j = 0; j <= ny; j++) {
        for (int i = 0; i <= nx; i++) {
            s.vertex[j * (nx + 1) + i] = v3_make(x * ((double)i / nx - 0.5), y * ((double)j / ny - 0.5), 0);
        }
    }
    set_quads(&s, nx + 1, ny + 1, 0);
    return s;
}

void soup_move(soup *s, sim_pose X) {
    for (int k = 0; k < s->nvertex; k++) {
        s->vertex[k] = v3_add(X.p, m3_times(X.R, s->vertex[k]));
    }
}

void soup_add(soup *a, soup b) {
    soup s = make(a->nvertex + b.nvertex, a->ntriangle + b.ntriangle);
    memcpy(s.vertex, a->vertex, (size_t)a->nvertex * sizeof(v3));
    memcpy(s.vertex + a->nvertex, b.vertex, (size_t)b.nvertex * sizeof(v3));
    memcpy(s.triangle, a->triangle, (size_t)a->ntriangle * sizeof(int[3]));
    for (int t = 0; t < b.ntriangle; t++) {
        set(&s, a->ntriangle + t, b.triangle[t][0] + a->nvertex, b.triangle[t][1] + a->nvertex,
            b.triangle[t][2] + a->nvertex);
    }
    soup_free(a);
    soup_free(&b);
    *a = s;
}

soup soup_torn(const soup *s) {
    soup torn = make(3 * s->ntriangle, s->ntriangle);
    for (int t = 0; t < s->ntriangle; t++) {
        for (int k = 0; k < 3; k++) {
            torn.vertex[3 * t + k] = s->vertex[s->triangle[t][k]];
            torn.triangle[t][k] = 3 * t + k;
        }
    }
    return torn;
}

void soup_free(soup *s) {
    free(s->vertex);
    free(s->triangle);
}

sim_geometry *soup_geometry(soup s) {
    sim_error error = {0};
    sim_geometry *g = sim_geometry_mesh(s.vertex, s.nvertex, (const int(*)[3])s.triangle, s.ntriangle, &error);
    soup_free(&s);
    if (!g) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    return g;
}

double volume_of_surface(const sim_triangles *surface, sim_v3 *moment) {
    double volume = 0;
    *moment = (v3){0, 0, 0};
    for (int k = 0; k < surface->ntriangle; k++) {
        const int *corner = surface->triangle[k];
        v3 a = surface->vertex[corner[0]], b = surface->vertex[corner[1]], c = surface->vertex[corner[2]];
        double part = v3_dot(a, v3_cross(b, c)) / 6;
        volume += part;
        *moment = v3_axpy(*moment, part / 4, v3_add(a, v3_add(b, c)));
    }
    return volume;
}
