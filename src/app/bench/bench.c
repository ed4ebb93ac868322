/* `sim bench contact`: its command line and its loop over cases and solvers. */
#include "app/bench/bench.h"
#include "app/cli/usage.h"

#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(bench_request, member)

static const option_row rows[] = {
    {"solver", "NAME", OPTION_LIST, AT(solver), .heading = "Selection",
     .help = "use this contact solver, or several separated by commas, with options as in pgs:max_iterations=100; "
             "default: the scene's"},
    {"scale", NULL, OPTION_FLAG, AT(scale), .help = "clutter of 8 to 2,000 bodies; takes minutes"},
    {"threads", "N", OPTION_COUNT, AT(threads), 1, 64,
     .help = "run every case with one thread and with N: report the speedup, and whether the bits are the same"},
    {"set", "PATH=VALUE", OPTION_LIST, AT(set),
     .help = "replace a value of every scene, as in --set world/step=0.005; repeatable"},
    {"repeat", "N", OPTION_COUNT, AT(repeat), 1, 1000,
     .help = "time the steps N times and keep the shortest time; default: 3"},
    {"quick", NULL, OPTION_FLAG, AT(quick), .help = "take a few steps of each case, as a smoke test"},
    {"scenes", "FOLDER", OPTION_TEXT, AT(scenes),
     .help = "read the scenes from FOLDER; default: where they are installed"},
    {"json", NULL, OPTION_FLAG, AT(json), .heading = "Output", .help = "print JSON instead of the table"},
    {"quiet", NULL, OPTION_FLAG, AT(quiet), .help = "print no progress line", .letter = 'q'},
    {"list", NULL, OPTION_FLAG, AT(list), .help = "list the cases and their scenes"},
    OPTION_ROW_HELP(bench_request, NULL),
};
const option_set bench_options = {
    .command = "sim bench contact",
    .row = rows,
    .count = sizeof rows / sizeof rows[0],
    .usage = "sim bench contact [CASE]... [OPTION]...",
    .about =
        "Time steps with contacts. Print processor microseconds of each stage, contacts, islands, iterations, errors, "
        "and how time grows with size. A CASE is a name of --list or its beginning; default: all usual cases.",
    .after = "To compare solvers, use study/compare.py of the source.",
};

/* ---- the command line ---- */

sim_status bench_parse(int count, char **arguments, bench_request *request, sim_error *error) {
    /* options */
    *request = (bench_request){.repeat = 3};
    int first;
    sim_status status = options_read(&bench_options, count, arguments, request, &first, error);
    if (status || request->help) {
        return status;
    }
    /* the benchmark, then its cases */
    if (first < count && strcmp(arguments[first], "solvers") == 0) {
        return sim_fail(error, SIM_BAD_INPUT, "solvers are compared by study/compare.py, in the source of sim");
    }
    if (first >= count || strcmp(arguments[first], "contact") != 0) {
        return sim_fail(error, SIM_BAD_INPUT, "no benchmark given: sim bench contact; see sim bench --help");
    }
    request->words = count - first - 1;
    request->word = arguments + first + 1;
    /* solvers */
    status = solver_choices_read(&request->solver, &request->solvers, error);
    return status ? status : bench_check_words(request, error);
}

void bench_request_free(bench_request *request) {
    options_free(&bench_options, request);
    solver_choices_free(&request->solvers);
}

/* ---- the run ---- */

static void list_cases(void) {
    for (int k = 0; k < bench_case_count; k++) {
        const bench_case *c = &bench_cases[k];
        printf("%-18s %-26s %s", c->name, c->scene, c->usual ? "" : "(if named, or with --scale) ");
        for (int s = 0; s < (int)(sizeof c->set / sizeof c->set[0]) && c->set[s]; s++) {
            printf("%s--set '%s'", s ? " " : "", c->set[s]);
        }
        putchar('\n');
    }
}

static int run_case(const bench_request *request, const bench_case *c, const solver_choice *solver, bench_figures *f) {
    batch_progress_begin(request->progress, c->name);
    bench_run(request, c, solver, f);
    if (!f->trouble.status && request->threads > 1) {
        bench_threads(request, solver, f, &f->trouble);
    }
    batch_progress_done(request->progress);
    if (f->trouble.status) {
        fprintf(stderr, "sim: error: %s: %s\n", c->name, f->trouble.text);
    }
    bench_report_case(request, f);
    return f->trouble.status;
}

static int count_chosen(const bench_request *request) {
    int count = 0;
    for (int k = 0; k < bench_case_count; k++) {
        count += bench_chosen(request, &bench_cases[k]);
    }
    return count;
}

static int run_cases(const bench_request *request) {
    /* figures of every case and solver */
    int solvers = request->solvers.count ? request->solvers.count : 1, worst = SIM_OK, count = 0;
    bench_figures *f = calloc((size_t)solvers * (size_t)bench_case_count, sizeof *f);
    if (!f) {
        sim_error error;
        sim_fail(&error, SIM_NO_RESOURCE, "no memory for the figures");
        return error_print(&error);
    }
    batch_progress_start(request->progress, solvers * count_chosen(request));
    bench_report_open(request);
    /* run the chosen cases */
    for (int k = 0; k < bench_case_count; k++) {
        for (int s = 0; s < solvers && bench_chosen(request, &bench_cases[k]); s++) {
            int status = run_case(request, &bench_cases[k], request->solvers.count ? &request->solvers.item[s] : NULL,
                                  &f[count++]);
            worst = status > worst ? status : worst;
        }
    }
    /* report */
    bench_report_close(request, f, count);
    free(f);
    return worst;
}

int bench_command(int count, char **arguments) {
    bench_request request;
    sim_error error = {0};
    sim_status status = bench_parse(count, arguments, &request, &error);
    int exit_status = SIM_OK;
    if (status) {
        exit_status = error_print(&error);
    } else if (request.help) {
        usage_print(&bench_options);
    } else if (request.list) {
        list_cases();
    } else {
        batch_progress progress;
        request.progress = request.quiet ? NULL : &progress;
        exit_status = run_cases(&request);
    }
    bench_request_free(&request);
    return exit_status;
}
