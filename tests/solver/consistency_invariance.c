/* Changes of a problem that must not change its answer, and properties of all answers: lines C9, C11, C14, C16, C17 and
 * C18 of consistency.c, of all solvers. */
#include "support/contenders.h"
#include "support/judged.h"
#include "support/problems.h"
#include "support/reworded.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Few contacts, little friction, some compliance: one answer even of the strict law. */
static sim_problem *with_one_answer(random_source *r) {
    problem_recipe recipe = {
        .bodies = 4, .chain = 7, .contacts = 5, .friction = 0.3, .bias = 0.1, .kinds = 63, .impact = 1, .scatter = 0.3};
    return random_problem(r, &recipe);
}

static const double R = 0.05;

/* Another value of an option, the `which`th; 0 if there are no more. */
static int other_value(const sim_solver_option *o, int which, double *value) {
    static const double factor[] = {0.5, 0.9, 1.1, 2};
    if (o->choices || o->integer) {
        int most = o->choices ? (int)(o->high - o->low) : 1;
        *value = o->low + which;
        return which <= most;
    }
    *value = which < 4 ? fmin(fmax(o->default_value * factor[which], o->low + 0.01 * (o->high - o->low)),
                              o->high - 0.2 * (o->high - o->low))
                       : 0;
    return which < 4;
}

/* Penalties, relaxations, preconditioners, factorisations: all but what says where to stop, and which law it is. */
Test(consistency, c9_no_option_but_tolerance_limit_and_law_changes_the_answer) {
    static const char *const may[] = {"tolerance",  "max_iterations", "rounds", "iterations",        "cone",
                                      "directions", "alignment",      "turn",   "linear_iterations", NULL};
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all), tried = 0;
    random_source r = {9};
    for (int trial = 0; trial < 3; trial++) {
        sim_problem *p = with_one_answer(&r);
        for (int i = 0; i < count; i++) {
            answer a = contest_entry(p, R);
            answer_find(&a, all[i].info->name, all[i].option);
            for (int k = 0; k < all[i].info->noptions; k++) {
                const sim_solver_option *o = &all[i].info->option[k];
                int free_to = 0;
                for (int m = 0; may[m]; m++) {
                    free_to |= strcmp(may[m], o->name) == 0;
                }
                double value;
                for (int which = 0; !free_to && other_value(o, which, &value); which++) {
                    contender other = all[i];
                    other.option[k] = value;
                    answer b = contest_entry(p, R);
                    answer_find(&b, other.info->name, other.option);
                    cr_expect_leq(b.out.outcome, SIM_AT_ROUNDING, "%s, %s = %g", all[i].name, o->name, value);
                    cr_expect_leq(apart(p->nv, a.v, b.v), 1e-9, "%s, %s = %g: v %g apart", all[i].name, o->name, value,
                                  apart(p->nv, a.v, b.v));
                    tried++;
                    answer_free(&b);
                }
            }
            answer_free(&a);
        }
        sim_problem_free(p);
    }
    cr_expect_gt(tried, 20);
}

/* A v - J' gamma = A v*,  J v + R gamma = target - w: the row of J goes into K twice. */
static void fill_rows(const sim_problem *p, const double *compliance, const double *target, int n, double *K,
                      double *x) {
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = 0; k < c->rows; k++) {
            int row = p->nv + c->row + k;
            for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
                const sim_problem_tree *t = &p->tree[c->tree[side]];
                for (int j = 0; j < t->nv; j++) {
                    double J = p->J[c->block[side] + k * t->nv + j];
                    K[row * n + t->v0 + j] = J;
                    K[(t->v0 + j) * n + row] = -J;
                }
            }
            K[row * n + row] = compliance[c->row + k];
            x[row] = target[c->row + k] - p->offset[c->row + k];
        }
    }
}

static double *linear_answer(const sim_problem *p, const double *compliance, const double *target) {
    int n = p->nv + p->nrow;
    double *K = calloc((size_t)n * n, sizeof *K), *x = calloc((size_t)n, sizeof *x), A[36 * 36];
    for (int t = 0; t < p->ntree; t++) {
        int size = p->tree[t].nv, v0 = p->tree[t].v0;
        p->mass.matrix(p->mass.self, t, A);
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) {
                K[(v0 + i) * n + v0 + j] = A[i * size + j];
                x[v0 + i] += A[i * size + j] * p->v_free[v0 + j];
            }
        }
    }
    fill_rows(p, compliance, target, n, K, x);
    answer_eliminate(n, K, x);
    free(K);
    return x;
}

