/* Keyframes: named states of a model. */
#include "model/builder/core/builder.h"

#include <math.h>
#include <string.h>

int sim_builder_add_keyframe(sim_builder *b, const char *name, double time) {
    if (!b || b->error.status) {
        return -1;
    }
    if (!name || !isfinite(time)) {
        builder_refuse(b, SIM_BAD_INPUT, "a keyframe has no name, or no finite time");
        return -1;
    }
    if (builder_grow(b, (void **)&b->keyframe, b->nkeyframe, &b->keyframe_room, sizeof *b->keyframe)) {
        return -1;
    }
    char *kept = pool_text(b->pool, name);
    if (!kept) {
        builder_refuse(b, SIM_NO_RESOURCE, "no memory for a model");
        return -1;
    }
    b->keyframe[b->nkeyframe] = (sim_keyframe){.name = kept, .time = time};
    return b->nkeyframe++;
}

/* Checks the numbers and copies them; a quaternion is scaled to unit length. */
static sim_status take_state(sim_builder *b, const sim_keyframe *k, const double *q, const double *v,
                             sim_joint_state *out) {
    sim_body_def def = b->body[out->body];
    int nq = sim_joint_nq(def.joint), nv = sim_joint_nv(def.joint);
    double sum = 0;
    for (int i = 0; i < nq && q; i++) {
        def.q[i] = q[i];
        sum += fabs(q[i]);
    }
    for (int i = 0; i < nv && v; i++) {
        out->v[i] = v[i];
        sum += fabs(v[i]);
    }
    if (!isfinite(sum)) {
        return builder_refuse(b, SIM_BAD_INPUT, "keyframe \"%s\": a number of the joint of body \"%s\" is not finite",
                              k->name, def.name);
    }
    if (q && builder_normalise_quaternion(b, &def)) {
        return b->error.status;
    }
    memcpy(out->q, def.q, (size_t)nq * sizeof *out->q);
    out->has_q = q;
    out->has_v = v;
    return SIM_OK;
}

void sim_builder_set_keyframe(sim_builder *b, int keyframe, int body, const double *q, const double *v) {
    /* keyframe and body */
    if (!b || b->error.status || builder_check_body(b, body, "a keyframe")) {
        return;
    }
    if (keyframe < 0 || keyframe >= b->nkeyframe) {
        builder_refuse(b, SIM_BAD_INPUT, "there is no keyframe %d", keyframe);
        return;
    }
    /* room, and a copy */
    int room = b->joint_state_room;
    if (builder_grow(b, (void **)&b->state_keyframe, b->njoint_state, &room, sizeof *b->state_keyframe) ||
        builder_grow(b, (void **)&b->joint_state, b->njoint_state, &b->joint_state_room, sizeof *b->joint_state)) {
        return;
    }
    sim_joint_state state = {.body = body};
    if (take_state(b, &b->keyframe[keyframe], q, v, &state)) {
        return;
    }
    b->state_keyframe[b->njoint_state] = keyframe;
    b->joint_state[b->njoint_state++] = state;
    b->keyframe[keyframe].nstate++;
}

sim_status sim_builder_set_drive(sim_builder *b, int keyframe, const sim_actuator_state *drive) {
    /* keyframe, actuator, numbers */
    if (!b || b->error.status) {
        return b ? b->error.status : SIM_NO_RESOURCE;
    }
    if (keyframe < -1 || keyframe >= b->nkeyframe || drive->actuator < 0 || drive->actuator >= b->nactuator) {
        return builder_refuse(b, SIM_BAD_INPUT, "there is no keyframe %d, or no actuator %d", keyframe,
                              drive->actuator);
    }
    const sim_actuator *a = &b->actuator[drive->actuator];
    const sim_activation *w = &a->activation;
    if (isinf(drive->ctrl) || isinf(drive->activation)) {
        return builder_refuse(b, SIM_BAD_INPUT, "a keyframe: a number of the actuator \"%s\" is not finite", a->name);
    }
    if (drive->activation < w->range[0] || drive->activation > w->range[1] || (!w->type && !isnan(drive->activation))) {
        return builder_refuse(b, SIM_BAD_INPUT, "a keyframe: the actuator \"%s\" has no activation %g", a->name,
                              drive->activation);
    }
    /* room, and a copy */
    int room = b->drive_room;
    if (builder_grow(b, (void **)&b->drive_keyframe, b->ndrive, &room, sizeof *b->drive_keyframe) ||
        builder_grow(b, (void **)&b->drive, b->ndrive, &b->drive_room, sizeof *b->drive)) {
        return b->error.status;
    }
    b->drive_keyframe[b->ndrive] = keyframe;
    b->drive[b->ndrive++] = *drive;
    if (keyframe >= 0) {
        b->keyframe[keyframe].ndrive++;
    }
    return SIM_OK;
}

void sim_builder_start_at(sim_builder *b, int keyframe) {
    if (!b || b->error.status) {
        return;
    }
    if (keyframe < 0 || keyframe >= b->nkeyframe) {
        builder_refuse(b, SIM_BAD_INPUT, "there is no keyframe %d to start at", keyframe);
        return;
    }
    b->start = keyframe + 1;
}
