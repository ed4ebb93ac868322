/* Steps of SubADMM for contacts and bodies, eight at a time.
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
 * Layout.  `row` and `slot` are arrays of eight numbers, a cache line each: a row is x of a body, a slot the J_ij' f_i
 * of one contact on one body.  Bodies are sorted by their number of slots and taken eight at a time: slot k of the body on lane l
 * is number first + 8 k + l, zeros where it has none.  The last row is the world's, and the last two slots are nobody's. */
#ifndef SOLVER_SUBADMM_LANES_LANES_H
#define SOLVER_SUBADMM_LANES_LANES_H

#include "base/arena.h"
#include "solver/core/lanes.h"
#include "solver/core/natural_map.h"

enum {
    ADMM_SYMMETRIC = 21, /* numbers of a symmetric 6x6: its lower triangle, row by row */
    ADMM_SUMS = 6,       /* of natural_sum (natural_map.h) */
};

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
    double *answer;       /* rows of A^-1 sum J'lambda */
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
    void (*contacts)(admm_lanes *l, int first, int end);
    /* of bodies that are subsystems: x += H^-1 (sum of slots - A x) */
    void (*bodies)(admm_lanes *l, int first, int end);
    /* zeta, 1 / (zeta + R) of contacts; the factor of H of bodies */
    void (*soften)(admm_lanes *l, int first, int end, double kappa);
    void (*factor)(admm_lanes *l, int first, int end, double kappa);

    /* How right is lambda?  As it is to the slots; what follows from it to the rows of `answer`; from these the natural map.
     * The factor of A is for once and all. */
    void (*factor_inertia)(admm_lanes *l, int first, int end);
    void (*emit)(admm_lanes *l, int first, int end);
    void (*answer)(admm_lanes *l, int first, int end);
    void (*natural)(admm_lanes *l, int first, int end);
} admm_kernels;

extern const admm_kernels admm_vector, admm_scalar;

/* Batches of everything.  Every contact has a body at least.  0 without memory. */
int admm_lanes_pack(admm_lanes *l, const admm_input *in, sim_arena *scratch);
/* Takes `state_numbers` for the state: x is zero, lambda that of the input. */
void admm_lanes_begin(admm_lanes *l, const admm_input *in, double *state);
/* A of a body that is a subsystem, 6 x 6. */
void admm_lanes_mass(admm_lanes *l, int body, const double *A);
/* Which contacts take part (all, to begin with), and rho of the natural map of each (1). */
void admm_lanes_keep(admm_lanes *l, const char *kept);
void admm_lanes_rho(admm_lanes *l, const double *rho);
/* Weights of the two sides of every contact. */
void admm_lanes_weigh(admm_lanes *l, const admm_input *in, const double (*weight)[2]);
/* Of one body: sum weight J'J, ADMM_SYMMETRIC numbers; the sum of its slots, six. */
const double *admm_lanes_added(const admm_lanes *l, int body);
void admm_lanes_wrench(const admm_lanes *l, int body, double *wrench);
/* What `natural` found: all but q and what it takes to undo it, which do not change; s_n of a contact. */
natural_sum admm_lanes_natural(const admm_lanes *l);
double admm_lanes_normal(const admm_lanes *l, int contact);
void admm_lanes_impulse(const admm_lanes *l, int contact, double *lambda);
void admm_lanes_set_impulse(const admm_lanes *l, int contact, const double *lambda);

#endif
