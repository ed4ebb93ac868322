/* Newton's method on the elasticity of soft bodies in a step with constraints.
 *
 *     D = U(q1) - U(q0) + w . f1,     w = h (v0 + theta (v1 - v0)),     f1 = f(v1) as A has it, linear in v1
 *     G = D + S + W - (theta - 1/2) (v1 - v0) . M (v1 - v0),           W = sum of gamma . J w / h
 *
 *     U   elastic energy of a tree, less pressure times volume of its chambers, J
 *     f1  forces of its tetrahedra and gas, and the turn of those of rods, at end velocities v1 with constraints, N
 *     D   energy that the linearisation creates, J: exact elasticity in an implicit step drains energy
 *     S   elastic energy of the shift of positions (contact/island/position_correction.c), J
 *     W   work of the rigid constraints that tie the tree, with impulses gamma, on both sides, J
 *     G   energy that the step gives the tree and what it is tied to, J, beside the work of outer forces and turns
 *
 * The contact stage takes elasticity linear about the free motion.  A body that is stopped, or turned by another, ends
 * far from there.  Where D exceeds MAX_CREATED of the energies of the tree, its elasticity is linearised again about v1,
 * and the stage solved again: Newton's method on the whole step, with K as in A.  With the midpoint rule the limit is
 * MAX_CREATED_IN_MEAN.  Its step is halved while the energy
 *
 *     phi(v) = v.M v / 2 + U(q*) / (p theta) - v.(h F + J' gamma + M v0),     q* = q0 + p h (v0 + theta (v - v0))
 *
 * does not fall (Armijo's rule), with the impulses gamma of the last solution.  G above MAX_CREATED of those energies
 * is reported. Elasticity in rows of the contact problem has D by their impulses, and is not taken anew.
 *
 *     h   step, s;  M, F: masses, kg, and other forces, N;  p, theta: parts of step and velocity of the scheme (theta.c)
 * Reference: Nocedal, Wright 2006, Numerical optimization, section 3.1 and algorithm 18.3, here without a merit for rows.
 * Cost: two energies of the tetrahedra and a product with A; a linearisation, a factor and a contact problem a pass. */
#include "dyn/motion/advance.h"
#include "dyn/soft/soft_body.h"
#include "world/contact/contacts.h"

#include <math.h>
#include <string.h>

static const double MAX_CREATED = 0.01;         /* of the energies of a tree at both ends of the step */
static const double MAX_CREATED_IN_MEAN = 1e-5; /* where exact elasticity creates none; less adds up over many steps */
static const double MIN_WAY = 1e-3;             /* d . A d over D, where linearising again may lower D */
static const double ARMIJO_C1 = 1e-4;
enum { MAX_PASSES = 20, MAX_HALVINGS = 6 };

sim_status soft_newton_create(world_contacts *w) {
    const sim_model *m = w->model;
    if (m->nsoft == 0) {
        return SIM_OK;
    }
    w->elastic_work = POOL_NEW(w->pool, double, m->ntree);
    w->tied_work = POOL_NEW(w->pool, double, m->ntree);
    w->gain = POOL_NEW(w->pool, double, m->ntree);
    w->energies = POOL_NEW(w->pool, double, m->ntree);
    w->tie_parted = POOL_NEW(w->pool, char, m->ntree);
    w->tied_set = POOL_NEW(w->pool, int, m->ntree);
    w->own_gain = POOL_NEW(w->pool, double, m->ntree);
    bool ok = w->elastic_work && w->tied_work && w->gain && w->energies && w->tie_parted && w->tied_set && w->own_gain;
    return ok ? SIM_OK : SIM_NO_RESOURCE;
}

/* q0 (+) part of the step (v0 + travel (v - v0)), into `q`. */
static void move_nodes(const world_contacts *w, int tree, double part, const double *v, double *way, double *q) {
    const sim_tree *t = &w->model->tree[tree];
    const double *v0 = w->now->v, travel = theta_scheme_of_tree(w->motion, tree)->travel;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        way[j] = v0[j] + travel * (v[j] - v0[j]);
    }
    advance_by(w->model, sim_tree_range(w->model, tree), ROTATION_EXP, w->now->q, way, part * w->options->step, q);
}

