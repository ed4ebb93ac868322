/* Projection of the end velocities of a tree on the energy and momentum that forces give it.
 *
 *     T(q1, s v1) = s^2 T(q1, v1) = T(q0, v0) + W,     W = h V.Q,     P1 = P0 + h F,                          (1)
 *
 * Inertial terms do no work and change no momentum.  Discretised they do, by O((h w)^2) of T a step, w [rad/s] the spin
 * of a body.  Near h w = 1 that is no bound, and the iteration of theta.c may find a wrong solution, or none.  So a
 * tree takes only the direction of its end velocities v1 from the scheme if a ball or free joint turns by more than
 * MAX_TURN. T [J] is the kinetic energy, of a floating tree without that of its centre of mass.  Q are all forces of
 * the step on the joints, weights and loads included; V = (v0 + v1)/2; h [s] the step.  F [N] are the outer forces on a
 * floating tree.  Its base's velocity along the world's axes makes the momentum P [N s] right, and W is without F.V of
 * the centre of mass.
 *
 * So T grows by the work of forces alone, for any h w.  As v1 is wrong by O(h^k) a step in a scheme of
 * order k - 1, so is s - 1, and the order stays; where M does not change with q, s = 1.  Angular momentum keeps the
 * order of the scheme.  The implicit scheme loses energy; there s <= 1.  Single rigid bodies keep both by themselves
 * (spin.c).
 *
 * Reference: Hairer, Lubich, Wanner, Geometric Numerical Integration, 2006, IV.4; this is the projection along v1.
 * Cost: two kinematics, one pass of forces. */
#include "dyn/motion/rigid.h"
#include "world/integrator/motion.h"

#include <math.h>

static const double MAX_TURN = 0.02; /* rad in a step, without projection */

/* ---- a tree as one body ---- */

typedef struct lump {
    double mass;
    v3 P;          /* [N s] */
    double energy; /* T */
} lump;

static lump make_lump(const sim_derived *d, sim_range bodies, const double *v) {
    lump s = {.energy = sim_kinetic_energy(d, bodies, v)};
    for (int i = bodies.first; i < bodies.end; i++) {
        s.mass += d->I[i].mass;
        s.P = v3_add(s.P, rigid_times(&d->I[i], d->vel[i]).lin);
    }
    return s;
}

/* The body of a free base that carries all moving bodies, else -1. */
static int find_free_base(const sim_model *m, int tree) {
    const sim_tree *t = &m->tree[tree];
    int first = m->dof[t->v0].body, last = m->dof[t->v0 + t->nv - 1].body;
    return m->body[first].joint == SIM_FREE && last < m->body[first].subtree_end ? first : -1;
}

/* Adds u to the velocity of every body. */
static void add_velocity(const sim_derived *d, int base, v3 u, double *v) {
    int v0 = d->model->body[base].v0;
    for (int k = 0; k < 3; k++) {
        v[v0 + k] += v3_dot(d->S[v0 + k].lin, u);
    }
}

/* ---- forces ---- */

/* Q of the last sweep at the acceleration a, into `out`. */
static void all_forces(motion_work *w, int tree, double time, const double *extra, const double *a, double *out) {
    const sim_model *m = w->model;
    sim_derived *d = w->derived;
    const sim_tree *t = &m->tree[tree];
    const sim_force *external = motion_wrenches(w, tree, time);
    for (int i = t->body0; i < t->body0 + t->nbody; i++) {
        force weight = {v3_cross(d->I[i].h, m->gravity), v3_scale(d->I[i].mass, m->gravity)};
        d->force[i] = external ? force_add(weight, external[i]) : weight;
    }
    for (int i = t->body0 + t->nbody - 1; i >= t->body0; i--) {
        const sim_body *b = &m->body[i];
        for (int j = b->v0; j < b->v0 + b->nv; j++) {
            out[j] = motion_dot(d->S[j], d->force[i]) + w->tau[j] - (extra ? extra[j] * a[j] : 0);
        }
        if (b->parent) {
            d->force[b->parent] = force_add(d->force[b->parent], force_at_parent(d->force[i], d->r[i]));
        }
    }
}

bool projection_needed(const motion_work *w, int tree) {
    const tree_parts *parts = &w->parts[tree];
    const sim_tree *t = &w->model->tree[tree];
    double limit = MAX_TURN / w->options->step, fastest = 0;
    if (!parts->turns || parts->spins) {
        return false;
    }
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        fastest = max_of(fastest, w->model->dof[j].turns ? fabs(w->now->v[j]) : 0);
    }
    return fastest > limit;
}

/* ---- the projection ---- */

/* The tree at q with the velocities v; those of a floating tree lose that of its centre of mass, which is returned. */
static v3 eval_lump(motion_work *w, int tree, int base, const double *q, double *v, lump *s) {
    sim_derived *d = w->ahead;
    sim_range all = sim_tree_range(w->model, tree), bodies = all;
    v3 u = {0, 0, 0};
    sim_kinematics(d, all, q);
    sim_velocities(d, all, v);
    if (base >= 0) {
        bodies = (sim_range){base, w->model->body[base].subtree_end};
        lump moving = make_lump(d, bodies, v);
        u = v3_scale(1 / moving.mass, moving.P);
        add_velocity(d, base, v3_neg(u), v);
        sim_velocities(d, all, v);
    }
    *s = make_lump(d, bodies, v);
    return u;
}

double project_energy(motion_work *w, int tree, const projection_input *at, double *a) {
    /* velocities at both ends of the step */
    const sim_tree *t = &w->model->tree[tree];
    size_t nv = (size_t)w->model->nv;
    double h = w->options->step, *Q = w->history, *v0 = w->history + nv, *v1 = w->next->v, W = 0;
    int base = find_free_base(w->model, tree);
    lump before, after;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        v0[j] = w->now->v[j];
        v1[j] = v0[j] + h * a[j];
    }
    /* generalised forces, energy at both ends, work between them */
    all_forces(w, tree, at->time, at->extra, a, Q);
    v3 u0 = eval_lump(w, tree, base, w->now->q, v0, &before);
    eval_lump(w, tree, base, at->q_end, v1, &after);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        W += 0.5 * h * (v0[j] + v1[j]) * Q[j];
    }
    /* scale the velocities to the energy that the work leaves */
    double s = after.energy > 0 ? sqrt(max_of(0, before.energy + W) / after.energy) : 1;
    s = at->drains ? min_of(s, 1) : s;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        v1[j] *= s;
    }
    /* of a free base: the momentum of the centre of mass by the external force */
    if (base >= 0) {
        v3 F = {0, 0, 0};
        for (int j = t->v0; j < t->v0 + 3; j++) {
            F = v3_axpy(F, Q[j], w->ahead->S[j].lin);
        }
        add_velocity(w->ahead, base, v3_axpy(u0, h / after.mass, F), v1);
    }
    /* acceleration of the step */
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        a[j] = (v1[j] - w->now->v[j]) / h;
    }
    return s;
}
