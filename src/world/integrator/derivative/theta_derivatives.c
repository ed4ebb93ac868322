/* Derivatives of a step of the theta family, by implicit differentiation of its equation at the solution.
 *
 *     R(a; q0, v0, f) = M(q*) (a - rho) + C(q*, v*) - tau(a) - J' F - E rho - f = 0                              (1)
 *     H = dR/da,    da/dx = -H^-1 dR/dx,    x = q0, v0, f                                                        (2)
 *     H = M + theta_v dt dC/dv + theta_q dt (d(M a + C - J' F)/dq) P + D - (M + E) drho/da - dE/da rho
 *
 *     a            mean acceleration (v1 - v0)/dt;  q*, v*: where the scheme takes its forces (theta.c);  dt: step, s
 *     P            d q* / d v along the way there (move_derivatives.c);  theta: parts of a in v* and q*
 *     D            diagonal of dampers and actuators;  E: the diagonal of the sweep;  f: generalised forces
 *     rho          swing of the origin of single rigid bodies (spin_derivatives.c), 0 in other trees
 *
 * Then v1 = v0 + dt a, and q1 follows by the derivative of its move.  The terms of O(dt) that sweeps leave out are in H.
 * Certificate: |H X - B| over |H| |X| + |B| of (2), for one combination of the columns.
 * Reference: A. Griewank, A. Walther, Evaluating Derivatives, 2008, chapter 15 (implicit functions); derivatives.c.
 * Cost: n^3 for the n dofs of the tree, dense. */
#include "linalg/dense/lu.h"
#include "model/parts/joint.h"
#include "world/integrator/derivative/tree_derivatives.h"

#include <math.h>
#include <string.h>

/* A tree on its way. */
typedef struct tree_work {
    derivative_work *work;
    const motion_work *w;
    const theta_scheme *s;
    int tree, v0, n, stride, width;
    sim_range bodies;
    double dt, velocity;
    const double *a, *extra; /* extra NULL: nothing */
} tree_work;

/* M of the tree, dense, into rows of `stride` numbers. */
static void spread_mass(const derivative_work *work, const sim_model *m, int v0, int n, int stride, double *H) {
    memset(H, 0, sizeof *H * (size_t)n * (size_t)stride);
    for (int i = v0; i < v0 + n; i++) {
        const double *row = work->M + m->dof[i].row;
        for (int j = i, k = m->dof[i].depth - 1; j >= 0; j = m->dof[j].parent, k--) {
            H[(ptrdiff_t)(i - v0) * stride + j - v0] = H[(ptrdiff_t)(j - v0) * stride + i - v0] = row[k];
        }
    }
}

void differentiate_forces(derivative_work *work, const motion_work *w, int tree, const double *q, const double *v,
                          const double *a, double time) {
    const sim_model *m = w->model;
    sim_range bodies = sim_tree_range(m, tree);
    int n = m->tree[tree].nv;
    sim_rnea_derivatives(work->dynamics, work->d, bodies, v, a, m->gravity, work->by_q, work->by_v);
    subtract_place_forces(w, tree, work->d, q, time, work->by_q);
    sim_crba(work->d, bodies, NULL, NULL, work->M);
    spread_mass(work, m, m->tree[tree].v0, n, row_stride(n), work->H);
}