Test(consistency, c11_equalities_alone_are_a_linear_system) {
    random_source r = {11};
    for (int trial = 0; trial < 20; trial++) {
        problem_recipe recipe = {
            .bodies = 3, .chain = 9, .kinds = 1 << SIM_EQUALITY | (trial % 2 << SIM_SPRING), .more = 4};
        sim_problem *p = random_problem(&r, &recipe);
        for (int yields = 0; yields < 2; yields++) {
            contest c;
            contest_hold(&c, p, ANY, yields ? -1 : 0);
            for (int i = 0; i < c.count; i++) {
                double *x = linear_answer(p, c.of[i].R, c.of[i].target);
                double near = yields || contender_is_rigid(&c.who[i]) ? 1e-9 : 1e-5, v = apart(p->nv, c.of[i].v, x);
                cr_expect_leq(v, near, "%s, R %s: v %g apart", c.who[i].name, yields ? "> 0" : "= 0", v);
                free(x);
            }
            contest_end(&c);
        }
        sim_problem_free(p);
    }
}

/* A pyramid stands with its edges along t1 and t2, and may not be turned.  The convex law has one answer however many
 * contacts there are. */
Test(consistency, c14_order_tangents_and_names_of_bodies_do_not_matter) {
    problem_recipe many = {.bodies = 4,
                           .chain = 7,
                           .contacts = 12,
                           .friction = 0.6,
                           .bias = 0.1,
                           .kinds = 63,
                           .impact = 1,
                           .scatter = 0.6};
    random_source r = {14};
    for (int trial = 0; trial < 18; trial++) {
        int turned = trial % 3 == 1, hard = trial >= 12;
        sim_problem *p = hard ? random_problem(&r, &many) : with_one_answer(&r);
        int order[64];
        for (int i = 0; i < p->nconstraint; i++) {
            int other = trial % 3 ? i : random_index(&r, i + 1);
            order[i] = order[other];
            order[other] = i;
        }
        reworded w;
        reword(p, order, turned ? random_uniform(&r, 0.1, 6) : 0, trial % 3 == 2, &w);
        contest c, d;
        unsigned cones = hard ? CONVEX : turned ? STRICT | CONVEX : ANY;
        contest_hold(&c, p, cones, trial % 2 ? R : -1);
        contest_hold(&d, &w.problem, cones, trial % 2 ? R : -1);
        for (int i = 0; i < c.count; i++) {
            double v = apart(p->nv, c.of[i].v, d.of[i].v);
            cr_expect_leq(v, 1e-9, "%s, trial %d: v %g apart", c.who[i].name, trial, v);
        }
        contest_end(&c);
        contest_end(&d);
        reworded_free(&w);
        sim_problem_free(p);
    }
}

/* The same problem with masses and forces in another unit: A, bounds, forces, stiffness and damping `unit` times as
 * large. */
static sim_problem *in_unit_of_mass(const sim_problem *from, double unit) {
    sim_problem p = *from;
    sim_constraint *c = malloc((size_t)p.nconstraint * sizeof *c);
    double *A = malloc((size_t)(p.nv * p.nv) * sizeof *A);
    ptrdiff_t n = 0;
    for (int t = 0; t < p.ntree; n += p.tree[t].nv * p.tree[t].nv, t++) {
        p.mass.matrix(p.mass.self, t, A + n);
    }
    for (ptrdiff_t k = 0; k < n; k++) {
        A[k] *= unit;
    }
    for (int i = 0; i < p.nconstraint; i++) {
        c[i] = p.constraint[i];
        c[i].bound *= unit;
        c[i].force *= unit;
        c[i].stiffness *= unit;
        c[i].damping *= unit;
    }
    p.constraint = c;
    sim_error error = {0};
    sim_problem *made = sim_problem_create(&p, A, &error);
    cr_assert(made, "%s", error.text);
    free(A);
    free(c);
    return made;
}

