/* Verdict of the judge on the solution of an island.
 *
 * The judge evaluates the solution under the rigid law and under the law that its solver was given.  A solution that
 * the solver calls solved and its certificate does not confirm is refuted (sim_solver_confirm), for every solver.
 *
 * A solver that takes gaps at the end of the step (positions.c) solves A (v - v*) = J+' gamma with laws of the mean
 * rates u+(v).  It is judged by the problem with the same solution: J+ in place of J, and w = u+(v) - J+ v.
 *
 * Cost: that of the judge. */
#include "contact/island/island.h"

/* The problem at the end of the step that v leads to. */
static sim_status problem_ahead(const island *is, sim_problem *ahead, sim_arena *scratch) {
    *ahead = is->problem;
    double *w = ARENA_NEW(scratch, double, ahead->nrow);
    if (!w) {
        return SIM_NO_RESOURCE;
    }
    ahead->positions->at(ahead->positions->self, is->v, w);
    ahead->J = ahead->positions->J;
    ahead->offset = w;
    ahead->diagonal = NULL;
    for (int i = 0; i < ahead->nconstraint; i++) {
        const sim_constraint *c = &ahead->constraint[i];
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            const sim_problem_tree *t = &ahead->tree[c->tree[side]];
            for (int k = 0; k < c->rows; k++) {
                w[c->row + k] -= dense_dot(t->nv, ahead->J + c->block[side] + (ptrdiff_t)k * t->nv, is->v + t->v0);
            }
        }
    }
    return SIM_OK;
}

sim_status judge_island(island *is, const sim_solver *solver, sim_arena *scratch, sim_error *error) {
    sim_problem ahead;
    const sim_problem *p = is->problem.positions ? &ahead : &is->problem;
    double *work = ARENA_NEW(scratch, double, sim_judge_work(&is->problem));
    if (!work || (is->problem.positions && problem_ahead(is, &ahead, scratch))) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory to judge an island");
    }
    sim_regularisation rigid = {is->law.R_rigid, is->law.target_rigid}, own = {is->law.R, is->law.target};
    sim_judge(p, &rigid, &own, sim_solver_info_of(solver)->cone, is->v, is->impulse, work, &is->judgement);
    sim_certificate found = sim_judgement_finish(&is->judgement);
    sim_solver_confirm(solver, found.own, found.momentum, &is->solution.outcome, &is->solution.reason);
    return SIM_OK;
}
