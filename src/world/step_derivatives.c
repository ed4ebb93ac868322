/* Derivatives of the last step of a world: trees and islands one by one, into the matrices of the whole.
 *
 *     d (q1, v1, m1) / d (q0, v0, m0, f, input, parameters),     d / d input = (d / d f) g d F / d input
 *
 *     f      generalised forces;  g, F: gear and force of an actuator of a joint
 *     m      memory: other numbers of the state on which the next step depends (derivative/whole_rows.c)
 *
 * The state before the step is the one with which it changed places.  Islands and trees without contact share nothing,
 * so blocks between them are zero.
 * Reference: integrator/derivative/theta_derivatives.c, rk4_derivatives.c beside it, derivative/island_derivatives.c.
 * Cost: that of trees and islands, and n^2 for n dofs. */
#include <sim/step_derivatives.h>

#include "linalg/dense/lu.h"
#include "model/parts/joint.h"
#include "world/core/world.h"
#include "world/whole_rows.h"

#include <string.h>

struct sim_step_derivatives {
    const sim_model *model;
    derivative_work work;
    double *q, *v; /* of a tree_jacobian */
    int *dof;      /* [nv] all */
    sim_derived *start, *middle, *ahead;
    sim_arena *arena; /* of an island */
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
    w->q_ahead = POOL_NEW(pool, double, m->nq);
    w->M = POOL_NEW(pool, double, m->nl);
    s->dof = POOL_NEW(pool, int, m->nv);
    for (int j = 0; s->dof && j < m->nv; j++) {
        s->dof[j] = j;
    }
    w->swap = POOL_NEW(pool, int, most);
    w->solve = POOL_NEW(pool, double, lu_work(most) + most);
    w->drive = POOL_NEW(pool, drive_slopes, m->nv);
    w->swing = POOL_NEW(pool, m3, 3 * m->nbody);
    w->point.from = POOL_NEW(pool, m3, m->nbody);
    w->point.by = POOL_NEW(pool, m3, m->nbody);
    w->end.from = POOL_NEW(pool, m3, m->nbody);
    w->end.by = POOL_NEW(pool, m3, m->nbody);
    return all && s->dof && w->q && w->q_ahead && w->M && w->swap && w->solve && w->drive && w->swing &&
           w->point.from && w->point.by && w->end.from && w->end.by;
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
        s->start = sim_derived_create(m, NULL);
        s->middle = sim_derived_create(m, NULL);
        s->ahead = sim_derived_create(m, NULL);
        s->arena = arena_create();
    }
    if (!s || !s->work.d || !s->work.dynamics || !s->start || !s->middle || !s->ahead || !s->arena ||
        !make_panels(s, pool, most) || !make_vectors(s, pool, most)) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for derivatives of a step of %d degrees of freedom", m->nv);
        if (s) {
            sim_step_derivatives_free(s);
        } else {
            pool_free(pool);
        }
        return NULL;
    }
    sim_kinematics(s->work.d, sim_all(m), m->q_initial);
    sim_kinematics(s->start, sim_all(m), m->q_initial);
    sim_kinematics(s->middle, sim_all(m), m->q_initial);
    sim_kinematics(s->ahead, sim_all(m), m->q_initial);
    return s;
}

void sim_step_derivatives_free(sim_step_derivatives *s) {
    if (s) {
        sim_derived_free(s->work.d);
        sim_derivatives_free(s->work.dynamics);
        sim_derived_free(s->start);
        sim_derived_free(s->middle);
        sim_derived_free(s->ahead);
        arena_free(s->arena);
        pool_free(s->work.pool);
    }
}

/* ---- refusals ---- */

static const char *actuator_trouble(const sim_actuator *a) {
    return a->transmission != SIM_BY_JOINT ? "acts on no joint"
           : a->muscle.force > 0           ? "is a muscle"
           : a->activation.type            ? "has an activation"
           : a->delay > 0                  ? "has a delay"
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
        if (m->tree[t].nv && (w->motion.parts[t].placed || w->motion.parts[t].curbed)) {
            return sim_fail(error, SIM_BAD_INPUT,
                            "derivatives of a step are not there: the tree of body \"%s\" turned too far in it", body);
        }
    }
    return SIM_OK;
}

