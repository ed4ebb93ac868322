/* Motion axes of the dofs on the path from the root to a body. */
#ifndef DYN_MOTION_AXES_H
#define DYN_MOTION_AXES_H

#include "math/spatial.h"
#include <sim/dynamics.h>

/* The axis of a dof at a point of the world. */
static inline motion motion_axis_at(const sim_derived *d, int dof, v3 point) {
    return motion_at_child(d->S[dof], v3_sub(point, d->pose[d->model->dof[dof].body].p));
}

/* The nearest dof on the path from the root to a body, -1: no joint moves it. */
static inline int find_last_dof(const sim_model *m, int body) {
    while (body && m->body[body].nv == 0) {
        body = m->body[body].parent;
    }
    return body ? m->body[body].v0 + m->body[body].nv - 1 : -1;
}

#endif
