/* Derivatives of the equations that complementarity is written as: where they are smooth, and at their kinks. */
#include "solver/implicit/residual_map.h"
#include "solver/matrices/levenberg_marquardt.h"
#include "solver/pyramid/mlcp.h"
#include "support/answers.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 160 };
static const double LAM = 0.95;

typedef struct setting {
    sim_problem *problem;
    answer entry;
    sim_arena *scratch;
    dual d;
    polyhedral p;
    mlcp m;
    residual_map h;
    double *J, *near, *M;
} setting;

static void begin_with(setting *t, sim_problem *problem, double beta, double sigma, polyhedral_options o) {
    *t = (setting){.problem = problem, .scratch = arena_create()};
    t->entry = answer_create(t->problem, beta, sigma);
    solver_call call = {.problem = t->problem, .R = t->entry.R, .target = t->entry.target, .scratch = t->scratch};
    cr_assert(dual_make(&t->d, &call, t->scratch) && polyhedral_make(&t->p, &t->d, &o, t->scratch) &&
              residual_map_make(&t->h, &t->d, t->scratch));
    cr_assert(t->p.n <= MOST && t->h.n <= MOST);
    cr_assert(mlcp_make(&t->m, &t->p, LAM, t->scratch) && (t->m.step = mlcp_step_make(&t->p, t->scratch)));
    t->M = calloc(MOST * MOST, sizeof *t->M);
    polyhedral_matrix(&t->p, t->M);
    t->J = calloc(MOST * MOST, sizeof *t->J);
    t->near = calloc(MOST * MOST, sizeof *t->near);
}

static void begin_sized(setting *t, random_source *s, int trial, int size) {
    problem_recipe recipe = {.bodies = 3,
                             .chain = size,
                             .contacts = size,
                             .friction = 0.2 * (1 + trial % 4),
                             .kinds = 63,
                             .impact = 1,
                             .scatter = 0.5};
    begin_with(t, random_problem(s, &recipe), 1, 1e-3,
               (polyhedral_options){4 + 2 * (trial % 2), trial % 2, 0.1 * trial});
}

static void begin(setting *t, random_source *s, int trial) { begin_sized(t, s, trial, 5); }

static void end(setting *t) {
    free(t->J);
    free(t->near);
    free(t->M);
    answer_free(&t->entry);
    sim_problem_free(t->problem);
    arena_free(t->scratch);
}

/* The derivative number by number, by columns of J 1. */
static void slopes(const setting *t, const double *x, double *J) {
    int n = t->p.n;
    double unit[MOST] = {0}, column[MOST];
    mlcp_linearise(&t->m, x);
    for (int j = 0; j < n; j++) {
        unit[j] = 1;
        mlcp_jacobian_times(&t->m, unit, column);
        unit[j] = 0;
        for (int i = 0; i < n; i++) {
            J[i * n + j] = column[i];
        }
    }
}

/* x is anything, a good part of it and of y = M x + q zero together. */
static int random_kinks(setting *t, random_source *s, double *x, double *out) {
    int n = t->p.n, count = 0;
    double y[MOST];
    for (int i = 0; i < n; i++) {
        x[i] = random_normal(s);
        out[i] = i >= t->p.free && random_index(s, 3) == 0;
        x[i] = out[i] > 0 ? 0 : x[i];
    }
    polyhedral_velocity(&t->p, x, y);
    for (int i = 0; i < n; i++) {
        t->p.q[i] -= out[i] > 0 ? y[i] : 0;
        count += out[i] > 0;
    }
    polyhedral_invalidate(&t->p);
    return count;
}

static double furthest(int count, const double *a, const double *b) {
    double most = 0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, fabs(a[i] - b[i]) / (1 + fabs(b[i])));
    }
    return most;
}

Test(kinks, the_slope_of_pyramids_is_that_of_differences_where_it_is_smooth) {
    random_source s = {1};
    int both = 0, first = 0, second = 0;
    for (int trial = 0; trial < 30; trial++) {
        setting t;
        begin(&t, &s, trial);
        int n = t.p.n;
        double x[MOST], r[2][MOST], d = 1e-6;
        for (int i = 0; i < n; i++) {
            x[i] = random_normal(&s);
        }
        slopes(&t, x, t.J);
        for (int i = 0; i < n; i++) {
            both += x[i] > 0 && t.m.y[i] > 0;
            first += x[i] > 0 && t.m.y[i] < 0;
            second += x[i] < 0;
        }
        for (int j = 0; j < n; j++) {
            double here = x[j];
            for (int side = 0; side < 2; side++) {
                x[j] = here + (side ? d : -d);
                mlcp_residual(&t.m, x, r[side]);
            }
            x[j] = here;
            for (int i = 0; i < n; i++) {
                double slope = (r[1][i] - r[0][i]) / (2 * d), own = t.J[i * n + j];
                int rough = fabs(x[i]) < 1e-4 || fabs(t.m.y[i]) < 1e-4;
                cr_expect(rough || fabs(own - slope) <= 1e-6 * (1 + fabs(slope)), "%d, %d: %g, not %g", i, j, own,
                          slope);
            }
        }
        end(&t);
    }
    cr_expect(both > 50 && first > 50 && second > 50, "%d %d %d", both, first, second);
}

