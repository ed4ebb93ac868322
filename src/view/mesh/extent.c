/* Extent of a run: boxes along the world's axes that grow frame by frame. */
#include "view/mesh/extent.h"

#include "collide/contact/bounds.h"
#include "math/v3.h"

#include <math.h>
#include <string.h>

view_extent view_extent_empty(void) {
    v3 most = v3_make(INFINITY, INFINITY, INFINITY);
    return (view_extent){{most, v3_neg(most)}, {most, v3_neg(most)}};
}

static void take_in(v3 box[2], v3 at) {
    box[0] = v3_make(fmin(box[0].x, at.x), fmin(box[0].y, at.y), fmin(box[0].z, at.z));
    box[1] = v3_make(fmax(box[1].x, at.x), fmax(box[1].y, at.y), fmax(box[1].z, at.z));
}

bool view_box_is_empty(const v3 box[2]) { return !(box[0].x <= box[1].x); }

static bool is_carried(const sim_model *model, int body) {
    while (body > 0 && model->body[body].nv == 0) {
        body = model->body[body].parent;
    }
    return body > 0;
}

void view_extent_add(view_extent *extent, const sim_model *model, const sim_pose *body) {
    for (int k = 0; k < model->nshape; k++) {
        const sim_shape *shape = &model->shape[k];
        if (shape->type != SIM_HALF_SPACE) {
            sim_pose placed = pose_product(body[shape->body], shape->pose);
            aabb bounds = shape_bounds(shape, &placed);
            v3 *box = is_carried(model, shape->body) ? extent->moving : extent->still;
            take_in(box, bounds.low);
            take_in(box, bounds.high);
        }
    }
    /* origins: a body may have no shape */
    for (int i = 1; i < model->nbody; i++) {
        if (model->body[i].nv > 0) {
            take_in(extent->moving, body[i].p);
        }
    }
}

void view_extent_box(const view_extent *extent, bool all, v3 box[2]) {
    memcpy(box, extent->moving, 2 * sizeof *box);
    if ((all || view_box_is_empty(box)) && !view_box_is_empty(extent->still)) {
        take_in(box, extent->still[0]);
        take_in(box, extent->still[1]);
    }
    if (view_box_is_empty(box)) {
        box[0] = v3_make(-1, -1, -1);
        box[1] = v3_make(1, 1, 1);
    }
}

double view_extent_low(const view_extent *extent) {
    double moving = view_box_is_empty(extent->moving) ? INFINITY : extent->moving[0].z;
    double still = view_box_is_empty(extent->still) ? INFINITY : extent->still[0].z;
    return fmin(moving, still);
}