/* Work space of a tree, [nv] each. */
static double *work_of(const world_contacts *w, int k) { return w->motion->history + (ptrdiff_t)k * w->model->nv; }

/* Pa: in the chambers of a tree. */
static double gas_pressure(const world_contacts *w, int tree) {
    return soft_gas(w->motion, tree, w->now->time + theta_scheme_of_tree(w->motion, tree)->time * w->options->step);
}

/* J: of the gas, from `now` to `next`. */
static double gas_work(const world_contacts *w, int tree) {
    const sim_soft *soft = soft_of_tree(w->model, tree);
    double p = gas_pressure(w, tree);
    return p == 0 ? 0
                  : p * (chamber_volume(w->model, soft, w->next->q, NULL, NULL) -
                         chamber_volume(w->model, soft, w->now->q, NULL, NULL));
}

double soft_newton_potential(const world_contacts *w, int tree, const double *q, const double *v, double *slope) {
    return soft_potential(w->motion, tree, gas_pressure(w, tree), q, v, slope);
}

/* J: work of the elasticity of a tree and of its gas along `way`, as the step has them; [nv] `a`, `f` to work in. */
static double linear_work(const world_contacts *w, int tree, const double *way, double *a, double *f) {
    const sim_tree *t = &w->model->tree[tree];
    double dt = w->options->step, sum = 0;
    if (soft_has_rows(w->model, tree)) {
        return w->elastic_work[tree];
    }
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        a[j] = (w->v_end[j] - w->now->v[j]) / dt;
    }
    soft_system_forces(w->motion->soft[tree], a, f);
    for (int j = 0; j < t->nv; j++) {
        sum += dt * way[t->v0 + j] * f[j];
    }
    return sum - gas_work(w, tree);
}

/* Energies of a step of a tree, J. */
typedef struct soft_balance {
    double elastic; /* D */
    double given;   /* G */
    double size;    /* elastic and kinetic energy at both ends */
} soft_balance;

/* J: elastic energy that the shift of positions adds to that at the end of `way`. */
static double shift_work(world_contacts *w, int tree, double *way, double energy) {
    const sim_tree *t = &w->model->tree[tree];
    bool any = false;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        way[j] += w->shift[j];
        any |= w->shift[j] != 0;
    }
    if (!any) {
        return 0;
    }
    advance_by(w->model, sim_tree_range(w->model, tree), ROTATION_EXP, w->now->q, way, w->options->step, w->next->q);
    return soft_system_energy(w->motion->soft[tree], w->next->q, NULL, NULL) - energy;
}

static soft_balance find_balance(world_contacts *w, int tree) {
    /* q1, and what the step makes of elasticity */
    const sim_tree *t = &w->model->tree[tree];
    const soft_system *s = w->motion->soft[tree];
    double *way = work_of(w, 1);
    move_nodes(w, tree, 1, w->v_end, way, w->next->q);
    double done = linear_work(w, tree, way, work_of(w, 0), work_of(w, 2) + t->v0);
    /* energies */
    double before = soft_system_energy(s, w->now->q, NULL, NULL);
    double after = soft_system_energy(s, w->next->q, NULL, NULL);
    double size = before + after, loss = 0, excess = theta_scheme_of_tree(w->motion, tree)->travel - 0.5;
    for (int j = 0; j < t->nv; j++) {
        double u0 = w->now->v[t->v0 + j], u1 = w->v_end[t->v0 + j], mass = soft_system_mass(s, j);
        size += mass * (u0 * u0 + u1 * u1) / 2;
        loss += excess * mass * (u1 - u0) * (u1 - u0);
    }
    double D = after - before + done, shifted = shift_work(w, tree, way, after);
    return (soft_balance){D, D + shifted + w->tied_work[tree] - loss, size + shifted};
}

/* d from the velocities v of the last linearisation to those of its solution, and A d; d . A d, J. */
static double find_way(world_contacts *w, int tree) {
    const sim_tree *t = &w->model->tree[tree];
    double dt = w->options->step, *d = work_of(w, 1), *Ad = work_of(w, 3) + t->v0, sum = 0;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        d[j] = w->v_end[j] - w->now->v[j] - dt * w->motion->a_try[j];
    }
    soft_system_times(w->motion->soft[tree], d + t->v0, Ad);
    for (int j = 0; j < t->nv; j++) {
        sum += d[t->v0 + j] * Ad[j];
    }
    return sum;
}

