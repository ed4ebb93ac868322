/* Energy of springs of ball joints, dofs without mass, and halves of solves with several branches. */
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
