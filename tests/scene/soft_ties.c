/* Ties of soft bodies to rigid ones in time: plates that tumble with a jelly, and plates that a jelly stops. */
#include "support.h"
#include "support/models.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/world.h>
#include <stdio.h>

/* A jelly of 16 g, and a plate of 1.6 cm^3 tied to one end; `wall` fixes the other. */
#define SCENE                                                                                                          \
    "{'sim': 1, 'world': {'gravity': [0, 0, 0], 'step': %g, 'integrator': '%s'}, 'bodies': [{'name': 'jelly', 'v': "   \
    "[0, 0, 0, %g, "                                                                                                   \
    "%g, %g], 'soft': {'type': 'box', 'size': [0.04, 0.02, 0.02], 'edge': 0.01, 'modulus': 1e5, 'attachments': [%s"    \
    "{'body': 'plate', 'min': [0.015, -0.02, -0.02], 'max': [0.03, 0.02, 0.02]}]}}, {'name': 'plate', 'joint': "       \
    "'free', "                                                                                                         \
    "'pose': {'position': [0.03, 0, 0]}, 'v': [0, %g, %g, %g, %g, %g], 'shapes': [{'type': 'box', 'density': %g, "     \
    "'size': [0.02, 0.02, 0.004]}]}]}"
static const char WALL[] = "{'min': [-0.021, -1, -1], 'max': [-0.019, 1, 1]}, ";

/* All turns with w about the axis (1, 2, 2); with `wall` the plate alone does. */
static sim_scene *load_tied(const char *integrator, double step, double w, double density, bool wall) {
    double x = w / 3, y = 2 * w / 3, z = y, part = wall ? 0 : 1;
    char text[1000];
    snprintf(text, sizeof text, SCENE, step, integrator, part * x, part * y, part * z, wall ? WALL : "",
             part * 0.03 * z, -part * 0.03 * y, x, y, z, density);
    return load_good(text);
}

static double total(sim_world *w) {
    sim_energy e = sim_world_energy(w);
    return e.kinetic + e.potential;
}

/* Energy after `time`, and the greatest in it, over that at the start. */
static double run_tied(sim_scene *s, double time, double *most) {
    sim_error error;
    sim_world *w = sim_world_create(s->model, &s->options, &error);
    cr_assert(w, "%s", error.text);
    double start = total(w);
    *most = 1;
    for (int k = 0; k < part_of((int)(time / s->options.step + 0.5)); k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
        *most = fmax(*most, total(w) / start);
    }
    double left = total(w) / start;
    sim_world_free(w);
    sim_scene_free(s);
    return left;
}

/* A free pair at 20 rad/s: midpoint loses a part that falls with the square of the step.  No step gains over 10 s in long
 * runs, else 1 s, nor with moreau. */
Test(soft_ties, tumbling_pair_keeps_its_energy) {
    double most, left[2];
    for (int k = 0; k < 2; k++) {
        left[k] = run_tied(load_tied("midpoint", k ? 0.0025 : 0.005, 20, 3000, false), 1, &most);
        if (long_runs()) {
            run_tied(load_tied("midpoint", k ? 0.0025 : 0.005, 20, 3000, false), 10, &most);
        }
        cr_expect(most < 1 + 1e-6, "rises to %.9g", most);
    }
    double coarse = 1 - left[0], fine = 1 - left[1];
    cr_expect((coarse < 0.02 && fine < 0.3 * coarse) || is_part(), "loses %g at 5 ms and %g at 2.5 ms", coarse, fine);
    run_tied(load_tied("moreau", 0.005, 20, 3000, false), 1, &most);
    cr_expect(most == 1, "moreau: rises to %.9g", most);
}

/* A plate that a jelly at rest stops: the first step loses energy, and no later one gives it back by closing gaps. */
Test(soft_ties, stopped_plate_gains_no_energy) {
    static const char *const integrator[] = {"midpoint", "moreau"};
    for (int trial = 0; trial < part_of(12); trial++) {
        const double step = 0.005, turn = trial < 6 ? 0.1 : 0.2, density = 300 * pow(4, trial / 2 % 3);
        sim_scene *s = load_tied(integrator[trial % 2], step, turn / step, density, true);
        sim_error error;
        sim_world *w = sim_world_create(s->model, &s->options, &error);
        cr_assert(w, "%s", error.text);
        double start = total(w), before = start;
        for (int k = 0; k < 40; k++) {
            cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
            double now = total(w);
            cr_expect(now - before < 0.005 * start, "%s, %g rad, %g kg/m^3: step %d gains %g of %g J",
                      integrator[trial % 2], turn, density, k, now - before, start);
            before = now;
        }
        cr_expect(before < 0.9 * start, "%g left of %g", before, start);
        sim_world_free(w);
        sim_scene_free(s);
    }
}

/* A bar from R_0 to R on a hub that turns at w: sigma = rho w^2 (R^2 - r^2) / 2, so its tip moves out by
 * rho w^2 / 2E (R^2 L - (R^3 - R_0^3) / 3).  `step` of 1 ms; viscosity that stretched in a turn would halve that. */
