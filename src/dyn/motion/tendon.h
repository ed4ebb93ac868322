/* Moment arms of a tendon, tree by tree. */
#ifndef DYN_MOTION_TENDON_H
#define DYN_MOTION_TENDON_H

#include <sim/dynamics.h>

/* Adds dL/dq to J[k], which holds a number for each dof of the tree t->tree[k].  After sim_kinematics. */
void tendon_add_moments(const sim_derived *d, int tendon, double *const J[2]);
/* Adds the wrenches that a force along the length puts on the bodies of a spatial tendon, at their origins. */
void tendon_add_wrenches(const sim_derived *d, int tendon, double strength, sim_force *wrench);
/* Lengths at q_reference into d->tendon_initial. */
void tendon_measure_initial(sim_derived *d);

#endif
