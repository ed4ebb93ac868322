/* Gauss-Seidel: does it answer the strict law, in every form and for every kind of constraint? */
#include "support/judged.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/solver.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 600 };

typedef struct answer {
    double v[MOST], impulse[MOST], R[MOST], target[MOST], residuals[256], costs[256];
    sim_history history;
    sim_solution out;
    sim_certificate found;
} answer;

typedef struct choice {
    const char *name;
    double value;
} choice;

/* Rigid law, options by name (none: as they stand); `R` NULL: as the law says. */
static answer *solved_with(const sim_problem *p, const double *R, int count, const choice *choices) {
    const sim_solver_info *info = sim_solver_find("pgs");
    sim_law_options law = sim_law_options_default();
    sim_error error = {0};
    double option[32];
    answer *a = calloc(1, sizeof *a);
    for (int k = 0; k < info->noptions; k++) {
        option[k] = info->option[k].default_value;
        for (int j = 0; j < count; j++) {
            option[k] = strcmp(info->option[k].name, choices[j].name) == 0 ? choices[j].value : option[k];
        }
    }
    sim_regularise(p, SIM_RIGID, &law, NULL, a->R, a->target);
    if (R) {
        memcpy(a->R, R, (size_t)p->nrow * sizeof *R);
    }
    sim_regularisation own = {a->R, a->target};
    a->history = (sim_history){.room = 256, .residual = a->residuals, .cost = a->costs};
    a->out = (sim_solution){.v = a->v, .impulse = a->impulse, .history = &a->history};
    sim_solver *s = sim_solver_create(info, option, &error);
    cr_assert(s, "%s", error.text);
    cr_assert_eq(sim_solver_accepts(s, p, &error), SIM_OK, "%s", error.text);
    cr_assert_eq(sim_solver_solve(s, p, &own, &a->out, &error), SIM_OK, "%s", error.text);
    sim_solver_free(s);
    a->found = certificate_of(p, &own, SIM_CONE_STRICT, sim_problem_local(p) ? NULL : a->v, a->impulse);
    return a;
}

#define SOLVE(p, ...)                                                                                                  \
    solved_with((p), NULL, (int)(sizeof((choice[]){__VA_ARGS__}) / sizeof(choice)), (choice[]){__VA_ARGS__})
#define TIGHT                                                                                                          \
    { "tolerance", 1e-14 }

static double distance(int n, const double *x, const double *y) {
    double sum = 0;
    for (int k = 0; k < n; k++) {
        sum += (x[k] - y[k]) * (x[k] - y[k]);
    }
    return sqrt(sum);
}

static double length(int n, const double *x) {
    double sum = 0;
    for (int k = 0; k < n; k++) {
        sum += x[k] * x[k];
    }
    return sqrt(sum);
}

static sim_problem *mixed(uint64_t seed, double friction, double bias) {
    random_source r = {seed};
    problem_recipe recipe = {.bodies = 4,
                             .chain = 7,
                             .contacts = 6,
                             .friction = friction,
                             .bias = bias,
                             .kinds = 63,
                             .impact = 1,
                             .scatter = 0.3};
    return random_problem(&r, &recipe);
}

Test(pgs, every_kind_of_constraint_is_answered) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        sim_problem *p = mixed(seed, 0.5, 0.1);
        answer *a = SOLVE(p, {"max_iterations", 20000});
        cr_assert_eq(a->out.outcome, SIM_SOLVED, "seed %d: %g", (int)seed, a->out.residual);
        cr_assert_leq(a->found.E, 1.001e-8, "seed %d: %g", (int)seed, a->found.E);
        cr_assert_leq(a->found.momentum, 1e-13);
        cr_assert_float_eq(a->found.own, a->out.residual, 1e-3 * a->out.residual + 1e-15, "%g, judged %g",
                           a->out.residual, a->found.own);
        free(a);
        sim_problem_free(p);
    }
}

Test(pgs, matrix_free_and_assembled_sweeps_are_the_same) {
    for (uint64_t seed = 1; seed <= 10; seed++) {
        sim_problem *p = mixed(seed, 0.7, 0);
        for (int sweeps = 1; sweeps <= 9; sweeps += 4) {
            answer *a = SOLVE(p, {"matrix", 1}, {"max_iterations", sweeps}, {"acceleration", 0}, TIGHT);
            answer *b = SOLVE(p, {"matrix", 2}, {"max_iterations", sweeps}, {"acceleration", 0}, TIGHT);
            cr_assert_leq(distance(p->nrow, a->impulse, b->impulse), 1e-12 * length(p->nrow, a->impulse));
            free(a);
            free(b);
        }
        sim_problem_free(p);
    }
}

