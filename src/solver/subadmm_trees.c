/* x <- x + K^-1 (J'f - A x),  K = A + kappa C,  C = sum of weight J_ij'J_ij over the slots of a tree.
 *
 * This is eq. 34 of Lee et al. 2024 with its slack velocities put in: beta z + lambda' = beta J v + f, f = 2 lambda' - lambda
 * the same for all slots of a row.  What is left is a step towards momentum in balance, A x = J' lambda, so that the factor
 * may carry rounding and the answer does not.  The unknown is x = v - v*.
 *
 * A tree split over its bodies goes by its branches or its joints (subadmm_branch.c, subadmm_articulated.c); any other is
 * one dense matrix; unsplit, all of them are one sparse system (hessian.c). */
#include "linalg/cholesky.h"
#include "linalg/strip.h"
#include "solver/products.h"
#include "solver/subadmm.h"
#include "solver/subadmm_branch.h"

#include <math.h>
#include <string.h>

/* ---- one dense matrix ---- */

static ptrdiff_t dense_numbers(const subadmm_tree *t) { return (ptrdiff_t)t->nv * strip_stride(t->nv); }

static int make_dense(subadmm *s, subadmm_tree *t) {
    const sim_mass *mass = &s->problem->mass;
    int n = t->nv, stride = strip_stride(n);
    double *all = ARENA_NEW(s->call->scratch, double, 3 * dense_numbers(t) + stride);
    if (!all) {
        return 0;
    }
    t->A = all;
    t->C = all + dense_numbers(t);
    t->K = t->C + dense_numbers(t);
    t->inverse = t->K + dense_numbers(t);
    mass->matrix(mass->self, t->index, t->A);
    for (int r = n - 1; r >= 0; r--) {
        memmove(t->A + (ptrdiff_t)r * stride, t->A + (ptrdiff_t)r * n, (size_t)n * sizeof *t->A);
        memset(t->A + (ptrdiff_t)r * stride + n, 0, (size_t)(stride - n) * sizeof *t->A);
    }
    return 1;
}

/* C += weight J'J */
static void add_dense(const subadmm_tree *t, const subadmm_side *side, int rows, double weight) {
    int stride = strip_stride(t->nv), first = side->at - t->v0;
    for (int r = 0; r < rows; r++) {
        const double *J = side->J + (ptrdiff_t)r * side->stride;
        for (int i = 0; i < side->n; i++) {
            double *C = t->C + (ptrdiff_t)(first + i) * stride + first, a = weight * J[i];
            for (int j = i; j < side->n; j++) {
                C[j] += a * J[j];
            }
        }
    }
}

static int factor_dense(const subadmm_tree *t, double kappa) {
    for (ptrdiff_t k = 0; k < dense_numbers(t); k++) {
        t->K[k] = t->A[k] + kappa * t->C[k];
    }
    return cholesky_upper(t->nv, strip_stride(t->nv), t->K, t->inverse);
}

static void move_dense(const subadmm_tree *t, double *x, double *push) {
    int n = t->nv, stride = strip_stride(n);
    for (int i = 0; i < n; i++) {
        double sum = push[i];
        for (int j = 0; j < n; j++) {
            sum -= t->A[(ptrdiff_t)i * stride + j] * x[j];
        }
        push[i] = sum;
    }
    cholesky_forward(n, t->K, stride, t->inverse, push);
    cholesky_backward(n, t->K, stride, t->inverse, push);
    for (int i = 0; i < n; i++) {
        x[i] += push[i];
    }
}

/* ---- all trees ---- */

int subadmm_make_trees(subadmm *s) {
    for (int k = 0; k < s->ntree; k++) {
        subadmm_tree *t = &s->tree[k];
        if (s->split != SUBADMM_NONE && !(t->form == SUBADMM_DENSE ? make_dense(s, t) : subadmm_make_branch(s, t))) {
            return 0;
        }
    }
    return 1;
}

static subadmm_tree *tree_of_side(const subadmm *s, const subadmm_side *side) {
    int low = 0, high = s->ntree;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (s->tree[middle].v0 <= side->at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &s->tree[low];
}

/* C of all trees anew. */
static void sum_slots(subadmm *s) {
    const sim_problem *p = s->problem;
    for (int k = 0; k < s->ntree; k++) {
        subadmm_tree *t = &s->tree[k];
        if (t->form == SUBADMM_DENSE) {
            memset(t->C, 0, (size_t)dense_numbers(t) * sizeof *t->C);
        }
    }
    subadmm_clear_branches(s);
    for (int i = 0; i < p->nconstraint; i++) {
        for (int side = 0; side < 2 && s->side[i][side].n && s->kept[i]; side++) {
            const subadmm_side *of = &s->side[i][side];
            int rows = p->constraint[i].rows;
            subadmm_tree *t = of->at < p->nv ? tree_of_side(s, of) : NULL;
            if (!t || t->form != SUBADMM_DENSE) {
                subadmm_add_branch(s, t, of, rows, s->weight[i][side]);
            } else {
                add_dense(t, of, rows, s->weight[i][side]);
            }
        }
    }
    subadmm_sum_branches(s);
}

static int factor_whole(subadmm *s) {
    const sim_problem *p = s->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        s->bend[i] = (convex_bend){0};
        for (int r = 0; r < p->constraint[i].rows; r++) {
            s->bend[i].weight[r] = s->kept[i] ? s->kappa * s->weight[i][0] : 0;
        }
    }
    hessian_set(s->whole, s->bend);
    int done = hessian_factor(s->whole);
    return done < 0 ? 0 : done ? 1 : -1;
}

int subadmm_factor(subadmm *s, int again) {
    if (s->split == SUBADMM_NONE) {
        return factor_whole(s);
    }
    if (again) {
        sum_slots(s);
    }
    int done = 1;
    for (int k = 0; k < s->ntree && done; k++) {
        subadmm_tree *t = &s->tree[k];
        done = t->form == SUBADMM_DENSE ? factor_dense(t, s->kappa) : subadmm_factor_branch(s, t);
    }
    return done ? 1 : -1;
}

void subadmm_spread(subadmm *s) {
    for (int k = 0; k < s->ntree && s->split == SUBADMM_BODIES; k++) {
        if (s->tree[k].form != SUBADMM_DENSE) {
            subadmm_spread_branch(s, &s->tree[k], s->x);
        }
    }
}

static int move_whole(subadmm *s) {
    hessian_mass_times(s->whole, s->x, s->v);
    for (int k = 0; k < s->ntree; k++) {
        for (int j = s->tree[k].v0; j < s->tree[k].v0 + s->tree[k].nv; j++) {
            s->push[j] -= s->v[j];
        }
    }
    if (!hessian_solve(s->whole, s->push)) {
        return 0;
    }
    for (int k = 0; k < s->ntree; k++) {
        for (int j = s->tree[k].v0; j < s->tree[k].v0 + s->tree[k].nv; j++) {
            s->x[j] += s->push[j];
        }
    }
    return 1;
}

int subadmm_move(subadmm *s) {
    if (s->split == SUBADMM_NONE) {
        return move_whole(s);
    }
    for (int k = 0; k < s->ntree; k++) {
        subadmm_tree *t = &s->tree[k];
        if (t->form == SUBADMM_DENSE) {
            move_dense(t, s->x + t->v0, s->push + t->v0);
        } else {
            subadmm_move_branch(s, t);
        }
    }
    return 1;
}
