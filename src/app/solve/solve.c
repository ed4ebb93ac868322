/* `sim solve`: its files, its solvers, its totals. */
#include "app/solve/solve.h"
#include "app/cli/batch_progress.h"
#include "app/cli/outputs.h"
#include "app/cli/solvers.h"
#include "app/cli/usage.h"
#include "base/file.h"
#include "base/words.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_HISTORY_POINTS = 1000000 };

/* ---- which files ---- */

typedef struct file_list {
    int count, room;
    char **path;
} file_list;

static void list_free(file_list *list) {
    for (int k = 0; k < list->count; k++) {
        free(list->path[k]);
    }
    free(list->path);
}

static sim_status list_add(file_list *list, const char *folder, const char *name, sim_error *error) {
    if (list->count == list->room) {
        int room = 2 * list->room + 16;
        char **path = realloc(list->path, (size_t)room * sizeof *path);
        if (!path) {
            return sim_fail(error, SIM_NO_RESOURCE, "no memory for the names of files");
        }
        list->path = path;
        list->room = room;
    }
    size_t length = strlen(folder) + strlen(name) + 2;
    char *path = malloc(length);
    if (!path) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the names of files");
    }
    snprintf(path, length, "%s%s%s", folder, *folder ? "/" : "", name);
    list->path[list->count++] = path;
    return SIM_OK;
}

static bool is_problem_name(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot && name[0] != '.' && (strcmp(dot, ".hdf5") == 0 || strcmp(dot, ".h5") == 0);
}

static int compare_paths(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static sim_status list_folder(file_list *list, const char *path, sim_error *error) {
    DIR *folder = opendir(path);
    int before = list->count;
    sim_status status =
        folder ? SIM_OK : sim_fail(error, SIM_NO_RESOURCE, "%s: cannot be read: %s", path, strerror(errno));
    for (struct dirent *item; folder && !status && (item = readdir(folder));) {
        status = is_problem_name(item->d_name) ? list_add(list, path, item->d_name, error) : SIM_OK;
    }
    if (folder) {
        closedir(folder);
    }
    if (!status && list->count == before) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: no file ends in .hdf5 or .h5", path);
    }
    qsort(list->path + before, (size_t)(list->count - before), sizeof *list->path, compare_paths);
    return status;
}

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Every command takes files of one kind: a scene has problems only in its steps. */
static bool is_scene_name(const char *path) {
    return ends_in_any_case(path, ".json") || ends_in_any_case(path, ".urdf") || ends_in_any_case(path, ".xml") ||
           ends_in_any_case(path, ".sdf");
}

static sim_status list_file(file_list *list, const char *path, sim_error *error) {
    if (is_scene_name(path) && access(path, F_OK) == 0) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "%s is a scene, where a contact problem in HDF5 is expected: sim %s --dump-problem 100 "
                        "problem.h5 writes that of step 100",
                        path, path);
    }
    return list_add(list, "", path, error);
}

static sim_status list_files(file_list *list, const solve_request *request, sim_error *error) {
    sim_status status = SIM_OK;
    for (int k = 0; k < request->files && !status; k++) {
        status = is_folder(request->file[k]) ? list_folder(list, request->file[k], error)
                                             : list_file(list, request->file[k], error);
    }
    return status;
}

/* ---- the run ---- */

void solve_count(solve_totals *totals, const solve_case *c) {
    static const double level[SOLVE_ACCURACY_LEVELS] = {1e-4, 1e-6, 1e-8};
    totals->files++;
    if (c->trouble.status) {
        totals->refused += c->refused;
        totals->unreadable += !c->refused;
        return;
    }
    totals->seconds += c->seconds;
    int solved = c->outcome == SIM_SOLVED || c->outcome == SIM_AT_ROUNDING;
    totals->unsolved += !solved;
    totals->gave_up.of[c->reason] += !solved;
    if (solved && c->finished_by >= 0) {
        totals->finished.of[c->finished_by]++;
    }
    for (int k = 0; k < SOLVE_ACCURACY_LEVELS; k++) {
        totals->within_E[k] += c->certificate.E <= level[k];
        totals->within_own[k] += c->certificate.own <= level[k];
    }
}

/* Output of the convergence history. */
typedef struct way_table {
    const char *path, *option, *head; /* path NULL: not asked for */
    FILE **file;
} way_table;

enum { WAY_TABLES = 3 };

static void list_tables(solve_run *run, way_table table[WAY_TABLES]) {
    const solve_request *request = run->request;
    const way_table all[WAY_TABLES] = {
        {request->history, "--history", "file,iteration,residual,cost\n", &run->history_file},
        {request->linear_history, "--linear-history", "file,iteration,linear_iteration,residual\n", &run->linear_file},
        {request->places, "--places", "file,iteration,contact,friction,t1,t2,n\n", &run->places_file},
    };
    memcpy(table, all, sizeof all);
}

