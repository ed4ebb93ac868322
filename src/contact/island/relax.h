/* Impulses that add no energy, by a few sweeps of block Gauss-Seidel (relax.c). */
#ifndef CONTACT_ISLAND_RELAX_H
#define CONTACT_ISLAND_RELAX_H

#include "base/arena.h"
#include <sim/problem.h>

typedef struct relaxation {
    const sim_problem *p;
    ptrdiff_t *at;       /* [nconstraint][2] places of the rows of a side in Z */
    double *Z, *x;       /* B J'; [nv] sum of Z gamma */
    double *row;         /* the next three */
    double *base, *R;    /* [nrow] set by the caller: J v0 + w - target, m/s, and compliance, 1/kg; zeros at first */
    double *gamma;       /* [nrow] N s, zeros at first */
    int sweeps;          /* made */
    double *size, *pace; /* [nconstraint] |W_ii|_F; 1 / L_i, 0: not included */
} relaxation;

/* Includes no constraint yet. */
sim_status relax_create(relaxation *r, const sim_problem *p, sim_arena *scratch);
/* Includes constraint i, whose R is set. */
void relax_admit(relaxation *r, int i);
/* Starts from t * impulse, 0 <= t <= 1, with the least D; after all constraints are included. */
void relax_start(relaxation *r, const double *impulse);
void relax_sweep(relaxation *r);
/* v <- A^-1 J' gamma */
void relax_motion(const relaxation *r, double *v);
/* J (v - v0) of one row, and its W_kk. */
double relax_velocity(const relaxation *r, int constraint, int row);
double relax_inverse_mass(const relaxation *r, int constraint, int row);

#endif
