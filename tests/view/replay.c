/* Recorded runs as frames: those of the run itself, whatever the record holds of it; and what a file may hold that is
 * wrong. */
#include "view/page/replay.h"
#include "math/v3.h"
#include "record/run/trajectory.h"
#include "view/page/readings.h"

#include <criterion/criterion.h>
#include <hdf5.h>
#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 40 };

typedef struct run {
    char folder[32], h5[64], direct[64], page[64];
    sim_scene *scene;
} run;

static run run_named(void) {
    run r = {.folder = "/tmp/sim-replay-XXXXXX"};
    cr_assert_not_null(mkdtemp(r.folder));
    snprintf(r.h5, sizeof r.h5, "%s/run.h5", r.folder);
    snprintf(r.direct, sizeof r.direct, "%s/direct.html", r.folder);
    snprintf(r.page, sizeof r.page, "%s/page.html", r.folder);
    return r;
}

static run run_open(const char *signals) {
    run r = run_named();
    char text[1024];
    sim_error error;
    snprintf(
        text, sizeof text,
        "{\"sim\": 1, \"world\": {\"step\": 0.01}, \"bodies\": [{\"name\": \"floor\", \"shapes\": [{\"type\": "
        "\"half_space\"}]}, {\"name\": \"box\", \"joint\": \"free\", \"pose\": {\"position\": [0, 0, 0.1]}, \"v\": "
        "[1, 0, 0, 0, 0, 1], \"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.2, 0.2], \"density\": 1000}]}], "
        "\"record\": {\"every\": 1, \"signals\": [%s]}}",
        signals);
    r.scene = sim_scene_parse(text, strlen(text), "run.json", NULL, NULL, &error);
    cr_assert_not_null(r.scene, "%s", error.text);
    sim_world *world = sim_world_create(r.scene->model, &r.scene->options, &error);
    sim_recorder *recorder = sim_recorder_open(r.h5, r.scene, world, &error);
    sim_view *view = sim_view_open(r.direct, r.scene, &error);
    for (int k = 0; k < RECORDS; k++) {
        cr_assert_eq(sim_recorder_write(recorder, world, &error), SIM_OK, "%s", error.text);
        cr_assert_eq(sim_view_write(view, world, &error), SIM_OK, "%s", error.text);
        cr_assert_eq(sim_world_step(world, &error), SIM_OK, "%s", error.text);
    }
    cr_assert_eq(sim_recorder_close(recorder, &error), SIM_OK);
    cr_assert_eq(sim_view_close(view, &error), SIM_OK);
    sim_world_free(world);
    return r;
}

static void run_close(run *r) {
    sim_scene_free(r->scene);
    unlink(r->h5);
    unlink(r->direct);
    unlink(r->page);
    rmdir(r->folder);
}

static sim_status replay(const run *r, sim_error *error) {
    trajectory *file = trajectory_open(r->h5, error);
    if (!file) {
        return error->status;
    }
    view_replay *frames = view_replay_open(file, r->scene, error);
    sim_view *view = frames ? sim_view_open(r->page, r->scene, error) : NULL;
    sim_status status = view ? SIM_OK : error->status;
    for (ptrdiff_t k = 0; !status && k < file->records; k++) {
        status = view_replay_frame(frames, k, view, error);
    }
    if (status) {
        sim_view_discard(view);
    } else {
        status = sim_view_close(view, error);
    }
    view_replay_free(frames);
    trajectory_free(file);
    return status;
}

static char *read_all(const char *path, size_t *size) {
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    char *text = calloc(1, 1 << 22);
    *size = fread(text, 1, (1 << 22) - 1, file);
    fclose(file);
    return text;
}

static int same_pages(const run *r) {
    size_t size, other;
    char *a = read_all(r->direct, &size), *b = read_all(r->page, &other);
    int same = size == other && memcmp(a, b, size) == 0;
    free(a);
    free(b);
    return same;
}

Test(replay, gives_the_frames_of_the_run) {
    run r = run_open("\"coordinates\", \"poses\", \"energy\", \"contacts\", \"statistics\"");
    sim_error error = {0};
    cr_assert_eq(replay(&r, &error), SIM_OK, "%s", error.text);
    cr_assert(same_pages(&r));
    run_close(&r);
}

/* A servo, phases, a sensor of three values, and a ball that bounces. */
static const char robot[] =
    "{\"sim\": 1, \"world\": {\"step\": 0.01}, \"materials\": [{\"name\": \"rubber\", \"restitution\": 0.7}], "
    "\"bodies\": ["
    "{\"name\": \"floor\", \"shapes\": [{\"type\": \"half_space\", \"material\": \"rubber\"}]},"
    "{\"name\": \"ball\", \"joint\": \"free\", \"pose\": {\"position\": [0, 0, 0.15]}, \"shapes\": [{\"type\": "
    "\"sphere\","
    " \"radius\": 0.1, \"density\": 1000, \"material\": \"rubber\"}]},"
    "{\"name\": \"arm\", \"joint\": \"hinge\", \"inertia\": {\"mass\": 1, \"moments\": [1, 1, 1]}}],"
    "\"actuators\": [{\"name\": \"servo\", \"joint\": \"arm\", \"kp\": 50, \"kd\": 5, \"target\": 0.5}],"
    "\"sensors\": [{\"name\": \"rate\", \"type\": \"frame_angular_velocity\", \"body\": \"arm\"}],"
    "\"controllers\": [{\"name\": \"task\", \"type\": \"phases\", \"phases\": [{\"name\": \"one\", \"next\": [{\"to\": "
    "\"two\", \"after\": 0.055}]}, {\"name\": \"two\"}]}],"
    "\"record\": {\"every\": 1, \"signals\": [\"poses\", \"sensors\", \"efforts\"], \"events\": [{\"name\": \"hit\", "
    "\"type\": "
    "\"contact_begins\", \"body\": \"ball\"}]}}";

