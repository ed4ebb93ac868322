/* The contact problem with pyramids in place of cones: a mixed linear complementarity problem (Mylapilli and Jain 2016,
 * eqs. 30-35, 43, 44; after Stewart and Trinkle 1996).
 *
 *     y = M x + q,     x_i free and y_i = 0 for the first `free`,     0 <= x_i perp y_i >= 0 for the others.
 *
 * Friction of a contact is a sum of beta_j >= 0 along an even number of directions d_j in its tangent plane:
 *
 *     0 <= gamma_n   perp   s_n                      >= 0
 *     0 <= beta_j    perp   d_j . s_t + sigma        >= 0        sigma: how fast it slips
 *     0 <= sigma     perp   mu gamma_n - sum beta_j  >= 0
 *
 * A row held within +-b, dry friction or a motor at its limit, is gamma = x - b with
 *
 *     0 <= x   perp   s + tau   >= 0,                0 <= tau   perp   2 b - x   >= 0.
 *
 * Impulses are multiplied and velocities divided by the square root of the constraint's inverse mass w, so that both are
 * roots of energies, in whatever units the problem came. */
#ifndef SOLVER_POLYHEDRAL_H
#define SOLVER_POLYHEDRAL_H

#include "solver/dual.h"

/* How the directions of a contact lie. */
enum { POLYHEDRAL_SLIDING, POLYHEDRAL_FIXED };

typedef struct polyhedral_options {
    int directions; /* even, 4 at least */
    int alignment; /* the first one against the slip before the step (or without contact, where there was none), or t1 */
    double turn;   /* rad: and then turned by this */
} polyhedral_options;

/* As options of a solver, from the one numbered `first` on. */
extern const char *const polyhedral_alignments[];
#define POLYHEDRAL_OPTIONS(first)                                                                                      \
    [first] = {"directions", "of friction at a contact; an odd number is one too few", 4, 64, 4, 1, NULL},             \
    [(first) + 1] = {"alignment", "the first one against the slip, or along t1", 0, 1, 0, 1, polyhedral_alignments},   \
    [(first) + 2] = {"turn", "by which all directions are turned, rad", -4, 4, 0, 0, NULL}
polyhedral_options polyhedral_options_of(const double *option);

/* What an unknown adds to the impulses: along[k] times it to row + k. */
typedef struct polyhedral_unknown {
    int row, rows; /* rows 0: it is a sigma or a tau */
    int normal;    /* friction: which unknown is its normal; else -1 */
    double along[2];
} polyhedral_unknown;

typedef struct polyhedral {
    const dual *dual;
    int n, free;
    double *M, *q;               /* n x n, row-major; [n] */
    polyhedral_unknown *unknown; /* [n] */
    double *rest;                /* [rows] impulses at x = 0 */
    double speed;                /* greatest velocity of the free motion; where that is 0, of q */
} polyhedral;

/* 0 without memory. */
int polyhedral_make(polyhedral *p, const dual *d, const polyhedral_options *options, sim_arena *scratch);
/* gamma that x stands for; to the bit no friction where there is no normal. */
void polyhedral_impulse(const polyhedral *p, const double *x, double *gamma);
/* x that stands for impulses gamma, of friction as much as the directions span; each sigma and tau as slow as y allows. */
void polyhedral_from_impulse(const polyhedral *p, const double *gamma, double *x, double *y);
/* y = M x + q */
void polyhedral_velocity(const polyhedral *p, const double *x, double *y);
/* How far x is from an answer: the greatest |min(x, y)|, of velocities over `speed`, of impulses over the greater of that and
 * the greatest impulse, where a bound is met over the bound, and no less than the rounding that such x make; y: [n] of work. */
double polyhedral_error(const polyhedral *p, const double *x, double *y);

#endif
