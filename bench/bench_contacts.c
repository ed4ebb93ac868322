/* What do the contacts of a whole scene cost?
 *
 * Clutter: columns of ten, spheres of 5 cm and boxes of 10 cm in turn, each resting on the one below, with and without
 * walls.  The bodies tremble from frame to frame as they do under a solver, and every frame is shown the contacts of
 * the one before.  Then the same with every box as a hull of points: the general convex pairs. */
#include "collide/collision.h"
#include "math/spatial.h"
#include "support/models.h"
#include "support/quick.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static sim_geometry *cube_hull(double half) {
    sim_v3 corner[8];
    for (int k = 0; k < 8; k++) {
        corner[k] = (sim_v3){k & 1 ? half : -half, k & 2 ? half : -half, k & 4 ? half : -half};
    }
    return sim_geometry_hull(corner, 8, NULL);
}

static void add_walls(sim_builder *b, int side, double spacing) {
    double half = 0.5 * (side - 1) * spacing + 0.06, middle = 0.5 * (side - 1) * spacing;
    for (int k = 0; k < 4; k++) {
        sim_shape wall = sim_shape_default();
        double sign = k % 2 ? 1 : -1;
        wall.type = SIM_BOX;
        wall.size[k / 2] = 0.02, wall.size[1 - k / 2] = 2 * half + 0.04, wall.size[2] = 2;
        wall.pose.p = k / 2 ? v3_make(middle, middle + sign * half, 1) : v3_make(middle + sign * half, middle, 1);
        sim_builder_add_shape(b, &wall);
    }
}

/* side x side columns of ten. */
static sim_model *clutter(int side, int walls, int hulls) {
    const double spacing = 0.11;
    sim_builder *b = sim_builder_create();
    sim_shape floor = sim_shape_default(), solid = floor;
    const sim_geometry *cube = hulls ? sim_builder_add_geometry(b, cube_hull(0.05)) : NULL;
    floor.type = SIM_HALF_SPACE;
    sim_builder_add_shape(b, &floor);
    if (walls) {
        add_walls(b, side, spacing);
    }
    for (int i = 0; i < 10 * side * side; i++) {
        sim_body_def def = sim_body_default();
        int column = i / 10, level = i % 10, box = (column + level) % 2;
        def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
        def.q[0] = spacing * (column % side), def.q[1] = spacing * (column / side), def.q[2] = 0.05 + 0.1 * level;
        def.q[3] = 1;
        solid.body = sim_builder_add_body(b, &def);
        solid.type = !box ? SIM_SPHERE : hulls ? SIM_CONVEX : SIM_BOX;
        solid.geometry = solid.type == SIM_CONVEX ? cube : NULL;
        solid.size[0] = box ? 0.1 : 0.05, solid.size[1] = solid.size[2] = 0.1;
        sim_builder_add_shape(b, &solid);
    }
    return sim_builder_finish(b, NULL);
}

static void tremble(const sim_model *m, random_source *r, const sim_pose *home, sim_pose *now) {
    for (int i = 1; i < m->nbody; i++) {
        v3 turn = v3_scale(random_uniform(r, 0, 1e-5), random_unit(r));
        now[i].R = m3_product(quat_matrix(quat_exp(turn)), home[i].R);
        now[i].p = v3_axpy(home[i].p, random_uniform(r, 0, 1e-5), random_unit(r));
    }
}

static void measure(int side, int walls, int hulls, int threads) {
    enum { FRAMES = 20, BATCHES = 5 };
    sim_model *m = clutter(side, walls, hulls);
    collision_stage *c = collision_create(m, NAN);
    sim_threads *t = threads_create(threads);
    sim_derived *d = sim_derived_create(m, NULL);
    sim_pose *now = calloc((size_t)m->nbody, sizeof *now);
    random_source r = {1};
    sim_poses(d, sim_all(m), m->q_initial);
    now[0] = d->pose[0];
    collision_input in = {.pose = now, .step = 0.01};
    double best = HUGE_VAL;
    for (int batch = 0; batch < BATCHES; batch++) {
        double spent = 0;
        for (int frame = 0; frame < FRAMES; frame++) {
            tremble(m, &r, d->pose, now);
            double begin = seconds();
            collision_update(c, &in, t, NULL);
            spent += seconds() - begin;
            in.before = collision_contacts(c, &in.nbefore);
        }
        best = fmin(best, spent / FRAMES);
    }
    const collision_info *info = collision_last(c);
    printf("%7d %6s %6s %8d %9d %9d %10.1f %10.1f %12.2f\n", m->nbody - 1, walls ? "yes" : "no",
           hulls ? "hulls" : "boxes", threads, info->near, info->points, 1e6 * best,
           1e9 * best / (info->near ? info->near : 1), 1e-6 * info->points / best);
    free(now);
    sim_derived_free(d);
    threads_free(t);
    collision_free(c);
    sim_model_free(m);
}

int main(int count, char **word) {
    int most = asked_quick(count, word) ? 4 : 32;
    printf("sim %s, %s\n", sim_version(), sim_build_info());
    printf("%7s %6s %6s %8s %9s %9s %10s %10s %12s\n", "bodies", "walls", "as", "threads", "near", "contacts",
           "us/frame", "ns/pair", "Mcontacts/s");
    for (int hulls = 0; hulls < 2; hulls++) {
        for (int side = 2; side <= most; side *= 2) {
            measure(side, 1, hulls, 1);
        }
        measure(2, 0, hulls, 1);
        measure(most, 0, hulls, 1);
        measure(most, 0, hulls, 2);
    }
    return 0;
}
