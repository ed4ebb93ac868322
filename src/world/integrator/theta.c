/* The theta family of integrators: one step of one tree without contact.
 *
 *     M(q*) a = k(q*, v*, t*),      v1 = v0 + dt a,      a = (v1 - v0)/dt the mean acceleration, k all forces
 *
 *     scheme            q*                        v*              q1
 *     midpoint          q0 (+) dt/2 v*            (v0 + v1)/2     q0 (+) dt v*
 *     implicit Euler    q1                        v1              q0 (+) dt v1
 *     symplectic Euler  q0                        v0              q0 (+) dt v1
 *     Moreau midpoint   q0 (+) dt/2 v0            v0              q* (+) dt/2 v1
 *
 * In trees with ball or free joints v* is (v0 + v1)/2 in the last two as well, as gyroscopic terms at v0 amplify every
 * wobble. Single rigid bodies have equations of their own for them (spin.c). Trees that turn far in a step are
 * projected on the energy that forces give (energy_projection.c).
 *
 * Dampers act at v* in the first two, at v1 in the others.  Elastic forces of soft bodies act at q* in the first two, at
 * q1 in the others, so that stiff ones are stable.  Actuators act at the end of the step: sampled controllers
 * with stiff gains are stable so.  Both are linear in a: with E = -d tau / d a the Newton step is
 *
 *     a <- (M + E)^-1 (k(a) + E a),   one articulated-body sweep at q*.
 *
 * Terms that Newton leaves out (Coriolis, the change of M with q*) are O(dt) and shrink the error by O(dt) a sweep.
 * Anderson acceleration (1965) makes a secant step of the last sweeps, in the norm weighted with D_j, the effective
 * inertia of joint j.  A sweep across an effort limit is cut short (effort_limits.c).
 * Reference: Castro et al. 2021, eqs. 6-14.     Cost: one to some ten sweeps. */
#include "dyn/motion/advance.h"
#include "dyn/soft/soft_body.h"
#include "math/v3.h"
#include "model/parts/joint.h"
#include "world/integrator/motion.h"

#include <math.h>
#include <string.h>

static const double MAX_RELATIVE_ERROR = 0.01; /* of the acceleration: more is no solution */

static const double MAX_GROWTH = 10; /* of the residual of a soft body, by a sweep with the exact stiffness */

static const double MIN_RESCALING = 1e-3; /* of velocities: below, positions are kept */

static const theta_scheme schemes[SIM_INTEGRATORS] = {
    [SIM_MIDPOINT] = {.position = 0.5, .velocity = 0.5, .turning = 0.5, .damper = 0.5, .travel = 0.5, .time = 0.5},
    [SIM_SYMPLECTIC_EULER] = {.explicit_position = true, .turning = 0.5, .damper = 1, .travel = 1},
    [SIM_IMPLICIT_EULER] = {.position = 1, .velocity = 1, .turning = 1, .damper = 1, .travel = 1, .time = 1},
    [SIM_MOREAU] =
        {.position = 0.5, .explicit_position = true, .turning = 0.5, .damper = 1, .travel = 0.5, .time = 0.5},
};

typedef struct tree_step {
    motion_work *w;
    const theta_scheme *s;
    int tree;
    sim_range bodies;
    int v0, nv; /* dofs [v0, v0 + nv) */
    double dt;
    double velocity; /* of the scheme, for this tree */
    bool still;      /* velocity products are left out */
    int saturated;
    bool spun;     /* spin.c has found its solutions */
    bool cautious; /* the exact stiffness of soft bodies led away from the solution */
} tree_step;

/* out = v0 + weight * dt * a */
static void velocity_at(const tree_step *t, double weight, const double *a, double *out) {
    const double *v = t->w->now->v;
    double h = weight * t->dt;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        out[j] = v[j] + h * a[j];
    }
}

