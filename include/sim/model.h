/* The model: bodies, joints, shapes, actuators.  Built once, then constant; worlds and threads may share it.
 *
 * A kinematic forest.  Body 0 is the world; every other body has a parent and a joint to it.  Bodies are numbered depth
 * first: a parent before its children, a subtree and a tree (a child of the world with all below it) in one run.  Dofs
 * are in the order of their bodies.
 *
 * Long: the whole model is declared in one place. */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include <sim/base.h>
#include <sim/geometry.h>
#include <sim/math.h>
#include <stddef.h>
#include <stdint.h>

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
    double rest;    /* coordinate at which the spring is slack (ball joints: the identity) */
    int coordinate; /* whose rate this velocity is; -1: that of no coordinate alone (orientations) */
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

/* Shapes. `size`: sphere r; box full edges x y z; capsule r, length of the straight part (axis z); cylinder r, length
 * (axis z); ellipsoid semi-axes.  A half-space (solid below its local z = 0) has none; nor have the others: their
 * `geometry` says it all (convex: a hull; mesh; height field: heights; sdf: a field). */
typedef enum sim_shape_type {
    SIM_SPHERE,
    SIM_BOX,
    SIM_CAPSULE,
    SIM_CYLINDER,
    SIM_ELLIPSOID,
    SIM_HALF_SPACE,
    SIM_CONVEX,
    SIM_MESH,
    SIM_HEIGHT_FIELD,
    SIM_SDF,
    SIM_SHAPE_TYPES,
} sim_shape_type;

SIM_API const char *sim_shape_name(sim_shape_type type);
/* The kind of geometry that a type of shape needs; SIM_GEOMETRY_TYPES for none. */
SIM_API sim_geometry_type sim_shape_geometry(sim_shape_type type);

typedef struct sim_shape {
    const char *name; /* may be NULL */
    int body;
    sim_shape_type type;
    double size[3];
    const sim_geometry *geometry; /* result of sim_builder_add_geometry; NULL for types that need none */
    sim_pose pose;                /* in the body frame */
    int material;
    float color[4];       /* red, green, blue, opacity, 0 .. 1; red negative: none was given, and pictures choose one */
    uint32_t group, mask; /* two shapes touch if each one's mask has a bit of the other's group */
    bool hidden;          /* pictures leave it out */
    /* m/s over the body, in its axes: of a conveyor's belt.  Its part along the contact plane counts */
    sim_v3 surface_velocity;
    sim_v3 surface_spin; /* rad/s: its angular velocity about the origin of the shape, in the body's axes */
    sim_v3
        friction_direction; /* in its own frame, of any length: that of the material's `friction`; zero: its x axis */
    /* A soft solid: its tetrahedra (sim_shape_pressure), with the modulus of its material, Pa.  NULL: it is rigid but
     * for the stiffness of its material. */
    const sim_geometry *pressure;
    double modulus;
    const sim_geometry *facets; /* triangles by which a rigid solid meets soft ones (sim_shape_facets); or NULL */
} sim_shape;

/* The pressure field of a closed solid, and the surface by which rigid ones meet soft ones.  Edges are of about `edge`
 * at most, m (0: a third of the solid's radius, less where a solid that is not convex needs it).  The builder makes the
 * facets where a model needs them. */
SIM_API sim_geometry *sim_shape_pressure(const sim_shape *shape, double edge, sim_error *error);
SIM_API sim_geometry *sim_shape_facets(const sim_shape *shape, double edge, sim_error *error);

/* Nodes and tetrahedra of a closed solid, in its frame; edges are of about `edge`, m (0: a third of its radius, of a box
 * half its least edge).  sim_soft_mesh_free frees both arrays. */
typedef struct sim_soft_mesh {
    int nnode, ntet;
    sim_v3 *node;
    int (*tet)[4];
} sim_soft_mesh;

SIM_API sim_status sim_shape_soft_mesh(const sim_shape *shape, double edge, sim_soft_mesh *mesh, sim_error *error);
/* The same of a tube about z; `inner` is the radius of its bore, m. */
SIM_API sim_status sim_tube_soft_mesh(double radius, double inner, double length, double edge, sim_soft_mesh *mesh,
                                      sim_error *error);
/* Of a Gmsh file (.msh, ASCII, 2.2 or 4.1) or TetGen's .node and .ele, of which either may be named. */
SIM_API sim_status sim_soft_mesh_read(const char *path, sim_v3 scale, sim_soft_mesh *mesh, sim_error *error);
SIM_API void sim_soft_mesh_free(sim_soft_mesh *mesh);

/* Mass properties of the shape as a solid of constant density, in its own frame.  Surfaces without a volume
 * (half-space, height field, open mesh) have mass 0. */
SIM_API sim_inertia sim_shape_inertia(const sim_shape *shape, double density);

