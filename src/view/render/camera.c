/* Default camera: the distance at which all that moves fits into the picture, in the direction of the page of a run.
 *
 * The box of all that moves over all frames (view_extent) has eight corners, which bound the distance (lens_around). */
#include "base/nearest.h"
#include "math/angle.h"
#include "math/v3.h"
#include "view/render/parts.h"

#include <math.h>
#include <string.h>

static const double DEFAULT_FOV = 40 * PI / 180;
static const double FILLED_PART = 0.86; /* of the picture's width or height */
static const double MAX_STILL_SIZE_RATIO =
    2.5; /* still bodies are in view too, up to this size relative to moving ones */

render_ball render_extent_ball(const render *r, const view_extent *extent, bool all) {
    v3 box[2];
    view_extent_box(extent, all, box);
    v3 across = v3_scale(0.5, v3_sub(box[1], box[0]));
    return (render_ball){v3_add(box[0], across), fmax(v3_norm(across), render_typical(r))};
}

double render_extent_low(const render *r, const view_extent *extent) {
    double low = view_extent_low(extent);
    return isfinite(low) ? low - 0.02 * render_extent_ball(r, extent, false).radius : -1;
}

/* Corners c of the box, seen from the direction a at a distance d from its middle, fill at most a part of the picture:
 *
 *     |c.right| <= part slope_x (d - c.a),   |c.up| <= part slope_y (d - c.a) */
static render_lens lens_around(const render *r, const view_extent *extent) {
    render_ball moves = render_extent_ball(r, extent, false), whole = render_extent_ball(r, extent, true);
    bool all = whole.radius < MAX_STILL_SIZE_RATIO * moves.radius;
    v3 box[2], middle, away = v3_make(0.62, -0.95, 0.5);
    view_extent_box(extent, all, box);
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

sim_status render_lens_choose(const render *r, const char *name, const view_extent *extent, render_lens *lens,
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
