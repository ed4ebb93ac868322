/* Soft bodies of a scene. */
#ifndef SCENE_SHAPE_SOFT_H
#define SCENE_SHAPE_SOFT_H

#include "model/builder/core/builder.h"
#include "scene/loader/loader.h"

/* After all rigid bodies. */
void build_soft(loader *l, entry *e, const body_data *b);

/* ---- nodes that rigid bodies hold ---- */

typedef struct held_node {
    int node, body; /* of the soft body; in the builder */
    sim_v3 point;   /* on that body */
    double stiffness, dissipation;
} held_node;

typedef struct attachment_plan {
    bool *held, *taken; /* [nnode] by a body that cannot move, rigidly; by any */
    int *holder;        /* [nnode] that body, of those held */
    held_node *list;    /* the others */
    int count;
} attachment_plan;

/* Chooses the nodes of each attachment.  In the work pool; false: it is wrong (reported). */
bool plan_attachments(loader *l, const entry *e, const soft_data *d, const sim_soft *s, attachment_plan *plan);
/* Once the body is there: its nodes are the bodies of the builder from `first` on. */
void add_attachments(loader *l, const attachment_plan *plan, int first);

/* Distances of the edges in inextensible layers, likewise. */
void add_layers(loader *l, const entry *e, const soft_data *d, const sim_soft *s, int first);

#endif
