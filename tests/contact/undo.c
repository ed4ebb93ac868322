/* Energy from nothing: what no motion undoes, what overlaps where a run starts, and answers that create energy. */
#include "contact/island/relax.h"
#include "support/problems.h"
#include "support/share.h"
#include <criterion/criterion.h>
#include <math.h>
#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const solvers[] = {"sap", "pgs", "canal", "subadmm", "auto", "nsn", "mlcp-pivot", "acn"};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

static const char hinge[] =
    "{'sim': 1, 'world': {'step': 0.002}, 'bodies': ["
    "{'name': 'ground', 'shapes': [{'type': 'half_space'}]},"
    "{'name': 'turn', 'pose': {'position': [0, 0, 0.1]}, 'joint': {'type': 'hinge', 'axis': [0, 0, 1]}, 'v': 1,"
    " 'shapes': [{'type': 'cylinder', 'radius': 0.09, 'length': 0.25, 'density': 1000}]}]}";

/* The same, its foot on the ground without any overlap: the normal moves as little. */
static const char pivot[] =
    "{'sim': 1, 'world': {'step': 0.002}, 'bodies': ["
    "{'name': 'ground', 'shapes': [{'type': 'half_space'}]},"
    "{'name': 'turn', 'pose': {'position': [0, 0, 0.125]}, 'joint': {'type': 'hinge', 'axis': [0, 0, 1]}, 'v': 1,"
    " 'shapes': [{'type': 'cylinder', 'radius': 0.09, 'length': 0.25, 'density': 1000}]}]}";

static const char squeezed[] =
    "{'sim': 1, 'world': {'step': 0.002}, 'bodies': ["
    "{'name': 'low', 'shapes': [{'type': 'box', 'size': [1, 1, 0.2], 'pose': {'position': [0, 0, -0.1]}}]},"
    "{'name': 'high', 'shapes': [{'type': 'box', 'size': [1, 1, 0.2], 'pose': {'position': [0, 0, 0.19]}}]},"
    "{'name': 'box', 'joint': 'free', 'pose': {'position': [0, 0, 0.043]},"
    " 'shapes': [{'type': 'box', 'size': [0.1, 0.1, 0.1], 'density': 1000}]}]}";

static const char sprung[] =
    "{'sim': 1, 'world': {'gravity': [0, 0, 0]}, 'materials': [{'name': 'soft', 'stiffness': 1e4}], 'bodies': ["
    "{'name': 'low', 'shapes': [{'type': 'box', 'size': [1, 1, 0.2], 'pose': {'position': [0, 0, -0.1]}, 'material': "
    "'soft'}]},"
    "{'name': 'high', 'shapes': [{'type': 'box', 'size': [1, 1, 0.2], 'pose': {'position': [0, 0, 0.28]}, 'material': "
    "'soft'}]},"
    "{'name': 'ball', 'joint': 'free', 'pose': {'position': [0, 0, 0.088]},"
    " 'shapes': [{'type': 'sphere', 'radius': 0.1, 'mass': 1e6, 'material': 'soft'}]}]}";

static const char on_spring[] =
    "{'sim': 1, 'materials': [{'name': 'soft', 'stiffness': 200}], 'bodies': ["
    "{'name': 'floor', 'shapes': [{'type': 'half_space', 'material': 'soft'}]},"
    "{'name': 'box', 'joint': 'free', 'pose': {'position': [0, 0, 0.05]},"
    " 'shapes': [{'type': 'box', 'size': [0.1, 0.1, 0.1], 'mass': 1, 'material': 'soft'}]}]}";

static const char balls[] =
    "{'sim': 1, 'world': {'gravity': [0, 0, 0]}, 'bodies': ["
    "{'name': 'a', 'joint': 'free', 'shapes': [{'type': 'sphere', 'radius': 1, 'density': 1000}]},"
    "{'name': 'b', 'joint': 'free', 'shapes': [{'type': 'sphere', 'radius': 1, 'density': 1000}]}]}";

