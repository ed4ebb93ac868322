/* Nodes, faces and edges of the surfaces of all soft bodies that touch, their normals and neighbours. */
#ifndef COLLIDE_SKIN_SURFACE_H
#define COLLIDE_SKIN_SURFACE_H

#include "base/pool.h"
#include "collide/broadphase/filter.h"
#include "collide/skin/element.h"

/* Of one soft body. */
typedef struct skin_edges {
    int first_face;    /* elements of its faces begin here */
    int *of_face;      /* [3 nface] the element of the edge that a corner begins */
    int *first, *list; /* [nnode + 1]: tetrahedra of its nodes */
} skin_edges;

typedef struct skin_surfaces {
    const sim_model *model;
    const filter *filter;
    int count;             /* of elements; of each body its nodes, faces and edges in turn */
    skin_element *element; /* [count] */
    bool *moves;           /* [count] is a corner free? */
    int *shape;            /* [count] the sphere of its lowest free corner, or of its lowest one */
    int (*across)[2];      /* [count] of an edge the elements of its faces; -1: not two */
    int (*opposite)[2];    /* [count] ... and their third corners, as bodies */
    v3 *normal;            /* [count] outwards, of nodes and faces */
    int *element_of_body;  /* [nbody] of nodes */
    skin_edges *edges;     /* [nsoft] */
} skin_surfaces;

/* False without memory. */
bool surfaces_create(skin_surfaces *surfaces, const sim_model *model, const filter *allowed, memory_pool *pool);
/* Normals at these places. */
void surfaces_turn(skin_surfaces *surfaces, const sim_pose *pose);
/* A node and a face, or two edges, that may touch. */
bool surfaces_may_touch(const skin_surfaces *surfaces, int a, int b);

#endif
