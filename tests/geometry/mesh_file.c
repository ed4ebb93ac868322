/* OBJ and STL files: what they say is read to the last bit, and what is wrong in them is said with its place. */
#include "geometry/import/mesh_file.h"
#include "geometry/core/solid.h"
#include "support/models.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const v3 one = {1, 1, 1};

static void *memory(size_t size) {
    void *m = calloc(size, 1);
    if (!m) {
        abort();
    }
    return m;
}

static sim_triangles parse(const char *name, const void *content, size_t size) {
    sim_triangles t;
    sim_error error = {0};
    char *copy = memory(size + 1);
    memcpy(copy, content, size);
    copy[size] = 0;
    sim_status status = mesh_parse(name, copy, size, one, &t, &error);
    free(copy);
    cr_assert_eq(status, SIM_OK, "%s", error.text);
    return t;
}

static sim_triangles obj(const char *text) { return parse("test.obj", text, strlen(text)); }
static sim_triangles stl(const char *text) { return parse("test.stl", text, strlen(text)); }

static void drop(sim_triangles t) {
    free(t.vertex);
    free(t.triangle);
}

static int same(sim_triangles a, sim_triangles b) {
    return a.nvertex == b.nvertex && a.ntriangle == b.ntriangle &&
           memcmp(a.vertex, b.vertex, (size_t)a.nvertex * sizeof(v3)) == 0 &&
           memcmp(a.triangle, b.triangle, (size_t)a.ntriangle * sizeof *a.triangle) == 0;
}

static void refused(const char *name, const void *content, size_t size, const char *what) {
    sim_triangles t;
    sim_error error = {0};
    char *copy = memory(size + 1);
    memcpy(copy, content, size);
    copy[size] = 0;
    cr_assert_eq(mesh_parse(name, copy, size, one, &t, &error), SIM_BAD_INPUT);
    cr_assert_eq(mesh_parse(name, copy, size, one, &t, NULL), SIM_BAD_INPUT);
    free(copy);
    cr_assert_str_eq(error.text, what);
    cr_assert(!t.vertex && !t.triangle);
}

static void refused_obj(const char *text, const char *what) { refused("a.obj", text, strlen(text), what); }
static void refused_stl(const char *text, const char *what) { refused("a.stl", text, strlen(text), what); }

/* ---- OBJ ---- */

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

Test(mesh_file, all_forms_of_a_corner_name_the_same_vertex) {
    sim_triangles plain = obj(SQUARE "f 1 2 3\nf 1 3 4\n");
    static const char *const forms[] = {
        SQUARE "f 1/1 2/2 3/3\nf 1/9 3/9 4/9",
        SQUARE "f 1//1 2//2 3//3\nf 1//9 3//9 4//9\n",
        SQUARE "f 1/1/1 2/2/2 3/3/3\nf 1/-1/-1 3/-1/-1 4/1/1\n",
        SQUARE "f -4 -3 -2\nf -4/1 -2//2 -1/1/1\n",
        SQUARE "f 1 2 3 4\n",
        "# of a square\r\no a\r\ng b c\r\nmtllib x.mtl\r\n\r\n  v\t0 0 0\r\nv 1 0 0 1.0\r\nv 1 1 0 0.5 0.5 0.5 # "
        "red\r\n"
        "v 0 1 \\\r\n 0\r\nvt 0 0\r\nvn 0 0 1\r\nusemtl m\r\ns off\r\nf 1 2 3#\r\nf 1 3\\\r\n 4 \r\nl 1 2\r\np 1\r\n",
        "v 0 0 0\rv 1 0 0\rv 1 1 0\rv 0 1 0\rfo 1 2 3 4\r",
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\nv 0 1 0\nf 1 -2 4\n",
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 9 9 9\nvn 1 0 \\\n 0\n# not joined \\\nf 1 2 3 4\n",
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        sim_triangles t = obj(forms[i]);
        cr_assert(same(t, plain), "form %zu: %d vertices, %d triangles", i, t.nvertex, t.ntriangle);
        drop(t);
    }
    cr_assert_eq(plain.nvertex, 4);
    cr_assert_eq(plain.ntriangle, 2);
    drop(plain);
}

Test(mesh_file, an_obj_file_of_points_has_its_vertices_alone) {
    sim_triangles t = obj(SQUARE);
    cr_assert(t.nvertex == 4 && t.ntriangle == 0 && t.vertex[2].y == 1);
    drop(t);
}

