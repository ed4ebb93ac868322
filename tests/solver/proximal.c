/* The proximal point iteration: its rule of alpha, on a method that solves an outer iteration from some alpha on. */
#include "solver/core/proximal_point.h"

#include <criterion/criterion.h>
#include <math.h>

typedef struct method {
    proximal_point point;
    double least_alpha; /* from which on a step gains a decade */
    double size, E;     /* of the map; of the iterate */
    double gamma, centre, least;
    int outer, most; /* outer iterations */
} method;

static void begin(void *self) { ((method *)self)->outer++; }
static double eval_map(void *self) { return ((method *)self)->size; }
static void eval_error(void *self) { (void)self; }
static void record(void *self) { (void)self; }

static bool take_step(void *self) {
    method *m = self;
    m->size *= m->point.alpha >= m->least_alpha ? 0.1 : 2;
    return true;
}

static bool has_ended(void *self) {
    const method *m = self;
    return m->outer > m->most;
}

/* The share of outer iterations that fail, from a large alpha on. */
static double failed_share(double least_alpha) {
    sim_solution out = {0};
    method m = {.least_alpha = least_alpha, .size = 1, .E = 1, .most = 200};
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
                               .best_E = &m.E,
                               .out = &out,
                               .max_stalled = 1000};
    proximal_point_start(&m.point, 1);
    cr_assert_eq(proximal_point_iterate(&m.point), SIM_AT_LIMIT);
    return (out.failures - 1) / (double)m.most; /* the last is cut short */
}

/* Without a floor alpha falls by 100 after each success, and grows by 4 after each failure: at least three of four outer
 * iterations fail.  An alpha that failed keeps the next ones above it for a while. */
Test(proximal, an_alpha_that_failed_is_not_tried_again_at_once) {
    for (int k = 0; k < 4; k++) {
        double share = failed_share(pow(10, -k) / 3);
        cr_expect_lt(share, 0.5, "from alpha %g on: %g of all fail", pow(10, -k) / 3, share);
        cr_expect_gt(share, 0, "alpha %g was never tried from below", pow(10, -k) / 3);
    }
}

/* The floor sinks: where all succeed again alpha reaches its least. */
Test(proximal, alpha_falls_where_nothing_fails) { cr_expect_eq(failed_share(0), 0); }
