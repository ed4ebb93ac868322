/* Newton's method for the implicit step of Euler's equations (spin.c):
 *
 *     r(a) = (J + D) a + s w x J w - b = 0,     w = w0 + h a,     r' = J + D + s h ([w]x J - [J w]x)
 *
 *     a     angular acceleration, rad/s^2;  w0: angular velocity at the start, rad/s
 *     J     inertia, kg m^2;  D: added to it in J a;  b: torque, N m
 *     h     part of the step, s;  s: part of the gyroscopic term, 0 to 1
 *
 * Norms of r are scaled by the inertia of each axis.  A step of Newton's method is halved until r falls.  Where that
 * stalls, the gyroscopic term grows from zero to its size in stages.
 *
 * Reference: Austin, Krishnaprasad, Wang 1993; Nocedal, Wright 2006, Numerical optimization, section 11.2.
 * Cost: 3 to 5 solutions of three equations. */
#include "world/integrator/euler_step.h"

#include <math.h>

enum { MAX_NEWTON_STEPS = 30, MAX_HALVINGS = 12, CONTINUATION_STAGES = 64 };
static const double RESIDUAL_TOLERANCE = 1e-14; /* of the norms of the terms of r */
static const double STALL_RATIO2 = 1e8; /* squared residual over that tolerance, where no shorter step lowers it */

static v3 rate_at(const euler *e, v3 a) { return v3_axpy(e->w0, e->h, a); }

v3 gyroscopic_torque(const sym3 *J, v3 w) { return v3_cross(w, sym3_times(*J, w)); }

v3 inertia_times(const euler *e, v3 a) { return v3_add(sym3_times(e->J, a), sym3_times(e->D, a)); }

static v3 euler_residual(const euler *e, v3 a) {
    return v3_sub(v3_axpy(inertia_times(e, a), e->s, gyroscopic_torque(&e->J, rate_at(e, a))), e->b);
}

/* r . (J + D)^-1 r on the diagonal: squared norm of a torque, scaled by the inertia of each axis. */
static double scaled_norm2(const euler *e, v3 r) {
    return r.x * r.x / (e->J.xx + e->D.xx) + r.y * r.y / (e->J.yy + e->D.yy) + r.z * r.z / (e->J.zz + e->D.zz);
}

/* Columns of the derivative J + D + s h ([w]x J - [J w]x). */
m3 euler_jacobian(const euler *e, v3 a) {
    v3 w = rate_at(e, a), m = sym3_times(e->J, w);
    const v3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    v3 column[3];
    for (int k = 0; k < 3; k++) {
        v3 turn = v3_sub(v3_cross(w, sym3_times(e->J, axis[k])), v3_cross(m, axis[k]));
        column[k] = v3_axpy(inertia_times(e, axis[k]), e->s * e->h, turn);
    }
    return (m3){column[0], column[1], column[2]};
}

/* A x = b by Cramer's rule, for columns of similar norm. */
v3 solve_3x3(m3 A, v3 b) {
    v3 yz = v3_cross(A.y, A.z);
    double det = v3_dot(A.x, yz);
    return (v3){v3_dot(b, yz) / det, v3_dot(A.x, v3_cross(b, A.z)) / det, v3_dot(A.x, v3_cross(A.y, b)) / det};
}

/* Newton's method from a, steps halved until the residual falls; did it converge? */
static bool solve_newton(const euler *e, v3 *a) {
    v3 r = euler_residual(e, *a);
    double now = scaled_norm2(e, r);
    for (int k = 0; k < MAX_NEWTON_STEPS; k++) {
        v3 m = sym3_times(e->J, rate_at(e, *a));
        double terms = scaled_norm2(e, e->b) + scaled_norm2(e, inertia_times(e, *a)) +
                       e->s * e->s * v3_dot(rate_at(e, *a), rate_at(e, *a)) * scaled_norm2(e, m);
        if (now <= RESIDUAL_TOLERANCE * RESIDUAL_TOLERANCE * terms) {
            return true;
        }
        v3 step = solve_3x3(euler_jacobian(e, *a), r), to = *a;
        double part = 1, then = HUGE_VAL;
        for (int half = 0; half < MAX_HALVINGS && !(then < now); half++, part /= 2) {
            to = v3_axpy(*a, -part, step);
            r = euler_residual(e, to);
            then = scaled_norm2(e, r);
        }
        if (!(then < now)) { /* at the limit of rounding, or stalled */
            return now <= STALL_RATIO2 * RESIDUAL_TOLERANCE * RESIDUAL_TOLERANCE * terms;
        }
        *a = to;
        now = then;
    }
    return false;
}

/* The solution a of (1), from an initial guess; without one, the a without gyroscopic term. */
bool solve_euler(euler *e, v3 *a) {
    v3 guess = *a;
    if (solve_newton(e, a)) {
        return true;
    }
    *a = guess;
    bool found = true;
    for (int k = 0; k <= CONTINUATION_STAGES && found; k++) { /* linear at first */
        e->s = (double)k / CONTINUATION_STAGES;
        found = solve_newton(e, a);
    }
    if (!found) {
        e->s = 0;
        solve_newton(e, a);
    }
    e->s = 1;
    return found;
}
