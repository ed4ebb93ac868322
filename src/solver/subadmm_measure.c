/* How wrong are the multipliers, taken as impulses?  E of the strict law (natural.c) on what follows from them,
 *
 *     v = v* + A^-1 J' gamma,     s = J v + w - target + R gamma,
 *
 * in which momentum is in balance to the last bit, whatever the iterations have come to.
 *
 * And how far are the iterations from their end?  Their residuals (eq. 42) as energies: of what slots and velocities
 * disagree by, with the mass that a constraint feels, and of what the velocities lack of those that follow from the
 * multipliers,
 *
 *     primal^2 = sum_i |J x - sum_j z_ij|^2 / w_i = sum_i |zeta_i (lambda_i' - lambda_i)|^2 / w_i,
 *     dual^2   = |x - A^-1 J' lambda'|_A^2. */
#include "math/dense.h"
#include "solver/delassus.h"
#include "solver/natural.h"
#include "solver/products.h"
#include "solver/subadmm.h"

#include <math.h>
#include <string.h>

int subadmm_weigh(subadmm *s) {
    const sim_problem *p = s->problem;
    double *W = ARENA_NEW(s->call->scratch, double, sim_delassus_diagonal_size(p));
    if (!W || !delassus_diagonal(p, NULL, s->call->scratch, W)) {
        return 0;
    }
    problem_velocity(p, p->v_free, s->q);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *k = &p->constraint[i];
        double trace = 0, R = 0;
        for (int r = 0; r < k->rows; r++) {
            int row = k->row + r, forced = isinf(s->call->R[row]);
            trace += W[r * k->rows + r];
            R += forced ? 0 : s->call->R[row];
            s->q[row] = forced ? 0 : s->q[row] - s->call->target[row];
            s->target[row] = -s->q[row]; /* of a row that is forced nobody asks */
        }
        W += k->rows * k->rows;
        s->inverse_mass[i] = trace > 0 ? trace / k->rows : 1;
        s->rho[i] = trace + R > 0 ? k->rows / (trace + R) : 1;
    }
    return 1;
}

void subadmm_gather(const subadmm *s, double *gamma) {
    for (int i = 0; i < s->problem->nconstraint; i++) {
        const sim_constraint *c = &s->problem->constraint[i];
        if (s->lane_of[i] >= 0) {
            admm_lanes_impulse(&s->lanes, s->lane_of[i], gamma + c->row);
        } else {
            memcpy(gamma + c->row, s->lambda + c->row, (size_t)c->rows * sizeof *gamma);
        }
    }
}

void subadmm_measure(subadmm *s) {
    const sim_problem *p = s->problem;
    const double *R = s->call->R, *gamma = s->gamma;
    natural_sum sum = {0};
    problem_jacobian_transposed(p, gamma, s->v);
    problem_mass_solve(p, s->v);
    problem_jacobian_times(p, s->v, s->s);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *k = &p->constraint[i];
        for (int r = k->row; r < k->row + k->rows; r++) {
            s->s[r] = isinf(R[r]) ? 0 : s->s[r] + s->q[r] + R[r] * gamma[r];
        }
        natural_add(&sum, k, p->step, s->rho[i], s->q + k->row, s->s + k->row, gamma + k->row);
    }
    s->E = natural_error(&sum);
}

/* Of x, and of the multipliers before and after the iteration that began there; after subadmm_measure. */
void subadmm_residuals(subadmm *s) {
    const sim_problem *p = s->problem;
    double primal = 0, dual = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int r = c->row; r < c->row + c->rows; r++) {
            double apart = s->slack[r] / s->kappa * (s->gamma[r] - s->before[r]);
            primal += apart * apart / s->inverse_mass[i];
        }
    }
    for (int k = 0; k < s->ntree; k++) {
        const subadmm_tree *t = &s->tree[k];
        subadmm_read(s, t, s->dx);
        for (int j = 0; j < t->nv; j++) {
            s->dx[j] -= s->v[t->v0 + j];
        }
        p->mass.times(p->mass.self, t->index, s->dx, s->momentum);
        dual += dense_dot(t->nv, s->dx, s->momentum);
    }
    s->primal = sqrt(primal);
    s->dual = sqrt(dual);
}
