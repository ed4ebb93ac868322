/* A run that is watched: does it keep to the clock, and is it the run that nobody watches? */
#include "live/session.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const char text[] =
    "{\"sim\": 1, \"world\": {\"step\": 0.002, \"duration\": 1}, \"bodies\": ["
    "{\"name\": \"floor\", \"shapes\": [{\"type\": \"half_space\"}]},"
    "{\"name\": \"box\", \"joint\": \"free\", \"pose\": {\"position\": [0, 0, 0.2], \"rpy_deg\": [20, 10, 30]},"
    " \"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.1, 0.3], \"density\": 1000}]}]}";

/* So many bodies and actuators. */
static const sim_model sizes = {.nbody = 3, .nactuator = 2};

typedef struct watched {
    sim_scene *scene;
    live_session *session;
} watched;

static watched start_scene(const char *scene) {
    sim_error error;
    watched w = {.scene = sim_scene_parse(scene, strlen(scene), "scene", NULL, NULL, &error)};
    cr_assert(w.scene, "%s", error.text);
    w.session = live_session_create(w.scene, &error);
    cr_assert(w.session, "%s", error.text);
    return w;
}

static watched start(void) { return start_scene(text); }

static void end(watched *w) {
    live_session_free(w->session);
    sim_scene_free(w->scene);
}

static void ask(watched *w, live_command command) { live_session_do(w->session, &command); }

static int64_t steps(watched *w) { return sim_world_state(live_session_world(w->session))->step; }

/* All that is due at `now`; how many that was. */
static int catch_up(watched *w, double now) {
    int count = 0;
    for (; live_session_due(w->session, now) && count < 100000; count++) {
        live_session_step(w->session);
    }
    return count;
}

static void assert_same(watched *w, sim_world *alone) {
    const sim_state *a = sim_world_state(live_session_world(w->session)), *b = sim_world_state(alone);
    const sim_model *m = w->scene->model;
    cr_assert(a->step == b->step && a->time == b->time && a->ncontact == b->ncontact);
    cr_assert(memcmp(a->q, b->q, (size_t)m->nq * sizeof *a->q) == 0);
    cr_assert(memcmp(a->v, b->v, (size_t)m->nv * sizeof *a->v) == 0);
    for (int k = 0; k < a->ncontact; k++) {
        cr_assert(memcmp(&a->impulse[k], &b->impulse[k], sizeof a->impulse[k]) == 0);
    }
}

Test(live, has_the_bits_of_a_run_that_nobody_watches) {
    watched w = start();
    sim_error error;
    sim_world *alone = sim_world_create(w.scene->model, &w.scene->options, &error);
    ask(&w, (live_command){.verb = LIVE_DRAG, .body = 2, .target = {0, 0, 5}});
    ask(&w, (live_command){.verb = LIVE_STEP, .count = 50});
    catch_up(&w, 0);
    ask(&w, (live_command){.verb = LIVE_RESET});
    ask(&w, (live_command){.verb = LIVE_STEP, .count = 300});
    cr_assert(catch_up(&w, 0) == 300);
    ask(&w, (live_command){.verb = LIVE_DRAG, .body = 2, .target = {0, 0, 5}});
    ask(&w, (live_command){.verb = LIVE_RELEASE});
    ask(&w, (live_command){.verb = LIVE_PLAY});
    catch_up(&w, 7);
    cr_assert(catch_up(&w, 7.0501) == 25, "50 ms are 25 steps");
    for (int k = 0; k < 325; k++) {
        cr_assert(sim_world_step(alone, &error) == SIM_OK);
    }
    assert_same(&w, alone);
    sim_world_free(alone);
    end(&w);
}