/* It is the limit of slopes on a way out of the kink along which nothing else is rough, so it belongs to their hull. */
Test(kinks, the_slope_at_a_kink_is_a_limit_of_slopes_beside_it) {
    random_source s = {2};
    int kinks = 0;
    for (int trial = 0; trial < 60; trial++) {
        setting t;
        begin(&t, &s, trial);
        int n = t.p.n;
        double x[MOST], out[MOST], beside[MOST], last = HUGE_VAL;
        kinks += random_kinks(&t, &s, x, out);
        slopes(&t, x, t.J);
        for (int k = 3; k <= 6; k++) {
            double step = pow(10, -k), least = HUGE_VAL;
            for (int i = 0; i < n; i++) {
                beside[i] = x[i] + step * out[i];
                least = out[i] > 0 ? fmin(least, beside[i]) : least;
            }
            slopes(&t, beside, t.near);
            double off = furthest(n * n, t.near, t.J);
            cr_expect_leq(off, 1e3 * step, "trial %d: off by %g at %g", trial, off, step);
            cr_expect(off <= last || off < 1e-6);
            last = off;
        }
        end(&t);
    }
    cr_expect_gt(kinks, 200);
}

/* Row i is da e_i + db M_i; every slope of lam (a + b - h) has (1 - da / lam, 1 - db / lam) within the unit disc. */
Test(kinks, the_slope_at_a_kink_lies_in_the_disc_of_fischer_and_burmeister) {
    random_source s = {3};
    for (int trial = 0; trial < 60; trial++) {
        setting t;
        begin(&t, &s, trial);
        int n = t.p.n;
        double x[MOST], out[MOST];
        random_kinks(&t, &s, x, out);
        slopes(&t, x, t.J);
        for (int i = 0; i < n; i++) {
            const double *M = t.M + (size_t)i * (size_t)n;
            int other = -1;
            for (int j = 0; j < n && out[i] > 0; j++) {
                other = j != i && (other < 0 || fabs(M[j]) > fabs(M[other])) ? j : other;
            }
            if (other < 0 || fabs(M[other]) < 1e-3) {
                continue;
            }
            double db = t.J[i * n + other] / M[other], da = t.J[i * n + i] - db * M[i];
            double radius = hypot(1 - da / LAM, 1 - db / LAM);
            cr_expect_float_eq(radius, 1, 1e-9, "trial %d, row %d: %g", trial, i, radius);
            for (int j = 0; j < n; j++) {
                double due = db * M[j] + (i == j ? da : 0);
                cr_expect_float_eq(t.J[i * n + j], due, 1e-9 * (1 + fabs(due)));
            }
        }
        end(&t);
    }
}

/* Of the cone: on an edge the slope is that of the region on one side of it. */
Test(kinks, on_an_edge_of_the_cone_the_slope_is_that_of_one_side) {
    const double mu = 0.5, t = 1e-7, edge[][3] = {{0.3, -0.4, 0}, {0.3, 0.4, -1}, {0, 0, 0}, {0, 0, -1}},
                 aside[][3] = {{0, 0, 1}, {0, 0, -1}, {0, 0, 1}, {0, 0, -1}};
    for (int k = 0; k < 4; k++) {
        double F[9], beside[9], x[3];
        residual_map_contact_slope(residual_map_contact_region(mu, edge[k]), mu, edge[k], F);
        for (int j = 0; j < 3; j++) {
            x[j] = edge[k][j] + t * aside[k][j];
        }
        residual_map_contact_slope(residual_map_contact_region(mu, x), mu, x, beside);
        for (int j = 0; j < 9; j++) {
            cr_expect_float_eq(F[j], beside[j], 1e-6, "edge %d, entry %d: %g and %g", k, j, F[j], beside[j]);
        }
    }
}

static void turn_some(setting *t, random_source *s) {
    for (int i = 0; i < t->p.groups; i++) {
        double angle = random_normal(s), direction[2] = {cos(angle), sin(angle)};
        if (t->p.group[i].contact >= 0 && random_index(s, 2)) {
            polyhedral_turn(&t->p, i, direction, random_index(s, 2) ? fabs(random_normal(s)) : -1);
        }
    }
}

