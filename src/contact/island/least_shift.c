/* The least shift of positions under bounds on rows: projected Gauss-Seidel, then conjugate gradients.
 *
 *     min  c' A c / 2     with  J c >= b:      c = A^-1 J' pi,     0 <= pi  perp  J c - b >= 0
 *
 *     c     shift over the step, m/s or rad/s
 *     J     one row of each bound
 *     b     least velocity of the row, m/s or rad/s; where it is to be equal, pi takes either sign
 *     pi    multiplier, N s
 *
 * Sweeps go on to RELATIVE_TOLERANCE: bodies sink in by the remaining error, and where friction locks one, no later
 * step can push it out.  Rows that press after the sweeps then hold with equality, Z_f' Z_f d(pi) = b - J c.  So the
 * shift is smooth to rounding.  The answer of the sweeps stays where a row would pull by that, another one fail, or a
 * tree move much faster than b: gaps of both edges of a thin disk's rim can differ by a micrometre, and equality would
 * turn the disk by half a radian.  The speed of a tree is |x_t| sqrt(w_t), w_t its least inverse mass along a row.
 *
 * With A^-1 = B' B, Z = B J' (sim_mass) and x = B^-T c a sweep needs only Z:
 *
 *     J c = Z' x,    x <- x + Z (change of pi),    J A^-1 J' = Z' Z.
 *
 * Constraints soft enough for the step to resolve, 2 pi / sqrt(k W) > dt, have no say.
 *
 * Reference: Shewchuk, An introduction to the conjugate gradient method, 1994 (with 1/w on the diagonal).
 * Cost: one half solve for each bound, two products with Z a sweep or iteration, and in the end one solve for each tree. */
#include "contact/island/least_shift.h"
#include "contact/problem/assemble.h"

#include <string.h>

enum { MAX_SWEEPS = 100, MAX_CG_ITERATIONS = 100 };
static const double RELATIVE_TOLERANCE = 1e-6; /* of the change in the first sweep */
static const double CG_TOLERANCE = 1e-14;      /* of a row's velocity, over the change in the first sweep */
static const double FACE_TOLERANCE = 1e-12;    /* the same, of the whole answer */
static const double MAX_SPEED_PER_DOF = 5;     /* of a tree, over the greatest |b|; a stack of ten boxes has 0.3 */

/* A side of a row: its part of Z, and the range of velocities that it moves. */
typedef struct row_side {
    double *Z; /* [count] */
    int first, count;
} row_side;

/* A row that bounds the shift. */
typedef struct shift_row {
    row_side side[2]; /* count 0: nothing moves there */
    double w, pi;     /* inverse mass, 1/kg; multiplier, N s */
    shift_bound bound;
} shift_row;

typedef struct shift_rows {
    const sim_problem *p;
    shift_row *row;
    int count;
    double *x; /* [nv] B^-T c */
} shift_rows;

/* Half rows Z and inverse masses; constraints that the step resolves are left out. */
static sim_status list_rows(shift_rows *l, const shift_bound *bound, int count, sim_arena *scratch) {
    /* memory */
    const sim_problem *p = l->p;
    double resolved = 4 * M_PI * M_PI / (p->step * p->step);
    l->row = ARENA_NEW(scratch, shift_row, count);
    l->x = ARENA_NEW(scratch, double, p->nv);
    if (!l->row || !l->x) {
        return SIM_NO_RESOURCE;
    }
    memset(l->x, 0, (size_t)p->nv * sizeof *l->x);
    /* Z of either side */
    for (int k = 0; k < count; k++) {
        const sim_constraint *c = &p->constraint[bound[k].constraint];
        shift_row row = {.bound = bound[k]};
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            const sim_problem_tree *t = &p->tree[c->tree[side]];
            sim_columns of = sim_block_columns(p, c, side);
            int end = of.first + of.count; /* B' reaches from there to the root */
            double *Z = ARENA_NEW(scratch, double, t->nv);
            if (!Z) {
                return SIM_NO_RESOURCE;
            }
            memcpy(Z, p->J + c->block[side] + (ptrdiff_t)bound[k].row * t->nv, (size_t)t->nv * sizeof *Z);
            p->mass.half(p->mass.self, c->tree[side], 1, of, Z);
            row.w += dense_dot(end, Z, Z);
            row.side[side] = (row_side){Z, t->v0, end};
        }
        if (row.w > 0 && c->stiffness * row.w >= resolved) {
            l->row[l->count++] = row;
        }
    }
    return SIM_OK;
}

