/* A body that spins fast and falls on the ground: contacts brake it, and nothing feeds it. */
#include "math/v3.h"
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>

/* A plate, or a disc with its origin beside its centre of mass. */
static void add_falling(yard *y, int disc, double speed) {
    sim_body_def def = sim_body_default();
    double angle = 5 * M_PI / 180;
    def.name = "top";
    def.joint = SIM_FREE;
    def.q[2] = 0.2;
    def.v[3] = speed * sin(angle);
    def.v[5] = speed * cos(angle);
    sim_shape shape = sim_shape_default();
    shape.type = disc ? SIM_CYLINDER : SIM_BOX;
    shape.size[0] = disc ? 0.1 : 0.2;
    shape.size[1] = disc ? 0.05 : 0.3;
    shape.size[2] = 0.05;
    shape.pose.p = disc ? v3_make(0.05, 0, 0.05) : v3_make(0, 0, 0);
    shape.material = y->material;
    def.inertia = sim_shape_inertia(&shape, 1000);
    shape.body = sim_builder_add_body(y->builder, &def);
    sim_builder_add_shape(y->builder, &shape);
}

/* How far the energy rises above what it was, relative. */
static double highest(int disc, sim_integrator integrator, const char *solver, double speed, double step,
                      double duration) {
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(0.3));
    yard_ground(&y);
    add_falling(&y, disc, speed);
    yard_open(&y, solver, integrator, step);
    double start = energy_of(&y), most = 0;
    for (int k = 0; k < (int)(duration / step + 0.5); k++) {
        yard_step(&y);
        double now = energy_of(&y);
        cr_assert(isfinite(now));
        most = fmax(most, now / start - 1);
    }
    yard_end(&y);
    return most;
}

Test(spinning, what_falls_spinning_gains_nothing_from_the_ground) {
    const double speeds[] = {50, 200, 2000}, steps[] = {5e-4, 1e-3, 5e-3};
    const sim_integrator schemes[] = {SIM_MIDPOINT, SIM_SYMPLECTIC_EULER, SIM_MOREAU};
    const char *solvers[] = {"sap", "pgs"};
    const double duration = span_of(10, 2); /* s */
    double worst = 0, coarse = 0;
    for (int k = 0; k < 108; k += long_runs() ? 1 : 5) { /* every fifth meets all values of each */
        int disc = k / 54;
        double speed = speeds[k / 18 % 3], step = steps[k / 6 % 3];
        double high = highest(disc, schemes[k / 2 % 3], solvers[k % 2], speed, step, duration);
        int fine = speed * step <= 1; /* rad in a step */
        worst = fine ? fmax(worst, high) : worst;
        coarse = fine ? coarse : fmax(coarse, high);
        cr_expect(high < (fine ? 1e-3 : 1), "%s, scheme %d, %s, %g rad/s, %g s: %g", disc ? "disc" : "plate",
                  schemes[k / 2 % 3], solvers[k % 2], speed, step, high);
    }
    cr_log_warn("on the ground, %g s: energy gained %.1g, relative, at 1 rad a step and less; %.1g at 2 and 10",
                duration, worst, coarse);
}
