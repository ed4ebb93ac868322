/* Derivatives of a step with the memory of its world, against differences: of q, v and memory by all of them; and their
 * products over many steps, by the default solver and integrator and by others.  With the memory held, products are wrong
 * by a tenth where the law keeps impulses: derivatives by q and v alone do not multiply. */
#include "support/models.h"
#include "support/share.h"
#include "support/worlds.h"

#include "math/v3.h"
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double STEP = 2e-3, TOLERANCE = 1e-14, MAX_SIZE = 0.3, MAX_BOX_MASS = 3; /* s; of the solver; m; kg */

/* The numbers of a state that a derivative is taken by. */
typedef struct numbers {
    double *q, *v, *trail, *held, *joint, *impulse, *moment;
} numbers;

typedef struct fixture {
    random_source random;
    sim_model *model;
    sim_world *world;
    sim_snapshot *start;
    sim_step_derivatives *work;
    double option[SOLVER_OPTIONS];
    int n, before, after; /* dofs; sizes of the memory */
    bool resisted;        /* do contacts resist turning? */
    double lever;         /* m: errors of velocities at contacts turn bodies by as much more */
    double heavy;         /* mass of several bodies over that of the heaviest box: forces round in proportion */
    numbers at;
    double *found; /* [2 n + after][2 n + before] */
} fixture;

static double *copied(const double *from, size_t count) {
    double *to = calloc(count + 1, sizeof *to);
    if (count > 0) {
        memcpy(to, from, count * sizeof *to);
    }
    return to;
}

static numbers copy_numbers(const sim_model *m, const sim_state *s) {
    size_t n = (size_t)m->nv;
    double *moment = calloc(3 * (size_t)s->ncontact + 1, sizeof *moment);
    for (int k = 0; k < s->ncontact; k++) {
        memcpy(moment + 3 * (ptrdiff_t)k, &s->contact[k].moment, 3 * sizeof *moment);
    }
    return (numbers){copied(s->q, (size_t)m->nq),
                     copied(s->v, n),
                     copied(s->trail, 4 * n),
                     copied(s->held, n),
                     copied(s->joint_impulse, SIM_JOINT_ROWS * n),
                     copied((const double *)s->impulse, 3 * (size_t)s->ncontact),
                     moment};
}

static void free_numbers(numbers *s) {
    free(s->q), free(s->v), free(s->trail), free(s->held), free(s->joint), free(s->impulse);
    free(s->moment);
}

/* The number of the state at place j of (v, memory). */
static double *number_at(const fixture *f, const numbers *s, int j, int contacts) {
    int n = f->n, turns = f->resisted ? 3 * contacts : 0, joints = f->before - 5 * n - 3 * contacts - turns;
    double *const part[] = {s->v, s->trail, s->held, s->trail + 2 * (ptrdiff_t)n, s->joint, s->impulse, s->moment};
    const int size[] = {n, 2 * n, n, 2 * n, joints, 3 * contacts, turns};
    int k = 0;
    while (j >= size[k]) {
        j -= size[k++];
    }
    return part[k] + j;
}

/* ---- scenes ---- */

static sim_inertia box_of(random_source *r, sim_v3 size) {
    return box_inertia(random_uniform(r, 0.5, MAX_BOX_MASS), size.x, size.y, size.z);
}

static const sim_v3 EGG = {0.2, 0.15, 0.12}; /* m, semi-axes */

typedef enum scene_kind {
    BOX_ON_GROUND,
    LIMITED_CHAIN,
    BOX_ON_SLAB,
    EGG_ON_GROUND,
    ROBOT,
    WEAK_ROBOT,
    LINKED_BOXES,
    RESISTED_EGG
} scene_kind;