/* Are recorded readings those of the world?  Those that no record holds are unknown. */
static void assert_readings(const view_readings *readings, const double *value) {
    for (int k = 0; k < readings->count; k++) {
        view_reading r = readings->list[k];
        bool kept = r.kind != VIEW_CTRL && r.kind != VIEW_TARGET && r.kind != VIEW_ELAPSED;
        double due = kept ? readings->value[k] : NAN;
        cr_assert(isnan(due) ? isnan(value[k]) : fabs(value[k] - due) < 1e-12, "%s of %d: %g, not %g",
                  view_reading_word(r.kind), r.of, value[k], due);
    }
}

Test(replay, has_the_sensors_efforts_phases_and_events_of_the_run) {
    run r = run_named();
    sim_error error;
    r.scene = sim_scene_parse(robot, strlen(robot), "run.json", NULL, NULL, &error);
    cr_assert_not_null(r.scene, "%s", error.text);
    sim_world *world = sim_world_create(r.scene->model, &r.scene->options, &error);
    sim_recorder *recorder = sim_recorder_open(r.h5, r.scene, world, &error);
    for (int k = 0; k < RECORDS; k++) {
        cr_assert_eq(sim_recorder_write(recorder, world, &error), SIM_OK, "%s", error.text);
        cr_assert_eq(sim_world_step(world, &error), SIM_OK, "%s", error.text);
    }
    cr_assert_eq(sim_recorder_close(recorder, &error), SIM_OK);
    sim_world_start(world, -1);
    trajectory *file = trajectory_open(r.h5, &error);
    view_replay *frames = view_replay_open(file, r.scene, &error);
    view_readings readings;
    cr_assert(view_readings_plan(&readings, r.scene->model));
    cr_assert_eq(readings.count, 3 + 1 + 2 + 1 + 1 + 1 + 1, "not %d", readings.count);
    for (int k = 0; k < RECORDS; k++) {
        view_frame frame;
        cr_assert_eq(view_replay_read(frames, k, &frame, &error), SIM_OK, "%s", error.text);
        view_readings_take(&readings, world);
        assert_readings(&readings, frame.reading);
        cr_assert_eq(sim_world_step(world, &error), SIM_OK, "%s", error.text);
    }
    cr_assert_eq(readings.value[readings.first[VIEW_PHASE]], 1);
    cr_assert(readings.value[readings.first[VIEW_COUNT]] >= 1);
    view_readings_free(&readings);
    view_replay_free(frames);
    trajectory_free(file);
    sim_world_free(world);
    run_close(&r);
}

Test(replay, finds_poses_from_coordinates_where_poses_were_not_recorded) {
    run r = run_open("\"coordinates\", \"energy\", \"contacts\", \"statistics\"");
    sim_error error = {0};
    cr_assert_eq(replay(&r, &error), SIM_OK, "%s", error.text);
    cr_assert(same_pages(&r));
    run_close(&r);
}

Test(replay, says_what_is_missing_where_nothing_tells_where_bodies_are) {
    run r = run_open("\"energy\"");
    sim_error error = {0};
    cr_assert_eq(replay(&r, &error), SIM_BAD_INPUT);
    cr_assert_not_null(strstr(error.text, "poses"), "%s", error.text);
    run_close(&r);
}

/* One number of a dataset becomes another. */
static void plant(const run *r, const char *dataset, hsize_t row, double value) {
    hid_t file = H5Fopen(r->h5, H5F_ACC_RDWR, H5P_DEFAULT), set = H5Dopen2(file, dataset, H5P_DEFAULT);
    cr_assert(set >= 0);
    hid_t space = H5Dget_space(set);
    int rank = H5Sget_simple_extent_ndims(space);
    hsize_t start[3] = {row, 0, 0}, count[3] = {1, 1, 1};
    hid_t one = H5Screate_simple(rank, count, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    cr_assert(H5Dwrite(set, H5T_NATIVE_DOUBLE, one, space, H5P_DEFAULT, &value) >= 0);
    H5Sclose(one);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
}

Test(replay, refuses_numbers_that_cannot_be) {
    static const struct {
        const char *dataset;
        double value;
    } wrong[] = {{"contact/shape", 2},   {"contact/shape", -1},         {"contact/count", 1e9},
                 {"contact/count", -3},  {"contact/start", -1},         {"contact/start", 4e18},
                 {"body/position", NAN}, {"body/quaternion", INFINITY}, {"body/position", -INFINITY}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        run r = run_open("\"poses\", \"contacts\"");
        sim_error error = {0};
        plant(&r, wrong[k].dataset, 20, wrong[k].value);
        cr_assert_eq(replay(&r, &error), SIM_BAD_INPUT, "%s: %g: %s", wrong[k].dataset, wrong[k].value, error.text);
        cr_assert_neq(access(r.page, F_OK), 0, "a page was written");
        run_close(&r);
    }
}

Test(replay, survives_contacts_of_any_size) {
    static const double values[] = {NAN, INFINITY, -1e300, 1e300, 1e-300};
    static const char *const datasets[] = {"contact/position", "contact/normal", "contact/impulse", "contact/gap"};
    for (size_t k = 0; k < 20; k++) {
        run r = run_open("\"poses\", \"contacts\"");
        sim_error error = {0};
        plant(&r, datasets[k % 4], 20, values[k / 4]);
        cr_assert_eq(replay(&r, &error), SIM_OK, "%s", error.text);
        run_close(&r);
    }
}
