/* Derivatives of a step at kinks: on a path through a kink, those on each side equal differences of that side alone, and
 * `near` counts it.  A gripper lets its box slip, a finger leaves a box, the cube of the Panda slips.  Free motion of a
 * robot goes on with the forces of its feet until it moves too fast. */
#include "support/models.h"
#include "support/share.h"
#include "support/worlds.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double STEP = 4e-3, TOLERANCE = 1e-14, FRICTION = 0.5;

typedef struct fixture {
    sim_scene *scene; /* NULL, or that of the model */
    sim_model *model;
    sim_world *world;
    sim_snapshot *start;
    sim_step_derivatives *work;
    double option[SOLVER_OPTIONS];
    int n;
    double *end; /* [2 n] positions from those of the start, velocities */
} fixture;

/* A path: a force on a joint, or a velocity, grows from 0. */
typedef struct path {
    int dof;
    bool by_velocity;
    double from, to; /* N or N m; m/s or rad/s */
} path;

/* The piece of a step: a number that changes at the kink. */
typedef int (*piece_of)(const sim_world *world);

static double *numbers(int count) { return calloc((size_t)(count > 0 ? count : 1), sizeof(double)); }

/* A world with the state after some steps. */
static void open_with(fixture *f, sim_options options, const char *solver, int warm) {
    sim_error error;
    options.tolerance = TOLERANCE;
    set_solver(&options, solver, TOLERANCE, f->option);
    f->n = f->model->nv;
    f->end = numbers(2 * f->n);
    f->world = sim_world_create(f->model, &options, &error);
    f->work = sim_step_derivatives_create(f->model, &error);
    cr_assert(f->world && f->work, "%s", error.text);
    for (int k = 0; k < warm; k++) {
        cr_assert_eq(sim_world_step(f->world, &error), SIM_OK, "%s", error.text);
    }
    f->start = sim_snapshot_create(f->world, &error);
    cr_assert_not_null(f->start);
}

static void open_fixture(fixture *f, sim_model *model, sim_integrator integrator, const char *solver, int warm) {
    sim_options options = sim_options_default();
    options.step = STEP;
    options.integrator = integrator;
    *f = (fixture){.model = model};
    open_with(f, options, solver, warm);
}

static void open_scene(fixture *f, const char *file, sim_integrator integrator, const char *solver, int warm) {
    sim_diagnostics all = {0};
    sim_error error;
    sim_scene *scene = sim_scene_load(file, NULL, &all, &error);
    cr_assert_not_null(scene, "%s", error.text);
    sim_diagnostics_free(&all);
    sim_options options = scene->options;
    options.integrator = integrator;
    *f = (fixture){.scene = scene, .model = scene->model};
    open_with(f, options, solver, warm);
}

static void close_fixture(fixture *f) {
    free(f->end);
    sim_snapshot_free(f->start);
    sim_step_derivatives_free(f->work);
    sim_world_free(f->world);
    if (f->scene) {
        sim_scene_free(f->scene);
    } else {
        sim_model_free(f->model);
    }
}

/* The step at a place of a path; its end in f->end. */
static void step_at(fixture *f, const path *p, double place) {
    sim_state from = *sim_snapshot_state(f->start);
    sim_error error;
    double *v = numbers(f->n);
    memcpy(v, from.v, sizeof *v * (size_t)f->n);
    v[p->dof] += p->by_velocity ? place : 0;
    from.v = v;
    cr_assert_eq(sim_world_set_state(f->world, &from, &error), SIM_OK, "%s", error.text);
    sim_world_applied(f->world)[p->dof] = p->by_velocity ? 0 : place;
    cr_assert_eq(sim_world_step(f->world, &error), SIM_OK, "%s", error.text);
    const sim_state *to = sim_world_state(f->world);
    sim_difference(f->model, sim_all(f->model), from.q, to->q, f->end);
    memcpy(f->end + f->n, to->v, sizeof *v * (size_t)f->n);
    free(v);
}

