/* What do meshes and height fields cost?
 *
 * Building: nanoseconds per triangle, of which the tree.  Nearest point near the surface.  Contact of each convex
 * shape, resting a tenth of a millimetre deep on a fine floor, on hills of a height field, on a torus; two tori.
 * Overlap of any depth with a coarse torus, in random poses. */
#include "collide/contact/pair.h"
#include "geometry/mesh/bvh.h"
#include "geometry/mesh/mesh.h"
#include "support/meshes.h"
#include "support/quick.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void building(int around) {
    soup s = soup_torus(1, 0.3, around, around / 2);
    double begin = seconds();
    sim_geometry *g = soup_geometry(s);
    double all = seconds() - begin;
    memory_pool *pool = pool_create();
    begin = seconds();
    bvh_build(pool, g->mesh);
    double tree = seconds() - begin;
    pool_free(pool);
    enum { QUERIES = 20000 };
    random_source r = {1};
    double sum = 0;
    v3 *p = malloc(QUERIES * sizeof *p);
    for (int k = 0; k < QUERIES; k++) {
        int t = random_index(&r, g->mesh->ntriangle);
        p[k] = v3_axpy(g->mesh->vertex[g->mesh->triangle[t][0]], random_uniform(&r, 0, 0.01), random_unit(&r));
    }
    begin = seconds();
    for (int k = 0; k < QUERIES; k++) {
        sum += mesh_distance(g, p[k], NULL);
    }
    double nearest = (seconds() - begin) / QUERIES;
    printf("%10d triangles: built in %6.0f ns each, the tree in %5.0f ns; distance %7.0f ns%s\n", g->mesh->ntriangle,
           1e9 * all / g->mesh->ntriangle, 1e9 * tree / g->mesh->ntriangle, 1e9 * nearest, sum > 1e9 ? "!" : "");
    free(p);
    sim_geometry_free(g);
}

static sim_shape shape(sim_shape_type type, double x, double y, double z, const sim_geometry *g) {
    sim_shape s = sim_shape_default();
    s.type = type;
    s.size[0] = x, s.size[1] = y, s.size[2] = z;
    s.geometry = g;
    return s;
}

/* Let down along z onto `b` until it is a little way in. */
static pose rest(const sim_shape *a, const sim_shape *b, v3 over, double depth) {
    double low = over.z - 1, high = over.z;
    pose X = {m3_identity(), over};
    sim_contact_point c[256];
    pose still = pose_identity();
    for (int k = 0; k < 200; k++) {
        X.p.z = high - 0.005 * k;
        if (sim_collide_shapes(a, &X, b, &still, 0, c, 256) > 0) {
            low = X.p.z, high = X.p.z + 0.005;
            break;
        }
    }
    for (int k = 0; k < 40; k++) {
        X.p.z = 0.5 * (low + high);
        *(sim_collide_shapes(a, &X, b, &still, 0, c, 256) > 0 ? &low : &high) = X.p.z;
    }
    X.p.z = low - depth;
    return X;
}

static void contact(const char *what, const sim_shape *a, const sim_shape *b, v3 over, int batches) {
    pose X = rest(a, b, over, 1e-4);
    pair p = {.a = a, .b = b, .X_ab = pose_inverse(X), .margin = 1e-3, .arena = arena_create()};
    double best = HUGE_VAL;
    int count = 0;
    for (int batch = 0; batch < batches; batch++) {
        double begin = seconds();
        enum { TIMES = 50 };
        for (int k = 0; k < TIMES; k++) {
            manifold m = {0};
            arena_release(p.arena, 0);
            pair_collide(&p, &m);
            count = m.count;
        }
        best = fmin(best, (seconds() - begin) / TIMES);
    }
    printf("%-32s %9.2f us, %3d points\n", what, 1e6 * best, count);
    arena_free(p.arena);
}

