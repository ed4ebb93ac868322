/* What does one pair of shapes cost?
 *
 * Nanoseconds per pair, the least of several passes over a thousand placements of each kind: `apart` just beyond the
 * margin, `near` within it and about to touch anyhow, `resting` flat on each other and slightly inside, `deep`.  Shapes
 * are half a metre to a metre wide. A new kind is a row of `rows`. */
#include "collide/contact/pair.h"
#include "support/models.h"
#include "support/quick.h"

#include <stdio.h>
#include <time.h>

enum { PLACEMENTS = 1000, HULL = 40 };
static const double margin = 5e-3;

typedef struct placement {
    sim_shape a, b;
    sim_pose X;
} placement;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static sim_geometry *pebble(random_source *r) {
    sim_v3 point[HULL];
    for (int k = 0; k < HULL; k++) {
        point[k] = v3_scale(0.5, random_unit(r));
    }
    return sim_geometry_hull(point, HULL, NULL);
}

static sim_shape solid(random_source *r, sim_shape_type type, const sim_geometry *hull) {
    sim_shape s = sim_shape_default();
    s.type = type;
    for (int k = 0; k < 3; k++) {
        s.size[k] = random_uniform(r, 0.5, 1) * (type == SIM_BOX ? 1 : 0.5);
    }
    s.geometry = type == SIM_CONVEX ? hull : NULL;
    return s;
}

static double deepest(sim_arena *arena, const placement *x) {
    pair p = {.a = &x->a, .b = &x->b, .X_ab = x->X, .margin = HUGE_VAL, .arena = arena};
    manifold m = {0};
    double least = HUGE_VAL;
    arena_release(arena, 0);
    pair_collide(&p, &m);
    for (int k = 0; k < m.count; k++) {
        least = fmin(least, m.point[k].gap);
    }
    return least;
}

/* B moved away or nearer along a line until the gap is what is wanted. */
static void place(sim_arena *arena, random_source *r, placement *x, int flat, double gap) {
    x->X.R = flat ? m3_axis_angle(v3_make(0, 0, 1), random_uniform(r, -3, 3)) : random_rotation(r);
    v3 away = flat || x->b.type == SIM_HALF_SPACE ? v3_neg(x->X.R.z) : random_unit(r);
    away = x->a.type == SIM_HALF_SPACE ? v3_make(0, 0, 1) : away;
    v3 aside = v3_scale(flat ? 0.2 : 0, random_unit(r));
    aside.z = 0;
    double low = -0.1, high = 3;
    for (int k = 0; k < 40; k++) {
        double middle = 0.5 * (low + high);
        x->X.p = v3_axpy(aside, middle, away);
        if (deepest(arena, x) < gap) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

static double nanoseconds(sim_arena *arena, const placement *x, int placements, int passes, double *points) {
    double best = HUGE_VAL;
    for (int pass = 0; pass < passes; pass++) {
        int count = 0;
        double begin = seconds();
        for (int k = 0; k < placements; k++) {
            pair p = {.a = &x[k].a, .b = &x[k].b, .X_ab = x[k].X, .margin = margin, .arena = arena};
            manifold m = {0};
            arena_release(arena, 0);
            pair_collide(&p, &m);
            count += m.count;
        }
        best = fmin(best, (seconds() - begin) / placements);
        *points = (double)count / placements;
    }
    return 1e9 * best;
}

int main(int count, char **word) {
    int quick = asked_quick(count, word), passes = quick ? 1 : 20, placements = quick ? 20 : PLACEMENTS;
    static const sim_shape_type rows[][2] = {
        {SIM_SPHERE, SIM_SPHERE},        {SIM_SPHERE, SIM_BOX},
        {SIM_SPHERE, SIM_CAPSULE},       {SIM_SPHERE, SIM_CYLINDER},
        {SIM_SPHERE, SIM_ELLIPSOID},     {SIM_SPHERE, SIM_HALF_SPACE},
        {SIM_SPHERE, SIM_CONVEX},        {SIM_BOX, SIM_BOX},
        {SIM_BOX, SIM_CAPSULE},          {SIM_BOX, SIM_CYLINDER},
        {SIM_BOX, SIM_ELLIPSOID},        {SIM_CAPSULE, SIM_ELLIPSOID},
        {SIM_CYLINDER, SIM_ELLIPSOID},   {SIM_CYLINDER, SIM_CONVEX},
        {SIM_ELLIPSOID, SIM_CONVEX},     {SIM_BOX, SIM_HALF_SPACE},
        {SIM_BOX, SIM_CONVEX},           {SIM_CAPSULE, SIM_CAPSULE},
        {SIM_CAPSULE, SIM_CYLINDER},     {SIM_CAPSULE, SIM_HALF_SPACE},
        {SIM_CAPSULE, SIM_CONVEX},       {SIM_CYLINDER, SIM_CYLINDER},
        {SIM_CYLINDER, SIM_HALF_SPACE},  {SIM_ELLIPSOID, SIM_ELLIPSOID},
        {SIM_ELLIPSOID, SIM_HALF_SPACE}, {SIM_HALF_SPACE, SIM_CONVEX},
        {SIM_CONVEX, SIM_CONVEX},
    };
    static const struct {
        const char *name;
        int flat;
        double gap;
    } columns[] = {{"apart", 0, 1.5e-2}, {"near", 0, 2e-3}, {"resting", 1, -1e-4}, {"deep", 0, -0.1}};
    static placement x[PLACEMENTS];
    random_source r = {1};
    sim_arena *arena = arena_create();
    sim_geometry *hull = pebble(&r);
    printf("%-26s", "ns per pair (points)");
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        printf("%16s", columns[c].name);
    }
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        printf("\n%-12s %-13s", sim_shape_name(rows[k][0]), sim_shape_name(rows[k][1]));
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
            for (int i = 0; i < placements; i++) {
                x[i].a = solid(&r, rows[k][0], hull);
                x[i].b = solid(&r, rows[k][1], hull);
                place(arena, &r, &x[i], columns[c].flat, columns[c].gap);
            }
            double points = 0, ns = nanoseconds(arena, x, placements, passes, &points);
            printf("%9.0f (%4.2f)", ns, points);
            fflush(stdout);
        }
    }
    printf("\n");
    sim_geometry_free(hull);
    arena_free(arena);
    return 0;
}
