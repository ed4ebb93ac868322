/* Options of `sim` as one table, and the parser of all commands.  A new option is a new row. */
#include "app/cli/options.h"
#include "app/cli/robots.h"
#include "base/nearest.h"
#include "base/words.h"
#include "solver/words.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <sim/world.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const on_nonconverged[] = {"warn", "fail", NULL};
static const char *const integrators[] = {"midpoint", "symplectic", "implicit", "moreau", "rk4", NULL};

void solver_names(const char *names[MAX_SOLVERS + 1]) {
    int count = sim_solver_count() < MAX_SOLVERS ? sim_solver_count() : MAX_SOLVERS;
    for (int k = 0; k < count; k++) {
        names[k] = sim_solver_at(k)->name;
    }
    names[count] = NULL;
}

#define AT(member) offsetof(run_request, member)

const option_row option_table[] = {
    {"out", "FILE", OPTION_LIST, AT(out), .heading = "Output",
     .help = "write the trajectory to FILE: .csv (text) or .h5 (HDF5); - writes CSV to standard output; repeatable"},
    {"every", "N", OPTION_COUNT, AT(every), 1, INT_MAX,
     .help = "record every N-th step, and the first and last; default: the scene's record/every"},
    {"html", "FILE", OPTION_TEXT, AT(html),
     .help = "write the run to FILE as an HTML page that plays in any browser, offline, at about 60 frames per "
             "simulated second"},
    {"view", NULL, OPTION_FLAG, AT(view),
     .help = "open that page in a browser ($BROWSER, or xdg-open) when the run ends; without --html, write a temporary "
             "file and print its path"},
    {"summary", "FILE", OPTION_TEXT, AT(summary),
     .help = "write a summary of the run to FILE as JSON; - is standard output"},
    {"quiet", NULL, OPTION_FLAG, AT(quiet), .help = "print no progress line and no summary, only warnings and errors",
     .letter = 'q'},
    {"dump-problem", "N", OPTION_COUNT, AT(dump_problem), 1, INT_MAX,
     .help = "write the contact problem of step N to a second file, which ends in .h5 or .hdf5: sim scene.json "
             "--dump-problem 100 problem.hdf5; solve it with sim solve"},
    {"duration", "S", OPTION_SPAN, AT(duration), .heading = "Run",
     .help = "simulate up to S seconds; default: the scene's duration"},
    {"step", "S", OPTION_REAL, AT(step), .help = "set the time step to S seconds"},
    {"integrator", "NAME", OPTION_CHOICE, AT(integrator), .choices = integrators,
     .help = "use midpoint, symplectic, implicit, moreau or rk4"},
    {"solver", "NAME", OPTION_SOLVER, AT(solver),
     .help = "use this contact solver, with options as in pgs:max_iterations=100; see --list-solvers; default: the "
             "scene's"},
    {"on-nonconverged", "fail|warn", OPTION_CHOICE, AT(on_nonconverged), .choices = on_nonconverged,
     .help = "for steps that do not converge or whose contact solver gives up: warn counts them (default), fail stops "
             "at the last good step with status 1"},
    OPTION_ROW_SET(run_request, NULL),
    OPTION_ROW_START(run_request),
    {"seed", "N", OPTION_SEED, AT(seed), .help = "set the seed of random placement"},
    {"threads", "N", OPTION_COUNT, AT(threads), 1, 64, .help = "use N threads; results are bitwise the same for any N"},
    {"time-limit", "S", OPTION_REAL, AT(time_limit),
     .help = "end the run after S seconds of wall-clock time, as Ctrl-C does; a step that lasts a second longer is "
             "abandoned"},
    ROBOT_OPTIONS(run_request),
    {"checkpoint", "FILE", OPTION_TEXT, AT(checkpoint), .heading = "Interrupt and resume",
     .help = "write the full state to FILE when the run ends or is interrupted"},
    {"checkpoint-every", "N", OPTION_COUNT, AT(checkpoint_every), 1, INT_MAX,
     .help = "also write it every N steps (needs --checkpoint)"},
    {"resume", "FILE", OPTION_TEXT, AT(resume),
     .help = "continue from a checkpoint; results are bitwise those of an uninterrupted run. Without a scene, use the "
             "one in the checkpoint; --duration sets the new end"},
    {"validate", NULL, OPTION_FLAG, AT(validate), .heading = "Information", .help = "check the scene and exit"},
    {"contacts", NULL, OPTION_FLAG, AT(contacts),
     .help = "print the contacts at the start of the run as JSON and exit; with --resume, those of the checkpoint"},
    {"list-solvers", NULL, OPTION_FLAG, AT(list_solvers),
     .help = "list the contact solvers with their contact laws and options"},
    {"study", NULL, OPTION_FLAG, AT(study),
     .help = "with --list-solvers: include options for experiments with a method"},
    {"json", NULL, OPTION_FLAG, AT(json), .help = "with --list-solvers: print JSON, with all options"},
    {"version", NULL, OPTION_FLAG, AT(version), .help = "print version, build and libraries"},
    OPTION_ROW_HELP(run_request, NULL),
    {"man", NULL, OPTION_FLAG, AT(man), .help = NULL},
    {"completion", NULL, OPTION_FLAG, AT(completion), .help = NULL},
};
const int option_count = sizeof option_table / sizeof option_table[0];
static const option_set run_options = {
    .command = "sim", .row = option_table, .count = sizeof option_table / sizeof option_table[0]};