/* The derivative along the path there, 2 n; the number of kinks, or -1 where there is none. */
static int derive_at(fixture *f, const path *p, double place, double near, double *along) {
    int n = f->n;
    sim_error error;
    double *by_state = numbers(4 * n * n), *by_applied = numbers(2 * n * n);
    sim_step_jacobian out = {.near = near, .by_state = by_state, .by_applied = by_applied};
    step_at(f, p, place);
    sim_status status = sim_world_step_derivatives(f->world, f->work, &out, &error);
    for (int i = 0; i < 2 * n; i++) {
        along[i] = p->by_velocity ? by_state[(ptrdiff_t)i * 2 * n + n + p->dof] : by_applied[i * n + p->dof];
    }
    free(by_state), free(by_applied);
    return status ? -1 : out.kinks;
}

/* Where the piece changes between two places of different pieces, to rounding. */
static void bracket_kink(fixture *f, const path *p, piece_of piece, double place[2]) {
    step_at(f, p, place[0]);
    int first = piece(f->world);
    for (int k = 0; k < 60; k++) {
        double middle = 0.5 * (place[0] + place[1]);
        step_at(f, p, middle);
        place[piece(f->world) != first] = middle;
    }
}

/* (-25 f0 + 48 f1 - 36 f2 + 16 f3 - 3 f4) / 12 h of one side; h < 0: towards the beginning of the path. */
static void differ_on_side(fixture *f, const path *p, double place, double h, double *along) {
    const double weight[5] = {-25, 48, -36, 16, -3};
    memset(along, 0, sizeof *along * 2 * (size_t)f->n);
    for (int k = 0; k < 5; k++) {
        step_at(f, p, place + k * h);
        for (int i = 0; i < 2 * f->n; i++) {
            along[i] += weight[k] * f->end[i] / (12 * h);
        }
    }
}

/* Does the piece stay for some way from a place? */
static bool is_whole(fixture *f, const path *p, piece_of piece, double place, double way) {
    step_at(f, p, place);
    int first = piece(f->world);
    bool same = true;
    for (int k = 1; k <= 8; k++) {
        step_at(f, p, place + way * k / 8);
        same &= piece(f->world) == first;
    }
    return same;
}

/* Both sides of the first kink of a path; false: there is none, or another is near. */
static bool expect_sides(fixture *f, const path *p, piece_of piece, const char *name) {
    double place[2] = {p->from, p->to}, length = p->to - p->from, way = 1e-4 * length;
    double *found = numbers(2 * f->n), *due = numbers(2 * f->n), *before = numbers(2 * f->n), *half = numbers(2 * f->n);
    bracket_kink(f, p, piece, place);
    bool whole = fabs(place[0] - p->from) > 0 && fabs(place[1] - p->to) > 0;
    for (int side = 0; side < 2 && whole; side++) {
        double next = 1e-4 * (side ? way : -way);
        whole = is_whole(f, p, piece, place[side] + next, 1e4 * next);
    }
    double bend = 0, size = 0;
    for (int side = 0; side < 2 && whole; side++) {
        /* a ten-thousandth of the way off, differences to the end of the way; these round to 1e-13 of speeds near 1 */
        double at = place[side] + (side ? 1e-4 : -1e-4) * way, h = (side ? 0.24 : -0.24) * way;
        int kinks = derive_at(f, p, at, 0, found), close = derive_at(f, p, at, 1e-4, due);
        whole = kinks >= 0;
        if (!whole) {
            break;
        }
        differ_on_side(f, p, at, h, due);
        differ_on_side(f, p, at, 0.5 * h, half);
        double error = 0, apart = 0, rounding = 1e-12 / fabs(h);
        for (int i = f->n; i < 2 * f->n; i++) {
            error = fmax(error, fabs(found[i] - due[i]));
            apart = fmax(apart, fabs(half[i] - due[i]));
            size = fmax(size, fabs(due[i]));
            bend = side ? fmax(bend, fabs(found[i] - before[i])) : 0;
        }
        whole = apart <= 1e-6 * size + 2 * rounding;
        cr_expect(kinks == 0 && close > 0, "%s, side %d: %d and %d kinks", name, side, kinks, close);
        cr_expect(!whole || error <= 1e-6 * size + rounding, "%s, side %d: %g of %g", name, side, error, size);
        memcpy(before, found, sizeof *found * 2 * (size_t)f->n);
    }
    cr_expect(!whole || bend > 1e-3 * size, "%s: no kink, %g of %g", name, bend, size);
    free(found), free(due), free(before), free(half);
    return whole;
}

