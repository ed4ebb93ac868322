/* The part of a ray within a box: clipping by three pairs of planes.
 *
 *     t_in = max_k min(a_k, b_k),  t_out = min_k max(a_k, b_k),     a_k, b_k = (bounds_k - o_k) / d_k */
#include "collide/ray/ray.h"

#include <math.h>

bool ray_in_box(const ray *r, v3 low, v3 high, double *enter, double *leave) {
    const double o[3] = {r->o.x, r->o.y, r->o.z}, d[3] = {r->d.x, r->d.y, r->d.z};
    const double from[3] = {low.x, low.y, low.z}, to[3] = {high.x, high.y, high.z};
    *enter = -INFINITY;
    *leave = INFINITY;
    for (int k = 0; k < 3; k++) {
        if (d[k] == 0) {
            if (o[k] < from[k] || o[k] > to[k]) {
                return false;
            }
            continue;
        }
        double a = (from[k] - o[k]) / d[k], b = (to[k] - o[k]) / d[k];
        *enter = fmax(*enter, fmin(a, b));
        *leave = fmin(*leave, fmax(a, b));
    }
    return *enter <= *leave && *leave >= 0 && *enter <= r->max;
}
