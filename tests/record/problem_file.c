/* Contact problems in files: what was read is written again, and what is made of it is what the file says. */
#include "fixture.h"
#include "h5.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NC = 3, M = 3 * NC, P = 2, N = 18 };

typedef struct place {
    char folder[64], path[3][120];
} place;

static place place_open(void) {
    place at = {.folder = "/tmp/problem_XXXXXX"};
    cr_assert_not_null(mkdtemp(at.folder));
    for (int k = 0; k < 3; k++) {
        snprintf(at.path[k], sizeof at.path[k], "%s/%d.hdf5", at.folder, k);
    }
    return at;
}

static void place_close(place *at) {
    for (int k = 0; k < 3; k++) {
        unlink(at->path[k]);
    }
    cr_assert_eq(rmdir(at->folder), 0, "%s is not empty", at->folder);
}

static sim_problem_file *read_well(const char *path) {
    sim_error error = {0};
    sim_problem_file *file = sim_problem_file_read(path, &error);
    cr_assert_not_null(file, "%s", error.text);
    return file;
}

static void write_well(const sim_problem_file *file, const char *path) {
    sim_error error = {0};
    cr_assert_eq(sim_problem_file_write(file, path, &error), SIM_OK, "%s", error.text);
}

/* ---- dense algebra, apart from all that is tested ---- */

/* x <- A^-1 x by elimination with pivots. */
static void dense_solve(int n, const double *A, double *x) {
    double *a = malloc((size_t)(n * n) * sizeof *a);
    memcpy(a, A, (size_t)(n * n) * sizeof *a);
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k; i < n; i++) {
            p = fabs(a[i * n + k]) > fabs(a[p * n + k]) ? i : p;
        }
        for (int j = 0; j < n; j++) {
            double t = a[k * n + j];
            a[k * n + j] = a[p * n + j];
            a[p * n + j] = t;
        }
        double t = x[k];
        x[k] = x[p];
        x[p] = t;
        for (int i = k + 1; i < n; i++) {
            double f = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n; j++) {
                a[i * n + j] -= f * a[k * n + j];
            }
            x[i] -= f * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) {
            x[k] -= a[k * n + j] * x[j];
        }
        x[k] /= a[k * n + k];
    }
    free(a);
}

/* A global problem in numbers: three bodies of six velocities, contacts 0-1, 1-2, 0-ground, two bilateral rows. */
typedef struct global {
    double A[N * N], H[N * M], G[N * P], f[N], w[M], b[P], mu[NC];
} global;

static global make_global(random_source *r, const int *dof) {
    static const int touches[NC][2] = {{0, 1}, {1, 2}, {0, 0}}, joined[P][2] = {{0, 2}, {1, 1}};
    global g = {0};
    for (int body = 0; body < 3; body++) {
        for (int i = 0; i < 6; i++) {
            g.A[dof[6 * body + i] * N + dof[6 * body + i]] = random_uniform(r, 1, 3);
        }
    }
    for (int a = 0; a < NC; a++) {
        g.mu[a] = 0.25 * (a + 1);
        for (int k = 0; k < 12; k++) {
            for (int j = 0; j < 3; j++) {
                g.H[dof[6 * touches[a][k / 6] + k % 6] * M + 3 * a + j] = random_normal(r);
            }
        }
    }
    for (int a = 0; a < P; a++) {
        for (int k = 0; k < 12; k++) {
            g.G[dof[6 * joined[a][k / 6] + k % 6] * P + a] = random_normal(r);
        }
        g.b[a] = random_normal(r);
    }
    for (int i = 0; i < N; i++) {
        g.f[i] = random_normal(r);
    }
    for (int k = 0; k < M; k++) {
        g.w[k] = random_normal(r);
    }
    return g;
}

