/* Checks before the first step.  The scene, then the options, then the state, then the files. */
#include "app/run/setup.h"
#include "app/cli/interrupt.h"
#include "app/cli/outputs.h"
#include "app/cli/robots.h"
#include "app/run/contacts.h"
#include "app/run/overlaps.h"
#include "app/run/page.h"
#include "record/run/run_statistics.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "a/b/c": "a/b"; "c": "." */
static const char *folder_of(const char *path, char folder[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    int length = slash == path ? 1 : (int)(slash - path);
    snprintf(folder, PATH_MAX, "%.*s", slash ? length : 1, slash ? path : ".");
    return folder;
}

static sim_status check_request(const run_request *request, sim_error *error) {
    if (!request->scene && !request->resume) {
        return sim_fail(error, SIM_BAD_INPUT, "no scene given: sim SCENE.json; see sim --help");
    }
    return outputs_check_request(request, error);
}

static void print_diagnostics(const sim_diagnostics *diagnostics) {
    for (int k = 0; k < diagnostics->count; k++) {
        char text[4096];
        sim_diagnostic_print(&diagnostics->item[k], text, sizeof text);
        fputs(text, stderr);
    }
    if (diagnostics->more > 0) {
        fprintf(stderr, "sim: and %d more\n", diagnostics->more);
    }
}

const char *setup_cache(char *path, size_t size) {
    const char *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int own = caches && caches[0] == '/'; /* XDG Base Directory Specification: a relative path is to be ignored */
    if (!own && !(home && home[0] == '/')) {
        return NULL;
    }
    int length = snprintf(path, size, "%s%s/sim", own ? caches : home, own ? "" : "/.cache");
    return length < (int)size ? path : NULL;
}

/* --solver is the last of the values that are set: the scene's options must be those of this solver. */
sim_scene *setup_scene(const char *path, const char *text, size_t length, const scene_wish *wish, sim_error *error) {
    /* values that are set, with the solver as the last */
    sim_diagnostics diagnostics = {0};
    char cache[PATH_MAX];
    int count = wish->set.count;
    const char **set = calloc((size_t)count + 1, sizeof *set);
    size_t room = wish->solver ? strlen("world/solver=") + strlen(wish->solver) + 1 : 1;
    char *solver = malloc(room);
    if (!set || !solver) {
        free(set);
        free(solver);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the command line");
        return NULL;
    }
    if (count) {
        memcpy(set, wish->set.item, (size_t)count * sizeof *set);
    }
    if (wish->solver) {
        snprintf(solver, room, "world/solver=%s", wish->solver);
        set[count++] = solver;
    }
    sim_import_options import = robot_import(wish->robot ? wish->robot : &(robot_request){0});
    /* load; the diagnostics are printed one by one, so that none is repeated */
    sim_scene_overrides overrides = {.count = count,
                                     .set = set,
                                     .seed = wish->seed,
                                     .start = wish->start,
                                     .cache = setup_cache(cache, sizeof cache),
                                     .import = &import,
                                     .folder = wish->folder,
                                     .names_from = wish->names_from};
    sim_scene *scene = text ? sim_scene_parse(text, length, path, &overrides, &diagnostics, error)
                            : sim_scene_load(path, &overrides, &diagnostics, error);
    print_diagnostics(&diagnostics);
    if (!scene && diagnostics.count > 0) {
        error->text[0] = 0;
    }
    sim_diagnostics_free(&diagnostics);
    free(set);
    free(solver);
    return scene;
}

sim_status require_bodies(const sim_scene *scene, const char *path, sim_error *error) {
    return scene->model->nbody > 1
               ? SIM_OK
               : sim_fail(error, SIM_BAD_INPUT, "%s: has no bodies: there is nothing to show", path);
}

enum { SHOWN_VALUES = 4, VALUE_BYTES = 64 };

/* Adds the values of options such as --duration to those of --set, so that the recorded text is that of the scene as it
 * ran.  Returns their number. */
static int add_options(const run_request *request, const char **set, int count, char text[SHOWN_VALUES][VALUE_BYTES]) {
    if (request->step > 0) {
        snprintf(text[0], VALUE_BYTES, "world/step=%.17g", request->step);
        set[count++] = text[0];
    }
    if (request->duration >= 0) {
        snprintf(text[1], VALUE_BYTES, "world/duration=%.17g", request->duration);
        set[count++] = text[1];
    }
    if (request->integrator) {
        snprintf(text[2], VALUE_BYTES, "world/integrator=%s", request->integrator);
        set[count++] = text[2];
    }
    if (request->every) {
        snprintf(text[3], VALUE_BYTES, "record/every=%lld", (long long)request->every);
        set[count++] = text[3];
    }
    return count;
}

/* Of a run that goes on without a scene it is the one that the checkpoint holds.  Its files lie where they were, or beside
 * the checkpoint if that folder is gone. */
static sim_scene *load_run_scene(const run_context *run, scene_wish *wish, sim_error *error) {
    char *kept = NULL, *folder = NULL;
    size_t length = 0;
    if (!run->request->scene && sim_checkpoint_scene(run->scene_file, &kept, &length, &folder, error)) {
        return NULL;
    }
    wish->folder = folder && access(folder, X_OK) == 0 ? folder : NULL;
    sim_scene *scene = setup_scene(run->scene_file, kept, length, wish, error);
    free(folder);
    free(kept);
    return scene;
}

static sim_status load_start(run_context *run, sim_error *error) {
    const run_request *request = run->request;
    char text[SHOWN_VALUES][VALUE_BYTES];
    text_list set = {0, calloc((size_t)request->set.count + SHOWN_VALUES, sizeof *set.item)};
    if (!set.item) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the command line");
    }
    for (; set.count < request->set.count; set.count++) {
        set.item[set.count] = request->set.item[set.count];
    }
    set.count = add_options(request, set.item, set.count, text);
    scene_wish wish = {.set = set,
                       .solver = request->solver,
                       .seed = request->seed_given ? &request->seed : NULL,
                       .start = request->start,
                       .robot = &request->robot};
    run->scene = load_run_scene(run, &wish, error);
    free(set.item);
    if (run->scene && request->threads) {
        run->scene->options.threads = (int)request->threads; /* changes no bit */
    }
    return run->scene ? SIM_OK : error->status;
}

