/* Plain geometric types.  Columns of a rotation are the body's axes in the outer frame: X_ab takes b to a. */
#ifndef SIM_MATH_H
#define SIM_MATH_H

#ifdef __cplusplus
extern "C" {
#endif

/* The greatest Coulomb coefficient.  De Saxce's s_n + mu |s_t| rounds a normal velocity away from mu |s_t| = 5e15 s_n
 * on, and the error of a solution shows in E divided by mu.  At 1000 a contact with the normal force n slides only
 * under 1000 n, so greater coefficients change nothing. */
#define SIM_MOST_FRICTION 1000.0

typedef struct sim_v3 {
    double x, y, z;
} sim_v3;

/* Matrix by columns. */
typedef struct sim_m3 {
    sim_v3 x, y, z;
} sim_m3;

/* Symmetric matrix. */
typedef struct sim_sym3 {
    double xx, yy, zz, xy, xz, yz;
} sim_sym3;

/* Unit quaternion, Hamilton, body to world. */
typedef struct sim_quat {
    double w, x, y, z;
} sim_quat;

/* Rotation and origin of one frame in another. */
typedef struct sim_pose {
    sim_m3 R;
    sim_v3 p;
} sim_pose;

/* Mass, first moment h = m c and second moment about the frame's origin: the inertia as an operator
 * (omega, a) -> (moment, force) = (I omega + h x a,  m a - h x omega). */
typedef struct sim_body_inertia {
    double mass;
    sim_v3 h;
    sim_sym3 I;
} sim_body_inertia;

/* A velocity or acceleration: angular, and linear at the point where it is taken. */
typedef struct sim_motion {
    sim_v3 ang, lin;
} sim_motion;

/* A wrench, impulse or momentum: moment about the point where it is taken, and force.  A type of its own, so that
 * adding a force to a motion does not compile. */
typedef struct sim_force {
    sim_v3 ang, lin;
} sim_force;

/* Mass, centre of mass in the body frame, moments and products about the centre of mass in body axes. Products have the
 * sign of the matrix: xy = -integral of x y dm. */
typedef struct sim_inertia {
    double mass;
    sim_v3 com;
    sim_sym3 moment;
} sim_inertia;

#ifdef __cplusplus
}
#endif
#endif