Test(mesh_file, an_obj_file_that_is_wrong_says_where) {
    refused_obj("", "a.obj: the file is empty");
    refused_obj("# nothing\n", "a.obj: there are no triangles in the file");
    refused_obj("v 0 0 0\nv 1 x 0\n", "a.obj:2:5: expected a number, found \"x\"");
    refused_obj("v 0 0\nv 1 0 0\n", "a.obj:1:6: expected a number, found the end of the line");
    refused_obj("v 0 0", "a.obj:1:6: expected a number, found the end of the file");
    refused_obj("v", "a.obj:1:2: expected a number, found the end of the file");
    refused_obj("v nan 0 0\n", "a.obj:1:3: expected a number, found \"nan\"");
    refused_obj("v 0 -inf 0\n", "a.obj:1:5: expected a number, found \"-inf\"");
    refused_obj("v 0 0x10 0\n", "a.obj:1:5: expected a number, found \"0x10\"");
    refused_obj("v 0 1,5 0\n", "a.obj:1:5: expected a number, found \"1,5\"");
    refused_obj("v 0 1e 0\n", "a.obj:1:5: expected a number, found \"1e\"");
    refused_obj("v . 1 0\n", "a.obj:1:3: expected a number, found \".\"");
    refused_obj("v 1e309 1 0\n", "a.obj:1:3: expected a number of at most 1.8e308, found \"1e309\"");
    refused_obj("v 1 2 3 4 5 6 7 8\n",
                "a.obj:1:17: expected the end of the line after seven numbers of a vertex, found \"8\"");
    refused_obj(SQUARE "f 1 2\n", "a.obj:5:6: expected a corner (vertex, vertex/texture, vertex//normal or "
                                  "vertex/texture/normal), found the end of the line");
    refused_obj(SQUARE "f 1 2 5\n", "a.obj:5:7: vertex 5 of a face is not there: 4 so far, counted from 1");
    refused_obj(SQUARE "f 1 2 0\n", "a.obj:5:7: vertex 0 of a face is not there: 4 so far, counted from 1");
    refused_obj(SQUARE "f 1 2 -5\n", "a.obj:5:7: vertex -5 of a face is not there: 4 so far, counted from 1");
    refused_obj("f 1 2 3\n" SQUARE, "a.obj:1:3: vertex 1 of a face is not there: 0 so far, counted from 1");
    refused_obj(SQUARE "f 1 2 99999999999999999999999999\n",
                "a.obj:5:7: vertex 999999999999999999999999 of a face is not there: 4 so far, counted from 1");
    static const char *const corners[] = {"1/", "1//", "1/2/", "1/x", "1.5", "/1", "1/2/3/4", "a"};
    for (size_t i = 0; i < sizeof corners / sizeof *corners; i++) {
        char text[200], what[300];
        snprintf(text, sizeof text, SQUARE "f 2 %s 3\n", corners[i]);
        snprintf(
            what, sizeof what,
            "a.obj:5:5: expected a corner (vertex, vertex/texture, vertex//normal or vertex/texture/normal), found "
            "\"%s\"",
            corners[i]);
        refused_obj(text, what);
    }
    refused_obj(SQUARE "curv 0 1 1 2\n",
                "a.obj:5:1: expected v, f or another statement of an OBJ file of polygons, found \"curv\"");
    refused_obj("v 0 0 0\r\n\r\nsolid\r\n",
                "a.obj:3:1: expected v, f or another statement of an OBJ file of polygons, found \"solid\"");
    refused("a.obj", "v 0 0 0\n\0", 9,
            "a.obj:2:1: expected v, f or another statement of an OBJ file of polygons, found a zero byte");
    refused_obj("v 0 0 0\nf\x01\xff\n",
                "a.obj:2:1: expected v, f or another statement of an OBJ file of polygons, found \"f??\"");
}

/* ---- STL ---- */

typedef struct binary {
    unsigned char byte[84 + 50 * 64 + 8];
    size_t size;
} binary;

static binary binary_stl(const char *header, const v3 (*corner)[3], int count) {
    binary b = {.size = 84 + 50 * (size_t)count};
    memcpy(b.byte, header, strlen(header));
    b.byte[80] = (unsigned char)count;
    for (int i = 0; i < count; i++) {
        float f[12] = {0, 0, NAN};
        for (int k = 0; k < 3; k++) {
            f[3 + 3 * k] = (float)corner[i][k].x;
            f[4 + 3 * k] = (float)corner[i][k].y;
            f[5 + 3 * k] = (float)corner[i][k].z;
        }
        memcpy(b.byte + 84 + 50 * i, f, 48);
    }
    return b;
}

