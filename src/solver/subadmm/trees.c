/* Step of the trees in SubADMM:
 *
 *     x <- x + K^-1 (J'f - A x),  K = A + kappa C,  C = sum of weight J_ij'J_ij over the slots of a tree,  x = v - v*.
 *
 * This is eq. 34 of Lee et al. 2024 with the slack velocities inserted: beta z + lambda' = beta J v + f, f = 2 lambda'
 * - lambda the same for all slots of a row.  The step leads to balanced momentum, A x = J' lambda: rounding of the
 * factor does not change the solution.
 *
 * Split trees use their branches or joints (branch.c, articulated.c); any other tree is one dense matrix; unsplit, all
 * trees are one sparse system (hessian.c). */
#include "linalg/dense/cholesky.h"
#include "linalg/dense/strip.h"
#include "math/dense.h"
#include "solver/subadmm/articulated.h"
#include "solver/subadmm/branch.h"
#include "solver/subadmm/lanes/batch_kernels.h"

#include <math.h>
#include <string.h>

/* ---- between rows of the lanes and velocities of the problem ---- */

static bool is_in_row(const subadmm_tree *t) { return t->form == SUBADMM_LANE || t->form == SUBADMM_ROW; }

static double *tree_row(const subadmm *s, const subadmm_tree *t, double *rows) {
    return rows + (ptrdiff_t)LANES * s->lanes.row_of[t->lane];
}

/* v = turn V; likewise for forces. */
static void read_row(const subadmm_tree *t, const double *row, double *v) {
    for (int i = 0; i < t->nv; i++) {
        v[i] = t->turn ? 0 : row[i];
        for (int j = 0; j < 6 && t->turn; j++) {
            v[i] += t->turn[6 * i + j] * row[j];
        }
    }
}

/* V = turn' v */
static void write_row(const subadmm_tree *t, const double *v, double *row) {
    for (int i = 0; i < t->nv; i++) {
        row[i] = t->turn ? 0 : v[i];
        for (int j = 0; j < 6 && t->turn; j++) {
            row[i] += t->turn[6 * j + i] * v[j];
        }
    }
}

void subadmm_read_velocity(const subadmm *s, const subadmm_tree *t, const double *x, double *rows, double *v) {
    if (is_in_row(t)) {
        read_row(t, tree_row(s, t, rows), v);
    } else {
        memcpy(v, x + t->v0, (size_t)t->nv * sizeof *v);
    }
}

/* Adds J'f of the contacts in the lanes. */
static void add_lane_wrench(const subadmm *s, int lane, int n, double *push) {
    double wrench[6];
    admm_lanes_wrench(&s->lanes, lane, wrench);
    for (int k = 0; k < n; k++) {
        push[k] += wrench[k];
    }
}

/* ---- one dense matrix ---- */

/* A <- turn' A turn: V is the unknown. */
static void turn_matrix(const double *turn, double *A, int stride) {
    double half[36];
    for (int k = 0; k < 36; k++) {
        half[k] = 0;
        for (int j = 0; j < 6; j++) {
            half[k] += A[k / 6 * stride + j] * turn[6 * j + k % 6];
        }
    }
    for (int k = 0; k < 36; k++) {
        double sum = 0;
        for (int j = 0; j < 6; j++) {
            sum += turn[6 * j + k / 6] * half[6 * j + k % 6];
        }
        A[k / 6 * stride + k % 6] = sum;
    }
}

static bool make_dense(subadmm *s, subadmm_tree *t) {
    /* memory: A, C and K in padded rows */
    const sim_mass *mass = &s->problem->mass;
    int n = t->nv, stride = strip_stride(n);
    t->numbers = (ptrdiff_t)n * stride;
    t->A = ARENA_NEW(s->call->scratch, double, 3 * t->numbers + stride);
    if (!t->A) {
        return false;
    }
    t->C = t->A + t->numbers;
    t->K = t->C + t->numbers;
    t->inverse = t->K + t->numbers;
    /* A, spread to the stride */
    mass->matrix(mass->self, t->index, t->A);
    for (int r = n - 1; r >= 0; r--) {
        memmove(t->A + (ptrdiff_t)r * stride, t->A + (ptrdiff_t)r * n, (size_t)n * sizeof *t->A);
        memset(t->A + (ptrdiff_t)r * stride + n, 0, (size_t)(stride - n) * sizeof *t->A);
    }
    /* of V, where v = turn V */
    if (t->turn) {
        turn_matrix(t->turn, t->A, stride);
    }
    return true;
}

/* A of a tree that the lanes solve. */
static void set_lane_mass(subadmm *s, const subadmm_tree *t) {
    const sim_mass *mass = &s->problem->mass;
    double A[36], padded[36] = {0};
    mass->matrix(mass->self, t->index, A);
    for (int k = 0; k < 36; k++) {
        padded[k] = k / 6 < t->nv && k % 6 < t->nv ? A[k / 6 * t->nv + k % 6] : k / 6 == k % 6;
    }
    if (t->turn) {
        turn_matrix(t->turn, padded, 6);
    }
    admm_lanes_set_mass(&s->lanes, t->lane, padded);
}