/* Kinematics at q*, for the schemes in which it moves with a. */
static void move_to_point(tree_step *t, const double *a) {
    motion_work *w = t->w;
    const sim_model *m = w->model;
    if (t->s->explicit_position) {
        advance_by(m, t->bodies, ROTATION_EXP, w->now->q, w->now->v, t->s->position * t->dt, w->q_point);
    } else {
        velocity_at(t, t->s->travel, a, w->v_point);
        rotation_map map = t->s->position == 0.5 ? ROTATION_CAYLEY_HALF : ROTATION_EXP;
        advance_by(m, t->bodies, map, w->now->q, w->v_point, t->dt, w->q_point);
    }
    sim_kinematics(w->derived, t->bodies, w->q_point);
}

/* Terms on the diagonal of A beside the inertias; NULL: none. */
static const double *implicit_diagonal(const tree_step *t) {
    const tree_parts *parts = &t->w->parts[t->tree];
    return parts->passive || parts->actuators ? t->w->extra : NULL;
}

/* Positions at the end, into `next`. */
static void advance_freely(tree_step *t, const double *a) {
    motion_work *w = t->w;
    const sim_model *m = w->model;
    if (t->s->explicit_position && t->s->position > 0) {
        velocity_at(t, 1, a, w->v_point);
        advance_by(m, t->bodies, ROTATION_EXP, w->q_point, w->v_point, 0.5 * t->dt, w->next->q);
    } else {
        velocity_at(t, t->s->travel, a, w->v_point);
        rotation_map map = t->s->travel == 0.5 ? ROTATION_CAYLEY : ROTATION_EXP;
        advance_by(m, t->bodies, map, w->now->q, w->v_point, t->dt, w->next->q);
    }
}

static void finish_freely(tree_step *t, const double *a) {
    motion_work *w = t->w;
    velocity_at(t, 1, a, w->next->v);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        w->next->a[j] = a[j];
    }
    actuation_keep(w, t->tree, w->a_try, a);
    drag_keep(w, t->tree, w->a_try, a);
    if (!w->parts[t->tree].placed) {
        advance_freely(t, a);
    }
    if (t->s->explicit_position) {
        spin_advance(w, t->tree, implicit_diagonal(t), a);
    }
}

/* With contacts the end velocity is v; positions move with v0 + travel (v - v0) + c. */
static void move_in_contact(tree_step *t, const double *v, const double *c) {
    motion_work *w = t->w;
    const sim_model *m = w->model;
    const double *v0 = w->now->v;
    bool from_point = t->s->explicit_position && t->s->position > 0; /* half the way with v0 lies behind */
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        w->next->v[j] = v[j];
        w->a_out[j] = (v[j] - v0[j]) / t->dt;
        w->v_point[j] = from_point ? v[j] + 2 * c[j] : v0[j] + t->s->travel * (v[j] - v0[j]) + c[j];
    }
    if (from_point) {
        advance_by(m, t->bodies, ROTATION_EXP, w->q_point, w->v_point, 0.5 * t->dt, w->next->q);
    } else {
        rotation_map map = t->s->travel == 0.5 ? ROTATION_CAYLEY : ROTATION_EXP;
        advance_by(m, t->bodies, map, w->now->q, w->v_point, t->dt, w->next->q);
    }
}

