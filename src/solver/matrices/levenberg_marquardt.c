/* How is r(x) = 0 solved where Newton's method would run away? (Levenberg, Marquardt; as in Mylapilli and Jain 2016)
 *
 *     psi(x) = |r|^2 / 2,    dx = argmin |J dx + r|^2 + lambda |dx|^2,
 *
 * in two ways:
 *
 *   regular     (their section 5) lambda grows where psi does not fall as the model J says, and shrinks where it does:
 *               ratio = (psi(x + dx) - psi(x)) / (model(x + dx) - psi(x));  below 0.3: lambda times 20;  above 0: the step
 *               is taken;  above 0.8: lambda over 20.  The first is 1e-3, or |r|^2 where a good guess makes that less
 *   projected   (after Kanzow and Petra 2004) first some steps cut back to the bounds and to a box that breathes; then
 *               lambda as good as 0 and a search along dx that may go uphill for a while, but not for long: if the best psi
 *               has not become better for 20 iterations, it starts again from there and goes downhill only.
 *
 * It stops on `error`, what the caller asks of x, not on psi.  What it hands out is the place where that was least, or as good as:
 * a later one counts if it errs less by a thousandth and psi there is no more than twice the least so far.  A minimum of psi that is
 * no root is told as such: stalled. */
#include "solver/matrices/levenberg_marquardt.h"
#include "math/dense.h"
#include "solver/core/stall.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* regular */
static const double FIRST = 1e-3, FACTOR = 20, LEAST = 1e-25, MOST = 1e12, LOW = 0.3, HIGH = 0.8;
/* projected */
static const double NEARLY_NONE = 1e-16, CONDITION = 1e25, ENOUGH = 1e-4, SHORTER = 0.55, SHORTEST = 1e-12,
                    SHORT = 1e-9, MOST_ESCAPE = 1, ESCAPE = 1e-4;
static const double BOX = 5, LEAST_BOX = 1, FELL = 0.95, GREW = 4.75;
enum { MEMORY = 10, MONOTONE = 5, PATIENCE = 20, PROJECTIONS = 20 };
static const double ROUNDED = 1e-12; /* an error that is as good as none */
/* Where there is no root, psi may fall towards its infimum for ever, and x grow: a little less is not worth that.  Nor is an
 * error, which is relative, where things move ever faster. */
static const double WORTH = 0.999, FAR = 2;
/* both: so often psi falls by no more than its rounding */
enum { STANDSTILLS = 5 };

typedef struct levenberg {
    const levenberg_problem *of;
    solver_call *call;
    size_t n;
    double *x, *r, *J, *work;           /* the present place */
    double *dx, *image, *next, *next_r; /* image: J dx */
    double *best;
    double psi, least, error; /* psi here, least psi; error of the best */
    stall_watch halving;      /* of psi */
    int iteration;
} levenberg;

static double half_square(size_t n, const double *r) { return 0.5 * dense_dot((int)n, r, r); }

static int make(levenberg *m, const levenberg_problem *p, solver_call *call, double *best) {
    size_t n = (size_t)p->n;
    *m = (levenberg){.of = p,
                     .call = call,
                     .n = n,
                     .best = best,
                     .least = HUGE_VAL,
                     .error = HUGE_VAL,
                     .halving = stall_watch_start(0.5)};
    m->J = arena_alloc(call->scratch, p->step ? 1 : n * n, sizeof *m->J);
    m->work = ARENA_NEW(call->scratch, double, p->step ? 1 : levenberg_work(p->n));
    double *vectors = ARENA_NEW(call->scratch, double, 6 * n);
    if (!m->J || !m->work || !vectors) {
        return 0;
    }
    m->x = vectors;
    m->r = vectors + n;
    m->dx = vectors + 2 * n;
    m->next = vectors + 3 * n;
    m->next_r = vectors + 4 * n;
    m->image = vectors + 5 * n;
    return 1;
}

