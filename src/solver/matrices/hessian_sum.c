/* Part of one patch of constraints in H = A + J' G J.
 *
 * With G = sum_r weight_r q_r q_r' for every constraint, a patch between the trees a and b adds
 *
 *     H_aa += sum_r weight_r x_r x_r',   H_ab = sum_r weight_r x_r z_r',   H_bb += sum_r weight_r z_r z_r',
 *     x_r = J_a' q_r,   z_r = J_b' q_r,
 *
 * one sum over all rows of the patch.  A sticking contact gives three rows, a sliding one two, an open one none.
 *
 * In trees with many dofs rows are mostly zero: a contact moves only the dofs on the paths between its two bodies.
 * There the sum goes by batches of consecutive constraints, over the columns that the batch touches,
 *
 *     H[first, end) += X' G X.      Cost: rows (end - first)^2 multiplications.
 *
 * A constraint joins the batch while its columns cost less than reading and writing H once more.  The rows of a batch
 * stay in the cache. */
#include "solver/matrices/hessian_sum.h"
#include "linalg/dense/strip.h"
#include "solver/core/cone_discs.h"

#include <string.h>

enum { MAX_BATCH_ROWS = 128 };

static int size_of(const patches *o, int node) { return node >= 0 ? o->graph.size[node] : 0; }

static bool both_free(const patches *o, const patch *p) {
    return size_of(o, p->a) == 6 && (p->b < 0 || size_of(o, p->b) == 6);
}

bool hessian_sum_make(hessian_sum *s, const patches *o, sim_arena *kept) {
    size_t numbers = 0;
    for (int k = 0; k < o->count; k++) {
        const patch *p = &o->patch[k];
        int n = size_of(o, p->a), m = size_of(o, p->b),
            most = both_free(o, p) ? p->rows : MAX_BATCH_ROWS + SIM_MAX_ROWS;
        size_t here = (size_t)(p->rows < most ? p->rows : most) * strip_stride(n > m ? n : m);
        numbers = here > numbers ? here : numbers;
    }
    for (int side = 0; side < 2; side++) {
        s->side[side].x = ARENA_NEW(kept, double, numbers);
        s->side[side].weighted = ARENA_NEW(kept, double, numbers);
        if (!s->side[side].x || !s->side[side].weighted) {
            return false;
        }
    }
    return true;
}

/* Row of a free body: six numbers and two zeros in two registers. */
static inline void add_row_of_six(hessian_rows *r, const double *J, int count, const double *q, double weight) {
    double *x = r->x + 8 * (ptrdiff_t)r->count, *weighted = r->weighted + 8 * (ptrdiff_t)r->count;
    simd4 head = q[0] * simd4_load(J), tail = {q[0] * J[4], q[0] * J[5], 0, 0};
    for (int k = 1; k < count; k++) {
        simd4 more = {q[k] * J[6 * k + 4], q[k] * J[6 * k + 5], 0, 0};
        head += q[k] * simd4_load(J + 6 * k);
        tail += more;
    }
    memcpy(x, &head, sizeof head);
    memcpy(x + 4, &tail, sizeof tail);
    head *= -weight;
    tail *= -weight;
    memcpy(weighted, &head, sizeof head);
    memcpy(weighted + 4, &tail, sizeof tail);
    r->count++;
}

/* x = sum_k q_k J_k and -weight x in the constraint's own columns; zero in the others. */
static void add_long_row(hessian_rows *r, const double *J, sim_columns of, int count, const double *q, double weight) {
    double *x = r->x + (ptrdiff_t)r->count * r->stride, *weighted = r->weighted + (ptrdiff_t)r->count * r->stride;
    int first = of.first - r->first, end = first + of.count;
    J += of.first;
    memset(x, 0, (size_t)r->stride * sizeof *x);
    memset(weighted, 0, (size_t)r->stride * sizeof *x);
    for (int j = first; j < end; j++) {
        double sum = q[0] * J[j - first];
        for (int k = 1; k < count; k++) {
            sum += q[k] * J[k * r->n + j - first];
        }
        x[j] = sum;
        weighted[j] = -weight * sum;
    }
    r->count++;
}

