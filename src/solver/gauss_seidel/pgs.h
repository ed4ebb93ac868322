/* Block Gauss-Seidel: data and functions shared by its files. */
#ifndef SOLVER_GAUSS_SEIDEL_PGS_H
#define SOLVER_GAUSS_SEIDEL_PGS_H

#include "solver/core/call.h"
#include "solver/matrices/delassus.h"

/* Vectors of rows are stored in lanes: each constraint starts at a multiple of 4, padded with zeros. */
enum { PGS_LANES = 4, PGS_WIDEST = 8 };

/* A constraint in a sweep.  K = W_ii + R_i + proximal term, rows x rows, row-major. */
typedef struct pgs_block {
    sim_constraint_kind kind;
    int rows, lanes, at;           /* its first lane in vectors of rows */
    double limit;                  /* contact: friction coefficient; friction, actuator: largest impulse, N s */
    double multiplier;             /* contact: lambda of the last sliding solution, the next start */
    const sim_constraint *turning; /* contact that resists turning; NULL: any other */
    double rho, rho_E;             /* rows / trace W_ii; rows / trace(W_ii + R_i), of E */
    const double *D;               /* W_ii + R_i */
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
    int n, lanes, nv;                 /* constraints, lanes in all, velocities with each tree rounded up to 4 */
    bool assembled, pyramid, uniform; /* uniform: three rows each */
    pgs_block *block;
    const int *neighbour; /* assembled: constraints */
    double *R;            /* [lanes] */
    double *q;            /* [lanes] J v* + w - target */
    double *base;         /* [lanes] assembled: q; matrix-free: w - target */
    double *gamma;        /* [lanes] */
    double *v;            /* [nv] matrix-free: v* + sum Y gamma */
    double *v_free;       /* [nv] likewise */
    double size_q;        /* |q| */
    double *n2;           /* [n] n_i^2 of E (natural_map.h) */
} pgs;

/* Change of gamma in a sweep, in units of velocity and of impulse: root of the sum of squares. */
typedef struct pgs_change {
    double velocity, impulse;
} pgs_change;

/* false without memory. */
bool pgs_prepare(pgs *s, const solver_call *call, int matrix, sim_arena *scratch);
/* Multiplications of a sweep, padding included. */
double pgs_multiplications(const pgs *s);
/* K = W_ii + R_i + proximal (trace W_ii / rows), and its inverse, for all blocks. */
void pgs_set_proximal(pgs *s, double proximal);
/* Recomputes v = v* + sum Y gamma. */
void pgs_refresh(pgs *s);
/* s = u - target + R gamma of one constraint, in lanes. */
void pgs_velocity(const pgs *s, const pgs_block *b, double *velocity);
/* Solves every constraint in turn, forwards or backwards, with the others fixed. */
pgs_change pgs_sweep(pgs *s, double relaxation, int backwards);
/* E of gamma for the law that is solved, from the present velocities.  `excess`: size of these velocities over |q|, at
 * least 1. */
double pgs_residual(const pgs *s, double *excess);

/* Impulse g of one constraint by its law, with the others fixed: from g and s = K g + b. */
void pgs_solve_contact(pgs_block *b, const double *s, double *g);
void pgs_solve_turning(pgs_block *b, const double *s, double *g);
void pgs_solve_pyramid(const pgs_block *b, const double *s, double *g);
void pgs_solve_other(const pgs_block *b, const double *s, double *g);
/* Projects y (in lanes) back into the set of the law. */
void pgs_project(const pgs *s, const pgs_block *b, double *y);

#endif