static void write_global(const char *path, const global *g, h5_storage storage, int bilateral) {
    hid_t file = h5_new(path), root = h5_group(file, "fclib_global"), vectors = h5_group(root, "vectors");
    h5_int(root, "spacedim", 3);
    h5_matrix(root, "M", N, N, g->A, storage);
    h5_matrix(root, "H", N, M, g->H, storage);
    h5_reals(vectors, "f", N, g->f);
    h5_reals(vectors, "w", M, g->w);
    h5_reals(vectors, "mu", NC, g->mu);
    if (bilateral) {
        h5_matrix(root, "G", N, P, g->G, storage);
        h5_reals(vectors, "b", P, g->b);
    }
    H5Fclose(file);
}

/* Column k of (H, G), or f. */
static void column_of(const global *g, int k, double *x) {
    for (int i = 0; i < N; i++) {
        x[i] = k < M ? g->H[i * M + k] : k < M + P ? g->G[i * P + k - M] : g->f[i];
    }
}

/* K = (H, G)' M^-1 (H, G), q = (H, G)' M^-1 f + (w, b), in FCLIB's order. */
static void dense_delassus(const global *g, double K[(M + P) * (M + P)], double q[M + P]) {
    double x[N], column[N];
    for (int k = 0; k <= M + P; k++) {
        column_of(g, k, x);
        dense_solve(N, g->A, x);
        for (int row = 0; row < M + P; row++) {
            double sum = 0;
            column_of(g, row, column);
            for (int i = 0; i < N; i++) {
                sum += column[i] * x[i];
            }
            if (k < M + P) {
                K[row * (M + P) + k] = sum;
            } else {
                q[row] = sum + (row < M ? g->w[row] : g->b[row - M]);
            }
        }
    }
}

/* Where row k of a problem with NC contacts and then single rows stands in FCLIB's order. */
static int fclib_row(int k) { return k < M ? k - k % 3 + (k % 3 + 1) % 3 : k; }

/* u = J v* + w and J A^-1 J' e_k of a problem, by what it offers to solvers. */
static void jacobian_times(const sim_problem *p, const double *v, double *u) {
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = 0; k < c->rows; k++) {
            u[c->row + k] = 0;
            for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
                const sim_problem_tree *t = &p->tree[c->tree[side]];
                for (int j = 0; j < t->nv; j++) {
                    u[c->row + k] += p->J[c->block[side] + k * t->nv + j] * v[t->v0 + j];
                }
            }
        }
    }
}

static void response(const sim_problem *p, int row, double *u) {
    if (sim_problem_local(p)) {
        for (int i = 0; i < p->nconstraint; i++) {
            const sim_constraint *c = &p->constraint[i];
            for (int k = 0; k < c->rows; k++) {
                u[c->row + k] = 0;
                for (int b = p->W->start[i]; b < p->W->start[i + 1]; b++) {
                    const sim_constraint *o = &p->constraint[p->W->column[b]];
                    if (row >= o->row && row < o->row + o->rows) {
                        u[c->row + k] = p->W->value[p->W->at[b] + k * o->rows + row - o->row];
                    }
                }
            }
        }
        return;
    }
    double *v = calloc((size_t)p->nv, sizeof *v);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int side = 0; side < 2 && c->tree[side] >= 0 && row >= c->row && row < c->row + c->rows; side++) {
            const sim_problem_tree *t = &p->tree[c->tree[side]];
            for (int j = 0; j < t->nv; j++) {
                v[t->v0 + j] = p->J[c->block[side] + (row - c->row) * t->nv + j];
            }
        }
    }
    for (int t = 0; t < p->ntree; t++) {
        p->mass.solve(p->mass.self, t, v + p->tree[t].v0);
    }
    jacobian_times(p, v, u);
    free(v);
}

static void velocity_without_impulses(const sim_problem *p, double *u) {
    if (sim_problem_local(p)) {
        memcpy(u, p->q, (size_t)p->nrow * sizeof *u);
        return;
    }
    jacobian_times(p, p->v_free, u);
    for (int k = 0; k < p->nrow; k++) {
        u[k] += p->offset ? p->offset[k] : 0;
    }
}

