/* Lemke's method: every answer is one, rays are told, ties do not make it go round. */
#include "solver/pyramid/lemke.h"
#include "support/models.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MOST = 12 };

typedef struct trial {
    int n;
    double M[MOST * MOST], q[MOST], x[MOST];
    lemke_result answer;
} trial;

static void solve(trial *t) {
    sim_arena *scratch = arena_create();
    lemke_problem p = {t->n, t->M, t->q, t->n, 1000, NULL, NULL};
    t->answer = (lemke_result){.x = t->x};
    cr_assert(lemke_solve(&p, scratch, &t->answer));
    arena_free(scratch);
}

/* Greatest |min(x, M x + q)|. */
static double off(const trial *t) {
    double most = 0;
    for (int i = 0; i < t->n; i++) {
        double y = t->q[i];
        for (int j = 0; j < t->n; j++) {
            y += t->M[i * t->n + j] * t->x[j];
        }
        most = fmax(most, fabs(fmin(t->x[i], y)));
    }
    return most;
}

/* G G' of so many columns, and a skew part: positive semidefinite, not symmetric. */
static void fill(random_source *r, trial *t, int rank, double skew) {
    double G[MOST][MOST];
    for (int i = 0; i < t->n; i++) {
        for (int k = 0; k < rank; k++) {
            G[i][k] = random_normal(r);
        }
    }
    for (int i = 0; i < t->n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0, turn = i == j ? 0 : skew * random_normal(r);
            for (int k = 0; k < rank; k++) {
                sum += G[i][k] * G[j][k];
            }
            t->M[i * t->n + j] = sum + turn;
            t->M[j * t->n + i] = sum - turn;
        }
    }
}

Test(lemke, answers_what_has_an_answer_singular_or_not_symmetric_or_not) {
    random_source r = {1};
    for (int k = 0; k < 2000; k++) {
        trial t = {.n = 2 + k % (MOST - 1)};
        fill(&r, &t, k % 3 ? t.n : (t.n + 1) / 2, k % 2 ? 0.5 : 0);
        /* q = y - M x with complementary x and y, so that there is an answer */
        double x[MOST];
        for (int i = 0; i < t.n; i++) {
            int which = random_index(&r, 3);
            x[i] = which == 0 ? random_uniform(&r, 0.1, 1) : 0;
            t.q[i] = which == 1 ? random_uniform(&r, 0.1, 1) : 0;
        }
        for (int i = 0; i < t.n; i++) {
            for (int j = 0; j < t.n; j++) {
                t.q[i] -= t.M[i * t.n + j] * x[j];
            }
        }
        solve(&t);
        cr_expect_eq(t.answer.end, LEMKE_SOLVED, "trial %d of %d: end %d", k, t.n, (int)t.answer.end);
        cr_expect_leq(off(&t), 1e-9, "trial %d of %d: off by %g", k, t.n, off(&t));
    }
}

/* Of a positive definite M the answer is unique: found here by trying all sets of x that are not zero. */
Test(lemke, finds_the_only_answer_that_trying_all_finds) {
    random_source r = {2};
    for (int k = 0; k < 200; k++) {
        trial t = {.n = 2};
        fill(&r, &t, 2, 0.3);
        t.M[0] += 0.1;
        t.M[3] += 0.1;
        t.q[0] = random_normal(&r);
        t.q[1] = random_normal(&r);
        solve(&t);
        double a = t.M[0], b = t.M[1], c = t.M[2], d = t.M[3], det = a * d - b * c, *q = t.q;
        double of[4][2] = {
            {0, 0}, {-q[0] / a, 0}, {0, -q[1] / d}, {(b * q[1] - d * q[0]) / det, (c * q[0] - a * q[1]) / det}};
        int found = 0;
        for (int s = 0; s < 4; s++) {
            double y0 = q[0] + a * of[s][0] + b * of[s][1], y1 = q[1] + c * of[s][0] + d * of[s][1];
            if (of[s][0] >= 0 && of[s][1] >= 0 && y0 >= -1e-12 && y1 >= -1e-12) {
                found++;
                cr_expect_float_eq(t.x[0], of[s][0], 1e-10);
                cr_expect_float_eq(t.x[1], of[s][1], 1e-10);
            }
        }
        cr_expect_eq(found, 1, "trial %d: %d answers", k, found);
    }
}

/* y_1 = x_2 - 1, y_2 = -x_1 - 1 < 0: nothing helps the second. */
Test(lemke, tells_a_ray) {
    trial t = {.n = 2, .M = {0, 1, -1, 0}, .q = {-1, -1}};
    solve(&t);
    cr_expect_eq(t.answer.end, LEMKE_RAY, "end %d", (int)t.answer.end);
    cr_expect_gt(t.answer.cover, 0);
}

/* All rows are equal: every pivot is a tie. */
Test(lemke, ends_where_everything_is_a_tie) {
    for (int n = 1; n <= MOST; n++) {
        trial t = {.n = n};
        for (int i = 0; i < n; i++) {
            t.q[i] = -1;
            for (int j = 0; j < n; j++) {
                t.M[i * n + j] = 1;
            }
        }
        solve(&t);
        cr_expect_eq(t.answer.end, LEMKE_SOLVED, "%d rows: end %d", n, (int)t.answer.end);
        cr_expect_leq(off(&t), 1e-14);
        cr_expect_leq(t.answer.pivots, 2 * n);
    }
}

Test(lemke, keeps_to_the_pivots_that_it_may_make) {
    random_source r = {3};
    trial t = {.n = MOST};
    fill(&r, &t, MOST, 0);
    for (int i = 0; i < MOST; i++) {
        t.q[i] = -1 - i;
    }
    sim_arena *scratch = arena_create();
    lemke_problem p = {t.n, t.M, t.q, t.n, 3, NULL, NULL};
    t.answer = (lemke_result){.x = t.x};
    cr_assert(lemke_solve(&p, scratch, &t.answer));
    cr_expect_eq(t.answer.end, LEMKE_LIMIT);
    cr_expect_leq(t.answer.pivots, 3);
    arena_free(scratch);
}
