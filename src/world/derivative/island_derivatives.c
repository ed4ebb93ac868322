/* Derivative of the end velocities of an island, by implicit differentiation of its contact problem at the answer.
 *
 *     A (v - v*) = J' gamma(z, R),    z = target - J v - w,    v* = v0 + dt a - A^-1 dt h                     (1)
 *     H dv = A (dv0 + dt da) - dA y + dJ' gamma + J' (G (dtarget - dJ v - dw) + gamma_R dR)                    (2)
 *     H = A + J' G J,    G = d gamma / dz,    gamma_R = d gamma / dR,    y = v - v0 - dt a
 *     dR, dtarget    by w, gap, guess and stiffness (problem/law_slopes.c),  w by W = J A^-1 J', and its load (load_derivatives.c):
 *     dW = dJ Y + Y' dJ' - Y' dA Y,    Y = A^-1 J'                                                            (3)
 *
 *     a        mean acceleration of the free motion, with forces h held from steps before (theta_derivatives.c)
 *     A        M + E at q*, where free motion takes its forces, so dA x = (dM/dq x) dq*;  other letters: docs/contact.md
 *
 * Every row has R > 0, so impulses are a function of z, piece by piece: H and (2) hold on the pieces of the answer.  The
 * set of rows and contact points is held.  The warm start plays a part in (1) only as elastic laws keep it.
 * Columns by the memory of the start are those by h, by the velocities of two steps before, and by impulses.
 * Certificate: |H X - B| over |H| |X| + |B| of (2), for one combination of the columns.
 * Reference: A. Griewank, A. Walther, Evaluating Derivatives, 2008, chapter 15; Castro, Permenter, Han 2021 (H).
 * Cost: n^3 for the n dofs of an island; for each constraint the squares of its two trees. */
#include "linalg/dense/lu.h"
#include "world/derivative/derivative.h"

#include <string.h>

/* ---- free motion and mass ---- */

/* Rows of the right side of (2) from one tree: A (dv0 + dt da) - dt dh - dA y; y in s->x. */
static void fill_tree(const island_system *s, int t) {
    const contact_step *step = s->step;
    int v0 = s->is->problem.tree[t].v0, n = s->is->problem.tree[t].nv, stride = row_stride(n);
    double *A = s->A + s->square[t];
    memcpy(A, step->work->H, sizeof *A * (size_t)n * (size_t)stride);
    for (int i = 0; i < n; i++) {
        double *row = s->dv + (ptrdiff_t)(v0 + i) * s->width;
        for (int j = 0; j < n; j++) {
            double mass = A[(ptrdiff_t)i * stride + j];
            s->H[(ptrdiff_t)(v0 + i) * s->stride + v0 + j] = mass;
            if (mass != 0) {
                row[column_of(s, t, BY_START_V, v0 + j)] += mass;
                add_columns(s, t, s->dt * mass, s->a + (ptrdiff_t)(v0 + j) * s->width, row);
            }
        }
        if (s->parts == ALL_PARTS) {
            row[column_of(s, t, BY_HELD, v0 + i)] -= s->dt;
        }
        int dof = s->dof[v0 + i];
        s->x[v0 + i] = s->is->v[v0 + i] - step->motion->now->v[dof] - s->dt * step->to->a[dof];
    }
    add_mass_times(s, t, -1, s->x, s->dv);
}

