/* Soft bodies in scenes: meshes, attachments, refusals. */
#include "support.h"

#include "math/spatial.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/dynamics.h>
#include <sim/world.h>
#include <stdio.h>
#include <string.h>

#define JELLY "'type': 'box', 'size': [0.04, 0.02, 0.02], 'edge': 0.01, 'modulus': 1e5"
#define NO_GRAVITY "'sim': 1, 'world': {'gravity': [0, 0, 0], 'solver': 'canal', 'step': 0.002}, "

static double mass_of(const sim_model *m, const sim_soft *s) {
    double mass = 0;
    for (int n = 0; n < s->nnode; n++) {
        mass += m->body[s->body + 1 + n].inertia.mass;
    }
    return mass;
}

Test(scene_soft, is_filled_with_tetrahedra_of_its_material) {
    sim_scene *s =
        load_good("{'sim': 1, 'materials': [{'name': 'skin', 'friction': 0.7}], 'bodies': [{'name': "
                  "'jelly', 'pose': {'position': [1, 2, 3], 'rpy_deg': [0, 0, 90]}, 'v': [1, 0, 0, 0, 0, 2], "
                  "'soft': {" JELLY ", 'law': 'corotated', 'poisson': 0.3, 'density': 500, 'dissipation': "
                  "0.1, 'elasticity': 'rows', 'thickness': 0.002, 'material': 'skin', 'group': 2, 'mask': 4, 'color': "
                  "[1, 0, 0]}}]}");
    const sim_model *m = s->model;
    cr_assert_eq(m->nsoft, 1);
    const sim_soft *soft = &m->soft[0];
    cr_expect(soft->nnode == 5 * 3 * 3 && soft->ntet == 6 * 4 * 2 * 2);
    cr_expect_float_eq(mass_of(m, soft), 500 * 0.04 * 0.02 * 0.02, 1e-15);
    cr_expect(soft->law == SIM_COROTATED && soft->modulus == 1e5 && soft->poisson == 0.3);
    cr_expect(soft->rows && soft->dissipation == 0.1 && soft->thickness == 0.002 && soft->group == 2 &&
              soft->mask == 4);
    cr_expect(soft->color[0] == 1 && soft->color[1] == 0 && soft->color[3] == 1);
    cr_expect(m->material[soft->material].friction == 0.7);
    /* the node at (-0.02, -0.01, -0.01) of the frame that is turned by 90 degrees: v + w x r, w along z */
    sim_derived *d = sim_derived_create(m, NULL);
    sim_kinematics(d, sim_all(m), m->q_initial);
    sim_velocities(d, sim_all(m), m->v_initial);
    int first = soft->body + 1;
    v3 x = d->pose[first].p, v = d->vel[first].lin;
    cr_expect(v3_norm(v3_sub(x, v3_make(1.01, 1.98, 2.99))) < 1e-14, "(%g, %g, %g)", x.x, x.y, x.z);
    cr_expect(v3_norm(v3_sub(v, v3_make(1.04, 0.02, 0))) < 1e-14, "(%g, %g, %g)", v.x, v.y, v.z);
    sim_derived_free(d);
    sim_scene_free(s);
}

