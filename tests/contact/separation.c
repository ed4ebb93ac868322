/* Bodies that strike at long steps end apart: what remains of overlaps is what the law promised. */
#include "contact/island/island.h"
#include "math/v3.h"
#include "support.h"
#include "support/problems.h"
#include "support/share.h"
#include <sim/method.h>
#include <sim/scene.h>

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const double RADIUS = 0.0866; /* m, of the balls around the boxes: half the diagonal of 10 cm */
static const double RELATIVE =
    0.003; /* of it: overlap, and shift, that separation leaves (world/contact/separation.c) */

/* Forty balls of 5 cm and boxes of 10 cm that fall into a container in the first second, at 10 ms: at up to 3 m/s they
 * move by 3 cm a step.  They start apart. */
static sim_scene *load_fall(const char *solver, uint64_t seed) {
    const char *set[] = {"instances/0/repeat/counts/2=5",
                         "instances/1/repeat/counts/2=5",
                         "instances/0/repeat/spacing/2=0.3",
                         "instances/1/repeat/spacing/2=0.3",
                         "instances/1/pose/position/2=0.21",
                         "world/step=0.01",
                         solver};
    sim_scene_overrides overrides = {.count = 7, .set = set, .seed = &seed};
    sim_error error = {0};
    sim_scene *scene = sim_scene_load("scenes/bench/clutter.json", &overrides, NULL, &error);
    cr_assert(scene, "%s", error.text);
    return scene;
}

static double deepest_of(sim_world *w) {
    const sim_contact *contact;
    int count;
    sim_error error;
    double depth = 0;
    cr_assert_eq(sim_world_contacts(w, &contact, &count, &error), SIM_OK);
    for (int k = 0; k < count; k++) {
        depth = fmax(depth, -contact[k].at.gap);
    }
    return depth;
}

/* Two tolerances remain, and once more what a shift of one body pushes into a third. */
Test(separation, falls_end_steps_with_the_overlap_of_the_law) {
    static const char *const solver[] = {"world/solver=\"auto\"", "world/solver=\"sap\""};
    for (int k = 0; k < 6; k += is_part() ? 3 : 1) {
        sim_scene *scene = load_fall(solver[k / 3], (uint64_t)(k % 3));
        sim_error error = {0};
        sim_world *w = sim_world_create(scene->model, &scene->options, &error);
        cr_assert(w, "%s", error.text);
        double worst = 0, promised = 0, deepest = 0;
        while (sim_world_state(w)->time < 1) {
            cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
            double depth = deepest_of(w);
            promised = sim_world_info(w)->certificate.penetration;
            worst = fmax(worst, depth - promised);
            deepest = fmax(deepest, depth);
        }
        cr_log_warn("%s, seed %d: %.2g m at most, %.2g m beyond the law", solver[k / 3], k % 3, deepest, worst);
        cr_expect_lt(worst, 3 * RELATIVE * RADIUS, "%s, seed %d: %g m", solver[k / 3], k % 3, worst);
        sim_world_free(w);
        sim_scene_free(scene);
    }
}

/* Of 120 falls three overlap by 1 mm or more, and half by less than 0.65 mm; with contacts that took their stiffness from
 * the loads of the step before 118 did. */
Test(separation, falls_overlap_by_less_than_a_millimetre_at_10_ms) {
    enum { FALLS = 12, MAX_DEEP = 3 };
    int deep = 0;
    for (int k = 0; k < part_of(FALLS); k++) {
        sim_scene *scene = load_fall("world/solver=\"auto\"", (uint64_t)k);
        sim_error error = {0};
        sim_world *w = sim_world_create(scene->model, &scene->options, &error);
        cr_assert(w, "%s", error.text);
        double deepest = 0;
        while (sim_world_state(w)->time < 1) {
            cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
            deepest = fmax(deepest, deepest_of(w));
        }
        deep += deepest > 1e-3;
        sim_world_free(w);
        sim_scene_free(scene);
    }
    cr_assert_leq(deep, MAX_DEEP, "%d of %d falls", deep, FALLS);
}

static int add_bar(yard *y, const char *name, v3 at, v3 v, v3 spin) {
    sim_shape shape = sim_shape_default();
    shape.type = SIM_BOX;
    shape.size[0] = 1;
    shape.size[1] = shape.size[2] = 0.1;
    shape.material = y->material;
    sim_body_def def = sim_body_default();
    const double rates[6] = {v.x, v.y, v.z, spin.x, spin.y, spin.z};
    def.name = name;
    def.inertia = sim_shape_inertia(&shape, 100);
    def.q[0] = at.x;
    def.q[1] = at.y;
    def.q[2] = at.z;
    memcpy(def.v, rates, sizeof rates);
    shape.body = sim_builder_add_body(y->builder, &def);
    sim_builder_add_shape(y->builder, &shape);
    return shape.body;
}

