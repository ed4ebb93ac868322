/* Sensors: checks of the builder. */
#include "model/builder/core/builder.h"
#include "model/parts/delay.h"
#include "model/parts/joint.h"

#include <math.h>

sim_sensor sim_sensor_default(void) {
    return (sim_sensor){.frame = pose_identity(),
                        .reference_frame = pose_identity(),
                        .radius = INFINITY,
                        .range = 1e6,
                        .saturation = INFINITY};
}

static bool is_of_actuator(sim_sensor_type type) {
    return type == SIM_SENSE_ACTUATOR_FORCE || type == SIM_SENSE_ACTUATOR_LENGTH || type == SIM_SENSE_ACTUATOR_VELOCITY;
}

static bool is_of_ball(sim_sensor_type type) {
    return type == SIM_SENSE_BALL_ORIENTATION || type == SIM_SENSE_BALL_ANGULAR_VELOCITY;
}

/* The joint, actuator or tendon that a sensor reads. */
static sim_status check_source(sim_builder *b, const sim_sensor *s) {
    const sim_body_def *body = &b->body[s->body];
    bool of_dof = s->type <= SIM_SENSE_JOINT_EFFORT;
    if (of_dof && builder_check_dof(b, s->body, s->dof, "a sensor")) {
        return b->error.status;
    }
    if (of_dof && joint_coordinate_of(body->joint, s->dof) < 0) {
        return builder_refuse(b, SIM_BAD_INPUT,
                              "sensor \"%s\": an orientation (joint of body \"%s\") has no coordinate", s->name,
                              body->name);
    }
    if (is_of_actuator(s->type) && (s->actuator < 0 || s->actuator >= b->nactuator)) {
        return builder_refuse(b, SIM_BAD_INPUT, "sensor \"%s\": there is no actuator %d", s->name, s->actuator);
    }
    bool of_tendon = s->type == SIM_SENSE_TENDON_LENGTH || s->type == SIM_SENSE_TENDON_VELOCITY;
    if (of_tendon && (s->tendon < 0 || s->tendon >= b->ntendon)) {
        return builder_refuse(b, SIM_BAD_INPUT, "sensor \"%s\": there is no tendon %d", s->name, s->tendon);
    }
    if (is_of_ball(s->type) && body->joint != SIM_BALL) {
        return builder_refuse(b, SIM_BAD_INPUT, "sensor \"%s\": body \"%s\" has a %s joint, not a ball joint", s->name,
                              body->name, sim_joint_name(body->joint));
    }
    return SIM_OK;
}

int sim_builder_add_sensor(sim_builder *b, const sim_sensor *given) {
    /* name, type and bodies */
    if (!b || b->error.status || builder_check_body(b, given->body, "a sensor") ||
        builder_check_body(b, given->reference, "the reference of a sensor")) {
        return -1;
    }
    if (!given->name || (unsigned)given->type >= SIM_SENSOR_TYPES || !builder_proper_pose(&given->frame) ||
        !builder_proper_pose(&given->reference_frame) || !(given->radius > 0) || !(given->range > 0) ||
        !(given->saturation > 0)) {
        builder_refuse(
            b, SIM_BAD_INPUT,
            "a sensor on body \"%s\" needs a name, a type, finite poses with proper rotations, radius, saturation "
            "and range > 0",
            b->body[given->body].name);
        return -1;
    }
    if (!builder_proper_delay(given->delay, given->delay_steps)) {
        builder_refuse(b, SIM_BAD_INPUT, "sensor \"%s\": a delay >= 0 with room for 1 to %d steps", given->name,
                       MOST_DELAY_STEPS);
        return -1;
    }
    /* source, and a copy */
    if (check_source(b, given) ||
        builder_grow(b, (void **)&b->sensor, b->nsensor, &b->sensor_room, sizeof *b->sensor)) {
        return -1;
    }
    sim_sensor *s = &b->sensor[b->nsensor];
    *s = *given;
    s->history = b->nhistory;
    b->nhistory += s->delay > 0 ? (s->delay_steps + 1) * sim_sensor_values(s->type) : 0;
    s->name = pool_text(b->pool, given->name);
    if (!s->name) {
        builder_refuse(b, SIM_NO_RESOURCE, "no memory for a model");
        return -1;
    }
    return b->nsensor++;
}
