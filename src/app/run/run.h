/* One run of a scene, from its request to its end. */
#ifndef APP_RUN_RUN_H
#define APP_RUN_RUN_H

#include "app/cli/options.h"
#include "app/cli/progress.h"
#include "app/cli/time_limit.h"
#include "record/run/run_statistics.h"
#include <sim/sim.h>

typedef struct run_output {
    const char *path;
    sim_recorder *recorder; /* NULL once closed */
    int64_t records;
} run_output;

typedef struct run_context {
    const run_request *request;
    const char *scene_file; /* the scene's, or the checkpoint that holds it */
    sim_scene *scene;
    sim_world *world;
    int outputs;
    run_output *output;
    sim_view *view;     /* the page that is being written; NULL: none, or closed */
    char page[4096];    /* its file */
    int64_t view_every; /* steps between its frames */
    int64_t viewed;     /* the last step in it, -1: none */
    int64_t last_step;  /* where the run ends */
    sim_snapshot *good; /* before the present step; only under --on-nonconverged fail */
    int64_t recorded;   /* the last step on record, -1: none */
    run_statistics statistics;
    run_progress progress;
    run_time_limit time_limit;
    int told_slow; /* that a step took long */
    double wall;
    int exit_status;
    const char *ending; /* "finished", "failed", "interrupted", "stopped" */
    sim_error error;    /* why, unless finished */
    int checkpoints;    /* written */
} run_context;

/* Returns the exit status; has said all there is to say. */
int run_scene(const run_request *request);

#endif