/* No friction: a quadratic program, whose velocities are unique (C2); with R, the impulses too (C3). */
Test(pgs, without_friction_all_roads_lead_to_the_same_velocities) {
    for (uint64_t seed = 1; seed <= 10; seed++) {
        sim_problem *p = mixed(seed, 0, 0.1);
        double R[MOST];
        for (int k = 0; k < p->nrow; k++) {
            R[k] = 0.1;
        }
        for (int soft = 0; soft < 2; soft++) {
            answer *a = solved_with(p, soft ? R : NULL, 2, (choice[]){{"tolerance", 1e-13}, {"matrix", 1}});
            answer *b =
                solved_with(p, soft ? R : NULL, 3, (choice[]){{"tolerance", 1e-13}, {"matrix", 2}, {"order", 1}});
            answer *c = solved_with(p, soft ? R : NULL, 3,
                                    (choice[]){{"tolerance", 1e-13}, {"relaxation", 1.3}, {"acceleration", 0}});
            double size = length(p->nv, a->v);
            cr_assert_leq(distance(p->nv, a->v, b->v), 1e-10 * size, "seed %d", (int)seed);
            cr_assert_leq(distance(p->nv, a->v, c->v), 1e-10 * size, "seed %d", (int)seed);
            if (soft) {
                cr_assert_leq(distance(p->nrow, a->impulse, c->impulse), 1e-10 * length(p->nrow, a->impulse));
            }
            free(a);
            free(b);
            free(c);
        }
        sim_problem_free(p);
    }
}

Test(pgs, redundant_contacts_of_boxes_are_solved) {
    double mass[6] = {1, 1, 1, 1, 1, 1};
    for (int count = 1; count <= 6; count++) {
        for (int pushed = 0; pushed < 3; pushed++) { /* at rest, held by friction, sliding */
            sim_problem *p = box_stack(count, mass, 0.5, 0.01, pushed == 0 ? 0 : pushed == 1 ? 2 : 20);
            answer *a = SOLVE(p, {"tolerance", 1e-8});
            cr_assert_eq(a->out.outcome, SIM_SOLVED, "%d boxes, push %d: %g", count, pushed, a->out.residual);
            cr_assert_leq(a->found.E, 1.001e-8);
            if (pushed < 2 && count == 1) {
                cr_assert_leq(length(p->nv, a->v), 1e-8);
            }
            free(a);
            sim_problem_free(p);
        }
    }
}

Test(pgs, a_warm_start_from_the_answer_takes_no_sweep) {
    sim_problem *p = mixed(5, 0.5, 0.1), warm = *p;
    answer *cold = SOLVE(p, {"tolerance", 1e-8});
    warm.impulse_guess = cold->impulse;
    answer *hot = SOLVE(&warm, {"tolerance", 1e-8});
    cr_assert_gt(cold->out.iterations, 3);
    cr_assert_eq(hot->out.iterations, 0);
    cr_assert_eq(memcmp(hot->impulse, cold->impulse, (size_t)p->nrow * sizeof(double)), 0);
    double nothing[MOST];
    for (int k = 0; k < p->nrow; k++) {
        nothing[k] = NAN;
    }
    warm.impulse_guess = nothing; /* is no guess */
    free(hot);
    hot = SOLVE(&warm, {"tolerance", 1e-8});
    cr_assert_eq(memcmp(hot->impulse, cold->impulse, (size_t)p->nrow * sizeof(double)), 0);
    free(cold);
    free(hot);
    sim_problem_free(p);
}

Test(pgs, a_pyramid_gives_each_direction_all_the_friction) {
    double oblique[3] = {2, 2, -1};
    sim_problem *p = point_on_ground(2, 0.5, 0, 0.01, oblique);
    answer *pyramid = SOLVE(p, TIGHT, {"cone", 1});
    cr_assert_float_eq(pyramid->v[0], 1.5, 1e-14);
    cr_assert_float_eq(pyramid->v[1], 1.5, 1e-14);
    free(pyramid);
    sim_problem_free(p);
}

/* A ring of contacts known by W and q alone; a skew part, as of gyroscopic terms, makes W nonsymmetric. */
Test(pgs, local_problems_are_answered_as_they_stand) {
    enum { N = 12, M = 3 * N };
    random_source r = {11};
    for (int trial = 0; trial < 20; trial++) {
        double value[27 * N], q[M], gap[M] = {0}, skew = trial < 10 ? 0 : 0.3;
        int start[N + 1], column[3 * N];
        ptrdiff_t at[3 * N];
        sim_constraint c[N];
        for (int i = 0; i < N; i++) {
            int near[3] = {i, (i + 1) % N, (i + N - 1) % N};
            c[i] = (sim_constraint){
                .kind = SIM_CONTACT, .row = 3 * i, .rows = 3, .tree = {-1, -1}, .friction = 0.5, .stiffness = INFINITY};
            start[i] = 3 * i;
            for (int a = 0; a < 3; a++) {
                int rank = 0;
                for (int b = 0; b < 3; b++) {
                    rank += near[b] < near[a];
                }
                column[3 * i + rank] = near[a];
                at[3 * i + rank] = 27 * i + 9 * a;
                for (int k = 0; k < 9; k++) {
                    double turn = k == 1 ? skew : k == 3 ? -skew : 0;
                    value[27 * i + 9 * a + k] =
                        a == 0 ? (k % 4 ? turn : 2 + 0.1 * i) : (k % 4 ? 0 : -0.8) + (a == 1 ? turn : -turn);
                }
                q[3 * i + a] = random_normal(&r) - (a == 2);
            }
        }
        start[N] = 3 * N;
        sim_delassus W = {start, column, at, value, skew == 0};
        sim_problem parts = {.step = 1, .nconstraint = N, .nrow = M, .constraint = c, .gap = gap, .W = &W, .q = q};
        sim_error error = {0};
        sim_problem *p = sim_problem_create(&parts, NULL, &error);
        cr_assert(p, "%s", error.text);
        answer *a = SOLVE(p, {"tolerance", 1e-10});
        cr_assert_eq(a->out.outcome, SIM_SOLVED, "trial %d: %g", trial, a->out.residual);
        cr_assert_leq(a->found.E, 1.001e-10, "trial %d: %g", trial, a->found.E);
        cr_assert_gt(length(M, a->impulse), 1);
        free(a);
        sim_problem_free(p);
    }
}