/* Before anything is written: is there a problem in the step that is asked for, and room for its file? */
static sim_status check_dump(const run_context *run, sim_error *error) {
    long long wanted = run->request->dump_problem, done = sim_world_state(run->world)->step;
    if (!wanted) {
        return SIM_OK;
    }
    if (wanted > run->last_step) {
        return sim_fail(error, SIM_BAD_INPUT, "--dump-problem %lld: the run ends with step %lld", wanted,
                        (long long)run->last_step);
    }
    if (wanted <= done) {
        return sim_fail(error, SIM_BAD_INPUT, "--dump-problem %lld: the run begins with step %lld", wanted, done + 1);
    }
    if (!sim_world_has_problems(run->world)) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "--dump-problem %lld: no contact is possible in this scene, so there is no contact problem",
                        wanted);
    }
    return setup_folder(run->request->dump_file, "a contact problem", error);
}

static sim_status make_world(run_context *run, sim_error *error) {
    const run_request *request = run->request;
    run->world = sim_world_create(run->scene->model, &run->scene->options, error);
    if (!run->world) {
        return error->status;
    }
    sim_status status = request->resume ? sim_checkpoint_read(request->resume, run->scene, run->world, error) : SIM_OK;
    if (!status && request->on_nonconverged && strcmp(request->on_nonconverged, "fail") == 0) {
        run->good = sim_snapshot_create(run->world, error);
        status = run->good ? SIM_OK : error->status;
    }
    return status;
}

sim_status setup_folder(const char *path, const char *what, sim_error *error) {
    struct stat there;
    char folder[PATH_MAX];
    if (access(folder_of(path, folder), W_OK | X_OK)) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write %s: %s", path, what, strerror(errno));
    }
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write %s: not an ordinary file", path, what);
    }
    return SIM_OK;
}

