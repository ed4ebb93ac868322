/* Contacts with rolling and torsion: the cone of their discs, the laws on it, and the solvers that take them. */
#include "math/v3.h"
#include "solver/core/cone_discs.h"
#include "solver/core/natural_map.h"
#include "support/answers.h"
#include "support/judged.h"
#include "support/problems.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MOST = 12 };

/* Free bodies of 1 kg and 0.2 m, and contacts with 3 to 6 rows of theirs in turns. */
typedef struct heap {
    sim_problem parts;
    sim_problem_tree tree[MOST];
    sim_constraint contact[MOST];
    double J[MOST * 2 * 36], A[MOST * 36], v_free[6 * MOST], gap[6 * MOST], offset[6 * MOST];
} heap;

static void fill_side(double *J, int rows, const v3 axis[3], v3 lever, double L, double sign) {
    for (int k = 0; k < rows; k++) {
        bool turns = k >= 3;
        v3 e = axis[turns ? (rows == 4 ? 2 : k - 3) : k];
        v3 ang = turns ? v3_scale(sign * L, e) : v3_scale(sign, v3_cross(lever, e)),
           lin = turns ? v3_make(0, 0, 0) : v3_scale(sign, e);
        const double row[6] = {ang.x, ang.y, ang.z, lin.x, lin.y, lin.z};
        memcpy(J + 6 * (ptrdiff_t)k, row, sizeof row);
    }
}

/* Approach at about 1 m/s, with slip and spin beside it. */
static sim_problem *turning_heap(random_source *r, int bodies, int contacts, double friction, double slip) {
    heap h = {.parts = {.step = 0.01, .ntree = bodies, .nv = 6 * bodies, .nconstraint = contacts}};
    for (int b = 0; b < bodies; b++) {
        h.tree[b] = (sim_problem_tree){6 * b, 6};
        double *A = h.A + 36 * (ptrdiff_t)b, mass = random_uniform(r, 0.5, 2);
        sym3 I = random_inertia(r).moment;
        double scale = 0.01 * mass / (I.xx + I.yy + I.zz);
        const double of[9] = {I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz};
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                A[6 * i + j] = scale * of[3 * i + j];
            }
            A[6 * (3 + i) + 3 + i] = mass;
        }
        for (int j = 0; j < 6; j++) {
            h.v_free[6 * b + j] = slip * random_normal(r) * (j < 3 ? 5 : 1);
        }
    }
    ptrdiff_t at = 0;
    for (int c = 0, row = 0; c < contacts; c++) {
        int rows = 3 + c % 4, a = c % bodies, other = c / bodies % 2 && bodies > 1 ? (a + 1) % bodies : -1;
        m3 E = random_rotation(r);
        const v3 axis[3] = {E.x, E.y, E.z};
        h.contact[c] = (sim_constraint){.kind = SIM_CONTACT,
                                        .row = row,
                                        .rows = rows,
                                        .tree = {a, other},
                                        .body = {a, other},
                                        .id = (uint64_t)c,
                                        .friction = friction * random_uniform(r, 0.5, 1),
                                        .rolling = friction * random_uniform(r, 0, 0.5),
                                        .torsion = friction * random_uniform(r, 0, 0.5),
                                        .stiffness = INFINITY};
        for (int side = 0; side < 2 && h.contact[c].tree[side] >= 0; side++) {
            h.contact[c].block[side] = at;
            fill_side(h.J + at, rows, axis, v3_scale(0.1, random_unit(r)), 0.1, side ? -1 : 1);
            at += 6 * rows;
        }
        h.offset[row + 2] = -random_uniform(r, 0.5, 1.5);
        row += rows;
        h.parts.nrow = row;
    }
    h.parts.tree = h.tree;
    h.parts.constraint = h.contact;
    h.parts.J = h.J;
    h.parts.v_free = h.v_free;
    h.parts.v_start = h.v_free;
    h.parts.gap = h.gap;
    h.parts.offset = h.offset;
    sim_error error = {0};
    sim_problem *p = sim_problem_create(&h.parts, h.A, &error);
    cr_assert(p, "%s", error.text);
    return p;
}

