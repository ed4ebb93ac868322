/* Actuators of a model that is being built. */
#include "model/builder/builder.h"
#include "model/parts/joint.h"

#include <math.h>

sim_actuator sim_actuator_default(void) {
    const sim_track none = {.interpolation = SIM_HOLD, .width = 1};
    return (sim_actuator){.gear = 1,
                          .effort = INFINITY,
                          .force_range = {-INFINITY, INFINITY},
                          .target = none,
                          .feedforward = none,
                          .ctrl = none,
                          .ctrl_range = {-INFINITY, INFINITY},
                          .gain = {1, 0, 0},
                          .activation = {.range = {-INFINITY, INFINITY}}};
}

static bool all_finite(const double *x, int count) {
    for (int k = 0; k < count; k++) {
        if (!isfinite(x[k])) {
            return false;
        }
    }
    return true;
}

/* Low below high, both finite or both infinite. */
static bool is_force_range(const double *range) {
    return range[0] < range[1] && isfinite(range[0]) == isfinite(range[1]);
}

static sim_status check_numbers(sim_builder *b, const sim_actuator *a, const char *name) {
    if (!(a->kp >= 0) || !(a->kd >= 0) || !(a->effort > 0) || !isfinite(a->kp) || !isfinite(a->kd)) {
        return builder_refuse(b, SIM_BAD_INPUT, "actuator on \"%s\": kp, kd must be finite and >= 0, effort > 0", name);
    }
    if (a->gear == 0 || !isfinite(a->gear) || !all_finite(a->gain, 3) || !all_finite(a->bias, 3)) {
        return builder_refuse(b, SIM_BAD_INPUT, "actuator on \"%s\": gear, gain and bias must be finite, gear not 0",
                              name);
    }
    if (!is_force_range(a->force_range) || !(a->ctrl_range[0] <= a->ctrl_range[1])) {
        return builder_refuse(b, SIM_BAD_INPUT,
                              "actuator on \"%s\": low must be below high in its ranges of forces and control inputs",
                              name);
    }
    return SIM_OK;
}

static sim_status check_activation(sim_builder *b, const sim_activation *w, const char *name) {
    int times = w->type == SIM_FILTERED ? 1 : w->type == SIM_MUSCULAR ? 2 : 0;
    for (int k = 0; k < times; k++) {
        if (!(w->time_constant[k] > 0) || !isfinite(w->time_constant[k])) {
            return builder_refuse(b, SIM_BAD_INPUT, "actuator on \"%s\": a time constant must be > 0", name);
        }
    }
    bool unit = w->type != SIM_MUSCULAR || (w->initial >= 0 && w->initial <= 1);
    if (w->type && (!(w->range[0] <= w->initial) || !(w->initial <= w->range[1]) || !isfinite(w->initial) || !unit)) {
        return builder_refuse(b, SIM_BAD_INPUT, "actuator on \"%s\": its first activation is out of range", name);
    }
    return SIM_OK;
}

int sim_builder_add_actuator(sim_builder *b, int body, const sim_actuator *given) {
    /* coordinate */
    if (!b || b->error.status || builder_check_dof(b, body, given->dof, "an actuator")) {
        return -1;
    }
    const char *name = b->body[body].name;
    if (joint_coordinate_of(b->body[body].joint, given->dof) < 0) {
        builder_refuse(b, SIM_BAD_INPUT, "an actuator cannot act on an orientation (joint of body \"%s\")", name);
        return -1;
    }
    /* gains, ranges and activation */
    if (check_numbers(b, given, name) || check_activation(b, &given->activation, name)) {
        return -1;
    }
    /* copies with tracks of their own */
    sim_actuator actuator = *given;
    int targets_room = b->actuator_room;
    if (builder_copy_track(b, &actuator.target, 1, "an actuator's target") ||
        builder_copy_track(b, &actuator.feedforward, 1, "an actuator's feed-forward") ||
        builder_copy_track(b, &actuator.ctrl, 1, "an actuator's control input") ||
        builder_grow(b, (void **)&b->actuator_target, b->nactuator, &targets_room, sizeof *b->actuator_target) ||
        builder_grow(b, (void **)&b->actuator, b->nactuator, &b->actuator_room, sizeof *b->actuator)) {
        return -1;
    }
    actuator.name = pool_text(b->pool, given->name ? given->name : name);
    actuator.force_range[0] = fmax(actuator.force_range[0], -actuator.effort);
    actuator.force_range[1] = fmin(actuator.force_range[1], actuator.effort);
    if (!(actuator.force_range[0] < actuator.force_range[1])) {
        builder_refuse(b, SIM_BAD_INPUT, "actuator \"%s\": no force is within both its effort and its range",
                       actuator.name ? actuator.name : name);
        return -1;
    }
    b->actuator[b->nactuator] = actuator;
    b->actuator_target[b->nactuator] = (joint_target){body, given->dof};
    return b->nactuator++;
}