/* v + part d */
static const double *go_part(world_contacts *w, int tree, double part) {
    const sim_tree *t = &w->model->tree[tree];
    double *v = work_of(w, 0), *d = work_of(w, 1);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        v[j] = w->now->v[j] + w->options->step * w->motion->a_try[j] + part * d[j];
    }
    return v;
}

/* Goes the part of d with which phi falls; d . A d is `model`. */
static const double *go_down(world_contacts *w, int tree, double model) {
    /* phi(v + part d) - phi(v) = part linear + part^2 square / 2 + (U - U(v)) / p */
    const sim_tree *t = &w->model->tree[tree];
    const soft_system *s = w->motion->soft[tree];
    const theta_scheme *scheme = theta_scheme_of_tree(w->motion, tree);
    double place = elastic_place(scheme), p = place * scheme->travel;
    double dt = w->options->step, *d = work_of(w, 1), *way = work_of(w, 2), square = 0, slope = 0;
    for (int j = 0; j < t->nv; j++) {
        square += soft_system_mass(s, j) * d[t->v0 + j] * d[t->v0 + j];
    }
    const double *v = go_part(w, tree, 0);
    move_nodes(w, tree, place, v, way, w->next->q);
    double start = soft_newton_potential(w, tree, w->next->q, d, &slope), part = 1;
    /* halve the part until phi falls */
    for (int k = 0; k < MAX_HALVINGS; k++, part /= 2) {
        v = go_part(w, tree, part);
        move_nodes(w, tree, place, v, way, w->next->q);
        double energy = soft_newton_potential(w, tree, w->next->q, NULL, NULL);
        double change = part * (-model - dt * slope) + part * part * square / 2 + (energy - start) / p;
        if (change <= -ARMIJO_C1 * part * model) {
            break;
        }
    }
    return v;
}

/* Elasticity linear about the solution, or part of the way to it; v*. */
static void linearise_again(world_contacts *w, int tree, double model) {
    const sim_tree *t = &w->model->tree[tree];
    const double *v = go_down(w, tree, model);
    double *a_free = work_of(w, 1);
    memcpy(a_free + t->v0, w->motion->a_out + t->v0, (size_t)t->nv * sizeof *a_free);
    theta_linearise_soft(w->motion, tree, v);
    free_velocity(w, tree);
    /* where the free motion of the next step begins */
    memcpy(w->motion->a_out + t->v0, a_free + t->v0, (size_t)t->nv * sizeof *a_free);
}

static bool is_elastic(const world_contacts *w, int tree) { return w->in_contact[tree] && w->motion->soft[tree]; }

/* Finds the energy that each tree gained; linearises `again` where a way left to go explains it.  How many trees? */
static int find_gains(world_contacts *w, bool again) {
    int count = 0;
    for (int tree = 0; tree < w->model->ntree; tree++) {
        if (!is_elastic(w, tree)) {
            continue;
        }
        soft_balance b = find_balance(w, tree);
        double limit = elastic_place(theta_scheme_of_tree(w->motion, tree)) == 0.5 ? MAX_CREATED_IN_MEAN : MAX_CREATED;
        w->gain[tree] = b.given;
        w->energies[tree] = b.size;
        bool rises = again && b.elastic > limit * b.size && isfinite(b.elastic) && !soft_has_rows(w->model, tree);
        double model = rises ? find_way(w, tree) : 0;
        if (rises && model > MIN_WAY * b.elastic) {
            linearise_again(w, tree, model);
            count++;
        }
    }
    return count;
}

sim_status soft_newton(world_contacts *w, const contact_input *in, contact_output *out, sim_error *error) {
    sim_status status = SIM_OK;
    for (int pass = 0; w->tied_work && !status && find_gains(w, pass < MAX_PASSES) > 0; pass++) {
        contact_info before = out->info;
        status = contact_stage_build(w->stage, in, w->threads, error);
        status = status ? status : contact_stage_solve(w->stage, w->threads, out, error);
        out->info.iterations += before.iterations;
        out->info.total += before.total;
        out->info.factorisations += before.factorisations;
        out->info.multiplications += before.multiplications;
    }
    return status;
}