/* A box on the ground, that slides and spins; or on a slab on a hinge with a spring, so that normals turn. */
static sim_model *sliding_box(random_source *r, sim_v3 size, bool slab) {
    sim_builder *b = sim_builder_create();
    sim_shape ground = sim_shape_default(), box = sim_shape_default();
    sim_body_def def = sim_body_default();
    ground.type = SIM_HALF_SPACE;
    if (slab) {
        sim_body_def hinged = sim_body_default();
        hinged.joint = SIM_HINGE;
        hinged.axis = (sim_v3){0.6, 0.8, 0};
        hinged.stiffness[0] = 300;
        hinged.placement.p.z = -0.1;
        ground.type = SIM_BOX;
        ground.size[0] = ground.size[1] = 2, ground.size[2] = 0.2;
        hinged.inertia = box_inertia(20, 1, 1, 0.2);
        ground.body = sim_builder_add_body(b, &hinged);
    }
    sim_builder_add_shape(b, &ground);
    def.inertia = box_of(r, size);
    box.type = SIM_BOX;
    box.size[0] = size.x, box.size[1] = size.y, box.size[2] = size.z;
    def.joint = SIM_FREE;
    def.placement.p = (sim_v3){0, 0, 0.5 * size.z - 2e-5};
    box.body = sim_builder_add_body(b, &def);
    sim_builder_add_shape(b, &box);
    return sim_builder_finish(b, NULL);
}

/* An ellipsoid that rolls on the ground. */
static sim_model *rolling_egg(random_source *r) {
    sim_builder *b = sim_builder_create();
    sim_shape ground = sim_shape_default(), egg = sim_shape_default();
    sim_body_def def = sim_body_default();
    sim_material smooth = sim_material_default();
    smooth.friction = 0.05; /* it slips throughout: without slip, errors of the scheme bend the derivatives */
    ground.material = egg.material = sim_builder_add_material(b, &smooth);
    ground.type = SIM_HALF_SPACE;
    sim_builder_add_shape(b, &ground);
    def.joint = SIM_FREE;
    def.inertia = box_inertia(random_uniform(r, 0.2, 0.5), 0.3, 0.25, 0.2);
    def.placement.p = (sim_v3){0, 0, EGG.z - 2e-5};
    egg.type = SIM_ELLIPSOID;
    egg.size[0] = EGG.x, egg.size[1] = EGG.y, egg.size[2] = EGG.z;
    egg.body = sim_builder_add_body(b, &def);
    sim_builder_add_shape(b, &egg);
    return sim_builder_finish(b, NULL);
}

/* Two free boxes that hang from the world and from each other, by a point and by a distance. */
static sim_model *linked_boxes(random_source *r, sim_v3 size) {
    sim_builder *b = sim_builder_create();
    for (int i = 0; i < 2; i++) {
        sim_body_def def = sim_body_default();
        def.joint = SIM_FREE;
        def.inertia = box_of(r, size);
        def.placement.p = (sim_v3){0, 0, -0.5 * i};
        int body = sim_builder_add_body(b, &def);
        sim_equality link = {.type = i ? SIM_DISTANCE : SIM_CONNECT, .body = {body, i}, .stiffness = INFINITY};
        sim_v3 at = {random_uniform(r, -0.1, 0.1), random_uniform(r, -0.1, 0.1), 0.05};
        link.frame[0] = link.frame[1] = (sim_pose){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, at};
        link.distance = i ? 0.5 : 0;
        sim_builder_add_equality(b, &link);
    }
    return sim_builder_finish(b, NULL);
}

/* A double pendulum with dry friction, that rests on an end of its range. */
static sim_model *limited_chain(random_source *r) {
    sim_builder *b = sim_builder_create();
    for (int i = 0; i < 2; i++) {
        sim_body_def def = sim_body_default();
        def.joint = SIM_HINGE;
        def.axis = (sim_v3){0, 1, 0};
        def.parent = i;
        def.placement.p = (sim_v3){i ? 0.4 : 0, 0, 0};
        def.inertia = box_of(r, (sim_v3){0.4, 0.1, 0.1});
        def.inertia.com = (sim_v3){0.2, 0, 0};
        def.limit[0] = (sim_limit){.low = -2, .high = i ? 2 : 1e-4, .stiffness = INFINITY};
        def.friction[0] = random_uniform(r, 2, 6);
        sim_builder_add_body(b, &def);
    }
    return sim_builder_finish(b, NULL);
}

/* A robot whose servos reach the ends of their ranges. */
static sim_model *weak_robot(random_source *r) {
    sim_model *m = standing_robot(r);
    for (int k = 0; k < m->nactuator; k++) {
        sim_actuator *a = (sim_actuator *)&m->actuator[k];
        a->force_range[1] = random_uniform(r, 0.05, 1);
        a->force_range[0] = -a->force_range[1];
    }
    return m;
}

static bool is_egg(scene_kind scene) { return scene == EGG_ON_GROUND || scene == RESISTED_EGG; }

