/* A run before its first step and after its last. */
#ifndef APP_SETUP_H
#define APP_SETUP_H

#include "app/run.h"
#include <stdio.h>

/* Scene, world, outputs.  What is wrong with a scene is printed here, and `error->text` is empty then; all else is
 * left in `error`.  Nothing is written before everything that can be checked has been. */
sim_status run_setup(sim_run *run, const sim_request *request, FILE **summary, sim_error *error);
/* A scene from a file, or from `text` (`path` names it then).  NULL on failure: what is wrong with it is printed, and
 * `error->text` is empty then. */
sim_scene *setup_scene(const char *path, const char *text, size_t length, const sim_scene_overrides *overrides,
                       sim_error *error);
void run_clear(sim_run *run);
/* Of what was computed once and can be had again; NULL if the environment names none. */
const char *cache_folder(char *path, size_t size);
void print_diagnostics(const sim_diagnostics *diagnostics);
int run_writes_to_terminal(const sim_run *run);

#endif
