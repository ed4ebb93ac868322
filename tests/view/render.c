/* Pictures of things whose places on the picture are known. */
#include "view/render/render.h"
#include "view/image/png.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { WIDTH = 320, HEIGHT = 240 };
static const double pi = 3.14159265358979323846;
static unsigned char rgb[3 * WIDTH * HEIGHT];

/* Draws the start of a scene of these bodies, from the camera. */
static void draw(const char *bodies, const char *camera, int threads, int marks) {
    char text[6000];
    sim_error error = {0};
    snprintf(text, sizeof text, "{\"sim\": 1, \"world\": {\"step\": 0.01}, \"bodies\": [%s], \"cameras\": [%s]}",
             bodies, camera);
    sim_scene *scene = sim_scene_parse(text, strlen(text), "test.json", NULL, NULL, &error);
    cr_assert_not_null(scene, "%s", error.text);
    sim_world *world = sim_world_create(scene->model, &scene->options, &error);
    cr_assert_not_null(world, "%s", error.text);
    render_wish wish = {.width = WIDTH, .height = HEIGHT, .threads = threads, .contacts = marks, .forces = marks};
    render *r = render_create(scene, &wish, &error);
    cr_assert_not_null(r, "%s", error.text);
    view_contact contact = {0, 1, {0, 0, 0.5}, {0, 0, -1}, {0, 0, -50}, 0, 0};
    view_frame frame = {.pose = sim_world_derived(world)->pose, .ncontact = marks, .contact = &contact};
    view_extent extent = view_extent_empty();
    render_lens lens;
    view_extent_add(&extent, scene->model, frame.pose);
    cr_assert_eq(render_lens_choose(r, NULL, &extent, &lens, &error), SIM_OK);
    cr_assert_eq(render_picture(r, &frame, &extent, &lens, rgb, &error), SIM_OK);
    render_free(r);
    sim_world_free(world);
    sim_scene_free(scene);
}

static const unsigned char *pixel(int x, int y) { return rgb + 3 * (y * WIDTH + x); }
static int is_red(int x, int y) { return pixel(x, y)[0] > 2 * pixel(x, y)[2] + 10; }

/* Of the red pixels: columns and rows, ends included. */
typedef struct border {
    int left, right, top, bottom, count;
} border;

static border red(void) {
    border b = {WIDTH, -1, HEIGHT, -1, 0};
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            if (is_red(x, y)) {
                b.left = x < b.left ? x : b.left;
                b.right = x > b.right ? x : b.right;
                b.top = y < b.top ? y : b.top;
                b.bottom = y > b.bottom ? y : b.bottom;
                b.count++;
            }
        }
    }
    return b;
}

#define RED ", \"color\": [0.9, 0.1, 0.1]"
#define BALL(place)                                                                                                    \
    "{\"name\": \"ball\", \"pose\": {\"position\": " place                                                             \
    "}, \"joint\": \"free\", \"shapes\": [{\"type\": \"sphere\", "                                                     \
    "\"radius\": 0.5, \"density\": 1000" RED "}]}"
#define GROUND "{\"name\": \"ground\", \"shapes\": [{\"type\": \"half_space\"}]}"
#define AHEAD "{\"name\": \"ahead\", \"position\": [0, -4, 3], \"target\": [0, 0, 3], \"fov_deg\": 40}"

Test(render, a_ball_is_a_disc_of_the_size_that_geometry_says) {
    draw(BALL("[0, 0, 3]"), AHEAD, 1, 0);
    double focal = HEIGHT / 2.0 / tan(20 * pi / 180), radius = focal * 0.5 / sqrt(4 * 4 - 0.5 * 0.5);
    border b = red();
    cr_assert_float_eq(b.right - b.left + 1, 2 * radius, 1.5);
    cr_assert_float_eq(b.bottom - b.top + 1, 2 * radius, 1.5);
    cr_assert_float_eq((b.left + b.right + 1) / 2.0, WIDTH / 2.0, 0.75);
    cr_assert_float_eq((b.top + b.bottom + 1) / 2.0, HEIGHT / 2.0, 0.75);
    cr_assert_float_eq(b.count, pi * radius * radius, 0.03 * pi * radius * radius);
}

