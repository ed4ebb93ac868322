/* `sim bench solvers`: which problems, by which solvers, and how far did they get? */
#include "app/contest/contest.h"
#include "app/cli/usage.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(contest_request, member)

static const option_row rows[] = {
    {"solver", "NAME", OPTION_LIST, AT(solver), .heading = "What",
     .help = "solvers with commas between, with options as in pgs:max_iterations=100; default: canal,pgs"},
    {"equal-time", NULL, OPTION_FLAG, AT(equal_time),
     .help = "all but the first once more, each problem for as long as the first took for it"},
    {"repeat", "N", OPTION_COUNT, AT(repeat), 1, 1000,
     .help = "solve what takes little time N times, the least time counts; default 3"},
    {"quick", NULL, OPTION_FLAG, AT(quick), .help = "a few problems of each case: does it run?"},
    {"scenes", "FOLDER", OPTION_TEXT, AT(scenes), .help = "where the scenes are, if not where they were installed"},
    {"curves", "FILE.csv", OPTION_TEXT, AT(curves), .heading = "Output",
     .help = "write how the error of each problem falls with effort and time, below any tolerance"},
    {"out", "FOLDER", OPTION_TEXT, AT(out), .help = "write the problems, as files that sim solve and FCLIB read"},
    {"json", NULL, OPTION_FLAG, AT(json), .help = "JSON in place of the table: every answer"},
    {"quiet", NULL, OPTION_FLAG, AT(quiet), .help = "no progress line on standard error", .letter = 'q'},
    {"list", NULL, OPTION_FLAG, AT(list), .help = "the cases"},
    {"help", NULL, OPTION_FLAG, AT(help), .help = "this text", .letter = 'h'},
};
const option_set contest_options = {
    .command = "sim bench solvers",
    .row = rows,
    .count = sizeof rows / sizeof rows[0],
    .usage = "sim bench solvers [CASE]... [OPTION]...",
    .about = "Answers the same contact problems by several solvers: how wrong the answers "
             "are by the rigid law (E), by the solver's "
             "own and as Lee et al. (2024) measure it, how many are within 1e-4, 1e-6 and "
             "1e-8, with how many iterations and how "
             "much processor time. A CASE is a name of --list or the family of some.",
};

static sim_status parse(int count, char **arguments, contest_request *request, sim_error *error) {
    static const char *usual[] = {"canal,pgs"};
    *request = (contest_request){.repeat = 3};
    request->solver.item = calloc((size_t)count + 1, sizeof *request->solver.item);
    if (!request->solver.item) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the command line");
    }
    int first;
    sim_status status = options_read(&contest_options, count, arguments, request, &first, error);
    if (status || request->help) {
        return status;
    }
    request->words = count - first;
    request->word = arguments + first;
    text_list list = request->solver.count ? request->solver : (text_list){1, usual};
    status = solver_choices_read(&list, &request->solvers, error);
    return status ? status : contest_check_words(request, error);
}

static int say(const sim_error *error) {
    fprintf(stderr, "sim: error: %s\n", error->text);
    return error->status;
}

static void list_cases(void) {
    for (int k = 0; k < contest_case_count; k++) {
        const contest_case *c = &contest_cases[k];
        printf("%-16s %-26s %s%d problems\n", c->name, c->scene, c->usual ? "" : "(if named) ",
               c->states * (c->wrenches ? c->wrenches : 1) * (c->runs ? c->runs : 1));
    }
}

/* ---- the run ---- */

static sim_status write_problems(const contest_request *request, const contest_problems *p, sim_error *error) {
    sim_status status = SIM_OK;
    for (int k = 0; k < p->count && !status; k++) {
        char path[PATH_MAX], title[64];
        snprintf(path, sizeof path, "%s/%s_%03d.hdf5", request->out, p->c->name, k);
        snprintf(title, sizeof title, "%s, problem %d", p->c->name, k);
        sim_problem_file *file = sim_problem_file_create_under(p->item[k], &p->law, title, "sim bench solvers", error);
        status = file ? sim_problem_file_write(file, path, error) : error->status;
        sim_problem_file_free(file);
    }
    return status;
}

typedef struct contest_run {
    const contest_request *request;
    FILE *curves;
    contest_entry *entry; /* of all cases */
    int count;
} contest_run;

