/* A run before its first step and after its last. */
#ifndef APP_RUN_SETUP_H
#define APP_RUN_SETUP_H

#include "app/run/run.h"
#include <stdio.h>

/* Scene, world, outputs.  Errors of a scene are printed here, and `error->text` is then empty; others are left in
 * `error`.  Nothing is written before all checks have passed. */
sim_status run_setup(run_context *run, const run_request *request, FILE **summary, sim_error *error);
/* Values of the command line that replace those of the scene: --set, --solver (NULL: not given), --seed (NULL: not
 * given), --start (NULL: not given). */
typedef struct scene_wish {
    text_list set;
    const char *solver;
    const uint64_t *seed;
    const char *start;
    const robot_request *robot;      /* NULL: not given */
    const char *folder, *names_from; /* as sim_scene_overrides has them */
} scene_wish;

/* A scene from a file, or from `text` (`path` names it then).  NULL on failure: its errors are printed, and
 * `error->text` is then empty. */
sim_scene *setup_scene(const char *path, const char *text, size_t length, const scene_wish *wish, sim_error *error);
/* Does an output go to the terminal? */
sim_status require_bodies(const sim_scene *scene, const char *path, sim_error *error);
/* A folder that files can be made in?  Said before a long run, not after it. */
sim_status setup_folder(const char *path, const char *what, sim_error *error);
void run_clear(run_context *run);
bool run_writes_to_terminal(const run_context *run);

/* The folder for cached results; NULL if the environment names none. */
const char *setup_cache(char *path, size_t size);

#endif
