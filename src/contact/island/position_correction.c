/* Correction of positions: a shift that keeps the gaps that the law promised.
 *
 * A law promises the gap phi0 + dt u_n at the end of the step, u_n = J_n v: of a contact, or of a joint to the end of
 * its range.  Schemes that move positions with the mean velocity v_q = v0 + travel (v - v0) do not keep that promise
 * where a contact changes the velocity suddenly: what comes at the speed V and is stopped would sink in by dt V / 2.
 * To cure it in the law, by asking phi0 + dt J_n v_q = 0, would send it back as fast as it came.  So positions take a
 * shift c besides,
 *
 *     c = A^-1 J_n' pi,     0 <= pi  perp  J_n (v_q + c) - min(J_n v, -phi0 / dt) >= 0:
 *
 * the least one, in the metric of A, that leaves no gap smaller than promised, or than none.  It moves positions only.
 * u_n is J_n v + w where a contact moves over its bodies (rows.c); v_q moves positions without w.
 *
 * A contact that rolls over both bodies and presses as promised has c of either sign, so that its gap is as promised.
 * A gap that swings by the scheme's own error would else be pushed out on one side and fallen through on the other, and
 * both lose or gain energy.  What obeys the mean velocity (rows.c) sees to its gap itself; c must only not push it in.
 *
 * Where contact lasts, v_n changes by O(dt) a step, c is O(dt) along normals and the gap pulls it back: the order of
 * the scheme stays.  Contacts soft enough for the step to resolve, 2 pi / sqrt(k w) > dt, need none.
 *
 * Gauss-Seidel over contacts, to a millionth: what it leaves undone sinks in by that much, and where friction locks a
 * body no later step can push it out.  With A^-1 = B' B and Z = B J_n' (sim_mass) it goes by x = B^-T c, which needs no
 * row but Z's,
 *
 *     J_n c = Z' x,    x <- x + Z (change of pi),    J_n A^-1 J_n' = Z' Z,
 *
 * and in the end c = A^-1 J_n' pi takes one solve for each tree. */
#include "contact/island/island.h"

#include <string.h>

enum { MAX_SWEEPS = 100 };
static const double MIN_RELATIVE_NEED = 1e-3; /* of what free motion adds to the normal velocity in a step */

/* A side of a contact: its row of Z, and the velocities that it moves. */
typedef struct correction_side {
    double *Z; /* [count] */
    int first, count;
} correction_side;

/* A contact, or an end of a range, that has a say. */
typedef struct correction_stop {
    correction_side side[2]; /* count 0: nothing moves there */
    double w, pi, need;      /* inverse mass, multiplier, needed J_n c */
    int both;                /* does it press as promised: may it also be drawn nearer? */
    int constraint;
} correction_stop;

typedef struct correction {
    const sim_problem *p;
    correction_stop *stop;
    int nstop;
    double *Z; /* of one row for each stop and tree */
    double *x; /* [nv] */
} correction;

static double normal_velocity(const sim_problem *p, const sim_constraint *c, const double *v) {
    return velocity_of_row(p, c, normal_row(c), v);
}

/* What the shift must add to the normal velocity of each contact; whether any is worth it. */
static int find_needs(const island *s, double travel, double *need, char *both) {
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
        any |= (both[i] ? fabs(need[i]) : need[i]) > MIN_RELATIVE_NEED * fabs(normal_velocity(p, c, p->v_free) - u0);
    }
    return any;
}

static sim_status prepare(correction *l, const double *need, const char *both, sim_arena *scratch) {
    const sim_problem *p = l->p;
    ptrdiff_t size = 0;
    l->stop = ARENA_NEW(scratch, correction_stop, p->nconstraint);
    l->x = ARENA_NEW(scratch, double, p->nv);
    if (!l->stop || !l->x) {
        return SIM_NO_RESOURCE;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        if (need[i] > -INFINITY) {
            l->stop[l->nstop++] = (correction_stop){.need = need[i], .both = both[i], .constraint = i};
            for (int side = 0; side < 2 && p->constraint[i].tree[side] >= 0; side++) {
                size += p->tree[p->constraint[i].tree[side]].nv;
            }
        }
    }
    l->Z = ARENA_NEW(scratch, double, size);
    memset(l->x, 0, (size_t)p->nv * sizeof *l->x);
    return l->Z ? SIM_OK : SIM_NO_RESOURCE;
}

