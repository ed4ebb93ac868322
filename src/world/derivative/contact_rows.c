/* Places of a contact along the dofs of its bodies, and columns of its rows.
 *
 *     dJ_ek = +-(e . (w_k x (dl - w' x l)) + de . (v_k + w_k x (x' - o_k))) + D_ek dq'
 *     dJ_ek = +-L (de . w_k + e . dw_k),    guess e . m / L     rows against turning
 *
 *     L, m      length that gives them the unit of the others, m;  moment of the step before, N m s, fixed in the world
 *
 * Letters and reference: contact_derivatives.c.  Cost: n^2 a row. */
#include "world/derivative/contact_rows.h"

#include <string.h>

bool is_dof_on_path(const sim_model *m, int dof, int last) {
    while (last > dof) {
        last = m->dof[last].parent;
    }
    return last == dof;
}

/* ---- places ---- */

/* The motion of a body at its origin by a dof. */
static motion motion_of(const sim_derived *d, int dof, int body) {
    return motion_at_child(d->S[dof], v3_sub(d->pose[body].p, d->pose[d->model->dof[dof].body].p));
}

static const motion AT_REST = {{0, 0, 0}, {0, 0, 0}};

/* Where the origins of both bodies move, too. */
static place_change place_of(touch_rate rate, const v3 origin[2]) {
    place_change out = {.x = rate.x, .n = rate.n, .gap = rate.gap};
    for (int side = 0; side < 2; side++) {
        out.lever[side] = v3_sub(v3_axpy(rate.x, side ? -0.5 : 0.5, rate.apart), origin[side]);
    }
    return out;
}

/* That of a dof: bodies carry their shapes. */
static place_change place_by_dof(const contact_rows *r, const touch *at, const sim_derived *d, int dof) {
    motion velocity[2] = {AT_REST, AT_REST};
    for (int side = 0; side < 2; side++) {
        if (is_dof_on_path(d->model, dof, r->last[side])) {
            velocity[side] = motion_of(d, dof, r->body[side]);
        }
    }
    return place_of(touch_along(at, velocity), (v3[2]){velocity[0].lin, velocity[1].lin});
}

/* That of placements and sizes of both shapes: bodies stay. */
static place_change place_by_parameter(const contact_rows *r, const touch *at, const sim_derived *d,
                                       const sim_parameter *by) {
    const int shape[2] = {r->c->shape_a, r->c->shape_b};
    motion moves[2] = {AT_REST, AT_REST};
    for (int side = 0; side < 2; side++) {
        if (by->kind == SIM_BY_SIZE && by->index == shape[side]) {
            pose X = touch_shape_pose(d, shape[side]);
            touch_rate rate = touch_by_size(&d->model->shape[by->index], X, at, side, by->component);
            return place_of(rate, (v3[2]){AT_REST.lin, AT_REST.lin});
        }
        if (by->kind == SIM_BY_PLACEMENT && by->index == shape[side]) {
            const pose *X = &d->pose[r->body[side]];
            int k = by->component % 3;
            v3 along = k == 0 ? X->R.x : k == 1 ? X->R.y : X->R.z;
            v3 back = m3_times(X->R, v3_neg(d->model->shape[by->index].pose.p));
            moves[side] = by->component < 3 ? (motion){AT_REST.ang, along} : (motion){along, v3_cross(along, back)};
        }
    }
    return place_of(touch_along(at, moves), (v3[2]){AT_REST.lin, AT_REST.lin});
}

bool list_places(const contact_rows *r, const touch *at, const sim_derived *d, const local_frame *frame,
                 place_changes *out) {
    /* dofs of either path, once; then parameters */
    const contact_step *step = r->s->step;
    size_t dofs = (size_t)frame->n, parameters = (size_t)step->parameters;
    out->by_dof = ARENA_NEW(step->arena, place_change, dofs + 1);
    out->by_parameter = ARENA_NEW(step->arena, place_change, parameters + 1);
    if (!out->by_dof || !out->by_parameter) {
        return false;
    }
    memset(out->by_dof, 0, dofs * sizeof *out->by_dof);
    for (int side = 0; side < 2; side++) {
        for (int j = r->last[side]; j >= 0; j = d->model->dof[j].parent) {
            if (side == 0 || !is_dof_on_path(d->model, j, r->last[0])) {
                out->by_dof[local_dof(r->s, frame, j)] = place_by_dof(r, at, d, j);
            }
        }
    }
    for (int p = 0; p < step->parameters; p++) {
        out->by_parameter[p] = place_by_parameter(r, at, d, &step->parameter[p]);
    }
    return true;
}

