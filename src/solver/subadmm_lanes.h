/* What SubADMM does per contact and per body, eight at a time.
 *
 * The state is x = v - v* of every body and the impulse lambda of every contact: the slots z_ij of the paper (Lee et al.
 * 2024, eqs. 34-39) follow from them.  With beta_ij z_ij = beta_ij J_ij x_j - lambda_i + lambda_i' of its update, eq. 34
 * becomes a step from where x is,
 *
 *     x_j <- x_j + H_j^-1 (sum_i J_ij' f_i - A_j x_j),    f_i = lambda_i' + (lambda_i' - lambda_i),    H_j = A_j + sum_i beta_ij J_ij' J_ij,
 *
 * the same f for all slots of a contact, and eqs. 36-38 need the sum over slots alone, with zeta_i = sum_j 1 / beta_ij:
 *
 *     q = sum_j J_ij x_j - zeta lambda - target,
 *     lambda_n' = max(0, -q_n / (zeta + R_n)),    lambda_t' = -q_t / (zeta + R_t), cut to the disc |lambda_t| <= mu lambda_n'.
 *
 * Where penalties change from beta to r beta, f = lambda' + r (lambda' - lambda).
 *
 * Layout.  `row` and `slot` are arrays of eight numbers, a cache line each: a row is x of a body, a slot the J_ij' f_i
 * of one contact on one body.  Bodies are sorted by their number of slots and taken eight at a time: slot k of the body on lane l
 * is number first + 8 k + l, zeros where it has none.  The last row is the world's, and the last two slots are nobody's. */
#ifndef SOLVER_SUBADMM_LANES_H
#define SOLVER_SUBADMM_LANES_H

#include "base/arena.h"
#include "solver/lanes.h"

enum { ADMM_SYMMETRIC = 21 }; /* numbers of a symmetric 6x6: its lower triangle, row by row */

/* A contact as it comes: three rows t1, t2, n. */
typedef struct admm_contact {
    int body[2];        /* -1: none */
    const double *J[2]; /* 3 x 6, row-major */
    double friction, R_t, R_n;
    double target[3];
    double lambda[3];
} admm_contact;

/* How the rows of a batch are told. */
typedef enum admm_form {
    ADMM_POINT, /* J_A = (lever_A x axis; axis), J_B = -(lever_B x axis; axis): nine numbers of axes, three of each lever */
    ADMM_GENERAL, /* 3 x 6 numbers a side */
} admm_form;

typedef struct admm_contacts {
    const double *geometry; /* [..][LANES] axes and levers, or J */
    admm_form form;
    int sides;         /* 1 or 2 */
    int row[2][LANES]; /* of each side */
    int slot[2][LANES];
    _Alignas(64) double target[3][LANES];
    double friction[LANES], zeta[LANES];
    double inverse_t[LANES], inverse_n[LANES]; /* 1 / (zeta + R) */
    double lambda[3][LANES];
    double change[3][LANES]; /* lambda' - lambda, and ... */
    double primal[LANES];    /* ... |zeta (lambda' - lambda)|^2: of the last update that was looked at */
    double R_t[LANES], R_n[LANES];
} admm_contacts;

typedef struct admm_bodies {
    int first, slots; /* slot k of lane l: first + 8 k + l */
    int row;          /* of the first */
    int solved;       /* each a subsystem of its own; else parts of trees: of these slots are added up, no more */
    _Alignas(64) double A[ADMM_SYMMETRIC][LANES];
    double H[ADMM_SYMMETRIC][LANES];      /* A + sum beta J'J */
    double factor[ADMM_SYMMETRIC][LANES]; /* H = L D L': L below the diagonal, 1 / D on it */
    double weight[6][LANES];              /* 1 / A_kk */
    double dual[LANES];                   /* (A x - sum J'f) weighted, its square */
} admm_bodies;

typedef struct admm_lanes {
    int ncontact, nbody;
    int contact_batches, body_batches; /* solved ones first */
    int solved_batches;
    admm_contacts *contacts;
    admm_bodies *bodies;
    double *row, *slot; /* [.. LANES] */
    int nrow, nslot;
    double (*added)[ADMM_SYMMETRIC]; /* [nrow] sum beta J'J of each body */
    int *row_of;                     /* [nbody] */
    int *place_of;                   /* [ncontact] batch * LANES + lane */
} admm_lanes;

typedef struct admm_input {
    int nbody, ncontact;
    const char *solved; /* [nbody] */
    const admm_contact *contact;
} admm_input;

/* The inner loops, over batches [first, end).  Batches write to nothing that another one touches. */
typedef struct admm_kernels {
    /* lambda', and f = lambda' + (lambda' - lambda) to the slots */
    void (*contacts)(admm_lanes *l, int first, int end);
    /* the same, with f = lambda' and a look at residuals: `change` and `primal` are kept */
    void (*look)(admm_lanes *l, int first, int end);
    /* f = lambda + ratio change to the slots, as they were kept */
    void (*push)(admm_lanes *l, int first, int end, double ratio);
    /* of bodies that are subsystems: x += H^-1 (sum of slots - A x) */
    void (*bodies)(admm_lanes *l, int first, int end);
    /* `dual`, with the slots and x as they stand */
    void (*residual)(admm_lanes *l, int first, int end);
    void (*factor)(admm_lanes *l, int first, int end);
} admm_kernels;

extern const admm_kernels admm_vector, admm_scalar;

/* Batches of everything; x and `change` are zero.  Every contact has a body at least.  0 without memory. */
int admm_lanes_pack(admm_lanes *l, const admm_input *in, sim_arena *scratch);
/* A of a body that is a subsystem, 6 x 6. */
void admm_lanes_mass(admm_lanes *l, int body, const double *A);
/* zeta, 1 / (zeta + R), H and its factor, for the beta of both sides of every contact. */
void admm_lanes_penalise(admm_lanes *l, const admm_input *in, const double (*beta)[2], const admm_kernels *kernels);
/* Of one body: sum beta J'J, ADMM_SYMMETRIC numbers; the sum of its slots, six. */
const double *admm_lanes_added(const admm_lanes *l, int body);
void admm_lanes_wrench(const admm_lanes *l, int body, double *wrench);
void admm_lanes_impulse(const admm_lanes *l, int contact, double *lambda);

#endif
