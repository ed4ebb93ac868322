/* What does the contact of a distance field cost?
 *
 * Bolt and nut assembled, at several resolutions of their surfaces, dishes in dishes, a ball and a box on a box: time
 * of a pair, points, and per triangle looked at and per evaluation of the field, both of the first direction.  Then the
 * clustering alone. */
#include "collide/field/field_contact.h"
#include "collide/manifold/cluster.h"
#include "support/contacts.h"
#include "support/quick.h"

#include <stdio.h>
#include <time.h>

enum { REPEATS = 50 };

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The surface of B in the field of A, once: triangles and evaluations. */
static void count(const pair *p, long *triangles, long *fields, int *raw) {
    solid a = solid_of_shape(p->a), b = solid_of_shape(p->b);
    manifold m = {0};
    encounter e = {.pair = p, .surface = &b, .field = &a, .X_fs = p->X_ab, .margin = p->margin, .out = &m};
    e.coarse = HUGE_VAL;
    encounter_run(&e);
    *triangles = e.triangles;
    *fields = e.fields;
    *raw = m.count;
}

static void report(const char *name, const sim_shape *a, const sim_shape *b, double z, double margin, int repeats) {
    sim_arena *arena = arena_create();
    pair p = {.a = a, .b = b, .X_ab = pose_identity(), .margin = margin, .arena = arena};
    p.X_ab.p.z = z;
    double best = HUGE_VAL, once = HUGE_VAL;
    long triangles = 0, fields = 0;
    int points = 0, raw = 0;
    for (int k = 0; k < repeats; k++) {
        arena_release(arena, 0);
        manifold m = {0};
        double start = seconds();
        pair_collide(&p, &m);
        best = fmin(best, seconds() - start);
        points = m.count;
        arena_release(arena, 0);
        start = seconds();
        count(&p, &triangles, &fields, &raw);
        once = fmin(once, seconds() - start);
    }
    printf("%-28s %8d %8d %10.1f %8d %8ld %8ld %8.0f %8.0f\n", name, raw, points, 1e6 * best,
           b->geometry ? b->geometry->mesh->ntriangle : 0, triangles, fields, 1e9 * once / (double)triangles,
           1e9 * once / (double)fields);
    arena_free(arena);
}

static void cluster(int count, int repeats) {
    sim_arena *arena = arena_create();
    double best = HUGE_VAL;
    for (int k = 0; k < repeats; k++) {
        random_source r = {1};
        pair p = {.arena = arena};
        manifold m = {0};
        arena_release(arena, 0);
        for (int i = 0; i < count; i++) {
            contact_point c = {.feature = (uint64_t)i};
            c.position = random_unit(&r);
            c.normal = random_unit(&r);
            c.gap = random_uniform(&r, -1e-4, 1e-3);
            manifold_add(&m, arena, &c);
        }
        double start = seconds();
        cluster_points(&p, &m, 0, CLUSTER_MAX_POINTS, 1e-6);
        best = fmin(best, seconds() - start);
    }
    printf("cluster %5d points to %d: %.1f us\n", count, CLUSTER_MAX_POINTS, 1e6 * best);
    arena_free(arena);
}

int main(int arguments, char **word) {
    int repeats = asked_quick(arguments, word) ? 1 : REPEATS;
    double drop = 1e-4 / cos(0.52359877559829887);
    printf("%-28s %8s %8s %10s %8s %8s %8s %8s %8s\n", "", "raw", "points", "pair [us]", "of", "triangles", "fields",
           "ns/tri", "ns/field");
    for (int k = 0; k < 3; k++) {
        double edge = (double[]){0.005, 0.004, 0.0025}[k];
        sim_shape bolt = bolt_shape(5e-5, edge), nut = nut_shape(5e-5, edge);
        char name[64];
        snprintf(name, sizeof name, "M48, edges of %g mm", 1e3 * edge);
        report(name, &bolt, &nut, -drop, 5e-5, repeats);
        shape_free(&bolt);
        shape_free(&nut);
    }
    sim_shape bowl = dish_shape(1, 0.004), plate = dish_shape(0, 0.004), pot = dish_shape(2, 0.004);
    report("bowl in bowl", &bowl, &bowl, 0.0104, 1e-3, repeats);
    report("plate on bowl", &bowl, &plate, 0.0507, 1e-3, repeats);
    report("pot on plate", &plate, &pot, 0.0186, 1e-3, repeats);
    sim_field_def def = field_box(0.1, 0.08, 0.06);
    sim_shape block = field_shape(&def, 0.005), ball = sized_shape(SIM_SPHERE, 0.03, 0, 0);
    sim_shape box = sized_shape(SIM_BOX, 0.06, 0.06, 0.06);
    report("ball on block", &ball, &block, -0.0599, 1e-3, repeats);
    report("box on block", &box, &block, -0.0599, 1e-3, repeats);
    cluster(1000, repeats);
    cluster(5000, repeats);
    shape_free(&bowl);
    shape_free(&plate);
    shape_free(&pot);
    shape_free(&block);
    return 0;
}
