/* Trajectories in HDF5, read back by the library's plain means. */
#include "fixture.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static hid_t open_plainly(const char *path) { return H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT); }

static hsize_t records_of(hid_t file, const char *name) {
    hsize_t size[3] = {0};
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    H5Sget_simple_extent_dims(space, size, NULL);
    H5Sclose(space);
    H5Dclose(set);
    return size[0];
}

/* The first `records` records; whole numbers come as doubles too. */
static double *numbers(hid_t file, const char *name, hsize_t records, hsize_t *width) {
    hsize_t size[3] = {1, 1, 1}, start[3] = {0};
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    cr_assert_geq(set, 0, "no dataset %s", name);
    hid_t space = H5Dget_space(set);
    H5Sget_simple_extent_dims(space, size, NULL);
    cr_assert_geq(size[0], records, "%s", name);
    *width = size[1] * size[2];
    size[0] = records;
    hid_t memory = H5Screate_simple(H5Sget_simple_extent_ndims(space), size, NULL);
    if (H5Sget_simple_extent_ndims(space) > 0) {
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL);
    }
    double *all = calloc(records * *width + 1, sizeof *all);
    cr_assert_geq(H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, all), 0, "%s", name);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(set);
    return all;
}

static void text_attribute(hid_t file, const char *owner, const char *name, char *text, size_t size) {
    hid_t attribute = H5Aopen_by_name(file, owner, name, H5P_DEFAULT, H5P_DEFAULT);
    cr_assert_geq(attribute, 0, "%s has no attribute %s", owner, name);
    hid_t type = H5Aget_type(attribute);
    hid_t space = H5Aget_space(attribute);
    cr_assert_lt(H5Tget_size(type) * (size_t)H5Sget_simple_extent_npoints(space), size);
    memset(text, 0, size);
    H5Aread(attribute, type, text);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
}

/* The file's first records against the world, stepped anew. */
static void equals_the_world(hid_t file, const fixture *f, int records) {
    hsize_t width;
    const sim_model *m = f->scene->model;
    sim_world *again = sim_world_create(m, &f->scene->options, NULL);
    double *time = numbers(file, "time", (hsize_t)records, &width), *q = numbers(file, "q", (hsize_t)records, &width);
    cr_assert_eq((int)width, m->nq);
    double *position = numbers(file, "body/position", (hsize_t)records, &width);
    cr_assert_eq((int)width, 3 * (m->nbody - 1));
    double *energy = numbers(file, "energy", (hsize_t)records, &width);
    double *sweeps = numbers(file, "statistics/sweeps", (hsize_t)records, &width);
    for (int k = 0; k < records; k++) {
        const sim_state *state = sim_world_state(again);
        cr_assert_eq(time[k], state->time, "record %d", k);
        cr_assert_arr_eq(q + k * m->nq, state->q, (size_t)m->nq * sizeof *q, "record %d", k);
        const sim_derived *derived = sim_world_derived(again);
        for (int i = 1; i < m->nbody; i++) {
            cr_assert_eq(position[3 * (k * (m->nbody - 1) + i - 1) + 1], derived->pose[i].p.y);
        }
        cr_assert_eq(energy[3 * k], sim_world_energy(again).kinetic);
        cr_assert_eq(sweeps[k], sim_world_info(again)->sweeps);
        sim_world_step(again, NULL);
    }
    free(time), free(q), free(position), free(energy), free(sweeps);
    sim_world_free(again);
}

Test(hdf5, holds_the_numbers_of_the_world_over_many_chunks) {
    fixture f = fixture_open("arm");
    record_steps(&f, file_in(&f, "a.h5"), 5000);
    hid_t file = open_plainly(f.path);
    cr_assert_geq(file, 0);
    cr_assert_eq(records_of(file, "time"), 5000);
    equals_the_world(file, &f, 5000);
    hsize_t width;
    double *complete = numbers(file, "complete", 1, &width);
    cr_expect_eq(*complete, 1);
    free(complete);
    H5Fclose(file);
    fixture_close(&f);
}

Test(hdf5, says_what_it_holds_and_where_it_came_from) {
    fixture f = fixture_open("arm");
    record_steps(&f, file_in(&f, "a.h5"), 3);
    hid_t file = open_plainly(f.path);
    char text[8192];
    text_attribute(file, "/", "scene", text, sizeof text);
    cr_expect_str_eq(text, f.scene->text);
    text_attribute(file, "/", "scene_hash", text, sizeof text);
    cr_expect_str_eq(text, f.scene->hash);
    text_attribute(file, "/", "sim_version", text, sizeof text);
    cr_expect_str_eq(text, sim_version());
    text_attribute(file, "/", "integrator", text, sizeof text);
    cr_expect_str_eq(text, "midpoint");
    text_attribute(file, "body/position", "names", text, sizeof text);
    cr_expect_eq(memcmp(text, "base\0\0\0\0shoulderelbow\0\0\0hand\0\0\0\0wheel", 37), 0);
    text_attribute(file, "body/quaternion", "components", text, sizeof text);
    cr_expect_str_eq(text, "qwqxqyqz");
    text_attribute(file, "momentum", "units", text, sizeof text);
    cr_expect_eq(memcmp(text, "kg m^2/skg m^2/skg m^2/skg m/s", 30), 0);
    H5Fclose(file);
    fixture_close(&f);
}