Test(pgs, hostile_problems_get_numbers) {
    random_source r = {7};
    problem_recipe recipe = {
        .bodies = 3, .contacts = 9, .friction = 2, .bias = 0.1, .kinds = 63, .impact = 3, .scatter = 2};
    for (int trial = 0; trial < 40; trial++) {
        sim_problem *p = random_problem(&r, &recipe);
        sim_problem bad = *p;
        int n = 0;
        for (int i = 0; i < p->nconstraint; i++) {
            for (int side = 0; side < 2; side++) {
                n += p->constraint[i].tree[side] >= 0 ? p->constraint[i].rows * p->tree[p->constraint[i].tree[side]].nv
                                                      : 0;
            }
        }
        double *J = calloc((size_t)n, sizeof *J), wild[MOST];
        for (int k = 0; k < n; k++) { /* rows vanish, blocks become singular */
            J[k] = random_index(&r, 3) ? 0 : p->J[k] * (random_index(&r, 4) ? 1 : 1e-9);
        }
        for (int k = 0; k < p->nrow; k++) {
            wild[k] = trial % 3 ? NAN : 1e12 * random_normal(&r);
        }
        bad.J = J;
        bad.impulse_guess = trial % 2 ? wild : NULL;
        for (int form = 1; form <= 2; form++) {
            answer *a = SOLVE(&bad, {"matrix", form}, {"max_iterations", 700}, {"cone", trial % 5 == 0});
            for (int k = 0; k < p->nrow; k++) {
                cr_assert(isfinite(a->impulse[k]), "trial %d", trial);
            }
            for (int k = 0; k < p->nv; k++) {
                cr_assert(isfinite(a->v[k]), "trial %d", trial);
            }
            free(a);
        }
        free(J);
        sim_problem_free(p);
    }
}

Test(pgs, the_history_falls_to_the_residual_that_is_reported) {
    sim_problem *p = mixed(3, 0.5, 0.1);
    answer *a = SOLVE(p, {"tolerance", 1e-8});
    cr_assert_eq(a->history.count, a->out.iterations + 1 < 256 ? a->out.iterations + 1 : 256);
    if (a->history.count < 256) {
        cr_assert_float_eq(a->residuals[a->history.count - 1], a->out.residual, 0);
    }
    cr_assert_gt(a->residuals[0], 1e-3);
    answer *again = SOLVE(p, {"tolerance", 1e-8});
    cr_assert_eq(memcmp(a->impulse, again->impulse, (size_t)p->nrow * sizeof(double)), 0);
    free(a);
    free(again);
    sim_problem_free(p);
}

/* Simultaneous impacts with random normals, 20 of each: how many are solved, and how many must be.  Eight contacts
 * on one body need not have an answer at all; what matters there is that none is claimed. */
Test(pgs, solves_hard_impacts_or_says_that_it_did_not) {
    static const struct {
        int bodies, contacts;
        double friction;
        int least;
    } family[] = {{3, 4, 1, 20}, {4, 10, 0.5, 18}, {4, 10, 1, 17}, {4, 10, 2, 16}, {1, 8, 0.5, 0}, {1, 8, 1, 0}};
    for (size_t f = 0; f < sizeof family / sizeof *family; f++) {
        int count = 0;
        for (uint64_t seed = 1; seed <= 20; seed++) {
            random_source r = {seed};
            problem_recipe recipe = {.bodies = family[f].bodies,
                                     .contacts = family[f].contacts,
                                     .friction = family[f].friction,
                                     .bias = 0.1,
                                     .impact = 1,
                                     .scatter = 0.6};
            sim_problem *p = random_problem(&r, &recipe);
            answer *a = SOLVE(p, {"max_iterations", 3000});
            count += a->found.E <= 1e-8;
            cr_assert_eq(a->out.outcome == SIM_SOLVED, a->found.E <= 1e-8, "%g %g", a->out.residual, a->found.E);
            free(a);
            sim_problem_free(p);
        }
        cr_log_info("%d bodies, %2d contacts, friction %g: %d of 20", family[f].bodies, family[f].contacts,
                    family[f].friction, count);
        cr_assert_geq(count, family[f].least);
    }
}