/* Adds the derivative of a move by part[k] of each velocity, and of where it begins if that is the start. */
static void add_move_parts(const island_system *s, int t, rotation_map map, const double *v, double h,
                           const double part[ALL_PARTS], double *to) {
    const sim_model *m = s->step->motion->model;
    derivative_work *work = s->step->work;
    int tree = s->step->rows->tree[s->is->first_tree + t], n = m->tree[tree].nv;
    sim_range bodies = sim_tree_range(m, tree);
    differentiate_move(m, bodies, map, v, h, &work->end);
    memset(work->LU, 0, sizeof *work->LU * (size_t)n * (size_t)row_stride(n));
    for (int i = 0; i < n; i++) {
        work->LU[(ptrdiff_t)i * row_stride(n) + i] = 1;
    }
    for (int k = 0; k < s->parts; k++) {
        if (part[k] != 0) {
            add_move_times(m, bodies, &work->end, k == BY_START_Q ? MOVE_FROM : MOVE_BY, part[k], n, work->LU,
                           row_stride(n), to + (ptrdiff_t)k * n, s->width);
        }
    }
}

/* Does the step expect that velocities change as in the steps before?  The change: then in contacts->v_ahead. */
static bool is_predicted(const island_system *s, int tree) {
    world_contacts *contacts = s->step->contacts;
    return contacts->follower && contacts->lasts[tree] && prediction_is_smooth(contacts, s->step->motion->now, tree);
}

/* Do its free motion or its contacts go by velocities that lead on, and may that end within `near`? */
static bool is_at_end_of_prediction(const island_system *s, int tree) {
    world_contacts *contacts = s->step->contacts;
    const sim_state *now = s->step->motion->now;
    bool used = forces_last(contacts, now, tree) || (contacts->follower && contacts->lasts[tree]);
    return used && prediction_may_change(contacts, now, tree, s->step->near);
}

/* v0 + part (change): 2 v0 - 3 v1 + v2 of the two steps before. */
static void fill_predicted(bool smooth, double part, double by[ALL_PARTS]) {
    by[BY_START_V] = smooth ? 1 + 2 * part : 1;
    by[BY_LAST_V] = smooth ? -3 * part : 0;
    by[BY_SECOND_LAST_V] = smooth ? part : 0;
}

/* q where J of contacts is taken: at the start, or midway as prediction.c moves the tree. */
static void differentiate_middle(const island_system *s, int t, bool smooth) {
    const contact_step *step = s->step;
    const motion_work *w = step->motion;
    const sim_model *m = w->model;
    world_contacts *contacts = step->contacts;
    derivative_work *work = step->work;
    int tree = step->rows->tree[s->is->first_tree + t], v0 = s->is->problem.tree[t].v0, n = m->tree[tree].nv;
    double *middle = s->middle + (ptrdiff_t)v0 * s->width + s->column[t];
    sim_range bodies = sim_tree_range(m, tree);
    bool implicit = theta_is_implicit(w->options->integrator);
    if (middle_is_start(step, tree)) {
        sim_kinematics(step->middle, bodies, w->now->q);
        for (int i = 0; i < n && s->goes_on; i++) {
            middle[(ptrdiff_t)i * s->width + i] = 1;
        }
        return;
    }
    /* the velocity on the way there: that of the mean, or v0 */
    double travel = implicit && smooth ? theta_travel(w->options->integrator) : 0, h = implicit ? s->dt : 0.5 * s->dt;
    rotation_map map = implicit ? ROTATION_CAYLEY_HALF : ROTATION_EXP;
    for (int j = m->tree[tree].v0; j < m->tree[tree].v0 + n; j++) {
        work->v[j] = w->now->v[j] + (travel > 0 ? travel * contacts->v_ahead[j] : 0);
    }
    double part[ALL_PARTS] = {[BY_START_Q] = 1};
    fill_predicted(travel > 0, travel, part);
    add_move_parts(s, t, map, work->v, h, part, middle);
    advance_by(m, bodies, map, w->now->q, work->v, h, work->q);
    sim_kinematics(step->middle, bodies, work->q);
}