static void open_fixture(fixture *f, scene_kind scene, sim_integrator integrator, const char *solver, uint64_t seed) {
    sim_error error;
    *f = (fixture){.random = {seed}};
    sim_v3 size = {random_uniform(&f->random, 0.15, MAX_SIZE), random_uniform(&f->random, 0.15, MAX_SIZE), 0.1};
    f->model = scene == LIMITED_CHAIN  ? limited_chain(&f->random)
               : is_egg(scene)         ? rolling_egg(&f->random)
               : scene == ROBOT        ? standing_robot(&f->random)
               : scene == WEAK_ROBOT   ? weak_robot(&f->random)
               : scene == LINKED_BOXES ? linked_boxes(&f->random, size)
                                       : sliding_box(&f->random, size, scene == BOX_ON_SLAB);
    f->resisted = scene == RESISTED_EGG;
    double least = seed % 2 ? 1e-3 : 0.1; /* m: it turns, or grips */
    for (int k = 0; k < f->model->nmaterial && f->resisted; k++) {
        sim_material *of = (sim_material *)&f->model->material[k];
        of->rolling = random_uniform(&f->random, least, 20 * least);
        of->torsion = random_uniform(&f->random, least, 20 * least);
    }
    sim_options options = sim_options_default();
    options.step = STEP;
    options.integrator = integrator;
    options.tolerance = TOLERANCE;
    set_solver(&options, solver, TOLERANCE, f->option);
    f->n = f->model->nv;
    f->lever = is_egg(scene) ? EGG.z : 1;
    bool many = scene == ROBOT || scene == WEAK_ROBOT || scene == LINKED_BOXES;
    f->heavy = many ? 0 : 1;
    for (int i = 1; i < f->model->nbody && many; i++) {
        f->heavy += f->model->inertia[i].mass / MAX_BOX_MASS;
    }
    f->world = sim_world_create(f->model, &options, &error);
    f->work = sim_step_derivatives_create(f->model, &error);
    cr_assert(f->world && f->work, "%s", error.text);
    double *v = copied(sim_world_state(f->world)->v, (size_t)f->n);
    int box = scene == BOX_ON_SLAB ? 1 : 0;
    for (int j = box; j < f->n && scene != ROBOT; j++) {
        v[j] = scene == LIMITED_CHAIN  ? random_uniform(&f->random, 0, 1)
               : scene == LINKED_BOXES ? random_uniform(&f->random, -1, 1)
               : scene == WEAK_ROBOT   ? random_uniform(&f->random, -0.3, 0.3)
                                       : random_uniform(&f->random, -1, 1) * (j < box + 2   ? 1
                                                                              : j < box + 5 ? 2e-3
                                                                                            : 0.3);
    }
    if (is_egg(scene)) { /* it rolls with some slip */
        v[3] = random_uniform(&f->random, -3, 3);
        v[4] = random_uniform(&f->random, -3, 3);
        v[0] = v[4] * EGG.z + random_uniform(&f->random, 0.05, 0.2);
        v[1] = -v[3] * EGG.z;
        v[2] = 0;
    }
    sim_state start = *sim_world_state(f->world);
    start.v = v;
    start.trail = NULL;
    cr_assert_eq(sim_world_set_state(f->world, &start, NULL), SIM_OK);
    free(v);
}

static void close_fixture(fixture *f) {
    free_numbers(&f->at);
    free(f->found);
    sim_snapshot_free(f->start);
    sim_step_derivatives_free(f->work);
    sim_world_free(f->world);
    sim_model_free(f->model);
}

static void keep_start(fixture *f) {
    f->start = sim_snapshot_create(f->world, NULL);
    cr_assert_not_null(f->start);
    f->at = copy_numbers(f->model, sim_snapshot_state(f->start));
}

/* ---- one step ---- */

