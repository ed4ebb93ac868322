/* A text that is no JSON is refused at its place: truncation, encodings, numbers, nesting, doubled keys. */
#include "support.h"

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
    enum { KEYS = 200000 };
    char *text = calloc(KEYS, 7);
    cr_assert_not_null(text);
    for (int i = 0; i < KEYS; i++) {
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
