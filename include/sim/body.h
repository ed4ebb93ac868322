/* Bodies, joints, degrees of freedom and trees of a model. */
#ifndef SIM_BODY_H
#define SIM_BODY_H

#include <sim/base.h>
#include <sim/math.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Joints.  The joint frame J stands at `placement` in the parent's body frame; the body frame B coincides with J where
 * the joint stands at zero.  `axis` and `axis2` are unit vectors in J.
 *
 *   type         q                                 v
 *   fixed        -                                 -
 *   hinge        angle about axis                  its rate
 *   slider       distance along axis               its rate
 *   screw        angle; advances `pitch` a turn    its rate
 *   cylindrical  angle, distance (same axis)       their rates
 *   universal    angle about axis, then about      their rates
 *                axis2 (carried by the first)
 *   planar       x, y, angle: x along axis2, y     their rates
 *                along axis x axis2, angle
 *                about axis
 *   cartesian    x, y, z in J                      their rates
 *   ball         quaternion (w x y z), B to J      angular velocity of B in J, in axes of B
 *   free         position in J (x y z), then       velocity of B's origin in J, in axes of J;
 *                quaternion (w x y z), B to J      angular velocity of B in J, in axes of B */
typedef enum sim_joint_type {
    SIM_FIXED,
    SIM_HINGE,
    SIM_SLIDER,
    SIM_SCREW,
    SIM_CYLINDRICAL,
    SIM_UNIVERSAL,
    SIM_BALL,
    SIM_PLANAR,
    SIM_FREE,
    SIM_CARTESIAN,
    SIM_JOINT_TYPES,
} sim_joint_type;

enum { SIM_MAX_JOINT_NV = 6, SIM_MAX_JOINT_NQ = 7 };

/* Coordinates and velocities of a joint type; its name as scenes spell it. */
SIM_API int sim_joint_nq(sim_joint_type type);
SIM_API int sim_joint_nv(sim_joint_type type);
SIM_API const char *sim_joint_name(sim_joint_type type);

/* Ends of a coordinate: rigid, or with springs behind them. */
typedef struct sim_limit {
    double low, high;   /* -infinity, infinity: none */
    double stiffness;   /* N m/rad or N/m; infinity is rigid */
    double dissipation; /* damping over stiffness, s */
    double restitution; /* Newton's coefficient, of rigid ends */
} sim_limit;

typedef struct sim_body {
    const char *name;
    const char *joint_name; /* in names of coordinates and dofs: its own, or that of the body */
    int parent;
    int tree;        /* -1 for the world */
    int subtree_end; /* bodies [own index, subtree_end) hang below, this one included */
    sim_joint_type joint;
    int q0, nq, v0, nv; /* coordinates q[q0 .. q0+nq), velocities v[v0 .. v0+nv) */
    sim_pose placement; /* joint frame in the parent's body frame */
    sim_v3 axis, axis2;
    double pitch; /* screw: metres per turn */
    sim_inertia inertia;
} sim_body;

typedef struct sim_dof {
    int body;
    int parent;      /* the dof next nearer the root on the path to the world; -1 at the root */
    int depth;       /* dofs on the path from the root, this one included */
    bool turns;      /* the motion axis has an angular part */
    bool slides;     /* the motion axis has a linear part */
    int run;         /* dofs (own index - run .. own index] each follow on the one before on the path from the root */
    ptrdiff_t row;   /* where its row starts in a branch-sparse matrix (sim_crba) */
    double armature; /* rotor inertia: kg m^2 or kg */
    double damping;  /* N m s or N s/m */
    double stiffness;
    double rest; /* coordinate at which the spring is slack (ball joints: the identity; free ones: q_reference) */
    /* of hinges, sliders, ball and free joints: force -(stiffness x + spring[0] x^2 + spring[1] x^3), x = q - rest; of
     * ball and free joints along the vector x, x its length: rotation vector or way, three dofs together */
    double spring[2];
    double damper[2]; /* of these: force -(damping v + damper[0] |v| v + damper[1] v^3) */
    int coordinate;   /* whose rate this velocity is; -1: that of no coordinate alone (orientations) */
    sim_limit limit;
    double friction;       /* dry: N m or N */
    double velocity_limit; /* rad/s or m/s, in both directions; infinity: none */
    /* N m or N: of the sum of the efforts of several actuators on its joint, low <= 0 <= high; infinite: none */
    double effort_range[2];
} sim_dof;

/* Rows that a dof may have in a contact problem, and the places of their impulses. They are the ends of its range, each
 * away from its end, dry friction and velocity limit, along the dof. */
enum { SIM_ROW_LOW, SIM_ROW_HIGH, SIM_ROW_FRICTION, SIM_ROW_SPEED, SIM_JOINT_ROWS };

typedef struct sim_tree {
    int body0, nbody; /* bodies [body0, body0 + nbody) */
    int v0, nv;
    int q0, nq;
} sim_tree;

#ifdef __cplusplus
}
#endif
#endif
