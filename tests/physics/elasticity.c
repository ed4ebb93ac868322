/* Elasticity as rows of the contact problem beside elasticity in A. */
#include "support/share.h"
#include "support/worlds.h"

#include "math/v3.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double EDGE = 0.04; /* m, of the jelly */
enum { MAX_NODES = 8 };

/* A cubic jelly over a smooth plane at z = 0, which those with a thickness touch. */
static sim_model *make_jelly(sim_soft soft, double edge, sim_v3 gravity) {
    sim_shape shape = sim_shape_default();
    sim_soft_mesh tets;
    sim_error error;
    shape.type = SIM_BOX;
    shape.size[0] = shape.size[1] = shape.size[2] = EDGE;
    cr_assert_eq(sim_shape_soft_mesh(&shape, edge, &tets, &error), SIM_OK, "%s", error.text);
    soft.nnode = tets.nnode;
    soft.node = tets.node;
    soft.ntet = tets.ntet;
    soft.tet = (const int(*)[4])tets.tet;
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, gravity);
    sim_material smooth = sim_material_default();
    smooth.name = "smooth";
    smooth.friction = 0; /* friction at rest depends on the way to it */
    soft.material = sim_builder_add_material(builder, &smooth);
    sim_builder_add_soft(builder, &soft);
    shape = sim_shape_default();
    shape.type = SIM_HALF_SPACE;
    shape.material = soft.material;
    sim_builder_add_shape(builder, &shape);
    sim_model *m = sim_builder_finish(builder, &error);
    cr_assert_not_null(m, "%s", error.text);
    sim_soft_mesh_free(&tets);
    return m;
}

static sim_world *open_jelly(const sim_model *m, sim_integrator integrator, const char *solver, double step) {
    sim_options options = sim_options_default();
    options.integrator = integrator;
    options.step = step;
    options.tolerance = 1e-13;
    options.law.slop = 0; /* which depends on the way to rest, too */
    options.solver = sim_solver_find(solver);
    sim_error error;
    sim_world *w = sim_world_create(m, &options, &error);
    cr_assert_not_null(w, "%s: %s", solver, error.text);
    return w;
}

/* Stretched by a fifth, sheared and turning at 7 rad/s. */
static void deform_jelly(sim_world *w) {
    const sim_state *now = sim_world_state(w);
    double q[3 * MAX_NODES], v[3 * MAX_NODES];
    for (int n = 0; n < sim_world_model(w)->nv / 3; n++) {
        v3 x = {now->q[3 * n], now->q[3 * n + 1], now->q[3 * n + 2]};
        v3 u = v3_cross((v3){3, 5, -4}, x);
        const double at[3] = {1.2 * x.x, 0.9 * x.y, x.z + 0.2 * x.x}, rate[3] = {u.x + 0.1, u.y, u.z - 0.2};
        memcpy(q + 3 * n, at, sizeof at);
        memcpy(v + 3 * n, rate, sizeof rate);
    }
    sim_state start = *now;
    sim_error error;
    start.q = q;
    start.v = v;
    cr_assert_eq(sim_world_set_state(w, &start, &error), SIM_OK, "%s", error.text);
}

/* ---- motion ---- */

/* Places of all nodes after 10 ms. */
static void swing_jelly(bool rows, sim_soft_law law, sim_integrator integrator, int steps, double *q) {
    sim_soft soft = sim_soft_default();
    soft.law = law;
    soft.modulus = 2e4;
    soft.dissipation = 1e-3;
    soft.rows = rows;
    sim_model *m = make_jelly(soft, EDGE, (v3){0, 0, -9.81});
    sim_world *w = open_jelly(m, integrator, "nsn", 0.01 / steps);
    deform_jelly(w);
    for (int k = 0; k < steps; k++) {
        run_world(w, 1);
        cr_assert(sim_world_info(w)->unsolved == 0 && sim_world_info(w)->nonconverged == 0, "step %d", k);
    }
    memcpy(q, sim_world_state(w)->q, (size_t)m->nq * sizeof *q);
    sim_world_free(w);
    sim_model_free(m);
}

/* The greatest distance of a coordinate between both forms, over the edge. */
static double parting_of_forms(sim_soft_law law, sim_integrator integrator, int steps) {
    double rows[3 * MAX_NODES] = {0}, tangent[3 * MAX_NODES] = {0}, worst = 0;
    swing_jelly(true, law, integrator, steps, rows);
    swing_jelly(false, law, integrator, steps, tangent);
    for (int k = 0; k < 3 * MAX_NODES; k++) {
        worst = fmax(worst, fabs(rows[k] - tangent[k]) / EDGE);
    }
    return worst;
}

Test(elasticity, rows_and_tangent_agree_as_the_step_goes_to_zero) {
    const sim_integrator scheme[] = {SIM_MIDPOINT, SIM_SYMPLECTIC_EULER, SIM_MOREAU};
    for (int k = 0; k < part_of(3); k++) {
        for (int law = 0; law < SIM_SOFT_LAWS; law++) {
            double coarse = parting_of_forms((sim_soft_law)law, scheme[k], 320);
            double fine = parting_of_forms((sim_soft_law)law, scheme[k], 640);
            cr_expect_lt(fine, 1e-6, "scheme %d, law %d: %g of the edge", k, law, fine);
            cr_expect_float_eq(log2(coarse / fine), 2, 0.1, "scheme %d, law %d: %g, %g", k, law, coarse, fine);
        }
    }
}

/* ---- rest ---- */

/* A block that comes to rest on a plane; returns the force of the plane, N. */
static double settle_block(bool rows, const char *solver, double *q) {
    sim_soft soft = sim_soft_default();
    soft.modulus = 2e4;
    soft.dissipation = 0.02;
    soft.thickness = 1e-3;
    soft.pose.p.z = 0.0205;
    soft.rows = rows;
    const double step = 5e-3;
    sim_model *m = make_jelly(soft, EDGE, (v3){0, 0, -9.81});
    sim_world *w = open_jelly(m, SIM_SYMPLECTIC_EULER, solver, step);
    run_world(w, 200);
    const sim_state *now = sim_world_state(w);
    double force = 0;
    for (int k = 0; k < now->ncontact; k++) {
        force += now->impulse[k].z / step;
    }
    memcpy(q, now->q, (size_t)m->nq * sizeof *q);
    cr_expect_eq(sim_world_info(w)->unsolved, 0, "%s", solver);
    sim_world_free(w);
    sim_model_free(m);
    return force;
}

/* At rest both forms have the same equilibrium, in every solver that takes springs. */
Test(elasticity, block_of_rows_rests_where_that_of_the_tangent_does) {
    const char *solver[] = {"nsn", "sap", "auto", "acn", "canal", "subadmm", "pgs"};
    double weight = 9.81 * 1000 * pow(EDGE, 3);
    for (size_t k = 0; k < sizeof solver / sizeof *solver; k++) {
        double rows[3 * MAX_NODES] = {0}, tangent[3 * MAX_NODES] = {0};
        double force = settle_block(true, solver[k], rows);
        settle_block(false, solver[k], tangent);
        cr_expect_float_eq(force / weight, 1, 1e-4, "%s: %g N of %g", solver[k], force, weight);
        for (int j = 2; j < 3 * MAX_NODES; j += 3) {
            cr_expect_float_eq(rows[j], tangent[j], 1e-6, "%s: node %d at %g and %g m", solver[k], j / 3, rows[j],
                               tangent[j]);
        }
    }
}
