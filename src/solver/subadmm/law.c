/* Multipliers of a constraint from the velocities J x (Lee et al. 2024, eqs. 13 to 17, 35 to 38).
 *
 * Slots j with penalties beta_j = kappa weight_j and the law give one equation for z_j and lambda',
 *
 *     beta_j z_j = beta_j J_j x - lambda + lambda',     (sum_j z_j - target, lambda') in the law.
 *
 * With zeta = sum_j 1 / beta_j (the paper's |Z| / beta for one beta) its solution is, row by row,
 *
 *     y = -(J x - zeta lambda - target) / (zeta + R),    lambda' = P(y):
 *
 *     limit      max(0, y)                    friction, actuator   within the bound
 *     equality   y                            spring               y, with its R and target (their eq. 37)
 *     contact    lambda_n = max(0, y_n),  lambda_t = y_t within the disc mu lambda_n
 *
 * The slots follow from J_j x - z_j = (lambda - lambda') / beta_j.  Contacts between bodies are in the SIMD lanes
 * (lanes.c); this file handles all other constraints. */
#include "solver/subadmm/subadmm.h"

#include <math.h>
#include <string.h>

static void project_slot_contact(const sim_constraint *c, double *y) {
    y[2] = fmax(0, y[2]);
    double most = c->friction * y[2], size = sqrt(y[0] * y[0] + y[1] * y[1]), shrink = size > most ? most / size : 1;
    y[0] *= shrink;
    y[1] *= shrink;
}

/* y <- P(y), the impulse. */
static void project_constraint(const sim_constraint *c, double step, double *y) {
    if (c->kind == SIM_CONTACT) {
        project_slot_contact(c, y);
    } else if (c->kind == SIM_LIMIT || c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR) {
        double high = c->kind == SIM_LIMIT ? HUGE_VAL : step * c->bound, low = c->kind == SIM_LIMIT ? 0 : -high;
        for (int r = 0; r < c->rows; r++) {
            y[r] = fmin(fmax(y[r], low), high);
        }
    }
}

static double slot_velocity(const subadmm_side *side, int row, const double *x) {
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

static void apply_to_side(const subadmm_side *side, int row, double f) {
    if (side->n == 0) {
        return;
    }
    const double *J = side->J + (ptrdiff_t)row * side->stride;
    for (int j = 0; j < side->n; j++) {
        side->push[j] += J[j] * f;
    }
}

static void clear_push(subadmm *s) {
    memset(s->push, 0, (size_t)s->problem->nv * sizeof *s->push);
    for (int chain = 0; chain < SIM_CHAINS && s->bodies.pushed; chain++) {
        memset(s->bodies.push[chain], 0, (size_t)(LANES * s->bodies.is->nbody) * sizeof *s->push);
    }
}

/* One constraint: lambda', and J'f with f = lambda' + (lambda' - lambda). */
static void update_constraint(subadmm *s, int i) {
    const sim_constraint *c = &s->problem->constraint[i];
    const double *R = s->call->R + c->row;
    const subadmm_side *side = s->side[i];
    double *lambda = s->lambda + c->row, y[SIM_MAX_ROWS];
    for (int r = 0; r < c->rows; r++) {
        double zeta = s->slack[c->row + r] / s->kappa;
        double u = slot_velocity(&side[0], r, side[0].x) + slot_velocity(&side[1], r, side[1].x);
        y[r] =
            isinf(R[r]) ? s->problem->step * c->force : (s->target[c->row + r] + zeta * lambda[r] - u) / (zeta + R[r]);
    }
    project_constraint(c, s->problem->step, y);
    for (int r = 0; r < c->rows; r++) {
        double f = y[r] + (y[r] - lambda[r]);
        lambda[r] = y[r];
        apply_to_side(&side[0], r, f);
        apply_to_side(&side[1], r, f);
    }
}

void subadmm_update_impulses(subadmm *s) {
    clear_push(s);
    subadmm_run_kernel(s, s->lanes.contact_batches, s->kernels->update_contacts);
    for (int i = 0; i < s->problem->nconstraint && s->beside; i++) {
        if (s->lane_of[i] < 0) {
            update_constraint(s, i);
        }
    }
}

void subadmm_apply_impulses(subadmm *s) {
    clear_push(s);
    subadmm_run_kernel(s, s->lanes.contact_batches, s->kernels->apply_impulses);
    for (int i = 0; i < s->problem->nconstraint && s->beside; i++) {
        const sim_constraint *c = &s->problem->constraint[i];
        for (int r = 0; r < c->rows && s->lane_of[i] < 0; r++) {
            apply_to_side(&s->side[i][0], r, s->lambda[c->row + r]);
            apply_to_side(&s->side[i][1], r, s->lambda[c->row + r]);
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
            double u = slot_velocity(&side[0], r, side[0].response) + slot_velocity(&side[1], r, side[1].response);
            v[r] = forced ? 0 : u + s->q[row] + s->call->R[row] * s->lambda[row];
        }
        if (s->lane_of[i] < 0) {
            natural_add(sum, c, p->step, s->rho[i], 0, none, v, s->lambda + c->row);
        }
    }
}