static const v3 tetrahedron[4][3] = {{{0, 0, 0}, {0, 1.25, 0}, {1, 0, 0}},
                                     {{0, -0.0, 0}, {1, 0, 0}, {0, 0, 0.1f}},
                                     {{0, 0, 0}, {0, 0, 0.1f}, {0, 1.25, 0}},
                                     {{1, 0, 0}, {0, 1.25, 0}, {0, 0, 0.1f}}};

static char *text_stl(const v3 (*corner)[3], int count) {
    char *text = memory(10000), *at = text;
    at += sprintf(at, "solid some name with facet in it\n");
    for (int i = 0; i < count; i++) {
        at += sprintf(at, "  facet normal nan 0 1e\r\n    outer loop\r\n");
        for (int k = 0; k < 3; k++) {
            v3 p = corner[i][k];
            at += sprintf(at, "      %s %.9e\t%.9E %.9g\n", k ? "vertex" : "VERTEX", p.x, p.y, p.z);
        }
        at += sprintf(at, "    endloop\n endfacet\n");
        if (i == 1) {
            at += sprintf(at, "endsolid\nSOLID\n");
        }
    }
    sprintf(at, "endsolid some name\n\n");
    return text;
}

Test(mesh_file, binary_and_text_stl_of_one_solid_are_equal_and_corners_are_joined) {
    char *text = text_stl(tetrahedron, 4);
    sim_triangles a = stl(text);
    cr_assert_eq(a.nvertex, 4);
    cr_assert_eq(a.ntriangle, 4);
    cr_assert_float_eq(solid_inertia(a.vertex, 4, (const int(*)[3])a.triangle, 4).mass, 1.25 * 0.1 / 6, 1e-9);
    for (int v = 0; v < 4; v++) {
        a.vertex[v].z = (double)(float)a.vertex[v].z; /* 0.1 in text is nearer to a tenth */
    }
    static const char *const header[] = {"binary", "solid that is binary", "v 1.0 by nobody", "solid\n facet normal"};
    for (int i = 0; i < 4; i++) {
        binary b = binary_stl(header[i], tetrahedron, 4);
        static const char *const name[] = {"a.stl", "a.STL", "a", "a.obj"};
        sim_triangles t = parse(name[i], b.byte, b.size);
        cr_assert(same(a, t));
        drop(t);
    }
    drop(a);
    free(text);
}

Test(mesh_file, an_stl_file_that_is_wrong_says_where) {
    binary b = binary_stl("cut", tetrahedron, 4);
    refused(
        "a.stl", b.byte, b.size - 1,
        "a.stl: byte 80: the header says 4 triangles, a file of 284 bytes; this one has 283: it is cut off or not STL");
    refused("a.stl", b.byte, b.size + 2,
            "a.stl: byte 80: the header says 4 triangles, a file of 284 bytes; this one has 286");
    refused("a.stl", b.byte, 40, "a.stl: byte 40: an STL file, cut off within its header of 84 bytes");
    b.byte[83] = 0x06; /* 100 million triangles, 5 GB */
    refused(
        "a.stl", b.byte, b.size,
        "a.stl: byte 80: the header says 100663300 triangles, a file of 5033165084 bytes; this one has 284: it is cut "
        "off or not STL");
    b = binary_stl("none", tetrahedron, 0);
    refused("a.stl", b.byte, b.size, "a.stl: there are no triangles in the file");
    v3 wrong[2][3];
    memcpy(wrong, tetrahedron, sizeof wrong);
    wrong[1][2].y = NAN;
    b = binary_stl("nan", (const v3(*)[3])wrong, 2);
    refused("a.stl", b.byte, b.size, "a.stl: byte 170: corner 3 of triangle 2 is not finite: (0, nan, 0.1)");
    b = binary_stl("solid but cut", tetrahedron, 4);
    refused(
        "a.stl", b.byte, b.size - 60,
        "a.stl: byte 80: the header says 4 triangles, a file of 284 bytes; this one has 224: it is cut off or not STL");
    refused_stl("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0\nvertex 1 0 0\n",
                "a.stl:5:1: expected a number, found \"vertex\"");
    refused_stl("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 inf\n",
                "a.stl:4:12: expected a number, found \"inf\"");
    refused_stl("solid a\nfacet normal 0 0 1\nouter", "a.stl:3:6: expected loop, found the end of the file");
    refused_stl("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0 vertex 0 1 0 vertex 1 0 0 vertex 1 1 0",
                "a.stl:4:40: expected endloop, found \"vertex\"");
    refused_stl("solid a\n", "a.stl:2:1: expected facet or endsolid, found the end of the file");
    refused_stl("solid a\nendsolid a\n", "a.stl: there are no triangles in the file");
    refused_stl("solid a\nendsolid a\nfacet", "a.stl:3:1: expected solid, found \"facet\"");
}

