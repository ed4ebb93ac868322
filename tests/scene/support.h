/* Scenes from texts in tests.  Texts write ' where JSON has ". */
#ifndef TESTS_SCENE_SUPPORT_H
#define TESTS_SCENE_SUPPORT_H

#include "scene/loader/loader.h"

#include <sim/scene.h>

/* Files that includes find, ended by a NULL path. */
typedef struct test_file {
    const char *path, *text;
} test_file;

/* The scene, or NULL with `found` filled (to be freed by the caller either way). */
sim_scene *load_text(const char *text, const test_file *files, const sim_scene_overrides *overrides,
                     sim_diagnostics *found, sim_error *error);
/* The scene of a text that must be good; the caller frees it. */
sim_scene *load_good(const char *text);

/* The text is loaded with exactly one warning, whose line holds `words`. */
void warned(const char *text, const char *words);

/* The text is refused with exactly one diagnostic, at `place` ("scene.json:3:12"), whose pointer, message and hint hold
 * `words`. */
void refused(const char *text, const char *place, const char *words);
/* The text is refused with exactly these errors, sorted by place: "3:12 words", ended by NULL. */
void refused_at_once(const char *text, const char *const *errors);
/* SIM_NO_RESOURCE if a file is absent, else SIM_BAD_INPUT. */
sim_status status_of_refusal(const sim_diagnostics *found);
void refused_with(const char *text, const test_file *files, const char *set, const char *place, const char *words);

#endif
