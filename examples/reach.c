/* Joint coordinates at which the tool of a robot stands at a pose. */
#include <math.h>
#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tries a pose from the initial state on, and says how it went. */
static sim_status reach(const sim_model *model, sim_ik_goal goal, double *q, sim_error *error) {
    sim_ik_result result;
    memcpy(q, model->q_initial, (size_t)model->nq * sizeof *q);
    sim_status status = sim_inverse_kinematics(model, &goal, 1, NULL, q, &result, error);
    if (status == SIM_OK && result.outcome == SIM_IK_REACHED) {
        printf("reached: off by less than %.0e m\n", result.distance < 1e-10 ? 1e-10 : 1);
    } else if (status == SIM_OK) {
        printf("out of reach: %.3f m are left\n", result.distance);
    }
    return status;
}

int main(void) {
    sim_error error;
    sim_scene *scene = sim_scene_load("scenes/robots/panda.json", NULL, NULL, &error);
    const sim_model *model = scene ? scene->model : NULL;
    double *q = scene ? malloc((size_t)model->nq * sizeof *q) : NULL;
    sim_status status = q ? SIM_OK : SIM_NO_RESOURCE;
    if (q) {
        const sim_site *tool = &model->site[sim_model_find_site(model, "tool")];
        sim_m3 down = {{1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
        sim_ik_goal goal = {.body = tool->body, .frame = tool->pose, .pose = {down, {0.5, 0.1, 0.3}}};
        status = reach(model, goal, q, &error);
        goal.pose.p.x = 1;
        status = status ? status : reach(model, goal, q, &error);
    }
    free(q);
    sim_scene_free(scene);
    return (int)status;
}
