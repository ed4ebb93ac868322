/* Active set: the constraints that may act in this step.
 *
 *   contacts     of which at least one side moves
 *   ends         of ranges that a joint or tendon may meet in the step: with the gap g to the end, and the velocity v
 *                before the step or without constraints,   g <= dt |v| + a thousandth of the range
 *   friction     dry, of every joint and tendon that has it
 *   speed limits of joints that move with half of it, before the step or without constraints
 *   equalities   that are switched on, of which at least one side moves
 *   elastic      tetrahedra of soft bodies whose elasticity is rows
 *   springs      of tendons, with their dampers and inertia
 *   actuators    with a limit, of trees with any of these; and those that are no joints', with feedback
 *
 * in this order, each kind in its own: a constraint that lasts keeps its place. */
#include "contact/problem/assemble.h"
#include "model/parts/spring.h"

/* The tree that moves a body, -1: none. */
static int find_moving_tree(const sim_model *m, const int *last_dof, int body) {
    return last_dof[body] >= 0 ? m->body[body].tree : -1;
}

/* Sleeping trees have no constraints: islands sleep as a whole. */
static bool is_asleep(const assembly *f, int tree) { return tree >= 0 && f->in->asleep && f->in->asleep[tree]; }

static void add_source(assembly *f, source_kind kind, int index, int rows, int a, int b) {
    if ((a >= 0 || b >= 0) && !is_asleep(f, a) && !is_asleep(f, b)) {
        f->source[f->nsource++] = (constraint_source){kind, index, rows, {a, b}};
    }
}

static bool is_limit_in_reach(const assembly *f, const sim_limit *limit, double speed, double gap) {
    double range = limit->high - limit->low, margin = range < INFINITY ? 1e-3 * range : 0;
    return gap <= f->in->step * speed + margin;
}

static const double SPEED_REACH = 0.5; /* of a velocity limit; impacts may pass it, and the next step brakes */

static void add_joint(assembly *f, const sim_model *m, int j) {
    const sim_dof *dof = &m->dof[j];
    int tree = m->body[dof->body].tree;
    double q = dof->coordinate < 0 ? 0 : f->in->q_start[dof->coordinate]; /* without one it has no range */
    double speed = max_of(fabs(f->in->v_start[j]), fabs(f->in->v_free[j]));
    /* ends of the range, dry friction */
    if (is_limit_in_reach(f, &dof->limit, speed, q - dof->limit.low)) {
        add_source(f, SOURCE_LOW, j, 1, tree, -1);
    }
    if (is_limit_in_reach(f, &dof->limit, speed, dof->limit.high - q)) {
        add_source(f, SOURCE_HIGH, j, 1, tree, -1);
    }
    if (dof->friction > 0) {
        add_source(f, SOURCE_FRICTION, j, 1, tree, -1);
    }
    /* velocity limits */
    double low = min_of(f->in->v_start[j], f->in->v_free[j]), high = max_of(f->in->v_start[j], f->in->v_free[j]);
    if (low < -SPEED_REACH * dof->velocity_limit) {
        add_source(f, SOURCE_SPEED_LOW, j, 1, tree, -1);
    }
    if (high > SPEED_REACH * dof->velocity_limit) {
        add_source(f, SOURCE_SPEED_HIGH, j, 1, tree, -1);
    }
}

static void add_tendon(assembly *f, const sim_model *m, int k) {
    const sim_tendon *t = &m->tendon[k];
    const tendon_state *s = &f->tendon[k];
    if (!s->moves) {
        return;
    }
    double speed = max_of(fabs(tendon_speed(f, k, f->in->v_start)), fabs(tendon_speed(f, k, f->in->v_free)));
    const bool acts[4] = {is_limit_in_reach(f, &t->limit, speed, s->length - t->limit.low),
                          is_limit_in_reach(f, &t->limit, speed, t->limit.high - s->length), t->friction > 0,
                          t->armature > 0 || tendon_has_damper(t) || (tendon_has_spring(t) && s->taut)};
    for (int row = 0; row < 4; row++) {
        if (acts[row]) {
            add_source(f, (source_kind)(SOURCE_TENDON_LOW + row), k, 1, t->tree[0], t->tree[1]);
        }
    }
}

