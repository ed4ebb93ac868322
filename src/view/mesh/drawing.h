/* Surfaces to draw, and the surface of each shape. */
#ifndef VIEW_MESH_DRAWING_H
#define VIEW_MESH_DRAWING_H

#include "view/mesh/mesh.h"

/* Shapes that differ in size alone share one surface: shape = scale (x) mesh. */
typedef struct view_drawing {
    int count;          /* surfaces */
    sim_shape *base;    /* [count] parts of the surface */
    int *mesh_of;       /* [nshape]; -1: a half-space, or not drawn */
    double (*scale)[3]; /* [nshape] */
} view_drawing;

/* false: no memory. */
bool view_drawing_plan(view_drawing *drawing, const sim_model *model);
void view_drawing_free(view_drawing *drawing);
/* Segments of a turn that so many shapes can have and still be drawn smoothly. */
int view_drawing_detail(int nshape);

#endif
