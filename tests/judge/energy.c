/* The energy that a solution creates, written out plainly on dense matrices: T - T**, and the work of the targets. */
#include "solver/core/products.h"
#include "support/judged.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_active(const sim_constraint *c) { return c->kind == SIM_SPRING || c->kind == SIM_ACTUATOR; }

/* T = v . A v / 2 */
static double kinetic(const sim_problem *p, const double *v) {
    double T = 0, *Av = calloc((size_t)p->nv, sizeof *Av);
    for (int t = 0; t < p->ntree; t++) {
        p->mass.times(p->mass.self, t, v + p->tree[t].v0, Av + p->tree[t].v0);
    }
    for (int j = 0; j < p->nv; j++) {
        T += v[j] * Av[j] / 2;
    }
    free(Av);
    return T;
}

/* v** = v* + A^-1 J_a' gamma_a: free motion with springs and actuators. */
static void driven_motion(const sim_problem *p, const double *gamma, double *v) {
    double *active = calloc((size_t)p->nrow, sizeof *active);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (is_active(c)) {
            memcpy(active + c->row, gamma + c->row, (size_t)c->rows * sizeof *gamma);
        }
    }
    velocity_after(p, active, v);
    free(active);
}

/* Work of the targets of equalities and of stops, gamma . (target - offset). */
static void target_work(const sim_problem *p, const double *target, const double *gamma, double *stops, double *rest) {
    *stops = *rest = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        int normal = c->row + (c->kind == SIM_CONTACT ? 2 : 0);
        if (c->kind == SIM_CONTACT || c->kind == SIM_LIMIT) {
            *stops += gamma[normal] * fmax(target[normal] - p->offset[normal], 0);
        }
        for (int k = c->row; c->kind == SIM_EQUALITY && k < c->row + c->rows; k++) {
            *rest += gamma[k] * (target[k] - p->offset[k]);
        }
    }
}

typedef struct energies {
    double gain, size, stops, rest; /* J */
} energies;

static energies plain_energies(const sim_problem *p, const double *v, const double *gamma) {
    double *R = calloc(2 * (size_t)p->nrow, sizeof *R), *target = R + p->nrow;
    double *driven = calloc(2 * (size_t)p->nv, sizeof *driven), *both = driven + p->nv;
    sim_law_options options = sim_law_options_default();
    sim_regularise(p, SIM_RIGID, &options, NULL, R, target);
    driven_motion(p, gamma, driven);
    for (int j = 0; j < p->nv; j++) {
        both[j] = v[j] + driven[j];
    }
    energies e = {.gain = kinetic(p, v) - kinetic(p, driven), .size = kinetic(p, both) / 2};
    target_work(p, target, gamma, &e.stops, &e.rest);
    free(R);
    free(driven);
    return e;
}

Test(judge_energy, gained_is_the_difference_to_motion_with_springs_and_actuators_alone) {
    random_source r = {21};
    for (int n = 0; n < 200; n++) {
        problem_recipe recipe = {
            .bodies = 3, .chain = n % 2 ? 9 : 0, .contacts = 5, .friction = 0.5, .bias = 0.3, .impact = 1};
        recipe.kinds = (1 << SIM_CONSTRAINT_KINDS) - 1;
        sim_problem *p = random_problem(&r, &recipe);
        double *g = calloc((size_t)p->nrow, sizeof *g), *v = calloc((size_t)p->nv, sizeof *v);
        for (int k = 0; k < p->nrow; k++) {
            g[k] = random_normal(&r);
        }
        for (int j = 0; j < p->nv; j++) {
            v[j] = random_normal(&r);
        }
        energies right = plain_energies(p, v, g);
        sim_judgement judgement = judgement_of(p, NULL, SIM_CONE_STRICT, v, g);
        sim_energy_gain e = sim_judgement_gain(&judgement);
        double slack = 1e-11 * (right.size + fabs(right.gain));
        cr_expect_float_eq(e.gain, right.gain, slack, "%d: gain %g J, not %g J", n, e.gain, right.gain);
        cr_expect_float_eq(e.size, right.size, slack, "%d: size %g J, not %g J", n, e.size, right.size);
        cr_expect_float_eq(e.stops, right.stops, 1e-12 * (1 + fabs(right.stops)), "%d: stops %g J", n, e.stops);
        free(g);
        free(v);
        sim_problem_free(p);
    }
}

/* A mass of 2 kg at rest on a line, whose equality asks u + w = 0 with w = -1 m/s: right is u = 1 m/s, gamma = 2 N s.
 * The drive gives gamma times 1 m/s = 2 J, of which 1 J is motion. */
static sim_energy_gain driven_line(double gamma, double *excess) {
    sim_problem_tree tree = {0, 1};
    sim_constraint c = {.kind = SIM_EQUALITY, .rows = 1, .tree = {0, -1}, .stiffness = INFINITY};
    double A = 2, J = 1, gap = 0, rest = 0, offset = -1;
    sim_problem parts = {.step = 0.01,
                         .ntree = 1,
                         .nv = 1,
                         .nconstraint = 1,
                         .nrow = 1,
                         .tree = &tree,
                         .constraint = &c,
                         .gap = &gap,
                         .offset = &offset,
                         .J = &J,
                         .v_free = &rest,
                         .v_start = &rest};
    sim_error error = {0};
    sim_problem *p = sim_problem_create(&parts, &A, &error);
    cr_assert_not_null(p, "%s", error.text);
    sim_judgement judgement = judgement_of(p, NULL, SIM_CONE_STRICT, NULL, &gamma);
    *excess = sim_judgement_finish(&judgement).excess;
    sim_problem_free(p);
    return sim_judgement_gain(&judgement);
}

Test(judge_energy, that_a_driven_equality_gives_is_no_excess_and_what_is_beyond_is) {
    double excess;
    sim_energy_gain e = driven_line(2, &excess);
    cr_expect_float_eq(e.gain, 1, 1e-14, "%g J", e.gain);
    cr_expect_float_eq(e.equalities, 2, 1e-14, "%g J", e.equalities);
    cr_expect_eq(excess, 0, "%g J", excess);
    e = driven_line(6, &excess); /* u = 3 m/s: 9 J, of which the drive gave 6 J */
    cr_expect_float_eq(e.gain, 9, 1e-14, "%g J", e.gain);
    cr_expect_float_eq(excess, 3, 1e-14, "%g J", excess);
}