static void is_a_list(hid_t file, const char *owner, const char *name, int count) {
    hid_t attribute = H5Aopen_by_name(file, owner, name, H5P_DEFAULT, H5P_DEFAULT), space = H5Aget_space(attribute);
    cr_expect_eq(H5Sget_simple_extent_ndims(space), 1, "%s of %s", name, owner);
    cr_expect_eq(H5Sget_simple_extent_npoints(space), count, "%s of %s", name, owner);
    H5Sclose(space);
    H5Aclose(attribute);
}

Test(hdf5, lists_of_names_and_units_are_lists_where_they_have_one_item) {
    fixture f = fixture_open("long"); /* of one body, one coordinate */
    record_steps(&f, file_in(&f, "a.h5"), 3);
    hid_t file = open_plainly(f.path);
    is_a_list(file, "q", "names", 1);
    is_a_list(file, "q", "units", 1);
    is_a_list(file, "v", "names", 1);
    is_a_list(file, "time", "units", 1);
    is_a_list(file, "body/position", "names", 1);
    is_a_list(file, "body/position", "components", 3);
    H5Fclose(file);
    fixture_close(&f);
}

/* The contacts of the first records of the file against those of the world, stepped anew. */
static void has_the_contacts_of_the_world(hid_t file, const fixture *f, int records) {
    hsize_t width;
    double *start = numbers(file, "contact/start", (hsize_t)records, &width);
    double *count = numbers(file, "contact/count", (hsize_t)records, &width);
    hsize_t all = (hsize_t)(start[records - 1] + count[records - 1]);
    double *shape = numbers(file, "contact/shape", all, &width), *gap = numbers(file, "contact/gap", all, &width);
    double *position = numbers(file, "contact/position", all, &width);
    double *normal = numbers(file, "contact/normal", all, &width);
    double *impulse = numbers(file, "contact/impulse", all, &width);
    sim_world *again = sim_world_create(f->scene->model, &f->scene->options, NULL);
    size_t at = 0;
    for (int k = 0; k < records; k++) {
        const sim_state *state = sim_world_state(again);
        cr_assert_eq((size_t)start[k], at, "record %d", k);
        cr_assert_eq((int)count[k], state->ncontact, "record %d", k);
        for (int i = 0; i < state->ncontact; i++, at++) {
            const sim_contact *c = &state->contact[i];
            cr_assert(shape[2 * at] == c->shape_a && shape[2 * at + 1] == c->shape_b, "record %d contact %d", k, i);
            cr_assert_eq(gap[at], c->at.gap);
            cr_assert_arr_eq(position + 3 * at, &c->at.position, sizeof c->at.position);
            cr_assert_arr_eq(normal + 3 * at, &c->at.normal, sizeof c->at.normal);
            cr_assert_arr_eq(impulse + 3 * at, &state->impulse[i], sizeof state->impulse[i]);
        }
        sim_world_step(again, NULL);
    }
    cr_expect_eq(at, all);
    free(start), free(count), free(shape), free(gap), free(position), free(normal), free(impulse);
    sim_world_free(again);
}

Test(hdf5, holds_the_contacts_of_every_record_over_many_chunks) {
    fixture f = fixture_open("pile");
    record_steps(&f, file_in(&f, "a.h5"), 400);
    hid_t file = open_plainly(f.path);
    cr_assert_geq(file, 0);
    cr_assert_gt(records_of(file, "contact/gap"), 2 * 4096, "all in one chunk");
    has_the_contacts_of_the_world(file, &f, 400);
    char text[2000];
    text_attribute(file, "contact/shape", "bodies", text, sizeof text);
    cr_expect_eq(memcmp(text, "floor\0\0\0\0ball\0\0\0\0\0low0_box", 26), 0);
    text_attribute(file, "contact/shape", "shapes", text, sizeof text);
    cr_expect_eq(memcmp(text, "\0\0\0\0\0\0\0\0\0\0cratecrate", 20), 0);
    text_attribute(file, "/", "solver", text, sizeof text);
    cr_expect_str_eq(text, "auto");
    text_attribute(file, "contact/impulse", "units", text, sizeof text);
    cr_expect_str_eq(text, "N sN sN s");
    H5Fclose(file);
    fixture_close(&f);
}