/* tau and E at the acceleration a: tau + E a goes to tau, E to extra. */
static void eval_joint_forces(tree_step *t, const double *a) {
    /* velocities and positions at which the forces act */
    motion_work *w = t->w;
    const sim_model *m = w->model;
    const theta_scheme *s = t->s;
    const tree_parts *parts = &w->parts[t->tree];
    force_point at = {.time = w->now->time + s->time * t->dt, .q = w->q_point};
    double *v_damper = w->v_point, *v_end = w->next->v, *q_end = w->next->q;
    velocity_at(t, s->damper, a, v_damper);
    if (parts->actuators) {
        velocity_at(t, s->travel, a, v_end);
        advance_by(m, t->bodies, ROTATION_CAYLEY, w->now->q, v_end, t->dt, q_end);
        velocity_at(t, 1, a, v_end);
    }
    /* forces */
    at.v = v_damper;
    at.q_end = q_end;
    at.v_end = v_end;
    t->saturated = motion_joint_forces(w, t->tree, &at, w->tau);
    /* E: derivatives of springs, dampers and actuators */
    double spring = s->explicit_position ? 0 : s->position * s->travel * t->dt * t->dt;
    if (!parts->passive && !parts->actuators) {
        return;
    }
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        const sim_dof *dof = &m->dof[j]; /* a spring that pushes away acts as at a */
        double rub = dof_damper_slope(dof, v_damper[j]), fall = dof->stiffness;
        if (dof_has_terms(dof)) {
            fall = max_of(0, dof_spring_slope(m, j, w->q_point));
        }
        w->extra[j] = s->damper * t->dt * rub + spring * fall;
    }
    actuation_add_gains(w, t->tree);
    /* tau + E a */
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        w->tau[j] += w->extra[j] * a[j];
    }
}

/* The same of a soft body, whose elasticity acts at q* or at the end. */
static void sweep_nodes(tree_step *t, const double *a, const sim_force *external, double *out) {
    motion_work *w = t->w;
    const theta_scheme *s = t->s;
    double place = elastic_place(s), *q = w->q_point;
    if (soft_has_rows(w->model, t->tree)) { /* a is that without elasticity, and leads far away */
        q = w->next->q;
        advance_by(w->model, t->bodies, ROTATION_EXP, w->now->q, w->now->v, place * t->dt, q);
    } else if (s->explicit_position) { /* next->v and next->q hold nothing yet */
        q = w->next->q;
        velocity_at(t, s->travel, a, w->next->v);
        advance_by(w->model, t->bodies, ROTATION_EXP, w->now->q, w->next->v, t->dt, q);
    }
    soft_point at = {.q = q,
                     .from = s->position == 0.5 && !s->explicit_position ? w->now->q : NULL,
                     .start = place == 1 && s->travel == 1 ? w->now->q : NULL,
                     .v = w->now->v,
                     .a = a,
                     .stiffness = place * s->travel * t->dt * t->dt,
                     .viscosity = s->damper * t->dt,
                     .extra = implicit_diagonal(t),
                     .tangent = t->cautious ? SOFT_WITH_GAS : SOFT_EXACT,
                     .pressure = soft_gas(w, t->tree, w->now->time + s->time * t->dt),
                     .rod_q = s->position == 0.5 ? w->q_point : w->now->q, /* equalities.c */
                     .rod_impulse = w->now->equality_impulse,
                     .rod_rows = SIM_MAX_ROWS,
                     .step = t->dt};
    soft_sweep(w, t->tree, &at, external, out);
}

/* One Newton step from a to `out`. */
static void sweep_bodies(tree_step *t, const double *a, bool move, double *out) {
    motion_work *w = t->w;
    const tree_parts *parts = &w->parts[t->tree];
    if (move) {
        move_to_point(t, a);
    }
    velocity_at(t, t->velocity, a, w->v_point);
    for (int j = t->v0; j < t->v0 + t->nv && t->still; j++) {
        w->v_point[j] = 0;
    }
    sim_velocities(w->derived, t->bodies, w->v_point);
    eval_joint_forces(t, a);
    if (parts->drags) {
        drag_eval(w, t->tree, w->v_point, t->s->damper * t->dt);
    }
    const sim_force *external = motion_wrenches(w, t->tree, w->now->time + t->s->time * t->dt);
    if (soft_of(w, t->tree)) {
        sweep_nodes(t, a, external, out);
        return;
    }
    if (parts->drags) {
        drag_add_implicit(w, t->tree, a, w->external);
    }
    const sim_articulated *added = parts->drags ? w->body_extra : NULL;
    sim_aba(w->derived, t->bodies, w->tau, external, w->model->gravity, implicit_diagonal(t), added, out);
    if (parts->spins && !t->still) {
        t->spun = spin_solve(w, t->tree, t->velocity, implicit_diagonal(t), a, out);
    }
}

