/* Steps towards r(x) = 0, of as few unknowns as push. */
#ifndef SOLVER_IMPLICIT_RESIDUAL_NEWTON_H
#define SOLVER_IMPLICIT_RESIDUAL_NEWTON_H

#include "solver/implicit/residual_map.h"

typedef struct hybrid_step {
    const hybrid *h;
    int columns, top; /* unknowns that are kept; rows that come first, those of constraints with such */
    int square;       /* as many of one as of the other, in the same order */
    int *first;       /* [n] column of the first kept unknown of a row's constraint */
    int *kept;        /* [n] how many of these there are, in the coordinates below */
    int *place;       /* [n] where a row stands */
    int *column;      /* [n] of an unknown; -1: not kept */
    int *swap;        /* [n] */
    /* [n] parts of J that are coupled: the first column of one, the next in it, the last; row of a column; place in its part */
    int *root, *next, *last, *member, *local;
    double *G;     /* [n][SIM_MAX_ROWS] row by row, F of the kept unknowns */
    double *D;     /* [n][SIM_MAX_ROWS] and their own part of dx */
    int *owner;    /* [n] constraint of a row */
    int *row, *at; /* where W is sparse, J of what is kept in compressed rows */
    double *value;
    int dense; /* M is there */
    double *M; /* [columns][n] the same dense, rows in their places */
    double *A; /* what is factored */
    double *lu_work;
    double *y, *z; /* [n] */
    double size;   /* mean of the diagonal of J' J */
} hybrid_step;

/* Numbers of all dense matrices of so many rows: W twice (delassus_dense.h, residual_map.h), J, what is factored here, and where all sticks. */
double hybrid_step_dense(int rows);
/* 0 without memory. */
int hybrid_step_make(hybrid_step *s, const hybrid *h, sim_arena *scratch);
/* J at F.  `basis`: NULL, or 3 x 3 for contacts which `held` says may move along its first two columns alone. */
void hybrid_step_form(hybrid_step *s, const double *F, const int *held, const double *basis);
/* dx of least |J dx + r|^2 + lambda |dx|^2 and |dx| in the coordinates of `basis`; 0 where the triangle has a zero. */
int hybrid_step_least(hybrid_step *s, const double *r, double lambda, double *dx, double *range);
/* J dx = -r, for a J that is square; 0 where it is singular. */
int hybrid_step_newton(hybrid_step *s, const double *r, double *dx);

#endif
