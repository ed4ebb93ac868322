/* Constraints besides joints: tendons, and equalities between bodies. */
#ifndef SIM_CONSTRAINT_H
#define SIM_CONSTRAINT_H

#include <sim/base.h>
#include <sim/body.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tendons: massless strings with a length L(q), m, or for fixed ones in the units of their joints.
 *   fixed     L = sum of coefficient * coordinate over its joints
 *   spatial   the shortest way over its path: straight from site to site; over a sphere or cylinder between two sites
 *             where the straight line would enter it.  A side site outside this shape chooses the side; one inside
 *             leads the string through the shape.  A pulley ends a branch, and begins the next one, whose length counts
 *             by its divisor
 *
 * The string slides on sites and shapes without friction.  The force f along it acts on q as f dL/dq: f < 0 pulls. */
typedef enum sim_path_kind { SIM_PATH_SITE, SIM_PATH_AROUND, SIM_PATH_PULLEY, SIM_PATH_KINDS } sim_path_kind;

typedef struct sim_path_point {
    sim_path_kind kind;
    int site;       /* site: where it passes; around: the side site, -1: none */
    int shape;      /* around: of type sphere or cylinder, without its ends */
    double divisor; /* pulley: of the length that follows, > 0 */
} sim_path_point;

typedef struct sim_tendon_joint {
    int body, dof; /* dof of the model; in tendons given to the builder it counts within the joint of `body` */
    double coefficient;
} sim_tendon_joint;

typedef struct sim_tendon {
    const char *name; /* unique among tendons */
    int njoint;       /* fixed */
    const sim_tendon_joint *joint;
    int npoint; /* spatial */
    const sim_path_point *path;
    sim_limit limit;        /* of its length */
    double stiffness;       /* N/m */
    double damping;         /* N s/m */
    double spring[2];       /* force -(stiffness x + spring[0] x^2 + spring[1] x^3), x beyond the rest lengths */
    double damper[2];       /* force -(damping v + damper[0] |v| v + damper[1] v^3), v = dL/dt */
    double rest[2];         /* m: the spring is slack between these lengths; NAN: the length at q_reference */
    double friction;        /* dry: N */
    double armature;        /* kg: inertia against dL/dt */
    double effort_range[2]; /* N: of the forces of its actuators times their gears, summed; infinite: none */
    double width;           /* m, in pictures */
    float color[4];         /* as that of a shape */
    int tree[2];            /* trees that move it; -1: none.  Set by the builder, as ... */
    int moved_body[2];      /* ... a body that moves it, of each of them */
} sim_tendon;

/* Does it act by rows of a contact problem: range, spring, damper, dry friction, armature? */
SIM_API bool sim_tendon_acts(const sim_tendon *tendon);

/* Constraint between two bodies, besides joints.  `frame` is given in the body frames; body 0 is the world.
 *   weld       the two frames coincide
 *   connect    their origins do: a ball joint that closes a loop
 *   distance   their origins are `distance` apart: a massless rod
 *   coupling   q[0] = offset + ratio q[1] + higher[0] q[1]^2 + higher[1] q[1]^3 + higher[2] q[1]^4, coordinates of dofs
 *              of the two bodies' joints: a gear
 *   spring     a spring and damper between their origins, slack where these are `distance` apart
 *   tendon     as coupling, of the lengths of two tendons less those at q_reference; without a second: its length stays
 *              `offset` longer than that.  Its bodies are set by the builder */
typedef enum sim_equality_type {
    SIM_WELD,
    SIM_CONNECT,
    SIM_DISTANCE,
    SIM_COUPLING,
    SIM_SPRING_DAMPER,
    SIM_TENDON_COUPLING,
    SIM_EQUALITY_TYPES,
} sim_equality_type;

SIM_API const char *sim_equality_name(sim_equality_type type);
/* Rows that it takes in a contact problem. */
SIM_API int sim_equality_rows(sim_equality_type type);

typedef struct sim_equality {
    const char *name;
    sim_equality_type type;
    int body[2];
    sim_pose frame[2]; /* connect, distance, spring: their origins alone */
    double distance;
    int dof[2];    /* coupling */
    int tendon[2]; /* tendon; second -1: none */
    double offset, ratio, higher[3];
    double stiffness;   /* N/m (N m/rad); infinity is rigid, but no spring */
    double dissipation; /* s; all but springs */
    double damping;     /* N s/m, springs */
    bool off;           /* it does not act until sim_world_switch */
} sim_equality;

/* Does a constraint between bodies act, and where?
 *   off    not at all
 *   on     with the frames, distance or offset of the model
 *   hold   with those of the moment in which it was switched: a grasp, a latch */
typedef enum sim_switch { SIM_SWITCH_OFF, SIM_SWITCH_ON, SIM_SWITCH_HOLD, SIM_SWITCHES } sim_switch;

#ifdef __cplusplus
}
#endif
#endif