/* A door of 1 m that turns about z; 1 mm from its axis a peg of the wall stands 1 cm inside it. */
static const char door[] =
    "{'sim': 1, 'world': {'gravity': [0, 0, 0]}, 'bodies': ["
    "{'name': 'wall', 'shapes': [{'type': 'sphere', 'radius': 0.01, 'pose': {'position': [0.001, 0.02, 0]}}]},"
    "{'name': 'door', 'joint': {'type': 'hinge', 'axis': [0, 0, 1]},"
    " 'shapes': [{'type': 'box', 'size': [1, 0.04, 0.5], 'density': 500, 'pose': {'position': [0.499, 0, 0]}}]}]}";

/* Links of which every second overlaps by 8 cm, with motors. */
static const char padded[] =
    "{'sim': 1, 'world': {'gravity': [0, 0, 0]}, 'bodies': ["
    "{'name': 'l0', 'pose': {'position': [0, 0, 0.1]}, 'joint': {'type': 'hinge', 'axis': [0, 0, 1]}, 'shapes': [#]},"
    "{'name': 'l1', 'parent': 'l0', 'pose': {'position': [0, 0, 0.1]}, 'joint': {'type': 'hinge', 'axis': [0, 1, 0]},"
    " 'shapes': [#]},"
    "{'name': 'l2', 'parent': 'l1', 'pose': {'position': [0, 0, 0.1]}, 'joint': {'type': 'hinge', 'axis': [0, 0, 1]},"
    " 'shapes': [#]},"
    "{'name': 'l3', 'parent': 'l2', 'pose': {'position': [0, 0, 0.1]}, 'joint': {'type': 'hinge', 'axis': [0, 1, 0]},"
    " 'shapes': [#]}],"
    "'actuators': [{'joint': 'l*', 'kp': 2000, 'kd': 100, 'effort': 80, 'target': 0.2}]}";

typedef struct run {
    sim_scene *scene;
    sim_world *world;
    double start, most; /* J */
    double undone, excess;
    int stuck, refused, unsolved; /* steps */
    int iterations;               /* of the solver, most in a step */
    sim_error error;
} run;

static double energy_now(sim_world *w) {
    sim_energy e = sim_world_energy(w);
    return e.kinetic + e.potential;
}

static sim_scene *read_scene(const char *text, int count, const char *const *set) {
    char json[4096];
    sim_scene_overrides overrides = {.count = count, .set = set};
    sim_error error = {0};
    snprintf(json, sizeof json, "%s", text);
    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    sim_scene *scene = sim_scene_parse(json, strlen(json), "scene", &overrides, NULL, &error);
    cr_assert(scene, "%s", error.text);
    return scene;
}

static void go(run *r, double duration) {
    r->world = sim_world_create(r->scene->model, &r->scene->options, &r->error);
    cr_assert(r->world, "%s", r->error.text);
    r->start = r->most = energy_now(r->world);
    while (sim_world_state(r->world)->time < duration && !sim_world_step(r->world, &r->error)) {
        const sim_step_info *info = sim_world_info(r->world);
        r->most = fmax(r->most, energy_now(r->world));
        r->undone += info->undone;
        r->excess = fmax(r->excess, info->certificate.excess);
        r->stuck += info->stuck > 0;
        r->refused += info->refused > 0;
        r->unsolved += info->unsolved > 0;
        r->iterations = info->solver_total > r->iterations ? info->solver_total : r->iterations;
        cr_assert(!info->refused || info->unsolved, "refused and yet solved");
    }
}

static run run_of(const char *text, const char *solver, double step, double duration) {
    char who[64], dt[64];
    const char *set[] = {who, dt};
    snprintf(who, sizeof who, "world/solver=%s", solver);
    snprintf(dt, sizeof dt, "world/step=%g", step);
    run r = {.scene = read_scene(text, 2, set)};
    go(&r, duration);
    cr_assert_eq(r.error.status, SIM_OK, "%s: %s", solver, r.error.text);
    return r;
}

static void end(run *r) {
    sim_world_free(r->world);
    sim_scene_free(r->scene);
}

static void names_are(const run *r, const char *a, const char *b) {
    const sim_step_info *info = sim_world_info(r->world);
    cr_assert(info->stuck > 0);
    cr_assert_str_eq(r->scene->model->body[info->stuck_body[0]].name, a);
    cr_assert_str_eq(r->scene->model->body[info->stuck_body[1]].name, b);
}