/* Z and the inverse masses; stops that need no shift have no say any more. */
static void halve_rows(correction *l) {
    const sim_problem *p = l->p;
    double resolved = 4 * M_PI * M_PI / (p->step * p->step), *Z = l->Z;
    int kept = 0;
    for (int k = 0; k < l->nstop; k++) {
        correction_stop stop = l->stop[k];
        const sim_constraint *c = &p->constraint[stop.constraint];
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            const sim_problem_tree *t = &p->tree[c->tree[side]];
            sim_columns of = sim_block_columns(p, c, side);
            int end = of.first + of.count; /* B' reaches from there to the root */
            memcpy(Z, p->J + c->block[side] + (ptrdiff_t)normal_row(c) * t->nv, (size_t)t->nv * sizeof *Z);
            p->mass.half(p->mass.self, c->tree[side], 1, of, Z);
            stop.w += dense_dot(end, Z, Z);
            stop.side[side] = (correction_side){Z, t->v0, end};
            Z += t->nv;
        }
        if (stop.w > 0 && c->stiffness * stop.w >= resolved) {
            l->stop[kept++] = stop;
        }
    }
    l->nstop = kept;
}

/* One sweep; the greatest change of a normal velocity. */
static double sweep(correction *l) {
    double most = 0;
    for (correction_stop *s = l->stop; s < l->stop + l->nstop; s++) {
        double lacks = s->need;
        for (const correction_side *of = s->side; of < s->side + 2 && of->count; of++) {
            lacks -= dense_dot(of->count, of->Z, l->x + of->first);
        }
        double pi = s->pi + lacks / s->w;
        pi = s->both ? pi : max_of(0, pi);
        double change = pi - s->pi;
        s->pi = pi;
        most = max_of(most, fabs(change) * s->w);
        for (const correction_side *of = s->side; of < s->side + 2 && of->count && change != 0; of++) {
            dense_axpy(of->count, change, of->Z, l->x + of->first);
        }
    }
    return most;
}

/* c = A^-1 J_n' pi */
static void compute_shift(const correction *l, double *shift) {
    const sim_problem *p = l->p;
    for (const correction_stop *s = l->stop; s < l->stop + l->nstop; s++) {
        const sim_constraint *c = &p->constraint[s->constraint];
        for (int side = 0; side < 2 && c->tree[side] >= 0 && s->pi != 0; side++) {
            const sim_problem_tree *t = &p->tree[c->tree[side]];
            sim_columns of = sim_block_columns(p, c, side);
            const double *J = p->J + c->block[side] + (ptrdiff_t)normal_row(c) * t->nv;
            dense_axpy(of.count, s->pi, J + of.first, shift + t->v0 + of.first);
        }
    }
    for (int t = 0; t < p->ntree; t++) {
        p->mass.solve(p->mass.self, t, shift + p->tree[t].v0);
    }
}

sim_status correct_positions(const island *s, double travel, sim_arena *scratch) {
    const sim_problem *p = &s->problem;
    correction l = {.p = p};
    double *need = ARENA_NEW(scratch, double, p->nconstraint);
    char *both = ARENA_NEW(scratch, char, p->nconstraint);
    memset(s->shift, 0, (size_t)p->nv * sizeof *s->shift);
    if (!need || !both) {
        return SIM_NO_RESOURCE;
    }
    if (travel == 1 || !find_needs(s, travel, need, both)) {
        return SIM_OK;
    }
    if (prepare(&l, need, both, scratch)) {
        return SIM_NO_RESOURCE;
    }
    halve_rows(&l);
    double first = sweep(&l);
    for (int k = 1; k < MAX_SWEEPS && sweep(&l) > 1e-6 * first; k++) {
    }
    compute_shift(&l, s->shift);
    return SIM_OK;
}
