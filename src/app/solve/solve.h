/* `sim solve`: contact problems from files, answered and judged. */
#ifndef APP_SOLVE_SOLVE_H
#define APP_SOLVE_SOLVE_H

#include "app/cli/options.h"
#include "app/cli/solver_choice.h"
#include "app/output/reasons.h"
#include "app/output/solver_statistics.h"
#include <sim/sim.h>
#include <stdio.h>

/* Options of the command line.  Zero and NULL: not given. */
typedef struct solve_request {
    text_list set, solver;
    const char *law, *out, *history, *linear_history, *places;
    double tolerance, time_limit, time_per_contact, beta, sigma;
    int64_t repeat;
    int guess, stored, json, quiet, list_solvers, study, help;
    int files;
    char **file; /* files and folders as given */
    solver_choices solvers;
} solve_request;

extern const option_set solve_options;

/* As options_parse. */
sim_status solve_parse(int count, char **arguments, solve_request *request, sim_error *error);
void solve_request_free(solve_request *request);
/* A value for each option of the solver, from its name, --set and --tolerance; to be freed. */
double *solve_option_values(const solve_request *request, const solver_choice *choice, sim_error *error);

/* How one file went. */
typedef struct solve_case {
    const char *path;
    sim_error trouble; /* status SIM_OK: answered */
    int refused;       /* read, but the solver does not take it */
    int stored;        /* the stored solution is judged, and no solver called */
    int contacts, constraints, rows, velocities, local, symmetric;
    sim_outcome outcome;
    sim_reason reason; /* why the solver gave up */
    int iterations, factorisations, searches, failures, whole_steps, dogleg_steps, edge_steps;
    int open, stick, slide; /* contacts of the solution */
    int finished_by;        /* branch of the solver; -1 */
    double residual, seconds;
    sim_law_options law; /* of the file, with options of the command line in place */
    sim_certificate certificate;
} solve_case;

/* Figures of all files: how many have an error of at most 1e-4, 1e-6, 1e-8. */
enum { SOLVE_ACCURACY_LEVELS = 3 };
typedef struct solve_totals {
    int files, unreadable, refused, unsolved; /* unsolved: not within the solver's own tolerance */
    int within_E[SOLVE_ACCURACY_LEVELS], within_own[SOLVE_ACCURACY_LEVELS];
    double seconds;
    branch_counts finished; /* files that are solved, as the solver sees it */
    reason_counts gave_up;  /* files that are not */
} solve_totals;

typedef struct solve_run {
    const solve_request *request;
    const solver_choice *choice; /* NULL: judge the answers that stand in the files */
    const sim_solver_info *info; /* NULL: judge the answers that stand in the files */
    const char *name;            /* of the solver */
    sim_cone cone;
    sim_solver *solver;
    double *option;
    sim_compliance compliance;
    sim_history history; /* no room: not asked for */
    FILE *history_file, *linear_file, *places_file;
    int out_is_folder;
    solve_totals totals;
} solve_run;

typedef struct solve_report solve_report;
solve_report *solve_report_open(const solve_run *run); /* NULL without memory */
void solve_report_case(solve_report *report, const solve_case *c);
void solve_report_close(solve_report *report); /* with the summary; frees it */

void solve_count(solve_totals *totals, const solve_case *c);
const char *solve_outcome(const solve_case *c);
/* The same where it is solved, else why not. */
const char *solve_verdict(const solve_case *c);

/* Fills `c`; says nothing. */
void solve_one(solve_run *run, const char *path, solve_case *c);

/* Where the answer to a file goes. */
void solve_answer_path(const solve_run *run, const char *file, char *path, size_t size);

int solve_command(int count, char **arguments);

#endif