/* A ball falls through 0.1 m in 71.4 of these steps. */
Test(live, halts_at_an_event_that_ends_a_run_and_says_so) {
    watched w = start_scene("{\"sim\": 1, \"world\": {\"step\": 0.002}, \"bodies\": ["
                            "{\"name\": \"floor\", \"shapes\": [{\"type\": \"half_space\"}]},"
                            "{\"name\": \"ball\", \"joint\": \"free\", \"pose\": {\"position\": [0, 0, 0.15]},"
                            " \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.05, \"density\": 1000}]}],"
                            "\"record\": {\"events\": ["
                            "{\"name\": \"hit\", \"type\": \"contact_begins\", \"body\": \"ball\", \"other\": "
                            "\"floor\", \"stop\": true}]}}");
    for (int round = 0; round < 3; round++) {
        /* by the clock, by steps, and once more after it went on */
        ask(&w, (live_command){.verb = LIVE_RESET});
        ask(&w, (live_command){.verb = round == 1 ? LIVE_STEP : LIVE_PLAY, .count = 1000});
        catch_up(&w, 10 * round);
        catch_up(&w, 10 * round + 0.0999);
        catch_up(&w, 10 * round + 0.1999);
        cr_expect(steps(&w) >= 71 && steps(&w) <= 73, "halted at step %lld", (long long)steps(&w));
        view_bytes told = {0};
        live_session_tell(w.session, &told);
        view_put_byte(&told, 0);
        cr_expect(strstr((const char *)told.data, "Event hit ends a run") &&
                  strstr((const char *)told.data, "\"playing\":false"));
        view_bytes_free(&told);
        ask(&w, (live_command){.verb = LIVE_STEP, .count = 5});
        cr_expect_eq(catch_up(&w, 10 * round + 0.2), 5);
    }
    end(&w);
}

Test(live, keeps_to_the_clock_times_the_speed) {
    watched w = start();
    cr_assert(catch_up(&w, 1) == 0, "it stands still at first");
    ask(&w, (live_command){.verb = LIVE_PLAY});
    for (int k = 0; k <= 600; k++) {
        catch_up(&w, 10 + k / 60.0);
    }
    cr_assert(steps(&w) >= 4999 && steps(&w) <= 5000, "10 s are 5000 steps, not %lld", (long long)steps(&w));
    ask(&w, (live_command){.verb = LIVE_SPEED, .speed = 0.25});
    int64_t before = steps(&w);
    for (int k = 0; k <= 600; k++) {
        catch_up(&w, 20 + k / 60.0);
    }
    cr_assert(steps(&w) - before >= 1249 && steps(&w) - before <= 1250);
    ask(&w, (live_command){.verb = LIVE_PAUSE});
    cr_assert(catch_up(&w, 40) == 0);
    end(&w);
}

Test(live, does_not_make_up_for_what_it_fell_behind) {
    watched w = start();
    ask(&w, (live_command){.verb = LIVE_PLAY});
    catch_up(&w, 0);
    cr_assert(catch_up(&w, 1000) <= 1, "a thousand seconds behind: let go");
    cr_assert(catch_up(&w, 1000.0201) == 10, "and on at the pace of the clock");
    live_session_rest(w.session, 2000);
    cr_assert(catch_up(&w, 2000.0201) == 10, "nobody watched in between");
    end(&w);
}

Test(live, refuses_a_solver_that_cannot_be_had_and_goes_on) {
    watched w = start();
    sim_error error;
    live_command command;
    const char *bad = "{\"do\":\"solver\",\"name\":\"none\"}";
    cr_assert(live_command_read(bad, strlen(bad), &sizes, &command, &error) == SIM_BAD_INPUT);
    for (int k = 0; k < sim_solver_count(); k++) {
        ask(&w, (live_command){.verb = LIVE_SOLVER, .solver = sim_solver_at(k)});
        ask(&w, (live_command){.verb = LIVE_STEP, .count = 40});
        catch_up(&w, 0);
        cr_assert(steps(&w) == 40 * (k + 1));
        cr_assert(sim_world_options(live_session_world(w.session))->solver == sim_solver_at(k));
    }
    end(&w);
}

