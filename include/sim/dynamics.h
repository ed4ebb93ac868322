/* The dynamics of a model, algorithm by algorithm, after Featherstone, "Rigid Body Dynamics Algorithms" (2008).
 *
 * Frames.  Every body i carries a frame with its origin o_i at the body's origin and WORLD axes.  Parent and child
 * frames differ by a shift r_i = o_i - o_p, without rotation.  Velocities and forces of body i are taken at o_i;
 * accelerations are (d omega/dt; d v_o/dt).  So the velocity and place of the whole system do not enter the dynamics.
 *
 * Of soft bodies they are the dynamics of the nodes; the elasticity is in the potential energy alone.
 *
 * `sim_derived` holds all quantities that follow from (model, q, v); each field names its function and its input.
 * Functions take the range of bodies of one tree, or of the whole model (SIM_ALL), so trees can run in parallel. */
#ifndef SIM_DYNAMICS_H
#define SIM_DYNAMICS_H

#include <sim/base.h>
#include <sim/math.h>
#include <sim/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Articulated inertia at o_i: [A B; B' C]. */
typedef struct sim_articulated {
    sim_sym3 A;
    sim_m3 B;
    sim_sym3 C;
} sim_articulated;

typedef struct sim_derived {
    const sim_model *model;

    /* sim_kinematics, from q */
    sim_pose *pose;                /* [nbody] body frame in the world */
    sim_v3 *r;                     /* [nbody] o_i - o_parent */
    sim_motion *S;                 /* [nv] motion axis of a dof, at its body's origin */
    sim_body_inertia *I;           /* [nbody] at o_i, world axes */
    double *angle, *sine, *cosine; /* of all joint angles, in the order of the bodies */

    /* sim_velocities, from q, v */
    sim_motion *vel;       /* [nbody] */
    sim_motion *bias_acc;  /* [nbody] acceleration over the parent's that velocities alone cause */
    sim_force *bias_force; /* [nbody] wrench that velocities alone cost */

    /* sim_crba, from q */
    sim_body_inertia *Ic; /* [nbody] body i with all that hangs on it, at o_i */

    /* sim_articulated_factor, from q and a joint-space diagonal */
    struct sim_force_lanes *U; /* [nv] */
    double *Dinv;              /* [nv] */

    /* work space of the recursions */
    struct sim_articulated_lanes *IA; /* [nbody] */
    sim_motion *acc;                  /* [nbody] */
    sim_force *force;                 /* [nbody] */
    double *u;                        /* [nv] */
    sim_v3 *from_root;                /* [nbody] o_i - origin of the tree's first body */
    double *spread[9];                /* [nv] each: motion axes and from_root, component by component */
    char *reached;                    /* [nbody] */

    double *tendon_initial; /* [ntendon] lengths at q_reference */

    size_t bytes;
    void *memory;
} sim_derived;

SIM_API sim_derived *sim_derived_create(const sim_model *model, sim_error *error);
SIM_API void sim_derived_free(sim_derived *derived);

/* Items [first, end).  The bodies given to an algorithm must be whole trees. */
typedef struct sim_range {
    int first, end;
} sim_range;
SIM_API sim_range sim_all(const sim_model *model);
SIM_API sim_range sim_tree_range(const sim_model *model, int tree);
/* The dofs of a range of bodies. */
SIM_API sim_range sim_dof_range(const sim_model *model, sim_range bodies);

/* Poses, motion axes and world-frame inertias, from q. */
SIM_API void sim_kinematics(sim_derived *d, sim_range range, const double *q);
/* Poses alone: the cheapest forward kinematics (writes pose, r). */
SIM_API void sim_poses(sim_derived *d, sim_range range, const double *q);
/* Body velocities and velocity-product terms, from v.  After sim_kinematics. */
SIM_API void sim_velocities(sim_derived *d, sim_range range, const double *v);

/* Inverse dynamics: tau = M(q) a + C(q, v) - J' f_external.  After sim_velocities.  `a` NULL: zero; `external` [nbody]
 * wrenches at the body origins, world axes, NULL: none.  Gravity enters if `gravity` is not 0. */
SIM_API void sim_rnea(sim_derived *d, sim_range range, const double *a, const sim_force *external, sim_v3 gravity,
                      double *tau);
