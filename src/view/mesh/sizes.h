/* Accuracy of drawing, relative to the size of moving bodies. */
#ifndef VIEW_MESH_SIZES_H
#define VIEW_MESH_SIZES_H

#include <sim/model.h>

typedef struct view_sizes {
    double *body; /* [nbody] radius about its origin; of those without shapes that of the scene's typical body */
    double typical;
    double force; /* N: the weight of the mean body; of a model without mass or gravity 1 */
} view_sizes;

/* false: no memory. */
bool view_sizes_find(view_sizes *sizes, const sim_model *model);
void view_sizes_free(view_sizes *sizes);

/* Steps of positions, as a fraction of the radius: 1/20 of a pixel where the body is 200 pixels wide. */
static const double VIEW_FINENESS = 1.0 / 4096;

#endif
