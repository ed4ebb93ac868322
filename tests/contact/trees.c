/* Many contacts on trees of any shape: what the problem says of them beside J and A. */
#include "support/touched.h"

#include "solver/delassus.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 60, CONTACTS = 40, SEEDS = 8 };

/* Few and many dofs, bushes and chains, with and without something on the diagonal. */
static touched *any(uint64_t seed) {
    random_source r = {seed};
    sim_model *m = seed % 4 == 3 ? swinging_chain(70) : random_forest(&r, seed % 2 ? BODIES : BODIES / 4);
    double *q = calloc((size_t)m->nq, sizeof *q), *v = calloc((size_t)m->nv, sizeof *v);
    sim_contact contact[CONTACTS];
    random_state(&r, m, q, v);
    random_contacts(&r, m, q, CONTACTS, contact);
    touched *t = touched_create(m, q, v, seed % 3 != 0, contact, CONTACTS, "sap");
    free(q);
    free(v);
    return t;
}

static double largest(const double *x, int count) {
    double most = 0;
    for (int k = 0; k < count; k++) {
        most = fmax(most, fabs(x[k]));
    }
    return most;
}

Test(trees, rows_are_zero_beside_the_columns_that_they_name) {
    int narrower = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        touched *t = any(seed);
        const sim_problem *p;
        for (int island = 0; (p = touched_build(t, island)); island++) {
            for (int i = 0; i < p->nconstraint; i++) {
                const sim_constraint *c = &p->constraint[i];
                for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
                    sim_columns of = sim_block_columns(p, c, side);
                    int nv = p->tree[c->tree[side]].nv;
                    cr_assert(of.first >= 0 && of.first + of.count <= nv);
                    narrower += of.count < nv;
                    for (int k = 0; k < c->rows * nv; k++) {
                        int inside = k % nv >= of.first && k % nv < of.first + of.count;
                        cr_assert(inside || p->J[c->block[side] + k] == 0);
                    }
                }
            }
        }
        touched_free(t);
    }
    cr_assert_gt(narrower, 100);
}

/* J A^-1 J' of one side by whole solves, beside the squares of B J'. */
static double half_error(const sim_problem *p, const sim_constraint *c, int side) {
    int nv = p->tree[c->tree[side]].nv, rows = c->rows;
    size_t size = (size_t)(rows * nv);
    double *Y = malloc(size * sizeof *Y), *Z = malloc(size * sizeof *Z), W[36], worst = 0;
    const double *J = p->J + c->block[side];
    sim_columns of = sim_block_columns(p, c, side);
    memcpy(Y, J, size * sizeof *Y);
    memcpy(Z, J, size * sizeof *Z);
    p->mass.half(p->mass.self, c->tree[side], rows, of, Z);
    for (int r = 0; r < rows; r++) {
        p->mass.solve(p->mass.self, c->tree[side], Y + r * nv);
        for (int j = of.first + of.count; j < nv; j++) {
            cr_assert_eq(Z[r * nv + j], 0);
        }
    }
    for (int r = 0; r < rows; r++) {
        for (int s = 0; s < rows; s++) {
            double half = 0;
            W[r * rows + s] = 0;
            for (int j = 0; j < nv; j++) {
                W[r * rows + s] += J[r * nv + j] * Y[s * nv + j];
                half += Z[r * nv + j] * Z[s * nv + j];
            }
            worst = fmax(worst, fabs(W[r * rows + s] - half));
        }
    }
    double most = largest(W, rows * rows);
    free(Y);
    free(Z);
    return most > 0 ? worst / most : worst;
}

Test(trees, two_halves_make_a_solve) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        touched *t = any(seed);
        const sim_problem *p;
        for (int island = 0; (p = touched_build(t, island)); island++) {
            for (int i = 0; i < p->nconstraint; i++) {
                for (int side = 0; side < 2 && p->constraint[i].tree[side] >= 0; side++) {
                    double error = half_error(p, &p->constraint[i], side);
                    cr_assert_leq(error, 1e-12, "seed %d, constraint %d: %g", (int)seed, i, error);
                }
            }
        }
        touched_free(t);
    }
}
