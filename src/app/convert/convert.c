/* `sim convert`: a robot in URDF or MJCF, or a scene, as a scene in JSON.
 *
 * The text is the one that a run of the same file loads, so that both give the same trajectory to the bit.  Names of
 * files in it become relative to the folder of the output. */
#include "app/convert/convert.h"
#include "app/cli/outputs.h"
#include "app/cli/robots.h"
#include "app/cli/usage.h"
#include "app/run/setup.h"
#include "record/file/atomic_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct convert_request {
    text_list set;
    robot_request robot;
    const char *out, *file, *start;
    int help;
} convert_request;

#define AT(member) offsetof(convert_request, member)

static const option_row rows[] = {
    {"out", "FILE.json", OPTION_TEXT, AT(out), .heading = "Output",
     .help = "write the scene to FILE.json; default: -, standard output"},
    OPTION_ROW_SET(convert_request, "Scene"),
    OPTION_ROW_START(convert_request),
    ROBOT_OPTIONS(convert_request),
    OPTION_ROW_HELP(convert_request, "Information"),
};
const option_set convert_options = {
    .command = "sim convert",
    .row = rows,
    .count = sizeof rows / sizeof rows[0],
    .usage = "sim convert ROBOT.urdf|MODEL.xml|SCENE.json [--out FILE.json] [OPTION]...",
    .about = "Write a robot in URDF or a model in MJCF as a scene in JSON. A scene is written in the same layout, with "
             "the values of --set. "
             "The new scene moves as the original does, to the bit.",
};

static sim_status parse_convert_request(int count, char **arguments, convert_request *request, sim_error *error) {
    /* options */
    int first;
    *request = (convert_request){0};
    sim_status status = options_read(&convert_options, count, arguments, request, &first, error);
    if (status || request->help) {
        return status;
    }
    /* one input, and an output that is another file */
    if (count - first != 1) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: sim convert robot.urdf --out robot.json; see sim convert --help",
                        first == count ? "no robot or scene given" : "one robot or scene at a time");
    }
    request->file = arguments[first];
    request->out = request->out && strcmp(request->out, "-") != 0 ? request->out : NULL;
    status = robot_request_check(&request->robot, error);
    status = status ? status : outputs_apart(request->out, request->file, "the input", error);
    return status || !request->out ? status : setup_folder(request->out, "a scene", error);
}

static sim_status write_scene(const convert_request *request, const sim_scene *scene, sim_error *error) {
    sim_status status = outputs_apart_from_scene(request->out, scene, error);
    if (status) {
        return status;
    }
    if (request->out) {
        return replace_file(request->out, "a scene", scene->text, scene->text_length, error);
    }
    fwrite(scene->text, 1, scene->text_length, stdout);
    return SIM_OK;
}

int convert_command(int count, char **arguments) {
    convert_request request;
    sim_error error = {0};
    sim_status status = parse_convert_request(count, arguments, &request, &error);
    if (!status && request.help) {
        usage_print(&convert_options);
    } else if (!status) {
        /* the scene, with names of files as seen from the output */
        scene_wish wish = {.set = request.set,
                           .start = request.start,
                           .robot = &request.robot,
                           .names_from = request.out ? request.out : "-"};
        sim_scene *scene = setup_scene(request.file, NULL, 0, &wish, &error);
        status = scene ? write_scene(&request, scene, &error) : error.status;
        sim_scene_free(scene);
    }
    options_free(&convert_options, &request);
    if (status) {
        error_print(&error);
    }
    return status;
}