static sim_status enter(contest_run *run, const contest_problems *p, const solver_choice *solver, int equal_time,
                        const contest_entry *first) {
    contest_entry *entry = &run->entry[run->count++];
    *entry = (contest_entry){.problems = p, .solver = solver, .equal_time = equal_time};
    char name[64];
    snprintf(name, sizeof name, "%s, %s", p->c->name, solver->text);
    pieces_begin(run->request->progress, name);
    contest_answer_all(run->request, entry, first);
    pieces_done(run->request->progress);
    contest_report_entry(run->request, entry, first ? first : entry);
    if (run->curves && !equal_time && contest_unlimited(solver)) {
        pieces_begin(run->request->progress, name);
        contest_curves(run->request, entry, run->curves);
        pieces_done(run->request->progress);
    }
    if (entry->trouble.status) {
        fprintf(stderr, "sim: error: %s, %s: %s\n", p->c->name, solver->text, entry->trouble.text);
    }
    return entry->trouble.status;
}

static sim_status run_case(contest_run *run, contest_problems *p, const contest_case *c) {
    const contest_request *request = run->request;
    sim_error error = {0};
    pieces_begin(request->progress, c->name);
    sim_status status = contest_problems_make(request, c, p, &error);
    pieces_hide(request->progress);
    status = status || !request->out ? status : write_problems(request, p, &error);
    if (status) {
        fprintf(stderr, "sim: error: %s: %s\n", c->name, error.text);
        return status;
    }
    contest_report_problems(request, p);
    const contest_entry *first = &run->entry[run->count];
    for (int pass = 0; pass < 1 + request->equal_time; pass++) {
        for (int s = pass; s < request->solvers.count; s++) {
            const solver_choice *solver = &request->solvers.item[s];
            if (!pass || contest_unlimited(solver)) {
                sim_status one = enter(run, p, solver, pass, pass || s ? first : NULL);
                status = one > status ? one : status;
            }
        }
    }
    if (!first->trouble.status) {
        contest_report_kinds(request, first);
    }
    contest_report_runs(request, first, (int)(&run->entry[run->count] - first));
    return status;
}

/* Answers of one case by one solver, and curves. */
static int count_pieces(const contest_run *run) {
    const contest_request *request = run->request;
    int cases = 0, each = request->solvers.count;
    for (int k = 0; k < contest_case_count; k++) {
        cases += contest_chosen(request, &contest_cases[k]);
    }
    for (int s = 0; s < request->solvers.count; s++) {
        int unlimited = contest_unlimited(&request->solvers.item[s]);
        each += unlimited * ((request->equal_time && s) + (run->curves != NULL));
    }
    return cases * each;
}

static sim_status run_cases(contest_run *run, contest_problems *problems) {
    sim_status worst = SIM_OK;
    pieces_start(run->request->progress, count_pieces(run));
    contest_report_open(run->request);
    for (int k = 0, count = 0; k < contest_case_count; k++) {
        if (contest_chosen(run->request, &contest_cases[k])) {
            contest_problems *p = &problems[count++];
            sim_status status = run_case(run, p, &contest_cases[k]);
            worst = status > worst ? status : worst;
            contest_problems_free(p);
        }
    }
    contest_report_close(run->request, run->entry, run->count);
    return worst;
}

static sim_status run_request(const contest_request *request, sim_error *error) {
    int most = contest_case_count * 2 * request->solvers.count;
    contest_run run = {.request = request, .entry = calloc((size_t)most, sizeof *run.entry)};
    contest_problems *problems = calloc((size_t)contest_case_count, sizeof *problems);
    sim_status status = run.entry && problems ? SIM_OK : sim_fail(error, SIM_NO_RESOURCE, "no memory for the figures");
    if (!status && request->curves && !(run.curves = fopen(request->curves, "we"))) {
        status = sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write: %s", request->curves, strerror(errno));
    }
    if (run.curves) {
        fputs("case,solver,problem,effort,iterations,seconds,E,own,lee,lee_scaled\n", run.curves);
    }
    status = status ? status : run_cases(&run, problems);
    if (run.curves && (ferror(run.curves) | fclose(run.curves)) && !status) {
        status = sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write", request->curves);
    }
    for (int k = 0; k < run.count; k++) {
        free(run.entry[k].answer);
    }
    for (int k = 0; k < contest_case_count && problems; k++) {
        free(problems[k].run);
    }
    free(run.entry);
    free(problems);
    return status;
}

int contest_command(int count, char **arguments) {
    contest_request request;
    sim_error error = {0};
    sim_status status = parse(count, arguments, &request, &error);
    if (!status && request.help) {
        usage_print(&contest_options);
    } else if (!status && request.list) {
        list_cases();
    } else if (!status) {
        pieces progress;
        request.progress = request.quiet ? NULL : &progress;
        status = run_request(&request, &error);
    }
    if (error.text[0]) {
        say(&error);
    }
    free(request.solver.item);
    solver_choices_free(&request.solvers);
    return (int)status;
}
