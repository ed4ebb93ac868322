/* Rows of the Jacobian of a world's step, from those of its trees and islands.
 *
 *     rows       q, v, memory at the end;  columns: q, v, memory at the start, forces, inputs, parameters
 *     memory     v one and two steps before | held forces h | lasting forces p, and those of the step before, p- |
 *                impulses of rows of joints | impulses of contacts, then their moments, in the world             (1)
 *     free motion takes h + 2 p - p- where forces change little (contact/prediction.c), h elsewhere
 *
 * Cost: the numbers of the rows. */
#include "world/whole_rows.h"
#include "contact/problem/row/row.h"

#include <string.h>

/* ---- memory ---- */

/* May any contact resist turning? */
static bool any_resists_turning(const sim_model *m) {
    bool any = false;
    for (int k = 0; k < m->nmaterial; k++) {
        any |= m->material[k].rolling > 0 || m->material[k].torsion > 0;
    }
    for (int k = 0; k < m->nmaterial_pair; k++) {
        any |= m->material_pair[k].rolling > 0 || m->material_pair[k].torsion > 0;
    }
    return any;
}

memory_map memory_map_of(const sim_model *m, int contacts, bool any) {
    memory_map map = {.nv = m->nv, .joint = -1, .moment = -1};
    if (any) {
        map.size = MEMORY_VECTORS * m->nv;
        for (int j = 0; j < m->nv && map.joint < 0; j++) {
            map.joint = dof_has_rows(&m->dof[j]) ? map.size : -1;
        }
        map.size += map.joint < 0 ? 0 : SIM_JOINT_ROWS * m->nv;
        map.contact = map.size;
        map.size += 3 * contacts;
        if (any_resists_turning(m)) {
            map.moment = map.size;
            map.size += 3 * contacts;
        }
    }
    return map;
}

void copy_memory(const sim_model *m, const sim_state *state, const memory_map *map, double *to) {
    if (map->size == 0) {
        return;
    }
    size_t n = (size_t)m->nv, size = n * sizeof *to;
    memcpy(to + MEMORY_LAST_V * n, state->trail, 2 * size);
    memcpy(to + MEMORY_HELD * n, state->held, size);
    memcpy(to + MEMORY_PRESSED * n, state->trail + 2 * n, 2 * size);
    if (map->joint >= 0) {
        memcpy(to + map->joint, state->joint_impulse, SIM_JOINT_ROWS * size);
    }
    for (int k = 0; k < state->ncontact; k++) {
        memcpy(to + map->contact + 3 * (ptrdiff_t)k, &state->impulse[k], 3 * sizeof *to);
        if (map->moment >= 0) {
            memcpy(to + map->moment + 3 * (ptrdiff_t)k, &state->contact[k].moment, 3 * sizeof *to);
        }
    }
}

/* The velocities and forces that move on by a step. */
static void fill_shifted(const whole_rows *w, double *by_state) {
    for (int j = 0; j < w->nv; j++) {
        ptrdiff_t first = 2 * (ptrdiff_t)w->nv + j, n = w->nv;
        by_state[(first + MEMORY_LAST_V * n) * w->columns + n + j] = 1;
        by_state[(first + MEMORY_SECOND_LAST_V * n) * w->columns + first + MEMORY_LAST_V * n] = 1;
        by_state[(first + MEMORY_PRESSED_BEFORE * n) * w->columns + first + MEMORY_PRESSED * n] = 1;
    }
}

/* ---- the whole ---- */

static void clear(double *to, ptrdiff_t rows, ptrdiff_t columns) {
    if (to) {
        memset(to, 0, sizeof *to * (size_t)rows * (size_t)columns);
    }
}

void clear_whole(const whole_rows *w) {
    const sim_step_jacobian *out = w->out;
    const sim_model *m = w->past->model;
    clear(out->by_state, w->rows, w->columns);
    clear(out->by_applied, w->rows, w->nv);
    clear(out->by_input, SIM_INPUTS * (ptrdiff_t)w->rows, m->nactuator);
    clear(out->by_friction, w->rows, m->nmaterial);
    clear(out->by_parameter, w->rows, out->parameters);
    if (w->after.size && out->by_state) {
        fill_shifted(w, out->by_state);
    }
}