/* A named frame on a body. */
typedef struct sim_site {
    const char *name; /* unique among sites */
    int body;
    sim_pose pose; /* in the body frame */
} sim_site;

/* State of one joint in a keyframe. */
typedef struct sim_joint_state {
    int body;
    bool has_q, has_v; /* the others are those of the initial state */
    double q[SIM_MAX_JOINT_NQ], v[SIM_MAX_JOINT_NV];
} sim_joint_state;

/* Inputs of one actuator in a keyframe; NAN: as in the initial state. */
typedef struct sim_actuator_state {
    int actuator;
    double ctrl;       /* in place of its track, as if a program had set it */
    double activation; /* of actuators that have one */
} sim_actuator_state;

/* A named state at which a world can start: the initial state, but for the joints and actuators that it lists. */
typedef struct sim_keyframe {
    const char *name; /* unique among keyframes */
    double time;      /* s */
    int nstate, ndrive;
    const sim_joint_state *state;    /* later ones replace earlier ones */
    const sim_actuator_state *drive; /* these, too */
} sim_keyframe;

/* Sensors.  States are those at the end of a step; forces and accelerations are means over the step (docs/sensors.md).
 * A frame stands on `body`; `reference` is another, in whose axes and relative to whose motion frame_* are given.
 *
 *   joint_position, joint_velocity     of a dof with a coordinate of its own
 *   joint_effort                       sum of gear times force of the actuators on a dof
 *   actuator_force                     force of one actuator
 *   ball_orientation                   quaternion (w x y z) of a ball joint
 *   force, torque                      that the parent exerts on the body across its joint: at and in axes of the frame
 *   touch                              sum of normal contact forces on the body, within `radius` of the frame's origin
 *   accelerometer                      acceleration less gravity, in axes of the frame
 *   gyro, velocimeter                  angular velocity, velocity of the origin, in axes of the frame
 *   frame_position, frame_orientation  pose of the frame in the reference
 *   frame_velocity, ...                rates of these, and their rates
 *   tendon_length, tendon_velocity     of a tendon, its rate
 *   rangefinder                        distance to the nearest shape of another body along z of the frame, up to
 *                                      `range`; -1: there is none
 *   center_of_mass                     of the body with all that hangs on it
 *   momentum                           of these: angular, about their centre of mass; linear */
typedef enum sim_sensor_type {
    SIM_SENSE_JOINT_POSITION,
    SIM_SENSE_JOINT_VELOCITY,
    SIM_SENSE_JOINT_EFFORT,
    SIM_SENSE_ACTUATOR_FORCE,
    SIM_SENSE_BALL_ORIENTATION,
    SIM_SENSE_FORCE,
    SIM_SENSE_TORQUE,
    SIM_SENSE_TOUCH,
    SIM_SENSE_ACCELEROMETER,
    SIM_SENSE_GYRO,
    SIM_SENSE_VELOCIMETER,
    SIM_SENSE_FRAME_POSITION,
    SIM_SENSE_FRAME_ORIENTATION,
    SIM_SENSE_FRAME_VELOCITY,
    SIM_SENSE_FRAME_ANGULAR_VELOCITY,
    SIM_SENSE_FRAME_ACCELERATION,
    SIM_SENSE_FRAME_ANGULAR_ACCELERATION,
    SIM_SENSE_TENDON_LENGTH,
    SIM_SENSE_TENDON_VELOCITY,
    SIM_SENSE_RANGEFINDER,
    SIM_SENSE_CENTER_OF_MASS,
    SIM_SENSE_MOMENTUM,
    SIM_SENSOR_TYPES,
} sim_sensor_type;

SIM_API const char *sim_sensor_name(sim_sensor_type type);
/* Numbers that it reads. */
SIM_API int sim_sensor_values(sim_sensor_type type);

typedef struct sim_sensor {
    const char *name; /* unique among sensors */
    sim_sensor_type type;
    int body;
    sim_pose frame; /* in the body frame */
    int reference;  /* a body; 0 is the world */
    sim_pose reference_frame;
    int dof;       /* joint_* */
    int actuator;  /* actuator_force */
    int tendon;    /* tendon_* */
    double radius; /* m, touch; infinity: the whole body */
    double range;  /* m, rangefinder */
    int first;     /* of its values among those of all sensors */
} sim_sensor;

/* Two bodies whose shapes never touch; first < second. */
typedef struct sim_exclusion {
    int first, second;
} sim_exclusion;

/* Surface of a shape.  Of two materials together, unless a pair says otherwise:
 *   friction     sqrt(mu1 mu2)
 *   stiffness    1 / (1/k1 + 1/k2): springs in series
 *   dissipation  (tau1/k1 + tau2/k2) / (1/k1 + 1/k2): the softer one's counts more; of two rigid ones the greater
 *                (with a modulus: by moduli in place of stiffnesses)
 *   restitution, torsion, rolling, adhesion   the greater
 *
 * Friction that depends on direction has the ellipsoid of semi-axes (friction, friction_across, friction_across) about
 * the `friction_direction` of the shape.  A contact has its section with the contact plane.  Of two sections the axes
 * are those of the one further from a circle. */
