/* Models that several tests share. */
#ifndef SUPPORT_MODELS_H
#define SUPPORT_MODELS_H

#include <sim/sim.h>
#include <stdint.h>

/* Repeatable random numbers: splitmix64. */
typedef struct random_source {
    uint64_t state;
} random_source;
double random_uniform(random_source *r, double low, double high);
int random_index(random_source *r, int count);
double random_normal(random_source *r);
sim_v3 random_unit(random_source *r);
sim_m3 random_rotation(random_source *r);
sim_inertia random_inertia(random_source *r);

/* A forest of `bodies` bodies with joints of every type but cartesian, armature on some dofs, free of springs and dampers. */
sim_model *random_forest(random_source *r, int bodies);
/* Coordinates with unit quaternions, and velocities. */
void random_state(random_source *r, const sim_model *model, double *q, double *v);

sim_inertia box_inertia(double mass, double x, double y, double z);

/* The free-swinging chain: n links of 0.2 m and 0.2 kg, boxes 0.2 x 0.02 x 0.02 along x, hinges about y and z in turn,
 * stretched out along x with bends of 0.1 sin(i). */
sim_model *swinging_chain(int links);
/* Seven hinges, as a robot arm has them. */
sim_model *arm_model(void);
/* Free base and four legs of three hinges: 18 dofs. */
sim_model *quadruped_model(void);
/* Free base and 30 hinges in five limbs: 36 dofs. */
sim_model *humanoid_model(void);
/* A box, floating, on four legs of one hinge with a servo, that stand on balls on the ground; of random sizes. */
sim_model *standing_robot(random_source *r);
/* Two fingers, "left0" and "right0", on sliders along x close on "box0" of 1 kg, with at most `effort` each.  Another
 * index stands elsewhere. */
void add_gripper(sim_builder *builder, int index, int material, double effort, double kp, double kd);
/* Bodies with free joints, not touching. */
sim_model *free_bodies(random_source *r, int count);

#endif
