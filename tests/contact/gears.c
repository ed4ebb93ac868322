/* Involute gears that mesh, as meshes with facets.
 *
 *     x(r) at the angle  c -+ (pi/2N + inv(r_p) - inv(r)),    inv(r) = sqrt(r^2/r_b^2 - 1) - acos(r_b / r),
 *
 * r_b the base circle, r_p the pitch circle, N teeth.  Torques in the ratio of the teeth press the flanks and do no
 * work together, so frictionless gears keep their kinetic energy. */
#include "math/v3.h"
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MAX_TEETH = 30, CHORDS = 40, MAX_OUTLINE = MAX_TEETH * 2 * (CHORDS + 2) };
static const double MODULE = 2e-3, WIDTH = 0.01, BACKLASH = 2e-5; /* m */

static double involute(double r, double base) {
    return r > base ? sqrt(r * r / (base * base) - 1) - acos(base / r) : 0;
}

/* The outline, counter-clockwise; returns its number of points. */
static int gear_points(int teeth, double phase, v3 *out) {
    double pitch = teeth * MODULE / 2, base = pitch * cos(20 * M_PI / 180), tip = pitch + MODULE;
    double root = pitch - 1.25 * MODULE, from = fmax(base, root);
    double half = M_PI / (2 * teeth) - BACKLASH / (2 * pitch);
    int count = 0;
    for (int k = 0; k < teeth; k++) {
        double middle = phase + 2 * M_PI * k / teeth;
        for (int side = -1; side <= 1; side += 2) {
            for (int i = -1; i <= CHORDS; i++) {
                int step = side < 0 ? i : CHORDS - 1 - i;
                double r = step < 0 ? root : from + (tip - from) * step / CHORDS;
                if (step < 0 && root >= base) {
                    continue;
                }
                double angle = middle + side * (half + involute(pitch, base) - involute(fmax(r, from), base));
                out[count++] = v3_make(r * cos(angle), r * sin(angle), 0);
            }
        }
    }
    return count;
}

/* A prism over the outline, closed. */
static const sim_geometry *gear_mesh(yard *y, int teeth, double phase) {
    static v3 point[2 * MAX_OUTLINE + 2];
    static int triangle[4 * MAX_OUTLINE][3];
    int n = gear_points(teeth, phase, point);
    for (int i = 0; i < n; i++) {
        int j = (i + 1) % n;
        const int t[4][3] = {{i, j, n + j}, {i, n + j, n + i}, {2 * n, j, i}, {2 * n + 1, n + i, n + j}};
        memcpy(triangle[4 * i], t, sizeof t);
        point[n + i] = v3_make(point[i].x, point[i].y, WIDTH / 2);
        point[i].z = -WIDTH / 2;
    }
    point[2 * n] = v3_make(0, 0, -WIDTH / 2);
    point[2 * n + 1] = v3_make(0, 0, WIDTH / 2);
    sim_error error;
    sim_geometry *g = sim_geometry_mesh(point, 2 * n + 2, (const int(*)[3])triangle, 4 * n, &error);
    cr_assert(g, "%s", error.text);
    return sim_builder_add_geometry(y->builder, g);
}

static void add_gear(yard *y, const char *name, int teeth, double x, double phase, double speed, double torque) {
    static const double start[] = {0};
    double pitch = teeth * MODULE / 2, mass = 0.1 * teeth * teeth / 400;
    sim_body_def def = sim_body_default();
    def.name = name;
    def.joint = SIM_HINGE;
    def.placement.p.x = x;
    def.inertia = (sim_inertia){mass, {0, 0, 0}, {0, 0, mass * pitch * pitch / 2, 0, 0, 0}};
    def.inertia.moment.xx = def.inertia.moment.yy = def.inertia.moment.zz;
    def.v[0] = speed;
    sim_shape shape = sim_shape_default();
    shape.type = SIM_MESH;
    shape.material = y->material;
    shape.geometry = gear_mesh(y, teeth, phase);
    shape.body = sim_builder_add_body(y->builder, &def);
    sim_builder_add_shape(y->builder, &shape);
    sim_load load = {.body = -1,
                     .dof = 0,
                     .track = {.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = start, .values = &torque}};
    sim_builder_add_load(y->builder, &load, shape.body);
}

/* One flank meets the next in the course of a step or two; each tooth that takes over does so without a blow. */
Test(gears, that_mesh_under_load_keep_their_energy) {
    yard y = yard_begin(v3_make(0, 0, 0), rough(0));
    add_gear(&y, "a", 20, 0, 0, 20, 0.02);
    add_gear(&y, "b", 30, 25 * MODULE, M_PI + M_PI / 30, -20. * 20 / 30, 0.03);
    yard_open(&y, "canal", SIM_MIDPOINT, 5e-4);
    double first = 0, last = 0;
    for (int k = 0; k < (int)span_of(600, 300); k++) { /* ten teeth take over in 300 steps */
        yard_step(&y);
        first = k == 9 ? sim_world_energy(y.world).kinetic : first; /* the load has pressed the flanks together */
        last = sim_world_energy(y.world).kinetic;
    }
    cr_expect_eq(y.unsolved, 0);
    cr_expect_float_eq(last, first, 2e-3 * first, "%g of %g J", last, first);
    yard_end(&y);
}