Test(undo, normal_that_nothing_moves_is_named_and_gives_no_energy) {
    for (int k = 0; k < part_of(SOLVERS); k++) {
        run r = run_of(hinge, solvers[k], 0.002, 0.2);
        cr_expect_leq(r.most - r.start, 1e-9 * r.start, "%s: %g J more", solvers[k], r.most - r.start);
        cr_expect_eq(r.stuck, 100, "%s: said in %d steps", solvers[k], r.stuck);
        cr_expect_eq(r.refused, 0, "%s: %d steps", solvers[k], r.refused);
        names_are(&r, "ground", "turn");
        cr_expect_float_eq(sim_world_info(r.world)->stuck_depth, 0.025, 1e-9);
        end(&r);
        r = run_of(pivot, solvers[k], 0.002, 0.2);
        cr_expect_leq(r.most - r.start, 1e-9 * r.start, "%s, touching: %g J more", solvers[k], r.most - r.start);
        end(&r);
    }
}

/* Round ends about the point of a ball joint: their contact moves nothing, and no step of it fails. */
Test(undo, contact_about_its_own_joint_is_solved_in_every_step) {
    static const char text[] =
        "{'sim': 1, 'materials': [{'name': 'm', 'friction': 1}], 'bodies': [{'name': 'base', 'shapes': [{'type': "
        "'capsule', 'material': 'm', 'radius': 0.01, 'length': 0.1, 'pose': "
        "{'position': [0, 0, 0.05], 'quaternion': [6.123233995736766e-17, 1, 0, 0]}}]}, {'name': 'rod', "
        "'parent': 'base', 'joint': {'type': 'ball', 'damping': 0.005}, 'pose': {'position': [0, 0, 0.1]}, 'shapes': "
        "[{'type': 'capsule', 'material': 'm', 'radius': 0.01, 'length': 0.14142135623730953, 'density': 1000, 'pose': "
        "{'position': [0, "
        "0.05, 0.05], 'quaternion': [0.38268343236508984, 0.9238795325112867, 0, 0]}}]}, {'name': 'end', 'parent': "
        "'rod', 'joint': {'type': 'ball', 'damping': 0.005}, 'pose': {'position': [0, 0.1, 0.1]}, 'shapes': [{'type': "
        "'capsule', 'material': 'm', 'radius': 0.01, 'length': 0.1, 'density': 1000, 'pose': {'position': [0, 0.05, "
        "0], 'quaternion': "
        "[0.7071067811865476, 0.7071067811865475, 0, 0]}}]}]}";
    static const char *const exact[] = {"auto", "acn", "canal"};
    for (int k = 0; k < 3; k++) {
        run r = run_of(text, exact[k], 0.002, 1);
        cr_expect_geq(r.stuck, 500, "%s: said in %d steps", exact[k], r.stuck);
        cr_expect_eq(r.unsolved, 0, "%s: %d steps", exact[k], r.unsolved);
        end(&r);
    }
}

/* 3 and 7 mm: the box comes to the middle, where it stays. */
Test(undo, box_between_two_walls_comes_to_the_middle_and_is_named) {
    for (int k = 0; k < part_of(SOLVERS); k++) {
        run r = run_of(squeezed, solvers[k], 0.002, 0.6);
        cr_expect_lt(r.most - r.start, 0.05, "%s: %g J more", solvers[k], r.most - r.start);
        cr_expect_eq(r.refused, 0, "%s: %d steps", solvers[k], r.refused);
        const double *q = sim_world_state(r.world)->q;
        cr_expect_float_eq(q[2], 0.045, 2.5e-3, "%s: at %g m", solvers[k], q[2]);
        cr_expect_gt(r.stuck, 0, "%s", solvers[k]); /* by sap, too, whose contacts yield and have an answer */
        end(&r);
    }
}

/* 0.1 mm between both walls: undone at 1 mm/s, which counts as shallow.  No motion undoes it, so a law that asks for one
 * has no solution, and a solver would stall: 72 steps are the least that `auto` spends on a hard problem.  The jam must
 * be found before the solver, and the box may not sink. */