Test(live, takes_nothing_but_one_object_with_the_members_of_its_command) {
    static const char *const bad[] = {"{\"do\":\"play\"}xxxx",
                                      "{\"do\":\"play\"}{\"do\":\"reset\"}",
                                      "{\"do\":\"play\",\"do\":\"reset\"}",
                                      "{\"do\":\"play\",\"do\":\"play\"}",
                                      "{\"do\":\"play\",\"count\":1}",
                                      "{\"do\":\"step\",\"count\":1,\"count\":2}",
                                      "{\"do\":\"step\",\"count\":1,\"more\":2}",
                                      "{\"do\":\"step\",\"count\":01}",
                                      "{\"do\":\"step\",\"count\":1,}",
                                      "{\"do\":\"pl\\u0061y\\u0000\"}",
                                      "{\"do\":\"drag\",\"body\":1,\"point\":[0,0,0],\"point\":[0,0,0]}",
                                      "{\"do\":\"joint\",\"body\":1,\"coordinate\":0}",
                                      "{\"do\":\"joint\",\"body\":0,\"coordinate\":0,\"value\":1}",
                                      "{\"do\":\"joint\",\"body\":1,\"coordinate\":6,\"value\":1}",
                                      "{\"do\":\"joint\",\"body\":1,\"coordinate\":0,\"value\":1e16}",
                                      "{\"do\":\"joint\",\"body\":1,\"coordinate\":0,\"value\":\"1\"}",
                                      "{\"do\":\"input\",\"actuator\":2,\"kind\":\"ctrl\",\"value\":1}",
                                      "{\"do\":\"input\",\"actuator\":-1,\"kind\":\"ctrl\",\"value\":1}",
                                      "{\"do\":\"input\",\"actuator\":0.5,\"kind\":\"ctrl\",\"value\":1}",
                                      "{\"do\":\"input\",\"actuator\":1,\"kind\":\"rate\",\"value\":1}",
                                      "{\"do\":\"input\",\"actuator\":1,\"kind\":0,\"value\":1}",
                                      "{\"do\":\"input\",\"actuator\":1,\"kind\":\"ctrl\",\"value\":\"1\"}",
                                      "{\"do\":\"input\",\"actuator\":1,\"kind\":\"ctrl\",\"value\":1e16}",
                                      "{\"do\":\"input\",\"actuator\":1,\"kind\":\"ctrl\",\"kind\":\"ctrl\"}",
                                      "{\"do\":\"input\",\"actuator\":1,\"value\":1}",
                                      "[{\"do\":\"play\"}]",
                                      ""};
    static const char *const good[] = {" {\"do\":\"play\"} \n",
                                       "{\"do\":\"pl\\u0061y\"}",
                                       "{\"count\":3,\"do\":\"step\"}",
                                       "{\"do\":\"input\",\"actuator\":1,\"kind\":\"target\",\"value\":-0.5}",
                                       "{\"do\":\"input\",\"actuator\":0,\"kind\":\"ctrl\",\"value\":null}",
                                       "{\"do\":\"joint\",\"body\":1,\"coordinate\":5,\"value\":-2.5}",
                                       "{\"do\":\"drag\",\"body\":1,\"target\":[1,0,0],\"point\":[0,0,0]}"};
    sim_error error;
    live_command command;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        cr_expect_eq(live_command_read(bad[k], strlen(bad[k]), &sizes, &command, &error), SIM_BAD_INPUT, "%s", bad[k]);
    }
    for (size_t k = 0; k < sizeof good / sizeof good[0]; k++) {
        cr_expect_eq(live_command_read(good[k], strlen(good[k]), &sizes, &command, &error), SIM_OK, "%s", good[k]);
    }
}

