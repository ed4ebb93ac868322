/* Nonlinear relaxation: block Gauss-Seidel on the primal cost, body by body.
 *
 *     v_t <- v_t - alpha H_tt^-1 g_t
 *     g_t = A_t (v_t - v*_t) - sum_i J_it' gamma_i,   H_tt = A_t + sum_i J_it' G_i J_it
 *
 * t: free bodies, and other trees with six velocities;  i: their constraints
 * alpha: minimum of the cost along the line, so that the cost never rises
 *
 * Where few contacts pass between stick, slip and separation, the line search ends a step of Newton's method at the
 * first of them.  All bodies wait.  Relaxation moves those few beyond their kinks first; then most steps are whole.
 * A body takes part where |D g_t|^2 exceeds MIN_SHARE of the mean, D = diag(A)^-1/2: one in ten in a heap.
 *
 * Reference: Cai, Li 2011, Inexact Newton Methods with Restricted Additive Schwarz Based Nonlinear Elimination.
 * Differs: bodies one after another, chosen by their own residual.
 * Cost: a factor of six by six and some two evaluations of its constraints for each body that takes part. */
#include "solver/newton/relaxation.h"
#include "linalg/blocks.h"
#include "linalg/dense/cholesky.h"
#include "linalg/dense/strip.h"
#include "math/dense.h"
#include "solver/newton/line_search.h"
#include "solver/newton/primal.h"

#include <math.h>
#include <string.h>

enum { MAX_BATCH_ROWS = 32 }; /* of the Hessian of a body */
enum { PASSES = 4 };          /* over all bodies, forwards and backwards in turn */
static const double MIN_SHARE = 0.1;
static const double LINE_TOLERANCE = 0.1, MAX_STEP_LENGTH = 1.5; /* of l' over l'(0); of a body's step */

/* A step of one body. */
typedef struct body_step {
    primal *p;
    const int *first, *end; /* of relaxation.touching */
    double d[BODY_STRIDE];  /* direction */
    double slope0, curvature0;
} body_step;

bool relaxation_create(relaxation *r, const primal *p, sim_arena *scratch) {
    r->start = ARENA_NEW(scratch, int, hessian_patches(p->hessian)->nodes + 2);
    r->touching = ARENA_NEW(scratch, int, 2 * (size_t)p->problem->nconstraint);
    r->listed = false;
    return r->start && r->touching;
}

static const sim_constraint *constraint_of(const primal *p, int touch) { return &p->problem->constraint[touch / 2]; }

static const double *block_of(const primal *p, int touch) {
    return p->problem->J + constraint_of(p, touch)->block[touch % 2];
}

/* Counting sort by node. */
static void list_touching(primal *p) {
    const patches *o = hessian_patches(p->hessian);
    const sim_problem *problem = p->problem;
    int *start = p->relaxation.start, touches = 2 * problem->nconstraint;
    memset(start, 0, (size_t)(o->nodes + 2) * sizeof *start);
    for (int k = 0; k < touches; k++) {
        int tree = constraint_of(p, k)->tree[k % 2];
        start[tree >= 0 ? o->node[tree] + 2 : 0]++;
    }
    start[0] = 0;
    for (int node = 0; node < o->nodes; node++) {
        start[node + 2] += start[node + 1];
    }
    for (int k = 0; k < touches; k++) {
        int tree = constraint_of(p, k)->tree[k % 2];
        if (tree >= 0) {
            p->relaxation.touching[start[o->node[tree] + 1]++] = k;
        }
    }
    p->relaxation.listed = true;
}

/* ---- one body ---- */

/* Rows x of H += sum weight x x', in batches. */
typedef struct square_rows {
    double *H;
    int count;
    double x[MAX_BATCH_ROWS * BODY_STRIDE], weighted[MAX_BATCH_ROWS * BODY_STRIDE]; /* weighted, negative */
} square_rows;

static void add_squares_of_rows(square_rows *s) {
    strip_update_6(s->count, s->weighted, s->x, s->H);
    s->count = 0;
}

