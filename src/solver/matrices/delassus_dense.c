/* W + R and q as one dense matrix and one vector. */
#include "solver/matrices/delassus_dense.h"
#include "math/dense.h"
#include "solver/core/natural_map.h"
#include "solver/core/products.h"
#include "solver/matrices/delassus.h"

#include <math.h>
#include <string.h>

static void expand_blocks(const sim_problem *p, const sim_delassus *W, int n, double *dense) {
    memset(dense, 0, (size_t)n * (size_t)n * sizeof *dense);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            const sim_constraint *other = &p->constraint[W->column[k]];
            for (int r = 0; r < c->rows; r++) {
                memcpy(dense + (size_t)(c->row + r) * (size_t)n + other->row, W->value + W->at[k] + r * other->rows,
                       (size_t)other->rows * sizeof *dense);
            }
        }
    }
}

/* Removes rows with a given force from W; their effect goes into q. */
static void remove_given_rows(dual *d, const sim_constraint *c) {
    double bound = c->kind == SIM_ACTUATOR ? d->problem->step * c->bound : HUGE_VAL;
    double force = c->kind == SIM_SPRING || c->kind == SIM_ACTUATOR ? d->problem->step * c->force : 0;
    size_t n = (size_t)d->n;
    for (int k = c->row; k < c->row + c->rows; k++) {
        if (d->given[k]) {
            d->impulse[k] = fmin(fmax(force, -bound), bound);
            for (size_t i = 0; i < n; i++) {
                d->q[i] += d->given[i] ? 0 : d->W[i * n + (size_t)k] * d->impulse[k];
                d->W[i * n + (size_t)k] = d->W[(size_t)k * n + i] = 0;
            }
        }
    }
}

static void add_compliance(dual *d, const solver_call *call) {
    const sim_problem *p = d->problem;
    for (int k = 0; k < d->n; k++) {
        d->given[k] = isinf(call->R[k]);
        d->impulse[k] = 0;
        d->W[(size_t)k * (size_t)(d->n + 1)] += d->given[k] ? 0 : call->R[k];
        d->q[k] = d->given[k] ? 0 : d->q[k] - call->target[k];
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double trace = 0;
        for (int k = c->row; k < c->row + c->rows; k++) {
            trace += d->W[(size_t)k * (size_t)(d->n + 1)];
        }
        d->w[i] = trace > 0 ? trace / c->rows : 1;
        remove_given_rows(d, c);
    }
}

bool dual_make(dual *d, const solver_call *call, sim_arena *scratch) {
    const sim_problem *p = call->problem;
    size_t n = (size_t)p->nrow;
    sim_delassus W;
    *d = (dual){.problem = p, .n = p->nrow};
    if (call->out) {
        d->watch = (panels_watch){call->out->stop, call->out->stop_context};
    }
    /* memory */
    d->W = arena_alloc(scratch, n * n, sizeof *d->W);
    d->q = ARENA_NEW(scratch, double, n);
    d->w = ARENA_NEW(scratch, double, p->nconstraint);
    d->given = ARENA_NEW(scratch, int, n);
    d->impulse = ARENA_NEW(scratch, double, n);
    d->n2 = squared_natural_speeds(p, scratch);
    size_t mark = arena_mark(scratch);
    if (!d->W || !d->q || !d->w || !d->given || !d->impulse || !d->n2 || !delassus_whole(p, scratch, &W)) {
        return false;
    }
    /* W */
    expand_blocks(p, &W, d->n, d->W);
    arena_release(scratch, mark);
    /* q = J v* + w */
    if (sim_problem_local(p)) {
        memcpy(d->q, p->q, n * sizeof *d->q);
    } else {
        problem_velocity(p, p->v_free, d->q);
    }
    /* R, target, given impulses and the mean diagonal of each constraint */
    add_compliance(d, call);
    return true;
}

double dual_error(const dual *d, const double *gamma, double *s) {
    natural_sum sum = {0};
    for (int k = 0; k < d->n; k++) {
        s[k] = d->q[k] + dense_dot(d->n, d->W + (size_t)k * (size_t)d->n, gamma);
    }
    for (int i = 0; i < d->problem->nconstraint; i++) {
        const sim_constraint *c = &d->problem->constraint[i];
        natural_add(&sum, c, d->problem->step, 1 / d->w[i], d->n2[i], d->q + c->row, s + c->row, gamma + c->row);
    }
    return natural_error(&sum);
}