static void is_the_dense_problem(const sim_problem *p, const global *g, int rows) {
    double K[(M + P) * (M + P)], q[M + P], u[M + P];
    dense_delassus(g, K, q);
    cr_assert_eq(p->nrow, rows);
    velocity_without_impulses(p, u);
    for (int k = 0; k < rows; k++) {
        cr_expect_float_eq(u[k], q[fclib_row(k)], 1e-12, "q, row %d", k);
    }
    for (int k = 0; k < rows; k++) {
        response(p, k, u);
        for (int j = 0; j < rows; j++) {
            double should = K[fclib_row(j) * (M + P) + fclib_row(k)];
            cr_expect_float_eq(u[j], should, 1e-12 * (1 + fabs(should)), "W, row %d, column %d", j, k);
        }
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        cr_expect_eq(c->kind, i < NC ? SIM_CONTACT : SIM_EQUALITY);
        cr_expect_eq(c->friction, i < NC ? g->mu[i] : 0);
        cr_expect(isinf(c->stiffness));
    }
}

/* ---- what FCLIB says becomes a problem ---- */

static void in_order(int *dof) {
    for (int i = 0; i < N; i++) {
        dof[i] = i;
    }
}

Test(problem_file, of_the_global_form_is_the_problem_of_dense_algebra_for_all_kinds_of_storage) {
    place at = place_open();
    random_source r = {7};
    int dof[N];
    in_order(dof);
    global g = make_global(&r, dof);
    for (int storage = 0; storage < H5_STORAGES; storage++) {
        for (int bilateral = 0; bilateral < 2; bilateral++) {
            write_global(at.path[0], &g, (h5_storage)storage, bilateral);
            sim_problem_file *file = read_well(at.path[0]);
            const sim_problem *p = sim_problem_file_problem(file);
            cr_expect_eq(p->ntree, 3);
            is_the_dense_problem(p, &g, bilateral ? M + P : M);
            sim_problem_file_free(file);
        }
    }
    place_close(&at);
}

Test(problem_file, finds_bodies_whose_velocities_are_numbered_at_random) {
    place at = place_open();
    random_source r = {8};
    int dof[N];
    in_order(dof);
    for (int i = N - 1; i > 0; i--) {
        int j = random_index(&r, i + 1), kept = dof[i];
        dof[i] = dof[j];
        dof[j] = kept;
    }
    global g = make_global(&r, dof);
    write_global(at.path[0], &g, H5_COLUMNS, 1);
    sim_problem_file *file = read_well(at.path[0]);
    is_the_dense_problem(sim_problem_file_problem(file), &g, M + P);
    cr_expect_eq(sim_problem_file_problem(file)->ntree, 3);
    sim_problem_file_free(file);
    place_close(&at);
}

Test(problem_file, with_a_mass_that_is_not_symmetric_becomes_local) {
    place at = place_open();
    random_source r = {9};
    int dof[N];
    in_order(dof);
    global g = make_global(&r, dof);
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < i; j++) {
            g.A[i * N + j] += 0.1 * random_normal(&r);
        }
    }
    write_global(at.path[0], &g, H5_ROWS, 1);
    sim_problem_file *file = read_well(at.path[0]);
    const sim_problem *p = sim_problem_file_problem(file);
    cr_assert(sim_problem_local(p) && !p->W->symmetric);
    is_the_dense_problem(p, &g, M + P);
    sim_problem_file_free(file);
    place_close(&at);
}

