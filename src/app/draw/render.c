/* `sim render`: its command line, and the loop over moments. */
#include "app/draw/render.h"
#include "app/cli/interrupt.h"
#include "app/cli/outputs.h"
#include "app/cli/robots.h"
#include "app/cli/usage.h"
#include "app/draw/film.h"
#include "app/draw/frames.h"
#include "app/run/recorded.h"
#include "app/run/setup.h"
#include "base/words.h"
#include "record/file/atomic_file.h"
#include "view/image/png.h"
#include "view/render/render.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum output_kind { ONE_PICTURE, MANY_PICTURES, FILM } output_kind;

typedef struct render_request {
    text_list set;
    robot_request robot;
    const char *out, *camera, *size, *solver, *start, *scene;
    double time, duration, fps;
    int64_t threads;
    int contacts, forces, plain, dark, quiet, help;
    /* derived from these */
    const char *file;
    int width, height;
    output_kind kind;
} render_request;

#define AT(member) offsetof(render_request, member)

static const option_row rows[] = {
    {"out", "FILE", OPTION_TEXT, AT(out), .heading = "Output",
     .help = "write FILE: picture.png, one picture; frames/%04d.png, numbered pictures from 0; film.gif or film.apng, "
             "a film; film.mp4, .webm or .mkv, a film (needs ffmpeg)"},
    {"size", "WxH", OPTION_TEXT, AT(size), .help = "set the size in pixels; default: 1280x720"},
    {"fps", "N", OPTION_REAL, AT(fps),
     .help = "draw N pictures per simulated second, for films and numbered pictures; default: 30"},
    {"quiet", NULL, OPTION_FLAG, AT(quiet), .help = "print no progress line", .letter = 'q'},
    {"time", "S", OPTION_SPAN, AT(time), .heading = "Moment and view",
     .help = "draw the moment S, or start there; default: 0"},
    {"duration", "S", OPTION_SPAN, AT(duration), .help = "end films after S seconds; default: the end of the run"},
    {"camera", "NAME", OPTION_TEXT, AT(camera),
     .help =
         "use this camera of the scene; all: frame everything that moves; default: the scene's first camera, else all"},
    {"contacts", NULL, OPTION_FLAG, AT(contacts),
     .help = "draw contact points: blue sticking, orange slipping, grey without force"},
    {"forces", NULL, OPTION_FLAG, AT(forces), .help = "draw contact forces as arrows, in the same colours"},
    {"plain", NULL, OPTION_FLAG, AT(plain), .help = "draw floors without lines, for smaller files"},
    {"dark", NULL, OPTION_FLAG, AT(dark), .help = "draw a dark background, for dark pages"},
    {"solver", "NAME", OPTION_SOLVER, AT(solver), .heading = "Scene",
     .help = "use this contact solver, with options as in pgs:max_iterations=100; default: the scene's"},
    OPTION_ROW_SET(render_request, NULL),
    OPTION_ROW_START(render_request),
    {"scene", "FILE.json", OPTION_TEXT, AT(scene),
     .help = "read the scene of a trajectory from FILE.json; needed where it names other files and is not beside the "
             "trajectory"},
    {"threads", "N", OPTION_COUNT, AT(threads), 1, 64,
     .help = "draw with N threads; the picture is the same for any N; default: 2"},
    ROBOT_OPTIONS(render_request),
    OPTION_ROW_HELP(render_request, "Information"),
};
const option_set render_options = {
    .command = "sim render",
    .row = rows,
    .count = sizeof rows / sizeof rows[0],
    .usage = "sim render SCENE.json|RUN.h5 --out FILE [OPTION]...",
    .about = "Draw a scene or a recorded run (.h5) as pictures or a film, without a display or a GPU. A scene is "
             "simulated up to the moments that are drawn.",
};

/* ---- the request ---- */

/* Where the number of the picture stands: "%d" or "%04d", once; *digits is how many it has at least. */
static const char *number_in(const char *path, int *digits, int *length) {
    const char *at = strchr(path, '%'), *letter = at ? at + 1 : NULL;
    *digits = 0;
    while (letter && isdigit((unsigned char)*letter) && letter < at + 4) {
        *digits = 10 * *digits + (*letter++ - '0');
    }
    *length = letter ? (int)(letter + 1 - at) : 0;
    return letter && *letter == 'd' && *digits < 20 && !strchr(letter, '%') ? at : NULL;
}

static sim_status choose_output(render_request *request, sim_error *error) {
    static const char *const films[] = {".gif", ".apng", ".mp4", ".webm", ".mkv"};
    int digits, length;
    if (ends_in(request->out, ".png")) {
        int many = strchr(request->out, '%') != NULL;
        request->kind = many ? MANY_PICTURES : ONE_PICTURE;
        return !many || number_in(request->out, &digits, &length)
                   ? SIM_OK
                   : sim_fail(error, SIM_BAD_INPUT, "--out: '%s' should hold one number, as in frames/%%04d.png",
                              request->out);
    }
    request->kind = FILM;
    for (size_t k = 0; k < sizeof films / sizeof films[0]; k++) {
        if (ends_in(request->out, films[k])) {
            return SIM_OK;
        }
    }
    return sim_fail(error, SIM_BAD_INPUT,
                    "--out takes a name that ends in .png, .gif, .apng, .mp4, .webm or .mkv, not '%s'", request->out);
}