Test(live, takes_options_of_a_solver_behind_its_name) {
    watched w = start();
    sim_error error;
    live_command command;
    const char *bad = "{\"do\":\"solver\",\"name\":\"pgs:max_iteration=3\"}";
    const char *good = "{\"do\":\"solver\",\"name\":\"pgs:max_iterations=3,tolerance=0.5\"}";
    cr_assert(live_command_read(bad, strlen(bad), &sizes, &command, &error) == SIM_BAD_INPUT);
    cr_assert(live_command_read(good, strlen(good), &sizes, &command, &error) == SIM_OK);
    ask(&w, command);
    const sim_options *o = sim_world_options(live_session_world(w.session));
    cr_assert_str_eq(o->solver->name, "pgs");
    cr_assert(o->solver_option[0] == 0.5 && o->solver_option[1] == 3 && o->solver_option[2] == 1);
    end(&w);
}

static const char arm_text[] =
    "{\"sim\": 1, \"world\": {\"step\": 0.002, \"duration\": 1}, \"bodies\": ["
    "{\"name\": \"base\", \"joint\": \"free\", \"inertia\": {\"mass\": 1, \"moments\": [1, 1, 1]}, \"v\": [1, 0, 0, 0, "
    "0, 0]},"
    "{\"name\": \"upper\", \"parent\": \"base\", \"joint\": {\"type\": \"hinge\", \"range\": [-1, 2]}, \"v\": 3,"
    " \"inertia\": {\"mass\": 1, \"moments\": [1, 1, 1]}},"
    "{\"name\": \"lower\", \"parent\": \"upper\", \"joint\": \"cylindrical\", \"v\": [4, 5],"
    " \"inertia\": {\"mass\": 1, \"moments\": [1, 1, 1]}}]}";

static void move_to(watched *w, int body, int coordinate, double value) {
    ask(w, (live_command){.verb = LIVE_JOINT, .body = body, .coordinate = coordinate, .value = value});
}

Test(live, moves_a_joint_within_its_range_while_time_stands) {
    watched w = start_scene(arm_text);
    ask(&w, (live_command){.verb = LIVE_STEP, .count = 5});
    catch_up(&w, 0);
    ask(&w, (live_command){.verb = LIVE_PLAY});
    sim_world *world = live_session_world(w.session);
    double angle = sim_world_state(world)->q[8], rate = sim_world_state(world)->v[7];
    move_to(&w, 2, 0, 0.5);
    move_to(&w, 3, 1, -7);
    const sim_state *state = sim_world_state(world);
    cr_expect(state->q[7] == 0.5 && state->v[6] == 0, "the joint stands where it was put");
    cr_expect(state->q[9] == -7 && state->v[8] == 0);
    cr_expect(state->q[8] == angle && state->v[7] == rate && state->v[0] == 1, "all else moves as before");
    cr_expect(state->step == 5 && catch_up(&w, 9) == 0, "and time stands");
    move_to(&w, 2, 0, 9);
    cr_expect_eq(sim_world_state(world)->q[7], 2);
    move_to(&w, 2, 0, -9);
    cr_expect_eq(sim_world_state(world)->q[7], -1);
    ask(&w, (live_command){.verb = LIVE_STEP, .count = 3});
    cr_expect_eq(catch_up(&w, 9), 3, "then it goes on");
    cr_expect_eq(steps(&w), 8);
    end(&w);
}

Test(live, says_which_joints_have_no_coordinate_to_move) {
    watched w = start_scene(arm_text);
    move_to(&w, 1, 0, 2);
    view_bytes said = {0};
    live_session_tell(w.session, &said);
    view_put_byte(&said, 0);
    cr_expect(strstr((const char *)said.data, "the joint of  base  has no coordinate 0 that can be moved"), "%s",
              (const char *)said.data);
    cr_expect_eq(sim_world_state(live_session_world(w.session))->q[0], 0);
    said.size = 0;
    move_to(&w, 2, 1, 2);
    live_session_tell(w.session, &said);
    view_put_byte(&said, 0);
    cr_expect(strstr((const char *)said.data, "no coordinate 1"), "%s", (const char *)said.data);
    view_bytes_free(&said);
    end(&w);
}

