/* Models and runs for the tests of the recorder. */
#include "record/fixture.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char scenes_folder[] = "tests/app/scenes"; /* tests run in the root of the repository */

fixture fixture_open(const char *name) {
    fixture f = {.folder = "/tmp/sim-record-XXXXXX"};
    char path[512];
    sim_error error;
    snprintf(path, sizeof path, "%s/%s.json", scenes_folder, name);
    f.scene = sim_scene_load(path, NULL, NULL, &error);
    cr_assert_not_null(f.scene, "%s", error.text);
    f.world = sim_world_create(f.scene->model, &f.scene->options, &error);
    cr_assert_not_null(f.world, "%s", error.text);
    cr_assert_not_null(mkdtemp(f.folder));
    return f;
}

const char *file_in(fixture *f, const char *name) {
    snprintf(f->path, sizeof f->path, "%s/%s", f->folder, name);
    return f->path;
}

void fixture_close(fixture *f) {
    DIR *folder = opendir(f->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (entry->d_name[0] != '.') {
            unlink(file_in(f, entry->d_name));
        }
    }
    if (folder) {
        closedir(folder);
    }
    rmdir(f->folder);
    sim_world_free(f->world);
    sim_scene_free(f->scene);
}

void steps(fixture *f, int count) {
    sim_error error;
    for (int k = 0; k < count; k++) {
        cr_assert_eq(sim_world_step(f->world, &error), SIM_OK, "%s", error.text);
    }
}

void record_steps(fixture *f, const char *path, int count) {
    sim_error error;
    sim_recorder *recorder = sim_recorder_open(path, f->scene, f->world, &error);
    cr_assert_not_null(recorder, "%s", error.text);
    for (int k = 0; k < count; k++) {
        cr_assert_eq(sim_recorder_write(recorder, f->world, &error), SIM_OK, "%s", error.text);
        steps(f, 1);
    }
    cr_assert_eq(sim_recorder_close(recorder, &error), SIM_OK, "%s", error.text);
}

void keep_checkpoint(fixture *f, const char *name) {
    sim_error error;
    cr_assert_eq(sim_checkpoint_write(file_in(f, name), f->scene, f->world, &error), SIM_OK, "%s", error.text);
}

/* Expects the file to be refused with a sentence that holds `words`. */
void refuse_checkpoint(fixture *f, const char *name, const sim_world *like, const char *words) {
    sim_error error = {0};
    sim_world *world = sim_world_create(f->scene->model, sim_world_options(like), NULL);
    cr_expect_eq(sim_checkpoint_read(file_in(f, name), f->scene, world, &error), SIM_BAD_INPUT);
    cr_expect_not_null(strstr(error.text, words), "'%s' does not say '%s'", error.text, words);
    sim_world_free(world);
}
