/* Poses and axes of a scene: rotation matrix from a quaternion, axis and angle, or roll, pitch and yaw.
 *
 *     R = Rz(yaw) Ry(pitch) Rx(roll),     angles in radians, those of rpy_deg in degrees */
#include "scene/loader/placement.h"
#include "math/angle.h"

#include <math.h>

static sim_m3 from_rpy(const double rpy[3], double unit) {
    double cr = cos(rpy[0] * unit), sr = sin(rpy[0] * unit), cp = cos(rpy[1] * unit), sp = sin(rpy[1] * unit);
    double cy = cos(rpy[2] * unit), sy = sin(rpy[2] * unit);
    return (sim_m3){{cy * cp, sy * cp, -sp},
                    {cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr},
                    {cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr}};
}

bool placement_quaternion(report *r, const node *at, const double *from, quat *out) {
    *out = (quat){from[0], from[1], from[2], from[3]};
    double length = quat_norm(*out);
    if (!(fabs(length - 1) <= 1e-3)) {
        report_once(r, at, NULL, "a quaternion (w, x, y, z) has length 1, not %g", length);
        return false;
    }
    *out = quat_normalised(*out);
    return true;
}

/* More than a turn in radians may have been meant in degrees. */
static void doubt_angle(report *r, const node *at, double angle, const char *hint) {
    if (angle > 2 * PI) {
        report_warning(r, at, hint, "%g rad are %.3g turns", angle, angle / (2 * PI));
    }
}

static bool read_axis_angle(report *r, const node *at, const double *from, m3 *out) {
    v3 axis = {from[0], from[1], from[2]};
    double length = v3_direction(&axis);
    if (length == 0) {
        report_once(r, at, NULL, "the axis has length 0");
        return false;
    }
    *out = m3_axis_angle(v3_make(axis.x / length, axis.y / length, axis.z / length), from[3]);
    return true;
}

static bool read_orientation(report *r, const node *at, const double *quaternion, const double *rpy,
                             const double *rpy_deg, const double *axis_angle, m3 *out) {
    /* at most one of the four forms is given */
    const node *member = node_member(at, "quaternion");
    *out = m3_identity();
    if (member) {
        quat q;
        bool good = placement_quaternion(r, member, quaternion, &q);
        *out = good ? quat_matrix(q) : *out;
        return good;
    }
    member = node_member(at, "axis_angle");
    if (member) {
        doubt_angle(r, member, fabs(axis_angle[3]), "the angle is in radians");
        return read_axis_angle(r, member, axis_angle, out);
    }
    if (node_member(at, "rpy")) {
        double most = fmax(fmax(fabs(rpy[0]), fabs(rpy[1])), fabs(rpy[2]));
        doubt_angle(r, node_member(at, "rpy"), most, "for degrees use \"rpy_deg\"");
        *out = from_rpy(rpy, 1);
    } else if (node_member(at, "rpy_deg")) {
        *out = from_rpy(rpy_deg, RADIANS_PER_DEGREE);
    }
    return true;
}

bool placement_read(report *r, const pose_data *from, sim_pose *out) {
    out->p = (sim_v3){from->position[0], from->position[1], from->position[2]};
    return read_orientation(r, from->at, from->quaternion, from->rpy, from->rpy_deg, from->axis_angle, &out->R);
}

bool placement_read_axes(report *r, const inertia_data *from, sim_m3 *out) {
    return read_orientation(r, from->at, from->quaternion, from->rpy, from->rpy_deg, from->axis_angle, out);
}