static sim_status read_picture_size(render_request *request, sim_error *error) {
    enum { MIN_PIXELS = 16, MAX_PIXELS = 8192 };
    char *end = NULL;
    const char *text = request->size ? request->size : "1280x720";
    long width = strtol(text, &end, 10), height = *end == 'x' ? strtol(end + 1, &end, 10) : 0;
    if (*end || width < MIN_PIXELS || width > MAX_PIXELS || height < MIN_PIXELS || height > MAX_PIXELS) {
        return sim_fail(error, SIM_BAD_INPUT, "--size takes pixels from %d to %d, as in 1280x720, not '%.40s'",
                        MIN_PIXELS, MAX_PIXELS, text);
    }
    request->width = (int)width;
    request->height = (int)height;
    return SIM_OK;
}

static sim_status parse_render_request(int count, char **arguments, render_request *request, sim_error *error) {
    /* options */
    *request = (render_request){.duration = -1, .fps = 30, .threads = 2};
    int first;
    sim_status status = options_read(&render_options, count, arguments, request, &first, error);
    if (status || request->help) {
        return status;
    }
    /* one input, and an output whose ending names the kind of picture */
    if (count - first != 1) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "%s: sim render SCENE.json|RUN.h5 --out picture.png; see sim render --help",
                        first == count ? "no scene or run given" : "one scene or run at a time");
    }
    request->file = arguments[first];
    if (!request->out) {
        return sim_fail(error, SIM_BAD_INPUT, "no output given: --out picture.png");
    }
    /* settings */
    status = choose_output(request, error);
    status = status ? status : robot_request_check(&request->robot, error);
    status = status ? status : read_picture_size(request, error);
    status = status ? status : outputs_apart(request->out, request->file, "the input", error);
    status = status ? status : setup_folder(request->out, request->kind == FILM ? "a film" : "a picture", error);
    return status || request->kind != FILM ? status : film_possible(request->out, request->fps, error);
}

/* ---- scene and frames ---- */

typedef struct rendering {
    const render_request *request;
    sim_scene *scene;
    trajectory *run; /* NULL: simulated */
    frame_list frames;
    render *render;
    view_extent extent;
    render_lens lens;
    unsigned char *rgb;
    film film;
} rendering;

/* By its name, else by its first bytes; any other file is read as a scene, whose reader reports other formats. */
static bool is_recording(const char *path) {
    char head[4] = {0};
    struct stat about;
    if (ends_in(path, ".h5") || ends_in(path, ".hdf5") || ends_in(path, ".csv")) {
        return true;
    }
    FILE *file =
        !ends_in(path, ".json") && stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rbe") : NULL;
    if (!file) {
        return false;
    }
    size_t length = fread(head, 1, sizeof head, file);
    fclose(file);
    return length == sizeof head && memcmp(head, "\x89HDF", sizeof head) == 0;
}

static sim_status load_rendered_scene(rendering *r, sim_error *error) {
    const render_request *request = r->request;
    scene_wish wish = {
        .set = request->set, .solver = request->solver, .start = request->start, .robot = &request->robot};
    if (is_recording(request->file) && request->start) {
        return sim_fail(error, SIM_BAD_INPUT, "--start needs a scene: %s is a run that has started", request->file);
    }
    if (!is_recording(request->file)) {
        r->scene = setup_scene(request->file, NULL, 0, &wish, error);
    } else if ((r->run = trajectory_open(request->file, error)) != NULL) {
        r->scene = recorded_scene(r->run, request->scene, &wish, error);
    }
    return r->scene ? require_bodies(r->scene, request->file, error) : error->status;
}

static sim_status collect_frames(rendering *r, sim_error *error) {
    const render_request *request = r->request;
    double end = r->run ? INFINITY : r->scene->model->time_initial + r->scene->duration;
    frame_times times = {request->time, request->duration >= 0 ? request->time + request->duration : end,
                         request->kind == ONE_PICTURE ? 0 : 1 / request->fps};
    batch_progress progress;
    batch_progress_start(&progress, 1);
    batch_progress_begin(request->quiet || r->run ? NULL : &progress, "simulating");
    return r->run ? frames_read(&r->frames, r->run, r->scene, &times, error)
                  : frames_simulate(&r->frames, r->scene, &times, request->quiet ? NULL : &progress, error);
}

