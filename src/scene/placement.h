/* Frames in scenes: from what is written to poses. */
#ifndef SCENE_PLACEMENT_H
#define SCENE_PLACEMENT_H

#include "scene/format.h"
#include "scene/report.h"

#include <sim/math.h>

sim_pose sim_placement_identity(void);
/* The pose of c in a, from b in a and c in b. */
sim_pose sim_placement_join(const sim_pose *ab, const sim_pose *bc);
sim_v3 sim_placement_turn(const sim_m3 *R, sim_v3 v);
sim_m3 sim_placement_rotation(sim_quat q); /* q of any length but 0 */
sim_quat sim_placement_quaternion(const sim_m3 *R);

/* False, and reported, where an axis or a quaternion has no direction. */
bool sim_placement_read(report *r, const pose_data *from, sim_pose *out);
/* Orientation of the axes in which moments of inertia stand. */
bool sim_placement_read_axes(report *r, const inertia_data *from, sim_m3 *out);

#endif
