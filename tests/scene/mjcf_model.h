/* Models in MJCF as texts, for tests. */
#ifndef TESTS_SCENE_MJCF_MODEL_H
#define TESTS_SCENE_MJCF_MODEL_H

#include "math/spatial.h"
#include "support.h"

#include <criterion/criterion.h>

#define MODEL(inside) "<mujoco>\n" inside "</mujoco>"
#define WORLD(inside) MODEL("<worldbody>\n" inside "</worldbody>")
/* One body; `inside` goes into it, in line 3. */
#define BODY(inside) WORLD("<body name='b'>" inside "</body>")
#define BALL "<geom size='0.1'/>"

static inline sim_scene *load_model(const char *text, const test_file *files, const sim_import_options *import) {
    sim_diagnostics found;
    sim_error error = {0};
    sim_scene_overrides overrides = {.import = import};
    sim_scene *s = load_text(text, files, &overrides, &found, &error);
    cr_assert(s, "%s", error.text);
    sim_diagnostics_free(&found);
    return s;
}

static inline bool close_to(sim_v3 a, double x, double y, double z) {
    return v3_norm(v3_sub(a, (sim_v3){x, y, z})) < 1e-12;
}

#endif
