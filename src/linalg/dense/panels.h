/* Factors of large dense matrices that can be interrupted; column-major, as LAPACK. */
#ifndef LINALG_DENSE_PANELS_H
#define LINALG_DENSE_PANELS_H

#include <stdbool.h>

/* The caller's interrupt: `stop` is called between panels, and true ends the factorisation.  NULL:
 * none. */
typedef struct panels_watch {
    bool (*stop)(void *context);
    void *context;
} panels_watch;

/* A = Q R of `rows` x n; the columns n .. total - 1 become Q' times themselves.  tau [n], work [size]. */
typedef struct panels_reflections {
    int rows, n, total, stride;
    double *A, *tau, *work;
    int size;
} panels_reflections;

/* The triangle R [n x n] of [R; B], B of m rows, whose last l are a triangle of their own; the columns n .. total - 1
 * of both become Q' times themselves.  Blocks of `block` columns; T [block x n], work [block x total]. */
typedef struct panels_stack {
    int m, n, l, total, block, R_stride, B_stride;
    double *R, *B, *T, *work;
} panels_stack;

/* Does the caller stop?  Not asked for systems of up to PANELS_WHOLE unknowns. */
bool panels_stopped(int n, const panels_watch *watch);

/* Unknowns up to which a factor is too quick to be interrupted. */
enum { PANELS_WHOLE = 1536 };

/* All return false if they were stopped; their output is then undefined.  The first two also if there is no factor: a
 * pivot is zero, or not positive. */

/* P A = L U, in place; columns of `stride` numbers. */
bool panels_lu(int n, int stride, double *A, int *swap, const panels_watch *watch);
/* A = L L', the lower half, in place. */
bool panels_cholesky(int n, double *A, const panels_watch *watch);
/* The lower half of C = A A', n x n both. */
bool panels_square(int n, const double *A, double *C, const panels_watch *watch);
bool panels_reflect(const panels_reflections *q, const panels_watch *watch);
bool panels_reflect_stack(const panels_stack *q, const panels_watch *watch);

#endif
