/* Newton and least-squares steps for r(x) = 0 (residual_map.h), without the unknowns of open contacts. */
#ifndef SOLVER_IMPLICIT_RESIDUAL_NEWTON_H
#define SOLVER_IMPLICIT_RESIDUAL_NEWTON_H

#include "solver/implicit/residual_map.h"

typedef struct residual_newton {
    const residual_map *h;
    int columns, top; /* kept unknowns; leading rows, those of constraints with kept unknowns */
    bool square;      /* as many columns as leading rows, in the same order */
    int *first;       /* [n] column of the first kept unknown of a row's constraint */
    int *kept;        /* [n] number of kept unknowns of a row's constraint */
    int *place;       /* [n] position of a row */
    int *column;      /* [n] column of an unknown; -1: not kept */
    int *swap;        /* [n] */
    /* [n] coupled parts of J: first column of a part, next column, last column; row of a column; index in its part */
    int *root, *next, *last, *member, *local;
    double *G;     /* [n][SIM_MAX_ROWS] rows of F, kept unknowns only */
    double *D;     /* [n][SIM_MAX_ROWS] rows of dx per kept unknown */
    int *owner;    /* [n] constraint of a row */
    int *row, *at; /* sparse W: J of the kept unknowns in compressed rows */
    double *value;
    bool dense; /* M is computed */
    double *M;  /* [columns][n] J of the kept unknowns, dense, rows at `place` */
    double *A;  /* matrix to be factored */
    double *lu_work;
    double *y, *z; /* [n] */
    double size;   /* mean of the diagonal of J' J */
} residual_newton;

/* Entries of all dense matrices for so many rows: W twice (delassus_dense.h, residual_map.h), J, its factor, and that
 * of the sticking solution. */
double residual_newton_dense_numbers(int rows);
/* False without memory. */
bool residual_newton_make(residual_newton *s, const residual_map *h, sim_arena *scratch);
/* J at F.  `basis`: NULL, or 3 x 3 for each contact; `held` contacts move along its first two columns only. */
void residual_newton_form(residual_newton *s, const double *F, const int *held, const double *basis);
/* dx = argmin |J dx + r|^2 + lambda |dx|^2, |dx| in the coordinates of `basis`; false: singular. */
bool residual_newton_least_squares(residual_newton *s, const double *r, double lambda, double *dx, double *range);
/* J dx = -r for square J; false: singular. */
bool residual_newton_solve(residual_newton *s, const double *r, double *dx);

#endif
