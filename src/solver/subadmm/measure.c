/* Error and residuals of SubADMM.
 *
 * Error: E of the strict law (natural_map.c), with the multipliers as impulses and momentum balanced to rounding,
 *
 *     v = v* + A^-1 J' lambda,     s = J v + w - target + R lambda.
 *
 * Residuals (Lee et al. 2024, eq. 42), as energies: difference of slots and velocities, with the mass at the
 * constraint; difference of x and the velocities of the multipliers,
 *
 *     primal^2 = sum_ij |J_ij x - z_ij|^2 / w_i = sum_i slots_i |zeta_i (lambda_i' - lambda_i)|^2 / slack_i,
 *     dual^2   = |x - A^-1 J' lambda'|_A^2.
 *
 * Open contacts: a contact without impulse that separates would stiffen the bodies for nothing.  It is left out of C
 * until an evaluation finds it closing.  Contacts open at the warm start are left out at once.  Later, contacts open in
 * two evaluations in a row are left out when kappa changes, as C is factored then anyway. */
#include "math/dense.h"
#include "solver/core/products.h"
#include "solver/matrices/delassus.h"
#include "solver/subadmm/lanes/batch_kernels.h"

#include <math.h>
#include <string.h>

enum {
    OPEN_EVALUATIONS = 2,
    MAX_RETURNS = 2
}; /* evaluations in a row before it is left out; returns after which it stays */

bool subadmm_eval_constants(subadmm *s) {
    const sim_problem *p = s->problem;
    double *W = ARENA_NEW(s->call->scratch, double, sim_delassus_diagonal_size(p)),
           *n2 = squared_natural_speeds(p, s->call->scratch);
    if (!W || !n2 || !delassus_diagonal(p, NULL, s->call->scratch, W)) {
        return false;
    }
    problem_velocity(p, p->v_free, s->q);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *k = &p->constraint[i];
        double trace = 0, R = 0, q2 = 0;
        for (int r = 0; r < k->rows; r++) {
            int row = k->row + r, forced = isinf(s->call->R[row]);
            trace += W[r * k->rows + r];
            R += forced ? 0 : s->call->R[row];
            s->q[row] = forced ? 0 : s->q[row] - s->call->target[row];
            s->target[row] = -s->q[row]; /* not used for rows with a given force */
        }
        W += k->rows * k->rows;
        s->inverse_mass[i] = trace > 0 ? trace / k->rows : 1;
        s->rho[i] = trace + R > 0 ? k->rows / (trace + R) : 1;
        for (int r = k->row; r < k->row + k->rows; r++) {
            q2 += s->q[r] * s->q[r];
        }
        s->constant.q += q2;
        s->constant.n2 += n2[i];
        s->constant.undoing += s->rho[i] * s->rho[i] * fmax(q2, n2[i]);
    }
    return true;
}

void subadmm_eval_error(subadmm *s) {
    subadmm_apply_impulses(s);
    subadmm_solve_response(s);
    subadmm_run_kernel(s, s->lanes.contact_batches, s->kernels->eval_natural);
    natural_sum sum = admm_lanes_natural(&s->lanes);
    sum.q = s->constant.q;
    sum.n2 = s->constant.n2;
    sum.undoing = s->constant.undoing;
    subadmm_add_natural(s, &sum);
    s->E = natural_error(&sum);
}

/* ---- residuals ---- */

static double sum_primal_of_lanes(const subadmm *s) {
    const admm_lanes *l = &s->lanes;
    double sum[LANES] = {0}, all = 0;
    for (int n = 0; n < l->contact_batches; n++) {
        const admm_contacts *c = &l->contacts[n];
        const double *to = l->lambda + (ptrdiff_t)3 * LANES * n, *from = s->before + (to - s->state);
        double slots = s->split == SUBADMM_NONE ? 1 : c->sides;
        for (int k = 0; k < 3 * LANES; k++) {
            double apart = c->zeta[k % LANES] * (to[k] - from[k]);
            sum[k % LANES] += slots * apart * apart / c->slack[k % LANES];
        }
    }
    for (int k = 0; k < LANES; k++) {
        all += sum[k];
    }
    return all;
}

