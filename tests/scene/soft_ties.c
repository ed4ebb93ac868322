/* Ties of soft bodies to rigid ones in time: plates that tumble with a jelly, and plates that a jelly stops. */
#include "support.h"
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
    for (int k = 0; k < (int)(time / s->options.step + 0.5); k++) {
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
        run_tied(load_tied("midpoint", k ? 0.0025 : 0.005, 20, 3000, false), span_of(10, 1), &most);
        cr_expect(most < 1 + 1e-6, "rises to %.9g", most);
    }
    double coarse = 1 - left[0], fine = 1 - left[1];
    cr_expect(coarse < 0.02 && fine < 0.3 * coarse, "loses %g at 5 ms and %g at 2.5 ms", coarse, fine);
    run_tied(load_tied("moreau", 0.005, 20, 3000, false), 1, &most);
    cr_expect(most == 1, "moreau: rises to %.9g", most);
}

/* A plate that a jelly at rest stops: the first step loses energy, and no later one gives it back by closing gaps. */
Test(soft_ties, stopped_plate_gains_no_energy) {
    static const char *const integrator[] = {"midpoint", "moreau"};
    for (int trial = 0; trial < 12; trial++) {
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
