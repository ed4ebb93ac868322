/* Trees of equal shape in SIMD lanes: branch.c for eight trees at a time.
 *
 * Robots of one kind have the same bodies, joints and dofs in the same order; only their numbers differ.  A batch holds
 * up to LANES trees, number by number.  Unused lanes repeat the last tree and write the same numbers again. */
#ifndef SOLVER_SUBADMM_LANES_BATCH_KERNELS_H
#define SOLVER_SUBADMM_LANES_BATCH_KERNELS_H

#include "solver/subadmm/subadmm.h"

/* A number of a matrix and the dof that it multiplies. */
typedef struct subadmm_entry {
    int number, dof;
} subadmm_entry;

/* Bodies and dofs count from the first of a tree. */
typedef struct subadmm_batch {
    int trees, nbody, nv, chains;
    int numbers;                         /* of each matrix: row k holds the dofs on the path from the root to k */
    bool others;                         /* constraints outside the lanes act on the trees */
    int *parent, *dof;                   /* [nbody] the body before, -1; [nbody + 1] first dofs */
    int *bears, *first;                  /* [nbody] it has children; it is the first child in the order tips to root */
    int *touched;                        /* [nbody] slots in the lanes, greatest over the trees; 0: no contact */
    int *depth, *row;                    /* [nv] dofs on the path, itself included; start of a row */
    subadmm_entry *path, *beyond;        /* [numbers] the rows; the columns below the diagonal, last rows first */
    int *first_beyond;                   /* [nv + 1] */
    int node[LANES], v0[LANES];          /* of the solver's trees; of the problem */
    int (*place)[LANES], (*body)[LANES]; /* [nbody] row of the lanes; the problem's body */
    int (*slot)[LANES], (*slots)[LANES]; /* [nbody] first slot of the lanes; count */
    double (*r[SIM_CHAINS])[3][LANES];   /* [nbody] */
    double (*S[SIM_CHAINS])[6][LANES];   /* [nv] */
    double (*A)[LANES], (*C)[LANES], (*K)[LANES];       /* [numbers] K: factor of A + kappa C */
    double (*inertial)[LANES];                          /* that of A */
    double (*H)[36][LANES];                             /* [nbody] operators to be composed */
    double (*V)[6][LANES], (*x)[LANES], (*push)[LANES]; /* [nbody], [nv], [nv] scratch */
    double energy[LANES];
} subadmm_batch;

typedef struct subadmm_batch_kernels {
    /* H = sum of weight J'J of the contacts in the lanes. */
    void (*begin)(const subadmm *s, subadmm_batch *a);
    /* M += composites of H, which is overwritten; factor of A + kappa C. */
    void (*compose)(subadmm_batch *a, int chain, double (*M)[LANES]);
    void (*factor)(subadmm_batch *a, double kappa, double (*factor)[LANES]);
    /* As subadmm_spread_velocities, subadmm_step_trees, subadmm_solve_response. */
    void (*spread)(subadmm *s, subadmm_batch *a);
    void (*move)(subadmm *s, subadmm_batch *a);
    void (*follow)(subadmm *s, subadmm_batch *a);
    /* |x - v|_A^2 of x before the iteration, tree by tree */
    void (*energy)(subadmm *s, subadmm_batch *a);
} subadmm_batch_kernels;

extern const subadmm_batch_kernels subadmm_batch_vector, subadmm_batch_scalar;

/* batch_layout.c: finds trees of equal shape among the split ones.  False without memory. */
bool subadmm_find_batches(subadmm *s);
/* A and its factor; C; the factor of A + kappa C, false: not positive definite. */
void subadmm_make_batches(subadmm *s);
void subadmm_begin_batched(subadmm *s, const subadmm_tree *t);
void subadmm_sum_batches(subadmm *s);
bool subadmm_factor_batches(subadmm *s);
double subadmm_stiffness_batched(const subadmm *s, const subadmm_tree *t, int j);
/* Passes over all batches, by all threads. */
void subadmm_spread_batches(subadmm *s);
void subadmm_step_batches(subadmm *s);
void subadmm_solve_batches(subadmm *s);
double subadmm_energy_of_batches(subadmm *s);

#endif