Test(render, a_box_stands_where_its_corners_project) {
    draw("{\"name\": \"box\", \"pose\": {\"position\": [0.7, 1, 3.4]}, \"joint\": \"free\", \"shapes\": [{\"type\": "
         "\"box\", "
         "\"size\": [0.6, 1, 0.4], \"density\": 1000" RED "}]}",
         AHEAD, 1, 0);
    double focal = HEIGHT / 2.0 / tan(20 * pi / 180); /* the near face at y = 0.5, the far one at 1.5 */
    border b = red();
    cr_assert_float_eq(b.left, WIDTH / 2.0 + focal * 0.4 / 5.5, 1.2);
    cr_assert_float_eq(b.right + 1, WIDTH / 2.0 + focal * 1.0 / 4.5, 1.2);
    cr_assert_float_eq(b.top, HEIGHT / 2.0 - focal * 0.6 / 4.5, 1.2);
    cr_assert_float_eq(b.bottom + 1, HEIGHT / 2.0 - focal * 0.2 / 5.5, 1.2);
}

Test(render, what_is_behind_the_camera_or_another_body_is_not_seen) {
    draw(BALL("[0, -8, 3]"), AHEAD, 1, 0);
    cr_assert_eq(red().count, 0);
    draw(BALL("[0, 0, 3]") ", {\"name\": \"wall\", \"pose\": {\"position\": [0, -2, 3]}, \"shapes\": [{\"type\": "
                           "\"box\", "
                           "\"size\": [1, 0.1, 1], \"color\": [0.1, 0.2, 0.9]}]}",
         AHEAD, 1, 0);
    cr_assert_eq(red().count, 0);
    cr_assert_gt(pixel(WIDTH / 2, HEIGHT / 2)[2], 2 * pixel(WIDTH / 2, HEIGHT / 2)[0]);
}

Test(render, a_box_around_the_camera_is_cut_open_not_scattered) {
    draw("{\"name\": \"room\", \"pose\": {\"position\": [0, -3, 3]}, \"shapes\": [{\"type\": \"box\", \"size\": [4, 9, "
         "4]" RED "}]}",
         AHEAD, 1, 0);
    cr_assert_eq(red().count, WIDTH * HEIGHT);
}

/* Seen from above, the sun over (-1/2, -1/2, 1). */
Test(render, a_shadow_falls_where_the_sun_throws_it) {
    draw(GROUND ", " BALL("[0, 0, 2]"),
         "{\"name\": \"above\", \"position\": [0, -0.001, 10], \"target\": [0, 0, 0], \"fov_deg\": 40}", 1, 0);
    double focal = HEIGHT / 2.0 / tan(20 * pi / 180);
    int x = (int)(WIDTH / 2.0 + focal * 1.0 / 10), y = (int)(HEIGHT / 2.0 - focal * 1.0 / 10);
    int lit_x = (int)(WIDTH / 2.0 - focal * 1.03 / 10), lit_y = (int)(HEIGHT / 2.0 + focal * 1.03 / 10);
    cr_assert_lt(pixel(x, y)[1] + 40, pixel(lit_x, lit_y)[1], "%d in the shadow, %d in the sun", pixel(x, y)[1],
                 pixel(lit_x, lit_y)[1]);
    cr_assert_gt(pixel(lit_x, lit_y)[1], 200);
}

Test(render, the_ground_reaches_to_the_horizon_and_the_sky_begins_above) {
    draw(GROUND ", " BALL("[0, 0, 4]"), "{\"name\": \"level\", \"position\": [0, -4, 1], \"target\": [0, 0, 1]}", 1, 0);
    const unsigned char *sky = pixel(10, 5);
    cr_assert(sky[0] == 0xe9 && sky[1] == 0xed && sky[2] == 0xf1, "%02x%02x%02x", sky[0], sky[1], sky[2]);
    cr_assert_arr_eq(pixel(200, HEIGHT / 2 - 3), sky, 3);
    int other = 0;
    for (int x = 0; x < WIDTH; x++) {
        other += memcmp(pixel(x, HEIGHT - 10), sky, 3) != 0;
    }
    cr_assert_gt(other, WIDTH * 9 / 10);
}

