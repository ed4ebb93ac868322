/* Trees of one shape, side by side in lanes: what branch.c does, eight trees at a time.
 *
 * Robots of one kind have the same bodies, joints and dofs one after the other; numbers alone differ.  A batch holds up to
 * LANES of them, number by number; lanes left over repeat the last tree, and write again what it has written. */
#ifndef SOLVER_SUBADMM_LANES_BATCH_KERNELS_H
#define SOLVER_SUBADMM_LANES_BATCH_KERNELS_H

#include "solver/subadmm/subadmm.h"

/* A number of a matrix, and the dof that it stands beside. */
typedef struct subadmm_entry {
    int number, dof;
} subadmm_entry;

/* Bodies and dofs count from the first of a tree. */
typedef struct subadmm_alike {
    int trees, nbody, nv, chains;
    int numbers;                  /* of each matrix: row k holds the dofs on the path from the root to k */
    int others;                   /* constraints beside the lanes act on them */
    int *parent, *dof;            /* [nbody] the body before, -1; [nbody + 1] first dofs */
    int *bears, *first;           /* [nbody] it has children; of its parent's it comes first on the way to the root */
    int *touched;                 /* [nbody] most slots of the lanes that it has in a tree; 0: no contact touches it */
    int *depth, *row;             /* [nv] dofs on the path with itself; where a row starts */
    subadmm_entry *path, *beyond; /* [numbers] the rows; the columns below the diagonal, last rows first */
    int *first_beyond;            /* [nv + 1] */
    int node[LANES], v0[LANES];   /* of the solver's trees; of the problem */
    int (*place)[LANES], (*body)[LANES];                /* [nbody] row of the lanes; the problem's body */
    int (*slot)[LANES], (*slots)[LANES];                /* [nbody] first slot of the lanes, how many */
    double (*r[SIM_CHAINS])[3][LANES];                  /* [nbody] */
    double (*S[SIM_CHAINS])[6][LANES];                  /* [nv] */
    double (*A)[LANES], (*C)[LANES], (*K)[LANES];       /* [numbers] K: factor of A + kappa C */
    double (*inertial)[LANES];                          /* that of A */
    double (*H)[36][LANES];                             /* [nbody] what is to be composed */
    double (*V)[6][LANES], (*x)[LANES], (*push)[LANES]; /* [nbody], [nv], [nv] for a while */
    double energy[LANES];
} subadmm_alike;

typedef struct subadmm_alike_kernels {
    /* H = what contacts of the lanes add to bodies. */
    void (*begin)(const subadmm *s, subadmm_alike *a);
    /* M += the composites of H, which is lost; factor = that of A + kappa C. */
    void (*compose)(subadmm_alike *a, int chain, double (*M)[LANES]);
    void (*factor)(subadmm_alike *a, double kappa, double (*factor)[LANES]);
    /* As their namesakes of subadmm.h. */
    void (*spread)(subadmm *s, subadmm_alike *a);
    void (*move)(subadmm *s, subadmm_alike *a);
    void (*follow)(subadmm *s, subadmm_alike *a);
    /* |x - v|_A^2 of x before the iteration, tree by tree */
    void (*energy)(subadmm *s, subadmm_alike *a);
} subadmm_alike_kernels;

extern const subadmm_alike_kernels subadmm_alike_vector, subadmm_alike_scalar;

/* batch_layout.c: finds trees alike among those that go by their branches.  0 without memory. */
int subadmm_find_alike(subadmm *s);
/* A and its factor; C; the factor of A + kappa C: 0 if not positive definite. */
void subadmm_make_alike(subadmm *s);
void subadmm_begin_alike(subadmm *s, const subadmm_tree *t);
void subadmm_sum_alike(subadmm *s);
int subadmm_factor_alike(subadmm *s);
double subadmm_stiffness_alike(const subadmm *s, const subadmm_tree *t, int j);
/* By all threads. */
void subadmm_spread_alike(subadmm *s);
void subadmm_move_alike(subadmm *s);
void subadmm_follow_alike(subadmm *s);
double subadmm_energy_alike(subadmm *s);

#endif
