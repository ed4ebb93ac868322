/* What may push or hold anything in this step?
 *
 *   contacts     of which at least one side moves
 *   ends         of ranges that a joint may meet in the step: with the gap g to the end, and the velocity v before the
 *                step or without constraints,   g <= dt |v| + a thousandth of the range
 *   dry friction of every joint that has it
 *   equalities   of which at least one side moves
 *   motors       of trees that any of these push or hold
 *
 * in this order, each kind in its own: what is there from step to step has its place from step to step. */
#include "contact/problem/parts.h"

/* The tree that moves a body; -1 if none does. */
static int moved_by(const sim_model *m, const int *last_dof, int body) {
    return last_dof[body] >= 0 ? m->body[body].tree : -1;
}

/* What sleeps is left alone: an island does so whole. */
static int sleeps(const frame *f, int tree) { return tree >= 0 && f->in->asleep && f->in->asleep[tree]; }

static void add(frame *f, tie_kind kind, int index, int rows, int a, int b) {
    if ((a >= 0 || b >= 0) && !sleeps(f, a) && !sleeps(f, b)) {
        f->tie[f->ntie++] = (tie){kind, index, rows, {a, b}};
    }
}

static int within_reach(const frame *f, const sim_dof *dof, int j, double gap) {
    double v = max_of(fabs(f->in->v_start[j]), fabs(f->in->v_free[j]));
    double range = dof->limit.high - dof->limit.low, margin = range < INFINITY ? 1e-3 * range : 0;
    return gap <= f->in->step * v + margin;
}

static void add_joint(frame *f, const sim_model *m, int j) {
    const sim_dof *dof = &m->dof[j];
    int tree = m->body[dof->body].tree;
    double q = f->in->q_start[dof->coordinate];
    if (within_reach(f, dof, j, q - dof->limit.low)) {
        add(f, TIE_LOW, j, 1, tree, -1);
    }
    if (within_reach(f, dof, j, dof->limit.high - q)) {
        add(f, TIE_HIGH, j, 1, tree, -1);
    }
    if (dof->friction > 0) {
        add(f, TIE_FRICTION, j, 1, tree, -1);
    }
}

/* What nothing else touches moves as it did freely, its motors at their limits or not. */
static int add_motors(frame *f, const sim_model *m) {
    char *touched = ARENA_NEW(f->arena, char, m->ntree);
    f->driven = ARENA_NEW(f->arena, char, m->ntree);
    if (!touched || !f->driven) {
        return 0;
    }
    for (int t = 0; t < m->ntree; t++) {
        touched[t] = f->driven[t] = 0;
    }
    for (int k = 0; k < 2 * f->ntie; k++) {
        int tree = f->tie[k / 2].tree[k % 2];
        if (tree >= 0) {
            touched[tree] = 1;
        }
    }
    for (int k = 0; k < f->in->nmotor; k++) {
        int tree = m->body[m->dof[m->actuator[f->in->motor[k].actuator].dof].body].tree;
        if (touched[tree]) {
            add(f, TIE_MOTOR, k, 1, tree, -1);
            f->driven[tree] = 1;
        }
    }
    return 1;
}

int ties_find(frame *f, const sim_model *m, const int *last_dof, const int *joint, int njoint) {
    size_t most = (size_t)f->in->ncontact + 3 * (size_t)njoint + (size_t)m->nequality + (size_t)f->in->nmotor;
    f->tie = ARENA_NEW(f->arena, tie, most);
    if (!f->tie) {
        return 0;
    }
    for (int k = 0; k < f->in->ncontact; k++) {
        const sim_contact *c = &f->in->contact[k];
        add(f, TIE_CONTACT, k, 3, moved_by(m, last_dof, c->body_a), moved_by(m, last_dof, c->body_b));
    }
    for (int k = 0; k < njoint; k++) {
        add_joint(f, m, joint[k]);
    }
    for (int k = 0; k < m->nequality; k++) {
        const sim_equality *e = &m->equality[k];
        add(f, TIE_EQUALITY, k, sim_equality_rows(e->type), moved_by(m, last_dof, e->body[0]),
            moved_by(m, last_dof, e->body[1]));
    }
    return f->in->nmotor ? add_motors(f, m) : 1;
}