/* Volumes of the solids that are made, over those of the solids. */
Test(scene_soft, fills_every_solid) {
    static const struct {
        const char *keys;
        double volume, low, high;
    } solid[] = {
        {"'type': 'sphere', 'radius': 0.5, 'edge': 0.2", 4.0 / 3 * M_PI * 0.125, 0.9, 1},
        {"'type': 'cylinder', 'radius': 0.5, 'length': 2, 'edge': 0.2", M_PI * 0.5, 0.9, 1},
        {"'type': 'capsule', 'radius': 0.5, 'length': 1, 'edge': 0.2", M_PI * 0.25 + M_PI / 6, 0.9, 1},
        {"'type': 'ellipsoid', 'radii': [0.5, 0.6, 0.8], 'edge': 0.2", 4.0 / 3 * M_PI * 0.24, 0.9, 1},
        /* a polygon of n sides in place of the circles: n/(2 pi) sin(2 pi/n), n = 24 */
        {"'type': 'tube', 'radius': 0.5, 'bore': 0.4, 'length': 2, 'edge': 0.118", M_PI * 0.18, 0.98861, 0.98862},
    };
    for (size_t k = 0; k < sizeof solid / sizeof *solid; k++) {
        char text[500];
        snprintf(text, sizeof text,
                 "{'sim': 1, 'bodies': [{'name': 'a', 'soft': {%s, 'modulus': 1e5, 'density': 1, 'thickness': 0}}]}",
                 solid[k].keys);
        sim_scene *s = load_good(text);
        double ratio = mass_of(s->model, &s->model->soft[0]) / solid[k].volume;
        cr_expect(ratio > solid[k].low && ratio < solid[k].high, "%s: %.6g", solid[k].keys, ratio);
        cr_expect_eq(s->model->nshape, 0);
        sim_scene_free(s);
    }
}

/* Cuts of one cell each: a chamber, a notch, and one that takes a corner. */
Test(scene_soft, has_chambers_where_cuts_are_enclosed) {
    sim_scene *s = load_good(
        "{'sim': 1, 'bodies': [{'name': 'a', 'soft': {'type': 'box', 'size': [5, 3, 3], 'edge': 1, 'modulus': 1e5, "
        "'density': 1, 'cuts': [{'min': [-1.5, -0.5, -0.5], 'max': [-0.5, 0.5, 0.5]}, {'min': [0.5, -0.5, 0.5], "
        "'max': [1.5, 0.5, 1.5]}, {'min': [1.5, 0.5, 0.5], 'max': [2.5, 1.5, 1.5]}], 'pressure': {'sine': "
        "{'amplitude': 3, 'frequency': 1, 'offset': 5}}}}]}");
    const sim_soft *soft = &s->model->soft[0];
    double p;
    sim_track_at(&soft->pressure, 0.25, &p, NULL);
    cr_expect_float_eq(p, 8, 1e-12);
    cr_expect_float_eq(mass_of(s->model, soft), 42, 1e-12);
    cr_expect(soft->ntet == 6 * 42 && soft->nnode == 6 * 4 * 4 - 1 && soft->nchamber == 12);
    for (int k = soft->nface - soft->nchamber; k < soft->nface; k++) {
        for (int i = 0; i < 3; i++) {
            v3 x = soft->node[soft->face[k][i]];
            cr_expect(fabs(x.x + 1) < 0.6 && fabs(x.y) < 0.6 && fabs(x.z) < 0.6, "(%g, %g, %g)", x.x, x.y, x.z);
        }
    }
    sim_scene_free(s);
}

/* m: of rigid attachments. */
static double worst_gap(sim_world *w) {
    const sim_model *m = sim_world_model(w);
    const sim_derived *d = sim_world_derived(w);
    double worst = 0;
    for (int k = 0; k < m->nequality; k++) {
        const sim_equality *e = &m->equality[k];
        v3 apart = v3_sub(pose_point(d->pose[e->body[0]], e->frame[0].p), d->pose[e->body[1]].p);
        worst = fmax(worst, isinf(e->stiffness) ? v3_norm(apart) : 0);
    }
    return worst;
}