/* tau = (M + diag(extra)) a: no velocity, no gravity; `extra` NULL: none.  After sim_kinematics. */
SIM_API void sim_mass_times(sim_derived *d, sim_range range, const double *extra, const double *a, double *tau);

/* Mass matrix, branch-sparse: row i holds depth(i) numbers, M[i, ancestors of i from the root to i itself]. Rows stand
 * one after the other: model->nl numbers in all, row i from dof[i].row on.  Armature included; `extra` [nv] (NULL:
 * none) is added to the diagonal; `body_extra` [nbody] (NULL: none) are symmetric 6x6 matrices at the body origins
 * added to the body inertias. */
SIM_API void sim_crba(sim_derived *d, sim_range range, const double *extra, const sim_articulated *body_extra,
                      double *M);
/* In place M = L' D L by branches (Featherstone ch. 6.5); then x <- M^-1 x, and y = M x from the unfactored matrix. */
SIM_API void sim_ltdl(const sim_model *model, sim_range range, double *M);
SIM_API void sim_ltdl_solve(const sim_model *model, sim_range range, const double *L, double *x);
/* The first dof that moves no mass at q: forward dynamics has no solution there.  -1: every dof does. */
SIM_API sim_status sim_massless_dof(sim_derived *d, const double *q, int *dof);
SIM_API void sim_branch_times(const sim_model *model, sim_range range, const double *M, const double *x, double *y);

/* Forward dynamics: a = (M + diag(extra))^-1 (tau - C + J' f_external).  After sim_velocities.  Leaves the articulated
 * factors behind.  `body_extra` as in sim_crba. */
SIM_API void sim_aba(sim_derived *d, sim_range range, const double *tau, const sim_force *external, sim_v3 gravity,
                     const double *extra, const sim_articulated *body_extra, double *a);
/* The factors alone, then x <- (M + diag(extra))^-1 x, each O(n). After sim_kinematics. */
SIM_API void sim_articulated_factor(sim_derived *d, sim_range range, const double *extra,
                                    const sim_articulated *body_extra);
SIM_API void sim_articulated_solve(sim_derived *d, sim_range range, double *x);

/* Half of either solve: x <- B x with A^-1 = B' B, so that x' A^-1 y = (B x) . (B y).  X holds `rows` rows, each with a
 * number for every dof of the range (a tree, or several), zeros but for `columns`, the dofs [first, end) of the model.
 * B x is zero but on the paths from these to the root.  `root` [nv]: of the diagonal of L, or of Dinv. */
SIM_API void sim_ltdl_half(const sim_model *model, sim_range range, const double *L, const double *root, int rows,
                           sim_range columns, double *X);
SIM_API void sim_articulated_half(sim_derived *d, sim_range range, const double *root, int rows, sim_range columns,
                                  double *X);

/* Length of an actuator and its moments dl/dq [nv of its tree].  After sim_kinematics. */
SIM_API double sim_actuator_length(const sim_derived *d, int actuator, const double *q, double *moment);

/* A point fixed to a body. */
typedef struct sim_point {
    int body;
    sim_v3 local; /* in the body frame */
} sim_point;

/* 6 x nv_tree matrices, row-major, columns the dofs of the body's tree: velocity (angular; linear) at the body origin;
 * 3 x nv_tree: velocity of a point.  World axes.  After sim_kinematics. */
SIM_API void sim_body_jacobian(const sim_derived *d, int body, double *J);
SIM_API void sim_point_jacobian(const sim_derived *d, sim_point point, double *J);
SIM_API sim_v3 sim_point_position(const sim_derived *d, sim_point point);
/* After sim_velocities. */
SIM_API sim_v3 sim_point_velocity(const sim_derived *d, sim_point point);
/* dJ/dt v: the acceleration of a point where all joint accelerations are zero.  `acc` from sim_bias_accelerations. */
SIM_API void sim_bias_accelerations(const sim_derived *d, sim_range range, sim_motion *acc);
SIM_API sim_v3 sim_point_bias_acceleration(const sim_derived *d, const sim_motion *acc, sim_point point);

/* Tendons, after sim_kinematics of the trees that move them.  Length, m (of fixed ones in the units of their joints; q:
 * the coordinates); dL/dq, [nv].  After sim_velocities its rate, and its second derivative where all joint
 * accelerations are zero, `acc` from sim_bias_accelerations. */
