/* A linear tetrahedron of elastic material: energy, forces, stiffness, viscosity. */
#ifndef DYN_SOFT_ELASTIC_TET_H
#define DYN_SOFT_ELASTIC_TET_H

#include "dyn/soft/elastic_law.h"
#include "math/v3.h"

/* At rest: gradients of the barycentric coordinates, 1/m, and volume, m^3. */
typedef struct elastic_tet {
    v3 slope[4];
    double volume;
} elastic_tet;

/* Of corners x at rest.  The volume is negative where they are numbered the other way round. */
elastic_tet make_elastic_tet(const v3 x[4]);

/* Energy, J, with corners at x; their forces, N, unless `force` is NULL. */
double eval_elastic_tet(const elastic_material *material, const elastic_tet *tet, const v3 x[4], v3 *force);

/* Of the corners, 3 numbers each, symmetric.  A matrix that is NULL is left out. */
typedef struct elastic_matrices {
    double (*stiffness)[12]; /* N/m: the Hessian of the energy ... */
    bool projected;          /* ... with its negative eigenvalues (of F) set to zero */
    double (*viscosity)[12]; /* N s/m: forces are -viscosity v; semi-definite, and none in rigid motion */
    v3 *force;               /* N */
    const v3 *from;          /* corners at the start of a step with x in its middle: mean forces; NULL: those at x */
    const v3 *start;         /* corners at the start of a step that ends at x: viscosity in its middle; NULL: at x */
} elastic_matrices;
void eval_elastic_matrices(const elastic_material *material, const elastic_tet *tet, const v3 x[4],
                           const elastic_matrices *out);

/* The force linearised about x, as springs along motions w of the corners:
 *
 *     force = -sum_r (stiffness_r stretch_r + slope_r w_r . dx) w_r
 *
 * The first STRAIN_ROWS are of the principal stretches and the shears between them.  Then those of turning against the
 * stress: none without stress.  Stiffness is positive, and the slope itself where it is enough. */
enum { STRAIN_ROWS = 6, ELASTIC_ROWS = 9 };
typedef struct elastic_rows {
    int count;
    double w[ELASTIC_ROWS][12];     /* 1/m */
    double stiffness[ELASTIC_ROWS]; /* J */
    double slope[ELASTIC_ROWS];     /* J: the eigenvalue of the Hessian */
    double stretch[ELASTIC_ROWS];
} elastic_rows;
void eval_elastic_rows(const elastic_material *material, const elastic_tet *tet, const v3 x[4], elastic_rows *out);

#endif
