/* Actuators, their activations and transmissions; loads. */
#ifndef SIM_ACTUATOR_H
#define SIM_ACTUATOR_H

#include <sim/base.h>
#include <sim/math.h>
#include <sim/track.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Dynamics of an activation w between the control input and the force, solved exactly over a step:
 *   integrator   w' = ctrl
 *   filter       w' = (ctrl - w) / time_constant[0]
 *   muscle       w' = (ctrl - w) / T, T = time_constant[0] (0.5 + 1.5 w) while w rises to the control input,
 *                time_constant[1] / (0.5 + 1.5 w) while it falls (Millard et al. 2013, eqs. 1-2)
 * Inputs of `muscle` are clamped to 0 .. 1. */
typedef enum sim_activation_type {
    SIM_NO_ACTIVATION,
    SIM_INTEGRATED,
    SIM_FILTERED,
    SIM_MUSCULAR,
    SIM_ACTIVATIONS,
} sim_activation_type;

SIM_API const char *sim_activation_name(sim_activation_type type);

typedef struct sim_activation {
    sim_activation_type type;
    double time_constant[2]; /* s */
    double range[2];         /* low, high, at which w stays; may be infinite */
    double initial;
} sim_activation;

/* w after the time dt under a constant control input. */
SIM_API double sim_activation_after(const sim_activation *activation, double ctrl, double w, double dt);

/* Muscle: a force -force (w FL(L) FV(V) + FP(L)) in place of gain ctrl + bias, w the activation or the control input
 * (src/model/parts/muscle.c). */
typedef struct sim_muscle {
    double force;           /* N: peak force at rest; 0: the actuator is no muscle */
    double length_range[2]; /* m or rad: of the actuator, which are ... */
    double range[2];        /* ... these lengths L, as parts of the muscle's resting length */
    double lmin, lmax;      /* L at which the active force ends */
    double vmax;            /* 1/s: velocity of shortening without force, in resting lengths */
    double fpmax, fvmax;    /* parts of `force`: passive at lmax; active where it lengthens fast */
} sim_muscle;

/* Range 0.75 to 1.05, lmin 0.5, lmax 1.6, vmax 1.5, fpmax 1.3, fvmax 1.2, without force and lengths. */
SIM_API sim_muscle sim_muscle_default(void);
/* Its force, and the slopes over length and rate (NULL: not wanted). */
SIM_API double sim_muscle_force(const sim_muscle *muscle, double activation, double length, double rate,
                                double slope[2]);

/* Transmission of an actuator, from which its length follows (src/dyn/motion/transmission.c):
 *   joint          a dof: l = gear q
 *   site           the wrench `wrench` (force, torque) at a site, in its axes: l = 0; with a reference site, along the
 *                  axes of that and back on its body: l = wrench . the pose of the site in the reference
 *   slider-crank   a rod from a site on a crank to axis z of a site: l = gear times where it meets that axis
 *   tendon         l = gear times its length
 *   orientation    of a ball joint: l = wrench . log(q), torque along the body's axes; of a free joint: l = 0, force
 *                  along the axes of the joint, torque along the body's; with `in_parent` torque along those of the joint
 *   contacts       of a body: l = 0; a force above 0 pulls at all of them within `adhesion_range`, in equal parts */
typedef enum sim_transmission {
    SIM_BY_JOINT,
    SIM_BY_SITE,
    SIM_BY_SLIDER_CRANK,
    SIM_BY_TENDON,
    SIM_BY_ORIENTATION,
    SIM_BY_CONTACTS,
    SIM_TRANSMISSIONS,
} sim_transmission;

/* Drive of a joint, of a site, or of a mechanism.  Its force f acts on all dofs with the moments dl/dq of its length:
 *
 *     f = clamp(kp (target - l) + kd (target rate - l') + feed-forward + gain(l, l') ctrl + bias(l, l'))
 *     gain = g0 + g1 l + g2 l',   bias = b0 + b1 l + b2 l'
 *
 * within +-effort and the range of forces.  With activation dynamics w stands in place of ctrl.  Control inputs are
 * clamped to their range.  Terms that pull back are kp, kd and the parts of gain ctrl + bias that fall with l or l'.
 * They are evaluated at the end of the step: implicit, so stiff gains are stable.  Parts that grow with l or l' are
 * evaluated at its start.  Feed-forward and control inputs act like loads, those of drives with feedback like targets,
 * at the end. */
typedef struct sim_actuator {
    const char *name;
    sim_transmission transmission;
    int tree;                  /* that it moves; found by the builder */
    int dof;                   /* of a joint; -1: another transmission */
    int site[2];               /* site and reference (-1: none); crank and slider */
    int body;                  /* of an orientation: that the joint carries; of contacts; found by the builder */
    double wrench[6];          /* gear of a site or orientation: force x y z, torque x y z */
    bool in_parent;            /* of an orientation: torque along the axes of the joint, which the body leaves */
    double rod;                /* m: of a slider-crank */
    int tendon;                /* of a tendon */
    double gear;               /* not 0 */
    double kp, kd;             /* force per length and rate */
    double effort;             /* infinity: no limit */
    double force_range[2];     /* low, high: both finite, or infinite; in a model, the intersection with +-effort, and
                                  of a dof's only actuator with its range of efforts */
    bool gravity_compensation; /* add the torque that holds the tree against gravity */
    sim_track target;          /* width 1: the length */
    sim_track feedforward;     /* width 1: N m or N; keys = 0: none */
    sim_track ctrl;            /* width 1: control input; keys = 0: zero */
    double ctrl_range[2];      /* low, high; may be infinite */
    double gain[3], bias[3];
    double delay;    /* s: control inputs act so much later, rounded up to whole steps; before, 0 acts */
    int delay_steps; /* of a delay: room for so many steps, from ... */
    int history;     /* ... here on in sim_state.history; set by the builder */
    sim_activation activation;
    sim_muscle muscle;
} sim_actuator;

/* A wrench on a body, or a generalised force on a dof, over time. */
typedef struct sim_load {
    const char *name;
    int body;        /* -1 when on a dof */
    int dof;         /* -1 when on a body */
    sim_v3 point;    /* where it acts, in the body frame */
    bool local;      /* components in body axes instead of world axes */
    sim_track track; /* width 6: moment, force; or width 1 on a dof */
} sim_load;

#ifdef __cplusplus
}
#endif
#endif