typedef struct sim_material {
    const char *name;
    double friction;        /* Coulomb coefficient, that along the shape's friction_direction */
    double friction_across; /* across it; 0: the same */
    double stiffness;       /* N/m; infinity is rigid */
    double modulus;         /* Pa, of soft solids (sim_shape.pressure): pressure at their medial set; else 0 */
    double dissipation;     /* s */
    double restitution;
    double torsion;        /* m: moment about the normal over normal force */
    double rolling;        /* m: moment about axes in the contact plane over normal force */
    double adhesion;       /* N: pull at every contact point, up to a gap of `adhesion_range` */
    double adhesion_range; /* m */
} sim_material;

/* Contact parameters of two materials, in place of those combined from both. */
typedef struct sim_material_pair {
    int first, second;
    double friction, stiffness, dissipation, restitution; /* NAN: combined from both */
    double torsion, rolling, adhesion, adhesion_range;    /* likewise */
    bool directed; /* of two materials together: does friction depend on direction? */
} sim_material_pair;

/* A value over time, between keys: `hold` keeps the last key's value; the others go from key to key. `cubic` rests at
 * the keys, `quintic` also without acceleration there; `spline` passes with continuous acceleration, at rest at the
 * first and the last.  Before the first key and after the last the value stays. */
typedef enum sim_interpolation { SIM_HOLD, SIM_LINEAR, SIM_CUBIC, SIM_QUINTIC, SIM_SPLINE } sim_interpolation;

/* One step of a formula: sim_formula_parse makes them. */
typedef struct sim_term {
    double number;
    int64_t op;
} sim_term;

/* By keys, or by a formula of time. */
typedef struct sim_track {
    sim_interpolation interpolation;
    int keys, width;      /* `width` values at each key */
    const double *times;  /* [keys], increasing */
    const double *values; /* [keys x width] */
    const double *rates;  /* [keys x width] of a spline in a model, 1/s; given to the builder, NULL: found there */
    int terms;            /* of a formula that leaves `width` values; 0: by keys */
    const sim_term *term;
} sim_track;

/* Keys or terms are there. */
SIM_API bool sim_track_given(const sim_track *track);
/* Value and rate of a track. Either output may be NULL.  Rates are exact: the derivative of the value, to rounding. */
SIM_API void sim_track_at(const sim_track *track, double time, double *value, double *rate);

/* A formula of time: numbers, t (s), pi, + - * / ^ ( ), comparisons (1 or 0), and functions. Of one value: sin cos tan
 * asin acos atan tanh exp log sqrt abs step ramp. Of two: atan2 min max mod. Of three: smooth(x, from, to),
 * if(condition, then, else).
 *
 * Writes at most `room` terms and their number; they leave one value.  One formula's terms behind another's leave two.
 * A mistake is told with its place in the text, in bytes. */
SIM_API sim_status sim_formula_parse(const char *text, sim_term *term, int room, int *terms, int *wrong_at,
                                     sim_error *error);

/* Dynamics of an activation w between the control input and the force, solved exactly over a step:
 *   integrator   w' = ctrl
 *   filter       w' = (ctrl - w) / time_constant[0]
 *   muscle       w' = (ctrl - w) / T, T = time_constant[0] (0.5 + 1.5 w) while w rises to the control input,
 *                time_constant[1] / (0.5 + 1.5 w) while it falls (Millard et al. 2013, eqs. 1-2)
 * Inputs of `muscle` are clamped to 0 .. 1. */
typedef enum sim_activation_type {
    SIM_NO_ACTIVATION,
    SIM_INTEGRATED,
    SIM_FILTERED,
    SIM_MUSCULAR,
    SIM_ACTIVATIONS,
} sim_activation_type;

SIM_API const char *sim_activation_name(sim_activation_type type);

typedef struct sim_activation {
    sim_activation_type type;
    double time_constant[2]; /* s */
    double range[2];         /* low, high, at which w stays; may be infinite */
    double initial;
} sim_activation;

/* w after the time dt under a constant control input. */
SIM_API double sim_activation_after(const sim_activation *activation, double ctrl, double w, double dt);

/* Muscle: a force -force (w FL(L) FV(V) + FP(L)) in place of gain ctrl + bias, w the activation or the control input
 * (src/model/parts/muscle.c). */
typedef struct sim_muscle {
    double force;           /* N: peak force at rest; 0: the actuator is no muscle */
    double length_range[2]; /* m or rad: of the actuator, which are ... */
    double range[2];        /* ... these lengths L, as parts of the muscle's resting length */
    double lmin, lmax;      /* L at which the active force ends */
    double vmax;            /* 1/s: velocity of shortening without force, in resting lengths */
    double fpmax, fvmax;    /* parts of `force`: passive at lmax; active where it lengthens fast */
} sim_muscle;

