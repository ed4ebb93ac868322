/* The sparse mass matrix of a soft body with its implicit elasticity, A = M + E + c C + k K. */
#ifndef DYN_SOFT_SOFT_SYSTEM_H
#define DYN_SOFT_SOFT_SYSTEM_H

#include <sim/model.h>

typedef struct soft_system soft_system;

/* Of a soft body of the model; NULL without memory. */
soft_system *soft_system_create(const sim_model *model, const sim_soft *soft);
void soft_system_free(soft_system *s);
/* Bytes held. */
size_t soft_system_bytes(const soft_system *s);

/* The stiffness in A, from that which is always positive semi-definite to the derivative of the forces. */
typedef enum soft_tangent {
    SOFT_PROJECTED, /* of tetrahedra, each without its negative eigenvalues, and of rods that pull */
    SOFT_WITH_GAS,  /* the same, and that of gas as it is */
    SOFT_EXACT      /* all as they are */
} soft_tangent;

/* Arrays of the model, [nq] or [nv]. */
typedef struct soft_point {
    const double *q;     /* where forces and matrices are taken ... */
    const double *from;  /* ... over a step from here with q in its middle (elastic_mean.c); NULL: at q */
    const double *start; /* the start of a step to q at the velocity v + c a: viscosity in its middle; NULL: at q */
    const double *v;     /* velocity without the acceleration: the viscous force is -C (v + c a) */
    const double *a;     /* acceleration about which forces are linear ... */
    double stiffness, viscosity; /* ... k, s^2, and c, s */
    const double *extra;         /* E, on the diagonal; NULL: nothing */
    double pressure;             /* Pa, in chambers ... */
    const double *rod_q;         /* ... where rows of rods are taken, ... */
    const double *rod_impulse;   /* ... their impulses of the step before, N s, [nequality][rod_rows], ... */
    int rod_rows;
    double step; /* ... which took so long, s; NULL: forces of rods keep their directions */
    soft_tangent tangent;
} soft_point;

/* Fills A and adds to `force` [nv] of the model the forces f(q) - C v + k K a, N, with those of the chambers.
 * `strength` [nv]: adds the sizes of terms, for their rounding. */
void soft_system_linearise(soft_system *s, const soft_point *at, double *force, double *strength);
/* SIM_NO_RESOURCE without memory, SIM_FAILED: a number is not finite. */
sim_status soft_system_factor(soft_system *s);

/* The forces of tetrahedra and chambers at an acceleration a, N, as the last linearisation has them: f(q) - C v - c C a - k K (a -
 * a0), with the turn of those of rods.  Of its tree, as `out`; a is an array of the model. */
void soft_system_forces(const soft_system *s, const double *a, double *out);
/* J: elastic energy at q; adds to `slope` its derivative along v, W, unless that is NULL.  Arrays of the model. */
double soft_system_energy(const soft_system *s, const double *q, const double *v, double *slope);

/* Of the dofs of its tree: x <- A^-1 x after the factor;  y = A x;  A in full, nv x nv. */
void soft_system_solve(soft_system *s, double *x);
/* Of the inverse of A, between n dofs of its tree: W [n][n]; SIM_NO_RESOURCE without memory. */
sim_status soft_system_inverse_part(soft_system *s, int n, const int *dof, double *W);
void soft_system_times(const soft_system *s, const double *x, double *y);
void soft_system_matrix(const soft_system *s, double *A);
void soft_system_diagonal(const soft_system *s, double *d);
/* kg of the node of a dof of its tree. */
double soft_system_mass(const soft_system *s, int dof);

#endif
