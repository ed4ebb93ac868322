/* Boxes around all that moves and all that stands still, over a run. */
#ifndef VIEW_MESH_EXTENT_H
#define VIEW_MESH_EXTENT_H

#include <sim/model.h>

/* Least and greatest corner, m; empty while the least exceeds the greatest. */
typedef struct view_extent {
    sim_v3 moving[2], still[2];
} view_extent;

view_extent view_extent_empty(void);
/* Shapes but half-spaces, and origins of bodies that move, where `body` places the bodies. */
void view_extent_add(view_extent *extent, const sim_model *model, const sim_pose *body);
/* Box of what moves; with `all`, or where nothing moves, of everything; a cube of 2 m where nothing is. */
void view_extent_box(const view_extent *extent, bool all, sim_v3 box[2]);
bool view_box_is_empty(const sim_v3 box[2]);
/* Height of the lowest point, m; infinite where nothing is. */
double view_extent_low(const view_extent *extent);

#endif
