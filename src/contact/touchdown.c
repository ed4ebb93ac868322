/* How far do positions move?
 *
 * A law promises the gap phi0 + dt u_n at the end of the step, u_n = J_n v: of a contact, or of a joint to the end of its
 * range.  Schemes that move positions with the mean
 * velocity v_q = v0 + travel (v - v0) do not keep that promise where a contact changes the velocity suddenly: what comes
 * at the speed V and is stopped would sink in by dt V / 2.  To cure it in the law, by asking phi0 + dt J_n v_q = 0, would
 * send it back as fast as it came.  So positions take a shift c besides,
 *
 *     c = A^-1 J_n' pi,     0 <= pi  perp  J_n (v_q + c) - min(J_n v, -phi0 / dt) >= 0:
 *
 * the least one, in the metric of A, that leaves no gap smaller than promised, or than none.  It moves positions only.
 * u_n is J_n v + w where a contact moves over its bodies (rows.c); v_q moves positions without w.
 *
 * A contact that rolls over both bodies and presses as promised has c of either sign, so that its gap is as promised.  A
 * gap that swings by the scheme's own error would else be pushed out on one side and fallen through on the other, and
 * both lose or gain energy.  What obeys the mean velocity (rows.c) sees to its gap itself; c must only not push it in.
 *
 * Where contact lasts, v_n changes by O(dt) a step, c is O(dt) along normals and the gap pulls it back: the order of
 * the scheme stays.  Contacts soft enough for the step to resolve, 2 pi / sqrt(k w) > dt, need none.
 *
 * Gauss-Seidel over contacts, to a millionth: what it leaves undone sinks in by that much, and where friction locks a body no
 * later step can push it out.  With
 * A^-1 = B' B and Z = B J_n' (sim_mass) it goes by x = B^-T c, which needs no row but Z's,
 *
 *     J_n c = Z' x,    x <- x + Z (change of pi),    J_n A^-1 J_n' = Z' Z,
 *
 * and in the end c = A^-1 J_n' pi takes one solve for each tree. */
#include "contact/parts.h"
#include "math/dense.h"

#include <string.h>

enum { SWEEPS = 100 };
static const double negligible = 1e-3; /* of what free motion adds to the normal velocity in a step */

typedef struct landing {
    const sim_problem *p;
    double *Z;             /* of one row for each constraint and tree */
    ptrdiff_t *at;         /* [nconstraint][2] */
    double *x;             /* [nv] */
    double *w, *pi, *need; /* inverse mass, multiplier, wanted J_n c */
    char *both;            /* [nconstraint] does it press as promised: may it also be drawn nearer? */
} landing;

/* Has it a gap that must not close, and in which row? */
static int is_stop(const sim_constraint *c) { return c->kind == SIM_CONTACT || c->kind == SIM_LIMIT; }
static int normal_row(const sim_constraint *c) { return c->kind == SIM_CONTACT ? 2 : 0; }

static double normal_velocity(const sim_problem *p, const sim_constraint *c, const double *v) {
    double u = 0;
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_problem_tree *t = &p->tree[c->tree[side]];
        sim_columns of = sim_block_columns(p, c, side);
        u += dense_dot(of.count, p->J + c->block[side] + normal_row(c) * t->nv + of.first, v + t->v0 + of.first);
    }
    return u;
}

/* What the shift must add to the normal velocity of each contact; whether any is worth it. */
static int wanted(const island *s, double travel, double *need, char *both) {
    const sim_problem *p = &s->problem;
    int any = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        need[i] = -INFINITY;
        both[i] = 0;
        if (!is_stop(c)) {
            continue;
        }
        if (s->rolls[i] == ROLLS_IN_MEAN) {
            need[i] = 0;
            continue;
        }
        double u0 = normal_velocity(p, c, p->v_start), u = normal_velocity(p, c, s->v);
        double w = p->offset ? p->offset[c->row + normal_row(c)] : 0;
        double closing = -p->gap[c->row + normal_row(c)] / p->step;
        double promised = min_of(u + w, closing);
        need[i] = promised - (u0 + travel * (u - u0));
        both[i] = s->rolls[i] && s->impulse[c->row + normal_row(c)] > 0 && u + w <= closing + 1e-9 * fabs(closing);
        any |= (both[i] ? fabs(need[i]) : need[i]) > negligible * fabs(normal_velocity(p, c, p->v_free) - u0);
    }
    return any;
}

