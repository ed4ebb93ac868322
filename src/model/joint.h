/* What a joint type is: the one place that knows joint types.  The recursions see one motion axis per dof.
 * Long: joint_place holds the formulas of every joint type, one case each. */
#ifndef MODEL_JOINT_H
#define MODEL_JOINT_H

#include "math/spatial.h"
#include <sim/model.h>

/* Facts of a type. */
typedef struct joint_facts {
    const char *name;
    int nq, nv;
    int angles;     /* coordinates that are angles: their sines and cosines are needed */
    int quaternion; /* index of the quaternion in q, or -1 */
    const char *q_name[SIM_MAX_JOINT_NQ];
    const char *v_name[SIM_MAX_JOINT_NV];
    unsigned angular; /* bit k: velocity k turns the body */
    unsigned linear;  /* bit k: velocity k moves its origin */
} joint_facts;

const joint_facts *joint_facts_of(sim_joint_type type);
/* Index in the joint's q that goes with its velocity k where qdot = v holds component by component; else -1. */
int joint_coordinate_of(sim_joint_type type, int k);

/* Rotation of the body frame in the parent, as a function of the joint's first angle:
 *     E(q) = R_placement (a a' + cos q (1 - a a') + sin q [a]x) = constant + cos q * cosine + sin q * sine,
 * and of the universal joint's second angle (the same without placement). */
struct sim_joint_rotation {
    m3 constant, cosine, sine;
    int angle0; /* index of the joint's first angle among all angles of the model */
    v3 cross;   /* axis x axis2: planar y direction */
    m3 second_constant, second_cosine, second_sine;
};
typedef struct sim_joint_rotation joint_rotation;

joint_rotation joint_rotation_of(const sim_body *body);

static inline m3 joint_combine(m3 a, double c, m3 b, double s, m3 d) {
    return (m3){v3_axpy(v3_axpy(a.x, c, b.x), s, d.x), v3_axpy(v3_axpy(a.y, c, b.y), s, d.y),
                v3_axpy(v3_axpy(a.z, c, b.z), s, d.z)};
}

static inline quat joint_quaternion(const double *q) { return (quat){q[0], q[1], q[2], q[3]}; }

/* Pose of the body in the world and motion axes of its dofs (world axes, at the body's origin), from the parent's
 * pose, the joint's coordinates and the sines and cosines of its angles.  `shift` is the way from the parent's origin. */
static inline void joint_place(const sim_body *b, const joint_rotation *k, const double *q, const double *sine,
                               const double *cosine, const pose *parent, pose *X, v3 *shift, motion *S) {
    const v3 zero = {0, 0, 0};
    v3 r = m3_times(parent->R, b->placement.p);
    m3 R;
    if (b->joint == SIM_HINGE) {
        R = m3_product(parent->R, joint_combine(k->constant, *cosine, k->cosine, *sine, k->sine));
        S[0] = (motion){m3_times(R, b->axis), zero};
    } else {
        m3 J = m3_product(parent->R, b->placement.R);
        v3 axis = m3_times(J, b->axis);
        switch (b->joint) {
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
            R = m3_product(first,
                           joint_combine(k->second_constant, cosine[1], k->second_cosine, sine[1], k->second_sine));
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
        default: /* fixed */
            R = J;
            break;
        }
    }
    X->R = R;
    X->p = v3_add(parent->p, r);
    *shift = r;
}

#endif