double solve_derivatives(derivative_work *work, int n, int width, double *A) {
    int stride = row_stride(n);
    double *x = work->x, *y = work->y, error = 0, size = 0;
    /* B times weights of no pattern */
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int k = 0; k < width; k++) {
            y[i] += A[(ptrdiff_t)i * width + k] / (1 + k % 7);
        }
    }
    memcpy(work->LU, work->H, sizeof *work->H * (size_t)n * (size_t)stride);
    if (!lu_factor(n, stride, work->LU, work->swap, work->solve, NULL)) {
        return INFINITY;
    }
    lu_solve_block(n, stride, work->LU, work->swap, width, A, work->solve);
    for (int i = 0; i < n; i++) {
        x[i] = 0;
        for (int k = 0; k < width; k++) {
            x[i] += A[(ptrdiff_t)i * width + k] / (1 + k % 7);
        }
    }
    for (int i = 0; i < n; i++) {
        double sum = -y[i], terms = fabs(y[i]);
        for (int j = 0; j < n; j++) {
            double product = work->H[(ptrdiff_t)i * stride + j] * x[j];
            sum += product;
            terms += fabs(product);
        }
        error = fmax(error, fabs(sum));
        size = fmax(size, terms);
    }
    return size > 0 ? error / size : 0;
}

/* Kinematics and velocities where the scheme takes its forces, and the derivative of the way there. */
static void move_to_forces(const tree_work *t) {
    derivative_work *work = t->work;
    const sim_model *m = t->w->model;
    const double *v0 = t->w->now->v;
    double h = t->s->explicit_position ? t->s->position * t->dt : t->dt;
    double gain = t->s->explicit_position ? 0 : t->s->travel * t->dt;
    rotation_map map = !t->s->explicit_position && t->s->position == 0.5 ? ROTATION_CAYLEY_HALF : ROTATION_EXP;
    for (int j = t->v0; j < t->v0 + t->n; j++) {
        work->v[j] = v0[j] + gain * t->a[j];
    }
    differentiate_move(m, t->bodies, map, work->v, h, &work->point);
    advance_by(m, t->bodies, map, t->w->now->q, work->v, h, work->q);
    sim_kinematics(work->d, t->bodies, work->q);
    for (int j = t->v0; j < t->v0 + t->n; j++) {
        work->v[j] = v0[j] + t->velocity * t->dt * t->a[j];
    }
    sim_velocities(work->d, t->bodies, work->v);
}

static v3 vector_of(const double *x, int first) { return (v3){x[first], x[first + 1], x[first + 2]}; }

/* The single rigid bodies of the tree. */
static const spin_body *first_spin(const tree_work *t) { return t->w->spin + t->w->parts[t->tree].spin0; }

/* x = a - rho, and the derivatives of rho. */
static void subtract_swings(const tree_work *t, double *x) {
    const double *v = t->w->now->v, *q = t->w->now->q;
    memcpy(x + t->v0, t->a + t->v0, sizeof *x * (size_t)t->n);
    for (int k = 0; k < t->w->parts[t->tree].spins; k++) {
        const spin_body *s = first_spin(t) + k;
        if (s->linear >= 0) {
            const double *at = q + t->w->model->body[s->body].q0 + 3;
            v3 rho =
                differentiate_swing(t->w, s, t->extra, (sim_quat){at[0], at[1], at[2], at[3]}, vector_of(v, s->angular),
                                    vector_of(t->a, s->angular), t->velocity, t->work->swing + 3 * (ptrdiff_t)s->body);
            x[s->linear] -= rho.x;
            x[s->linear + 1] -= rho.y;
            x[s->linear + 2] -= rho.z;
        }
    }
}

/* Y += s (M + E) drho, three columns from `column` on; M n x stride. */
static void add_swing(const tree_work *t, const spin_body *s, double scale, const double *M, m3 by, int column,
                      int stride, double *Y) {
    int linear = s->linear - t->v0;
    for (int i = 0; i < t->n; i++) {
        const double *row = M + (ptrdiff_t)i * t->stride;
        double w[3];
        for (int k = 0; k < 3; k++) {
            w[k] = row[linear + k] + (t->extra && i == linear + k ? t->extra[s->linear + k] : 0);
        }
        v3 sum = m3_transposed_times(by, (v3){w[0], w[1], w[2]});
        double *y = Y + (ptrdiff_t)i * stride + column;
        y[0] += scale * sum.x;
        y[1] += scale * sum.y;
        y[2] += scale * sum.z;
    }
}

