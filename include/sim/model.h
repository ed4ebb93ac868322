/* The model: bodies, joints, shapes, actuators.  Built once, then constant; worlds and threads may share it.
 *
 * A kinematic forest.  Body 0 is the world; every other body has a parent and a joint to it.  Bodies are numbered depth
 * first: a parent before its children, a subtree and a tree in one run.  A tree is a child of the world with all below
 * it, or several that a tendon or an actuator ties.  Dofs are in the order of their bodies.
 *
 * Its parts have headers of their own, which this one includes. */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include <sim/actuator.h>
#include <sim/body.h>
#include <sim/constraint.h>
#include <sim/controller.h>
#include <sim/fluid.h>
#include <sim/sensor.h>
#include <sim/shape.h>
#include <sim/soft.h>
#include <sim/track.h>

#ifdef __cplusplus
extern "C" {
#endif

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

typedef struct sim_model {
    int nbody; /* the world included */
    int nq, nv, ntree, nshape, nmaterial, nmaterial_pair, nexclusion, ngeometry, nactuator, nload, nequality, nsite,
        nkeyframe, ntendon, nsensor, nsensor_value, nhistory, ncontroller, ncontrol, nevent, ndrag, nsoft;
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
    double spring[2], damper[2]; /* terms of the second and third degree: sim_dof */
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
/* Of a site, slider-crank or tendon `body` is not read; sites and tendons are those that the builder was given.  Of
 * contacts it is their body. */
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
