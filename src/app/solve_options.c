/* What can be asked of `sim solve`, and what was asked? */
#include "app/solve.h"
#include "base/nearest.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const laws[] = {"rigid", "near-rigid", NULL};

#define AT(member) offsetof(solve_request, member)

static const option_row rows[] = {
    {"solver", "NAME", OPTION_SOLVER, AT(solver), .heading = "Solver", .help = "who answers; see --list-solvers"},
    {"set", "OPTION=VALUE", OPTION_LIST, AT(set),
     .help = "an option of the solver, as in --set max_iterations=1000; may be given several times"},
    {"tolerance", "T", OPTION_REAL, AT(tolerance), .help = "short for --set tolerance=T"},
    {"law", "rigid|near-rigid", OPTION_CHOICE, AT(law), .choices = laws,
     .help = "the law whose R and target the solver is given; default: its own"},
    {"beta", "B", OPTION_REAL, AT(beta), .help = "near-rigid: period of the stiffest contact over the step; default 1"},
    {"sigma", "S", OPTION_REAL, AT(sigma), .help = "near-rigid: relative slip of friction at rest; default 0.001"},
    {"stored", NULL, OPTION_FLAG, AT(stored),
     .help = "solve nothing: judge the answer that stands in the file, from whatever program"},
    {"guess", NULL, OPTION_FLAG, AT(guess), .help = "start from the guess in the file, if there is one"},
    {"time-limit", "S", OPTION_REAL, AT(time_limit),
     .help = "S seconds of processor time a file; the best answer by then counts"},
    {"time-per-contact", "S", OPTION_REAL, AT(time_per_contact), .help = "and S seconds more for each contact"},
    {"repeat", "N", OPTION_COUNT, AT(repeat), 1, INT_MAX, .help = "solve N times and tell the shortest time"},
    {"out", "FILE", OPTION_TEXT, AT(out), .heading = "Output",
     .help = "write the file with the answer in it to FILE; for several files, a folder that is there"},
    {"history", "FILE.csv", OPTION_TEXT, AT(history), .help = "write residual and cost of every iteration to FILE.csv"},
    {"json", NULL, OPTION_FLAG, AT(json), .help = "JSON in place of the table; also with --list-solvers"},
    {"list-solvers", NULL, OPTION_FLAG, AT(list_solvers), .heading = "Information",
     .help = "the contact solvers with their laws and options"},
    {"help", NULL, OPTION_FLAG, AT(help), .help = "this text"},
    {"quiet", NULL, OPTION_FLAG, AT(help), .help = NULL},
};
const option_set solve_options = {"sim solve", rows, sizeof rows / sizeof rows[0]};

sim_status solve_parse(int count, char **arguments, solve_request *request, sim_error *error) {
    *request = (solve_request){.repeat = 1};
    request->set.item = calloc((size_t)count + 1, sizeof *request->set.item);
    if (!request->set.item) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the command line");
    }
    int first;
    sim_status status = options_read(&solve_options, count, arguments, request, &first, error);
    if (status || request->help || request->list_solvers) {
        return status;
    }
    request->files = count - first;
    request->file = arguments + first;
    if (request->files == 0) {
        return sim_fail(error, SIM_BAD_INPUT, "which file? sim solve FILE... --solver NAME; see sim solve --help");
    }
    if (request->stored && (request->solver || request->out || request->history || request->set.count)) {
        return sim_fail(error, SIM_BAD_INPUT, "--stored solves nothing: leave out %s",
                        request->solver    ? "--solver"
                        : request->out     ? "--out"
                        : request->history ? "--history"
                                           : "--set");
    }
    if (!request->solver && !request->stored) {
        return sim_fail(error, SIM_BAD_INPUT, "which solver? --solver NAME; sim solve --list-solvers tells them");
    }
    if (request->time_per_contact > 0 && !(request->time_limit > 0)) {
        return sim_fail(error, SIM_BAD_INPUT, "--time-per-contact needs --time-limit");
    }
    return SIM_OK;
}

void solve_request_free(solve_request *request) { free(request->set.item); }

/* ---- options of the solver ---- */

static sim_status unknown(const sim_solver_card *card, const char *name, sim_error *error) {
    enum { MOST = 63 };
    const char *names[MOST + 1] = {NULL};
    char all[300] = "";
    for (int k = 0; k < card->noptions && k < MOST; k++) {
        size_t used = strlen(all);
        names[k] = card->option[k].name;
        snprintf(all + used, sizeof all - used, "%s%s", k ? ", " : "", card->option[k].name);
    }
    const char *near = sim_nearest_word(name, names);
    return sim_fail(error, SIM_BAD_INPUT, "the solver %s has no option '%.60s'%s%s%s; it has %s", card->name, name,
                    near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "", card->noptions ? all : "none");
}

static sim_status not_a_value(const sim_solver_card *card, const sim_solver_option *o, const char *text,
                              sim_error *error) {
    char all[200] = "";
    for (int k = 0; o->choice && o->choice[k]; k++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", k ? ", " : "", o->choice[k]);
    }
    if (o->choice) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: option %s takes one of %s, not '%.60s'", card->name, o->name, all,
                        text);
    }
    return sim_fail(error, SIM_BAD_INPUT, "%s: option %s takes a %s from %g to %g, not '%.60s'", card->name, o->name,
                    o->whole ? "whole number" : "number", o->low, o->high, text);
}

static sim_status put_value(const sim_solver_card *card, int k, const char *text, double *value, sim_error *error) {
    const sim_solver_option *o = &card->option[k];
    for (int c = 0; o->choice && o->choice[c]; c++) {
        if (strcmp(o->choice[c], text) == 0) {
            value[k] = c;
            return SIM_OK;
        }
    }
    char *end;
    double number = strtod(text, &end);
    int decimal = text[strspn(text, "+-.0123456789eE")] == 0;
    if (o->choice || end == text || *end || !decimal || !(number >= o->low && number <= o->high) ||
        (o->whole && number != floor(number))) {
        return not_a_value(card, o, text, error);
    }
    value[k] = number;
    return SIM_OK;
}

static int option_named(const sim_solver_card *card, const char *name, size_t length) {
    for (int k = 0; k < card->noptions; k++) {
        if (strlen(card->option[k].name) == length && strncmp(card->option[k].name, name, length) == 0) {
            return k;
        }
    }
    return -1;
}

static sim_status put_setting(const sim_solver_card *card, const char *setting, double *value, sim_error *error) {
    size_t length = strcspn(setting, "=");
    int k = option_named(card, setting, length);
    if (setting[length] == 0) {
        return sim_fail(error, SIM_BAD_INPUT, "--set takes OPTION=VALUE, not '%.60s'", setting);
    }
    if (k < 0) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), setting);
        return unknown(card, name, error);
    }
    return put_value(card, k, setting + length + 1, value, error);
}

double *solve_option_values(const solve_request *request, const sim_solver_card *card, sim_error *error) {
    double *value = calloc((size_t)card->noptions + 1, sizeof *value);
    if (!value) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the options");
        return NULL;
    }
    for (int k = 0; k < card->noptions; k++) {
        value[k] = card->option[k].standard;
    }
    sim_status status = SIM_OK;
    for (int s = 0; s < request->set.count && !status; s++) {
        status = put_setting(card, request->set.item[s], value, error);
    }
    if (!status && request->tolerance > 0) {
        char text[64];
        snprintf(text, sizeof text, "tolerance=%.17g", request->tolerance);
        status = put_setting(card, text, value, error);
    }
    if (status) {
        free(value);
        return NULL;
    }
    return value;
}
