/* Exact line search for Newton steps across effort limits of actuators.
 *
 *     F(a) = A a - k - sum g clamp(s) = 0,     s = c - E g a_j
 *     p . F(a + t p) = -h + t (h - e) - sum g p_j (clamp(s - t E g p_j) - clamp(s))
 *     h = p' H p,   H = A + g^2 E within the limits,   e = sum within E (g p_j)^2
 *
 *     a, p    acceleration, rad/s^2 or m/s^2, and Newton step p = g(a) - a, H p = -F(a)
 *     s       force that an actuator of gear g asks for, N m or N: linear in the acceleration of its joint; it gives
 *             clamp(s), within its range of forces
 *     A, k    mass matrix with the implicit part of springs and dampers; forces
 *
 * F is the gradient of a convex function.  Full Newton steps may jump between the limits for ever.  The slope along p
 * rises piecewise linearly in t; its root is the minimum along p, from where Newton continues.  It ends after finitely
 * many pieces; where A and k change with a, which is O(dt), as the plain iteration does.
 *
 * Cost: one pass over the limited actuators for each piece. */
#include "world/integrator/motion.h"

#include <math.h>

static double clamp_force(double force, const double *range) { return fmax(range[0], fmin(range[1], force)); }

static int range_side(double force, const double *range) { return (force > range[1]) - (force < range[0]); }

bool effort_limits_crossed(const motion_work *w, int tree, const double *a, const double *b) {
    const tree_parts *parts = &w->parts[tree];
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
        const sim_actuator *actuator = &w->model->actuator[w->actuator_order[k]];
        if (actuator->transmission != SIM_BY_JOINT) {
            continue;
        }
        double move = actuator->gear * (b[actuator->dof] - a[actuator->dof]);
        bool fixed = w->range[k][0] == w->range[k][1];
        if (!fixed && range_side(w->asked[k] - w->gain[k] * move, w->range[k]) != w->clamped[k]) {
            return true;
        }
    }
    return false;
}

/* p . F(a + t p); its rate in `rate`. */
static double eval_slope(const motion_work *w, const tree_parts *parts, const double *p, double h, double t,
                         double *rate) {
    double bent = 0, straight = h;
    *rate = 0;
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
        const sim_actuator *actuator = &w->model->actuator[w->actuator_order[k]];
        if (actuator->transmission != SIM_BY_JOINT) {
            continue;
        }
        const double *range = w->range[k];
        double move = actuator->gear * p[actuator->dof], fall = w->gain[k] * move;
        double there = w->asked[k] - t * fall;
        bent -= move * (clamp_force(there, range) - clamp_force(w->asked[k], range));
        straight -= w->clamped[k] == 0 ? fall * move : 0;
        *rate += range_side(there, range) == 0 ? fall * move : 0;
    }
    *rate += straight;
    return t * straight - h + bent;
}

double effort_limits_part(const motion_work *w, int tree, const double *p, double h) {
    const tree_parts *parts = &w->parts[tree];
    double low = 0, high = 1, rate, t = 1;
    double slope = eval_slope(w, parts, p, h, t, &rate);
    if (!(slope > 0)) {
        return 1;
    }
    for (int k = 0; k < 60 && fabs(slope) > 1e-6 * h; k++) {
        t -= slope / rate;
        if (!(t > low && t < high)) {
            t = 0.5 * (low + high);
        }
        slope = eval_slope(w, parts, p, h, t, &rate);
        low = slope < 0 ? t : low;
        high = slope < 0 ? high : t;
    }
    return t;
}
