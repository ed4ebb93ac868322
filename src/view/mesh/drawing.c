/* Shared surfaces of shapes.  A ball is the unit ball scaled, a box the unit cube; of capsules those of one slenderness
 * are one; of geometries those of equal content. */
#include "view/mesh/drawing.h"

#include <stdlib.h>
#include <string.h>

/* A shape of unit size and the scale that makes it the given one, so that shapes of one kind share a mesh. */
static sim_shape unit_shape_of(const sim_shape *shape, double scale[3]) {
    const double *s = shape->size;
    sim_shape base = {.type = shape->type, .geometry = shape->geometry};
    scale[0] = scale[1] = scale[2] = 1;
    switch (shape->type) {
    case SIM_SPHERE:
        base.size[0] = 1;
        scale[0] = scale[1] = scale[2] = s[0];
        break;
    case SIM_ELLIPSOID:
        base.type = SIM_SPHERE;
        base.size[0] = 1;
        memcpy(scale, s, 3 * sizeof *scale);
        break;
    case SIM_BOX:
        base.size[0] = base.size[1] = base.size[2] = 1;
        memcpy(scale, s, 3 * sizeof *scale);
        break;
    case SIM_CYLINDER:
        base.size[0] = base.size[1] = 1;
        scale[0] = scale[1] = s[0];
        scale[2] = s[1];
        break;
    case SIM_CAPSULE:
        base.size[0] = 1;
        base.size[1] = s[1] / s[0];
        scale[0] = scale[1] = scale[2] = s[0];
        break;
    case SIM_HALF_SPACE:
    case SIM_CONVEX:
    case SIM_MESH:
    case SIM_HEIGHT_FIELD:
    case SIM_SDF:
    case SIM_SHAPE_TYPES:
        break;
    }
    return base;
}

static bool same_base(const sim_shape *a, const sim_shape *b) {
    int same_geometry =
        a->geometry == b->geometry || (a->geometry && b->geometry && a->geometry->type == b->geometry->type &&
                                       a->geometry->fingerprint == b->geometry->fingerprint);
    return a->type == b->type && same_geometry && memcmp(a->size, b->size, sizeof a->size) == 0;
}

bool view_drawing_plan(view_drawing *drawing, const sim_model *model) {
    /* memory */
    size_t count = (size_t)model->nshape + 1;
    drawing->base = calloc(count, sizeof *drawing->base);
    drawing->mesh_of = calloc(count, sizeof *drawing->mesh_of);
    drawing->scale = calloc(count, sizeof *drawing->scale);
    if (!drawing->base || !drawing->mesh_of || !drawing->scale) {
        return false;
    }
    /* shapes with the same base share its mesh */
    for (int k = 0; k < model->nshape; k++) {
        sim_shape base = unit_shape_of(&model->shape[k], drawing->scale[k]);
        int at = 0;
        if (base.type == SIM_HALF_SPACE || model->shape[k].hidden) {
            drawing->mesh_of[k] = -1;
            continue;
        }
        while (at < drawing->count && !same_base(&drawing->base[at], &base)) {
            at++;
        }
        drawing->mesh_of[k] = at;
        if (at == drawing->count) {
            drawing->base[drawing->count++] = base;
        }
    }
    return true;
}

void view_drawing_free(view_drawing *drawing) {
    free(drawing->base);
    free(drawing->mesh_of);
    free(drawing->scale);
}

int view_drawing_detail(int nshape) { return nshape > 2000 ? 16 : nshape > 300 ? 24 : 48; }
