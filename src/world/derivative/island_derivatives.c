/* Derivative of the end velocities of an island, by implicit differentiation of its contact problem at the answer.
 *
 *     A (v - v*) = J' gamma(z, R),    z = target - J v - w,    v* = v0 + dt a - A^-1 dt h                     (1)
 *     H dv = A (dv0 + dt da) - dA y + dJ' gamma + J' (G (dtarget - dJ v - dw) + gamma_R dR)                    (2)
 *     H = A + J' G J,    G = d gamma / dz,    gamma_R = d gamma / dR,    y = v - v0 - dt a
 *     dR, dtarget    by w, gap, guess and stiffness (problem/law_slopes.c),  w by W = J A^-1 J', and its load (load_derivatives.c):
 *     dW = dJ Y + Y' dJ' - Y' dA Y,    Y = A^-1 J'                                                            (3)
 *
 *     a        mean acceleration of the free motion, with forces h held from the step before (theta_derivatives.c)
 *     A        M + E at q*, where free motion takes its forces, so dA x = (dM/dq x) dq*;  other letters: docs/contact.md
 *
 * Every row has R > 0, so impulses are a function of z, piece by piece: H and (2) hold on the pieces of the answer.  The
 * set of rows and contact points is held.  The warm start plays a part in (1) only as elastic laws keep it.
 * Certificate: |H X - B| over |H| |X| + |B| of (2), for one combination of the columns.
 * Reference: A. Griewank, A. Walther, Evaluating Derivatives, 2008, chapter 15; Castro, Permenter, Han 2021 (H).
 * Cost: n^3 for the n dofs of an island; n^2 for each row. */
#include "linalg/dense/lu.h"
#include "problem/law_slopes.h"
#include "world/derivative/derivative.h"

#include <string.h>

/* ---- free motion and mass ---- */

/* Rows of the right side of (2) from one tree: A (dv0 + dt da) - dA y; y in s->J. */
static void fill_tree(const island_system *s, int t) {
    const contact_step *step = s->step;
    int v0 = s->is->problem.tree[t].v0, n = s->is->problem.tree[t].nv, n_stride = row_stride(n);
    double *y = s->J;
    for (int i = v0; i < v0 + n; i++) {
        double *row = s->dv + (ptrdiff_t)i * s->width;
        for (int j = v0; j < v0 + n; j++) {
            double mass = step->work->H[(ptrdiff_t)(i - v0) * n_stride + j - v0];
            s->A[(ptrdiff_t)i * s->stride + j] = mass;
            row[s->n + j] += mass;
            dense_axpy(s->width, s->dt * mass, s->a + (ptrdiff_t)j * s->width, row);
        }
        y[i] = s->is->v[i] - step->motion->now->v[s->dof[i]] - s->dt * step->to->a[s->dof[i]];
    }
    add_mass_times(s, t, -1, y, s->dv);
}

/* q where J of contacts is taken: at the start, or midway as prediction.c moves the tree. */
static void differentiate_middle(const island_system *s, int t, double *unit) {
    const contact_step *step = s->step;
    const motion_work *w = step->motion;
    const sim_model *m = w->model;
    world_contacts *contacts = step->contacts;
    derivative_work *work = step->work;
    int tree = step->rows->tree[s->is->first_tree + t], v0 = s->is->problem.tree[t].v0, n = m->tree[tree].nv;
    ptrdiff_t row = (ptrdiff_t)v0 * s->width;
    sim_range bodies = sim_tree_range(m, tree);
    bool half = contacts->follower && contacts->lasts[tree] && prediction_place(w->options) > 0;
    bool implicit = theta_is_implicit(w->options->integrator);
    if (!half) {
        sim_kinematics(step->middle, bodies, w->now->q);
        for (int i = 0; i < n; i++) {
            s->middle[row + (ptrdiff_t)i * s->width + v0 + i] = 1;
        }
        return;
    }
    /* the velocity on the way there: v0, and an extrapolated change if nothing has struck */
    bool smooth = implicit && prediction_is_smooth(contacts, w->now, tree);
    double travel = theta_travel(w->options->integrator), h = implicit ? s->dt : 0.5 * s->dt;
    rotation_map map = implicit ? ROTATION_CAYLEY_HALF : ROTATION_EXP;
    for (int j = m->tree[tree].v0; j < m->tree[tree].v0 + n; j++) {
        work->v[j] = w->now->v[j] + (smooth ? travel * contacts->v_ahead[j] : 0);
    }
    differentiate_move(m, bodies, map, work->v, h, &work->end);
    advance_by(m, bodies, map, w->now->q, work->v, h, work->q);
    sim_kinematics(step->middle, bodies, work->q);
    for (int part = 0; part < 2; part++) {
        memset(unit, 0, sizeof *unit * (size_t)n * (size_t)s->width);
        for (int i = 0; i < n; i++) {
            unit[(ptrdiff_t)i * s->width + part * s->n + v0 + i] = part && smooth ? 1 + 2 * travel : 1;
        }
        add_move_times(m, bodies, &work->end, part ? MOVE_BY : MOVE_FROM, 1, s->width, unit, s->width, s->middle + row,
                       s->width);
    }
    memset(unit, 0, sizeof *unit * (size_t)n * (size_t)s->width);
}