/* Range 0.75 to 1.05, lmin 0.5, lmax 1.6, vmax 1.5, fpmax 1.3, fvmax 1.2, without force and lengths. */
SIM_API sim_muscle sim_muscle_default(void);
/* Its force, and the slopes over length and rate (NULL: not wanted). */
SIM_API double sim_muscle_force(const sim_muscle *muscle, double activation, double length, double rate,
                                double slope[2]);

/* Transmission of an actuator, from which its length follows (src/dyn/motion/transmission.c):
 *   joint          a dof: l = gear q
 *   site           the wrench `wrench` (force, torque) at a site, in its axes: l = 0; with a reference site, along the
 *                  axes of that and back on its body: l = wrench . the pose of the site in the reference
 *   slider-crank   a rod from a site on a crank to axis z of a site: l = gear times where it meets that axis
 *   tendon         l = gear times its length
 *   orientation    of a ball joint: l = wrench . log(q), torque along the body's axes; of a free joint: l = 0, force
 *                  along the axes of the joint, torque along the body's */
typedef enum sim_transmission {
    SIM_BY_JOINT,
    SIM_BY_SITE,
    SIM_BY_SLIDER_CRANK,
    SIM_BY_TENDON,
    SIM_BY_ORIENTATION,
    SIM_TRANSMISSIONS,
} sim_transmission;

/* Drive of a joint, of a site, or of a mechanism.  Its force f acts on all dofs with the moments dl/dq of its length:
 *
 *     f = clamp(kp (target - l) + kd (target rate - l') + feed-forward + gain(l, l') ctrl + bias(l, l'))
 *     gain = g0 + g1 l + g2 l',   bias = b0 + b1 l + b2 l'
 *
 * within +-effort and the range of forces.  With activation dynamics w stands in place of ctrl.  Control inputs are
 * clamped to their range.  Terms that pull back are kp, kd and the parts of gain ctrl + bias that fall with l or l'.
 * They are evaluated at the end of the step: implicit, so stiff gains are stable.  Parts that grow with l or l' are
 * evaluated at its start.  Feed-forward and control inputs act like loads, those of drives with feedback like targets,
 * at the end. */
typedef struct sim_actuator {
    const char *name;
    sim_transmission transmission;
    int tree;                  /* that it moves; found by the builder */
    int dof;                   /* of a joint; -1: another transmission */
    int site[2];               /* site and reference (-1: none); crank and slider */
    int body;                  /* of an orientation: that the joint carries; found by the builder */
    double wrench[6];          /* gear of a site or orientation: force x y z, torque x y z */
    double rod;                /* m: of a slider-crank */
    int tendon;                /* of a tendon */
    double gear;               /* not 0 */
    double kp, kd;             /* force per length and rate */
    double effort;             /* infinity: no limit */
    double force_range[2];     /* low, high: both finite, or infinite; in a model, the intersection with +-effort, and
                                  of a dof's only actuator with its range of efforts */
    bool gravity_compensation; /* add the torque that holds the tree against gravity */
    sim_track target;          /* width 1: the length */
    sim_track feedforward;     /* width 1: N m or N; keys = 0: none */
    sim_track ctrl;            /* width 1: control input; keys = 0: zero */
    double ctrl_range[2];      /* low, high; may be infinite */
    double gain[3], bias[3];
    sim_activation activation;
    sim_muscle muscle;
} sim_actuator;

/* A wrench on a body, or a generalised force on a dof, over time. */
typedef struct sim_load {
    const char *name;
    int body;        /* -1 when on a dof */
    int dof;         /* -1 when on a body */
    sim_v3 point;    /* where it acts, in the body frame */
    bool local;      /* components in body axes instead of world axes */
    sim_track track; /* width 6: moment, force; or width 1 on a dof */
} sim_load;

/* The fluid that bodies move in: it resists, and does not lift by its weight. */
typedef struct sim_fluid {
    double density;   /* kg/m^3 */
    double viscosity; /* Pa s */
    sim_v3 wind;      /* m/s: its velocity in the world */
} sim_fluid;

/* Resistance of a body in the fluid: that of a box, or of an ellipsoid with lift (src/model/parts/drag.c).  A body may
 * have several.  Without any it has that of the box of its mass and inertia; SIM_DRAG_NONE in place of it: none. */
typedef enum sim_drag_type { SIM_DRAG_NONE, SIM_DRAG_BOX, SIM_DRAG_ELLIPSOID, SIM_DRAG_TYPES } sim_drag_type;

SIM_API const char *sim_drag_name(sim_drag_type type);

