/* FCLIB's problems with rolling friction: five rows a contact, (n, t1, t2, r1, r2), with mu and mu_r. */
#include "h5.h"
#include "support/answers.h"
#include "support/judged.h"
#include "support/models.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { N = 12, NC = 3, M = 5 * NC };

typedef struct rolling {
    double A[N * N], H[N * M], f[N], w[M], mu[NC], mu_r[NC];
} rolling;

/* Two bodies: the first two contacts on one each, the third between both. */
static rolling make_rolling(random_source *r) {
    rolling g = {.A = {0}};
    for (int b = 0; b < 2; b++) {
        double L[36];
        for (int k = 0; k < 36; k++) {
            L[k] = random_normal(r);
        }
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 6; j++) {
                for (int k = 0; k < 6; k++) {
                    g.A[(6 * b + i) * N + 6 * b + j] += L[6 * i + k] * L[6 * j + k] + (i == j && i == k ? 2 : 0);
                }
            }
        }
    }
    for (int c = 0; c < NC; c++) {
        for (int j = c == 1 ? 6 : 0; j < (c == 0 ? 6 : N); j++) {
            for (int k = 0; k < 5; k++) {
                g.H[j * M + 5 * c + k] = random_normal(r);
            }
        }
        g.w[5 * c] = -2;
        g.mu[c] = 0.3 + 0.1 * c;
        g.mu_r[c] = 0.05 * (c + 1);
    }
    for (int j = 0; j < N; j++) {
        g.f[j] = random_normal(r);
    }
    return g;
}

static void write_rolling(const char *path, const rolling *g, int dimension, h5_storage storage) {
    hid_t file = h5_new(path), root = h5_group(file, "fclib_global_rolling"), vectors = h5_group(root, "vectors");
    h5_int(root, "spacedim", dimension);
    h5_matrix(root, "M", N, N, g->A, storage);
    h5_matrix(root, "H", N, M, g->H, storage);
    h5_reals(vectors, "f", N, g->f);
    h5_reals(vectors, "w", M, g->w);
    h5_reals(vectors, "mu", NC, g->mu);
    h5_reals(vectors, "mu_r", NC, g->mu_r);
    H5Fclose(file);
}

static void path_in(char *path, size_t size) { snprintf(path, size, "/tmp/sim-rolling-%d.h5", (int)getpid()); }

Test(problem_rolling, has_the_rows_and_coefficients_of_the_file) {
    static const int place[5] = {1, 2, 0, 3, 4}; /* in FCLIB's order */
    random_source r = {31};
    rolling g = make_rolling(&r);
    char path[64];
    path_in(path, sizeof path);
    for (int storage = 0; storage < H5_STORAGES; storage++) {
        sim_error error = {0};
        write_rolling(path, &g, 5, (h5_storage)storage);
        sim_problem_file *file = sim_problem_file_read(path, &error);
        cr_assert(file, "%s", error.text);
        const sim_problem *p = sim_problem_file_problem(file);
        cr_assert(p->nconstraint == NC && p->nrow == M && p->ntree == 2);
        for (int i = 0; i < NC; i++) {
            const sim_constraint *c = &p->constraint[i];
            cr_expect(c->kind == SIM_CONTACT && c->rows == 5 && c->friction == g.mu[i] && c->rolling == g.mu_r[i]);
            for (int k = 0; k < 5; k++) {
                cr_expect_eq(p->offset[c->row + k], g.w[5 * i + place[k]]);
                for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
                    for (int j = 0; j < 6; j++) {
                        double due = g.H[(6 * c->tree[side] + j) * M + 5 * i + place[k]];
                        cr_expect_eq(p->J[c->block[side] + 6 * k + j], due, "contact %d, row %d", i, k);
                    }
                }
            }
        }
        sim_problem_file_free(file);
    }
    unlink(path);
}