static sim_status prepare_rendering(rendering *r, sim_error *error) {
    const render_request *request = r->request;
    render_wish wish = {request->width,  request->height, (int)request->threads, request->contacts,
                        request->forces, request->plain,  request->dark};
    r->render = render_create(r->scene, &wish, error);
    r->rgb = malloc(3 * (size_t)request->width * (size_t)request->height);
    if (!r->render || !r->rgb) {
        return r->render ? sim_fail(error, SIM_NO_RESOURCE, "no memory for the picture") : error->status;
    }
    r->extent = view_extent_empty();
    int stride = 1 + r->frames.count / 30;
    for (int k = 0; k < r->frames.count; k += stride) {
        view_frame frame = frames_at(&r->frames, k);
        view_extent_add(&r->extent, r->scene->model, frame.pose);
    }
    return render_lens_choose(r->render, request->camera, &r->extent, &r->lens, error);
}

/* ---- pictures ---- */

/* The output must not replace the input. */
static sim_status check_place(const rendering *r, const char *path, sim_error *error) {
    const render_request *request = r->request;
    sim_status status = outputs_apart(path, request->file, "the input", error);
    status = status ? status : outputs_apart(path, request->scene, "the scene", error);
    return status ? status : outputs_apart_from_scene(path, r->scene, error);
}

static sim_status write_picture(rendering *r, int number, sim_error *error) {
    /* path: the number in the name counts the pictures */
    const render_request *request = r->request;
    char path[4096];
    int digits, length;
    const char *at = number_in(request->out, &digits, &length);
    if (at && request->kind == MANY_PICTURES) {
        snprintf(path, sizeof path, "%.*s%0*d%s", (int)(at - request->out), request->out, digits ? digits : 1, number,
                 at + length);
    } else {
        snprintf(path, sizeof path, "%s", request->out);
    }
    /* encode as PNG and replace the file */
    unsigned char *bytes;
    size_t size;
    if (check_place(r, path, error)) {
        return error->status;
    }
    sim_status status = png_encode(r->rgb, request->width, request->height, &bytes, &size, error);
    if (!status) {
        status = replace_file(path, "a picture", bytes, size, error);
        free(bytes);
    }
    return status;
}

static void show_progress(const rendering *r, int done) {
    if (!r->request->quiet && r->frames.count > 1 && isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r%d of %d pictures%s", done, r->frames.count, done == r->frames.count ? "\r\033[K" : "");
        fflush(stderr);
    }
}

static sim_status draw_pictures(rendering *r, sim_error *error) {
    /* open the film */
    const render_request *request = r->request;
    size_t size = 3 * (size_t)request->width * (size_t)request->height;
    sim_status status = SIM_OK;
    if (request->kind == FILM) {
        moving_format format = {request->width, request->height, request->fps, r->frames.count};
        status = check_place(r, request->out, error);
        status = status ? status : film_open(&r->film, request->out, &format, error);
    }
    /* draw each frame, into the film or a picture of its own */
    for (int k = 0; k < r->frames.count && !status; k++) {
        view_frame frame = frames_at(&r->frames, k);
        status = interrupt_seen() ? sim_fail(error, SIM_FAILED, "interrupted")
                                  : render_picture(r->render, &frame, &r->extent, &r->lens, r->rgb, error);
        if (!status) {
            status = request->kind == FILM ? film_add(&r->film, r->rgb, size, error) : write_picture(r, k, error);
        }
        show_progress(r, k + 1);
    }
    /* close the film; its failure is reported unless there was one before */
    if (request->kind == FILM) {
        sim_error why = {0};
        sim_status closed = film_close(&r->film, !status, &why);
        if (closed && !status) {
            *error = why;
            status = closed;
        }
    }
    return status;
}

static int run_render(const render_request *request) {
    /* scene or recording */
    rendering r = {.request = request, .film = {.pipe = -1, .child = -1}};
    sim_error error = {0};
    interrupt_watch();
    sim_status status = load_rendered_scene(&r, &error);
    /* frames */
    status = status ? status : collect_frames(&r, &error);
    status = status ? status : prepare_rendering(&r, &error);
    /* contacts that the recording lacks */
    if (!status && r.frames.no_contacts && (request->contacts || request->forces) && !request->quiet) {
        fprintf(stderr, "sim: %s holds no contacts to draw (record/signals)\n", request->file);
    }
    /* draw */
    status = status ? status : draw_pictures(&r, &error);
    /* differences between the recording and today's scene */
    if (!status && r.run) {
        recorded_warn(r.run, r.scene, &(scene_wish){.set = request->set, .solver = request->solver});
    }
    free(r.rgb);
    render_free(r.render);
    frames_free(&r.frames);
    trajectory_free(r.run);
    sim_scene_free(r.scene);
    if (status) {
        error_print(&error);
    }
    return status == SIM_FAILED && interrupt_noted() ? INTERRUPTED_STATUS : status;
}

int render_command(int count, char **arguments) {
    render_request request;
    sim_error error = {0};
    sim_status status = parse_render_request(count, arguments, &request, &error);
    int exit_status = SIM_OK;
    if (status) {
        exit_status = error_print(&error);
    } else if (request.help) {
        usage_print(&render_options);
    } else {
        exit_status = run_render(&request);
    }
    options_free(&render_options, &request);
    return exit_status;
}
