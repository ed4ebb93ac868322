/* H = A + J' G J by trees (Castro, Permenter, Han 2021, sec. IV-C).
 *
 * With G = sum_r weight_r q_r q_r' for every constraint, a patch of constraints between the trees a and b gives
 *
 *     H_aa += sum_r weight_r x_r x_r',   H_ab = sum_r weight_r x_r z_r',   H_bb += sum_r weight_r z_r z_r',
 *     x_r = J_a' q_r,   z_r = J_b' q_r,
 *
 * one sum over all the rows of the patch.  A sticking contact gives three rows, a sliding one two, an open one none.  What
 * a patch gives to the diagonal is kept apart, so that patches whose G has not changed need no work. */
#include "solver/hessian.h"
#include "linalg/strip.h"

#include <stdlib.h>
#include <string.h>

/* Rows x_r and -weight_r x_r of one side of a patch, padded. */
typedef struct rows {
    int n, stride, count;
    double *x, *weighted;
} rows;

struct hessian {
    sim_arena *kept, *scratch;
    spd *system;
    patches patches;
    const sim_problem *problem;
    int known;
    sim_problem_tree *tree; /* copies, by which a problem of the same structure is known again */
    int ntree, nconstraint;
    int (*touched)[3]; /* [nconstraint] trees and rows */
    double **A;        /* [nodes] padded */
    double **part;     /* [2 patches] of the diagonal blocks of a and b */
    convex_bend *bend; /* [nconstraint] as of the last sum */
    char *stale;       /* [nodes] */
    int summed;        /* 0: nothing was, since A and J came */
    rows side[2];
    double *x, *padded; /* [unknowns], [most of a node] */
};

hessian *hessian_create(void) {
    hessian *h = calloc(1, sizeof *h);
    if (h) {
        h->kept = sim_arena_create();
        h->scratch = sim_arena_create();
        h->system = spd_create();
        if (!h->kept || !h->scratch || !h->system) {
            hessian_free(h);
            h = NULL;
        }
    }
    return h;
}

void hessian_free(hessian *h) {
    if (h) {
        spd_free(h->system);
        sim_arena_free(h->scratch);
        sim_arena_free(h->kept);
        free(h);
    }
}

const patches *hessian_patches(const hessian *h) { return &h->patches; }
spd_work hessian_work(const hessian *h) { return spd_expected(h->system); }

static int size_of(const hessian *h, int node) { return h->patches.graph.size[node]; }
static ptrdiff_t block_numbers(const hessian *h, int node) {
    return (ptrdiff_t)size_of(h, node) * strip_stride(size_of(h, node));
}

static int same_structure(const hessian *h, const sim_problem *p) {
    if (!h->known || h->ntree != p->ntree || h->nconstraint != p->nconstraint) {
        return 0;
    }
    for (int t = 0; t < p->ntree; t++) {
        if (h->tree[t].nv != p->tree[t].nv) {
            return 0;
        }
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (h->touched[i][0] != c->tree[0] || h->touched[i][1] != c->tree[1] || h->touched[i][2] != c->rows) {
            return 0;
        }
    }
    return 1;
}

static int keep_structure(hessian *h, const sim_problem *p) {
    h->ntree = p->ntree;
    h->nconstraint = p->nconstraint;
    h->tree = ARENA_NEW(h->kept, sim_problem_tree, p->ntree);
    h->touched = sim_arena_alloc(h->kept, (size_t)p->nconstraint, sizeof *h->touched);
    if (!h->tree || !h->touched) {
        return 0;
    }
    for (int t = 0; t < p->ntree; t++) {
        h->tree[t] = p->tree[t];
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        h->touched[i][0] = c->tree[0];
        h->touched[i][1] = c->tree[1];
        h->touched[i][2] = c->rows;
    }
    return 1;
}

static int make_rows(hessian *h) {
    int most = 0;
    for (int node = 0; node < h->patches.nodes; node++) {
        int n = size_of(h, node);
        most = n > most ? n : most;
    }
    size_t numbers = 0;
    for (int k = 0; k < h->patches.count; k++) {
        const patch *p = &h->patches.patch[k];
        int n = size_of(h, p->a), m = p->b >= 0 ? size_of(h, p->b) : 0;
        size_t here = (size_t)p->rows * strip_stride(n > m ? n : m);
        numbers = here > numbers ? here : numbers;
    }
    for (int side = 0; side < 2; side++) {
        h->side[side].x = ARENA_NEW(h->kept, double, numbers);
        h->side[side].weighted = ARENA_NEW(h->kept, double, numbers);
        if (!h->side[side].x || !h->side[side].weighted) {
            return 0;
        }
    }
    h->padded = ARENA_NEW(h->kept, double, strip_stride(most) + 8);
    return h->padded != NULL;
}

