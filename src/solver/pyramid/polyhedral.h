/* Contact problem with friction pyramids: a mixed linear complementarity problem (Mylapilli and Jain 2016, eqs. 30-35,
 * 43, 44; after Stewart and Trinkle 1996).
 *
 *     y = M x + q,     x_i free and y_i = 0 for the first `free`,     0 <= x_i perp y_i >= 0 for the others.
 *
 * Friction of a contact is a sum of beta_j >= 0 along an even number of directions d_j in its tangent plane:
 *
 *     0 <= gamma_n   perp   s_n                      >= 0
 *     0 <= beta_j    perp   d_j . s_t + sigma        >= 0        sigma: slip speed
 *     0 <= sigma     perp   mu gamma_n - sum beta_j  >= 0
 *
 * A row within +-b (dry friction, an actuator at its limit) is gamma = x - b with
 *
 *     0 <= x   perp   s + tau   >= 0,                0 <= tau   perp   2 b - x   >= 0.
 *
 * Impulses are multiplied and velocities divided by the square root of the constraint's inverse mass w. Both are then
 * roots of energies, in any units of the problem. */
#ifndef SOLVER_PYRAMID_POLYHEDRAL_H
#define SOLVER_PYRAMID_POLYHEDRAL_H

#include "solver/matrices/delassus_dense.h"

/* Alignment of the directions of a contact. */
enum { POLYHEDRAL_SLIDING, POLYHEDRAL_FIXED, POLYHEDRAL_FOLLOWING };

typedef struct polyhedral_options {
    int directions; /* even, 4 at least */
    /* first direction: against the slip before the step (or of the free motion), along t1, or updated to that of the
     * solution (direction_update.h) */
    int alignment;
    double turn; /* rad, of all directions */
} polyhedral_options;

#define POLYHEDRAL_TOLERANCE_OPTION                                                                                    \
    {                                                                                                                  \
        .name = "tolerance",                                                                                           \
        .help = "error against the law given at which the solver stops; with other alignments than following, error "  \
                "of complementarity",                                                                                  \
        .low = 0, .high = 1, .default_value = 1e-9                                                                     \
    }
/* As options of a solver, from number `first` on. */
extern const char *const polyhedral_alignments[];
#define POLYHEDRAL_OPTIONS(first)                                                                                      \
    [first] = {.name = "directions",                                                                                   \
               .help = "directions of friction at a contact; odd numbers are rounded down",                            \
               .low = 4,                                                                                               \
               .high = 64,                                                                                             \
               .default_value = 4,                                                                                     \
               .integer = true},                                                                                       \
    [(first) + 1] =                                                                                                    \
        {.name = "alignment",                                                                                          \
         .help =                                                                                                       \
             "first direction: against the slip before the step, along t1, or updated to the slip of the solution",    \
         .high = 2,                                                                                                    \
         .default_value = POLYHEDRAL_FOLLOWING,                                                                        \
         .integer = true,                                                                                              \
         .choices = polyhedral_alignments},                                                                            \
    [(first) + 2] = {.name = "turn",                                                                                   \
                     .help = "rotation of all directions, rad",                                                        \
                     .low = -4,                                                                                        \
                     .high = 4,                                                                                        \
                     .default_value = 0,                                                                               \
                     .study = true}
polyhedral_options polyhedral_options_of(const double *option);
/* For `claim` of a sim_solver_info: updated directions lead to the round cone. */
double polyhedral_claim(const double *option, double tolerance);

/* An unknown x adds along[k] x to the impulse of row + k. */
typedef struct polyhedral_unknown {
    int row, rows; /* rows 0: a sigma or a tau */
    int normal;    /* of friction: index of its normal; else -1 */
    int free;      /* no bounds: y = 0 */
    double along[2];
} polyhedral_unknown;

/* Unknowns of a constraint (bilateral: of one row), contiguous; W alone couples groups.
 *
 *     contact   gamma_n, beta_1 .. beta_m, sigma;  without friction gamma_n
 *     bounded   x, tau
 *     others    gamma */
typedef struct polyhedral_group {
    int first, count; /* unknowns */
    int row, dims;    /* impulses: rows [row, row + dims) of the problem */
    int contact;      /* with friction: index of the constraint; else -1 */
    double friction;
    double scale; /* 1 / sqrt(w) */
    double first_direction[2];
    /* Sliding contact (direction_update.c): friction across the first direction has no bound, and
     * s . e + cross_compliance beta_e = 0.  Below 0: the plain pyramid. */
    double cross_compliance;
} polyhedral_group;

typedef struct polyhedral {
    const dual *dual;
    int n, free;                 /* number of unknowns; the first `free` have no bounds */
    double *q;                   /* [n] */
    polyhedral_unknown *unknown; /* [n] */
    int groups;
    polyhedral_group *group; /* [groups] */
    double *rest;            /* [rows] impulses at x = 0 */
    double *s_at_zero;       /* [rows] s at x = 0 */
    double *moved, *pushed;  /* [rows] of work: X x and W X x */
    double *s;               /* [rows] s at last_x */
    double *last_x, *last_y; /* [n] x and y of the last polyhedral_velocity; last_x[0] NAN: none */
    double speed;            /* greatest velocity of the free motion; where that is 0, of q */
    int directions;
} polyhedral;

/* False without memory. */
bool polyhedral_make(polyhedral *p, const dual *d, const polyhedral_options *options, sim_arena *scratch);
/* M, n x n, row-major. */
void polyhedral_matrix(const polyhedral *p, double *M);
/* M x alone */
void polyhedral_product(const polyhedral *p, const double *x, double *y);
/* Entry of M for two unknowns of a group, without X' W X; factor of X' W X in row i. */
double polyhedral_coupling(const polyhedral *p, const polyhedral_group *g, int i, int j);
double polyhedral_row_weight(const polyhedral *p, const polyhedral_group *g, int i);
/* Sets the first direction of a contact and its cross_compliance. */
void polyhedral_turn(polyhedral *p, int group, const double *direction, double cross_compliance);
/* Index of the direction nearest to a quarter turn from the first. */
int polyhedral_across(const polyhedral *p);
/* Divides all velocities by `size`. */
void polyhedral_scale(polyhedral *p, double size);
/* gamma of x; exactly no friction where the normal is 0. */
void polyhedral_impulse(const polyhedral *p, const double *x, double *gamma);
/* x of impulses gamma, with friction as far as the directions span; sigma and tau as small as y allows. */
void polyhedral_from_impulse(const polyhedral *p, const double *gamma, double *x, double *y);
/* beta += components of friction along the two directions on either side of it. */
void polyhedral_split_friction(const polyhedral *p, const polyhedral_group *g, const double *friction, double *beta);
/* Discards last_x and last_y, after a change of q or s_at_zero. */
void polyhedral_invalidate(const polyhedral *p);
/* y = M x + q */
void polyhedral_velocity(const polyhedral *p, const double *x, double *y);
/* Error of complementarity: greatest |min(x, y)|.  Velocities over `speed`; impulses over the greatest of `speed`, the
 * greatest impulse and the bound that is met; at least the rounding of such x.  y: [n] of work. */
double polyhedral_error(const polyhedral *p, const double *x, double *y);

#endif
