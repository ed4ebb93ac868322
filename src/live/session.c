/* Session of a live run.  A world, moved by steps that keep to a clock which others read:
 *
 *     a step is due when    t + h <= t0 + speed (now - now0)
 *
 * where t0, now0 is when play began, the speed changed, or the steps fell behind too far to catch up. */
#include "live/session.h"
#include "live/joint.h"
#include "live/spring.h"
#include "record/run/fingerprint.h"
#include "solver/words.h"
#include "view/page/readings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double MAX_LAG_SECONDS = 0.1, RATE_WINDOW_SECONDS = 0.5; /* s */

typedef struct moment {
    double now, time; /* of the clock, of the world */
} moment;

struct live_session {
    const sim_scene *scene;
    sim_world *world;
    live_spring *spring;
    int playing, steps; /* to be taken though it does not play */
    double speed;
    moment origin, measured;
    double rate;          /* simulated seconds a second, of late; NAN: not known */
    uint64_t fingerprint; /* of the scene: pages that come back know it by this */
    int run;              /* grows with each reset */
    int fresh;            /* no command yet */
    char say[sizeof(((sim_error *)0)->text)];
    uint64_t serial;
};

live_session *live_session_create(const sim_scene *scene, sim_error *error) {
    live_session *s = calloc(1, sizeof *s);
    if (!s || !(s->spring = live_spring_create(scene->model))) {
        free(s);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a world of %d bodies", scene->model->nbody);
        return NULL;
    }
    s->scene = scene;
    s->fingerprint = fingerprint_of(scene->model, &scene->options);
    s->speed = 1;
    s->rate = NAN;
    s->fresh = 1;
    s->world = sim_world_create(scene->model, &scene->options, error);
    if (!s->world) {
        live_session_free(s);
        return NULL;
    }
    return s;
}

void live_session_free(live_session *s) {
    if (s) {
        sim_world_free(s->world);
        live_spring_free(s->spring);
        free(s);
    }
}

sim_world *live_session_world(live_session *s) { return s->world; }
uint64_t live_session_serial(const live_session *s) { return s->serial; }

static double time_of(const live_session *s) { return sim_world_state(s->world)->time; }

/* The clock starts anew when it is read next. */
static void start_clock(live_session *s) {
    s->origin.now = NAN;
    s->rate = NAN;
}

static void pause_session(live_session *s) {
    s->playing = 0;
    s->steps = 0;
    s->rate = NAN;
}

/* ---- commands ---- */

/* A world with these options, at the start, or where the present one is. */
static void renew_world(live_session *s, const sim_options *options, int at_start) {
    sim_error error;
    sim_world *world = sim_world_create(s->scene->model, options, &error);
    if (world && !at_start && sim_world_set_state(world, sim_world_state(s->world), &error)) {
        sim_world_free(world);
        world = NULL;
    }
    if (!world) {
        snprintf(s->say, sizeof s->say, "%s", error.text);
        return;
    }
    sim_world_free(s->world);
    s->world = world;
    s->say[0] = 0;
    start_clock(s);
}

static void reset_clock(live_session *s) {
    sim_options options = *sim_world_options(s->world);
    live_spring_release(s->spring);
    s->run++;
    s->steps = 0;
    renew_world(s, &options, 1);
}

/* The scene's options of a solver are those of the scene's solver; those behind the name hold over them. */
static void change_solver(live_session *s, const live_command *c) {
    const sim_solver_info *own = s->scene->options.solver ? s->scene->options.solver : sim_solver_default();
    sim_options options = s->scene->options;
    double value[SOLVER_MAX_OPTIONS];
    for (int k = 0; k < c->solver->noptions; k++) {
        value[k] =
            c->solver == own && options.solver_option ? options.solver_option[k] : c->solver->option[k].default_value;
    }
    sim_error unused; /* checked when it was read */
    solver_words_options(c->solver, c->words, strlen(c->words), value, &unused);
    options.solver = c->solver;
    options.solver_option = value; /* a world keeps its own */
    renew_world(s, &options, 0);
}

static void move_joint(live_session *s, const live_command *c) {
    sim_error error;
    pause_session(s);
    s->say[0] = 0;
    if (live_joint_move(s->world, c->body, c->coordinate, c->value, &error)) {
        snprintf(s->say, sizeof s->say, "%s", error.text);
    }
}

/* From the next step on; a control input stays within its range. */
static void set_input(live_session *s, const live_command *c) {
    const sim_actuator *a = &s->scene->model->actuator[c->actuator];
    s->say[0] = 0;
    if (!view_input_counts(a, c->input)) {
        snprintf(s->say, sizeof s->say, "actuator %s has no %s", a->name,
                 c->input == SIM_CTRL ? "control input" : "target");
        return;
    }
    double value = c->value;
    if (c->input == SIM_CTRL && !isnan(value)) {
        value = fmax(a->ctrl_range[0], fmin(a->ctrl_range[1], value));
    }
    sim_world_inputs(s->world, c->input)[c->actuator] = value;
}

