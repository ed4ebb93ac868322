/* Poses from the frames of a scene. */
#ifndef SCENE_LOADER_PLACEMENT_H
#define SCENE_LOADER_PLACEMENT_H

#include "math/spatial.h"
#include "scene/format/tables/format.h"
#include "scene/json/report.h"

/* A quaternion of unit length to rounding; false, and reported at `at`, if it is not of length 1 to three digits. */
bool placement_quaternion(report *r, const node *at, const double *from, quat *out);
/* False, and reported, where an axis or a quaternion has no direction. */
bool placement_read(report *r, const pose_data *from, sim_pose *out);
/* Orientation of the axes in which moments of inertia stand. */
bool placement_read_axes(report *r, const inertia_data *from, sim_m3 *out);

#endif