/* Columns of a tree: q, v and forces, then its part of the memory. */
static void put_tree(const whole_rows *w, int tree, const double *row, bool memory, ptrdiff_t to) {
    const sim_tree *t = &w->past->model->tree[tree];
    size_t size = sizeof *row * (size_t)t->nv;
    ptrdiff_t n = t->nv, nv = w->nv;
    if (w->out->by_applied) {
        memcpy(w->out->by_applied + to * nv + t->v0, row + BY_FORCE * n, size);
    }
    if (!w->out->by_state) {
        return;
    }
    double *state = w->out->by_state + to * w->columns + t->v0, *kept = state + 2 * nv;
    memcpy(state, row + BY_START_Q * n, size);
    memcpy(state + nv, row + BY_START_V * n, size);
    if (memory) {
        const double *held = row + BY_HELD * n;
        memcpy(kept + MEMORY_LAST_V * nv, row + BY_LAST_V * n, size);
        memcpy(kept + MEMORY_SECOND_LAST_V * nv, row + BY_SECOND_LAST_V * n, size);
        memcpy(kept + MEMORY_HELD * nv, held, size);
        for (int j = 0; j < t->nv && w->smooth[tree]; j++) {
            kept[MEMORY_PRESSED * nv + j] = 2 * held[j];
            kept[MEMORY_PRESSED_BEFORE * nv + j] = -held[j];
        }
    }
}

/* Inputs of a tree's actuators, from the columns of its forces. */
static void put_inputs(const whole_rows *w, int tree, const double *by_force, ptrdiff_t to) {
    const sim_model *m = w->past->model;
    const tree_parts *parts = &w->past->parts[tree];
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators && w->out->by_input; k++) {
        int actuator = w->past->actuator_order[k];
        for (int input = 0; input < SIM_INPUTS && !w->constant[actuator]; input++) {
            w->out->by_input[((ptrdiff_t)input * w->rows + to) * m->nactuator + actuator] =
                w->slope[(ptrdiff_t)input * m->nactuator + actuator] *
                by_force[m->actuator[actuator].dof - m->tree[tree].v0];
        }
    }
}

/* Friction of materials, if that is wanted, then parameters of the caller. */
static void put_parameters(const whole_rows *w, const double *row, ptrdiff_t to) {
    const sim_step_jacobian *out = w->out;
    size_t materials = out->by_friction ? (size_t)w->past->model->nmaterial : 0;
    if (materials) {
        memcpy(out->by_friction + to * (ptrdiff_t)materials, row, sizeof *row * materials);
    }
    if (out->by_parameter && out->parameters) {
        memcpy(out->by_parameter + to * out->parameters, row + materials, sizeof *row * (size_t)out->parameters);
    }
}

/* Inputs of limited actuators, what their forces add beyond those of joints. */
static void put_servos(const whole_rows *w, const island_system *s, const double *row, ptrdiff_t to) {
    const sim_model *m = w->past->model;
    for (int p = 0; p < s->step->parameters && w->out->by_input; p++) {
        int actuator = s->step->parameter[p].index;
        for (int input = 0; input < SIM_INPUTS && (int)s->step->parameter[p].kind == BY_SERVO; input++) {
            w->out->by_input[((ptrdiff_t)input * w->rows + to) * m->nactuator + actuator] +=
                w->slope[(ptrdiff_t)input * m->nactuator + actuator] * row[s->parameter0 + p];
        }
    }
}

void put_tree_row(const whole_rows *w, int tree, const double *row, const double *parameters, int to) {
    put_tree(w, tree, row, false, to);
    put_inputs(w, tree, row + (ptrdiff_t)BY_FORCE * w->past->model->tree[tree].nv, to);
    put_parameters(w, parameters, to);
}

/* Columns by impulses of the step before. */
static void put_impulses(const whole_rows *w, const island_system *s, const double *row, ptrdiff_t to) {
    double *kept = w->out->by_state + to * w->columns + 2 * (ptrdiff_t)w->nv;
    for (int i = 0; i < constraints_of(s->is); i++) {
        const sim_constraint *c = &s->is->problem.constraint[i];
        const constraint_source *t = &s->step->rows->source[s->is->source[i]];
        int all = s->is->first_constraint + i;
        const double *by = row + s->guess0 + c->row;
        if (t->kind == SOURCE_CONTACT) {
            int before = s->step->rows->before[all];
            v3 sum = m3_times(s->step->rows->axes[all], (v3){by[0], by[1], by[2]});
            for (int k = 0; k < 3 && before >= 0; k++) {
                kept[w->before.contact + 3 * before + k] += (&sum.x)[k];
            }
            v3 axis[3], turn = {0, 0, 0}; /* rows begin with axis . moment / axis^2 */
            for (int e = contact_turning_axes(s, i, axis) - 1; e >= 0; e--) {
                turn = v3_axpy(turn, by[SIM_CONTACT_ROWS + e] / v3_dot(axis[e], axis[e]), axis[e]);
            }
            for (int k = 0; k < 3 && before >= 0 && w->before.moment >= 0; k++) {
                kept[w->before.moment + 3 * before + k] += (&turn.x)[k];
            }
        } else if (t->kind != SOURCE_EQUALITY && w->before.joint >= 0) {
            bool clipped = s->is->rolls[i] == HAS_NO_GAP && !(s->is->base.impulse_guess[c->row] > 0);
            kept[w->before.joint + SIM_JOINT_ROWS * t->index + joint_row_of(t->kind)] +=
                clipped ? 0 : joint_impulse_of(t->kind, by[0]);
        }
    }
}