/* Stand at m->x, whose r is known or not. */
static void arrive(levenberg *m, int known) {
    if (!known) {
        m->of->residual(m->of->self, m->x, m->r);
    }
    m->psi = half_square(m->n, m->r);
    double error = m->of->error(m->of->self, m->x);
    m->least = fmin(m->least, m->psi);
    if (error <= m->of->tolerance || (error < WORTH * m->error && m->psi <= FAR * m->least)) {
        m->error = error;
        memcpy(m->best, m->x, m->n * sizeof *m->best);
    }
    solver_record(m->call, m->of->told ? m->of->told(m->of->self) : error, m->psi);
}

static void go(levenberg *m) {
    memcpy(m->x, m->next, m->n * sizeof *m->x);
    memcpy(m->r, m->next_r, m->n * sizeof *m->r);
    arrive(m, 1);
}

static double look(levenberg *m) {
    m->of->residual(m->of->self, m->next, m->next_r);
    return half_square(m->n, m->next_r);
}

static void derive(levenberg *m) {
    if (m->of->step) {
        m->of->derive(m->of->self, m->x);
    } else {
        m->of->jacobian(m->of->self, m->x, m->J);
    }
}

/* dx by the J that was derived. */
static int step(levenberg *m, double lambda, double *range) {
    m->call->out->factorisations++;
    if (m->of->step) {
        return m->of->step(m->of->self, m->r, lambda, m->dx, range);
    }
    panels_watch watch = {m->call->out->stop, m->call->out->stop_context};
    return levenberg_step((int)m->n, m->J, m->r, lambda, m->work, m->dx, range, &watch);
}

static void apply(levenberg *m) {
    for (size_t i = 0; i < m->n && !m->of->step; i++) {
        m->image[i] = dense_dot((int)m->n, m->J + i * m->n, m->dx);
    }
    if (m->of->step) {
        m->of->along(m->of->self, m->dx, m->image);
    }
}

/* |r + J dx|^2 / 2 */
static double model(levenberg *m) {
    double sum = 0;
    apply(m);
    for (size_t i = 0; i < m->n; i++) {
        sum += (m->r[i] + m->image[i]) * (m->r[i] + m->image[i]);
    }
    return 0.5 * sum;
}

/* How long psi has not been halved. */
static int is_patient(levenberg *m) {
    stall_watch_update(&m->halving, m->psi);
    return m->of->patience == 0 || m->halving.stalled < m->of->patience;
}

/* Is there time for one more? */
static int goes_on(levenberg *m) {
    return !(m->error <= m->of->tolerance) && m->iteration < m->of->most && !solution_stopped(m->call->out);
}

static sim_outcome regular(levenberg *m) {
    double lambda = fmax(LEAST, fmin(FIRST, 2 * m->psi)), range;
    int fresh = 0, still = 0;
    while (goes_on(m)) {
        if (!fresh) {
            derive(m);
            fresh = 1;
        }
        m->iteration++;
        int done = step(m, lambda, &range);
        for (size_t i = 0; i < m->n; i++) {
            m->next[i] = m->x[i] + m->dx[i];
        }
        double psi = done ? look(m) : HUGE_VAL, ratio = (psi - m->psi) / (model(m) - m->psi);
        if (!(ratio >= LOW)) {
            lambda *= FACTOR;
        }
        if (ratio > 0) {
            still = m->psi - psi > 1e-14 * m->psi ? 0 : still + 1;
            lambda = ratio > HIGH ? fmax(lambda / FACTOR, LEAST) : lambda;
            go(m);
            fresh = 0;
        }
        if (lambda > MOST || still >= STANDSTILLS || !is_patient(m)) {
            return SIM_STALLED;
        }
    }
    return SIM_AT_LIMIT;
}

static double held(const levenberg *m, size_t i, double x) {
    return i + (size_t)m->of->bounded >= m->n ? fmax(x, 0) : x;
}

/* Steps cut back to the bounds and to a box around x, as long as they lead downhill. */
static void approach(levenberg *m) {
    double box = BOX, range;
    for (int k = 0; k < PROJECTIONS && goes_on(m); k++) {
        derive(m);
        m->iteration++;
        if (!step(m, NEARLY_NONE, &range) && !step(m, 0.1, &range)) {
            return;
        }
        for (size_t i = 0; i < m->n; i++) {
            m->next[i] = held(m, i, m->x[i] + fmin(fmax(m->dx[i], -box), box));
        }
        double before = sqrt(2 * m->psi), after = sqrt(2 * look(m));
        if (after < FELL * before) {
            box *= 2;
        } else if (!(after <= GREW * before)) {
            box = fmax(0.5 * box, LEAST_BOX);
        }
        if (!(after < before)) {
            return;
        }
        go(m);
    }
}

