/* A text that is no JSON is refused at its place: truncation, encodings, numbers, nesting, doubled keys.  One mistake is
 * one error. */
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(scene_text, refuses_an_empty_file) {
    refused("", "scene.json:1:1", "the text is empty");
    refused(" \n ", "scene.json:2:2", "the text is empty");
}

Test(scene_text, refuses_a_truncated_file_and_names_what_is_open) {
    refused("{'sim': 1,\n 'bodies': [{'name'", "scene.json:2:20", "ends inside the object that opens in line 2");
    refused("{'sim': 1, 'na", "scene.json:1:12", "never closed");
}

Test(scene_text, refuses_trailing_garbage) { refused("{'sim': 1}\n}", "scene.json:2:1", "unexpected text after"); }

Test(scene_text, refuses_a_byte_order_mark_and_other_encodings) {
    refused("\xef\xbb\xbf{'sim': 1}", "scene.json:1:1", "byte-order mark");
    refused("\xff\xfe{", "scene.json:1:1", "UTF-16");
    refused("{'sim': 1, 'name': 'caf\xe9'}", "scene.json:1:24", "not UTF-8: byte 0xe9");
    refused("{'sim': 1, 'name': '\xc0\xaf'}", "scene.json:1:21", "not UTF-8: byte 0xc0");
    refused("{'sim': 1, 'name': '\xed\xa0\x80'}", "scene.json:1:21", "not UTF-8: byte 0xed");
}

Test(scene_text, counts_columns_in_characters) {
    refused("{'sim': 1, 'name': '\xc3\xa9\xc3\xa9', 'x': 1}", "scene.json:1:26", "unknown key \"x\"");
}

Test(scene_text, refuses_what_is_no_json) {
    refused("{'sim': 1,}", "scene.json:1:11", "one too many");
    refused("{'sim': 01}", "scene.json:1:9", "does not begin with 0");
    refused("{'sim': 1.}", "scene.json:1:9", "digits must follow the point");
    refused("{'sim': NaN}", "scene.json:1:9", "numbers are finite");
    refused("{'sim': 1 // one\n}", "scene.json:1:11", "expected ',' or '}'");
    refused("// a scene\n{}", "scene.json:1:1", "no comments");
    refused("{'sim': 1, name: 'x'}", "scene.json:1:12", "key in double quotes");
    refused("{'sim' 1}", "scene.json:1:8", "expected ':'");
    refused("{'name': 'a\nb'}", "scene.json:1:12", "end of its line");
    refused("{'name': 'a\\x'}", "scene.json:1:12", "unknown escape");
    refused("{'name': '\\ud800'}", "scene.json:1:11", "surrogate");
    refused("{'name': '\\u0000'}", "scene.json:1:11", "\\u0000");
    refused("{'sim': 1.000000000000000000000000000000000000000000000000000000000000000001}", "scene.json:1:9",
            "more than 60 characters");
}

Test(scene_text, refuses_numbers_beyond_a_double) {
    refused("{'sim': 1, 'world': {\n'step': 1e999}}", "scene.json:2:9", "/world/step: a number beyond the range");
}

Test(scene_text, refuses_deep_nesting_before_it_hurts) {
    size_t depth = 1000000;
    char *text = malloc(depth + 1);
    memset(text, '[', depth);
    text[depth] = 0;
    refused(text, "scene.json:1:65", "nested more than 64 deep");
    free(text);
}

Test(scene_text, refuses_a_zero_byte) {
    sim_diagnostics found;
    cr_assert_null(sim_scene_parse("{\"sim\"\0: 1}", 11, "scene.json", NULL, &found, NULL));
    cr_assert_str_eq(found.item[0].message, "a zero byte in the text");
    cr_assert_eq(found.item[0].column, 7);
    sim_diagnostics_free(&found);
}

Test(scene_text, refuses_a_key_that_stands_twice) {
    refused("{'sim': 1,\n 'world': {},\n 'world': {}}", "scene.json:3:2", "occurs twice (first at scene.json:2)");
    refused("{'sim': 1, 'w\\u006frld': {}, 'world': {}}", "scene.json:1:30", "occurs twice");
}

Test(scene_keys, many_doubled_keys_take_no_time, .timeout = 20) {
    const size_t KEYS = (size_t)part_of(200000);
    char *text = calloc(KEYS, 7);
    cr_assert_not_null(text);
    for (size_t i = 0; i < KEYS; i++) {
        memcpy(text + 6 * i, i ? ",\"k\":1" : "{\"k\":1", 6);
    }
    text[6 * KEYS] = '}';
    sim_diagnostics found;
    sim_error error;
    cr_expect_null(sim_scene_parse(text, 6 * KEYS + 1, NULL, NULL, &found, &error));
    cr_expect_eq(found.count, 20);
    sim_diagnostics_free(&found);
    free(text);
}

