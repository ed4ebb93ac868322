/* Pages: numbers come back from their few bytes, poses within the step that was promised, and a file stands whole or
 * not at all.  browser.py opens them in a browser. */
#include "math/v3.h"
#include "view/page/pack.h"

#include <criterion/criterion.h>
#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- columns: read back as pack's head says, apart from the code under test ---- */

static uint64_t read_number(const unsigned char **at) {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        unsigned char byte = *(*at)++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            return value;
        }
    }
}

static void check_column(const int64_t *value, int count, size_t most_bytes) {
    view_bytes bytes = {0};
    view_put_column(&bytes, value, count);
    cr_assert(!bytes.starved);
    cr_assert_leq(bytes.size, most_bytes);
    const unsigned char *at = bytes.data;
    int order = *at++;
    int64_t one = 0, two = 0;
    for (int k = 0; k < count; k++) {
        uint64_t folded = read_number(&at);
        int64_t difference = folded & 1 ? -(int64_t)(folded >> 1) - 1 : (int64_t)(folded >> 1);
        int64_t now = order == 0 ? difference : order == 1 ? difference + one : difference + 2 * one - two;
        cr_assert_eq(now, value[k], "number %d by order %d", k, order);
        two = one;
        one = now;
    }
    cr_assert_eq(at, bytes.data + bytes.size);
    view_bytes_free(&bytes);
}

Test(pages, columns_come_back_whatever_stands_in_them) {
    enum { COUNT = 300 };
    int64_t fall[COUNT], still[COUNT], wild[COUNT];
    uint64_t seed = 7;
    for (int k = 0; k < COUNT; k++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        fall[k] = 1000000 - 30 * (int64_t)k * k;
        still[k] = -123456789;
        wild[k] = (int64_t)(seed >> 12) - ((int64_t)1 << 51);
    }
    check_column(fall, COUNT, COUNT + 10);
    check_column(still, COUNT, COUNT + 10);
    check_column(wild, COUNT, 10 * COUNT);
    check_column(wild, 1, 11);
    check_column(wild, 0, 1);
}

/* ---- poses ---- */

Test(pages, poses_are_rounded_by_less_than_their_steps) {
    const double radius = 0.3;
    for (int k = 0; k < 2000; k++) {
        v3 turn = v3_make(3.1 * sin(1.3 * k), 2.2 * sin(2.1 * k + 1), 2.9 * cos(0.7 * k));
        sim_pose pose = {quat_matrix(quat_exp(turn)), {10 * sin(k), 100 * cos(3 * k), 0.01 * k}};
        int64_t code[VIEW_POSE_NUMBERS];
        view_pack_pose(&pose, radius, code);
        double component[4], square = 0;
        for (int i = 0, at = 4; i < 4; i++) {
            component[i] = i == code[3] ? 0 : (double)code[at++] * sqrt(2) / 65536;
            square += component[i] * component[i];
        }
        component[code[3]] = sqrt(1 - square);
        quat q = {component[0], component[1], component[2], component[3]};
        v3 off = quat_log(quat_product(quat_conjugate(q), quat_from_matrix(pose.R)));
        cr_assert_lt(v3_norm(off), 1e-4, "turned by %g", v3_norm(off));
        v3 p = v3_scale(radius / 4096, v3_make((double)code[0], (double)code[1], (double)code[2]));
        cr_assert_lt(v3_norm(v3_sub(p, pose.p)), radius / 4096);
    }
}

Test(pages, directions_come_back_within_a_degree) {
    for (int k = 0; k < 2000; k++) {
        double z = cos(0.37 * k), r = sqrt(1 - z * z);
        v3 n = v3_make(r * cos(1.9 * k), r * sin(1.9 * k), z);
        int64_t code[2];
        view_pack_direction(n.x, n.y, n.z, VIEW_NORMAL_STEPS, code);
        double u = (double)code[0] / 127, v = (double)code[1] / 127, w = 1 - fabs(u) - fabs(v);
        v3 back = w >= 0
                      ? v3_make(u, v, w)
                      : v3_make(copysign(1 - fabs(v), u), copysign(1 - fabs(u), v), w); /* the lower half, unfolded */
        cr_assert_gt(v3_dot(back, n), 0.9998 * v3_norm(back));
    }
}

/* ---- contacts ---- */

enum { HEAD = 4, VALUES = 11, COLUMNS = HEAD + VALUES };

typedef struct columns {
    int64_t *item[COLUMNS];
} columns;

