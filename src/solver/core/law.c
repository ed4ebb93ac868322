/* Compliance and constant impulse of rows for Newton's method on the primal cost.
 *
 *     gamma = P(y),    y = (target - u) / R,    or y = dt force where R is infinite: a given force, whatever u is
 *
 * R: compliance (velocity per impulse); target, u: velocities; y, gamma: impulses.
 * Reference: Castro, Permenter, Han 2021, eq. 23. */
#include "solver/core/law.h"

#include <math.h>
#include <string.h>

bool law_make(law_rows *law, int rows, sim_arena *scratch) {
    law->R = ARENA_NEW(scratch, double, rows);
    law->inverse_compliance = ARENA_NEW(scratch, double, rows);
    law->constant = ARENA_NEW(scratch, double, rows);
    return law->R && law->inverse_compliance && law->constant;
}

void law_set_row(law_rows *law, const sim_problem *p, const sim_constraint *c, int k, double R) {
    int row = c->row + k, spring = c->kind == SIM_SPRING || c->kind == SIM_ACTUATOR;
    law->constant[row] = spring ? p->step * c->force : 0;
    law->R[row] = isinf(R) ? 0 : R;
    law->inverse_compliance[row] = isinf(R) ? 0 : 1 / R;
}

bool law_is_supported(const solver_call *call) {
    const sim_problem *p = call->problem;
    for (int k = 0; k < p->nrow; k++) {
        if (!(call->R[k] >= 0) || (isfinite(call->R[k]) && !isfinite(call->target[k]))) {
            return false;
        }
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        bool rolls = c->kind == SIM_CONTACT && c->rows >= 5;
        if ((c->kind == SIM_CONTACT && call->R[c->row] != call->R[c->row + 1]) ||
            (rolls && call->R[c->row + 3] != call->R[c->row + 4])) {
            return false;
        }
    }
    return true;
}

void law_reject(const solver_call *call) {
    const sim_problem *p = call->problem;
    memcpy(call->out->v, p->v_free, (size_t)p->nv * sizeof(double));
    memset(call->out->impulse, 0, (size_t)p->nrow * sizeof(double));
    call->out->outcome = SIM_BROKEN_DOWN;
    call->out->reason = SIM_REASON_UNFIT;
    call->out->residual = HUGE_VAL;
}

sim_status law_solve_in_one_piece(solver_call *call, solver_begin *begin, solver_resume *resume) {
    if (!law_is_supported(call)) {
        law_reject(call);
        return SIM_OK;
    }
    return solver_solve_in_one_piece(call, begin, resume);
}

void law_set_initial_velocity(const solver_call *call, const patches *o) {
    const sim_problem *p = call->problem;
    double *v = call->out->v;
    memcpy(v, p->v_free, (size_t)p->nv * sizeof *v);
    for (int node = 0; node < o->nodes && p->v_guess; node++) {
        const sim_problem_tree *t = &p->tree[o->tree[node]];
        memcpy(v + t->v0, p->v_guess + t->v0, (size_t)t->nv * sizeof *v);
    }
}

bool law_has_rigid_contact(const solver_call *call) {
    const sim_problem *p = call->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (c->kind == SIM_CONTACT && !(call->R[c->row] > 0)) {
            return true;
        }
    }
    return false;
}
