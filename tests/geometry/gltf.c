/* glTF files, as JSON and packed: the surfaces that their scenes show, and what is refused. */
#include "geometry/import/mesh_file.h"
#include "support/meshes.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Data: four corners of a tetrahedron in floats (48 bytes), then its faces in bytes (12), as a strip (6) and a fan (5),
 * shorts (24) and words (48); 143 bytes and one of padding. */
enum { POINTS = 0, BYTES = 48, STRIP = 60, FAN = 66, SHORTS = 72, WORDS = 96, LOOSE = 144, DATA_BYTES = 288 };

static unsigned char data[DATA_BYTES];

static void put_float(unsigned char *at, float x) { memcpy(at, &x, sizeof x); }

static void fill_data(void) {
    static const float point[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const unsigned char face[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3}, strip[6] = {0, 2, 1, 3, 0, 2};
    static const unsigned char fan[5] = {0, 2, 1, 3, 2};
    for (int k = 0; k < 12; k++) {
        put_float(data + POINTS + 4 * k, point[k / 3][k % 3]);
        data[BYTES + k] = face[k];
        data[SHORTS + 2 * k] = face[k];
        data[WORDS + 4 * k] = face[k];
        for (int i = 0; i < 3; i++) {
            put_float(data + LOOSE + 12 * k + 4 * i, point[face[k]][i]);
        }
    }
    memcpy(data + STRIP, strip, sizeof strip);
    memcpy(data + FAN, fan, sizeof fan);
}

#define HEAD "{\"asset\": {\"version\": \"2.0\"}, \"scene\": 0, \"scenes\": [{\"nodes\": [0]}], "
#define BUFFER "\"buffers\": [{\"byteLength\": 288}], \"bufferViews\": [{\"buffer\": 0, \"byteLength\": 288}], "
#define ACCESSOR(at, component, count, type)                                                                           \
    "{\"bufferView\": 0, \"byteOffset\": " at ", \"componentType\": " component ", \"count\": " count                  \
    ", \"type\": \"" type "\"}"
#define ACCESSORS                                                                                                                \
    "\"accessors\": [" ACCESSOR("0", "5126", "4", "VEC3") "," ACCESSOR("48", "5121", "12", "SCALAR") "," ACCESSOR(               \
        "72", "5123", "12",                                                                                                      \
        "SCALAR") "," ACCESSOR("96", "5125", "12",                                                                               \
                               "SCALAR") "," ACCESSOR("60", "5121", "6",                                                         \
                                                      "SCALAR") "," ACCESSOR("66", "5121", "5",                                  \
                                                                             "SCALAR") "," ACCESSOR("144", "5126",               \
                                                                                                    "12",                        \
                                                                                                    "VEC3") "," ACCESSOR("57",   \
                                                                                                                         "5121", \
                                                                                                                         "3",    \
                                                                                                                         "SCALAR") "], "
#define SOLID(inside) "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}, " inside "}]}], "
#define NODE(inside) "\"nodes\": [{\"mesh\": 0" inside "}]}"

/* A packed file; the caller frees it. */
static char *pack(const char *json, size_t *size) {
    size_t length = (strlen(json) + 3) / 4 * 4;
    uint32_t word[5] = {0x46546c67, 2, (uint32_t)(28 + length + DATA_BYTES), (uint32_t)length, 0x4e4f534a};
    uint32_t chunk[2] = {DATA_BYTES, 0x004e4942};
    *size = word[2];
    char *file = calloc(*size + 1, 1);
    cr_assert(file);
    memcpy(file, word, sizeof word);
    memset(file + 20, ' ', length);
    memcpy(file + 20, json, strlen(json));
    memcpy(file + 20 + length, chunk, sizeof chunk);
    memcpy(file + 28 + length, data, DATA_BYTES);
    return file;
}

static sim_status read_packed(const char *json, sim_triangles *t, sim_error *error) {
    size_t size;
    fill_data();
    char *file = pack(json, &size);
    sim_status status = mesh_parse("test.glb", file, size, (v3){1, 1, 1}, t, error);
    free(file);
    return status;
}

static void drop(sim_triangles t) {
    free(t.vertex);
    free(t.triangle);
}

/* A closed surface, outwards, of that many triangles, with that volume and centre. */
static void check_solid(sim_triangles t, int ntriangle, double volume, v3 centre) {
    v3 moment;
    double sum = volume_of_surface(&t, &moment);
    cr_expect_eq(t.nvertex, ntriangle, "%d vertices", t.nvertex);
    cr_expect_eq(t.ntriangle, ntriangle, "%d triangles", t.ntriangle);
    cr_expect(fabs(sum - volume) < 1e-13, "volume %.17g, not %.17g", sum, volume);
    cr_expect(v3_norm(v3_sub(v3_scale(1 / sum, moment), centre)) < 1e-13);
}

static void has(const char *json, int ntriangle, double volume, v3 centre) {
    sim_triangles t;
    sim_error error = {0};
    cr_assert_eq(read_packed(json, &t, &error), SIM_OK, "%s", error.text);
    check_solid(t, ntriangle, volume, centre);
    drop(t);
}

static const v3 upright = {0.25, -0.25, 0.25}; /* y up to z up */

Test(gltf, y_up_becomes_z_up_whatever_the_indices_are_made_of) {
    has(HEAD BUFFER ACCESSORS SOLID("\"indices\": 1") NODE(""), 4, 1.0 / 6, upright);
    has(HEAD BUFFER ACCESSORS SOLID("\"indices\": 2") NODE(""), 4, 1.0 / 6, upright);
    has(HEAD BUFFER ACCESSORS SOLID("\"indices\": 3") NODE(""), 4, 1.0 / 6, upright);
    has(HEAD BUFFER ACCESSORS "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 6}}]}], " NODE(""), 4,
        1.0 / 6, upright);
}

Test(gltf, strips_and_fans_make_the_same_surface_and_lines_none) {
    has(HEAD BUFFER ACCESSORS SOLID("\"indices\": 4, \"mode\": 5") NODE(""), 4, 1.0 / 6, upright);
    has(HEAD BUFFER ACCESSORS "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}, \"indices\": 5, "
                              "\"mode\": 6}, {\"attributes\": {\"POSITION\": 0}, \"indices\": 7}, "
                              "{\"attributes\": {\"POSITION\": 0}, \"mode\": 1}]}], " NODE(""),
        4, 1.0 / 6, upright);
}

Test(gltf, transforms_of_nodes_act_from_the_innermost_outwards) {
    has(HEAD BUFFER ACCESSORS SOLID(
            "\"indices\": 1") "\"nodes\": [{\"children\": [1], \"translation\": [1, 2, 3], "
                              "\"rotation\": [0, 0, 1, 1]}, {\"mesh\": 0, \"scale\": [2, 3, 4]}]}",
        4, 4, (v3){1 - 0.75, -(3 + 1.0), 2 + 0.5});
    has(HEAD BUFFER ACCESSORS SOLID("\"indices\": 1")
            NODE(", \"matrix\": [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 5, 6, 7, 1]"),
        4, 1.0 / 6, (v3){5 - 0.25, -(7 + 0.25), 6 + 0.25});
}

Test(gltf, a_mirrored_solid_keeps_its_outside_outside) {
    has(HEAD BUFFER ACCESSORS SOLID("\"indices\": 1") NODE(", \"scale\": [-1, 1, 1]"), 4, 1.0 / 6,
        (v3){-0.25, -0.25, 0.25});
    has(HEAD BUFFER ACCESSORS SOLID("\"indices\": 4, \"mode\": 5") NODE(", \"scale\": [-1, 1, 1]"), 4, 1.0 / 6,
        (v3){-0.25, -0.25, 0.25});
}

Test(gltf, data_in_base64_stand_in_the_json) {
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char packed[500], text[4000];
    size_t n = 0;
    fill_data();
    for (size_t k = 0; k < DATA_BYTES; k += 3) {
        unsigned bits = (unsigned)data[k] << 16 | (unsigned)data[k + 1] << 8 | data[k + 2];
        for (int i = 0; i < 4; i++) {
            packed[n++] = letter[bits >> (18 - 6 * i) & 63];
        }
    }
    packed[n] = 0;
    snprintf(text, sizeof text,
             HEAD "\"buffers\": [{\"byteLength\": 288, \"uri\": \"data:application/octet-stream;base64,%s\"}], "
                  "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 288}], " ACCESSORS SOLID("\"indices\": 1")
                      NODE(""),
             packed);
    sim_triangles t;
    sim_error error = {0};
    cr_assert_eq(mesh_parse("test.gltf", text, strlen(text), (v3){1, 1, 1}, &t, &error), SIM_OK, "%s", error.text);
    check_solid(t, 4, 1.0 / 6, upright);
    drop(t);
}

/* A file of a solid, and its data in another one, whose name in the first is `uri`. */
static sim_status read_beside(const char *uri, sim_triangles *t, sim_error *error) {
    char folder[] = "/tmp/sim-gltf-XXXXXX", path[100], data_path[100], text[2000];
    cr_assert(mkdtemp(folder));
    fill_data();
    snprintf(path, sizeof path, "%s/solid.gltf", folder);
    snprintf(data_path, sizeof data_path, "%s/a b.bin", folder);
    snprintf(text, sizeof text,
             HEAD "\"buffers\": [{\"byteLength\": 288, \"uri\": \"%s\"}], \"bufferViews\": [{\"buffer\": 0, "
                  "\"byteLength\": 288}], " ACCESSORS SOLID("\"indices\": 1") NODE(""),
             uri);
    FILE *file = fopen(path, "wb"), *bytes = fopen(data_path, "wb");
    cr_assert(file && bytes);
    cr_assert(fputs(text, file) >= 0 && fwrite(data, 1, DATA_BYTES, bytes) == DATA_BYTES);
    fclose(file);
    fclose(bytes);
    sim_status status = sim_triangles_read(path, (v3){1, 1, 1}, t, error);
    remove(path);
    remove(data_path);
    remove(folder);
    return status;
}

Test(gltf, data_stand_in_other_files_below_the_folder) {
    static const struct {
        const char *uri, *what;
    } wrong[] = {{"b.bin", "/buffers/0: "},
                 {"../a.bin", "expected the name of a file in the folder of the mesh or below it"},
                 {"c/../../a.bin", "expected the name of a file in the folder of the mesh or below it"},
                 {"%2e%2e/a.bin", "expected the name of a file in the folder of the mesh or below it"},
                 {"/etc/passwd", "expected the name of a file in the folder of the mesh or below it"},
                 {"file:a%20b.bin", "expected the name of a file in the folder of the mesh or below it"},
                 {"", "expected the name of a file in the folder of the mesh or below it"}};
    sim_triangles t;
    sim_error error = {0};
    cr_assert_eq(read_beside("a%20b.bin", &t, &error), SIM_OK, "%s", error.text);
    check_solid(t, 4, 1.0 / 6, upright);
    drop(t);
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        cr_assert_neq(read_beside(wrong[k].uri, &t, &error), SIM_OK, "%s", wrong[k].uri);
        cr_expect(strstr(error.text, wrong[k].what), "%s: %s", wrong[k].uri, error.text);
    }
}

