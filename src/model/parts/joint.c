/* Joint types: coordinates, pose and motion axes of each.  Long: joint_place_any holds the formulas of every joint type.
 *
 *     R(a, q) = a a' + cos q (1 - a a') + sin q [a]x      rotation about a unit axis (Rodrigues)
 *
 *     a    axis in the joint frame;  q: coordinate, rad or m;  [a]x: cross product as a matrix
 *
 * The three parts are computed once, behind the rotation of the placement, so that a pose takes one sine and cosine.
 * Reference: Featherstone 2008, section 4.4.     Cost: constant a joint. */
#include "model/parts/joint.h"

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
    [SIM_CARTESIAN] = {"cartesian", 3, 3, 0, -1, {"x", "y", "z"}, {"x", "y", "z"}, 0, 7u},
};

const joint_facts *joint_facts_of(sim_joint_type type) { return &facts[type]; }

int sim_joint_nq(sim_joint_type type) { return facts[type].nq; }
int sim_joint_nv(sim_joint_type type) { return facts[type].nv; }
const char *sim_joint_name(sim_joint_type type) { return facts[type].name; }

bool joint_is_angle(sim_joint_type type, int k) {
    const joint_facts *f = &facts[type];
    return f->quaternion < 0 && k < f->nq && (f->angular >> k & 1);
}

int joint_first_angle(sim_joint_type type) {
    int k = 0;
    while (k < facts[type].nq && !joint_is_angle(type, k)) {
        k++;
    }
    return k < facts[type].nq ? k : 0;
}

int joint_coordinate_of(sim_joint_type type, int k) {
    if (type == SIM_FREE) {
        return k < 3 ? k : -1;
    }
    return type == SIM_BALL ? -1 : k;
}

v3 joint_stretch(const sim_model *m, const sim_body *b, int k, const double *q) {
    const double *at = q + b->q0, *rest = m->q_reference + b->q0;
    if (b->joint == SIM_BALL) {
        return quat_log(joint_quaternion(at));
    }
    if (k == 0) {
        return (v3){at[0] - rest[0], at[1] - rest[1], at[2] - rest[2]};
    }
    return quat_log(quat_product(quat_conjugate(joint_quaternion(rest + 3)), joint_quaternion(at + 3)));
}

double dof_spring_slope(const sim_model *m, int j, const double *q) {
    const sim_dof *f = &m->dof[j];
    const sim_body *b = &m->body[f->body];
    if (!joint_pulls_vectors(b->joint)) {
        return spring_slope(f->stiffness, f->spring, q[f->coordinate] - f->rest);
    }
    int k = j - b->v0;
    v3 x = joint_stretch(m, b, k - k % 3, q);
    double r = v3_norm(x), part = k % 3 == 0 ? x.x : k % 3 == 1 ? x.y : x.z;
    double bend = r > 0 ? spring_factor_slope(f->spring, r) * part * part / r : 0;
    return spring_factor(f->stiffness, f->spring, r) + bend;
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
    joint_rotation k = {.cross = v3_cross(body->axis, body->axis2), .axis = m3_times(body->placement.R, body->axis)};
    rotation_parts(body->placement.R, body->axis, &k.constant, &k.cosine, &k.sine);
    rotation_parts(m3_identity(), body->axis2, &k.second_constant, &k.second_cosine, &k.second_sine);
    return k;
}

/* By the type. */
quat joint_turn(const sim_body *body, const double *q) {
    switch (body->joint) {
    case SIM_HINGE:
    case SIM_SCREW:
    case SIM_CYLINDRICAL:
        return quat_exp(v3_scale(q[0], body->axis));
    case SIM_UNIVERSAL:
        return quat_product(quat_exp(v3_scale(q[0], body->axis)), quat_exp(v3_scale(q[1], body->axis2)));
    case SIM_PLANAR:
        return quat_exp(v3_scale(q[2], body->axis));
    case SIM_BALL:
        return joint_quaternion(q);
    case SIM_FREE:
        return joint_quaternion(q + 3);
    case SIM_FIXED:
    case SIM_SLIDER:
    case SIM_CARTESIAN:
    case SIM_JOINT_TYPES:
        break;
    }
    return (quat){1, 0, 0, 0};
}