/* ---- formats, scales, files ---- */

Test(mesh_file, the_format_is_found_by_content_then_by_name) {
    static const char square[] = SQUARE "f 1 2 3 4\n";
    drop(parse("a.stl", square, strlen(square)));
    drop(parse("a", square, strlen(square)));
    char *text = text_stl(tetrahedron, 4);
    drop(parse("a.obj", text, strlen(text)));
    drop(parse("a.dae", text, strlen(text)));
    free(text);
    refused("a.ply", "ply\nformat ascii 1.0\n", 21,
            "a.ply: neither an OBJ, STL, MSH, COLLADA nor glTF file, by content or by name");
    refused("dir.obj/a", "ply\n", 4,
            "dir.obj/a: neither an OBJ, STL, MSH, COLLADA nor glTF file, by content or by name");
    refused("a", "", 0, "a: the file is empty");
}

Test(mesh_file, a_scale_that_mirrors_keeps_the_inside_inside) {
    binary b = binary_stl("", tetrahedron, 4);
    b.byte[b.size] = 0;
    for (int signs = 0; signs < 8; signs++) {
        v3 scale = {signs & 1 ? -2 : 2, signs & 2 ? -3 : 3, signs & 4 ? -0.5 : 0.5};
        sim_triangles t;
        cr_assert_eq(mesh_parse("a", (char *)b.byte, b.size, scale, &t, NULL), SIM_OK);
        double volume = solid_inertia(t.vertex, t.nvertex, (const int(*)[3])t.triangle, t.ntriangle).mass;
        cr_assert_float_eq(volume, 3 * 1.25 * (double)0.1f / 6, 1e-15);
        cr_assert_float_eq(t.vertex[2].x, scale.x, 0);
        drop(t);
    }
}

Test(mesh_file, a_scale_that_is_zero_or_not_finite_or_too_large_is_refused) {
    static const char text[] = SQUARE "f 1 2 3\n";
    static const struct {
        v3 scale;
        const char *what;
    } bad[] = {{{1, 0, 1}, "a.obj: each scale must be finite and not zero, not (1, 0, 1)"},
               {{NAN, 1, 1}, "a.obj: each scale must be finite and not zero, not (nan, 1, 1)"},
               {{1, 1, INFINITY}, "a.obj: each scale must be finite and not zero, not (1, 1, inf)"}};
    sim_triangles t;
    sim_error error;
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(mesh_parse("a.obj", text, strlen(text), bad[i].scale, &t, &error), SIM_BAD_INPUT);
        cr_assert_str_eq(error.text, bad[i].what);
    }
    static const char large[] = "v 1e300 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\n";
    cr_assert_eq(mesh_parse("a.obj", large, strlen(large), (v3){1e10, 1, 1}, &t, &error), SIM_BAD_INPUT);
    cr_assert_str_eq(error.text,
                     "a.obj: the vertex at (1e+300, 0, 0) is not finite once it is scaled by (1e+10, 1, 1)");
}

Test(mesh_file, numbers_are_rounded_to_the_nearest) {
    random_source r = {32};
    static const char *const special[] = {"0.1",
                                          "9007199254740993",
                                          "9007199254740992.5",
                                          "1e22",
                                          "1e23",
                                          "8.988465674311580e307",
                                          "1.7976931348623157e308",
                                          "2.2250738585072011e-308",
                                          "4.9406564584124654e-324",
                                          "1e-400",
                                          "123456789012345678901234567890",
                                          "0.00000000000000000000000000000000000000001234567890123456789012",
                                          "-.5",
                                          "+5.",
                                          "5.e1",
                                          "00000000000000000000000001",
                                          "1.00000000000000011102230246251565404236316680908203125",
                                          "1.00000000000000011102230246251565404236316680908203126",
                                          "1e0000000000000000000000000000000002",
                                          "0e99999999999"};
    int count = (int)(sizeof special / sizeof *special);
    for (int i = 0; i < 20000; i++) {
        char number[80], text[400];
        if (i < count) {
            strcpy(number, special[i]);
        } else {
            double x = random_normal(&r) * pow(10, random_index(&r, i % 2 ? 8 : 600) - (i % 2 ? 4 : 300));
            snprintf(number, sizeof number, "%.*e", random_index(&r, 22), x);
        }
        snprintf(text, sizeof text, "v %s 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\n", number);
        sim_triangles t = obj(text);
        double expected = strtod(number, NULL);
        cr_assert(t.vertex[0].x == expected, "%s: %.17g instead of %.17g", number, t.vertex[0].x, expected);
        drop(t);
    }
}

