/* From the answers of islands to velocities and impulses of the model's own order, and to what is told of the step. */
#include "contact/problem/parts.h"
#include "math/dense.h"

#include <string.h>

static void keep_impulse(const frame *f, int constraint, const double *g, contact_output *out) {
    const tie *t = &f->tie[f->tie_of[constraint]];
    if (t->kind == TIE_CONTACT) {
        out->impulse[t->index] = m3_times(f->axes[constraint], v3_make(g[0], g[1], g[2]));
    } else if (t->kind == TIE_EQUALITY) {
        memcpy(out->equality_impulse + (ptrdiff_t)SIM_MAX_ROWS * t->index, g, (size_t)t->rows * sizeof *g);
    } else if (t->kind == TIE_MOTOR) {
        out->effort[f->in->motor[t->index].actuator] = motor_effort(f, &f->constraint[constraint], g[0]);
    } else {
        out->joint_impulse[3 * t->index + (t->kind == TIE_LOW ? 0 : t->kind == TIE_HIGH ? 1 : 2)] = g[0];
    }
}

static const double STEADY = 0.5; /* change of an impulse from step to step, relative: what changes more is a strike */

/* The part of an impulse that lasts: of a strike no more than the constraint gave a step ago. */
static double lasting_part(const frame *f, const island *is, int constraint) {
    const sim_constraint *c = &f->constraint[constraint];
    int row = c->kind == SIM_CONTACT ? 2 : 0;
    double now = is->impulse[c->row + row], before = f->impulse_guess[f->row[constraint] + row];
    if (fabs(now - before) <= STEADY * fabs(before)) {
        return 1;
    }
    return now * before > 0 ? min_of(1, before / now) : 0;
}

/* Adds the part of J' gamma / dt of a constraint. */
static void add_force(const frame *f, const sim_model *m, const island *is, int constraint, double part, double *to) {
    const sim_constraint *c = &f->constraint[constraint];
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_tree *t = &m->tree[f->tree[is->first_tree + c->tree[side]]];
        for (int k = 0; k < c->rows; k++) {
            dense_axpy(t->nv, part * is->impulse[c->row + k] / f->in->step, f->J + c->block[side] + k * t->nv,
                       to + t->v0);
        }
    }
}

static void scatter(const frame *f, const sim_model *m, contact_output *out) {
    memset(out->touched, 0, (size_t)m->ntree);
    memset(out->joint_impulse, 0, 3 * (size_t)m->nv * sizeof(double));
    memset(out->held, 0, (size_t)m->nv * sizeof(double));
    memset(out->pressed, 0, (size_t)m->nv * sizeof(double));
    memset(out->equality_impulse, 0, SIM_MAX_ROWS * (size_t)m->nequality * sizeof(double));
    for (int k = 0; k < f->in->ncontact; k++) {
        out->impulse[k] = v3_make(0, 0, 0);
    }
    for (int k = 0; k < f->in->nmotor; k++) {
        out->effort[f->in->motor[k].actuator] = NAN;
    }
    for (int k = 0; k < f->nisland; k++) {
        const island *is = &f->island[k];
        for (int t = 0; t < is->problem.ntree; t++) {
            int tree = f->tree[is->first_tree + t];
            const sim_tree *to = &m->tree[tree];
            size_t size = (size_t)to->nv * sizeof(double);
            memcpy(out->v + to->v0, is->v + is->problem.tree[t].v0, size);
            memcpy(out->shift + to->v0, is->shift + is->problem.tree[t].v0, size);
            out->touched[tree] = 1;
        }
        for (int i = 0; i < is->problem.nconstraint; i++) {
            int at = is->first_constraint + i;
            keep_impulse(f, at, is->impulse + f->constraint[at].row, out);
            tie_kind kind = f->tie[f->tie_of[at]].kind;
            if (kind == TIE_EQUALITY) {
                add_force(f, m, is, at, 1, out->held);
            } else if (f->in->holds && kind != TIE_MOTOR) {
                add_force(f, m, is, at, lasting_part(f, is, at), out->pressed);
            }
        }
    }
}

static void report_overlap(const frame *f, const island *is, contact_info *info) {
    if (is->stuck && (!info->stuck || is->stuck_depth > info->stuck_depth)) {
        const sim_constraint *c = &f->constraint[is->first_constraint + is->stuck_at];
        info->stuck_body[0] = c->body[0];
        info->stuck_body[1] = c->body[1];
        info->stuck_depth = is->stuck_depth;
    }
    info->stuck += is->stuck;
    info->refused += is->refused;
    info->undone += is->undone;
}

static void report(const frame *f, contact_info *info) {
    *info = (contact_info){.islands = f->nisland, .stuck_body = {-1, -1}};
    for (int k = 0; k < f->nisland; k++) {
        const island *is = &f->island[k];
        const sim_solution *found = &is->solution;
        info->constraints += is->problem.nconstraint;
        info->rows += is->problem.nrow;
        info->iterations = found->iterations > info->iterations ? found->iterations : info->iterations;
        info->total += found->iterations;
        int solved = found->outcome == SIM_SOLVED || found->outcome == SIM_AT_ROUNDING;
        info->unsolved += !solved;
        info->gave_up[found->reason] += !solved;
        if (solved && found->finished_by >= 0) {
            info->finished[found->finished_by]++;
        }
        info->factorisations += found->factorisations;
        info->multiplications += found->multiplications;
        for (int part = 0; part < CONTACT_PARTS; part++) {
            info->seconds[part] += is->seconds[part];
        }
        report_overlap(f, is, info);
    }
    verdict_of_all(f, info);
}

void hand_back(const frame *f, const sim_model *m, contact_output *out) {
    scatter(f, m, out);
    report(f, &out->info);
}
