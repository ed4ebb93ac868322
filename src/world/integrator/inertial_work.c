/* Kinetic energy that inertial terms create in a step with contacts, and its removal.
 *
 *     T(q1, v1) = T(q0, v0) + W + D,    W = h V.(M(q*) a + c(q*, v*)),    a = (v1 - v0)/h,    V = (v0 + v1)/2       (1)
 *
 *     T      kinetic energy of a tree, J
 *     W      work of all its forces and impulses, J: by the scheme, M a + c is their mean
 *     c      velocity products, N or N m
 *     q*, v* where the free motion took M and c
 *     D      energy that the discretised inertial terms create, J;  h: step, s
 *
 * Inertial terms do no work, so D = 0 in exact motion, and O((h w)^2) T in smooth motion, w [rad/s] the rate of the
 * fastest joint.  The free motion takes c and M before the impulses are known.  An impact that changes how a tree turns
 * makes D of the order h w T: a tree near h w = 1 gains energy at every impact, without bound.  So where
 *
 *     h w > MAX_TURN   and   D > MAX_CREATED (T0 + T1),
 *
 * the end velocities become s v1, with the s <= 1 that makes D = 0 in (1).  Contacts that hold, u = 0, and those that
 * open, u > 0, do so for any s.  Momentum is not kept: such a step has no order of accuracy, and is reported.  W itself
 * may hold too much work of impulses, as their rows turn with the tree: what is left is bounded in practice alone.
 *
 * Departure: the free motion without contacts is always projected, by both signs of D (energy_projection.c).
 * Cost: of a tree that turns far, three kinematics and one inverse dynamics. */
#include "dyn/motion/advance.h"
#include "math/v3.h"
#include "world/integrator/motion.h"

#include <math.h>

static const double MAX_TURN = 0.02;   /* rad in a step, without the check */
static const double MAX_CREATED = 0.1; /* of the kinetic energies at both ends: energy that a step may create */

/* Does a rotating dof turn far, before the step or after it? */
static bool turns_far(const motion_work *w, int tree) {
    const sim_tree *t = &w->model->tree[tree];
    double fastest = 0;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        double rate = fmax(fabs(w->now->v[j]), fabs(w->next->v[j]));
        fastest = w->model->dof[j].turns ? fmax(fastest, rate) : fastest;
    }
    return fastest * w->options->step > MAX_TURN;
}

static double kinetic_energy_at(sim_derived *d, sim_range bodies, const double *q, const double *v) {
    sim_kinematics(d, bodies, q);
    sim_velocities(d, bodies, v);
    return sim_kinetic_energy(d, bodies, v);
}

/* W and T of a tree of which `next` has the end of the step. */
static inertial_balance eval_balance(motion_work *w, int tree, double part) {
    /* forces and impulses M a + c, at the point of the scheme */
    const sim_tree *t = &w->model->tree[tree];
    sim_range bodies = sim_tree_range(w->model, tree);
    double h = w->options->step, *Q = w->history, *v_point = w->history + w->model->nv;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        v_point[j] = w->now->v[j] + part * h * w->next->a[j];
    }
    sim_velocities(w->derived, bodies, v_point);
    sim_rnea(w->derived, bodies, w->a_out, NULL, (v3){0, 0, 0}, Q);
    /* their work: W = W0 + W1, of v0 and of v1 */
    inertial_balance b = {0};
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        b.W0 += 0.5 * h * w->now->v[j] * Q[j];
        b.W1 += 0.5 * h * w->next->v[j] * Q[j];
    }
    b.T0 = kinetic_energy_at(w->ahead, bodies, w->now->q, w->now->v);
    b.T1 = kinetic_energy_at(w->ahead, bodies, w->next->q, w->next->v);
    return b;
}

inertial_balance inertial_work(motion_work *w, int tree, double part) {
    return w->ahead && !soft_of(w, tree) && turns_far(w, tree) ? eval_balance(w, tree, part) : (inertial_balance){0};
}

double inertial_work_scale(motion_work *w, int tree, double part, double *created) {
    *created = 0;
    if (!w->ahead || soft_of(w, tree) || !turns_far(w, tree)) {
        return 1;
    }
    inertial_balance b = eval_balance(w, tree, part);
    double D = b.T1 - b.T0 - b.W0 - b.W1;
    if (!(D > MAX_CREATED * (b.T0 + b.T1))) {
        return 1;
    }
    /* s: the greater root of T1 s^2 - W1 s - (T0 + W0) = 0; without one, the least of the left side */
    double root = sqrt(fmax(0, b.W1 * b.W1 + 4 * b.T1 * (b.T0 + b.W0)));
    double s = fmin(1, fmax(0, (b.W1 + root) / (2 * b.T1)));
    *created = b.T1 * (1 - s * s);
    return s;
}
