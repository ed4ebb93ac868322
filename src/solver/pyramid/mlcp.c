/* The contact problem with pyramids for cones (polyhedral.h) as equations (Mylapilli and Jain 2016, eqs. 9, 45-48):
 *
 *     r_i = y_i for what has no bounds,     r_i = phi(x_i, y_i) for the others (pfb.h),     y = M x + q.
 *
 * phi contains a product, which has another unit than its other terms: velocities are divided by the greatest of q,
 * impulses by `unit`.
 *
 * Row i of the Jacobian is da e_i + db M_i.  Where x_i and y_i are both zero it is the derivative along a direction d
 * in which all such x_i grow by 1: with n = sqrt(1 + (M d)_i^2),  da = lam (1 - 1 / n),  db = lam (1 - (M d)_i / n).
 *
 * In proximal outer iterations (mlcp_rounds.c) y + soft (x - near) stands for y. */
#include "solver/pyramid/mlcp.h"
#include "math/dense.h"
#include "solver/pyramid/pfb.h"

#include <math.h>

static const double MAX_KINK_SIZE = 1e-8; /* x and y up to this count as zero in a Jacobian */

/* Scales of x and y as arguments of phi: impulses over their unit. */
static double measure_x(const mlcp *m, int i) { return m->p->unknown[i].rows ? 1 / m->unit : 1; }
static double measure_y(const mlcp *m, int i) { return m->p->unknown[i].rows ? 1 : 1 / m->unit; }

static bool is_at_kink(double a, double b) { return fabs(a) <= MAX_KINK_SIZE && fabs(b) <= MAX_KINK_SIZE; }

bool mlcp_make(mlcp *m, const polyhedral *p, double lam, sim_arena *scratch) {
    double *all = ARENA_NEW(scratch, double, 5 * (size_t)p->n);
    *m = (mlcp){.p = p, .y = all, .unit = 1, .lam = lam};
    if (!all) {
        return false;
    }
    m->kinks = all + p->n;
    m->da = all + 2 * p->n;
    m->db = all + 3 * p->n;
    m->near = all + 4 * p->n;
    return true;
}

static void eval_softened_velocity(const mlcp *m, const double *x) {
    polyhedral_velocity(m->p, x, m->y);
    for (int i = 0; i < m->p->n && m->soft > 0; i++) {
        m->y[i] += m->soft * (x[i] - m->near[i]);
    }
}

void mlcp_residual(const mlcp *m, const double *x, double *r) {
    eval_softened_velocity(m, x);
    for (int i = 0; i < m->p->n; i++) {
        r[i] = m->p->unknown[i].free ? m->y[i] : eval_pfb(m->lam, measure_x(m, i) * x[i], measure_y(m, i) * m->y[i]);
    }
}

/* Kinks, as d, and M d in `slope`; returns their number. */
static int find_kinks(const mlcp *m, const double *x, double *slope) {
    int count = 0;
    for (int i = 0; i < m->p->n; i++) {
        m->kinks[i] = !m->p->unknown[i].free && is_at_kink(x[i], m->y[i]);
        count += m->kinks[i] > 0;
    }
    if (count) {
        polyhedral_product(m->p, m->kinks, slope);
    }
    return count;
}

void mlcp_linearise(const mlcp *m, const double *x) {
    eval_softened_velocity(m, x);
    int kinks = find_kinks(m, x, m->db);
    for (int i = 0; i < m->p->n; i++) {
        if (m->p->unknown[i].free) {
            m->da[i] = 0;
            m->db[i] = 1;
        } else if (kinks && m->kinks[i] > 0) {
            double out = measure_x(m, i), grows = measure_y(m, i) * (m->db[i] + m->soft), n = hypot(out, grows);
            m->da[i] = measure_x(m, i) * m->lam * (1 - out / n);
            m->db[i] = measure_y(m, i) * m->lam * (1 - grows / n);
        } else {
            pfb_slopes(m->lam, measure_x(m, i) * x[i], measure_y(m, i) * m->y[i], &m->da[i], &m->db[i]);
            m->da[i] *= measure_x(m, i);
            m->db[i] *= measure_y(m, i);
        }
    }
}

void mlcp_jacobian_times(const mlcp *m, const double *dx, double *Jdx) {
    polyhedral_product(m->p, dx, Jdx);
    for (int i = 0; i < m->p->n; i++) {
        Jdx[i] = m->da[i] * dx[i] + m->db[i] * (Jdx[i] + m->soft * dx[i]);
    }
}

double mlcp_proximal_error(const mlcp *m, const double *x) {
    double most = 0;
    eval_softened_velocity(m, x);
    for (int i = 0; i < m->p->n; i++) {
        double off =
            m->p->unknown[i].free ? m->y[i] : eval_pfb(m->lam, measure_x(m, i) * x[i], measure_y(m, i) * m->y[i]);
        most = isnan(off) ? HUGE_VAL : fmax(most, fabs(off));
    }
    return most / m->p->speed;
}