void live_session_do(live_session *s, const live_command *c) {
    /* every command makes a new frame */
    s->serial++;
    s->fresh = 0;
    switch (c->verb) {
    case LIVE_PLAY:
        s->playing = 1;
        s->steps = 0;
        s->say[0] = 0;
        start_clock(s);
        break;
    case LIVE_PAUSE:
        pause_session(s);
        break;
    case LIVE_STEP:
        pause_session(s);
        s->steps = c->count;
        break;
    case LIVE_RESET:
        reset_clock(s);
        break;
    case LIVE_SPEED:
        s->speed = c->speed;
        start_clock(s);
        break;
    case LIVE_SOLVER:
        change_solver(s, c);
        break;
    case LIVE_DRAG:
        live_spring_hold(s->spring, (sim_point){c->body, c->point}, c->target);
        break;
    case LIVE_RELEASE:
        live_spring_release(s->spring);
        break;
    case LIVE_JOINT:
        move_joint(s, c);
        break;
    case LIVE_INPUT:
        set_input(s, c);
        break;
    default:
        break;
    }
}

/* ---- steps ---- */

void live_session_rest(live_session *s, double now) {
    s->origin = s->measured = (moment){now, time_of(s)};
    s->rate = NAN;
}

static void measure_rate(live_session *s, double now) {
    double passed = now - s->measured.now;
    if (passed > RATE_WINDOW_SECONDS) {
        s->rate = (time_of(s) - s->measured.time) / passed;
        s->measured = (moment){now, time_of(s)};
    }
}

bool live_session_due(live_session *s, double now) {
    if (!s->playing) {
        return s->steps > 0;
    }
    if (isnan(s->origin.now)) {
        live_session_rest(s, now);
    }
    measure_rate(s, now);
    double step = sim_world_options(s->world)->step, time = time_of(s);
    double behind = s->origin.time + s->speed * (now - s->origin.now) - time;
    if (behind > step + MAX_LAG_SECONDS * s->speed) {
        s->origin = (moment){now, time + step};
        return true;
    }
    return behind >= step;
}

void live_session_step(live_session *s) {
    sim_error error;
    live_spring_pull(s->spring, s->world);
    s->serial++;
    s->steps -= s->steps > 0;
    if (sim_world_step(s->world, &error)) {
        pause_session(s);
        snprintf(s->say, sizeof s->say, "%s", error.text);
        return;
    }
    int event = sim_world_stopped(s->world);
    if (event >= 0) {
        pause_session(s);
        snprintf(s->say, sizeof s->say, "Event %s ends a run: it halts here, until it is played on",
                 s->scene->model->event[event].name);
    }
}

/* ---- messages ---- */

/* Messages to the page are plain text: quotes and control characters become blanks. */
static void put_plain_text(view_bytes *out, const char *text) {
    for (; *text; text++) {
        view_put_byte(out, (unsigned char)*text < ' ' || *text == '"' || *text == '\\' ? ' ' : *text);
    }
}

static void put_words(view_bytes *out, const char *text) { view_put_bytes(out, text, strlen(text)); }

/* Actuators whose input the viewers have set. */
static void put_inputs_set(view_bytes *out, const char *key, const double *input, int count) {
    char text[32];
    put_words(out, key);
    for (int k = 0, told = 0; k < count; k++) {
        if (!isnan(input[k])) {
            snprintf(text, sizeof text, "%s%d", told++ ? "," : "", k);
            put_words(out, text);
        }
    }
}

void live_session_tell(const live_session *s, view_bytes *out) {
    char text[256];
    const sim_state *state = sim_world_state(s->world);
    const sim_solver_info *solver = sim_world_options(s->world)->solver;
    int thousandths = isnan(s->rate) ? -1 : (int)fmin(1000 * fmax(s->rate, 0), 1e9); /* no locale writes a comma here */
    snprintf(text, sizeof text,
             "{\"scene\":\"%016llx\",\"run\":%d,\"step\":%lld,\"playing\":%s,\"fresh\":%s,\"speed\":%ld,\"rate\":%d,"
             "\"solver\":\"%s\"",
             (unsigned long long)s->fingerprint, s->run, (long long)state->step, s->playing ? "true" : "false",
             s->fresh ? "true" : "false", lround(1024 * s->speed), thousandths,
             s->scene->options.contacts ? solver->name : "");
    put_words(out, text);
    int actuators = s->scene->model->nactuator;
    put_inputs_set(out, ",\"ctrl\":[", sim_world_inputs(s->world, SIM_CTRL), actuators);
    put_inputs_set(out, "],\"target\":[", sim_world_inputs(s->world, SIM_TARGET), actuators);
    put_words(out, "],\"say\":\"");
    put_plain_text(out, s->say);
    put_words(out, "\"}");
}
