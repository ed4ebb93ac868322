/* A soft cube that was stretched and turns. */
#include "support/share.h"
#include "support/worlds.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/sim.h>

/* Nodes of a cube of 4 cm at rest in the model, stretched in the state, with a spin and a velocity. */
static sim_world *stretched_cube(double strain, double step, sim_model **m) {
    sim_shape box = sim_shape_default();
    sim_soft_mesh mesh;
    sim_error error;
    box.type = SIM_BOX;
    box.size[0] = box.size[1] = box.size[2] = 0.04;
    cr_assert_eq(sim_shape_soft_mesh(&box, 0.02, &mesh, &error), SIM_OK, "%s", error.text);
    sim_soft soft = sim_soft_default();
    soft.modulus = 2e4;
    soft.nnode = mesh.nnode;
    soft.node = mesh.node;
    soft.ntet = mesh.ntet;
    soft.tet = (const int(*)[4])mesh.tet;
    soft.v = (sim_v3){0.1, 0, -0.2};
    soft.w = (sim_v3){3, 5, -4};
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (sim_v3){0, 0, 0});
    sim_builder_add_soft(builder, &soft);
    *m = sim_builder_finish(builder, &error);
    cr_assert_not_null(*m, "%s", error.text);
    sim_soft_mesh_free(&mesh);
    sim_world *w = open_world(*m, SIM_MIDPOINT, step, 1);
    sim_state start = *sim_world_state(w);
    double q[300];
    cr_assert((*m)->nq <= 300);
    for (int j = 0; j < (*m)->nq; j++) {
        q[j] = start.q[j] * (j % 3 == 0 ? 1 + strain : j % 3 == 1 ? 1 - strain / 2 : 1);
    }
    start.q = q;
    cr_assert_eq(sim_world_set_state(w, &start, &error), SIM_OK, "%s", error.text);
    return w;
}

static double total(sim_world *w) {
    sim_energy e = sim_world_energy(w);
    return e.kinetic + e.potential;
}

/* In steps longer than its vibrations: mean forces keep the energy, those in the middle of the step would create it
 * without bound. */
Test(jelly, keeps_its_energy_at_long_steps) {
    for (int trial = 0; trial < 2; trial++) {
        const double step = 0.01 * (1 << trial);
        sim_model *m;
        sim_world *w = stretched_cube(0.02, step, &m);
        double before = total(w), worst = 0;
        sim_force p0 = sim_world_momentum(w);
        for (int k = 0; k < 100; k++) {
            run_world(w, 1);
            worst = fmax(worst, fabs(total(w) / before - 1));
        }
        sim_force p1 = sim_world_momentum(w);
        cr_expect(worst < 1e-8, "step %g s: energy changes by %g", step, worst);
        cr_expect(fabs(p1.ang.y / p0.ang.y - 1) < 1e-8, "step %g s: angular momentum changes by %g", step,
                  p1.ang.y / p0.ang.y - 1);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* Over 10 s in long runs, else 2 s. */
Test(jelly, keeps_its_energy_and_momentum) {
    const double STEP = 2.5e-4; /* s */
    sim_model *m;
    sim_world *w = stretched_cube(0.2, STEP, &m);
    double before = total(w), worst = 0;
    sim_force p0 = sim_world_momentum(w);
    const int steps = (int)(span_of(10, 2) / STEP + 0.5);
    for (int k = 0; k < steps; k++) {
        run_world(w, 1);
        worst = fmax(worst, fabs(total(w) / before - 1));
    }
    sim_force p1 = sim_world_momentum(w);
    const double lin = fabs(p1.lin.x - p0.lin.x) + fabs(p1.lin.y - p0.lin.y) + fabs(p1.lin.z - p0.lin.z);
    const double ang = fabs(p1.ang.x - p0.ang.x) + fabs(p1.ang.y - p0.ang.y) + fabs(p1.ang.z - p0.ang.z);
    cr_expect(worst < 1e-3, "energy changes by %g", worst);
    cr_expect(lin < 1e-10 * fabs(p0.lin.z), "momentum changes by %g of it", lin / fabs(p0.lin.z));
    cr_expect(ang < 1e-7 * fabs(p0.ang.y), "angular momentum changes by %g of it", ang / fabs(p0.ang.y));
    sim_world_free(w);
    sim_model_free(m);
}
