/* Energy of springs of ball joints, dofs without mass, and halves of solves with several branches. */
#include "math/v3.h"
#include "support/models.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static sim_model *finish(sim_builder *builder) {
    sim_error error = {0};
    sim_model *m = sim_builder_finish(builder, &error);
    cr_assert_not_null(m, "%s", error.text);
    return m;
}

/* A ball joint with the spring k, without gravity. */
static sim_model *ball_on_spring(double k, double angle) {
    sim_builder *builder = sim_builder_create();
    sim_body_def def = sim_body_default();
    def.joint = SIM_BALL;
    def.stiffness[0] = def.stiffness[1] = def.stiffness[2] = k;
    def.q[0] = cos(angle / 2);
    def.q[1] = sin(angle / 2);
    def.inertia = box_inertia(1.3, 0.1, 0.2, 0.3);
    sim_builder_gravity(builder, (sim_v3){0, 0, 0});
    sim_builder_add_body(builder, &def);
    return finish(builder);
}

Test(energy, of_a_ball_spring_is_half_stiffness_times_angle_squared) {
    const double k = 7;
    random_source r = {3};
    sim_model *m = ball_on_spring(k, 0);
    sim_derived *d = sim_derived_create(m, NULL);
    for (int n = 0; n < 100; n++) {
        double angle = random_uniform(&r, 0, 3);
        sim_v3 axis = random_unit(&r);
        const double s = sin(angle / 2), q[4] = {cos(angle / 2), s * axis.x, s * axis.y, s * axis.z};
        sim_kinematics(d, sim_all(m), q);
        double energy = sim_potential_energy(d, sim_all(m), q);
        cr_expect_float_eq(energy, k * angle * angle / 2, 1e-12, "%g rad: %g J", angle, energy);
    }
    sim_derived_free(d);
    sim_model_free(m);
}

/* A spring that is wound up and let go gives all its energy to the motion. */
Test(energy, of_a_ball_spring_becomes_that_of_its_motion) {
    const double k = 7, angle = 0.3;
    sim_model *m = ball_on_spring(k, angle);
    sim_options options = sim_options_default();
    options.step = 1e-3;
    sim_world *w = sim_world_create(m, &options, NULL);
    cr_assert_not_null(w);
    double most = 0;
    for (int n = 0; n < 1000; n++) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
        most = fmax(most, sim_world_energy(w).kinetic);
    }
    cr_expect_float_eq(most, k * angle * angle / 2, 1e-4 * most, "%g J of %g J", most, k * angle * angle / 2);
    sim_world_free(w);
    sim_model_free(m);
}

/* A free body on the spring k with terms, without gravity, turned and moved away from where it is slack. */
static sim_model *free_on_spring(double k, const double terms[2]) {
    sim_builder *builder = sim_builder_create();
    sim_body_def def = sim_body_default();
    for (int j = 0; j < 6; j++) {
        def.stiffness[j] = j < 3 ? 2 * k : k;
    }
    def.spring[0] = terms[0];
    def.spring[1] = terms[1];
    def.q[0] = 0.4;
    def.q[3] = def.q[5] = sqrt(0.5);
    def.inertia = box_inertia(1.3, 0.1, 0.2, 0.3);
    sim_builder_gravity(builder, (sim_v3){0, 0, 0});
    sim_builder_add_body(builder, &def);
    return finish(builder);
}

/* r^2 k / 2 + a r^3 / 3 + b r^4 / 4 of the way and of the angle. */
Test(energy, of_a_free_spring_is_that_of_its_way_and_its_angle) {
    const double k = 7, terms[2] = {-3, 11}, rest[4] = {sqrt(0.5), 0, sqrt(0.5), 0};
    random_source r = {4};
    sim_model *m = free_on_spring(k, terms);
    sim_derived *d = sim_derived_create(m, NULL);
    for (int n = 0; n < 100; n++) {
        double angle = random_uniform(&r, 0, 3), way = random_uniform(&r, 0, 2);
        sim_v3 axis = random_unit(&r), along = v3_scale(way, random_unit(&r));
        double s = sin(angle / 2);
        sim_quat turn = quat_product((sim_quat){rest[0], rest[1], rest[2], rest[3]},
                                     (sim_quat){cos(angle / 2), s * axis.x, s * axis.y, s * axis.z});
        const double q[7] = {0.4 + along.x, along.y, along.z, turn.w, turn.x, turn.y, turn.z};
        sim_kinematics(d, sim_all(m), q);
        double energy = sim_potential_energy(d, sim_all(m), q), due = 0;
        for (int of = 0; of < 2; of++) {
            double x = of ? angle : way, stiffness = of ? k : 2 * k;
            due += x * x * (stiffness / 2 + x * (terms[0] / 3 + x * terms[1] / 4));
        }
        cr_expect_float_eq(energy, due, 1e-12 * fmax(fabs(due), 1), "%g rad, %g m: %.17g J", angle, way, energy);
    }
    sim_derived_free(d);
    sim_model_free(m);
}

/* Springs of ball and free joints with terms conserve energy under the midpoint rule, by the square of the step: so
 * their force is the gradient of their energy in every direction. */