/* (q1 - q, v1, memory) after a step from the start, a number of which moves; false: other contacts. */
static bool sample(fixture *f, int j, double h, const double *q1, double *to) {
    const sim_state *start = sim_snapshot_state(f->start);
    sim_state from = *start;
    numbers s = copy_numbers(f->model, start);
    double *along = calloc((size_t)f->n, sizeof *along);
    if (j < f->n) {
        along[j] = h;
        sim_advance(f->model, sim_all(f->model), start->q, along, 1, s.q);
    } else {
        *number_at(f, &s, j - f->n, start->ncontact) += h;
    }
    from.q = s.q, from.v = s.v, from.trail = s.trail, from.held = s.held, from.joint_impulse = s.joint;
    from.impulse = (sim_v3 *)s.impulse;
    sim_contact *contact = calloc((size_t)start->ncontact + 1, sizeof *contact);
    for (int k = 0; k < start->ncontact; k++) {
        contact[k] = start->contact[k];
        memcpy(&contact[k].moment, s.moment + 3 * (ptrdiff_t)k, 3 * sizeof *s.moment);
    }
    from.contact = contact;
    sim_error error;
    cr_assert_eq(sim_world_set_state(f->world, &from, &error), SIM_OK, "%s", error.text);
    cr_assert_eq(sim_world_step(f->world, &error), SIM_OK, "%s", error.text);
    int before, after;
    sim_world_memory_sizes(f->world, &before, &after);
    if (after == f->after) {
        const sim_state *end = sim_world_state(f->world);
        sim_difference(f->model, sim_all(f->model), q1, end->q, to);
        memcpy(to + f->n, end->v, sizeof *to * (size_t)f->n);
        sim_world_memory(f->world, to + 2 * (ptrdiff_t)f->n);
    }
    free(along), free(contact);
    free_numbers(&s);
    return after == f->after;
}

enum { PARTS = 3 }; /* positions, velocities, memory */

static int part_of_row(const fixture *f, int i) { return i < f->n ? 0 : i < 2 * f->n ? 1 : 2; }

/* Velocities are solved to TOLERANCE of their size, and close gaps, which rounding knows to epsilon of the sizes of
 * bodies, within a step; over a lever that is a turn.  The weights of differences add up to 1.5. */
static double rounding_of(const fixture *f, int part, double h) {
    double speed2 = 0;
    for (int i = 0; i < f->n; i++) {
        speed2 += sim_world_state(f->world)->v[i] * sim_world_state(f->world)->v[i];
    }
    double unsure = 1.5 * (TOLERANCE * sqrt(speed2) + DBL_EPSILON * MAX_SIZE / STEP / f->lever);
    return (part == 0 ? 1e-15 : part == 1 ? unsure : 5e-12 * f->heavy / f->lever) / h;
}

/* Column j: (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h; false: other contacts. */
static bool difference(fixture *f, int j, double h, const double *q1, double *one, double *sum) {
    const double weight[4] = {1, -8, 8, -1}, at[4] = {-2, -1, 1, 2};
    int rows = 2 * f->n + f->after;
    memset(sum, 0, sizeof *sum * (size_t)rows);
    for (int k = 0; k < 4; k++) {
        if (!sample(f, j, at[k] * h, q1, one)) {
            return false;
        }
        for (int i = 0; i < rows; i++) {
            sum[i] += weight[k] * one[i] / (12 * h);
        }
    }
    return true;
}

/* The greatest error of each part of a column, and the greatest number. */
static void measure(const fixture *f, const double *due, const double *found, int stride, double error_of[PARTS],
                    double size[PARTS]) {
    for (int part = 0; part < PARTS; part++) {
        error_of[part] = size[part] = 0;
    }
    for (int i = 0; i < 2 * f->n + f->after; i++) {
        int part = part_of_row(f, i);
        error_of[part] = fmax(error_of[part], fabs(due[i] - found[(ptrdiff_t)i * stride]));
        size[part] = fmax(size[part], fabs(due[i]));
    }
}

/* The whole matrix against differences, within three times the rounding that those of several bodies tell by their widths; false: the step has no derivative, is at a kink, or jumps between samples, so
 * that differences of half the width part. */
