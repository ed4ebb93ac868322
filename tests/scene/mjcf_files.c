/* Models in MJCF with files beside them: height fields and textures. */
#include "mjcf_model.h"

#include "math/angle.h"
#include "view/image/png.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];
static const char *const names[] = {"model.xml", "ground.png", "ground.bin", "paint.png", "cube.obj"};

static const char *path_of(const char *name) {
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void make_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/sim_mjcf_XXXXXX");
    cr_assert(mkdtemp(folder));
}

static void remove_folder(void) {
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        remove(path_of(names[k]));
    }
    rmdir(folder);
}

TestSuite(mjcf_files, .init = make_folder, .fini = remove_folder);

static void put(const char *name, const void *bytes, size_t size) {
    FILE *file = fopen(path_of(name), "wb");
    cr_assert(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

/* A picture of the given greys, or colours. */
static void put_picture(const char *name, int width, int height, const unsigned char (*rgb)[3]) {
    unsigned char *bytes;
    size_t size;
    cr_assert_eq(png_encode(&rgb[0][0], width, height, &bytes, &size, NULL), SIM_OK);
    put(name, bytes, size);
    free(bytes);
}

static sim_scene *load(const char *text, sim_diagnostics *found, sim_error *error) {
    put("model.xml", text, strlen(text));
    return sim_scene_load(path_of("model.xml"), NULL, found, error);
}

#define GROUND(hfield)                                                                                                 \
    "<mujoco><asset>" hfield "</asset><worldbody><geom type='hfield' hfield='ground'/></worldbody></mujoco>"

/* Two rows of three heights, the first at the least y; from 0 to 0.5. */
static void check_heights(const sim_scene *s, const double height[6]) {
    const sim_heights *h = s->model->shape[0].geometry->heights;
    cr_assert(h->columns == 3 && h->rows == 2);
    for (int k = 0; k < 6; k++) {
        cr_assert(fabs(h->height[k] - height[k]) < 1e-15, "%d: %g, not %g", k, h->height[k], height[k]);
    }
}

Test(mjcf_files, heights_of_a_picture_rise_from_black_to_white) {
    static const unsigned char rgb[6][3] = {{200, 0, 9}, {100, 100, 100}, {50, 50, 50},
                                            {0, 0, 0},   {75, 75, 75},    {25, 25, 25}};
    put_picture("ground.png", 3, 2, rgb);
    sim_error error = {0};
    sim_scene *s = load(GROUND("<hfield file='ground.png' size='1 2 0.5 0.1'/>"), NULL, &error);
    cr_assert(s, "%s", error.text);
    /* the last row of the picture stands first along y */
    check_heights(s, (const double[]){0, 0.1875, 0.0625, 0.5, 0.25, 0.125});
    sim_scene_free(s);
}

Test(mjcf_files, heights_of_a_file_of_floats_stand_in_its_order) {
    struct {
        int32_t size[2];
        float height[6];
    } file = {{2, 3}, {-1, 0, 1, 2, 3, 7}};
    put("ground.bin", &file, sizeof file);
    sim_error error = {0};
    sim_scene *s = load(GROUND("<hfield file='ground.bin' size='1 2 0.5 0.1'/>"), NULL, &error);
    cr_assert(s, "%s", error.text);
    check_heights(s, (const double[]){0, 0.0625, 0.125, 0.1875, 0.25, 0.5});
    sim_scene_free(s);
}

static void is_refused(const char *text, const char *words) {
    sim_diagnostics found;
    sim_error error = {0};
    cr_assert_null(load(text, &found, &error));
    cr_assert_eq(found.count, 1);
    char said[2000];
    sim_diagnostic_print(&found.item[0], said, sizeof said);
    cr_assert(strstr(said, words), "%s", said);
    sim_diagnostics_free(&found);
}

Test(mjcf_files, wrong_height_files_are_refused) {
    put("ground.bin", "123456789", 9);
    is_refused(GROUND("<hfield file='ground.bin' size='1 2 0.5 0.1'/>"), "as many floats as its first two numbers say");
    is_refused(GROUND("<hfield name='ground' file='ground.png' size='1 2 0.5 0.1'/>"), "No such file");
    is_refused(GROUND("<hfield file='ground.bin' nrow='2' size='1 2 0.5 0.1'/>"), "leave these out");
    put("ground.png", "123456789", 9);
    is_refused(GROUND("<hfield file='ground.png' size='1 2 0.5 0.1'/>"), "ground.png: not a PNG file");
}

Test(mjcf_files, a_scene_of_too_many_values_is_refused_at_the_element_that_goes_beyond) {
    const char *const grid =
        MODEL("<asset><hfield name='h' nrow='1000' ncol='1000' size='1 1 1 1'/></asset><worldbody>\n"
              "<geom type='hfield' hfield='h'/>\n"
              "<body name='b'><geom type='hfield' hfield='h' name='second'/></body></worldbody>");
    refused(grid, "scene.json:4:16",
            "/mujoco/worldbody/body[b]/geom[second]: the scene of this model has more than 2000000");
}

Test(mjcf_files, a_texture_gives_its_mean_colour) {
    static const unsigned char rgb[2][3] = {{255, 0, 51}, {0, 102, 153}};
    const char *text = "<mujoco><asset><texture name='t' type='2d' file='paint.png'/><material name='m' texture='t' "
                       "rgba='1 0.5 1 1'/></asset><worldbody><geom size='1' material='m'/></worldbody></mujoco>";
    put_picture("paint.png", 2, 1, rgb);
    sim_error error = {0};
    sim_scene *s = load(text, NULL, &error);
    cr_assert(s, "%s", error.text);
    const float *color = s->model->shape[0].color;
    cr_assert(color[0] == 0.5f && color[1] == 0.1f && color[2] == 0.4f);
    sim_scene_free(s);
    /* one that is not there is left out with a notice */
    remove(path_of("paint.png"));
    sim_diagnostics found;
    s = load(text, &found, &error);
    cr_assert(s && s->model->shape[0].color[1] == 0.5);
    char said[2000] = "";
    for (int k = 0; k < found.count && !strstr(said, "textures are left out"); k++) {
        sim_diagnostic_print(&found.item[k], said, sizeof said);
    }
    cr_assert(strstr(said, "1 textures are left out: \"paint.png\" is not found"), "%s", said);
    sim_diagnostics_free(&found);
    sim_scene_free(s);
}

/* Corners of a cube of edge 2: as a solid that touches, and as a picture with mass. */
Test(mjcf_files, a_mesh_of_points_alone_is_their_hull) {
    static const char cube[] = "v -1 -1 -1\nv 1 -1 -1\nv -1 1 -1\nv 1 1 -1\nv -1 -1 1\nv 1 -1 1\nv -1 1 1\nv 1 1 1\n";
    put("cube.obj", cube, sizeof cube - 1);
    sim_error error = {0};
    sim_scene *s =
        load("<mujoco><asset><mesh file='cube.obj' scale='0.5 1 1'/></asset><worldbody><body><freejoint/>"
             "<geom type='mesh' mesh='cube' density='2'/></body><body pos='9 0 0'><freejoint/><geom type='mesh' "
             "mesh='cube' contype='0' conaffinity='0' density='3'/></body></worldbody></mujoco>",
             NULL, &error);
    cr_assert(s, "%s", error.text);
    cr_assert(fabs(s->model->body[1].inertia.mass - 8) < 1e-12 && fabs(s->model->body[2].inertia.mass - 12) < 1e-12);
    cr_assert(fabs(s->model->body[1].inertia.moment.xx - 8 * 8 / 12.0) < 1e-12);
    sim_scene_free(s);
}

/* ---- meshes by formula ---- */

/* Volume inside the closed surface that a formula makes, scaled by (1, 2, 3), over 6. */
static double volume_of_formula(const char *builtin, const char *params) {
    char text[600];
    snprintf(text, sizeof text,
             MODEL("<asset><mesh name='m' builtin='%s' params='%s' scale='1 2 3' inertia='exact'/></asset>"
                   "<worldbody><body><freejoint/><geom type='mesh' mesh='m' density='1'/></body></worldbody>"),
             builtin, params);
    sim_scene *s = load_model(text, NULL, NULL);
    double mass = s->model->body[1].inertia.mass;
    sim_scene_free(s);
    return mass / 6;
}

static void has_volume(const char *builtin, const char *params, double volume) {
    double found = volume_of_formula(builtin, params);
    cr_expect(fabs(found - volume) < 1e-12 * volume, "%s %s: %.15g, not %.15g", builtin, params, found, volume);
}

/* Of a regular polygon with n corners on the unit circle. */
static double polygon(int n) { return n / 2.0 * sin(2 * acos(-1) / n); }

Test(mjcf_files, solids_by_formula_have_their_volumes) {
    /* icosahedron with the edge 4 / sqrt(10 + 2 sqrt(5)); half an octahedron */
    double edge = 4 / sqrt(10 + 2 * sqrt(5));
    has_volume("sphere", "0", 5 * (3 + sqrt(5)) / 12 * edge * edge * edge);
    has_volume("hemisphere", "0", 2.0 / 3);
    /* prism, truncated pyramid, pyramid, 2 high */
    has_volume("cone", "3 1", 2 * polygon(3));
    has_volume("cone", "7 0.5", 2 * polygon(7) * (1 + 0.5 + 0.25) / 3);
    has_volume("cone", "4 0", 2 * polygon(4) / 3);
    /* frusta of polygons with the radii cos theta between the heights sin theta */
    double stack = 0, part = acos(-1) / 9;
    for (int k = 0; k < 9; k++) {
        double a = k * part - acos(-1) / 2, b = a + part, p = cos(a), q = cos(b);
        stack += (sin(b) - sin(a)) * polygon(9) * (p * p + p * q + q * q) / 3;
    }
    has_volume("supersphere", "9 1 1", stack);
    /* a section turned in chords about the axis, 1 from it: (R sin(2 pi / R))^2 r^2 / 2 */
    has_volume("supertorus", "8 0.3 1 1", pow(2 * polygon(8), 2) * 0.3 * 0.3 / 2);
}

Test(mjcf_files, solids_by_formula_tend_to_the_smooth_ones) {
    double pi = acos(-1), ball = 4 * pi / 3;
    double before = 4;
    for (int s = 1; s < 5; s++) { /* halved edges quarter the error, but for a part that they quarter, too */
        char coarse[2] = {(char)('0' + s - 1), 0}, fine[2] = {(char)('0' + s), 0};
        double ratio = (ball - volume_of_formula("sphere", coarse)) / (ball - volume_of_formula("sphere", fine));
        cr_expect(ratio < 4 && 4 - ratio < before / 3, "sphere %d: %g", s, ratio);
        before = 4 - ratio;
    }
    cr_expect_float_eq(volume_of_formula("hemisphere", "10"), ball / 2, 0.02 * ball);
    /* superellipsoid of powers (n, e): 2 n e B(n/2, n + 1) B(e/2, e/2 + 1); a cube of edge 2 for small ones */
    double n = 0.5, e = 0.7;
#define BETA(a, b) (tgamma(a) * tgamma(b) / tgamma((a) + (b)))
    double exact = 2 * n * e * BETA(n / 2, n + 1) * BETA(e / 2, e / 2 + 1);
    cr_expect_float_eq(volume_of_formula("supersphere", "100 0.7 0.5"), exact, 5e-3 * exact);
    cr_expect_float_eq(volume_of_formula("supersphere", "40 0.001 0.001"), 8, 0.02);
    /* Pappus: the section of a supertorus is a superellipse of area r^2 times 4 Gamma(1 + s/2)^2 / Gamma(1 + s) */
    double section = 0.2 * 0.2 * 4 * pow(tgamma(1 + 0.4 / 2), 2) / tgamma(1 + 0.4);
    cr_expect_float_eq(volume_of_formula("supertorus", "100 0.2 0.4 1"), 2 * pi * section, 5e-3 * 2 * pi * section);
}

Test(mjcf_files, solids_by_formula_refuse_other_parameters) {
    static const char *const wrong[][2] = {
        {"sphere", "5"},        {"sphere", "1.5"},         {"sphere", "1 2"},
        {"hemisphere", "-1"},   {"cone", "2 1"},           {"cone", "4 1.1"},
        {"supersphere", "3 1"}, {"supertorus", "4 2 1 1"}, {"supersphere", "301 1 1"}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        char text[400];
        sim_error error = {0};
        sim_diagnostics found;
        snprintf(text, sizeof text,
                 MODEL("<asset><mesh name='m' builtin='%s' params='%s'/></asset>"
                       "<worldbody><geom type='mesh' mesh='m'/></worldbody>"),
                 wrong[k][0], wrong[k][1]);
        cr_expect_null(load_text(text, NULL, NULL, &found, &error));
        cr_expect(strstr(error.text, " takes the "), "%s", error.text);
        sim_diagnostics_free(&found);
    }
}

/* Mass on the surface: that of a ball has 2/3 m r^2, of a can and a chest the sums of their walls; 6 kg/m^2. */
Test(mjcf_files, shells_have_their_mass_on_the_surface) {
    static const struct {
        const char *geom;
        double mass, x, y, z;
    } shell[] = {
        {"type='sphere' size='0.5' mass='3'", 3, 0.5, 0.5, 0.5},
        {"type='sphere' size='0.5' density='6'", 6 * PI, PI, PI, PI},
        {"type='cylinder' size='1 1' density='6'", 36 * PI, 6 * PI * (4 * (0.5 + 1 / 3.0) + 2 * 1.25),
         6 * PI * (4 * (0.5 + 1 / 3.0) + 2 * 1.25), 6 * PI * (4 + 1)},
        {"type='capsule' size='1 1' density='6'", 48 * PI, 6 * PI * (4 * (0.5 + 1 / 3.0) + 4 * (2 / 3.0 + 2)),
         6 * PI * (4 * (0.5 + 1 / 3.0) + 4 * (2 / 3.0 + 2)), 6 * PI * (4 + 8 / 3.0)},
        {"type='box' size='1 1 1' density='6'", 144, 160, 160, 160},
    };
    char text[500];
    for (size_t k = 0; k < sizeof shell / sizeof shell[0]; k++) {
        snprintf(text, sizeof text, BODY("<freejoint/><geom shellinertia='true' %s/>"), shell[k].geom);
        sim_scene *s = load_model(text, NULL, NULL);
        const sim_inertia *I = &s->model->body[1].inertia;
        double off = fabs(I->mass - shell[k].mass) + fabs(I->moment.xx - shell[k].x) + fabs(I->moment.yy - shell[k].y) +
                     fabs(I->moment.zz - shell[k].z);
        cr_expect_lt(off, 1e-12 * shell[k].mass, "%s: %.17g %.17g %.17g %.17g", shell[k].geom, I->mass, I->moment.xx,
                     I->moment.yy, I->moment.zz);
        sim_scene_free(s);
    }
    refused(BODY("<freejoint/><geom type='ellipsoid' size='1 2 3' shellinertia='true'/>"), "scene.json:3:64",
            "ellipsoids have no shell of mass");
}
