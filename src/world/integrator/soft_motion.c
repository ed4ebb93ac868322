/* Free motion of soft bodies: Newton steps of their nodes.
 *
 *     a' = A^-1 (tau + E a + R' (m g + f) + f_el(q) - C v0 + k K a),     A = M + E + c C + k K
 *
 *     R      rotation of the body that carries the joints;  g  gravity, m/s^2;  f  wrenches on nodes, N
 *     f_el   elastic forces and those of gas in chambers, N;  C, K  viscosity and stiffness
 *     c, k   d(velocity)/da, d(place)/da
 *
 * K is the derivative of -f_el where A is positive definite with it, as at every stable rest: Newton's method.  Else, and
 * after a sweep of a step that led away (theta.c), tetrahedra leave out their negative curvatures, then the gas its own.
 * There a Newton step d is halved until the energy of the step falls (Armijo's rule), with forces at its end:
 *
 *     phi(a) = a . M a / 2 - a . F + U(q(a)) / k,      change = part (-d.A d - U'd) + part^2 d.M d / 2 + (U(part) - U(0)) / k
 *
 *     F      all forces but elasticity, N, viscous ones as A has them;  U  elastic energy less that of gas, J
 *
 * Nodes do not turn: moments on them do nothing.  A goes to the contact stage as it is here at the end of the iteration.
 * Cost: one linearisation and one sparse factor; up to three of both where A is indefinite. */
#include "contact/stage.h"
#include "dyn/motion/advance.h"
#include "dyn/soft/soft_body.h"
#include "math/v3.h"
#include "world/integrator/motion.h"

static const double ARMIJO_C1 = 1e-4;
enum { MAX_HALVINGS = 12 };

/* May a node touch a solid with a pressure field? */
static bool soft_meets_field(const sim_model *m) {
    bool fields = false, touches = false;
    for (int k = 0; k < m->nshape; k++) {
        fields |= m->shape[k].pressure != NULL;
    }
    for (int k = 0; k < m->nsoft; k++) {
        touches |= m->soft[k].thickness > 0;
    }
    return fields && touches;
}

sim_status soft_motion_create(motion_work *w, memory_pool *pool, sim_error *error) {
    const sim_model *m = w->model;
    if (m->nsoft == 0) {
        return SIM_OK;
    }
    /* features that do not know them */
    const char *name = m->soft[0].name;
    if (w->options->integrator == SIM_RK4) {
        return sim_fail(error, SIM_BAD_INPUT, "the integrator %s moves no soft bodies, as \"%s\" is: choose another",
                        sim_integrator_name(w->options->integrator), name);
    }
    if (w->options->sleep) {
        return sim_fail(error, SIM_BAD_INPUT, "soft bodies, as \"%s\" is, do not sleep: switch sleep off", name);
    }
    if (contact_wants_positions(w->options->solver, w->options->solver_option)) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "the solver %s takes gaps at the end of the step, and no soft bodies, as \"%s\" is",
                        w->options->solver->name, name);
    }
    if (m->ndrag) {
        return sim_fail(error, SIM_BAD_INPUT, "soft bodies, as \"%s\" is, meet no resistance of a fluid: leave it out",
                        name);
    }
    if (w->options->contacts && soft_meets_field(m)) {
        return sim_fail(error, SIM_BAD_INPUT, "soft bodies, as \"%s\" is, do not touch shapes with pressure fields",
                        name);
    }
    /* systems */
    w->soft = POOL_NEW(pool, soft_system *, m->ntree);
    w->damped = POOL_NEW(pool, char, m->ntree);
    for (int k = 0; k < m->nsoft && w->soft && w->damped; k++) {
        int tree = m->body[m->soft[k].body].tree;
        if (w->parts[tree].actuators) {
            return sim_fail(error, SIM_BAD_INPUT, "actuators move no nodes of soft bodies, as \"%s\" is",
                            m->soft[k].name);
        }
        if (!(w->soft[tree] = soft_system_create(m, &m->soft[k]))) {
            return sim_fail(error, SIM_NO_RESOURCE, "no memory for the soft body \"%s\"", m->soft[k].name);
        }
    }
    return w->soft && w->damped ? SIM_OK : sim_fail(error, SIM_NO_RESOURCE, "no memory for soft bodies");
}

void soft_motion_free(motion_work *w) {
    for (int tree = 0; w->soft && tree < w->model->ntree; tree++) {
        soft_system_free(w->soft[tree]);
    }
}