/* A string between two places that are 1.6 m apart, over a post that lifts its middle by 0.3 m. */
Test(render, a_tendon_is_a_rod_along_its_course) {
    const double scale = HEIGHT / 2.0 / tan(20 * pi / 180) / 4; /* pixels a metre, 4 m away */
    for (int over = 0; over < 2; over++) {
        char tendons[600];
        snprintf(tendons, sizeof tendons,
                 AHEAD "], \"tendons\": [{\"name\": \"string\", \"width\": 0.1, \"path\": [\"left\", %s\"right\"]" RED
                       "}",
                 over ? "{\"around\": \"post\", \"side\": \"top\"}, " : "");
        draw("{\"name\": \"post\", \"shapes\": [{\"name\": \"post\", \"type\": \"cylinder\", \"radius\": 0.3, "
             "\"length\": 1, \"use\": \"contact\", \"pose\": {\"position\": [0, 0, 3], \"rpy_deg\": [90, 0, 0]}}], "
             "\"sites\": [{\"name\": \"left\", \"pose\": {\"position\": [-0.8, 0, 3]}}, {\"name\": \"top\", \"pose\": "
             "{\"position\": [0, 0, 4]}}]}, {\"name\": \"slide\", \"joint\": {\"type\": \"slider\", \"axis\": [1, 0, "
             "0]}, \"inertia\": {\"mass\": 1, \"moments\": [1, 1, 1]}, \"sites\": [{\"name\": \"right\", \"pose\": "
             "{\"position\": [0.8, 0, 3]}}]}",
             tendons, 1, 0);
        border b = red();
        double rise = over ? 0.3 : 0;
        cr_expect_float_eq(b.right - b.left + 1, (1.6 + 0.05) * scale, 2);
        cr_expect_float_eq(HEIGHT / 2.0 - b.top, (rise + 0.05) * scale, 1.5, "%d", b.top);
        cr_expect_float_eq(b.bottom - HEIGHT / 2.0, 0.05 * scale, 1.5, "%d", b.bottom);
        /* thin in its middle */
        cr_expect(is_red(WIDTH / 2, (int)(HEIGHT / 2.0 - rise * scale)) &&
                  !is_red(WIDTH / 2, (int)(HEIGHT / 2.0 - (rise - 0.1) * scale)));
    }
}

Test(render, the_same_bits_come_out_every_time_for_any_number_of_threads) {
    static unsigned char first[sizeof rgb];
    draw(GROUND ", " BALL("[0, 0, 3]"), AHEAD, 1, 1);
    memcpy(first, rgb, sizeof first);
    for (int threads = 1; threads < 5; threads++) {
        memset(rgb, 0, sizeof rgb);
        draw(GROUND ", " BALL("[0, 0, 3]"), AHEAD, threads, 1);
        cr_assert_arr_eq(rgb, first, sizeof first, "%d threads", threads);
    }
}

/* 5000 N, about the ball's weight, upwards from (0, 0, 1/2), inside it: blue over half a metre where otherwise red
 * is. */
Test(render, contacts_and_forces_are_seen_through_bodies) {
    static const char camera[] = "{\"name\": \"ahead\", \"position\": [0, -4, 0.5], \"target\": [0, 0, 0.5]}";
    draw(GROUND ", " BALL("[0, 0, 0.5]"), camera, 1, 0);
    cr_assert(is_red(WIDTH / 2, HEIGHT / 2));
    draw(GROUND ", " BALL("[0, 0, 0.5]"), camera, 1, 1);
    const unsigned char *dot = pixel(WIDTH / 2, HEIGHT / 2);
    cr_assert_gt(dot[2], dot[0] + 40, "%d %d %d", dot[0], dot[1], dot[2]);
    int up = (int)(HEIGHT / 2.0 / tan(20 * pi / 180) * 0.2 / 4);
    cr_assert(!is_red(WIDTH / 2, HEIGHT / 2 - up) && !is_red(WIDTH / 2, HEIGHT / 2 - 2 * up));
    cr_assert(is_red(WIDTH / 2, HEIGHT / 2 + up));
}