static sim_constraint contact_of(random_source *r, int rows) {
    return (sim_constraint){.kind = SIM_CONTACT,
                            .rows = rows,
                            .friction = random_index(r, 5) ? random_uniform(r, 0, 2) : 0,
                            .rolling = random_index(r, 5) ? random_uniform(r, 0, 2) : 0,
                            .torsion = random_index(r, 5) ? random_uniform(r, 0, 2) : 0,
                            .tree = {-1, -1},
                            .stiffness = INFINITY};
}

/* R equal within a disc, over two decades. */
static void random_compliance(random_source *r, int rows, double *R) {
    double rolling = pow(10, random_uniform(r, -1, 1));
    R[0] = R[1] = pow(10, random_uniform(r, -1, 1));
    for (int k = 2; k < rows; k++) {
        R[k] = rows >= 5 && (k == 3 || k == 4) ? rolling : pow(10, random_uniform(r, -1, 1));
    }
}

/* Moreau: y = g + z with g in K, R z in the polar of K, and both orthogonal in R. */
Test(turning, the_nearest_impulse_splits_the_vector_as_moreau_says) {
    random_source r = {11};
    int pieces[9] = {0};
    for (int trial = 0; trial < 20000; trial++) {
        int rows = 4 + trial % 3;
        sim_constraint c = contact_of(&r, rows);
        double R[6], y[6], g[6], z[6], product = 0, size = 0;
        unsigned sliding;
        random_compliance(&r, rows, R);
        for (int k = 0; k < rows; k++) {
            y[k] = random_normal(&r);
        }
        discs_project(&c, R, y, g);
        double normal = discs_project_normal(&c, R, y, &sliding);
        for (int k = 0; k < rows; k++) {
            z[k] = -R[k] * (y[k] - g[k]);
            product += z[k] * g[k];
            size += R[k] * y[k] * y[k];
        }
        sim_disc disc[SIM_MAX_DISCS];
        double dual = z[2];
        for (int k = 0, count = sim_contact_discs(&c, disc); k < count; k++) {
            double inside = 0, outside = 0;
            for (int i = disc[k].row; i < disc[k].row + disc[k].rows; i++) {
                inside = hypot(inside, g[i]);
                outside = hypot(outside, z[i]);
            }
            cr_assert_leq(inside, disc[k].bound * g[2] + 1e-14);
            dual -= disc[k].bound * outside;
        }
        cr_assert_geq(g[2], 0);
        cr_assert_geq(dual, -1e-13 * (1 + size), "trial %d: s outside the dual cone by %g", trial, dual);
        cr_assert_leq(fabs(product), 1e-13 * (1 + size), "trial %d: g . z = %g", trial, product);
        pieces[normal > 0 ? sliding : 8]++;
    }
    cr_expect(pieces[0] > 100 && pieces[1] > 100 && pieces[2] > 100 && pieces[7] > 100 && pieces[8] > 100);
}

typedef struct law_of_one {
    sim_constraint c;
    sim_problem problem;
    double R[6], over_R[6], target[6], constant[6];
    convex_law law;
} law_of_one;

/* gamma = -d cost / du, and G = -d gamma / du, by central differences away from the kinks. */
Test(turning, impulse_and_hessian_are_the_derivatives_of_the_convex_cost) {
    random_source r = {12};
    int smooth = 0;
    for (int trial = 0; trial < 3000; trial++) {
        law_of_one l = {.c = contact_of(&r, 4 + trial % 3)};
        int rows = l.c.rows;
        l.problem = (sim_problem){.step = 0.01, .nconstraint = 1, .nrow = rows, .constraint = &l.c};
        random_compliance(&r, rows, l.R);
        double u[6], gamma[6], direction[6], at[2][6], cost[2], h = 1e-5, rise = 0, curvature = 0;
        cone_hessian G, other[2];
        for (int k = 0; k < rows; k++) {
            l.over_R[k] = 1 / l.R[k];
            l.target[k] = random_normal(&r);
            u[k] = l.target[k] - l.R[k] * random_normal(&r);
            direction[k] = random_normal(&r);
        }
        l.law = (convex_law){&l.problem, l.R, l.over_R, l.target, l.constant};
        convex_project(&l.law, 0, u, gamma, &G);
        for (int side = 0; side < 2; side++) {
            double moved[6];
            for (int k = 0; k < rows; k++) {
                moved[k] = u[k] + (side ? -h : h) * l.R[k] * direction[k];
            }
            cost[side] = convex_project(&l.law, 0, moved, at[side], &other[side]);
        }
        double du[6], pushed[6];
        for (int k = 0; k < rows; k++) {
            du[k] = l.R[k] * direction[k];
            rise -= gamma[k] * du[k];
            curvature -= du[k] * (at[0][k] - at[1][k]) / (2 * h);
        }
        double scale = 1 + fabs(rise) + fabs(curvature);
        cr_assert_float_eq((cost[0] - cost[1]) / (2 * h), rise, 1e-4 * scale, "trial %d", trial);
        if (other[0].sliding == other[1].sliding && other[0].weight[2] > 0 && other[1].weight[2] > 0) {
            smooth++;
            cr_assert_float_eq(convex_curvature(&l.c, &G, du), curvature, 1e-4 * scale, "trial %d", trial);
            cone_hessian_times(&l.c, &G, du, pushed);
            for (int k = 0; k < rows; k++) {
                cr_assert_float_eq(pushed[k], -(at[0][k] - at[1][k]) / (2 * h), 1e-4 * scale, "trial %d", trial);
            }
        }
    }
    cr_expect_gt(smooth, 1500);
}

