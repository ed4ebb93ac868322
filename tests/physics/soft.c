/* Soft bodies: momentum, energy, deflection of a beam, gravity, order of a mesh. */
#include "support/models.h"
#include "support/share.h"
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
        for (int k = 0; k < part_of(1000); k++) {
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
    v3 exact = place_after(SIM_MIDPOINT, part_of(2000));
    for (int k = 0; k < 4; k++) {
        double coarse = v3_norm(v3_sub(place_after(scheme[k], part_of(200)), exact));
        double fine = v3_norm(v3_sub(place_after(scheme[k], part_of(400)), exact));
        double order = log2(coarse / fine), expected = scheme[k] == SIM_MIDPOINT ? 2 : 1;
        cr_expect(fabs(order - expected) < 0.15 || is_part(), "scheme %d: errors %g, %g: order %g", k, coarse, fine,
                  order);
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

/* Tip deflection over that of a slender beam, rho g A L^4 / (8 E I), with cells through its height and width. */
static double tip_of_beam(int cells, int wide, double poisson) {
    const double length = 0.2, height = 0.01, modulus = 1e10; /* Pa: soft narrow ones would buckle sideways */
    sim_soft soft = sim_soft_default();
    soft.modulus = modulus;
    soft.poisson = poisson;
    sim_model *m = soft_box((const double[3]){length, wide * height / cells, height}, height / cells,
                            -length / 2 + 1e-9, soft, (v3){0, 0, -9.81});
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
        k[mesh] = 1 / tip_of_beam(1 << mesh, 1 << mesh, 0.3);
    }
    double ratio = (k[0] - k[1]) / (k[1] - k[2]), order = log2(ratio), limit = k[2] - (k[1] - k[2]) / (ratio - 1);
    cr_expect_float_eq(order, 2, 0.2, "order %g", order);
    cr_expect_float_eq(limit, 1, 0.02, "stiffness %g, %g, %g: limit %g of the beam's", k[0], k[1], k[2], limit);
}

/* A narrow one, of which fine meshes are small: the last is within 2 % of it, and the excess falls with order 2.  A part of
 * the run has one mesh. */
Test(soft, cantilever_of_fine_cells_is_a_slender_beam) {
    double over[3];
    for (int mesh = 0; mesh < part_of(3); mesh++) {
        over[mesh] = 1 / tip_of_beam(4 << mesh, 1, 0) - 1;
    }
    if (is_part()) {
        return;
    }
    double order = log2((over[0] - over[1]) / (over[1] - over[2]));
    cr_expect_float_eq(order, 2, 0.2, "order %g", order);
    cr_expect_lt(fabs(over[2]), 0.02, "stiffer than the beam by %g, %g, %g", over[0], over[1], over[2]);
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
    for (int k = 0; k < part_of(10); k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
        cr_expect(sim_world_info(w)->unsolved == 0 && sim_world_info(w)->nonconverged == 0, "step %d", k);
    }
    double approach = depth - rise_of_centre(w), hertz = 4.0 / 3 * E * sqrt(R) * pow(approach, 1.5);
    double force = pressing_force(w, options.step);
    cr_expect(sim_world_state(w)->ncontact > 50);
    cr_expect(fabs(force / hertz - 1) < 0.05 || is_part(), "%g N, by Hertz %g N", force, hertz);
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
        run_world(w, part_of(200));
        double weight = 9.81 * 1000 * pow(0.04, 3), force = pressing_force(w, options.step);
        cr_expect(fabs(force / weight - 1) < 1e-4 || is_part(), "%s: %g N of %g", solver[k], force, weight);
        settled[k] = sim_world_state(w)->q[2];
        cr_expect_float_eq(settled[k], settled[0], 1e-4, "%s: %g m, sap %g m", solver[k], settled[k], settled[0]);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* ---- soft on soft ---- */

/* A soft solid of a shape, with its nodes moved by `bend`; those below z = `held`, in its frame, do not move. */
typedef v3 bend_function(v3 x);

static void add_solid(sim_builder *builder, sim_shape_type type, const double size[3], double edge, sim_soft soft,
                      double held, bend_function *bend) {
    sim_shape shape = sim_shape_default();
    sim_soft_mesh tets;
    sim_error error;
    shape.type = type;
    memcpy(shape.size, size, sizeof shape.size);
    cr_assert_eq(sim_shape_soft_mesh(&shape, edge, &tets, &error), SIM_OK, "%s", error.text);
    bool *fixed = calloc((size_t)tets.nnode, sizeof *fixed);
    for (int n = 0; n < tets.nnode; n++) {
        tets.node[n] = bend ? bend(tets.node[n]) : tets.node[n];
        fixed[n] = tets.node[n].z < held;
    }
    soft.nnode = tets.nnode;
    soft.node = tets.node;
    soft.ntet = tets.ntet;
    soft.tet = (const int(*)[4])tets.tet;
    soft.held = fixed;
    cr_assert(sim_builder_add_soft(builder, &soft) >= 0);
    free(fixed);
    sim_soft_mesh_free(&tets);
}

static sim_soft rubber(const char *name, double z) {
    sim_soft soft = sim_soft_default();
    soft.name = name;
    soft.modulus = 5e4;
    soft.dissipation = 0.02;
    soft.thickness = 1e-3;
    soft.pose.p.z = z;
    return soft;
}

static sim_world *open_soft(sim_builder *builder, const char *solver, double step, sim_model **m) {
    sim_error error;
    *m = sim_builder_finish(builder, &error);
    cr_assert_not_null(*m, "%s", error.text);
    sim_options options = sim_options_default();
    options.integrator = SIM_SYMPLECTIC_EULER;
    options.step = step;
    options.solver = sim_solver_find(solver);
    sim_world *w = sim_world_create(*m, &options, &error);
    cr_assert_not_null(w, "%s", error.text);
    return w;
}

/* The soft body of a side of a contact, -1: none. */
static int soft_of(const sim_model *m, int body) {
    for (int k = 0; k < m->nsoft; k++) {
        if (body > m->soft[k].body && body <= m->soft[k].body + m->soft[k].nnode) {
            return k;
        }
    }
    return -1;
}

static bool is_between_softs(const sim_model *m, const sim_contact *c) {
    return soft_of(m, c->body_a) >= 0 && soft_of(m, c->body_b) >= 0;
}

/* Of two blocks, one on the other, each joint carries what is above it; contacts keep their names. */
Test(soft, blocks_rest_on_each_other_with_their_weight) {
    const char *solver[] = {"sap", "nsn", "auto"};
    for (int k = 0; k < 3; k++) {
        sim_model *m;
        sim_builder *builder = sim_builder_create();
        sim_builder_gravity(builder, (v3){0, 0, -9.81});
        add_solid(builder, SIM_BOX, (const double[3]){0.04, 0.04, 0.04}, 0.02, rubber("low", 0.021), -1, NULL);
        add_solid(builder, SIM_BOX, (const double[3]){0.03, 0.03, 0.03}, 0.015, rubber("high", 0.0585), -1, NULL);
        sim_shape plane = sim_shape_default();
        plane.type = SIM_HALF_SPACE;
        sim_builder_add_shape(builder, &plane);
        sim_world *w = open_soft(builder, solver[k], 5e-3, &m);
        run_world(w, part_of(199));
        const sim_state *now = sim_world_state(w);
        int count = now->ncontact;
        uint64_t name[200];
        for (int i = 0; i < count; i++) {
            name[i] = now->contact[i].at.feature;
        }
        run_world(w, 1);
        now = sim_world_state(w);
        double between = 0, ground = 0, high = 9.81 * 1000 * pow(0.03, 3), low = 9.81 * 1000 * pow(0.04, 3);
        cr_expect(now->ncontact == count || is_part());
        for (int i = 0; i < now->ncontact; i++) {
            cr_expect(now->contact[i].at.feature == name[i] || is_part(), "%s: contact %d has another name", solver[k],
                      i);
            bool soft = is_between_softs(m, &now->contact[i]);
            *(soft ? &between : &ground) += fabs(now->impulse[i].z) / 5e-3;
        }
        cr_expect(fabs(between / high - 1) < 1e-4 || is_part(), "%s: %g N of %g", solver[k], between, high);
        cr_expect(fabs(ground / (high + low) - 1) < 1e-4 || is_part(), "%s: %g N of %g", solver[k], ground, high + low);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* Two balls without friction that meet off centre: the change of angular momentum over m v r. */
static double turn_of_meeting_balls(double step) {
    sim_model *m;
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (v3){0, 0, 0});
    sim_material smooth = sim_material_default();
    smooth.friction = 0;
    int material = sim_builder_add_material(builder, &smooth);
    for (int k = 0; k < 2; k++) {
        sim_soft ball = rubber(k ? "right" : "left", 0);
        ball.pose.p = (v3){k ? 0.043 : -0.043, k ? 0.01 : 0, k ? 0.007 : 0};
        ball.v.x = k ? -1 : 1;
        ball.material = material;
        add_solid(builder, SIM_SPHERE, (const double[3]){0.04, 0, 0}, 0.02, ball, -1, NULL);
    }
    sim_world *w = open_soft(builder, "sap", step, &m);
    sim_force before = sim_world_momentum(w);
    double mass = sim_world_energy(w).kinetic, energy = total(w); /* of one ball, at 1 m/s */
    int most = 0, steps = (int)lround(0.06 / step);
    for (int k = 0; k < steps; k++) {
        run_world(w, 1);
        int count = sim_world_state(w)->ncontact;
        most = count > most ? count : most;
        cr_expect_eq(sim_world_info(w)->unsolved, 0, "step %d", k);
    }
    sim_force after = sim_world_momentum(w);
    cr_expect(most >= 2, "%d contacts", most);
    cr_expect(v3_norm(v3_sub(after.lin, before.lin)) < 1e-12 * mass, "%g", v3_norm(v3_sub(after.lin, before.lin)));
    cr_expect_lt(total(w), energy);
    cr_expect_eq(sim_world_state(w)->ncontact, 0);
    cr_expect_lt(sim_world_state(w)->q[0] - m->q_initial[0], 0.06, "the left ball passed the right one");
    sim_world_free(w);
    sim_model_free(m);
    return v3_norm(v3_sub(after.ang, before.ang)) / (mass * 0.04);
}

/* Linear momentum to rounding, angular momentum with the order of the scheme. */
Test(soft, balls_that_meet_keep_their_momentum) {
    double coarse = turn_of_meeting_balls(2e-3), fine = is_part() ? 0 : turn_of_meeting_balls(1e-3);
    cr_expect(fine < coarse / 1.5, "angular momentum changes by %g, with half the step by %g", coarse, fine);
}

/* A strip of 0.2 m bent to a U that lies on its side: the lower arm is held, the upper one falls on it. */
static v3 bend_to_u(v3 x) {
    const double R = 0.02, half = 0.5 * 3.141592653589793 * R;
    double s = x.x, r = R + x.z;
    if (fabs(s) < half) {
        return (v3){-r * cos(s / R), x.y, r * sin(s / R)};
    }
    return (v3){fabs(s) - half, x.y, s > 0 ? r : -r};
}

Test(soft, strip_that_folds_does_not_pass_through_itself) {
    sim_model *m;
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (v3){0, 0, -9.81});
    sim_soft strip = rubber("strip", 0);
    strip.modulus = 2e4;
    add_solid(builder, SIM_BOX, (const double[3]){0.2, 0.016, 0.006}, 0.008, strip, -0.015, bend_to_u);
    sim_world *w = open_soft(builder, "sap", 4e-3, &m);
    const sim_soft *s = &m->soft[0];
    int most = 0;
    for (int k = 0; k < 80; k++) {
        run_world(w, 1);
        const sim_state *now = sim_world_state(w);
        most = now->ncontact > most ? now->ncontact : most;
        for (int n = 0; n < s->nnode; n++) { /* the inner side of the lower arm is at -0.017 */
            const sim_body *b = &m->body[s->body + 1 + n];
            double z = b->nv ? now->q[b->q0 + 2] : 0;
            cr_assert(!b->nv || s->node[n].x < 0 || z > -0.017, "step %d: node %d at %g", k, n, z);
        }
        cr_assert_eq(sim_world_info(w)->unsolved, 0, "step %d", k);
    }
    cr_expect(most > 5, "%d contacts", most);
    sim_world_free(w);
    sim_model_free(m);
}

/* A bar with its ridge up and nodes far apart, and one with its ridge down across it. */
static v3 turn_by_45(v3 x) { return (v3){x.x, (x.y - x.z) * sqrt(0.5), (x.y + x.z) * sqrt(0.5)}; }

Test(soft, ridges_that_cross_between_their_nodes_stop_each_other) {
    sim_model *m;
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (v3){0, 0, 0});
    sim_soft low = rubber("low", 0), high = rubber("high", 0.035);
    high.pose.R = (sim_m3){{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
    high.v.z = -1;
    low.modulus = high.modulus = 1e6;
    high.pose.p.x = high.pose.p.y = 0.004;
    add_solid(builder, SIM_BOX, (const double[3]){0.1, 0.02, 0.02}, 0.02, low, 1, turn_by_45);
    add_solid(builder, SIM_BOX, (const double[3]){0.1, 0.02, 0.02}, 0.02, high, -1, turn_by_45);
    sim_world *w = open_soft(builder, "sap", 2e-3, &m);
    bool edges = false;
    for (int k = 0; k < 20; k++) {
        run_world(w, 1);
        const sim_state *now = sim_world_state(w);
        for (int i = 0; i < now->ncontact; i++) {
            edges |= now->contact[i].at.feature >> 62 == 2 && now->impulse[i].z != 0;
        }
    }
    double mass = 0.1 * 0.02 * 0.02 * 1000;
    cr_expect(edges, "no two edges touched");
    cr_expect(sim_world_momentum(w).lin.z > -0.2 * mass, "%g m/s", sim_world_momentum(w).lin.z / mass);
    sim_world_free(w);
    sim_model_free(m);
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
