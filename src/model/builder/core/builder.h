/* State of the builder: the parts of a model before they are ordered and frozen. */
#ifndef MODEL_BUILDER_CORE_BUILDER_H
#define MODEL_BUILDER_CORE_BUILDER_H

#include "base/pool.h"
#include <sim/model.h>

#include <math.h>

typedef struct joint_target {
    int body, dof; /* builder's body index, dof within its joint (or -1) */
} joint_target;

struct sim_builder {
    memory_pool *pool; /* names and tracks */
    sim_error error;
    sim_v3 gravity;
    sim_fluid fluid;

    int nbody, nshape, nmaterial, npair, nexclusion, ngeometry, nactuator, nhistory, nload, nequality, nsite, nkeyframe,
        njoint_state, ntendon, nsensor, ndrive, ndrag, nsoft;
    int body_room, shape_room, material_room, pair_room, exclusion_room, geometry_room, actuator_room, load_room,
        equality_room, site_room, keyframe_room, joint_state_room, tendon_room, sensor_room, drive_room, drag_room,
        soft_room;
    sim_body_def *body; /* [0] is the world */
    sim_shape *shape;
    sim_material *material;
    sim_material_pair *pair;
    sim_exclusion *exclusion;
    sim_geometry **geometry; /* owned until the model takes them over */
    sim_actuator *actuator;
    joint_target *actuator_target;
    sim_load *load;
    joint_target *load_target;
    sim_equality *equality; /* its dofs count within the joints */
    sim_site *site;
    sim_tendon *tendon;           /* its trees are those that begin with these bodies */
    sim_sensor *sensor;           /* dofs count within the joints */
    sim_keyframe *keyframe;       /* their states stand in `joint_state` */
    sim_joint_state *joint_state; /* of all keyframes, in the order of the calls */
    int *state_keyframe;          /* [njoint_state] whose it is */
    sim_drag *drag;
    sim_soft *soft;            /* their bodies are the builder's */
    sim_actuator_state *drive; /* of all keyframes, in the order of the calls */
    int *drive_keyframe;       /* [ndrive] whose it is; -1: of the initial state */
    int start;                 /* 1 + a keyframe; 0: the states of the bodies */
    int *tied, tied_room; /* [tied_room] the child of the world with which one is tied, or itself; NULL: none are */
};

/* For the files that add parts.  All keep the first error in the builder, and return its status.  Room for one more
 * item; is there such a body, or such a dof in its joint? */
SIM_PRINTF(3, 4) sim_status builder_refuse(sim_builder *b, sim_status status, const char *format, ...);
sim_status builder_grow(sim_builder *b, void **items, int count, int *room, size_t size);
/* Gives every rigid solid the triangles by which it meets soft ones, if the model has any. */
sim_status builder_add_facets(sim_builder *b);
/* Pose of a body in the world, as the coordinates of the joints are at the start. */
sim_pose builder_start_pose(const sim_builder *b, int body);
sim_status builder_check_body(sim_builder *b, int body, const char *what);
sim_status builder_check_dof(sim_builder *b, int body, int dof, const char *what);
/* Cuts a range of forces to one of efforts behind the gear; false: nothing is left. */
static inline bool builder_bound_force(const double *effort, double gear, double *bounds) {
    double a = effort[0] / gear, b = effort[1] / gear;
    bounds[0] = fmax(fmin(a, b), bounds[0]);
    bounds[1] = fmin(fmax(a, b), bounds[1]);
    return bounds[0] < bounds[1];
}
/* Trees of soft bodies, and sensors of the bodies that hold them (soft.c). */
void builder_check_softs(sim_builder *b);
bool builder_proper_pose(const sim_pose *pose);
/* No delay, or one with room for its steps. */
bool builder_proper_delay(double delay, int steps);
/* Scales the quaternion in `q` of a body's joint, if it has one; all zero means no rotation. */
sim_status builder_normalise_quaternion(sim_builder *b, sim_body_def *def);
/* ---- tree.c ---- */
/* A tree is that of a child of the world, or of several that are tied: of all of these the same one. */
int builder_tree(const sim_builder *b, int root);
/* Is `body` the other one, or below it on the way to the world? */
bool builder_carries(const sim_builder *b, int body, int other);
/* Makes the trees of two children of the world one. */
sim_status builder_tie_trees(sim_builder *b, int root, int other);
/* Adds the tree that moves a body, if any does, to a list of two; a third one ties all three. */
sim_status builder_add_tree(sim_builder *b, int body, int *tree, int *moved_body);
/* Puts the children of the world so that those of one tree are neighbours; false: no memory. */
bool builder_gather_trees(const sim_builder *b, int *child, int count);
/* Checks a track of `width` values and copies it to the pool; `what` is its name in messages. */
sim_status builder_copy_track(sim_builder *b, sim_track *track, int width, const char *what);

/* Depth-first order: order[new] = old. */
sim_model *freeze_model(const sim_builder *builder, const int *order, sim_error *error);

#endif
