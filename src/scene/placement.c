#include "scene/placement.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

sim_pose sim_placement_identity(void) { return (sim_pose){.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}; }

sim_v3 sim_placement_turn(const sim_m3 *R, sim_v3 v) {
    return (sim_v3){R->x.x * v.x + R->y.x * v.y + R->z.x * v.z, R->x.y * v.x + R->y.y * v.y + R->z.y * v.z,
                    R->x.z * v.x + R->y.z * v.y + R->z.z * v.z};
}

static sim_m3 times(const sim_m3 *A, const sim_m3 *B) {
    return (sim_m3){sim_placement_turn(A, B->x), sim_placement_turn(A, B->y), sim_placement_turn(A, B->z)};
}

sim_pose sim_placement_join(const sim_pose *ab, const sim_pose *bc) {
    sim_v3 shift = sim_placement_turn(&ab->R, bc->p);
    return (sim_pose){times(&ab->R, &bc->R), {ab->p.x + shift.x, ab->p.y + shift.y, ab->p.z + shift.z}};
}

sim_m3 sim_placement_rotation(sim_quat q) {
    /* Scaled first by the largest part, so that neither tiny nor huge quaternions lose their squares. */
    double largest = fmax(fmax(fabs(q.w), fabs(q.x)), fmax(fabs(q.y), fabs(q.z)));
    double w = q.w / largest, x = q.x / largest, y = q.y / largest, z = q.z / largest;
    double s = 2 / (w * w + x * x + y * y + z * z);
    return (sim_m3){{1 - s * (y * y + z * z), s * (x * y + w * z), s * (x * z - w * y)},
                    {s * (x * y - w * z), 1 - s * (x * x + z * z), s * (y * z + w * x)},
                    {s * (x * z + w * y), s * (y * z - w * x), 1 - s * (x * x + y * y)}};
}

/* From the largest of the four, so that nothing is divided by a small number. */
sim_quat sim_placement_quaternion(const sim_m3 *R) {
    double xx = R->x.x, yy = R->y.y, zz = R->z.z;
    sim_quat q;
    if (xx + yy + zz > 0) {
        q = (sim_quat){1 + xx + yy + zz, R->y.z - R->z.y, R->z.x - R->x.z, R->x.y - R->y.x};
    } else if (xx >= yy && xx >= zz) {
        q = (sim_quat){R->y.z - R->z.y, 1 + xx - yy - zz, R->y.x + R->x.y, R->z.x + R->x.z};
    } else if (yy >= zz) {
        q = (sim_quat){R->z.x - R->x.z, R->y.x + R->x.y, 1 + yy - xx - zz, R->z.y + R->y.z};
    } else {
        q = (sim_quat){R->x.y - R->y.x, R->z.x + R->x.z, R->z.y + R->y.z, 1 + zz - xx - yy};
    }
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return (sim_quat){q.w / length, q.x / length, q.y / length, q.z / length};
}

/* Rz(yaw) Ry(pitch) Rx(roll). */
static sim_m3 from_rpy(const double rpy[3], double unit) {
    double cr = cos(rpy[0] * unit), sr = sin(rpy[0] * unit), cp = cos(rpy[1] * unit), sp = sin(rpy[1] * unit);
    double cy = cos(rpy[2] * unit), sy = sin(rpy[2] * unit);
    return (sim_m3){{cy * cp, sy * cp, -sp},
                    {cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr},
                    {cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr}};
}

static bool has_direction(report *r, const node *at, const char *key, const double *x, int count) {
    double largest = 0;
    for (int i = 0; i < count; i++) {
        largest = fmax(largest, fabs(x[i]));
    }
    if (largest < 1e-150) {
        sim_report_once(r, sim_node_member(at, key), NULL, "%s has no direction: all its parts are 0",
                        count == 3 ? "the axis" : "the quaternion");
    }
    return largest >= 1e-150;
}

static bool read_orientation(report *r, const node *at, const double *quaternion, const double *rpy, const double *rpy_deg,
                             const double *axis_angle, sim_m3 *out) {
    *out = sim_placement_identity().R;
    if (sim_node_member(at, "quaternion")) {
        if (!has_direction(r, at, "quaternion", quaternion, 4)) {
            return false;
        }
        *out = sim_placement_rotation((sim_quat){quaternion[0], quaternion[1], quaternion[2], quaternion[3]});
    } else if (sim_node_member(at, "rpy")) {
        *out = from_rpy(rpy, 1);
    } else if (sim_node_member(at, "rpy_deg")) {
        *out = from_rpy(rpy_deg, pi / 180);
    } else if (sim_node_member(at, "axis_angle")) {
        const double *a = axis_angle;
        if (!has_direction(r, at, "axis_angle", a, 3)) {
            return false;
        }
        double length = hypot(hypot(a[0], a[1]), a[2]), s = sin(a[3] / 2);
        *out = sim_placement_rotation((sim_quat){cos(a[3] / 2), s * (a[0] / length), s * (a[1] / length), s * (a[2] / length)});
    }
    return true;
}

bool sim_placement_read(report *r, const pose_data *from, sim_pose *out) {
    out->p = (sim_v3){from->position[0], from->position[1], from->position[2]};
    return read_orientation(r, from->at, from->quaternion, from->rpy, from->rpy_deg, from->axis_angle, &out->R);
}

bool sim_placement_read_axes(report *r, const inertia_data *from, sim_m3 *out) {
    return read_orientation(r, from->at, from->quaternion, from->rpy, from->rpy_deg, from->axis_angle, out);
}
