/* A program of someone else's: builds a pendulum, lets it swing, and checks where it is.  Compiled against the
 * installed library; see install.sh. */
#include <math.h>
#include <sim/sim.h>
#include <stdio.h>

int main(void) {
    sim_error error = {0};
    sim_builder *builder = sim_builder_create();
    sim_body_def rod = sim_body_default();
    rod.name = "rod";
    rod.joint = SIM_HINGE;
    rod.axis = (sim_v3){0, 1, 0};
    rod.inertia = (sim_inertia){.mass = 1, .com = {0, 0, -1}, .moment = {1e-3, 1e-3, 1e-3, 0, 0, 0}};
    sim_builder_add_body(builder, &rod);
    sim_model *model = sim_builder_finish(builder, &error);
    sim_options options = sim_options_default();
    sim_world *world = model ? sim_world_create(model, &options, &error) : NULL;
    if (!world) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    double q = 0.01, v = 0, a = 0;
    sim_world_set_state(world, &(sim_state){.q = &q, .v = &v, .a = &a}, &error);
    for (int i = 0; i < 1000; i++) {
        if (sim_world_step(world, &error)) {
            fprintf(stderr, "%s\n", error.text);
            return 1;
        }
    }
    double expected = 0.01 * cos(sqrt(9.81 / 1.001)), found = sim_world_state(world)->q[0];
    printf("sim %s: %.6f, expected %.6f\n", sim_version(), found, expected);
    sim_world_free(world);
    sim_model_free(model);
    return fabs(found - expected) < 1e-6 ? 0 : 1;
}
