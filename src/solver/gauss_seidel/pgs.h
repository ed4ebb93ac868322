/* Block Gauss-Seidel: what its parts share. */
#ifndef SOLVER_GAUSS_SEIDEL_PGS_H
#define SOLVER_GAUSS_SEIDEL_PGS_H

#include "solver/core/call.h"
#include "solver/matrices/delassus.h"

/* Vectors of rows are kept in lanes: each constraint starts at a multiple of 4, what is left over is zero. */
enum { PGS_LANES = 4, PGS_WIDEST = 8 };

/* A constraint as the sweep sees it.  K = W_ii + R_i + proximal term, rows x rows, row-major. */
typedef struct pgs_block {
    sim_constraint_kind kind;
    int rows, lanes, at; /* its lanes in all vectors of rows */
    double limit;        /* contact: friction coefficient; friction, actuator: greatest impulse */
    double multiplier;   /* contact: of the last slide, where the next search starts */
    double rho, rho_E;   /* rows / trace W_ii; rows / trace(W_ii + R_i), of E */
    const double *D;     /* W_ii + R_i */
    double *K, *inverse;
    /* matrix-free, for each tree: nv columns of J in lanes, rows of Y' with nv rounded up */
    int v0[2], nv[2], stride[2];
    const double *J[2], *Y[2];
    /* assembled: columns of W_ij in lanes, one after the other, for the constraints start <= k < end of `neighbour` */
    int start, end;
    const double *W;
} pgs_block;

typedef struct pgs {
    const sim_problem *problem;
    int n, lanes, nv;                /* constraints, lanes in all, velocities with each tree rounded up to 4 */
    int assembled, pyramid, uniform; /* uniform: three rows each */
    pgs_block *block;
    const int *neighbour; /* assembled: constraints */
    double *R;            /* [lanes] */
    double *q;            /* [lanes] J v* + w - target */
    double *base;         /* [lanes] assembled: q; matrix-free: w - target */
    double *gamma;        /* [lanes] */
    double *v;            /* [nv] matrix-free: v* + sum Y gamma */
    double *v_free;       /* [nv] likewise */
    double size_q;        /* |q| */
} pgs;

/* What changes in a sweep, in units of velocity and of impulse: root of the sum of squares. */
typedef struct pgs_change {
    double velocity, impulse;
} pgs_change;

/* 0 without memory. */
int pgs_prepare(pgs *s, const solver_call *call, int matrix, sim_arena *scratch);
/* Of a sweep; those of runs of four count. */
double pgs_multiplications(const pgs *s);
/* K = W_ii + R_i + proximal (trace W_ii / rows), and its inverse, for all blocks. */
void pgs_set_proximal(pgs *s, double proximal);
/* v = v* + sum Y gamma, afresh. */
void pgs_refresh(pgs *s);
/* s = u - target + R gamma of one constraint, in lanes. */
void pgs_velocity(const pgs *s, const pgs_block *b, double *velocity);
/* One after the other, forwards or backwards, every constraint is solved with the others as they stand. */
pgs_change pgs_sweep(pgs *s, double relaxation, int backwards);
/* How wrong gamma is: the judge's E for the law that is solved (judge.h), from the velocities as they stand; `excess`: how
 * much greater these are than those that were to be answered, at least 1. */
double pgs_residual(const pgs *s, double *excess);

/* The impulse g of one constraint that obeys its law while all others stay: from g and s = K g + b. */
void pgs_solve_contact(pgs_block *b, const double *s, double *g);
void pgs_solve_pyramid(const pgs_block *b, const double *s, double *g);
void pgs_solve_other(const pgs_block *b, const double *s, double *g);
/* The nearest impulse that is allowed, for those that left the set; y in lanes. */
void pgs_project(const pgs *s, const pgs_block *b, double *y);

#endif