/* a of a tree, and q*. */
static double differentiate_tree(const island_system *s, int t) {
    const contact_step *step = s->step;
    const motion_work *w = step->motion;
    const sim_model *m = w->model;
    const theta_scheme *scheme = theta_scheme_of(w->options->integrator);
    int tree = step->rows->tree[s->is->first_tree + t], v0 = s->is->problem.tree[t].v0, n = m->tree[tree].nv;
    int width = row_stride(3 * n);
    ptrdiff_t row = (ptrdiff_t)v0 * s->width;
    sim_range bodies = sim_tree_range(m, tree);
    double gain = scheme->explicit_position ? 0 : scheme->travel * s->dt;
    double residual = theta_free_derivatives(step->work, w, step->to, tree, width);
    sim_kinematics(step->start, bodies, w->now->q);
    for (int i = 0; i < n; i++) {
        for (int block = 0; block < 3; block++) {
            memcpy(s->a + row + (ptrdiff_t)i * s->width + block * s->n + v0,
                   step->work->A + (ptrdiff_t)i * width + block * n, sizeof *s->a * (size_t)n);
        }
        for (int p = 0; p < step->parameters; p++) {
            s->a[row + (ptrdiff_t)i * s->width + 3 * s->n + p] =
                dense_dot(n, step->work->A + (ptrdiff_t)i * width + 2 * n, step->work->force_by + (ptrdiff_t)p * n);
        }
    }
    /* dq* = from dq0 + by (dv0 + gain da); dv serves as work space */
    double *rate = s->dv + row;
    for (int i = 0; i < n; i++) {
        dense_axpy(s->width, gain, s->a + row + (ptrdiff_t)i * s->width, rate + (ptrdiff_t)i * s->width);
        rate[(ptrdiff_t)i * s->width + s->n + v0 + i] += 1;
    }
    add_move_times(m, bodies, &step->work->point, MOVE_BY, 1, s->width, rate, s->width, s->place + row, s->width);
    memset(rate, 0, sizeof *rate * (size_t)n * (size_t)s->width);
    for (int i = 0; i < n; i++) {
        rate[(ptrdiff_t)i * s->width + v0 + i] = 1;
    }
    add_move_times(m, bodies, &step->work->point, MOVE_FROM, 1, s->width, rate, s->width, s->place + row, s->width);
    memset(rate, 0, sizeof *rate * (size_t)n * (size_t)s->width);
    differentiate_middle(s, t, rate);
    return residual;
}

/* ---- constraints ---- */

/* (3) by the weights of dW: dw, a row of width numbers.  Y of all rows, weighted, is in the last n numbers of k->Y. */
static void differentiate_inverse_mass(const island_system *s, const constraint_system *k, const double *weight,
                                       double *dw) {
    int rows = k->c->rows;
    double *sum = k->Y + (ptrdiff_t)rows * s->n;
    for (int r = 0; r < rows; r++) {
        memset(sum, 0, sizeof *sum * (size_t)s->n);
        for (int i = 0; i < rows; i++) {
            dense_axpy(s->n, weight[r * rows + i], k->Y + (ptrdiff_t)i * s->n, sum);
        }
        add_product(s, 2, sum, k->by.J[r], dw);
        for (int side = 0; side < 2 && k->c->tree[side] >= 0; side++) {
            add_mass_change(s, k->c->tree[side], -1, sum, k->Y + (ptrdiff_t)r * s->n, dw);
        }
    }
}