/* Memory for all that depends on the structure. */
static int make_blocks(hessian *h) {
    const patches *o = &h->patches;
    h->A = ARENA_NEW(h->kept, double *, o->nodes);
    h->part = ARENA_NEW(h->kept, double *, 2 * o->count);
    h->bend = ARENA_NEW(h->kept, convex_bend, h->nconstraint);
    h->stale = ARENA_NEW(h->kept, char, o->nodes);
    h->x = ARENA_NEW(h->kept, double, o->start[o->nodes]);
    int ok = h->A && h->part && h->bend && h->stale && h->x && make_rows(h);
    for (int node = 0; node < o->nodes && ok; node++) {
        h->A[node] = ARENA_NEW(h->kept, double, block_numbers(h, node));
        ok = h->A[node] != NULL;
    }
    for (int k = 0; k < o->count && ok; k++) {
        h->part[2 * k] = ARENA_NEW(h->kept, double, block_numbers(h, o->patch[k].a));
        h->part[2 * k + 1] = o->patch[k].b >= 0 ? ARENA_NEW(h->kept, double, block_numbers(h, o->patch[k].b)) : NULL;
        ok = h->part[2 * k] && (o->patch[k].b < 0 || h->part[2 * k + 1]);
    }
    return ok;
}

/* A of every node, its rows moved apart from the last to the first. */
static void take_mass(hessian *h) {
    const sim_mass *mass = &h->problem->mass;
    for (int node = 0; node < h->patches.nodes; node++) {
        int n = size_of(h, node), stride = strip_stride(n);
        double *A = h->A[node];
        mass->matrix(mass->self, h->patches.tree[node], A);
        for (int r = n - 1; r >= 0; r--) {
            memmove(A + (ptrdiff_t)r * stride, A + (ptrdiff_t)r * n, (size_t)n * sizeof *A);
            memset(A + (ptrdiff_t)r * stride + n, 0, (size_t)(stride - n) * sizeof *A);
        }
    }
}

int hessian_prepare(hessian *h, const sim_problem *p, spd_method method) {
    h->problem = p;
    if (!same_structure(h, p)) {
        sim_arena_release(h->kept, 0);
        h->known = keep_structure(h, p) && patches_find(p, h->kept, h->scratch, &h->patches) && make_blocks(h);
    }
    h->summed = 0;
    if (!h->known || !spd_analyse(h->system, &h->patches.graph, method)) {
        return 0;
    }
    take_mass(h);
    return 1;
}

void hessian_mass_times(const hessian *h, const double *x, double *y) {
    for (int node = 0; node < h->patches.nodes; node++) {
        int n = size_of(h, node), stride = strip_stride(n), v0 = h->problem->tree[h->patches.tree[node]].v0;
        if (n == 6) {
            strip_row_6(x + v0, h->A[node], y + v0);
            continue;
        }
        memset(h->padded, 0, (size_t)stride * sizeof *h->padded);
        strip_update(1, stride, n, x + v0, 1, h->A[node], stride, h->padded, stride);
        for (int j = 0; j < n; j++) {
            y[v0 + j] = -h->padded[j];
        }
    }
}

void hessian_mass_diagonal(const hessian *h, double *diagonal) {
    for (int node = 0; node < h->patches.nodes; node++) {
        int n = size_of(h, node), v0 = h->problem->tree[h->patches.tree[node]].v0;
        for (int j = 0; j < n; j++) {
            diagonal[v0 + j] = h->A[node][(ptrdiff_t)j * (strip_stride(n) + 1)];
        }
    }
}

