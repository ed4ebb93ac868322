/* SubADMM for contacts and bodies in SIMD lanes, eight at a time.
 *
 * State: x = v - v* of every body and impulse lambda of every contact.  The slots z_ij follow from them (Lee et al.
 * 2024, eqs. 34-39).  With beta_ij z_ij = beta_ij J_ij x_j - lambda_i + lambda_i', eq. 34 becomes
 *
 *     x_j <- x_j + H_j^-1 (sum_i J_ij' f_i - A_j x_j),    f_i = lambda_i' + (lambda_i' - lambda_i),
 *     H_j = A_j + sum_i beta_ij J_ij' J_ij.
 *
 * f is the same for all slots of a contact.  Eqs. 36-38 need only the sum over slots, with zeta_i = sum_j 1 / beta_ij:
 *
 *     q = sum_j J_ij x_j - zeta lambda - target,
 *     lambda_n' = max(0, -q_n / (zeta + R_n)),
 *     lambda_t' = -q_t / (zeta + R_t), cut to the disc |lambda_t| <= mu lambda_n'.
 *
 * Layout: `row` and `slot` are arrays of eight numbers, a cache line each.  A row is x of a body; a slot is J_ij' f_i
 * of one contact on one body.  Bodies are sorted by their number of slots and batched by eight.  Slot k of the body on
 * lane l is number first + 8 k + l, zero where it has none.  The last row is the world's; the last slots belong to no
 * body. */
#ifndef SOLVER_SUBADMM_LANES_LANES_H
#define SOLVER_SUBADMM_LANES_LANES_H

#include "base/arena.h"
#include "solver/core/lanes.h"
#include "solver/core/natural_map.h"

enum {
    ADMM_SYMMETRIC = 21, /* numbers of a symmetric 6x6: its lower triangle, row by row */
    ADMM_SUMS = 6,       /* of natural_sum (natural_map.h) */
};

/* A contact as given: three rows t1, t2, n. */
typedef struct admm_contact {
    int body[2];        /* -1: none */
    const double *J[2]; /* 3 x 6, row-major */
    double friction, R_t, R_n;
    double target[3];
    double lambda[3];
} admm_contact;

/* Storage of the rows of a batch. */
typedef enum admm_form {
    /* J_A = (lever_A x axis; axis), J_B = -(lever_B x axis; axis): nine numbers of axes, three of each lever */
    ADMM_POINT,
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
    double slack[LANES];                       /* kappa zeta */
    double R_t[LANES], R_n[LANES];
    double keep[LANES];   /* 1; 0: left out, without impulse */
    double rho[LANES];    /* of the natural map */
    double normal[LANES]; /* s_n, of the last one */
    double natural[ADMM_SUMS][LANES];
} admm_contacts;

typedef struct admm_bodies {
    int first, slots; /* slot k of lane l: first + 8 k + l */
    int row;          /* of the first */
    _Alignas(64) double A[ADMM_SYMMETRIC][LANES];
    double C[ADMM_SYMMETRIC][LANES];        /* sum weight J'J */
    double factor[ADMM_SYMMETRIC][LANES];   /* A + kappa C = L D L': L below the diagonal, 1 / D on it */
    double inertial[ADMM_SYMMETRIC][LANES]; /* the same of A */
} admm_bodies;

/* Penalties are kappa times weights, one for each side of each contact. */
typedef struct admm_lanes {
    int ncontact, nbody;
    int contact_batches, body_batches; /* solved ones first */
    int solved_batches;
    admm_contacts *contacts;
    admm_bodies *bodies;
    size_t state_numbers;
    double *lambda, *row; /* the state, in this order: [3][LANES] for each batch of contacts, a row for each body */
    double *response;     /* rows of A^-1 sum J'lambda */
    double *slot;
    int nrow, nslot;
    double (*added)[ADMM_SYMMETRIC]; /* [nrow] sum weight J'J of each body */
    int *row_of;                     /* [nbody] */
    int *place_of;                   /* [ncontact] batch * LANES + lane */
} admm_lanes;

typedef struct admm_input {
    int nbody, ncontact;
    const char *solved; /* [nbody] 1: a subsystem of its own; 0: part of a tree */
    const admm_contact *contact;
} admm_input;

/* The inner loops, over batches [first, end).  Batches write to nothing that another one touches. */
typedef struct admm_kernels {
    /* lambda', and f to the slots */
    void (*update_contacts)(admm_lanes *l, int first, int end);
    /* of bodies that are subsystems: x += H^-1 (sum of slots - A x) */
    void (*update_bodies)(admm_lanes *l, int first, int end);
    /* zeta, 1 / (zeta + R) of contacts; the factor of H of bodies */
    void (*set_compliance)(admm_lanes *l, int first, int end, double kappa);
    void (*factor)(admm_lanes *l, int first, int end, double kappa);

    /* Error of lambda: J' lambda to the slots; A^-1 of their sum to the rows of `response`; from these the natural map.
     * A is factored once. */
    void (*factor_inertia)(admm_lanes *l, int first, int end);
    void (*apply_impulses)(admm_lanes *l, int first, int end);
    void (*solve_inertia)(admm_lanes *l, int first, int end);
    void (*eval_natural)(admm_lanes *l, int first, int end);
} admm_kernels;

extern const admm_kernels admm_vector, admm_scalar;

/* Packs contacts and bodies into batches.  Every contact has a body at least.  False without memory. */
bool admm_lanes_pack(admm_lanes *l, const admm_input *in, sim_arena *scratch);
/* `state` [state_numbers] becomes the state: x = 0, lambda from the input. */
void admm_lanes_begin(admm_lanes *l, const admm_input *in, double *state);
/* A of a body that is a subsystem, 6 x 6. */
void admm_lanes_set_mass(admm_lanes *l, int body, const double *A);
/* Contacts that take part (default: all); rho of the natural map of each (default: 1). */
void admm_lanes_set_kept(admm_lanes *l, const char *kept);
void admm_lanes_set_rho(admm_lanes *l, const double *rho);
/* Weights of the two sides of every contact. */
void admm_lanes_set_weights(admm_lanes *l, const admm_input *in, const double (*weight)[2]);
/* Of one body: sum weight J'J, ADMM_SYMMETRIC numbers; the sum of its slots, six. */
const double *admm_lanes_added(const admm_lanes *l, int body);
void admm_lanes_wrench(const admm_lanes *l, int body, double *wrench);
/* Sums of eval_natural: all but q and undoing, which are constant.  s_n of a contact. */
natural_sum admm_lanes_natural(const admm_lanes *l);
double admm_lanes_normal(const admm_lanes *l, int contact);
void admm_lanes_impulse(const admm_lanes *l, int contact, double *lambda);
void admm_lanes_set_impulse(const admm_lanes *l, int contact, const double *lambda);

#endif