static inline void add_patch_row(hessian_rows *r, const double *J, sim_columns of, int count, const double *q,
                                 double weight) {
    if (r->stride == 8 && r->n == 6) {
        add_row_of_six(r, J, count, q, weight);
    } else {
        add_long_row(r, J, of, count, q, weight);
    }
}

static void add_patch_constraint(hessian_rows *r, const sim_constraint *c, const double *J, sim_columns of,
                                 const cone_hessian *G) {
    const double *w = G->weight, *t = G->t, one = 1;
    /* contacts that slide */
    if (G->sliding && sim_contact_turns(c)) {
        double vector[SIM_MAX_ROWS][SIM_MAX_ROWS], weight[SIM_MAX_ROWS];
        for (int k = 0, count = discs_vectors(c, G, vector, weight); k < count; k++) {
            add_patch_row(r, J, of, c->rows, vector[k], weight[k]);
        }
        return;
    }
    if (G->sliding) {
        double a[3] = {G->lean * t[0], G->lean * t[1], 1}, b[2] = {-t[1], t[0]};
        add_patch_row(r, J, of, 3, a, w[0]);
        add_patch_row(r, J, of, 2, b, w[1]);
        return;
    }
    /* rows on their own */
    for (int k = 0; k < c->rows; k++) {
        if (w[k] > 0) {
            add_patch_row(r, J + (ptrdiff_t)k * r->n, of, 1, &one, w[k]);
        }
    }
}

typedef struct patch_sum {
    const sim_problem *problem;
    const patches *all;
    const patch *patch;
    const cone_hessian *G;
} patch_sum;

static int constraint_at(const patch_sum *a, int k) { return a->all->constraint[a->patch->first + k]; }

/* The columns of the k-th constraint on a side of the patch. */
static sim_columns columns_at(const patch_sum *a, int k, int side) {
    int i = constraint_at(a, k);
    return sim_block_columns(a->problem, &a->problem->constraint[i], side ^ a->all->flipped[i]);
}

static int rows_at(const patch_sum *a, int k) {
    int i = constraint_at(a, k), count = 0;
    if (a->G[i].sliding && sim_contact_turns(&a->problem->constraint[i])) {
        double vector[SIM_MAX_ROWS][SIM_MAX_ROWS], weight[SIM_MAX_ROWS];
        return discs_vectors(&a->problem->constraint[i], &a->G[i], vector, weight);
    }
    if (a->G[i].sliding) {
        return 2;
    }
    for (int r = 0; r < a->problem->constraint[i].rows; r++) {
        count += a->G[i].weight[r] > 0;
    }
    return count;
}

/* A batch of constraints and the columns that it touches, on one side or two. */
typedef struct batch {
    int begin, end, rows, first[2], past[2];
} batch;

static double square_of(const batch *b) {
    double width = b->past[0] - b->first[0] + b->past[1] - b->first[1];
    return width * width;
}

static batch single_batch(const patch_sum *a, int k) {
    batch b = {.begin = k, .end = k + 1, .rows = rows_at(a, k)};
    for (int side = 0; side < (a->patch->b < 0 ? 1 : 2); side++) {
        sim_columns of = columns_at(a, k, side);
        b.first[side] = of.first & ~3;
        b.past[side] = of.first + of.count;
    }
    return b;
}

static batch merge_batches(const batch *x, const batch *y) {
    batch b = {.begin = x->begin, .end = y->end, .rows = x->rows + y->rows};
    for (int side = 0; side < 2; side++) {
        b.first[side] = x->first[side] < y->first[side] ? x->first[side] : y->first[side];
        b.past[side] = x->past[side] > y->past[side] ? x->past[side] : y->past[side];
    }
    return b;
}

/* Batch of the constraints from k on.  Reading and writing an entry of H costs as much as four multiplications. */
static batch choose_batch(const patch_sum *a, int k) {
    batch b = single_batch(a, k);
    while (b.end < a->patch->count) {
        batch next = single_batch(a, b.end), both = merge_batches(&b, &next);
        if (next.rows == 0) {
            b.end = next.end;
        } else if (b.rows == 0) {
            next.begin = b.begin;
            b = next;
        } else if (both.rows <= MAX_BATCH_ROWS &&
                   both.rows * square_of(&both) <= b.rows * square_of(&b) + (next.rows + 4) * square_of(&next)) {
            b = both;
        } else {
            break;
        }
    }
    return b;
}