/* ---- refusals ---- */

static void refused(const char *json, const char *what) {
    sim_triangles t;
    sim_error error = {0};
    cr_expect_eq(read_packed(json, &t, &error), SIM_BAD_INPUT, "%s", what);
    cr_expect(strstr(error.text, what) && strncmp(error.text, "test.glb:", 9) == 0, "\"%s\", not \"%s\"", error.text,
              what);
    cr_expect(!t.vertex && !t.triangle);
}

Test(gltf, what_is_not_read_is_named) {
    refused(HEAD "\"extensionsRequired\": [\"KHR_draco_mesh_compression\"]}",
            "the extension KHR_draco_mesh_compression, which the file requires, is not read");
    refused(HEAD BUFFER ACCESSORS SOLID("\"indices\": 1") NODE(", \"skin\": 0"), "/nodes/0: skins are not read");
    refused(
        HEAD
        "\"buffers\": [{\"uri\": \"data.bin\"}], \"bufferViews\": [{\"buffer\": 0, \"byteLength\": 288}], " ACCESSORS
            SOLID("\"indices\": 1") NODE(""),
        "/buffers/0: buffers in other files are not read: pack the file as .glb");
    refused(HEAD BUFFER "\"accessors\": [{\"bufferView\": 0, \"sparse\": {}}], " SOLID("\"mode\": 4") NODE(""),
            "/accessors/0: sparse accessors are not read");
    refused("{\"asset\": {\"version\": \"1.0\"}}", "expected \"asset\" to say version 2 of glTF");
    refused("{\"asset\": {\"version\": \"2.0\"}}", "there is no scene in the file");
    refused("[1, 2", "expected the JSON object of a glTF file");
}