/* q and v where contacts that last are expected at the end, as prediction.c moves the tree. */
static void differentiate_ahead(const island_system *s, int t, bool smooth) {
    const contact_step *step = s->step;
    const motion_work *w = step->motion;
    const sim_model *m = w->model;
    derivative_work *work = step->work;
    int tree = step->rows->tree[s->is->first_tree + t], v0 = s->is->problem.tree[t].v0, n = m->tree[tree].nv;
    double *ahead = s->ahead + (ptrdiff_t)v0 * s->width + s->column[t];
    sim_range bodies = sim_tree_range(m, tree);
    bool half = prediction_place(w->options) > 0, explicit = half && !theta_is_implicit(w->options->integrator);
    /* from the middle by v1, or from the start by the mean velocity */
    double travel = explicit ? 1 : theta_travel(w->options->integrator), h = explicit ? 0.5 * s->dt : s->dt;
    rotation_map map = half && !explicit ? ROTATION_CAYLEY : ROTATION_EXP;
    for (int i = 0; i < n; i++) {
        int j = m->tree[tree].v0 + i;
        double gain = smooth ? step->contacts->v_ahead[j] : 0;
        s->v_ahead[v0 + i] = w->now->v[j] + gain;
        work->v[j] = w->now->v[j] + travel * gain;
    }
    fill_predicted(smooth, 1, s->ahead_part + (ptrdiff_t)ALL_PARTS * t);
    double part[ALL_PARTS] = {[BY_START_Q] = !explicit};
    fill_predicted(smooth, travel, part);
    add_move_parts(s, t, map, work->v, h, part, ahead);
    if (explicit) {
        const double *middle = s->middle + (ptrdiff_t)v0 * s->width + s->column[t];
        add_move_times(m, bodies, &work->end, MOVE_FROM, 1, s->parts * n, middle, s->width, ahead, s->width);
    }
    const double *from = explicit ? work->q : w->now->q;
    advance_by(m, bodies, map, from, work->v, h, work->q_ahead);
    sim_kinematics(step->ahead, bodies, work->q_ahead);
}

/* a of a tree: that of the theta scheme, whose free motion takes the held forces like any others. */
static double differentiate_mean_acceleration(const island_system *s, int t) {
    const contact_step *step = s->step;
    int tree = step->rows->tree[s->is->first_tree + t], v0 = s->is->problem.tree[t].v0, n = s->is->problem.tree[t].nv,
        width = row_stride(3 * n);
    double residual = theta_free_derivatives(step->work, step->motion, step->to, tree, width);
    for (int i = 0; i < n; i++) {
        const double *from = step->work->A + (ptrdiff_t)i * width;
        double *row = s->a + (ptrdiff_t)(v0 + i) * s->width, *to = row + s->column[t];
        memcpy(to, from, sizeof *to * STATE_PARTS * (size_t)n);
        if (s->parts == ALL_PARTS) {
            memcpy(to + (ptrdiff_t)BY_HELD * n, from + (ptrdiff_t)BY_FORCE * n, sizeof *to * (size_t)n);
        }
        for (int p = 0; p < step->parameters; p++) {
            row[s->parameter0 + p] =
                dense_dot(n, from + (ptrdiff_t)BY_FORCE * n, step->work->force_by + (ptrdiff_t)p * n);
        }
    }
    return residual;
}

