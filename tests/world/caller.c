/* Actions of a program on a world while it runs: wrenches, snapshots, worlds in many threads. */
#include "math/spatial.h"
#include "support/container.h"
#include "support/models.h"
#include "support/worlds.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- wrenches ---- */

static const double one_time[] = {0};

/* A free body and an arm of two hinges; with a load on the body given, unless it is -1. */
static sim_model *arm_and_body(int loaded, const double *wrench) {
    sim_builder *b = sim_builder_create();
    sim_body_def def = sim_body_default();
    def.inertia = box_inertia(2, 0.1, 0.2, 0.3);
    def.inertia.com = v3_make(0.02, -0.03, 0.05);
    def.v[4] = 2;
    int body[3] = {sim_builder_add_body(b, &def)};
    for (int k = 1; k < 3; k++) {
        def.parent = k == 2 ? body[1] : 0;
        def.joint = SIM_HINGE;
        def.axis = k == 2 ? v3_make(0, 1, 0) : v3_make(0, 0, 1);
        def.placement.p = v3_make(0.3, 0, 0.1);
        body[k] = sim_builder_add_body(b, &def);
    }
    if (loaded >= 0) {
        sim_load load = {
            .name = "pull",
            .body = body[loaded],
            .dof = -1,
            .track = {.interpolation = SIM_HOLD, .keys = 1, .width = 6, .times = one_time, .values = wrench}};
        sim_builder_add_load(b, &load, body[loaded]);
    }
    sim_error error;
    sim_model *m = sim_builder_finish(b, &error);
    cr_assert_not_null(m, "%s", error.text);
    return m;
}

Test(caller, wrench_moves_bodies_as_a_load_with_the_same_bits) {
    static const double wrench[6] = {0.3, -0.2, 0.5, 1, 2, -3};
    for (int k = 0; k < 3 * SIM_INTEGRATORS; k++) {
        sim_model *loaded = arm_and_body(k % 3, wrench), *bare = arm_and_body(-1, NULL);
        sim_world *a = open_world(loaded, (sim_integrator)(k / 3), 1e-3, 1);
        sim_world *b = open_world(bare, (sim_integrator)(k / 3), 1e-3, 1);
        sim_world_wrenches(b)[1 + k % 3] =
            (sim_force){{wrench[0], wrench[1], wrench[2]}, {wrench[3], wrench[4], wrench[5]}};
        run_world(a, 100);
        run_world(b, 100);
        cr_expect(!memcmp(sim_world_state(a)->q, sim_world_state(b)->q, (size_t)bare->nq * sizeof(double)), "%s",
                  sim_integrator_name((sim_integrator)(k / 3)));
        sim_world_free(a);
        sim_world_free(b);
        sim_model_free(loaded);
        sim_model_free(bare);
    }
}

Test(caller, force_at_a_point_gives_the_power_and_the_momentum_of_mechanics) {
    sim_model *m = arm_and_body(-1, NULL);
    sim_world *w = open_world(m, SIM_MIDPOINT, 1e-4, 1);
    v3 f = {3, -1, 2};
    sim_point at = {1, {0.1, 0.2, -0.1}}, tip = {3, {0.4, 0, 0.1}};
    double work = 0;
    sim_energy before = sim_world_energy(w);
    for (int n = 0; n < 1000; n++) {
        memset(sim_world_wrenches(w), 0, (size_t)m->nbody * sizeof(sim_force));
        sim_world_push(w, at, (sim_force){{0, 0, 0}, f});
        sim_world_push(w, tip, (sim_force){{0, 0, 0}, v3_neg(f)});
        v3 p = sim_point_position(sim_world_derived(w), at), r = sim_point_position(sim_world_derived(w), tip);
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
        v3 gone = v3_sub(sim_point_position(sim_world_derived(w), at), p);
        v3 came = v3_sub(sim_point_position(sim_world_derived(w), tip), r);
        work += v3_dot(f, v3_sub(gone, came));
    }
    sim_energy after = sim_world_energy(w);
    double gained = after.kinetic + after.potential - before.kinetic - before.potential;
    cr_assert_gt(fabs(work), 0.1);
    cr_expect_float_eq(gained, work, 2e-3 * fabs(work), "gained %g J by %g J of work", gained, work);
    sim_world_free(w);
    sim_model_free(m);
}