Test(gltf, numbers_beyond_the_file_are_refused) {
    refused(HEAD BUFFER "\"accessors\": [" ACCESSOR("0", "5126", "25", "VEC3") "], " SOLID("\"mode\": 4") NODE(""),
            "/accessors/0: it reaches beyond its buffer");
    refused(HEAD BUFFER "\"accessors\": [" ACCESSOR("280", "5126", "1", "VEC3") "], " SOLID("\"mode\": 4") NODE(""),
            "it reaches beyond its buffer");
    refused(HEAD BUFFER "\"accessors\": [" ACCESSOR("0", "5123", "4", "VEC3") "], " SOLID("\"mode\": 4") NODE(""),
            "/accessors/0: expected positions of type VEC3 in single precision");
    refused(HEAD BUFFER "\"accessors\": [" ACCESSOR("0", "5126", "2", "VEC3") "," ACCESSOR(
                "48", "5121", "12", "SCALAR") "], " SOLID("\"indices\": 1") NODE(""),
            "/meshes/0: an index has no position");
    refused(HEAD BUFFER ACCESSORS SOLID("\"indices\": 9") NODE(""),
            "/meshes/0: expected \"indices\" to be an index below 8");
    refused(HEAD BUFFER ACCESSORS SOLID("\"indices\": 1") NODE(", \"children\": [3]"),
            "/nodes/0: one of its \"children\"");
    refused(HEAD BUFFER ACCESSORS SOLID("\"indices\": 1") NODE(", \"children\": [0]"),
            "/nodes/0: nodes within nodes, more than 100 deep");
    refused(HEAD BUFFER ACCESSORS SOLID("\"indices\": 1") NODE(", \"matrix\": [1, 2]"),
            "/nodes/0: expected 16 numbers");
}

Test(gltf, copies_of_copies_are_bounded) {
    char nodes[4000] = "\"nodes\": [{\"children\": [1, 1]}", text[6000];
    for (int k = 1; k < 60; k++) {
        size_t at = strlen(nodes);
        snprintf(nodes + at, sizeof nodes - at, ", {\"children\": [%d, %d]}", k + 1, k + 1);
    }
    snprintf(text, sizeof text, "%s%s, {\"mesh\": 0}]}", HEAD BUFFER ACCESSORS SOLID("\"indices\": 1"), nodes);
    refused(text, "nodes show more triangles or nodes than a file of this length may");
}
