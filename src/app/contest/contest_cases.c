/* Which contact problems should solvers be compared on?
 *
 *   nut          an M48 nut on its bolt, up to 120 contacts for 6 degrees of freedom: ten places on the thread, ten wrenches
 *                on each (Lee et al. 2024, section VII-A)
 *   dishes       bowl, bowl and plate, 0.1 kg each, under a pot of 5 kg, a hundred wrenches on them (section VII-B)
 *   pour         balls poured into a cup, at rest (section VII-C, figure 11)
 *   grasp        balls in a cup that two arms of seven joints squeeze and hold up (likewise)
 *   cube         balls thrown about in a cube, every step of ten runs (Todorov 2010, section IV, table 1)
 *   quadrupeds   limp robots that lie on the ground and on each other (section VII-D2, table III)
 *   arch, pile, gripper, hand, can
 *                the rigid examples of Macklin et al. (2019, table 1), or what is near to them: an arch of twenty stones, a
 *                pile of 54 tables, a gripper that holds a cube, a hand of stiff fingers round a heavy block, a can on 32
 *                points, three boxes
 *   ratio        four boxes that wrenches push: heavy on light, the same without friction (smooth), light on heavy, masses
 *                that grow upwards (up) or downwards (down); and alike, but heavier or lighter (scale)
 *
 * Masses and wrenches are not printed there; here a wrench is so many weights of the body it acts on. */
#include "app/contest/contest.h"
#include "base/nearest.h"

#include <string.h>

/* Layers of balls over a cup that grows with them, so that heaps have one shape. */
#define POUR(balls, counts, radius)                                                                                    \
    {                                                                                                                  \
        .name = "pour-" #balls, .family = "pour", .scene = "bench/pour.json", .settle = 72, .states = 5,               \
        .between = 24, .warm = 1, .set = {                                                                             \
            "instances/0/repeat/counts=" counts,                                                                       \
            "bodies/cup/shapes/0/field/points=[[0,0],[" radius ",0],[" radius ",0.4]]"                                 \
        }                                                                                                              \
    }

/* Layers of five balls; `auto` moves them, so that all are asked the same. */
#define CUBE(balls, layers, friction)                                                                                  \
    {                                                                                                                  \
        .name = "cube-" #balls "-mu" #friction, .family = "cube-" #balls, .scene = "papers/cube.json", .runs = 10,     \
        .states = 200, .between = 1, .warm = 1, .place = contest_place_balls, .set = {                                 \
            "instances/0/repeat/count=" #layers,                                                                       \
            "materials/skin/friction=" #friction,                                                                      \
            "world/solver=auto"                                                                                        \
        }                                                                                                              \
    }
#define CUBES(balls, layers)                                                                                           \
    CUBE(balls, layers, 0.1), CUBE(balls, layers, 0.5), CUBE(balls, layers, 1.0), CUBE(balls, layers, 2.0)

/* The same balls in a cup that two arms hold. */
#define GRASP(balls, counts)                                                                                           \
    {                                                                                                                  \
        .name = "grasp-" #balls, .family = "grasp", .scene = "bench/grasp.json", .settle = 48, .states = 5,            \
        .between = 12, .warm = 1, .set = {                                                                             \
            "instances/2/repeat/counts=" counts                                                                        \
        }                                                                                                              \
    }

#define QUADRUPEDS(robots, counts)                                                                                     \
    {                                                                                                                  \
        .name = "quadrupeds-" #robots, .family = "quadrupeds", .scene = "bench/quadrupeds.json", .settle = 156,        \
        .states = 10, .between = 6, .warm = 1, .set = {                                                                \
            "instances/0/repeat/counts=" counts,                                                                       \
            "world/step=0.004166666666666667",                                                                         \
            "world/solver=pgs",                                                                                        \
            "world/solver_options={\"max_iterations\": 200}"                                                           \
        }                                                                                                              \
    }

/* Masses of four boxes from the floor up; `auto` lets them settle. */
#define RATIO_OF(title, friction, a, b, c, d)                                                                          \
    {                                                                                                                  \
        .name = "ratio-" title, .family = "ratio", .scene = "papers/mass_ladder.json", .settle = 10, .states = 1,      \
        .wrenches = 5, .force = 0.3, .arm = 0.05, .set = {                                                             \
            "materials/wood/friction=" #friction,                                                                      \
            "bodies/a/shapes/0/mass=" #a,                                                                              \
            "bodies/b/shapes/0/mass=" #b,                                                                              \
            "bodies/c/shapes/0/mass=" #c,                                                                              \
            "bodies/d/shapes/0/mass=" #d                                                                               \
        }                                                                                                              \
    }
#define RATIO(title, a, b, c, d) RATIO_OF(title, 0.5, a, b, c, d)