/* A force on a body and the generalised force J' f accelerate alike. */
Test(caller, push_is_the_generalised_force_of_its_jacobian) {
    random_source r = {11};
    for (int k = 0; k < 20; k++) {
        sim_model *m = random_forest(&r, 12);
        sim_world *a = open_world(m, SIM_SYMPLECTIC_EULER, 1e-3, 1), *b = open_world(m, SIM_SYMPLECTIC_EULER, 1e-3, 1);
        double *q = malloc((size_t)m->nq * sizeof *q), *v = malloc((size_t)m->nv * sizeof *v);
        sim_state state = *sim_world_state(a);
        random_state(&r, m, q, v);
        state.q = q;
        state.v = v;
        cr_assert_eq(sim_world_set_state(a, &state, NULL), SIM_OK);
        cr_assert_eq(sim_world_set_state(b, &state, NULL), SIM_OK);
        int body = 1 + random_index(&r, m->nbody - 1);
        sim_point point = {body, random_unit(&r)};
        v3 f = random_unit(&r), moment = random_unit(&r);
        sim_world_push(a, point, (sim_force){moment, f});
        const sim_tree *t = &m->tree[m->body[body].tree];
        double *J = calloc(9 * (size_t)t->nv + 1, sizeof *J), *Jp = J + 6 * t->nv;
        sim_body_jacobian(sim_world_derived(b), body, J);
        sim_point_jacobian(sim_world_derived(b), point, Jp);
        for (int j = 0; j < t->nv; j++) {
            sim_world_applied(b)[t->v0 + j] = J[j] * moment.x + J[t->nv + j] * moment.y + J[2 * t->nv + j] * moment.z +
                                              Jp[j] * f.x + Jp[t->nv + j] * f.y + Jp[2 * t->nv + j] * f.z;
        }
        run_world(a, 1);
        run_world(b, 1);
        for (int j = 0; j < m->nv; j++) {
            double x = sim_world_state(a)->v[j], y = sim_world_state(b)->v[j];
            cr_expect_float_eq(x, y, 1e-11 * (1 + fabs(x)), "case %d, dof %d: %g", k, j, x - y);
        }
        free(J);
        free(q);
        free(v);
        sim_world_free(a);
        sim_world_free(b);
        sim_model_free(m);
    }
}

Test(caller, wrench_that_is_not_finite_fails_the_step_with_its_body) {
    sim_model *m = arm_and_body(-1, NULL);
    sim_world *w = open_world(m, SIM_MIDPOINT, 1e-3, 1);
    sim_error error;
    sim_world_wrenches(w)[2].lin.y = NAN;
    cr_expect_eq(sim_world_step(w, &error), SIM_FAILED);
    cr_expect_not_null(strstr(error.text, "the applied wrench"), "%s", error.text);
    cr_expect_not_null(strstr(error.text, m->body[2].name), "%s", error.text);
    sim_world_free(w);
    sim_model_free(m);
}

/* A joint carries the wrench of the caller and the weight. */
Test(caller, force_sensor_reads_the_wrench_that_its_joint_carries) {
    sim_builder *b = sim_builder_create();
    sim_builder_gravity(b, v3_make(0, 0, -10));
    sim_body_def def = sim_body_default();
    def.joint = SIM_HINGE;
    def.inertia = box_inertia(2, 0.1, 0.1, 0.1);
    sim_sensor s = sim_sensor_default();
    s.body = sim_builder_add_body(b, &def);
    s.type = SIM_SENSE_FORCE;
    s.name = "force";
    sim_builder_add_sensor(b, &s);
    sim_model *m = sim_builder_finish(b, NULL);
    sim_world *w = open_world(m, SIM_MIDPOINT, 1e-3, 1);
    sim_world_wrenches(w)[1].lin = v3_make(3, 0, 5);
    run_world(w, 1);
    const double *f = sim_world_sensors(w);
    cr_expect(fabs(f[0] + 3) < 1e-12 && fabs(f[1]) < 1e-12 && fabs(f[2] - 15) < 1e-12, "%g %g %g", f[0], f[1], f[2]);
    sim_world_free(w);
    sim_model_free(m);
}

/* ---- snapshots ---- */

static sim_world *clutter_world(sim_model **model, int sleep) {
    random_source r = {1};
    sim_options o = sim_options_default();
    o.step = 0.01;
    o.sleep = sleep;
    *model = *model ? *model : clutter_model(&r, 12, 1, INFINITY, o.step);
    sim_error error;
    sim_world *w = sim_world_create(*model, &o, &error);
    cr_assert_not_null(w, "%s", error.text);
    return w;
}