/* Of the damper of its i-th dof less E rho, by the velocity at which it acts.  x = a - rho. */
static double slope_of_damper(const tree_work *t, int i) {
    int j = t->v0 + i;
    double v = t->w->now->v[j] + t->s->damper * t->dt * t->a[j], rho = t->a[j] - t->work->x[j];
    diagonal_change E;
    double bend = rho != 0 && differentiate_diagonal(t->w, t->s, j, t->work->q, v, &E) ? E.by_v : 0;
    return dof_damper_slope(&t->w->model->dof[j], v) - rho * bend;
}

/* Less E rho by the place. */
static void subtract_place_bends(const tree_work *t) {
    for (int k = 0; k < t->w->parts[t->tree].spins; k++) {
        const spin_body *s = first_spin(t) + k;
        for (int j = s->linear; s->linear >= 0 && j < s->linear + 3; j++) {
            diagonal_change E;
            double rho = t->a[j] - t->work->x[j];
            bool any = differentiate_diagonal(t->w, t->s, j, t->work->q, t->w->now->v[j], &E);
            for (int c = 0; any && c < E.count; c++) {
                t->work->by_q[(ptrdiff_t)(j - t->v0) * t->n + E.first + c - t->v0] -= rho * E.by_q[c];
            }
        }
    }
}

/* -dR/dx into A; swings, from M alone in H. */
static void fill_right_sides(const tree_work *t) {
    derivative_work *work = t->work;
    const sim_model *m = t->w->model;
    double *A = work->A, *A_v = A + t->n;
    memset(A, 0, sizeof *A * (size_t)t->n * (size_t)t->width);
    add_times_move(m, t->bodies, &work->point, MOVE_FROM, -1, work->by_q, t->n, A, t->width);
    add_times_move(m, t->bodies, &work->point, MOVE_BY, -1, work->by_q, t->n, A_v, t->width);
    for (int i = 0; i < t->n; i++) {
        const drive_slopes *s = &work->drive[t->v0 + i];
        double *row = A + (ptrdiff_t)i * t->width;
        for (int j = 0; j < t->n; j++) {
            row[t->n + j] -= work->by_v[(ptrdiff_t)i * t->n + j];
        }
        row[i] += s->q0 + s->q1;
        row[t->n + i] += s->v0 + s->v1 + s->q1 * t->dt - slope_of_damper(t, i);
        row[2 * t->n + i] = 1;
    }
    for (int k = 0; k < t->w->parts[t->tree].spins; k++) {
        const spin_body *s = first_spin(t) + k;
        const m3 *by = work->swing + 3 * (ptrdiff_t)s->body;
        if (s->linear >= 0) {
            add_swing(t, s, 1, work->H, by[0], s->angular - t->v0, t->width, A);
            add_swing(t, s, 1, work->H, by[1], s->angular - t->v0, t->width, A_v);
        }
    }
}

/* The weight that actuators hold was that at the start. */
static void add_held_weight(const tree_work *t) {
    derivative_work *work = t->work;
    bool any = false;
    for (int j = t->v0; j < t->v0 + t->n; j++) {
        any |= work->drive[j].holds > 0;
    }
    if (!any) {
        return;
    }
    sim_kinematics(work->d, t->bodies, t->w->now->q);
    sim_rnea_derivatives(work->dynamics, work->d, t->bodies, work->zero, NULL, t->w->model->gravity, work->by_q,
                         work->by_v);
    for (int i = 0; i < t->n; i++) {
        for (int j = 0; j < t->n; j++) {
            work->A[(ptrdiff_t)i * t->width + j] += work->drive[t->v0 + i].holds * work->by_q[(ptrdiff_t)i * t->n + j];
        }
    }
    add_held_inertias(work, t->w, t->tree);
}

