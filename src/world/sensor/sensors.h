/* Readings of the sensors of a model at the end of a step. */
#ifndef WORLD_SENSOR_SENSORS_H
#define WORLD_SENSOR_SENSORS_H

#include "base/pool.h"
#include "math/spatial.h"
#include <sim/world.h>

typedef struct world_sensors {
    const sim_model *model;
    const sim_options *options;
    const sim_equality *equality; /* [nequality] as they act now */
    const sim_force *drag;        /* [nbody] of the fluid in the step; NULL: none */
    const char *damped;           /* [ntree] trees that implicit Euler moved; NULL: none */
    sim_derived *mean; /* kinematics where the step takes its forces; accelerations and wrenches of the step */
    sim_derived *end;  /* kinematics at the end of the step */
    double *q, *v, *a; /* where the step takes its forces: [nq], [nv], [nv] */
    double *tau;       /* [nv] */
    double *moment;    /* [nv] of one actuator */
    force *external;   /* [nbody] forces on bodies that no joint carries, at their origins: means over the step */
} world_sensors;

/* ---- sensors.c ---- */

/* `*out` stays NULL where the model has no sensors. */
sim_status sensors_create(const sim_model *model, const sim_options *options, const sim_equality *equality,
                          const sim_force *drag, const char *damped, memory_pool *pool, world_sensors **out);
void sensors_free(world_sensors *w);
size_t sensors_bytes(const world_sensors *w);
/* Readings into `now`, the state at the end of the step that began with `before`.  `before` NULL: no step led to it, and
 * forces and accelerations read 0. */
void sensors_read(world_sensors *w, sim_state *now, const sim_state *before);

/* ---- step_forces.c ---- */

/* Sums loads, wrenches of the caller, contacts and constraints between bodies over each body: into `external`. */
void sensors_sum_forces(world_sensors *w, const sim_state *now, const sim_state *before);

#endif
