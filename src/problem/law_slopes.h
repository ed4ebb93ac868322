/* Derivatives of the contact law: of R and target of a row, and of impulses by velocities. */
#ifndef PROBLEM_LAW_SLOPES_H
#define PROBLEM_LAW_SLOPES_H

#include <sim/problem.h>

#include <stdbool.h>

/* Of R and target of a row. */
typedef struct row_slopes {
    double R_w, target_w;                                  /* by w, the inverse mass that the row feels */
    double R_gap[3], target_gap[3];                        /* by the gaps of its group of three rows */
    double target_guess;                                   /* by its impulse of the step before */
    double R_stiffness, R_dissipation, target_dissipation; /* by those of the constraint */
    bool kink;                                             /* is its gap where the law changes? */
} row_slopes;

/* w of row k from the block W of its constraint, and d w = sum of weight dW: [rows][rows]. */
double law_mass_weights(sim_compliance compliance, const sim_constraint *c, const double *W, int k, double *weight);
/* The slopes of the compliant laws.  `near`: m/s, of a kink; gaps within near times the time of their law are at one, too.  False: R and target are not those of gap, mass and guess alone (a bounce, a load, an
 * overlap that is held back).  Springs and actuators have R and target of their own. */
bool law_row_slopes(const sim_problem *problem, sim_compliance compliance, const sim_law_options *options,
                    const sim_regularisation *law, const sim_constraint *c, int k, double w, double near,
                    row_slopes *out);

/* d gamma = G dz + by_R dR,  z = target - u. */
typedef struct impulse_slopes {
    double G[SIM_MAX_ROWS][SIM_MAX_ROWS], by_R[SIM_MAX_ROWS][SIM_MAX_ROWS];
    double by_friction[SIM_MAX_ROWS]; /* by the coefficient of a contact */
    bool kink;                        /* does z lie between two pieces of the law, or that near to it? */
} impulse_slopes;

/* Of one constraint with R > 0, by the strict or the convex law.  z and R: of its own rows.
 * `near`, m/s: a step of z to another piece that counts as a kink; to rounding where it is less. */
void law_impulse_slopes(const sim_constraint *c, double step, sim_cone cone, const double *z, const double *R,
                        double near, impulse_slopes *out);

/* ---- disc_slopes.c ---- */

/* The same of a contact that resists turning, into zeros. */
void law_disc_slopes(const sim_constraint *c, sim_cone cone, const double *z, const double *R, double near,
                     impulse_slopes *out);

#endif