/* A unit of mass that is a power of four changes no digit: every quantity of a method is of some power of mass, or
 * compares two of the same.  Methods that damp least squares of velocities and impulses together (Levenberg and
 * Marquardt) take another way to the same answer. */
Test(consistency, c14_the_unit_of_mass_changes_no_bit) {
    random_source r = {15};
    for (int trial = 0; trial < 6; trial++) {
        double unit = trial % 2 ? 0x1p20 : 0x1p-20;
        sim_problem *p = with_one_answer(&r), *other = in_unit_of_mass(p, unit);
        contest c, d;
        contest_hold(&c, p, ANY, R);
        contest_hold(&d, other, ANY, R / unit);
        for (int i = 0; i < c.count; i++) {
            bool damped = strncmp(c.who[i].name, "mncp", 4) == 0 || strncmp(c.who[i].name, "mlcp-pfb", 8) == 0;
            cr_expect(damped || c.of[i].out.iterations == d.of[i].out.iterations, "%s, trial %d: %d and %d iterations",
                      c.who[i].name, trial, c.of[i].out.iterations, d.of[i].out.iterations);
            double v = apart(p->nv, c.of[i].v, d.of[i].v);
            cr_expect(damped ? v <= 1e-9 : v == 0, "%s, trial %d: v %g apart", c.who[i].name, trial, v);
        }
        /* friction as a fixed point, which the default does not take for so few rows */
        double option[MOST_OPTIONS];
        options_with("nsn", (option_setting[]){{"friction", 0}, {NULL, 0}}, option);
        answer a = contest_entry(p, R), b = contest_entry(other, R / unit);
        answer_find(&a, "nsn", option);
        answer_find(&b, "nsn", option);
        cr_expect_eq(a.out.iterations, b.out.iterations, "nsn, trial %d", trial);
        cr_expect_eq(apart(p->nv, a.v, b.v), 0, "nsn, trial %d: v %g apart", trial, apart(p->nv, a.v, b.v));
        answer_free(&a);
        answer_free(&b);
        contest_end(&c);
        contest_end(&d);
        sim_problem_free(other);
        sim_problem_free(p);
    }
}

/* Linear momentum and that about the origin, and how much there is of each. */
static void momentum(const sim_problem *p, const sim_v3 *centre, const double *v, double sum[6], double size[2]) {
    memset(sum, 0, 6 * sizeof *sum);
    size[0] = size[1] = 0;
    for (int b = 0; b < p->ntree; b++) {
        double h[6];
        const double *c = &centre[b].x;
        p->mass.times(p->mass.self, b, v + 6 * b, h);
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            double spin = h[k] + c[i] * h[3 + j] - c[j] * h[3 + i];
            sum[k] += h[3 + k];
            sum[3 + k] += spin;
            size[0] += fabs(h[3 + k]);
            size[1] += fabs(spin);
        }
    }
}

Test(consistency, c16_floating_bodies_keep_their_momentum_and_its_moment) {
    random_source r = {16};
    for (int trial = 0; trial < 10; trial++) {
        sim_v3 centre[5];
        sim_problem *p = floating_cluster(&r, 5, 8, 0.5, centre);
        double before[6], after[6], size[2];
        contest c;
        contest_hold(&c, p, ANY, trial % 2 ? R : -1);
        momentum(p, centre, p->v_free, before, size);
        for (int i = 0; i < c.count; i++) {
            double most = 0;
            momentum(p, centre, c.of[i].v, after, size);
            for (int k = 0; k < p->nrow; k++) {
                most = fmax(most, fabs(c.of[i].impulse[k]));
            }
            cr_expect_gt(most, 1e-3);
            for (int k = 0; k < 6; k++) {
                cr_expect_float_eq(after[k], before[k], 1e-12 * size[k / 3], "%s: %g of %g", c.who[i].name,
                                   after[k] - before[k], size[k / 3]);
            }
        }
        contest_end(&c);
        sim_problem_free(p);
    }
}

