/* Factors of large dense matrices that can be left before their end.  Columns stand side by side, as LAPACK has them. */
#ifndef LINALG_PANELS_H
#define LINALG_PANELS_H

/* Who waits for the factor: `stop` is asked between panels, and not 0 ends it.  NULL: nobody. */
typedef struct panels_watch {
    int (*stop)(void *context);
    void *context;
} panels_watch;

/* A = Q R of `rows` x n; the columns n .. total - 1 become Q' times themselves.  tau [n], work [size]. */
typedef struct panels_reflections {
    int rows, n, total, stride;
    double *A, *tau, *work;
    int size;
} panels_reflections;

/* The triangle R [n x n] of [R; B], B of m rows, whose last l are a triangle of their own; the columns n .. total - 1 of
 * both become Q' times themselves.  Blocks of `block` columns; T [block x n], work [block x total]. */
typedef struct panels_stack {
    int m, n, l, total, block, R_stride, B_stride;
    double *R, *B, *T, *work;
} panels_stack;

/* Has who waits had enough?  Of up to PANELS_WHOLE unknowns not asked. */
int panels_stopped(int n, const panels_watch *watch);

/* Unknowns up to which a factor is too short to be left. */
enum { PANELS_WHOLE = 1536 };

/* All return 0 if they were stopped; what they were to make is then of no use.  The first two also if there is no factor:
 * a pivot is zero, or not positive. */

/* P A = L U, in place. */
int panels_lu(int n, double *A, int *swap, const panels_watch *watch);
/* A = L L', the lower half, in place. */
int panels_cholesky(int n, double *A, const panels_watch *watch);
/* The lower half of C = A A', n x n both. */
int panels_square(int n, const double *A, double *C, const panels_watch *watch);
int panels_reflect(const panels_reflections *q, const panels_watch *watch);
int panels_reflect_stack(const panels_stack *q, const panels_watch *watch);

#endif
