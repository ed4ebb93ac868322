/* How long does each algorithm take?
 *
 * CPU time per call in microseconds, the least of many batches: other work on the machine only adds. Models: an arm of
 * 7 dofs, a quadruped of 18, a humanoid of 36 and chains of 10 to 500. Then the growth of the chain's time, as the
 * exponent of n between 100 and 500. */
#include "support/models.h"
#include "support/quick.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct subject {
    const char *name;
    sim_model *model;
    sim_derived *d;
    sim_range all;
    double *q, *v, *a, *tau, *M, *L;
    double *J, *X,
        *root; /* 3 x nv: the tip's point Jacobian; work; square roots of 1 / D, of the one factor or the other */
    sim_operational *operational;
    sim_derivatives *derivatives;
    double *by_q, *by_v, *by_tau; /* nv x nv */
} subject;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void forward_kinematics(subject *s) { sim_poses(s->d, s->all, s->q); }
static void kinematics(subject *s) { sim_kinematics(s->d, s->all, s->q); }
static void velocities(subject *s) { sim_velocities(s->d, s->all, s->v); }
static void inverse_dynamics(subject *s) {
    sim_kinematics(s->d, s->all, s->q);
    sim_velocities(s->d, s->all, s->v);
    sim_rnea(s->d, s->all, s->a, NULL, s->model->gravity, s->tau);
}
static void mass_matrix(subject *s) {
    sim_kinematics(s->d, s->all, s->q);
    sim_crba(s->d, s->all, NULL, NULL, s->M);
}
static void forward_dynamics(subject *s) {
    sim_kinematics(s->d, s->all, s->q);
    sim_velocities(s->d, s->all, s->v);
    sim_aba(s->d, s->all, s->tau, NULL, s->model->gravity, NULL, NULL, s->a);
}
static void inverse_derivatives(subject *s) {
    sim_kinematics(s->d, s->all, s->q);
    sim_rnea_derivatives(s->derivatives, s->d, s->all, s->v, s->a, s->model->gravity, s->by_q, s->by_v);
}
static void forward_derivatives(subject *s) {
    sim_kinematics(s->d, s->all, s->q);
    sim_velocities(s->d, s->all, s->v);
    sim_forward_derivatives(s->derivatives, s->d, s->all, s->v, s->tau, s->model->gravity, NULL, s->a, s->by_q, s->by_v,
                            s->by_tau);
}
static void copy_matrix(subject *s) { memcpy(s->L, s->M, (size_t)s->model->nl * sizeof *s->L); }
static void factor(subject *s) {
    copy_matrix(s);
    sim_ltdl(s->model, s->all, s->L);
}
static void solve(subject *s) { sim_ltdl_solve(s->model, s->all, s->L, s->tau); }
static void articulated_factor(subject *s) { sim_articulated_factor(s->d, s->all, NULL, NULL); }
static void articulated_solve(subject *s) { sim_articulated_solve(s->d, s->all, s->a); }

/* The inverse mass that a contact at the tip feels: X X' of half solves for its three rows. */
static void point_inertia(subject *s) {
    int n = s->model->nv;
    double W[9];
    for (int k = 0; k < 9; k++) {
        double sum = 0;
        for (int j = 0; j < n; j++) {
            sum += s->X[k / 3 * n + j] * s->X[k % 3 * n + j];
        }
        W[k] = sum;
    }
    s->tau[0] += 1e-300 * W[0];
}
static void half_by_branches(subject *s) {
    int n = s->model->nv;
    memcpy(s->X, s->J, 3 * (size_t)n * sizeof *s->X);
    sim_ltdl_half(s->model, s->all, s->L, s->root, 3, (sim_range){0, n}, s->X);
    point_inertia(s);
}
static void half_by_bodies(subject *s) {
    int n = s->model->nv;
    memcpy(s->X, s->J, 3 * (size_t)n * sizeof *s->X);
    sim_articulated_half(s->d, s->all, s->root + n, 3, (sim_range){0, n}, s->X);
    point_inertia(s);
}
static void operational_point(subject *s) {
    sim_point tip = {s->model->nbody - 1, {0.1, 0, 0}};
    double W[9];
    sim_delassus_points(s->operational, s->d, &tip, 1, W);
    s->tau[0] += 1e-300 * W[0];
}

static double microseconds(subject *s, int batches, void (*call)(subject *)) {
    int calls = 1;
    double best = INFINITY, took = 0;
    while (took < 1e-3) { /* batches of at least a millisecond */
        double begin = seconds();
        for (int k = 0; k < calls; k++) {
            call(s);
        }
        took = seconds() - begin;
        calls *= took < 1e-3 ? 2 : 1;
    }
    for (int batch = 0; batch < batches; batch++) {
        double begin = seconds();
        for (int k = 0; k < calls; k++) {
            call(s);
        }
        best = fmin(best, (seconds() - begin) / calls);
        for (int j = 0; j < s->model->nv; j++) { /* keep what is fed back in range */
            s->tau[j] = sin(j);
            s->a[j] = cos(j);
        }
    }
    return 1e6 * best;
}

