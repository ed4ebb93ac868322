/* Levenberg-Marquardt method for r(x) = 0, with as many equations as unknowns.
 *
 *     psi(x) = |r|^2 / 2,    dx = argmin |J dx + r|^2 + lambda |dx|^2
 *
 *   regular     ratio = (psi(x + dx) - psi(x)) / (model(x + dx) - psi(x)).  ratio < 0.3: lambda times 20; ratio > 0:
 *               step accepted; ratio > 0.8: lambda over 20.  First lambda: 1e-3, or |r|^2 where that is smaller
 *   projected   first steps cut back to the bounds and to a box of variable size; then lambda near 0 and a nonmonotone
 *               search along dx.  Without a better psi for 20 iterations it restarts from the best x, descending only
 *
 * It stops on the caller's `error`, not on psi.  The result is the x of the least error.  A later x replaces it if its
 * error is lower by a thousandth and its psi at most twice the least.  A minimum of psi that is no root gives
 * "stalled".
 *
 * Reference: Levenberg 1944, Marquardt 1963; Mylapilli, Jain 2016, sec. 5; projected: Kanzow, Petra 2004.
 * Cost: one damped least-squares problem per trial of lambda. */
#include "solver/matrices/levenberg_marquardt.h"
#include "math/dense.h"
#include "solver/core/stall.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* regular */
static const double FIRST_LAMBDA = 1e-3, LAMBDA_FACTOR = 20, MIN_LAMBDA = 1e-25, MAX_LAMBDA = 1e12;
static const double POOR_RATIO = 0.3, GOOD_RATIO = 0.8;
/* projected */
static const double NEWTON_LAMBDA = 1e-16, MAX_CONDITION = 1e25;
static const double ARMIJO_C1 = 1e-4, BACKTRACK_FACTOR = 0.55, MIN_STEP = 1e-12;
static const double MIN_USEFUL_STEP = 1e-9, ESCAPE_LAMBDA = 1e-4, MAX_ESCAPE_LAMBDA = 1; /* where the search fails */
static const double FIRST_BOX = 5, MIN_BOX = 1;                                          /* half widths */
static const double FALL_TO_WIDEN = 0.95, RISE_TO_NARROW = 4.75; /* |r| after over before a step in the box */
enum { REMEMBERED_STEPS = 10, FIRST_MONOTONE_STEPS = 5, MAX_STALLED_ITERATIONS = 20, MAX_PROJECTED_STEPS = 20 };
/* both */
static const double MAX_ROUNDED_ERROR = 1e-12; /* of a stalled solution that counts as solved to rounding */
/* Without a root, psi may fall towards its infimum for ever while x grows; the relative error may fall as well. */
static const double PROGRESS_RATIO = 0.999, MAX_PSI_RATIO = 2;
enum { MAX_STANDSTILLS = 5 }; /* iterations in which psi falls by rounding only */
static const double PSI_ROUNDING = 1e-14;

typedef struct levenberg {
    const levenberg_problem *of;
    solver_call *call;
    size_t n;
    double *x, *r, *J, *work;           /* the iterate */
    double *dx, *image, *next, *next_r; /* image: J dx */
    double *best;
    double psi, least, error; /* psi here, least psi; error of the best */
    stall_watch halving;      /* of psi */
    int iteration;
} levenberg;

static double half_square(size_t n, const double *r) { return 0.5 * dense_dot((int)n, r, r); }

static bool init_levenberg(levenberg *m, const levenberg_problem *p, solver_call *call, double *best) {
    size_t n = (size_t)p->n;
    *m = (levenberg){.of = p,
                     .call = call,
                     .n = n,
                     .best = best,
                     .least = HUGE_VAL,
                     .error = HUGE_VAL,
                     .halving = stall_watch_start(0.5)};
    /* memory */
    m->J = arena_alloc(call->scratch, p->step ? 1 : n * n, sizeof *m->J);
    m->work = ARENA_NEW(call->scratch, double, p->step ? 1 : levenberg_work(p->n));
    double *vectors = ARENA_NEW(call->scratch, double, 6 * n);
    if (!m->J || !m->work || !vectors) {
        return false;
    }
    m->x = vectors;
    m->r = vectors + n;
    m->dx = vectors + 2 * n;
    m->next = vectors + 3 * n;
    m->next_r = vectors + 4 * n;
    m->image = vectors + 5 * n;
    return true;
}

/* Evaluates m->x, with its r if that is not known, and keeps the best x. */
static void eval_iterate(levenberg *m, bool r_known) {
    if (!r_known) {
        m->of->residual(m->of->self, m->x, m->r);
    }
    m->psi = half_square(m->n, m->r);
    double error = m->of->error(m->of->self, m->x);
    m->least = fmin(m->least, m->psi);
    if (error <= m->of->tolerance || (error < PROGRESS_RATIO * m->error && m->psi <= MAX_PSI_RATIO * m->least)) {
        m->error = error;
        memcpy(m->best, m->x, m->n * sizeof *m->best);
    }
    solver_record(m->call, m->of->recorded_error ? m->of->recorded_error(m->of->self) : error, m->psi);
}