size_t soft_motion_bytes(const motion_work *w) {
    size_t bytes = 0;
    for (int tree = 0; w->soft && tree < w->model->ntree; tree++) {
        bytes += w->soft[tree] ? soft_system_bytes(w->soft[tree]) : 0;
    }
    return bytes;
}

double soft_gas(const motion_work *w, int tree, double time) {
    const sim_soft *s = soft_of_tree(w->model, tree);
    double p = 0;
    if (sim_track_given(&s->pressure)) {
        sim_track_at(&s->pressure, time, &p, NULL);
    }
    return p;
}

/* Weight and wrenches, in the axes of the joints, added to tau in `out`. */
static void add_outer_forces(motion_work *w, int tree, const soft_point *at, const sim_force *external, double *out) {
    const sim_model *m = w->model;
    const sim_tree *t = &m->tree[tree];
    m3 R = w->derived->pose[t->body0].R;
    for (int i = t->body0 + 1; i < t->body0 + t->nbody; i++) {
        const sim_body *b = &m->body[i];
        if (b->nv == 0) {
            continue;
        }
        v3 f = v3_scale(b->inertia.mass, m->gravity);
        f = m3_transposed_times(R, external ? v3_add(f, external[i].lin) : f);
        const double force[3] = {f.x, f.y, f.z};
        for (int k = 0; k < 3; k++) {
            out[b->v0 + k] = w->tau[b->v0 + k] + force[k];
            w->derived->Dinv[b->v0 + k] = 1 / (b->inertia.mass + (at->extra ? at->extra[b->v0 + k] : 0));
        }
    }
}

void soft_sweep(motion_work *w, int tree, const soft_point *at, const sim_force *external, double *out) {
    soft_system *s = w->soft[tree];
    soft_point point = *at;
    /* the exact stiffness, unless that makes A indefinite; without a factor the numbers are not finite */
    for (;; point.tangent--) {
        add_outer_forces(w, tree, at, external, out);
        soft_system_linearise(s, &point, out, w->strength);
        if (soft_system_factor(s) == SIM_OK || point.tangent == SOFT_PROJECTED) {
            break;
        }
        point.tangent -= point.tangent == SOFT_EXACT && at->pressure == 0;
    }
    soft_system_solve(s, out + w->model->tree[tree].v0);
}

double soft_potential(const motion_work *w, int tree, double pressure, const double *q, const double *v,
                      double *slope) {
    double U = soft_system_energy(w->soft[tree], q, v, slope), rate = 0;
    if (pressure != 0) {
        U -= pressure * chamber_volume(w->model, soft_of_tree(w->model, tree), q, v, slope ? &rate : NULL);
    }
    if (slope) {
        *slope -= pressure * rate;
    }
    return U;
}

double soft_descent_part(motion_work *w, int tree, const theta_scheme *scheme, const double *a, const double *g) {
    /* d = g - a, and d . A d */
    const sim_tree *t = &w->model->tree[tree];
    soft_system *s = w->soft[tree];
    double h = w->options->step, k = scheme->travel * h * h, model = 0, square = 0, slope = 0, before = 0, part = 1;
    double pressure = soft_gas(w, tree, w->now->time + scheme->time * h);
    double *d = w->tau, *Ad = w->v_point, *way = w->next->v, *q = w->next->q;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        d[j] = g[j] - a[j];
    }
    soft_system_times(s, d + t->v0, Ad + t->v0);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        model += d[j] * Ad[j];
        square += soft_system_mass(s, j - t->v0) * d[j] * d[j];
    }
    /* halve the part until phi falls */
    for (int try = -1; try < MAX_HALVINGS; try++) {
        for (int j = t->v0; j < t->v0 + t->nv; j++) {
            way[j] = w->now->v[j] + scheme->travel * h * (a[j] + (try < 0 ? 0 : part) * d[j]);
        }
        advance_by(w->model, sim_tree_range(w->model, tree), ROTATION_EXP, w->now->q, way, h, q);
        double U = soft_potential(w, tree, pressure, q, d, try < 0 ? &slope : NULL);
        if (try < 0) {
            before = U;
            continue;
        }
        double change = part * (-model - slope) + part * part * square / 2 + (U - before) / k;
        if (change <= -ARMIJO_C1 * part * model) {
            break;
        }
        part /= 2;
    }
    return part;
}
