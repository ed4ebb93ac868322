#include "model/joint.h"

static const joint_facts facts[SIM_JOINT_TYPES] = {
    [SIM_FIXED] = {"fixed", 0, 0, 0, -1, {0}, {0}, 0, 0},
    [SIM_HINGE] = {"hinge", 1, 1, 1, -1, {""}, {""}, 1u, 0},
    [SIM_SLIDER] = {"slider", 1, 1, 0, -1, {""}, {""}, 0, 1u},
    [SIM_SCREW] = {"screw", 1, 1, 1, -1, {""}, {""}, 1u, 1u},
    [SIM_CYLINDRICAL] = {"cylindrical", 2, 2, 1, -1, {"angle", "distance"}, {"angle", "distance"}, 1u, 2u},
    [SIM_UNIVERSAL] = {"universal", 2, 2, 2, -1, {"angle1", "angle2"}, {"angle1", "angle2"}, 3u, 0},
    [SIM_BALL] = {"ball", 4, 3, 0, 0, {"qw", "qx", "qy", "qz"}, {"wx", "wy", "wz"}, 7u, 0},
    [SIM_PLANAR] = {"planar", 3, 3, 1, -1, {"x", "y", "angle"}, {"x", "y", "angle"}, 4u, 3u},
    [SIM_FREE] =
        {"free", 7, 6, 0, 3, {"x", "y", "z", "qw", "qx", "qy", "qz"}, {"vx", "vy", "vz", "wx", "wy", "wz"}, 070u, 7u},
};

const joint_facts *joint_facts_of(sim_joint_type type) { return &facts[type]; }

int sim_joint_nq(sim_joint_type type) { return facts[type].nq; }
int sim_joint_nv(sim_joint_type type) { return facts[type].nv; }
const char *sim_joint_name(sim_joint_type type) { return facts[type].name; }

int joint_coordinate_of(sim_joint_type type, int k) {
    if (type == SIM_FREE) {
        return k < 3 ? k : -1;
    }
    return type == SIM_BALL ? -1 : k;
}

/* a a', 1 - a a', [a]x, each behind the rotation R. */
static void rotation_parts(m3 R, v3 a, m3 *constant, m3 *cosine, m3 *sine) {
    m3 aa = {v3_scale(a.x, a), v3_scale(a.y, a), v3_scale(a.z, a)};
    m3 rest = {v3_sub(v3_make(1, 0, 0), aa.x), v3_sub(v3_make(0, 1, 0), aa.y), v3_sub(v3_make(0, 0, 1), aa.z)};
    m3 cross = {v3_make(0, a.z, -a.y), v3_make(-a.z, 0, a.x), v3_make(a.y, -a.x, 0)};
    *constant = m3_product(R, aa);
    *cosine = m3_product(R, rest);
    *sine = m3_product(R, cross);
}

joint_rotation joint_rotation_of(const sim_body *body) {
    joint_rotation k = {.cross = v3_cross(body->axis, body->axis2)};
    rotation_parts(body->placement.R, body->axis, &k.constant, &k.cosine, &k.sine);
    rotation_parts(m3_identity(), body->axis2, &k.second_constant, &k.second_cosine, &k.second_sine);
    return k;
}