Test(problem_file, evens_out_a_mass_that_rounding_alone_keeps_from_being_symmetric) {
    place at = place_open();
    random_source r = {10};
    int dof[N];
    in_order(dof);
    global g = make_global(&r, dof);
    g.A[1] = 0.3;
    g.A[N] = 0.3 * (1 + 1e-15);
    write_global(at.path[0], &g, H5_TRIPLETS, 0);
    sim_problem_file *file = read_well(at.path[0]);
    cr_expect_eq(sim_problem_file_problem(file)->ntree, 3);
    is_the_dense_problem(sim_problem_file_problem(file), &g, M);
    write_well(file, at.path[1]);
    cr_expect_null(h5_difference(at.path[0], at.path[1]), "the file itself stays as it was");
    sim_problem_file_free(file);
    place_close(&at);
}

static void write_local(const char *path, const double *K, const double *q, h5_storage storage) {
    double W[M * M], V[M * P], R[P * P], mu[NC] = {0.25, 0.5, 0.75};
    for (int i = 0; i < M + P; i++) {
        for (int j = 0; j < M + P; j++) {
            double x = K[i * (M + P) + j];
            if (i < M) {
                *(j < M ? &W[i * M + j] : &V[i * P + j - M]) = x;
            } else if (j >= M) {
                R[(i - M) * P + j - M] = x;
            }
        }
    }
    hid_t file = h5_new(path), root = h5_group(file, "fclib_local"), vectors = h5_group(root, "vectors");
    h5_int(root, "spacedim", 3);
    h5_matrix(root, "W", M, M, W, storage);
    h5_matrix(root, "V", M, P, V, storage);
    h5_matrix(root, "R", P, P, R, storage);
    h5_reals(vectors, "q", M, q);
    h5_reals(vectors, "s", P, q + M);
    h5_reals(vectors, "mu", NC, mu);
    H5Fclose(file);
}

Test(problem_file, of_the_local_form_is_the_same_problem) {
    place at = place_open();
    random_source r = {11};
    double K[(M + P) * (M + P)], q[M + P];
    int dof[N];
    in_order(dof);
    global g = make_global(&r, dof);
    dense_delassus(&g, K, q);
    for (int i = 0; i < M + P; i++) {
        for (int j = 0; j < i; j++) {
            K[i * (M + P) + j] = K[j * (M + P) + i];
        }
    }
    for (int storage = 0; storage < H5_STORAGES; storage++) {
        write_local(at.path[0], K, q, (h5_storage)storage);
        sim_problem_file *file = read_well(at.path[0]);
        const sim_problem *p = sim_problem_file_problem(file);
        cr_assert(sim_problem_local(p) && p->W->symmetric);
        is_the_dense_problem(p, &g, M + P);
        sim_problem_file_free(file);
    }
    K[M + P] *= 1 + 1e-6;
    write_local(at.path[0], K, q, H5_ROWS);
    sim_problem_file *file = read_well(at.path[0]);
    cr_expect_not(sim_problem_file_problem(file)->W->symmetric);
    sim_problem_file_free(file);
    place_close(&at);
}

/* ---- the normal comes first in FCLIB, last here ---- */

Test(problem_file, puts_the_normal_last) {
    place at = place_open();
    const double W[9] = {2, 0.25, 0.5, 0.25, 3, 0.75, 0.5, 0.75, 4}, q[3] = {-1, 10, 20}, mu = 0.5;
    hid_t h5 = h5_new(at.path[0]), root = h5_group(h5, "fclib_local"), vectors = h5_group(root, "vectors");
    h5_int(root, "spacedim", 3);
    h5_matrix(root, "W", 3, 3, W, H5_ROWS);
    h5_reals(vectors, "q", 3, q);
    h5_reals(vectors, "mu", 1, &mu);
    H5Fclose(h5);
    sim_problem_file *file = read_well(at.path[0]);
    const sim_problem *p = sim_problem_file_problem(file);
    const double ours[9] = {3, 0.75, 0.25, 0.75, 4, 0.5, 0.25, 0.5, 2}, ours_q[3] = {10, 20, -1};
    cr_expect_arr_eq(p->W->value, ours, sizeof ours);
    cr_expect_arr_eq(p->q, ours_q, sizeof ours_q);
    sim_problem_file_free(file);
    place_close(&at);
}

