/* Constraints between bodies: names, numbers of rows, checks of the builder. */
#include "model/builder/builder.h"
#include "model/parts/joint.h"

#include <math.h>

static const char *const name_of[SIM_EQUALITY_TYPES] = {
    [SIM_WELD] = "weld",         [SIM_CONNECT] = "connect",      [SIM_DISTANCE] = "distance",
    [SIM_COUPLING] = "coupling", [SIM_SPRING_DAMPER] = "spring",
};
static const int rows_of[SIM_EQUALITY_TYPES] = {
    [SIM_WELD] = 6, [SIM_CONNECT] = 3, [SIM_DISTANCE] = 1, [SIM_COUPLING] = 1, [SIM_SPRING_DAMPER] = 1};

const char *sim_equality_name(sim_equality_type type) { return name_of[type]; }
int sim_equality_rows(sim_equality_type type) { return rows_of[type]; }

sim_equality sim_equality_default(void) {
    return (sim_equality){
        .type = SIM_WELD, .frame = {pose_identity(), pose_identity()}, .ratio = 1, .stiffness = INFINITY};
}

static sim_status check_coupling(sim_builder *b, const sim_equality *e) {
    if (builder_check_dof(b, e->body[0], e->dof[0], "a coupling") ||
        builder_check_dof(b, e->body[1], e->dof[1], "a coupling")) {
        return b->error.status;
    }
    for (int side = 0; side < 2; side++) {
        const sim_body_def *body = &b->body[e->body[side]];
        if (body->joint == SIM_FREE || joint_coordinate_of(body->joint, e->dof[side]) < 0) {
            return builder_refuse(b, SIM_BAD_INPUT, "a coupling cannot act on a %s joint (that of body \"%s\")",
                                  sim_joint_name(body->joint), body->name);
        }
    }
    if (e->body[0] == e->body[1] && e->dof[0] == e->dof[1]) {
        return builder_refuse(b, SIM_BAD_INPUT, "a coupling of the joint of \"%s\" with itself",
                              b->body[e->body[0]].name);
    }
    return isfinite(e->offset) && isfinite(e->ratio)
               ? SIM_OK
               : builder_refuse(b, SIM_BAD_INPUT, "offset and ratio of a coupling must be finite");
}

static sim_status check_equality_bodies(sim_builder *b, const sim_equality *e) {
    /* different bodies and proper frames */
    if (e->body[0] == e->body[1]) {
        return builder_refuse(b, SIM_BAD_INPUT, "a constraint of body \"%s\" with itself", b->body[e->body[0]].name);
    }
    if (!builder_proper_pose(&e->frame[0]) || !builder_proper_pose(&e->frame[1])) {
        return builder_refuse(
            b, SIM_BAD_INPUT,
            "a frame of the constraint of \"%s\" and \"%s\" is not a finite pose with a proper rotation",
            b->body[e->body[0]].name, b->body[e->body[1]].name);
    }
    /* distance and spring */
    bool apart = e->type == SIM_DISTANCE || e->type == SIM_SPRING_DAMPER;
    if (apart && (!(e->distance > 0) || !isfinite(e->distance))) {
        return builder_refuse(b, SIM_BAD_INPUT, "the distance of \"%s\" and \"%s\" must be positive, not %g m",
                              b->body[e->body[0]].name, b->body[e->body[1]].name, e->distance);
    }
    if (e->type == SIM_SPRING_DAMPER && !(isfinite(e->stiffness) && isfinite(e->damping) && e->damping >= 0)) {
        return builder_refuse(b, SIM_BAD_INPUT,
                              "the spring of \"%s\" and \"%s\" needs a finite stiffness and a damping >= 0",
                              b->body[e->body[0]].name, b->body[e->body[1]].name);
    }
    return SIM_OK;
}

int sim_builder_add_equality(sim_builder *b, const sim_equality *given) {
    /* type */
    if (!b || b->error.status) {
        return -1;
    }
    if ((unsigned)given->type >= SIM_EQUALITY_TYPES) {
        builder_refuse(b, SIM_BAD_INPUT, "%d is not a type of constraint", (int)given->type);
        return -1;
    }
    /* bodies and parameters of the type */
    if (builder_check_body(b, given->body[0], "a constraint") ||
        builder_check_body(b, given->body[1], "a constraint") ||
        (given->type == SIM_COUPLING ? check_coupling(b, given) : check_equality_bodies(b, given))) {
        return -1;
    }
    /* stiffness and dissipation */
    if (!(given->stiffness > 0) || !(given->dissipation >= 0) || !isfinite(given->dissipation)) {
        builder_refuse(b, SIM_BAD_INPUT, "a constraint of \"%s\" and \"%s\": stiffness > 0, dissipation >= 0",
                       b->body[given->body[0]].name, b->body[given->body[1]].name);
        return -1;
    }
    /* copy */
    if (builder_grow(b, (void **)&b->equality, b->nequality, &b->equality_room, sizeof *b->equality)) {
        return -1;
    }
    b->equality[b->nequality] = *given;
    b->equality[b->nequality].name = pool_text(b->pool, given->name);
    return b->nequality++;
}
