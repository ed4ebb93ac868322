/* Solutions of islands to velocities and impulses in the order of the model, and counts of the step. */
#include "contact/result/result.h"

#include <string.h>

/* phi + dt (J_n v + w) */
static double promised_gap(const island *is, const sim_constraint *c) {
    const sim_problem *p = &is->problem;
    int n = normal_row(c);
    double w = p->offset ? p->offset[c->row + n] : 0;
    return p->gap[c->row + n] + p->step * (velocity_of_row(p, c, n, is->v) + w);
}

static const double MAX_STEADY_CHANGE = 0.5; /* of an impulse from step to step, relative; a strike changes more */

/* The change of a contact's impulse, along its axes; zero of one that is new, or that a strike changed. */
static v3 eval_trend(const island *is, const sim_constraint *c) {
    const double *before = is->base.impulse_guess + c->row, *now = is->impulse + c->row;
    v3 from = v3_make(before[0], before[1], before[2]);
    v3 change = v3_sub(v3_make(now[0], now[1], now[2]), from);
    return v3_norm(change) <= MAX_STEADY_CHANGE * v3_norm(from) ? change : v3_make(0, 0, 0);
}

/* The i-th constraint of an island. */
static void scatter_impulse(const assembly *f, const island *is, int i, contact_output *out) {
    const sim_constraint *c = &is->problem.constraint[i];
    const constraint_source *t = &f->source[is->source[i]];
    const double *g = is->impulse + c->row;
    if (t->kind == SOURCE_CONTACT) {
        int all = is->first_constraint + i;
        out->impulse[t->index] = surface_impulse(f, all, g);
        out->impulse_trend[t->index] = m3_times(f->axes[all], eval_trend(is, c));
        if (t->rows > SIM_CONTACT_ROWS && out->contact) {
            out->contact[t->index].moment = surface_moment(f, all, g);
        }
        if (out->promised) {
            out->promised[t->index] = promised_gap(is, c);
        }
    } else if (t->kind == SOURCE_EQUALITY) {
        memcpy(out->equality_impulse + (ptrdiff_t)SIM_MAX_ROWS * t->index, g, (size_t)t->rows * sizeof *g);
    } else if (is_tendon_row(t->kind)) {
        out->tendon_impulse[4 * t->index + (int)(t->kind - SOURCE_TENDON_LOW)] = g[0];
    } else if (t->kind == SOURCE_ACTUATOR) {
        actuator_scatter(f, is, i - is->first_actuator, g[0], out->effort);
    } else if (t->kind != SOURCE_ELASTIC) { /* these follow from the places of nodes */
        out->joint_impulse[SIM_JOINT_ROWS * t->index + joint_row_of(t->kind)] += joint_impulse_of(t->kind, g[0]);
    }
}

/* The part of an impulse that lasts: of a strike no more than the constraint gave a step ago. */
static double lasting_part(const island *is, const sim_constraint *c) {
    int row = c->row + normal_row(c);
    double now = is->impulse[row], before = is->base.impulse_guess[row];
    if (fabs(now - before) <= MAX_STEADY_CHANGE * fabs(before)) {
        return 1;
    }
    return now * before > 0 ? min_of(1, before / now) : 0;
}

/* Adds the part of J' gamma / dt of a constraint. */
static void add_force(const assembly *f, const sim_model *m, const island *is, const sim_constraint *c, double part,
                      double *to) {
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_tree *t = &m->tree[f->tree[is->first_tree + c->tree[side]]];
        for (int k = 0; k < c->rows; k++) {
            dense_axpy(t->nv, part * is->impulse[c->row + k] / f->in->step, f->J + c->block[side] + k * t->nv,
                       to + t->v0);
        }
    }
}