/* v' A v, half of it the energy of what moves. */
static double energy(const sim_problem *p, const double *v) {
    double sum = 0, y[64];
    for (int t = 0; t < p->ntree; t++) {
        p->mass.times(p->mass.self, t, v + p->tree[t].v0, y);
        for (int j = 0; j < p->tree[t].nv; j++) {
            sum += 0.5 * v[p->tree[t].v0 + j] * y[j];
        }
    }
    return sum;
}

/* gamma . u <= 0 where no target parts: the energy changes by gamma . u - |v - v*|_A^2 / 2. */
Test(consistency, c17_what_is_not_pushed_out_gains_no_energy) {
    random_source r = {17};
    for (int trial = 0; trial < 12; trial++) {
        int others = 1 << SIM_LIMIT | 1 << SIM_FRICTION | 1 << SIM_EQUALITY;
        problem_recipe recipe = {.bodies = 4,
                                 .chain = trial % 2 ? 7 : 0,
                                 .contacts = 8,
                                 .friction = 0.3 * (trial % 5),
                                 .kinds = trial % 2 ? others : 0,
                                 .impact = 1,
                                 .scatter = 0.6};
        sim_problem *made = random_problem(&r, &recipe), p = *made;
        double gap[64] = {0};
        for (int i = 0; i < p.nconstraint; i++) {
            int end = p.constraint[i].row + p.constraint[i].rows - 1;
            gap[end] = p.constraint[i].kind == SIM_EQUALITY ? 0 : random_uniform(&r, 0, 0.005);
        }
        p.gap = gap;
        for (int k = 0; k < 2; k++) {
            contest c;
            contest_hold(&c, &p, ANY, k ? R : 0);
            for (int i = 0; i < c.count; i++) {
                double after = energy(&p, c.of[i].v), before = energy(&p, p.v_free);
                cr_expect_leq(after, before * (1 + 1e-9), "%s: %g J from %g J", c.who[i].name, after, before);
            }
            contest_end(&c);
        }
        sim_problem_free(made);
    }
}

/* A target that parts, on the other hand, is what pushes out: a point at rest inside the ground leaves it. */
Test(consistency, c17_what_is_pushed_out_gains_what_the_target_asks_for) {
    double rest[3] = {0, 0, 0};
    sim_problem *p = point_on_ground(2, 0.5, -0.01, 0.01, rest);
    contest c;
    contest_hold(&c, p, ANY, 1e-6);
    for (int i = 0; i < c.count; i++) {
        double due = c.of[i].target[2] / (1 + 2 * 1e-6);
        cr_expect_gt(due, 0.05);
        cr_expect_float_eq(c.of[i].v[2], due, 1e-9, "%s: %g m/s", c.who[i].name, c.of[i].v[2]);
    }
    contest_end(&c);
    sim_problem_free(p);
}

/* A box on four corners that slides and spins: each answer is right, and there is more than one. */
Test(consistency, c18_sliding_on_more_points_than_needed_is_right_by_its_certificate_alone) {
    double mass[] = {1}, v_free[6] = {0, 0, 3, 1, 0.3, -0.0981}, most = 0;
    sim_problem *made = box_stack(1, mass, 0.5, 0.01, 0), p = *made;
    random_source r = {18};
    p.v_free = v_free;
    contest first;
    contest_hold(&first, &p, STRICT, 0);
    for (int start = 0; start < 20; start++) {
        double guess[12];
        for (int k = 0; k < 12; k++) {
            guess[k] = k % 3 == 2 ? 0.05 * fabs(random_normal(&r)) : 0.02 * random_normal(&r);
        }
        p.impulse_guess = guess;
        contest c;
        contest_hold(&c, &p, STRICT, 0);
        for (int i = 0; i < c.count; i++) {
            sim_certificate found = certificate_of(&p, NULL, SIM_CONE_STRICT, NULL, c.of[i].impulse);
            cr_expect_leq(found.E, 1e-10, "%s: E %g", c.who[i].name, found.E);
            most = fmax(most, apart(p.nv, c.of[i].v, first.of[i].v));
        }
        contest_end(&c);
    }
    cr_log_info("right answers differ in v by %.1e of the speed", most);
    cr_expect_gt(most, 1e-3, "there was but one answer: %g", most);
    contest_end(&first);
    sim_problem_free(made);
}
