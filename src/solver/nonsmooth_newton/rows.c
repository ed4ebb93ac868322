/* Rows of the nonsmooth Newton method (Macklin et al. 2019), and their linear systems.
 *
 * Each unilateral row is an equation phi = 0, phi = psi(s, r gamma).  The complementarity function psi(a, b) is zero
 * where 0 <= a perp b >= 0: the minimum map, or Fischer-Burmeister a + b - sqrt(a^2 + b^2) (eqs. 18-25).  Friction is a
 * compliance Wf, right at the fixed point (33-37): with a = |s_t|, gap = mu gamma_n - |gamma_t|,
 *
 *     s_t + Wf gamma_t = 0,     Wf = (a - psi(a, r gap)) / (|gamma_t| + psi(a, r gap) / r).
 *
 * r = W_ii turns impulses into velocities (66): a single contact is then solved in one step.  Where contacts share
 * their load the effective inverse mass w is less, and near its fixed point Wf* the iteration contracts by (w - r) / (w
 * + Wf*).  It oscillates if r > w and diverges if r > 2 w + Wf*; the limit r = 0 does not, but is slow.  So friction
 * that oscillates halves its own r, which then grows back slowly. */
#include "solver/core/products.h"
#include "solver/nonsmooth_newton/nsn.h"

#include <math.h>
#include <string.h>

static const double MIN_SLOPE = 1e-6; /* of psi in s: below it a row is left out */
static const double DAMPED_STEP_LENGTH = 0.75, MAX_LINEAR_ITERATIONS = 1e6;
static const double MIN_OSCILLATION_RATIO = 0.3; /* change of Wf over the opposite change before */
static const double SOFTNESS_SHRINK = 0.5, SOFTNESS_GROWTH = 1.02, MIN_SOFTNESS = 1e-6; /* r over the inverse mass */
enum { MIN_SETTLED_STEPS = 2 }; /* with constant matrix.out, before whole steps */

bool nsn_is_given(const nsn *m, int k) { return isinf(m->call->R[k]); }

static double eval_complementarity(const nsn *m, double a, double b, double *alpha, double *beta) {
    double size = hypot(a, b);
    if (m->function == NSN_MINIMUM_MAP) {
        *alpha = a <= b;
        *beta = 1 - *alpha;
        return fmin(a, b);
    }
    *alpha = size > 0 ? 1 - a / size : 0;
    *beta = size > 0 ? 1 - b / size : 1;
    return a > 0 && b > 0 ? 2 * a * b / (a + b + size) : a + b - size;
}

static void leave_out_row(nsn *m, int k) {
    m->matrix.out[k] = 1;
    m->matrix.C[k] = 0;
}

static double scale_of_row(const nsn *m, int k) {
    double w = m->matrix.diagonal[k] + m->call->R[k];
    return m->call->option[NSN_PRECONDITIONED] > 0 && w > 0 ? w : 1;
}

static void linearise_normal(nsn *m, int k) {
    double alpha, beta, r = scale_of_row(m, k), phi = eval_complementarity(m, m->s[k], r * m->gamma[k], &alpha, &beta);
    if (!(alpha > MIN_SLOPE)) {
        leave_out_row(m, k);
        return;
    }
    m->matrix.C[k] = m->call->R[k] + r * beta / alpha;
    m->h[k] = phi / alpha;
}

/* Wf (33-35); far outside the bound, where Fischer-Burmeister has none, that of the minimum map. */
static double friction_compliance(const nsn *m, double a, double size, double bound, double r) {
    double gap = bound - size, S = hypot(a, r * gap);
    double below = S > 0 ? r * (bound - gap * (r * gap / (S + a))) : r * bound; /* a + r bound - S, also for little r */
    if (m->function == NSN_FISCHER_BURMEISTER && below > 1e-3 * r * bound) {
        double above = gap > 0 ? a * a / (S + r * gap) : S - r * gap;
        return r * above / below;
    }
    return fmax(0, (a - r * gap) / bound);
}

