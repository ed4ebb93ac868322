/* Nonsmooth Newton with gaps taken where the step ends (Macklin et al. 2019, eqs. 45-50, 57-60, 70-74).
 *
 * J and gaps change along the way, so v is an unknown of its own.  With u(v) the mean rate of each gap over the step
 * (sim_positions), the residuals are
 *
 *     g = A (v - v*) - J' gamma,     h: the rows (rows.c) of s = u(v) - target + R gamma,
 *
 * J at the end of the step as well.  A Newton step solves
 *
 *     [ H  -J'] [dv]   [ -g ]          (J H^-1 J' + C + epsilon) x = J H^-1 (g - J' y) - h,   y = -gamma of rows that leave
 *     [ J   C ] [ x] = [ -h ]          dv = H^-1 (J' (x + y) - g).
 *
 * H = A + dt^2 K: forces turn with the bodies they act on, K = -d(J' lambda)/dq.  Of it the diagonal is taken, by the
 * secant of the last two iterates, where it is positive (71-74):
 *
 *     dt^2 K_ii = -[(J - J_before)' gamma]_i / (v - v_before)_i.
 *
 * It changes the way and not the end.  E counts the momentum g, in the metric of A^-1, beside the law. */
#include "linalg/cholesky.h"
#include "math/dense.h"
#include "solver/core/products.h"
#include "solver/nonsmooth_newton/nsn.h"

#include <math.h>
#include <string.h>

static const double SAME = 1e-12; /* dt (v - v_before) of which nothing can be told */

/* H, tree by tree. */
typedef struct stiffened {
    const sim_problem *problem;
    ptrdiff_t *at;   /* [ntree] */
    double *A, *U;   /* dense blocks; U'U = H */
    double *inverse; /* [nv] of the diagonal of U */
    double *K;       /* [nv] */
} stiffened;

typedef struct positioned {
    nsn rows;
    sim_problem now; /* with J as it is there, and H for A */
    stiffened H;
    double *v, *v_before, *g, *best_v, *work, *pull, *pull_before;
    double momentum;
} positioned;

static int padded(int n) { return (n + 3) / 4 * 4; }

static void solve_tree(const void *self, int tree, double *x) {
    const stiffened *h = self;
    const sim_problem_tree *t = &h->problem->tree[tree];
    cholesky_forward(t->nv, h->U + h->at[tree], padded(t->nv), h->inverse + t->v0, x);
    cholesky_backward(t->nv, h->U + h->at[tree], padded(t->nv), h->inverse + t->v0, x);
}

static int make_H(stiffened *h, const sim_problem *p, sim_arena *scratch) {
    ptrdiff_t size = 0;
    h->problem = p;
    h->at = ARENA_NEW(scratch, ptrdiff_t, p->ntree);
    h->inverse = ARENA_NEW(scratch, double, p->nv);
    h->K = ARENA_NEW(scratch, double, p->nv);
    if (!h->at || !h->inverse || !h->K) {
        return 0;
    }
    for (int t = 0; t < p->ntree; t++) {
        h->at[t] = size;
        size += (ptrdiff_t)p->tree[t].nv * padded(p->tree[t].nv);
    }
    h->A = ARENA_NEW(scratch, double, size);
    h->U = ARENA_NEW(scratch, double, size);
    for (int t = 0; t < p->ntree && h->A; t++) {
        p->mass.matrix(p->mass.self, t, h->A + h->at[t]);
    }
    memset(h->K, 0, (size_t)p->nv * sizeof *h->K);
    return h->A && h->U;
}

static int factor_H(stiffened *h) {
    const sim_problem *p = h->problem;
    int good = 1;
    for (int t = 0; t < p->ntree; t++) {
        int nv = p->tree[t].nv, v0 = p->tree[t].v0;
        double *U = h->U + h->at[t];
        const double *A = h->A + h->at[t];
        memset(U, 0, (size_t)nv * (size_t)padded(nv) * sizeof *U);
        for (int j = 0; j < nv; j++) {
            memcpy(U + j * padded(nv), A + j * nv, (size_t)nv * sizeof *U);
            U[j * (padded(nv) + 1)] += h->K[v0 + j];
        }
        good &= cholesky_upper(nv, padded(nv), U, h->inverse + v0);
    }
    return good;
}

/* s, g and E of v and gamma. */
static void measure(positioned *m) {
    nsn *r = &m->rows;
    const sim_problem *p = r->problem;
    size_t size = (size_t)p->nv * sizeof(double);
    p->positions->at(p->positions->self, m->v, r->s);
    for (int k = 0; k < r->n; k++) {
        r->s[k] = nsn_given(r, k) ? 0 : r->s[k] - r->call->target[k] + r->call->R[k] * r->gamma[k];
    }
    problem_jacobian_transposed(&m->now, r->gamma, m->pull);
    for (int j = 0; j < p->nv; j++) {
        m->work[j] = m->v[j] - p->v_free[j];
    }
    problem_mass_times(p, m->work, m->g);
    for (int j = 0; j < p->nv; j++) {
        m->g[j] -= m->pull[j];
    }
    memcpy(m->work, m->g, size);
    problem_mass_solve(p, m->work);
    double off = dense_dot(p->nv, m->g, m->work);
    problem_mass_times(p, m->v, m->work);
    double size_of = dense_dot(p->nv, m->v, m->work);
    problem_mass_times(p, p->v_free, m->work);
    size_of = fmax(size_of, dense_dot(p->nv, p->v_free, m->work));
    double law = nsn_error(r), balance = size_of > 0 ? sqrt(off / size_of) : sqrt(off);
    r->E = isnan(law) || isnan(balance) ? NAN : fmax(law, balance);
    if (r->E < r->best_E) {
        r->best_E = r->E;
        memcpy(r->best, r->gamma, (size_t)r->n * sizeof *r->best);
        memcpy(m->best_v, m->v, size);
    }
}