Test(undo, shallow_jam_is_found_before_the_solver) {
    const char *set[] = {"world/solver=auto", "world/step=0.01", "world/compliance=rigid",
                         "bodies/high/shapes/0/pose/position=[0, 0, 0.1999]",
                         "bodies/box/pose/position=[0, 0, 0.0499]"};
    run r = {.scene = read_scene(squeezed, 5, set)};
    go(&r, 1);
    cr_assert_eq(r.error.status, SIM_OK, "%s", r.error.text);
    cr_expect_eq(r.unsolved, 0, "%d steps", r.unsolved);
    cr_expect_lt(r.iterations, 72, "%d Newton steps", r.iterations);
    const double *q = sim_world_state(r.world)->q;
    cr_expect_float_eq(q[2], 0.04995, 5e-5, "at %g m", q[2]);
    end(&r);
}

/* 1e12 N/m: the step cannot resolve such springs.  By the rigid law a motion that cannot be is not asked of them either.
 * Their forces, target / R, would be too great for doubles. */
Test(undo, stiff_materials_between_two_walls_are_undone_as_rigid_ones) {
    char materials[] = "materials=[{'name': 'hard', 'stiffness': 2e12}]";
    const char *set[] = {"world/solver=auto",
                         "world/step=0.002",
                         "world/compliance=rigid",
                         materials,
                         "bodies/low/shapes/0/material=hard",
                         "bodies/high/shapes/0/material=hard",
                         "bodies/box/shapes/0/material=hard"};
    for (char *c = materials; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    run r = {.scene = read_scene(squeezed, 7, set)};
    go(&r, 0.6);
    cr_assert_eq(r.error.status, SIM_OK, "%s", r.error.text);
    cr_expect_eq(r.unsolved, 0, "%d steps", r.unsolved);
    cr_expect_geq(r.stuck, 299, "said in %d steps", r.stuck);
    const double *q = sim_world_state(r.world)->q;
    cr_expect_float_eq(q[2], 0.045, 2.5e-3, "at %g m", q[2]);
    end(&r);
}

/* A heavy ball 12 and 8 mm deep in springs that the step resolves: no motion parts it from both at any speed, and both are
 * told. */
Test(undo, ball_between_two_springs_is_told_to_be_stuck_in_both) {
    run r = run_of(sprung, "sap", 0.002, 0.015);
    cr_expect_eq(r.stuck, 0, "%d steps", r.stuck);
    sim_world_step(r.world, &r.error);
    const sim_step_info *info = sim_world_info(r.world);
    cr_expect_eq(info->stuck, 2, "%d contacts", info->stuck);
    cr_expect_float_eq(info->stuck_depth, 0.012, 1e-5, "%g m", info->stuck_depth);
    end(&r);
}

/* 1/2 mu V^2 with the reduced mass, whatever the step and the solver; and all of it is booked. */
Test(undo, two_balls_in_one_place_part_at_the_speed_of_the_law) {
    double mass = 4000 * acos(-1) / 3, V = sim_law_options_default().undo, due = mass / 4 * V * V;
    for (int k = 0; k < part_of(SOLVERS); k++) {
        for (double step = 1e-4; step < 2e-2; step *= 10) {
            run r = run_of(balls, solvers[k], step, 200 * step);
            cr_expect_float_eq(r.most, due, 1e-3 * due, "%s, %g s: %g J, not %g", solvers[k], step, r.most, due);
            cr_expect_float_eq(r.undone, r.most, 1e-3 * due, "%s, %g s: %g J booked", solvers[k], step, r.undone);
            end(&r);
        }
    }
}

/* Parting 1 mm from the axis at V would have the door's edge at 1000 V. */
Test(undo, lever_of_a_millimetre_throws_no_door) {
    double V = sim_law_options_default().undo;
    for (int k = 0; k < part_of(SOLVERS); k++) {
        run r = run_of(door, solvers[k], 0.001, 0.1);
        double mass = r.scene->model->body[2].inertia.mass;
        mass = mass > 0 ? mass : r.scene->model->body[1].inertia.mass;
        cr_expect_leq(r.most, mass * V * V / (2 * 0.05) * 1.01, "%s: %g J", solvers[k], r.most);
        end(&r);
    }
}

/* Two iterations are no answer, and may create thousands of joules: none of it comes into the world. */
/* 4 motors of 80 N m that turn by 0.2 rad: 64 J at most. */
Test(undo, links_that_overlap_move_by_their_motors_alone) {
    static const char capsule[] =
        "{'type': 'capsule', 'radius': 0.09, 'length': 0.1, 'density': 1000, 'pose': {'position': [0, 0, 0.05]}}";
    char text[2048];
    size_t length = 0;
    for (const char *c = padded; *c; c++) {
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "%.*s", *c == '#' ? 999 : 1, *c == '#' ? capsule : c);
    }
    for (int k = 0; k < part_of(SOLVERS); k++) {
        run r = run_of(text, solvers[k], 0.001, 0.3);
        cr_expect_lt(r.most, 4 * 80 * 0.2, "%s: %g J", solvers[k], r.most);
        cr_expect_eq(r.refused, 0, "%s: %d steps", solvers[k], r.refused);
        end(&r);
    }
}