/* Nodes near a wall are fixed; those near a body that moves are held by rows, and keep their place on it. */
Test(scene_soft, is_attached_to_rigid_bodies) {
    sim_scene *s = load_good(
        "{" NO_GRAVITY "'bodies': [{'name': 'jelly', 'soft': {" JELLY
        ", 'attachments': [{'body': 'wall', 'distance': 1e-4}, {'body': 'plate', 'min': [0.015, -0.02, -0.02], 'max': "
        "[0.03, 0.02, 0.02]}, {'min': [-0.001, -1, 0.005], 'max': [0.001, 1, 1], 'stiffness': 100, 'dissipation': "
        "0.1}]}}, {'name': 'wall', 'shapes': [{'type': 'box', 'size': [0.02, 0.1, 0.1], 'pose': {'position': [-0.03, "
        "0, 0]}}]}, {'name': 'plate', 'joint': 'free', 'pose': {'position': [0.03, 0, 0], 'rpy_deg': [0, 0, 30]}, 'v': "
        "[0.5, 0, 0, 0, 0, 10], 'shapes': [{'type': 'box', 'size': [0.02, 0.02, 0.02], 'density': 1000}]}]}");
    const sim_model *m = s->model;
    int fixed = 0, plate = sim_model_find_body(m, "plate"), rigid = 0, springs = 0;
    for (int n = 0; n < m->soft[0].nnode; n++) {
        fixed += m->soft[0].held[n];
    }
    for (int k = 0; k < m->nequality; k++) {
        rigid += m->equality[k].body[0] == plate && isinf(m->equality[k].stiffness);
        springs += m->equality[k].body[0] == 0 && m->equality[k].stiffness == 100;
    }
    cr_expect(fixed == 9 && rigid == 9 && springs == 3, "%d fixed, %d rigid, %d springs", fixed, rigid, springs);
    /* the plate pulls and turns; its nodes go with it, and do not touch it */
    sim_error error;
    sim_world *w = sim_world_create(m, &s->options, &error);
    cr_assert(w, "%s", error.text);
    for (int k = 0; k < 20; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
        cr_expect_eq(sim_world_info(w)->unsolved, 0);
    }
    double worst = worst_gap(w);
    /* a turn of w dt moves a point by r (w dt)^2 / 2 off its tangent, and a step corrects a fifth of what is left */
    double off_tangent = sqrt(3) * 0.01 * pow(10 * s->options.step, 2) / 2;
    cr_expect(worst < off_tangent / 0.2, "%g m apart", worst);
    cr_expect(sim_world_derived(w)->pose[plate].p.x > 0.0302, "%g", sim_world_derived(w)->pose[plate].p.x);
    for (int k = 0; k < sim_world_state(w)->ncontact; k++) {
        const sim_contact *c = &sim_world_state(w)->contact[k];
        for (int e = 0; e < m->nequality; e++) {
            const int *body = m->equality[e].body;
            cr_expect(!(c->body_a == body[0] && c->body_b == body[1]) &&
                      !(c->body_a == body[1] && c->body_b == body[0]));
        }
    }
    sim_world_free(w);
    sim_scene_free(s);
}

/* Jelly of 16 g at rest on a wall, and a plate of 1.6 cm^3 on it that turns about the axis. */
static sim_scene *load_plate(const char *integrator, const char *elasticity, double density, double turn, v3 axis) {
    char text[1000];
    const double step = 0.005;
    v3 w0 = v3_scale(turn / step / v3_norm(axis), axis);
    snprintf(text, sizeof text,
             "{'sim': 1, 'world': {'gravity': [0, 0, 0], 'integrator': '%s', 'step': %g}, 'bodies': [{'name': 'jelly', "
             "'soft': {" JELLY ", 'elasticity': '%s', 'attachments': [{'min': [-0.021, -1, -1], 'max': [-0.019, 1, "
             "1]}, {'body': 'plate', 'min': [0.015, -0.02, -0.02], 'max': [0.03, 0.02, 0.02]}]}}, {'name': 'plate', "
             "'joint': 'free', 'pose': "
             "{'position': [0.03, 0, 0]}, 'v': [0, 0, 0, %g, %g, %g], 'shapes': [{'density': %g, 'type': 'box', "
             "'size': [0.02, 0.02, 0.004]}]}]}",
             integrator, step, elasticity, w0.x, w0.y, w0.z, density);
    return load_good(text);
}

/* Plates on jelly at rest that turn by 0.37 to 3 rad a step at first, up to twice as heavy as the jelly.  Their nodes
 * stay on them.  No step gains energy: neither the first, which makes velocities one, nor a later one. */