void put_island_row(const whole_rows *w, const island_system *s, const double *row, int to) {
    const sim_problem *p = &s->is->problem;
    for (int t = 0; t < p->ntree; t++) {
        int tree = s->step->rows->tree[s->is->first_tree + t];
        put_tree(w, tree, row + s->column[t], s->parts == ALL_PARTS, to);
        put_inputs(w, tree, row + s->column[t] + (ptrdiff_t)BY_FORCE * p->tree[t].nv, to);
    }
    put_parameters(w, row + s->parameter0, to);
    put_servos(w, s, row, to);
    if (s->parts == ALL_PARTS && w->out->by_state) {
        put_impulses(w, s, row, to);
    }
}

/* Did the step keep the lasting forces of a tree? */
static bool kept_forces(const whole_rows *w, int tree) {
    const sim_tree *t = &w->past->model->tree[tree];
    const double *p = w->to->trail + 2 * (ptrdiff_t)w->nv + t->v0;
    for (int j = 0; j < t->nv; j++) {
        if (p[j] != 0) {
            return true;
        }
    }
    return false;
}

/* Impulses of the step: of contacts, and of rows of joints. */
static bool put_new_impulses(const whole_rows *w, const island_system *s) {
    int first = 2 * w->nv;
    double *rows = numbers_of(s->step->arena, 3 * (ptrdiff_t)s->width);
    for (int i = 0; rows && i < constraints_of(s->is); i++) {
        const constraint_source *t = &s->step->rows->source[s->is->source[i]];
        const double *gamma = s->constraint[i].gamma;
        if (differentiate_contact_impulse(s, i, rows)) {
            for (int k = 0; k < 3; k++) {
                put_island_row(w, s, rows + (ptrdiff_t)k * s->width, first + w->after.contact + 3 * t->index + k);
            }
            bool turns = differentiate_contact_moment(s, i, rows);
            for (int k = 0; k < 3 && turns; k++) {
                put_island_row(w, s, rows + (ptrdiff_t)k * s->width, first + w->after.moment + 3 * t->index + k);
            }
        } else if (t->kind != SOURCE_EQUALITY && w->after.joint >= 0) {
            /* one number holds the impulses of both speeds: that which acts */
            bool acts = s->is->impulse[s->constraint[i].c->row] != 0 || joint_row_of(t->kind) != SIM_ROW_SPEED;
            for (int c = 0; c < s->width && acts; c++) {
                rows[c] = joint_impulse_of(t->kind, gamma[c]);
            }
            if (acts) {
                put_island_row(w, s, rows, first + w->after.joint + SIM_JOINT_ROWS * t->index + joint_row_of(t->kind));
            }
        }
    }
    return rows != NULL;
}

bool put_island_memory(const whole_rows *w, island_system *s) {
    const sim_problem *p = &s->is->problem;
    ptrdiff_t size = (ptrdiff_t)s->n * s->width;
    double *held = zeros(s->step->arena, size), *pressed = zeros(s->step->arena, size);
    if (!held || !pressed || !differentiate_memory(s, held, pressed)) {
        return false;
    }
    for (int t = 0; t < p->ntree; t++) {
        bool kept = kept_forces(w, s->step->rows->tree[s->is->first_tree + t]);
        for (int j = p->tree[t].v0; j < p->tree[t].v0 + p->tree[t].nv; j++) {
            int to = 2 * w->nv + s->dof[j];
            put_island_row(w, s, held + (ptrdiff_t)j * s->width, to + MEMORY_HELD * w->nv);
            if (kept) {
                put_island_row(w, s, pressed + (ptrdiff_t)j * s->width, to + MEMORY_PRESSED * w->nv);
            }
        }
    }
    return put_new_impulses(w, s);
}
