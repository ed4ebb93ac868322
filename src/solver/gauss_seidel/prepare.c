/* Data of a sweep of block Gauss-Seidel.
 *
 * Two forms give the same sweep.  Matrix-free keeps v = v* + sum Y_i gamma_i and computes s_i from it:
 *
 *     s_i = J_i v + w_i - target_i + R_i gamma_i,      v <- v + Y_i (change of gamma_i).
 *
 * Cost: 2 rows nv for each of the two trees.  Assembled: s_i = q_i + sum_j W_ij gamma_j + R_i gamma_i.  Cost: the
 * blocks in one row of W, as many as the constraint has neighbours.  The form with fewer multiplications is chosen, in
 * vectors of four. Those of W have fewer dependencies and take two thirds of the time (measured on stacks and heaps).
 *
 * Blocks of J and W are stored by columns of `lanes` numbers, so that s is summed by whole columns.  A small proximal
 * term, K = W_ii + R_i + epsilon and b = s - K g with the old g, pulls the local solution towards the old impulse.
 * It does not change fixed points.  With a singular W_ii (a contact on a body that turns about one axis) it selects
 * the nearest of many solutions. */
#include "solver/core/natural_map.h"
#include "solver/core/products.h"
#include "solver/gauss_seidel/pgs.h"

#include <math.h>
#include <string.h>

static int round_up(int n) { return (n + PGS_LANES - 1) / PGS_LANES * PGS_LANES; }