typedef struct sim_drag {
    int body;
    sim_drag_type type;
    sim_pose pose;                                 /* of its centre and axes in the body frame */
    double size[3];                                /* m: full edges of a box, semi-axes of an ellipsoid */
    double blunt, slender, angular, kutta, magnus; /* coefficients of an ellipsoid */
    double added_mass[3], added_inertia[3];        /* of an ellipsoid over the density, m^3, m^5: sim_drag_complete */
} sim_drag;

/* Of no type, at the body's origin, with the coefficients 0.5, 0.25, 1.5, 1, 1. */
SIM_API sim_drag sim_drag_default(void);
/* The box with this mass and inertia. */
SIM_API sim_drag sim_drag_of_inertia(const sim_inertia *inertia);
/* Finds the added mass. */
SIM_API void sim_drag_complete(sim_drag *drag);
/* Moment and force at its centre, for its velocity over the fluid there, all in its axes; how fast each component falls
 * with that of the velocity, without lift (NULL: not wanted). */
SIM_API sim_force sim_drag_force(const sim_drag *drag, const sim_fluid *fluid, sim_motion velocity, double slope[6]);

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
    sim_limit limit;   /* of its length */
    double stiffness;  /* N/m */
    double damping;    /* N s/m */
    double rest[2];    /* m: the spring is slack between these lengths; NAN: the length at q_reference */
    double friction;   /* dry: N */
    double armature;   /* kg: inertia against dL/dt */
    double width;      /* m, in pictures */
    float color[4];    /* as that of a shape */
    int tree[2];       /* trees that move it; -1: none.  Set by the builder, as ... */
    int moved_body[2]; /* ... a body that moves it, of each of them */
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

/* Controllers lead actuators of joints, step by step (docs/control.md).  An actuator has one at most: its gains are
 * those of the controller, and its own target counts no more.
 *
 *   joint impedance   kp, kd and compensation of gravity; targets of all joints by one track
 *   task impedance    a frame is pulled towards a pose, as by springs and dampers; a posture is held beside it
 *   gripper           a force, and damping
 *   phases            a state machine: targets for other controllers, constraints switched, what comes next */
typedef enum sim_controller_type {
    SIM_JOINT_IMPEDANCE,
    SIM_TASK_IMPEDANCE,
    SIM_GRIPPER,
    SIM_PHASES,
    SIM_CONTROLLER_TYPES,
} sim_controller_type;

SIM_API const char *sim_controller_name(sim_controller_type type);

/* Where a phase leads a controller: to a place, or along a track.  The difference from where it is led when the phase
 * begins fades smoothly within the duration. */
typedef struct sim_target {
    int controller;
    double duration;     /* s */
    sim_pose pose;       /* of a task impedance */
    const double *value; /* [nactuator] of the others: lengths of the actuators, forces */
    sim_track track;     /* if given, in place of both: as the controller's own, but times count from its phase on */
    int npose;
    const sim_pose *way; /* [npose] of a task impedance on a track */
} sim_target;

/* Quantities that conditions of phases compare:
 *   elapsed    time since the phase began, s
 *   time       of the simulation, s
 *   reading    value `first` of all sensors
 *   distance   between the sites `first` and `second`, m
 *   contact    1 if the bodies `first` and `second` (-1: any other) press on each other, else 0 */
typedef enum sim_quantity {
    SIM_ELAPSED,
    SIM_TIME_PASSED,
    SIM_READING,
    SIM_SITE_DISTANCE,
    SIM_PRESSED,
    SIM_QUANTITIES,
} sim_quantity;

/* It holds where low <= quantity <= high. */
typedef struct sim_condition {
    sim_quantity quantity;
    int first, second;
    double low, high;
} sim_condition;

/* To another phase, once all conditions hold. */
typedef struct sim_transition {
    int to, ncondition;
    const sim_condition *condition;
} sim_transition;

typedef struct sim_phase_switch {
    int equality;
    sim_switch to;
} sim_phase_switch;

typedef struct sim_phase {
    const char *name;
    int ntarget, nswitch, ntransition;
    const sim_target *target; /* where it begins */
    const sim_phase_switch *change;
    const sim_transition *transition; /* the first whose conditions hold counts */
} sim_phase;

typedef struct sim_controller {
    const char *name; /* unique among controllers */
    sim_controller_type type;
    int nactuator; /* of joints: joint impedance and gripper all that it leads; task impedance those between ... */
    const int *actuator;               /* ... the site and the world */
    const double *stiffness, *damping; /* [nactuator] joint impedance; gripper: damping alone */
    bool gravity_compensation;         /* joint impedance */
    /* joint impedance, gripper: width nactuator, lengths or forces; task impedance: width 1, places in the list of poses:
     * 1.5 is halfway from pose[1] to pose[2].  Not given: what the controller finds at the first step; no force */
    sim_track target;
    int npose;
    const sim_pose *pose;     /* task impedance, in the world */
    int site;                 /* task impedance: the frame */
    double task_stiffness[6]; /* N/m along, N m/rad about the axes of the world */
    double damping_ratio;     /* of its free motion */
    double posture_rate;      /* rad/s: of the return to the posture where the pose leaves it free, damped critically */
    const double *posture;    /* [nactuator] coordinates of the joints; NULL: those at the start of the model */
    int nphase;
    const sim_phase *phase;
    int first; /* of its numbers in sim_state.control */
} sim_controller;