/* ---- values ---- */

static sim_status set_real(double *target, const option_row *row, const char *text, sim_error *error) {
    char *end;
    double value = strtod(text, &end);
    int decimal = text[strspn(text, "+-.0123456789eE")] == 0; /* strtod knows more: hexadecimals, spaces, words */
    int too_small = row->kind == OPTION_SPAN ? value < 0 : value <= 0;
    if (end == text || *end || !decimal || !isfinite(value) || too_small) {
        return sim_fail(error, SIM_BAD_INPUT, "--%s takes a %s, not '%s'", row->name,
                        row->kind == OPTION_SPAN ? "number of at least 0" : "positive number", text);
    }
    *target = value;
    return SIM_OK;
}

static sim_status put_count(int64_t *target, const option_row *row, const char *text, sim_error *error) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno || value < row->low || value > row->high) {
        return sim_fail(error, SIM_BAD_INPUT, "--%s takes a whole number from %lld to %lld, not '%s'", row->name,
                        (long long)row->low, (long long)row->high, text);
    }
    *target = value;
    return SIM_OK;
}

static sim_status put_seed(run_request *request, const option_row *row, const char *text, sim_error *error) {
    const unsigned long long most = 9007199254740992; /* of world/seed */
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || value > most) {
        return sim_fail(error, SIM_BAD_INPUT, "--%s takes a whole number from 0 to %llu, not '%s'", row->name, most,
                        text);
    }
    request->seed = value;
    request->seed_given = 1;
    return SIM_OK;
}

