/* How wrong are the multipliers, taken as impulses?  E of the strict law (natural.c) on what follows from them,
 *
 *     v = v* + A^-1 J' gamma,     s = J v + w - target + R gamma,
 *
 * in which momentum is in balance to the last bit, whatever the iterations have come to. */
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
            s->target[row] = -s->q[row];
        }
        W += k->rows * k->rows;
        s->inverse_mass[i] = trace > 0 ? trace / k->rows : 1;
        s->rho[i] = trace + R > 0 ? k->rows / (trace + R) : 1;
    }
    return 1;
}

void subadmm_measure(subadmm *s, const double *gamma) {
    const sim_problem *p = s->problem;
    const double *R = s->call->R;
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
