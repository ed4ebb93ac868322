/* Derivatives of the last step of a world: trees one by one, into the matrices of the whole.
 *
 *     d (q1, v1) / d (q0, v0, f, input),     d / d input = (d / d f) g d F / d input
 *
 *     f      generalised forces;  g, F: gear and force of an actuator of a joint
 *
 * The state before the step is the one with which it changed places.  Trees without contact share nothing, so blocks
 * between them are zero.
 * Reference: integrator/theta_derivatives.c, integrator/rk4_derivatives.c.  Cost: that of the trees, and n^2 for n dofs. */
#include <sim/step_derivatives.h>

#include "linalg/lu.h"
#include "world/integrator/tree_derivatives.h"
#include "world/world.h"

#include <string.h>

struct sim_step_derivatives {
    const sim_model *model;
    derivative_work work;
    double *q, *v; /* of a tree_jacobian */
};

static bool make_panels(sim_step_derivatives *s, memory_pool *pool, int most) {
    derivative_work *w = &s->work;
    size_t n = (size_t)most, square = n * (size_t)row_stride(most), panel = n * (size_t)row_stride(3 * most);
    double **squares[] = {&w->by_q, &w->by_v, &w->weight, &w->H, &w->LU};
    double **panels[] = {&w->A,        &w->stage[0], &w->stage[1], &w->stage[2], &w->stage[3],
                         &w->stage[4], &w->stage[5], &s->q,        &s->v};
    bool all = true;
    for (size_t k = 0; k < sizeof squares / sizeof *squares; k++) {
        all &= (*squares[k] = POOL_NEW(pool, double, square)) != NULL;
    }
    for (size_t k = 0; k < sizeof panels / sizeof *panels; k++) {
        all &= (*panels[k] = POOL_NEW(pool, double, panel)) != NULL;
    }
    return all;
}

static bool make_vectors(sim_step_derivatives *s, memory_pool *pool, int most) {
    /* of the model, then of the largest tree */
    derivative_work *w = &s->work;
    const sim_model *m = s->model;
    double **vectors[] = {&w->zero, &w->v, &w->x, &w->y};
    bool all = true;
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
        all &= (*vectors[k] = POOL_NEW(pool, double, m->nv)) != NULL;
    }
    w->q = POOL_NEW(pool, double, m->nq);
    w->M = POOL_NEW(pool, double, m->nl);
    w->swap = POOL_NEW(pool, int, most);
    w->solve = POOL_NEW(pool, double, lu_work(most) + most);
    w->drive = POOL_NEW(pool, drive_slopes, m->nv);
    w->swing = POOL_NEW(pool, m3, 3 * m->nbody);
    w->point.from = POOL_NEW(pool, m3, m->nbody);
    w->point.by = POOL_NEW(pool, m3, m->nbody);
    w->end.from = POOL_NEW(pool, m3, m->nbody);
    w->end.by = POOL_NEW(pool, m3, m->nbody);
    return all && w->q && w->M && w->swap && w->solve && w->drive && w->swing && w->point.from && w->point.by &&
           w->end.from && w->end.by;
}

sim_step_derivatives *sim_step_derivatives_create(const sim_model *m, sim_error *error) {
    /* the largest tree, memory, kinematics of bodies without dofs */
    memory_pool *pool = pool_create();
    sim_step_derivatives *s = pool ? POOL_NEW(pool, sim_step_derivatives, 1) : NULL;
    int most = 1;
    for (int t = 0; t < m->ntree; t++) {
        most = m->tree[t].nv > most ? m->tree[t].nv : most;
    }
    if (s) {
        s->model = m;
        s->work.pool = pool;
        s->work.d = sim_derived_create(m, NULL);
        s->work.dynamics = sim_derivatives_create(m, NULL);
    }
    if (!s || !s->work.d || !s->work.dynamics || !make_panels(s, pool, most) || !make_vectors(s, pool, most)) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for derivatives of a step of %d degrees of freedom", m->nv);
        if (s) {
            sim_step_derivatives_free(s);
        } else {
            pool_free(pool);
        }
        return NULL;
    }
    sim_kinematics(s->work.d, sim_all(m), m->q_initial);
    return s;
}

void sim_step_derivatives_free(sim_step_derivatives *s) {
    if (s) {
        sim_derived_free(s->work.d);
        sim_derivatives_free(s->work.dynamics);
        pool_free(s->work.pool);
    }
}

/* ---- refusals ---- */

static const char *actuator_trouble(const sim_actuator *a) {
    return a->transmission != SIM_BY_JOINT ? "acts on no joint"
           : a->muscle.force > 0           ? "is a muscle"
           : a->activation.type            ? "has an activation"
                                           : NULL;
}