/* ---- a gripper with its box ---- */

/* Two fingers on sliders along x press four balls each on a box; servos close them. */
static sim_model *gripper(random_source *r) {
    static const double once[] = {0}, inwards[] = {0.02, -0.02};
    sim_builder *b = sim_builder_create();
    sim_material rubber = sim_material_default();
    sim_shape tip = sim_shape_default(), box = sim_shape_default();
    rubber.friction = FRICTION;
    tip.type = SIM_SPHERE;
    tip.size[0] = 0.01;
    tip.material = box.material = sim_builder_add_material(b, &rubber);
    for (int side = 0; side < 2; side++) {
        sim_body_def def = sim_body_default();
        sim_actuator servo = sim_actuator_default();
        def.joint = SIM_SLIDER;
        def.axis = (sim_v3){1, 0, 0};
        def.placement.p.x = side ? 0.06 - 2e-5 : -0.06 + 1e-5;
        def.inertia = box_inertia(random_uniform(r, 0.1, 0.3), 0.02, 0.1, 0.1);
        tip.body = sim_builder_add_body(b, &def);
        for (int k = 0; k < 4; k++) {
            double y = random_uniform(r, 0.02, 0.04), z = random_uniform(r, 0.02, 0.04);
            tip.pose.p = (sim_v3){0, k % 2 ? y : -y, k < 2 ? z : -z};
            sim_builder_add_shape(b, &tip);
        }
        servo.kp = random_uniform(r, 700, 2000);
        servo.kd = random_uniform(r, 20, 60);
        servo.effort = 1e4;
        servo.target =
            (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = once, .values = &inwards[side]};
        sim_builder_add_actuator(b, tip.body, &servo);
    }
    sim_body_def def = sim_body_default();
    def.inertia = box_inertia(random_uniform(r, 0.5, 1), 0.1, 0.1, 0.1);
    box.type = SIM_BOX;
    box.size[0] = box.size[1] = box.size[2] = 0.1;
    box.body = sim_builder_add_body(b, &def);
    sim_builder_add_shape(b, &box);
    return sim_builder_finish(b, NULL);
}

/* How many contacts slide? */
static int sliding_contacts(const sim_world *w) {
    const sim_state *s = sim_world_state(w);
    const sim_model *m = sim_world_model(w);
    int count = 0;
    for (int k = 0; k < s->ncontact; k++) {
        const sim_contact *c = &s->contact[k];
        double mu = sim_material_together(m, m->shape[c->shape_a].material, m->shape[c->shape_b].material).friction;
        sim_v3 n = c->at.normal, g = s->impulse[k];
        double normal = n.x * g.x + n.y * g.y + n.z * g.z;
        sim_v3 t = {g.x - normal * n.x, g.y - normal * n.y, g.z - normal * n.z};
        count += sqrt(t.x * t.x + t.y * t.y + t.z * t.z) > (1 - 1e-9) * mu * fabs(normal);
    }
    return count;
}

static int pressing_contacts(const sim_world *w) {
    const sim_state *s = sim_world_state(w);
    int count = 0;
    for (int k = 0; k < s->ncontact; k++) {
        sim_v3 g = s->impulse[k];
        count += g.x * g.x + g.y * g.y + g.z * g.z > 0;
    }
    return count;
}