Test(hdf5, holds_the_areas_of_contacts_of_soft_solids) {
    fixture f = fixture_open("soft");
    record_steps(&f, file_in(&f, "a.h5"), 20);
    hid_t file = open_plainly(f.path);
    cr_assert_geq(file, 0);
    hsize_t width;
    double *start = numbers(file, "contact/start", 20, &width), *count = numbers(file, "contact/count", 20, &width);
    double *area = numbers(file, "contact/area", (hsize_t)(start[19] + count[19]), &width);
    int soft = 0, points = 0;
    sim_world *again = sim_world_create(f.scene->model, &f.scene->options, NULL);
    for (int k = 0; k < 20; k++) {
        const sim_state *state = sim_world_state(again);
        for (int i = 0; i < state->ncontact; i++) {
            cr_assert_eq(area[(int)start[k] + i], state->contact[i].at.area);
            soft += state->contact[i].at.area > 0;
            points += state->contact[i].at.area == 0;
        }
        sim_world_step(again, NULL);
    }
    cr_expect(soft > 100 && points >= 4 * 19, "%d, %d", soft, points);
    sim_world_free(again);
    free(start), free(count), free(area);
    H5Fclose(file);
    fixture_close(&f);
    f = fixture_open("pile");
    record_steps(&f, file_in(&f, "a.h5"), 2);
    file = open_plainly(f.path);
    cr_expect(H5Lexists(file, "contact/gap", H5P_DEFAULT) > 0 && H5Lexists(file, "contact/area", H5P_DEFAULT) == 0);
    H5Fclose(file);
    fixture_close(&f);
}

Test(hdf5, keeps_contacts_out_of_scenes_that_do_not_ask_or_have_none) {
    fixture f = fixture_open("arm");
    f.scene->record.contacts = 1;
    record_steps(&f, file_in(&f, "a.h5"), 2);
    hid_t file = open_plainly(f.path);
    cr_expect_eq(H5Lexists(file, "contact", H5P_DEFAULT), 0);
    cr_expect_eq(H5Lexists(file, "certificate", H5P_DEFAULT), 0);
    H5Fclose(file);
    fixture_close(&f);
    f = fixture_open("pile");
    f.scene->record.contacts = 0;
    record_steps(&f, file_in(&f, "a.h5"), 2);
    file = open_plainly(f.path);
    cr_expect_eq(H5Lexists(file, "contact", H5P_DEFAULT), 0);
    cr_expect_gt(H5Lexists(file, "certificate", H5P_DEFAULT), 0);
    H5Fclose(file);
    fixture_close(&f);
}

Test(hdf5, carries_a_scene_text_of_a_megabyte) {
    fixture f = fixture_open("arm");
    size_t length = 1 << 20;
    char *text = malloc(length + 1), *back = malloc(2 * length);
    memset(text, 'x', length);
    text[length] = 0;
    const char *own = f.scene->text;
    size_t own_length = f.scene->text_length;
    f.scene->text = text;
    f.scene->text_length = length;
    record_steps(&f, file_in(&f, "a.h5"), 3);
    hid_t file = open_plainly(f.path);
    text_attribute(file, "/", "scene", back, 2 * length);
    cr_expect_eq(strcmp(text, back), 0);
    H5Fclose(file);
    f.scene->text = own;
    f.scene->text_length = own_length;
    free(text), free(back);
    fixture_close(&f);
}

/* Tells through the pipe how many records have been flushed. */
static void write_until_killed(fixture *f, const char *path, int flush_every, int pipe_end) {
    sim_error error;
    sim_recorder *recorder = sim_recorder_open(path, f->scene, f->world, &error);
    if (!recorder) {
        _exit(3);
    }
    for (int64_t records = 1;; records++) {
        if (sim_recorder_write(recorder, f->world, &error) || sim_world_step(f->world, &error)) {
            _exit(3);
        }
        if (records % flush_every == 0 &&
            (sim_recorder_flush(recorder, &error) || write(pipe_end, &records, sizeof records) != sizeof records)) {
            _exit(3);
        }
    }
    _exit(3);
}

static int64_t run_and_kill(fixture *f, const char *path, int flush_every, int at_least) {
    int ends[2], status;
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        write_until_killed(f, path, flush_every, ends[1]);
    }
    close(ends[1]);
    int64_t flushed = 0;
    while (flushed < at_least && read(ends[0], &flushed, sizeof flushed) == sizeof flushed) {
    }
    struct timespec moment = {0, 100000 + 777777 * (at_least % 13)};
    nanosleep(&moment, NULL);
    kill(child, SIGKILL);
    while (read(ends[0], &flushed, sizeof flushed) == sizeof flushed) {
    }
    close(ends[0]);
    waitpid(child, &status, 0);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return flushed;
}