static double worst_drift(bool ball, double step) {
    const double terms[2] = {-3, 11};
    sim_model *m = ball ? ball_on_spring(7, 0) : free_on_spring(7, terms);
    for (int j = 0; j < m->nv; j++) {
        memcpy(((sim_dof *)m->dof)[j].spring, terms, sizeof terms);
    }
    sim_options options = sim_options_default();
    options.step = step;
    options.tolerance = 1e-14;
    sim_world *w = sim_world_create(m, &options, NULL);
    sim_state at = *sim_world_state(w);
    double v[6] = {0.9, -0.6, 0.4, 2, -3, 4}, drift = 0;
    at.v = ball ? v + 3 : v;
    cr_assert_eq(sim_world_set_state(w, &at, NULL), SIM_OK);
    double start = sim_world_energy(w).kinetic + sim_world_energy(w).potential;
    for (int n = 0; n < (int)(1 / step + 0.5); n++) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
        sim_energy now = sim_world_energy(w);
        drift = fmax(drift, fabs(now.kinetic + now.potential - start));
    }
    sim_world_free(w);
    sim_model_free(m);
    return drift / start;
}

Test(energy, of_springs_in_space_stays_with_their_motion_to_second_order) {
    for (int ball = 0; ball < 2; ball++) {
        double wide = worst_drift(ball, 2e-3), narrow = worst_drift(ball, 5e-4);
        cr_expect(wide < 1e-3 && narrow < wide / 14, "%d: %g of the energy, then %g", ball, wide, narrow);
    }
}

/* A ball joint, and on it a hinge that carries the only mass: its axis is an axis of the ball joint, too.  The axis is
 * far from those of the ball joint, and the inertia round, so that all other pivots are known to some eps. */
static sim_model *ball_and_hinge(random_source *r, double mass_between) {
    sim_builder *builder = sim_builder_create();
    sim_body_def ball = sim_body_default(), hinge = ball;
    ball.joint = SIM_BALL;
    ball.inertia = mass_between > 0 ? box_inertia(mass_between, 0.1, 0.1, 0.1) : ball.inertia;
    hinge.joint = SIM_HINGE;
    hinge.parent = sim_builder_add_body(builder, &ball);
    hinge.axis = (sim_v3){random_uniform(r, 1, 2), random_uniform(r, 1, 2), random_uniform(r, 1, 2)};
    hinge.inertia = box_inertia(random_uniform(r, 0.1, 3), 0.1, 0.12, 0.14);
    sim_builder_add_body(builder, &hinge);
    return finish(builder);
}

static int massless_dof_of(const sim_model *m, random_source *r) {
    double q[8], v[8];
    int dof = -2;
    random_state(r, m, q, v);
    sim_derived *d = sim_derived_create(m, NULL);
    cr_assert_eq(sim_massless_dof(d, q, &dof), SIM_OK);
    sim_derived_free(d);
    return dof;
}

Test(massless, dofs_of_which_rounding_leaves_some_inertia_are_found) {
    random_source r = {9};
    for (int k = 0; k < 300; k++) {
        sim_model *m = ball_and_hinge(&r, 0);
        cr_expect_geq(massless_dof_of(m, &r), 0, "model %d", k);
        sim_model_free(m);
    }
}

Test(massless, dofs_that_move_a_billionth_of_the_mass_are_none) {
    random_source r = {9};
    for (int k = 0; k < 300; k++) {
        sim_model *m = ball_and_hinge(&r, 1e-9);
        cr_expect_eq(massless_dof_of(m, &r), -1, "model %d", k);
        sim_model_free(m);
    }
}

/* ---- half solves ---- */

/* X A^-1 X' of rows that reach every branch, by the two halves and by whole solves, relative to the largest. */
static double half_error(sim_model *m, random_source *r, bool articulated) {
    enum { ROWS = 6 };
    size_t n = (size_t)m->nv;
    sim_range all = sim_all(m), columns = {0, m->nv};
    double *q = calloc((size_t)m->nq + n, sizeof *q), *X = calloc(2 * ROWS * n, sizeof *X), *Y = X + ROWS * n;
    double *L = calloc((size_t)m->nl + n, sizeof *L), *root = L + m->nl;
    sim_derived *d = sim_derived_create(m, NULL);
    random_state(r, m, q, q + m->nq);
    sim_kinematics(d, all, q);
    sim_articulated_factor(d, all, NULL, NULL);
    sim_crba(d, all, NULL, NULL, L);
    sim_ltdl(m, all, L);
    for (int j = 0; j < m->nv; j++) {
        root[j] = sqrt(articulated ? d->Dinv[j] : L[m->dof[j].row + m->dof[j].depth - 1]);
    }
    for (size_t k = 0; k < ROWS * n; k++) {
        X[k] = Y[k] = random_normal(r);
    }
    double *half = malloc(ROWS * n * sizeof *half);
    memcpy(half, X, ROWS * n * sizeof *half);
    for (int a = 0; a < ROWS; a++) {
        sim_ltdl_solve(m, all, L, Y + (size_t)a * n);
    }
    if (articulated) {
        sim_articulated_half(d, all, root, ROWS, columns, half);
    } else {
        sim_ltdl_half(m, all, L, root, ROWS, columns, half);
    }
    double worst = 0, most = 0;
    for (size_t a = 0; a < ROWS; a++) {
        for (size_t b = 0; b < ROWS; b++) {
            double whole = 0, product = 0;
            for (size_t j = 0; j < n; j++) {
                whole += X[a * n + j] * Y[b * n + j];
                product += half[a * n + j] * half[b * n + j];
            }
            worst = fmax(worst, fabs(whole - product));
            most = fmax(most, fabs(whole));
        }
    }
    sim_derived_free(d);
    free(half);
    free(q);
    free(X);
    free(L);
    return worst / most;
}

Test(halves, give_the_inverse_between_forces_on_every_branch_at_once) {
    random_source r = {17};
    double worst = 0;
    for (int k = 0; k < 200; k++) {
        sim_model *m = random_forest(&r, 2 + k % 40);
        worst = fmax(worst, fmax(half_error(m, &r, false), half_error(m, &r, true)));
        sim_model_free(m);
    }
    cr_expect_lt(worst, 1e-10, "%g", worst);
}
