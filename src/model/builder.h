/* What the builder has been told, before it is put in order and frozen. */
#ifndef MODEL_BUILDER_H
#define MODEL_BUILDER_H

#include "base/pool.h"
#include <sim/model.h>

typedef struct joint_target {
    int body, dof; /* builder's body index, dof within its joint (or -1) */
} joint_target;

struct sim_builder {
    sim_pool *pool; /* names and tracks */
    sim_error error;
    sim_v3 gravity;

    int nbody, nshape, nmaterial, npair, nexclusion, ngeometry, nactuator, nload;
    int body_room, shape_room, material_room, pair_room, exclusion_room, geometry_room, actuator_room, load_room;
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
};

/* Depth-first order: order[new] = old. */
sim_model *sim_freeze(const sim_builder *builder, const int *order, sim_error *error);

#endif
