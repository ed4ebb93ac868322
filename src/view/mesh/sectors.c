/* Sectors of round bodies, light and dark, that show rotation: octants of balls, quarters about an axis of discs and
 * wheels.
 *
 *     light = 1 - strength + strength * prod_k side_k,   side_k = sign of coordinate k (1 along the axis)
 *
 * A mesh is round about an axis if its box is square across it, to 2 %, and each of 16 sectors reaches 96 % of the
 * farthest.  Where two axes do, z comes before y before x.  The page of a run has the same rule
 * (viewer/src/bodies.js).  Cost: once over the corners of each mesh. */
#include "view/mesh/sectors.h"
#include "math/angle.h"

#include <math.h>

enum { HEIGHT_BINS = 16 };

static const float weak = 0.05f;   /* of long bodies: links, rods */
static const float strong = 0.13f; /* of balls, discs and wheels */

/* ---- meshes ---- */

static bool reaches_all_around(const view_mesh *mesh, const float centre[3], int u, int v) {
    double farthest[HEIGHT_BINS] = {0}, least = HUGE_VAL, most = 0;
    for (int k = 0; k < mesh->nvertex; k++) {
        double x = (double)(mesh->position[k][u] - centre[u]), y = (double)(mesh->position[k][v] - centre[v]);
        int bin = (int)((atan2(y, x) / PI + 1) / 2 * HEIGHT_BINS) % HEIGHT_BINS;
        farthest[bin] = fmax(farthest[bin], hypot(x, y));
    }
    for (int k = 0; k < HEIGHT_BINS; k++) {
        least = fmin(least, farthest[k]);
        most = fmax(most, farthest[k]);
    }
    return least > 0.96 * most;
}

view_round view_round_find(const view_mesh *mesh) {
    /* middle of the mesh */
    view_round round = {.axis = -1};
    float low[3] = {HUGE_VALF, HUGE_VALF, HUGE_VALF}, high[3] = {-HUGE_VALF, -HUGE_VALF, -HUGE_VALF};
    for (int k = 0; k < mesh->nvertex; k++) {
        for (int i = 0; i < 3; i++) {
            low[i] = fminf(low[i], mesh->position[k][i]);
            high[i] = fmaxf(high[i], mesh->position[k][i]);
        }
    }
    for (int i = 0; i < 3; i++) {
        round.centre[i] = (low[i] + high[i]) / 2;
    }
    /* an axis about which it is as wide in both directions, and reaches all around */
    for (int axis = 2; axis >= 0 && round.axis < 0; axis--) {
        int u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
        float across = high[u] - low[u], other = high[v] - low[v];
        if (fabsf(across - other) <= 0.02f * across && reaches_all_around(mesh, round.centre, u, v)) {
            round.axis = axis;
        }
    }
    return round;
}

/* ---- shapes ---- */

/* Sectors that show the turning of round shapes: about the axis, or about all three. */
view_sectors view_sectors_of(const sim_shape *shape, const double scale[3], const view_round *round) {
    view_sectors none = {0}, about_z = {strong, {0, 0, 0}, {1, 1, 0}}, all = {strong, {0, 0, 0}, {1, 1, 1}};
    view_sectors about_axis = {strong, {round->centre[0], round->centre[1], round->centre[2]}, {1, 1, 1}};
    switch (shape->type) {
    case SIM_SPHERE:
    case SIM_ELLIPSOID:
        return all;
    case SIM_CYLINDER:
        about_z.strength = scale[2] > 2.5 * fmax(scale[0], scale[1]) ? weak : strong;
        return about_z;
    case SIM_CAPSULE:
        about_z.strength = weak;
        return about_z;
    case SIM_BOX:
    case SIM_HALF_SPACE:
    case SIM_HEIGHT_FIELD:
        return none;
    case SIM_CONVEX:
    case SIM_MESH:
    case SIM_SDF:
    case SIM_SHAPE_TYPES:
        break;
    }
    if (round->axis < 0) {
        return none;
    }
    about_axis.changes[round->axis] = 0;
    return about_axis;
}
