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
    const sim_solver_card *card = sim_solver_find("pgs");
    sim_law_options law = sim_law_options_default();
    sim_error error = {0};
    double option[32];
    answer *a = calloc(1, sizeof *a);
    for (int k = 0; k < card->noptions; k++) {
        option[k] = card->option[k].standard;
        for (int j = 0; j < count; j++) {
            option[k] = strcmp(card->option[k].name, choices[j].name) == 0 ? choices[j].value : option[k];
        }
    }
    sim_regularise(p, SIM_RIGID, &law, NULL, a->R, a->target);
    if (R) {
        memcpy(a->R, R, (size_t)p->nrow * sizeof *R);
    }
    sim_regularisation own = {a->R, a->target};
    a->history = (sim_history){256, 0, a->residuals, a->costs};
    a->out = (sim_solution){.v = a->v, .impulse = a->impulse, .history = &a->history};
    sim_solver *s = sim_solver_create(card, option, &error);
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

Test(pgs, a_point_on_the_ground_opens_sticks_or_slides_as_on_paper) {
    random_source r = {1};
    int regime[3] = {0};
    for (int trial = 0; trial < 300; trial++) {
        double m = random_uniform(&r, 0.1, 10), mu = random_uniform(&r, 0, 1.5), gap = random_uniform(&r, 0, 0.01),
               dt = 0.01;
        double v[3] = {random_normal(&r), random_normal(&r), random_normal(&r) - 0.5}, expected[3] = {v[0], v[1], v[2]};
        double s = v[2] + gap / dt, a = hypot(v[0], v[1]);
        int which = s >= 0 ? 0 : a <= -mu * s ? 1 : 2;
        if (which) {
            double keep = which == 1 ? 0 : (a + mu * s) / a;
            expected[0] = keep * v[0];
            expected[1] = keep * v[1];
            expected[2] = -gap / dt;
        }
        regime[which]++;
        sim_problem *p = point_on_ground(m, mu, gap, dt, v);
        answer *got = SOLVE(p, TIGHT);
        for (int k = 0; k < 3; k++) {
            cr_assert_float_eq(got->v[k], expected[k], 1e-12, "trial %d", trial);
            cr_assert_float_eq(got->impulse[k], m * (expected[k] - v[k]), 1e-12 * (1 + m));
        }
        free(got);
        sim_problem_free(p);
    }
    cr_assert(regime[0] > 20 && regime[1] > 20 && regime[2] > 20);
}

Test(pgs, what_touches_nothing_keeps_its_velocity_to_the_bit) {
    double away[3] = {1, 2, 3}, down[3] = {1, 2, -3};
    sim_problem *far[2] = {point_on_ground(2, 0.5, 0, 0.01, away), point_on_ground(2, 0.5, 1, 0.01, down)};
    for (int k = 0; k < 2; k++) {
        answer *a = SOLVE(far[k], TIGHT);
        cr_assert_eq(memcmp(a->v, far[k]->v_free, 3 * sizeof(double)), 0);
        cr_assert_eq(a->out.iterations, 0);
        cr_assert_eq(a->out.outcome, SIM_SOLVED);
        free(a);
        sim_problem_free(far[k]);
    }
    sim_problem_tree tree = {0, 3};
    double A[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    sim_problem none = {.step = 0.01, .ntree = 1, .nv = 3, .tree = &tree, .v_free = down, .v_start = down};
    sim_problem *p = sim_problem_create(&none, A, NULL);
    answer *a = SOLVE(p, TIGHT);
    cr_assert_eq(memcmp(a->v, down, sizeof down), 0);
    free(a);
    sim_problem_free(p);
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

/* Contacts in another order (C14): other bits, the same answer. */
Test(pgs, the_order_of_contacts_does_not_matter) {
    for (uint64_t seed = 1; seed <= 10; seed++) {
        random_source r = {seed};
        problem_recipe recipe = {.bodies = 4, .contacts = 5, .friction = 0.3, .bias = 0.1, .impact = 1, .scatter = 0.3};
        sim_problem *p = random_problem(&r, &recipe), turned = *p;
        sim_constraint c[16];
        double offset[48], gap[48] = {0};
        for (int i = 0; i < p->nconstraint; i++) {
            const sim_constraint *from = &p->constraint[p->nconstraint - 1 - i];
            c[i] = *from;
            c[i].row = 3 * i;
            memcpy(offset + 3 * i, p->offset + from->row, 3 * sizeof *offset);
        }
        turned.constraint = c;
        turned.offset = offset;
        turned.gap = gap;
        answer *a = SOLVE(p, {"tolerance", 1e-13}), *b = SOLVE(&turned, {"tolerance", 1e-13});
        cr_assert_leq(distance(p->nv, a->v, b->v), 1e-10 * length(p->nv, a->v), "seed %d", (int)seed);
        free(a);
        free(b);
        sim_problem_free(p);
    }
}

/* C17: what only closes and rubs gains no energy; E is half the A-norm squared. */
static double energy(const sim_problem *p, const double *v) {
    double sum = 0, Av[MOST];
    for (int t = 0; t < p->ntree; t++) {
        p->mass.times(p->mass.self, t, v + p->tree[t].v0, Av);
        for (int k = 0; k < p->tree[t].nv; k++) {
            sum += 0.5 * v[p->tree[t].v0 + k] * Av[k];
        }
    }
    return sum;
}

Test(pgs, contacts_take_energy_out) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        random_source r = {seed};
        problem_recipe recipe = {.bodies = 4, .contacts = 8, .friction = 0.6, .impact = 1, .scatter = 0.6};
        sim_problem *p = random_problem(&r, &recipe);
        answer *a = SOLVE(p, {"tolerance", 1e-8});
        cr_assert_leq(energy(p, a->v), energy(p, p->v_free) * (1 + 1e-8), "seed %d", (int)seed);
        free(a);
        sim_problem_free(p);
    }
}