/* Rows of free bodies: two registers for six numbers and two zeros. */
static inline void add_row_of_six(rows *r, const double *J, int count, const double *q, double weight) {
    double *x = r->x + 8 * (ptrdiff_t)r->count, *weighted = r->weighted + 8 * (ptrdiff_t)r->count;
    strip_quad head = q[0] * strip_load4(J), tail = {q[0] * J[4], q[0] * J[5], 0, 0};
    for (int k = 1; k < count; k++) {
        strip_quad more = {q[k] * J[6 * k + 4], q[k] * J[6 * k + 5], 0, 0};
        head += q[k] * strip_load4(J + 6 * k);
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

/* x = sum_k q_k J_k and -weight x, padded. */
static inline void add_row(rows *r, const double *J, int count, const double *q, double weight) {
    if (r->n == 6) {
        add_row_of_six(r, J, count, q, weight);
        return;
    }
    double *x = r->x + (ptrdiff_t)r->count * r->stride, *weighted = r->weighted + (ptrdiff_t)r->count * r->stride;
    for (int j = 0; j < r->n; j++) {
        double sum = q[0] * J[j];
        for (int k = 1; k < count; k++) {
            sum += q[k] * J[k * r->n + j];
        }
        x[j] = sum;
        weighted[j] = -weight * sum;
    }
    for (int j = r->n; j < r->stride; j++) {
        x[j] = weighted[j] = 0;
    }
    r->count++;
}

static void add_constraint(rows *r, const sim_constraint *c, const double *J, const convex_bend *bend) {
    const double *w = bend->weight, *t = bend->t, one = 1;
    if (bend->sliding) {
        double a[3] = {c->friction * t[0], c->friction * t[1], 1}, b[2] = {-t[1], t[0]};
        add_row(r, J, 3, a, w[0]);
        add_row(r, J, 2, b, w[1]);
        return;
    }
    for (int k = 0; k < c->rows; k++) {
        if (w[k] > 0) {
            add_row(r, J + k * r->n, 1, &one, w[k]);
        }
    }
}

static void collect(hessian *h, const patch *p) {
    for (int side = 0; side < 2; side++) {
        int node = side ? p->b : p->a;
        rows *r = &h->side[side];
        r->count = 0;
        if (node < 0) {
            break;
        }
        r->n = size_of(h, node);
        r->stride = strip_stride(r->n);
        for (int k = 0; k < p->count; k++) {
            int i = h->patches.constraint[p->first + k];
            const sim_constraint *c = &h->problem->constraint[i];
            add_constraint(r, c, h->problem->J + c->block[side ^ h->patches.flipped[i]], &h->bend[i]);
        }
    }
}

/* H <- sum_r weight_r x_r z_r' */
static void sum_rows(const rows *x, const rows *z, double *H) {
    if (x->n == 6 && z->n == 6) {
        strip_product_6(x->count, x->weighted, z->x, H);
        return;
    }
    memset(H, 0, (size_t)x->n * (size_t)z->stride * sizeof *H);
    strip_update(x->n, z->stride, x->count, x->weighted, x->stride, z->x, z->stride, H, z->stride);
}

static void sum_patch(hessian *h, int k) {
    const patch *p = &h->patches.patch[k];
    collect(h, p);
    sum_rows(&h->side[0], &h->side[0], h->part[2 * k]);
    h->stale[p->a] = 1;
    if (p->b >= 0) {
        spd_block between = spd_between(h->system, p->edge);
        int first = between.row == p->a ? 0 : 1;
        sum_rows(&h->side[first], &h->side[1 - first], between.value);
        sum_rows(&h->side[1], &h->side[1], h->part[2 * k + 1]);
        h->stale[p->b] = 1;
    }
}

static int changed(hessian *h, const patch *p, const convex_bend *bend) {
    int any = !h->summed;
    for (int k = 0; k < p->count; k++) {
        int i = h->patches.constraint[p->first + k];
        if (!h->summed || memcmp(&h->bend[i], &bend[i], sizeof *bend) != 0) {
            h->bend[i] = bend[i];
            any = 1;
        }
    }
    return any;
}

static void add(double *to, const double *from, ptrdiff_t count) {
    for (ptrdiff_t j = 0; j < count; j += 4) {
        strip_quad sum = strip_load4(to + j) + strip_load4(from + j);
        memcpy(to + j, &sum, sizeof sum);
    }
}

void hessian_set(hessian *h, const convex_bend *bend) {
    const patches *o = &h->patches;
    memset(h->stale, 0, (size_t)o->nodes);
    for (int k = 0; k < o->count; k++) {
        if (changed(h, &o->patch[k], bend)) {
            sum_patch(h, k);
        }
    }
    for (int node = 0; node < o->nodes; node++) {
        double *H = h->stale[node] ? spd_diagonal(h->system, node).value : NULL;
        if (H && size_of(h, node) == 6) {
            memcpy(H, h->A[node], 48 * sizeof *H);
        } else if (H) {
            memcpy(H, h->A[node], (size_t)block_numbers(h, node) * sizeof *H);
        }
    }
    for (int k = 0; k < o->count; k++) {
        for (int side = 0; side < 2; side++) {
            int node = side ? o->patch[k].b : o->patch[k].a;
            if (node >= 0 && h->stale[node]) {
                add(spd_diagonal(h->system, node).value, h->part[2 * k + side], block_numbers(h, node));
            }
        }
    }
    h->summed = 1;
}

int hessian_factor(hessian *h) { return spd_factor(h->system); }

int hessian_solve(hessian *h, double *x) {
    const patches *o = &h->patches;
    for (int back = 0; back < 2; back++) {
        for (int node = 0; node < o->nodes; node++) {
            double *all = x + h->problem->tree[o->tree[node]].v0, *own = h->x + o->start[node];
            memcpy(back ? all : own, back ? own : all, (size_t)size_of(h, node) * sizeof *x);
        }
        if (!back && !spd_solve(h->system, h->x)) {
            return 0;
        }
    }
    return 1;
}
