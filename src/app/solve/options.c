/* Options of `sim solve`. */
#include "app/solve/solve.h"
#include "solver/words.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const laws[] = {"rigid", "near-rigid", "elastic", NULL};

#define AT(member) offsetof(solve_request, member)

static const option_row rows[] = {
    {"solver", "NAME", OPTION_LIST, AT(solver), .heading = "Solver",
     .help = "use this solver, or several separated by commas, with options as in pgs:max_iterations=100; default: "
             "auto; see --list-solvers"},
    {"set", "OPTION=VALUE", OPTION_LIST, AT(set),
     .help = "set an option of every solver named, as in --set max_iterations=1000; repeatable"},
    {"tolerance", "T", OPTION_REAL, AT(tolerance), .help = "short for --set tolerance=T"},
    {"law", "rigid|near-rigid|elastic", OPTION_CHOICE, AT(law), .choices = laws,
     .help = "use R and target of this contact law; default: the law of the solver"},
    {"beta", "B", OPTION_REAL, AT(beta),
     .help = "near-rigid and elastic: period of the stiffest contact over the step; default: the file's, else 1"},
    {"sigma", "S", OPTION_REAL, AT(sigma),
     .help = "near-rigid: relative slip of friction at rest; default: the file's, else 0.001"},
    {"stored", NULL, OPTION_FLAG, AT(stored),
     .help = "solve nothing; judge the solution stored in the file, from any program"},
    {"guess", NULL, OPTION_FLAG, AT(guess), .help = "start from the initial guess in the file, if it has one"},
    {"time-limit", "S", OPTION_REAL, AT(time_limit),
     .help = "limit processor time to S seconds a file, reading included, and keep the best solution found; a file "
             "that takes a second more to read is skipped"},
    {"time-per-contact", "S", OPTION_REAL, AT(time_per_contact), .help = "add S seconds to the limit for each contact"},
    {"repeat", "N", OPTION_COUNT, AT(repeat), 1, INT_MAX, .help = "solve N times and report the shortest time"},
    {"out", "FILE", OPTION_TEXT, AT(out), .heading = "Output",
     .help = "write the file with its solution to FILE; for several files, to an existing folder"},
    {"history", "FILE.csv", OPTION_TEXT, AT(history), .help = "write residual and cost of every iteration to FILE.csv"},
    {"linear-history", "FILE.csv", OPTION_TEXT, AT(linear_history),
     .help = "write the residuals of the linear systems in each iteration to FILE.csv (nsn with friction=fixed-point)"},
    {"places", "FILE.csv", OPTION_TEXT, AT(places),
     .help = "write x = velocity - impulse of every contact in every iteration to FILE.csv (incp)"},
    {"json", NULL, OPTION_FLAG, AT(json), .help = "print JSON instead of the table; also with --list-solvers"},
    {"quiet", NULL, OPTION_FLAG, AT(quiet), .help = "print no progress line and no notes", .letter = 'q'},
    {"list-solvers", NULL, OPTION_FLAG, AT(list_solvers), .heading = "Information",
     .help = "list the contact solvers with their contact laws and options"},
    {"study", NULL, OPTION_FLAG, AT(study),
     .help = "with --list-solvers: also the options for experiments with a method"},
    OPTION_ROW_HELP(solve_request, NULL),
};
const option_set solve_options = {
    .command = "sim solve",
    .row = rows,
    .count = sizeof rows / sizeof rows[0],
    .usage = "sim solve FILE|FOLDER... [OPTION]...",
    .about = "Read contact problems (FCLIB's HDF5, or files of --dump-problem), solve them and judge the solutions. "
             "Print a row a file: outcome, time, error by the rigid law (E) and by the law of the solver (own). A "
             "FOLDER stands for all its .hdf5 and .h5 files.",
    .after = "Exit status: 0 every outcome is solved or solved to rounding; 1 some are not; 2 a file is not a contact "
             "problem, or the solver refuses it; 3 a resource is unavailable.",
};

sim_status solve_parse(int count, char **arguments, solve_request *request, sim_error *error) {
    /* options */
    *request = (solve_request){.repeat = 1};
    int first;
    sim_status status = options_read(&solve_options, count, arguments, request, &first, error);
    if (status || request->help || request->list_solvers) {
        return status;
    }
    /* files */
    request->files = count - first;
    request->file = arguments + first;
    if (request->files == 0) {
        return sim_fail(error, SIM_BAD_INPUT, "no file given: sim solve FILE...; see sim solve --help");
    }
    /* --stored takes no option of solving */
    if (request->stored && (request->solver.count || request->out || request->history || request->linear_history ||
                            request->places || request->set.count)) {
        return sim_fail(error, SIM_BAD_INPUT, "--stored solves nothing: leave out %s",
                        request->solver.count     ? "--solver"
                        : request->out            ? "--out"
                        : request->history        ? "--history"
                        : request->linear_history ? "--linear-history"
                        : request->places         ? "--places"
                                                  : "--set");
    }
    const char *const written[][2] = {{"out", request->out},
                                      {"history", request->history},
                                      {"linear-history", request->linear_history},
                                      {"places", request->places}};
    for (size_t k = 0; k < sizeof written / sizeof written[0] && !status; k++) {
        status = named_file_check(written[k][0], written[k][1], error);
    }
    if (status) {
        return status;
    }
    /* solvers */
    const char *standard[] = {sim_solver_default()->name};
    const text_list by_default = {.item = standard, .count = 1};
    if (!request->stored) {
        status = solver_choices_read(request->solver.count ? &request->solver : &by_default, &request->solvers, error);
    }
    /* outputs of one solver only */
    if (!status && request->solvers.count > 1 &&
        (request->out || request->history || request->linear_history || request->places)) {
        return sim_fail(error, SIM_BAD_INPUT, "%s takes the solutions of one solver, not of %d",
                        request->out              ? "--out"
                        : request->history        ? "--history"
                        : request->linear_history ? "--linear-history"
                                                  : "--places",
                        request->solvers.count);
    }
    /* time limit */
    if (!status && request->time_per_contact > 0 && !(request->time_limit > 0)) {
        return sim_fail(error, SIM_BAD_INPUT, "--time-per-contact needs --time-limit");
    }
    return status;
}

void solve_request_free(solve_request *request) {
    options_free(&solve_options, request);
    solver_choices_free(&request->solvers);
}

double *solve_option_values(const solve_request *request, const solver_choice *choice, sim_error *error) {
    /* defaults and those of --solver */
    const sim_solver_info *info = choice->info;
    double *value = solver_standard(info, error);
    sim_status status = value ? SIM_OK : SIM_NO_RESOURCE;
    if (value && info->noptions) {
        memcpy(value, choice->option, (size_t)info->noptions * sizeof *value);
    }
    /* values of --set */
    for (int s = 0; s < request->set.count && !status; s++) {
        const char *setting = request->set.item[s];
        status = solver_words_setting(info, setting, strlen(setting), value, error);
    }
    /* --tolerance */
    if (!status && request->tolerance > 0) {
        char text[64];
        snprintf(text, sizeof text, "tolerance=%.17g", request->tolerance);
        status = solver_words_setting(info, text, strlen(text), value, error);
    }
    if (status) {
        free(value);
        return NULL;
    }
    return value;
}
