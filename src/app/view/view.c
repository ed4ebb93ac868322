/* `sim view FILE.h5`: a recorded run as a page for a browser.  `sim view SCENE.json --live`: one that goes on. */
#include "app/view/view.h"
#include "app/cli/outputs.h"
#include "app/cli/robots.h"
#include "app/cli/usage.h"
#include "app/run/page.h"
#include "app/run/recorded.h"
#include "app/view/live.h"
#include "view/page/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(member) offsetof(view_request, member)

static const option_row rows[] = {
    {"html", "FILE", OPTION_TEXT, AT(html), .heading = "Options",
     .help = "write the page to FILE and do not open it; default: a temporary file, opened in a browser"},
    {"scene", "SCENE.json", OPTION_TEXT, AT(scene),
     .help = "read the scene from SCENE.json; needed where it names other files and is not beside the trajectory. The "
             "trajectory holds the text of the scene that ran; if SCENE.json is another scene, that one is shown"},
    {"live", NULL, OPTION_FLAG, AT(live), .heading = "While it runs",
     .help = "simulate SCENE.json in real time and serve its page at the printed address until Ctrl-C; the page steers "
             "the run"},
    {"solver", "NAME", OPTION_SOLVER, AT(solver),
     .help = "start with this contact solver, with options as in pgs:max_iterations=100; default: the scene's"},
    OPTION_ROW_SET(view_request, NULL),
    OPTION_ROW_START(view_request),
    {"open", NULL, OPTION_FLAG, AT(open), .help = "open that page in a browser ($BROWSER, or xdg-open)"},
    {"listen", "ADDRESS", OPTION_TEXT, AT(listen),
     .help = "serve at this numeric address of the machine; default: 127.0.0.1, which only this machine reaches. "
             "Anyone who reaches the address can steer the run"},
    {"port", "N", OPTION_COUNT, AT(port), 1, 65535, .help = "serve at port N; default: a free one"},
    {"quiet", NULL, OPTION_FLAG, AT(quiet), .heading = "Information", .help = "print no progress", .letter = 'q'},
    OPTION_ROW_HELP(view_request, NULL),
};
const option_set view_options = {
    .command = "sim view",
    .row = rows,
    .count = sizeof rows / sizeof rows[0],
    .usage = "sim view FILE.h5 [OPTION]...\n       sim view SCENE.json --live [OPTION]...",
    .about = "Turn a trajectory (HDF5) into an HTML page that plays in any browser, offline, and open it. The page "
             "shows contacts and plots if the scene recorded them (\"contacts\", \"statistics\", \"energy\"). With "
             "--live, simulate a scene and steer it from the page.",
};

static bool is_scene(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".json") == 0;
}

static sim_status check_view_options(const view_request *request, sim_error *error) {
    if (request->live && (request->html || request->scene)) {
        return sim_fail(error, SIM_BAD_INPUT, "--live shows a running simulation: leave out --html and --scene");
    }
    if (!request->live && is_scene(request->file) && access(request->file, F_OK) == 0) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "%s is a scene: run it with sim %s --view, or watch it with sim view %s --live", request->file,
                        request->file, request->file);
    }
    if (!request->live && (request->listen || request->port || request->open || request->solver || request->start ||
                           request->set.count)) {
        return sim_fail(error, SIM_BAD_INPUT, "--listen, --port, --open, --solver, --start and --set need --live");
    }
    sim_status status = named_file_check("html", request->html, error);
    status = status ? status : outputs_apart(request->html, request->file, "the trajectory", error);
    return status ? status : outputs_apart(request->html, request->scene, "the scene", error);
}

static sim_status parse_view_request(int count, char **arguments, view_request *request, sim_error *error) {
    int first;
    *request = (view_request){0};
    sim_status status = options_read(&view_options, count, arguments, request, &first, error);
    if (status || request->help) {
        return status;
    }
    if (count - first != 1) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "sim view takes one trajectory, FILE.h5, or a scene with --live; see sim view --help");
    }
    request->file = arguments[first];
    status = robot_request_check(&request->robot, error);
    return status ? status : check_view_options(request, error);
}

static sim_status add_frames(const view_request *request, trajectory *file, view_replay *replay, double between,
                             sim_view *view, sim_error *error) {
    int64_t every = between > 0 ? page_every(between, file->records) : 1;
    int shown = !request->quiet && isatty(STDERR_FILENO);
    double started = clock_seconds(), next = 1;
    sim_status status = SIM_OK;
    for (ptrdiff_t k = 0; !status && k < file->records; k += every) {
        status = view_replay_frame(replay, k, view, error);
        if (shown && clock_seconds() - started > next) {
            next += 0.1;
            fprintf(stderr, "\r%3.0f %% ", 100.0 * (double)k / (double)file->records);
        }
    }
    if (next > 1) {
        fprintf(stderr, "\r      \r");
    }
    return status;
}

static sim_status write_page(const view_request *request, trajectory *file, sim_scene *scene, const char *path,
                             sim_error *error) {
    double step, between = 0;
    sim_status status = view_replay_times(file, &step, &between, error);
    view_replay *replay = status ? NULL : view_replay_open(file, scene, error);
    sim_view *view = replay ? sim_view_open(path, scene, error) : NULL;
    status = view ? add_frames(request, file, replay, between, view, error) : error->status;
    if (status) {
        sim_view_discard(view);
    } else {
        status = sim_view_close(view, error);
    }
    view_replay_free(replay);
    return status;
}

static sim_status view_file(const view_request *request, char *path, size_t size, sim_error *error) {
    trajectory *file = trajectory_open(request->file, error);
    if (!file) {
        return error->status;
    }
    sim_scene *scene = recorded_scene(file, request->scene, &(scene_wish){0}, error);
    sim_status status = scene ? outputs_apart_from_scene(request->html, scene, error) : error->status;
    if (!status && request->html) {
        snprintf(path, size, "%s", request->html);
    } else if (!status) {
        status = page_name(path, size, error);
    }
    status = status ? status : write_page(request, file, scene, path, error);
    if (!status) {
        recorded_warn(file, scene, &(scene_wish){0});
    }
    sim_scene_free(scene);
    trajectory_free(file);
    return status;
}

int view_command(int count, char **arguments) {
    /* options */
    view_request request;
    sim_error error = {0};
    char path[4096];
    sim_status status = parse_view_request(count, arguments, &request, &error);
    if (!status && request.help) {
        usage_print(&view_options);
        /* live run, or page of a recording */
    } else if (!status) {
        status = request.live ? live_serve(&request, &error) : view_file(&request, path, sizeof path, &error);
    }
    /* open the page */
    if (!status && !request.html && !request.live && !request.help) {
        page_show(path);
    }
    options_free(&view_options, &request);
    if (status) {
        error_print(&error);
    }
    return status;
}
