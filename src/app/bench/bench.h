/* `sim bench contact`: processor time of steps with contacts. */
#ifndef APP_BENCH_BENCH_H
#define APP_BENCH_BENCH_H

#include "app/cli/batch_progress.h"
#include "app/cli/options.h"
#include "app/cli/solver_choice.h"
#include "app/output/solver_statistics.h"
#include <sim/sim.h>
#include <stdio.h>

/* Options of the command line.  Zero and NULL: not given. */
typedef struct bench_request {
    text_list solver, set;
    solver_choices solvers; /* parsed from `solver`; none: that of the scene */
    const char *scenes;     /* folder */
    int64_t threads, repeat;
    int quick, json, list, scale, quiet, help;
    int words;
    char **word; /* names of cases as given */
    batch_progress *progress;
} bench_request;

extern const option_set bench_options;

/* As options_parse. */
sim_status bench_parse(int count, char **arguments, bench_request *request, sim_error *error);
void bench_request_free(bench_request *request);

/* A scene, how much of it, and which steps of it are timed. */
typedef struct bench_case {
    const char *name, *family; /* cases of a family differ in size alone */
    const char *scene;         /* file below the folder of scenes */
    int usual;                 /* among those that are taken if none is named */
    int settle, timed, quick;  /* steps before, steps timed; in place of both if it must be quick */
    const char *set[3];        /* values of the scene that differ, as in --set */
} bench_case;

extern const bench_case bench_cases[];
extern const int bench_case_count;

/* Is it asked for? */
int bench_chosen(const bench_request *request, const bench_case *c);
/* Does every word name a case? */
sim_status bench_check_words(const bench_request *request, sim_error *error);

typedef struct bench_summary {
    double mean, most;
} bench_summary;

/* Of the timed steps. */
typedef struct bench_figures {
    const bench_case *c;
    const char *solver; /* as it was named */
    const char *integrator;
    const sim_solver_info *info;
    sim_error trouble; /* status SIM_OK: it ran */
    int bodies, velocities, steps;
    double contacts, islands, iterations, factorisations, multiplications; /* mean of a step */
    int unsolved;                                                          /* islands, over all steps */
    branch_counts finished;                                                /* likewise */
    double seconds[SIM_TIMES], whole;                                      /* of a step */
    bench_summary E, own, momentum, slip, penetration;
    /* by the clock on the wall, with one thread and with `threads`; 0: not asked for */
    int threads, same_bits;
    double alone, together;
} bench_figures;

/* Fills `f`. */
void bench_run(const bench_request *request, const bench_case *c, const solver_choice *solver, bench_figures *f);
/* Its last members, with more than one thread. */
sim_status bench_threads(const bench_request *request, const solver_choice *solver, bench_figures *f, sim_error *error);

/* The scene of a case, by a solver, or its own (NULL); NULL on failure, with the reason in `error`. */
sim_scene *bench_scene(const bench_request *request, const bench_case *c, const solver_choice *solver,
                       sim_error *error);
int bench_steps_before(const bench_request *request, const bench_case *c);
int bench_steps_timed(const bench_request *request, const bench_case *c);

/* A table as the figures come, or JSON at the end. */
void bench_report_open(const bench_request *request);
void bench_report_case(const bench_request *request, const bench_figures *f);
void bench_report_close(const bench_request *request, const bench_figures *f, int count);

int bench_command(int count, char **arguments);

#endif