/* R and target of every row. */
static bool differentiate_law(island_system *s, constraint_system *k) {
    const sim_options *o = s->step->motion->options;
    const sim_constraint *c = k->c;
    sim_compliance compliance = sim_options_compliance(o);
    bool loaded = compliance == SIM_ELASTIC && c->kind == SIM_CONTACT;
    sim_regularisation law = {s->is->law.R, s->is->law.target};
    double weight[SIM_MAX_ROWS * SIM_MAX_ROWS], *dw = zeros(s->step->arena, s->width);
    if (!dw) {
        return false;
    }
    double w = 0;
    for (int r = 0; r < c->rows; r++) {
        row_slopes slopes;
        double *R = k->R + (ptrdiff_t)r * s->width, *target = k->target + (ptrdiff_t)r * s->width;
        if (r == 0 || !loaded) { /* an elastic contact has one w for all rows */
            w = law_mass_weights(compliance, c, k->W, r, weight);
            memset(dw, 0, sizeof *dw * (size_t)s->width);
            differentiate_inverse_mass(s, k, weight, dw);
            if (loaded && !differentiate_load(s, k, &w, dw)) {
                return false;
            }
        }
        if (!law_row_slopes(&s->is->problem, compliance, &o->law, &law, c, r, w, &slopes)) {
            s->trouble = "has a row whose law follows more than gap and mass: a bounce, an overlap held back";
        }
        k->by.kink |= slopes.kink;
        dense_axpy(s->width, slopes.R_w, dw, R);
        dense_axpy(s->width, slopes.target_w, dw, target);
        dense_axpy(s->width, slopes.target_guess, k->by.guess + (ptrdiff_t)r * s->width, target);
        for (int i = 0; i < 3 && r / 3 * 3 + i < c->rows; i++) {
            const double *gap = k->by.gap + (ptrdiff_t)(r / 3 * 3 + i) * s->width;
            dense_axpy(s->width, slopes.R_gap[i], gap, R);
            dense_axpy(s->width, slopes.target_gap[i], gap, target);
        }
        for (int p = 0; p < s->step->parameters; p++) {
            R[3 * s->n + p] += slopes.R_stiffness * k->by.stiffness[p] + slopes.R_dissipation * k->by.dissipation[p];
            target[3 * s->n + p] += slopes.target_dissipation * k->by.dissipation[p];
        }
    }
    return true;
}

/* H and the right side of (2), by the slopes of the impulses. */
static void add_constraint(island_system *s, constraint_system *k, const impulse_slopes *slopes) {
    const sim_constraint *c = k->c;
    /* dz, in place of dtarget */
    for (int r = 0; r < c->rows; r++) {
        double *z = k->target + (ptrdiff_t)r * s->width;
        dense_axpy(s->width, -1, k->by.offset + (ptrdiff_t)r * s->width, z);
        add_product(s, -1, s->is->v, k->by.J[r], z);
    }
    for (int i = 0; i < s->n; i++) {
        double *row = s->dv + (ptrdiff_t)i * s->width, *H = s->H + (ptrdiff_t)i * s->stride;
        for (int r = 0; r < c->rows; r++) {
            dense_axpy(s->width, k->impulse[r], k->by.J[r] + (ptrdiff_t)i * s->width, row);
            for (int p = 0; p < s->step->parameters; p++) {
                row[3 * s->n + p] += s->J[(ptrdiff_t)r * s->n + i] * slopes->by_friction[r] * k->by.friction[p];
            }
            for (int t = 0; t < c->rows; t++) {
                double J = s->J[(ptrdiff_t)r * s->n + i], G = J * slopes->G[r][t], by_R = J * slopes->by_R[r][t];
                if (G != 0) {
                    dense_axpy(s->n, G, s->J + (ptrdiff_t)t * s->n, H);
                    dense_axpy(s->width, G, k->target + (ptrdiff_t)t * s->width, row);
                }
                if (by_R != 0) {
                    dense_axpy(s->width, by_R, k->R + (ptrdiff_t)t * s->width, row);
                }
            }
        }
    }
}

/* Y = A^-1 J' and W = J Y. */
static void fill_delassus(const island_system *s, constraint_system *k) {
    int rows = k->c->rows;
    memcpy(k->Y, s->J, sizeof *s->J * (size_t)rows * (size_t)s->n);
    for (int r = 0; r < rows; r++) {
        lu_solve(s->n, s->stride, s->factor, s->swap_A, k->Y + (ptrdiff_t)r * s->n);
    }
    for (int r = 0; r < rows; r++) {
        for (int t = 0; t < rows; t++) {
            k->W[r * rows + t] = dense_dot(s->n, s->J + (ptrdiff_t)r * s->n, k->Y + (ptrdiff_t)t * s->n);
        }
    }
}

