/* The contact problem with pyramids for cones (polyhedral.h) as equations (Mylapilli and Jain 2016, eqs. 9, 45-48):
 *
 *     r_i = y_i for what has no bounds,     r_i = phi(x_i, y_i) for the others (pfb.h),     y = M x + q,
 *
 * solved by Levenberg's and Marquardt's method, regular or projected (levenberg.c).  A product in phi has another unit
 * than the rest: so q is divided by its greatest entry first, and x with it.
 *
 * Row i of the Jacobian is da e_i + db M_i.  Where x_i and y_i are both zero it is that of a direction d in which all such
 * x_i grow by 1: with n = sqrt(1 + (M d)_i^2),  da = lam (1 - 1 / n),  db = lam (1 - (M d)_i / n). */
#include "solver/mlcp.h"
#include "math/dense.h"
#include "solver/levenberg.h"
#include "solver/pfb.h"

#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, DIRECTIONS, OPTIONS = DIRECTIONS + 3 };

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {"tolerance", "error of complementarity at which it stops", 0, 1, 1e-9, 0, NULL},
    [MAX_ITERATIONS] = {"max_iterations", "of Levenberg and Marquardt", 0, 1e6, 500, 1, NULL},
    POLYHEDRAL_OPTIONS(DIRECTIONS),
};

static const double KINK = 1e-8; /* x and y up to this count as zero in a Jacobian */
/* Where there are more rows than velocities, impulses are not unique and kinks are dead ends: a guess is lifted off them by
 * so much.  Of friction all directions are, and as these are opposites the sum stays. */
static const double LIFT = 0.01;

static int at_kink(double a, double b) { return fabs(a) <= KINK && fabs(b) <= KINK; }

void mlcp_residual(const mlcp *m, const double *x, double *r) {
    polyhedral_velocity(m->p, x, m->y);
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

void mlcp_jacobian(const mlcp *m, const double *x, double *J) {
    size_t n = (size_t)m->p->n;
    polyhedral_velocity(m->p, x, m->y);
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

static void residual(void *self, const double *x, double *r) { mlcp_residual(self, x, r); }
static void jacobian(void *self, const double *x, double *J) { mlcp_jacobian(self, x, J); }
static double error(void *self, const double *x) {
    const mlcp *m = self;
    return polyhedral_error(m->p, x, m->y);
}

static double distance(const mlcp *m, const double *x, double *r) {
    mlcp_residual(m, x, r);
    return dense_dot(m->p->n, r, r);
}

/* q is divided by its greatest entry, which is handed back; x stands at nothing, or at the guess, wherever |r| is less. */
static double start(mlcp *m, polyhedral *p, const solver_call *call, double *gamma, double *r, double *x) {
    const double *guess = call->problem->impulse_guess;
    double size = 0;
    for (int k = 0; k < p->dual->n; k++) {
        gamma[k] = guess && isfinite(guess[k]) ? guess[k] : 0;
    }
    polyhedral_from_impulse(p, gamma, x, m->y);
    for (int i = 0; i < p->n; i++) {
        size = fmax(size, fabs(p->q[i]));
    }
    for (int i = 0; i < p->n && size > 0; i++) {
        p->q[i] /= size;
        x[i] /= size;
    }
    for (int i = p->free; i < p->n && call->problem->nrow > call->problem->nv; i++) {
        x[i] += p->unknown[i].normal >= 0 || p->unknown[i].rows == 0 ? LIFT : 0;
    }
    p->speed /= size > 0 ? size : 1;
    double guessed = distance(m, x, r);
    memcpy(m->warm, x, (size_t)p->n * sizeof *x);
    memset(x, 0, (size_t)p->n * sizeof *x);
    m->guessed = guessed < distance(m, x, r);
    if (m->guessed) {
        memcpy(x, m->warm, (size_t)p->n * sizeof *x);
    }
    return size;
}

/* A guess may lead into a minimum of |r| that is no root: then once more from nothing, and the better counts. */
static int find(mlcp *m, solver_call *call, levenberg_kind kind, double *x) {
    sim_solution *out = call->out;
    int n = m->p->n;
    levenberg_problem problem = {.n = n,
                                 .self = m,
                                 .residual = residual,
                                 .jacobian = jacobian,
                                 .error = error,
                                 .bounded = n - m->p->free,
                                 .tolerance = call->option[TOLERANCE],
                                 .most = (int)call->option[MAX_ITERATIONS]};
    if (!levenberg_solve(&problem, kind, call, x)) {
        return 0;
    }
    sim_solution first = *out;
    if (!m->guessed || first.outcome != SIM_STALLED || solution_stopped(out)) {
        return 1;
    }
    memcpy(m->warm, x, (size_t)n * sizeof *x);
    memset(x, 0, (size_t)n * sizeof *x);
    problem.most -= first.iterations;
    if (!levenberg_solve(&problem, kind, call, x)) {
        return 0;
    }
    int iterations = out->iterations + first.iterations;
    if (first.residual < out->residual) {
        memcpy(x, m->warm, (size_t)n * sizeof *x);
        out->residual = first.residual;
        out->outcome = first.outcome;
    }
    out->iterations = iterations;
    return 1;
}

static int solve(solver_call *call, levenberg_kind kind) {
    dual d;
    polyhedral p;
    polyhedral_options o = polyhedral_options_of(call->option + DIRECTIONS);
    if (!dual_make(&d, call, call->scratch) || !polyhedral_make(&p, &d, &o, call->scratch)) {
        return 0;
    }
    double *vectors = sim_arena_alloc(call->scratch, 5 * (size_t)p.n, sizeof *vectors),
           *gamma = ARENA_NEW(call->scratch, double, d.n);
    if (!vectors || !gamma) {
        return 0;
    }
    int n = p.n;
    mlcp m = {&p, vectors, vectors + n, vectors + 2 * n, 0};
    double *x = vectors + 3 * n, size = start(&m, &p, call, gamma, vectors + 4 * n, x);
    if (!find(&m, call, kind, x)) {
        return 0;
    }
    polyhedral_velocity(&p, x, m.y);
    for (int i = 0; i < n; i++) { /* the lesser of x and y is 0, but for the error */
        x[i] = i < p.free || x[i] > m.y[i] ? size * x[i] : 0;
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