/* u = H' v + w and M v = H r + f, and the natural map of r in FCLIB's order, without any of our own code. */
static double fclib_error(const rolling *g, const double *r, const double *v, const double *u) {
    double worst = 0;
    for (int i = 0; i < N; i++) {
        double sum = -g->f[i];
        for (int j = 0; j < N; j++) {
            sum += g->A[i * N + j] * v[j];
        }
        for (int k = 0; k < M; k++) {
            sum -= g->H[i * M + k] * r[k];
        }
        worst = fmax(worst, fabs(sum));
    }
    for (int k = 0; k < M; k++) {
        double sum = g->w[k];
        for (int j = 0; j < N; j++) {
            sum += g->H[j * M + k] * v[j];
        }
        worst = fmax(worst, fabs(sum - u[k]));
    }
    for (int c = 0; c < NC; c++) {
        const double *a = r + 5 * c, *b = u + 5 * c;
        double slip = hypot(b[1], b[2]), turn = hypot(b[3], b[4]), force = hypot(a[1], a[2]),
               moment = hypot(a[3], a[4]);
        worst = fmax(worst, fmax(-a[0], -b[0]));
        worst = fmax(worst, fabs(a[0] * b[0]));
        worst = fmax(worst, fmax(force - g->mu[c] * a[0], moment - g->mu_r[c] * a[0]));
        worst = fmax(worst, fabs(a[1] * b[1] + a[2] * b[2] + g->mu[c] * a[0] * slip));
        worst = fmax(worst, fabs(a[3] * b[3] + a[4] * b[4] + g->mu_r[c] * a[0] * turn));
    }
    return worst;
}

static void read_solution(const char *path, double *r, double *v, double *u) {
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const struct {
        const char *name;
        double *to;
        hsize_t count;
    } all[] = {{"/solution/r", r, M}, {"/solution/v", v, N}, {"/solution/u", u, M}};
    for (int k = 0; k < 3; k++) {
        hid_t set = H5Dopen2(file, all[k].name, H5P_DEFAULT), space = H5Dget_space(set);
        cr_assert_eq((hsize_t)H5Sget_simple_extent_npoints(space), all[k].count, "%s", all[k].name);
        H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all[k].to);
        H5Sclose(space);
        H5Dclose(set);
    }
    H5Fclose(file);
}

Test(problem_rolling, is_solved_and_answered_in_the_order_of_the_file) {
    random_source r = {32};
    char path[64];
    path_in(path, sizeof path);
    for (int trial = 0; trial < 10; trial++) {
        sim_error error = {0};
        rolling g = make_rolling(&r);
        write_rolling(path, &g, 5, H5_TRIPLETS);
        sim_problem_file *file = sim_problem_file_read(path, &error);
        cr_assert(file, "%s", error.text);
        answer a = rigid_entry(sim_problem_file_problem(file));
        answer_find(&a, "auto", NULL);
        cr_expect_leq(judged(a.problem, a.impulse).E, 2e-8);
        cr_assert_eq(sim_problem_file_answer(file, a.impulse, "test", &error), SIM_OK, "%s", error.text);
        cr_assert_eq(sim_problem_file_write(file, path, &error), SIM_OK, "%s", error.text);
        double found_r[M], v[N], u[M], stored_v[N], stored[M];
        read_solution(path, found_r, v, u);
        double worst = fclib_error(&g, found_r, v, u);
        cr_expect_leq(worst, 1e-6, "trial %d: %g", trial, worst);
        cr_assert_eq(sim_problem_file_stored(file, stored_v, stored, &error), SIM_OK, "%s", error.text);
        cr_expect_arr_eq(stored, a.impulse, sizeof stored);
        answer_free(&a);
        sim_problem_file_free(file);
    }
    unlink(path);
}

Test(problem_rolling, is_refused_where_the_file_does_not_fit) {
    random_source r = {33};
    rolling g = make_rolling(&r);
    sim_error error = {0};
    char path[64];
    path_in(path, sizeof path);
    write_rolling(path, &g, 3, H5_ROWS);
    cr_assert_null(sim_problem_file_read(path, &error));
    cr_expect(strstr(error.text, "/fclib_global_rolling/spacedim: should be 5"), "%s", error.text);
    write_rolling(path, &g, 5, H5_ROWS);
    h5_delete(path, "/fclib_global_rolling/vectors/mu_r");
    cr_assert_null(sim_problem_file_read(path, &error));
    cr_expect(strstr(error.text, "mu_r: is missing"), "%s", error.text);
    g.A[1] += 1;
    write_rolling(path, &g, 5, H5_ROWS);
    cr_assert_null(sim_problem_file_read(path, &error));
    cr_expect(strstr(error.text, "symmetric"), "%s", error.text);
    unlink(path);
}