/* a of a tree, and q*: from dq0, by dv0 + gain da. */
static double differentiate_tree(const island_system *s, int t) {
    const contact_step *step = s->step;
    const motion_work *w = step->motion;
    const sim_model *m = w->model;
    derivative_work *work = step->work;
    const theta_scheme *scheme = theta_scheme_of(w->options->integrator);
    int tree = step->rows->tree[s->is->first_tree + t], v0 = s->is->problem.tree[t].v0, n = m->tree[tree].nv;
    ptrdiff_t row = (ptrdiff_t)v0 * s->width;
    sim_range bodies = sim_tree_range(m, tree);
    double gain = scheme->explicit_position ? 0 : scheme->travel * s->dt;
    double residual = differentiate_mean_acceleration(s, t);
    differentiate_diagonals(s, t);
    sim_kinematics(step->start, bodies, w->now->q);
    differentiate_held_weight(s, t);
    double *unit = work->LU, *place = s->place + row + s->column[t];
    memset(unit, 0, sizeof *unit * (size_t)n * (size_t)row_stride(n));
    for (int i = 0; i < n; i++) {
        unit[(ptrdiff_t)i * row_stride(n) + i] = 1;
    }
    add_move_times(m, bodies, &work->point, MOVE_FROM, 1, n, unit, row_stride(n), place, s->width);
    add_move_times(m, bodies, &work->point, MOVE_BY, 1, n, unit, row_stride(n), place + n, s->width);
    if (gain != 0) {
        const double *a = s->a + row;
        int first = s->column[t], last = s->parameter0;
        add_move_times(m, bodies, &work->point, MOVE_BY, gain, s->parts * n, a + first, s->width, place, s->width);
        add_move_times(m, bodies, &work->point, MOVE_BY, gain, step->parameters, a + last, s->width,
                       s->place + row + last, s->width);
    }
    bool smooth = is_predicted(s, tree);
    differentiate_middle(s, t, smooth);
    if (s->follows) {
        differentiate_ahead(s, t, smooth);
    }
    return residual;
}

/* ---- constraints ---- */

/* The impulses while v stays, from dR and, in place of dtarget, dz. */
static void differentiate_impulses(const island_system *s, constraint_system *k, const column_set *set, const double *R,
                                   double *target) {
    const local_frame *at = &k->by.at;
    int rows = k->c->rows;
    for (int r = 0; r < rows; r++) {
        /* dw + dJ v, of the local width */
        double *sum = s->local;
        memcpy(sum, k->by.offset + (ptrdiff_t)r * at->width, sizeof *sum * (size_t)at->width);
        for (int side = 0, i = 0; side < at->trees; side++) {
            for (int j = at->dof[side]; j < at->dof[side] + at->dofs[side]; j++, i++) {
                dense_axpy(at->width, s->is->v[j], k->by.J[r] + (ptrdiff_t)i * at->width, sum);
            }
        }
        add_local(s, at, -1, sum, target + (ptrdiff_t)r * s->width);
    }
    for (int r = 0; r < rows; r++) {
        double *gamma = k->gamma + (ptrdiff_t)r * s->width;
        for (int t = 0; t < rows; t++) {
            if (k->slopes.G[r][t] != 0) {
                add_set(s, set, k->slopes.G[r][t], target + (ptrdiff_t)t * s->width, gamma);
            }
            if (k->slopes.by_R[r][t] != 0) {
                add_set(s, set, k->slopes.by_R[r][t], R + (ptrdiff_t)t * s->width, gamma);
            }
        }
        for (int p = 0; p < s->step->parameters; p++) {
            gamma[s->parameter0 + p] += k->slopes.by_friction[r] * k->by.surface.friction[p];
        }
    }
}

/* H and the right side of (2). */
static void add_constraint(island_system *s, const constraint_system *k, const column_set *set) {
    const local_frame *at = &k->by.at;
    int rows = k->c->rows;
    for (int side = 0, i = 0; side < at->trees; side++) {
        for (int dof = at->dof[side]; dof < at->dof[side] + at->dofs[side]; dof++, i++) {
            double *row = s->dv + (ptrdiff_t)dof * s->width, *H = s->H + (ptrdiff_t)dof * s->stride;
            memset(s->local, 0, sizeof *s->local * (size_t)at->width);
            for (int r = 0; r < rows; r++) {
                dense_axpy(at->width, k->impulse[r], k->by.J[r] + (ptrdiff_t)i * at->width, s->local);
            }
            add_local(s, at, 1, s->local, row);
            for (int r = 0; r < rows; r++) {
                double J = k->J[(ptrdiff_t)r * at->n + i];
                if (J != 0) {
                    add_set(s, set, J, k->gamma + (ptrdiff_t)r * s->width, row);
                }
                for (int t = 0; t < rows; t++) {
                    double G = J * k->slopes.G[r][t];
                    const double *J_t = k->J + (ptrdiff_t)t * at->n;
                    for (int other = 0; other < at->trees && G != 0; J_t += at->dofs[other], other++) {
                        dense_axpy(at->dofs[other], G, J_t, H + at->dof[other]);
                    }
                }
            }
        }
    }
}