/* C16: contacts among free bodies exchange momentum and change none of the sum. */
Test(pgs, contacts_between_bodies_keep_the_sum_of_momentum) {
    double mass[4] = {1, 2, 3, 4}, before[3] = {0}, after[3] = {0};
    sim_problem *p = box_stack(4, mass, 0.5, 0.01, 3), floating = *p;
    sim_constraint c[16];
    double v_free[24];
    for (int i = 4; i < 16; i++) { /* all but those with the ground */
        c[i - 4] = p->constraint[i];
        c[i - 4].row -= 12;
    }
    floating.constraint = c;
    floating.nconstraint = 12;
    floating.nrow = 36;
    memcpy(v_free, p->v_free, sizeof v_free);
    v_free[5] = 1; /* the lowest flies up */
    v_free[9] = 0.3;
    floating.v_free = v_free;
    answer *a = SOLVE(&floating, {"tolerance", 1e-8});
    cr_assert_eq(a->out.outcome, SIM_SOLVED);
    for (int b = 0; b < 4; b++) {
        for (int k = 0; k < 3; k++) {
            before[k] += mass[b] * v_free[6 * b + 3 + k];
            after[k] += mass[b] * a->v[6 * b + 3 + k];
        }
    }
    cr_assert_gt(length(36, a->impulse), 0.1);
    cr_assert_leq(distance(3, before, after), 1e-13 * length(3, before));
    free(a);
    sim_problem_free(p);
}

Test(pgs, a_warm_start_from_the_answer_takes_no_sweep) {
    sim_problem *p = mixed(5, 0.5, 0.1), warm = *p;
    answer *cold = SOLVE(p, {"tolerance", 1e-8});
    warm.impulse_guess = cold->impulse;
    answer *hot = SOLVE(&warm, {"tolerance", 1e-8});
    cr_assert_gt(cold->out.iterations, 3);
    cr_assert_eq(hot->out.iterations, 0);
    cr_assert_eq(memcmp(hot->impulse, cold->impulse, (size_t)p->nrow * sizeof(double)), 0);
    free(cold);
    free(hot);
    sim_problem_free(p);
}

Test(pgs, a_pyramid_along_the_slip_equals_the_cone) {
    double v[3] = {2, 0, -1};
    sim_problem *p = point_on_ground(2, 0.5, 0, 0.01, v);
    answer *cone = SOLVE(p, TIGHT), *pyramid = SOLVE(p, TIGHT, {"cone", 1});
    cr_assert_leq(distance(3, cone->v, pyramid->v), 1e-14);
    cr_assert_float_eq(cone->v[0], 1.5, 1e-14);
    free(cone);
    free(pyramid);
    sim_problem_free(p);
    double oblique[3] = {2, 2, -1};
    p = point_on_ground(2, 0.5, 0, 0.01, oblique);
    pyramid = SOLVE(p, TIGHT, {"cone", 1});
    cr_assert_float_eq(pyramid->v[0], 1.5, 1e-14); /* each direction has all the friction */
    cr_assert_float_eq(pyramid->v[1], 1.5, 1e-14);
    free(pyramid);
    sim_problem_free(p);
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

/* Simultaneous impacts with random normals, 20 of each: how many are solved, and how many must be.  Eight contacts on one
 * body need not have an answer at all; what matters there is that none is claimed. */
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