static void accept_step(levenberg *m) {
    memcpy(m->x, m->next, m->n * sizeof *m->x);
    memcpy(m->r, m->next_r, m->n * sizeof *m->r);
    eval_iterate(m, true);
}

/* psi at m->next */
static double eval_next(levenberg *m) {
    m->of->residual(m->of->self, m->next, m->next_r);
    return half_square(m->n, m->next_r);
}

static void eval_jacobian(levenberg *m) {
    if (m->of->step) {
        m->of->linearise(m->of->self, m->x);
    } else {
        m->of->jacobian(m->of->self, m->x, m->J);
    }
}

/* dx for the present J */
static bool solve_step(levenberg *m, double lambda, double *range) {
    m->call->out->factorisations++;
    if (m->of->step) {
        return m->of->step(m->of->self, m->r, lambda, m->dx, range);
    }
    panels_watch watch = {m->call->out->stop, m->call->out->stop_context};
    return levenberg_step((int)m->n, m->J, m->r, lambda, m->work, m->dx, range, &watch);
}

/* image = J dx */
static void apply_jacobian(levenberg *m) {
    for (size_t i = 0; i < m->n && !m->of->step; i++) {
        m->image[i] = dense_dot((int)m->n, m->J + i * m->n, m->dx);
    }
    if (m->of->step) {
        m->of->jacobian_times(m->of->self, m->dx, m->image);
    }
}

/* |r + J dx|^2 / 2 */
static double eval_model(levenberg *m) {
    double sum = 0;
    apply_jacobian(m);
    for (size_t i = 0; i < m->n; i++) {
        sum += (m->r[i] + m->image[i]) * (m->r[i] + m->image[i]);
    }
    return 0.5 * sum;
}

/* Counts iterations without half of psi; false: too many. */
static bool makes_progress(levenberg *m) {
    stall_watch_update(&m->halving, m->psi);
    return m->of->max_stalled_iterations == 0 || m->halving.stalled < m->of->max_stalled_iterations;
}

static bool levenberg_continues(levenberg *m) {
    return !(m->error <= m->of->tolerance) && m->iteration < m->of->max_iterations && !solution_stopped(m->call->out);
}

static sim_outcome solve_regular(levenberg *m) {
    double lambda = fmax(MIN_LAMBDA, fmin(FIRST_LAMBDA, 2 * m->psi)), range;
    bool fresh = false;
    int standstills = 0;
    while (levenberg_continues(m)) {
        /* J at the present x; a rejected step keeps it */
        if (!fresh) {
            eval_jacobian(m);
            fresh = true;
        }
        /* trial step with the present lambda */
        m->iteration++;
        bool done = solve_step(m, lambda, &range);
        for (size_t i = 0; i < m->n; i++) {
            m->next[i] = m->x[i] + m->dx[i];
        }
        double psi = done ? eval_next(m) : HUGE_VAL, ratio = (psi - m->psi) / (eval_model(m) - m->psi);
        /* poor model: more damping */
        if (!(ratio >= POOR_RATIO)) {
            lambda *= LAMBDA_FACTOR;
        }
        /* psi falls: step accepted, less damping if the model is good */
        if (ratio > 0) {
            standstills = m->psi - psi > PSI_ROUNDING * m->psi ? 0 : standstills + 1;
            lambda = ratio > GOOD_RATIO ? fmax(lambda / LAMBDA_FACTOR, MIN_LAMBDA) : lambda;
            accept_step(m);
            fresh = false;
        }
        if (lambda > MAX_LAMBDA || standstills >= MAX_STANDSTILLS || !makes_progress(m)) {
            return SIM_STALLED;
        }
    }
    return SIM_AT_LIMIT;
}

/* x within the bound of unknown i */
static double clamp_unknown(const levenberg *m, size_t i, double x) {
    return i + (size_t)m->of->bounded >= m->n ? fmax(x, 0) : x;
}

/* Steps cut back to the bounds and to a box around x, while |r| falls. */
static void take_box_steps(levenberg *m) {
    double box = FIRST_BOX, range;
    for (int k = 0; k < MAX_PROJECTED_STEPS && levenberg_continues(m); k++) {
        /* Newton's step; damped where J is singular */
        eval_jacobian(m);
        m->iteration++;
        if (!solve_step(m, NEWTON_LAMBDA, &range) && !solve_step(m, 0.1, &range)) {
            return;
        }
        /* cut to the box and the bounds */
        for (size_t i = 0; i < m->n; i++) {
            m->next[i] = clamp_unknown(m, i, m->x[i] + fmin(fmax(m->dx[i], -box), box));
        }
        /* a good fall widens the box, a rise narrows it */
        double before = sqrt(2 * m->psi), after = sqrt(2 * eval_next(m));
        if (after < FALL_TO_WIDEN * before) {
            box *= 2;
        } else if (!(after <= RISE_TO_NARROW * before)) {
            box = fmax(0.5 * box, MIN_BOX);
        }
        if (!(after < before)) {
            return;
        }
        accept_step(m);
    }
}