SIM_API double sim_tendon_length(const sim_derived *d, int tendon, const double *q);
SIM_API void sim_tendon_moments(const sim_derived *d, int tendon, double *J);
SIM_API double sim_tendon_rate(const sim_derived *d, int tendon, const double *v);
SIM_API double sim_tendon_bias(const sim_derived *d, int tendon, const sim_motion *acc);
/* By how much a length exceeds the rest lengths of the spring, or falls below (< 0); J of the spring. */
SIM_API double sim_tendon_stretch(const sim_derived *d, int tendon, double length);
SIM_API double sim_tendon_energy(const sim_derived *d, int tendon, const double *q);
/* Its course as straight lines, arcs in chords of at most 15 degrees: writes at most `room`, returns their number. */
SIM_API int sim_tendon_lines(const sim_derived *d, int tendon, sim_v3 (*line)[2], int room);

/* Inverse operational-space inertia of k bodies: blocks Lambda_ij = J_i A^-1 J_j' (6 x 6, row-major, angular first) of
 * the 6k x 6k matrix, in O(n) + O(k^2).  After sim_articulated_factor.  Bodies of different trees give zero blocks. */
typedef struct sim_operational sim_operational;
SIM_API sim_operational *sim_operational_create(const sim_model *model, int max_bodies, sim_error *error);
SIM_API void sim_operational_free(sim_operational *work);
SIM_API void sim_operational_inertia(sim_operational *work, const sim_derived *d, const int *bodies, int k,
                                     double *Lambda);
/* The 3k x 3k matrix J A^-1 J' of the velocities of k points. */
SIM_API void sim_delassus_points(sim_operational *work, const sim_derived *d, const sim_point *points, int k,
                                 double *W);

/* Inverse kinematics: coordinates at which frames on bodies stand at given poses (src/control/inverse_kinematics.c). */
typedef struct sim_ik_goal {
    int body;
    sim_pose frame; /* in the body frame */
    sim_pose pose;  /* where it should stand, in the world */
    bool point;     /* its position alone counts */
} sim_ik_goal;

typedef struct sim_ik_options {
    double tolerance;   /* m: of every component of position, and of rotation times `radius` */
    double radius;      /* m: so much counts a rotation of 1 rad */
    int max_iterations; /* of each search */
    int starts;         /* searches: from q, then from places all over the ranges, until one reaches */
    const bool *held;   /* [nv] dofs that stay; NULL: those of free joints */
} sim_ik_options;
/* 1e-12 m, 0.2 m, 300 iterations, 60 starts. */
SIM_API sim_ik_options sim_ik_options_default(void);

/*   reached      every goal, within the tolerance
 *   stationary   the nearest end of all searches: no small motion within the ranges comes nearer
 *   stopped      at the limit of iterations */
typedef enum sim_ik_outcome { SIM_IK_REACHED, SIM_IK_STATIONARY, SIM_IK_STOPPED } sim_ik_outcome;

typedef struct sim_ik_result {
    sim_ik_outcome outcome;
    double distance, angle; /* m, rad: the greatest that is left over all goals */
    int iterations, starts; /* of all searches; searches */
} sim_ik_result;

/* From q [nq] on, to the answer in q; joint ranges hold.  Fails only for goals that no body has, and without memory. */
SIM_API sim_status sim_inverse_kinematics(const sim_model *model, const sim_ik_goal *goal, int count,
                                          const sim_ik_options *options, double *q, sim_ik_result *result,
                                          sim_error *error);

/* Integrals of motion.  After sim_velocities. */
SIM_API double sim_kinetic_energy(const sim_derived *d, sim_range range, const double *v);   /* armature included */
SIM_API double sim_potential_energy(const sim_derived *d, sim_range range, const double *q); /* gravity and springs */
/* Momentum about the world's origin: (angular; linear). */
SIM_API sim_force sim_momentum(const sim_derived *d, sim_range range);

/* q (+) h v: coordinates moved along v for the time h, on the group (quaternions stay unit). `out` may be q. */
SIM_API void sim_advance(const sim_model *model, sim_range range, const double *q, const double *v, double h,
                         double *out);
/* The v with q0 (+) 1 v = q1. */
SIM_API void sim_difference(const sim_model *model, sim_range range, const double *q0, const double *q1, double *v);

#ifdef __cplusplus
}
#endif
#endif
