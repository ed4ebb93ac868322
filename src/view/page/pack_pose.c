/* Encoding of poses.  Position in steps of 1/4096 of the body's radius.  Orientation as the three smaller components of
 * its quaternion, within +-1/sqrt 2 in steps of sqrt 2 / 2^16, and the number of the fourth, which is positive. */
#include "math/v3.h"
#include "view/page/pack.h"

/* Equal components, as of a box on its side, differ by rounding; the first of them is left out. */
static const double LARGER_RATIO = 1 + 1e-9;

/* Far enough for every picture, and no overflow. */
int64_t view_in_steps(double x, double step) {
    double steps = x / step, most = 1e15;
    return isfinite(steps) ? llrint(steps > most ? most : steps < -most ? -most : steps) : 0;
}

void view_pack_pose(const sim_pose *pose, double radius, int64_t code[VIEW_POSE_NUMBERS]) {
    double step = radius * VIEW_FINENESS;
    quat q = quat_from_matrix(pose->R);
    double component[4] = {q.w, q.x, q.y, q.z};
    int largest = 0;
    for (int k = 1; k < 4; k++) {
        largest = fabs(component[k]) > LARGER_RATIO * fabs(component[largest]) ? k : largest;
    }
    code[0] = view_in_steps(pose->p.x, step);
    code[1] = view_in_steps(pose->p.y, step);
    code[2] = view_in_steps(pose->p.z, step);
    code[3] = largest;
    for (int k = 0, at = 4; k < 4; k++) {
        if (k != largest) {
            code[at++] = view_in_steps(component[largest] < 0 ? -component[k] : component[k], sqrt(2) / 65536);
        }
    }
}