/* ---- one mistake, one error ---- */

/* Nearly every list of a scene, and references to each of its names. */
static const char *const many_keys =
    "{'sim':1,'world':{'step':0.01,'duration':0.5,'start':'k','gravity':[0,0,-9],'law':{'push':0.1},'solver':'pgs','"
    "solver_options':{'max_iterations':9}},\n"
    "'materials':[{'name':'wood','friction':0.5},{'name':'ice'}],'material_pairs':[{'first':'wood','second':'ice','"
    "friction':0.1}],\n"
    "'models':{'m':{'bodies':[{'name':'q','joint':'free','shapes':[{'type':'sphere','radius':0.1,'density':1}]}]}},\n"
    "'instances':[{'model':'m','prefix':'i_','pose':{'position':[5,0,0]}}],\n"
    "'bodies':[{'name':'a','joint':{'type':'hinge','axis':[0,0,1]},'sites':[{'name':'tip','pose':{'position':[1,0,0]}}]"
    ",\n"
    "'shapes':[{'type':'box','size':[1,1,1],'density':1,'material':'wood'}]},\n"
    "{'name':'b','parent':'a','joint':{'type':'hinge','range':[-1,1]},'inertia':{'mass':1,'moments':[1,1,1]}}],\n"
    "'actuators':[{'joint':'b','name':'m','gear':2},{'tendon':'t','name':'n'}],\n"
    "'tendons':[{'name':'t','joints':[{'joint':'a','coefficient':1}]}],\n"
    "'keyframes':[{'name':'k','initial':{'a':{'q':0.1}},'ctrl':{'m':1}}],\n"
    "'sensors':[{'name':'s','type':'joint_position','joint':'b'},{'name':'t','type':'accelerometer','site':'tip'},\n"
    "{'name':'f','type':'actuator_force','actuator':'m'},{'name':'l','type':'tendon_length','tendon':'t'}],\n"
    "'loads':[{'body':'i_q','force':[0,0,1]}],'exclusions':[{'first':'a','second':'i_q'}],\n"
    "'constraints':[{'type':'distance','first':'a','second':'b','first_point':[1,0,0],'distance':1}],\n"
    "'record':{'every':1,'signals':['energy'],'points':[{'name':'p','body':'a'}]},'cameras':[{'name':'c','position':[1,"
    "1,1],'target':[0,0,0]}]}\n";

/* Each key in turn is misspelt: other places that rest on it, such as references to a name, add no error. */
Test(error_text, a_misspelt_key_is_one_error) {
    sim_scene_free(load_good(many_keys));
    for (const char *c = strstr(many_keys, "':"); c; c = strstr(c + 1, "':")) {
        char text[2500];
        size_t before = (size_t)(c - many_keys), length = strlen(many_keys);
        cr_assert(length + 2 <= sizeof text);
        memcpy(text, many_keys, before);
        text[before] = 'x';
        memcpy(text + before + 1, c, length - before + 1);
        sim_diagnostics found;
        sim_scene *scene = load_text(text, NULL, NULL, &found, NULL);
        cr_assert(!scene && found.count == 1, "%d errors with \"%.*sx\"", found.count, (int)(c - many_keys), many_keys);
        sim_diagnostics_free(&found);
    }
}

Test(error_text, names_the_unit_and_the_place_of_what_is_no_number) {
    refused("{'sim': 1, 'world': {\n'step': 'x'}}", "scene.json:2:9",
            "/world/step: expected a number in s, not a text");
    refused("{'sim': 1, 'world': {\n'gravity': [1, 2]}}", "scene.json:2:12",
            "/world/gravity: expected an array of 3 numbers in m/s^2, not of 2");
    refused("{'sim': 1, 'world': {\n'gravity': [0, NaN, 0]}}", "scene.json:2:16",
            "/world/gravity/1: not a JSON value: numbers are finite");
    refused("{'sim': 1, 'world': {'a/b': {'c~': [[1, 2], [\n-Infinity]]}}}", "scene.json:2:1",
            "/world/a~1b/c~0/1/0: digits must follow the sign of a number");
}

Test(error_text, warns_of_a_signal_that_is_listed_twice) {
    warned("{'sim': 1, 'record': {'signals': ['energy', 'poses', 'energy']}}",
           "/record/signals/2: \"energy\" is listed twice");
}
