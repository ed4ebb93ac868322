/* Files that a command is to write: none that it reads, none twice, and all can be opened before any is emptied. */
#ifndef APP_CLI_OUTPUTS_H
#define APP_CLI_OUTPUTS_H

#include "app/cli/options.h"
#include <sim/scene.h>

/* Is `path` not `input` ("the trajectory"), nor one of the files that the scene names?  Either may be NULL. */
sim_status outputs_apart(const char *path, const char *input, const char *meaning, sim_error *error);
sim_status outputs_apart_from_scene(const char *path, const sim_scene *scene, sim_error *error);

/* Of a run: all it writes against all it reads and against each other, before and after the scene is known. */
sim_status outputs_check_request(const run_request *request, sim_error *error);
sim_status outputs_check_scene(const run_request *request, const sim_scene *scene, sim_error *error);

/* Could all of these (NULL, "-": none) be opened for writing?  They are as they were, or empty where they were not. */
sim_status outputs_claim(const char *const *path, int count, sim_error *error);
/* Of a run: trajectories and summary. */
sim_status outputs_claim_request(const run_request *request, sim_error *error);

#endif
