/* A spring with damper along a row: its force F as force - (dt stiffness + damping) u.
 *
 * F is the force at the part theta of the step, theta dt from the start along v_q = v0 + theta (v - v0). With the
 * extension x0 at the start (|d| - L between two bodies, or of a tendon's length), u = J v and u0 = J v0,
 *
 *     F = -k (x0 + dt (a u0 + b u)) - c (a' u0 + b' u),
 *     a = theta (1 - theta),  b = theta^2,  a' = 1 - theta,  b' = theta.
 *
 * It is of second order where theta is 1/2; there a linear spring neither gains nor loses energy.  But a spring or
 * damper far stiffer than the step resolves would then ring from step to step.  So a and a' fade to 0 and b and b' to
 * 1, by
 *
 *     z^2 / (1 + z^2),     z = W k dt^2 / 4 or W c dt / 2,     W = J diag(D)^-1 J',
 *
 * W an estimate of the inverse mass along the spring, 1/kg.  The order stays second, and resolved springs hardly
 * change.
 *
 * With terms of the second and third degree, f(x) + g(u), the tangents at theta dt u0 beyond x0, and at u0, stand in
 * their place, their slopes k and c:
 *
 *     f(x) = f(x_p) + k (x - x_p),     g(u) = g(u0) + c (u - u0),     k = max(f'(x_p), k_0),   c = max(g'(u0), c_0).
 *
 * A row has a finite compliance: k_0 dt^2 and c_0 dt are a millionth of 1/W, where a spring softens or a damper rests.
 * They are wrong by O(dt^2).  A damper's g is convex, so the tangent brakes no motion beyond its end. */
#include "contact/problem/row/row.h"
#include "model/parts/spring.h"

static const double LEAST_GAIN = 1e-6; /* of the inertia that a spring meets */

/* The tangents: slopes into s, of at least a gain [kg] over the step dt.  Returns the force that they leave at x = 0 and u = 0. */
static double linearise_spring(row_spring *s, double ahead, double u0, double least, double dt) {
    double x = s->stretch + ahead * u0, k = s->stiffness, c = s->damping, force = 0;
    if (any_terms(s->spring)) {
        s->stiffness = max_of(least / (dt * dt), spring_slope(k, s->spring, x));
        force += s->stiffness * x - spring_force(k, s->spring, x);
    }
    if (any_terms(s->damper)) {
        s->damping = max_of(least / dt, damper_slope(c, s->damper, u0));
        force += s->damping * u0 - damper_force(c, s->damper, u0);
    }
    return force;
}

/* z^2 / (1 + z^2): from 0 for what the step resolves to 1. */
static double unresolved_part(double z) { return z < 1 ? z * z / (1 + z * z) : 1 / (1 + 1 / (z * z)); }

void fill_spring_row(assembly *f, const sim_model *m, int i, row_spring s) {
    /* u0 and W */
    const constraint_source *t = &f->source[f->source_of[i]];
    sim_constraint *c = &f->constraint[i];
    double dt = f->in->step, theta = travel_of(f, source_is_damped(f, t)), u0 = 0, w = 0;
    for (int side = 0; side < 2; side++) {
        if (t->tree[side] >= 0 && !(side && t->tree[0] == t->tree[1])) { /* two sides on one tree share their block */
            const sim_tree *tree = &m->tree[t->tree[side]];
            const double *J = block_of(f, i, side);
            for (int j = 0; j < tree->nv; j++) {
                u0 += J[j] * f->in->v_start[tree->v0 + j];
                w += J[j] * J[j] * f->in->mass->Dinv[tree->v0 + j];
            }
        }
    }
    double force = linearise_spring(&s, theta * dt, u0, LEAST_GAIN / (w > 0 ? w : 1), dt);
    /* a, b, a' and the row */
    double resolved = 1 - unresolved_part(0.25 * w * s.stiffness * dt * dt),
           damped = 1 - unresolved_part(0.5 * w * s.damping * dt);
    double a = theta * (1 - theta) * resolved, b = 1 - (1 - theta * theta) * resolved, a_damper = (1 - theta) * damped;
    c->force = force - s.stiffness * (s.stretch + dt * a * u0) - s.damping * a_damper * u0;
    c->stiffness = b * s.stiffness;
    c->damping = (1 - a_damper) * s.damping;
}