/* b - J c */
static double error_of_row(const shift_rows *l, const shift_row *r) {
    double error = r->bound.least;
    for (const row_side *of = r->side; of < r->side + 2 && of->count; of++) {
        error -= dense_dot(of->count, of->Z, l->x + of->first);
    }
    return error;
}

/* The most by which a bound does not hold. */
static double max_error(const shift_rows *l) {
    double most = 0;
    for (const shift_row *r = l->row; r < l->row + l->count; r++) {
        double error = error_of_row(l, r);
        most = max_of(most, r->bound.equal ? fabs(error) : error);
    }
    return most;
}

/* One sweep; the greatest change of a row's velocity. */
static double sweep_rows(shift_rows *l) {
    double max_change = 0;
    for (shift_row *r = l->row; r < l->row + l->count; r++) {
        double error = error_of_row(l, r);
        double pi = r->pi + error / r->w;
        pi = r->bound.equal ? pi : max_of(0, pi);
        double change = pi - r->pi;
        r->pi = pi;
        max_change = max_of(max_change, fabs(change) * r->w);
        for (const row_side *of = r->side; of < r->side + 2 && of->count && change != 0; of++) {
            dense_axpy(of->count, change, of->Z, l->x + of->first);
        }
    }
    return max_change;
}

/* Rows that press, and vectors of their equations. */
typedef struct pressing_rows {
    int count, *row;
    double *pi, *x;         /* [rows], [nv] of the sweeps' answer */
    double *r, *p, *Zp, *q; /* [count] error, direction; [nv]; [count] its image */
} pressing_rows;

/* Memory, then the rows, and a copy of the answer. */
static bool list_pressing(const shift_rows *l, sim_arena *scratch, pressing_rows *f) {
    size_t rows = (size_t)l->count, size = sizeof(double) * (size_t)l->p->nv;
    *f = (pressing_rows){.row = ARENA_NEW(scratch, int, rows),
                         .pi = ARENA_NEW(scratch, double, rows),
                         .x = ARENA_NEW(scratch, double, l->p->nv),
                         .r = ARENA_NEW(scratch, double, rows),
                         .p = ARENA_NEW(scratch, double, rows),
                         .Zp = ARENA_NEW(scratch, double, l->p->nv),
                         .q = ARENA_NEW(scratch, double, rows)};
    if (!f->row || !f->pi || !f->x || !f->r || !f->p || !f->Zp || !f->q) {
        return false;
    }
    for (int k = 0; k < l->count; k++) {
        f->pi[k] = l->row[k].pi;
        if (l->row[k].pi > 0 || l->row[k].bound.equal) {
            f->row[f->count++] = k;
        }
    }
    memcpy(f->x, l->x, size);
    return true;
}

/* q = Z' Z p; p . q */
static double image_of_direction(const shift_rows *l, const pressing_rows *f) {
    double sum = 0;
    memset(f->Zp, 0, sizeof *f->Zp * (size_t)l->p->nv);
    for (int i = 0; i < f->count; i++) {
        const shift_row *r = &l->row[f->row[i]];
        for (const row_side *of = r->side; of < r->side + 2 && of->count; of++) {
            dense_axpy(of->count, f->p[i], of->Z, f->Zp + of->first);
        }
    }
    for (int i = 0; i < f->count; i++) {
        const shift_row *r = &l->row[f->row[i]];
        f->q[i] = 0;
        for (const row_side *of = r->side; of < r->side + 2 && of->count; of++) {
            f->q[i] += dense_dot(of->count, of->Z, f->Zp + of->first);
        }
        sum += f->p[i] * f->q[i];
    }
    return sum;
}

/* Conjugate gradients on the pressing rows, from the answer of the sweeps. */
static void equalise_rows(shift_rows *l, pressing_rows *f, double least) {
    double before = 0;
    for (int i = 0; i < f->count; i++) {
        f->r[i] = error_of_row(l, &l->row[f->row[i]]);
        f->p[i] = 0;
    }
    for (int k = 0; k < MAX_CG_ITERATIONS; k++) {
        double size = 0, most = 0;
        for (int i = 0; i < f->count; i++) {
            size += f->r[i] * f->r[i] / l->row[f->row[i]].w;
            most = max_of(most, fabs(f->r[i]));
        }
        if (most <= least) {
            return;
        }
        for (int i = 0; i < f->count; i++) {
            f->p[i] = f->r[i] / l->row[f->row[i]].w + (before > 0 ? size / before * f->p[i] : 0);
        }
        double bend = image_of_direction(l, f), alpha = bend > 0 ? size / bend : 0;
        for (int i = 0; i < f->count; i++) {
            l->row[f->row[i]].pi += alpha * f->p[i];
            f->r[i] -= alpha * f->q[i];
        }
        dense_axpy(l->p->nv, alpha, f->Zp, l->x);
        before = size;
    }
}

