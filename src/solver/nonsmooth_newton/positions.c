/* Nonsmooth Newton with gaps taken where the step ends (Macklin et al. 2019, eqs. 45-50, 57-60, 70-74).
 *
 * J and gaps change with v: v is an unknown of its own.  With u(v) the mean rate of each gap over the step
 * (sim_positions), the residuals are
 *
 *     g = A (v - v*) - J' gamma,     h: the rows (rows.c) of s = u(v) - target + R gamma,
 *
 * with J at the end of the step, too.  A Newton step solves
 *
 *     [ H  -J'] [dv]   [ -g ]     (J H^-1 J' + C + epsilon) x = J H^-1 (g - J' y) - h,   y = -gamma of rows left out
 *     [ J   C ] [ x] = [ -h ]     dv = H^-1 (J' (x + y) - g).
 *
 * H = A + dt^2 K with the geometric stiffness K = -d(J' lambda)/dq, as forces turn with their bodies.  K is
 * approximated by its diagonal, from the secant of the last two iterates, where positive (71-74):
 *
 *     dt^2 K_ii = -[(J - J_before)' gamma]_i / (v - v_before)_i.
 *
 * It does not change the solution.  E includes the momentum g, in the metric of A^-1, besides the law. */
#include "linalg/dense/cholesky.h"
#include "math/dense.h"
#include "solver/core/products.h"
#include "solver/nonsmooth_newton/nsn.h"

#include <math.h>
#include <string.h>

static const double MIN_DISPLACEMENT = 1e-12; /* dt (v - v_before), below which a secant is rounding */

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
    sim_problem now; /* with J at the end of the step, and H for A */
    stiffened H;
    double *v, *v_before, *g, *best_v, *work, *pull, *pull_before;
    double momentum;
} positioned;

static int padded_size(int n) { return (n + 3) / 4 * 4; }

static void solve_stiffened_tree(const void *self, int tree, double *x) {
    const stiffened *h = self;
    const sim_problem_tree *t = &h->problem->tree[tree];
    cholesky_forward(t->nv, h->U + h->at[tree], padded_size(t->nv), h->inverse + t->v0, x);
    cholesky_backward(t->nv, h->U + h->at[tree], padded_size(t->nv), h->inverse + t->v0, x);
}

static bool make_stiffened_mass(stiffened *h, const sim_problem *p, sim_arena *scratch) {
    /* memory */
    ptrdiff_t size = 0;
    h->problem = p;
    h->at = ARENA_NEW(scratch, ptrdiff_t, p->ntree);
    h->inverse = ARENA_NEW(scratch, double, p->nv);
    h->K = ARENA_NEW(scratch, double, p->nv);
    if (!h->at || !h->inverse || !h->K) {
        return false;
    }
    /* blocks of A, and of its factor */
    for (int t = 0; t < p->ntree; t++) {
        h->at[t] = size;
        size += (ptrdiff_t)p->tree[t].nv * padded_size(p->tree[t].nv);
    }
    h->A = ARENA_NEW(scratch, double, size);
    h->U = ARENA_NEW(scratch, double, size);
    /* A without stiffness */
    for (int t = 0; t < p->ntree && h->A; t++) {
        p->mass.matrix(p->mass.self, t, h->A + h->at[t]);
    }
    memset(h->K, 0, (size_t)p->nv * sizeof *h->K);
    return h->A && h->U;
}

static bool factor_stiffened_mass(stiffened *h) {
    const sim_problem *p = h->problem;
    bool good = true;
    for (int t = 0; t < p->ntree; t++) {
        int nv = p->tree[t].nv, v0 = p->tree[t].v0;
        double *U = h->U + h->at[t];
        const double *A = h->A + h->at[t];
        memset(U, 0, (size_t)nv * (size_t)padded_size(nv) * sizeof *U);
        for (int j = 0; j < nv; j++) {
            memcpy(U + j * padded_size(nv), A + j * nv, (size_t)nv * sizeof *U);
            U[j * (padded_size(nv) + 1)] += h->K[v0 + j];
        }
        good &= cholesky_upper(nv, padded_size(nv), U, h->inverse + v0);
    }
    return good;
}

/* s, g and E of v and gamma. */
static void eval_position_error(positioned *m) {
    nsn *r = &m->rows;
    const sim_problem *p = r->problem;
    size_t size = (size_t)p->nv * sizeof(double);
    /* s */
    p->positions->at(p->positions->self, m->v, r->s);
    for (int k = 0; k < r->n; k++) {
        r->s[k] = nsn_is_given(r, k) ? 0 : r->s[k] - r->call->target[k] + r->call->R[k] * r->gamma[k];
    }
    /* g = A (v - v*) - J' gamma */
    problem_jacobian_transposed(&m->now, r->gamma, m->pull);
    for (int j = 0; j < p->nv; j++) {
        m->work[j] = m->v[j] - p->v_free[j];
    }
    problem_mass_times(p, m->work, m->g);
    for (int j = 0; j < p->nv; j++) {
        m->g[j] -= m->pull[j];
    }
    /* |g| over the momentum, in the metric of A^-1 */
    memcpy(m->work, m->g, size);
    problem_mass_solve(p, m->work);
    double off = dense_dot(p->nv, m->g, m->work);
    problem_mass_times(p, m->v, m->work);
    double size_of = dense_dot(p->nv, m->v, m->work);
    problem_mass_times(p, p->v_free, m->work);
    size_of = fmax(size_of, dense_dot(p->nv, p->v_free, m->work));
    /* E, and the best so far */
    double law = nsn_natural_error(r), balance = size_of > 0 ? sqrt(off / size_of) : sqrt(off);
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
        bool known = fabs(moved) * p->step > MIN_DISPLACEMENT;
        m->H.K[j] = known ? fmax(0, (m->pull_before[j] - m->pull[j]) / moved) : 0;
    }
}

