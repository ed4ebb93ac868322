/* Position correction: the least shift of positions with which gaps end as the contact law promised.
 *
 *     c = A^-1 J_n' pi,     0 <= pi  perp  J_n (v_q + c) - min(J_n v, -phi0 / dt) >= 0
 *
 *     c        shift over the step, m/s or rad/s: the least in the metric of A; it moves positions only
 *     pi       multiplier of a contact, or of the end of a joint's range, N s
 *     v, v_q   velocity at the end of the step, and the mean velocity v0 + travel (v - v0) that positions move with
 *     phi0     gap at the start of the step, m
 *
 * A law promises the gap phi0 + dt u_n at the end of the step, u_n = J_n v.  Schemes that move positions with the mean
 * velocity break that promise where a contact changes the velocity suddenly: a body that arrives at the speed V and is
 * stopped would sink in by dt V / 2.  A law that asked for phi0 + dt J_n v_q = 0 would send it back as fast as it came.
 * For a contact that moves over its bodies u_n is J_n v + w (rows.c); v_q moves positions without w.
 *
 * Where contact lasts, v_n changes by O(dt) a step, c is O(dt) along normals, and the gap pulls it back: the order of
 * the scheme stays.  Contacts soft enough for the step to resolve, 2 pi / sqrt(k W_nn) > dt, need no shift.
 *
 * Gauss-Seidel over the stops, to RELATIVE_TOLERANCE: bodies sink in by the remaining error, and where friction locks
 * one, no later step can push it out.  With A^-1 = B' B, Z = B J_n' (sim_mass) and x = B^-T c a sweep needs only Z:
 *
 *     J_n c = Z' x,    x <- x + Z (change of pi),    J_n A^-1 J_n' = Z' Z.
 *
 * Cost: one half solve for each stop, two products with Z a sweep, and in the end one solve for each tree. */
#include "contact/island/island.h"
#include "problem/laws.h"

#include <string.h>

enum { MAX_SWEEPS = 100 };
static const double RELATIVE_TOLERANCE = 1e-6; /* of the change in the first sweep */
static const double MIN_RELATIVE_NEED = 1e-3;  /* of the change of velocity by forces alone in the step */

/* A side of a stop: its row of Z, and the range of velocities that it moves. */
typedef struct correction_side {
    double *Z; /* [count] */
    int first, count;
} correction_side;

/* A contact, or the end of a range, that bounds the shift. */
typedef struct correction_stop {
    correction_side side[2]; /* count 0: nothing moves there */
    double w, pi, needed;    /* inverse mass, 1/kg; multiplier, N s; least J_n c, m/s */
    bool both_signs;         /* does it press as promised, so that c may also close its gap? */
    int constraint;
} correction_stop;

typedef struct correction {
    const sim_problem *p;
    correction_stop *stop;
    int nstop;
    double *Z; /* rows of Z, one for each stop and tree */
    double *x; /* [nv] B^-T c */
} correction;

static double normal_velocity(const sim_problem *p, const sim_constraint *c, const double *v) {
    return velocity_of_row(p, c, normal_row(c), v);
}

/* The least J_n c of each stop, m/s.  Is any large enough to matter?  The shift of 1e-3 g dt^2 that is left out is a
 * twentieth of the overlap that the law leaves alone (laws.c).  The change of either side counts, not that along the
 * normal: gravity closes no gap to a wall, and none between bodies that fall together.  `fall` is g dt: the free motion
 * of a robot at rest has the forces of its contacts in it, and changes nothing.
 *
 * A contact that rolls over both bodies and presses as promised takes c of either sign, so that its gap ends as
 * promised. A gap that swings by the error of the scheme would else be pushed out on one side and left on the other,
 * and bodies would gain or lose energy.  A contact that obeys the mean velocity (rows.c) corrects its own gap; c must
 * only not close it. */
static bool find_needs(const island *s, double travel, double fall, double *needed, char *both_signs) {
    const sim_problem *p = &s->problem;
    bool any = false;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        needed[i] = -INFINITY;
        both_signs[i] = 0;
        /* rows that stop, other than those at the mean velocity */
        if (!is_stop(c)) {
            continue;
        }
        if (s->rolls[i] == ROLLS_IN_MEAN) {
            needed[i] = 0;
            continue;
        }
        /* normal velocity at the end that positions need */
        double u0 = normal_velocity(p, c, p->v_start), u = normal_velocity(p, c, s->v);
        double w = p->offset ? p->offset[c->row + normal_row(c)] : 0;
        double closing = -p->gap[c->row + normal_row(c)] / p->step;
        double promised = min_of(u + w, closing);
        needed[i] = promised - (u0 + travel * (u - u0));
        /* does the contact roll and press? */
        both_signs[i] =
            s->rolls[i] && s->impulse[c->row + normal_row(c)] > 0 && u + w <= closing + 1e-9 * fabs(closing);
        double change = max_of(law_free_change(p, c), c->kind == SIM_CONTACT ? fall : 0);
        any |= (both_signs[i] ? fabs(needed[i]) : needed[i]) > MIN_RELATIVE_NEED * change;
    }
    return any;
}

static sim_status list_stops(correction *l, const double *needed, const char *both_signs, sim_arena *scratch) {
    const sim_problem *p = l->p;
    ptrdiff_t size = 0;
    l->stop = ARENA_NEW(scratch, correction_stop, p->nconstraint);
    l->x = ARENA_NEW(scratch, double, p->nv);
    if (!l->stop || !l->x) {
        return SIM_NO_RESOURCE;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        if (needed[i] > -INFINITY) {
            l->stop[l->nstop++] = (correction_stop){.needed = needed[i], .both_signs = both_signs[i], .constraint = i};
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
static void compute_half_rows(correction *l) {
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
static double sweep_stops(correction *l) {
    double max_change = 0;
    for (correction_stop *s = l->stop; s < l->stop + l->nstop; s++) {
        double error = s->needed;
        for (const correction_side *of = s->side; of < s->side + 2 && of->count; of++) {
            error -= dense_dot(of->count, of->Z, l->x + of->first);
        }
        double pi = s->pi + error / s->w;
        pi = s->both_signs ? pi : max_of(0, pi);
        double change = pi - s->pi;
        s->pi = pi;
        max_change = max_of(max_change, fabs(change) * s->w);
        for (const correction_side *of = s->side; of < s->side + 2 && of->count && change != 0; of++) {
            dense_axpy(of->count, change, of->Z, l->x + of->first);
        }
    }
    return max_change;
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

sim_status correct_positions(const island *s, double travel, double fall, sim_arena *scratch) {
    /* memory */
    const sim_problem *p = &s->problem;
    correction l = {.p = p};
    double *needed = ARENA_NEW(scratch, double, p->nconstraint);
    char *both_signs = ARENA_NEW(scratch, char, p->nconstraint);
    memset(s->shift, 0, (size_t)p->nv * sizeof *s->shift);
    if (!needed || !both_signs) {
        return SIM_NO_RESOURCE;
    }
    /* rows that need a shift */
    if (travel == 1 || !find_needs(s, travel, fall, needed, both_signs)) {
        return SIM_OK;
    }
    if (list_stops(&l, needed, both_signs, scratch)) {
        return SIM_NO_RESOURCE;
    }
    /* Gauss-Seidel until a sweep moves little against the first */
    compute_half_rows(&l);
    double first = sweep_stops(&l);
    for (int k = 1; k < MAX_SWEEPS && sweep_stops(&l) > RELATIVE_TOLERANCE * first; k++) {
    }
    /* shift of the velocities */
    compute_shift(&l, s->shift);
    return SIM_OK;
}