/* Grey as the scene's, or as a program's, default once was; without a colour, that of its tree. */
Test(render, a_colour_that_was_given_is_taken_whatever_it_is) {
    static const char *const grey[] = {"0.7, 0.7, 0.7", "0.6, 0.6, 0.6", "0.7, 0.7, 0.7, 1"};
    char body[400];
    for (int k = 0; k < 4; k++) {
        snprintf(
            body, sizeof body,
            "{\"name\": \"ball\", \"pose\": {\"position\": [0, 0, 3]}, \"joint\": \"free\", \"shapes\": [{\"type\": "
            "\"sphere\", \"radius\": 0.5, \"density\": 1000%s%s%s}]}",
            k < 3 ? ", \"color\": [" : "", k < 3 ? grey[k] : "", k < 3 ? "]" : "");
        draw(body, AHEAD, 1, 0);
        const unsigned char *p = pixel(WIDTH / 2, HEIGHT / 2);
        int spread = abs(p[0] - p[2]);
        cr_assert(k < 3 ? spread < 12 : spread > 40, "%d: %d %d %d", k, p[0], p[1], p[2]);
    }
}

/* A body of this shape in the middle of the picture, turned about x by so much. */
static void draw_turned(const char *shape, double degrees) {
    char body[3600];
    snprintf(body, sizeof body,
             "{\"name\": \"one\", \"pose\": {\"position\": [0, 0, 3], \"rpy_deg\": [%g, 0, 0]}, \"joint\": \"free\", "
             "\"shapes\": [{%s, \"density\": 1000, \"color\": [0.8, 0.8, 0.8]}]}",
             degrees, shape);
    draw(body, AHEAD, 1, 0);
}

/* Pixels that differ by more than what facets and rounding make of a turn. */
static int changed_by_turn(const char *shape, double degrees) {
    static unsigned char before[sizeof rgb];
    int count = 0;
    draw_turned(shape, 0);
    memcpy(before, rgb, sizeof before);
    draw_turned(shape, degrees);
    for (size_t k = 0; k < sizeof rgb; k += 3) {
        count += abs(rgb[k] - before[k]) > 8;
    }
    return count;
}

/* Half of a disc of radius 1/2 at 4 m, 1300 pixels, changes from light to dark or back. */
Test(render, what_is_round_is_seen_to_turn) {
    cr_expect_gt(changed_by_turn("\"type\": \"sphere\", \"radius\": 0.5", 90), 1000);
    cr_expect_gt(changed_by_turn("\"type\": \"sphere\", \"radius\": 0.5", 45), 600);
    cr_expect_gt(changed_by_turn("\"type\": \"ellipsoid\", \"radii\": [0.3, 0.5, 0.5]", 90), 600);
}

static double linear_at(int x, int y) { return pow((pixel(x, y)[0] / 255.0 + 0.055) / 1.055, 2.4); }

/* Light on a circle about the middle of the picture, of the darker pair of opposite quarters over the other.  Each is a
 * mean of 12 pixels; rounding to 8 bits is up to 1 % of each, the maps of the sky's light differ by 3 % from place to
 * place. */
static double light_around(const char *shape) {
    enum { PLACES = 24 };
    double light[2] = {0};
    draw_turned(shape, 90);
    for (int k = 0; k < PLACES; k++) {
        double angle = 2 * pi * (k + 0.5) / PLACES;
        light[k / 6 % 2] += linear_at((int)(WIDTH / 2 + 20 * cos(angle)), (int)(HEIGHT / 2 + 20 * sin(angle)));
    }
    return fmin(light[0], light[1]) / fmax(light[0], light[1]);
}

#define CYLINDER(length) "\"type\": \"cylinder\", \"radius\": 0.5, \"length\": " #length

/* Seen along the axis: 26 % less in every other sector of wheels, 10 % of rods. */
Test(render, sectors_are_as_dark_as_on_pages_and_boxes_have_none) {
    cr_expect_float_eq(light_around(CYLINDER(0.3)), 0.74, 0.02);
    cr_expect_float_eq(light_around(CYLINDER(1.3)), 0.90, 0.02);
    cr_expect_float_eq(light_around("\"type\": \"box\", \"size\": [0.8, 0.8, 0.3]"), 1, 0.02);
    cr_expect_eq(changed_by_turn("\"type\": \"box\", \"size\": [0.6, 0.6, 0.6]", 90), 0);
}