/* ---- what was read is written again ---- */

/* All that a file may hold beside the problem: texts, attributes, numbers of other types, guesses, what nobody
 * knows. */
static void decorate(const char *path, const char *form) {
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), root = H5Gopen2(file, form, H5P_DEFAULT);
    hid_t info = h5_group(root, "info"), solution = h5_group(file, "solution"), guesses = h5_group(file, "guesses");
    hid_t first = h5_group(guesses, "1"), odd = h5_group(file, "odd"), scalar = H5Screate(H5S_SCALAR);
    double r[M] = {1, 2, 3, NAN, -0.0}, condition = NAN;
    h5_text(info, "title", "a title");
    h5_text(info, "description", "with \xc3\xa4 and \"quotes\"");
    h5_reals(solution, "r", M, r);
    h5_reals(solution, "u", M, r);
    h5_int(guesses, "number_of_guesses", 1);
    h5_reals(first, "r", M, r);
    hid_t attribute = H5Acreate2(root, "cond", H5T_IEEE_F64LE, scalar, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_DOUBLE, &condition);
    H5Aclose(attribute);
    hsize_t size[2] = {2, 3};
    short small[6] = {1, -2, 3, -4, 5, -6};
    hid_t space = H5Screate_simple(2, size, NULL);
    hid_t set = H5Dcreate2(odd, "short", H5T_STD_I16BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_SHORT, H5S_ALL, H5S_ALL, H5P_DEFAULT, small);
    H5Dclose(set);
    hid_t pair = H5Tcreate(H5T_COMPOUND, 8);
    H5Tinsert(pair, "a", 0, H5T_STD_I32LE);
    H5Tinsert(pair, "b", 4, H5T_IEEE_F32LE);
    set = H5Dcreate2(odd, "pairs", pair, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(set);
    set = H5Dcreate2(odd, "nothing", H5T_IEEE_F32LE, H5Screate(H5S_NULL), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(set);
    hid_t ends[] = {root, info, solution, guesses, first, odd};
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++) {
        H5Gclose(ends[k]);
    }
    H5Fclose(file);
}

static void comes_back(place *at) {
    sim_problem_file *file = read_well(at->path[0]);
    write_well(file, at->path[1]);
    sim_problem_file_free(file);
    cr_expect_null(h5_difference(at->path[0], at->path[1]), "%s differs", h5_difference(at->path[0], at->path[1]));
}

Test(problem_file, comes_back_bit_for_bit_for_all_kinds_of_storage) {
    place at = place_open();
    random_source r = {12};
    double K[(M + P) * (M + P)], q[M + P];
    int dof[N];
    in_order(dof);
    global g = make_global(&r, dof);
    dense_delassus(&g, K, q);
    for (int storage = 0; storage < H5_STORAGES; storage++) {
        write_global(at.path[0], &g, (h5_storage)storage, 1);
        decorate(at.path[0], "fclib_global");
        comes_back(&at);
        write_local(at.path[0], K, q, (h5_storage)storage);
        decorate(at.path[0], "fclib_local");
        comes_back(&at);
    }
    place_close(&at);
}

Test(problem_file, of_the_collection_comes_back_bit_for_bit) {
    place at = place_open();
    DIR *folder = opendir("tests/data/fclib");
    int count = 0;
    cr_assert_not_null(folder);
    for (struct dirent *item; (item = readdir(folder));) {
        char path[300];
        snprintf(path, sizeof path, "tests/data/fclib/%s", item->d_name);
        if (item->d_name[0] != '.') {
            sim_problem_file *file = read_well(path);
            write_well(file, at.path[1]);
            cr_expect_null(h5_difference(path, at.path[1]), "%s: %s", path, h5_difference(path, at.path[1]));
            sim_problem_file_free(file);
            count++;
        }
    }
    closedir(folder);
    cr_expect_geq(count, 8);
    place_close(&at);
}

