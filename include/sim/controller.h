/* Controllers of actuators, their phases; events. */
#ifndef SIM_CONTROLLER_H
#define SIM_CONTROLLER_H

#include <sim/base.h>
#include <sim/constraint.h>
#include <sim/track.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Controllers lead actuators of joints, step by step (docs/control.md).  An actuator has one at most: its gains are
 * those of the controller, and its own target counts no more.
 *
 *   joint impedance   kp, kd and compensation of gravity; targets of all joints by one track
 *   task impedance    a frame is pulled towards a pose, as by springs and dampers; a posture is held beside it
 *   gripper           a force, and damping
 *   phases            a state machine: targets for other controllers, constraints switched, what comes next */
typedef enum sim_controller_type {
    SIM_JOINT_IMPEDANCE,
    SIM_TASK_IMPEDANCE,
    SIM_GRIPPER,
    SIM_PHASES,
    SIM_CONTROLLER_TYPES,
} sim_controller_type;

SIM_API const char *sim_controller_name(sim_controller_type type);

/* Where a phase leads a controller: to a place, or along a track.  The difference from where it is led when the phase
 * begins fades smoothly within the duration. */
typedef struct sim_target {
    int controller;
    double duration;     /* s */
    sim_pose pose;       /* of a task impedance */
    const double *value; /* [nactuator] of the others: lengths of the actuators, forces */
    sim_track track;     /* if given, in place of both: as the controller's own, but times count from its phase on */
    int npose;
    const sim_pose *way; /* [npose] of a task impedance on a track */
} sim_target;

/* Quantities that conditions of phases compare:
 *   elapsed    time since the phase began, s
 *   time       of the simulation, s
 *   reading    value `first` of all sensors
 *   distance   between the sites `first` and `second`, m
 *   contact    1 if the bodies `first` and `second` (-1: any other) press on each other, else 0 */
typedef enum sim_quantity {
    SIM_ELAPSED,
    SIM_TIME_PASSED,
    SIM_READING,
    SIM_SITE_DISTANCE,
    SIM_PRESSED,
    SIM_QUANTITIES,
} sim_quantity;

/* It holds where low <= quantity <= high. */
typedef struct sim_condition {
    sim_quantity quantity;
    int first, second;
    double low, high;
} sim_condition;

/* To another phase, once all conditions hold. */
typedef struct sim_transition {
    int to, ncondition;
    const sim_condition *condition;
} sim_transition;

typedef struct sim_phase_switch {
    int equality;
    sim_switch to;
} sim_phase_switch;

typedef struct sim_phase {
    const char *name;
    int ntarget, nswitch, ntransition;
    const sim_target *target; /* where it begins */
    const sim_phase_switch *change;
    const sim_transition *transition; /* the first whose conditions hold counts */
} sim_phase;

typedef struct sim_controller {
    const char *name; /* unique among controllers */
    sim_controller_type type;
    int nactuator; /* of joints: joint impedance and gripper all that it leads; task impedance those between ... */
    const int *actuator;               /* ... the site and the world */
    const double *stiffness, *damping; /* [nactuator] joint impedance; gripper: damping alone */
    bool gravity_compensation;         /* joint impedance */
    /* joint impedance, gripper: width nactuator, lengths or forces; task impedance: width 1, places in the list of poses:
     * 1.5 is halfway from pose[1] to pose[2].  Not given: what the controller finds at the first step; no force */
    sim_track target;
    int npose;
    const sim_pose *pose;     /* task impedance, in the world */
    int site;                 /* task impedance: the frame */
    double task_stiffness[6]; /* N/m along, N m/rad about the axes of the world */
    double damping_ratio;     /* of its free motion */
    double posture_rate;      /* rad/s: of the return to the posture where the pose leaves it free, damped critically */
    const double *posture;    /* [nactuator] coordinates of the joints; NULL: those at the start of the model */
    int nphase;
    const sim_phase *phase;
    int first; /* of its numbers in sim_state.control */
} sim_controller;

/* Events: moments at which a quantity g passes from below 0 to 0 or above (docs/control.md).
 *   leaves box    g = how far the point is outside the box low .. high, m
 *   begins        two bodies press on each other (second -1: the first on any); time by gap and closing speed
 *   breaks        they no longer do; time by the decay of their impulse
 *   energy below  g = level - energy, J: kinetic, or kinetic and potential (first = 1)
 *   above, below  g = reading - level, or its opposite, of value `first` of all sensors */
typedef enum sim_event_type {
    SIM_LEAVES_BOX,
    SIM_CONTACT_BEGINS,
    SIM_CONTACT_BREAKS,
    SIM_ENERGY_BELOW,
    SIM_READING_ABOVE,
    SIM_READING_BELOW,
    SIM_EVENT_TYPES,
} sim_event_type;

typedef struct sim_event {
    const char *name; /* unique among events */
    sim_event_type type;
    int first, second;
    sim_v3 point, low, high; /* of a box: the point in axes of the body `first`; corners in the world */
    double level;
    bool stop; /* a run ends with the step in which it happens */
} sim_event;

#ifdef __cplusplus
}
#endif
#endif