/* Bars of 1 m that spin at 30 rad/s, 0.3 rad a step, and meet in space: a shift moves no common centre of mass, and no
 * velocity. */
Test(separation, keeps_momentum_and_centre_of_mass) {
    yard y = yard_begin(v3_make(0, 0, 0), rough(0.3));
    add_bar(&y, "a", v3_make(0, 0, 0), v3_make(2, 0, 0), v3_make(0, 0, 30));
    add_bar(&y, "b", v3_make(0.9, 0.3, 0), v3_make(-2, 0, 0), v3_make(3, 0, 20));
    yard_open(&y, "auto", SIM_MIDPOINT, 0.01);
    double deepest = 0;
    int strikes = 0;
    v3 start = v3_scale(0.5, v3_add(place_of(&y, "a"), place_of(&y, "b")));
    for (int k = 0; k < 100; k++) {
        yard_step(&y);
        deepest = fmax(deepest, deepest_overlap(&y) - sim_world_info(y.world)->certificate.penetration);
        strikes += v3_norm(impulse_on(&y, "a")) > 0;
    }
    v3 sum = v3_add(motion_of(&y, "a").lin, motion_of(&y, "b").lin);
    v3 centre = v3_scale(0.5, v3_add(place_of(&y, "a"), place_of(&y, "b")));
    cr_assert_gt(strikes, 0);
    cr_assert_lt(v3_norm(sum), 1e-12, "%g m/s", v3_norm(sum));
    cr_assert_lt(v3_norm(v3_sub(centre, start)), 1e-12, "moved %g m", v3_norm(v3_sub(centre, start)));
    cr_assert_lt(deepest, 3 * RELATIVE * 0.51, "%g m", deepest); /* 0.51 m: radius of the ball around a bar */
    yard_end(&y);
}

/* A bar that spins strikes one that is welded to the world: the shift moves the free one alone. */
Test(separation, keeps_loops_closed) {
    double deepest = 0, moved = 0;
    for (int k = 0; k < 20; k++) {
        yard y = yard_begin(v3_make(0, 0, 0), rough(0.5));
        v3 rest = {0, 0, 0};
        sim_equality weld = sim_equality_default();
        weld.body[1] = add_bar(&y, "a", rest, rest, rest);
        sim_builder_add_equality(y.builder, &weld);
        add_bar(&y, "c", v3_make(-1 - 0.02 * k, 0.1, 0.5), v3_make(4, 0, -2), v3_make(5, 30, 10));
        y.options.compliance = SIM_RIGID;
        yard_open(&y, "auto", SIM_MIDPOINT, 0.01);
        for (int step = 0; step < 60; step++) {
            yard_step(&y);
            deepest = fmax(deepest, deepest_overlap(&y) - sim_world_info(y.world)->certificate.penetration);
            moved = fmax(moved, v3_norm(place_of(&y, "a")));
        }
        yard_end(&y);
    }
    cr_log_warn("moved by %g m, %g m too deep", moved, deepest);
    cr_assert_lt(deepest, 3 * RELATIVE * 0.51, "%g m", deepest);
    cr_assert_lt(moved, 1e-6, "%g m", moved);
}

/* Friction holds a slab that a ball strikes, so its velocity stays zero.  But the ball is set back from it by a shift of
 * both, without friction, by up to mu g dt^2 / 2 of the slab: into another slab that was no contact of the step. */
Test(separation, parts_bodies_at_rest_that_a_shift_moved) {
    const double dt = 0.01, apart = 5e-4, mu = 10;
    double deepest = 0, moved = 0;
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(mu));
    yard_ground(&y);
    yard_add(&y, "slab", SIM_BOX, 0.3, 0.3, 0.1, 10, v3_make(0, 0, 0.05), v3_make(0, 0, 0));
    yard_add(&y, "next", SIM_BOX, 0.3, 0.3, 0.1, 10, v3_make(0.3 + apart, 0, 0.05), v3_make(0, 0, 0));
    yard_add(&y, "ball", SIM_SPHERE, 0.02, 0, 0, 0.8, v3_make(-0.25, 0, 0.03), v3_make(8, 0, 0));
    yard_open(&y, "auto", SIM_MIDPOINT, dt);
    for (int k = 0; k < 10; k++) {
        yard_step(&y);
        deepest = fmax(deepest, deepest_overlap(&y));
        moved = fmax(moved, place_of(&y, "slab").x);
    }
    cr_log_info("moved %g m, overlap %g m", moved, deepest);
    cr_assert_gt(moved, apart / 2, "moved by %g m", moved);
    cr_assert_lt(deepest, 1e-3, "%g m", deepest);
    yard_end(&y);
}