static sim_status check_world(const sim_world *w, sim_error *error) {
    /* the world, its actuators, the step, its trees */
    const sim_model *m = w->model;
    if (!w->stepped) {
        return sim_fail(error, SIM_BAD_INPUT, "derivatives of a step need a step since the state was set");
    }
    if (w->model->nsoft) {
        return sim_fail(error, SIM_BAD_INPUT, "derivatives of a step are not there for soft bodies (\"%s\")",
                        w->model->soft[0].name);
    }
    if (w->sleep) {
        return sim_fail(error, SIM_BAD_INPUT, "derivatives of a step are not there for worlds that sleep");
    }
    if (m->ndrag) {
        return sim_fail(error, SIM_BAD_INPUT, "derivatives of a step are not there for bodies in a fluid");
    }
    if (m->ncontroller) {
        return sim_fail(error, SIM_BAD_INPUT, "derivatives of a step are not there for controllers (\"%s\")",
                        m->controller[0].name);
    }
    for (int k = 0; k < m->nactuator; k++) {
        const char *trouble = actuator_trouble(&m->actuator[k]);
        if (trouble) {
            return sim_fail(error, SIM_BAD_INPUT, "derivatives of a step are not there: actuator \"%s\" %s",
                            m->actuator[k].name, trouble);
        }
    }
    if (w->info.nonconverged) {
        return sim_fail(error, SIM_BAD_INPUT, "derivatives of a step are not there: it did not converge");
    }
    for (int t = 0; t < m->ntree; t++) {
        const char *body = m->body[m->tree[t].body0].name;
        if (m->tree[t].nv && w->contacts.stage && w->contacts.in_contact[t]) {
            return sim_fail(error, SIM_BAD_INPUT,
                            "derivatives of a step are not there: the tree of body \"%s\" has contacts or constraints",
                            body);
        }
        if (m->tree[t].nv && w->motion.parts[t].placed) {
            return sim_fail(error, SIM_BAD_INPUT,
                            "derivatives of a step are not there: the tree of body \"%s\" turned too far in it", body);
        }
    }
    return SIM_OK;
}

/* ---- the whole ---- */

static void clear_jacobian(const sim_model *m, sim_step_jacobian *out) {
    size_t n = (size_t)m->nv;
    if (out->by_state) {
        memset(out->by_state, 0, sizeof(double) * 4 * n * n);
    }
    if (out->by_applied) {
        memset(out->by_applied, 0, sizeof(double) * 2 * n * n);
    }
    if (out->by_input) {
        memset(out->by_input, 0, sizeof(double) * SIM_INPUTS * 2 * n * (size_t)m->nactuator);
    }
    out->residual = 0;
    out->kinks = 0;
}

/* Rows of a tree, `first` 0: of q, nv: of v. */
static void copy_rows(const sim_model *m, int tree, const tree_jacobian *from, const double *rows, int first,
                      sim_step_jacobian *out) {
    int v0 = m->tree[tree].v0, nv = m->tree[tree].nv, n = m->nv;
    size_t size = sizeof *rows * (size_t)nv;
    for (int i = 0; i < nv; i++) {
        const double *row = rows + (ptrdiff_t)i * from->width;
        ptrdiff_t at = first + v0 + i;
        if (out->by_state) {
            memcpy(out->by_state + at * 2 * n + v0, row, size);
            memcpy(out->by_state + at * 2 * n + n + v0, row + nv, size);
        }
        if (out->by_applied) {
            memcpy(out->by_applied + at * n + v0, row + 2 * (ptrdiff_t)nv, size);
        }
    }
}

/* Columns of the inputs of a tree's actuators. */
static void fill_inputs(const motion_work *w, const sim_state *to, int tree, const tree_jacobian *from,
                        sim_step_jacobian *out) {
    const sim_model *m = w->model;
    const tree_parts *parts = &w->parts[tree];
    int v0 = m->tree[tree].v0, nv = m->tree[tree].nv;
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
        int actuator = w->actuator_order[k], column = 2 * nv + m->actuator[actuator].dof - v0;
        out->kinks += drive_at_kink(w, k);
        for (int input = 0; input < SIM_INPUTS && out->by_input; input++) {
            double slope = drive_by_input(w, k, (sim_input)input, w->now, to);
            double *rows = out->by_input + (ptrdiff_t)input * 2 * m->nv * m->nactuator + actuator;
            for (int i = 0; i < nv; i++) {
                ptrdiff_t at = (ptrdiff_t)i * from->width + column;
                rows[(ptrdiff_t)(v0 + i) * m->nactuator] = slope * from->q[at];
                rows[(ptrdiff_t)(m->nv + v0 + i) * m->nactuator] = slope * from->v[at];
            }
        }
    }
}

sim_status sim_world_step_derivatives(sim_world *w, sim_step_derivatives *s, sim_step_jacobian *out, sim_error *error) {
    const sim_model *m = w->model;
    sim_status status = check_world(w, error);
    if (!status && out->by_input && m->nactuator && w->options.integrator == SIM_RK4) {
        status =
            sim_fail(error, SIM_BAD_INPUT, "derivatives by inputs are not there with rk4, whose stages have several");
    }
    if (status) {
        return status;
    }
    /* trees, at the state before */
    motion_work past = w->motion;
    past.now = &w->next;
    clear_jacobian(m, out);
    for (int t = 0; t < m->ntree; t++) {
        if (m->tree[t].nv == 0) {
            continue;
        }
        tree_jacobian jacobian = {.width = row_stride(3 * m->tree[t].nv), .q = s->q, .v = s->v};
        if (w->options.integrator == SIM_RK4) {
            rk4_derivatives(&s->work, &past, t, &jacobian);
        } else {
            theta_derivatives(&s->work, &past, &w->now, t, &jacobian);
        }
        copy_rows(m, t, &jacobian, jacobian.q, 0, out);
        copy_rows(m, t, &jacobian, jacobian.v, m->nv, out);
        fill_inputs(&past, &w->now, t, &jacobian, out);
        out->residual = max_of(out->residual, jacobian.residual);
    }
    return SIM_OK;
}
