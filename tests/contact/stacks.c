/* Stacks that stand. */
#include "math/v3.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

static const double g = 9.81;

static yard tower(int count, const double *mass, double edge, const char *solver, sim_integrator integrator,
                  double dt) {
    yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
    yard_ground(&y);
    for (int k = 0; k < count; k++) {
        char name[16];
        snprintf(name, sizeof name, "box%d", k);
        yard_add(&y, name, SIM_BOX, edge, edge, edge, mass[k], v3_make(0, 0, (k + 0.5) * edge), v3_make(0, 0, 0));
    }
    yard_open(&y, solver, integrator, dt);
    return y;
}

Test(stacks, ten_boxes_stand) {
    double mass[10];
    for (int k = 0; k < 10; k++) {
        mass[k] = 1;
    }
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < 2; i++) {
            yard y = tower(10, mass, 0.2, s ? "sap" : "pgs", i ? SIM_MIDPOINT : SIM_SYMPLECTIC_EULER, 5e-3);
            for (int k = 0; k < 1000; k++) {
                yard_step(&y);
            }
            v3 top = place_of(&y, "box9");
            cr_assert_float_eq(top.z, 1.9, 5e-3, "%s: top at %g", s ? "sap" : "pgs", top.z);
            cr_assert_lt(hypot(top.x, top.y), 1e-3, "%s: shifted by %g", s ? "sap" : "pgs", hypot(top.x, top.y));
            yard_end(&y);
        }
    }
}

static double top_of_loaded_stack(const char *solver, double load, double *shift) {
    double mass[8];
    for (int k = 0; k < 8; k++) {
        mass[k] = k == 7 ? load : 1;
    }
    yard y = tower(8, mass, 0.2, solver, SIM_SYMPLECTIC_EULER, 1.0 / 240);
    sim_error error = {0};
    for (int k = 0; k < 1200; k++) {
        cr_assert_eq(sim_world_step(y.world, &error), SIM_OK, "%s", error.text);
    }
    v3 top = place_of(&y, "box7");
    *shift = hypot(top.x, top.y);
    yard_end(&y);
    return top.z;
}

Test(stacks, of_eight_boxes_bears_a_hundred_times_its_parts_with_pgs_and_a_thousand_with_sap) {
    static const struct {
        const char *solver;
        double load;
    } of[] = {{"pgs", 10}, {"pgs", 100}, {"sap", 10}, {"sap", 100}, {"sap", 1000}};
    for (int k = 0; k < 5; k++) {
        double shift, z = top_of_loaded_stack(of[k].solver, of[k].load, &shift);
        cr_assert(fabs(z - 1.5) < 0.1 && shift < 0.05, "%s under %g kg: top at %g m, shifted by %g m", of[k].solver,
                  of[k].load, z, shift);
        cr_log_info("%s under %g kg: top at %g m, shifted by %g m", of[k].solver, of[k].load, z, shift);
    }
}
