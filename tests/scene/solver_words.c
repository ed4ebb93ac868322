/* A solver and its options in one text: "pgs:max_iterations=100,tolerance=1e-8". */
#include "solver/words.h"
#include "support.h"

#include <criterion/criterion.h>
#include <string.h>

#define WORLD(text) "{'sim': 1, 'world': {" text "}}"

static double option_of(const sim_options *o, const char *name) {
    int k = solver_words_option(o->solver, name, strlen(name));
    cr_assert(k >= 0, "there is no option %s", name);
    return o->solver_option[k];
}

Test(scene_solver_words, takes_options_behind_the_name_of_a_solver_before_those_beside_it) {
    sim_scene *s = load_good("{'sim': 1, 'world': {'solver': 'pgs:cone=pyramid,relaxation=1.5:max_iterations=7', "
                             "'solver_options': {'tolerance': 1e-5, 'relaxation': 1.2}}}");
    cr_assert_str_eq(s->options.solver->name, "pgs");
    cr_assert_eq(option_of(&s->options, "cone"), 1);
    cr_assert_eq(option_of(&s->options, "relaxation"), 1.5);
    cr_assert_eq(option_of(&s->options, "max_iterations"), 7);
    cr_assert_eq(option_of(&s->options, "tolerance"), 1e-5);
    sim_scene_free(s);
}

Test(scene_solver_words, refuses_what_is_no_option_at_its_place) {
    refused(WORLD("'solver':\n'pgs:relaxatoin=1'"), "scene.json:2:1",
            "has no option 'relaxatoin' (did you mean 'relaxation'?)");
    refused(WORLD("'solver':\n'pgs:relaxation=3'"), "scene.json:2:1",
            "option relaxation takes a number from 0.1 to 1.95, not '3'");
    refused(WORLD("'solver':\n'pgs:tolerance=1e-3:max_iterations=7,tolerance=1e-3'"), "scene.json:2:1",
            "pgs: option tolerance is given twice");
    refused(WORLD("'solver':\n'pgs,canal'"), "scene.json:2:1", "one solver is wanted here");
}

Test(scene_solver_words, parts_lists_at_commas_that_no_option_follows) {
    const char *list = "pgs:a=1,b=2:c=3,mncp-rlm,canal:inner=mixed";
    size_t first = solver_words_length(list), second = solver_words_length(list + first + 1);
    cr_assert_eq(first, strlen("pgs:a=1,b=2:c=3"));
    cr_assert_eq(second, strlen("mncp-rlm"));
    cr_assert_eq(solver_words_length(list + first + second + 2), strlen("canal:inner=mixed"));
    cr_assert_eq(solver_words_name(list), 3);
    cr_assert_eq(solver_words_length(""), 0);
}
