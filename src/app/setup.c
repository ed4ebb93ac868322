/* What must be in order before the first step?  The scene, then the options, then the state, then the files. */
#include "app/setup.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int same_file(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* No file may be read and written, or written twice, in one run.  --checkpoint may replace the file of --resume. */
static sim_status check_files(const sim_request *request, sim_error *error) {
    const char *written[] = {request->summary, request->checkpoint};
    for (int k = 0; k < request->out.count; k++) {
        sim_status status = sim_recorder_accepts(request->out.item[k], error);
        if (status) {
            return status;
        }
        for (int w = 0; w < 2; w++) {
            if (written[w] && strcmp(written[w], request->out.item[k]) == 0) {
                return sim_fail(error, SIM_BAD_INPUT, "%s would be written twice", written[w]);
            }
        }
    }
    for (int w = 0; w < 2; w++) {
        if (written[w] && same_file(written[w], request->scene)) {
            return sim_fail(error, SIM_BAD_INPUT, "%s is the scene, and would be overwritten", written[w]);
        }
    }
    if (written[0] && written[1] && strcmp(written[0], written[1]) == 0) {
        return sim_fail(error, SIM_BAD_INPUT, "%s would be written twice", written[0]);
    }
    return SIM_OK;
}

static sim_status check_request(const sim_request *request, sim_error *error) {
    if (!request->scene) {
        return sim_fail(error, SIM_BAD_INPUT, "which scene? sim SCENE.json; see sim --help");
    }
    if (request->solver) {
        return sim_fail(error, SIM_BAD_INPUT, "there are no contact solvers in this version: --solver %s",
                        request->solver);
    }
    return check_files(request, error);
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

static sim_status load(sim_run *run, sim_error *error) {
    sim_diagnostics diagnostics = {0};
    sim_scene_overrides overrides = {run->request->set.count, run->request->set.item, NULL};
    overrides.seed = run->request->seed_given ? &run->request->seed : NULL;
    run->scene = sim_scene_load(run->request->scene, &overrides, &diagnostics, error);
    print_diagnostics(&diagnostics);
    if (!run->scene && diagnostics.count > 0) {
        error->text[0] = 0;
    }
    sim_diagnostics_free(&diagnostics);
    return run->scene ? SIM_OK : error->status;
}

static void apply_options(sim_run *run) {
    const sim_request *request = run->request;
    sim_scene *scene = run->scene;
    scene->duration = request->duration > 0 ? request->duration : scene->duration;
    scene->options.step = request->step > 0 ? request->step : scene->options.step;
    scene->options.threads = request->threads ? (int)request->threads : scene->options.threads;
    scene->record.every = request->every ? (int)request->every : scene->record.every;
    for (int k = 0; request->integrator && k < SIM_INTEGRATORS; k++) {
        if (strcmp(request->integrator, sim_integrator_name((sim_integrator)k)) == 0) {
            scene->options.integrator = (sim_integrator)k;
        }
    }
}

/* A duration that is a whole number of steps but for rounding takes that many; any other is stepped over. */
static sim_status count_steps(sim_run *run, sim_error *error) {
    double steps = run->scene->duration / run->scene->options.step;
    if (!(steps < 9e15)) {
        return sim_fail(error, SIM_BAD_INPUT, "%g s in steps of %g s are more steps than can be counted",
                        run->scene->duration, run->scene->options.step);
    }
    double whole = nearbyint(steps);
    run->last_step = (int64_t)(fabs(steps - whole) < 1e-6 ? whole : ceil(steps));
    return SIM_OK;
}

static sim_status make_room_for_good_state(sim_run *run, sim_error *error) {
    size_t nq = (size_t)run->scene->model->nq, nv = (size_t)run->scene->model->nv;
    run->good.q = calloc(nq + 2 * nv + 1, sizeof(double));
    if (!run->good.q) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for a state");
    }
    run->good.v = run->good.q + nq;
    run->good.a = run->good.v + nv;
    return SIM_OK;
}

static sim_status make_world(sim_run *run, sim_error *error) {
    const sim_request *request = run->request;
    run->world = sim_world_create(run->scene->model, &run->scene->options, error);
    if (!run->world) {
        return error->status;
    }
    sim_status status = request->resume ? sim_checkpoint_read(request->resume, run->scene, run->world, error) : SIM_OK;
    if (!status && request->on_nonconverged && strcmp(request->on_nonconverged, "fail") == 0) {
        status = make_room_for_good_state(run, error);
    }
    return status;
}

/* A run of hours must not find out at its end that its state has no place to go. */
static sim_status check_checkpoint_folder(const sim_request *request, sim_error *error) {
    if (!request->checkpoint) {
        return SIM_OK;
    }
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(request->checkpoint, '/');
    if (slash) {
        snprintf(folder, sizeof folder, "%.*s", slash == request->checkpoint ? 1 : (int)(slash - request->checkpoint),
                 request->checkpoint);
    }
    if (access(folder, W_OK | X_OK)) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write a checkpoint: %s", request->checkpoint,
                        strerror(errno));
    }
    return SIM_OK;
}

static sim_status open_files(sim_run *run, FILE **summary, sim_error *error) {
    const sim_request *request = run->request;
    sim_status status = check_checkpoint_folder(request, error);
    run->output = calloc((size_t)request->out.count + 1, sizeof *run->output);
    if (status || !run->output) {
        return status ? status : sim_fail(error, SIM_NO_RESOURCE, "no memory for the outputs");
    }
    if (request->summary && !(*summary = fopen(request->summary, "we"))) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: cannot create: %s", request->summary, strerror(errno));
    }
    for (int k = 0; k < request->out.count; k++) {
        sim_recorder *recorder = sim_recorder_open(request->out.item[k], run->scene, run->world, error);
        if (!recorder) {
            return error->status;
        }
        run->output[run->outputs++] = (run_output){request->out.item[k], recorder, 0};
    }
    return SIM_OK;
}

static void print_valid(const sim_run *run) {
    const sim_model *model = run->scene->model;
    printf("%s: ok, %d bodies, %d dofs, %d trees, %lld steps of %g s (%s)\n", run->request->scene, model->nbody - 1,
           model->nv, model->ntree, (long long)run->last_step, run->scene->options.step,
           sim_integrator_name(run->scene->options.integrator));
}

sim_status run_setup(sim_run *run, const sim_request *request, FILE **summary, sim_error *error) {
    *run = (sim_run){.request = request, .recorded = -1};
    *error = (sim_error){0};
    sim_status status = check_request(request, error);
    status = status ? status : load(run, error);
    if (status) {
        return status;
    }
    apply_options(run);
    status = count_steps(run, error);
    status = status ? status : make_world(run, error);
    if (status || request->validate) {
        if (!status) {
            print_valid(run);
        }
        return status;
    }
    status = open_files(run, summary, error);
    if (status && *summary) {
        fclose(*summary);
        *summary = NULL;
    }
    return status;
}

void run_clear(sim_run *run) {
    for (int k = 0; k < run->outputs; k++) {
        sim_recorder_close(run->output[k].recorder, NULL);
    }
    free(run->output);
    free(run->good.q);
    sim_world_free(run->world);
    sim_scene_free(run->scene);
}

int run_writes_to_terminal(const sim_run *run) {
    for (int k = 0; k < run->outputs; k++) {
        if (strcmp(run->output[k].path, "-") == 0 && isatty(STDOUT_FILENO)) {
            return 1;
        }
    }
    return 0;
}