/* C += weight J'J */
static void add_dense(const subadmm_tree *t, const subadmm_side *side, int rows, double weight) {
    int stride = strip_stride(t->nv), first = side->dof - t->v0;
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

/* C of a row: terms of the contacts in the lanes, upper triangle. */
static void begin_dense(const subadmm *s, subadmm_tree *t) {
    memset(t->C, 0, (size_t)t->numbers * sizeof *t->C);
    const double *added = t->form == SUBADMM_ROW ? admm_lanes_added(&s->lanes, t->lane) : NULL;
    for (int j = 0; j < t->nv && added; j++) {
        for (int i = 0; i <= j; i++) {
            t->C[i * strip_stride(t->nv) + j] = added[j * (j + 1) / 2 + i];
        }
    }
}

static bool factor_dense(const subadmm_tree *t, double kappa) {
    for (ptrdiff_t k = 0; k < t->numbers; k++) {
        t->K[k] = t->A[k] + kappa * t->C[k];
    }
    return cholesky_upper(t->nv, strip_stride(t->nv), t->K, t->inverse);
}

static void step_dense(const subadmm_tree *t, double *x, double *push) {
    int n = t->nv, stride = strip_stride(n);
    for (int i = 0; i < n; i++) {
        push[i] -= dense_dot(n, t->A + (ptrdiff_t)i * stride, x);
    }
    cholesky_forward(n, t->K, stride, t->inverse, push);
    cholesky_backward(n, t->K, stride, t->inverse, push);
    for (int i = 0; i < n; i++) {
        x[i] += push[i];
    }
}

/* ---- all trees ---- */

bool subadmm_make_trees(subadmm *s) {
    for (int k = 0; k < s->ntree && s->split != SUBADMM_NONE; k++) {
        subadmm_tree *t = &s->tree[k];
        if (t->form == SUBADMM_LANE) {
            set_lane_mass(s, t);
        } else if (!(t->form == SUBADMM_BATCHED       ? 1
                     : t->form == SUBADMM_BRANCH      ? subadmm_make_branch(s, t)
                     : t->form == SUBADMM_ARTICULATED ? subadmm_make_articulated(s, t)
                                                      : make_dense(s, t))) {
            return false;
        }
    }
    subadmm_make_batches(s);
    s->kernels->factor_inertia(&s->lanes, 0, s->lanes.solved_batches);
    return true;
}

/* C: terms of the contacts in the lanes. */
static void begin_slot_stiffness(subadmm *s, subadmm_tree *t) {
    if (t->form == SUBADMM_BRANCH) {
        subadmm_begin_branch(s, t);
    } else if (t->form == SUBADMM_ARTICULATED) {
        subadmm_begin_articulated(s, t);
    } else if (t->form == SUBADMM_BATCHED) {
        subadmm_begin_batched(s, t);
    } else if (t->form != SUBADMM_LANE) {
        begin_dense(s, t);
    }
}

/* C of all trees: terms of the lanes, then of all other constraints. */
static void sum_slot_stiffness(subadmm *s) {
    /* C = 0 */
    for (int k = 0; k < s->ntree; k++) {
        begin_slot_stiffness(s, &s->tree[k]);
    }
    /* C += weight J' J of each slot, in the form of its tree */
    for (int k = 0; k < 2 * s->problem->nconstraint; k++) {
        const subadmm_side *side = &s->side[k / 2][k % 2];
        const subadmm_tree *t = &s->tree[side->tree];
        int rows = s->problem->constraint[k / 2].rows;
        double weight = s->weight[k / 2];
        if (side->n == 0) {
            continue;
        }
        if (t->form == SUBADMM_BRANCH || t->form == SUBADMM_BATCHED) {
            subadmm_add_branch(s, side, rows, weight);
        } else if (t->form == SUBADMM_ARTICULATED) {
            subadmm_add_articulated(s, t, side, rows, weight);
        } else {
            add_dense(t, side, rows, weight);
        }
    }
    /* branches: sums from the tips to the root */
    for (int k = 0; k < s->ntree; k++) {
        if (s->tree[k].form == SUBADMM_BRANCH) {
            subadmm_sum_branch(s, &s->tree[k]);
        }
    }
    subadmm_sum_batches(s);
}

static bool is_kept(const subadmm *s, int i) { return s->lane_of[i] < 0 || s->kept[s->lane_of[i]]; }

static hessian_result factor_unsplit(subadmm *s) {
    const sim_problem *p = s->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        s->G[i] = (cone_hessian){0};
        for (int r = 0; r < p->constraint[i].rows; r++) {
            s->G[i].weight[r] = is_kept(s, i) ? s->kappa * s->weight[i] : 0;
        }
    }
    hessian_set(s->whole, s->G);
    return hessian_factor(s->whole);
}

