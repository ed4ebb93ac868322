/* How badly conditioned is what Newton's method of the convex law solves?  (Castro, Permenter, Han 2021, fig. 15)
 *
 *     condition PROBLEM.h5 SIGMA...
 *
 * prints of each sigma: sigma, Newton steps from the guess in the file, the condition number lambda_max / lambda_min of
 *
 *     H = A + J' G J     at the answer,    G = -d gamma / d u
 *
 * both eigenvalues, and the mean slip |u_t| of the contacts that stick (fig. 14).  Apart from the answer itself nothing
 * here is the solver's: G is written down anew from the law (sec. IV-B and appendix C), H is dense, and its eigenvalues
 * are Jacobi's. */
#include "support/answers.h"

#include <math.h>
#include <sim/record.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* u = J v + w */
static void row_velocities(const sim_problem *p, const sim_constraint *c, const double *v, double *u) {
    for (int k = 0; k < c->rows; k++) {
        u[k] = p->offset ? p->offset[c->row + k] : 0;
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            const sim_problem_tree *t = &p->tree[c->tree[side]];
            for (int j = 0; j < t->nv; j++) {
                u[k] += p->J[c->block[side] + (ptrdiff_t)k * t->nv + j] * v[t->v0 + j];
            }
        }
    }
}

/* Stick 1 / R, open 0, slide a a' / (R_n (1 + mu^2 R_t / R_n)) + mu gamma_n / |u_t| (1 - t t'), a = (mu t, 1). */
static void contact_bend(double mu, const double R[3], const double y[3], double *G) {
    double r = hypot(y[0], y[1]), mh = mu * R[0] / R[2];
    if (y[2] > 0 && r <= mu * y[2]) {
        for (int k = 0; k < 3; k++) {
            G[4 * k] = 1 / R[k];
        }
    } else if (mu > 0 && y[2] > -mh * r) {
        double t[2] = {y[0] / r, y[1] / r}, a[3] = {mu * t[0], mu * t[1], 1};
        double flat = 1 / (1 + mu * mh), n = (y[2] + mh * r) * flat, slip = R[0] * r;
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                G[3 * i + j] = a[i] * a[j] * flat / R[2];
                G[3 * i + j] += i < 2 && j < 2 ? mu * n / slip * ((i == j) - t[i] * t[j]) : 0;
            }
        }
    } else if (y[2] > 0) {
        G[8] = 1 / R[2];
    }
}

static void bend(const answer *a, const sim_constraint *c, double *G) {
    double u[SIM_MAX_ROWS], y[SIM_MAX_ROWS];
    const double *R = a->R + c->row;
    memset(G, 0, sizeof(double) * SIM_MAX_ROWS * SIM_MAX_ROWS);
    row_velocities(a->problem, c, a->v, u);
    for (int k = 0; k < c->rows; k++) {
        y[k] = (a->target[c->row + k] - u[k]) / R[k];
    }
    if (c->kind == SIM_CONTACT) {
        contact_bend(c->friction, R, y, G);
        return;
    }
    double bound = c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR ? a->problem->step * c->bound : HUGE_VAL;
    for (int k = 0; k < c->rows; k++) {
        G[k * c->rows + k] = y[k] > (c->kind == SIM_LIMIT ? 0 : -bound) && y[k] < bound ? 1 / R[k] : 0;
    }
}

/* A row of J over all velocities. */
static void spread(const sim_problem *p, const sim_constraint *c, int k, double *x) {
    memset(x, 0, (size_t)p->nv * sizeof *x);
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_problem_tree *t = &p->tree[c->tree[side]];
        memcpy(x + t->v0, p->J + c->block[side] + (ptrdiff_t)k * t->nv, (size_t)t->nv * sizeof *x);
    }
}