static double own_error(const answer *a, sim_cone cone) {
    return certificate_of(a->problem, &a->law, cone, a->v, a->impulse).own;
}

/* Newton steps from the first E below `from` to the first below `to`; -1: it did not get there. */
static int steps_between(const sim_history *h, double from, double to) {
    int first = -1;
    for (int k = 0; k < h->count; k++) {
        first = first < 0 && h->residual[k] <= from ? k : first;
        if (h->residual[k] <= to) {
            return k - first;
        }
    }
    return -1;
}

/* The matrix of a step is the derivative of the law, with rolling and torsion: digits double in the end.  A term that
 * is wrong or missing leaves a fall by one factor a step. */
Test(turning, steps_of_acn_double_the_digits_near_the_solution) {
    random_source r = {23};
    option_setting exact[] = {{"tolerance", 1e-14}, {NULL, 0}};
    double option[32];
    int measured = 0;
    options_with("acn", exact, option);
    for (int trial = 0; trial < 100; trial++) {
        int bodies = 1 + trial % 4;
        sim_problem *p = turning_heap(&r, bodies, bodies * (1 + trial % 2), 0.2 + 0.1 * (trial % 3), 0.5);
        answer a = answer_create(p, 1, 1e-3);
        answer_find(&a, "acn", option);
        /* 4, 8 and 16 digits: two steps, and one for a contact that still changes */
        int steps = steps_between(&a.history, 1e-4, 1e-12);
        cr_expect_leq(steps, 3, "trial %d: %d steps", trial, steps);
        measured += steps >= 0;
        answer_free(&a);
        sim_problem_free(p);
    }
    cr_expect_geq(measured, 95, "%d", measured);
}

/* Where acn fails the others take turns, but for those that do not know rolling and torsion. */
Test(turning, auto_leaves_out_the_methods_that_know_no_turning) {
    static const char *const allowed[] = {"pgs", "acn"};
    random_source r = {24};
    const int enough = 2, least = trials_of(8), most = 6 * least; /* about one problem in eight comes to the turns */
    int turns = 0;
    for (int trial = 0; trial < least || (turns < enough && trial < most && least == 8); trial++) {
        sim_problem *p = turning_heap(&r, 3, 12, 1.5, 2);
        answer a = rigid_entry(p);
        answer_find_within(&a, "auto", NULL, 4000); /* most of these heaps have no rigid answer that anybody finds */
        const char *by = a.out.finished_by < 0 ? "" : sim_solver_find("auto")->branch[a.out.finished_by];
        cr_expect(strcmp(by, allowed[0]) == 0 || strcmp(by, allowed[1]) == 0, "trial %d: %s", trial, by);
        double own = own_error(&a, SIM_CONE_STRICT);
        cr_expect(a.out.outcome > SIM_AT_ROUNDING || own <= 2e-8, "trial %d: %s with %g", trial,
                  sim_outcome_name(a.out.outcome), own);
        turns += strcmp(by, "pgs") == 0;
        answer_free(&a);
        sim_problem_free(p);
    }
    cr_expect(turns >= enough || least < 8, "%d: acn leaves too little to the turns", turns);
}