static sim_status open_tables(solve_run *run, sim_error *error) {
    way_table table[WAY_TABLES];
    list_tables(run, table);
    const char *path[WAY_TABLES] = {table[0].path, table[1].path, table[2].path};
    if (outputs_claim(path, WAY_TABLES, error)) {
        return error->status;
    }
    for (int k = 0; k < WAY_TABLES; k++) {
        if (table[k].path && !(*table[k].file = fopen(table[k].path, "we"))) {
            return sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write: %s", table[k].path, strerror(errno));
        }
        if (table[k].path) {
            fputs(table[k].head, *table[k].file);
        }
    }
    return SIM_OK;
}

static sim_status open_history(solve_run *run, sim_error *error) {
    /* only where a history is asked for */
    const solve_request *request = run->request;
    sim_history *h = &run->history;
    if (!request->history && !request->linear_history && !request->places) {
        return SIM_OK;
    }
    /* room for the errors of iterations, of linear solves, and for their places */
    h->residual = malloc(MAX_HISTORY_POINTS * sizeof(double));
    h->cost = malloc(MAX_HISTORY_POINTS * sizeof(double));
    h->room = MAX_HISTORY_POINTS;
    if (request->linear_history) {
        h->linear = malloc(MAX_HISTORY_POINTS * sizeof(double));
        h->linear_step = malloc(MAX_HISTORY_POINTS * sizeof(int));
        h->linear_room = MAX_HISTORY_POINTS;
    }
    if (request->places) {
        h->place = malloc(MAX_HISTORY_POINTS * sizeof(double));
        h->place_room = MAX_HISTORY_POINTS;
    }
    if (!h->residual || !h->cost || (request->linear_history && (!h->linear || !h->linear_step)) ||
        (request->places && !h->place)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the history");
    }
    /* tables */
    return open_tables(run, error);
}

/* Checks that the output of an option is none of the files, nor one of the tables before the t-th. */
static sim_status check_output(solve_run *run, const file_list *list, const char *path, const char *option, int t,
                               sim_error *error) {
    way_table table[WAY_TABLES];
    list_tables(run, table);
    for (int k = 0; k < t; k++) {
        if (table[k].path && file_same(path, table[k].path)) {
            return sim_fail(error, SIM_BAD_INPUT, "%s would be written twice: by %s and %s", path, table[k].option,
                            option);
        }
    }
    for (int k = 0; k < list->count && access(path, F_OK) == 0; k++) {
        if (file_same(path, list->path[k])) {
            return sim_fail(error, SIM_BAD_INPUT, "%s would be overwritten by %s", list->path[k], option);
        }
    }
    return SIM_OK;
}

/* Two files of one name would leave one answer. */
static sim_status check_answers(solve_run *run, const file_list *list, sim_error *error) {
    char path[4096], before[4096];
    sim_status status = SIM_OK;
    for (int k = 0; k < list->count && !status; k++) {
        solve_answer_path(run, list->path[k], path, sizeof path);
        status = check_output(run, list, path, "--out", WAY_TABLES, error);
        for (int j = 0; j < k && !status; j++) {
            solve_answer_path(run, list->path[j], before, sizeof before);
            if (strcmp(path, before) == 0) {
                status = sim_fail(error, SIM_BAD_INPUT, "%s would be written twice: from %s and %s", path,
                                  list->path[j], list->path[k]);
            }
        }
    }
    return status;
}

static sim_status check_outputs(solve_run *run, const file_list *list, sim_error *error) {
    const solve_request *request = run->request;
    run->out_is_folder = request->out && is_folder(request->out);
    if (request->out && list->count > 1 && !run->out_is_folder) {
        return sim_fail(error, SIM_BAD_INPUT, "--out: %s must be an existing folder, for %d files", request->out,
                        list->count);
    }
    way_table table[WAY_TABLES];
    list_tables(run, table);
    sim_status status = SIM_OK;
    for (int t = 0; t < WAY_TABLES && !status; t++) {
        status = table[t].path ? check_output(run, list, table[t].path, table[t].option, t, error) : SIM_OK;
    }
    return status || !request->out ? status : check_answers(run, list, error);
}

static sim_status make_solver(solve_run *run, sim_error *error) {
    run->info = run->choice->info;
    run->name = run->info->name;
    run->cone = run->info->cone;
    /* the elastic law needs the loads of the step before, which files have as a guess at best */
    run->compliance = run->info->default_law == SIM_ELASTIC ? SIM_RIGID : run->info->default_law;
    run->option = solve_option_values(run->request, run->choice, error);
    run->solver = run->option ? sim_solver_create(run->info, run->option, error) : NULL;
    if (run->solver && run->request->places && !(run->info->counts & SIM_COUNTS_PLACES)) {
        return sim_fail(error, SIM_BAD_INPUT, "--places needs the solver incp; %s has no such unknown", run->name);
    }
    int positions = run->info->positions - 1;
    if (run->solver && positions >= 0 && run->option[positions] > 0 && !run->request->quiet) {
        fprintf(stderr, "sim: note: files hold no positions at the end of the step: %s solves them at velocity level\n",
                run->name);
    }
    return run->solver ? SIM_OK : error->status;
}

