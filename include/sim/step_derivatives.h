/* Derivatives of a step by its state and inputs (src/world/integrator/derivative/theta_derivatives.c,
 * src/world/derivative).
 *
 * Positions are tangent vectors: a column by q is the derivative along q (+) h e_j (sim_advance); a row of the new q is
 * that of sim_difference.  Rows are those of the new (q, v), columns those of the old; matrices are row-major. */
#ifndef SIM_STEP_DERIVATIVES_H
#define SIM_STEP_DERIVATIVES_H

#include <sim/derivatives.h>
#include <sim/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Work space for the worlds of a model; each thread needs its own. */
typedef struct sim_step_derivatives sim_step_derivatives;
SIM_API sim_step_derivatives *sim_step_derivatives_create(const sim_model *model, sim_error *error);
SIM_API void sim_step_derivatives_free(sim_step_derivatives *work);

/* Of a step, for n = nv.  The matrices are the caller's; NULL: not wanted. */
typedef struct sim_step_jacobian {
    double *by_state;   /* [2 n][2 n] */
    double *by_applied; /* [2 n][n] by generalised forces (sim_world_applied) */
    double *by_input;   /* [SIM_INPUTS][2 n][nactuator] by inputs of actuators (sim_world_inputs) */
    /* [2 n][nmaterial] by the friction of materials, but of a pair with a number of its own; one without friction: 0 */
    double *by_friction;
    /* [2 n][parameters] by these; not with rk4 */
    const sim_parameter *parameter;
    int parameters;
    double *by_parameter;

    double residual; /* certificate: relative error of the linear systems that were solved, the worst of all */
    int kinks; /* actuators at an end of a range, constraints between two pieces of their law: there the derivative
                      * is that of one side */
} sim_step_jacobian;

/* The derivatives of the world's last step, other parts of its state held.  Inputs and forces of the caller must be those of
 * the step.  Constraints have compliant laws with round cones.  Refused, with the place: no step since the state was
 * set; contacts that roll, or of bodies yet to meet; pairs of shapes that docs/theory.md does not list; constraints between
 * bodies other than couplings of joints; sleep; a fluid; soft bodies; controllers.
 * Also by_input and by_parameter with rk4; actuators with muscles, activations or other transmissions than joints; steps that did not
 * converge, or whose energy was projected (docs/theory.md). */
SIM_API sim_status sim_world_step_derivatives(sim_world *world, sim_step_derivatives *work, sim_step_jacobian *out,
                                              sim_error *error);

#ifdef __cplusplus
}
#endif
#endif