static bool expect_step(fixture *f, const char *name) {
    /* the step and its derivative */
    sim_error error;
    keep_start(f);
    cr_assert_eq(sim_world_step(f->world, &error), SIM_OK, "%s", error.text);
    sim_world_memory_sizes(f->world, &f->before, &f->after);
    int n = f->n, rows = 2 * n + f->after, columns = 2 * n + f->before;
    double *found = f->found = calloc((size_t)rows * (size_t)columns, sizeof *found);
    sim_step_jacobian out = {.memory = true, .near = 3e-6, .by_state = found}; /* samples go less far */
    if (sim_world_step_derivatives(f->world, f->work, &out, &error) || out.kinks) {
        return false;
    }
    double *q1 = copied(sim_world_state(f->world)->q, (size_t)f->model->nq);
    double *work = calloc(3 * (size_t)rows, sizeof *work), *wide = work + rows, *narrow = wide + rows;
    /* column by column; scales of rows and columns are those of velocities and impulses */
    bool same = true;
    for (int j = 0; j < columns && same; j++) {
        double h = j < n ? 3e-9 : 1e-6, error_of[PARTS], size[PARTS], apart[PARTS];
        same = difference(f, j, h, q1, work, wide) && difference(f, j, h / 2, q1, work, narrow);
        measure(f, wide, narrow, 1, error_of, size);
        for (int part = 0; part < PARTS && same; part++) {
            same = error_of[part] <= 1e-6 * size[part] + 3 * rounding_of(f, part, h);
            apart[part] = 3 * error_of[part];
        }
        measure(f, wide, found + j, columns, error_of, size);
        for (int part = 0; part < PARTS && same; part++) {
            double rounding = rounding_of(f, part, h) + (f->heavy > 1 ? apart[part] : 0);
            cr_expect(error_of[part] <= 1e-6 * size[part] + rounding, "%s, column %d of %d, part %d: %g of %g", name, j,
                      columns, part, error_of[part], size[part]);
        }
    }
    free(q1), free(work);
    return same;
}

/* At least half of all trials have a derivative; of few, fewer may. */
static void expect_steps(scene_kind scene, const char *solver) {
    enum { TRIALS = 10 };
    int checked = 0, tried = 0;
    for (int integrator = 0; integrator < SIM_RK4; integrator++) {
        for (int k = 0; k < part_of(TRIALS); k++) {
            fixture f;
            open_fixture(&f, scene, (sim_integrator)integrator, solver, (uint64_t)(500 + 100 * integrator + k));
            for (int step = 0; step < 5 + k; step++) {
                cr_assert_eq(sim_world_step(f.world, NULL), SIM_OK);
            }
            checked += expect_step(&f, solver);
            tried++;
            close_fixture(&f);
        }
    }
    cr_expect(checked >= tried / 2 || tried < SIM_RK4 * TRIALS, "%s: %d of %d", solver, checked, tried);
}

Test(chained_derivatives, of_a_step_of_boxes_by_the_whole_state_equal_differences) {
    expect_steps(BOX_ON_GROUND, "auto");
    expect_steps(BOX_ON_GROUND, "sap");
}
Test(chained_derivatives, of_a_step_of_boxes_on_a_slab_by_the_whole_state_equal_differences) {
    expect_steps(BOX_ON_SLAB, "auto");
}
Test(chained_derivatives, of_a_step_of_eggs_that_roll_by_the_whole_state_equal_differences) {
    expect_steps(EGG_ON_GROUND, "auto");
    expect_steps(EGG_ON_GROUND, "sap");
}
Test(chained_derivatives, of_a_step_of_limited_joints_by_the_whole_state_equal_differences) {
    expect_steps(LIMITED_CHAIN, "auto");
    expect_steps(LIMITED_CHAIN, "sap");
}
Test(chained_derivatives, of_a_step_of_linked_boxes_by_the_whole_state_equal_differences) {
    expect_steps(LINKED_BOXES, "auto");
    expect_steps(LINKED_BOXES, "sap");
}
/* Free motion goes on with the forces of its feet, under midpoint and implicit Euler, beside limited servos. */
Test(chained_derivatives, of_a_step_of_robots_that_stand_by_the_whole_state_equal_differences) {
    expect_steps(ROBOT, "auto");
    expect_steps(ROBOT, "sap");
}

/* The law keeps moments of contacts from step to step. */
Test(chained_derivatives, of_a_step_against_resistance_by_the_whole_state_equal_differences) {
    expect_steps(RESISTED_EGG, "auto");
    expect_steps(RESISTED_EGG, "sap");
}

/* Rows hold servos off the side on which free motion has them. */
Test(chained_derivatives, of_a_step_of_robots_with_saturated_servos_by_the_whole_state_equal_differences) {
    expect_steps(WEAK_ROBOT, "auto");
    expect_steps(WEAK_ROBOT, "sap");
}

/* ---- many steps ---- */

enum { STEPS = 50 };

