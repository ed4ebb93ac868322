/* Soft bodies: momentum, energy, deflection of a beam, gravity, order of a mesh. */
#include "support/models.h"
#include "support/worlds.h"

#include "math/v3.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A box of cells with edge `edge` over a plane; its nodes below x = `held` do not move. */
static sim_model *soft_box(const double size[3], double edge, double held, sim_soft soft, sim_v3 gravity) {
    sim_shape shape = sim_shape_default();
    sim_soft_mesh tets;
    sim_error error;
    shape.type = SIM_BOX;
    for (int k = 0; k < 3; k++) {
        shape.size[k] = size[k];
    }
    cr_assert_eq(sim_shape_soft_mesh(&shape, edge, &tets, &error), SIM_OK, "%s", error.text);
    bool *fixed = calloc((size_t)tets.nnode, sizeof *fixed);
    for (int n = 0; n < tets.nnode; n++) {
        fixed[n] = tets.node[n].x < held;
    }
    soft.name = "jelly";
    soft.nnode = tets.nnode;
    soft.node = tets.node;
    soft.ntet = tets.ntet;
    soft.tet = (const int(*)[4])tets.tet;
    soft.held = fixed;
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, gravity);
    sim_builder_add_soft(builder, &soft);
    shape = sim_shape_default();
    shape.type = SIM_HALF_SPACE; /* only those with a thickness touch it */
    sim_builder_add_shape(builder, &shape);
    sim_model *m = sim_builder_finish(builder, &error);
    cr_assert_not_null(m, "%s", error.text);
    free(fixed);
    sim_soft_mesh_free(&tets);
    return m;
}

static const char *name_of(int law) { return sim_soft_law_name((sim_soft_law)law); }

/* A jelly of 4 cm that is stretched and turns. */
static sim_world *free_jelly(sim_soft_law law, sim_integrator integrator, double step, sim_model **m) {
    sim_soft soft = sim_soft_default();
    soft.law = law;
    soft.modulus = 2e4;
    *m = soft_box((const double[3]){0.04, 0.04, 0.04}, 0.02, -1, soft, (v3){0, 0, 0});
    sim_world *w = open_world(*m, integrator, step, 1);
    const sim_state *now = sim_world_state(w);
    double q[3 * 27], v[3 * 27];
    for (int n = 0; n < (*m)->nv / 3; n++) {
        v3 x = {now->q[3 * n], now->q[3 * n + 1], now->q[3 * n + 2]};
        const double at[3] = {1.2 * x.x, 0.9 * x.y, x.z + 0.2 * x.x};
        v3 u = v3_cross((v3){3, 5, -4}, x);
        const double rate[3] = {u.x + 0.1, u.y, u.z - 0.2};
        for (int k = 0; k < 3; k++) {
            q[3 * n + k] = at[k];
            v[3 * n + k] = rate[k];
        }
    }
    sim_state start = *now;
    start.q = q;
    start.v = v;
    sim_error error;
    cr_assert_eq(sim_world_set_state(w, &start, &error), SIM_OK, "%s", error.text);
    return w;
}

static double total(sim_world *w) {
    sim_energy e = sim_world_energy(w);
    return e.kinetic + e.potential;
}

