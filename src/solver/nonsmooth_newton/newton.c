/* Nonsmooth Newton step with the whole derivative of friction.
 *
 * The paper's friction (rows.c) holds Wf constant, though it depends on s_t, gamma_t and gamma_n.  With the minimum map
 * the row s_t + Wf gamma_t = 0 is, up to a factor, with y = gamma - rho s
 *
 *     gamma_t (|gamma_t| + |s_t| / r) = mu gamma_n y_t,      rho = 1 / r,
 *
 * and at a solution |gamma_t| + |s_t| / r = |y_t|.  With |y_t| there, and mu y_n for the bound, this and the normal row
 * min(s_n, r gamma_n) = 0 are the function of Alart and Curnier (1991). It has one form for all kinds of rows:
 *
 *     F = gamma - P(y),   dF = (1 - P') dgamma + rho P' ds,   ds = (W + R + alpha w) dgamma
 *
 *     contact  open   y_n <= 0           P = 0                       P' = 0
 *              stick  |y_t| <= mu y_n    P = y                       P' = 1
 *              slide                     P_t = mu y_n t,  P_n = y_n  P'_tt = mu y_n / |y_t| (1 - t t'),  P'_tn = mu t
 *     limit: max(0, y); dry friction and actuators: y between the bounds; equalities and springs: y
 *
 * with t = y_t / |y_t|; alpha w belongs to proximal outer iterations (rounds.c).  Rows with P' = 0 have dgamma = -F.
 * The others form parts that W does not couple, dense unsymmetric systems solved by LU.  Rows are scaled by the root
 * of w. */
#include "solver/nonsmooth_newton/newton.h"
#include "base/disjoint_set.h"
#include "linalg/dense/lu.h"
#include "linalg/dense/strip.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

bool nsn_newton_make(nsn_newton *k, nsn *m, sim_arena *scratch) {
    size_t n = (size_t)m->n, stride = (size_t)strip_stride(m->n);
    *k = (nsn_newton){.m = m};
    /* memory */
    double *vectors = ARENA_NEW(scratch, double, 5 * n);
    k->slope = ARENA_NEW(scratch, double, SIM_MAX_ROWS *n);
    k->H = ARENA_NEW(scratch, double, n *stride);
    k->work = ARENA_NEW(scratch, double, lu_work(m->n));
    k->swap = ARENA_NEW(scratch, int, n);
    k->in = ARENA_NEW(scratch, int, n);
    k->part = ARENA_NEW(scratch, int, m->problem->nconstraint);
    k->size = ARENA_NEW(scratch, int, m->problem->nconstraint);
    k->first = ARENA_NEW(scratch, int, m->problem->nconstraint);
    k->at = ARENA_NEW(scratch, ptrdiff_t, m->problem->nconstraint);
    if (!vectors || !k->slope || !k->H || !k->work || !k->swap || !k->in || !k->part || !k->size || !k->first ||
        !k->at) {
        return false;
    }
    k->centre = vectors;
    k->F = vectors + n;
    k->step = vectors + 2 * n;
    k->push = vectors + 3 * n;
    k->rhs = vectors + 4 * n;
    return true;
}

void nsn_contact_slope(double mu, const double *y, double *P, double *slope) {
    double size = hypot(y[0], y[1]), bound = mu * y[2];
    memset(slope, 0, 9 * sizeof *slope);
    P[0] = P[1] = P[2] = 0;
    if (!(y[2] > 0)) {
        return;
    }
    bool sticks = size <= bound;
    double share = sticks ? 1 : bound / size, t[2] = {sticks ? 0 : y[0] / size, sticks ? 0 : y[1] / size};
    for (int i = 0; i < 2; i++) {
        P[i] = share * y[i];
        for (int j = 0; j < 2; j++) {
            slope[3 * i + j] = share * ((i == j) - t[i] * t[j]);
        }
        slope[3 * i + 2] = mu * t[i];
    }
    P[2] = y[2];
    slope[8] = 1;
}

static void eval_row_slope(const nsn *m, const sim_constraint *c, double y, double *P, double *slope) {
    double bound = c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR ? m->problem->step * c->bound : HUGE_VAL;
    double low = c->kind == SIM_LIMIT ? 0 : -bound;
    *P = fmin(fmax(y, low), bound);
    *slope = y > low && y < bound;
}