Test(soft_ties, spinning_bar_stretches_by_its_centripetal_load) {
    static const char *const integrator[] = {"implicit", "symplectic", "midpoint", "moreau"};
    const double E = 2e6, rho = 1000, w = 10, L = 0.5, R0 = 0.05, R = 0.55;
    double due = rho * w * w / (2 * E) * (R * R * L - (R * R * R - R0 * R0 * R0) / 3);
    for (int k = 0; k < 4; k++) {
        char text[1200];
        snprintf(
            text, sizeof text,
            "{'sim': 1, 'world': {'gravity': [0, 0, 0], 'step': 0.001, 'integrator': '%s'}, 'bodies': [{'name': "
            "'hub', 'joint': {'type': 'hinge', 'axis': [0, 0, 1]}, 'v': [10], 'shapes': [{'type': 'box', 'size': "
            "[0.1, 0.1, 0.1], 'mass': 20}]}, {'name': 'bar', 'pose': {'position': [0.3, 0, 0]}, 'v': [0, 3, 0, 0, 0, "
            "10], 'soft': {'type': 'box', 'size': [0.5, 0.1, 0.1], 'edge': 0.05, 'modulus': 2e6, 'poisson': 0, "
            "'density': 1000, 'dissipation': 0.05, 'thickness': 0, 'attachments': [{'body': 'hub', 'distance': "
            "1e-6}]}}], 'actuators': [{'joint': 'hub', 'bias': [1e6, 0, -1e5]}]}",
            integrator[k]);
        sim_scene *s = load_good(text);
        sim_error error;
        sim_world *world = sim_world_create(s->model, &s->options, &error);
        cr_assert(world, "%s", error.text);
        for (int step = 0; step < part_of(300); step++) {
            cr_assert_eq(sim_world_step(world, &error), SIM_OK, "%s", error.text);
        }
        /* the mean place of the nodes of the tip, along the hub's x */
        const sim_soft *bar = &s->model->soft[0];
        const sim_pose *X = sim_world_derived(world)->pose;
        sim_v3 x = X[sim_model_find_body(s->model, "hub")].R.x, sum = {0, 0, 0};
        int count = 0;
        for (int n = 0; n < bar->nnode; n++) {
            if (bar->node[n].x > 0.5 * L - 1e-9) {
                sim_v3 p = X[bar->body + 1 + n].p;
                sum = (sim_v3){sum.x + p.x, sum.y + p.y, sum.z + p.z};
                count++;
            }
        }
        double out = (sum.x * x.x + sum.y * x.y + sum.z * x.z) / count - R;
        cr_expect(fabs(out - due) < 0.03 * due || is_part(), "%s: %g m in place of %g", integrator[k], out, due);
        sim_world_free(world);
        sim_scene_free(s);
    }
}

/* Energy that a step may gain, over the energies at both ends, before implicit Euler takes it; and where even that cannot,
 * so much that it must be named. */
static const double MAX_GAIN = 1e-3, MAX_UNNAMED = 0.01;

/* Plates of 0.5 to 20 times the jelly's weight, at 0.1 to 3 rad a step on a jelly at rest.  And at up to 1 rad with one
 * that turns with them.  No number leaves its range, and the step that stops a plate loses energy.  No later step gains any
 * beyond the limit; steps without solution are counted. */
Test(soft_ties, heavy_plates_gain_no_energy) {
    random_source r = {7};
    int damped = 0, lost = 0;
    for (int trial = 0; trial < trials_of(40); trial++) {
        const double step = 0.005, turn = 0.1 * pow(trial % 4 < 3 ? 30 : 10, random_uniform(&r, 0, 1));
        double weight = 0.5 * pow(40, random_uniform(&r, 0, 1));
        bool wall = trial % 4 < 3;
        sim_scene *s = load_tied(trial % 2 ? "moreau" : "midpoint", step, turn / step, 1e4 * weight, wall);
        s->options.contacts = false; /* whose springs keep energy, too */
        sim_error error;
        sim_world *w = sim_world_create(s->model, &s->options, &error);
        cr_assert(w, "%s", error.text);
        double before = total(w);
        for (int k = 0; k < 60; k++) {
            cr_assert_eq(sim_world_step(w, &error), SIM_OK, "trial %d, %g rad, %g times the weight: %s", trial, turn,
                         weight, error.text);
            const sim_step_info *info = sim_world_info(w);
            double now = total(w), limit = info->nonconverged || turn > 1 ? MAX_UNNAMED : MAX_GAIN;
            damped += info->damped > 0;
            lost += info->nonconverged > 0;
            cr_expect(now - before < limit * (now + before) || info->created > 0,
                      "%g rad, %g times the weight: step %d gains %g of %g J", turn, weight, k, now - before, before);
            cr_expect(k > 0 || !wall || now < before, "%g rad, %g times the weight: %g J after %g", turn, weight, now,
                      before);
            before = now;
        }
        sim_world_free(w);
        sim_scene_free(s);
    }
    cr_expect_gt(damped, 0);
    cr_expect_lt(lost, 60 * trials_of(40) / 20, "%d steps without a solution", lost);
}