Test(scene_soft, holds_plates_that_spin_at_long_steps) {
    static const struct {
        const char *integrator;
        double density, turn; /* kg/m^3; rad a step */
        v3 axis;
    } plate[] = {
        {"implicit", 300, 0.37, {2, 4, 6}}, {"implicit", 3000, 1, {1, 2, 2}},   {"implicit", 8000, 1, {1, 2, 2}},
        {"implicit", 300, 1.4, {1, 2, 2}},  {"implicit", 8000, 1.4, {1, 2, 2}}, {"implicit", 300, 2, {1, 2, 2}},
        {"implicit", 20000, 2, {1, 2, 2}},  {"implicit", 300, 3, {1, 2, 2}},    {"implicit", 20000, 3, {1, 2, 2}},
        {"implicit", 8000, 3, {0, 1, 0}},   {"implicit", 8000, 3, {1, 0, 0}},   {"implicit", 20000, 1, {1, 0, 0}},
        {"implicit", 20000, 2, {1, 0, 0}},  {"implicit", 20000, 3, {1, 0, 0}},  {"symplectic", 300, 1, {1, 2, 2}},
        {"symplectic", 8000, 2, {1, 0, 0}}, {"symplectic", 300, 3, {1, 2, 2}}};
    for (size_t p = 0; p < sizeof plate / sizeof *plate; p++) {
        sim_scene *s = load_plate(plate[p].integrator, "tangent", plate[p].density, plate[p].turn, plate[p].axis);
        sim_error error;
        sim_world *w = sim_world_create(s->model, &s->options, &error);
        cr_assert(w, "%s", error.text);
        double before = sim_world_energy(w).kinetic, worst = 0;
        for (int k = 0; k < part_of(30); k++) {
            cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
            cr_expect_eq(sim_world_info(w)->unsolved + sim_world_info(w)->nonconverged, 0, "step %d", k);
            cr_expect_eq(sim_world_info(w)->created, 0);
            worst = fmax(worst, worst_gap(w));
            sim_energy e = sim_world_energy(w);
            cr_expect(e.kinetic + e.potential < before, "%s, %g kg/m^3, %g rad, step %d: %g J after %g",
                      plate[p].integrator, plate[p].density, plate[p].turn, k, e.kinetic + e.potential, before);
            before = e.kinetic + e.potential;
        }
        double off_tangent = sqrt(3) * 0.01 * plate[p].turn * plate[p].turn / 2;
        cr_expect(worst < off_tangent / 4, "%g rad: %g m apart, bound %g", plate[p].turn, worst, off_tangent / 4);
        sim_world_free(w);
        sim_scene_free(s);
    }
}

/* Energy that a step may gain unnamed, over the energies at both ends. */
static const double MAX_UNNAMED = 0.01;

/* Heavy plates on jelly whose elasticity is rows, which no step takes anew: steps that gain energy name the jelly, and
 * how much was created. */
Test(scene_soft, names_the_body_that_a_step_bends_too_far) {
    static const char *const integrator[] = {"midpoint", "moreau"};
    static const v3 axis[] = {{1, 2, 2}, {2, -1, 1}, {0, 1, -1}, {1, 0, 0}};
    int gained = 0;
    for (int p = 0; p < part_of(8); p++) {
        sim_scene *s = load_plate(integrator[p % 2], "rows", 1.6e5, 0.115, axis[p / 2]);
        sim_error error;
        s->options.contacts = false;
        sim_world *w = sim_world_create(s->model, &s->options, &error);
        cr_assert(w, "%s", error.text);
        double before = sim_world_energy(w).kinetic;
        for (int k = 0; k < part_of(60); k++) {
            cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
            const sim_step_info *info = sim_world_info(w);
            sim_energy e = sim_world_energy(w);
            double now = e.kinetic + e.potential, gain = now - before;
            bool rises = gain > 1.1 * MAX_UNNAMED * (before + now);
            gained += rises;
            cr_expect(!rises || info->created > 0.9 * gain, "step %d gains %g J, and names %g", k, gain, info->created);
            cr_expect(info->created == 0 || strcmp(s->model->body[info->created_body].name, "jelly") == 0, "body %d",
                      info->created_body);
            before = now;
        }
        sim_world_free(w);
        sim_scene_free(s);
    }
    cr_expect(gained > 0 || is_part(), "%d steps gained energy", gained);
}

