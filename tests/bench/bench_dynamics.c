/* How long does each algorithm take?
 *
 * CPU time per call in microseconds, the least of many batches (other work on the machine only adds), on an arm of 7 dofs,
 * a quadruped of 18, a humanoid of 36 and chains of 10 to 500; then how the chain's time grows, as the exponent of n
 * between 100 and 500. */
#include "../support/models.h"
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
static void copy_matrix(subject *s) { memcpy(s->L, s->M, (size_t)s->model->nl * sizeof *s->L); }
static void factor(subject *s) {
    copy_matrix(s);
    sim_ltdl(s->model, s->all, s->L);
}
static void solve(subject *s) { sim_ltdl_solve(s->model, s->all, s->L, s->tau); }
static void articulated_factor(subject *s) { sim_articulated_factor(s->d, s->all, NULL, NULL); }
static void articulated_solve(subject *s) { sim_articulated_solve(s->d, s->all, s->a); }

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
    {"copy M", copy_matrix},
    {"copy + factor M = L'DL", factor},
    {"solve with L'DL", solve},
    {"articulated factor", articulated_factor},
    {"articulated solve", articulated_solve},
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
    random_state(&r, model, s.q, s.v);
    return s;
}

static void drop(subject *s) {
    free(s->q);
    free(s->v);
    free(s->a);
    free(s->tau);
    free(s->M);
    free(s->L);
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
    printf("sim %s, %s\n%-30s", sim_version(), sim_build_info(), "us per call");
    for (int k = 0; k < SUBJECTS; k++) {
        printf(" %12s", s[k].name);
    }
    printf(" %9s\n", "exponent");
    for (int a = 0; a < ALGORITHMS; a++) {
        double us[SUBJECTS];
        printf("%-30s", algorithm[a].name);
        for (int k = 0; k < SUBJECTS; k++) {
            us[k] = microseconds(&s[k], batches, algorithm[a].call);
            printf(" %12.3f", us[k]);
            fflush(stdout);
        }
        printf(" %9.2f\n", log(us[6] / us[5]) / log(5));
    }
    printf("%-30s", "model / derived [kB]");
    for (int k = 0; k < SUBJECTS; k++) {
        printf(" %6.1f/%5.1f", (double)s[k].model->bytes / 1e3, (double)s[k].d->bytes / 1e3);
    }
    printf("\n");
    for (int k = 0; k < SUBJECTS; k++) {
        drop(&s[k]);
    }
    return 0;
}