Test(caller, snapshot_goes_back_and_branches_with_the_same_bits) {
    for (int sleep = 0; sleep < 2; sleep++) {
        sim_error error;
        sim_model *m = NULL;
        sim_world *w = clutter_world(&m, sleep), *branch = clutter_world(&m, sleep);
        run_world(w, 60);
        sim_world_wrenches(w)[3].lin.z = 2;
        sim_snapshot *start = sim_snapshot_create(w, &error);
        cr_assert_not_null(start, "%s", error.text);
        cr_expect(sim_state_same(m, sim_world_state(w), sim_snapshot_state(start)));
        run_world(w, 40);
        sim_snapshot *end = sim_snapshot_create(w, &error);
        cr_expect(!sim_state_same(m, sim_snapshot_state(start), sim_snapshot_state(end)));
        /* back */
        cr_assert_eq(sim_world_set_state(w, sim_snapshot_state(start), &error), SIM_OK, "%s", error.text);
        run_world(w, 40);
        cr_expect(sim_state_same(m, sim_world_state(w), sim_snapshot_state(end)), "back, sleep %d", sleep);
        /* another world, and then on its own way */
        cr_assert_eq(sim_world_set_state(branch, sim_snapshot_state(start), &error), SIM_OK, "%s", error.text);
        run_world(branch, 40);
        cr_expect(sim_state_same(m, sim_world_state(branch), sim_snapshot_state(end)), "branch, sleep %d", sleep);
        sim_world_wrenches(branch)[3].lin.z = 3;
        run_world(branch, 1);
        run_world(w, 1);
        cr_expect(!sim_state_same(m, sim_world_state(branch), sim_world_state(w)));
        cr_assert_eq(sim_snapshot_take(end, branch, &error), SIM_OK);
        cr_expect(sim_state_same(m, sim_world_state(branch), sim_snapshot_state(end)));
        sim_snapshot_free(start);
        sim_snapshot_free(end);
        sim_world_free(branch);
        sim_world_free(w);
        sim_model_free(m);
    }
    sim_snapshot_free(NULL);
}

Test(caller, states_differ_by_any_one_number) {
    sim_model *m = NULL;
    sim_world *w = clutter_world(&m, 1);
    run_world(w, 30);
    sim_snapshot *s = sim_snapshot_create(w, NULL);
    sim_state *b = (sim_state *)sim_snapshot_state(s);
    double *number[] = {&b->time,
                        b->q + 3,
                        b->v + 2,
                        b->a + 1,
                        &b->contact[0].at.gap,
                        &b->impulse[1].x,
                        &b->impulse_trend[0].y,
                        b->joint_impulse,
                        &b->applied[4],
                        &b->wrench[2].ang.y,
                        b->held,
                        b->trail + 5};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
        double kept = *number[k];
        cr_expect(sim_state_same(m, sim_world_state(w), b));
        *number[k] = kept + 1e-9;
        cr_expect(!sim_state_same(m, sim_world_state(w), b), "number %zu", k);
        *number[k] = kept;
    }
    b->rest[0].steps++;
    cr_expect(!sim_state_same(m, sim_world_state(w), b));
    sim_model *other = NULL;
    sim_world *stranger = clutter_world(&other, 0);
    sim_error error;
    cr_expect_eq(sim_snapshot_take(s, stranger, &error), SIM_BAD_INPUT);
    sim_snapshot_free(s);
    sim_world_free(stranger);
    sim_model_free(other);
    sim_world_free(w);
    sim_model_free(m);
}

/* ---- worlds in many threads ---- */

enum { THREADS = 4, STEPS = 60 };

typedef struct runner {
    sim_model *model;
    sim_world *world;
    sim_status status;
} runner;

/* Creates, pushes, branches and steps a world of its own. */
static void *run_own_world(void *context) {
    runner *r = context;
    sim_options o = sim_options_default();
    o.step = 0.01;
    r->world = sim_world_create(r->model, &o, NULL);
    r->status = r->world ? SIM_OK : SIM_NO_RESOURCE;
    for (int n = 0; n < STEPS && !r->status; n++) {
        sim_world_wrenches(r->world)[1 + n % 5].lin.z = n % 7;
        r->status = sim_world_step(r->world, NULL);
        if (n == STEPS / 2 && !r->status) {
            sim_snapshot *s = sim_snapshot_create(r->world, NULL);
            r->status = s ? sim_world_step(r->world, NULL) : SIM_NO_RESOURCE;
            r->status = r->status ? r->status : sim_world_set_state(r->world, sim_snapshot_state(s), NULL);
            sim_snapshot_free(s);
        }
    }
    return NULL;
}

Test(caller, worlds_that_share_a_model_step_in_as_many_threads_with_the_same_bits) {
    random_source random = {1};
    sim_model *m = clutter_model(&random, 12, 1, INFINITY, 0.01);
    runner alone = {.model = m}, all[THREADS];
    pthread_t thread[THREADS];
    run_own_world(&alone);
    cr_assert_eq(alone.status, SIM_OK);
    for (int k = 0; k < THREADS; k++) {
        all[k] = (runner){.model = m};
        cr_assert_eq(pthread_create(&thread[k], NULL, run_own_world, &all[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) {
        pthread_join(thread[k], NULL);
        cr_assert_eq(all[k].status, SIM_OK);
        cr_expect(sim_state_same(m, sim_world_state(alone.world), sim_world_state(all[k].world)), "thread %d", k);
        sim_world_free(all[k].world);
    }
    sim_world_free(alone.world);
    sim_model_free(m);
}