/* Inner product weighted with the effective inertia of each joint. */
static double inertia_dot(const tree_step *t, const double *x, const double *y) {
    const double *Dinv = t->w->derived->Dinv;
    double sum = 0;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        sum += x[j] * y[j] / Dinv[j];
    }
    return sum;
}

/* The last sweeps g(a) and residuals f = g(a) - a, as differences from one to the next. */
typedef struct anderson {
    double *f, *g; /* [nv] of the last sweep */
    double *df[ANDERSON_DEPTH], *dg[ANDERSON_DEPTH];
    int count, slot;
    double contraction; /* of the plain iteration, |dg| / |da| */
} anderson;

static anderson make_anderson(motion_work *w) {
    size_t nv = (size_t)w->model->nv;
    anderson h = {.f = w->history, .g = w->history + nv, .contraction = 1};
    for (size_t k = 0; k < ANDERSON_DEPTH; k++) {
        h.df[k] = w->history + (2 + 2 * k) * nv;
        h.dg[k] = w->history + (3 + 2 * k) * nv;
    }
    return h;
}

/* G x = b by L D L' for a few unknowns; a row that adds nothing to those before it gets x = 0. */
static void solve_small(int n, double G[ANDERSON_DEPTH][ANDERSON_DEPTH], double *x) {
    double d[ANDERSON_DEPTH];
    for (int i = 0; i < n; i++) {
        d[i] = G[i][i];
        for (int k = 0; k < i; k++) {
            double sum = G[i][k];
            for (int l = 0; l < k; l++) {
                sum -= G[i][l] * d[l] * G[k][l];
            }
            G[i][k] = d[k] > 0 ? sum / d[k] : 0;
            d[i] -= G[i][k] * G[i][k] * d[k];
            x[i] -= G[i][k] * x[k];
        }
        d[i] = d[i] > 1e-13 * G[i][i] ? d[i] : 0;
    }
    for (int i = n - 1; i >= 0; i--) {
        double sum = d[i] > 0 ? x[i] / d[i] : 0;
        for (int k = i + 1; k < n && d[i] > 0; k++) {
            sum -= G[k][i] * x[k];
        }
        x[i] = sum;
    }
}

/* Forgets all sweeps but the last. */
static void clear_history(anderson *h) {
    h->count = h->slot = 0;
    h->contraction = 1;
}

/* Adds the sweep g = g(a) to the history. */
static void add_sweep(tree_step *t, anderson *h, const double *a, const double *g, int first) {
    double *df = h->df[h->slot], *dg = h->dg[h->slot];
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        double f = g[j] - a[j];
        df[j] = f - h->f[j];
        dg[j] = g[j] - h->g[j];
        h->f[j] = f;
        h->g[j] = g[j];
    }
    if (first) {
        return;
    }
    double moved = 0;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        double da = dg[j] - df[j];
        moved += da * da / t->w->derived->Dinv[j];
    }
    h->contraction = moved > 0 ? sqrt(inertia_dot(t, dg, dg) / moved) : 0;
    h->slot = (h->slot + 1) % ANDERSON_DEPTH;
    h->count += h->count < ANDERSON_DEPTH;
}