/* right = J H^-1 (g - J' y) - h; y goes to x. */
static void eval_right_side(positioned *m) {
    nsn *r = &m->rows;
    for (int k = 0; k < r->n; k++) {
        r->x[k] = r->matrix.out[k] && !nsn_is_given(r, k) ? -r->gamma[k] : 0;
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

static void update_iterate(positioned *m) {
    nsn *r = &m->rows;
    double t = nsn_step_length(r);
    for (int k = 0; k < r->n; k++) {
        r->x[k] = nsn_is_given(r, k) ? 0 : r->matrix.out[k] ? -r->gamma[k] : r->x[k];
    }
    problem_jacobian_transposed(&m->now, r->x, m->work);
    for (int j = 0; j < r->problem->nv; j++) {
        m->work[j] -= m->g[j];
    }
    problem_mass_solve(&m->now, m->work);
    memcpy(m->v_before, m->v, (size_t)r->problem->nv * sizeof *m->v);
    dense_axpy(r->n, t, r->x, r->gamma);
    dense_axpy(r->problem->nv, t, m->work, m->v);
    problem_jacobian_transposed(&m->now, r->gamma, m->pull_before); /* previous J, present impulses */
}

typedef enum step_result { STEP_DONE, STEP_SINGULAR, STEP_NO_MEMORY } step_result;

static step_result step_positions(positioned *m) {
    nsn *r = &m->rows;
    sim_arena *scratch = r->call->scratch;
    size_t mark = arena_mark(scratch);
    if (!factor_stiffened_mass(&m->H)) {
        return STEP_SINGULAR;
    }
    if (!schur_make(&r->matrix, &m->now, (schur_method)r->call->option[NSN_LINEAR], scratch)) {
        return STEP_NO_MEMORY;
    }
    nsn_linearise_rows(r);
    eval_right_side(m);
    bool done = nsn_solve_linear(r);
    if (done) {
        update_iterate(m);
    }
    arena_release(scratch, mark);
    return done ? STEP_DONE : STEP_SINGULAR;
}

static sim_outcome iterate_positions(positioned *m, bool *memory) {
    nsn *r = &m->rows;
    const double *o = r->call->option;
    eval_position_error(m);
    solver_record(r->call, r->E, NAN);
    for (int k = 0;
         k < (int)o[NSN_MAX_ITERATIONS] && !(r->best_E <= o[NSN_TOLERANCE]) && !solution_stopped(r->call->out); k++) {
        r->call->out->iterations = k + 1;
        /* one Newton step in v and gamma */
        step_result result = step_positions(m);
        *memory = result != STEP_NO_MEMORY;
        if (result != STEP_DONE) {
            return SIM_BROKEN_DOWN;
        }
        /* E, and the end where it is not finite */
        eval_position_error(m);
        solver_record(r->call, r->E, NAN);
        if (!isfinite(r->E)) {
            r->call->out->reason = SIM_REASON_NONFINITE;
            return SIM_BROKEN_DOWN;
        }
        /* secant stiffness for the next step */
        if (o[NSN_STIFFNESS] > 0) {
            find_stiffness(m);
        }
    }
    return r->best_E <= o[NSN_TOLERANCE] ? SIM_SOLVED : SIM_AT_LIMIT;
}

/* Rows are scaled by the inverse masses at the start.  False without memory. */
static bool start_positions(positioned *m) {
    nsn *r = &m->rows;
    sim_arena *scratch = r->call->scratch;
    size_t mark = arena_mark(scratch);
    if (!schur_make(&r->matrix, r->problem, SCHUR_PCR, scratch)) {
        return false;
    }
    nsn_begin(r);
    arena_release(scratch, mark);
    memcpy(m->v, r->problem->v_free, (size_t)r->problem->nv * sizeof *m->v);
    memcpy(m->best_v, m->v, (size_t)r->problem->nv * sizeof *m->v);
    return true;
}

bool nsn_solve_positions(solver_call *call) {
    const sim_problem *p = call->problem;
    size_t nv = (size_t)p->nv;
    positioned m;
    bool memory = true;
    /* memory */
    double *vectors = ARENA_NEW(call->scratch, double, 7 * nv);
    if (!vectors || !nsn_make(&m.rows, call) || !make_stiffened_mass(&m.H, p, call->scratch)) {
        return false;
    }
    double **of[] = {&m.v, &m.v_before, &m.g, &m.best_v, &m.work, &m.pull, &m.pull_before};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        *of[k] = vectors + k * nv;
    }
    /* the problem with J at the end of the step and H in place of A */
    m.now = *p;
    m.now.J = p->positions->J;
    m.now.diagonal = NULL;
    m.now.mass = (sim_mass){.self = &m.H, .solve = solve_stiffened_tree};
    if (!start_positions(&m)) {
        return false;
    }
    /* solution: the best iterate */
    call->out->outcome = iterate_positions(&m, &memory);
    call->out->residual = m.rows.best_E;
    memcpy(call->out->impulse, m.rows.best, (size_t)p->nrow * sizeof(double));
    memcpy(call->out->v, m.best_v, nv * sizeof(double));
    return memory;
}