/* Events: moments at which a quantity g passes from below 0 to 0 or above (docs/control.md).
 *   leaves box    g = how far the point is outside the box low .. high, m
 *   begins        two bodies press on each other (second -1: the first on any); time by gap and closing speed
 *   breaks        they no longer do; time by the decay of their impulse
 *   energy below  g = level - energy, J: kinetic, or kinetic and potential (first = 1)
 *   above, below  g = reading - level, or its opposite, of value `first` of all sensors */
typedef enum sim_event_type {
    SIM_LEAVES_BOX,
    SIM_CONTACT_BEGINS,
    SIM_CONTACT_BREAKS,
    SIM_ENERGY_BELOW,
    SIM_READING_ABOVE,
    SIM_READING_BELOW,
    SIM_EVENT_TYPES,
} sim_event_type;

typedef struct sim_event {
    const char *name; /* unique among events */
    sim_event_type type;
    int first, second;
    sim_v3 point, low, high; /* of a box: the point in axes of the body `first`; corners in the world */
    double level;
    bool stop; /* a run ends with the step in which it happens */
} sim_event;

/* Elastic materials: stable Neo-Hookean and co-rotated linear elasticity (src/dyn/soft/elastic_law.c). */
typedef enum sim_soft_law { SIM_NEO_HOOKEAN, SIM_COROTATED, SIM_SOFT_LAWS } sim_soft_law;

SIM_API const char *sim_soft_law_name(sim_soft_law law);

/* A soft body: nodes with mass, joined by elastic tetrahedra.  Every node is a body; it hangs by a cartesian joint, or
 * where it is held by a fixed one, on a body that is fixed to the world.  All are one tree.  Coordinates of a node are
 * its place in the frame of that body. */
typedef struct sim_soft {
    const char *name;
    sim_pose pose; /* of that body in the world */
    int body;      /* that body; the nodes are the bodies after it.  Set by the builder, as ... */
    int nface;
    const int (*face)[3]; /* ... triangles of the surface, counterclockwise from outside */
    int nnode, ntet;
    const sim_v3 *node;  /* [nnode] at rest */
    const int (*tet)[4]; /* [ntet] nodes; in a model of positive volume at rest */
    const bool *held;    /* [nnode] NULL: none */
    sim_v3 v, w;         /* m/s and rad/s about the origin, initial, in the frame of the body */
    sim_soft_law law;
    double modulus, poisson; /* Pa: Young's; 0 <= Poisson's ratio < 1/2 */
    double density;          /* kg/m^3 */
    double dissipation;      /* s: viscosity over elasticity */
    /* m: nodes of the surface touch shapes as spheres of this radius, which the builder adds; 0: nothing touches */
    double thickness;
    int material;
    uint32_t group, mask; /* of these shapes */
    float color[4];       /* as that of a shape */
} sim_soft;

typedef struct sim_model {
    int nbody; /* the world included */
    int nq, nv, ntree, nshape, nmaterial, nmaterial_pair, nexclusion, ngeometry, nactuator, nload, nequality, nsite,
        nkeyframe, ntendon, nsensor, nsensor_value, ncontroller, ncontrol, nevent, ndrag, nsoft;
    ptrdiff_t nl; /* entries of a branch-sparse matrix: sum of dof depths */
    sim_v3 gravity;
    sim_fluid fluid;

    const sim_body *body;
    const sim_dof *dof;
    const sim_tree *tree;
    const sim_shape *shape;
    const sim_material *material;
    const sim_material_pair *material_pair;
    const sim_exclusion *exclusion; /* sorted, each once */
    sim_geometry *const *geometry;  /* owned */
    const sim_actuator *actuator;
    const sim_load *load;
    const sim_equality *equality;
    const sim_site *site;
    const sim_keyframe *keyframe;
    const sim_tendon *tendon;
    const sim_sensor *sensor;
    const sim_controller *controller;
    const sim_event *event;
    const sim_drag *drag; /* of moving bodies, in their order; none where the fluid has neither density nor viscosity */
    const sim_soft *soft;

    const sim_body_inertia *inertia;           /* [nbody] at the body's origin, body axes */
    const struct sim_joint_rotation *rotation; /* [nbody] constants of the kinematics, private */

    const double *q_initial;    /* [nq] */
    const double *v_initial;    /* [nv] */
    const double *ctrl_initial; /* [nactuator] control inputs, NAN: by their tracks */
    double time_initial;        /* s */
    const double
        *q_reference; /* [nq] q_initial without the keyframe at which it starts: what lengths at rest refer to */

    size_t bytes; /* memory held */
    void *memory;
} sim_model;