/* a <- g - sum gamma_i dg_i with the gamma that minimise |f - sum gamma_i df_i|; g where that crosses a limit. */
static void apply_secant_step(const tree_step *t, const anderson *h, double *a) {
    double G[ANDERSON_DEPTH][ANDERSON_DEPTH], gamma[ANDERSON_DEPTH], *mixed = t->w->next->v;
    for (int i = 0; i < h->count; i++) {
        for (int k = 0; k <= i; k++) {
            G[i][k] = inertia_dot(t, h->df[i], h->df[k]);
        }
        gamma[i] = inertia_dot(t, h->df[i], h->f);
    }
    solve_small(h->count, G, gamma);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        double sum = h->g[j];
        for (int i = 0; i < h->count; i++) {
            sum -= gamma[i] * h->dg[i][j];
        }
        mixed[j] = sum;
    }
    int beyond = t->w->parts[t->tree].any_limit && effort_limits_crossed(t->w, t->tree, a, mixed);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        a[j] = beyond ? h->g[j] : mixed[j];
    }
}

/* a <- a + part of f: where an effort limit lies between a and g.  The history is of this side of it, and cleared. */
static void apply_limited_step(const tree_step *t, anderson *h, double *a) {
    motion_work *w = t->w;
    double *product = w->next->v, curvature = 0;
    sim_mass_times(w->derived, t->bodies, w->extra, h->f, product);
    drag_add_product(w, t->tree, h->f, product);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        curvature += h->f[j] * product[j];
    }
    double part = effort_limits_part(w, t->tree, h->f, curvature);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        a[j] += part * h->f[j];
    }
    clear_history(h);
}

/* Acceleration that rounding alone can cause, relative to the velocity over a step, gravity, and the forces on joints.
 * Large forces may balance each other. */
static double rounding_floor(const tree_step *t) {
    const motion_work *w = t->w;
    double speed = sqrt(inertia_dot(t, w->now->v, w->now->v));
    double weight = sqrt(w->parts[t->tree].mass) * v3_norm(w->model->gravity);
    double strain = 0;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        strain += w->strength[j] * w->strength[j] * w->derived->Dinv[j];
    }
    return 1e-13 * speed / t->dt + 1e-14 * weight + 1e-15 * sqrt(strain);
}

/* Fallback without solution, where bodies turn too far in a step: forces alone change the joint rates.  It has no order
 * of convergence, and is stable. */
static void leave_out_products(tree_step *t, double *g) {
    double *a = t->w->a_try;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        a[j] = 0;
    }
    t->still = 1;
    sweep_bodies(t, a, !t->s->explicit_position, g);
    t->still = 0;
}

/* The part of a Newton step of a soft body with the projected stiffness, with forces at the end, that is downhill. */
static double descent_part(const tree_step *t, const double *a, const double *g) {
    bool at_end = elastic_place(t->s) == 1 && !soft_has_rows(t->w->model, t->tree);
    return at_end ? soft_descent_part(t->w, t->tree, t->s, a, g) : 1;
}

static bool iterate_motion_sweeps(tree_step *t, sim_step_info *info) {
    motion_work *w = t->w;
    anderson h = make_anderson(w);
    double *a = w->a_try, *g = w->a_out;
    double error = INFINITY, scale = 1;
    int k = 0;
    bool converged = false, fresh = true;
    for (;;) {
        sweep_bodies(t, a, k > 0 && !t->s->explicit_position, g);
        double before = k > 0 ? sqrt(inertia_dot(t, h.f, h.f)) : INFINITY;
        add_sweep(t, &h, a, g, fresh);
        k++;
        bool crossed = w->parts[t->tree].any_limit && effort_limits_crossed(w, t->tree, a, g);
        double size = sqrt(inertia_dot(t, g, g));
        double left = h.contraction < 0.5 && !crossed ? h.contraction / (1 - h.contraction) : 1;
        scale = w->options->tolerance * size + rounding_floor(t);
        error = left * sqrt(inertia_dot(t, h.f, h.f));
        converged = error <= scale && t->spun;
        if (converged || !isfinite(error) || k == w->options->max_iterations) {
            break; /* `a` is where g was taken: efforts are extrapolated from there */
        }
        double growth = soft_of(w, t->tree) && !t->cautious ? sqrt(inertia_dot(t, h.f, h.f)) / before : 0;
        fresh = crossed || growth >= 1;
        if (growth >= 1) {
            t->cautious = true;
            clear_history(&h);
        }
        double part = t->cautious && growth < 1 ? descent_part(t, a, g) : 1;
        if (part < 1) { /* forget the way so far */
            clear_history(&h);
            for (int j = t->v0; j < t->v0 + t->nv; j++) {
                a[j] += part * (g[j] - a[j]);
            }
        } else if (growth > MAX_GROWTH) { /* too far away to go on from there */
            memcpy(a + t->v0, w->now->a + t->v0, (size_t)t->nv * sizeof *a);
        } else if (crossed) {
            apply_limited_step(t, &h, a);
        } else {
            apply_secant_step(t, &h, a);
        }
    }
    info->iterations = k;
    info->residual = error / scale * w->options->tolerance;
    if (!(error <= MAX_RELATIVE_ERROR * (scale / w->options->tolerance))) {
        leave_out_products(t, g);
    }
    return converged;
}