/* ---- rows ---- */

bool list_paths(contact_rows *r, const local_frame *at) {
    const contact_step *step = r->s->step;
    const sim_model *m = step->motion->model;
    for (int side = 0; side < 2; side++) {
        v3 x = v3_add(step->middle->pose[r->body[side]].p, r->lever[side]);
        r->path[side] = ARENA_NEW(step->arena, path_dof, at->n + 1);
        r->count[side] = r->depth[side] = 0;
        for (int k = r->last[side]; r->path[side] && k >= 0; k = m->dof[k].parent) {
            const motion *S = &step->middle->S[k];
            v3 lever = v3_sub(x, step->middle->pose[m->dof[k].body].p);
            r->count[side] = k > r->stop ? r->count[side] + 1 : r->count[side];
            r->path[side][r->depth[side]++] =
                (path_dof){k, local_dof(r->s, at, k), S->ang, v3_add(S->lin, v3_cross(S->ang, lever))};
        }
    }
    return r->path[0] && r->path[1];
}

void add_row_column(const contact_rows *r, const v3 lever[2], v3 turn, int column, constraint_change *out) {
    /* the frame and the impulses of the step before along it */
    ptrdiff_t width = out->at.width;
    out->turn[column] = turn.x;
    out->turn[width + column] = turn.y;
    out->turn[2 * width + column] = turn.z;
    for (int e = 0; e < SIM_CONTACT_ROWS; e++) {
        out->guess[e * width + column] = v3_dot(v3_cross(turn, r->axis[e]), r->guess);
    }
    for (int e = 0; e < r->turners; e++) {
        double L2 = v3_dot(r->turner[e], r->turner[e]);
        out->guess[(SIM_CONTACT_ROWS + e) * width + column] = v3_dot(v3_cross(turn, r->turner[e]), r->moment) / L2;
    }
    /* J: speeds of the point, then turns */
    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < r->count[side]; k++) {
            const path_dof *at = &r->path[side][k];
            v3 change = v3_add(v3_cross(at->turns, lever[side]), v3_cross(at->moves, turn));
            for (int e = 0; e < SIM_CONTACT_ROWS; e++) {
                double sum = v3_dot(r->axis[e], change);
                out->J[e][at->row * width + column] += side ? -sum : sum;
            }
            for (int e = 0; e < r->turners; e++) {
                double sum = v3_dot(v3_cross(turn, r->turner[e]), at->turns);
                out->J[SIM_CONTACT_ROWS + e][at->row * width + column] += side ? -sum : sum;
            }
        }
    }
}

/* Adds D of row e by the place of a dof: where q' is q its own column alone, else those of that place. */
static void add_place(double D, const double *middle, int parts, double *to) {
    if (!middle) {
        *to += D;
    } else if (D != 0) {
        dense_axpy(parts, D, middle, to);
    }
}

/* D_e of a side, less the turn of its lever, times dq'. */
void add_middle(const contact_rows *r, int side, constraint_change *out) {
    const island_system *s = r->s;
    const sim_model *m = s->step->motion->model;
    const local_frame *at = &out->at;
    int on = side_of_dof(s, at, r->path[side][0].dof), parts = at->columns[on];
    ptrdiff_t width = at->width, first = on ? at->columns[0] : 0;
    bool start = middle_is_start(s->step, m->body[r->body[side]].tree);
    double sign = side ? -1 : 1;
    for (int j = 0; j < r->depth[side]; j++) {
        const path_dof *by = &r->path[side][j];
        motion S_j = {by->turns, by->moves};
        v3 moves = v3_sub(by->moves, v3_cross(by->turns, r->lever[side]));
        int own = by->row - (on ? at->dofs[0] : 0);
        const double *middle = start ? NULL : s->middle + (ptrdiff_t)(at->dof[on] + own) * s->width + at->column[on];
        ptrdiff_t column = start ? first + own : first;
        for (int k = 0; k < r->count[side]; k++) {
            const path_dof *of = &r->path[side][k];
            motion dS = axis_change(m, by->dof, of->dof, S_j, (motion){of->turns, of->moves});
            v3 change = v3_add(dS.lin, v3_cross(of->turns, moves));
            ptrdiff_t to = of->row * width + column;
            for (int e = 0; e < SIM_CONTACT_ROWS; e++) {
                add_place(sign * v3_dot(r->axis[e], change), middle, parts, out->J[e] + to);
            }
            for (int e = 0; e < r->turners; e++) {
                add_place(sign * v3_dot(r->turner[e], dS.ang), middle, parts, out->J[SIM_CONTACT_ROWS + e] + to);
            }
        }
    }
}
