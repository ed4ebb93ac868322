/* The world's insides, shared by the files of world/ and of this room. */
#ifndef WORLD_CORE_WORLD_H
#define WORLD_CORE_WORLD_H

#include "control/control.h"
#include "world/contact/contacts.h"
#include "world/sensor/sensors.h"

/* Time of the stages of a step, lap by lap. */
typedef struct step_timer {
    sim_profile *profile; /* NULL: not asked for */
    double since;         /* its last reading */
} step_timer;

struct sim_world {
    const sim_model *model;
    sim_options options;
    memory_pool *pool;
    sim_threads *threads;

    sim_state now, next;
    sim_step_info info;
    worker_info *worker;    /* [threads] */
    const sim_watch *watch; /* NULL: no watch can stop a step */
    step_timer timer;
    sim_equality *equality; /* [nequality] constraints between bodies as they act now: from the model and `now` */

    /* kinematics, velocities: those of `now` if `shown`, else as the step left them */
    sim_derived *derived;
    bool shown;
    collision_stage *collision; /* NULL until contacts are asked for ... */
    bool touched;               /* ... and of `now` */
    bool stepped;               /* `next` is the state before the last step */

    /* the stages of a step: each reads `now` and writes `next` */
    motion_work motion;
    world_contacts contacts;
    world_sleep *sleep;     /* NULL: nothing sleeps */
    world_sensors *sensors; /* NULL: the model has none */
    control_work *control;  /* NULL: the model has no controllers */
    int stopped;            /* event of the last step that ends runs, -1: none */
    sim_switched *switched; /* [nequality] before the step, where controllers may switch them */
};

/* ---- state.c ---- */

sim_status state_create(memory_pool *pool, const sim_model *m, sim_state *state);
/* A state before the first step: that of a keyframe of the model, -1: the initial one. */
void state_start(const sim_model *m, sim_state *state, int keyframe);
void state_copy(const sim_model *m, sim_state *to, const sim_state *from);
/* A trail without earlier steps: velocities and forces as they are now. */
void state_clear_trail(const sim_model *m, sim_state *state);
/* Rejects a state that no world can produce; `sleep` may be NULL. */
sim_status state_check(const sim_model *m, const sim_options *options, const world_sleep *sleep, const sim_state *state,
                       sim_error *error);

/* ---- switches.c ---- */

/* Constraints as the model begins. */
void switches_start(const sim_model *m, sim_switched *switched);
/* Rejects switches that no world can have. */
sim_status switches_check(const sim_model *m, const sim_switched *switched, sim_error *error);
/* The constraints of the model as the state has switched them. */
void switches_apply(const sim_model *m, const sim_state *state, sim_equality *equality);

/* Switches one in the state, whose kinematics are `d`, and among those that act now. */
sim_status switches_set(sim_state *state, sim_equality *equality, const sim_derived *d, int k, sim_switch to,
                        sim_error *error);

/* ---- create.c ---- */

/* Memory and stages of a world whose model, options and pool are set; `error` names what is missing. */
sim_status world_create_parts(sim_world *w, sim_error *error);
/* The world's collisions, created when they are first needed. */
sim_status world_create_collision(sim_world *w, sim_error *error);

/* ---- options.c ---- */

sim_status options_check(const sim_options *options, sim_error *error);

/* ---- profile.c ---- */

/* Starts a step; then the time since the last lap goes to `stage`. */
void profile_start(step_timer *timer);
void profile_lap(step_timer *timer, sim_time stage);
/* The parts of solving, as the contact stage measured them. */
void profile_add_parts(step_timer *timer, const contact_info *info);

#endif