/* d' A d of eight bodies, d = x - A^-1 J' lambda. */
static double sum_dual_of_batch(const admm_lanes *l, const double *row, int batch) {
    const admm_bodies *b = &l->bodies[batch];
    double d[6][LANES], sum[LANES] = {0}, all = 0;
    for (int k = 0; k < 6 * LANES; k++) {
        ptrdiff_t at = (ptrdiff_t)LANES * (b->row + k % LANES) + k / LANES;
        d[k / LANES][k % LANES] = row[at] - l->response[at];
    }
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j <= i; j++) {
            const double *A = b->A[i * (i + 1) / 2 + j], twice = i == j ? 1 : 2;
            for (int k = 0; k < LANES; k++) {
                sum[k] += twice * A[k] * d[i][k] * d[j][k];
            }
        }
    }
    for (int k = 0; k < LANES; k++) {
        all += sum[k];
    }
    return all;
}

static double eval_dual_of_tree(const subadmm *s, const subadmm_tree *t) {
    const sim_mass *mass = &s->problem->mass;
    subadmm_read_velocity(s, t, s->before + (s->x - s->state), s->before + (s->lanes.row - s->state), s->dx);
    subadmm_read_velocity(s, t, s->v, s->lanes.response, s->momentum);
    for (int j = 0; j < t->nv; j++) {
        s->dx[j] -= s->momentum[j];
    }
    mass->times(mass->self, t->index, s->dx, s->momentum);
    return dense_dot(t->nv, s->dx, s->momentum);
}

/* Residuals of the last iteration; after subadmm_eval_error. */
void subadmm_eval_residuals(subadmm *s) {
    const sim_problem *p = s->problem;
    double primal = sum_primal_of_lanes(s), dual = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int r = c->row; r < c->row + c->rows && s->lane_of[i] < 0; r++) {
            double apart = s->slack[r] / s->kappa * (s->lambda[r] - s->before[s->lambda - s->state + r]);
            primal += apart * apart / s->inverse_mass[i];
        }
    }
    for (int n = 0; n < s->lanes.solved_batches; n++) {
        dual += sum_dual_of_batch(&s->lanes, s->before + (s->lanes.row - s->state), n);
    }
    for (int k = 0; k < s->ntree; k++) {
        bool done = s->tree[k].form == SUBADMM_LANE || s->tree[k].form == SUBADMM_BATCHED;
        dual += done ? 0 : eval_dual_of_tree(s, &s->tree[k]);
    }
    dual += subadmm_energy_of_batches(s);
    s->primal = sqrt(primal);
    s->dual = sqrt(dual);
}

/* ---- open contacts ---- */

/* Counts the evaluations in a row in which contact k is open; true: it is to be left out. */
static bool is_to_leave(subadmm *s, int k, bool is_open, int evaluations) {
    s->open[k] = (char)(!is_open ? 0 : s->open[k] < OPEN_EVALUATIONS ? s->open[k] + 1 : OPEN_EVALUATIONS);
    return s->open[k] >= evaluations && s->back[k] < MAX_RETURNS;
}

bool subadmm_cull_open(subadmm *s, int evaluations) {
    bool changed = false;
    for (int k = 0; k < s->input.ncontact; k++) {
        double impulse[3], normal = admm_lanes_normal(&s->lanes, k);
        admm_lanes_impulse(&s->lanes, k, impulse);
        if (!s->kept[k] && !(normal >= 0)) {
            s->kept[k] = 1;
            changed = true;
            s->open[k] = 0;
            s->back[k]++;
        } else if (s->kept[k] && is_to_leave(s, k, normal > 0 && impulse[2] == 0, evaluations)) {
            s->kept[k] = 0;
            changed = true;
        }
    }
    return changed;
}

/* ---- solution ---- */

void subadmm_write_solution(subadmm *s) {
    const sim_problem *p = s->problem;
    double *impulse = s->call->out->impulse, *v = s->call->out->v;
    admm_lanes least = s->lanes;
    least.lambda = s->least + (s->lanes.lambda - s->state);
    const double *lambda = s->least + (s->lambda - s->state);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (s->lane_of[i] >= 0) {
            admm_lanes_impulse(&least, s->lane_of[i], impulse + c->row);
        } else {
            memcpy(impulse + c->row, lambda + c->row, (size_t)c->rows * sizeof *impulse);
        }
    }
    problem_jacobian_transposed(p, impulse, v);
    problem_mass_solve(p, v);
    for (int j = 0; j < p->nv; j++) {
        v[j] += p->v_free[j];
    }
}