static sim_status prepare_run(solve_run *run, const file_list *list, sim_error *error) {
    const solve_request *request = run->request;
    run->name = "stored";
    run->cone = SIM_CONE_STRICT;
    run->compliance = SIM_RIGID;
    sim_status status = request->stored ? SIM_OK : make_solver(run, error);
    if (status) {
        return status;
    }
    for (int k = 0; request->law && k < SIM_COMPLIANCES; k++) {
        if (strcmp(request->law, sim_compliance_name((sim_compliance)k)) == 0) {
            run->compliance = (sim_compliance)k;
        }
    }
    status = check_outputs(run, list, error);
    return status ? status : open_history(run, error);
}

static sim_status close_table(FILE *file, const char *path, sim_status status, sim_error *error) {
    if (!file) {
        return status;
    }
    int good = !ferror(file);
    good &= fclose(file) == 0;
    return good || status ? status : sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write", path);
}

static sim_status finish_solve_run(solve_run *run, sim_status status, sim_error *error) {
    way_table table[WAY_TABLES];
    list_tables(run, table);
    for (int k = 0; k < WAY_TABLES; k++) {
        status = close_table(*table[k].file, table[k].path, status, error);
    }
    free(run->history.place);
    free(run->history.residual);
    free(run->history.cost);
    free(run->history.linear);
    free(run->history.linear_step);
    sim_solver_free(run->solver);
    free(run->option);
    return status;
}

static sim_status solve_files(solve_run *run, const file_list *list, sim_error *error) {
    /* report and progress */
    sim_status worst = SIM_OK;
    solve_report *report = solve_report_open(run);
    if (!report) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the table");
    }
    batch_progress line, *progress = run->request->quiet ? NULL : &line;
    batch_progress_start(progress, list->count);
    /* solve each file */
    for (int k = 0; k < list->count; k++) {
        solve_case c;
        const char *slash = strrchr(list->path[k], '/');
        batch_progress_begin(progress, slash ? slash + 1 : list->path[k]);
        solve_one(run, list->path[k], &c);
        batch_progress_done(progress);
        solve_count(&run->totals, &c);
        solve_report_case(report, &c);
        if (c.trouble.status) {
            fprintf(stderr, "sim: error: %s\n", c.trouble.text);
        }
        /* the worst outcome is the exit status */
        worst = c.trouble.status > worst ? c.trouble.status : worst;
    }
    solve_report_close(report);
    return worst ? worst : run->totals.unsolved > 0 ? SIM_FAILED : SIM_OK;
}

/* All files by one solver; NULL: no one is asked. */
static int run_solver(const solve_request *request, const file_list *list, const solver_choice *choice) {
    sim_error error = {0};
    solve_run run = {.request = request, .choice = choice};
    sim_status status = prepare_run(&run, list, &error);
    status = status ? status : solve_files(&run, list, &error);
    status = finish_solve_run(&run, status, &error);
    return error.text[0] ? error_print(&error) : (int)status;
}

/* One solver after the other: a table each, or an array of as many objects. */
static int run_solvers(const solve_request *request, const file_list *list) {
    int worst = SIM_OK;
    if (request->solvers.count < 2) {
        return run_solver(request, list, request->solvers.count ? request->solvers.item : NULL);
    }
    for (int k = 0; k < request->solvers.count; k++) { /* before the first word is written */
        sim_error error;
        double *option = solve_option_values(request, &request->solvers.item[k], &error);
        if (!option) {
            return error_print(&error);
        }
        free(option);
    }
    for (int k = 0; k < request->solvers.count; k++) {
        const solver_choice *choice = &request->solvers.item[k];
        if (request->json) {
            fputs(k ? "," : "[", stdout);
        } else {
            printf("%s%s\n", k ? "\n" : "", choice->text);
        }
        int status = run_solver(request, list, choice);
        worst = status > worst ? status : worst;
    }
    if (request->json) {
        puts("]");
    }
    return worst;
}

static int run_solve(const solve_request *request) {
    sim_error error = {0};
    file_list list = {0};
    sim_status status = list_files(&list, request, &error);
    int exit_status = status ? error_print(&error) : run_solvers(request, &list);
    list_free(&list);
    return exit_status;
}

int solve_command(int count, char **arguments) {
    solve_request request;
    sim_error error = {0};
    sim_status status = solve_parse(count, arguments, &request, &error);
    int exit_status = SIM_OK;
    if (status) {
        exit_status = error_print(&error);
    } else if (request.help) {
        usage_print(&solve_options);
    } else if (request.list_solvers) {
        print_solvers(request.json, request.study);
    } else {
        exit_status = run_solve(&request);
    }
    solve_request_free(&request);
    return exit_status;
}
