/* Grouping of velocities into trees.
 *
 * A problem has trees: A couples nothing across them, and no constraint touches more than two.  An FCLIB file has no
 * trees or bodies, only M and H.  Velocities that M couples belong to one tree.  But the M of a rigid body is often
 * diagonal, and then a contact touches twelve single velocities.  Merging changes no solution, it only stores zeros.
 * So the first of these that leaves no constraint with more than two trees is taken:
 *
 *   1. the connected components of M,
 *   2. these, with velocities merged six by six, then three by three, in their order: bodies as most programs number
 * them,
 *   3. components merged that constraints touch alike: sets of constraints A, B with |A and B| / |A or B| at least 1,
 *      0.95, ... 0, only among the trees of constraints with too many.  At 0 these merge in any case. */
#include "base/disjoint_set.h"
#include "record/problem/problem_file.h"

#include <stdlib.h>
#include <string.h>

/* Constraints and the velocities that they touch. */
typedef struct touches {
    int constraints;
    ptrdiff_t *start;
    int *dof;
} touches;

typedef struct forest {
    int n;
    int *above; /* union-find */
    touches touch;
    int *seen;          /* [n] mark of the last constraint that was there */
    ptrdiff_t *list_at; /* [n + 1] of a root: its constraints, in `list` */
    int *list, *roots;
} forest;

static void merge_coupled(forest *f, const sparse *M) {
    disjoint_set_start(f->above, f->n);
    for (int i = 0; i < f->n; i++) {
        for (ptrdiff_t k = M->start[i]; k < M->start[i + 1]; k++) {
            disjoint_set_unite(f->above, i, M->column[k]);
        }
    }
}

/* The different trees that a constraint touches, into roots; how many. */
static int trees_touched(forest *f, int constraint) {
    int count = 0;
    for (ptrdiff_t k = f->touch.start[constraint]; k < f->touch.start[constraint + 1]; k++) {
        int root = disjoint_set_find(f->above, f->touch.dof[k]);
        if (f->seen[root] != constraint) {
            f->seen[root] = constraint;
            f->roots[count++] = root;
        }
    }
    return count;
}

static void clear_touches(forest *f) {
    for (int i = 0; i < f->n; i++) {
        f->seen[i] = -1;
    }
}

static bool is_block_structure(forest *f) {
    clear_touches(f);
    for (int c = 0; c < f->touch.constraints; c++) {
        if (trees_touched(f, c) > 2) {
            return false;
        }
    }
    return true;
}

static void merge_runs(forest *f, int length) {
    for (int i = 0; i < f->n; i++) {
        disjoint_set_unite(f->above, i, i - i % length);
    }
}

/* For each root the constraints that touch its tree, rising. */
static void list_constraints(forest *f) {
    memset(f->list_at, 0, (size_t)(f->n + 1) * sizeof *f->list_at);
    for (int filling = 0; filling < 2; filling++) {
        clear_touches(f);
        for (int c = 0; c < f->touch.constraints; c++) {
            int count = trees_touched(f, c);
            for (int k = 0; k < count; k++) {
                if (filling) {
                    f->list[f->list_at[f->roots[k]]++] = c;
                } else {
                    f->list_at[f->roots[k] + 1]++;
                }
            }
        }
        for (int i = 0; i < f->n && !filling; i++) {
            f->list_at[i + 1] += f->list_at[i];
        }
    }
    memmove(f->list_at + 1, f->list_at, (size_t)f->n * sizeof *f->list_at); /* filling moved each to the next */
    f->list_at[0] = 0;
}

static double tree_likeness(const forest *f, int a, int b) {
    ptrdiff_t i = f->list_at[a], j = f->list_at[b], both = 0, either = 0;
    while (i < f->list_at[a + 1] || j < f->list_at[b + 1]) {
        int more_a = i < f->list_at[a + 1], more_b = j < f->list_at[b + 1];
        bool at_a = more_a && (!more_b || f->list[i] <= f->list[j]);
        bool at_b = more_b && (!more_a || f->list[j] <= f->list[i]);
        both += at_a && at_b;
        either++;
        i += at_a;
        j += at_b;
    }
    return either ? (double)both / (double)either : 0;
}

static void merge_alike(forest *f, double least) {
    list_constraints(f);
    clear_touches(f);
    for (int c = 0; c < f->touch.constraints; c++) {
        int count = trees_touched(f, c);
        for (int a = 0; a < count && count > 2; a++) {
            for (int b = 0; b < a; b++) {
                if (tree_likeness(f, f->roots[a], f->roots[b]) >= least) {
                    disjoint_set_unite(f->above, f->roots[a], f->roots[b]);
                }
            }
        }
    }
}

static void make_fit(forest *f, const sparse *M) {
    static const int runs[] = {1, 6, 3};
    for (int k = 0; k < 3; k++) {
        merge_coupled(f, M);
        if (f->n % runs[k] == 0) {
            merge_runs(f, runs[k]);
            if (is_block_structure(f)) {
                return;
            }
        }
    }
    merge_coupled(f, M);
    for (int step = 20; step >= 0 && !is_block_structure(f); step--) {
        merge_alike(f, step / 20.0);
    }
}

/* ---- constraints of each velocity ---- */

static void add_touches(touches *t, const sparse *rows, int first, int count) {
    ptrdiff_t at = t->start[t->constraints];
    for (int row = first; row < first + count; row++) {
        for (ptrdiff_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
            t->dof[at++] = rows->column[k];
        }
    }
    t->start[++t->constraints] = at;
}

static bool find_touches(memory_pool *work, const fclib *p, touches *t) {
    sparse H = sparse_transposed(work, &p->H), G = {0};
    G = p->bilateral ? sparse_transposed(work, &p->G) : G;
    if (!sparse_there(&H) || (p->bilateral && !sparse_there(&G))) {
        return false;
    }
    ptrdiff_t entries = H.start[H.rows] + (p->bilateral ? G.start[G.rows] : 0);
    t->start = POOL_NEW(work, ptrdiff_t, (ptrdiff_t)p->contacts + p->bilateral + 1);
    t->dof = POOL_NEW(work, int, entries);
    for (int i = 0; t->start && t->dof && i < p->contacts + p->bilateral; i++) {
        bool contact = i < p->contacts;
        add_touches(t, contact ? &H : &G, contact ? p->contact_rows * i : i - p->contacts,
                    contact ? p->contact_rows : 1);
    }
    return t->start && t->dof;
}

/* Numbers trees in the order of their first velocities. */
static int number_trees(forest *f, int *tree) {
    int count = 0;
    for (int i = 0; i < f->n; i++) {
        int root = disjoint_set_find(f->above, i);
        tree[i] = root == i ? count++ : tree[root];
    }
    return count;
}

int problem_trees(memory_pool *work, const fclib *p, int *tree) {
    forest f = {.n = p->dofs, .above = POOL_NEW(work, int, p->dofs), .seen = POOL_NEW(work, int, p->dofs)};
    f.list_at = POOL_NEW(work, ptrdiff_t, (ptrdiff_t)p->dofs + 1);
    f.roots = POOL_NEW(work, int, p->dofs);
    if (!f.above || !f.seen || !f.list_at || !f.roots || !find_touches(work, p, &f.touch)) {
        return -1;
    }
    f.list = POOL_NEW(work, int, f.touch.start[f.touch.constraints]);
    if (!f.list) {
        return -1;
    }
    make_fit(&f, &p->M);
    return number_trees(&f, tree);
}
