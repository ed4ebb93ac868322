/* Derivatives of the step of one tree. */
#ifndef WORLD_INTEGRATOR_DERIVATIVE_TREE_DERIVATIVES_H
#define WORLD_INTEGRATOR_DERIVATIVE_TREE_DERIVATIVES_H

#include "world/integrator/derivative/move_derivatives.h"
#include "world/integrator/motion.h"
#include <sim/derivatives.h>

/* By the start of the step: columns q, v and generalised force, nv each; rows the nv dofs. */
typedef struct tree_jacobian {
    int width;           /* of a row: 3 nv, rounded up */
    double *q, *v;       /* of the end */
    double *q_by, *v_by; /* n x parameters of the end, by the inertias among them */
    double residual;
} tree_jacobian;

/* Of dof j: change of the force of its actuators by coordinate and rate at both ends of the step, and by the weight. */
typedef struct drive_slopes {
    double q0, v0, q1, v1;
    int holds; /* of these compensate for gravity, within their ranges */
} drive_slopes;

/* Of E_j in theta.c, the diagonal of the sweep: by coordinates `first` and `count` - 1 after it, where the scheme takes its
 * forces, and by the velocity of the dof at which its damper acts. */
typedef struct diagonal_change {
    int first, count;
    double by_q[3], by_v;
} diagonal_change;

/* Work space for the largest tree. */
typedef struct derivative_work {
    sim_derived *d;
    sim_derivatives *dynamics;
    double *by_q, *by_v;          /* n x n: of inverse dynamics less the forces that depend on the place */
    double *weight;               /* n x n: of the weight that actuators hold */
    double *M;                    /* [nl] */
    double *H, *LU;               /* n x stride */
    double *A;                    /* n x width: a by the start */
    double *zero, *q, *v, *x, *y; /* [nq], [nv] */
    double *q_ahead;              /* [nq] */
    double *stage[6];             /* rk4: n x width */
    int *swap;
    double *solve;
    drive_slopes *drive; /* [nv] */
    m3 *swing;           /* [nbody][3] of single rigid bodies */
    const sim_parameter *parameter;
    int parameters;
    double *force_by; /* parameters x n: generalised forces that change a tree's acceleration as those of inertia do */
    move_derivative point, end;
    memory_pool *pool;
} derivative_work;

/* Rows of n and of 3 n numbers in fours. */
static inline int row_stride(int n) { return (n + 3) / 4 * 4; }

/* ---- drive_derivatives.c ---- */

/* Is an actuator at an end of its range in free motion, or of that which it shares? */
bool drive_is_constant(const motion_work *w, int k);
/* Adds the slopes of an actuator within its range, by its place in the order; `now`: all are taken at the start of a
 * stage. */
void add_drive_slopes(const motion_work *w, int k, bool now, drive_slopes *slopes);
/* The slopes of the actuators of a tree. */
void fill_drive_slopes(const motion_work *w, int tree, bool now, drive_slopes *drive);
/* Change of its effort by an input, within its range, from coordinates and rates at both ends. */
double drive_by_input(const motion_work *w, int k, sim_input input, const sim_state *from, const sim_state *to);
/* Is an actuator, or its input, at an end of its range? */
bool drive_at_kink(const motion_work *w, int k);
/* Adds -d tau / d q of springs, of loads and wrenches, at the point of kinematics d. */
void subtract_place_forces(const motion_work *w, int tree, const sim_derived *d, const double *q, double time,
                           double *by_q);

/* The change of E_j at q, v; false: it is constant. */
bool differentiate_diagonal(const motion_work *w, const theta_scheme *scheme, int j, const double *q, double v,
                            diagonal_change *by);

/* ---- spin_derivatives.c ---- */

/* The turn of the attitude by the angular velocity at the start and the angular acceleration. */
void differentiate_turn(const motion_work *w, const spin_body *s, const double *extra, v3 w0, v3 a, m3 *by_w0,
                        m3 *by_a);
/* rho: acceleration of the origin of a free body beyond that of the sweep, in axes of the joint.  By turns of the
 * attitude at the start, by w0 and by a. */
v3 differentiate_swing(const motion_work *w, const spin_body *s, const double *extra, sim_quat q0, v3 w0, v3 a,
                       double velocity, m3 by[3]);

/* Its turn and swing by the inertia of a body that is fixed to it, or is it. */
void differentiate_spin_inertia(const motion_work *w, const spin_body *s, const double *extra, sim_quat q0, v3 w0, v3 a,
                                double velocity, int body, const sim_body_inertia *dI, v3 *turn, v3 *swing);

/* ---- parameter_derivatives.c ---- */

/* The change of inertia of a body of the tree by a parameter; false: it has none. */
bool change_inertia(const sim_model *m, const sim_parameter *p, int tree, sim_body_inertia *dI);
/* The place of a tree on its way: what a turn or swing depends on. */
typedef struct spin_point {
    const double *extra, *a;
    double velocity;
} spin_point;
/* -dR/dp of (1) in theta_derivatives.c, into work->force_by; x = a - rho, M in H.  After sim_velocities. */
void differentiate_inertias(derivative_work *work, const motion_work *w, int tree, const spin_point *at);
/* Adds the part of the weight that actuators hold.  After sim_kinematics at the start. */
void add_held_inertias(derivative_work *work, const motion_work *w, int tree);
/* Rows of the end by inertias, from columns of forces.  `turns`: attitudes have a turn of their own. */
void finish_inertias(derivative_work *work, const motion_work *w, int tree, const spin_point *at, bool turns,
                     tree_jacobian *out);

/* ---- theta_derivatives.c, rk4_derivatives.c ---- */

/* `w` as the step left it, but `now` the state at its start; `to` that at its end. */
void theta_derivatives(derivative_work *work, const motion_work *w, const sim_state *to, int tree, tree_jacobian *out);
/* The mean acceleration of the free motion alone, into work->A.  Leaves A = M + E in work->H, dense, with the kinematics of
 * q* in work->d, and the derivative of the way there in work->point. */
double theta_free_derivatives(derivative_work *work, const motion_work *w, const sim_state *to, int tree, int width);
void rk4_derivatives(derivative_work *work, motion_work *w, int tree, tree_jacobian *out);
/* Of inverse dynamics at the kinematics and velocities of work->d, with the acceleration a, less forces of the place, into
 * by_q and by_v; M, into `H`. */
void differentiate_forces(derivative_work *work, const motion_work *w, int tree, const double *q, const double *v,
                          const double *a, double time);
/* A <- H^-1 A; the relative residual. */
double solve_derivatives(derivative_work *work, int n, int width, double *A);

#endif