/* Prisms of 24 and of 6 sides, as hulls: one is about as wide all around, the other is not. */
Test(render, hulls_have_sectors_if_they_are_round) {
    for (int sides = 6; sides <= 24; sides += 18) {
        char shape[2600];
        size_t used = (size_t)snprintf(shape, sizeof shape, "\"type\": \"convex\", \"points\": [");
        for (int k = 0; k < 2 * sides; k++) {
            double angle = 2 * pi * (k % sides) / sides;
            used += (size_t)snprintf(shape + used, sizeof shape - used, "%s[%.6f, %.6f, %g]", k ? ", " : "",
                                     0.5 * cos(angle), 0.5 * sin(angle), k < sides ? -0.1 : 0.1);
        }
        snprintf(shape + used, sizeof shape - used, "]");
        cr_expect_float_eq(light_around(shape), sides == 24 ? 0.74 : 1, 0.02, "%d sides", sides);
    }
}

Test(render, a_camera_that_is_not_there_is_named) {
    draw(BALL("[0, 0, 3]"), "", 1, 0); /* none: all that moves is seen */
    border b = red();
    cr_assert(b.count > 1000 && b.left > 0 && b.top > 0 && b.right < WIDTH - 1 && b.bottom < HEIGHT - 1);
}

/* ---- PNG ---- */

static unsigned long number(const unsigned char *b) {
    return (unsigned long)b[0] << 24 | (unsigned long)b[1] << 16 | (unsigned long)b[2] << 8 | b[3];
}

static int paeth(int a, int b, int c) {
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/* As any reader does it. */
static void decode(const unsigned char *png, size_t size, int width, int height, unsigned char *out) {
    static unsigned char raw[(3 * WIDTH + 1) * HEIGHT];
    uLong length = sizeof raw;
    cr_assert_eq(memcmp(png, "\x89PNG\r\n\x1a\n", 8), 0);
    cr_assert(number(png + 16) == (unsigned)width && number(png + 20) == (unsigned)height);
    size_t at = 8;
    int ended = 0;
    while (at < size) {
        unsigned long bytes = number(png + at);
        cr_assert_eq(crc32(0, png + at + 4, (uInt)(bytes + 4)), number(png + at + 8 + bytes));
        if (memcmp(png + at + 4, "IDAT", 4) == 0) {
            cr_assert_eq(uncompress(raw, &length, png + at + 8, bytes), Z_OK);
        }
        ended = memcmp(png + at + 4, "IEND", 4) == 0;
        at += bytes + 12;
    }
    cr_assert(at == size && ended && length == (uLong)(3 * width + 1) * (uLong)height);
    for (int y = 0; y < height; y++) {
        const unsigned char *row = raw + y * (3 * width + 1);
        for (int k = 0; k < 3 * width; k++) {
            unsigned char *here = out + y * 3 * width + k;
            int a = k < 3 ? 0 : here[-3], b = y ? here[-3 * width] : 0, c = k < 3 || !y ? 0 : here[-3 * width - 3];
            int guess = row[0] == 0   ? 0
                        : row[0] == 1 ? a
                        : row[0] == 2 ? b
                        : row[0] == 3 ? (a + b) / 2
                                      : paeth(a, b, c);
            *here = (unsigned char)(row[k + 1] + guess);
        }
    }
}

Test(png, a_picture_survives_to_the_bit) {
    static unsigned char in[3 * WIDTH * HEIGHT], out[3 * WIDTH * HEIGHT];
    static const int size[][2] = {{1, 1}, {2, 3}, {WIDTH, HEIGHT}, {7, 1}};
    unsigned seed = 5;
    for (size_t k = 0; k < sizeof in; k++) {
        seed = seed * 1664525u + 1013904223u;
        in[k] = (unsigned char)(k / 900 % 3 ? k / 7 : seed >> 24);
    }
    for (int s = 0; s < 4; s++) {
        unsigned char *bytes;
        size_t length;
        sim_error error;
        cr_assert_eq(png_encode(in, size[s][0], size[s][1], &bytes, &length, &error), SIM_OK);
        decode(bytes, length, size[s][0], size[s][1], out);
        cr_assert_arr_eq(out, in, 3 * (size_t)(size[s][0] * size[s][1]));
        free(bytes);
    }
}
