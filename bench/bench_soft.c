/* Time of contact by pressure fields: pairs of soft solids, and soft solids on rigid ones.
 *
 * Tetrahedra and polygons a pair, microseconds a pair in random poses that overlap by a tenth of the radius, and
 * whether a warm pair asks for memory.  The budget: 2 ms for two solids of a thousand tetrahedra. */
#include "collide/contact/pair.h"
#include "math/spatial.h"
#include "support/models.h"
#include "support/quick.h"

#include <stdio.h>
#include <time.h>

enum { POSES = 40 };

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static sim_shape solid(sim_shape_type type, double x, double y, double z) {
    sim_shape s = sim_shape_default();
    s.type = type;
    s.size[0] = x, s.size[1] = y, s.size[2] = z;
    return s;
}

static void make_soft(sim_shape *s, double edge) {
    s->pressure = sim_shape_pressure(s, edge, NULL);
    s->modulus = 1e5;
}

static void time_pair(const char *name, const sim_shape *a, const sim_shape *b, double distance, int times) {
    pair p = {.a = a, .b = b, .arena = arena_create()};
    random_source r = {3};
    double spent = 0;
    int polygons = 0, grown = 0;
    for (int k = 0; k < POSES; k++) {
        p.X_ab = (pose){random_rotation(&r), v3_scale(distance, random_unit(&r))};
        if (b->type == SIM_HALF_SPACE) { /* its plane, at the distance below the centre of A */
            p.X_ab.p = v3_scale(-distance, p.X_ab.R.z);
        }
        for (int turn = -1; turn < times; turn++) { /* the first turn warms */
            size_t before = arena_bytes(p.arena);
            double begin = seconds();
            manifold m = {0};
            arena_release(p.arena, 0);
            pair_collide(&p, &m);
            spent += turn < 0 ? 0 : seconds() - begin;
            polygons += turn < 0 ? m.count : 0;
            grown += turn >= 0 && arena_bytes(p.arena) != before;
        }
    }
    printf("%-28s %5d and %5d tetrahedra, %5.0f polygons, %8.1f us%s\n", name, a->pressure->tets->ntet,
           b->pressure ? b->pressure->tets->ntet : 0, (double)polygons / POSES, 1e6 * spent / POSES / times,
           grown ? ", asks for memory when warm" : "");
    arena_free(p.arena);
}

int main(int argc, char **argv) {
    int times = asked_quick(argc, argv) ? 1 : 20;
    const double R = 0.05;
    for (int fine = 0; fine < 3; fine++) {
        sim_shape ball = solid(SIM_SPHERE, R, 0, 0), box = solid(SIM_BOX, 0.08, 0.08, 0.08),
                  plane = solid(SIM_HALF_SPACE, 0, 0, 0);
        sim_shape rigid = solid(SIM_BOX, 0.08, 0.08, 0.08);
        make_soft(&ball, (double[]){0.03, 0.016, 0.008}[fine]);
        make_soft(&box, (double[]){0.03, 0.012, 0.006}[fine]);
        rigid.facets = sim_shape_facets(&rigid, HUGE_VAL, NULL);
        time_pair("two balls", &ball, &ball, 1.9 * R, times);
        time_pair("ball and soft box", &ball, &box, 1.9 * R, times);
        time_pair("two soft boxes", &box, &box, 0.09, times);
        time_pair("ball and rigid box", &ball, &rigid, 1.7 * R, times);
        time_pair("ball on a plane", &ball, &plane, 0.9 * R, times);
        sim_geometry_free((sim_geometry *)ball.pressure);
        sim_geometry_free((sim_geometry *)box.pressure);
        sim_geometry_free((sim_geometry *)rigid.facets);
    }
    return 0;
}
