/* Two methods and two laws: where the laws say the same, so do SAP and Gauss-Seidel, which share no line of code. */
#include "support/answers.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>

static const double exact[] = {1e-13, 200, 0, 0};
static const double sweeps[] = {1e-13, 1e6, 1, 0, 0, 0, 1};

/* SAP's answer and that of Gauss-Seidel, with the same R and target. */
static void compare(const sim_problem *p, double R, double near_v, double near_gamma, const char *what) {
    answer a = answer_create(p, 1, 1e-3), b = answer_create(p, 1, 1e-3);
    double size_v = 1e-12, size_gamma = 1e-12;
    for (int k = 0; k < p->nrow; k++) {
        a.R[k] = b.R[k] = R > 0 ? R : a.R[k];
    }
    answer_find(&a, "sap", exact);
    answer_find(&b, "pgs", sweeps);
    for (int j = 0; j < p->nv; j++) {
        size_v = fmax(size_v, fabs(a.v[j]));
    }
    for (int k = 0; k < p->nrow; k++) {
        size_gamma = fmax(size_gamma, fabs(a.impulse[k]));
    }
    for (int j = 0; j < p->nv; j++) {
        cr_expect_float_eq(a.v[j], b.v[j], near_v * size_v, "%s: %g, not %g", what, b.v[j], a.v[j]);
    }
    for (int k = 0; k < p->nrow; k++) {
        cr_expect_float_eq(a.impulse[k], b.impulse[k], near_gamma * size_gamma, "%s: %g, not %g", what, b.impulse[k],
                           a.impulse[k]);
    }
    answer_free(&a);
    answer_free(&b);
}

Test(sap_pgs, agree_without_friction_on_velocities_and_impulses) {
    random_source r = {1};
    for (int trial = 0; trial < 20; trial++) {
        problem_recipe recipe = {
            .bodies = 4, .contacts = 10, .bias = 0.1, .kinds = trial % 2 ? 63 : 0, .impact = 1, .scatter = 0.6};
        sim_problem *p = random_problem(&r, &recipe);
        compare(p, trial % 4 > 1 ? 0.1 : 0, 1e-9, 1e-8, "no friction");
        sim_problem_free(p);
    }
}

Test(sap_pgs, agree_where_all_contacts_stick) {
    double mass[] = {1, 2, 0.5};
    for (int k = 0; k < 4; k++) {
        sim_problem *p = box_stack(3, mass, 0.9, 0.01, 0.5 * k);
        compare(p, pow(10, -k), 1e-8, 1e-8, "stick");
        sim_problem_free(p);
    }
}