const contest_case contest_cases[] = {
    {.name = "nut",
     .family = "nut",
     .scene = "bench/nut.json",
     .usual = 1,
     .states = 10,
     .wrenches = 10,
     .force = 4,
     .arm = 0.05,
     .place = contest_place_nut},
    {.name = "dishes",
     .family = "dishes",
     .scene = "solids/dishes.json",
     .usual = 1,
     .settle = 0,
     .states = 1,
     .wrenches = 100,
     .force = 1,
     .arm = 0.05,
     .set = {"world/step=0.004166666666666667"}},
    POUR(9, "[3,3,1]", "0.0245"),
    POUR(18, "[3,3,2]", "0.0245"),
    POUR(27, "[3,3,3]", "0.0245"),
    POUR(36, "[3,3,4]", "0.0245"),
    POUR(45, "[3,3,5]", "0.0245"),
    POUR(100, "[5,5,4]", "0.039"),
    POUR(200, "[5,5,8]", "0.039"),
    POUR(490, "[7,7,10]", "0.0535"),
    POUR(1000, "[10,10,10]", "0.0757"),
    POUR(2000, "[10,10,20]", "0.0757"),
    CUBES(5, 1),
    CUBES(10, 2),
    CUBES(15, 3),
    GRASP(9, "[3,3,1]"),
    GRASP(18, "[3,3,2]"),
    GRASP(27, "[3,3,3]"),
    GRASP(36, "[3,3,4]"),
    GRASP(45, "[3,3,5]"),
    QUADRUPEDS(1, "[1,1,1]"),
    QUADRUPEDS(8, "[2,2,2]"),
    QUADRUPEDS(27, "[3,3,3]"),
    QUADRUPEDS(64, "[4,4,4]"),
    {.name = "arch",
     .family = "macklin",
     .scene = "contact/arch.json",
     .settle = 20,
     .states = 5,
     .between = 10,
     .set = {"world/solver=canal"}},
    {.name = "pile",
     .family = "macklin",
     .scene = "papers/table_pile.json",
     .settle = 200,
     .states = 5,
     .between = 40,
     .set = {"world/solver=pgs", "world/solver_options={\"max_iterations\": 200}"}},
    {.name = "gripper",
     .family = "macklin",
     .scene = "contact/gripper.json",
     .settle = 500,
     .states = 5,
     .between = 20,
     .set = {"world/solver=canal"}},
    {.name = "hand", /* in the jerk */
     .family = "macklin",
     .scene = "papers/hand.json",
     .settle = 366,
     .states = 5,
     .between = 6,
     .set = {"world/solver=canal"}},
    {.name = "can", .family = "macklin", .scene = "papers/can.json", .settle = 10, .states = 5, .between = 5},
    {.name = "stack-3",
     .family = "macklin",
     .scene = "contact/stack.json",
     .settle = 20,
     .states = 5,
     .between = 10,
     .set = {"world/solver=canal", "instances/0/repeat/count=3"}},
    RATIO("1", 1, 1, 1, 1),
    RATIO("heavy-1e1", 1, 1, 1, 1e1),
    RATIO("heavy-1e2", 1, 1, 1, 1e2),
    RATIO("heavy-1e3", 1, 1, 1, 1e3),
    RATIO("heavy-1e4", 1, 1, 1, 1e4),
    RATIO("heavy-1e5", 1, 1, 1, 1e5),
    RATIO_OF("smooth-1e0", 0, 1, 1, 1, 1),
    RATIO_OF("smooth-1e1", 0, 1, 1, 1, 1e1),
    RATIO_OF("smooth-1e3", 0, 1, 1, 1, 1e3),
    RATIO_OF("smooth-1e5", 0, 1, 1, 1, 1e5),
    RATIO("light-1e1", 1e1, 1, 1, 1),
    RATIO("light-1e3", 1e3, 1, 1, 1),
    RATIO("light-1e5", 1e5, 1, 1, 1),
    RATIO("up-1e1", 1, 2.154435, 4.641589, 1e1),
    RATIO("up-1e3", 1, 1e1, 1e2, 1e3),
    RATIO("up-1e5", 1, 46.41589, 2154.435, 1e5),
    RATIO("down-1e1", 1e1, 4.641589, 2.154435, 1),
    RATIO("down-1e3", 1e3, 1e2, 1e1, 1),
    RATIO("down-1e5", 1e5, 2154.435, 46.41589, 1),
    RATIO("scale-1e-3", 1e-3, 1e-3, 1e-3, 1e-3),
    RATIO("scale-1e3", 1e3, 1e3, 1e3, 1e3),
};
const int contest_case_count = sizeof contest_cases / sizeof contest_cases[0];

static int is_named(const char *word, const contest_case *c) {
    return strcmp(word, c->name) == 0 || strcmp(word, c->family) == 0;
}

/* The name of a case or of a family; if it is neither of any, that of families up to a "-". */
static int fits(const char *word, const contest_case *c) {
    size_t length = strlen(word);
    for (int k = 0; k < contest_case_count; k++) {
        if (is_named(word, &contest_cases[k])) {
            return is_named(word, c);
        }
    }
    return strncmp(word, c->family, length) == 0 && c->family[length] == '-';
}

int contest_chosen(const contest_request *request, const contest_case *c) {
    int chosen = request->words == 0 && c->usual;
    for (int k = 0; k < request->words; k++) {
        chosen |= fits(request->word[k], c);
    }
    return chosen;
}

sim_status contest_check_words(const contest_request *request, sim_error *error) {
    const char *names[sizeof contest_cases / sizeof contest_cases[0] + 1] = {NULL};
    for (int k = 0; k < contest_case_count; k++) {
        names[k] = contest_cases[k].name;
    }
    for (int w = 0; w < request->words; w++) {
        int any = 0;
        for (int k = 0; k < contest_case_count; k++) {
            any |= fits(request->word[w], &contest_cases[k]);
        }
        const char *near = any ? NULL : nearest_word(request->word[w], names);
        if (!any) {
            return sim_fail(error, SIM_BAD_INPUT, "there is no case '%s'%s%s%s; see sim bench solvers --list",
                            request->word[w], near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
        }
    }
    return SIM_OK;
}