/* The rows of a constraint, and the slopes of its impulses. */
static bool fill_constraint(island_system *s, int i) {
    const sim_problem *p = &s->is->problem;
    constraint_system *k = &s->constraint[i];
    if (!open_constraint(s, i, k) || !differentiate_rows(s, i, &k->by)) {
        return false;
    }
    s->trouble = k->by.trouble ? k->by.trouble : s->trouble;
    fill_delassus(s, k);
    double z[SIM_MAX_ROWS];
    int row = k->c->row;
    for (int r = 0; r < k->c->rows; r++) {
        double w = p->offset ? p->offset[row + r] : 0;
        z[r] = s->is->law.target[row + r] - w - local_dot(&k->by.at, k->J + (ptrdiff_t)r * k->by.at.n, s->is->v);
    }
    law_impulse_slopes(k->c, s->dt, s->step->motion->options->solver->cone, z, s->is->law.R + row, s->step->near,
                       &k->slopes);
    return true;
}

/* Rows of the island's width, zeros in the columns of a set; everywhere where others may be read. */
static double *zeros_of_set(const island_system *s, const column_set *set, int rows) {
    ptrdiff_t size = (ptrdiff_t)rows * s->width;
    if (set->wide || s->parts == ALL_PARTS) {
        return zeros(s->step->arena, size);
    }
    double *x = numbers_of(s->step->arena, size);
    for (ptrdiff_t row = 0; x && row < size; row += s->width) {
        for (int side = 0; side < set->at->trees; side++) {
            memset(x + row + set->at->column[side], 0, sizeof *x * (size_t)set->at->columns[side]);
        }
        memset(x + row + s->parameter0, 0, sizeof *x * (size_t)s->step->parameters);
    }
    return x;
}

/* Its part in H and the right side of (2). */
static bool differentiate_constraint(island_system *s, int i) {
    constraint_system *k = &s->constraint[i];
    sim_arena *arena = s->step->arena;
    column_set set = {.at = &k->by.at, .guess = s->guess0 + k->c->row};
    set.wide = sim_options_compliance(s->step->motion->options) == SIM_ELASTIC;
    set.guesses = s->parts == ALL_PARTS ? k->c->rows : 0;
    k->gamma = zeros_of_set(s, &set, k->c->rows);
    size_t mark = arena_mark(arena);
    double *R = zeros_of_set(s, &set, k->c->rows), *target = zeros_of_set(s, &set, k->c->rows);
    if (!k->gamma || !R || !target || !differentiate_law(s, k, R, target, &set)) {
        return false;
    }
    differentiate_impulses(s, k, &set, R, target);
    add_constraint(s, k, &set);
    s->kinks += k->by.kink || k->slopes.kink;
    arena_release(arena, mark);
    return true;
}

/* ---- the whole ---- */

/* Dofs and columns, tree by tree. */
static void place_trees(island_system *s) {
    const sim_problem *p = &s->is->problem;
    int column = 0;
    ptrdiff_t square = 0;
    for (int t = 0; t < p->ntree; t++) {
        int first = s->step->motion->model->tree[s->step->rows->tree[s->is->first_tree + t]].v0;
        for (int j = 0; j < p->tree[t].nv; j++) {
            s->dof[p->tree[t].v0 + j] = first + j;
        }
        s->column[t] = column;
        s->square[t] = square;
        s->mass_change[t] = NULL;
        column += s->parts * p->tree[t].nv;
        square += (ptrdiff_t)p->tree[t].nv * row_stride(p->tree[t].nv);
    }
}