/* A locale with a comma: one that is installed, or built here from its source. */
static int comma_locale(void) {
    static const char *const name[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    for (int i = 0; i < 4; i++) {
        if (setlocale(LC_ALL, name[i])) {
            return 1;
        }
    }
    char folder[] = "/tmp/sim_locale_XXXXXX", command[200];
    if (!mkdtemp(folder)) {
        return 0;
    }
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1", folder, folder);
    int built = system(command) == 0;
    setenv("LOCPATH", folder, 1);
    built = built && setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 && built;
}

Test(mesh_file, numbers_have_a_point_whatever_the_locale) {
    if (!comma_locale()) {
        cr_skip_test("no locale with a decimal comma");
    }
    char number[20];
    snprintf(number, sizeof number, "%.1f", 0.5);
    cr_assert_str_eq(number, "0,5", "the locale has no comma");
    sim_triangles t = obj("v 1.5 2.500000000000000000000000001 1.5e-300\nv 0 1 0\nv 0 0 1\nf 1 2 3\n");
    cr_assert(t.vertex[0].x == 1.5 && t.vertex[0].y == 2.5 && t.vertex[0].z == 1.5e-300);
    drop(t);
    snprintf(number, sizeof number, "%.1f", 0.5);
    cr_assert_str_eq(number, "0,5", "the caller's locale is lost");
    refused_obj("v 1,5 2 3\n", "a.obj:1:3: expected a number, found \"1,5\"");
    setlocale(LC_ALL, "C");
}

Test(mesh_file, files_that_are_none_are_refused_at_once) {
    char folder[] = "/tmp/sim_mesh_XXXXXX", path[100], what[200];
    cr_assert(mkdtemp(folder));
    sim_triangles t;
    sim_error error;
    snprintf(path, sizeof path, "%s/none.obj", folder);
    cr_assert_eq(sim_triangles_read(path, one, &t, &error), SIM_NO_RESOURCE);
    snprintf(what, sizeof what, "%s: No such file or directory", path);
    cr_assert_str_eq(error.text, what);
    cr_assert_eq(sim_triangles_read(folder, one, &t, &error), SIM_NO_RESOURCE);
    snprintf(what, sizeof what, "%s: a folder, not a file", folder);
    cr_assert_str_eq(error.text, what);
    snprintf(path, sizeof path, "%s/pipe.obj", folder);
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_assert_eq(sim_triangles_read(path, one, &t, &error), SIM_NO_RESOURCE);
    snprintf(what, sizeof what, "%s: not an ordinary file", path);
    cr_assert_str_eq(error.text, what);
    unlink(path);
    snprintf(path, sizeof path, "%s/good.obj", folder);
    FILE *file = fopen(path, "w");
    fputs(SQUARE "f 1 2 3\n", file);
    fclose(file);
    cr_assert_eq(sim_triangles_read(path, (v3){2, 2, 2}, &t, &error), SIM_OK);
    cr_assert_eq(t.nvertex, 3);
    cr_assert_eq(t.vertex[2].y, 2);
    drop(t);
    unlink(path);
    rmdir(folder);
}

Test(mesh_file, a_grid_of_a_million_triangles_reads_the_same_from_text_and_binary) {
    const int N = part_of(700);
    size_t count = 2 * (size_t)N * (size_t)N, size = 84 + 50 * count;
    char *text = memory(40 * (size_t)(N + 1) * (N + 1) + 60 * count), *at = text;
    unsigned char *bytes = memory(size + 1), *record = bytes + 84;
    for (int k = 0; k < 4; k++) {
        bytes[80 + k] = (unsigned char)(count >> 8 * k);
    }
    for (int i = 0; i <= N; i++) {
        for (int j = 0; j <= N; j++) {
            at += sprintf(at, "v %d %d %.7g\n", i, j, (i * j) % 16 / 8.0);
        }
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            int v[4][2] = {{i, j}, {i + 1, j}, {i + 1, j + 1}, {i, j + 1}};
            int index[4];
            for (int k = 0; k < 4; k++) {
                index[k] = v[k][0] * (N + 1) + v[k][1] + 1;
            }
            at += sprintf(at, "f %d %d %d\nf %d %d %d\n", index[0], index[1], index[2], index[0], index[2], index[3]);
            for (int h = 0; h < 2; h++, record += 50) {
                for (int k = 0; k < 3; k++) {
                    const int *p = v[k ? k + h : 0];
                    float f[3] = {(float)p[0], (float)p[1], (float)((p[0] * p[1]) % 16) / 8};
                    memcpy(record + 12 + 12 * k, f, 12);
                }
            }
        }
    }
    sim_triangles a = parse("a.obj", text, (size_t)(at - text)), b = parse("a.stl", bytes, size);
    cr_assert_eq(a.nvertex, (N + 1) * (N + 1));
    cr_assert_eq(a.nvertex, b.nvertex);
    cr_assert_eq(a.ntriangle, b.ntriangle);
    for (int i = 0; i < a.ntriangle; i++) {
        for (int k = 0; k < 3; k++) {
            v3 d = v3_sub(a.vertex[a.triangle[i][k]], b.vertex[b.triangle[i][k]]);
            cr_assert(v3_norm(d) == 0);
        }
    }
    drop(a), drop(b);
    free(text), free(bytes);
}