Test(undo, answer_that_creates_energy_is_not_taken_and_its_step_is_unsolved) {
    static const char *const poor[] = {"canal", "subadmm"};
    double excess = 0;
    int refused = 0;
    for (int k = 0; k < 2; k++) {
        char who[64];
        snprintf(who, sizeof who, "world/solver=%s", poor[k]);
        const char *set[] = {who, "world/solver_options/max_iterations=2"};
        sim_scene_overrides overrides = {.count = 2, .set = set};
        run r = {.scene = sim_scene_load("scenes/contact/corner.json", &overrides, NULL, &r.error)};
        cr_assert(r.scene, "%s", r.error.text);
        go(&r, 1);
        cr_assert_eq(r.error.status, SIM_OK, "%s", r.error.text);
        cr_expect_leq(r.most - r.start, 1e-3 * fabs(r.start), "%s: %g J from %g J", poor[k], r.most, r.start);
        refused += r.refused;
        excess = fmax(excess, r.excess);
        end(&r);
    }
    cr_expect_gt(refused, 10, "%d refused", refused);
    cr_expect_gt(excess, 0.1, "%g J", excess);
}

Test(undo, energy_that_no_number_holds_ends_the_run) {
    static const char pushed[] = "{'sim': 1, 'bodies': [{'name': 'box', 'joint': 'free',"
                                 " 'shapes': [{'type': 'box', 'size': [0.1, 0.1, 0.1], 'density': 1000}]}],"
                                 " 'loads': [{'body': 'box', 'force': [%s, 0, 0]}]}";
    static const char *const force[] = {"1e200", "1e100", "1e15"};
    for (int k = 0; k < 3; k++) {
        char text[512];
        snprintf(text, sizeof text, pushed, force[k]);
        run r = {.scene = read_scene(text, 0, NULL)};
        go(&r, 1);
        cr_expect_eq(r.error.status, SIM_FAILED, "%s N", force[k]);
        cr_expect(strstr(r.error.text, "\"box\"") && strstr(r.error.text, "light"), "%s N: %s", force[k], r.error.text);
        end(&r);
    }
}

/* Of springs those that hold more than the energy of the lighter body at the speed `undo`: k d^2 > m V^2, d = 10 mm. */
Test(undo, overlaps_of_springs_are_told_from_the_energy_on_that_the_law_undoes) {
    for (int told = 0; told < 2; told++) {
        char place[64];
        const char *set[] = {place};
        snprintf(place, sizeof place, "bodies/box/pose/position/2=%g", 0.05 - (told ? 0.0101 : 0.0099));
        sim_scene *scene = read_scene(on_spring, 1, set);
        sim_error error = {0};
        sim_world *world = sim_world_create(scene->model, &scene->options, &error);
        cr_assert(world, "%s", error.text);
        sim_overlap *list;
        int count;
        cr_assert_eq(sim_world_overlaps(world, &list, &count, &error), SIM_OK, "%s", error.text);
        cr_expect_eq(count, told, "%d overlaps", count);
        free(list);
        sim_world_free(world);
        sim_scene_free(scene);
    }
}

