/* Derivatives of the dynamics against differences of it, on random forests with joints of every type. */
#include "support/models.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    random_source random;
    sim_model *model;
    sim_derived *d;
    sim_derivatives *work;
    sim_range all;
    sim_v3 gravity;
    int n;
    double *q, *v, *a, *tau;
    double *by_q, *by_v, *by_tau, *due; /* n x n */
} fixture;

static double *numbers(int count) { return calloc((size_t)(count > 0 ? count : 1), sizeof(double)); }

static void open_fixture(fixture *f, uint64_t seed, int bodies) {
    *f = (fixture){.random = {seed}};
    f->model = random_forest(&f->random, bodies);
    cr_assert(f->model);
    f->d = sim_derived_create(f->model, NULL);
    f->work = sim_derivatives_create(f->model, NULL);
    f->all = sim_all(f->model);
    f->gravity = (sim_v3){0.5, -1, -9.81};
    int n = f->n = f->model->nv;
    f->q = numbers(f->model->nq), f->v = numbers(n), f->a = numbers(n), f->tau = numbers(n);
    f->by_q = numbers(n * n), f->by_v = numbers(n * n), f->by_tau = numbers(n * n), f->due = numbers(n * n);
    random_state(&f->random, f->model, f->q, f->v);
    for (int j = 0; j < n; j++) {
        f->a[j] = random_uniform(&f->random, -3, 3);
        f->tau[j] = random_uniform(&f->random, -10, 10);
    }
}

static void close_fixture(fixture *f) {
    double *all[] = {f->q, f->v, f->a, f->tau, f->by_q, f->by_v, f->by_tau, f->due};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        free(all[k]);
    }
    sim_derivatives_free(f->work);
    sim_derived_free(f->d);
    sim_model_free(f->model);
}

static void inverse_dynamics(fixture *f, const double *q, const double *v, const double *x, double *out) {
    sim_kinematics(f->d, f->all, q);
    sim_velocities(f->d, f->all, v);
    sim_rnea(f->d, f->all, x, NULL, f->gravity, out);
}

static void forward_dynamics(fixture *f, const double *q, const double *v, const double *x, double *out) {
    sim_kinematics(f->d, f->all, q);
    sim_velocities(f->d, f->all, v);
    sim_aba(f->d, f->all, x, NULL, f->gravity, NULL, NULL, out);
}

typedef void function(fixture *f, const double *q, const double *v, const double *x, double *out);
enum argument { BY_Q, BY_V, BY_X };

/* Central differences of h and 2 h, extrapolated: (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h. */
static void differences(fixture *f, function *of, enum argument by, const double *x) {
    const double h = 1e-3, weight[4] = {1, -8, 8, -1}, at[4] = {-2, -1, 1, 2};
    double *q = numbers(f->model->nq), *v = numbers(f->n), *to = numbers(f->n), *out = numbers(f->n),
           *along = numbers(f->n);
    for (int j = 0; j < f->n; j++) {
        for (int i = 0; i < f->n; i++) {
            f->due[i * f->n + j] = 0;
        }
        for (int k = 0; k < 4; k++) {
            memset(along, 0, sizeof *along * (size_t)f->n);
            along[j] = at[k] * h;
            memcpy(q, f->q, sizeof *q * (size_t)f->model->nq);
            memcpy(v, f->v, sizeof *v * (size_t)f->n);
            memcpy(to, x, sizeof *to * (size_t)f->n);
            if (by == BY_Q) {
                sim_advance(f->model, f->all, f->q, along, 1, q);
            } else {
                (by == BY_V ? v : to)[j] += along[j];
            }
            of(f, q, v, to, out);
            for (int i = 0; i < f->n; i++) {
                f->due[i * f->n + j] += weight[k] * out[i] / (12 * h);
            }
        }
    }
    free(q), free(v), free(to), free(out), free(along);
}

static double off(const fixture *f, const double *x) {
    double most = 0, size = 0;
    for (int k = 0; k < f->n * f->n; k++) {
        double gap = fabs(x[k] - f->due[k]);
        most = isnan(gap) ? INFINITY : fmax(most, gap);
        size = fmax(size, fabs(f->due[k]));
    }
    return most / fmax(size, 1);
}

/* Of the fourth order in h = 1e-3: 1e-12 times fifth derivatives, over rounding of 1e-16 / h. */
static const double TOLERANCE = 1e-8;

Test(derivatives, of_inverse_dynamics_equal_differences) {
    for (uint64_t seed = 1; seed <= (uint64_t)trials_of(700); seed++) {
        fixture f;
        open_fixture(&f, seed, 1 + (int)(seed % 12));
        sim_kinematics(f.d, f.all, f.q);
        sim_rnea_derivatives(f.work, f.d, f.all, f.v, f.a, f.gravity, f.by_q, f.by_v);
        differences(&f, inverse_dynamics, BY_Q, f.a);
        cr_expect(off(&f, f.by_q) < TOLERANCE, "seed %d, by q: %g", (int)seed, off(&f, f.by_q));
        differences(&f, inverse_dynamics, BY_V, f.a);
        cr_expect(off(&f, f.by_v) < TOLERANCE, "seed %d, by v: %g", (int)seed, off(&f, f.by_v));
        close_fixture(&f);
    }
}

Test(derivatives, of_forward_dynamics_equal_differences) {
    for (uint64_t seed = 1001; seed <= 1000 + (uint64_t)trials_of(300); seed++) {
        fixture f;
        open_fixture(&f, seed, 1 + (int)(seed % 9));
        double *a = numbers(f.n), *due = numbers(f.n);
        sim_kinematics(f.d, f.all, f.q);
        sim_velocities(f.d, f.all, f.v);
        sim_forward_derivatives(f.work, f.d, f.all, f.v, f.tau, f.gravity, NULL, a, f.by_q, f.by_v, f.by_tau);
        forward_dynamics(&f, f.q, f.v, f.tau, due);
        cr_expect(memcmp(a, due, sizeof *a * (size_t)f.n) == 0);
        double *x[3] = {f.by_q, f.by_v, f.by_tau};
        for (int by = 0; by < 3; by++) {
            differences(&f, forward_dynamics, (enum argument)by, f.tau);
            cr_expect(off(&f, x[by]) < TOLERANCE, "seed %d, by %d: %g", (int)seed, by, off(&f, x[by]));
        }
        free(a), free(due);
        close_fixture(&f);
    }
}

Test(derivatives, of_one_tree_are_those_of_the_forest) {
    fixture f;
    open_fixture(&f, 7, 14);
    sim_kinematics(f.d, f.all, f.q);
    sim_rnea_derivatives(f.work, f.d, f.all, f.v, f.a, f.gravity, f.by_q, f.by_v);
    for (int t = 0; t < f.model->ntree; t++) {
        sim_range bodies = sim_tree_range(f.model, t), dofs = sim_dof_range(f.model, bodies);
        int n = dofs.end - dofs.first;
        double *q = numbers(n * n), *v = numbers(n * n);
        sim_rnea_derivatives(f.work, f.d, bodies, f.v, f.a, f.gravity, q, v);
        for (int i = 0; i < n; i++) {
            size_t row = sizeof *q * (size_t)n;
            ptrdiff_t at = (ptrdiff_t)(dofs.first + i) * f.n + dofs.first;
            cr_expect(memcmp(q + (ptrdiff_t)i * n, f.by_q + at, row) == 0);
            cr_expect(memcmp(v + (ptrdiff_t)i * n, f.by_v + at, row) == 0);
        }
        free(q), free(v);
    }
    close_fixture(&f);
}
