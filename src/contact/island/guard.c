/* Energy guard: rejection of solutions with more energy than the step can supply.
 *
 *     T - T** - gamma_e . (tau_e - w)  <=  min( sum gamma_n max(tau_n - w_n, 0),  P )
 *
 *     T, T**          kinetic energy of the solution, and of free motion with its springs and actuators, J
 *     gamma, tau, w   impulse, target velocity and offset of a row, N s, m/s; e: equalities, n: normals of stops
 *     P               budget of the step, J: energy that undoing its overlaps takes from rest (undo.c); it does not
 *                     depend on impulses
 *
 * An exact solution gains over free motion at most the work of its targets (judge/energy.c), which is at most P. An
 * iterate at the end of a budget may gain nothing.  Rolling contacts obey the mean velocity (row/contacts.c): of them
 * the work on the mean motion, sum of gamma . (u0 + u) / 2 with u = J v, is bounded as well, and the smaller excess
 * counts.  The guard rejects a solution that exceeds the bound by more than MAX_RELATIVE_EXCESS of the energies
 * involved, or that is not finite.  It replaces it by one that gains nothing:
 * sweeps of relax.c on the convex law of the same rows, without undoing and restitution.  They start from the multiple
 * of least energy of the rejected impulses, or from zero.  The replacement is no solution, and the island counts as
 * unsolved.
 *
 * Cost: a product with A; where it rejects, up to REPLACEMENT_SWEEPS sweeps. */
#include "contact/island/island.h"
#include "contact/island/relax.h"

#include <math.h>
#include <string.h>

static const double MAX_RELATIVE_EXCESS = 1e-4; /* of the energies at stake: tolerances of solvers */
enum { REPLACEMENT_SWEEPS = 200 };

static bool is_finite_solution(int n, const double *x) {
    for (int k = 0; k < n; k++) {
        if (!isfinite(x[k])) {
            return false;
        }
    }
    return true;
}

/* v . A v / 2, J, with the present A, which includes the actuators that are no rows. */
static double kinetic_energy_in(const sim_problem *p, const double *v, double *work) {
    double twice = 0;
    for (int t = 0; t < p->ntree; t++) {
        const double *of = v + p->tree[t].v0;
        p->mass.times(p->mass.self, t, of, work);
        twice += dense_dot(p->tree[t].nv, of, work);
    }
    return twice / 2;
}

/* P */
static double energy_budget(const island *is, double *work) {
    double sum = is->budget;
    sum += is->undoing ? kinetic_energy_in(&is->problem, is->undoing, work) : 0;
    return sum + (is->bounces > 0
                      ? is->bounces * is->bounces * kinetic_energy_in(&is->problem, is->problem.v_start, work)
                      : 0);
}

/* Work of stops and friction on the mean motion of the step, sum of gamma . (u0 + u) / 2, less that of belts, J. */
static double work_on_mean_motion(const island *is) {
    const sim_problem *p = &is->problem;
    double sum = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = 0; k < c->rows && (is_stop(c) || c->kind == SIM_FRICTION); k++) {
            double mean = (velocity_of_row(p, c, k, p->v_start) + velocity_of_row(p, c, k, is->v)) / 2;
            sum += is->impulse[c->row + k] * (mean + (c->kind == SIM_CONTACT && k < 2 ? c->surface[k] : 0));
        }
    }
    return sum;
}

double guard_excess(const island *is, sim_arena *scratch) {
    const sim_problem *p = &is->problem;
    double *work = ARENA_NEW(scratch, double, p->nv); /* released with the island */
    if (!work || !is_finite_solution(p->nrow, is->impulse) || !is_finite_solution(p->nv, is->v)) {
        return INFINITY;
    }
    sim_energy_gain e = sim_judgement_gain(&is->judgement);
    bool unfinished = is->solution.reason == SIM_REASON_BUDGET;
    double budget = unfinished ? 0 : min_of(e.stops, energy_budget(is, work));
    double over = e.gain - e.equalities - budget;
    if (over > MAX_RELATIVE_EXCESS * e.size && p->v_start) {
        over = min_of(over, work_on_mean_motion(is) - budget);
    }
    return over <= MAX_RELATIVE_EXCESS * e.size ? 0 : isnan(over) ? INFINITY : over;
}

static void set_guard_targets(relaxation *r, const island *is) {
    const sim_problem *p = &is->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = 0; k < c->rows; k++) {
            int row = c->row + k;
            double target = is_stop(c) && k == normal_row(c) ? min_of(is->law.target[row], 0) : is->law.target[row];
            r->base[row] = velocity_of_row(p, c, k, p->v_free) + (p->offset ? p->offset[row] : 0) - target;
            r->R[row] = is->law.R[row];
        }
        relax_admit(r, i);
    }
}

sim_status guard_replace(island *is, sim_arena *scratch) {
    /* Gauss-Seidel on the regularised problem */
    const sim_problem *p = &is->problem;
    size_t mark = arena_mark(scratch), size = (size_t)p->nrow * sizeof(double);
    relaxation r;
    if (relax_create(&r, p, scratch)) {
        return SIM_NO_RESOURCE;
    }
    /* stops without positive targets, so that none is a source of energy */
    set_guard_targets(&r, is);
    if (is_finite_solution(p->nrow, is->impulse)) {
        relax_start(&r, is->impulse);
    }
    for (int k = 0; k < REPLACEMENT_SWEEPS; k++) {
        relax_sweep(&r);
    }
    /* impulses, zero where even these are not finite */
    memcpy(is->impulse, r.gamma, size);
    if (!is_finite_solution(p->nrow, is->impulse)) {
        memset(is->impulse, 0, size);
    }
    /* velocities of the impulses */
    memcpy(r.gamma, is->impulse, size);
    relax_motion(&r, is->v);
    for (int j = 0; j < p->nv; j++) {
        is->v[j] += p->v_free[j];
    }
    arena_release(scratch, mark);
    /* the outcome is a failure of the solver, or of the budget that ended it */
    is->solution.outcome = SIM_BROKEN_DOWN;
    is->solution.reason = is->solution.reason == SIM_REASON_BUDGET ? SIM_REASON_BUDGET : SIM_REASON_ENERGY;
    is->solution.finished_by = -1;
    is->refused = true;
    return SIM_OK;
}

double guard_undone(const island *is, double threshold) {
    const sim_problem *p = &is->problem;
    double sum = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (undo_pushes(is, threshold, c)) {
            int n = normal_row(c);
            sum +=
                is->impulse[c->row + n] * (velocity_of_row(p, c, n, is->v) + velocity_of_row(p, c, n, p->v_start)) / 2;
        }
    }
    return max_of(0, sum);
}