/* With v* and q* known beforehand and no force at a limit, the step is linear in a: one sweep is exact. */
static bool is_linear(const tree_step *t) {
    const tree_parts *parts = &t->w->parts[t->tree];
    return t->s->explicit_position && !soft_of(t->w, t->tree) && (t->velocity == 0 || parts->spins_only) &&
           !parts->any_limit && !parts->drags && !parts->bends;
}

static tree_step make_tree_step(motion_work *w, int tree) {
    const sim_tree *at = &w->model->tree[tree];
    return (tree_step){
        .w = w,
        .spun = 1,
        .s = theta_scheme_of_tree(w, tree),
        .tree = tree,
        .bodies = sim_tree_range(w->model, tree),
        .v0 = at->v0,
        .nv = at->nv,
        .dt = w->options->step,
        .velocity =
            w->parts[tree].turns ? theta_scheme_of_tree(w, tree)->turning : theta_scheme_of_tree(w, tree)->velocity,
    };
}

/* Energy and momentum as forces gave them, at the end of the step, which the projection moves. */
static void project_velocities(tree_step *t, double *a) {
    motion_work *w = t->w;
    projection_input at = {w->now->time + t->s->time * t->dt, implicit_diagonal(t), w->next->q, t->velocity == 1};
    double s = 0;
    for (int pass = 0; pass < 2 && !(fabs(s - 1) < MIN_RESCALING); pass++) {
        advance_freely(t, a);
        s = project_energy(w, t->tree, &at, a);
    }
    w->parts[t->tree].placed = true;
}

/* May implicit Euler find a step of a soft body that has none by its scheme? */
static bool can_damp(const tree_step *t) {
    return soft_of(t->w, t->tree) && t->s->travel < 1 && !t->w->damped[t->tree];
}

void theta_free_motion(motion_work *w, int tree, sim_step_info *info) {
    tree_step t = make_tree_step(w, tree);
    for (int j = t.v0; j < t.v0 + t.nv; j++) {
        w->a_try[j] = w->now->a[j];
    }
    double end_time = w->now->time0 + (double)(w->now->step + 1) * t.dt; /* to the bit that of the next state */
    motion_hold_weight(w, tree);
    actuation_set_laws(
        w, tree,
        &(law_point){w->now->time + t.s->time * t.dt, end_time, w->now->q, w->now->v, t.s->position, t.s->travel});
    move_to_point(&t, w->a_try);
    *info = (sim_step_info){0};
    w->parts[tree].placed = w->parts[tree].curbed = false;
    if (is_linear(&t)) {
        sweep_bodies(&t, w->a_try, 0, w->a_out);
        info->iterations = 1;
        info->nonconverged = !t.spun;
        if (w->model->nequality && t.velocity > 0) { /* constraints take their biases there */
            velocity_at(&t, t.velocity, w->a_out, w->v_point);
            sim_velocities(w->derived, t.bodies, w->v_point);
        }
    } else {
        info->nonconverged = !iterate_motion_sweeps(&t, info);
    }
    if (info->nonconverged && can_damp(&t)) {
        w->damped[tree] = 1;
        theta_free_motion(w, tree, info);
        return;
    }
    if (w->ahead && projection_needed(w, tree)) {
        project_velocities(&t, w->a_out);
    }
    info->sweeps = info->iterations;
    info->saturated = t.saturated;
}

