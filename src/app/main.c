/* Entry point: chooses the command.  The first word may name a command; without one, a scene is run. */
#include "app/bench/bench.h"
#include "app/cli/options.h"
#include "app/cli/solvers.h"
#include "app/convert/convert.h"
#include "app/draw/plot.h"
#include "app/draw/render.h"
#include "app/help.h"
#include "app/ik/ik.h"
#include "app/run/run.h"
#include "app/solve/solve.h"
#include "app/sweep/sweep.h"
#include "app/view/view.h"
#include "base/nearest.h"
#include "record/run/writer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_version(void) {
    printf("sim %s\n%s\nHDF5 %s, cJSON %s, libccd %s, Qhull %s\n", sim_version(), sim_build_info(), APP_HDF5_VERSION,
           APP_CJSON_VERSION, APP_CCD_VERSION, APP_QHULL_VERSION);
}

typedef struct information {
    size_t offset;       /* of the flag in run_request */
    void (*print)(void); /* NULL: the list of solvers */
} information;

static const information informations[] = {
    {offsetof(run_request, help), print_help},
    {offsetof(run_request, version), print_version},
    {offsetof(run_request, man), print_man_page},
    {offsetof(run_request, list_solvers), NULL},
    {offsetof(run_request, completion), print_completion},
};

/* Output that cannot be written is a failure, unless the command failed by bad input. */
static int flush_output(int status) {
    sim_error error;
    if (fflush(stdout) || ferror(stdout)) {
        sim_fail(&error, SIM_NO_RESOURCE, "cannot write standard output");
        return status == SIM_OK || status == SIM_FAILED ? error_print(&error) : status;
    }
    return status;
}

static int run_command(int count, char **arguments);

static const struct {
    const char *name;
    int (*main)(int count, char **arguments); /* arguments[0] is the command */
} commands[] = {
    {"run", run_command},         {"solve", solve_command}, {"bench", bench_command},
    {"plot", plot_command},       {"view", view_command},   {"render", render_command},
    {"convert", convert_command}, {"ik", ik_command},       {"sweep", sweep_command},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* A word that is no file and does not look like one was probably meant as a command. */
static sim_status check_word(const char *word, sim_error *error) {
    const char *names[COMMANDS + 1] = {NULL};
    for (int k = 0; k < COMMANDS; k++) {
        names[k] = commands[k].name;
    }
    const char *dot = strrchr(word, '.');
    if (dot && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".hdf5") == 0) && access(word, F_OK) == 0) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "%s is HDF5 by its name, not a scene: sim view %s shows a recorded run, sim plot draws it, and "
                        "sim solve solves a contact problem",
                        word, word);
    }
    if (strpbrk(word, "./") || access(word, F_OK) == 0) {
        return SIM_OK;
    }
    const char *near = nearest_word(word, names);
    return sim_fail(error, SIM_BAD_INPUT, "'%s' is neither a scene file nor a command%s%s%s; see sim --help", word,
                    near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

static int run_command(int count, char **arguments) {
    /* a first word that is neither a command nor a file is refused early */
    run_request request;
    sim_error error;
    int named = count > 1 && arguments[1][0] != '-';
    sim_status status = named ? check_word(arguments[1], &error) : SIM_OK;
    if (status) {
        return error_print(&error);
    }
    /* options */
    status = options_parse(count, arguments, &request, &error);
    int exit_status = status ? error_print(&error) : SIM_OK;
    /* print information, or run the scene */
    int informed = 0;
    for (size_t k = 0; !status && !informed && k < sizeof informations / sizeof informations[0]; k++) {
        if (*(const int *)((const char *)&request + informations[k].offset)) {
            if (informations[k].print) {
                informations[k].print();
            } else {
                print_solvers(request.json, request.study);
            }
            informed = 1;
        }
    }
    if (!status && !informed) {
        status = request.scene ? check_word(request.scene, &error) : SIM_OK;
        exit_status = status ? error_print(&error) : run_scene(&request);
    }
    request_free(&request);
    return exit_status;
}

int main(int count, char **arguments) {
    hdf5_disable_atexit();
    for (int k = 0; count > 1 && k < COMMANDS; k++) {
        if (strcmp(arguments[1], commands[k].name) == 0) {
            return flush_output(commands[k].main(count - 1, arguments + 1));
        }
    }
    return flush_output(run_command(count, arguments));
}
