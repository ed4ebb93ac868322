/* Poses of bodies at the start, before the model is made: from joint to joint, towards the world.
 * Cost: linear in the depth of the body. */
#include "model/builder/core/builder.h"
#include "model/parts/joint.h"

static pose place_on_parent(const sim_body_def *def) {
    /* angles stand side by side */
    int first = joint_first_angle(def->joint);
    double sine[2] = {0, 0}, cosine[2] = {1, 1};
    for (int k = 0; k < joint_facts_of(def->joint)->angles; k++) {
        sine[k] = sin(def->q[first + k]);
        cosine[k] = cos(def->q[first + k]);
    }
    /* the joint, on a parent at the origin */
    sim_body body = {
        .joint = def->joint, .placement = def->placement, .axis = def->axis, .axis2 = def->axis2, .pitch = def->pitch};
    pose X, parent = pose_identity();
    joint_rotation rotation = joint_rotation_of(&body);
    motion S[SIM_MAX_JOINT_NV];
    v3 shift;
    joint_place_any(&body, &rotation, def->q, sine, cosine, &parent, &X, &shift, S);
    return X;
}

sim_pose builder_start_pose(const sim_builder *b, int body) {
    pose X = pose_identity();
    for (; body > 0; body = b->body[body].parent) {
        X = pose_product(place_on_parent(&b->body[body]), X);
    }
    return X;
}