/* Reduces the r of friction where Wf oscillates. */
static void adapt_softness(nsn *m, nsn_friction *f, double Wf) {
    double change = Wf - f->Wf;
    bool oscillates = change * f->change < 0 && fabs(change) > MIN_OSCILLATION_RATIO * fabs(f->change);
    if (m->call->option[NSN_R] == NSN_R_ADAPTED) {
        f->softness =
            oscillates ? fmax(MIN_SOFTNESS, SOFTNESS_SHRINK * f->softness) : fmin(1, SOFTNESS_GROWTH * f->softness);
    }
    f->change = change;
    f->Wf = Wf;
}

/* Rows k .. k + count of friction within a bound. */
static void linearise_friction(nsn *m, int k, int count, double bound) {
    double a = 0, size = 0, r = 0;
    nsn_friction *f = &m->friction[k];
    for (int j = k; j < k + count; j++) {
        a += m->s[j] * m->s[j];
        size += m->gamma[j] * m->gamma[j];
        r += scale_of_row(m, j) / count;
    }
    double Wf = bound > 0 ? friction_compliance(m, sqrt(a), sqrt(size), bound, m->softer * f->softness * r) : 0;
    adapt_softness(m, f, Wf);
    for (int j = k; j < k + count; j++) {
        if (!(bound > 0)) {
            leave_out_row(m, j);
            continue;
        }
        m->matrix.C[j] = m->call->R[j] + Wf;
        m->h[j] = m->s[j] + Wf * m->gamma[j];
    }
}

static void linearise_row(nsn *m, const sim_constraint *c, int k) {
    if (nsn_is_given(m, k)) {
        leave_out_row(m, k);
    } else if (c->kind == SIM_LIMIT) {
        linearise_normal(m, k);
    } else if ((c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR) && isfinite(c->bound)) {
        linearise_friction(m, k, 1, m->problem->step * c->bound);
    } else {
        m->matrix.C[k] = m->call->R[k];
        m->h[k] = m->s[k];
    }
}

void nsn_linearise_rows(nsn *m) {
    /* generalised Jacobian, row by row */
    const sim_problem *p = m->problem;
    int change = 0;
    memset(m->matrix.out, 0, (size_t)m->n * sizeof(int));
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (c->kind == SIM_CONTACT) {
            linearise_normal(m, c->row + 2);
            linearise_friction(m, c->row, 2, m->matrix.out[c->row + 2] ? 0 : c->friction * m->gamma[c->row + 2]);
            continue;
        }
        for (int k = c->row; k < c->row + c->rows; k++) {
            linearise_row(m, c, k);
        }
    }
    /* has the active set changed? */
    for (int k = 0; k < m->n; k++) {
        change += m->matrix.out[k] != m->was_out[k];
        m->was_out[k] = m->matrix.out[k];
    }
    m->steady = change ? 0 : m->steady + 1;
}

bool nsn_solve_linear(nsn *m) {
    const double *o = m->call->option;
    for (int k = 0; k < m->n; k++) {
        m->matrix.C[k] += m->matrix.out[k] ? 0 : m->loose * o[NSN_EPSILON] * m->matrix.diagonal[k];
    }
    schur_solve_info course = {.max_iterations = (int)fmin(MAX_LINEAR_ITERATIONS, o[NSN_LINEAR_ITERATIONS] / m->loose),
                               .tolerance = m->loose * o[NSN_LINEAR_TOLERANCE],
                               .watched = m->call->out};
    sim_history *h = m->call->out->history;
    bool kept = h && h->linear && h->linear_room - h->linear_count > course.max_iterations;
    course.history = kept ? h->linear + h->linear_count : NULL;
    bool done = schur_solve(&m->matrix, (schur_method)o[NSN_LINEAR], m->rhs, m->x, &course);
    for (int k = 0; k <= course.iterations && kept; k++) {
        h->linear_step[h->linear_count++] = m->call->out->iterations;
    }
    m->call->out->searches += course.iterations;
    m->call->out->factorisations += (int)o[NSN_LINEAR] == SCHUR_CHOLESKY;
    return done;
}

