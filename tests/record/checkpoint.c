/* Checkpoints: their files, and those that are refused. */
#include "base/hash.h"
#include "fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Overwrites eight bytes, and the checksum so that it holds. */
static void forge(const char *path, long at, double value) {
    static char bytes[1 << 16];
    FILE *file = fopen(path, "r+b");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    memcpy(bytes + at, &value, sizeof value);
    uint64_t sum = hash_bytes(HASH_START, bytes, size - sizeof sum);
    memcpy(bytes + size - sizeof sum, &sum, sizeof sum);
    rewind(file);
    fwrite(bytes, 1, size, file);
    fclose(file);
}

Test(checkpoint, refuses_contacts_that_no_world_can_have) {
    fixture f = fixture_open("pile");
    struct stat status;
    steps(&f, 10);
    keep_checkpoint(&f, "a.state");
    const sim_state *state = sim_world_state(f.world);
    cr_assert_eq(stat(file_in(&f, "a.state"), &status), 0);
    const sim_model *m = f.scene->model;
    long applied = (m->nv + 6 * m->nbody) * (long)sizeof(double), behind = 8 + (long)f.scene->text_length + applied;
    long impulses = (long)status.st_size - behind - 2 * state->ncontact * (long)sizeof(sim_v3);
    long contacts = impulses - state->ncontact * (long)sizeof(sim_contact);
    double number;
    memcpy(&number, (int[]){9999, 9999}, sizeof number); /* shapes that are not there */
    forge(f.path, contacts, number);
    refuse_checkpoint(&f, "a.state", f.world, "contact 0 of the state has shapes that the model lacks");
    keep_checkpoint(&f, "a.state");
    forge(file_in(&f, "a.state"), impulses + (long)sizeof(sim_v3), NAN);
    refuse_checkpoint(&f, "a.state", f.world, "contact 1 of the state holds a number that is not finite");
    keep_checkpoint(&f, "a.state");
    long trends = impulses + state->ncontact * (long)sizeof(sim_v3);
    forge(file_in(&f, "a.state"), trends + 2 * (long)sizeof(sim_v3), NAN);
    refuse_checkpoint(&f, "a.state", f.world, "contact 2 of the state holds a number that is not finite");
    fixture_close(&f);
}

Test(checkpoint, replaces_the_old_one_and_leaves_nothing_beside_it) {
    fixture f = fixture_open("arm");
    keep_checkpoint(&f, "a.state");
    steps(&f, 3);
    keep_checkpoint(&f, "a.state");
    sim_error error;
    sim_world *other = sim_world_create(f.scene->model, &f.scene->options, NULL);
    cr_assert_eq(sim_checkpoint_read(file_in(&f, "a.state"), f.scene, other, &error), SIM_OK);
    cr_expect_eq(sim_world_state(other)->step, 3);
    cr_expect_eq(unlink(file_in(&f, "a.state")), 0);
    cr_expect_eq(rmdir(f.folder), 0, "something was left behind");
    cr_assert_eq(mkdir(f.folder, 0700), 0);
    sim_world_free(other);
    fixture_close(&f);
}