static ptrdiff_t squares_of(const sim_problem *p) {
    ptrdiff_t sum = 0;
    for (int t = 0; t < p->ntree; t++) {
        sum += (ptrdiff_t)p->tree[t].nv * row_stride(p->tree[t].nv);
    }
    return sum;
}

/* Is v of the free motion wanted: by loads, or by the bias of equalities? */
static bool takes_free_motion(const contact_step *step) {
    return sim_options_compliance(step->motion->options) == SIM_ELASTIC || step->motion->model->nequality > 0;
}

/* Of the diagonal of A, where it changes.  False without memory. */
static bool make_bends(const contact_step *step, const island *is, island_system *s) {
    bool bends = has_bends(step, is);
    s->by_rate = zeros(step->arena, s->n);
    s->rate = zeros(step->arena, bends ? (ptrdiff_t)s->n * s->width : 0);
    s->bend = bends ? ARENA_NEW(step->arena, diagonal_change, s->n) : NULL;
    return s->by_rate && s->rate && (s->bend || !bends);
}

/* Zeros for all matrices of an island. */
static bool make_system(const contact_step *step, const island *is, island_system *s) {
    sim_arena *arena = step->arena;
    const sim_problem *p = &is->problem;
    int n = p->nv, parts = step->memory ? ALL_PARTS : STATE_PARTS;
    *s = (island_system){.step = step,
                         .is = is,
                         .n = n,
                         .stride = row_stride(n),
                         .parts = parts,
                         .parameter0 = parts * n,
                         .guess0 = parts * n + step->parameters,
                         .dt = step->motion->options->step};
    s->squares = squares_of(p);
    s->width = row_stride(s->guess0 + (step->memory ? p->nrow : 0));
    s->follows = follows_contacts(step, is);
    s->goes_on = s->follows;
    for (int t = 0; t < p->ntree; t++) {
        s->goes_on = s->goes_on || !middle_is_start(step, step->rows->tree[is->first_tree + t]);
    }
    double **panels[] = {&s->a, &s->place, &s->dv, &s->middle};
    double **vectors[] = {&s->x, &s->y, &s->v_law, &s->v_ahead};
    bool all = true;
    for (int k = 0; k < 4; k++) {
        all &= (*panels[k] = zeros(arena, k < 3 || s->goes_on ? (ptrdiff_t)n * s->width : 0)) != NULL;
        all &= (*vectors[k] = zeros(arena, n)) != NULL;
    }
    s->free = zeros(arena, takes_free_motion(step) ? (ptrdiff_t)n * s->width : 0);
    s->H = zeros(arena, (ptrdiff_t)n * s->stride);
    s->LU = numbers_of(arena, (ptrdiff_t)n * s->stride);
    s->A = zeros(arena, s->squares);
    s->factor = zeros(arena, s->squares);
    s->strike = zeros(arena, s->width);
    s->carried = zeros(arena, s->width);
    s->carried_first = -1;
    s->weight = zeros(arena, s->width);
    s->local = zeros(arena, s->width);
    s->row_parts = s->follows ? parts : row_parts_of(step, is, parts);
    s->ahead = zeros(arena, s->follows ? (ptrdiff_t)n * s->width : 0);
    s->ahead_part = zeros(arena, (ptrdiff_t)ALL_PARTS * p->ntree);
    s->mass_change = ARENA_NEW(arena, double *, p->ntree);
    s->sums = zeros(arena, SIM_MAX_ROWS * (ptrdiff_t)n);
    s->solve = zeros(arena, lu_work(n) + n);
    s->dof = ARENA_NEW(arena, int, n);
    s->column = ARENA_NEW(arena, int, p->ntree);
    s->square = ARENA_NEW(arena, ptrdiff_t, p->ntree);
    s->swap = ARENA_NEW(arena, int, n);
    s->swap_A = ARENA_NEW(arena, int, n);
    s->constraint = ARENA_NEW(arena, constraint_system, p->nconstraint + 1);
    if (!all || !s->free || !make_bends(step, is, s) || !make_servos(s, takes_free_motion(step)) || !s->ahead ||
        !s->ahead_part || !s->H || !s->LU || !s->A || !s->factor || !s->strike || !s->carried || !s->weight ||
        !s->local || !s->mass_change || !s->sums || !s->solve || !s->dof || !s->column || !s->square || !s->swap ||
        !s->swap_A || !s->constraint) {
        return false;
    }
    for (int c = 0; c < s->width; c++) {
        s->weight[c] = 1 + c % 7;
    }
    place_trees(s);
    return true;
}

