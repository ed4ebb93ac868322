/* Steps that would give soft bodies energy, taken by implicit Euler instead.
 *
 *     G = sum over trees of  D + S + W - (theta - 1/2) (v1 - v0).M (v1 - v0)
 *
 *     G        energy that the step gives a soft body and what is tied to it, J, beside the work of outer forces
 *     D        energy that elasticity creates (soft_newton.c), and inertial terms of rigid trees (inertial_work.c), J
 *     S, W     elastic energy of the shift of positions, work of the ties, J
 *     v0, v1   velocities at both ends of the step, M masses;  theta: positions move by h v_q = h (v0 + theta (v1 - v0))
 *
 * A tie whose points part at the start ends that: J v1 = 0, but J v_q = J v0 / 2 by the midpoint rule.  Positions that
 * move with v_q leave a gap, which a later step closes against the body.  If a shift closes it at once, a body at rest
 * moves twice as far as its force does work: it stores U and takes U/4.  The rest is gained, where the impact itself
 * loses less: with heavy plates.  Implicit Euler has v_q = v1 and W = 0, and its force at the end takes 2 U: with
 * linear elasticity G = -U - (v1 - v0).M (v1 - v0) / 2.
 *
 * So implicit Euler takes the steps in which ties part.  It also takes those whose equations midpoint does not solve, as
 * with turns of a radian.  And it takes those with G above MAX_GAIN of the energies at both ends.  All trees that
 * constraints tie to the body move by the same scheme.  G above MAX_CREATED of the energies, by any scheme, is reported.
 *
 * Reference: Hairer, Wanner 1996, Solving ordinary differential equations II, section IV.3, on damping at the limit of
 * stiffness.
 * Cost: such a step is taken twice.  Else kinematics and inverse dynamics of rigid trees that are tied. */
#include "base/disjoint_set.h"
#include "world/contact/contacts.h"

#include <math.h>
#include <string.h>

static const double MAX_GAIN = 1e-3;    /* of the energies at both ends of the step */
static const double MAX_CREATED = 0.01; /* of these, without a report */

/* -1: the world, or several of a tendon. */
static int tied_tree(const world_contacts *w, const sim_equality *e, int side) {
    const sim_model *m = w->model;
    return e->off || e->type == SIM_TENDON_COUPLING ? -1
           : e->type == SIM_COUPLING                ? m->body[m->dof[e->dof[side]].body].tree
                                                    : m->body[e->body[side]].tree;
}

void soft_damp_none(world_contacts *w) {
    if (w->motion->damped) {
        memset(w->motion->damped, 0, (size_t)w->model->ntree);
    }
    if (!w->tied_set) {
        return;
    }
    for (int tree = 0; tree < w->model->ntree; tree++) {
        w->own_gain[tree] = INFINITY;
    }
    disjoint_set_start(w->tied_set, w->model->ntree);
    for (int k = 0; k < w->model->nequality; k++) {
        int a = tied_tree(w, &w->equality[k], 0), b = tied_tree(w, &w->equality[k], 1);
        if (a >= 0 && b >= 0) {
            disjoint_set_unite(w->tied_set, a, b);
        }
    }
}

/* Damps whole sets of tied trees of which one is; how many more? */
static int damp_sets(world_contacts *w) {
    char *damped = w->motion->damped;
    int n = w->model->ntree, count = 0;
    for (int tree = 0; tree < n; tree++) {
        int set = disjoint_set_find(w->tied_set, tree);
        count += damped[tree] && !damped[set];
        damped[set] |= damped[tree];
    }
    for (int tree = 0; tree < n; tree++) {
        int set = disjoint_set_find(w->tied_set, tree);
        count += damped[set] && !damped[tree];
        damped[tree] |= damped[set];
    }
    return count;
}

bool soft_damp_tied(world_contacts *w) { return w->tied_set && damp_sets(w) > 0; }

/* Energies of rigid trees, of those that ties may touch. */
static void measure_rigid(world_contacts *w, int tree) {
    const theta_scheme *s = theta_scheme_of_tree(w->motion, tree);
    inertial_balance b = theta_inertial_work(w->motion, tree, w->v_end, w->shift);
    w->gain[tree] = b.T1 - b.T0 - b.W0 - b.W1 - (2 * s->travel - 1) * (b.W1 - b.W0);
    w->energies[tree] = b.T0 + b.T1;
}

/* Sums of each set of tied trees into its first tree. */
static void add_up_sets(world_contacts *w) {
    for (int tree = 0; tree < w->model->ntree; tree++) {
        int set = disjoint_set_find(w->tied_set, tree);
        if (!w->in_contact[tree]) {
            w->gain[tree] = w->energies[tree] = 0;
        } else if (!soft_of(w->motion, tree)) {
            measure_rigid(w, tree);
        }
        if (set != tree) {
            w->gain[set] += w->gain[tree];
            w->energies[set] += w->energies[tree];
        }
    }
}

/* Damps a set whose ties part, or that gains energy; lets one go that gains more when damped, where the stored energy is
 * not convex.  Has it changed? */
static bool damp_set(world_contacts *w, int set, bool parts) {
    char *damped = w->motion->damped;
    double part = w->gain[set] / w->energies[set];
    bool own = theta_scheme_of_tree(w->motion, set)->travel < 1, tried = isfinite(w->own_gain[set]);
    if (own && !tried && (parts || part > MAX_GAIN)) {
        w->own_gain[set] = parts ? INFINITY : part;
        damped[set] = 1;
        return true;
    }
    if (damped[set] && tried && part > w->own_gain[set]) {
        for (int tree = set; tree < w->model->ntree; tree++) {
            damped[tree] = damped[tree] && disjoint_set_find(w->tied_set, tree) != set;
        }
        return true;
    }
    return false;
}

bool soft_damp(world_contacts *w) {
    if (!w->tied_set) {
        return false;
    }
    add_up_sets(w);
    /* bodies to be damped */
    bool any = false;
    w->info->created = 0;
    for (int tree = 0; tree < w->model->ntree; tree++) {
        if (!w->in_contact[tree] || !soft_of(w->motion, tree)) {
            continue;
        }
        int set = disjoint_set_find(w->tied_set, tree);
        double gain = w->gain[set];
        if (gain > MAX_CREATED * w->energies[set] && isfinite(gain) && gain > w->info->created) {
            w->info->created = gain;
            w->info->created_body = w->model->tree[tree].body0;
        }
        any |= damp_set(w, set, w->tie_parted[tree]);
    }
    damp_sets(w);
    return any;
}

int soft_damped_count(const world_contacts *w) {
    int count = 0;
    for (int tree = 0; w->motion->damped && tree < w->model->ntree; tree++) {
        count += w->motion->damped[tree] && soft_of(w->motion, tree);
    }
    return count;
}
