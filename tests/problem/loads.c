/* Loads of contacts one by one, as derivatives ask for them: those of the law, in whatever order they are asked. */
#include "problem/laws.h"
#include "support/judged.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/solver.h>
#include <stdlib.h>

/* Four contacts between two bodies share a mean impulse, and all the fastest strike. */
static void expect_loads_of_the_law(const sim_problem *p, const double *W, const double *R) {
    sim_law_options o = sim_law_options_default();
    load_scan in_order = law_scan_loads(p, &o), backwards = in_order;
    const double *block = W;
    int loaded = 0;
    for (int i = 0; i < p->nconstraint; i++, block += 9) {
        load_scan anew = law_scan_loads(p, &o);
        contact_load a = law_contact_load(p, &o, &in_order, i, block, 0);
        contact_load b = law_contact_load(p, &o, &anew, i, block, 0);
        int last = p->nconstraint - 1 - i;
        law_contact_load(p, &o, &backwards, last, W + (ptrdiff_t)9 * last, 0);
        contact_load c = law_contact_load(p, &o, &backwards, i, block, 0);
        bool floored;
        double w = law_normal_inverse_mass(3, block, &floored);
        cr_expect_eq(a.first, i / 4 * 4);
        cr_expect_eq(a.end, i / 4 * 4 + 4);
        cr_expect(a.stiffer == b.stiffer && a.impulse == b.impulse && a.first == b.first && a.end == b.end);
        cr_expect(a.stiffer == c.stiffer && a.impulse == c.impulse && a.first == c.first && a.end == c.end);
        cr_expect_float_eq(R[3 * i + 2] * a.stiffer, o.beta * o.beta * w / (4 * M_PI * M_PI), 1e-12 * w, "contact %d",
                           i);
        loaded += a.stiffer > 1;
    }
    cr_expect_geq(loaded, 8, "%d loaded", loaded);
}

Test(loads, one_by_one_are_those_of_the_law) {
    static const double mass[] = {1, 2, 3, 200};
    random_source r = {3};
    sim_error error = {0};
    sim_problem *owned = box_stack(4, mass, 0.5, 0.01, 0), p = *owned;
    double *guess = calloc((size_t)p.nrow, sizeof *guess), *R = calloc((size_t)p.nrow, sizeof *R);
    double *target = calloc((size_t)p.nrow, sizeof *target), *W = calloc(sim_delassus_diagonal_size(&p), sizeof *W);
    cr_assert(guess && R && target && W);
    for (int i = 0; i < p.nconstraint; i++) {
        guess[3 * i + 2] = random_uniform(&r, 0, 4);
    }
    p.impulse_guess = guess;
    sim_law_options o = sim_law_options_default();
    cr_assert_eq(sim_delassus_diagonal(&p, W, &error), SIM_OK);
    sim_regularise(&p, SIM_ELASTIC, &o, W, R, target);
    expect_loads_of_the_law(&p, W, R);
    free(guess);
    free(R);
    free(target);
    free(W);
    sim_problem_free(owned);
}