/* The law undoes overlaps of the start, at its speed. */
Test(separation, leaves_old_overlaps_to_the_law) {
    const double dt = 0.01, depth = 0.05;
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(0.5));
    yard_ground(&y);
    yard_add(&y, "box", SIM_BOX, 0.2, 0.2, 0.2, 1, v3_make(0, 0, 0.1 - depth), v3_make(0, 0, 0));
    yard_open(&y, "auto", SIM_MIDPOINT, dt);
    double fastest = 0, before = place_of(&y, "box").z;
    for (int k = 0; k < 20; k++) {
        yard_step(&y);
        double now = place_of(&y, "box").z;
        fastest = fmax(fastest, (now - before) / dt);
        before = now;
    }
    cr_assert_lt(fastest, y.options.law.undo + 9.81 * dt, "%g m/s", fastest);
    cr_assert_gt(deepest_overlap(&y), 0.01 * depth);
    yard_end(&y);
}

/* ---- the shift of an island ---- */

/* A point mass between floor and ceiling whose gap to the floor is to grow by `least`; the ceiling is a contact whose gap
 * is to grow by as much, or the end of a range, `left` away.  Its shift, m; was it parted? */
static bool part_point(bool range, double least, double left, double *shift) {
    const double still[3] = {0, 0, 0}, dt = 0.01;
    sim_problem *p = point_between_walls(2, 0, 0, dt, still);
    sim_constraint *ceiling = (sim_constraint *)&p->constraint[1];
    if (range) {
        ceiling->kind = SIM_LIMIT;
        ceiling->rows = 1;
        ceiling->block[0] += 2 * p->tree[0].nv;
        ceiling->row += 2;
        ((double *)p->gap)[ceiling->row] = left;
    }
    double c[3];
    const int source[2] = {0, 1};
    constraint_source sources[2] = {{.index = 0}, {.index = 1}};
    const assembly f = {.source = sources};
    island is = {.base = *p, .source = source, .shift = c};
    sim_arena *scratch = arena_create();
    cr_assert_eq(separate_island(&f, &is, (const double[]){least, least}, (const char[]){1, 1}, scratch), SIM_OK);
    *shift = c[2] * dt;
    arena_free(scratch);
    sim_problem_free(p);
    return is.parted;
}

Test(separation, moves_a_joint_by_no_more_than_its_range_has_left) {
    double shift;
    cr_assert(part_point(true, 1e-3, 5e-3, &shift));
    cr_assert_float_eq(shift, 1e-3, 1e-9, "%g m", shift); /* the least that is wanted, though 5 mm are left */
    cr_assert_not(part_point(true, 5e-3, 1e-3, &shift));
}

Test(separation, leaves_a_wedged_body_where_it_is) {
    double shift;
    cr_assert_not(part_point(false, 1e-3, 0, &shift));
}

/* ---- bodies whose contacts have no solution ---- */

static double push; /* N s, along each normal */

static sim_status give_up(sim_solver_call *call) {
    const sim_problem *p = call->problem;
    for (int k = 0; k < p->nrow; k++) {
        call->out->impulse[k] = 0;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        call->out->impulse[p->constraint[i].row + 2] = push;
    }
    sim_solver_response(p, call->out->impulse, call->out->v);
    call->out->outcome = SIM_STALLED;
    call->out->residual = 1;
    return SIM_OK;
}

/* Makes the world of a yard anew with a solver that gives up. */
static sim_world *open_unsolved(const yard *y, sim_solver_registry *solvers) {
    static const sim_solver_method method = {.info = {.name = "none",
                                                      .method = "none",
                                                      .paper = "none",
                                                      .cone = SIM_CONE_STRICT,
                                                      .default_law = SIM_RIGID,
                                                      .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1},
                                             .solve = give_up};
    sim_error error = {0};
    sim_options options = *sim_world_options(y->world);
    options.solver = sim_solver_register(solvers, &method, &error);
    options.solver_option = NULL;
    sim_world *w = sim_world_create(y->model, &options, &error);
    cr_assert(w, "%s", error.text);
    return w;
}

