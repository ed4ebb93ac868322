/* The rows of nonsmooth Newton (Macklin et al. 2019), and their linear systems.
 *
 * Each unilateral row is an equation phi = 0, phi = psi(s, r gamma) with a complementarity function psi(a, b), zero where
 * 0 <= a perp b >= 0: the minimum map or Fischer and Burmeister's a + b - sqrt(a^2 + b^2) (eqs. 18-25).  Friction is a
 * compliance that is right when it has been found (33-37): with a = |s_t|, gap = mu gamma_n - |gamma_t|,
 *
 *     s_t + Wf gamma_t = 0,     Wf = (a - psi(a, r gap)) / (|gamma_t| + psi(a, r gap) / r).
 *
 * r = W_ii makes impulses velocities (66): one contact alone is then right in a step.  Where contacts share their load the
 * effective inverse mass w is less, and a Wf* found with r contracts by (w - r) / (w + Wf*): it swings if r > w and diverges
 * if r > 2 w + Wf*; the limit r = 0 never does, but is slow.  So friction that swings halves its own r, and takes it up
 * again bit by bit. */
#include "solver/core/products.h"
#include "solver/nonsmooth_newton/nsn.h"

#include <math.h>
#include <string.h>

static const double GONE = 1e-6, DAMPED = 0.75, MOST_ITERATIONS = 1e6;
static const double SWINGS = 0.3, SOFTER = 0.5, HARDER = 1.02, SOFTEST = 1e-6;
enum { SETTLED = 2 };

int nsn_given(const nsn *m, int k) { return isinf(m->call->R[k]); }

static double psi(const nsn *m, double a, double b, double *alpha, double *beta) {
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

static void leave_out(nsn *m, int k) {
    m->matrix.out[k] = 1;
    m->matrix.C[k] = 0;
}

static double scale_of(const nsn *m, int k) {
    double w = m->matrix.diagonal[k] + m->call->R[k];
    return m->call->option[NSN_PRECONDITIONED] > 0 && w > 0 ? w : 1;
}

static void normal_row(nsn *m, int k) {
    double alpha, beta, r = scale_of(m, k), phi = psi(m, m->s[k], r * m->gamma[k], &alpha, &beta);
    if (!(alpha > GONE)) {
        leave_out(m, k);
        return;
    }
    m->matrix.C[k] = m->call->R[k] + r * beta / alpha;
    m->h[k] = phi / alpha;
}

/* Wf (33-35); where Fischer and Burmeister's has no sense, far outside the bound, the minimum map's. */
static double compliance(const nsn *m, double a, double size, double bound, double r) {
    double gap = bound - size, S = hypot(a, r * gap);
    double below = S > 0 ? r * (bound - gap * (r * gap / (S + a))) : r * bound; /* a + r bound - S, also for little r */
    if (m->function == NSN_FISCHER_BURMEISTER && below > 1e-3 * r * bound) {
        double above = gap > 0 ? a * a / (S + r * gap) : S - r * gap;
        return r * above / below;
    }
    return fmax(0, (a - r * gap) / bound);
}

/* Does Wf swing, so that r is too great? */
static void adapt(nsn *m, nsn_friction *f, double Wf) {
    double change = Wf - f->Wf;
    int swings = change * f->change < 0 && fabs(change) > SWINGS * fabs(f->change);
    if (m->call->option[NSN_R] == NSN_R_ADAPTED) {
        f->softness = swings ? fmax(SOFTEST, SOFTER * f->softness) : fmin(1, HARDER * f->softness);
    }
    f->change = change;
    f->Wf = Wf;
}

/* Rows k .. k + count of friction within a bound. */
static void friction_rows(nsn *m, int k, int count, double bound) {
    double a = 0, size = 0, r = 0;
    nsn_friction *f = &m->friction[k];
    for (int j = k; j < k + count; j++) {
        a += m->s[j] * m->s[j];
        size += m->gamma[j] * m->gamma[j];
        r += scale_of(m, j) / count;
    }
    double Wf = bound > 0 ? compliance(m, sqrt(a), sqrt(size), bound, m->softer * f->softness * r) : 0;
    adapt(m, f, Wf);
    for (int j = k; j < k + count; j++) {
        if (!(bound > 0)) {
            leave_out(m, j);
            continue;
        }
        m->matrix.C[j] = m->call->R[j] + Wf;
        m->h[j] = m->s[j] + Wf * m->gamma[j];
    }
}

static void other_row(nsn *m, const sim_constraint *c, int k) {
    if (nsn_given(m, k)) {
        leave_out(m, k);
    } else if (c->kind == SIM_LIMIT) {
        normal_row(m, k);
    } else if ((c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR) && isfinite(c->bound)) {
        friction_rows(m, k, 1, m->problem->step * c->bound);
    } else {
        m->matrix.C[k] = m->call->R[k];
        m->h[k] = m->s[k];
    }
}

void nsn_rows(nsn *m) {
    const sim_problem *p = m->problem;
    int change = 0;
    memset(m->matrix.out, 0, (size_t)m->n * sizeof(int));
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (c->kind == SIM_CONTACT) {
            normal_row(m, c->row + 2);
            friction_rows(m, c->row, 2, m->matrix.out[c->row + 2] ? 0 : c->friction * m->gamma[c->row + 2]);
            continue;
        }
        for (int k = c->row; k < c->row + c->rows; k++) {
            other_row(m, c, k);
        }
    }
    for (int k = 0; k < m->n; k++) {
        change += m->matrix.out[k] != m->was_out[k];
        m->was_out[k] = m->matrix.out[k];
    }
    m->steady = change ? 0 : m->steady + 1;
}