Test(undo, overlaps_where_a_scene_starts_are_told_and_may_be_left_out) {
    sim_error error = {0};
    const char *set[] = {"world/exclude=initial"};
    for (int left_out = 0; left_out < 2; left_out++) {
        sim_scene *scene = read_scene(balls, left_out, set);
        sim_world *world = sim_world_create(scene->model, &scene->options, &error);
        sim_overlap *list;
        int count;
        cr_assert_eq(sim_world_overlaps(world, &list, &count, &error), SIM_OK, "%s", error.text);
        cr_assert_eq(count, !left_out);
        cr_assert_eq(scene->model->nexclusion, left_out);
        if (count) {
            cr_assert(list[0].body[0] == 1 && list[0].body[1] == 2 && fabs(list[0].depth - 2) < 1e-9);
        }
        free(list);
        for (int k = 0; k < 10; k++) {
            cr_assert_eq(sim_world_step(world, &error), SIM_OK);
        }
        cr_assert(left_out == (energy_now(world) == 0), "%g J", energy_now(world));
        sim_world_free(world);
        sim_scene_free(scene);
    }
}

/* J A^-1 J' gamma of a row by J, and by the sums that the sweeps keep: of one body, of two, of trees with joints. */
Test(undo, sweeps_know_the_velocity_of_every_row) {
    for (int k = 0; k < trials_of(20); k++) {
        random_source r = {(uint64_t)k};
        sim_problem *p = random_problem(&r, &mixed_recipe);
        sim_arena *scratch = arena_create();
        relaxation sweeps;
        cr_assert_eq(relax_create(&sweeps, p, scratch), SIM_OK);
        for (int row = 0; row < p->nrow; row++) {
            sweeps.base[row] = random_uniform(&r, -1, 1);
        }
        for (int i = 0; i < p->nconstraint; i++) {
            relax_admit(&sweeps, i);
        }
        relax_sweep(&sweeps);
        double v[256], largest = 0;
        cr_assert_leq(p->nv, 256);
        relax_motion(&sweeps, v);
        for (int i = 0; i < p->nconstraint; i++) {
            const sim_constraint *c = &p->constraint[i];
            for (int row = 0; row < c->rows; row++) {
                double u = 0;
                for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
                    const sim_problem_tree *t = &p->tree[c->tree[side]];
                    for (int j = 0; j < t->nv; j++) {
                        u += p->J[c->block[side] + (ptrdiff_t)row * t->nv + j] * v[t->v0 + j];
                    }
                }
                largest = fmax(largest, fabs(u));
                cr_expect_float_eq(relax_velocity(&sweeps, i, row), u, 1e-11, "problem %d, constraint %d, row %d", k, i,
                                   row);
            }
        }
        cr_expect_gt(largest, 0.01);
        arena_free(scratch);
        sim_problem_free(p);
    }
}

/* ---- arms that jam in themselves ---- */

/* A capsule on a hinge: height over the link before it, axis, least angle (0: no range), mass, moments across and along,
 * radius and length. */
typedef struct jammed_link {
    double height;
    int axis;
    double least, mass, across, along, radius, length;
} jammed_link;

