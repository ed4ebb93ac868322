/* Line search for Newton steps across effort limits of actuators.
 *
 * An actuator asks for the effort s = c - E a_j, a straight line in the acceleration of its joint, and gives clamp(s).
 * The
 * step then solves   F(a) = A a - k - sum clamp(s) = 0,   the gradient of a convex function, A the mass matrix with the
 * implicit part of springs and dampers.  Newton's full steps p = g(a) - a may jump from one limit to the other for
 * ever; along p, with H = A + E of the actuators within their limits and F(a) = -H p,
 *
 *     p . F(a + t p) = -h + t (h - e) - sum p_j (clamp(s - t E p_j) - clamp(s)),
 *     h = p' H p,   e = sum within E p_j^2,
 *
 * rises with t in straight pieces.  Its root is the minimum along p: from there Newton continues, and ends after
 * finitely many pieces (where M and k change with a, which is O(dt), as the plain iteration does). */
#include "world/integrator/motion.h"

#include <math.h>

static double clamp(double effort, double limit) { return fmax(-limit, fmin(limit, effort)); }

static int side_of(double effort, double limit) { return (effort > limit) - (effort < -limit); }

bool effort_limits_crossed(const motion_work *w, int tree, const double *a, const double *b) {
    const tree_parts *parts = &w->parts[tree];
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
        const sim_actuator *actuator = &w->model->actuator[w->actuator_order[k]];
        int j = actuator->dof;
        if (side_of(w->asked[k] - w->gain[k] * (b[j] - a[j]), actuator->effort) != w->clamped[k]) {
            return true;
        }
    }
    return false;
}

/* p . F(a + t p); its rate in `rate`. */
static double slope_at(const motion_work *w, const tree_parts *parts, const double *p, double h, double t,
                       double *rate) {
    double bent = 0, straight = h;
    *rate = 0;
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
        const sim_actuator *actuator = &w->model->actuator[w->actuator_order[k]];
        double limit = actuator->effort, move = p[actuator->dof], fall = w->gain[k] * move;
        double there = w->asked[k] - t * fall;
        bent -= move * (clamp(there, limit) - clamp(w->asked[k], limit));
        straight -= w->clamped[k] == 0 ? fall * move : 0;
        *rate += side_of(there, limit) == 0 ? fall * move : 0;
    }
    *rate += straight;
    return t * straight - h + bent;
}

double effort_limits_part(const motion_work *w, int tree, const double *p, double h) {
    const tree_parts *parts = &w->parts[tree];
    double low = 0, high = 1, rate, t = 1;
    double slope = slope_at(w, parts, p, h, t, &rate);
    if (!(slope > 0)) {
        return 1;
    }
    for (int k = 0; k < 60 && fabs(slope) > 1e-6 * h; k++) {
        t -= slope / rate;
        if (!(t > low && t < high)) {
            t = 0.5 * (low + high);
        }
        slope = slope_at(w, parts, p, h, t, &rate);
        low = slope < 0 ? t : low;
        high = slope < 0 ? high : t;
    }
    return t;
}
