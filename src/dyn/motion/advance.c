/* Coordinates after a time h at constant velocity, and velocities between two sets of coordinates.
 *
 *     plain coordinates:  q + h v;       unit quaternions:  q * R(h w)
 *
 *     w    angular velocity in body axes, rad/s;  R: exponential or Cayley map
 *
 * The product is scaled to unit length, so the norm does not drift.  Reference: Featherstone 2008, section 4.5. */
#include "dyn/motion/advance.h"
#include "model/parts/joint.h"

static quat rotation_by(rotation_map map, v3 turn) {
    if (map == ROTATION_EXP) {
        return quat_exp(turn);
    }
    quat whole = quat_normalised((quat){1, 0.5 * turn.x, 0.5 * turn.y, 0.5 * turn.z});
    if (map == ROTATION_CAYLEY) {
        return whole;
    }
    return quat_normalised((quat){1 + whole.w, whole.x, whole.y, whole.z});
}

static void turn_quaternion(rotation_map map, const double *q, const double *w, double h, double *out) {
    v3 turn = {h * w[0], h * w[1], h * w[2]};
    quat next = quat_normalised(quat_product(joint_quaternion(q), rotation_by(map, turn)));
    out[0] = next.w;
    out[1] = next.x;
    out[2] = next.y;
    out[3] = next.z;
}

void advance_by(const sim_model *m, sim_range range, rotation_map map, const double *q, const double *v, double h,
                double *out) {
    double line = map == ROTATION_CAYLEY_HALF ? 0.5 * h : h;
    for (int i = range.first; i < range.end; i++) {
        const sim_body *b = &m->body[i];
        const double *from = q + b->q0, *rate = v + b->v0;
        double *to = out + b->q0;
        int quaternion = b->joint == SIM_BALL ? 0 : b->joint == SIM_FREE ? 3 : -1;
        int plain = quaternion < 0 ? b->nq : quaternion;
        for (int k = 0; k < plain; k++) {
            to[k] = from[k] + line * rate[k];
        }
        if (quaternion >= 0) {
            turn_quaternion(map, from + quaternion, rate + quaternion, h, to + quaternion);
        }
    }
}

void sim_advance(const sim_model *m, sim_range range, const double *q, const double *v, double h, double *out) {
    advance_by(m, range, ROTATION_EXP, q, v, h, out);
}

void sim_difference(const sim_model *m, sim_range range, const double *q0, const double *q1, double *v) {
    for (int i = range.first; i < range.end; i++) {
        const sim_body *b = &m->body[i];
        const double *from = q0 + b->q0, *to = q1 + b->q0;
        int quaternion = joint_facts_of(b->joint)->quaternion;
        int plain = quaternion < 0 ? b->nq : quaternion;
        for (int k = 0; k < plain; k++) {
            v[b->v0 + k] = to[k] - from[k];
        }
        if (quaternion >= 0) {
            quat step =
                quat_product(quat_conjugate(joint_quaternion(from + quaternion)), joint_quaternion(to + quaternion));
            v3 turn = quat_log(step);
            v[b->v0 + quaternion] = turn.x;
            v[b->v0 + quaternion + 1] = turn.y;
            v[b->v0 + quaternion + 2] = turn.z;
        }
    }
}