/* A plate that is stopped in its turn throws no jelly: the first step, which makes velocities one, loses energy, as an
 * impact does, at up to 3 rad and with every scheme. */
Test(scene_soft, stops_plates_that_spin_without_gain) {
    static const char *const integrator[] = {"midpoint", "moreau", "symplectic", "implicit"};
    for (int k = 0; k < 12; k++) {
        sim_scene *s = load_plate(integrator[k % 4], "tangent", 300, 1 + k / 4, v3_make(1, 2, 2));
        sim_error error;
        sim_world *w = sim_world_create(s->model, &s->options, &error);
        cr_assert(w, "%s", error.text);
        double before = sim_world_energy(w).kinetic;
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
        sim_energy e = sim_world_energy(w);
        cr_expect(e.kinetic + e.potential < before, "%s, %d rad: %g J after %g", integrator[k % 4], 1 + k / 4,
                  e.kinetic + e.potential, before);
        sim_world_free(w);
        sim_scene_free(s);
    }
}

/* The pneumatic finger, with a change of its scene: its energy at the end, J, the greatest kinetic energy while the
 * pressure rises, until step 20, and that at the end.  Of a part of the run the steps alone are judged. */
static double bend_finger(const char *change, double *on_its_way, double *at_rest) {
    sim_error error;
    const char *set[] = {"world/step=0.05", change};
    sim_scene_overrides overrides = {.count = 2, .set = set};
    sim_scene *s = sim_scene_load("scenes/soft/pneunet.json", &overrides, NULL, &error);
    cr_assert(s, "%s", error.text);
    sim_world *w = sim_world_create(s->model, &s->options, &error);
    cr_assert(w, "%s", error.text);
    *on_its_way = 0;
    for (int k = 1; k <= part_of(30); k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
        cr_expect_eq(sim_world_info(w)->nonconverged + sim_world_info(w)->unsolved, 0, "step %d", k);
        *on_its_way = k <= 20 ? fmax(*on_its_way, sim_world_energy(w).kinetic) : *on_its_way;
    }
    sim_energy end = sim_world_energy(w);
    *at_rest = end.kinetic;
    sim_world_free(w);
    sim_scene_free(s);
    return end.kinetic + end.potential;
}

/* A pneumatic finger under constant gas, against a flap: its dampers bring it to rest, as its walls in compression are
 * stable.  A that leaves out their negative curvature keeps it moving, at half its speed on the way. */
Test(scene_soft, finger_under_constant_gas_comes_to_rest) {
    double on_its_way, at_rest;
    bend_finger("bodies/finger/soft/inextensible=[]", &on_its_way, &at_rest);
    cr_expect(at_rest < 1e-4 * on_its_way || is_part(), "%g J at rest, %g J before", at_rest, on_its_way);
}

/* The same with its layer, whose rods bear the gas in directions that turn as the finger bends.  By the other laws, too,
 * the forces of rods that balance each other in the flat layer are bounded, and it bends as far. */
Test(scene_soft, finger_with_a_layer_comes_to_rest) {
    double on_its_way, at_rest, energy = bend_finger("world/compliance=elastic", &on_its_way, &at_rest);
    cr_expect(at_rest < 1e-4 * on_its_way || is_part(), "%g J at rest, %g J before", at_rest, on_its_way);
    static const char *const law[] = {"world/compliance=rigid", "world/compliance=near-rigid"};
    for (int k = 0; k < (long_runs() ? 2 : 1); k++) {
        double other = bend_finger(law[k], &on_its_way, &at_rest);
        cr_expect(fabs(other / energy - 1) < 0.1 || is_part(), "%s: %g J, %g J by the elastic law", law[k], other,
                  energy);
    }
}

/* With the midpoint rule at 20 ms, inflated in 0.4 s: its motion dies out.  Rods that obey the velocity at the end of a step,
 * or keep their direction in it, keep it moving at some 1e-5 J. */
