/* Answers checked from first principles, with nothing of the solvers' own. */
#include "support/answers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void answer_eliminate(int n, double *A, double *x) {
    for (int i = 0; i < n; i++) {
        int pivot = i;
        for (int k = i + 1; k < n; k++) {
            pivot = fabs(A[k * n + i]) > fabs(A[pivot * n + i]) ? k : pivot;
        }
        for (int j = 0; j < n && pivot != i; j++) {
            double swap = A[i * n + j];
            A[i * n + j] = A[pivot * n + j];
            A[pivot * n + j] = swap;
        }
        double swap = x[i];
        x[i] = x[pivot];
        x[pivot] = swap;
        for (int k = i + 1; k < n; k++) {
            double f = A[k * n + i] / A[i * n + i];
            for (int j = i; j < n && f != 0; j++) {
                A[k * n + j] -= f * A[i * n + j];
            }
            x[k] -= f * x[i];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) {
            x[i] -= A[i * n + j] * x[j];
        }
        x[i] /= A[i * n + i];
    }
}

/* J_i A^-1 J_i', column by column. */
static void diagonal_block(const sim_problem *p, const sim_constraint *c, double *W) {
    memset(W, 0, (size_t)(c->rows * c->rows) * sizeof *W);
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        int n = p->tree[c->tree[side]].nv;
        double *x = calloc((size_t)n + 1, sizeof *x);
        const double *J = p->J + c->block[side];
        for (int b = 0; b < c->rows; b++) {
            memcpy(x, J + b * n, (size_t)n * sizeof *x);
            p->mass.solve(p->mass.self, c->tree[side], x);
            for (int a = 0; a < c->rows; a++) {
                for (int j = 0; j < n; j++) {
                    W[a * c->rows + b] += J[a * n + j] * x[j];
                }
            }
        }
        free(x);
    }
}

answer answer_create(const sim_problem *p, double beta, double sigma) {
    answer a = {.problem = p};
    size_t numbers = 0, rows = (size_t)p->nrow + 1;
    for (int i = 0; i < p->nconstraint; i++) {
        numbers += (size_t)(p->constraint[i].rows * p->constraint[i].rows);
    }
    a.W = calloc(numbers + 1, sizeof *a.W);
    double *W = a.W;
    for (int i = 0; i < p->nconstraint; i++) {
        diagonal_block(p, &p->constraint[i], W);
        W += p->constraint[i].rows * p->constraint[i].rows;
    }
    a.R = calloc(rows, sizeof *a.R);
    a.target = calloc(rows, sizeof *a.target);
    a.impulse = calloc(rows, sizeof *a.impulse);
    a.s = calloc(rows, sizeof *a.s);
    a.v = calloc((size_t)p->nv + 1, sizeof *a.v);
    a.history = (sim_history){.room = ANSWER_HISTORY,
                              .residual = calloc(ANSWER_HISTORY, sizeof(double)),
                              .cost = calloc(ANSWER_HISTORY, sizeof(double))};
    a.law = (sim_regularisation){a.R, a.target};
    sim_law_options o = sim_law_options_default();
    o.beta = beta;
    o.sigma = sigma;
    sim_regularise(p, SIM_NEAR_RIGID, &o, a.W, a.R, a.target);
    return a;
}

void answer_free(answer *a) {
    free(a->W);
    free(a->R);
    free(a->target);
    free(a->impulse);
    free(a->s);
    free(a->v);
    free(a->history.residual);
    free(a->history.cost);
}

void answer_find(answer *a, const char *solver, const double *option) { answer_find_within(a, solver, option, 0); }

void answer_find_within(answer *a, const char *solver, const double *option, int most) {
    sim_error error = {0};
    sim_solver *s = sim_solver_create(sim_solver_find(solver), option, &error);
    a->out = (sim_solution){.v = a->v, .impulse = a->impulse, .history = &a->history, .most_iterations = most};
    if (!s || sim_solver_accepts(s, a->problem, &error) || sim_solver_solve(s, a->problem, &a->law, &a->out, &error)) {
        fprintf(stderr, "%s: %s\n", solver, error.text);
        abort();
    }
    sim_solver_free(s);
}