/* The reason why an island has no derivative; NULL: it has one. */
static const char *island_trouble(const contact_step *step, const island *is) {
    if (is->solution.outcome > SIM_AT_ROUNDING || is->refused) {
        return "has contacts or constraints that were not solved";
    }
    for (int i = 0; i < constraints_of(is); i++) {
        const char *trouble = row_trouble(step, is, i);
        if (trouble) {
            return trouble;
        }
    }
    return NULL;
}

static sim_status refuse_island(const sim_model *m, const assembly *rows, const island *is, const char *trouble,
                                sim_error *error) {
    const char *body = m->body[m->tree[rows->tree[is->first_tree]].body0].name;
    return sim_fail(error, SIM_BAD_INPUT, "derivatives of a step are not there: the island of body \"%s\" %s", body,
                    trouble);
}

/* An actuator whose slopes follow its control input changes A with it. */
static sim_status check_inputs(const sim_world *w, sim_error *error) {
    const sim_model *m = w->model;
    for (int k = 0; k < m->nactuator; k++) {
        const sim_actuator *a = &m->actuator[k];
        if (w->contacts.in_contact[a->tree] && (a->gain[1] != 0 || a->gain[2] != 0)) {
            return sim_fail(
                error, SIM_BAD_INPUT,
                "derivatives by inputs are not there beside constraints: the gain of actuator \"%s\" depends on "
                "its length or rate",
                a->name);
        }
    }
    return SIM_OK;
}

/* The law of the step, then island by island. */
static sim_status check_islands(sim_world *w, const motion_work *past, bool by_input, sim_error *error) {
    const sim_model *m = w->model;
    const assembly *rows = contact_stage_assembly(w->contacts.stage);
    if (sim_options_compliance(&w->options) == SIM_RIGID || w->options.solver->cone == SIM_CONE_PYRAMID) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "derivatives of a step with constraints are there for compliant laws with round cones, not %s",
                        w->options.solver->name);
    }
    if (!rows) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "derivatives of a step are not there: bodies that overlapped were parted");
    }
    contact_step step = {.motion = past, .to = &w->now, .contacts = &w->contacts, .rows = rows};
    for (int k = 0; k < rows->nisland; k++) {
        const char *trouble = island_trouble(&step, &rows->island[k]);
        if (trouble) {
            return refuse_island(m, rows, &rows->island[k], trouble, error);
        }
    }
    return by_input ? check_inputs(w, error) : SIM_OK;
}

/* ---- the whole ---- */

/* Slopes of forces by inputs, and trees whose free motion takes lasting forces on. */
static bool prepare_rows(sim_world *w, sim_step_derivatives *s, whole_rows *rows) {
    const sim_model *m = w->model;
    double *slope = zeros(s->arena, SIM_INPUTS * (ptrdiff_t)m->nactuator);
    char *constant = ARENA_NEW(s->arena, char, m->nactuator);
    char *smooth = ARENA_NEW(s->arena, char, m->ntree);
    if (!slope || !constant || !smooth) {
        return false;
    }
    for (int k = 0; k < m->nactuator && rows->out->by_input; k++) {
        constant[rows->past->actuator_order[k]] = drive_is_constant(rows->past, k);
        for (int input = 0; input < SIM_INPUTS; input++) {
            slope[(ptrdiff_t)input * m->nactuator + rows->past->actuator_order[k]] =
                drive_by_input(rows->past, k, (sim_input)input, rows->past->now, rows->to);
        }
    }
    for (int t = 0; t < m->ntree; t++) {
        smooth[t] = rows->before.size && forces_go_on(&w->contacts, rows->past->now, t);
    }
    rows->slope = slope;
    rows->constant = constant;
    rows->smooth = smooth;
    return true;
}

static void count_kinks(const motion_work *w, sim_step_jacobian *out) {
    for (int k = 0; k < w->model->nactuator; k++) {
        out->kinks += drive_at_kink(w, k);
    }
}

/* ---- trees without constraints, and islands ---- */

static sim_status fail_memory(const sim_model *m, sim_error *error) {
    return sim_fail(error, SIM_NO_RESOURCE, "no memory for derivatives of a step of %d degrees of freedom", m->nv);
}

