/* Numbers at the ends of the range of a double: written shortly, refused by name, and never waited for: a test that
 * takes longer than its minute is a failure. */
#include "scene/json/text.h"
#include "scene/json/writer.h"
#include "support.h"
#include "support/models.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The shortest text of numbers at both ends of the range: what divides by ten until nothing is left must end. */
Test(scene_numbers, writes_numbers_of_any_size) {
    static const struct {
        double number;
        const char *text;
    } due[] = {{5e-324, "5e-324"},   {-5e-324, "-5e-324"}, {1e-315, "1e-315"}, {4.2e-320, "4.2e-320"},
               {1e-309, "1e-309"},   {1e-300, "1e-300"},   {0, "0"},           {1e9, "1e9"},
               {-3e15, "-3e15"},     {1e16, "1e+16"},      {1e308, "1e+308"},  {999999999, "999999999"},
               {1.5e9, "1500000000"}};
    for (size_t k = 0; k < sizeof due / sizeof *due; k++) {
        cr_expect_str_eq(number_digits(due[k].number).text, due[k].text);
    }
}

Test(scene_numbers, writes_a_zero_without_its_sign) {
    json_writer w = {0};
    writer_put_numbers(&w, NULL, 2, (const double[]){-0.0, -1});
    cr_expect_str_eq(w.out.start, "[0, -1]");
    writer_free(&w);
}

Test(scene_numbers, refuses_numbers_next_to_nothing) {
    refused("{'sim': 1, 'world': {\n'tolerance': -5e-324}}", "scene.json:2:14", "-5e-324");
    refused("{'sim': 1, 'world': {\n'step': -1e-316}}", "scene.json:2:9", "-1e-316");
}

/* Each number of a scene in turn replaced by those at the ends of the range: every load comes back, with a reason if it
 * refuses. */
Test(scene_numbers, comes_back_from_any_number_at_the_ends_of_the_range) {
    static const char *const scene =
        "{'sim': 1, 'world': {'step': 0.001, 'duration': 1, 'gravity': [0, 0, -9.81], 'tolerance': 1e-9, 'seed': 3,"
        "'law': {'beta': 1, 'sigma': 0.001, 'push': 0.2}}, 'materials': [{'name': 'm', 'friction': 0.5, 'restitution': "
        "0.1}],"
        "'bodies': [{'name': 'a', 'pose': {'position': [0, 0, 1], 'axis_angle': [0, 0, 1, 0.5]}, 'joint': {'type': "
        "'hinge',"
        "'axis': [0, 0, 1], 'damping': 0.1, 'armature': 0.01, 'range': [-1, 1]}, 'q': 0.1, 'v': 0.2, 'shapes': "
        "[{'type':"
        "'sphere', 'radius': 0.1, 'density': 1000, 'material': 'm'}]}, {'name': 'b', 'joint': 'free', 'inertia': "
        "{'mass': 1,"
        "'moments': [1, 1, 1], 'com': [0, 0, 0.1]}, 'shapes': [{'type': 'box', 'size': [0.1, 0.2, 0.3]}, {'type': "
        "'capsule',"
        "'radius': 0.1, 'length': 0.4}]}], 'record': {'every': 1}, 'cameras': [{'name': 'c', 'position': [1, 1, 1], "
        "'target':"
        "[0, 0, 0], 'fov': 0.8}]}";
    static const char *const edge[] = {"5e-324", "-5e-324", "1e-315", "-1e-310", "2.3e-308", "1e9",
                                       "-1e9",   "1e16",    "1e300",  "-1e308",  "1e308"};
    int replaced = 0, refusals = 0;
    sim_scene_free(load_good(scene));
    for (const char *at = scene; *at; at++) {
        size_t length = strspn(at, "-0123456789.e");
        if (!length || !strchr(" [:,", at[-1]) || !strchr("],} ", at[length])) {
            continue;
        }
        for (size_t k = 0; k < sizeof edge / sizeof *edge; k++) {
            char made[2000];
            sim_error error = {0};
            sim_diagnostics found;
            snprintf(made, sizeof made, "%.*s%s%s", (int)(at - scene), scene, edge[k], at + length);
            sim_scene *loaded = load_text(made, NULL, NULL, &found, &error);
            cr_expect(loaded || strstr(error.text, "scene.json:1:"), "%s", error.text);
            refusals += loaded == NULL;
            sim_scene_free(loaded);
            sim_diagnostics_free(&found);
            replaced++;
        }
        at += length - 1;
    }
    cr_expect(replaced > 400 && refusals > 100 && refusals < replaced, "%d of %d", refusals, replaced);
}

static void is_shortest(double number) {
    char due[40] = "";
    if (number == floor(number) && fabs(number) < 1e16) {
        return; /* these have no exponent before 1e9 */
    }
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(due, sizeof due, "%.*g", precision, number);
        if (strtod(due, NULL) == number) {
            break;
        }
    }
    cr_expect_str_eq(number_digits(number).text, due);
}

/* Against all precisions in turn: decimals of few digits, random bits, numbers without a full mantissa. */
Test(scene_numbers, stand_in_their_shortest_digits) {
    random_source r = {5};
    for (int k = 0; k < 20000; k++) {
        double scale = pow(10, random_index(&r, 40) - 20), plain = random_index(&r, 100000) + 0.5;
        is_shortest(plain * scale);
        is_shortest(random_uniform(&r, -1, 1) * pow(10, random_index(&r, 600) - 300));
        is_shortest(k / 255.0);
        is_shortest(ldexp(random_uniform(&r, -1, 1), -1060));
    }
}

/* Repeated, of one place among the kept ones, zeros of both signs: a long list is what its numbers are one by one. */
Test(scene_numbers, of_long_lists_stand_as_each_alone) {
    enum { COUNT = 6000 };
    static double number[COUNT];
    random_source r = {9};
    json_writer list = {0};
    text alone = {0};
    for (int k = 0; k < COUNT; k++) {
        number[k] = random_index(&r, 700) / 255.0;
        number[k] = k % 7 ? number[k] : k % 2 ? -0.0 : 0.0;
        text_add(&alone, k ? ", " : "[");
        text_add_number(&alone, number[k] + 0.0);
    }
    text_add(&alone, "]");
    writer_put_numbers(&list, NULL, COUNT, number);
    cr_assert_str_eq(list.out.start, alone.start);
    writer_free(&list);
    free(alone.start);
}