static const char driven_text[] =
    "{\"sim\": 1, \"world\": {\"step\": 0.002, \"duration\": 1, \"gravity\": [0, 0, 0]}, \"bodies\": ["
    "{\"name\": \"upper\", \"joint\": \"hinge\", \"inertia\": {\"mass\": 1, \"moments\": [1, 1, 1]}},"
    "{\"name\": \"lower\", \"parent\": \"upper\", \"joint\": \"hinge\", \"inertia\": {\"mass\": 1, \"moments\": [1, 1, "
    "1]}}],"
    "\"actuators\": [{\"name\": \"motor\", \"joint\": \"upper\", \"ctrl_range\": [-2, 3]},"
    "{\"name\": \"servo\", \"joint\": \"lower\", \"kp\": 100, \"kd\": 10, \"target\": 0.25}],"
    "\"controllers\": [{\"name\": \"task\", \"type\": \"phases\", \"phases\": [{\"name\": \"one\", \"next\": [{\"to\": "
    "\"two\", \"after\": 0.01}]}, {\"name\": \"two\"}]}]}";

static void set_input(watched *w, sim_input input, int actuator, double value) {
    ask(w, (live_command){.verb = LIVE_INPUT, .input = input, .actuator = actuator, .value = value});
}

static void assert_told(watched *w, const char *words) {
    view_bytes said = {0};
    live_session_tell(w->session, &said);
    view_put_byte(&said, 0);
    cr_assert(strstr((const char *)said.data, words), "%s", (const char *)said.data);
    view_bytes_free(&said);
}

Test(live, steers_with_the_bits_of_a_program_that_sets_the_same_inputs) {
    watched w = start_scene(driven_text);
    sim_error error;
    sim_world *alone = sim_world_create(w.scene->model, &w.scene->options, &error);
    set_input(&w, SIM_CTRL, 0, 9);
    set_input(&w, SIM_TARGET, 1, -0.5);
    assert_told(&w, "\"ctrl\":[0],\"target\":[1]");
    ask(&w, (live_command){.verb = LIVE_STEP, .count = 50});
    catch_up(&w, 0);
    set_input(&w, SIM_TARGET, 1, NAN);
    ask(&w, (live_command){.verb = LIVE_STEP, .count = 50});
    catch_up(&w, 0);
    sim_world_inputs(alone, SIM_CTRL)[0] = 3;
    for (int k = 0; k < 100; k++) {
        sim_world_inputs(alone, SIM_TARGET)[1] = k < 50 ? -0.5 : NAN;
        cr_assert(sim_world_step(alone, &error) == SIM_OK);
    }
    assert_same(&w, alone);
    assert_told(&w, "\"ctrl\":[0],\"target\":[]");
    ask(&w, (live_command){.verb = LIVE_RESET});
    assert_told(&w, "\"ctrl\":[],\"target\":[]");
    sim_world_free(alone);
    end(&w);
}

Test(live, says_which_actuators_have_no_such_input) {
    watched w = start_scene(driven_text);
    set_input(&w, SIM_TARGET, 0, 1);
    assert_told(&w, "actuator motor has no target");
    cr_expect(isnan(sim_world_inputs(live_session_world(w.session), SIM_TARGET)[0]));
    end(&w);
}

Test(live, keeps_inputs_and_phases_where_a_joint_is_moved) {
    watched w = start_scene(driven_text);
    set_input(&w, SIM_CTRL, 0, 1);
    ask(&w, (live_command){.verb = LIVE_STEP, .count = 20});
    catch_up(&w, 0);
    sim_world *world = live_session_world(w.session);
    cr_assert_eq(sim_world_phase(world, 0), 1);
    move_to(&w, 1, 0, 0.5);
    cr_expect_eq(sim_world_state(world)->q[0], 0.5);
    cr_expect_eq(sim_world_phase(world, 0), 1);
    cr_expect_eq(sim_world_inputs(world, SIM_CTRL)[0], 1);
    end(&w);
}