static const struct {
    const char *name;
    void (*call)(subject *);
} algorithm[] = {
    {"forward kinematics (poses)", forward_kinematics},
    {"kinematics (axes, inertias)", kinematics},
    {"velocities", velocities},
    {"inverse dynamics (kin + RNEA)", inverse_dynamics},
    {"mass matrix (kin + CRBA)", mass_matrix},
    {"forward dynamics (kin + ABA)", forward_dynamics},
    {"derivatives of inverse dynamics", inverse_derivatives},
    {"derivatives of forward dynamics", forward_derivatives},
    {"copy M", copy_matrix},
    {"copy + factor M = L'DL", factor},
    {"solve with L'DL", solve},
    {"articulated factor", articulated_factor},
    {"articulated solve", articulated_solve},
    {"W of a contact, by L'DL", half_by_branches},
    {"W of a contact, by bodies", half_by_bodies},
    {"W of a contact, by Lambda", operational_point},
};
enum { ALGORITHMS = sizeof algorithm / sizeof *algorithm, SUBJECTS = 7 };

static subject subject_of(const char *name, sim_model *model) {
    subject s = {.name = name, .model = model, .d = sim_derived_create(model, NULL), .all = sim_all(model)};
    random_source r = {11};
    s.q = calloc((size_t)model->nq, sizeof *s.q);
    s.v = calloc((size_t)model->nv, sizeof *s.v);
    s.a = calloc((size_t)model->nv, sizeof *s.a);
    s.tau = calloc((size_t)model->nv, sizeof *s.tau);
    s.M = calloc((size_t)model->nl, sizeof *s.M);
    s.L = calloc((size_t)model->nl, sizeof *s.L);
    s.J = calloc(3 * (size_t)model->nv, sizeof *s.J);
    s.X = calloc(3 * (size_t)model->nv, sizeof *s.X);
    s.root = calloc(2 * (size_t)model->nv, sizeof *s.root);
    s.operational = sim_operational_create(model, 1, NULL);
    s.derivatives = sim_derivatives_create(model, NULL);
    s.by_q = calloc((size_t)model->nv * (size_t)model->nv, sizeof *s.by_q);
    s.by_v = calloc((size_t)model->nv * (size_t)model->nv, sizeof *s.by_v);
    s.by_tau = calloc((size_t)model->nv * (size_t)model->nv, sizeof *s.by_tau);
    random_state(&r, model, s.q, s.v);
    sim_kinematics(s.d, s.all, s.q);
    sim_crba(s.d, s.all, NULL, NULL, s.M);
    sim_articulated_factor(s.d, s.all, NULL, NULL);
    sim_point_jacobian(s.d, (sim_point){model->nbody - 1, {0.1, 0, 0}}, s.J);
    for (int j = 0; j < model->nv; j++) {
        s.root[j] = 1 / sqrt(s.M[model->dof[j].row + model->dof[j].depth - 1]);
        s.root[model->nv + j] = sqrt(s.d->Dinv[j]);
    }
    return s;
}

static void drop(subject *s) {
    free(s->q);
    free(s->v);
    free(s->a);
    free(s->tau);
    free(s->M);
    free(s->L);
    free(s->J);
    free(s->X);
    free(s->root);
    free(s->by_q);
    free(s->by_v);
    free(s->by_tau);
    sim_derivatives_free(s->derivatives);
    sim_operational_free(s->operational);
    sim_derived_free(s->d);
    sim_model_free(s->model);
}

int main(int count, char **word) {
    int batches = asked_quick(count, word) ? 2 : 100;
    subject s[SUBJECTS] = {
        subject_of("arm 7", arm_model()),
        subject_of("quadruped 18", quadruped_model()),
        subject_of("humanoid 36", humanoid_model()),
        subject_of("chain 10", swinging_chain(10)),
        subject_of("chain 50", swinging_chain(50)),
        subject_of("chain 100", swinging_chain(100)),
        subject_of("chain 500", swinging_chain(500)),
    };
    printf("sim %s, %s\n%-32s", sim_version(), sim_build_info(), "us per call");
    for (int k = 0; k < SUBJECTS; k++) {
        printf(" %12s", s[k].name);
    }
    printf(" %9s\n", "exponent");
    for (int a = 0; a < ALGORITHMS; a++) {
        double us[SUBJECTS];
        printf("%-32s", algorithm[a].name);
        for (int k = 0; k < SUBJECTS; k++) {
            us[k] = microseconds(&s[k], batches, algorithm[a].call);
            printf(" %12.3f", us[k]);
            fflush(stdout);
        }
        printf(" %9.2f\n", log(us[6] / us[5]) / log(5));
    }
    printf("%-32s", "model / derived [kB]");
    for (int k = 0; k < SUBJECTS; k++) {
        printf(" %6.1f/%5.1f", (double)s[k].model->bytes / 1e3, (double)s[k].d->bytes / 1e3);
    }
    printf("\n");
    for (int k = 0; k < SUBJECTS; k++) {
        drop(&s[k]);
    }
    return 0;
}