/* M in H becomes dR/da. */
static void complete_matrix(const tree_work *t) {
    derivative_work *work = t->work;
    const sim_model *m = t->w->model;
    double *H = work->H, dt = t->dt;
    double *M = work->LU; /* until it is factored */
    memcpy(M, H, sizeof *H * (size_t)t->n * (size_t)t->stride);
    for (int i = 0; i < t->n; i++) {
        const drive_slopes *s = &work->drive[t->v0 + i];
        for (int j = 0; j < t->n; j++) {
            H[(ptrdiff_t)i * t->stride + j] += t->velocity * dt * work->by_v[(ptrdiff_t)i * t->n + j];
        }
        H[(ptrdiff_t)i * t->stride + i] +=
            t->s->damper * dt * slope_of_damper(t, i) - dt * s->v1 - t->s->travel * dt * dt * s->q1;
    }
    if (!t->s->explicit_position) {
        add_times_move(m, t->bodies, &work->point, MOVE_BY, t->s->travel * dt, work->by_q, t->n, H, t->stride);
    }
    for (int k = 0; k < t->w->parts[t->tree].spins; k++) {
        const spin_body *s = first_spin(t) + k;
        if (s->linear >= 0) {
            add_swing(t, s, -1, M, work->swing[3 * (ptrdiff_t)s->body + 2], s->angular - t->v0, t->stride, H);
        }
    }
}

/* ---- positions at the end ---- */

/* Rows of the attitudes of single rigid bodies, whose schemes have a turn of their own. */
static void replace_turns(const tree_work *t, tree_jacobian *out) {
    const double *A = t->work->A;
    for (int k = 0; k < t->w->parts[t->tree].spins; k++) {
        const spin_body *s = first_spin(t) + k;
        v3 w0 = vector_of(t->w->now->v, s->angular), a = vector_of(t->a, s->angular);
        m3 by_w0, by_a, back = m3_transpose(quat_matrix(spin_turn(t->w, s, t->extra, w0, a)));
        differentiate_turn(t->w, s, t->extra, w0, a, &by_w0, &by_a);
        int first = s->angular - t->v0;
        const double *at = A + (ptrdiff_t)first * t->width;
        for (int c = 0; c < t->width; c++) {
            v3 start = {c == first, c == first + 1, c == first + 2};
            v3 rate = {c == t->n + first, c == t->n + first + 1, c == t->n + first + 2};
            v3 sum = v3_add(m3_times(back, start), m3_times(by_w0, rate));
            sum = v3_add(sum, m3_times(by_a, (v3){at[c], at[t->width + c], at[2 * t->width + c]}));
            double *to = out->q + (ptrdiff_t)first * t->width + c;
            to[0] = sum.x;
            to[t->width] = sum.y;
            to[2 * t->width] = sum.z;
        }
    }
}

/* Ones in the columns from `column` on: the start itself. */
static void set_start(const tree_work *t, int column, double *X) {
    memset(X, 0, sizeof *X * (size_t)t->n * (size_t)t->width);
    for (int i = 0; i < t->n; i++) {
        X[(ptrdiff_t)i * t->width + column + i] = 1;
    }
}

/* Where the last move of the scheme begins: the start, or the point where it takes its forces. */
static const double *begin_last_move(const tree_work *t, bool from_point) {
    double *X = t->work->stage[0], *at_point = t->work->stage[1];
    const sim_model *m = t->w->model;
    set_start(t, 0, X);
    if (!from_point) {
        return X;
    }
    memset(at_point, 0, sizeof *X * (size_t)t->n * (size_t)t->width);
    add_move_times(m, t->bodies, &t->work->point, MOVE_FROM, 1, t->width, X, t->width, at_point, t->width);
    set_start(t, t->n, X);
    add_move_times(m, t->bodies, &t->work->point, MOVE_BY, 1, t->width, X, t->width, at_point, t->width);
    return at_point;
}

