/* Derivatives of the rows of a contact by the start of the step.
 *
 *     J_ek = +-e . (v_k + w_k x (x' - o_k)),    x' = p' + l,    l = x - p
 *     dJ_ek = +-(e . (w_k x (dl - w' x l)) + de . (v_k + w_k x (x' - o_k))) + D_ek dq'
 *     de = f x e,    f = n x dn,    d gap and dx by touch.c
 *
 *     x, p      point of a side (with `apart`, each has its own) and origin of its body at the start, m
 *     ' , q'    where J is taken: at the start, or midway along predicted velocities (world/contact/prediction.c)
 *     D_e       d (J' e) / d q of a force e at a point fixed to the body (dyn/mass/wrench_derivatives.c);  w' its turn
 *     e, n      axes of the frame, whose tangents turn no more than n does: laws are the same in all directions
 *
 * The impulse of the step before is fixed in the world, so its part along e changes by de.
 * Reference: contact/problem/row/contacts.c.  Cost: n^2 a row. */
#include "dyn/mass/wrench.h"
#include "world/derivative/derivative.h"
#include "world/derivative/touch.h"

#include <string.h>

/* A dof that moves a side: its row in the frame of the contact, its turn, and the velocity of the point. */
typedef struct path_dof {
    int dof, row;
    v3 turns, moves;
} path_dof;

/* A contact and its frame. */
typedef struct contact_rows {
    const island_system *s;
    const sim_contact *c;
    touch at;
    v3 axis[SIM_CONTACT_ROWS], guess;
    path_dof *path[2];
    int count[2], depth[2];     /* up to `stop`, and to the root */
    int body[2], last[2], stop; /* dofs on the path to both bodies, up to `stop`, have no part in J */
} contact_rows;

const char *contact_trouble(const contact_step *step, int index) {
    const sim_contact *c = &step->to->contact[index];
    const model_tables *tables = step->rows->tables;
    const followed_contact *followed = step->contacts->followed;
    if (tables->belts || tables->directed || tables->adhesive || tables->turning) {
        return "has contacts beside belts, friction by direction, adhesion, or resistance to turning";
    }
    if (c->at.stiffness > 0) {
        return "has contacts of pressure fields";
    }
    return followed && followed[index].known ? "has a contact that lasts and may roll" : NULL;
}

static int last_moving_dof(const sim_model *m, int body) {
    while (body > 0 && m->body[body].nv == 0) {
        body = m->body[body].parent;
    }
    return body > 0 ? m->body[body].v0 + m->body[body].nv - 1 : -1;
}

static bool is_on_path(const sim_model *m, int dof, int last) {
    while (last > dof) {
        last = m->dof[last].parent;
    }
    return last == dof;
}

/* The motion of a body at its origin by a dof. */
static motion motion_of(const sim_derived *d, int dof, int body) {
    return motion_at_child(d->S[dof], v3_sub(d->pose[body].p, d->pose[d->model->dof[dof].body].p));
}

/* The lever of a side at the start, and the point at which J is taken. */
static v3 lever_of(const contact_rows *r, int side) {
    return v3_sub(v3_axpy(r->c->at.position, side ? -0.5 : 0.5, r->c->at.apart), r->at.origin[side]);
}
static v3 point_of(const contact_rows *r, int side) {
    return v3_add(r->s->step->middle->pose[r->body[side]].p, lever_of(r, side));
}

/* A column of the start, where the shapes and origins of both sides move. */
static void add_column(const contact_rows *r, const motion shape[2], const v3 origin[2], int column,
                       constraint_change *out) {
    touch_rate rate = touch_along(&r->at, shape);
    ptrdiff_t width = out->at.width;
    v3 turn = v3_cross(r->axis[2], rate.n);
    out->gap[2 * width + column] = rate.gap;
    out->turn[column] = turn.x;
    out->turn[width + column] = turn.y;
    out->turn[2 * width + column] = turn.z;
    for (int e = 0; e < SIM_CONTACT_ROWS; e++) {
        v3 turned = v3_cross(turn, r->axis[e]);
        out->guess[e * width + column] = v3_dot(turned, r->guess);
    }
    for (int side = 0; side < 2; side++) {
        v3 lever = v3_sub(v3_axpy(rate.x, side ? -0.5 : 0.5, rate.apart), origin[side]);
        for (int k = 0; k < r->count[side]; k++) {
            const path_dof *at = &r->path[side][k];
            v3 change = v3_add(v3_cross(at->turns, lever), v3_cross(at->moves, turn));
            for (int e = 0; e < SIM_CONTACT_ROWS; e++) {
                double sum = v3_dot(r->axis[e], change);
                out->J[e][at->row * width + column] += side ? -sum : sum;
            }
        }
    }
}