/* rho^-1 (gamma - y): s of the proximal problem over w. */
static double proximal_velocity(const nsn_newton *k, int i, int row) {
    const nsn *m = k->m;
    return m->s[row] / m->w[i] + k->alpha * (m->gamma[row] - k->centre[row]);
}

double nsn_newton_eval(nsn_newton *k) {
    const nsn *m = k->m;
    double sum = 0, rho = 1 / (1 + k->alpha);
    for (int i = 0; i < m->problem->nconstraint; i++) {
        const sim_constraint *c = &m->problem->constraint[i];
        double y[SIM_MAX_ROWS], P[SIM_MAX_ROWS], *slope = k->slope + (ptrdiff_t)c->row * SIM_MAX_ROWS;
        /* y = gamma - rho s, with the s of the proximal problem */
        for (int r = 0; r < c->rows; r++) {
            y[r] = m->gamma[c->row + r] - rho * proximal_velocity(k, i, c->row + r);
        }
        /* P and P' of the kind of row */
        if (c->kind == SIM_CONTACT) {
            nsn_contact_slope(c->friction, y, P, slope);
        } else {
            memset(slope, 0, (size_t)(c->rows * c->rows) * sizeof *slope);
            for (int r = 0; r < c->rows; r++) {
                eval_row_slope(m, c, y[r], &P[r], &slope[r * (c->rows + 1)]);
            }
        }
        /* F = gamma - P in the norm of w */
        for (int r = 0; r < c->rows; r++) {
            k->F[c->row + r] = nsn_is_given(m, c->row + r) ? 0 : m->gamma[c->row + r] - P[r];
            sum += m->w[i] * k->F[c->row + r] * k->F[c->row + r];
        }
    }
    return sqrt(sum);
}

/* Active rows, those with P' != 0; steps of all others. */
static void eliminate_constant_rows(nsn_newton *k) {
    const nsn *m = k->m;
    for (int i = 0; i < m->problem->nconstraint; i++) {
        const sim_constraint *c = &m->problem->constraint[i];
        const double *slope = k->slope + (ptrdiff_t)c->row * SIM_MAX_ROWS;
        k->size[i] = 0;
        for (int r = 0; r < c->rows; r++) {
            double most = 0;
            for (int l = 0; l < c->rows; l++) {
                most = fmax(most, fabs(slope[r * c->rows + l]));
            }
            int row = c->row + r, in = most > 0 && !nsn_is_given(m, row);
            k->in[row] = in ? 0 : -1;
            k->step[row] = in ? 0 : -k->F[row];
            k->size[i] += in;
        }
    }
}

/* Parts of constraints with active rows that W couples. */
static void find_coupled_parts(nsn_newton *k) {
    const sim_delassus *W = &k->m->matrix.W;
    int n = k->m->problem->nconstraint;
    disjoint_set_start(k->part, n);
    for (int i = 0; i < n; i++) {
        for (int b = W->start[i]; b < W->start[i + 1] && k->size[i] > 0; b++) {
            if (k->size[W->column[b]] > 0) {
                disjoint_set_unite(k->part, i, W->column[b]);
            }
        }
    }
    for (int i = 0; i < n; i++) {
        k->part[i] = disjoint_set_find(k->part, i); /* at most i, so already final */
    }
}

/* Positions of the rows of each part. */
static void place_part_rows(nsn_newton *k) {
    const sim_problem *p = k->m->problem;
    int first = 0;
    ptrdiff_t at = 0;
    memset(k->size, 0, (size_t)p->nconstraint * sizeof *k->size);
    for (int i = 0; i < p->nconstraint; i++) {
        for (int row = p->constraint[i].row; row < p->constraint[i].row + p->constraint[i].rows; row++) {
            k->in[row] = k->in[row] < 0 ? -1 : k->size[k->part[i]]++;
        }
    }
    for (int i = 0; i < p->nconstraint; i++) {
        k->first[i] = first;
        k->at[i] = at;
        first += k->size[i];
        at += (ptrdiff_t)k->size[i] * strip_stride(k->size[i]);
    }
    memset(k->H, 0, (size_t)at * sizeof *k->H);
}