Test(scene_soft, finger_with_a_layer_comes_to_rest_by_midpoint, LONG_RUN) {
    sim_error error;
    const char *set[] = {"world/step=0.02", "world/integrator=midpoint",
                         "bodies/finger/soft/pressure={\"times\": [0, 0.4], \"values\": [0, 50000]}"};
    sim_scene_overrides overrides = {.count = 3, .set = set};
    sim_scene *s = sim_scene_load("scenes/soft/pneunet.json", &overrides, NULL, &error);
    cr_assert(s, "%s", error.text);
    sim_world *w = sim_world_create(s->model, &s->options, &error);
    cr_assert(w, "%s", error.text);
    double most = 0;
    for (int k = 1; k <= 60; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
        most = k > 50 ? fmax(most, sim_world_energy(w).kinetic) : 0;
    }
    cr_expect_lt(most, 1e-6, "%g J", most);
    sim_world_free(w);
    sim_scene_free(s);
}

/* A strip that is held at one end and hangs down: how far its tip falls, m, and the greatest stretch of the lower layer's
 * edges, at rest. */
static double hang_strip(const char *layer, double *stretch) {
    char text[1000];
    snprintf(text, sizeof text,
             "{'sim': 1, 'world': {'integrator': 'implicit', 'step': 0.01, 'law': {'beta': 0.01}}, 'bodies': [{'name': "
             "'strip', 'soft': {'type': 'box', 'size': [0.08, 0.01, 0.01], 'edge': 0.005, 'modulus': 1e5, "
             "'dissipation': 0.1, 'thickness': 0%s, 'attachments': [{'min': [-0.041, -1, -1], 'max': [-0.039, 1, "
             "1]}]}}]}",
             layer);
    sim_scene *s = load_good(text);
    sim_error error;
    sim_world *w = sim_world_create(s->model, &s->options, &error);
    cr_assert(w, "%s", error.text);
    for (int k = 0; k < part_of(100); k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
    }
    cr_expect_eq(sim_world_info(w)->unsolved + sim_world_info(w)->nonconverged, 0);
    const sim_soft *soft = &s->model->soft[0];
    const sim_pose *at = sim_world_derived(w)->pose + soft->body + 1;
    double fall = 0;
    *stretch = 0;
    for (int a = 0; a < soft->nnode; a++) {
        fall = fmax(fall, soft->node[a].z - at[a].p.z);
        for (int b = 0; b < a && soft->node[a].z < -0.0049; b++) {
            double rest = v3_norm(v3_sub(soft->node[a], soft->node[b]));
            if (soft->node[b].z < -0.0049 && rest < 0.0051) {
                *stretch = fmax(*stretch, fabs(v3_norm(v3_sub(at[a].p, at[b].p)) / rest - 1));
            }
        }
    }
    sim_world_free(w);
    sim_scene_free(s);
    return fall;
}

/* A layer below keeps its lengths to 1e-6, with a stiff law, and bends: the beam turns about it in place of its middle,
 * and is b h^3 / 3 over b h^3 / 12 = 4 times as stiff, but for the mesh. */
Test(scene_soft, inextensible_layers_keep_their_lengths_and_bend) {
    double plain, kept;
    double fall = hang_strip("", &plain);
    double with = hang_strip(", 'inextensible': [{'min': [-0.041, -1, -0.0051], 'max': [0.041, 1, -0.0049]}]", &kept);
    cr_expect(plain > 1e-3 || is_part(), "%g", plain);
    cr_expect(kept < 1e-6 || is_part(), "lengths change by %g", kept);
    cr_expect((with > fall / 8 && with < fall / 2) || is_part(), "the tip falls by %g m, by %g m with the layer", fall,
              with);
}

/* Four rods hold a block under gravity that has just turned: pendulums of period 0.2 s, in steps of 0.1 s.  Implicit Euler
 * brings them down by x1 - x0 = dt v1, v1 - v0 = dt (g_x - g x1 / L), where forces turn with the rods.  Forces in the
 * directions at the start of the step would multiply the swing by 7.7 in each. */