typedef struct watchdog {
    double past[MEMORY]; /* psi of the last places */
    int count, monotone; /* how many; so many iterations more it goes downhill only */
    stall_watch least;   /* of psi */
} watchdog;

static double reference(const watchdog *w, double psi) {
    for (int k = 0; k < w->count && w->monotone <= 0; k++) {
        psi = fmax(psi, w->past[k]);
    }
    return psi;
}

static void remember(watchdog *w, double psi) {
    w->past[w->count < MEMORY ? w->count++
                              : (memmove(w->past, w->past + 1, sizeof w->past - sizeof *w->past), MEMORY - 1)] = psi;
    w->monotone -= w->monotone > 0;
    stall_watch_update_least(&w->least, psi);
}

/* The longest of 1, 0.55, ... that leads below the reference; 0 if none does. */
static double search(levenberg *m, const watchdog *w) {
    apply(m);
    double slope = dense_dot((int)m->n, m->r, m->image);
    if (!(slope < 0)) {
        return 0;
    }
    double level = reference(w, m->psi);
    for (double t = 1; t >= SHORTEST; t *= SHORTER) {
        for (size_t i = 0; i < m->n; i++) {
            m->next[i] = m->x[i] + t * m->dx[i];
        }
        if (look(m) <= level + ENOUGH * t * slope) {
            return t;
        }
    }
    return 0;
}

/* Where the step with next to no lambda leads nowhere, one with more. */
static int advance(levenberg *m, const watchdog *w) {
    double range, t = 0;
    for (double lambda = NEARLY_NONE; lambda <= MOST_ESCAPE && t < SHORT; lambda = fmax(100 * lambda, ESCAPE)) {
        int done = step(m, lambda, &range);
        t = done && range * range <= CONDITION ? search(m, w) : 0;
    }
    return t > 0;
}

static sim_outcome projected(levenberg *m) {
    watchdog w = {.monotone = MONOTONE, .least = stall_watch_start(WORTH)};
    int rescued = 0;
    approach(m);
    while (goes_on(m)) {
        double before = m->psi;
        derive(m);
        m->iteration++;
        if (!advance(m, &w)) {
            return SIM_STALLED;
        }
        go(m);
        remember(&w, m->psi);
        int still = fabs(before - m->psi) <= 1e-14 * before;
        if (!is_patient(m)) {
            return SIM_STALLED;
        }
        if (w.least.stalled >= PATIENCE || still) {
            if (rescued++ >= STANDSTILLS) {
                return SIM_STALLED;
            }
            memcpy(m->x, m->best, m->n * sizeof *m->x);
            arrive(m, 0);
            w = (watchdog){.monotone = PATIENCE, .least = {.ratio = WORTH, .reference = m->psi}};
        }
    }
    return SIM_AT_LIMIT;
}

int levenberg_solve(const levenberg_problem *p, levenberg_kind kind, solver_call *call, double *x) {
    levenberg m;
    if (!make(&m, p, call, x)) {
        return 0;
    }
    memcpy(m.x, x, m.n * sizeof *x);
    arrive(&m, 0);
    sim_outcome end = kind == LEVENBERG_REGULAR ? regular(&m) : projected(&m);
    call->out->iterations = m.iteration;
    call->out->residual = m.error;
    call->out->outcome = m.error <= p->tolerance                    ? SIM_SOLVED
                         : !isfinite(m.error)                       ? SIM_BROKEN_DOWN
                         : end == SIM_STALLED && m.error <= ROUNDED ? SIM_AT_ROUNDING
                                                                    : end;
    call->out->reason = !isfinite(m.error)   ? SIM_REASON_NONFINITE
                        : end == SIM_STALLED ? SIM_REASON_MINIMUM
                                             : SIM_REASON_NONE;
    return 1;
}
