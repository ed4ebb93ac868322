/* Scenes of shapes for tests of contact. */
#ifndef COLLIDE_SUPPORT_H
#define COLLIDE_SUPPORT_H

#include "collide/collision.h"
#include "support/models.h"

sim_shape sphere_shape(double radius);
sim_shape box_shape(double x, double y, double z);
sim_shape plain_shape(sim_shape_type type, double a, double b, double c);

/* A body with one shape: free (1 kg) or, `fixed`, part of the world. Its index. */
int add_solid(sim_builder *builder, const char *name, const sim_shape *shape, sim_v3 at, int fixed);
sim_model *finished(sim_builder *builder);

/* Boxes, balls and cylinders of 0.1 m in a cube of that edge, over a ground. */
sim_model *scattered_solids(random_source *r, int count, double spread);

sim_pose pose_at(double x, double y, double z);
sim_pose random_pose(random_source *r, double spread);

/* A collision and what it is shown: bodies where the model begins, at rest. */
typedef struct stage {
    sim_model *model;
    collision_stage *collision;
    sim_threads *threads;
    sim_pose *pose;
    sim_motion *velocity;
    double step;
    const sim_contact *contact;
    int count;
} stage;
stage stage_create(sim_model *model, double margin, int threads);
/* Contacts as they are now; `remember`: show it those of the call before. */
void stage_look(stage *s, int remember);
void stage_free(stage *s);
/* Contacts between two bodies, by name. */
int stage_contacts_of(const stage *s, const char *a, const char *b);

#endif
