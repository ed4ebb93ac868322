/* Forward kinematics: poses, motion axes, inertias, velocities and bias accelerations.
 *
 * From the root outwards, in world axes, r = o_i - o_p, S_j = (axis; advance) of each dof j of joint i:
 *     R_i = R_p E(q_i),   o_i = o_p + r(q_i)                                       poses
 *     omega_i = omega_p + omega_J,   v_i = v_p + omega_p x r + v_J                 (omega_J; v_J) = sum_j S_j v_j
 * The derivative with all joint accelerations zero is the bias of body i over its parent:
 *     d omega: omega_p x omega_J   (universal joints: + first rate x second rate, as the second axis is carried)
 *     d v:     omega_p x (omega_p x r + 2 v_J)
 * and body i moves without acceleration under the bias wrench
 *     (omega x I omega;  omega x (omega x h)).
 *
 *     R, o       rotation to world axes and origin, m;  p: the parent of body i;  E: rotation of the joint
 *     omega, v   angular velocity, rad/s, and velocity of the origin, m/s
 *     h, I       first moment m c, kg m, and inertia about o_i, kg m^2
 *
 * Reference: Featherstone 2008, sections 4.4 and 5.3.  Cost: O(n). */
#include "dyn/motion/rigid.h"
#include "math/sincos.h"
#include "model/parts/joint.h"

static void eval_angles(sim_derived *d, sim_range range, const double *q) {
    /* angles of all joints in one array */
    const sim_model *m = d->model;
    if (range.first >= range.end) {
        return;
    }
    int first = m->rotation[range.first].angle0, count = 0;
    for (int i = range.first; i < range.end; i++) {
        const sim_body *b = &m->body[i];
        switch (b->joint) {
        case SIM_HINGE:
        case SIM_SCREW:
        case SIM_CYLINDRICAL:
            d->angle[first + count++] = q[b->q0];
            break;
        case SIM_UNIVERSAL:
            d->angle[first + count++] = q[b->q0];
            d->angle[first + count++] = q[b->q0 + 1];
            break;
        case SIM_PLANAR:
            d->angle[first + count++] = q[b->q0 + 2];
            break;
        case SIM_FIXED:
        case SIM_SLIDER:
        case SIM_BALL:
        case SIM_FREE:
        case SIM_CARTESIAN:
        case SIM_JOINT_TYPES:
            break;
        }
    }
    /* sines and cosines in vector instructions */
    sincos_many(count, d->angle + first, d->sine + first, d->cosine + first);
}

static inline void place_body_at(sim_derived *d, int i, const double *q, motion *S) {
    const sim_model *m = d->model;
    const sim_body *b = &m->body[i];
    const joint_rotation *k = &m->rotation[i];
    joint_place(b, k, q + b->q0, d->sine + k->angle0, d->cosine + k->angle0, &d->pose[b->parent], &d->pose[i], &d->r[i],
                S);
}

void sim_poses(sim_derived *d, sim_range range, const double *q) {
    const sim_model *m = d->model;
    eval_angles(d, range, q);
    for (int i = range.first; i < range.end; i++) {
        const sim_body *b = &m->body[i];
        const joint_rotation *k = &m->rotation[i];
        if (b->joint == SIM_HINGE) {
            joint_pose_hinge(b, k, d->sine[k->angle0], d->cosine[k->angle0], &d->pose[b->parent], &d->pose[i],
                             &d->r[i]);
        } else {
            motion unused[SIM_MAX_JOINT_NV];
            place_body_at(d, i, q, unused);
        }
    }
}

void sim_kinematics(sim_derived *d, sim_range range, const double *q) {
    const sim_model *m = d->model;
    eval_angles(d, range, q);
    for (int i = range.first; i < range.end; i++) {
        place_body_at(d, i, q, d->S + m->body[i].v0);
        const rigid *local = &m->inertia[i];
        d->I[i] = (rigid){local->mass, m3_times(d->pose[i].R, local->h), sym3_rotated(d->pose[i].R, local->I)};
    }
}

void sim_velocities(sim_derived *d, sim_range range, const double *v) {
    const sim_model *m = d->model;
    /* joint velocity */
    for (int i = range.first; i < range.end; i++) {
        const sim_body *b = &m->body[i];
        const motion *S = d->S + b->v0;
        const double *rate = v + b->v0;
        motion joint = {{0, 0, 0}, {0, 0, 0}};
        for (int k = 0; k < b->nv; k++) {
            joint = motion_axpy(joint, rate[k], S[k]);
        }
        /* velocity-product acceleration */
        motion parent = d->vel[b->parent];
        v3 carried = v3_cross(parent.ang, d->r[i]);
        v3 spin = v3_cross(parent.ang, joint.ang);
        if (b->joint == SIM_UNIVERSAL) {
            spin = v3_axpy(spin, rate[0] * rate[1], v3_cross(S[0].ang, S[1].ang));
        }
        /* velocity, bias acceleration and gyroscopic force of the body */
        v3 omega = v3_add(parent.ang, joint.ang);
        const rigid *I = &d->I[i];
        d->vel[i] = (motion){omega, v3_add(v3_add(parent.lin, carried), joint.lin)};
        d->bias_acc[i] = (motion){spin, v3_cross(parent.ang, v3_axpy(carried, 2, joint.lin))};
        d->bias_force[i] = (force){v3_cross(omega, sym3_times(I->I, omega)), v3_cross(omega, v3_cross(omega, I->h))};
    }
}
