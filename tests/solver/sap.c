/* SAP: its answers are the solutions of the convex problem, to rounding, and it finds them from anywhere. */
#include "support/answers.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, LINE_SEARCH, FACTORISATION };
static const double exact[] = {1e-13, 200, 0, 0, 1e4, 1};
static const int all_kinds = (1 << SIM_CONSTRAINT_KINDS) - 1;

static problem_recipe hard(int bodies, int contacts, double friction, int kinds) {
    return (problem_recipe){.bodies = bodies,
                            .contacts = contacts,
                            .chain = kinds ? 18 : 0,
                            .friction = friction,
                            .bias = 0.1,
                            .kinds = kinds,
                            .impact = 1,
                            .scatter = 0.6};
}

/* The size of what gamma . s and the cones are made of. */
static void check_exact(answer *a, const char *what) {
    answer_errors e = answer_check(a);
    double most_s = 1e-300, most_g = 1e-300;
    for (int k = 0; k < a->problem->nrow; k++) {
        most_s = fmax(most_s, fabs(a->s[k]) + fabs(a->target[k]));
        most_g = fmax(most_g, fabs(a->impulse[k]));
    }
    cr_expect_leq(a->out.outcome, SIM_AT_ROUNDING, "%s: %s", what, sim_outcome_name(a->out.outcome));
    cr_expect_lt(e.momentum, 3e-12, "%s: momentum %g", what, e.momentum);
    cr_expect_lt(e.cone, 1e-14 * fmax(1, most_g), "%s: cone %g", what, e.cone);
    cr_expect_lt(e.dual, 1e-13 * fmax(1, most_s), "%s: dual %g", what, e.dual);
    cr_expect_lt(e.work, 1e-13 * fmax(1, most_g * most_s), "%s: work %g", what, e.work);
}

/* The optimality conditions of a convex problem: who meets them all has the solution, whatever way led there. */
Test(sap, answers_hard_problems_of_every_kind_of_row_exactly) {
    static const int size[][2] = {{3, 4}, {4, 10}, {1, 8}, {10, 40}};
    static const double friction[] = {0, 0.1, 0.5, 1, 2};
    random_source r = {1};
    int worst = 0, sum = 0, count = 0;
    for (int kinds = 0; kinds < 2; kinds++) {
        for (int k = 0; k < 4; k++) {
            for (int f = 0; f < 5; f++) {
                for (int trial = 0; trial < 20; trial++) {
                    problem_recipe recipe = hard(size[k][0], size[k][1], friction[f], kinds ? all_kinds : 0);
                    sim_problem *p = random_problem(&r, &recipe);
                    answer a = answer_create(p, 1, 1e-3);
                    answer_find(&a, "sap", exact);
                    check_exact(&a, "hard");
                    worst = a.out.iterations > worst ? a.out.iterations : worst;
                    sum += a.out.iterations;
                    count++;
                    answer_free(&a);
                    sim_problem_free(p);
                }
            }
        }
    }
    cr_log_warn("%d hard problems: %.1f iterations in the mean, %d at most", count, (double)sum / count, worst);
}

Test(sap, is_faithful_from_light_friction_to_stiff_contact_with_both_line_searches) {
    random_source r = {2};
    for (int decade = -6; decade <= 0; decade++) {
        for (int search = 0; search < 2; search++) {
            problem_recipe recipe = hard(4, 10, 0.8, all_kinds);
            double option[] = {1e-13, 400, search, 0, 1e4, 1};
            sim_problem *p = random_problem(&r, &recipe);
            answer a = answer_create(p, pow(10, 0.5 * decade), pow(10, decade));
            answer_find(&a, "sap", option);
            answer_errors e = answer_check(&a);
            /* rounding in u counts 1 / R times over in the impulses */
            cr_expect_leq(a.out.outcome, SIM_AT_ROUNDING, "sigma 1e%d, search %d: %s after %d at %g", decade, search,
                          sim_outcome_name(a.out.outcome), a.out.iterations, a.out.residual);
            cr_expect_lt(e.momentum, 1e-12 * pow(10, -0.9 * decade), "sigma 1e%d: %g", decade, e.momentum);
            answer_free(&a);
            sim_problem_free(p);
        }
    }
}

