/* Products with the parts of a problem: J v, J' gamma, A x, A^-1 x. */
#include "solver/products.h"
#include "math/dense.h"
#include <string.h>

void problem_jacobian_times(const sim_problem *p, const double *v, double *u) {
    memset(u, 0, (size_t)p->nrow * sizeof *u);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            const sim_problem_tree *t = &p->tree[c->tree[side]];
            const double *J = p->J + c->block[side];
            for (int k = 0; k < c->rows; k++) {
                u[c->row + k] += dense_dot(t->nv, J + k * t->nv, v + t->v0);
            }
        }
    }
}

void problem_velocity(const sim_problem *p, const double *v, double *u) {
    problem_jacobian_times(p, v, u);
    for (int k = 0; k < p->nrow && p->offset; k++) {
        u[k] += p->offset[k];
    }
}

void problem_jacobian_transposed(const sim_problem *p, const double *gamma, double *j) {
    memset(j, 0, (size_t)p->nv * sizeof *j);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            const sim_problem_tree *t = &p->tree[c->tree[side]];
            const double *J = p->J + c->block[side];
            for (int k = 0; k < c->rows; k++) {
                dense_axpy(t->nv, gamma[c->row + k], J + k * t->nv, j + t->v0);
            }
        }
    }
}

void problem_mass_times(const sim_problem *p, const double *x, double *y) {
    for (int t = 0; t < p->ntree; t++) {
        p->mass.times(p->mass.self, t, x + p->tree[t].v0, y + p->tree[t].v0);
    }
}

void problem_mass_solve(const sim_problem *p, double *x) {
    for (int t = 0; t < p->ntree; t++) {
        p->mass.solve(p->mass.self, t, x + p->tree[t].v0);
    }
}