static void balance(answer *a, answer_errors *e) {
    const sim_problem *p = a->problem;
    double error = 0, momentum = 0, impulse = 0;
    for (int t = 0; t < p->ntree; t++) {
        int n = p->tree[t].nv, v0 = p->tree[t].v0;
        double *A = calloc((size_t)n * n + 1, sizeof *A);
        p->mass.matrix(p->mass.self, t, A);
        for (int i = 0; i < n; i++) {
            double change = 0, whole = 0, pushed = 0, D = 1 / sqrt(A[i * n + i]);
            for (int j = 0; j < n; j++) {
                change += A[i * n + j] * (a->v[v0 + j] - p->v_free[v0 + j]);
                whole += A[i * n + j] * a->v[v0 + j];
            }
            for (int c = 0; c < p->nconstraint; c++) {
                const sim_constraint *k = &p->constraint[c];
                for (int side = 0; side < 2; side++) {
                    for (int row = 0; row < k->rows && k->tree[side] == t; row++) {
                        pushed += p->J[k->block[side] + row * n + i] * a->impulse[k->row + row];
                    }
                }
            }
            error += D * (change - pushed) * D * (change - pushed);
            momentum += D * whole * D * whole;
            impulse += D * pushed * D * pushed;
        }
        free(A);
    }
    e->momentum = error == 0 ? 0 : sqrt(error / fmax(momentum, impulse));
}

static double at_least(double a, double b) { return b > a ? b : a; }

static void check_contact(const sim_constraint *c, const double *g, const double *s, answer_errors *e) {
    double gt = hypot(g[0], g[1]), st = hypot(s[0], s[1]), mu = c->friction;
    double impulse = gt + fabs(g[2]), velocity = st + fabs(s[2]);
    e->cone = at_least(e->cone, impulse > 0 ? fmax(gt - mu * g[2], -g[2]) / impulse : 0);
    e->dual = at_least(e->dual, velocity > 0 ? mu * st - s[2] : 0);
    e->work = at_least(e->work, fabs(g[0] * s[0] + g[1] * s[1] + g[2] * s[2]));
}

static void check_row(const sim_constraint *c, double dt, double g, double s, answer_errors *e) {
    double bound = c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR ? dt * c->bound : HUGE_VAL;
    if (c->kind == SIM_LIMIT) {
        e->cone = at_least(e->cone, -g);
        e->dual = at_least(e->dual, -s);
        e->work = at_least(e->work, fabs(g * s));
    } else {
        e->cone = at_least(e->cone, fabs(g) - bound);
        /* inside its bounds nothing is left of s; at a bound g opposes it */
        e->dual = at_least(e->dual, fabs(g) < bound ? fabs(s) : g * s / fmax(fabs(g), 1e-300));
    }
}

answer_errors answer_check(answer *a) {
    const sim_problem *p = a->problem;
    answer_errors e = {0};
    balance(a, &e);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = 0; k < c->rows; k++) {
            int row = c->row + k;
            double u = p->offset ? p->offset[row] : 0;
            for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
                const sim_problem_tree *t = &p->tree[c->tree[side]];
                for (int j = 0; j < t->nv; j++) {
                    u += p->J[c->block[side] + k * t->nv + j] * a->v[t->v0 + j];
                }
            }
            a->s[row] = u - a->target[row] + a->R[row] * a->impulse[row];
            if (c->kind != SIM_CONTACT) {
                check_row(c, p->step, a->impulse[row], a->s[row], &e);
            }
        }
        if (c->kind == SIM_CONTACT) {
            check_contact(c, a->impulse + c->row, a->s + c->row, &e);
        }
    }
    return e;
}

void options_with(const char *solver, const option_setting *set, double *option) {
    const sim_solver_info *info = sim_solver_find(solver);
    for (int k = 0; k < info->noptions; k++) {
        option[k] = info->option[k].default_value;
        for (const option_setting *s = set; s->name; s++) {
            option[k] = strcmp(s->name, info->option[k].name) == 0 ? s->value : option[k];
        }
    }
}

answer rigid_entry(const sim_problem *p) {
    answer a = answer_create(p, 1, 1e-3);
    sim_law_options o = sim_law_options_default();
    sim_regularise(p, SIM_RIGID, &o, NULL, a.R, a.target);
    return a;
}

double norm_of(const double *x, int n) {
    double sum = 0;
    for (int k = 0; k < n; k++) {
        sum += x[k] * x[k];
    }
    return sqrt(sum);
}

double distance_between(const double *x, const double *y, int n) {
    double sum = 0;
    for (int k = 0; k < n; k++) {
        sum += (x[k] - y[k]) * (x[k] - y[k]);
    }
    return sqrt(sum);
}
