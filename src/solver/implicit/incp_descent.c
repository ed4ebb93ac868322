/* Gauss-Newton descent of implicit complementarity: derivative on edges, Newton and Cauchy points, regularisation lambda. */
#include "math/dense.h"
#include "solver/implicit/incp.h"

#include <math.h>
#include <string.h>

static const double FIRST = 1e-6, STEP = 10, LEAST = 1e-14, MOST = 1e10; /* lambda over the mean of J' J's diagonal */
static const double ENOUGH = 0.5;                                        /* of the fall that the model promises */
static const double STANDSTILL = 1e-15;                                  /* l falls by no more than its rounding */

static double half_square(const incp *m, const double *r) { return 0.5 * dense_dot(m->h.n, r, r); }

static const sim_constraint *constraint(const incp *m, int i) { return &m->h.dual->problem->constraint[i]; }

/* F of the contacts on edges (eqs. 25, 26): the side that goes downhill more, or, both going uphill, what makes l flat. */
static void face_edges(incp *m) {
    hybrid_transposed(&m->h, m->r, m->product); /* (W + R - 1)' r */
    for (int k = 0; k < m->h.n; k++) {
        m->product[k] -= m->r[k];
    }
    for (int i = 0; i < m->h.dual->problem->nconstraint; i++) {
        const sim_constraint *c = constraint(m, i);
        double *F = m->F + HYBRID_BLOCK * i, normal[3], beyond[9], within[9], delta[2] = {0, 0};
        m->active[i] = 0;
        if (m->edge[i] == EDGE_NONE) {
            continue;
        }
        edge_sides(m->edge[i], c->friction, m->x + c->row, normal, beyond, within);
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++) {
                delta[0] += m->product[c->row + a] * beyond[3 * a + b] * normal[b];
                delta[1] -= m->product[c->row + a] * within[3 * a + b] * normal[b];
            }
            delta[0] -= m->r[c->row + a] * normal[a];
            delta[1] += m->r[c->row + a] * normal[a];
        }
        m->active[i] = delta[0] >= 0 && delta[1] >= 0;
        double sum = delta[0] + delta[1], share = sum > 0 ? delta[1] / sum : 0.5;
        share = m->active[i] ? share : delta[0] < delta[1];
        for (int k = 0; k < 9; k++) {
            F[k] = share * beyond[k] + (1 - share) * within[k];
        }
    }
}

void incp_derive(incp *m) {
    hybrid_slopes(&m->h, m->x, m->F);
    face_edges(m);
    for (int i = 0; i < m->h.dual->problem->nconstraint; i++) {
        if (m->active[i]) {
            edge_basis(m->edge[i], constraint(m, i)->friction, m->x + constraint(m, i)->row,
                       m->basis + (ptrdiff_t)9 * i);
        }
    }
    hybrid_step_form(&m->step, m->F, m->active, m->basis);
    hybrid_sloped(&m->h, m->F, 1, m->product, m->g);
    for (int k = 0; k < m->h.n; k++) {
        m->g[k] -= m->r[k];
    }
}

/* y without what goes across the edges that are active: B B' y. */
static void flatten(const incp *m, double *y) {
    for (int i = 0; i < m->h.dual->problem->nconstraint; i++) {
        const double *B = m->basis + (ptrdiff_t)9 * i;
        double *at = y + constraint(m, i)->row;
        if (m->active[i]) {
            double across = B[2] * at[0] + B[5] * at[1] + B[8] * at[2];
            for (int k = 0; k < 3; k++) {
                at[k] -= across * B[3 * k + 2];
            }
        }
    }
}

/* y on the edges that are active. */
static void put_back(const incp *m, double *y) {
    for (int i = 0; (int)m->call->option[INCP_PROJECTION] && i < m->h.dual->problem->nconstraint; i++) {
        if (m->active[i]) {
            edge_snap(m->edge[i], constraint(m, i)->friction, y + constraint(m, i)->row);
        }
    }
}

/* newton: x + B xi, xi least in |J B xi + r|^2 + lambda |xi|^2; what the model says of l there. */
static double newton_point(incp *m) {
    size_t n = (size_t)m->h.n;
    double range, sum = 0;
    hybrid_step_least(&m->step, m->r, m->lambda * m->step.size, m->newton, &range);
    m->call->out->factorisations++;
    hybrid_along(&m->h, m->F, m->newton, m->product);
    for (size_t i = 0; i < n; i++) {
        sum += (m->r[i] + m->product[i]) * (m->r[i] + m->product[i]);
        m->newton[i] += m->x[i];
    }
    put_back(m, m->newton);
    return 0.5 * sum;
}