static int prepare(landing *l, const sim_problem *p, sim_arena *scratch) {
    ptrdiff_t size = 0;
    l->at = ARENA_NEW(scratch, ptrdiff_t, 2 * p->nconstraint);
    l->w = ARENA_NEW(scratch, double, p->nconstraint);
    l->pi = ARENA_NEW(scratch, double, p->nconstraint);
    l->x = ARENA_NEW(scratch, double, p->nv);
    if (!l->at || !l->w || !l->pi || !l->x) {
        return 0;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        for (int side = 0; side < 2 && p->constraint[i].tree[side] >= 0; side++) {
            l->at[2 * i + side] = size;
            size += p->tree[p->constraint[i].tree[side]].nv;
        }
    }
    l->Z = ARENA_NEW(scratch, double, size);
    memset(l->x, 0, (size_t)p->nv * sizeof *l->x);
    return l->Z != NULL;
}

/* A side's row of Z, and how far from the root it reaches. */
static double *half_row(const landing *l, int i, int side, int *end) {
    sim_columns of = sim_block_columns(l->p, &l->p->constraint[i], side);
    *end = of.first + of.count;
    return l->Z + l->at[2 * i + side];
}

static void inverse_masses(landing *l) {
    const sim_problem *p = l->p;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        l->w[i] = l->pi[i] = 0;
        for (int side = 0; side < 2 && c->tree[side] >= 0 && l->need[i] > -INFINITY; side++) {
            int nv = p->tree[c->tree[side]].nv, end;
            double *Z = half_row(l, i, side, &end);
            memcpy(Z, p->J + c->block[side] + (ptrdiff_t)normal_row(c) * nv, (size_t)nv * sizeof *Z);
            p->mass.half(p->mass.self, c->tree[side], 1, sim_block_columns(p, c, side), Z);
            l->w[i] += dense_dot(end, Z, Z);
        }
        double resolved = 4 * M_PI * M_PI / (p->step * p->step);
        if (!(l->w[i] > 0) || c->stiffness * l->w[i] < resolved) {
            l->need[i] = -INFINITY;
        }
    }
}

/* One sweep; the greatest change of a normal velocity. */
static double sweep(landing *l) {
    const sim_problem *p = l->p;
    double most = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double lacks = l->need[i];
        if (lacks == -INFINITY) {
            continue;
        }
        for (int side = 0, end; side < 2 && c->tree[side] >= 0; side++) {
            const double *Z = half_row(l, i, side, &end);
            lacks -= dense_dot(end, Z, l->x + p->tree[c->tree[side]].v0);
        }
        double pi = l->pi[i] + lacks / l->w[i];
        pi = l->both[i] ? pi : max_of(0, pi);
        double change = pi - l->pi[i];
        l->pi[i] = pi;
        most = max_of(most, fabs(change) * l->w[i]);
        for (int side = 0, end; side < 2 && c->tree[side] >= 0 && change != 0; side++) {
            const double *Z = half_row(l, i, side, &end);
            dense_axpy(end, change, Z, l->x + p->tree[c->tree[side]].v0);
        }
    }
    return most;
}

/* c = A^-1 J_n' pi */
static void take_shift(const landing *l, double *shift) {
    const sim_problem *p = l->p;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int side = 0; side < 2 && c->tree[side] >= 0 && l->pi[i] != 0; side++) {
            const sim_problem_tree *t = &p->tree[c->tree[side]];
            sim_columns of = sim_block_columns(p, c, side);
            const double *J = p->J + c->block[side] + (ptrdiff_t)normal_row(c) * t->nv;
            dense_axpy(of.count, l->pi[i], J + of.first, shift + t->v0 + of.first);
        }
    }
    for (int t = 0; t < p->ntree; t++) {
        p->mass.solve(p->mass.self, t, shift + p->tree[t].v0);
    }
}

int touchdown(const island *s, double travel, sim_arena *scratch) {
    const sim_problem *p = &s->problem;
    landing l = {
        .p = p, .need = ARENA_NEW(scratch, double, p->nconstraint), .both = ARENA_NEW(scratch, char, p->nconstraint)};
    memset(s->shift, 0, (size_t)p->nv * sizeof *s->shift);
    if (!l.need || !l.both) {
        return 0;
    }
    if (travel == 1 || !wanted(s, travel, l.need, l.both)) {
        return 1;
    }
    if (!prepare(&l, p, scratch)) {
        return 0;
    }
    inverse_masses(&l);
    double first = sweep(&l);
    for (int k = 1; k < SWEEPS && sweep(&l) > 1e-6 * first; k++) {
    }
    take_shift(&l, s->shift);
    return 1;
}