/* The judge has a projection of its own. */
Test(turning, strict_solvers_satisfy_the_judge_and_agree_on_one_body) {
    static const char *const solver[] = {"acn", "pgs", "auto"};
    random_source r = {13};
    int rigid_apart = 0;
    for (int trial = 0; trial < 120; trial++) {
        int bodies = 1 + trial % 4;
        sim_problem *p = turning_heap(&r, bodies, bodies * (1 + trial % 2), 0.2 + 0.1 * (trial % 3), 0.5);
        answer a[3];
        for (int s = 0; s < 3; s++) {
            a[s] = trial % 3 ? answer_create(p, 1, 1e-3) : rigid_entry(p);
            answer_find(&a[s], solver[s], NULL);
            double own = own_error(&a[s], SIM_CONE_STRICT);
            cr_expect_leq(own, 2e-8, "trial %d, %s: %g", trial, solver[s], own);
            cr_expect_leq(a[s].out.outcome, SIM_AT_ROUNDING, "trial %d, %s: %s", trial, solver[s],
                          sim_outcome_name(a[s].out.outcome));
        }
        for (int s = 1; s < 3; s++) {
            double apart = distance_between(a[s].v, a[0].v, p->nv) / norm_of(a[0].v, p->nv);
            rigid_apart += apart > 1e-5;
        }
        for (int s = 0; s < 3; s++) {
            answer_free(&a[s]);
        }
        sim_problem_free(p);
    }
    cr_expect_leq(rigid_apart, 4, "strict solutions need not be unique, but these mostly are: %d differ", rigid_apart);
}

Test(turning, sap_satisfies_the_convex_law_by_the_judge) {
    random_source r = {14};
    for (int trial = 0; trial < 100; trial++) {
        int bodies = 1 + trial % 4;
        sim_problem *p = turning_heap(&r, bodies, 3 * bodies, 0.3, 1);
        double option[32];
        const option_setting set[] = {{"tolerance", 1e-10}, {NULL, 0}};
        options_with("sap", set, option);
        answer a = answer_create(p, 1, 1e-3);
        answer_find(&a, "sap", option);
        cr_expect_leq(a.out.outcome, SIM_AT_ROUNDING, "trial %d: %s", trial, sim_outcome_name(a.out.outcome));
        double own = own_error(&a, SIM_CONE_CONVEX);
        cr_expect_leq(own, 1e-7, "trial %d: %g", trial, own);
        answer_free(&a);
        sim_problem_free(p);
    }
}

/* The dual of the convex problem, min gamma . (W + R) gamma / 2 + gamma . q over K, by projected gradient. */
Test(turning, sap_finds_the_minimum_of_the_dual_problem) {
    random_source r = {15};
    for (int trial = 0; trial < 8; trial++) {
        sim_problem *p = turning_heap(&r, 2, 4, 0.4, 1);
        answer a = answer_create(p, 1, 1e-1), b = answer_create(p, 1, 1e-1);
        double option[32];
        const option_setting set[] = {{"tolerance", 1e-12}, {NULL, 0}};
        options_with("sap", set, option);
        answer_find(&a, "sap", option);
        double gamma[6 * MOST] = {0}, s[6 * MOST], v[6 * MOST];
        for (int round = 0; round < 20000; round++) {
            sim_solver_response(p, gamma, v);
            for (int i = 0; i < p->nconstraint; i++) {
                const sim_constraint *c = &p->constraint[i];
                for (int k = c->row; k < c->row + c->rows; k++) {
                    s[k] = p->offset[k] - b.target[k] + b.R[k] * gamma[k];
                    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
                        for (int j = 0; j < 6; j++) {
                            s[k] += p->J[c->block[side] + 6 * (k - c->row) + j] * v[6 * c->tree[side] + j];
                        }
                    }
                }
            }
            for (int i = 0; i < p->nconstraint; i++) {
                const sim_constraint *c = &p->constraint[i];
                for (int k = c->row; k < c->row + c->rows; k++) {
                    gamma[k] -= 0.02 * s[k];
                }
                natural_project(c, p->step, gamma + c->row);
            }
        }
        double apart = distance_between(v, a.v, p->nv) / norm_of(a.v, p->nv);
        cr_expect_leq(apart, 1e-7, "trial %d: %g", trial, apart);
        answer_free(&a);
        answer_free(&b);
        sim_problem_free(p);
    }
}

