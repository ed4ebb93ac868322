/* Default camera: the distance at which all that moves fits into the picture, in the direction of the page of a run.
 *
 * The box of all moving vertices over all frames is kept; its eight corners bound the distance (lens_around). */
#include "base/nearest.h"
#include "math/angle.h"
#include "math/v3.h"
#include "view/render/parts.h"

#include <string.h>

static const double DEFAULT_FOV = 40 * PI / 180;
static const double FILLED_PART = 0.86; /* of the picture's width or height */
static const double MAX_STILL_SIZE_RATIO =
    2.5; /* still bodies are in view too, up to this size relative to moving ones */

render_extent render_extent_empty(void) {
    v3 most = v3_make(INFINITY, INFINITY, INFINITY);
    return (render_extent){{most, v3_neg(most)}, {most, v3_neg(most)}};
}

static void take_in(v3 box[2], v3 at) {
    box[0] = v3_make(fmin(box[0].x, at.x), fmin(box[0].y, at.y), fmin(box[0].z, at.z));
    box[1] = v3_make(fmax(box[1].x, at.x), fmax(box[1].y, at.y), fmax(box[1].z, at.z));
}

static bool is_empty(const v3 box[2]) { return !(box[0].x <= box[1].x); }

static bool is_carried(const sim_model *model, int body) {
    while (body > 0 && model->body[body].nv == 0) {
        body = model->body[body].parent;
    }
    return body > 0;
}

void render_extent_add(const render *r, const view_frame *frame, render_extent *extent) {
    /* vertices of the shapes, of bodies that move and of others */
    const sim_model *model = render_scene(r)->model;
    for (int k = 0; k < model->nshape; k++) {
        const sim_shape *shape = &model->shape[k];
        const sim_pose *body = &frame->pose[shape->body];
        const double *scale;
        const view_mesh *mesh = render_mesh_of(r, k, &scale);
        v3 *box = is_carried(model, shape->body) ? extent->moving : extent->still;
        for (int i = 0; mesh && i < mesh->nvertex; i++) {
            const float *x = mesh->position[i];
            v3 own = v3_make(scale[0] * (double)x[0], scale[1] * (double)x[1], scale[2] * (double)x[2]);
            v3 here = v3_add(shape->pose.p, m3_times(shape->pose.R, own));
            take_in(box, v3_add(body->p, m3_times(body->R, here)));
        }
    }
    /* origins of bodies without shapes */
    for (int b = 1; b < model->nbody; b++) {
        if (model->body[b].nv > 0) {
            take_in(extent->moving, frame->pose[b].p);
        }
    }
}

static void extent_box(const render_extent *extent, int all, v3 box[2]) {
    memcpy(box, extent->moving, 2 * sizeof *box);
    if ((all || is_empty(box)) && !is_empty(extent->still)) {
        take_in(box, extent->still[0]);
        take_in(box, extent->still[1]);
    }
    if (is_empty(box)) {
        box[0] = v3_make(-1, -1, -1);
        box[1] = v3_make(1, 1, 1);
    }
}

render_ball render_extent_ball(const render *r, const render_extent *extent, int all) {
    v3 box[2];
    extent_box(extent, all, box);
    v3 across = v3_scale(0.5, v3_sub(box[1], box[0]));
    return (render_ball){v3_add(box[0], across), fmax(v3_norm(across), render_typical(r))};
}

double render_extent_low(const render *r, const render_extent *extent) {
    double low = fmin(is_empty(extent->moving) ? INFINITY : extent->moving[0].z,
                      is_empty(extent->still) ? INFINITY : extent->still[0].z);
    return isfinite(low) ? low - 0.02 * render_extent_ball(r, extent, 0).radius : -1;
}

/* Corners c of the box, seen from the direction a at a distance d from its middle, fill at most a part of the picture:
 *
 *     |c.right| <= part slope_x (d - c.a),   |c.up| <= part slope_y (d - c.a) */
static render_lens lens_around(const render *r, const render_extent *extent) {
    render_ball moves = render_extent_ball(r, extent, 0), whole = render_extent_ball(r, extent, 1);
    int all = whole.radius < MAX_STILL_SIZE_RATIO * moves.radius;
    v3 box[2], middle, away = v3_make(0.62, -0.95, 0.5);
    extent_box(extent, all, box);
    middle = v3_scale(0.5, v3_add(box[0], box[1]));
    away = v3_scale(1 / v3_norm(away), away);
    v3 right = v3_cross(v3_make(0, 0, 1), away);
    right = v3_scale(1 / v3_norm(right), right);
    v3 up = v3_cross(away, right);
    double slope_y = FILLED_PART * tan(DEFAULT_FOV / 2), slope_x = slope_y * render_aspect(r),
           distance = 4 * render_typical(r);
    for (int k = 0; k < 8; k++) {
        v3 c = v3_sub(v3_make(box[k & 1].x, box[k >> 1 & 1].y, box[k >> 2 & 1].z), middle);
        distance = fmax(distance, v3_dot(c, away) + fabs(v3_dot(c, right)) / slope_x);
        distance = fmax(distance, v3_dot(c, away) + fabs(v3_dot(c, up)) / slope_y);
    }
    return (render_lens){v3_axpy(middle, distance, away), middle, DEFAULT_FOV};
}

sim_status render_lens_choose(const render *r, const char *name, const render_extent *extent, render_lens *lens,
                              sim_error *error) {
    /* all moving bodies */
    const sim_scene *scene = render_scene(r);
    nearest near = {.wanted = name ? name : ""};
    char hint[200];
    if (name ? strcmp(name, "all") == 0 : scene->ncamera == 0) {
        *lens = lens_around(r, extent);
        return SIM_OK;
    }
    /* a camera of the scene */
    for (int k = 0; k < scene->ncamera; k++) {
        const sim_camera *c = &scene->camera[k];
        if (!name || strcmp(c->name ? c->name : "", name) == 0) {
            *lens = (render_lens){c->position, c->target, c->fov};
            return SIM_OK;
        }
        nearest_try(&near, c->name ? c->name : "");
    }
    /* unknown: suggest the nearest */
    const char *meant = nearest_hint(&near, hint, sizeof hint);
    return sim_fail(error, SIM_BAD_INPUT, "the scene has no camera '%.60s'%s%s%s; 'all' shows all moving bodies", name,
                    meant ? " (" : "", meant ? meant : "", meant ? ")" : "");
}