int nsn_linear(nsn *m) {
    const double *o = m->call->option;
    for (int k = 0; k < m->n; k++) {
        m->matrix.C[k] += m->matrix.out[k] ? 0 : m->loose * o[NSN_EPSILON] * m->matrix.diagonal[k];
    }
    schur_course course = {.most = (int)fmin(MOST_ITERATIONS, o[NSN_LINEAR_ITERATIONS] / m->loose),
                           .tolerance = m->loose * o[NSN_LINEAR_TOLERANCE],
                           .watched = m->call->out};
    sim_history *h = m->call->out->history;
    int kept = h && h->linear && h->linear_room - h->linear_count > course.most;
    course.history = kept ? h->linear + h->linear_count : NULL;
    int done = schur_solve(&m->matrix, (schur_method)o[NSN_LINEAR], m->rhs, m->x, &course);
    for (int k = 0; k <= course.iterations && kept; k++) {
        h->linear_step[h->linear_count++] = m->call->out->iterations;
    }
    m->call->out->searches += course.iterations;
    m->call->out->factorisations += (int)o[NSN_LINEAR] == SCHUR_CHOLESKY;
    return done;
}

double nsn_part(nsn *m) { return m->steady >= SETTLED ? 1 : DAMPED; }

double nsn_error(const nsn *m) {
    natural_sum sum = {0};
    for (int i = 0; i < m->problem->nconstraint; i++) {
        const sim_constraint *c = &m->problem->constraint[i];
        natural_add(&sum, c, m->problem->step, 1 / m->w[i], m->q + c->row, m->s + c->row, m->gamma + c->row);
    }
    return natural_error(&sum);
}

void nsn_measure(nsn *m) {
    schur_times(&m->matrix, m->gamma, m->s);
    for (int k = 0; k < m->n; k++) {
        m->s[k] = nsn_given(m, k) ? 0 : m->s[k] + m->q[k] + m->call->R[k] * m->gamma[k];
    }
    m->E = nsn_error(m);
    if (m->E < m->best_E) {
        m->best_E = m->E;
        memcpy(m->best, m->gamma, (size_t)m->n * sizeof *m->best);
    }
}

int nsn_make(nsn *m, solver_call *call) {
    size_t n = (size_t)call->problem->nrow;
    *m = (nsn){.call = call,
               .problem = call->problem,
               .n = (int)n,
               .function = (int)call->option[NSN_FUNCTION],
               .softer = 1,
               .loose = 1,
               .best_E = HUGE_VAL};
    double *vectors = ARENA_NEW(call->scratch, double, 8 * n);
    m->w = ARENA_NEW(call->scratch, double, call->problem->nconstraint);
    m->friction = ARENA_NEW(call->scratch, nsn_friction, n);
    m->was_out = ARENA_NEW(call->scratch, int, n);
    if (!vectors || !m->w || !m->friction || !m->was_out) {
        return 0;
    }
    double **of[] = {&m->gamma, &m->s, &m->q, &m->h, &m->x, &m->rhs, &m->best, &m->first};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        *of[k] = vectors + k * n;
    }
    return 1;
}

void nsn_begin(nsn *m) {
    const sim_problem *p = m->problem;
    const double *R = m->call->R, *target = m->call->target;
    size_t size = (size_t)m->n * sizeof(double);
    if (sim_problem_local(p)) {
        memcpy(m->q, p->q, size);
    } else {
        problem_velocity(p, p->v_free, m->q);
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double bound = c->kind == SIM_ACTUATOR ? p->step * c->bound : HUGE_VAL, trace = 0;
        double force = c->kind == SIM_SPRING || c->kind == SIM_ACTUATOR ? p->step * c->force : 0;
        for (int k = c->row; k < c->row + c->rows; k++) {
            m->first[k] = nsn_given(m, k) ? fmin(fmax(force, -bound), bound) : 0;
            m->q[k] = nsn_given(m, k) ? 0 : m->q[k] - target[k];
            m->h[k] = 0;
            trace += m->matrix.diagonal[k] + (nsn_given(m, k) ? 0 : R[k]);
        }
        m->w[i] = trace > 0 ? trace / c->rows : 1;
    }
    memcpy(m->best, m->first, size);
    nsn_start(m);
}

void nsn_start(nsn *m) {
    memcpy(m->gamma, m->first, (size_t)m->n * sizeof *m->gamma);
    memset(m->was_out, 0, (size_t)m->n * sizeof *m->was_out);
    m->steady = 0;
    for (int k = 0; k < m->n; k++) {
        m->friction[k] = (nsn_friction){.softness = 1};
    }
}