static void contacts(int batches) {
    enum { CELLS = 200 };
    static double hill[(CELLS + 1) * (CELLS + 1)];
    const double size[2] = {2, 2};
    for (int k = 0; k < (CELLS + 1) * (CELLS + 1); k++) {
        hill[k] = 0.05 * sin(0.05 * (k % (CELLS + 1))) * cos(0.04 * (k / (double)(CELLS + 1)));
    }
    sim_geometry *g[4] = {soup_geometry(soup_plane(2, 2, CELLS, CELLS)),
                          sim_geometry_heights(CELLS + 1, CELLS + 1, size, hill, NULL),
                          soup_geometry(soup_torus(0.5, 0.15, 100, 50)), soup_geometry(soup_torus(0.4, 0.1, 80, 40))};
    sim_shape on[3] = {shape(SIM_MESH, 0, 0, 0, g[0]), shape(SIM_HEIGHT_FIELD, 0, 0, 0, g[1]),
                       shape(SIM_MESH, 0, 0, 0, g[2])};
    sim_shape other = shape(SIM_MESH, 0, 0, 0, g[3]);
    const char *const name[3] = {"floor of 80,000", "field of 80,000", "torus of 10,000"};
    sim_shape convex[5] = {shape(SIM_SPHERE, 0.05, 0, 0, NULL), shape(SIM_BOX, 0.1, 0.1, 0.1, NULL),
                           shape(SIM_CAPSULE, 0.03, 0.1, 0, NULL), shape(SIM_CYLINDER, 0.05, 0.1, 0, NULL),
                           shape(SIM_ELLIPSOID, 0.05, 0.04, 0.06, NULL)};
    for (int k = 0; k < 3; k++) {
        v3 over = {0.5013, 0.0027, 0.6};
        for (int i = 0; i < 5; i++) {
            char what[64];
            snprintf(what, sizeof what, "%s, %s", sim_shape_name(convex[i].type), name[k]);
            contact(what, &convex[i], &on[k], over, batches);
        }
        char what[64];
        snprintf(what, sizeof what, "torus of 6,400, %s", name[k]);
        contact(what, &other, &on[k], v3_make(0.1, 0.0027, 0.6), batches);
    }
    for (int k = 0; k < 4; k++) {
        sim_geometry_free(g[k]);
    }
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { POSES = 400 };

static void overlaps(int poses) {
    sim_geometry *g = soup_geometry(soup_torus(0.5, 0.2, 16, 8));
    sim_shape torus = shape(SIM_MESH, 0, 0, 0, g);
    const sim_shape thing[3] = {shape(SIM_BOX, 0.2, 0.3, 0.1, NULL), shape(SIM_CYLINDER, 0.1, 0.2, 0, NULL),
                                shape(SIM_ELLIPSOID, 0.1, 0.2, 0.15, NULL)};
    for (int k = 0; k < 3; k++) {
        random_source r = {7};
        double time[POSES];
        int count = 0;
        pair p = {.a = &thing[k], .b = &torus, .margin = 1e-3, .arena = arena_create()};
        for (int q = 0; q < poses; q++) {
            pose X = {random_rotation(&r), {0, 0, 0}};
            X.p.x = random_uniform(&r, -0.8, 0.8);
            X.p.y = random_uniform(&r, -0.8, 0.8);
            X.p.z = random_uniform(&r, -0.35, 0.35);
            p.X_ab = pose_inverse(X);
            manifold m = {0};
            double best = HUGE_VAL;
            for (int again = 0; again < 5; again++) {
                m = (manifold){0};
                arena_release(p.arena, 0);
                double begin = seconds();
                pair_collide(&p, &m);
                best = fmin(best, seconds() - begin);
            }
            time[count] = best;
            count += m.count > 0;
        }
        qsort(time, (size_t)count, sizeof *time, by_size);
        printf("%-10s in a torus of 256: %6.1f us median, %6.1f us for 9 of 10, %6.1f us at most\n",
               sim_shape_name(thing[k].type), 1e6 * time[count / 2], 1e6 * time[count * 9 / 10], 1e6 * time[count - 1]);
        arena_free(p.arena);
    }
    sim_geometry_free(g);
}

int main(int count, char **word) {
    int quick = asked_quick(count, word);
    building(100);
    building(316);
    if (!quick) {
        building(1000);
    }
    contacts(quick ? 1 : 20);
    overlaps(quick ? 20 : POSES);
    return 0;
}