/* Building by hand.  Defaults first, then what differs:
 *
 *     sim_builder *builder = sim_builder_create();
 *     sim_body_def def = sim_body_default();
 *     def.joint = SIM_HINGE; def.inertia = ...;
 *     int arm = sim_builder_add_body(builder, &def);
 *     sim_model *model = sim_builder_finish(builder, &error);
 *
 * The builder keeps the first error, so only finish needs checking.  It copies names and tracks.  Returned indices are
 * for later calls to the builder; the finished model may number bodies otherwise (depth first): find them by name. */
typedef struct sim_builder sim_builder;

typedef struct sim_body_def {
    const char *name;       /* unique; NULL: body1, body2, ... */
    const char *joint_name; /* unique among joints and bodies; NULL: that of the body */
    int parent;             /* index from sim_builder_add_body; 0 is the world */
    sim_joint_type joint;
    sim_pose placement;
    sim_v3 axis, axis2; /* need not be normalised */
    double pitch;
    sim_inertia inertia;
    double armature[SIM_MAX_JOINT_NV];
    double damping[SIM_MAX_JOINT_NV];
    double stiffness[SIM_MAX_JOINT_NV];
    double rest[SIM_MAX_JOINT_NV];
    sim_limit limit[SIM_MAX_JOINT_NV];
    double friction[SIM_MAX_JOINT_NV];
    double velocity_limit[SIM_MAX_JOINT_NV];
    double effort_range[SIM_MAX_JOINT_NV][2]; /* of the efforts of its actuators, summed; infinite: none */
    double q[SIM_MAX_JOINT_NQ];               /* initial; quaternions are normalised */
    double v[SIM_MAX_JOINT_NV];
} sim_body_def;

/* Free joint at the origin at rest, axis z, axis2 x, no inertia, no limits. */
SIM_API sim_body_def sim_body_default(void);
/* No ends; rigid where they are given. */
SIM_API sim_limit sim_limit_default(void);
/* A rigid weld of the body frames of the world and itself, ratio 1. */
SIM_API sim_equality sim_equality_default(void);
/* Gear 1, gain 1, no limits. */
SIM_API sim_actuator sim_actuator_default(void);
SIM_API sim_shape sim_shape_default(void);
/* Without joints, path, limits or forces; slack at its initial length, 5 mm wide. */
SIM_API sim_tendon sim_tendon_default(void);
/* The whole body, identity frames, the world as reference, range 1e6 m. */
SIM_API sim_sensor sim_sensor_default(void);
SIM_API sim_material sim_material_default(void);
/* Neo-Hookean, at the origin at rest, 1000 kg/m^3, Poisson's ratio 0.4, without dissipation; no nodes, no modulus. */
SIM_API sim_soft sim_soft_default(void);

SIM_API sim_builder *sim_builder_create(void);
SIM_API void sim_builder_discard(sim_builder *builder);
SIM_API void sim_builder_gravity(sim_builder *builder, sim_v3 gravity);
/* Neither density nor viscosity unless this is called. */
SIM_API void sim_builder_fluid(sim_builder *builder, const sim_fluid *fluid);
SIM_API void sim_builder_add_drag(sim_builder *builder, const sim_drag *drag);
SIM_API int sim_builder_add_body(sim_builder *builder, const sim_body_def *def);
SIM_API int sim_builder_add_shape(sim_builder *builder, const sim_shape *shape);
SIM_API int sim_builder_add_site(sim_builder *builder, const sim_site *site);
/* A keyframe without states of joints; they follow, one by one: `q` or `v` may be NULL. */
SIM_API int sim_builder_add_keyframe(sim_builder *builder, const char *name, double time);
SIM_API void sim_builder_set_keyframe(sim_builder *builder, int keyframe, int body, const double *q, const double *v);
/* Inputs of an actuator in a keyframe, or in the initial state (keyframe -1); NAN: not given. */
SIM_API sim_status sim_builder_set_drive(sim_builder *builder, int keyframe, const sim_actuator_state *drive);
/* The model's initial state, and its time, are those of this keyframe. */
SIM_API void sim_builder_start_at(sim_builder *builder, int keyframe);
/* `dof` counts within the joint of `body`; `actuator` and `tendon` are indices of the builder, added before. */
SIM_API int sim_builder_add_sensor(sim_builder *builder, const sim_sensor *sensor);
SIM_API int sim_builder_add_material(sim_builder *builder, const sim_material *material);
SIM_API int sim_builder_add_material_pair(sim_builder *builder, const sim_material_pair *pair);
/* The shapes of the two bodies never touch. */
SIM_API int sim_builder_add_exclusion(sim_builder *builder, int first, int second);
/* The builder, then the model, owns the geometry from here on, even on failure.  Any number of shapes may use it. */
SIM_API const sim_geometry *sim_builder_add_geometry(sim_builder *builder, sim_geometry *geometry);
/* In actuators, loads, tendons and couplings given to the builder, `dof` counts within the joint of `body`: 0 is its
 * first. */
