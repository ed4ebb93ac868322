/* Detection of files that are not scenes, by their first bytes and their names. */
#include "base/words.h"
#include "scene/format/foreign.h"

#include <string.h>

#define MESH "goes into a scene as the \"file\" of a shape of type \"mesh\", \"convex\" or \"sdf\""
#define MODEL_ELSEWHERE "is not read: write its bodies and joints as a scene, as docs/scene.md says"
#define NO_XML "but its text is no XML: it does not begin with '<'"
#define PICTURE "sim render draws one from a scene, and reads none"

/* In this order; the first that fits is said.  NULL: does not matter. */
static const struct {
    const char *start, *inside, *ending; /* its beginning, after spaces; words in its head; the end of its name */
    foreign_kind kind;
} kinds[] = {
    {"\x89HDF",
     NULL,
     NULL,
     {.is = "an HDF5 file",
      .advice = "sim view and sim plot show it if it is a recorded run, sim solve solves it if it is a contact problem",
      .recorded = true}},
    {"sim checkpoint\n",
     NULL,
     NULL,
     {.is = "a checkpoint", .advice = "sim SCENE.json --resume FILE continues from it"}},
    {"<", "<COLLADA", NULL, {.is = "a mesh in COLLADA", .advice = "it " MESH}},
    {"<", "<svg", NULL, {.is = "a picture", .advice = "sim plot draws one from a recorded run"}},
    {"<", "<html", NULL, {.is = "a page for a browser", .advice = "open it there"}},
    {"<", "<!DOCTYPE html", NULL, {.is = "a page for a browser", .advice = "open it there"}},
    {"<", "<mujoco", NULL, {.is = "a model of MuJoCo (MJCF)", .xml = true}},
    {"<", "<sdf", NULL, {.is = "a model in SDFormat", .xml = true}},
    {"<", "<robot", NULL, {.is = "a robot in URDF", .xml = true}},
    {"<", NULL, NULL, {.is = "an XML file", .xml = true}},
    {NULL, NULL, ".urdf", {.is = "a robot in URDF by its name", .advice = NO_XML}},
    {NULL, NULL, ".mjcf", {.is = "a model of MuJoCo (MJCF) by its name", .advice = NO_XML}},
    {NULL, NULL, ".xacro", {.is = "a robot in URDF with macros (xacro) by its name", .advice = NO_XML}},
    {NULL, NULL, ".xml", {.is = "an XML file by its name", .advice = NO_XML}},
    {"solid", "facet", NULL, {.is = "a mesh in STL", .advice = "it " MESH}},
    {NULL, NULL, ".stl", {.is = "a mesh in STL by its name", .advice = "it " MESH}},
    {NULL, NULL, ".obj", {.is = "a mesh in OBJ by its name", .advice = "it " MESH}},
    {"ply",
     NULL,
     ".ply",
     {.is = "a mesh in PLY", .advice = "meshes are read from OBJ, STL, COLLADA and glTF files, which a scene names"}},
    {"glTF", NULL, NULL, {.is = "a mesh in glTF", .advice = "it " MESH}},
    {NULL, NULL, ".dae", {.is = "a mesh in COLLADA by its name", .advice = "it " MESH}},
    {"time [s],",
     NULL,
     NULL,
     {.is = "a trajectory in CSV",
      .advice = "sim plot draws it; sim view and sim render take those in HDF5",
      .recorded = true}},
    {NULL,
     NULL,
     ".csv",
     {.is = "a table in CSV by its name",
      .advice = "sim plot draws it if it is a recorded run or a history of sim solve",
      .recorded = true}},
    {NULL, "ftyp", ".mp4", {.is = "a film", .advice = PICTURE}},
    {NULL, NULL, ".mp4", {.is = "a film by its name", .advice = PICTURE}},
    {"\x1a\x45\xdf\xa3", NULL, NULL, {.is = "a film", .advice = PICTURE}},
    {"GIF8", NULL, NULL, {.is = "a picture", .advice = PICTURE}},
    {"\x89PNG", NULL, NULL, {.is = "a picture", .advice = PICTURE}},
    {"\xff\xd8\xff", NULL, NULL, {.is = "a picture", .advice = PICTURE}},
    {"\x1f\x8b", NULL, NULL, {.is = "a compressed file", .advice = "unpack it first"}},
    {"PK\x03\x04", NULL, NULL, {.is = "an archive", .advice = "unpack it first"}},
    {"directives:", NULL, NULL, {.is = "model directives of Drake", .advice = "scenes are JSON"}},
    {NULL, NULL, ".yaml", {.is = "a YAML file by its name", .advice = "scenes are JSON"}},
    {NULL, NULL, ".yml", {.is = "a YAML file by its name", .advice = "scenes are JSON"}},
    {"#usda", NULL, NULL, {.is = "a stage in USD", .advice = "USD " MODEL_ELSEWHERE}},
    {"PXR-USDC", NULL, NULL, {.is = "a stage in USD", .advice = "USD " MODEL_ELSEWHERE}},
    {NULL, NULL, ".py", {.is = "a Python program by its name", .advice = "scenes are JSON"}},
};

static bool contains_word(const char *head, size_t length, const char *word) {
    size_t size = strlen(word);
    for (size_t k = 0; k + size <= length; k++) {
        if (memcmp(head + k, word, size) == 0) {
            return true;
        }
    }
    return false;
}

const foreign_kind *foreign_find_kind(const char *path, const char *head, size_t length) {
    length = length < FOREIGN_HEAD_BYTES ? length : FOREIGN_HEAD_BYTES;
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
            (!inside || contains_word(head, length, inside)) && (!ending || ends_in_any_case(path, ending))) {
            return &kinds[k].kind;
        }
    }
    return NULL;
}