Test(sap, lowers_the_cost_at_every_step_and_squares_the_error_at_the_end) {
    random_source r = {3};
    for (int search = 0; search < 2; search++) {
        int tails = 0;
        for (int trial = 0; trial < 40; trial++) {
            problem_recipe recipe = hard(6, 20, 0.5, 0);
            double option[] = {1e-13, 200, search, 0, 1e4, 1};
            sim_problem *p = random_problem(&r, &recipe);
            answer a = answer_create(p, 1, 1e-3);
            answer_find(&a, "sap", option);
            const double *e = a.history.residual;
            int n = a.history.count;
            cr_assert_eq(n, a.out.iterations + 1);
            for (int k = 1; k < n; k++) {
                cr_expect_leq(a.history.cost[k], a.history.cost[k - 1] * (1 + 1e-14));
                /* once in the basin, the exponent doubles */
                tails += e[k - 1] < 1e-3 && e[k - 1] > 1e-7 && e[k] < 1e4 * e[k - 1] * e[k - 1];
            }
            answer_free(&a);
            sim_problem_free(p);
        }
        cr_expect_gt(tails, 30, "%d quadratic steps", tails);
    }
}

Test(sap, finds_the_same_velocities_from_anywhere) {
    random_source r = {4};
    for (int trial = 0; trial < 10; trial++) {
        problem_recipe recipe = hard(4, 12, 0.7, all_kinds);
        sim_problem *p = random_problem(&r, &recipe);
        answer a = answer_create(p, 1, 1e-3);
        answer_find(&a, "sap", exact);
        double *guess = malloc((size_t)p->nv * sizeof *guess);
        for (int start = 0; start < 10; start++) {
            for (int j = 0; j < p->nv; j++) {
                guess[j] = pow(10, start - 5) * random_normal(&r);
            }
            sim_problem from = *p;
            from.v_guess = guess;
            answer b = answer_create(&from, 1, 1e-3);
            answer_find(&b, "sap", exact);
            cr_expect_lt(distance_between(a.v, b.v, p->nv), 1e-8 * norm_of(a.v, p->nv), "%g",
                         distance_between(a.v, b.v, p->nv));
            answer_free(&b);
        }
        free(guess);
        answer_free(&a);
        sim_problem_free(p);
    }
}

/* From afar such stiff rows are come to in many steps, by way of softer ones; from one step of time ago they need
 * not. */
Test(sap, finds_a_stiff_answer_from_nearby_in_few_steps) {
    random_source r = {15};
    for (int trial = 0; trial < 10; trial++) {
        problem_recipe recipe = hard(5, 15, 0.8, all_kinds);
        sim_problem *p = random_problem(&r, &recipe), from = *p;
        answer a = answer_create(p, 1e-3, 1e-6), b = answer_create(p, 1e-3, 1e-6);
        answer_find(&a, "sap", NULL);
        double *guess = malloc((size_t)p->nv * sizeof *guess);
        for (int j = 0; j < p->nv; j++) {
            guess[j] = a.v[j] + 1e-7 * random_normal(&r);
        }
        from.v_guess = guess;
        b.problem = &from;
        answer_find(&b, "sap", NULL);
        cr_expect_eq(b.out.outcome, SIM_SOLVED);
        cr_expect(b.out.iterations <= 10 && 2 * b.out.iterations < a.out.iterations, "%d steps, %d from afar",
                  b.out.iterations, a.out.iterations);
        cr_expect_lt(distance_between(a.v, b.v, p->nv), 1e-5 * norm_of(a.v, p->nv));
        free(guess);
        answer_free(&a);
        answer_free(&b);
        sim_problem_free(p);
    }
}