/* Does a tree move far faster than any row asks? */
static bool moves_too_fast(const shift_rows *l, sim_arena *scratch, bool *fast) {
    /* least inverse mass of each tree along a row, and the greatest |b| */
    const sim_problem *p = l->p;
    double asked = 0, *w = ARENA_NEW(scratch, double, p->ntree);
    for (int t = 0; t < p->ntree && w; t++) {
        w[t] = INFINITY;
    }
    for (const shift_row *r = l->row; r < l->row + l->count && w; r++) {
        const int *tree = p->constraint[r->bound.constraint].tree;
        asked = max_of(asked, fabs(r->bound.least));
        for (int side = 0; side < 2 && r->side[side].count; side++) {
            const row_side *of = &r->side[side];
            w[tree[side]] = min_of(w[tree[side]], dense_dot(of->count, of->Z, of->Z));
        }
    }
    /* speeds */
    double most = MAX_SPEED_PER_DOF * p->nv * asked;
    *fast = false;
    for (int t = 0; t < p->ntree && w; t++) {
        const double *x = l->x + p->tree[t].v0;
        *fast |= isfinite(w[t]) && dense_dot(p->tree[t].nv, x, x) * w[t] > most * most;
    }
    return w;
}

/* To rounding, where the rows that press after the sweeps are those of the answer. */
static bool finish_rows(shift_rows *l, sim_arena *scratch, double first) {
    pressing_rows f;
    if (!list_pressing(l, scratch, &f)) {
        return false;
    }
    equalise_rows(l, &f, CG_TOLERANCE * first);
    bool fast;
    if (!moves_too_fast(l, scratch, &fast)) {
        return false;
    }
    bool holds = !fast && max_error(l) <= FACE_TOLERANCE * first;
    for (int i = 0; i < f.count; i++) {
        const shift_row *r = &l->row[f.row[i]];
        holds &= r->bound.equal || r->pi >= 0;
    }
    for (int i = 0; i < f.count && holds; i++) { /* equality, not only the bound */
        holds &= fabs(error_of_row(l, &l->row[f.row[i]])) <= FACE_TOLERANCE * first;
    }
    for (int k = 0; k < l->count && !holds; k++) {
        l->row[k].pi = f.pi[k];
    }
    if (!holds) {
        memcpy(l->x, f.x, sizeof *f.x * (size_t)l->p->nv);
    }
    return true;
}

/* c = A^-1 J' pi */
static void compute_shift(const shift_rows *l, double *shift) {
    const sim_problem *p = l->p;
    memset(shift, 0, (size_t)p->nv * sizeof *shift);
    for (const shift_row *r = l->row; r < l->row + l->count; r++) {
        const sim_constraint *c = &p->constraint[r->bound.constraint];
        for (int side = 0; side < 2 && c->tree[side] >= 0 && r->pi != 0; side++) {
            const sim_problem_tree *t = &p->tree[c->tree[side]];
            sim_columns of = sim_block_columns(p, c, side);
            const double *J = p->J + c->block[side] + (ptrdiff_t)r->bound.row * t->nv;
            dense_axpy(of.count, r->pi, J + of.first, shift + t->v0 + of.first);
        }
    }
    for (int t = 0; t < p->ntree; t++) {
        p->mass.solve(p->mass.self, t, shift + p->tree[t].v0);
    }
}

sim_status least_shift(const sim_problem *p, const shift_bound *bound, int count, sim_arena *scratch, double *shift,
                       double *left) {
    shift_rows l = {.p = p};
    if (list_rows(&l, bound, count, scratch)) {
        return SIM_NO_RESOURCE;
    }
    /* until a sweep moves little against the first */
    double first = sweep_rows(&l);
    for (int k = 1; k < MAX_SWEEPS && sweep_rows(&l) > RELATIVE_TOLERANCE * first; k++) {
    }
    if (!finish_rows(&l, scratch, first)) {
        return SIM_NO_RESOURCE;
    }
    *left = max_error(&l);
    compute_shift(&l, shift);
    return SIM_OK;
}