static bool fill_tree(sim_step_derivatives *s, motion_work *past, int t, const whole_rows *rows) {
    const sim_model *m = past->model;
    /* its work space, its derivatives, their places in the whole */
    int nv = m->tree[t].nv, count = s->work.parameters;
    size_t mark = arena_mark(s->arena);
    tree_jacobian jacobian = {.width = row_stride(3 * nv), .q = s->q, .v = s->v};
    jacobian.q_by = zeros(s->arena, (ptrdiff_t)nv * count);
    jacobian.v_by = zeros(s->arena, (ptrdiff_t)nv * count);
    if (!jacobian.q_by || !jacobian.v_by) {
        return false;
    }
    if (past->options->integrator == SIM_RK4) {
        rk4_derivatives(&s->work, past, t, &jacobian);
    } else {
        theta_derivatives(&s->work, past, rows->to, t, &jacobian);
    }
    rows->out->residual = max_of(rows->out->residual, jacobian.residual);
    for (int j = 0; j < nv; j++) {
        ptrdiff_t row = (ptrdiff_t)j * jacobian.width, by = (ptrdiff_t)j * count;
        put_tree_row(rows, t, s->q + row, jacobian.q_by + by, m->tree[t].v0 + j);
        put_tree_row(rows, t, s->v + row, jacobian.v_by + by, m->nv + m->tree[t].v0 + j);
    }
    arena_release(s->arena, mark);
    return true;
}

/* End velocities of an island, shift of positions, positions.  False without memory. */
static bool differentiate_whole(const contact_step *step, const island *is, island_system *system, double **dq) {
    if (!differentiate_island(step, is, system)) {
        return false;
    }
    ptrdiff_t size = (ptrdiff_t)system->n * system->width;
    double *dc;
    *dq = zeros(step->arena, size);
    return *dq && (system->trouble || (differentiate_shift(system, &dc) && differentiate_end(system, dc, *dq)));
}

/* Island by island: end velocities, shift of positions, positions; then columns of the inputs. */
static sim_status fill_islands(sim_world *w, sim_step_derivatives *s, motion_work *past, const whole_rows *to,
                               sim_error *error) {
    const assembly *rows = contact_stage_assembly(w->contacts.stage);
    contact_step step = {.motion = past,
                         .to = &w->now,
                         .contacts = &w->contacts,
                         .rows = rows,
                         .work = &s->work,
                         .start = s->start,
                         .middle = s->middle,
                         .ahead = s->ahead,
                         .arena = s->arena,
                         .parameter = s->work.parameter,
                         .parameters = s->work.parameters,
                         .near = to->out->near,
                         .memory = to->before.size > 0};
    size_t mark = arena_mark(s->arena);
    for (int k = 0; k < rows->nisland; k++) {
        const island *is = &rows->island[k];
        island_system system;
        double *dq;
        arena_release(s->arena, mark);
        if (!differentiate_whole(&step, is, &system, &dq)) {
            return fail_memory(w->model, error);
        }
        if (system.trouble) {
            return refuse_island(w->model, rows, is, system.trouble, error);
        }
        to->out->residual = max_of(to->out->residual, system.residual);
        to->out->kinks += system.kinks;
        for (int i = 0; i < system.n; i++) {
            put_island_row(to, &system, dq + (ptrdiff_t)i * system.width, system.dof[i]);
            put_island_row(to, &system, system.dv + (ptrdiff_t)i * system.width, w->model->nv + system.dof[i]);
        }
        if (to->after.size && !put_island_memory(to, &system)) {
            return fail_memory(w->model, error);
        }
    }
    return SIM_OK;
}

/* Do inputs of limited actuators act on other forces than those of free motion: on the law of loads, or on rows? */
static bool servos_act(const sim_world *w) {
    const assembly *rows = w->contacts.stage ? contact_stage_assembly(w->contacts.stage) : NULL;
    bool act = rows && sim_options_compliance(&w->options) == SIM_ELASTIC;
    for (int k = 0; rows && k < rows->nisland; k++) {
        act |= rows->island[k].rows > 0;
    }
    return act;
}

/* The parameters of all columns: friction of materials, if that is wanted, then those of the caller, then limited
 * actuators. */
