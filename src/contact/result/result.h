/* From solved islands to the model's velocities and impulses, and to the figures of the step. */
#ifndef CONTACT_RESULT_RESULT_H
#define CONTACT_RESULT_RESULT_H

#include "contact/problem/assemble.h"

/* Velocities, impulses and counts of all islands. */
void scatter_solutions(const assembly *f, const sim_model *model, contact_output *out);

/* The certificate of all islands, and the bodies with the worst figures. */
void certify_step(const assembly *f, contact_info *info);

/* The radius of each body's largest shape, 0 without shapes; NULL without memory. */
double *sag_sizes(memory_pool *pool, const sim_model *model);
/* The contact of a step that rests the deepest beside the size of its bodies. */
void sag_find(const assembly *f, const double *size, contact_info *info);
/* By the convex law: the sliding contact that is lifted the furthest.  `reach`: the time within which gaps close, s;
 * gravity: m/s^2. */
void lift_find(const assembly *f, double reach, double gravity, contact_info *info);

/* All islands as one problem that owns its data; `mass` is A on all their trees. */
sim_problem *export_problem(const assembly *f, const mass_operator *mass, sim_error *error);

#endif