/* Takes the load of adhesion off, which J' gamma holds besides the contact's own force. */
static void add_adhesion(const assembly *f, const sim_model *m, const island *is, int i, double *to) {
    const sim_constraint *c = &is->problem.constraint[i];
    double pull = f->pull && c->kind == SIM_CONTACT ? f->pull[is->first_constraint + i] : 0;
    for (int side = 0; side < 2 && c->tree[side] >= 0 && pull > 0; side++) {
        const sim_tree *t = &m->tree[f->tree[is->first_tree + c->tree[side]]];
        dense_axpy(t->nv, -pull / f->in->step, f->J + c->block[side] + 2 * (ptrdiff_t)t->nv, to + t->v0);
    }
}

static void add_contact_force(const assembly *f, const sim_model *m, const island *is, int i, double part, double *to) {
    add_force(f, m, is, &is->problem.constraint[i], part, to);
    add_adhesion(f, m, is, i, to);
}

/* J: gamma . J (v0 + theta (v - v0)) of a constraint, over both sides; theta: with which positions move. */
static double find_work(const assembly *f, const sim_model *m, const island *is, const sim_constraint *c,
                        const double *v) {
    double sum = 0;
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        int tree = f->tree[is->first_tree + c->tree[side]];
        const sim_tree *t = &m->tree[tree];
        const double *v0 = f->in->v_start + t->v0, *v1 = v + t->v0;
        double travel = travel_of(f, tree_is_damped(f, tree));
        for (int k = 0; k < c->rows; k++) {
            const double *J = f->J + c->block[side] + (ptrdiff_t)k * t->nv;
            for (int j = 0; j < t->nv; j++) {
                sum += is->impulse[c->row + k] * J[j] * (v0[j] + travel * (v1[j] - v0[j]));
            }
        }
    }
    return sum;
}

/* Adds the work of a constraint to that of the soft body that it ties, or whose elasticity it is; notes the
 * body where velocities jump. */
static void add_soft_work(const assembly *f, const sim_model *m, const island *is, int i, contact_output *out) {
    const sim_constraint *c = &is->problem.constraint[i];
    const constraint_source *t = &f->source[is->source[i]];
    bool tied = t->kind == SOURCE_EQUALITY && c->kind == SIM_EQUALITY;
    if (!tied && t->kind != SOURCE_ELASTIC) {
        return;
    }
    for (int side = 0; side < 2; side++) {
        int tree = c->tree[side] >= 0 ? f->tree[is->first_tree + c->tree[side]] : -1;
        if (tree >= 0 && f->in->soft[tree]) {
            out->parted[tree] |= is->rolls[i] == PARTS_AT_ONCE;
            *((tied ? out->tied_work : out->elastic_work) + tree) += find_work(f, m, is, c, out->v);
            return;
        }
    }
}

static void clear_output(const assembly *f, const sim_model *m, contact_output *out) {
    /* arrays of trees, joints, equalities, tendons */
    memset(out->touched, 0, (size_t)m->ntree);
    memset(out->unsolved, 0, (size_t)m->ntree);
    memset(out->joint_impulse, 0, SIM_JOINT_ROWS * (size_t)m->nv * sizeof(double));
    memset(out->held, 0, (size_t)m->nv * sizeof(double));
    memset(out->pressed, 0, (size_t)m->nv * sizeof(double));
    if (out->unheld) {
        memset(out->unheld, 0, (size_t)m->nv * sizeof(double));
    }
    if (out->tied_work) {
        memset(out->elastic_work, 0, (size_t)m->ntree * sizeof(double));
        memset(out->tied_work, 0, (size_t)m->ntree * sizeof(double));
        memset(out->parted, 0, (size_t)m->ntree);
    }
    memset(out->equality_impulse, 0, SIM_MAX_ROWS * (size_t)m->nequality * sizeof(double));
    if (m->ntendon) {
        memset(out->tendon_impulse, 0, 4 * (size_t)m->ntendon * sizeof(double));
    }
    /* of contacts and actuators */
    for (int k = 0; k < f->in->ncontact; k++) {
        out->impulse[k] = out->impulse_trend[k] = v3_make(0, 0, 0);
        if (out->promised) {
            out->promised[k] = 0;
        }
    }
    for (int k = 0; k < f->in->nactuator; k++) {
        out->effort[f->in->actuator[k].actuator] = NAN;
    }
}