/* A prism over an outline that begins at corner `from`: two polygons and a wall of quadrilaterals. */
static void prism_text(const double (*outline)[2], int count, int from, char *text, size_t size) {
    size_t used = 0;
    for (int level = 0; level < 2; level++) {
        for (int i = 0; i < count; i++) {
            const double *p = outline[(i + from) % count];
            used += (size_t)snprintf(text + used, size - used, "v %g %g %d\n", p[0], p[1], level);
        }
    }
    for (int level = 0; level < 2; level++) {
        used += (size_t)snprintf(text + used, size - used, "f");
        for (int i = 0; i < count; i++) {
            used += (size_t)snprintf(text + used, size - used, " %d", level ? count + i + 1 : count - i);
        }
        used += (size_t)snprintf(text + used, size - used, "\n");
    }
    for (int i = 0; i < count; i++) {
        int j = (i + 1) % count;
        used +=
            (size_t)snprintf(text + used, size - used, "f %d %d %d %d\n", i + 1, j + 1, j + 1 + count, i + 1 + count);
    }
}

Test(mesh_file, prisms_over_outlines_with_nooks_and_corners_on_edges_are_closed_from_any_corner_on) {
    static const struct {
        int count;
        double area, at[12][2];
    } outline[] = {
        {6, 0.75, {{0, 0}, {1, 0}, {1, 0.5}, {0.5, 0.5}, {0.5, 1}, {0, 1}}},
        {12, 5, {{1, 0}, {2, 0}, {2, 1}, {3, 1}, {3, 2}, {2, 2}, {2, 3}, {1, 3}, {1, 2}, {0, 2}, {0, 1}, {1, 1}}},
        {10, 10, {{0, 0}, {4, 0}, {4, 1}, {3, 1}, {3, 2}, {2, 2}, {2, 3}, {1, 3}, {1, 4}, {0, 4}}},
        {5, 2, {{0, 0}, {1, 0}, {2, 0}, {2, 1}, {0, 1}}},
        {8, 2, {{0, 0}, {1, 0}, {2, 0}, {2, 0.5}, {2, 1}, {1, 1}, {0, 1}, {0, 0.5}}},
        {11, 8, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}, {8, 0}, {8, 1}, {0, 1}}},
    };
    for (size_t k = 0; k < sizeof outline / sizeof *outline; k++) {
        for (int from = 0; from < outline[k].count; from++) {
            char text[2000];
            sim_error error = {0};
            sim_triangles t;
            prism_text(outline[k].at, outline[k].count, from, text, sizeof text);
            cr_assert_eq(mesh_parse("prism", text, strlen(text), (v3){1, 1, 1}, &t, &error), SIM_OK, "%s", error.text);
            sim_geometry *g = sim_geometry_mesh(t.vertex, t.nvertex, (const int(*)[3])t.triangle, t.ntriangle, &error);
            cr_assert(g, "%s", error.text);
            cr_assert(g->mesh->closed, "outline %zu from corner %d", k, from);
            cr_assert_float_eq(g->solid.mass, outline[k].area, 1e-12);
            sim_geometry_free(g);
            free(t.vertex);
            free(t.triangle);
        }
    }
}
