/* Joint types: the one place that knows them.  The recursions see one motion axis per dof. */
#ifndef MODEL_JOINT_H
#define MODEL_JOINT_H

#include "math/spatial.h"
#include "model/parts/spring.h"
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
/* Is the k-th coordinate an angle?  The first that is one, 0 where none is. */
bool joint_is_angle(sim_joint_type type, int k);
int joint_first_angle(sim_joint_type type);
/* Index in the joint's q that goes with its velocity k where qdot = v holds component by component; else -1. */
int joint_coordinate_of(sim_joint_type type, int k);

/* Has its spring or damper terms beyond the linear one? */
static inline bool dof_has_terms(const sim_dof *f) { return any_terms(f->spring) || any_terms(f->damper); }
static inline bool dof_has_spring(const sim_dof *f) { return f->stiffness != 0 || any_terms(f->spring); }
/* Springs of ball and free joints pull three dofs together against a vector x, the force kappa(|x|) x (spring.h):
 *
 *     ball     log(q), rad                in axes of the body
 *     free     p - p_0, m                 in the joint frame
 *              log(q_0^-1 q), rad         in axes of the body;  p_0, q_0: at q_reference
 *
 * k: the first of the three among the dofs of the body. */
static inline bool joint_pulls_vectors(sim_joint_type type) { return type == SIM_BALL || type == SIM_FREE; }
v3 joint_stretch(const sim_model *m, const sim_body *b, int k, const double *q);
/* The slope of the force of dof j along itself. */
double dof_spring_slope(const sim_model *m, int j, const double *q);
static inline double dof_damper_force(const sim_dof *f, double v) { return damper_force(f->damping, f->damper, v); }
static inline double dof_damper_slope(const sim_dof *f, double v) { return damper_slope(f->damping, f->damper, v); }

/* Rotation of the body frame in the parent, as a function of the joint's first angle:
 *     E(q) = R_placement (a a' + cos q (1 - a a') + sin q [a]x) = constant + cos q * cosine + sin q * sine,
 * and of the universal joint's second angle (the same without placement). */
struct sim_joint_rotation {
    m3 constant, cosine, sine;
    v3 axis;    /* in the parent's body frame */
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

/* How the coordinates turn the body, in its joint frame: continuous in q, so that a full turn changes the sign. */
quat joint_turn(const sim_body *body, const double *q);

/* Pose of the body in the world and motion axes of its dofs (world axes, at the body's origin).  They follow from the
 * parent's pose, the joint's coordinates and the sines and cosines of its angles. `shift` is the way from the
 * parent's origin. */
void joint_place_any(const sim_body *b, const joint_rotation *k, const double *q, const double *sine,
                     const double *cosine, const pose *parent, pose *X, v3 *shift, motion *S);

/* The pose alone, of a hinge: the most frequent joint by far, without a call. */
static inline void joint_pose_hinge(const sim_body *b, const joint_rotation *k, double sine, double cosine,
                                    const pose *parent, pose *X, v3 *shift) {
    v3 r = m3_times(parent->R, b->placement.p);
    X->R = m3_product(parent->R, joint_combine(k->constant, cosine, k->cosine, sine, k->sine));
    X->p = v3_add(parent->p, r);
    *shift = r;
}

static inline void joint_place(const sim_body *b, const joint_rotation *k, const double *q, const double *sine,
                               const double *cosine, const pose *parent, pose *X, v3 *shift, motion *S) {
    if (b->joint != SIM_HINGE) {
        joint_place_any(b, k, q, sine, cosine, parent, X, shift, S);
        return;
    }
    joint_pose_hinge(b, k, *sine, *cosine, parent, X, shift);
    S[0] = (motion){m3_times(parent->R, k->axis), {0, 0, 0}};
}

#endif
