/* Declarations of LAPACK routines: Fortran's calling convention, column-major, all arguments by address. */
#ifndef LINALG_DENSE_LAPACK_H
#define LINALG_DENSE_LAPACK_H

#include <stdbool.h>

/* Is there memory for the first BLAS call of a thread?  Without it some BLAS wait for ever (lapack.c): call this
 * before. */
bool lapack_has_room(void);

/* A = Q R, by blocks of reflections; a product with Q or Q'. */
void dgeqrf_(const int *m, const int *n, double *A, const int *lda, double *tau, double *work, const int *lwork,
             int *info);
void dormqr_(const char *side, const char *transposed, const int *m, const int *n, const int *k, const double *A,
             const int *lda, const double *tau, double *C, const int *ldc, double *work, const int *lwork, int *info);
/* The same of [R; B], where R is a triangle above a B of whose m rows the last l are one, too. */
void dtpqrt_(const int *m, const int *n, const int *l, const int *block, double *R, const int *ldr, double *B,
             const int *ldb, double *T, const int *ldt, double *work, int *info);
void dtpmqrt_(const char *side, const char *transposed, const int *m, const int *n, const int *k, const int *l,
              const int *block, const double *V, const int *ldv, const double *T, const int *ldt, double *A,
              const int *lda, double *B, const int *ldb, double *work, int *info);

/* Least squares solution x of least norm; singular values below about `least` of the greatest count as zero. */
void dgelsy_(const int *m, const int *n, const int *nrhs, double *A, const int *lda, double *b, const int *ldb,
             int *columns, const double *least, int *rank, double *work, const int *lwork, int *info);

/* P A = L U, and A x = b with it. */
void dgetrf_(const int *m, const int *n, double *A, const int *lda, int *swap, int *info);
void dgetrs_(const char *transposed, const int *n, const int *nrhs, const double *A, const int *lda, const int *swap,
             double *b, const int *ldb, int *info);

/* Rows exchanged, `from` to `to` counted from 1; B = A^-1 B or B A^-1 with a triangle; C = alpha A B + beta C. */
void dlaswp_(const int *n, double *A, const int *lda, const int *from, const int *to, const int *swap, const int *step);
void dtrsm_(const char *side, const char *half, const char *transposed, const char *unit, const int *m, const int *n,
            const double *alpha, const double *A, const int *lda, double *B, const int *ldb);
void dgemm_(const char *A_transposed, const char *B_transposed, const int *m, const int *n, const int *k,
            const double *alpha, const double *A, const int *lda, const double *B, const int *ldb, const double *beta,
            double *C, const int *ldc);

/* C = alpha A A' + beta C, its lower half (A' A: "T"); its Cholesky factor, and A x = b with that. */
void dsyrk_(const char *half, const char *transposed, const int *n, const int *k, const double *alpha, const double *A,
            const int *lda, const double *beta, double *C, const int *ldc);
void dpotrf_(const char *half, const int *n, double *A, const int *lda, int *info);
void dpotrs_(const char *half, const int *n, const int *nrhs, const double *A, const int *lda, double *b,
             const int *ldb, int *info);

#endif
