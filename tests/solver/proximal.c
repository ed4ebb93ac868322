/* The proximal point iteration: its rule of alpha, on a method that solves an outer iteration from some alpha on. */
#include "solver/core/proximal_point.h"

#include <criterion/criterion.h>
#include <math.h>

static const double CURVATURE = 1e-3; /* of the cost gamma^2 / 2, which an outer iteration minimises */

typedef struct method {
    proximal_point point;
    double least_alpha; /* from which on a step gains a decade ... */
    int hard;           /* ... in so many outer iterations; later any alpha does */
    double size, E;     /* of the map; of the iterate */
    double gamma, centre, least, before;
    double plain;    /* gamma without extrapolation */
    int outer, most; /* outer iterations */
} method;

static void begin(void *self) { ((method *)self)->outer++; }
static double eval_map(void *self) { return ((method *)self)->size; }
static void eval_error(void *self) { (void)self; }
static void record(void *self) { (void)self; }

static bool take_step(void *self) {
    method *m = self;
    bool solved = m->point.alpha >= m->least_alpha || m->outer > m->hard;
    double part = solved ? m->point.alpha / (m->point.alpha + CURVATURE) : 1;
    m->size *= solved ? 0.1 : 2;
    m->gamma = part * m->centre;
    m->plain *= part;
    return true;
}

static bool has_ended(void *self) {
    const method *m = self;
    return m->outer > m->most;
}

/* Outer iterations from a large alpha on, the first of them hard; the share of those that fail. */
static double failed_share(double least_alpha, int hard, int most, method *after) {
    sim_solution out = {0};
    method m = {.least_alpha = least_alpha, .hard = hard, .size = 1, .E = 1, .gamma = 1, .plain = 1, .most = most};
    m.point = (proximal_point){.self = &m,
                               .begin = begin,
                               .eval_map = eval_map,
                               .take_step = take_step,
                               .eval_error = eval_error,
                               .record = record,
                               .has_ended = has_ended,
                               .rows = 1,
                               .gamma = &m.gamma,
                               .centre = &m.centre,
                               .least = &m.least,
                               .before = &m.before,
                               .best_E = &m.E,
                               .out = &out,
                               .max_stalled = 1000};
    proximal_point_start(&m.point, 1);
    cr_assert_eq(proximal_point_iterate(&m.point), SIM_AT_LIMIT);
    *after = m;
    return (out.failures - 1) / (double)m.most; /* the last is cut short */
}

/* Without a floor alpha falls by 100 after each success, and grows by 4 after each failure: at least three of four outer
 * iterations fail.  An alpha that failed keeps the next ones above it for a while. */
Test(proximal, an_alpha_that_failed_is_not_tried_again_at_once) {
    method m;
    for (int k = 0; k < 4; k++) {
        double share = failed_share(pow(10, -k) / 3, 200, 200, &m);
        cr_expect_lt(share, 0.5, "from alpha %g on: %g of all fail", pow(10, -k) / 3, share);
        cr_expect_gt(share, 0, "alpha %g was never tried from below", pow(10, -k) / 3);
    }
}

/* The floor sinks: where all succeed again alpha reaches its least. */
Test(proximal, alpha_falls_where_nothing_fails) {
    method m;
    cr_expect_eq(failed_share(0, 5, 5, &m), 0);
    cr_expect_eq(m.gamma, m.plain, "extrapolated where alpha falls freely");
}

/* Each outer iteration takes a part off the distance from the solution, 0: the next begins nearer to it. */
Test(proximal, extrapolates_where_alpha_cannot_fall) {
    method m;
    failed_share(1.0 / 3, 200, 200, &m);
    cr_expect_lt(fabs(m.gamma), m.plain, "%g without, %g with", m.plain, m.gamma);
}

/* Once single steps succeed alpha falls by a decade each: the end of a hard problem takes no longer than that of an easy
 * one. */
Test(proximal, alpha_falls_by_decades_after_the_last_failure) {
    enum { HARD = 20, EASY = 12 };
    method m;
    cr_expect_gt(failed_share(1.0 / 3, HARD, HARD, &m), 0, "nothing was hard");
    cr_expect_gt(m.point.alpha, 0.01, "alpha was not held");
    failed_share(1.0 / 3, HARD, HARD + EASY, &m);
    cr_expect_lt(m.point.alpha, 1e-10, "alpha is %g still", m.point.alpha);
}