typedef struct nonmonotone {
    double past[REMEMBERED_STEPS]; /* psi of the last iterates */
    int count, monotone;           /* number of them; iterations for which psi must still descend */
    stall_watch least;             /* of psi */
} nonmonotone;

/* Largest psi that a step may lead to, without the Armijo term. */
static double reference_psi(const nonmonotone *w, double psi) {
    for (int k = 0; k < w->count && w->monotone <= 0; k++) {
        psi = fmax(psi, w->past[k]);
    }
    return psi;
}

static void add_psi(nonmonotone *w, double psi) {
    w->past[w->count < REMEMBERED_STEPS
                ? w->count++
                : (memmove(w->past, w->past + 1, sizeof w->past - sizeof *w->past), REMEMBERED_STEPS - 1)] = psi;
    w->monotone -= w->monotone > 0;
    stall_watch_update_least(&w->least, psi);
}

/* Longest of the steps 1, 0.55, 0.55^2, ... that leads below the reference; 0: none. */
static double search_line(levenberg *m, const nonmonotone *w) {
    apply_jacobian(m);
    double slope = dense_dot((int)m->n, m->r, m->image);
    if (!(slope < 0)) {
        return 0;
    }
    double level = reference_psi(w, m->psi);
    for (double t = 1; t >= MIN_STEP; t *= BACKTRACK_FACTOR) {
        for (size_t i = 0; i < m->n; i++) {
            m->next[i] = m->x[i] + t * m->dx[i];
        }
        if (eval_next(m) <= level + ARMIJO_C1 * t * slope) {
            return t;
        }
    }
    return 0;
}

/* Step with lambda near 0; with larger ones where the search fails. */
static bool advance_projected(levenberg *m, const nonmonotone *w) {
    double range, t = 0;
    for (double lambda = NEWTON_LAMBDA; lambda <= MAX_ESCAPE_LAMBDA && t < MIN_USEFUL_STEP;
         lambda = fmax(100 * lambda, ESCAPE_LAMBDA)) {
        bool done = solve_step(m, lambda, &range);
        t = done && range * range <= MAX_CONDITION ? search_line(m, w) : 0;
    }
    return t > 0;
}

static sim_outcome solve_projected(levenberg *m) {
    nonmonotone w = {.monotone = FIRST_MONOTONE_STEPS, .least = stall_watch_start(PROGRESS_RATIO)};
    int rescued = 0;
    /* first steps within a box */
    take_box_steps(m);
    while (levenberg_continues(m)) {
        /* one step of the nonmonotone search, with a new J */
        double before = m->psi;
        eval_jacobian(m);
        m->iteration++;
        if (!advance_projected(m, &w)) {
            return SIM_STALLED;
        }
        accept_step(m);
        /* progress of psi and of the error */
        add_psi(&w, m->psi);
        bool standstill = fabs(before - m->psi) <= PSI_ROUNDING * before;
        if (!makes_progress(m)) {
            return SIM_STALLED;
        }
        /* stalled: restart from the best x, descending only */
        if (w.least.stalled >= MAX_STALLED_ITERATIONS || standstill) {
            if (rescued++ >= MAX_STANDSTILLS) {
                return SIM_STALLED;
            }
            memcpy(m->x, m->best, m->n * sizeof *m->x);
            eval_iterate(m, false);
            w = (nonmonotone){.monotone = MAX_STALLED_ITERATIONS,
                              .least = {.ratio = PROGRESS_RATIO, .reference = m->psi}};
        }
    }
    return SIM_AT_LIMIT;
}

bool levenberg_solve(const levenberg_problem *p, levenberg_kind kind, solver_call *call, double *x) {
    levenberg m;
    if (!init_levenberg(&m, p, call, x)) {
        return false;
    }
    memcpy(m.x, x, m.n * sizeof *x);
    eval_iterate(&m, false);
    sim_outcome end = kind == LEVENBERG_REGULAR ? solve_regular(&m) : solve_projected(&m);
    call->out->iterations = m.iteration;
    call->out->residual = m.error;
    call->out->outcome = m.error <= p->tolerance                              ? SIM_SOLVED
                         : !isfinite(m.error)                                 ? SIM_BROKEN_DOWN
                         : end == SIM_STALLED && m.error <= MAX_ROUNDED_ERROR ? SIM_AT_ROUNDING
                                                                              : end;
    call->out->reason = !isfinite(m.error)   ? SIM_REASON_NONFINITE
                        : end == SIM_STALLED ? SIM_REASON_MINIMUM
                                             : SIM_REASON_NONE;
    return true;
}