double nsn_step_length(nsn *m) { return m->steady >= MIN_SETTLED_STEPS ? 1 : DAMPED_STEP_LENGTH; }

double nsn_natural_error(const nsn *m) {
    natural_sum sum = {0};
    for (int i = 0; i < m->problem->nconstraint; i++) {
        const sim_constraint *c = &m->problem->constraint[i];
        natural_add(&sum, c, m->problem->step, 1 / m->w[i], m->n2[i], m->q + c->row, m->s + c->row, m->gamma + c->row);
    }
    return natural_error(&sum);
}

void nsn_eval_error(nsn *m) {
    schur_times(&m->matrix, m->gamma, m->s);
    for (int k = 0; k < m->n; k++) {
        m->s[k] = nsn_is_given(m, k) ? 0 : m->s[k] + m->q[k] + m->call->R[k] * m->gamma[k];
    }
    m->E = nsn_natural_error(m);
    if (m->E < m->best_E) {
        m->best_E = m->E;
        memcpy(m->best, m->gamma, (size_t)m->n * sizeof *m->best);
    }
}

bool nsn_make(nsn *m, solver_call *call) {
    /* parameters */
    size_t n = (size_t)call->problem->nrow;
    *m = (nsn){.call = call,
               .problem = call->problem,
               .n = (int)n,
               .function = (int)call->option[NSN_FUNCTION],
               .softer = 1,
               .loose = 1,
               .best_E = HUGE_VAL};
    /* memory */
    double *vectors = ARENA_NEW(call->scratch, double, 8 * n);
    m->w = ARENA_NEW(call->scratch, double, call->problem->nconstraint);
    m->n2 = squared_natural_speeds(call->problem, call->scratch);
    m->friction = ARENA_NEW(call->scratch, nsn_friction, n);
    m->was_out = ARENA_NEW(call->scratch, int, n);
    if (!vectors || !m->w || !m->n2 || !m->friction || !m->was_out) {
        return false;
    }
    double **of[] = {&m->gamma, &m->s, &m->q, &m->h, &m->x, &m->rhs, &m->best, &m->first};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        *of[k] = vectors + k * n;
    }
    return true;
}

void nsn_begin(nsn *m) {
    const sim_problem *p = m->problem;
    const double *R = m->call->R, *target = m->call->target;
    size_t size = (size_t)m->n * sizeof(double);
    /* q = J v* + w */
    if (sim_problem_local(p)) {
        memcpy(m->q, p->q, size);
    } else {
        problem_velocity(p, p->v_free, m->q);
    }
    /* of each row: given or zero impulse, q - target, no friction compliance; w: mean diagonal of W + R */
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double bound = c->kind == SIM_ACTUATOR ? p->step * c->bound : HUGE_VAL, trace = 0;
        double force = c->kind == SIM_SPRING || c->kind == SIM_ACTUATOR ? p->step * c->force : 0;
        for (int k = c->row; k < c->row + c->rows; k++) {
            m->first[k] = nsn_is_given(m, k) ? fmin(fmax(force, -bound), bound) : 0;
            m->q[k] = nsn_is_given(m, k) ? 0 : m->q[k] - target[k];
            m->h[k] = 0;
            trace += m->matrix.diagonal[k] + (nsn_is_given(m, k) ? 0 : R[k]);
        }
        m->w[i] = trace > 0 ? trace / c->rows : 1;
    }
    memcpy(m->best, m->first, size);
    nsn_restart(m);
}

void nsn_restart(nsn *m) {
    memcpy(m->gamma, m->first, (size_t)m->n * sizeof *m->gamma);
    memset(m->was_out, 0, (size_t)m->n * sizeof *m->was_out);
    m->steady = 0;
    for (int k = 0; k < m->n; k++) {
        m->friction[k] = (nsn_friction){.softness = 1};
    }
}
