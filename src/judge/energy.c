/* Kinetic energy that a solution creates.
 *
 *     T - T** = (v - v**) . A (v + v**) / 2,     v** = v* + A^-1 J_a' gamma_a,
 *
 * gamma_a [N s] the impulses of springs and actuators in the solution: free motion with these and all loads.  Of the
 * other, passive rows every law asks, with u = J v and gamma in K,
 *
 *     contact     gamma . u <= gamma . tau - gamma . R gamma       limit       the same, of one row
 *     equality    gamma . (u + w) = gamma . tau - gamma . R gamma  friction    gamma . u <= gamma tau_t
 *
 * and T - T** = sum of gamma . u over them - |v - v**|^2 / 2 in the metric of A.  So a right solution has
 *
 *     excess = max(0, T - T** - sum over stops gamma_n max(tau_n - w_n, 0) - sum over equalities and tangents
 *                 gamma . (tau - w)) = 0,     of tangents and turning w that of the surfaces: the work of a belt
 *
 * and a wrong one may have more: energy from nothing, in J.  v is the solution's own, not the one that follows from
 * gamma. Local problems have no v: there it is gamma . (b + W gamma / 2) over the passive rows, exact where no row is
 * active. */
#include "judge/energy.h"
#include "judge/slots.h"
#include "math/dense.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static bool is_active(const sim_constraint *c) { return c->kind == SIM_SPRING || c->kind == SIM_ACTUATOR; }

static void add_targets(const sim_problem *p, const double *target, const double *gamma, double *sum) {
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        int normal = c->row + (c->kind == SIM_CONTACT ? 2 : 0);
        if (c->kind == SIM_CONTACT || c->kind == SIM_LIMIT) {
            sum[OF_STOPS] += gamma[normal] * fmax(target[normal] - (p->offset ? p->offset[normal] : 0), 0);
        }
        for (int k = c->row; c->kind == SIM_EQUALITY && k < c->row + c->rows; k++) {
            sum[OF_EQUALITIES] += gamma[k] * (target[k] - (p->offset ? p->offset[k] : 0));
        }
        int tangents = c->kind == SIM_CONTACT || c->kind == SIM_FRICTION ? c->rows : 0;
        for (int k = c->row; k < c->row + tangents; k++) {
            bool contact = c->kind == SIM_CONTACT, along = contact && k < c->row + 2;
            /* springs of the elastic law; 0 by the others */
            sum[OF_EQUALITIES] += contact && k == normal ? 0 : gamma[k] * target[k];
            sum[OF_EQUALITIES] -= along ? gamma[k] * c->surface[k - c->row] : 0;
            sum[OF_EQUALITIES] -= contact && k > normal && p->offset ? gamma[k] * p->offset[k] : 0;
        }
    }
}

/* j <- J_a' gamma_a; whether there is any. */
static bool active_impulse(const sim_problem *p, const double *gamma, double *j) {
    bool any = false;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (!is_active(c)) {
            continue;
        }
        if (!any) {
            memset(j, 0, (size_t)p->nv * sizeof *j);
            any = true;
        }
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            int n = p->tree[c->tree[side]].nv;
            for (int k = 0; k < c->rows; k++) {
                dense_axpy(n, gamma[c->row + k], p->J + c->block[side] + k * n, j + p->tree[c->tree[side]].v0);
            }
        }
    }
    return any;
}

static void add_global_energy(const sim_problem *p, const double *v, const double *gamma, judge_motion *m,
                              double *sum) {
    bool active = active_impulse(p, gamma, m->j);
    for (int t = 0; t < p->ntree; t++) {
        int n = p->tree[t].nv, v0 = p->tree[t].v0;
        double *both = m->rest, *momentum = both + n, *driven = m->j + v0;
        if (active) {
            p->mass.solve(p->mass.self, t, driven);
        }
        for (int k = 0; k < n; k++) {
            both[k] = v[v0 + k] + p->v_free[v0 + k] + (active ? driven[k] : 0);
        }
        p->mass.times(p->mass.self, t, both, momentum);
        for (int k = 0; k < n; k++) {
            double free = p->v_free[v0 + k] + (active ? driven[k] : 0);
            sum[GAIN] += (v[v0 + k] - free) * momentum[k] / 2;
            sum[KINETIC] += both[k] * momentum[k] / 4;
        }
    }
}

static void add_local_energy(const sim_problem *p, const double *gamma, const judge_motion *m, double *sum) {
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = c->row; k < c->row + c->rows && !is_active(c); k++) {
            double offset = p->offset ? p->offset[k] : 0;
            sum[GAIN] += gamma[k] * (m->free[k] - offset + m->pushed[k] / 2);
            sum[KINETIC] += gamma[k] * m->pushed[k] / 2;
        }
    }
}

void judge_energy(const sim_problem *p, const double *target, const double *v, const double *gamma, judge_motion *m,
                  sim_judgement *judgement) {
    double *sum = judgement->sum;
    add_targets(p, target, gamma, sum);
    if (sim_problem_local(p)) {
        add_local_energy(p, gamma, m, sum);
    } else {
        add_global_energy(p, v, gamma, m, sum);
    }
    sum[EXCESS] = fmax(0, sum[GAIN] - sum[OF_STOPS] - sum[OF_EQUALITIES]);
}
