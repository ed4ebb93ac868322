/* Which multipliers do the velocities J x ask for? (Lee et al. 2024, eqs. 13 to 17, 35 to 38)
 *
 * Each row of a constraint sees the velocities of its slots j, with penalties beta_j = kappa weight_j.  What the augmented
 * Lagrangian makes of law and slots together,
 *
 *     beta_j z_j = beta_j J_j x - lambda + lambda',     (sum_j z_j - target, lambda') in the law,
 *
 * has with slack = sum_j 1 / beta_j (for one beta their |Z| / beta) the answer, row by row,
 *
 *     y = -(J x - slack lambda - target) / (slack + R),    lambda' = P(y):
 *
 *     limit      max(0, y)                    friction, actuator   within the bound
 *     equality   y                            spring               y, with its R and target (their eq. 37)
 *     contact    lambda_n = max(0, y_n),  lambda_t = y_t within the disc mu lambda_n
 *
 * and the slots, which nobody needs to keep, have J_j x - z_j = (lambda - lambda') / beta_j. */
#include "solver/subadmm.h"

#include <math.h>

static double clamp(double x, double low, double high) { return fmin(fmax(x, low), high); }

/* y becomes its nearest in the law's sense. */
static void project(const sim_constraint *c, double step, double *y) {
    double bound = step * c->bound;
    switch (c->kind) {
    case SIM_CONTACT:
        y[2] = fmax(0, y[2]);
        double most = c->friction * y[2], size = sqrt(y[0] * y[0] + y[1] * y[1]), shrink = size > most ? most / size : 1;
        y[0] *= shrink;
        y[1] *= shrink;
        break;
    case SIM_LIMIT:
        for (int r = 0; r < c->rows; r++) {
            y[r] = fmax(0, y[r]);
        }
        break;
    case SIM_FRICTION:
    case SIM_ACTUATOR:
        for (int r = 0; r < c->rows; r++) {
            y[r] = clamp(y[r], -bound, bound);
        }
        break;
    default:
        break;
    }
}

static double velocity_of(const subadmm_side *side, int row, const double *x) {
    const double *J = side->J + (ptrdiff_t)row * side->stride;
    double sum = 0;
    for (int j = 0; j < side->n; j++) {
        sum += J[j] * x[side->at + j];
    }
    return sum;
}

static void push_by(const subadmm_side *side, int row, double f, double *push) {
    const double *J = side->J + (ptrdiff_t)row * side->stride;
    for (int j = 0; j < side->n; j++) {
        push[side->at + j] += J[j] * f;
    }
}

void subadmm_project(subadmm *s) {
    const sim_problem *p = s->problem;
    double change = 0, energy = 0, over = 1 / s->kappa;
    for (int k = 0; k < s->state; k++) {
        s->push[k] = 0;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        const double *R = s->call->R + c->row;
        double *lambda = s->lambda + c->row, y[SIM_MAX_ROWS];
        if (!s->kept[i]) {
            lambda[0] = lambda[1] = lambda[2] = 0;
            continue;
        }
        for (int r = 0; r < c->rows; r++) {
            double slack = over * s->slack[c->row + r];
            double u = velocity_of(&s->side[i][0], r, s->x) + velocity_of(&s->side[i][1], r, s->x);
            y[r] = isinf(R[r]) ? p->step * c->force
                               : (s->target[c->row + r] + slack * lambda[r] - u) / (slack + R[r]);
        }
        project(c, p->step, y);
        for (int r = 0; r < c->rows; r++) {
            double moved = y[r] - lambda[r], slack = over * s->slack[c->row + r], f = y[r] + moved;
            change += slack * moved * slack * moved;
            energy += slack * moved * slack * moved / s->inverse_mass[i];
            lambda[r] = y[r];
            push_by(&s->side[i][0], r, f, s->push);
            push_by(&s->side[i][1], r, f, s->push);
        }
    }
    s->change = sqrt(change);
    s->energy = sqrt(energy);
}
