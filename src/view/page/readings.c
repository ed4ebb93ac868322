/* Readings of a frame besides coordinates.
 *
 *     ctrl, target = as the caller has set it, else by its track, else NAN (a control input: 0)
 *     elapsed = t - t_0,   age = t - t_e
 *
 *     t, t_0, t_e   time of the frame; of the beginning of the phase; of the last event, s
 *
 * Ages of recent events are small, so floats tell their times to a nanosecond. */
#include "view/page/readings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OF_A_KIND = 240 };

static const char *const words[VIEW_READING_KINDS] = {"sensor", "effort",  "ctrl",  "target",
                                                      "phase",  "elapsed", "count", "age"};

const char *view_reading_word(view_reading_kind kind) { return words[kind]; }

bool view_input_counts(const sim_actuator *a, sim_input input) {
    bool driven = a->gain[0] != 0 || a->gain[1] != 0 || a->gain[2] != 0 || a->muscle.force > 0;
    return input == SIM_TARGET ? a->kp > 0 : input == SIM_CTRL && driven;
}

/* ---- which there are ---- */

static int count_of(const sim_model *m, view_reading_kind kind) {
    return kind == VIEW_SENSOR                          ? m->nsensor_value
           : kind == VIEW_PHASE || kind == VIEW_ELAPSED ? m->ncontroller
           : kind == VIEW_COUNT || kind == VIEW_AGE     ? m->nevent
                                                        : m->nactuator;
}

static bool is_there(const sim_model *m, view_reading r) {
    switch (r.kind) {
    case VIEW_CTRL:
        return view_input_counts(&m->actuator[r.of], SIM_CTRL);
    case VIEW_TARGET:
        return view_input_counts(&m->actuator[r.of], SIM_TARGET);
    case VIEW_PHASE:
    case VIEW_ELAPSED:
        return m->controller[r.of].type == SIM_PHASES;
    default:
        return true;
    }
}

bool view_readings_plan(view_readings *readings, const sim_model *model) {
    *readings = (view_readings){.model = model};
    readings->list = calloc(VIEW_READING_KINDS * MAX_OF_A_KIND, sizeof *readings->list);
    for (int kind = 0; readings->list && kind < VIEW_READING_KINDS; kind++) {
        readings->first[kind] = readings->count;
        int count = count_of(model, (view_reading_kind)kind);
        for (int of = 0; of < count && readings->count - readings->first[kind] < MAX_OF_A_KIND; of++) {
            view_reading reading = {(view_reading_kind)kind, of};
            if (is_there(model, reading)) {
                readings->list[readings->count++] = reading;
            }
        }
    }
    readings->first[VIEW_READING_KINDS] = readings->count;
    readings->value = calloc((size_t)readings->count + 1, sizeof *readings->value);
    return readings->list && readings->value;
}

void view_readings_free(view_readings *readings) {
    free(readings->list);
    free(readings->value);
    *readings = (view_readings){0};
}

/* ---- values ---- */

static double input_now(sim_world *world, const sim_actuator *actuator, int of, sim_input input) {
    double value = sim_world_inputs(world, input)[of];
    const sim_track *track = input == SIM_CTRL ? &actuator->ctrl : &actuator->target;
    if (isnan(value) && sim_track_given(track)) {
        sim_track_at(track, sim_world_state(world)->time, &value, NULL);
    }
    return isnan(value) && input == SIM_CTRL ? 0 : value;
}

/* Of the present state; NAN: there is none. */
static double value_now(sim_world *world, view_reading r) {
    const sim_model *m = sim_world_model(world);
    const sim_state *now = sim_world_state(world);
    switch (r.kind) {
    case VIEW_SENSOR:
        return sim_world_sensors(world)[r.of];
    case VIEW_EFFORT:
        return sim_world_efforts(world)[r.of];
    case VIEW_CTRL:
        return input_now(world, &m->actuator[r.of], r.of, SIM_CTRL);
    case VIEW_TARGET:
        return input_now(world, &m->actuator[r.of], r.of, SIM_TARGET);
    case VIEW_PHASE:
        return sim_world_phase(world, r.of);
    case VIEW_ELAPSED:
        return sim_world_phase(world, r.of) < 0 ? NAN : now->time - now->control[m->controller[r.of].first + 1];
    case VIEW_COUNT:
        return (double)sim_world_events(world)[r.of].count;
    default:
        return sim_world_events(world)[r.of].count ? now->time - sim_world_events(world)[r.of].time : NAN;
    }
}