Test(sap, needs_no_iteration_where_it_starts_at_the_answer) {
    random_source r = {5};
    problem_recipe recipe = hard(5, 15, 0.5, all_kinds);
    sim_problem *p = random_problem(&r, &recipe);
    answer a = answer_create(p, 1, 1e-3);
    answer_find(&a, "sap", exact);
    sim_problem from = *p;
    from.v_guess = a.v;
    answer b = answer_create(&from, 1, 1e-3);
    answer_find(&b, "sap", NULL);
    cr_expect_eq(b.out.iterations, 0);
    cr_expect_eq(b.out.factorisations, 0);
    cr_expect_eq(b.out.outcome, SIM_SOLVED);
    cr_expect_arr_eq(a.v, b.v, (size_t)p->nv * sizeof *a.v);
    cr_expect_arr_eq(a.impulse, b.impulse, (size_t)p->nrow * sizeof *a.v);
    answer_free(&a);
    answer_free(&b);
    sim_problem_free(p);
}

/* With all bounds known, what is left is linear: A v - J' gamma = A v*, J v + R gamma = target for the rows that
 * move. */
Test(sap, agrees_with_a_dense_solution_of_the_conditions_of_all_scalar_rows) {
    random_source r = {7};
    for (int trial = 0; trial < 40; trial++) {
        problem_recipe recipe = hard(3, trial % 2 ? 6 : 0, 0, all_kinds);
        sim_problem *p = random_problem(&r, &recipe);
        answer a = answer_create(p, 1, 1e-3);
        answer_find(&a, "sap", exact);
        int nv = p->nv, n = nv + p->nrow;
        double *K = calloc((size_t)n * n, sizeof *K), *x = calloc((size_t)n, sizeof *x);
        for (int t = 0; t < p->ntree; t++) {
            int size = p->tree[t].nv, v0 = p->tree[t].v0;
            double *A = malloc((size_t)size * size * sizeof *A);
            p->mass.matrix(p->mass.self, t, A);
            for (int i = 0; i < size; i++) {
                for (int j = 0; j < size; j++) {
                    K[(v0 + i) * n + v0 + j] = A[i * size + j];
                    x[v0 + i] += A[i * size + j] * p->v_free[v0 + j];
                }
            }
            free(A);
        }
        for (int i = 0; i < p->nconstraint; i++) {
            const sim_constraint *c = &p->constraint[i];
            double bound = c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR ? p->step * c->bound : HUGE_VAL;
            for (int k = 0; k < c->rows; k++) {
                int row = c->row + k, free_contact = c->kind == SIM_CONTACT && k < 2;
                double g = a.impulse[row];
                int held = free_contact || fabs(g) >= bound || ((c->kind == SIM_LIMIT || k == 2) && g <= 0);
                for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
                    const sim_problem_tree *t = &p->tree[c->tree[side]];
                    for (int j = 0; j < t->nv; j++) {
                        double J = p->J[c->block[side] + k * t->nv + j];
                        K[(t->v0 + j) * n + nv + row] = -J;
                        K[(nv + row) * n + t->v0 + j] = held ? 0 : J;
                    }
                }
                K[(nv + row) * n + nv + row] = held ? 1 : a.R[row];
                x[nv + row] = held ? g : a.target[row] - p->offset[row];
            }
        }
        answer_eliminate(n, K, x);
        cr_expect_lt(distance_between(x, a.v, nv), 1e-9 * norm_of(x, nv), "%g", distance_between(x, a.v, nv));
        cr_expect_lt(distance_between(x + nv, a.impulse, p->nrow), 1e-8 * norm_of(a.impulse, p->nrow));
        check_exact(&a, "scalar rows"); /* and the rows taken as held are rightly so */
        free(K);
        free(x);
        answer_free(&a);
        sim_problem_free(p);
    }
}