void theta_linearise_soft(motion_work *w, int tree, const double *v) {
    tree_step t = make_tree_step(w, tree);
    for (int j = t.v0; j < t.v0 + t.nv; j++) {
        w->a_try[j] = (v[j] - w->now->v[j]) / t.dt;
    }
    sweep_bodies(&t, w->a_try, !t.s->explicit_position, w->a_out);
}

void theta_finish(motion_work *w, int tree) {
    tree_step t = make_tree_step(w, tree);
    finish_freely(&t, w->a_out);
}

void theta_finish_in_contact(motion_work *w, int tree, double *v_end, const double *shift, sim_step_info *info) {
    /* velocities and positions; the acceleration without contacts */
    tree_step t = make_tree_step(w, tree);
    memcpy(w->next->a + t.v0, w->a_out + t.v0, (size_t)t.nv * sizeof *w->a_out);
    move_in_contact(&t, v_end, shift);
    /* less the energy that inertial terms created */
    *info = (sim_step_info){.curbed_body = w->model->tree[tree].body0};
    double s = inertial_work_scale(w, tree, t.velocity, &info->curbed);
    w->parts[tree].curbed = s < 1;
    if (s < 1) {
        for (int j = t.v0; j < t.v0 + t.nv; j++) {
            v_end[j] *= s;
        }
        move_in_contact(&t, v_end, shift);
    }
    /* efforts and drag of the step */
    actuation_keep(w, tree, w->a_try, w->a_out);
    drag_keep(w, tree, w->a_try, w->a_out);
}

inertial_balance theta_inertial_work(motion_work *w, int tree, const double *v_end, const double *shift) {
    tree_step t = make_tree_step(w, tree);
    size_t bytes = (size_t)t.nv * sizeof *w->a_out;
    memcpy(w->rk + t.v0, w->a_out + t.v0, bytes);
    memcpy(w->next->a + t.v0, w->a_out + t.v0, bytes);
    move_in_contact(&t, v_end, shift);
    inertial_balance b = inertial_work(w, tree, t.velocity);
    memcpy(w->a_out + t.v0, w->rk + t.v0, bytes);
    return b;
}

const theta_scheme *theta_scheme_of(sim_integrator integrator) { return &schemes[integrator]; }

const theta_scheme *theta_scheme_of_tree(const motion_work *w, int tree) {
    return &schemes[w->damped && w->damped[tree] ? SIM_IMPLICIT_EULER : w->options->integrator];
}

void theta_mass_solve(motion_work *w, int tree, double *x) {
    if (soft_of(w, tree)) {
        soft_system_solve(soft_of(w, tree), x + w->model->tree[tree].v0);
    } else {
        sim_articulated_solve(w->derived, sim_tree_range(w->model, tree), x);
    }
}

double theta_travel(sim_integrator integrator) { return schemes[integrator].travel; }

double theta_position(sim_integrator integrator) { return schemes[integrator].position; }

double elastic_place(const theta_scheme *s) { return s->explicit_position ? 1 : s->position; }

double theta_time(sim_integrator integrator) { return schemes[integrator].time; }

bool theta_is_implicit(sim_integrator integrator) {
    return schemes[integrator].velocity > 0 || !schemes[integrator].explicit_position;
}

bool theta_is_at_start(sim_integrator integrator) { return schemes[integrator].position == 0; }
