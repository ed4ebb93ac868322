/* The options of `sim`: one table a command, for parsing, --help, the man page and completion. */
#ifndef APP_CLI_OPTIONS_H
#define APP_CLI_OPTIONS_H

#include <sim/base.h>
#include <stddef.h>
#include <stdint.h>

typedef struct text_list {
    int count;
    const char **item;
} text_list;

/* How robots in URDF are read. */
typedef struct robot_request {
    const char *base, *mesh;
    int repair_inertia, strict;
    text_list allow, package;
} robot_request;

/* Options of the command line.  Zero and NULL: not given. */
typedef struct run_request {
    const char *scene;
    text_list out, set;
    const char *integrator, *solver, *start, *on_nonconverged, *checkpoint, *resume, *summary;
    int64_t every, threads, checkpoint_every, dump_problem;
    const char *dump_file; /* the problem's */
    const char *html;      /* the page's file */
    double duration;       /* negative: not given */
    double step, time_limit;
    robot_request robot;
    uint64_t seed;
    int seed_given;
    int quiet, view, validate, contacts, list_solvers, study, json, help, version, man, completion;
    int count; /* of the arguments as given, for the summary */
    char **arguments;
} run_request;

typedef enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_LIST,   /* may be given again */
    OPTION_CHOICE, /* of `choices` */
    OPTION_SOLVER, /* one of the contact solvers there are, with options: solver/words.h */
    OPTION_REAL,   /* positive and finite */
    OPTION_SPAN,   /* finite, zero or more */
    OPTION_COUNT,  /* low .. high */
    OPTION_SEED,
} option_kind;

typedef struct option_row {
    const char *name, *argument; /* "out", "FILE" */
    option_kind kind;
    size_t offset; /* in request */
    int64_t low, high;
    const char *const *choices; /* ends with NULL */
    const char *heading;        /* starts a group */
    const char *help;           /* NULL: works if written out, but is not shown */
    char letter;                /* -q is short for --quiet; 0: none */
} option_row;

/* Rows that several commands have.  `title`: the heading that they start, or NULL. */
#define OPTION_ROW_SET(request, title)                                                                                 \
    {                                                                                                                  \
        "set", "PATH=VALUE", OPTION_LIST, offsetof(request, set),                                                      \
            .heading = (title), .help = "replace a value of the scene, as in --set world/step=0.002; repeatable"       \
    }
#define OPTION_ROW_START(request)                                                                                      \
    { "start", "NAME", OPTION_TEXT, offsetof(request, start), .help = "start at this keyframe of the scene" }
#define OPTION_ROW_HELP(request, title)                                                                                \
    { "help", NULL, OPTION_FLAG, offsetof(request, help), .heading = (title), .help = "print this help", .letter = 'h' }

extern const option_row option_table[]; /* of a run */
extern const int option_count;

/* The options of a command: "sim solve". */
typedef struct option_set {
    const char *command;
    const option_row *row;
    int count;
    const char *usage, *about, *after; /* of --help: the command line, a description, the last lines or NULL */
} option_set;

/* Values go to the places in `request` that the rows name, a place of its own for each.  The lists there, empty so far,
 * are the caller's afterwards (options_free), also where this fails.  `first` of the arguments, which are put in order,
 * is no option. */
sim_status options_read(const option_set *set, int count, char **arguments, void *request, int *first,
                        sim_error *error);
void options_free(const option_set *set, void *request);

/* Refuses "-" and "" as a file that an option writes; `path` may be NULL. */
sim_status named_file_check(const char *option, const char *path, sim_error *error);

/* "sim: error: ..." on standard error, unless the text is empty.  Returns the status. */
int error_print(const sim_error *error);

enum { MAX_SOLVERS = 63 };
/* The names of the contact solvers; ends with NULL. */
void solver_names(const char *names[MAX_SOLVERS + 1]);

/* Fills `request`, whose lists then belong to the caller (request_free); the rest points into `arguments`. */
sim_status options_parse(int count, char **arguments, run_request *request, sim_error *error);
void request_free(run_request *request);

#endif