/* Gauss-Jordan with row exchanges; zeros for a singular matrix. */
static void invert_block(int n, const double *A, double *inverse) {
    double a[SIM_MAX_ROWS][2 * SIM_MAX_ROWS];
    /* augmented matrix (A | 1) */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            a[i][j] = A[i * n + j];
            a[i][n + j] = i == j;
        }
    }
    memset(inverse, 0, (size_t)(n * n) * sizeof *inverse);
    for (int k = 0; k < n; k++) {
        /* partial pivoting; a singular block has the inverse 0 */
        int best = k;
        for (int i = k + 1; i < n; i++) {
            best = fabs(a[i][k]) > fabs(a[best][k]) ? i : best;
        }
        if (!(fabs(a[best][k]) > 0)) {
            return;
        }
        for (int j = 0; j < 2 * n; j++) {
            double swap = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = swap;
        }
        /* Gauss-Jordan elimination of column k */
        double scale = 1 / a[k][k];
        for (int j = 0; j < 2 * n; j++) {
            a[k][j] *= scale;
        }
        for (int i = 0; i < n; i++) {
            double factor = i == k ? 0 : a[i][k];
            for (int j = 0; j < 2 * n && factor != 0; j++) {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    /* the right half is A^-1 */
    for (int i = 0; i < n; i++) {
        memcpy(inverse + i * n, a[i] + n, (size_t)n * sizeof *inverse);
    }
}

/* D = W_ii + R_i in place of W_ii, and the scales rho. */
static void set_block(pgs_block *b, const double *R, double *W) {
    double trace = 0, compliance = 0;
    int n = b->rows;
    for (int k = 0; k < n; k++) {
        trace += W[k * n + k];
        compliance += isinf(R[k]) ? 0 : R[k];
        W[k * n + k] += R[k];
    }
    b->rho = trace > 0 ? n / trace : 1;
    b->rho_E = trace + compliance > 0 ? n / (trace + compliance) : 1;
    b->D = W;
}

void pgs_set_proximal(pgs *s, double proximal) {
    for (int i = 0; i < s->n; i++) {
        pgs_block *b = &s->block[i];
        int n = b->rows;
        memcpy(b->K, b->D, (size_t)(n * n) * sizeof *b->K);
        for (int k = 0; k < n; k++) {
            b->K[k * n + k] += proximal / b->rho;
        }
        invert_block(n, b->K, b->inverse);
    }
}

static void init_block(const sim_problem *p, const sim_constraint *c, int at, pgs_block *b) {
    *b = (pgs_block){.kind = c->kind, .rows = c->rows, .lanes = round_up(c->rows), .at = at};
    if (c->kind == SIM_CONTACT) {
        b->limit = c->friction;
        b->turning = sim_contact_turns(c) ? c : NULL;
    } else if (c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR) {
        b->limit = p->step * c->bound;
    }
}

static double *new_zeros(sim_arena *scratch, size_t count) {
    double *x = ARENA_NEW(scratch, double, count);
    return x ? memset(x, 0, count * sizeof *x) : NULL;
}

static bool init_blocks(pgs *s, sim_arena *scratch) {
    s->block = ARENA_NEW(scratch, pgs_block, s->n);
    s->uniform = true;
    for (int i = 0; i < s->n && s->block; i++) {
        const sim_constraint *c = &s->problem->constraint[i];
        init_block(s->problem, c, s->lanes, &s->block[i]);
        s->lanes += s->block[i].lanes;
        s->uniform &= c->rows == 3;
    }
    return s->block != NULL;
}

static bool compute_blocks(pgs *s, const solver_call *call, const delassus_response *Y, sim_arena *scratch) {
    const sim_problem *p = s->problem;
    size_t size = sim_delassus_diagonal_size(p);
    double *W = ARENA_NEW(scratch, double, size), *K = ARENA_NEW(scratch, double, 2 * size);
    if (!W || !K || !delassus_diagonal(p, Y, scratch, W)) {
        return false;
    }
    for (int i = 0; i < s->n; i++) {
        const sim_constraint *c = &p->constraint[i];
        int square = c->rows * c->rows;
        set_block(&s->block[i], call->R + c->row, W);
        s->block[i].K = K;
        s->block[i].inverse = K + square;
        W += square;
        K += 2 * square;
    }
    return true;
}

/* Copies a rows x columns block by columns of `lanes`. */
static void copy_columns(const pgs_block *b, int columns, const double *from, double *to) {
    for (int j = 0; j < columns; j++) {
        for (int k = 0; k < b->lanes; k++) {
            to[j * b->lanes + k] = k < b->rows ? from[k * columns + j] : 0;
        }
    }
}

static bool pack_free(pgs *s, const delassus_response *Y, sim_arena *scratch) {
    const sim_problem *p = s->problem;
    size_t size = 0;
    int *place = ARENA_NEW(scratch, int, p->ntree);
    if (!place) {
        return false;
    }
    /* places of the trees in padded velocities */
    for (int t = 0; t < p->ntree; t++) {
        place[t] = s->nv;
        s->nv += round_up(p->tree[t].nv);
    }
    /* memory for J and Y of every side */
    for (int k = 0; k < 2 * s->n; k++) {
        int tree = p->constraint[k / 2].tree[k % 2], nv = tree >= 0 ? p->tree[tree].nv : 0;
        size += (size_t)(nv * s->block[k / 2].lanes + round_up(nv) * s->block[k / 2].rows);
    }
    double *to = new_zeros(scratch, size);
    s->v = ARENA_NEW(scratch, double, s->nv);
    s->v_free = new_zeros(scratch, (size_t)s->nv);
    if (!to || !s->v || !s->v_free) {
        return false;
    }
    /* v* in padded places */
    for (int t = 0; t < p->ntree; t++) {
        memcpy(s->v_free + place[t], p->v_free + p->tree[t].v0, (size_t)p->tree[t].nv * sizeof *s->v);
    }
    /* J by columns, Y by rows of padded length */
    for (int k = 0; k < 2 * s->n; k++) {
        pgs_block *b = &s->block[k / 2];
        int side = k % 2, tree = p->constraint[k / 2].tree[side];
        if (tree >= 0) {
            int nv = b->nv[side] = p->tree[tree].nv;
            b->v0[side] = place[tree];
            b->stride[side] = round_up(nv);
            b->J[side] = to;
            copy_columns(b, nv, p->J + p->constraint[k / 2].block[side], to);
            to += nv * b->lanes;
            b->Y[side] = to;
            for (int row = 0; row < b->rows; row++, to += b->stride[side]) {
                memcpy(to, Y->value + Y->at[k] + row * nv, (size_t)nv * sizeof *to);
            }
        }
    }
    return true;
}

static bool pack_assembled(pgs *s, const sim_delassus *W, sim_arena *scratch) {
    /* length of the padded blocks */
    size_t size = 0;
    for (int i = 0; i < s->n; i++) {
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            size += (size_t)(s->block[i].lanes * s->block[W->column[k]].rows);
        }
    }
    /* each block row, in padded columns */
    double *to = ARENA_NEW(scratch, double, size);
    for (int i = 0; i < s->n && to; i++) {
        pgs_block *b = &s->block[i];
        b->start = W->start[i];
        b->end = W->start[i + 1];
        b->W = to;
        for (int k = b->start; k < b->end; k++) {
            int columns = s->block[W->column[k]].rows;
            copy_columns(b, columns, W->value + W->at[k], to);
            to += columns * b->lanes;
        }
    }
    s->neighbour = W->column;
    return to != NULL;
}

/* Multiplications of a sweep in runs of four. */
static size_t cost_free(const pgs *s) {
    size_t sum = 0;
    for (int k = 0; k < 2 * s->n; k++) {
        const pgs_block *b = &s->block[k / 2];
        int tree = s->problem->constraint[k / 2].tree[k % 2], nv = tree >= 0 ? s->problem->tree[tree].nv : 0;
        sum += (size_t)(nv * b->lanes + b->rows * round_up(nv)) / PGS_LANES;
    }
    return sum;
}

static size_t cost_assembled(const pgs *s, const sim_delassus *W) {
    size_t sum = 0;
    for (int i = 0; i < s->n; i++) {
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            sum += (size_t)(s->block[i].lanes * s->block[W->column[k]].rows) / PGS_LANES;
        }
    }
    return sum;
}

