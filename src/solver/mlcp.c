/* The contact problem with pyramids for cones (polyhedral.h) as equations (Mylapilli and Jain 2016, eqs. 9, 45-48):
 *
 *     r_i = y_i for what has no bounds,     r_i = phi(x_i, y_i) for the others (pfb.h),     y = M x + q,
 *
 * solved by Levenberg's and Marquardt's method, regular or projected (levenberg.c).  A product in phi has another unit
 * than the rest: so q is divided by its greatest entry first, and x with it.
 *
 * Row i of the Jacobian is da e_i + db M_i.  Where x_i and y_i are both zero it is that of a direction d in which all such
 * x_i grow by 1: with n = sqrt(1 + (M d)_i^2),  da = lam (1 - 1 / n),  db = lam (1 - (M d)_i / n). */
#include "math/dense.h"
#include "solver/levenberg.h"
#include "solver/pfb.h"
#include "solver/polyhedral.h"

#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, DIRECTIONS, OPTIONS = DIRECTIONS + 3 };

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {"tolerance", "error of complementarity at which it stops", 0, 1, 1e-9, 0, NULL},
    [MAX_ITERATIONS] = {"max_iterations", "of Levenberg and Marquardt", 0, 1e6, 500, 1, NULL},
    POLYHEDRAL_OPTIONS(DIRECTIONS),
};

static const double KINK = 1e-8; /* x and y up to this count as zero in a Jacobian */

typedef struct mlcp {
    polyhedral *p;
    double *y, *kinks;
} mlcp;

static int at_kink(double a, double b) { return fabs(a) <= KINK && fabs(b) <= KINK; }

static void find_y(const mlcp *m, const double *x) {
    for (int i = 0; i < m->p->n; i++) {
        m->y[i] = m->p->q[i] + dense_dot(m->p->n, m->p->M + (size_t)i * (size_t)m->p->n, x);
    }
}

static void residual(void *self, const double *x, double *r) {
    const mlcp *m = self;
    find_y(m, x);
    for (int i = 0; i < m->p->n; i++) {
        r[i] = i < m->p->free ? m->y[i] : pfb(x[i], m->y[i]);
    }
}

/* da and db of row i. */
static void slopes(const mlcp *m, int i, const double *x, double *da, double *db) {
    double a = x[i], b = m->y[i];
    if (i < m->p->free) {
        *da = 0;
        *db = 1;
    } else if (at_kink(a, b)) {
        double grows = dense_dot(m->p->n, m->p->M + (size_t)i * (size_t)m->p->n, m->kinks), n = hypot(1, grows);
        *da = PFB_LAM * (1 - 1 / n);
        *db = PFB_LAM * (1 - grows / n);
    } else {
        pfb_slopes(a, b, da, db);
    }
}

static void jacobian(void *self, const double *x, double *J) {
    const mlcp *m = self;
    size_t n = (size_t)m->p->n;
    find_y(m, x);
    for (int i = 0; i < m->p->n; i++) {
        m->kinks[i] = i >= m->p->free && at_kink(x[i], m->y[i]);
    }
    for (size_t i = 0; i < n; i++) {
        double da, db;
        slopes(m, (int)i, x, &da, &db);
        for (size_t j = 0; j < n; j++) {
            J[i * n + j] = db * m->p->M[i * n + j];
        }
        J[i * n + i] += da;
    }
}

static double error(void *self, const double *x) {
    const mlcp *m = self;
    return polyhedral_error(m->p, x, m->y);
}

static int solve(solver_call *call, levenberg_kind kind) {
    dual d;
    polyhedral p;
    polyhedral_options o = polyhedral_options_of(call->option + DIRECTIONS);
    if (!dual_make(&d, call, call->scratch) || !polyhedral_make(&p, &d, &o, call->scratch)) {
        return 0;
    }
    size_t n = (size_t)p.n;
    mlcp m = {&p, ARENA_NEW(call->scratch, double, n), ARENA_NEW(call->scratch, double, n)};
    double *x = ARENA_NEW(call->scratch, double, n), *gamma = ARENA_NEW(call->scratch, double, d.n), size = 0;
    if (!m.y || !m.kinks || !x || !gamma) {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        size = fmax(size, fabs(p.q[i]));
        x[i] = 0;
    }
    for (size_t i = 0; i < n && size > 0; i++) {
        p.q[i] /= size;
    }
    levenberg_problem problem = {(int)n,
                                 &m,
                                 residual,
                                 jacobian,
                                 error,
                                 p.n - p.free,
                                 call->option[TOLERANCE],
                                 (int)call->option[MAX_ITERATIONS]};
    if (!levenberg_solve(&problem, kind, call, x)) {
        return 0;
    }
    find_y(&m, x);
    for (size_t i = 0; i < n; i++) { /* the lesser of x and y is 0, but for the error */
        x[i] = (int)i < p.free || x[i] > m.y[i] ? size * x[i] : 0;
    }
    polyhedral_impulse(&p, x, gamma);
    solver_hand_out(call, gamma);
    return 1;
}

static int solve_regular(solver_call *call) { return solve(call, LEVENBERG_REGULAR); }
static int solve_projected(solver_call *call) { return solve(call, LEVENBERG_PROJECTED); }

#define CARD(NAME, METHOD)                                                                                             \
    {                                                                                                                  \
        .name = NAME, .method = METHOD, .paper = "Mylapilli and Jain 2016", .cone = SIM_CONE_PYRAMID,                  \
        .compliance = SIM_RIGID, .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1, .local = 1, .asymmetric = 1,               \
        .noptions = OPTIONS, .option = options,                                                                        \
    }

const solver_type solver_mlcp_pfb_rlm = {
    .card = CARD("mlcp-pfb-rlm", "penalised Fischer-Burmeister function with pyramids, regular Levenberg-Marquardt"),
    .solve = solve_regular,
};

const solver_type solver_mlcp_pfb_plm = {
    .card = CARD("mlcp-pfb-plm", "penalised Fischer-Burmeister function with pyramids, projected Levenberg-Marquardt"),
    .solve = solve_projected,
};