/* The end of STEPS steps from the start, its velocity moved along dof j; false: a step fails. */
static bool run_from(fixture *f, int j, double h) {
    sim_state from = *sim_snapshot_state(f->start);
    double *v = copied(from.v, (size_t)f->n);
    v[j] += h;
    from.v = v;
    from.trail = NULL; /* velocities before the start are those of the start */
    bool ok = sim_world_set_state(f->world, &from, NULL) == SIM_OK;
    for (int k = 0; k < STEPS && ok; k++) {
        ok = sim_world_step(f->world, NULL) == SIM_OK;
    }
    free(v);
    return ok;
}

/* The product of the derivatives of STEPS steps by the velocities at the start, 2 n x n; NULL: there is none. */
static double *chain(fixture *f) {
    int n = f->n, size = 0;
    double *product = NULL;
    for (int k = 0; k < STEPS; k++) {
        cr_assert_eq(sim_world_step(f->world, NULL), SIM_OK);
        int before, after;
        sim_world_memory_sizes(f->world, &before, &after);
        int rows = 2 * n + after, columns = 2 * n + before;
        if (k == 0) { /* v, and the two velocities before, which are the same */
            product = calloc((size_t)columns * (size_t)n, sizeof *product);
            for (int j = 0; j < n; j++) {
                product[(n + j) * n + j] = product[(2 * n + j) * n + j] = product[(3 * n + j) * n + j] = 1;
            }
            size = columns;
        }
        cr_assert_eq(columns, size);
        double *by = calloc((size_t)rows * (size_t)columns, sizeof *by),
               *next = calloc((size_t)rows * (size_t)n, sizeof *next);
        sim_step_jacobian out = {.memory = true, .by_state = by};
        bool ok = sim_world_step_derivatives(f->world, f->work, &out, NULL) == SIM_OK && out.kinks == 0;
        for (int i = 0; i < rows; i++) {
            for (int m = 0; m < columns; m++) {
                for (int j = 0; j < n; j++) {
                    next[i * n + j] += by[(ptrdiff_t)i * columns + m] * product[m * n + j];
                }
            }
        }
        free(by), free(product);
        product = next;
        size = rows;
        if (!ok) {
            free(product);
            return NULL;
        }
    }
    return product;
}

static bool expect_chain(fixture *f, const char *name) {
    keep_start(f);
    double *product = chain(f);
    if (!product) {
        return false;
    }
    int n = f->n;
    double *q1 = copied(sim_world_state(f->world)->q, (size_t)f->model->nq),
           *due = calloc((size_t)(2 * n), sizeof *due), *along = calloc((size_t)n, sizeof *along), most = 0, size = 0;
    const double weight[4] = {1, -8, 8, -1}, at[4] = {-2, -1, 1, 2}, h = 1e-7;
    for (int j = 0; j < n; j++) {
        memset(due, 0, sizeof *due * 2 * (size_t)n);
        for (int k = 0; k < 4; k++) {
            cr_assert(run_from(f, j, at[k] * h));
            sim_difference(f->model, sim_all(f->model), q1, sim_world_state(f->world)->q, along);
            for (int i = 0; i < n; i++) {
                due[i] += weight[k] * along[i] / (12 * h);
                due[n + i] += weight[k] * sim_world_state(f->world)->v[i] / (12 * h);
            }
        }
        for (int i = 0; i < 2 * n; i++) {
            most = fmax(most, fabs(due[i] - product[i * n + j]));
            size = fmax(size, fabs(due[i]));
        }
    }
    cr_expect(most <= 1e-6 * size, "%s: %g of %g", name, most, size);
    free(q1), free(due), free(along), free(product);
    return true;
}

static void expect_chains(scene_kind scene, const char *solver) {
    int checked = 0, tried = 0;
    for (int integrator = 0; integrator < SIM_RK4; integrator++) {
        for (int k = 0; k < trials_of(6); k++) {
            fixture f;
            open_fixture(&f, scene, (sim_integrator)integrator, solver, (uint64_t)(900 + 100 * integrator + k));
            checked += expect_chain(&f, solver);
            tried++;
            close_fixture(&f);
        }
    }
    cr_expect(checked >= tried / 2, "%s: %d of %d", solver, checked, tried);
}

Test(chained_derivatives, over_50_steps_multiply_to_those_of_the_run) {
    expect_chains(BOX_ON_GROUND, "auto");
    expect_chains(BOX_ON_GROUND, "sap");
    expect_chains(EGG_ON_GROUND, "auto");
    expect_chains(EGG_ON_GROUND, "sap");
    expect_chains(LIMITED_CHAIN, "auto");
    expect_chains(LIMITED_CHAIN, "sap");
}