/* Where all discs stick both laws are one, and the solution of sap goes to the rigid one as its compliance vanishes. */
Test(turning, sap_goes_to_the_strict_solution_at_rest_as_compliance_vanishes) {
    random_source r = {16};
    for (int trial = 0; trial < 10; trial++) {
        sim_problem *p = turning_heap(&r, 2, 2, 50, 0.1);
        for (int k = 0; k < p->nconstraint; k++) { /* hardly spinning: within wide discs */
            sim_constraint *c = (sim_constraint *)&p->constraint[k];
            c->friction = c->rolling = c->torsion = 100;
        }
        answer exact = rigid_entry(p);
        answer_find(&exact, "pgs", NULL);
        double last = 0;
        for (int k = 0; k < 3; k++) {
            answer a = rigid_entry(p);
            double option[32], part = pow(10, -2 - k);
            const option_setting set[] = {{"tolerance", 1e-12}, {NULL, 0}};
            options_with("sap", set, option);
            for (int row = 0; row < p->nrow; row++) {
                a.R[row] = part;
            }
            answer_find(&a, "sap", option);
            double apart = distance_between(a.v, exact.v, p->nv);
            if (k > 0) {
                cr_expect_leq(apart, 0.15 * last, "trial %d: %g after %g", trial, apart, last);
            }
            last = apart;
            answer_free(&a);
        }
        cr_expect_leq(last, 1e-2);
        answer_free(&exact);
        sim_problem_free(p);
    }
}

Test(turning, the_judge_sees_moments_beyond_their_discs_and_such_that_drive) {
    random_source r = {17};
    sim_problem *p = turning_heap(&r, 1, 4, 0.3, 0.5);
    answer a = answer_create(p, 1, 1e-3);
    answer_find(&a, "pgs", NULL);
    cr_assert_leq(own_error(&a, SIM_CONE_STRICT), 2e-8);
    for (int i = 0, seen = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = 3; k < c->rows && a.impulse[c->row + 2] > 0; k++, seen++) {
            double kept = a.impulse[c->row + k];
            a.impulse[c->row + k] = kept + 0.1 * a.impulse[c->row + 2];
            sim_solver_response(p, a.impulse, a.v);
            cr_expect_gt(own_error(&a, SIM_CONE_STRICT), 1e-3, "contact %d, row %d", i, k);
            a.impulse[c->row + k] = kept;
        }
        cr_expect(i + 1 < p->nconstraint || seen > 2);
    }
    answer_free(&a);
    sim_problem_free(p);
}

Test(turning, solvers_that_cannot_take_it_say_so) {
    random_source r = {18};
    sim_problem *p = turning_heap(&r, 1, 4, 0.3, 0.5);
    int take = 0;
    for (int k = 0; k < sim_solver_count(); k++) {
        sim_error error = {0};
        sim_solver *s = sim_solver_create(sim_solver_at(k), NULL, &error);
        sim_status status = sim_solver_accepts(s, p, &error);
        take += status == SIM_OK;
        cr_expect_eq(status == SIM_OK, sim_solver_at(k)->turning);
        cr_expect(status == SIM_OK || strstr(error.text, sim_solver_at(k)->name), "%s", error.text);
        sim_solver_free(s);
    }
    cr_expect_eq(take, 4);
    sim_problem_free(p);
}

/* A warm start from the solution needs no more iterations. */
Test(turning, a_warm_start_is_the_solution) {
    static const char *const solver[] = {"acn", "pgs", "auto"};
    random_source r = {19};
    for (int trial = 0; trial < 12; trial++) {
        sim_problem *p = turning_heap(&r, 3, 5, 0.3, 0.5);
        for (int s = 0; s < 3; s++) {
            answer cold = answer_create(p, 1, 1e-3);
            answer_find(&cold, solver[s], NULL);
            sim_problem warm = *p;
            warm.impulse_guess = cold.impulse;
            answer again = answer_create(p, 1, 1e-3);
            again.problem = &warm;
            answer_find(&again, solver[s], NULL);
            cr_expect_leq(again.out.iterations, 1, "%s: %d", solver[s], again.out.iterations);
            answer_free(&again);
            answer_free(&cold);
        }
        sim_problem_free(p);
    }
}