static void append_square_row(square_rows *s, const double *x, double weight) {
    double *to = s->x + BODY_STRIDE * s->count, *weighted = s->weighted + BODY_STRIDE * s->count;
    for (int j = 0; j < BODY_DOFS; j++) {
        to[j] = x[j];
        weighted[j] = -weight * x[j];
    }
    to[6] = to[7] = weighted[6] = weighted[7] = 0;
    if (++s->count == MAX_BATCH_ROWS) {
        add_squares_of_rows(s);
    }
}

/* H += J' G J, column by column. */
static void add_column_products(double *H, const sim_constraint *c, const cone_hessian *G, const double *J) {
    for (int j = 0; j < BODY_DOFS; j++) {
        double column[SIM_MAX_ROWS], y[SIM_MAX_ROWS];
        for (int k = 0; k < c->rows; k++) {
            column[k] = J[BODY_DOFS * k + j];
        }
        cone_hessian_times(c, G, column, y);
        for (int k = 0; k < c->rows; k++) {
            for (int i = 0; i < BODY_DOFS; i++) {
                H[BODY_STRIDE * i + j] += J[BODY_DOFS * k + i] * y[k];
            }
        }
    }
}

/* H += J' G J */
static void add_constraint_square(square_rows *s, const sim_constraint *c, const cone_hessian *G, const double *J) {
    if (G->sliding && sim_contact_turns(c)) {
        add_column_products(s->H, c, G, J);
        return;
    }
    if (G->sliding) { /* a and b of cone_convex.h */
        double a[BODY_DOFS], b[BODY_DOFS];
        for (int j = 0; j < BODY_DOFS; j++) {
            a[j] = G->lean * (G->t[0] * J[j] + G->t[1] * J[BODY_DOFS + j]) + J[2 * BODY_DOFS + j];
            b[j] = G->t[0] * J[BODY_DOFS + j] - G->t[1] * J[j];
        }
        append_square_row(s, a, G->weight[0]);
        append_square_row(s, b, G->weight[1]);
        return;
    }
    for (int k = 0; k < c->rows; k++) {
        if (G->weight[k] > 0) {
            append_square_row(s, J + BODY_DOFS * k, G->weight[k]);
        }
    }
}

/* d = -H_tt^-1 g_t, and J d of its constraints; false: H is not positive
 * definite. */
static bool find_body_direction(body_step *s, const double *A, const double *g) {
    primal *p = s->p;
    double H[BODY_DOFS * BODY_STRIDE], inverse[BODY_STRIDE];
    square_rows rows;
    memcpy(H, A, sizeof H);
    rows.H = H;
    rows.count = 0;
    for (const int *k = s->first; k < s->end; k++) {
        add_constraint_square(&rows, constraint_of(p, *k), &p->at.G[*k / 2], block_of(p, *k));
    }
    add_squares_of_rows(&rows);
    if (!cholesky_upper(BODY_DOFS, BODY_STRIDE, H, inverse)) {
        return false;
    }
    for (int j = 0; j < BODY_STRIDE; j++) {
        s->d[j] = j < BODY_DOFS ? -g[j] : 0;
    }
    cholesky_forward(BODY_DOFS, H, BODY_STRIDE, inverse, s->d);
    cholesky_backward(BODY_DOFS, H, BODY_STRIDE, inverse, s->d);
    for (const int *k = s->first; k < s->end; k++) {
        const sim_constraint *c = constraint_of(p, *k);
        for (int r = 0; r < c->rows; r++) {
            p->du[c->row + r] = dense_dot(BODY_DOFS, block_of(p, *k) + BODY_DOFS * r, s->d);
        }
    }
    return true;
}

