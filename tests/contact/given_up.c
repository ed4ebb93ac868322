/* A step that its caller stops has never been: whenever that was, and for any number of threads. */
#include "math/v3.h"
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { TOWERS = 6, HEIGHT = 4, BODIES = TOWERS * HEIGHT, STEPS = 12 };

/* Says enough at the ask number `at`, and from then on; 0: never. */
typedef struct patience {
    atomic_int asked;
    int at;
    atomic_int rows, islands; /* the greatest that it was told of */
} patience;

static bool stop(void *context, const sim_effort *effort) {
    patience *p = context;
    if (effort->rows > atomic_load(&p->rows)) {
        atomic_store(&p->rows, effort->rows);
        atomic_store(&p->islands, effort->islands);
    }
    return atomic_fetch_add(&p->asked, 1) + 1 >= p->at && p->at > 0;
}

/* Towers of boxes that fall on one another. */
static yard towers(const char *solver, int threads) {
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(0.5));
    y.options.threads = threads;
    yard_ground(&y);
    for (int k = 0; k < BODIES; k++) {
        char name[16];
        snprintf(name, sizeof name, "box%d", k);
        v3 at = v3_make(k / HEIGHT, 0.01 * (k % HEIGHT), 0.101 + 0.202 * (k % HEIGHT));
        yard_add(&y, name, SIM_BOX, 0.2, 0.2, 0.2, 1, at, v3_make(0.1, 0, -0.5));
    }
    yard_open(&y, solver, SIM_MIDPOINT, 2e-3);
    return y;
}

static void expect_same(const yard *a, const yard *b, const char *when) {
    const sim_state *s = sim_world_state(a->world), *t = sim_world_state(b->world);
    cr_expect_eq(s->step, t->step);
    cr_expect_eq(s->ncontact, t->ncontact);
    cr_expect_eq(memcmp(s->q, t->q, (size_t)a->model->nq * sizeof *s->q), 0, "%s", when);
    cr_expect_eq(memcmp(s->v, t->v, (size_t)a->model->nv * sizeof *s->v), 0, "%s", when);
    cr_expect_eq(memcmp(s->held, t->held, (size_t)a->model->nv * sizeof *s->held), 0, "%s", when);
    if (s->ncontact) {
        cr_expect_eq(memcmp(s->impulse, t->impulse, (size_t)s->ncontact * sizeof *s->impulse), 0, "%s", when);
    }
}

Test(given_up, a_step_leaves_the_state_before_and_comes_out_the_same_afterwards) {
    static const char *const solvers[] = {"sap", "pgs", "canal", "subadmm", "auto", "nsn", "incp"};
    int given_up = 0;
    for (size_t s = 0; s < sizeof solvers / sizeof *solvers; s++) {
        for (int threads = 1; threads <= 3; threads += 2) {
            if (is_part() && (threads == 1) == s % 2) {
                continue; /* of a part each solver has one number of threads */
            }
            yard y = towers(solvers[s], threads), whole = towers(solvers[s], 1);
            patience p = {.at = 0};
            sim_watch watch = {stop, &p};
            for (int k = 0; k < STEPS; k++) {
                sim_error error = {0};
                p.at = 1 + k;
                atomic_store(&p.asked, 0);
                sim_world_watch(y.world, &watch);
                sim_status status = sim_world_step(y.world, &error);
                if (status) {
                    cr_expect(status == SIM_FAILED && strstr(error.text, "the caller stopped the step"), "%s",
                              error.text);
                    expect_same(&y, &whole, solvers[s]);
                    sim_world_watch(y.world, NULL);
                    cr_assert_eq(sim_world_step(y.world, &error), SIM_OK, "%s", error.text);
                    given_up++;
                }
                cr_assert_eq(sim_world_step(whole.world, &error), SIM_OK, "%s", error.text);
                expect_same(&y, &whole, solvers[s]);
            }
            cr_expect(p.rows >= 12 && p.islands <= TOWERS, "%s: %d rows, %d islands", solvers[s], p.rows, p.islands);
            yard_end(&y);
            yard_end(&whole);
        }
    }
    cr_expect_gt(given_up, is_part() ? 25 : 50);
}
