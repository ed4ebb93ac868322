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
#ifndef SOLVER_PYRAMID_POLYHEDRAL_H
#define SOLVER_PYRAMID_POLYHEDRAL_H

#include "solver/matrices/delassus_dense.h"

/* How the directions of a contact lie. */
enum { POLYHEDRAL_SLIDING, POLYHEDRAL_FIXED, POLYHEDRAL_FOLLOWING };

typedef struct polyhedral_options {
    int directions; /* even, 4 at least */
    /* the first one against the slip before the step (or without contact, where there was none), or t1; or from there on
     * to that of the answer (direction_update.h) */
    int alignment;
    double turn; /* rad: and then turned by this */
} polyhedral_options;

/* As options of a solver, from the one numbered `first` on. */
extern const char *const polyhedral_alignments[];
#define POLYHEDRAL_OPTIONS(first)                                                                                      \
    [first] = {.name = "directions",                                                                                   \
               .help = "of friction at a contact; an odd number is one too few",                                       \
               .low = 4,                                                                                               \
               .high = 64,                                                                                             \
               .default_value = 4,                                                                                     \
               .integer = true},                                                                                       \
    [(first) +                                                                                                         \
        1] = {.name = "alignment",                                                                                     \
              .help =                                                                                                  \
                  "the first one against the slip before the step, along t1, or turned against that of the answer",    \
              .high = 2,                                                                                               \
              .default_value = POLYHEDRAL_FOLLOWING,                                                                   \
              .integer = true,                                                                                         \
              .choices = polyhedral_alignments},                                                                       \
    [(first) + 2] = {.name = "turn",                                                                                   \
                     .help = "by which all directions are turned, rad",                                                \
                     .low = -4,                                                                                        \
                     .high = 4,                                                                                        \
                     .default_value = 0,                                                                               \
                     .study = true}
polyhedral_options polyhedral_options_of(const double *option);
/* For `claim` of a sim_solver_info: with directions that follow the answer they end as the round cone. */
double polyhedral_claim(const double *option, double tolerance);

/* What an unknown adds to the impulses: along[k] times it to row + k. */
typedef struct polyhedral_unknown {
    int row, rows; /* rows 0: it is a sigma or a tau */
    int normal;    /* friction: which unknown is its normal; else -1 */
    int free;      /* no bounds: y = 0 */
    double along[2];
} polyhedral_unknown;

/* The unknowns of a constraint (of a bilateral one: of one row) stand side by side; those of different ones meet in W alone.
 *
 *     contact   gamma_n, beta_1 .. beta_m, sigma;  without friction gamma_n
 *     bounded   x, tau
 *     others    gamma */
typedef struct polyhedral_group {
    int first, count; /* unknowns */
    int row, dims;    /* impulses: rows [row, row + dims) of the problem */
    int contact;      /* with friction: which constraint; else -1 */
    double friction;
    double scale; /* 1 / sqrt(w) */
    double first_direction[2];
    /* A contact that slides, bent (direction_update.c): friction across the first direction has no bound, and
     * s . e + bend beta_e = 0.  Below 0: the pyramid as it is. */
    double bend;
} polyhedral_group;

typedef struct polyhedral {
    const dual *dual;
    int n, free;                 /* the first so many have no bounds */
    double *q;                   /* [n] */
    polyhedral_unknown *unknown; /* [n] */
    int groups;
    polyhedral_group *group; /* [groups] */
    double *rest;            /* [rows] impulses at x = 0 */
    double *still;           /* [rows] s at x = 0 */
    double *moved, *pushed;  /* [rows] of work: X x and W X x */
    double *s;               /* [rows] s at the x that polyhedral_velocity had last, */
    double *at, *there;      /* [n] that x and its y: asked again, nothing is computed; not a number: none is known */
    double speed;            /* greatest velocity of the free motion; where that is 0, of q */
    int directions;
} polyhedral;

/* 0 without memory. */
int polyhedral_make(polyhedral *p, const dual *d, const polyhedral_options *options, sim_arena *scratch);
/* M, n x n, row-major. */
void polyhedral_matrix(const polyhedral *p, double *M);
/* M x alone */
void polyhedral_product(const polyhedral *p, const double *x, double *y);
/* What of M's entry of two unknowns of a group does not go through W; does y of that one feel W at all? */
double polyhedral_coupling(const polyhedral *p, const polyhedral_group *g, int i, int j);
double polyhedral_felt(const polyhedral *p, const polyhedral_group *g, int i);
/* Another first direction for a contact, and how it is bent. */
void polyhedral_turn(polyhedral *p, int group, const double *direction, double bend);
/* Which unknown of a contact acts a quarter turn from the first direction, as near as there is one. */
int polyhedral_across(const polyhedral *p);
/* Velocities in another unit: q and what else is one, over `size`. */
void polyhedral_scale(polyhedral *p, double size);
/* gamma that x stands for; to the bit no friction where there is no normal. */
void polyhedral_impulse(const polyhedral *p, const double *x, double *gamma);
/* x that stands for impulses gamma, of friction as much as the directions span; each sigma and tau as slow as y allows. */
void polyhedral_from_impulse(const polyhedral *p, const double *gamma, double *x, double *y);
/* Friction of a contact as a sum along the two directions that it lies between, added to beta. */
void polyhedral_share_out(const polyhedral *p, const polyhedral_group *g, const double *friction, double *beta);
/* After q or still were changed by others than this file: what is known of M x + q no longer holds. */
void polyhedral_forget(const polyhedral *p);
/* y = M x + q */
void polyhedral_velocity(const polyhedral *p, const double *x, double *y);
/* How far x is from an answer: the greatest |min(x, y)|, of velocities over `speed`, of impulses over the greater of that and
 * the greatest impulse, where a bound is met over the bound, and no less than the rounding that such x make; y: [n] of work. */
double polyhedral_error(const polyhedral *p, const double *x, double *y);

#endif
