/* Shapes that are drawn with sectors, which show their spin. */
#ifndef VIEW_MESH_SECTORS_H
#define VIEW_MESH_SECTORS_H

#include "view/mesh/mesh.h"

/* A surface that is about the same all around an axis. */
typedef struct view_round {
    int axis; /* 0 .. 2; -1: there is none */
    float centre[3];
} view_round;

typedef struct view_sectors {
    float strength;  /* how much darker every other one is, over twice the light; 0: there are none */
    float middle[3]; /* in the frame of the mesh */
    int changes[3];  /* where this coordinate passes the middle, one sector ends */
} view_sectors;

view_round view_round_find(const view_mesh *mesh);
view_sectors view_sectors_of(const sim_shape *shape, const double scale[3], const view_round *round);

#endif