static columns read_columns(const view_bytes *bytes) {
    const unsigned char *at = bytes->data;
    columns all;
    for (int c = 0; c < COLUMNS; c++) {
        int count = (int)read_number(&at), order = *at++;
        int64_t *x = all.item[c] = calloc((size_t)count + 2, sizeof *x);
        for (int k = 0; k < count; k++) {
            uint64_t folded = read_number(&at);
            int64_t one = k > 0 ? x[k - 1] : 0, two = k > 1 ? x[k - 2] : 0;
            x[k] = folded & 1 ? -(int64_t)(folded >> 1) - 1 : (int64_t)(folded >> 1);
            x[k] += order == 0 ? 0 : order == 1 ? one : 2 * one - two;
        }
    }
    cr_assert_eq(at, bytes->data + bytes->size);
    return all;
}

/* Balls 1, 2, 3 in a row; which touch which in each frame.  The height of a contact tells which one it is. */
static const int touching[][5][2] = {
    {{0, 1}, {0, 2}, {1, 2}}, {{0, 2}}, {{0, 1}, {0, 2}, {1, 2}, {1, 2}}, {{0}}, {{1, 2}}, {{0, 1}, {1, 2}, {1, 2}}};
static const int counts[] = {3, 1, 4, 0, 1, 3};
enum { FRAMES = sizeof counts / sizeof counts[0] };

/* Of a polygon; the first contact of a frame is a point. */
static double area_of(int frame, int k) { return k == 0 ? 0 : 1e-5 * (1 + frame) * k; }

static void pack_frames(view_contact_packer *packer, const sim_pose *pose) {
    for (int f = 0; f < FRAMES; f++) {
        view_contact contact[5];
        for (int k = 0; k < counts[f]; k++) {
            contact[k] = (view_contact){touching[f][k][0], touching[f][k][1], {0, 0, 0.01 * (10 * f + k)},
                                        {0, 0, 1},         {0, 0, 0.01},      -1e-4,
                                        area_of(f, k)};
        }
        view_frame frame = {.pose = pose, .ncontact = counts[f], .contact = contact};
        cr_assert(view_contact_packer_add(packer, &frame));
    }
}

/* As decode.js does it, in the words of pack_contacts.c. */
static void check_frames(const columns *all, double radius) {
    int before[5][2], nbefore = 0, at = 0, fresh = 0;
    int64_t height[5] = {0}, area[5] = {0};
    for (int f = 0; f < FRAMES; f++) {
        int now[5][2], next = 0;
        int64_t heights[5], areas[5];
        cr_assert_eq(all->item[0][f], counts[f]);
        for (int k = 0; k < counts[f]; k++, at++) {
            int link = (int)all->item[1][at], old = link == 1 ? -1 : next + (link > 1 ? link - 1 : 0);
            cr_assert_lt(old, nbefore);
            now[k][0] = old < 0 ? (int)all->item[2][fresh] : before[old][0];
            now[k][1] = old < 0 ? (int)all->item[3][fresh++] : before[old][1];
            heights[k] = all->item[HEAD + 2][at] + (old < 0 ? 0 : height[old]);
            areas[k] = all->item[HEAD + 10][at] + (old < 0 ? 0 : area[old]);
            double shown = areas[k] > 0 ? radius * radius * exp2((double)areas[k] / 8 - 40) : 0;
            cr_assert_float_eq(shown, area_of(f, k), 0.05 * area_of(f, k), "frame %d, contact %d", f, k);
            next = old < 0 ? next : old + 1;
            cr_assert_eq(now[k][0], touching[f][k][0], "frame %d, contact %d", f, k);
            cr_assert_eq(now[k][1], touching[f][k][1], "frame %d, contact %d", f, k);
            cr_assert_float_eq((double)heights[k] * radius / 512, 0.01 * (10 * f + k), radius / 1000);
        }
        memcpy(before, now, sizeof now);
        memcpy(height, heights, sizeof heights);
        memcpy(area, areas, sizeof areas);
        nbefore = counts[f];
    }
}

Test(pages, contacts_that_come_and_go_are_told_apart) {
    sim_builder *builder = sim_builder_create();
    for (int k = 0; k < 3; k++) {
        sim_body_def def = sim_body_default();
        def.inertia = (sim_inertia){1, {0, 0, 0}, {1, 1, 1, 0, 0, 0}};
        sim_shape shape = sim_shape_default();
        shape.body = sim_builder_add_body(builder, &def);
        shape.type = SIM_SPHERE;
        shape.size[0] = 0.2;
        sim_builder_add_shape(builder, &shape);
    }
    sim_error error;
    sim_model *model = sim_builder_finish(builder, &error);
    cr_assert_not_null(model, "%s", error.text);
    sim_pose pose[4];
    for (int i = 0; i < 4; i++) {
        pose[i] = (sim_pose){m3_identity(), {0, 0, 0}};
    }
    view_sizes sizes;
    cr_assert(view_sizes_find(&sizes, model));
    view_contact_packer *packer = view_contact_packer_create(model, &sizes, 0.01);
    for (int block = 0; block < 2; block++) { /* a block knows nothing of the one before */
        view_bytes bytes = {0};
        pack_frames(packer, pose);
        view_contact_packer_put(packer, &bytes);
        columns all = read_columns(&bytes);
        check_frames(&all, 0.2);
        for (int c = 0; c < COLUMNS; c++) {
            free(all.item[c]);
        }
        view_bytes_free(&bytes);
    }
    view_contact_packer_free(packer);
    view_sizes_free(&sizes);
    sim_model_free(model);
}

