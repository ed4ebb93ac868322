/* Any points at all to their convex hull: it must not crash, leak or hang, and must be closed, flat-faced and convex.
 *
 * The first byte chooses how bytes become numbers: small whole numbers (many points in one plane), the same with noise,
 * the same flat or far away, or doubles as they stand. */
#include "geometry/hull/hull.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POINTS = 400 };

static void demand(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", what);
        abort();
    }
}

static int small_numbers(uint8_t mode, const uint8_t *data, size_t size, v3 *point) {
    static const double noise[] = {0, 1e-15, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-3};
    uint64_t random = mode;
    int count = 0;
    for (; 3 * (size_t)count + 3 <= size && count < MAX_POINTS; count++) {
        double x[3];
        for (int k = 0; k < 3; k++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            double move = (double)(random >> 11) * 0x1p-52 - 1;
            x[k] = (double)(int8_t)data[3 * count + k] + 100 * noise[mode & 7] * move;
        }
        double far = mode & 8 ? 1e6 : 0, flat = mode & 16 ? 1e-5 : 1;
        point[count] = (v3){x[0] + far, x[1] - far, x[2] * flat};
    }
    return count;
}

static void check_edges(const sim_hull *h) {
    demand(h->nvertex >= 4 && h->nface >= 4, "a solid has four corners and four faces");
    demand(h->nvertex - h->face_start[h->nface] / 2 + h->nface == 2, "Euler's formula");
    for (int f = 0; f < h->nface; f++) {
        int begin = h->face_start[f], count = h->face_start[f + 1] - begin;
        demand(count >= 3, "a face has three corners");
        demand(v3_finite(h->normal[f]) && fabs(v3_norm(h->normal[f]) - 1) < 1e-15, "normals are unit");
        for (int i = 0; i < count; i++) {
            int g = h->across[begin + i], found = 0;
            demand(g >= 0 && g < h->nface && g != f, "another face is across");
            int g_begin = h->face_start[g], g_count = h->face_start[g + 1] - g_begin;
            for (int j = 0; j < g_count; j++) {
                found += h->loop[g_begin + j] == h->loop[begin + (i + 1) % count] &&
                         h->loop[g_begin + (j + 1) % g_count] == h->loop[begin + i] && h->across[g_begin + j] == f;
            }
            demand(found == 1, "the face across has the edge, the other way round");
        }
    }
}

static void check_planes(const sim_geometry *g, const v3 *point, int count) {
    const sim_hull *h = g->hull;
    double extent = v3_norm(v3_sub(g->high, g->low)), tolerance = 1e-5 * extent + 1e-13 * g->radius;
    demand(g->solid.mass > 0 && isfinite(g->solid.moment.xx), "a solid has mass");
    for (int f = 0; f < h->nface; f++) {
        for (int v = 0; v < h->nvertex; v++) {
            demand(v3_dot(h->normal[f], h->vertex[v]) <= h->offset[f] + 1e-14 * g->radius, "no vertex stands out");
        }
        for (int i = 0; i < count; i++) {
            demand(v3_dot(h->normal[f], point[i]) <= h->offset[f] + tolerance, "no point is outside");
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    v3 point[MAX_POINTS];
    int count;
    if (data[0] & 128) {
        count = (int)((size - 1) / sizeof(v3) < MAX_POINTS ? (size - 1) / sizeof(v3) : MAX_POINTS);
        memcpy(point, data + 1, (size_t)count * sizeof(v3));
    } else {
        count = small_numbers(data[0], data + 1, size - 1, point);
    }
    sim_error error = {0};
    sim_geometry *g = sim_geometry_hull(point, count, &error);
    if (g) {
        check_edges(g->hull);
        check_planes(g, point, count);
    } else {
        demand(error.status == SIM_BAD_INPUT && error.text[0], "a refusal has a reason");
        demand(!strstr(error.text, "no closed convex hull"), "points with some thickness have a hull");
    }
    sim_geometry_free(g);
    return 0;
}
