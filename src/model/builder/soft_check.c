/* Soft bodies in the whole model: each is a tree of its own, and sensors of force read bodies that hold all of its held
 * nodes, or none.  Checked when all bodies, tendons and sensors are known.  Cost: bodies times soft bodies, and their
 * nodes for each sensor of force. */
#include "model/builder/core/builder.h"

/* Soft bodies are trees of their own. */
static void check_soft_trees(sim_builder *b) {
    for (int k = 0; k < b->nsoft; k++) {
        int own = builder_tree(b, b->soft[k].body), tied = 0;
        for (int i = 0; b->tied && i < b->tied_room; i++) {
            tied += i != own && builder_tree(b, i) == own;
        }
        if (tied || own != b->soft[k].body) {
            builder_refuse(b, SIM_BAD_INPUT,
                           "a tendon or an actuator ties the soft body \"%s\" to other trees, which is not supported",
                           b->soft[k].name);
        }
    }
}

/* A force on a fixed body has all that the held nodes of a soft body bear, or nothing: the sum alone is known. */
static void check_soft_sensors(sim_builder *b) {
    for (int k = 0; k < b->nsensor * b->nsoft; k++) {
        const sim_sensor *sensor = &b->sensor[k / b->nsoft];
        const sim_soft *s = &b->soft[k % b->nsoft];
        bool force = sensor->type == SIM_SENSE_FORCE || sensor->type == SIM_SENSE_TORQUE;
        if (!force || sensor->body == 0 || builder_carries(b, sensor->body, s->base)) {
            continue;
        }
        for (int n = 0; n < s->nnode; n++) {
            if (s->held[n] && builder_carries(b, sensor->body, s->holder[n])) {
                builder_refuse(b, SIM_BAD_INPUT,
                               "sensor \"%s\": the soft body \"%s\" is held by \"%s\" and elsewhere, and the parts of "
                               "its force are not known: read that of a body that carries all of them",
                               sensor->name, s->name, b->body[s->holder[n]].name);
                return;
            }
        }
    }
}

void builder_check_softs(sim_builder *b) {
    check_soft_trees(b);
    check_soft_sensors(b);
}
