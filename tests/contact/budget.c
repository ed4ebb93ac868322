/* Budget of a step: iterations and time of the solver are limited, and the best iterate is applied. */
#include "math/v3.h"
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TOWERS = 4, HEIGHT = 4, BODIES = TOWERS * HEIGHT, STEPS = 40, SOLVERS = 5 };
static const char *const solvers[SOLVERS] = {"auto", "sap", "canal", "pgs", "subadmm"};
static const double step = 5e-3;

/* Towers of boxes that bounce, shear and fall apart: impacts have loops around the solver. */
static yard towers(const char *solver, sim_budget budget, int threads) {
    yard y = yard_begin(v3_make(0, 0, -9.81), (surface){.friction = 0.8, .stiffness = HUGE_VAL, .restitution = 0.4});
    y.options.threads = threads;
    y.options.budget = budget;
    yard_ground(&y);
    for (int k = 0; k < BODIES; k++) {
        char name[16];
        snprintf(name, sizeof name, "box%d", k);
        v3 at = v3_make(k / HEIGHT * 0.25, 0.02 * (k % HEIGHT), 0.15 + 0.21 * (k % HEIGHT));
        yard_add(&y, name, SIM_BOX, 0.2, 0.2, 0.2, 1, at, v3_make(0.2 * (k % HEIGHT), 0, -1));
    }
    yard_open(&y, solver, SIM_MIDPOINT, step);
    return y;
}

typedef struct course {
    int over, unsolved, most;
    double E, gained;
} course;

static course run(yard *y) {
    course c = {0};
    double first = energy_of(y);
    for (int k = 0; k < STEPS; k++) {
        sim_error error;
        cr_assert_eq(sim_world_step(y->world, &error), SIM_OK, "%s", error.text);
        const sim_step_info *info = sim_world_info(y->world);
        c.over += info->gave_up[SIM_REASON_BUDGET];
        c.unsolved += info->unsolved;
        c.most = info->solver_iterations > c.most ? info->solver_iterations : c.most;
        c.E = fmax(c.E, info->certificate.E);
        c.gained = fmax(c.gained, energy_of(y) - first);
    }
    return c;
}

/* The loops of restitution and of overlaps count, too.  Iterates that are no solutions gain no energy. */
Test(budget, iterations_of_an_island_are_limited_over_all_calls_of_the_solver) {
    for (int s = 0; s < part_of(SOLVERS); s++) {
        yard all = towers(solvers[s], (sim_budget){0}, 1);
        course whole = run(&all);
        for (int most = 2; most <= 20; most += 9) {
            yard y = towers(solvers[s], (sim_budget){.iterations = most}, 1);
            course c = run(&y);
            cr_log_info("%s, %d: over in %d, unsolved %d (%d without), E %.1e, gained %.1e J", solvers[s], most, c.over,
                        c.unsolved, whole.unsolved, c.E, c.gained);
            cr_expect_leq(c.most, most, "%s", solvers[s]);
            cr_expect(c.over > 0 && c.over <= c.unsolved, "%s: %d of %d", solvers[s], c.over, c.unsolved);
            cr_expect(isfinite(c.E) && c.E > 0, "%s: %g", solvers[s], c.E);
            cr_expect_leq(c.gained, 1e-6 * BODIES * 9.81, "%s gains %g J", solvers[s], c.gained);
            yard_end(&y);
        }
        cr_expect_gt(whole.most, 20, "%s: %d iterations are no test", solvers[s], whole.most);
        cr_expect_eq(whole.over, 0);
        yard_end(&all);
    }
}

static void expect_same_motion(const yard *a, const yard *b, const char *when) {
    const sim_state *s = sim_world_state(a->world), *t = sim_world_state(b->world);
    cr_expect_eq(memcmp(s->q, t->q, (size_t)a->model->nq * sizeof *s->q), 0, "%s", when);
    cr_expect_eq(memcmp(s->v, t->v, (size_t)a->model->nv * sizeof *s->v), 0, "%s", when);
}

Test(budget, iterations_give_the_same_bits_for_any_number_of_threads) {
    for (int s = 0; s < part_of(SOLVERS); s++) {
        yard one = towers(solvers[s], (sim_budget){.iterations = 4}, 1);
        run(&one);
        for (int threads = 2; threads <= 3; threads++) {
            yard more = towers(solvers[s], (sim_budget){.iterations = 4}, threads);
            run(&more);
            expect_same_motion(&one, &more, solvers[s]);
            yard_end(&more);
        }
        yard_end(&one);
    }
}

/* An hour changes no bit, with a clock that is read; an island exceeds its deadline by one iteration at most. */
Test(budget, time_ends_solves_and_leaves_others_as_they_are) {
    for (int s = 0; s < part_of(SOLVERS); s++) {
        yard all = towers(solvers[s], (sim_budget){0}, 1);
        yard hour = towers(solvers[s], (sim_budget){.time = 3600}, 2);
        yard none = towers(solvers[s], (sim_budget){.time = 1e-9}, 1);
        course whole = run(&all), same = run(&hour), short_of = run(&none);
        expect_same_motion(&all, &hour, solvers[s]);
        cr_expect_eq(same.over, 0);
        cr_expect_gt(short_of.over, 0, "%s", solvers[s]);
        cr_expect(short_of.most <= 1 && whole.most > 20, "%s: %d of %d", solvers[s], short_of.most, whole.most);
        cr_log_info("%s: %d iterations at most, %d in no time", solvers[s], whole.most, short_of.most);
        cr_expect_leq(short_of.gained, 1e-6 * BODIES * 9.81, "%s gains %g J", solvers[s], short_of.gained);
        yard_end(&all);
        yard_end(&hour);
        yard_end(&none);
    }
}

Test(budget, negative_ones_are_refused) {
    yard y = towers("auto", (sim_budget){0}, 1);
    sim_options o = *sim_world_options(y.world);
    for (int k = 0; k < 3; k++) {
        sim_error error = {0};
        o.budget = (sim_budget){.iterations = k == 0 ? -1 : 0, .time = k == 1 ? -1 : k == 2 ? NAN : 0};
        cr_expect_null(sim_world_create(y.model, &o, &error));
        cr_expect(strstr(error.text, "budget"), "%s", error.text);
    }
    yard_end(&y);
}