Test(scene_soft, rods_under_load_turn_within_the_step) {
    const char *integrator[] = {"implicit", "symplectic"};
    for (int k = 0; k < 2; k++) {
        char text[1200];
        snprintf(
            text, sizeof text,
            "{'sim': 1, 'world': {'integrator': '%s', 'step': 0.1, 'compliance': 'rigid', 'gravity': [0.01, 0, -9.81]},"
            " 'bodies': [{'name': 'block', 'soft': {'type': 'box', 'size': [0.01, 0.01, 0.01], 'edge': 0.01, 'modulus':"
            " 0.1, 'thickness': 0, 'attachments': [{'min': [-1, -1, 0.004], 'max': [1, 1, 0.006]}], 'inextensible':"
            " [{'min': [-1, -1, -1], 'max': [0, 0, 1]}, {'min': [0, -1, -1], 'max': [1, 0, 1]},"
            " {'min': [-1, 0, -1], 'max': [0, 1, 1]}, {'min': [0, 0, -1], 'max': [1, 1, 1]}]}}]}",
            integrator[k]);
        sim_scene *s = load_good(text);
        sim_error error;
        sim_world *w = sim_world_create(s->model, &s->options, &error);
        cr_assert(w, "%s", error.text);
        const sim_soft *soft = &s->model->soft[0];
        int low = 0;
        while (soft->node[low].z > 0) {
            low++;
        }
        const double stiff = 9.81 / 0.01 * 0.1 * 0.1, push = 0.01 * 0.1 * 0.1;
        double x[3] = {0, 0, 0};
        for (int step = 1; step <= 12; step++) {
            cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
            x[0] = x[1];
            x[1] = x[2];
            x[2] = sim_world_derived(w)->pose[soft->body + 1 + low].p.x - soft->node[low].x;
            double want = (2 * x[1] - x[0] + push) / (1 + stiff); /* the first step does not know the load yet */
            cr_expect(step == 1 || fabs(x[2] - want) < 0.01 * push, "%s, step %d: %g m, not %g", integrator[k], step,
                      x[2], want);
        }
        cr_expect_lt(fabs(x[2] * stiff / push - 1), 0.01, "%g m at rest", x[2]);
        sim_world_free(w);
        sim_scene_free(s);
    }
}

/* A soft and a rigid body that are attached, free in space: rows between them change no momentum. */
Test(scene_soft, attachments_keep_momentum) {
    sim_scene *s =
        load_good("{" NO_GRAVITY "'bodies': [{'name': 'plate', 'joint': 'free', 'pose': {'position': [0.03, 0, "
                  "0]}, 'v': [0.5, 0.1, 0, 5, 0, 10], 'shapes': [{'type': 'box', 'size': [0.02, 0.02, 0.02], "
                  "'density': 1000}]}, {'name': 'jelly', 'soft': {" JELLY
                  ", 'attachments': [{'body': 'plate', 'distance': 1e-4}]}}]}");
    sim_error error;
    sim_world *w = sim_world_create(s->model, &s->options, &error);
    cr_assert(w, "%s", error.text);
    sim_force before = sim_world_momentum(w);
    for (int k = 0; k < 50; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
    }
    sim_force after = sim_world_momentum(w);
    double lost = v3_norm(v3_sub(after.lin, before.lin)) / v3_norm(before.lin);
    cr_expect(lost < 1e-12, "momentum changes by %g", lost);
    sim_world_free(w);
    sim_scene_free(s);
}

/* An exclusion that names a soft body is of all its nodes. */
Test(scene_soft, is_excluded_by_name) {
    static const char *const exclusion[2] = {"", "'exclusions': [{'first': 'jelly', 'second': 'floor'}], "};
    for (int k = 0; k < 2; k++) {
        char text[1000];
        snprintf(
            text, sizeof text,
            "{'sim': 1, 'world': {'solver': 'sap', 'step': 0.005}, %s'bodies': [{'name': 'floor', 'shapes': [{'type': "
            "'half_space'}]}, {'name': 'jelly', 'pose': {'position': [0, 0, 0.011]}, 'soft': {" JELLY "}}]}",
            exclusion[k]);
        sim_scene *s = load_good(text);
        sim_error error;
        sim_world *w = sim_world_create(s->model, &s->options, &error);
        cr_assert(w, "%s", error.text);
        for (int step = 0; step < 3; step++) {
            cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
        }
        cr_expect((sim_world_state(w)->ncontact > 0) == (k == 0), "%d contacts", sim_world_state(w)->ncontact);
        sim_world_free(w);
        sim_scene_free(s);
    }
}