/* cauchy: the least of the model along the gradient, within the edges. */
static void cauchy_point(incp *m) {
    size_t n = (size_t)m->h.n;
    double curvature, down;
    memcpy(m->cauchy, m->g, n * sizeof *m->g);
    flatten(m, m->cauchy);
    down = dense_dot((int)n, m->cauchy, m->cauchy);
    hybrid_along(&m->h, m->F, m->cauchy, m->product);
    curvature = dense_dot((int)n, m->product, m->product) + m->lambda * m->step.size * down;
    double length = curvature > 0 ? down / curvature : 0;
    for (size_t i = 0; i < n; i++) {
        m->cauchy[i] = m->x[i] - length * m->cauchy[i];
    }
    put_back(m, m->cauchy);
}

/* Stand at y, with edges as they are; l. */
double incp_stand(incp *m, const double *y) {
    memcpy(m->x, y, (size_t)m->h.n * sizeof *m->x);
    hybrid_residual(&m->h, m->x, m->r);
    m->l = half_square(m, m->r);
    double E = hybrid_error(&m->h, m->x);
    if (E < m->E) {
        m->E = E;
        memcpy(m->best, m->x, (size_t)m->h.n * sizeof *m->best);
    }
    solver_record_place(m->call, m->x);
    solver_record(m->call, E, m->l);
    return m->l;
}

static void leave(incp *m) {
    for (int i = 0; i < m->h.dual->problem->nconstraint; i++) {
        m->edge[i] = incp_keeps(m, i);
    }
}

int incp_goes_on(const incp *m) {
    const double *o = m->call->option;
    return !(m->E <= o[INCP_TOLERANCE]) && m->call->out->iterations < (int)o[INCP_MAX_ITERATIONS] &&
           !solution_stopped(m->call->out);
}

sim_outcome incp_descend(incp *m, int patience) {
    const double *o = m->call->option;
    double half = 0.5 * m->l;
    int waited = 0;
    m->lambda = FIRST;
    while (incp_goes_on(m)) {
        double before = m->l;
        m->call->out->iterations++;
        incp_derive(m);
        double model = newton_point(m);
        hybrid_residual(&m->h, m->newton, m->other_r);
        double after = half_square(m, m->other_r);
        if (before - after >= ENOUGH * (before - model) && after < before) {
            leave(m);
            incp_stand(m, m->newton);
            m->call->out->whole_steps++;
            m->lambda = fmax(m->lambda / STEP, LEAST);
        } else {
            m->lambda *= STEP;
            if ((int)o[INCP_DOGLEG]) {
                cauchy_point(m);
                if (!incp_search(m, (int)o[INCP_EDGES])) {
                    return SIM_STALLED;
                }
                incp_stand(m, m->other);
            } else if (after < before) {
                leave(m);
                incp_stand(m, m->newton);
            }
        }
        if (m->lambda > MOST || ((before - m->l) <= STANDSTILL * before && after < before)) {
            return SIM_STALLED;
        }
        waited = m->l <= half ? 0 : waited + 1;
        half = fmin(half, waited ? half : 0.5 * m->l);
        if (patience && waited >= patience) {
            return SIM_STALLED;
        }
    }
    return SIM_AT_LIMIT;
}

int incp_make(incp *m, solver_call *call, dual *d) {
    size_t n = (size_t)call->problem->nrow, contacts = (size_t)call->problem->nconstraint;
    *m = (incp){.call = call, .E = HUGE_VAL};
    if (!dual_make(d, call, call->scratch) || !hybrid_make(&m->h, d, call->scratch) ||
        !hybrid_step_make(&m->step, &m->h, call->scratch)) {
        return 0;
    }
    m->basis = ARENA_NEW(call->scratch, double, 9 * contacts);
    m->F = ARENA_NEW(call->scratch, double, HYBRID_BLOCK *contacts);
    m->edge = ARENA_NEW(call->scratch, edge, contacts);
    m->active = ARENA_NEW(call->scratch, int, contacts);
    m->crossing = ARENA_NEW(call->scratch, incp_crossing, MOST_CROSSINGS * contacts + 2);
    double *vectors = ARENA_NEW(call->scratch, double, 11 * n);
    if (!m->basis || !m->F || !m->edge || !m->active || !m->crossing || !vectors) {
        return 0;
    }
    double **of[] = {&m->x,       &m->r,    &m->g,     &m->product, &m->newton, &m->cauchy,
                     &m->other_r, &m->best, &m->other, &m->point,   &m->slope};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        *of[k] = vectors + k * n;
    }
    for (size_t i = 0; i < contacts; i++) {
        m->edge[i] = EDGE_NONE;
        m->active[i] = 0;
    }
    return 1;
}
