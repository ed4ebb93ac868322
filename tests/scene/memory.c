/* Without memory the loader fails cleanly: each allocation in turn is refused. */
#include "support.h"
#include "support/refusing.h"

#include <string.h>

#if REFUSING

static const char scene_text[] =
    "{\"sim\": 1, \"world\": {\"integrator\": \"rk4\", \"solver\": \"pgs\", \"solver_options\": {\"tolerance\": "
    "1e-6}}, \"materials\": [{\"name\": \"m\"}],"
    "\"models\": {\"m\": {\"bodies\": [{\"name\": \"a\", \"joint\": \"free\", \"shapes\": [{\"type\": \"box\", "
    "\"size\": [1, 1, 1],"
    " \"mass\": 1, \"material\": \"m\", \"group\": 0}]}]}}, \"instances\": [{\"model\": \"m\", \"prefix\": \"x\", "
    "\"overrides\": "
    "{\"bodies/0/name\": "
    "\"z\"}, \"repeat\": {\"placement\": \"scatter\", \"count\": 100, \"min\": [0, 0, 0], \"max\": [9, 9, 9], "
    "\"radius\": 0.1}}],"
    "\"bodies\": [{\"name\": \"h\", \"joint\": \"hinge\", \"inertia\": {\"mass\": 1, \"moments\": [1, 1, 1]}}],"
    "\"actuators\": [{\"joint\": \"h\", \"target\": 1}], \"loads\": [{\"body\": \"h\", \"force\": [1, 2, 3]}],"
    "\"initial\": {\"h\": 1}, \"record\": {\"points\": [{\"name\": \"p\", \"body\": \"h\"}]}, \"cameras\": [{\"name\": "
    "\"c\", "
    "\"position\": [1, 1, 1]}]}";

#define POINTS "\"points\": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]"

static const char solids_text[] =
    "{\"sim\": 1, \"models\": {\"m\": {\"bodies\": [{\"name\": \"a\", \"shapes\": ["
    "{\"type\": \"convex\", " POINTS "},"
    "{\"type\": \"mesh\", " POINTS ", \"triangles\": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]},"
    "{\"type\": \"height_field\", \"columns\": 2, \"extent\": [1, 1], \"heights\": [0, 1, 2, 3]},"
    "{\"type\": \"sdf\", \"resolution\": 0.5, \"field\": {\"type\": \"union\", \"fields\": ["
    "{\"type\": \"sphere\", \"radius\": 1},"
    "{\"type\": \"profile\", \"points\": [[0, 0], [1, 0]], \"thickness\": 0.5}]}}]}]}},"
    "\"instances\": [{\"model\": \"m\", \"prefix\": \"p\"},"
    "{\"model\": \"m\", \"prefix\": \"q\", \"overrides\": {\"bodies/a/shapes/0/points/0/0\": -1}}]}";

static sim_status load_text_of(const char *text, const char *option, sim_error *error) {
    const char *set[] = {option};
    sim_scene_overrides overrides = {.count = 1, .set = set};
    sim_diagnostics found;
    sim_scene *scene = sim_scene_parse(text, strlen(text), "scene.json", &overrides, &found, error);
    sim_diagnostics_free(&found);
    sim_scene_free(scene);
    return scene ? SIM_OK : error->status;
}

static const char robot_text[] =
    "<robot name='r'><material name='m'><color rgba='1 0 0 1'/></material><link name='a'><visual><geometry><box "
    "size='1 1 1'/></geometry><material name='m'/></visual><collision><geometry><sphere radius='1'/></geometry>"
    "</collision></link><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
    "<link name='c'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link><gazebo/>"
    "<joint name='j' type='prismatic'><parent link='a'/><child link='b'/><limit lower='0' upper='1'/></joint>"
    "<joint name='k' type='prismatic'><parent link='a'/><child link='c'/><mimic joint='j'/></joint></robot>";

static sim_status load(sim_error *error) { return load_text_of(scene_text, "world/step=0.5", error); }
static sim_status load_robot(sim_error *error) { return load_text_of(robot_text, "world/step=0.5", error); }
static sim_status load_solids(sim_error *error) { return load_text_of(solids_text, "world/contacts=false", error); }

Test(scene_memory, every_allocation_may_fail) { cr_assert_gt(refuse_each(load), 20); }

Test(scene_memory, every_allocation_of_solids_may_fail) { cr_assert_gt(refuse_each(load_solids), 100); }

Test(scene_memory, every_allocation_of_a_robot_may_fail) { cr_assert_gt(refuse_each(load_robot), 100); }

#endif
