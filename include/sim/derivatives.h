/* Derivatives of the dynamics of a model by coordinates, velocities, accelerations and forces (src/dyn/mass/derivatives.c).
 *
 * A column stands for a degree of freedom.  By q it is the derivative along q (+) h e_j (sim_advance), so orientations
 * have three.  Matrices are n x n, row-major, for the n dofs of the range; pairs of dofs on different branches have
 * zeros. */
#ifndef SIM_DERIVATIVES_H
#define SIM_DERIVATIVES_H

#include <sim/dynamics.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Work space; each thread needs its own. */
typedef struct sim_derivatives sim_derivatives;
SIM_API sim_derivatives *sim_derivatives_create(const sim_model *model, sim_error *error);
SIM_API void sim_derivatives_free(sim_derivatives *work);

/* Inverse dynamics tau(q, v, a) of sim_rnea without external wrenches; by a it is M.  After sim_kinematics.  `a` NULL:
 * zero. */
SIM_API void sim_rnea_derivatives(sim_derivatives *work, const sim_derived *d, sim_range range, const double *v,
                                  const double *a, sim_v3 gravity, double *dtau_dq, double *dtau_dv);

/* Forward dynamics a(q, v, tau) of sim_aba without external wrenches; also a itself.  After sim_velocities.  `extra` is
 * added to the diagonal of M, as in sim_aba, and counts as constant. */
SIM_API void sim_forward_derivatives(sim_derivatives *work, sim_derived *d, sim_range range, const double *v,
                                     const double *tau, sim_v3 gravity, const double *extra, double *a, double *da_dq,
                                     double *da_dv, double *da_dtau);

/* A number of a model that derivatives may be by.  The other numbers are held: a shape that moves or grows takes no mass with it. */
typedef enum sim_parameter_kind {
    SIM_BY_MASS,      /* of a body whose density changes everywhere alike, kg */
    SIM_BY_INERTIA,   /* of a body, at its origin in its axes: mass, first moment x y z, moments xx yy zz xy xz yz */
    SIM_BY_FRICTION,  /* of a material */
    SIM_BY_STIFFNESS, /* of a material, N/m; of a rigid one: 0 */
    SIM_BY_PLACEMENT, /* of a shape: moves along the axes of its body, m; turns about them at its origin, rad */
    SIM_BY_SIZE,      /* of a shape: radius, length, edge or semi-axis (sim_shape), m; 0 where it has no such one */
    SIM_PARAMETER_KINDS,
} sim_parameter_kind;

typedef struct sim_parameter {
    sim_parameter_kind kind;
    int index;     /* of the body, material or shape */
    int component; /* of inertia, 0 to 9, placement, 0 to 5, or size, 0 to 2; else 0 */
} sim_parameter;

/* Components of a kind: 1, 10, 6 or 3. */
SIM_API int sim_parameter_components(sim_parameter_kind kind);

/* d tau = scale d (M a + C) for a change of a body's inertia (at its origin, in its axes), into [dofs of the range]: at rest
 * and without C, or with the velocities of sim_velocities.  After sim_kinematics. */
SIM_API void sim_inertia_derivatives(sim_derived *d, sim_range range, int body, const sim_body_inertia *change,
                                     bool moving, const double *a, sim_v3 gravity, double scale, double *tau);

/* Adds `scale` times d (J' F) / d q, F a wrench at a point of a body: (moment about it, force) in world axes, which
 * keeps them, or turns with the body.  After sim_kinematics. */
SIM_API void sim_wrench_derivatives(const sim_derived *d, int body, sim_v3 point, sim_force wrench, bool turns,
                                    double scale, sim_range dofs, double *dtau_dq);

#ifdef __cplusplus
}
#endif
#endif