/* The dofs that move each side against the other. */
static bool list_paths(contact_rows *r, const local_frame *at) {
    const contact_step *step = r->s->step;
    const sim_model *m = step->motion->model;
    for (int side = 0; side < 2; side++) {
        v3 x = point_of(r, side);
        r->path[side] = ARENA_NEW(step->arena, path_dof, at->n + 1);
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

static const motion AT_REST = {{0, 0, 0}, {0, 0, 0}};

/* That of a dof: bodies carry their shapes. */
static void add_start_column(const contact_rows *r, int dof, constraint_change *out) {
    const contact_step *step = r->s->step;
    motion velocity[2] = {AT_REST, AT_REST};
    for (int side = 0; side < 2; side++) {
        if (is_on_path(step->motion->model, dof, r->last[side])) {
            velocity[side] = motion_of(step->start, dof, r->body[side]);
        }
    }
    add_column(r, velocity, (v3[2]){velocity[0].lin, velocity[1].lin}, local_column(r->s, &out->at, BY_START_Q, dof),
               out);
}

/* Those of the placements of both shapes: bodies stay. */
static void add_placements(const contact_rows *r, constraint_change *out) {
    const contact_step *step = r->s->step;
    const int shape[2] = {r->c->shape_a, r->c->shape_b};
    for (int p = 0; p < step->parameters; p++) {
        const sim_parameter *by = &step->parameter[p];
        motion moves[2] = {AT_REST, AT_REST};
        for (int side = 0; side < 2; side++) {
            if (by->kind == SIM_BY_PLACEMENT && by->index == shape[side]) {
                const pose *X = &step->start->pose[r->body[side]];
                int k = by->component % 3;
                v3 along = k == 0 ? X->R.x : k == 1 ? X->R.y : X->R.z;
                v3 back = m3_times(X->R, v3_neg(step->motion->model->shape[by->index].pose.p));
                moves[side] = by->component < 3 ? (motion){AT_REST.ang, along} : (motion){along, v3_cross(along, back)};
                add_column(r, moves, (v3[2]){AT_REST.lin, AT_REST.lin}, out->at.width - step->parameters + p, out);
            }
        }
    }
}

/* D_e of a side, less the turn of its lever, times dq'. */
static void add_middle(const contact_rows *r, int side, constraint_change *out) {
    const island_system *s = r->s;
    const sim_model *m = s->step->motion->model;
    const local_frame *at = &out->at;
    int on = side_of_dof(s, at, r->path[side][0].dof), parts = s->parts * at->dofs[on];
    v3 lever = lever_of(r, side);
    for (int k = 0; k < r->count[side]; k++) {
        const path_dof *of = &r->path[side][k];
        for (int j = 0; j < r->depth[side]; j++) {
            const path_dof *by = &r->path[side][j];
            motion S_j = {by->turns, by->moves}, S_k = {of->turns, of->moves};
            v3 moves = v3_sub(by->moves, v3_cross(by->turns, lever));
            v3 change = v3_add(axis_change(m, by->dof, of->dof, S_j, S_k).lin, v3_cross(of->turns, moves));
            const double *middle = s->middle + (ptrdiff_t)place_of_dof(s, by->dof) * s->width + at->column[on];
            for (int e = 0; e < SIM_CONTACT_ROWS; e++) {
                double D = side ? -v3_dot(r->axis[e], change) : v3_dot(r->axis[e], change);
                if (D != 0) {
                    dense_axpy(parts, D, middle,
                               out->J[e] + of->row * (ptrdiff_t)at->width + (on ? at->columns[0] : 0));
                }
            }
        }
    }
}

/* The frame; columns of the dofs at the start; then those of the place where J is taken. */
bool differentiate_contact(const island_system *s, int i, constraint_change *out) {
    const contact_step *step = s->step;
    const sim_model *m = step->motion->model;
    const constraint_source *t = &step->rows->source[s->is->source[i]];
    const sim_contact *c = &step->to->contact[t->index];
    const m3 *E = &step->rows->axes[s->is->first_constraint + i];
    const double *guess = s->is->problem.impulse_guess + s->is->problem.constraint[i].row;
    contact_rows r = {.s = s, .c = c, .axis = {E->x, E->y, E->z}, .body = {c->body_a, c->body_b}};
    r.guess = m3_times(*E, (v3){guess[0], guess[1], guess[2]});
    out->trouble = touch_make(step->start, c, &r.at);
    if (out->trouble) {
        return true;
    }
    out->kink = r.at.kink;
    for (int side = 0; side < 2; side++) {
        r.last[side] = last_moving_dof(m, r.body[side]);
    }
    r.stop = r.last[0];
    while (r.stop >= 0 && !is_on_path(m, r.stop, r.last[1])) {
        r.stop = m->dof[r.stop].parent;
    }
    differentiate_surface(step, c, out);
    size_t mark = arena_mark(step->arena);
    bool ok = list_paths(&r, &out->at);
    if (ok) {
        add_placements(&r, out);
    }
    for (int side = 0; side < 2; side++) {
        for (int j = r.last[side]; j >= 0 && ok; j = m->dof[j].parent) {
            if (side == 0 || !is_on_path(m, j, r.last[0])) {
                add_start_column(&r, j, out);
            }
        }
        if (ok && r.last[side] >= 0) {
            add_middle(&r, side, out);
        }
    }
    arena_release(step->arena, mark);
    return ok;
}
