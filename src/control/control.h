/* Controllers of a model: from the state at the start of a step to the commands of their actuators. */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include "base/pool.h"
#include <sim/collide.h>
#include <sim/dynamics.h>

/* A controller's wish for an actuator in a step. */
typedef struct drive_command {
    bool controlled;     /* by some controller ... */
    bool aimed;          /* ... to a length */
    double target, rate; /* length at the end of the step, its rate */
    double force;        /* beside that, over the step */
} drive_command;

/* The state at the start of a step, as far as controllers read it. */
typedef struct control_input {
    double time, step; /* s */
    bool moved;        /* a step led here: v_before is known */
    const double *q, *v, *v_before;
    const double *sensor;  /* [nsensor_value] */
    const double *control; /* [ncontrol] */
    const sim_contact *contact;
    const sim_v3 *impulse;
    int ncontact;
} control_input;

typedef struct control_work {
    const sim_model *model;
    sim_derived *d;              /* of its own: kinematics and velocities at the start of the step ... */
    sim_derived *middle;         /* ... and in its middle, of trees with a task impedance */
    double *q_middle, *v_middle; /* [nq], [nv] coordinates and velocities there */
    drive_command *command;      /* [nactuator] */
    double *next;                /* [ncontrol] memory after the step */
    sim_phase_switch *change;    /* constraints that phases switch in this step, in order ... */
    int nchange;                 /* ... so many */
    double *tau, *a, *x;         /* [nv], or [nactuator] if that is more */
    double *first;               /* [nactuator] where a track of a phase begins */
    double *J, *Y;               /* [6][nv] */
    sim_motion *acc;             /* [nbody] */
} control_work;

/* `*out` stays NULL where the model has no controllers. */
sim_status control_create(const sim_model *model, memory_pool *pool, control_work **out);
void control_free(control_work *w);
size_t control_bytes(const control_work *w);
/* Memory before the first step. */
void control_start(const sim_model *model, double *control);
/* Rejects memory that no controller leaves. */
sim_status control_check(const sim_model *model, const double *control, sim_error *error);
/* Commands, memory after the step, and switches of constraints. */
void control_evaluate(control_work *w, const control_input *in);

/* ---- lead.c ---- */

/* Where a controller is led: its own track, or the target of a phase. */
typedef struct led_pose {
    sim_pose pose;
    sim_motion rate;
} led_pose;
led_pose lead_pose(const control_work *w, const control_input *in, const sim_controller *c, double time);
/* Values of its actuators, and their rates (NULL: not asked for). */
void lead_values(const control_work *w, const control_input *in, const sim_controller *c, double time, double *value,
                 double *rate);
/* Is it a number of a target of this controller, or one of those that stand for none? */
bool lead_knows(const sim_model *model, int controller, double id);
/* From where it is led now to a target, of this number among those of all phases: into its memory. */
void lead_to(control_work *w, const control_input *in, const sim_target *target, double id);

/* ---- phases.c ---- */

void phases_evaluate(control_work *w, const control_input *in, const sim_controller *c);

/* ---- task_impedance.c ---- */

void task_impedance_evaluate(control_work *w, const control_input *in, const sim_controller *c);

#endif
