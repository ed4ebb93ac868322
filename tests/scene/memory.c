/* Without memory the loader fails cleanly: each allocation in turn is refused. */
#include "support.h"
#include "support/refusing.h"

#if REFUSING

static const char scene_text[] =
    "{\"sim\": 1, \"world\": {\"contacts\": false}, \"materials\": [{\"name\": \"m\"}],"
    "\"models\": {\"m\": {\"bodies\": [{\"name\": \"a\", \"joint\": \"free\", \"shapes\": [{\"type\": \"box\", "
    "\"size\": [1, 1, 1],"
    " \"mass\": 1, \"material\": \"m\"}]}]}}, \"instances\": [{\"model\": \"m\", \"prefix\": \"x\", \"overrides\": "
    "{\"bodies/0/name\": "
    "\"z\"}, \"repeat\": {\"placement\": \"scatter\", \"count\": 100, \"min\": [0, 0, 0], \"max\": [9, 9, 9], "
    "\"radius\": 0.1}}],"
    "\"bodies\": [{\"name\": \"h\", \"joint\": \"hinge\", \"inertia\": {\"mass\": 1, \"moments\": [1, 1, 1]}}],"
    "\"actuators\": [{\"joint\": \"h\", \"target\": 1}], \"loads\": [{\"body\": \"h\", \"force\": [1, 2, 3]}],"
    "\"initial\": {\"h\": 1}, \"record\": {\"points\": [{\"name\": \"p\", \"body\": \"h\"}]}, \"cameras\": [{\"name\": "
    "\"c\", "
    "\"position\": [1, 1, 1]}]}";

static sim_status load(sim_error *error) {
    const char *set[] = {"world/step=0.5"};
    sim_scene_overrides overrides = {.count = 1, .set = set};
    sim_diagnostics found;
    sim_scene *scene = sim_scene_parse(scene_text, sizeof scene_text - 1, "scene.json", &overrides, &found, error);
    sim_diagnostics_free(&found);
    sim_scene_free(scene);
    return scene ? SIM_OK : error->status;
}

Test(scene_memory, every_allocation_may_fail) { cr_assert_gt(refuse_each(load), 20); }

#endif
