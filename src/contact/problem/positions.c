/* Gaps and J at the end of the step, for solvers that ask for them.
 *
 *     u = (phi(q+) - phi(q0)) / dt,     q+ = q0 (+) dt v
 *     contact:     phi(q+) - phi(q0) = n . (p_a(q+) - p_b(q+))
 *
 *     u           mean rate of a gap over the step, m/s: J v without the change of directions in the step
 *     phi         gap, m;  of equalities as in equalities.c
 *     p_a, p_b    points fixed to the two bodies, which coincide at q0 up to the gap;  n: normal at q0
 *
 * For schemes that move positions with the velocity at the end.  Contacts keep their axes, and friction has J v with
 * the J at q+.  Ends of ranges and couplings are linear in q.  Tendons, dry friction, springs and actuators are unchanged. */
#include "contact/problem/assemble.h"
#include "dyn/motion/advance.h"
#include "math/dense.h"
#include "math/spatial.h"

#include <string.h>

/* The positions of an island; the memory is the stage's, but for that of an island, whose trees no other has. */
typedef struct island_positions {
    sim_positions is;
    const assembly *f;
    const sim_model *model;
    const island *island;
    const int *last_dof;
    sim_derived *ahead;
    double *q, *v, *J;
} island_positions;

static void move_to_end(const island_positions *s, const double *v) {
    const island *is = s->island;
    const sim_model *m = s->model;
    const contact_input *in = s->f->in;
    for (int t = 0; t < is->problem.ntree; t++) {
        int tree = s->f->tree[is->first_tree + t];
        sim_range bodies = sim_tree_range(m, tree);
        memcpy(s->v + m->tree[tree].v0, v + is->problem.tree[t].v0, (size_t)m->tree[tree].nv * sizeof *v);
        advance_by(m, bodies, ROTATION_EXP, in->q_start, s->v, in->step, s->q);
        sim_kinematics(s->ahead, bodies, s->q);
    }
}

static void clear_blocks(const island_positions *s, const sim_constraint *c) {
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        size_t size = (size_t)c->rows * (size_t)s->island->problem.tree[c->tree[side]].nv;
        memset(s->J + c->block[side], 0, size * sizeof *s->J);
    }
}

/* Of contacts J is that of the end already, which w brings it to elsewhere; the surfaces' own velocity stays. */
static double row_end_velocity(const island_positions *s, const sim_constraint *c, int row, const double *v) {
    const double *w = c->kind == SIM_CONTACT ? NULL : s->island->problem.offset;
    double u = w ? w[c->row + row] : c->kind == SIM_CONTACT && row < 2 ? c->surface[row] : 0;
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_problem_tree *t = &s->island->problem.tree[c->tree[side]];
        u += dense_dot(t->nv, s->J + c->block[side] + (ptrdiff_t)row * t->nv, v + t->v0);
    }
    return u;
}

static void eval_rates(void *self, const double *v, double *u) {
    const island_positions *s = self;
    const sim_problem *p = &s->island->problem;
    move_to_end(s, v);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        int all = s->island->first_constraint + i;
        const constraint_source *t = &s->f->source[s->f->source_of[all]];
        double mean[SIM_MAX_ROWS];
        int first = c->rows; /* of the rows with a gap of their own */
        if (t->kind == SOURCE_CONTACT) {
            clear_blocks(s, c);
            mean[2] = contact_ahead(s->f, s->model, s->last_dof, all, s->ahead, s->J) / p->step;
            first = 2;
        } else if (t->kind == SOURCE_EQUALITY && c->kind == SIM_EQUALITY &&
                   !equality_is_of_coordinates(&s->f->in->equality[t->index])) {
            clear_blocks(s, c);
            equality_ahead(s->f, s->model, s->last_dof, all, s->ahead, s->J, mean);
            for (int k = 0; k < c->rows; k++) {
                mean[k] = (mean[k] - p->gap[c->row + k]) / p->step;
            }
            first = 0;
        }
        for (int k = 0; k < c->rows; k++) {
            bool moves = k < first || (t->kind == SOURCE_CONTACT && k > 2);
            u[c->row + k] = moves ? row_end_velocity(s, c, k, v) : mean[k];
        }
    }
}

bool contact_wants_positions(const sim_solver_info *info, const double *option) {
    int k = info->positions - 1;
    return k >= 0 && (option ? option[k] : info->option[k].default_value) > 0;
}

sim_status positions_create(positions_memory *p, const sim_model *m, memory_pool *pool) {
    p->ahead = sim_derived_create(m, NULL);
    p->q = POOL_NEW(pool, double, m->nq);
    p->v = POOL_NEW(pool, double, m->nv);
    return p->ahead && p->q && p->v ? SIM_OK : SIM_NO_RESOURCE;
}

sim_status positions_lay_out(assembly *f, const sim_model *m, const int *last_dof, const positions_memory *p) {
    island_positions *of = ARENA_NEW(f->arena, island_positions, f->nisland);
    f->J_ahead = ARENA_NEW(f->arena, double, f->nJ);
    if (!of || !f->J_ahead) {
        return SIM_NO_RESOURCE;
    }
    sim_kinematics(p->ahead, sim_all(m), f->in->q_start);
    for (int k = 0; k < f->nisland; k++) {
        island *is = &f->island[k];
        of[k] = (island_positions){
            {.self = &of[k], .at = eval_rates, .J = f->J_ahead}, f, m, is, last_dof, p->ahead, p->q, p->v, f->J_ahead};
        is->base.positions = &of[k].is;
    }
    return SIM_OK;
}

void positions_fill(assembly *f) { memcpy(f->J_ahead, f->J, (size_t)f->nJ * sizeof *f->J); }