/* dv <- H^-1 dv; the relative residual. */
static double solve_system(const island_system *s) {
    double error = 0, size = 0, *x = s->x, *y = s->y; /* of one combination of the columns */
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < s->n; i++) {
            (pass ? x : y)[i] = dense_dot(s->width, s->dv + (ptrdiff_t)i * s->width, s->weight);
        }
        if (pass == 0) {
            memcpy(s->LU, s->H, sizeof *s->H * (size_t)s->n * (size_t)s->stride);
            if (!lu_factor(s->n, s->stride, s->LU, s->swap, s->solve, NULL)) {
                return INFINITY;
            }
            lu_solve_block(s->n, s->stride, s->LU, s->swap, s->width, s->dv, s->solve);
        }
    }
    for (int i = 0; i < s->n; i++) {
        double sum = -y[i], terms = fabs(y[i]);
        for (int j = 0; j < s->n; j++) {
            double product = s->H[(ptrdiff_t)i * s->stride + j] * x[j];
            sum += product;
            terms += fabs(product);
        }
        error = fmax(error, fabs(sum));
        size = fmax(size, terms);
    }
    return size > 0 ? error / size : 0;
}

enum { MOST_TABLED = 8 }; /* dofs of a tree whose dA is kept */

/* dA of small trees that many rows read. */
static bool tabulate_small(const island_system *s) {
    const sim_problem *p = &s->is->problem;
    int rows = sim_options_compliance(s->step->motion->options) == SIM_ELASTIC ? 1 : SIM_CONTACT_ROWS;
    bool ok = true;
    for (int t = 0; t < p->ntree && ok; t++) {
        int n = p->tree[t].nv;
        if (n <= MOST_TABLED && 2 * rows * p->nconstraint > n * p->ntree) {
            ok = tabulate_mass(s, t);
        }
    }
    return ok;
}

bool differentiate_island(const contact_step *step, const island *is, island_system *s) {
    if (!make_system(step, is, s)) {
        return false;
    }
    /* free motion and A */
    for (int t = 0; t < is->problem.ntree; t++) {
        s->kinks += is_at_end_of_prediction(s, step->rows->tree[is->first_tree + t]);
        s->residual = fmax(s->residual, differentiate_tree(s, t));
        fill_tree(s, t);
    }
    if (!tabulate_small(s)) {
        return false;
    }
    if (!factor_masses(s)) {
        s->residual = INFINITY;
        return true;
    }
    if (takes_free_motion(step)) {
        differentiate_free(s, s->free);
        differentiate_law_free(s);
    }
    differentiate_servos(s);
    if (!factor_mass_of_rows(s)) {
        s->residual = INFINITY;
        return true;
    }
    /* rows of all constraints, then their laws */
    for (int i = 0; i < constraints_of(is); i++) {
        if (!fill_constraint(s, i)) {
            return false;
        }
    }
    for (int i = 0; i < constraints_of(is) && !s->trouble; i++) {
        if (!differentiate_constraint(s, i)) {
            return false;
        }
    }
    if (!s->trouble) {
        s->residual = fmax(s->residual, solve_system(s));
    }
    return true;
}