Test(sap, takes_nothing_over_from_a_problem_of_the_same_structure) {
    double mass[] = {1, 2, 0.5}, other[] = {3, 0.1, 7};
    sim_problem *p = box_stack(3, mass, 0.9, 0.01, 1), *q = box_stack(3, other, 0.9, 0.01, 1);
    for (int method = 0; method < 4; method++) {
        double option[] = {1e-12, 100, 0, method, 1e4, 1};
        answer a = answer_create(p, 1, 1e-3), b = answer_create(q, 1, 1e-3), again = answer_create(p, 1, 1e-3);
        for (int k = 0; k < p->nrow; k++) { /* the same G, that is, where they stick */
            a.R[k] = b.R[k] = again.R[k] = 1e-2;
        }
        answer_find(&a, "sap", option);
        sim_solver *s = sim_solver_create(sim_solver_find("sap"), option, NULL);
        b.out = (sim_solution){.v = b.v, .impulse = b.impulse};
        again.out = (sim_solution){.v = again.v, .impulse = again.impulse};
        cr_assert_eq(sim_solver_solve(s, q, &b.law, &b.out, NULL), SIM_OK);
        cr_assert_eq(sim_solver_solve(s, p, &again.law, &again.out, NULL), SIM_OK);
        cr_expect_arr_eq(a.v, again.v, (size_t)p->nv * sizeof *a.v);
        cr_expect_eq(a.out.iterations, again.out.iterations);
        sim_solver_free(s);
        answer_free(&a);
        answer_free(&b);
        answer_free(&again);
    }
    sim_problem_free(p);
    sim_problem_free(q);
}

/* A rigid sticking contact does not move at all: the slip is in proportion to the compliance. */
Test(sap, tends_to_the_rigid_answer_as_compliance_goes_to_nothing) {
    double mass[] = {1, 2, 0.5};
    sim_problem *p = box_stack(3, mass, 0.6, 0.01, 2);
    double last = 0;
    for (int decade = 0; decade < 6; decade++) {
        answer a = answer_create(p, 1, 1e-3);
        for (int k = 0; k < p->nrow; k++) {
            a.R[k] = pow(10, -decade - 1);
        }
        answer_find(&a, "sap", exact);
        double speed = norm_of(a.v, p->nv);
        cr_expect(decade < 4 || fabs(10 * speed / last - 1) < 0.01, "%g after %g", speed, last);
        last = speed;
        answer_free(&a);
    }
    cr_expect_lt(last, 1e-6);
    sim_problem_free(p);
}

Test(sap, reports_the_momentum_out_of_balance_wherever_it_stops) {
    random_source r = {13};
    for (int trial = 0; trial < 40; trial++) {
        problem_recipe recipe = hard(4, 10, 0.1 * (trial % 7), 0);
        double option[] = {1e-12, 1 + trial % 5, 0, 0, 1e4, 1};
        sim_problem *p = random_problem(&r, &recipe);
        /* seen from where all move on, or stand still: then momentum or impulses are the greater */
        double *drift = calloc((size_t)p->nv, sizeof *drift);
        memcpy(drift, p->v_free, (size_t)p->nv * sizeof *drift);
        for (int j = 0; j < p->nv && trial % 4 > 1; j++) {
            drift[j] += 20;
        }
        sim_problem moved = *p;
        moved.v_free = drift;
        answer a = answer_create(&moved, 1, 1e-3);
        answer_find(&a, "sap", option);
        answer_errors e = answer_check(&a);
        cr_expect_float_eq(a.out.residual, e.momentum, 1e-9 * e.momentum + 1e-14, "%g, not %g", a.out.residual,
                           e.momentum);
        free(drift);
        answer_free(&a);
        sim_problem_free(p);
    }
}

