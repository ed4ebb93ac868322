/* Constraints between bodies: names, numbers of rows, checks of the builder. */
#include "model/builder/core/builder.h"
#include "model/parts/joint.h"

#include <math.h>

static const char *const name_of[SIM_EQUALITY_TYPES] = {
    [SIM_WELD] = "weld",         [SIM_CONNECT] = "connect",      [SIM_DISTANCE] = "distance",
    [SIM_COUPLING] = "coupling", [SIM_SPRING_DAMPER] = "spring", [SIM_TENDON_COUPLING] = "tendon",
};
static const int rows_of[SIM_EQUALITY_TYPES] = {[SIM_WELD] = 6,     [SIM_CONNECT] = 3,       [SIM_DISTANCE] = 1,
                                                [SIM_COUPLING] = 1, [SIM_SPRING_DAMPER] = 1, [SIM_TENDON_COUPLING] = 1};

const char *sim_equality_name(sim_equality_type type) { return name_of[type]; }
int sim_equality_rows(sim_equality_type type) { return rows_of[type]; }

sim_equality sim_equality_default(void) {
    return (sim_equality){.type = SIM_WELD,
                          .frame = {pose_identity(), pose_identity()},
                          .tendon = {-1, -1},
                          .ratio = 1,
                          .stiffness = INFINITY};
}

static sim_status check_polynomial(sim_builder *b, const sim_equality *e) {
    return isfinite(e->offset) && isfinite(e->ratio) && isfinite(e->higher[0] + e->higher[1] + e->higher[2])
               ? SIM_OK
               : builder_refuse(b, SIM_BAD_INPUT, "the coefficients of a coupling must be finite");
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
    return check_polynomial(b, e);
}

/* Tendons; their bodies become those of the constraint, the world's where there is none. */
static sim_status check_tendons(sim_builder *b, sim_equality *e) {
    int tree[2] = {-1, -1}, body[2] = {-1, -1};
    for (int side = 0; side < 2; side++) {
        int k = e->tendon[side];
        if (k >= b->ntendon || (k < 0 && side == 0) || k == e->tendon[1 - side]) {
            return builder_refuse(b, SIM_BAD_INPUT, "a constraint names tendon %d, which was not added, or twice", k);
        }
        for (int i = 0; i < 2 && k >= 0; i++) {
            if (b->tendon[k].tree[i] >= 0 && builder_add_tree(b, b->tendon[k].moved_body[i], tree, body)) {
                return b->error.status;
            }
        }
    }
    e->body[0] = body[0];
    e->body[1] = body[1] >= 0 ? body[1] : 0;
    return check_polynomial(b, e);
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
    sim_equality e = *given;
    if (e.type == SIM_TENDON_COUPLING && check_tendons(b, &e)) {
        return -1;
    }
    if (builder_check_body(b, e.body[0], "a constraint") || builder_check_body(b, e.body[1], "a constraint") ||
        (e.type == SIM_COUPLING          ? check_coupling(b, &e)
         : e.type == SIM_TENDON_COUPLING ? SIM_OK
                                         : check_equality_bodies(b, &e))) {
        return -1;
    }
    /* stiffness and dissipation */
    if (!(given->stiffness > 0) || !(given->dissipation >= 0) || !isfinite(given->dissipation)) {
        builder_refuse(b, SIM_BAD_INPUT, "a constraint of \"%s\" and \"%s\": stiffness > 0, dissipation >= 0",
                       b->body[e.body[0]].name, b->body[e.body[1]].name);
        return -1;
    }
    /* copy */
    if (builder_grow(b, (void **)&b->equality, b->nequality, &b->equality_room, sizeof *b->equality)) {
        return -1;
    }
    b->equality[b->nequality] = e;
    b->equality[b->nequality].name = pool_text(b->pool, given->name);
    return b->nequality++;
}