static double *hessian(const answer *a) {
    const sim_problem *p = a->problem;
    size_t n = (size_t)p->nv;
    double *H = calloc(n * n, sizeof *H), *rows = calloc(SIM_MAX_ROWS * n, sizeof *rows), *A = calloc(n * n, sizeof *A);
    for (int t = 0; t < p->ntree; t++) {
        size_t v0 = (size_t)p->tree[t].v0, size = (size_t)p->tree[t].nv;
        p->mass.matrix(p->mass.self, t, A);
        for (size_t i = 0; i < size; i++) {
            memcpy(H + (v0 + i) * n + v0, A + i * size, size * sizeof *H);
        }
    }
    for (int c = 0; c < p->nconstraint; c++) {
        const sim_constraint *of = &p->constraint[c];
        double G[SIM_MAX_ROWS * SIM_MAX_ROWS];
        bend(a, of, G);
        for (int k = 0; k < of->rows; k++) {
            spread(p, of, k, rows + (size_t)k * n);
        }
        for (int k = 0; k < of->rows * of->rows; k++) {
            const double *x = rows + (size_t)(k / of->rows) * n, *y = rows + (size_t)(k % of->rows) * n;
            for (size_t i = 0; G[k] != 0 && i < n; i++) {
                for (size_t j = 0; x[i] != 0 && j < n; j++) {
                    H[i * n + j] += G[k] * x[i] * y[j];
                }
            }
        }
    }
    free(rows);
    free(A);
    return H;
}

/* Turns the axes i and j so that H_ij vanishes. */
static void turn(double *H, size_t n, size_t i, size_t j) {
    double theta = (H[j * n + j] - H[i * n + i]) / (2 * H[i * n + j]);
    double t = copysign(1, theta) / (fabs(theta) + sqrt(1 + theta * theta)), c = 1 / sqrt(1 + t * t), s = t * c;
    for (size_t k = 0; k < n; k++) {
        double x = H[i * n + k], y = H[j * n + k];
        H[i * n + k] = c * x - s * y;
        H[j * n + k] = s * x + c * y;
    }
    for (size_t k = 0; k < n; k++) {
        double x = H[k * n + i], y = H[k * n + j];
        H[k * n + i] = c * x - s * y;
        H[k * n + j] = s * x + c * y;
    }
}

/* Least and greatest eigenvalue; H becomes diagonal. */
static void eigenvalues(double *H, size_t n, double *least, double *most) {
    int turned = 1;
    for (int sweep = 0; sweep < 50 && turned; sweep++) {
        turned = 0;
        for (size_t i = 0; i < n; i++) {
            for (size_t j = i + 1; j < n; j++) {
                if (fabs(H[i * n + j]) > 1e-15 * sqrt(fabs(H[i * n + i] * H[j * n + j]))) {
                    turn(H, n, i, j);
                    turned = 1;
                }
            }
        }
    }
    *least = HUGE_VAL;
    *most = -HUGE_VAL;
    for (size_t i = 0; i < n; i++) {
        *least = fmin(*least, H[i * n + i]);
        *most = fmax(*most, H[i * n + i]);
    }
}

static double mean_slip(const answer *a) {
    double sum = 0, u[SIM_MAX_ROWS];
    int count = 0;
    for (int c = 0; c < a->problem->nconstraint; c++) {
        const sim_constraint *of = &a->problem->constraint[c];
        const double *p = a->impulse + of->row;
        if (of->kind == SIM_CONTACT && p[2] > 0 && hypot(p[0], p[1]) < 0.999 * of->friction * p[2]) {
            row_velocities(a->problem, of, a->v, u);
            sum += hypot(u[0], u[1]);
            count++;
        }
    }
    return count ? sum / count : 0;
}

int main(int argc, char **argv) {
    /* tolerance, steps, exact search, any factorisation, work, no relaxation */
    static const double option[] = {1e-12, 1000, 0, 0, 1e4, 0};
    sim_error error = {0};
    sim_problem_file *file = argc > 2 ? sim_problem_file_read(argv[1], &error) : NULL;
    if (!file || sim_problem_local(sim_problem_file_problem(file))) {
        fprintf(stderr, "%s\n",
                file       ? "condition: needs a global problem"
                : argc > 2 ? error.text
                           : "condition FILE SIGMA...");
        sim_problem_file_free(file);
        return 2;
    }
    const sim_problem *p = sim_problem_file_problem(file);
    for (int k = 2; k < argc; k++) {
        double least, most, sigma = strtod(argv[k], NULL);
        answer a = answer_create(p, 1, sigma);
        answer_find(&a, "sap", option);
        double *H = hessian(&a);
        eigenvalues(H, (size_t)p->nv, &least, &most);
        printf("%g %d %.6e %.6e %.6e %.6e\n", sigma, a.out.iterations, most / least, least, most, mean_slip(&a));
        free(H);
        answer_free(&a);
    }
    sim_problem_file_free(file);
    return 0;
}