static void find_stiffness(positioned *m) {
    const sim_problem *p = m->rows.problem;
    for (int j = 0; j < p->nv; j++) {
        double moved = m->v[j] - m->v_before[j];
        int known = fabs(moved) * p->step > SAME;
        m->H.K[j] = known ? fmax(0, (m->pull_before[j] - m->pull[j]) / moved) : 0;
    }
}

/* right = J H^-1 (g - J' y) - h; y goes to x. */
static void right_side(positioned *m) {
    nsn *r = &m->rows;
    for (int k = 0; k < r->n; k++) {
        r->x[k] = r->matrix.out[k] && !nsn_given(r, k) ? -r->gamma[k] : 0;
    }
    problem_jacobian_transposed(&m->now, r->x, m->work);
    for (int j = 0; j < r->problem->nv; j++) {
        m->work[j] = m->g[j] - m->work[j];
    }
    problem_mass_solve(&m->now, m->work);
    problem_jacobian_times(&m->now, m->work, r->rhs);
    for (int k = 0; k < r->n; k++) {
        r->rhs[k] -= r->matrix.out[k] ? 0 : r->h[k];
    }
}

static void move(positioned *m) {
    nsn *r = &m->rows;
    double t = nsn_part(r);
    for (int k = 0; k < r->n; k++) {
        r->x[k] = nsn_given(r, k) ? 0 : r->matrix.out[k] ? -r->gamma[k] : r->x[k];
    }
    problem_jacobian_transposed(&m->now, r->x, m->work);
    for (int j = 0; j < r->problem->nv; j++) {
        m->work[j] -= m->g[j];
    }
    problem_mass_solve(&m->now, m->work);
    memcpy(m->v_before, m->v, (size_t)r->problem->nv * sizeof *m->v);
    dense_axpy(r->n, t, r->x, r->gamma);
    dense_axpy(r->problem->nv, t, m->work, m->v);
    problem_jacobian_transposed(&m->now, r->gamma, m->pull_before); /* of the J before and the impulses now */
}

/* 1: done; 0: a matrix was singular; -1: no memory. */
static int newton_step(positioned *m) {
    nsn *r = &m->rows;
    sim_arena *scratch = r->call->scratch;
    size_t mark = arena_mark(scratch);
    if (!factor_H(&m->H)) {
        return 0;
    }
    if (!schur_make(&r->matrix, &m->now, (schur_method)r->call->option[NSN_LINEAR], scratch)) {
        return -1;
    }
    nsn_rows(r);
    right_side(m);
    int done = nsn_linear(r);
    if (done) {
        move(m);
    }
    arena_release(scratch, mark);
    return done;
}

static sim_outcome iterate(positioned *m, int *memory) {
    nsn *r = &m->rows;
    const double *o = r->call->option;
    measure(m);
    solver_record(r->call, r->E, NAN);
    for (int k = 0;
         k < (int)o[NSN_MAX_ITERATIONS] && !(r->best_E <= o[NSN_TOLERANCE]) && !solution_stopped(r->call->out); k++) {
        r->call->out->iterations = k + 1;
        int done = newton_step(m);
        *memory = done >= 0;
        if (done <= 0) {
            return SIM_BROKEN_DOWN;
        }
        measure(m);
        solver_record(r->call, r->E, NAN);
        if (!isfinite(r->E)) {
            r->call->out->reason = SIM_REASON_NONFINITE;
            return SIM_BROKEN_DOWN;
        }
        if (o[NSN_STIFFNESS] > 0) {
            find_stiffness(m);
        }
    }
    return r->best_E <= o[NSN_TOLERANCE] ? SIM_SOLVED : SIM_AT_LIMIT;
}

/* Inverse masses, of which rows are measured, are those at the start. */
static int begin(positioned *m) {
    nsn *r = &m->rows;
    sim_arena *scratch = r->call->scratch;
    size_t mark = arena_mark(scratch);
    if (!schur_make(&r->matrix, r->problem, SCHUR_PCR, scratch)) {
        return 0;
    }
    nsn_begin(r);
    arena_release(scratch, mark);
    memcpy(m->v, r->problem->v_free, (size_t)r->problem->nv * sizeof *m->v);
    memcpy(m->best_v, m->v, (size_t)r->problem->nv * sizeof *m->v);
    return 1;
}

int nsn_with_positions(solver_call *call) {
    const sim_problem *p = call->problem;
    size_t nv = (size_t)p->nv;
    positioned m;
    int memory = 1;
    double *vectors = ARENA_NEW(call->scratch, double, 7 * nv);
    if (!vectors || !nsn_make(&m.rows, call) || !make_H(&m.H, p, call->scratch)) {
        return 0;
    }
    double **of[] = {&m.v, &m.v_before, &m.g, &m.best_v, &m.work, &m.pull, &m.pull_before};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        *of[k] = vectors + k * nv;
    }
    m.now = *p;
    m.now.J = p->positions->J;
    m.now.mass = (sim_mass){.self = &m.H, .solve = solve_tree};
    if (!begin(&m)) {
        return 0;
    }
    call->out->outcome = iterate(&m, &memory);
    call->out->residual = m.rows.best_E;
    memcpy(call->out->impulse, m.rows.best, (size_t)p->nrow * sizeof(double));
    memcpy(call->out->v, m.best_v, nv * sizeof(double));
    return memory;
}