void view_readings_take(view_readings *readings, sim_world *world) {
    for (int k = 0; k < readings->count; k++) {
        readings->value[k] = value_now(world, readings->list[k]);
    }
}

/* ---- words ---- */

void view_reading_name(const sim_model *m, view_reading r, char *text, size_t size) {
    switch (r.kind) {
    case VIEW_SENSOR:
        sim_model_sensor_value_name(m, r.of, text, size);
        return;
    case VIEW_PHASE:
    case VIEW_ELAPSED:
        snprintf(text, size, "%s", m->controller[r.of].name);
        return;
    case VIEW_COUNT:
    case VIEW_AGE:
        snprintf(text, size, "%s", m->event[r.of].name);
        return;
    default:
        snprintf(text, size, "%s", m->actuator[r.of].name);
    }
}

static bool turns(const sim_model *m, const sim_actuator *a) {
    return a->transmission == SIM_BY_JOINT ? m->dof[a->dof].turns : a->transmission == SIM_BY_ORIENTATION;
}

/* A servo, gain u - gain l: its control input is a length. */
static bool is_servo(const sim_actuator *a) {
    return a->gain[0] != 0 && a->gain[0] == -a->bias[1] && a->bias[0] == 0 && a->activation.type != SIM_INTEGRATED;
}

/* A motor, whose control input is its force. */
static bool is_motor(const sim_actuator *a) {
    return a->gain[0] == 1 && a->gain[1] == 0 && a->gain[2] == 0 && a->bias[0] == 0 && a->bias[1] == 0 &&
           a->bias[2] == 0 && a->muscle.force == 0 && a->activation.type != SIM_INTEGRATED;
}

static const char *length_unit(const sim_model *m, const sim_actuator *a) {
    bool none = a->transmission == SIM_BY_SITE || a->transmission == SIM_BY_CONTACTS;
    return none ? "" : turns(m, a) ? "rad" : "m";
}

static const char *force_unit(const sim_model *m, const sim_actuator *a) {
    return a->transmission == SIM_BY_SITE ? "" : turns(m, a) ? "N m" : "N";
}

const char *view_reading_unit(const sim_model *m, view_reading r) {
    const sim_actuator *a = r.kind >= VIEW_EFFORT && r.kind <= VIEW_TARGET ? &m->actuator[r.of] : NULL;
    switch (r.kind) {
    case VIEW_SENSOR:
        return sim_model_sensor_value_unit(m, r.of);
    case VIEW_EFFORT:
        return force_unit(m, a);
    case VIEW_CTRL:
        return is_servo(a) ? length_unit(m, a) : is_motor(a) ? force_unit(m, a) : "";
    case VIEW_TARGET:
        return length_unit(m, a);
    case VIEW_ELAPSED:
    case VIEW_AGE:
        return "s";
    default:
        return "";
    }
}

/* Of the joint or tendon: the gear may turn it round. */
static void length_range(const sim_model *m, const sim_actuator *a, double range[2]) {
    const sim_limit *limit = a->transmission == SIM_BY_JOINT    ? &m->dof[a->dof].limit
                             : a->transmission == SIM_BY_TENDON ? &m->tendon[a->tendon].limit
                                                                : NULL;
    if (limit) {
        range[0] = fmin(a->gear * limit->low, a->gear * limit->high);
        range[1] = fmax(a->gear * limit->low, a->gear * limit->high);
    }
}

void view_reading_range(const sim_model *m, view_reading r, double range[2]) {
    const sim_actuator *a = &m->actuator[r.of];
    range[0] = -INFINITY;
    range[1] = INFINITY;
    if (r.kind == VIEW_TARGET || (r.kind == VIEW_CTRL && is_servo(a))) {
        length_range(m, a, range);
    } else if (r.kind == VIEW_CTRL && is_motor(a)) {
        memcpy(range, a->force_range, 2 * sizeof *range);
    } else if (r.kind == VIEW_CTRL && a->muscle.force > 0) {
        range[0] = 0;
        range[1] = 1;
    }
    if (r.kind == VIEW_CTRL) {
        range[0] = isfinite(a->ctrl_range[0]) ? a->ctrl_range[0] : range[0];
        range[1] = isfinite(a->ctrl_range[1]) ? a->ctrl_range[1] : range[1];
    }
}