Test(problem_file, is_the_same_bytes_whenever_it_is_written) {
    place at = place_open();
    sim_problem_file *file = read_well("tests/data/fclib/gen-wedge-local-8.hdf5");
    write_well(file, at.path[0]);
    nanosleep(&(struct timespec){1, 100000000}, NULL); /* HDF5 would keep times to the second */
    write_well(file, at.path[1]);
    sim_problem_file_free(file);
    char *bytes[2];
    size_t size[2];
    for (int k = 0; k < 2; k++) {
        FILE *from = fopen(at.path[k], "rb");
        bytes[k] = malloc(1 << 20);
        size[k] = fread(bytes[k], 1, 1 << 20, from);
        fclose(from);
    }
    cr_assert_eq(size[0], size[1]);
    cr_expect_eq(memcmp(bytes[0], bytes[1], size[0]), 0);
    free(bytes[0]);
    free(bytes[1]);
    place_close(&at);
}

/* ---- answers ---- */

static double *read_reals(hid_t file, const char *name, int count) {
    double *values = calloc((size_t)count, sizeof *values);
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    cr_assert_eq(H5Sget_simple_extent_npoints(space), count, "%s", name);
    H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Sclose(space);
    H5Dclose(set);
    return values;
}

/* M v = H r + G l + f, u = H' v + w, in the numbers of the file. */
static void answer_holds(const char *path, const global *g, const double *impulse) {
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    double *r = read_reals(file, "/solution/r", M), *u = read_reals(file, "/solution/u", M);
    double *v = read_reals(file, "/solution/v", N), *l = read_reals(file, "/solution/l", P);
    for (int k = 0; k < M + P; k++) {
        cr_expect_eq(fclib_row(k) < M ? r[fclib_row(k)] : l[fclib_row(k) - M], impulse[k]);
    }
    for (int i = 0; i < N; i++) {
        double sum = g->f[i];
        for (int j = 0; j < M + P; j++) {
            sum += j < M ? g->H[i * M + j] * r[j] : g->G[i * P + j - M] * l[j - M];
        }
        for (int j = 0; j < N; j++) {
            sum -= g->A[i * N + j] * v[j];
        }
        cr_expect_float_eq(sum, 0, 1e-12);
    }
    for (int k = 0; k < M; k++) {
        double sum = g->w[k];
        for (int i = 0; i < N; i++) {
            sum += g->H[i * M + k] * v[i];
        }
        cr_expect_float_eq(u[k], sum, 1e-12);
    }
    free(r);
    free(u);
    free(v);
    free(l);
    H5Fclose(file);
}

Test(problem_file, takes_an_answer_in_the_order_of_fclib) {
    place at = place_open();
    random_source r = {13};
    double impulse[M + P];
    int dof[N];
    sim_error error = {0};
    for (int kind = 0; kind < 3; kind++) { /* in order; numbered backwards; not symmetric */
        for (int i = 0; i < N; i++) {
            dof[i] = kind == 1 ? (5 * i + 3) % N : i;
        }
        global g = make_global(&r, dof);
        g.A[1] += kind == 2 ? 0.25 : 0;
        write_global(at.path[0], &g, H5_TRIPLETS, 1);
        decorate(at.path[0], "fclib_global");
        for (int k = 0; k < M + P; k++) {
            impulse[k] = random_normal(&r);
        }
        sim_problem_file *file = read_well(at.path[0]);
        cr_assert_eq(sim_problem_file_answer(file, impulse, "a test", &error), SIM_OK, "%s", error.text);
        write_well(file, at.path[1]);
        answer_holds(at.path[1], &g, impulse);
        sim_problem_file_free(file);
        h5_delete(at.path[0], "solution");
        h5_delete(at.path[1], "solution");
        cr_expect_null(h5_difference(at.path[0], at.path[1]), "all else is as it was");
    }
    place_close(&at);
}