static sim_status put_choice(const char **target, const option_row *row, const char *text, sim_error *error) {
    char all[256] = "";
    for (const char *const *choice = row->choices; *choice; choice++) {
        if (strcmp(*choice, text) == 0) {
            *target = *choice;
            return SIM_OK;
        }
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", *choice);
    }
    const char *near = nearest_word(text, row->choices);
    return sim_fail(error, SIM_BAD_INPUT, "--%s takes one of %s, not '%s'%s%s%s", row->name, all, text,
                    near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

static sim_status put_solver(const char **target, const option_row *row, const char *text, sim_error *error) {
    sim_error why;
    *target = text;
    return solver_words_check(NULL, text, &why) ? sim_fail(error, SIM_BAD_INPUT, "--%s: %s", row->name, why.text)
                                                : SIM_OK;
}

/* A value of the command line into its field of the request, by the kind of the option. */
static sim_status set_value(void *request, const option_row *row, const char *text, sim_error *error) {
    void *target = (char *)request + row->offset;
    switch (row->kind) {
    case OPTION_FLAG:
        *(int *)target = 1;
        return SIM_OK;
    case OPTION_TEXT:
        *(const char **)target = text;
        return SIM_OK;
    case OPTION_LIST: {
        text_list *list = target;
        list->item[list->count++] = text;
        return SIM_OK;
    }
    case OPTION_CHOICE:
        return put_choice(target, row, text, error);
    case OPTION_SOLVER:
        return put_solver(target, row, text, error);
    case OPTION_REAL:
    case OPTION_SPAN:
        return set_real(target, row, text, error);
    case OPTION_COUNT:
        return put_count(target, row, text, error);
    case OPTION_SEED:
        return put_seed(request, row, text, error);
    }
    return SIM_OK;
}

/* ---- the command line ---- */

static sim_status refuse_unknown_option(const option_set *set, const char *word, sim_error *error) {
    const char *names[64] = {NULL};
    char bare[64];
    int shown = 0;
    for (int k = 0; k < set->count; k++) {
        if (set->row[k].help) {
            names[shown++] = set->row[k].name;
        }
    }
    const char *start = word + strspn(word, "-");
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(start, "="), start);
    const char *near = nearest_word(bare, names);
    if (near) {
        return sim_fail(error, SIM_BAD_INPUT, "there is no option %s (did you mean --%s?)", word, near);
    }
    return sim_fail(error, SIM_BAD_INPUT, "there is no option %s; see %s --help", word, set->command);
}

/* getopt returns '?' for three errors; the word and the options tell them apart. */
static sim_status refuse_option(const option_set *set, int code, const char *word, sim_error *error) {
    if (code == ':') {
        return sim_fail(error, SIM_BAD_INPUT, "%s needs a value; see %s --help", word, set->command);
    }
    const char *start = word + strspn(word, "-");
    size_t length = strcspn(start, "=");
    for (int k = 0; k < set->count; k++) {
        if (strncmp(set->row[k].name, start, length) == 0 && strncmp(word, "--", 2) == 0 && length > 0) {
            return sim_fail(error, SIM_BAD_INPUT,
                            start[length] ? "%s: this option takes no value" : "%s is short for more than one option",
                            word);
        }
    }
    return refuse_unknown_option(set, word, error);
}

enum { MAX_OPTIONS = 63, FIRST_LONG_CODE = 256 }; /* above every letter */

/* Two options with one place in the request would be one option with two names. */
static bool places_differ(const option_set *set) {
    for (int k = 0; k < set->count; k++) {
        for (int j = 0; j < k; j++) {
            if (set->row[j].offset == set->row[k].offset) {
                return false;
            }
        }
    }
    return true;
}

/* `shorts`: ':' to tell a missing value, then the letters. */
static void fill_getopt(const option_set *set, struct option *longs, char *shorts) {
    *shorts++ = ':';
    for (int k = 0; k < set->count; k++) {
        int needs = set->row[k].kind == OPTION_FLAG ? no_argument : required_argument;
        longs[k] = (struct option){set->row[k].name, needs, NULL, FIRST_LONG_CODE + k};
        if (set->row[k].letter) {
            *shorts++ = set->row[k].letter;
            if (needs == required_argument) {
                *shorts++ = ':';
            }
        }
    }
    longs[set->count] = (struct option){0};
    *shorts = 0;
}

/* The row of the code that getopt gave; NULL: none such. */
static const option_row *found_row(const option_set *set, int code) {
    for (int k = 0; k < set->count; k++) {
        if (code == FIRST_LONG_CODE + k || (set->row[k].letter && code == set->row[k].letter)) {
            return &set->row[k];
        }
    }
    return NULL;
}

/* "--man", "--man=..."; not "--ma". */
static bool written_out(const option_row *row, const char *word) {
    size_t length = strlen(row->name);
    return strncmp(word, "--", 2) == 0 && strncmp(word + 2, row->name, length) == 0 &&
           (word[2 + length] == 0 || word[2 + length] == '=');
}

static text_list *list_of(const option_set *set, int row, void *request) {
    return set->row[row].kind == OPTION_LIST ? (text_list *)((char *)request + set->row[row].offset) : NULL;
}

/* Room for every argument in each list. */
static sim_status create_lists(const option_set *set, int count, void *request, sim_error *error) {
    for (int k = 0; k < set->count; k++) {
        text_list *list = list_of(set, k, request);
        if (list && !(list->item = calloc((size_t)count + 1, sizeof *list->item))) {
            return sim_fail(error, SIM_NO_RESOURCE, "no memory for the command line");
        }
    }
    return SIM_OK;
}

void options_free(const option_set *set, void *request) {
    for (int k = 0; k < set->count; k++) {
        text_list *list = list_of(set, k, request);
        if (list) {
            free(list->item);
            *list = (text_list){0};
        }
    }
}

int error_print(const sim_error *error) {
    if (error->text[0]) {
        fprintf(stderr, "sim: error: %s\n", error->text);
    }
    return error->status;
}

sim_status options_read(const option_set *set, int count, char **arguments, void *request, int *first,
                        sim_error *error) {
    /* the rows, as getopt wants them */
    struct option longs[MAX_OPTIONS + 1];
    char shorts[2 * MAX_OPTIONS + 2];
    assert(set->count <= MAX_OPTIONS && places_differ(set));
    fill_getopt(set, longs, shorts);
    if (create_lists(set, count, request, error)) {
        return SIM_NO_RESOURCE;
    }
    /* one option after the other */
    optind = 0; /* start afresh */
    opterr = 0;
    for (;;) {
        int at = optind > 0 ? optind : 1;
        int code = getopt_long(count, arguments, shorts, longs, NULL);
        *first = optind;
        if (code == -1) {
            return SIM_OK;
        }
        if (code == '?' || code == ':') {
            return refuse_option(set, code, arguments[optind > at ? optind - 1 : at], error);
        }
        const option_row *row = found_row(set, code);
        if (!row->help && !written_out(row, arguments[optind - 1])) {
            return refuse_unknown_option(set, arguments[optind - 1], error);
        }
        sim_status status = set_value(request, row, optarg, error);
        if (status) {
            return status;
        }
    }
}

sim_status named_file_check(const char *option, const char *path, sim_error *error) {
    if (path && !*path) {
        return sim_fail(error, SIM_BAD_INPUT, "--%s takes the name of a file, not ''", option);
    }
    return path && strcmp(path, "-") == 0
               ? sim_fail(error, SIM_BAD_INPUT,
                          "--%s takes the name of a file, and does not write to standard output (./- is a file)",
                          option)
               : SIM_OK;
}

/* Of the words that are no options, the one that names a problem's file leaves the list. */
static void take_problem_file(int *count, char **arguments, int first, run_request *request) {
    for (int k = first; k < *count; k++) {
        if (ends_in(arguments[k], ".h5") || ends_in(arguments[k], ".hdf5")) {
            request->dump_file = arguments[k];
            for (; k + 1 < *count; k++) {
                arguments[k] = arguments[k + 1];
            }
            --*count;
        }
    }
}

/* --contacts and --validate make no run, so none of its files. */
static sim_status check_nothing_written(const run_request *request, sim_error *error) {
    const struct {
        bool given;
        const char *name;
    } others[] = {{request->out.count > 0, "--out"},
                  {request->html, "--html"},
                  {request->view, "--view"},
                  {request->summary, "--summary"},
                  {request->checkpoint, "--checkpoint"},
                  {request->dump_problem > 0, "--dump-problem"},
                  {request->contacts && request->validate, "--validate"}};
    for (size_t k = 0; k < sizeof others / sizeof others[0] && (request->contacts || request->validate); k++) {
        if (others[k].given) {
            return sim_fail(error, SIM_BAD_INPUT, "%s simulates nothing: leave out %s",
                            request->contacts ? "--contacts" : "--validate", others[k].name);
        }
    }
    return SIM_OK;
}

/* Checks that involve several options. */
static sim_status check_run_options(const run_request *request, sim_error *error) {
    sim_status status = check_nothing_written(request, error);
    if (status) {
        return status;
    }
    status = named_file_check("html", request->html, error);
    status = status ? status : named_file_check("checkpoint", request->checkpoint, error);
    if (status) {
        return status;
    }
    /* options that need another one */
    if (request->study && !request->list_solvers) {
        return sim_fail(error, SIM_BAD_INPUT, "--study needs --list-solvers");
    }
    if (request->json && !request->list_solvers) {
        return sim_fail(error, SIM_BAD_INPUT, "--json needs --list-solvers; for a run, --summary FILE writes JSON");
    }
    if (request->dump_problem && !request->dump_file) {
        return sim_fail(error, SIM_BAD_INPUT, "--dump-problem needs a file that ends in .h5 or .hdf5");
    }
    if (request->resume && request->start) {
        return sim_fail(error, SIM_BAD_INPUT, "--resume continues a run: leave out --start");
    }
    if (request->checkpoint_every && !request->checkpoint) {
        return sim_fail(error, SIM_BAD_INPUT, "--checkpoint-every needs --checkpoint FILE");
    }
    return robot_request_check(&request->robot, error);
}

sim_status options_parse(int count, char **arguments, run_request *request, sim_error *error) {
    /* options */
    *request = (run_request){.duration = -1, .count = count, .arguments = arguments};
    _Static_assert(sizeof option_table / sizeof option_table[0] <= MAX_OPTIONS, "room for all");
    int first;
    sim_status status = options_read(&run_options, count, arguments, request, &first, error);
    if (status) {
        return status;
    }
    /* the file of --dump-problem, which may follow the step */
    if (request->dump_problem) {
        take_problem_file(&count, arguments, first, request);
    }
    /* one scene */
    if (count - first > 1) {
        return sim_fail(error, SIM_BAD_INPUT, "one scene at a time: '%s' and '%s'", arguments[first],
                        arguments[first + 1]);
    }
    request->scene = first < count ? arguments[first] : NULL;
    return check_run_options(request, error);
}

void request_free(run_request *request) { options_free(&run_options, request); }