Test(sap, carries_a_stack_with_ten_thousand_times_the_mass_on_top) {
    for (int light = 1; light <= 8; light++) {
        double mass[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
        mass[light] = 1e4;
        sim_problem *p = box_stack(light + 1, mass, 0.5, 1.0 / 240, 100);
        answer a = answer_create(p, 1, 1e-3);
        answer_find(&a, "sap", exact);
        answer_errors e = answer_check(&a);
        cr_expect_leq(a.out.outcome, SIM_AT_ROUNDING);
        cr_expect_lt(e.momentum, 1e-11, "%g", e.momentum);
        cr_expect_leq(a.out.iterations, 30, "%d", a.out.iterations);
        answer_free(&a);
        sim_problem_free(p);
    }
}

Test(sap, says_when_iterations_run_out_and_when_rounding_ends_them) {
    random_source r = {11};
    problem_recipe recipe = hard(6, 20, 0.5, 0);
    sim_problem *p = random_problem(&r, &recipe);
    answer a = answer_create(p, 1, 1e-3);
    double few[] = {1e-12, 2, 0, 0, 1e4, 1}, impossible[] = {0, 1000, 0, 0, 1e4, 1};
    answer_find(&a, "sap", few);
    cr_expect_eq(a.out.outcome, SIM_AT_LIMIT);
    cr_expect_eq(a.out.iterations, 2);
    cr_expect_gt(a.out.residual, 1e-12);
    answer_find(&a, "sap", impossible);
    answer_errors e = answer_check(&a);
    cr_expect(a.out.outcome == SIM_AT_ROUNDING || a.out.residual == 0, "%s", sim_outcome_name(a.out.outcome));
    cr_expect_lt(a.out.residual, 1e-12);
    cr_expect_float_eq(a.out.residual, e.momentum, 1e-13);
    cr_expect_lt(a.out.iterations, 40);
    answer_free(&a);
    sim_problem_free(p);
}

/* The rigid law's data: rows that yield nothing. */
Test(sap, answers_rows_without_compliance_as_nearly_rigid_ones) {
    random_source r = {12};
    for (int trial = 0; trial < 20; trial++) {
        problem_recipe recipe = hard(4, 4, 0.5, 0); /* one contact a body: the answer is unique */
        sim_problem *p = random_problem(&r, &recipe);
        answer a = answer_create(p, 1, 1e-3);
        memset(a.R, 0, (size_t)p->nrow * sizeof *a.R);
        answer_find(&a, "sap", NULL);
        answer_errors e = answer_check(&a);
        cr_expect_leq(a.out.outcome, SIM_AT_ROUNDING);
        cr_expect_lt(e.momentum, 1e-6, "%g", e.momentum);
        cr_expect_lt(e.dual, 1e-6, "%g", e.dual);
        cr_expect_lt(e.work, 1e-6, "%g", e.work);
        answer_free(&a);
        sim_problem_free(p);
    }
}

Test(sap, takes_springs_that_are_mere_forces) {
    random_source r = {14};
    for (int trial = 0; trial < 10; trial++) {
        problem_recipe recipe = hard(3, 6, 0.5, 1 << SIM_SPRING | 1 << SIM_ACTUATOR);
        sim_problem *p = random_problem(&r, &recipe), slack = *p;
        sim_constraint c[16];
        memcpy(c, p->constraint, (size_t)p->nconstraint * sizeof *c);
        for (int i = 6; i < p->nconstraint; i++) {
            c[i].stiffness = c[i].damping = 0;
        }
        slack.constraint = c;
        answer a = answer_create(&slack, 1, 1e-3);
        answer_find(&a, "sap", exact);
        answer_errors e = answer_check(&a);
        cr_expect_leq(a.out.outcome, SIM_AT_ROUNDING);
        cr_expect_lt(e.momentum, 3e-12);
        for (int i = 6; i < p->nconstraint; i++) {
            double force = c[i].force, bound = c[i].kind == SIM_ACTUATOR ? c[i].bound : HUGE_VAL;
            cr_expect_float_eq(a.impulse[c[i].row], p->step * fmin(fmax(force, -bound), bound), 1e-15);
        }
        for (int m = 1; m < a.history.count; m++) {
            cr_expect_leq(a.history.cost[m], a.history.cost[m - 1] + 1e-13 * fabs(a.history.cost[m - 1]));
        }
        answer_free(&a);
        sim_problem_free(p);
    }
}

Test(sap, refuses_a_compliance_that_is_none) {
    double down[3] = {0, 0, -1};
    sim_problem *p = point_on_ground(1, 0.5, 0, 0.01, down);
    answer a = answer_create(p, 1, 1e-3);
    for (int k = 0; k < 3; k++) {
        double bad[] = {-1, NAN, 1e3};
        a.R[0] = bad[k];
        answer_find(&a, "sap", NULL);
        cr_expect_eq(a.out.outcome, SIM_BROKEN_DOWN);
        cr_expect(isfinite(norm_of(a.v, 3)) && isfinite(norm_of(a.impulse, 3)));
    }
    answer_free(&a);
    sim_problem_free(p);
}

/* The cost allowed to its factors bounds the steps, as the number of steps does. */
Test(sap, ends_before_its_factors_cost_more_than_they_may) {
    random_source r = {17};
    problem_recipe recipe = {.bodies = 30, .contacts = 90, .friction = 0.5, .impact = 1, .scatter = 0.6};
    sim_problem *p = random_problem(&r, &recipe);
    answer whole = answer_create(p, 1, 1e-3);
    answer_find(&whole, "sap", exact);
    double factor = whole.out.multiplications / whole.out.factorisations;
    cr_assert(whole.out.outcome == SIM_SOLVED && whole.out.factorisations > 4, "%d", whole.out.factorisations);
    for (int factors = 0; factors < 4; factors++) {
        double option[] = {1e-13, 200, 0, 0, (factors + 0.5) * factor / 1e9, 1};
        answer a = answer_create(p, 1, 1e-3);
        answer_find(&a, "sap", option);
        cr_expect_eq(a.out.factorisations, factors, "%d of %d", a.out.factorisations, factors);
        cr_expect_eq(a.out.outcome, SIM_AT_LIMIT);
        cr_expect_eq(a.out.reason, SIM_REASON_WORK);
        answer_free(&a);
    }
    answer_free(&whole);
    sim_problem_free(p);
}

/* Many bodies meet, some before others: Newton's method alone ends each step at the next of them. */
Test(sap, finds_the_same_minimum_in_fewer_steps_with_single_bodies_relaxed) {
    random_source r = {23};
    int steps[2] = {0};
    for (int trial = 0; trial < 8; trial++) {
        problem_recipe recipe = {.bodies = 40, .contacts = 100, .friction = 0.5, .impact = 1, .scatter = 0.6};
        sim_problem *p = random_problem(&r, &recipe);
        answer a[2];
        double apart[300];
        for (int relaxes = 0; relaxes < 2; relaxes++) {
            double option[] = {1e-13, 200, 0, 0, 1e4, relaxes};
            a[relaxes] = answer_create(p, 1, 1e-3);
            answer_find(&a[relaxes], "sap", option);
            cr_expect_leq(a[relaxes].out.outcome, SIM_AT_ROUNDING);
            steps[relaxes] += a[relaxes].out.iterations;
        }
        for (int j = 0; j < p->nv; j++) {
            apart[j] = a[0].v[j] - a[1].v[j];
        }
        cr_expect_leq(norm_of(apart, p->nv), 1e-9 * norm_of(a[0].v, p->nv), "trial %d: apart by %g", trial,
                      norm_of(apart, p->nv));
        answer_free(&a[0]);
        answer_free(&a[1]);
        sim_problem_free(p);
    }
    cr_expect_lt(steps[1], 0.8 * steps[0], "%d steps, %d without", steps[1], steps[0]);
}
