/* Block-sparse W in compressed rows: its pattern (constraints that share a tree) and its blocks (delassus.c).
 *
 * Blocks with i <= j are computed, the others are their transposes: W is symmetric to the bit.  Both passes run through
 * the constraints in order.  So columns rise, and transposed blocks fill their rows in the order in which they are
 * computed. */
#include "solver/matrices/delassus.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Constraints of every tree, in rising order. */
typedef struct tree_constraints {
    int *start, *constraint;
} tree_constraints;

static bool list_tree_constraints(const sim_problem *p, sim_arena *scratch, tree_constraints *list) {
    int sides = 0;
    list->start = ARENA_NEW(scratch, int, (size_t)p->ntree + 2);
    if (!list->start) {
        return false;
    }
    memset(list->start, 0, ((size_t)p->ntree + 2) * sizeof(int));
    /* number of sides on each tree */
    for (int i = 0; i < p->nconstraint; i++) {
        for (int side = 0; side < 2; side++) {
            if (p->constraint[i].tree[side] >= 0) {
                list->start[p->constraint[i].tree[side] + 2]++;
                sides++;
            }
        }
    }
    /* start of each list */
    for (int t = 0; t < p->ntree; t++) {
        list->start[t + 2] += list->start[t + 1];
    }
    list->constraint = ARENA_NEW(scratch, int, sides);
    /* constraints of each tree, in rising order */
    for (int i = 0; i < p->nconstraint && list->constraint; i++) {
        for (int side = 0; side < 2; side++) {
            if (p->constraint[i].tree[side] >= 0) {
                list->constraint[list->start[p->constraint[i].tree[side] + 1]++] = i;
            }
        }
    }
    return list->constraint != NULL;
}

/* Columns of row i, rising: the union of two rising lists.  `to` NULL: counted only. */
static int merge_columns(const sim_problem *p, const tree_constraints *list, int i, int *to) {
    const int *from[2] = {NULL, NULL}, *end[2] = {NULL, NULL};
    int count = 0;
    for (int side = 0; side < 2; side++) {
        int t = p->constraint[i].tree[side];
        from[side] = t >= 0 ? list->constraint + list->start[t] : NULL;
        end[side] = t >= 0 ? list->constraint + list->start[t + 1] : NULL;
    }
    while (from[0] < end[0] || from[1] < end[1]) {
        int a = from[0] < end[0] ? *from[0] : INT_MAX, b = from[1] < end[1] ? *from[1] : INT_MAX;
        if (to) {
            to[count] = a < b ? a : b;
        }
        count++;
        from[0] = a <= b ? from[0] + 1 : from[0];
        from[1] = b <= a ? from[1] + 1 : from[1];
    }
    return count;
}

/* Upper bound on the number of blocks: pairs of constraints of a tree. */
static size_t count_pairs(const sim_problem *p, const tree_constraints *list) {
    size_t sum = 0;
    for (int t = 0; t < p->ntree; t++) {
        size_t n = (size_t)(list->start[t + 1] - list->start[t]);
        sum += n * n;
    }
    return sum;
}

bool delassus_pattern(const sim_problem *p, size_t max_blocks, sim_arena *scratch, sim_delassus *W, bool *too_many) {
    /* constraints of each tree */
    tree_constraints list;
    int *start = ARENA_NEW(scratch, int, (size_t)p->nconstraint + 1), *column;
    if (!start || !list_tree_constraints(p, scratch, &list)) {
        return false;
    }
    /* number of blocks, within the limit */
    size_t blocks = count_pairs(p, &list);
    *too_many = blocks > max_blocks || blocks > INT_MAX;
    if (*too_many) {
        return true;
    }
    /* block compressed rows: constraints that share a tree */
    start[0] = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        start[i + 1] = start[i] + merge_columns(p, &list, i, NULL);
    }
    column = ARENA_NEW(scratch, int, start[p->nconstraint]);
    for (int i = 0; i < p->nconstraint && column; i++) {
        merge_columns(p, &list, i, column + start[i]);
    }
    *W = (sim_delassus){start, column, NULL, NULL, 1};
    return column != NULL;
}

static void compute_block(const sim_problem *p, const delassus_response *Y, int i, int j, double *W) {
    const sim_constraint *a = &p->constraint[i], *b = &p->constraint[j];
    memset(W, 0, (size_t)(a->rows * b->rows) * sizeof *W);
    for (int side = 0; side < 4; side++) {
        int t = a->tree[side / 2];
        if (t >= 0 && t == b->tree[side % 2]) {
            delassus_add(p, Y, i, side / 2, j, side % 2, W);
        }
    }
}

static void transpose_block(int rows, int columns, const double *from, double *to) {
    for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++) {
            to[column * rows + row] = from[row * columns + column];
        }
    }
}

static void fill_blocks(const sim_problem *p, const delassus_response *Y, const sim_delassus *W, int *next,
                        double *value) {
    for (int i = 0; i < p->nconstraint; i++) {
        next[i] = W->start[i];
    }
    for (int i = 0; i < p->nconstraint; i++) {
        int rows = p->constraint[i].rows;
        for (int k = next[i]; k < W->start[i + 1]; k++) { /* those before are transposes, filled already */
            int j = W->column[k];
            double *made = value + W->at[k];
            compute_block(p, Y, i, j, made);
            transpose_block(rows, p->constraint[j].rows, made, value + W->at[next[j]++]);
        }
    }
}

bool delassus_assemble(const sim_problem *p, const delassus_response *Y, sim_arena *scratch, sim_delassus *W) {
    /* offsets of the blocks */
    ptrdiff_t *at = ARENA_NEW(scratch, ptrdiff_t, W->start[p->nconstraint]), size = 0;
    int *next = ARENA_NEW(scratch, int, p->nconstraint);
    if (!at || !next) {
        return false;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            at[k] = size;
            size += p->constraint[i].rows * p->constraint[W->column[k]].rows;
        }
    }
    /* values */
    double *value = ARENA_NEW(scratch, double, size);
    if (!value) {
        return false;
    }
    W->at = at;
    W->value = value;
    W->symmetric = 1;
    fill_blocks(p, Y, W, next, value);
    return true;
}

bool delassus_whole(const sim_problem *p, sim_arena *scratch, sim_delassus *W) {
    delassus_response Y;
    bool too_many = false;
    if (sim_problem_local(p)) {
        *W = *p->W;
        return true;
    }
    return delassus_pattern(p, SIZE_MAX, scratch, W, &too_many) && delassus_response_make(p, 1, scratch, &Y) &&
           delassus_assemble(p, &Y, scratch, W);
}