static void expect_grips(piece_of piece, bool pulls_down, const char *solver) {
    int tried = 0, checked = 0;
    for (int integrator = 0; integrator < SIM_RK4; integrator++) {
        for (int k = 0; k < trials_of(5); k++) {
            random_source r = {(uint64_t)(300 + 10 * integrator + k)};
            fixture f;
            open_fixture(&f, gripper(&r), (sim_integrator)integrator, solver, 20);
            /* dofs: two fingers, then the box */
            path p = pulls_down ? (path){.dof = 4, .to = -300} : (path){.dof = 0, .to = -3000};
            checked += expect_sides(&f, &p, piece, solver);
            tried++;
            close_fixture(&f);
        }
    }
    cr_expect(checked >= tried / 2, "%s: %d of %d", solver, checked, tried);
}

Test(one_sided_derivatives, equal_differences_where_a_held_box_begins_to_slip) {
    expect_grips(sliding_contacts, true, "sap");
    expect_grips(sliding_contacts, true, "auto");
}
Test(one_sided_derivatives, equal_differences_where_a_finger_leaves_a_box) {
    expect_grips(pressing_contacts, false, "sap");
    expect_grips(pressing_contacts, false, "auto");
}

/* The arm holds its cube in the air. */
Test(one_sided_derivatives, equal_differences_where_the_cube_of_the_panda_begins_to_slip) {
    int checked = 0, tried = 0;
    for (int integrator = 0; integrator < SIM_RK4; integrator++) {
        for (int k = 0; k < trials_of(3); k++) {
            fixture f;
            open_scene(&f, "scenes/robots/panda_lifts_cube.json", (sim_integrator)integrator, "sap", 1900 + 150 * k);
            path down = {.dof = 2, .to = -300};
            checked += expect_sides(&f, &down, sliding_contacts, "panda");
            tried++;
            close_fixture(&f);
        }
    }
    cr_expect(checked >= tried / 2, "%d of %d", checked, tried);
}

/* ---- forces that free motion goes on with ---- */

/* The greatest difference of a column by the vertical velocity of the trunk, over its greatest number. */
static double gap_of_width(fixture *f, const path *p, double h) {
    const double weight[4] = {1, -8, 8, -1}, at[4] = {-2, -1, 1, 2};
    double *found = numbers(2 * f->n), *due = numbers(2 * f->n), most = 0, size = 0;
    for (int k = 0; k < 4; k++) {
        step_at(f, p, at[k] * h);
        for (int i = 0; i < 2 * f->n; i++) {
            due[i] += weight[k] * f->end[i] / (12 * h);
        }
    }
    cr_assert_geq(derive_at(f, p, 0, 0, found), 0);
    for (int i = f->n; i < 2 * f->n; i++) {
        most = fmax(most, fabs(found[i] - due[i]));
        size = fmax(size, fabs(due[i]));
    }
    free(found), free(due);
    return most / size;
}

/* A change of velocity of half of that by gravity ends the prediction of forces.  Then free motion goes on without them, and a
 * step by midpoint or implicit Euler jumps within its error. */
Test(one_sided_derivatives, of_a_standing_robot_hold_until_its_forces_are_no_longer_predicted) {
    for (int k = 0; k < 2 * trials_of(5); k++) {
        random_source r = {(uint64_t)(700 + k)};
        fixture f;
        open_fixture(&f, standing_robot(&r), k % 2 ? SIM_MIDPOINT : SIM_IMPLICIT_EULER, "sap", 40);
        path up = {.dof = 2, .by_velocity = true};
        double g = 9.81, *along = numbers(2 * f.n);
        cr_expect(gap_of_width(&f, &up, 0.05 * STEP * g) < 1e-9);
        cr_expect(gap_of_width(&f, &up, 2 * STEP * g) > 1e-6);
        /* four feet change their piece within so much; of the robot that is counted once more */
        cr_expect_leq(derive_at(&f, &up, 0, 0.02 * STEP * g, along), 4);
        cr_expect_eq(derive_at(&f, &up, 0, 2 * STEP * g, along), 5);
        free(along);
        close_fixture(&f);
    }
}