/* Of a site, slider-crank or tendon `body` is not read; sites and tendons are those that the builder was given. */
SIM_API int sim_builder_add_actuator(sim_builder *builder, int body, const sim_actuator *actuator);
SIM_API int sim_builder_add_load(sim_builder *builder, const sim_load *load, int body);
SIM_API int sim_builder_add_tendon(sim_builder *builder, const sim_tendon *tendon);
SIM_API int sim_builder_add_equality(sim_builder *builder, const sim_equality *equality);
/* Adds the bodies of a soft body, too: "NAME" and, for the nodes, "NAME/0" ...  Returns the index of the first. */
SIM_API int sim_builder_add_soft(sim_builder *builder, const sim_soft *soft);
/* Frees the builder.  NULL on failure. */
SIM_API sim_model *sim_builder_finish(sim_builder *builder, sim_error *error);
/* Of a model that no world uses yet: the shapes of these bodies never touch either. */
SIM_API sim_status sim_model_exclude(sim_model *model, const sim_exclusion *pairs, int count, sim_error *error);
/* Likewise: adds a controller, which is copied; all indices are those of the model.  Gains of its actuators change. */
SIM_API sim_status sim_model_add_controller(sim_model *model, const sim_controller *controller, sim_error *error);
/* And an event. */
SIM_API sim_status sim_model_add_event(sim_model *model, const sim_event *event, sim_error *error);
SIM_API void sim_model_free(sim_model *model);

/* Index of a body by name, or -1. */
SIM_API int sim_model_find_body(const sim_model *model, const char *name);
/* Body that a joint moves, by the name of the joint, or else by that of the body; -1: none. */
SIM_API int sim_model_find_joint(const sim_model *model, const char *name);

/* Index of a site by name, or -1. */
SIM_API int sim_model_find_site(const sim_model *model, const char *name);
/* Index of a keyframe by name, or -1; its state (-1: the initial one), q [nq] and v [nv]. */
SIM_API int sim_model_find_keyframe(const sim_model *model, const char *name);
SIM_API void sim_model_keyframe_state(const sim_model *model, int keyframe, double *q, double *v);
/* Its control inputs (NAN: by their tracks) and activations, [nactuator] each. */
SIM_API void sim_model_keyframe_drives(const sim_model *model, int keyframe, double *ctrl, double *activation);
/* Index of an actuator by name, or -1: the first of that name. */
SIM_API int sim_model_find_actuator(const sim_model *model, const char *name);
/* Index of a tendon by name, or -1. */
SIM_API int sim_model_find_tendon(const sim_model *model, const char *name);
/* Index of a constraint between bodies by name, or -1: the first of that name. */
SIM_API int sim_model_find_equality(const sim_model *model, const char *name);
/* Index of a controller by name, or -1. */
SIM_API int sim_model_find_controller(const sim_model *model, const char *name);
/* Index of an event by name, or -1. */
SIM_API int sim_model_find_event(const sim_model *model, const char *name);
/* Index of a sensor by name, or -1. */
SIM_API int sim_model_find_sensor(const sim_model *model, const char *name);
/* "imu.x" for a value of all sensors; its unit. */
SIM_API void sim_model_sensor_value_name(const sim_model *model, int value, char *text, size_t size);
SIM_API const char *sim_model_sensor_value_unit(const sim_model *model, int value);
/* "elbow" for a joint with one dof, "base.vx" ... for others.  Writes at most `size` bytes. */
SIM_API void sim_model_dof_name(const sim_model *model, int dof, char *text, size_t size);
SIM_API void sim_model_coordinate_name(const sim_model *model, int coordinate, char *text, size_t size);

/* Could a rigid body have this inertia?  Says why not, with numbers. */
SIM_API sim_status sim_inertia_check(const sim_inertia *inertia, sim_error *error);
/* Sum of two inertias given in one frame; the same inertia seen from a frame in which this one stands at `pose`. */
SIM_API sim_inertia sim_inertia_add(const sim_inertia *a, const sim_inertia *b);
SIM_API sim_inertia sim_inertia_placed(const sim_inertia *inertia, const sim_pose *pose);

/* Contact parameters of two materials: those of a pair that names both, else combined from both.  `first` and `second`
 * are those of the call; no value is NAN. */
SIM_API sim_material_pair sim_material_together(const sim_model *model, int first, int second);

#ifdef __cplusplus
}
#endif
#endif
