#include "support.h"

#include "math/v3.h"
#include "support/worlds.h"

#include <criterion/criterion.h>
#include <math.h>

surface rough(double friction) { return (surface){.friction = friction, .stiffness = INFINITY}; }

yard yard_begin(sim_v3 gravity, surface all) {
    yard y = {.builder = sim_builder_create(), .options = sim_options_default()};
    sim_material material = sim_material_default();
    material.name = "all";
    material.friction = all.friction;
    material.stiffness = all.stiffness;
    material.dissipation = all.dissipation;
    material.restitution = all.restitution;
    sim_builder_gravity(y.builder, gravity);
    y.material = sim_builder_add_material(y.builder, &material);
    return y;
}

yard yard_begin_without_contacts(void) {
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(0));
    y.options.contacts = 0;
    y.tolerance = 1e-13;
    return y;
}

void yard_couple_tendons(yard *y, int first, int second, double ratio) {
    sim_equality e = sim_equality_default();
    e.type = SIM_TENDON_COUPLING;
    e.tendon[0] = first;
    e.tendon[1] = second;
    e.ratio = ratio;
    cr_assert_geq(sim_builder_add_equality(y->builder, &e), 0);
}

void yard_ground(yard *y) {
    sim_shape ground = sim_shape_default();
    ground.type = SIM_HALF_SPACE;
    ground.body = 0;
    ground.material = y->material;
    sim_builder_add_shape(y->builder, &ground);
}

int yard_add(yard *y, const char *name, sim_shape_type type, double a, double b, double c, double mass, sim_v3 at,
             sim_v3 v) {
    sim_shape shape = sim_shape_default();
    shape.type = type;
    shape.size[0] = a;
    shape.size[1] = b;
    shape.size[2] = c;
    shape.material = y->material;
    sim_body_def def = sim_body_default();
    double volume = sim_shape_inertia(&shape, 1).mass;
    def.name = name;
    def.inertia = sim_shape_inertia(&shape, mass / volume);
    def.q[0] = at.x;
    def.q[1] = at.y;
    def.q[2] = at.z;
    def.v[0] = v.x;
    def.v[1] = v.y;
    def.v[2] = v.z;
    shape.body = sim_builder_add_body(y->builder, &def);
    sim_builder_add_shape(y->builder, &shape);
    return shape.body;
}

void yard_open(yard *y, const char *solver, sim_integrator integrator, double step) {
    sim_error error = {0};
    y->model = sim_builder_finish(y->builder, &error);
    cr_assert(y->model, "%s", error.text);
    y->options.step = step;
    y->options.integrator = integrator;
    y->options.solver = solver ? sim_solver_find(solver) : NULL;
    cr_assert(!solver || y->options.solver, "no solver %s", solver);
    double option[SOLVER_OPTIONS];
    if (solver && !y->option && y->tolerance > 0) {
        set_solver(&y->options, solver, y->tolerance, option);
    } else {
        y->options.solver_option = y->option; /* NULL: as by default */
    }
    y->world = sim_world_create(y->model, &y->options, &error);
    cr_assert(y->world, "%s", error.text);
}

void yard_step(yard *y) {
    sim_error error = {0};
    cr_assert_eq(sim_world_step(y->world, &error), SIM_OK, "%s", error.text);
    y->unsolved += sim_world_info(y->world)->unsolved;
}

void yard_end(yard *y) {
    sim_world_free(y->world);
    sim_model_free(y->model);
}

v3 place_of(const yard *y, const char *body) {
    return sim_world_derived(y->world)->pose[sim_model_find_body(y->model, body)].p;
}

sim_motion motion_of(const yard *y, const char *body) {
    return sim_world_derived(y->world)->vel[sim_model_find_body(y->model, body)];
}

double deepest_overlap(yard *y) {
    const sim_contact *contact;
    int count;
    sim_error error = {0};
    double deepest = 0;
    cr_assert_eq(sim_world_contacts(y->world, &contact, &count, &error), SIM_OK, "%s", error.text);
    for (int k = 0; k < count; k++) {
        deepest = fmax(deepest, -contact[k].at.gap);
    }
    return deepest;
}

v3 impulse_on(const yard *y, const char *body) {
    int index = sim_model_find_body(y->model, body);
    const sim_state *state = sim_world_state(y->world);
    v3 sum = {0, 0, 0};
    for (int k = 0; k < state->ncontact; k++) {
        double sign = (state->contact[k].body_a == index) - (state->contact[k].body_b == index);
        sum = v3_axpy(sum, sign, state->impulse[k]);
    }
    return sum;
}

double energy_of(yard *y) {
    sim_energy e = sim_world_energy(y->world);
    return e.kinetic + e.potential;
}

yard yard_stack(const char *solver, int sleep, int ball) {
    static const char *const name[YARD_STACK] = {"box0", "box1", "box2", "box3"};
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(0.5));
    yard_ground(&y);
    for (int k = 0; k < YARD_STACK; k++) {
        yard_add(&y, name[k], SIM_BOX, 0.2, 0.2, 0.2, 1, v3_make(0, 0, 0.1 + 0.2 * k), v3_make(0, 0, 0));
    }
    yard_add(&y, "alone", SIM_BOX, 0.2, 0.2, 0.2, 1, v3_make(0, 2, 0.1), v3_make(0, 0, 0));
    if (ball) {
        yard_add(&y, "ball", SIM_SPHERE, 0.15, 0, 0, 10, v3_make(-4, 0.03, 0.15), v3_make(3, 0, 0));
    }
    y.options.sleep = sleep;
    yard_open(&y, solver, SIM_MIDPOINT, 1e-3);
    return y;
}