static sim_status open_files(run_context *run, FILE **summary, sim_error *error) {
    /* places of output */
    const run_request *request = run->request;
    sim_status status = request->checkpoint ? setup_folder(request->checkpoint, "a checkpoint", error) : SIM_OK;
    if (!status && request->dump_file) {
        status = setup_folder(request->dump_file, "a problem", error);
    }
    if (!status && (request->html || request->view)) {
        status = require_bodies(run->scene, run->scene_file, error);
    }
    /* the page, and all names claimed against each other */
    status = status ? status : page_open(run, error);
    status = status ? status : outputs_claim_request(request, error);
    run->output = calloc((size_t)request->out.count + 1, sizeof *run->output);
    if (status || !run->output) {
        return status ? status : sim_fail(error, SIM_NO_RESOURCE, "no memory for the outputs");
    }
    /* summary */
    if (request->summary && strcmp(request->summary, "-") == 0) {
        *summary = stdout;
    } else if (request->summary && !(*summary = fopen(request->summary, "we"))) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: cannot create: %s", request->summary, strerror(errno));
    }
    /* trajectories */
    for (int k = 0; k < request->out.count; k++) {
        sim_recorder *recorder = sim_recorder_open(request->out.item[k], run->scene, run->world, error);
        if (!recorder) {
            return error->status;
        }
        run->output[run->outputs++] = (run_output){request->out.item[k], recorder, 0};
    }
    return SIM_OK;
}

static void print_valid(const run_context *run) {
    const sim_model *model = run->scene->model;
    long long counts[] = {model->nbody - 1, model->nv, model->ntree, (long long)run->last_step};
    const char *one[] = {"body", "dof", "tree", "step"}, *many[] = {"bodies", "dofs", "trees", "steps"};
    printf("%s: ok", run->scene_file);
    for (int k = 0; k < 4; k++) {
        printf(", %lld %s", counts[k], counts[k] == 1 ? one[k] : many[k]);
    }
    printf(" of %g s (%s)\n", run->scene->options.step, sim_integrator_name(run->scene->options.integrator));
}

sim_status run_setup(run_context *run, const run_request *request, FILE **summary, sim_error *error) {
    /* scene, or checkpoint */
    *run = (run_context){.request = request, .recorded = -1, .viewed = -1};
    time_limit_start(&run->time_limit, request->time_limit);
    run->scene_file = request->scene ? request->scene : request->resume;
    *error = (sim_error){0};
    sim_status status = check_request(request, error);
    status = status ? status : load_start(run, error);
    status = status ? status : outputs_check_scene(request, run->scene, error);
    if (status) {
        return status;
    }
    /* scenes in which nothing moves */
    if (run->scene->model->nbody == 1 && !request->html && !request->view) {
        fprintf(stderr, "sim: warning: %s: has no bodies: nothing moves\n", run->scene_file);
    }
    if (run->scene->model->nbody > 1 && run->scene->model->nv == 0) {
        fprintf(
            stderr,
            "sim: warning: %s: no body can move: all joints are fixed, which is the default (\"joint\": \"free\" in a "
            "scene, or --base free for a robot, releases a body)\n",
            run->scene_file);
    }
    /* world */
    status = count_run_steps(run->scene, &run->last_step, error);
    status = status ? status : make_world(run, error);
    status = status ? status : check_dump(run, error);
    /* warnings before the first step */
    if (!status && !request->resume && !request->contacts) {
        status = warn_of_overlaps(run, error);
    }
    /* answers that need no step */
    if (!status && request->validate) {
        print_valid(run);
    }
    if (!status && request->contacts) {
        status = print_contacts(run, error);
    }
    if (status || request->validate || request->contacts) {
        return status;
    }
    /* output files */
    interrupt_deadline(0);
    status = open_files(run, summary, error);
    if (status && *summary) {
        if (*summary != stdout) {
            fclose(*summary);
        }
        *summary = NULL;
    }
    return status;
}

void run_clear(run_context *run) {
    for (int k = 0; k < run->outputs; k++) {
        sim_recorder_close(run->output[k].recorder, NULL);
    }
    sim_view_discard(run->view);
    free(run->output);
    sim_snapshot_free(run->good);
    sim_world_free(run->world);
    sim_scene_free(run->scene);
}

bool run_writes_to_terminal(const run_context *run) {
    for (int k = 0; k < run->outputs; k++) {
        if (strcmp(run->output[k].path, "-") == 0 && isatty(STDOUT_FILENO)) {
            return true;
        }
    }
    return false;
}
