/* Gauss-Newton descent of implicit complementarity: derivative on edges, Newton and Cauchy points, regularisation
 * lambda (Todorov 2010, section III). */
#include "math/dense.h"
#include "solver/core/stall.h"
#include "solver/implicit/incp.h"

#include <math.h>
#include <string.h>

static const double FIRST_LAMBDA = 1e-6, LAMBDA_FACTOR = 10, MIN_LAMBDA = 1e-14,
                    MAX_LAMBDA = 1e10;             /* over the mean diagonal of J' J */
static const double MIN_DECREASE_RATIO = 0.5;      /* of the decrease of l that the model predicts */
static const double MIN_RELATIVE_DECREASE = 1e-15; /* of l in an iteration: rounding */

static double half_square(const incp *m, const double *r) { return 0.5 * dense_dot(m->h.n, r, r); }

static const sim_constraint *constraint_of(const incp *m, int i) { return &m->h.dual->problem->constraint[i]; }

/* F of contacts on edges (eqs. 25, 26): the side of steeper descent; if l rises on both, the mean that makes l
 * stationary. */
static void linearise_edges(incp *m) {
    residual_map_transposed(&m->h, m->r, m->product); /* (W + R - 1)' r */
    for (int k = 0; k < m->h.n; k++) {
        m->product[k] -= m->r[k];
    }
    for (int i = 0; i < m->h.dual->problem->nconstraint; i++) {
        const sim_constraint *c = constraint_of(m, i);
        double *F = m->F + RESIDUAL_BLOCK * i, normal[3], beyond[9], within[9], delta[2] = {0, 0};
        m->active[i] = 0;
        if (m->edge[i] == EDGE_NONE) {
            continue;
        }
        eval_edge_sides(m->edge[i], c->friction, m->x + c->row, normal, beyond, within);
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

void incp_linearise(incp *m) {
    residual_map_slopes(&m->h, m->x, m->F);
    linearise_edges(m);
    for (int i = 0; i < m->h.dual->problem->nconstraint; i++) {
        if (m->active[i]) {
            make_edge_basis(m->edge[i], constraint_of(m, i)->friction, m->x + constraint_of(m, i)->row,
                            m->basis + (ptrdiff_t)9 * i);
        }
    }
    residual_newton_form(&m->step, m->F, m->active, m->basis);
    residual_map_slope_times(&m->h, m->F, 1, m->product, m->g);
    for (int k = 0; k < m->h.n; k++) {
        m->g[k] -= m->r[k];
    }
}

/* y <- B B' y: tangent to the active edges. */
static void project_to_tangents(const incp *m, double *y) {
    for (int i = 0; i < m->h.dual->problem->nconstraint; i++) {
        const double *B = m->basis + (ptrdiff_t)9 * i;
        double *at = y + constraint_of(m, i)->row;
        if (m->active[i]) {
            double across = B[2] * at[0] + B[5] * at[1] + B[8] * at[2];
            for (int k = 0; k < 3; k++) {
                at[k] -= across * B[3 * k + 2];
            }
        }
    }
}

/* y <- its nearest point on the active edges. */
static void project_to_active_edges(const incp *m, double *y) {
    for (int i = 0; (int)m->call->option[INCP_PROJECTION] && i < m->h.dual->problem->nconstraint; i++) {
        if (m->active[i]) {
            project_to_edge(m->edge[i], constraint_of(m, i)->friction, y + constraint_of(m, i)->row);
        }
    }
}

/* newton <- x + B xi, xi = argmin |J B xi + r|^2 + lambda |xi|^2; returns the model's l there. */
static double find_newton_point(incp *m) {
    size_t n = (size_t)m->h.n;
    double range, sum = 0;
    residual_newton_least_squares(&m->step, m->r, m->lambda * m->step.size, m->newton, &range);
    m->call->out->factorisations++;
    residual_map_jacobian_times(&m->h, m->F, m->newton, m->product);
    for (size_t i = 0; i < n; i++) {
        sum += (m->r[i] + m->product[i]) * (m->r[i] + m->product[i]);
        m->newton[i] += m->x[i];
    }
    project_to_active_edges(m, m->newton);
    return 0.5 * sum;
}

/* cauchy <- minimum of the model along the gradient, tangent to the active edges. */
static void find_cauchy_point(incp *m) {
    size_t n = (size_t)m->h.n;
    double curvature, down;
    memcpy(m->cauchy, m->g, n * sizeof *m->g);
    project_to_tangents(m, m->cauchy);
    down = dense_dot((int)n, m->cauchy, m->cauchy);
    residual_map_jacobian_times(&m->h, m->F, m->cauchy, m->product);
    curvature = dense_dot((int)n, m->product, m->product) + m->lambda * m->step.size * down;
    double length = curvature > 0 ? down / curvature : 0;
    for (size_t i = 0; i < n; i++) {
        m->cauchy[i] = m->x[i] - length * m->cauchy[i];
    }
    project_to_active_edges(m, m->cauchy);
}

double incp_move_to(incp *m, const double *y) {
    memcpy(m->x, y, (size_t)m->h.n * sizeof *m->x);
    residual_map_eval(&m->h, m->x, m->r);
    m->l = half_square(m, m->r);
    double E = residual_map_error(&m->h, m->x);
    if (E < m->E) {
        m->E = E;
        memcpy(m->best, m->x, (size_t)m->h.n * sizeof *m->best);
    }
    solver_record_place(m->call, m->x);
    solver_record(m->call, E, m->l);
    return m->l;
}

static void update_edges(incp *m) {
    for (int i = 0; i < m->h.dual->problem->nconstraint; i++) {
        m->edge[i] = incp_kept_edge(m, i);
    }
}

bool incp_continues(const incp *m) {
    const double *o = m->call->option;
    return !(m->E <= o[INCP_TOLERANCE]) && m->call->out->iterations < (int)o[INCP_MAX_ITERATIONS] &&
           !solution_stopped(m->call->out);
}

sim_outcome incp_descend(incp *m, int max_stalled) {
    const double *o = m->call->option;
    stall_watch stall = {.ratio = 0.5, .reference = m->l};
    m->lambda = FIRST_LAMBDA;
    while (incp_continues(m)) {
        /* the Newton point */
        double before = m->l;
        m->call->out->iterations++;
        incp_linearise(m);
        double model = find_newton_point(m);
        residual_map_eval(&m->h, m->newton, m->other_r);
        double after = half_square(m, m->other_r);
        /* accepted, or a search along the dogleg */
        if (before - after >= MIN_DECREASE_RATIO * (before - model) && after < before) {
            update_edges(m);
            incp_move_to(m, m->newton);
            m->call->out->whole_steps++;
            m->lambda = fmax(m->lambda / LAMBDA_FACTOR, MIN_LAMBDA);
        } else {
            m->lambda *= LAMBDA_FACTOR;
            if ((int)o[INCP_DOGLEG]) {
                find_cauchy_point(m);
                if (!incp_search_dogleg(m, (int)o[INCP_EDGES])) {
                    return SIM_STALLED;
                }
                incp_move_to(m, m->other);
            } else if (after < before) {
                update_edges(m);
                incp_move_to(m, m->newton);
            }
        }
        /* end in a minimum */
        if (m->lambda > MAX_LAMBDA || ((before - m->l) <= MIN_RELATIVE_DECREASE * before && after < before)) {
            return SIM_STALLED;
        }
        stall_watch_update(&stall, m->l);
        if (max_stalled && stall.stalled >= max_stalled) {
            return SIM_STALLED;
        }
    }
    return SIM_AT_LIMIT;
}

bool incp_make(incp *m, solver_call *call, dual *d) {
    size_t n = (size_t)call->problem->nrow, contacts = (size_t)call->problem->nconstraint;
    *m = (incp){.call = call, .E = HUGE_VAL};
    if (!dual_make(d, call, call->scratch) || !residual_map_make(&m->h, d, call->scratch) ||
        !residual_newton_make(&m->step, &m->h, call->scratch)) {
        return false;
    }
    /* memory */
    m->basis = ARENA_NEW(call->scratch, double, 9 * contacts);
    m->F = ARENA_NEW(call->scratch, double, RESIDUAL_BLOCK *contacts);
    m->edge = ARENA_NEW(call->scratch, edge, contacts);
    m->active = ARENA_NEW(call->scratch, int, contacts);
    m->crossing = ARENA_NEW(call->scratch, incp_crossing, MAX_EDGE_CROSSINGS * contacts + 2);
    double *vectors = ARENA_NEW(call->scratch, double, 11 * n);
    if (!m->basis || !m->F || !m->edge || !m->active || !m->crossing || !vectors) {
        return false;
    }
    double **of[] = {&m->x,       &m->r,    &m->g,     &m->product, &m->newton, &m->cauchy,
                     &m->other_r, &m->best, &m->other, &m->point,   &m->slope};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        *of[k] = vectors + k * n;
    }
    /* no contact lies on an edge */
    for (size_t i = 0; i < contacts; i++) {
        m->edge[i] = EDGE_NONE;
        m->active[i] = 0;
    }
    return true;
}
