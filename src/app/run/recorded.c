/* Scene of a recorded run, from the text in the recording, which has the values of the command line in it.  The hash
 * tells whether the files that the text names are still those of the run.  --scene says where these files are if they
 * are not beside the recording; where they are, it names another scene to be shown instead. */
#include "app/run/recorded.h"
#include "view/page/replay.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Is the recorded text, with the files beside `path`, the scene that ran? */
static bool is_what_ran(const char *text, const char *hash, const char *path) {
    sim_scene *scene = sim_scene_parse(text, strlen(text), path, NULL, NULL, NULL);
    bool same = scene && strcmp(scene->hash, hash) == 0;
    sim_scene_free(scene);
    return same;
}

/* Older recordings hold the text of the scene file and these overrides apart. */
static sim_status take_over(sim_scene *scene, trajectory *run, const scene_wish *wish, sim_error *error) {
    const char *solver = trajectory_text(run, "solver"), *integrator = trajectory_text(run, "integrator");
    double step = 0, between;
    sim_status status = view_replay_times(run, &step, &between, error);
    step = trajectory_number(run, "step", step);
    scene->options.step = step > 0 && isfinite(step) ? step : scene->options.step;
    scene->options.contacts = solver ? solver[0] != 0 : scene->options.contacts;
    const sim_solver_info *info = solver && !wish->solver ? sim_solver_find(solver) : NULL;
    if (info && info != scene->options.solver) {
        scene->options.solver = info;
        scene->options.solver_option = NULL; /* those of the scene are of another solver */
    }
    for (int k = 0; integrator && k < SIM_INTEGRATORS; k++) {
        if (strcmp(integrator, sim_integrator_name((sim_integrator)k)) == 0) {
            scene->options.integrator = (sim_integrator)k;
        }
    }
    return status;
}

static sim_scene *load_recorded_scene(trajectory *run, const char *beside, const scene_wish *wish, sim_error *error) {
    const char *text = trajectory_text(run, "scene"), *hash = trajectory_text(run, "scene_hash");
    int has_text = text && *text;
    int whole = has_text && hash && is_what_ran(text, hash, run->path);
    if (beside && (whole || !has_text || !hash || !is_what_ran(text, hash, beside))) {
        return setup_scene(beside, NULL, 0, wish, error);
    }
    if (!has_text) {
        sim_fail(error, SIM_BAD_INPUT, "%s: does not contain its scene: give it with --scene SCENE.json", run->path);
        return NULL;
    }
    return setup_scene(beside ? beside : run->path, text, strlen(text), wish, error);
}

sim_scene *recorded_scene(trajectory *run, const char *beside, const scene_wish *wish, sim_error *error) {
    if (!trajectory_text(run, "format")) {
        sim_fail(error, SIM_BAD_INPUT, "%s: is not a trajectory in HDF5, which sim SCENE.json --out FILE.h5 writes",
                 run->path);
        return NULL;
    }
    sim_scene *scene = load_recorded_scene(run, beside, wish, error);
    if (!scene && !error->text[0]) { /* its errors were printed */
        sim_fail(error, error->status, "%s: its scene cannot be loaded%s", run->path,
                 beside ? "" : "; if it names other files, give it with --scene");
    }
    if (!scene) {
        return NULL;
    }
    if (take_over(scene, run, wish, error)) {
        sim_scene_free(scene);
        return NULL;
    }
    return scene;
}

void recorded_warn(trajectory *run, const sim_scene *scene, const scene_wish *wish) {
    const char *hash = trajectory_text(run, "scene_hash");
    if (hash && strcmp(hash, scene->hash) != 0 && !wish->set.count && !wish->solver) {
        fprintf(stderr,
                "sim: warning: %s: was recorded from another version of this scene, or of files that it names\n",
                run->path);
    }
}