static void change_byte(const char *path, long at) {
    FILE *file = fopen(path, "r+b");
    fseek(file, at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
}

Test(checkpoint, holds_the_text_and_the_folder_of_its_scene) {
    fixture f = fixture_open("arm");
    keep_checkpoint(&f, "a.state");
    char *text = NULL, *folder = NULL, *scenes = realpath("tests/app/scenes", NULL);
    size_t length = 0;
    sim_error error = {0};
    cr_assert_eq(sim_checkpoint_scene(file_in(&f, "a.state"), &text, &length, &folder, &error), SIM_OK, "%s",
                 error.text);
    cr_expect_eq(length, f.scene->text_length);
    cr_expect_str_eq(text, f.scene->text);
    cr_expect_str_eq(folder, scenes);
    free(text);
    free(folder);
    free(scenes);
    cr_expect_eq(sim_checkpoint_scene("tests/app/scenes/arm.json", &text, &length, &folder, &error), SIM_BAD_INPUT);
    cr_expect_null(text);
    cr_expect_null(folder);
    fixture_close(&f);
}

Test(checkpoint, refuses_a_file_with_any_single_bit_changed) {
    fixture f = fixture_open("arm");
    struct stat status;
    steps(&f, 2);
    keep_checkpoint(&f, "a.state");
    cr_assert_eq(stat(file_in(&f, "a.state"), &status), 0);
    sim_world *other = sim_world_create(f.scene->model, &f.scene->options, NULL);
    for (long at = 0; at < status.st_size; at++) {
        sim_error error = {0};
        change_byte(f.path, at);
        cr_expect_eq(sim_checkpoint_read(f.path, f.scene, other, &error), SIM_BAD_INPUT, "byte %ld", at);
        cr_expect_gt(strlen(error.text), 10);
        change_byte(f.path, at);
    }
    cr_expect_eq(sim_checkpoint_read(f.path, f.scene, other, NULL), SIM_OK);
    sim_world_free(other);
    fixture_close(&f);
}

Test(checkpoint, refuses_a_file_cut_anywhere) {
    fixture f = fixture_open("arm");
    struct stat status;
    keep_checkpoint(&f, "a.state");
    cr_assert_eq(stat(file_in(&f, "a.state"), &status), 0);
    sim_world *other = sim_world_create(f.scene->model, &f.scene->options, NULL);
    for (long size = status.st_size - 1; size >= 0; size--) {
        sim_error error = {0};
        cr_assert_eq(truncate(f.path, size), 0);
        cr_expect_eq(sim_checkpoint_read(f.path, f.scene, other, &error), SIM_BAD_INPUT, "%ld bytes", size);
        cr_expect_not_null(strstr(error.text, size < 16 ? "not a checkpoint" : "truncated"), "%s", error.text);
    }
    sim_world_free(other);
    fixture_close(&f);
}

Test(checkpoint, refuses_files_of_another_format_by_its_number) {
    fixture f = fixture_open("arm");
    keep_checkpoint(&f, "a.state");
    FILE *file = fopen(file_in(&f, "a.state"), "r+");
    fseek(file, 24, SEEK_SET); /* behind a name and the order of bytes */
    fputc(3, file);
    fclose(file);
    refuse_checkpoint(&f, "a.state", f.world, "has format 3, this version reads formats 15 to 16");
    fixture_close(&f);
}

/* Format 15 is that of models without delays. */
Test(checkpoint, reads_files_from_before_there_were_delays) {
    fixture f = fixture_open("arm");
    sim_error error = {0};
    steps(&f, 5);
    keep_checkpoint(&f, "a.state");
    double number;
    memcpy(&number, &(uint64_t){15}, sizeof number);
    forge(file_in(&f, "a.state"), 24, number); /* behind a name and the order of bytes */
    sim_world *other = sim_world_create(f.scene->model, &f.scene->options, NULL);
    cr_assert_eq(sim_checkpoint_read(f.path, f.scene, other, &error), SIM_OK, "%s", error.text);
    steps(&f, 5);
    for (int k = 0; k < 5; k++) {
        cr_assert_eq(sim_world_step(other, &error), SIM_OK);
    }
    const sim_state *a = sim_world_state(f.world), *b = sim_world_state(other);
    cr_expect_eq(memcmp(a->q, b->q, (size_t)f.scene->model->nq * sizeof(double)), 0);
    cr_expect_eq(memcmp(a->v, b->v, (size_t)f.scene->model->nv * sizeof(double)), 0);
    sim_world_free(other);
    fixture_close(&f);
}

Test(checkpoint, refuses_foreign_files_and_folders) {
    fixture f = fixture_open("arm");
    FILE *file = fopen(file_in(&f, "a.state"), "w");
    fputs("time [s],step,elbow [rad]\n0,0,0\n", file);
    fclose(file);
    refuse_checkpoint(&f, "a.state", f.world, "not a checkpoint");
    refuse_checkpoint(&f, ".", f.world, "a folder, not a file");
    cr_assert_eq(mkfifo(file_in(&f, "pipe"), 0600), 0);
    alarm(10); /* seconds; nothing waits for the other end */
    refuse_checkpoint(&f, "pipe", f.world, "not an ordinary file");
    alarm(0);
    sim_error error;
    cr_expect_eq(sim_checkpoint_read(file_in(&f, "absent"), f.scene, f.world, &error), SIM_NO_RESOURCE);
    fixture_close(&f);
}

Test(checkpoint, refuses_another_model_step_or_integrator_and_says_which) {
    fixture f = fixture_open("arm"), other = fixture_open("long");
    sim_error error;
    keep_checkpoint(&f, "a.state");
    cr_expect_eq(sim_checkpoint_read(file_in(&f, "a.state"), other.scene, other.world, &error), SIM_BAD_INPUT);
    cr_expect_not_null(strstr(error.text, "another model: 15 coordinates"), "%s", error.text);

    sim_options options = f.scene->options;
    options.step *= 2;
    sim_world *slow = sim_world_create(f.scene->model, &options, NULL);
    refuse_checkpoint(&f, "a.state", slow, "a step of 0.002");
    options = f.scene->options;
    options.integrator = SIM_RK4;
    sim_world *rk4 = sim_world_create(f.scene->model, &options, NULL);
    refuse_checkpoint(&f, "a.state", rk4, "the integrator 'midpoint', not 'rk4'");
    options = f.scene->options;
    options.tolerance *= 2;
    sim_world *rough = sim_world_create(f.scene->model, &options, NULL);
    refuse_checkpoint(&f, "a.state", rough, "other options");
    sim_world_free(slow);
    sim_world_free(rk4);
    sim_world_free(rough);
    fixture_close(&other);
    fixture_close(&f);
}

Test(checkpoint, refuses_a_model_that_differs_in_one_number) {
    fixture f = fixture_open("arm");
    keep_checkpoint(&f, "a.state");
    const char *set = "bodies/hand/inertia/mass=0.21";
    sim_scene_overrides overrides = {.count = 1, .set = &set};
    sim_error error;
    sim_scene *heavier = sim_scene_load("tests/app/scenes/arm.json", &overrides, NULL, &error);
    cr_assert_not_null(heavier, "%s", error.text);
    sim_world *world = sim_world_create(heavier->model, &heavier->options, NULL);
    cr_expect_eq(sim_checkpoint_read(file_in(&f, "a.state"), heavier, world, &error), SIM_BAD_INPUT);
    cr_expect_not_null(strstr(error.text, "other numbers"), "%s", error.text);
    sim_world_free(world);
    sim_scene_free(heavier);
    fixture_close(&f);
}

Test(checkpoint, never_replaces_what_is_no_file) {
    fixture f = fixture_open("arm");
    sim_error error;
    cr_expect_eq(sim_checkpoint_write("/dev/null", f.scene, f.world, &error), SIM_NO_RESOURCE);
    cr_expect_eq(sim_checkpoint_write("/nowhere/a.state", f.scene, f.world, &error), SIM_NO_RESOURCE);
    cr_expect_not_null(strstr(error.text, "No such file or directory"), "%s", error.text);
    fixture_close(&f);
}
