/* A contact problem as FCLIB states it (Acary, Bremond, Koziara, Perignon 2014), taken from the tree of a file.
 * Vectors are in FCLIB's order: (n, t1, t2) contact by contact.
 *
 *     local    u = W r + V l + q,              V' r + R l + s = 0
 *     global   M v = H r + G l + f,  u = H' v + w,  G' v + b = 0
 *     both     K* contains u + (mu |u_T|, 0, 0), orthogonal to r in K
 *     rolling  global, (n, t1, t2, r1, r2) contact by contact: a moment within mu_r r_N besides, u + (mu |u_T| + mu_r
 *              |u_R|, 0, ...) in K* (Acary, Bourrier 2021) */
#ifndef RECORD_PROBLEM_FCLIB_H
#define RECORD_PROBLEM_FCLIB_H

#include "record/file/hdf5_tree.h"
#include <stddef.h>

/* Compressed rows, columns rising; no entry twice, none that is zero. */
typedef struct sparse {
    int rows, columns;
    ptrdiff_t *start; /* [rows + 1] */
    int *column;
    double *value;
} sparse;

typedef struct triplets {
    ptrdiff_t count;
    int *row, *column;
    double *value;
} triplets;

/* The sum of triplets that name one place, in their order.  NULL members without memory. */
sparse sparse_of(memory_pool *pool, int rows, int columns, const triplets *t);
sparse sparse_transposed(memory_pool *pool, const sparse *a);
static inline bool sparse_there(const sparse *a) { return a->start && a->column && a->value; }
/* Bit by bit. */
bool sparse_symmetric(const sparse *a);
/* Where a_ij and a_ji differ by rounding alone, the mean stands for both: then the matrix is symmetric bit by bit.  One
 * that is not symmetric stays as it is.  false: no memory. */
bool sparse_even_out(memory_pool *pool, sparse *a);
/* Room for `count` triplets. */
triplets triplets_make(memory_pool *pool, ptrdiff_t count);
static inline void triplets_add(triplets *t, int row, int column, double value) {
    t->row[t->count] = row;
    t->column[t->count] = column;
    t->value[t->count++] = value;
}

typedef struct fclib {
    int global;
    int contacts, bilateral; /* nc, p */
    int contact_rows;        /* of one: 3, or 5 of rolling problems */
    int dofs;                /* n, of global problems */
    sparse W, V, R;          /* m x m, m x p, p x p, m = contact_rows nc */
    sparse M, H, G;          /* n x n, n x m, n x p */
    const double *mu_r;      /* rolling problems */
    const double *mu, *q, *s, *f, *w, *b;
    const double *r_guess, *l_guess, *v_guess; /* the first of the guesses; NULL: none, or none that fits */
} fclib;

sim_status fclib_take(memory_pool *pool, const store_node *root, fclib *problem, sim_error *error);

/* Groups of matrices, made: triplets (nz >= 0) and compressed rows (nz = -2). */
void fclib_put_triplets(store *s, store_node *parent, const char *name, int rows, int columns, const triplets *t);
void fclib_put_rows(store *s, store_node *parent, const char *name, const sparse *a);

#endif