Test(soft, midpoint_keeps_energy_and_momentum_of_a_free_jelly) {
    for (int law = 0; law < SIM_SOFT_LAWS; law++) {
        sim_model *m;
        sim_world *w = free_jelly((sim_soft_law)law, SIM_MIDPOINT, 2.5e-4, &m);
        sim_force p0 = sim_world_momentum(w);
        double before = total(w), worst = 0;
        for (int k = 0; k < 1000; k++) {
            run_world(w, 1);
            worst = fmax(worst, fabs(total(w) / before - 1));
            cr_assert_eq(sim_world_info(w)->nonconverged, 0, "%s: step %d", name_of(law), k);
        }
        sim_force p1 = sim_world_momentum(w);
        cr_expect(worst < 1e-3, "%s: energy changes by %g", name_of(law), worst);
        cr_expect(v3_norm(v3_sub(p1.lin, p0.lin)) < 1e-12 * v3_norm(p0.lin), "%s: momentum changes by %g", name_of(law),
                  v3_norm(v3_sub(p1.lin, p0.lin)) / v3_norm(p0.lin));
        cr_expect(v3_norm(v3_sub(p1.ang, p0.ang)) < 1e-8 * v3_norm(p0.ang), "%s: angular momentum changes by %g",
                  name_of(law), v3_norm(v3_sub(p1.ang, p0.ang)) / v3_norm(p0.ang));
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* Where the jelly's first node is after 20 ms. */
static v3 place_after(sim_integrator integrator, int steps) {
    sim_model *m;
    sim_world *w = free_jelly(SIM_NEO_HOOKEAN, integrator, 0.02 / steps, &m);
    run_world(w, steps);
    const double *q = sim_world_state(w)->q;
    v3 x = {q[0], q[1], q[2]};
    sim_world_free(w);
    sim_model_free(m);
    return x;
}

Test(soft, integrators_converge_with_their_orders) {
    const sim_integrator scheme[4] = {SIM_MIDPOINT, SIM_SYMPLECTIC_EULER, SIM_IMPLICIT_EULER, SIM_MOREAU};
    v3 exact = place_after(SIM_MIDPOINT, 2000);
    for (int k = 0; k < 4; k++) {
        double coarse = v3_norm(v3_sub(place_after(scheme[k], 200), exact));
        double fine = v3_norm(v3_sub(place_after(scheme[k], 400), exact));
        double order = log2(coarse / fine), expected = scheme[k] == SIM_MIDPOINT ? 2 : 1;
        cr_expect_float_eq(order, expected, 0.15, "scheme %d: errors %g, %g: order %g", k, coarse, fine, order);
    }
}

/* Wrenches on its nodes that carry their weights leave a soft body as it is. */
Test(soft, floats_where_its_nodes_are_carried) {
    sim_soft soft = sim_soft_default();
    soft.modulus = 1e5;
    sim_model *m = soft_box((const double[3]){0.04, 0.06, 0.04}, 0.02, -1, soft, (v3){0, 0, -9.81});
    sim_world *w = open_world(m, SIM_MIDPOINT, 1e-2, 1);
    for (int step = 0; step < 100; step++) {
        for (int i = 1; i < m->nbody; i++) {
            sim_world_wrenches(w)[i] =
                (sim_force){{0, 0, 0}, {0, 0, m->body[i].nv == 3 ? 9.81 * m->body[i].inertia.mass : 0}};
        }
        run_world(w, 1);
    }
    for (int j = 0; j < m->nv; j++) {
        cr_expect_float_eq(sim_world_state(w)->q[j], m->q_initial[j], 1e-12);
    }
    sim_world_free(w);
    sim_model_free(m);
}

/* Free fall turns no soft body and deforms none. */
Test(soft, falls_as_a_point_mass) {
    sim_soft soft = sim_soft_default();
    soft.modulus = 1e5;
    soft.v = (v3){1, 0, 2};
    sim_model *m = soft_box((const double[3]){0.04, 0.06, 0.04}, 0.02, -1, soft, (v3){0, 0, -9.81});
    sim_world *w = open_world(m, SIM_MIDPOINT, 1e-2, 1);
    run_world(w, 100);
    const double *q = sim_world_state(w)->q, *q0 = m->q_initial;
    for (int j = 0; j < m->nv; j += 3) {
        cr_expect_float_eq(q[j] - q0[j], 1, 1e-12);
        cr_expect_float_eq(q[j + 1] - q0[j + 1], 0, 1e-12);
        cr_expect_float_eq(q[j + 2] - q0[j + 2], 2 - 9.81 / 2, 1e-12);
    }
    double mass = 1000 * 0.04 * 0.06 * 0.04;
    cr_expect_float_eq(sim_world_momentum(w).lin.z, mass * (2 - 9.81), 1e-12);
    sim_world_free(w);
    sim_model_free(m);
}

/* Tip deflection over that of a slender beam, rho g A L^4 / (8 E I), with `cells` through its height. */
static double tip_of_beam(sim_soft_law law, int cells, double poisson) {
    const double length = 0.2, height = 0.01, modulus = 1e8;
    sim_soft soft = sim_soft_default();
    soft.law = law;
    soft.modulus = modulus;
    soft.poisson = poisson;
    sim_model *m = soft_box((const double[3]){length, height, height}, height / cells, -length / 2 + 1e-9, soft,
                            (v3){0, 0, -9.81});
    sim_world *w = open_world(m, SIM_IMPLICIT_EULER, 10, 1); /* seconds: a few steps are at rest */
    run_world(w, 4);
    const double *q = sim_world_state(w)->q;
    double lowest = 0, slender = 1000 * 9.81 * pow(length, 4) * 12 / (8 * modulus * height * height);
    for (int n = 0; n < m->nv / 3; n++) {
        lowest = fmin(lowest, q[3 * n + 2] - m->q_initial[3 * n + 2]);
    }
    sim_world_free(w);
    sim_model_free(m);
    return -lowest / slender;
}

/* Linear tetrahedra are too stiff by c / n^2: the limit and the order p of three meshes, the cells halved each time. */
Test(soft, cantilever_converges_to_the_slender_beam) {
    double k[3];
    for (int mesh = 0; mesh < 3; mesh++) {
        k[mesh] = 1 / tip_of_beam(SIM_NEO_HOOKEAN, 1 << mesh, 0.3);
    }
    double ratio = (k[0] - k[1]) / (k[1] - k[2]), order = log2(ratio), limit = k[2] - (k[1] - k[2]) / (ratio - 1);
    cr_expect_float_eq(order, 2, 0.2, "order %g", order);
    cr_expect_float_eq(limit, 1, 0.02, "stiffness %g, %g, %g: limit %g of the beam's", k[0], k[1], k[2], limit);
}

/* ---- contact ---- */

/* A ball of radius 1 whose cells shrink towards its lowest point: a lattice under the conformal map of the ball onto
 * itself (Moebius) that moves the centre by `shift`. */
static v3 shrink(v3 x, double shift) {
    v3 a = {0, 0, -shift};
    double xx = v3_dot(x, x), ax = v3_dot(a, x), aa = v3_dot(a, a);
    double denominator = 1 + 2 * ax + aa * xx;
    return v3_scale(1 / denominator, v3_add(v3_scale(1 + 2 * ax + xx, a), v3_scale(1 - aa, x)));
}

/* A ball of radius R, held above half of it, whose lowest point is `depth` below a plane. */
static sim_model *pressed_ball(double R, double edge, double shift, double depth) {
    const double skin = 1e-5;
    sim_shape shape = sim_shape_default();
    sim_soft_mesh mesh;
    sim_error error;
    shape.size[0] = 1;
    cr_assert_eq(sim_shape_soft_mesh(&shape, edge, &mesh, &error), SIM_OK, "%s", error.text);
    bool *fixed = calloc((size_t)mesh.nnode, sizeof *fixed);
    for (int n = 0; n < mesh.nnode; n++) {
        mesh.node[n] = v3_scale(R, shrink(mesh.node[n], shift));
        fixed[n] = mesh.node[n].z > 0.5 * R;
    }
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (v3){0, 0, 0});
    sim_soft soft = sim_soft_default();
    soft.modulus = 5e4;
    soft.poisson = 0.3;
    soft.dissipation = 1e-3;
    soft.thickness = skin;
    soft.nnode = mesh.nnode;
    soft.node = mesh.node;
    soft.ntet = mesh.ntet;
    soft.tet = (const int(*)[4])mesh.tet;
    soft.held = fixed;
    sim_builder_add_soft(builder, &soft);
    shape = sim_shape_default();
    shape.type = SIM_HALF_SPACE;
    shape.pose.p.z = depth - R - skin;
    sim_builder_add_shape(builder, &shape);
    sim_model *m = sim_builder_finish(builder, &error);
    cr_assert_not_null(m, "%s", error.text);
    free(fixed);
    sim_soft_mesh_free(&mesh);
    return m;
}

/* Normal force on the plane, N. */
static double pressing_force(const sim_world *w, double step) {
    const sim_state *now = sim_world_state(w);
    double force = 0;
    for (int k = 0; k < now->ncontact; k++) {
        force += fabs(now->impulse[k].z) / step;
    }
    return force;
}

/* How far the material near the centre has moved up. */
static double rise_of_centre(const sim_world *w) {
    const sim_model *m = sim_world_model(w);
    const sim_soft *s = &m->soft[0];
    double nearest = INFINITY, rise = 0;
    for (int n = 0; n < s->nnode; n++) {
        const sim_body *b = &m->body[s->body + 1 + n];
        if (v3_norm(s->node[n]) < nearest) {
            nearest = v3_norm(s->node[n]);
            rise = b->nq ? sim_world_state(w)->q[b->q0 + 2] - s->node[n].z : 0;
        }
    }
    return rise;
}

/* Against 4/3 E / (1 - nu^2) sqrt(R) d^1.5, d the approach of plane and centre. */
Test(soft, ball_on_a_plane_presses_as_hertz_says) {
    const double R = 0.03, depth = 0.02 * R, E = 5e4 / (1 - 0.3 * 0.3);
    sim_model *m = pressed_ball(R, 0.28, 0.75, depth);
    sim_options options = sim_options_default();
    options.integrator = SIM_IMPLICIT_EULER;
    options.step = 0.01;
    options.solver = sim_solver_find("sap");
    sim_error error;
    sim_world *w = sim_world_create(m, &options, &error);
    cr_assert_not_null(w, "%s", error.text);
    for (int k = 0; k < 10; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
        cr_expect(sim_world_info(w)->unsolved == 0 && sim_world_info(w)->nonconverged == 0, "step %d", k);
    }
    double approach = depth - rise_of_centre(w), hertz = 4.0 / 3 * E * sqrt(R) * pow(approach, 1.5);
    double force = pressing_force(w, options.step);
    cr_expect(sim_world_state(w)->ncontact > 50);
    cr_expect_float_eq(force / hertz, 1, 0.05, "%g N, by Hertz %g N", force, hertz);
    sim_world_free(w);
    sim_model_free(m);
}

/* A block comes to rest on a plane, carried by its nodes; every solver that takes it agrees. */
Test(soft, block_rests_on_a_plane_with_its_weight) {
    const char *solver[] = {"sap", "canal", "pgs", "nsn", "subadmm", "auto"};
    double settled[6];
    for (int k = 0; k < 6; k++) {
        sim_soft soft = sim_soft_default();
        soft.modulus = 2e4;
        soft.dissipation = 0.02;
        soft.thickness = 1e-3;
        soft.pose.p.z = 0.0205;
        sim_model *m = soft_box((const double[3]){0.04, 0.04, 0.04}, 0.02, -1, soft, (v3){0, 0, -9.81});
        sim_options options = sim_options_default();
        options.integrator = SIM_SYMPLECTIC_EULER;
        options.step = 5e-3;
        options.solver = sim_solver_find(solver[k]);
        sim_error error;
        sim_world *w = sim_world_create(m, &options, &error);
        cr_assert_not_null(w, "%s: %s", solver[k], error.text);
        run_world(w, 200);
        double weight = 9.81 * 1000 * pow(0.04, 3), force = pressing_force(w, options.step);
        cr_expect_float_eq(force / weight, 1, 1e-4, "%s: %g N of %g", solver[k], force, weight);
        settled[k] = sim_world_state(w)->q[2];
        cr_expect_float_eq(settled[k], settled[0], 1e-4, "%s: %g m, sap %g m", solver[k], settled[k], settled[0]);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* The sentence in which a world refuses a soft block. */
static void expect_refusal(const sim_options *options, const char *expected) {
    sim_soft soft = sim_soft_default();
    soft.modulus = 2e4;
    soft.thickness = 1e-3;
    sim_model *m = soft_box((const double[3]){0.04, 0.04, 0.04}, 0.04, -1, soft, (v3){0, 0, -9.81});
    sim_error error;
    sim_world *w = sim_world_create(m, options, &error);
    cr_assert_null(w);
    cr_expect(strstr(error.text, expected) != NULL, "%s", error.text);
    sim_model_free(m);
}

Test(soft, refuses_what_it_does_not_support_by_name) {
    sim_options options = sim_options_default();
    options.contacts = 0;
    options.integrator = SIM_RK4;
    expect_refusal(&options, "rk4 moves no soft bodies, as \"jelly\" is");
    options.integrator = SIM_MIDPOINT;
    options.sleep = 1;
    expect_refusal(&options, "do not sleep");
}