enum { ARMS = 3, MOST_LINKS = 6 };
static const jammed_link arms[ARMS][MOST_LINKS] = {
    {{0.1, 2, 0.798, 0.638, 0.00139, 0.000284, 0.0473, 0.0659},
     {0.0501, 1, 0.464, 0.414, 0.00184, 0.000124, 0.0464, 0.0552},
     {0.0981, 0, 0, 0.859, 0.000448, 0.000468, 0.0464, 0.0963},
     {0.0656, 0, 0, 0.379, 0.00102, 0.000154, 0.0363, 0.0935},
     {0.0614, 1, 0, 0.689, 0.00116, 0.000133, 0.0421, 0.0968}},
    {{0.1, 2, 0.533, 0.865, 0.00146, 0.000403, 0.0355, 0.0818},
     {0.0532, 1, 0, 0.899, 0.00132, 0.000329, 0.038, 0.0674},
     {0.0597, 0, 0, 0.529, 0.000909, 0.000362, 0.0492, 0.093},
     {0.0537, 0, 0, 0.937, 0.000651, 0.000408, 0.0313, 0.0679},
     {0.0917, 0, 0.763, 0.528, 0.00129, 0.000484, 0.0398, 0.0992},
     {0.103, 0, 0, 0.844, 0.00123, 0.000317, 0.033, 0.064}},
    {{0.1, 2, 0, 0.63, 0.0011, 0.000163, 0.0327, 0.0938},
     {0.0562, 1, 0.285, 0.44, 0.00115, 0.000113, 0.0381, 0.0695},
     {0.0843, 2, 0, 0.346, 0.00197, 0.000197, 0.0343, 0.0764},
     {0.114, 2, 0.444, 0.819, 0.000337, 0.00045, 0.0431, 0.0948},
     {0.0607, 1, 0, 0.955, 0.00149, 0.000384, 0.0453, 0.0628},
     {0.112, 0, 0.445, 0.665, 0.00164, 0.000385, 0.0371, 0.0996}},
};

static void write_jammed_arm(const jammed_link *link, char *text, size_t room) {
    static const char *const axis[3] = {"1, 0, 0", "0, 1, 0", "0, 0, 1"};
    size_t at = (size_t)snprintf(text, room,
                                 "{'sim': 1, 'bodies': [{'name': 'base', 'shapes': [{'type': 'box', 'size': "
                                 "[0.1, 0.1, 0.1]}]}");
    for (int k = 0; k < MOST_LINKS && link[k].mass > 0; k++) {
        char range[64] = "";
        if (link[k].least > 0) {
            snprintf(range, sizeof range, ", 'range': [%g, 5.5]", link[k].least);
        }
        at += (size_t)snprintf(text + at, room - at,
                               ", {'name': 'l%d', 'parent': '%s', 'pose': {'position': [0, 0, %g]}, 'joint': {'type': "
                               "'hinge', 'axis': [%s]%s}, 'inertia': {'mass': %g, 'com': [0, 0, -0.05], 'moments': "
                               "[%g, %g, %g]}, 'shapes': [{'type': 'capsule', 'radius': %g, 'length': %g}]}",
                               k, k ? (char[]){'l', (char)('0' + k - 1), 0} : "base", link[k].height,
                               axis[link[k].axis], range, link[k].mass, link[k].across, link[k].across, link[k].along,
                               link[k].radius, link[k].length);
    }
    snprintf(text + at, room - at, "]}");
}

/* Impulses that jam cancel.  The lasting part of some of them alone is a force that sends the links off: two of these arms
 * went faster than light by it, the third left two steps without convergence. */
Test(undo, arm_that_jams_in_itself_is_not_sent_off_by_forces_that_cancel) {
    char text[4096];
    for (int k = 0; k < ARMS; k++) {
        write_jammed_arm(arms[k], text, sizeof text);
        run r = {.scene = read_scene(text, 0, NULL)};
        r.world = sim_world_create(r.scene->model, &r.scene->options, &r.error);
        cr_assert(r.world, "%s", r.error.text);
        for (int step = 0; step < 30; step++) {
            cr_assert_eq(sim_world_step(r.world, &r.error), SIM_OK, "arm %d, step %d: %s", k, step, r.error.text);
            cr_expect(!sim_world_info(r.world)->nonconverged, "arm %d, step %d", k, step);
        }
        end(&r);
    }
}

/* Overlaps of centimetres and ranges that nothing can reach: the springs between hold no more than forces can give, so
 * every step has an answer. */
Test(undo, arm_that_jams_in_itself_has_an_answer_in_every_step) {
    char text[4096];
    for (int k = 0; k < ARMS; k++) {
        write_jammed_arm(arms[k], text, sizeof text);
        run r = run_of(text, "auto", 0.001, 0.1);
        cr_expect_eq(r.unsolved, 0, "arm %d: %d steps", k, r.unsolved);
        end(&r);
    }
}
