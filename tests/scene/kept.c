/* Text of a scene that is kept, and its hash. */
#include "record/run/fingerprint.h"
#include "support.h"

#include <criterion/criterion.h>
#include <string.h>

#define MASS "'inertia': {'mass': 1, 'moments': [1, 1, 1]}"

/* The kept text loads as that scene, without a word from the command line. */
static void is_what_was_loaded(const char *text, const sim_scene_overrides *overrides) {
    sim_error error;
    sim_scene *s = load_text(text, NULL, overrides, NULL, &error);
    cr_assert(s, "%s", error.text);
    sim_scene *again = sim_scene_parse(s->text, s->text_length, NULL, NULL, NULL, &error);
    cr_assert(again, "%s", error.text);
    cr_expect_str_eq(s->hash, again->hash);
    cr_expect_str_eq(s->text, again->text);
    cr_expect_eq(fingerprint_of(s->model, &s->options), fingerprint_of(again->model, &again->options), "%s", s->text);
    cr_expect_arr_eq(s->model->q_initial, again->model->q_initial, (size_t)s->model->nq * sizeof(double));
    cr_expect(s->options.step == again->options.step && s->options.integrator == again->options.integrator);
    cr_expect(s->duration == again->duration && s->seed == again->seed && s->record.every == again->record.every);
    sim_scene_free(again);
    sim_scene_free(s);
}

Test(scene_kept, the_text_that_is_kept_is_that_of_what_was_loaded) {
    const char *plain[] = {"world/step=0.3333333333333333", "world/duration=1e-9", "record/every=7",
                           "/bodies/a/inertia/mass=0.1"};
    const char *made[] = {"bodies/0/joint/damping=2",
                          "models/m/bodies/0/pose={\"position\": [0.1, 2e-300, -0.0]}",
                          "world/gravity=[0, 1e-7, -9.80665]",
                          "name=a \"quoted\" \\ name\twith \xc3\xa9",
                          "bodies/a/comment=x",
                          "world/contacts=false"};
    uint64_t seed = 9007199254740992;
    const char *text =
        "{'sim': 1, 'models': {'m': {'bodies': [{'name': 'b', 'joint': 'free', " MASS "}]}}, 'bodies': [{'name': 'a', "
        "'joint': 'hinge', 'q': [1e-320], " MASS
        "}], 'instances': [{'model': 'm', 'prefix': 'x', 'repeat': {'placement': 'scatter', "
        "'count': 3, 'min': [0, 0, 0], 'max': [1, 1, 1]}}]}";
    is_what_was_loaded(text, &(sim_scene_overrides){.count = 4, .set = plain});
    is_what_was_loaded(text, &(sim_scene_overrides){.count = 6, .set = made});
    is_what_was_loaded(text, &(sim_scene_overrides){.seed = &seed});
}

Test(scene_kept, values_that_are_replaced_change_the_hash_and_a_file_alone_is_kept_as_it_is) {
    const char *text = "{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'hinge', " MASS "}]}";
    const char *set[] = {"world/step=0.25"};
    uint64_t seed = 5;
    sim_scene *s = load_text(text, NULL, NULL, NULL, NULL);
    sim_scene *other = load_text(text, NULL, &(sim_scene_overrides){.count = 1, .set = set}, NULL, NULL);
    sim_scene *seeded = load_text(text, NULL, &(sim_scene_overrides){.seed = &seed}, NULL, NULL);
    cr_assert(s && other && seeded);
    cr_expect_eq(s->text_length, strlen(text));
    cr_expect_str_neq(s->hash, other->hash);
    cr_expect_str_neq(s->hash, seeded->hash);
    cr_expect_str_neq(other->hash, seeded->hash);
    sim_scene_free(s);
    sim_scene_free(other);
    sim_scene_free(seeded);
}

Test(scene_kept, a_seed_that_no_scene_can_hold_is_refused) {
    uint64_t seed = 9007199254740993;
    sim_error error;
    cr_expect_null(load_text("{'sim': 1}", NULL, &(sim_scene_overrides){.seed = &seed}, NULL, &error));
    cr_expect_str_eq(error.text, "seed: error: 9007199254740993 exceeds the limit 9007199254740992");
}
