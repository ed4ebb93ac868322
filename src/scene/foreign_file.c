/* Files that are no scenes, told by how they begin and by their names. */
#include "scene/foreign.h"

#include <string.h>

#define MESH "goes into a scene as the \"file\" of a shape of type \"mesh\", \"convex\" or \"sdf\""
#define MODEL_ELSEWHERE "is not read: write its bodies and joints as a scene, as docs/scene.md says"
#define PICTURE "sim render draws one from a scene, and reads none"

/* In this order; the first that fits is said.  NULL: does not matter. */
static const struct {
    const char *start, *inside, *ending; /* how it begins, after spaces; what stands in its head; how its name ends */
    const char *said;
} kinds[] = {
    {"\x89HDF", NULL, NULL,
     "an HDF5 file, not a scene: sim view and sim plot show it if it is a recorded run, sim solve answers it if it is "
     "a "
     "contact problem"},
    {"sim checkpoint\n", NULL, NULL, "a checkpoint, not a scene: sim SCENE.json --resume FILE goes on from it"},
    {"<", "<mujoco", NULL, "a model of MuJoCo (MJCF), not a scene: MJCF " MODEL_ELSEWHERE},
    {"<", "<sdf", NULL, "a model in SDFormat, not a scene: SDFormat " MODEL_ELSEWHERE},
    {"<", "<COLLADA", NULL, "a COLLADA mesh, not a scene: meshes are read from OBJ and STL files, which a scene names"},
    {"<", "<svg", NULL, "a picture, not a scene: sim plot draws one from a recorded run"},
    {"<", "<html", NULL, "a page for a browser, not a scene: open it there"},
    {"<", "<!DOCTYPE html", NULL, "a page for a browser, not a scene: open it there"},
    {"<", "xacro", NULL, "a robot in URDF with macros (xacro), not a scene: URDF " MODEL_ELSEWHERE},
    {"<", "<robot", NULL, "a robot in URDF, not a scene: URDF " MODEL_ELSEWHERE},
    {"<", NULL, ".urdf", "a robot in URDF, not a scene: URDF " MODEL_ELSEWHERE},
    {"<", NULL, NULL, "an XML file, not a scene: scenes are JSON; URDF, MJCF and SDFormat are not read"},
    {NULL, NULL, ".urdf", "a robot in URDF by its name, not a scene: URDF " MODEL_ELSEWHERE},
    {NULL, NULL, ".mjcf", "a model of MuJoCo (MJCF) by its name, not a scene: MJCF " MODEL_ELSEWHERE},
    {NULL, NULL, ".xacro", "a robot in URDF with macros (xacro) by its name, not a scene: URDF " MODEL_ELSEWHERE},
    {NULL, NULL, ".xml", "an XML file by its name, not a scene: scenes are JSON; URDF, MJCF and SDFormat are not read"},
    {"solid", "facet", NULL, "a mesh in STL, not a scene: it " MESH},
    {NULL, NULL, ".stl", "a mesh in STL by its name, not a scene: it " MESH},
    {NULL, NULL, ".obj", "a mesh in OBJ by its name, not a scene: it " MESH},
    {"ply", NULL, ".ply", "a mesh in PLY, not a scene: meshes are read from OBJ and STL files, which a scene names"},
    {"glTF", NULL, NULL, "a mesh in glTF, not a scene: meshes are read from OBJ and STL files, which a scene names"},
    {NULL, NULL, ".dae",
     "a COLLADA mesh by its name, not a scene: meshes are read from OBJ and STL files, which a scene names"},
    {"time [s],", NULL, NULL,
     "a trajectory in CSV, not a scene: sim plot draws it; sim view and sim render take those in HDF5"},
    {NULL, NULL, ".csv",
     "a table in CSV by its name, not a scene: sim plot draws it if it is a recorded run or a history of sim solve"},
    {NULL, "ftyp", ".mp4", "a film, not a scene: " PICTURE},
    {NULL, NULL, ".mp4", "a film by its name, not a scene: " PICTURE},
    {"\x1a\x45\xdf\xa3", NULL, NULL, "a film, not a scene: " PICTURE},
    {"GIF8", NULL, NULL, "a picture, not a scene: " PICTURE},
    {"\x89PNG", NULL, NULL, "a picture, not a scene: " PICTURE},
    {"\xff\xd8\xff", NULL, NULL, "a picture, not a scene: " PICTURE},
    {"\x1f\x8b", NULL, NULL, "a compressed file, not a scene: unpack it first"},
    {"PK\x03\x04", NULL, NULL, "an archive, not a scene: unpack it first"},
    {"directives:", NULL, NULL, "model directives of Drake, not a scene: scenes are JSON; they " MODEL_ELSEWHERE},
    {NULL, NULL, ".yaml", "a YAML file by its name, not a scene: scenes are JSON"},
    {NULL, NULL, ".yml", "a YAML file by its name, not a scene: scenes are JSON"},
    {"#usda", NULL, NULL, "a stage in USD, not a scene: USD " MODEL_ELSEWHERE},
    {"PXR-USDC", NULL, NULL, "a stage in USD, not a scene: USD " MODEL_ELSEWHERE},
    {NULL, NULL, ".py", "a Python program by its name, not a scene: scenes are JSON"},
};

static int lower(int c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

static int ends_in(const char *path, const char *ending) {
    size_t length = strlen(path), size = strlen(ending);
    for (size_t k = 0; length > size && k < size; k++) {
        if (lower(path[length - size + k]) != ending[k]) {
            return 0;
        }
    }
    return length > size;
}

static int holds(const char *head, size_t length, const char *word) {
    size_t size = strlen(word);
    for (size_t k = 0; k + size <= length; k++) {
        if (memcmp(head + k, word, size) == 0) {
            return 1;
        }
    }
    return 0;
}

const char *sim_foreign_file(const char *path, const char *head, size_t length) {
    length = length < FOREIGN_HEAD ? length : FOREIGN_HEAD;
    if (length >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) { /* a byte-order mark */
        head += 3;
        length -= 3;
    }
    while (length && strchr(" \t\r\n", *head) && *head) {
        head++;
        length--;
    }
    if (length && (*head == '{' || *head == '[')) {
        return NULL;
    }
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const char *start = kinds[k].start, *inside = kinds[k].inside, *ending = kinds[k].ending;
        if ((!start || (length >= strlen(start) && memcmp(head, start, strlen(start)) == 0)) &&
            (!inside || holds(head, length, inside)) && (!ending || ends_in(path, ending))) {
            return kinds[k].said;
        }
    }
    return NULL;
}
