/* Activation dynamics of actuators, exactly over a step.
 *
 *     integrator  w' = u                    w1 = w0 + dt u
 *     filter      w' = (u - w)/T            w1 = u + (w0 - u) exp(-dt/T)
 *     muscle      w' = (u - w)/(T0 s)  if u > w,     (u - w) s/T1  otherwise,     s = 0.5 + 1.5 w
 *
 *     w, u        activation and control input, constant over the step
 *     T, T0, T1   time constants, s: of a filter, of a muscle's activation and its deactivation
 *
 * Both equations of a muscle separate.  With c = s(u) = 0.5 + 1.5 u and the distance d = |u - w|
 *
 *     rising   c ln(d1/d0) - 1.5 (d1 - d0) = -dt/T0       Newton's method in ln d, convex and monotone
 *     falling  d1/s1 = d0/s0 exp(-c dt/T1),  s1 = c + 1.5 d1
 *
 * Reference: Millard, Uchida, Seth, Delp 2013, J. Biomech. Eng. 135, eqs. 1-2. */
#include <sim/model.h>

#include <math.h>

const char *sim_activation_name(sim_activation_type type) {
    static const char *const name[SIM_ACTIVATIONS] = {"none", "integrator", "filter", "muscle"};
    return type < SIM_ACTIVATIONS ? name[type] : NULL;
}

/* ln(d1/d0) = -y with c y + 1.5 d0 (exp(-y) - 1) = x: the left side is convex in y and rises, as c > 1.5 d0. */
static double activation_rise(double c, double d0, double x) {
    double y = x / c;
    for (int k = 0; k < 50; k++) {
        double change = (c * y + 1.5 * d0 * expm1(-y) - x) / (c - 1.5 * d0 * exp(-y));
        y -= change;
        if (!(fabs(change) > 1e-15 * fabs(y))) {
            break;
        }
    }
    return d0 * exp(-y);
}

static double activation_fall(double c, double d0, double x) {
    double ratio = d0 / (c + 1.5 * d0) * exp(-c * x);
    return c * ratio / (1 - 1.5 * ratio);
}

static double clamp_activation(double x, double low, double high) { return fmax(low, fmin(high, x)); }

double sim_activation_after(const sim_activation *a, double ctrl, double w, double dt) {
    double next = w;
    if (a->type == SIM_INTEGRATED) {
        next = w + dt * ctrl;
    } else if (a->type == SIM_FILTERED) {
        next = ctrl + (w - ctrl) * exp(-dt / a->time_constant[0]);
    } else if (a->type == SIM_MUSCULAR) {
        double u = clamp_activation(ctrl, 0, 1), c = 0.5 + 1.5 * u;
        next = u > w ? u - activation_rise(c, u - w, dt / a->time_constant[0])
                     : u + activation_fall(c, w - u, dt / a->time_constant[1]);
    }
    return clamp_activation(next, a->range[0], a->range[1]);
}
