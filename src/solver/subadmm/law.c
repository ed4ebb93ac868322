/* Multipliers for the velocities J x by the law of a constraint (Lee et al. 2024, eqs. 13 to 17, 35 to 38).
 *
 * Each row sees the velocities that its slots j give it, with penalties beta_j = kappa weight_j.  What the augmented
 * Lagrangian makes of law and slots together,
 *
 *     beta_j z_j = beta_j J_j x - lambda + lambda',     (sum_j z_j - target, lambda') in the law,
 *
 * has with zeta = sum_j 1 / beta_j (for one beta their |Z| / beta) the answer, row by row,
 *
 *     y = -(J x - zeta lambda - target) / (zeta + R),    lambda' = P(y):
 *
 *     limit      max(0, y)                    friction, actuator   within the bound
 *     equality   y                            spring               y, with its R and target (their eq. 37)
 *     contact    lambda_n = max(0, y_n),  lambda_t = y_t within the disc mu lambda_n
 *
 * The slots themselves nobody needs to keep: J_j x - z_j = (lambda - lambda') / beta_j.  What most contacts are, three rows
 * between bodies, is answered eight at a time (lanes.c); here are all the others. */
#include "solver/subadmm/subadmm.h"

#include <math.h>
#include <string.h>

static void project_contact(const sim_constraint *c, double *y) {
    y[2] = fmax(0, y[2]);
    double most = c->friction * y[2], size = sqrt(y[0] * y[0] + y[1] * y[1]), shrink = size > most ? most / size : 1;
    y[0] *= shrink;
    y[1] *= shrink;
}

/* y becomes the impulse. */
static void project(const sim_constraint *c, double step, double *y) {
    if (c->kind == SIM_CONTACT) {
        project_contact(c, y);
    } else if (c->kind == SIM_LIMIT || c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR) {
        double high = c->kind == SIM_LIMIT ? HUGE_VAL : step * c->bound, low = c->kind == SIM_LIMIT ? 0 : -high;
        for (int r = 0; r < c->rows; r++) {
            y[r] = fmin(fmax(y[r], low), high);
        }
    }
}

static double velocity_of(const subadmm_side *side, int row, const double *x) {
    if (side->n == 0) {
        return 0;
    }
    const double *J = side->J + (ptrdiff_t)row * side->stride;
    double sum = 0;
    for (int j = 0; j < side->n; j++) {
        sum += J[j] * x[j];
    }
    return sum;
}

static void push_by(const subadmm_side *side, int row, double f) {
    if (side->n == 0) {
        return;
    }
    const double *J = side->J + (ptrdiff_t)row * side->stride;
    for (int j = 0; j < side->n; j++) {
        side->push[j] += J[j] * f;
    }
}

static void clear(subadmm *s) {
    memset(s->push, 0, (size_t)s->problem->nv * sizeof *s->push);
    for (int chain = 0; chain < SIM_CHAINS && s->bodies.pushed; chain++) {
        memset(s->bodies.push[chain], 0, (size_t)(LANES * s->bodies.is->nbody) * sizeof *s->push);
    }
}

/* One constraint: lambda, and what f = lambda' + (lambda' - lambda) pushes. */
static void answer(subadmm *s, int i) {
    const sim_constraint *c = &s->problem->constraint[i];
    const double *R = s->call->R + c->row;
    const subadmm_side *side = s->side[i];
    double *lambda = s->lambda + c->row, y[SIM_MAX_ROWS];
    for (int r = 0; r < c->rows; r++) {
        double zeta = s->slack[c->row + r] / s->kappa;
        double u = velocity_of(&side[0], r, side[0].x) + velocity_of(&side[1], r, side[1].x);
        y[r] =
            isinf(R[r]) ? s->problem->step * c->force : (s->target[c->row + r] + zeta * lambda[r] - u) / (zeta + R[r]);
    }
    project(c, s->problem->step, y);
    for (int r = 0; r < c->rows; r++) {
        double f = y[r] + (y[r] - lambda[r]);
        lambda[r] = y[r];
        push_by(&side[0], r, f);
        push_by(&side[1], r, f);
    }
}

void subadmm_project(subadmm *s) {
    clear(s);
    subadmm_share(s, s->lanes.contact_batches, s->kernels->contacts);
    for (int i = 0; i < s->problem->nconstraint && s->beside; i++) {
        if (s->lane_of[i] < 0) {
            answer(s, i);
        }
    }
}

void subadmm_emit(subadmm *s) {
    clear(s);
    subadmm_share(s, s->lanes.contact_batches, s->kernels->emit);
    for (int i = 0; i < s->problem->nconstraint && s->beside; i++) {
        const sim_constraint *c = &s->problem->constraint[i];
        for (int r = 0; r < c->rows && s->lane_of[i] < 0; r++) {
            push_by(&s->side[i][0], r, s->lambda[c->row + r]);
            push_by(&s->side[i][1], r, s->lambda[c->row + r]);
        }
    }
}

void subadmm_add_natural(const subadmm *s, natural_sum *sum) {
    const sim_problem *p = s->problem;
    double none[SIM_MAX_ROWS] = {0}, v[SIM_MAX_ROWS];
    for (int i = 0; i < p->nconstraint && s->beside; i++) {
        const sim_constraint *c = &p->constraint[i];
        const subadmm_side *side = s->side[i];
        for (int r = 0; r < c->rows && s->lane_of[i] < 0; r++) {
            int row = c->row + r, forced = isinf(s->call->R[row]);
            double u = velocity_of(&side[0], r, side[0].answer) + velocity_of(&side[1], r, side[1].answer);
            v[r] = forced ? 0 : u + s->q[row] + s->call->R[row] * s->lambda[row];
        }
        if (s->lane_of[i] < 0) {
            natural_add(sum, c, p->step, s->rho[i], none, v, s->lambda + c->row);
        }
    }
}
