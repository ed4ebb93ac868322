/* Opening of rigid constraints between bodies in the present state: the distance of points that should be together.
 *
 *     connect, weld   |X_0 p_0 - X_1 p_1|
 *     distance        ||X_0 p_0 - X_1 p_1| - L|
 *
 *     X_i  pose of body i in the world
 *     p_i  point of the constraint on body i, m
 *     L    distance, m
 *
 * A step holds velocities; gaps follow to the order of the step and close at law/undo.  So a loop that drives itself
 * into a singular pose, or that impacts tear, opens, and this is the figure that says so.
 * Cost: O(constraints) after the kinematics of the state. */
#include "math/v3.h"
#include "world/core/world.h"

#include <math.h>

static bool ties_rigidly(const sim_equality *e) {
    return !e->off && isinf(e->stiffness) && (e->type == SIM_WELD || e->type == SIM_CONNECT || e->type == SIM_DISTANCE);
}

static double opening_of(const sim_derived *d, const sim_equality *e) {
    v3 a = sim_point_position(d, (sim_point){e->body[0], e->frame[0].p});
    v3 b = sim_point_position(d, (sim_point){e->body[1], e->frame[1].p});
    return fabs(v3_norm(v3_sub(a, b)) - (e->type == SIM_DISTANCE ? e->distance : 0));
}

double sim_world_opening(sim_world *w, int *equality) {
    const sim_derived *d = NULL;
    double widest = 0;
    *equality = -1;
    for (int k = 0; k < w->model->nequality; k++) {
        if (!ties_rigidly(&w->equality[k])) {
            continue;
        }
        d = d ? d : sim_world_derived(w);
        double now = opening_of(d, &w->equality[k]);
        if (*equality < 0 || now > widest) {
            *equality = k;
            widest = now;
        }
    }
    return widest;
}