Test(hdf5, opens_plainly_and_holds_all_that_was_flushed_after_kill_9) {
    fixture f = fixture_open("arm");
    for (int k = 0; k < 12; k += is_part() ? 5 : 1) {
        static const int flush_every[] = {1, 7, 100};
        int64_t flushed = run_and_kill(&f, file_in(&f, "a.h5"), flush_every[k % 3], 20 + 150 * k);
        hid_t file = open_plainly(f.path);
        cr_assert_geq(file, 0, "cannot be opened");
        hsize_t records = records_of(file, "time");
        cr_expect_geq((int64_t)records, flushed);
        equals_the_world(file, &f, (int)records);
        hsize_t width;
        double *complete = numbers(file, "complete", 1, &width);
        cr_expect_eq(*complete, 0);
        free(complete);
        H5Fclose(file);
    }
    fixture_close(&f);
}

Test(hdf5, holds_the_contacts_of_all_that_was_flushed_after_kill_9) {
    fixture f = fixture_open("pile");
    for (int k = 0; k < 6; k += is_part() ? 2 : 1) {
        static const int flush_every[] = {1, 7, 100};
        int64_t flushed = run_and_kill(&f, file_in(&f, "a.h5"), flush_every[k % 3], 20 + 60 * k);
        hid_t file = open_plainly(f.path);
        cr_assert_geq(file, 0, "cannot be opened");
        hsize_t records = records_of(file, "time");
        cr_expect_geq((int64_t)records, flushed);
        has_the_contacts_of_the_world(file, &f, (int)records);
        H5Fclose(file);
    }
    fixture_close(&f);
}

Test(hdf5, can_be_read_while_it_is_written) {
    fixture f = fixture_open("arm");
    sim_error error;
    sim_recorder *recorder = sim_recorder_open(file_in(&f, "a.h5"), f.scene, f.world, &error);
    for (int k = 0; k < 50; k++) {
        cr_assert_eq(sim_recorder_write(recorder, f.world, &error), SIM_OK);
    }
    cr_assert_eq(sim_recorder_flush(recorder, &error), SIM_OK);
    char reader[512] = {0};
    ssize_t length = readlink("/proc/self/exe", reader, sizeof reader - 32);
    cr_assert_gt(length, 0);
    strcpy(strrchr(reader, '/'), "/record/reader");
    pid_t child = fork(); /* a process of its own, as readers are */
    if (child == 0) {
        execl(reader, reader, f.path, "50", (char *)NULL);
        _exit(9);
    }
    int status;
    waitpid(child, &status, 0);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
    cr_assert_eq(sim_recorder_close(recorder, &error), SIM_OK);
    fixture_close(&f);
}

Test(hdf5, stays_readable_when_the_disk_is_full) {
    fixture f = fixture_open("arm");
    sim_error error = {0};
    struct rlimit limit = {600 * 1024, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    sim_recorder *recorder = sim_recorder_open(file_in(&f, "a.h5"), f.scene, f.world, &error);
    sim_status status = SIM_OK;
    int records = 0;
    while (!status && records < 100000) {
        status = sim_recorder_write(recorder, f.world, &error);
        steps(&f, status ? 0 : 1);
        records += !status;
    }
    cr_expect_eq(status, SIM_NO_RESOURCE);
    cr_expect_not_null(strstr(error.text, "File too large"), "%s", error.text);
    sim_recorder_close(recorder, NULL);
    hid_t file = open_plainly(file_in(&f, "a.h5"));
    cr_assert_geq(file, 0);
    equals_the_world(file, &f, (int)records_of(file, "time"));
    H5Fclose(file);
    limit.rlim_cur = RLIM_INFINITY;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    fixture_close(&f);
}

Test(hdf5, refuses_a_place_where_it_may_not_write) {
    fixture f = fixture_open("arm");
    sim_error error;
    cr_expect_null(sim_recorder_open("/nowhere/a.h5", f.scene, f.world, &error));
    cr_expect_eq(error.status, SIM_NO_RESOURCE);
    cr_expect_str_eq(error.text, "/nowhere/a.h5: cannot write: No such file or directory");
    cr_assert_eq(symlink("/dev/full", file_in(&f, "full.h5")), 0);
    cr_expect_null(sim_recorder_open(f.path, f.scene, f.world, &error));
    cr_expect_not_null(strstr(error.text, "No space left on device"), "%s", error.text);
    fixture_close(&f);
}