/* A table of 2 m that is fixed to the world, and a ball on it. */
Test(pages, marks_are_as_large_as_what_moves_not_as_the_table_below) {
    sim_builder *builder = sim_builder_create();
    for (int k = 0; k < 2; k++) {
        sim_body_def def = sim_body_default();
        def.joint = k ? SIM_FREE : SIM_FIXED;
        def.inertia = (sim_inertia){1, {0, 0, 0}, {1, 1, 1, 0, 0, 0}};
        sim_shape shape = sim_shape_default();
        shape.body = sim_builder_add_body(builder, &def);
        shape.type = SIM_SPHERE;
        shape.size[0] = k ? 0.05 : 2;
        sim_builder_add_shape(builder, &shape);
    }
    sim_error error;
    sim_model *model = sim_builder_finish(builder, &error);
    cr_assert_not_null(model, "%s", error.text);
    view_sizes sizes;
    cr_assert(view_sizes_find(&sizes, model));
    cr_expect_float_eq(sizes.typical, 0.05, 1e-12, "%g m", sizes.typical);
    view_sizes_free(&sizes);
    sim_model_free(model);
}

/* ---- files ---- */

static sim_scene *ball_scene(void) {
    static const char text[] = "{\"sim\": 1, \"name\": \"ball\", \"world\": {\"step\": 0.01}, \"bodies\": ["
                               "{\"name\": \"floor\", \"shapes\": [{\"type\": \"half_space\"}]},"
                               "{\"name\": \"ball\", \"joint\": \"free\", \"pose\": {\"position\": [0, 0, 0.1]},"
                               " \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1, \"density\": 1000}]}]}";
    sim_error error;
    sim_scene *scene = sim_scene_parse(text, strlen(text), "ball.json", NULL, NULL, &error);
    cr_assert_not_null(scene, "%s", error.text);
    return scene;
}

static char *read_all(const char *path, size_t *size) {
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    char *text = calloc(1, 1 << 22);
    *size = fread(text, 1, (1 << 22) - 1, file);
    fclose(file);
    return text;
}

static void write_run(const char *path, const sim_scene *scene, int frames, int finish) {
    sim_error error;
    sim_world *world = sim_world_create(scene->model, &scene->options, &error);
    sim_view *view = sim_view_open(path, scene, &error);
    cr_assert_not_null(view, "%s", error.text);
    for (int k = 0; k < frames; k++) {
        cr_assert_eq(sim_view_write(view, world, &error), SIM_OK);
        cr_assert_eq(sim_world_step(world, &error), SIM_OK);
    }
    if (finish) {
        cr_assert_eq(sim_view_close(view, &error), SIM_OK, "%s", error.text);
    } else {
        sim_view_discard(view);
    }
    sim_world_free(world);
}

Test(pages, stand_in_their_place_when_they_are_whole_and_never_before) {
    char folder[] = "/tmp/sim-pages-XXXXXX", path[64];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run.html", folder);
    FILE *old = fopen(path, "w");
    fputs("what was there", old);
    fclose(old);
    sim_scene *scene = ball_scene();
    size_t size;
    write_run(path, scene, 100, 0);
    char *text = read_all(path, &size);
    cr_assert_str_eq(text, "what was there");
    free(text);
    write_run(path, scene, 100, 1);
    text = read_all(path, &size);
    cr_assert_eq(strncmp(text, "<!doctype html>", 15), 0);
    cr_assert_not_null(strstr(text + size - 20, "</html>"));
    free(text);
    sim_scene_free(scene);
    unlink(path);
    cr_assert_eq(rmdir(folder), 0, "something was left behind");
}

Test(pages, refuse_a_place_that_is_no_file) {
    sim_error error;
    sim_scene *scene = ball_scene();
    cr_assert_null(sim_view_open("/tmp", scene, &error));
    cr_assert_eq(error.status, SIM_NO_RESOURCE);
    cr_assert_null(sim_view_open("/tmp/no such folder/run.html", scene, &error));
    sim_scene_free(scene);
}