/* One row of H: that of rho P' (W + R + alpha w) + 1 - P', and its right side. */
static void fill_system_row(nsn_newton *k, int i, int r) {
    const nsn *m = k->m;
    const sim_problem *p = m->problem;
    const sim_constraint *c = &p->constraint[i];
    const double *slope = k->slope + (ptrdiff_t)c->row * SIM_MAX_ROWS + r * c->rows;
    int part = k->part[i], at = k->in[c->row + r];
    double *H = k->H + k->at[part] + (ptrdiff_t)at * strip_stride(k->size[part]), over = 1 / ((1 + k->alpha) * m->w[i]),
           rhs = 0;
    double measure = sqrt(m->w[i]);
    /* rho P' W, blocks of active rows */
    for (int b = m->matrix.W.start[i]; b < m->matrix.W.start[i + 1]; b++) {
        const sim_constraint *other = &p->constraint[m->matrix.W.column[b]];
        const double *W = m->matrix.W.value + m->matrix.W.at[b];
        double scale = measure / sqrt(m->w[m->matrix.W.column[b]]) * over;
        for (int j = 0; j < other->rows; j++) {
            double sum = 0;
            for (int l = 0; l < c->rows; l++) {
                sum += slope[l] * W[l * other->rows + j];
            }
            if (k->in[other->row + j] >= 0) {
                H[k->in[other->row + j]] = scale * sum;
            }
        }
    }
    /* rho P' (R + alpha w) + 1 - P', and the right side */
    for (int l = 0; l < c->rows; l++) {
        int row = c->row + l;
        double R = nsn_is_given(m, row) ? 0 : m->call->R[row];
        double own = slope[l] * over * (R + k->alpha * m->w[i]) + (l == r) - slope[l];
        if (k->in[row] >= 0) {
            H[k->in[row]] += own;
        }
        rhs -= over * slope[l] * k->push[row] + own * k->step[row];
    }
    k->rhs[k->first[part] + at] = measure * (rhs - k->F[c->row + r]);
}

/* rhs <- H^-1 rhs, part by part; false: singular. */
static bool solve_coupled_systems(nsn_newton *k) {
    const panels_watch watch = {k->m->call->out->stop, k->m->call->out->stop_context};
    for (int i = 0; i < k->m->problem->nconstraint; i++) {
        int n = k->size[i], stride = strip_stride(n);
        double *H = k->H + k->at[i];
        if (n > 0 && !lu_factor(n, stride, H, k->swap, k->work, &watch)) {
            return false;
        }
        if (n > 0) {
            lu_solve(n, stride, H, k->swap, k->rhs + k->first[i]);
        }
    }
    return true;
}

static void assemble_newton_system(nsn_newton *k) {
    const sim_problem *p = k->m->problem;
    eliminate_constant_rows(k);
    find_coupled_parts(k);
    place_part_rows(k);
    schur_times(&k->m->matrix, k->step, k->push);
    for (int i = 0; i < p->nconstraint; i++) {
        for (int r = 0; r < p->constraint[i].rows; r++) {
            if (k->in[p->constraint[i].row + r] >= 0) {
                fill_system_row(k, i, r);
            }
        }
    }
}

bool nsn_newton_step(nsn_newton *k) {
    nsn *m = k->m;
    const sim_problem *p = m->problem;
    double sum = 0;
    /* equations of the coupled parts, and their solution */
    assemble_newton_system(k);
    m->call->out->factorisations++;
    if (!solve_coupled_systems(k)) {
        return false;
    }
    /* dgamma of all rows */
    for (int i = 0; i < p->nconstraint; i++) {
        const double *x = k->rhs + k->first[k->part[i]];
        for (int row = p->constraint[i].row; row < p->constraint[i].row + p->constraint[i].rows; row++) {
            k->step[row] = k->in[row] >= 0 ? x[k->in[row]] / sqrt(m->w[i]) : k->step[row];
            sum += k->step[row];
        }
    }
    if (!isfinite(sum)) {
        return false;
    }
    /* whole step: gamma <- gamma + dgamma */
    m->call->out->whole_steps++;
    dense_axpy(m->n, 1, k->step, m->gamma);
    return true;
}