static bool is_always_row(const contact_actuator *a) { return a->moment && isfinite(1 / a->gain); }

/* Limited actuators of trees that another constraint touches; other trees keep their free motion. */
static sim_status add_actuators(assembly *f, const sim_model *m) {
    char *touched = ARENA_NEW(f->arena, char, m->ntree);
    f->driven = ARENA_NEW(f->arena, char, m->ntree);
    if (!touched || !f->driven) {
        return SIM_NO_RESOURCE;
    }
    for (int t = 0; t < m->ntree; t++) {
        touched[t] = f->driven[t] = 0;
    }
    for (int k = 0; k < 2 * f->nsource; k++) {
        int tree = f->source[k / 2].tree[k % 2];
        if (tree >= 0) {
            touched[tree] = 1;
        }
    }
    for (int k = 0; k < f->in->nactuator; k++) {
        touched[m->actuator[f->in->actuator[k].actuator].tree] |= is_always_row(&f->in->actuator[k]);
    }
    for (int k = 0; k < f->in->nactuator; k++) {
        const contact_actuator *a = &f->in->actuator[k];
        int tree = m->actuator[a->actuator].tree;
        if (touched[tree] && isfinite(1 / a->gain)) { /* a force that does not follow its length is no row */
            add_source(f, SOURCE_ACTUATOR, k, 1, tree, -1);
            f->driven[tree] = 1;
        }
    }
    return SIM_OK;
}

sim_status active_set_find(assembly *f) {
    /* room for all */
    const model_tables *tables = f->tables;
    const sim_model *m = tables->model;
    const int *last_dof = tables->last_dof;
    size_t most = (size_t)f->in->ncontact + 5 * (size_t)tables->njoint + (size_t)m->nequality +
                  4 * (size_t)tables->ntendon + (size_t)f->in->nactuator + 2 * (size_t)f->nelastic;
    f->source = ARENA_NEW(f->arena, constraint_source, most);
    if (!f->source) {
        return SIM_NO_RESOURCE;
    }
    /* contacts */
    for (int k = 0; k < f->in->ncontact; k++) {
        const sim_contact *c = &f->in->contact[k];
        int rows = SIM_CONTACT_ROWS + (c->rolling > 0 ? 2 : 0) + (c->torsion > 0);
        add_source(f, SOURCE_CONTACT, k, rows, find_moving_tree(m, last_dof, c->body_a),
                   find_moving_tree(m, last_dof, c->body_b));
    }
    /* joints: ranges, dry friction, velocity limits */
    for (int k = 0; k < tables->njoint; k++) {
        add_joint(f, m, tables->joint[k]);
    }
    /* loop constraints and springs */
    for (int k = 0; k < m->nequality; k++) {
        const sim_equality *e = &f->in->equality[k];
        if (!e->off) {
            add_source(f, SOURCE_EQUALITY, k, sim_equality_rows(e->type), find_moving_tree(m, last_dof, e->body[0]),
                       find_moving_tree(m, last_dof, e->body[1]));
        }
    }
    /* elastic tetrahedra */
    for (int k = 0; k < 2 * f->nelastic; k++) {
        int rows = elastic_source_rows(f, k);
        if (rows > 0) {
            add_source(f, SOURCE_ELASTIC, k, rows, m->body[f->elastic[k / 2].soft->body].tree, -1);
        }
    }
    /* tendons */
    for (int k = 0; k < tables->ntendon; k++) {
        add_tendon(f, m, tables->tendon[k]);
    }
    /* actuators with limits */
    return f->in->nactuator ? add_actuators(f, m) : SIM_OK;
}