static sim_status list_parameters(const sim_world *w, sim_step_derivatives *s, const sim_step_jacobian *out,
                                  sim_error *error) {
    const sim_model *m = s->model;
    const motion_work *past = &w->motion;
    int servos = out->by_input && servos_act(w) ? past->nlimited : 0;
    int materials = out->by_friction ? m->nmaterial : 0, given = out->by_parameter ? out->parameters : 0, most = 1;
    for (int t = 0; t < m->ntree; t++) {
        most = m->tree[t].nv > most ? m->tree[t].nv : most;
    }
    arena_release(s->arena, 0);
    sim_parameter *list = ARENA_NEW(s->arena, sim_parameter, materials + given + servos + 1);
    s->work.parameter = list;
    s->work.parameters = materials + given + servos;
    s->work.force_by = zeros(s->arena, (ptrdiff_t)most * (materials + given + servos));
    if (!list || !s->work.force_by) {
        return fail_memory(m, error);
    }
    for (int k = 0; k < servos; k++) {
        list[materials + given + k] = (sim_parameter){(sim_parameter_kind)BY_SERVO, past->limited[k].actuator, 0};
    }
    for (int k = 0; k < materials; k++) {
        list[k] = (sim_parameter){SIM_BY_FRICTION, k, 0};
    }
    for (int k = 0; k < given; k++) {
        const sim_parameter *p = list + materials + k;
        list[materials + k] = out->parameter[k];
        bool shapes = p->kind == SIM_BY_PLACEMENT || p->kind == SIM_BY_SIZE;
        int count = shapes                                                ? m->nshape
                    : p->kind == SIM_BY_MASS || p->kind == SIM_BY_INERTIA ? m->nbody
                    : p->kind < SIM_PARAMETER_KINDS                       ? m->nmaterial
                                                                          : 0;
        int components = sim_parameter_components(p->kind);
        if (p->index < 0 || p->index >= count || p->component < 0 || p->component >= components) {
            return sim_fail(error, SIM_BAD_INPUT, "derivatives by parameter %d: no such number in the model", k);
        }
    }
    return SIM_OK;
}

sim_status sim_world_step_derivatives(sim_world *w, sim_step_derivatives *s, sim_step_jacobian *out, sim_error *error) {
    const sim_model *m = w->model;
    sim_status status = check_world(w, error);
    bool wanted = (out->by_input && m->nactuator) || (out->by_parameter && out->parameters);
    if (!status && wanted && w->options.integrator == SIM_RK4) {
        status = sim_fail(error, SIM_BAD_INPUT,
                          "derivatives by inputs and parameters are not there with %s, whose stages have several",
                          sim_integrator_name(w->options.integrator));
    }
    status = status ? status : list_parameters(w, s, out, error);
    /* trees, at the state before */
    motion_work past = w->motion;
    past.now = &w->next;
    status = !status && w->contacts.stage ? check_islands(w, &past, out->by_input != NULL, error) : status;
    if (status) {
        return status;
    }
    bool constrained = w->contacts.stage != NULL, memory = constrained && out->memory;
    whole_rows rows = {.past = &past,
                       .to = &w->now,
                       .out = out,
                       .nv = m->nv,
                       .before = memory_map_of(m, w->next.ncontact, memory),
                       .after = memory_map_of(m, w->now.ncontact, memory)};
    rows.rows = 2 * m->nv + rows.after.size;
    rows.columns = 2 * m->nv + rows.before.size;
    if (!prepare_rows(w, s, &rows)) {
        return fail_memory(m, error);
    }
    clear_whole(&rows);
    out->residual = 0;
    out->kinks = 0;
    count_kinks(&past, out);
    for (int t = 0; t < m->ntree; t++) {
        if (m->tree[t].nv && !(constrained && w->contacts.in_contact[t]) && !fill_tree(s, &past, t, &rows)) {
            return fail_memory(m, error);
        }
    }
    return constrained ? fill_islands(w, s, &past, &rows, error) : SIM_OK;
}

/* ---- memory ---- */

void sim_world_memory_sizes(const sim_world *w, int *before, int *now) {
    bool any = w->contacts.stage != NULL;
    *before = w->stepped ? memory_map_of(w->model, w->next.ncontact, any).size : 0;
    *now = memory_map_of(w->model, w->now.ncontact, any).size;
}

void sim_world_memory(const sim_world *w, double *memory) {
    memory_map map = memory_map_of(w->model, w->now.ncontact, w->contacts.stage != NULL);
    copy_memory(w->model, &w->now, &map, memory);
}