/* The part of a constraint in H and the right side of (2). */
static bool differentiate_constraint(island_system *s, int i) {
    const sim_problem *p = &s->is->problem;
    sim_arena *arena = s->step->arena;
    constraint_system k = {.index = i, .c = &p->constraint[i]};
    int rows = k.c->rows, row = k.c->row;
    size_t mark = arena_mark(arena);
    k.impulse = s->is->impulse + row;
    k.Y = zeros(arena, (ptrdiff_t)(rows + 1) * s->n);
    k.R = zeros(arena, (ptrdiff_t)rows * s->width);
    k.target = zeros(arena, (ptrdiff_t)rows * s->width);
    if (!make_change(s, rows, &k.by) || !k.Y || !k.R || !k.target) {
        return false;
    }
    if (!differentiate_rows(s, i, &k.by)) {
        return false;
    }
    s->trouble = k.by.trouble ? k.by.trouble : s->trouble;
    spread_rows(s, k.c);
    fill_delassus(s, &k);
    if (!differentiate_law(s, &k)) {
        return false;
    }
    double z[SIM_MAX_ROWS];
    impulse_slopes slopes;
    for (int r = 0; r < rows; r++) {
        double w = p->offset ? p->offset[row + r] : 0;
        z[r] = s->is->law.target[row + r] - w - dense_dot(s->n, s->J + (ptrdiff_t)r * s->n, s->is->v);
    }
    law_impulse_slopes(k.c, s->dt, s->step->motion->options->solver->cone, z, s->is->law.R + row, &slopes);
    add_constraint(s, &k, &slopes);
    s->kinks += k.by.kink || slopes.kink;
    arena_release(arena, mark);
    return true;
}

/* ---- the whole ---- */

/* Zeros for all matrices of an island, and the list of its dofs. */
static bool make_system(const contact_step *step, const island *is, island_system *s) {
    sim_arena *arena = step->arena;
    const sim_problem *p = &is->problem;
    int n = p->nv;
    *s = (island_system){.step = step,
                         .is = is,
                         .n = n,
                         .stride = row_stride(n),
                         .width = row_stride(3 * n + step->parameters),
                         .dt = step->motion->options->step};
    double **squares[] = {&s->A, &s->factor, &s->H, &s->LU},
           **panels[] = {&s->a, &s->place, &s->middle, &s->dv, &s->free};
    bool all = true;
    for (size_t k = 0; k < sizeof squares / sizeof *squares; k++) {
        all &= (*squares[k] = zeros(arena, (ptrdiff_t)n * s->stride)) != NULL;
    }
    for (size_t k = 0; k < sizeof panels / sizeof *panels; k++) {
        all &= (*panels[k] = zeros(arena, (ptrdiff_t)n * s->width)) != NULL;
    }
    s->J = zeros(arena, (ptrdiff_t)SIM_MAX_ROWS * n);
    s->solve = zeros(arena, lu_work(n) + n);
    s->dof = ARENA_NEW(arena, int, n);
    s->swap = ARENA_NEW(arena, int, n);
    s->swap_A = ARENA_NEW(arena, int, n);
    if (!all || !s->J || !s->solve || !s->dof || !s->swap || !s->swap_A) {
        return false;
    }
    for (int t = 0; t < p->ntree; t++) {
        int first = step->motion->model->tree[step->rows->tree[is->first_tree + t]].v0;
        for (int j = 0; j < p->tree[t].nv; j++) {
            s->dof[p->tree[t].v0 + j] = first + j;
        }
    }
    return true;
}

/* dv <- H^-1 dv; the relative residual. */
static double solve_system(const island_system *s) {
    double error = 0, size = 0, *x = s->J, *y = s->J + s->n; /* of one combination of the columns */
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < s->n; i++) {
            double sum = 0;
            for (int c = 0; c < s->width; c++) {
                sum += s->dv[(ptrdiff_t)i * s->width + c] / (1 + c % 7);
            }
            (pass ? x : y)[i] = sum;
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

bool differentiate_island(const contact_step *step, const island *is, island_system *s) {
    if (!make_system(step, is, s)) {
        return false;
    }
    /* free motion and A; q* of all trees comes before the first dA */
    for (int t = 0; t < is->problem.ntree; t++) {
        s->residual = fmax(s->residual, differentiate_tree(s, t));
        fill_tree(s, t);
    }
    memcpy(s->H, s->A, sizeof *s->A * (size_t)s->n * (size_t)s->stride);
    memcpy(s->factor, s->A, sizeof *s->A * (size_t)s->n * (size_t)s->stride);
    if (!lu_factor(s->n, s->stride, s->factor, s->swap_A, s->solve, NULL)) {
        s->residual = INFINITY;
        return true;
    }
    if (sim_options_compliance(step->motion->options) == SIM_ELASTIC) {
        differentiate_free(s, s->free);
    }
    /* constraints */
    for (int i = 0; i < is->problem.nconstraint; i++) {
        if (!differentiate_constraint(s, i)) {
            return false;
        }
    }
    s->residual = fmax(s->residual, solve_system(s));
    return true;
}