#define BODY(keys) "{'sim': 1, 'bodies': [\n{'name': 'jelly', " keys "}]}"

Test(scene_soft, is_refused_in_place) {
    refused(BODY("'soft': {'type': 'box', 'modulus': 1e5}"), "scene.json:2:27", "size");
    refused(BODY("'soft': {" JELLY ", 'poisson': 0.5}"), "scene.json:2:112", "poisson");
    refused(BODY("'joint': 'free', 'soft': {" JELLY "}"), "scene.json:2:28", "a soft body has no \"joint\"");
    refused(BODY("'v': [1, 2], 'soft': {" JELLY "}"), "scene.json:2:24", "expected 3 or 6 numbers, found 2");
    refused(BODY("'soft': {" JELLY ", 'bore': 1}"), "scene.json:2:101", "bore");
    refused(BODY("'soft': {'type': 'tube', 'radius': 1, 'bore': 2, 'length': 1, 'modulus': 1e5}"), "scene.json:2:36",
            "a tube needs 0 < bore < radius");
    refused(BODY("'soft': {'type': 'box', 'size': [1, 1, 1], 'edge': 1e-4, 'modulus': 1e5}"), "scene.json:2:70",
            "make more than 2e+06 nodes");
    refused(BODY("'soft': {'type': 'tetrahedra', 'file': 'none.msh', 'modulus': 1e5}"), "scene.json:2:58",
            "none.msh: there is no such file");
    refused(BODY("'soft': {'type': 'tetrahedra', 'file': 'none.obj', 'modulus': 1e5}"), "scene.json:2:58",
            "tetrahedra come from .msh");
    refused(BODY("'soft': {" JELLY ", 'material': 'gum'}"), "scene.json:2:113", "gum");
    refused(BODY("'soft': {" JELLY ", 'pressure': {'times': [0], 'values': [1]}}"), "scene.json:2:27",
            "no closed chamber");
    refused(BODY("'soft': {" JELLY ", 'cuts': [{'min': [-1, -1, -1], 'max': [1, 1, 1]}]}"), "scene.json:2:110",
            "a cut leaves no tetrahedron");
}

#define TWO(soft, other) "{'sim': 1, 'bodies': [\n{'name': 'jelly', " soft "},\n{'name': 'hand', " other "}]}"

Test(scene_soft, refuses_attachments_and_layers_that_hold_nothing) {
    refused(TWO("'soft': {" JELLY ", 'inextensible': [{'min': [1, 1, 1], 'max': [2, 2, 2]}]}", "'sites': []"),
            "scene.json:2:118", "no edge of the mesh of \"jelly\" is in that box");
    refused(TWO("'soft': {" JELLY ", 'attachments': [{'body': 'hat', 'distance': 0}]}", "'sites': []"),
            "scene.json:2:126", "there is no body \"hat\"");
    refused(TWO("'soft': {" JELLY ", 'attachments': [{'body': 'hand', 'distance': 0}]}", "'sites': []"),
            "scene.json:2:146", "\"hand\" has no shape with an inside");
    refused(TWO("'soft': {" JELLY ", 'attachments': [{'body': 'hand'}]}", "'sites': []"), "scene.json:2:117",
            "needs \"min\" and \"max\", or a \"distance\"");
    refused(TWO("'soft': {" JELLY ", 'attachments': [{'min': [1, 1, 1], 'max': [2, 2, 2]}]}", "'sites': []"),
            "scene.json:2:117", "no node of \"jelly\" is there");
    refused(TWO("'soft': {" JELLY "}", "'parent': 'jelly'"), "scene.json:3:28", "\"jelly\" carries no other");
}