/* M x + q is what polyhedral_velocity makes of x, turned and compliant or not. */
Test(kinks, the_matrix_of_pyramids_is_what_its_products_say) {
    random_source s = {4};
    for (int trial = 0; trial < 20; trial++) {
        setting t;
        begin(&t, &s, trial);
        turn_some(&t, &s);
        polyhedral_matrix(&t.p, t.M);
        int n = t.p.n;
        double x[MOST], y[MOST];
        for (int i = 0; i < n; i++) {
            x[i] = random_normal(&s);
        }
        polyhedral_velocity(&t.p, x, y);
        for (int i = 0; i < n; i++) {
            double sum = t.p.q[i];
            for (int j = 0; j < n; j++) {
                sum += t.M[i * n + j] * x[j];
            }
            cr_expect_float_eq(y[i], sum, 1e-11 * (1 + fabs(sum)), "%d (rows %d, free %d, normal %d): %g, not %g", i,
                               t.p.unknown[i].rows, t.p.unknown[i].free, t.p.unknown[i].normal, y[i], sum);
        }
        end(&t);
    }
}

/* The step through impulses alone is that of the whole J, for any lambda; and Newton's, where W is softened. */
Test(kinks, the_step_by_groups_is_the_least_of_the_whole) {
    random_source s = {5};
    double *work = calloc(levenberg_work(MOST), sizeof *work);
    int small = 0;
    for (int trial = 0; trial < 60; trial++) {
        setting t;
        begin_sized(&t, &s, trial, trial < 45 ? 5 : 1); /* these few by the whole J */
        small += t.p.n <= 24;
        turn_some(&t, &s);
        int n = t.p.n, soft = trial % 3 == 0;
        double x[MOST], r[MOST], dx[MOST], whole[MOST], range, lambda = soft ? 1e-16 : pow(10, -(trial % 9));
        t.m.soft = soft ? 0.1 : 0;
        t.m.unit = 1 + trial % 5;
        for (int i = 0; i < n; i++) {
            x[i] = random_normal(&s);
            r[i] = random_normal(&s);
            t.m.near[i] = 0;
        }
        slopes(&t, x, t.J);
        mlcp_step_prepare(&t.m);
        cr_assert(mlcp_step_solve(&t.m, r, lambda, dx, &range));
        cr_assert(levenberg_step(n, t.J, r, lambda, work, whole, &range, NULL));
        double size = 0, off = 0;
        for (int i = 0; i < n; i++) {
            size = fmax(size, fabs(whole[i]));
            off = fmax(off, fabs(dx[i] - whole[i]));
        }
        cr_expect_leq(off, 1e-14 * fmin(range * range, 1e6) * size + 1e-10 * size, "trial %d: %g of %g", trial, off,
                      size);
        end(&t);
    }
    cr_expect(small > 5 && small < 20, "%d", small);
    free(work);
}

/* Eight rigid contacts of one body: W of rank 6, and with next to no softness LU's step is one of rounding.  A step
 * that is called Newton's solves its equations, to a hundredth of r at least. */
Test(kinks, a_step_by_lu_that_does_not_solve_its_equations_is_not_taken) {
    random_source s = {6};
    int newton = 0, squares = 0;
    for (int trial = 0; trial < 60; trial++) {
        setting t;
        problem_recipe recipe = {.bodies = 1, .contacts = 8, .friction = 0.5, .impact = 1, .scatter = 0.5};
        begin_with(&t, random_problem(&s, &recipe), 0, 0, (polyhedral_options){4, 1, 0});
        int n = t.p.n;
        double x[MOST], r[MOST], dx[MOST], Jdx[MOST], range, left = 0, size = 0;
        t.m.soft = trial % 2 ? 1e-3 : pow(10, -14 - trial % 3);
        for (int i = 0; i < n; i++) {
            x[i] = random_normal(&s);
            r[i] = random_normal(&s);
            t.m.near[i] = 0;
        }
        mlcp_linearise(&t.m, x);
        for (int i = 0; i < n; i++) { /* all active: J = M + soft */
            t.m.da[i] = 0;
            t.m.db[i] = 1;
        }
        mlcp_step_prepare(&t.m);
        mlcp_step_solve(&t.m, r, 1e-16, dx, &range);
        mlcp_jacobian_times(&t.m, dx, Jdx);
        for (int i = 0; i < n; i++) {
            left += (Jdx[i] + r[i]) * (Jdx[i] + r[i]);
            size += r[i] * r[i];
        }
        cr_expect(range != 1 || left <= 1e-4 * size, "trial %d: %g of %g left", trial, sqrt(left), sqrt(size));
        newton += range == 1;
        squares += range != 1;
        end(&t);
    }
    cr_expect(newton >= 20 && squares >= 5, "%d by LU, %d by squares", newton, squares);
}