/* l'(alpha) along the step of the body; u, gamma and G there. */
static double body_slope(void *self, double alpha, double *second) {
    const body_step *s = self;
    primal *p = s->p;
    double rise = 0, curvature = 0;
    for (const int *k = s->first; k < s->end; k++) {
        const sim_constraint *c = constraint_of(p, *k);
        int i = *k / 2, row = c->row;
        for (int r = row; r < row + c->rows; r++) {
            p->u_to[r] = p->at.u[r] + alpha * p->du[r];
        }
        p->project(&p->law, i, p->u_to + row, p->gamma_to + row, &p->G_to[i]);
        rise += convex_increment(c, &p->at.G[i], &p->G_to[i], alpha, p->du + row, p->at.gamma + row, p->gamma_to + row);
        curvature += convex_curvature(c, &p->G_to[i], p->du + row);
    }
    *second = s->curvature0 + curvature;
    return s->slope0 + alpha * s->curvature0 - rise;
}

/* Takes over u, gamma and G of a constraint, and the change of J' gamma on
 * either side. */
static void take_constraint(primal *p, int i) {
    const sim_constraint *c = &p->problem->constraint[i];
    double change[SIM_MAX_ROWS];
    for (int r = 0; r < c->rows; r++) {
        change[r] = p->at.gamma[c->row + r] - p->gamma_to[c->row + r];
        p->at.gamma[c->row + r] = p->gamma_to[c->row + r];
        p->at.u[c->row + r] = p->u_to[c->row + r];
    }
    p->at.G[i] = p->G_to[i];
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_problem_tree *t = &p->problem->tree[c->tree[side]];
        sim_columns of = sim_block_columns(p->problem, c, side);
        const double *J = p->problem->J + c->block[side] + of.first;
        for (int r = 0; r < c->rows; r++) {
            dense_axpy(of.count, change[r], J + (ptrdiff_t)r * t->nv, p->at.gradient + t->v0 + of.first);
        }
    }
}

static void relax_body(primal *p, int node) {
    int v0 = p->problem->tree[hessian_patches(p->hessian)->tree[node]].v0;
    const int *start = p->relaxation.start, *touching = p->relaxation.touching;
    const double *A = hessian_mass(p->hessian, node);
    double *g = p->at.gradient + v0, Ad[BODY_STRIDE];
    body_step s = {.p = p, .first = touching + start[node], .end = touching + start[node + 1]};
    if (!find_body_direction(&s, A, g)) {
        return;
    }
    /* the minimum along it */
    strip_row_6(s.d, A, Ad);
    s.slope0 = dense_dot(BODY_DOFS, g, s.d);
    s.curvature0 = dense_dot(BODY_DOFS, Ad, s.d);
    if (!(s.slope0 < 0)) {
        return;
    }
    line l = {&s, body_slope, NULL, s.slope0, 0};
    double alpha = line_exact(&l, MAX_STEP_LENGTH, LINE_TOLERANCE);
    /* the step */
    dense_axpy(BODY_DOFS, alpha, s.d, p->at.v + v0);
    dense_axpy(BODY_DOFS, alpha, Ad, g);
    for (const int *k = s.first; k < s.end; k++) {
        take_constraint(p, *k / 2);
    }
}

/* |D g_t|^2 */
static double body_error(const primal *p, int node) {
    const patches *o = hessian_patches(p->hessian);
    int v0 = p->problem->tree[o->tree[node]].v0;
    double sum = 0;
    for (int j = v0; j < v0 + o->graph.size[node]; j++) {
        double e = p->scale[j] * p->at.gradient[j];
        sum += e * e;
    }
    return sum;
}

void primal_relax(primal *p) {
    const patches *o = hessian_patches(p->hessian);
    double total = 0;
    if (!p->relaxation.listed) {
        list_touching(p);
    }
    for (int node = 0; node < o->nodes; node++) {
        total += body_error(p, node);
    }
    for (int pass = 0; pass < PASSES; pass++) {
        for (int k = 0; k < o->nodes; k++) {
            int node = pass % 2 ? o->nodes - 1 - k : k;
            if (o->graph.size[node] == BODY_DOFS && body_error(p, node) * o->nodes > MIN_SHARE * total) {
                relax_body(p, node);
            }
        }
    }
}
