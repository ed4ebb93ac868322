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

/* The memory of a world: numbers of its state besides q and v on which the next step depends.  They are
 *   the velocities one and two steps before, held forces, lasting forces of contacts and those a step before, [nv] each;
 *   impulses of rows of joints [nv][SIM_JOINT_ROWS], where any joint has such rows;
 *   impulses of contacts [ncontact][3], in the world;
 *   their moments [ncontact][3], where any material resists turning
 * (sim_state: trail, held, joint_impulse, impulse, contact), and none in worlds without contact problems. */
/* Its sizes before the last step (0: there was none since the state was set), and now. */
SIM_API void sim_world_memory_sizes(const sim_world *world, int *before, int *now);
/* Copies it, as it is now. */
SIM_API void sim_world_memory(const sim_world *world, double *memory);

/* Of a step, for n = nv.  The matrices are the caller's; NULL: not wanted.  They have `rows` rows: 2 n, those of q and v,
 * and with `memory` those of the memory now; by_state has the columns of the memory before, besides. */
typedef struct sim_step_jacobian {
    bool memory; /* are its rows and columns wanted, too? */
    double
        near; /* m/s or rad/s: a constraint whose velocity may reach another piece of its law within this counts as at
                  * a kink; 0: only to rounding.  Of gaps near times the step counts */
    double *by_state;   /* [rows][2 n], or more */
    double *by_applied; /* [rows][n] by generalised forces (sim_world_applied) */
    double *by_input;   /* [SIM_INPUTS][rows][nactuator] by inputs of actuators (sim_world_inputs) */
    /* [rows][nmaterial] by the friction of materials, but of a pair with a number of its own; one without friction: 0 */
    double *by_friction;
    /* [rows][parameters] by these; not with rk4 */
    const sim_parameter *parameter;
    int parameters;
    double *by_parameter;

    double residual; /* certificate: relative error of the linear systems that were solved, the worst of all */
    int kinks; /* actuators at an end of a range, constraints between two pieces of their law, or within `near` of that;
                * trees whose free motion would go on without the forces of their contacts after a change within `near`:
                * there the derivative is that of one side */
} sim_step_jacobian;

/* The derivatives of the world's last step, other parts of its state held: through several steps they multiply with
 * `memory` alone.  Inputs and forces of the caller must be those of the step.  Constraints have compliant laws with round
 * cones.  Refused, with the place: no step since the state was set; contacts of bodies yet to meet; pairs of shapes that docs/theory.md does not list; springs between bodies
 * and constraints of tendons; sleep; a fluid; soft bodies; controllers.  Also by_input and by_parameter with rk4;
 * actuators with muscles, activations, delays or other transmissions than joints; steps that did not converge, or whose energy
 * was projected (docs/theory.md). */
SIM_API sim_status sim_world_step_derivatives(sim_world *world, sim_step_derivatives *work, sim_step_jacobian *out,
                                              sim_error *error);

#ifdef __cplusplus
}
#endif
#endif