hessian_result subadmm_factor(subadmm *s, bool changed) {
    const admm_lanes *l = &s->lanes;
    /* weights of the lanes after a change */
    if (changed) {
        admm_lanes_set_kept(&s->lanes, s->kept);
        admm_lanes_set_weights(&s->lanes, &s->input, (const double(*)[2])s->slot);
    }
    s->kernels->set_compliance(&s->lanes, 0, l->contact_batches, s->kappa);
    /* one sparse system */
    if (s->split == SUBADMM_NONE) {
        return factor_unsplit(s);
    }
    /* C after a change of weights */
    if (changed) {
        sum_slot_stiffness(s);
    }
    /* K = A + kappa C and its factor, form by form */
    s->kernels->factor(&s->lanes, 0, l->solved_batches, s->kappa);
    bool positive = subadmm_factor_batches(s);
    for (int k = 0; k < s->ntree && positive; k++) {
        subadmm_tree *t = &s->tree[k];
        positive = t->form == SUBADMM_LANE          ? true
                   : t->form == SUBADMM_BATCHED     ? 1
                   : t->form == SUBADMM_BRANCH      ? subadmm_factor_branch(s, t)
                   : t->form == SUBADMM_ARTICULATED ? subadmm_factor_articulated(s, t)
                                                    : factor_dense(t, s->kappa);
    }
    return positive ? HESSIAN_FACTORED : HESSIAN_INDEFINITE;
}

void subadmm_spread_velocities(subadmm *s) {
    subadmm_spread_batches(s);
    for (int k = 0; k < s->ntree; k++) {
        if (subadmm_is_split(&s->tree[k]) && s->tree[k].form != SUBADMM_BATCHED) {
            subadmm_spread_branch(s, &s->tree[k], s->x, s->lanes.row, s->bodies.V);
        }
    }
}

/* s->push: all forces on a tree, in the velocities of the problem. */
static void gather_push(subadmm *s, const subadmm_tree *t) {
    double *push = s->push + t->v0, row[6] = {0};
    if (subadmm_is_split(t)) {
        subadmm_gather_branch(s, t);
    } else if (is_in_row(t)) {
        memcpy(row, push, (size_t)t->nv * sizeof *push);
        add_lane_wrench(s, t->lane, t->nv, row);
        read_row(t, row, push);
    }
}

void subadmm_solve_response(subadmm *s) {
    const sim_mass *mass = &s->problem->mass;
    subadmm_run_kernel(s, s->lanes.solved_batches, s->kernels->solve_inertia);
    subadmm_solve_batches(s);
    for (int k = 0; k < s->ntree; k++) {
        const subadmm_tree *t = &s->tree[k];
        if (t->form == SUBADMM_LANE || t->form == SUBADMM_BATCHED) {
            continue;
        }
        gather_push(s, t);
        memcpy(s->v + t->v0, s->push + t->v0, (size_t)t->nv * sizeof *s->v);
        mass->solve(mass->self, t->index, s->v + t->v0);
        if (t->form == SUBADMM_ROW) {
            write_row(t, s->v + t->v0, tree_row(s, t, s->lanes.response));
        } else if (subadmm_is_split(t)) {
            subadmm_spread_branch(s, t, s->v, s->lanes.response, s->bodies.response);
        }
    }
}

/* Unsplit: all trees at once, in the velocities of the problem. */
static bool step_unsplit(subadmm *s) {
    for (int k = 0; k < s->ntree; k++) {
        subadmm_read_velocity(s, &s->tree[k], s->x, s->lanes.row, s->dx + s->tree[k].v0);
        gather_push(s, &s->tree[k]);
    }
    hessian_mass_times(s->whole, s->dx, s->momentum);
    for (int j = 0; j < s->problem->nv; j++) {
        s->push[j] -= s->momentum[j];
    }
    if (!hessian_solve(s->whole, s->push)) {
        return false;
    }
    for (int k = 0; k < s->ntree; k++) {
        const subadmm_tree *t = &s->tree[k];
        double *x = is_in_row(t) ? tree_row(s, t, s->lanes.row) : s->x + t->v0;
        for (int j = 0; j < t->nv; j++) {
            x[j] += s->push[t->v0 + j];
        }
    }
    return true;
}

bool subadmm_step_trees(subadmm *s) {
    /* one system for all trees */
    if (s->split == SUBADMM_NONE) {
        return step_unsplit(s);
    }
    /* trees of one body, and batches of equal trees, in lanes */
    subadmm_run_kernel(s, s->lanes.solved_batches, s->kernels->update_bodies);
    subadmm_step_batches(s);
    /* all other trees, one by one */
    for (int k = 0; k < s->ntree; k++) {
        subadmm_tree *t = &s->tree[k];
        if (t->form == SUBADMM_ROW) {
            add_lane_wrench(s, t->lane, t->nv, s->push + t->v0);
            step_dense(t, tree_row(s, t, s->lanes.row), s->push + t->v0);
        } else if (t->form == SUBADMM_DENSE) {
            step_dense(t, s->x + t->v0, s->push + t->v0);
        } else if (t->form == SUBADMM_BRANCH) {
            subadmm_step_branch(s, t);
        } else if (t->form == SUBADMM_ARTICULATED) {
            subadmm_step_articulated(s, t);
        }
    }
    return true;
}