double pgs_multiplications(const pgs *s) {
    double sum = 0;
    for (int i = 0; i < s->n; i++) {
        const pgs_block *b = &s->block[i];
        for (int side = 0; side < 2; side++) {
            sum += b->nv[side] * b->lanes + b->rows * b->stride[side];
        }
        for (int k = b->start; k < b->end; k++) {
            sum += b->lanes * s->block[s->neighbour[k]].rows;
        }
    }
    return sum;
}

/* matrix: 0 the cheaper form, 1 matrix-free, 2 assembled. */
static bool choose_operator_form(pgs *s, int matrix, sim_arena *scratch, sim_delassus *W) {
    bool too_many = false;
    if (sim_problem_local(s->problem)) {
        s->assembled = true;
        return true;
    }
    size_t cost = cost_free(s);
    if (matrix != 1 && !delassus_pattern(s->problem, matrix == 2 ? SIZE_MAX : cost, scratch, W, &too_many)) {
        return false;
    }
    s->assembled = matrix == 2 || (matrix == 0 && !too_many && 2 * cost_assembled(s, W) <= 3 * cost);
    return true;
}

/* The assembled form needs the half response alone. */
static bool build_form(pgs *s, const solver_call *call, sim_arena *scratch, sim_delassus *W) {
    const sim_problem *p = s->problem;
    delassus_response Y = {NULL, NULL, 0};
    if (sim_problem_local(p)) {
        return compute_blocks(s, call, NULL, scratch) && pack_assembled(s, p->W, scratch);
    }
    if (!delassus_response_make(p, s->assembled, scratch, &Y) || !compute_blocks(s, call, &Y, scratch)) {
        return false;
    }
    return s->assembled ? delassus_assemble(p, &Y, scratch, W) && pack_assembled(s, W, scratch)
                        : pack_free(s, &Y, scratch);
}

/* Copies a vector of rows into lanes. */
static void copy_lanes(const pgs *s, const double *from, double *to) {
    for (int i = 0; i < s->n; i++) {
        memcpy(to + s->block[i].at, from + s->problem->constraint[i].row, (size_t)s->block[i].rows * sizeof *to);
    }
}

/* Largest velocity that a warm start may cause, over |q|: beyond it the step before diverged. */
static const double MAX_WARM_START_RATIO = 1e6;

static bool warm_start_is_sane(const pgs *s, const double *gamma) {
    double sum = 0;
    for (int i = 0; i < s->n; i++) {
        const sim_constraint *c = &s->problem->constraint[i];
        for (int k = c->row; k < c->row + c->rows; k++) {
            sum += gamma[k] * gamma[k] / (s->block[i].rho * s->block[i].rho);
        }
    }
    return sqrt(sum) <= MAX_WARM_START_RATIO * s->size_q;
}

static bool init_vectors(pgs *s, const solver_call *call, sim_arena *scratch) {
    const sim_problem *p = s->problem;
    size_t lanes = (size_t)s->lanes;
    double *row = ARENA_NEW(scratch, double, p->nrow), *offset = new_zeros(scratch, (size_t)p->nrow);
    s->R = new_zeros(scratch, lanes);
    s->q = new_zeros(scratch, lanes);
    s->base = new_zeros(scratch, lanes);
    s->gamma = new_zeros(scratch, lanes);
    s->n2 = squared_natural_speeds(p, scratch);
    if (!s->n2 || !row || !offset || !s->R || !s->q || !s->base || !s->gamma) {
        return false;
    }
    /* compliance, and the velocity J v* + w of the rows */
    copy_lanes(s, call->R, s->R);
    if (sim_problem_local(p)) {
        memcpy(row, p->q, (size_t)p->nrow * sizeof *row);
    } else {
        problem_velocity(p, p->v_free, row);
    }
    /* known velocity q = J v* + w - target, its norm, and w - target for the matrix-free form */
    s->size_q = 0;
    for (int k = 0; k < p->nrow; k++) {
        offset[k] = (p->offset ? p->offset[k] : 0) - call->target[k];
        row[k] -= call->target[k];
        s->size_q += row[k] * row[k];
    }
    s->size_q = sqrt(s->size_q);
    copy_lanes(s, row, s->q);
    copy_lanes(s, s->assembled ? row : offset, s->base);
    /* warm start from finite impulses, unless the velocities that they cause are huge */
    for (int k = 0; k < p->nrow && p->impulse_guess; k++) {
        row[k] = isfinite(p->impulse_guess[k]) ? p->impulse_guess[k] : 0;
    }
    if (p->impulse_guess && warm_start_is_sane(s, row)) {
        copy_lanes(s, row, s->gamma);
    }
    return true;
}

bool pgs_prepare(pgs *s, const solver_call *call, int matrix, sim_arena *scratch) {
    const sim_problem *p = call->problem;
    sim_delassus W;
    *s = (pgs){.problem = p, .n = p->nconstraint};
    if (!init_blocks(s, scratch) || !choose_operator_form(s, matrix, scratch, &W) ||
        !build_form(s, call, scratch, &W) || !init_vectors(s, call, scratch)) {
        return false;
    }
    pgs_refresh(s);
    return true;
}