/* q1, v1 from a. */
static void finish_rows(const tree_work *t, tree_jacobian *out) {
    derivative_work *work = t->work;
    const sim_model *m = t->w->model;
    bool from_point = t->s->explicit_position && t->s->position > 0;
    double gain = t->dt * (from_point ? 1 : t->s->travel), h = from_point ? 0.5 * t->dt : t->dt;
    double *rates = work->stage[2];
    for (int i = 0; i < t->n; i++) {
        const double *a = work->A + (ptrdiff_t)i * t->width;
        double *v = out->v + (ptrdiff_t)i * t->width, *y = rates + (ptrdiff_t)i * t->width;
        for (int c = 0; c < t->width; c++) {
            v[c] = t->dt * a[c] + (c == t->n + i);
            y[c] = gain * a[c] + (c == t->n + i);
        }
        work->v[t->v0 + i] = t->w->now->v[t->v0 + i] + gain * t->a[t->v0 + i];
    }
    const double *start = begin_last_move(t, from_point);
    differentiate_move(m, t->bodies, !from_point && t->s->travel == 0.5 ? ROTATION_CAYLEY : ROTATION_EXP, work->v, h,
                       &work->end);
    memset(out->q, 0, sizeof *out->q * (size_t)t->n * (size_t)t->width);
    add_move_times(m, t->bodies, &work->end, MOVE_FROM, 1, t->width, start, t->width, out->q, t->width);
    add_move_times(m, t->bodies, &work->end, MOVE_BY, 1, t->width, rates, t->width, out->q, t->width);
    if (t->s->explicit_position) {
        replace_turns(t, out);
    }
}

static tree_work make_tree_work(derivative_work *work, const motion_work *w, const sim_state *to, int tree, int width) {
    const theta_scheme *s = theta_scheme_of(w->options->integrator);
    const tree_parts *parts = &w->parts[tree];
    int n = w->model->tree[tree].nv;
    return (tree_work){.work = work,
                       .w = w,
                       .s = s,
                       .tree = tree,
                       .v0 = w->model->tree[tree].v0,
                       .n = n,
                       .stride = row_stride(n),
                       .width = width,
                       .bodies = sim_tree_range(w->model, tree),
                       .dt = w->options->step,
                       .velocity = parts->turns ? s->turning : s->velocity,
                       .a = to->a,
                       .extra = parts->passive || parts->actuators ? w->extra : NULL};
}

/* (2): a by the start, into A; the residual. */
static double differentiate_acceleration(const tree_work *t) {
    derivative_work *work = t->work;
    /* forces at the solution */
    fill_drive_slopes(t->w, t->tree, false, work->drive);
    move_to_forces(t);
    subtract_swings(t, work->x);
    differentiate_forces(work, t->w, t->tree, work->q, work->v, work->x, t->w->now->time + t->s->time * t->dt);
    subtract_place_bends(t);
    /* the linear system */
    fill_right_sides(t);
    differentiate_inertias(work, t->w, t->tree, &(spin_point){t->extra, t->a, t->velocity});
    complete_matrix(t);
    add_held_weight(t);
    return solve_derivatives(work, t->n, t->width, work->A);
}

void theta_derivatives(derivative_work *work, const motion_work *w, const sim_state *to, int tree, tree_jacobian *out) {
    tree_work t = make_tree_work(work, w, to, tree, out->width);
    out->residual = differentiate_acceleration(&t);
    finish_rows(&t, out);
    finish_inertias(work, w, tree, &(spin_point){t.extra, t.a, t.velocity}, t.s->explicit_position, out);
}

double theta_free_derivatives(derivative_work *work, const motion_work *w, const sim_state *to, int tree, int width) {
    tree_work t = make_tree_work(work, w, to, tree, width);
    double residual = differentiate_acceleration(&t);
    /* M, where the free motion has taken it */
    sim_kinematics(work->d, t.bodies, work->q);
    sim_crba(work->d, t.bodies, t.extra, NULL, work->M);
    spread_mass(work, w->model, t.v0, t.n, t.stride, work->H);
    return residual;
}