static void collect_rows(hessian_sum *s, const patch_sum *a, const batch *b) {
    for (int side = 0; side < (a->patch->b < 0 ? 1 : 2); side++) {
        hessian_rows *r = &s->side[side];
        r->n = size_of(a->all, side ? a->patch->b : a->patch->a);
        r->first = r->n == 6 ? 0 : b->first[side];
        r->end = r->n == 6 ? 6 : b->past[side];
        r->stride = strip_stride(r->end - r->first);
        r->count = 0;
        for (int k = b->begin; k < b->end; k++) {
            int i = constraint_at(a, k);
            const sim_constraint *c = &a->problem->constraint[i];
            int of = side ^ a->all->flipped[i];
            sim_columns columns = r->n == 6 ? (sim_columns){0, 6} : sim_block_columns(a->problem, c, of);
            add_patch_constraint(r, c, a->problem->J + c->block[of], columns, &a->G[i]);
        }
    }
}

/* H += sum_r weight_r x_r x_r', from the diagonal on. */
static void add_squares(const hessian_rows *x, double *H) {
    int stride = strip_stride(x->n);
    strip_update_upper(x->end - x->first, x->count, x->weighted, x->stride, x->x, x->stride,
                       H + (ptrdiff_t)x->first * stride + x->first, stride);
}

/* H += sum_r weight_r x_r z_r' */
static void add_products(const hessian_rows *x, const hessian_rows *z, double *H) {
    int stride = strip_stride(z->n);
    strip_update(x->end - x->first, z->stride, x->count, x->weighted, x->stride, z->x, z->stride,
                 H + (ptrdiff_t)x->first * stride + z->first, stride);
}

static void clear_block(int rows, int columns, double *H) {
    memset(H, 0, (size_t)rows * (size_t)strip_stride(columns) * sizeof *H);
}

/* Free bodies have all their rows in one batch, and squares of six. */
static void sum_free(hessian_sum *s, const patch_sum *a, const int size[2], double *const square[2], int first,
                     double *product) {
    batch b = {.end = a->patch->count};
    collect_rows(s, a, &b);
    for (int side = 0; side < 2 && size[side]; side++) {
        strip_product_6(s->side[side].count, s->side[side].weighted, s->side[side].x, square[side]);
    }
    if (size[1]) {
        strip_product_6(s->side[first].count, s->side[first].weighted, s->side[1 - first].x, product);
    }
}

static void sum_batches(hessian_sum *s, const patch_sum *a, const int size[2], double *const square[2], int first,
                        double *product) {
    for (int k = 0; k < a->patch->count;) {
        batch b = choose_batch(a, k);
        k = b.end;
        if (b.rows == 0) {
            continue;
        }
        collect_rows(s, a, &b);
        for (int side = 0; side < 2 && size[side]; side++) {
            add_squares(&s->side[side], square[side]);
        }
        if (size[1]) {
            add_products(&s->side[first], &s->side[1 - first], product);
        }
    }
}

void hessian_sum_patch(hessian_sum *s, const sim_problem *problem, const patches *all, const patch *p,
                       const cone_hessian *G, double *aa, double *bb, const spd_block *between) {
    patch_sum a = {problem, all, p, G};
    int size[2] = {size_of(all, p->a), size_of(all, p->b)}, first = between->row == p->a ? 0 : 1;
    double *const square[2] = {aa, bb};
    if (both_free(all, p)) {
        sum_free(s, &a, size, square, first, between->value);
        return;
    }
    for (int side = 0; side < 2 && size[side]; side++) {
        clear_block(size[side], size[side], square[side]);
    }
    if (size[1]) {
        clear_block(size[first], size[1 - first], between->value);
    }
    sum_batches(s, &a, size, square, first, between->value);
}