static void scatter_island(const assembly *f, const sim_model *m, const island *is, contact_output *out) {
    /* velocities of its trees */
    for (int t = 0; t < is->problem.ntree; t++) {
        int tree = f->tree[is->first_tree + t];
        const sim_tree *to = &m->tree[tree];
        size_t size = (size_t)to->nv * sizeof(double);
        if (is->condensed && is->condensed->tree[t].n) {
            condensed_velocity(is, t, is->v, out->v + to->v0);
            condensed_shift(is, t, is->shift, out->shift + to->v0);
        } else {
            memcpy(out->v + to->v0, is->v + is->problem.tree[t].v0, size);
            memcpy(out->shift + to->v0, is->shift + is->problem.tree[t].v0, size);
        }
        out->touched[tree] = 1;
        out->unsolved[tree] = is->solution.outcome > SIM_AT_ROUNDING;
    }
    /* impulses, and the forces that may last */
    for (int i = 0; i < is->problem.nconstraint; i++) {
        const sim_constraint *c = &is->problem.constraint[i];
        scatter_impulse(f, is, i, out);
        if (out->tied_work) {
            add_soft_work(f, m, is, i, out);
        }
        bool actuator = i >= is->first_actuator;
        source_kind kind = f->source[is->source[i]].kind;
        if (actuator ? actuator_is_held(f, is, i - is->first_actuator)
                     : kind == SOURCE_EQUALITY || kind == SOURCE_TENDON_SPRING) {
            add_force(f, m, is, c, 1, out->held);
        } else if (f->in->holds && !actuator && kind != SOURCE_ELASTIC) {
            add_contact_force(f, m, is, i, lasting_part(is, c), out->pressed);
            if (out->unheld) {
                add_contact_force(f, m, is, i, 1, out->unheld);
            }
        }
    }
}

static void count_overlaps(const island *is, contact_info *info) {
    if (is->stuck && (!info->stuck || is->stuck_depth > info->stuck_depth)) {
        const sim_constraint *c = &is->problem.constraint[is->stuck_at];
        info->stuck_body[0] = c->body[0];
        info->stuck_body[1] = c->body[1];
        info->stuck_depth = is->stuck_depth;
    }
    info->stuck += is->stuck;
    info->refused += is->refused;
    info->undone += is->undone;
}

static void sum_effort(const assembly *f, contact_info *info) {
    /* sizes and work of all islands */
    *info = (contact_info){.islands = f->nisland, .stuck_body = {-1, -1}};
    for (int k = 0; k < f->nisland; k++) {
        const island *is = &f->island[k];
        const sim_solution *found = &is->solution;
        info->constraints += is->problem.nconstraint;
        info->rows += is->problem.nrow;
        info->iterations = found->iterations > info->iterations ? found->iterations : info->iterations;
        info->total += found->iterations;
        /* outcomes */
        bool solved = found->outcome == SIM_SOLVED || found->outcome == SIM_AT_ROUNDING;
        info->unsolved += !solved;
        info->gave_up[found->reason] += !solved;
        if (solved && found->finished_by >= 0) {
            info->finished[found->finished_by]++;
        }
        /* factorisations and times */
        info->factorisations += found->factorisations;
        info->multiplications += found->multiplications;
        for (int part = 0; part < CONTACT_PARTS; part++) {
            info->seconds[part] += is->seconds[part];
        }
        count_overlaps(is, info);
    }
}

void scatter_solutions(const assembly *f, const sim_model *m, contact_output *out) {
    clear_output(f, m, out);
    for (int k = 0; k < f->nisland; k++) {
        scatter_island(f, m, &f->island[k], out);
    }
    sum_effort(f, &out->info);
}