/* Two bars meet, and the solver gives up: symplectic Euler moves their centres by their end velocities alone. */
Test(separation, leaves_bodies_alone_whose_contacts_are_unsolved) {
    const double dt = 0.01;
    sim_error error = {0};
    sim_solver_registry *solvers = sim_solver_registry_create(&error);
    yard y = yard_begin(v3_make(0, 0, 0), rough(0.3));
    add_bar(&y, "a", v3_make(0, 0, 0), v3_make(2, 0, 0), v3_make(0, 0, 30));
    add_bar(&y, "b", v3_make(0.9, 0.3, 0), v3_make(-2, 0, 0), v3_make(3, 0, 20));
    yard_open(&y, "pgs", SIM_SYMPLECTIC_EULER, dt);
    sim_world *mine = y.world;
    push = 0;
    y.world = open_unsolved(&y, solvers);
    double deepest = 0, off = 0;
    for (int k = 1; k <= 40; k++) {
        v3 from = place_of(&y, "a");
        cr_assert_eq(sim_world_step(y.world, &error), SIM_OK, "%s", error.text);
        off = fmax(off, v3_norm(v3_sub(place_of(&y, "a"), v3_axpy(from, dt, motion_of(&y, "a").lin))));
        deepest = fmax(deepest, deepest_overlap(&y));
    }
    cr_expect_gt(deepest, 10 * RELATIVE * 0.51, "%g m", deepest);
    cr_expect_lt(off, 1e-12, "%g m", off);
    sim_world_free(mine);
    yard_end(&y);
    sim_solver_registry_free(solvers);
}

/* A box of 1 kg falls at 10 m/s, and 19 N s of a solver that gives up send it up at 9 m/s, 4.1 cm deep into a plate that
 * was in no contact.  Nothing was promised to these two. */
Test(separation, leaves_alone_what_an_unsolved_contact_pushes_into_others) {
    const double dt = 0.01;
    sim_error error = {0};
    sim_solver_registry *solvers = sim_solver_registry_create(&error);
    yard y = yard_begin(v3_make(0, 0, 0), rough(0.3));
    yard_ground(&y);
    yard_add(&y, "box", SIM_BOX, 0.1, 0.1, 0.1, 1, v3_make(0, 0, 0.051), v3_make(0, 0, -10));
    yard_add(&y, "plate", SIM_BOX, 0.5, 0.5, 0.1, 1, v3_make(0, 0, 0.2), v3_make(0, 0, 0));
    yard_open(&y, "pgs", SIM_SYMPLECTIC_EULER, dt);
    sim_world *mine = y.world;
    push = 19.0 / 4;
    y.world = open_unsolved(&y, solvers);
    cr_assert_eq(sim_world_step(y.world, &error), SIM_OK, "%s", error.text);
    double off = fabs(place_of(&y, "box").z - 0.141), moved = fabs(place_of(&y, "plate").z - 0.2);
    double depth = deepest_overlap(&y);
    cr_expect(off < 1e-12 && moved < 1e-12, "box off by %g m, plate by %g m", off, moved);
    cr_expect_float_eq(depth, 0.041, 1e-9, "%g m", depth);
    sim_world_free(mine);
    yard_end(&y);
    sim_solver_registry_free(solvers);
}

/* Bars that spin strike the ground.  Symplectic Euler moves a centre of mass by its end velocity, and the shift moves it
 * farther: that work against gravity is booked, in the first step that has any. */
Test(separation, books_the_work_of_its_shifts_against_gravity) {
    const double dt = 0.01, weight = 9.81; /* N, of 1 kg */
    int shifted = 0;
    for (int k = 0; k < 8; k++) {
        yard y = yard_begin(v3_make(0, 0, -9.81), rough(0.3));
        yard_ground(&y);
        add_bar(&y, "a", v3_make(0, 0, 0.6), v3_make(0, 0, -3 - 0.4 * k), v3_make(0, 30, 2));
        yard_open(&y, "auto", SIM_SYMPLECTIC_EULER, dt);
        double work = 0;
        for (int step = 0; step < 30 && work < 1e-6; step++) {
            double z = place_of(&y, "a").z;
            yard_step(&y);
            work = weight * (place_of(&y, "a").z - z - dt * motion_of(&y, "a").lin.z);
        }
        double booked = sim_world_info(y.world)->undone;
        cr_expect(work < 1e-6 || fabs(booked - work) <= 1e-9 * work, "%g J of %g J", booked, work);
        shifted += work > 1e-6;
        yard_end(&y);
    }
    cr_expect_geq(shifted, 4);
}
