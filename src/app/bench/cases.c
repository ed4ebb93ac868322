/* Cases of `sim bench contact`: scenes, and the steps that are timed.
 *
 *   fall          balls and boxes dropped into a container: the first second, with all impacts
 *   clutter       the same, come to rest; clutter-open: without its walls
 *   quadrupeds    limp robots that lie on each other
 *   pendulum      12 links that swing against floor and wall (Mylapilli, Jain 2016), from the first step on
 *   dishes        bowls, plate and pot that touch in rings: more contacts than the motion can tell apart
 *   islands       a hundred heaps, problems of their own */
#include "app/bench/bench.h"
#include "base/nearest.h"

#include <string.h>

/* Eight bodies make two layers, one of balls and one of boxes. */
#define CLUTTER(bodies, layers, steps, often)                                                                          \
    {.name = "clutter-" #bodies,                                                                                       \
     .family = "clutter",                                                                                              \
     .scene = "bench/clutter.json",                                                                                    \
     .usual = often,                                                                                                   \
     .settle = 1000,                                                                                                   \
     .timed = steps,                                                                                                   \
     .quick = 5,                                                                                                       \
     .set = {"instances/0/repeat/counts/2=" #layers, "instances/1/repeat/counts/2=" #layers}},                         \
    {                                                                                                                  \
        .name = "clutter-open-" #bodies, .family = "clutter-open", .scene = "bench/clutter.json", .usual = often,      \
        .settle = 1000, .timed = steps, .quick = 5, .set = {                                                           \
            "instances/0/repeat/counts/2=" #layers,                                                                    \
            "instances/1/repeat/counts/2=" #layers,                                                                    \
            "bodies/walls/shapes=[]"                                                                                   \
        }                                                                                                              \
    }

#define FALL(bodies, layers, often)                                                                                    \
    {                                                                                                                  \
        .name = "fall-" #bodies, .family = "fall", .scene = "bench/clutter.json", .usual = often, .timed = 100,        \
        .quick = 35, .set = {                                                                                          \
            "instances/0/repeat/counts/2=" #layers,                                                                    \
            "instances/1/repeat/counts/2=" #layers                                                                     \
        }                                                                                                              \
    }

#define QUADRUPEDS(robots, across)                                                                                     \
    {                                                                                                                  \
        .name = "quadrupeds-" #robots, .family = "quadrupeds", .scene = "bench/quadrupeds.json", .usual = 1,           \
        .settle = 1000, .timed = 100, .quick = 5, .set = {                                                             \
            "instances/0/repeat/counts=[" #across "," #across "," #across "]"                                          \
        }                                                                                                              \
    }

const bench_case bench_cases[] = {
    CLUTTER(8, 1, 100, 0),
    CLUTTER(40, 5, 100, 1),
    CLUTTER(80, 10, 100, 1),
    CLUTTER(160, 20, 100, 1),
    CLUTTER(320, 40, 100, 0),
    CLUTTER(640, 80, 50, 0),
    CLUTTER(1280, 160, 20, 0),
    CLUTTER(2000, 250, 20, 0),
    FALL(8, 1, 0),
    FALL(40, 5, 1),
    FALL(80, 10, 0),
    FALL(160, 20, 1),
    FALL(320, 40, 0),
    FALL(640, 80, 0),
    QUADRUPEDS(8, 2),
    QUADRUPEDS(27, 3),
    {.name = "pendulum-12",
     .family = "pendulum",
     .scene = "papers/pendulum_12.json",
     .usual = 1,
     .timed = 20000,
     .quick = 200},
    {.name = "dishes",
     .family = "dishes",
     .scene = "solids/dishes.json",
     .usual = 1,
     .settle = 500,
     .timed = 100,
     .quick = 3},
    {.name = "islands-100",
     .family = "islands",
     .scene = "bench/islands.json",
     .usual = 1,
     .settle = 300,
     .timed = 50,
     .quick = 5},
};
const int bench_case_count = sizeof bench_cases / sizeof bench_cases[0];

/* The name of a case, or how the names of some begin, up to a hyphen. */
static bool word_fits_case(const char *word, const bench_case *c) {
    size_t length = strlen(word);
    return strncmp(c->name, word, length) == 0 && (c->name[length] == 0 || (c->usual && c->name[length] == '-'));
}

int bench_chosen(const bench_request *request, const bench_case *c) {
    int chosen = request->words == 0 && !request->scale && c->usual;
    chosen |= request->scale && strncmp(c->family, "clutter", strlen("clutter")) == 0;
    for (int k = 0; k < request->words; k++) {
        chosen |= word_fits_case(request->word[k], c);
    }
    return chosen;
}

sim_status bench_check_words(const bench_request *request, sim_error *error) {
    const char *names[sizeof bench_cases / sizeof bench_cases[0] + 1] = {NULL};
    for (int k = 0; k < bench_case_count; k++) {
        names[k] = bench_cases[k].name;
    }
    for (int w = 0; w < request->words; w++) {
        int any = 0;
        for (int k = 0; k < bench_case_count; k++) {
            any |= word_fits_case(request->word[w], &bench_cases[k]);
        }
        const char *near = any ? NULL : nearest_word(request->word[w], names);
        if (!any) {
            return sim_fail(error, SIM_BAD_INPUT, "there is no case '%s'%s%s%s; see sim bench contact --list",
                            request->word[w], near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
        }
    }
    return SIM_OK;
}
