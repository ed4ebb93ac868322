#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *quoted(const char *from) {
    char *text = strdup(from);
    cr_assert(text);
    for (char *c = text; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    return text;
}

static sim_status read_test_file(void *context, const char *path, bool included, char **content, size_t *length,
                                 sim_error *error) {
    (void)included;
    for (const test_file *f = context; f && f->path; f++) {
        if (strcmp(f->path, path) == 0) {
            *content = quoted(f->text);
            *length = strlen(*content);
            return SIM_OK;
        }
    }
    return sim_fail(error, SIM_NO_RESOURCE, "No such file or directory");
}

static bool test_file_exists(void *context, const char *path) {
    for (const test_file *f = context; f && f->path; f++) {
        if (strcmp(f->path, path) == 0) {
            return true;
        }
    }
    return false;
}

sim_scene *load_text(const char *text, const test_file *files, const sim_scene_overrides *overrides,
                     sim_diagnostics *found, sim_error *error) {
    char *json = quoted(text);
    scene_limits limits = scene_limits_default();
    file_reader source_of_files = {read_test_file, read_mesh_file, test_file_exists, read_bytes_file, (void *)files};
    sim_scene *scene =
        load_scene_text(json, strlen(json), "scene.json", overrides, &limits, &source_of_files, found, error);
    free(json);
    return scene;
}

sim_scene *load_good(const char *text) {
    sim_diagnostics found;
    sim_error error = {0};
    sim_scene *scene = load_text(text, NULL, NULL, &found, &error);
    cr_assert(scene, "%s", error.text);
    cr_assert_eq(found.count, 0);
    sim_diagnostics_free(&found);
    return scene;
}

void warned(const char *text, const char *words) {
    sim_diagnostics found;
    sim_error error = {0};
    sim_scene *scene = load_text(text, NULL, NULL, &found, &error);
    cr_assert(scene, "%s", error.text);
    cr_assert_eq(found.count + found.more, 1, "%d warnings", found.count + found.more);
    char line[2000];
    sim_diagnostic_print(&found.item[0], line, sizeof line);
    cr_assert(strstr(line, words), "expected \"%s\" in %s", words, line);
    sim_diagnostics_free(&found);
    sim_scene_free(scene);
}

sim_status status_of_refusal(const sim_diagnostics *found) {
    static const char *const absent[] = {"No such file", "there is no file", "\" is not there"};
    bool missing = false;
    for (int i = 0; i < found->count; i++) {
        for (size_t k = 0; k < sizeof absent / sizeof absent[0]; k++) {
            missing |= strstr(found->item[i].message, absent[k]) != NULL;
        }
    }
    return missing ? SIM_NO_RESOURCE : SIM_BAD_INPUT;
}

void refused_with(const char *text, const test_file *files, const char *set, const char *place, const char *words) {
    sim_diagnostics found;
    sim_error error = {0};
    sim_scene_overrides overrides = {.count = set ? 1 : 0, .set = &set};
    sim_scene *scene = load_text(text, files, &overrides, &found, &error);
    cr_assert(!scene, "this was not refused: %s", text);
    cr_assert_eq(error.status, status_of_refusal(&found));
    char first[2000] = "";
    for (int i = found.count - 1; i >= 0; i--) {
        sim_diagnostic_print(&found.item[i], first, sizeof first);
    }
    cr_assert_eq(found.count, 1, "%d diagnostics, the first: %s", found.count, first);
    char expected[200];
    snprintf(expected, sizeof expected, "%s: error: ", place);
    cr_assert_eq(strncmp(first, expected, strlen(expected)), 0, "expected %s, got %s", expected, first);
    cr_assert(strstr(first, words), "expected \"%s\" in %s", words, first);
    sim_diagnostics_free(&found);
}

void refused(const char *text, const char *place, const char *words) { refused_with(text, NULL, NULL, place, words); }

void refused_at_once(const char *text, const char *const *errors) {
    sim_diagnostics found;
    sim_error error = {0};
    cr_assert(!load_text(text, NULL, NULL, &found, &error), "this was not refused: %s", text);
    int count = 0;
    for (; errors[count]; count++) {
        char line[2000] = "", place[40];
        if (count < found.count) {
            sim_diagnostic_print(&found.item[count], line, sizeof line);
        }
        size_t length = strcspn(errors[count], " ");
        snprintf(place, sizeof place, "scene.json:%.*s:", (int)length, errors[count]);
        cr_assert(strncmp(line, place, strlen(place)) == 0 && strstr(line, errors[count] + length + 1),
                  "expected \"%s\", got %s", errors[count], line);
    }
    cr_assert_eq(found.count + found.more, count);
    sim_diagnostics_free(&found);
}