/* Pose, shift and axes by the type. */
void joint_place_any(const sim_body *b, const joint_rotation *k, const double *q, const double *sine,
                     const double *cosine, const pose *parent, pose *X, v3 *shift, motion *S) {
    const v3 zero = {0, 0, 0};
    v3 r = m3_times(parent->R, b->placement.p);
    m3 R;
    m3 J = m3_product(parent->R, b->placement.R);
    v3 axis = m3_times(J, b->axis);
    switch (b->joint) {
    case SIM_HINGE:
        R = m3_product(parent->R, joint_combine(k->constant, *cosine, k->cosine, *sine, k->sine));
        S[0] = (motion){axis, zero};
        break;
    case SIM_SLIDER:
        R = J;
        S[0] = (motion){zero, axis};
        r = v3_axpy(r, q[0], axis);
        break;
    case SIM_SCREW: {
        double advance = b->pitch / (2 * M_PI);
        R = m3_product(parent->R, joint_combine(k->constant, *cosine, k->cosine, *sine, k->sine));
        S[0] = (motion){axis, v3_scale(advance, axis)};
        r = v3_axpy(r, advance * q[0], axis);
        break;
    }
    case SIM_CYLINDRICAL:
        R = m3_product(parent->R, joint_combine(k->constant, *cosine, k->cosine, *sine, k->sine));
        S[0] = (motion){axis, zero};
        S[1] = (motion){zero, axis};
        r = v3_axpy(r, q[1], axis);
        break;
    case SIM_UNIVERSAL: {
        m3 first = m3_product(parent->R, joint_combine(k->constant, cosine[0], k->cosine, sine[0], k->sine));
        R = m3_product(first, joint_combine(k->second_constant, cosine[1], k->second_cosine, sine[1], k->second_sine));
        S[0] = (motion){axis, zero};
        S[1] = (motion){m3_times(first, b->axis2), zero};
        break;
    }
    case SIM_PLANAR: {
        v3 x = m3_times(J, b->axis2), y = m3_times(J, k->cross);
        R = m3_product(parent->R, joint_combine(k->constant, *cosine, k->cosine, *sine, k->sine));
        S[0] = (motion){zero, x};
        S[1] = (motion){zero, y};
        S[2] = (motion){axis, zero};
        r = v3_axpy(v3_axpy(r, q[0], x), q[1], y);
        break;
    }
    case SIM_BALL:
        R = m3_product(J, quat_matrix(joint_quaternion(q)));
        S[0] = (motion){R.x, zero};
        S[1] = (motion){R.y, zero};
        S[2] = (motion){R.z, zero};
        break;
    case SIM_FREE:
        R = m3_product(J, quat_matrix(joint_quaternion(q + 3)));
        S[0] = (motion){zero, J.x};
        S[1] = (motion){zero, J.y};
        S[2] = (motion){zero, J.z};
        S[3] = (motion){R.x, zero};
        S[4] = (motion){R.y, zero};
        S[5] = (motion){R.z, zero};
        r = v3_add(r, m3_times(J, (v3){q[0], q[1], q[2]}));
        break;
    case SIM_CARTESIAN:
        R = J;
        S[0] = (motion){zero, J.x};
        S[1] = (motion){zero, J.y};
        S[2] = (motion){zero, J.z};
        r = v3_add(r, m3_times(J, (v3){q[0], q[1], q[2]}));
        break;
    case SIM_FIXED:
    case SIM_JOINT_TYPES:
        R = J;
        break;
    }
    X->R = R;
    X->p = v3_add(parent->p, r);
    *shift = r;
}
